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

__all__ = ["effects_page", "effects_part", "page", "wrapped"]

CONTRADICTED_HEADS = ("finding", "study", "published", "simulated")

COLUMNS = 100
"""Lines of prose are at most so long, so that a change of a few words shows as that."""
ITEM = "- "
"""What an item of a list begins with."""
MARK = re.compile(r" ([-+*#>]|\d+[.)])(?= )")
"""A word that would make a list, heading or quotation of its line if it came first there."""
TIED = "\0"
"""The space before such a word while lines are broken: none ends there."""

FigureName = Callable[[Mapping[str, Any]], str]
"""The figure of a study, from the page."""


def page(
    title: str,
    studies: Sequence[Ran],
    measured: parts.Measured,
    figure: FigureName,
    *,
    about: str = "",
    causes: str = "",
    effects: str = "",
) -> str:
    """A page of findings.

    Args:
        title: its heading.
        studies: the studies on it.
        measured: what rows that explanations name have measured, also those of studies on other pages.
        figure: where the figure of a study is, from the page.
        about: what the page is, if it is of one set of studies.
        causes: where is told why findings were not reproduced, if not with the studies.
        effects: what `effects_part` made, or nothing.
    """
    common = parts.common_deviations(studies)
    reading = "".join(f"- {item}\n" for item in parts.READING)
    pieces = [
        f"# {title}\n\n{about}{parts.summary(studies)}\n\nThe columns of the tables:\n\n{reading}{effects}",
        _not_reproduced(studies, causes or parts.causes(studies)),
    ]
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
    return wrapped("".join(pieces))


def _not_reproduced(studies: Sequence[Ran], causes: str) -> str:
    failed = parts.not_reproduced(studies)
    table = _table(parts.NOT_REPRODUCED_HEADS, failed)
    return f"\n## {parts.NOT_REPRODUCED}\n\n" + (f"{causes}\n\n" if causes else "") + table if failed else ""


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
    return wrapped(f"{section}\n## Contradicted numbers\n\n{listed}")


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, tuple("---" if index == 0 else "--:" for index in range(len(heads))), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def wrapped(text: str) -> str:
    """The same with paragraphs and items of lists in lines of `COLUMNS`. Tables, headings and pictures stay as they are."""
    pieces: list[str] = []
    for line in text.splitlines():
        if _is_prose(line) and pieces and (_is_prose(pieces[-1]) or pieces[-1].startswith(ITEM)):
            pieces[-1] += f" {line.lstrip()}"
        else:
            pieces.append(line)
    return "".join(f"{_broken(piece)}\n" for piece in pieces)


def _is_prose(line: str) -> bool:
    """It is a line of a paragraph, or goes on with an item of a list."""
    return bool(line) and not line.startswith(("|", "#", "!", ITEM))


def _broken(piece: str) -> str:
    """A paragraph or an item of a list in lines; anything else as it is."""
    mark = ITEM if piece.startswith(ITEM) else ""
    if not (mark or _is_prose(piece)):
        return piece
    tied = MARK.sub(TIED + r"\1", piece.removeprefix(mark))
    after = " " * len(mark)
    lines = textwrap.wrap(tied, COLUMNS, initial_indent=mark, subsequent_indent=after, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace(TIED, " ")
