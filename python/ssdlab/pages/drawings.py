"""Common functions of all figures drawn by matplotlib: style, saving, and the choice of a logarithmic axis."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab._core import write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

__all__ = ["STYLE", "as_files", "as_svg", "geometric", "save"]

STYLE: dict[Any, Any] = {
    "svg.hashsalt": "ssdlab",  # equal drawings give equal files
    "svg.fonttype": "none",  # text stays text, which can be searched and edited
    "pdf.fonttype": 42,  # TrueType: publishers refuse Type 3
    "ps.fonttype": 42,
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.alpha": 0.3,
    "axes.axisbelow": True,
    "legend.frameon": False,
}


def save(drawing: Drawing, folder: Path) -> None:
    """Writes a drawing as `figure.svg` and `figure.png` of a folder, each completely or not at all."""
    svg, png = as_files(drawing)
    write_file(folder / "figure.svg", svg)
    write_file(folder / "figure.png", png)


def as_files(drawing: Drawing) -> tuple[str, bytes]:
    """Renders a drawing as SVG and PNG; equal drawings give equal bytes."""
    png = io.BytesIO()
    drawing.savefig(png, format="png", dpi=150)
    return as_svg(drawing), png.getvalue()


def as_svg(drawing: Drawing) -> str:
    """Renders a drawing as SVG; equal drawings give equal texts."""
    svg = io.StringIO()
    drawing.savefig(svg, format="svg", dpi=150, metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in svg.getvalue().splitlines()) + "\n"


def geometric(numbers: Sequence[float]) -> bool:
    """Whether a logarithmic axis suits the spread of the numbers better than a linear one."""
    spread = min(numbers) > 0 and len(numbers) > 2 and max(numbers) / min(numbers) >= 8
    return spread and numbers[1] / numbers[0] >= 1.9 and numbers[-1] / numbers[-2] >= 1.2
