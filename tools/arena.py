"""Writes the ranks of all built-in policies into docs/arena.md: python tools/arena.py."""

from __future__ import annotations

from pathlib import Path

import ssdlab
from ssdlab.experiments.contest.field import contests
from ssdlab.experiments.contest.ranking import FIGURES, Arena, Standing

PAGE = Path(__file__).resolve().parent.parent / "docs" / "arena.md"
BEGIN, END = "<!-- written by tools/arena.py -->", "<!-- end -->"


def table(arena: Arena) -> str:
    """The ranks of the policies of a kind as Markdown."""
    others = [name for name in FIGURES if name != arena.by]
    heads = ["rank", "policy", arena.by, "95 %", "by case", *others, "digest"]
    rows = [_cells(one, arena.by, others) for one in arena.standings]
    rule = ["--:", "---", "--:", "---", "---", *("--:" for _ in others), "---"]
    lines = "\n".join(f"| {' | '.join(cells)} |" for cells in [heads, rule, *rows])
    return f"### {arena.kind.capitalize()}, relative to `{arena.baseline}`\n\n{lines}\n"


def _cells(one: Standing, by: str, others: list[str]) -> list[str]:
    ratio = one.ratios[by]
    ends = [f"{ratio.low:.3f} to {ratio.high:.3f}", f"{ratio.best:.2f} to {ratio.worst:.2f}"]
    rank = "bound" if one.rank is None else str(one.rank)
    return [rank, f"`{one.name}`", f"{ratio.mean:.3f}", *ends, *(f"{one.ratios[name].mean:.3f}" for name in others), f"`{one.digest}`"]


def main() -> None:
    """Runs all contests, and writes their tables."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    tables = "\n".join(table(ssdlab.arena(kind=kind)) for kind in contests())
    PAGE.write_text(f"{before}{BEGIN}\n\n{tables}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
