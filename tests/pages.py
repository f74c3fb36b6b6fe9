"""Markdown pages as the tests of the documentation see them: blocks of code, in order, and links.

What the language of a block means:

| block | is |
|---|---|
| `sh` | run by bash, in the page's folder; there is nothing on PATH but `ssdlab`, `python` and the few programs of `PROGRAMS` |
| `python` | run by Python, in the same folder |
| `text` | what the `sh` or `python` block before it prints, see `differs` |
| `toml`, `csv`, `python` below a line that is only a file's name (`` `mine.toml`: ``) | that file, put into the folder for what follows |
| `toml` otherwise | parsed |
| `rust` | an example of the crate, compiled and run by `cargo test` |
| `console` | what a test cannot run; its programs are listed in `test_docs.py`, with the reason |
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from conftest import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>.*)$")
FILE_NAME = re.compile(r"^`(?P<name>[\w./-]+)`:$")
# Times and rates of the machine that runs it: not those of the page.
OF_THE_MACHINE = (
    (re.compile(r"(Simulated [\d.,]+ \w+) in .*"), r"\1 in ..."),
    (re.compile(r"[\d,]+ requests/s"), "... requests/s"),
)


@dataclass(frozen=True)
class Block:
    """A block of code."""

    page: Path
    line: int
    language: str
    text: str
    file: str | None
    """The file that it is, where the line before it names one."""
    follows: bool
    """Nothing but empty lines are between it and the block before."""

    @property
    def place(self) -> str:
        """Where it is, as editors take it."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
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


def _lines(text: str) -> list[str]:
    for pattern, replacement in OF_THE_MACHINE:
        text = pattern.sub(replacement, text)
    # Columns are as wide as what stands in them.
    return [re.sub(r"[ ]{2,}|─+", " ", line).strip() for line in text.splitlines() if line.strip()]


def differs(shown: str, printed: str) -> str | None:
    """How what a page shows differs from what was printed; None if it does not.

    The widths of columns, empty lines and what depends on the machine do not matter. A line `...` stands for any lines.
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
