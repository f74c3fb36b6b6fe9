"""Running a study: all its runs in parallel, the rows, the figure, one result file."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ssdlab._core import version
from ssdlab.batch import AnyJob, Batch, Progress, execute, write_json
from ssdlab.errors import ConfigError, Error, TraceError
from ssdlab.folders import STUDY_FILE, ResultFolder
from ssdlab.result import Section
from ssdlab.study import engines
from ssdlab.study.definition import Point, Study
from ssdlab.study.evaluation import Measured, Outcome, RunKey, evaluate, metrics_of
from ssdlab.uncertainty import Estimate

__all__ = ["STUDY_FILE", "StudyResult", "prepare", "run"]

RUNS = "runs"


@dataclass
class StudyResult:
    """What came of a study."""

    study: Study
    quick: bool
    outcomes: list[Outcome]
    runs: dict[RunKey, Measured]
    skipped: dict[tuple[str, ...], str] = field(default_factory=dict)
    failed: dict[str, Error] = field(default_factory=dict)
    folder: Path | None = None
    series: dict[RunKey, Section] = field(default_factory=dict)
    """The results that have what is drawn over time."""

    def estimate(self, metric: str, scheme: str, labels: tuple[str, ...]) -> Estimate | None:
        """A metric of a scheme at a combination of values, over the seeds; `None` if a run does not have it."""
        values = [self.runs[key].metrics[metric] for seed in self.study.seeds if (key := (scheme, labels, seed)) in self.runs]
        numbers = [value for value in values if not isinstance(value, str)]
        return Estimate.of(numbers) if len(numbers) == len(self.study.seeds) else None

    def to_dict(self) -> dict[str, Any]:
        """A plain copy, as `study.json` has it. What was not measured is absent."""
        study = self.study
        return {
            "study": study.name,
            "title": study.title,
            "place": study.place,
            "about": study.about,
            "deviations": list(study.deviations),
            "discussion": list(study.discussion),
            "version": version(),
            "quick": self.quick,
            "setup": {key: value for key, value in study.setup.items() if key != "quick"},
            "schemes": list(study.schemes),
            "seeds": list(study.seeds),
            "parameters": [{"name": axis.name, "values": list(axis.labels)} for axis in study.axes],
            "metrics": {name: {"title": metric.title, "of": metric.text} for name, metric in study.metrics.items()},
            "rows": [_row_dict(outcome) for outcome in self.outcomes],
            "points": list(self._points()),
            "skipped": [{"values": list(labels), "reason": reason} for labels, reason in self.skipped.items()],
            "failed": {label: str(error) for label, error in self.failed.items()},
            "runs": [
                {"scheme": scheme, "values": list(labels), "seed": seed, "digest": run.digest}
                for (scheme, labels, seed), run in self.runs.items()
            ],
        }

    def _points(self) -> Iterator[dict[str, Any]]:
        for combination in self.study.combinations():
            labels = _labels(combination)
            for scheme in self.study.schemes:
                estimates = {name: self.estimate(name, scheme, labels) for name in self.study.metrics}
                metrics = {name: _estimate_dict(estimate) for name, estimate in estimates.items() if estimate is not None}
                if metrics:
                    yield {"scheme": scheme, "values": list(labels), "metrics": metrics}


@dataclass(frozen=True)
class Prepared:
    """A study whose runs have been checked and can begin."""

    study: Study
    quick: bool
    out: ResultFolder
    jobs: dict[RunKey, AnyJob]
    engines: dict[tuple[str, ...], str]
    skipped: dict[tuple[str, ...], str]

    @property
    def folder(self) -> Path | None:
        """The study's own."""
        return self.out.folder


def prepare(study: Study, *, quick: bool = False, out: Path | None = None, traces: Path | None = None) -> Prepared:
    """Checks everything that can be checked before the runs.

    Args:
        study: the study.
        quick: with the fewer requests and seeds that the study names for a first look.
        out: a folder in which the study gets its own, `PAPER/STUDY`.
        traces: a folder to look for traces in, before the usual ones.

    Raises:
        ConfigError: if a run cannot be simulated, or the results of two would lie in the same folder.
        TraceError: if none of the study's traces is there. Where some are, the others are skipped, with the reason.
    """
    if quick:
        study = study.shortened()
    folder = None if out is None else out / study.name
    into = ResultFolder(folder, "study")
    files = _Files(study, traces)
    # The figure shows single runs, those of the first seed; without a folder there is no figure.
    shown = set() if folder is None else {shown for _, shown in study.pictures()}
    jobs: dict[RunKey, AnyJob] = {}
    kinds: dict[tuple[str, ...], str] = {}
    skipped: dict[tuple[str, ...], str] = {}
    _check_folders(study)
    for combination in study.combinations():
        labels = _labels(combination)
        try:
            setup = _located(study.setup_of(combination), files.find)
        except TraceError as absent:
            skipped[labels] = str(absent)
            continue
        kinds[labels] = setup["engine"]
        for scheme, seed in itertools.product(study.schemes, study.seeds):
            label, base = (", ".join([name, *labels, f"seed {seed}"]) for name in (scheme, study.paired or scheme))
            place = None if into.runs is None else into.runs / RUNS / _run_folder(scheme, labels, seed)
            series = labels in shown and seed == study.seeds[0]
            try:
                paired = None if study.paired is None else base
                jobs[scheme, labels, seed] = engines.job(label, setup, scheme, seed, folder=place, series=series, paired=paired)
            except Error as error:
                raise type(error)(f"{study.name}: {label}: {error}") from error
    if not jobs:
        raise TraceError(f"{study.name}: {next(iter(skipped.values()))}")
    return Prepared(study, quick, into, jobs, kinds, skipped)


def run(prepared: Prepared, *, workers: int | None = None, progress: Progress | None = None) -> StudyResult:
    """Runs a study; writes the result file and the figure if it has a folder.

    A run that fails leaves the others alone; rows that need it are not measured.

    Raises:
        ssdlab.Interrupted: Ctrl-C. The results of finished runs are in the study's folder.
    """
    with prepared.out as out:
        batch = execute(list(prepared.jobs.values()), workers=workers, progress=progress, out=out)
        if batch.interrupt is not None:
            if batch.finished:
                out.commit()
            batch.raise_failure()
        result = _result(prepared, batch)
        try:
            if out.stage is not None:
                _write(result, out.stage)
        finally:
            out.commit()
    return result


def _write(result: StudyResult, folder: Path) -> None:
    write_json(folder / STUDY_FILE, result.to_dict())  # first: no figure is worth the runs
    if result.study.figure is not None:
        # Imported here because it takes longer than many a study.
        from ssdlab.study.figures import draw  # noqa: PLC0415

        draw(result, folder)


def _result(prepared: Prepared, batch: Batch) -> StudyResult:
    study = prepared.study
    finished = {key: batch.finished[job.label] for key, job in prepared.jobs.items() if job.label in batch.finished}
    runs = {key: metrics_of(study, prepared.engines[key[1]], result) for key, result in finished.items()}
    outcomes = evaluate(study, runs, prepared.skipped)
    series = {key: result for key, result in finished.items() if prepared.jobs[key].series}
    return StudyResult(study, prepared.quick, outcomes, runs, prepared.skipped, batch.failed, prepared.folder, series)


def _labels(combination: Sequence[Point]) -> tuple[str, ...]:
    return tuple(point.label for point in combination)


def _located(setup: dict[str, Any], find: Callable[[str], Path]) -> dict[str, Any]:
    """The setup with its traces found."""
    return setup | {key: find(setup[key]) for key in ("trace", "prefill") if key in setup}


class _Files:
    """Where traces are looked for: the folder asked for, the study's own, the current one and its `traces`."""

    def __init__(self, study: Study, asked: Path | None) -> None:
        self._folders = [*([asked] if asked is not None else []), study.folder, Path(), Path("traces")]

    def find(self, name: str) -> Path:
        for folder in self._folders:
            if (folder / name).is_file():
                return folder / name
        raise TraceError(f"the trace {name} is not here: name the folder that has it by --traces DIR")


def _check_folders(study: Study) -> None:
    """Refuses values whose results would lie in the same folder."""
    taken: dict[str, tuple[str, ...]] = {}
    for scheme, combination in itertools.product(study.schemes, study.combinations()):
        labels = _labels(combination)
        name = _run_folder(scheme, labels, study.seeds[0])
        if name in taken:
            one, other = (", ".join(f'"{label}"' for label in parts) for parts in (taken[name], (scheme, *labels)))
            raise ConfigError(f"{study.name}: the results of {one} and of {other} would lie in the same folder, {name}: change a label")
        taken[name] = (scheme, *labels)


def _run_folder(scheme: str, labels: Sequence[str], seed: int) -> str:
    return "_".join(re.sub(r"[^\w.+-]+", "-", part) for part in (scheme, *labels, f"seed{seed}"))


def _estimate_dict(estimate: Estimate) -> dict[str, Any]:
    half = {} if estimate.half is None else {"interval": estimate.half}
    return {"mean": estimate.mean, **half, "values": list(estimate.values)}


def _row_dict(outcome: Outcome) -> dict[str, Any]:
    row = outcome.row
    entries = {
        "what": row.what,
        "value": row.formula.text,
        "unit": row.unit or None,
        "paper": row.paper,
        "at_least": row.at_least,
        "at_most": row.at_most,
        "note": row.note or None,
        "measured": None if outcome.estimate is None else _estimate_dict(outcome.estimate),
        "difference": outcome.difference,
        "reason": outcome.reason or None,
        "reproduced": outcome.verdict or None,
    }
    return {key: value for key, value in entries.items() if value is not None}
