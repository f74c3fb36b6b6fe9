"""A slow and simple cache, against which the core's is compared: which pages hit, and which are evicted.

S. Wu, B. Mao, Y. Lin, H. Jiang, Improving Performance for Flash-Based Storage Systems through GC-Aware Cache Management, IEEE TPDS 28(10),
2017. Written from the paper and the model's description ("Caching"), without the sources of the core's caches, so that one misreading does
not occur in both. The numbering of chips and the count of exported pages follow the core.

Orders are plain lists, least recently used first, and eviction scans them from that end, as in Algorithms 1 and 2 of the paper. Nothing
takes time: fetches and destages complete at once. Choices that the description leaves open (the second one, and that groups have no home,
were first made differently, and now follow the core):

* Only pages in the cache are used, in the sense of the policy. A read past the cache, or a write through it without a cached copy, does not
  change the order of its group.
* A group is written from first to last page if these are all writes to it since it entered the cache; a group whose writes start again is
  not. Writes through the cache are uses, not writes of the group.
* "All homes are in GC" means that the scan finds no victim: the homes of all cached pages are in GC.
* An eviction that falls back to the order without awareness is not counted as one that skipped pages.
* With dynamic allocation, a page has the home that a sequential fill gives it when it enters the cache, until it is written to or through
  the cache. A group has no home, since its pages may lie on several chips. Above an array, homes are drives, which allocation inside the
  drives does not change.
* Shares are decimal numbers as written: floor(0.29 x 100) is 29.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

SECTOR_BYTES = 512

Request = tuple[str, int, int]
"""Operation, first byte, and number of bytes."""
InGc = tuple[int, int, bool]
"""Request index, home, and whether the home is in GC from that request on."""
Event = tuple[int, str, int]
"""Request index, event, and page."""

COUNTERS = [
    "lookups",
    "read_hits",
    "write_hits",
    "evictions",
    "destages",
    "padded_pages",
    "gc_skips",
    "gc_fallbacks",
    "gc_bypasses",
    "spread_groups",
    "dirty_pages",
]


# placement of pages


@dataclass(frozen=True)
class Layout:
    """Placement of pages by a sequential fill, as far as the cache depends on it."""

    page_bytes: int
    home: list[int]
    """Chip of each page or, above an array, drive."""
    group: list[int]
    """Index of the group of each page."""
    pages: list[list[int]]
    """Pages of each group, ascending."""


def layout_of(settings: Mapping[str, Any]) -> Layout:
    """The layout for these settings, which must contain every key that it depends on."""
    lines = array_lines(settings) if settings["cache.place"] == "array" else drive_lines(settings)
    count = sum(len(pages) for _home, pages in lines)
    home, group, groups = [-1] * count, [-1] * count, []
    for line_home, pages in lines:
        for page in pages:
            home[page] = line_home
    contiguous = settings["cache.group"] == "contiguous"
    for pages in [list(range(count))] if contiguous else [pages for _home, pages in lines]:
        for first in range(0, len(pages), settings["device.pages_per_block"]):
            members = pages[first : first + settings["device.pages_per_block"]]
            for page in members:
                group[page] = len(groups)
            groups.append(members)
    return Layout(settings["device.page_bytes"], home, group, groups)


def drive_lines(settings: Mapping[str, Any]) -> list[tuple[int, list[int]]]:
    """Chip and pages of each pool of a drive, in the order in which the pages fill its blocks."""
    order = settings["ftl.allocation"]
    sizes = {
        "C": settings["device.channels"],
        "W": settings["device.chips_per_channel"],
        "D": settings["device.dies_per_chip"],
        "P": settings["device.planes_per_die"] if settings["ftl.pool"] == "plane" else 1,
    }
    pools = sizes["C"] * sizes["W"] * sizes["D"] * sizes["P"]
    lines = []
    for stripe in range(pools):
        rest, place = stripe, {}
        for letter in "CWDP" if order == "dynamic" else order:
            rest, place[letter] = divmod(rest, sizes[letter])
        pages = list(range(stripe, exported_pages(settings, pools), pools))
        lines.append((place["C"] * sizes["W"] + place["W"], pages))
    return lines


def exported_pages(settings: Mapping[str, Any], pools: int) -> int:
    """Number of exported pages of a drive, the same for each pool."""
    dies = settings["device.channels"] * settings["device.chips_per_channel"] * settings["device.dies_per_chip"]
    blocks = dies * settings["device.planes_per_die"] * settings["device.blocks_per_plane"]
    kept = 1 - Fraction(str(settings["device.overprovisioning"]))
    return int(blocks * settings["device.pages_per_block"] * kept) // pools * pools


def array_lines(settings: Mapping[str, Any]) -> list[tuple[int, list[int]]]:
    """Data pages on each drive of an array, in the order of their placement."""
    drives, level = settings["array.drives"], settings["array.level"]
    unit = int(settings["array.stripe_kb"] * 1024) // settings["device.page_bytes"]
    pools = sum(1 for _line in drive_lines(settings))
    rows = exported_pages(settings, pools) // unit
    lines: list[list[int]] = [[] for _drive in range(drives)]
    page = 0
    for row in range(rows):
        if level == "rais0":
            places = list(range(drives))
        else:
            parity = (drives - 1) - row % drives
            places = [(parity + 1 + k) % drives for k in range(drives - 1)]
        for drive in places:
            lines[drive] += range(page, page + unit)
            page += unit
    return list(enumerate(lines))


# the cache


@dataclass
class Page:
    """A page in the cache."""

    sectors: set[int] = field(default_factory=set)
    dirty: bool = False
    written: bool = False
    """Whether the page was written since it entered the cache."""


@dataclass(frozen=True)
class Replay:
    """Decisions and counters of a replay."""

    events: list[Event]
    counters: dict[str, int]


class ReferenceCache:
    """A cache whose operations take no time."""

    def __init__(self, settings: Mapping[str, Any], layout: Layout | None = None) -> None:
        self.settings = settings
        self.layout = layout or layout_of(settings)
        self.policy: str = settings["cache.policy"]
        self.capacity: int = settings["cache.bytes"] // self.layout.page_bytes
        self.most: int = self.capacity - int(share(settings, "cache.destage_ahead") * self.capacity)
        """Number of pages that destaging ahead reduces the cache to."""
        self.window: int = int(share(settings, "cache.clean_window") * self.capacity)
        self.kept: dict[int, Page] = {}
        self.page_order: list[int] = []
        self.group_order: list[int] = []
        self.writes_of: dict[int, list[tuple[int, bool]]] = {}
        """Writes to each cached group since it entered the cache: page, and whether the whole page was written."""
        self.dirty_order: list[int] = []
        """Dirty pages, the longest dirty first."""
        self.in_gc: set[int] = set()
        self.events: list[Event] = []
        self.counters = dict.fromkeys(COUNTERS, 0)
        self.index = 0

    # requests

    def replay(self, requests: Sequence[Request], in_gc: Sequence[InGc] = ()) -> Replay:
        """Processes all requests in order."""
        for index, (op, offset, length) in enumerate(requests):
            self.index = index
            for at, home, state in in_gc:
                if at == index:
                    (self.in_gc.add if state else self.in_gc.discard)(home)
            if op == "flush":
                self.flush()
                continue
            for page, sectors, whole in self.split(offset, length):
                if op == "read":
                    self.read(page, sectors)
                elif op == "write":
                    self.write(page, sectors, whole=whole)
                elif whole and page in self.kept:
                    self.forget(page)
                    self.event("drop", page)
        self.counters["dirty_pages"] = len(self.dirty_order)
        return Replay(self.events, self.counters)

    def split(self, offset: int, length: int) -> Iterator[tuple[int, set[int], bool]]:
        """The pages of a request, ascending, with the touched sectors of each and whether all are touched."""
        size = self.layout.page_bytes
        for page in range(offset // size, (offset + length - 1) // size + 1):
            first, last = max(offset, page * size), min(offset + length, (page + 1) * size) - 1
            sectors = set(range((first - page * size) // SECTOR_BYTES, (last - page * size) // SECTOR_BYTES + 1))
            yield page, sectors, last - first + 1 == size

    def read(self, page: int, sectors: set[int]) -> None:
        """Looks up a page for a read, and caches it if the policy admits it."""
        self.counters["lookups"] += 1
        held = self.kept.get(page)
        if held is not None and sectors <= held.sectors:
            self.counters["read_hits"] += 1
            self.use(page)
            self.event("read_hit", page)
        elif held is not None:
            held.sectors |= self.all_sectors()
            self.use(page)
            self.event("read_miss", page)
        elif not self.settings["cache.reads"]:
            self.event("read_past", page)
        elif not self.make_room(for_write=False):
            self.event("read_bypass", page)
        else:
            self.keep(page)
            self.kept[page].sectors |= self.all_sectors()
            self.event("read_miss", page)
            self.evict_ahead(page)

    def write(self, page: int, sectors: set[int], *, whole: bool) -> None:
        """Caches a write, or writes it through and updates a cached copy."""
        if not self.settings["cache.writes"]:
            if page in self.kept:
                self.kept[page].sectors |= sectors
                self.kept[page].written = True
                self.use(page)
            self.event("write_through", page)
            return
        self.counters["lookups"] += 1
        hit = page in self.kept
        if hit:
            self.counters["write_hits"] += 1
            self.use(page)
        else:
            self.make_room(for_write=True)
            self.keep(page)
        held = self.kept[page]
        held.sectors |= sectors
        held.written = True
        if not held.dirty:
            held.dirty = True
            self.dirty_order.append(page)
        self.event("write_hit" if hit else "write_miss", page)
        self.writes_of[self.layout.group[page]].append((page, whole))
        self.compensate(page)
        if not hit:
            self.evict_ahead(page)

    def flush(self) -> None:
        """Destages all dirty pages, which stay in the cache."""
        for page in self.dirty_order:
            self.kept[page].dirty = False
            self.counters["destages"] += 1
            self.event("clean", page)
        self.dirty_order = []

    # cached pages, and their order of use

    def keep(self, page: int) -> None:
        assert page not in self.kept
        assert len(self.kept) < self.capacity
        self.kept[page] = Page()
        self.writes_of.setdefault(self.layout.group[page], [])
        self.use(page)

    def use(self, page: int) -> None:
        """Marks a page and its group as most recently used."""
        group = self.layout.group[page]
        if page in self.page_order:
            self.page_order.remove(page)
        if group in self.group_order:
            self.group_order.remove(group)
        self.page_order.append(page)
        self.group_order.append(group)

    def forget(self, page: int) -> None:
        """Removes a page and, with its last page, the group."""
        group = self.layout.group[page]
        if self.kept[page].dirty:
            self.dirty_order.remove(page)
        self.page_order.remove(page)
        del self.kept[page]
        if not self.kept_of(group):
            self.group_order.remove(group)
            del self.writes_of[group]

    def kept_of(self, group: int) -> list[int]:
        """The cached pages of a group, ascending."""
        return [page for page in self.layout.pages[group] if page in self.kept]

    def compensate(self, page: int) -> None:
        """Makes a group that was written from its first page to its last the next victim (Kim and Ahn 2008, LRU compensation)."""
        if self.policy != "bplru" or not self.settings["cache.compensation"]:
            return
        group = self.layout.group[page]
        if self.writes_of[group] == [(member, True) for member in self.layout.pages[group]]:
            self.group_order.remove(group)
            self.group_order.insert(0, group)

    # victims

    def victims(self) -> Iterator[list[int]]:
        """Possible victims, each with its cached pages, in the policy's order of eviction."""
        if self.policy == "lru":
            yield from ([page] for page in self.page_order)
        elif self.policy == "cflru":
            first = [page for page in self.page_order[: self.window] if not self.kept[page].dirty]
            yield from ([page] for page in first)
            yield from ([page] for page in self.page_order if page not in first)
        elif self.policy == "bplru":
            yield from (self.kept_of(group) for group in self.group_order)
        elif self.policy == "fab":
            # sorting is stable
            yield from sorted((self.kept_of(group) for group in self.group_order), key=len, reverse=True)

    def choose(self) -> tuple[list[int] | None, bool]:
        """The victim, if there is one, and whether the scan skipped others."""
        passed_over = False
        for victim in self.victims():
            if not self.settings["cache.gc_aware"] or not all(self.in_gc_now(page) for page in victim):
                return victim, passed_over
            passed_over = True
        return None, passed_over

    def in_gc_now(self, page: int) -> bool:
        """Whether a page has a home that is in GC."""
        if self.settings["ftl.allocation"] == "dynamic" and self.settings["cache.place"] == "drive":
            has_home = self.policy in ("lru", "cflru") and not self.kept[page].written
        else:
            has_home = True
        return has_home and self.layout.home[page] in self.in_gc

    def make_room(self, *, for_write: bool) -> bool:
        """Evicts until one more page fits. Returns false if that is not possible, which only happens to reads."""
        while len(self.kept) >= self.capacity:
            victim, passed_over = self.choose()
            if victim is not None:
                self.counters["gc_skips"] += passed_over
            elif for_write:
                self.counters["gc_fallbacks"] += 1
                victim = next(self.victims())
            else:
                self.counters["gc_bypasses"] += 1
                return False
            self.evict(victim)
        return True

    def evict_ahead(self, just_kept: int) -> None:
        """Evicts in advance, but not the page that was just cached nor its group."""
        while len(self.kept) > self.most:
            victim, passed_over = self.choose()
            if victim is None or just_kept in victim:
                return
            self.counters["gc_skips"] += passed_over
            self.evict(victim)

    def evict(self, victim: list[int]) -> None:
        """Removes a victim's pages; dirty pages are destaged and, with padding, the other pages of the group too."""
        group = self.layout.pages[self.layout.group[victim[0]]]
        dirty = [page for page in victim if self.kept[page].dirty]
        for page in victim:
            self.event("evict_dirty" if page in dirty else "evict_clean", page)
            self.forget(page)
        if self.policy in ("bplru", "fab") and self.settings["cache.group"] == "contiguous":
            self.counters["spread_groups"] += len({self.layout.home[page] for page in victim}) > 1
        self.counters["evictions"] += len(victim)
        self.counters["destages"] += len(dirty)
        if dirty and self.pads(len(victim), len(group)):
            for page in group:
                if page not in dirty:
                    self.counters["padded_pages"] += 1
                    self.event("pad", page)

    def pads(self, kept: int, size: int) -> bool:
        """Whether a group of `size` pages with `kept` cached ones is written in full."""
        if self.policy != "bplru":
            return False
        padding = self.settings["cache.padding"]
        return padding == "always" or (padding == "share" and kept >= share(self.settings, "cache.padding_share") * size)

    # helpers

    def all_sectors(self) -> set[int]:
        return set(range(self.layout.page_bytes // SECTOR_BYTES))

    def event(self, what: str, page: int) -> None:
        self.events.append((self.index, what, page))


def share(settings: Mapping[str, Any], key: str) -> Fraction:
    """A share as the decimal number that was written."""
    return Fraction(str(settings[key]))
