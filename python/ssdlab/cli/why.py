"""`ssdlab why`."""

from __future__ import annotations

import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Unpack

import typer

from ssdlab import options as o
from ssdlab.api import executed_run, prepared_run
from ssdlab.cli.command import Command
from ssdlab.cli.options import as_command, parse_settings
from ssdlab.cli.output import print_json, warn
from ssdlab.cli.runs import RunWords
from ssdlab.errors import UsageError
from ssdlab.folders import SLOWEST_FILE
from ssdlab.loading import run_in
from ssdlab.option import picked
from ssdlab.plans import Slowest
from ssdlab.progress import RunProgress
from ssdlab.report.runs import saved_in, words_of
from ssdlab.why import Explained, Found, found_in, paragraph, read_slowest, timeline

__all__ = ["why"]

STAGES = 1 << 19
"""Number of stages of operations that a repeated run keeps at a time: about 80 MB."""
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
    if request and slowest is not None:
        raise UsageError("--slowest and --request: give one of them")
    folder = run_in(folder, of)
    _, data = saved_in(folder)
    numbers = list(dict.fromkeys(request or ()))
    _check_numbers(numbers, data)
    kept = found_in(folder, data["digest"])
    chosen = kept and _chosen(kept, slowest, numbers, sum(data["requests"].values()))
    repeated = chosen is None
    if chosen is None:
        if not as_json:
            what = "these requests are not among those that the run kept" if kept else "the run kept no requests"
            warn(f"{folder}: {what}; the run is repeated")
        found = _again(folder, words_of(data.get("command")), data["digest"], 0 if numbers else slowest or 10, numbers)
        chosen = found.asked if numbers else found.slowest
    if as_json:
        entries = [{**one, "paragraph": paragraph(one, data["config"])} for one in chosen]
        print_json({"folder": str(folder), "repeated": repeated, "requests": entries})
        return
    typer.echo("\n\n".join(f"{textwrap.fill(paragraph(one, data['config']), WIDTH)}\n\n{timeline(one)}" for one in chosen))


def _check_numbers(numbers: Sequence[int], data: object) -> None:
    """Refuses requests that the run did not have."""
    assert isinstance(data, dict)
    count = sum(data["requests"].values()) + data.get("warm_up", {}).get("requests", 0)
    for number in numbers:
        if number >= count:
            raise UsageError(f"--request {number}: the run had {count:,} requests, numbered from 0")


def _chosen(kept: Found, slowest: int | None, numbers: Sequence[int], count: int) -> Sequence[Explained] | None:
    """The requests to show, if the run kept all of them."""
    if numbers:
        found = [one for one in map(kept.request, numbers) if one is not None]
        return found if len(found) == len(numbers) else None
    wanted = len(kept.slowest) if slowest is None else min(slowest, count)
    return kept.slowest[:wanted] if 0 < wanted <= len(kept.slowest) else None


def _again(folder: Path, words: Sequence[str], digest: str, count: int, numbers: list[int]) -> Found:
    """Repeats a run, which gives the same response times, and explains its requests."""
    if not words:
        raise UsageError(
            f"{folder}: the run cannot be repeated, since its command is not known (it used a policy written in Python, or served "
            "a program): run it again with a larger slowest (--slowest)"
        )
    found: list[str] = []
    with tempfile.TemporaryDirectory(prefix="ssdlab-") as place:
        file = Path(place) / SLOWEST_FILE

        def run(**words: Unpack[RunWords]) -> None:
            """Repeats the run."""
            asked = picked(o.RunOptions, {**words, "timeline_window": None})
            prepared = prepared_run(asked, parse_settings(words["set"]), Slowest(file, count, numbers, STAGES))
            with RunProgress([job.label for job in prepared.jobs], quiet=False) as progress:
                batch = executed_run(prepared, progress=progress.callback)
            batch.raise_failure()
            found.append(batch.finished["run"].digest)

        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command("run", cls=Command)(as_command(run))
        typer.main.get_command(app)(args=list(words[2:]), standalone_mode=False)
        if found != [digest]:
            raise UsageError(f"{folder}: the run came out differently: its files or presets have changed since, or ssdlab has")
        return read_slowest(file, digest)
