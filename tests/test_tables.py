"""Tables on a terminal: they fit, show whole numbers, and identify a comparison."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from rich.console import RenderableType

import ssdlab
from conftest import DRIVE, ROOT, SMALL_OPTIONS, Ssdlab
from ssdlab import Comparison, Result
from ssdlab.cli import output, presets
from ssdlab.experiments.study import library
from ssdlab.experiments.study.running import prepare, run
from ssdlab.pages import tables

NUMBER = re.compile(r"\d[\d,.]*%?")
LONG = "dynalloc-slacker"
LATENCY = {"count": 123_456_789, "std": 3e9, **dict.fromkeys(("mean", "p50", "p90", "p99", "p99_9", "max"), 999_999_999.0)}
SIZES = [60, 80, 100, 200]


def result(mean: float = 1e6, **more: Any) -> Result:
    """A result with figures of maximum length."""
    latency = {kind: LATENCY | {"mean": mean} for kind in ("all", "read", "write", "seq_read", "rand_read")}
    parts = ("host_queue", "die_queue", "gc", "bus_queue", "transfer", "array", "cache_queue", "parity")
    breakdown = {kind: dict.fromkeys(parts, 123_456_789.0) for kind in ("all", "read", "write")}
    return Result(
        {
            "latency_ns": latency,
            "breakdown_ns": breakdown,
            "gc": {"jobs": 12_345_678, "write_amplification": 12.345, "pages_moved": 10**9, "erases": 10**7, "time_share": 0.5},
            "cache": {"capacity_pages": 5, "read_hits": 5, "write_hits": 5, "lookups": 10, "hit_ratio": 0.9999},
            "iops": 123_456.0,
            "requests_per_s": 1_234_567.0,
            "simulated_ns": 10**12,
            "wall_s": 1.0,
            "seed": 1,
            "digest": "0123456789abcdef" * 4,
            **more,
        }
    )


def comparison(count: int) -> Comparison:
    """A comparison of `count` schemes with long names."""
    return Comparison({f"{LONG}-{index}": result(1e6 * (index + 1)) for index in range(count)}, title="Device demo-4g, trace x.csv")


def numbers(text: str) -> set[str]:
    """The whole numbers in a text."""
    return {found.rstrip(",.") for found in NUMBER.findall(text)}


def shown(items: list[RenderableType], columns: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """The output on a terminal of this width."""
    screen = io.StringIO()
    screen.isatty = lambda: True  # type: ignore[method-assign]
    for name, value in {"COLUMNS": str(columns), "LINES": "24", "TERM": "dumb", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", screen)
    output.print_tables(items)
    return re.sub(r"\x1b\[[\d;]*m", "", screen.getvalue())


@pytest.fixture(scope="module")
def made() -> Mapping[str, list[RenderableType]]:
    """Tables of every kind."""
    drive = DRIVE | {"workload.read_share": 0.5}
    paired = ssdlab.compare(schemes=["fr-fcfs", LONG], set=drive, requests=300, paired=True, log_requests=True)
    grid = {
        "gc.victim": ["greedy", "cost-benefit"],
        "scheme": ["npgc", LONG],
        "workload.read_share": [0.25],
        "workload.interarrival_us": [1000.5],
        "seed": [1, 2],
    }
    sweep = ssdlab.sweep(grid, set=DRIVE, requests=50)
    study = run(prepare(library.load("bux2011/sec4"), quick=True))
    queueing = {name: ssdlab.queueing.simulate(requests=2000, priority=name) for name in ("rwp", "cep", "fifo")}
    info = ssdlab.trace_info(ROOT / "traces" / "mariadb_oltp_write_only_paced.csv.zst")
    return {
        "run": tables.run_tables(result()),
        **{f"compare {count}": tables.comparison_tables(comparison(count)) for count in range(1, 9)},
        "paired": tables.comparison_tables(paired),
        "sweep": tables.sweep_tables(sweep),
        "study": [tables.study_table(study.to_dict())],
        "queueing": tables.queueing_tables(queueing, {"read_utilisation": 0.5, "mean_wait_rwp_ns": 1e9}),
        "info": [tables.report_table({key: value for key, value in info.items() if key != "bad"}, "x.csv")],
    }


@pytest.mark.parametrize("columns", SIZES)
def test_tables_fit_the_terminal_and_break_no_number(
    made: Mapping[str, list[RenderableType]], columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, items in made.items():
        wide = shown(items, 1000, monkeypatch)
        narrow = shown(items, columns, monkeypatch)
        for line in narrow.splitlines():
            assert len(line.rstrip()) <= columns, (name, line)
        lost = numbers(wide) - numbers(narrow)
        assert not lost, (name, lost, narrow)


def test_text_of_results_is_no_wider_than_a_page(made: Mapping[str, list[RenderableType]]) -> None:
    """Of tables; lines of words are whole in a file."""
    for name, items in made.items():
        for line in tables.as_text([item for item in items if not tables.is_line(item)]).splitlines():
            assert len(line) <= 80, (name, line)
    assert any(len(line) > 80 for line in tables.as_text(made["compare 8"]).splitlines())


def test_a_run_of_trims_alone_has_no_empty_tables() -> None:
    run = ssdlab.run(device="demo-4g", set={"workload.read_share": 0.0, "workload.trim_share": 1.0}, requests=10)
    text = tables.as_text(tables.run_tables(run))
    assert re.search(r"^Response times\b.*: none, since no read or write was measured$", text, re.MULTILINE), text
    assert "Where the mean response time goes" not in text


@pytest.mark.parametrize("columns", SIZES)
def test_lists_break_descriptions_behind_the_names(columns: int) -> None:
    for line in [*presets._presets("schemes"), *presets.keys("gc"), *presets.policies()]:
        broken = presets._broken(line, columns).splitlines()
        assert all(len(part) <= columns for part in broken if part.strip() and (" " in part.strip()))
        assert " ".join(" ".join(broken).split()) == " ".join(line.split())
    assert presets._broken("x" * 300 + " y", None) == "x" * 300 + " y"


# ---------------------------------------------------------------------------------------------------------------------------------------
# What a comparison says.


def test_a_comparison_names_device_workload_overrides_seed_and_digests(ssdlab_command: Ssdlab) -> None:
    named = ["--device", "demo-4g", "--workload", "lee2013-synthetic", "--set", "gc.soft=0.06", "--seed", "7", "--requests", "300"]
    schemes = ["--scheme", "npgc", "--scheme", "pgc"]
    out = ssdlab_command("compare", *named, *schemes).out
    assert out.splitlines()[0] == "Device demo-4g, workload lee2013-synthetic, gc.soft = 0.06"
    runs = json.loads(ssdlab_command("compare", *named, *schemes, "--json").out)["runs"]
    assert f"Seed 7, digests: npgc {runs['npgc']['digest'][:16]}, pgc {runs['pgc']['digest'][:16]}\n" in out


def test_a_comparison_says_how_each_scheme_differs_from_the_first() -> None:
    first = result(1e6)
    others = {
        "half": result(5e5),
        "equal": result(1e6),
        "nearly": result(1e6 + 1),
        "far": result(2e7),
        "absent": Result({"gc": {"jobs": 12_345_678}}),
    }
    text = tables.as_text(tables.change_table({"first": first, **others}))
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.split() and line.split()[0] in others}
    assert rows["half"][0] == "-50.0%"
    assert rows["equal"] == ["same"] * 6
    assert rows["nearly"][0] == "+<0.1%"
    assert rows["far"][:2] == ["\N{MULTIPLICATION SIGN}", "20"]
    assert rows["absent"] == ["-", "-", "-", "-", "-", "same"]
    assert "Change against first" in text


def test_a_comparison_shows_reads_writes_and_suspensions_of_either_way() -> None:
    ours = result(1e6, counters={"suspended_programs": 20_952, "suspended_erases": 1163})
    theirs = result(1e6, gc={"jobs": 1, "suspensions": 15_777})
    ours = Result({**ours.to_dict(), "latency_ns": {**ours["latency_ns"], "read": {**LATENCY, "p99": 7.4 * LATENCY["p99"]}}})
    text = tables.as_text(tables.comparison_tables(Comparison({"fpgc": theirs, "nvme": ours})))
    text = text[text.index("Reads, writes and suspensions by scheme") :]
    rows = [line.split() for line in text[: text.index("Warning")].splitlines() if line.startswith(("fpgc", "nvme"))]
    assert "7.4" in rows[1][rows[1].index("\N{MULTIPLICATION SIGN}") :]
    assert [row[-2:] for row in rows[2:4]] == [["15,777", "0"], ["0", "22,115"]]
    alone = tables.as_text(tables.run_tables(ours))
    assert "Suspended for reads (scheduler.suspend): 20,952 programs, 1,163 erases" in alone
    assert "15,777 GC operations suspended for the host (gc.suspend)" in tables.as_text(tables.run_tables(theirs))


def test_a_comparison_of_writes_with_flushes_shows_both() -> None:
    keys = {**DRIVE, "workload.read_share": 0.0, "workload.flush_every": 1, "buffer.bytes": 65536, "buffer.protected": False}
    runs = ssdlab.compare(schemes=["npgc", "rwp"], set=keys, requests=100)
    text = tables.as_text(tables.comparison_tables(runs))
    rows = text[text.index("Writes and flushes by scheme") :].splitlines()
    mean = runs["npgc"].latency.flush.mean
    assert mean > runs["npgc"].latency.write.mean > 0
    assert tables.duration(mean) in next(line for line in rows if line.startswith("npgc"))


def test_the_speed_of_the_simulator_stands_below_the_table(ssdlab_command: Ssdlab) -> None:
    out = ssdlab_command("compare", *SMALL_OPTIONS, "--scheme", "npgc", "--scheme", "rwp", "--requests", 300).out
    table, _, below = out.partition("Seed 1, digests:")
    assert "requests/s" not in table
    assert re.search(r"Simulator speed: npgc [\d,]+ requests/s, rwp [\d,]+ requests/s\n", below)


def test_python_prints_the_comparison_as_the_command_does() -> None:
    compared = ssdlab.compare(schemes=["npgc", "rwp"], set=DRIVE, requests=300)
    assert str(compared).startswith("Device default, workload default, device.channels = 2")
    assert "Change against npgc" in str(compared)


def test_a_title_wider_than_the_page_is_broken_and_not_cut() -> None:
    title = "scheme against npgc, whether it depends on load (against 0.5), p99: over 3 workloads x 5 seeds, stated before the runs"
    table = tables.layout.new_table(["scheme", "p"])
    table.add_row("pgc", "0.01")
    lines = tables.layout.as_text([tables.layout.titled(title, table)]).splitlines()
    assert max(map(len, lines)) <= 80
    assert " ".join(lines[:2]) == title


@pytest.mark.parametrize(("array", "drives"), [({}, 1), ({"array.level": "rais5", "array.drives": 4, "array.degraded": 1}, 3)])
def test_shares_of_power_states_are_of_the_drives_that_have_not_failed(array: dict[str, Any], drives: int) -> None:
    states = {"power_states.power_mw": [20.0], "power_states.entry_us": [20], "power_states.exit_us": [100], "power_states.idle_us": [200]}
    load = {"energy.idle_mw": 100.0, "workload.interarrival_us": 2_000, "workload.request_kb": 4, "workload.read_share": 1.0}
    result = ssdlab.run(device="demo-4g", scheme="fr-fcfs", set={**states, **load, **array, "ftl.precondition.kind": "fill"}, requests=200)
    run = result.to_dict()
    share = run["power_states"]["states"][0]["in_ns"] / drives / run["simulated_ns"]
    assert 0.5 < share < 1
    assert f"Power states: {share:.1%} of the time in 1" in tables.as_text(tables.run_tables(result))
