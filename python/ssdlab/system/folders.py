"""Folders of results: locked by one process at a time, and replaced as a whole.

A command writes to a hidden folder (`STAGE`) inside the result folder until all files are complete. Then `.ssdlab.json` (`MANIFEST`), which
lists the files of ssdlab, is replaced by one that names both the new and the old files: from then on the new set is valid, and if the
process is killed, the next process that opens the folder completes the move. Old files are removed before new ones are moved, so that files
of both sets never lie beside each other. Files that the manifest does not list are never changed.

Without earlier results, the results of single runs appear as soon as each is complete, so that they survive if the process is killed;
points of a sweep always do.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any, Literal, Self

from ssdlab import _core
from ssdlab.errors import FileError, UsageError
from ssdlab.system.json_text import json_text
from ssdlab.system.locks import Lock, holder, try_lock

__all__ = [
    "ARTIFACT_FILE",
    "BLOCKS_FILE",
    "COMPARISON_FILE",
    "DEFINITION_FILE",
    "DRAWN_FILE",
    "LOG_FILE",
    "QUESTIONS_FILE",
    "QUEUEING_FILE",
    "REPORT_FILE",
    "RESULT_FILE",
    "SLOWEST_FILE",
    "STUDY_FILE",
    "SWEEP_TABLES",
    "TIMELINE_FILE",
    "Kind",
    "ResultFolder",
    "check_folder",
    "file_errors",
    "final",
    "folder_name",
    "held",
    "make_folder",
    "replaced_with",
    "run_folder",
    "settle",
    "variant_folder",
    "write_json",
]

RESULT_FILE = "result.json"
COMPARISON_FILE = "comparison.json"
LOG_FILE = "requests.parquet"
REPORT_FILE = "report.html"
TIMELINE_FILE = "timeline.json.gz"
"""Name of a timeline file, one for each variant of a comparison."""
SLOWEST_FILE = "slowest.json"
"""Name of the file with the slowest requests of a run, and why they were."""
BLOCKS_FILE = "blocks.parquet"
"""Name of the file with the states of blocks over time."""
QUEUEING_FILE = "queueing.json"
STUDY_FILE = "study.json"
SWEEP_TABLES = ("results.parquet", "results.csv")
ARTIFACT_FILE = "artifact.json"

DEFINITION_FILE = "sweep.toml"
DRAWN_FILE = "drawn.csv"
"""Name of the table of the pieces of traces in a folder."""
QUESTIONS_FILE = "questions.json"
"""Name of the file with the questions of a sweep: those stated before its runs, and later ones."""
MANIFEST = ".ssdlab.json"
STAGE = ".ssdlab-new"
FINISHED_LATER = "the new results are complete in .ssdlab-new: the next ssdlab command that opens the folder moves them"
PATIENCE_S = 10.0
"""Maximum time to wait, s, for another process to move its results, which takes milliseconds."""

Kind = Literal["run", "comparison", "queueing", "study", "sweep", "artifact"]
REPLACEABLE: tuple[Kind, ...] = ("run", "comparison", "queueing")
"""Kinds of results that replace each other. Studies, sweeps and artifact kits take longer, and are only replaced by their own kind."""
CALLED: dict[Kind, str] = {
    "run": "the results of a run",
    "comparison": "the results of a comparison",
    "queueing": "the results of the queueing model",
    "study": "the results of a study",
    "sweep": "the results of a sweep",
    "artifact": "an artifact kit",
}
INDEX: dict[Kind, tuple[str, ...]] = {
    "sweep": SWEEP_TABLES,
    "study": (STUDY_FILE,),
    "comparison": (COMPARISON_FILE,),
    "run": (RESULT_FILE,),
    "queueing": (QUEUEING_FILE,),
    "artifact": (ARTIFACT_FILE,),
}
"""Files that refer to the other files of a set, by kind: they are removed first and moved last."""
INDICES = frozenset(name for names in INDEX.values() for name in names)
RUN_FILES = (RESULT_FILE, LOG_FILE, TIMELINE_FILE, BLOCKS_FILE, SLOWEST_FILE)
OF_FOLDERS = (MANIFEST, DEFINITION_FILE, QUESTIONS_FILE, *RUN_FILES)
"""Files written to a result folder itself, not to the hidden folder in it."""


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Writes `value` as JSON, completely or not at all."""
    _core.write_file(path, json_text(value) + "\n")


def make_folder(folder: Path) -> None:
    """Makes a folder and its parents.

    Raises:
        FileError: a folder cannot be made.
    """
    with file_errors("write", folder):
        folder.mkdir(parents=True, exist_ok=True)


def check_folder(folder: Path) -> None:
    """Checks that a folder exists or can be made, before work whose results go there. Makes nothing.

    Raises:
        FileError: it, or the part of its path that exists, is a file, or cannot be written to.
    """
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    with file_errors("write", folder):
        if not there.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(there, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


LONGEST_NAME = 120
"""Maximum length, bytes, of a folder's name without its hash. File systems allow 255."""
UNSAFE = re.compile(r"[^\w.+,=-]+", re.ASCII)
"""Characters that are replaced in names of folders."""


def folder_name(shown: str, exact: str | None = None) -> str:
    """Builds the name of a subfolder for any text. It never leads to another place, and different texts give different names.

    Args:
        shown: text that the name is made from. It is used unchanged if it has only letters, digits and `_.+,=-`, does not begin with a dot,
            and is short enough.
        exact: text that identifies the folder, if `shown` does not. If the name differs from `exact`, it ends with eight digits of the hash
            of `exact`.
    """
    exact = shown if exact is None else exact
    name = UNSAFE.sub("-", shown)[:LONGEST_NAME]
    if name and name == exact and not name.startswith("."):
        return name
    digits = hashlib.sha256(exact.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{name.lstrip('-.')}-{digits}".lstrip("-")


def variant_folder(label: str) -> str:
    """The name of a variant's folder in a comparison. A scheme in a file is named after the file, without its folder."""
    shown = "+".join(Path(part).name for part in label.split("+"))
    return folder_name(shown if Path(shown).suffix not in (".json", ".html") else f"{shown}-", label)


def run_folder(folder: Path, label: str) -> Path:
    """The folder with a variant's results in a saved comparison. Earlier versions used the path of a file."""
    place = folder / variant_folder(label)
    return folder / label if not place.is_dir() and _is_below(label) else place


def final(path: Path) -> Path:
    """The final path of a file that is written to the hidden folder."""
    return Path(*(part for part in path.parts if part != STAGE))


def replaced_with(folder: Path | None) -> list[Path]:
    """The files that will be replaced by the results written to `folder`, if it is a hidden folder or below one; else none."""
    if folder is None or STAGE not in folder.parts:
        return []
    top = Path(*folder.parts[: folder.parts.index(STAGE)])
    return [top / name for name in _Set.found(top, REPLACEABLE).files]


def settle(folder: Path) -> None:
    """Completes a replacement in `folder` that a killed process left, or waits for one in progress. Call it before reading."""
    end = time.monotonic() + PATIENCE_S
    while _Set.listed(folder).replaces is not None:
        lock = _try_lock(folder)
        if lock is not None:
            with contextlib.closing(lock):
                _finish(folder)
        elif time.monotonic() > end:
            raise UsageError(f"{folder}: {holder(folder)} is replacing the results here: try again when it is done")
        else:
            time.sleep(0.01)


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Context in which no other process writes to a folder, for adding a file to the results in it.

    Raises:
        UsageError: another process writes to the folder.
    """
    lock = _lock(folder) if folder.is_dir() else None
    try:
        yield
    finally:
        if lock is not None:
            lock.close()


@dataclass(frozen=True)
class _Set:
    """A set of results: its kind, and its files relative to the folder, in the order in which they are moved."""

    kind: Kind | None = None
    files: tuple[str, ...] = ()
    replaces: tuple[str, ...] | None = None
    """Files of the old set, while it is being replaced."""

    @classmethod
    def listed(cls, folder: Path) -> _Set:
        """The set that the manifest lists; empty without a valid manifest."""
        try:
            data = json.loads((folder / MANIFEST).read_bytes())
            replaces = data.get("replaces")
            kind = data["kind"] if data["kind"] in INDEX else None
            return cls(kind, tuple(filter(_is_below, data["files"])), None if replaces is None else tuple(filter(_is_below, replaces)))
        except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return cls()

    @classmethod
    def found(cls, folder: Path, kinds_sought: Iterable[Kind]) -> _Set:
        """The set that exists: what the manifest lists or, without one, the index of a kind and the files of the runs that it names."""
        listed = cls.listed(folder)
        kind, names = listed.kind, list(listed.files)
        if kind is None:
            kinds = [kind for kind, index in INDEX.items() if all(_is_ours(folder / name) for name in index)]
            runs = [*(["."] if "run" in kinds else []), *_compared(folder)]
            names = [name for kind in kinds for name in INDEX[kind]]
            names += [str(PurePosixPath(run, name)) for run in runs for name in RUN_FILES]
            kind = kinds[0] if kinds else None
        if set(kinds_sought) <= set(REPLACEABLE):
            names.append(REPORT_FILE)  # may be from a later `ssdlab report`
        return cls(kind, _in_order(name for name in set(names) if os.path.lexists(folder / name)))

    def write(self, folder: Path) -> None:
        """Writes the set as the folder's manifest."""
        entries = {"kind": self.kind, "files": list(self.files), "replaces": None if self.replaces is None else list(self.replaces)}
        write_json(folder / MANIFEST, {key: entry for key, entry in entries.items() if entry is not None})


@dataclass
class ResultFolder:
    """A folder for results, or `None`. A context manager: no other process writes to the folder in its context.

        with ResultFolder(folder, "comparison") as out:
            ...                                 # runs go to `out.runs`, other files to `out.stage`
            out.commit()

    Without `commit` an earlier set is kept.

    Raises:
        UsageError: the folder holds results that this kind must not replace; on entry, also if another process writes there.
        FileError: on entry, if the folder cannot be made.
    """

    folder: Path | None
    kind: Kind
    _early: set[str] = field(default_factory=set)
    """Files that appear as soon as they are complete."""
    _lock: Lock | None = None
    _made: bool = False
    _is_new: bool = False
    """Whether the new set was moved to its place."""

    def __post_init__(self) -> None:
        self._old = _Set() if self.folder is None else self._look(self.folder)

    @property
    def stage(self) -> Path | None:
        """The hidden folder to write to."""
        return self.folder and self.folder / STAGE

    @property
    def runs(self) -> Path | None:
        """The folder for results of single runs: the final one, unless an earlier set is there."""
        return self.stage if self._old.files and self.kind != "sweep" else self.folder

    def __enter__(self) -> Self:
        if self.folder is None:
            return self
        self._made = not self.folder.exists()
        self._lock = _lock(self.folder)
        try:
            if _Set.listed(self.folder).replaces is not None:
                _finish(self.folder)
            _clear(self.folder / STAGE)
            _clear_partial(self.folder, OF_FOLDERS)
            runs, self._old = self.runs, self._look(self.folder)
            if runs != self.runs:
                raise UsageError(f"{self.folder}: another process has just written results here: start again, or choose another folder")
            _check_links(self.folder, self._old.files)
            make_folder(self.folder / STAGE)
        except BaseException:
            self._leave(self.folder)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.folder is not None:
            self._leave(self.folder)

    def claim(self, files: Iterable[Path]) -> None:
        """Registers files that will appear before the rest of the set, so that they are replaced with it later."""
        if self.folder is None:
            return
        files = list(files)
        inside = [file.is_relative_to(self.folder) and ".." not in file.relative_to(self.folder).parts for file in files]
        if not all(inside):
            outside = files[inside.index(False)]
            raise UsageError(f"{outside} is not in {self.folder}, where the results go: choose another name for what is written there")
        _check_links(self.folder, {file.relative_to(self.folder).as_posix() for file in files if STAGE not in file.parts})
        for place in {final(file.parent) for file in files} - {self.folder}:
            _clear_partial(place, RUN_FILES)
        if self.kind == "sweep":
            return
        names = {str(file.relative_to(self.folder)) for file in files if STAGE not in file.parts}
        if not names <= self._early:
            self._early |= names
            _Set(self.kind, tuple(sorted(self._early))).write(self.folder)

    def commit(self) -> None:
        """Replaces the earlier set with the new one. A set without its index cannot be opened, so the earlier one is kept in that case.

        Raises:
            FileError: the replacement failed. If no file was moved yet, the earlier set is unchanged.
        """
        if self.folder is None:
            return
        new = [str(file.relative_to(self.folder / STAGE)) for file in _files_below(self.folder / STAGE)]
        files = _in_order({*new, *self._still_there(self.folder)})
        if not files or (self.has_old and not all(name in new for name in INDEX[self.kind])):
            return
        _check_room(self.folder, new)
        self._early = set()
        _Set(self.kind, files, self._old.files).write(self.folder)
        try:
            _finish(self.folder)
        except FileError as reason:
            raise FileError(f"{reason} ({FINISHED_LATER})", reason.errno, os.fspath(self.folder)) from reason
        self._old, self._is_new = _Set(self.kind, files), True

    @property
    def has_old(self) -> bool:
        """Whether an earlier set is present and not replaced."""
        return self._old.kind is not None and not self._is_new

    def _look(self, folder: Path) -> _Set:
        _check_above(folder)
        group = REPLACEABLE if self.kind in REPLACEABLE else (self.kind,)
        with file_errors("write", folder):  # such as a name that is too long
            found = _Set.found(folder, group)
        if found.kind is not None and found.kind not in group:
            raise UsageError(f"{folder} holds {CALLED[found.kind]}, which {CALLED[self.kind]} must not replace: choose another folder")
        return found

    def _still_there(self, folder: Path) -> list[str]:
        return [name for name in self._early if (folder / name).is_file()]

    def _leave(self, folder: Path) -> None:
        """Removes incomplete files, and releases the lock."""
        with contextlib.suppress(OSError, UsageError):
            _finish(folder)  # completes a move that a signal interrupted; else it only removes the hidden folder
            if self._early:
                left = _in_order(self._still_there(folder))
                _Set(self.kind, left).write(folder) if left else (folder / MANIFEST).unlink(missing_ok=True)
        if self._made:
            for empty in (*sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True), folder):
                with contextlib.suppress(OSError):
                    empty.rmdir()
        if self._lock is not None:
            self._lock.close()


def _in_order(names: Iterable[str]) -> tuple[str, ...]:
    """File names sorted, with index files last."""
    return tuple(sorted(names, key=lambda name: (name in INDICES, name)))


def _check_room(folder: Path, names: Iterable[str]) -> None:
    """Raises an error if a file would replace a folder or a folder a file."""
    for name in names:
        place = folder / name
        wrong = [place] if place.is_dir() else [above for above in place.parents if above.is_relative_to(folder) and above.is_file()]
        if wrong:
            found, wanted = ("folder", "file") if wrong[0].is_dir() else ("file", "folder")
            raise UsageError(f"{wrong[0]} is a {found}, and a {wanted} of the results has that name: choose another folder")


def _check_above(folder: Path) -> None:
    """Raises an error if the folder is part of the results in a folder above it."""
    inside = folder.absolute()
    for above in list(inside.parents)[:DEEPEST]:
        name = inside.relative_to(above).as_posix()
        listed = _Set.listed(above)
        if listed.kind is not None and any(file.startswith(f"{name}/") for file in listed.files):
            raise UsageError(f"{folder} is a part of {CALLED[listed.kind]} in {above}: choose another folder")


DEEPEST = 3
"""Maximum depth of a file of a set below its folder: `npgc/seed-2/result.json`."""


def _check_links(folder: Path, names: Iterable[str]) -> None:
    """Raises an error if a symbolic link leads out of the folder: files elsewhere must not change."""
    parents = {STAGE, *(parent.as_posix() for name in names for parent in PurePosixPath(name).parents if parent.parts)}
    parents |= {f"{STAGE}/{parent}" for parent in parents - {STAGE}}
    link = next((folder / parent for parent in sorted(parents) if (folder / parent).is_symlink()), None)
    if link is not None:
        raise UsageError(f"{link} is a symbolic link, through which files outside of {folder} would change: remove it")


def _finish(folder: Path) -> None:
    """Completes the replacement in the manifest; does nothing if it is complete."""
    new, stage = _Set.listed(folder), folder / STAGE
    with file_errors("write", folder):
        if new.replaces is not None:
            _check_links(folder, (*new.files, *new.replaces))
            # a file that is no longer in the hidden folder was already moved
            staged = {name for name in new.files if (stage / name).is_file()}
            _remove(folder, [name for name in reversed(_in_order(new.replaces)) if name in staged or name not in new.files])
            for name in new.files:
                if name in staged:
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    (stage / name).replace(folder / name)
            _Set(new.kind, new.files).write(folder)
        _clear(stage)


def _remove(folder: Path, names: Iterable[str]) -> None:
    """Removes files, and folders that become empty."""
    parents = set()
    for name in names:
        with contextlib.suppress(IsADirectoryError, NotADirectoryError):
            (folder / name).unlink(missing_ok=True)
        parents |= set(PurePosixPath(name).parents) - {PurePosixPath()}
    for parent in sorted(parents, key=lambda parent: len(parent.parts), reverse=True):
        with contextlib.suppress(OSError):
            (folder / parent).rmdir()


def _clear(stage: Path) -> None:
    with file_errors("remove", stage):
        if stage.exists():
            shutil.rmtree(stage)


def _clear_partial(folder: Path, names: Iterable[str]) -> None:
    """Removes partial files of a killed process; the lock excludes other writers."""
    with contextlib.suppress(OSError):
        for name in names:
            for file in folder.glob(f".{name}??????.partial"):
                file.unlink()


def _files_below(stage: Path) -> Iterator[Path]:
    """The complete files in the hidden folder."""
    return (file for file in sorted(stage.rglob("*")) if file.is_file() and not file.name.endswith(".partial"))


def _is_below(name: object) -> bool:
    """Whether a name in a manifest stays inside the folder."""
    return isinstance(name, str) and bool(name) and not PurePosixPath(name).is_absolute() and ".." not in PurePosixPath(name).parts


def _is_ours(file: Path) -> bool:
    """Whether a file with the name of results may be results of a version without manifests, by the entries of its JSON."""
    if not file.is_file():
        return False
    needed = {RESULT_FILE: {"config", "digest"}, COMPARISON_FILE: {"runs"}}.get(file.name, set())
    try:
        found = json.loads(file.read_bytes()) if file.suffix == ".json" else {}
        return isinstance(found, dict) and needed <= found.keys()
    except (OSError, ValueError, RecursionError):
        return False


def _compared(folder: Path) -> list[str]:
    """The runs that a comparison's file names."""
    try:
        runs = json.loads((folder / COMPARISON_FILE).read_bytes())["runs"]
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return []
    return [run for run in runs if _is_below(run)]


# ---- Locks -------------------------------------------------------------------------------------------------------------------


def _lock(folder: Path) -> Lock:
    """Makes the folder and locks it."""
    while True:
        make_folder(folder)
        try:
            lock = _try_lock(folder)
        except FileNotFoundError:
            continue  # another process has just removed the empty folder
        if lock is None:
            raise UsageError(f"{folder}: {holder(folder)} writes its results here: wait for it, or choose another folder")
        return lock


def _try_lock(folder: Path) -> Lock | None:
    """Locks a folder; `None` if another process holds the lock."""
    try:
        return try_lock(folder)
    except FileNotFoundError:
        raise
    except OSError as reason:
        raise _file_error("open", folder, reason) from reason


@contextlib.contextmanager
def file_errors(what: str, folder: Path) -> Iterator[None]:
    """Converts an `OSError` to a `FileError` that names the folder."""
    try:
        yield
    except FileError:
        raise
    except OSError as reason:
        raise _file_error(what, folder, reason) from reason


def _file_error(what: str, folder: Path, reason: OSError) -> FileError:
    return FileError(f"{folder}: cannot {what}: {reason.strerror or reason}", reason.errno, os.fspath(folder))
