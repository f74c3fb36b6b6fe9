"""Suggests a known name for a misspelt one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["nearest"]


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean "..."?` if a similar name is known, else an empty text."""
    found = difflib.get_close_matches(name, list(known), n=1)
    return f'; did you mean "{found[0]}"?' if found else ""
