"""`ssdlab cliffs`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ssdlab.asking import options as o
from ssdlab.cli.output import print_json, print_tables
from ssdlab.experiments.cliffs.api import predict
from ssdlab.experiments.cliffs.model import SCALE, SCALES
from ssdlab.experiments.cliffs.result import FILES
from ssdlab.runs.batch import check_apart
from ssdlab.system.folders import check_folder
from ssdlab.system.progress import ShareProgress
from ssdlab.system.states import use_states

__all__ = ["cliffs"]


def cliffs(
    table: Annotated[Path, typer.Argument(help="Table with a row for each drive.", metavar="TABLE.csv")],
    drive: Annotated[str | None, typer.Option(help="Only drives with this in their names.", metavar="NAME")] = None,
    out: Annotated[Path | None, typer.Option(help="Write cliffs.json and a figure (.svg, .png) to this folder.", metavar="DIR")] = None,
    scale: Annotated[
        int, typer.Option(help=f"By how much the simulated drives are smaller: {', '.join(map(str, SCALES))}.", metavar="N")
    ] = SCALE,
    state_cache: o.StateCache = True,
    json_: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """The command `ssdlab cliffs`."""
    use_states(state_cache)
    if out is not None:
        check_apart([table], [out / name for name in FILES])
        check_folder(out)
    with ShareProgress("filling", quiet=quiet) as progress:
        found = predict(table, drive=drive, scale=scale, progress=progress.callback)
    if out is not None:
        found.save(out)
    if json_:
        print_json(found.to_dict())
    elif not quiet:
        from ssdlab.pages.tables.cliffs import cliff_tables  # noqa: PLC0415 (rendering takes long to import)

        print_tables([*cliff_tables(found.to_dict()), *([] if out is None else [f"figure: {out / 'figure.svg'}"])])
