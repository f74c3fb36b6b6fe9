"""Findings as Markdown, with figures in separate files."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ssdlab.experiments.study import page_parts as parts
from ssdlab.experiments.study.grading import CONTRADICTED
from ssdlab.experiments.study.results import Ran
from ssdlab.pages.tables import study_cells

__all__ = ["effects_page", "effects_part", "page", "wrapped"]

CONTRADICTED_HEADS = ("finding", "study", "published", "simulated")

COLUMNS = 100
"""Maximum length of lines of prose, so that small changes give small diffs."""
ITEM = "- "
"""Start of an item of a list."""
MARK = re.compile(r" ([-+*#>]|\d+[.)])(?= )")
"""Matches a word that would start a list, heading or quotation at the beginning of a line."""
TIED = "\0"
"""Replacement of the space before such a word, at which lines are not broken."""

FigureName = Callable[[Mapping[str, Any]], str]
"""Returns the path of a study's figure, relative to the page."""


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
    """Builds a page of findings.

    Args:
        title: heading of the page.
        studies: studies on the page.
        measured: measured values of rows that explanations name, also of studies on other pages.
        figure: returns the path of a study's figure, relative to the page.
        about: description of the page, if it covers one set of studies.
        causes: where the causes of findings that were not reproduced are explained, if not with the studies.
        effects: output of `effects_part`, or empty.
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
        conditions = "".join(f"- {line}\n" for line in parts.warnings(study))
        pieces.append(f"\n{parts.CONDITIONS}:\n\n{conditions}" if conditions else "")
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
    """A section on the agreement of published and measured numbers, with the figure and a link to the table."""
    heads, *rows = parts.agreement_table(studies)
    return (
        f"\n## Published against measured\n\n{parts.EFFECTS_INTRODUCTION}\n\n{_table(heads, rows)}\n"
        f"![Published against measured]({picture})\n\n"
        f"{parts.EFFECTS_CAPTION} The numbers: [{table}]({table}).\n"
    )


def effects_page(studies: Sequence[Ran], picture: str, table: str) -> str:
    """A page on the agreement of published and measured numbers, with every contradicted number."""
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
    """Breaks paragraphs and list items into lines of `COLUMNS`. Tables, headings and pictures are not changed."""
    pieces: list[str] = []
    for line in text.splitlines():
        if _is_prose(line) and pieces and (_is_prose(pieces[-1]) or pieces[-1].startswith(ITEM)):
            pieces[-1] += f" {line.lstrip()}"
        else:
            pieces.append(line)
    return "".join(f"{_broken(piece)}\n" for piece in pieces)


def _is_prose(line: str) -> bool:
    """Whether a line belongs to a paragraph or continues a list item."""
    return bool(line) and not line.startswith(("|", "#", "!", ITEM))


def _broken(piece: str) -> str:
    """Breaks a paragraph or a list item into lines; other pieces are returned unchanged."""
    mark = ITEM if piece.startswith(ITEM) else ""
    if not (mark or _is_prose(piece)):
        return piece
    tied = MARK.sub(TIED + r"\1", piece.removeprefix(mark))
    after = " " * len(mark)
    lines = textwrap.wrap(tied, COLUMNS, initial_indent=mark, subsequent_indent=after, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace(TIED, " ")
