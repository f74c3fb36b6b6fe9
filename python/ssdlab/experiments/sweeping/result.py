"""The results of a sweep: its points, a table of all points, and a figure."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

from ssdlab._core import version
from ssdlab.analysis.remarks import Remark, as_dicts, named, of_sweep, shown
from ssdlab.analysis.uncertainty import LEVEL, estimates
from ssdlab.asking.plans import value_text
from ssdlab.checks import nearest, text, texts
from ssdlab.errors import Error, UsageError
from ssdlab.experiments.sweeping.axes import loads, parts
from ssdlab.experiments.sweeping.comparisons import ABOUT, Answers, Comparison, comparisons, in_words, row
from ssdlab.experiments.sweeping.comparisons import COLUMNS as COMPARED
from ssdlab.experiments.sweeping.definition import Point, Sweep
from ssdlab.experiments.sweeping.outcome import SHORT, Best, Change, Pairs, best, by_load, by_workload, known_figure, outcome
from ssdlab.experiments.sweeping.points import SEED, PartMean, SweepMean, SweepPoint
from ssdlab.pages.report.look import Length, Look

if TYPE_CHECKING:
    import pyarrow as pa

    from ssdlab.pages.report.paper import Picture

__all__ = ["SweepResult"]

LARGEST_SIGNED = 2**63 - 1
REMARKS = "remarks"
BY_DEFAULT = "p99"
"""The figure by which the best point is chosen by default."""


@dataclass(frozen=True, eq=False)
class SweepResult(Sequence[SweepPoint]):
    """The results of a sweep: the finished points in the order of the grid, the last axis fastest.

    Attributes:
        sweep: definition of the sweep.
        failed: failed points with the reasons.
        left: points that were not run because of Ctrl-C.
        refused: points that cannot be simulated, with the reasons, if the sweep leaves them out.
        dropped: points that screening dropped before all their seeds were run, by name, with the number of seeds that they have.
        absent: derived columns that no run has, with a reason each.
        folder: folder of the results, if they were saved.
    """

    sweep: Sweep
    points: Sequence[SweepPoint]
    failed: Sequence[tuple[Point, Error]] = ()
    left: Sequence[Point] = ()
    refused: Sequence[tuple[Point, Error]] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
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
        """A table with a row for each point, as in `results.parquet`: the axes, then each figure by its path (`latency_ns.read.p99`).

        Values that a run does not have are null. The column `remarks` has the codes of its remarks.
        """
        return _table(self.axes, [{**point.figures, **point.values, REMARKS: _codes(point)} for point in self.points])

    @cached_property
    def remarks(self) -> list[Remark]:
        """Remarks that qualify the numbers: those of the runs, and those that result from the sweep as a whole."""
        return of_sweep(self.axes, [(point.values, point.result) for point in self.points])

    @cached_property
    def means(self) -> list[SweepMean]:
        """The points over their seeds, in the order of the grid. Empty without an axis `seed` of several values."""
        return self.groups if len(self.axes.get(SEED, ())) > 1 else []

    @cached_property
    def parts(self) -> list[str]:
        """The axes of several traces, or of several parts of one."""
        return [axis for axis in parts(self.sweep.axes) if axis in self.compared]

    @cached_property
    def part_means(self) -> list[PartMean]:
        """The points over traces or parts of one, in the order of the grid, each part by its mean over seeds. Empty without `parts`."""
        found: dict[str, list[SweepMean]] = {}
        for point in self.groups if self.parts else ():
            rest = {axis: value for axis, value in point.values.items() if axis not in self.parts}
            found.setdefault(value_text(rest), []).append(point)
        return [PartMean.of(points, self.parts) for points in found.values()]

    @cached_property
    def groups(self) -> list[SweepMean]:
        """The points over their seeds, in the order of the grid, also of one seed."""
        runs: dict[str, list[SweepPoint]] = {}
        for point in self.points:
            runs.setdefault(value_text(_but_seed(point)), []).append(point)
        return [
            SweepMean(
                _but_seed(points[0]),
                tuple(point.values.get(SEED, point.result["seed"]) for point in points),
                estimates([point.measures for point in points]),
                points,
            )
            for points in runs.values()
        ]

    def best(self, figure: str = BY_DEFAULT) -> Best | None:
        """The best point by a figure, the next one, and whether they differ beyond their intervals; `None` if no point has the figure.

        It is chosen among all points. With axes of `workloads`, `best_by_workload` chooses for each.

        Args:
            figure: `"mean"`, `"p99"`, `"p99.9"`, `"max"`, `"write-amplification"`, `"iops"`, or a column of the table by which runs can be
                better or worse, such as `"latency_ns.read.p99"`.

        Raises:
            UsageError: there is no such figure, or neither high nor low values of it are better.
        """
        return best(self.groups, known_figure(figure))

    def best_by_workload(self, figure: str = BY_DEFAULT) -> list[Best]:
        """The best point of each workload, as for `best`; the axes of `workloads` tell which workload."""
        found = (best(points, known_figure(figure)) for points in by_load(self.groups, self.workloads).values())
        return [one for one in found if one is not None]

    def changes(self, figure: str = BY_DEFAULT) -> list[Change]:
        """The relative differences of a figure along each axis: each value against the first, over all other axes and seeds.

        Args:
            figure: as for `best`, or any other column of the table with numbers.
        """
        path = SHORT.get(text("figure", figure), figure)
        if path not in self._numbers:
            raise UsageError(f"{figure}: no such figure{nearest(figure, [*SHORT, *self._numbers])}")
        return list(Pairs(self.groups, self.compared, self.workloads).changes(path))

    def outcome(self, figure: str | None = None) -> str:
        """The best point by a figure, as for `best`, in words, or that of each workload; empty if no point has the figure."""
        place = known_figure(BY_DEFAULT if figure is None else figure)
        if self.workloads:
            return by_workload(self.groups, place, self.workloads)
        found = best(self.groups, place)
        names = () if found is None else [named(run.values) for run in found.point.runs]
        return outcome(found, place, shown(self.remarks).mark(place.place, *names))

    @property
    def workloads(self) -> list[str]:
        """The axes of workloads, traces and parts of a trace of several values, which are no options to choose among."""
        return [axis for axis in loads(self.sweep.axes) if axis in self.compared]

    @property
    def compared(self) -> dict[str, list[Any]]:
        """The axes of several values, except `seed`."""
        return {axis: values for axis, values in self.axes.items() if axis != SEED and len(values) > 1}

    def mean_table(self) -> pa.Table:
        """A table with a row for each point over its seeds, as in `means.parquet`.

        It has the axes except `seed`, the number of `seeds`, and two columns for each figure, such as `latency_ns.read.p99` with the mean
        and `latency_ns.read.p99.half_width` with the half width of its 95 % confidence interval (null for one seed). A figure about which
        seeds disagree at some point has a third, such as `latency_ns.read.p99.median`: the median there, and null where seeds agree.
        If the sweep screens points, `dropped` is true for those that were dropped early.
        """
        rows: list[dict[str, Any]] = []
        apart = {place for point in self.means for place, of in point.estimates.items() if of.disagree}
        for point in self.means:
            columns: dict[str, Any] = {}
            for place, of in point.estimates.items():
                columns |= {place: of.mean, f"{place}.half_width": of.half}
                columns |= {f"{place}.median": of.median if of.disagree else None} if place in apart else {}
            dropped = {"dropped": named(point.values) in self.dropped} if self.sweep.screen else {}
            rows.append({**columns, **point.values, "seeds": len(point.seeds), **dropped})
        return _table([*(axis for axis in self.axes if axis != SEED), "seeds"], rows)

    def part_table(self) -> pa.Table:
        """A table with a row for each of `part_means`, as in `part_means.csv`: columns as in `mean_table`, and the number of `parts`."""
        rows = [
            {name: of for place, one in point.estimates.items() for name, of in ((place, one.mean), (f"{place}.half_width", one.half))}
            | {**point.values, "parts": point.parts}
            for point in self.part_means
        ]
        return _table([*(axis for axis in self.axes if axis not in (SEED, *self.parts)), "parts"], rows)

    @cached_property
    def comparisons(self) -> list[Comparison]:
        """The answers to the sweep's questions, with Holm's correction over all of them, as in `comparisons.csv`."""
        return comparisons(self.sweep.questions, self.points, list(self.sweep.points()))

    def answers(self) -> tuple[list[Answers], str]:
        """The answers to the sweep's questions in words: a table for each question, and what the rows mean."""
        return in_words(self.comparisons), ABOUT

    def to_parquet(self, *, means: bool = False) -> bytes:
        """The table of points as a Parquet file; with `means`, the table of means over seeds."""
        import pyarrow.parquet as pq  # noqa: PLC0415

        content = io.BytesIO()
        pq.write_table(self.mean_table() if means else self.table(), content, compression="zstd")
        return content.getvalue()

    def to_csv(self, *, means: bool = False, comparisons: bool = False, parts: bool = False) -> bytes:
        """The table of points, means, comparisons or means over parts as a CSV file.

        It has a line of names, texts in quotes, and an empty field for null.
        """
        import pyarrow.csv as pcsv  # noqa: PLC0415

        content = io.BytesIO()
        if parts:
            table = self.part_table()
        elif comparisons:
            table = _table(COMPARED, [row(one) for one in self.comparisons])
        else:
            table = self.mean_table() if means else self.table()
        pcsv.write_csv(table, content)
        return content.getvalue()

    def numbers(self) -> list[str]:
        """Names of the table's columns with numbers, which `plot` can draw."""
        return list(self._numbers)

    @cached_property
    def _numbers(self) -> dict[str, None]:
        found = {name: value for point in self.points for name, value in point.figures.items()}
        return {name: None for name, value in found.items() if isinstance(value, int | float) and not isinstance(value, bool)}

    def plot(
        self,
        y: str,
        x: str | None = None,
        *,
        by: str | None = None,
        panels_by: str | Sequence[str] = (),
        panels: Sequence[int] | None = None,
        where: Mapping[str, Any] | None = None,
        mean_over: str | Sequence[str] = (),
        labels: Mapping[str, str] = MappingProxyType({}),
        width: Length | None = None,
        height: Length | None = None,
        font: float | None = None,
        title: bool | None = None,
    ) -> Picture:
        """Draws a figure over an axis, such as `sweep.plot("latency_ns.read.p99", "gc.soft").save("p99.png")`; notebooks show it.

        With an axis `seed` it shows the mean over seeds, with its 95 % confidence interval; if the seeds disagree, their median, and a dot
        for each.

        Args:
            y: column of the table with numbers, or `mean`, `p99`, `p99.9`, `max` or `write-amplification`.
            x: axis across; by default that of most numbers. It is logarithmic if its values differ by a factor of 10 or more, as `y` is.
            by: axis with a line for each value; by default `scheme`, or else the first axis of words. All other axes make panels.
            panels_by: axis with a panel for each value, or several. Other axes that are left then make panels within these. Panels have one
                scale.
            panels: numbers of the panels to draw, from 1.
            where: values of axes, to select points.
            mean_over: axis over whose values the means and intervals are, such as parts of a trace, or several; by default seeds.
            labels: other names for lines, such as `{"fpgc": "preemptive"}`.
            width: inches, or a text such as `"3.4in"`, `"86mm"`, `"8.6cm"`, `"245pt"`.
            height: inches, or a text with a unit.
            font: font size in points, 8 by default.
            title: whether to write the figure's title above it.

        Raises:
            UsageError: the column, an axis or a panel does not exist, an axis has two uses, or no point has a value.
        """
        # Matplotlib takes longer to import than many runs take
        from ssdlab.experiments.sweeping.figure import Wanted, figure  # noqa: PLC0415

        facets = [panels_by] if isinstance(panels_by, str) else texts("panels_by", panels_by)
        over = [mean_over] if isinstance(mean_over, str) else texts("mean_over", mean_over)
        wanted = Wanted(x, by, facets, panels, {} if where is None else where, over)
        return figure(self.axes, self.points, y, wanted, Look.of(width, height, font, title), labels, loads(self.sweep.axes))

    def to_dict(self, figure: str | None = None) -> dict[str, Any]:
        """A copy as a dictionary, as printed by `ssdlab sweep --json`, with the best point by a figure, as for `best`."""
        figure = BY_DEFAULT if figure is None else figure
        found = [_best_dict(one, figure) for one in self.best_by_workload(figure)]
        failed = [{"values": dict(point.values), "error": str(error)} for point, error in self.failed]
        left = [dict(point.values) for point in self.left]
        return {
            "version": version(),
            "axes": self.axes,
            "points": [{"values": dict(point.values), "result": point.result.to_dict()} for point in self.points],
            **({"means": {"level": LEVEL, "points": [_mean_dict(point) for point in self.means]}} if self.means else {}),
            **({"best_by_workload": found} if self.workloads else {"best": found[0]} if found else {}),
            **({"comparisons": [row(one) for one in self.comparisons]} if self.sweep.questions else {}),
            "remarks": as_dicts(self.remarks),
            **({"failed": failed} if failed else {}),
            **({"left": left} if left else {}),
        }

    def __repr__(self) -> str:
        return f"<SweepResult: {len(self)} of {len(self.sweep)} points over {', '.join(self.axes)}>"

    def __str__(self) -> str:
        """The table that the command line prints; `table()` has all points and figures."""
        from ssdlab.pages import tables  # noqa: PLC0415

        return tables.as_text(tables.sweep_tables(self))

    def _repr_html_(self) -> str:
        """The table that the command line prints, as HTML for notebooks."""
        from ssdlab.pages import notebook, tables  # noqa: PLC0415

        return notebook.of_tables(tables.sweep_tables(self))


def _mean_dict(point: SweepMean) -> dict[str, Any]:
    halves = {place: {} if of.half is None else {"half_width": of.half} for place, of in point.estimates.items()}
    medians = {place: {"seeds_disagree": True, "median": of.median} if of.disagree else {} for place, of in point.estimates.items()}
    figures = {place: {"mean": of.mean, **halves[place], **medians[place]} for place, of in point.estimates.items()}
    return {"values": dict(point.values), "seeds": list(point.seeds), "figures": figures}


def _best_dict(found: Best, figure: str) -> dict[str, Any]:
    change = found.difference
    half = {} if change is None or change.half is None else {"half_width": change.half}
    difference = {} if change is None else {"difference": {"relative": change.mean, **half}}
    # without a judgement, `differs` is absent
    judged = {} if found.differs is None else {"differs": found.differs}
    later = {} if found.next is None else {"next": {"values": dict(found.next.values), **difference, **judged}}
    return {"figure": known_figure(figure).place, "values": dict(found.point.values), **later}


def _codes(point: SweepPoint) -> str:
    """The codes of the remarks of a run, each once."""
    return " ".join(dict.fromkeys(remark["code"] for remark in point.result.to_dict().get(REMARKS, ())))


def _but_seed(point: SweepPoint) -> dict[str, Any]:
    return {axis: value for axis, value in point.values.items() if axis != SEED}


def _table(first: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """A table from rows by name, with `first` as the first columns."""
    # imported here because it takes longer than many runs
    import pyarrow as pa  # noqa: PLC0415

    names = dict.fromkeys([*first, *(name for row in rows for name in row)])
    return pa.table({name: _column([row.get(name) for row in rows]) for name in names})


def _column(values: Sequence[Any]) -> pa.Array:
    """A column of numbers; if there are other values too, all as text."""
    import pyarrow as pa  # noqa: PLC0415

    kinds = {type(value) for value in values if value is not None}
    if kinds == {int}:
        return pa.array(values, pa.uint64() if max(value for value in values if value is not None) > LARGEST_SIGNED else pa.int64())
    if kinds <= {int, float}:
        return pa.array(values, pa.float64())
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    return pa.array([value if isinstance(value, str | None) else value_text(value) for value in values], pa.string())
