"""The known name that a wrong one was probably meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["nearest"]


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean "..."?` where a known name is near, else nothing."""
    found = difflib.get_close_matches(name, list(known), n=1)
    return f'; did you mean "{found[0]}"?' if found else ""
