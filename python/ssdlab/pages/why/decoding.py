"""Reading of JSON as records, with the place of what does not fit."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from functools import cache
from types import UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from ssdlab.checks import shown
from ssdlab.pages.why.names import CAUSES, SERVED, TRIGGERS, WAITS
from ssdlab.pages.why.records import Explained, Record, Segment

__all__ = ["DamagedError", "decoded", "explained_from"]

Kind = TypeVar("Kind", bound=Record)
NAMES = {int: "a whole number from 0 on", str: "a text", bool: "true or false"}


class DamagedError(Exception):
    """An entry that is missing or does not fit; the message begins with its place."""


def explained_from(data: object, place: str) -> Explained:
    """A request as the file has it.

    Raises:
        DamagedError: an entry is missing, of the wrong type, or contradicts the others.
    """
    one = decoded(Explained, data, place)
    _check_times(one, place)
    _check_names(one, place)
    _check_places(one, place)
    return one


def decoded(kind: type[Kind], data: object, place: str) -> Kind:
    """A record from a JSON object. Entries that the record does not have are left out."""
    if not isinstance(data, dict):
        raise DamagedError(f"{place}: expected an object, found {shown(data)}")
    entries = {}
    for field in _fields(cast("Any", kind)):
        if field.name in data:
            value = data[field.name]
            entries[field.name] = value if field.fits(value) else field.decoded(value, f"{place}.{field.name}")
        elif field.is_required:
            raise DamagedError(f"{place}.{field.name}: missing")
    return kind(**entries)


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a record. A file has tens of thousands of them, and its types are looked at once."""

    name: str
    kind: type[Any]
    """Type of the value, or of each entry of a list."""
    is_list: bool
    is_required: bool

    def fits(self, value: object) -> bool:
        """Whether a value is the field's as it is."""
        return not self.is_list and _fits(self.kind, value)

    def decoded(self, data: object, place: str) -> Any:
        """The value of the field from JSON."""
        if not self.is_list:
            return _value(self.kind, data, place)
        if not isinstance(data, list):
            raise DamagedError(f"{place}: expected a list, found {shown(data)}")
        return tuple(
            entry if _fits(self.kind, entry) else _value(self.kind, entry, f"{place}[{index}]") for index, entry in enumerate(data)
        )


@cache
def _fields(kind: Any) -> tuple[_Field, ...]:
    hints = get_type_hints(kind)
    return tuple(_field(field.name, hints[field.name], field.default is MISSING) for field in fields(kind))


def _field(name: str, hint: Any, is_required: bool) -> _Field:
    if isinstance(hint, UnionType):  # optional: null is not written
        hint = get_args(hint)[0]
    is_list = get_origin(hint) is tuple
    return _Field(name, get_args(hint)[0] if is_list else hint, is_list, is_required)


def _fits(kind: type[Any], value: object) -> bool:
    """Whether a value of JSON is of a type that needs no decoding; not a record."""
    return type(value) is kind and (kind is not int or cast("int", value) >= 0)


def _value(kind: type[Any], data: object, place: str) -> Any:
    if kind not in NAMES:
        return decoded(kind, data, place)
    if not _fits(kind, data):
        raise DamagedError(f"{place}: expected {NAMES[kind]}, found {shown(data)}")
    return data


def _check_times(one: Explained, place: str) -> None:
    """Segments follow each other without gaps, and add up, as do their shares."""
    if one.completed_ns - one.arrival_ns != one.response_ns:
        raise DamagedError(f"{place}: from arrival_ns to completed_ns it is not response_ns")
    _check_segments(one.segments, one.arrival_ns, one.completed_ns, f"{place}.segments")
    for index, page in enumerate(one.pages):
        if page.segments:
            _check_segments(page.segments, page.from_ns, page.to_ns, f"{place}.pages[{index}].segments")


def _check_segments(segments: tuple[Segment, ...], at: int, end: int, place: str) -> None:
    for index, segment in enumerate(segments):
        if segment.from_ns != at or segment.to_ns <= at or sum(share.ns for share in segment.shares) != segment.ns:
            raise DamagedError(f"{place}[{index}]: it does not follow the one before it, or its shares do not add up")
        at = segment.to_ns
    if at != end:
        raise DamagedError(f"{place}: they do not add up to the time")


def _check_names(one: Explained, place: str) -> None:
    """Reasons, resources, causes and triggers are known."""
    for segment in one.all_segments():
        for share in segment.shares:
            if share.what not in (WAITS if share.waits else SERVED):
                raise DamagedError(f"{place}: no reason or resource is named {shown(share.what)}")
    causes = [entry.cause for entries in (one.operations, one.pages) for entry in entries if entry.cause is not None]
    for name, known in [*((cause, CAUSES) for cause in causes), *((job.trigger, TRIGGERS) for job in one.jobs)]:
        if name not in known:
            raise DamagedError(f"{place}: no cause or trigger is named {shown(name)}")


def _check_places(one: Explained, place: str) -> None:
    """Places lead to entries that there are."""
    operations = [overlap.operation for segment in one.all_segments() for overlap in segment.behind]
    operations += [segment.by for segment in one.all_segments() if segment.by is not None]
    operations += [job.set_off_by for job in one.jobs if job.set_off_by is not None]
    jobs = [job for segment in one.all_segments() for job in segment.jobs]
    pages = [page for segment in one.all_segments() for page in segment.pages]
    for name, places, there in (("operations", operations, one.operations), ("jobs", jobs, one.jobs), ("pages", pages, one.pages)):
        if max(places, default=-1) >= len(there):
            raise DamagedError(f"{place}.{name}: it has {len(there)} entries, and number {max(places)} is named")
