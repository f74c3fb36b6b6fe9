"""A calibration that is interrupted leaves what it found so far, marked as partial, and goes on from there; its progress is always told."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ssdlab
from conftest import BASE_FILE, MEASURED, Ssdlab
from ssdlab.experiments.calibration import api
from ssdlab.experiments.calibration.fitting import RENEWED, _Slopes
from ssdlab.experiments.calibration.measurements import FullSpeed, Pattern, Point
from ssdlab.experiments.calibration.runs import Candidate, Runs, Simulated

SKEWED = "mine,zipf-shuffle,0.9,,filled once,4096,64,0.004,3000,1\n"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "base.toml").write_text(BASE_FILE)
    (tmp_path / "measured.csv").write_text(MEASURED + SKEWED)
    return tmp_path


class Stopped(Runs):
    """The simulator, with Ctrl-C once some pairs of candidate and point were simulated. Counts what it simulates."""

    after = 0
    simulated = 0

    def at(self, wanted: Sequence[tuple[Candidate, Point]]) -> list[Simulated | None]:
        if self.done >= self.after:
            raise ssdlab.Interrupted
        return super().at(wanted)


def calibrated(here: Path, **options: object) -> ssdlab.Calibration:
    return api.calibrate(here / "measured.csv", base=str(here / "base.toml"), jobs=1, **options)  # type: ignore[arg-type]


def test_what_was_found_before_is_partial(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = calibrated(here)
    monkeypatch.setattr(api, "Runs", Stopped)
    monkeypatch.setattr(Stopped, "after", whole.runs // 2)
    with pytest.raises(ssdlab.Interrupted) as stopped:
        calibrated(here)
    partial = stopped.value.finished["partial"]
    assert partial.is_partial
    assert not replace(whole, rows=(), is_partial=True).is_well_fitted
    assert replace(whole, rows=()).is_well_fitted
    assert partial.to_dict()["partial"] is True
    assert partial.to_dict()["missing_rows"] == partial.missing == len(whole.rows) - len(partial.rows)
    assert whole.missing == 0
    assert "partial" not in whole.to_dict()
    assert 0 < len(partial.rows) <= len(whole.rows)
    assert "Partial: " in tomllib.loads(partial.preset())["description"]
    assert "Partial: " not in whole.preset()
    monkeypatch.setattr(Stopped, "after", 0)  # before the end of the first step there is nothing to show
    with pytest.raises(ssdlab.Interrupted) as stopped:
        calibrated(here)
    assert stopped.value.finished == {}


def test_a_calibration_goes_on_from_its_journal(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, other = here / "runs.jsonl", here / "other.jsonl"
    whole = calibrated(here, journal=other)
    monkeypatch.setattr(api, "Runs", Stopped)
    monkeypatch.setattr(Stopped, "after", whole.runs // 2)
    with pytest.raises(ssdlab.Interrupted):
        calibrated(here, journal=journal)
    kept = journal.read_text().splitlines()
    assert 5 < len(kept) < len(other.read_text().splitlines())
    journal.write_bytes("\n".join(kept).encode() + b'\n{"run": "a line that was \xff cut o')
    monkeypatch.setattr(Stopped, "after", 10**9)
    again = calibrated(here, journal=journal)
    assert again.to_dict() == whole.to_dict()
    cut, *added = journal.read_text(errors="replace").splitlines()[len(kept) :]
    assert cut.endswith("cut o")
    assert sorted([*kept, *added]) == sorted(other.read_text().splitlines())


@pytest.mark.parametrize("name", ["measured.csv", "base.toml"])
def test_a_journal_is_not_what_the_calibration_reads(here: Path, name: str) -> None:
    before = (here / name).read_text()
    with pytest.raises(ssdlab.UsageError, match=f"{name} is what the run reads"):
        calibrated(here, journal=here / name)
    assert (here / name).read_text() == before


def test_runs_of_another_drive_are_not_taken_from_a_journal(here: Path) -> None:
    journal = here / "runs.jsonl"
    drive = Candidate(str(here / "base.toml"), api.SCHEME)
    point = FullSpeed(Pattern("uniform"), 4_000_000, 4096, 64)
    (first,) = Runs(seed=1, journal=journal).at([(drive, point)])
    slower = drive.with_changes({"device.program_ns": 900_000})
    for candidate, seed in ((drive, 1), (slower, 1), (drive, 2)):
        (found,) = Runs(seed=seed, journal=journal).at([(candidate, point)])
        assert [found] == Runs(seed=seed).at([(candidate, point)])
        assert (found == first) == ((candidate, seed) == (drive, 1))
    assert len(journal.read_text().splitlines()) == 3


def test_a_drive_of_twice_the_size_does_not_take_rates_from_the_journal_of_the_smaller_one(here: Path) -> None:
    """With twice the dies, buffer and requests its run is the same; its rates are twice as high."""
    drive = Candidate(str(here / "base.toml"), api.SCHEME)
    device, buffer = drive.tree()["device"], drive.tree()["buffer"]
    larger = drive.with_changes({"device.channels": 2 * device["channels"], "buffer.bytes": 2 * buffer["bytes"]})
    pairs = [(one, FullSpeed(Pattern("uniform"), times * 4_000_000, 4096, times * 64)) for one, times in ((drive, 1), (larger, 2))]
    found = [Runs(seed=1, journal=here / "runs.jsonl").at([pair])[0] for pair in pairs]
    assert found[0] is not None
    assert found[1] is not None
    assert found[1]["write_amplification"] == found[0]["write_amplification"]
    assert found[1]["write_iops"] == pytest.approx(2 * found[0]["write_iops"])


def test_ctrl_c_leaves_files_and_the_same_command_goes_on(here: Path, ssdlab_command: Ssdlab) -> None:
    words = ["calibrate", "measured.csv", "--base", str(here / "base.toml"), "--jobs", "1", "--out", "mine.toml", "--json"]
    (here / "mine.toml").write_text("# of an earlier calibration that was complete\n")
    started = subprocess.Popen(
        [sys.executable, "-m", "ssdlab", *words], cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    journal = here / "mine.runs.jsonl"
    while started.poll() is None and (not journal.exists() or len(journal.read_text().splitlines()) < 25):
        pass
    started.send_signal(signal.SIGINT)
    _, told = started.communicate(timeout=60)
    assert started.returncode == 130, told
    assert "the same command goes on" in told
    assert "marked as partial" in told
    assert json.loads((here / "mine.partial.rows.json").read_text())["partial"] is True
    assert (here / "mine.partial.toml").exists()
    assert "earlier calibration" in (here / "mine.toml").read_text()
    kept = len(journal.read_text().splitlines())
    run = ssdlab_command(*words, cwd=here)
    assert run.json() == calibrated(here).to_dict()
    assert kept >= 25
    assert not journal.exists()
    assert not list(here.glob("mine.partial.*"))
    assert "partial" not in json.loads((here / "mine.rows.json").read_text())


def test_progress_is_told_while_runs_go_on_and_only_grows(here: Path) -> None:
    told: list[tuple[str, float]] = []
    whole = calibrated(here, progress=lambda doing, share: told.append((doing, share)))
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert 0 <= shares[0] < shares[-1] <= 1
    assert len(told) > whole.runs / 2
    assert len(dict.fromkeys(doing for doing, _ in told)) > 5


def test_slopes_are_corrected_by_steps_and_simulated_again_now_and_then() -> None:
    """Two rows, of which each speaks of one of two parameters, with slopes of 2 and 3; the simulated ones are wrong."""
    asked: list[int] = []

    def simulated(_: np.ndarray) -> np.ndarray:
        asked.append(1)
        return np.array([[1.0, 0.0], [0.0, 1.0]])

    slopes = _Slopes(np.eye(2), simulated)
    for step in range(RENEWED):
        place = np.array([1.0, 1.0]) * step
        found = slopes.at(place, np.array([2.0, 3.0]) * place)
        assert len(asked) == 1
        assert found[0, 1] == found[1, 0] == 0
    assert np.diag(found) == pytest.approx([2.0, 3.0], rel=0.02)
    still = slopes.at(place, np.array([2.0, 3.0]) * place)
    assert len(asked) == 2
    assert np.diag(still) == pytest.approx([1.0, 1.0])
