"""The predictions of a table of drives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdlab._core import write_file
from ssdlab.experiments.cliffs.predictions import Predictions
from ssdlab.system.folders import file_errors, make_folder, write_json

__all__ = ["FILES", "Cliffs"]

FILES = ("cliffs.json", "figure.svg", "figure.png")
"""Files that `Cliffs.save` writes."""


@dataclass(frozen=True)
class Cliffs:
    """The predictions of a table of drives.

    Attributes:
        drives: those of each drive, in the order of the table.
        scale: by how much the simulated drives are smaller.
        refused: why other rows of the table cannot be used.
    """

    drives: tuple[Predictions, ...]
    scale: int
    refused: tuple[str, ...] = ()

    def within(self, what: str) -> tuple[int, int]:
        """How many drives keep the bound of a row, and how many have that row and a published number."""
        kept = [row.is_within for of in self.drives for row in of.rows if row.what == what and row.is_within is not None]
        return sum(kept), len(kept)

    def to_dict(self) -> dict[str, Any]:
        """What `ssdlab cliffs --json` prints."""
        return {"scale": self.scale, "drives": [of.to_dict() for of in self.drives], "refused": list(self.refused)}

    def save(self, folder: Path) -> None:
        """Writes `cliffs.json` and the figure to a folder."""
        from ssdlab.experiments.cliffs.figure import drawn  # noqa: PLC0415 (matplotlib takes long to import)

        make_folder(folder)
        svg, png = drawn(self.drives)
        with file_errors("write", folder):
            write_json(folder / "cliffs.json", self.to_dict())
            write_file(folder / "figure.svg", svg)
            write_file(folder / "figure.png", png)
