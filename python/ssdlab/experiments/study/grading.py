"""The grade of agreement of a measured number with a paper's claim: one rule for all rows (docs/studies.md, "How a row is graded")."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = [
    "AMOUNT",
    "CHANGE",
    "CONTRADICTED",
    "DIFFERENCE",
    "DIRECTION",
    "GRADES",
    "INCONCLUSIVE",
    "NO_EFFECT",
    "OURS",
    "RATIO",
    "SIZE",
    "UNMEASURED",
    "Claim",
    "as_change",
    "grade",
    "size_band",
]

SIZE, DIRECTION, CONTRADICTED, INCONCLUSIVE = "size", "direction", "contradicted", "inconclusive"
OURS, UNMEASURED = "ours", "not measured"
GRADES = (SIZE, DIRECTION, CONTRADICTED, INCONCLUSIVE, OURS, UNMEASURED)

CHANGE, DIFFERENCE, RATIO, AMOUNT = "change", "difference", "ratio", "amount"
"""Kinds of numbers: a change in percent, a difference of two numbers, a ratio of two, and an amount without a sign (a time or share)."""
NEUTRAL = {CHANGE: 0.0, DIFFERENCE: 0.0, RATIO: 1.0, AMOUNT: 0.0}
"""The value that means no effect, or for an amount none at all, by kind."""

FACTOR = 2.0
"""Maximum ratio of a measured to the published number, or the reverse, for agreement in size."""
NO_EFFECT = 5.0
"""Maximum bound for no effect, in the unit of the row (for a ratio in percent)."""

Band = tuple[float, float]


@dataclass(frozen=True)
class Claim:
    """A paper's claim about a number: the number, or bounds that represent the paper's words."""

    kind: str
    published: float | None = None
    at_least: float | None = None
    at_most: float | None = None

    @property
    def bounds(self) -> Band:
        """The bounds, infinite if there are none."""
        return (-math.inf if self.at_least is None else self.at_least, math.inf if self.at_most is None else self.at_most)

    @property
    def is_bounded(self) -> bool:
        """Whether there is a bound."""
        return self.at_least is not None or self.at_most is not None

    @property
    def says_none(self) -> bool:
        """Whether the published number means no effect, or none at all for an amount."""
        return self.published is not None and self.published == NEUTRAL[self.kind]


def grade(claim: Claim, low: float, mean: float, high: float) -> str:
    """Grades a measured mean with its confidence interval.

    Args:
        claim: the paper's claim.
        low: lower end of the interval; equal to the mean for one seed.
        mean: measured number, in the unit of the claim.
        high: upper end of the interval.

    Returns:
        One of `SIZE`, `DIRECTION`, `CONTRADICTED` and `INCONCLUSIVE`.
    """
    interval = (low, high)
    if claim.published is None:
        return _by_band(interval, claim.bounds, DIRECTION)
    band = size_band(claim)
    if claim.says_none:
        return _by_band(interval, band, SIZE)
    side = _side(claim)
    if not _within(interval, side):
        return INCONCLUSIVE if _meet(interval, band) else CONTRADICTED
    if _within((mean, mean), band):
        return SIZE
    if claim.kind != AMOUNT:
        return DIRECTION
    return _amount_of_another_size(claim, interval, band)


def _amount_of_another_size(claim: Claim, interval: Band, band: Band) -> str:
    """The grade of an amount of another size. Without a sign, only bounds from the paper's text can give it the right direction."""
    if claim.is_bounded and _within(interval, claim.bounds):
        return DIRECTION
    undecided = _meet(interval, band) or (claim.is_bounded and _meet(interval, claim.bounds))
    return INCONCLUSIVE if undecided else CONTRADICTED


def size_band(claim: Claim) -> Band:
    """The range in which a measured number has the published size.

    It is half to twice the published number. For a reduction, the remainder must be within a factor of two as well: -99 % leaves a tenth of
    what -90 % leaves, although the two numbers are close. A ratio is graded as a change. If the published number means no effect, the
    bounds of the claim apply.
    """
    assert claim.published is not None
    if claim.says_none:
        return claim.bounds
    if claim.kind == RATIO:
        low, high = _change_band(as_change(RATIO, claim.published))
        return (1 + low / 100, 1 + high / 100)
    return _change_band(claim.published) if claim.kind == CHANGE else _factor_band(claim.published)


def as_change(kind: str, value: float) -> float:
    """A ratio as a change in percent; numbers of other kinds are returned unchanged."""
    return 100 * (value - 1) if kind == RATIO else value


def _factor_band(published: float) -> Band:
    ends = (published / FACTOR, published * FACTOR)
    return (min(ends), max(ends))


def _change_band(published: float) -> Band:
    low, high = _factor_band(published)
    if published > 0:
        return (low, high)
    left = 100 + published
    return (max(low, left / FACTOR - 100), min(high, left * FACTOR - 100))


def _side(claim: Claim) -> Band:
    """The range of numbers with the published sign; its ends are excluded, see `_within`."""
    assert claim.published is not None
    neutral = NEUTRAL[claim.kind]
    beyond = math.nextafter(neutral, math.copysign(math.inf, claim.published - neutral))
    return (beyond, math.inf) if claim.published > neutral else (-math.inf, beyond)


def _by_band(interval: Band, band: Band, inside: str) -> str:
    if _within(interval, band):
        return inside
    return INCONCLUSIVE if _meet(interval, band) else CONTRADICTED


def _within(interval: Band, band: Band) -> bool:
    return band[0] <= interval[0] and interval[1] <= band[1]


def _meet(interval: Band, band: Band) -> bool:
    return band[0] <= interval[1] and interval[0] <= band[1]
