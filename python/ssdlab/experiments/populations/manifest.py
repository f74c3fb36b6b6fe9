"""The public collections of traces that ssdlab knows."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

__all__ = ["Collection", "collections"]


@dataclass(frozen=True)
class Collection:
    """A public collection of traces."""

    name: str
    about: str
    where: str
    """Address of the page from which a person gets it."""
    licence: str
    reader: str
    """Name of the trace format (`workload.format`)."""
    md5: Mapping[str, str] = field(default_factory=dict)
    """MD5 checksums of files, as its publisher prints them; empty if it prints none."""

    def to_dict(self) -> dict[str, Any]:
        """A copy as a dictionary, as printed by `--json`."""
        return {**{name: getattr(self, name) for name in ("name", "about", "where", "licence", "reader")}, "md5": dict(self.md5)}


@functools.cache
def collections() -> tuple[Collection, ...]:
    """The collections, in the order of their file."""
    text = resources.files("ssdlab.experiments.populations").joinpath("collections.toml").read_text(encoding="utf-8")
    return tuple(Collection(**entry) for entry in tomllib.loads(text)["collections"])
