"""`ssdlab queueing`, from a user's perspective."""

from __future__ import annotations

import io
import json
import math
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from rich.console import Console
from rich.measure import Measurement

from conftest import ROOT, Ended, Ssdlab, fill
from ssdlab import queueing
from ssdlab.cli import app, main
from ssdlab.errors import FileError
from ssdlab.pages import tables
from ssdlab.queueing import Experiment

SHORT = ["queueing", "--requests", "20000"]
FILES = {"queueing.json", "figure.svg", "figure.png"}
SERIES = {"requests.parquet", "collections.parquet", "copies.parquet"}


def done(ended: Ended) -> Ended:
    assert (ended.code, ended.err) == (0, "")
    return ended


def test_the_table_has_a_column_for_each_priority(ssdlab_command: Ssdlab) -> None:
    text = done(ssdlab_command(*SHORT)).out
    assert "too high (section 5.2.2)" in text
    for priority in ("rwp", "cep"):  # below each other in 80 columns
        assert ["formula", priority, "simulated", "difference"] in [line.split() for line in text.splitlines()]
    assert all(len(line) <= 80 for line in text.splitlines() if "simulated" in line and "requests/s" not in line)
    experiment = queueing.Experiment(requests=20_000)
    runs = {priority: experiment.run(priority) for priority in ("rwp", "cep")}
    screen = Console(file=io.StringIO(), width=160)
    for item in tables.queueing_tables(runs, experiment.formulas()):
        screen.print(item)
    assert isinstance(screen.file, io.StringIO)
    text = screen.file.getvalue()
    heading = next(line for line in text.splitlines() if "simulated" in line)
    assert heading.split() == ["formula", "rwp", "simulated", "difference", "formula", "cep", "simulated", "difference"]
    row = next(line for line in text.splitlines() if line.startswith("mean wait "))
    assert "661 us" in row
    assert "22.5 ms" in row
    assert row.count("%") == 2
    assert "too high (section 5.2.2)" in text
    three = done(ssdlab_command(*SHORT, "--priority", "fifo", "--priority", "cep", "--priority", "rwp")).out
    assert three.index("fifo simulated") < three.index("cep simulated") < three.index("rwp simulated")


def test_json_is_one_object_with_formulas_and_runs(ssdlab_command: Ssdlab) -> None:
    report = done(ssdlab_command(*SHORT, "--json")).json()
    assert set(report) == {"formulas", "runs"}
    assert set(report["runs"]) == {"rwp", "cep"}
    assert report["formulas"]["mean_wait_rwp_ns"] == pytest.approx(661_249, rel=1e-5)
    run = report["runs"]["cep"]
    assert run["priority"] == "cep"
    assert {"digest", "wait_ns", "queue", "copy_queue", "utilisation", "gc", "simulated_ns", "requests_per_s"} <= set(run)
    same = queueing.simulate(priority="cep", requests=20_000)
    assert run["digest"] == same.digest
    assert all(math.isfinite(value) for value in report["formulas"].values())


def test_show(ssdlab_command: Ssdlab) -> None:
    formulas = done(ssdlab_command("queueing", "--show", "formulas", "--json")).json()
    assert set(formulas) == {"formulas"}
    text = done(ssdlab_command("queueing", "--show", "formulas")).out
    assert [line.split()[-1] for line in text.splitlines()[3:23]] == list(queueing.EQUATIONS.values())
    overload = ["--write-rate", "0.8"]
    words = ssdlab_command(*SHORT, *overload).failed(2)
    assert words.startswith("utilisation is 1.08")
    assert "--show simulation" in words
    assert ssdlab_command("queueing", "--show", "formulas", *overload).failed(2)
    assert set(done(ssdlab_command(*SHORT, *overload, "--show", "simulation", "--json")).json()) == {"runs"}
    assert "formula" not in done(ssdlab_command(*SHORT, *overload, "--show", "simulation")).out


def test_saturation_needs_no_room_for_error(ssdlab_command: Ssdlab) -> None:
    report = done(ssdlab_command(*SHORT, "--arrivals", "saturated", "--write-rate", "2", "--free-blocks", "2", "--json")).json()
    assert report["runs"]["rwp"]["parameters"]["free_blocks"] == 2
    assert "max_throughput_per_ms" in report["formulas"]


def test_times_given_one_by_one(ssdlab_command: Ssdlab) -> None:
    times = ["--read-us", "60.5", "--write-us", "500", "--copy-us", "540.001", "--erase-us", "0"]
    parameters = done(ssdlab_command(*SHORT, *times, "--pages", 64, "--valid", "10,20", "--json")).json()["runs"]["rwp"]["parameters"]
    expected = {"read_ns": 60_500, "write_ns": 500_000, "copy_ns": 540_001, "erase_ns": 0, "pages": 64, "valid": [10, 20]}
    assert {key: parameters[key] for key in expected} == expected


def test_results_in_a_folder(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    command = [*SHORT, "--out", "results/q", "--valid", "60,68"]
    out = done(ssdlab_command(*command)).out
    assert out.splitlines()[-1] == "results: results/q"
    folder = tmp_path / "results" / "q"
    assert {path.name for path in folder.iterdir()} == FILES | {"rwp", "cep", ".ssdlab.json"}
    for priority in ("rwp", "cep"):
        assert {path.name for path in (folder / priority).iterdir()} == SERIES
    report = json.loads((folder / "queueing.json").read_text())
    requests = pq.read_table(folder / "cep" / "requests.parquet")
    assert requests.column_names == ["arrival_ns", "op", "wait_ns"]
    waits = requests["wait_ns"].to_numpy()
    assert waits.mean() == pytest.approx(report["runs"]["cep"]["wait_ns"]["all"]["mean"])
    assert (folder / "figure.svg").read_text().startswith("<?xml")
    # The same command gives the same; what is no part of it is taken out.
    before = {path.name: path.read_bytes() for path in folder.rglob("*.*") if path.suffix != ".json"}
    done(ssdlab_command(*command))
    assert {path.name: path.read_bytes() for path in folder.rglob("*.*") if path.suffix != ".json"} == before
    done(ssdlab_command(*command, "--priority", "fifo"))
    assert not (folder / "rwp").exists()


def test_a_run_without_collections_has_a_figure(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    done(ssdlab_command("queueing", "--requests", 1, "--out", "q", "--quiet"))
    assert (tmp_path / "q" / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_gaps_from_a_file(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "gaps.csv").write_text("op,gap_ns\nread,1000000\nwrite,1500000\nwrite,2500000\n")
    run = done(ssdlab_command(*SHORT, "--gaps", "gaps.csv", "--json")).json()
    assert run["runs"]["rwp"]["parameters"]["arrivals"] == {"kind": "renewal", "read_gaps": 1, "write_gaps": 2}
    assert run["formulas"]["total_rate_per_ms"] == pytest.approx(1.5)


def test_a_trace(ssdlab_command: Ssdlab) -> None:
    trace = ROOT / "traces" / "mariadb_oltp_write_only_paced.csv.zst"
    command = ["queueing", "--trace", trace, "--fit", "trace", "--scale-time", "0.05", "--requests", 3000, "--json"]
    report = done(ssdlab_command(*command)).json()
    assert report["runs"]["rwp"]["workload"]["trace"]["requests"] == 3000
    assert report["formulas"]["total_rate_per_ms"] == pytest.approx(report["runs"]["rwp"]["throughput_per_ms"], rel=0.2)


def test_full_disk(ssdlab_command: Ssdlab, small_disk: Path) -> None:
    fill(small_disk)
    words = ssdlab_command(*SHORT, "--out", "disk/q").failed(1)
    assert "disk/q" in words
    assert "No space left on device" in words
    assert [path.name for path in small_disk.iterdir()] == ["filler"]


def test_a_disk_that_the_series_fill_keeps_the_numbers(ssdlab_command: Ssdlab, small_disk: Path) -> None:
    """64 KiB are enough for the numbers of both priorities, and not for the series of 20,000 requests."""
    words = ssdlab_command(*SHORT, "--out", "disk/q").failed(1)
    assert "No space left on device" in words
    runs = json.loads((small_disk / "q" / "queueing.json").read_text())["runs"]
    assert list(runs) == ["rwp", "cep"]
    assert all(run["requests"]["read"] > 0 for run in runs.values())


def test_a_priority_that_fails_leaves_those_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Experiment.run

    def fails(self: Experiment, priority: str, **more: Any) -> Any:
        if priority == "cep":
            raise FileError("cep: cannot read: gone", None, "cep")
        return run(self, priority, **more)

    monkeypatch.setattr(Experiment, "run", fails)
    monkeypatch.setattr(sys, "argv", ["ssdlab", *map(str, SHORT), "--out", str(tmp_path / "q")])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    out, err = capsys.readouterr()
    assert err == "error: cep: cannot read: gone\n"
    assert "rwp" in out
    assert list(json.loads((tmp_path / "q" / "queueing.json").read_text())["runs"]) == ["rwp"]
    assert (tmp_path / "q" / "rwp" / "requests.parquet").is_file()


WRONG = [
    (["--valid", "256"], ["valid = 256", "0 to 255"]),
    (["--valid", "64,,"], ['--valid = "64,,"', "commas"]),
    (["--valid", ""], ["--valid"]),
    (["--valid", "1_0"], ['--valid = "1_0"']),
    (["--scale-time", "2"], ["--scale-time means nothing"]),
    (["--out", ""], ["--out", "a folder"]),
    (["--gaps", "long.csv"], ["long.csv:2: ", "whole nanoseconds"]),
    (["--pages", "0"], ["pages = 0"]),
    (["--read-us", "-1"], ["--read-us = -1", "at least 0"]),
    (["--read-us", "nan"], ["--read-us", "whole nanoseconds"]),
    (["--write-us", "1.00001"], ["--write-us", "whole nanoseconds"]),
    (["--erase-us", "1e20"], ["--erase-us"]),
    (["--priority", "fcfs"], ["--priority", "rwp"]),
    (["--priority", "rwp", "--priority", "rwp"], ["named twice"]),
    (["--arrivals", "uniform"], ["--arrivals"]),
    (["--arrivals", "renewal"], ["--gaps FILE", "both empty"]),
    (["--arrivals", "replayed"], ["nothing to replay", "name a trace"]),
    (["--read-rate", "0", "--write-rate", "0"], ["both 0"]),
    (["--read-rate", "inf"], ["--read-rate = inf"]),
    (["--free-blocks", "0"], ["--free-blocks = 0"]),
    (["--requests", "0"], ["--requests = 0"]),
    (["--seed", "-1"], ["--seed"]),
    (["--show", "all"], ["--show"]),
    (["--show", "formulas", "--priority", "rwp"], ["--priority", "--show formulas"]),
    (["--device", "nowhere"], ["nowhere"]),
    (["--set", "gc.soft=0.1"], ["gc.soft", "means nothing"]),
    (["--set", "device.read_ns=0"], ["device.read_ns = 0"]),
    (["--trace", "nowhere.csv", "--workload", "lee2013-synthetic"], ["both given"]),
    (["--gaps", "bad.csv"], ['bad.csv:1: expected the header "op,gap_ns"']),
    (["--gaps", "line.csv"], ["line.csv:3: ", "whole nanoseconds"]),
    (["--gaps", "bytes.csv"], ["bytes.csv: expected a CSV file"]),
    (["--gaps", "line.csv", "--arrivals", "poisson"], ["line.csv:3"]),
    (["--out", "file"], ["file: cannot write"]),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG, ids=[" ".join(arguments) for arguments, _ in WRONG])
def test_wrong_usage_is_one_line(ssdlab_command: Ssdlab, tmp_path: Path, arguments: list[str], words: list[str]) -> None:
    (tmp_path / "bad.csv").write_text("read,5\n")
    (tmp_path / "line.csv").write_text("op,gap_ns\nread,5\nwrite,-5\n")
    (tmp_path / "long.csv").write_text(f"op,gap_ns\nread,{'9' * 5000}\n")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "file").write_text("")
    before = sorted(tmp_path.rglob("*"))
    few = [] if "--requests" in arguments else ["--requests", 1000]
    line = ssdlab_command("queueing", *few, *arguments).failed(1 if "cannot write" in words[0] else 2)
    for word in words:
        assert word in line, line
    assert sorted(tmp_path.rglob("*")) == before


def test_files_that_cannot_be_read(ssdlab_command: Ssdlab) -> None:
    assert "nowhere.csv: cannot read: No such file" in ssdlab_command("queueing", "--gaps", "nowhere.csv").failed(1)
    assert "nowhere.csv: cannot read: No such file" in ssdlab_command("queueing", "--trace", "nowhere.csv").failed(1)


def test_what_the_formulas_take_of_a_list(ssdlab_command: Ssdlab) -> None:
    """The mean of a list says nothing of the batches of section 5.2.2; with one number they are too high, which is said where it is so."""
    arguments = ("queueing", "--requests", 20_000, "--priority", "cep", "--valid")
    assert "too high" in done(ssdlab_command(*arguments, "64")).out
    spread = done(ssdlab_command(*arguments, "0,0,0,240")).out
    assert "0, 0, 0, 240 of 256 pages valid" in spread
    assert "too high" not in spread
    assert "mean_wait_cep_independent_ns" not in done(ssdlab_command(*arguments, "0,128", "--json")).json()["formulas"]


def test_a_block_of_another_size_has_a_quarter_valid(ssdlab_command: Ssdlab) -> None:
    assert "16 of 64 pages valid" in done(ssdlab_command("queueing", "--device", "lee2013", "--requests", 1000)).out


def test_what_is_left_out_of_a_trace_is_said(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    lines = ["timestamp_us,op,offset_bytes,size_bytes", "0,R,0,4096", "5,T,0,4096", "9,W,0,4096", "10,F,0,0", "11,F,0,0"]
    (tmp_path / "trims.csv").write_text("\n".join(lines) + "\n")
    ended = done(ssdlab_command("queueing", "--trace", "trims.csv", "--show", "simulation", "--priority", "rwp"))
    assert "Left out: 1 trims and 2 flushes" in ended.out


def test_no_column_is_lost_on_a_narrow_terminal() -> None:
    run = queueing.simulate(requests=1000)
    runs = dict.fromkeys(("rwp", "cep", "fifo"), run)
    items = tables.queueing_tables(runs, queueing.Experiment(requests=1000).formulas())
    for width in (40, 60, 80, 100, 200):
        out = io.StringIO()
        console = Console(file=out, width=width)
        for item in items:
            needed = Measurement.get(console, console.options.update(width=tables.UNBOUNDED), item).minimum
            Console(file=out, width=max(width, needed)).print(item)
        text = " ".join(out.getvalue().split())
        assert (text.count("simulated"), text.count("difference")) == (3, 3), width


def test_finished_runs_are_kept(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Ctrl-C in the second of two runs leaves the first."""
    serve = queueing.Experiment.run

    def interrupted(self: queueing.Experiment, priority: str | None = None, **more: Any) -> queueing.QueueingResult:
        if priority == "cep":
            raise KeyboardInterrupt
        return serve(self, priority, **more)

    monkeypatch.setattr(queueing.Experiment, "run", interrupted)
    for _ in range(2):  # each command of a process says it
        assert app(["queueing", "--requests", "1000", "--out", str(tmp_path / "out"), "--quiet"], standalone_mode=False) == 130
        assert capsys.readouterr().err.count("1 of 2 runs had finished") == 1
    assert set(json.loads((tmp_path / "out/queueing.json").read_text())["runs"]) == {"rwp"}
    assert not (tmp_path / "out/cep").exists()


def test_an_interrupted_write_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ssdlab.runs.queueing_figure.draw", interrupted)
    assert app(["queueing", "--requests", "1000", "--out", str(tmp_path / "out"), "--quiet"], standalone_mode=False) == 130
    assert not (tmp_path / "out").exists()
