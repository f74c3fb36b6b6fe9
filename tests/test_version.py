"""The commit that results name: what the build script of the core finds in the folder of its sources."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import ssdlab
from conftest import DRIVE, ROOT

PACKAGE = "crates/ssdlab-python"


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The build script, which needs no crate."""
    built = tmp_path_factory.mktemp("script") / "build"
    subprocess.run(["rustc", "--edition", "2024", ROOT / PACKAGE / "build.rs", "-o", built], check=True)
    return built


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Sources of ssdlab as from an archive, without a repository."""
    folder = tmp_path / "outer" / "ssdlab"
    (folder / PACKAGE).mkdir(parents=True)
    shutil.copy(ROOT / PACKAGE / "build.rs", folder / PACKAGE)
    (folder / "docs").mkdir()
    (folder / "Cargo.toml").write_text("[workspace]\n")
    return folder


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.org", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path) -> str:
    """Commits all files of a new repository; returns its commit."""
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return git(folder, "rev-parse", "--short=10", "HEAD")


def named(script: Path, sources: Path) -> str:
    """The commit that the build script names."""
    environment = os.environ | {"CARGO_MANIFEST_DIR": str(sources / PACKAGE)}
    done = subprocess.run([script], check=True, capture_output=True, text=True, env=environment)
    (found,) = re.findall("^cargo::rustc-env=SSDLAB_COMMIT=(.*)$", done.stdout, re.MULTILINE)
    return str(found)


def test_the_commit_is_named_and_changed_sources_are_told(script: Path, sources: Path) -> None:
    first = commit(sources)
    assert named(script, sources) == f"g{first}"
    (sources / "docs" / "page.md").write_text("a page, of which no result is made")
    assert named(script, sources) == f"g{first}"
    (sources / "crates" / "new.rs").write_text("")
    assert named(script, sources) == f"g{first}.dirty"


def test_sources_without_a_repository_of_their_own_name_no_commit(script: Path, sources: Path) -> None:
    assert not named(script, sources)
    (sources.parent / "other.txt").write_text("")
    git(sources.parent, "init", "-q")
    git(sources.parent, "add", "other.txt")
    git(sources.parent, "commit", "-q", "-m", "another project")
    assert not named(script, sources)
    shutil.move(sources.parent / ".git", sources / ".git")
    assert not named(script, sources)


def test_a_result_names_version_and_commit() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?(\+g[0-9a-f]{10}(\.dirty)?)?", ssdlab.__version__)
    assert ssdlab.run(set=DRIVE, requests=10)["version"] == ssdlab.__version__
