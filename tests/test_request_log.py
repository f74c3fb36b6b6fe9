"""`requests.parquet`, a row for each request: it can be opened by other tools, and agrees with the figures of the result."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ssdlab
from conftest import DRIVE, ROOT, SMALL

PARTS = ["host_queue", "die_queue", "gc", "bus_queue", "transfer", "array", "suspended", "dram", "controller", "link", "mapping", "pace"]
PARTS += ["power", "heat", "power_state", "retry", "decode"]
COLUMNS = {
    "index": pa.int64(),
    "kind": pa.dictionary(pa.int32(), pa.string()),
    "sequential": pa.bool_(),
    "offset_bytes": pa.int64(),
    "size_bytes": pa.int64(),
    "arrival_ns": pa.int64(),
    "response_ns": pa.int64(),
    **{f"{part}_ns": pa.int64() for part in PARTS},
    "warm_up": pa.bool_(),
    "blocked_by": pa.dictionary(pa.int32(), pa.string()),
}
PART_OF = {
    "queue_full": "host_queue",
    "no_room": "host_queue",
    "stripe_lock": "host_queue",
    "page_order": "die_queue",
    "host_operation": "die_queue",
    "bus": "bus_queue",
    "gc_operation": "gc",
    "gc_scope": "gc",
    "hard_threshold": "gc",
    "free_block": "gc",
    "register": "gc",
    "paused": "suspended",
}
"""Reasons of `blocked_by`, with the part of the response time in which each counts."""
RANKS = {"p50": 5000, "p90": 9000, "p95": 9500, "p99": 9900, "p99_9": 9990, "p99_99": 9999}
"""Percentiles in parts of ten thousand."""

Columns = dict[str, list[Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs")


@pytest.fixture(scope="module")
def generated(folder: Path) -> ssdlab.Result:
    """A drive with GC under load: requests wait for GC and for each other."""
    keys = SMALL | {"workload.interarrival_us": 1500, "workload.sequential_share": 0.3}
    result = ssdlab.run(scheme="pgc-se", set=keys, requests=25_000, log_requests=True, out=folder / "generated")
    assert min(result.breakdown.all.gc, result.breakdown.all.die_queue) > 0
    return result


@pytest.fixture(scope="module")
def replayed(folder: Path) -> ssdlab.Result:
    """Requests of all kinds, submitted individually."""
    trace = folder / "t.csv"
    lines = [f"{7 * i},{'WWRRTWFR'[i % 8]},{0 if i % 8 == 6 else 4096 * (i * i % 97)},{0 if i % 8 == 6 else 4096}" for i in range(4000)]
    trace.write_text("timestamp_us,op,offset_bytes,size_bytes\n" + "\n".join(lines) + "\n")
    return ssdlab.run(trace=trace, set=DRIVE, log_requests=True, out=folder / "replayed")


@pytest.fixture(params=["generated", "replayed"])
def result(request: pytest.FixtureRequest) -> ssdlab.Result:
    found = request.getfixturevalue(request.param)
    assert isinstance(found, ssdlab.Result)
    return found


def with_polars(path: Path) -> Columns:
    import polars as pl

    return {name: list(column) for name, column in pl.read_parquet(path).to_dict(as_series=False).items()}


def with_pandas(path: Path) -> Columns:
    import pandas as pd

    frame = pd.read_parquet(path)
    nulls = frame.astype(object).where(frame.notna(), None)  # a category that is null comes as NaN
    return {name: nulls[name].tolist() for name in frame.columns}


def with_duckdb(path: Path) -> Columns:
    import duckdb

    found = duckdb.sql(f"SELECT * FROM '{path}'")
    return {name: list(column) for name, column in zip(found.columns, zip(*found.fetchall(), strict=True), strict=True)}


@pytest.mark.parametrize("read", [with_polars, with_pandas, with_duckdb])
def test_everything_that_reads_parquet_reads_the_same(result: ssdlab.Result, read: Callable[[Path], Columns]) -> None:
    path = result.request_log
    assert path is not None
    expected = pq.read_table(path).to_pydict()
    found = read(path)
    assert list(found) == list(expected) == list(COLUMNS)
    for name, values in expected.items():
        assert found[name] == values, name
        assert len(values) == sum(result["requests"].values())


def test_columns_have_their_units_in_their_names_and_are_what_the_page_says(result: ssdlab.Result) -> None:
    table = result.requests
    assert {field.name: field.type for field in table.schema} == COLUMNS
    assert [field.name for field in table.schema if field.nullable] == ["blocked_by"]
    plain = pq.read_table(result.request_log)
    assert {plain[name].type for name in ("kind", "blocked_by")} == {pa.string()}
    assert plain.to_pydict() == table.to_pydict()
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| .+ \|$", (ROOT / "docs" / "python.md").read_text(), re.MULTILINE)
    described = [name for names in rows for name in re.findall(r"`(\w+)`", names)]
    assert described[: len(COLUMNS)] == list(COLUMNS)


def test_the_same_table_in_polars_and_pandas_without_a_file(generated: ssdlab.Result) -> None:
    import polars as pl

    table = generated.requests
    assert pl.from_arrow(table)["response_ns"].to_list() == table.to_pandas()["response_ns"].tolist() == table["response_ns"].to_pylist()


def test_the_difference_of_two_columns_in_polars_is_negative_where_it_is(replayed: ssdlab.Result) -> None:
    """With unsigned columns it was 1.9e18."""
    import polars as pl

    frame = pl.read_parquet(replayed.request_log).select(pl.col("response_ns") - pl.col("arrival_ns"))
    found = frame.to_series().to_list()
    table = pq.read_table(replayed.request_log).to_pydict()
    assert found == [response - arrival for response, arrival in zip(table["response_ns"], table["arrival_ns"], strict=True)]
    assert min(found) < 0


def chosen(columns: Columns, of: str) -> list[int]:
    """The response times of a class of requests, sorted."""
    rows = zip(columns["kind"], columns["sequential"], columns["response_ns"], strict=True)
    classes = {
        "all": {("read", True), ("read", False), ("write", True), ("write", False)},
        "read": {("read", True), ("read", False)},
        "write": {("write", True), ("write", False)},
        "seq_read": {("read", True)},
        "rand_read": {("read", False)},
        "flush": {("flush", True), ("flush", False)},
    }
    return sorted(ns for kind, sequential, ns in rows if (kind, sequential) in classes[of])


def test_figures_are_those_of_the_logged_requests(result: ssdlab.Result) -> None:
    columns = result.requests.to_pydict()
    error = result.percentile_error
    assert error == 1 / 1024
    for of, figures in result["latency_ns"].items():
        times = chosen(columns, of)
        assert figures["count"] == len(times) > 0
        assert (figures["min"], figures["max"]) == (times[0], times[-1])
        mean = sum(times) / len(times)
        assert figures["mean"] == pytest.approx(mean, rel=1e-12)
        assert figures["variance"] == pytest.approx(sum((ns - mean) ** 2 for ns in times) / len(times), rel=1e-9)
        for name, parts in RANKS.items():
            exact = times[-(-len(times) * parts // 10_000) - 1]  # nearest rank
            assert exact <= figures[name] <= exact * (1 + error), (of, name)
    assert {kind: columns["kind"].count(kind) for kind in ("read", "write", "trim", "flush")} == result["requests"].to_dict()


def test_parts_add_up_to_each_response_and_to_the_breakdown(result: ssdlab.Result) -> None:
    columns = result.requests.to_pydict()
    parts = [columns[f"{part}_ns"] for part in PARTS]
    assert [sum(row) for row in zip(*parts, strict=True)] == columns["response_ns"]
    for of, means in result["breakdown_ns"].items():
        rows = [index for index, kind in enumerate(columns["kind"]) if kind in (("read", "write") if of == "all" else (of,))]
        for part, mean in means.items():
            assert mean == pytest.approx(sum(columns[f"{part}_ns"][row] for row in rows) / len(rows), rel=1e-9), (of, part)


def test_requests_are_in_order_and_what_was_asked_for(replayed: ssdlab.Result) -> None:
    columns = replayed.requests.to_pydict()
    assert columns["index"] == list(range(4000))
    assert columns["arrival_ns"] == [7000 * index for index in range(4000)]
    kinds = {"W": "write", "R": "read", "T": "trim", "F": "flush"}
    assert columns["kind"] == [kinds["WWRRTWFR"[index % 8]] for index in range(4000)]
    moved = [index for index in range(4000) if index % 8 != 6]
    assert [columns["offset_bytes"][index] for index in moved] == [4096 * (index * index % 97) for index in moved]
    assert {columns["size_bytes"][index] for index in moved} == {4096}


BUSY = {"ftl.precondition.kind": "soft", "workload.read_share": 0.4, "workload.interarrival_us": 250, "workload.request_kb": 6}
WAITS = {
    "gc_scope": ("npgc", {}),
    "gc_operation": ("cep", {}),
    "host_operation": ("pgc-none", {}),
    "page_order": ("pgc-none", {"workload.footprint": 0.002}),
    "queue_full": ("pgc-none", {"scheduler.read_queue": 2, "scheduler.write_queue": 2}),
    "no_room": ("dynalloc", {"device.channels": 2, "device.chips_per_channel": 1, "device.overprovisioning": 0.15, "gc.soft": 1}),
    "bus": ("fcfs", {"device.channels": 1, "device.chips_per_channel": 8, "ftl.precondition.kind": "fill"}),
    "paused": ("rbyp-wp", {"workload.request_kb": 32}),
}
"""Runs in which requests wait for a reason. Reasons left out are rare: a die that waits for GC is mostly held by GC operations."""


@pytest.mark.parametrize("reason", WAITS)
def test_a_request_says_why_it_waited_longest(reason: str) -> None:
    scheme, keys = WAITS[reason]
    small = {"device.blocks_per_plane": 32, "device.pages_per_block": 16, "device.overprovisioning": 0.3}
    run = ssdlab.run(device="demo-4g", scheme=scheme, requests=2500, log_requests=True, set={**small, **BUSY, **keys})
    columns = run.requests.to_pydict()
    waiting = sorted(set(PART_OF.values()))
    for row, named in enumerate(columns["blocked_by"]):
        waited = {part: columns[f"{part}_ns"][row] for part in waiting}
        assert (named is None) == (not any(waited.values())), (row, named, waited)
        # Several reasons may count in one part, but none of another part is longer than that part.
        assert named is None or waited[PART_OF[named]] > 0, (row, named, waited)
        for alone in ("bus_queue", "suspended"):  # each has one reason only, so that as the longest part it has the longest reason
            if waited[alone] > max(ns for part, ns in waited.items() if part != alone):
                assert PART_OF[str(named)] == alone, (row, named, waited)
    assert reason in columns["blocked_by"], set(columns["blocked_by"])


def test_a_log_has_the_handles_that_data_are_placed_by(folder: Path) -> None:
    trace = folder / "handles.csv"
    lines = [f"{i},W,{4096 * (i % 50)},4096,{'' if i % 3 == 2 else i % 3}" for i in range(300)]
    trace.write_text("timestamp_us,op,offset_bytes,size_bytes,handle\n" + "\n".join(lines) + "\n")
    keys = DRIVE | {"ftl.placement": "handles", "ftl.handles": 2}
    result = ssdlab.run(trace=trace, set=keys, log_requests=True, out=folder / "handles")
    assert result.request_log is not None
    assert pq.read_table(result.request_log).to_pydict()["handle"] == [None if i % 3 == 2 else i % 3 for i in range(300)]
