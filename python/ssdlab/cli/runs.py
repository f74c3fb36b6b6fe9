"""`ssdlab run`, `compare`, `precondition`."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Unpack

import typer

from ssdlab import _core
from ssdlab.analysis.remarks import gc_ran, preparing
from ssdlab.asking import options as o
from ssdlab.asking.option import picked
from ssdlab.asking.plans import Setup, idle_warnings
from ssdlab.cli.options import parse_settings, parse_window
from ssdlab.cli.output import (
    INTERRUPTED,
    complain,
    how_far,
    noting_old_results,
    of_states,
    print_json,
    print_tables,
    report_interrupt,
    warn,
)
from ssdlab.cli.variants import parse_variants
from ssdlab.errors import StoppedError, UsageError
from ssdlab.runs.api import Prepared, entries_of, executed_comparison, executed_run, prepared_comparison, prepared_run
from ssdlab.runs.batch import REPORT_FILE, Batch, Progress
from ssdlab.system.folders import held
from ssdlab.system.progress import RunProgress

__all__ = ["compare", "precondition", "report", "run"]


class RunWords(o.RunOptions, total=False):
    """The options of `ssdlab run`."""

    expect_gc: o.ExpectGc
    kit: o.ForKit
    json: o.Json
    quiet: o.Quiet


class CompareWords(o.CompareOptions, total=False):
    """The options of `ssdlab compare`."""

    variant: o.VariantWords
    best: o.BestWords
    expect_gc: o.ExpectGc
    kit: o.ForKit
    json: o.Json
    quiet: o.Quiet


class PreconditionWords(o.PreconditionOptions, total=False):
    """The options of `ssdlab precondition`."""

    json: o.Json
    quiet: o.Quiet


def run(**words: Unpack[RunWords]) -> None:
    """The command `ssdlab run`."""
    as_fio = words["fio_json"] is not None and str(words["fio_json"]) == "-"
    if as_fio and words["json"]:
        raise UsageError("--json and --fio-json - would both print on standard output: leave one of them out, or give a file")
    quiet = words["quiet"] or as_fio
    _check_log(words)
    prepared = prepared_run(_asked(o.RunOptions, words), parse_settings(words["set"]))
    _check_kit(prepared, words["kit"])
    with _shown(prepared, quiet=quiet) as progress:
        batch = executed_run(prepared, progress=progress, page=True)
    batch.raise_failure()
    result = batch.finished["run"]
    if as_fio:
        batch.settle()
        print_json(prepared.jobs[0].as_fio(result))
    elif words["json"]:
        print_json(result.to_dict())
    elif not quiet:
        from ssdlab.pages import tables  # noqa: PLC0415 (it takes longer than many runs)

        print_tables([*tables.run_tables(result.to_dict(), result.title), *of_states([result.to_dict()]), *_where(prepared)])
    _check_gc(batch, words["expect_gc"])


def compare(**words: Unpack[CompareWords]) -> None:
    """The command `ssdlab compare`."""
    quiet = words["quiet"]
    _check_log(words)
    figures = list(dict.fromkeys(words["best"]))
    if figures:
        from ssdlab.pages.report.leader import known_figure  # noqa: PLC0415 (it takes longer than many runs)

        for figure in figures:
            known_figure(figure)
    variants = parse_variants(words["variant"])
    prepared = prepared_comparison(_asked(o.CompareOptions, words), parse_settings(words["set"]), variants)
    _check_kit(prepared, words["kit"])
    with _shown(prepared, quiet=quiet) as progress:
        batch, comparison = executed_comparison(prepared, workers=words["jobs"], progress=progress, page=True)
    if words["json"]:
        leaders = [comparison.best(figure) for figure in figures] if comparison else []
        found = [leader.to_dict() for leader in leaders if leader is not None]
        best = {"best": found[0] if len(figures) == 1 else found} if found else {}
        print_json({**entries_of(comparison, batch), **best})
    elif comparison and not quiet:
        from ssdlab.pages import tables  # noqa: PLC0415 (it takes longer than many runs)

        states = of_states(one.to_dict() for one in batch.finished.values())
        print_tables([*tables.comparison_tables(comparison, figures), *states, *_where(prepared)])
    _end_comparison(batch, len(prepared.jobs))
    _check_gc(batch, words["expect_gc"])


def report(
    folder: Annotated[Path, typer.Argument(help="Output folder (--out) of `run`, `compare` or `sweep`.", metavar="DIR")],
    out: Annotated[Path | None, typer.Option(help="The page (default: report.html in DIR).", metavar="FILE")] = None,
) -> None:
    """The command `ssdlab report`."""
    from ssdlab.experiments.saved_pages import unrecorded, write_again  # noqa: PLC0415 (it takes longer than many runs)

    page = out or folder / REPORT_FILE
    shown = RunProgress([folder.name], quiet=unrecorded(folder) is None)  # only such a point of a sweep is run again
    with held(folder) if out is None else contextlib.nullcontext(), shown as progress:
        written = write_again(folder, page, progress.callback)
    if written.lacking:
        warn(f"{folder}: the page has no figures over time, since the run could not be repeated: {written.lacking}")
    for label in written.changed:
        warn(f"{folder}: the result of {label} was changed after ssdlab wrote it; the page shows it as it is now")
    typer.echo(f"{page}: {written.about}")


def precondition(
    out: Annotated[Path, typer.Option(help="The file to save the device's state to.", metavar="FILE")], **words: Unpack[PreconditionWords]
) -> None:
    """The command `ssdlab precondition`."""
    setup = Setup(set=parse_settings(words["set"]), series=False, **picked(o.SetupOptions, words))
    plan = setup.plan(words["scheme"])
    with RunProgress([words["device"] or "device"], quiet=words["quiet"]) as progress:
        report = json.loads(_core.precondition(plan, out, progress=progress.callback))
    if words["json"]:
        print_json(report)
    elif not words["quiet"]:
        from ssdlab.pages import tables  # noqa: PLC0415 (it takes longer than many runs)

        print_tables([tables.report_table(report, "Precondition"), f"state: {out}"])


def _asked(options: type[Any], words: Mapping[str, Any]) -> Any:
    """The options of a command, as the functions of Python have them."""
    return picked(options, {**words, "timeline_window": parse_window(words["timeline_window"])})


@contextlib.contextmanager
def _shown(prepared: Prepared, *, quiet: bool) -> Iterator[Progress | None]:
    """Warns of keys without effect, shows progress, and warns after a failure of earlier results that are still there."""
    for line in (*idle_warnings([job.idle for job in prepared.jobs]), *prepared.idle_lines, *prepared.grown_lines):
        warn(line)
    with noting_old_results(prepared.folder), RunProgress([job.label for job in prepared.jobs], quiet=quiet) as progress:
        yield progress.callback


def _end_comparison(batch: Batch, asked: int) -> None:
    """Reports failures, if any, and ends with their exit code."""
    if isinstance(batch.interrupt, KeyboardInterrupt):
        report_interrupt(f"interrupted: {how_far(len(batch.finished), asked)}")
        raise typer.Exit(INTERRUPTED)
    if batch.interrupt is not None:
        raise batch.interrupt
    failed = {label: error for label, error in batch.failed.items() if not isinstance(error, StoppedError)}
    if len(failed) > 1 and len({str(error) for error in failed.values()}) == 1:
        complain(str(next(iter(failed.values()))))  # an error that all runs share, such as of the trace
    else:
        for label, error in failed.items():
            complain(f"{label}: {error}")
    if failed:
        raise typer.Exit(max(error.exit_code for error in failed.values()))


def _check_log(words: RunWords | CompareWords) -> None:
    if words["log_requests"] and words["out"] is None:
        raise UsageError("--log-requests needs --out DIR: that is where requests.parquet goes")


def _check_kit(prepared: Prepared, wanted: bool) -> None:
    if wanted:
        from ssdlab.experiments.artifact.of_results import check_jobs  # noqa: PLC0415 (few runs are for a kit)

        check_jobs(prepared.jobs)


def _check_gc(batch: Batch, expected: bool) -> None:
    idle = {label: result for label, result in batch.finished.items() if not gc_ran(result)}
    if expected and idle:
        where = "" if len(batch.finished) == 1 else f" under {', '.join(idle)}"
        complain(f"garbage collection never ran{where}, but --expect-gc was given: write more, or {preparing(idle.values())}")
        raise typer.Exit(1)


def _where(prepared: Prepared) -> list[str]:
    out = prepared.folder.folder
    return [] if out is None else [f"results: {out}", f"report: {out / REPORT_FILE} (opens in a browser)"]
