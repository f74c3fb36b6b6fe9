"""What a terminal shows while work goes on, and that nothing of it is there where nobody looks."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

COLUMNS = 160
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(*words: str, folder: Path, environment: dict[str, str] | None = None) -> tuple[str, str]:
    """Runs `ssdlab` with standard error on a terminal; returns standard output and what the terminal got."""
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
    assert program.wait(timeout=600) == 0, shown.decode()
    return out, shown.decode()


@pytest.fixture(scope="module")
def long_trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace that takes some tenths of a second to be read."""
    path = tmp_path_factory.mktemp("trace") / "long.csv"
    lines = (f"{time},W,{time % 100_000 * 4096},4096\n" for time in range(3_000_000))
    path.write_text("timestamp_us,op,offset_bytes,size_bytes\n" + "".join(lines))
    return path


def test_reading_a_trace_shows_share_rate_and_time_left(long_trace: Path, tmp_path: Path) -> None:
    out, shown = on_terminal("trace", "info", str(long_trace), folder=tmp_path)
    assert "3,000,000" in out
    plain = ESCAPE.sub("", shown)
    assert "long.csv" in plain
    assert "reading" in plain
    assert re.search(r"[1-9][0-9]?%", plain)
    assert re.search(r"[0-9.]+ MB/s", plain)
    assert re.search(r"0:00:0[0-9]", plain)


def test_conversion_and_fitting_show_what_they_read(long_trace: Path, tmp_path: Path) -> None:
    _, shown = on_terminal("trace", "convert", str(long_trace), "out.parquet", folder=tmp_path)
    assert "reading" in shown
    words = ["run", "--device", "lee2013", "--scheme", "npgc", "--trace", str(long_trace), "--fit", "trace", "--requests", "1000"]
    assert "reading" in on_terminal(*words, folder=tmp_path)[1]
    assert "reading" not in on_terminal(*words, "--quiet", folder=tmp_path)[1]


def test_a_run_shows_both_phases(tmp_path: Path) -> None:
    words = ["run", "--device", "lee2013", "--scheme", "npgc", "--workload", "lee2013-synthetic", "--requests", "300000"]
    out, shown = on_terminal(*words, "--set", "ftl.precondition.kind=steady", folder=tmp_path)
    plain = ESCAPE.sub("", shown)
    assert "preparing the drive" in plain
    assert re.search(r"[0-9,]+ pages/s", plain)
    assert "simulating" in plain
    assert re.search(r"[0-9,]+ requests/s", plain)
    assert "\x1b" not in out  # a pipe gets no colours


def test_quiet_shows_nothing(long_trace: Path, tmp_path: Path) -> None:
    words = ["run", "--device", "lee2013", "--scheme", "npgc", "--trace", str(long_trace), "--quiet"]
    assert on_terminal(*words, folder=tmp_path) == ("", "")


def test_the_python_interface_shows_nothing(long_trace: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    code = f"import ssdlab; print(ssdlab.trace_info({str(long_trace)!r})['requests']['write'])"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, text=True, check=True)
    os.close(theirs)
    assert done.stdout == "3000000\n"
    with pytest.raises(OSError, match="Input/output"):
        os.read(ours, 1)
    os.close(ours)
