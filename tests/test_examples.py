"""The scripts and the notebook of examples/ run as they are, with the output that they document."""

from __future__ import annotations

import copy
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from conftest import PATIENCE_S, ROOT
from served_file import why_no_loop_device, why_no_mount

EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py"))
NOTEBOOKS = sorted(path.name for path in EXAMPLES.glob("*.ipynb"))
JOBS = sorted(path.name for path in EXAMPLES.glob("*.fio"))


def rows(name: str, folder: Path, *words: str) -> list[list[str]]:
    """Runs a script in an empty folder; returns the words of its table's lines."""
    shutil.copy(EXAMPLES / name, folder)
    done = subprocess.run([sys.executable, name, *words], cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    if done.stderr.startswith("error: this needs "):
        pytest.skip(done.stderr)
    assert (done.returncode, done.stderr) == (0, "")
    (folder / name).unlink()
    assert all(len(line) <= 110 for line in done.stdout.splitlines())
    return [line.split() for line in done.stdout.partition("\n\n")[0].splitlines()[1:]]


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def number(text: str) -> float:
    return float(text.replace(",", "").rstrip("%"))


def test_compare_schemes(tmp_path: Path) -> None:
    table = {row[0]: row for row in rows("compare_schemes.py", tmp_path)}
    assert list(table) == ["npgc", "pgc", "fpgc"]
    mean, jobs = ({scheme: number(row[place]) for scheme, row in table.items()} for place in (1, 9))
    assert min(jobs.values()) > 0
    assert mean["pgc"] < mean["npgc"]
    assert files(tmp_path) == {"schemes.html"}
    assert "fpgc" in (tmp_path / "schemes.html").read_text()


ETW = """\
BeginHeader
  DiskRead,  TimeStamp,  Process Name ( PID),  ThreadID,  IrpPtr,  ByteOffset,  IOSize, ElapsedTime,  DiskNum
  DiskWrite,  TimeStamp,  Process Name ( PID),  ThreadID,  IrpPtr,  ByteOffset,  IOSize, ElapsedTime,  DiskNum
EndHeader
  DiskWrite,  6100,  sql, server (1844),  2216, 0xfffffa80071b2980, 0x0000200000, 0x00010000,  350,  1, 0x060a00
  DiskRead,  5200,  System (  4),  112, 0xfffffa80071b2010, 0x0004e0a000, 0x00002000,  700,  0, 0x060043
"""


def test_etw_to_csv() -> None:
    """Arrivals are ends less durations, in order; a process's name may hold a comma."""
    done = subprocess.run([sys.executable, EXAMPLES / "etw_to_csv.py"], input=ETW, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "timestamp_us,op,offset_bytes,size_bytes,device",
        "4500,R,81829888,8192,0",
        "5750,W,2097152,65536,1",
    ]


def test_own_victim_policy(tmp_path: Path) -> None:
    table = {row[0]: row for row in rows("own_victim_policy.py", tmp_path)}
    assert list(table) == ["greedy", "patient", "cost-benefit", "fifo"]
    assert number(table["patient"][2]) < number(table["greedy"][1])  # "(ours)" is a word of its own
    assert files(tmp_path) == set()


def test_own_placement_policy(tmp_path: Path) -> None:
    table = {row[0]: row for row in rows("own_placement_policy.py", tmp_path)}
    assert {"none", "Soon", "hot-cold", "oracle"} <= set(table)
    assert number(table["oracle"][1]) < number(table["Soon"][2]) < number(table["none"][1])  # "(ours)" is a word of its own
    assert files(tmp_path) == set()


def test_sweep_overprovisioning(tmp_path: Path) -> None:
    table = rows("sweep_overprovisioning.py", tmp_path)
    amplification = [number(row[1]) for row in table]
    assert amplification == sorted(amplification, reverse=True)
    assert amplification[0] > amplification[-1]
    assert files(tmp_path) == {"overprovisioning", "write_amplification.png", "p99.png"}
    assert (tmp_path / "p99.png").read_bytes().startswith(b"\x89PNG")
    assert pq.read_table(tmp_path / "overprovisioning" / "results.parquet").num_rows == 6 * 2 * 3
    results = {path: path.stat().st_mtime_ns for path in tmp_path.glob("overprovisioning/*/result.json")}
    assert len(results) == 6 * 2 * 3
    assert rows("sweep_overprovisioning.py", tmp_path) == table
    assert {path: path.stat().st_mtime_ns for path in results} == results


def test_cosimulation(tmp_path: Path) -> None:
    table = rows("cosimulation.py", tmp_path)
    programs, rates, means = ([number(row[place]) for row in table] for place in (0, 1, 2))
    assert programs == [1, 4, 16, 64]
    assert rates == sorted(rates)
    for count, rate, mean_ms in zip(programs, rates, means, strict=True):
        # Little's law: as many programs as there are wait or think, but for the beginning and the end.
        assert rate * (mean_ms + 0.2) / 1000 == pytest.approx(count, rel=0.05)
    assert files(tmp_path) == set()


@pytest.mark.full
def test_postgresql(tmp_path: Path) -> None:
    reason = why_no_mount() or why_no_loop_device()
    if reason is not None:
        pytest.skip(reason)
    table = rows("postgresql.py", tmp_path, "3")
    assert [row[0] for row in table] == ["npgc", "fpgc", "npgc", "fpgc"]
    assert [row[1:3] for row in table[2:]] == [["on", "fpgc"], ["on", "npgc"]]
    live = [[number(text) for text in row[1:]] for row in table[:2]]
    replays = [[number(text) for text in row[3:]] for row in table[2:]]
    for rate, mean_ms, *figures in live:
        # Little's law: sixteen clients wait for their transactions all the time.
        assert rate * mean_ms / 1000 == pytest.approx(16, rel=0.1)
        assert all(figure > 0 for figure in figures)
    # The same requests: reads that wait for no collection are answered sooner.
    for (_, _, read, *_), (other, *_), is_better in zip(live, replays, (True, False), strict=True):
        assert (other < read) == is_better
    assert files(tmp_path) == set()


def test_all_scripts_are_tested_and_described() -> None:
    assert {f"test_{name.removesuffix('.py')}" for name in SCRIPTS} <= set(globals())
    page = (EXAMPLES / "README.md").read_text()
    assert sorted(re.findall(r"^\| \[([\w.]+)\]\(\1\)", page, re.MULTILINE)) == sorted([*SCRIPTS, *NOTEBOOKS, *JOBS])
    for name in SCRIPTS:
        source = (EXAMPLES / name).read_text()
        assert source.startswith('"""')
        assert "Prints " in source


def outputs(cell: Any) -> str:
    """The output of a cell."""
    return "".join(output.text for output in cell.outputs if output.output_type == "stream" and output.name == "stdout")


def alike(notebook: Any) -> list[list[Any]]:
    """The outputs of cells without times on this machine. Pictures are compared as drawings, not as pixels."""
    return [[settled(output) for output in cell.outputs] for cell in notebook.cells if cell.cell_type == "code"]


def settled(output: Any) -> Any:
    data = output.get("data", {"text": output.get("text", "")})
    shown = {kind: "".join(text) for kind, text in data.items() if kind != "image/png"}
    return {kind: WALL_CLOCK.sub("...", text) for kind, text in shown.items()}


WALL_CLOCK = re.compile(r"<p>[^<]*(?:requests/s|of preparation)[^<]*</p>")


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook(name: str, tmp_path: Path) -> None:
    import nbclient
    import nbformat

    saved = nbformat.read(EXAMPLES / name, as_version=4)
    nbformat.validate(saved)
    notebook = copy.deepcopy(saved)
    # What one `print` writes may come in two messages of the kernel, now so and now so: merged, as in the saved ones.
    client = nbclient.NotebookClient(notebook, timeout=PATIENCE_S, record_timing=False, coalesce_streams=True)
    client.resources = {"metadata": {"path": str(tmp_path)}}
    client.execute()
    printed = "\n".join(outputs(cell) for cell in notebook.cells if cell.cell_type == "code")
    for words in ("slowest write", "requests waited for garbage collection", "under way when it arrived"):
        assert words in printed
    shown = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/svg+xml" in data for data in shown) == 2
    assert sum("Response times" in data.get("text/html", "") for data in shown) == 1
    means = dict(re.findall(r"^  (npgc|pgc) +([\d.]+) ms$", printed, re.MULTILINE))
    assert float(means["pgc"]) < float(means["npgc"])
    assert files(tmp_path) == set(), "it needs nothing but an installed ssdlab"
    if os.environ.get("UPDATE"):
        for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
            output.get("data", {}).pop("image/png", None)  # SVG shows the same
        nbformat.write(notebook, EXAMPLES / name)
        saved = notebook
    assert alike(notebook) == alike(saved), "its outputs are out of date: UPDATE=1 writes them again"


@pytest.mark.parametrize("name", [*SCRIPTS, *NOTEBOOKS])
def test_examples_run_where_no_checkout_is(name: str) -> None:
    """Users copy an example into an empty folder: it names no file of the repository."""
    text = (EXAMPLES / name).read_text()
    for word in ("__file__", "traces/", "/traces", "ROOT", "parent"):
        assert word not in text, word
