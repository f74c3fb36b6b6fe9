"""The file `slowest.json` of a run: its slowest requests, each with the segments of its response time and what these waited for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ssdlab.errors import UsageError
from ssdlab.pages.why.decoding import DamagedError, explained_from
from ssdlab.pages.why.records import Explained
from ssdlab.system.folders import SLOWEST_FILE
from ssdlab.system.json_text import read_json

__all__ = ["Found", "found_in", "read_slowest"]


class Found(NamedTuple):
    """The explained requests of a run."""

    slowest: Sequence[Explained]
    asked: Sequence[Explained]

    def request(self, number: int) -> Explained | None:
        """A request by its number; `None` if it is not among those that are explained."""
        return next((one for one in (*self.asked, *self.slowest) if one.request == number), None)


def read_slowest(file: Path, digest: str) -> Found:
    """Reads a file of slowest requests.

    Raises:
        UsageError: it is damaged, or belongs to another run than the result with this digest.
        FileError: it cannot be read.
    """
    data = read_json(file)
    if not isinstance(data, dict) or not isinstance(data.get("slowest"), list):
        raise UsageError(f"{file}: not a file of slowest requests, as `ssdlab run --out` writes it; run it again")
    if data.get("digest") != digest:
        raise UsageError(f"{file}: it belongs to another run than the result beside it; run it again")
    try:
        return Found(_requests(data, "slowest"), _requests(data, "asked"))
    except DamagedError as reason:
        raise UsageError(f"{file}: damaged, or of another version: {reason}; run it again") from reason


def _requests(data: dict[str, object], name: str) -> list[Explained]:
    entries = data.get(name, [])
    if not isinstance(entries, list):
        raise DamagedError(f"{name}: expected a list")
    return [explained_from(one, f"{name}[{index}]") for index, one in enumerate(entries)]


def found_in(folder: Path, digest: str) -> Found | None:
    """The explained requests in the folder of a run; `None` if it kept none."""
    file = folder / SLOWEST_FILE
    return read_slowest(file, digest) if file.is_file() else None
