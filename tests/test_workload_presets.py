"""The workloads that stand for published traces have the characteristics that the papers print."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import pyarrow.compute as pc
import pytest

import ssdlab

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
        """Of the writes, those that come within 1.5 ms of the write before."""
        writes = [time for time, read in zip(self.arrival_ns, self.is_read, strict=True) if not read]
        return sum(later - earlier < BURSTY_NS for earlier, later in itertools.pairwise(writes)) / len(writes)

    @property
    def sequential_share(self) -> float:
        """Requests that begin where the one before of their kind ended, among those that have one before."""
        ends: dict[bool, int] = {}
        hits = 0
        for read, offset, length in zip(self.is_read, self.offset, self.length, strict=True):
            hits += ends.get(read) == offset
            ends[read] = offset + length
        return hits / len(self.offset)


# lee2013, Table VIII: mean size (KB), read share, requests a second, bursty share of writes.
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


# ae2022, Table 2: read share, sequential share, mean size of reads and of writes (KB).
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
