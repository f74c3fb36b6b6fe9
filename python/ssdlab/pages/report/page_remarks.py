"""The remarks on a page: as paragraphs, as references after numbers, and below figures."""

from __future__ import annotations

import html
from collections.abc import Iterable

from ssdlab.analysis.differences import of_variants
from ssdlab.analysis.remarks import Remark, Shown, from_dict, of_comparison, of_run, shown
from ssdlab.pages.report.runs import Runs

__all__ = ["NOTHING", "below_figure", "notes", "of", "sentences", "superscript", "warnings"]

NOTHING = Shown(())
"""No remarks."""
SHOWS = {
    **dict.fromkeys(
        ("latency_cdf", "latency_tail", "timeline", "breakdown", "queues", "glance_tail", "glance_breakdown"), "latency_ns.all"
    ),
    **dict.fromkeys(("gc", "free_blocks", "wear"), "gc.jobs"),
    "write_amplification": "gc.write_amplification",
}
"""Path of a number whose warnings also apply to a figure, by figure."""


def of(runs: Runs) -> Shown:
    """The remarks on the runs of a page."""
    if runs.seeds.get("seeds") and runs.remarks is not None:
        return shown(map(from_dict, runs.remarks))
    if len(runs) == 1:
        return shown(of_run(runs[0].data))
    differ = runs.seeds.get("differ") if runs.seeds.get("seeds") else None
    results = {run.label: run.data for run in runs}
    return shown([*of_variants(results, runs.variants), *of_comparison(results, seeds_differ=differ)])


def warnings(told: Shown) -> str:
    """A paragraph for each warning, with its reason folded below it."""
    return "".join(_folded(f"[{letter}] {remark}", remark.why, "warning") for letter, remark in told.lettered() if remark.is_warning)


def notes(told: Shown) -> str:
    """A paragraph for each remark that is not a warning, with its reason folded below it."""
    lettered = [(f"[{letter}] {remark}", remark.why) for letter, remark in told.lettered() if not remark.is_warning]
    return "".join(
        _folded(line, why) for line, why in [*lettered, *((f"{remark.headed} {remark.remedy}", "") for remark in told.footnotes)]
    )


def _folded(line: str, why: str, kind: str = "") -> str:
    """A line as a paragraph; one with a reason, which a click on it shows."""
    marked = f' class="{kind}"' if kind else ""
    if not why:
        return f"<p{marked}>{html.escape(line)}</p>\n"
    return f"<details{marked}><summary>{html.escape(line)}</summary><p>{html.escape(why)}</p></details>\n"


def superscript(found: Iterable[tuple[str, Remark]]) -> str:
    """The letters of remarks after a number, each with its sentence as a tooltip."""
    return "".join(
        f'<sup class="told{"" if remark.is_warning else " muted"}" title="{html.escape(remark.sentence)}">[{letter}]</sup>'
        for letter, remark in found
    )


def below_figure(told: Shown, key: str) -> str:
    """The warnings that apply to a figure."""
    return sentences(told.of(SHOWS[key]) if key in SHOWS else [])


def sentences(found: Iterable[tuple[str, Remark]]) -> str:
    """A paragraph for each remark, once, with its letter, to stand beside the numbers that it is about."""
    lines = {f"[{letter}] {remark.headed}": "warning" if remark.is_warning else "muted" for letter, remark in found}
    return "".join(f'<p class="{kind} small">{html.escape(line)}</p>' for line, kind in lines.items())
