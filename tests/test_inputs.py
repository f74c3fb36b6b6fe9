"""Inputs that can be read only once: pipes and standard input, for every command that reads them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import DRIVE, DRIVE_OPTIONS, PATIENCE_S, Ssdlab
from ssdlab import queueing

HEADER = "timestamp_us,op,offset_bytes,size_bytes\n"
ROWS = 3000
TRACE = HEADER + "".join(f"{row * 400},{'RW'[row % 2]},{row * 7 % 100 * 4096:012},4096\n" for row in range(ROWS))
"""Longer than the buffer of a pipe and of a reader."""
READ_ONCE = f"note: /dev/stdin can be read only once: its {len(TRACE):,} bytes were copied to a temporary file\n"


def piped(*arguments: object, data: str = TRACE, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a command with `data` on standard input."""
    command = [sys.executable, "-m", "ssdlab", *map(str, arguments)]
    env = os.environ | environment
    return subprocess.run(command, input=data, capture_output=True, text=True, check=False, cwd=cwd, env=env, timeout=PATIENCE_S)


def counted(run: Mapping[str, Any]) -> int:
    """The number of requests in a result."""
    return int(run["latency_ns"]["all"]["count"])


def by_file(ssdlab_command: Ssdlab, folder: Path, *arguments: object) -> dict[str, Any]:
    (folder / "t.csv").write_text(TRACE)
    done = ssdlab_command(*arguments, "--trace", "t.csv", "--json")
    assert done.code == 0, done.err
    return done.json()


@contextmanager
def fifo(path: Path, data: str) -> Iterator[Path]:
    """A named pipe that passes `data` to its first reader."""
    os.mkfifo(path)

    def feed() -> None:
        with path.open("w") as pipe:
            pipe.write(data)

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    yield path
    feeder.join(timeout=PATIENCE_S)


@pytest.mark.parametrize("name", ["/dev/stdin", "-", "/proc/self/fd/0"])
def test_schemes_that_are_compared_all_get_the_whole_pipe(ssdlab_command: Ssdlab, tmp_path: Path, name: str) -> None:
    compare = ["compare", "--scheme", "npgc", "--scheme", "pgc", *DRIVE_OPTIONS]
    wanted = by_file(ssdlab_command, tmp_path, *compare)["runs"]
    done = piped(*compare, "--trace", name, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    assert {scheme: run["digest"] for scheme, run in runs.items()} == {scheme: run["digest"] for scheme, run in wanted.items()}
    assert all(counted(run) == ROWS for run in runs.values())
    assert done.stderr == READ_ONCE.replace("/dev/stdin", name.replace("-", "/dev/stdin"))


def test_a_device_is_fitted_to_a_pipe(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    run = ["run", "--device", "demo-4g", "--fit", "trace"]
    wanted = by_file(ssdlab_command, tmp_path, *run)
    done = piped(*run, "--trace", "-", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["digest"], result["fit"]) == (wanted["digest"], wanted["fit"])


def test_a_device_is_fitted_to_a_named_pipe_without_waiting_for_ever(tmp_path: Path) -> None:
    with fifo(tmp_path / "pipe", TRACE) as pipe:
        result = ssdlab.run(device="demo-4g", trace=pipe, fit="trace")
    assert counted(result) == ROWS
    with fifo(tmp_path / "other", HEADER + "0,R,0,4096\n") as pipe:
        assert counted(ssdlab.run(trace=pipe, set=DRIVE)) == 1


def test_a_pipe_is_read_anew_by_the_next_run(tmp_path: Path) -> None:
    """A named pipe may give something else each time."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for rows in (1, 2):
        feeder = threading.Thread(target=pipe.write_text, args=(HEADER + "0,R,0,4096\n" * rows,))
        feeder.start()
        runs = ssdlab.compare(schemes=["npgc", "pgc"], trace=pipe, set=DRIVE)
        feeder.join()
        assert [counted(run) for run in runs.values()] == [rows, rows]


def test_a_sweep_reads_a_pipe_once_for_all_points(tmp_path: Path) -> None:
    keys = "".join(f'"{key}" = {value}\n' for key, value in DRIVE.items())
    (tmp_path / "s.toml").write_text(f'trace = "/dev/stdin"\n[set]\n{keys}[grid]\nscheme = ["npgc", "pgc"]\n')
    done = piped("sweep", "s.toml", "--out", "out", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    points = [json.loads(file.read_text()) for file in sorted((tmp_path / "out").glob("*/result.json"))]
    assert [counted(point) for point in points] == [ROWS, ROWS]
    assert all("command" not in point for point in points), "no command repeats a run of a pipe"
    again = piped("sweep", "s.toml", "--out", "out", "--resume", cwd=tmp_path)
    assert "2 of 2 points were there already" in again.stdout, again.stderr
    other = piped("sweep", "s.toml", "--out", "out", "--resume", data=HEADER + "0,R,0,512\n", cwd=tmp_path)
    assert (other.returncode, "another run" in other.stderr) == (2, True), other.stderr


def test_the_queueing_model_reads_a_pipe_once_for_all_priorities(tmp_path: Path) -> None:
    with fifo(tmp_path / "pipe", TRACE) as pipe:
        experiment = queueing.Experiment(trace=pipe, fit="trace")
        runs = [experiment.run(priority) for priority in ("rwp", "cep")]
    assert [sum(run["requests"].values()) for run in runs] == [ROWS, ROWS]


def test_configuration_prefill_and_state_may_be_pipes(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("gc.soft = 0.12\n")
    (tmp_path / "t.csv").write_text(TRACE)
    compare = ["compare", "--scheme", "npgc", "--scheme", "pgc", "--trace", "t.csv", *DRIVE_OPTIONS[:-2], "--json"]
    wanted = ssdlab_command(*compare, "--config", "c.toml").json()["runs"]
    done = piped(*compare, "--config", "-", data="gc.soft = 0.12\n", cwd=tmp_path)
    assert {run["digest"] for run in json.loads(done.stdout)["runs"].values()} == {run["digest"] for run in wanted.values()}, done.stderr
    done = piped(*compare, "--prefill", "/dev/stdin", "--fit", "trace", data="0,8192\n", cwd=tmp_path)
    assert done.returncode == 2, "fit and device.blocks_per_plane"
    done = piped(*compare, "--prefill", "/dev/stdin", data="0,8192\n", cwd=tmp_path)
    mapped = [run["precondition"]["pages_mapped"] for run in json.loads(done.stdout)["runs"].values()]
    assert mapped[0] == mapped[1] > 0, done.stderr
    assert ssdlab_command("precondition", *DRIVE_OPTIONS, "--out", "warm.state").code == 0
    command = [
        sys.executable,
        "-m",
        "ssdlab",
        "compare",
        "--scheme",
        "npgc",
        "--scheme",
        "npgc+fr-fcfs",
        *DRIVE_OPTIONS,
        "--trace",
        "t.csv",
    ]
    state = (tmp_path / "warm.state").read_bytes()
    loaded = subprocess.run([*command, "--state", "-"], input=state, capture_output=True, cwd=tmp_path, check=False)
    assert loaded.returncode == 0, loaded.stderr


def test_one_run_streams_its_trace(tmp_path: Path) -> None:
    """A trace from a pipe may be larger than any disk: one run reads it once and copies nothing."""
    done = piped("run", *DRIVE_OPTIONS, "--trace", "-", "--json", cwd=tmp_path, TMPDIR="/nonexistent")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert counted(result) == ROWS
    assert result["config"]["workload"]["trace"] == "/dev/stdin"
    assert "command" not in result


def test_info_and_convert_take_standard_input(tmp_path: Path) -> None:
    done = piped("trace", "info", "-", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["max_end_bytes"] == 100 * 4096, done.stderr
    done = piped("trace", "sample", "-", "out.csv", "--requests", "2", cwd=tmp_path)
    assert (done.returncode, (tmp_path / "out.csv").read_text().count("\n")) == (0, 3), done.stderr


def test_a_parquet_trace_may_come_through_a_pipe_that_is_copied(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TRACE)
    assert ssdlab_command("trace", "convert", "t.csv", "t.parquet").code == 0
    command = [sys.executable, "-m", "ssdlab", "compare", "--scheme", "npgc", "--scheme", "pgc", *DRIVE_OPTIONS, "--trace", "-", "--json"]
    data = (tmp_path / "t.parquet").read_bytes()
    done = subprocess.run(command, input=data, capture_output=True, cwd=tmp_path, check=False)
    assert [counted(run) for run in json.loads(done.stdout)["runs"].values()] == [ROWS, ROWS], done.stderr


COMPARE = ["compare", "--scheme", "npgc", "--scheme", "pgc", *DRIVE_OPTIONS, "--trace", "-"]


def test_messages_name_what_the_user_named(tmp_path: Path) -> None:
    done = piped(*COMPARE, data=HEADER + "0,R,0,4096\n1,X,0,4096\n", cwd=tmp_path)
    assert done.returncode == 1
    assert all("/dev/stdin:3: expected the op" in line for line in done.stderr.splitlines()[1:]), done.stderr


def test_a_folder_that_cannot_take_the_copy_is_one_line(tmp_path: Path) -> None:
    done = piped(*COMPARE, cwd=tmp_path, TMPDIR=os.fspath(tmp_path / "none"), TEMP="", TMP="")
    if done.returncode:  # where no other folder for temporary files is there
        assert done.stderr.count("\n") == 1, done.stderr
    full = f"""if True:
        import resource, signal, sys
        from ssdlab.cli.app import main
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        sys.argv = ['ssdlab', *{COMPARE!r}]
        main()
    """
    done = subprocess.run([sys.executable, "-c", full], input=TRACE, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert "/dev/stdin: can be read only once, and cannot be copied to" in done.stderr
    assert "TMPDIR" in done.stderr


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_a_copy_however_the_command_ends(tmp_path: Path, ending: signal.Signals) -> None:
    command = [sys.executable, "-m", "ssdlab", *COMPARE]
    (tmp_path / "tmp").mkdir()
    env = os.environ | {"TMPDIR": os.fspath(tmp_path / "tmp")}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=env) as process:
        assert process.stdin is not None
        process.stdin.write(TRACE)
        process.stdin.flush()
        wait_until(lambda: any(entry.startswith(os.fspath(tmp_path)) for entry in open_files(process.pid)))
        process.send_signal(ending)
        assert process.wait(timeout=PATIENCE_S) == {signal.SIGINT: 130}.get(ending, process.returncode) != 0
        process.stdin.close()
        if ending == signal.SIGINT:
            assert process.stderr is not None
            assert process.stderr.read() == "error: interrupted\n"
    assert list((tmp_path / "tmp").iterdir()) == []


def open_files(process: int) -> list[str]:
    """The open files of a process, removed ones included."""
    names = []
    for entry in Path(f"/proc/{process}/fd").iterdir():
        try:
            names.append(os.fspath(entry.readlink()))
        except OSError:
            continue
    return names


def wait_until(is_so: Callable[[], bool]) -> None:
    """Waits until a condition holds."""
    while not is_so():
        time.sleep(0.01)
