"""Faults at random instants of every command: signals, disk errors, other processes, clock steps.

After each fault there is one clear message, no partial file, and nothing is lost that existed before or was reported as done. `make faults`
tries many instants (`FAULTS`, by default one for each command and kind), `SEED` others.

The first signals are sent to commands in processes of their own, so that some arrive during imports. Other faults are tried on children of
a process that has imported ssdlab (`forks`), which start at once. If a fault leaves the same state as an earlier one, the command is known
to continue from it.
"""

from __future__ import annotations

import errno
import functools
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import ssdlab
from conftest import PATIENCE_S, SMALL, fill
from faults import (
    COMMANDS,
    WRITING,
    Commands,
    Process,
    World,
    claimed,
    duration,
    ended,
    environment,
    files,
    is_whole,
    library,
    listening,
    make_world,
    one_line,
    started,
    state,
    with_fault,
)
from shares import SEED
from ssdlab.cli.parts import PARTS
from ssdlab.system import folders

__all__ = ["library"]  # the fixture

TIMES = int(os.environ.get("FAULTS", "1"))
NEVER = 10**9
STATES = {"bytes.img.state"}
"""Files that a served drive may end without, with a warning: the next drive on its data then starts as after a kill."""
WITH_A_START = 20
"""Number of signals of a kind that are sent to separate processes; the others are sent to children of a process that has imported
ssdlab."""
ERRORS = (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES)
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
Made = Callable[[str], World]

# All tests of one command follow each other, since they share its world.
each = pytest.mark.parametrize("name", COMMANDS, scope="module")
each_writing = pytest.mark.parametrize("name", WRITING, scope="module")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The initial files of all commands."""
    folder = tmp_path_factory.mktemp("template") / "world"
    make_world(folder)
    return folder


@pytest.fixture(scope="module")
def world(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The world of each command, with its files before and after."""
    known: dict[str, World] = {}

    def made(name: str) -> World:
        if name not in known:
            known[name] = World.of(name, template, tmp_path_factory.mktemp("after") / "world")
        return known[name]

    return made


@pytest.fixture
def fresh(template: Path, tmp_path: Path) -> Callable[[], Path]:
    """Makes copies of the world, one at a time."""

    def made() -> Path:
        folder = tmp_path / "world"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(template, folder)
        return folder

    return made


@pytest.fixture(scope="module")
def commands() -> Iterator[Commands]:
    """Runs commands without faults."""
    with Commands() as found:
        yield found


@pytest.fixture(scope="module")
def two() -> Iterator[Commands]:
    """Runs a command twice in parallel."""
    with Commands(count=2) as found:
        yield found


@pytest.fixture(scope="module")
def failing(library: Path) -> Iterator[Commands]:
    """Runs commands with failing system calls."""
    with Commands(library) as found:
        yield found


class GoesOn:
    """Checks that a command continues from the state after a fault to the same end, once for equal states."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands
        self._shown: set[tuple[str, str]] = set()

    def __call__(self, there: World, folder: Path, what: str) -> None:
        """Runs the command again."""
        left = there.name, state(folder)
        if left in self._shown:
            return
        done = self._commands.ended(there.words, folder)
        assert done.returncode == 0, (what, done.stderr)
        assert there.is_complete(folder), (what, set(files(folder)) ^ set(there.after))
        # In folders of results; elsewhere their owner is unknown.
        parts = [name for name in files(folder, hidden=True) if ((folder / name).parent / folders.MANIFEST).is_file()]
        assert parts == [], what
        self._shown.add(left)


@pytest.fixture(scope="module")
def again(commands: Commands) -> GoesOn:
    """A check that commands continue after faults; see `GoesOn`."""
    return GoesOn(commands)


def instants(name: str, kind: object) -> random.Random:
    """Random numbers for one test."""
    return random.Random(f"{SEED} {name} {kind}")


# ---- Signals -------------------------------------------------------------------------------------------------------------------------


def test_every_command_is_among_those_that_meet_faults() -> None:
    there = {" ".join(words[: 2 if words[0] in ("arena", "trace", "study") else 1]) for words in COMMANDS.values()}
    every = {
        " ".join(filter(None, (name, below))) for name, part in PARTS.items() for below in (*part.below, *([] if part.below else [""]))
    }
    # The first needs root and a device, the second writes nothing: `test_explore.py` ends it by signals.
    assert there == every - {"trace record", "explore"}


@each
def test_a_signal_at_any_instant_leaves_nothing_half_done(
    name: str, world: Made, fresh: Callable[[], Path], commands: Commands, again: GoesOn
) -> None:
    there = world(name)
    starts: list[Callable[[list[str], Path], Process]] = [started] if TIMES <= WITH_A_START else [started, commands.started]
    longest = [there.duration_s, *(duration(listening(start(there.words, fresh()))) for start in starts[1:])]
    hits = 0
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        numbers = instants(name, number)
        for turn in range(TIMES):
            kind = int(turn >= WITH_A_START)
            folder, after_s = fresh(), numbers.uniform(0, longest[kind])
            process = listening(starts[kind](there.words, folder))
            time.sleep(after_s)
            process.send_signal(number)
            out, err = process.communicate(timeout=PATIENCE_S)
            what = f"{name}, signal {number} after {after_s:.3f} s: code {process.returncode}: {err}"
            hits += process.returncode != 0
            if process.returncode == 0:
                assert there.is_complete(folder), what
            elif number == signal.SIGKILL:
                assert process.returncode == -signal.SIGKILL, what
                assert there.out not in out or not there.out or there.is_complete(folder), what
            else:
                assert process.returncode == CODES[number], what
                assert one_line(err) is None, what
                assert not files(folder, hidden=True), what
                assert claimed(err) <= sum(path.endswith("/result.json") for path in files(folder)), what
            assert there.problems(folder) == [], what
            again(there, folder, what)
    assert hits or TIMES < 10, f"{name}: no signal came in time"


# ---- Disks that fail -----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def calls(template: Path, tmp_path_factory: pytest.TempPathFactory, failing: Commands, library: Path) -> Callable[[str], int]:
    """The number of calls of a command that change a file, counted once."""

    @functools.cache
    def counted(name: str) -> int:
        folder = tmp_path_factory.mktemp("calls")
        note = folder / "note"
        shutil.copytree(template, folder / "world")
        done = failing.ended(COMMANDS[name], folder / "world", **with_fault(library, note, "once", NEVER))
        assert done.returncode == 0, done.stderr
        return max((int(line.split()[0]) for line in note.read_text().splitlines()), default=0) if note.exists() else 0

    return counted


def some(name: str, kind: str, count: int) -> list[int]:
    """Some of the calls, including the first; all of them if there are few."""
    every = range(1, count + 1)
    return list(every) if count <= TIMES else sorted({1, *instants(name, kind).sample(every, TIMES)})


@pytest.mark.parametrize("kind", ["full", "once"])
@each_writing
def test_a_disk_that_refuses_is_said_in_a_line(
    name: str, kind: str, world: Made, fresh: Callable[[], Path], failing: Commands, library: Path, calls: Callable[[str], int]
) -> None:
    """A disk that is full, over quota, read-only or broken, from any call on or at one call."""
    there, note, fired, failed = world(name), fresh().parent / "note", 0, 0
    for at in some(name, kind, calls(name)):
        number = instants(name, at).choice(ERRORS)
        folder = fresh()
        done = failing.ended(there.words, folder, **with_fault(library, note, kind, at, number))
        what = f"{name}: call {at} says {os.strerror(number)}: code {done.returncode}: {done.stderr}"
        fired += "fired" in note.read_text()
        failed += done.returncode != 0
        if done.returncode == 0:
            now = set(files(folder))
            lost = set(there.after) - now
            assert now <= set(there.after), what
            assert lost <= STATES, what
            assert all(f"{name}: cannot write" in done.stderr for name in lost), what
        else:
            assert done.returncode in (1, 2), what
            assert all(one_line(line) is None for line in done.stderr.splitlines() if not line.startswith("warning: ")), what
            assert done.stderr.strip(), what
        assert there.problems(folder) == [], what  # which finishes what the next command would
        assert kind == "once" or not files(folder, hidden=True), what
    assert fired
    assert failed or kind == "once"


@each_writing
def test_a_process_that_is_killed_between_two_changes_can_be_run_again(
    name: str, world: Made, fresh: Callable[[], Path], failing: Commands, again: GoesOn, library: Path, calls: Callable[[str], int]
) -> None:
    there, note = world(name), fresh().parent / "note"
    for at in some(name, "kill", calls(name)):
        folder = fresh()
        done = failing.ended(there.words, folder, **with_fault(library, note, "kill", at))
        what = f"{name}: killed in front of call {at}"
        assert done.returncode in (-signal.SIGKILL, 0), (what, done.stderr)
        assert done.returncode == 0 or "fired" in note.read_text(), what
        assert there.problems(folder) == [], what
        again(there, folder, what)


@each_writing
def test_files_that_may_not_grow_further_are_said_in_a_line(name: str, world: Made, fresh: Callable[[], Path], commands: Commands) -> None:
    there = world(name)
    largest = max(len(content) for file, content in there.after.items() if there.before.get(file) != content)
    for limit in (0, largest // 2, largest - 1):
        folder = fresh()
        done = commands.ended(there.words, folder, largest=limit)
        what = f"{name}: files of at most {limit} bytes: code {done.returncode}: {done.stderr}"
        assert done.returncode in (0, 1), what
        assert done.returncode == 0 or one_line(done.stderr.splitlines()[-1]) is None, what
        assert there.problems(folder) == [], what
        assert not files(folder, hidden=True), what


@pytest.mark.parametrize("name", ["run over others", "compare", "sweep", "study run", "artifact", "trace convert"])
def test_a_disk_that_is_full_in_truth(name: str, world: Made, fresh: Callable[[], Path], small_disk: Path) -> None:
    """A file system of 64 KiB of which nothing is left, or a little."""
    there = world(name)
    place = there.words[-1] if there.words[-2:-1] == ["--out"] or "convert" in there.words else "out"
    words = [str(small_disk / word) if word == place or (word == "out" and place == "out") else word for word in there.words]
    filler = fill(small_disk)
    for room in (0, 8192, 20480):
        folder = fresh()
        os.truncate(filler, filler.stat().st_size - room)
        done = ended(words, folder)
        assert done.returncode in (0, 1), done.stderr
        if done.returncode:
            assert "No space left on device" in done.stderr
        left = {name: content for name, content in files(small_disk).items() if name != "filler"}
        assert all(is_whole(name, content) for name, content in left.items()), left.keys()
        assert not files(small_disk, hidden=True)
        for other in small_disk.iterdir():
            if other != filler:
                shutil.rmtree(other) if other.is_dir() else other.unlink()
    assert filler.exists()


# ---- Inputs that change --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.zst", "parquet"])
def test_a_trace_that_is_cut_while_it_is_read_is_said_or_read_to_its_new_end(ending: str, template: Path, tmp_path: Path) -> None:
    whole = tmp_path / f"whole.{ending}"
    rows = 20_000 if ending == "parquet" else 60_000
    head = "timestamp_us,op,offset_bytes,size_bytes\n"
    (tmp_path / "source.csv").write_text(head + "".join(f"{100 * row},W,{4096 * (row * 7 % 999)},4096\n" for row in range(rows)))
    assert ended(["trace", "convert", "source.csv", whole.name], tmp_path).returncode == 0
    for share in instants("cut", ending).choices([0.0, 0.1, 0.5, 0.9, 0.999], k=max(TIMES, 3)):
        file = tmp_path / f"cut.{ending}"
        shutil.copyfile(whole, file)
        process = listening(started(["trace", "convert", file.name, "out.csv"], tmp_path))
        while process.poll() is None and not list(tmp_path.glob(".out.csv*.partial")):
            time.sleep(0.0005)
        os.truncate(file, int(file.stat().st_size * share))
        _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode in (0, 1), (share, err)
        assert process.returncode == 0 or one_line(err) is None, (share, err)
        assert (tmp_path / "out.csv").exists() == (process.returncode == 0)
        if process.returncode == 0:
            lines = (tmp_path / "out.csv").read_text().splitlines()
            assert len(lines) <= rows + 1
            assert all(line.count(",") == 3 for line in lines)
        (tmp_path / "out.csv").unlink(missing_ok=True)
        assert not files(tmp_path, hidden=True)


# ---- Two processes -------------------------------------------------------------------------------------------------------------------


@each_writing
def test_two_processes_that_write_one_output_leave_the_whole_of_one(
    name: str, world: Made, fresh: Callable[[], Path], two: Commands
) -> None:
    there = world(name)
    for _ in range(TIMES):
        folder = fresh()
        ends = two.together(there.words, folder)
        assert sorted(done.returncode for done in ends) in ([0, 0], [0, 2]), ends
        for done in ends:
            if done.returncode == 2:
                assert one_line(done.stderr) is None
                assert "choose another folder" in done.stderr
        assert there.is_complete(folder), set(files(folder)) ^ set(there.after)
        assert there.problems(folder) == []
        assert not files(folder, hidden=True)


# ---- Clocks that step ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["run", "compare", "sweep that goes on", "study run", "artifact"])
def test_a_wall_clock_that_steps_changes_nothing(name: str, world: Made, fresh: Callable[[], Path], library: Path) -> None:
    there, folder = world(name), fresh()
    day = {"LD_PRELOAD": str(library), "FAULT_CLOCK": "86400"}
    look = "import time; print(abs(time.time() - time.time()))"
    stepped = subprocess.run([sys.executable, "-c", look], env=environment(day), capture_output=True, text=True, check=True)
    assert float(stepped.stdout) > 86400
    done = ended(there.words, folder, **day)
    assert done.returncode == 0, done.stderr
    assert there.is_complete(folder)
    for file, content in files(folder).items():
        if file.endswith("result.json"):
            new, old = json.loads(content), json.loads(there.after[file])
            assert new["digest"] == old["digest"]
            assert 0 <= new["wall_s"] < PATIENCE_S
            assert 0 <= new["prepare_s"] < PATIENCE_S


def test_a_run_from_python_that_cannot_be_written_keeps_what_was_there(tmp_path: Path) -> None:
    first = ssdlab.run(set=SMALL, requests=50, out=tmp_path / "out")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(ssdlab.Error, match="cannot write: File too large"):
            ssdlab.run(set=SMALL, requests=60, out=tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert json.loads((tmp_path / "out" / "result.json").read_text())["digest"] == first["digest"]


# ---- Single mends --------------------------------------------------------------------------------------------------------------------


def test_parts_of_files_that_a_killed_process_left_are_removed_and_no_others(tmp_path: Path) -> None:
    left = [".result.jsonAb3dE6.partial", "..ssdlab.jsonAb3dE6.partial", "npgc/.result.jsonAb3dE6.partial"]
    kept = [".result.json.partial", ".mine.jsonAb3dE6.partial", "rwp/.result.jsonAb3dE6.partial"]
    for name in (*left, *kept):
        (tmp_path / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "out" / name).write_text("{")
    ssdlab.compare(schemes=["npgc"], set=SMALL, requests=50, out=tmp_path / "out")
    assert [name for name in left if (tmp_path / "out" / name).exists()] == []
    assert all((tmp_path / "out" / name).exists() for name in kept)


def test_results_that_cannot_be_moved_are_said_to_be_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ssdlab.run(set=SMALL, requests=50, out=tmp_path / "out")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(folders, "_remove", refuse)
        with pytest.raises(ssdlab.Error, match=f"cannot write: No space left on device .{folders.FINISHED_LATER}"):
            ssdlab.run(set=SMALL, requests=60, out=tmp_path / "out")
    folders.settle(tmp_path / "out")
    requests = json.loads((tmp_path / "out" / "result.json").read_text())["requests"]
    assert sum(requests.values()) == 60


def test_a_page_that_has_no_place_is_named(template: Path) -> None:
    done = ended(["study", "report", "studies", "--out", "trace.csv/pages"], template)
    assert done.returncode == 1
    assert done.stderr == "error: trace.csv/pages: cannot write: Not a directory\n"
