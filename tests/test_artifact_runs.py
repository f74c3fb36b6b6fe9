"""Artifact kits of runs, comparisons and sweeps: made, moved to a clean folder and reproduced there, or refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import DRIVE, PATIENCE_S, Ended, options
from kits import change, rerun, ssdlab_in

TRACE = "".join(f"{100 * index},{'RW'[index % 2]},{4096 * (index % 50)},4096\n" for index in range(300))
PRESET = "[device]\nchannels = 2\nblocks_per_plane = 32\npages_per_block = 16\noverprovisioning = 0.25\n[gc]\nsoft = 0.1\n"
POLICY = """import sys

sys.path.insert(0, ".")
from picking import first


def oldest(candidates):
    return first(candidates.blocks)
"""
VARIANTS = """
[[variants]]
label = "as it is"
[[variants]]
label = "ours, oldest"
victim = "ours.py:oldest"
set = { "buffer.bytes" = "64KiB" }
"""
SWEEP = """
device = "parts/drive.toml"
requests = 150
seeds = 2
[grid]
scheme = ["npgc", "pgc+slacker"]
input = [{ label = "trace", trace = "data/one.csv" }, { label = "made", set = { workload.read_share = 0.25 } }]
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An author's folder with the results of a run of a trace, a comparison of variants under two seeds, and a sweep."""
    folder = tmp_path_factory.mktemp("ran") / "author"
    (folder / "parts").mkdir(parents=True)
    (folder / "data").mkdir()
    (folder / "parts" / "drive.toml").write_text(PRESET)
    (folder / "data" / "one.csv").write_text(f"timestamp_us,op,offset_bytes,size_bytes\n{TRACE}")
    (folder / "ours.py").write_text(POLICY)
    (folder / "picking.py").write_text("def first(blocks):\n    return blocks[0]\n")
    (folder / "two.toml").write_text(VARIANTS)
    (folder / "grid.toml").write_text(SWEEP)
    drive = ("--device", "parts/drive.toml")
    for words in (
        ("run", *drive, "--scheme", "pgc", "--trace", folder / "data" / "one.csv", "--warm-up", "3ms", "--out", "first"),
        ("compare", *drive, "--variants", "two.toml", "--requests", 200, "--seeds", 2, "--out", "both", "--kit"),
        ("sweep", "grid.toml", "--out", "swept", "--kit"),
    ):
        done = ssdlab_in(folder, *words, "--quiet")
        assert done.code == 0, done.err
    return folder


@pytest.fixture
def author(ran: Path, tmp_path: Path) -> Path:
    """A copy of the folder, which may be changed."""
    return shutil.copytree(ran, tmp_path / "author")


def pack(folder: Path, *words: object) -> Ended:
    return ssdlab_in(folder, "artifact", *words, "--out", folder.parent / "kit")


def test_a_run_a_comparison_and_a_sweep_are_packed_and_reproduced(author: Path) -> None:
    done = pack(author, "first", "both", "swept", "--with-traces")
    assert done.code == 0, done.err
    assert "runs/first, runs/both, runs/swept: 13 runs" in done.out
    kit = author.parent / "kit"
    manifest = json.loads((kit / "artifact.json").read_text())
    assert {own["name"]: own["used_by"] for own in manifest["own_files"]} == {
        "parts/drive.toml": ["runs/first", "runs/both", "runs/swept"],
        "ours.py": ["runs/both"],
        "picking.py": ["runs/both"],
    }
    assert [(trace["name"], trace["used_by"]) for trace in manifest["traces"]] == [("one.csv", ["runs/first", "runs/swept"])]
    runs = json.loads((kit / "configurations" / "runs" / "both.json").read_text())["runs"]
    assert runs["ours, oldest, seed 2"]["config"]["buffer"]["bytes"] == 65_536
    assert '"traces/one.csv"' in (kit / "expected" / "runs" / "swept" / "sweep.toml").read_text()
    for file in kit.rglob("*"):
        assert file.is_dir() or str(author) not in file.read_text(errors="replace")  # nothing of this machine's folders
    shutil.rmtree(author)
    done = rerun(kit)
    assert done.code == 0, done.out + done.err
    lines = done.out.splitlines()
    # a digest of each run, and six figures of each variant or point
    assert "runs/first: agrees: 7 digests and numbers agree" in lines
    assert "runs/both: agrees: 16 digests and numbers agree" in lines
    assert "runs/swept: agrees: 32 digests and numbers agree" in lines
    table = lines[lines.index("runs/both: agrees: 16 digests and numbers agree") + 1 :][:3]
    assert table[0].split() == ["mean", "(us)", "p99", "(us)", "p99.9", "(us)", "max", "(us)", "write-amplification", "iops"]
    assert [row.split("  ")[1].strip() for row in table[1:]] == ["as it is", "ours, oldest"]
    assert lines[-1].startswith("REPRODUCED")


def test_what_was_changed_in_the_kit_is_found(author: Path) -> None:
    assert pack(author, "both").code == 0
    kit = author.parent / "kit"
    expected = kit / "expected" / "runs" / "both" / "results.json"
    text = expected.read_text()
    expected.write_text(text.replace("0", "1", 1))
    assert "results.json: was changed after the kit was made" in rerun(kit).failed(2)
    expected.write_text(text)

    def tamper(found: dict[str, Any]) -> None:
        found["runs"][0]["digest"] = "0" * 64
        found["points"][1]["metrics"]["iops"]["values"][1] *= 1.001

    change(expected, tamper, kit)
    done = rerun(kit)
    assert (done.code, done.err) == (1, "")
    assert "runs/both: DIFFERS: 14 digests and numbers agree, 2 differ" in done.out
    assert "  run of as it is, seed 1: digest " in done.out
    assert "  iops of ours, oldest: expected " in done.out
    assert "(not " in done.out
    assert done.out.splitlines()[-1].startswith("DIFFERENT: runs/both")


def test_another_version_is_compared_by_intervals(author: Path) -> None:
    assert pack(author, "both").code == 0
    kit = author.parent / "kit"
    expected = kit / "expected" / "runs" / "both" / "results.json"

    def shift(found: dict[str, Any]) -> None:
        metrics = found["points"][0]["metrics"]
        metrics["mean"]["mean"] += metrics["mean"]["interval"]
        metrics["iops"] |= {"mean": 2 * metrics["iops"]["mean"], "interval": 0.0}

    change(expected, shift, kit)
    done = rerun(kit, "--intervals")
    assert done.code == 1
    assert "runs/both: DIFFERS: 11 digests and numbers agree, 1 differ" in done.out
    assert "  iops of as it is: expected " in done.out


def test_runs_whose_trace_is_missing_can_be_left_out(author: Path) -> None:
    done = pack(author, "swept", "--source", "one.csv=https://example.org/one.csv")
    assert done.code == 0, done.err
    kit = author.parent / "kit"
    assert "https://example.org/one.csv" in " ".join(rerun(kit).err.split())
    done = rerun(kit, "--partial")
    assert done.code == 0, done.out + done.err
    assert "runs/swept: agrees: 16 digests and numbers agree, 16 left out" in done.out
    assert rerun(kit, "--traces", author / "data").code == 0


def lose(author: Path, name: str) -> None:
    shutil.rmtree(next(author.glob(name)))


@pytest.mark.parametrize(
    ("results", "how", "says"),
    [
        ("both", lambda author: change(author / "both" / "comparison.json", older), "the result is of ssdlab 0.0.1"),
        ("first", lambda author: change(author / "first" / "result.json", faster), "run: the result was changed after ssdlab wrote it"),
        ("swept", lambda author: lose(author, "swept/*seed=2"), "1 points have no result ("),
        ("both", lambda author: lose(author, "both/ours*/seed-2"), "ours, oldest: no result of seed 2: a kit needs complete results"),
        ("both", lambda author: change(author / "both" / "comparison.json", failing), "runs failed (x): a kit needs complete results"),
        (
            "first",
            lambda author: (author / "parts" / "drive.toml").write_text(PRESET.replace("0.1", "0.12")),
            "config.gc.soft is 0.1 there",
        ),
        ("swept", lambda author: (author / "data" / "one.csv").write_text("0,R,0,4096\n"), "a file has changed since: data/one.csv"),
        ("both", lambda author: (author / "ours.py").unlink(), "ours, oldest: it cannot be repeated here: victim = "),
    ],
)
def test_results_that_cannot_be_reproduced_make_no_kit(author: Path, results: str, how: Callable[[Path], Any], says: str) -> None:
    how(author)
    assert says in pack(author, results).failed(2)
    assert not (author.parent / "kit").exists()


def older(found: dict[str, Any]) -> None:
    for run in found["runs"].values():
        run["version"] = "0.0.1"


def faster(found: dict[str, Any]) -> None:
    found["iops"] *= 2


def failing(found: dict[str, Any]) -> None:
    found["failed"] = {"x": "no room"}


def test_a_policy_that_is_an_object_makes_no_kit(tmp_path: Path) -> None:
    ssdlab.run(set=DRIVE, requests=20, victim=lambda candidates: candidates.blocks[0], out=tmp_path / "author" / "mine")
    line = pack(tmp_path / "author", "mine").failed(2)
    assert line.startswith(
        "mine: run: no command repeats this run, since a policy was given as an object of Python, or an input was a pipe: "
    )


def test_two_folders_of_one_name_and_one_without_results_make_no_kit(author: Path) -> None:
    shutil.copytree(author / "first", author / "more" / "first")
    assert "runs/first: two folders of results have this name: rename one of them" in pack(author, "first", "more/first").failed(2)
    assert "parts: no results of a run, comparison or sweep are in this folder" in pack(author, "parts").failed(2)


@pytest.mark.parametrize("command", ["run", "compare", "sweep"])
def test_what_no_kit_can_have_is_refused_before_the_runs(tmp_path: Path, command: str) -> None:
    folder = tmp_path / "author"
    folder.mkdir()
    (tmp_path / "drive.toml").write_text(PRESET)
    (folder / "grid.toml").write_text('device = "../drive.toml"\nrequests = 20\n[grid]\nseed = [1, 2]\n')
    words: Mapping[str, tuple[object, ...]] = {
        "run": ("run", "--device", "../drive.toml"),
        "compare": ("compare", "--device", "../drive.toml", "--scheme", "npgc", "--scheme", "pgc"),
        "sweep": ("sweep", "grid.toml"),
    }
    line = ssdlab_in(folder, *words[command], "--out", "out", "--kit").failed(2)
    assert line == "the kit: ../drive.toml is not below the current folder: a kit cannot have it: move it there, and run again"
    assert not (folder / "out").exists()


def test_a_pipe_is_refused_before_the_run(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ssdlab", "run", *options(DRIVE), "--trace", "-", "--kit", "--out", "out", "--quiet"]
    done = subprocess.run(command, cwd=tmp_path, input="0,W,0,4096\n", capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 2
    assert "run: no command repeats this run" in done.stderr
    assert not (tmp_path / "out").exists()
