"""The page of a sweep: the best point, figures over the axes, differences along them, and a table of the points."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ssdlab._core import write_file
from ssdlab.analysis.remarks import Shown, named, shown
from ssdlab.asking.plans import value_text
from ssdlab.experiments.sweeping.axes import WIDE, loads, needs_log, numbers_of, uses
from ssdlab.experiments.sweeping.comparisons import Answers
from ssdlab.experiments.sweeping.outcome import Change, Pairs, best, by_load, groups_in_words, headline, in_words, outcome, relative
from ssdlab.experiments.sweeping.points import SEED, SweepMean, SweepPoint
from ssdlab.experiments.sweeping.result import SweepResult
from ssdlab.pages.colours import COLOURS
from ssdlab.pages.report import page_remarks
from ssdlab.pages.report.encoding import as_script, numbers
from ssdlab.pages.report.frame import DASHES, bar, contents, framed, scroll
from ssdlab.pages.report.summary import Place, percent, places
from ssdlab.pages.report.summary import shown as shown_number
from ssdlab.system.folders import REPORT_FILE, RESULT_FILE, final

if TYPE_CHECKING:
    from ssdlab.experiments.sweeping.definition import SweepAxis

__all__ = ["page", "write"]

CAPACITY = "capacity.iops"
FIRST = "latency_ns.all.p99"
"""Quantity that is shown initially."""
COLUMNS = {
    "latency_ns.all.mean": "mean",
    FIRST: "p99",
    "latency_ns.all.p99_9": "p99.9",
    "gc.write_amplification": "write amplification",
    "gc.jobs": "GC jobs",
    "iops": "requests/s",
    CAPACITY: "capacity",
}
"""Figures in the table of points, and their headings."""
SECTIONS = (("points", "Points"), ("setup", "How it was run"))
MOST_FAILED = 20
MOST_CHANGES = 30
"""Maximum number of values of an axis whose differences are listed."""
FIGURES = """<div class="found"><section id="figures" aria-label="Figures">
<form class="choices" id="choices" aria-label="What is drawn"></form>
<p class="lead" id="best" role="status"></p>
<details><summary>Next best, and whether it differs</summary><div id="judged"></div></details>
<figure id="sweep"><ul class="key" id="lines"></ul><div class="plots"></div>
<figcaption><p class="muted">{about}</p></figcaption><div id="apart"></div></figure></section>
"""
CHANGES = """<section id="along"><h2>Along each axis</h2><p class="muted"><span id="changed"></span> against the first value of
each axis, averaged over the others. {interval} The range is that of the pairs of points that differ in this axis only.
Axis and figure were chosen after the runs.</p>
{table}</section>
"""
ANSWERS = """<section id="questions"><h2>Questions</h2><p class="muted">{about}</p>{tables}</section>
"""
END_OF_FOUND = "</div>\n"
OVER_SEEDS = "± is the 95 % interval over seeds."
OVER_LOADS = "± is the 95 % interval over workloads; along their own axis over seeds, or over pairs of points."
OVER_PAIRS = "One seed: ± is the 95 % interval over pairs of points, not over chance."
POINTS = """<section id="points"><h2>Points</h2><p class="muted">A heading sorts, the choices show a part. {seeds}{pages}</p>
<div id="filters" class="choices" role="group" aria-label="Which points are shown"></div><p id="shown" role="status" class="muted"></p>
{table}{told}<button type="button" id="more" hidden>Show all</button> <button type="button" id="rows-csv">CSV</button></section>
"""
SINGLE = "Means over seeds; the button of a row shows its runs. "
NO_PAGE = (
    "A <i>report</i> is the page of one run. Where there is none yet, <code>ssdlab report DIR/POINT</code> repeats the run "
    "and writes it; <code>ssdlab report DIR</code> then links it here."
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
    title = f"Sweep over {', '.join(axis for axis in sweep.axes if axis != SEED) or SEED}"
    data, several, told = _data(sweep, folder), bool(sweep.means), shown(sweep.remarks)
    interval = OVER_LOADS if sweep.workloads else OVER_SEEDS if several else OVER_PAIRS
    body = [
        bar([]),
        "<main>\n",
        contents([("figures", "Figures"), *([("along", "Along each axis")] if sweep.compared else []), *SECTIONS]),
        f"<h1>{html.escape(title)}</h1>\n",
        *_lead(sweep),
        FIGURES.format(about=_about(sweep)),
        "<noscript><p>Figures and table need JavaScript; results.csv has all numbers.</p></noscript>\n",
        CHANGES.format(
            interval=interval,
            table=scroll("<table id=changes></table>", "Changes"),
        )
        if sweep.compared
        else "",
        END_OF_FOUND,
        *_answers(sweep),
        page_remarks.warnings(told) + page_remarks.notes(told),
        POINTS.format(
            seeds=SINGLE if several else "",
            pages="" if all(data["sweep"]["pages"]) else NO_PAGE,
            table=scroll("<table id=rows></table>", "Points"),
            told=page_remarks.sentences(pair for place in COLUMNS for pair in told.of(place)),
        ),
        f"<section id=setup><h2>How it was run</h2><pre tabindex=0><code>{html.escape(sweep.sweep.to_toml())}</code></pre></section>\n",
    ]
    return framed(title, body, as_script(data), [])


def _lead(sweep: SweepResult) -> Iterator[str]:
    """The number of points and what they have in common, and what failed."""
    seeds = f", {len(sweep.axes[SEED])} seeds each" if sweep.means else ""
    yield f'<p class="muted">{len(sweep):,} of {len(sweep.sweep):,} points{seeds}.</p>\n'
    axes = [(axis.name, ", ".join(value.text for value in axis.values)) for axis in sweep.sweep.axes]
    given = (*sweep.sweep.options.items(), *sweep.sweep.set.items())
    same = [(key, value if isinstance(value, str) else value_text(value)) for key, value in given]
    rows = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>" for name, text in axes)
    told = ", ".join(f"{key} = {value}" for key, value in same)
    yield f'<dl class="about">{rows}{f"<dt>the same for all</dt><dd>{html.escape(told)}</dd>" if told else ""}</dl>\n'
    failed = [f"{point.label} failed: {error}" for point, error in sweep.failed]
    more = [f"{len(failed) - MOST_FAILED:,} more points failed"] if len(failed) > MOST_FAILED else []
    left = [f"{len(sweep.left):,} points have no result yet"] if sweep.left else []
    for text in (*failed[:MOST_FAILED], *more, *left):
        yield f'<p class="warning">{html.escape(text)}.</p>\n'


def _answers(sweep: SweepResult) -> Iterator[str]:
    """The answers to the questions of the sweep."""
    found, about = sweep.answers()
    if found:
        yield ANSWERS.format(about=html.escape(about), tables="\n".join(map(_answered, found)))


def _answered(question: Answers) -> str:
    """The answers to a question as a table."""
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in question.heads)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in question.rows)
    table = f'<table class="texts"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in question.notes)
    return f"<p>{html.escape(question.title)}</p>{scroll(table, question.title)}{notes}"


def _about(sweep: SweepResult) -> str:
    means = (
        "A dot for each seed, and their mean with its 95 % interval, or the median where seeds disagree. "
        if sweep.means
        else "A mark for each point. "
    )
    panels = "Each workload has a scale of its own. " if loads(sweep.sweep.axes) else "Panels have one scale. "
    scales = f"An axis is logarithmic where its values differ by a factor of {WIDE:g} or more. {panels}"
    return f"{means}{scales}The left and right keys read a figure."


def _data(sweep: SweepResult, folder: Path) -> dict[str, Any]:
    """Data for the script: axes, points and their figures, and figures over seeds by combination of values."""
    axes = [axis for axis in sweep.sweep.axes if axis.name != SEED]
    known = {axis.name: numbers_of(axis.name, sweep.axes[axis.name], sweep.points) for axis in axes}
    of_loads = loads(axes)
    chosen = uses(known, sweep.axes, None, None, loads=of_loads)
    index = {axis.name: place for place, axis in enumerate(axes)}
    place_of = {id(point): place for place, point in enumerate(sweep)}
    drawn = {
        "first": FIRST,
        "wide": WIDE,
        "columns": {
            place: name for place, name in COLUMNS.items() if place != CAPACITY or any("capacity" in point.result for point in sweep)
        },
        "axes": [_axis(axis, known[axis.name]) for axis in axes],
        "loads": [index[axis] for axis in of_loads],
        "uses": {
            use: index.get(axis, -1)
            for use, axis in (("x", chosen.x), ("lines", chosen.lines or ""), ("panels", next(iter(chosen.panels), "")))
        },
        "seeds": [str(point.values[SEED]) for point in sweep] if sweep.means else [],
        "links": [_link(point, RESULT_FILE, folder) for point in sweep],
        "pages": [_link(point, REPORT_FILE, folder) if _has_page(point) else "" for point in sweep],
        "groups": [[_index(axis, group.values[axis.name]) for axis in axes] for group in sweep.groups],
        "members": [[place_of[id(point)] for point in group.runs] for group in sweep.groups],
        "figures": _figures(sweep),
    }
    return {"colours": len(COLOURS), "dashes": DASHES, "labels": [], "plots": {}, "sweep": drawn}


def _axis(axis: SweepAxis, known: Sequence[float] | None) -> dict[str, Any]:
    """The texts of an axis and, to draw them to scale, its numbers."""
    scale = {} if known is None else {"numbers": known, "log": needs_log(known)}
    return {"name": axis.name, "texts": [value.text for value in axis.values], **scale}


def _index(axis: SweepAxis, value: Any) -> int:
    return next(index for index, entry in enumerate(axis.values) if entry.value == value and type(entry.value) is type(value))


def _figures(sweep: SweepResult) -> list[dict[str, Any]]:
    """The figures that are not zero at every point."""
    found = [point.figures for point in sweep]
    pairs = Pairs(sweep.groups, {axis: values for axis, values in sweep.compared.items() if len(values) <= MOST_CHANGES}, sweep.workloads)
    told = shown(sweep.remarks)
    having = (place for place in places() if any(isinstance(row.get(place.place), int | float) and row[place.place] for row in found))
    return [_figure(place, sweep, [row.get(place.place) for row in found], pairs, told) for place in having]


def _figure(place: Place, sweep: SweepResult, values: Sequence[Any], pairs: Pairs, told: Shown) -> dict[str, Any]:
    """A figure: its value at each point, over seeds by combination, and what it says in words.

    `halves` are half widths of intervals. Of the groups in `apart` the seeds disagree; their mean is the median.
    """
    over = [group.estimates.get(place.place) for group in sweep.groups]
    apart = [index for index, of in enumerate(over) if of is not None and of.disagree]
    halves = [None if of is None or of.disagree else of.half for of in over]
    figure: dict[str, Any] = {
        "place": place.place,
        "name": place.name,
        "unit": place.unit,
        "values": numbers(values),
        "changes": [_change(change) for change in pairs.changes(place.place)],
        "means": numbers(None if of is None else of.centre for of in over),
    }
    of_loads = sweep.workloads
    if place.better:
        figure["best"] = headline(sweep.groups, place, of_loads)
        figure["judged"] = [outcome(best(group, place), place) for group in by_load(sweep.groups, of_loads).values()][:MOST_FAILED]
    remarks = [f"[{letter}] {remark.headed}" for letter, remark in told.of(place.place)]
    figure |= {"told": remarks} if remarks else {}
    figure |= {"halves": numbers(halves)} if any(half is not None for half in halves) else {}
    figure |= {"apart": {index: _disagreement(sweep.groups[index], place) for index in apart}} if apart else {}
    cells = [_cell(group, place, told) for group in sweep.groups] if place.place in COLUMNS else []
    return figure | ({"cells": cells} if cells else {})


def _disagreement(group: SweepMean, place: Place) -> str:
    return f"{named(group.values) or 'all seeds'}: {groups_in_words(group.estimates[place.place], place.unit)}"


def _cell(group: SweepMean, place: Place, told: Shown) -> str:
    """A mean with its interval, and references to warnings about it."""
    of = group.estimates.get(place.place)
    value = "" if of is None else f"median {shown_number(of.median, place.unit)}" if of.disagree else in_words(of, place.unit)
    return value and value + told.mark(place.place, *(named(point.values) for point in group.runs))


def _change(change: Change) -> list[str]:
    """The cells of a row in the table of differences: axis, value, difference, what it means, the range of the pairs, their number."""
    value = change.value if isinstance(change.value, str) else value_text(change.value)
    of = change.estimate
    judged = {None: "not judged" if change.doubt or of.disagree or of.half is None else "", True: "", False: "tie"}[change.differs]
    spread = f"{percent(change.least) or '0.0 %'} to {percent(change.most) or '0.0 %'}" if change.pairs > 1 else ""
    left_out = f" of {change.pairs + change.left_out:,}" if change.left_out else ""
    return [change.axis, value, relative(of), judged, spread, f"{change.pairs:,}{left_out}"]


def _has_page(point: SweepPoint) -> bool:
    return point.folder is not None and (point.folder / REPORT_FILE).is_file()


def _link(point: SweepPoint, name: str, folder: Path) -> str:
    """The path of a point's file, relative to the page; empty if it was not saved."""
    return "" if point.folder is None else quote(os.path.relpath(point.folder / name, folder))
