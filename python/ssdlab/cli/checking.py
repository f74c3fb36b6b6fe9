"""`ssdlab check`."""

from __future__ import annotations

from typing import Annotated

import typer

from ssdlab.asking import options as o
from ssdlab.asking.sheet.api import checked
from ssdlab.asking.sheet.claims import CLAIMS, parse_claims
from ssdlab.cli.options import parse_settings
from ssdlab.cli.output import print_json, print_tables, warn

__all__ = ["check"]


def check(
    device: Annotated[str, typer.Argument(help="Device preset, or a file with one.", metavar="NAME|FILE.toml")],
    scheme: Annotated[
        str | None, typer.Option(help="Scheme preset(s), which decide about GC and the cache.", metavar="NAME[+NAME...]")
    ] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="A configuration key; may be repeated.", metavar="KEY=VALUE")] = None,
    sheet: Annotated[
        str | None, typer.Option(help=f"Numbers of a data sheet to compare with: {', '.join(CLAIMS)}.", metavar="NAME=NUMBER,...")
    ] = None,
    json_: o.Json = False,
) -> None:
    """The command `ssdlab check`."""
    found = checked(device, scheme, parse_settings(set_ or []), {} if sheet is None else parse_claims(sheet))
    if json_:
        print_json(found.to_dict())
    else:
        from ssdlab.pages.tables.drive import drive_tables  # noqa: PLC0415 (rendering takes long to import)

        print_tables(drive_tables(found.summary.to_dict(), found.rows))
    for name, why in found.uncomputed.items():
        warn(f"--sheet {name}: nothing is computed to compare it with: {why}")
