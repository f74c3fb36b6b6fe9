"""The file `slowest.json` of a run: its slowest requests, each with the segments of its response time and what these waited for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ssdlab.errors import UsageError
from ssdlab.folders import SLOWEST_FILE
from ssdlab.json_text import read_json

__all__ = ["Explained", "Found", "found_in", "read_slowest"]

Explained = Mapping[str, Any]
"""A request with its `segments`, `operations`, `jobs` and `pages`, as the core writes it."""


class Found(NamedTuple):
    """The explained requests of a run."""

    slowest: Sequence[Explained]
    asked: Sequence[Explained]
    stages: int
    """Number of stages of operations that were kept at a time."""

    def request(self, number: int) -> Explained | None:
        """A request by its number; `None` if it is not among those that are explained."""
        return next((one for one in (*self.asked, *self.slowest) if one["request"] == number), None)


def read_slowest(file: Path, digest: str) -> Found:
    """Reads a file of slowest requests.

    Raises:
        UsageError: it is damaged, or belongs to another run than the result with this digest.
        FileError: it cannot be read.
    """
    data = read_json(file)
    if not isinstance(data, dict) or not isinstance(data.get("slowest"), list):
        raise UsageError(f"{file}: not a file of slowest requests, as `ssdlab run --out` writes it")
    if data.get("digest") != digest:
        raise UsageError(f"{file}: it belongs to another run than the result beside it; run it again")
    return Found(data["slowest"], data.get("asked", []), data.get("stages", 0))


def found_in(folder: Path, digest: str) -> Found | None:
    """The explained requests in the folder of a run; `None` if it kept none."""
    file = folder / SLOWEST_FILE
    return read_slowest(file, digest) if file.is_file() else None
