"""`ssdlab sweep`."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ssdlab.asking import options as o
from ssdlab.asking.plans import idle_warnings
from ssdlab.cli.options import folder
from ssdlab.cli.output import INTERRUPTED, complain, how_far, print_json, print_tables, report_interrupt, warn
from ssdlab.experiments.sweeping.definition import load
from ssdlab.experiments.sweeping.outcome import SHORT, known_figure
from ssdlab.experiments.sweeping.result import SweepResult
from ssdlab.experiments.sweeping.running import CSV, MEANS_CSV, MEANS_PARQUET, PARQUET, PARTS_CSV, Prepared, prepare, run
from ssdlab.pages import tables
from ssdlab.runs.batch import REPORT_FILE
from ssdlab.system.progress import TotalProgress
from ssdlab.system.states import use_states

__all__ = ["sweep"]

MOST_ERRORS = 10


class Engine(StrEnum):
    """Engines that run the points."""

    local = "local"
    ray = "ray"


def sweep(
    file: Annotated[Path, typer.Argument(help="TOML file with the grid and the common options of all runs.", metavar="SWEEP.toml")],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="Folder for results.parquet, results.csv, report.html and a result for each point.",
            metavar="DIR",
            parser=folder,
        ),
    ],
    jobs: o.Jobs = None,
    engine: Annotated[
        Engine, typer.Option(help="ray: as tasks of Ray, at RAY_ADDRESS or else on this machine (pip install 'ssdlab[ray]').")
    ] = Engine.local,
    resume: Annotated[bool, typer.Option("--resume", help="Continue: run only the points without a result in DIR.")] = False,
    best: Annotated[
        str | None,
        typer.Option(
            help=f"Name the best point by {', '.join(SHORT)}, or a column such as latency_ns.read.p99 (default: p99).", metavar="FIGURE"
        ),
    ] = None,
    kit: o.ForKit = False,
    state_cache: o.StateCache = True,
    json_: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """The command `ssdlab sweep`."""
    use_states(state_cache)
    if best is not None:
        known_figure(best)
    prepared = _prepared(file, out, resume=resume, jobs=jobs)
    if kit:
        from ssdlab.experiments.artifact.of_results import check_jobs  # noqa: PLC0415 (few sweeps are for a kit)

        check_jobs(task.job for task in prepared.tasks)
    for line in (*idle_warnings(prepared.idle), *prepared.preparation_lines):
        warn(line)
    try:
        with TotalProgress(file.stem, len(prepared.left), quiet=quiet) as progress:
            result = run(prepared, workers=jobs, engine=engine.value, progress=progress.callback)
    except KeyboardInterrupt as interrupt:  # while tables and pages were written
        _end_interrupted(prepared, file, out)
        raise typer.Exit(INTERRUPTED) from interrupt
    if json_:
        print_json(result.to_dict(best))
    elif not quiet:
        was = (
            "result was not as ssdlab wrote it: its point was"
            if prepared.changed == 1
            else "results were not as ssdlab wrote them: their points were"
        )
        changed = [f"{prepared.changed:,} {was} run again"] if prepared.changed else []
        there = [f"{len(prepared.done):,} of {len(result.sweep):,} points were there already"] if prepared.done else []
        files = [f"results: {out / PARQUET}, {out / CSV}", f"report: {out / REPORT_FILE} (opens in a browser)"] if result else []
        files += [f"means over seeds: {out / MEANS_PARQUET}, {out / MEANS_CSV}"] if result.means else []
        files += [f"means over {', '.join(result.parts)}: {out / PARTS_CSV}"] if result.part_means else []
        print_tables([*tables.sweep_tables(result, best), *there, *changed, *files])
    _end(result, prepared, file, out)


def _prepared(file: Path, out: Path, *, resume: bool, jobs: int | None) -> Prepared:
    try:
        return prepare(load(file), out=out, resume=resume, source=file, workers=jobs)
    except KeyboardInterrupt as interrupt:
        report_interrupt("interrupted: no run had begun; the same command begins again")
        raise typer.Exit(INTERRUPTED) from interrupt


def _end_interrupted(prepared: Prepared, file: Path, out: Path) -> None:
    """Reports which runs are stored after Ctrl-C, and how to go on."""
    command = shlex.join(["ssdlab", "sweep", str(file), "--out", str(out), "--resume"])
    stored = sum(task.file.exists() for task in prepared.tasks)
    goes_on = f"go on from there with: {command}" if stored else "the same command begins again"
    report_interrupt(f"interrupted: {how_far(stored, len(prepared.tasks), f'runs are stored in {out}', kept=None)}; {goes_on}")


def _end(result: SweepResult, prepared: Prepared, file: Path, out: Path) -> None:
    """Reports failures, if any, and ends with their exit code."""
    for point, error in result.failed[:MOST_ERRORS]:
        complain(f"{point.label}: {error}")
    if len(result.failed) > MOST_ERRORS:
        complain(f"{len(result.failed) - MOST_ERRORS:,} more points failed (--json names all)")
    if result.interrupt is not None:
        _end_interrupted(prepared, file, out)
        raise typer.Exit(INTERRUPTED)
    if result.failed:
        raise typer.Exit(max(error.exit_code for _, error in result.failed))
