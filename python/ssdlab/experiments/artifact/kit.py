"""The content of an artifact kit, and writing one from results."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from ssdlab import _core
from ssdlab.errors import UsageError
from ssdlab.experiments.artifact import of_results, of_study
from ssdlab.experiments.artifact.identity import identity
from ssdlab.experiments.artifact.inputs import Input, check_sources, hash_of, inputs_of
from ssdlab.experiments.artifact.own_files import OwnFile, own_files
from ssdlab.experiments.artifact.parts import Part
from ssdlab.experiments.artifact.readme import readme
from ssdlab.experiments.study import library
from ssdlab.system.folders import ARTIFACT_FILE, ResultFolder, file_errors, make_folder, write_json

__all__ = ["Kit", "collect", "write"]

FORMAT = 1
TOLERANCES = {"same_version": 1e-9, "other_version": 0.01}
"""Maximum relative difference between a number and the expected one.

Within one version only the last digits of a mean may differ, since processors round differently. Across versions the tolerance is for
numbers whose interval is narrower.
"""


@dataclass(frozen=True)
class Kit:
    """The content of a kit."""

    parts: tuple[Part, ...]
    inputs: Mapping[str, Input]
    own: Mapping[str, OwnFile] = field(default_factory=dict)
    """The author's own presets, policies and the like, and traces that only configurations name."""
    wheel: Path | None = None
    with_traces: bool = False

    @property
    def without_source(self) -> list[str]:
        """Names of the traces without a source."""
        return [] if self.with_traces else [one.name for one in self.inputs.values() if one.source is None]

    @property
    def changed_inputs(self) -> list[str]:
        """Names of traces modified after the results of a part that reads them. The trace that was run may have had another hash."""
        made = {part.name: part.made for part in self.parts}
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
        names: folders with the results of a run, a comparison or a sweep; and studies: a name, a paper for all of its studies, or a file.
        results: folder with the results of the studies.
        traces: folder to search first for their traces.
        sources: where a reviewer gets each trace, by name.
        wheel: wheel of ssdlab to include in the kit.
        with_traces: whether to include the traces.

    Raises:
        ssdlab.Error: results are missing, incomplete, from another version, or of what has changed since; a trace is missing; a source is
            given for a trace that no run reads; a file is one that a kit cannot include; or the wheel is of another version.
    """
    folders = {os.path.realpath(name): Path(name) for name in names if of_results.is_results(Path(name))}
    known = {part for study in library.shipped() for part in (study, study.partition("/")[0])}
    empty = [name for name in names if Path(name).is_dir() and os.path.realpath(name) not in folders and name.rstrip("/") not in known]
    if empty:
        raise UsageError(f"{empty[0]}: no results of a run, comparison or sweep are in this folder (studies are given by name or file)")
    studies = library.located([name for name in names if os.path.realpath(name) not in folders])
    parts = (
        *(of_study.part_of(source, study, results, traces) for source, study in studies.items()),
        *map(of_results.part_of, folders.values()),
    )
    twice = next((part.name for at, part in enumerate(parts) if part.name in {other.name for other in parts[:at]}), None)
    if twice is not None:
        raise UsageError(f"{twice}: two folders of results have this name: rename one of them")
    reads = {part.name: part.reads for part in parts}
    inputs = inputs_of(reads)
    check_sources(inputs, sources or {})
    own = own_files(reads, inputs, with_traces=with_traces)
    if wheel is not None:
        _check_wheel(wheel)
    return Kit(parts, inputs, own, wheel, with_traces)


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
    """Writes the files of one part into the folder `stage`."""
    for name, content in {**part.files, f"configurations/{part.name}.json": {"name": part.name, "runs": part.runs}}.items():
        if isinstance(content, Path):
            _copy(content, stage / name)
        elif isinstance(content, str):
            _write(stage / name, content)
        else:
            make_folder((stage / name).parent)
            write_json(stage / name, content)


def _manifest(kit: Kit) -> dict[str, Any]:
    times = [second for part in kit.parts for second in part.seconds]
    wheel = {} if kit.wheel is None else {"wheel": f"wheels/{kit.wheel.name}"}
    return {
        "format": FORMAT,
        "made_by": identity(),
        **wheel,
        "tolerances": TOLERANCES,
        "expected_time": {"runs": kit.runs, "processor_s": kit.seconds, "longest_run_s": max(times, default=0.0)},
        "parts": [_entry(part, kit.inputs) for part in kit.parts],
        "traces": [one.to_dict(included=kit.with_traces) for one in kit.inputs.values()],
        **({"own_files": [own.to_dict() for own in kit.own.values()]} if kit.own else {}),
    }


def _entry(part: Part, inputs: Mapping[str, Input]) -> dict[str, Any]:
    """The entry of a part in `artifact.json`."""
    return {
        "kind": part.kind,
        "name": part.name,
        "title": part.title,
        "file": part.file,
        "configurations": f"configurations/{part.name}.json",
        "expected": part.expected,
        "quick": part.quick,
        "runs": len(part.seconds),
        "processor_s": sum(part.seconds),
        "traces": [one.name for one in inputs.values() if part.name in one.used_by],
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
        raise UsageError(f"{own.name}: the kit has another file under this name: rename yours, and run again")
    _copy(own.file, place)


def _copy(file: Path, place: Path) -> None:
    make_folder(place.parent)
    shutil.copyfile(file, place)
    with place.open("rb") as copied:
        os.fsync(copied.fileno())  # like the core's writes: a power failure afterwards loses nothing
