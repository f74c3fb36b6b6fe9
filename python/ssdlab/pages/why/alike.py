"""Requests that were late for the same reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ssdlab.checks import few
from ssdlab.pages.tables.numbers import duration
from ssdlab.pages.why.records import Explained, Segment

__all__ = ["grouped", "in_words"]

WITHIN = 0.1
"""Share of the response time by which response times, and each of their parts, may differ."""
MOST_NAMED = 4
Part = tuple[str, bool]
"""What a part of a time was spent on, and whether that was waiting."""


def grouped(requests: Iterable[Explained]) -> list[list[Explained]]:
    """The requests in groups of alike ones, in order: each is like the first of its group."""
    groups: list[list[Explained]] = []
    for one in requests:
        group = next((group for group in groups if _is_alike(group[0], one)), None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    return groups


def in_words(others: Sequence[Explained]) -> str:
    """The requests that are like the one before, with their times."""
    named = few([f"{one.request:,} ({duration(one.response_ns)})" for one in others], MOST_NAMED)
    return f"Like it, with the same waits within {WITHIN:.0%}: {named}. --request N explains one."


def _is_alike(one: Explained, other: Explained) -> bool:
    if one.kind != other.kind or abs(one.response_ns - other.response_ns) > WITHIN * one.response_ns:
        return False
    times, others = _parts(one.segments), _parts(other.segments)
    near = all(abs(times.get(part, 0) - others.get(part, 0)) <= WITHIN * one.response_ns for part in {*times, *others})
    return near and _reasons_of_pages(one) == _reasons_of_pages(other)


def _parts(segments: Iterable[Segment]) -> Mapping[Part, int]:
    """The time spent on each thing, ns."""
    times: dict[Part, int] = {}
    for segment in segments:
        for share in segment.shares:
            part = share.what, share.waits
            times[part] = times.get(part, 0) + share.ns
    return times


def _reasons_of_pages(one: Explained) -> set[Part]:
    """On what the page operations that it waited for longest spent most of their time."""
    places = dict.fromkeys(place for segment in one.segments if segment.ns > WITHIN * one.response_ns for place in segment.pages)
    times = [_parts(one.pages[place].segments) for place in places]
    return {max(of, key=of.__getitem__) for of in times if of}
