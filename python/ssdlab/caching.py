"""A cache by itself: what hits and who is evicted, without a drive below and without time."""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Unpack

from ssdlab import _core
from ssdlab.checks import mapping, shown
from ssdlab.errors import UsageError
from ssdlab.option import complete, takes
from ssdlab.options import CacheOptions
from ssdlab.plans import Setup, value_text
from ssdlab.policies import described_eviction

__all__ = ["CacheReplay", "replay_cache"]


@dataclass(frozen=True)
class CacheReplay:
    """What a cache did.

    `events` are triples of request, what happened, and page, in the order in which things were decided. What happened is one of
    `read_hit`, `read_miss` (the page is kept), `read_past` (it is not), `read_bypass` (it is not, since all homes are in GC),
    `write_hit`, `write_miss`, `write_through`, `evict_clean`, `evict_dirty`, `pad` (written with its group), `drop` (by a trim),
    `clean` (by a flush). `counters` are those of a run's `cache` section (`policy_fallbacks` with a policy of your own).
    """

    events: list[tuple[int, str, int]]
    counters: dict[str, int]

    @property
    def hit_ratio(self) -> float | None:
        """Hits by look-ups of pages; None without look-ups."""
        lookups = self.counters["lookups"]
        return (self.counters["read_hits"] + self.counters["write_hits"]) / lookups if lookups else None


@takes(CacheOptions, but=CacheOptions)
def replay_cache(
    requests: Iterable[tuple[str, int, int]],
    *,
    in_gc: Iterable[tuple[int, int, bool]] = (),
    **options: Unpack[CacheOptions],
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
    asked = complete("replay_cache", CacheOptions, options)
    by_hand = tuple((key, value_text(value)) for key, value in mapping("set", asked["set"] or {}).items())
    config = Setup(device=asked["device"], set=by_hand).build(asked["scheme"])
    events, counters = _core.replay_cache(
        config,
        _triples("requests", requests, str, int, int),
        _triples("in_gc", in_gc, int, int, bool),
        described_eviction(asked["eviction"]),
    )
    return CacheReplay(events, json.loads(counters))


def _triples(name: str, items: Any, *types: type) -> list[tuple[Any, Any, Any]]:
    if not isinstance(items, Iterable):
        raise UsageError(f"{name} = {shown(items)}: expected a list of triples")
    return [_triple(name, index, item, *types) for index, item in enumerate(items)]


def _triple(name: str, index: int, item: Any, *types: type) -> tuple[Any, Any, Any]:
    """An entry as three values of these types; numbers count from 0."""
    expected = "(op, offset, length)" if name == "requests" else "(request, home, True or False)"
    try:
        first, second, third = (_value(value, kind) for value, kind in zip(item, types, strict=True))
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name}[{index}] = {shown(item)}: expected {expected}, with whole numbers from 0 on") from error
    return first, second, third


def _value(value: Any, kind: type) -> Any:
    if kind is int:
        value = operator.index(value)
        if not 0 <= value < 2**63:
            raise ValueError(value)
    elif not isinstance(value, kind):
        raise TypeError(value)
    return value
