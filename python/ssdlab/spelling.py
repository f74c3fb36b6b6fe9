"""Names in messages: a known one for one that is misspelt, and a few of many."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

__all__ = ["few", "nearest"]


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean "..."?` if a similar name is known, else an empty text."""
    found = difflib.get_close_matches(name, list(known), n=1)
    return f'; did you mean "{found[0]}"?' if found else ""


def few(names: Sequence[str], most: int, between: str = ", ") -> str:
    """The first `most` of several names, and how many there are besides: `a, b and 3 more`."""
    more = len(names) - most
    return between.join(names[:most]) + (f" and {more:,} more" if more > 0 else "")
