"""What is measured of a drive: operating points, and quantities at each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from types import MappingProxyType
from typing import Literal, NamedTuple

__all__ = ["QUANTITIES", "FullSpeed", "Measurement", "Measurements", "Pattern", "Point", "Probe", "Quantity", "averaged"]


@dataclass(frozen=True)
class Pattern:
    """Which addresses are written.

    Attributes:
        kind: `sequential`: once in order, from empty. `uniform`: random. `zipf`: some more often than others. `zones`: two parts of the
            addresses, each with its share of the writes. What is popular is scattered over the addresses.
        theta: of `zipf`: the exponent.
        hot_share: of `zones`: the share of the addresses in the part that is written more often.
        hot_access: of `zones`: the share of the writes that go there; 1 if the other part is never written again.
    """

    kind: Literal["sequential", "uniform", "zipf", "zones"]
    theta: float = 0.0
    hot_share: float = 0.0
    hot_access: float = 0.0

    def __str__(self) -> str:
        if self.kind == "zipf":
            return f"zipf {self.theta:g}"
        return f"zones ({self.hot_access:.0%} to {self.hot_share:.0%})" if self.kind == "zones" else self.kind


@dataclass(frozen=True)
class FullSpeed:
    """Writes as fast as the drive takes them, until it is steady.

    Attributes:
        pattern: which addresses.
        used_bytes: how much of the drive is used; the rest is empty.
        request_bytes: the size of a write.
        depth: how many are outstanding.
    """

    pattern: Pattern
    used_bytes: int
    request_bytes: int
    depth: int

    def __str__(self) -> str:
        used = self.used_bytes / 1e9
        size = f"{self.request_bytes / 1024:g} KiB"
        return f"{self.pattern} writes of {size} at depth {self.depth}, {used:{'.0f' if used >= 10 else '.3g'}} GB used"


@dataclass(frozen=True)
class Probe:
    """Requests at a fixed rate, whose response times are measured, beside a load of other requests; all to uniform random addresses.

    Attributes:
        used_bytes: how much of the drive is used.
        request_bytes: the size of each request.
        per_s: the probe's requests a second.
        read_share: how many of them read.
        load_per_s: the load's requests a second, at random instants; 0: there is none; `None`: as many as `load_depth` lets through.
        load_read_share: how many of them read.
        load_depth: how many of the load are outstanding at most.
        probe_depth: how many of the probe are, beside a load at a fixed rate; the others wait, which is part of their response times.
            0: that is not so.
    """

    used_bytes: int
    request_bytes: int
    per_s: float
    read_share: float
    load_per_s: float | None
    load_read_share: float
    load_depth: int
    probe_depth: int = 0

    @property
    def is_saturated(self) -> bool:
        """Whether the load is whatever the drive takes."""
        return self.load_per_s is None

    @property
    def offered_per_s(self) -> float | None:
        """Requests a second of probe and load; `None` if the load is whatever the drive takes."""
        return None if self.load_per_s is None else self.per_s + self.load_per_s

    def __str__(self) -> str:
        offered = self.offered_per_s
        return "saturated, with a probe" if offered is None else f"{offered:,.0f} requests/s offered, with a probe"


Point = FullSpeed | Probe
QuantityName = Literal[
    "write_amplification",
    "write_iops",
    "iops",
    "read_mean_us",
    "read_p50_us",
    "read_p99_us",
    "write_p50_us",
    "write_p99_us",
    "load_write_mean_us",
]


class Quantity(NamedTuple):
    """Something that is measured.

    Attributes:
        about: what it is.
        unit: its unit.
        tolerance: an error of this share of the value counts as much as one of `floor`, and as much as those of other quantities.
        floor: errors below this, in its unit, count as little as with a larger value.
    """

    about: str
    unit: str
    tolerance: float
    floor: float = 0.0


QUANTITIES: Mapping[QuantityName, Quantity] = MappingProxyType(
    {
        "write_amplification": Quantity("Bytes written to flash for each byte that the host writes", "", 0.03),
        "write_iops": Quantity("Writes a second at full speed, steady", "1/s", 0.05),
        "iops": Quantity("Requests a second of probe and load together", "1/s", 0.06),
        "read_mean_us": Quantity("Mean response time of the probe's reads", "us", 0.1, 7.5),
        "read_p50_us": Quantity("Median response time of the probe's reads", "us", 0.2, 15.0),
        "read_p99_us": Quantity("99th percentile of the response time of the probe's reads", "us", 0.2),
        "write_p50_us": Quantity("Median response time of the probe's writes", "us", 0.25, 3.0),
        "write_p99_us": Quantity("99th percentile of the response time of the probe's writes", "us", 0.4),
        "load_write_mean_us": Quantity("Mean response time of the load's writes", "us", 0.08),
    }
)


@dataclass(frozen=True)
class Measurement:
    """One row: a quantity at an operating point.

    Attributes:
        point: what the drive was asked to do.
        quantity: what was measured, a name of `QUANTITIES`.
        value: the mean of the repeats, in the quantity's unit.
        repeats: how often it was measured.
        spread: half the range of the repeats, as a share of the value.
        source: where it was found: a file, and lines or jobs of it.
    """

    point: Point
    quantity: QuantityName
    value: float
    source: str
    repeats: int = 1
    spread: float = 0.0


@dataclass(frozen=True)
class Measurements:
    """All rows of a drive, and what was left out of the files with the reason.

    Attributes:
        drive: what the drive is called.
        rows: one for each quantity at each point, averaged over repeats.
        left_out: by reason, how many rows of the files.
    """

    drive: str
    rows: tuple[Measurement, ...]
    left_out: Mapping[str, int]

    def at(self, quantity: QuantityName) -> list[Measurement]:
        """The rows of one quantity."""
        return [row for row in self.rows if row.quantity == quantity]


def averaged(rows: Iterable[Measurement]) -> tuple[Measurement, ...]:
    """One row for each quantity at each point, in the order in which they first appear."""
    alike: dict[tuple[Point, QuantityName], list[Measurement]] = {}
    for row in rows:
        alike.setdefault((row.point, row.quantity), []).append(row)
    return tuple(_mean(repeats) for repeats in alike.values())


def _mean(repeats: list[Measurement]) -> Measurement:
    values = [row.value for row in repeats]
    mean = fmean(values)
    first = repeats[0]
    sources = "; ".join(dict.fromkeys(row.source for row in repeats))
    return Measurement(
        first.point, first.quantity, mean, sources, repeats=len(repeats), spread=(max(values) - min(values)) / 2 / mean if mean else 0.0
    )
