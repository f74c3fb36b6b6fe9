"""A slow and simple drive with a cache of blocks in SLC mode and a part of its mapping table in memory, against which the core is compared.

It adds the rules of docs/model/mapping-cache.md to `reference_slc`, and was written from them. The drive has one die with one pool, serves
its operations in the order in which they come, and its jobs ahead of all. So their order says what time would say.

Choices that the rules leave open, by function:

* ``_command``: a page that is replaced is written, then the missing one is read, then the command goes on.
* ``_begin_update``: a translation page that was never written is written without a read.
* ``fill``: the translation pages are written behind the pages of the host.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from reference_ftl import NOWHERE, Pool
from reference_slc import ReferenceSlc
from reference_streams import Stream, Streams

MAP: Stream = ("host", 2)
"""The stream of translation pages."""


class TableStreams(Streams):
    """The streams of a drive whose pages from `table` on are translation pages, which fill `stream` outside of the cache."""

    def __init__(self, config: dict[str, Any], table: range, stream: Stream) -> None:
        super().__init__(config, table.stop)
        self.table, self.stream = table, stream

    def of_host(self, lpn: int, handle: int | None, *, is_new: bool) -> Stream:
        return self.stream if lpn in self.table else super().of_host(lpn, handle, is_new=is_new)


class ReferenceSlcMap(ReferenceSlc):
    """A drive with an SLC cache and a mapping cache of whole pages, the least recently used of which is replaced.

    Used keys, beside those of `ReferenceSlc`: ``slc.map_mode``, and ``map_cache_bytes`` and ``map_entry_bytes`` of ``ftl``.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        self.entries: int = self.page_bytes // self.ftl_keys["map_entry_bytes"]
        """Entries of a translation page."""
        self.capacity: int = self.ftl_keys["map_cache_bytes"] // self.page_bytes
        """Translation pages that memory holds."""
        self.table = range(self.exported_pages, self.exported_pages + -(-self.exported_pages // self.entries))
        """Logical pages of the mapping table."""
        self.place_of += [NOWHERE] * len(self.table)
        self.in_cache: bool = self.slc["map_mode"] == "slc"
        if self.in_cache:
            self.cached.append(MAP)
        self.streams = self._table_streams()
        self.memory: dict[int, bool] = {}
        """Translation pages in memory, the least recently used first, and whether each has changed."""
        self.operations: deque[Callable[[], None]] = deque()
        """Operations that wait for the die."""
        self.after: Callable[[], None] | None = None
        """What follows the end of the program under way."""
        self.ending = False
        """That follows now. The jobs that it sets off begin when the program has ended."""
        self.to_change: set[int] = set()
        """Translation pages with entries to be changed in flash."""
        self.turns: deque[int] = deque()
        """These pages in the order of their turns, and pages that need none any more."""
        self.changing: int | None = None
        """The translation page that is being changed in flash."""
        self.gained = self.spent = 0
        self.map_writes = self.updates = self.write_backs = 0

    def fill(self) -> None:
        host = self.exported_pages
        self.exported_pages = self.table.stop
        super().fill()
        self.exported_pages = host
        self.streams = self._table_streams()

    def _table_streams(self) -> TableStreams:
        return TableStreams(self.ftl_keys, self.table, ("host", 0) if self.in_cache else MAP)

    def mapping(self) -> list[int]:
        return super().mapping()[: self.exported_pages]

    # commands

    def write(self, lpn: int) -> None:
        def goes_on() -> None:
            self.idle = False
            self.operations.append(lambda: self._write_page([lpn], self._stream_of(lpn, None)))

        self._command(lpn, goes_on)
        self._serve()

    def trim(self, lpn: int) -> None:
        self._command(lpn, lambda: super(ReferenceSlcMap, self).trim(lpn))
        self._serve()

    def rest(self) -> None:
        super().rest()
        self._serve()

    def _serve(self) -> None:
        """The die serves all that waits for it."""
        while self.operations:
            self.operations.popleft()()

    def _command(self, lpn: int, goes_on: Callable[[], None]) -> None:
        """A command changes the entry of a page, in memory, and goes on."""
        page = self.exported_pages + lpn // self.entries
        if page in self.memory:
            self.memory[page] = True
            self.memory[page] = self.memory.pop(page)
            return goes_on()
        replaced = next(iter(self.memory)) if len(self.memory) == self.capacity else None
        dirty = replaced is not None and self.memory.pop(replaced)
        self.to_change.discard(page)
        self.memory[page] = True

        def read() -> None:
            if self.place_of[page] == NOWHERE:
                return goes_on()
            return self.operations.append(goes_on)

        if replaced is not None and dirty:
            self.write_backs += 1
            return self._write_table(replaced, read)
        return read()

    def _write_table(self, page: int, then: Callable[[], None]) -> None:
        """A translation page waits to be written."""

        def program() -> None:
            self.after = then
            self._write_page([page], self._stream_of(page, None))

        self.operations.append(program)

    def _note_written(self, lpns: list[int]) -> None:
        super()._note_written(lpns)
        then, self.after = self.after, None
        if then is not None:
            self.ending = True
            then()
            self.ending = False
        self._begin_update()

    # where writes go

    def _cache_stream(self, lpn: int) -> Stream | None:
        if lpn not in self.table:
            return super()._cache_stream(lpn)
        return MAP if self.in_cache else None

    def _count(self, lpn: int, *, in_cache: bool) -> None:
        if lpn in self.table:
            self.map_writes += in_cache
        else:
            super()._count(lpn, in_cache=in_cache)

    # collection

    def _jobs(self, pool: Pool) -> None:
        if not self.ending:
            super()._jobs(pool)

    def _run(self, pool: Pool, block: int, cause: str) -> None:
        moved = [self.owner_of[place] for place in self._pages_of(block) if self.owner_of[place] != NOWHERE]
        skipped = self.skipped if self.in_mode[block] else 0
        super()._run(pool, block, cause)
        for lpn in moved:
            self.gained -= 1
            if lpn not in self.table:
                self._moved(self.exported_pages + lpn // self.entries)
            self._begin_update()
        self.gained += self.pages_per_block - skipped
        self._begin_update()

    def _moved(self, page: int) -> None:
        """An entry of a translation page has changed, since collection has moved its page."""
        if page in self.memory:
            self.memory[page] = True
        elif page not in self.to_change:
            self.to_change.add(page)
            if page != self.changing:
                self.turns.append(page)

    def _next_to_change(self) -> int | None:
        """Takes the translation page that is changed next: one at a time, for at most half of the pages that collection has gained."""
        if self.changing is not None or self.spent + 1 > int(self.gained / 2):
            return None
        while self.turns and self.turns[0] not in self.to_change:
            self.turns.popleft()
        if not self.turns:
            return None
        self.changing = self.turns.popleft()
        self.to_change.remove(self.changing)
        self.spent += 1
        return self.changing

    def _begin_update(self) -> None:
        """Begins to change a translation page in flash, if one is to be."""
        page = self._next_to_change()
        if page is None:
            return

        def write() -> None:
            self.to_change.discard(page)
            self.updates += 1
            self._write_table(page, ended)

        def ended() -> None:
            self.changing = None
            if page in self.to_change:
                self.turns.append(page)

        if self.place_of[page] == NOWHERE:
            write()
        else:
            self.operations.append(write)

    def counted(self) -> dict[str, int]:
        return super().counted() | {"slc_map_writes": self.map_writes}
