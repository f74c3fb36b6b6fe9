"""Whatever the names of schemes, points, studies, labels and files are, a command only writes to the folder of its `--out`."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import ssdlab
from conftest import DRIVE, DRIVE_OPTIONS, Ssdlab
from ssdlab.system.folders import LONGEST_NAME, folder_name, run_folder, variant_folder

SCHEME = '[gc]\npriority = "gc"\n'
SETTINGS = "\n".join(f'"{key}" = {value}' for key, value in DRIVE.items())
STUDY = f"""
title = "Names"
device = "lee2013"
workload = "lee2013-synthetic"
schemes = ["npgc", "SCHEME"]
requests = 50
[set]
{SETTINGS}
[[vary]]
name = "size"
points = [{{ label = "LABEL", set = {{ "workload.request_kb" = 4 }} }}]
[metrics]
mean = "latency_ns.all.mean"
"""
SWEEP = f"""
[set]
{SETTINGS}
[grid]
scheme = ["npgc", "SCHEME"]
load = [{{ label = "LABEL", requests = 50 }}, {{ label = "other", requests = 60 }}]
"""
LABELS = ("..", "/", "/tmp/x", "a/../b", "a/", ".", "../../x", ".ssdlab-new")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder surrounded by files that must not change, and a user-defined scheme in several places."""
    inner = tmp_path / "outside" / "inner"
    for folder in (tmp_path / "outside", inner, inner / "a", inner / "b"):
        folder.mkdir(exist_ok=True)
        (folder / "x.toml").write_text(SCHEME)
        (folder / "result.json").write_text("precious")
        (folder / "comparison.json").write_text("precious")
    # Where the results of `--scheme ../x.toml` in `out` would go, were its name taken as a path.
    (inner / "x.toml.d").mkdir()
    return inner


def left_alone(folder: Path, but: Path) -> dict[str, str]:
    """The files below a folder with their hashes, except for those in another folder."""

    def found() -> Iterator[tuple[str, str]]:
        for path in sorted(folder.rglob("*")):
            if path != but and but not in path.parents:
                yield str(path), hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"

    return dict(found())


def own_schemes(place: Path) -> list[str]:
    return ["../x.toml", str(place / "x.toml"), "a/../b/x.toml", "./a/x.toml", "npgc+../x.toml"]


def test_compare_writes_to_its_folder_only(place: Path, ssdlab_command: Ssdlab) -> None:
    before = left_alone(place.parent, place / "o")
    schemes = own_schemes(place)[:4]
    words = [word for scheme in schemes for word in ("--scheme", scheme)]
    done = ssdlab_command("compare", *words, *DRIVE_OPTIONS, "--requests", 50, "--seeds", 2, "--log-requests", "--out", "o", cwd=place)
    assert done.code == 0, done.err
    assert left_alone(place.parent, place / "o") == before
    folders = [file.parent.name for file in (place / "o").glob("*/result.json")]
    assert len(set(folders)) == 4, "two files of one name have a folder each"
    assert all(name.startswith("x.toml-") for name in folders)
    loaded = ssdlab.load(place / "o")
    assert isinstance(loaded, ssdlab.Comparison)
    assert list(loaded) == schemes
    assert all(run.request_log is not None for run in loaded.values())
    assert loaded.seeds is not None
    assert all(set(of) == {1, 2} for of in loaded.seeds.runs.values())
    again = ssdlab_command("compare", *words[:4], *DRIVE_OPTIONS, "--requests", 50, "--out", "o", cwd=place)
    assert again.code == 0, again.err
    assert len(list((place / "o").glob("*/result.json"))) == 2, "the earlier results have gone"
    assert left_alone(place.parent, place / "o") == before


@pytest.mark.parametrize(
    ("schemes", "says"),
    [
        (["a/x.toml/"], "a/x.toml/: cannot read: Not a directory"),
        ([".."], "no such preset"),
        (["/"], "/: cannot read: Is a directory"),
        (["../"], "../: cannot read: Is a directory"),
        (["a/x.toml", "a/../a/x.toml"], "scheme named twice: a/x.toml and a/../a/x.toml are the same"),
        (["npgc", "npgc"], "scheme named twice: npgc"),
        ([""], "expected a name"),
    ],
)
def test_schemes_that_cannot_be_are_refused_before_anything_is_written(
    place: Path, ssdlab_command: Ssdlab, schemes: list[str], says: str
) -> None:
    before = left_alone(place.parent, place / "o")
    words = [word for scheme in schemes for word in ("--scheme", scheme)]
    assert says in ssdlab_command("compare", *words, *DRIVE_OPTIONS, "--requests", 50, "--out", "o", cwd=place).failed(
        1 if "cannot read" in says else 2
    )
    assert left_alone(place.parent, place / "o") == before
    assert not (place / "o").exists()


@pytest.mark.parametrize("out", ["o", "o/", "../o", "b/../o", "deep/er/o"])
def test_out_may_be_any_folder(place: Path, ssdlab_command: Ssdlab, out: str) -> None:
    where = (place / out).resolve()
    before = {name: what for name, what in left_alone(place.parent, where).items() if what != "folder"}
    scheme = own_schemes(place)[4]
    done = ssdlab_command("run", "--scheme", scheme, *DRIVE_OPTIONS, "--requests", 50, "--out", out, cwd=place)
    assert done.code == 0, done.err
    assert {name: what for name, what in left_alone(place.parent, where).items() if what != "folder"} == before
    shutil.rmtree(where)
    done = ssdlab_command("compare", "--scheme", scheme, *DRIVE_OPTIONS, "--requests", 50, "--out", out, cwd=place)
    assert done.code == 0, done.err
    assert {name: what for name, what in left_alone(place.parent, where).items() if what != "folder"} == before


@pytest.mark.parametrize("label", LABELS)
def test_sweeps_write_to_their_folder_only(place: Path, ssdlab_command: Ssdlab, label: str) -> None:
    for number, scheme in enumerate(own_schemes(place)[:2]):
        (place / "grid.toml").write_text(SWEEP.replace("SCHEME", scheme).replace("LABEL", label))
        before = left_alone(place.parent, place / "o")
        done = ssdlab_command("sweep", "grid.toml", "--out", f"o/{number}", "--quiet", cwd=place)
        assert done.code == 0, done.err
        assert left_alone(place.parent, place / "o") == before
        assert len(list((place / "o" / str(number)).glob("*/result.json"))) == 4


@pytest.mark.parametrize("label", LABELS)
def test_studies_write_to_their_folder_only(place: Path, ssdlab_command: Ssdlab, label: str) -> None:
    (place / "names.toml").write_text(STUDY.replace("SCHEME", "../x.toml").replace("LABEL", label))
    before = left_alone(place.parent, place / "o")
    done = ssdlab_command("study", "run", "./names.toml", "--out", "o", "--quiet", cwd=place)
    assert done.code == 0, done.err
    assert left_alone(place.parent, place / "o") == before
    assert len(list((place / "o" / "own" / "names" / "runs").glob("*/result.json"))) == 2


@pytest.mark.parametrize("name", ["..toml", "...toml", ".ssdlab-new.toml"])
def test_a_study_whose_name_is_no_name_of_a_folder_is_refused(place: Path, ssdlab_command: Ssdlab, name: str) -> None:
    (place / name).write_text(STUDY.replace("SCHEME", "pgc").replace("LABEL", "one"))
    before = left_alone(place.parent, place / "o")
    assert "does not begin with a dot" in ssdlab_command("study", "run", name, "--out", "o", "--quiet", cwd=place).failed(2)
    assert left_alone(place.parent, place / "o") == before
    assert not (place / "o").exists()


def test_other_commands_write_what_they_are_asked_for_only(place: Path, ssdlab_command: Ssdlab) -> None:
    made = ssdlab_command("compare", "--scheme", "../x.toml", *DRIVE_OPTIONS, "--requests", 50, "--out", "made", cwd=place)
    assert made.code == 0, made.err
    (place / "trace.csv").write_text("timestamp_us,op,offset_bytes,size_bytes\n0,R,0,4096\n9,W,0,4096\n")
    before = left_alone(place.parent, place / "o")
    (place / "o").mkdir()
    queue = ["queueing", "--pages", 4, "--valid", 1, "--read-us", 1, "--write-us", 2, "--copy-us", 3, "--erase-us", 4, "--requests", 50]
    for command in (
        [*queue, "--show", "simulation", "--out", "b/../o/queueing/"],
        ["report", "made", "--out", "a/../o/page.html"],
        ["plot", "made", "breakdown", "--schemes", "../x.toml", "--out", f"{place}/o/picture.svg"],
        ["precondition", "--scheme", "../x.toml", *DRIVE_OPTIONS, "--out", "./o/drive.state"],
        ["trace", "convert", "trace.csv", "b/../o/trace.parquet"],
        ["bug-report", "made", "--out", "o/report.md"],
    ):
        done = ssdlab_command(*command, cwd=place)
        assert done.code == 0, (command, done.err)
        assert left_alone(place.parent, place / "o") == before, command


@pytest.mark.parametrize(
    "text", ["", ".", "..", "/", "//", "../..", "a/b", "/etc/passwd", ".hidden", "a\nb", "a\\b", "é", "x" * 300, "a b", ".ssdlab-new", "-"]
)
def test_a_name_is_that_of_one_folder_inside_another(text: str, tmp_path: Path) -> None:
    name = folder_name(text)
    assert Path(name).parts == (name,)
    assert not name.startswith(".")
    assert len(name.encode()) <= LONGEST_NAME + 9
    (tmp_path / name).mkdir()
    assert (tmp_path / name).resolve().parent == tmp_path.resolve()
    assert folder_name(text) == name, "the same text has the same name"


def test_names_that_are_safe_are_kept_and_others_told_apart() -> None:
    assert [variant_folder(scheme) for scheme in ("npgc", "npgc+slacker", "x.toml")] == ["npgc", "npgc+slacker", "x.toml"]
    schemes = ["x.toml", "./x.toml", "../x.toml", "a/x.toml", "b/x.toml", "/x.toml", "a/x.toml+b/x.toml", "b/x.toml+a/x.toml", "x.toml/"]
    assert len({variant_folder(scheme) for scheme in schemes}) == len(schemes)
    digits = hashlib.sha256(b"../x.toml").hexdigest()[:8]
    assert variant_folder("../x.toml") == f"x.toml-{digits}"
    assert folder_name("x" * 121) != folder_name("x" * 122)


def test_results_of_files_that_earlier_versions_kept_under_their_path_are_read(tmp_path: Path) -> None:
    out = tmp_path / "o"
    ssdlab.compare(schemes=["npgc"], set=DRIVE, requests=50, log_requests=True, out=out)
    (out / "a").mkdir()
    (out / "npgc").rename(out / "a" / "x.toml")
    data = json.loads((out / "comparison.json").read_text())
    (out / "comparison.json").write_text(json.dumps({**data, "runs": {"a/x.toml": data["runs"]["npgc"]}}))
    loaded = ssdlab.load(out)
    assert isinstance(loaded, ssdlab.Comparison)
    assert loaded["a/x.toml"].request_log == out / "a" / "x.toml" / "requests.parquet"
    assert run_folder(out, "../x.toml").parent == out, "never outside"
