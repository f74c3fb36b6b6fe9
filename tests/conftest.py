"""Fixtures and helpers that the tests share."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import find_browser
import programs
import shares
from forks import Forks
from programs import PATIENCE_S

if TYPE_CHECKING:
    from browser import Page

# Thousands of tests start the command, and each worker collects all files: what is compiled is kept.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# A shell that runs the tests in the background makes them ignore Ctrl-C, which every command would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Each test prepares its drives, and leaves nothing to the user or to another test.
os.environ["SSDLAB_STATES"] = ""

ROOT = Path(__file__).resolve().parent.parent
# a drive with a very short run, and a workload with GC on it
DRIVE = {
    "device.channels": 2,
    "device.blocks_per_plane": 32,
    "device.pages_per_block": 16,
    "device.overprovisioning": 0.25,
    "gc.soft": 0.1,
}
# over a second to prepare, so that its state is kept
SLOW = DRIVE | {"device.blocks_per_plane": 16_384, "device.pages_per_block": 128, "ftl.precondition.kind": "steady"}
SMALL = DRIVE | {"workload.read_share": 0.3, "workload.interarrival_us": 2000}
# what gives a result energy and a temperature, and reads that are repeated
AGED = {
    "energy.idle_mw": 1_000.0,
    "energy.program_mw": 50.0,
    "thermal.resistance_c_per_w": 10.0,
    "errors.retry": "in-order",
    "errors.correctable_bits": 57,
    "ftl.precondition.pe_cycles": 3_000,
    "ftl.precondition.retention_days": 400.0,
}
# a device and a measurement with a calibration of about a second
BASE_FILE = """[device]
channels = 2
blocks_per_plane = 60
pages_per_block = 16
program_ns = 400_000
overprovisioning = 0.3
[gc]
trigger = "soft"
soft = 4
[buffer]
bytes = 65536
"""
MEASURED = """device,pattern,zipf_theta,zones,initial_state,block_bytes,queue_depth_total,used_GiB,steady_write_iops,late_drift
mine,uniform,,,filled once,4096,64,0.004,3000,1
"""


def options(values: Mapping[str, object]) -> list[str]:
    """Settings as words of the command line."""
    return [part for key, value in values.items() for part in ("--set", f"{key}={value}")]


# Python code that waits until no thread of the core works any more. Work that ignores Ctrl-C is abandoned by its caller after some seconds
# and continues; a script would then not end.
UNTIL_NOTHING_WORKS = """
import contextlib, pathlib, time
def at_work():
    for task in pathlib.Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):
            yield (task / "comm").read_text() == "ssdlab\\n"
while any(at_work()):
    time.sleep(0.01)
"""


DRIVE_OPTIONS = options(DRIVE)  # for a trace
SMALL_OPTIONS = options(SMALL)


THINNED = {
    "test_cache_oracle": 6,
    "test_cliffs": 6,
    "test_closed_forms": 3,
    "test_differential_ftl": 3,
    "test_faults": 6,
    "test_figures": 5,
    "test_fit": 8,
    "test_idle_keys": 5,
    "test_nasty_values": 4,
    "test_power_cut": 3,
    "test_power_cut_database": 3,
    "test_queueing_equations": 2,
    "test_queueing_oracle": 4,
    "test_reference_theory": 3,
    "test_report": 4,
    "test_report_page": 3,
    "test_signals": 3,
    "test_studies_queueing": 2,
    "test_timeline": 8,
    "test_workload_presets": 12,
}
"""Files with costly parametrised tests: without `FULL=1` one of every N cases of each test runs (`shares.share`)."""


SLOWEST_FILES = 25
"""Number of files whose time is printed at the end."""


def pytest_xdist_auto_num_workers() -> int:
    """Two workers per processor, since tests wait for their subprocesses half of the time."""
    return 2 * (os.cpu_count() or 1)


def pytest_configure(config: pytest.Config) -> None:
    """Makes hypothesis draw the same cases each time, with `FULL=1` from the seed of the run."""
    from hypothesis import settings

    settings.register_profile("ssdlab", derandomize=not shares.FULL, database=None)
    settings.load_profile("ssdlab")
    if shares.FULL and not config.getoption("hypothesis_seed", None):
        config.option.hypothesis_seed = str(shares.SEED)


def pytest_report_header() -> str:
    return f"seed: {shares.SEED}, {'all cases' if shares.FULL else 'a share of the cases: FULL=1 for all'}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the cases that only `FULL=1` runs."""
    if shares.FULL:
        return
    left_out = {item for item in items if item.get_closest_marker("full")}
    tests = defaultdict[tuple[Path, str], list[pytest.Item]](list)
    for item in items:
        if item not in left_out:
            tests[item.path, getattr(item, "originalname", item.name)].append(item)
    for (path, _), cases in tests.items():
        if (every := THINNED.get(path.stem, 1)) > 1:
            kept = shares.share([case.callspec.params if hasattr(case, "callspec") else {} for case in cases], every)
            left_out.update(case for at, case in enumerate(cases) if at not in kept)
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints which files take longest, and which tests were skipped for lack of a browser or of another program."""
    seconds = Counter[str]()
    for report in (one for reports in terminalreporter.stats.values() for one in reports if isinstance(one, pytest.TestReport)):
        seconds[report.nodeid.partition("::")[0]] += report.duration
    for file, duration in seconds.most_common(SLOWEST_FILES):
        terminalreporter.write_line(f"{duration:8.0f} s in {file}")
    if shares.FULL and terminalreporter.getreports("failed"):
        terminalreporter.write_line(f"to repeat a failure: FULL=1 SEED={shares.SEED} .venv/bin/python -m pytest TEST")
    skipped = terminalreporter.getreports("skipped")
    line = programs.left_out([str(report.longrepr[2]) for report in skipped if isinstance(report.longrepr, tuple)])
    if line is not None:
        terminalreporter.write_line(line)
    without = [report for report in skipped if find_browser.MISSING in str(report.longrepr)]
    if without:
        terminalreporter.write_line(f"LEFT OUT: {len(without)} tests of pages, as {find_browser.MISSING}: {find_browser.HELP}")


@dataclass(frozen=True)
class Ended:
    """A finished command: exit code and output."""

    code: int
    out: str
    err: str

    def json(self) -> dict[str, Any]:
        """Standard output, which must be a single JSON object."""
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value

    def failed(self, code: int) -> str:
        """Checks the form of a failure: exit code, one line on standard error, no traceback, no standard output. Returns the line."""
        assert self.code == code, (self.code, self.err)
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("error: ")
        assert "Traceback" not in self.err
        assert self.out == ""
        return lines[0].removeprefix("error: ")


Ssdlab = Callable[..., Ended]


@pytest.fixture(scope="session")
def commands() -> Iterator[Forks]:
    """A process that has imported ssdlab and starts commands quickly."""
    forks = Forks(os.environ)
    yield forks
    forks.close()


@pytest.fixture
def ssdlab_command(tmp_path: Path, commands: Forks) -> Ssdlab:
    """The command `ssdlab`, run in an empty folder."""

    def run(*arguments: object, env: Mapping[str, str] | None = None, cwd: Path = tmp_path) -> Ended:
        commands.start([*map(str, arguments)], cwd, {**os.environ, **(env or {})})
        done = commands.end(PATIENCE_S)
        return Ended(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("mounting a small tmpfs needs root and mount")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"a small tmpfs cannot be mounted here: {mounted.stderr.decode().strip()}")
    yield folder
    programs.unmount(folder)


def fill(folder: Path) -> Path:
    """Fills the file system of a folder with one file; returns the file."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    return filler


def until(ready: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Waits until a condition holds, and fails if the process ends before."""
    deadline = time.monotonic() + PATIENCE_S
    while not ready():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def interrupted_study(arguments: Sequence[str], folder: Path, cwd: Path) -> tuple[str, list[Path]]:
    """Runs a study and sends it Ctrl-C after its first run; returns its standard output and the results in its folder."""
    started = subprocess.Popen(
        [sys.executable, "-m", "ssdlab", "study", "run", *arguments], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until(lambda: bool(list(folder.glob("runs/*/result.json"))), started)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=PATIENCE_S)
    assert started.returncode == 130, err
    assert len(err.splitlines()) == 1
    assert "had finished" in err
    return out, list(folder.glob("runs/*/result.json"))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A browser, shared by the tests of a file."""
    from browser import browser

    with browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def silent(page: Page) -> Iterator[None]:
    """Checks that the page logs no errors and loads nothing but itself."""
    page.requests.clear()
    page.complaints.clear()
    yield
    assert page.complaints == []
    assert {url.partition(":")[0] for url in page.requests} <= {"file", "data"}
    assert {url for url in page.requests if url.startswith("file:") and not url.endswith(".html")} == set()


def core_at_work(process: int) -> bool:
    """Whether a process has threads of the core, which are named."""
    with contextlib.suppress(OSError):
        return any("ssdlab" in path.read_text() for path in Path(f"/proc/{process}/task").glob("*/comm"))
    return False


@contextlib.contextmanager
def at_work(arguments: Sequence[str], folder: Path, until: Path, **env: str) -> Iterator[subprocess.Popen[str]]:
    """Starts a command and waits for a file or folder; the command is killed afterwards if it still runs."""
    command = [sys.executable, "-m", "ssdlab", *arguments]
    process = subprocess.Popen(command, cwd=folder, env={**os.environ, **env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        while not until.exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        yield process
    finally:
        process.kill()
        process.communicate()
