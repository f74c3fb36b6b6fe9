"""Commands start at once: they do not import modules that they do not need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PATIENCE_S

RUN = ("run", "--device", "demo-4g", "--scheme", "pgc", "--workload", "lee2013-synthetic", "--requests", "100")
LIBRARIES = {"numpy", "pyarrow", "matplotlib", "rich", "pydantic", "typer"}
"""Libraries whose import takes longer than a short command."""
IMPORTED = """
import json, sys
sys.argv = ["ssdlab", *sys.argv[1:]]
from ssdlab.__main__ import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
FROM_PYTHON = """
import json, ssdlab, sys
ssdlab.run(device="demo-4g", scheme="pgc", workload="lee2013-synthetic", requests=100).digest
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
ROOM = 4
"""Factor by which the budget may be exceeded: imports are tested above; this test finds other slowdowns."""


def imported(script: str, *arguments: str, folder: Path) -> set[str]:
    """The modules that a script has imported at its end."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    ("words", "needed", "most"),
    [
        (("--version",), set(), 75),
        (("--help",), {"typer"}, 195),
        ((*RUN, "--json"), {"typer"}, 230),
        (RUN, {"typer", "rich"}, 290),
        (("trace", "--help"), {"typer"}, 195),
        (("list", "schemes"), {"typer"}, 200),
    ],
    ids=["version", "help", "run as JSON", "run", "help of a group", "list"],
)
def test_a_command_imports_what_it_needs(words: tuple[str, ...], needed: set[str], most: int, tmp_path: Path) -> None:
    modules = imported(IMPORTED, *words, folder=tmp_path)
    assert modules & LIBRARIES == needed
    assert len(modules) <= most, len(modules)


def test_the_report_and_tables_of_requests_are_imported_where_they_are_asked_for(tmp_path: Path) -> None:
    modules = imported(IMPORTED, *RUN, "--out", "out", folder=tmp_path)
    assert "ssdlab.pages.report.page" in modules
    assert "matplotlib" not in modules
    assert "ssdlab.pages.report" not in imported(IMPORTED, *RUN, folder=tmp_path)


def test_a_run_from_python_imports_no_command_line(tmp_path: Path) -> None:
    modules = imported(FROM_PYTHON, folder=tmp_path)
    assert not modules & LIBRARIES
    assert not [name for name in modules if name.startswith("ssdlab.cli")]


@pytest.mark.parametrize(("words", "budget_s"), [(("--version",), 0.12), (("--help",), 0.12), (RUN, 0.25)], ids=["version", "help", "run"])
def test_a_command_takes_no_more_processor_time_than_its_budget(words: tuple[str, ...], budget_s: float, tmp_path: Path) -> None:
    assert min(processor_s(words, tmp_path) for _ in range(5)) < ROOM * budget_s


def processor_s(words: tuple[str, ...], folder: Path) -> float:
    """Processor time of a command in a process of its own, s."""
    process = subprocess.Popen([sys.executable, "-m", "ssdlab", *words], cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime
