"""Systems other than Linux, on Linux: the package without the modules, functions and signals that another system lacks.

What the package names is checked by `mypy --platform` in `make lint`. Here a process takes away what Windows or macOS lacks, and runs it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

MODULES = {
    "win32": "fcntl grp posix pty pwd resource syslog termios tty",
    "darwin": "",
}
"""Modules of the standard library that a system lacks."""

OF_OS = {
    "win32": "O_DIRECTORY chown fork geteuid getuid killpg major minor mkfifo sched_getaffinity sync sysconf",
    "darwin": "posix_fadvise sched_getaffinity",
}

OF_SIGNAL = {"win32": "SIGALRM SIGHUP SIGKILL SIGUSR1 SIGUSR2", "darwin": ""}

ELSEWHERE = """
import os, signal, sys
import asyncio, filelock, tornado.web, matplotlib.pyplot, numpy, pyarrow.compute, pyarrow.parquet, rich.console, rich.table, typer
import subprocess, tempfile, threading

platform, modules, of_os, of_signal = sys.argv[1:5]
for name in modules.split():
    sys.modules[name] = None
for owner, names in ((os, of_os), (signal, of_signal)):
    for name in names.split():
        delattr(owner, name)
sys.platform = platform
sys.argv[:] = ["ssdlab", *sys.argv[5:]]
"""
"""Other packages are imported before: how they do without is for them to know."""


def elsewhere(platform: str, code: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs code in a process that lacks what `platform` lacks."""
    gone = (platform, MODULES[platform], OF_OS[platform], OF_SIGNAL[platform])
    command = [sys.executable, "-c", ELSEWHERE + code, *gone, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, stdin=subprocess.DEVNULL)


COMMAND = "from ssdlab.__main__ import main; main()"
EVERY_MODULE = """
import importlib, pkgutil, ssdlab
for module in pkgutil.walk_packages(ssdlab.__path__, "ssdlab."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print("imported", sum(name.startswith("ssdlab.") for name in sys.modules))
"""


@pytest.mark.parametrize("platform", MODULES)
def test_every_module_can_be_imported(platform: str) -> None:
    done = elsewhere(platform, EVERY_MODULE)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[1]) > 100


def test_what_is_taken_away_is_missed() -> None:
    done = elsewhere("win32", "import fcntl")
    assert "ModuleNotFoundError" in done.stderr
    assert "AttributeError" in elsewhere("win32", "os.getuid()").stderr
    assert elsewhere("darwin", "os.getuid()").returncode == 0


@pytest.mark.parametrize("platform", MODULES)
def test_a_comparison_runs_and_is_described(platform: str, tmp_path: Path) -> None:
    words = ["--device", "demo-4g", "--workload", "uniform-4k-write", "--scheme", "npgc", "--scheme", "pgc", "--requests", "500", "--quiet"]
    done = elsewhere(platform, COMMAND, "compare", *words, "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "comparison.json").is_file()
    described = elsewhere(platform, COMMAND, "bug-report", str(tmp_path / "out"))
    assert described.returncode == 0, described.stderr
    assert "## Machine" in described.stdout


@pytest.mark.parametrize("platform", MODULES)
def test_what_needs_linux_says_so_in_one_line(platform: str, tmp_path: Path) -> None:
    served = elsewhere(platform, COMMAND, "serve", "--device", "demo-4g", "--nbd", f"unix:{tmp_path / 'socket'}")
    lines = f"error: a drive is served on Linux only, and this is {platform}: serve it on a Linux machine, or replay a trace of the program"
    assert (served.returncode, served.stderr) == (1, f"{lines} with `ssdlab run`\n")
    record = ["trace", "record", "--dev", "/dev/nvme0n1", "--out", str(tmp_path / "mine.csv"), "--", sys.executable]
    recorded = elsewhere(platform, COMMAND, *record)
    lines = f"error: requests can be recorded on Linux only, and this is {platform}: record on a Linux machine, and bring the trace here\n"
    assert (recorded.returncode, recorded.stderr) == (1, lines)


def test_windows_has_no_standard_input_to_name() -> None:
    done = elsewhere("win32", COMMAND, "run", "--trace", "-")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "- (standard input) cannot be read on Windows: write it to a file" in done.stderr


LOCKS = """
from pathlib import Path
from ssdlab.system.locks import holder, try_lock
folder = Path(sys.argv[1])
lock = try_lock(folder)
assert lock is not None
assert try_lock(folder) is None
assert try_lock(folder / ".." / folder.name) is None, "a folder has one lock, whatever it is called"
print(sorted(folder.iterdir()), holder(folder))
lock.close()
try_lock(folder).close()
folder.rmdir()
try:
    try_lock(folder)
except FileNotFoundError:
    print("gone")
"""


@pytest.mark.parametrize("platform", MODULES)
def test_a_folder_has_one_lock(platform: str, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    done = elsewhere(platform, LOCKS, str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[] another process\ngone\n"


def test_a_pipe_is_copied_to_a_file_with_a_name_where_open_files_have_none(tmp_path: Path) -> None:
    code = """
import threading
from pathlib import Path
from ssdlab.system.inputs import hold
pipe = Path(sys.argv[1]) / "pipe"
subprocess.run(["mkfifo", pipe], check=True)
threading.Thread(target=lambda: pipe.write_text("0,R,0,4096\\n")).start()
held = hold(pipe)
assert held.place.read_text() == "0,R,0,4096\\n", held.place
place = held.place
del held
assert not place.exists()
"""
    done = elsewhere("darwin", code, str(tmp_path))
    assert done.returncode == 0, done.stderr


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_actions_are_pinned_and_may_only_read(file: Path) -> None:
    text = file.read_text()
    import yaml

    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
    used = [line.strip() for line in text.splitlines() if "uses:" in line]
    assert used
    assert [line for line in used if not re.fullmatch(r"- uses: [\w.-]+/[\w.-]+@[0-9a-f]{40} # v[\d.]+", line)] == []


def test_a_wheel_is_built_and_tried_for_each_row_of_the_readme() -> None:
    import yaml

    wheels = yaml.safe_load((ROOT / ".github" / "workflows" / "wheels.yml").read_text())
    built = {entry["name"] for entry in wheels["jobs"]["wheel"]["strategy"]["matrix"]["include"]}
    rows = re.findall(r"^\| (Linux|macOS|Windows), (x86-64|arm64) \|", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert built == {f"{system.lower()}-{machine}" for system, machine in rows}
