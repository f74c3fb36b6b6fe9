"""Policies of the user's own: which block garbage collection collects, and which page a full cache evicts."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Protocol

from ssdlab._core import Candidates, EvictionCandidates
from ssdlab.checks import shown
from ssdlab.errors import UsageError

__all__ = ["Eviction", "EvictionPolicy", "Policy", "Victim", "VictimPolicy", "described_eviction", "described_victim"]


class VictimPolicy(Protocol):
    """Which block garbage collection collects: any callable, such as a function, that takes the candidates and names one.

    It is called once for each GC job, those of preconditioning included. It returns the number of a block, `candidates.blocks[i]`; for
    `None` or a block that is no candidate the greedy choice is collected (`result.counters.victim_fallbacks` counts it).

    In place of an instance its class may be given: then each run has one of its own, and so has preconditioning. That is the way to
    remember something from call to call.
    """

    def __call__(self, candidates: Candidates, /) -> int | None:
        """The block to be collected."""


class EvictionPolicy(Protocol):
    """Which page a full cache evicts: any callable, such as a function, that takes the candidates and names one.

    It is called once for each eviction. It returns the number of a page, `candidates.pages[i]`; for `None` or a page that is no candidate
    the page used longest ago is evicted (`result.cache.policy_fallbacks` counts it).

    In place of an instance its class may be given: then each cache has one of its own.
    """

    def __call__(self, candidates: EvictionCandidates, /) -> int | None:
        """The page to be evicted."""


Victim = VictimPolicy | type[VictimPolicy]
Eviction = EvictionPolicy | type[EvictionPolicy]
Policy = tuple[Any, str, str]
"""A policy as the core takes it: the policy, what it is called, and its source text (where there is none: what it is called)."""


def described_victim(victim: Victim | None) -> Policy | None:
    """A victim policy as the core takes it."""
    return _described("victim", "gc.victim", victim)


def described_eviction(eviction: Eviction | None) -> Policy | None:
    """An eviction policy as the core takes it."""
    return _described("eviction", "cache.policy", eviction)


def _described(kind: str, key: str, policy: Any) -> Policy | None:
    if policy is None:
        return None
    if not _can_choose(policy):
        raise UsageError(
            f"{kind} = {shown(policy)}: expected something to call with the candidates; a built-in policy is chosen by the key {key}"
        )
    named = _named(policy)
    name = f"{getattr(named, '__module__', None) or '?'}.{named.__qualname__}"
    try:
        return policy, name, inspect.getsource(named)
    except (OSError, TypeError):
        return policy, name, name


def _can_choose(policy: object) -> bool:
    if isinstance(policy, type):  # every class can be called, for an instance
        return any("__call__" in vars(base) for base in policy.__mro__)
    return callable(policy)


def _named(policy: Any) -> Any:
    """What carries a name and a source: the function, or of another object its class."""
    while isinstance(policy, functools.partial):
        policy = policy.func
    return policy if hasattr(policy, "__qualname__") else type(policy)
