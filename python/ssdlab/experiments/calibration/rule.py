"""The rule that decides before fitting which rows are fitted, which are predicted, and the bound of each prediction.

Fitted rows:

- sequential and uniform writes at full speed, with the smallest and the largest number of used bytes;
- every second load below saturation, from the lowest on: mean, median and 99th percentile of reads, and median of writes;
- under a saturated load, the rate and the median of reads (it shows whether reads pass writes);
- Zipf's law with an exponent of 0.8 or more, whose rows never have a bound; and, of zones of which one is never written again, every second
  one, from the largest hot zone on. These rows determine the collection policy.

In addition, `waiting_rows` determine the pacing window: at the fitted loads, the 99th percentile of the probe's writes and the mean of the
load's. They are only reported, as at other loads.

All other rows are predicted. A prediction has a bound (`bound`), except for Zipf's law from 0.8 on, the 99th percentile of writes, means
below saturation, and loads within a tenth of the highest rate or above.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ssdlab.experiments.calibration.measurements import FullSpeed, Measurement, Measurements, Pattern, Probe

__all__ = ["SKEWED_THETA", "WAITING", "bound", "fitted_rows", "highest_rate", "waiting_rows"]

SKEWED_THETA = 0.8
KNEE = 0.1
"""Distance from the highest rate, relative to it, within which response times depend on the last percent of the load."""
FITTED_BELOW = frozenset({"read_mean_us", "read_p50_us", "read_p99_us", "write_p50_us"})
WAITING = frozenset({"write_p99_us", "load_write_mean_us"})
"""Quantities with the waits of writes below saturation."""
FITTED_SATURATED = frozenset({"iops", "read_p50_us"})
SATURATED: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"iops": (0.06, 0.0), "load_write_mean_us": (0.08, 0.0), "write_p50_us": (0.25, 3.0), "read_p99_us": (0.4, 0.0)}
)
"""Bounds of predictions under a saturated load: relative, and in the quantity's unit."""
CALM, MIDDLING = 0.85, (0.4, 0.9)
"""Shares of the highest rate: upper end of the bound for the median of reads, and range of the narrow bound for their 99th percentile."""


def fitted_rows(measurements: Measurements) -> tuple[Measurement, ...]:
    """The rows that a drive is fitted to."""
    kinds = {kind: _ends(measurements, kind) for kind in ("sequential", "uniform")}
    every_other = _fitted_loads(measurements)
    patterns = [row.point.pattern for row in measurements.rows if isinstance(row.point, FullSpeed)]
    frozen = sorted({pattern.hot_share for pattern in patterns if _is_frozen(pattern)}, reverse=True)[::2]

    def is_fitted(row: Measurement) -> bool:
        point = row.point
        if isinstance(point, FullSpeed):
            pattern = point.pattern
            if pattern.kind in kinds:
                return point.used_bytes in kinds[pattern.kind]
            return _is_skewed(pattern) or (_is_frozen(pattern) and pattern.hot_share in frozen)
        if point.is_saturated:
            return row.quantity in FITTED_SATURATED
        return point.offered_per_s in every_other and row.quantity in FITTED_BELOW

    return tuple(row for row in measurements.rows if is_fitted(row))


def waiting_rows(measurements: Measurements) -> tuple[Measurement, ...]:
    """The rows with waits of writes at the fitted loads."""
    loads = _fitted_loads(measurements)
    return tuple(
        row for row in measurements.rows if isinstance(row.point, Probe) and row.quantity in WAITING and row.point.offered_per_s in loads
    )


def highest_rate(rows: Iterable[Measurement]) -> float | None:
    """The rate under a saturated load, requests per second, or else the highest offered rate; `None` without such rows."""
    probes = [row for row in rows if isinstance(row.point, Probe) and row.quantity == "iops"]
    saturated = [row.value for row in probes if isinstance(row.point, Probe) and row.point.is_saturated]
    return max(saturated or [row.value for row in probes], default=None)


def bound(row: Measurement, highest: float | None) -> tuple[float, float] | None:
    """The maximum error of a prediction, relative and in the quantity's unit, of which the larger counts; `None` without a bound."""
    point = row.point
    if isinstance(point, FullSpeed):
        return _bound_full_speed(row.quantity, point.pattern)
    if point.is_saturated:
        return SATURATED.get(row.quantity)
    share = None if highest is None else (point.offered_per_s or 0) / highest
    if share is None or share > 1 - KNEE:
        return None
    if row.quantity == "read_p50_us":
        return (0.2, 15.0) if share < CALM else None
    if row.quantity == "read_p99_us":
        return (0.2, 0.0) if MIDDLING[0] <= share <= MIDDLING[1] else (0.4, 0.0)
    return (0.25, 3.0) if row.quantity == "write_p50_us" else None


def _bound_full_speed(quantity: str, pattern: Pattern) -> tuple[float, float] | None:
    if _is_skewed(pattern) or pattern.kind == "sequential":
        return None
    if quantity == "write_iops":
        return (0.07 if pattern.kind == "uniform" else 0.1, 0.0)
    if pattern.kind == "zones" and not _is_frozen(pattern):
        return None
    return (0.03 if pattern.kind == "uniform" else 0.1, 0.0)


def _ends(measurements: Measurements, kind: str) -> set[int]:
    """The smallest and the largest number of used bytes for a pattern at full speed."""
    points = (row.point for row in measurements.rows if isinstance(row.point, FullSpeed))
    uses = sorted({point.used_bytes for point in points if point.pattern.kind == kind})
    return {*uses[:1], *uses[-1:]}


def _is_skewed(pattern: Pattern) -> bool:
    return pattern.kind == "zipf" and pattern.theta >= SKEWED_THETA


def _is_frozen(pattern: Pattern) -> bool:
    """Whether a part of the addresses is never written again."""
    return pattern.kind == "zones" and pattern.hot_access == 1


def _fitted_loads(measurements: Measurements) -> set[float]:
    """The rates of every second load, requests per second, from the lowest on."""
    highest = highest_rate(measurements.rows)
    return set(sorted({offered for row in measurements.rows if (offered := _below(row, highest)) is not None})[::2])


def _below(row: Measurement, highest: float | None) -> float | None:
    """The offered rate of a row below saturation; `None` for other rows, and within a tenth of the highest rate."""
    if not isinstance(row.point, Probe) or (offered := row.point.offered_per_s) is None:
        return None
    return None if highest is not None and offered > (1 - KNEE) * highest else offered
