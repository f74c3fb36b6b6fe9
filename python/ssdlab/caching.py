"""A cache by itself: what hits and who is evicted, without a drive below and without time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ssdlab import _core
from ssdlab.errors import UsageError
from ssdlab.plans import Setup, value_text
from ssdlab.policies import Eviction, described_eviction

__all__ = ["CacheReplay", "replay_cache"]


@dataclass(frozen=True)
class CacheReplay:
    """What a cache did.

    `events` are triples of request, what happened, and page, in the order in which things were decided. What happened is one of
    `read_hit`, `read_miss` (the page is kept), `read_past` (it is not), `read_bypass` (it is not, since all homes are in GC),
    `write_hit`, `write_miss`, `write_through`, `evict_clean`, `evict_dirty`, `pad` (written with its group), `drop` (by a trim),
    `clean` (by a flush).
    """

    events: list[tuple[int, str, int]]
    counters: dict[str, int]

    @property
    def hit_ratio(self) -> float | None:
        """Hits by look-ups of pages; None without look-ups."""
        lookups = self.counters["lookups"]
        return (self.counters["read_hits"] + self.counters["write_hits"]) / lookups if lookups else None


def replay_cache(
    requests: Iterable[tuple[str, int, int]],
    *,
    device: str | None = None,
    scheme: str | None = None,
    set: Mapping[str, object] | None = None,
    in_gc: Iterable[tuple[int, int, bool]] = (),
    eviction: Eviction | None = None,
) -> CacheReplay:
    """Plays requests to a cache alone: which pages hit, are kept, and are evicted.

    What is fetched is there at once, what is destaged is below at once, and every page holds data. So this is what a run decides where no
    request overlaps another, and takes a fraction of its time.

    Args:
        requests: triples of `"read"`, `"write"`, `"trim"` or `"flush"`, the first byte, and the number of bytes.
        device: a device preset, for the size and the homes of pages.
        scheme: a scheme preset, or several joined by `+`.
        set: single keys, such as `{"cache.policy": "lru", "cache.bytes": 1 << 20}`.
        in_gc: triples of request, home and whether it is in GC from that request on, in order; at first none is. Homes are chips, and with
            `cache.place = "array"` drives.
        eviction: an eviction policy of your own, in place of that of `cache.policy`.
    """
    pairs = tuple((key, value_text(value)) for key, value in (set or {}).items())
    config = Setup(device=device, set=pairs).build(scheme)
    try:
        events, counters = _core.replay_cache(config, list(requests), list(in_gc), described_eviction(eviction))
    except OverflowError as error:
        raise UsageError(
            f"requests or in_gc: a number is out of range: {error}; offsets, lengths, requests and homes count from 0"
        ) from error
    return CacheReplay(events, json.loads(counters))
