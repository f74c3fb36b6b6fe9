"""A measured row beside what the calibrated drive does there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ssdlab.calibration.fitting import difference
from ssdlab.calibration.measurements import QUANTITIES, FullSpeed, Measurement, Point

__all__ = ["Compared", "Verdict"]

Verdict = Literal["fitted", "not fitted", "within", "missed", "reported"]


@dataclass(frozen=True)
class Compared:
    """A row beside what the calibrated drive does.

    Attributes:
        row: what was measured.
        simulated: the same quantity of the simulated drive; `None` if it could not be simulated.
        is_fitted: whether the drive was fitted to it. If not, it was predicted.
        bound: how near a prediction has to be, in the quantity's unit; `None` if it is only reported.
    """

    row: Measurement
    simulated: float | None
    is_fitted: bool
    bound: float | None

    @property
    def error(self) -> float | None:
        """(simulated - measured) / measured."""
        return None if self.simulated is None else self.simulated / self.row.value - 1

    @property
    def verdict(self) -> Verdict:
        """How near it is.

        `fitted` or `not fitted`: within the tolerance or not, for a row that was fitted. `within` or `missed`: of a prediction with a
        bound. `reported`: of one without.
        """
        if self.is_fitted:
            return "fitted" if self.simulated is not None and abs(difference(self.row, self.simulated)) <= 1 else "not fitted"
        if self.bound is None:
            return "reported"
        return "within" if self.simulated is not None and abs(self.simulated - self.row.value) <= self.bound else "missed"

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        row = self.row
        return {
            "point": _point(row.point),
            "quantity": row.quantity,
            "about": QUANTITIES[row.quantity].about,
            "unit": QUANTITIES[row.quantity].unit,
            "measured": row.value,
            "repeats": row.repeats,
            "spread": row.spread,
            "simulated": self.simulated,
            "error": self.error,
            "bound": self.bound,
            "verdict": self.verdict,
            "source": row.source,
        }


def _point(point: Point) -> dict[str, Any]:
    data: dict[str, Any] = {"label": str(point), "used_bytes": point.used_bytes, "request_bytes": point.request_bytes}
    if isinstance(point, FullSpeed):
        pattern = point.pattern
        data |= {"pattern": pattern.kind, "depth": point.depth}
        if pattern.kind == "zipf":
            data["theta"] = pattern.theta
        elif pattern.kind == "zones":
            data |= {"hot_share": pattern.hot_share, "hot_access": pattern.hot_access}
    else:
        data |= {"offered_per_s": point.offered_per_s, "load_depth": point.load_depth, "probe_depth": point.probe_depth}
    return data
