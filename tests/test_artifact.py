"""Artifact kits: a kit is made, moved to a clean folder and run there; any change on the way is found and named."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import DRIVE, Ended, Ssdlab
from kits import change, rerun, ssdlab_in
from ssdlab.experiments.artifact import identity as identities
from ssdlab.experiments.artifact import kit as making
from ssdlab.experiments.artifact import reproduce
from ssdlab.experiments.artifact.readme import duration, unpublished

STUDY = "bux2011/sec4"
RELEASE = ssdlab.__version__.partition("+")[0]
ROW = "of the drive under cep, against (10) with the write amplification in pages measured there"
TRACE = "".join(f"{100 * index},{'RW'[index % 2]},{4096 * (index % 50)},4096\n" for index in range(300))
OWN = """
title = "Two traces"
trace = "one.csv"
schemes = ["npgc", "pgc"]
seeds = [1, 2]
[set]
{keys}
[[vary]]
name = "trace"
points = [{{ label = "one" }}, {{ label = "other", trace = "other.csv" }}]
[metrics]
mean = "latency_ns.all.mean"
[[rows]]
what = "mean of the other"
value = "mean[npgc, other]"
[[rows]]
what = "mean of the one"
value = "mean[npgc, one]"
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of a study."""
    folder = tmp_path_factory.mktemp("results")
    assert ssdlab_in(folder, "study", "run", STUDY, "--quick", "--quiet", "--out", "studies").code == 0
    return folder / "studies"


@pytest.fixture(scope="module")
def made(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kit in a folder of its own."""
    folder = tmp_path_factory.mktemp("kit") / "made"
    done = ssdlab_in(results, "artifact", STUDY, "--results", ".", "--out", folder)
    assert done.code == 0, done.err
    assert f"{STUDY}: 12 runs" in done.out
    return folder


@pytest.fixture
def kit(made: Path, tmp_path: Path) -> Path:
    """A copy of the kit in a clean folder, without the files of the place where it was made."""
    return shutil.copytree(made, tmp_path / "clean")


@pytest.fixture(scope="module", autouse=True)
def fonts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A shared cache for Matplotlib's list of fonts, which takes seconds to build in each new home."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPLCONFIGDIR", str(tmp_path_factory.mktemp("fonts")))
        yield


def row_of(study: dict[str, Any], what: str = ROW) -> dict[str, Any]:
    return next(row for row in study["rows"] if row["what"] == what)


# ---- The script ----------------------------------------------------------------------------------------------------------------------


def test_a_kit_in_a_clean_folder_is_reproduced(kit: Path) -> None:
    done = rerun(kit)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith(f"ssdlab {ssdlab.__version__} (")
    assert lines[2] == f"{STUDY}: agrees: 42 digests and numbers agree"
    assert lines[-1].startswith("REPRODUCED")
    compared = json.loads((kit / "reproduced" / "comparison.json").read_text())
    assert compared["parts"] == [{"name": STUDY, "agree": 42, "left_out": 0, "differences": [], "notes": []}]
    assert compared["exact"]


def test_a_kit_says_what_was_run(kit: Path) -> None:
    manifest = json.loads((kit / "artifact.json").read_text())
    assert manifest["made_by"]["version"] == ssdlab.__version__
    assert manifest["expected_time"]["runs"] == 12
    assert manifest["expected_time"]["processor_s"] >= manifest["expected_time"]["longest_run_s"] > 0
    listed = {*manifest["files"], "artifact.json", ".ssdlab.json"}
    assert listed == {file.relative_to(kit).as_posix() for file in kit.rglob("*") if file.is_file()}
    runs = json.loads((kit / "configurations" / f"{STUDY}.json").read_text())["runs"]
    assert len(runs) == 12
    assert runs["cep_drive_seed1"]["config"]["device"]["pages_per_block"] == 256
    assert runs["cep_drive_seed1"]["command"].startswith("ssdlab run --device bux2011 --scheme cep")
    assert runs["cep_queue_seed1"]["parameters"]["valid"] == 64
    assert (kit / "studies" / f"{STUDY}.toml").read_text() == ssdlab_in(kit, "study", "show", STUDY).out
    page = (kit / "README.md").read_text()
    took = duration(manifest["expected_time"]["processor_s"])
    for word in (
        "python3 reproduce.py",
        ssdlab.__version__,
        f"The 12 runs took {took} of processor time",
        "generates their requests",
        STUDY,
    ):
        assert word in page


def test_a_number_that_was_changed_in_the_kit_is_found_before_any_run(kit: Path) -> None:
    change(kit / "expected" / STUDY / "study.json", lambda study: row_of(study)["measured"]["values"].__setitem__(0, 0.5))
    line = rerun(kit).failed(2)
    assert f"expected/{STUDY}/study.json: was changed after the kit was made" in line
    assert not (kit / "reproduced").exists()


@pytest.mark.parametrize("name", ["README.md", f"studies/{STUDY}.toml", f"configurations/{STUDY}.json", "reproduce.py"])
def test_any_other_file_that_was_changed_or_lost_is_found(kit: Path, name: str) -> None:
    text = (kit / name).read_text()
    (kit / name).write_text(text + "\n")
    assert f"{name}: was changed after" in rerun(kit).failed(2)
    if name != "reproduce.py":
        (kit / name).unlink()
        assert f"{name}: is missing from the kit" in rerun(kit).failed(2)


def test_an_expected_number_that_is_not_what_comes_out_differs(kit: Path) -> None:
    """The run itself differs, also if the hash of the changed number was corrected."""
    file = kit / "expected" / STUDY / "study.json"
    before = row_of(json.loads(file.read_text()))["measured"]["values"]
    wrong = [before[0], before[1] * (1 + 1e-6)]
    change(file, lambda study: row_of(study)["measured"].update(values=wrong), kit)
    done = rerun(kit)
    assert (done.code, done.err) == (1, "")
    differing = [line for line in done.out.splitlines() if line.startswith("  ")]
    assert len(differing) == 1
    assert differing[0].startswith(f'  row "{ROW}": expected {before[0]:.10g}, {wrong[1]:.10g}, measured {before[0]:.10g}, ')
    assert "DIFFERENT: bux2011/sec4" in done.out


def test_a_study_that_cannot_be_run_and_one_that_is_not_there_are_said(kit: Path) -> None:
    assert "lee2013/no: no such part of this kit: there are bux2011/sec4" in rerun(kit, "lee2013/no").failed(2)
    file = kit / "studies" / f"{STUDY}.toml"
    file.write_text(file.read_text().replace('"bux2011"', '"bux1811"'))
    change(kit / "artifact.json", lambda manifest: manifest["files"].update({f"studies/{STUDY}.toml": reproduce.hash_of(file)}))
    done = rerun(kit)
    assert done.code == 1
    assert "could not be run: ssdlab says why" in done.out
    assert 'no device "bux1811"' in done.err or "bux1811" in done.err


@pytest.mark.parametrize("version", ["0.0.9", f"{RELEASE}+g0000000000"])
def test_another_version_is_compared_by_intervals(kit: Path, version: str) -> None:
    """So is the same version of another commit."""
    change(kit / "artifact.json", lambda manifest: manifest["made_by"].update(version=version))
    done = rerun(kit, "--python", sys.executable)
    assert done.code == 0, done.out
    assert f"the kit is of {version}: numbers must agree within their intervals" in done.out
    assert f"{STUDY}: agrees: 30 digests and numbers agree" in done.out
    assert "this Python cannot import ssdlab" in rerun(kit, "--python", "/bin/false").failed(2)


# ---- Comparing -----------------------------------------------------------------------------------------------------------------------

EXACT, LOOSE = reproduce.Rule(True, 1e-9), reproduce.Rule(False, 0.01)


def study_with(mean: float, interval: float | None, digest: str = "d" * 64, grade: str = "size") -> dict[str, Any]:
    estimate = {"mean": mean, "values": [mean - 1, mean + 1], **({} if interval is None else {"interval": interval})}
    place = {"scheme": "pgc", "values": ["8"]}
    return {
        "rows": [{"what": "a row", "measured": estimate, "reproduced": "yes", "grade": grade}],
        "points": [{**place, "metrics": {"mean": estimate}}],
        "runs": [{**place, "seed": 1, "digest": digest}],
    }


@pytest.mark.parametrize(
    ("mean", "interval", "agrees"),
    [
        (10.5, 0.3, True),
        (10.5, 0.2, False),
        (9.4, 0.4, True),
        (9.4, 0.2, False),
        (10.09, 0.0, True),
        (10.2, None, True),
        (10.31, None, False),
    ],
)
def test_intervals_that_meet_agree_and_others_do_not(mean: float, interval: float | None, agrees: bool) -> None:
    """Expected are 10 ± 0.3 (0.2 for others), and 1 % is nearer than any interval."""
    compared = reproduce.compare("s", study_with(10.0, 0.25), study_with(mean, interval), LOOSE)
    assert (compared.differences == []) == agrees
    assert compared.agree == (2 if agrees else 0)
    if not agrees:
        assert compared.differences[0].startswith("mean of pgc, 8: expected 10, measured ")
        assert "apart, at most" in compared.differences[0]


def test_without_an_interval_a_hundredth_is_agreement() -> None:
    assert not reproduce.compare("s", study_with(10.0, None), study_with(10.09, None), LOOSE).differences
    assert reproduce.compare("s", study_with(10.0, None), study_with(10.11, None), LOOSE).differences


def test_the_same_version_needs_the_same_digests_numbers_and_grades() -> None:
    expected = study_with(10.0, 0.3)
    assert reproduce.compare("s", expected, copy.deepcopy(expected), EXACT).agree == 3
    other = reproduce.compare("s", expected, study_with(10.0, 0.3, digest="e" * 64), EXACT)
    assert other.differences == [
        "run of pgc, 8, seed 1: digest eeeeeeeeeeee..., expected dddddddddddd... (the same version gives the same digest)"
    ]
    assert len(reproduce.compare("s", expected, study_with(10.0001, 0.3), EXACT).differences) == 2
    graded = reproduce.compare("s", expected, study_with(10.0, 0.3, grade="direction"), EXACT)
    assert graded.differences == ['row "a row": grade was size, is direction']
    loosely = reproduce.compare("s", expected, study_with(10.0, 0.3, grade="direction"), LOOSE)
    assert (loosely.differences, loosely.notes) == ([], ['row "a row": grade was size, is direction'])


def test_what_was_not_measured_differs_unless_it_may_be_left_out() -> None:
    measured: dict[str, Any] = {"rows": [], "points": [], "runs": []}
    compared = reproduce.compare("s", study_with(10.0, 0.3), measured, EXACT)
    assert [line.partition(": ")[2] for line in compared.differences] == ["is not in the new results"] * 3
    compared = reproduce.compare("s", study_with(10.0, 0.3), measured, EXACT, partial=True)
    assert (compared.agree, compared.left_out, compared.differences) == (0, 3, [])


# ---- Traces --------------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of a study of two traces."""
    folder = tmp_path_factory.mktemp("traced") / "own"
    (folder / "data").mkdir(parents=True)
    (folder / "two.toml").write_text(OWN.format(keys="\n".join(f"{key} = {value}" for key, value in DRIVE.items())))
    for name in ("one", "other"):
        (folder / "data" / f"{name}.csv").write_text(f"timestamp_us,op,offset_bytes,size_bytes\n{TRACE}")
    done = ssdlab_in(folder, "study", "run", "./two.toml", "--traces", "data", "--out", "studies", "--quiet")
    assert done.code == 0, done.err
    return folder


@pytest.fixture
def traced(run_once: Path, tmp_path: Path) -> Path:
    """A copy of the folder, which may be changed."""
    return shutil.copytree(run_once, tmp_path / "own")


def artifact(folder: Path, *words: object) -> Ended:
    return ssdlab_in(folder, "artifact", "./two.toml", "--results", "studies", "--traces", "data", "--out", "kit", *words)


def test_a_kit_names_its_traces_and_where_to_get_them(traced: Path) -> None:
    done = artifact(traced, "--source", "one.csv=https://example.org/one.csv", "--quiet")
    assert (done.code, done.out) == (0, "")
    assert [line for line in done.err.splitlines() if "other.csv" in line] == [
        "warning: other.csv: the kit does not say where a reviewer gets this trace: add --source other.csv=WHERE or --with-traces"
    ]
    assert "one.csv: the kit" not in done.err
    kit = traced / "kit"
    for file in kit.rglob("*"):
        assert file.is_dir() or str(traced) not in file.read_text(errors="replace")  # nothing of this machine's folders
    line = " ".join(rerun(kit).err.split())
    assert "error: traces are not in" in line
    assert "one.csv (SHA-256 " in line
    assert "https://example.org/one.csv" in line
    assert "ask the authors of this kit" in line
    done = rerun(kit, "--traces", traced / "data")
    assert done.code == 0, done.out + done.err
    assert "own/two: agrees: 14 digests and numbers agree" in done.out


def test_a_trace_that_is_another_is_refused(traced: Path) -> None:
    assert artifact(traced).code == 0
    (traced / "data" / "other.csv").write_text("timestamp_us,op,offset_bytes,size_bytes\n0,W,0,4096\n")
    assert "other.csv: is not the trace that the kit was made with" in rerun(traced / "kit", "--traces", traced / "data").failed(2)


def test_what_needs_a_trace_that_is_not_there_can_be_left_out(traced: Path) -> None:
    assert artifact(traced).code == 0
    (traced / "data" / "other.csv").unlink()
    done = rerun(traced / "kit", "--traces", traced / "data", "--partial")
    assert done.code == 0, done.out + done.err
    assert "own/two: agrees: 7 digests and numbers agree, 7 left out" in done.out
    assert "REPRODUCED, but for what was left out of own/two (" in done.out
    (traced / "data" / "one.csv").unlink()
    done = rerun(traced / "kit", "--traces", traced / "data", "--partial")
    assert done.code == 1
    assert "own/two: LEFT OUT" in done.out
    assert "NOTHING WAS RUN" in done.out


BROKEN = """#!{python}
import sys
if sys.argv[1] != "-m":
    print("{version}")
    sys.exit()
{work}
sys.exit(1)
"""
"""A Python whose ssdlab fails."""


def broken(folder: Path, work: str = "") -> Path:
    """Writes a Python whose ssdlab fails; before it fails, its `study run` executes `work`."""
    file = folder / "python"
    file.write_text(BROKEN.format(python=sys.executable, version=ssdlab.__version__, work=work))
    file.chmod(0o755)
    return file


def test_only_what_needs_an_absent_trace_is_left_out(traced: Path) -> None:
    """A study that fails although its traces are there has failed, `--partial` or not."""
    assert artifact(traced).code == 0
    words = ("--traces", traced / "data", "--partial", "--python")
    done = rerun(traced / "kit", *words, broken(traced))
    assert (done.code, done.out.splitlines()[-1][:18]) == (1, "DIFFERENT: own/two")
    (traced / "data" / "other.csv").unlink()
    work = """import pathlib
folder = pathlib.Path(sys.argv[sys.argv.index("--out") + 1]) / "own" / "two"
folder.mkdir(parents=True)
(folder / "study.json").write_text("{}")
"""
    done = rerun(traced / "kit", *words, broken(traced, work))
    assert done.code == 1
    assert "own/two: DIFFERS" in done.out, "a run failed, of a trace that is there"


def test_a_python_can_be_named_from_the_current_folder(traced: Path) -> None:
    """Studies run in the kit's folder, from where a relative path leads elsewhere."""
    assert artifact(traced, "--with-traces").code == 0
    (traced / "home" / "bin").mkdir(parents=True)
    (traced / "home" / "bin" / "python").symlink_to(sys.executable)
    done = rerun(traced / "kit", "--python", "bin/python", PYTHONPATH=os.pathsep.join(path for path in sys.path if path))
    assert done.code == 0, done.out + done.err


def test_an_interrupted_script_says_so_in_a_line(kit: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(reproduce, "check_files", interrupt)
    monkeypatch.setattr(reproduce, "read_json", lambda _: {})
    assert reproduce.main([]) == 130
    assert capsys.readouterr().err == "error: interrupted: the same command begins again\n"


def test_a_number_of_jobs_is_passed_on_even_if_it_is_none(kit: Path) -> None:
    done = rerun(kit, "--jobs", "0")
    assert done.code == 1
    assert "jobs" in done.err


def test_a_trace_that_was_written_after_the_results_is_named(traced: Path) -> None:
    assert "newer than the results" not in artifact(traced).err
    later = (traced / "studies" / "own" / "two" / "study.json").stat().st_mtime + 10
    os.utime(traced / "data" / "other.csv", (later, later))
    warned = [line for line in artifact(traced).err.splitlines() if "newer than the results" in line]
    assert [line.split(":")[1] for line in warned] == [" other.csv"]


def test_a_kit_can_have_its_traces(traced: Path) -> None:
    done = artifact(traced, "--with-traces")
    assert done.code == 0
    assert "where a reviewer gets" not in done.err
    shutil.rmtree(traced / "data")
    done = rerun(traced / "kit")
    assert done.code == 0, done.out + done.err


def test_values_that_were_left_out_need_no_trace(traced: Path) -> None:
    (traced / "data" / "other.csv").unlink()
    assert ssdlab_in(traced, "study", "run", "./two.toml", "--traces", "data", "--out", "studies", "--quiet").code == 0
    assert artifact(traced).code == 0
    assert [trace["name"] for trace in json.loads((traced / "kit" / "artifact.json").read_text())["traces"]] == ["one.csv"]
    done = rerun(traced / "kit", "--traces", traced / "data")
    assert done.code == 0, done.out + done.err
    assert "agrees: 7 digests and numbers agree" in done.out


# ---- Making one ----------------------------------------------------------------------------------------------------------------------


def test_results_that_do_not_fit_the_study_make_no_kit(traced: Path) -> None:
    before = (traced / "two.toml").read_text()

    def refused(text: str, *words: str) -> None:
        (traced / "two.toml").write_text(text)
        line = artifact(traced).failed(2)
        for word in words:
            assert word in line, line
        assert not (traced / "kit").exists()

    refused(
        before.replace("seeds = [1, 2]", "seeds = [1]"), "the study has changed since: seeds", "run it again: `ssdlab study run ./two.toml"
    )
    refused(before.replace('value = "mean[npgc, one]"', 'value = "mean[pgc, one]"'), "the study has changed since: rows")
    refused(
        before.replace("gc.soft = 0.1", "gc.soft = 0.12"),
        "the study has changed since: npgc_one_seed1: config.gc.soft is 0.1 there, 0.12 here",
    )
    refused(before.replace('trace = "other.csv"', 'trace = "other.csv", requests = 5'), "npgc_other_seed1: command is ")
    (traced / "two.toml").write_text(before)
    (traced / "other.toml").write_text(before)
    line = ssdlab_in(traced, "artifact", "./other.toml", "--results", "studies", "--out", "kit").failed(2)
    assert "own/other: no results in studies: `ssdlab study run ./other.toml --out studies` makes them" in line


def test_results_that_are_not_whole_make_no_kit(traced: Path) -> None:
    file = traced / "studies" / "own" / "two" / "study.json"
    before = file.read_text()

    def refused(how: Callable[[Any], object], *words: str) -> None:
        change(file, how)
        line = artifact(traced).failed(2)
        file.write_text(before)
        for word in words:
            assert word in line, line

    refused(lambda study: study.update(version="0.0.1"), f"the results are of ssdlab 0.0.1, this is {ssdlab.__version__}: run it again")
    refused(lambda study: study["failed"].update({"npgc, one, seed 1": "no room"}), "runs failed (npgc, one, seed 1)")
    refused(lambda study: study["runs"][0].update(digest="0" * 64), "npgc_one_seed1/result.json is not of the same run as study.json")
    refused(lambda study: study["runs"].append({**study["runs"][0], "seed": 9}), "1 runs of the results cannot be checked")
    refused(lambda study: study.pop("rows"), 'no result of a study: "rows" is missing')
    (traced / "data" / "other.csv").unlink()
    line = artifact(traced).failed(2)
    assert "4 runs of the results cannot be checked: the trace other.csv was not found" in line


def test_options_that_mean_nothing_are_refused(traced: Path) -> None:
    line = artifact(traced, "--source", "on.csv=https://example.org").failed(2)
    assert "--source on.csv: no run of this kit reads this trace, did you mean" in line or "(traces: one.csv, other.csv)" in line
    assert "expected TRACE=WHERE, such as web_3.csv=https://..." in artifact(traced, "--source", "one.csv").failed(2)
    (traced / "ssdlab-0.0.1-py3-none-any.whl").touch()
    assert "the wheel is of ssdlab 0.0.1, the results are of" in artifact(traced, "--wheel", "ssdlab-0.0.1-py3-none-any.whl").failed(2)
    assert "expected a wheel of ssdlab" in artifact(traced, "--wheel", "two.toml").failed(2)
    assert "holds the results of a study, which an artifact kit must not replace" in (
        ssdlab_in(traced, "artifact", "./two.toml", "--results", "studies", "--traces", "data", "--out", "studies/own/two").failed(2)
    )


def test_a_kit_takes_the_place_of_an_earlier_one(traced: Path) -> None:
    assert artifact(traced, "--with-traces").code == 0
    (traced / "kit" / "notes.txt").write_text("mine")
    assert artifact(traced).code == 0
    assert not (traced / "kit" / "traces").exists()
    assert (traced / "kit" / "notes.txt").exists()
    done = ssdlab_in(traced, "run", "--requests", 10, "--out", "kit").failed(2)
    assert "holds an artifact kit" in done


OWN_PRESETS = """
title = "Presets of my own"
device = "parts/drive.toml"
schemes = ["npgc", "parts/host.toml"]
requests = 60
[[vary]]
name = "workload"
points = [
    {{ label = "preset", workload = "parts/load.toml" }},
    {{ label = "flows", set = {{ "workload.flows" = [{{ name = "a", preset = "./parts/load.toml" }}, {{ name = "b"{trace} }}] }} }},
]
[metrics]
mean = "latency_ns.all.mean"
[[rows]]
what = "mean"
value = "mean[parts/host.toml, preset]"
"""


def own_presets(tmp_path: Path, trace: str = "") -> Path:
    """A folder with a study whose device, scheme and workload are files, and the results of its runs."""
    folder = tmp_path / "author"
    (folder / "parts").mkdir(parents=True)
    device = "".join(f"{key.removeprefix('device.')} = {value}\n" for key, value in DRIVE.items() if key.startswith("device."))
    (folder / "parts" / "drive.toml").write_text(f"[device]\n{device}[gc]\nsoft = 0.1\n")
    (folder / "parts" / "host.toml").write_text("[gc]\npriority = 'host'\n")
    (folder / "parts" / "load.toml").write_text("[workload]\nread_share = 0.25\n")
    (folder / "parts" / "trace.csv").write_text(f"timestamp_us,op,offset_bytes,size_bytes\n{TRACE}")
    (folder / "mine.toml").write_text(OWN_PRESETS.format(trace=trace))
    done = ssdlab_in(folder, "study", "run", "mine.toml", "--out", "studies", "--quiet")
    assert done.code == 0, done.err
    return folder


def test_a_kit_has_the_presets_that_are_files(tmp_path: Path) -> None:
    folder = own_presets(tmp_path)
    done = ssdlab_in(folder, "artifact", "mine.toml", "--results", "studies", "--out", tmp_path / "kit")
    assert done.code == 0, done.err
    kit = tmp_path / "kit"
    names = ["parts/drive.toml", "parts/load.toml", "parts/host.toml"]
    manifest = json.loads((kit / "artifact.json").read_text())
    assert sorted(own["name"] for own in manifest["own_files"]) == sorted(names)
    assert all((kit / name).read_text() == (folder / name).read_text() for name in names)
    assert all(name in manifest["files"] and f"`{name}`" in (kit / "README.md").read_text() for name in names)
    shutil.rmtree(folder)
    done = rerun(kit)
    assert (done.code, done.err) == (0, ""), done.out
    assert "own/mine: agrees" in done.out
    (kit / "parts" / "host.toml").write_text("[gc]\npriority = 'gc'\n")
    assert "parts/host.toml: was changed after the kit was made" in rerun(kit).failed(2)


def test_a_trace_that_only_a_configuration_names_is_packed_or_refused(tmp_path: Path) -> None:
    folder = own_presets(tmp_path, trace=', trace = "parts/trace.csv"')
    words = ("artifact", "mine.toml", "--results", "studies", "--out", tmp_path / "kit")
    line = ssdlab_in(folder, *words).failed(2)
    assert line == "own/mine: a configuration names the trace parts/trace.csv: name it by `trace` there, or add --with-traces"
    assert not (tmp_path / "kit").exists()
    assert ssdlab_in(folder, *words, "--with-traces").code == 0
    shutil.rmtree(folder)
    done = rerun(tmp_path / "kit")
    assert (done.code, done.err) == (0, ""), done.out


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("{folder}/parts/drive.toml", "is not below the current folder"),
        ("../author/parts/drive.toml", "is not below the current folder"),
        ("expected/drive.toml", "a kit has a file or folder of its own under this name"),
        ("studies/own/mine.toml", "the kit has another file under this name"),
    ],
)
def test_a_preset_that_a_kit_cannot_have_is_refused(tmp_path: Path, name: str, says: str) -> None:
    folder = tmp_path / "author"
    name = name.format(folder=folder)
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("[device]\nchannels = 2\nblocks_per_plane = 32\npages_per_block = 16\noverprovisioning = 0.25\n")
    (folder / "mine.toml").write_text(
        f'title = "One"\ndevice = "{name}"\nschemes = ["npgc"]\nrequests = 9\n[metrics]\nmean = "latency_ns.all.mean"\n'
    )
    assert ssdlab_in(folder, "study", "run", "mine.toml", "--out", "results", "--quiet").code == 0
    assert says in ssdlab_in(folder, "artifact", "mine.toml", "--results", "results", "--out", tmp_path / "kit").failed(2)
    assert not (tmp_path / "kit").exists()


def wheel(folder: Path, version: str) -> Path:
    """Writes a wheel of ssdlab with a version and no content."""
    file = folder / f"ssdlab-{version}-py3-none-any.whl"
    about = f"ssdlab-{version}.dist-info"
    with zipfile.ZipFile(file, "w") as package:
        package.writestr("ssdlab/__init__.py", f'__version__ = "{version}"\n')
        package.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: ssdlab\nVersion: {version}\n")
        package.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        package.writestr(f"{about}/RECORD", f"ssdlab/__init__.py,,\n{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n")
    return file


@pytest.mark.full
def test_a_kit_installs_the_version_that_it_was_made_with(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Into an environment of its own, where the Python that runs the script has another or none."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    packed = making.collect([STUDY], results=results, wheel=wheel(tmp_path, RELEASE))
    manifest = making.write(packed, tmp_path / "kit")
    assert manifest["wheel"] == f"wheels/ssdlab-{RELEASE}-py3-none-any.whl"
    manifest["made_by"]["version"] = "0.0.7+g1a2b3c4"
    wheel(tmp_path / "kit" / "wheels", "0.0.7")
    python, version = reproduce.find_ssdlab(manifest, tmp_path / "kit", tmp_path / "out", None)
    assert (python, version) == (str(tmp_path / "out" / "venv" / "bin" / "python"), "0.0.7")
    assert reproduce.version_of(python) == "0.0.7"
    manifest["made_by"]["version"] = "0.0.8+g1a2b3c4"
    with pytest.raises(reproduce.UnusableError, match=r"ssdlab 0\.0\.8 could not be installed .*No matching distribution.*--python PATH"):
        reproduce.find_ssdlab(manifest, tmp_path / "kit", tmp_path / "other", None)


def test_the_commit_of_the_sources_is_noted(tmp_path: Path) -> None:
    assert identities.identity(tmp_path, "1.1.0").get("commit") == identities._commit_of_installation().get("commit")
    (tmp_path / "Cargo.toml").write_text("")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    found = identities.identity(tmp_path, f"1.1.0+g{head[:10]}")
    assert found["commit"] == head
    assert not {"uncommitted_changes", "sources_commit"} & set(found)
    (tmp_path / "Cargo.toml").write_text("[workspace]\n")
    assert identities.identity(tmp_path, f"1.1.0+g{head[:10]}")["uncommitted_changes"]
    # a package built before a later commit is of its own
    subprocess.run([*git, "commit", "-q", "-a", "-m", "second"], check=True)
    older = identities.identity(tmp_path, f"1.1.0+g{head[:10]}.dirty")
    later = identities.identity(tmp_path, "1.1.0")["commit"]
    assert (older["commit"], older["sources_commit"], older["uncommitted_changes"]) == (head, later, True)
    unknown = identities.identity(tmp_path, "1.1.0+g0123456789")
    assert (unknown["commit"], unknown["sources_commit"]) == ("0123456789", later)


@pytest.mark.parametrize(
    ("version", "wheel", "missing"),
    [("1.1.0.dev0+g1a2b3c4d5e", None, True), ("1.1.0.dev0", "wheels/x.whl", False), ("1.1.0+g1a2b3c4d5e", None, False)],
)
def test_only_a_development_version_without_a_wheel_cannot_be_installed(version: str, wheel: str | None, missing: bool) -> None:
    manifest = {"made_by": {"version": version}, **({"wheel": wheel} if wheel else {})}
    assert unpublished(manifest) == missing


def test_a_kit_of_a_development_version_says_what_is_missing(traced: Path, tmp_path: Path) -> None:
    missing = f"warning: no package index has ssdlab {RELEASE}, so the kit cannot install it: add --wheel FILE (see --help)"
    assert (artifact(traced).err.splitlines()[-1:] == [missing]) == (".dev" in RELEASE)
    assert ("No package index has this development version." in (traced / "kit" / "README.md").read_text()) == (".dev" in RELEASE)
    assert "no package index" not in artifact(traced, "--wheel", wheel(tmp_path, RELEASE)).err


def test_artifact_without_a_word_says_what_it_needs(ssdlab_command: Ssdlab) -> None:
    done = ssdlab_command("artifact")
    assert done.code == 2
    assert "Give it studies that were run" in done.err
