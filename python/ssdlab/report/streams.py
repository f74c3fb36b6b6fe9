"""The table of the streams of data placement on a page."""

from __future__ import annotations

import html

from ssdlab.report.frame import scroll, swatch
from ssdlab.report.runs import Run, Runs
from ssdlab.tables.streams import Stream, used_streams

__all__ = ["section"]

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
