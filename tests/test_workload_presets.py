"""The workloads that imitate published traces have the characteristics in the papers."""

from __future__ import annotations

import itertools
import tomllib
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc
import pytest

import ssdlab
from conftest import ROOT

BURSTY_NS = 1_500_000
FILLED = {"ftl.precondition.kind": "fill"}  # sooner ready than what the device asks for


@dataclass(frozen=True)
class Generated:
    """The requests of a workload, in order of arrival."""

    arrival_ns: list[int]
    is_read: list[bool]
    offset: list[int]
    length: list[int]

    @classmethod
    def of(cls, workload: str, requests: int) -> Generated:
        log = ssdlab.run(device="lee2013", scheme="npgc", workload=workload, requests=requests, log_requests=True, set=FILLED).requests
        log = log.sort_by("index")
        reads = pc.equal(log["kind"].cast("string"), "read").to_pylist()
        return cls(*(log["arrival_ns"].to_pylist(), reads, log["offset_bytes"].to_pylist(), log["size_bytes"].to_pylist()))

    def mean_kb(self, *, of_reads: bool | None = None) -> float:
        sizes = [size for size, read in zip(self.length, self.is_read, strict=True) if of_reads is None or read is of_reads]
        return sum(sizes) / len(sizes) / 1024

    @property
    def read_share(self) -> float:
        return sum(self.is_read) / len(self.is_read)

    @property
    def rate(self) -> float:
        return len(self.arrival_ns) / (self.arrival_ns[-1] / 1e9)

    @property
    def bursty_share(self) -> float:
        """Share of writes that arrive within 1.5 ms of the previous write."""
        writes = [time for time, read in zip(self.arrival_ns, self.is_read, strict=True) if not read]
        return sum(later - earlier < BURSTY_NS for earlier, later in itertools.pairwise(writes)) / len(writes)

    @property
    def sequential_share(self) -> float:
        """Share of requests that begin where the previous one of their kind ended, among those with a previous one."""
        ends: dict[bool, int] = {}
        hits = 0
        for read, offset, length in zip(self.is_read, self.offset, self.length, strict=True):
            hits += ends.get(read) == offset
            ends[read] = offset + length
        return hits / len(self.offset)


# lee2013, Table VIII: mean size (KiB), read share, requests a second, bursty share of writes.
SERVERS = {
    "financial-like": (7.09, 0.1892, 47.19, 0.0014),
    "cello-like": (7.06, 0.1963, 74.24, 0.3132),
    "tpch-like": (31.62, 0.9183, 172.73, 0.1129),
    "openmail-like": (9.49, 0.6330, 846.62, 0.0001),
}


@pytest.mark.parametrize("name", SERVERS)
def test_the_server_workloads_are_those_of_the_table(name: str) -> None:
    size_kb, read_share, rate, bursty = SERVERS[name]
    found = Generated.of(name, 300_000 if name == "tpch-like" else 60_000)  # few writes, so few bursts
    assert found.mean_kb() == pytest.approx(size_kb, rel=0.03)
    assert found.read_share == pytest.approx(read_share, rel=0.03)
    assert found.rate == pytest.approx(rate, rel=0.02)
    assert found.bursty_share == pytest.approx(bursty, abs=0.01)


# wu2017, Table 4: share of writes, mean size (KiB).
CACHED = {
    "financial1": (0.768, 8.5),
    "prn_0": (0.892, 22.2),
    "prxy_0": (0.971, 6.8),
    "hm_0": (0.645, 9.2),
    "wdev_0": (0.8, 16.0),
    "mds_0": (0.881, 14.1),
    "rsrch_0": (0.907, 17.3),
}


@pytest.mark.parametrize("name", CACHED)
def test_the_workloads_for_caches_are_those_of_the_table(name: str) -> None:
    writes, size_kb = CACHED[name]
    found = Generated.of(f"wu2017-{name}-like", 60_000)
    assert found.read_share == pytest.approx(1 - writes, abs=0.005)
    # exponential sizes, rounded up to a sector at the least
    assert found.mean_kb() == pytest.approx(size_kb, rel=0.03)
    assert found.rate == pytest.approx(250, rel=0.02)


def test_the_workloads_for_caches_differ_in_what_the_table_has_only() -> None:
    files = [tomllib.loads((ROOT / "presets" / "workloads" / f"wu2017-{name}-like.toml").read_text())["workload"] for name in CACHED]
    rules = [{key: value for key, value in file.items() if key not in ("read_share", "request_kb")} for file in files]
    assert all(rule == rules[0] for rule in rules)


@pytest.mark.parametrize("name", ["financial1", "hm_0"])
def test_the_hot_part_is_hit_as_often_as_the_traces_that_can_be_had(name: str) -> None:
    """30 % with 1 MB, 35 % with 32 MB: the mean of the beginnings of these two traces."""
    for megabytes, share in ((1, 0.30), (32, 0.35)):
        settings = {**FILLED, "ftl.partial_write": "program", "cache.bytes": megabytes << 20}
        run = ssdlab.run(device="wu2017", scheme="lru", workload=f"wu2017-{name}-like", requests=30_000, set=settings)
        assert run.cache.hit_ratio == pytest.approx(share, abs=0.02)


# ae2022, Table 2: read share, sequential share, mean size of reads and of writes (KiB).
DATABASES = {
    "cassandra-like": (0.732, 0.565, 421.3, 298.8),
    "mongodb-like": (0.578, 0.808, 203.1, 89.4),
    "rocksdb-like": (0.654, 0.231, 112.4, 78.6),
    "mysql-like": (0.064, 0.973, 8.9, 8.3),
    "sqlite-like": (0.023, 0.033, 3.8, 4.6),
    "dbench-like": (0.021, 0.047, 32.1, 42.2),
}


@pytest.mark.parametrize("name", DATABASES)
def test_the_database_workloads_are_those_of_the_table(name: str) -> None:
    read_share, sequential_share, read_kb, write_kb = DATABASES[name]
    found = Generated.of(name, 20_000)
    reads = read_share * 20_000
    assert found.read_share == pytest.approx(read_share, rel=0.03 + 2 / reads**0.5)
    assert found.sequential_share == pytest.approx(sequential_share, abs=0.015)
    # exponential sizes: the mean of n of them is off by one part in the root of n
    assert found.mean_kb(of_reads=True) == pytest.approx(read_kb, rel=max(0.03, 3 / reads**0.5))
    assert found.mean_kb(of_reads=False) == pytest.approx(write_kb, rel=0.05)


@dataclass(frozen=True)
class Row:
    """A row of elyasi2017's Table 2: share of writes, sizes in KiB (mean, deviation), mean slack under the baseline in ms."""

    writes: float
    read_kb: tuple[float, float]
    write_kb: tuple[float, float]
    slack_ms: tuple[float, float]
    """Slack of reads and of writes."""


DISKS = {
    "wdev_2": Row(0.99, (13.4, 8.6), (16.2, 11.7), (0.0, 144.8)),
    "rsrch_1": Row(0.99, (25.6, 16.4), (18.7, 15.7), (0.1, 155.9)),
    "prxy_0": Row(0.95, (18.3, 14.9), (38.6, 30.6), (1.5, 577.9)),
    "prn_0": Row(0.94, (22.3, 18.7), (16.3, 19.5), (2.5, 130.0)),
    "rsrch_0": Row(0.9, (18.9, 46.7), (16.5, 12.2), (6.8, 43.9)),
    "fin1": Row(0.77, (11.3, 4.6), (12.6, 10.4), (0.9, 41.1)),
    "msnfs_3": Row(0.76, (23.6, 23.1), (23.2, 25.4), (2.1, 26.9)),
    "wdev_0": Row(0.7, (16.8, 14.5), (17.1, 14.4), (2.6, 63.7)),
    "web_3": Row(0.68, (82.9, 241.5), (28.9, 14.6), (2.0, 6.2)),
    "src2_0": Row(0.64, (18.2, 11.8), (22.7, 20.3), (5.1, 193.9)),
    "ts_0": Row(0.56, (19.6, 14.7), (19.6, 17.7), (1.4, 52.8)),
    "usr_0": Row(0.43, (66.9, 16.5), (17.7, 13.3), (46.7, 37.1)),
    "prn_1": Row(0.42, (16.3, 14.2), (17.4, 13.3), (0.5, 72.2)),
    "mds_0": Row(0.21, (43.5, 26.3), (18.4, 15.6), (2.8, 14.1)),
    "fin2": Row(0.18, (10.3, 5.1), (11.0, 12.3), (1.6, 74.4)),
    "web_0": Row(0.18, (46.9, 26.3), (16.6, 14.1), (1.3, 15.7)),
    "rsrch_2": Row(0.08, (12.0, 4.0), (12.2, 4.0), (1.3, 67.9)),
    "usr_1": Row(0.06, (56.3, 26.3), (14.5, 7.8), (30.9, 36.1)),
    "hm_1": Row(0.05, (22.9, 19.2), (27.8, 32.5), (2.2, 35.1)),
    "stg_1": Row(0.02, (68.5, 13.6), (15.7, 11.9), (0.4, 4.5)),
    "proj_4": Row(0.005, (32.8, 28.5), (18.4, 17.7), (0.3, 6.4)),
}
# A burst long enough would be more than a quarter of all writes or reads (tools/calibrate_elyasi2017.py, FEWEST_SHARE); or the slack is
# less than that of a read that meets a program.
OUT_OF_REACH = {
    "read": {"wdev_2", "rsrch_1", "rsrch_0"},
    "write": {"rsrch_2", "usr_1"},
}


def flows_of(name: str) -> list[dict[str, Any]]:
    """The flows of a preset, each with all of its keys."""
    first = tomllib.loads((ROOT / "presets" / "workloads" / f"{name}-like.toml").read_text())["workload"]
    others = first.pop("flows")
    return [first, *({**first, **flow} for flow in others)]


def weighted_sizes(flows: list[dict[str, Any]], *, reads: bool) -> list[tuple[float, float]]:
    """Sizes in KiB, and requests per second of each."""
    found = []
    for flow in flows:
        if flow["read_share"] == float(reads):
            total = sum(weight for _, weight in flow["size_table"])
            found += [(size, 1e6 / flow["interarrival_us"] * weight / total) for size, weight in flow["size_table"]]
    return found


def moments(sizes: list[tuple[float, float]]) -> tuple[float, float]:
    """Mean and standard deviation."""
    total = sum(weight for _, weight in sizes)
    mean = sum(size * weight for size, weight in sizes) / total
    return mean, (sum(size**2 * weight for size, weight in sizes) / total - mean**2) ** 0.5


@pytest.mark.parametrize("name", DISKS)
def test_the_disk_workloads_have_the_sizes_and_shares_of_the_table(name: str) -> None:
    flows, row = flows_of(name), DISKS[name]
    reads, writes = (weighted_sizes(flows, reads=kind) for kind in (True, False))
    rates = [sum(rate for _, rate in sizes) for sizes in (reads, writes)]
    assert rates[1] / sum(rates) == pytest.approx(row.writes, rel=0.002)
    assert moments(reads) == pytest.approx(row.read_kb, rel=0.01)
    assert moments(writes) == pytest.approx(row.write_kb, rel=0.01)
    assert all(size % 8 == 0 for size, _ in reads + writes), "whole pages"


@pytest.mark.parametrize("name", DISKS)
def test_the_disk_workloads_follow_one_rule(name: str) -> None:
    flows = flows_of(name)
    assert [flow["read_share"] for flow in flows] == [0.0, 1.0], "writes and reads, each of all sizes in one flow"
    assert all((flow["align_kb"], flow["align_large_kb"]) == (8, 64) for flow in flows)
    assert flows[0]["arrival"] == "burst"


@pytest.mark.parametrize("name", DISKS)
def test_the_disk_workloads_have_the_slack_of_the_table_under_the_baseline(name: str) -> None:
    runs = [baseline(name, seed) for seed in (1, 2, 3)]
    for kind, wanted in zip(("read", "write"), DISKS[name].slack_ms, strict=True):
        slack_ms = sum(run.slack[kind]["mean_ns"] for run in runs) / len(runs) / 1e6
        if name in OUT_OF_REACH[kind]:
            assert slack_ms < 1.5 * wanted + 0.4
        else:
            assert 0.5 * wanted < slack_ms < 2 * wanted
    last_arrival_ns = pc.max(runs[0].requests["arrival_ns"]).as_py()
    assert runs[0].simulated_ns < 1.5 * last_arrival_ns, "the queues drain"


def baseline(name: str, seed: int) -> ssdlab.Result:
    """The run that the workloads were calibrated with; the first seed keeps a log."""
    one_at_a_time = {"device.multiplane": False, "device.die_interleave": False}
    workload = f"{name}-like"
    logged = seed == 1
    return ssdlab.run(
        device="elyasi2017", scheme="fr-fcfs", workload=workload, requests=200_000, seed=seed, set=one_at_a_time, log_requests=logged
    )
