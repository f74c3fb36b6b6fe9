"""`ssdlab calibrate`."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated

import typer

from ssdlab.asking import options as o
from ssdlab.asking.plans import DEFAULT_SEED
from ssdlab.cli.output import complain, print_json, print_tables
from ssdlab.errors import FileError, UsageError
from ssdlab.pages import tables
from ssdlab.runs.batch import check_apart
from ssdlab.system.folders import make_folder
from ssdlab.system.progress import ShareProgress
from ssdlab.system.states import use_states

__all__ = ["calibrate"]

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
        check_apart([*measurements, *([base] if base is not None and base.endswith(".toml") else [])], written(out))
        make_folder(out.parent)
        _check_writable(written(out))

    with ShareProgress("calibrating", quiet=quiet) as progress:
        result = api.calibrate(
            measurements,
            drive=drive,
            base=base or api.BASE,
            scheme=scheme or api.SCHEME,
            seed=seed,
            jobs=jobs,
            progress=progress.callback,
        )
    if out is not None:
        result.save(out)
    if json_:
        print_json(result.to_dict())
    elif not quiet:
        print_tables([*tables.calibration_tables(result.to_dict()), *([] if out is None else [f"preset: {out}"])])
    if not result.is_well_fitted:
        complain(f"{result.drive} is badly fitted: {result.misfit}")
        raise typer.Exit(BADLY_FITTED)


def _check_writable(files: list[Path]) -> None:
    """Checks that files can be written, before minutes of work."""
    if folder := next((file for file in files if file.is_dir()), None):
        raise UsageError(f"{folder}: there is a folder of this name: choose another name for --out")
    try:
        with TemporaryFile(dir=files[0].parent):
            pass
    except OSError as reason:
        raise FileError(f"{files[0].parent}: cannot write: {reason.strerror}", reason.errno, str(files[0].parent)) from reason
