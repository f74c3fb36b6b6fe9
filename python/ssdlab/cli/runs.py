"""`ssdlab run`, `compare`, `precondition`."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Annotated, Any, Unpack

import typer

from ssdlab import _core
from ssdlab import options as o
from ssdlab.api import comparison_jobs
from ssdlab.batch import COMPARISON_FILE, REPORT_FILE, TIMELINE_FILE, Batch, Job, Log, execute, write_json
from ssdlab.cli.options import parse_settings, parse_window
from ssdlab.cli.output import INTERRUPTED, complain, how_far, noting_old_results, print_json, print_tables, report_interrupt, warn
from ssdlab.comparison import Comparison, collected
from ssdlab.errors import StoppedError, UsageError
from ssdlab.folders import ResultFolder, held
from ssdlab.option import picked
from ssdlab.plans import Setup, idle_warnings, timeline_of
from ssdlab.progress import RunProgress
from ssdlab.remarks import gc_ran
from ssdlab.result import Result
from ssdlab.seeds import seeds_from

__all__ = ["compare", "precondition", "report", "run"]


class RunWords(o.RunOptions, total=False):
    """The options of `ssdlab run`."""

    expect_gc: o.ExpectGc
    json: o.Json
    quiet: o.Quiet


class CompareWords(o.CompareOptions, total=False):
    """The options of `ssdlab compare`."""

    expect_gc: o.ExpectGc
    json: o.Json
    quiet: o.Quiet


class PreconditionWords(o.PreconditionOptions, total=False):
    """The options of `ssdlab precondition`."""

    json: o.Json
    quiet: o.Quiet


def run(**words: Unpack[RunWords]) -> None:
    """The command `ssdlab run`."""
    setup, out, quiet = _setup(words), _folder(words), words["quiet"]
    _check_log(words["log_requests"], out)
    wanted = timeline_of(words["timeline"], parse_window(words["timeline_window"]), words["timeline_limit"])
    folder = ResultFolder(out, "run")
    log: Log = "kept" if words["log_requests"] else None
    saved = None if words["save_state"] is None else Path(words["save_state"])
    job = Job.prepare("run", setup, words["scheme"], folder=folder.stage, log=log, timeline=wanted, save_state=saved)
    with noting_old_results(folder), folder:
        batch = _execute([job], None, quiet, folder)
        try:
            if batch.finished and folder.stage is not None:
                batch.finished["run"].report(folder.stage / REPORT_FILE)
        finally:  # an error of the page does not lose the run
            if batch.interrupt is None:
                folder.commit()
    batch.raise_failure()
    result = batch.finished["run"]
    if words["json"]:
        print_json(result.to_dict())
    elif not quiet:
        from ssdlab import tables  # noqa: PLC0415 (it takes longer than many runs)

        print_tables([*tables.run_tables(result), *_where(out)])
    _check_gc(batch, words["expect_gc"])


def compare(**words: Unpack[CompareWords]) -> None:
    """The command `ssdlab compare`."""
    setup, out, schemes, quiet = _setup(words), _folder(words), words["schemes"], words["quiet"]
    _check_log(words["log_requests"], out)
    file = TIMELINE_FILE if words["timelines"] else None
    wanted = timeline_of(file, parse_window(words["timeline_window"]), words["timeline_limit"])
    seeds = seeds_from(words["seed"], words["seeds"])
    folder = ResultFolder(out, "comparison")
    logs, paired = words["log_requests"], words["paired"]
    runs = comparison_jobs(setup, schemes, folder.runs, log_requests=logs, timeline=wanted, paired=paired, seeds=seeds)
    with noting_old_results(folder), folder:
        batch = _execute(runs, words["jobs"], quiet, folder)
        comparison = collected(batch.finished, schemes, seeds, title=setup.title(None, compared=True))
        try:
            report = _comparison_report(batch, comparison, folder.stage)
        finally:
            folder.commit()
    _show_comparison(comparison, report, out, as_json=words["json"], quiet=quiet)
    _end_comparison(batch, len(runs))
    _check_gc(batch, words["expect_gc"])


def report(
    folder: Annotated[Path, typer.Argument(help="Output folder (--out) of `run`, `compare` or `sweep`.", metavar="DIR")],
    out: Annotated[Path | None, typer.Option(help="The page (default: report.html in DIR).", metavar="FILE")] = None,
) -> None:
    """The command `ssdlab report`."""
    from ssdlab.pages import write_again  # noqa: PLC0415 (it takes longer than many runs)

    page = out or folder / REPORT_FILE
    with held(folder) if out is None else contextlib.nullcontext():
        written = write_again(folder, page)
    for label in written.changed:
        warn(f"{folder}: the result of {label} was changed after ssdlab wrote it; the page shows it as it is now")
    typer.echo(f"{page}: {written.about}")


def precondition(
    out: Annotated[Path, typer.Option(help="The file to save the device's state to.", metavar="FILE")], **words: Unpack[PreconditionWords]
) -> None:
    """The command `ssdlab precondition`."""
    setup = _setup(words)
    plan = setup.plan(words["scheme"])
    with RunProgress([words["device"] or "device"], quiet=words["quiet"]) as progress:
        report = json.loads(_core.precondition(plan, out, progress=progress.callback))
    if words["json"]:
        print_json(report)
    elif not words["quiet"]:
        from ssdlab import tables  # noqa: PLC0415 (it takes longer than many runs)

        print_tables([tables.report_table(report, "Precondition"), f"state: {out}"])


def _setup(words: RunWords | CompareWords | PreconditionWords) -> Setup:
    """The setup of a command; it records series if a report will be written."""
    return Setup(set=parse_settings(words["set"]), series=words.get("out") is not None, **picked(o.SetupOptions, words))


def _folder(words: RunWords | CompareWords) -> Path | None:
    return None if words["out"] is None else Path(words["out"])


def _execute(jobs: list[Job], workers: int | None, quiet: bool, out: ResultFolder) -> Batch:
    for line in idle_warnings([job.idle for job in jobs]):
        warn(line)
    with RunProgress([job.label for job in jobs], quiet=quiet) as progress:
        return execute(jobs, workers=workers, progress=progress.callback, out=out)


def _comparison_report(batch: Batch, comparison: Comparison, folder: Path | None) -> dict[str, Any]:
    """Builds the report of the finished runs, and writes it to the folder, if any."""
    report = comparison.to_dict()
    if batch.failed:
        report["failed"] = {scheme: str(error) for scheme, error in batch.failed.items()}
    if folder is not None and comparison:
        from ssdlab import report as reports  # noqa: PLC0415 (it takes longer than many runs)

        write_json(folder / COMPARISON_FILE, report)
        more = {key: report.get(key, {}) for key in ("paired", "failed", "seeds")}
        reports.write(reports.Runs.of(report["runs"], **more), folder / REPORT_FILE)
    return report


def _show_comparison(comparison: Comparison, report: dict[str, Any], out: Path | None, *, as_json: bool, quiet: bool) -> None:
    """Prints the results."""
    if as_json:
        print_json(report)
    elif comparison and not quiet:
        from ssdlab import tables  # noqa: PLC0415 (it takes longer than many runs)

        print_tables([*tables.comparison_tables(comparison), *_where(out)])


def _end_comparison(batch: Batch, asked: int) -> None:
    """Reports failures, if any, and ends with their exit code."""
    if isinstance(batch.interrupt, KeyboardInterrupt):
        report_interrupt(f"interrupted: {how_far(len(batch.finished), asked)}")
        raise typer.Exit(INTERRUPTED)
    if batch.interrupt is not None:
        raise batch.interrupt
    failed = {scheme: error for scheme, error in batch.failed.items() if not isinstance(error, StoppedError)}
    if len(failed) > 1 and len({str(error) for error in failed.values()}) == 1:
        complain(str(next(iter(failed.values()))))  # an error that all schemes share, such as of the trace
    else:
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
    return bool(gc_ran(result))


def _where(out: Path | None) -> list[str]:
    return [] if out is None else [f"results: {out}", f"report: {out / REPORT_FILE} (opens in a browser)"]
