"""The function `ssdlab.sweep`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from ssdlab.asking.option import complete, takes
from ssdlab.asking.options import Path_, RunOptions, SweepOptions
from ssdlab.asking.plans import DEEPEST, warn_of_idle_keys
from ssdlab.checks import mapping, path, shown, truth
from ssdlab.errors import Interrupted, UsageError
from ssdlab.experiments.sweeping.definition import TRACES, define
from ssdlab.experiments.sweeping.result import SweepResult
from ssdlab.experiments.sweeping.running import Engine, prepare, run
from ssdlab.system.progress import TotalProgress

__all__ = ["sweep"]


@takes(SweepOptions, without=RunOptions)
def sweep(
    grid: Mapping[str, Iterable[Any]],
    *,
    seeds: int | None = None,
    out: Path_ | None = None,
    jobs: int | None = None,
    engine: Engine = "local",
    resume: bool = False,
    series: bool | None = None,
    zip: Sequence[Mapping[str, Any]] = (),
    random: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    screen: Mapping[str, Any] | None = None,
    leave_out_refused: bool = False,
    questions: Sequence[Mapping[str, Any]] = (),
    progress: bool = False,
    **options: Unpack[SweepOptions],
) -> SweepResult:
    """Simulates every point of a grid, in parallel. Arguments not described here are as for `run`, and apply to all points.

    Args:
        grid: values by axis; the points are all combinations, with the last axis varying fastest. An axis is a key of the configuration
            (`"gc.soft": [0.05, 0.1]`), an option of `run` (`"scheme": ["npgc", "pgc"]`, `"seed": range(1, 6)`), or has a name of its own
            and values that set several keys and options under a label (`"load": [{"label": "light", "time_scale": 1, "set": {"gc.soft":
            0.1}}, ...]`).
        seeds: number of seeds for every point, from `seed` on; equivalent to an axis `seed`. The result's `means` are over the seeds.
        out: folder for `results.parquet` and `results.csv` with a row for each point, `means.parquet` and `means.csv` over seeds,
            `sweep.toml`, and `POINT/result.json`.
        jobs: maximum number of runs at once (default: one per processor). It does not change any result.
        engine: `"local"`, or `"ray"` for tasks of Ray (`pip install 'ssdlab[ray]'`), at `RAY_ADDRESS` or else on this machine.
        resume: whether to keep results in `out`, and only run the other points.
        series: whether to record every run over time, for its page in `out`; by default of at most 100 points.
        zip: axes that change together: `[{"axes": ["gc.soft", "gc.hard"], "rows": [[0.05, 0.2], [0.1, 0.4]]}]` has two points.
        random: axes whose values are drawn: `{"points": 40, "axes": {"gc.soft": {"from": 0.02, "to": 0.2, "log": True}}}`, and perhaps
            `design` (`"latin-hypercube"` or `"independent"`) and `seed`.
        columns: derived columns: arithmetic over figures, such as `{"moved": "gc.pages_moved / gc.jobs"}`.
        screen: drops points that are clearly worse after few seeds: `{"by": "p99"}`, and perhaps `among`, `first` and `keep`.
        leave_out_refused: whether to leave out points that cannot be simulated (`refused` of the result), instead of raising.
        questions: what is compared, stated before the runs: `[{"compare": "scheme", "against": "npgc", "figures": ["p99"]}]`, and perhaps
            `values`, `by` and `across`. `comparisons` of the result has the answers.
        progress: whether to show progress on standard error, if it is a terminal.

    Raises:
        ssdlab.Error: a point cannot be simulated; the message names it, and no run begins. Runs that fail do not raise; they are in
            `failed` of the result.
        ssdlab.Interrupted: Ctrl-C. The results of finished points are in the exception's `finished`, and in `out`.
    """
    complete("sweep", SweepOptions, options)  # refuses unknown options
    by_hand = options.get("set")
    given = {
        **options,
        "seeds": seeds,
        "series": series,
        "zip": _tables("zip", zip) or None,
        "questions": _tables("questions", questions) or None,
        "random": None if random is None else mapping("random", random),
        "columns": None if columns is None else mapping("columns", columns),
        "screen": None if screen is None else mapping("screen", screen),
        "leave_out_refused": truth("leave_out_refused", leave_out_refused),
        "set": None if by_hand is None else mapping("set", by_hand),
        "grid": {axis: _listed(axis, values) for axis, values in mapping("grid", grid).items()},
    }
    described = define("sweep", {key: _plain(value) for key, value in given.items() if value is not None})
    prepared = prepare(described, out=None if out is None else Path(path("out", out)), resume=truth("resume", resume), workers=jobs)
    warn_of_idle_keys(prepared.idle)
    for line in prepared.preparation_lines:
        warnings.warn(line, stacklevel=2)
    with TotalProgress("sweep", len(prepared.left), quiet=not truth("progress", progress)) as bar:
        result = run(prepared, workers=jobs, engine=engine, progress=bar.callback)
    if result.interrupt is not None:
        raise Interrupted({_name(point.values): point.result for point in result}) from result.interrupt
    return result


def _name(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{axis} = {value}" for axis, value in values.items())


def _tables(name: str, given: object) -> list[Mapping[str, Any]]:
    if isinstance(given, str | Mapping) or not isinstance(given, Sequence):
        expected = "axes and rows" if name == "zip" else "compare"
        raise UsageError(f"{name} = {shown(given)}: expected a list of tables with {expected}")
    return [mapping(name, entry) for entry in given]


def _listed(axis: str, values: object) -> list[Any]:
    if isinstance(values, str) and axis in TRACES:
        return [values]
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise UsageError(f"grid: {axis} = {shown(values)}: expected several values, such as [1, 2, 3]")
    return list(values)


def _plain(value: Any, depth: int = 0) -> Any:
    """Converts numbers of NumPy to Python's, arrays to lists, and paths to texts."""
    if depth > DEEPEST:
        raise UsageError(f"{shown(value)}: nested too deeply (limit {DEEPEST})")
    if isinstance(value, Mapping):
        return {key: _plain(entry, depth + 1) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry, depth + 1) for entry in value]
    if isinstance(value, os.PathLike):
        return os.fspath(path("the value", value))
    return value.tolist() if hasattr(value, "tolist") else value
