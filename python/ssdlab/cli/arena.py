"""`ssdlab arena`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ssdlab.asking import options as o
from ssdlab.cli.output import print_json, print_tables
from ssdlab.system.states import use_states

__all__ = ["list_", "run"]


class Kind(StrEnum):
    """Kinds of policies."""

    victim = "victim"
    eviction = "eviction"
    order = "order"
    placement = "placement"


class Figure(StrEnum):
    """What policies are ranked by."""

    tail = "p99.9"
    mean = "mean"
    wa = "wa"


def run(
    policy: Annotated[
        str | None, typer.Argument(help="Your policy. The name can be left out if the file defines one.", metavar="FILE.py[:NAME]")
    ] = None,
    kind: Annotated[
        Kind | None, typer.Option(help="What the policy decides. Default: seen from the attributes that it uses. Alone: built-in policies.")
    ] = None,
    by: Annotated[Figure, typer.Option(help="Figure to rank by: p99.9 or mean of response times, or write amplification.")] = Figure.tail,
    quick: Annotated[
        bool, typer.Option("--quick", help="Short runs, to see in seconds that a policy works. Ranks say nothing then.")
    ] = False,
    jobs: o.Jobs = None,
    state_cache: o.StateCache = True,
    json_: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """The command `ssdlab arena run`."""
    use_states(state_cache)
    from ssdlab.experiments.contest.api import entered, held  # noqa: PLC0415 (it takes longer to import than help takes)
    from ssdlab.pages.tables.arena import arena_tables  # noqa: PLC0415
    from ssdlab.system.progress import TotalProgress  # noqa: PLC0415

    contest = entered(policy, kind, quick=quick)
    with TotalProgress("arena", len(contest.runs), quiet=quiet) as progress:
        found = held(contest, by, jobs=jobs, progress=progress.callback)
    if json_:
        print_json(found.to_dict())
    elif not quiet:
        print_tables(arena_tables(found.to_dict()))


def list_() -> None:
    """The command `ssdlab arena list`."""
    from ssdlab.experiments.contest.field import contests  # noqa: PLC0415

    for contest in contests().values():
        typer.echo(f"{contest.kind} ({contest.key}): {', '.join(contest.entries)}")
        for case in contest.cases:
            options = " ".join(f"{name}={value}" for name, value in case.options.items() if name != "trace")
            typer.echo(f"  {case.name}: {options}")
