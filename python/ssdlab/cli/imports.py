"""`ssdlab import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ssdlab.asking import options as o
from ssdlab.asking.importing.api import import_configuration
from ssdlab.checks import amount
from ssdlab.cli.output import complain, print_json, print_tables

__all__ = ["import_"]

NOT_RUNNING = 1
"""Exit code if a file gives no preset, or presets that a run refuses."""


def import_(
    files: Annotated[list[Path], typer.Argument(help="Configurations of MQSim, FEMU, NVMeVirt or SimpleSSD.", metavar="FILE...")],
    out: Annotated[
        Path | None,
        typer.Option(help="Write presets (.toml) and the table (.md) into this folder. Without it nothing is written.", metavar="DIR"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    profile: Annotated[str | None, typer.Option(help="NVMeVirt: the drive of the header, a value of BASE_SSD.", metavar="NAME")] = None,
    capacity: Annotated[str | None, typer.Option(help="NVMeVirt: size of the memory (memmap_size of the module).", metavar="SIZE")] = None,
    json_: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """The command `ssdlab import`."""
    found = import_configuration(
        files, out=out, force=force, profile=profile, capacity=None if capacity is None else amount("--capacity", capacity, in_bytes=True)
    )
    if json_:
        print_json(found.to_dict())
    elif not quiet:
        from ssdlab.pages.tables.imports import import_lines  # noqa: PLC0415 (rendering takes long to import)

        items = [line for one in found for line in (*import_lines(one.to_dict()), "")]
        told = [f"written: {path}" for path in found.written] or ["nothing was written: --out DIR writes the presets and this table"]
        print_tables([*items, *told])
    for problem in found.problems:
        complain(problem)
    if found.problems:
        raise typer.Exit(NOT_RUNNING)
