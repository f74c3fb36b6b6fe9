"""Measurements of a drive: operating points, and the quantities measured at each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from types import MappingProxyType
from typing import Literal, NamedTuple

__all__ = ["QUANTITIES", "FullSpeed", "Measurement", "Measurements", "Pattern", "Point", "Power", "Probe", "Quantity", "averaged"]


@dataclass(frozen=True)
class Pattern:
    """The addresses that are written.

    Attributes:
        kind: `sequential`: once in order, from empty. `uniform`: random. `zipf`: with frequencies by Zipf's law. `zones`: two parts of the
            addresses, each with its share of the writes. Frequently written addresses are scattered over the range.
        theta: exponent of `zipf`.
        hot_share: share of the addresses in the more frequently written part of `zones`, 0 to 1.
        hot_access: share of the writes to that part, 0 to 1; 1 if the other part is never written again.
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
    """Writes at full speed, measured in steady state.

    Attributes:
        pattern: addresses of the writes.
        used_bytes: bytes of the drive that are used; the rest is empty.
        request_bytes: request size, bytes.
        depth: number of outstanding requests.
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
    """A probe at a fixed rate, whose response times are measured, beside a load; both access uniform random addresses.

    Attributes:
        used_bytes: bytes of the drive that are used.
        request_bytes: size of each request, bytes.
        per_s: rate of the probe, requests per second.
        read_share: share of reads in the probe, 0 to 1.
        load_per_s: rate of the load at random instants, requests per second; 0 without a load; `None` for a closed loop of depth
            `load_depth`.
        load_read_share: share of reads in the load, 0 to 1.
        load_depth: maximum number of outstanding requests of the load.
        probe_depth: maximum number of outstanding requests of the probe beside a load; further requests wait, which is part
            of their response times. 0: no limit.
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
        """Whether the load is a closed loop, which saturates the drive."""
        return self.load_per_s is None

    @property
    def offered_per_s(self) -> float | None:
        """Requests per second of probe and load; `None` for a saturated load."""
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
    """A measured quantity.

    Attributes:
        about: description of the quantity.
        unit: unit of the quantity.
        tolerance: relative error that counts as a difference of 1.
        floor: minimum error that counts as a difference of 1, in the quantity's unit.
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
        point: operating point.
        quantity: measured quantity, a name in `QUANTITIES`.
        value: mean of the repeats, in the quantity's unit.
        repeats: number of repeats.
        spread: half the range of the repeats, relative to the value.
        source: file, and lines or jobs in it.
    """

    point: Point
    quantity: QuantityName
    value: float
    source: str
    repeats: int = 1
    spread: float = 0.0


class Power(NamedTuple):
    """What a drive draws by its data sheet, W: idle, and while it writes in order at full speed."""

    idle_w: float
    active_w: float


@dataclass(frozen=True)
class Measurements:
    """All rows of a drive, and the reasons for rows that were left out.

    Attributes:
        drive: name of the drive.
        rows: one row for each quantity at each point, averaged over repeats.
        left_out: number of unused rows of the files, by reason.
        power: what the drive draws by its data sheet; `None` if unknown.
    """

    drive: str
    rows: tuple[Measurement, ...]
    left_out: Mapping[str, int]
    power: Power | None = None

    def at(self, quantity: QuantityName) -> list[Measurement]:
        """The rows of one quantity."""
        return [row for row in self.rows if row.quantity == quantity]


def averaged(rows: Iterable[Measurement]) -> tuple[Measurement, ...]:
    """One row for each quantity at each point, averaged over repeats, in the order of first appearance."""
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
