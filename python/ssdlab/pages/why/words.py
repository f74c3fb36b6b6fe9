"""A request's delay in words: what it waited for, and why that was there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ssdlab.pages.tables.numbers import duration, size
from ssdlab.pages.why.names import SERVED, TRIGGERS
from ssdlab.pages.why.phrases import die_of, job_of, of_operation, of_share, page_name, reason, since, when
from ssdlab.pages.why.records import Explained, Overlap, Segment

__all__ = ["LONG", "buffer_units", "of_segment", "paragraph", "title", "waits_for_older"]

LONG = 0.02
"""Share of the response time from which on a segment, or segments of one reason together, have a sentence of their own."""
OF_WRITES = frozenset(("buffer_full", "pace", "write_rate"))
"""Reasons to wait that only a write has. A read has them from an older write that it waits behind."""
NAMED = 3
"""Number of operations, stretches and page operations that a sentence names."""


def title(one: Explained) -> str:
    """A request in one line: what it was, when it came and how long it took."""
    what = f"a {one.kind} of {size(one.size_bytes)} at byte {one.offset_bytes:,}" if one.size_bytes else f"a {one.kind}"
    return f"Request {one.request:,}, {what}, came at {one.arrival_ns / 1e6:,.3f} ms and took {duration(one.response_ns)}"


def paragraph(one: Explained, config: Mapping[str, Any] | None = None) -> str:
    """Why a request took as long as it did. The times of its sentences add up to the response time. `config`: the run's configuration.

    Segments that wait for the same reason again and again share a sentence, which names the first and the longest.
    """
    units = buffer_units(config or {})
    groups = [group for group in _grouped(one.segments) if _total(group) >= LONG * one.response_ns]
    rest = one.response_ns - sum(map(_total, groups))
    long = [segment for group in groups for segment in _picked(group)]
    words = [f"{title(one)}."]
    words += [f"{_capital(_of_group(one, group, units))}." for group in groups]
    words += [f"Other parts took {duration(rest)}."] if rest else []
    words += [_of_page(one, segment, place, units) for segment, place in _pages(long)]
    words += [_of_job(one, place) for place in _jobs(one, long)]
    words += _missing(one)
    return " ".join(words)


def buffer_units(config: Mapping[str, Any]) -> int | None:
    """Number of units of the write buffer; `None` without one, or if the configuration does not say."""
    room = config.get("buffer", {}).get("bytes")
    unit = config.get("ftl", {}).get("map_unit_bytes") or config.get("device", {}).get("page_bytes")
    return room // unit if room and unit else None


def of_segment(one: Explained, segment: Segment, units: int | None = None) -> str:
    """A segment: for how long the request waited for what, or where it was served."""
    if one.kind == "read" and any(share.what in OF_WRITES for share in segment.shares):
        return _behind_older(one, segment, units)
    if len(segment.shares) > 1:
        parts = ", ".join(f"{duration(share.ns)} {of_share(share, units)}" for share in segment.shares)
        return f"it spent {duration(segment.ns)}, in an order that is not known: {parts}"
    share = segment.shares[0]
    if not share.waits:
        return f"it was {duration(share.ns)} {SERVED[share.what]}"
    words = f"it waited {duration(share.ns)} {reason(share, units)}"
    named = _named(one, segment, NAMED)
    if named:
        return f"{words}: {named}"
    if share.what == "buffer_full" and not segment.pages and one.drives == 1 and one.known_from_ns is None:
        return f"{words}; no program of the buffer ended then: a trim made room"
    return words


def waits_for_older(one: Explained) -> bool:
    """Whether the request is a read that waited behind an older write."""
    return one.kind == "read" and any(share.what in OF_WRITES for share in one.shares)


def _behind_older(one: Explained, segment: Segment, units: int | None) -> str:
    """A segment in which a read waited behind an older write, for what the write needed."""
    needed = [share for share in segment.shares if share.what in OF_WRITES]
    others = [share for share in segment.shares if share.what not in OF_WRITES]
    ns = sum(share.ns for share in needed)
    reasons = [reason(needed[0], units)] if len(needed) == 1 else [f"{duration(share.ns)} {reason(share, units)}" for share in needed]
    words = f"{duration(ns)} behind {_older(one)}, which waited {' and '.join(reasons)}"
    if not others:
        return f"it waited {words}"
    parts = ", ".join(f"{duration(share.ns)} {of_share(share, units)}" for share in others)
    return f"it spent {duration(segment.ns)}, in an order that is not known: {parts}, and waiting {words}"


def _older(one: Explained) -> str:
    """The older request that a read waited behind, as far as it is known."""
    if one.older is None:
        return f"an older write (`ssdlab why --request {one.request}` names it)"
    same = {"bytes": " of the same bytes", "unit": " of the same mapping unit"}.get(one.older.same, "")
    before = duration(one.arrival_ns - one.older.arrival_ns)
    return f"{one.older.kind} {one.older.request:,}{same} ({before} older)"


def _grouped(segments: Iterable[Segment]) -> list[list[Segment]]:
    """Segments of one reason or resource together if there are more than a sentence names, else each by itself; in order of time."""
    by_share: dict[object, list[Segment]] = {}
    for segment in segments:
        key = segment if len(segment.shares) > 1 else (segment.shares[0].what, segment.shares[0].waits)
        by_share.setdefault(key, []).append(segment)
    groups = [part for group in by_share.values() for part in ([group] if len(group) > NAMED else [[one] for one in group])]
    return sorted(groups, key=lambda group: group[0].from_ns)


def _picked(group: Sequence[Segment]) -> list[Segment]:
    """The first segment of a group and the longest others, in order of time: those that its sentence names."""
    longest = sorted(group[1:], key=lambda segment: -segment.ns)[: NAMED - 1]
    return sorted([group[0], *longest], key=lambda segment: segment.from_ns)


def _of_group(one: Explained, group: Sequence[Segment], units: int | None) -> str:
    """Segments of one reason or resource: for how long together, which came first, and which were the longest."""
    if len(group) == 1:
        return of_segment(one, group[0], units)
    share, picked = group[0].shares[0], _picked(group)
    what = (
        f"waited {duration(_total(group))} {reason(share, units)}" if share.waits else f"was {duration(_total(group))} {SERVED[share.what]}"
    )
    if not share.waits:
        return f"it {what}, in {len(group):,} stretches"
    named = [_named(one, segment, 1) or duration(segment.ns) for segment in picked]
    more = f"{len(group) - len(picked):,} more, {duration(_total(group) - _total(picked))} together"
    return f"it {what}, in {len(group):,} stretches: first {'; then '.join(named)}; and {more}"


def _named(one: Explained, segment: Segment, most: int) -> str:
    """The operations or jobs that a segment waited for, at most this many by name; empty if none is known."""
    named = [_behind(one, segment, entry) for entry in segment.behind[:most]]
    more = len(segment.behind) - len(named) + segment.more
    if more:
        ns = segment.more_ns + sum(entry.ns for entry in segment.behind[most:])
        named.append(f"and {more:,} more, {duration(ns)} together")
    if not named:
        named = [_job_name(one, place, segment) for place in segment.jobs[:most]]
    return "; ".join(named)


def _behind(one: Explained, segment: Segment, entry: Overlap) -> str:
    """An operation that a segment waited for: for how long, when it began, and its job."""
    operation = one.operations[entry.operation]
    begun = min((stage.from_ns for stage in operation.stages), default=segment.from_ns)
    job = f"GC job {operation.job:,}, " if operation.job is not None else ""
    return f"{duration(entry.ns)} for {of_operation(one, operation)} ({job}{since(begun, segment)})"


def _job_name(one: Explained, place: int, segment: Segment) -> str:
    job = one.jobs[place]
    return f"GC job {job.job:,} on {die_of(one, job.die, job.drive)} ({since(job.from_ns, segment)})"


def _of_page(one: Explained, segment: Segment, place: int, units: int | None) -> str:
    """A page operation whose end a segment waited for, and what that waited for longest."""
    page = one.pages[place]
    is_room = len(segment.shares) == 1 and segment.shares[0].what == "buffer_full"
    lead = "The place came from the" if is_room else "The wait ended with the"
    if place != segment.pages[0]:
        lead = "Another came from the" if is_room else "At the same moment ended the"
    words = f"{lead} {page_name(one, page)}, asked for {when(one, page.from_ns)}"
    if place == segment.pages[0]:
        words += f", and ended {duration(page.to_ns - one.arrival_ns)} after it came"
    if is_room and segment.programs > len(segment.pages) and place == segment.pages[0]:
        words += f" ({segment.programs:,} programs of the buffer ended during the wait)"
    longest = max(_grouped(page.segments), key=_total, default=None)
    return words + (f"; of its {duration(page.to_ns - page.from_ns)}, {_of_group(one, longest, units)}." if longest else ".")


def _pages(segments: Iterable[Segment]) -> list[tuple[Segment, int]]:
    """Page operations that segments name, as places in `pages`, each with the first segment that names it."""
    found: dict[int, Segment] = {}
    for segment in segments:
        for place in segment.pages:
            found.setdefault(place, segment)
    return [(segment, place) for place, segment in found.items()][:NAMED]


def _of_job(one: Explained, place: int) -> str:
    """A job: when and why it began, and on which block."""
    job = one.jobs[place]
    blocks = f"{job.free_blocks} free block{'s' if job.free_blocks != 1 else ''}"
    words = f"{job_of(one, job)} began {when(one, job.from_ns)}, when pool {job.pool} had {blocks}, {TRIGGERS[job.trigger]}"
    if job.set_off_by is not None:
        words += f"; {of_operation(one, one.operations[job.set_off_by])} had just taken one"
    ended = f", and ended {when(one, job.to_ns)}" if job.to_ns is not None else ""
    return f"{words}. It collected block {job.victim}, with {job.valid_pages} valid pages{ended}."


def _jobs(one: Explained, segments: Sequence[Segment]) -> list[int]:
    """Jobs that sentences name, as places in `jobs`."""
    of_pages = [max(_grouped(one.pages[place].segments), key=_total, default=[]) for _, place in _pages(segments)]
    segments = [*segments, *(segment for group in of_pages for segment in _picked(group) if group)]
    numbers = {(job.drive, job.job): place for place, job in enumerate(one.jobs)}
    operations = [one.operations[entry.operation] for segment in segments for entry in segment.behind[:NAMED]]
    named = [numbers.get((operation.drive, operation.job)) for operation in operations if operation.job is not None]
    own = [place for segment in segments for place in segment.jobs[:NAMED]]
    return list(dict.fromkeys(place for place in (*named, *own) if place is not None))[:NAMED]


def _missing(one: Explained) -> list[str]:
    if one.known_from_ns is None:
        return []
    return [f"Operations before {duration(one.known_from_ns)} have left the ring of recent operations, and are not named."]


def _total(group: Iterable[Segment]) -> int:
    return sum(segment.ns for segment in group)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
