"""Pages of study results: tables, figures, deviations from the papers, and published against measured numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from ssdlab._core import write_file
from ssdlab.asking.keys import read_file
from ssdlab.errors import UsageError
from ssdlab.experiments.study import page_html, page_markdown
from ssdlab.experiments.study.effects import Effect, csv_text, effects_of
from ssdlab.experiments.study.page_parts import PARTS, measured_of
from ssdlab.experiments.study.results import Ran, collect
from ssdlab.system.folders import make_folder

__all__ = ["write"]

CSV, SVG, PAGE = "effects.csv", "effects.svg", "effects.md"
"""Files on published numbers: table, figure and page."""
REAL = "real"
REAL_CAUSES = "What is known of the causes is in docs/evidence/calibrated-drives.md (What is missed)."
REAL_ABOUT = (
    "Each study compares a calibrated drive (docs/evidence/calibrated-drives.md), which is a device preset, with public measurements of "
    "the real one. Rows marked as calibrated are those that the preset was fitted to; the others are predictions. The page of calibrated "
    "drives has more rows (most means, rates below saturation, the 99th percentile of writes, a second unit of a drive). It also "
    "says what is missed, and why."
)
"""Description of studies that are not from a paper."""


def write(folder: Path, out: Path) -> int:
    """Writes pages of the study results in `folder`; returns the number of studies.

    Args:
        folder: folder with the results of studies.
        out: `.html` for one page with embedded figures; `.md` for one page with its figures in a folder beside it; a name without an ending
            for a folder that gets a page for each paper, `studies-PAPER.md`, and `effects.md` with the figure of published against measured
            numbers. `effects.csv` in the same folder has all published numbers.

    Raises:
        UsageError: `out` has another ending, or `folder` has no results.
    """
    if out.suffix not in (".html", ".md", ""):
        raise UsageError(f"{out}: expected a name that ends with .html or .md, or a folder")
    studies = collect(folder, PARTS)
    effects = effects_of(studies)
    if out.suffix == ".html":
        _write_html(out, studies, effects)
    elif out.suffix == ".md":
        _write_markdown(out, studies, effects)
    else:
        _write_folder(out, studies, effects)
    if effects:
        write_file((out if not out.suffix else out.parent) / CSV, csv_text(effects))
    return len(studies)


def _write_html(page: Path, studies: Sequence[Ran], effects: Sequence[Effect]) -> None:
    write_file(page, page_html.page(studies, _picture(effects)[1] if effects else None))


def _write_markdown(page: Path, studies: Sequence[Ran], effects: Sequence[Effect]) -> None:
    figures = page.parent / page.stem
    _write_figures(figures, studies)
    part = ""
    if effects:
        _write_picture(figures / SVG, effects)
        part = page_markdown.effects_part(studies, f"{page.stem}/{SVG}", CSV)
    write_file(page, page_markdown.page("Studies", studies, measured_of(studies), partial(_figure_name, page.stem), effects=part))


def _write_folder(folder: Path, studies: Sequence[Ran], effects: Sequence[Effect]) -> None:
    make_folder(folder)
    measured = measured_of(studies)
    for paper, members in groupby(studies, key=lambda ran: str(ran[1]["study"]).split("/", maxsplit=1)[0]):
        of_paper, stem = list(members), f"studies-{paper}"
        _write_figures(folder / stem, of_paper)
        title, about, causes = _about(paper)
        write_file(
            folder / f"{stem}.md", page_markdown.page(title, of_paper, measured, partial(_figure_name, stem), about=about, causes=causes)
        )
    if effects:
        _write_picture(folder / SVG, effects)
        write_file(folder / PAGE, page_markdown.effects_page(studies, SVG, CSV))


def _about(paper: str) -> tuple[str, str, str]:
    """Title and description of a paper's page, and where causes are explained, if not with the studies."""
    again = f"`ssdlab study run {paper}` runs them again.\n\n"
    if paper == REAL:
        return "What the studies of real drives found", f"{REAL_ABOUT} {again}", REAL_CAUSES
    return f"What the studies of {paper} found", f"Each study repeats an experiment of {paper}, or asks what it leaves open; {again}", ""


def _figure_name(stem: str, study: Mapping[str, Any]) -> str:
    return f"{stem}/{study['study'].replace('/', '-')}.svg"


def _write_figures(folder: Path, studies: Sequence[Ran]) -> None:
    """Copies the figures of the studies into a folder."""
    for source, study in studies:
        figure = source / "figure.svg"
        if figure.is_file():
            make_folder(folder)
            write_file(folder.parent / _figure_name(folder.name, study), read_file(figure))


def _write_picture(path: Path, effects: Sequence[Effect]) -> None:
    make_folder(path.parent)
    write_file(path, _picture(effects)[0])


def _picture(effects: Sequence[Effect]) -> tuple[str, bytes]:
    """The figure of published against measured numbers, as SVG and PNG."""
    # imported here because matplotlib takes longer than a page of text
    from ssdlab.experiments.study.effects_figure import draw  # noqa: PLC0415

    return draw(effects)
