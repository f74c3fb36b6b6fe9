"""Hook of mkdocs: adds the pages and pictures of the site that are made of stored tables, of the sources, and of help texts.

`PICTURES=none` leaves out the figures of studies, which take most of the time.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).resolve().parent))

import calibrated_drives
import cliffs_page
import command_reference
import cross
import findings
import stored_studies

TABLES = "tables"
"""Folder of the site with the pages of studies."""
AT_TOP = ("effects.md", "effects.svg", "effects.csv")
"""Files of these that are at the top of the site."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages to those in `docs`."""
    for path, content in made(drawn=os.environ.get("PICTURES") != "none"):
        files.append(File.generated(config, path, content=content))
    return files


def made(*, drawn: bool) -> Iterator[tuple[str, str]]:
    """Path and text of each page and picture."""
    yield "reference/cli.md", command_reference.page()
    yield "cliffs-rows.md", cliffs_page.page()
    yield "findings-in-full.md", findings.page()
    yield from cross.files(drawn=drawn)
    yield from ((f"evidence/{name}", text) for name, text in calibrated_drives.files(pictures=drawn))
    yield from of_studies(drawn=drawn)


def of_studies(*, drawn: bool) -> Iterator[tuple[str, str]]:
    """Pages of all stored studies, with their figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stored_studies.write_pages(folder, drawn=drawn)
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            place = file.relative_to(folder).as_posix()
            yield (place if place in AT_TOP else f"{TABLES}/{place}"), file.read_text(encoding="utf-8")
