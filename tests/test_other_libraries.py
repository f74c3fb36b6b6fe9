"""Independent libraries give equal values: hits of an LRU cache (cachetools), response times of queues (SimPy), percentiles (NumPy)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import simpy
from cachetools import Cache, FIFOCache, LRUCache

import ssdlab

PAGE = 4096
ONE_CHIP = {"device.channels": 1, "device.chips_per_channel": 1, "device.dies_per_chip": 1, "device.planes_per_die": 1}
READ_NS, PROGRAM_NS, TRANSFER_NS = 60_000, 700_000, 40_960
DRIVE = ONE_CHIP | {
    "device.page_bytes": PAGE,
    "device.spare_bytes": 0,
    "device.read_ns": READ_NS,
    "device.program_ns": PROGRAM_NS,
    "device.command_ns": 0,
    "device.transfer_ps_per_byte": 10_000,
    "ftl.precondition.kind": "fill",
}


@pytest.mark.parametrize("pages", [16, 256, 4_000])
def test_an_lru_cache_hits_and_evicts_as_that_of_cachetools(pages: int) -> None:
    rng, requests = random.Random(pages), []
    for _ in range(60_000):
        # Some pages are hot, and some requests run on from each other.
        page = int(rng.paretovariate(0.4)) % 20_000
        requests.append((rng.choice(["read", "write"]), page * PAGE, rng.choice([1, 1, 1, 3]) * PAGE))
    keys = {"cache.policy": "lru", "cache.bytes": pages * PAGE, "cache.place": "drive"}
    ours = ssdlab.replay_cache(requests, set=DRIVE | keys)

    evicted: list[int] = []

    class Cache(LRUCache[int, None]):
        def popitem(self) -> tuple[int, None]:
            key, value = super().popitem()
            evicted.append(key)
            return key, value

    theirs, hits = Cache(pages), {"read": 0, "write": 0}
    for kind, offset, size in requests:
        for page in range(offset // PAGE, (offset + size) // PAGE):
            hits[kind] += page in theirs
            theirs[page] = None
    assert (ours.counters["read_hits"], ours.counters["write_hits"]) == (hits["read"], hits["write"])
    assert [page for _, what, page in ours.events if what.startswith("evict")] == evicted
    assert hits["read"] > 1_000
    assert len(evicted) > 1_000


@pytest.mark.parametrize(("policy", "library"), [("lru", LRUCache), ("fifo", FIFOCache)])
@pytest.mark.parametrize(("unit", "room"), [("page", 1), ("page", 5), ("page", 40), ("entry", 1), ("entry", 300)])
def test_a_mapping_cache_hits_and_writes_back_as_a_cache_of_cachetools(
    policy: str, library: type[Cache[int, None]], unit: str, room: int, tmp_path: Path
) -> None:
    """As many at a time as arrive, so that translation pages are used while others are still being read."""
    rng, now, requests = random.Random(room), 0, []
    for _ in range(8_000):
        now += rng.choice([0, 0, 20_000, 1_500_000])
        # Some pages are hot, and some requests go over the end of a translation page.
        requests.append((now, rng.choice("RRRWT"), int(rng.paretovariate(0.4)) % 5_000, rng.choice([1, 1, 1, 3, 100])))
    trace = tmp_path / "trace.csv"
    lines = [f"{time // 1000}.{time % 1000:03},{kind},{page * PAGE},{size * PAGE}" for time, kind, page, size in requests]
    trace.write_text("timestamp_us,op,offset_bytes,size_bytes\n" + "\n".join(lines) + "\n")
    # Page numbers that share what the cache holds.
    entries = PAGE // 64 if unit == "page" else 1
    keys = {
        "device.blocks_per_plane": 4_096,
        "ftl.map_cache_bytes": room * entries * 64,
        "ftl.map_cache_unit": unit,
        "ftl.map_cache_policy": policy,
        "ftl.map_entry_bytes": 64,
    }
    result = ssdlab.run(scheme="npgc", trace=trace, set=DRIVE | keys, out=tmp_path / "out")
    # Else moves would change entries, too.
    assert result.gc.pages_moved == 0

    theirs, dirty, hits, misses, write_backs = library(room), set[int](), 0, 0, 0
    for _, kind, page, size in requests:
        for used in range(page // entries, (page + size - 1) // entries + 1):
            if used in theirs:
                hits += 1
                _ = theirs[used]
            else:
                misses += 1
                if len(theirs) == room:
                    replaced, _ = theirs.popitem()
                    write_backs += replaced in dirty
                    dirty.discard(replaced)
                theirs[used] = None
            if kind != "R":
                dirty.add(used)
    mapping = result.mapping
    assert mapping is not None
    assert (mapping.hits, mapping.misses) == (hits, misses)
    # Entries of a translation page are written back together, how many depends on times.
    assert mapping.write_backs == write_backs if unit == "page" else 0 < mapping.write_backs < write_backs
    assert min(hits, misses, write_backs) > 200


def arrivals(count: int, mean_ns: float, seed: int) -> list[tuple[int, str, int]]:
    """Time in ns, kind and page of reads and writes of one page each, with exponential gaps.

    No page occurs twice, since a read may wait for a write of its page, or take the data from it.
    """
    rng, now, requests = random.Random(seed), 0, []
    for page in rng.sample(range(count), count):
        now += max(1, int(rng.expovariate(1 / mean_ns)))
        requests.append((now, rng.choice(["R", "R", "R", "W"]), page))
    return requests


def simulated(requests: list[tuple[int, str, int]], chips: int) -> list[int]:
    """Response times by SimPy: a chip serves one request at a time, first come first served, and all chips share a bus.

    A read uses the array, then the bus; a write uses the bus, then the array. The chip is occupied meanwhile, also while it waits for the
    bus.
    """
    env = simpy.Environment()
    bus = simpy.Resource(env)
    dies = [simpy.Resource(env) for _ in range(chips)]
    responses = [0] * len(requests)

    def transfer() -> Iterator[Any]:
        with bus.request() as turn:
            yield turn
            yield env.timeout(TRANSFER_NS)

    def serve(index: int, kind: str, page: int) -> Iterator[Any]:
        arrived = env.now
        with dies[page % chips].request() as turn:
            yield turn
            if kind == "R":
                yield env.timeout(READ_NS)
                yield from transfer()
            else:
                yield from transfer()
                yield env.timeout(PROGRAM_NS)
        responses[index] = int(env.now - arrived)

    def host() -> Iterator[Any]:
        for index, (time, kind, page) in enumerate(requests):
            yield env.timeout(time - env.now)
            env.process(serve(index, kind, page))

    env.process(host())
    env.run()
    return responses


@pytest.mark.parametrize(("chips", "load"), [(1, 0.5), (1, 0.9), (4, 0.6)])
def test_requests_take_as_long_as_in_simpy(chips: int, load: float, tmp_path: Path) -> None:
    mean_service_ns = 0.75 * READ_NS + 0.25 * PROGRAM_NS + TRANSFER_NS
    requests = arrivals(20_000, mean_service_ns / load / chips, seed=chips)
    trace = tmp_path / "trace.csv"
    lines = [f"{time // 1000}.{time % 1000:03},{kind},{page * PAGE},{PAGE}" for time, kind, page in requests]
    trace.write_text("timestamp_us,op,offset_bytes,size_bytes\n" + "\n".join(lines) + "\n")
    keys = DRIVE | {"device.chips_per_channel": chips, "device.blocks_per_plane": 4_096, "ftl.allocation": "CWDP"}
    result = ssdlab.run(scheme="npgc", trace=trace, set=keys, out=tmp_path / "out", log_requests=True)
    assert result.gc.jobs == 0
    ours = result.requests["response_ns"].to_numpy()
    theirs = np.array(simulated(requests, chips))
    assert len(ours) == len(theirs)
    assert np.array_equal(ours, theirs), f"{(ours != theirs).sum()} differ, the first is {np.flatnonzero(ours != theirs)[:1]}"


def test_statistics_are_those_of_numpy(tmp_path: Path) -> None:
    result = ssdlab.run(device="demo-4g", scheme="pgc", requests=50_000, seed=3, out=tmp_path, log_requests=True)
    log = result.requests
    for name, kind in (("read", "read"), ("write", "write")):
        chosen = np.array(log["kind"].to_pylist()) == kind
        times = log["response_ns"].to_numpy()[chosen]
        said = result.latency_ns[name]
        assert said["count"] == len(times) > 1_000
        assert said["mean"] == pytest.approx(times.mean(), rel=1e-12)
        assert said["std"] == pytest.approx(times.std(), rel=1e-9)
        assert (said["min"], said["max"]) == (times.min(), times.max())
        for percentile, label in ((50, "p50"), (90, "p90"), (99, "p99"), (99.9, "p99_9")):
            exact = np.percentile(times, percentile, method="inverted_cdf")
            assert exact <= said[label] <= exact * (1 + result.percentile_error), (name, label)
