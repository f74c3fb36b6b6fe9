"""Progress on a terminal, and its absence elsewhere."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ssdlab.system import progress

COLUMNS = 160
REQUESTS = 1_000_000
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(*words: str, folder: Path, environment: dict[str, str] | None = None) -> tuple[str, str]:
    """Runs `ssdlab` with standard error on a terminal; returns standard output and the terminal's content."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    program = subprocess.Popen(
        [sys.executable, "-m", "ssdlab", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env={**os.environ, "TERM": "xterm-256color", **(environment or {})},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert program.stdout is not None
    out = program.stdout.read()
    assert program.wait() == 0, shown.decode()
    return out, shown.decode()


def shows(patterns: Sequence[str], words: Callable[[int], list[str]], folder: Path) -> tuple[int, str]:
    """Runs `ssdlab` with `words`, with twice the work each time until the terminal has shown all expected texts.

    Short phases are not shown, depending on the machine. Returns the amount of work, and standard output.
    """
    for doublings in range(10):
        out, shown = on_terminal(*words(1 << doublings), folder=folder)
        missing = [pattern for pattern in patterns if not re.search(pattern, ESCAPE.sub("", shown))]
        if not missing:
            return 1 << doublings, out
    pytest.fail(f"never shown: {missing}; last: {shown}")


class Traces:
    """Traces of any length, in one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.requests = 0

    def of(self, much: int) -> str:
        if self.requests != REQUESTS * much:
            self.requests = REQUESTS * much
            lines = (f"{time},W,{time % 100_000 * 4096},4096\n" for time in range(self.requests))
            self.path.write_text("timestamp_us,op,offset_bytes,size_bytes\n" + "".join(lines))
        return str(self.path)


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Traces:
    return Traces(tmp_path_factory.mktemp("trace") / "long.csv")


def test_reading_a_trace_shows_share_rate_and_time_left(traces: Traces, tmp_path: Path) -> None:
    shown = ["long.csv", "reading", "[1-9][0-9]?%", "[0-9.]+ MB/s", "[0-9]+:[0-9]{2}:[0-9]{2}"]
    _, out = shows(shown, lambda much: ["trace", "info", traces.of(much)], tmp_path)
    assert f"{traces.requests:,}" in out


def test_conversion_and_fitting_show_what_they_read(traces: Traces, tmp_path: Path) -> None:
    shows(["reading"], lambda much: ["trace", "convert", traces.of(much), "out.parquet"], tmp_path)
    words = ["run", "--device", "lee2013", "--scheme", "npgc", "--fit", "trace", "--requests", "1000"]
    much, _ = shows(["reading"], lambda much: [*words, "--trace", traces.of(much)], tmp_path)
    assert "reading" not in on_terminal(*words, "--trace", traces.of(much), "--quiet", folder=tmp_path)[1]


def test_a_run_shows_both_phases(tmp_path: Path) -> None:
    def run(much: int) -> list[str]:
        large = ["--set", f"device.blocks_per_plane={1024 * much}", "--set", "ftl.precondition.kind=steady"]
        return [
            "run",
            "--device",
            "lee2013",
            "--scheme",
            "npgc",
            "--workload",
            "lee2013-synthetic",
            "--requests",
            str(100_000 * much),
            *large,
        ]

    _, out = shows(["preparing the drive", "[0-9,]+ pages/s", "simulating", "[0-9,]+ requests/s"], run, tmp_path)
    assert "\x1b" not in out  # a pipe gets no colours


def test_quiet_shows_nothing(traces: Traces, tmp_path: Path) -> None:
    words = ["run", "--device", "lee2013", "--scheme", "npgc", "--fit", "trace", "--trace", traces.of(3), "--requests", "400k", "--quiet"]
    assert on_terminal(*words, folder=tmp_path) == ("", "")


def test_the_python_interface_shows_nothing(traces: Traces, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    code = f"import ssdlab; print(ssdlab.trace_info({traces.of(3)!r})['requests']['write'])"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, text=True, check=True)
    os.close(theirs)
    assert done.stdout == "3000000\n"
    with pytest.raises(OSError, match="Input/output"):
        os.read(ours, 1)
    os.close(ours)


def test_long_work_without_a_terminal_has_lines_with_what_is_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    with progress.TotalProgress("sweep", 72, quiet=False) as shown:
        assert shown.callback is not None
        for now in (1.0, 59.0, 61.0, 62.0, 100.0, 300.0, 330.0, 600.0):
            done = int(now / 10)
            shown.callback([(progress.DONE, 5, 5, 0)] * done + [(1, 0, 10, 0)] * (72 - done))
    assert capsys.readouterr().err.splitlines() == [
        "sweep: 8 %, 6 of 72 runs, about 11 min left",
        "sweep: 14 %, 10 of 72 runs, about 10 min left",
        "sweep: 42 %, 30 of 72 runs, about 7 min left",
        "sweep: 83 %, 60 of 72 runs, about 2 min left",
    ]
    with progress.ShareProgress("calibrating", quiet=True) as silent:
        assert silent.callback is None
