"""The author's own files that runs read: presets, policies, and traces that a configuration names. A kit keeps their names.

`reproduce.py` runs everything in the kit's folder, so a name relative to the folder where the kit was made finds the file in the kit.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from ssdlab.asking.imported import imported_files
from ssdlab.asking.keys import read_file
from ssdlab.asking.plans import is_preset_file
from ssdlab.asking.policies import KINDS, described, file_of, located
from ssdlab.errors import UsageError
from ssdlab.experiments.artifact.inputs import Input, hash_of
from ssdlab.experiments.artifact.parts import Reads
from ssdlab.system.folders import ARTIFACT_FILE

__all__ = ["OwnFile", "is_outside", "own_files", "policies_in", "presets_in"]

OF_KITS = frozenset((ARTIFACT_FILE, "README.md", "reproduce.py", "configurations", "expected", "reproduced", "wheels"))
"""Names in a kit's folder that are reserved for its own files."""


@dataclass
class OwnFile:
    """One of the author's files, which a kit includes under the name that runs use."""

    name: str
    file: Path
    """Present path of the file."""
    used_by: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The entry of the file in `artifact.json`."""
        return {"name": self.name, "bytes": self.file.stat().st_size, "sha256": hash_of(self.file), "used_by": self.used_by}


def own_files(parts: Mapping[str, Reads], traces: Mapping[str, Input], *, with_traces: bool) -> dict[str, OwnFile]:
    """Collects the files that the runs of some parts read besides the traces listed in the kit, by name.

    Args:
        parts: what each part of the kit reads, by its name.
        traces: the traces listed in the kit.
        with_traces: whether the kit includes its traces. If not, an unlisted trace is refused, since a reviewer could not supply it.

    Raises:
        FileError: a file cannot be read.
        UsageError: a file is outside the current folder, has a name reserved for the kit, or is a trace that the kit cannot include.
    """
    listed = {os.path.realpath(one.file) for one in traces.values()}
    found: dict[str, OwnFile] = {}
    for part, reads in parts.items():
        for name, file in reads.own:
            _note(found, name, part, file)
        for name in reads.named:
            if os.path.realpath(name) in listed:
                continue
            if not with_traces:
                raise UsageError(f"{part}: a configuration names the trace {name}: name it by `trace` there, or add --with-traces")
            _note(found, name, part, Path(name))
    return found


def _note(found: dict[str, OwnFile], name: str, owner: str, file: Path) -> None:
    """Adds a file, at its present path, if its name is allowed in a kit."""
    path = PurePosixPath(name)
    if is_outside(name):
        raise UsageError(f"{owner}: {name} is not below the current folder: a kit cannot have it: move it there, and run again")
    if not path.parts or path.parts[0] in OF_KITS or path.parts[0].startswith(".ssdlab"):
        raise UsageError(f"{owner}: {name}: a kit has a file or folder of its own under this name: rename yours, and run again")
    own = found.setdefault(path.as_posix(), OwnFile(path.as_posix(), file))
    if own.file.resolve() != file.resolve() and hash_of(own.file) != hash_of(file):
        raise UsageError(f"{own.file} and {file}: two files of one name: rename one of them, and run again")
    if owner not in own.used_by:
        own.used_by.append(owner)


def is_outside(name: str) -> bool:
    """Whether a file is not below the current folder, by its name, so that no kit can have it."""
    path = PurePosixPath(name)
    return path.is_absolute() or ".." in path.parts


def presets_in(device: str | None, workload: str | None, schemes: Iterable[str], keys: Mapping[str, Any]) -> Iterator[tuple[str, Path]]:
    """The presets of runs that are files, and the base presets of flows: names and paths.

    Args:
        device: preset of the drive, if any.
        workload: preset of the workload, if any.
        schemes: schemes, each perhaps joined by `+`.
        keys: values of single keys.
    """
    parts = [part for scheme in schemes for part in scheme.split("+")]
    for name in (device, workload, *parts, *_presets_of_flows(keys.get("workload.flows"))):
        if name is not None and is_preset_file(name):
            for inner in _with_presets_in(name):
                yield inner, Path(inner)


def policies_in(options: Mapping[str, Any], folder: Path | None = None) -> Iterator[tuple[str, Path]]:
    """The files of policies, and of the modules that they import: names in the kit, and present paths.

    Args:
        options: options of runs, by name.
        folder: folder in which files are looked for before the current one.
    """
    for kind in KINDS:
        asked = options.get(kind, "")
        name, policy = file_of(asked), located(asked, folder)
        file, found = file_of(policy), described(kind, policy) if policy else None
        if name is not None and file is not None and found is not None:
            yield name, Path(file)
            yield from imported_files(found).items()


def _with_presets_in(name: str) -> Iterator[str]:
    """A preset that is a file, followed by the base presets of its flows that are files."""
    yield name
    workload = tomllib.loads(read_file(Path(name))).get("workload")
    for inner in _presets_of_flows(workload.get("flows") if isinstance(workload, Mapping) else None):
        if is_preset_file(inner):
            yield from _with_presets_in(inner)


def _presets_of_flows(flows: object) -> Sequence[str]:
    """The base presets of flows."""
    entries = flows if isinstance(flows, list) else []
    return [flow["preset"] for flow in entries if isinstance(flow, Mapping) and isinstance(flow.get("preset"), str)]
