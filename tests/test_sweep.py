"""`ssdlab sweep` and `ssdlab.sweep`."""

from __future__ import annotations

import csv
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ssdlab
from conftest import DRIVE, PATIENCE_S, SMALL, Ssdlab, core_at_work, until
from ssdlab.asking.plans import value_text
from ssdlab.experiments.sweeping import running
from ssdlab.experiments.sweeping.definition import LONGEST_NAME, define, load
from ssdlab.experiments.sweeping.running import prepare, run
from ssdlab.pages import tables

COMMON = {key: value for key, value in SMALL.items() if key != "gc.soft"}
GRID = {"scheme": ["npgc", "pgc"], "gc.soft": [0.1, 0.15], "seed": [1, 2]}
TRACE = "timestamp_us,op,offset_bytes,size_bytes\n0,W,0,4096\n9,R,0,4096\n"


def toml(grid: str, requests: int = 500) -> str:
    keys = "".join(f'"{key}" = {value}\n' for key, value in COMMON.items())
    return f"requests = {requests}\n[set]\n{keys}[grid]\n{grid}"


SWEEP = toml('scheme = ["npgc", "pgc"]\ngc.soft = [0.1, 0.15]\nseed = [1, 2]\n')


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "grid.toml"
    path.write_text(SWEEP)
    return path


def sweep(grid: dict[str, Any], **more: Any) -> ssdlab.SweepResult:
    length = {} if "requests" in grid else {"requests": 500}
    return ssdlab.sweep(grid, **{"set": COMMON, **length, **more})


def digests(result: ssdlab.SweepResult) -> list[str]:
    return [point.result.digest for point in result]


def combinations() -> list[dict[str, Any]]:
    return [dict(zip(GRID, values, strict=True)) for values in itertools.product(*GRID.values())]


def single(values: dict[str, Any], requests: int = 500) -> ssdlab.Result:
    keys = COMMON | {"gc.soft": values["gc.soft"]}
    return ssdlab.run(scheme=values["scheme"], seed=values["seed"], requests=requests, set=keys)


def changed(folder: Path) -> dict[Path, int]:
    """The time of the last write of each result below a folder."""
    return {path: path.stat().st_mtime_ns for path in folder.glob("*/result.json")}


# ---------------------------------------------------------------------------------------------------------------------------------------
# Points


def test_the_points_are_all_combinations_the_last_axis_fastest_and_each_is_a_run() -> None:
    result = sweep(GRID)
    assert [dict(point.values) for point in result] == combinations()
    assert digests(result) == [single(values).digest for values in combinations()]
    assert len(set(digests(result))) == 8
    assert [point.result.seed for point in result] == [1, 2] * 4
    assert result[-1].values == {"scheme": "pgc", "gc.soft": 0.15, "seed": 2}
    assert not result.failed


def test_the_number_of_threads_and_the_form_of_the_values_change_nothing(file: Path, tmp_path: Path) -> None:
    expected = digests(sweep(GRID))
    loose = {"scheme": ("npgc", "pgc"), "gc.soft": np.array([0.1, 0.15]), "seed": range(1, 3)}
    assert digests(sweep(loose, jobs=1)) == digests(sweep(loose, jobs=3)) == expected
    assert digests(run(prepare(load(file)))) == expected


def test_options_and_keys_are_axes() -> None:
    result = sweep({"requests": [100, 200], "time_scale": [1, 2.0], "gc.scope": ["none", "device"]}, scheme="npgc")
    counts = [sum(point.result.request_counts.values()) for point in result]
    assert counts == [100] * 4 + [200] * 4
    expected = ssdlab.run(scheme="npgc", requests=200, time_scale=2.0, set=COMMON | {"gc.scope": "device"})
    assert result[-1].result.digest == expected.digest


def test_a_value_can_say_several_things_under_a_label(tmp_path: Path) -> None:
    loads = [{"label": "light", "time_scale": 0.5}, {"label": "heavy", "time_scale": 2, "set": {"gc.soft": 0.15, "gc": {"scope": "none"}}}]
    result = sweep({"load": loads, "scheme": ["npgc"]})
    assert [dict(point.values) for point in result] == [{"load": "light", "scheme": "npgc"}, {"load": "heavy", "scheme": "npgc"}]
    heavy = ssdlab.run(scheme="npgc", requests=500, time_scale=2, set=COMMON | {"gc.soft": 0.15, "gc.scope": "none"})
    assert result[1].result.digest == heavy.digest
    assert result.table()["load"].to_pylist() == ["light", "heavy"]
    file = tmp_path / "loads.toml"
    file.write_text(
        toml(
            'load = [{ label = "light", time_scale = 0.5 },\n'
            '        { label = "heavy", time_scale = 2, set = { gc.soft = 0.15, gc.scope = "none" } }]\n'
            'scheme = ["npgc"]\n'
        )
    )
    assert digests(run(prepare(load(file)))) == digests(result)


def test_files_are_found_beside_the_sweeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "a.csv").write_text(TRACE)
    (tmp_path / "b.csv").write_text(TRACE + "20,R,4096,4096\n")
    monkeypatch.chdir(tmp_path)
    keys = "".join(f'"{key}" = {value}\n' for key, value in DRIVE.items())
    file = tmp_path / "there" / "traces.toml"
    file.write_text(f'[set]\n{keys}[grid]\ntrace = ["a.csv", "b.csv"]\n')
    result = run(prepare(load(file)))
    assert [sum(point.result.request_counts.values()) for point in result] == [2, 3]
    assert [point.values["trace"] for point in result] == ["a.csv", "b.csv"]


def test_the_saved_definition_says_the_same(tmp_path: Path) -> None:
    loads = [{"label": "light", "time_scale": 0.5}, {"label": 'x "y" 😀', "set": {"gc.soft": 0.15}}]
    named_alike = [{"label": "chip", "set": {"gc.merge": "chip"}}]
    grid = {"load": loads, "scheme": ["npgc"], "gc.scope": ["none"], "near": named_alike, "seed": [1, 2**64 - 1], "fit": ["trace", 1000]}
    described = define("sweep", {"device": "lee2013", "verify": "end", "set": {"gc.hard": 0.01}, "grid": grid})
    text = described.to_toml()
    again = define("sweep", tomllib.loads(text))
    assert again == described
    assert list(again.points()) == list(described.points())


# ---------------------------------------------------------------------------------------------------------------------------------------
# Names of folders


def folders(grid: dict[str, Any]) -> list[str]:
    return [point.folder for point in define("sweep", {"grid": grid}).points()]


def test_folders_are_called_what_the_points_are() -> None:
    assert folders({"scheme": ["npgc+slacker"], "gc.soft": [0.05, 1e-07]}) == [
        "scheme=npgc+slacker_gc.soft=0.05",
        "scheme=npgc+slacker_gc.soft=1e-07",
    ]
    # A grid that grows finds its earlier points again.
    assert set(folders({"seed": [1, 2]})) < set(folders({"seed": [5, 2, 1]}))


def test_folders_are_names_that_every_file_system_takes_each_of_its_own() -> None:
    odd = ["a b", "a-b", "a/b", "../..", "a=b", "ä", "😀", "x" * 400, "x" * 401, ".", ""]
    names = folders({"trace": odd})
    assert len(set(names)) == len(odd)
    for name in names:
        assert name.isascii()
        assert "/" not in name
        assert len(name) <= LONGEST_NAME + 9
        assert name.startswith("trace=")
    assert len(set(folders({"trace": ["1_gc.soft=2", "1"], "gc.soft": [2, 3]}))) == 4


# ---------------------------------------------------------------------------------------------------------------------------------------
# Files and tables


def test_the_folder_holds_a_table_and_each_result(ssdlab_command: Ssdlab, file: Path, tmp_path: Path) -> None:
    done = ssdlab_command("sweep", file, "--out", "out")
    assert (done.code, done.err) == (0, "")
    out = tmp_path / "out"
    table = pq.read_table(out / "results.parquet")
    assert table.column_names[:3] == ["scheme", "gc.soft", "seed"]
    assert [field.type for field in table.schema][:3] == [pa.string(), pa.float64(), pa.int64()]
    rows = table.to_pylist()
    assert [{axis: row[axis] for axis in GRID} for row in rows] == combinations()
    with (out / "results.csv").open() as lines:
        plain = list(csv.DictReader(lines))
    assert list(plain[0]) == table.column_names
    for values, row, line in zip(combinations(), rows, plain, strict=True):
        result = json.loads(
            (out / f"scheme={values['scheme']}_gc.soft={values['gc.soft']}_seed={values['seed']}" / "result.json").read_text()
        )
        assert result["digest"] == row["digest"] == line["digest"] == single(values).digest
        assert row["latency_ns.read.p99"] == result["latency_ns"]["read"]["p99"] == int(line["latency_ns.read.p99"])
        assert row["gc.write_amplification"] == result["gc"]["write_amplification"] == float(line["gc.write_amplification"])
        assert result["sweep"] == {"point": values, "requests": 500, "inputs": {}}
        assert not [name for name in row if name.startswith(("config", "sweep", "utilisation"))]
    assert load(out / "sweep.toml").axes == load(file).axes
    assert sorted(path.name for path in out.iterdir() if path.is_file()) == [
        ".ssdlab.json",
        *("means.csv", "means.parquet"),  # over the seeds
        *("report.html", "results.csv", "results.parquet", "sweep.toml"),
    ]


def test_what_only_some_points_have_is_null_for_the_others(tmp_path: Path) -> None:
    result = sweep({"workload.read_share": [0.0, 0.5], "seed": [1]}, set={key: v for key, v in COMMON.items() if "read_share" not in key})
    column = result.table()["latency_ns.read.p99"].to_pylist()
    assert column == [None, result[1].result.latency.read.p99]
    assert result.to_csv().decode().splitlines()[1].count(",,") > 0


def test_columns_keep_their_values_whatever_their_types() -> None:
    keys = {key: value for key, value in COMMON.items() if key != "device.blocks_per_plane"}
    result = sweep({"seed": [1, 2**64 - 1], "gc.soft": [1, 0.1], "fit": ["2500000", 3000000]}, requests=50, set=keys)
    table = result.table()
    assert table["seed"].to_pylist() == [1] * 4 + [2**64 - 1] * 4
    assert table["gc.soft"].to_pylist() == [1.0, 1.0, 0.1, 0.1] * 2
    assert table["fit"].to_pylist() == ["2500000", "3000000"] * 4
    assert pq.read_table(pa.BufferReader(result.to_parquet())).equals(table)


def test_the_terminal_shows_points_and_figures(ssdlab_command: Ssdlab, file: Path) -> None:
    file.write_text(SWEEP.replace("seed = [1, 2]", "time_scale = [1, 2]"))
    done = ssdlab_command("sweep", file, "--out", "out")
    lines = done.out.splitlines()
    assert "\x1b" not in done.out
    # The axes do not fit beside the figures: a line of its own names each point, above its figures.
    heading = " ".join(lines[1 : lines.index(next(line for line in lines if line.startswith("──")))])
    assert all(word in heading for word in ("mean", "p99", "p99.9", "write", "amplification", "GC", "jobs", "throughput"))
    points = [index for index, line in enumerate(lines) if line.startswith("scheme = ")]
    assert len(points) == 8
    assert lines[points[0]] == "scheme = npgc, gc.soft = 0.1, time_scale = 1"
    result = single(combinations()[0])
    words = (tables.duration(result.latency.all.p99), f"{result.gc.jobs:,}", f"{tables.three(result.iops)} IOPS")
    assert all(word in lines[points[0] + 1] for word in words)
    assert "results: out/results.parquet, out/results.csv" in lines


def test_a_large_table_is_cut(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "large.toml").write_text(toml(f"time_scale = {list(range(1, 61))}\n", requests=20))
    done = ssdlab_command("sweep", "large.toml", "--out", "out")
    assert "60 of 60 points" in done.out
    assert "... and 20 more points" in done.out
    assert pq.read_table(tmp_path / "out" / "results.parquet").num_rows == 60


def test_json_and_quiet(ssdlab_command: Ssdlab, file: Path) -> None:
    done = ssdlab_command("sweep", file, "--out", "out", "--json")
    report = done.json()
    assert (done.code, done.err) == (0, "")
    assert report["axes"] == GRID
    assert [point["values"] for point in report["points"]] == combinations()
    assert report["points"][3]["result"]["digest"] == single(combinations()[3]).digest
    assert not {"failed", "left"} & set(report)
    quiet = ssdlab_command("sweep", file, "--out", "other", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


def test_from_python(tmp_path: Path) -> None:
    result = sweep(GRID, out=tmp_path / "out")
    assert len(result) == len(list(result)) == 8
    assert "Response times: mean over 2 seeds" in str(result)
    assert "8 of 8 runs" in str(result)
    assert repr(result) == "<SweepResult: 8 of 8 points over scheme, gc.soft, seed>"
    assert result.to_dict()["points"][0]["values"] == combinations()[0]
    assert result.table().equals(pq.read_table(tmp_path / "out" / "results.parquet"))
    assert result[0].folder == tmp_path / "out" / "scheme=npgc_gc.soft=0.1_seed=1"
    assert result[0].result.to_dict() == json.loads((result[0].folder / "result.json").read_text())


def test_a_figure_over_an_axis(tmp_path: Path) -> None:
    result = sweep({**GRID, "gc.soft": [0.1, 0.12, 0.15]})
    picture = result.plot("latency_ns.all.p99", "gc.soft")
    (panel,) = picture.sheet.axes
    assert panel.get_xlabel() == "gc.soft"
    assert panel.get_ylabel() == "p99 response time (ms)"
    handles, labels = panel.get_legend_handles_labels()
    assert labels == ["npgc", "pgc"]
    for handle, scheme in zip(handles, labels, strict=True):
        line = handle.lines[0]
        assert list(line.get_xdata()) == [0.1, 0.12, 0.15]
        for soft, drawn in zip(line.get_xdata(), line.get_ydata(), strict=True):
            both = [
                point.result.latency.all.p99 for point in result if point.values["scheme"] == scheme and point.values["gc.soft"] == soft
            ]
            assert drawn == pytest.approx(sum(both) / 2)
    assert panel.yaxis.get_major_formatter()(2e6) == "2"
    picture.save(tmp_path / "p99.png")
    assert (tmp_path / "p99.png").read_bytes().startswith(b"\x89PNG")
    one = result.plot("gc.jobs", "scheme", by="gc.soft", where={"seed": 1}).sheet.axes[0]
    assert one.get_legend_handles_labels()[1] == ["gc.soft = 0.1", "gc.soft = 0.12", "gc.soft = 0.15"]
    assert [label.get_text() for label in one.get_xticklabels()] == ["npgc", "pgc"]


def test_the_upright_label_of_a_narrow_figure_is_not_clipped() -> None:
    result = sweep({**GRID, "gc.soft": [0.1, 0.12, 0.15]})
    for column in ("latency_ns.read.p99", "gc.page_write_amplification"):
        for width, height in (("3.4in", None), ("2in", None), ("2.4in", "1.5in")):
            sheet = result.plot(column, "gc.soft", width=width, height=height).sheet
            sheet.draw_without_rendering()
            panel, label = sheet.axes[0].get_window_extent(), sheet.axes[0].yaxis.label
            assert label.get_window_extent().height <= 1.05 * panel.height, (column, width)
            assert label.get_window_extent().x0 >= 0
        both = result.plot(column, "gc.soft", panels_by="scheme", width="2in", height="2in").sheet
        both.draw_without_rendering()
        assert both.get_supylabel(), column
        (named,) = [text for text in both.texts if text.get_text() == both.get_supylabel()]
        box = named.get_window_extent()
        assert 0 <= box.y0 < box.y1 <= both.bbox.height


def test_a_figure_has_a_panel_for_each_value_of_an_axis() -> None:
    result = sweep({**GRID, "gc.soft": [0.1, 0.12, 0.15]})
    picture = result.plot("latency_ns.all.mean", panels_by="scheme")
    panels = picture.sheet.axes
    assert [panel.get_title() for panel in panels] == ["scheme = npgc", "scheme = pgc"]
    assert panels[0].get_ylim() == panels[1].get_ylim()
    for panel, scheme in zip(panels, ["npgc", "pgc"], strict=True):
        (handle,) = panel.get_legend_handles_labels()[0] or panel.containers
        for soft, drawn in zip(handle.lines[0].get_xdata(), handle.lines[0].get_ydata(), strict=True):
            at = {"scheme": scheme, "gc.soft": soft}
            two = [point.result.latency.all.mean for point in result if {**at, "seed": point.values["seed"]} == point.values]
            assert drawn == pytest.approx(sum(two) / 2)
    both = result.plot("latency_ns.all.mean", panels_by=["seed", "scheme"]).sheet.axes
    assert [panel.get_title() for panel in both] == [f"seed = {seed}, scheme = {scheme}" for seed in (1, 2) for scheme in ("npgc", "pgc")]
    second = result.plot("latency_ns.all.mean", panels_by=["seed", "scheme"], panels=[2, 3]).sheet.axes
    assert [panel.get_title() for panel in second] == ["seed = 1, scheme = pgc", "seed = 2, scheme = npgc"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"y": "iops", "panels_by": "shceme"}, ['no axis "shceme"', "there are scheme, gc.soft, seed"]),
        ({"y": "iops", "panels_by": ["scheme", "scheme"]}, ["scheme has two uses, panels and panels"]),
        ({"y": "iops", "panels_by": "scheme", "by": "scheme"}, ["scheme has two uses, lines and panels"]),
        ({"y": "iops", "panels_by": ["scheme", "gc.soft"], "by": "seed"}, ["no axis is left to go across"]),
        ({"y": "iops", "panels_by": 3}, ["panels_by = 3", "a list of names"]),
        ({"y": "iops", "panels_by": "scheme", "panels": [3]}, ["panels = [3]", "1 scheme = npgc, 2 scheme = pgc"]),
        ({"y": "iops", "panels_by": "scheme", "panels": "1"}, ["panels = '1'", "such as [1]"]),
        ({"y": "latency_ns.all.p98"}, ["latency_ns.all.p98", "latency_ns.all.p99"]),
        ({"y": "digest"}, ["digest"]),
        ({"y": "iops", "x": "gc.sotf"}, ["gc.sotf", "gc.soft"]),
        ({"y": "iops", "x": "scheme", "by": "scheme"}, ["scheme has two uses, the x axis and lines"]),
        ({"y": "iops", "where": {"scheme": "fpgc"}}, ["nothing to draw"]),
    ],
)
def test_what_cannot_be_drawn(arguments: dict[str, Any], words: list[str]) -> None:
    result = sweep({**GRID, "seed": [1]}, requests=50)
    with pytest.raises(ssdlab.UsageError) as error:
        result.plot(**arguments)
    assert all(word in str(error.value) for word in words)


# ---------------------------------------------------------------------------------------------------------------------------------------
# Mistakes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["grid", "at least one axis"]),
        ("[grid]\n", ["grid", "at least one axis"]),
        ("grid = 5\n", ["grid"]),
        ("[grid]\nseed = [1, 2\nscheme = ['npgc']\n", ["not valid TOML", "line 3"]),
        ("requests = 5\n[gird]\nseed = [1]\n", ["gird", "grid"]),
        ("[grid]\nschemes = ['npgc']\n", ["schemes", '"scheme"']),
        ("[grid]\nsotf = [0.1]\n", ["sotf", "gc.soft"]),
        ("[grid]\nseed = []\n", ["grid.seed", "list"]),
        ("[grid]\nseed = 5\n", ["grid.seed", "list"]),
        ("[grid]\nseed = [1, 2, 1]\n", ["grid.seed", "1 is there twice"]),
        ("[grid]\ngc.soft = [1, 1.0]\n", ["grid.gc.soft", "twice"]),
        ('[grid]\nfit = [1, "1"]\n', ["grid.fit", "twice"]),
        ('[grid]\nseed = [1, "2"]\n', ["grid.seed", "'2'", "whole number"]),
        ("[grid]\nseed = [true]\n", ["grid.seed", "whole number"]),
        ("[grid]\nscheme = [1]\n", ["grid.scheme", "text"]),
        ("[grid]\ngc.soft = [1979-05-27]\n", ["grid.gc.soft", "numbers, texts"]),
        ("seed = [1, 2]\n[grid]\nscheme = ['npgc']\n", ["seed = [1, 2]", "[grid]"]),
        ("requests = 'many'\n[grid]\nseed = [1]\n", ["requests", "whole number"]),
        ("seed = 1\n[grid]\nseed = [1]\n", ["grid.seed", "seed is given for all points"]),
        ("[set]\ngc.soft = 0.1\n[grid]\ngc.soft = [0.1]\n", ["grid.gc.soft", "gc.soft is given for all points"]),
        ("time_scale = 2\n[grid]\nworkload.time_scale = [1]\n", ["workload.time_scale", "time_scale is given for all points"]),
        ("[grid]\ntime_scale = [2]\nworkload.time_scale = [1]\n", ["grid.workload.time_scale", "by grid.time_scale"]),
        ("[grid]\nload = [{label = 'a', seed = 2}]\nseed = [1]\n", ["grid.seed", "by grid.load"]),
        ("[grid]\nload = [{seed = 2}]\n", ["grid.load[0]", "label is missing"]),
        ("[grid]\nload = [{label = 'a', sed = 2}]\n", ["grid.load[0]", "sed", "seed"]),
        ("[grid]\nload = [{label = 'a'}, {label = 'a'}]\n", ["grid.load", "a is there twice"]),
        ('[grid]\n"workload.flows" = [[{a = 1}], [{a = 1}]]\n', ["grid.workload.flows", "is there twice"]),
        ("[grid]\nload = [{label = 'a'}, 5]\n", ["grid.load", "not of both"]),
        ("[grid]\nverify = ['end', 'off']\n", ["verify"]),
    ],
)
def test_a_mistake_in_a_file_is_one_clear_line(tmp_path: Path, text: str, words: list[str]) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    with pytest.raises(ssdlab.ConfigError) as error:
        load(file)
    message = str(error.value)
    assert "wrong.toml: " in message
    assert "\n" not in message
    for word in words:
        assert word in message


def test_a_grid_that_is_too_large_is_counted() -> None:
    with pytest.raises(ssdlab.ConfigError, match=r"1,000,000 points, 1,000 \(seed\) x 1,000 \(requests\): expected at most 20,000"):
        sweep({"seed": range(1000), "requests": range(1, 1001)})


@pytest.mark.parametrize(
    ("grid", "more", "words"),
    [
        ({"gc.sotf": [0.1]}, {}, ["gc.sotf = 0.1", "gc.soft"]),
        ({"gc.scope": ["none", "chpi"]}, {}, ["the point gc.scope = chpi", "chip"]),
        ({"scheme": ["npgc"], "gc.soft": [0.1, -5, -6]}, {}, ["scheme = npgc, gc.soft = -5", "nor can 1 of the other 2 points"]),
        ({"workload": ["lee2013-synthetic"]}, {"trace": "x.csv"}, ["workload = lee2013-synthetic", "a workload preset and a trace"]),
        ({"trace": ["absent.csv"]}, {}, ["trace = absent.csv", "absent.csv"]),
        ({"requests": [10, 0]}, {}, ["requests = 0"]),
        ({"seed": [-1]}, {}, ["seed = -1"]),
        ({"device": ["lee2031"]}, {}, ["device = lee2031", "lee2013"]),
    ],
)
def test_a_point_that_cannot_be_simulated_is_named_before_any_run(
    tmp_path: Path, grid: dict[str, Any], more: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(ssdlab.Error) as error:
        ssdlab.sweep(grid, **more, out=tmp_path / "out")
    for word in words:
        assert word in str(error.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"grid": 5}, ["grid = 5"]),
        ({"grid": {1: [2]}}, ["grid"]),
        ({"grid": {"scheme": "npgc"}}, ["scheme = 'npgc'", "several values"]),
        ({"grid": {"seed": 1}}, ["seed = 1", "several values"]),
        ({"grid": {}}, ["at least one axis"]),
        ({"grid": {"seed": [None]}}, ["grid.seed", "None"]),
        ({"grid": {"gc.soft": [None]}}, ["grid.gc.soft", "None"]),
        ({"grid": {"seed": [1]}, "jobs": 0}, ["jobs = 0"]),
        ({"grid": {"seed": [1]}, "engine": "cloud"}, ["engine", "cloud", "local or ray"]),
        ({"grid": {"seed": [1]}, "resume": True}, ["resume", "out"]),
        ({"grid": {"seed": [1]}, "resume": 1, "out": "x"}, ["resume = 1"]),
        ({"grid": {"seed": [1]}, "out": 5}, ["out = 5"]),
        ({"grid": {"seed": [1]}, "progress": "yes"}, ["progress"]),
        ({"grid": {"seed": [1]}, "set": 5}, ["set = 5"]),
    ],
)
def test_arguments_of_a_wrong_type(arguments: dict[str, Any], words: list[str]) -> None:
    with pytest.raises((ssdlab.UsageError, ssdlab.ConfigError)) as error:
        ssdlab.sweep(**arguments)
    for word in words:
        assert word in str(error.value)


def test_mistakes_end_the_command_with_code_2(ssdlab_command: Ssdlab, file: Path, tmp_path: Path) -> None:
    assert "absent.toml" in ssdlab_command("sweep", "absent.toml", "--out", "out").failed(1)
    assert "--out" in ssdlab_command("sweep", file).failed(2)
    assert "--engine" in ssdlab_command("sweep", file, "--out", "out", "--engine", "cloud").failed(2)
    file.write_text(SWEEP + "gc.sotf = [1]\n")
    assert "gc.soft" in ssdlab_command("sweep", file, "--out", "out").failed(2)
    assert not (tmp_path / "out").exists()
    (tmp_path / "taken").write_text("a file")
    file.write_text(SWEEP)
    assert "taken" in ssdlab_command("sweep", file, "--out", "taken").failed(1)


# ---------------------------------------------------------------------------------------------------------------------------------------
# Going on with a sweep


def test_results_are_not_written_over(ssdlab_command: Ssdlab, file: Path, tmp_path: Path) -> None:
    assert ssdlab_command("sweep", file, "--out", "out", "--quiet").code == 0
    before = changed(tmp_path / "out")
    line = ssdlab_command("sweep", file, "--out", "out").failed(2)
    assert all(word in line for word in ("out has results already", "--resume"))
    for name in ("results.parquet", "results.csv", "means.parquet", "means.csv"):
        (tmp_path / "out" / name).unlink()
    assert "result.json" in ssdlab_command("sweep", file, "--out", "out").failed(2)
    assert changed(tmp_path / "out") == before


def test_a_grid_that_grows_runs_only_what_is_new(tmp_path: Path) -> None:
    out = tmp_path / "out"
    sweep(GRID, out=out)
    before = changed(out)
    grown = sweep({**GRID, "gc.soft": [0.1, 0.12, 0.15]}, out=out, resume=True)
    assert {path: changed(out)[path] for path in before} == before
    assert len(changed(out)) == 12
    assert len(grown) == pq.read_table(out / "results.parquet").num_rows == 12
    assert grown[0].result.digest == single(combinations()[0]).digest
    # Going on with one that is complete runs nothing, and the files are the same.
    table = (out / "results.csv").read_bytes()
    assert len(sweep({**GRID, "gc.soft": [0.1, 0.12, 0.15]}, out=out, resume=True)) == 12
    assert (out / "results.csv").read_bytes() == table
    # One with fewer points has only those in its table.
    assert len(sweep({**GRID, "seed": [2]}, out=out, resume=True)) == pq.read_table(out / "results.parquet").num_rows == 4


def test_a_result_that_cannot_be_read_is_run_again(tmp_path: Path) -> None:
    result = sweep(GRID, out=tmp_path)
    assert result[2].folder is not None
    assert result[5].folder is not None
    (result[2].folder / "result.json").write_text('{"version": "0.1')
    shutil.rmtree(result[5].folder)
    assert digests(sweep(GRID, out=tmp_path, resume=True)) == digests(result)


def test_a_point_whose_figures_were_edited_is_run_again(ssdlab_command: Ssdlab, file: Path, tmp_path: Path) -> None:
    assert ssdlab_command("sweep", file, "--out", "out", "--quiet").code == 0
    points = sorted((tmp_path / "out").glob("*/result.json"))
    before = changed(tmp_path / "out")
    figures = [json.loads(point.read_text()) for point in points]
    # A figure changed, another deleted, one of another version of the program without a checksum.
    edited = [{**figures[0], "latency_ns": {**figures[0]["latency_ns"], "all": figures[1]["latency_ns"]["all"]}}]
    edited += [{key: value for key, value in figures[1].items() if key != "gc"}]
    edited += [{key: value for key, value in figures[2].items() if key != "checksum"}]
    for point, content in zip(points, edited, strict=False):
        point.write_text(json.dumps(content))
    points[3].write_text(json.dumps(figures[3], indent=4))  # another layout of the same content
    table = pq.read_table(tmp_path / "out/results.parquet")
    done = ssdlab_command("sweep", file, "--out", "out", "--resume")
    assert done.code == 0, done.err
    assert f"{len(points) - 3} of {len(points)} points were there already" in done.out
    assert "3 results were not as ssdlab wrote them: their points were run again" in done.out
    speed = ("wall_s", "prepare_s", "requests_per_s")
    again = [json.loads(point.read_text()) for point in points]
    assert [{k: v for k, v in run.items() if k not in speed} for run in again] == [
        {k: v for k, v in run.items() if k not in speed} for run in figures
    ]
    assert pq.read_table(tmp_path / "out/results.parquet")["latency_ns.all.mean"] == table["latency_ns.all.mean"]
    after = changed(tmp_path / "out")
    assert {path: after[path] for path in points[4:]} == {path: before[path] for path in points[4:]}


def test_the_tables_stay_until_new_ones_take_their_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    sweep(GRID, out=out)
    before = [(out / name).read_bytes() for name in ("results.parquet", "results.csv")]
    execute = running.execute

    def looked(*arguments: Any, **more: Any) -> Any:
        ended = execute(*arguments, **more)
        assert [(out / name).read_bytes() for name in ("results.parquet", "results.csv")] == before
        return ended

    monkeypatch.setattr(running, "execute", looked)
    assert len(sweep({**GRID, "seed": [1, 2, 3]}, out=out, resume=True)) == pq.read_table(out / "results.parquet").num_rows == 12


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"requests": 501}, ["sweep.requests is 500 there, 501 here"]),
        ({"set": COMMON | {"workload.interarrival_us": 2001}}, ["config.workload.interarrival_us is 2000.0 there, 2001.0 here"]),
        ({"set": COMMON | {"gc.hard": 0.05}}, ["config.gc"]),
        ({"device": "lee2013"}, ["config.device"]),
    ],
)
def test_results_of_something_else_are_refused(tmp_path: Path, more: dict[str, Any], words: list[str]) -> None:
    sweep({"gc.soft": [0.1, 0.15]}, out=tmp_path)
    before = changed(tmp_path)
    with pytest.raises(ssdlab.UsageError) as error:
        sweep({"gc.soft": [0.1, 0.15]}, out=tmp_path, resume=True, **more)
    for word in ("result.json", "choose another folder", *words):
        assert word in str(error.value)
    assert changed(tmp_path) == before
    assert (tmp_path / "results.parquet").exists()


def test_results_of_another_seed_version_or_content_of_a_trace_are_refused(tmp_path: Path) -> None:
    trace = tmp_path / "t.csv"
    trace.write_text(TRACE)
    out = tmp_path / "out"
    again: dict[str, Any] = {"set": {key: v for key, v in DRIVE.items() if key != "gc.soft"}, "trace": trace, "out": out, "resume": True}
    (point,) = ssdlab.sweep({"gc.soft": [0.1]}, **again)
    with pytest.raises(ssdlab.UsageError, match="seed is 1 there, 2 here"):
        ssdlab.sweep({"gc.soft": [0.1]}, **again, seed=2)
    with pytest.raises(ssdlab.UsageError, match=r"sweep.requests is absent there, 1 here"):
        ssdlab.sweep({"gc.soft": [0.1]}, **again, requests=1)
    trace.write_text(TRACE.replace("9,R", "8,R"))
    with pytest.raises(ssdlab.UsageError, match=r"sweep.inputs.trace is"):
        ssdlab.sweep({"gc.soft": [0.1]}, **again)
    trace.write_text(TRACE)
    assert len(ssdlab.sweep({"gc.soft": [0.1]}, **again)) == 1
    assert point.folder is not None
    file = point.folder / "result.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"version": "0.0.1"}))
    with pytest.raises(ssdlab.UsageError, match="version is"):
        ssdlab.sweep({"gc.soft": [0.1]}, **again)


def test_the_definition_in_the_folder_can_be_the_one_that_is_run(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    own = tmp_path / "out" / "sweep.toml"
    own.parent.mkdir()
    text = "# mine\n" + SWEEP
    own.write_text(text)
    assert ssdlab_command("sweep", own, "--out", "out", "--quiet").code == 0
    assert own.read_text() == text
    # The one that ssdlab wrote describes the same points.
    assert ssdlab_command("sweep", own, "--out", "other", "--quiet").code == 0
    again = ssdlab_command("sweep", "other/sweep.toml", "--out", "other", "--resume")
    assert "8 of 8 points were there already" in again.out


def started(arguments: list[str], folder: Path, results: int, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Starts a sweep, and waits until it has `results` results in `folder/out`."""
    command = [sys.executable, "-m", "ssdlab", "sweep", *arguments]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, cwd=folder, env={**os.environ, **(env or {})}, **pipes)
    until(lambda: len(changed(folder / "out")) >= results, process)
    return process


def test_a_sweep_that_was_killed_goes_on(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(toml(f"seed = {list(range(400))}\n", requests=20_000))
    process = started(["long.toml", "--out", "out", "--jobs", "1"], tmp_path, results=3)
    process.kill()
    process.communicate()
    out = tmp_path / "out"
    before = changed(out)
    assert 3 <= len(before) < 400
    assert not (out / "results.parquet").exists()
    (tmp_path / "long.toml").write_text(toml(f"seed = {list(range(max(10, len(before) + 1)))}\n", requests=20_000))
    done = ssdlab_command("sweep", "long.toml", "--out", "out", "--resume")
    assert done.code == 0, done.err
    assert f"{len(before)} of " in done.out
    assert "were there already" in done.out
    assert {path: changed(out)[path] for path in before} == before
    digest = pq.read_table(out / "results.parquet")["digest"].to_pylist()[-1]
    assert digest == ssdlab.run(set=COMMON, requests=20_000, seed=max(10, len(before) + 1) - 1).digest


@pytest.mark.parametrize("json_", [False, True])
def test_ctrl_c_keeps_the_points_that_had_finished(tmp_path: Path, json_: bool) -> None:
    (tmp_path / "long.toml").write_text(toml(f"requests = [50, {10**12}]\n").replace("requests = 500\n", ""))
    process = started(["long.toml", "--out", "out", "--jobs", "2", *(["--json"] if json_ else [])], tmp_path, results=1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    go_on = "ssdlab sweep long.toml --out out --resume"
    assert err == f"error: interrupted: 1 of 2 runs are stored in out; go on from there with: {go_on}\n"
    if json_:
        report = json.loads(out)
        assert [point["values"] for point in report["points"]] == [{"requests": 50}]
        assert report["left"] == [{"requests": 10**12}]
    else:
        assert "1 of 2 points" in out
    folder = tmp_path / "out"
    assert pq.read_table(folder / "results.parquet")["requests"].to_pylist() == [50]
    assert len((folder / "results.csv").read_text().splitlines()) == 2
    assert not (folder / f"requests={10**12}").exists()


def test_ctrl_c_before_any_point_has_finished(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(toml("seed = [1, 2]\n", requests=10**12))
    process = started(["long.toml", "--out", "out"], tmp_path, results=0)
    until(lambda: core_at_work(process.pid), process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (130, ""), err
    assert err == "error: interrupted: none of 2 runs are stored in out; the same command begins again\n"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["sweep.toml"]


def test_ctrl_c_in_python_raises_with_what_had_finished(tmp_path: Path) -> None:
    script = (
        "import signal, threading, time, ssdlab\nfrom pathlib import Path\n"
        "def stop():\n"
        "    while not list(Path('out').glob('*/result.json')): time.sleep(0.02)\n"
        "    signal.raise_signal(signal.SIGINT)\n"
        "threading.Thread(target=stop, daemon=True).start()\n"
        f"try: ssdlab.sweep({{'requests': [50, 10**12]}}, set={COMMON!r}, out='out', jobs=2)\n"
        "except ssdlab.Interrupted as end: print({name: sum(run['requests'].values()) for name, run in end.finished.items()})\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (done.stdout, done.stderr) == ("{'requests = 50': 50}\n", "")


def failing(folder: Path) -> Path:
    """A sweep over three traces, the second of which is truncated."""
    for name, text in (("a", TRACE), ("b", TRACE + "nonsense\n"), ("c", TRACE)):
        (folder / f"{name}.csv").write_text(text)
    keys = "".join(f'"{key}" = {value_text(value)}\n' for key, value in DRIVE.items())
    file = folder / "failing.toml"
    file.write_text(f'[set]\n{keys}[grid]\ntrace = ["a.csv", "b.csv", "c.csv"]\n')
    return file


def test_a_point_that_fails_leaves_the_others(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    file = failing(tmp_path)
    done = ssdlab_command("sweep", file, "--out", "out")
    assert done.code == 1
    assert done.err.startswith("error: trace = b.csv: ")
    assert len(done.err.splitlines()) == 1
    assert "b.csv:4" in done.err
    assert "failed: 1 of 3 points" in done.out
    assert pq.read_table(tmp_path / "out" / "results.parquet")["trace"].to_pylist() == ["a.csv", "c.csv"]
    assert not (tmp_path / "out" / "trace=b.csv").exists()
    report = ssdlab_command("sweep", file, "--out", "out", "--resume", "--json")
    assert report.code == 1
    (failed,) = json.loads(report.out)["failed"]
    assert failed["values"] == {"trace": "b.csv"}
    assert "b.csv:4" in failed["error"]
    result = ssdlab.sweep({"trace": [tmp_path / "a.csv", tmp_path / "b.csv"]}, set=DRIVE)
    assert [point.values["trace"] for point in result] == [str(tmp_path / "a.csv")]
    assert [(point.values["trace"], type(error)) for point, error in result.failed] == [(str(tmp_path / "b.csv"), ssdlab.TraceError)]


def test_if_all_points_fail_there_is_no_table(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    file = failing(tmp_path)
    file.write_text(file.read_text().replace('["a.csv", "b.csv", "c.csv"]', '["b.csv"]'))
    done = ssdlab_command("sweep", file, "--out", "out")
    assert done.code == 1
    assert "failed: 1 of 1 points" in done.out
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["sweep.toml"]


# ---------------------------------------------------------------------------------------------------------------------------------------
# Ray


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Ray on this machine, started once for all tests."""
    ray = pytest.importorskip("ray")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    for patience in (True, True, False):
        try:
            ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
            break
        except Exception:  # it gives itself 30 s to start, which a busy machine may not keep
            ray.shutdown()
            if not patience:
                raise
    yield ray
    ray.shutdown()


def without_times(result: ssdlab.SweepResult) -> list[dict[str, Any]]:
    return [
        {key: value for key, value in row.items() if key not in ("wall_s", "prepare_s", "requests_per_s")}
        for row in result.table().to_pylist()
    ]


@pytest.mark.full
def test_the_command_finds_a_cluster_by_its_address(cluster: Any, ssdlab_command: Ssdlab, file: Path, tmp_path: Path) -> None:
    address = cluster.get_runtime_context().gcs_address
    done = ssdlab_command("sweep", file, "--out", "out", "--engine", "ray", "--json", env={"RAY_ADDRESS": address})
    assert (done.code, done.err) == (0, "")
    assert [point["result"]["digest"] for point in done.json()["points"]] == digests(sweep(GRID))
    assert len(changed(tmp_path / "out")) == 8


def test_ray_gives_the_same_results_bit_for_bit(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = sweep(GRID, out=tmp_path / "here"), sweep(GRID, out=tmp_path / "there", engine="ray", jobs=1)
    assert digests(here) == digests(there)
    assert without_times(here) == without_times(there)
    assert {path.parent.name for path in changed(tmp_path / "here")} == {path.parent.name for path in changed(tmp_path / "there")}
    # One engine goes on with what the other began, also with names of files that are relative to where that was.
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(TRACE)
    keys: dict[str, Any] = {
        "set": {key: v for key, v in DRIVE.items() if key != "gc.soft"},
        "trace": "t.csv",
        "out": "mixed",
        "resume": True,
    }
    ssdlab.sweep({"gc.soft": [0.1]}, **keys, engine="ray")
    before = changed(tmp_path / "mixed")
    assert len(before) == 1
    assert len(ssdlab.sweep({"gc.soft": [0.1, 0.15]}, **keys)) == 2
    assert {path: changed(tmp_path / "mixed")[path] for path in before} == before


def test_ctrl_c_on_ray_keeps_what_had_finished_and_frees_the_processors(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(toml(f"requests = [50, {10**12}, {10**12 + 1}]\n").replace("requests = 500\n", ""))
    address = {"RAY_ADDRESS": cluster.get_runtime_context().gcs_address}
    process = started(["long.toml", "--out", "out", "--engine", "ray"], tmp_path, results=1, env=address)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    assert err.splitlines()[-1].startswith("error: interrupted: 1 of 3 runs are stored in out")
    assert "1 of 3 points" in out
    assert digests(sweep(GRID, engine="ray")) == digests(sweep(GRID))


def test_a_point_that_fails_on_ray_leaves_the_others(cluster: Any, tmp_path: Path) -> None:
    result = run(prepare(load(failing(tmp_path)), out=tmp_path / "out"), engine="ray")
    assert [point.values["trace"] for point in result] == ["a.csv", "c.csv"]
    ((point, error),) = result.failed
    assert point.values == {"trace": "b.csv"}
    assert isinstance(error, ssdlab.TraceError)
    assert "b.csv:4" in str(error)
    assert not (tmp_path / "out" / "trace=b.csv").exists()


def test_a_result_of_something_else_from_another_machine_is_an_error(cluster: Any, tmp_path: Path) -> None:
    """As if the other machine had another preset: the file changes between the check here and the run there."""
    own = tmp_path / "own.toml"
    own.write_text("[gc]\nsoft = 0.1\n")
    prepared = prepare(define("sweep", {"config": str(own), "requests": 50, "set": COMMON, "grid": {"seed": [1]}}))
    own.write_text("[gc]\nsoft = 0.15\n")
    result = run(prepared, engine="ray")
    assert not result
    assert "config.gc.soft is 0.15 there, 0.1 here" in str(result.failed[0][1])


def test_without_ray_the_error_says_what_to_install(ssdlab_command: Ssdlab, file: Path, tmp_path: Path) -> None:
    (tmp_path / "ray.py").write_text("raise ImportError('no such thing')\n")
    line = ssdlab_command("sweep", file, "--out", "out", "--engine", "ray", env={"PYTHONPATH": str(tmp_path)}).failed(2)
    assert "pip install 'ssdlab[ray]'" in line


def test_a_cluster_that_does_not_answer(ssdlab_command: Ssdlab, file: Path) -> None:
    pytest.importorskip("ray")
    line = ssdlab_command("sweep", file, "--out", "out", "--engine", "ray", env={"RAY_ADDRESS": "127.0.0.1:1"}).failed(1)
    assert "RAY_ADDRESS = 127.0.0.1:1" in line
    assert "refused" in line
