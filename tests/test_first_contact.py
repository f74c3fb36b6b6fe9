"""What a newcomer met that misled: each test names the symptom."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import ssdlab
from conftest import DRIVE, SMALL, SMALL_OPTIONS, Ssdlab, options

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
        "Only 32,768 bytes are needed",
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
    assert row.split()[1:] == ["same", "same", "same", "same"]
