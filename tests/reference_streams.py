"""Which stream a page goes to, for the slow and simple FTL: written from the model's description, without the core's sources."""

from __future__ import annotations

import math
from typing import Any

Stream = tuple[str, int]
"""A writer, `host` or `move`, and its class."""


class Streams:
    """Data placement of `config` on a drive of `pages` logical pages. Every page and move is of class 0 without a policy."""

    def __init__(self, config: dict[str, Any], pages: int) -> None:
        self.policy: str = config.get("placement", "none")
        self.handles: int = config.get("handles", 8)
        self.default_handle: int = config.get("default_handle", 0)
        self.persistent = config.get("isolation", "initial") == "persistent"
        self.shares = config.get("frontier", "separate") == "shared"
        self.hot = math.floor(pages * config.get("hot_within", 0.25))
        self.now = 0
        self.last = [0] * pages
        """Time of the last write to each page, in pages that the host has written."""
        self.life: float = math.inf
        self.lives: list[int] = []
        self.opened_at: dict[int, int] = {}
        self.displaced = 0
        """Moves to another class than the policy's, for lack of a free block."""

    @property
    def host_classes(self) -> int:
        """Number of classes of host writes."""
        return {"handles": self.handles, "hot-cold": 2, "sepbit": 2}.get(self.policy, 1)

    @property
    def move_classes(self) -> int:
        """Number of classes of moves. With a shared frontier they fill the blocks of the host."""
        sepbit = 2 if self.shares else 4
        return {"handles": self.handles if self.persistent else 1, "hot-cold": 2, "sepbit": sepbit}.get(self.policy, 1)

    @property
    def count(self) -> int:
        """Number of streams."""
        return self.host_classes + (0 if self.shares else self.move_classes)

    @property
    def parts_programs(self) -> bool:
        """Whether units that come, or are moved, together may have several classes."""
        return self.policy in ("hot-cold", "sepbit")

    def of_host(self, lpn: int, handle: int | None, *, is_new: bool) -> Stream:
        """The stream of a host write."""
        age = self.now - self.last[lpn]
        if self.policy == "handles":
            return ("host", self.default_handle if handle is None else handle)
        if self.policy == "hot-cold":
            return ("host", int(is_new or age >= self.hot))
        if self.policy == "sepbit":
            return ("host", int(is_new or age >= self.life))
        return ("host", 0)

    def of_fill(self) -> Stream:
        """The stream whose open block the first fill leaves."""
        return self.of_host(0, None, is_new=True)

    def filled(self) -> None:
        """The first fill has written all pages, in order."""
        for lpn in range(len(self.last)):
            self.written(lpn)

    def of_move(self, lpn: int, source: Stream | None) -> Stream:
        """The stream of a move out of a block that `source` has filled; `None`: the first fill has."""
        writer = "host" if self.shares else "move"
        age = self.now - self.last[lpn]
        if self.policy == "handles" and self.persistent:
            return (writer, self.default_handle if source is None else source[1])
        if self.policy == "hot-cold":
            return (writer, int(age >= self.hot))
        if self.policy == "sepbit" and self.shares:
            # A block has data of the host and moved data, so that its stream tells nothing.
            return (writer, int(age >= 4 * self.life))
        if self.policy == "sepbit":
            return (writer, 0 if source == ("host", 0) else 1 + (age >= 4 * self.life) + (age >= 16 * self.life))
        return (writer, 0)

    def written(self, lpn: int) -> None:
        """A page of the host is in flash."""
        self.last[lpn] = self.now
        self.now += 1

    def opened(self, block: int) -> None:
        """A block begins to be filled."""
        self.opened_at[block] = self.now

    def collected(self, block: int, filled_by: Stream | None) -> None:
        """A block has become a victim."""
        if filled_by == ("host", 0):
            self.lives.append(self.now - self.opened_at[block])
            if len(self.lives) == 16:
                self.life, self.lives = sum(self.lives) // 16, []
