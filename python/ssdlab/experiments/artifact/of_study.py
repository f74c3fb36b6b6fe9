"""A study as a part of a kit."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ssdlab import _core
from ssdlab.asking.keys import DRIVE
from ssdlab.asking.plans import files_of
from ssdlab.errors import UsageError
from ssdlab.experiments.artifact.own_files import policies_in, presets_in
from ssdlab.experiments.artifact.parts import STUDY, TRACES, Part, Reads, seconds_of, setup_of
from ssdlab.experiments.study import library
from ssdlab.experiments.study.definition import Study
from ssdlab.experiments.study.result import StudyResult, labels_of
from ssdlab.experiments.study.results import check_result
from ssdlab.experiments.study.running import Prepared, TraceFiles, prepare
from ssdlab.experiments.sweeping.tasks import difference
from ssdlab.runs.batch import RESULT_FILE, AnyJob, Job
from ssdlab.system.folders import STUDY_FILE, final, settle
from ssdlab.system.json_text import read_json

__all__ = ["own_of", "part_of"]

FIGURES = ("figure.svg", "figure.png")
DEFINED = ("title", "schemes", "seeds", "parameters", "metrics")
"""Entries of `study.json` that repeat the study's file. Its setup is compared run by run, key by key."""


def part_of(source: str, study: Study, results: Path, traces: Path | None) -> Part:
    """Reads and checks the results of a study.

    Args:
        source: name or file of the study.
        study: the study.
        results: folder with the results of studies.
        traces: folder to search first for traces.

    Raises:
        ssdlab.Error: there are no results, or they are incomplete, from another version, or from an earlier text of the study; or a trace
            is missing or lies in a folder.
    """
    folder = results / study.name
    settle(folder)
    if not (folder / STUDY_FILE).is_file():
        raise UsageError(f"{study.name}: no results in {results}: `ssdlab study run {shlex.quote(source)} --out {results}` makes them")
    found = check_result(folder / STUDY_FILE)
    again = f"run it again: `ssdlab study run {shlex.quote(source)} --out {results}`"
    if found["version"] != _core.version():
        raise UsageError(f"{folder}: the results are of ssdlab {found['version']}, this is {_core.version()}: {again}")
    if found["failed"]:
        raise UsageError(f"{folder}: runs failed ({', '.join(found['failed'])}): a kit needs complete results: {again}")
    _check_defined(study.shortened() if found["quick"] else study, found, f"{folder}: {again}")
    prepared = prepare(study, quick=found["quick"], out=results, traces=traces)
    runs, seconds = _runs(prepared, found, f"{folder}: {again}")
    left_out = {tuple(entry["values"]) for entry in found["skipped"]}
    named = tuple(name for job in prepared.jobs.values() for name in _named(job))
    file, expected = f"studies/{study.name}.toml", f"expected/{study.name}"
    there = (name for name in (STUDY_FILE, *FIGURES) if (folder / name).is_file())
    return Part(
        kind=STUDY,
        name=study.name,
        title=study.title,
        made=(folder / STUDY_FILE).stat().st_mtime,
        runs=runs,
        seconds=seconds,
        reads=Reads.together([Reads(tuple(_traces(study, left_out, traces)), own_of(prepared), named)]),
        file=file,
        expected=f"{expected}/{STUDY_FILE}",
        files={file: library.text(source), **{f"{expected}/{name}": folder / name for name in there}},
        quick=found["quick"],
    )


def _check_defined(study: Study, found: Mapping[str, Any], where: str) -> None:
    """Raises an error if results are from an earlier text of the study."""
    now = json.loads(json.dumps(StudyResult(study, quick=False, outcomes=[], runs={}).to_dict()))
    changed = [key for key in DEFINED if now[key] != found[key]]
    rows = [(row.what, row.formula.text) for row in study.rows]
    if rows != [(row.get("what"), row.get("value")) for row in found["rows"]]:
        changed.append("rows")
    if changed:
        raise UsageError(f"{where} (the study has changed since: {', '.join(changed)})")


def _runs(prepared: Prepared, found: Mapping[str, Any], where: str) -> tuple[dict[str, Mapping[str, Any]], tuple[float, ...]]:
    """Checks the runs of a study against its present text; returns their configurations by folder name, and the duration of each, s."""
    runs: dict[str, Mapping[str, Any]] = {}
    seconds = []
    left_out = {tuple(entry["values"]) for entry in found["skipped"]}
    missing = {(run["scheme"], tuple(run["values"]), run["seed"]): run["digest"] for run in found["runs"]}
    for (scheme, labels, seed), job in prepared.jobs.items():
        if labels in left_out:
            continue
        assert job.folder is not None
        place = final(job.folder)
        result = read_json(place / RESULT_FILE)
        if missing.pop((scheme, labels, seed), None) != result.get("digest"):
            raise UsageError(f"{where} ({place / RESULT_FILE} is not of the same run as {STUDY_FILE})")
        setup = setup_of(result)
        other = difference(_setup_now(job), setup)
        if other is not None:
            raise UsageError(f"{where} (the study has changed since: {place.name}: {other})")
        runs[place.name] = {"scheme": scheme, "values": list(labels), "seed": seed, **setup}
        seconds.append(seconds_of(result))
    if missing:
        skipped = next(iter(prepared.skipped.values()), "the study has changed since")
        raise UsageError(f"{prepared.folder}: {len(missing)} runs of the results cannot be checked: {skipped}")
    return runs, tuple(seconds)


def _setup_now(job: AnyJob) -> dict[str, Any]:
    """The configuration of a job that has not started, in the form of `setup_of`."""
    if isinstance(job, Job):
        return setup_of({"config": json.loads(job.plan.config_of_result()), **job.entries})
    return setup_of(replace(job.experiment, requests=1).run(job.priority).to_dict())


def _traces(study: Study, left_out: set[tuple[str, ...]], traces: Path | None) -> Iterator[tuple[str, Path]]:
    """The traces of a study. Those of combinations of values that were left out need not exist."""
    files = TraceFiles(study, traces)
    for combination in study.combinations():
        setup = study.setup_of(combination)
        for name in (setup[key] for key in TRACES if key in setup and labels_of(combination) not in left_out):
            if Path(name).name != name:
                raise UsageError(
                    f"{study.name}: the trace {name} lies in a folder: a kit has its traces in one folder, so name the file alone"
                )
            yield name, files.find(name)


def _named(job: AnyJob) -> list[str]:
    """The traces and prefill lists that a run's configuration names."""
    return files_of(job.plan.config) if isinstance(job, Job) else [str(file) for file in job.experiment.files]


def own_of(prepared: Prepared) -> tuple[tuple[str, Path], ...]:
    """The presets and policies of a study that are files: the name in the study, and the present path."""
    study = prepared.study
    policies = (own for combination in study.combinations() for own in policies_in(study.setup_of(combination), study.folder))
    return tuple(dict.fromkeys((*_presets_of(prepared), *policies)))


def _presets_of(prepared: Prepared) -> Iterator[tuple[str, Path]]:
    for combination in prepared.study.combinations():
        engine = prepared.engines.get(labels_of(combination))
        if engine is None:
            continue  # the runs of this combination were left out
        setup = prepared.study.setup_of(combination)
        workload = None if "trace" in setup else setup.get("workload")
        yield from presets_in(setup.get("device"), workload, prepared.study.schemes if engine == DRIVE else (), setup["set"])
