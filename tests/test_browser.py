"""The browser of the tests: the choice, and the messages without one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import find_browser
from conftest import ROOT
from find_browser import HELP, MISSING, PACKAGE, Browser


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine without a browser: the only folder on its PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(find_browser, "FOLDER", tmp_path / "unpacked")
    find_browser.found.cache_clear()
    yield tmp_path
    find_browser.found.cache_clear()


PLUGIN = """
import pathlib, find_browser
find_browser.FOLDER = pathlib.Path("/nonexistent")
from conftest import pytest_terminal_summary
"""
TESTS = """
from browser import browser

def test_a_page(tmp_path):
    with browser(tmp_path) as page:
        assert page

test_another = test_a_page
"""


@pytest.mark.parametrize("ci", [False, True], ids=["by hand", "CI"])
def test_without_a_browser_pages_are_left_out_in_a_line_and_fail_in_ci(ci: bool, bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bare / "without_browser.py").write_text(PLUGIN)
    (bare / "test_pages.py").write_text(TESTS)
    monkeypatch.setenv("CI", "true" if ci else "")
    monkeypatch.setenv("PYTHONPATH", f"{bare}:{ROOT / 'tests'}")
    command = [sys.executable, "-m", "pytest", "-p", "without_browser", "--rootdir", str(bare), str(bare)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    *_, told, counts = done.stdout.splitlines()
    if ci:
        assert done.returncode == 1
        assert "2 failed" in counts
        assert f"Failed: {MISSING}: {HELP}" in done.stdout
    else:
        assert done.returncode == 0, done.stdout
        assert "2 skipped" in counts
        assert told == f"LEFT OUT: 2 tests of pages, as {MISSING}: {HELP}"


def test_a_browser_on_path_that_does_not_start_is_not_used(bare: Path) -> None:
    """Some systems have a `chromium-browser` that only prints how to install another package."""
    stub = bare / "chromium-browser"
    stub.write_text("#!/bin/sh\necho install the snap >&2\nexit 1\n")
    stub.chmod(0o755)
    assert not Browser(str(stub)).works()
    assert find_browser.found() is None


def test_no_way_to_a_browser_is_said_and_is_no_failure(
    bare: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without npm and apt-get, the message says what to install."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    find_browser.main()
    *tried, last = capsys.readouterr().out.splitlines()
    assert [line.partition(" brought none")[0] for line in tried if "brought none" in line] == ["npm", "apt-get"]
    assert last == f"{MISSING}: {HELP}"


def test_the_packages_of_the_browser_are_pinned_by_hash_and_name_no_host() -> None:
    packages = json.loads((PACKAGE / "package-lock.json").read_text())["packages"]
    assert len(packages) > 1
    for place, package in packages.items():
        assert not place or package["integrity"].startswith("sha512-"), place
        assert "resolved" not in package, place
