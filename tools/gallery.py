"""Makes the pictures of README.md and docs/index.md: runs the commands of these pages, and takes pictures of the pages that they write.

Run it by `make gallery`, on Linux. A picture that a command writes (`ssdlab plot -o tail.svg`) is copied. `SHOTS` says how the others are
taken. `tests/test_docs.py` compares the copied pictures whenever it runs the commands.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from PIL import Image  # it comes with matplotlib

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from browser import Page, browser  # noqa: E402 (beside the tests that use the same browser)
from pages import Block, blocks, pictures  # noqa: E402 (beside the tests that run the same blocks)

SHOWING = (ROOT / "README.md", ROOT / "docs" / "index.md")
MOST_BYTES = 150_000
COLOURS = 128
"""Colours of a picture of a page: more are not seen, and take more room. Those farthest apart are kept, also of thin lines."""


@dataclass(frozen=True)
class Shot:
    """How to take a picture of a page."""

    page: str
    actions: tuple[str, ...] = ()
    """Script expressions that are evaluated first, in order."""
    top: str | None = None
    """Selector of the element at the top of the picture; the page's top without it."""
    width: int = 1100
    height: int = 760


FIND_READ = (
    "document.getElementById('search-kind').value = 'request'",
    "document.getElementById('search-number').value = '717'",
    "document.getElementById('search').requestSubmit()",
    "document.getElementById('zoom-selected').click()",
    "for (let i = 0; i < 2; i++) document.getElementById('zoom-out').click()",
    "document.getElementById('scroller').scrollTop = 45",
)
LATE = "results/late/timeline.html"
OPEN_ROW = """
    const rows = [...document.querySelectorAll('details')];
    const row = rows.find(row => [...row.querySelectorAll('summary *')].some(cell => cell.textContent === '717'));
    row.open = true;
    row.id = 'shown';
"""
SHOTS = {
    "report.png": Shot("results/nvme/report.html", width=1200, height=860),
    "why.png": Shot("results/late/report.html", (OPEN_ROW,), top="#shown", height=460),
    "timeline.png": Shot(LATE, FIND_READ, top="#search", height=1000),
    "blocks.png": Shot(LATE, ("for (let i = 0; i < 150; i++) document.getElementById('block-on').click()",), top="#breathing", height=900),
}
"""Pictures of pages, by file name. A name with `-dark` before its ending is the dark version."""


def run(block: Block, folder: Path) -> None:
    """Runs a code block in a folder, or writes the file that it is."""
    if block.file is not None:
        (folder / block.file).write_text(block.text)
    elif block.language == "sh":
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        subprocess.run(["bash", "-euo", "pipefail", "-c", block.text], cwd=folder, env=os.environ | {"PATH": path}, check=True)


def take(shot: Shot, file: Path, page: Page, folder: Path, *, dark: bool) -> None:
    """Takes a picture of a page, with few colours."""
    page.open(folder / shot.page, width=shot.width, height=shot.height, dark=dark)
    for action in shot.actions:
        page.value(f"{{ {action} }}")
    top = page.value(f"document.querySelector('{shot.top}').getBoundingClientRect().top + scrollY - 8") if shot.top else 0
    page.until(f"document.documentElement.scrollHeight >= {top + shot.height}")  # canvases grow after their first frame
    page.screenshot(file, height=shot.height, top=top)
    with Image.open(file) as picture:
        few = picture.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(file, optimize=True)


def made(folder: Path, page: Page) -> Iterator[Path]:
    """Writes the pictures of all pages; yields each."""
    for block in (block for shown in SHOWING for block in blocks(shown)):
        run(block, folder)
    for shown in SHOWING:
        for picture in pictures(shown):
            if (folder / picture.name).exists():
                picture.write_bytes((folder / picture.name).read_bytes())
            else:
                light = picture.name.replace("-dark", "")
                if light not in SHOTS:
                    sys.exit(f"{picture.name}: no command of {shown.name} writes this picture; add it to SHOTS")
                take(SHOTS[light], picture, page, folder, dark=light != picture.name)
            yield picture


def main() -> None:
    """Makes all pictures, and prints their sizes."""
    with tempfile.TemporaryDirectory() as name, browser(Path(name) / "profile") as page:
        folder = Path(name) / "work"
        folder.mkdir()
        (folder / "traces").symlink_to(ROOT / "traces")
        for picture in made(folder, page):
            size = picture.stat().st_size
            print(f"{picture.relative_to(ROOT)}: {size:,} bytes")
            if size > MOST_BYTES:
                sys.exit(f"{picture.name}: larger than {MOST_BYTES:,} bytes: draw it narrower, or take less of the page")


if __name__ == "__main__":
    main()
