"""The author's own files that runs of a study read: presets, policies, and traces that a configuration names. A kit keeps their names.

`reproduce.py` runs studies in the kit's folder, so a name relative to the folder where the kit was made finds the file in the kit.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from ssdlab.asking.keys import DRIVE, read_file
from ssdlab.asking.plans import files_of, is_preset_file
from ssdlab.asking.policies import KINDS, file_of, located
from ssdlab.errors import UsageError
from ssdlab.experiments.artifact.inputs import Input, hash_of
from ssdlab.experiments.study.running import Prepared
from ssdlab.runs.batch import Job
from ssdlab.system.folders import ARTIFACT_FILE

__all__ = ["OwnFile", "outside", "own_files"]

OF_KITS = frozenset((ARTIFACT_FILE, "README.md", "reproduce.py", "configurations", "expected", "reproduced", "wheels"))
"""Names in a kit's folder that are reserved for its own files."""


@dataclass
class OwnFile:
    """One of the author's files, which a kit includes under the name that the study uses."""

    name: str
    file: Path
    """Present path of the file."""
    used_by: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The entry of the file in `artifact.json`."""
        return {"name": self.name, "bytes": self.file.stat().st_size, "sha256": hash_of(self.file), "used_by": self.used_by}


def own_files(studies: Iterable[Prepared], traces: Mapping[str, Input], *, with_traces: bool) -> dict[str, OwnFile]:
    """Collects the files that runs of some studies read besides the traces listed in the kit, by name.

    Args:
        studies: the studies, ready to run.
        traces: the traces listed in the kit.
        with_traces: whether the kit includes its traces. If not, an unlisted trace is refused, since a reviewer could not supply it.

    Raises:
        FileError: a file cannot be read.
        UsageError: a file is outside the current folder, has a name reserved for the kit, or is a trace that the kit cannot include.
    """
    listed = {os.path.realpath(one.file) for one in traces.values()}
    found: dict[str, OwnFile] = {}
    for prepared in studies:
        study = prepared.study.name
        for name in _presets_of(prepared):
            _note(found, name, study)
        for name, file in _policies_of(prepared):
            _note(found, name, study, file)
        for name in dict.fromkeys(name for job in prepared.jobs.values() for name in _named(job)):
            if os.path.realpath(name) in listed:
                continue
            if not with_traces:
                raise UsageError(f"{study}: a configuration names the trace {name}: name it by `trace` in the study, or add --with-traces")
            _note(found, name, study)
    return found


def _note(found: dict[str, OwnFile], name: str, study: str, file: Path | None = None) -> None:
    """Adds a file if its name is allowed in a kit. `file`: its present path, if that is not the name."""
    path = PurePosixPath(name)
    if _is_outside(name):
        raise UsageError(f"{study}: {name} is not below the current folder: a kit cannot have it: move it there, and run the study again")
    if not path.parts or path.parts[0] in OF_KITS or path.parts[0].startswith(".ssdlab"):
        raise UsageError(f"{study}: {name}: a kit has a file or folder of its own under this name: rename yours, and run the study again")
    own = found.setdefault(path.as_posix(), OwnFile(path.as_posix(), file or Path(name)))
    if file is not None and own.file.resolve() != file.resolve() and hash_of(own.file) != hash_of(file):
        raise UsageError(f"{own.file} and {file}: two files of one name: rename one of them, and run the study again")
    if study not in own.used_by:
        own.used_by.append(study)


def _is_outside(name: str) -> bool:
    """Whether a file is not below the current folder, by its name, so that no kit can have it."""
    path = PurePosixPath(name)
    return path.is_absolute() or ".." in path.parts


def outside(prepared: Prepared) -> list[str]:
    """The presets and policies of a study that no kit can have."""
    names = (*_presets_of(prepared), *(name for name, _ in _policies_of(prepared)))
    return [name for name in dict.fromkeys(names) if _is_outside(name)]


def _named(job: Any) -> list[str]:
    """The traces and prefill lists that a run's configuration names."""
    return files_of(job.plan.config) if isinstance(job, Job) else list(job.experiment.files)


def _presets_of(prepared: Prepared) -> Iterator[str]:
    """The presets of a study that are files: devices, schemes, workloads, and base presets of flows."""
    for combination in prepared.study.combinations():
        engine = prepared.engines.get(tuple(point.label for point in combination))
        if engine is None:
            continue  # the runs of this combination were left out
        setup = prepared.study.setup_of(combination)
        workload = None if "trace" in setup else setup.get("workload")
        schemes = [part for scheme in prepared.study.schemes for part in scheme.split("+")] if engine == DRIVE else []
        flows = _presets_of_flows(setup["set"].get("workload.flows"))
        for name in (setup.get("device"), workload, *schemes, *flows):
            if name is not None and is_preset_file(name):
                yield from _with_presets_in(name)


def _policies_of(prepared: Prepared) -> Iterator[tuple[str, Path]]:
    """The files of a study's policies: the name in the study, and the present path."""
    study = prepared.study
    for combination in study.combinations():
        setup = study.setup_of(combination)
        for kind in KINDS:
            name, file = file_of(setup.get(kind)), file_of(located(setup.get(kind, ""), study.folder))
            if name is not None and file is not None:
                yield name, Path(file)


def _with_presets_in(name: str) -> Iterator[str]:
    """A preset that is a file, followed by the base presets of its flows that are files."""
    yield name
    workload = tomllib.loads(read_file(Path(name))).get("workload")
    for inner in _presets_of_flows(workload.get("flows") if isinstance(workload, Mapping) else None):
        if is_preset_file(inner):
            yield from _with_presets_in(inner)


def _presets_of_flows(flows: object) -> list[str]:
    """The base presets of flows."""
    entries = flows if isinstance(flows, list) else []
    return [flow["preset"] for flow in entries if isinstance(flow, Mapping) and isinstance(flow.get("preset"), str)]
