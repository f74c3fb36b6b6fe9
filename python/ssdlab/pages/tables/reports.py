"""The tables of reports (on preparation and recordings) and of studies."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ssdlab.analysis.remarks import from_dict, shown
from ssdlab.pages.tables.layout import Captioned, new_table, titled
from ssdlab.pages.tables.numbers import UNITS, quantity, significant
from ssdlab.pages.tables.runs import remark_lines

__all__ = [
    "STUDY_HEADS",
    "report_table",
    "study_cells",
    "study_table",
]

STUDY_HEADS = ("published", "simulated", "difference", "expected", "reproduced", "grade")
"""Headings of a study's table, besides the row's description."""
STRIKING = ("NO", "contradicted")
"""Cells of a study's table that are set in red."""


def report_table(report: Mapping[str, Any], title: str) -> RenderableType:
    """A report with a row for each figure. Nested names are joined by blanks, values have units, and lists are shown by their length."""
    table = new_table(["", "value"])
    for name, key, value in _figures(report):
        table.add_row(name, quantity(key, value))
    return titled(title, table)


def study_table(study: Mapping[str, Any]) -> RenderableType:
    """The rows of a study, from its `study.json`."""
    table, apart = new_table(["", *STUDY_HEADS]), new_table(STUDY_HEADS)
    told = shown(map(from_dict, study.get("remarks", ())))
    for row in study["rows"]:
        published, simulated, *rest = study_cells(row)
        cells = (published, simulated + told.marks_of(row.get("remarks", ())), *rest)
        last = [Text(cell, style="bold red" if cell in STRIKING else "") for cell in cells[-2:]]
        table.add_row(textwrap.fill(row["what"], 68), *cells[:-2], *last)
        apart.add_row(*cells[:-2], *last)
    length = " (quick: fewer requests and seeds)" if study["quick"] else ""
    reasons = [f"  not measured: {row['what']}: {row['reason']}" for row in study["rows"] if "reason" in row]
    captioned = Captioned([row["what"] for row in study["rows"]], apart)
    title = f"{study['study']}: {study['title']}{length}"
    return Group(titled(title, table, captioned), *remark_lines(told), *(Text(reason) for reason in reasons))


def study_cells(row: Mapping[str, Any]) -> tuple[str, str, str, str, str, str]:
    """A row of a study as texts for `STUDY_HEADS`, with the confidence interval of the simulated value."""
    unit = row.get("unit", "")
    unit = f" {unit}" if unit not in ("", "x") else unit
    measured = row.get("measured")
    value = "-"
    if measured is not None:
        interval = f" ± {significant(measured['interval'])}" if "interval" in measured else ""
        value = f"{significant(measured['mean'])}{interval}{unit}"
    bounds = [f"{sign} {row[key]:g}" for key, sign in (("at_least", "≥"), ("at_most", "≤")) if key in row]
    return (
        f"{row['paper']:g}{unit}" if "paper" in row else "-",
        value,
        f"{significant(row['difference'], sign=True)}{' points' if unit == ' %' else unit}" if "difference" in row else "-",
        f"{' and '.join(bounds)}{unit}" if bounds else "-",
        row.get("reproduced", "-"),
        row["grade"],
    )


def _figures(report: Mapping[str, Any], prefix: str = "", unit: str = "") -> Iterable[tuple[str, str, object]]:
    """Label, name (whose ending is the unit) and value of each figure. `unit`: ending of the group's name."""
    for key, value in report.items():
        end = next((end for end in UNITS if key.endswith(end)), "")
        # the label says that it is a share; other units are printed with the value
        label = f"{prefix} {(key if end == '_share' else key.removesuffix(end)).replace('_', ' ')}".strip()
        if isinstance(value, Mapping):
            yield from _figures(value, label, end)
        else:
            yield label, key + unit, len(value) if isinstance(value, list) else value
