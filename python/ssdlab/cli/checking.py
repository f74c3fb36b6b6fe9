"""`ssdlab check`."""

from __future__ import annotations

from typing import Annotated

import typer

from ssdlab import _core
from ssdlab import options as o
from ssdlab.cli.options import parse_settings
from ssdlab.cli.output import print_json, print_tables, warn
from ssdlab.sheet import parse_claims, summary_of
from ssdlab.sheet.claims import CLAIMS

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
    claims = {} if sheet is None else parse_claims(sheet)
    config = _core.build_config(device=device, schemes=[] if scheme is None else [scheme], set=list(parse_settings(set_ or [])))
    summary = summary_of(config)
    rows = [
        {**claim._asdict(), "about": CLAIMS[claim.name], "ratio": claim.ratio, "verdict": claim.verdict} for claim in summary.claims(claims)
    ]
    if json_:
        print_json({**summary.to_dict(), **({"sheet": rows} if sheet is not None else {})})
    else:
        from ssdlab.tables.drive import drive_tables  # noqa: PLC0415 (rendering takes long to import)

        print_tables(drive_tables(summary.to_dict(), rows))
    for name in summary.without(claims):
        warn(f"--sheet {name}: nothing is computed to compare it with: {summary.amplification.form}")
