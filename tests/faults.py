"""Commands for fault tests: their arguments, the library that makes system calls fail, and conditions that must hold afterwards."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import pyarrow.parquet
import pytest

from conftest import BASE_FILE, DRIVE, MEASURED, PATIENCE_S, SMALL, SMALL_OPTIONS, options
from forks import Forks
from import_samples import FEMU
from nbd_client import FLUSH, TRIM, Client, RefusedError
from ssdlab.errors import Error
from ssdlab.system.checksums import CHECKSUM, is_sealed
from ssdlab.system.folders import MANIFEST, STAGE, settle

SOURCE = Path(__file__).parent / "faults.c"
KEYS = "".join(f'"{key}" = {value}\n' for key, value in SMALL.items())
TRACE = "timestamp_us,op,offset_bytes,size_bytes\n" + "".join(
    f"{100 * index},{'RW'[index % 2]},{4096 * (index % 50)},4096\n" for index in range(3000)
)
OWN_ORDER = "def oldest(choices):\n    return 0 if choices.ready_ns else None\n"
DRIVES = "drive,capacity_GB,bits,slc_GB,v1_GBps,v2_GBps,kind,channels\nSmall,1,3,0.1,3,1,S,1\n"
SWEEP = f'[set]\n{KEYS}[grid]\nrequests = [100, 200]\nscheme = ["npgc", "pgc"]\n'
STUDY = f"""title = "Own"
schemes = ["npgc", "pgc"]
seeds = [1, 2]
requests = 200
[set]
{KEYS}
[metrics]
mean = "latency_ns.all.mean"
[[rows]]
what = "mean"
value = "mean[pgc]"
[figure]
panels = ["mean"]
"""
RUN = [*SMALL_OPTIONS, "--requests", "300"]
BOTH = ["--scheme", "npgc", "--scheme", "pgc"]
SOCKET = "drive.sock"
SERVED = [*options(DRIVE), "--record", "record.csv", "--data", "bytes.img", "--log-requests"]
COMMANDS: Mapping[str, list[str]] = {
    "run": ["run", *RUN, "--out", "out", "--log-requests", "--timeline", "t.json.gz"],
    "run over others": ["run", *RUN, "--out", "both"],
    "compare": ["compare", *RUN, *BOTH, "--paired", "--out", "out"],
    "compare over others": ["compare", *RUN, "--scheme", "npgc", "--scheme", "rwp", "--out", "both", "--timelines"],
    "sweep": ["sweep", "grid.toml", "--out", "out", "--resume"],
    "sweep that goes on": ["sweep", "grid.toml", "--out", "swept", "--resume"],
    "report": ["report", "both", "--out", "page.html"],
    "why": ["why", "explained", "--slowest", "1"],
    "timeline": ["timeline", "seen.json.gz", "--out", "seen.html"],
    "import": ["import", "femu.sh", "--out", "imported"],
    "check": ["check", "demo-4g"],
    "plot": ["plot", "both", "latency_tail", "--out", "figure.svg"],
    "precondition": ["precondition", *SMALL_OPTIONS, "--set", "ftl.precondition.kind=soft", "--out", "warm.state"],
    "queueing": ["queueing", "--read-rate", "1", "--write-rate", "0.5", "--requests", "5000", "--out", "out"],
    "list": ["list", "schemes"],
    "arena list": ["arena", "list"],
    "arena run": ["arena", "run", "ours.py", "--kind", "order", "--quick"],
    "cliffs": ["cliffs", "drives.csv", "--out", "filled"],
    "show": ["show", "scheme", "pgc"],
    "schema": ["schema"],
    "trace info": ["trace", "info", "trace.csv"],
    "trace collections": ["trace", "collections"],
    "trace convert": ["trace", "convert", "trace.csv", "trace.parquet"],
    "trace convert over another": ["trace", "convert", "trace.csv", "old.csv.gz"],
    "trace sample": ["trace", "sample", "trace.csv", "part.csv", "--requests", "1000"],
    "study list": ["study", "list"],
    "study show": ["study", "show", "lee2013/fig10a"],
    "study run": ["study", "run", "./own.toml", "--out", "studies"],
    "study report": ["study", "report", "studies", "--out", "pages"],
    "artifact": ["artifact", "./own.toml", "--results", "studies", "--out", "kit"],
    "calibrate": ["calibrate", "measured.csv", "--base", "base.toml", "--out", "mine.toml"],
    "serve": ["serve", "--nbd", f"unix:{SOCKET}", "--scale", "0.01", *SERVED, "--out", "out", "--json", "--quiet"],
    "bug-report": ["bug-report", "both", "--out", "bug.md"],
}
"""Every command, for a folder from `make_world`. `trace record` needs a kernel and root, and has tests of its own."""
WRITING = [name for name in COMMANDS if set(COMMANDS[name]) & {"--out", "convert", "sample"}]


def started(words: list[str], folder: Path, **env: str) -> subprocess.Popen[str]:
    """Starts a command, and for `serve` the program that uses the drive."""
    command = [sys.executable, "-m", "ssdlab", *words]
    process = subprocess.Popen(command, cwd=folder, env=environment(env), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    use(words, process.pid)
    return process


def ended(words: list[str], folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end."""
    process = started(words, folder, **env)
    out, err = process.communicate(timeout=PATIENCE_S)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


class Commands:
    """Runs commands in processes that have already imported ssdlab; see `forks`.

    Args:
        library: library that makes system calls fail, if any.
        count: maximum number of commands at once.
    """

    def __init__(self, library: Path | None = None, count: int = 1) -> None:
        with_library = {} if library is None else {"LD_PRELOAD": str(library)}
        self._forks = [Forks(environment(with_library)) for _ in range(count)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for forks in self._forks:
            forks.close()

    def together(self, words: list[str], folder: Path, *, largest: int | None = None, **env: str) -> list[subprocess.CompletedProcess[str]]:
        """Runs a command `count` times in parallel, to the end; `largest`: maximum file size, bytes."""
        for forks in self._forks:
            use(words, forks.start(words, folder, env, largest))
        return [forks.end(PATIENCE_S) for forks in self._forks]

    def ended(self, words: list[str], folder: Path, *, largest: int | None = None, **env: str) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end; `largest`: maximum file size, bytes."""
        (done,) = self.together(words, folder, largest=largest, **env)
        return done

    def started(self, words: list[str], folder: Path) -> Started:
        """Starts a command; it must end before the next one is started."""
        number = self._forks[0].start(words, folder, {})
        use(words, number)
        return Started(self._forks[0], number)


class Started:
    """A running command with the interface of `subprocess.Popen`."""

    def __init__(self, forks: Forks, number: int) -> None:
        self.pid, self._forks = number, forks
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """`None` while the command runs; 0 after it ended, whatever its exit code."""
        try:
            about = Path(f"/proc/{self.pid}/stat").read_text()
        except OSError:
            return 0
        return 0 if about.rpartition(")")[2].split()[0] in "ZX" else None

    def send_signal(self, number: int) -> None:
        """Sends a signal to the command if it still runs."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def communicate(self, timeout: float) -> tuple[str, str]:
        """Waits for the command; returns its standard output and standard error."""
        done = self._forks.end(timeout)
        self.returncode = done.returncode
        return done.stdout, done.stderr


Process = subprocess.Popen[str] | Started
P = TypeVar("P", bound=Process)


def catches(process: Process) -> bool:
    """Whether a process handles SIGTERM; from then on the command reports interrupts."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return False
    caught = next((line for line in status.splitlines() if line.startswith("SigCgt:")), "SigCgt: 0")
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def listening(process: P) -> P:
    """Waits until the command handles signals, or has ended."""
    while process.poll() is None and not catches(process):
        time.sleep(0.0005)
    return process


def duration(process: Process) -> float:
    """Time during which a command handles signals, s."""
    begin = time.monotonic()
    process.communicate(timeout=PATIENCE_S)
    return time.monotonic() - begin


def use(words: list[str], process: int) -> None:
    """For `serve`, uses the drive and then sends Ctrl-C. Other commands end by themselves."""
    if words[0] == "serve":
        threading.Thread(target=_use, args=(process,), daemon=True).start()


def _use(process: int) -> None:
    with contextlib.suppress(OSError):  # the drive is gone
        client = _connected(process)
        for number in range(40):
            with contextlib.suppress(RefusedError):
                client.write(4096 * number, bytes([number]) * 4096)
                client.ask((FLUSH, TRIM)[number % 2], 0, 4096 * (number % 2))
                client.read(4096 * number, 4096)
        os.kill(process, signal.SIGINT)


def _connected(process: int) -> Client:
    """A client of the drive of this process, once it is ready; other drives at the same address are refused."""
    folder = Path(f"/proc/{process}/cwd")
    while folder.exists():
        with contextlib.suppress(OSError):
            client = Client(str(folder / SOCKET), agree=False)
            (owner,) = struct.unpack("i8x", client.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            if owner == process:
                client.agree()
                return client
            client.socket.close()
        time.sleep(0.005)
    raise ProcessLookupError


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """An environment in which a command writes no files except its own."""
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **more}


def make_world(folder: Path) -> None:
    """Creates the input files and earlier results that commands need."""
    folder.mkdir()
    (folder / "trace.csv").write_text(TRACE)
    (folder / "grid.toml").write_text(SWEEP)
    (folder / "own.toml").write_text(STUDY)
    (folder / "base.toml").write_text(BASE_FILE)
    (folder / "measured.csv").write_text(MEASURED)
    (folder / "femu.sh").write_text(FEMU)
    (folder / "ours.py").write_text(OWN_ORDER)
    (folder / "drives.csv").write_text(DRIVES)
    before = [
        ["compare", *SMALL_OPTIONS, "--requests", "100", *BOTH, "--out", "both"],
        ["run", *SMALL_OPTIONS, "--requests", "100", "--timeline", "seen.json.gz", "--out", "explained"],
        ["sweep", "grid.toml", "--out", "swept"],
        ["study", "run", "./own.toml", "--out", "studies"],
        ["trace", "sample", "trace.csv", "old.csv.gz", "--requests", "10"],
    ]
    for words in before:
        done = ended([*words, *([] if words[0] == "trace" else ["--quiet"])], folder)
        assert done.returncode == 0, done.stderr
    for point in ("requests=200,scheme=npgc", "requests=200,scheme=pgc"):
        for found in folder.glob("swept/*200*"):
            shutil.rmtree(found)
        assert not (folder / "swept" / point).exists()


def files(folder: Path, *, hidden: bool = False) -> dict[str, bytes]:
    """The visible files in a world, or the hidden ones: partial files and incomplete sets."""
    found = {}
    for path in folder.rglob("*"):
        is_hidden = path.name.endswith(".partial") or STAGE in path.parts
        if path.is_file() and path.name != MANIFEST and is_hidden == hidden:
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found


def state(folder: Path) -> str:
    """A hash of everything in a world that a command can read: files, visible and hidden, their contents, and their order by time."""
    found, times = hashlib.sha256(), []
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        is_file, name = stat.S_ISREG(about.st_mode), path.relative_to(folder).as_posix()
        content = path.read_bytes() if is_file else path.readlink() if path.is_symlink() else None
        found.update(repr((name, about.st_mode, content)).encode())
        if is_file:
            times.append((about.st_mtime_ns, name))
    found.update(repr([name for _, name in sorted(times)]).encode())
    return found.hexdigest()


def is_whole(name: str, content: bytes) -> bool:
    """Whether a file is complete, by its format."""
    ending = Path(name).suffix
    # The bytes of a drive, which is empty before it is used; and a journal, whose last line may be cut off.
    if ending in {".img", ".jsonl"}:
        return True
    try:
        if ending == ".json":
            value = json.loads(content)
            return CHECKSUM not in value or is_sealed(value)
        if ending == ".gz":
            return bool(gzip.decompress(content))
        if ending == ".parquet":
            return pyarrow.parquet.read_table(io.BytesIO(content)).num_columns > 0
    except (ValueError, EOFError, OSError):
        return False
    ends = {
        ".html": b"</html>\n",
        ".svg": b"</svg>\n",
        ".png": b"IEND\xaeB`\x82",
        ".csv": b"\n",
        ".toml": b"\n",
        ".py": b"\n",
        ".md": b"\n",
    }
    return bool(content) and content.endswith(ends.get(ending, b""))


GOING_ON = {"record.csv.state", "mine.runs.jsonl", *(f"mine.partial.{ending}" for ending in ("toml", "rows.json", "svg", "png"))}
"""Files from which a command goes on: a drive keeps the state from which its recording starts, a calibration the runs that have
ended, and what it has found so far."""


@dataclass(frozen=True)
class World:
    """The files around a command before it and after its success."""

    name: str
    folder: Path
    before: Mapping[str, bytes]
    after: Mapping[str, bytes]
    out: str
    """Last line of the command's standard output."""
    duration_s: float
    """Time during which the command handled signals."""

    @classmethod
    def of(cls, name: str, template: Path, folder: Path) -> World:
        """Runs the command once without a fault."""
        shutil.copytree(template, folder)
        before = files(folder)
        process = listening(started(COMMANDS[name], folder))
        begin = time.monotonic()
        out, err = process.communicate(timeout=PATIENCE_S)
        duration_s = time.monotonic() - begin
        assert (process.returncode, err) == (0, "") or name == "artifact", err
        after = files(folder)
        assert all(is_whole(file, content) for file, content in after.items()), name
        assert not files(folder, hidden=True)
        return cls(name, folder, before, after, out.splitlines()[-1] if out else "", duration_s)

    @property
    def words(self) -> list[str]:
        """The words of the command."""
        return COMMANDS[self.name]

    def problems(self, folder: Path) -> list[str]:
        """Problems in a copy of the world after a fault: incomplete files, and lost earlier files."""
        for place in {path.parent for path in folder.rglob(MANIFEST)}:
            try:
                settle(place)
            except Error as error:
                return [f"{place} cannot be settled: {error}"]
        now = files(folder)
        wrong = [
            f"{name} is not whole" for name, content in now.items() if content != self.before.get(name) and not is_whole(name, content)
        ]
        wrong += [f"{name} is not of this command" for name in now if name not in {*self.before, *self.after, *GOING_ON}]
        if not self._came(now):
            wrong += [f"{name} is lost, and what takes its place is not there" for name in self.before if name not in now]
        return wrong

    def _came(self, now: Mapping[str, bytes]) -> bool:
        """Whether any file of the new set is present."""
        return any(name in now and now[name] != self.before.get(name) for name in self.after)

    def is_complete(self, folder: Path) -> bool:
        """Whether all files of the command are present."""
        return set(files(folder)) - GOING_ON == set(self.after)


def one_line(text: str) -> str | None:
    """The problem with the standard error of a failed or interrupted command; `None` if it is a single error line."""
    lines = [line for line in text.splitlines() if not line.startswith("warning: ")]
    if len(lines) != 1 or not lines[0].startswith("error: "):
        return f"not one line: {text!r}"
    return next((f"{word}: {text!r}" for word in ("Traceback", "internal error", "panicked") if word in text), None)


def claimed(text: str) -> int:
    """The number of finished runs that an interrupted command reported."""
    found = re.search(r"(\d+) of \d+ (?:runs|points)", text)
    return int(found[1]) if found else 0


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that makes system calls fail."""
    compiler = next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)
    if compiler is None:
        pytest.skip("no C compiler, which builds the library that makes system calls fail")
    built = tmp_path_factory.mktemp("library") / "faults.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", built, SOURCE, "-ldl"], check=True)
    return built


def with_fault(library: Path, note: Path, kind: str, at: int, errno: int = 0) -> dict[str, Any]:
    """The environment in which the `at`-th call that changes a file fails."""
    note.unlink(missing_ok=True)
    return {
        "LD_PRELOAD": str(library),
        "FAULT_NOTE": str(note),
        "FAULT_KIND": kind,
        "FAULT_AT": str(at),
        "FAULT_ERRNO": str(errno),
    }
