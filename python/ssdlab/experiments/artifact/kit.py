"""The content of an artifact kit, and writing one from the results of studies."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

from ssdlab import _core
from ssdlab.asking.policies import KINDS
from ssdlab.errors import UsageError
from ssdlab.experiments.artifact.identity import identity
from ssdlab.experiments.artifact.inputs import Input, check_sources, hash_of, inputs_of
from ssdlab.experiments.artifact.own_files import OwnFile, own_files
from ssdlab.experiments.artifact.readme import readme
from ssdlab.experiments.study import library
from ssdlab.experiments.study.definition import Study
from ssdlab.experiments.study.result import StudyResult
from ssdlab.experiments.study.results import check_result
from ssdlab.experiments.study.running import Prepared, prepare
from ssdlab.experiments.sweeping.tasks import difference
from ssdlab.runs.batch import RESULT_FILE, AnyJob, Job
from ssdlab.system.folders import ARTIFACT_FILE, STUDY_FILE, ResultFolder, file_errors, final, make_folder, settle, write_json
from ssdlab.system.json_text import read_json

__all__ = ["Kit", "collect", "write"]

FORMAT = 1
TOLERANCES = {"same_version": 1e-9, "other_version": 0.01}
"""Maximum relative difference between a number and the expected one.

Within one version only the last digits of a mean may differ, since processors round differently. Across versions the tolerance is for
numbers whose interval is narrower.
"""
FIGURES = ("figure.svg", "figure.png")
DEFINED = ("title", "schemes", "seeds", "parameters", "metrics")
"""Entries of `study.json` that repeat the study's file. Its setup is compared run by run, key by key."""
SPEED = ("prepare_s", "wall_s")
PLACES = {"--trace", "--prefill", "--fio", *(f"--{kind}" for kind in KINDS)}


@dataclass(frozen=True)
class Part:
    """A study of a kit, with its results."""

    study: Study
    text: str
    """Text of the study's file."""
    folder: Path
    """Folder with the study's results."""
    found: Mapping[str, Any]
    """Content of the study's `study.json`."""
    runs: Mapping[str, Mapping[str, Any]]
    """Scheme, values, seed, command and configuration of each run, by the name of its folder."""
    seconds: tuple[float, ...]
    """Duration of each run, s."""
    prepared: Prepared
    """The study, ready to run."""


@dataclass(frozen=True)
class Kit:
    """The content of a kit."""

    parts: tuple[Part, ...]
    inputs: Mapping[str, Input]
    own: Mapping[str, OwnFile] = field(default_factory=dict)
    """The author's own presets, and traces that only configurations name."""
    wheel: Path | None = None
    with_traces: bool = False

    @property
    def without_source(self) -> list[str]:
        """Names of the traces without a source."""
        return [] if self.with_traces else [one.name for one in self.inputs.values() if one.source is None]

    @property
    def changed_inputs(self) -> list[str]:
        """Names of traces modified after the results of a study that reads them. The trace that was run may have had another hash."""
        made = {part.study.name: (part.folder / STUDY_FILE).stat().st_mtime for part in self.parts}
        return [one.name for one in self.inputs.values() if one.file.stat().st_mtime > min(made[name] for name in one.used_by)]

    @property
    def seconds(self) -> float:
        """Total processor time of all runs, s."""
        return sum(sum(part.seconds) for part in self.parts)

    @property
    def runs(self) -> int:
        """Number of runs."""
        return sum(len(part.seconds) for part in self.parts)


def collect(
    names: Sequence[str],
    *,
    results: Path,
    traces: Path | None = None,
    sources: Mapping[str, str] | None = None,
    wheel: Path | None = None,
    with_traces: bool = False,
) -> Kit:
    """Reads and checks the content of a kit. Writes nothing.

    Args:
        names: studies: a name, a paper for all of its studies, or a file.
        results: folder with the results of the studies.
        traces: folder to search first for their traces.
        sources: where a reviewer gets each trace, by name.
        wheel: wheel of ssdlab to include in the kit.
        with_traces: whether to include the traces.

    Raises:
        ssdlab.Error: a study has no results, or they are incomplete, from another version, or from an earlier text of the study; a trace is
            missing, or a source is given for a trace that no study reads; a preset is a file that a kit cannot include; or the wheel is of
            another version.
    """
    parts = tuple(_part(source, study, results, traces) for source, study in library.located(list(names)).items())
    left_out = {part.study.name: {tuple(entry["values"]) for entry in part.found["skipped"]} for part in parts}
    inputs = inputs_of((part.study for part in parts), left_out, traces)
    check_sources(inputs, sources or {})
    own = own_files((part.prepared for part in parts), inputs, with_traces=with_traces)
    if wheel is not None:
        _check_wheel(wheel)
    return Kit(parts, inputs, own, wheel, with_traces)


def _part(source: str, study: Study, results: Path, traces: Path | None) -> Part:
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
    return Part(study, library.text(source), folder, found, runs, seconds, prepared)


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
        setup = _setup_of(result)
        other = difference(_setup_now(job), setup)
        if other is not None:
            raise UsageError(f"{where} (the study has changed since: {place.name}: {other})")
        runs[place.name] = {"scheme": scheme, "values": list(labels), "seed": seed, **setup}
        seconds.append(sum(float(result.get(key, 0)) for key in SPEED))
    if missing:
        skipped = next(iter(prepared.skipped.values()), "the study has changed since")
        raise UsageError(f"{prepared.folder}: {len(missing)} runs of the results cannot be checked: {skipped}")
    return runs, tuple(seconds)


def _setup_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of a result, with the names of files but not their folders."""
    setup = {key: result[key] for key in ("config", "parameters", "priority", "command") if key in result}
    if "command" in setup:
        setup["command"] = _without_folders(setup["command"])
    return {key: _names_only(entry) for key, entry in setup.items()}


def _setup_now(job: AnyJob) -> dict[str, Any]:
    """The configuration of a job that has not started, in the form of `_setup_of`."""
    if isinstance(job, Job):
        return _setup_of({"config": json.loads(job.plan.config_of_result()), **job.entries})
    return _setup_of(replace(job.experiment, requests=1).run(job.priority).to_dict())


def _without_folders(command: str) -> str:
    words = shlex.split(command)
    named = [Path(word).name if before in PLACES else word for before, word in zip(["", *words], words, strict=False)]
    return shlex.join(named)


def _names_only(value: Any, key: str = "") -> Any:
    """A configuration without absent values and without the folders of traces, which belong to this machine."""
    if isinstance(value, Mapping):
        return {name: _names_only(entry, name) for name, entry in value.items() if entry is not None}
    return Path(value).name if key in ("trace", "prefill", "fio") and isinstance(value, str) else value


def _check_wheel(wheel: Path) -> None:
    """Raises an error unless the file is a wheel of this version of ssdlab (wheel names: PEP 427)."""
    found = re.match(r"ssdlab-([^-]+)-.*\.whl$", wheel.name)
    version = _core.version().partition("+")[0]  # a wheel's name has no commit
    if found is None or not wheel.is_file():
        raise UsageError(f"{wheel}: expected a wheel of ssdlab, a file such as ssdlab-{version}-cp311-abi3-manylinux_2_34_x86_64.whl")
    if found[1] != version:
        raise UsageError(f"{wheel}: the wheel is of ssdlab {found[1]}, the results are of {version}")


# ---- Writing -----------------------------------------------------------------------------------------------------------------


def write(kit: Kit, folder: Path) -> dict[str, Any]:
    """Writes a kit; returns the content of its `artifact.json`.

    Raises:
        UsageError: the folder holds results, or another process writes there.
        FileError: a file cannot be read or written.
    """
    with ResultFolder(folder, "artifact") as out:
        assert out.stage is not None
        with file_errors("write", folder):
            manifest = _fill(kit, out.stage)
        out.commit()
    return manifest


def _fill(kit: Kit, stage: Path) -> dict[str, Any]:
    """Writes all files of a kit into the folder `stage`; returns the content of its `artifact.json`."""
    for part in kit.parts:
        _write_part(part, stage)
    if kit.wheel is not None:
        _copy(kit.wheel, stage / "wheels" / kit.wheel.name)
    if kit.with_traces:
        for one in kit.inputs.values():
            _copy(one.file, stage / "traces" / one.name)
    for own in kit.own.values():
        _copy_own(own, stage)
    _write(stage / "reproduce.py", resources.files("ssdlab.experiments.artifact").joinpath("reproduce.py").read_text(encoding="utf-8"))
    manifest = {**_manifest(kit), "files": dict(_hashes(stage))}
    _write(stage / "README.md", readme(manifest))
    manifest["files"]["README.md"] = hash_of(stage / "README.md")
    write_json(stage / ARTIFACT_FILE, manifest)
    return manifest


def _write_part(part: Part, stage: Path) -> None:
    """Writes the files of one study into the folder `stage`."""
    name = part.study.name
    _write(stage / "studies" / f"{name}.toml", part.text)
    configurations = stage / "configurations" / f"{name}.json"
    make_folder(configurations.parent)
    write_json(configurations, {"study": name, "runs": part.runs})
    for file in (STUDY_FILE, *FIGURES):
        if (part.folder / file).is_file():
            _copy(part.folder / file, stage / "expected" / name / file)


def _manifest(kit: Kit) -> dict[str, Any]:
    times = [second for part in kit.parts for second in part.seconds]
    wheel = {} if kit.wheel is None else {"wheel": f"wheels/{kit.wheel.name}"}
    return {
        "format": FORMAT,
        "made_by": identity(),
        **wheel,
        "tolerances": TOLERANCES,
        "expected_time": {"runs": kit.runs, "processor_s": kit.seconds, "longest_run_s": max(times, default=0.0)},
        "studies": [_entry(part, kit.inputs) for part in kit.parts],
        "traces": [one.to_dict(included=kit.with_traces) for one in kit.inputs.values()],
        **({"own_files": [own.to_dict() for own in kit.own.values()]} if kit.own else {}),
    }


def _entry(part: Part, inputs: Mapping[str, Input]) -> dict[str, Any]:
    """The entry of a study in `artifact.json`."""
    name = part.study.name
    return {
        "name": name,
        "title": part.study.title,
        "file": f"studies/{name}.toml",
        "configurations": f"configurations/{name}.json",
        "expected": f"expected/{name}/{STUDY_FILE}",
        "quick": part.found["quick"],
        "runs": len(part.seconds),
        "processor_s": sum(part.seconds),
        "traces": [one.name for one in inputs.values() if name in one.used_by],
    }


def _hashes(stage: Path) -> Iterator[tuple[str, str]]:
    for file in sorted(stage.rglob("*")):
        if file.is_file():
            yield file.relative_to(stage).as_posix(), hash_of(file)


def _write(file: Path, text: str) -> None:
    make_folder(file.parent)
    _core.write_file(file, text)


def _copy_own(own: OwnFile, stage: Path) -> None:
    """Copies one of the author's own files, unless the kit already has a file of that name."""
    place = stage / own.name
    if place.exists() and (place.is_dir() or hash_of(place) != hash_of(own.file)):
        raise UsageError(f"{own.name}: the kit has another file under this name: rename yours, and run the study again")
    _copy(own.file, place)


def _copy(file: Path, place: Path) -> None:
    make_folder(place.parent)
    shutil.copyfile(file, place)
    with place.open("rb") as copied:
        os.fsync(copied.fileno())  # like the core's writes: a power failure afterwards loses nothing
