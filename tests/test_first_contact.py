"""Misleading behaviour that new users met: each test names the symptom."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ssdlab
from conftest import DRIVE, DRIVE_OPTIONS, SMALL, SMALL_OPTIONS, Ssdlab, options

FEW = ("--requests", 300)


def test_a_warm_up_of_1m_is_no_longer_a_million_requests() -> None:
    with pytest.raises(ssdlab.UsageError, match="write min for minutes, or M for millions of requests"):
        ssdlab.run(set=SMALL, requests=2_000_000, warm_up="1m")


def test_a_setting_without_equals_is_shown_as_it_is_written(ssdlab_command: Ssdlab) -> None:
    message = ssdlab_command("run", *SMALL_OPTIONS, "--set", "gc.soft", "0.1").failed(2)
    assert "write --set gc.soft=0.1" in message


def test_a_run_is_not_written_into_the_folder_of_a_scheme_of_a_comparison(tmp_path: Path) -> None:
    ssdlab.compare(schemes=["npgc", "pgc"], set=SMALL, requests=50, out=tmp_path / "both")
    before = (tmp_path / "both/npgc/result.json").read_bytes()
    with pytest.raises(ssdlab.UsageError, match=r"is a part of the results of a comparison in .*both: choose another folder"):
        ssdlab.run(set=SMALL, scheme="pgc", requests=50, out=tmp_path / "both/npgc")
    assert (tmp_path / "both/npgc/result.json").read_bytes() == before
    ssdlab.run(set=SMALL, scheme="pgc", requests=50, out=tmp_path / "both/mine")
    shutil.rmtree(tmp_path / "both/mine")
    ssdlab.compare(schemes=["npgc", "pgc"], set=SMALL, requests=60, out=tmp_path / "both")


def test_a_comparison_says_that_nothing_was_collected_and_what_was_done_to_the_device(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    rows = "".join(f"{1000 * index},W,{index % 8 * 4096},4096\n" for index in range(40))
    (tmp_path / "small.csv").write_text("timestamp_us,op,offset_bytes,size_bytes\n" + rows)
    words = ("compare", "--scheme", "npgc", "--scheme", "pgc", "--trace", "small.csv", "--fit", "trace", "--warm-up", 5)
    drive = options({key: value for key, value in DRIVE.items() if key != "device.blocks_per_plane"} | {"ftl.precondition.kind": "none"})
    printed = ssdlab_command(*words, *drive, "--out", "out").out
    said = (
        "Garbage collection did not run under any scheme",
        "Fit to trace",
        "only 32,768 are needed",
        "Warm-up: the first 5 requests",
    )
    assert all(line in printed for line in said)
    # A notebook or script sees the same as the terminal.
    assert all(line in str(ssdlab.load(tmp_path / "out")) for line in said)


def test_runs_that_do_not_differ_are_not_called_a_tie(ssdlab_command: Ssdlab) -> None:
    nothing = ("--set", "ftl.precondition.kind=none", *FEW, "--seeds", 2)  # is collected
    done = ssdlab_command("compare", "--scheme", "npgc", "--scheme", "rwp", *SMALL_OPTIONS, *nothing)
    changes = done.out.split("Change against npgc")[1]
    row = next(line for line in changes.splitlines() if line.startswith("rwp"))
    assert row.removeprefix("rwp [b]").split() == ["same"] * 6


def test_two_schemes_of_which_neither_is_the_first_are_compared_seed_by_seed() -> None:
    """An interval in units of the first scheme would mislead: both may be far from it."""
    from ssdlab.analysis.uncertainty import relative_differences
    from ssdlab.pages.report.changes import apart
    from ssdlab.pages.report.runs import Runs

    schemes, place = ["npgc", "pgc", "rwp"], "latency_ns.all.mean"
    compared = ssdlab.compare(schemes=schemes, set=SMALL, requests=800, seeds=3)
    data = compared.to_dict()
    runs = Runs.of(data["runs"], seeds=data["seeds"])
    assert compared.seeds is not None
    values = {scheme: [{place: result.latency.all.mean} for result in compared.seeds.runs[scheme].values()] for scheme in schemes}
    for one, other in ((0, 1), (0, 2), (1, 2)):
        found = apart(runs, runs[one], runs[other], place)
        wanted = relative_differences(values[schemes[one]], values[schemes[other]])[place]
        assert found is not None
        assert (found.relative, found.half) == (wanted.mean, wanted.half)


INTERRUPTED_PAGE = """
import sys
from ssdlab.runs import api
from ssdlab.cli.app import main
def interrupted(path, value):
    raise KeyboardInterrupt
api.write_json = interrupted
sys.argv = ["ssdlab", *{words!r}]
main()
"""


def test_ctrl_c_while_a_comparison_is_written_leaves_the_one_before_whole(tmp_path: Path) -> None:
    ssdlab.compare(schemes=["npgc", "pgc"], set=SMALL, requests=50, out=tmp_path / "both")
    before = (tmp_path / "both/comparison.json").read_bytes()
    words = ["compare", "--scheme", "npgc", "--scheme", "pgc", "--scheme", "rwp", *SMALL_OPTIONS, *map(str, FEW), "--out", "both"]
    script = INTERRUPTED_PAGE.format(words=words)
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 130, done.stderr
    assert "interrupted" in done.stderr
    assert (tmp_path / "both/comparison.json").read_bytes() == before
    assert list(ssdlab.load(tmp_path / "both")) == ["npgc", "pgc"]


def test_seeds_without_the_first_are_left_out_and_the_base_is_one_that_is_there() -> None:
    from ssdlab.runs.comparison import collected
    from ssdlab.runs.seeds import label_of

    seeds = (1, 2)
    finished = {
        label_of(scheme, seed, seeds): ssdlab.run(scheme=scheme, set=SMALL, requests=20, seed=seed)
        for scheme, seed in (("npgc", 2), ("pgc", 1), ("pgc", 2))
    }
    comparison = collected(finished, ["npgc", "pgc"], seeds)
    assert list(comparison) == ["pgc"]
    assert comparison.seeds is not None
    assert comparison.seeds.against == "pgc"
    json.dumps(comparison.to_dict())


def test_one_panel_and_other_slips_are_told_in_a_line(tmp_path: Path) -> None:
    result = ssdlab.run(set=SMALL, requests=20, series=True)
    for slip in ({"panels": 1}, {"kind": ["read"]}, {"schemes": 5}):
        with pytest.raises(ssdlab.UsageError, match=next(iter(slip))):
            result.plot.latency_tail(**slip)  # type: ignore[arg-type]
    for values, batches in ((None, 20), ("text" * 100, 20), ([1.0] * 100, "5"), ([1.0] * 100, 2.5)):
        with pytest.raises(ssdlab.UsageError):
            ssdlab.batch_means(values, batches)  # type: ignore[arg-type]
    for name in ("\ud800", ""):
        with pytest.raises(ssdlab.UsageError, match="out = "):
            ssdlab.run(set=SMALL, requests=20, out=name)
    with pytest.raises(ssdlab.Error):
        ssdlab.load("x" * 100_000)
    with pytest.raises(ssdlab.UsageError, match="fit = "):
        ssdlab.run(set=SMALL, requests=20, fit=[1, 2])  # type: ignore[arg-type]


def test_a_trace_without_a_header_is_read_in_the_units_that_are_stated(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    """Times in seconds are never read as microseconds in silence."""
    (tmp_path / "own.csv").write_text("0.00,W,0,4096\n0.02,R,0,4096\n")
    (tmp_path / "named.csv").write_text("timestamp_us,op,offset_bytes,size_bytes\n0.00,W,0,4096\n0.02,R,0,4096\n")
    for command in (("run",), ("compare", "--scheme", "npgc", "--scheme", "pgc")):
        replay = [*command, *DRIVE_OPTIONS, "--trace"]
        told = ssdlab_command(*replay, "own.csv").failed(2)
        assert "nothing in the file states its units" in told
        assert "20 ms as s" in told
        assert "Trace: csv without a header, times in us" in ssdlab_command(*replay, "own.csv", "--format", "csv").out
        in_seconds = ssdlab_command(*replay, "own.csv", "--format", "csv", "--time-unit", "s")
        assert "Trace: csv without a header, times in s, addresses in bytes, sizes in bytes; R, W, T = trim" in in_seconds.out
        assert "Trace: csv, times in us, addresses in bytes" in ssdlab_command(*replay, "named.csv").out
    assert ssdlab_command("trace", "info", "own.csv", "--format", "csv", "--json").json()["without_header"] is True
    assert "without_header" not in ssdlab_command("trace", "info", "named.csv", "--json").out
