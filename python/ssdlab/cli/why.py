"""`ssdlab why`."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Annotated

import typer

from ssdlab.cli.output import print_json, warn
from ssdlab.experiments.explaining import Question
from ssdlab.system.progress import RunProgress

__all__ = ["why"]

WIDTH = 80
"""Width of paragraphs, characters."""


def why(
    folder: Annotated[
        Path, typer.Argument(help="Output folder (--out) of `run`, `compare` or `sweep`, or of one of their runs.", metavar="DIR")
    ],
    of: Annotated[
        str | None, typer.Option(help="In the folder of `compare` or `sweep`: the run, by label, or by folder name.", metavar="LABEL")
    ] = None,
    slowest: Annotated[
        int | None, typer.Option(min=1, help="Explain the N slowest reads and writes (default: those that the run kept).", metavar="N")
    ] = None,
    request: Annotated[
        list[int] | None, typer.Option(min=0, help="Explain this request, by number from 0; may be repeated.", metavar="N")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else.")] = False,
) -> None:
    """The command `ssdlab why`."""
    question = Question(folder, of, slowest, request or ())
    found = question.kept
    if found is None:
        if not as_json:
            warn(f"{question.folder}: {question.lacking}; the run is repeated")
        with RunProgress([question.folder.name or "run"], quiet=False) as progress:
            found = question.repeated(progress.callback)
    if as_json:
        print_json(found.to_dict())
    else:
        typer.echo("\n\n".join(f"{textwrap.fill(one.paragraph, WIDTH)}\n\n{one.timeline}" for one in found))
