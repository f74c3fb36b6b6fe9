"""Descriptions of figures of results in words, by their path."""

from __future__ import annotations

from collections.abc import Mapping

from ssdlab.pages.report.drawing import Axis, Unit
from ssdlab.pages.report.summary import KINDS, LATENCIES, OTHERS

__all__ = ["described", "key_label"]

ALONE = ("Throughput", "Suspensions", "Wear", "Energy", "Retries", "Array", "Slack")
"""Groups whose rows need no heading, or another one."""
OF_GROUP = {
    "Requests": "(requests)",
    "Garbage collection": "of garbage collection",
    "Bytes written": "(bytes written)",
    "Cache": "of the cache",
}
DRAWN: Mapping[str, Unit] = {"ns": "ns", "share": "share", "per_s": "per_s"}
"""Units that axes support."""
ENDS: Mapping[str, Unit] = {"_ns": "ns", "_share": "share", "_ratio": "share", "iops": "per_s", "_per_s": "per_s"}
KEY_UNITS = {"_us": "µs", "_ns": "ns", "_ms": "ms", "_s": "s", "_kb": "KiB", "_bytes": "bytes", "_share": "share"}


def described(place: str) -> Axis:
    """The axis for a number of a result: description and unit."""
    names = place.split(".")
    if names[0] == "latency_ns" and len(names) == 3 and names[2] in LATENCIES:
        kind = "" if names[1] == "all" else f" of {KINDS.get(names[1], names[1].replace('_', ' '))}"
        return Axis(f"{LATENCIES[names[2]]} response time{kind}", "ns")
    for group, places in OTHERS.items():
        for known in places:
            if known.place == place:
                words = known.name if known.name.startswith("write ampl") else f"{known.name}{_belonging(group, known.name)}"
                return Axis(words, DRAWN.get(known.unit, "count"))
    return Axis(_plain(names), _unit(names))


def key_label(key: str) -> str:
    """A configuration key, with the unit that its name ends with."""
    for end, unit in KEY_UNITS.items():
        if key.endswith(end):
            return f"{key.removesuffix(end)} ({unit})"
    return key


def _belonging(group: str, name: str) -> str:
    if group in ALONE:
        return " (slack)" if group == "Slack" else ""
    return "" if "pool" in name else f" {OF_GROUP[group]}"


def _plain(names: list[str]) -> str:
    """Words of a path, with the last one after a colon: `breakdown_ns.read.gc` is `breakdown, read: gc`."""
    words = [name.removesuffix("_ns").replace("_", " ") for name in names]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])}: {words[-1]}"


def _unit(names: list[str]) -> Unit:
    if names[-1] in ("count", "cv", "variance"):
        return "count"
    for name in reversed(names):
        for end, unit in ENDS.items():
            if name.endswith(end):
                return unit
    return "share" if names[0] == "utilisation" else "count"
