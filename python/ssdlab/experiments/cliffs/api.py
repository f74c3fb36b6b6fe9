"""The function `predict`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ssdlab.checks import few, path, text, whole
from ssdlab.errors import ConfigError, UsageError
from ssdlab.experiments.cliffs.drives import Drive, read
from ssdlab.experiments.cliffs.model import SCALE, SCALES
from ssdlab.experiments.cliffs.predictions import Predictions, predicted
from ssdlab.experiments.cliffs.result import Cliffs

__all__ = ["predict"]


def predict(
    table: str | os.PathLike[str],
    *,
    drive: str | None = None,
    scale: int = SCALE,
    progress: Callable[[str, float], object] | None = None,
) -> Cliffs:
    """Predicts whole fills of drives with an SLC cache from a table with a row for each (docs/cliffs.md).

    Rows that cannot be used are named in the result.

    Args:
        table: file with the table.
        drive: part of the names of the drives to take; by default all.
        scale: by how much the simulated drives are smaller: 16, 32 or 64.
        progress: called with the present drive and the share of the drives that are done, 0 to 1.

    Raises:
        UsageError: the table cannot be used, has no such drive, or none that can be simulated.
        ssdlab.Error: a run failed.
    """
    if whole("scale", scale) not in SCALES:
        raise UsageError(f"scale = {scale}: expected one of {', '.join(map(str, SCALES))}")
    rows = read(Path(path("table", table)))
    named = "" if drive is None else text("drive", drive).casefold()
    chosen = [one for one in rows.drives if named in one.label.casefold()]
    refused = [reason for name, reason in rows.refused if named in name.casefold()]
    if not chosen:
        if refused:
            raise UsageError(refused[0])
        names = few([one.label for one in rows.drives], 16)
        raise UsageError(f"{os.fspath(table)}: no drive is named {drive}: expected part of the name of one of {names}")
    found, beyond = _each(chosen, scale, progress or (lambda _, __: None))
    return Cliffs(tuple(found), scale, (*refused, *beyond))


def _each(drives: list[Drive], scale: int, progress: Callable[[str, float], object]) -> tuple[list[Predictions], list[str]]:
    """The predictions, and why others cannot be made."""
    found, refused = [], []
    for number, drive in enumerate(drives):
        progress(drive.label, number / len(drives))
        try:
            found.append(predicted(drive, scale=scale))
        except ConfigError as reason:
            refused.append(f"{drive.label}: no drive of this size can be simulated: {reason}")
        except UsageError as reason:
            refused.append(str(reason))
    if not found:
        raise UsageError(refused[0])
    return found, refused
