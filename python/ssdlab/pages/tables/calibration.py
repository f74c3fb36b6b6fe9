"""The tables of a calibration: fitted values with their uncertainty, the error of each row, and a summary of the errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from ssdlab.pages.tables.layout import new_table, titled
from ssdlab.pages.tables.numbers import significant

__all__ = ["calibration_tables"]

STYLES = {"missed": "red", "not fitted": "red", "within": "green", "fitted": "green", "reported": "dim"}
Data = Mapping[str, Any]


def calibration_tables(data: Data) -> list[RenderableType]:
    """The tables of a calibration, from `Calibration.to_dict`: the verdict and how far it is off first."""
    return [*_summary(data), _errors(data["rows"]), _values(data["values"]), *_rows(data["rows"])]


def _values(values: Sequence[Data]) -> RenderableType:
    table = new_table(["value", "found", "standard error", "how"])
    table.columns[3].justify = "left"
    for value in values:
        number, error = value["value"], value["uncertainty"]
        found = number if isinstance(number, str) else f"{significant(number)} {value['unit']}".strip()
        known = value["determined"]
        how = value["why"] if known else f"not determined: {value['why']}"
        sure = "" if error is None else f"{error:.1%}"
        table.add_row(value["name"], found, sure, Text(how, style="" if known else "yellow"))
    return titled("Found", table)


def _rows(rows: Sequence[Data]) -> list[RenderableType]:
    """A table for each quantity."""
    tables: list[RenderableType] = []
    for name in dict.fromkeys(row["quantity"] for row in rows):
        table = new_table(["at", "measured", "simulated", "error", "bound", "verdict"])
        table.columns[5].justify = "left"
        for row in rows:
            if row["quantity"] == name:
                table.add_row(row["point"]["label"], *_cells(row), Text(row["verdict"], style=STYLES[row["verdict"]]))
        tables.append(titled(_title(rows, name), table))
    return tables


def _title(rows: Sequence[Data], name: str) -> str:
    """The title of a quantity's table, with its unit."""
    row = next(row for row in rows if row["quantity"] == name)
    return f"{row['about']}, {row['unit']}" if row["unit"] else str(row["about"])


def _cells(row: Data) -> tuple[str, str, str, str]:
    simulated, bound = row["simulated"], row["bound"]
    return (
        significant(row["measured"]),
        "none" if simulated is None else significant(simulated),
        "" if row["error"] is None else f"{row['error']:+.1%}",
        "" if bound is None else f"{bound / row['measured']:.1%}",
    )


def _errors(rows: Sequence[Data]) -> RenderableType:
    table = new_table(["quantity", "fitted", "of", "predicted", "of", "reported"])
    for name in dict.fromkeys(row["quantity"] for row in rows):
        verdicts = [row["verdict"] for row in rows if row["quantity"] == name]
        near, far = verdicts.count("fitted"), verdicts.count("not fitted")
        within, missed = verdicts.count("within"), verdicts.count("missed")
        table.add_row(name, str(near), str(near + far), str(within), str(within + missed), str(verdicts.count("reported")))
    return titled("Rows that are near enough", table)


def _summary(data: Data) -> list[RenderableType]:
    fitted, predicted = data["fitted_rows"], data["predicted_rows"]
    lines = [
        f"{data['drive']}: {fitted['within_tolerance']} of {fitted['all']} fitted rows are within their tolerance, "
        f"{predicted['within_bound']} of {predicted['with_bound']} predictions within their bound."
    ]
    if not data["well_fitted"]:
        lines.append(
            "BADLY FITTED: the drive has something that the model lacks, or the measurements contradict each other. "
            "Do not trust what it predicts where rows were missed."
        )
    lines += [f"left out: {count} rows: {reason}" for reason, count in data["left_out"].items()]
    return list(lines)
