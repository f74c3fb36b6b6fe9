"""The sizes of a drive that rates and spare follow from."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from ssdlab import _core

__all__ = ["Drive"]

SCOPES = ("device", "channel", "chip", "die")
"""Scopes of blocking in which one die at a time collects or serves the host."""


@dataclass(frozen=True)
class Drive:
    """The configuration of a drive, or of one of an array, and what follows from it. Names are those of the configuration reference."""

    device: dict[str, Any]
    ftl: dict[str, Any]
    gc: dict[str, Any]
    scheduler: dict[str, Any]
    buffer: dict[str, Any]
    host: dict[str, Any]
    cache: dict[str, Any]
    slc: dict[str, Any]
    energy: dict[str, Any]
    power_states: dict[str, Any]
    thermal: dict[str, Any]
    errors: dict[str, Any]
    wear: dict[str, Any]
    array: dict[str, Any]
    exported_bytes: int
    """Bytes that the host can write."""
    zones: tuple[int, int, int] | None
    """Number of zones, the bytes of each that can be written, and those between the beginnings of two."""
    reserve_blocks: int
    """Free blocks of a pool that the host may not take."""
    uncounted_blocks: int
    """Free blocks of a pool that no threshold of GC counts."""

    @classmethod
    def of(cls, config: _core.Config) -> Drive:
        """The drive of a configuration; of an array, one of its drives."""
        tree = json.loads(config.json())
        sections = (field.name for field in fields(cls) if field.name in tree)
        with_data = {"none": 1, "rais0": tree["array"]["drives"], "rais5": tree["array"]["drives"] - 1}[tree["array"]["level"]]
        zones = config.zones
        return cls(
            **{name: tree[name] for name in sections if name != "zones"},
            exported_bytes=zones[0] * zones[1] if zones and tree["zones"]["log"] == "none" else config.exported_bytes // with_data,
            zones=zones,
            reserve_blocks=config.reserve_blocks,
            uncounted_blocks=config.uncounted_blocks,
        )

    @cached_property
    def dies(self) -> int:
        """Number of dies."""
        return int(self.device["channels"] * self.device["chips_per_channel"] * self.device["dies_per_chip"])

    @cached_property
    def stations(self) -> int:
        """Number of dies that work at a time; chips, if their dies exclude each other."""
        return self.dies if self.device["die_interleave"] else self.dies // int(self.device["dies_per_chip"])

    @cached_property
    def units_per_page(self) -> int:
        """Mapping units of a flash page."""
        unit = self.ftl["map_unit_bytes"]
        return 1 if unit is None else int(self.device["page_bytes"] // unit)

    @property
    def unit_bytes(self) -> int:
        """Bytes of a mapping unit."""
        return int(self.device["page_bytes"]) // self.units_per_page

    @cached_property
    def units_per_program(self) -> int:
        """Mapping units that a program of one plane writes."""
        return self.units_per_page * int(self.device["pages_per_program"])

    @cached_property
    def programs_per_block(self) -> int:
        """Programs of a block that hold data: all but those of parity."""
        programs = int(self.device["pages_per_block"]) // int(self.device["pages_per_program"])
        stripe = int(self.ftl["parity_stripe"])
        return programs - (programs // stripe if stripe else 0)

    @cached_property
    def parity(self) -> float:
        """Programs for each that holds data."""
        stripe = int(self.ftl["parity_stripe"])
        return stripe / (stripe - 1) if stripe else 1.0

    @property
    def moves_in_parts(self) -> bool:
        """Whether the read and the program of a page move are operations of their own."""
        return self.units_per_program > 1 or int(self.gc["moves_in_flight"]) > 1

    @property
    def units_per_block(self) -> int:
        """Mapping units of a block that hold data."""
        return self.programs_per_block * self.units_per_program

    @property
    def units_per_reclaim(self) -> int:
        """Mapping units, those of data, of what is collected as one: a block, or a superblock of several pools."""
        return self.units_per_block * self.pools_per_group

    @property
    def pools_per_group(self) -> int:
        """Pools whose blocks form a superblock; 1 without superblocks."""
        if self.ftl["reclaim_unit"] == "block":
            return 1
        return self.pools // (int(self.device["channels"]) if self.ftl["superblock_span"] == "channel" else 1)

    @property
    def pools(self) -> int:
        """Number of pools, each with its own free blocks: planes or dies."""
        return self.dies * (int(self.device["planes_per_die"]) if self.ftl["pool"] == "plane" else 1)

    @property
    def pools_per_scope(self) -> int:
        """Pools of which one collects at a time (`gc.scope`)."""
        channels, chips, dies = (int(self.device[name]) for name in ("channels", "chips_per_channel", "dies_per_chip"))
        parts = {"device": 1, "channel": channels, "chip": channels * chips, "die": channels * chips * dies}
        return self.pools // parts.get(self.gc["scope"], self.pools)

    @property
    def blocks_per_pool(self) -> int:
        """Blocks of a pool."""
        return int(self.device["blocks_per_plane"]) * self.planes_per_pool

    @property
    def planes_per_pool(self) -> int:
        """Planes that share their free blocks."""
        return 1 if self.ftl["pool"] == "plane" else int(self.device["planes_per_die"])

    @property
    def has_slc(self) -> bool:
        """Some blocks are used in SLC mode."""
        return bool(self.slc["static_blocks"] or self.slc["dynamic_blocks"])

    @property
    def flash_bytes(self) -> int:
        """Bytes of all flash, parity included."""
        return self.pools * self.blocks_per_pool * int(self.device["pages_per_block"]) * int(self.device["page_bytes"])

    @property
    def data_bytes(self) -> int:
        """Bytes of the flash that hold data: without parity."""
        return self.pools * self.blocks_per_pool * self.units_per_block * self.unit_bytes

    @property
    def user_blocks(self) -> float:
        """Blocks of a pool that the exported data fill."""
        return self.exported_bytes / self.unit_bytes / self.pools / self.units_per_block

    @property
    def spare_blocks(self) -> int:
        """Blocks of a pool beyond those that the exported data fill, and those that are always in SLC mode."""
        static = int(self.slc["static_blocks"]) * self.planes_per_pool
        return self.blocks_per_pool - static - math.ceil(self.user_blocks - 1e-9)

    @property
    def open_blocks(self) -> int:
        """Blocks of a pool that are being filled at a time, without those that are always in SLC mode."""
        apart = self.ftl["frontier"] == "separate" or self.gc["scope"] == "block"
        return 1 + int(apart) + int(self.slc["dynamic_blocks"] > 0)

    @property
    def soft_blocks(self) -> int:
        """T_soft in blocks of a pool, those included that no threshold counts."""
        return self._soft_blocks + self.uncounted_blocks

    @property
    def _soft_blocks(self) -> int:
        soft = float(self.gc["soft"])
        return max(1, round(soft * self.blocks_per_pool if soft < 1 else soft))

    @property
    def hard_blocks(self) -> int:
        """T_hard in blocks of a pool, those included that no threshold counts; 0 without one."""
        return max(1, round(float(self.gc["hard"]) * self._soft_blocks)) + self.uncounted_blocks if self.gc["hard"] else 0

    @property
    def planes_together(self) -> int:
        """Planes of a die that one operation may use."""
        return int(self.device["planes_per_die"]) if self.device["multiplane"] else 1

    @property
    def planes_written(self) -> int:
        """Planes of a die that one operation programs with random writes of the host.

        One, if programs must be aligned, or if the host goes first without pacing: a write then begins once GC has freed a page of its
        plane.
        """
        waits = self.gc["priority"] != "host" or self.gc["pace"] != "none"
        return self.planes_together if waits and not self.device["multiplane_aligned"] else 1

    def transfer_ns(self, share: float = 1.0) -> float:
        """Time of a flash page on the channel, or of a share of it."""
        size = (int(self.device["page_bytes"]) + int(self.device["spare_bytes"])) * share
        return float(round(size * int(self.device["transfer_ps_per_byte"]) / 1000) + int(self.device["command_ns"]))

    def mean_ns(self, key: str) -> float:
        """`read_ns` or `program_ns`: the mean over the pages of a block, if they differ."""
        return self.slowest_ns(key, 1)

    def slowest_ns(self, key: str, draws: int) -> float:
        """`read_ns` or `program_ns`: the mean of the slowest of several pages at random."""
        times = self.device[f"{key}_by_page"]
        if not times:
            return float(self.device[key])
        count = int(self.device["pages_per_block"]) // (1 if key == "read_ns" else int(self.device["pages_per_program"]))
        ordered = sorted(times[index % len(times)] for index in range(count))
        return float(sum(time * ((index + 1) ** draws - index**draws) for index, time in enumerate(ordered)) / count**draws)
