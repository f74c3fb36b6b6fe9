"""The mechanisms of a drive, each by the keys that turn it on, and two small drives on which they are combined.

To combine mechanisms their keys are put together. Two that set one key to different values are two choices of one axis, not a combination.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

Keys = dict[str, Any]

SMALL: Keys = {
    "device.channels": 2,
    "device.chips_per_channel": 2,
    "device.planes_per_die": 2,
    "device.blocks_per_plane": 96,
    "device.pages_per_block": 32,
    "device.page_bytes": 16_384,
    "device.overprovisioning": 0.3,
    "device.cache_register": True,
    "device.page_registers": 2,
    "device.suspend_ns": 30_000,
    "device.transfer_ps_per_byte": 1_000,
    "ftl.precondition.kind": "steady",
    "gc.soft": 2,
    "gc.scope": "none",
    "gc.priority": "host",
    "workload.interarrival_us": 400.0,
    "workload.read_share": 0.4,
}

DRIVES: dict[str, Keys] = {
    "page": SMALL,
    "word line": SMALL
    | {
        "device.pages_per_program": 3,
        "device.pages_per_block": 96,
        "device.program_ns": 900_000,
        "ftl.map_unit_bytes": 4_096,
    },
}
"""By what a program writes: a page, which is a mapping unit, or a word line of three pages of four units."""

WORN: Keys = {"ftl.precondition.pe_cycles": 3_000}

MECHANISMS: dict[str, Keys] = {
    "suspended GC": {"gc.suspend": ["read", "program", "erase"]},
    "pipelining and merging": {"gc.pipeline": True, "gc.merge": True},
    "hard threshold": {"gc.hard": 1},
    "advancing GC": {"gc.advance": "with-requests"},
    "GC in idle time": {"gc.trigger": "both", "gc.idle_us": 1_000},
    "GC until": {"gc.until": 1},
    "block scope": {"gc.scope": "block"},
    "device scope": {"gc.scope": "device"},
    "slack-aware scheduling": {
        "scheduler.order": "fr-fcfs",
        "scheduler.read_bypass": True,
        "scheduler.write_bypass": True,
        "scheduler.write_pausing": True,
    },
    "dynamic allocation": {"ftl.allocation": "dynamic"},
    "chip queues": {"scheduler.read_queue": 8, "scheduler.write_queue": 8},
    "GC-aware LRU cache": {"cache.policy": "lru", "cache.gc_aware": True, "cache.bytes": 1 << 22},
    "BPLRU cache": {"cache.policy": "bplru", "cache.bytes": 1 << 22},
    "RAIS5 array": {"array.level": "rais5", "array.drives": 3},
    "planes together": {"device.multiplane": True},
    "planes one by one": {"device.plane_programs": 2},
    "partial reads": {"device.partial_reads": True},
    "dies that take turns": {"device.dies_per_chip": 2, "device.die_interleave": False},
    "suspension for reads": {"scheduler.suspend": ["program", "erase"]},
    "parity": {"ftl.parity_stripe": 8},
    "write buffer": {"buffer.bytes": 1 << 22},
    "mapping cache": {"ftl.map_cache_bytes": 1 << 16},
    "pacing": {"gc.pace": "proportional"},
    "moves in flight": {"gc.moves_in_flight": 2},
    "host queues": {"host.slots": 64, "host.queues": 2},
    "superblocks": {"ftl.reclaim_unit": "superblock", "ftl.allocation": "dynamic"},
    "handles": {"ftl.placement": "handles", "ftl.handles": 4, "workload.handle": 1},
    "hot-cold placement": {"ftl.placement": "hot-cold"},
    "SepBIT placement": {"ftl.placement": "sepbit"},
    "oracle of placement": {"ftl.placement": "oracle", "ftl.groups": 4},
    "shared frontier": {"ftl.frontier": "shared"},
    "SLC cache": {"slc.static_blocks": 4, "slc.dynamic_blocks": 4, "slc.idle_us": 1_000},
    "all writes through the SLC cache": {"slc.static_blocks": 4, "slc.dynamic_blocks": 4, "slc.idle_us": 1_000, "slc.full": "fold"},
    "units that wait for the next job": {"gc.leftover": "carry"},
    "read retry": WORN | {"errors.retry": "in-order", "ftl.precondition.retention_days": 40.0},
    "reclaim and refresh": {
        "errors.retry": "in-order",
        "errors.reclaim_reads": 1_000,
        "errors.refresh_days": 30.0,
        "ftl.precondition.retention_days": 40.0,
    },
    "blocks that fail": {"wear.endurance": 10_000, "wear.program_fails_ppm": 500.0},
    "wear levelling": {"wear.leveling": "dual-pool", "wear.leveling_threshold": 2},
    "erases as needed": {"wear.erase": "as-needed"},
    "power cap": {"energy.read_mw": 40.0, "energy.program_mw": 60.0, "energy.erase_mw": 50.0, "energy.cap_w": 0.2},
    "heat": {
        "energy.program_mw": 60.0,
        "thermal.resistance_c_per_w": 200.0,
        "thermal.time_constant_s": 0.01,
        "thermal.sample_us": 500,
        "thermal.light_c": 27.0,
        "thermal.light_w": 0.1,
        "thermal.hysteresis_c": 0.5,
    },
    "power states": {
        "power_states.power_mw": [0.0],
        "power_states.entry_us": [20],
        "power_states.exit_us": [100],
        "power_states.idle_us": [200],
    },
    "cost-benefit victims": {"gc.victim": "cost-benefit"},
    "trims": {"workload.trim_share": 0.05},
}


def joined(names: tuple[str, ...]) -> Keys | None:
    """The keys of several mechanisms; ``None`` if two are choices of one axis."""
    keys: Keys = {}
    for name in names:
        for key, value in MECHANISMS[name].items():
            if keys.setdefault(key, value) != value:
                return None
    return keys


def combinations(size: int) -> Iterator[tuple[tuple[str, ...], Keys]]:
    """All sets of so many mechanisms that can be chosen together, with their keys."""
    for names in itertools.combinations(MECHANISMS, size):
        if (keys := joined(names)) is not None:
            yield names, keys
