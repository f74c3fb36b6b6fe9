"""The runs of an arena: every policy of a kind on every drive and load of the field."""

from __future__ import annotations

import copy
import inspect
import itertools
import os
import stat
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ssdlab.asking.plans import Setup
from ssdlab.asking.policies import Eviction, Order, Placement, Victim
from ssdlab.checks import nearest, shown, text, truth
from ssdlab.errors import UsageError
from ssdlab.experiments.contest.field import Case, Contest, contests
from ssdlab.experiments.contest.kinds import kind_of, policies_in
from ssdlab.experiments.contest.ranking import FIGURES, Arena, ranked, warnings_of
from ssdlab.runs.batch import Job, Progress, execute
from ssdlab.runs.variants import pairs

__all__ = ["Entered", "arena", "entered", "held", "located"]

QUICK: Mapping[str, int] = MappingProxyType({"requests": 10_000, "warm_up": 2_000})
"""Length of a quick run."""


AGAIN = 0
"""In place of a seed: the first case and seed of the user's policy once more, to see whether it decides alike."""


class Entered(NamedTuple):
    """A contest that is ready to begin.

    Attributes:
        contest: what is ranked, and on what.
        name: name of the user's policy; `None` without one.
        runs: the runs, by policy, case and seed; one of the user's policy is there twice (`AGAIN` in place of a seed).
        quick: whether they are too short for ranks that mean something.
    """

    contest: Contest
    name: str | None
    runs: Mapping[tuple[str, str, int], Job]
    quick: bool


def arena(
    policy: Victim | Eviction | Order | Placement | None = None,
    *,
    kind: str | None = None,
    by: str = "p99.9",
    quick: bool = False,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Arena:
    """Ranks a policy of one's own beside all built-in policies of its kind, on a fixed set of drives and loads.

    Args:
        policy: the policy: a class, a function, or a text such as `ours.py:Ours`; the name can be left out if the file defines one policy.
            Without one the built-in policies are ranked. Each run has its own instance of a class, or its own copy of another object.
        kind: what the policy decides: `victim`, `eviction`, `order` or `placement`. By default that is seen from the attributes that it
            uses of its argument.
        by: the figure to rank by: `p99.9`, `mean` or `wa` (write amplification).
        quick: whether each run is short: to see in seconds that a policy works. Its rank says nothing then.
        jobs: runs at once, at most; by default one per processor.
        progress: called with the share done.

    Raises:
        ssdlab.UsageError: it is not clear what the policy decides, or there is no such kind or figure.
        ssdlab.Error: a run failed; what had finished is in the exception's `finished`.
    """
    _check_figure(by)
    return held(entered(policy, kind, quick=quick), by, jobs=jobs, progress=progress)


def _check_figure(by: str) -> None:
    if by not in FIGURES:
        raise UsageError(f"by = {shown(by)}: expected one of {', '.join(FIGURES)}{nearest(str(by), FIGURES)}")


def entered(policy: Any, kind: str | None, *, quick: bool = False) -> Entered:
    """The contest of a policy, or, without one, of the built-in policies of a kind. Checks all runs before the first begins."""
    length = QUICK if truth("quick", quick) else {}
    found, own = located(policy, kind)
    contest = contests()[found]
    name = None if own is None else own if isinstance(own, str) else getattr(own, "__qualname__", type(own).__qualname__)
    if name in contest.entries:
        name = f"own {name}"
    if quick:
        contest = replace(contest, seeds=contest.seeds[:1])
    return Entered(contest, name, dict(_runs(contest, own, name, length)), quick)


def held(contest: Entered, by: str, *, jobs: int | None = None, progress: Progress | None = None) -> Arena:
    """Runs a contest, and ranks the policies by a figure."""
    _check_figure(by)
    batch = execute(list(contest.runs.values()), workers=jobs, progress=progress)
    batch.raise_failure()
    results: dict[str, dict[str, list[Any]]] = {}
    digests: dict[str, list[str]] = {}
    for (entry, case, seed), job in contest.runs.items():
        run = batch.finished[job.label].to_dict()
        if entry == contest.name and case == contest.contest.cases[0].name and seed in (AGAIN, contest.contest.seeds[0]):
            digests.setdefault(entry, []).append(run["digest"])
        if seed != AGAIN:
            results.setdefault(entry, {}).setdefault(case, []).append(run)
    of = contest.contest
    repeats = len(set(digests[contest.name])) == 1 if contest.name is not None else None
    standings, remarks = ranked(results, contest.name, by, of.bound), {} if contest.quick else warnings_of(results)
    return Arena(of.kind, of.version, by, of.entries[0], standings, remarks, len(of.seeds), repeats, contest.quick)


def located(policy: Any, kind: str | None) -> tuple[str, Any]:
    """The kind of a policy, and the policy with its name if a text names only its file.

    Raises:
        UsageError: there is no such kind, or the file does not tell which policy is meant or what it decides.
    """
    if kind is not None and kind not in contests():
        raise UsageError(f"kind = {shown(kind)}: expected one of {', '.join(contests())}{nearest(str(kind), contests())}")
    if policy is None:
        if kind is None:
            raise UsageError(f"nothing to rank: name a file with a policy, or a kind of policies: {', '.join(contests())}")
        return kind, None
    if isinstance(policy, str | os.PathLike):
        return _in_file(os.fspath(policy), kind)
    if not callable(policy):
        raise UsageError(f"policy = {shown(policy)}: expected a class, a function, or a text such as ours.py:Ours")
    return kind or _kind_of_object(policy), policy


def _kind_of_object(policy: Any) -> str:
    defined = policy if inspect.isclass(policy) or inspect.isfunction(policy) else type(policy)
    try:
        return kind_of(textwrap.dedent(inspect.getsource(defined)), defined.__name__)
    except (OSError, TypeError, SyntaxError):  # a lambda is not a text by itself
        raise UsageError(f"{shown(policy)}: its source cannot be read: name its kind (kind = ...)") from None


def _in_file(policy: str, kind: str | None) -> tuple[str, str]:
    text("policy", policy)
    file, colon, name = policy.rpartition(":")
    if not colon or not name.isidentifier():
        file, name = policy, ""
    if not file.endswith(".py"):
        raise UsageError(f'policy = "{policy}": expected FILE.py or FILE.py:NAME; --kind alone ranks the built-in policies')
    source, there = _policies_of(file)
    if not name and len(there) != 1:
        raise UsageError(f"{file}: it defines {', '.join(there) or 'no policy'}: expected one, or FILE.py:NAME")
    name = name or there[0]
    if name not in there and kind is None:
        known = f"{nearest(name, there)} (it defines {', '.join(there) or 'none'})"
        raise UsageError(f"{file} defines no policy {name}{known}: if it is from elsewhere, name its kind")
    return kind or kind_of(source, name), f"{file}:{name}"


def _policies_of(file: str) -> tuple[str, list[str]]:
    """The text of a file, and the names of the policies in it."""
    try:
        if not stat.S_ISREG(Path(file).stat().st_mode):  # a pipe would never end
            raise UsageError(f"{file} is not a regular file: expected a file of Python code")
        source = Path(file).read_text(encoding="utf-8-sig")
        return source, policies_in(source)
    except (OSError, UnicodeDecodeError) as reason:
        raise UsageError(f"{file}: cannot be read as Python code: {getattr(reason, 'strerror', None) or reason}") from reason
    except SyntaxError as reason:
        raise UsageError(f"{file}, line {reason.lineno or 1}: {reason.msg}") from reason
    except (ValueError, RecursionError, MemoryError) as reason:
        raise UsageError(f"{file}: cannot be parsed as Python code: {reason}") from reason


def _copied(policy: Any) -> Any:
    """A policy for one run: an object with state is copied, so that runs at the same time do not share it."""
    try:
        return copy.deepcopy(policy)
    except Exception as reason:
        raise UsageError(f"{shown(policy)}: each run needs a copy of its own: {reason}; give the class instead") from reason


def _runs(contest: Contest, own: Any, name: str | None, length: Mapping[str, int]) -> Iterator[tuple[tuple[str, str, int], Job]]:
    """The runs of a contest, by policy, case and seed. `own`: the user's policy, if any; `name`: its name; `length`: options of runs."""
    cases = [replace(case, options={**case.options, **length}) for case in contest.cases]
    for case, seed in itertools.product(cases, contest.seeds):
        for entry in contest.entries:
            yield (entry, case.name, seed), _job(case, entry, seed, {contest.key: entry})
        if name is not None:
            yield (name, case.name, seed), _own_job(case, name, contest.kind, own, seed)
    if name is not None:
        yield (name, cases[0].name, AGAIN), _own_job(cases[0], name, contest.kind, own, contest.seeds[0], "again")


def _own_job(case: Case, name: str, kind: str, own: Any, seed: int, which: str = "") -> Job:
    return _job(case, name, seed, case.own_set, {kind: _copied(own)}, which)


def _job(case: Case, entry: str, seed: int, keys: Mapping[str, Any], own: Mapping[str, Any] | None = None, which: str = "") -> Job:
    options = dict(case.options)
    scheme = options.pop("scheme")
    setup = Setup(set=pairs({**case.set, **keys}), shared=True, seed=seed, **options, **(own or {}))
    return Job.prepare(f"{entry} on {case.name}, seed {seed} {which}".strip(), setup, scheme, folder=None)
