"""Hook of mkdocs: adds the pages and pictures of the site that are made of stored tables, of the sources, and of help texts.

`PICTURES=none` leaves out the figures of studies, which take most of the time.
"""

from __future__ import annotations

import csv
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).resolve().parent))

import calibrated_drives
import command_reference
import stored_studies

from ssdlab import _core

DOCS = Path(__file__).resolve().parent.parent / "docs"
TABLES = "tables"
"""Folder of the site with the pages of studies."""
AT_TOP = ("effects.md", "effects.svg", "effects.csv")
"""Files of these that are at the top of the site."""


CSV_PAGES = {
    "cliffs-rows.md": ("Write cliffs, all rows", "cliffs/predictions.csv"),
    "performance-budget.md": ("The speed budget", "performance/budget.csv"),
    "performance-parts.md": ("Where the instructions go", "performance/parts.csv"),
    "performance-tried.md": ("What was tried for speed", "performance/tried.csv"),
    "evidence/survivors.md": ("Mutants that no test caught at first", "evidence/survivors.csv"),
}
"""Pages that show a table of `docs`: title, and file."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages to those in `docs`."""
    for path, content in made(drawn=os.environ.get("PICTURES") != "none"):
        files.append(File.generated(config, path, content=content))
    return files


def made(*, drawn: bool) -> Iterator[tuple[str, str]]:
    """Path and text of each page and picture."""
    yield "configuration.md", filtered(_core.configuration_reference())
    yield "reference/statistics.md", filtered(_core.statistics_reference())
    yield "reference/cli.md", filtered(command_reference.page())
    for name, (title, path) in CSV_PAGES.items():
        yield name, f"# {title}\n\n{table(DOCS / path)}"
    yield from ((f"evidence/{name}", text) for name, text in calibrated_drives.files())
    yield from of_studies(drawn=drawn)


def filtered(page: str) -> str:
    """A page with a field below its title that filters the rows of its tables (`javascripts/filter.js`)."""
    title, rest = page.split("\n", 1)
    return f'{title}\n\n<div class="filtered"></div>\n{rest}'


def table(path: Path) -> str:
    """A CSV file as a table in Markdown."""
    with path.open(encoding="utf-8", newline="") as file:
        heads, *rows = [[cell.replace("|", "\\|") for cell in row] for row in csv.reader(file)]
    lines = [[head.replace("_", " ") for head in heads], ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def of_studies(*, drawn: bool) -> Iterator[tuple[str, str]]:
    """Pages of all stored studies, with their figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stored_studies.write_pages(folder, drawn=drawn)
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            place = file.relative_to(folder).as_posix()
            yield (place if place in AT_TOP else f"{TABLES}/{place}"), file.read_text(encoding="utf-8")
