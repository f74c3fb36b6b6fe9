"""Ctrl-C, SIGTERM and SIGHUP at any time: one line, the exit code that shells expect, no partial files, finished results kept.

Signals are sent at points at which the test stops the command: during imports, or while it waits for a trace.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import ssdlab
from conftest import DRIVE_OPTIONS, PATIENCE_S, SMALL, SMALL_OPTIONS, at_work, core_at_work, until

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
FOREVER = str(10**12)
HEADER = b"timestamp_us,op,offset_bytes,size_bytes\n"
HELD = """
import os, sys, time
class Holder:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["HOLD"]:
            open("held", "w").close()
            while True:  # a signal that comes just before a long sleep would not end it
                time.sleep(0.01)
sys.meta_path.insert(0, Holder())
"""
"""A `sitecustomize` that stops the command at an import."""
IN_CPP = """
import os, signal, sys
left = None
def watch(frame, event, arg):
    global left
    if event == "c_call" and arg.__name__ == "exec_dynamic" and "matplotlib.ft2font" in str(frame.f_locals.get("args")):
        left = int(os.environ["CALLS"])
    elif left is not None and event == "call":
        left -= 1
        if not left:
            open("reached", "w").close()
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)
sys.setprofile(watch)
"""
"""A `sitecustomize` that interrupts the command in Python code called by the import of a C++ module."""


@pytest.fixture(scope="module", autouse=True)
def hang_ups_are_not_ignored() -> Iterator[None]:
    """Restores SIGHUP: below `nohup` it is ignored, which commands respect."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


@pytest.mark.parametrize("number", CODES)
@pytest.mark.parametrize("module", ["ssdlab._core", "rich", "typer", "ssdlab.asking.options", "ssdlab.cli.app", "numpy", "pyarrow.parquet"])
def test_a_signal_while_modules_are_read_in_is_one_line_as_later(module: str, number: int, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(HELD)
    queueing = ["queueing", "--requests", "1000", "--out", "out"]
    with at_work(queueing, tmp_path, tmp_path / "held", HOLD=module, PYTHONPATH=str(tmp_path)) as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out, err) == (CODES[number], "", "error: interrupted\n")
    assert [name for name in files(tmp_path) if "__pycache__" not in name] == ["held", "sitecustomize.py"]


@pytest.mark.parametrize("calls", [6, 23, 104])
def test_a_signal_while_a_module_of_cpp_is_read_in_is_one_line_as_well(calls: int, tmp_path: Path) -> None:
    """A module of C++ that is half imported aborts the process when Python exits."""
    (tmp_path / "sitecustomize.py").write_text(IN_CPP)
    command = [sys.executable, "-m", "ssdlab", "queueing", "--requests", "1000", "--out", "out"]
    environment = os.environ | {"CALLS": str(calls), "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "error: interrupted\n")
    assert [name for name in files(tmp_path) if "__pycache__" not in name] == ["reached", "sitecustomize.py"]


@pytest.mark.parametrize("number", CODES)
def test_a_signal_while_the_report_is_read_in_keeps_the_run(number: int, tmp_path: Path) -> None:
    """The report is imported when the run has ended."""
    (tmp_path / "sitecustomize.py").write_text(HELD)
    run = ["run", *SMALL_OPTIONS, "--requests", "100", "--out", "out"]
    with at_work(run, tmp_path, tmp_path / "held", HOLD="ssdlab.pages.report", PYTHONPATH=str(tmp_path)) as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out, err) == (CODES[number], "", "error: interrupted\n")
    assert json.loads((tmp_path / "out" / "result.json").read_text())["requests"]


@pytest.fixture
def broken_off(tmp_path: Path) -> Iterator[Callable[[], None]]:
    """A trace that stops when the yielded function is called: its reader then waits, and does not check for interrupts."""
    pipe = tmp_path / "trace.csv"
    os.mkfifo(pipe)
    over = threading.Event()
    descriptor = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)

    def feed() -> None:
        body = b"0,R,0,4096\n" * 5000
        data = HEADER + body
        while not over.wait(0.002):
            with suppress(BlockingIOError):
                data = data[os.write(descriptor, data) :] or body

    feeder = threading.Thread(target=feed)
    feeder.start()

    def end() -> None:
        over.set()
        feeder.join()

    yield end
    end()
    os.close(descriptor)


@pytest.mark.parametrize(
    ("arguments", "partial"),
    [
        (["run", *DRIVE_OPTIONS, "--log-requests", "--timeline", "t.json", "--out", "out"], ".t.json*.partial"),
        (["trace", "convert", "trace.csv", "o.csv", "--format", "csv"], ".o.csv*.partial"),
        (["trace", "convert", "trace.csv", "o.parquet", "--format", "csv"], ".o.parquet*.partial"),
    ],
    ids=["run", "csv", "parquet"],
)
def test_a_thread_that_never_sees_the_wish_to_stop_leaves_no_partial_file(
    arguments: list[str], partial: str, broken_off: Callable[[], None], tmp_path: Path
) -> None:
    """Two Ctrl-C one after the other, of which the second does not wait."""
    if arguments[0] == "run":
        arguments = [*arguments, "--trace", "trace.csv", "--format", "csv"]
    process = subprocess.Popen([sys.executable, "-m", "ssdlab", *arguments], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob(partial)):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    broken_off()
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
    assert process.communicate()[1] == "error: interrupted\n"
    assert process.returncode == 130
    assert files(tmp_path) == ["trace.csv"]


@pytest.mark.parametrize("number", CODES)
def test_a_signal_leaves_no_partial_file(number: int, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    schemes = ["--scheme", "npgc", "--scheme", "rwp", "--jobs", "2"]
    runs = [
        ["run", *SMALL_OPTIONS, "--requests", FOREVER, "--log-requests", "--timeline", "t.json", "--out", "out"],
        ["compare", *SMALL_OPTIONS, "--requests", FOREVER, "--paired", *schemes, "--out", "out"],
    ]
    for arguments, made, line in zip(runs, ["out", "out/rwp"], ["", ": none of 2 runs had finished"], strict=True):
        with at_work(arguments, tmp_path, tmp_path / made, TMPDIR=str(tmp_path / "tmp")) as process:
            until(lambda: core_at_work(process.pid), process)
            process.send_signal(number)
            out, err = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, out, err) == (CODES[number], "", f"error: interrupted{line}\n")
        assert files(tmp_path) == []


@pytest.mark.parametrize("number", CODES)
def test_a_signal_keeps_the_points_that_had_finished(number: int, tmp_path: Path) -> None:
    keys = "".join(f'"{key}" = {value}\n' for key, value in SMALL.items())
    (tmp_path / "s.toml").write_text(f"[set]\n{keys}[grid]\nrequests = [50, {FOREVER}]\n")
    with at_work(["sweep", "s.toml", "--out", "out", "--jobs", "2"], tmp_path, tmp_path / "out/requests=50/result.json") as process:
        process.send_signal(number)
        err = process.communicate(timeout=PATIENCE_S)[1]
    assert process.returncode == CODES[number], err
    assert "1 of 2 runs are stored in out" in err
    expected = [".ssdlab.json", "report.html", "requests=50/result.json", "results.csv", "results.parquet", "sweep.toml"]
    assert files(tmp_path / "out") == expected


def test_a_signal_while_tables_are_written_says_what_is_kept(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(HELD)
    keys = "".join(f'"{key}" = {value}\n' for key, value in SMALL.items())
    (tmp_path / "s.toml").write_text(f"[set]\n{keys}[grid]\nrequests = [50]\n")
    sweep = ["sweep", "s.toml", "--out", "out"]
    with at_work(sweep, tmp_path, tmp_path / "held", HOLD="ssdlab.experiments.sweeping.page", PYTHONPATH=str(tmp_path)) as process:
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=PATIENCE_S)[1]
    assert process.returncode == 130
    assert "1 of 1 runs are stored in out" in err
    assert "--resume" in err


def test_a_command_that_is_told_to_ignore_hang_ups_does(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\nfrom ssdlab.__main__ import main\n"
        f"sys.argv = ['ssdlab', 'run', *{SMALL_OPTIONS!r}, '--requests', '50', '--json']\n"
        "from ssdlab.runs import batch\nexecute = batch._core.run_many\n"
        "def hung_up(*a, **k):\n    os.kill(os.getpid(), signal.SIGHUP)\n    return execute(*a, **k)\n"
        "class Core:\n    def __getattr__(self, name): return hung_up if name == 'run_many' else getattr(ssdlab_core, name)\n"
        "ssdlab_core = batch._core\nbatch._core = Core()\nmain()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["requests"]


def test_the_python_api_leaves_the_signals_of_its_host_alone() -> None:
    before = {number: signal.getsignal(number) for number in CODES}
    ssdlab.run(set=SMALL, requests=50)
    ssdlab.compare(schemes=["npgc"], set=SMALL, requests=50)
    assert {number: signal.getsignal(number) for number in CODES} == before
    code = "import signal, ssdlab; ssdlab.run; import ssdlab.__main__, ssdlab.cli; print(signal.getsignal(signal.SIGTERM).name)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "SIG_DFL\n"


def test_the_version_is_said_without_reading_in_all_modules() -> None:
    code = (
        "import sys; sys.argv = ['ssdlab', '--version']\nfrom ssdlab.__main__ import main\nmain()\n"
        "print(sorted({'numpy', 'pyarrow', 'typer', 'rich', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"ssdlab {ssdlab.__version__}\n[]\n"


ENDING = """
import os, signal, sys
from ssdlab.__main__ import main
sys.argv = ["ssdlab", "list", "schemes"]
try:
    main()
finally:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(os.getpid(), number)
"""


def test_a_signal_when_all_is_done_changes_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "npgc" in done.stdout


AT_EACH_STEP = """
import atexit, contextlib, os, signal, sys, types
import ssdlab.cli
from ssdlab.__main__ import main
from ssdlab.system import signals

app, output = (sys.modules["ssdlab.cli." + name] for name in ("app", "output"))
ours = {module.__file__ for module in (signals, app, output)} | {main.__code__.co_filename}
second = "SECOND" in os.environ
numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

def step(frame, event, argument):
    global left
    if event == "opcode" and signals.ended() == second and all(signal.getsignal(number) is not before[number] for number in numbers):
        left -= 1
        if left == 0:
            signal.raise_signal(number)
    return step

def enter(frame, event, argument):
    back = frame.f_back
    if frame.f_code.co_filename not in ours and not (
        frame.f_code.co_filename == contextlib.__file__ and back and back.f_code.co_filename in ours
    ):
        return None
    frame.f_trace_opcodes = True
    return step

def interrupt_long_ago(*_):
    signal.raise_signal(numbers[0])

before = {number: signal.getsignal(number) for number in numbers}
sys.argv = ["ssdlab", "show", "scheme", "pgc"]
if second:
    app.Group.invoke = interrupt_long_ago
    wish = 10 * signals.SAME_WISH_S
    signals.time = types.SimpleNamespace(monotonic=lambda: wish if signals.ended() else 0.0)
ends = {number: [] for number in numbers}
for at in range(1, 10_000):
    number = numbers[at % 3]
    error, into = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(into, 2)
        left = at
        atexit.register(lambda: left > 0 and os._exit(99))  # it ended before it came so far
        sys.settrace(enter)
        try:
            main()
        except SystemExit as end:
            sys.settrace(None)
            atexit._run_exitfuncs()
            os._exit(end.code or 0)
        finally:
            sys.settrace(None)
    os.close(into)
    said = open(error).read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == 99:
        break
    first = numbers[0] if second else number
    ends_right = [(128 + first, "error: interrupted\\n"), *([] if second else [(0, "")])]
    assert (code, said) in ends_right, (at, number, code, said)
    ends[number].append(code)
print([[len(found), found.count(0), found == sorted(found, reverse=True)] for found in ends.values()])
"""


def test_a_signal_at_any_step_around_the_command_itself_is_one_line_too() -> None:
    """A signal at each instruction of Python around the command, one per process, also before and after its handlers are set."""
    done = subprocess.run([sys.executable, "-c", AT_EACH_STEP], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.stderr == ""
    for steps, unheard, only_at_the_end in json.loads(done.stdout.lower()):
        assert steps > 50
        assert 0 < unheard < 20, "when all is done"
        assert only_at_the_end


def test_a_second_signal_at_any_step_of_the_answer_to_the_first_is_the_same_line() -> None:
    """One that is not part of the first wish any more, since the command took a second and more to put things away."""
    command, environment = [sys.executable, "-c", AT_EACH_STEP], os.environ | {"SECOND": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.stderr == ""
    assert all(steps > 30 for steps, _, _ in json.loads(done.stdout.lower()))
