"""Markdown pages for the tests of the documentation: code blocks in order, and links.

Meaning of a block by its language:

| block | meaning |
|---|---|
| `sh` | run by bash, in the page's folder; PATH has only `ssdlab`, `python` and the programs in `PROGRAMS` |
| `python` | run by Python, in the same folder |
| `text` | output of the preceding `sh` or `python` block, see `differs` |
| `toml`, `csv`, `python` after a line with only a file name (`` `mine.toml`: ``) | that file, written to the folder for later blocks |
| other `toml` | parsed |
| `rust` | an example of the crate, compiled and run by `cargo test` |
| `console` | not run by a test; its programs are listed in `test_docs.py`, with the reason |
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from conftest import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>.*)$")
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)#\s]+)[^)]*\)")
FILE_NAME = re.compile(r"^`(?P<name>[\w./-]+)`:$")
# times and rates of the machine, which differ from those on the page
OF_THE_MACHINE = (
    (re.compile(r"(Simulated [\d.,]+ \w+) in .*"), r"\1 in ..."),
    (re.compile(r"[\d,]+ requests/s"), "... requests/s"),
    (re.compile(r"^ssdlab (\d\S*?)\+g\w+(\.dirty)?$"), r"ssdlab \1"),
)


@dataclass(frozen=True)
class Block:
    """A code block of a page."""

    page: Path
    line: int
    language: str
    text: str
    file: str | None
    """Name of the file, if the line before the block names one."""
    follows: bool
    """Whether only empty lines separate the block from the previous one."""

    @property
    def place(self) -> str:
        """File and line of the block, in the form that editors use."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """The code blocks of a page, in order."""
    found: list[Block] = []
    lines = page.read_text().splitlines()
    number, last, fence_end = 0, "", -1
    while number < len(lines):
        opening = FENCE.match(lines[number])
        if opening is None:
            last = lines[number].strip() or last
            number += 1
            continue
        place = f"{page.relative_to(ROOT)}:{number + 1}"
        assert not opening["indent"], f"{place}: a block begins at the start of its line, or it is not found everywhere"
        end = next((at for at in range(number + 1, len(lines)) if lines[at] == opening["fence"]), None)
        assert end is not None, f"{place}: a block without an end"
        named = FILE_NAME.match(last)
        follows = bool(found) and not any(line.strip() for line in lines[fence_end + 1 : number])
        text = "".join(f"{line}\n" for line in lines[number + 1 : end])
        found.append(Block(page, number + 1, opening["info"].strip(), text, named["name"] if named else None, follows))
        number, last, fence_end = end + 1, "", end
    return found


def pictures(page: Path) -> list[Path]:
    """The files of the page's pictures, in order."""
    return [page.parent / name for name in PICTURE.findall(page.read_text()) if "://" not in name]


def _lines(text: str) -> list[str]:
    for pattern, replacement in OF_THE_MACHINE:
        text = pattern.sub(replacement, text)
    # widths of columns depend on their content
    return [re.sub(r"[ ]{2,}|─+", " ", line).strip() for line in text.splitlines() if line.strip()]


def differs(shown: str, printed: str) -> str | None:
    """The difference between the shown and the printed output, as text; `None` if they agree.

    Widths of columns, empty lines and machine-dependent values are ignored. A line `...` matches any number of lines.
    """
    actual = _lines(printed)
    at, free = 0, False
    for wanted in _lines(shown):
        if wanted == "...":
            free = True
            continue
        place = next((index for index in range(at, len(actual) if free else min(at + 1, len(actual))) if actual[index] == wanted), None)
        if place is None:
            return f"expected the line\n  {wanted}\nfound\n  {actual[at] if at < len(actual) else '(the end)'}\nin\n{printed}"
        at, free = place + 1, False
    return None if free or at == len(actual) else f"more is printed than the page shows:\n{printed}"
