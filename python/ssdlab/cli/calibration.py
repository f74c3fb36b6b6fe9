"""`ssdlab calibrate`."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.asking import options as o
from ssdlab.asking.plans import DEFAULT_SEED
from ssdlab.cli.output import INTERRUPTED, complain, print_json, print_tables, report_interrupt
from ssdlab.errors import FileError, Interrupted, UsageError
from ssdlab.pages import tables
from ssdlab.runs.batch import check_apart
from ssdlab.system.folders import make_folder
from ssdlab.system.progress import ShareProgress
from ssdlab.system.states import use_states

if TYPE_CHECKING:
    from ssdlab.experiments.calibration.result import Calibration

__all__ = ["calibrate"]

JOURNAL = ".runs.jsonl"
"""Ending of the file that keeps the runs of a calibration until it is complete."""
BADLY_FITTED = 1
"""Exit code of a calibration with a bad fit, so that scripts stop."""


def calibrate(
    measurements: Annotated[
        list[Path] | None, typer.Argument(help="Tables (.csv), a folder of tables, or fio's output (.json).", metavar="MEASUREMENTS...")
    ] = None,
    drive: Annotated[str | None, typer.Option(help="Name of the drive in the tables.", metavar="NAME")] = None,
    base: Annotated[str | None, typer.Option(help="Device preset to start from, or a file with one.", metavar="NAME|FILE.toml")] = None,
    scheme: Annotated[str | None, typer.Option(help="Scheme preset(s) of the drive.", metavar="NAME[+NAME...]")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the preset here; all rows (.rows.json) and a figure (.svg, .png) beside it.", metavar="FILE.toml"),
    ] = None,
    print_jobs: Annotated[bool, typer.Option("--print-jobs", help="Print the job file for fio that measures a drive.")] = False,
    seed: o.Seed = DEFAULT_SEED,
    jobs: o.Jobs = None,
    state_cache: o.StateCache = True,
    json_: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """The command `ssdlab calibrate`."""
    use_states(state_cache)
    if print_jobs:
        if measurements:
            raise UsageError("--print-jobs and measurements were both given: leave one of them out")
        if out is not None or json_:
            raise UsageError("--print-jobs prints only a job file: leave out --out and --json")
        typer.echo(files("ssdlab.experiments.calibration").joinpath("drive.fio").read_text(encoding="utf-8"), nl=False)
        return
    if not measurements:
        raise UsageError("calibrate: give measurements of a drive, or --print-jobs for the job file that measures one")
    if out is not None and out.suffix != ".toml":
        raise UsageError(f"--out {out}: expected a name that ends with .toml")
    # imported here because NumPy and SciPy take longer than many commands
    from ssdlab.experiments.calibration import api  # noqa: PLC0415
    from ssdlab.experiments.calibration.result import written  # noqa: PLC0415

    if out is not None:  # before minutes of work
        files_of = [*written(out), *written(out, partial=True)]
        check_apart([*measurements, *([base] if base is not None and base.endswith(".toml") else [])], files_of)
        make_folder(out.parent)
        _check_writable(files_of)

    journal = None if out is None else out.with_suffix(JOURNAL)
    with ShareProgress("calibrating", quiet=quiet) as progress:
        try:
            result = api.calibrate(
                measurements,
                drive=drive,
                base=base or api.BASE,
                scheme=scheme or api.SCHEME,
                seed=seed,
                jobs=jobs,
                journal=journal,
                progress=progress.callback,
            )
        except Interrupted as interrupt:
            _report(interrupt.finished.get("partial"), out)
            raise typer.Exit(INTERRUPTED) from interrupt
    if out is not None and journal is not None:
        result.save(out)
        for file in (journal, *written(out, partial=True)):
            file.unlink(missing_ok=True)
    if json_:
        print_json(result.to_dict())
    elif not quiet:
        print_tables([*tables.calibration_tables(result.to_dict()), *([] if out is None else [f"preset: {out}"])])
    if not result.is_well_fitted:
        complain(f"{result.drive} is badly fitted: {result.misfit}")
        raise typer.Exit(BADLY_FITTED)


def _report(partial: Calibration | None, out: Path | None) -> None:
    """Writes what an interrupted calibration found so far, and says how to go on."""
    if out is None:
        report_interrupt("calibrating: interrupted: nothing is kept (with --out the runs are, and the same command goes on)")
        return
    place = out.with_suffix(".partial.toml")
    if partial is not None:
        partial.save(place)
    found = "no step has ended yet" if partial is None else f"what was found so far is in {place}, marked as partial"
    report_interrupt(f"calibrating: interrupted: {found}; its runs are in {out.with_suffix(JOURNAL)}: the same command goes on from there")


def _check_writable(files: list[Path]) -> None:
    """Checks that files can be written, before minutes of work."""
    if folder := next((file for file in files if file.is_dir()), None):
        raise UsageError(f"{folder}: there is a folder of this name: choose another name for --out")
    try:
        with TemporaryFile(dir=files[0].parent):
            pass
    except OSError as reason:
        raise FileError(f"{files[0].parent}: cannot write: {reason.strerror}", reason.errno, str(files[0].parent)) from reason
