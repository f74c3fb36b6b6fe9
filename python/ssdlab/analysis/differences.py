"""Differences between runs that are compared: what each changes against the first, and what the comparison then means."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.analysis.remarks import NOTE, WARNING, Remark
from ssdlab.asking.policies import KINDS
from ssdlab.checks import few

__all__ = ["MOST_NAMED", "Change", "changes", "in_words", "of_variants", "value_in_words"]

RunData = Mapping[str, Any]
"""A result by the names of its entries."""
MOST_NAMED = 4
"""Maximum number of changes that a sentence or a line of a table names."""
UNSET = "default"
BINARY = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))

TIMES = ("time_scale", "queue_depth", "interarrival_us", "arrival", "burst_length", "start_s")
"""Keys of a workload that change when requests arrive, but not which they are."""
NEITHER = ("max_outstanding",)
"""Keys of a workload that change no request."""
LENGTHS = ("seed", "requests")
"""Options that change which requests are sent."""
WARM_UP = "warm_up"
"""The option that changes which requests are measured."""
APART_LEAST = 0.0001
"""Relative difference of exported bytes below which it is not written in digits."""
CLOSE = 0.01
"""Relative difference of exported bytes up to which it is a note, not a warning."""


@dataclass(frozen=True)
class Change:
    """An option or configuration key that differs between two runs."""

    key: str
    before: str
    after: str
    given: bool = True
    """Whether one of the runs was given it by name; if not, it follows from a preset or file."""

    def __str__(self) -> str:
        return f"{self.key} {self.after} instead of {self.before}"


def changes(runs: Mapping[str, RunData], variants: Mapping[str, Any]) -> dict[str, list[Change]]:
    """What each run but the first changes against the first, by label; what was given by name comes first.

    Args:
        runs: results by label.
        variants: what each was given, as in `comparison.json`; empty for schemes.
    """
    labels = list(runs)
    return {label: list(_changes(*(_Given.of(runs[name], variants.get(name)) for name in (labels[0], label)))) for label in labels[1:]}


@dataclass(frozen=True)
class _Given:
    """A run, with the options and keys that it was given by name."""

    options: Mapping[str, Any]
    keys: Mapping[str, Any]
    config: Mapping[str, Any]

    @classmethod
    def of(cls, run: RunData, entry: Mapping[str, Any] | None) -> _Given:
        entry = entry or {}
        return cls(entry.get("options", {}), entry.get("set", {}), dict(_leaves(run.get("config") or {})))


def _changes(base: _Given, other: _Given) -> Iterator[Change]:
    told = set()
    for name in dict.fromkeys((*base.options, *other.options)):
        before, after = (of.options.get(name) for of in (base, other))
        if before != after and f"workload.{name}" not in {**base.config, **other.config}:
            if name in KINDS and None in (before, after):  # a policy of one's own in place of a built-in one
                told.add(KINDS[name].key)
                before, after = (
                    of.config.get(KINDS[name].key) if value is None else value for of, value in ((base, before), (other, after))
                )
            yield Change(name, _text(name, before), _text(name, after))
    by_name = {*base.keys, *other.keys, *(f"workload.{name}" for name in (*base.options, *other.options))}
    keys = [
        key for key in dict.fromkeys((*base.config, *other.config)) if base.config.get(key) != other.config.get(key) and key not in told
    ]
    for key in sorted(keys, key=lambda key: key not in by_name):
        given = key in by_name or not (base.options or other.options)
        yield Change(key, _text(key, base.config.get(key)), _text(key, other.config.get(key)), given)


def in_words(found: Sequence[Change], most: int = MOST_NAMED) -> str:
    """Changes as text: the first of those that were given by name, and how many more there are."""
    named = [change for change in found if change.given] or list(found)
    shown = named[:most]
    rest, more = len(named) - len(shown), len(found) - len(named)
    parts = [*map(str, shown), *([f"{rest} more"] if rest else [])]
    listed = "; ".join(parts)
    return f"{listed} (and {more} {'keys' if more > 1 else 'key'} that follow{'' if more > 1 else 's'} from it)" if more else listed


def _leaves(tree: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        place = f"{path}.{key}" if path else key
        if isinstance(value, Mapping):
            yield from _leaves(value, place)
        else:
            yield place, value


def _text(key: str, value: Any) -> str:
    if value is None:
        return UNSET
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return json.dumps(value)
    if isinstance(value, str):
        return value
    if key.rpartition(".")[2] in ("bytes", "page_bytes", "map_cache_bytes", "map_unit_bytes") and value:
        return _size(value)
    return f"{int(value)}" if float(value).is_integer() else f"{value:.6g}"


def value_in_words(key: str, text: str) -> str:
    """A value of a key as text, such as `4 MiB` for `4194304` bytes; `default` for none."""
    return _text(key, int(text) if text.isdigit() else text or None)


def _size(count: float) -> str:
    """Bytes in the largest binary unit of which they are at least one."""
    size, unit = next(((size, unit) for size, unit in BINARY if count >= size), (1, "bytes"))
    return f"{count / size:.4g} {unit}"


# ---- what a comparison means -----------------------------------------------------------------------------------------


def of_variants(runs: Mapping[str, RunData], variants: Mapping[str, Any]) -> list[Remark]:
    """Remarks on variants that differ in the requests, in their times, or in the size of the drive; none for schemes."""
    if not variants or len(runs) < 2:
        return []
    first, *others = runs
    alike: dict[tuple[str, ...], list[str]] = {}
    for label in others:
        alike.setdefault(_load(first, label, runs, variants), []).append(label)
    loads = [_of_load(first, found, labels) for found, labels in alike.items() if found[0]]
    return [*loads, *_of_sizes(first, {label: variants[label]["exported_bytes"] for label in runs if label in variants}, variants)]


def _load(first: str, label: str, runs: Mapping[str, RunData], variants: Mapping[str, Any]) -> tuple[str, ...]:
    """Kind of the difference in the load of two runs (`requests`, `measured`, `times`, or empty) and what it comes from."""
    workloads = [dict(_leaves((runs[name].get("config") or {}).get("workload", {}))) for name in (first, label)]
    options = [variants.get(name, {}).get("options", {}) for name in (first, label)]
    keys = dict.fromkeys(key for key in (*workloads[0], *workloads[1]) if key not in NEITHER)
    differing = [key for key in keys if workloads[0].get(key) != workloads[1].get(key)]
    found = [name for name in LENGTHS if options[0].get(name) != options[1].get(name)]
    found += [f"workload.{key}" for key in differing if key not in TIMES]
    generated = not all(workload.get("trace") for workload in workloads)
    if generated and len({variants.get(name, {}).get("exported_bytes") for name in (first, label)}) > 1:
        found.append("the size of the drive, which the addresses cover")
    times = [f"workload.{key}" for key in differing if key in TIMES]
    measured = [WARM_UP] if (options[0].get(WARM_UP) or None) != (options[1].get(WARM_UP) or None) else []
    if found:
        return ("requests", *found, *measured, *times)
    return ("measured", *measured, *times) if measured else ("times", *times) if times else ("",)


ONE_LOAD = "Give all variants one load to compare drives and policies."


def _of_load(first: str, found: tuple[str, ...], labels: Sequence[str]) -> Remark:
    kind, *what = found
    told = few(what, MOST_NAMED)
    if kind == "times":
        sentence = f"The requests are those of {first} at other times ({told}), so differences are of loads too."
        return Remark("other-times", NOTE, "", sentence, ONE_LOAD, tuple(labels))
    if kind == "measured":
        sentence = f"The measured requests are not those of {first} ({told}), so differences are of parts of a run too."
        return Remark("other-requests", WARNING, "", sentence, "Give all variants one warm-up.", tuple(labels))
    sentence = f"The requests are not those of {first} ({told}), so differences are of loads too."
    return Remark("other-requests", WARNING, "", sentence, ONE_LOAD, tuple(labels), why="No difference is taken request by request.")


def _of_sizes(first: str, sizes: Mapping[str, int], variants: Mapping[str, Any]) -> Iterator[Remark]:
    """A remark on the variants whose drive exports more or fewer bytes than the first."""
    base = sizes.get(first)
    others = {label: size for label, size in sizes.items() if base and size != base}
    if not base or not others:
        return
    far = max(max(size, base) / min(size, base) - 1 for size in others.values())
    exact = any(_size(size) == _size(base) for size in others.values())
    written = {label: f"{size:,} bytes" if exact else _size(size) for label, size in {first: base, **others}.items()}
    told = few([f"{label} {written[label]}" for label in others], MOST_NAMED)
    sentence, why = f"Drives export different amounts: {first} {written[first]}; {told} ({_apart(far)}).", ""
    if all(entry.get("fit") for entry in variants.values()) and len({entry["options"].get("fit") for entry in variants.values()}) == 1:
        remedy, why = "Smaller blocks come closer.", "All were fitted, and no size near these is one of all of them."
    else:
        remedy = "Fit all drives to one size: --fit trace, or --fit BYTES."
    severity = WARNING if far > CLOSE else NOTE
    yield Remark("other-sizes", severity, "gc.write_amplification" if severity == WARNING else "", sentence, remedy, why=why)


def _apart(relative: float) -> str:
    if relative < APART_LEAST:
        return f"less than {APART_LEAST:.2%} apart"
    return f"up to {relative:.2%} apart" if relative < 1 else f"up to {1 + relative:,.3g} times as much"
