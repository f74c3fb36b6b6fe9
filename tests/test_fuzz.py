"""`make fuzz` refuses a budget that libFuzzer would ignore, and reports the targets that it leaves out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "fuzz" / "run.py"


def fuzz(**env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT], env={**os.environ, **env}, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["SECONDS", "INPUTS"])
@pytest.mark.parametrize("value", ["0", "-1", "1m", "1e6", "many"])
def test_a_budget_that_is_no_number_is_refused(name: str, value: str) -> None:
    done = fuzz(**{"INPUTS": "", "SECONDS": "", name: value})
    assert done.returncode == 1
    assert done.stderr == f"error: {name}={value}: expected a whole number from 1 on, such as {name}=600\n"


def test_a_reader_that_there_is_not_is_refused() -> None:
    done = fuzz(ONLY="state trac")
    assert done.returncode == 1
    assert done.stderr.startswith("error: ONLY=trac: expected some of trace, ")


def test_without_cargo_the_readers_in_rust_are_left_out(tmp_path: Path) -> None:
    done = fuzz(ONLY="state", PATH=str(tmp_path), SECONDS="1", INPUTS="")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "LEFT OUT: fuzzing of the readers in Rust: there is no cargo to build them\n"
