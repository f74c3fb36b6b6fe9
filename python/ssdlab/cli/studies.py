"""`ssdlab study list`, `run`, `report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ssdlab.asking import options as o
from ssdlab.cli.output import INTERRUPTED, complain, how_far, noting_old_results, print_json, print_tables, report_interrupt, warn
from ssdlab.errors import Interrupted, TraceError, UsageError
from ssdlab.experiments.artifact.of_study import own_of
from ssdlab.experiments.artifact.own_files import is_outside
from ssdlab.experiments.study import library
from ssdlab.experiments.study import report as reports
from ssdlab.experiments.study.result import StudyResult
from ssdlab.experiments.study.running import Prepared, prepare
from ssdlab.experiments.study.running import run as run_prepared
from ssdlab.pages import tables
from ssdlab.system.progress import TotalProgress
from ssdlab.system.states import use_states

__all__ = ["list_", "prepared_of", "report", "run", "show"]

RESULTS = Path("results/studies")


def list_() -> None:
    """The command `ssdlab study list`."""
    width = max(map(len, library.shipped()), default=0) + 2
    for name in library.shipped():
        typer.echo(f"{name:<{width}}{library.load(name).title}")


def show(name: Annotated[str, typer.Argument(help="The study.", metavar="PAPER/STUDY")]) -> None:
    """The command `ssdlab study show`."""
    library.load(name)  # checks a file, and reports a wrong name
    typer.echo(library.text(name), nl=False)


def run(
    names: Annotated[
        list[str] | None, typer.Argument(help="Studies: a name, a paper for all of its studies, or a file.", metavar="PAPER/STUDY...")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="All studies that come with ssdlab.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A first look: fewer requests and seeds.")] = False,
    jobs: o.Jobs = None,
    out: Annotated[Path, typer.Option(help="Folder for the results, with a folder PAPER/STUDY for each study.", metavar="DIR")] = RESULTS,
    traces: Annotated[Path | None, typer.Option(help="Folder to search for traces.", metavar="DIR")] = None,
    state_cache: o.StateCache = True,
    json_: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """The command `ssdlab study run`."""
    use_states(state_cache)
    if all_ == bool(names):
        raise UsageError("study run: name studies, or give --all for all that come with ssdlab, not both (`ssdlab study list` shows them)")
    prepared = prepared_of(names or [], quick=quick, out=out, traces=traces, jobs=jobs)
    for study in prepared:
        for name in (name for name, _ in own_of(study) if is_outside(name)):
            warn(f"{study.study.name}: {name} is not below the current folder: `ssdlab artifact` cannot put it into a kit")
    results: list[StudyResult] = []
    try:
        for study in prepared:
            results.append(_run(study, jobs, json_=json_, quiet=quiet))
    except Interrupted as interrupt:
        if json_:
            runs = {label: result.get("digest") for label, result in interrupt.finished.items()}
            print_json({**_as_json(results), "interrupted": {"study": prepared[len(results)].study.name, "runs": runs}})
        raise typer.Exit(INTERRUPTED) from interrupt
    if json_:
        print_json(_as_json(results))
    failed = [error for result in results for error in result.failed.values()]
    if failed:
        raise typer.Exit(max(error.exit_code for error in failed))


def prepared_of(names: list[str], *, quick: bool, out: Path, traces: Path | None, jobs: int | None = None) -> list[Prepared]:
    """Prepares the studies with these names; all studies if `names` is empty.

    A study whose traces are missing is skipped, unless it was named individually.
    """
    found = []
    for study in library.find(names or list(library.shipped())):
        try:
            found.append(prepare(study, quick=quick, out=out, traces=traces, workers=jobs))
        except TraceError as absent:
            together = not names or study.name.split("/")[0] in {name.rstrip("/") for name in names}
            if not together:
                raise
            warn(f"left out: {absent}")
    return found


def _as_json(results: list[StudyResult]) -> dict[str, Any]:
    return {"studies": {result.study.name: result.to_dict() for result in results}}


def _run(prepared: Prepared, jobs: int | None, *, json_: bool, quiet: bool) -> StudyResult:
    name = prepared.study.name
    with noting_old_results(prepared.out), TotalProgress(name, len(prepared.jobs), quiet=quiet) as progress:
        try:
            result = run_prepared(prepared, workers=jobs, progress=progress.callback)
        except Interrupted as interrupt:
            has_old = prepared.out.has_old
            kept = None if has_old else f"their results are in {prepared.folder}/runs"
            earlier = f", the earlier results are in {prepared.folder}" if has_old else ""
            report_interrupt(f"{name}: interrupted: {how_far(len(interrupt.finished), len(prepared.jobs), kept=kept)}{earlier}")
            raise
    for label, error in result.failed.items():
        complain(f"{name}: {label}: {error}")
    if not (json_ or quiet):
        skipped = [f"left out: {', '.join(labels)}: {reason}" for labels, reason in result.skipped.items()]
        where = [] if prepared.out.has_old or not result.runs else [f"results: {prepared.folder}"]
        print_tables([tables.study_table(result.to_dict()), *skipped, *where])
    return result


def report(
    folder: Annotated[Path, typer.Argument(help="Folder with the results of studies.", metavar="DIR")] = RESULTS,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The page: .html (one file with its figures) or .md (figures in a folder beside it); without an ending a folder, "
            "with a page for each paper and one that compares published and measured numbers.",
            metavar="OUT",
        ),
    ] = None,
) -> None:
    """The command `ssdlab study report`."""
    page = out or folder / "report.html"
    count = reports.write(folder, page)
    typer.echo(f"{page}: {count} {'study' if count == 1 else 'studies'}")
