"""Reads the recorded states of blocks (`blocks.parquet`), and works out free blocks and write amplification over time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ssdlab.errors import UsageError
from ssdlab.pages.timelines.columns import Columns
from ssdlab.system.folders import file_errors

__all__ = ["BlockStates", "read_blocks"]

STATES = ("free", "open", "closed", "victim", "retired")
PLACE = ("drive", "die", "pool", "block")
STATE = ("state", "stream", "valid", "programmed", "erases")
NO_STREAM = 255

Array = np.ndarray[Any, np.dtype[Any]]


class BlockStates:
    """The states of blocks at instants: those at the start, and what changed until each later instant."""

    def __init__(self, rows: Mapping[str, Array], result: Mapping[str, Any]) -> None:
        told, config = result["blocks"], result["config"]
        self.interval_ns, self.end_ns, self.thinned = int(told["interval_ns"]), int(told["end_ns"]), bool(told["thinned"])
        self.instants = np.append(np.arange(int(told["instants"]) - 1) * self.interval_ns, self.end_ns).astype(np.int64)
        self._rows = rows
        self.count = int(np.searchsorted(rows["time_ns"], 0, side="right"))
        """Number of blocks."""
        starts = np.unique(rows["drive"][: self.count], return_index=True)[1]
        self._block = starts[rows["drive"]] + rows["block"]
        """Of each row, the block as counted through all drives."""
        self._until = np.searchsorted(rows["time_ns"], self.instants, side="right")
        """Number of rows up to each instant."""
        self.pages = _pages(config)
        """Pages (mapping units) of a block."""
        slc, each = config.get("slc", {}), int(config["device"]["blocks_per_plane"])
        static, dynamic = (int(slc.get(part, 0)) for part in ("static_blocks", "dynamic_blocks"))
        self._for_all = rows["block"][: self.count] % each < each - static
        """Of each block, whether any data may fill it: it is not always in SLC mode."""
        self._skips = static + dynamic > 0 or result.get("counters", {}).get("skipped_units", 0) > 0
        """Pages of some blocks count as programmed and were skipped."""

    def into(self, columns: Columns) -> None:
        """Adds the tables to the columns of a page."""
        first = {name: self._rows[name][: self.count].astype(np.uint32) for name in PLACE}
        columns.add("blocks", first)
        wide = {"state": np.uint8, "stream": np.uint8, "valid": np.uint16, "programmed": np.uint16, "erases": np.uint32}
        states = {name: self._rows[name].astype(wide[name]) for name in STATE}
        columns.add("changes", {"block": self._block.astype(np.uint32), **states})
        columns.add("instants", {"at": self.instants.astype(float), "rows": self._until.astype(np.uint32)})

    def described(self, moved: Array | None) -> dict[str, Any]:
        """Everything but the columns. `moved`: number of pages that GC has moved up to each instant."""
        free, fewest, programmed = self._over_time()
        return {
            "states": STATES if (self._rows["state"] == STATES.index("retired")).any() else STATES[:-1],
            "pages": self.pages,
            "interval_ns": self.interval_ns,
            "thinned": self.thinned,
            "drives": int(self._rows["drive"][: self.count].max()) + 1,
            "dies": int(self._rows["die"][: self.count].max()) + 1,
            "free": free,
            "fewest": fewest,
            "amplification": None if moved is None or self._skips else amplification(programmed, moved),
        }

    def _over_time(self) -> tuple[list[int], list[int], Array]:
        """At each instant: blocks free for any data, those of the pool with the fewest, and pages programmed since the blocks were new."""
        rows = self._rows
        pools = (rows["drive"] * (int(rows["pool"].max()) + 1) + rows["pool"])[: self.count]
        pools = np.unique(pools, return_inverse=True)[1]
        is_free, programs = np.zeros(self.count, np.int64), np.zeros(self.count, np.int64)
        by_pool = np.zeros(int(pools.max()) + 1, np.int64)
        free, fewest, programmed, total, begin = [], [], [], 0, 0
        for end in self._until:
            block = self._block[begin:end]
            now_free = ((rows["state"][begin:end] == STATES.index("free")) & self._for_all[block]).astype(np.int64)
            now_programs = rows["erases"][begin:end] * self.pages + rows["programmed"][begin:end]
            np.add.at(by_pool, pools[block], now_free - is_free[block])
            total += int((now_programs - programs[block]).sum())
            is_free[block], programs[block] = now_free, now_programs
            free.append(int(by_pool.sum()))
            fewest.append(int(by_pool.min()))
            programmed.append(total)
            begin = end
        return free, fewest, np.array(programmed)


def amplification(programmed: Array, moved: Array) -> list[float | None]:
    """Write amplification between each instant and the one before: pages programmed, by those that GC did not move."""
    pages, moves = np.diff(programmed), np.diff(moved)
    others = pages - moves
    return [None, *(float(all_) / float(own) if own > 0 else None for all_, own in zip(pages, others, strict=True))]


def read_blocks(path: Path, result: Mapping[str, Any]) -> BlockStates:
    """Reads a file of block states, given the result of its run.

    Raises:
        UsageError: `path` is not a file of block states that ssdlab wrote.
        FileError: it cannot be read.
    """
    import pyarrow  # noqa: PLC0415 (importing it takes a while)
    import pyarrow.parquet  # noqa: PLC0415

    try:
        with file_errors("read", path):
            table = pyarrow.parquet.read_table(path)
        rows = {name: table[name].to_numpy() for name in ("time_ns", *PLACE, *STATE[1:])}
        names = table["state"].combine_chunks().dictionary_encode()
        number = np.array([STATES.index(name) for name in names.dictionary.to_pylist()], np.int64)
        rows["state"] = number[names.indices.to_numpy(zero_copy_only=False)]
        rows["stream"] = np.where(rows["stream"] < 0, NO_STREAM, rows["stream"])
        return BlockStates(rows, result)
    except (pyarrow.ArrowException, KeyError, ValueError, IndexError) as reason:
        raise UsageError(f"{path}: not block states that ssdlab wrote (--blocks)") from reason


def _pages(config: Mapping[str, Any]) -> int:
    """Mapping units of a block, or its pages where each is mapped as a whole."""
    device, unit = config["device"], config["ftl"].get("map_unit_bytes")
    return int(device["pages_per_block"]) * (int(device["page_bytes"]) // int(unit) if unit else 1)
