"""The queueing model from Python: formulas over arrays, and the simulation."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ssdlab
from conftest import ROOT
from ssdlab import queueing
from ssdlab.analysis.formulas import FORMULAS as FORMULAS_OF_THE_CORE

TIMES = {"read_time": 0.0763, "write_time": 0.9264, "copy_time": 0.9507, "erase_time": 3.0003}
BLOCK = {"pages": 256, "valid": 64}
LOAD = {"read_rate": 1.0, "write_rate": 0.5}
WHOLE = LOAD | TIMES | BLOCK
EXAMPLE: dict[str, float] = WHOLE | {
    "reads_per_write": 2.0,
    "amplification": 4 / 3,
    "read_queue": 0.8,
    "write_queue": 0.4,
    "wait": 0.6,
    "rate": 1.5,
}
FORMULAS: dict[str, Callable[..., Any]] = {name: getattr(queueing, name) for name in queueing.EQUATIONS}
ARGUMENTS = {name: function.__code__.co_varnames[: function.__code__.co_argcount] for name, function in FORMULAS.items()}

# ---------------------------------------------------------------------------------------------------------------------------------------
# Formulas.


def test_the_numbers_of_the_report() -> None:
    assert queueing.write_utilisation(0.5, 0.9264) + queueing.read_utilisation(1.0, 0.0763) == pytest.approx(0.54, abs=0.005)
    assert queueing.utilisation(**WHOLE) == pytest.approx(0.71, abs=0.005)
    assert queueing.max_throughput(2.0, **TIMES, **BLOCK) == pytest.approx(2.125, abs=0.0005)
    assert queueing.max_throughput_amplified(2.0, **TIMES, pages=256, amplification=4 / 3) == pytest.approx(2.125, abs=0.0005)
    assert queueing.gc_duration_cep(0.9507, 3.0003, 64) == pytest.approx(63.8451)


def test_every_function_is_the_formula_of_its_name_and_its_arguments() -> None:
    """The core's table, the functions' signatures and `__all__` name the same."""
    assert {name: list(arguments) for name, arguments in ARGUMENTS.items()} == {
        name: formula.arguments for name, formula in FORMULAS_OF_THE_CORE.items()
    }
    assert set(FORMULAS) <= set(queueing.__all__)
    assert all(function.__doc__ for function in FORMULAS.values())


@pytest.mark.parametrize("name", FORMULAS)
def test_arrays_are_what_their_entries_are_one_by_one(name: str) -> None:
    function, names = FORMULAS[name], ARGUMENTS[name]
    scalar = function(*(EXAMPLE[argument] for argument in names))
    assert type(scalar) is float
    rng = np.random.default_rng(3)
    columns = {argument: EXAMPLE[argument] * rng.uniform(0.9, 1.0, (3, 1, 4)) for argument in names}
    if "amplification" in columns:
        columns["amplification"] = rng.uniform(1, 3, (3, 1, 4))
    columns[names[0]] = columns[names[0]][:, :, :1].repeat(2, axis=1)  # broadcast against the others
    values = function(**columns)
    assert values.shape == np.broadcast_shapes(*(column.shape for column in columns.values()))
    spread = {argument: np.broadcast_to(column, values.shape) for argument, column in columns.items()}
    for place in np.ndindex(values.shape):
        assert values[place] == function(**{argument: column[place] for argument, column in spread.items()})
    # In any order in memory, and of any number of dimensions.
    assert np.array_equal(function(**{argument: np.asfortranarray(column) for argument, column in columns.items()}), values)
    assert function(*(np.float32(EXAMPLE[argument]) for argument in names)) == pytest.approx(scalar, rel=1e-5)
    assert function(*(np.empty((0,)) for _ in names)).shape == (0,)


def test_whole_numbers_and_lists_are_numbers() -> None:
    assert queueing.write_amplification(256, [64, 128]).tolist() == [4 / 3, 2.0]
    assert queueing.write_amplification(np.uint8(4), np.array([1, 2], dtype=np.int16)).tolist() == [4 / 3, 2.0]


def test_an_index_says_where() -> None:
    with pytest.raises(
        ssdlab.UsageError, match=r"^utilisation is 1\.0[0-9]+ \(at index 2\): expected below 1: an overloaded die has no mean wait$"
    ):
        queueing.mean_wait_rwp(**WHOLE | {"write_rate": [0.1, 0.5, 0.75, 0.8]})
    with pytest.raises(ssdlab.UsageError, match=r"^valid is 256 \(at index \(1, 0\)\): expected fewer than the block's pages"):
        queueing.copy_rate(0.5, 256, [[0, 1], [256, 2]])
    with pytest.raises(ssdlab.UsageError, match=r"^write_rate is NaN: expected a finite number"):
        queueing.write_utilisation(float("nan"), 1.0)


@pytest.mark.parametrize("wrong", [None, "1", True, 1j, [[1], [2, 3]], object()], ids=lambda wrong: type(wrong).__name__)
def test_what_is_no_number_is_refused(wrong: Any) -> None:
    with pytest.raises(ssdlab.UsageError, match=r"write_time = .*: expected a number, or an array of numbers"):
        queueing.write_utilisation(1.0, wrong)


def test_arrays_that_do_not_go_together_are_named() -> None:
    with pytest.raises(ssdlab.UsageError, match=r"write_rate \(2,\), write_time \(3,\)"):
        queueing.write_utilisation([1, 2], [1, 2, 3])


def test_all_at_once() -> None:
    values = queueing.formulas(**WHOLE)
    assert set(values) == set(FORMULAS)
    assert values["mean_wait_rwp"] == queueing.mean_wait_rwp(**WHOLE) == pytest.approx(values["wait_balance_rwp"])
    assert values["queue_length"] == pytest.approx(1.5 * values["mean_wait_rwp"])
    only_reads = queueing.formulas(**WHOLE | {"write_rate": 0})
    assert set(FORMULAS) - set(only_reads) == {"max_write_rate", "total_rate", "max_throughput", "max_throughput_amplified"}
    many = queueing.formulas(**WHOLE | {"write_rate": np.array([0.25, 0.5])})
    assert {name: np.broadcast_to(value, 2)[1] for name, value in many.items()} == values
    with pytest.raises(ssdlab.UsageError, match="utilisation is"):
        queueing.formulas(**WHOLE | {"write_rate": 0.8})


def test_many_sets_are_the_same_arithmetic_as_in_numpy() -> None:
    rng = np.random.default_rng(1)
    columns = {name: EXAMPLE[name] * rng.uniform(0.5, 1.0, 10_000) for name in ARGUMENTS["mean_wait_rwp"]}
    lr, lw, br, bw, bc, be, c, v = columns.values()
    expected = (lr * br**2 + lw * bw**2 + lw * (v * bc**2 + be**2) / (c - v)) / (2 * (1 - lr * br - lw * bw))
    assert np.allclose(queueing.mean_wait_rwp(**columns), expected, rtol=1e-12)


# ---------------------------------------------------------------------------------------------------------------------------------------
# Simulation.

SHORT: dict[str, Any] = {"requests": 20_000}


def test_the_times_of_a_device_and_those_given_one_by_one() -> None:
    table_1 = {"read_ns": 76_300, "write_ns": 926_400, "copy_ns": 950_700, "erase_ns": 3_000_300, "pages": 256}
    assert queueing.Experiment().die == table_1
    lee = queueing.simulate(device="lee2013", valid=20, write_per_ms=0.2, **SHORT).parameters
    assert lee["pages"] == 64
    given = queueing.simulate(device="lee2013", pages=256, **{name: table_1[name] for name in list(table_1)[:4]}, **SHORT)
    assert given.digest == queueing.simulate(**SHORT).digest
    copies = queueing.simulate(set={"device.copyback": False}, **SHORT).parameters["copy_ns"]
    assert copies == 950_700 + 2 * 26_000


def test_equal_arguments_give_an_equal_result_and_the_seed_decides_the_arrivals_alone() -> None:
    runs = {priority: queueing.simulate(priority=priority, series=True, **SHORT) for priority in ("rwp", "cep", "fifo")}
    assert len({run.digest for run in runs.values()}) == 3
    arrivals = runs["rwp"].requests["arrival_ns"]
    assert all(run.requests["arrival_ns"] == arrivals and run.requests["op"] == runs["rwp"].requests["op"] for run in runs.values())
    again = queueing.simulate(priority="cep", **SHORT)
    kept = {"wall_s", "requests_per_s"}
    assert {k: v for k, v in again.to_dict().items() if k not in kept} == {k: v for k, v in runs["cep"].to_dict().items() if k not in kept}
    assert queueing.simulate(seed=2, **SHORT).digest != runs["rwp"].digest


def test_tables_and_figures_agree() -> None:
    run = queueing.simulate(priority="rwp", valid=[60, 68], series=True, **SHORT)
    waits = run.requests["wait_ns"].to_numpy()
    assert (len(waits), waits.mean(), waits.max()) == (20_000, pytest.approx(run.wait.all.mean), run.wait.all.max)
    ops = run.requests["op"].to_pylist()
    assert {"read": ops.count("read"), "write": ops.count("write")} == run["requests"].to_dict() == run.request_counts.to_dict()
    table = run.collections
    durations = table["end_ns"].to_numpy() - table["start_ns"].to_numpy()
    assert (len(durations), durations.mean()) == (run.gc.collections, pytest.approx(run.gc.duration.mean))
    backlogs = table["backlog_end_ns"].to_numpy() - table["start_ns"].to_numpy()
    assert backlogs.mean() == pytest.approx(run.gc.backlog.mean)
    assert sum(table["overlapped"].to_pylist()) == run.gc.overlapped
    assert table["valid"].to_pylist()[:3] == [60, 68, 60]
    assert run.copies.num_rows == run.gc.copies == sum(table["valid"].to_pylist())
    assert queueing.simulate(valid=[60, 68], **SHORT).digest == run.digest
    with pytest.raises(ssdlab.UsageError, match="series=True"):
        _ = queueing.simulate(**SHORT).copies


def test_saturation_is_the_throughput_of_the_report() -> None:
    base: dict[str, Any] = {"arrivals": "saturated", "requests": 500_000, "formulas": True}
    cep = queueing.simulate(priority="cep", **base)
    assert cep.throughput_per_ms == pytest.approx(cep.formulas.max_throughput_per_ms, rel=0.01)
    assert "mean_wait_rwp_ns" not in cep.formulas
    assert queueing.simulate(priority="rwp", **base).throughput_per_ms == pytest.approx(2.78, rel=0.01)
    for free_blocks in (1, 2, 8):
        bounded = queueing.simulate(priority="rwp", free_blocks=free_blocks, **base)
        assert bounded.throughput_per_ms == pytest.approx(2.125, rel=0.01)


def test_backlogs_without_overlap_are_the_same_under_all_priorities() -> None:
    """Section 7 of the report: unfinished work does not depend on the order of service."""
    starts, ends = zip(
        *(
            (run.collections["start_ns"].to_pylist(), run.collections["backlog_end_ns"].to_pylist())
            for run in (queueing.simulate(priority=priority, series=True, **SHORT) for priority in ("rwp", "cep"))
        ),
        strict=True,
    )
    assert starts[0] == starts[1]
    assert ends[0] == ends[1]


def test_a_drive_and_the_queue_see_the_same_requests(tmp_path: Path) -> None:
    settings = {"workload.request_kb": 8, "workload.align_kb": 0.5, "workload.read_share": 0.4}
    drive = ssdlab.run(device="bux2011", set=settings, requests=500, seed=5, log_requests=True)
    queue = queueing.simulate(arrivals="replayed", set=settings, requests=500, seed=5, series=True)
    log = drive.requests
    expected = [
        (arrival, kind)
        for arrival, kind, offset, size in zip(
            *(log[name].to_pylist() for name in ("arrival_ns", "kind", "offset_bytes", "size_bytes")), strict=True
        )
        for _page in range(offset // 4096, (offset + size - 1) // 4096 + 1)
    ]
    assert list(zip(queue.requests["arrival_ns"].to_pylist(), queue.requests["op"].to_pylist(), strict=True)) == expected
    assert queue.workload.requests == 500
    again = queueing.simulate(replay=expected)
    assert again.digest == queue.digest


def test_a_trace_leaves_out_what_the_model_has_no_operation_for(tmp_path: Path) -> None:
    trace = tmp_path / "t.csv"
    trace.write_text("timestamp_us,op,offset_bytes,size_bytes\n0,R,0,4096\n10,T,0,4096\n20,W,0,8192\n30,F,0,0\n")
    run = queueing.simulate(trace=trace, series=True)
    assert run.requests["arrival_ns"].to_pylist() == [0, 20_000, 20_000]
    report = run.workload.to_dict()
    assert {key: report[key] for key in ("requests", "trims_left_out", "flushes_left_out")} == {
        "requests": 2,
        "trims_left_out": 1,
        "flushes_left_out": 1,
    }
    captured = ROOT / "traces" / "mariadb_oltp_write_only_paced.csv.zst"
    assert queueing.simulate(device="demo-4g", trace=captured, requests=1000, valid=30).workload.trace.requests == 1000


def test_gaps_of_a_list_and_fixed_gaps() -> None:
    run = queueing.simulate(read_gaps_ns=[500_000, 1_500_000], write_gaps_ns=[2_000_000], arrivals="renewal", series=True, requests=3000)
    ops, times = run.requests["op"].to_pylist(), run.requests["arrival_ns"].to_pylist()
    writes = [at for at, op in zip(times, ops, strict=True) if op == "write"]
    assert writes == [2_000_000 * (index + 1) for index in range(len(writes))]
    reads = [at for at, op in zip(times, ops, strict=True) if op == "read"]
    assert {b - a for a, b in itertools.pairwise(reads)} == {500_000, 1_500_000}
    fixed = queueing.simulate(arrivals="deterministic", read_per_ms=0, write_per_ms=3, requests=9, series=True)
    assert fixed.requests["arrival_ns"].to_pylist() == [index * 10**6 // 3 for index in range(1, 10)]


def test_the_priority_of_a_scheme() -> None:
    for scheme in ("cep", "rwp"):
        assert queueing.simulate(scheme=scheme, **SHORT).priority == scheme


def test_results_print_and_are_mappings() -> None:
    run = ssdlab.queueing.simulate(formulas=True, **SHORT)
    assert "Single-die queueing model" in str(run)
    assert repr(run) == "<QueueingResult: rwp, 20,000 requests>"
    assert run["utilisation"]["total"] == pytest.approx(run.formulas.utilisation, rel=0.05)


def test_what_is_not_defined_is_absent() -> None:
    reads = queueing.simulate(write_per_ms=0, **SHORT)
    assert set(reads.wait) == {"all", "read"}
    assert set(reads.gc) == {"collections", "copies", "prolonged", "overlapped"}
    nothing = queueing.simulate(read_ns=0, write_ns=0, copy_ns=0, erase_ns=0, arrivals="saturated", requests=1000)
    assert (nothing.simulated_ns, nothing.gc.collections) == (0, nothing.request_counts.write // 192)
    assert not {"queue", "copy_queue", "utilisation", "throughput_per_ms"} & set(nothing)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"priority": "fcfs"}, 'priority "fcfs": unknown variant `fcfs`, expected one of `rwp`, `cep`, `fifo`'),
    ({"priority": "cep", "scheme": "cep"}, "both given"),
    ({"arrivals": "erlang"}, 'arrivals = "erlang": expected one of poisson'),
    ({"valid": 256}, "valid = 256: expected 0 to 255"),
    ({"valid": [1, -1]}, "valid = -1"),
    ({"valid": []}, r"valid = \[\]"),
    ({"valid": 1.5}, "valid = 1.5"),
    ({"valid": "64"}, "valid = '64'"),
    ({"pages": 0}, "pages = 0"),
    ({"pages": 20_000}, "pages = 20000: expected 1 to 16384"),
    ({"pages": 2**40}, "pages = 1099511627776"),
    ({"read_ns": -1}, "read_ns = -1"),
    ({"erase_ns": 10**13}, "erase_ns = 10000000000000: expected at most"),
    ({"free_blocks": 0}, "free_blocks = 0"),
    ({"requests": 0}, "requests = 0"),
    ({"seed": -1}, "seed = -1"),
    ({"read_per_ms": -0.5}, "read_per_ms = -0.5"),
    ({"read_per_ms": float("nan")}, "read_per_ms = NaN"),
    ({"read_per_ms": "1"}, "read_per_ms = '1'"),
    ({"read_per_ms": 0, "write_per_ms": 0}, "both 0"),
    ({"read_gaps_ns": [1]}, 'read_gaps_ns means nothing with arrivals = "poisson"'),
    ({"arrivals": "renewal"}, "both empty"),
    ({"arrivals": "renewal", "read_per_ms": 1.0}, 'read_per_ms means nothing with arrivals = "renewal"'),
    ({"arrivals": "renewal", "read_gaps_ns": [1, 1.5]}, r"read_gaps_ns\[1\] = 1.5"),
    ({"arrivals": "renewal", "write_gaps_ns": [2**60]}, r"write_gaps_ns\[0\]"),
    ({"arrivals": "saturated", "trace": "t.csv"}, "trace means nothing"),
    ({"trace": "nowhere.csv"}, "nowhere.csv: cannot read"),
    ({"workload": "nothing-like"}, "nothing-like"),
    ({"workload": "lee2013-synthetic", "set": {"workload.queue_depth": 4}}, "queue_depth = 4: a closed loop"),
    ({"set": {"gc.soft": 0.1}}, "gc.soft means nothing to the queueing model"),
    ({"set": {"workload.read_share": 0.1}}, "workload.read_share means nothing"),
    ({"device": "nowhere"}, "nowhere"),
    ({"replay": []}, "no request to serve"),
    ({"replay": [(0, "trim")]}, r"replay\[0\]"),
    ({"replay": [(5, "read"), (4, "read")]}, "request 1 arrives at 4 ns, before"),
    ({"replay": [(2**63, "read")]}, "292 years"),
    ({"replay": [(0, "read")], "requests": 5}, "leave out requests"),
    ({"series": 1}, "series = 1"),
    ({"write_per_ms": 0.8, "formulas": True}, "utilisation is 1.08"),
    ({"arrivals": "saturated", "write_ns": 10**12, "requests": 10**9}, "584 years"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[str(arguments)[:60] for arguments, _ in WRONG])
def test_what_cannot_be_simulated_says_why(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ssdlab.Error, match=message):
        queueing.simulate(**{"requests": 10} | arguments if "replay" not in arguments and "trace" not in arguments else arguments)
