"""The slowest requests on the page of a run: a row each, which opens to the reasons in words and a timeline."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ssdlab.errors import Error
from ssdlab.pages.report.drawing import OTHER_PART, PART_COLOURS
from ssdlab.pages.report.runs import Runs
from ssdlab.pages.report.summary import shown
from ssdlab.pages.tables.numbers import size
from ssdlab.pages.why import Explained, Found, buffer_units, found_in, of_segment, paragraph
from ssdlab.pages.why.phrases import is_aside, most_overlapping, of_operation, page_name, span
from ssdlab.pages.why.records import Operation, Segment

__all__ = ["found", "recording", "section"]

MOST = 12
"""Most operations below a timeline."""
OPERATIONS = {True: PART_COLOURS["die_queue"], False: PART_COLOURS["gc"]}
"""Colours of operations of the host (`True`), and of GC."""


def found(runs: Runs, path: Path) -> Found | None:
    """The slowest requests of a single run, from the folder of its results, or of its page."""
    if len(runs) != 1:
        return None
    try:
        return found_in(runs.source if runs.source is not None and runs.source.is_dir() else path.parent, runs[0].data["digest"])
    except (Error, OSError):  # the file beside the page belongs to another run, or has no possible name
        return None


def recording(runs: Runs, path: Path) -> tuple[str, int, int] | None:
    """The page of a single run's timeline, relative to a page at `path`, and the time that it shows, ns; `None` without such a page."""
    timeline = runs[0].data.get("timeline") if len(runs) == 1 else None
    if timeline is None:
        return None
    file = Path(timeline["file"])
    page = file if file.suffix == ".html" else path.parent / "timeline.html"
    return (quote(os.path.relpath(page, path.parent)), timeline["from_ns"], timeline["to_ns"]) if page.is_file() else None


def section(slowest: Found | None, config: Mapping[str, Any], recorded: tuple[str, int, int] | None = None) -> str:
    """The slowest requests, with links to the page of a recording (`recording`) for those that are in it."""
    if slowest is None or not slowest.slowest:
        return ""
    rows = "".join(_row(one, config, recorded) for one in slowest.slowest)
    head = "".join(f"<span>{name}</span>" for name in ("response", "request", "kind", "size", "arrival", "longest wait"))
    return (
        '<section id="late"><h2>The slowest requests</h2>'
        '<p class="muted">Reads and writes after the warm-up, the slowest first. Open one to see what it waited for. '
        f'<code>ssdlab why</code> explains others.</p><div class="late"><div class="head">{head}</div>{rows}</div></section>\n'
    )


def _row(one: Explained, config: Mapping[str, Any], recorded: tuple[str, int, int] | None) -> str:
    cells = (
        shown(one.response_ns, "ns"),
        f"{one.request:,}",
        one.kind,
        size(one.size_bytes),
        shown(one.arrival_ns, "ns"),
        (one.blocked_by or "none").replace("_", " "),
    )
    spans = "".join(f"<span>{html.escape(cell)}</span>" for cell in cells)
    link = ""
    if recorded is not None and recorded[1] <= one.arrival_ns and one.completed_ns <= recorded[2]:
        link = f' <a href="{html.escape(recorded[0])}#request={one.request}">All operations around it</a>'
    name = f"request {one.request:,} ({one.kind}, {shown(one.response_ns, 'ns')})"
    return (
        f'<details id="late-{one.request}" data-ended="{one.completed_ns}" data-name="{html.escape(name)}"><summary>{spans}</summary>'
        f"<p>{html.escape(paragraph(one, config))}{link}</p>"
        f'<div class="lanes">{"".join(_lanes(one, buffer_units(config)))}</div></details>'
    )


def _lanes(one: Explained, units: int | None) -> Iterator[str]:
    """The timeline: a lane with the request's segments, and one for each operation that it waited for."""
    begin, end = span(one)
    yield _lane(f"request {one.request:,}", [_of_segment(one, segment, units) for segment in one.segments])
    for page in one.pages:
        yield _lane(page_name(one, page), [_of_segment(one, segment, units) for segment in page.segments])
    longest = most_overlapping(one)
    for operation in longest[:MOST]:
        yield _lane(of_operation(one, operation).removeprefix("the "), list(_stages(one, operation)))
    if len(longest) > MOST:
        yield _lane(f"and {len(longest) - MOST} more operations", [])
    kinds = {segment.shares[0].part: _colour(segment) for segment in one.all_segments()}
    keys = "".join(
        f'<li><span class="patch" style="background:{colour}"></span>{part.replace("_", " ")}</li>' for part, colour in kinds.items()
    )
    yield f'<ul class="key">{keys}<li>{shown(end - begin, "ns")} from left to right</li></ul>'


def _of_segment(one: Explained, segment: Segment, units: int | None) -> str:
    return _bar(one, segment.from_ns, segment.to_ns, _colour(segment), of_segment(one, segment, units))


def _stages(one: Explained, operation: Operation) -> Iterator[str]:
    for stage in operation.stages:
        end = one.completed_ns if stage.to_ns is None else stage.to_ns
        text = f"{stage.name}, {shown(end - stage.from_ns, 'ns')}"
        yield _bar(one, stage.from_ns, end, "var(--edge)" if is_aside(stage) else OPERATIONS[operation.host], text)


def _colour(segment: Segment) -> str:
    return PART_COLOURS.get(segment.shares[0].part, OTHER_PART)


def _lane(label: str, bars: list[str]) -> str:
    return f'<span class="label" title="{html.escape(label)}">{html.escape(label)}</span><span class="lane">{"".join(bars)}</span>'


def _bar(one: Explained, start: int, end: int, colour: str, text: str) -> str:
    """A bar for the part of an interval within the request; empty if there is none."""
    first, last = span(one)
    start, end = max(start, first), min(end, last)
    if end <= start:
        return ""
    left, width = 100 * (start - first) / (last - first), 100 * (end - start) / (last - first)
    return f'<i style="left:{left:.4g}%;width:{width:.4g}%;background:{colour}" title="{html.escape(text)}"></i>'
