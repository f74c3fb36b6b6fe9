"""The steps of continuous integration, and its failures."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT

MAKE = """#!/bin/sh
case "$*" in
*test*)
    echo "test result: ok. 7 passed; 0 failed"
    echo "SKIPPED [2] tests/browser.py:90: no browser"
    echo "== 5 passed, 2 skipped in 1.00s =="
    exit $TEST ;;
*lint*)
    echo "lint ran"
    exit $LINT ;;
*msrv*)
    echo "LEFT OUT: the build with Rust 1.2"
    exit $MSRV ;;
esac
"""


@pytest.mark.parametrize(("test", "lint", "msrv"), [(0, 0, 0), (2, 0, 0), (0, 2, 0), (0, 0, 2)])
def test_ci_fails_with_any_target_and_ends_with_what_was_left_out_and_counted(test: int, lint: int, msrv: int, tmp_path: Path) -> None:
    make = tmp_path / "make"
    make.write_text(MAKE)
    make.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "TEST": str(test),
        "LINT": str(lint),
        "MSRV": str(msrv),
    }
    done = subprocess.run(["bash", ROOT / ".ci" / "run", "msrv"], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (test == lint == msrv == 0)
    before, _, summary = done.stdout.partition("== summary ==\n")
    assert "lint ran" in before, "lint runs whatever the tests did"
    assert re.sub(r"\d+ s$", "0 s", summary, flags=re.MULTILINE).splitlines() == [
        f"make test: {'failed' if test else 'passed'} in 0 s",
        f"make lint: {'failed' if lint else 'passed'} in 0 s",
        f"make msrv: {'failed' if msrv else 'passed'} in 0 s",
        "test result: ok. 7 passed; 0 failed",
        "SKIPPED [2] tests/browser.py:90: no browser",
        "LEFT OUT: the build with Rust 1.2",
        "== 5 passed, 2 skipped in 1.00s ==",
    ]
