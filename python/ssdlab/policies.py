"""User-defined policies for garbage collection's victims and for cache evictions."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Protocol

from ssdlab._core import Candidates, EvictionCandidates
from ssdlab.checks import shown
from ssdlab.errors import UsageError

__all__ = ["Eviction", "EvictionPolicy", "Policy", "Victim", "VictimPolicy", "described_eviction", "described_victim"]


class VictimPolicy(Protocol):
    """Selects the block that garbage collection collects. Any callable, such as a function, that takes the candidates can be used.

    It is called once per GC job, also during preconditioning. It returns the number of a block, `candidates.blocks[i]`. For `None` or a
    block that is not a candidate, the greedy choice is collected (counted in `result.counters.victim_fallbacks`).

    A class can be given instead of an instance. Each run then creates its own instance, and so does preconditioning. Use a class for a
    policy that keeps state between calls.
    """

    def __call__(self, candidates: Candidates, /) -> int | None:
        """Returns the number of the block to collect."""


class EvictionPolicy(Protocol):
    """Selects the page that a full cache evicts. Any callable, such as a function, that takes the candidates can be used.

    It is called once per eviction. It returns the number of a page, `candidates.pages[i]`. For `None` or a page that is not a candidate,
    the least recently used page is evicted (counted in `result.cache.policy_fallbacks`).

    A class can be given instead of an instance. Each cache then creates its own instance.
    """

    def __call__(self, candidates: EvictionCandidates, /) -> int | None:
        """Returns the number of the page to evict."""


Victim = VictimPolicy | type[VictimPolicy]
Eviction = EvictionPolicy | type[EvictionPolicy]
Policy = tuple[Any, str, str]
"""A policy in the form of the core: the callable, its name, and its source text (or its name, if the source is not available)."""


def described_victim(victim: Victim | None) -> Policy | None:
    """A victim policy in the form of the core."""
    return _described("victim", "gc.victim", victim)


def described_eviction(eviction: Eviction | None) -> Policy | None:
    """An eviction policy in the form of the core."""
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
    if isinstance(policy, type):  # a class is callable too, which creates an instance
        return any("__call__" in vars(base) for base in policy.__mro__)
    return callable(policy)


def _named(policy: Any) -> Any:
    """The object with the policy's name and source: the function, or the class of another object."""
    while isinstance(policy, functools.partial):
        policy = policy.func
    return policy if hasattr(policy, "__qualname__") else type(policy)
