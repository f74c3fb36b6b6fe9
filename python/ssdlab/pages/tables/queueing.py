"""The tables of the queueing model: formulas, simulation and differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from rich.console import Group, RenderableType
from rich.text import Text

from ssdlab.analysis.remarks import of_run, shown
from ssdlab.pages.tables.layout import Fitting, Whole, narrowed, new_table, titled
from ssdlab.pages.tables.numbers import duration, relative_text, share, significant
from ssdlab.pages.tables.runs import RunData, remark_lines, speed_line

__all__ = [
    "formula_table",
    "queueing_tables",
]

FEW = 5
"""Maximum number of printed entries of a list."""


class _Row(NamedTuple):
    """A row of the table: label, path in a result, and formulas by priority."""

    label: str
    place: str
    formulas: Mapping[str, str] = MappingProxyType({})

    def formula(self, priority: str) -> str:
        """The name of the formula for a priority; empty if there is none."""
        return self.formulas.get(priority, self.formulas.get("", ""))


QUEUEING_ROWS = (
    _Row("busy with reads", "utilisation.read", {"": "read_utilisation"}),
    _Row("busy with writes", "utilisation.write", {"": "write_utilisation"}),
    _Row("busy with copies", "utilisation.copy", {"": "copy_utilisation"}),
    _Row("busy with erases", "utilisation.erase", {"": "erase_utilisation"}),
    _Row("busy", "utilisation.total", {"": "utilisation"}),
    _Row("requests served", "throughput_per_ms", {"": "total_rate_per_ms"}),
    _Row("most that can be served", "", {"": "max_throughput_per_ms"}),
    _Row("mean wait", "wait_ns.all.mean", {"rwp": "mean_wait_rwp_ns", "cep": "mean_wait_cep_independent_ns"}),
    _Row("p99 of the waits", "wait_ns.all.p99"),
    _Row("longest wait", "wait_ns.all.max"),
    _Row("mean wait of reads", "wait_ns.read.mean", {"rwp": "mean_wait_rwp_ns", "cep": "mean_wait_cep_independent_ns"}),
    _Row("mean wait of writes", "wait_ns.write.mean", {"rwp": "mean_wait_rwp_ns", "cep": "mean_wait_cep_independent_ns"}),
    _Row("requests waiting", "queue.mean", {"rwp": "queue_length"}),
    _Row("copies waiting", "copy_queue.mean"),
    _Row("a collection takes", "gc.duration_ns.mean", {"rwp": "gc_duration_rwp_ns", "cep": "gc_duration_cep_ns"}),
    _Row("the die is idle after", "gc.backlog_ns.mean"),
)
"""Rows of the table of the queueing model."""

AT_THE_LIMIT = {"total_rate_per_ms": "max_throughput_per_ms"}
"""Formulas for saturated arrivals, by figure: the measured throughput is the maximum."""


def queueing_tables(runs: Mapping[str, RunData], formulas: Mapping[str, float]) -> list[RenderableType]:
    """Formulas, simulation and differences: all priorities side by side if they fit, else below each other."""
    first = next(iter(runs.values()))
    saturated = first["parameters"]["arrivals"]["kind"] == "saturated"
    formulas = {**formulas, **{name: formulas[limit] for name, limit in AT_THE_LIMIT.items() if saturated and limit in formulas}}
    side_by_side = _queueing_table(runs, formulas, saturated=saturated)
    apart = [_queueing_table({priority: run}, formulas, saturated=saturated) for priority, run in runs.items()]
    return [
        Text(queueing_title(first), style="bold"),
        "",
        Fitting(side_by_side, Group(*apart)),
        *(Text(f"{priority}: {_collections(run)}") for priority, run in runs.items()),
        *_too_high(runs, formulas),
        *remark_lines(shown(of_run(first))),
        *_left_out(first),
        *(Text(f"{priority}: {speed_line(run)}, digest {run['digest'][:16]}") for priority, run in runs.items()),
    ]


def _queueing_table(runs: Mapping[str, RunData], formulas: Mapping[str, float], *, saturated: bool) -> RenderableType:
    shown = ["formula", "simulated", "difference"] if formulas else ["simulated"]
    table = new_table(["", *(f"{priority} {name}" if name == "simulated" else name for priority in runs for name in shown)])
    for row in QUEUEING_ROWS:
        cells = [cell for priority, run in runs.items() for cell in _queueing_cells(row, priority, run, formulas)]
        if any(cell != "-" for cell in cells) and not (saturated and not row.place):
            table.add_row(row.label, *cells)
    # the columns of a priority belong together; if they do not fit, priorities are printed below each other
    return titled("Single-die queueing model", table, Whole(narrowed(table)))


def _too_high(runs: Mapping[str, RunData], formulas: Mapping[str, float]) -> list[RenderableType]:
    """An explanation of the formula for waits under cep, if it exceeds the simulated wait."""
    name = "mean_wait_cep_independent_ns"
    waits = runs["cep"]["wait_ns"].get("all") if "cep" in runs else None
    if waits is None or formulas.get(name, 0.0) <= waits["mean"]:
        return []
    return [Text("The formula for waits under cep takes collections to be independent of writes, which makes it too high (section 5.2.2).")]


def _left_out(run: RunData) -> list[RenderableType]:
    """Requests of a workload that the model has no operation for."""
    workload = run.get("workload") or {}
    counts = [(workload.get(f"{kind}_left_out", 0), kind) for kind in ("trims", "flushes")]
    parts = [f"{count:,} {kind}" for count, kind in counts if count]
    return [Text(f"Left out: {' and '.join(parts)}", style="yellow")] if parts else []


def _queueing_cells(row: _Row, priority: str, run: RunData, formulas: Mapping[str, float]) -> list[str]:
    measured: Any = run
    for part in row.place.split("."):
        measured = measured.get(part) if isinstance(measured, Mapping) else None
    name = row.formula(priority)
    simulated = "-" if measured is None else _queueing_quantity(row.place, measured)
    if not formulas:
        return [simulated]
    expected = formulas.get(name)
    difference = "-" if measured is None or not expected else relative_text(measured / expected)
    return ["-" if expected is None else _queueing_quantity(name, expected), simulated, difference]


def _queueing_quantity(name: str, value: float) -> str:
    """Formats a figure of the model or a value of its formulas with its unit."""
    if name.endswith("_per_ms"):
        return f"{significant(value)} /ms"
    if "_ns" in name:
        return duration(value)
    return share(value) if "utilisation" in name else significant(value)


def queueing_title(run: RunData) -> str:
    """A line that describes the run."""
    p = run["parameters"]
    times = ", ".join(f"{name} {duration(p[f'{name}_ns'])}" for name in ("read", "write", "copy", "erase"))
    valid = _valid(p["valid"])
    arrivals = p["arrivals"]
    rates = f" ({arrivals['read_per_ms']:g} + {arrivals['write_per_ms']:g} a ms)" if "read_per_ms" in arrivals else ""
    free = f", {p['free_blocks']:,} free blocks" if "free_blocks" in p else ""
    requests = sum(run["requests"].values())
    return (
        f"{times.capitalize()}; {valid} of {p['pages']} pages valid{free}; {arrivals['kind']} arrivals{rates}; {requests:,} requests, "
        f"seed {run['seed']}"
    )


def _valid(valid: int | Sequence[int]) -> str:
    """Pages to copy: a number, or the first entries of a list."""
    if isinstance(valid, int):
        return f"{valid}"
    return (
        ", ".join(map(str, valid))
        if len(valid) <= FEW
        else f"{', '.join(map(str, valid[: FEW - 1]))}, ... ({len(valid):,} numbers in turn)"
    )


def _collections(run: RunData) -> str:
    gc = run["gc"]
    if not gc["collections"]:
        return "no collection"
    held = f", {gc['held_writes']:,} writes held for want of a block" if gc.get("held_writes") else ""
    counts = f"{gc['collections']:,} collections, {gc['prolonged']:,} of them prolonged, {gc['overlapped']:,} in the backlog of another"
    return counts + held


def formula_table(formulas: Mapping[str, float], equations: Mapping[str, str]) -> RenderableType:
    """All formulas of the queueing model, with their equations in the report."""
    table = new_table(["", "value", "equation"])
    for name, value in formulas.items():
        plain = name.removesuffix("_ns").removesuffix("_per_ms")
        table.add_row(plain.replace("_", " "), _queueing_quantity(name, value), equations[plain])
    return titled("Formulas of bux2011", table)
