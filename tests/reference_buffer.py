"""A slow and simple write buffer, in front of the reference FTL.

It has no time: after each request, all work that does not wait for another request is done. Choices that the model's description leaves
open:

* ``write``: all units of a request enter before any is programmed, as far as there is room.
* ``_make_room``: if a write waits for room, full programs of all pools are written first; without any, all units for the pool of the
  oldest unit are written. If ``drain`` is not full, or with a ``timeout``, this depends on time, so the buffer must have room for each
  request. If it has not, a request must be of one unit: of several, two programs may go to one pool, and time decides how far the jobs
  that the first sets off are when the second comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reference_ftl import ReferenceFtl

SCATTERED = (1, 1)
"""Written bytes of a unit with several separate written parts."""


@dataclass
class Waiting:
    """A unit in the buffer."""

    lpn: int
    written: tuple[int, int]
    """Range of written bytes: first, and one past the last."""


class ReferenceBuffer:
    """A write buffer with the settings in ``buffer`` of a configuration."""

    def __init__(self, ftl: ReferenceFtl, config: dict[str, Any]) -> None:
        self.ftl = ftl
        self.room: int = min(config["bytes"] // ftl.page_bytes, ftl.exported_pages)
        self.keeps = config.get("drain", "full") == "full" and config.get("timeout_us", 0) == 0
        """Whether units that do not fill a program stay in the buffer."""
        self.waiting: list[Waiting] = []
        """Units in the buffer, oldest first."""
        self.noted: list[int] = []
        """Pools that units were added for since full programs were last written, in order."""
        self.units = 0
        self.rewrites = 0
        self.trimmed = 0
        self.read_hits = 0
        self.fills = 0
        self.programs = 0
        self.part_programs = 0

    def write(self, offset: int, length: int) -> None:
        """Writes a range of bytes."""
        for lpn, written in self._parts(offset, length):
            self._put(lpn, written)
        self._program_full()
        if not self.keeps:
            self.flush()

    def read(self, offset: int, length: int) -> None:
        """Reads a range of bytes. A unit that lacks some of the requested bytes is completed from flash."""
        for lpn, (first, end) in self._parts(offset, length):
            for unit in self._units_of(lpn):
                self.read_hits += 1
                if not (unit.written[0] <= first and end <= unit.written[1]):
                    self._complete(unit)

    def trim(self, offset: int, length: int) -> None:
        """Drops the units that lie completely inside a range of bytes."""
        for lpn, part in self._parts(offset, length):
            if part == self._whole():
                dropped = self._units_of(lpn)
                self.trimmed += len(dropped)
                self.waiting = [unit for unit in self.waiting if unit not in dropped]

    def flush(self) -> None:
        """Programs all units."""
        while self.waiting:
            self._program(self._pool(self.waiting[0]))

    def _whole(self) -> tuple[int, int]:
        return (0, self.ftl.page_bytes)

    def _parts(self, offset: int, length: int) -> list[tuple[int, tuple[int, int]]]:
        """The units that a range of bytes touches, with the touched range of each."""
        size = self.ftl.page_bytes
        units = range(offset // size, -(-(offset + length) // size))
        return [(lpn, (max(offset - lpn * size, 0), min(offset + length - lpn * size, size))) for lpn in units]

    def _units_of(self, lpn: int) -> list[Waiting]:
        return [unit for unit in self.waiting if unit.lpn == lpn]

    def _pool(self, unit: Waiting) -> int:
        return self.ftl.pool_of(unit.lpn)

    def _put(self, lpn: int, written: tuple[int, int]) -> None:
        self.units += 1
        for unit in self._units_of(lpn):
            self.rewrites += 1
            unit.written = self._joined(unit.written, written)
            return
        while len(self.waiting) == self.room:
            self._make_room()
        self.waiting.append(Waiting(lpn, written))
        self.noted.append(self.ftl.pool_of(lpn))

    def _joined(self, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
        if self._whole() in (a, b):
            return self._whole()
        if SCATTERED in (a, b) or a[1] < b[0] or b[1] < a[0]:
            return SCATTERED
        return (min(a[0], b[0]), max(a[1], b[1]))

    def _make_room(self) -> None:
        if not self._program_full():
            self._program(self._pool(self.waiting[0]))

    def _program_full(self) -> bool:
        """Programs full programs, pool by pool. Returns whether there were any."""
        before = self.programs
        for pool in dict.fromkeys(self.noted):
            while sum(self._pool(unit) == pool for unit in self.waiting) >= self.ftl.program_units:
                self._program(pool)
        self.noted.clear()
        return self.programs > before

    def _program(self, pool: int) -> None:
        """Programs the oldest units of a pool, at most as many as fill a program."""
        chosen = [unit for unit in self.waiting if self._pool(unit) == pool][: self.ftl.program_units]
        for unit in chosen:
            if self.ftl.reads_before_partial_write:
                self._complete(unit)
        self.waiting = [unit for unit in self.waiting if unit not in chosen]
        self.programs += 1
        self.part_programs += len(chosen) < self.ftl.program_units
        self.ftl.write_units([unit.lpn for unit in chosen])

    def _complete(self, unit: Waiting) -> None:
        """Reads the missing bytes of a unit from flash, if it has data there."""
        if unit.written != self._whole() and self.ftl.holds_data(unit.lpn):
            self.fills += 1
            unit.written = self._whole()
