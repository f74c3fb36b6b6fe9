"""The timeline of a request as lines of text: its segments, and below them the operations that it waited for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab.tables.numbers import duration
from ssdlab.why.explained import Explained
from ssdlab.why.words import of_operation

__all__ = ["timeline"]

WIDTH = 40
"""Width of the bars, characters."""
LABEL = 26
"""Width of the labels, characters."""
MOST = 12
"""Most operations that have a line."""


def timeline(one: Explained) -> str:
    """The timeline: `.` waiting, `#` being served, `=` operations of others, `<` and `>` beyond the request."""
    lines = [f"{'':{LABEL}} |{duration(0):<{WIDTH - 10}}{duration(one['response_ns']):>10}|"]
    for segment in one["segments"]:
        share = segment["shares"][0]
        what = share["what"] if len(segment["shares"]) == 1 else "several"
        mark = "." if share["waits"] else "#"
        lines.append(_line(one, what, [(segment["from_ns"], segment["to_ns"], mark)], segment["to_ns"] - segment["from_ns"]))
    lines += _of_operations(one)
    return "\n".join(line.rstrip() for line in lines)


def _of_operations(one: Explained) -> Iterator[str]:
    """The operations that segments waited for, those with the longest overlap first."""
    overlaps: dict[int, int] = {}
    for segment in (*one["segments"], *(segment for page in one["pages"] for segment in page["segments"])):
        for entry in segment.get("behind", ()):
            overlaps[entry["operation"]] = overlaps.get(entry["operation"], 0) + entry["ns"]
    longest = sorted(overlaps, key=lambda place: (-overlaps[place], place))
    for place in longest[:MOST]:
        operation = one["operations"][place]
        stages = [(stage["from_ns"], stage.get("to_ns", one["completed_ns"]), _mark(stage)) for stage in operation["stages"]]
        name = of_operation(operation).removeprefix("the ")
        yield _line(one, f"die {operation['die']}: {name}", stages, sum(end - start for start, end, _ in stages))
    if len(longest) > MOST:
        yield f"{'':{LABEL}}  and {len(longest) - MOST} more operations"


def _mark(stage: Mapping[str, Any]) -> str:
    name = stage["name"]
    return "-" if name.startswith(("suspended", "paused", "put aside", "wait", "preemption")) else "="


def _line(one: Explained, label: str, parts: list[tuple[int, int, str]], ns: int) -> str:
    """A line with bars for intervals, each at least one character wide."""
    begin, end = one["arrival_ns"], one["completed_ns"]
    cells = [" "] * WIDTH
    for start, stop, mark in parts:
        if stop <= begin or start >= end:
            continue
        first = min(WIDTH - 1, (max(start, begin) - begin) * WIDTH // (end - begin))
        last = max(first + 1, -((begin - min(stop, end)) * WIDTH // (end - begin)))
        for cell in range(first, min(last, WIDTH)):
            cells[cell] = mark
        cells[0] = "<" if start < begin else cells[0]
        cells[-1] = ">" if stop > end else cells[-1]
    short = label if len(label) <= LABEL else f"{label[: LABEL - 3]}..."
    return f"{short:{LABEL}} |{''.join(cells)}| {duration(ns)}"
