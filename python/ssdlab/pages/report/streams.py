"""The streams of data placement on a page: their table, and a figure over time."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ssdlab.pages.report.drawing import Axis, Figure, Panel, Plot, Steps
from ssdlab.pages.report.frame import scroll, swatch
from ssdlab.pages.report.over_time import TIME, figure_of, per_second, steps
from ssdlab.pages.report.runs import Run, Runs
from ssdlab.pages.tables.streams import Stream, name_of, unit_bytes, used_streams

__all__ = ["section", "streams"]

MEGABYTE = 1e6
LOW = 0.6
"""Height of a panel, since there may be one for each of many streams."""

HEADS = ("written by the host", "blocks collected", "valid then")


def section(runs: Runs) -> str:
    """The table of streams: a row for each that was used, of each run with a placement policy. Empty without any."""
    rows = [_row(run, stream, several=len(runs) > 1) for run in runs for stream in used_streams(run.data)]
    if not rows:
        return ""
    heads = "".join(f'<th scope="col">{head}</th>' for head in HEADS)
    table = scroll(f"<table><thead><tr><th></th>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>", "Streams")
    text = "What each stream of data placement wrote, and what share of its blocks was still valid when they were collected."
    return f'<section id="streams"><h2>Streams</h2><p>{text}</p>{table}</section>\n'


def _row(run: Run, stream: Stream, *, several: bool) -> str:
    label = html.escape(f"{stream.name}, {run.label}" if several else stream.name)
    cells = "".join(f"<td>{cell}</td>" for cell in (stream.written, stream.collected, stream.valid))
    return f'<tr><th scope="row">{swatch(run.index)}{label}</th>{cells}</tr>'


def streams(runs: Runs) -> Figure | None:
    """What the host writes into each stream over time, and how valid the blocks of each are when they are collected."""
    having = [run for run in runs.recorded if run.at("series.streams")]
    rates: dict[str, list[Steps]] = {}
    shares: dict[str, list[Steps]] = {}
    for run in having:
        config = run.data["config"]
        for stream in run.at("series.streams"):
            name = name_of(stream, config)
            if any(stream["host_units"]):
                written = [units * unit_bytes(config) / MEGABYTE for units in stream["host_units"]]
                rates.setdefault(name, []).append(steps(run, per_second(run, written)))
            if any(stream["collected_units"]):
                valid = list(_valid(stream))
                shares.setdefault(name, []).append(steps(run, valid, weights=stream["collected_units"]))
    text = (
        "What the host wrote into each stream, and what share of its blocks was still valid when they were collected. "
        "Streams without data are left out."
    )
    plots = [
        _plot("Written by the host", Axis("MB/s", "count", low=0.0, same="streams"), rates),
        _plot("Valid when collected", Axis("share", "share", low=0.0, high=1.0), shares),
    ]
    return figure_of("streams", "Streams over time", text, plots)


def _plot(title: str, axis: Axis, lines: Mapping[str, Sequence[Steps]]) -> Plot | None:
    return Plot(title, TIME, [Panel(name, axis, of_stream, LOW) for name, of_stream in lines.items()]) if lines else None


def _valid(stream: Mapping[str, Any]) -> Iterator[float | None]:
    """The valid share of the blocks collected in each bin; `None` in a bin without any."""
    pairs = zip(stream["valid_units"], stream["collected_units"], strict=True)
    return (valid / collected if collected else None for valid, collected in pairs)
