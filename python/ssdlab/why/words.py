"""A request's delay in words: what it waited for, and why that was there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ssdlab.tables.numbers import duration, size
from ssdlab.why.explained import Explained

__all__ = ["LONG", "is_aside", "most_overlapping", "of_operation", "of_segment", "page_name", "paragraph", "short_name", "span", "title"]

LONG = 0.02
"""Share of the response time from which on a segment has a sentence of its own."""
NAMED = 3
"""Number of operations and page operations that a sentence names."""

WAITS = {
    "host_operation": "for the die, which served the host",
    "bus": "for the bus",
    "gc_operation": "for the die, which collected garbage",
    "gc_scope": "because a GC job excludes the host",
    "hard_threshold": "because its pool had fewer free blocks than the hard threshold",
    "free_block": "for a free block",
    "register": "for the page register or open block of a suspended operation",
    "queue_full": "for a place in the queue of its chip",
    "no_room": "for a chip with room",
    "stripe_lock": "for an earlier update of the same stripe",
    "page_order": "for an earlier operation on the same page",
    "paused": "while its program was suspended or paused",
    "buffer_full": "for room in the write buffer",
    "pace": "for credit that GC earns (gc.pace)",
    "slot": "for a slot of the host interface",
    "queue": "in its queue of the host",
    "core": "for a core of the controller",
    "link": "for the link to the host",
    "translation_page": "for its part of the mapping table",
}
"""What a wait was for, by reason."""
SERVED = {"transfer": "on the bus", "array": "in the flash array", "dram": "in the DRAM", "core": "on a core", "link": "on the link"}
"""Where a request was served, by resource."""
CAUSES = {
    "fetch": "a cache that fetches",
    "destage": "a cache that destages",
    "padding": "a cache that fills a group",
    "drain": "the write buffer",
    "fill": "the rest of a buffered unit",
    "update": "new parity",
    "parity": "parity",
    "map_read": "a translation page",
    "map_write": "a changed translation page",
    "map_update": "a translation page after GC",
    "degraded": "a failed drive",
}
"""What a request to a drive is for, by its cause."""
TRIGGERS = {
    "hard": "fewer than the hard threshold",
    "soft": "fewer than the soft threshold",
    "idle": "and the drive was idle",
    "episode": "and GC went on until it has gc.until more than the threshold",
    "invalid": "and a block with more invalid pages than gc.invalid_share",
}
"""Why a job began, by its trigger."""


def title(one: Explained) -> str:
    """A request in one line: what it was, when it came and how long it took."""
    what = f"a {one['kind']} of {size(one['size_bytes'])} at byte {one['offset_bytes']:,}" if one["size_bytes"] else f"a {one['kind']}"
    return f"Request {one['request']:,}, {what}, came at {one['arrival_ns'] / 1e6:,.3f} ms and took {duration(one['response_ns'])}"


def paragraph(one: Explained, config: Mapping[str, Any] | None = None) -> str:
    """Why a request took as long as it did. The times of its sentences add up to the response time. `config`: the run's configuration."""
    long = [segment for segment in one["segments"] if _length(segment) >= LONG * one["response_ns"]]
    rest = one["response_ns"] - sum(map(_length, long))
    words = [f"{title(one)}."]
    words += [_capital(f"{of_segment(one, segment)}{_about(segment, config or {})}.") for segment in long]
    words += [f"Other parts took {duration(rest)}."] if rest else []
    words += [_of_page(one, page) for page in _pages(long)]
    words += [_of_job(one, job) for job in _jobs(one, long)]
    words += _missing(one)
    return " ".join(words)


def of_segment(one: Explained, segment: Mapping[str, Any]) -> str:
    """A segment: for how long the request waited for what, or where it was served."""
    shares, behind = segment["shares"], segment.get("behind", ())
    if len(shares) > 1:
        parts = ", ".join(f"{duration(share['ns'])} {_share(share)}" for share in shares)
        return f"it spent {duration(_length(segment))}, in an order that is not known: {parts}"
    share = shares[0]
    if not share["waits"]:
        return f"it was {duration(share['ns'])} {_share(share)}"
    words = f"it waited {duration(share['ns'])} {WAITS[share['what']]}"
    if behind:
        named = [_behind(one, segment, entry) for entry in behind[:NAMED]]
        more = len(behind) - len(named) + segment.get("more", 0)
        words += f": {'; '.join(named)}" + (f"; and {more} more" if more else "")
    elif segment.get("jobs"):
        words += ": " + "; ".join(_job_name(one["jobs"][place], segment) for place in segment["jobs"][:NAMED])
    return words


def of_operation(operation: Mapping[str, Any]) -> str:
    """An operation by what it does, and where: `the erase of block 91 on die 6`."""
    names = [stage["name"] for stage in operation["stages"]]
    die = f"die {operation['die']}" + (f" of drive {operation['drive']}" if operation["drive"] else "")
    block = f"block {operation['block']}" if "block" in operation else "a page without data"
    if "erase" in names:
        return f"the erase of {block} on {die}"
    if not operation["host"]:
        return f"the move of page {operation.get('lpn')} out of {block} on {die}"
    kind = "program" if any(name in ("program", "transfer in") for name in names) else "read"
    whom = CAUSES.get(operation.get("cause", ""), f"request {operation['request']:,}" if "request" in operation else "the drive")
    more = f" and {operation['pages'] - 1} more pages" if operation["pages"] > 1 else ""
    return f"the {kind} of page {operation.get('lpn')}{more} in {block} on {die} for {whom}"


def short_name(operation: Mapping[str, Any]) -> str:
    """An operation in few words: `die 6: erase block 91`."""
    kind, _, of = of_operation(operation).removeprefix("the ").partition(" of ")
    what = " ".join(of.split(" ")[:2])
    return f"die {operation['die']}: {kind} {what}"


def _share(share: Mapping[str, Any]) -> str:
    return f"waiting {WAITS[share['what']]}" if share["waits"] else SERVED[share["what"]]


def _about(segment: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """How many units the write buffer has, where the request waited for room in it."""
    room = config.get("buffer", {}).get("bytes")
    if not room or segment["shares"][0]["what"] != "buffer_full":
        return ""
    unit = config.get("ftl", {}).get("map_unit_bytes") or config.get("device", {}).get("page_bytes")
    return f", which was full with {room // unit:,} units" if unit else ""


def is_aside(stage: Mapping[str, Any]) -> bool:
    """Whether an operation is suspended, or waits, in a stage."""
    return str(stage["name"]).startswith(("suspended", "paused", "put aside", "wait", "preemption"))


def span(one: Explained) -> tuple[int, int]:
    """The interval of a timeline, ns: from the arrival of the request, or of a page operation that it waited for, to its completion."""
    return min((one["arrival_ns"], *(page["from_ns"] for page in one["pages"]))), one["completed_ns"]


def most_overlapping(one: Explained) -> list[Mapping[str, Any]]:
    """The operations that segments waited for, those that overlap them longest first."""
    overlaps: dict[int, int] = {}
    for segment in (*one["segments"], *(segment for page in one["pages"] for segment in page["segments"])):
        for entry in segment.get("behind", ()):
            overlaps[entry["operation"]] = overlaps.get(entry["operation"], 0) + entry["ns"]
    return [one["operations"][place] for place in sorted(overlaps, key=lambda place: (-overlaps[place], place))]


def _length(segment: Mapping[str, Any]) -> int:
    return int(segment["to_ns"] - segment["from_ns"])


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _behind(one: Explained, segment: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
    """An operation that a segment waited for: for how long, when it began, and its job."""
    operation = one["operations"][entry["operation"]]
    begun = min((stage["from_ns"] for stage in operation["stages"]), default=segment["from_ns"])
    before = segment["from_ns"] - begun
    when = f"begun {duration(before)} before" if before >= 0 else f"begun {duration(-before)} later"
    job = f"GC job {operation['job']:,}, " if "job" in operation else ""
    return f"{duration(entry['ns'])} for {of_operation(operation)} ({job}{when})"


def _job_name(job: Mapping[str, Any], segment: Mapping[str, Any]) -> str:
    before = segment["from_ns"] - job["from_ns"]
    when = f"begun {duration(before)} before" if before >= 0 else f"begun {duration(-before)} later"
    return f"GC job {job['job']:,} on die {job['die']} ({when})"


def page_name(page: Mapping[str, Any]) -> str:
    """A page operation by what it does, and for whom: `program of page 17 on die 4 for the write buffer`."""
    whom = CAUSES.get(page.get("cause", ""), f"request {page['request']:,}" if "request" in page else "the drive")
    return f"{'program' if page['write'] else 'read'} of page {page['lpn']} on die {page['die']} for {whom}"


def _of_page(one: Explained, place: int) -> str:
    """A page operation whose end the request waited for, and what that waited for."""
    page = one["pages"][place]
    when = _when(one, page["from_ns"])
    words = f"The wait ended with a {page_name(page)}, asked for {when}"
    said = "".join(f"; of its {duration(page['to_ns'] - page['from_ns'])}, {of_segment(one, longest)}" for longest in _longest(one, place))
    return f"{words}{said}."


def _pages(segments: Sequence[Mapping[str, Any]]) -> list[int]:
    """Page operations that segments name, as places in `pages`."""
    return _unique(place for segment in segments for place in segment.get("pages", ()))


def _longest(one: Explained, place: int) -> list[Mapping[str, Any]]:
    """The longest segment of a page operation, if it has any."""
    return sorted(one["pages"][place]["segments"], key=_length)[-1:]


def _when(one: Explained, ns: int) -> str:
    """A moment, as seen from the arrival of the request."""
    after = ns - one["arrival_ns"]
    return f"{duration(abs(after))} {'before' if after < 0 else 'after'} the request came"


def _of_job(one: Explained, place: int) -> str:
    """A job: when and why it began, and on which block."""
    job = one["jobs"][place]
    blocks = f"{job['free_blocks']} free block{'s' if job['free_blocks'] != 1 else ''}"
    words = f"GC job {job['job']:,} began {_when(one, job['from_ns'])}, when pool {job['pool']} had {blocks}, {TRIGGERS[job['trigger']]}"
    if "set_off_by" in job:
        words += f"; {of_operation(one['operations'][job['set_off_by']])} had just taken one"
    ended = f", and ended {_when(one, job['to_ns'])}" if "to_ns" in job else ""
    return f"{words}. It collected block {job['victim']}, with {job['valid_pages']} valid pages{ended}."


def _jobs(one: Explained, segments: list[Mapping[str, Any]]) -> list[int]:
    """Jobs that long segments name, as places in `jobs`."""
    segments = [*segments, *(page for place in _pages(segments) for page in _longest(one, place))]
    numbers = {(job["drive"], job["job"]): place for place, job in enumerate(one["jobs"])}
    operations = [one["operations"][entry["operation"]] for segment in segments for entry in segment.get("behind", ())[:NAMED]]
    named = [numbers.get((operation["drive"], operation["job"])) for operation in operations if "job" in operation]
    own = [place for segment in segments for place in segment.get("jobs", ())[:NAMED]]
    return _unique(place for place in (*named, *own) if place is not None)


def _unique(places: Iterator[int]) -> list[int]:
    return list(dict.fromkeys(places))[:NAMED]


def _missing(one: Explained) -> list[str]:
    if "known_from_ns" not in one:
        return []
    return [f"Operations before {duration(one['known_from_ns'])} have left the ring of recent operations, and are not named."]
