"""A whole fill of a simulated drive: rates over bytes written, its phases, how many units fold at once, and recovery in idle time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from ssdlab.asking.plans import Setup, value_text
from ssdlab.experiments.cliffs.drives import Drive
from ssdlab.experiments.cliffs.model import BASE, BILLION, SCALE, SCHEME, Model, model_of
from ssdlab.runs.batch import Job, execute
from ssdlab.runs.result import Result

__all__ = ["Fill", "Recovery", "fill", "fitted", "recovery", "time_until_back"]

SEED = 1
STEPS = 100
"""Number of equal parts of the drive over whose writes a rate is averaged: blocks of all units are erased within each."""
EDGE = 0.02
"""Share of the drive at the ends of a phase that its rate leaves out."""
LEAST = 0.05
"""Share of the drive below which a phase is too short for a rate."""


@dataclass(frozen=True)
class Fill:
    """A whole fill, in GB and GB/s of the drive.

    Attributes:
        folding: how many units may fold at once; 0 for all.
        units: number of units.
        written: data written by the end of each part of the curve.
        rates: rate of each part.
        first_end: data written when the rate falls for the first time.
        until: data written when it falls for the second time, since erased blocks run out; `None` if the drive is full before.
        v1, v2, v3: rate of each phase; `None` without the phase.
        rate: rate of the whole fill.
        cached, direct, folded: programs of a page of the host in SLC mode, past it, and of a folded page.
        pages: pages that the host wrote.
    """

    folding: int
    units: int
    written: tuple[float, ...]
    rates: tuple[float, ...]
    first_end: float | None
    until: float | None
    v1: float | None
    v2: float | None
    v3: float | None
    rate: float
    cached: int
    direct: int
    folded: int
    pages: int


@dataclass(frozen=True)
class Recovery:
    """What idle time gives back of a full cache.

    Attributes:
        seconds: idle time.
        back: data that the cache takes afterwards, GB.
    """

    seconds: float
    back: float


def fill(drive: Drive, *, scale: int = SCALE, folding: int = 0) -> Fill:
    """Fills the drive of a row from empty, in order."""
    model = model_of(drive, scale=scale, folding=folding)
    return _fill_of(drive, model, folding, _run(model, {}, model.requests))


def fitted(drive: Drive, v3: float, first: Fill, *, scale: int = SCALE) -> Fill:
    """The fill with the number of folding units whose third phase is closest to `v3`. `first`: one with any number."""
    best, low, high = first, 1, first.units
    while low <= high and best.v3 is not None:
        folding = (low + high) // 2
        found = fill(drive, scale=scale, folding=folding)
        rate = found.v3 or 0.0
        if abs(rate - v3) < abs(best.v3 - v3):
            best = found
        low, high = (folding + 1, high) if rate < v3 else (low, folding - 1)
    return best


def recovery(drive: Drive, seconds: float, *, scale: int = SCALE) -> Recovery:
    """Fills the cache, pauses, and fills it again."""
    model = model_of(drive, scale=scale)
    before = round(1.1 * drive.cache / model.gb / model.request_bytes) + 1
    pause = {"workload.think_requests": before, "workload.think_us": seconds * 1e6 / scale}
    result = _run(model, pause, 2 * before)
    page = model.settings["device.page_bytes"]
    return Recovery(seconds, result.counters.slc_writes * page * model.gb - model.cache)


def time_until_back(drive: Drive, back: float, longest: float, *, scale: int = SCALE) -> float | None:
    """Shortest pause after which the full cache takes `back` GB again, to half a second; `None` if it is longer than `longest`."""
    low, high = 0, round(2 * longest)
    if recovery(drive, high / 2, scale=scale).back < back:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if recovery(drive, middle / 2, scale=scale).back >= back else (middle, high)
    return high / 2


def _run(model: Model, more: dict[str, float], requests: int) -> Result:
    settings = tuple((key, value_text(value)) for key, value in {**model.settings, **more}.items())
    setup = Setup(device=BASE, set=settings, requests=requests, seed=SEED, series=True)
    batch = execute([Job.prepare("run", setup, SCHEME, folder=None)], workers=1)
    batch.settle()
    batch.raise_failure()
    found: Result = batch.finished["run"]
    return found


def _fill_of(drive: Drive, model: Model, folding: int, result: Result) -> Fill:
    series, counters = result.series, result.counters
    whole = model.requests * model.request_bytes * model.gb
    curve = _Curve.of(result, model)
    first = drive.capacity / drive.bits if drive.is_whole else model.cache
    folds = curve.first(series.slc.folded_bytes)
    # Where phases lie roughly; each rate is of the middle of its phase.
    second = None if drive.is_whole or folds is None or whole - folds < LEAST * whole else folds
    v1 = curve.rate(0.1 * first, 0.9 * first)
    v2 = None if drive.is_whole else curve.rate(first + 0.2 * ((second or whole) - first), first + 0.8 * ((second or whole) - first))
    third = first if drive.is_whole else second
    v3 = None if third is None else curve.rate(whole - 0.8 * (whole - third), whole - EDGE * whole)
    after = v3 if drive.is_whole else v2
    first_end = None if v1 is None or after is None else curve.falls(0.5 * first, (v1 + after) / 2)
    until = None if second is None or v2 is None or v3 is None else curve.falls(1.05 * first, (v2 + v3) / 2)
    if v3 is not None:
        # The whole of the third phase.
        v3 = curve.rate((until or first) + EDGE * whole, whole - EDGE * whole)
    written, rates = curve.smooth(whole / STEPS)
    return Fill(
        folding=folding,
        units=model.units,
        written=written,
        rates=rates,
        first_end=first_end,
        until=until,
        v1=v1,
        v2=v2,
        v3=v3,
        rate=whole / (result.simulated_ns / BILLION * model.scale),
        cached=counters.slc_writes,
        direct=counters.direct_writes,
        folded=counters.folded_pages,
        pages=model.requests * model.request_bytes // model.settings["device.page_bytes"],
    )


@dataclass(frozen=True)
class _Curve:
    """Data written over time.

    Attributes:
        written: data written at the edges of the bins of time, from 0.
        times: these edges, s; the last is the end of the run.
    """

    written: tuple[float, ...]
    times: tuple[float, ...]

    @classmethod
    def of(cls, result: Result, model: Model) -> _Curve:
        counts, seconds = result.series.written.host_bytes, model.scale / BILLION
        edges = (*range(0, len(counts) * result.series.bin_ns, result.series.bin_ns), result.simulated_ns)
        return cls((0.0, *(count * model.gb for count in accumulate(counts))), tuple(edge * seconds for edge in edges))

    def first(self, counts: Sequence[int]) -> float | None:
        """Data written by the end of the first bin that counts something."""
        return next((end for end, count in zip(self.written[1:], counts, strict=True) if count), None)

    def time(self, written: float) -> float:
        """When so much was written, s: within a bin in proportion."""
        index = min(max(bisect_left(self.written, written), 1), len(self.written) - 1)
        before, after = self.written[index - 1], self.written[index]
        part = (written - before) / (after - before) if after > before else 1.0
        begin, end = self.times[index - 1], self.times[index]
        return begin + min(part, 1.0) * (end - begin)

    def rate(self, low: float, high: float) -> float | None:
        """Mean rate between two amounts of data written; `None` if less than a bin lies between them."""
        time = self.time(high) - self.time(low)
        return (high - low) / time if high > low and time >= self.times[1] else None

    def falls(self, beyond: float, rate: float) -> float | None:
        """Data written when the rate falls below `rate` after `beyond`.

        The first step below has the lower rate, or both, as the step before may: the fall lies where the rates around these two steps take
        as long as the two took.
        """
        written, rates = self.smooth(self.written[-1] / STEPS)
        found = next((i for i, (end, now) in enumerate(zip(written, rates, strict=True)) if end > beyond and now < rate), None)
        if found is None or not 2 <= found < len(rates) - 1:
            return None if found is None else written[found]
        (before, after), (begin, end) = (rates[found - 2], rates[found + 1]), (written[found - 2], written[found])
        if before <= after:
            return (begin + end) / 2
        part = ((end - begin) / after - self.time(end) + self.time(begin)) / (1 / after - 1 / before)
        return begin + min(max(part, 0.0), end - begin)

    def smooth(self, step: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Ends and rates of equal amounts of data, each at least a bin long."""
        written, rates, begin = [], [], 0.0
        while begin < self.written[-1]:
            end = min(begin + step, self.written[-1])
            rate = self.rate(begin, end)
            while rate is None and end < self.written[-1]:
                end = min(end + step, self.written[-1])
                rate = self.rate(begin, end)
            if rate is not None:
                written.append(end)
                rates.append(rate)
            begin = end
        return tuple(written), tuple(rates)
