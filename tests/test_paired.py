"""The same requests under two schemes, one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

import ssdlab
from conftest import Ssdlab
from ssdlab.analysis.paired import paired, paired_by_size

BURSTS = {
    "workload.arrival": "burst",
    "workload.burst_length": 30,
    "workload.interarrival_us": 300,
    "workload.request_kb": 24,
    "workload.request_size": "exponential",
}


@pytest.fixture(scope="module")
def compared() -> ssdlab.Comparison:
    return ssdlab.compare(device="elyasi2017", schemes=["fr-fcfs", "slacker", "fcfs"], requests=3000, set=BURSTS, paired=True)


def test_each_request_is_counted_by_its_own_times(compared: ssdlab.Comparison) -> None:
    for scheme, kinds in compared.paired.items():
        base, other = (compared[name].requests.to_pydict() for name in ("fr-fcfs", scheme))
        for kind, row in kinds.items():
            times = zip(base["kind"], base["response_ns"], other["response_ns"], strict=True)
            pairs = [(before, after) for of, before, after in times if kind in ("all", of)]
            gains = [before - after for before, after in pairs]
            faster, slower = [gain for gain in gains if gain > 0], [-gain for gain in gains if gain < 0]
            assert row["requests"] == len(gains)
            assert row["faster"] == len(faster) / len(gains)
            assert row["slower"] == len(slower) / len(gains)
            assert row["same"] == pytest.approx(1 - row["faster"] - row["slower"])
            assert row.get("gain_ns") == (pytest.approx(sum(faster) / len(faster)) if faster else None)
            assert row.get("loss_ns") == (pytest.approx(sum(slower) / len(slower)) if slower else None)
            own = [100 * (after / before - 1) for before, after in pairs if before]
            assert row["own_change"] == pytest.approx(sum(own) / len(own))
    assert list(compared.paired) == ["slacker", "fcfs"]
    assert compared.paired["slacker"]["all"]["own_change"] < 0
    assert compared.paired["slacker"]["all"]["faster"] > 0


def test_the_scheme_itself_changes_nothing() -> None:
    same = ssdlab.compare(schemes=["fr-fcfs", "fr-fcfs+npgc"], requests=500, set={"gc.soft": 1}, paired=True)
    row = same.paired["fr-fcfs+npgc"]["all"]
    assert (row["faster"], row["slower"], row["same"]) == (0, 0, 1)
    assert "gain_ns" not in row


def test_requests_that_take_no_time_have_no_change_of_their_own(tmp_path: Path) -> None:
    trace = tmp_path / "small.csv"
    trace.write_text("timestamp_us,op,offset_bytes,size_bytes\n0,F,0,0\n10,R,0,8192\n20,T,8192,8192\n30,R,8192,16384\n")
    flash, instant = (
        ssdlab.run(trace=trace, log_requests=True, set={"ftl.precondition.kind": "none", "ftl.unmapped_read": kind})
        for kind in ("flash", "immediate")
    )
    assert instant.requests.to_pydict()["response_ns"] == [0, 0, 0, 0]
    sizes = paired_by_size(instant, flash)
    assert {size: row["requests"] for size, row in sizes.items()} == {"kb8": 1, "kb16": 1}, "reads and writes only"
    assert all(row["slower"] == 1 and not {"change", "own_change"} & set(row) for row in sizes.values())
    assert paired(flash, flash)["all"]["own_change"] == 0
    assert str(paired(flash, flash)["all"]["own_change"]) == "0.0"
    assert paired_by_size(flash, instant)["kb8"]["change"] == -100


def test_without_logs_nothing_is_paired() -> None:
    plain = ssdlab.compare(schemes=["fcfs", "fr-fcfs"], requests=200)
    assert plain.paired == {}
    assert "paired" not in plain.to_dict()


def test_other_requests_are_refused() -> None:
    one, other = (ssdlab.run(requests=100, seed=seed, log_requests=True) for seed in (1, 2))
    with pytest.raises(ssdlab.UsageError, match="not of the same requests"):
        paired(one, other)
    with pytest.raises(ssdlab.UsageError, match="no request log"):
        paired(one, ssdlab.run(requests=100))


def test_on_the_command_line(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    arguments = ("compare", "--scheme", "fcfs", "--scheme", "fr-fcfs", "--requests", 500, "--paired")
    assert "The same requests, one by one, against fcfs" in ssdlab_command(*arguments, "--out", "out").out
    assert not list(tmp_path.rglob("requests.parquet")), "logs that only were to be compared are gone"
    report = ssdlab_command(*arguments, "--json").json()["paired"]
    assert report["against"] == "fcfs"
    assert set(report["fr-fcfs"]) == {"all", "read", "write"}


@pytest.mark.parametrize("tolerance", [-0.1, float("nan"), float("inf")])
def test_a_tolerance_is_a_share(tolerance: float) -> None:
    base, other = (ssdlab.run(scheme=scheme, requests=100, log_requests=True) for scheme in ("npgc", "pgc"))
    with pytest.raises(ssdlab.UsageError, match=r"expected a share of the response time from 0 on, such as 0\.01"):
        other.pair_with(base, tolerance)
