"""A log of blocks with data placement, written from the papers and without the core's sources, against which the drive is compared.

It has no time and no dies: a list of blocks, each filled by one stream of writes. SepBIT: Q. Wang et al., Separating Data via Block
Invalidation Time Inference for Write Amplification Reduction in Log-Structured Storage, FAST 2022, Algorithm 1. Pages are called blocks
there, and blocks segments.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Literal

Scheme = Literal["shared", "separate", "handles", "handles persistent", "hot-cold", "sepbit"]


class Log:
    """A log of `blocks` blocks of `size` pages that holds `pages` logical pages, and keeps `free` blocks free."""

    def __init__(self, scheme: Scheme, pages: int, blocks: int, size: int, free: int, *, cost_benefit: bool = False) -> None:
        self.scheme, self.size, self.keep_free, self.cost_benefit = scheme, size, free, cost_benefit
        self.free = list(range(blocks))
        self.content: list[list[int]] = [[] for _ in range(blocks)]
        self.valid = [0] * blocks
        self.closed_at = [0] * blocks
        """By block: number of blocks closed before it."""
        self.stamp = [0] * blocks
        """By block: when its number of valid pages last changed. Equal victims go by that."""
        self.changes = 0
        self.class_of, self.opened_at = [""] * blocks, [0] * blocks
        self.place: list[tuple[int, int]] = [(-1, -1)] * pages
        self.last = [-math.inf] * pages
        """By page: the time of its last write. Time counts pages that the host has written."""
        self.open: dict[str, int] = {}
        self.closed: set[int] = set()
        self.time = self.moves = self.number_closed = 0
        self.life, self.lives = math.inf, list[int]()
        """SepBIT: the threshold l, and lives of class-1 blocks collected since it was set."""

    def write(self, page: int, handle: int = 0) -> None:
        """The host writes a page."""
        self._append(page, self._host_class(page, handle))
        self.last[page] = self.time
        self.time += 1
        while len(self.free) < self.keep_free:
            self._collect()

    def _host_class(self, page: int, handle: int) -> str:
        age = self.time - self.last[page]
        match self.scheme:
            case "shared" | "separate":
                return "host"
            case "handles" | "handles persistent":
                return f"host {handle}"
            case "hot-cold":
                return "hot" if age < len(self.last) // 4 else "cold"
            case "sepbit":
                return "1" if age < self.life else "2"

    def _move_class(self, page: int, source: str) -> str:
        age = self.time - self.last[page]
        match self.scheme:
            case "shared":
                return "host"
            case "separate" | "handles":
                return "moves"
            case "handles persistent":
                return f"moves {source[-1]}"
            case "hot-cold":
                return "moves hot" if age < len(self.last) // 4 else "moves cold"
            case "sepbit":
                if source == "1":
                    return "3"
                return "4" if age < 4 * self.life else "5" if age < 16 * self.life else "6"

    def _append(self, page: int, kind: str) -> None:
        old, _ = self.place[page]
        if old >= 0:
            self.valid[old] -= 1
            self._changed(old)
        block = self.open.get(kind, -1)
        if block < 0:
            block = self.open[kind] = self.free.pop(0)
            self.class_of[block], self.opened_at[block] = kind, self.time
        self.place[page] = (block, len(self.content[block]))
        self.content[block].append(page)
        self.valid[block] += 1
        self._changed(block)
        if len(self.content[block]) == self.size:
            del self.open[kind]
            self.closed.add(block)
            self.closed_at[block] = self.number_closed
            self.number_closed += 1

    def _changed(self, block: int) -> None:
        self.changes += 1
        self.stamp[block] = self.changes

    def _collect(self) -> None:
        victim = min(self.closed, key=self._rank)
        self.closed.remove(victim)
        if self.class_of[victim] == "1":
            self.lives.append(self.time - self.opened_at[victim])
            if len(self.lives) == 16:
                self.life, self.lives = sum(self.lives) / 16, []
        for offset, page in enumerate(self.content[victim]):
            if self.place[page] == (victim, offset):
                self.moves += 1
                self._append(page, self._move_class(page, self.class_of[victim]))
        self.content[victim] = []
        self.free.append(victim)

    def _rank(self, block: int) -> tuple[float, int]:
        if not self.cost_benefit:
            return self.valid[block], self.stamp[block]
        share = self.valid[block] / self.size
        age = self.number_closed - self.closed_at[block]
        return (-age * (1 - share) / (2 * share) if share else -math.inf), self.stamp[block]


def zipf(pages: int, exponent: float, seed: int) -> Iterator[int]:
    """Pages drawn by Zipf's law, the popular ones anywhere."""
    draws = random.Random(seed)
    order = list(range(pages))
    draws.shuffle(order)
    weights = [1 / rank**exponent for rank in range(1, pages + 1)]
    while True:
        yield from (order[rank] for rank in draws.choices(range(pages), weights, k=4096))


def write_amplification(log: Log, addresses: Iterator[tuple[int, int]], warm_up: int, measured: int) -> float:
    """Write amplification of `measured` writes of page and handle after `warm_up` such writes to a full log."""
    for page in range(len(log.last)):
        log.write(page)
    for _ in range(warm_up):
        log.write(*next(addresses))
    before = log.moves
    for _ in range(measured):
        log.write(*next(addresses))
    return 1 + (log.moves - before) / measured
