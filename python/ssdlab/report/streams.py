"""The table of the streams of data placement on a page."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from ssdlab.report.frame import scroll, swatch
from ssdlab.report.runs import Run, Runs
from ssdlab.tables.numbers import number, share, size

__all__ = ["section"]

HEADS = ("written by the host", "blocks collected", "valid then")


def section(runs: Runs) -> str:
    """The table of streams: a row for each that was used, of each run with a placement policy. Empty without any."""
    rows = [
        _row(run, stream, several=len(runs) > 1)
        for run in runs
        for stream in run.data.get("streams", ())
        if stream["blocks_opened"] or stream["blocks_collected"]
    ]
    if not rows:
        return ""
    heads = "".join(f'<th scope="col">{head}</th>' for head in HEADS)
    table = scroll(f"<table><thead><tr><th></th>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>", "Streams")
    text = "What each stream of data placement wrote, and what share of its blocks was still valid when they were collected."
    return f'<section id="streams"><h2>Streams</h2><p>{text}</p>{table}</section>\n'


def _row(run: Run, stream: Mapping[str, Any], *, several: bool) -> str:
    ftl, device = run.data["config"]["ftl"], run.data["config"]["device"]
    who = "host" if stream["writer"] == "host" else "page moves"
    name = f"{who}, {'handle' if ftl['placement'] == 'handles' else 'class'} {stream['class']}"
    unit_bytes = ftl.get("map_unit_bytes") or device["page_bytes"]
    cells = (
        size(stream["host_units"] * unit_bytes) if stream["writer"] == "host" else "",
        number(stream["blocks_collected"]),
        share(stream["valid_share"]) if "valid_share" in stream else "",
    )
    label = html.escape(f"{name}, {run.label}" if several else name)
    return f'<tr><th scope="row">{swatch(run.index)}{label}</th>' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
