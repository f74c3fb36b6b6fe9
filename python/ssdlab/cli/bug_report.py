"""`ssdlab bug-report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ssdlab import _core
from ssdlab.errors import UsageError

__all__ = ["bug_report"]


def bug_report(
    folder: Annotated[Path | None, typer.Argument(help="Output folder (--out) of `run` or `compare`.", metavar="DIR")] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file of configuration keys.", metavar="FILE.toml")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the report here (default: standard output).", metavar="FILE")] = None,
) -> None:
    """The command `ssdlab bug-report`."""
    from ssdlab.pages.bug_report import bug_report as written  # noqa: PLC0415 (it takes longer than many commands)

    if folder is not None and not folder.is_dir():
        raise UsageError(f"{folder}: expected a folder that `ssdlab run --out` or `compare --out` wrote")
    if config is not None and not config.is_file():
        raise UsageError(f"{config}: no such file: expected a TOML file of configuration keys")
    text = written(folder, config)
    if out is None:
        typer.echo(text, nl=False)
    else:
        _core.write_file(out, text)
        typer.echo(f"{out}: read it, and attach it to the issue")
