"""`ssdlab artifact`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ssdlab.asking.options import Quiet
from ssdlab.cli.output import warn
from ssdlab.experiments.artifact import kit as kits
from ssdlab.experiments.artifact.inputs import sources_of
from ssdlab.experiments.artifact.readme import duration, release, unpublished
from ssdlab.system.folders import ARTIFACT_FILE

__all__ = ["artifact"]

RESULTS = Path("results/studies")


def artifact(
    names: Annotated[
        list[str],
        typer.Argument(
            help="Folders of results (--out of run, compare or sweep), and studies: a name, a paper for all of its studies, or a file.",
            metavar="DIR|PAPER/STUDY...",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the kit.", metavar="DIR")],
    results: Annotated[Path, typer.Option(help="Folder with the results of the studies.", metavar="DIR")] = RESULTS,
    traces: Annotated[Path | None, typer.Option(help="Folder to search for traces.", metavar="DIR")] = None,
    with_traces: Annotated[bool, typer.Option("--with-traces", help="Copy the traces into the kit.")] = False,
    source: Annotated[list[str] | None, typer.Option(help="Where a reviewer gets a trace; may be repeated.", metavar="TRACE=WHERE")] = None,
    wheel: Annotated[
        Path | None,
        typer.Option(
            help="Wheel of this version of ssdlab, to include in the kit (`make wheel` in the sources builds one, in dist/). "
            "A development version needs it, since no package index has one.",
            metavar="FILE",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """The command `ssdlab artifact`."""
    kit = kits.collect(names, results=results, traces=traces, sources=sources_of(source or []), wheel=wheel, with_traces=with_traces)
    manifest = kits.write(kit, out)
    made_by = manifest["made_by"]
    for trace in kit.without_source:
        warn(f"{trace}: the kit does not say where a reviewer gets this trace: add --source {trace}=WHERE or --with-traces")
    for trace in kit.changed_inputs:
        warn(f"{trace}: is newer than the results: if its content has changed, run again, or the kit cannot be reproduced")
    if made_by.get("uncommitted_changes"):
        warn("the sources of ssdlab have changes that no commit has: commit them, or a reviewer cannot get this version")
    if "sources_commit" in made_by:
        warn(f"ssdlab was built from {made_by['commit'][:10]}, its sources are at {made_by['sources_commit'][:10]}: build it and run again")
    if not quiet:
        parts = ", ".join(part.name for part in kit.parts)
        typer.echo(f"{out / ARTIFACT_FILE}: {parts}: {kit.runs} runs, which took {duration(kit.seconds)} of processor time")
    if unpublished(manifest):
        warn(f"no package index has ssdlab {release(manifest)}, so the kit cannot install it: add --wheel FILE (see --help)")
