"""The tables of an arena: ranks, and the figures behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from ssdlab.pages.tables.layout import new_table, titled
from ssdlab.pages.tables.numbers import duration, significant

__all__ = ["arena_tables"]

OWN = "*"
"""Behind the name of the user's policy."""
TITLES = {"p99.9": "p99.9 of response times", "mean": "mean response time", "wa": "write amplification"}


def arena_tables(arena: Mapping[str, Any]) -> Iterator[RenderableType]:
    """The ranks, and the figures of each drive and load, of an arena as JSON has it."""
    standings = arena["standings"]
    ranks = new_table(["rank", "policy", *TITLES, "digest"])
    for one in standings:
        ratios = (f"{one['ratios'][figure]:.3f}" for figure in TITLES)
        ranks.add_row(str(one["rank"]), one["name"] + (OWN if one["is_own"] else ""), *ratios, one["digest"])
    yield titled(f"By {TITLES[arena['by']]}; geometric means, relative to {arena['baseline']}", ranks)
    for case in standings[0]["cases"]:
        cells = new_table([case, *TITLES])
        for one in standings:
            cells.add_row(one["name"], *(_shown(figure, one["cases"][case][figure]) for figure in TITLES))
        yield cells
    for case, codes in arena["remarks"].items():
        yield Text(f"warning: {case}: {', '.join(codes)}")
    if arena["quick"]:
        yield Text("Quick runs, whose ranks say nothing: leave --quick out to rank.")
    yield Text(f"Field {arena['version']} of {arena['kind']} policies. Equal digests are equal runs.")


def _shown(figure: str, value: float) -> str:
    return significant(value) if figure == "wa" else duration(value)
