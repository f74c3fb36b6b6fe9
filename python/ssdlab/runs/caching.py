"""A cache by itself: replays requests and reports hits and evictions, without a drive and without time."""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Unpack

from ssdlab import _core
from ssdlab.asking.option import complete, takes
from ssdlab.asking.options import CacheOptions
from ssdlab.asking.plans import Setup, value_text
from ssdlab.asking.policies import described
from ssdlab.checks import mapping, shown
from ssdlab.errors import UsageError

__all__ = ["CacheReplay", "replay_cache"]


@dataclass(frozen=True)
class CacheReplay:
    """The events and counters of a cache replay.

    `events` are triples of request index, event and page, in the order of the decisions. The events are `read_hit`, `read_miss` (the page
    is cached), `read_past` (it is not cached), `read_bypass` (it is not cached, since all homes are in GC), `write_hit`, `write_miss`,
    `write_through`, `evict_clean`, `evict_dirty`, `pad` (written with its group), `drop` (by a trim) and `clean` (by a flush). `counters`
    are the entries of a run's `cache` section (`policy_fallbacks` with a user-defined policy).
    """

    events: list[tuple[int, str, int]]
    counters: dict[str, int]

    @property
    def hit_ratio(self) -> float | None:
        """Hits as a share of page look-ups, 0 to 1; `None` without look-ups."""
        lookups = self.counters["lookups"]
        return (self.counters["read_hits"] + self.counters["write_hits"]) / lookups if lookups else None


@takes(CacheOptions, without=CacheOptions)
def replay_cache(
    requests: Iterable[tuple[str, int, int]],
    *,
    in_gc: Iterable[tuple[int, int, bool]] = (),
    **options: Unpack[CacheOptions],
) -> CacheReplay:
    """Replays requests on a cache alone, and reports which pages hit, are cached and are evicted.

    Fetches and destages take no time, and every page holds data. The decisions equal those of a run whose requests do not overlap, and take
    a fraction of its time.

    Args:
        requests: triples of `"read"`, `"write"`, `"trim"` or `"flush"`, first byte, and number of bytes.
        device: device preset, for the size and the homes of pages.
        scheme: scheme preset, or several joined by `+`.
        set: single keys, such as `{"cache.policy": "lru", "cache.bytes": 1 << 20}`.
        in_gc: triples of request index, home, and whether the home is in GC from that request on, in order. Initially no home is in GC.
            Homes are chips or, with `cache.place = "array"`, drives.
        eviction: user-defined eviction policy, used instead of `cache.policy`.
    """
    asked = complete("replay_cache", CacheOptions, options)
    by_hand = tuple((key, value_text(value)) for key, value in mapping("set", asked["set"] or {}).items())
    config = Setup(device=asked["device"], set=by_hand).build(asked["scheme"])
    events, counters = _core.replay_cache(
        config,
        _triples("requests", requests, str, int, int),
        _triples("in_gc", in_gc, int, int, bool),
        described("eviction", asked["eviction"]),
    )
    return CacheReplay(events, json.loads(counters))


def _triples(name: str, items: Any, *types: type) -> list[tuple[Any, Any, Any]]:
    if not isinstance(items, Iterable):
        raise UsageError(f"{name} = {shown(items)}: expected a list of triples")
    return [_triple(name, index, item, *types) for index, item in enumerate(items)]


def _triple(name: str, index: int, item: Any, *types: type) -> tuple[Any, Any, Any]:
    """An entry as three values of the given types; whole numbers must be at least 0."""
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
