"""The Python API, as a user calls it."""

from __future__ import annotations

import copy
import pickle
import threading
import tomllib
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ssdlab
from conftest import DRIVE, SMALL
from ssdlab.asking.plans import Setup, value_text
from ssdlab.runs.batch import Job, execute
from ssdlab.section import Section


def small(**more: Any) -> ssdlab.Result:
    return ssdlab.run(**{"set": SMALL, "requests": 2000, **more})


def test_series_have_a_row_of_bins_for_each_figure_and_add_up_to_the_result() -> None:
    result, without = small(series=True), small()
    series, data = result.series, result.to_dict()
    assert (result.digest, "series" in without, "histograms" in without) == (without.digest, False, False)
    assert series.bins == result.simulated_ns // series.bin_ns + 1 <= 512

    rows = {
        f"{group}.{name}": row
        for group in ("latency_ns.read", "latency_ns.write", "outstanding", "free_blocks", "states", "gc")
        for name, row in reduce(Section.__getitem__, group.split("."), series).items()
        if isinstance(row, list) and name != "chips"
    }
    assert len(rows) == 6 + 2 + 2 + 4 + 2
    rows |= {"bus": series.bus, "dies": series.dies} | {f"chip {chip}": row for chip, row in enumerate(series.gc.chips)}
    assert {name: len(row) for name, row in rows.items()} == dict.fromkeys(rows, series.bins)
    assert (len(series.gc.chips), series.gc.chips_per_row) == (2, 1)
    assert all(0 <= share <= 1 for name in ("bus", "dies", "chip 0", "chip 1", "states.s0") for share in rows[name])

    def time(name: str) -> float:
        return sum(rows[name]) * series.bin_ns

    for kind in ("read", "write"):
        count, mean, longest = (rows[f"latency_ns.{kind}.{name}"] for name in ("count", "mean", "max"))
        latency = data["latency_ns"][kind]
        assert (sum(count), max(longest)) == (latency["count"], latency["max"])
        assert sum(n * ns for n, ns in zip(count, mean, strict=True)) / sum(count) == pytest.approx(latency["mean"])
        histogram = result.histograms[kind]
        assert (sum(histogram["count"]), histogram.upper_ns[-1]) == (latency["count"], latency["max"])
        assert histogram.upper_ns == sorted(set(histogram.upper_ns))
    assert result.gc.jobs > 0
    assert sum(rows["gc.pages_moved"]) == result.gc.pages_moved
    assert 0 <= sum(rows["gc.jobs"]) - result.gc.jobs <= 2  # jobs that had not ended
    assert time("chip 0") + time("chip 1") == pytest.approx(result.gc.time_share * 2 * result.simulated_ns)
    assert min(rows["free_blocks.min"]) == result.gc.free_blocks_min
    assert series.free_blocks.soft == data["precondition"]["soft_blocks"]
    for state, ns in result.gc.state_ns.items():
        assert time(f"states.{state}") * 2 == pytest.approx(ns)
    assert time("bus") / result.simulated_ns == pytest.approx(sum(result.utilisation.channels) / 2)
    assert time("dies") / result.simulated_ns == pytest.approx(sum(result.utilisation.chips) / 2)


def test_long_rows_are_not_printed() -> None:
    result = small(series=True, requests=200)
    assert f"... {result.series.bins - 8:,} more" in repr(result.series)
    assert len(repr(result.series)) < 3000
    assert repr(result.utilisation.channels) in repr(result.utilisation)

    def tables(run: ssdlab.Result) -> list[str]:
        return [line for line in str(run).splitlines() if not line.startswith("Simulated")]  # which says how long that took

    assert tables(result) == tables(small(requests=200))


def test_a_result_is_text_in_a_notebook_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a notebook rich would show its tables itself."""
    result = small(requests=200)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert "Response times" in str(result)


def test_series_of_a_comparison() -> None:
    comparison = ssdlab.compare(schemes=["npgc", "pgc"], set=SMALL, requests=300, series=True)
    assert all(sum(run.series.latency_ns.read["count"]) == run.request_counts.read for run in comparison.values())


def test_attributes_are_the_json_entries() -> None:
    result = small()
    data = result.to_dict()
    assert result.latency.read.p99 == data["latency_ns"]["read"]["p99"]
    assert result.latency.all.p99_9 == data["latency_ns"]["all"]["p99_9"]
    assert result.gc.write_amplification == data["gc"]["write_amplification"] >= 1
    assert result.request_counts.read == data["requests"]["read"]
    assert result.seed == 1
    assert result["config"]["device"]["channels"] == 2
    assert "latency_ns" in dir(result)


def test_what_a_run_does_not_have_is_absent() -> None:
    result = small(requests=10)
    with pytest.raises(AttributeError, match="latency_ns"):
        _ = result.latencies
    assert result.get("cache") is None
    with pytest.raises(ssdlab.UsageError, match="log_requests"):
        _ = result.requests
    assert not hasattr(result, "requests")
    assert getattr(result, "requests", None) is None
    assert hasattr(small(requests=10, log_requests=True), "requests")


def test_to_dict_is_a_copy() -> None:
    result = small(requests=10)
    result.to_dict()["gc"]["jobs"] = -1
    assert result.gc.jobs >= 0


def test_request_log_is_a_table() -> None:
    result = small(log_requests=True)
    table = result.requests
    assert table.num_rows == 2000
    responses = table["response_ns"].to_pylist()
    assert max(responses) == result.latency.all.max
    assert sum(responses) / len(responses) == pytest.approx(result.latency.all.mean)


def test_request_log_in_a_folder(tmp_path: Path) -> None:
    result = small(log_requests=True, out=tmp_path / "results")
    assert result.request_log == tmp_path / "results" / "requests.parquet"
    assert result.requests.num_rows == 2000
    assert (tmp_path / "results" / "result.json").exists()


def test_compare_is_a_mapping_of_results(tmp_path: Path) -> None:
    comparison = ssdlab.compare(schemes=["npgc", "rwp"], set=SMALL, requests=2000, out=tmp_path)
    assert list(comparison) == ["npgc", "rwp"]
    assert comparison["npgc"].digest == small(scheme="npgc").digest
    assert comparison.to_dict()["runs"]["rwp"] == comparison["rwp"].to_dict()
    assert "write amplification" in str(comparison)
    assert (tmp_path / "comparison.json").exists()


def test_one_failing_run_does_not_lose_the_others() -> None:
    """A scheme that writes no log, and one whose log cannot be written."""
    setup = Setup(set=tuple((key, value_text(value)) for key, value in SMALL.items()), requests=500)
    good = Job(label="good", plan=setup.plan(None))
    bad = Job(label="bad", plan=setup.plan(None, Path("/nonexistent/requests.parquet")))
    batch = execute([bad, good], workers=1)
    assert list(batch.finished) == ["good"]
    assert isinstance(batch.failed["bad"], ssdlab.FileError)
    with pytest.raises(ssdlab.FileError) as caught:
        batch.raise_failure()
    assert list(caught.value.finished) == ["good"]


@pytest.mark.parametrize(
    ("arguments", "error", "word"),
    [
        ({"set": {"gc.sotf": 1}}, ssdlab.ConfigError, "gc.soft"),
        ({"set": {"gc.soft": None}}, ssdlab.UsageError, "None"),
        ({"set": {"gc.soft": object()}}, ssdlab.UsageError, "object"),
        ({"device": "lee2031"}, ssdlab.Error, "lee2013"),
        ({"trace": "missing.csv"}, ssdlab.FileError, "missing.csv"),
        ({"verify": "maybe"}, ssdlab.UsageError, "every"),
        ({"requests": 0}, ssdlab.UsageError, "requests"),
        ({"trace": "x", "workload": "y"}, ssdlab.UsageError, "workload"),
    ],
)
def test_errors_are_subclasses_with_the_cores_message(arguments: dict[str, Any], error: type[Exception], word: str) -> None:
    with pytest.raises(error, match=word) as caught:
        ssdlab.run(**arguments)
    assert isinstance(caught.value, ssdlab.Error)


def test_file_errors_are_os_errors_too() -> None:
    with pytest.raises(OSError, match="missing") as caught:
        ssdlab.run(trace="missing.csv")
    assert caught.value.errno == 2
    assert str(caught.value.filename).endswith("missing.csv")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (1, "1"),
        (0.05, "0.05"),
        ("chip", '"chip"'),
        (["read", "erase"], '["read", "erase"]'),
        (Path("a b"), '"a b"'),
        ({"a": 1}, '{"a" = 1}'),
        ((), "[]"),
        (np.float64(0.1), "0.1"),
        (np.arange(3), "[0, 1, 2]"),
        ("\U0001f600 \x7f", '"\U0001f600 \\u007f"'),
    ],
)
def test_values_become_toml(value: object, text: str) -> None:
    assert value_text(value) == text
    assert tomllib.loads(f"x = {text}")


def test_text_that_is_no_text_is_refused() -> None:
    with pytest.raises(ssdlab.UsageError, match="UTF-8"):
        ssdlab.run(trace=b"a\xff.csv".decode(errors="surrogateescape"))


def test_set_takes_lists_and_texts() -> None:
    result = small(requests=10, set=SMALL | {"gc.scope": "none", "ftl.allocation": "WCDP"})
    assert result["config"]["gc"]["scope"] == "none"
    assert result["config"]["ftl"]["allocation"] == "WCDP"


def test_simulator_step_by_step() -> None:
    sim = ssdlab.Simulator(set=SMALL)
    assert sim.now_ns == 0
    first = sim.submit(ssdlab.Request(op="write", offset=0, length=4096, arrival_ns=1000))
    second = sim.submit(ssdlab.Request(op="read", offset=8192, length=4096, arrival_ns=2000))
    assert (first, second) == (0, 1)
    sim.run_until(1000)
    assert sim.completions() == []
    sim.run_to_idle()
    done = sim.completions()
    assert sorted(completion.index for completion in done) == [0, 1]
    assert [completion.completed_ns for completion in done] == sorted(completion.completed_ns for completion in done)
    assert {completion.op for completion in done} == {"read", "write"}
    for completion in done:
        assert completion.response_ns == completion.completed_ns - completion.arrival_ns == sum(completion.parts_ns.values())
    assert sim.completions() == []
    result = sim.finish()
    assert result.request_counts.write == 1
    with pytest.raises(ssdlab.UsageError):
        sim.run_to_idle()


def test_simulator_refuses_the_past_and_nonsense() -> None:
    sim = ssdlab.Simulator(set=SMALL)
    sim.run_until(1_000_000)
    with pytest.raises(ssdlab.Error):
        sim.submit(ssdlab.Request(op="read", offset=0, length=4096, arrival_ns=0))
    with pytest.raises(ssdlab.Error):
        sim.submit(ssdlab.Request(op="erase", offset=0, length=4096))  # type: ignore[arg-type]
    with pytest.raises(ssdlab.Error):
        sim.submit(ssdlab.Request(op="read", offset=2**60, length=4096))


def test_the_interpreter_goes_on_while_the_core_runs() -> None:
    """Another Python thread counts during a run: the core does not hold the interpreter's lock."""
    ticks = 0
    over = threading.Event()

    def count() -> None:
        nonlocal ticks
        while not over.wait(0.001):
            ticks += 1

    counter = threading.Thread(target=count)
    counter.start()
    small(requests=300_000)
    over.set()
    counter.join()
    assert ticks > 10


def test_presets_and_schema() -> None:
    assert "lee2013" in ssdlab.presets("device")
    assert "npgc" in ssdlab.presets("scheme")
    assert "[gc]" in ssdlab.preset_text("scheme", "npgc")
    assert "gc.soft" in ssdlab.config_keys()
    assert "gc" in ssdlab.config_schema()["properties"]


def test_tables_of_a_run_without_reads_and_writes(tmp_path: Path) -> None:
    trace = tmp_path / "trims.csv"
    trace.write_text("timestamp_us,op,offset_bytes,size_bytes\n0,T,0,4096\n1,T,4096,4096\n")
    result = small(requests=None, trace=trace, set=DRIVE)
    assert result.request_counts.trim == 2
    assert "did not run" in str(result)
    assert "2 requests" in repr(result)


def test_a_result_can_be_pickled_and_copied() -> None:
    result = ssdlab.run(device="demo-4g", requests=100)
    assert pickle.loads(pickle.dumps(result)).to_dict() == result.to_dict()
    assert copy.deepcopy(result).digest == result.digest


def test_what_only_a_trace_can_use_is_refused_without_one() -> None:
    with pytest.raises(ssdlab.UsageError, match="unit_bytes: for traces only"):
        ssdlab.run(device="demo-4g", unit_bytes=4096, requests=10)


def test_generated_requests_arrive_faster_too() -> None:
    slow, plain = (ssdlab.run(device="demo-4g", time_scale=scale, requests=1000) for scale in (0.01, 0.1))
    assert slow.simulated_ns == pytest.approx(10 * plain.simulated_ns, rel=0.01)


def test_what_does_nothing_in_this_workload_is_refused(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("timestamp_us,op,offset_bytes,size_bytes\n0,W,0,4096\n")
    with pytest.raises(ssdlab.UsageError, match=r"^workload\.read_share, workload\.footprint: for generated requests only"):
        ssdlab.run(device="demo-4g", trace=trace, set={"workload.read_share": 0.5, "gc.soft": 0.05, "workload.footprint": 0.5})
    with pytest.raises(ssdlab.UsageError, match=r"^workload\.skip, workload\.device: for traces only"):
        ssdlab.run(device="demo-4g", set={"workload.skip": 3, "workload.device": "0"}, requests=10)
    preset_and_trace = ssdlab.run(device="demo-4g", workload="lee2013-synthetic", set={"workload.trace": trace})
    assert sum(preset_and_trace["requests"].values()) == 1


def test_a_prefill_and_a_saved_state_are_not_both_taken() -> None:
    with pytest.raises(ssdlab.UsageError, match="prefill and state"):
        ssdlab.run(device="demo-4g", prefill="a.csv", state="b.state", requests=10)


def test_a_high_priority_write_has_collection_run_to_completion() -> None:
    """A drive short of free blocks: the write is served after the job, ahead of the writes that wait for more space."""
    small = {"device.channels": 1, "device.blocks_per_plane": 16, "device.pages_per_block": 8, "device.overprovisioning": 0.6}
    axes = {"gc.scope": "none", "gc.priority": "host", "gc.soft": 6, "gc.hard": 1.0}

    def response_of_the_last(*, high_priority: bool) -> tuple[int, int]:
        simulator = ssdlab.Simulator(set={**small, **axes})
        for index in range(120):
            page = 5 * index % 40
            simulator.submit(ssdlab.Request(op="write", offset=4096 * page, length=4096, arrival_ns=1000 * index))
        last = simulator.submit(ssdlab.Request(op="write", offset=0, length=4096, arrival_ns=200_000, high_priority=high_priority))
        simulator.run_to_idle()
        responses = {done.index: done.response_ns for done in simulator.completions()}
        return responses[last], simulator.finish()["counters"]["s3_entries"]

    (plain, none), (urgent, entries) = (response_of_the_last(high_priority=high) for high in (False, True))
    assert none == 0
    assert entries > 0
    assert urgent < plain


def test_the_table_says_what_was_left_out_of_a_trace(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("timestamp_us,op,offset_bytes,size_bytes\n0,W,0,4096\n1,W,99999999999999,4096\n")
    result = ssdlab.run(device="demo-4g", trace=trace, set={"workload.range": "clip"})
    assert "The requests are not all those of the trace: 1 requests dropped" in str(result)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scheme": ["npgc"]}, "scheme = ['npgc']: expected a text"),
        ({"device": 5}, "device = 5: expected a text"),
        ({"workload": Path("x.toml")}, "workload = "),
        ({"set": ["gc.soft=1"]}, "set = ['gc.soft=1']: expected a mapping"),
        ({"set": {5: 1}}, "set = {5: 1}: expected a mapping"),
        ({"requests": "five"}, 'requests = "five": expected a whole number such as 5000'),
        ({"requests": 5.0}, "requests = 5.0: expected a whole number from 1"),
        ({"requests": True}, "requests = True: expected a whole number from 1"),
        ({"seed": None}, "seed = None: expected a whole number from 0"),
        ({"verify": True}, "verify = True: expected a text"),
        ({"trace": 5}, "trace = 5: expected a path"),
        ({"trace": b"x.csv"}, "trace = b'x.csv': expected a path"),
        ({"config": 5}, "config = 5: expected a path"),
        ({"prefill": 5}, "prefill = 5: expected a path"),
        ({"state": 5}, "state = 5: expected a path"),
        ({"out": 5}, "out = 5: expected a path"),
        ({"log_requests": "no"}, "log_requests = 'no': expected True or False"),
        ({"series": 1}, "series = 1: expected True or False"),
        ({"unit_bytes": "many"}, 'unit_bytes = "many": expected a number of bytes'),
    ],
)
def test_arguments_of_a_wrong_type(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ssdlab.Error) as caught:
        ssdlab.run(**arguments)
    assert message in str(caught.value)
    assert isinstance(caught.value, ssdlab.UsageError | ssdlab.ConfigError)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ssdlab.compare(schemes="npgc"),
        lambda: ssdlab.compare(schemes=5),  # type: ignore[arg-type]
        lambda: ssdlab.compare(schemes=[5]),  # type: ignore[list-item]
        lambda: ssdlab.compare(schemes=["npgc"], jobs="2"),  # type: ignore[arg-type]
        lambda: ssdlab.precondition(5, set=DRIVE),  # type: ignore[arg-type]
        lambda: ssdlab.trace_info(5),  # type: ignore[arg-type]
        lambda: ssdlab.trace_info("x.csv", device=5),  # type: ignore[arg-type]
        lambda: ssdlab.trace_convert("x.csv", 5),  # type: ignore[arg-type]
        lambda: ssdlab.trace_convert("x.csv", "y.csv", bad_lines=None),  # type: ignore[arg-type]
        lambda: ssdlab.presets(5),  # type: ignore[arg-type]
        lambda: ssdlab.preset_text("device", 5),  # type: ignore[arg-type]
    ],
)
def test_arguments_of_a_wrong_type_to_other_functions(call: Any) -> None:
    with pytest.raises(ssdlab.UsageError, match="expected"):
        call()


def test_arguments_of_a_wrong_type_to_a_simulator() -> None:
    sim = ssdlab.Simulator(set=DRIVE)
    calls: list[Any] = [
        lambda: sim.run_until(1e6),  # type: ignore[arg-type]
        lambda: sim.run_until("5"),  # type: ignore[arg-type]
        lambda: sim.free_blocks(-1),
        lambda: sim.free_blocks(2**40),
        lambda: sim.free_blocks(None),  # type: ignore[arg-type]
        lambda: sim.submit("read"),  # type: ignore[arg-type]
        lambda: sim.submit(ssdlab.Request(op=5, length=4096)),  # type: ignore[arg-type]
        lambda: sim.submit(ssdlab.Request(op="read", offset=0.5, length=4096)),  # type: ignore[arg-type]
        lambda: sim.submit(ssdlab.Request(op="read", length="4096")),  # type: ignore[arg-type]
    ]
    for call in calls:
        with pytest.raises(ssdlab.UsageError):
            call()
    assert len(sim.free_blocks(0)) > 0
