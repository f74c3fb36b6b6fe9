"""Objects that are read in parts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ssdlab
from ssdlab import Times

PARTS = 8
READS = {
    "workload.read_share": 1.0,
    "workload.arrival": "burst",
    "workload.burst_length": PARTS,
    "workload.interarrival_us": 100,
    "workload.request_kb": 16,
}


@dataclass(frozen=True)
class Written:
    """A log made by hand."""

    request_log: Path | None


def log(path: Path, rows: list[tuple[str, int, int, bool, str]], *, flows: bool = True) -> Written:
    """Rows of kind, arrival, response, warm-up and flow."""
    names = ["kind", "arrival_ns", "response_ns", "warm_up", *(["flow"] if flows else [])]
    pq.write_table(pa.table({name: [row[at] for row in rows] for at, name in enumerate(names)}), path)
    return Written(path)


def test_an_object_lasts_from_its_first_arrival_to_its_last_completion(tmp_path: Path) -> None:
    rows = [
        ("read", 0, 50, False, "a"),
        ("write", 1, 900, False, "a"),
        ("read", 5, 7, False, "b"),
        ("read", 10, 20, False, "a"),  # a: 0 to 50
        ("read", 100, 30, False, "a"),
        ("read", 105, 9, False, "b"),  # b: 5 to 114
        ("read", 110, 60, False, "a"),  # a: 100 to 170
        ("read", 200, 1, False, "a"),  # no whole object
    ]
    run = log(tmp_path / "log.parquet", rows)
    found = ssdlab.fan_in(run, 2)
    assert (found.parts, found.objects) == (2, 3)
    assert found.object == Times(mean=pytest.approx((50 + 70 + 109) / 3), p50=70, p99=109, max=109)
    assert found.part == Times(mean=pytest.approx(176 / 6), p50=20, p99=60, max=60)
    assert found.arrival_spread == 100
    assert ssdlab.fan_in(run, 2, flow="b").object == Times(109, 109, 109, 109)
    one = log(tmp_path / "one.parquet", rows, flows=False)
    assert ssdlab.fan_in(one, 7).object.max == 201


def test_objects_of_the_warm_up_are_left_out(tmp_path: Path) -> None:
    rows = [("read", 10 * at, 5 + at, at < 3, "a") for at in range(8)]
    found = ssdlab.fan_in(log(tmp_path / "log.parquet", rows), 2)
    assert (found.objects, found.object.mean) == (2, pytest.approx((20 + 22) / 2))


def test_a_burst_waits_for_its_slowest_part() -> None:
    run = ssdlab.run(device="demo-4g", set=READS, requests=4000, warm_up=400, log_requests=True)
    found = ssdlab.fan_in(run, PARTS)
    table = run.requests.to_pydict()
    each = [time for time, early in zip(table["response_ns"], table["warm_up"], strict=True) if not early]
    assert found.objects == len(each) / PARTS == 450
    assert found.part.mean == pytest.approx(run.latency.read.mean)
    slowest = [max(each[at : at + PARTS]) for at in range(0, len(each), PARTS)]
    assert found.object.mean == pytest.approx(sum(slowest) / len(slowest))
    assert found.object.p50 > found.part.p50
    assert found.object.max == found.part.max
    assert ssdlab.fan_in(run, 1).object == found.part
    assert found.arrival_spread == ssdlab.fan_in(run, PARTS // 2).arrival_spread == 0


def test_objects_with_parts_of_two_bursts_are_told_by_the_spread_of_arrivals() -> None:
    run = ssdlab.run(device="demo-4g", set=READS, requests=400, log_requests=True)
    arrivals = sorted(set(run.requests.to_pydict()["arrival_ns"]))
    between = max(after - before for before, after in zip(arrivals[::2], arrivals[1::2], strict=True))
    assert ssdlab.fan_in(run, 2 * PARTS).arrival_spread == between
    assert ssdlab.fan_in(run, PARTS - 3).arrival_spread > 0


def test_what_has_no_objects_is_refused(tmp_path: Path) -> None:
    run = log(tmp_path / "log.parquet", [("read", 0, 5, False, "a"), ("write", 0, 5, False, "a")])
    with pytest.raises(ssdlab.UsageError, match="parts = 2: no object"):
        ssdlab.fan_in(run, 2)
    with pytest.raises(ssdlab.UsageError, match="flow = b: expected one of a"):
        ssdlab.fan_in(run, 1, flow="b")
    with pytest.raises(ssdlab.UsageError, match="parts"):
        ssdlab.fan_in(run, 0)
    with pytest.raises(ssdlab.UsageError, match="no request log"):
        ssdlab.fan_in(Written(None), 1)
    missing = tmp_path / "moved.parquet"
    with pytest.raises(ssdlab.FileError, match=r"moved\.parquet: cannot read .*: put the file back there, or run it with log_req"):
        ssdlab.fan_in(Written(missing), 1)
