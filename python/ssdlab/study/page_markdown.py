"""Findings as Markdown, with their figures in files."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ssdlab.study import page_parts as parts
from ssdlab.study.grading import CONTRADICTED
from ssdlab.study.results import Ran
from ssdlab.tables import study_cells

__all__ = ["effects_page", "effects_part", "page"]

CONTRADICTED_HEADS = ("finding", "study", "published", "simulated")

COLUMNS = 100
"""Lines of prose are at most so long, so that a change of a few words shows as that."""
BEGINS_A_LIST = re.compile(r" ([-+*#>]|\d+[.)])(?= )")
"""Words that are a mark of Markdown if a line begins with them."""
BOUND = "\0"

FigureName = Callable[[Mapping[str, Any]], str]
"""The figure of a study, from the page."""


def page(title: str, studies: Sequence[Ran], measured: parts.Measured, figure: FigureName, *, about: str = "", effects: str = "") -> str:
    """A page of findings.

    Args:
        title: its heading.
        studies: the studies on it.
        measured: what rows that explanations name have measured, also those of studies on other pages.
        figure: where the figure of a study is, from the page.
        about: what the page is, if it is of one set of studies.
        effects: what `effects_part` made, or nothing.
    """
    common = parts.common_deviations(studies)
    reading = "".join(f"- {item}\n" for item in parts.READING)
    pieces = [f"# {title}\n\n{about}{parts.summary(studies)}\n\nThe columns of the tables:\n\n{reading}{effects}"]
    for folder, study in studies:
        pieces.append(f"\n## {study['study']}: {study['title']}\n\n{study['place']}. {parts.sizes(study)}.\n\n{study['about']}\n")
        if study["rows"]:
            pieces.append("\n" + _table(parts.HEADS, parts.rows(study)))
        if (folder / "figure.svg").is_file():
            pieces.append(f"\n![{study['title']}]({figure(study)})\n")
        pieces += [f"\n{paragraph}\n" for paragraph in parts.paragraphs(measured, study)]
        lines = "".join(f"- {line}\n" for line in parts.remarks(study, common))
        pieces.append(f"\n{parts.DEVIATIONS}:\n\n{lines}" if lines else "")
    shared = "".join(f"- **{name}**: {deviation}\n" for deviation, name in common.items())
    pieces.append(f"\n## {parts.COMMON}\n\n{shared}" if shared else "")
    return _wrapped("".join(pieces))


def effects_part(studies: Sequence[Ran], picture: str, table: str) -> str:
    """How well published and measured numbers agree: a section with the picture, and the name of the file with the numbers."""
    heads, *rows = parts.agreement_table(studies)
    return (
        f"\n## Published against measured\n\n{parts.EFFECTS_INTRODUCTION}\n\n{_table(heads, rows)}\n"
        f"![Published against measured]({picture})\n\n"
        f"{parts.EFFECTS_CAPTION} The numbers: [{table}]({table}).\n"
    )


def effects_page(studies: Sequence[Ran], picture: str, table: str) -> str:
    """A page of its own for the effects, with every number that is contradicted."""
    wrong = [(study["study"], row) for _, study in studies for row in study["rows"] if "paper" in row and row["grade"] == CONTRADICTED]
    listed = (
        _table(CONTRADICTED_HEADS, [(row["what"], name, *study_cells(row)[:2]) for name, row in wrong]) if wrong else "There is none.\n"
    )
    section = effects_part(studies, picture, table).removeprefix("\n#").lstrip("\n")
    return _wrapped(f"{section}\n## Contradicted numbers\n\n{listed}")


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, tuple("---" if index == 0 else "--:" for index in range(len(heads))), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def _wrapped(text: str) -> str:
    """The same with paragraphs and items of lists in lines of `COLUMNS`. Tables, headings and pictures stay as they are."""
    pieces: list[str] = []
    for line in text.splitlines():
        if _goes_on(line) and pieces and (pieces[-1].startswith("- ") or _goes_on(pieces[-1])):
            pieces[-1] += f" {line}"
        else:
            pieces.append(line)
    return "".join(f"{_broken(piece)}\n" for piece in pieces)


def _goes_on(line: str) -> bool:
    """It is a line of a paragraph."""
    return bool(line) and not line.startswith(("|", "#", "!", "- "))


def _broken(piece: str) -> str:
    if not _goes_on(piece) and not piece.startswith("- "):
        return piece
    indent = "  " if piece.startswith("- ") else ""
    bound = piece[:2] + BEGINS_A_LIST.sub(BOUND + r"\1", piece[2:])
    filled = textwrap.fill(bound, COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return filled.replace(BOUND, " ")
