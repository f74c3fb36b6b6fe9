"""A log-structured volume as SepBIT's paper has it, written from the paper and without the core's sources.

Q. Wang et al., Separating Data via Block Invalidation Time Inference for Write Amplification Reduction in Log-Structured Storage, FAST
2022.
Segments are unlimited in number: collection begins when the share of invalid blocks among all written ones (garbage proportion) exceeds a
threshold, and takes one segment after another until it does not. Blocks of the paper are pages of a drive, segments its blocks.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Scheme = Literal["NoSep", "SepGC", "SepBIT"]
Victims = Literal["greedy", "cost-benefit"]


class Volume:
    """A volume of `blocks` blocks in segments of `size`."""

    def __init__(self, scheme: Scheme, victims: Victims, blocks: int, size: int, garbage: float) -> None:
        self.scheme, self.victims, self.size, self.garbage = scheme, victims, size, garbage
        segments = 2 * blocks // size
        self.content: list[list[int]] = [[] for _ in range(segments)]
        self.valid = np.zeros(segments, np.int64)
        self.sealed = np.zeros(segments, bool)
        self.sealed_at = np.zeros(segments, np.int64)
        self.created, self.class_of = [0] * segments, [0] * segments
        self.unused = list(range(segments))
        self.place = [-1] * blocks
        """By block: segment x size + place in it."""
        self.last = [-1] * blocks
        """By block: when the host wrote it last, in blocks that the host has written."""
        self.open: dict[int, int] = {}
        self.time = self.moves = self.written = 0
        self.life, self.lives = float("inf"), list[int]()

    def write(self, block: int) -> None:
        """The host writes a block."""
        kind = 1
        if self.scheme == "SepBIT":
            before = self.last[block]
            kind = 1 if before >= 0 and self.time - before < self.life else 2
        self._append(block, kind)
        self.last[block] = self.time
        self.time += 1
        while self.written - len(self.place) > self.garbage * self.written and self.time >= len(self.place):
            self._collect()

    def _append(self, block: int, kind: int) -> None:
        old = self.place[block]
        if old >= 0:
            self.valid[old // self.size] -= 1
        segment = self.open.get(kind, -1)
        if segment < 0:
            segment = self.open[kind] = self.unused.pop()
            self.created[segment], self.class_of[segment] = self.time, kind
        content = self.content[segment]
        self.place[block] = segment * self.size + len(content)
        content.append(block)
        self.valid[segment] += 1
        self.written += 1
        if len(content) == self.size:
            del self.open[kind]
            self.sealed[segment], self.sealed_at[segment] = True, self.time

    def _collect(self) -> None:
        victim = self._victim()
        kind = self.class_of[victim]
        if kind == 1 and self.scheme == "SepBIT":
            self.lives.append(self.time - self.created[victim])
            if len(self.lives) == 16:
                self.life, self.lives = sum(self.lives) / 16, []
        self.sealed[victim] = False
        first = victim * self.size
        for at, block in enumerate(self.content[victim], first):
            if self.place[block] == at:
                self.moves += 1
                self._append(block, self._class_of_move(block, kind))
        self.written -= self.size
        self.content[victim] = []
        self.unused.append(victim)

    def _class_of_move(self, block: int, kind: int) -> int:
        if self.scheme == "NoSep":
            return 1
        if self.scheme == "SepGC" or kind == 1:
            return 3
        age = self.time - self.last[block]
        return 4 if age < 4 * self.life else 5 if age < 16 * self.life else 6

    def _victim(self) -> int:
        if self.victims == "greedy":
            # Among equals the segment sealed first.
            return int(np.argmin(np.where(self.sealed, self.valid * (1 << 40) + self.sealed_at, 1 << 60)))
        # Garbage x age / the rest, which is infinite for a segment without valid blocks.
        share = self.valid / self.size
        with np.errstate(divide="ignore"):
            worth = (1 - share) / share * (self.time - self.sealed_at + 1)
        return int(np.argmax(np.where(self.sealed, worth, -1.0)))


def zipf(blocks: int, exponent: float, count: int, seed: int) -> NDArray[np.int64]:
    """Blocks drawn by Zipf's law, the popular ones anywhere."""
    dice = np.random.default_rng(seed)
    shares = np.cumsum(np.arange(1, blocks + 1, dtype=float) ** -exponent)
    ranks = np.searchsorted(shares, dice.random(count) * shares[-1])
    return dice.permutation(blocks)[ranks]


def write_amplification(volume: Volume, exponent: float, fills: int, counted: int, seed: int = 1) -> float:
    """Write amplification of the last `counted` of `fills` volume writes; the first is in sequence."""
    blocks = len(volume.place)
    for block in range(blocks):
        volume.write(block)
    draws = zipf(blocks, exponent, (fills - 1) * blocks, seed).tolist()
    for block in draws[: (fills - 1 - counted) * blocks]:
        volume.write(block)
    before = volume.moves
    for block in draws[(fills - 1 - counted) * blocks :]:
        volume.write(block)
    return 1 + (volume.moves - before) / (counted * blocks)
