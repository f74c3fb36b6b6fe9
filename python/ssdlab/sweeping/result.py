"""What came of a sweep: its points, one table of all, and a figure."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from ssdlab._core import version
from ssdlab.checksums import CHECKSUM
from ssdlab.errors import Error
from ssdlab.plans import value_text
from ssdlab.result import Result
from ssdlab.sweeping.definition import Point, Sweep

if TYPE_CHECKING:
    import pyarrow as pa

    from ssdlab.report.paper import Picture

__all__ = ["SweepPoint", "SweepResult", "figures_of"]

NO_FIGURES = ("config", "sweep", CHECKSUM)
"""What a result says of what was asked for, and of itself."""
LARGEST_SIGNED = 2**63 - 1


@dataclass(frozen=True)
class SweepPoint:
    """A point of a sweep that was run."""

    values: Mapping[str, Any]
    """By axis: its value there."""
    result: Result
    folder: Path | None = None
    """What holds its `result.json`."""


@dataclass(frozen=True, eq=False)
class SweepResult(Sequence[SweepPoint]):
    """What came of a sweep: the points that finished, in the order of the grid, the last axis fastest.

    Attributes:
        sweep: what was asked for.
        failed: the points that failed, and why.
        left: the points that were not run, after Ctrl-C.
        folder: where the results are, if anywhere.
    """

    sweep: Sweep
    points: Sequence[SweepPoint]
    failed: Sequence[tuple[Point, Error]] = ()
    left: Sequence[Point] = ()
    folder: Path | None = None
    interrupt: BaseException | None = field(default=None, repr=False)

    @overload
    def __getitem__(self, index: int) -> SweepPoint: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SweepPoint]: ...
    def __getitem__(self, index: int | slice) -> SweepPoint | Sequence[SweepPoint]:
        return self.points[index]

    def __iter__(self) -> Iterator[SweepPoint]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def axes(self) -> dict[str, list[Any]]:
        """The values of each axis."""
        return {axis.name: [value.value for value in axis.values] for axis in self.sweep.axes}

    def table(self) -> pa.Table:
        """A row for each point, as `results.parquet` has it: first the axes, then each figure under its name (`latency_ns.read.p99`).

        What a run does not have is null.
        """
        # Imported here because it takes longer than many a run.
        import pyarrow as pa  # noqa: PLC0415

        rows = [{**figures_of(point.result), **point.values} for point in self.points]
        names = dict.fromkeys([*self.axes, *(name for row in rows for name in row)])
        return pa.table({name: _column([row.get(name) for row in rows]) for name in names})

    def to_parquet(self) -> bytes:
        """The table as a Parquet file."""
        import pyarrow.parquet as pq  # noqa: PLC0415

        content = io.BytesIO()
        pq.write_table(self.table(), content, compression="zstd")
        return content.getvalue()

    def to_csv(self) -> bytes:
        """The table as a CSV file: a line with the names, texts in quotes, nothing between the commas for null."""
        import pyarrow.csv as pcsv  # noqa: PLC0415

        content = io.BytesIO()
        pcsv.write_csv(self.table(), content)
        return content.getvalue()

    def plot(self, y: str, x: str | None = None, *, by: str | None = None, where: Mapping[str, Any] | None = None) -> Picture:
        """A figure over an axis, such as `sweep.plot("latency_ns.read.p99", "gc.soft").save("p99.png")`; notebooks show it.

        With an axis `seed` it is the mean over seeds, with its 95 % confidence interval.

        Args:
            y: a column of the table that holds numbers.
            x: an axis; by default the last one but `seed`.
            by: the axis whose values are a line each; by default all combinations of the other axes are. Axes that are neither must have
                one value.
            where: values of axes: only the points that have them are drawn.

        Raises:
            UsageError: if there is no such figure or axis, or nothing to draw.
        """
        # Matplotlib takes longer to import than many a run takes.
        from ssdlab.sweeping.figure import figure  # noqa: PLC0415

        return figure(self, y, x, by, where or {})

    def to_dict(self) -> dict[str, Any]:
        """A plain copy, as `ssdlab sweep --json` prints it."""
        failed = [{"values": dict(point.values), "error": str(error)} for point, error in self.failed]
        left = [dict(point.values) for point in self.left]
        return {
            "version": version(),
            "axes": self.axes,
            "points": [{"values": dict(point.values), "result": point.result.to_dict()} for point in self.points],
            **({"failed": failed} if failed else {}),
            **({"left": left} if left else {}),
        }

    def __repr__(self) -> str:
        return f"<SweepResult: {len(self)} of {len(self.sweep)} points over {', '.join(self.axes)}>"

    def __str__(self) -> str:
        """The table that the command line prints; `table()` has all points and figures."""
        from ssdlab import tables  # noqa: PLC0415

        return tables.as_text(tables.sweep_tables(self))


def figures_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """Every number, text and truth value of a result by its place, such as `latency_ns.read.p99`; no lists."""
    return {name: value for key in result if key not in NO_FIGURES for name, value in _leaves(key, result[key])}


def _leaves(name: str, value: object) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _leaves(f"{name}.{key}", entry)
    elif not isinstance(value, list):
        yield name, value


def _column(values: Sequence[Any]) -> pa.Array:
    """Numbers as numbers; where they are mixed with texts, or lists, all as text."""
    import pyarrow as pa  # noqa: PLC0415

    kinds = {type(value) for value in values if value is not None}
    if kinds == {int}:
        return pa.array(values, pa.uint64() if max(value for value in values if value is not None) > LARGEST_SIGNED else pa.int64())
    if kinds <= {int, float}:
        return pa.array(values, pa.float64())
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    return pa.array([value if isinstance(value, str | None) else value_text(value) for value in values], pa.string())
