"""The timeline of a request as lines of text: its segments, and below them the operations that it waited for."""

from __future__ import annotations

from collections.abc import Iterator

from ssdlab.pages.tables.numbers import duration
from ssdlab.pages.why.phrases import is_aside, lane_of, most_overlapping, short_name, span
from ssdlab.pages.why.records import Explained, Segment

__all__ = ["timeline"]

WIDTH = 66
"""Width of label and bars together, characters."""
LABEL, LABEL_OF_DRIVES = 26, 36
"""Width of the labels, characters: of a single drive, and where dies are named with their drive."""
MOST = 12
"""Most operations that have a line."""
Bar = tuple[int, int, str]
"""Start and end, ns, and the character that it is drawn with."""


def timeline(one: Explained) -> str:
    """The timeline: `.` waiting, `#` being served, `=` and `-` operations at work and put aside, `<` and `>` where they go beyond it."""
    begin, end = span(one)
    label = _label_width(one)
    lines = [f"{'':{label}} |{duration(0):<{WIDTH - label - 10}}{duration(end - begin):>10}|"]
    by_name: dict[str, list[Segment]] = {}
    for segment in one.segments:
        what = segment.shares[0].what if len(segment.shares) == 1 else "several"
        by_name.setdefault(f"wait: {what}" if segment.shares[0].waits else what, []).append(segment)
    lines += [_line(one, name, [_of_segment(part) for part in parts], sum(part.ns for part in parts)) for name, parts in by_name.items()]
    for page in one.pages:
        name = f"{lane_of(one, page.die, page.drive)}: {'program' if page.write else 'read'} page {page.lpn}"
        lines.append(_line(one, name, [_of_segment(segment) for segment in page.segments], page.to_ns - page.from_ns))
    lines += _of_operations(one)
    return "\n".join(line.rstrip() for line in lines)


def _label_width(one: Explained) -> int:
    return LABEL if one.drives == 1 else LABEL_OF_DRIVES


def _of_segment(segment: Segment) -> Bar:
    return segment.from_ns, segment.to_ns, "." if segment.shares[0].waits else "#"


def _of_operations(one: Explained) -> Iterator[str]:
    """The operations that segments waited for, those with the longest overlap first."""
    longest = most_overlapping(one)
    for operation in longest[:MOST]:
        ends = [one.completed_ns if stage.to_ns is None else stage.to_ns for stage in operation.stages]
        stages = [(stage.from_ns, end, "-" if is_aside(stage) else "=") for stage, end in zip(operation.stages, ends, strict=True)]
        yield _line(one, short_name(one, operation), stages, sum(end - start for start, end, _ in stages))
    if len(longest) > MOST:
        yield f"{'':{_label_width(one)}}  and {len(longest) - MOST} more operations"


def _line(one: Explained, text: str, parts: list[Bar], ns: int) -> str:
    """A line with bars for intervals, each at least one character wide."""
    begin, end = span(one)
    label = _label_width(one)
    width = WIDTH - label
    cells = [" "] * width
    for start, stop, mark in parts:
        if stop <= begin or start >= end:
            cells[0 if stop <= begin else -1] = "<" if stop <= begin else ">"
            continue
        first = min(width - 1, (max(start, begin) - begin) * width // (end - begin))
        last = max(first + 1, -((begin - min(stop, end)) * width // (end - begin)))
        for cell in range(first, min(last, width)):
            cells[cell] = mark
        cells[0] = "<" if start < begin else cells[0]
        cells[-1] = ">" if stop > end else cells[-1]
    short = text if len(text) <= label else f"{text[: label - 3]}..."
    return f"{short:{label}} |{''.join(cells)}| {duration(ns)}"
