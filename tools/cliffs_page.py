"""Writes the table of docs/cliffs.md and its figure: python tools/cliffs_page.py."""

from __future__ import annotations

from pathlib import Path

from ssdlab.experiments.cliffs.api import predict
from ssdlab.experiments.cliffs.predictions import Predictions
from ssdlab.pages.tables.cliffs import VERDICTS, published
from ssdlab.pages.tables.numbers import three

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "measurements" / "slc" / "drives.csv"
PAGE, FIGURE = ROOT / "docs" / "cliffs.md", ROOT / "docs" / "cliffs" / "figure.svg"
BEGIN, STOP = "<!-- table -->\n", "<!-- end of the table -->\n"
HEAD = "| drive | | published | simulated | | error | bound | kept |\n|---|---|--:|--:|---|--:|--:|---|\n"


def lines(of: Predictions) -> str:
    """The rows of the page's table about a drive."""
    text, name = "", of.drive.label
    for row in of.to_dict()["rows"]:
        error = "-" if row["error"] is None else f"{row['error']:+.1%}"
        bound = "-" if row["bound"] is None else f"{row['bound']:.0%}"
        simulated = "never" if row["simulated"] is None else three(row["simulated"])
        cells = (name, row["what"], published(row), simulated, row["unit"], error, bound, VERDICTS[row["within"]])
        text += "| " + " | ".join(cells) + " |\n"
        name = ""
    return text


def main() -> None:
    """Predicts all drives, and writes what came out."""
    from ssdlab.experiments.cliffs.figure import drawn  # noqa: PLC0415 (matplotlib takes long to import)

    found = predict(TABLE)
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    table = HEAD + "".join(map(lines, found.drives))
    PAGE.write_text(f"{before}{BEGIN}{table}{STOP}{rest.split(STOP)[1]}", encoding="utf-8")
    FIGURE.write_text(drawn(found.drives)[0], encoding="utf-8")


if __name__ == "__main__":
    main()
