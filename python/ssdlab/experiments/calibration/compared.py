"""A measured row beside the value of the calibrated drive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ssdlab.experiments.calibration.fitting import difference
from ssdlab.experiments.calibration.measurements import QUANTITIES, FullSpeed, Measurement, Point

__all__ = ["Compared", "Verdict"]

Verdict = Literal["fitted", "not fitted", "within", "missed", "reported"]


@dataclass(frozen=True)
class Compared:
    """A measured row beside the value of the calibrated drive.

    Attributes:
        row: the measured row.
        simulated: the same quantity of the simulated drive, in the quantity's unit; `None` if it could not be simulated.
        is_fitted: whether the drive was fitted to the row. If not, the value is a prediction.
        bound: maximum error of a prediction, in the quantity's unit; `None` for a row that was fitted or is only reported.
    """

    row: Measurement
    simulated: float | None
    is_fitted: bool
    bound: float | None

    @property
    def error(self) -> float | None:
        """The relative error, (simulated - measured) / measured; `None` if the row could not be simulated."""
        return None if self.simulated is None else self.simulated / self.row.value - 1

    @property
    def verdict(self) -> Verdict:
        """The verdict on the error.

        For a fitted row, `fitted` if the error is within the tolerance, else `not fitted`. For a prediction with a bound, `within` or
        `missed`; without a bound, `reported`.
        """
        if self.is_fitted:
            return "fitted" if self.simulated is not None and abs(difference(self.row, self.simulated)) <= 1 else "not fitted"
        if self.bound is None:
            return "reported"
        return "within" if self.simulated is not None and abs(self.simulated - self.row.value) <= self.bound else "missed"

    def to_dict(self) -> dict[str, Any]:
        """A copy as a dictionary for JSON."""
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
