"""`ssdlab timeline`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ssdlab.errors import UsageError

__all__ = ["timeline"]


def timeline(
    source: Annotated[Path, typer.Argument(help="A timeline (.json, .json.gz), or the folder (--out) of a run.", metavar="FILE|DIR")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The page (default: beside FILE, or timeline.html in DIR).", metavar="FILE")
    ] = None,
) -> None:
    """The command `ssdlab timeline`."""
    from ssdlab.pages.timelines import found_in, write  # noqa: PLC0415 (it takes longer than many commands)

    page = out or (source / "timeline.html" if source.is_dir() else source.with_name(f"{_stem(source)}.html"))
    if page.suffix != ".html":
        raise UsageError(f'--out "{page}": expected a file name that ends with .html')
    written = write(found_in(source), page)
    parts = [f"{written.slices:,} slices"] if written.slices else []
    parts += [f"blocks at {written.instants:,} instants"] if written.instants else []
    typer.echo(f"{page}: {', '.join(parts) or 'no slice'} (opens in a browser)")


def _stem(file: Path) -> str:
    """The name of a timeline without its endings."""
    return file.name.removesuffix(".gz").removesuffix(".json")
