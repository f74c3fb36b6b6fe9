"""Caches against sequences derived by hand, and against a slow reference (`reference_cache`), decision by decision.

The model is that of S. Wu, B. Mao, Y. Lin, H. Jiang, Improving Performance for Flash-Based Storage Systems through GC-Aware Cache
Management, IEEE TPDS 28(10), 2017, as in the model's description ("Caching"). The sequences also test the reference: it must agree with
them before it is compared with the core.

Random cases are the same in every run. `SSDLAB_DIFFERENTIAL_CASES=20000 pytest tests/test_cache_oracle.py` runs this number of others.
"""

from __future__ import annotations

import functools
import itertools
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import ssdlab
from reference_cache import COUNTERS, SECTOR_BYTES, Event, InGc, Layout, ReferenceCache, Replay, Request, layout_of
from shares import FULL

ROOT = Path(__file__).resolve().parent.parent
TRACE = ROOT / "traces" / "mariadb_oltp_write_only_paced.csv.zst"
WANTED = os.environ.get("SSDLAB_DIFFERENTIAL_CASES")
CASES = int(WANTED or 800)
DEFAULTS = {name: key["default"] for name, key in ssdlab.config_keys().items()}

Settings = Mapping[str, Any]

# The two implementations


def referred(keys: Settings, requests: Sequence[Request], in_gc: Sequence[InGc] = ()) -> Replay:
    return ReferenceCache(DEFAULTS | keys).replay(requests, in_gc)


def produced(keys: Settings, requests: Sequence[Request], in_gc: Sequence[InGc] = ()) -> Replay:
    replay = ssdlab.replay_cache(requests, set=keys, in_gc=in_gc)
    return Replay([(index, what, page) for index, what, page in replay.events], {name: replay.counters[name] for name in COUNTERS})


REPLAYS = {"reference": referred, "product": produced}
ReplayOf = Callable[..., Replay]


@pytest.fixture(params=REPLAYS)
def replayed(request: pytest.FixtureRequest) -> ReplayOf:
    return REPLAYS[request.param]


# Sequences by hand
#
# A page has 4 sectors. Without anything else said, a drive has one chip, and page p of a drive of n chips is on chip p mod n. Blocks have
# 4 pages: on one chip groups are 0-3, 4-7 and so on; on two chips the groups of chip 0 are 0 2 4 6, 8 10 12 14, ..., those of chip 1 are
# 1 3 5 7, 9 11 13 15, ... In the workings orders begin with who was used longest ago; "d" is dirty, "c" is clean.
#
# A line is a request and what must happen. "R3" reads page 3, "W3-5" writes pages 3 to 5, "W3:1-2" sectors 1 and 2 of page 3, "T3:1-5:2"
# trims from sector 1 of page 3 to sector 2 of page 5, "F" flushes. "+1" and "-1": from the next request on home 1 is, or is not, in GC.


@dataclass(frozen=True)
class Told:
    """Expected events and counters of a sequence under some settings."""

    name: str
    keys: dict[str, Any]
    lines: str
    counters: dict[str, int]
    """Counters other than 0."""


def drive(policy: str, pages: int, chips: int = 1, **cache: Any) -> dict[str, Any]:
    """A drive of chips with 32 exported pages each, and a cache of `pages` pages."""
    return {
        "device.channels": chips,
        "device.chips_per_channel": 1,
        "device.dies_per_chip": 1,
        "device.planes_per_die": 1,
        "device.blocks_per_plane": 16,
        "device.pages_per_block": 4,
        "device.page_bytes": 2048,
        "device.overprovisioning": 0.5,
        "cache.policy": policy,
        "cache.bytes": pages * 2048,
    } | {f"cache.{key}": value for key, value in cache.items()}


def parsed(text: str, page_bytes: int = 2048) -> tuple[list[Request], list[InGc], list[Event]]:
    """The requests, the GC schedule and the events of a sequence."""
    requests: list[Request] = []
    in_gc: list[InGc] = []
    events: list[Event] = []
    for line in text.strip().splitlines():
        request, _, rest = line.split("#")[0].partition("|")
        for word in request.split():
            if word[0] in "+-":
                in_gc.append((len(requests), int(word[1:]), word[0] == "+"))
            else:
                op = {"R": "read", "W": "write", "T": "trim", "F": "flush"}[word[0]]
                first, end = extent(word[1:], page_bytes) if op != "flush" else (0, 0)
                requests.append((op, first, end - first))
        for event in filter(None, (part.strip() for part in rest.split(","))):
            what, *pages = event.split()
            events += [(len(requests) - 1, what, int(page)) for page in pages]
    return requests, in_gc, events


def extent(text: str, page_bytes: int) -> tuple[int, int]:
    """First byte and end of "3", "3-5", "3:1", "3:1-2" or "3:1-5:2"."""
    first, _, last = text.partition("-")
    page, _, sector = first.partition(":")
    last_page, _, last_sector = (last or first).partition(":")
    if sector and last and not last_sector:
        last_page, last_sector = page, last_page
    begin = int(page) * page_bytes + int(sector or 0) * SECTOR_BYTES
    end = int(last_page) * page_bytes + ((int(last_sector) + 1) * SECTOR_BYTES if last_sector else page_bytes)
    return begin, end


LRU = [
    Told(
        "lru: the page used longest ago",
        drive("lru", 3),
        """
        W0 | write_miss 0
        W1 | write_miss 1                   # 0d 1d
        R0 | read_hit 0                     # 1d 0d
        W2 | write_miss 2                   # 1d 0d 2d, full
        W3 | evict_dirty 1, write_miss 3    # 0d 2d 3d
        R1 | evict_dirty 0, read_miss 1     # 2d 3d 1c
        W2 | write_hit 2                    # 3d 1c 2d
        R4 | evict_dirty 3, read_miss 4     # 1c 2d 4c
        R5 | evict_clean 1, read_miss 5     # 2d 4c 5c
        """,
        {"lookups": 9, "read_hits": 1, "write_hits": 1, "evictions": 4, "destages": 3, "dirty_pages": 1},
    ),
    Told(
        "lru: each page of a request sees what the one before has changed",
        drive("lru", 2),
        """
        W0-2 | write_miss 0, write_miss 1, evict_dirty 0, write_miss 2                               # 1d 2d
        R0-2 | evict_dirty 1, read_miss 0, evict_dirty 2, read_miss 1, evict_clean 0, read_miss 2    # 1c 2c
        R1-2 | read_hit 1 2
        """,
        {"lookups": 8, "read_hits": 2, "evictions": 4, "destages": 3},
    ),
    Told(
        "lru: a cache of one page",
        drive("lru", 1, destage_ahead=0.9),
        # floor(0.9 x 1) = 0: nothing is evicted ahead.
        """
        W0 | write_miss 0
        R0 | read_hit 0
        R1 | evict_dirty 0, read_miss 1
        W2 | evict_clean 1, write_miss 2
        """,
        {"lookups": 4, "read_hits": 1, "evictions": 2, "destages": 1, "dirty_pages": 1},
    ),
    Told(
        "the size is whole pages",
        drive("lru", 2) | {"cache.bytes": 3 * 2048 - 1},
        """
        W0-1 | write_miss 0 1
        W2 | evict_dirty 0, write_miss 2
        """,
        {"lookups": 3, "evictions": 1, "destages": 1, "dirty_pages": 2},
    ),
    Told(
        "an unaware cache does not look",
        drive("lru", 2, chips=2),
        """
        +0
        W0-1 | write_miss 0 1
        W3 | evict_dirty 0, write_miss 3
        """,
        {"lookups": 3, "evictions": 1, "destages": 1, "dirty_pages": 2},
    ),
]

SECTORS = [
    Told(
        "a page is held in part",
        drive("lru", 3),
        """
        W0:1 | write_miss 0                                    # holds 1
        R0:1 | read_hit 0
        R0:1-2 | read_miss 0                                   # 2 is not held: now all are
        R0:3 | read_hit 0
        W1:0 | write_miss 1
        W1:3 | write_hit 1                                     # any sector held makes a hit: 0 and 3
        R1:0 | read_hit 1
        R1:3 | read_hit 1
        R1 | read_miss 1
        R1:2 | read_hit 1
        W2 | write_miss 2
        R2:1-2 | read_hit 2                                    # 0d 1d 2d
        W3:2-3 | evict_dirty 0, write_miss 3                   # 1d 2d 3d
        W3:3-4:0 | write_hit 3, evict_dirty 1, write_miss 4    # 2d 3d 4d
        R3:3-4:0 | read_hit 3, read_hit 4
        R3:1-4:0 | read_miss 3, read_hit 4                     # 3 held 2 and 3
        R4:1 | read_miss 4
        """,
        {"lookups": 20, "read_hits": 9, "write_hits": 2, "evictions": 2, "destages": 2, "dirty_pages": 3},
    ),
    Told(
        "a page held in part is used by the read that completes it, stays dirty, and what comes back starts as new",
        drive("lru", 2),
        """
        W0:0 | write_miss 0
        W1:0 | write_miss 1
        R0:3 | read_miss 0                  # 1d 0d
        R2 | evict_dirty 1, read_miss 2     # 0d 2c
        W1:2 | evict_dirty 0, write_miss 1  # 2c 1d, of which it no longer holds sector 0
        R1:0 | read_miss 1
        """,
        {"lookups": 6, "evictions": 2, "destages": 2, "dirty_pages": 1},
    ),
    Told(
        "a clean page can be held in part",
        drive("lru", 1),
        """
        W0:1 | write_miss 0
        F | clean 0
        R0:1 | read_hit 0
        R0:0 | read_miss 0
        R1 | evict_clean 0, read_miss 1
        """,
        {"lookups": 4, "read_hits": 1, "evictions": 1, "destages": 1},
    ),
]

KINDS = [
    Told(
        "without cache.reads",
        drive("lru", 2, reads=False),
        """
        R0 | read_past 0
        W0:1 | write_miss 0
        R0:1 | read_hit 0
        R0:0 | read_miss 0                # held in part: completed all the same
        R0 | read_hit 0
        R1 | read_past 1
        W1 | write_miss 1                 # 0d 1d
        R0 | read_hit 0                   # 1d 0d
        R0-2 | read_hit 0 1, read_past 2
        W2 | evict_dirty 0, write_miss 2  # 1d 2d
        R0 | read_past 0
        """,
        {"lookups": 13, "read_hits": 5, "evictions": 1, "destages": 1, "dirty_pages": 2},
    ),
    Told(
        "without cache.writes",
        drive("lru", 2, writes=False),
        # Lookups: those of reads, 6.
        """
        W0 | write_through 0
        R0 | read_miss 0
        R1 | read_miss 1                  # 0c 1c
        W0:2 | write_through 0            # the copy is used: 1c 0c
        R2 | evict_clean 1, read_miss 2   # 0c 2c
        R0 | read_hit 0                   # 2c 0c
        W3-4 | write_through 3 4          # none is kept because of it
        R3 | evict_clean 2, read_miss 3   # 0c 3c
        F
        T0-1 | drop 0
        W0 | write_through 0
        R0 | read_miss 0
        """,
        {"lookups": 6, "read_hits": 1, "evictions": 2},
    ),
    Told(
        "without both nothing is ever kept",
        drive("lru", 2, reads=False, writes=False),
        """
        R0 | read_past 0
        W0 | write_through 0
        R0-2 | read_past 0 1 2
        W0-2 | write_through 0 1 2
        T0-2
        F
        """,
        {"lookups": 4},
    ),
    Told(
        "trims and flushes",
        drive("lru", 4),
        """
        W0 | write_miss 0
        W1 | write_miss 1
        R2 | read_miss 2
        W3:1 | write_miss 3
        F | clean 0 1 3                   # in the order in which they became dirty
        W1 | write_hit 1
        W0 | write_hit 0
        W1 | write_hit 1                  # is dirty for longer than 0 all the same
        F | clean 1 0
        F
        W0-3 | write_hit 0 1 2 3
        T0:1-3:2 | drop 1 2               # only these lie wholly inside: 0d 3d
        T1-2
        W4 | write_miss 4
        W5 | write_miss 5                 # 0d 3d 4d 5d
        W6 | evict_dirty 0, write_miss 6
        F | clean 3 4 5 6
        W1 | evict_clean 3, write_miss 1
        """,
        {"lookups": 15, "write_hits": 7, "evictions": 2, "destages": 10, "dirty_pages": 1},
    ),
    Told(
        "neither a flush nor a trim uses pages, and what is written after a flush is dirty last",
        drive("lru", 3),
        """
        W0-2 | write_miss 0 1 2           # 0d 1d 2d
        F | clean 0 1 2
        T0:1-0:3
        W1 | write_hit 1                  # 0c 2c 1d
        W0:0 | write_hit 0                # 2c 1d 0d
        W3 | evict_clean 2, write_miss 3  # 1d 0d 3d
        F | clean 1 0 3
        """,
        {"lookups": 6, "write_hits": 2, "evictions": 1, "destages": 6},
    ),
]

CFLRU = [
    Told(
        "cflru: a window of half the cache",
        drive("cflru", 4, clean_window=0.5),
        """
        W0 | write_miss 0
        R1-2 | read_miss 1 2
        W3 | write_miss 3                   # 0d 1c | 2c 3d
        R4 | evict_clean 1, read_miss 4     # 0d 2c | 3d 4c
        R5 | evict_clean 2, read_miss 5     # 0d 3d | 4c 5c: the clean ones are outside
        R6 | evict_dirty 0, read_miss 6     # 3d 4c | 5c 6c
        W7 | evict_clean 4, write_miss 7    # 3d 5c | 6c 7d
        R5 | read_hit 5                     # 3d 6c | 7d 5c
        F | clean 3 7                       # 3c 6c | 7c 5c
        W8 | evict_clean 3, write_miss 8
        """,
        {"lookups": 10, "read_hits": 1, "evictions": 5, "destages": 3, "dirty_pages": 1},
    ),
    Told(
        "cflru: a window of no page is lru",
        drive("cflru", 4, clean_window=0.24),
        # floor(0.24 x 4) = 0
        """
        W0 | write_miss 0
        R1-3 | read_miss 1 2 3
        R4 | evict_dirty 0, read_miss 4
        R5 | evict_clean 1, read_miss 5
        """,
        {"lookups": 6, "evictions": 2, "destages": 1},
    ),
    Told(
        "cflru: a window of one page is lru",
        drive("cflru", 4, clean_window=0.49),
        # floor(0.49 x 4) = 1
        """
        R0 | read_miss 0
        W1-2 | write_miss 1 2
        R3 | read_miss 3                    # 0c | 1d 2d 3c
        W4 | evict_clean 0, write_miss 4    # 1d | 2d 3c 4d
        W5 | evict_dirty 1, write_miss 5
        """,
        {"lookups": 6, "evictions": 2, "destages": 1, "dirty_pages": 3},
    ),
    Told(
        "cflru: all pages in the window",
        drive("cflru", 4, clean_window=1.0),
        """
        W0-2 | write_miss 0 1 2
        R3 | read_miss 3                    # 0d 1d 2d 3c
        W4 | evict_clean 3, write_miss 4    # 0d 1d 2d 4d
        R5 | evict_dirty 0, read_miss 5     # 1d 2d 4d 5c
        R6 | evict_clean 5, read_miss 6     # 1d 2d 4d 6c
        W6 | write_hit 6
        W7 | evict_dirty 1, write_miss 7
        """,
        {"lookups": 9, "write_hits": 1, "evictions": 4, "destages": 2, "dirty_pages": 4},
    ),
    Told(
        "cflru: the window is counted in decimals",
        drive("cflru", 100, chips=4, clean_window=0.29),
        # floor(0.29 x 100) = 29: page 28, the only clean one, is the last of the window.
        f"""
        W0-27 | write_miss {" ".join(map(str, range(28)))}
        R28 | read_miss 28
        W29-99 | write_miss {" ".join(map(str, range(29, 100)))}
        W100 | evict_clean 28, write_miss 100
        W101 | evict_dirty 0, write_miss 101
        """,
        {"lookups": 102, "evictions": 2, "destages": 1, "dirty_pages": 100},
    ),
]

BPLRU = [
    Told(
        "bplru: the group used longest ago",
        drive("bplru", 4, chips=2, compensation=False),
        # A is 0 2 4 6, B 1 3 5 7, C 8 10 12 14, D 9 11 13 15.
        """
        W0 | write_miss 0
        W2 | write_miss 2                               # A
        W1 | write_miss 1                               # A B
        W0 | write_hit 0                                # B A
        W8 | write_miss 8                               # B A C, full
        W10 | evict_dirty 1, write_miss 10              # A C
        R3 | evict_dirty 0 2, read_miss 3               # C B: 8d 10d 3c
        R1 | read_miss 1                                # C B
        R2 | evict_dirty 8 10, read_miss 2              # B A: 1c 3c 2c
        W4 | write_miss 4                               # B A
        R9 | evict_clean 1 3, read_miss 9               # A D: 2c 4d 9c
        R11 | read_miss 11                              # A D
        R2 | read_hit 2                                 # D A
        W8 | evict_clean 9 11, write_miss 8             # A C
        R10 | read_miss 10                              # A C: 2c 4d 8d 10c
        R0 | evict_clean 2, evict_dirty 4, read_miss 0  # the group of the page to be kept: C A
        """,
        {"lookups": 16, "read_hits": 1, "write_hits": 1, "evictions": 11, "destages": 6, "dirty_pages": 1},
    ),
    Told(
        "bplru: a group written from its first page to its last goes next",
        drive("bplru", 6, chips=2),
        """
        W1 | write_miss 1                         # B
        W0 | write_miss 0
        W2 | write_miss 2
        W4 | write_miss 4                         # B A
        W6 | write_miss 6                         # A B
        W8 | write_miss 8                         # A B C
        W10 | evict_dirty 0 2 4 6, write_miss 10  # B C
        """,
        {"lookups": 7, "evictions": 4, "destages": 4, "dirty_pages": 3},
    ),
    Told(
        "bplru: the group written last to its end goes first",
        drive("bplru", 9, chips=2),
        # Pages 0 to 7 fill both groups, A with page 6, B with page 7.
        """
        W8 | write_miss 8                           # C
        W0-7 | write_miss 0 1 2 3 4 5 6 7           # B A C
        W9 | evict_dirty 1 3 5 7, write_miss 9      # A C D
        W1-7 | write_miss 1, write_hit 2, write_miss 3, write_hit 4, write_miss 5, write_hit 6, evict_dirty 8, write_miss 7
        """,
        # At W1-7: A is used again, C D A with B between: 1: A C D B. 2: C D B A. 3: C D A B. 4: C D B A. 5: C D A B, 8 pages.
        # 6: C D B A, 7: 8 + 1 = 9 are kept (8; 9; 0 2 4 6; 1 3 5), so C goes; 1 3 5 7 completes B: it is next.
        {"lookups": 17, "write_hits": 3, "evictions": 5, "destages": 5, "dirty_pages": 9},
    ),
    Told(
        "bplru: what breaks a sequence, and what does not",
        drive("bplru", 6),
        # One chip: A is 0-3, B 4-7, C 8-11, D 12-15. The page of another group (4, 8, 12) was used before, and shows who is next.
        """
        W4 | write_miss 4                     # B
        W1 | write_miss 1
        W0 | write_miss 0
        W2-3 | write_miss 2 3                 # 1 0 2 3 is not in order: B A
        R5 | read_miss 5                      # A B, full
        R6 | evict_dirty 0 1 2 3, read_miss 6 # B
        W8 | write_miss 8                     # B C
        W0-1 | write_miss 0 1                 # B C A: 4 5 6 8 0 1
        W2:0-2 | evict_dirty 4, evict_clean 5 6, write_miss 2
        W3 | write_miss 3                     # 2 was written in part: C A
        R4 | read_miss 4                      # C A B: 8 0 1 2 3 4
        R5 | evict_dirty 8, read_miss 5       # A B
        W12 | evict_dirty 0 1 2 3, write_miss 12
        W0-1 | write_miss 0 1                 # B D A: 4 5 12 0 1
        W1 | write_hit 1                      # between: 0 1 1
        W2 | write_miss 2                     # full
        W3 | evict_clean 4 5, write_miss 3    # 0 1 1 2 3: D A
        R4 | read_miss 4                      # D A B: 12 0 1 2 3 4
        R8 | evict_dirty 12, read_miss 8      # A B C
        """,
        {"lookups": 22, "write_hits": 1, "evictions": 15, "destages": 11, "dirty_pages": 4},
    ),
    Told(
        "bplru: reads and other groups between do not matter, a later use does",
        drive("bplru", 7),
        """
        W4 | write_miss 4                       # B
        W0 | write_miss 0
        R0 | read_hit 0
        W1 | write_miss 1
        W5 | write_miss 5
        W2:0-3 | write_miss 2
        R1 | read_hit 1                         # B A
        W3 | write_miss 3                       # A B: 4 5 0 1 2 3
        W8 | write_miss 8                       # A B C, full
        R2 | read_hit 2                         # B C A
        W9 | evict_dirty 4 5, write_miss 9      # A C: 0 1 2 3 8 9
        R4 | read_miss 4                        # A C B, full
        R5 | evict_dirty 0 1 2 3, read_miss 5   # C B
        """,
        {"lookups": 13, "read_hits": 3, "evictions": 6, "destages": 6, "dirty_pages": 2},
    ),
    Told(
        "bplru: a sequence begun before the group left is forgotten",
        drive("bplru", 5),
        """
        W0-1 | write_miss 0 1                        # A
        W4-6 | write_miss 4 5 6                      # A B
        W8 | evict_dirty 0 1, write_miss 8           # B C
        W2 | write_miss 2                            # B C A: 4 5 6 8 2
        W3 | evict_dirty 4 5 6, write_miss 3         # C A: since A came, 2 3
        W0 | write_miss 0
        W12 | write_miss 12                          # C A D: 8 2 3 0 12
        W16 | evict_dirty 8, write_miss 16           # A D E: 2 3 0 12 16
        W0 | write_hit 0                             # D E A
        W1 | evict_dirty 12, write_miss 1            # E A
        """,
        {"lookups": 13, "write_hits": 1, "evictions": 7, "destages": 7, "dirty_pages": 5},
    ),
    Told(
        "bplru: a sequence that begins again does not count, until the group has left",
        drive("bplru", 7),
        """
        W4 | write_miss 4                               # B
        W0-1 | write_miss 0 1
        W0-3 | write_hit 0 1, write_miss 2 3            # since A came: 0 1 0 1 2 3. B A
        W0-3 | write_hit 0 1 2 3
        R8-9 | read_miss 8 9                            # B A C, full
        R10 | evict_dirty 4, read_miss 10               # A C, full
        T0-3 | drop 0 1 2 3                             # C
        W4 | write_miss 4                               # C B
        R1 | read_miss 1                                # C B A
        W0-1 | write_miss 0, write_hit 1                # C B A: 8c 9c 10c 4d 0d 1d
        W2 | write_miss 2                               # full
        W3 | evict_clean 8 9 10, write_miss 3           # since A came: 0 1 2 3. A B
        R12-13 | read_miss 12 13                        # A B D: 0 1 2 3 4 12 13, full
        R14 | evict_dirty 0 1 2 3, read_miss 14
        """,
        {"lookups": 23, "write_hits": 7, "evictions": 8, "destages": 5, "dirty_pages": 1},
    ),
    Told(
        "bplru: writes that go through use their group, and do not write it to its end",
        drive("bplru", 6, writes=False),
        """
        R4 | read_miss 4                                # B
        R0-3 | read_miss 0 1 2 3                        # B A
        W0-3 | write_through 0 1 2 3                    # B A
        R8 | read_miss 8                                # B A C, full
        W5 | write_through 5                            # there is no copy of 5, and B is not used
        R9 | evict_clean 4, read_miss 9                 # A C, full
        W2 | write_through 2                            # C A
        R12 | evict_clean 8 9, read_miss 12
        """,
        {"lookups": 8, "evictions": 3},
    ),
    Told(
        "bplru: the last group of a chip is shorter",
        drive("bplru", 3) | {"device.overprovisioning": 0.47},
        # 0.53 x 64 = 33.92: 33 pages, and 32 is alone in its group.
        """
        W0 | write_miss 0
        W32 | write_miss 32                    # goes next
        W4 | write_miss 4                      # (32) (0) (4)
        W8 | evict_dirty 32, write_miss 8      # (0) (4) (8)
        W32:0 | evict_dirty 0, write_miss 32   # in part: (4) (8) (32)
        W12 | evict_dirty 4, write_miss 12
        """,
        {"lookups": 6, "evictions": 3, "destages": 3, "dirty_pages": 3},
    ),
    Told(
        "bplru: padding always",
        drive("bplru", 4, padding="always"),
        """
        W1 | write_miss 1
        R2 | read_miss 2                                             # A: 1d 2c
        W4:1 | write_miss 4
        R5 | read_miss 5                                             # B: 4d 5c
        W8 | evict_dirty 1, evict_clean 2, pad 0 2 3, write_miss 8   # B C
        R9 | read_miss 9                                             # B C: 4d 5c 8d 9c
        R10 | evict_dirty 4, evict_clean 5, pad 5 6 7, read_miss 10  # C
        F | clean 8
        R0 | read_miss 0                                             # C A: 8c 9c 10c 0c
        R1 | evict_clean 8 9 10, read_miss 1                         # no dirty page, no padding
        W2-3 | write_miss 2 3
        W0-1 | write_hit 0 1                                         # A is dirty in full
        W4 | evict_dirty 0 1 2 3, write_miss 4
        """,
        {"lookups": 14, "write_hits": 2, "evictions": 11, "destages": 7, "padded_pages": 6, "dirty_pages": 1},
    ),
    Told(
        "bplru: padding where half of the group is there",
        drive("bplru", 4, padding="share", padding_share=0.5),
        """
        W0 | write_miss 0                                             # A
        W4 | write_miss 4
        R5 | read_miss 5                                              # A B: 0d 4d 5c
        R8 | read_miss 8                                              # A B C
        R9 | evict_dirty 0, read_miss 9                               # 1 of 4: not padded
        W12 | evict_dirty 4, evict_clean 5, pad 5 6 7, write_miss 12  # 2 of 4
        R13 | read_miss 13                                            # C D: 8c 9c 12d 13c
        R0 | evict_clean 8 9, read_miss 0
        """,
        {"lookups": 8, "evictions": 5, "destages": 2, "padded_pages": 3, "dirty_pages": 1},
    ),
    Told(
        "bplru: padding where more than half of the group is there",
        drive("bplru", 5, padding="share", padding_share=0.51),
        # 0.51 x 4 = 2.04: from 3 on.
        """
        W0-1 | write_miss 0 1
        W4-6 | write_miss 4 5 6
        R8 | evict_dirty 0 1, read_miss 8
        R9 | read_miss 9
        R10 | evict_dirty 4 5 6, pad 7, read_miss 10
        """,
        {"lookups": 8, "evictions": 5, "destages": 5, "padded_pages": 1},
    ),
    Told(
        "bplru: padding where a share of none is there",
        drive("bplru", 1, padding="share", padding_share=0.0),
        """
        W1 | write_miss 1
        R5 | evict_dirty 1, pad 0 2 3, read_miss 5
        R1 | evict_clean 5, read_miss 1
        """,
        {"lookups": 3, "evictions": 2, "destages": 1, "padded_pages": 3},
    ),
    Told(
        "bplru: padding where all of the group is there",
        drive("bplru", 4, padding="share", padding_share=1.0),
        """
        R0-2 | read_miss 0 1 2
        W3:2 | write_miss 3
        R4 | evict_clean 0 1 2, evict_dirty 3, pad 0 1 2, read_miss 4
        W5-7 | write_miss 5 6 7
        T4 | drop 4
        R8 | read_miss 8
        R9 | evict_dirty 5 6 7, read_miss 9
        """,
        {"lookups": 10, "evictions": 7, "destages": 4, "padded_pages": 3},
    ),
    Told(
        "bplru: the share of a group is counted in decimals",
        drive("bplru", 11, padding="share", padding_share=0.55) | {"device.pages_per_block": 20},
        # 0.55 x 20 = 11.
        """
        W0-10 | write_miss 0 1 2 3 4 5 6 7 8 9 10
        R20 | evict_dirty 0 1 2 3 4 5 6 7 8 9 10, pad 11 12 13 14 15 16 17 18 19, read_miss 20
        """,
        {"lookups": 12, "evictions": 11, "destages": 11, "padded_pages": 9},
    ),
    Told(
        "bplru: the last group of a chip is padded as far as it goes",
        drive("bplru", 1, padding="always") | {"device.overprovisioning": 0.46},
        # 0.54 x 64 = 34.56: 34 pages, the last group is 32 33.
        """
        W33 | write_miss 33
        R0 | evict_dirty 33, pad 32, read_miss 0
        """,
        {"lookups": 2, "evictions": 1, "destages": 1, "padded_pages": 1},
    ),
    Told(
        "bplru: a trim takes pages out of a group, and the group with its last",
        drive("bplru", 3, padding="always"),
        """
        W0-1 | write_miss 0 1
        W4 | write_miss 4                            # A B
        T1 | drop 1
        W8 | write_miss 8                            # A B C: 0 4 8
        T0-3 | drop 0                                # B C
        R0 | read_miss 0                             # B C A
        R1 | evict_dirty 4, pad 5 6 7, read_miss 1   # C A: 8 0 1
        T0 | drop 0
        W1 | write_hit 1
        R12 | read_miss 12                           # C A D
        R13 | evict_dirty 8, pad 9 10 11, read_miss 13
        R14 | evict_dirty 1, pad 0 2 3, read_miss 14
        """,
        {"lookups": 10, "write_hits": 1, "evictions": 3, "destages": 3, "padded_pages": 9},
    ),
    Told(
        "bplru: a read past the cache leaves the order of its group alone",
        drive("bplru", 3, reads=False),
        """
        W0 | write_miss 0
        W4 | write_miss 4
        R1 | read_past 1
        W8 | write_miss 8
        W12 | evict_dirty 0, write_miss 12
        """,
        {"lookups": 5, "evictions": 1, "destages": 1, "dirty_pages": 3},
    ),
    Told(
        "padding is for bplru",
        drive("fab", 2, padding="always"),
        """
        W0-1 | write_miss 0 1
        W4 | evict_dirty 0 1, write_miss 4
        """,
        {"lookups": 3, "evictions": 2, "destages": 2, "dirty_pages": 1},
    ),
]

FAB = [
    Told(
        "fab: the group with the most pages, among equals the one used longest ago",
        drive("fab", 5),
        """
        W0-1 | write_miss 0 1
        W4-5 | write_miss 4 5
        W8 | write_miss 8                        # A2 B2 C1, full
        W9 | evict_dirty 0 1, write_miss 9       # B2 C2: 4 5 8 9
        R4 | read_hit 4                          # C2 B2
        R12 | read_miss 12                       # C2 B2 D1, full
        R13 | evict_dirty 8 9, read_miss 13      # B2 D2
        W6 | write_miss 6                        # D2 B3, full
        R0 | evict_dirty 4 5 6, read_miss 0      # the largest, though used last: D2 A1
        """,
        {"lookups": 11, "read_hits": 1, "evictions": 7, "destages": 7},
    ),
    Told(
        "fab: the group of the page to be kept is itself the victim",
        drive("fab", 5),
        """
        W0-2 | write_miss 0 1 2
        R4-5 | read_miss 4 5                     # A3 B2, full
        W3 | evict_dirty 0 1 2, write_miss 3     # B2 A1
        W0-1 | write_miss 0 1                    # B2 A3, full
        W8 | evict_dirty 0 1 3, write_miss 8
        """,
        {"lookups": 9, "evictions": 6, "destages": 6, "dirty_pages": 1},
    ),
    Told(
        "fab: no compensation",
        drive("fab", 8),
        # With it B, completed last, would be the first among equals.
        """
        W0-3 | write_miss 0 1 2 3
        W4-7 | write_miss 4 5 6 7
        W8 | evict_dirty 0 1 2 3, write_miss 8
        """,
        {"lookups": 9, "evictions": 4, "destages": 4, "dirty_pages": 5},
    ),
    Told(
        "fab: a trim makes a group smaller, and does not use it",
        drive("fab", 5),
        """
        W0-2 | write_miss 0 1 2
        W4-5 | write_miss 4 5                       # A3 B2
        T0 | drop 0                                 # A2 B2
        R8 | read_miss 8                            # full
        R9 | evict_dirty 1 2, read_miss 9           # B2 C2
        T4 | drop 4                                 # B1 C2
        R12-13 | read_miss 12 13                    # B1 C2 D2, full
        R0 | evict_clean 8 9, read_miss 0
        """,
        {"lookups": 10, "evictions": 4, "destages": 2, "dirty_pages": 1},
    ),
    Told(
        "fab: partial pages and clean ones count as well",
        drive("fab", 4, padding="always"),
        """
        W0:0 | write_miss 0
        R1 | read_miss 1
        W2:3 | write_miss 2
        R4 | read_miss 4
        R5 | evict_dirty 0, evict_clean 1, evict_dirty 2, read_miss 5
        """,
        {"lookups": 5, "evictions": 3, "destages": 2},
    ),
]

AHEAD = [
    Told(
        "ahead: half of the cache is kept free",
        drive("lru", 4, destage_ahead=0.5),
        """
        W0-1 | write_miss 0 1
        W2 | write_miss 2, evict_dirty 0           # 1d 2d
        R3 | read_miss 3, evict_dirty 1            # 2d 3c
        W2 | write_hit 2                           # 3c 2d
        W4-5 | write_miss 4, evict_clean 3, write_miss 5, evict_dirty 2
        """,
        {"lookups": 7, "write_hits": 1, "evictions": 4, "destages": 3, "dirty_pages": 2},
    ),
    Told(
        "ahead: less than a page",
        drive("lru", 4, destage_ahead=0.24),
        # floor(0.24 x 4) = 0
        """
        W0-3 | write_miss 0 1 2 3
        W4 | evict_dirty 0, write_miss 4
        """,
        {"lookups": 5, "evictions": 1, "destages": 1, "dirty_pages": 4},
    ),
    Told(
        "ahead: counted in decimals",
        drive("lru", 100, chips=4, destage_ahead=0.29),
        # 100 - floor(0.29 x 100) = 71 pages.
        f"""
        W0-70 | write_miss {" ".join(map(str, range(71)))}
        W71 | write_miss 71, evict_dirty 0
        """,
        {"lookups": 72, "evictions": 1, "destages": 1, "dirty_pages": 71},
    ),
    Told(
        "ahead: shares are of the cache, also of one that is larger than the drive",
        drive("lru", 40, destage_ahead=0.5),
        # The drive exports 32 pages. 40 - floor(0.5 x 40) = 20 pages.
        f"""
        W0-19 | write_miss {" ".join(map(str, range(20)))}
        W20 | write_miss 20, evict_dirty 0
        """,
        {"lookups": 21, "evictions": 1, "destages": 1, "dirty_pages": 20},
    ),
    Told(
        "ahead, cflru: never the page just kept, and no page in its place",
        drive("cflru", 4, destage_ahead=0.5, clean_window=1.0),
        """
        W0-1 | write_miss 0 1
        R2 | read_miss 2                                          # 0d 1d 2c: the victim would be 2
        R3 | read_miss 3, evict_clean 2                           # 0d 1d 3c: the victim would be 3
        W4 | write_miss 4, evict_clean 3, evict_dirty 0           # 1d 4d
        """,
        {"lookups": 5, "evictions": 3, "destages": 1, "dirty_pages": 2},
    ),
    Told(
        "ahead, bplru: never the group of the page just kept, and no page in its place",
        drive("bplru", 8, destage_ahead=0.5),
        # At most 4 pages. W3 completes A, which is next from then on; B is not evicted instead.
        """
        W4 | write_miss 4
        W0-2 | write_miss 0 1 2                              # B A: 4 0 1 2
        W3 | write_miss 3                                    # A B, 5 pages
        R5 | read_miss 5, evict_dirty 0 1 2 3                # B: 4d 5c
        R8-9 | read_miss 8 9                                 # B C, 4 pages
        W10 | write_miss 10, evict_dirty 4, evict_clean 5    # C: 8c 9c 10d
        R11 | read_miss 11
        """,
        {"lookups": 10, "evictions": 6, "destages": 5, "dirty_pages": 1},
    ),
    Told(
        "ahead, bplru: what is padded comes after the page as well",
        drive("bplru", 4, destage_ahead=0.5, padding="always"),
        """
        W1 | write_miss 1
        W4-5 | write_miss 4, write_miss 5, evict_dirty 1, pad 0 2 3
        R8 | read_miss 8, evict_dirty 4 5, pad 6 7
        """,
        {"lookups": 4, "evictions": 3, "destages": 3, "padded_pages": 5},
    ),
    Told(
        "ahead, fab: the largest group is that of the page just kept",
        drive("fab", 4, destage_ahead=0.5),
        """
        W4 | write_miss 4
        W0-2 | write_miss 0 1 2                              # B1 A3: full, since A itself is the largest
        W3 | evict_dirty 0 1 2, write_miss 3                 # B1 A1
        R5 | read_miss 5                                     # A1 B2: the victim would be B
        R8 | read_miss 8, evict_dirty 4, evict_clean 5       # A1 C1
        """,
        {"lookups": 7, "evictions": 5, "destages": 4, "dirty_pages": 1},
    ),
]

# wu2017, Fig. 4: of n chips, Chip 2 is in GC. At the end of the LRU list stands D7, which is in Chip 2; then comes D5, in Chip n. With 6
# chips, Chip 1 being home 0, page 7 is in Chip 2 (7 mod 6 = 1) and page 5 in Chip 6 (5 mod 6 = 5).
FIGURE_4 = [
    Told(
        "wu2017, Fig. 4: D7 stays, D5 goes, for a read",
        drive("lru", 7, chips=6, gc_aware=True),
        """
        R7 | read_miss 7
        R5-6 | read_miss 5 6
        R1-4 | read_miss 1 2 3 4
        +1
        R8 | evict_clean 5, read_miss 8   # 7 6 1 2 3 4 8
        -1
        R9 | evict_clean 7, read_miss 9   # the end of GC: 7 is the next
        """,
        {"lookups": 9, "evictions": 2, "gc_skips": 1},
    ),
    Told(
        "wu2017, Fig. 4: D7 stays, D5 goes, for a write",
        drive("lru", 7, chips=6, gc_aware=True),
        """
        W7 | write_miss 7
        W5-6 | write_miss 5 6
        W1-4 | write_miss 1 2 3 4
        +1
        W8 | evict_dirty 5, write_miss 8
        -1
        W9 | evict_dirty 7, write_miss 9
        """,
        {"lookups": 9, "evictions": 2, "destages": 2, "gc_skips": 1, "dirty_pages": 7},
    ),
]

AWARE = [
    Told(
        "wu2017, Algorithm 1: every branch",
        drive("lru", 3, chips=4, gc_aware=True),
        """
        +0 +1 +2 +3
        R0-2 | read_miss 0 1 2            # not full: kept, whichever chip is in GC (lines 19 to 22)
        -1 -2 -3
        R0 | read_hit 0                   # a hit (lines 3 to 5): 1 2 0
        R3 | evict_clean 1, read_miss 3   # the bottom one is not in GC (lines 12 to 15): 2 0 3
        +2
        R4 | evict_clean 3, read_miss 4   # 2 and 0 are passed over (lines 10 and 11): 2 0 4
        R5 | read_bypass 5                # the walk reaches the end (line 18), though chips 1 and 3 are not in GC
        R4 | read_hit 4
        R5 | read_bypass 5
        R8-9 | read_bypass 8 9
        -0
        R5 | evict_clean 0, read_miss 5   # 2 4 5
        """,
        {"lookups": 12, "read_hits": 2, "evictions": 3, "gc_skips": 2, "gc_bypasses": 4},
    ),
    Told(
        "wu2017, Algorithm 2: every branch, and what is done where the walk finds no page",
        drive("lru", 3, chips=4, gc_aware=True),
        """
        +0 +1 +2 +3
        W0-2 | write_miss 0 1 2           # not full
        -1 -2 -3
        W0 | write_hit 0                  # 1 2 0
        W3 | evict_dirty 1, write_miss 3  # 2 0 3
        +2
        W4 | evict_dirty 3, write_miss 4  # 2 0 4
        W5 | evict_dirty 2, write_miss 5  # no page: as without awareness. 0 4 5
        W8 | evict_dirty 5, write_miss 8  # 0 4 8
        +1 +3
        W9 | evict_dirty 0, write_miss 9  # 4 8 9
        R4 | read_hit 4
        """,
        {
            "lookups": 10,
            "read_hits": 1,
            "write_hits": 1,
            "evictions": 5,
            "destages": 5,
            "gc_skips": 2,
            "gc_fallbacks": 2,
            "dirty_pages": 3,
        },
    ),
    Told(
        "aware: where the page to be kept lies does not matter",
        drive("lru", 2, chips=2, gc_aware=True),
        """
        W0 | write_miss 0
        W1 | write_miss 1
        +1
        R3 | evict_dirty 0, read_miss 3
        """,
        {"lookups": 3, "evictions": 1, "destages": 1, "dirty_pages": 1},
    ),
    Told(
        "aware: a page held in part is completed, since no page has to go",
        drive("lru", 2, chips=2, gc_aware=True),
        """
        +0 +1
        W0:0 | write_miss 0
        W1:0 | write_miss 1
        R0-2 | read_miss 0 1, read_bypass 2
        """,
        {"lookups": 5, "gc_bypasses": 1, "dirty_pages": 2},
    ),
    Told(
        "aware: without cache.reads nothing is bypassed",
        drive("lru", 1, chips=2, gc_aware=True, reads=False),
        """
        W0 | write_miss 0
        +0 +1
        R1 | read_past 1
        """,
        {"lookups": 2, "dirty_pages": 1},
    ),
    Told(
        "aware: a trim makes room where no page may go, and clean pages are passed over like dirty ones",
        drive("lru", 2, chips=2, gc_aware=True),
        """
        R0 | read_miss 0
        R2 | read_miss 2
        +0
        R1 | read_bypass 1
        T2 | drop 2
        R1 | read_miss 1                  # 0 1
        R3 | evict_clean 1, read_miss 3   # 0 3
        F
        W5 | evict_clean 3, write_miss 5
        """,
        {"lookups": 6, "evictions": 2, "gc_skips": 2, "gc_bypasses": 1, "dirty_pages": 1},
    ),
    Told(
        "aware: the state may change back and forth between two requests",
        drive("lru", 2, chips=2, gc_aware=True),
        """
        W0-1 | write_miss 0 1
        +0 -0 +1 -1 +0
        W2 | evict_dirty 1, write_miss 2
        -0 +0 -0
        W4 | evict_dirty 0, write_miss 4
        """,
        {"lookups": 4, "evictions": 2, "destages": 2, "gc_skips": 1, "dirty_pages": 2},
    ),
    Told(
        "cflru aware: the clean pages of the window, then all others",
        drive("cflru", 4, chips=2, gc_aware=True, clean_window=0.5),
        """
        R0 | read_miss 0
        W1 | write_miss 1
        R3 | read_miss 3
        W5 | write_miss 5                  # 0c 1d | 3c 5d
        +0
        R2 | evict_dirty 1, read_miss 2    # 0 is passed over; 1 was used longer ago than 3. 0c 3c | 5d 2c
        R4 | evict_clean 3, read_miss 4    # 0 is passed over, 3 is in the window. 0c 5d | 2c 4c
        -0
        +1
        R7 | evict_clean 0, read_miss 7    # no page is passed over. 5d 2c | 4c 7c
        +0
        R6 | read_bypass 6
        W6 | evict_clean 2, write_miss 6   # as without awareness. 5d 4c | 7c 6d
        R8 | read_bypass 8
        -1
        W8 | evict_dirty 5, write_miss 8   # 4 is passed over. 4c 7c | 6d 8d
        -0
        +1
        W3 | evict_clean 4, write_miss 3   # 7c 6d | 8d 3d
        W5 | evict_dirty 6, write_miss 5   # 7 is passed over
        """,
        {
            "lookups": 13,
            "evictions": 7,
            "destages": 3,
            "gc_skips": 4,
            "gc_fallbacks": 1,
            "gc_bypasses": 2,
            "dirty_pages": 3,
        },
    ),
    Told(
        "cflru aware: who is passed over need not have been used longest ago",
        drive("cflru", 4, chips=2, gc_aware=True, clean_window=0.5),
        """
        W0 | write_miss 0
        R1 | read_miss 1
        R2-3 | read_miss 2 3              # 0d 1c | 2c 3c
        +1
        W4 | evict_dirty 0, write_miss 4  # 1 comes before 0, and is passed over
        """,
        {"lookups": 5, "evictions": 1, "destages": 1, "gc_skips": 1, "dirty_pages": 1},
    ),
    Told(
        "bplru aware: groups are passed over as a whole",
        drive("bplru", 4, chips=2, gc_aware=True, padding="always"),
        # A is 0 2 4 6 and C 8 10 12 14, both of chip 0, B 1 3 5 7.
        """
        W0 | write_miss 0
        W2 | write_miss 2
        W1 | write_miss 1
        R8 | read_miss 8                                           # A B C, full
        +0
        W3 | evict_dirty 1, pad 3 5 7, write_miss 3                # A C B
        +1
        R5 | read_bypass 5
        R3 | read_hit 3
        W5 | evict_dirty 0 2, pad 4 6, write_miss 5                # as without awareness. C B: 8c 3d 5d
        W7 | write_miss 7
        -0
        W9 | evict_clean 8, write_miss 9                           # B D
        R11 | read_bypass 11
        """,
        {
            "lookups": 11,
            "read_hits": 1,
            "evictions": 4,
            "destages": 3,
            "padded_pages": 5,
            "gc_skips": 1,
            "gc_fallbacks": 1,
            "gc_bypasses": 2,
            "dirty_pages": 4,
        },
    ),
    Told(
        "bplru aware: a group written to its end stays the next while its chip is in GC",
        drive("bplru", 6, chips=2, gc_aware=True),
        """
        W1 | write_miss 1
        W0 | write_miss 0
        W2 | write_miss 2
        W4 | write_miss 4
        W6 | write_miss 6                         # A B
        +0
        W3 | write_miss 3                         # A B, full
        R9 | evict_dirty 1 3, read_miss 9         # A D
        R11 | read_miss 11                        # A D, full
        -0
        R13 | evict_dirty 0 2 4 6, read_miss 13   # D
        """,
        {"lookups": 9, "evictions": 6, "destages": 6, "gc_skips": 1},
    ),
    Told(
        "fab aware: the next largest group",
        drive("fab", 6, chips=2, gc_aware=True),
        # A is 0 2 4 6, C 8 10 12 14 (chip 0); B 1 3 5 7, D 9 11 13 15 (chip 1).
        """
        W0 | write_miss 0
        W2 | write_miss 2
        W4 | write_miss 4
        W9 | write_miss 9
        W1 | write_miss 1
        W8 | write_miss 8                         # A3 D1 B1 C1
        +0
        R11 | evict_dirty 9, read_miss 11         # A3 B1 C1 D1: D was used longer ago than B
        R13 | evict_dirty 1, read_miss 13         # A3 C1 D2
        +1
        R1 | read_bypass 1
        W1 | evict_dirty 0 2 4, write_miss 1      # as without awareness. C1 D2 B1
        R10 | read_miss 10
        R12 | read_miss 12                        # D2 B1 C3, full
        -1
        W3 | evict_clean 11 13, write_miss 3      # C3 B2: C is passed over
        """,
        {
            "lookups": 13,
            "evictions": 7,
            "destages": 5,
            "gc_skips": 3,
            "gc_fallbacks": 1,
            "gc_bypasses": 1,
            "dirty_pages": 3,
        },
    ),
    Told(
        "aware ahead: no page goes where all are in GC",
        drive("lru", 4, chips=2, gc_aware=True, destage_ahead=0.5),
        """
        W0-1 | write_miss 0 1
        +0 +1
        W2-3 | write_miss 2 3                                          # 0 1 2 3
        W4 | evict_dirty 0, write_miss 4                               # 1 2 3 4
        -0
        W5 | evict_dirty 2, write_miss 5, evict_dirty 4                # 1 3 5: then no page
        R7 | read_miss 7
        R9 | read_bypass 9
        """,
        {
            "lookups": 8,
            "evictions": 3,
            "destages": 3,
            "gc_skips": 2,
            "gc_fallbacks": 1,
            "gc_bypasses": 1,
            "dirty_pages": 3,
        },
    ),
    Told(
        "aware ahead: never the page just kept, though it alone is not in GC",
        drive("lru", 4, chips=2, gc_aware=True, destage_ahead=0.5),
        """
        W1 | write_miss 1
        W3 | write_miss 3
        +1
        W0 | write_miss 0                          # 1 3 0: the victim would be 0
        W2 | write_miss 2, evict_dirty 0           # 1 3 2: the victim would be 2
        """,
        {"lookups": 4, "evictions": 1, "destages": 1, "gc_skips": 1, "dirty_pages": 3},
    ),
    Told(
        "aware ahead: several that pass over others",
        drive("lru", 4, chips=2, gc_aware=True, destage_ahead=0.5),
        """
        W1 | write_miss 1
        W0 | write_miss 0
        +1 +0
        W2 | write_miss 2                                           # 1 0 2
        W4 | write_miss 4                                           # 1 0 2 4
        -0
        W3 | evict_dirty 0, write_miss 3, evict_dirty 2, evict_dirty 4    # 1 3
        """,
        {"lookups": 5, "evictions": 3, "destages": 3, "gc_skips": 3, "dirty_pages": 2},
    ),
]

DYNAMIC = [
    Told(
        "dynamic allocation: a written page has no home until it leaves",
        drive("lru", 2, chips=2, gc_aware=True) | {"ftl.allocation": "dynamic"},
        """
        +0
        W0 | write_miss 0
        W2 | write_miss 2
        W4 | evict_dirty 0, write_miss 4   # never passed over. 2d 4d
        R6 | evict_dirty 2, read_miss 6    # 4d 6c
        +1
        R8 | evict_dirty 4, read_miss 8    # 6c 8c
        R10 | read_bypass 10               # these were only read, and lie on chip 0
        W6 | write_hit 6                   # now 6 has none: 8c 6d
        R10 | evict_dirty 6, read_miss 10  # 8 is passed over. 8c 10c
        W8 | write_hit 8                   # 10c 8d
        F | clean 8                        # clean, and still without a home
        R12 | evict_clean 8, read_miss 12  # 10 is passed over. 10c 12c
        R8 | read_bypass 8
        W1 | evict_clean 10, write_miss 1  # as without awareness
        """,
        {
            "lookups": 12,
            "write_hits": 2,
            "evictions": 6,
            "destages": 5,
            "gc_skips": 2,
            "gc_fallbacks": 1,
            "gc_bypasses": 2,
            "dirty_pages": 1,
        },
    ),
    Told(
        "dynamic allocation: a page that comes back after it left has a home again until it is written",
        drive("lru", 2, chips=2, gc_aware=True) | {"ftl.allocation": "dynamic"},
        """
        W0 | write_miss 0
        T0 | drop 0
        R0 | read_miss 0
        R2 | read_miss 2
        +0 +1
        R4 | read_bypass 4
        """,
        {"lookups": 4, "gc_bypasses": 1},
    ),
    Told(
        "dynamic allocation: a page written through the cache has no home either",
        drive("lru", 2, chips=2, gc_aware=True, writes=False) | {"ftl.allocation": "dynamic"},
        """
        R0 | read_miss 0
        R2 | read_miss 2
        +0
        W2 | write_through 2
        R4 | evict_clean 2, read_miss 4   # 0 is passed over
        R6 | read_bypass 6
        """,
        {"lookups": 4, "evictions": 1, "gc_skips": 1, "gc_bypasses": 1},
    ),
    Told(
        "dynamic allocation: above an array homes are drives, and pages keep them",
        drive("lru", 2, gc_aware=True, place="array")
        | {"ftl.allocation": "dynamic", "array.level": "rais0", "array.drives": 2, "array.stripe_kb": 2},
        """
        W0-1 | write_miss 0 1
        +0
        W2 | evict_dirty 1, write_miss 2
        """,
        {"lookups": 3, "evictions": 1, "destages": 1, "gc_skips": 1, "dirty_pages": 2},
    ),
]


def shaped(**device: Any) -> dict[str, Any]:
    """A GC-aware bplru cache of two pages, for tests of groups and homes."""
    return drive("bplru", 2, gc_aware=True, compensation=False, padding="always") | {
        key.replace("__", "."): value for key, value in device.items()
    }


WHERE = [
    Told(
        "places: two planes, each a pool",
        shaped(device__channels=2, device__planes_per_die=2),
        # CWDP: channel 0 1 0 1, plane 0 0 1 1. Page p is in pool p mod 4; its first group is p + 0 4 8 12.
        """
        W0 | write_miss 0
        W4 | write_miss 4
        W2 | evict_dirty 0 4, pad 8 12, write_miss 2
        W1 | write_miss 1
        +0
        W3 | evict_dirty 1, pad 5 9 13, write_miss 3   # 2 is on chip 0
        """,
        {"lookups": 5, "evictions": 3, "destages": 3, "padded_pages": 5, "gc_skips": 1, "dirty_pages": 2},
    ),
    Told(
        "places: one pool a die",
        shaped(device__channels=2, device__planes_per_die=2, ftl__pool="die"),
        """
        W0 | write_miss 0
        W2 | write_miss 2
        W1 | evict_dirty 0 2, pad 4 6, write_miss 1
        """,
        {"lookups": 3, "evictions": 2, "destages": 2, "padded_pages": 2, "dirty_pages": 1},
    ),
    Told(
        "places: planes first",
        shaped(device__channels=2, device__planes_per_die=2, ftl__allocation="PDWC"),
        # Pages 0 1 lie on the planes of chip 0, 2 3 on those of chip 1.
        """
        W1 | write_miss 1
        W2 | write_miss 2
        +0
        W3 | evict_dirty 2, pad 6 10 14, write_miss 3
        """,
        {"lookups": 3, "evictions": 1, "destages": 1, "padded_pages": 3, "gc_skips": 1, "dirty_pages": 2},
    ),
    Told(
        "places: chips are counted channel by channel",
        shaped(device__channels=2, device__chips_per_channel=2),
        # CWDP: pages 0 1 2 3 lie on chips 0 2 1 3.
        """
        W1 | write_miss 1
        W2 | write_miss 2
        +1
        W0 | evict_dirty 1, pad 5 9 13, write_miss 0    # chip 2 is not in GC
        W4 | evict_dirty 0, pad 4 8 12, write_miss 4    # 2 is passed over
        +0
        W3 | evict_dirty 2, pad 6 10 14, write_miss 3   # 2 and 4 are in GC: as without awareness
        """,
        {
            "lookups": 5,
            "evictions": 3,
            "destages": 3,
            "padded_pages": 9,
            "gc_skips": 1,
            "gc_fallbacks": 1,
            "dirty_pages": 2,
        },
    ),
    Told(
        "places: two dies of one chip",
        shaped(device__dies_per_chip=2),
        """
        W0 | write_miss 0
        W1 | write_miss 1
        +0
        R2 | read_bypass 2
        W3 | evict_dirty 0, pad 2 4 6, write_miss 3
        """,
        {"lookups": 4, "evictions": 1, "destages": 1, "padded_pages": 3, "gc_fallbacks": 1, "gc_bypasses": 1, "dirty_pages": 2},
    ),
    Told(
        "places: an array without parity, units of two pages",
        shaped(cache__place="array", array__level="rais0", array__drives=2, array__stripe_kb=4),
        # Drive 0 holds 0 1 4 5 8 9 ..., drive 1 holds 2 3 6 7 ...: groups of 4.
        """
        W4 | write_miss 4
        W3 | write_miss 3
        W9 | evict_dirty 4, pad 0 1 5, write_miss 9
        +1
        W8 | evict_dirty 9, pad 8 12 13, write_miss 8
        """,
        {"lookups": 4, "evictions": 2, "destages": 2, "padded_pages": 6, "gc_skips": 1, "dirty_pages": 2},
    ),
    Told(
        "places: an array with parity, units of two pages",
        shaped(cache__place="array", array__level="rais5", array__drives=3, array__stripe_kb=4),
        # Row 0: data 0 1 on drive 0, 2 3 on drive 1, parity on 2. Row 1: parity on 1, so 4 5 on drive 2 and 6 7 on drive 0. Row 2: parity
        # on 0, so 8 9 on drive 1, 10 11 on drive 2. Groups of 4: drive 0 holds 0 1 6 7, drive 1 2 3 8 9, drive 2 4 5 10 11.
        """
        W6 | write_miss 6
        W11 | write_miss 11
        W2 | evict_dirty 6, pad 0 1 7, write_miss 2
        +2
        R9 | evict_dirty 2, pad 3 8 9, read_miss 9
        R8 | evict_clean 9, read_miss 8
        -2
        W1 | evict_dirty 11, pad 4 5 10, write_miss 1
        """,
        {"lookups": 6, "evictions": 4, "destages": 3, "padded_pages": 9, "gc_skips": 2, "dirty_pages": 1},
    ),
    Told(
        "places: contiguous groups, whatever the chips",
        drive("bplru", 3, chips=2, compensation=False, padding="always", group="contiguous"),
        # Groups 0-3, 4-7, 8-11; even pages on chip 0, odd ones on chip 1.
        """
        W0 | write_miss 0
        W3 | write_miss 3
        W6 | write_miss 6
        W8 | evict_dirty 0 3, pad 1 2, write_miss 8
        R10 | read_miss 10
        R1 | evict_dirty 6, pad 4 5 7, read_miss 1
        """,
        {"lookups": 6, "evictions": 3, "destages": 3, "padded_pages": 5, "spread_groups": 1, "dirty_pages": 1},
    ),
    Told(
        "places: contiguous groups above an array",
        shaped(cache__place="array", array__level="rais0", array__drives=2, array__stripe_kb=4, cache__group="contiguous")
        | {"cache.gc_aware": False},
        # Drive 0 holds 0 1 4 5 8 9 ..., drive 1 holds 2 3 6 7 ...: groups 0-3, 4-7, whatever the drives.
        """
        W1 | write_miss 1
        W2 | write_miss 2
        W4 | evict_dirty 1 2, pad 0 3, write_miss 4
        W5 | write_miss 5
        W8 | evict_dirty 4 5, pad 6 7, write_miss 8
        """,
        {"lookups": 5, "evictions": 4, "destages": 4, "padded_pages": 4, "spread_groups": 1, "dirty_pages": 1},
    ),
    Told(
        "places: an array of which each drive has several chips, all one home",
        shaped(device__channels=2, cache__place="array", array__level="rais0", array__drives=2, array__stripe_kb=2),
        # Drive 0 holds the even pages: groups 0 2 4 6, 8 10 12 14, ..., whatever its chips.
        """
        W0 | write_miss 0
        W1 | write_miss 1
        +0
        W2 | evict_dirty 1, pad 3 5 7, write_miss 2
        R1 | read_bypass 1
        W8 | evict_dirty 0 2, pad 4 6, write_miss 8
        """,
        {
            "lookups": 5,
            "evictions": 3,
            "destages": 3,
            "padded_pages": 5,
            "gc_skips": 1,
            "gc_fallbacks": 1,
            "gc_bypasses": 1,
            "dirty_pages": 1,
        },
    ),
]

BY_HAND = [*LRU, *SECTORS, *KINDS, *CFLRU, *BPLRU, *FAB, *AHEAD, *FIGURE_4, *AWARE, *DYNAMIC, *WHERE]


@pytest.mark.parametrize("sequence", BY_HAND, ids=[sequence.name for sequence in BY_HAND])
def test_sequences_by_hand(replayed: ReplayOf, sequence: Told) -> None:
    requests, in_gc, events = parsed(sequence.lines)
    replay = replayed(sequence.keys, requests, in_gc)
    assert replay.events == events
    assert replay.counters == dict.fromkeys(COUNTERS, 0) | sequence.counters


# Random cases


@dataclass(frozen=True)
class Case:
    """A cache, and the distribution of its requests."""

    keys: dict[str, Any]
    weights: tuple[int, int, int, int]
    """Weights of reads, writes, trims and flushes."""
    runs: float
    """Probability that a request starts a sequential write of a group from its first page."""
    hot: int
    """Number of addressed pages, as a multiple of the cache's pages."""
    unrest: float
    """Probability that the GC state changes before a request."""
    seed: int
    count: int
    """Number of requests."""


@dataclass
class Tally:
    """Events of all cases, which show that the comparison covers active caches."""

    cases: int = 0
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Number of occurrences, by policy and event or counter."""

    def add(self, case: Case, replay: Replay) -> None:
        policy = case.keys["cache.policy"]
        self.cases += 1
        self.counts.update((policy, what) for _index, what, _page in replay.events)
        self.counts.update({(policy, name): count for name, count in replay.counters.items()})

    def of(self, what: str) -> list[int]:
        """Number of occurrences of an event under each policy."""
        return [self.counts[policy, what] for policy in POLICIES]


POLICIES = ["lru", "cflru", "bplru", "fab"]
SHARES = [0.0, 0.01, 0.1, 0.25, 0.29, 0.5, 0.55, 0.57, 0.75, 0.9, 1.0]


@st.composite
def cases(draw: st.DrawFn, cache: Settings | None = None) -> Case:
    """Small caches over small drives and arrays; `cache`: keys with fixed values."""
    booleans = st.booleans()
    mostly = st.sampled_from([True, True, True, False])
    page_bytes = draw(st.sampled_from([512, 1536, 2048]))
    most = draw(st.sampled_from([2, 6, 12, 40]))
    place = draw(st.sampled_from(["drive", "drive", "array"]))
    keys = draw(devices(page_bytes)) | {
        "cache.policy": draw(st.sampled_from(POLICIES)),
        "cache.place": place,
        "cache.bytes": draw(st.integers(1, most)) * page_bytes + draw(st.sampled_from([0, 1, page_bytes - 1])),
        "cache.access_ns": draw(st.sampled_from([0, 1000])),
        "cache.reads": draw(mostly),
        "cache.writes": draw(mostly),
        "cache.gc_aware": draw(mostly),
        "cache.soon": draw(st.sampled_from([0, 2])),
        "cache.flush_on_idle": draw(booleans),
        "cache.destage_ahead": draw(st.sampled_from([0.0, 0.0, *SHARES[:-1]])),
        "cache.clean_window": draw(st.sampled_from(SHARES)),
        "cache.group": draw(st.sampled_from(["chip", "contiguous", "contiguous", "contiguous"])),
        "cache.compensation": draw(mostly),
        "cache.padding": draw(st.sampled_from(["off", "always", "share"])),
        "cache.padding_share": draw(st.sampled_from(SHARES)),
    }
    if place == "array":
        keys |= draw(arrays(page_bytes))
    keys |= dict(cache or {})
    if keys["cache.policy"] in ("bplru", "fab") and keys["cache.gc_aware"]:
        # The pages of a group have no chip in common: that is refused.
        keys["cache.group"] = "chip"
        if place == "drive" and keys["ftl.allocation"] == "dynamic":
            keys["ftl.allocation"] = "CWDP"
    return Case(
        keys=keys,
        weights=draw(st.sampled_from([(10, 10, 1, 1), (20, 4, 1, 0), (4, 20, 1, 1), (5, 5, 5, 1)])),
        runs=draw(st.sampled_from([0.0, 0.1, 0.5])),
        hot=draw(st.sampled_from([1, 2, 2, 5, 100])),
        unrest=draw(st.sampled_from([0.0, 0.05, 0.3, 1.0])),
        seed=draw(st.integers(0, 2**32)),
        count=draw(st.integers(1, 120)),
    )


@st.composite
def devices(draw: st.DrawFn, page_bytes: int) -> dict[str, Any]:
    allocations = ["".join(letters) for letters in permutations("CWDP")]
    return {
        "device.channels": draw(st.integers(1, 3)),
        "device.chips_per_channel": draw(st.integers(1, 2)),
        "device.dies_per_chip": draw(st.integers(1, 2)),
        "device.planes_per_die": draw(st.integers(1, 2)),
        "device.blocks_per_plane": draw(st.integers(8, 12)),
        "device.pages_per_block": draw(st.sampled_from([2, 3, 4, 5, 8, 20])),
        "device.page_bytes": page_bytes,
        "device.overprovisioning": draw(st.sampled_from([0.5, 0.57, 0.7])),
        "ftl.allocation": draw(st.sampled_from(["dynamic", "CWDP", draw(st.sampled_from(allocations))])),
        "ftl.pool": draw(st.sampled_from(["plane", "die"])),
    }


@st.composite
def arrays(draw: st.DrawFn, page_bytes: int) -> dict[str, Any]:
    level = draw(st.sampled_from(["rais0", "rais5"]))
    return {
        "array.level": level,
        "array.drives": draw(st.integers(2 if level == "rais0" else 3, 5)),
        "array.stripe_kb": draw(st.integers(1, 4)) * page_bytes / 1024,
    }


def asked(case: Case, layout: Layout) -> tuple[list[Request], list[InGc]]:
    """The requests of a case, and its GC schedule."""
    dice = random.Random(case.seed)
    page_bytes, pages = layout.page_bytes, len(layout.home)
    footprint = min(pages, max(2, case.hot * case.keys["cache.bytes"] // page_bytes))
    first = dice.randrange(pages - footprint + 1)
    requests: list[Request] = []
    while len(requests) < case.count:
        page = first + dice.randrange(footprint)
        if dice.random() < case.runs:
            requests += run_over(layout.pages[layout.group[page]], page_bytes, dice)
            continue
        op = dice.choices(["read", "write", "trim", "flush"], case.weights)[0]
        if op == "flush":
            requests.append((op, 0, 0))
            continue
        end = min(page + dice.choice([1, 1, 1, 2, 4, 9]), pages)
        begin_byte, end_byte = page * page_bytes, end * page_bytes
        if dice.random() < 0.4:
            # Some sectors, in the first and the last page, which may be one.
            sectors = page_bytes // SECTOR_BYTES
            begin_byte += dice.randrange(sectors) * SECTOR_BYTES
            end_byte -= dice.randrange(min(sectors, (end_byte - begin_byte) // SECTOR_BYTES)) * SECTOR_BYTES
        requests.append((op, begin_byte, end_byte - begin_byte))
    return requests[: case.count], unrest(case.unrest, case.count, max(layout.home) + 1, dice)


def run_over(group: list[int], page_bytes: int, dice: random.Random) -> list[Request]:
    """Writes of a group's pages from the first on, sometimes with another request in between."""
    run: list[Request] = [("write", page * page_bytes, page_bytes) for page in group]
    if dice.random() < 0.3:
        other = (dice.choice(["read", "write", "trim"]), dice.choice(group) * page_bytes, page_bytes)
        run.insert(dice.randrange(len(run)), other)
    return run


def unrest(likely: float, requests: int, homes: int, dice: random.Random) -> list[InGc]:
    """Beginnings and ends of GC on homes: single ones, and sometimes all at once."""
    schedule: list[InGc] = []
    for index in range(requests):
        if dice.random() < likely:
            state = dice.random() < 0.6
            some = range(homes) if dice.random() < 0.1 else [dice.randrange(homes)]
            schedule += [(index, home, state) for home in some]
    return schedule


class Disagreement(AssertionError):
    """Cache and reference decide differently."""


def compare(case: Case, tally: Tally, replay: ReplayOf = produced) -> None:
    layout = layout_of(DEFAULTS | case.keys)
    requests, in_gc = asked(case, layout)
    expected = ReferenceCache(DEFAULTS | case.keys, layout).replay(requests, in_gc)
    agree(replay(case.keys, requests, in_gc), expected, requests)
    tally.add(case, expected)


def agree(replay: Replay, reference: Replay, requests: Sequence[Request]) -> None:
    for mine, theirs in itertools.zip_longest(replay.events, reference.events):
        if mine != theirs:
            index = min(event[0] for event in (mine, theirs) if event)
            raise Disagreement(f"after {requests[max(0, index - 3) : index + 1]}: {mine}, the reference {theirs}")
    if replay.counters != reference.counters:
        raise Disagreement(f"{replay.counters}, the reference {reference.counters}")


def for_all(check: Callable[[Case], None], *, count: int, cache: Settings | None = None, shrink: bool = True) -> None:
    """Checks `count` cases; the first failure raises."""

    @settings(
        max_examples=count,
        derandomize=WANTED is None and not FULL,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(case=cases(cache))
    def holds(case: Case) -> None:
        check(case)

    holds()


def test_random_requests() -> None:
    tally = Tally()
    for_all(lambda case: compare(case, tally), count=CASES)
    if WANTED is None:
        # Everything was at work under every policy.
        for what in ("read_hit", "read_miss", "read_past", "read_bypass", "write_hit", "write_miss", "write_through"):
            assert min(tally.of(what)) > 30, what
        for what in ("evict_clean", "evict_dirty", "drop", "clean", "gc_skips", "gc_fallbacks"):
            assert min(tally.of(what)) > 30, what
        assert tally.counts["bplru", "pad"] > 30
        assert min(tally.counts[policy, "spread_groups"] for policy in ("bplru", "fab")) > 30


# Caches that are wrong in one point: the cases tell each from the reference.


class WindowOnePageLarger(ReferenceCache):
    """Planted bug: looks for clean pages one page too far."""

    def __init__(self, settings: Settings, layout: Layout | None = None) -> None:
        super().__init__(settings, layout)
        self.window += 1


class CompensatesPagesWrittenInPart(ReferenceCache):
    """Planted bug: takes every written page as completely written."""

    def compensate(self, page: int) -> None:
        group = self.layout.group[page]
        self.writes_of[group] = [(page, True) for page, _whole in self.writes_of[group]]
        super().compensate(page)


class CompensatesWhatBeginsAgain(ReferenceCache):
    """Planted bug: only considers the last writes of a group."""

    def compensate(self, page: int) -> None:
        group = self.layout.group[page]
        written = self.writes_of[group]
        self.writes_of[group] = written[-len(self.layout.pages[group]) :]
        super().compensate(page)
        self.writes_of[group] = written


class CompensatedGroupsStayNext(ReferenceCache):
    """Planted bug: a later use does not make a compensated group recent."""

    def use(self, page: int) -> None:
        first = self.group_order[:1]
        super().use(page)
        group = self.layout.group[page]
        if first == [group] and self.policy == "bplru" and len(self.kept_of(group)) == len(self.layout.pages[group]):
            self.compensate(page)


class BreaksTiesTheOtherWay(ReferenceCache):
    """Planted bug: chooses the most recently used among the largest groups."""

    def victims(self) -> Iterator[list[int]]:
        if self.policy == "fab":
            return iter(sorted((self.kept_of(group) for group in reversed(self.group_order)), key=len, reverse=True))
        return super().victims()


class OtherCleanPagesBeforeDirtyOnes(ReferenceCache):
    """Planted bug: continues from the window's clean pages to those outside it."""

    def victims(self) -> Iterator[list[int]]:
        if self.policy == "cflru" and self.settings["cache.gc_aware"]:
            clean, dirty = ([[page] for page in self.page_order if self.kept[page].dirty is state] for state in (False, True))
            inside = [[page] for page in self.page_order[: self.window]]
            return iter([*clean, *dirty] if any(page in inside for page in clean) else [[page] for page in self.page_order])
        return super().victims()


class FlushesUse(ReferenceCache):
    """Planted bug: counts a flush as a use."""

    def flush(self) -> None:
        for page in self.dirty_order:
            self.use(page)
        super().flush()


class ReadsDoNotUse(ReferenceCache):
    """Planted bug: does not count a read hit as a use."""

    def read(self, page: int, sectors: set[int]) -> None:
        pages, groups = list(self.page_order), list(self.group_order)
        hit = page in self.kept
        super().read(page, sectors)
        if hit:
            self.page_order, self.group_order = pages, groups


class PadsCleanGroups(ReferenceCache):
    """Planted bug: pads groups without destaged pages."""

    def evict(self, victim: list[int]) -> None:
        clean = not any(self.kept[page].dirty for page in victim)
        super().evict(victim)
        group = self.layout.pages[self.layout.group[victim[0]]]
        if clean and self.pads(len(victim), len(group)):
            for page in group:
                self.event("pad", page)


class CountsAheadThatCameToNothing(ReferenceCache):
    """Planted bug: counts skipped pages when nothing was evicted."""

    def evict_ahead(self, just_kept: int) -> None:
        super().evict_ahead(just_kept)
        if len(self.kept) > self.most:
            victim, passed_over = self.choose()
            self.counters["gc_skips"] += victim is not None and passed_over


class AheadTakesTheNext(ReferenceCache):
    """Planted bug: evicts ahead another page instead of the one just cached."""

    def evict_ahead(self, just_kept: int) -> None:
        super().evict_ahead(just_kept)
        others = [victim for victim in self.victims() if just_kept not in victim and not all(map(self.in_gc_now, victim))]
        if len(self.kept) > self.most and others and not self.settings["cache.gc_aware"]:
            self.evict(others[0])


class FallsBackOnTheLastUsed(ReferenceCache):
    """Planted bug: evicts from the other end if all homes are in GC."""

    def victims(self) -> Iterator[list[int]]:
        found = list(super().victims())
        all_in_gc = self.settings["cache.gc_aware"] and all(self.in_gc_now(page) for victim in found for page in victim)
        return iter(found[::-1] if all_in_gc else found)


class FlushedPagesHaveAHome(ReferenceCache):
    """Planted bug: gives pages a home as soon as they are clean."""

    def flush(self) -> None:
        super().flush()
        for page in self.kept.values():
            page.written = False


class PartsAreTrimmed(ReferenceCache):
    """Planted bug: drops pages of which two sectors are trimmed."""

    def split(self, offset: int, length: int) -> Iterator[tuple[int, set[int], bool]]:
        for page, sectors, whole in super().split(offset, length):
            yield page, sectors, whole or len(sectors) > 1


class PartOfAPageCounts(ReferenceCache):
    """Planted bug: takes a part of a page as a whole page."""

    def __init__(self, settings: Settings, layout: Layout | None = None) -> None:
        super().__init__(settings, layout)
        self.capacity = -(-settings["cache.bytes"] // self.layout.page_bytes)


WRONG: dict[type[ReferenceCache], dict[str, Any]] = {
    WindowOnePageLarger: {"cache.policy": "cflru"},
    CompensatesPagesWrittenInPart: {"cache.policy": "bplru", "device.pages_per_block": 2},
    CompensatesWhatBeginsAgain: {"cache.policy": "bplru"},
    CompensatedGroupsStayNext: {"cache.policy": "bplru"},
    BreaksTiesTheOtherWay: {"cache.policy": "fab"},
    OtherCleanPagesBeforeDirtyOnes: {"cache.policy": "cflru"},
    FlushesUse: {},
    ReadsDoNotUse: {},
    PadsCleanGroups: {"cache.policy": "bplru", "cache.padding": "always"},
    CountsAheadThatCameToNothing: {"cache.destage_ahead": 0.5},
    AheadTakesTheNext: {"cache.destage_ahead": 0.5, "cache.gc_aware": False},
    FallsBackOnTheLastUsed: {},
    FlushedPagesHaveAHome: {"cache.policy": "lru", "ftl.allocation": "dynamic"},
    PartsAreTrimmed: {},
    PartOfAPageCounts: {},
}
"""Planted bugs, each with settings under which it shows soon."""


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_the_cases_find_what_is_wrong(wrong: type[ReferenceCache]) -> None:
    def replay(keys: Settings, requests: Sequence[Request], in_gc: Sequence[InGc]) -> Replay:
        return wrong(DEFAULTS | keys).replay(requests, in_gc)

    with pytest.raises(Disagreement):
        for_all(lambda case: compare(case, Tally(), replay), count=CASES, cache=WRONG[wrong], shrink=False)


# A captured trace


def segment(first: int, count: int) -> list[Request]:
    """Requests of the trace that comes with the project."""
    rows = whole_trace().slice(first, count).to_pydict()
    ops = {"R": "read", "W": "write", "T": "trim"}
    return [(ops[op], offset, size) for op, offset, size in zip(rows["op"], rows["offset_bytes"], rows["size_bytes"], strict=True)]


@functools.cache
def whole_trace() -> pa.Table:
    return pyarrow.csv.read_csv(TRACE)


LARGE: dict[str, Any] = {
    "device.channels": 8,
    "device.chips_per_channel": 2,
    "device.dies_per_chip": 1,
    "device.planes_per_die": 1,
    # 16 dies x 1280 blocks x 64 pages of 4 KiB are 5 GiB, of which four fifths are exported.
    "device.blocks_per_plane": 1280,
    "device.pages_per_block": 64,
    "device.page_bytes": 4096,
    "device.overprovisioning": 0.2,
}


@functools.cache
def large_layout() -> Layout:
    return layout_of(DEFAULTS | LARGE)


TRACED: list[dict[str, Any]] = [
    {"cache.policy": "lru", "cache.destage_ahead": 0.1},
    {"cache.policy": "cflru"},
    {"cache.policy": "cflru", "cache.clean_window": 0.6, "cache.destage_ahead": 0.02},
    {"cache.policy": "bplru"},
    {"cache.policy": "bplru", "cache.padding": "share", "cache.padding_share": 0.05, "cache.reads": False},
    {"cache.policy": "fab"},
]


@pytest.mark.parametrize("cache", TRACED, ids=lambda cache: "-".join(str(value) for value in cache.values()))
@pytest.mark.parametrize(("first", "pages"), [(0, 200), (200_000, 300)])
def test_a_captured_trace(cache: dict[str, Any], first: int, pages: int) -> None:
    requests = segment(first, 800)
    keys = LARGE | cache | {"cache.bytes": pages * 4096, "cache.gc_aware": True}
    in_gc = unrest(0.2, len(requests), 16, random.Random(first + pages))
    expected = ReferenceCache(DEFAULTS | keys, large_layout()).replay(requests, in_gc)
    agree(produced(keys, requests, in_gc), expected, requests)
    # The trace keeps the cache busy.
    assert expected.counters["evictions"] > 100
    assert expected.counters["gc_skips"] > 10
    assert expected.counters["read_hits"] + expected.counters["write_hits"] > 50


# Properties


def may_be_aware(keys: dict[str, Any]) -> bool:
    """Whether GC awareness is allowed: the pages of a group have a chip in common."""
    spread = keys["cache.group"] == "contiguous" or (keys["cache.place"] == "drive" and keys["ftl.allocation"] == "dynamic")
    return not (keys["cache.policy"] in ("bplru", "fab") and spread)


def test_awareness_changes_nothing_where_nothing_collects(replayed: ReplayOf) -> None:
    def check(case: Case) -> None:
        if not may_be_aware(case.keys):
            return
        requests, _in_gc = asked(case, layout_of(DEFAULTS | case.keys))
        aware, unaware = (replayed(case.keys | {"cache.gc_aware": aware}, requests) for aware in (True, False))
        assert aware == unaware

    for_all(check, count=CASES // 10)


def test_writes_are_cached_as_without_awareness_where_everything_collects(replayed: ReplayOf) -> None:
    # Nothing is evicted ahead then, and reads would be kept out: so neither is here.
    def check(case: Case) -> None:
        if not may_be_aware(case.keys):
            return
        layout = layout_of(DEFAULTS | case.keys)
        requests, _in_gc = asked(case, layout)
        in_gc = [(0, home, True) for home in range(max(layout.home) + 1)]
        aware, unaware = (replayed(case.keys | {"cache.gc_aware": aware}, requests, in_gc) for aware in (True, False))
        assert aware.events == unaware.events
        dynamic = case.keys["ftl.allocation"] == "dynamic" and case.keys["cache.place"] == "drive"
        full = {index for index, what, _page in aware.events if what.startswith("evict")}
        assert (aware.counters["gc_fallbacks"] > 0) == (bool(full) and not dynamic)
        assert aware.counters | {"gc_fallbacks": 0} == unaware.counters

    for_all(check, count=CASES // 10, cache={"cache.reads": False, "cache.writes": True, "cache.destage_ahead": 0.0})
