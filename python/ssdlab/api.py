"""The functions of the package: run, compare, precondition, traces, presets."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

from ssdlab import _core
from ssdlab.batch import COMPARISON_FILE, TIMELINE_FILE, Job, Log, execute, write_json
from ssdlab.checks import check_texts, mapping, positive, shown, text, texts, truth, whole
from ssdlab.checks import path as checked_path
from ssdlab.comparison import Comparison, collected
from ssdlab.errors import Error, UsageError
from ssdlab.folders import ResultFolder
from ssdlab.inputs import named
from ssdlab.plans import DEFAULT_SEED, Setup, Timeline, Window, timeline_of, value_text, warn_of_idle_keys
from ssdlab.policies import Eviction, Victim
from ssdlab.progress import ReadProgress
from ssdlab.result import Result
from ssdlab.seeds import label_of, seeds_from

__all__ = [
    "Kind",
    "Simulator",
    "compare",
    "comparison_jobs",
    "config_keys",
    "config_schema",
    "precondition",
    "preset_text",
    "presets",
    "run",
    "trace_convert",
    "trace_info",
]

Path_ = str | os.PathLike[str]
Kind = Literal["device", "scheme", "workload"]
Verify = Literal["off", "end", "every"]
Set = Mapping[str, Any]


def run(
    *,
    device: str | None = None,
    scheme: str | None = None,
    workload: str | None = None,
    trace: Path_ | None = None,
    format: str | None = None,
    unit_bytes: int | None = None,
    volume: str | None = None,
    time_scale: float | None = None,
    bad_lines: int | None = None,
    prefill: Path_ | None = None,
    fit: Literal["trace"] | int | None = None,
    requests: int | None = None,
    warm_up: str | int | None = None,
    seed: int = DEFAULT_SEED,
    set: Set | None = None,
    config: Path_ | None = None,
    state: Path_ | None = None,
    verify: Verify = "off",
    victim: Victim | None = None,
    eviction: Eviction | None = None,
    series: bool | None = None,
    log_requests: bool = False,
    timeline: Path_ | None = None,
    timeline_window: Window | None = None,
    timeline_limit: int | None = None,
    out: Path_ | None = None,
) -> Result:
    """Simulates one workload on one device under one scheme.

    The configuration is built in layers, each over those before: the presets, the file `config`, then `trace`, `prefill` and the
    like, then `set`. The same arguments give the same result, bit for bit.

    Args:
        device: a device preset (`presets("device")`).
        scheme: a scheme preset, or several joined by `+`.
        workload: a workload preset.
        trace: a trace file to replay instead, plain or compressed; `"-"` is standard input. A pipe is copied to a temporary file first.
        format: the trace's format, where its content does not tell.
        unit_bytes: bytes of one unit of address and size, for trace formats that count in units of their own.
        volume: replay only the requests of this volume (disk, LUN, ASU, ...), as `trace_info` lists it under `devices`.
        time_scale: requests arrive this many times faster, those of a trace or generated ones.
        bad_lines: leave out up to this many lines of the trace that cannot be read; one more is an error.
        prefill: a CSV file of the ranges (`offset_bytes,size_bytes`) that held data before the trace began; they are written first,
            untimed (`ftl.precondition.kind = "ranges"`, unless `set` says otherwise).
        fit: `"trace"` or a number of bytes: gives the device the fewest blocks a plane with which it exports all that the trace (and the
            prefill file) addresses, or that many bytes; `result.fit` says what came of it.
        requests: stop after this many; by default the whole trace, or 100,000 generated requests.
        warm_up: how much of the beginning is simulated but left out of all figures: a number of requests, or a time such as `"17s"` or
            `"500ms"`. `result.warm_up` says what that was; `series` and the log of requests show all of the run.
        seed: of all random streams.
        set: single keys, such as `{"gc.soft": 0.1, "gc.scope": "none"}`.
        config: a TOML file of configuration keys.
        state: a device state saved by `precondition`, to begin with.
        verify: `"end"` checks all invariants after the run, `"every"` after every event (for small devices).
        victim: a victim policy of your own, called once for each GC job (`VictimPolicy`), in place of `gc.victim`.
        eviction: an eviction policy of your own, called once for each eviction from the cache (`EvictionPolicy`), in place of
            `cache.policy`, which must be `lru`.
        series: record the run over time (`result.series`) and how response times are distributed (`result.histograms`); by default
            where `out` is given, for figures made of it later.
        log_requests: keep a row for each request (`result.requests`).
        timeline: a file for a timeline that the Perfetto viewer opens, `.json` or `.json.gz`; `result.timeline` says what it shows.
        timeline_window: show only this part of the run, `(start_us, end_us)`; `None` for its beginning or its end.
        timeline_limit: the most slices that the timeline may have, 200,000 by default; when it has so many it ends.
        out: a folder for `result.json` and, if asked for, `requests.parquet`.

    Raises:
        ssdlab.Error: a subclass of it, with a message that says what to do.
        ssdlab.Interrupted: Ctrl-C.
    """
    setup = Setup(
        device=device,
        workload=workload,
        trace=trace,
        format=format,
        unit_bytes=unit_bytes,
        volume=volume,
        time_scale=time_scale,
        bad_lines=bad_lines,
        prefill=prefill,
        fit=fit,
        requests=requests,
        warm_up=warm_up,
        seed=seed,
        set=_pairs(set),
        config=config,
        state=state,
        verify=verify,
        series=out is not None if series is None else truth("series", series),
        victim=victim,
        eviction=eviction,
    )
    folder = ResultFolder(None if out is None else Path(checked_path("out", out)), "run")
    log: Log = "kept" if truth("log_requests", log_requests) else None
    wanted = timeline_of(timeline, timeline_window, timeline_limit)
    job = Job.prepare("run", setup, scheme, folder=folder.stage, log=log, timeline=wanted)
    warn_of_idle_keys([job.idle])
    with folder:
        batch = execute([job], out=folder)
        if batch.interrupt is None:
            folder.commit()
    batch.settle()
    batch.raise_failure()
    return cast("Result", batch.finished["run"])


def compare(
    *,
    schemes: Sequence[str],
    device: str | None = None,
    workload: str | None = None,
    trace: Path_ | None = None,
    format: str | None = None,
    unit_bytes: int | None = None,
    volume: str | None = None,
    time_scale: float | None = None,
    bad_lines: int | None = None,
    prefill: Path_ | None = None,
    fit: Literal["trace"] | int | None = None,
    requests: int | None = None,
    warm_up: str | int | None = None,
    seed: int = DEFAULT_SEED,
    set: Set | None = None,
    config: Path_ | None = None,
    state: Path_ | None = None,
    verify: Verify = "off",
    victim: Victim | None = None,
    eviction: Eviction | None = None,
    series: bool | None = None,
    log_requests: bool = False,
    timelines: bool = False,
    timeline_window: Window | None = None,
    timeline_limit: int | None = None,
    paired: bool = False,
    seeds: int = 1,
    out: Path_ | None = None,
    jobs: int | None = None,
) -> Comparison:
    """Simulates one workload on one device under several schemes, in parallel; arguments as for `run`.

    Args:
        schemes: scheme presets, each possibly several joined by `+`.
        timelines: write a timeline for each scheme, `timeline.json.gz` in its folder below `out`.
        paired: compare request by request with the first scheme as well; the result's `paired` has how many gained and lost.
        seeds: run every scheme under so many seeds, from `seed` on. The comparison is then of the first, and its `seeds` has the means over
            all, the differences to the first scheme, and how sure they are. Series, timelines and `paired` are of the first seed only.
        jobs: runs at once, as many as there are processors by default. It does not change any result.

    Raises:
        ssdlab.Error: if a run fails. The others go on; their results are the exception's `finished`, and in `out`.
        ssdlab.Interrupted: Ctrl-C. The results of finished runs are its `finished`, and in `out`.
    """
    setup = Setup(
        device=device,
        workload=workload,
        trace=trace,
        format=format,
        unit_bytes=unit_bytes,
        volume=volume,
        time_scale=time_scale,
        bad_lines=bad_lines,
        prefill=prefill,
        fit=fit,
        requests=requests,
        warm_up=warm_up,
        seed=seed,
        set=_pairs(set),
        config=config,
        state=state,
        verify=verify,
        series=out is not None if series is None else truth("series", series),
        victim=victim,
        eviction=eviction,
    )
    folder = ResultFolder(None if out is None else Path(checked_path("out", out)), "comparison")
    wanted = timeline_of(TIMELINE_FILE if truth("timelines", timelines) else None, timeline_window, timeline_limit)
    schemes = texts("schemes", schemes)
    several = seeds_from(seed, seeds)
    runs = comparison_jobs(setup, schemes, folder.runs, log_requests=log_requests, timeline=wanted, paired=paired, seeds=several)
    warn_of_idle_keys([job.idle for job in runs])
    with folder:
        batch = execute(runs, workers=jobs, out=folder)
        comparison = collected(batch.finished, schemes, several, title=setup.title(None, compared=True))
        if folder.stage is not None and comparison:
            write_json(folder.stage / COMPARISON_FILE, comparison.to_dict())
        if comparison or batch.interrupt is None:
            folder.commit()
    batch.settle()
    batch.raise_failure()
    return comparison


def comparison_jobs(
    setup: Setup,
    schemes: Sequence[str],
    folder: Path | None,
    *,
    log_requests: bool,
    timeline: Timeline | None,
    paired: bool,
    seeds: Sequence[int],
) -> list[Job]:
    """A job for each scheme and seed; with a folder, each in a folder of its own below that, where its timeline goes too.

    What is only to be paired keeps its logs in temporary folders. Runs under other seeds than the first are there for their figures: they
    have no series, no timeline and no pairs, and their folders lie below that of the first.
    """
    schemes = texts("schemes", schemes)
    truth("log_requests", log_requests)
    truth("paired", paired)
    if not schemes:
        raise UsageError("nothing to compare: name at least one scheme")
    names = [_folder_name(scheme) for scheme in schemes]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"scheme named twice: {', '.join(twice)}")
    if timeline is not None and folder is None:
        raise UsageError("timelines (--timelines) need out (--out DIR): each scheme's goes to its folder there")
    log: Log = "kept" if log_requests else "temporary" if paired else None

    def job(scheme: str) -> Job:
        place = folder and folder / scheme
        there = timeline._replace(file=place / timeline.file) if timeline is not None and place is not None else None
        return Job.prepare(scheme, setup, scheme, folder=place, log=log, timeline=there)

    setup = replace(setup, shared=len(schemes) * len(seeds) > 1).fitted_alike(schemes)

    def again(scheme: str, seed: int) -> Job:
        place = folder and folder / scheme / f"seed-{seed}"
        kept: Log = "kept" if log_requests else None
        return Job.prepare(label_of(scheme, seed, seeds), replace(setup, seed=seed, series=False), scheme, folder=place, log=kept)

    return [job(scheme) for scheme in schemes] + [again(scheme, seed) for seed in seeds[1:] for scheme in schemes]


def precondition(
    out: Path_,
    *,
    device: str | None = None,
    scheme: str | None = None,
    workload: str | None = None,
    prefill: Path_ | None = None,
    seed: int = DEFAULT_SEED,
    set: Set | None = None,
    config: Path_ | None = None,
    victim: Victim | None = None,
) -> dict[str, Any]:
    """Prepares a device as `ftl.precondition` says and saves its state to the file `out`, for `run(state=...)`.

    Returns:
        The report: how it was done and what came of it.
    """
    setup = Setup(device=device, workload=workload, prefill=prefill, seed=seed, set=_pairs(set), config=config, victim=victim)
    return cast("dict[str, Any]", json.loads(_core.precondition(setup.plan(scheme), checked_path("out", out))))


def trace_info(
    path: Path_,
    *,
    format: str | None = None,
    unit_bytes: int | None = None,
    volume: str | None = None,
    device: str | None = None,
) -> dict[str, Any]:
    """Reads a whole trace and says what is in it: counts, sizes, times, and the lines that cannot be read (`bad_lines`).

    Args:
        path: the trace, plain or compressed; `"-"` is standard input.
        format: its format, where its content does not tell.
        unit_bytes: bytes of one unit of address and size, for formats that count in units of their own.
        volume: only requests of this volume, as the trace names it.
        device: an older name of `volume`.
    """
    checked_path("path", path)
    check_texts({"format": format})
    units = _optional("unit_bytes", unit_bytes, 1)
    file = cast("Path_", named(path))
    with ReadProgress(file) as progress:
        report = _core.trace_info(file, format=format, unit_bytes=units, device=_volume(volume, device), progress=progress.callback)
    return cast("dict[str, Any]", json.loads(report))


def trace_convert(
    source: Path_,
    target: Path_,
    *,
    format: str | None = None,
    unit_bytes: int | None = None,
    volume: str | None = None,
    device: str | None = None,
    bad_lines: int = 0,
    time_order: Literal["error", "clamp", "sort"] | None = None,
    skip: int = 0,
    limit_s: float | None = None,
    requests: int | None = None,
) -> dict[str, Any]:
    """Converts a trace, or a part of it, to the format that the target's name ends with.

    Args:
        source: the trace to read; `format`, `unit_bytes`, `volume` and `device` are as for `trace_info`.
        target: `.csv` (also `.csv.gz`, `.csv.bz2`, `.csv.zst`) or `.parquet`; it appears whole or not at all.
        bad_lines: unreadable lines to leave out; one more is an error.
        time_order: what to do where times go back: `"error"` (the default), `"clamp"` to the time before, `"sort"`.
        skip: leave out this many requests at the start.
        limit_s: only so many seconds, by the trace's own clock, from the first request taken.
        requests: at most this many.

    Returns:
        A report: what was written and what was left out.
    """
    checked_path("source", source)
    checked_path("target", target)
    check_texts({"format": format, "time_order": time_order})
    units, tolerated, most = _optional("unit_bytes", unit_bytes, 1), whole("bad_lines", bad_lines), _optional("requests", requests, 1)
    file = cast("Path_", named(source))
    with ReadProgress(file) as progress:
        report = _core.trace_convert(
            file,
            target,
            format=format,
            unit_bytes=units,
            device=_volume(volume, device),
            bad_lines=tolerated,
            time_order=time_order,
            skip=whole("skip", skip),
            limit_s=0.0 if limit_s is None else positive("limit_s", limit_s),
            requests=most,
            progress=progress.callback,
        )
    return cast("dict[str, Any]", json.loads(report))


def presets(kind: Kind) -> dict[str, str]:
    """The presets of a kind: a sentence for each name."""
    from ssdlab.notebook import Named  # noqa: PLC0415 (tables take longer to import than all else here)

    return Named({name: description for name, description, _source in _core.presets(text("kind", kind))})


def preset_text(kind: Kind, name: str) -> str:
    """A preset as it is written, in TOML, with the sources of its values."""
    return _core.preset_text(text("kind", kind), text("name", name))


def config_schema() -> dict[str, Any]:
    """The JSON Schema of the configuration."""
    return cast("dict[str, Any]", json.loads(_core.schema()))


def config_keys() -> dict[str, dict[str, Any]]:
    """Every configuration key: description, kind, default, and range or choices where it has them."""
    return {key["name"]: key for key in json.loads(_core.keys())}


@dataclass(frozen=True, kw_only=True)
class Request:
    """A host request for `Simulator.submit`. Offset and length are in bytes."""

    op: Literal["read", "write", "trim", "flush"]
    offset: int = 0
    length: int = 0
    arrival_ns: int | None = None
    high_priority: bool = False


class Simulator:
    """A drive that takes requests one by one, for co-simulation.

        sim = ssdlab.Simulator(device="lee2013", scheme="npgc")
        sim.submit(ssdlab.Request(op="write", offset=0, length=4096, arrival_ns=0))
        sim.run_until(1_000_000)
        for done in sim.completions():
            print(done.op, done.response_ns)

    Arguments are those of `run` that do not describe a workload.
    """

    def __init__(
        self,
        *,
        device: str | None = None,
        scheme: str | None = None,
        prefill: Path_ | None = None,
        warm_up: str | int | None = None,
        seed: int = DEFAULT_SEED,
        set: Set | None = None,
        config: Path_ | None = None,
        state: Path_ | None = None,
        verify: Verify = "off",
        victim: Victim | None = None,
        eviction: Eviction | None = None,
    ) -> None:
        setup = Setup(
            device=device,
            prefill=prefill,
            warm_up=warm_up,
            seed=seed,
            set=_pairs(set),
            config=config,
            state=state,
            verify=verify,
            victim=victim,
            eviction=eviction,
        )
        plan = setup.plan(scheme)  # reads all that it needs now
        warn_of_idle_keys([setup.idle(plan.config)])
        self._core = _core.Simulator(plan)
        self._title = setup.title(scheme)

    @property
    def now_ns(self) -> int:
        """The simulated time."""
        return self._core.now_ns

    def submit(self, request: Request) -> int:
        """Hands in a request that arrives at `request.arrival_ns` (by default now); returns its serial number.

        Arrivals must not lie before those already handed in, nor in the simulated past.
        """
        if not isinstance(request, Request):
            raise UsageError(f"{shown(request)}: expected a Request")
        arrival_ns = self.now_ns if request.arrival_ns is None else request.arrival_ns
        try:
            return self._core.submit(request.op, request.offset, request.length, arrival_ns=arrival_ns, high_priority=request.high_priority)
        except Error:
            raise
        except Exception as error:  # also what a type of the caller's raises
            message = f"{shown(request)}: op is a text, high_priority true or false, the others are whole numbers from 0 to 2^64 - 1"
            raise UsageError(message) from error

    def run_until(self, until_ns: int) -> None:
        """Simulates up to and including the instant `until_ns`."""
        self._core.run_until(whole("until_ns", until_ns))

    def run_to_idle(self) -> None:
        """Simulates until nothing is left to do."""
        self._core.run_to_idle()

    def completions(self) -> list[_core.Completion]:
        """The requests completed since the last call, in order of completion."""
        return self._core.completions()

    def mapping(self) -> list[int]:
        """By logical page: the physical page that holds its data now, -1 for none.

        Numbers are dense and drive-wide: physical page = block x pages a block + page; block = plane x blocks a plane + block; planes
        are counted die by die, dies chip by chip, chips channel by channel. The list has an entry for every exported page: do not ask
        for it often on a large drive.
        """
        return self._core.mapping()

    def erase_counts(self) -> list[int]:
        """By block: how often it was erased. Blocks are numbered as in `mapping`."""
        return self._core.erase_counts()

    def free_blocks(self, pool: int) -> list[int]:
        """The free blocks of a pool, the next to be taken first; blocks being filled are not among them.

        Args:
            pool: a plane or, with `ftl.pool = "die"`, a die; from 0.
        """
        return self._core.free_blocks(whole("pool", pool))

    def finish(self) -> Result:
        """Simulates what is left and returns the result. The simulator is then of no further use."""
        return Result(json.loads(self._core.finish()), title=self._title)


def _optional(name: str, value: int | None, least: int) -> int | None:
    return None if value is None else whole(name, value, least)


def _volume(volume: str | None, device: str | None) -> str | None:
    """The volume that is meant, by its name or the older one."""
    check_texts({"volume": volume, "device": device})
    if volume is not None and device is not None:
        raise UsageError("volume and device were both given: device is an older name of volume")
    return device if volume is None else volume


def _pairs(values: Set | None) -> tuple[tuple[str, str], ...]:
    return () if values is None else tuple((key, value_text(value)) for key, value in mapping("set", values).items())


def _folder_name(scheme: str) -> str:
    """What a scheme is called in a comparison: a file by its name without folder and ending."""
    return "+".join(Path(part.strip()).name.removesuffix(".toml") for part in scheme.split("+"))
