"""The commands and examples in README and docs are run, so that they stay true."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[tuple[str, str]]:
    """The code blocks of a language, with the page they are on."""
    return [(page.name, text) for page in PAGES for tongue, text in BLOCK.findall(page.read_text()) if tongue == language]


def commands() -> list[tuple[str, str]]:
    """The `ssdlab` commands of the shell blocks; a backslash at a line's end continues it."""
    lines = [(page, line.strip()) for page, text in blocks("sh") for line in text.replace("\\\n", " ").splitlines()]
    return [(page, line.split(" #")[0]) for page, line in lines if line.startswith("ssdlab ")]


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the pages' paths exist; the commands of all pages share it, as a reader's shell would."""
    folder = tmp_path_factory.mktemp("docs")
    for name in ("traces", "presets"):
        (folder / name).symlink_to(ROOT / name)
    return folder


@pytest.mark.parametrize(("page", "line"), commands())
def test_command(page: str, line: str, workplace: Path) -> None:
    words = shlex.split(line)
    done = subprocess.run(
        [sys.executable, "-m", "ssdlab", *words[1:]], cwd=workplace, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("page", "code"), blocks("python"))
def test_python_example(page: str, code: str, workplace: Path) -> None:
    done = subprocess.run([sys.executable, "-c", code], cwd=workplace, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr


def test_pages_have_commands() -> None:
    """Should the pattern above stop to match, the tests above would pass by being none."""
    assert len(commands()) >= 10
    assert len(blocks("python")) >= 3


def test_names_in_the_policy_space() -> None:
    """The page of schemes names keys and counters in passing: each is a key of the configuration or a figure of the result."""
    page = (ROOT / "docs" / "schemes.md").read_text()
    command = "run --device lee2013 --scheme pgc --workload lee2013-synthetic --requests 500 --json"
    done = subprocess.run([sys.executable, "-m", "ssdlab", *command.split()], capture_output=True, text=True, timeout=600, check=True)
    result = json.loads(done.stdout)

    def known(name: str) -> bool:
        for tree in (result, result["config"]):
            found = tree
            for part in name.split("."):
                found = found.get(part) if isinstance(found, dict) else None
            if found is not None:
                return True
        return False

    names = set(re.findall(r"`((?:gc|counters|device|ftl|scheduler)\.[a-z0-9_.]+)(?:=[^`]*)?`", page))
    assert len(names) > 25
    assert not {name for name in names if not known(name)}
