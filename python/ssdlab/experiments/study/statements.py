"""Statements of a study about its results: descriptions, and explanations with the rows that show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.asking.keys import check_keys, check_known
from ssdlab.checks import shown
from ssdlab.errors import ConfigError, UsageError

__all__ = ["NOT_EXPLAINED", "Shown", "Statement", "check_shown", "statements"]

NOT_EXPLAINED = "not explained"
"""Text of an explanation that no row shows."""
KEYS = ("text", "shown_by")


@dataclass(frozen=True)
class Shown:
    """A row of a study that shows an explanation."""

    study: str
    row: str

    def __str__(self) -> str:
        return f"{self.study}: {self.row}"


@dataclass(frozen=True)
class Statement:
    """A paragraph about the results. An explanation has the rows that show it, possibly none; a description has `None`."""

    text: str
    shown_by: tuple[Shown, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The entry in `study.json`: `shown_by` is absent for a description, and empty for an explanation that no row shows."""
        rows = {} if self.shown_by is None else {"shown_by": [{"study": row.study, "row": row.row} for row in self.shown_by]}
        return {"text": self.text, **rows}


def statements(where: str, entries: Sequence[str | Mapping[str, Any]]) -> tuple[Statement, ...]:
    """Parses a list of texts (descriptions) and tables (explanations).

    Raises:
        ConfigError: a table lacks `text` or `shown_by`, or names a row in a form other than `PAPER/STUDY: ROW`.
    """
    return tuple(_statement(f"{where}[{index}]", entry) for index, entry in enumerate(entries))


def _statement(where: str, entry: str | Mapping[str, Any]) -> Statement:
    if isinstance(entry, str):
        return Statement(entry)
    check_keys(where, entry, KEYS)
    if set(entry) != set(KEYS):
        raise ConfigError(f'{where}: expected a text, or text and shown_by (rows as "PAPER/STUDY: ROW", or "{NOT_EXPLAINED}")')
    if entry["shown_by"] == NOT_EXPLAINED:
        return Statement(entry["text"], ())
    return Statement(entry["text"], tuple(_rows(f"{where}: shown_by", entry["shown_by"])))


def _rows(where: str, value: object) -> list[Shown]:
    texts = [value] if isinstance(value, str) else value
    found = [text.partition(": ") for text in texts if isinstance(text, str)] if isinstance(texts, list) else []
    if not isinstance(texts, list) or not texts or len(found) < len(texts) or not all(row for _, _, row in found):
        raise ConfigError(f'{where} = {shown(value)}: expected "PAPER/STUDY: ROW", a list of such, or "{NOT_EXPLAINED}"')
    return [Shown(study, row) for study, _, row in found]


def check_shown(where: str, discussion: Sequence[Statement], rows_of: Callable[[str], Sequence[str]]) -> None:
    """Refuses explanations with rows that do not exist.

    Args:
        where: name of the discussion in messages.
        discussion: statements to check.
        rows_of: returns the names of the rows of a study; raises a `UsageError` if the study does not exist.

    Raises:
        ConfigError: a study or row does not exist.
    """
    for index, statement in enumerate(discussion):
        for reference in statement.shown_by or ():
            place = f"{where}[{index}]: shown_by"
            try:
                known = rows_of(reference.study)
            except UsageError as error:
                raise ConfigError(f"{place}: {error}") from error
            check_known(place, reference.row, known, f"row of {reference.study}")
