"""`ssdlab bug-report` has all that is needed to find a defect, and no private data."""

from __future__ import annotations

import json
import platform
import re
import sys
from pathlib import Path

import pytest

import ssdlab
from conftest import DRIVE_OPTIONS, SMALL_OPTIONS, Ssdlab
from ssdlab.pages import bug_report

USER = "verybusyperson"
TRACE = "timestamp_us,op,offset_bytes,size_bytes\n" + "".join(f"{100 * n},W,{4096 * n},4096\n" for n in range(50))
NAMED = dict.fromkeys(bug_report.USER_VARIABLES, USER)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A user's home folder, with a folder below it whose name has blanks."""
    folder = tmp_path / "home" / USER / "secret project"
    folder.mkdir(parents=True)
    return folder.parent


@pytest.fixture
def run(home: Path, ssdlab_command: Ssdlab) -> Path:
    """Results of a run whose inputs all have private paths."""
    secret = home / "secret project"
    trace, config = secret / f"{USER}.csv", secret / "own.toml"
    trace.write_text(TRACE)
    config.write_text('[gc]\nvictim = "cost-benefit"\n')
    done = ssdlab_command("run", *DRIVE_OPTIONS, "--trace", trace, "--config", config, "--quiet", "--out", home / "results")
    assert done.code == 0, done.err
    return home / "results"


def blocks(text: str) -> list[str]:
    """The configurations in a report."""
    return re.findall(r"```toml\n(.*?)```", text, re.DOTALL)


def test_it_has_versions_machine_digest_and_configuration_but_no_private_name(run: Path, home: Path, ssdlab_command: Ssdlab) -> None:
    config = home / "secret project" / "own.toml"
    done = ssdlab_command("bug-report", run, "--config", config, env={**NAMED, "HOME": str(home)})
    assert (done.code, done.err) == (0, "")
    result = json.loads((run / "result.json").read_text())
    for expected in (ssdlab.__version__, platform.python_version(), platform.machine(), result["digest"], 'gc.victim = "cost-benefit"'):
        assert expected in done.out
    assert '<user>.csv"' in done.out, "the trace's name stays, the user's goes"
    assert "own.toml" in done.out
    for private in (USER, "secret", str(home), str(run), "/home/", platform.node()):
        assert private not in done.out


def test_names_of_machine_and_user_go_wherever_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "node", lambda: "lab7.example.org")
    monkeypatch.setenv("USER", USER)
    monkeypatch.setenv("HOME", "/somewhere/jdoe")
    private = bug_report.Private()
    without = private.without(f"6.1-lab7 of {USER.upper()}, backup_jdoe.csv, lab77, gc.victim=/mnt/lab7.example.org/a b/x.csv")
    assert without == "6.1-<host> of <user>, backup_<user>.csv, lab77, gc.victim=.../x.csv"


def test_paths_in_lists_and_tables_go_and_names_of_policies_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USER", "greedy")
    lines = bug_report._lines({"gc": {"victim": "greedy"}, "x": [{"trace": "/data/a.csv"}, "b/c.csv"]}, bug_report.Private())
    assert lines == ['gc.victim = "greedy"', 'x = [{"trace" = ".../a.csv"}, ".../c.csv"]']


@pytest.mark.parametrize("folder", ["it's a secret/b", "a=secret,b", "secret[1]/b", 'say "secret"/b', "/srv/a=secret/it's, b"])
def test_a_folder_may_have_any_name(folder: str) -> None:
    """A quote, a comma, a bracket or an equals sign in a folder's name once left part of it in the report."""
    private = bug_report.Private()
    path = f"{folder}/x.csv"
    assert bug_report._lines({"workload": {"trace": path}}, private) == ['workload.trace = ".../x.csv"']
    assert private.in_word(f"--set=workload.trace={path}") == "--set=workload.trace=.../x.csv"
    assert private.in_word(f"workload.trace={path}") == "workload.trace=.../x.csv"
    assert "secret" not in private.without(f"error: /home/{path}: line 3: found 7")
    assert "line 3: found 7" in private.without(f"error: /home/{path}: line 3: found 7")


def test_the_configuration_of_a_generated_run_repeats_it(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    """A defect can be reproduced from the report alone."""
    schemes = ("--scheme", "npgc", "--scheme", "pgc")
    assert ssdlab_command("compare", *SMALL_OPTIONS, *schemes, "--requests", 300, "--out", "both", "--quiet").code == 0
    first, second = blocks(ssdlab_command("bug-report", "both").out)
    assert "device.channels = 2" in first
    assert "device.channels" not in second, "of the second run only what differs"
    (tmp_path / "again.toml").write_text(first)
    again = ssdlab_command("run", "--config", "again.toml", "--requests", 300, "--json").json()
    assert again["digest"] == json.loads((tmp_path / "both" / "npgc" / "result.json").read_text())["digest"]


def test_damaged_and_changed_results_are_reported_not_refused(run: Path, ssdlab_command: Ssdlab) -> None:
    file = run / "result.json"
    whole = file.read_text()
    assert "as ssdlab wrote it" in ssdlab_command("bug-report", run).out
    file.write_text(whole.replace('"seed": 1', '"seed": 2'))
    assert "changed after ssdlab wrote it" in ssdlab_command("bug-report", run).out
    file.write_text(whole[: len(whole) // 2])
    done = ssdlab_command("bug-report", run)
    assert "They cannot be read: .../result.json" in done.out
    assert str(run.parent) not in done.out


def test_a_refused_configuration_is_reported_with_the_reason(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text("[gc]\nsotf = 0.1\n")
    done = ssdlab_command("bug-report", "--config", tmp_path / "own.toml")
    assert done.code == 0
    assert "It is refused: " in done.out
    assert "gc.sotf" in done.out
    assert str(tmp_path) not in done.out


def test_what_is_not_there_is_one_line(ssdlab_command: Ssdlab) -> None:
    assert "nowhere: expected a folder" in ssdlab_command("bug-report", "nowhere").failed(2)
    assert "no.toml: no such file: expected a TOML file" in ssdlab_command("bug-report", "--config", "no.toml").failed(2)


def test_it_is_written_whole_to_a_file(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    done = ssdlab_command("bug-report", "--out", "bug.md")
    assert done.out == "bug.md: read it, and attach it to the issue\n"
    assert (tmp_path / "bug.md").read_text() == ssdlab_command("bug-report").out
    assert f"| Python | {sys.version.split()[0]}" in (tmp_path / "bug.md").read_text()
