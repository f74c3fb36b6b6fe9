"""Writing of files: completely if they can be replaced, in place otherwise."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import ssdlab
from conftest import SMALL, SMALL_OPTIONS, Ssdlab

HEADER = "timestamp_us,op,offset_bytes,size_bytes\n"
RUN = ["run", *SMALL_OPTIONS, "--requests", "50"]


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder on a file system in memory, below /dev on Linux."""
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("there is no /dev/shm to write to")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def test_a_second_conversion_below_dev_does_not_leave_both_outputs_in_the_file(
    ssdlab_command: Ssdlab, memory: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "a.csv"
    out = memory / "o.csv"
    for count in (5, 2):
        trace.write_text(HEADER + "".join(f"{i},R,0,4096\n" for i in range(count)))
        assert ssdlab_command("trace", "convert", trace, out).code == 0
        assert len(out.read_text().splitlines()) == 1 + count
    assert [path.name for path in memory.iterdir()] == ["o.csv"]


def test_states_timelines_reports_and_figures_below_dev_are_written_anew(ssdlab_command: Ssdlab, memory: Path) -> None:
    result = ssdlab.run(set=SMALL, requests=50, series=True)
    for _ in range(2):
        done = ssdlab_command("precondition", *SMALL_OPTIONS, "--out", memory / "s.state")
        assert done.code == 0, done.err
        done = ssdlab_command(*RUN, "--state", memory / "s.state", "--timeline", memory / "t.json", "--out", memory / "out")
        assert done.code == 0, done.err
        result.report(memory / "r.html")
        result.plot.latency_cdf().save(memory / "f.svg")
        assert (memory / "r.html").read_text().count("</html>") == 1
        assert (memory / "out" / "report.html").read_text().count("</html>") == 1
        assert (memory / "f.svg").read_text().count("</svg>") == 1
        assert (memory / "t.json").read_text().count('"traceEvents"') == 1


def test_what_is_printed_after_a_page_on_standard_output_comes_behind_it(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    assert ssdlab_command(*RUN, "--out", "out").code == 0
    with (tmp_path / "page.html").open("wb") as page:
        command = [sys.executable, "-m", "ssdlab", "report", "out", "--out", "/dev/stdout"]
        subprocess.run(command, cwd=tmp_path, stdout=page, check=True)
    text = (tmp_path / "page.html").read_text()
    assert text.startswith("<!doctype html>")
    assert text.splitlines()[-1].startswith("/dev/stdout: ")


@pytest.mark.parametrize("kind", ["fifo", "socket"])
def test_pipes_and_sockets_are_written_as_they_are(kind: str, tmp_path: Path) -> None:
    """A figure, which Python writes, to a FIFO by its name and to a socket that is standard output."""
    script = f"import ssdlab, sys; ssdlab.run(set={SMALL!r}, requests=50, series=True).plot.latency_cdf().save(sys.argv[1])"
    received = bytearray()
    if kind == "fifo":
        target, ours, theirs = tmp_path / "f.svg", None, None
        os.mkfifo(target)
        reader = threading.Thread(target=lambda: received.extend(target.read_bytes()))
    else:
        ours, theirs = socket.socketpair()
        target = tmp_path / "link.svg"
        target.symlink_to("/dev/stdout")
        reader = threading.Thread(target=lambda: received.extend(ours.makefile("rb").read()))
    reader.start()
    process = subprocess.Popen([sys.executable, "-c", script, str(target)], stdout=theirs)
    if theirs is not None:
        theirs.close()
    assert process.wait(300) == 0
    reader.join(60)
    assert received.endswith(b"</svg>\n")
