"""`ssdlab run`, `compare`, `precondition`."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ssdlab import _core, tables
from ssdlab import report as reports
from ssdlab.api import comparison_jobs
from ssdlab.batch import COMPARISON_FILE, REPORT_FILE, TIMELINE_FILE, Batch, Job, execute, write_json
from ssdlab.cli import options as o
from ssdlab.cli.output import INTERRUPTED, complain, print_json, print_tables, warn
from ssdlab.comparison import Comparison, collected
from ssdlab.errors import StoppedError, UsageError
from ssdlab.folders import ResultFolder, held
from ssdlab.plans import DEFAULT_SEED, Setup, idle_warnings, timeline_of
from ssdlab.progress import RunProgress
from ssdlab.result import Result
from ssdlab.seeds import seeds_from

__all__ = ["compare", "precondition", "report", "run"]


def run(
    device: o.Device = None,
    scheme: o.Scheme = None,
    workload: o.Workload = None,
    trace: o.Trace = None,
    format: o.Format = None,
    unit_bytes: o.UnitBytes = None,
    volume: o.Volume = None,
    time_scale: o.TimeScale = None,
    bad_lines: o.BadLines = None,
    prefill: o.Prefill = None,
    fit: o.Fit = None,
    requests: o.Requests = None,
    warm_up: o.WarmUp = None,
    seed: o.Seed = DEFAULT_SEED,
    settings: o.Settings = None,
    config: o.ConfigFile = None,
    state: o.State = None,
    verify: o.VerifyLevel = o.Verify.off,
    expect_gc: o.ExpectGc = False,
    log_requests: o.LogRequests = False,
    timeline: o.TimelineFile = None,
    timeline_window: o.TimelineWindow = None,
    timeline_limit: o.TimelineLimit = None,
    out: o.OutWithReport = None,
    json_: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Simulate one workload on one device under one scheme."""
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
        set=o.parse_settings(settings),
        config=config,
        state=state,
        verify=verify.value,
        series=out is not None,  # for the report
    )
    _check_log(log_requests, out)
    wanted = timeline_of(timeline, o.parse_window(timeline_window), timeline_limit)
    folder = ResultFolder(out, "run")
    job = Job.prepare("run", setup, scheme, folder=folder.stage, log="kept" if log_requests else None, timeline=wanted)
    with folder:
        batch = _execute([job], None, quiet, folder)
        try:
            if batch.finished and folder.stage is not None:
                batch.finished["run"].report(folder.stage / REPORT_FILE)
        finally:  # no page is worth the run
            if batch.interrupt is None:
                folder.commit()
    batch.raise_failure()
    result = batch.finished["run"]
    if json_:
        print_json(result.to_dict())
    elif not quiet:
        print_tables([*tables.run_tables(result), *_where(out)])
    _check_gc(batch, expect_gc)


def compare(
    schemes: o.Schemes,
    device: o.Device = None,
    workload: o.Workload = None,
    trace: o.Trace = None,
    format: o.Format = None,
    unit_bytes: o.UnitBytes = None,
    volume: o.Volume = None,
    time_scale: o.TimeScale = None,
    bad_lines: o.BadLines = None,
    prefill: o.Prefill = None,
    fit: o.Fit = None,
    requests: o.Requests = None,
    warm_up: o.WarmUp = None,
    seed: o.Seed = DEFAULT_SEED,
    settings: o.Settings = None,
    config: o.ConfigFile = None,
    state: o.State = None,
    verify: o.VerifyLevel = o.Verify.off,
    expect_gc: o.ExpectGc = False,
    log_requests: o.LogRequests = False,
    timelines: o.Timelines = False,
    timeline_window: o.TimelineWindow = None,
    timeline_limit: o.TimelineLimit = None,
    paired: o.Paired = False,
    seeds: o.Seeds = 1,
    out: o.OutWithReport = None,
    jobs: o.Jobs = None,
    json_: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Simulate one workload on one device under several schemes, side by side."""
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
        set=o.parse_settings(settings),
        config=config,
        state=state,
        verify=verify.value,
        series=out is not None,  # for the report
    )
    _check_log(log_requests, out)
    wanted = timeline_of(TIMELINE_FILE if timelines else None, o.parse_window(timeline_window), timeline_limit)
    several = seeds_from(seed, seeds)
    folder = ResultFolder(out, "comparison")
    runs = comparison_jobs(setup, schemes, folder.runs, log_requests=log_requests, timeline=wanted, paired=paired, seeds=several)
    with folder:
        batch = _execute(runs, jobs, quiet, folder)
        comparison = collected(batch.finished, schemes, several, title=setup.title(None, compared=True))
        try:
            report = _comparison_report(batch, comparison, folder.stage)
        finally:
            # A set without its index could not be opened, and must not replace one that can.
            if folder.stage is None or (folder.stage / COMPARISON_FILE).is_file() or (batch.interrupt is None and not batch.finished):
                folder.commit()
    _show_comparison(comparison, report, out, as_json=json_, quiet=quiet)
    _end_comparison(batch, len(runs))
    _check_gc(batch, expect_gc)


def report(
    folder: Annotated[Path, typer.Argument(help="What `run`, `compare` or `sweep` wrote with --out.", metavar="DIR")],
    out: Annotated[Path | None, typer.Option(help="The page (default: report.html in DIR).", metavar="FILE")] = None,
) -> None:
    """Make the page about a run, a comparison or a sweep again, from its saved results."""
    from ssdlab.pages import write_again  # noqa: PLC0415 (sweeps and studies, which runs do without)

    page = out or folder / REPORT_FILE
    with held(folder) if out is None else contextlib.nullcontext():
        written = write_again(folder, page)
    for label in written.changed:
        warn(f"{folder}: the result of {label} was changed after ssdlab wrote it; the page shows it as it is now")
    typer.echo(f"{page}: {written.about}")


def precondition(
    out: Annotated[Path, typer.Option(help="The file to save the device's state to.", metavar="FILE")],
    device: o.Device = None,
    scheme: o.Scheme = None,
    workload: o.Workload = None,
    prefill: o.Prefill = None,
    seed: o.Seed = DEFAULT_SEED,
    settings: o.Settings = None,
    config: o.ConfigFile = None,
    json_: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Prepare a device as ftl.precondition says and save its state, to begin runs with (run --state)."""
    setup = Setup(device=device, workload=workload, prefill=prefill, seed=seed, set=o.parse_settings(settings), config=config)
    plan = setup.plan(scheme)
    with RunProgress([device or "device"], quiet=quiet) as progress:
        report = json.loads(_core.precondition(plan, out, progress=progress.callback))
    if json_:
        print_json(report)
    elif not quiet:
        print_tables([tables.report_table(report, "Precondition"), f"state: {out}"])


def _execute(jobs: list[Job], workers: int | None, quiet: bool, out: ResultFolder) -> Batch:
    for line in idle_warnings([job.idle for job in jobs]):
        warn(line)
    with RunProgress([job.label for job in jobs], quiet=quiet) as progress:
        return execute(jobs, workers=workers, progress=progress.callback, out=out)


def _comparison_report(batch: Batch, comparison: Comparison, folder: Path | None) -> dict[str, Any]:
    """What there is, be it only a part of what was asked for; written to the folder, if there is one."""
    report = comparison.to_dict()
    if batch.failed:
        report["failed"] = {scheme: str(error) for scheme, error in batch.failed.items()}
    if folder is not None and comparison:
        write_json(folder / COMPARISON_FILE, report)
        more = {key: report.get(key, {}) for key in ("paired", "failed", "seeds")}
        reports.write(reports.Runs.of(report["runs"], **more), folder / REPORT_FILE)
    return report


def _show_comparison(comparison: Comparison, report: dict[str, Any], out: Path | None, *, as_json: bool, quiet: bool) -> None:
    """Prints what there is."""
    if as_json:
        print_json(report)
    elif comparison and not quiet:
        print_tables([*tables.comparison_tables(comparison), *_where(out)])


def _end_comparison(batch: Batch, asked: int) -> None:
    """Says what went wrong, if anything did, and ends with its exit code."""
    if isinstance(batch.interrupt, KeyboardInterrupt):
        complain(f"interrupted: {len(batch.finished)} of {asked} runs had finished, their results are kept")
        raise typer.Exit(INTERRUPTED)
    if batch.interrupt is not None:
        raise batch.interrupt
    failed = {scheme: error for scheme, error in batch.failed.items() if not isinstance(error, StoppedError)}
    for scheme, error in failed.items():
        complain(f"{scheme}: {error}")
    if failed:
        raise typer.Exit(max(error.exit_code for error in failed.values()))


def _check_log(wanted: bool, out: Path | None) -> None:
    if wanted and out is None:
        raise UsageError("--log-requests needs --out DIR: that is where requests.parquet goes")


def _check_gc(batch: Batch, expected: bool) -> None:
    idle = [label for label, result in batch.finished.items() if not _collected(result)]
    if expected and idle:
        where = "" if len(batch.finished) == 1 else f" under {', '.join(idle)}"
        complain(f"garbage collection never ran{where}, but --expect-gc was given: write more, or precondition the device")
        raise typer.Exit(1)


def _collected(result: Result) -> bool:
    return bool(result.get("gc", {}).get("jobs"))


def _where(out: Path | None) -> list[str]:
    return [] if out is None else [f"results: {out}", f"report: {out / REPORT_FILE} (opens in a browser)"]
