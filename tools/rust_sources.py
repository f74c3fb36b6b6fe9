"""Locations of the Rust sources of the core, and of the tests in them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = [ROOT / "crates" / f"ssdlab{part}" / "src" for part in ("", "-base", "-keys", "-trace", "-result", "-drive")]
"""The sources of the crates of the core."""
TESTS_BEGIN = re.compile(r"^#\[cfg\(test\)\]\nmod \w+ \{", re.MULTILINE)
TEST_FILE = re.compile(r"^#\[cfg\(test\)\]\n(?:pub(?:\(\w+\))? )?mod (\w+);", re.MULTILINE)


def core_files() -> list[Path]:
    """All sources of the core except those compiled for tests only."""
    files = sorted(file for folder in CORE for file in folder.rglob("*.rs"))
    tests = set()
    for file in files:
        folder = file.parent if file.name in ("mod.rs", "lib.rs") else file.with_suffix("")
        tests |= {folder / f"{name}.rs" for name in TEST_FILE.findall(file.read_text())}
    return [file for file in files if file not in tests]


def lines_without_tests(file: Path) -> int:
    """Number of lines of a source before the tests at its end."""
    text = file.read_text()
    found = TESTS_BEGIN.search(text)
    return text[: found.start()].count("\n") if found else text.count("\n")


def module(file: Path) -> str:
    """The module of the core that a source belongs to."""
    folder = next(folder for folder in CORE if file.is_relative_to(folder))
    return file.relative_to(folder).parts[0].removesuffix(".rs")
