"""Eviction policies written in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ssdlab
from conftest import SMALL

CACHED = SMALL | {"cache.policy": "lru", "cache.bytes": 32 * 4096, "workload.footprint": 0.3}


def oldest(candidates: ssdlab.EvictionCandidates) -> int:
    return candidates.pages[0]


def youngest(candidates: ssdlab.EvictionCandidates) -> int:
    return candidates.pages[len(candidates) - 1]


class CountsCalls:
    """LRU with a count of its calls, which is separate for each cache."""

    made: list[CountsCalls]

    def __init__(self) -> None:
        self.calls = 0
        CountsCalls.made.append(self)

    def __call__(self, candidates: ssdlab.EvictionCandidates) -> np.int64:
        self.calls += 1
        return np.int64(candidates.pages[int(np.argmax(np.asarray(candidates.ages)))])


def run(eviction: Any = None, **keys: Any) -> ssdlab.Result:
    return ssdlab.run(set=CACHED | keys, requests=2000, eviction=eviction)


@pytest.mark.parametrize("aware", [False, True])
def test_an_lru_in_python_is_the_built_in_lru(aware: bool) -> None:
    built_in, ours = (run(eviction, **{"cache.gc_aware": aware}) for eviction in (None, oldest))
    assert ours.digest == built_in.digest
    assert ours.cache.evictions == built_in.cache.evictions > 500
    assert (ours.cache.gc_skips > 0) == aware
    assert ours.cache.policy_fallbacks == 0
    assert ours.config.cache.policy == "custom"
    assert len(ours.cache.policy_source) == 64


def test_another_choice_shows() -> None:
    assert run(youngest).digest != run().digest


def test_candidates_are_what_the_cache_holds() -> None:
    seen: list[tuple[list[int], ...]] = []

    def look(candidates: ssdlab.EvictionCandidates) -> int:
        columns = (candidates.pages, candidates.dirty, candidates.homes, candidates.in_gc, candidates.ages)
        seen.append(tuple(list(column) for column in columns))
        return candidates.pages[1]

    requests = [("read", 0, 4096), ("write", 4096, 4096), ("write", 3 * 4096, 4096), ("read", 0, 4096), ("write", 5 * 4096, 4096)]
    keys = {"cache.policy": "lru", "cache.bytes": 3 * 4096, "device.channels": 2}
    replay = ssdlab.replay_cache(requests, set=keys, in_gc=[(2, 1, True)], eviction=look)
    # Used in the order 1, 3, 0; the odd pages are on chip 1.
    assert seen == [([1, 3, 0], [1, 1, 0], [1, 1, 0], [1, 1, 0], [2, 1, 0])]
    assert replay.events[-2:] == [(4, "evict_dirty", 3), (4, "write_miss", 5)]


def test_what_cannot_be_evicted_gives_the_one_used_longest_ago() -> None:
    built_in = run()
    for answer in (None, 999_999):
        ours = run(lambda _, answer=answer: answer)
        assert ours.digest == built_in.digest
        assert ours.cache.policy_fallbacks == ours.cache.evictions > 0


def test_each_cache_of_an_array_has_an_instance_of_its_own() -> None:
    CountsCalls.made = []
    keys = {"array.level": "rais0", "array.drives": 3, "array.stripe_kb": 16}
    ours = run(CountsCalls, **keys)
    assert len(CountsCalls.made) == 3
    assert sum(policy.calls for policy in CountsCalls.made) == ours.cache.evictions
    assert ours.digest == run(**keys).digest


@pytest.mark.parametrize(
    ("eviction", "message"),
    [
        (lambda _: "page", "returned 'page', of type str; expected the number of a page that can be evicted, or None"),
        (lambda _: True, "returned True, of type bool; expected"),
        (lambda _: -1, "returned -1; expected"),
        (lambda _: 1 / 0, "ZeroDivisionError: division by zero"),
    ],
)
def test_a_policy_that_cannot_choose_ends_the_run(eviction: Any, message: str) -> None:
    with pytest.raises(ssdlab.PolicyError, match="eviction policy") as caught:
        run(eviction)
    assert message in str(caught.value)
    with pytest.raises(ssdlab.PolicyError):
        ssdlab.replay_cache([("write", 4096 * page, 4096) for page in range(40)], set=CACHED, eviction=eviction)


def test_what_is_no_policy_is_refused() -> None:
    with pytest.raises(ssdlab.UsageError, match=r"eviction = 7: expected something to call"):
        run(7)
    with pytest.raises(ssdlab.ConfigError, match=r"cache\.policy = \"none\": a user-defined eviction policy needs"):
        ssdlab.run(set=SMALL, requests=10, eviction=oldest)


@pytest.mark.parametrize(
    ("requests", "message"),
    [
        ([("read", 0, 1), ("read", 0)], r"requests\[1\] = \('read', 0\): expected \(op, offset, length\)"),
        ([("read", 0.5, 1)], r"requests\[0\] = .*whole numbers"),
        ([("read", -1, 1)], r"requests\[0\] = "),
        ([("rad", 0, 1)], r"op = \"rad\" is none of read, write, trim, flush"),
        ([("read", 0, 0)], r"request 0: has length 0"),
        ([("read", 2**62, 1)], r"request 0: .* beyond the"),
    ],
)
def test_requests_for_a_replay_that_make_no_sense(requests: Any, message: str) -> None:
    with pytest.raises(ssdlab.UsageError, match=message):
        ssdlab.replay_cache(requests, set=CACHED)
