"""The simulated drive of a row.

A plane of a die counts as a die, which gives programs on all planes the rate that they have together. A page here is a word line: one
program of `bits` flash pages. In SLC mode it holds as many word lines one after the other. Blocks are shorter by the scale, and so are
erases; all else is kept, so that bytes and times of a fill are those of the drive, divided by the scale.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ssdlab.errors import UsageError
from ssdlab.experiments.cliffs.drives import Drive

__all__ = ["BASE", "SCALE", "SCALES", "SCHEME", "Model", "folding_of", "model_of"]

BASE, SCHEME = "nvme-tlc-2023", "nvme"
"""Device preset that has what a fill does not depend on, and the scheme."""
SCALE = 64
SCALES = (16, 32, 64)
"""The usual scale, and those that blocks of 768 word lines can have: a block in SLC mode is then exactly 1 / `bits` of one."""
WORD_LINES = 768
"""Word lines of a block: 2,304 pages of 3D TLC flash (as `nvme-tlc-2023`)."""
PAGE_BYTES = 16_384
DIE_GB = 64.0
"""Size of a die where the row has none: 512 Gbit, the usual one of drives of 2019 to 2023."""
PLANES, CHANNELS = 4, 4
"""Planes of a die (four are reported of 3D TLC at ISSCC 2021) and channels, where the row has none."""
DIE_RATES = MappingProxyType({2: 0.1, 3: 0.057, 4: 0.03})
"""Rate of a die where neither the row nor its phases have it, GB/s: 57 MB/s of 96-layer TLC (WD SN550), 30 MB/s of QLC (Rocket Q). 2 bits:
a guess."""
SLC_PROGRAM_NS = 142_000
"""Program time of a page in SLC mode: the longest that fits what was measured of the WD SN550. A drive that is faster has a shorter one."""
SLC_READ_NS = 30_000
"""Read time of a page in SLC mode: public simulators have 16 to 30 us."""
ERASE_NS, SLC_ERASE_NS = 10_000_000, 5_000_000
"""Guesses, of a whole block: 3D TLC has up to 15 ms (as `nvme-tlc-2023`)."""
CHIPS_PER_CHANNEL = 1_024
"""Most planes that a channel may have."""
BUS_PS_PER_BYTE = 625
IDLE_US = 100_000
"""Idle time before folding, of the drive: a guess."""
SPARE_BLOCKS = 5
"""Spare blocks of a unit: the fewest that the simulator takes with separate open blocks for the cache, direct writes and moves, and one
free block for GC."""
REQUEST_BYTES = 1 << 20
HEADROOM = 1.1
"""How much faster the flash in SLC mode is than the first phase at least, which the link then limits."""
MILLION, BILLION = 1e6, 1e9


@dataclass(frozen=True)
class Model:
    """A scaled drive and the requests that fill it.

    Attributes:
        settings: values by configuration key.
        requests: number of requests of a whole fill.
        request_bytes: size of each.
        units: number of planes, each of which works by itself.
        scale: by how much bytes and times are smaller than those of the drive.
        bits: bits per cell outside the cache.
        cache: size of the cache of the simulated drive, in GB of the real one.
    """

    settings: Mapping[str, Any]
    requests: int
    request_bytes: int
    units: int
    scale: int
    bits: int
    cache: float

    @property
    def gb(self) -> float:
        """GB of the drive for each byte of the simulated one."""
        return self.scale / BILLION


def folding_of(drive: Drive) -> int:
    """How many units fold at once where the third phase does not say it: one of each die of kind D, else all, which is 0."""
    return max(1, round(_units(drive) / (drive.planes or PLANES))) if drive.kind == "D" else 0


def model_of(drive: Drive, *, scale: int = SCALE, folding: int = 0) -> Model:
    """The simulated drive of a row. `folding`: how many units fold at once, 0 for all."""
    channels, units = drive.channels or CHANNELS, _units(drive)
    page, pages = PAGE_BYTES * drive.bits, WORD_LINES // scale
    in_block, in_slc = page * pages, page * (pages // drive.bits)
    each = BILLION / scale / units
    data = math.ceil(drive.capacity * each / in_block)
    cached = max(1, round(drive.cache * each / in_slc))
    static, dynamic = (cached, 0) if drive.is_static else (0, data if drive.is_whole else cached)
    blocks = data + SPARE_BLOCKS + static
    if blocks > 1_000_000:
        raise UsageError(f"{drive.name}: {drive.capacity:,g} GB on {units} planes: expected more dies (dies_derived)")
    if units // channels > CHIPS_PER_CHANNEL:
        raise UsageError(f"{drive.name}: {units:,} planes on {channels} channels: expected at most {CHIPS_PER_CHANNEL:,} each (channels)")
    rate = drive.v2 or _dies(drive) * (drive.die_rate or DIE_RATES[drive.bits])
    request = max(1, REQUEST_BYTES // page) * page
    exported = data * units * in_block
    settings = {
        "device.channels": channels,
        "device.chips_per_channel": units // channels,
        "device.dies_per_chip": 1,
        "device.planes_per_die": 1,
        "device.blocks_per_plane": blocks,
        "device.pages_per_block": pages,
        "device.page_bytes": page,
        "device.spare_bytes": 0,
        "device.pages_per_program": 1,
        "device.read_ns_by_page": [],
        "device.read_ns": 60_000,
        "device.program_ns": max(1_000, round(units * page / rate) - page * BUS_PS_PER_BYTE // 1000),
        "device.erase_ns": ERASE_NS // scale,
        "device.transfer_ps_per_byte": BUS_PS_PER_BYTE,
        # A little less than the spare blocks are, so that rounding leaves all of them.
        "device.overprovisioning": 1 - (data - 1e-6) / blocks,
        # Writes go to the unit that is free. In a fixed order they would wait for the slowest that folds, longer with larger blocks.
        "ftl.allocation": "dynamic",
        "ftl.parity_stripe": 0,
        "ftl.map_unit_bytes": page,
        "ftl.precondition.kind": "none",
        # A fold that has begun goes before writes, so that the rate of folding is that of the units that fold, whatever the host does.
        "gc.priority": "gc",
        "gc.soft": 1,
        "gc.pace": "none",
        "buffer.bytes": 3 * units * page,
        "buffer.access_ns": 0,
        "host.command_ns": 0,
        "host.completion_ns": 0,
        "host.link_bytes_per_us": max(1, round(drive.v1 * 1e3)),
        "slc.bits_per_cell": drive.bits,
        "slc.static_blocks": static,
        "slc.dynamic_blocks": dynamic,
        "slc.full": "fold" if drive.is_whole else "direct",
        "slc.fold_jobs": folding,
        "slc.idle_us": IDLE_US // scale,
        "slc.read_ns": SLC_READ_NS * drive.bits,
        "slc.program_ns": min(SLC_PROGRAM_NS * drive.bits, round(units * page / (drive.v1 * HEADROOM))),
        "slc.erase_ns": SLC_ERASE_NS // scale,
        "workload.read_share": 0.0,
        "workload.address": "start",
        "workload.sequential_share": 1.0,
        "workload.queue_depth": 1,
        "workload.request_kb": request / 1024,
    }
    return Model(settings, exported // request, request, units, scale, drive.bits, cached * in_slc * units * scale / BILLION)


def _dies(drive: Drive) -> int:
    return drive.dies or max(1, round(drive.capacity / DIE_GB))


def _units(drive: Drive) -> int:
    """Planes of all dies, as many on each channel."""
    channels = drive.channels or CHANNELS
    return max(1, round(_dies(drive) * (drive.planes or PLANES) / channels)) * channels
