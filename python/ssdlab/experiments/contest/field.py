"""The field: for each kind of policy, what is ranked and on which drives and loads."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

__all__ = ["Case", "Contest", "contests"]

FILES = resources.files("ssdlab.experiments.contest")


@dataclass(frozen=True)
class Case:
    """A drive under a load.

    Attributes:
        name: name in tables.
        options: options of a run.
        set: configuration keys.
        own_set: further keys, only for a policy of one's own.
    """

    name: str
    options: Mapping[str, Any]
    set: Mapping[str, Any]
    own_set: Mapping[str, Any]


@dataclass(frozen=True)
class Contest:
    """What is ranked of one kind of policy.

    Attributes:
        kind: the decision, as the option of `run` that gives a policy is called.
        key: the configuration key that chooses between the built-in policies.
        entries: the built-in policies, the baseline first.
        cases: the drives and loads.
        seeds: the seeds of the runs of each policy.
        bound: a built-in policy that knows what none can know, if there is one: it has no rank.
        version: number of the field; ranks of different numbers cannot be compared.
    """

    kind: str
    key: str
    entries: tuple[str, ...]
    cases: tuple[Case, ...]
    seeds: tuple[int, ...]
    bound: str | None
    version: int


@functools.cache
def contests() -> Mapping[str, Contest]:
    """All contests, by kind of policy."""
    field = tomllib.loads(FILES.joinpath("field.toml").read_text(encoding="utf-8"))
    version, seeds = field.pop("version"), tuple(field.pop("seeds"))
    return {kind: _contest(kind, found, seeds, version) for kind, found in field.items()}


def _contest(kind: str, found: Mapping[str, Any], seeds: tuple[int, ...], version: int) -> Contest:
    cases = tuple(_case(case, found.get("own_set", {})) for case in found["cases"])
    return Contest(kind, found["key"], tuple(found["entries"]), cases, seeds, found.get("bound"), version)


def _case(case: Mapping[str, Any], own_set: Mapping[str, Any]) -> Case:
    options = dict(case["options"])
    if "trace" in options:
        options["trace"] = str(FILES.joinpath(options["trace"]))
    return Case(case["name"], options, case["set"], own_set)
