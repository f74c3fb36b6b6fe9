"""Predicts the write cliffs of all drives of the table, and stores them: python tools/cliffs_page.py.

It writes `docs/cliffs/predictions.csv`, of which `make docs` makes the page with all rows, and the figure.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from ssdlab.experiments.cliffs.api import predict
from ssdlab.experiments.cliffs.predictions import Predictions
from ssdlab.pages.tables.cliffs import published, simulated, verdict

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "measurements" / "slc" / "drives.csv"
ROWS, FIGURE = ROOT / "docs" / "cliffs" / "predictions.csv", ROOT / "docs" / "cliffs" / "figure.svg"
HEADS = ("drive", "what", "published", "simulated", "unit", "error", "bound", "kept", "why")


def lines(of: Predictions) -> Iterator[dict[str, str]]:
    """The rows about a drive."""
    for row in of.to_dict()["rows"]:
        error = "-" if row["error"] is None else f"{row['error']:+.1%}"
        bound = "-" if row["bound"] is None else f"{row['bound']:.0%}"
        cells = (of.drive.label, row["what"], published(row), simulated(row), row["unit"], error, bound, verdict(row), row["why"] or "")
        yield dict(zip(HEADS, cells, strict=True))


def stored() -> list[dict[str, str]]:
    """The stored rows of all drives."""
    with ROWS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main() -> None:
    """Predicts all drives, and stores what came out."""
    from ssdlab.experiments.cliffs.figure import drawn  # noqa: PLC0415 (matplotlib takes long to import)

    found = predict(TABLE)
    with ROWS.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, HEADS, lineterminator="\n")
        table.writeheader()
        table.writerows(row for drive in found.drives for row in lines(drive))
    FIGURE.write_text(drawn(found.drives)[0], encoding="utf-8")


if __name__ == "__main__":
    main()
