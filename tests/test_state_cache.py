"""States of drives that took long to prepare are taken by later runs, from a folder of the user (`tests/state_cache.rs` has the rest)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import ssdlab
from conftest import DRIVE, SLOW, Ssdlab, options
from programs import PATIENCE_S
from ssdlab.system import states
from ssdlab.system.checksums import SPEED, is_sealed
from ssdlab.system.json_text import read_json

RUN = ["run", *options(SLOW), "--requests", "50"]
SAID = "drive prepared earlier with this configuration and seed"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for states that runs use."""
    folder = tmp_path / "states"
    monkeypatch.setenv(states.FOLDER_VARIABLE, str(folder))
    return folder


def simulated(result: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in result.items() if key not in (*SPEED, "command")}


def test_a_later_run_takes_the_drive_and_says_so(folder: Path, ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    running = [subprocess.Popen([sys.executable, "-m", "ssdlab", *RUN], stdout=subprocess.PIPE, text=True, cwd=tmp_path) for _ in range(2)]
    first, second = (process.communicate(timeout=PATIENCE_S)[0] for process in running)
    assert SAID not in first
    assert len(list(folder.iterdir())) == 1
    digests = [line for output in (first, second) for line in output.splitlines() if line.startswith("Digest")]
    assert len(digests) == 2
    later = ssdlab_command(*RUN, "--out", "out").out
    assert f"{SAID}: state taken from {folder}; --no-state-cache prepares it anew" in later
    assert {*digests, *(line for line in later.splitlines() if line.startswith("Digest"))} == {digests[0]}
    saved = read_json(tmp_path / "out" / "result.json")
    assert saved["prepared_earlier"] is True
    assert is_sealed(saved)
    assert "state-cache" not in saved["command"]
    anew = ssdlab_command(*RUN, "--no-state-cache", "--json").json()
    taken = ssdlab.run(set=SLOW, requests=50)
    assert (taken.prepared_earlier, "prepared_earlier" in anew) == (True, False)
    assert simulated(taken.to_dict()) == simulated(anew)
    assert taken.prepare_s < anew["prepare_s"]
    compared = ssdlab_command("compare", *RUN[1:], "--variant", "one: gc.merge=false", "--variant", "two: gc.merge=false").out
    assert f"2 of 2 drives prepared earlier with this configuration and seed: state taken from {folder}" in compared


def test_a_quick_preparation_leaves_nothing(folder: Path) -> None:
    ssdlab.run(set={**DRIVE, "ftl.precondition.kind": "steady"}, requests=50)
    assert not folder.exists()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "/home/someone/.cache/ssdlab/states"),
        ({"XDG_CACHE_HOME": "/scratch/cache"}, "/scratch/cache/ssdlab/states"),
        ({"XDG_CACHE_HOME": "relative"}, "/home/someone/.cache/ssdlab/states"),
        ({"XDG_CACHE_HOME": "/scratch/cache", states.FOLDER_VARIABLE: "/other"}, "/other"),
        ({states.FOLDER_VARIABLE: ""}, None),
    ],
)
def test_the_folder(given: dict[str, str], expected: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", "/home/someone")
    for name in ("XDG_CACHE_HOME", states.FOLDER_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert states.state_folder() == (None if expected is None else Path(expected))


def test_the_folder_on_a_mac_and_of_runs_that_use_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setenv("HOME", "/Users/someone")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv(states.FOLDER_VARIABLE)
    assert states.state_folder() == Path("/Users/someone/Library/Caches/ssdlab/states")
    monkeypatch.setattr(states, "_used", True)
    states.use_states(False)
    assert states.state_folder() is None
