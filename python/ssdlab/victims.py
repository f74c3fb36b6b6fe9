"""Victim policies of the user's own."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Protocol

from ssdlab._core import Candidates
from ssdlab.errors import UsageError

__all__ = ["Victim", "VictimPolicy", "described"]


class VictimPolicy(Protocol):
    """Which block garbage collection collects: any callable, such as a function, that takes the candidates and names one.

    It is called once for each GC job, those of preconditioning included. It returns the number of a block, `candidates.blocks[i]`; for
    `None` or a block that is no candidate the greedy choice is collected (`result.counters.victim_fallbacks` counts it).

    In place of an instance its class may be given: then each run has one of its own, and so has preconditioning. That is the way to
    remember something from call to call.
    """

    def __call__(self, candidates: Candidates, /) -> int | None:
        """The block to be collected."""


Victim = VictimPolicy | type[VictimPolicy]


def described(victim: Victim) -> tuple[Victim, str, str]:
    """The policy, what it is called, and its source text (where there is none: what it is called)."""
    if not _can_choose(victim):
        raise UsageError(
            f"victim = {victim!r}: expected something to call with the candidates; a built-in policy is chosen by the key gc.victim"
        )
    named = _named(victim)
    name = f"{getattr(named, '__module__', None) or '?'}.{named.__qualname__}"
    try:
        return victim, name, inspect.getsource(named)
    except (OSError, TypeError):
        return victim, name, name


def _can_choose(victim: object) -> bool:
    if isinstance(victim, type):  # every class can be called, for an instance
        return any("__call__" in vars(base) for base in victim.__mro__)
    return callable(victim)


def _named(victim: Any) -> Any:
    """What carries a name and a source: the function, or of another object its class."""
    while isinstance(victim, functools.partial):
        victim = victim.func
    return victim if hasattr(victim, "__qualname__") else type(victim)
