"""The highest rate of requests that a drive sustains, found by a search, and runs whose load is a share of it.

A drive sustains a rate if its backlog does not grow through the run (`ssdlab.analysis.backlog`). The search runs the requests of the run
itself at other rates: first at the workload's own, or all at once, which gives a first guess; then 5 % above the guess, which the drive
must not sustain, and 5 % below, which it must. The capacity is the rate at which the drive works while it is just overloaded.

A capacity belongs to the drive, scheme and requests: the search takes the seed and the first requests of the run, at most 200,000 after the
warm-up. It is deterministic, and kept beside the states of drives for later runs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from ssdlab import _core
from ssdlab.analysis.backlog import FEWEST, RESOLUTION, Backlog, backlog
from ssdlab.asking.plans import SCALE_KEY, Loaded, Setup, requests_of, warm_up_of
from ssdlab.errors import ConfigError, Error, FileError, Interrupted, UsageError
from ssdlab.runs.batch import Job, execute
from ssdlab.runs.identity import hashes_of_inputs, without_absent
from ssdlab.runs.result import Result
from ssdlab.system.folders import write_json
from ssdlab.system.json_text import read_json
from ssdlab.system.progress import ShareProgress, is_reading_shown
from ssdlab.system.states import state_folder

__all__ = ["Capacity", "Wanted", "with_loads"]

MARGIN = 0.05
"""Relative distance from the capacity at which the drive must be seen to sustain a rate, and not to sustain one."""
AT_ONCE = 1e6
"""Factor of a workload's rate at which all requests arrive at once, the largest there is."""
MOST_RUNS = 16
"""Maximum number of runs of a search."""
MOST_REQUESTS = 200_000
"""Maximum number of requests of a run of a search, after the warm-up."""
FOLDER = "capacities"
"""Folder of capacities found before, in that of the states of drives."""
VERSION = 5
"""Version of the search: a change of its outcome raises it."""


@dataclass(frozen=True)
class Capacity:
    """The highest rate that a drive sustains, in requests per second, and what it rests on."""

    iops: float
    low_iops: float
    """Lower end of the 95 % interval, which includes faster rates that the drive was seen to sustain. Of a trace it is about these very
    requests; of a generated workload about others of the kind."""
    high_iops: float
    sustained_iops: float
    """The highest rate at which the backlog was not seen to grow."""
    grew_iops: float
    """The lowest rate at which it grew."""
    drift: float
    """Relative change of the rate within the run that shows it, of a generated workload; 0 if it is below 5 %, or may be chance."""
    time_scale: float
    """The capacity as a factor of the workload's own rate."""
    runs: int
    """Number of runs of the search."""


class Wanted(NamedTuple):
    """A run whose load may be a share of a capacity."""

    label: str
    """Name of the run in messages."""
    setup: Setup
    scheme: str | None
    of: tuple[Setup, str | None] | None = None
    """Setup and scheme of the drive whose capacity counts, where it is another one."""


def with_loads(wanted: Sequence[Wanted], *, workers: int | None = None, refused: dict[str, Error] | None = None) -> list[Setup]:
    """The setups of runs, with the rates that their loads stand for. Setups without `load` are returned as they are.

    Runs with the same drive, scheme and requests share a search; searches run in parallel.

    Args:
        wanted: the runs.
        workers: maximum number of runs at once.
        refused: takes the errors of runs whose load has no rate, by label; their setups are returned as they are. By default the first is
            raised.

    Raises:
        UsageError: the workload has no arrivals, too few requests, or never fills the drive.
        ssdlab.Error: a run of a search failed.
        ssdlab.Interrupted: Ctrl-C.
    """
    keys: list[str | None] = [None] * len(wanted)
    searches: dict[str, _Search] = {}
    for index, one in enumerate(wanted):
        if one.setup.options["load"] is not None:
            with _noting(refused, one.label), _naming(one.label):
                search = _Search.of(one)
                keys[index] = search.key
                searches.setdefault(search.key, search)
    wrong: dict[str, Error] | None = None if refused is None else {}
    _find(list(searches.values()), workers, wrong)
    setups = [one.setup for one in wanted]
    for index, (one, key) in enumerate(zip(wanted, keys, strict=True)):
        if key is not None:
            with _noting(refused, one.label):
                if wrong and key in wrong:
                    raise wrong[key]
                with _naming(one.label):
                    setups[index] = one.setup.with_changes(loaded_as=_loaded(one.setup, searches[key].capacity))
    return setups


def _loaded(setup: Setup, found: Capacity | None) -> Loaded:
    assert found is not None
    share, of = float(setup.options["load"] or 0), setup.options["load_of"]
    entry = {"load": share, **({} if of is None else {"of": of}), **asdict(found)}
    scale = float(f"{share * found.time_scale:.6g}")
    if not 1 / AT_ONCE <= scale <= AT_ONCE:
        raise UsageError(
            f"load {share:g} of {found.iops:,.0f} requests/s is {scale:g} times the workload's own rate: "
            f"expected from {1 / AT_ONCE:g} to {AT_ONCE:g} times"
        )
    return Loaded(scale, entry)


@contextlib.contextmanager
def _noting(errors: dict[str, Error] | None, key: str) -> Generator[None]:
    """Context in which an error goes to `errors`, if there is such a table."""
    try:
        yield
    except Error as error:
        if errors is None:
            raise
        errors[key] = error


@contextlib.contextmanager
def _naming(label: str) -> Generator[None]:
    """Context in which errors are those of the search for a run. A single run has no label."""
    try:
        yield
    except Error as error:
        where = f" of {label}" if label else ""
        raise type(error)(f"load{where}: {error}") from error


class _Search:
    """The search for one capacity."""

    def __init__(self, label: str, setup: Setup, scheme: str | None, key: str) -> None:
        self.label = label
        self.key = key
        self.capacity: Capacity | None = None
        self.runs = 0
        """Number of runs that were done."""
        self._setup, self._scheme = setup, scheme
        workload = json.loads(setup.build(scheme).get("workload"))
        self._steps = _steps(replayed=all(flow.get("trace") for flow in (workload, *workload["flows"])))

    @classmethod
    def of(cls, one: Wanted) -> _Search:
        """Checks that the drive has a capacity that can be searched for."""
        from_, scheme = one.of or (one.setup, one.scheme)
        asked = from_.options
        warm_up = warm_up_of(asked["warm_up"])
        before = warm_up[0] if warm_up is not None and warm_up[1] == "requests" else 0
        most = requests_of(from_.build(scheme), asked["requests"])
        setup = from_.with_changes(
            **{"load": None, "load_of": None, "alone": False, "verify": "off", "series": False, "shared": True},
            warm_up=before or None,
            requests=MOST_REQUESTS + before if most is None else min(most, MOST_REQUESTS + before),
        )
        config = setup.build(scheme)
        workload = json.loads(config.get("workload"))
        _refuse_without_arrivals(workload)
        if one.of is not None and workload != (own := json.loads(one.setup.build(one.scheme).get("workload"))):
            key = next(key for key in {**workload, **own} if workload.get(key) != own.get(key))
            raise ConfigError(
                f'load_of = "{one.setup.options["load_of"]}" has other requests (workload.{key}): expected a run with the same'
            )
        if (requests := requests_of(config, setup.options["requests"])) is not None and requests - before < FEWEST:
            raise UsageError(
                f"{requests - before:,} requests after the warm-up: expected at least {FEWEST:,} to find what the drive sustains"
            )
        return cls(one.label, setup, scheme, _key(setup, scheme))

    def restore(self) -> None:
        """Takes the capacity that an earlier search found, if there is one."""
        folder = state_folder() if self._setup.options["state_cache"] else None
        if folder is None:
            return
        with contextlib.suppress(FileError, UsageError, TypeError, KeyError):  # a file of another version, or a damaged one
            found = Capacity(**read_json(folder / FOLDER / f"{self.key}.json")["capacity"])
            if all(isinstance(value, int | float) for value in asdict(found).values()):
                self.capacity = found

    def keep(self) -> None:
        """Leaves the capacity for later runs. An error of the folder is none of the run."""
        folder = state_folder() if self._setup.options["state_cache"] else None
        if folder is None or self.capacity is None:
            return
        with contextlib.suppress(OSError, FileError):
            (folder / FOLDER).mkdir(parents=True, exist_ok=True)
            write_json(folder / FOLDER / f"{self.key}.json", {"version": _core.version(), "capacity": asdict(self.capacity)})

    def job(self, time_scale: float) -> Job:
        """A run at a factor of the workload's rate."""
        with _naming(self.label):
            name = f"{self.label} at {time_scale:g}"
            return Job.prepare(name, self._setup.with_changes(time_scale=time_scale), self._scheme, folder=None, log="temporary")

    def first(self) -> float:
        """The factor of the first run."""
        return next(self._steps)

    def then(self, result: Result) -> float | None:
        """The factor of the next run; `None` if the capacity is known."""
        self.runs += 1
        found = _backlog(result)
        try:
            return self._steps.send(found)
        except StopIteration as done:
            self.capacity = done.value
            return None


def _refuse_without_arrivals(workload: Mapping[str, Any]) -> None:
    """Refuses closed loops, and flows whose rate does not follow that of the workload."""
    for flow in (workload, *workload["flows"]):
        name = f"flow {flow['name']}: " if flow.get("name") else ""
        if flow.get("queue_depth", workload["queue_depth"]):
            depth = flow.get("queue_depth", workload["queue_depth"])
            raise UsageError(
                f"{name}workload.queue_depth = {depth} is a closed loop, whose requests wait for completions: load needs arrivals; "
                "set workload.queue_depth = 0, or leave load out"
            )
        if flow is not workload and flow.get("time_scale", workload["time_scale"]) != workload["time_scale"]:
            raise UsageError(f"{name}a {SCALE_KEY} of its own does not follow load: change its workload.interarrival_us instead")


def _key(setup: Setup, scheme: str | None) -> str:
    """The name of a capacity: a hash of all that determines it."""
    plan = setup.with_changes(time_scale=1.0).plan(scheme)
    config = without_absent(json.loads(plan.config_of_result()))
    asked = {name: setup.options[name] for name in ("requests", "warm_up", "seed")}
    inputs = hashes_of_inputs(config, setup)
    about = {"search": VERSION, "version": _core.version(), "config": config, **asked, "inputs": inputs}
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def _backlog(result: Result) -> Backlog:
    """The backlog during a run, by its log, which is removed."""
    log = result.requests
    measured = ~log["warm_up"].to_numpy()
    arrivals, responses = log["arrival_ns"].to_numpy()[measured], log["response_ns"].to_numpy()[measured]
    del log
    result.drop_log()
    if len(arrivals) < FEWEST:
        raise UsageError(f"{len(arrivals):,} requests after the warm-up: expected at least {FEWEST:,} to find what the drive sustains")
    order = np.argsort(arrivals, kind="stable")
    return backlog(arrivals[order], responses[order])


def _steps(*, replayed: bool) -> Generator[float, Backlog, Capacity]:
    """Yields factors of the workload's rate, receives the backlog of each run, and returns the capacity.

    `replayed`: the requests are those of traces.
    """
    own = yield 1.0
    if math.isinf(own.offered):
        raise UsageError("all requests arrive at once: load needs the times of arrivals; take a trace that has them")
    lowest: tuple[float, Backlog] | None = None
    sustained, runs = 0.0, 1
    if own.grows:
        lowest, guess = (1.0, own), 1 / (1 + own.excess)
    else:
        at_once, sustained, runs = (yield AT_ONCE), 1.0, 2
        if at_once.overall > at_once.offered / 2:
            raise UsageError(_never_filled(at_once.offered))
        guess = at_once.overall / own.offered
    step = MARGIN
    while runs < MOST_RUNS and (scale := _next(guess, step, sustained, None if lowest is None else lowest[0])) is not None:
        scale = max(float(f"{scale:.6g}"), 1 / AT_ONCE)
        found = yield scale
        runs += 1
        if found.grows:
            lowest = (scale, found) if lowest is None or scale < lowest[0] else lowest
            guess, step = scale / (1 + found.excess), MARGIN
        else:
            sustained = max(sustained, scale)
            step = 2 * step if scale > guess else step
    if lowest is None:
        raise UsageError(_never_filled(sustained * own.offered))
    half, drift = (RESOLUTION * lowest[1].rate, 0.0) if replayed else (lowest[1].rate_half, lowest[1].drift)
    return _capacity(own.offered, lowest, half, drift, sustained, runs)


def _next(guess: float, step: float, sustained: float, grew: float | None) -> float | None:
    """The factor to try next; `None` if the capacity is enclosed as closely as wanted, or as can be."""
    above, below = guess * (1 + step), guess * (1 - MARGIN)
    if grew is None or grew > guess * (1 + 2.5 * MARGIN):
        if above > sustained and (grew is None or above < grew):
            return above
        if grew is None:
            return sustained * (1 + step)
    return below if sustained < guess * (1 - 1.5 * MARGIN) else None


def _never_filled(rate: float) -> str:
    return (
        f"the drive is never full: its backlog does not grow even at {rate:,.0f} requests/s; "
        "run more requests (--requests), or give time_scale in place of load"
    )


def _capacity(own_rate: float, lowest: tuple[float, Backlog], half: float, drift: float, sustained: float, runs: int) -> Capacity:
    scale, found = lowest
    kept = sustained * own_rate
    guess = scale / (1 + found.excess)
    low = found.rate - half
    return Capacity(
        iops=found.rate,
        low_iops=min(low, kept) if sustained < guess * (1 - 1.5 * MARGIN) else low,
        high_iops=max(found.rate + half, kept),
        sustained_iops=kept,
        grew_iops=found.offered,
        drift=drift,
        time_scale=float(f"{guess:.6g}"),
        runs=runs,
    )


def _find(searches: Sequence[_Search], workers: int | None, wrong: dict[str, Error] | None) -> None:
    """Runs searches side by side, step by step. `wrong`: takes the errors of searches by key; the first is raised without it."""
    for search in searches:
        search.restore()
    left = {search: search.first() for search in searches if search.capacity is None}
    with ShareProgress("capacity", quiet=not is_reading_shown()) as progress:
        while left:
            jobs: dict[_Search, Job] = {}
            for search, scale in left.items():
                with _noting(wrong, search.key):
                    jobs[search] = search.job(scale)
            batch = execute([*jobs.values()], workers=workers)
            if isinstance(batch.interrupt, KeyboardInterrupt):
                raise Interrupted({}) from batch.interrupt
            if batch.interrupt is not None:
                raise batch.interrupt
            left = {}
            for search, job in jobs.items():
                with _noting(wrong, search.key), _naming(search.label):
                    if job.label in batch.failed:
                        raise batch.failed[job.label]
                    then = search.then(batch.finished[job.label])
                    if then is None:
                        search.keep()
                    else:
                        left[search] = then
            if progress.callback is not None:
                done = sum(search.runs / (search.runs + 2) if search in left else 1.0 for search in searches)
                progress.callback(f"rates that drives sustain, {len(left)} searches left", done / len(searches))
