"""No dead options: every configuration key changes a result, or is listed with its reason.

Each key is tried in a context in which it should matter: a small drive, a short workload, and values for the key. All values that can be
simulated must give different results. Results are the behaviour of the drive: response times (the digest), garbage collection, flash
operations, counters, the preconditioned state, and changes to the trace. A figure that only repeats the configuration does not count.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import ssdlab

# Keys are also tried where they have no effect.
pytestmark = pytest.mark.filterwarnings("ignore::ssdlab.IdleKeyWarning")

KEYS = ssdlab.config_keys()
FEW = Path(__file__).parent / "data" / "two_volumes.csv"
"""A short trace of a second flow."""
HEADER = "timestamp_us,op,offset_bytes,size_bytes,device"
PAGE = 4096

Value = Any
Trace = Callable[[], list[str]]


# ---------------------------------------------------------------------------------------------------------------------------------------
# Traces. They fix the addresses, so that a change of geometry cannot show merely because the generator drew others.


def lcg(seed: int) -> Iterator[int]:
    """Pseudo-random whole numbers."""
    while True:
        seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
        yield seed >> 33


def mixed() -> list[str]:
    """Single pages in bursts of six every 3 ms over 96 pages, two writes per read: dies, buses and garbage collection are busy."""
    draw = lcg(1)
    return [f"{3000 * (i // 6)},{'WRW'[i % 3]},{next(draw) % 96 * PAGE},{PAGE},0" for i in range(900)]


def scattered() -> list[str]:
    """Single pages at irregular times, which arrive during all phases of GC."""
    draw = lcg(6)
    return [f"{353 * i},{'WRW'[i % 3]},{next(draw) % 96 * PAGE},{PAGE},0" for i in range(1500)]


def large() -> list[str]:
    """Requests of eight pages that arrive together."""
    draw = lcg(2)
    return [f"{20_000 * (i // 3)},{'WR'[i % 2]},{next(draw) % 88 * PAGE},{8 * PAGE},0" for i in range(240)]


def spread() -> list[str]:
    """Requests of one to five pages in bursts, so that some of their pages have slack."""
    draw = lcg(7)
    return [f"{4000 * (i // 12)},{'WRWW'[i % 4]},{next(draw) % 90 * PAGE},{(1 + next(draw) % 5) * PAGE},0" for i in range(600)]


def partial() -> list[str]:
    """Writes of parts of pages."""
    draw = lcg(3)
    return [f"{1000 * i},W,{next(draw) % 700 * 512},{512 * (1 + next(draw) % 7)},0" for i in range(200)]


def streams() -> list[str]:
    """Sixteen consecutive pages, the size of two blocks, then five random ones."""
    draw = lcg(8)
    pages = [i // 21 % 6 * 16 + i % 21 if i % 21 < 16 else next(draw) % 96 for i in range(600)]
    return [f"{1000 * i},{'W' if i % 21 < 18 else 'R'},{page * PAGE},{PAGE},0" for i, page in enumerate(pages)]


def overload() -> list[str]:
    """More writes and reads at once than the drive can take."""
    draw = lcg(4)
    return [f"{10 * i},{'WWR'[i % 3]},{next(draw) % 96 * PAGE},{PAGE},0" for i in range(300)]


def quarters() -> list[str]:
    """Single quarters of pages, and a flush after every tenth."""
    draw = lcg(9)
    plain = [f"{70 * i},{'WWR'[i % 3]},{next(draw) % 384 * 1024},1024,0" for i in range(600)]
    return [line if i % 10 else f"{70 * i},F,0,0,0" for i, line in enumerate(plain)]


def sparse() -> list[str]:
    """Reads and trims, some of which find no data."""
    draw = lcg(5)
    return [f"{1000 * i},{'RWTR'[i % 4]},{next(draw) % 96 * PAGE},{PAGE},0" for i in range(200)]


def zoned() -> list[str]:
    """Commands on the first zones of `ZONED`."""
    places = [16 * PAGE * zone for zone in range(6)]
    commands = ("zone-open", "zone-close", "zone-finish", "zone-reset", "zone-open", "append")
    rows = [f"{10 * index},append,{places[index % 6]},{PAGE},0" for index in range(18)]
    rows += [f"{10_000 + 100 * index},{op},{places[index]},{PAGE},0" for index, op in enumerate(commands)]
    return rows + [f"{90_000 + index},R,{places[index % 6]},{PAGE},0" for index in range(30)]


def logged() -> list[str]:
    """Writes, most of them of a few pages."""
    draw = lcg(7)
    places = [next(draw) % (20 if index % 4 else 76) for index in range(1500)]
    return [f"{500 * index},{'WWR'[index % 3]},{place * PAGE},{PAGE},0" for index, place in enumerate(places)]


def untidy() -> list[str]:
    """Two volumes, one of which writes larger requests."""
    return [f"{1000 * i},W,{i % 7 * PAGE},{(1 + i % 2) * PAGE},{i % 2}" for i in range(40)]


def damaged() -> list[str]:
    """A trace with an unreadable line."""
    return [*untidy(), "90000,X,0,4096,0", "91000,W,0,4096,0"]


def backwards() -> list[str]:
    """A trace with a decreasing time."""
    return [*untidy(), "1500,R,0,4096,0", "90000,W,0,4096,0"]


def beyond() -> list[str]:
    """A trace whose last requests reach past the end of `MEGABYTES`."""
    far = [f"{100_000 + 20_000 * i},{'WR'[i % 2]},{(5 + 3 * i) * 2**20 - PAGE},{2 * PAGE},0" for i in range(4)]
    return [*untidy(), *far]


# ---------------------------------------------------------------------------------------------------------------------------------------
# Drives.

DRIVE: Mapping[str, Value] = {
    "device.channels": 2,
    "device.blocks_per_plane": 16,
    "device.pages_per_block": 8,
    "device.overprovisioning": 0.4,
    "gc.soft": 2,
}
"""152 exported pages in two pools of 16 blocks."""

TALL: Mapping[str, Value] = {
    **DRIVE,
    "device.channels": 1,
    "device.chips_per_channel": 2,
    "device.dies_per_chip": 2,
    "device.planes_per_die": 2,
    "device.blocks_per_plane": 8,
    "device.overprovisioning": 0.625,
}
"""Two of everything except channels: eight pools of eight blocks."""

STRIPED: Mapping[str, Value] = {**DRIVE, "array.level": "rais5", "array.drives": 4, "array.stripe_kb": 8}
"""Four drives with parity."""

REPLACED: Mapping[str, Value] = {**STRIPED, "array.degraded": 1, "ftl.precondition.kind": "fill"}
"""Four drives with parity, one of them new, if it is rebuilt."""

IN_TURN: Mapping[str, Value] = {**STRIPED, "device.overprovisioning": 0.5, "gc.soft": 4}
"""Drives that collect long before they must."""

SPACIOUS: Mapping[str, Value] = {**DRIVE, "device.blocks_per_plane": 24, "device.overprovisioning": 0.6}
"""As many exported pages, and blocks for several streams."""

TAGGED: Mapping[str, Value] = {
    **SPACIOUS,
    "ftl.placement": "handles",
    "ftl.handles": 3,
    "workload.handle_ranges": [[0.3, 1]],
}
"""Three handles, of which the writes to the first pages name handle 1."""

DEALT: Mapping[str, Value] = {
    **SPACIOUS,
    "device.channels": 2,
    "device.chips_per_channel": 2,
    "device.dies_per_chip": 1,
    "ftl.allocation": "dynamic",
    "ftl.frontier": "separate",
}
"""Four dies on two channels, which writes fill in turn or by load."""

PACED: Mapping[str, Value] = {**DRIVE, "gc.soft": 3, "gc.scope": "none", "gc.priority": "host", "gc.pace_window": 0.0}
"""At most one page may be written ahead of GC."""

CACHED: Mapping[str, Value] = {**DRIVE, "cache.policy": "lru", "cache.bytes": 32 * PAGE}
"""A cache for a third of the used pages."""

POWERED: Mapping[str, Value] = {
    **DRIVE,
    "energy.idle_mw": 1_000.0,
    "energy.read_mw": 80.0,
    "energy.program_mw": 100.0,
    "energy.erase_mw": 90.0,
}
"""A drive that draws 1 W at rest."""

WARM: Mapping[str, Value] = {
    **POWERED,
    "thermal.resistance_c_per_w": 100.0,
    "thermal.time_constant_s": 0.001,
    "thermal.sample_us": 100,
}
"""A drive of 125 degrees C at rest, 10 more for each program, within milliseconds."""

SLEEPY: Mapping[str, Value] = {
    **POWERED,
    "power_states.power_mw": [40.0],
    "power_states.entry_us": [20],
    "power_states.exit_us": [50],
    "power_states.idle_us": [100],
}
"""A drive with a power state that it enters between requests."""

BUFFERED: Mapping[str, Value] = {**DRIVE, "device.blocks_per_plane": 32, "ftl.map_unit_bytes": 1024, "buffer.bytes": 4 * PAGE}
"""A write buffer of sixteen units."""

MAPPED: Mapping[str, Value] = {**DRIVE, "device.blocks_per_plane": 32, "ftl.map_cache_bytes": 8 * PAGE, "ftl.map_entry_bytes": 256}
"""Eight of 20 translation pages are cached."""

BY_GROUP: Mapping[str, Value] = {**CACHED, "cache.policy": "bplru"}

CUBE: Mapping[str, Value] = {**TALL, "device.channels": 2}
"""Two of everything."""

MEGABYTES: Mapping[str, Value] = {**DRIVE, "device.blocks_per_plane": 256}
"""About 9.6 MiB exported."""

PREEMPTIBLE: Mapping[str, Value] = {**DRIVE, "gc.scope": "none", "gc.priority": "host"}
"""Host operations are served between the steps of a GC job."""

SHORT: Mapping[str, Value] = {**PREEMPTIBLE, "device.overprovisioning": 0.6, "gc.soft": 6}
"""Spare blocks for a hard threshold of several blocks."""

SUSPENDING: Mapping[str, Value] = {**PREEMPTIBLE, "gc.suspend": ["read", "program", "erase"]}

FR_FCFS: Mapping[str, Value] = {**CUBE, "scheduler.order": "fr-fcfs"}

MAKING_WAY: Mapping[str, Value] = {
    **FR_FCFS,
    "device.page_registers": 2,
    "scheduler.suspend": ["program", "erase"],
    "gc.scope": "none",
    "gc.priority": "host",
}

GENERATED: Mapping[str, Value] = {**DRIVE, "workload.interarrival_us": 400}


def by_page(placing: ssdlab.Placing) -> int:
    """A placement policy of the user's own, which spreads pages over all streams."""
    # Neighbours lie in different pools.
    return placing.page // 16 % (placing.move_streams if placing.moved else placing.host_streams)


@dataclass(frozen=True)
class Context:
    """A context in which a key should matter: settings, the trace (or a generated workload), and values that must differ in effect."""

    values: tuple[Value, ...]
    base: Mapping[str, Value] = field(default_factory=lambda: DRIVE)
    trace: Trace | None = mixed
    error: str | None = None
    """Part of the error message if some values are refused or end the run, which then shows the effect of the key."""
    alike: tuple[tuple[Value, Value], str] | None = None
    """Two values with the same meaning, and the reason for both."""
    requests: int = 300
    """Number of requests of a generated workload."""


def generated(*values: Value, drive: Mapping[str, Value] = GENERATED, error: str | None = None, **more: Value) -> Context:
    """A context with a generated workload; keys of the workload are given without their section."""
    return Context(values, base={**drive, **{f"workload.{key}": value for key, value in more.items()}}, trace=None, error=error)


def shared(*values: Value, **more: Value) -> Context:
    """A context with flows in closed loop that share a slot."""
    flows = [{"name": name, "queue_depth": 6, "read_share": 1.0} for name in ("b", "c")]
    return generated(*values, drive={**GENERATED, "host.slots": 1, **more}, flows=flows, queue_depth=6, read_share=0.7)


def crowded(*values: Value, **more: Value) -> Context:
    """A context with flows in closed loop that wait for few dies, which are ordered fairly."""
    flows = [{"name": "b", "queue_depth": 6, "read_share": 0.2}, {"name": "c", "queue_depth": 2, "read_share": 0.9}]
    return generated(*values, drive={**GENERATED, "scheduler.order": "fair", **more}, flows=flows, queue_depth=1, read_share=0.6)


STATIC = [choice["name"] for choice in KEYS["ftl.allocation"]["choices"]]

AGED = {
    **DRIVE,
    "errors.retry": "in-order",
    "errors.correctable_bits": 57,
    "ftl.precondition.pe_cycles": 3_000,
    "ftl.precondition.retention_days": 400.0,
}
"""A drive whose reads need several retries."""
FAST_BUS = {"device.transfer_ps_per_byte": 1_000, "errors.decode_ns": 1_000}
"""Array reads take longer than transfers and decoding."""

FOUR_DIES: Mapping[str, Value] = {**DRIVE, "device.channels": 2, "device.chips_per_channel": 2}

SLC: Mapping[str, Value] = {
    **DRIVE,
    "device.blocks_per_plane": 24,
    "device.overprovisioning": 0.6,
    "ftl.precondition.kind": "none",
    "slc.static_blocks": 2,
    "slc.dynamic_blocks": 3,
    "slc.idle_us": 1_000,
}
"""A drive with a cache of blocks in SLC mode."""

ZONED: Mapping[str, Value] = {
    **DRIVE,
    "device.blocks_per_plane": 24,
    "ftl.placement": "zones",
    "ftl.precondition.kind": "none",
    "zones.max_active": 5,
    "zones.max_open": 3,
}
"""Zones of a block of each of two pools. More are written than may be open."""

LOGGED: Mapping[str, Value] = {
    **DRIVE,
    "device.blocks_per_plane": 14,
    "device.overprovisioning": 0.4,
    "ftl.placement": "zones",
    "ftl.precondition.kind": "none",
    "host.link_bytes_per_us": 500,
    "zones.log": "greedy",
    "zones.log_spare": 0.4,
    "workload.range": "wrap",
}
"""A log of the host, which is written several times over."""

RETRIES = {"errors.retry": "in-order", "errors.correctable_bits": 57}

WORN: Mapping[str, Value] = {
    **DRIVE,
    "device.blocks_per_plane": 24,
    "device.overprovisioning": 0.6,
    "workload.queue_depth": 4,
    "workload.read_share": 0.2,
    "workload.address": "hot-cold",
    "workload.hot_share": 0.1,
    "workload.hot_access": 0.9,
    "wear.endurance": 20,
    "wear.program_fails_ppm": 200.0,
    "wear.erase_fails_ppm": 1_000.0,
    "wear.end": "reads",
}
"""A drive whose blocks fail."""

LEVELLED: Mapping[str, Value] = {**WORN, "wear.endurance": 40, "wear.leveling_threshold": 3, "wear.leveling_rest": 3}
"""A drive whose blocks fail late, and may be worn evenly."""


def wearing(*values: Value, drive: Mapping[str, Value] = WORN, **more: Value) -> Context:
    """A context in which blocks are erased a few dozen times; keys of wear are given without their section."""
    return Context(values, base={**drive, **{f"wear.{key}": value for key, value in more.items()}}, trace=None, requests=6_000)


CONTEXTS: Mapping[str, Context] = {
    "device.channels": Context((2, 3, 4)),
    "device.chips_per_channel": Context((1, 2, 3)),
    "device.dies_per_chip": Context((1, 2, 3)),
    "device.planes_per_die": Context((1, 2, 4)),
    "device.blocks_per_plane": Context((16, 17, 20)),
    "device.pages_per_block": Context((8, 10, 16)),
    "device.page_bytes": Context((2048, 4096, 8192), base={**DRIVE, "device.blocks_per_plane": 32}),
    "device.spare_bytes": Context((0, 64, 128)),
    "device.read_ns": Context((25_000, 25_001, 50_000)),
    "device.program_ns": Context((200_000, 200_001, 300_000)),
    "device.read_ns_by_page": Context(([], [25_000, 50_000], [25_000, 25_000, 50_000])),
    "device.program_ns_by_page": Context(([], [200_000, 500_000], [200_000, 200_000, 500_000])),
    "device.erase_ns": Context((1_500_000, 1_500_001, 3_000_000)),
    "device.transfer_ps_per_byte": Context((0, 25_000, 25_001)),
    "device.command_ns": Context((0, 1, 100)),
    "device.read_command_ns": Context((0, 1, 200)),
    "device.copyback": Context((False, True)),
    "device.multiplane": Context((False, True), base=TALL, trace=large),
    "device.multiplane_aligned": Context((False, True), base={**TALL, "device.multiplane": True}, trace=overload),
    "device.multiplane_aligned_reads": Context((False, True), base={**TALL, "device.multiplane": True}, trace=overload),
    "device.partial_reads": Context(
        (False, True), base={**DRIVE, "device.blocks_per_plane": 32, "ftl.map_unit_bytes": 1024}, trace=partial
    ),
    "device.die_interleave": Context((False, True), base=TALL, trace=overload),
    # What a cache register is used for is `scheduler.pipeline`, which is refused without it, and `gc.pipeline`.
    "device.cache_register": Context(
        (False, True), base={**DRIVE, "scheduler.pipeline": True}, error="scheduler.pipeline = true: needs device.cache_register = true"
    ),
    "device.ispp_steps": Context((2, 3, 8), base={**FR_FCFS, "scheduler.write_pausing": True}, trace=spread),
    "device.page_registers": Context((1, 2), base=SUSPENDING),
    "device.suspend_ns": Context((0, 20_000, 150_000), base=SUSPENDING),
    "device.plane_programs": Context((1, 2, 4)),
    "device.resume_ns": Context((0, 1_000, 40_000), base={**MAKING_WAY, "device.min_run_ns": 50_000}, trace=spread),
    "device.min_run_ns": Context((0, 50_000, 150_000), base=MAKING_WAY, trace=spread),
    "device.max_suspends": Context((0, 1, 2), base={**MAKING_WAY, "device.program_ns": 3_000_000}, trace=scattered),
    "device.overprovisioning": Context((0.35, 0.4, 0.5)),
    "ftl.allocation": Context(tuple(STATIC), base=CUBE, trace=large),
    "ftl.pool": Context(("plane", "die"), base=TALL),
    "ftl.reclaim_unit": Context(("block", "superblock"), base=DEALT),
    "ftl.dynamic_ties": Context(("turn", "valid"), base=DEALT),
    "ftl.namespaces": Context(([], [1, 3], [2, 2]), base=FOUR_DIES, trace=large),
    "ftl.namespace_layout": Context(("channels", "dies"), base={**FOUR_DIES, "ftl.namespaces": [2, 2]}, trace=large),
    "ftl.superblock_span": Context(("drive", "channel"), base={**DEALT, "ftl.reclaim_unit": "superblock"}),
    "ftl.frontier": Context(("shared", "separate")),
    "ftl.placement": Context(
        ("none", "handles", "hot-cold", "sepbit", "oracle", "custom", "zones"),
        base={**TAGGED, "ftl.placement": "none", "ftl.groups": 2},
        error="the drive cannot be overwritten at random",
    ),
    "ftl.handles": Context((1, 2), base=TAGGED, error="expected a handle from 0 to 0 (ftl.handles = 1"),
    "ftl.default_handle": Context((0, 1), base=TAGGED),
    "ftl.isolation": Context(("initial", "persistent"), base=TAGGED),
    "ftl.hot_within": Context((0.0, 0.2, 2.0), base={**SPACIOUS, "ftl.placement": "hot-cold"}),
    "ftl.groups": Context((2, 3, 4), base={**SPACIOUS, "ftl.placement": "oracle"}),
    "ftl.host_streams": Context((1, 2, 3), base={**SPACIOUS, "ftl.placement": "custom"}),
    "ftl.move_streams": Context((1, 2, 3), base={**SPACIOUS, "ftl.placement": "custom"}),
    "ftl.partial_write": Context(("rmw", "program"), trace=partial),
    "device.pages_per_program": Context(
        (1, 2, 4), base={**DRIVE, "device.blocks_per_plane": 48, "device.overprovisioning": 0.6}, trace=large
    ),
    "ftl.parity_stripe": Context((0, 2, 3), base={**DRIVE, "device.blocks_per_plane": 32, "device.overprovisioning": 0.7}),
    "ftl.parity_in_spare": Context(
        (True, False), base={**DRIVE, "device.blocks_per_plane": 32, "device.overprovisioning": 0.7, "ftl.parity_stripe": 4}
    ),
    "ftl.map_unit_bytes": Context((4096, 2048, 1024), base={**DRIVE, "device.blocks_per_plane": 32}, trace=partial),
    "ftl.map_cache_bytes": Context((0, 4 * PAGE, 8 * PAGE), base=MAPPED),
    "ftl.map_cache_policy": Context(("lru", "fifo", "clock"), base={**MAPPED, "ftl.map_cache_bytes": 3 * PAGE, "ftl.map_entry_bytes": 512}),
    "ftl.map_cache_unit": Context(("page", "entry"), base=MAPPED),
    "ftl.precondition.whole_table": Context((False, True), base={**MAPPED, "ftl.precondition.kind": "none"}),
    "ftl.map_page_bytes": Context((PAGE, 2 * PAGE), base=MAPPED),
    "ftl.map_entry_bytes": Context((4, 128, 256), base=MAPPED),
    "ftl.map_models": Context(
        ("none", "exact", "segments"),
        base={**MAPPED, "ftl.map_cache_bytes": 3 * PAGE, "ftl.map_entry_bytes": 512},
        error="set ftl.map_cache_bytes = 0",
    ),
    "ftl.map_model_pieces": Context((1, 2), base={**MAPPED, "ftl.map_cache_bytes": 3 * PAGE, "ftl.map_models": "exact"}),
    "ftl.map_model_error": Context((0, 1, 4), base={**DRIVE, "ftl.map_models": "segments"}),
    "ftl.unmapped_read": Context(("immediate", "flash"), trace=sparse),
    "slc.static_blocks": Context((0, 1, 3), base=SLC),
    "slc.dynamic_blocks": Context((0, 1, 4), base=SLC),
    "slc.full": Context(("direct", "fold"), base={**SLC, "slc.dynamic_blocks": 0}),
    "slc.fold_level": Context((0.0, 0.3, 0.8), base={**SLC, "slc.idle_us": 0, "slc.static_blocks": 0}),
    "slc.idle_us": Context((0, 100, 1_500), base={**SLC, "slc.static_blocks": 0}),
    "slc.fold_jobs": Context((0, 1), base=SLC),
    "slc.map_mode": Context(("slc", "native"), base={**SLC, "ftl.map_cache_bytes": 4 * PAGE, "ftl.map_entry_bytes": 512}),
    "slc.bits_per_cell": Context((2, 3, 4), base={**SLC, "device.pages_per_block": 12}),
    "slc.read_ns": Context((10_000, 20_000, 30_000), base=SLC),
    "slc.program_ns": Context((50_000, 100_000, 150_000), base=SLC),
    "slc.erase_ns": Context((500_000, 1_000_000, 2_000_000), base=SLC),
    "slc.errors": Context((1.0, 0.8, 0.3), base={**SLC, **RETRIES, "errors.epsilon": 1.2e-2}),
    "slc.wear": Context((1.0, 0.5, 0.0), base={**SLC, **RETRIES, "errors.epsilon": 5e-3, "errors.alpha": 1e-3, "errors.k": 1.0}),
    "zones.blocks": Context((1, 2, 3), base=ZONED, trace=zoned),
    "zones.size_bytes": Context((0, 32 * PAGE, 64 * PAGE), base=ZONED, trace=zoned),
    "zones.max_open": Context((1, 2, 3), base=ZONED, trace=zoned),
    "zones.max_active": Context((3, 4, 5), base=ZONED, trace=zoned),
    "zones.append_ns": Context((0, 1_000, 3_000), base=ZONED, trace=zoned),
    "zones.manage_ns": Context((0, 1_000, 3_000), base=ZONED, trace=zoned),
    "zones.close_ns": Context((0, 1_000, 3_000), base=ZONED, trace=zoned),
    "zones.reset_ns": Context((0, 1_000, 3_000), base=ZONED, trace=zoned),
    "zones.reset_unit_ns": Context((0, 50, 100), base=ZONED, trace=zoned),
    "zones.log": Context(
        ("none", "greedy", "cost-benefit", "bast", "fast"),
        base={**LOGGED, "zones.log_blocks": 2},
        trace=logged,
        requests=1_500,
        error="commands of a trace name zones by their addresses",
    ),
    "zones.log_blocks": Context((2, 3, 4), base={**LOGGED, "zones.log": "fast"}, trace=logged, requests=1_500),
    "zones.log_spare": Context((0.4, 0.5, 0.6), base=LOGGED, trace=logged, requests=1_500),
    "zones.log_free": Context((2, 3, 4), base={**LOGGED, "zones.log_spare": 0.75}, trace=logged, requests=1_500),
    "zones.log_batch": Context((1, 2, 64), base=LOGGED, trace=logged, requests=1_500),
    "zones.log_copy": Context((True, False), base=LOGGED, trace=logged, requests=1_500),
    "wear.endurance": wearing(0, 10, 20),
    "wear.rated_cycles": Context((0, 1_000, 3_000), base=DRIVE),
    "wear.spread": wearing(0.0, 0.1, 0.3),
    "wear.program_fails_ppm": wearing(0.0, 500.0, 5_000.0),
    "wear.program_fails_worn_ppm": wearing(0.0, 10_000.0, 100_000.0),
    "wear.erase_fails_ppm": wearing(0.0, 20_000.0, 200_000.0),
    "wear.erase_fails_worn_ppm": wearing(0.0, 50_000.0, 300_000.0),
    "wear.end": wearing("stop", "reads", endurance=5),
    "wear.warranty_years": wearing(3.0, 5.0),
    "wear.leveling": wearing("none", "dual-pool", "progressive", "old-block", drive=LEVELLED),
    "wear.leveling_threshold": wearing(1, 3, 6, drive=LEVELLED, leveling="old-block"),
    "wear.leveling_rest": wearing(0, 40, 120, drive=LEVELLED, leveling="old-block"),
    "wear.erase_growth": wearing(0.0, 50.0, 100.0),
    "wear.erase": wearing("fixed", "pulses", "as-needed"),
    "wear.pulse_ns": wearing(1_000_000, 2_000_000, 5_000_000, erase="pulses"),
    "wear.verify_ns": wearing(0, 100_000, 1_000_000, erase="pulses"),
    "wear.step_ns": wearing(300_000, 500_000, 900_000, erase="as-needed"),
    "wear.probe_ns": wearing(0, 1_000_000, 3_500_000, erase="as-needed"),
    "wear.erase_spread": wearing(0.0, 0.1, 0.3, erase="as-needed"),
    "errors.retry": Context(("off", "none", "in-order", "last-good", "pr2", "ar2"), base=AGED),
    "errors.codeword_bytes": Context((512, 1024, 2048), base=AGED),
    "errors.correctable_bits": Context((57, 72, 120), base=AGED),
    "errors.decode_ns": Context((0, 20_000, 30_000), base=AGED),
    "errors.retry_table": Context(([0.5], [0.9, 0.5], [0.9, 0.8, 0.5]), base=AGED),
    "errors.short_read": Context((0.5, 0.75, 1.0), base={**AGED, **FAST_BUS, "errors.retry": "ar2"}),
    "errors.set_ns": Context((0, 1_000, 2_000), base={**AGED, "errors.retry": "ar2"}),
    "errors.reset_ns": Context((0, 5_000, 50_000), base={**AGED, **FAST_BUS, "errors.retry": "pr2"}),
    "errors.epsilon": Context((0.0, 5e-3, 1e-2), base=AGED),
    "errors.alpha": Context((0.0, 3.9e-10, 1e-9), base=AGED),
    "errors.k": Context((1.0, 2.05, 2.2), base=AGED),
    "errors.beta": Context((0.0, 6.28e-5, 2e-4), base=AGED),
    "errors.m": Context((0.0, 0.3, 0.5), base=AGED),
    "errors.n": Context((0.3, 0.54, 0.8), base=AGED),
    "errors.gamma": Context((0.0, 1e-3, 1e-2), base=AGED),
    "errors.p": Context((0.0, 0.33, 0.6), base={**AGED, "errors.gamma": 1e-3}),
    "errors.q": Context((1.0, 1.71, 2.5), base={**AGED, "errors.gamma": 1e-3}),
    "errors.spread": Context((0.0, 0.5, 1.0), base=AGED),
    "errors.reclaim_reads": Context((0, 5, 20), base=AGED),
    "errors.refresh_days": Context(
        (0.0, 100.0, 300.0), base={**AGED, "ftl.precondition.retention_days": 0.0, "ftl.precondition.retention_days_max": 400.0}
    ),
    "ftl.precondition.pe_cycles": Context((0, 1_500, 3_000), base=AGED),
    "ftl.precondition.pe_cycles_max": Context((3_000, 5_000, 9_000), base=AGED),
    "ftl.precondition.retention_days": Context((0.0, 100.0, 400.0), base=AGED),
    "ftl.precondition.retention_days_max": Context((400.0, 700.0, 2_000.0), base=AGED),
    "ftl.precondition.kind": Context(
        ("none", "fill", "ranges", "soft", "steady", "trace"), base=DRIVE, trace=mixed, error="is not used by ftl.precondition.kind"
    ),
    "ftl.precondition.prefill": Context(
        ("offset_bytes,size_bytes\n0,40960\n", "offset_bytes,size_bytes\n0,81920\n"),
        base={**DRIVE, "ftl.precondition.kind": "ranges", "ftl.unmapped_read": "immediate"},
    ),
    "ftl.precondition.range": Context((0.1, 0.5, 1.0), base={**DRIVE, "ftl.precondition.kind": "soft"}),
    "ftl.precondition.rounds": Context((1, 2, 3), base={**DRIVE, "ftl.precondition.kind": "trace"}, trace=mixed),
    "ftl.precondition.settle": generated(0, 1, 2, drive={**DRIVE, "ftl.precondition.kind": "fill"}, read_share=0.2, request_kb=4),
    "gc.trigger": Context(
        ("soft", "idle", "invalid-share", "both"), base={**DRIVE, "gc.idle_us": 500, "gc.soft": 3, "gc.invalid_share": 0.5}
    ),
    "gc.soft": Context((2, 4, 0.25), base={**DRIVE, "device.blocks_per_plane": 32}),
    "gc.hard": Context((0.0, 0.5, 1.0), base=SHORT, trace=overload),
    "gc.forced": Context((1, 3), base={**DRIVE, "gc.trigger": "both", "gc.soft": 6, "gc.invalid_share": 0.95}),
    "gc.begin": Context(("frontier", "request", "write"), trace=scattered),
    "gc.until": Context((0, 1, 2), base={**DRIVE, "device.blocks_per_plane": 32, "gc.soft": 2}),
    "gc.advance": Context(("alone", "with-requests", "in-turns"), base=PREEMPTIBLE, trace=scattered),
    "gc.hard_stops": Context(("writes", "all"), base={**SHORT, "gc.hard": 1.0}, trace=overload),
    "gc.invalid_share": Context((0.4, 0.5, 0.7), base={**DRIVE, "gc.trigger": "invalid-share"}),
    "gc.victim": Context(tuple(choice["name"] for choice in KEYS["gc.victim"]["choices"])),
    "gc.choices": Context((1, 2, 10), base={**DRIVE, "gc.victim": "d-choices"}),
    # Jobs start while there are free blocks to redirect writes to.
    "gc.scope": Context(
        tuple(choice["name"] for choice in KEYS["gc.scope"]["choices"]),
        base={**CUBE, "gc.priority": "fifo", "gc.trigger": "invalid-share", "gc.invalid_share": 0.4, "ftl.frontier": "shared"},
        trace=large,
    ),
    "gc.priority": Context(("gc", "fifo", "host"), base={**DRIVE, "gc.scope": "none"}, trace=scattered),
    "gc.suspend": Context(
        ([], ["read"], ["program"], ["erase"], ["read", "program", "erase"]),
        base={**PREEMPTIBLE, "device.suspend_ns": 1000},
        trace=scattered,
    ),
    "gc.pipeline": Context((False, True), base={**PREEMPTIBLE, "device.cache_register": True}),
    "gc.merge": Context((False, True), base=PREEMPTIBLE),
    "gc.moves_in_flight": Context((1, 2, 8), base=PREEMPTIBLE),
    "gc.leftover": Context(
        ("pad", "carry"), base={**DRIVE, "device.blocks_per_plane": 32, "ftl.map_unit_bytes": 1024, "gc.soft": 4}, trace=partial
    ),
    # One die of two planes, which large requests fill at the same rate.
    "gc.turns": Context(
        ("step", "job"),
        base={**TALL, "device.chips_per_channel": 1, "device.dies_per_chip": 1, "device.blocks_per_plane": 16, "gc.scope": "plane"},
        trace=large,
    ),
    "gc.pace": Context(("none", "proportional", "room"), base=PACED, trace=scattered),
    "gc.pace_window": Context((0.0, 0.1, 0.4), base={**PACED, "gc.pace": "proportional"}, trace=scattered),
    "gc.idle_us": Context((500, 501, 1000), base={**DRIVE, "gc.trigger": "idle"}),
    "gc.idle_timeout": Context(("fixed", "adaptive"), base={**DRIVE, "gc.trigger": "idle", "gc.idle_us": 500}),
    "gc.idle_free": Context((1.0, 2.0, 3.0), base={**DRIVE, "gc.trigger": "idle", "gc.idle_us": 500}),
    "gc.poll_ns": Context((0, 100, 600), base=PREEMPTIBLE),
    "scheduler.order": crowded("fcfs", "fr-fcfs", "fair", **{"scheduler.order": "fcfs"}),
    "scheduler.flow_weights": crowded([], [1, 4], [5, 1, 1]),
    "scheduler.fair_epoch_us": crowded(50, 1_000, 20_000, **{"scheduler.fair_low_mb_s": 5}),
    "scheduler.fair_low_mb_s": crowded(0, 3, 1_000, **{"scheduler.fair_epoch_us": 2_000}),
    "scheduler.fair_ratio": crowded(0.0, 0.5, 1.0, **{"scheduler.fair_low_mb_s": 0}),
    "scheduler.pipeline": Context((False, True), base={**DRIVE, "device.cache_register": True}, trace=large),
    "scheduler.alpha": Context((0.0, 0.5, 1.0), base={**DRIVE, "scheduler.order": "fr-fcfs", "scheduler.write_queue": 8}, trace=overload),
    "scheduler.read_queue": Context((0, 1, 4), trace=overload),
    "scheduler.write_queue": Context((0, 1, 4), trace=overload),
    "scheduler.read_bypass": Context((False, True), base=FR_FCFS, trace=spread),
    "scheduler.write_bypass": Context((False, True), base=FR_FCFS, trace=spread),
    "scheduler.write_pausing": Context((False, True), base=FR_FCFS, trace=spread),
    "scheduler.suspend": Context(([], ["program"], ["erase"], ["program", "erase"]), base=MAKING_WAY, trace=spread),
    "scheduler.estimates": Context((False, True), base=FR_FCFS, trace=spread),
    "scheduler.error_feedback": Context((False, True), base={**FR_FCFS, "scheduler.write_bypass": True}, trace=spread),
    "cache.policy": Context(
        tuple(choice["name"] for choice in KEYS["cache.policy"]["choices"]), base={**CACHED, "cache.clean_window": 0.5}
    ),
    "cache.place": Context(("drive", "array"), base={**STRIPED, "cache.policy": "lru", "cache.bytes": 32 * PAGE}),
    "cache.bytes": Context((PAGE, 16 * PAGE, 32 * PAGE), base=CACHED),
    "cache.access_ns": Context((0, 1, 1000), base=CACHED),
    "cache.reads": Context((False, True), base=CACHED),
    "cache.writes": Context((False, True), base=CACHED),
    "cache.gc_aware": Context((False, True), base=CACHED),
    "cache.soon": Context((0, 1, 2), base={**CACHED, "cache.gc_aware": True}),
    "cache.flush_on_idle": Context((False, True), base=CACHED),
    "cache.flush_idle_us": Context((0, 100, 1000), base={**CACHED, "cache.flush_on_idle": True}),
    "cache.destage_ahead": Context((0.0, 0.25, 0.5), base=CACHED),
    "cache.clean_window": Context((0.0, 0.25, 1.0), base={**CACHED, "cache.policy": "cflru"}),
    "cache.group": Context(("chip", "contiguous"), base=BY_GROUP),
    "cache.compensation": Context((False, True), base=BY_GROUP, trace=streams),
    "cache.padding": Context(("off", "always", "share"), base={**BY_GROUP, "cache.padding_share": 0.5}),
    "cache.padding_share": Context((0.0, 0.5, 1.0), base={**BY_GROUP, "cache.padding": "share"}),
    **{f"energy.{key}": Context((0.0, 50.0), base=DRIVE) for key in ("read_mw", "program_mw", "bus_mw", "dram_pj_per_bit", "idle_mw")},
    **{f"energy.{key}": Context((0.0, 50.0), base=DRIVE) for key in ("link_pj_per_bit", "command_nj")},
    "energy.erase_mw": generated(0.0, 50.0, read_share=0.0),
    "energy.cap_w": Context((0.0, 1.1), base=POWERED),
    "energy.source": Context(("guessed", "sheet", "measured"), base={**DRIVE, "energy.idle_mw": 50.0}),
    "thermal.resistance_c_per_w": Context((0.0, 10.0, 20.0), base=POWERED),
    "thermal.time_constant_s": Context((0.001, 0.1), base=WARM),
    "thermal.ambient_c": Context((0.0, 25.0, 40.0), base=WARM),
    "thermal.start_c": Context((100.0, 140.0), base=WARM),
    "thermal.sample_us": Context((50, 3_000), base={**WARM, "thermal.light_c": 130.0, "thermal.light_w": 1.1}),
    "thermal.light_c": Context((0.0, 130.0), base={**WARM, "thermal.light_w": 1.1}),
    "thermal.light_w": Context((1.1, 1.2), base={**WARM, "thermal.light_c": 126.0}),
    "thermal.heavy_c": Context((0.0, 130.0), base={**WARM, "thermal.heavy_w": 1.1}),
    "thermal.heavy_w": Context((1.1, 1.2), base={**WARM, "thermal.heavy_c": 126.0}),
    "thermal.critical_c": Context((0.0, 131.0), base=WARM),
    "thermal.hysteresis_c": Context((0.1, 4.0), base={**WARM, "thermal.critical_c": 131.0}),
    "power_states.power_mw": Context(([40.0], [0.0], [1_000.0]), base=SLEEPY),
    "power_states.entry_us": Context(([1], [20], [300]), base=SLEEPY),
    "power_states.exit_us": Context(([1], [50], [300]), base=SLEEPY),
    "power_states.idle_us": Context(([0], [100], []), base=SLEEPY),
    "buffer.bytes": Context((0, 16_384, 65_536), base=DRIVE),
    "buffer.access_ns": Context((0, 1000, 5000), base=BUFFERED, trace=quarters),
    "buffer.protected": Context((True, False), base=BUFFERED, trace=quarters),
    "buffer.bytes_per_us": Context((0, 200, 1_000), base=BUFFERED, trace=quarters),
    "buffer.drain": Context(("full", "eager", "at-once"), base=BUFFERED, trace=quarters),
    "buffer.timeout_us": Context((0, 50, 500), base=BUFFERED, trace=quarters),
    "buffer.sort_units": Context((0, 8), base=BUFFERED, trace=quarters),
    "buffer.reads_pass": Context((True, False), base=BUFFERED, trace=overload),
    "host.link_bytes_per_us": Context((0, 100, 1000), base=DRIVE),
    "host.write_bytes_per_us": Context((0, 1, 100), base=DRIVE, trace=overload),
    "host.command_ns": Context((0, 500, 5000), base=DRIVE),
    "host.completion_ns": Context((0, 500, 5000), base=DRIVE),
    "host.cores": Context((1, 2, 3), base={**DRIVE, "host.command_ns": 50_000}, trace=overload),
    "host.slots": Context((0, 1, 4), base=DRIVE, trace=overload),
    "host.queues": shared(1, 2, 3),
    "host.queue_depth": shared(0, 1, 2, **{"host.queues": 2, "host.slots": 4}),
    "host.arbitration": shared("rr", "wrr", **{"host.queues": 2, "host.weights": [1, 3]}),
    "host.weights": shared([1, 1], [1, 3], [5, 1], **{"host.queues": 2, "host.arbitration": "wrr"}),
    "host.quota_iops": shared([0, 0], [500, 0], [100, 500], **{"host.queues": 2}),
    "host.quota_mb_s": shared([0, 0], [2, 0], [1, 3], **{"host.queues": 2}),
    "host.quota_burst_us": shared(0, 6_000, 40_000, **{"host.queues": 2, "host.quota_iops": [0, 500]}),
    "array.level": Context(("none", "rais0", "rais5"), base={**DRIVE, "array.stripe_kb": 8}),
    "array.drives": Context((3, 4, 5), base=STRIPED),
    "array.stripe_kb": Context((4, 8, 64), base=STRIPED),
    "array.degraded": Context((0, 1, 2), base=STRIPED),
    "array.rebuild_stripes": Context((0, 1, 4), base=REPLACED),
    "array.rebuild_bytes_per_us": Context((0, 2, 4), base={**REPLACED, "array.rebuild_stripes": 1}),
    "array.rebuild_reads": Context(("off", "refused", "shortest", "window"), base={**STRIPED, "array.window_us": 2_000}, trace=overload),
    "array.window_us": Context((0, 1_000, 2_000), base=IN_TURN, trace=overload),
    "array.window_tail_us": Context((0, 4_000, 7_900), base={**IN_TURN, "array.window_us": 8_000}, trace=overload),
    "array.window_forced": Context((0.0, 0.75, 1.0), base={**IN_TURN, "array.window_us": 20_000}, trace=overload),
    "array.rotation": Context(
        ("off", "pool", "die", "drive"), base={**IN_TURN, "device.planes_per_die": 2, "gc.scope": "plane"}, trace=overload
    ),
    "array.rotation_forced": Context((False, True), base={**STRIPED, "array.rotation": "drive"}, trace=overload),
    "workload.request_kb": generated(4.0, 4.5, 8.0),
    "workload.request_size": generated("fixed", "exponential", "table", size_table=[[4, 1], [16, 1]]),
    "workload.size_table": generated([[4, 1]], [[4, 1], [16, 1]], [[4, 1], [16, 2]], request_size="table"),
    "workload.interarrival_us": generated(0, 400, 401),
    "workload.arrival": generated("exponential", "fixed", "burst"),
    "workload.burst_length": generated(1, 4, 8, arrival="burst"),
    "workload.read_share": generated(0.0, 0.5, 1.0),
    "workload.sequential_share": generated(0.0, 0.5, 1.0),
    "workload.high_priority_share": generated(0.0, 0.1, 0.9, drive={**SHORT, "gc.hard": 1.0}, read_share=0.0, interarrival_us=100),
    "workload.handle": generated(0, 1, drive={**TAGGED, "device.channels": 1}, handle_ranges=[[0.3, 1]]),
    "workload.handle_ranges": generated([], [[0.3, 1]], [[0.3, 1], [0.6, 2]], drive={**TAGGED, "device.channels": 1}),
    "workload.trim_share": generated(0.0, 0.3, 1.0),
    "workload.trim_first": generated(False, True),
    "workload.address": generated(
        "uniform", "hot-cold", "zipf", "pareto", "zones", "start", "normal", "permutation", zones=[[50, 20], [50, 80]]
    ),
    "workload.hot_share": generated(0.1, 0.2, 0.5, address="hot-cold"),
    "workload.hot_access": generated(0.0, 0.8, 1.0, address="hot-cold"),
    "workload.hot_scattered": generated(False, True, address="hot-cold"),
    "workload.permutation_repeats": generated(False, True, address="permutation", footprint=0.1),
    "workload.zipf_exponent": generated(0.0, 1.0, 1.5, address="zipf"),
    "workload.pareto_h": generated(0.1, 0.2, 0.5, address="pareto"),
    "workload.fio_draws": generated(False, True, address="pareto"),
    "workload.normal_width": generated(0.0, 0.1, 0.5, address="normal"),
    "workload.zones": generated([[80, 20], [20, 80]], [[50, 50], [50, 50]], [[0, 50], [100, 50]], address="zones"),
    "workload.footprint": generated(0.1, 0.5, 1.0),
    "workload.align_kb": generated(0.5, 4.0, 8.0),
    "workload.align_large_kb": generated(0.0, 4.0, 8.0, request_kb=8, align_kb=0.5),
    "workload.flows": generated([], [{"read_share": 1.0}], [{"read_share": 1.0}, {"request_kb": 8}]),
    "workload.queue_depth": generated(0, 1, 4),
    "workload.name": generated("a", "c", flows=[{"name": "b"}], only="a", error="no flow has this name"),
    "workload.queue": shared(0, 1, **{"host.queues": 2}),
    "workload.namespace": generated(0, 1, drive={**GENERATED, **FOUR_DIES, "ftl.namespaces": [1, 3]}),
    "workload.part": generated([0.0, 1.0], [0.0, 0.5], [0.5, 1.0]),
    "workload.start_s": generated(0.0, 0.002, 0.004, flows=[{"name": "b"}]),
    "workload.start_after": Context(
        ("b", "c"), trace=untidy, base={"workload.flows": [{"name": "b", "trace": str(FEW)}]}, error="no flow has"
    ),
    "workload.stage": generated(
        *(0, 1, 2), queue_depth=2, total_bytes=40960, flows=[{"name": "b", "stage": 1, "queue_depth": 2, "total_bytes": 40960}]
    ),
    "workload.total_bytes": generated(0, 40960, 81920),
    "workload.run_s": generated(0.0, 0.005, 0.01),
    "workload.paced": generated(False, True, queue_depth=4),
    "workload.think_us": generated(0.0, 100.0, 1000.0, queue_depth=4),
    "workload.think_requests": generated(1, 2, 8, queue_depth=4, think_us=500.0),
    "workload.flush_every": generated(0, 1, 3),
    "workload.flush_at_end": generated(False, True, queue_depth=4, total_bytes=40960),
    "workload.only": generated("main", "b", flows=[{"name": "b"}]),
    "workload.max_outstanding": Context((1, 1000), trace=overload, error="the drive is overloaded"),
    "workload.trace": Context((f"{HEADER}\n0,R,0,4096,0\n", f"{HEADER}\n0,W,0,4096,0\n"), trace=None),
    "workload.format": Context(
        tuple(choice["name"] for choice in KEYS["workload.format"]["choices"]),
        trace=None,
        base=MEGABYTES,
        error="/trace.csv:",
        alike=(("ssdsim", "mqsim"), "MQSim's columns are SSDSim's (docs/trace-formats.md)"),
    ),
    "workload.unit_bytes": Context((512, 1024, 4096), trace=None, base={**MEGABYTES, "workload.format": "disksim"}),
    "workload.time_unit": Context(("s", "ms", "us", "ticks", "ns"), trace=None, base={**MEGABYTES, "workload.format": "disksim"}),
    "workload.event": Context(("queue", "issue"), trace=None, base=MEGABYTES),
    "workload.fio_wait": Context(("program", "manual"), trace=None, base=MEGABYTES),
    "workload.device": Context(("0", "1"), trace=untidy),
    "workload.volumes": Context(("overlaid", "concatenated"), trace=untidy, error="bytes that the drive exports"),
    "workload.time_scale": Context((0.5, 1.0, 8.0)),
    "workload.range": Context(("error", "wrap", "clip", "compact"), base=MEGABYTES, trace=beyond, error="bytes that the drive exports"),
    "workload.bad_lines": Context((0, 1), trace=damaged, error="/trace.csv:42: expected the op"),
    "workload.time_order": Context(("error", "clamp", "sort"), trace=backwards, error="expected a time no earlier"),
    "workload.skip": Context((0, 1, 5), trace=untidy),
    "workload.last": Context((0, 1, 5), trace=untidy),
    "workload.limit_s": Context((0.0, 0.005, 0.01), trace=untidy),
    "workload.repeat": Context((1, 2, 3), trace=untidy),
}

REASONS: Mapping[str, str] = {}
"""Keys that may have no effect, each with the reason."""

FILES = ("workload.trace", "ftl.precondition.prefill")
"""Keys whose values are contents of files here, not names."""

# The same requests in the units and columns of two formats that share a shape: numbers, separated by blanks.
FIVE_NUMBERS = "".join(f"{10_000 * i} {i % 2} {8 * (i % 30)} 8 {i % 3 % 2}\n" for i in range(60))


TEXTS = {
    **dict.fromkeys(("workload.format", "workload.unit_bytes", "workload.time_unit"), FIVE_NUMBERS),
    "workload.event": "8,0 1 1 0.0 9 Q W 0 + 8 [a]\n8,0 1 2 0.5 9 D R 0 + 8 [a]\n",
    "workload.fio_wait": "fio version 2 iolog\na read 0 4096\na wait 9 0\na write 0 4096\n",
}
"""Traces for keys that determine how a trace is read."""


def text_of(key: str, context: Context) -> str | None:
    """The trace of a context."""
    if key in TEXTS:
        return TEXTS[key]
    return None if context.trace is None else "\n".join([HEADER, *context.trace()]) + "\n"


def has_text(key: str, context: Context) -> bool:
    """Whether a context has a trace."""
    return key in TEXTS or context.trace is not None


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run: the drive's behaviour, or the error message."""

    did: str | None
    error: str = ""


def fingerprint(result: ssdlab.Result) -> str:
    """The drive's behaviour, without entries that repeat the configuration and without wall-clock figures."""
    parts = ("digest", "gc", "slack", "flash", "counters", "wear", "energy", "power_states", "thermal", "lifetime")
    data = {key: result.to_dict().get(key) for key in parts}
    prepared = {key: value for key, value in result["precondition"].to_dict().items() if key not in ("kind", "soft_blocks")}
    trace = result["workload"].to_dict().get("trace", {})
    taken = {key: value for key, value in trace.items() if key not in ("format", "units", "skipped_lines", "first_bad_line")}
    return json.dumps([data, prepared, taken], sort_keys=True)


def run(key: str, value: Value, context: Context, folder: Path) -> Outcome:
    """Runs the context with the key set to the value."""
    values = dict(context.base)
    text = text_of(key, context)
    if text is not None:
        (folder / "trace.csv").write_text(text)
        values["workload.trace"] = str(folder / "trace.csv")
    if key in FILES:
        (folder / "value.csv").write_text(value)
        value = str(folder / "value.csv")
    if key == "ftl.precondition.kind" and value == "ranges":
        (folder / "ranges.csv").write_text("0,40960\n")
        values["ftl.precondition.prefill"] = str(folder / "ranges.csv")
    values[key] = value
    try:
        requests = None if "workload.trace" in values else context.requests
        own = values.get("ftl.placement") == "custom"
        return Outcome(fingerprint(ssdlab.run(set=values, requests=requests, placement=by_page if own else None, verify="end")))
    except ssdlab.Error as error:
        return Outcome(None, str(error))


def same_in_effect(outcomes: Mapping[str, Outcome]) -> list[str]:
    """Pairs of values with the same outcome. Two errors are not compared: they may only differ in the value that they repeat."""
    pairs = combinations([(value, outcome.did) for value, outcome in outcomes.items() if outcome.did is not None], 2)
    return [f"{a} and {b}" for (a, one), (b, other) in pairs if one == other]


def test_every_key_has_a_context_or_a_reason() -> None:
    known = CONTEXTS.keys() | REASONS.keys()
    missing = sorted(KEYS.keys() - known)
    assert not missing, (
        f"no context for {', '.join(missing)}: add each to CONTEXTS in {Path(__file__).name}, with values that should give different "
        "results and a drive and workload in which they do; if it can change no result, "
        "add it to REASONS with the reason"
    )
    assert not known - KEYS.keys(), f"these keys are gone, take them out of {Path(__file__).name}: {sorted(known - KEYS.keys())}"
    assert not CONTEXTS.keys() & REASONS.keys(), "a key either matters or has a reason why it does not"
    assert all(len(reason.split()) > 3 for reason in REASONS.values()), "a reason is a sentence"


@pytest.mark.parametrize("key", CONTEXTS)
def test_key_changes_a_result(key: str, tmp_path: Path) -> None:
    context = CONTEXTS[key]
    outcomes = {json.dumps(value): run(key, value, context, tmp_path) for value in context.values}
    for value, outcome in outcomes.items():
        assert outcome.did is not None or (context.error and context.error in outcome.error), f"{key} = {value}: {outcome.error}"
    assert any(outcome.did for outcome in outcomes.values()), f"{key}: no value leads to a result"
    assert len(outcomes) > 1, f"{key}: one value tells nothing"
    same = same_in_effect(outcomes)
    if context.alike is not None:
        pair = " and ".join(json.dumps(value) for value in context.alike[0])
        assert pair in same, f"{key}: {pair} differ now; they were alike because: {context.alike[1]}"
        same.remove(pair)
    assert not same, f"{key} changes nothing here: {'; '.join(same)} give the same result (see REASONS)"


@pytest.mark.parametrize("key", [key for key, info in KEYS.items() if "choices" in info and key in CONTEXTS])
def test_every_choice_is_tried(key: str) -> None:
    tried = {name for value in CONTEXTS[key].values for name in (value if isinstance(value, list) else [value])}
    assert tried == {choice["name"] for choice in KEYS[key]["choices"]}, f"{key}: try every choice"


def test_a_dead_key_would_be_found(tmp_path: Path) -> None:
    """The canary: a key in a context where it does not matter."""
    context = Context((0.1, 0.9), base=GENERATED, trace=None)
    outcomes = {str(value): run("workload.hot_share", value, context, tmp_path) for value in context.values}
    assert same_in_effect(outcomes) == ["0.1 and 0.9"]
