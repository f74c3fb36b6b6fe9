"""The simulated drive against the slow and simple FTL of `reference_ftl`, page by page.

Requests are run one at a time, with enough time after each for garbage collection to end. The pages of a request fall into different pools,
which work independently, so that their order does not matter. After every request the whole mapping, the erase counts and the free lists
must be equal, and at the end the counters.

Cases are the same in every run. `SSDLAB_DIFFERENTIAL_CASES=20000 pytest tests/test_differential_ftl.py` runs this number of others.
"""

from __future__ import annotations

import math
import os
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import ssdlab
from reference_ftl import POLICIES, EndlessCollection, Pool, ReferenceFtl
from reference_streams import Stream, Streams
from shares import FULL

# Random values, also of keys that have no effect beside the others.
pytestmark = pytest.mark.filterwarnings("ignore::ssdlab.IdleKeyWarning")

WANTED = os.environ.get("SSDLAB_DIFFERENTIAL_CASES")
CASES = int(WANTED or 1000)
SETTLED_NS = 10_000_000_000
"""More time than any of these drives needs for a request and all following GC."""
POOLS_MAX = 8
BUFFERED_MOST = 40
"""Programs in the largest write buffer, which has room for every request."""
BUFFERED = ("units", "rewrites", "trimmed", "read_hits", "fills", "programs", "part_programs")
"""Counters of a write buffer."""

Reference = Callable[[dict[str, Any]], ReferenceFtl]


class Disagreement(AssertionError):
    """The drive and the reference differ."""


@dataclass(frozen=True)
class Case:
    """A drive, its initial content, and a workload."""

    config: dict[str, dict[str, Any]]
    precondition: str
    ranges: tuple[tuple[int, int], ...]
    """For the precondition `ranges`: shares of the exported bytes in millionths, offset and length."""
    pages_max: int
    """Maximum number of pages of a request, each in a pool of its own."""
    mix: tuple[int, int, int]
    """Weights of writes, trims and reads."""
    footprint: float
    """Share of the exported pages that requests address."""
    seed: int
    requests: int
    one_unit: bool = False
    """Whether a request lies in one mapping unit, not only in one page."""


@dataclass
class Tally:
    """Events of all cases, which show that the comparison covers active drives."""

    cases: int = 0
    configs: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, case: Case, counts: dict[str, int]) -> None:
        """Adds a case that agreed."""
        self.cases += 1
        self.configs.add(repr(case.config))
        self.counts.update(counts)

    def __str__(self) -> str:
        return f"{self.cases} cases, {len(self.configs)} configurations: {dict(self.counts)}"


# Cases


@st.composite
def cases(draw: st.DrawFn) -> Case:
    # A quarter of the cases has planes of one die that want collection at the same time: few others have.
    crowded = draw(st.sampled_from([False, False, False, True]))
    device, pools_by = draw(devices(crowded))
    ftl = {
        "allocation": draw(st.sampled_from(["".join(letters) for letters in permutations("CWDP")])),
        "pool": pools_by,
        "frontier": draw(st.sampled_from(["separate", "shared"])),
        "partial_write": draw(st.sampled_from(["rmw", "rmw", "program"])),
    }
    pools = pools_of(device, pools_by)
    filled = ["fill"] if crowded else ["fill", "fill", "ranges", "none"]
    one_unit = False
    footprints = [1.0] if crowded else [1.0, 1.0, 1.0, 0.3]
    units = draw(st.sampled_from([1, 1, 2, 4, 8])) if device["page_bytes"] == 4096 else 1
    device["pages_per_program"] = draw(st.sampled_from([1, 1, 1, 2, 3]))
    device["pages_per_block"] *= device["pages_per_program"]
    together = units * device["pages_per_program"]
    if units > 1:
        ftl["map_unit_bytes"] = 4096 // units
    programs = device["pages_per_block"] // device["pages_per_program"]
    stripe = draw(st.sampled_from([0, 0, 0, 2, 3, 4]))
    # Of blocks with one program of data none that keeps a unit would ever be collected.
    if 0 < stripe <= programs and (together == 1 or programs > 2):
        ftl["parity_stripe"] = stripe
    # The part of a block that holds data.
    data = Fraction(programs - programs // ftl.get("parity_stripe", programs + 1), programs)
    if together > 1:
        device["blocks_per_plane"] += 5
    streams = draw(placements(ftl, device))
    gc = draw(collectors())
    if crowded:
        gc |= {"scope": draw(st.sampled_from(["none", "plane", "block"])), "trigger": "soft"}
    # With scope `block` writes may be redirected from a shared frontier, where a request takes two programs of a pool.
    frontiers = 1 if ftl["frontier"] == "shared" and gc["scope"] != "block" else 2
    # Each block may keep a unit less than a program invalid.
    kept = (together - 1) / (device["pages_per_block"] * units * data)
    blocks, frontiers = with_room(device, pools_by, max(frontiers, streams), float(kept))
    gc["until"] = max(0, min(gc["until"], blocks - frontiers - 4))
    gc["soft"], spare = draw(spares(blocks, frontiers=frontiers, until=gc["until"]))
    # With two thresholds the lower one needs the room that the other is given here.
    gc["forced"] = draw(st.sampled_from([0.0, gc["soft"]]))
    # Less than a page of data is taken off, so that whole blocks stay whole.
    device["overprovisioning"] = spare if data == 1 else 1 - (1 - spare) * float(data) - 1e-12
    # Where pools share a scope, one job is active at a time, and a job picks its victim when its pool's turn comes. That may be after the
    # write that asked for it has landed, if a write to another pool of the scope asked before. So no two pools at once there.
    alone = gc["scope"] not in ("none", "plane", "block")
    scheduler = draw(schedulers(device))
    if together > 1 and ftl["partial_write"] == "rmw":
        # All units are read before any is programmed: the last comes with the others.
        scheduler["order"] = "fr-fcfs"
    # A request may take two programs of a pool, and the reference knows no second one that begins before the first has ended.
    scheduler["pipeline"] &= together == 1 or ftl["placement"] in ("none", "handles")
    if gc["turns"] == "job" and not alone:
        # Which plane's write begins before another's has landed decides whose job is first. Planes that program together, or overlap, begin
        # in an order that the reference does not know.
        device["multiplane"] = scheduler["pipeline"] = False
        # Between two jobs of a pool that excludes the host, a write to another plane begins even where GC has priority.
        if gc["scope"] != "none" and gc["priority"] == "gc":
            gc["priority"] = "host"
    config = {"device": device, "ftl": ftl, "gc": gc, "scheduler": scheduler}
    # Ages depend on the order in which the pages of a request end.
    pages_max = 1 if alone or ftl["placement"] in ("hot-cold", "sepbit") else pools
    mixes = [(20, 1, 1), (6, 4, 1), (20, 0, 1)]
    # Where planes take turns, the time at which a program is due decides whose job is first.
    # A program of one unit never waits for others.
    often = [False, True, True, True] if together > 1 else [False, True]
    if (gc["turns"] == "step" or alone) and ftl["placement"] == "none" and draw(st.sampled_from(often)):
        config["buffer"], holds_all = draw(buffers(device["page_bytes"] * device["pages_per_program"], alone=alone))
        # Where a request waits for room it may take several programs of a pool, which does not wait until collection is over.
        one_unit = not holds_all
        pages_max = pages_max if holds_all else 1
        # Some reads and trims find what has just been written.
        footprints = [0.3, 1.0]
        mixes = [(10, 8, 5), (6, 5, 3), (10, 4, 4)]
    return Case(
        config=config,
        precondition=draw(st.sampled_from(filled)),
        ranges=tuple(draw(st.lists(st.tuples(*[st.integers(0, 1_000_000)] * 2), min_size=1, max_size=4))),
        pages_max=pages_max,
        mix=draw(st.sampled_from(mixes)),
        footprint=draw(st.sampled_from(footprints)),
        seed=draw(st.integers(0, 2**32)),
        # SepBIT has a threshold after some dozens of collected blocks only, and few requests of one page collect little.
        requests=draw(st.integers(200 if crowded else 1, 300)) * {"hot-cold": 4, "sepbit": 6}.get(ftl["placement"], 1),
        one_unit=one_unit,
    )


@st.composite
def placements(draw: st.DrawFn, ftl: dict[str, Any], device: dict[str, Any]) -> int:
    """Chooses data placement, with blocks for its streams, and returns the number of these."""
    policies = [*["none"] * 4, "handles", "handles", "hot-cold", "sepbit"]
    ftl["placement"] = draw(st.sampled_from(policies))
    if ftl["placement"] == "handles":
        ftl["handles"] = draw(st.integers(1, 3))
        ftl["default_handle"] = draw(st.integers(0, ftl["handles"] - 1))
        ftl["isolation"] = draw(st.sampled_from(["initial", "persistent"]))
    elif ftl["placement"] == "hot-cold":
        ftl["hot_within"] = draw(st.sampled_from([0.1, 0.25, 0.5, 1.0]))
    # With scope `block` and a shared frontier the host has as many streams again, for redirected writes.
    streams = Streams(ftl, 0).count * (2 if ftl["frontier"] == "shared" and ftl["placement"] != "none" else 1)
    device["blocks_per_plane"] += max(streams - 2, 0)
    return streams


@st.composite
def devices(draw: st.DrawFn, crowded: bool) -> tuple[dict[str, Any], str]:
    """A small device without its over-provisioning, and whether its pools are planes or dies.

    `crowded`: few dies of several planes, each of which is a pool.
    """
    shape = [draw(st.integers(1, most)) for most in ((1, 2, 1, 3) if crowded else (3, 2, 2, 3))]
    if crowded:
        shape[3] = max(shape[3], 2)
    while shape[0] * shape[1] * shape[2] * shape[3] > POOLS_MAX:
        shape[shape.index(max(shape))] -= 1
    pools_by = "plane" if crowded else draw(st.sampled_from(["plane", "die"]))
    device = {
        "channels": shape[0],
        "chips_per_channel": shape[1],
        "dies_per_chip": shape[2],
        "planes_per_die": shape[3],
        "blocks_per_plane": draw(st.integers(6, 10)),
        "pages_per_block": draw(st.integers(2, 8)),
        "page_bytes": draw(st.sampled_from([512, 1536, 4096])),
        "read_command_ns": draw(st.sampled_from([0, 0, 500])),
        "copyback": draw(st.booleans()),
        "multiplane": pools_by == "plane" and draw(st.booleans()),
        "multiplane_aligned": draw(st.booleans()),
        "multiplane_aligned_reads": draw(st.booleans()),
        "die_interleave": draw(st.booleans()),
        "cache_register": draw(st.booleans()),
    }
    return device, pools_by


@st.composite
def collectors(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "scope": draw(st.sampled_from(["none", "plane", "none", "plane", "block", "die", "chip", "channel", "device"])),
        "priority": draw(st.sampled_from(["gc", "fifo", "host"])),
        "turns": draw(st.sampled_from(["step", "job"])),
        "victim": draw(st.sampled_from(POLICIES)),
        "trigger": draw(st.sampled_from(["soft", "soft", "invalid-share", "both"])),
        "invalid_share": draw(st.sampled_from([0.0, 0.3, 0.5, 0.7, 1.0])),
        "until": draw(st.sampled_from([0, 0, 1, 2])),
        "moves_in_flight": draw(st.sampled_from([1, 1, 2])),
        "leftover": draw(st.sampled_from(["pad", "carry"])),
    }


@st.composite
def schedulers(draw: st.DrawFn, device: dict[str, Any]) -> dict[str, Any]:
    return {
        "order": draw(st.sampled_from(["fcfs", "fr-fcfs"])),
        "pipeline": device["cache_register"] and draw(st.booleans()),
    }


@st.composite
def buffers(draw: st.DrawFn, program_bytes: int, *, alone: bool) -> tuple[dict[str, Any], bool]:
    """A write buffer, and whether every request finds room in it at once. `alone`: pools share a scope, in which one job is active."""
    drain, timeout_us = draw(st.sampled_from([("full", 0), ("full", 0), ("full", 500), ("eager", 0)]))
    # Where time has a part in what goes together, there is room for all pages of a request.
    programs = [1, 2, 3, 8, BUFFERED_MOST] if (drain, timeout_us) == ("full", 0) else [BUFFERED_MOST]
    buffer = {
        "bytes": program_bytes * draw(st.sampled_from(programs)),
        "access_ns": draw(st.sampled_from([0, 1000])),
        "protected": draw(st.booleans()),
        "drain": drain,
        "timeout_us": timeout_us,
    }
    if alone:
        # A flush, or a write that waits for room, has several pools programmed at once.
        buffer |= {"bytes": BUFFERED_MOST * program_bytes, "protected": True}
    return buffer, buffer["bytes"] >= BUFFERED_MOST * program_bytes


@st.composite
def spares(draw: st.DrawFn, blocks: int, *, frontiers: int, until: int) -> tuple[float, float]:
    """A soft threshold for pools of `blocks`, and an over-provisioning that is just sufficient for it, or larger."""
    most = blocks - frontiers - 2 - until  # a block is exported, and one is spare beyond threshold and frontiers
    if draw(st.booleans()):
        soft = float(draw(st.integers(1, most)))
        threshold = int(soft)
    else:
        soft = draw(st.sampled_from([0.0, 0.05, 0.1, 0.15, 0.2, 0.25]))
        threshold = max(1, int(soft * blocks + 0.5))
        if threshold > most:
            soft, threshold = 0.0, 1
    # An episode counts from two free blocks at least: below that collection is wanted whatever the threshold.
    spare = (max(threshold, 2) if until else threshold) + until + frontiers + 1
    share = draw(st.sampled_from([0.0, 0.0, 0.0, 0.02, 0.1, 0.3]))
    return soft, min(1.0 - 1.0 / blocks, spare / blocks + 1e-9 + share)


def pools_per_die(device: dict[str, Any], pools_by: str) -> int:
    return int(device["planes_per_die"]) if pools_by == "plane" else 1


def with_room(device: dict[str, Any], pools_by: str, frontiers: int, kept: float) -> tuple[int, int]:
    """Adds blocks until four of a pool are left beside these and a share of `kept`. Returns the blocks of a pool, and those not left."""
    while blocks_of_pool(device, pools_by) - frontiers - math.ceil(blocks_of_pool(device, pools_by) * kept) < 4:
        device["blocks_per_plane"] += 1
    blocks = blocks_of_pool(device, pools_by)
    return blocks, frontiers + math.ceil(blocks * kept)


def blocks_of_pool(device: dict[str, Any], pools_by: str) -> int:
    return int(device["blocks_per_plane"] * device["planes_per_die"]) // pools_per_die(device, pools_by)


def pools_of(device: dict[str, Any], pools_by: str) -> int:
    dies = device["channels"] * device["chips_per_channel"] * device["dies_per_chip"]
    return int(dies) * pools_per_die(device, pools_by)


def requests_of(case: Case, exported_pages: int) -> list[ssdlab.Request]:
    """The workload of a case: offsets and lengths in bytes, half of them at page boundaries."""
    dice, handles = random.Random(case.seed), random.Random(case.seed + 1)
    named = case.config["ftl"].get("handles", 1) if case.config["ftl"]["placement"] == "handles" else 0
    units = 1 if case.one_unit else units_of(case)
    page = case.config["device"]["page_bytes"] * units // units_of(case)
    footprint = max(1, int(exported_pages * case.footprint) // units)
    made = []
    for _ in range(case.requests):
        pages = dice.randint(1, min(case.pages_max, footprint))
        first = dice.randrange(footprint - pages + 1) * page
        end = first + pages * page
        if dice.random() < 0.5:
            # Anywhere within the first and the last page, which may be one.
            first += dice.randrange(page)
            end -= dice.randrange(min(page, end - first))
        op = dice.choices(["write", "trim", "read"], case.mix)[0]
        handle = handles.choice([None, *range(named)])
        made.append(ssdlab.Request(op=op, offset=first, length=end - first, handle=handle))  # type: ignore[arg-type]
        if not case.config.get("buffer", {}).get("protected", True) and dice.random() < 0.05:
            made.append(ssdlab.Request(op="flush", offset=0, length=0))
    return made


def units_of(case: Case) -> int:
    page: int = case.config["device"]["page_bytes"]
    return page // case.config["ftl"].get("map_unit_bytes", page)


# The comparison


def compare(case: Case, make: Reference, folder: Path, tally: Tally) -> None:
    reference = make(case.config)
    ranges = [range_of(case, reference, at) for at in case.ranges]
    drive = simulated(case, ranges, folder)
    if case.precondition == "fill":
        reference.fill()
    elif case.precondition == "ranges":
        reference.prefill(ranges)
    agree(drive, reference, "after preconditioning")
    drive.run_until(SETTLED_NS)
    reference.begin()
    agree(drive, reference, "at rest")
    for number, request in enumerate(requests_of(case, reference.exported_pages)):
        drive.submit(request)
        drive.run_until(drive.now_ns + SETTLED_NS)
        try:
            apply(reference, request)
        except EndlessCollection as error:
            raise Disagreement(f"the reference collects without end at request {number}, {request}") from error
        agree(drive, reference, f"after request {number}, {request}")
    victim = case.config["gc"]["victim"]
    placement = f"jobs under {case.config['ftl']['placement']}"
    jobs = {f"jobs of {victim}": reference.jobs, placement: reference.jobs, "jobs that waited for their turn": reference.waits_for_turn}
    tally.add(case, same_counts(drive.finish(), reference) | jobs)


def range_of(case: Case, reference: ReferenceFtl, at: tuple[int, int]) -> tuple[int, int]:
    exported = reference.exported_pages * reference.page_bytes
    offset = at[0] * (exported - 1) // 1_000_000
    return offset, 1 + at[1] * (exported - offset - 1) // 1_000_000


def keys_of(case: Case) -> dict[str, Any]:
    return {f"{section}.{key}": value for section, part in case.config.items() for key, value in part.items()}


def simulated(case: Case, ranges: list[tuple[int, int]], folder: Path) -> ssdlab.Simulator:
    keys = keys_of(case)
    if case.precondition == "ranges":
        file = folder / "prefill.csv"
        file.write_text("offset_bytes,size_bytes\n" + "".join(f"{offset},{length}\n" for offset, length in ranges))
        return ssdlab.Simulator(set=keys, prefill=file, verify="end")
    return ssdlab.Simulator(set=keys | {"ftl.precondition.kind": case.precondition}, verify="end")


def apply(reference: ReferenceFtl, request: ssdlab.Request) -> None:
    if request.op == "write":
        reference.write_bytes(request.offset, request.length, request.handle)
    elif request.op == "trim":
        reference.trim_bytes(request.offset, request.length)
    elif request.op == "read":
        reference.read_bytes(request.offset, request.length)
    else:
        reference.flush()


def agree(drive: ssdlab.Simulator, reference: ReferenceFtl, when: str) -> None:
    free = [drive.free_blocks(pool) for pool in range(len(reference.pools))]
    same("mapping", drive.mapping(), reference.mapping(), when)
    same("erase counts", drive.erase_counts(), reference.erase_counts(), when)
    same("free blocks by pool", free, reference.free_lists(), when)


def same_counts(result: ssdlab.Result, reference: ReferenceFtl) -> dict[str, int]:
    measured = {
        "host programs": result.flash.host_programs,
        "GC programs": result.flash.gc_programs,
        "pages moved": result.gc.pages_moved,
        "erases": result.gc.erases,
        "jobs": result.gc.jobs,
        "reads before partial writes": result.counters.rmw_reads,
        "trimmed pages": result.counters.trimmed_pages,
        "padded units": result.counters.padded_units,
        "programs of parity": result.counters.parity_programs,
        "stale moves": result.gc.stale_moves,
        "victims chosen by greedy instead": result.counters.victim_fallbacks,
        "displaced moves": result.counters.displaced_moves,
        "carried units": result.counters.carried_units,
    }
    expected = {
        "host programs": reference.host_programs,
        "GC programs": reference.gc_programs,
        "pages moved": reference.gc_programs,
        "erases": reference.erases,
        "jobs": reference.jobs,
        "reads before partial writes": reference.rmw_reads,
        "trimmed pages": reference.trimmed_pages,
        "padded units": reference.padded_units,
        "programs of parity": reference.parity_programs,
        "stale moves": 0,
        "victims chosen by greedy instead": reference.victim_fallbacks,
        "displaced moves": reference.streams.displaced,
        "carried units": reference.carried_units,
    }
    if reference.buffer:
        buffered = {name: getattr(reference.buffer, name) for name in BUFFERED} | {"held": len(reference.buffer.waiting)}
        expected |= {f"buffer {name}": count for name, count in buffered.items()}
        measured |= {f"buffer {name}": getattr(result.buffer, name) for name in buffered}
    same("counts", measured, expected, "at the end")
    return expected


def same(what: str, drive: object, reference: object, when: str) -> None:
    if drive != reference:
        raise Disagreement(f"{what} {when}:\ndrive     {drive}\nreference {reference}")


Comparison = Callable[[Case, Reference, Path, Tally], None]


def run_cases(make: Reference, folder: Path, *, how: Comparison = compare, count: int = CASES, shrink: bool = True) -> Tally:
    """Compares all cases; the first disagreement raises."""
    tally = Tally()

    @settings(
        max_examples=count,
        derandomize=WANTED is None and not FULL,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(case=cases())
    def agrees(case: Case) -> None:
        how(case, make, folder, tally)

    agrees()
    return tally


# The untimed drive


class CoreRandom:
    """The core's random numbers for preconditioning under seed 1: xoshiro256++ (D. Blackman and S. Vigna, 2019).

    They are needed to repeat a random overwrite. The state is the BLAKE3 hash of the seed (8 bytes, little-endian) and the word
    `precondition`.
    """

    BITS = (1 << 64) - 1

    def __init__(self) -> None:
        self.state = [0xD8CD1B9AF3F25675, 0x172D543B674054CC, 0xE22665114A628313, 0x6B1BA6DB2D93105C]

    def bits(self) -> int:
        a, b, c, d = self.state
        result = (self._rotated((a + d) & self.BITS, 23) + a) & self.BITS
        c, d = c ^ a, d ^ b
        self.state = [a ^ d, b ^ c, c ^ (b << 17 & self.BITS), self._rotated(d, 45)]
        return result

    def below(self, bound: int) -> int:
        """The high half of a product, with rejection for uniformity."""
        while True:
            product = self.bits() * bound
            if product & self.BITS >= (1 << 64) % bound:
                return product >> 64

    def _rotated(self, word: int, by: int) -> int:
        return (word << by | word >> (64 - by)) & self.BITS


def compare_preconditioning(case: Case, make: Reference, folder: Path, tally: Tally) -> None:
    """Compares random overwriting until steady or close to the soft threshold; the drive reports the number of writes."""
    # No time passes: there are no episodes, a program begins as soon as it is filled, and rests are padded.
    reference = make({**case.config, "gc": {**case.config["gc"], "until": 0, "moves_in_flight": 1, "leftover": "pad"}})
    # Up to the door nothing is collected: by invalid share the reference would, after the write that takes a block has landed.
    by_share = case.config["gc"]["trigger"] != "soft"
    kind = "soft" if case.seed % 4 == 0 and not by_share else "steady"
    # A share of a drive of very few pages may be less than one.
    share = case.footprint if reference.exported_pages * case.footprint >= 1 else 1.0
    keys = keys_of(case) | {"ftl.precondition.kind": kind, "ftl.precondition.range": share}
    drive = ssdlab.Simulator(set=keys, seed=1)
    after = ssdlab.Simulator(set=keys, seed=1).finish().precondition
    reference.fill()
    dice, pages = CoreRandom(), int(reference.exported_pages * share)
    while reference.host_programs < after.pages_overwritten:
        reference.overwrite(dice.below(pages))
    agree(drive, reference, f"after {kind}")
    if kind == "soft":
        same("erases", 0, reference.erases, "before collection has begun")
    tally.add(case, {"pages moved": reference.gc_programs, "jobs": reference.jobs})


# The tests


def correct(config: dict[str, Any]) -> ReferenceFtl:
    return ReferenceFtl(config, decides="started")


@pytest.mark.parametrize("count", [CASES // 16, pytest.param(CASES, marks=pytest.mark.full)])
def test_the_drive_agrees_with_the_reference_page_by_page(tmp_path: Path, count: int) -> None:
    tally = run_cases(correct, tmp_path, count=count)
    print(f"\n{tally}")
    assert min(tally.counts["pages moved"], tally.counts["jobs"]) > 3 * tally.cases
    if count < CASES:
        return
    if WANTED is None:
        assert len(tally.configs) >= 300
    # Every mechanism was at work, many times a case.
    for what in ("host programs", "pages moved", "jobs", "reads before partial writes", "trimmed pages"):
        assert tally.counts[what] > 3 * tally.cases, what
    for placement in ("handles", "hot-cold", "sepbit"):
        assert tally.counts[f"jobs under {placement}"] > tally.cases, placement
    for policy in POLICIES:
        assert 2 * tally.counts[f"jobs of {policy}"] > tally.cases, policy
    assert tally.counts["victims chosen by greedy instead"] > 0
    assert min(tally.counts["jobs that waited for their turn"], tally.counts["carried units"]) > 100
    assert tally.counts["padded units"] > 3 * tally.cases
    assert tally.counts["programs of parity"] > 3 * tally.cases
    for name in BUFFERED:
        assert tally.counts[f"buffer {name}"] > 100, name


def test_preconditioning_agrees_with_the_reference_page_by_page(tmp_path: Path) -> None:
    tally = run_cases(ReferenceFtl, tmp_path, how=compare_preconditioning, count=CASES // 8)
    print(f"\n{tally}")
    assert min(tally.counts["pages moved"], tally.counts["jobs"]) > 3 * tally.cases


class BreaksTiesTheOtherWay(ReferenceFtl):
    """Planted bug: chooses the block changed last among equals."""

    def _greedy(self, candidates: list[int]) -> int:
        return min(candidates, key=lambda block: (self.valid_pages(block), -self.stamps[block]))


class IgnoresTrims(ReferenceFtl):
    """Planted bug: keeps trimmed data, and moves them."""

    def trim(self, lpn: int) -> None:
        pass


class ReturnsBlocksAtTheFront(ReferenceFtl):
    """Planted bug: uses the most recently erased block next."""

    def _run_job(self, pool: Pool, victim: int) -> None:
        super()._run_job(pool, victim)
        pool.free.insert(0, pool.free.pop())


class LetsTheLastFreeBlockBe(ReferenceFtl):
    """Planted bug: has no lower limit for the threshold."""

    def _wants_collection(self, pool: Pool) -> bool:
        return len(pool.free) < self.soft_blocks or not pool.free


class CollectsAtTheShareItself(ReferenceFtl):
    """Planted bug: collects a block whose invalid share equals the limit instead of exceeding it."""

    def _trigger_fires(self, pool: Pool) -> bool:
        if self.trigger != "invalid-share":
            return super()._trigger_fires(pool)
        return any(self._invalid_share(b) >= self.invalid_share > 0 for b in self._closed(pool))


class ReadsWholePagesToo(ReferenceFtl):
    """Planted bug: takes some whole pages as parts."""

    def _wholly_inside(self, lpn: int, offset: int, length: int) -> bool:
        return super()._wholly_inside(lpn, offset, length) and lpn % 7 > 0


class CountsThePoolsOtherwise(ReferenceFtl):
    """Planted bug: numbers pools as if the first letter changed slowest."""

    def __init__(self, config: dict[str, Any], **keys: Any) -> None:
        ftl = config["ftl"]
        super().__init__(config | {"ftl": ftl | {"allocation": ftl["allocation"][::-1]}}, **keys)


class SparesTheAverageToo(ReferenceFtl):
    """Planted bug: only takes blocks with less than average wear as little worn."""

    def _least_worn(self, pool: Pool, candidates: list[int]) -> int:
        average = sum(self.erases_of[block] for block in pool.blocks) / len(pool.blocks)
        spared = [block for block in candidates if self.erases_of[block] < average]
        return self._greedy(spared or candidates)


class LeavesColdBlocksInFront(ReferenceFtl):
    """Planted bug: chooses the block closed first among those with a gain."""

    def _next_in_the_log(self, pool: Pool) -> int:
        candidates = [block for block in pool.blocks if self._can_be_victim(block)]
        return max(candidates, key=lambda block: self._age(pool, block))


class CountsAgesFromOne(ReferenceFtl):
    """Planted bug: counts the age of the block closed last as one."""

    def _age(self, pool: Pool, block: int) -> int:
        return super()._age(pool, block) + 1


class CleansAsALogDoes(ReferenceFtl):
    """Planted bug: reads the whole block before it writes valid pages, like a log-structured file system: (1 - u) / (1 + u) x age."""

    def _worth(self, pool: Pool, block: int) -> Fraction:
        u = Fraction(self.valid_pages(block), len(self._pages_of_data(block)))
        return (1 - u) / (1 + u) * self._age(pool, block)


class LetsJobsOfADieTakeTurns(ReferenceFtl):
    """Planted bug: lets two pools of a die collect at once, whatever `gc.turns` is."""

    def __init__(self, config: dict[str, Any], **keys: Any) -> None:
        super().__init__(config | {"gc": config["gc"] | {"turns": "step"}}, **keys)


class HasOneJobADie(ReferenceFtl):
    """Planted bug: lets one pool of a die collect at a time, whatever `gc.turns` is."""

    def __init__(self, config: dict[str, Any], **keys: Any) -> None:
        super().__init__(config | {"gc": config["gc"] | {"turns": "job"}}, **keys)


class CollectsForAUnit(ReferenceFtl):
    """Planted bug: collects a block with a gain below a flash page."""

    def _can_be_victim(self, block: int) -> bool:
        closed = self.written[block] == self.pages_per_block
        return closed and self.valid_pages(block) < self.pages_per_block


class PadsNothing(ReferenceFtl):
    """Planted bug: continues in the flash page in which the previous program ended."""

    def _pad(self, pool: Pool, block: int) -> None:
        pass

    def _program_page(self, pool: Pool, lpns: list[int], block: int) -> None:
        stream = next(stream for stream, other in pool.open.items() if other == block)
        for lpn in lpns:
            # The one before may have filled the block.
            if self.written[block] == self.pages_per_block:
                self._open_host_block(pool, stream)
                block = pool.open[stream]
            self._program(pool, lpn, block)


class KeepsDataInParity(ReferenceFtl):
    """Planted bug: stores data at the place of parity in the last stripe of each block."""

    def _has_parity(self, block: int, page: int) -> bool:
        stripe = page // self.program_units // max(self.parity_stripe, 1)
        whole = self.pages_per_block // self.program_units // max(self.parity_stripe, 1)
        return super()._has_parity(block, page) and stripe < whole - 1


class ForgetsRewrites(ReferenceFtl):
    """Planted bug: gives a rewritten unit a second place in the write buffer."""

    def __init__(self, config: dict[str, Any], **keys: Any) -> None:
        super().__init__(config, **keys)
        if self.buffer:
            self.buffer._units_of = lambda _: []  # type: ignore[method-assign]


class ProgramsUnitsAlone(ReferenceFtl):
    """Planted bug: units of different requests do not share a program."""

    def __init__(self, config: dict[str, Any], **keys: Any) -> None:
        super().__init__(config, **keys)
        if self.buffer:
            self.buffer.keeps = False


class ForgetsHandles(ReferenceFtl):
    """Planted bug: moved data do not stay with their handle."""

    def __init__(self, config: dict[str, Any], **keys: Any) -> None:
        super().__init__(config, **keys)
        self.streams.persistent = False
        self.ftl_keys = self.ftl_keys | {"isolation": "initial"}


class TakesNewPagesForHot(ReferenceFtl):
    """Planted bug: gives a page without data the age of its last write."""

    def __init__(self, config: dict[str, Any], **keys: Any) -> None:
        super().__init__(config, **keys)
        self._forget()

    def _forget(self) -> None:
        of_host = self.streams.of_host

        def wrong(lpn: int, handle: int | None, *, is_new: bool) -> Stream:
            return of_host(lpn, handle, is_new=is_new and False)

        self.streams.of_host = wrong  # type: ignore[method-assign]

    def fill(self) -> None:
        super().fill()
        self._forget()


class CountsLivesFromTheClosing(ReferenceFtl):
    """Planted bug: counts the life of a block from when it is full."""

    def _close(self, pool: Pool, block: int) -> None:
        super()._close(pool, block)
        self.streams.opened(block)


PLANTED = [
    BreaksTiesTheOtherWay,
    CleansAsALogDoes,
    CollectsAtTheShareItself,
    CollectsForAUnit,
    CountsAgesFromOne,
    CountsLivesFromTheClosing,
    CountsThePoolsOtherwise,
    ForgetsHandles,
    ForgetsRewrites,
    HasOneJobADie,
    IgnoresTrims,
    KeepsDataInParity,
    LeavesColdBlocksInFront,
    LetsJobsOfADieTakeTurns,
    LetsTheLastFreeBlockBe,
    PadsNothing,
    ProgramsUnitsAlone,
    ReadsWholePagesToo,
    ReturnsBlocksAtTheFront,
    SparesTheAverageToo,
    TakesNewPagesForHot,
]


@pytest.mark.parametrize("wrong", PLANTED)
def test_a_planted_bug_is_found(wrong: type[ReferenceFtl], tmp_path: Path) -> None:
    with pytest.raises(Disagreement):
        run_cases(lambda config: wrong(config, decides="started"), tmp_path, shrink=False)


def test_a_victim_picked_after_the_write_is_found(tmp_path: Path) -> None:
    """The moment of the untimed drive is not that of the simulated one."""
    with pytest.raises(Disagreement):
        run_cases(lambda config: ReferenceFtl(config, decides="landed"), tmp_path, shrink=False)


def test_a_victim_picked_before_the_write_is_found_in_preconditioning(tmp_path: Path) -> None:
    """The moment of the simulated drive is not that of the untimed one, which preconditions."""
    with pytest.raises(Disagreement):
        run_cases(correct, tmp_path, how=compare_preconditioning, count=CASES // 8, shrink=False)


def test_a_pool_that_does_not_exist_is_refused() -> None:
    drive = ssdlab.Simulator(set={"device.channels": 2})
    with pytest.raises(ssdlab.UsageError, match="pool = 2: the drive has 2 pools"):
        drive.free_blocks(2)
