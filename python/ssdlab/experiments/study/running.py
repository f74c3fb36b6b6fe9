"""Runs a study: all runs in parallel, rows, figure, and one result file."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdlab.asking.keys import DRIVE
from ssdlab.asking.plans import Loaded
from ssdlab.asking.policies import KINDS, located
from ssdlab.errors import ConfigError, Error, TraceError
from ssdlab.experiments.study import engines
from ssdlab.experiments.study.definition import Study
from ssdlab.experiments.study.evaluation import RunKey, evaluate, metrics_of
from ssdlab.experiments.study.result import StudyResult, labels_of
from ssdlab.runs.batch import AnyJob, Batch, Progress, execute, write_json
from ssdlab.runs.capacity import Wanted, with_loads
from ssdlab.system.folders import STUDY_FILE, ResultFolder, folder_name

__all__ = ["STUDY_FILE", "Prepared", "TraceFiles", "prepare", "run"]

RUNS = "runs"


@dataclass(frozen=True)
class Prepared:
    """A study with checked runs that are ready to start."""

    study: Study
    quick: bool
    out: ResultFolder
    jobs: dict[RunKey, AnyJob]
    engines: dict[tuple[str, ...], str]
    skipped: dict[tuple[str, ...], str]

    @property
    def folder(self) -> Path | None:
        """The study's own folder."""
        return self.out.folder


def prepare(
    study: Study, *, quick: bool = False, out: Path | None = None, traces: Path | None = None, workers: int | None = None
) -> Prepared:
    """Checks a study as far as possible before the runs.

    Args:
        study: the study.
        quick: use the fewer requests and seeds of the quick form.
        out: folder for results, in which the study has its own, `PAPER/STUDY`.
        traces: folder to search for traces first.
        workers: maximum number of runs at once that search for the rates of loads.

    Raises:
        ConfigError: a run cannot be simulated, or the results of two runs would lie in the same folder.
        TraceError: none of the study's traces exists. If some exist, runs of the others are skipped, with the reason.
    """
    if quick:
        study = study.shortened()
    folder = None if out is None else out / study.name
    into = ResultFolder(folder, "study")
    files = TraceFiles(study, traces)
    # the figure shows single runs of the first seed; without a folder there is no figure
    shown = set() if folder is None else {shown for _, shown in study.pictures()}
    jobs: dict[RunKey, AnyJob] = {}
    kinds: dict[tuple[str, ...], str] = {}
    skipped: dict[tuple[str, ...], str] = {}
    _check_folders(study)
    setups: dict[tuple[str, ...], dict[str, Any]] = {}
    for combination in study.combinations():
        labels = labels_of(combination)
        try:
            setup = _located(study.setup_of(combination), files.find, study.folder)
        except TraceError as absent:
            skipped[labels] = str(absent)
            continue
        kinds[labels], setups[labels] = setup["engine"], setup
    rates = _rates(study, {labels: setup for labels, setup in setups.items() if kinds[labels] == DRIVE}, workers)
    for labels, setup in setups.items():
        for scheme, seed in itertools.product(study.schemes, study.seeds):
            label, base = (", ".join([name, *labels, f"seed {seed}"]) for name in (scheme, study.paired or scheme))
            place = None if into.runs is None else into.runs / RUNS / _run_folder(scheme, labels, seed)
            series = labels in shown and seed == study.seeds[0]
            try:
                paired = None if study.paired is None else base
                jobs[scheme, labels, seed] = engines.job(
                    label,
                    setup,
                    scheme,
                    seed,
                    folder=place,
                    series=series,
                    paired=paired,
                    tolerance=study.paired_tolerance,
                    loaded=rates.get((scheme, labels)),
                )
            except Error as error:
                raise type(error)(f"{study.name}: {label}: {error}") from error
    if not jobs:
        raise TraceError(f"{study.name}: {next(iter(skipped.values()))}")
    return Prepared(study, quick, into, jobs, kinds, skipped)


def _rates(study: Study, setups: dict[tuple[str, ...], dict[str, Any]], workers: int | None) -> dict[tuple[str, tuple[str, ...]], Loaded]:
    """The rates that loads stand for, by scheme and labels. All seeds have that of the first."""
    wanted: dict[tuple[str, tuple[str, ...]], Wanted] = {}
    for (labels, setup), scheme in itertools.product(setups.items(), study.schemes):
        of = setup.get("load_of")
        if setup.get("load") is None:
            continue
        label = f"{study.name}: {', '.join((scheme, *labels))}"
        if of is not None and of not in study.schemes:
            raise ConfigError(f'{label}: load_of = "{of}" is no scheme of the study (there are {", ".join(study.schemes)})')
        own = engines.setup_of(setup, study.seeds[0])
        wanted[scheme, labels] = Wanted(label, own, scheme, None if of is None else (own, of))
    found = zip(wanted, with_loads([*wanted.values()], workers=workers), strict=True)
    return {key: setup.loaded_as for key, setup in found if setup.loaded_as is not None}


def run(prepared: Prepared, *, workers: int | None = None, progress: Progress | None = None) -> StudyResult:
    """Runs a study; writes the result file and the figure if it has a folder and a run has finished.

    Other runs continue after a failed one; rows that depend on it have no measured value.

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
            # a result file without runs would be taken for results
            if out.stage is not None and batch.finished:
                _write(result, out.stage)
        finally:
            out.commit()
    return result


def _write(result: StudyResult, folder: Path) -> None:
    write_json(folder / STUDY_FILE, result.to_dict())  # first: an error of the figure must not lose the results
    if result.study.figure is not None:
        # imported here because it takes longer than many studies
        from ssdlab.experiments.study.figures import draw  # noqa: PLC0415

        draw(result, folder)


def _result(prepared: Prepared, batch: Batch) -> StudyResult:
    study = prepared.study
    finished = {key: batch.finished[job.label] for key, job in prepared.jobs.items() if job.label in batch.finished}
    runs = {key: metrics_of(study, prepared.engines[key[1]], result) for key, result in finished.items()}
    outcomes = evaluate(study, runs, prepared.skipped)
    series = {key: result for key, result in finished.items() if prepared.jobs[key].series}
    return StudyResult(study, prepared.quick, outcomes, runs, prepared.skipped, batch.failed, prepared.folder, series)


def _located(setup: dict[str, Any], find: Callable[[str], Path], folder: Path) -> dict[str, Any]:
    """The setup with traces and files of policies replaced by their paths."""
    policies = {kind: located(setup[kind], folder) for kind in KINDS if kind in setup}
    return setup | {key: find(setup[key]) for key in ("trace", "prefill", "fio") if key in setup} | policies


class TraceFiles:
    """Folders in which traces are searched: the given one, the study's own, the current one, and its `traces`."""

    def __init__(self, study: Study, asked: Path | None) -> None:
        self._folders = [*([asked] if asked is not None else []), study.folder, Path(), Path("traces")]

    def find(self, name: str) -> Path:
        """Finds a trace.

        Raises:
            TraceError: the trace is in none of the folders.
        """
        for folder in self._folders:
            if (folder / name).is_file():
                return folder / name
        raise TraceError(f"the trace {name} was not found: give the folder that has it by --traces DIR")


def _check_folders(study: Study) -> None:
    """Refuses values whose results would lie in the same folder."""
    taken: dict[str, tuple[str, ...]] = {}
    for scheme, combination in itertools.product(study.schemes, study.combinations()):
        labels = labels_of(combination)
        name = _run_folder(scheme, labels, study.seeds[0])
        if name in taken:
            one, other = (", ".join(f'"{label}"' for label in parts) for parts in (taken[name], (scheme, *labels)))
            raise ConfigError(f"{study.name}: the results of {one} and of {other} would lie in the same folder, {name}: change a label")
        taken[name] = (scheme, *labels)


def _run_folder(scheme: str, labels: Sequence[str], seed: int) -> str:
    return folder_name("_".join(re.sub(r"[^\w.+-]+", "-", part) for part in (scheme, *labels, f"seed{seed}")))
