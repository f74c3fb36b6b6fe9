"""`ssdlab why`."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Annotated

import typer

from ssdlab.analysis.remarks import as_dicts, shown
from ssdlab.cli.output import print_json, warn
from ssdlab.errors import UsageError
from ssdlab.experiments.explaining import Question, SlowRequest
from ssdlab.experiments.loading import load, run_in
from ssdlab.system.progress import RunProgress

__all__ = ["why"]

WIDTH = 80
"""Width of paragraphs, characters."""
INDENT = "    "


def why(
    folder: Annotated[
        Path, typer.Argument(help="Output folder (--out) of `run`, `compare` or `sweep`, or of one of their runs.", metavar="DIR")
    ],
    of: Annotated[
        str | None, typer.Option(help="In the folder of `compare` or `sweep`: the run, by label, or by folder name.", metavar="LABEL")
    ] = None,
    slowest: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Explain the N slowest requests, reads and writes in one order (default: those that the run kept, `run --slowest`).",
            metavar="N",
        ),
    ] = None,
    kind: Annotated[
        str,
        typer.Option(
            help="Explain only requests of this kind.",
            metavar="read|write|all",
        ),
    ] = "all",
    at: Annotated[
        str | None,
        typer.Option(
            help="Explain the five requests (of --kind) nearest to this percentile of response times.",
            metavar="p50|p99.9|...",
        ),
    ] = None,
    request: Annotated[
        list[int] | None, typer.Option(min=0, help="Explain this request, by number from 0; may be repeated.", metavar="N")
    ] = None,
    remarks: Annotated[bool, typer.Option("--remarks", help="Explain the remarks below the tables ([a], [b], ...), not requests.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else.")] = False,
) -> None:
    """The command `ssdlab why`."""
    if remarks:
        _explain_remarks(folder, of, named=bool(slowest is not None or request or kind != "all" or at), as_json=as_json)
        return
    question = Question(folder, of, slowest, request or (), kind, at)
    found = question.kept
    if found is None:
        if not as_json:
            warn(f"{question.folder}: {question.lacking}; the run is repeated")
        with RunProgress([question.folder.name or "run"], quiet=False) as progress:
            found = question.repeated(progress.callback)
    if as_json:
        print_json(found.to_dict())
    else:
        asked = [(one, "") for one in found] if request else found.groups()
        typer.echo("\n\n".join(_told(one, others) for one, others in asked))


def _told(one: SlowRequest, others: str) -> str:
    """A request as a paragraph and a timeline, and those that were late for the same reasons."""
    return "\n\n".join([textwrap.fill(one.paragraph, WIDTH), one.timeline, *([textwrap.fill(others, WIDTH)] if others else [])])


def _explain_remarks(folder: Path, of: str | None, *, named: bool, as_json: bool) -> None:
    """Prints the remarks of a run, a comparison or a sweep, each with its reason.

    Raises:
        UsageError: `named`, since remarks are not of single requests; or the folder has no such run.
    """
    if named:
        raise UsageError("--remarks: these are of the whole run: leave --slowest, --at, --kind and --request out")
    place = folder if of is None else run_in(folder, of)
    found = shown(load(place).remarks)
    if as_json:
        print_json({"folder": str(place), "remarks": as_dicts((*found.remarks, *found.footnotes))})
        return
    for (line, _), remark in zip(found.lines(), (*found.remarks, *found.footnotes), strict=True):
        typer.echo(textwrap.fill(line, WIDTH, subsequent_indent=INDENT))
        if remark.why:
            typer.echo(textwrap.fill(remark.why, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT))
    if not found.lines():
        typer.echo(f"{place}: no remarks")
