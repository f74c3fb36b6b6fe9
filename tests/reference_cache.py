"""The slow, obvious cache against which the core's is compared: which pages hit, and who is evicted for whom.

S. Wu, B. Mao, Y. Lin, H. Jiang, Improving Performance for Flash-Based Storage Systems through GC-Aware Cache Management, IEEE TPDS 28(10),
2017. Written from the paper and the model's description ("Caching"), without the sources of the core's caches, so that one misreading does
not end up in both. How a drive's chips are numbered and its exported pages are counted is the core's.

Orders are plain lists, who used longest ago first, and eviction walks them literally from that end, as Algorithms 1 and 2 of the paper do.
Nothing below takes time: what is fetched is there, what is destaged is gone. What the description leaves open is decided here. (The
second point, and that groups have no home, were decided otherwise at first, and now are as the core has them.)

* Only pages that are kept are used, in the sense of the policy. A read that goes past the cache, or a write through it of which there is no
  copy, leaves the order of its group alone.
* A group counts as written from first to last if these are all the writes to it since it came into the cache: one that begins again does
  not. Writes that go through the cache are uses, not writes of the group.
* "All homes are in GC" means that the walk finds nobody: the homes of all pages kept are in GC, whatever the other homes do.
* An eviction that falls back on the order without awareness is no eviction that passed over somebody.
* With dynamic allocation a page has the home that a sequential fill gives it when it comes into the cache, until it is written there or
  through there. A group has none, since its pages may lie on several chips. Above an array homes are drives, which allocation inside the
  drives does not change.
* Shares are the decimal numbers that are written: floor(0.29 x 100) is 29.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

SECTOR_BYTES = 512

Request = tuple[str, int, int]
"""What, first byte, bytes."""
InGc = tuple[int, int, bool]
"""From this request on, this home is in GC or is not."""
Event = tuple[int, str, int]
"""The number of the request, what happened, to which page."""

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


# Where pages lie


@dataclass(frozen=True)
class Layout:
    """Where a sequential fill puts pages, as far as a cache cares."""

    page_bytes: int
    home: list[int]
    """Of each page: a chip, or above an array a drive."""
    group: list[int]
    """Of each page: the number of its group."""
    pages: list[list[int]]
    """Of each group, ascending."""


def layout_of(settings: Mapping[str, Any]) -> Layout:
    """The layout under these settings, of which every key that matters must be there."""
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
    """For each pool of a drive its chip and its pages, in the order in which they fill its blocks."""
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
    """The pages that a drive exports: the same number of each pool."""
    dies = settings["device.channels"] * settings["device.chips_per_channel"] * settings["device.dies_per_chip"]
    blocks = dies * settings["device.planes_per_die"] * settings["device.blocks_per_plane"]
    kept = 1 - Fraction(str(settings["device.overprovisioning"]))
    return int(blocks * settings["device.pages_per_block"] * kept) // pools * pools


def array_lines(settings: Mapping[str, Any]) -> list[tuple[int, list[int]]]:
    """For each drive of an array the pages of data on it, in the order in which they lie there."""
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


# The cache


@dataclass
class Page:
    """A page that is kept."""

    sectors: set[int] = field(default_factory=set)
    dirty: bool = False
    written: bool = False
    """Since it came into the cache."""


@dataclass(frozen=True)
class Replay:
    """What was decided."""

    events: list[Event]
    counters: dict[str, int]


class ReferenceCache:
    """A cache that decides, and takes no time."""

    def __init__(self, settings: Mapping[str, Any], layout: Layout | None = None) -> None:
        self.settings = settings
        self.layout = layout or layout_of(settings)
        self.policy: str = settings["cache.policy"]
        self.capacity: int = settings["cache.bytes"] // self.layout.page_bytes
        self.most: int = self.capacity - int(share(settings, "cache.destage_ahead") * self.capacity)
        """More pages than that are not kept for long, where it destages ahead."""
        self.window: int = int(share(settings, "cache.clean_window") * self.capacity)
        self.kept: dict[int, Page] = {}
        self.page_order: list[int] = []
        self.group_order: list[int] = []
        self.writes_of: dict[int, list[tuple[int, bool]]] = {}
        """Of each group that is in the cache: the pages written since it came, and whether whole."""
        self.dirty_order: list[int] = []
        """The dirty pages, the one longest dirty first."""
        self.in_gc: set[int] = set()
        self.events: list[Event] = []
        self.counters = dict.fromkeys(COUNTERS, 0)
        self.index = 0

    # Requests

    def replay(self, requests: Sequence[Request], in_gc: Sequence[InGc] = ()) -> Replay:
        """Takes all requests, one after the other."""
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
        """The pages of a request, ascending, with the sectors it touches and whether it touches all."""
        size = self.layout.page_bytes
        for page in range(offset // size, (offset + length - 1) // size + 1):
            first, last = max(offset, page * size), min(offset + length, (page + 1) * size) - 1
            sectors = set(range((first - page * size) // SECTOR_BYTES, (last - page * size) // SECTOR_BYTES + 1))
            yield page, sectors, last - first + 1 == size

    def read(self, page: int, sectors: set[int]) -> None:
        """Looks up a page for a read, and keeps it if it is one to be kept."""
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
        """Takes a write in, or lets it through and brings the copy up to date."""
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
        """All dirty pages go below, and stay."""
        for page in self.dirty_order:
            self.kept[page].dirty = False
            self.counters["destages"] += 1
            self.event("clean", page)
        self.dirty_order = []

    # What is kept, and in which order it was used

    def keep(self, page: int) -> None:
        assert page not in self.kept
        assert len(self.kept) < self.capacity
        self.kept[page] = Page()
        self.writes_of.setdefault(self.layout.group[page], [])
        self.use(page)

    def use(self, page: int) -> None:
        """The page is the one used last, and so is its group."""
        group = self.layout.group[page]
        if page in self.page_order:
            self.page_order.remove(page)
        if group in self.group_order:
            self.group_order.remove(group)
        self.page_order.append(page)
        self.group_order.append(group)

    def forget(self, page: int) -> None:
        """The page is gone, and with its last page the group."""
        group = self.layout.group[page]
        if self.kept[page].dirty:
            self.dirty_order.remove(page)
        self.page_order.remove(page)
        del self.kept[page]
        if not self.kept_of(group):
            self.group_order.remove(group)
            del self.writes_of[group]

    def kept_of(self, group: int) -> list[int]:
        """The pages of a group that are kept, ascending."""
        return [page for page in self.layout.pages[group] if page in self.kept]

    def compensate(self, page: int) -> None:
        """A group that was just written from its first page to its last is the next to go (Kim and Ahn 2008, LRU compensation)."""
        if self.policy != "bplru" or not self.settings["cache.compensation"]:
            return
        group = self.layout.group[page]
        if self.writes_of[group] == [(member, True) for member in self.layout.pages[group]]:
            self.group_order.remove(group)
            self.group_order.insert(0, group)

    # Who goes

    def victims(self) -> Iterator[list[int]]:
        """Those who may be evicted, each with its kept pages, from the eviction end of the policy's order on."""
        if self.policy == "lru":
            yield from ([page] for page in self.page_order)
        elif self.policy == "cflru":
            first = [page for page in self.page_order[: self.window] if not self.kept[page].dirty]
            yield from ([page] for page in first)
            yield from ([page] for page in self.page_order if page not in first)
        elif self.policy == "bplru":
            yield from (self.kept_of(group) for group in self.group_order)
        elif self.policy == "fab":
            # Sorting leaves equals in their order.
            yield from sorted((self.kept_of(group) for group in self.group_order), key=len, reverse=True)

    def choose(self) -> tuple[list[int] | None, bool]:
        """The victim, if there is one that may go, and whether the walk passed over others."""
        passed_over = False
        for victim in self.victims():
            if not self.settings["cache.gc_aware"] or not all(self.in_gc_now(page) for page in victim):
                return victim, passed_over
            passed_over = True
        return None, passed_over

    def in_gc_now(self, page: int) -> bool:
        """The page has a home, and that is in GC."""
        if self.settings["ftl.allocation"] == "dynamic" and self.settings["cache.place"] == "drive":
            has_home = self.policy in ("lru", "cflru") and not self.kept[page].written
        else:
            has_home = True
        return has_home and self.layout.home[page] in self.in_gc

    def make_room(self, *, for_write: bool) -> bool:
        """Evicts until one more page can be kept. False if it cannot, which happens to reads only."""
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
        """Evicts ahead of need, but never what was just kept, nor its group."""
        while len(self.kept) > self.most:
            victim, passed_over = self.choose()
            if victim is None or just_kept in victim:
                return
            self.counters["gc_skips"] += passed_over
            self.evict(victim)

    def evict(self, victim: list[int]) -> None:
        """Forgets the victim's pages; those that are dirty go below, and with padding the rest of the group too."""
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
        """A group of that size of which so many pages are kept is written in full."""
        if self.policy != "bplru":
            return False
        padding = self.settings["cache.padding"]
        return padding == "always" or (padding == "share" and kept >= share(self.settings, "cache.padding_share") * size)

    # Small things

    def all_sectors(self) -> set[int]:
        return set(range(self.layout.page_bytes // SECTOR_BYTES))

    def event(self, what: str, page: int) -> None:
        self.events.append((self.index, what, page))


def share(settings: Mapping[str, Any], key: str) -> Fraction:
    """A share as the decimal number that is written."""
    return Fraction(str(settings[key]))
