"""The figures that runs can have, by the core's schema of a result."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from ssdlab import _core
from ssdlab.analysis.measures import NOT_SIMULATED

__all__ = ["figures", "is_known"]

ADDED = ("capacity",)
"""Entries of a result with numbers that the core does not know."""
NUMBERS = {"integer", "number"}


def is_known(path: str) -> bool:
    """Whether runs can have a number of this path, such as `latency_ns.read.p99`."""
    first, *_ = path.split(".")
    if first in (*ADDED, *NOT_SIMULATED):
        return first in ADDED
    node = _schema()
    for name in path.split("."):
        entries = node.get("properties", {})
        if name not in entries:
            return _is_open(node)
        node = entries[name]
    return _is_number(node)


def figures() -> list[str]:
    """The paths of all numbers of the schema."""
    return [path for path in _paths(_schema(), "") if path.partition(".")[0] not in NOT_SIMULATED]


@lru_cache(maxsize=1)
def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(_core.statistics_schema())
    return schema


def _paths(node: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for name, entry in node.get("properties", {}).items():
        if _is_number(entry):
            yield prefix + name
        yield from _paths(entry, f"{prefix}{name}.")


def _types(node: Mapping[str, Any]) -> set[str]:
    of = node.get("type", [])
    return {of} if isinstance(of, str) else {*of}


def _is_number(node: Mapping[str, Any]) -> bool:
    return bool(_types(node) & NUMBERS)


def _is_open(node: Mapping[str, Any]) -> bool:
    """Whether the schema leaves open what is in an entry."""
    return bool(node.get("additionalProperties")) or ("properties" not in node and not _types(node) - {"object", "null"})
