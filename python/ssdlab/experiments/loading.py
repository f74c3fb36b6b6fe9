"""`ssdlab.load`: reads saved results."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ssdlab.checks import few, nearest, path
from ssdlab.errors import UsageError
from ssdlab.experiments.sweeping import columns
from ssdlab.experiments.sweeping.definition import Point
from ssdlab.experiments.sweeping.definition import load as load_definition
from ssdlab.experiments.sweeping.fitted import with_spare
from ssdlab.experiments.sweeping.points import SweepPoint
from ssdlab.experiments.sweeping.questions import dated
from ssdlab.experiments.sweeping.result import SweepResult
from ssdlab.experiments.sweeping.running import DEFINITION_FILE
from ssdlab.pages.report.runs import read_result, saved_in, title_of, title_parts, undamaged
from ssdlab.runs.batch import COMPARISON_FILE, LOG_FILE, RESULT_FILE
from ssdlab.runs.comparison import Comparison
from ssdlab.runs.result import Result
from ssdlab.runs.seeds import SeedRuns
from ssdlab.runs.variants import common_title
from ssdlab.system.folders import file_errors, run_folder

__all__ = ["is_sweep", "load", "load_sweep", "run_in"]

MOST_NAMED = 4
"""Most runs that a message names."""


def load(folder: str | os.PathLike[str]) -> Result | Comparison | SweepResult:
    """Loads the results in a folder, with their request logs and figures.

        comparison = ssdlab.load("results/first")
        comparison.plot.latency_tail(width="3.4in").save("tail.pdf")

    Args:
        folder: output of `ssdlab run`, `compare` or `sweep` with `--out`, or of `run`, `compare` or `sweep` with `out=`.

    Returns:
        A `Result` for a run, a `Comparison` for variants or schemes, a `SweepResult` for a sweep. Points without results are in its `left`.

    Raises:
        UsageError: the folder has no results, or they are damaged or from another version.
        FileError: a file cannot be read.
    """
    place = Path(path("folder", folder))
    with undamaged(place), file_errors("read", place):
        if is_sweep(place):
            return load_sweep(place)
        file, data = saved_in(place)
        if file.name == RESULT_FILE:
            return _result(data, place)
        runs = {label: _result(run, run_folder(place, label)) for label, run in data["runs"].items()}
        saved = {key: entry for key, entry in data.items() if key != "runs"}
        title = common_title([title_parts(run) for run in data["runs"].values()])
        return Comparison(runs, _seed_runs(runs, saved.get("seeds"), place), title=title, saved=saved, source=place)


def _seed_runs(runs: Mapping[str, Result], saved: Mapping[str, Any] | None, folder: Path) -> SeedRuns | None:
    """The runs under all seeds of a saved comparison; runs of later seeds are read from their own folders."""
    if saved is None:
        return None
    first, *others = saved["seeds"]
    found: dict[str, dict[int, Result]] = {}
    for label, result in runs.items():
        places = {seed: run_folder(folder, label) / f"seed-{seed}" for seed in others}
        there = {seed: place for seed, place in places.items() if (place / RESULT_FILE).is_file()}
        found[label] = {first: result, **{seed: _result(read_result(place / RESULT_FILE), place) for seed, place in there.items()}}
    return SeedRuns((first, *others), found)


def _result(data: Mapping[str, Any], folder: Path) -> Result:
    log = folder / LOG_FILE
    return Result(data, log=log if log.is_file() else None, title=title_of(data), source=folder)


def is_sweep(folder: Path) -> bool:
    """Whether a folder holds the output of `ssdlab sweep`."""
    others = (RESULT_FILE, COMPARISON_FILE)
    return (folder / DEFINITION_FILE).is_file() and not any((folder / name).exists() for name in others)


def run_in(folder: Path, label: str | None) -> Path:
    """The folder of a run: `folder` itself, or that of the run with this label, or folder name, in a comparison or sweep.

    Raises:
        UsageError: the folder has no results, several runs but `label` is `None`, or no such run.
        FileError: a file cannot be read.
    """
    with undamaged(folder), file_errors("read", folder):
        labels, places = _runs_in(folder)
    if label in places:
        return places[label]
    if not labels:
        if label is None:
            return folder
        raise UsageError(f'"{label}": {folder} has a single run: leave --of out')
    known = f"there are {few(labels, MOST_NAMED, '; ')}"
    if label is None:
        raise UsageError(f"{folder}: it has {len(labels):,} runs: name one, such as --of '{labels[0]}' ({known})")
    raise UsageError(f'"{label}": {folder} has no such run{nearest(label, places)} ({known})')


def _runs_in(folder: Path) -> tuple[list[str], dict[str, Path]]:
    """The labels of the runs of a comparison or sweep, none of a single run; and folders by label and by folder name."""
    if is_sweep(folder):
        points = load_definition(folder / DEFINITION_FILE).points()
        there = [point for point in points if (folder / point.folder / RESULT_FILE).exists()]
        return [point.label for point in there], {name: folder / point.folder for point in there for name in (point.folder, point.label)}
    file, data = saved_in(folder)
    labels = list(data["runs"]) if file.name == COMPARISON_FILE else []
    return labels, {label: run_folder(folder, label) for label in labels}


def load_sweep(folder: Path) -> SweepResult:
    """Loads the sweep in a folder; points without results are in its `left`.

    Raises:
        UsageError: the folder has no results, or one is damaged or from another version.
        FileError: a file cannot be read.
    """
    sweep = load_definition(folder / DEFINITION_FILE)
    sweep = replace(sweep, questions=dated(sweep.questions, sweep.axes, folder, has_results=True))
    points: list[SweepPoint] = []
    left: list[Point] = []
    sources = columns.sources_of(sweep.columns)
    for point in sweep.points():
        place = folder / point.folder
        file = place / RESULT_FILE
        if file.exists():
            result = _result(read_result(file), place)
            points.append(SweepPoint(dict(point.values), result, place, columns.values_of(sweep.columns, result)[0], sources))
        else:
            left.append(point)
    if not points:
        raise UsageError(f"{folder}: a sweep of which no point has a result (`ssdlab sweep` with --resume makes them)")
    return with_spare(SweepResult(sweep, points, left=left, folder=folder))
