"""The timeline of a request as lines of text: its segments, and below them the operations that it waited for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab.tables.numbers import duration
from ssdlab.why.explained import Explained
from ssdlab.why.words import is_aside, most_overlapping, short_name, span

__all__ = ["timeline"]

WIDTH = 40
"""Width of the bars, characters."""
LABEL = 26
"""Width of the labels, characters."""
MOST = 12
"""Most operations that have a line."""


def timeline(one: Explained) -> str:
    """The timeline: `.` waiting, `#` being served, `=` and `-` operations at work and put aside, `<` and `>` where they go beyond it."""
    begin, end = span(one)
    lines = [f"{'':{LABEL}} |{duration(0):<{WIDTH - 10}}{duration(end - begin):>10}|"]
    for segment in one["segments"]:
        what = segment["shares"][0]["what"] if len(segment["shares"]) == 1 else "several"
        name = f"wait: {what}" if segment["shares"][0]["waits"] else what
        lines.append(_line(one, name, [_of_segment(segment)], segment["to_ns"] - segment["from_ns"]))
    for page in one["pages"]:
        name = f"die {page['die']}: {'program' if page['write'] else 'read'} page {page['lpn']}"
        lines.append(_line(one, name, [_of_segment(segment) for segment in page["segments"]], page["to_ns"] - page["from_ns"]))
    lines += _of_operations(one)
    return "\n".join(line.rstrip() for line in lines)


def _of_segment(segment: Mapping[str, Any]) -> tuple[int, int, str]:
    return segment["from_ns"], segment["to_ns"], "." if segment["shares"][0]["waits"] else "#"


def _of_operations(one: Explained) -> Iterator[str]:
    """The operations that segments waited for, those with the longest overlap first."""
    longest = most_overlapping(one)
    for operation in longest[:MOST]:
        stages = [
            (stage["from_ns"], stage.get("to_ns", one["completed_ns"]), "-" if is_aside(stage) else "=") for stage in operation["stages"]
        ]
        yield _line(one, short_name(operation), stages, sum(end - start for start, end, _ in stages))
    if len(longest) > MOST:
        yield f"{'':{LABEL}}  and {len(longest) - MOST} more operations"


def _line(one: Explained, label: str, parts: list[tuple[int, int, str]], ns: int) -> str:
    """A line with bars for intervals, each at least one character wide."""
    begin, end = span(one)
    cells = [" "] * WIDTH
    for start, stop, mark in parts:
        if stop <= begin or start >= end:
            cells[0 if stop <= begin else -1] = "<" if stop <= begin else ">"
            continue
        first = min(WIDTH - 1, (max(start, begin) - begin) * WIDTH // (end - begin))
        last = max(first + 1, -((begin - min(stop, end)) * WIDTH // (end - begin)))
        for cell in range(first, min(last, WIDTH)):
            cells[cell] = mark
        cells[0] = "<" if start < begin else cells[0]
        cells[-1] = ">" if stop > end else cells[-1]
    short = label if len(label) <= LABEL else f"{label[: LABEL - 3]}..."
    return f"{short:{LABEL}} |{''.join(cells)}| {duration(ns)}"
