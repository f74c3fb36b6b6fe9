"""The tables of an arena: ranks, and the figures behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    standings, by = arena["standings"], arena["by"]
    several = arena["seeds"] > 1
    ranks = new_table(["rank", "policy", by, *(["95 %"] if several else []), "by case", *(name for name in TITLES if name != by), "digest"])
    for one in standings:
        ratio = one["ratios"][by]
        interval = [f"{ratio['low']:.3f} to {ratio['high']:.3f}"] if several else []
        others = (f"{one['ratios'][name]['mean']:.3f}" for name in TITLES if name != by)
        spread = f"{ratio['best']:.2f} to {ratio['worst']:.2f}"
        rank = "bound" if one["rank"] is None else str(one["rank"])
        ranks.add_row(rank, one["name"] + (OWN if one["is_own"] else ""), f"{ratio['mean']:.3f}", *interval, spread, *others, one["digest"])
    yield titled(f"By {TITLES[by]}; geometric means, relative to {arena['baseline']}", ranks)
    for case in standings[0]["cases"]:
        cells = new_table([case, *TITLES])
        for one in standings:
            cells.add_row(one["name"], *(_shown(figure, one["cases"][case][figure]) for figure in TITLES))
        yield cells
    for case, codes in arena["remarks"].items():
        yield Text(f"warning: {case}: {', '.join(codes)}")
    if arena["repeats"] is False:
        own = next(one["name"] for one in standings if one["is_own"])
        yield Text(f"warning: {own} decided otherwise when a run was done again: seed its random numbers, and ask no clock.")
    if arena["quick"]:
        yield Text("Quick runs, whose ranks say nothing: leave --quick out to rank.")
    elif several:
        yield Text(f"Intervals are over {arena['seeds']} seeds, on this field. Policies share a rank if the difference may be chance.")
        if noisy := _before_better(standings):
            yield Text(f"Seeds of {', '.join(noisy)} differ so much that policies with a better mean are not better beyond chance.")
    yield Text(f"Field {arena['version']} of {arena['kind']} policies. Equal digests are equal runs.")


def _before_better(standings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names of policies with a rank before that of one with a better mean. `standings`: best mean first."""
    ranks = [(one["name"], one["rank"]) for one in standings if one["rank"] is not None]
    return [name for index, (name, rank) in enumerate(ranks) if any(rank < better for _, better in ranks[:index])]


def _shown(figure: str, value: float) -> str:
    return significant(value) if figure == "wa" else duration(value)
