"""What is predicted of a drive, beside what was published, with the bound that it must keep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ssdlab.experiments.cliffs.drives import Drive
from ssdlab.experiments.cliffs.fill import Fill, fill, fitted, recovery, time_until_back
from ssdlab.experiments.cliffs.model import SCALE

__all__ = ["END", "FITTED", "UNFITTED", "Prediction", "Predictions", "predicted"]

BOUND = 0.15
"""Bound of most predictions: review texts are rounded by 10 to 13 %."""
EIGHT_CHANNELS, EIGHT_CHANNELS_BOUND = 8, 0.16
"""Drives that fold with all dies, so that nothing needs to be fitted, and their bound."""
DIE_BOUND = 0.05
"""Bound of a rate that follows from dies and program time alone."""
LONGEST_PAUSE = 120.0
END, FIRST = "end of the second phase", "end of the first phase"
UNFITTED, FITTED = "whole fill, all units fold", "whole fill, folding fitted"
THIRD = "third phase, fitted"


@dataclass(frozen=True)
class Prediction:
    """A simulated number, with the published one and its bounds where there are any.

    Attributes:
        what: the quantity in words.
        unit: its unit.
        simulated: the simulated value; `None` if it does not come about.
        low, high: what was published, a single value or the ends of a range; `None` if nothing was.
        bound: relative distance from the published value that is allowed; `None`: the row is only reported.
    """

    what: str
    unit: str
    simulated: float | None
    low: float | None = None
    high: float | None = None
    bound: float | None = None

    @property
    def error(self) -> float | None:
        """Relative distance from what was published, 0 within a range; `None` without either number."""
        if self.simulated is None or self.low is None or self.high is None:
            return None
        nearest = min(max(self.simulated, self.low), self.high)
        return self.simulated / nearest - 1

    @property
    def is_within(self) -> bool | None:
        """Whether the bound is kept; `None` without a bound or a published number."""
        if self.bound is None or self.low is None:
            return None
        return self.error is not None and abs(self.error) <= self.bound

    def to_dict(self) -> dict[str, Any]:
        """The row as a mapping."""
        own = {"what": self.what, "unit": self.unit, "simulated": self.simulated, "published": [self.low, self.high], "bound": self.bound}
        return {**own, "error": self.error, "within": self.is_within}


@dataclass(frozen=True)
class Predictions:
    """All predictions of a drive.

    Attributes:
        drive: the row of the table.
        rows: the predicted numbers.
        shown: the fill that the figure shows: with folding as fitted, if it was.
    """

    drive: Drive
    rows: tuple[Prediction, ...]
    shown: Fill

    def to_dict(self) -> dict[str, Any]:
        """The predictions and the curve as a mapping."""
        return {
            "drive": self.drive.name,
            "capacity_gb": self.drive.capacity,
            "kind": self.drive.kind,
            "units": self.shown.units,
            "folding_units": self.shown.folding or self.shown.units,
            "rows": [row.to_dict() for row in self.rows],
            "written_gb": list(self.shown.written),
            "rate_gb_s": list(self.shown.rates),
        }


def predicted(drive: Drive, *, scale: int = SCALE) -> Predictions:
    """Simulates what is predicted of a drive."""
    first = fill(drive, scale=scale)
    shown = first if drive.v3 is None or first.v3 is None else fitted(drive, drive.v3, first, scale=scale)
    rows = [*_ends(drive, first), *_fills(drive, first, shown), *_static(drive, scale)]
    return Predictions(drive, tuple(rows), shown)


def _row(what: str, unit: str, simulated: float | None, published: float | None, bound: float | None = BOUND) -> Prediction:
    return Prediction(what, unit, simulated, published, published, bound)


def _ends(drive: Drive, first: Fill) -> Iterator[Prediction]:
    """When a phase ends, by the space that is left: nothing is fitted."""
    if drive.is_whole:
        yield _row(FIRST, "GB", first.first_end, drive.cache)
    elif not drive.is_static:
        yield _row(END, "GB", first.until, drive.until)


def _fills(drive: Drive, first: Fill, shown: Fill) -> Iterator[Prediction]:
    nothing_to_fit = drive.is_static or drive.channels == EIGHT_CHANNELS
    bound = (EIGHT_CHANNELS_BOUND if drive.channels == EIGHT_CHANNELS else BOUND) if nothing_to_fit else None
    yield _row(UNFITTED, "MB/s", first.rate * 1e3, None if drive.fill is None else drive.fill * 1e3, bound)
    if drive.v3 is not None and first.v3 is not None:
        yield _row(THIRD, "MB/s", None if shown.v3 is None else shown.v3 * 1e3, drive.v3 * 1e3, None)
        yield _row(FITTED, "MB/s", shown.rate * 1e3, None if drive.fill is None else drive.fill * 1e3)
    elif drive.v3 is not None:
        yield _row(THIRD, "MB/s", None, drive.v3 * 1e3, None)


def _static(drive: Drive, scale: int) -> Iterator[Prediction]:
    """What follows from dies and program time alone."""
    if drive.die_rate is not None and drive.v2 is not None:
        by_dies = fill(replace(drive, v2=None), scale=scale).v2
        yield _row("second phase, by the dies", "MB/s", None if by_dies is None else by_dies * 1e3, drive.v2 * 1e3, DIE_BOUND)
    if drive.back is not None and drive.idle is not None:
        back = recovery(drive, drive.idle[1], scale=scale).back
        yield Prediction(f"cache back after {drive.idle[1]:g} s", "GB", back, *drive.back, 0.0)
        seconds = time_until_back(drive, drive.back[0], LONGEST_PAUSE, scale=scale)
        yield Prediction(f"pause until {drive.back[0]:g} GB are back", "s", seconds, *drive.idle, 0.0)
