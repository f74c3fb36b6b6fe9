"""Folders of results: one process at a time, one set of results at a time, and files of others are never changed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

import ssdlab
from conftest import DRIVE, PATIENCE_S, SMALL, SMALL_OPTIONS, Ssdlab, at_work, options
from ssdlab.errors import FileError
from ssdlab.experiments.study import library, running
from ssdlab.runs.batch import Batch, execute
from ssdlab.system import folders
from ssdlab.system.folders import MANIFEST, STAGE, ResultFolder, settle

RUN = ["run", *SMALL_OPTIONS, "--requests", "50", "--out", "out"]
COMPARE = ["compare", *SMALL_OPTIONS, "--requests", "50", "--out", "out"]
THREE, TWO = ([word for scheme in schemes for word in ("--scheme", scheme)] for schemes in (("npgc", "pgc", "rwp"), ("npgc", "rwp")))
FOREVER = str(10**12)
STUDY = f"""title = "t"
place = "p"
about = "a"
schemes = ["npgc"]
seeds = [1]
requests = 50
[set]
{"".join(f'"{key}" = {value}{chr(10)}' for key, value in SMALL.items())}
[metrics.mean]
title = "m"
of = "latency_ns.all.mean"
"""


def there(folder: Path) -> dict[str, bytes]:
    """All files except the manifest."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def done(command: Ssdlab, *arguments: object) -> None:
    ended = command(*arguments)
    assert ended.code == 0, ended.err


# ---- One set at a time -------------------------------------------------------------------------------------------------------


def of(label: str) -> list[str]:
    """The files of a run of a comparison."""
    return [f"{label}/result.json", f"{label}/slowest.json"]


def test_a_smaller_comparison_keeps_no_stale_scheme(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    done(ssdlab_command, *COMPARE, *THREE, "--log-requests", "--timelines")
    assert (tmp_path / "out/pgc/timeline.json.gz").exists()
    done(ssdlab_command, *COMPARE, *TWO)
    assert sorted(there(tmp_path / "out")) == ["comparison.json", *of("npgc"), "report.html", *of("rwp")]
    assert not (tmp_path / "out/pgc").exists()


def test_a_run_in_the_folder_of_a_comparison_mixes_nothing(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    run = ["report.html", "result.json", "slowest.json"]
    compared = ["comparison.json", *of("npgc"), "report.html", *of("rwp")]
    for command, files in ((COMPARE + TWO, compared), (RUN, run), (COMPARE + TWO, compared)):
        done(ssdlab_command, *command)
        assert sorted(there(tmp_path / "out")) == files
    ssdlab.run(set=SMALL, requests=50, out=tmp_path / "out")
    assert sorted(there(tmp_path / "out")) == ["result.json", "slowest.json"]
    ssdlab.compare(schemes=["rwp"], set=SMALL, requests=50, out=tmp_path / "out")
    assert sorted(there(tmp_path / "out")) == ["comparison.json", *of("rwp")]
    done(ssdlab_command, "queueing", "--requests", 50, "--show", "formulas", "--out", "out")
    assert sorted(there(tmp_path / "out")) == ["queueing.json"]


def test_results_of_versions_that_kept_no_list_are_replaced_too(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    done(ssdlab_command, *COMPARE, *THREE, "--log-requests")
    (tmp_path / "out" / MANIFEST).unlink()
    done(ssdlab_command, *RUN)
    assert sorted(there(tmp_path / "out")) == ["report.html", "result.json", "slowest.json"]


def test_files_that_ssdlab_did_not_write_are_never_deleted(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done(ssdlab_command, *COMPARE, *THREE)
    own = ["notes.txt", "pgc/notes.txt", "backup/result.json", "figure.png", "results.csv", "seed-2/result.json"]
    for name in own:
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text("mine")
    done(ssdlab_command, *COMPARE, *TWO)
    done(ssdlab_command, *RUN)
    assert sorted(there(out)) == sorted([*own, "report.html", "result.json", "slowest.json"])
    assert all((out / name).read_text() == "mine" for name in own)


def test_files_with_the_names_of_results_that_are_none_stay(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    own = ["result.json", "requests.parquet"]
    for name in own:
        (out / name).write_text("mine")
    done(ssdlab_command, *COMPARE, *TWO)
    assert all((out / name).read_text() == "mine" for name in own)


def test_a_list_that_names_files_elsewhere_deletes_nothing_there(tmp_path: Path) -> None:
    outside, out = tmp_path / "mine.txt", tmp_path / "out"
    outside.write_text("mine")
    out.mkdir()
    names = ["../mine.txt", str(outside), "x/../../mine.txt", 3, ""]
    for entries in ({"kind": "run", "files": names}, {"kind": "run", "files": names, "replaces": names}, {"kind": []}, []):
        (out / MANIFEST).write_text(json.dumps(entries))
        ssdlab.run(set=SMALL, requests=50, out=out)
        assert outside.read_text() == "mine"
        assert sorted(there(out)) == ["result.json", "slowest.json"]


def test_sweeps_and_studies_are_not_replaced_by_other_results(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    keys = "".join(f'"{key}" = {value}\n' for key, value in SMALL.items())
    (tmp_path / "s.toml").write_text(f"requests = 50\n[set]\n{keys}[grid]\nseed = [1, 2]\n")
    done(ssdlab_command, "sweep", "s.toml", "--out", "out")
    before = there(tmp_path / "out")
    for command in (RUN, [*COMPARE, *TWO], ["queueing", "--requests", "50", "--out", "out"]):
        line = ssdlab_command(*command).failed(2)
        assert "out holds the results of a sweep" in line
        assert "choose another folder" in line
    assert there(tmp_path / "out") == before
    done(ssdlab_command, *RUN[:-1], "other")
    assert "other holds the results of a run" in ssdlab_command("sweep", "s.toml", "--out", "other").failed(2)
    (tmp_path / "mine.toml").write_text(STUDY)
    done(ssdlab_command, "study", "run", "./mine.toml", "--out", "studies")
    (study,) = (tmp_path / "studies").glob("**/study.json")
    line = ssdlab_command(*RUN[:-1], study.parent).failed(2)
    assert "holds the results of a study" in line


def test_what_a_run_reads_is_not_taken_out_with_earlier_results(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    done(ssdlab_command, *COMPARE, *TWO, "--log-requests")
    trace = tmp_path / "out/rwp/requests.parquet"
    content = trace.read_bytes()
    line = ssdlab_command("run", "--trace", trace, "--out", "out").failed(2)
    assert "requests.parquet is what the run reads" in line
    assert trace.read_bytes() == content


@pytest.mark.parametrize(
    "command", [["run"], ["compare", *TWO], ["compare", *TWO, "--seeds", "3"]], ids=["run", "compare", "compare with seeds"]
)
def test_a_command_of_which_no_run_ends_keeps_earlier_results_and_says_so(
    command: list[str], ssdlab_command: Ssdlab, tmp_path: Path
) -> None:
    done(ssdlab_command, *COMPARE, *TWO)
    before = there(tmp_path / "out")
    (tmp_path / "t.csv").write_text("timestamp_us,op,offset_bytes,size_bytes\n0,W,0,4096\n1,X,0,4096\n")
    words = [*command, *options(DRIVE), "--trace", "t.csv", "--out"]
    ended = ssdlab_command(*words, "out")
    assert ended.code == 1
    warning, *errors = ended.err.splitlines()
    assert warning == "warning: out: the earlier results are still there, and no new ones"
    assert all("t.csv" in line for line in errors)
    assert there(tmp_path / "out") == before
    for call in (ssdlab.run, partial(ssdlab.compare, schemes=["npgc"])):
        with pytest.raises(ssdlab.Error, match=r"t\.csv"):
            call(set=DRIVE, trace=tmp_path / "t.csv", out=tmp_path / "out")
    assert there(tmp_path / "out") == before
    assert "warning" not in ssdlab_command(*words, "other").err
    assert not (tmp_path / "other").exists()


def test_a_study_of_which_no_run_ends_keeps_earlier_results_and_says_so(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    trace, head = tmp_path / "t.csv", "timestamp_us,op,offset_bytes,size_bytes\n"
    device = "".join(f'"{key}" = {value}\n' for key, value in DRIVE.items())
    top, metrics = STUDY[: STUDY.index("requests")], STUDY[STUDY.index("[metrics") :]
    (tmp_path / "s.toml").write_text(f'{top}trace = "t.csv"\n[set]\n{device}{metrics}')
    words = ["study", "run", "./s.toml", "--out", "studies"]
    trace.write_text(f"{head}0,W,0,4096\n")
    done(ssdlab_command, *words)
    before = there(tmp_path / "studies")
    trace.write_text(f"{head}0,X,0,4096\n")
    ended = ssdlab_command(*words)
    assert ended.code == 1
    assert ended.err.splitlines()[0].endswith("the earlier results are still there, and no new ones")
    assert "results:" not in ended.out
    assert there(tmp_path / "studies") == before
    new = ssdlab_command(*words[:-1], "others")
    assert new.code == 1
    assert "warning" not in new.err


def test_a_set_that_lacks_its_index_replaces_none(tmp_path: Path) -> None:
    """As a disk leaves it that is full when some of the runs have been written."""
    ssdlab.compare(schemes=["npgc"], set=SMALL, requests=50, out=tmp_path / "out")
    before = there(tmp_path / "out")
    for kind in ("comparison", "run", "queueing"):
        with ResultFolder(tmp_path / "out", kind) as out:  # type: ignore[arg-type]
            assert out.stage is not None
            (out.stage / "pgc").mkdir()
            (out.stage / "pgc" / "result.json").write_text("{}\n")
            out.commit()
            assert out.has_old
        assert there(tmp_path / "out") == before, kind
    ssdlab.compare(schemes=["pgc"], set=SMALL, requests=50, out=tmp_path / "out")
    assert "npgc/result.json" not in there(tmp_path / "out")


def test_a_page_of_somebody_else_is_no_earlier_result(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.html").write_text("mine")
    (tmp_path / "t.csv").write_text("timestamp_us,op,offset_bytes,size_bytes\n0,X,0,4096\n")
    assert "t.csv" in ssdlab_command("run", *options(DRIVE), "--trace", "t.csv", "--out", "out").failed(1)
    assert there(tmp_path / "out") == {"report.html": b"mine"}


def test_a_study_that_is_interrupted_or_cannot_be_written_keeps_an_earlier_one(
    ssdlab_command: Ssdlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.toml").write_text(STUDY)
    done(ssdlab_command, "study", "run", "./s.toml", "--out", "studies")
    before = there(tmp_path / "studies")
    (study,) = library.find([str(tmp_path / "s.toml")])

    def broken(*arguments: object, **options: object) -> Batch:
        batch = execute(*arguments, **options)  # type: ignore[arg-type]
        batch.interrupt = FileError("full")
        return batch

    monkeypatch.setattr(running, "execute", broken)
    with pytest.raises(FileError):
        running.run(running.prepare(study, out=tmp_path / "studies"))
    assert there(tmp_path / "studies") == before


def test_a_folder_where_a_file_is_to_come_is_said_before_anything_is_moved(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    done(ssdlab_command, *COMPARE, *TWO)
    before = there(tmp_path / "out")
    (tmp_path / "out" / "result.json").mkdir()
    assert "result.json is a folder" in ssdlab_command(*RUN).failed(2)
    assert there(tmp_path / "out") == before


def test_logs_and_timelines_are_found_where_the_results_are_at_last(tmp_path: Path) -> None:
    for _ in range(2):  # the second replaces the first
        runs = ssdlab.compare(schemes=["npgc", "rwp"], set=SMALL, requests=50, log_requests=True, timelines=True, out=tmp_path / "out")
        for scheme, result in runs.items():
            assert result.request_log == tmp_path / "out" / scheme / "requests.parquet"
            assert result.requests.num_rows == 50
            assert result.timeline.file == str(tmp_path / "out" / scheme / "timeline.json.gz")
    result = ssdlab.run(set=SMALL, requests=50, log_requests=True, out=tmp_path / "out")
    assert result.request_log == tmp_path / "out" / "requests.parquet"
    assert result.requests.num_rows == 50


# ---- One process at a time ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("old", [False, True])
def test_a_second_process_is_told_who_writes_there(old: bool, ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    if old:
        done(ssdlab_command, *COMPARE, *THREE)
    before = there(tmp_path / "out")
    forever = ["compare", *SMALL_OPTIONS, "--requests", FOREVER, *TWO, "--out", "out"]
    with at_work(forever, tmp_path, tmp_path / "out" / (f"{STAGE}/npgc" if old else "npgc")) as process:
        commands = [RUN, [*COMPARE, *TWO], ["queueing", "--requests", "50", "--out", "out"]]
        for command in commands:
            line = ssdlab_command(*command).failed(2)
            assert line == f"out: process {process.pid} writes its results here: wait for it, or choose another folder"
        assert f"out: process {process.pid}" in ssdlab_command("report", "out").failed(2)
        with pytest.raises(ssdlab.UsageError, match=f"process {process.pid} writes"):
            ssdlab.run(set=SMALL, requests=50, out=tmp_path / "out")
        if old:
            assert {name: content for name, content in there(tmp_path / "out").items() if STAGE not in name} == before
    # A lock does not outlive its process.
    done(ssdlab_command, *COMPARE, *TWO)
    assert sorted(there(tmp_path / "out")) == ["comparison.json", *of("npgc"), "report.html", *of("rwp")]
    assert not (tmp_path / "out" / STAGE).exists()


def test_a_killed_comparison_leaves_the_old_results_as_they_were(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    done(ssdlab_command, *COMPARE, *THREE)
    before = there(tmp_path / "out")
    forever = ["compare", *SMALL_OPTIONS, "--requests", FOREVER, *TWO, "--out", "out"]
    with at_work(forever, tmp_path, tmp_path / "out" / STAGE / "rwp") as process:
        process.kill()
        process.communicate()
    assert {name: content for name, content in there(tmp_path / "out").items() if STAGE not in name} == before
    done(ssdlab_command, "report", "out")


def test_ctrl_c_before_anything_has_finished_leaves_the_old_results(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    done(ssdlab_command, *RUN)
    before = there(tmp_path / "out")
    with at_work(["run", *SMALL_OPTIONS, "--requests", FOREVER, "--out", "out"], tmp_path, tmp_path / "out" / STAGE) as process:
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=PATIENCE_S)[1] == "error: interrupted\n"
    assert there(tmp_path / "out") == before


def test_finished_runs_of_a_killed_comparison_are_kept_and_go_with_the_next(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    slow = f'import sys\nfrom ssdlab.cli import main\nsys.argv = ["ssdlab", *{[*COMPARE, *THREE, "--jobs", "1"]!r}]\n' + (
        "import ssdlab.runs.batch as batch, time\nkeep = batch._keep\n"
        "def kept(*arguments):\n    keep(*arguments)\n    time.sleep(10**6)\n"
        "batch._keep = kept\nmain()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", slow], cwd=tmp_path)
    while not (tmp_path / "out/npgc/result.json").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()
    kept = there(tmp_path / "out")
    assert json.loads(kept["npgc/result.json"])["command"].startswith("ssdlab run --scheme npgc")
    done(ssdlab_command, *COMPARE, "--scheme", "rwp")
    assert sorted(there(tmp_path / "out")) == ["comparison.json", "report.html", *of("rwp")]


# ---- Killed at any instant ---------------------------------------------------------------------------------------------------

REPLACES = """
import os, signal, sys
from pathlib import Path
from ssdlab import _core
from ssdlab.system import folders
left = int(sys.argv[1])
def step(*_):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(lambda event, _: step() if event in ("os.remove", "os.rename", "os.mkdir", "os.rmdir") else None)
write = _core.write_file
def written(*arguments):
    step()
    write(*arguments)
    step()
folders._core = type("core", (), {"write_file": staticmethod(written)})
with folders.ResultFolder(Path("out"), "comparison") as out:
    for name in ("comparison.json", "npgc/result.json", "rwp/result.json"):
        folders.make_folder((out.stage / name).parent)
        (out.stage / name).write_text("new")
    out.commit()
"""
OLD = {"comparison.json": "old", "npgc/result.json": "old", "pgc/result.json": "old", "report.html": "old"}
NEW = {"comparison.json": "new", "npgc/result.json": "new", "rwp/result.json": "new"}


def test_results_that_are_replaced_are_the_old_or_the_new_ones_whenever_the_process_is_killed(tmp_path: Path) -> None:
    killed, settled = 0, set()
    while True:
        folder = tmp_path / str(killed)
        for name, text in OLD.items():
            (folder / "out" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "out" / name).write_text(text)
        (folder / "out" / "mine.txt").write_text("mine")
        (folder / "out" / MANIFEST).write_text(json.dumps({"kind": "comparison", "files": list(OLD)}))
        code = subprocess.run([sys.executable, "-c", REPLACES, str(killed)], cwd=folder, check=False).returncode
        assert code in (0, -signal.SIGKILL)
        # A program that opens files without a lock finds files of one set only, and with the index, all of them.
        seen = {name: content.decode() for name, content in there(folder / "out").items() if STAGE not in name and name != "mine.txt"}
        assert set(seen.values()) in ({"old"}, {"new"}, set())
        assert "comparison.json" not in seen or seen in (OLD, NEW)
        settle(folder / "out")
        found = {name: content.decode() for name, content in there(folder / "out").items() if STAGE not in name}
        assert found.pop("mine.txt") == "mine"
        assert found in (OLD, NEW)
        settled.add(found == NEW)
        # The next process finds nothing that is in its way.
        with ResultFolder(folder / "out", "comparison"):
            pass
        assert not (folder / "out" / STAGE).exists()
        if code == 0:
            break
        killed += 1
    assert killed > 12
    assert settled == {False, True}


def test_a_reader_waits_while_results_are_being_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "PATIENCE_S", 0.0)
    with ResultFolder(tmp_path / "out", "run") as out:
        (tmp_path / "out" / MANIFEST).write_text(json.dumps({"kind": "run", "files": [], "replaces": []}))
        with pytest.raises(ssdlab.UsageError, match="this process is replacing the results here"):
            settle(tmp_path / "out")
        assert out.folder is not None
    settle(tmp_path / "out")


def test_a_folder_that_is_removed_while_it_is_locked_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make, removed = folders.make_folder, []

    def then_removed(folder: Path) -> None:
        make(folder)
        if not removed:
            removed.append(folder)
            folder.rmdir()

    monkeypatch.setattr(folders, "make_folder", then_removed)
    ssdlab.run(set=SMALL, requests=50, out=tmp_path / "out")
    assert removed
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [MANIFEST, "result.json", "slowest.json"]


# ---- Results from others -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("link", ["npgc", STAGE, f"{STAGE}/npgc"])
def test_no_file_outside_of_a_folder_changes_through_a_link_in_it(link: str, tmp_path: Path) -> None:
    """A reader completes the replacement that a manifest lists, and folder and manifest may be another user's."""
    folder, outside = tmp_path / "out", tmp_path / "outside"
    for place in (folder / STAGE / "npgc", folder / "npgc", outside / "npgc"):
        place.mkdir(parents=True)
        (place / "result.json").write_text("{}")
    (outside / "result.json").write_text("{}")
    (folder / link).rename(tmp_path / "aside")
    (folder / link).symlink_to(outside)
    manifest = {"kind": "run", "files": ["npgc/result.json", "npgc/new.json"], "replaces": ["npgc/result.json", "npgc/old.json"]}
    (folder / MANIFEST).write_text(json.dumps(manifest))
    before = there(outside)
    for use in (lambda: settle(folder), lambda: ssdlab.run(set=SMALL, requests=10, out=folder)):
        with pytest.raises(ssdlab.Error, match=r"is a symbolic link, through which files outside of .* would change: remove it"):
            use()
    assert there(outside) == before
    (folder / link).unlink()
    settle(folder)
    assert there(outside) == before


def test_a_link_in_the_way_of_an_old_set_is_refused_before_the_run(tmp_path: Path) -> None:
    folder, outside = tmp_path / "out", tmp_path / "outside"
    outside.mkdir()
    (outside / "mine.txt").write_text("mine")
    ssdlab.run(set=SMALL, requests=10, out=folder)
    (folder / "link").symlink_to(outside)
    (folder / MANIFEST).write_text(json.dumps({"kind": "run", "files": ["result.json", "link/mine.txt"]}))
    with pytest.raises(ssdlab.Error, match="link is a symbolic link"):
        ssdlab.run(set=SMALL, requests=20, out=folder)
    assert (outside / "mine.txt").exists()
    assert (folder / "result.json").exists()
