"""Streams of data placement as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ssdlab.pages.tables.numbers import number, share, size

__all__ = ["Stream", "name_of", "unit_bytes", "used_streams"]


@dataclass(frozen=True)
class Stream:
    """A stream: its name, what the host wrote into it, how many of its blocks were collected, and how valid they were then."""

    name: str
    written: str
    """Empty for a stream of page moves."""
    collected: str
    valid: str
    """Empty if no block was collected."""


def used_streams(result: Mapping[str, Any]) -> list[Stream]:
    """The streams of a run that were used; none without a placement policy."""
    used = [stream for stream in result.get("streams", ()) if stream["blocks_opened"] or stream["blocks_collected"]]
    return [_named(stream, result["config"]) for stream in used]


def name_of(stream: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """Who fills a stream, and the handle or class that it holds."""
    by_handle, by_host = config["ftl"]["placement"] == "handles", stream["writer"] == "host"
    if by_handle and not by_host and config["ftl"]["isolation"] == "initial":
        return "page moves"  # those of all handles together
    return f"{'host' if by_host else 'page moves'}, {'handle' if by_handle else 'class'} {stream['class']}"


def unit_bytes(config: Mapping[str, Any]) -> int:
    """Size of a mapping unit."""
    return int(config["ftl"].get("map_unit_bytes") or config["device"]["page_bytes"])


def _named(stream: Mapping[str, Any], config: Mapping[str, Any]) -> Stream:
    by_host = stream["writer"] == "host"
    return Stream(
        name_of(stream, config),
        size(stream["host_units"] * unit_bytes(config)) if by_host else "",
        number(stream["blocks_collected"]),
        share(stream["valid_share"]) if "valid_share" in stream else "",
    )
