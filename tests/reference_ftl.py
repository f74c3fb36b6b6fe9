"""A slow and simple flash translation layer, against which the core's is compared.

It was written from the model's description, without the core's sources, so that one misreading does not occur in both. It has no time: an
operation ends before the next begins, and garbage collection runs at once and to completion. It uses lists and counting instead of
efficient data structures; every rule is a short function.

Choices that the model's description leaves open, by function:

* ``_program``: the old place of a page becomes invalid before a block that the page fills is closed, so the stamp of the old block is
  smaller.
* ``_write_page``, ``trim``: garbage collection that ended for lack of a victim starts again, if it is still needed, when a page of its pool
  becomes invalid or is written. A write may close the open block, which has invalid pages and only then can be a victim; a host write may
  wait for that block.
* ``_write_page``: the moment at which GC is decided for a write that takes a block is chosen by the caller, ``decides``.
* ``_open_host_block``: a host write that needs a block while only the last one is free runs garbage collection first.
* ``_next_in_the_log``: with collection in the order of filling, a block without an invalid page is filled again, like a copy at the end of
  the log.
* ``_age``: counts blocks, not pages, closed in the pool since.
* ``fill``, ``prefill``: evaluate no trigger (nothing is invalid), and are not counted as host programs. ``begin`` evaluates it.
* ``write_bytes``: a partial write reads the old page only if there is one.
* ``write_bytes``: units of one request in the same pool share programs in address order, up to the size of a program. Units that need a
  read first are included.
* ``_run_job``: the last programs of a job are padded, one for each class that is left, as long as the job gains a program; else units of
  several classes share programs, in the order in which they were read.
* ``_leave``: a job leaves units only in a pool with more than the last free block.
* ``_step``: the units of a waiting victim are programmed as soon as only the last block is free, and it and the open blocks have less room
  than the programs that the job owes; with units of other classes where each class apart would take more programs than are left. If those
  do not fill a program, more is read first.
* ``_decide``: a job without a victim takes up the one that waits, and leaves nothing.
* ``_programs``, ``_send``: units of different classes share no program; each has the class of the moment when it came.
* ``_has_parity``: position of parity; it is programmed with the preceding program of data.
* ``prefill``, ``overwrite``: units that wait for a program of one pool share it, across requests. If a unit comes again, the waiting ones
  are programmed first.
* ``_write_page``: the stream of a host write is chosen before the write, and a victim is noted for placement when it is chosen.
* ``_stream_with_room``: without a free block, a move goes to the first of the other classes with an open block.
* ``fill``: does not note which stream has filled a block.
* ``_write_page``: if a die runs one job at a time (``turns``) and the host goes first, all pages of a request are written before the first
  job moves one.
* ``_write_programs``: where a request takes several programs of a pool, a job that one of them starts moves nothing before the next is
  written if the host goes first and the job does not exclude it. A job that excludes the host ends first, and then the host writes before
  the next job, which is decided when that write begins. If GC goes first, all jobs end first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from reference_buffer import ReferenceBuffer
from reference_streams import Stream, Streams

NOWHERE = -1
"""Place of a page without data, and owner of a place without valid data."""

Decides = Literal["landed", "started"]
"""When GC is decided for a host write that takes a free block, and its first victim is chosen. The old page of the write is then

``landed``: invalid, since the write has ended. This holds without time.
``started``: still valid, since the mapping changes when a program ends, while a block is taken when the program starts. This holds in a
simulated drive. The job starts at that moment too, but its first move waits for the die until the program has ended; if there was no victim
at the start, there may be one then.
"""


POLICIES = ["greedy", "wear-aware", "fifo", "cost-benefit"]


class OutOfSpace(Exception):
    """A host write needs a block, and garbage collection cannot provide one."""


class EndlessCollection(Exception):
    """Jobs without gain follow each other endlessly. This only happens with planted bugs."""


@dataclass
class Pool:
    """Blocks that share a free list, open blocks and garbage collection."""

    blocks: list[int]
    """All blocks of the pool, in the order of first use."""
    free: list[int]
    """Erased blocks; taken from the front, returned at the back."""
    open: dict[Stream, int] = field(default_factory=dict)
    """Open block of each stream that has one. With a shared frontier moves are in the host's."""
    starved: bool = False
    """Whether garbage collection ended because no block had an invalid page."""
    decided: int | None = None
    """The victim of a job that has started and moved nothing."""
    units_decided: int | None = None
    """Valid units of the victim when its job was decided, if that was before it begins."""
    host_first: bool = False
    """Whether a job is wanted that lets the host write that waits begin first."""
    waiting: int | None = None
    """The victim of a job that has left units for the next."""
    held: list[tuple[int, Stream]] = field(default_factory=list)
    """Units of the waiting victim that are in the controller's buffer, the oldest first, with the streams that they go to."""
    owed: int = 0
    """Programs that the units of the waiting victim may take."""
    log: list[int] = field(default_factory=list)
    """Blocks in the order of closing. A block may occur several times; its last entry counts."""


@dataclass
class Job:
    """The collection of a block."""

    victim: int
    owed: int
    """Programs that it may still take."""
    held: list[tuple[int, Stream]]
    """Units in the controller's buffer, the oldest first, with the streams that they go to."""
    unread: list[int] = field(default_factory=list)
    """First places of the flash pages of the victim that were not read."""
    programs: bool = False
    """Whether the last step was a program."""
    finishes: bool = False
    """Whether it has taken up the victim of an earlier job."""


class ReferenceFtl:
    """An untimed page-mapping FTL with garbage collection by any deterministic policy.

    With ``ftl.map_unit_bytes`` a page is a mapping unit in the descriptions below, except for a flash page, which has several.

    ``config`` is the simulator's configuration tree. Used keys are in ``device`` (``channels chips_per_channel dies_per_chip planes_per_die
    blocks_per_plane pages_per_block pages_per_program page_bytes overprovisioning``), ``ftl`` (``allocation pool frontier map_unit_bytes
    parity_stripe partial_write``), ``gc`` (``soft forced victim trigger
    invalid_share until turns scope priority``), ``buffer``, and in ``ftl`` those of data placement (``placement handles default_handle
    isolation hot_within``).
    """

    def __init__(self, config: dict[str, Any], *, decides: Decides = "landed") -> None:
        self.decides = decides
        self.ftl_keys: dict[str, Any] = config.get("ftl", {})
        device, ftl = config["device"], config.get("ftl", {})
        self.channels: int = device["channels"]
        self.chips_per_channel: int = device["chips_per_channel"]
        self.dies_per_chip: int = device["dies_per_chip"]
        self.planes_per_die: int = device["planes_per_die"]
        self.blocks_per_plane: int = device["blocks_per_plane"]
        self._read_pages(device, ftl, config.get("gc", {}))
        self.allocation = _one_of(ftl, "allocation", "CWDP", _permutations("CWDP"))
        self.pool_scope = _one_of(ftl, "pool", "plane", ["plane", "die"])
        self.frontier = _one_of(ftl, "frontier", "separate", ["separate", "shared"])
        partial = _one_of(ftl, "partial_write", "rmw", ["rmw", "program"])
        self.reads_before_partial_write = partial == "rmw"
        gc = config.get("gc", {})
        self.trigger = _one_of(gc, "trigger", "soft", ["soft", "invalid-share", "both"])
        self.invalid_share = Fraction(str(gc.get("invalid_share", 0.7)))
        self.until: int = gc.get("until", 0)
        self.victim = _one_of(gc, "victim", "greedy", POLICIES)
        turns = _one_of(gc, "turns", "step", ["step", "job"])
        self._read_order(gc, in_turn=turns == "job")
        self.carries = gc.get("leftover") == "carry" and self.program_units > 1

        self.pools = self._make_pools()
        self.soft_blocks = max(1, self._blocks(gc.get("soft", 0.05)))
        self.forced_blocks = self._blocks(gc.get("forced", 0.01))
        self.exported_pages = self._exported_pages(device["overprovisioning"])

        blocks = self.dies * self.planes_per_die * self.blocks_per_plane
        self.streams = Streams(ftl, self.exported_pages)
        self.filled_by: list[Stream | None] = [None] * blocks
        """The stream that fills each block, or has; ``None`` for those of the first fill."""
        self.place_of = [NOWHERE] * self.exported_pages
        """Physical page of each logical page."""
        self.owner_of = [NOWHERE] * (blocks * self.pages_per_block)
        """Logical page whose valid data each physical page holds."""
        self.written = [0] * blocks
        """Pages programmed in each block since its last erase."""
        self.stamps = [0] * blocks
        """Stamp of each block: when its number of valid pages last changed, or it was closed."""
        self.erases_of = [0] * blocks
        """Number of erases of each block."""
        self.clock = 0
        self._count_from_zero()
        self.on_their_way: list[dict[Stream, list[int]]] = [{} for _ in self.pools]
        """Units that wait for a full program, by pool and stream, while nothing takes time."""
        self.collecting: set[int] = set()
        """Dies with a job that started and ends only after the present request."""
        self.waits_for_turn = 0
        """Number of jobs that waited for a job of another pool on their die."""
        self.buffer = ReferenceBuffer(self, config["buffer"]) if config.get("buffer", {}).get("bytes", 0) > 0 else None

    def _read_order(self, gc: dict[str, Any], *, in_turn: bool) -> None:
        self.scope: str = gc.get("scope", "chip")
        # larger scopes have one job at a time, whatever `turns` is
        self.jobs_in_turn = in_turn and self.scope in ("plane", "block", "none")
        self.host_goes_first = gc.get("priority") in ("fifo", "host")

    def _read_pages(self, device: dict[str, Any], ftl: dict[str, Any], gc: dict[str, Any]) -> None:
        flash_page_bytes: int = device.get("page_bytes", 4096)
        self.page_bytes: int = ftl.get("map_unit_bytes", flash_page_bytes)
        self.units: int = flash_page_bytes // self.page_bytes
        """Units in a flash page, which are read together."""
        self.program_units: int = self.units * device.get("pages_per_program", 1)
        """Units that are programmed together."""
        self.moves_in_flight: int = gc.get("moves_in_flight", 1)
        """Programs that a job can fill before it begins the first."""
        self.pages_per_block: int = device["pages_per_block"] * self.units
        self.parity_stripe: int = ftl.get("parity_stripe", 0)
        self._data: dict[int, dict[int, int]] = {}  # see `_pages_of_data`
        """Programs per parity stripe, one of which holds parity; 0 without parity."""

    def _count_from_zero(self) -> None:
        self.host_programs = 0
        self.gc_programs = 0
        self.erases = 0
        self.jobs = 0
        self.rmw_reads = 0
        self.trimmed_pages = 0
        self.victim_fallbacks = 0
        self.padded_units = 0
        self.parity_programs = 0
        self.carried_units = 0

    # geometry

    @property
    def dies(self) -> int:
        """Number of dies of the device."""
        return self.channels * self.chips_per_channel * self.dies_per_chip

    def _make_pools(self) -> list[Pool]:
        if self.pool_scope == "plane":
            planes = range(self.dies * self.planes_per_die)
            blocks_by_pool = [self._blocks_of_plane(plane) for plane in planes]
        else:
            blocks_by_pool = [self._blocks_of_die(die) for die in range(self.dies)]
        return [Pool(blocks, list(blocks)) for blocks in blocks_by_pool]

    def _blocks_of_plane(self, plane: int) -> list[int]:
        first = plane * self.blocks_per_plane
        return list(range(first, first + self.blocks_per_plane))

    def _blocks_of_die(self, die: int) -> list[int]:
        """The first block of each plane, then the second of each, and so on."""
        first_plane = die * self.planes_per_die
        planes = range(first_plane, first_plane + self.planes_per_die)
        by_plane = [self._blocks_of_plane(plane) for plane in planes]
        return [block for row in zip(*by_plane, strict=True) for block in row]

    def _has_parity(self, block: int, page: int) -> bool:
        """Whether a page of a block holds parity.

        A block is divided into stripes of programs; an incomplete last stripe has no parity. The position of parity in a stripe depends on
        the die, and is never the first.
        """
        if self.parity_stripe == 0:
            return False
        stripe, place = divmod(page // self.program_units, self.parity_stripe)
        whole = self.pages_per_block // self.program_units // self.parity_stripe
        die = block // self.blocks_per_plane // self.planes_per_die
        return stripe < whole and place == 1 + die % (self.parity_stripe - 1)

    def _pages_of_data(self, block: int) -> Mapping[int, int]:
        """The pages of a block that can hold data, each with its place among them. They never change, so they are listed once."""
        if block not in self._data:
            pages = (page for page in range(self.pages_per_block) if not self._has_parity(block, page))
            self._data[block] = {page: place for place, page in enumerate(pages)}
        return self._data[block]

    def _exported_pages(self, overprovisioning: float) -> int:
        """Number of exported pages, with the same number of flash pages from each pool."""
        pages = sum(len(pool.blocks) for pool in self.pools) * self.pages_per_block
        exported = math.floor(pages * (1.0 - overprovisioning))
        stripe = len(self.pools) * self.program_units
        return exported // stripe * stripe

    def _blocks(self, value: float) -> int:
        """A threshold in blocks: values below 1 are a share of the pool, others a number."""
        blocks = value * len(self.pools[0].blocks) if value < 1.0 else value
        return math.floor(blocks + 0.5)

    def pool_of(self, lpn: int) -> int:
        """Index of the pool of logical page ``lpn``."""
        if self.pool_scope == "die":
            return self._die_of(lpn)
        return self._die_of(lpn) * self.planes_per_die + self._coordinates(lpn)["P"]

    def _die_of(self, lpn: int) -> int:
        """Index of the die of logical page ``lpn``."""
        at = self._coordinates(lpn)
        chip = at["C"] * self.chips_per_channel + at["W"]
        return chip * self.dies_per_chip + at["D"]

    def _coordinates(self, lpn: int) -> dict[str, int]:
        """Channel, way, die and plane of a logical page; the first letter changes fastest.

        A pool that spans the planes of a die leaves the plane open.
        """
        sizes = {
            "C": self.channels,
            "W": self.chips_per_channel,
            "D": self.dies_per_chip,
            "P": self.planes_per_die,
        }
        lpn //= self.units
        coordinates = {}
        for letter in self.allocation:
            if letter == "P" and self.pool_scope == "die":
                continue
            coordinates[letter] = lpn % sizes[letter]
            lpn //= sizes[letter]
        return coordinates

    # host operations

    def fill(self) -> None:
        """Writes every exported page of an erased device once, in address order."""
        self.prefill([(0, self.exported_pages * self.page_bytes)], first=True)

    def prefill(self, ranges: list[tuple[int, int]], *, first: bool = False) -> None:
        """Writes every page that ranges of bytes of an erased device touch once, in order.

        A range is an offset and a length; ranges may overlap. `first`: this is the first fill of all pages.
        """
        if any(self.written):
            raise ValueError("only an erased device can be filled")
        for offset, length in ranges:
            self._check_range(offset, length)
            for lpn in range(offset // self.page_bytes, self._page_after(offset + length)):
                if self.place_of[lpn] == NOWHERE and not any(lpn in way for way in self.on_their_way[self.pool_of(lpn)].values()):
                    self._send(lpn, self._fill_page)
        for ways in self.on_their_way:
            for stream, way in sorted(ways.items()):
                self._fill_page(way, stream)
                way.clear()
        if first:
            self.filled_by = [None] * len(self.filled_by)
            self.streams = Streams(self.ftl_keys, self.exported_pages)
            self.streams.filled()
            for pool in self.pools:
                pool.open = {self.streams.of_fill(): block for block in pool.open.values()}
        self.padded_units = self.parity_programs = 0  # pages without data are not counted either

    def overwrite(self, lpn: int) -> None:
        """Queues one logical page for a program, while nothing takes time."""
        self._check_page(lpn)
        self.collecting.clear()
        self._send(lpn, self._write_page)

    def _send(self, lpn: int, write: Callable[[list[int], Stream], None]) -> None:
        """Writes the queued units of the pool and stream of ``lpn`` once they fill a program."""
        ways = self.on_their_way[self.pool_of(lpn)]
        for stream, way in ways.items():
            if lpn in way:
                write(way, stream)
                way.clear()
        stream = self._stream_of(lpn, None)
        way = ways.setdefault(stream, [])
        way.append(lpn)
        if len(way) == self.program_units:
            write(way, stream)
            way.clear()

    def _stream_of(self, lpn: int, handle: int | None) -> Stream:
        return self.streams.of_host(lpn, handle, is_new=self.place_of[lpn] == NOWHERE)

    def _fill_page(self, lpns: list[int], stream: Stream) -> None:
        if lpns:
            pool = self.pools[self.pool_of(lpns[0])]
            self._open_host_block(pool, stream)
            self._program_page(pool, lpns, pool.open[stream])
            self._note_written(lpns)

    def begin(self) -> None:
        """Starts GC in every pool that is short of free blocks."""
        for pool in self.pools:
            self._collect(pool)

    def write(self, lpn: int) -> None:
        """Writes one logical page."""
        self._check_page(lpn)
        self.collecting.clear()
        self._write_page([lpn], self._stream_of(lpn, None))

    def trim(self, lpn: int) -> None:
        """Trims one logical page."""
        self._check_page(lpn)
        place = self.place_of[lpn]
        if place == NOWHERE:
            return
        self.place_of[lpn] = NOWHERE
        self.trimmed_pages += 1
        self._invalidate(place)
        pool = self.pools[self.pool_of(lpn)]
        if pool.starved:
            self._collect(pool)

    def write_units(self, lpns: list[int]) -> None:
        """Writes units of one pool that share a program."""
        self._write_page(lpns, self._stream_of(lpns[0], None))

    def holds_data(self, lpn: int) -> bool:
        """Whether a logical page has a place in flash."""
        return self.place_of[lpn] != NOWHERE

    def read_bytes(self, offset: int, length: int) -> None:
        """Reads a range of bytes, which only changes a write buffer."""
        self._check_range(offset, length)
        if self.buffer:
            self.buffer.read(offset, length)

    def flush(self) -> None:
        """Writes all buffered data to flash."""
        self.collecting.clear()
        if self.buffer:
            self.buffer.flush()

    def write_bytes(self, offset: int, length: int, handle: int | None = None) -> None:
        """Writes a range of bytes: every page that it touches, in address order."""
        self._check_range(offset, length)
        self.collecting.clear()
        if self.buffer:
            self.buffer.write(offset, length)
            return
        lpns = range(offset // self.page_bytes, self._page_after(offset + length))
        for lpn in lpns:
            if not self._wholly_inside(lpn, offset, length):
                self._read_for_partial_write(lpn)
        by_pool: dict[int, list[tuple[list[int], Stream]]] = {}
        for program in self._programs(lpns, handle):
            by_pool.setdefault(self.pool_of(program[0][0]), []).append(program)
        for programs in by_pool.values():
            self._write_programs(programs)

    def _programs(self, lpns: range, handle: int | None) -> list[tuple[list[int], Stream]]:
        """The pages of a request by program, in the order of their first pages, each with its stream."""
        programs: list[tuple[list[int], Stream]] = []
        last_of: dict[tuple[int, Stream], list[int]] = {}
        for lpn in lpns:
            stream = self._stream_of(lpn, handle)
            to = (self.pool_of(lpn), stream)
            program = last_of.get(to, [])
            if len(program) % self.program_units == 0:
                program = last_of[to] = []
                programs.append((program, stream))
            program.append(lpn)
        return programs

    def trim_bytes(self, offset: int, length: int) -> None:
        """Trims the pages that lie completely inside a range of bytes."""
        self._check_range(offset, length)
        if self.buffer:
            self.buffer.trim(offset, length)
        for lpn in range(offset // self.page_bytes, self._page_after(offset + length)):
            if self._wholly_inside(lpn, offset, length):
                self.trim(lpn)

    def _page_after(self, end: int) -> int:
        """The first page that begins at or after byte ``end``."""
        return math.ceil(end / self.page_bytes)

    def _wholly_inside(self, lpn: int, offset: int, length: int) -> bool:
        begins = lpn * self.page_bytes
        return offset <= begins and begins + self.page_bytes <= offset + length

    def _read_for_partial_write(self, lpn: int) -> None:
        if self.reads_before_partial_write and self.place_of[lpn] != NOWHERE:
            self.rmw_reads += 1

    def _check_page(self, lpn: int) -> None:
        if not 0 <= lpn < self.exported_pages:
            raise ValueError(f"page {lpn} is not one of {self.exported_pages}")

    def _check_range(self, offset: int, length: int) -> None:
        exported = self.exported_pages * self.page_bytes
        if offset < 0 or length < 0 or offset + length > exported:
            raise ValueError(f"{length} bytes at {offset} exceed {exported} bytes")

    # writing

    def _write_programs(self, programs: list[tuple[list[int], Stream]]) -> None:
        """Writes the programs of a request that go to one pool."""
        for number, (lpns, stream) in enumerate(programs):
            self._write_page(lpns, stream, last=number == len(programs) - 1)

    def _write_page(self, lpns: list[int], stream: Stream, *, last: bool = True) -> None:
        """Writes the units of one program. ``last``: no other program of the request waits for the pool."""
        pool = self.pools[self.pool_of(lpns[0])]
        jobs = self.jobs
        self._run_jobs_ahead(pool, stream)
        stream = self._stream_now(pool, stream)
        took_a_block = self._open_host_block(pool, stream)
        decides = pool.decided is None and (took_a_block or pool.host_first)
        if decides and self.decides == "started":
            # the page's old place is not invalid yet
            decides = self._wants_job(pool)
            # a job whose turn comes later chooses its victim after this write
            waits = decides and self._waits_for_turn(lpns[0])
            self.waits_for_turn += waits
            if decides and not waits:
                self._decide(pool)
        pool.host_first = False
        self._program_page(pool, lpns, pool.open[stream])
        self._note_written(lpns)
        self.host_programs += len(lpns)
        begun = pool.decided is not None
        if last and begun:
            self._run_decided(pool)
        if last and (begun or decides or pool.starved):
            self._collect(pool, begun=begun)
        elif pool.starved:
            self._decide(pool)
        if self.host_goes_first and self.jobs > jobs:
            self.collecting.add(self._die_of(lpns[0]))

    def _decide(self, pool: Pool) -> None:
        """Starts a job, which moves nothing yet."""
        pool.decided = self._victim(pool)
        if pool.decided is None:
            pool.decided = pool.waiting
        pool.units_decided = None if pool.decided is None else self.valid_pages(pool.decided)
        pool.starved = pool.decided is None

    def _run_decided(self, pool: Pool) -> None:
        """Runs the job that has started."""
        assert pool.decided is not None
        victim, pool.decided = pool.decided, None
        self._run_job(pool, victim)

    def _run_jobs_ahead(self, pool: Pool, stream: Stream) -> None:
        """Runs the jobs that have started, or start next, and go ahead of a host write."""
        while pool.decided is not None and not self._goes_ahead(pool, stream):
            self._run_decided(pool)
            barrier = self.scope not in ("none", "block") and self._has_room(pool, stream)
            if self._goes_on(pool) or (self._wants_collection(pool) and not barrier):
                self._decide(pool)
            else:
                pool.host_first = self._wants_collection(pool)

    def _goes_ahead(self, pool: Pool, stream: Stream) -> bool:
        """Whether a host write begins before a job that has started moves anything."""
        return self.host_goes_first and not self._excludes(pool, stream) and self._has_room(pool, stream)

    def _has_room(self, pool: Pool, stream: Stream) -> bool:
        return self._stream_now(pool, stream) in pool.open or len(pool.free) > 1

    def _excludes(self, pool: Pool, stream: Stream) -> bool:
        """Whether the job that has started excludes a host write."""
        if self.scope == "plane" and self.pool_scope == "die":
            assert pool.decided is not None
            block = pool.open.get(stream, pool.free[0])
            assert pool.decided is not None
            return block // self.blocks_per_plane == pool.decided // self.blocks_per_plane
        return self.scope not in ("none", "block")

    def _stream_now(self, pool: Pool, stream: Stream) -> Stream:
        """The stream that a host write goes to: while a job is active, with a shared frontier and scope `block`, one of its own."""
        redirected = pool.decided is not None and self.scope == "block" and self.frontier == "shared"
        return ("redirected" if redirected else "host", stream[1])

    def _waits_for_turn(self, lpn: int) -> bool:
        """Whether another pool of the die has a job, if a die runs one at a time."""
        return self.jobs_in_turn and self._die_of(lpn) in self.collecting

    def _note_written(self, lpns: list[int]) -> None:
        for lpn in lpns:
            self.streams.written(lpn)

    def _open_host_block(self, pool: Pool, stream: Stream) -> bool:
        """Ensures an open block for a stream of host writes; returns whether one was taken now."""
        if stream not in pool.open and len(pool.free) < 2:
            self._collect(pool)
        # with a shared frontier, GC may have opened the host's block
        if stream in pool.open:
            return False
        if len(pool.free) < 2:
            raise OutOfSpace("the last free block is for garbage collection only")
        self._open(pool, stream)
        return True

    def _open(self, pool: Pool, stream: Stream) -> None:
        block = pool.open[stream] = pool.free.pop(0)
        self.filled_by[block] = stream
        self.streams.opened(block)

    def _program_page(self, pool: Pool, lpns: list[int], block: int) -> None:
        """Writes units to the next flash page of ``block``."""
        for lpn in lpns:
            self._program(pool, lpn, block)
        self._pad(pool, block)

    def _pad(self, pool: Pool, block: int) -> None:
        """Leaves the rest of a flash page without data."""
        padding = -self.written[block] % self.program_units
        self.padded_units += padding
        self.written[block] += padding
        if padding:
            self._program_ended(pool, block)

    def _program(self, pool: Pool, lpn: int, block: int) -> None:
        """Writes ``lpn`` to the next page of ``block``, which is closed when it is full."""
        new = block * self.pages_per_block + self.written[block]
        old = self.place_of[lpn]
        self.written[block] += 1
        self.owner_of[new] = lpn
        self.place_of[lpn] = new
        if old != NOWHERE:
            self._invalidate(old)
        if self.written[block] % self.program_units == 0:
            self._program_ended(pool, block)

    def _program_ended(self, pool: Pool, block: int) -> None:
        """Writes parity at its position, and closes a full block."""
        if self.written[block] < self.pages_per_block and self._has_parity(block, self.written[block]):
            self.written[block] += self.program_units
            self.parity_programs += 1
        if self.written[block] == self.pages_per_block:
            self._close(pool, block)

    def _invalidate(self, ppn: int) -> None:
        self.owner_of[ppn] = NOWHERE
        self._stamp(ppn // self.pages_per_block)

    def _close(self, pool: Pool, block: int) -> None:
        """Closes an open block. The next block is taken when the next page needs it."""
        self._stamp(block)
        pool.log.append(block)
        pool.open = {stream: other for stream, other in pool.open.items() if other != block}

    def _stamp(self, block: int) -> None:
        self.clock += 1
        self.stamps[block] = self.clock

    # garbage collection

    def _collect(self, pool: Pool, *, begun: bool = False) -> None:
        """Runs jobs until there are enough free blocks, or no gain.

        ``begun``: whether a job has just ended.
        """
        pool.starved = False
        # each job gains at least one invalid page
        most = self.jobs + len(pool.blocks) * self.pages_per_block
        while self._wants_collection(pool) or (begun and self._goes_on(pool)):
            if self.jobs > most:
                raise EndlessCollection
            self._decide(pool)
            if pool.decided is None:
                pool.starved = self._wants_collection(pool)
                return
            pool.units_decided = None
            self._run_decided(pool)
            begun = True

    def _goes_on(self, pool: Pool) -> bool:
        """Whether an episode continues: it lasts until there are ``until`` more blocks than needed."""
        enough = {"soft": max(self.soft_blocks, 2), "invalid-share": 2, "both": max(self.forced_blocks, 2)}[self.trigger]
        return self.until > 0 and len(pool.free) < enough + self.until

    def _wants_job(self, pool: Pool) -> bool:
        """Whether a job begins with a write that takes a block."""
        return self._wants_collection(pool)

    def _wants_collection(self, pool: Pool) -> bool:
        return self._trigger_fires(pool) or len(pool.free) <= 1

    def _trigger_fires(self, pool: Pool) -> bool:
        if self.trigger == "soft":
            return len(pool.free) < self.soft_blocks
        if self.trigger == "both":
            forced = len(pool.free) < self.forced_blocks
            return forced or (len(pool.free) < self.soft_blocks and self._has_invalid_block(pool))
        return self._has_invalid_block(pool)

    def _has_invalid_block(self, pool: Pool) -> bool:
        gaining = [block for block in self._closed(pool) if self._can_be_victim(block)]
        return any(self._invalid_share(b) > self.invalid_share for b in gaining)

    def _invalid_share(self, block: int) -> Fraction:
        """Share of invalid pages among the data pages of a block; parity is no gain."""
        pages = len(self._pages_of_data(block))
        return Fraction(pages - self.valid_pages(block), pages)

    def _victim(self, pool: Pool) -> int | None:
        """The policy's choice among the closed blocks with an invalid page; ``None`` without any."""
        victim = self._choice(pool)
        if victim is not None:
            self.streams.collected(victim, self.filled_by[victim])
        return victim

    def _choice(self, pool: Pool) -> int | None:
        candidates = [block for block in pool.blocks if self._can_be_victim(block)]
        if not candidates:
            return None
        if self.victim == "wear-aware":
            return self._least_worn(pool, candidates)
        if self.victim == "fifo":
            return self._next_in_the_log(pool)
        if self.victim == "cost-benefit":
            return self._best_bargain(pool, candidates)
        return self._greedy(candidates)

    def _greedy(self, candidates: list[int]) -> int:
        """The block with the fewest valid pages.

        Among equals, the block whose number of valid pages has not changed for longest.
        """
        return min(candidates, key=lambda b: (self.valid_pages(b), self.stamps[b]))

    def _least_worn(self, pool: Pool, candidates: list[int]) -> int:
        """The greedy choice among blocks not erased more often than the pool's average, if any."""
        average = Fraction(sum(self.erases_of[b] for b in pool.blocks), len(pool.blocks))
        spared = [block for block in candidates if self.erases_of[block] <= average]
        if not spared:
            self.victim_fallbacks += 1
            return self._greedy(candidates)
        return self._greedy(spared)

    def _next_in_the_log(self, pool: Pool) -> int:
        """The block closed first; a block without gain goes to the end of the log."""
        while True:
            oldest = max(self._closed(pool), key=lambda block: self._age(pool, block))
            if self._can_be_victim(oldest):
                return oldest
            pool.log.append(oldest)

    def _best_bargain(self, pool: Pool, candidates: list[int]) -> int:
        """The block with the largest (1 - u) / 2u x age; a block without valid pages comes before all others.

        Among equals, the greedy choice.
        """
        empty = [block for block in candidates if self.valid_pages(block) == 0]
        if empty:
            return self._greedy(empty)
        worth = {block: self._worth(pool, block) for block in candidates}
        best = max(worth.values())
        return self._greedy([block for block in candidates if worth[block] == best])

    def _worth(self, pool: Pool, block: int) -> Fraction:
        u = Fraction(self.valid_pages(block), len(self._pages_of_data(block)))
        return (1 - u) / (2 * u) * self._age(pool, block)

    def _age(self, pool: Pool, block: int) -> int:
        """Number of blocks of the pool closed after this one."""
        return pool.log[::-1].index(block)

    def _closed(self, pool: Pool) -> list[int]:
        return [b for b in pool.blocks if self.written[b] == self.pages_per_block and b != pool.waiting]

    def _can_be_victim(self, block: int) -> bool:
        # free blocks have no written pages, and open blocks are not full
        closed = self.written[block] == self.pages_per_block
        data = len(self._pages_of_data(block))
        waits = any(pool.waiting == block for pool in self.pools)
        return closed and not waits and self.valid_pages(block) <= data - self.program_units

    def valid_pages(self, block: int) -> int:
        """Number of valid pages in ``block``."""
        return sum(self.owner_of[ppn] != NOWHERE for ppn in self._pages_of(block))

    def _pages_of(self, block: int) -> range:
        first = block * self.pages_per_block
        return range(first, first + self.pages_per_block)

    def _run_job(self, pool: Pool, victim: int) -> None:
        """Moves the valid pages in order, and erases the block, or leaves the last units for the next job."""
        units = self.valid_pages(victim) if pool.units_decided is None else pool.units_decided
        pool.units_decided = None
        job = Job(victim, pool.owed, [unit for unit in pool.held if self.place_of[unit[0]] // self.pages_per_block == pool.waiting])
        if victim == pool.waiting:
            pool.waiting, job.finishes = None, True
        else:
            job.owed += self._most_programs(victim, units)
            job.unread = list(self._pages_of(victim)[:: self.units])
        pool.held, pool.owed = [], 0
        while self._step(pool, job):
            pass
        self.jobs += 1

    def _step(self, pool: Pool, job: Job) -> bool:
        """The next step of a job; returns whether it goes on."""
        if pool.waiting is not None and self.valid_pages(pool.waiting) == 0:
            self._free(pool, pool.waiting)
            pool.waiting, job.programs = None, False
            job.owed = min(job.owed, self._most_programs(job.victim, self.valid_pages(job.victim)))
            return True
        while job.unread and not self._units_of_page(job.unread[0]):
            job.unread.pop(0)
        filled = self._filled(job.held)
        short = pool.waiting is not None and len(pool.free) <= 1 and self._room(pool) < job.owed * self.program_units
        if not short and filled and (filled >= self.moves_in_flight or job.programs or not job.unread):
            self._program_next(pool, job)
        elif pool.waiting is not None and (short or not job.unread):
            self._program_waiting(pool, job)
        elif job.unread:
            self._read(job)
        elif not job.held:
            self._free(pool, job.victim)
            return False
        elif self.carries and len(pool.free) > 1 and not job.finishes:
            self._leave(pool, job)
            return False
        else:
            self._program_next(pool, job)
        return True

    def _units_of_page(self, first: int) -> list[int]:
        """The units that a flash page of the victim still holds."""
        return [self.owner_of[ppn] for ppn in range(first, first + self.units) if self.owner_of[ppn] != NOWHERE]

    def _read(self, job: Job) -> None:
        lpns = self._units_of_page(job.unread.pop(0))
        job.held += [(lpn, self.streams.of_move(lpn, self.filled_by[job.victim])) for lpn in lpns]
        job.programs = False

    def _leave(self, pool: Pool, job: Job) -> None:
        """Leaves the units that fill no program, and the victim, for the next job."""
        pool.waiting, pool.held = job.victim, job.held
        pool.owed = min(job.owed, len(self._by_stream(job.held)))
        self.carried_units += len(job.held)

    def _program_waiting(self, pool: Pool, job: Job) -> None:
        """Programs the oldest unit of the waiting victim, or reads on if those that go along do not fill a program."""
        assert pool.waiting is not None
        stream, each = job.held[0][1], self.program_units
        own, left = self.valid_pages(pool.waiting), self.valid_pages(pool.waiting) + self.valid_pages(job.victim)
        together = [lpn for lpn, other in job.held if other == stream][:each]
        of_waiting = sum(self.place_of[lpn] // self.pages_per_block == pool.waiting for lpn in together)
        apart = left - len(together) <= (job.owed - 1) * each and own - of_waiting <= (self._room(pool) // each - 1) * each
        if not apart and job.unread and len(job.held) < each:
            self._read(job)
        else:
            self._move_together(pool, job, stream, mixed=not apart)

    def _room(self, pool: Pool) -> int:
        """Units that a job can program in the open blocks that it fills, and in free blocks."""
        writer = "host" if self.streams.shares else "move"
        open_blocks = [pool.open[stream] for stream in pool.open if stream[0] == writer and stream[1] < self.streams.move_classes]
        rests = [sum(page >= self.written[block] for page in self._pages_of_data(block)) for block in open_blocks]
        return sum(rests) + sum(len(self._pages_of_data(block)) for block in pool.free)

    def _most_programs(self, victim: int, units: int) -> int:
        """The most programs that a job takes, so that it gains one if its units fit into fewer."""
        of_block = len(self._pages_of_data(victim)) // self.program_units
        classes = self.streams.move_classes if self.streams.parts_programs else 1
        apart = (units + classes * (self.program_units - 1)) // self.program_units if units else 0
        return min(apart, max(math.ceil(units / self.program_units), of_block - 1))

    def _by_stream(self, held: list[tuple[int, Stream]]) -> dict[Stream, int]:
        """Number of units of each stream, in the order of their first units."""
        counts: dict[Stream, int] = {}
        for _, stream in held:
            counts[stream] = counts.get(stream, 0) + 1
        return counts

    def _filled(self, held: list[tuple[int, Stream]]) -> int:
        """Number of programs that units fill."""
        return sum(count // self.program_units for count in self._by_stream(held).values())

    def _program_next(self, pool: Pool, job: Job) -> None:
        """Programs the units of a class that fills a program, of several that of the oldest unit; if none does, the oldest."""
        counts = self._by_stream(job.held)
        full = [stream for stream, count in counts.items() if count >= self.program_units]
        self._move_together(pool, job, (full or list(counts))[0], mixed=not full and len(counts) > job.owed)

    def _move_together(self, pool: Pool, job: Job, stream: Stream, *, mixed: bool) -> None:
        """Programs units of a stream, or of all streams (`mixed`), the oldest first."""
        moved = [unit for unit in job.held if mixed or unit[1] == stream][: self.program_units]
        to = self._stream_with_room(pool, stream)
        block = pool.open[to]
        job.owed, job.programs = job.owed - 1, True
        for unit in moved:
            job.held.remove(unit)
            self.streams.displaced += unit[1] != to
            self._program(pool, unit[0], block)
            self.gc_programs += 1
        # no padding is needed if the last unit filled its block
        if block in pool.open.values():
            self._pad(pool, block)

    def _stream_with_room(self, pool: Pool, stream: Stream) -> Stream:
        """The stream of a program of moves, which has an open block. That may be the pool's last free one."""
        if stream not in pool.open and not pool.free:
            others = ((stream[0], other) for other in range(self.streams.move_classes))
            return next(other for other in others if other in pool.open)
        if stream not in pool.open:
            self._open(pool, stream)
        return stream

    def _free(self, pool: Pool, block: int) -> None:
        self._erase(block)
        pool.free.append(block)

    def _erase(self, block: int) -> None:
        assert self.valid_pages(block) == 0
        self.written[block] = 0
        self.erases_of[block] += 1
        self.erases += 1

    # state that can be compared

    def mapping(self) -> list[int]:
        """Physical page of each logical page, or -1. Only data pages are counted."""
        return [self._number_of(place) for place in self.place_of]

    def _number_of(self, place: int) -> int:
        if place == NOWHERE or self.parity_stripe == 0:
            return place
        block, page = divmod(place, self.pages_per_block)
        data = self._pages_of_data(block)
        return block * len(data) + data[page]

    def erase_counts(self) -> list[int]:
        """Number of erases of each block."""
        return list(self.erases_of)

    def free_lists(self) -> list[list[int]]:
        """Free blocks of each pool, the next one to be used first."""
        return [list(pool.free) for pool in self.pools]

    def check(self) -> None:
        """Asserts invariants that hold between any two operations."""
        places = [place for place in self.place_of if place != NOWHERE]
        owners = [lpn for lpn in self.owner_of if lpn != NOWHERE]
        assert len(places) == len(set(places)) == len(owners)
        for lpn, place in enumerate(self.place_of):
            assert place == NOWHERE or self.owner_of[place] == lpn
        for number, pool in enumerate(self.pools):
            self._check_pool(number, pool)

    def _check_pool(self, number: int, pool: Pool) -> None:
        assert len(set(pool.free)) == len(pool.free)
        assert set(pool.free) <= set(pool.blocks)
        assert all(self.written[block] == 0 for block in pool.free)
        frontiers = set(pool.open.values())
        for block in pool.blocks:
            if block not in frontiers and block not in pool.free:
                assert self.written[block] == self.pages_per_block
            for ppn in self._pages_of(block):
                lpn = self.owner_of[ppn]
                assert lpn == NOWHERE or self.pool_of(lpn) == number
                programmed = ppn % self.pages_per_block < self.written[block]
                assert lpn == NOWHERE or programmed
                assert lpn == NOWHERE or not self._has_parity(block, ppn % self.pages_per_block)


def _one_of(section: dict[str, Any], key: str, default: str, values: list[str]) -> str:
    """The value of ``key``, which must be one that this reference implements."""
    value = section.get(key, default)
    if value not in values:
        raise ValueError(f"{key} = {value!r} is none of {values}")
    return str(value)


def _permutations(letters: str) -> list[str]:
    if not letters:
        return [""]
    return [first + rest for first in letters for rest in _permutations(letters.replace(first, ""))]
