"""Folders of results: held by one process at a time, and replaced as a whole.

What a command writes lies in a hidden folder (`STAGE`) inside the folder asked for until all of it is there. Then `.ssdlab.json`
(`MANIFEST`), which lists what ssdlab wrote, is replaced by one that names the new files and the old ones: from there on the new set counts,
and whoever looks next finishes the move if the process was killed. First the old files go, then the new ones come, so that files of both
never lie beside each other. What the manifest does not list is not ours and stays.

Where no earlier results are in the way, those of single runs appear as soon as each is there, so that they are kept even if the process is
killed; points of a sweep always do.
"""

from __future__ import annotations

import contextlib
import fcntl
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
from ssdlab.json_text import json_text

__all__ = [
    "ARTIFACT_FILE",
    "COMPARISON_FILE",
    "DEFINITION_FILE",
    "LOG_FILE",
    "QUEUEING_FILE",
    "REPORT_FILE",
    "RESULT_FILE",
    "STUDY_FILE",
    "SWEEP_TABLES",
    "TIMELINE_FILE",
    "Kind",
    "ResultFolder",
    "final",
    "folder_name",
    "held",
    "make_folder",
    "replaced_with",
    "run_folder",
    "said",
    "scheme_folder",
    "settle",
    "write_json",
]

RESULT_FILE = "result.json"
COMPARISON_FILE = "comparison.json"
LOG_FILE = "requests.parquet"
REPORT_FILE = "report.html"
TIMELINE_FILE = "timeline.json.gz"
"""Of each scheme of a comparison."""
QUEUEING_FILE = "queueing.json"
STUDY_FILE = "study.json"
SWEEP_TABLES = ("results.parquet", "results.csv")
ARTIFACT_FILE = "artifact.json"

DEFINITION_FILE = "sweep.toml"
MANIFEST = ".ssdlab.json"
STAGE = ".ssdlab-new"
FINISHED_LATER = "the new results are complete in .ssdlab-new: the next ssdlab command that opens the folder moves them"
PATIENCE_S = 10.0
"""For another process to finish moving its results, which takes it milliseconds."""

Kind = Literal["run", "comparison", "queueing", "study", "sweep", "artifact"]
REPLACEABLE: tuple[Kind, ...] = ("run", "comparison", "queueing")
"""They take each other's place. Studies, sweeps and artifact kits are longer work: only their like goes there."""
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
"""By kind, the files that say what else there is: the first to go, the last to come."""
INDICES = frozenset(name for names in INDEX.values() for name in names)
RUN_FILES = (RESULT_FILE, LOG_FILE, TIMELINE_FILE)
OF_FOLDERS = (MANIFEST, DEFINITION_FILE, *RUN_FILES)
"""What is written to a folder of results itself, not to the hidden one in it."""
FIGURES = ("figure.svg", "figure.png")
PRIORITIES, SERIES = ("rwp", "cep", "fifo"), ("requests", "collections", "copies")
UNLISTED: dict[Kind, tuple[str, ...]] = {
    "comparison": (COMPARISON_FILE,),
    "run": RUN_FILES,
    "queueing": (QUEUEING_FILE, *FIGURES, *(f"{run}/{table}.parquet" for run in PRIORITIES for table in SERIES)),
    "study": (STUDY_FILE, *FIGURES, *(f"runs/*/{name}" for name in RUN_FILES)),
    "sweep": SWEEP_TABLES,
    "artifact": (),
}
"""By kind, what a version without manifests wrote (of a comparison also `RUN_FILES` for each run that its file names)."""


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Writes `value`, whole or not at all."""
    _core.write_file(path, json_text(value) + "\n")


def make_folder(folder: Path) -> None:
    """Makes a folder and those above it.

    Raises:
        FileError: it cannot be made.
    """
    with said("write", folder):
        folder.mkdir(parents=True, exist_ok=True)


LONGEST_NAME = 120
"""Bytes of a folder's name without its hash. File systems take 255."""
UNSAFE = re.compile(r"[^\w.+,=-]+", re.ASCII)
"""Characters that no name of a folder has."""


def folder_name(shown: str, exact: str | None = None) -> str:
    """A name for one folder inside another, whatever the text: it never leads elsewhere, and other texts get other names.

    Args:
        shown: what the folder is called after. It is the name itself if it has only letters, digits and `_.+,=-`, begins with no dot, and
            is not too long.
        exact: a text that tells the folder from others, if `shown` alone does not. Where the name is not `exact` itself, it ends with eight
            digits of the hash of `exact`.
    """
    exact = shown if exact is None else exact
    name = UNSAFE.sub("-", shown)[:LONGEST_NAME]
    if name and name == exact and not name.startswith("."):
        return name
    digits = hashlib.sha256(exact.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{name.lstrip('-.')}-{digits}".lstrip("-")


def scheme_folder(scheme: str) -> str:
    """The name of the folder that has a scheme's results in those of a comparison; a file is called by its name without its folder."""
    return folder_name("+".join(Path(part).name for part in scheme.split("+")), scheme)


def run_folder(folder: Path, scheme: str) -> Path:
    """Where a saved comparison has the results of a scheme; earlier versions kept those of a file under its path."""
    place = folder / scheme_folder(scheme)
    return folder / scheme if not place.is_dir() and _is_below(scheme) else place


def final(path: Path) -> Path:
    """Where a file will be that is written to the hidden folder."""
    return Path(*(part for part in path.parts if part != STAGE))


def replaced_with(folder: Path | None) -> list[Path]:
    """What goes when the results come that are being written to `folder`, a hidden folder or below one; else nothing."""
    if folder is None or STAGE not in folder.parts:
        return []
    top = Path(*folder.parts[: folder.parts.index(STAGE)])
    return [top / name for name in _Set.found(top, REPLACEABLE).files]


def settle(folder: Path) -> None:
    """Before `folder` is read: finishes a replacement that a killed process began; waits for one that goes on."""
    end = time.monotonic() + PATIENCE_S
    while _Set.listed(folder).replaces is not None:
        lock = _try_lock(folder)
        if lock is not None:
            with contextlib.closing(lock):
                _finish(folder)
        elif time.monotonic() > end:
            raise UsageError(f"{folder}: {_holder(folder)} is replacing the results here: try again when it is done")
        else:
            time.sleep(0.01)


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """While a file is added to the results in a folder: no other process writes there.

    Raises:
        UsageError: another one does.
    """
    lock = _lock(folder) if folder.is_dir() else None
    try:
        yield
    finally:
        if lock is not None:
            lock.close()


@dataclass(frozen=True)
class _Set:
    """A set of results: what it is, and its files, relative to the folder, in the order in which they come."""

    kind: Kind | None = None
    files: tuple[str, ...] = ()
    replaces: tuple[str, ...] | None = None
    """While it takes an old set's place: the files of that."""

    @classmethod
    def listed(cls, folder: Path) -> _Set:
        """What the manifest lists; nothing if there is none, or it is not as ssdlab wrote it."""
        try:
            data = json.loads((folder / MANIFEST).read_bytes())
            replaces = data.get("replaces")
            kind = data["kind"] if data["kind"] in INDEX else None
            return cls(kind, tuple(filter(_is_below, data["files"])), None if replaces is None else tuple(filter(_is_below, replaces)))
        except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return cls()

    @classmethod
    def found(cls, folder: Path, kinds_sought: Iterable[Kind]) -> _Set:
        """What is there, listed or known by its name, as versions without manifests left it."""
        listed = cls.listed(folder)
        kind, names = listed.kind, list(listed.files)
        if kind is None:
            kinds = [kind for kind, index in INDEX.items() if all((folder / name).is_file() for name in index)]
            names = [str(file.relative_to(folder)) for kind in kinds for name in UNLISTED[kind] for file in folder.glob(name)]
            names += [f"{run}/{name}" for run in _compared(folder) for name in RUN_FILES]
            kind = kinds[0] if kinds else None
        if set(kinds_sought) <= set(REPLACEABLE):
            names.append(REPORT_FILE)  # `ssdlab report` may have made it later
        return cls(kind, _in_order(name for name in set(names) if os.path.lexists(folder / name)))

    def write(self, folder: Path) -> None:
        """Makes this the folder's manifest."""
        entries = {"kind": self.kind, "files": list(self.files), "replaces": None if self.replaces is None else list(self.replaces)}
        write_json(folder / MANIFEST, {key: entry for key, entry in entries.items() if entry is not None})


@dataclass
class ResultFolder:
    """A folder for results, or none (`None`). A context manager: while it lasts no other process writes there.

        with ResultFolder(folder, "comparison") as out:
            ...                                 # runs go to `out.runs`, all else to `out.stage`
            out.commit()

    Without `commit` an earlier set stays as it was.

    Raises:
        UsageError: if the folder holds work that such results must not replace; when entered, if another process writes there.
        FileError: when entered, if it cannot be made.
    """

    folder: Path | None
    kind: Kind
    _early: set[str] = field(default_factory=set)
    """Files that appear as soon as they are there."""
    _lock: _Lock | None = None
    _made: bool = False
    _is_new: bool = False
    """Whether what was written is in its place."""

    def __post_init__(self) -> None:
        self._old = _Set() if self.folder is None else self._look(self.folder)

    @property
    def stage(self) -> Path | None:
        """Where to write; it will be moved."""
        return self.folder and self.folder / STAGE

    @property
    def runs(self) -> Path | None:
        """Where results of single runs go: at once to where they belong, unless an old set is there."""
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
                raise UsageError(f"{self.folder}: other results have come here just now: start again, or choose another folder")
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
        """Notes which files will appear before the rest of the set, so that they go with it one day."""
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
        """Puts what was written in the place of what was there. A set without its index could not be opened: the old one stays then.

        Raises:
            FileError: if that cannot be done; before the first file was moved, the old set is still there.
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
        """Whether an earlier set is still there."""
        return self._old.kind is not None and not self._is_new

    def _look(self, folder: Path) -> _Set:
        _check_above(folder)
        group = REPLACEABLE if self.kind in REPLACEABLE else (self.kind,)
        with said("write", folder):  # such as a name that is too long
            found = _Set.found(folder, group)
        if found.kind is not None and found.kind not in group:
            raise UsageError(f"{folder} holds {CALLED[found.kind]}, which {CALLED[self.kind]} must not replace: choose another folder")
        return found

    def _still_there(self, folder: Path) -> list[str]:
        return [name for name in self._early if (folder / name).is_file()]

    def _leave(self, folder: Path) -> None:
        """Takes out what was not finished."""
        with contextlib.suppress(OSError, UsageError):
            _finish(folder)  # also what a signal came between; else there is only the hidden folder to take out
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
    """What says what else there is comes last."""
    return tuple(sorted(names, key=lambda name: (name in INDICES, name)))


def _check_room(folder: Path, names: Iterable[str]) -> None:
    """Raises an error where a file is to come and a folder is, or the other way round."""
    for name in names:
        place = folder / name
        wrong = [place] if place.is_dir() else [above for above in place.parents if above.is_relative_to(folder) and above.is_file()]
        if wrong:
            found, wanted = ("folder", "file") if wrong[0].is_dir() else ("file", "folder")
            raise UsageError(f"{wrong[0]} is a {found}, and a {wanted} of the results has that name: choose another folder")


def _check_above(folder: Path) -> None:
    """Raises an error if the folder belongs to the results of a folder above it, which would then be of two commands."""
    inside = folder.absolute()
    for above in list(inside.parents)[:DEEPEST]:
        name = inside.relative_to(above).as_posix()
        listed = _Set.listed(above)
        if listed.kind is not None and any(file.startswith(f"{name}/") for file in listed.files):
            raise UsageError(f"{folder} is a part of {CALLED[listed.kind]} in {above}: choose another folder")


DEEPEST = 3
"""So many folders below its own lies a file of a set at the most: `npgc/seed-2/result.json`."""


def _check_links(folder: Path, names: Iterable[str]) -> None:
    """Raises an error if a link leads out of the folder: results may come from others, and must change nothing elsewhere."""
    parents = {STAGE, *(parent.as_posix() for name in names for parent in PurePosixPath(name).parents if parent.parts)}
    parents |= {f"{STAGE}/{parent}" for parent in parents - {STAGE}}
    link = next((folder / parent for parent in sorted(parents) if (folder / parent).is_symlink()), None)
    if link is not None:
        raise UsageError(f"{link} is a symbolic link, through which files outside of {folder} would change: remove it")


def _finish(folder: Path) -> None:
    """Does what is left to do of a replacement that the manifest tells of; done twice it is done."""
    new, stage = _Set.listed(folder), folder / STAGE
    with said("write", folder):
        if new.replaces is not None:
            _check_links(folder, (*new.files, *new.replaces))
            # A new file that is no longer in the hidden folder has its place already.
            staged = {name for name in new.files if (stage / name).is_file()}
            _remove(folder, [name for name in reversed(_in_order(new.replaces)) if name in staged or name not in new.files])
            for name in new.files:
                if name in staged:
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    (stage / name).replace(folder / name)
            _Set(new.kind, new.files).write(folder)
        _clear(stage)


def _remove(folder: Path, names: Iterable[str]) -> None:
    """Removes files, and the folders that are empty then."""
    parents = set()
    for name in names:
        with contextlib.suppress(IsADirectoryError, NotADirectoryError):
            (folder / name).unlink(missing_ok=True)
        parents |= set(PurePosixPath(name).parents) - {PurePosixPath()}
    for parent in sorted(parents, key=lambda parent: len(parent.parts), reverse=True):
        with contextlib.suppress(OSError):
            (folder / parent).rmdir()


def _clear(stage: Path) -> None:
    with said("remove", stage):
        if stage.exists():
            shutil.rmtree(stage)


def _clear_partial(folder: Path, names: Iterable[str]) -> None:
    """Removes what a killed process began of these files; nobody else writes here now."""
    with contextlib.suppress(OSError):
        for name in names:
            for file in folder.glob(f".{name}??????.partial"):
                file.unlink()


def _files_below(stage: Path) -> Iterator[Path]:
    """What was written there, but for files that are not finished."""
    return (file for file in sorted(stage.rglob("*")) if file.is_file() and not file.name.endswith(".partial"))


def _is_below(name: object) -> bool:
    """Whether a name of a manifest stays within the folder."""
    return isinstance(name, str) and bool(name) and not PurePosixPath(name).is_absolute() and ".." not in PurePosixPath(name).parts


def _compared(folder: Path) -> list[str]:
    """The runs that a comparison's file names."""
    try:
        runs = json.loads((folder / COMPARISON_FILE).read_bytes())["runs"]
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return []
    return [run for run in runs if _is_below(run)]


# ---- Locks -------------------------------------------------------------------------------------------------------------------


class _Lock:
    """A lock on an open folder. The system releases it when the process ends, however it ends."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def close(self) -> None:
        os.close(self._descriptor)


def _lock(folder: Path) -> _Lock:
    """Makes the folder and locks it."""
    while True:
        make_folder(folder)
        try:
            lock = _try_lock(folder)
        except FileNotFoundError:
            continue  # a process that left it empty has just removed it
        if lock is None:
            raise UsageError(f"{folder}: {_holder(folder)} writes its results here: wait for it, or choose another folder")
        return lock


def _try_lock(folder: Path) -> _Lock | None:
    """Locks a folder; `None` if another process has done so."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        raise
    except OSError as reason:
        raise _file_error("open", folder, reason) from reason
    lock = _Lock(descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        same = os.path.samestat(os.fstat(descriptor), folder.stat())
    except BlockingIOError:
        lock.close()
        return None
    except FileNotFoundError:
        lock.close()
        raise
    except OSError:
        return lock  # a file system without locks
    if not same:
        lock.close()
        raise FileNotFoundError(folder)
    return lock


def _holder(folder: Path) -> str:
    """Who has locked a folder, as Linux tells."""
    with contextlib.suppress(OSError, ValueError):
        status = folder.stat()
        place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            found = re.match(rf"\d+: FLOCK +ADVISORY +WRITE +(\d+) {place} ", line)
            if found:
                return "this process" if int(found[1]) == os.getpid() else f"process {found[1]}"
    return "another process"


@contextlib.contextmanager
def said(what: str, folder: Path) -> Iterator[None]:
    """An error of the system as one of ours, which names the folder."""
    try:
        yield
    except FileError:
        raise
    except OSError as reason:
        raise _file_error(what, folder, reason) from reason


def _file_error(what: str, folder: Path, reason: OSError) -> FileError:
    return FileError(f"{folder}: cannot {what}: {reason.strerror or reason}", reason.errno, os.fspath(folder))
