"""The function `predict`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ssdlab.checks import path, whole
from ssdlab.cliffs.drives import Drive, read
from ssdlab.cliffs.model import SCALE, SCALES
from ssdlab.cliffs.predictions import Predictions, predicted
from ssdlab.cliffs.result import Cliffs
from ssdlab.errors import UsageError
from ssdlab.spelling import few

__all__ = ["predict"]


def predict(
    table: str | os.PathLike[str],
    *,
    drive: str | None = None,
    scale: int = SCALE,
    progress: Callable[[str, float], object] | None = None,
) -> Cliffs:
    """Predicts whole fills of drives with an SLC cache from a table with a row for each (docs/cliffs.md).

    Args:
        table: file with the table.
        drive: part of the names of the drives to take; by default all.
        scale: by how much the simulated drives are smaller: 16, 32 or 64.
        progress: called with the present drive and the share of the drives that are done, 0 to 1.

    Raises:
        UsageError: the table cannot be used, or has no such drive.
        ssdlab.Error: a drive cannot be simulated.
    """
    if whole("scale", scale) not in SCALES:
        raise UsageError(f"scale = {scale}: expected one of {', '.join(map(str, SCALES))}")
    drives = read(Path(path("table", table)))
    chosen = [one for one in drives if drive is None or drive.casefold() in one.label.casefold()]
    if not chosen:
        names = few([one.label for one in drives], 16)
        raise UsageError(f"{os.fspath(table)}: no drive is named {drive}: expected part of the name of one of {names}")
    return Cliffs(tuple(_each(chosen, scale, progress or (lambda _, __: None))), scale)


def _each(drives: list[Drive], scale: int, progress: Callable[[str, float], object]) -> list[Predictions]:
    found = []
    for number, drive in enumerate(drives):
        progress(drive.label, number / len(drives))
        found.append(predicted(drive, scale=scale))
    return found
