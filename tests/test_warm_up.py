"""A warm-up is simulated, and left out of the figures exactly, everywhere, and visibly."""

from __future__ import annotations

import gzip
import json
import math
import shlex
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

import ssdlab
from conftest import DRIVE, SMALL, SMALL_OPTIONS, Ssdlab
from ssdlab.analysis.paired import paired

REQUESTS = 4000
MACHINE = ("prepare_s", "wall_s", "requests_per_s")
QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99_9": 0.999, "p99_99": 0.9999}
PARTS = ("host_queue", "die_queue", "gc", "bus_queue", "transfer", "array", "suspended", "dram", "controller", "link", "mapping", "pace")
TRACE = "timestamp_us,op,offset_bytes,size_bytes\n" + "".join(
    f"{i // 2 * 300},{'RW'[i % 3 > 0]},{i * 40960 % 3_000_000},4096\n" for i in range(2000)
)
"""A trace with two requests at each instant."""


def run(**more: Any) -> ssdlab.Result:
    return ssdlab.run(**{"scheme": "npgc", "requests": REQUESTS, "set": SMALL, **more})


def simulated(result: ssdlab.Result) -> dict[str, Any]:
    return {key: value for key, value in result.to_dict().items() if key not in (*MACHINE, "command")}


def check_class(found: Any, error: float, times: list[int]) -> None:
    """Checks the response times of a class against the rows of the log."""
    times = sorted(times)
    assert (found["count"], found["min"], found["max"]) == (len(times), times[0], times[-1])
    assert found["mean"] == sum(times) / len(times)
    for name, share in QUANTILES.items():
        exact = times[math.ceil(share * len(times)) - 1]
        assert exact <= found[name] <= exact * (1 + error) + 1, name


@pytest.mark.parametrize("warm_up", [1500, "2500ms", "2.5s"])
def test_figures_of_requests_are_those_of_the_rows_after_the_warm_up(warm_up: str | int) -> None:
    whole, result = (run(log_requests=True, warm_up=value) for value in (None, warm_up))
    assert result.digest == whole.digest
    assert result.simulated_ns == whole.simulated_ns
    log = result.requests
    assert log.drop_columns("warm_up").equals(whole.requests.drop_columns("warm_up"))
    first = 1500 if warm_up == 1500 else pc.sum(pc.less(log["arrival_ns"], 2_500_000_000)).as_py()
    ends = log["arrival_ns"][1500].as_py() if warm_up == 1500 else 2_500_000_000
    assert result["warm_up"].to_dict() == {"requests": first, "ns": ends}
    assert log["warm_up"].to_pylist() == [index < first for index in range(REQUESTS)]

    rows = log.slice(first)
    kinds = {"all": ("read", "write"), "read": ("read",), "write": ("write",)}
    for name, wanted in kinds.items():
        of = [row for row in rows.to_pylist() if row["kind"] in wanted]
        check_class(result.latency[name], result.percentile_error, [row["response_ns"] for row in of])
        for part in PARTS:
            assert result.breakdown[name][part] == sum(row[f"{part}_ns"] for row in of) / len(of), part
    for name, sequential in (("seq_read", True), ("rand_read", False)):
        times = [row["response_ns"] for row in rows.to_pylist() if row["kind"] == "read" and row["sequential"] is sequential]
        check_class(result.latency[name], result.percentile_error, times)
    measured_s = (result.simulated_ns - ends) / 1e9
    assert result.iops == pytest.approx(rows.num_rows / measured_s, rel=1e-12)
    written = sum(row["size_bytes"] for row in rows.to_pylist() if row["kind"] == "write")
    assert result["bandwidth_mb_s"]["write"] == pytest.approx(written / measured_s / 1e6, rel=1e-12)
    assert sum(result.request_counts.values()) == REQUESTS - first
    assert 0 < result.gc.jobs < whole.gc.jobs
    states = result.gc["state_ns"]
    assert sum(states.values()) == sum(whole.gc["state_ns"].values()) * (result.simulated_ns - ends) // result.simulated_ns


@pytest.mark.parametrize("nothing", [0, "0", "0s", "0 ms"])
def test_no_warm_up_is_the_same_run_bit_for_bit(nothing: str | int) -> None:
    one, other = run(), run(warm_up=nothing)
    assert simulated(one) == simulated(other)
    assert "warm_up" not in other
    assert one.command == other.command


def test_requests_at_the_instant_at_which_a_warm_up_ends_are_measured(tmp_path: Path) -> None:
    trace = tmp_path / "t.csv"
    trace.write_text(TRACE)
    options: dict[str, Any] = {"trace": trace, "set": DRIVE, "scheme": "npgc"}
    assert ssdlab.run(**options, warm_up="300us").warm_up.requests == 2
    assert ssdlab.run(**options, warm_up="300001ns").warm_up.requests == 4
    # In requests exactly as many are left out, though another arrives at the same instant.
    odd = ssdlab.run(**options, warm_up=3)
    assert odd["warm_up"].to_dict() == {"requests": 3, "ns": 300_000}


@pytest.mark.parametrize(
    ("warm_up", "says"),
    [
        ("10%", 'warm_up = "10%": expected a number of requests, such as 20k, or a time, such as 17s or 500ms'),
        ("17 days", "expected a number of requests"),
        ("-1s", "expected a number of requests"),
        ("", "expected a number of requests"),
        (-1, "warm_up = -1: expected a whole number from 0"),
        (1.5, "warm_up = 1.5: expected a whole number from 0"),
        (True, "warm_up = True: expected a whole number from 0"),
        ("99999999999h", "warm_up = "),
        (REQUESTS, f"warm_up = {REQUESTS} requests: the run has {REQUESTS}, so that none would be measured; take a shorter one"),
        ("1h", f"warm_up = 3600 s: the run ended after {REQUESTS} requests and "),
    ],
)
def test_a_warm_up_that_cannot_be_is_said_in_a_line(warm_up: Any, says: str) -> None:
    with pytest.raises(ssdlab.UsageError, match=r"^warm_up = ") as error:
        run(warm_up=warm_up)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_the_command_line_takes_it_says_it_and_repeats_it(ssdlab_command: Ssdlab) -> None:
    options = ["--scheme", "npgc", *SMALL_OPTIONS, "--requests", 3000]
    done = ssdlab_command("run", *options, "--warm-up", "1s")
    assert done.code == 0, done.err
    assert "Warm-up: the first " in done.out
    assert "are left out of all figures" in done.out
    result = ssdlab_command("run", *options, "--warm-up", "1s", "--json").json()
    again = ssdlab_command(*shlex.split(result["command"])[1:], "--json").json()
    assert again["warm_up"] == result["warm_up"]
    assert again["latency_ns"] == result["latency_ns"]
    assert ssdlab_command("run", *options, "--warm-up", "1h").failed(2).startswith("warm_up = 3600 s: the run ended after 3000 requests")
    compared = ssdlab_command("compare", *options, "--warm-up", 1000)
    assert "Warm-up: the first 1,000 requests" in compared.out


def test_series_and_timelines_show_all_with_the_end_of_the_warm_up(tmp_path: Path) -> None:
    file = tmp_path / "t.json.gz"
    result = run(warm_up=20, requests=60, series=True, timeline=file)
    assert result.series.warm_up == result.warm_up.ns
    assert sum(result.series.latency.read.count) + sum(result.series.latency.write.count) == 60
    events = json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]
    marks = [event for event in events if event["name"] == "warm-up ends"]
    assert [(mark["ph"], mark["s"], mark["ts"]) for mark in marks] == [("i", "g", pytest.approx(result.warm_up.ns / 1000))]
    assert sum(event["name"].endswith(" request") for event in events) == 60


def test_pairs_leave_the_warm_up_out() -> None:
    whole = ssdlab.compare(schemes=["npgc", "pgc"], requests=2000, set=SMALL, log_requests=True)
    warm = ssdlab.compare(schemes=["npgc", "pgc"], requests=2000, set=SMALL, log_requests=True, warm_up=500)
    assert paired(whole["npgc"], whole["pgc"])["all"]["requests"] == 2000
    assert warm.paired["pgc"]["all"]["requests"] == 1500


def test_a_sweep_takes_it_for_all_points_or_as_an_axis_and_resumes_only_with_the_same(tmp_path: Path) -> None:
    options: dict[str, Any] = {"scheme": "npgc", "set": SMALL, "requests": 600, "out": tmp_path / "s"}
    both = ssdlab.sweep({"warm_up": [100, "200ms"]}, **options)
    assert both[0].result["warm_up"]["requests"] == 100
    assert both[1].result["warm_up"]["ns"] == 200_000_000
    assert ssdlab.sweep({"warm_up": [100, "200ms"]}, **options, resume=True)[0].result.to_dict() == both[0].result.to_dict()
    file = next((tmp_path / "s").glob("*100/result.json"))
    data = json.loads(file.read_text())
    data["sweep"]["warm_up"] = [50, "requests"]
    file.write_text(json.dumps(data))
    with pytest.raises(ssdlab.UsageError, match="is the result of another run"):
        ssdlab.sweep({"warm_up": [100, "200ms"]}, **options, resume=True)


def test_a_study_takes_it(tmp_path: Path) -> None:
    keys = "\n".join(f'"{key}" = {value}' for key, value in SMALL.items())
    study = tmp_path / "s.toml"
    text = 'title = "t"\nschemes = ["npgc"]\nrequests = 800\nwarm_up = 300\nENGINE\n[metrics]\nn = "latency_ns.all.count"\n'
    study.write_text(text.replace("ENGINE", "") + f'[[rows]]\nwhat = "n"\nvalue = "n[npgc]"\n[set]\n{keys}\n')
    outcome = ssdlab.run_study(str(study)).outcomes[0]
    assert outcome.estimate is not None
    assert outcome.estimate.mean == 500
    study.write_text(text.replace("ENGINE", 'engine = "queueing"').replace("npgc", "rwp"))
    with pytest.raises(ssdlab.ConfigError, match="warm_up: "):
        ssdlab.run_study(str(study))


def test_a_simulator_takes_it() -> None:
    def result(warm_up: str | int | None, count: int) -> ssdlab.Result:
        simulator = ssdlab.Simulator(set=DRIVE, warm_up=warm_up)
        for index in range(count):
            simulator.submit(ssdlab.Request(op="write", offset=4096 * index, length=4096, arrival_ns=1_000_000 * index))
        return simulator.finish()

    assert result(4, 10).request_counts.write == 6
    assert result("4ms", 10).request_counts.write == 6
    assert result("4ms", 10).flash.host_programs == 6
    with pytest.raises(ssdlab.UsageError, match="the run ended after 3 requests"):
        result(4, 3)
