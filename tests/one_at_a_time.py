"""Plays random requests of one page on a simulated drive and on a slow reference, one after the other, and compares them after each."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import ssdlab

SETTLED_NS = 10_000_000_000
"""More time than any small drive needs for a request and all following jobs."""


class Reference(Protocol):
    """What a reference does for a request."""

    exported_pages: int

    def write(self, lpn: int) -> None: ...

    def trim(self, lpn: int) -> None: ...


def keys_of(config: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A configuration tree as keys with their values."""
    return {f"{section}.{key}": value for section, part in config.items() for key, value in part.items()}


def play(
    drive: ssdlab.Simulator,
    reference: Reference,
    agree: Callable[[str], None],
    dice: random.Random,
    *,
    hot: int,
    requests: int,
    reads: float = 0.0,
) -> None:
    """Writes, and one in ten times trims, pages below `hot`.

    `reads`: share of the requests that are reads; `agree`: compares, and is told after which request.
    """
    for number in range(requests):
        lpn = dice.randrange(hot)
        op: Any = "trim" if dice.random() < 0.1 else "write"
        op = "read" if reads and dice.random() < reads else op
        drive.submit(ssdlab.Request(op=op, offset=lpn * 4096, length=4096))
        drive.run_until(drive.now_ns + SETTLED_NS)
        getattr(reference, op)(lpn)
        agree(f"after request {number}, {op} of page {lpn}")
