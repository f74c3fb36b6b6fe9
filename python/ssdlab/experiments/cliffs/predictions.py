"""What is predicted of a drive, beside what was published, with the bound that it must keep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ssdlab.experiments.cliffs.drives import Drive
from ssdlab.experiments.cliffs.fill import Fill, fill, fitted, recovery, time_until_back
from ssdlab.experiments.cliffs.model import SCALE, folding_of

__all__ = ["END", "FITTED", "UNFITTED", "Prediction", "Predictions", "predicted"]

BOUND = 0.15
"""Bound of most predictions: review texts are rounded by 10 to 13 %."""
EIGHT_CHANNELS = 8
"""Drives of kind D with so many channels fold with one plane of each die, so that nothing needs to be fitted."""
DIE_BOUND = 0.05
"""Bound of a rate that follows from dies and program time alone."""
LONGEST_PAUSE = 120.0
END, FIRST = "end of the second phase", "end of the first phase"
UNFITTED, FITTED = "whole fill, nothing fitted", "whole fill, folding fitted"
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
        why: why what was published is not predicted; `None` if it is, or the row is only reported.
    """

    what: str
    unit: str
    simulated: float | None
    low: float | None = None
    high: float | None = None
    bound: float | None = None
    why: str | None = None

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
        return {**own, "error": self.error, "within": self.is_within, "why": self.why}


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

    @property
    def curve(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Data written by the end of each part of the shown fill, and its rate; only the first phase where no other rate is given."""
        parts = sum(end <= self.drive.cache or self.drive.has_rates for end in self.shown.written)
        return self.shown.written[:parts], self.shown.rates[:parts]

    def to_dict(self) -> dict[str, Any]:
        """The predictions and the curve as a mapping."""
        written, rates = self.curve
        return {
            "drive": self.drive.name,
            "capacity_gb": self.drive.capacity,
            "kind": self.drive.kind,
            "units": self.shown.units,
            "folding_units": self.shown.folding or self.shown.units,
            "rows": [row.to_dict() for row in self.rows],
            "written_gb": list(written),
            "rate_gb_s": list(rates),
        }


def predicted(drive: Drive, *, scale: int = SCALE) -> Predictions:
    """Simulates what is predicted of a drive."""
    first = fill(drive, scale=scale, folding=folding_of(drive))
    shown = first if drive.v3 is None or first.v3 is None else fitted(drive, drive.v3, first, scale=scale)
    rows = [*_ends(drive, first), *_fills(drive, first, shown), *_static(drive, scale)]
    return Predictions(drive, tuple(rows), shown)


def _row(what: str, unit: str, simulated: float | None, published: float | None, bound: float | None, why: str | None = None) -> Prediction:
    """A row with a single published number; `why` counts only with one, and takes the bound away."""
    reason = None if published is None else why
    return Prediction(what, unit, simulated, published, published, None if reason else bound, reason)


def _ends(drive: Drive, first: Fill) -> Iterator[Prediction]:
    """When a phase ends, by the space that is left: nothing is fitted."""
    if drive.is_whole:
        yield _row(FIRST, "GB", first.first_end, drive.cache, BOUND)
    elif not drive.is_static:
        why = None if drive.fits else "too much for the flash beside a full cache: it folded before"
        yield _row(END, "GB", first.until, drive.until, BOUND, why)


def _fills(drive: Drive, first: Fill, shown: Fill) -> Iterator[Prediction]:
    published = None if drive.fill is None else drive.fill * 1e3
    is_known = drive.is_static or (drive.kind == "D" and drive.channels == EIGHT_CHANNELS)
    why = _contradiction(drive)
    if drive.is_rated:
        unknown = None if is_known or drive.v3 is not None else "v3_GBps is empty: how many planes fold is not known"
        yield _row(UNFITTED, "MB/s", first.rate * 1e3, published, BOUND if is_known else None, unknown or (why if is_known else None))
    elif not drive.has_rates and published is not None:
        yield _row(UNFITTED, "MB/s", None, published, None, "v2_GBps and die_MBps are empty: how fast dies are is not known")
    if drive.v3 is not None and drive.has_rates:
        yield _row(THIRD, "MB/s", None if shown.v3 is None else shown.v3 * 1e3, drive.v3 * 1e3, None)
        if first.v3 is not None:
            yield _row(FITTED, "MB/s", shown.rate * 1e3, published, BOUND, why)


def _contradiction(drive: Drive) -> str | None:
    """Why no simulation can have both the published phases and the published fill; `None` if one can."""
    steps = drive.fill_by_steps
    if drive.fill is None or steps is None or abs(steps / drive.fill - 1) <= BOUND:
        return None
    return f"the published phases alone make {steps * 1e3:,.0f} MB/s"


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
