"""The guard of the speed: results that it accepts, and its message if it cannot count instructions."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import sys
import tomllib
from types import ModuleType

import pytest

from conftest import ROOT

KEPT = {"npgc": 10_000, "rwp": 5_000}


@pytest.fixture(name="guard")
def _guard() -> ModuleType:
    """The script as a module."""
    path = ROOT / "benches" / "instructions.py"
    spec = importlib.util.spec_from_file_location("instructions", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("npgc", "passes"), [(10_000, True), (10_500, True), (10_501, False), (9_000, True)])
def test_five_percent_more_instructions_pass(npgc: int, passes: bool, guard: ModuleType) -> None:
    lines, passed = guard.compared(KEPT, {**KEPT, "npgc": npgc})
    assert passed == passes
    assert ("MORE than 5 % above" in lines[0]) == (not passes)
    assert "MORE" not in lines[1]
    assert ("fewer" in lines[0]) == (npgc < 9_500)


@pytest.mark.parametrize("now", [{"npgc": 10_000}, {**KEPT, "pgc": 1}])
def test_a_run_that_is_kept_and_not_counted_or_the_reverse_is_a_failure(now: dict[str, int], guard: ModuleType) -> None:
    lines, passed = guard.compared(KEPT, now)
    assert not passed
    assert sum("in only one of" in line for line in lines) == 1


def test_the_kept_counts_are_as_the_script_writes_them(guard: ModuleType) -> None:
    kept = guard.FILE.read_text()
    counts = tomllib.loads(kept)
    assert guard.written(counts) == kept
    assert len(counts) >= 8


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("true", 1)])
def test_without_a_counter_the_guard_is_left_out_and_under_ci_fails(
    ci: str, code: int, guard: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert guard.main() == code
    assert capsys.readouterr().out == "LEFT OUT: instruction counts: valgrind is not on PATH (Debian: apt install valgrind)\n"


def test_another_instruction_set_has_no_counts(guard: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: sys.executable)
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(guard.MissingError, match="those of x86_64, and this is aarch64"):
        guard.valgrind()
