"""`ssdlab run`, `compare`, `precondition`, from a user's perspective."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import DRIVE_OPTIONS, PATIENCE_S, SMALL, SMALL_OPTIONS, Ssdlab, fill, until
from ssdlab import Result
from ssdlab.pages import tables

RUN = ["run", *SMALL_OPTIONS]
REPLAY = ["run", *DRIVE_OPTIONS]
COMPARE = ["compare", *SMALL_OPTIONS, "--scheme", "npgc", "--scheme", "rwp"]


def numbers(value: Any) -> Iterator[float]:
    """Every number in a JSON value."""
    if isinstance(value, dict | list):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from numbers(entry)
    elif isinstance(value, int | float):
        yield value


def nulls(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(nulls(entry) for entry in (value.values() if isinstance(value, dict) else value))
    return value is None


def test_json_is_one_object_with_the_contract_keys(ssdlab_command: Ssdlab) -> None:
    done = ssdlab_command(*RUN, "--requests", 3000, "--seed", 7, "--json")
    assert done.code == 0, done.err
    assert done.err == ""
    result = done.json()
    assert {"config", "seed", "digest", "requests", "breakdown_ns", "latency_ns", "gc", "flash"} <= set(result)
    assert {"simulated_ns", "wall_s", "requests_per_s"} <= set(result)
    assert result["seed"] == 7
    assert sum(result["requests"].values()) == 3000
    assert {"count", "mean", "std", "variance", "cv", "min", "max"} <= set(result["latency_ns"]["all"])
    assert {"p50", "p90", "p95", "p99", "p99_9", "p99_99"} <= set(result["latency_ns"]["read"])
    assert {"jobs", "pages_moved", "erases", "write_amplification"} <= set(result["gc"])
    assert all(math.isfinite(number) for number in numbers(result))


def test_absent_parts_are_absent_not_null(ssdlab_command: Ssdlab) -> None:
    result = ssdlab_command(*RUN, "--requests", 200, "--set", "workload.read_share=0", "--json").json()
    assert "read" not in result["latency_ns"]
    assert not nulls({key: value for key, value in result.items() if key != "config"})


def test_parts_of_the_response_time_add_up_to_its_mean(ssdlab_command: Ssdlab) -> None:
    result = ssdlab_command(*RUN, "--requests", 3000, "--json").json()
    for kind, parts in result["breakdown_ns"].items():
        assert sum(parts.values()) == pytest.approx(result["latency_ns"][kind]["mean"], rel=1e-9)


def test_same_command_same_digest_whatever_the_number_of_threads(ssdlab_command: Ssdlab) -> None:
    first = ssdlab_command(*COMPARE, "--requests", 3000, "--json", "--jobs", 1).json()["runs"]
    again = ssdlab_command(*COMPARE, "--requests", 3000, "--json", "--jobs", 2).json()["runs"]
    assert {name: run["digest"] for name, run in first.items()} == {name: run["digest"] for name, run in again.items()}
    other = ssdlab_command(*COMPARE, "--requests", 3000, "--json", "--seed", 2).json()["runs"]
    assert other["npgc"]["digest"] != first["npgc"]["digest"]


def test_tables_have_units_and_no_colour_in_a_pipe(ssdlab_command: Ssdlab) -> None:
    done = ssdlab_command(*COMPARE, "--requests", 2000, "--out", "results")
    assert done.code == 0, done.err
    for word in ("npgc", "rwp", "mean", "p99", "p99.9", "max", "write amplification", "GC jobs", " us", "results: results"):
        assert word in done.out
    assert "\x1b" not in done.out
    assert done.err == ""


def test_tables_of_a_run_begin_with_what_was_simulated(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    named = ["--device", "demo-4g", "--scheme", "npgc", "--requests", 500]
    lines = ssdlab_command("run", *named, "--workload", "lee2013-synthetic", "--set", "gc.soft=0.06").out.splitlines()
    assert lines[0] == "Device demo-4g, scheme npgc, workload lee2013-synthetic, gc.soft = 0.06"
    for word in (" IOPS, reads ", " MB/s, writes ", "chips ", "channels ", "% busy"):
        assert word in lines[1]
    assert any("of preparation" in line for line in lines)
    (tmp_path / "t.csv").write_text("timestamp_us,op,offset_bytes,size_bytes\n0,W,0,4096\n")
    assert ssdlab_command("run", "--trace", "t.csv").out.startswith("Device default, scheme default, trace t.csv\n")


def test_tables_say_how_collection_gave_way() -> None:
    gc = {
        "jobs": 3,
        "preemptions": 1200,
        "suspensions": 0,
        "merged": {"read": 0, "write": 1},
        "pipelined": {"read": 4, "write": 5},
        "state_ns": {"s0": 900, "s1": 75, "s2": 25, "s3": 0},
    }
    shown = tables.as_text(tables.run_tables(Result({"gc": gc})))
    assert "1,200 preemptions, merged 1 write, pipelined 4 reads and 5 writes" in shown
    assert "time in S0 90.00%, S1 7.50%, S2 2.50%\n" in shown
    assert "suspensions" not in shown
    idle = {"jobs": 0, "preemptions": 0, "merged": {"read": 0, "write": 0}, "state_ns": {"s0": 900, "s1": 0, "s2": 0, "s3": 0}}
    assert not {"preemptions", "merged", "S0"} & set(tables.as_text(tables.run_tables(Result({"gc": idle}))).split())


def test_quiet_says_nothing(ssdlab_command: Ssdlab) -> None:
    done = ssdlab_command(*RUN, "--requests", 500, "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_out_holds_the_results(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    printed = ssdlab_command(*COMPARE, "--requests", 2000, "--json", "--log-requests", "--out", "deep/results").json()
    folder = tmp_path / "deep" / "results"
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()) == [
        ".ssdlab.json",
        "comparison.json",
        "npgc/requests.parquet",
        "npgc/result.json",
        "npgc/slowest.json",
        "report.html",
        "rwp/requests.parquet",
        "rwp/result.json",
        "rwp/slowest.json",
    ]
    assert json.loads((folder / "comparison.json").read_text()) == printed
    assert json.loads((folder / "rwp" / "result.json").read_text()) == printed["runs"]["rwp"]


def test_expect_gc(ssdlab_command: Ssdlab) -> None:
    assert ssdlab_command(*RUN, "--requests", 5000, "--expect-gc", "--quiet").code == 0
    idle = ssdlab_command(*RUN, "--set", "workload.read_share=1", "--requests", 100, "--expect-gc", "--quiet")
    assert "--expect-gc" in idle.failed(1)


def test_state_saved_and_used(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    soft = ["--set", "ftl.precondition.kind=soft"]
    done = ssdlab_command("precondition", *SMALL_OPTIONS, *soft, "--out", "warm.state", "--json")
    assert done.code == 0, done.err
    assert done.json()
    direct = ssdlab_command(*RUN, *soft, "--requests", 2000, "--json")
    saved = ssdlab_command(*RUN, *soft, "--requests", 2000, "--state", "warm.state", "--json")
    assert saved.code == 0, saved.err
    assert sum(saved.json()["requests"].values()) == sum(direct.json()["requests"].values())
    (tmp_path / "broken.state").write_bytes(b"not a state")
    assert "broken.state" in ssdlab_command(*RUN, "--state", "broken.state").failed(2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--set", "gc.sotf=0.1"], ["gc.sotf", "gc.soft"]),
        (["--set", "gc.soft"], ["KEY=VALUE"]),
        (["--set", "gc.soft=many"], ["gc.soft"]),
        (["--set", "gc.scope=chpi"], ["gc.scope", "chip"]),
        (["--set", "device.channels=0"], ["device.channels", "1"]),
        (["--set", "device.channels=-1"], ["device.channels"]),
        (["--set", "device.blocks_per_plane=99999999999"], ["device.blocks_per_plane"]),
        (["--set", "device.page_bytes=1000"], ["device.page_bytes", "512"]),
        (["--device", "lee2031"], ["lee2031", "lee2013"]),
        (["--scheme", "ngpc"], ["ngpc", "npgc"]),
        (["--scheme", "npgc+rwp"], ["npgc", "rwp"]),
        (["--workload", "nothing-like-it"], ["nothing-like-it"]),
        (["--workload", "lee2013-synthetic", "--trace", "x.csv"], ["workload", "trace"]),
        (["--requests", "0"], ["requests"]),
        (["--log-requests"], ["--out"]),
    ],
)
def test_wrong_usage_and_configuration(ssdlab_command: Ssdlab, arguments: list[str], words: list[str]) -> None:
    line = ssdlab_command("run", *arguments).failed(2)
    for word in words:
        assert word in line


@pytest.mark.parametrize("arguments", [["--bogus"], ["--seed", "x"], ["--seed", "-1"], ["--verify", "maybe"], ["surplus"]])
def test_unknown_options_end_with_code_2(ssdlab_command: Ssdlab, arguments: list[str]) -> None:
    done = ssdlab_command("run", *arguments)
    assert "--help" in done.failed(2)


def test_compare_refuses_nothing_and_twice(ssdlab_command: Ssdlab) -> None:
    assert ssdlab_command("compare").code == 2
    assert "twice" in ssdlab_command("compare", "--scheme", "npgc", "--scheme", "npgc").failed(2)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "timestamp_us,op,offset_bytes,size_bytes\n",
        "timestamp_us,op,offset_bytes,size_bytes\n0,R,0,0\n",
        "timestamp_us,op,offset_bytes,size_bytes\n0,R,-4096,4096\n",
        "timestamp_us,op,offset_bytes,size_bytes\n0,R,0,99999999999999999999999\n",
        "timestamp_us,op,offset_bytes,size_bytes\n0,R,0,4096\n0,R\n",
        "timestamp_us,op,offset_bytes,size_bytes\n5,R,0,4096\n1,R,0,4096\n",
        "timestamp_us,op,offset_bytes,size_bytes\n0,R,1000000000000,4096\n",
        "nothing that any format knows\n",
    ],
    ids=["empty", "header only", "size 0", "negative", "huge", "cut short", "time goes back", "beyond the device", "no format"],
)
def test_bad_traces_are_one_clear_line(ssdlab_command: Ssdlab, tmp_path: Path, text: str) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text(text)
    done = ssdlab_command(*REPLAY, "--trace", trace, "--out", "results")
    assert done.code in (1, 2)
    assert done.failed(done.code)
    assert not list(tmp_path.rglob("result.json"))


def test_files_that_cannot_be_read(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    assert "missing.csv" in ssdlab_command(*REPLAY, "--trace", "missing.csv").failed(1)
    assert "missing.toml" in ssdlab_command(*RUN, "--config", "missing.toml").failed(1)
    truncated = tmp_path / "cut.csv.gz"
    truncated.write_bytes(b"\x1f\x8b\x08\x00")
    assert "cut.csv.gz" in ssdlab_command(*REPLAY, "--trace", truncated).failed(1)


def test_config_file_below_single_keys(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text("[workload]\nread_share = 1.0\n")
    options = [part for key, value in SMALL.items() if key != "workload.read_share" for part in ("--set", f"{key}={value}")]
    only_reads = ssdlab_command("run", *options, "--config", "own.toml", "--requests", 100, "--json").json()
    assert only_reads["requests"]["read"] == 100
    mixed = ["--config", "own.toml", "--set", "workload.read_share=0.0"]
    assert ssdlab_command("run", *options, *mixed, "--requests", 100, "--json").json()["requests"]["write"] == 100


def test_full_standard_output(ssdlab_command: Ssdlab) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ssdlab", *RUN, "--requests", "100", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "error: cannot write: No space left on device\n"


def test_reader_that_has_seen_enough() -> None:
    process = subprocess.Popen([sys.executable, "-m", "ssdlab", "schema"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    process.wait(60)
    assert process.stderr.read() == b""


@pytest.mark.parametrize("log", [[], ["--log-requests"]])
def test_full_disk_leaves_no_partial_file(ssdlab_command: Ssdlab, small_disk: Path, log: list[str]) -> None:
    filler = fill(small_disk)
    line = ssdlab_command(*RUN, "--requests", 20_000, "--out", small_disk / "results", *log).failed(1)
    assert "No space left on device" in line
    left = [path for path in small_disk.rglob("*") if path.is_file() and path != filler]
    assert left == []


def test_ctrl_c_keeps_what_was_finished(tmp_path: Path) -> None:
    """The first run is over when Ctrl-C comes, the second is not: it would take days."""
    script = tmp_path / "two_runs.py"
    script.write_text(
        "import sys, ssdlab.runs.api as api\n"
        "from pathlib import Path\n"
        "from ssdlab.runs.batch import Job\n"
        "from ssdlab.asking.plans import Setup\n"
        f"setup = {{'set': {tuple(tuple(o.split('=')) for o in SMALL_OPTIONS if o != '--set')!r}}}\n"
        "def jobs(_, schemes, folder, **kw):\n"
        "    return [Job.prepare(n, Setup(requests=r, **setup), None, folder=folder / n)\n"
        "            for n, r in (('short', 100), ('long', 10**12))]\n"
        "api.comparison_jobs = jobs\n"
        "from ssdlab.cli import main\n"
        "sys.argv = ['ssdlab', 'compare', '--scheme', 'npgc', '--out', 'results', '--jobs', '2']\n"
        "main()\n"
    )
    process = subprocess.Popen([sys.executable, script], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until((tmp_path / "results" / "short" / "result.json").exists, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    assert err == "error: interrupted: 1 of 2 runs had finished, their results are kept\n"
    assert "short" in out
    assert not (tmp_path / "results" / "long").exists()
    assert list(json.loads((tmp_path / "results" / "comparison.json").read_text())["runs"]) == ["short"]


def test_ctrl_c_during_a_single_run(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ssdlab", *RUN, "--requests", str(10**12), "--out", "results"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until((tmp_path / "results").exists, process)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out, err) == (130, "", "error: interrupted\n")
    assert not (tmp_path / "results").exists()
