"""The page of a sweep: figures over the axes, and a table of the points that can be sorted and filtered."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ssdlab._core import write_file
from ssdlab.colours import COLOURS
from ssdlab.folders import RESULT_FILE, final
from ssdlab.measures import figures_of
from ssdlab.plans import value_text
from ssdlab.remarks import named, shown
from ssdlab.report import page_remarks
from ssdlab.report.encoding import as_script, numbers
from ssdlab.report.frame import DASHES, bar, framed, scroll
from ssdlab.report.summary import Place, places
from ssdlab.sweeping.points import SweepPoint
from ssdlab.sweeping.result import SweepResult
from ssdlab.uncertainty import Estimate, estimates

if TYPE_CHECKING:
    from ssdlab.sweeping.definition import SweepAxis

__all__ = ["page", "write"]

SEED = "seed"
FIRST = "latency_ns.all.p99"
"""Quantity that is shown initially."""
COLUMNS = {
    "latency_ns.all.mean": "mean",
    FIRST: "p99",
    "latency_ns.all.p99_9": "p99.9",
    "gc.write_amplification": "write amplification",
    "gc.jobs": "GC jobs",
    "iops": "requests/s",
}
"""Figures in the table of points, and their headings."""
MOST_FAILED = 20
HELP = (
    "Choose what is drawn, over which axis, and which axis makes lines and which makes panels. ← and → read a figure. "
    "Panels have one scale."
)


def write(sweep: SweepResult, path: Path) -> None:
    """Writes the page, completely or not at all."""
    write_file(path, page(sweep, final(path).parent))


def page(sweep: SweepResult, folder: Path) -> str:
    """Builds the page as text.

    Args:
        sweep: results of the sweep.
        folder: folder of the page, to which links to results are relative.
    """
    axes = ", ".join(axis for axis in sweep.axes if axis != SEED) or SEED
    title = f"Sweep over {axes}"
    body = [
        bar([]),
        f"<main>\n<h1>{html.escape(title)}</h1>\n",
        *_lead(sweep),
        '<section><h2>Over what was varied</h2><form class="choices" id="choices" aria-label="What is drawn"></form>'
        f'<figure id="sweep"><figcaption><p class="muted">{_about(sweep)} {HELP}</p></figcaption>'
        '<div class="plots"></div></figure></section>\n',
        f"<noscript><p>Figures and table need JavaScript; {html.escape('results.csv')} has all numbers.</p></noscript>\n",
        '<section id="points"><h2>Points</h2><p class="muted">A heading sorts; the choices below it show a part. Each point links to its '
        'own result.</p><div id="filters" class="choices" role="group" aria-label="Which points are shown"></div>'
        f'<p id="shown" role="status" class="muted"></p>{scroll("<table id=rows></table>", "Points")}'
        '<button type="button" id="more" hidden>Show all</button> <button type="button" id="rows-csv">CSV</button></section>\n',
        f"<section><h2>How it was run</h2><pre tabindex=0><code>{html.escape(sweep.sweep.to_toml())}</code></pre></section>\n",
    ]
    return framed(title, body, as_script(_data(sweep, folder)), [])


def _lead(sweep: SweepResult) -> Iterator[str]:
    """Sentences with the number of points and what they have in common."""
    yield f'<p class="lead">{len(sweep):,} of {len(sweep.sweep):,} points.</p>\n'
    axes = [(axis.name, ", ".join(value.text for value in axis.values)) for axis in sweep.sweep.axes]
    given = (*sweep.sweep.options.items(), *sweep.sweep.set.items())
    same = [(key, value if isinstance(value, str) else value_text(value)) for key, value in given]
    rows = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>" for name, text in axes)
    told = ", ".join(f"{key} = {value}" for key, value in same)
    yield f'<dl class="about">{rows}{f"<dt>the same for all</dt><dd>{html.escape(told)}</dd>" if told else ""}</dl>\n'
    yield page_remarks.warnings(shown(sweep.remarks)) + page_remarks.notes(shown(sweep.remarks))
    failed = [f"{point.label} failed: {error}" for point, error in sweep.failed]
    more = [f"{len(failed) - MOST_FAILED:,} more points failed"] if len(failed) > MOST_FAILED else []
    left = [f"{len(sweep.left):,} points have no result yet"] if sweep.left else []
    for text in (*failed[:MOST_FAILED], *more, *left):
        yield f'<p class="warning">{html.escape(text)}.</p>\n'


def _about(sweep: SweepResult) -> str:
    seeds = len(sweep.axes.get(SEED, ()))
    means = f"Means over {seeds} seeds with their 95 % confidence intervals; where seeds disagree, medians with the range of all seeds."
    return means if seeds > 1 else "A mark for each point."


def _data(sweep: SweepResult, folder: Path) -> dict[str, Any]:
    """Data for the script: axes, points and their figures, and figures over seeds by combination of values."""
    axes = sweep.sweep.axes
    at = [[_index(axis, point.values[axis.name]) for axis in axes] for point in sweep]
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, values in enumerate(at):
        groups.setdefault(tuple(value for axis, value in zip(axes, values, strict=True) if axis.name != SEED), []).append(number)
    found = [figures_of(point.result) for point in sweep]
    return {
        "colours": len(COLOURS),
        "dashes": DASHES,
        "labels": [],
        "plots": {},
        "sweep": {
            "seed": SEED,
            "first": FIRST,
            "columns": COLUMNS,
            "axes": [{"name": axis.name, "texts": [value.text for value in axis.values], **_numbers(axis)} for axis in axes],
            "points": at,
            "links": [_link(point, folder) for point in sweep],
            "groups": [list(values) for values in groups],
            "figures": [_figure(place, found, list(groups.values())) for place in _places(found)],
            "told": {place: _told(sweep, place) for place in COLUMNS},
        },
    }


def _told(sweep: SweepResult, place: str) -> list[str]:
    """References to warnings about the number at a path of the result, for each point."""
    told = shown(sweep.remarks)
    return [told.mark(place, named(point.values)) for point in sweep]


def _index(axis: SweepAxis, value: Any) -> int:
    return next(index for index, entry in enumerate(axis.values) if entry.value == value and type(entry.value) is type(value))


def _numbers(axis: SweepAxis) -> dict[str, Any]:
    """Numeric values of an axis, which are drawn to scale."""
    values = [value.value for value in axis.values]
    plain = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    return {"numbers": values} if plain else {}


def _places(found: Sequence[Mapping[str, Any]]) -> list[Place]:
    """The figures that are not zero at every point."""
    return [place for place in places() if any(isinstance(row.get(place.place), int | float) and row[place.place] for row in found)]


def _figure(place: Place, found: Sequence[Mapping[str, Any]], groups: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Values of a figure at each point and, with several seeds, mean and half width of the interval of each combination.

    If seeds disagree, `ranges` has the smallest and largest value, and the median replaces the mean.
    """
    values = [row.get(place.place) for row in found]
    figure = {"place": place.place, "name": place.name, "unit": place.unit, "values": numbers(values)}
    if len(groups) == len(values):
        return figure
    over_seeds = [_estimate([values[number] for number in numbers_]) for numbers_ in groups]
    halves = [None if estimate is None or estimate.disagree else estimate.half for estimate in over_seeds]
    ranges = [numbers([min(one.values), max(one.values)]) if one is not None and one.disagree else None for one in over_seeds]
    return {
        **figure,
        "means": numbers(None if one is None else one.median if one.disagree else one.mean for one in over_seeds),
        **({"halves": numbers(halves)} if any(half is not None for half in halves) else {}),
        **({"ranges": ranges} if any(ranges) else {}),
    }


def _estimate(values: Sequence[Any]) -> Estimate | None:
    having = [value for value in values if isinstance(value, int | float)]
    return estimates([{"": value} for value in having])[""] if having else None


def _link(point: SweepPoint, folder: Path) -> str:
    """The path of a point's result, relative to the page; empty if it was not saved."""
    if point.folder is None:
        return ""
    return quote(os.path.relpath(point.folder / RESULT_FILE, folder))
