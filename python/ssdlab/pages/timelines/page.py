"""The page of a timeline: a single file that loads nothing else."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ssdlab._core import version, write_file
from ssdlab.errors import UsageError
from ssdlab.pages.report.encoding import as_script, numbers
from ssdlab.pages.report.frame import NOTHING, POLICY, css, script
from ssdlab.pages.report.runs import read_result, undamaged
from ssdlab.pages.timelines.blocks import BlockStates, read_blocks
from ssdlab.pages.timelines.columns import Columns
from ssdlab.pages.timelines.events import Events, read_events
from ssdlab.system.folders import BLOCKS_FILE, RESULT_FILE

__all__ = ["Sources", "found_in", "write"]

PARTS = ("format", "data", "view", "tracks", "details", "search", "curves", "blocks", "start")
"""Parts of the script, in order."""


# uPlot formats numbers in the browser's language as it is loaded, and some minimal systems have one that no browser knows
LANGUAGE = (
    "try { new Intl.NumberFormat(navigator.language); } "
    'catch { Object.defineProperty(navigator, "language", { value: "en", configurable: true }); }'
)


class Sources(NamedTuple):
    """What a page is made from: a timeline file, the result of its run, and the states of the run's blocks, as far as there are any."""

    title: str
    timeline: Path | None = None
    blocks: Path | None = None
    result: Mapping[str, Any] | None = None


class Written(NamedTuple):
    """What is on a page."""

    slices: int
    instants: int


def found_in(place: Path) -> Sources:
    """The sources at a place: a timeline file, or the folder of a run.

    Raises:
        UsageError: there are none.
        FileError: the result cannot be read.
    """
    if not place.is_dir():
        return Sources(place.name, timeline=place)
    if not (place / RESULT_FILE).is_file():
        raise UsageError(f"{place}: no result of a run there ({RESULT_FILE}); of a comparison, name the folder of one scheme")
    result = read_result(place / RESULT_FILE)
    with undamaged(place):
        named = Path(result["timeline"]["file"]) if "timeline" in result else None
        timeline = None if named is None or named.suffix == ".html" else next(filter(Path.is_file, (place / named.name, named)), None)
        blocks = place / BLOCKS_FILE if "blocks" in result else None
        if timeline is None and named is not None and named.suffix != ".html":
            raise UsageError(f"{place}: the timeline of this run, {named}, is not there: move it into the folder, or name it")
        if timeline is None and blocks is None:
            raise UsageError(f"{place}: neither a timeline nor states of blocks there: run it with --timeline FILE.json.gz or --blocks")
    return Sources(place.resolve().name, timeline, blocks, result)


def write(sources: Sources, path: Path) -> Written:
    """Writes the page, completely or not at all.

    Raises:
        UsageError: a source is not what ssdlab wrote.
        FileError: a source cannot be read, or the page not written.
    """
    columns = Columns()
    data: dict[str, Any] = {}
    events = read_events(sources.timeline) if sources.timeline is not None else None
    if events is not None:
        events.into(columns)
        data["events"] = events.described()
    states = None
    if sources.blocks is not None and sources.result is not None:
        states = read_blocks(sources.blocks, sources.result)
        states.into(columns)
        data["blocks"] = _blocks(states, sources.result)
    data["layout"] = columns.layout
    write_file(path, "".join(_html(sources.title, data, columns.packed(), events, states)))
    return Written(0 if events is None else events.slices, 0 if states is None else len(states.instants))


def _blocks(states: BlockStates, result: Mapping[str, Any]) -> dict[str, Any]:
    series = result.get("series")
    moved = None
    if series is not None:
        # bins of the series and instants begin at 0, and an interval is a whole number of bins
        moves = np.append(0, np.cumsum(series["gc"]["pages_moved"]))
        moved = moves[np.minimum(-(-states.instants // series["bin_ns"]), series["bins"])]
    described = states.described(moved)
    if described["amplification"] is not None:
        described["amplification"] = numbers(described["amplification"])
    return described


def _html(title: str, data: Mapping[str, Any], packed: str, events: Events | None, states: BlockStates | None) -> Iterator[str]:
    name = html.escape(f"Timeline: {title}")
    yield f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n<!-- {NOTHING} -->\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f'<link rel="icon" href="data:,">\n<title>{name}</title>\n'
    yield f"<style>\n{css(0)}{_vendor('uPlot.min.css')}{_own('timeline.css')}</style></head>\n<body>\n"
    yield f'<main>\n<div class="top"><h1>{name}</h1><button type="button" id="theme">Light or dark</button></div>\n'
    yield '<p id="loading" role="status">Unpacking …</p><noscript><p>This page needs JavaScript.</p></noscript>\n'
    yield _own("operations.html") if events is not None else ""
    yield _own("blocks.html") if states is not None else ""
    yield f'<footer class="muted">Made by ssdlab {html.escape(version())}. Curves: uPlot (MIT).</footer>\n</main>\n'
    yield '<div id="tip" role="tooltip" hidden></div>\n'
    yield f'<script type="application/json" id="data">{as_script(data)}</script>\n'
    yield f'<script type="application/octet-stream" id="columns">{packed}</script>\n'
    yield f"<script>\n{LANGUAGE}\n</script>\n"
    yield f"<script>\n/*\n{_vendor('uPlot.LICENSE')}*/\n{_vendor('uPlot.iife.min.js')}\n</script>\n"
    yield f"<script>\n{script(_own(f'{part}.js') for part in PARTS)}</script>\n</body></html>\n"


def _own(name: str) -> str:
    return files("ssdlab.pages.timelines").joinpath("web", name).read_text(encoding="utf-8")


def _vendor(name: str) -> str:
    return files("ssdlab.pages.report").joinpath("web", "vendor", name).read_text(encoding="utf-8")
