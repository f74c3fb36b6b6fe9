"""Kinds, sizes and addresses of the requests of a job, as keys of a workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ssdlab.asking.fio.job_file import Amount, Entry, Section
from ssdlab.asking.fio.known import is_cached

__all__ = ["Direction", "Shape", "by_direction", "shape_of"]

Direction = Literal["read", "write", "trim"]
DIRECTIONS: Sequence[Direction] = ("read", "write", "trim")
PATTERNS: Mapping[str, tuple[bool, tuple[Direction, ...]]] = {
    "read": (False, ("read",)),
    "write": (False, ("write",)),
    "trim": (False, ("trim",)),
    "rw": (False, ("read", "write")),
    "readwrite": (False, ("read", "write")),
    "randread": (True, ("read",)),
    "randwrite": (True, ("write",)),
    "randtrim": (True, ("trim",)),
    "randrw": (True, ("read", "write")),
    "trimwrite": (False, ("trim", "write")),
}
DEFAULT_BYTES = 4096
MIXED = ("read", "write")
SECTOR = 512
CACHE_BYTES = 4096
"""Size of a page of the host's page cache."""

Sizes = Sequence[tuple[int, float]]
"""Sizes in bytes, each with its weight."""


class Shape(NamedTuple):
    """What the requests of a job are, besides when they are sent and where its range lies."""

    directions: tuple[Direction, ...]
    is_random: bool
    has_map: bool
    """Random addresses cover each block once a pass."""
    read_share: float
    sizes: Mapping[Direction, Sizes]
    align: Mapping[Direction, int]
    distribution: Mapping[str, Any]
    """Keys of the addresses, without `zones`."""
    zones: Sequence[tuple[float, Amount]]
    random_share: float
    in_pages: bool
    """Sizes are rounded up to whole pages of the page cache."""

    @property
    def is_mixed(self) -> bool:
        """Whether there are reads and writes."""
        return self.directions == MIXED

    @property
    def least(self) -> int:
        """The smallest size, bytes."""
        return min(size for one in self.directions for size, _ in self.sizes[one])

    @property
    def is_fixed(self) -> bool:
        """Whether all requests have one size."""
        return len({size for one in self.directions for size, _ in self.sizes[one]}) == 1

    @property
    def needs_parts(self) -> bool:
        """Whether reads and writes have sizes or positions of their own, so that they are generated apart."""
        own = self.sizes["read"] != self.sizes["write"] or self.align["read"] != self.align["write"]
        return self.is_mixed and (own or self.random_share < 1.0)

    def kinds(self) -> dict[str, Any]:
        """The keys of kinds, for a job without parts."""
        if self.is_mixed:
            return {"read_share": self.read_share}
        if self.directions == ("read",):
            return {"read_share": 1.0}
        trims = {"trim_share": 1.0} if self.directions == ("trim",) else {"trim_first": True} if len(self.directions) == 2 else {}
        return {"read_share": 0.0, **trims}

    def of(self, direction: Direction, footprint: int) -> dict[str, Any]:
        """The keys of sizes and addresses of a direction. `footprint`: bytes of the job's range."""
        sizes = self.sizes[direction]
        fixed = {"request_kb": sizes[0][0] / 1024}
        table = {"request_size": "table", "size_table": [[size / 1024, weight] for size, weight in sizes]}
        addresses = {**self.distribution, **({"zones": _zones(self.zones, footprint)} if self.zones else {})}
        if not self.is_random:
            addresses = {"address": "start"}
        sequential = {"sequential_share": 1.0 - self.random_share} if self.random_share < 1.0 else {}
        return {**(fixed if len(sizes) == 1 else table), "align_kb": self.align[direction] / 1024, **addresses, **sequential}


def shape_of(job: Section) -> Shape:
    """The requests of a job.

    Raises:
        UsageError: an option has a wrong value, or describes requests that are not simulated.
    """
    rw = job.get("rw")
    is_random, directions = (False, ("read",)) if rw is None else rw.choice(PATTERNS)
    sizes, distribution, zones = _sizes(job, directions), *_distribution(job)
    in_pages = is_cached(job) and any(size % SECTOR for found in sizes.values() for size, _ in found)
    if in_pages:
        sizes = {one: [(-(-size // CACHE_BYTES) * CACHE_BYTES, weight) for size, weight in found] for one, found in sizes.items()}
    share = job.get("percentage_random")
    random_share = 0.0 if not is_random else 1.0 if share is None else share.number(0, 100) / 100
    has_map = is_random and distribution["address"] == "uniform" and not job.is_on("norandommap")
    if has_map:
        distribution = {"address": "permutation"}
    align = _alignment(job, sizes)
    mix = _mix(job) if directions == MIXED else 0.0
    if directions == MIXED and mix in (0.0, 1.0):
        directions = ("read",) if mix else ("write",)
    shape = Shape(directions, is_random, has_map, mix, sizes, align, distribution, zones, random_share, in_pages)
    _check(job, shape)
    return shape


def _check(job: Section, shape: Shape) -> None:
    """Refuses what only fio can do."""
    used = {(tuple(shape.sizes[one]), shape.align[one]) for one in shape.directions}
    if shape.has_map and (not shape.is_fixed or len(used) > 1 or shape.align[shape.directions[-1]] != shape.least):
        cuts = "fio cuts requests where a block was already reached in this pass, which is not simulated"
        raise job.refuse(f"sizes or alignments that vary with the random map: {cuts}; set norandommap=1, or one size")
    if shape.has_map and shape.random_share < 1.0:
        raise job.refuse("percentage_random below 100 with the random map is not simulated; set norandommap=1")
    if shape.directions == ("trim", "write") and len(used) > 1:
        raise job.refuse("rw = trimwrite with sizes that differ by direction is not simulated; give one bs")
    for one in shape.directions:
        for option, sizes in (("bs", [size for size, _ in shape.sizes[one]]), ("ba", [shape.align[one]])):
            odd = next((size for size in sizes if size % SECTOR), None)
            if odd is not None:
                raise job.refuse(f"{option}: {odd} bytes: expected whole sectors of {SECTOR} bytes")


def by_direction(entry: Entry | None) -> dict[Direction, Entry | None]:
    """The parts of a value for reads, writes and trims: one for all, or one for reads and one for writes and trims, or three."""
    if entry is None:
        return dict.fromkeys(DIRECTIONS)
    parts: list[Entry | None] = [part if part.value else None for part in entry.parts(",")]
    if len(parts) > 3:
        raise entry.wrong("at most three values: for reads, writes and trims")
    return dict(zip(DIRECTIONS, [*parts, *[parts[-1]] * (3 - len(parts))], strict=True))


def _mix(job: Section) -> float:
    """The share of reads."""
    reads, writes = job.get("rwmixread"), job.get("rwmixwrite")
    share = 50.0 if reads is None else reads.number(0, 100)
    if writes is not None:
        if reads is not None and writes.number(0, 100) != 100 - share:
            raise writes.refuse(f"does not go with rwmixread = {reads.value}: leave one of them out")
        share = 100 - writes.number(0, 100)
    return share / 100


def _sizes(job: Section, directions: Sequence[Direction]) -> dict[Direction, Sizes]:
    given = [name for name in ("bssplit", "bsrange") if job.get(name) is not None]
    if len(given) > 1:
        raise job.refuse("bssplit and bsrange were both given: leave one of them out")
    fixed, varied = by_direction(job.get("bs")), by_direction(job.get(given[0])) if given else {}
    read = {"bssplit": _split, "bsrange": _range}
    found: dict[Direction, Sizes] = {}
    for one in DIRECTIONS:
        size, other = fixed[one], varied.get(one)
        found[one] = read[given[0]](other) if other is not None else [(DEFAULT_BYTES if size is None else size.size(), 1.0)]
    unused = [one for one in DIRECTIONS if one not in directions]
    return found | dict.fromkeys(unused, found[directions[-1]])


def _split(entry: Entry) -> Sizes:
    """`4k/60:64k/40`; entries without a share divide what the others leave."""
    pairs = [part.value.partition("/") for part in entry.parts(":")]
    sizes = [entry.with_value(size).size() for size, _, _ in pairs]
    shares = [entry.with_value(share).number(0, 100) if share else None for _, _, share in pairs]
    left, open_ = 100 - sum(share for share in shares if share is not None), shares.count(None)
    if left < 0 or (not open_ and left > 0):
        raise entry.wrong("shares that add up to 100, such as 4k/60:64k/40")
    return [(size, left / open_ if share is None else share) for size, share in zip(sizes, shares, strict=True)]


def _range(entry: Entry) -> Sizes:
    """`4k-16k`: a uniform draw, rounded up to a multiple of the smallest size, and down to the largest."""
    ends = entry.parts("-" if "-" in entry.value else ":")
    if len(ends) != 2 or (least := ends[0].size()) > (most := ends[1].size()):
        raise entry.wrong("a range such as 4k-16k")
    if least & (least - 1):
        raise entry.refuse("a smallest size that is not a power of 2 is not simulated; give bssplit")
    if most // least > 4096:
        raise entry.refuse("more than 4096 sizes; give a narrower range, or bssplit")
    whole = [(size, float(least)) for size in range(least, most + 1, least)]
    return whole if most % least == 0 else [*whole, (most, float(most % least))]


def _alignment(job: Section, sizes: Mapping[Direction, Sizes]) -> dict[Direction, int]:
    """The multiples at which random requests begin: `ba`, or the smallest size."""
    given = by_direction(job.get("ba"))
    return {one: entry.size() if (entry := given[one]) is not None else min(size for size, _ in sizes[one]) for one in DIRECTIONS}


def _distribution(job: Section) -> tuple[dict[str, Any], Sequence[tuple[float, Amount]]]:
    entry = job.get("random_distribution")
    if entry is None:
        return {"address": "uniform"}, ()
    name, _, rest = entry.value.partition(":")
    parameter = entry.with_value(rest)
    if name == "random":
        return {"address": "uniform"}, ()
    if name in ("zoned", "zoned_abs"):
        return {"address": "zones"}, _weights(parameter, absolute=name == "zoned_abs")
    if name == "zipf":
        theta = parameter.number(0, 10) if rest else 1.1
        if theta < 0.000001 or theta == 1:
            raise entry.wrong("an exponent other than 1 and above 0, as fio does")
        return {"address": "zipf", "fio_draws": True, "zipf_exponent": theta}, ()
    if name == "pareto":
        return {"address": "pareto", "fio_draws": True, "pareto_h": parameter.number(0.0001, 0.9999) if rest else 0.2}, ()
    if name == "normal":
        return {"address": "normal", "normal_width": min(0.5, parameter.number(0, 100) / 100) if rest else 0.0}, ()
    raise entry.wrong("random, zipf:EXPONENT, pareto:H, normal:PERCENT, zoned:REQUESTS/SIZE:... or zoned_abs:REQUESTS/BYTES:...")


def _weights(entry: Entry, *, absolute: bool) -> Sequence[tuple[float, Amount]]:
    """The shares of requests and the sizes of zones, in order."""
    expected = "shares of requests that add up to 100, each with a size, such as 60/10:40/20"
    if "," in entry.value:
        raise entry.refuse("zones that differ by direction are not simulated; give a job for each direction")
    found = []
    for part in entry.parts(":"):
        access, slash, size = part.value.partition("/")
        if not slash:
            raise entry.wrong(expected)
        read = entry.with_value(size)
        found.append((entry.with_value(access).number(0, 100), read.amount() if absolute else Amount(percent=read.number(0, 100))))
    shares = sum(amount.percent or 0 for _, amount in found)
    if sum(access for access, _ in found) != 100 or shares > 100:
        raise entry.wrong(expected)
    return found


def _zones(zones: Sequence[tuple[float, Amount]], footprint: int) -> list[list[float]]:
    """Pairs of weights, of requests and bytes; what the zones leave has no requests."""
    sizes = [amount.of(footprint) for _, amount in zones]
    rest = footprint - sum(sizes)
    pairs = [[access, float(size)] for (access, _), size in zip(zones, sizes, strict=True)]
    return [*pairs, [0.0, float(rest)]] if rest > 0 else pairs
