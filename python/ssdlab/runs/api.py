"""The functions of the package: run, compare, precondition, traces, presets."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Unpack, cast

from ssdlab import _core
from ssdlab.asking.option import complete, picked, takes
from ssdlab.asking.options import CompareOptions, Path_, PreconditionOptions, RunOptions, SetupOptions, SimulatorOptions
from ssdlab.asking.plans import Setup, Slowest, Timeline, as_fitted, grown_warning, sparse_warning, timeline_of, warn_of_idle_keys
from ssdlab.checks import check_texts, nearest, positive, shown, text, truth, whole
from ssdlab.checks import path as checked_path
from ssdlab.errors import Error, UsageError
from ssdlab.runs.batch import COMPARISON_FILE, REPORT_FILE, TIMELINE_FILE, Batch, Job, Log, Progress, execute, write_json
from ssdlab.runs.comparison import Comparison, collected
from ssdlab.runs.result import Result
from ssdlab.runs.seeds import label_of, seeds_from
from ssdlab.runs.variants import Variant, common_title, compared, entries, fitted_setups, idle_in_variant, naming, pairs
from ssdlab.system.folders import SLOWEST_FILE, ResultFolder, variant_folder
from ssdlab.system.inputs import named
from ssdlab.system.progress import ReadProgress

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

Kind = Literal["device", "scheme", "workload"]


@takes(RunOptions)
def run(**options: Unpack[RunOptions]) -> Result:
    """Simulates one workload on one device under one scheme.

    The configuration is built in layers: the presets, then the file `config`, then options such as `trace` and `prefill`, then `set`. A
    later layer overrides an earlier one. Equal arguments give equal results, bit for bit.

    Raises:
        ssdlab.Error: a subclass of it, with a message that says what to do.
        ssdlab.Interrupted: Ctrl-C.
    """
    asked = complete("run", RunOptions, options)
    file = _file("fio_json", asked["fio_json"])
    if file is not None and os.fspath(file) == STANDARD_OUTPUT:
        raise UsageError('fio_json = "-": only the command prints it: give the name of a file')
    prepared = prepared_run(asked, pairs(asked["set"]))
    warn_of_idle_keys([job.idle for job in prepared.jobs])
    batch = executed_run(prepared)
    batch.settle()
    batch.raise_failure()
    return cast("Result", batch.finished["run"])


@takes(CompareOptions, without=RunOptions)
def compare(**options: Unpack[CompareOptions]) -> Comparison:
    """Simulates variants of a run beside each other, in parallel: schemes, or anything else that a run takes. Arguments are as for `run`.

    Raises:
        ssdlab.Error: a run failed. The other runs continue; their results are in the exception's `finished`, and in `out`.
        ssdlab.Interrupted: Ctrl-C. The results of finished runs are in the exception's `finished`, and in `out`.
    """
    asked = complete("compare", CompareOptions, options)
    prepared = prepared_comparison(asked, pairs(asked["set"]))
    warn_of_idle_keys([job.idle for job in prepared.jobs], prepared.idle_lines)
    batch, comparison = executed_comparison(prepared, workers=asked["jobs"])
    batch.settle()
    batch.raise_failure()
    return comparison


class Prepared(NamedTuple):
    """Runs that were checked and can begin: a single run, or those of a comparison.

    Attributes:
        folder: folder for their results.
        jobs: the runs.
        title: what they have in common.
        variants: what is compared; empty for a single run.
        seeds: seeds of a comparison.
        given: what the variants are, as `comparison.json` has it; empty for schemes.
    """

    folder: ResultFolder
    jobs: list[Job]
    title: str = ""
    variants: Sequence[Variant] = ()
    seeds: Sequence[int] = ()
    given: Mapping[str, Any] = MappingProxyType({})

    @property
    def grown_lines(self) -> list[str]:
        """A line for each fitted drive that grew far beyond the bytes that are needed, or beyond those that its trace touches."""
        found = [warning(job.entries.get("fit"), job.plan.config) for job in self.jobs for warning in (grown_warning, sparse_warning)]
        return list(dict.fromkeys(line for line in found if line))

    @property
    def idle_lines(self) -> list[str]:
        """A line for each key of a variant that has no effect in its run."""
        runs = zip(self.variants, self.jobs, strict=False)  # the jobs of further seeds follow
        return [f'variant "{one.label}": {line}' for one, job in runs for line in idle_in_variant(dict(one.set), job.idle)]


def prepared_run(asked: RunOptions, keys: tuple[tuple[str, str], ...], slowest: Slowest | None = None) -> Prepared:
    """Checks the options of `run` as far as possible before it begins.

    Args:
        asked: the options.
        keys: single keys with TOML text, in place of `set`.
        slowest: requests to explain, if not those of the options, for the folder of the results.
    """
    folder = ResultFolder(_folder(asked["out"]), "run")
    log: Log = "kept" if truth("log_requests", asked["log_requests"]) else None
    wanted = timeline_of(asked["timeline"], asked["timeline_window"], asked["timeline_limit"], page=True)
    state = _file("save_state", asked["save_state"])
    setup = _with_load(_setup(asked, keys), asked["scheme"])
    output = _fio_output(asked["fio_json"], setup)
    log = log or ("temporary" if asked["fio_json"] is not None else None)
    count = whole("slowest", asked["slowest"])
    if slowest is None and count and folder.stage is not None:
        slowest = Slowest(folder.stage / SLOWEST_FILE, count)
    files: dict[str, Any] = {"folder": folder.stage, "log": log, "timeline": wanted, "blocks": asked["blocks"], "save_state": state}
    return Prepared(folder, [Job.prepare("run", setup, asked["scheme"], slowest=slowest, fio_json=output, **files)])


def _with_load(setup: Setup, scheme: str | None) -> Setup:
    """The setup of a single run with the rate that its load stands for; `load_of` is a scheme."""
    of = setup.options["load_of"]
    if setup.options["load"] is None:
        return setup
    from ssdlab.runs.capacity import Wanted, with_loads  # noqa: PLC0415 (few runs search for a rate)

    return with_loads([Wanted("", setup, scheme, None if of is None else (setup, of))])[0]


def _fio_output(asked: Path_ | None, setup: Setup) -> Path | None:
    """The file for the result in the form of fio; `None` without one, or for standard output."""
    file = _file("fio_json", asked)
    if file is not None and setup.options["fio"] is None:
        raise UsageError("fio_json needs fio: it reports the jobs of a job file, and none is given")
    return None if file is None or os.fspath(file) == STANDARD_OUTPUT else file


STANDARD_OUTPUT = "-"


def executed_run(prepared: Prepared, *, progress: Progress | None = None, page: bool = False) -> Batch:
    """Executes a run, and writes its results and, with `page`, its report. An error of the run is in the batch."""
    folder = prepared.folder
    with folder:
        batch = execute(prepared.jobs, progress=progress, out=folder)
        try:
            if batch.finished:
                prepared.jobs[0].write_page(batch.finished["run"])
                prepared.jobs[0].write_fio_json(batch.finished["run"])
            if page and batch.finished and folder.stage is not None:
                batch.finished["run"].report(folder.stage / REPORT_FILE)
        finally:  # an error of the page does not lose the run
            if batch.interrupt is None:
                folder.commit()
    return batch


def prepared_comparison(asked: CompareOptions, common: tuple[tuple[str, str], ...], more: Sequence[Variant] = ()) -> Prepared:
    """Checks the options of `compare` as far as possible before it begins.

    Args:
        asked: the options.
        common: single keys that all variants have, with TOML text, in place of `set`.
        more: further variants.
    """
    folder = ResultFolder(_folder(asked["out"]), "comparison")
    file = TIMELINE_FILE if truth("timelines", asked["timelines"]) else None
    wanted = timeline_of(file, asked["timeline_window"], asked["timeline_limit"])
    variants, seeds = compared(asked["schemes"], asked["variants"], more), seeds_from(asked["seed"], asked["seeds"])
    setup = _setup(asked, common)
    wants: dict[str, Any] = {
        "log_requests": asked["log_requests"],
        "timeline": wanted,
        "blocks": asked["blocks"],
        "paired": asked["paired"],
        "slowest": whole("slowest", asked["slowest"]),
        "workers": asked["jobs"],
    }
    jobs = comparison_jobs(setup, variants, folder.runs, **wants, seeds=seeds)
    parts = [one.setup(setup).title_parts(one.scheme) for one in variants]
    title = common_title([as_fitted(part, job.entries.get("fit")) for part, job in zip(parts, jobs, strict=False)])
    exported = [job.plan.config.exported_bytes for job in jobs[: len(variants)]]
    return Prepared(folder, jobs, title, variants, seeds, entries(variants, setup, exported))


def executed_comparison(
    prepared: Prepared, *, workers: int | None = None, progress: Progress | None = None, page: bool = False
) -> tuple[Batch, Comparison]:
    """Executes the runs of a comparison, and writes their results and, with `page`, the report. Errors of runs are in the batch."""
    folder = prepared.folder
    with folder:
        batch = execute(prepared.jobs, workers=workers, progress=progress, out=folder)
        labels = [one.label for one in prepared.variants]
        comparison = collected(batch.finished, labels, prepared.seeds, title=prepared.title, variants=prepared.given)
        try:
            if folder.stage is not None and comparison:
                found = entries_of(comparison, batch)
                write_json(folder.stage / COMPARISON_FILE, found)
                if page:
                    from ssdlab.pages import report  # noqa: PLC0415 (it takes longer than many runs)

                    report.write(report.Runs.saved(found), folder.stage / REPORT_FILE)
        finally:  # an error of the page does not lose the runs
            if comparison or batch.interrupt is None:
                folder.commit()
    return batch, comparison


def entries_of(comparison: Comparison, batch: Batch) -> dict[str, Any]:
    """A comparison as `comparison.json` has it: with the messages of runs that failed, by label."""
    failed = {"failed": {label: str(error) for label, error in batch.failed.items()}} if batch.failed else {}
    return {**comparison.to_dict(), **failed}


def comparison_jobs(
    common: Setup,
    variants: Sequence[Variant],
    folder: Path | None,
    *,
    log_requests: bool,
    timeline: Timeline | None,
    paired: bool,
    seeds: Sequence[int],
    slowest: int,
    blocks: bool = False,
    workers: int | None = None,
) -> list[Job]:
    """Builds a job for each variant and seed. With `folder`, each job has a folder of its own below it, which also gets its timeline.

    A job whose log only serves pairing keeps it in a temporary folder. Jobs of seeds after the first record neither series nor timeline nor
    the slowest requests, and are not paired; their folders lie below the folder of the first seed.

    `workers` is the maximum number of runs at once that search for the rates of loads.
    """
    truth("log_requests", log_requests)
    truth("paired", paired)
    if timeline is not None and folder is None:
        raise UsageError("timelines (--timelines) need out (--out DIR): each one goes to the folder of its run there")
    log: Log = "kept" if log_requests else "temporary" if paired else None
    fitted = fitted_setups(common.with_changes(shared=len(variants) * len(seeds) > 1), variants, seeds)
    setups = _with_loads(variants, fitted, workers)

    def job(one: Variant, setup: Setup) -> Job:
        place = folder and folder / variant_folder(one.label)
        there = timeline._replace(file=place / timeline.file) if timeline is not None and place is not None else None
        with naming(one):
            late = Slowest(place / SLOWEST_FILE, slowest) if slowest and place is not None else None
            return Job.prepare(one.label, setup, one.scheme, folder=place, log=log, timeline=there, blocks=blocks, slowest=late)

    def again(one: Variant, setup: Setup, seed: int) -> Job:
        place = folder and folder / variant_folder(one.label) / f"seed-{seed}"
        kept: Log = "kept" if log_requests else None
        changed = setup.with_changes(seed=seed, series=False)
        return Job.prepare(label_of(one.label, seed, seeds), changed, one.scheme, folder=place, log=kept)

    jobs = [job(*pair) for pair in zip(variants, setups, strict=True)]
    jobs += [again(*pair, seed) for seed in seeds[1:] for pair in zip(variants, setups, strict=True)]
    twice = [label for label, count in Counter(job.label for job in jobs).items() if count > 1]
    if twice:
        raise UsageError(f'variants: label "{twice[0]}" is also the name of a run under another seed: choose another')
    return jobs


def _with_loads(variants: Sequence[Variant], setups: list[Setup], workers: int | None) -> list[Setup]:
    """The setups of variants with the rates that their loads stand for; `load_of` is the label of a variant."""
    if all(setup.options["load"] is None for setup in setups):
        return setups
    from ssdlab.runs.capacity import Wanted, with_loads  # noqa: PLC0415 (few comparisons search for rates)

    runs = {one.label: (setup, one.scheme) for one, setup in zip(variants, setups, strict=True)}

    def wanted(label: str, setup: Setup, scheme: str | None) -> Wanted:
        of = setup.options["load_of"]
        if of is not None and of not in runs:
            raise UsageError(f'load_of = "{of}" is no variant{nearest(of, runs)} (there are {", ".join(runs)})')
        return Wanted(label, setup, scheme, None if of is None else runs[of])

    return with_loads([wanted(label, *run) for label, run in runs.items()], workers=workers)


@takes(PreconditionOptions, without=RunOptions)
def precondition(out: Path_, **options: Unpack[PreconditionOptions]) -> dict[str, Any]:
    """Prepares a device as `ftl.precondition` configures and saves its state to the file `out`, for `run(state=...)`.

    Arguments are as for `run`.

    Returns:
        A report on how the device was prepared, as a dictionary.
    """
    asked = complete("precondition", PreconditionOptions, options)
    setup = Setup(set=pairs(asked["set"]), **picked(SetupOptions, asked))
    return cast("dict[str, Any]", json.loads(_core.precondition(setup.plan(asked["scheme"]), checked_path("out", out))))


def trace_info(
    path: Path_,
    *,
    format: str | None = None,
    unit_bytes: int | None = None,
    time_unit: str | None = None,
    event: str | None = None,
    fio_wait: str | None = None,
    volume: str | None = None,
    device: str | None = None,
    skip: int = 0,
    limit_s: float | None = None,
    time_scale: float | None = None,
) -> dict[str, Any]:
    """Reads a whole trace and reports counts, sizes, times, volumes and unreadable lines (`bad_lines`).

    Args:
        path: trace file, plain or compressed; `"-"` is standard input.
        format: trace format, needed where the file does not state it.
        unit_bytes: bytes of one unit of address and size, for formats with their own units.
        time_unit: unit of the times, where the file does not state it: `"s"`, `"ms"`, `"us"`, `"ticks"` (100 ns) or `"ns"`.
        event: event of a blkparse or ftrace trace that counts as a request: `"queue"` or `"issue"`.
        fio_wait: meaning of `wait` in a fio log of version 2: `"program"` or `"manual"`.
        volume: report only the requests of this volume, by its name in the trace.
        device: an older name of the argument `volume`.
        skip: number of requests to leave out at the start. `bad_lines` and the list of volumes still cover the whole trace.
        limit_s: report only this many seconds, by the trace's clock, from the first request taken.
        time_scale: divisor of the times between requests.
    """
    checked_path("path", path)
    check_texts({"format": format, "time_unit": time_unit, "event": event, "fio_wait": fio_wait})
    units = _optional("unit_bytes", unit_bytes, 1)
    file = cast("Path_", named(path))
    with ReadProgress(file) as progress:
        report = _core.trace_info(
            file,
            format=format,
            unit_bytes=units,
            time_unit=time_unit,
            event=event,
            fio_wait=fio_wait,
            device=_volume(volume, device),
            skip=whole("skip", skip),
            limit_s=0.0 if limit_s is None else positive("limit_s", limit_s),
            time_scale=1.0 if time_scale is None else positive("time_scale", time_scale),
            progress=progress.callback,
        )
    return cast("dict[str, Any]", json.loads(report))


def trace_convert(
    source: Path_,
    target: Path_,
    *,
    format: str | None = None,
    unit_bytes: int | None = None,
    time_unit: str | None = None,
    event: str | None = None,
    fio_wait: str | None = None,
    volume: str | None = None,
    device: str | None = None,
    bad_lines: int = 0,
    time_order: Literal["error", "clamp", "sort"] | None = None,
    skip: int = 0,
    limit_s: float | None = None,
    time_scale: float | None = None,
    requests: int | None = None,
) -> dict[str, Any]:
    """Converts a trace, or a part of it, to the format given by the ending of the target's name.

    Args:
        source: trace to read. `format`, `unit_bytes`, `time_unit`, `event`, `fio_wait`, `volume` and `device` are as for `trace_info`.
        target: file to write: `.csv` (also `.csv.gz`, `.csv.bz2`, `.csv.zst`) or `.parquet`. It is written completely or not at all.
        bad_lines: maximum number of unreadable lines to leave out; one more is an error.
        time_order: handling of times that decrease: `"error"` (the default), `"clamp"` to the previous time, or `"sort"`.
        skip: number of requests to leave out at the start.
        limit_s: convert only this many seconds, by the trace's clock, from the first request taken.
        time_scale: divisor of the times between requests.
        requests: maximum number of requests to write.

    Returns:
        A report on what was written and what was left out, as a dictionary.
    """
    checked_path("source", source)
    checked_path("target", target)
    check_texts({"format": format, "time_unit": time_unit, "event": event, "fio_wait": fio_wait, "time_order": time_order})
    units, tolerated, most = _optional("unit_bytes", unit_bytes, 1), whole("bad_lines", bad_lines), _optional("requests", requests, 1)
    file = cast("Path_", named(source))
    with ReadProgress(file) as progress:
        report = _core.trace_convert(
            file,
            target,
            format=format,
            unit_bytes=units,
            time_unit=time_unit,
            event=event,
            fio_wait=fio_wait,
            device=_volume(volume, device),
            bad_lines=tolerated,
            time_order=time_order,
            skip=whole("skip", skip),
            limit_s=0.0 if limit_s is None else positive("limit_s", limit_s),
            time_scale=1.0 if time_scale is None else positive("time_scale", time_scale),
            requests=most,
            progress=progress.callback,
        )
    return cast("dict[str, Any]", json.loads(report))


def presets(kind: Kind) -> dict[str, str]:
    """The presets of a kind (`"device"`, `"scheme"` or `"workload"`): a sentence for each name."""
    from ssdlab.pages.notebook import Named  # noqa: PLC0415 (importing tables takes longer than all other imports here)

    return Named({name: description for name, description, _source in _core.presets(text("kind", kind))})


def preset_text(kind: Kind, name: str) -> str:
    """The TOML text of a preset, with the sources of its values."""
    return _core.preset_text(text("kind", kind), text("name", name))


def config_schema() -> dict[str, Any]:
    """The JSON Schema of the configuration."""
    return cast("dict[str, Any]", json.loads(_core.schema()))


def config_keys() -> dict[str, dict[str, Any]]:
    """Every configuration key with its description, kind and default, and its range or choices where it has them."""
    return {key["name"]: key for key in json.loads(_core.keys())}


Op = Literal["read", "write", "trim", "flush", "append", "zone-open", "zone-close", "zone-finish", "zone-reset"]
"""Kinds of requests; from the fifth on those that need zones (`ftl.placement = "zones"`)."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """A host request for `Simulator.submit`.

    Offset and length are in bytes; `flow` is the index of its flow in `workload.flows`, from 0;
    `handle` the placement handle (`ftl.placement = "handles"`), None for the default.
    """

    op: Op
    offset: int = 0
    length: int = 0
    arrival_ns: int | None = None
    high_priority: bool = False
    flow: int = 0
    handle: int | None = None


class Zone(NamedTuple):
    """A zone of a drive (`ftl.placement = "zones"`)."""

    state: str
    """`empty`, `implicitly-open`, `explicitly-open`, `closed` or `full`."""
    offset: int
    """Its first byte."""
    capacity_bytes: int
    """Bytes that can be written in it."""
    written_bytes: int
    """Bytes that the host has written in it: the write pointer is as far behind its first byte."""


class Simulator:
    """A drive that takes requests one by one, for co-simulation.

        sim = ssdlab.Simulator(device="lee2013", scheme="npgc")
        sim.submit(ssdlab.Request(op="write", offset=0, length=4096, arrival_ns=0))
        sim.run_until(1_000_000)
        for done in sim.completions():
            print(done.op, done.response_ns)

    Arguments are the options of `run` that do not describe a workload.
    """

    @takes(SimulatorOptions, without=RunOptions)
    def __init__(self, **options: Unpack[SimulatorOptions]) -> None:
        asked = complete("Simulator", SimulatorOptions, options)
        scheme = asked["scheme"]
        setup = Setup(set=pairs(asked["set"]), **picked(SetupOptions, asked))
        plan = setup.plan(scheme)  # reads all input files now
        warn_of_idle_keys([setup.idle(plan.config)])
        self._core = _core.Simulator(plan)
        self._title = setup.title(scheme)

    @property
    def now_ns(self) -> int:
        """The simulated time, ns."""
        return self._core.now_ns

    def submit(self, request: Request) -> int:
        """Submits a request that arrives at `request.arrival_ns` (default: now); returns its serial number, from 0.

        Arrival times must not decrease from one call to the next, and must not lie in the simulated past.
        """
        if not isinstance(request, Request):
            raise UsageError(f"{shown(request)}: expected a Request")
        arrival_ns = self.now_ns if request.arrival_ns is None else request.arrival_ns
        try:
            place = (request.op, request.offset, request.length)
            return self._core.submit(
                *place, arrival_ns=arrival_ns, high_priority=request.high_priority, flow=request.flow, handle=request.handle
            )
        except Error:
            raise
        except Exception as error:  # also an error raised by the caller's own type
            message = f"{shown(request)}: op is a text, high_priority true or false, the others are whole numbers from 0 to 2^64 - 1"
            raise UsageError(message) from error

    def run_until(self, until_ns: int) -> None:
        """Simulates up to and including the instant `until_ns`, ns."""
        self._core.run_until(whole("until_ns", until_ns))

    def run_to_idle(self) -> None:
        """Simulates until no event is left."""
        self._core.run_to_idle()

    def completions(self) -> list[_core.Completion]:
        """The requests completed since the last call, in order of completion."""
        return self._core.completions()

    def mapping(self) -> list[int]:
        """The physical page that holds the data of each logical page; -1 for a page without data.

        Physical pages are numbered drive-wide without gaps: page = block x pages per block + page in the block; block = plane x blocks per
        plane + block in the plane. Planes are counted die by die, dies chip by chip, chips channel by channel. The list has an entry for
        every exported page, with zones for every page that can be written, so it is slow on a large drive. With `ftl.map_unit_bytes` all
        numbers are in mapping units: with k units per page, the flash page is the number divided by k. With `ftl.parity_stripe` only pages
        that can hold data are counted.
        """
        return self._core.mapping()

    def zones(self) -> list[Zone]:
        """The zones of the drive and their present states; empty without `ftl.placement = "zones"`."""
        return [Zone(*row) for row in self._core.zones()]

    def erase_counts(self) -> list[int]:
        """The number of erases of each block. Blocks are numbered as in `mapping`."""
        return self._core.erase_counts()

    def free_blocks(self, pool: int) -> list[int]:
        """The free blocks of a pool, the next one to be used first. Open blocks are not included.

        Args:
            pool: index of a plane or, with `ftl.pool = "die"`, of a die, from 0.
        """
        return self._core.free_blocks(whole("pool", pool))

    def finish(self) -> Result:
        """Simulates the remaining work and returns the result. The simulator cannot be used afterwards."""
        return Result(json.loads(self._core.finish()), title=self._title)


def _optional(name: str, value: int | None, least: int) -> int | None:
    return None if value is None else whole(name, value, least)


def _volume(volume: str | None, device: str | None) -> str | None:
    """The volume given by `volume` or by the older name `device`."""
    check_texts({"volume": volume, "device": device})
    if volume is not None and device is not None:
        raise UsageError(
            f"volume = {volume!r} and device = {device!r} were both given, and device is an older name of volume: leave device out"
        )
    return device if volume is None else volume


def _setup(asked: RunOptions | CompareOptions, keys: tuple[tuple[str, str], ...]) -> Setup:
    """The setup that the options of `run` or `compare` describe. Series are recorded by default if results are written."""
    series = asked["out"] is not None if asked.get("series") is None else truth("series", asked["series"])
    return Setup(set=keys, series=series, **picked(SetupOptions, asked))


def _file(name: str, file: Path_ | None) -> Path | None:
    """The path given by the option `name`, or `None`."""
    return None if file is None else Path(checked_path(name, file))


def _folder(out: Path_ | None) -> Path | None:
    return None if out is None else Path(checked_path("out", out))
