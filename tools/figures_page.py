"""Writes docs/gallery.md: each figure of the studies and of sweeps/cross, what was published beside it, and the command that makes it.

    python tools/figures_page.py

Everything comes from pages that other commands wrote: the figures and tables of docs/studies-NAME.md, and the figures of docs/cross.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "gallery.md"
PAPERS = ("lee2013", "bux2011", "elyasi2017", "wu2017", "ae2022", "real")
MOST_ROWS = 6
"""Maximum number of published numbers beside a figure."""
PICTURE = re.compile(r"^!\[(?P<title>[^\]]*)\]\((?P<file>[^)]+)\)$", re.MULTILINE)
HEADING = re.compile(r"^## (?P<study>[\w.-]+/[\w.-]+): (?P<title>.+)$", re.MULTILINE)
HEAD = """# Gallery

Each figure of the studies, beside what was published, and the command that makes it again. The figures are stored with the pages of the
studies, which have all numbers, the deviations and the grades. How the published numbers compare over all: [Published against
measured](effects.md).

<!-- written by `python tools/figures_page.py` -->
"""
CROSS = """
## Every mechanism beside every other

```console
$ ssdlab sweep sweeps/cross/cross.toml --out results/cross
$ python tools/cross.py store results/cross/results.parquet sweeps/cross/cross.parquet
$ python tools/cross.py page
```
"""


@dataclass(frozen=True)
class Shown:
    """A figure of a study."""

    study: str
    title: str
    file: str
    rows: tuple[tuple[str, ...], ...]
    """Finding, published and simulated number, and grade of rows with a published number."""


def shown(paper: str) -> Iterator[Shown]:
    """The figures of a paper's page, in its order."""
    text = (DOCS / f"studies-{paper}.md").read_text()
    marks = [*HEADING.finditer(text)]
    for mark, later in zip(marks, [*marks[1:], None], strict=True):
        section = text[mark.end() : later.start() if later else len(text)]
        for picture in PICTURE.finditer(section):
            yield Shown(mark["study"], mark["title"], picture["file"], tuple(published(section)))


def published(section: str) -> Iterator[tuple[str, ...]]:
    """The rows of a section's table that have a published number."""
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 7 and re.match(r"[-\u2265\u2264]?\s?\d", cells[1]):
            yield cells[0], cells[1], cells[2], cells[6]


def lines(figure: Shown) -> Iterator[str]:
    """The lines of a figure."""
    yield f"### {figure.title}"
    yield ""
    yield f"![{figure.title}]({figure.file})"
    yield ""
    if figure.rows:
        yield "| finding | published | simulated | grade |"
        yield "|---|--:|--:|---|"
        yield from (f"| {' | '.join(row)} |" for row in figure.rows[:MOST_ROWS])
        yield ""
        more = len(figure.rows) - MOST_ROWS
        if more > 0:
            yield f"{more} more on the page of the study."
            yield ""
    yield f"`ssdlab study run {figure.study}`"
    yield ""


def page() -> str:
    """The page."""
    parts = [HEAD]
    for paper in PAPERS:
        parts.append(f"## {paper}\n\nAll numbers: [studies of {paper}](studies-{paper}.md).\n")
        parts += ["\n".join(lines(figure)) for figure in shown(paper)]
    parts.append(CROSS)
    text = (DOCS / "cross.md").read_text()
    parts += [f"{picture[0]}\n" for picture in PICTURE.finditer(text)]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
