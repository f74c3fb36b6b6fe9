"""The table of `ssdlab cliffs`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from ssdlab.pages.tables.layout import new_table, titled
from ssdlab.pages.tables.numbers import three

__all__ = ["cliff_tables", "published", "simulated", "verdict"]

VERDICTS: Mapping[bool | None, str] = {True: "yes", False: "NO", None: "-"}
STYLES = {"yes": "green", "NO": "red", "-": "dim", "not predicted": "yellow"}


def cliff_tables(data: Mapping[str, Any]) -> list[RenderableType]:
    """A table of predictions, from `Cliffs.to_dict`."""
    table = new_table(["drive", "", "published", "simulated", "unit", "error", "bound", "kept"])
    for column in (1, 4, 7):
        table.columns[column].justify = "left"
    for drive in data["drives"]:
        name = f"{drive['drive']} {drive['capacity_gb']:,g} GB"
        for row in drive["rows"]:
            error = "-" if row["error"] is None else f"{row['error']:+.1%}"
            bound = "-" if row["bound"] is None else f"{row['bound']:.0%}"
            kept = verdict(row)
            cells = (row["what"], published(row), simulated(row), row["unit"], error, bound, Text(kept, style=STYLES[kept]))
            table.add_row(name, *cells)
            name = ""
        folding, units = drive["folding_units"], drive["units"]
        if folding < units:
            table.add_row("", f"of {units} planes fold at once", "-", str(folding), "", "-", "-", Text("-", style="dim"))
    named = [(f"{drive['drive']} {drive['capacity_gb']:,g} GB", row) for drive in data["drives"] for row in drive["rows"]]
    reasons = [f"{name}, {row['what']}: {row['why']}" for name, row in named if row["why"] is not None]
    refused = [Text(f"Not predicted: {reason}", style="yellow") for reason in (*reasons, *data["refused"])]
    return [titled(f"Whole fills, drives scaled down by {data['scale']}", table), *refused]


def published(row: Mapping[str, Any]) -> str:
    """The published number of a row, or its range."""
    low, high = row["published"]
    if low is None:
        return "-"
    return three(low) if low == high else f"{three(low)} to {three(high)}"


def simulated(row: Mapping[str, Any]) -> str:
    """The simulated number of a row."""
    if row["simulated"] is not None:
        return three(row["simulated"])
    return "never" if row["why"] is None else "-"


def verdict(row: Mapping[str, Any]) -> str:
    """Whether a row keeps its bound."""
    return VERDICTS[row["within"]] if row["why"] is None else "not predicted"
