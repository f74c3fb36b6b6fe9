"""Sweeps over axes that go together and values that are drawn, derived columns, refused points, screening, and memory."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import ssdlab
from conftest import SMALL, Ssdlab
from ssdlab.asking.plans import Setup, memory_of, value_text
from ssdlab.errors import ConfigError
from ssdlab.experiments.sweeping.definition import Sweep, define
from ssdlab.experiments.sweeping.screening import Screen
from ssdlab.pages import tables
from ssdlab.runs import batch
from ssdlab.system import platforms

COMMON = {key: value for key, value in SMALL.items() if key != "gc.soft"}
SOFT = {"from": 0.02, "to": 0.2}


def sweep(grid: Mapping[str, Any], **more: Any) -> ssdlab.SweepResult:
    return ssdlab.sweep(grid, **{"set": COMMON, "requests": 300, **more})


def points(**table: Any) -> list[dict[str, Any]]:
    return [dict(point.values) for point in defined(**table).points()]


def defined(**table: Any) -> Sweep:
    return define("s.toml", table)


# ---------------------------------------------------------------------------------------------------------------------------------------
# Axes that change together


def test_axes_go_together_and_are_combined_with_the_grid() -> None:
    pairs = {"axes": ["gc.soft", "gc.hard"], "rows": [[0.05, 0.2], [0.1, 0.0], [0.1, 0.2]]}
    found = points(zip=[pairs], grid={"scheme": ["npgc", "pgc-none"]})
    assert [tuple(point.values()) for point in found] == [
        (0.05, 0.2, "npgc"),
        (0.05, 0.2, "pgc-none"),
        (0.1, 0.0, "npgc"),
        (0.1, 0.0, "pgc-none"),
        (0.1, 0.2, "npgc"),
        (0.1, 0.2, "pgc-none"),
    ]
    assert list(found[0]) == ["gc.soft", "gc.hard", "scheme"]


def test_a_run_of_a_row_is_the_run_of_its_keys() -> None:
    result = sweep({}, zip=[{"axes": ["gc.soft", "scheme"], "rows": [[0.1, "npgc"], [0.15, "pgc"]]}])
    assert [point.result.digest for point in result] == [
        ssdlab.run(scheme=scheme, requests=300, set=COMMON | {"gc.soft": soft}).digest for soft, scheme in ((0.1, "npgc"), (0.15, "pgc"))
    ]
    assert result.axes == {"gc.soft": [0.1, 0.15], "scheme": ["npgc", "pgc"]}


def test_rows_name_the_labelled_values_of_the_grid() -> None:
    drives = [{"label": "few", "set": {"gc.soft": 0.1}}, {"label": "many", "set": {"gc.soft": 0.15}}]
    rows = [["few", 1.0], ["many", 2.0], ["few", 3.0]]
    found = defined(grid={"drive": drives, "scheme": ["npgc"]}, zip=[{"axes": ["drive", "time_scale"], "rows": rows}])
    assert [(point.values["drive"], point.set["gc.soft"], point.options["time_scale"]) for point in found.points()] == [
        ("few", 0.1, 1.0),
        ("many", 0.15, 2.0),
        ("few", 0.1, 3.0),
    ]
    again = define("s.toml", tomllib.loads(found.to_toml()))
    assert again == found
    assert list(again.points()) == list(found.points())


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"axes": ["gc.soft"], "rows": [[1]]}, r"zip\[0\]\.axes = \['gc.soft'\]: expected two or more different names"),
        ({"axes": ["gc.soft", "gc.hard"], "rows": [[0.1]]}, r"zip\[0\]\.rows\[0\] = \[0.1\]: expected 2 values, of gc.soft, gc.hard"),
        ({"axes": ["gc.soft", "gc.hard"], "rows": []}, r"zip\[0\]\.rows: expected a list of rows"),
        ({"axes": ["gc.soft", "gc.hard"], "rows": [[0.1, 0], [0.1, 0]]}, r"zip\[0\]: a row is there twice"),
        ({"axes": ["gc.soft", "drive"], "rows": [[0.1, "b"]]}, r"drive = 'b' is not in grid.drive \(there are a, c\)"),
        ({"axes": ["gc.soft", "drive"], "rows": [[0.1, "a"]]}, r"drive = c of grid is in no row"),
        ({"axes": ["gc.soft", "gc.hard"], "row": [[0.1, 0]]}, r'unknown key "row"; did you mean "rows"'),
        ({"axes": ["gc.soft", "shceme"], "rows": [[0.1, "npgc"]]}, r'unknown axis "shceme"'),
    ],
)
def test_wrong_rows_are_refused(table: dict[str, Any], message: str) -> None:
    grid = {"drive": [{"label": "a"}, {"label": "c"}]}
    with pytest.raises(ConfigError, match=message):
        defined(grid=grid, zip=[table])


def test_a_label_means_one_thing() -> None:
    rows = [[0.1, {"label": "a", "set": {"gc.hard": 0.1}}], [0.2, {"label": "a", "set": {"gc.hard": 0.2}}]]
    with pytest.raises(ConfigError, match="drive = a is there with different meanings"):
        defined(zip=[{"axes": ["gc.soft", "drive"], "rows": rows}])


def test_an_axis_is_varied_in_one_place_only() -> None:
    pair = {"axes": ["gc.soft", "gc.hard"], "rows": [[0.1, 0.2]]}
    with pytest.raises(ConfigError, match=r"gc\.soft is varied elsewhere as well"):
        defined(zip=[pair, {"axes": ["gc.soft", "seed"], "rows": [[0.1, 1]]}])
    with pytest.raises(ConfigError, match=r"gc\.soft is varied elsewhere as well"):
        defined(grid={"gc.soft": [0.1]}, random={"points": 2, "axes": {"gc.soft": SOFT}})
    with pytest.raises(ConfigError, match=r"varies gc.hard, but gc.hard is given for all points as well"):
        defined(zip=[pair], set={"gc.hard": 0.1})


# ---------------------------------------------------------------------------------------------------------------------------------------
# Values that are drawn


def test_a_latin_hypercube_has_one_point_in_each_part_of_each_axis() -> None:
    axes = {"gc": {"soft": SOFT, "hard": {"from": 0.001, "to": 1.0, "log": True}}, "scheme": ["npgc", "pgc"]}
    found = points(random={"points": 40, "axes": axes})
    soft = [point["gc.soft"] for point in found]
    assert sorted(int((value - 0.02) / 0.18 * 40) for value in soft) == list(range(40))
    assert sorted(int(np.log10(point["gc.hard"] / 0.001) / 3 * 40) for point in found) == list(range(40))
    assert [point["scheme"] for point in found].count("pgc") == 20
    assert soft != sorted(soft)


def test_independent_draws_leave_parts_empty_and_the_seed_decides() -> None:
    def soft(**more: Any) -> list[float]:
        return [point["gc.soft"] for point in points(random={"points": 40, "axes": {"gc.soft": SOFT}, **more})]

    assert len({int((value - 0.02) / 0.18 * 40) for value in soft(design="independent")}) < 35
    assert soft() == soft(seed=1) != soft(seed=2)


def test_whole_numbers_stay_whole_and_equal_draws_are_one_point() -> None:
    found = [point["gc.soft"] for point in points(random={"points": 400, "axes": {"gc.soft": {"from": 2, "to": 9}}})]
    assert sorted(found) == list(range(2, 10))
    assert all(isinstance(value, int) for value in found)


def test_drawn_points_have_the_requests_of_their_seed_in_common() -> None:
    """Common random numbers: points under one seed serve the same requests."""
    result = sweep({"seed": [1, 2]}, random={"points": 3, "axes": {"gc.soft": {"from": 0.1, "to": 0.2}}})
    bytes_of = {(point.values["seed"], point.result["bytes_written"]["host"]) for point in result}
    assert len(bytes_of) == 2
    assert len(result) == 6


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"points": 0, "axes": {"gc.soft": SOFT}}, "random.points = 0: expected a whole number from 1"),
        ({"points": 5}, "random.axes: expected at least one axis"),
        ({"points": 5, "axes": {"gc.soft": {"from": 0.2, "to": 0.1}}}, "from = 0.2, to = 0.1: expected two numbers, the second larger"),
        ({"points": 5, "axes": {"gc.soft": {"from": 0, "to": 0.1, "log": True}}}, "from = 0: expected a number above 0"),
        ({"points": 5, "axes": {"gc.soft": {"from": 0, "to": 10**400}}}, "expected two numbers, the second larger"),
        ({"points": 5, "axes": {"gc.soft": {"from": 0.0, "to": float("inf")}}}, "expected two numbers, the second larger"),
        ({"points": 5, "axes": {"gc.soft": 3}}, "random.axes.gc.soft = 3: expected a list of values, or a range"),
        ({"points": 5, "axes": {"gc.soft": SOFT}, "design": "sobol"}, "design = 'sobol': expected latin-hypercube or independent"),
        ({"points": 5, "axes": {"gc.soft": SOFT}, "seed": -1}, "random.seed = -1: expected a whole number from 0 on"),
        ({"points": 5, "axes": {"gc.soft": {"from": 0.1, "to": 0.2, "step": 1}}}, 'unknown key "step"'),
    ],
)
def test_wrong_designs_are_refused(table: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        defined(random=table)


# ---------------------------------------------------------------------------------------------------------------------------------------
# Columns and refused points


def test_columns_are_arithmetic_over_the_figures_of_each_run(tmp_path: Path) -> None:
    columns = {"each": "gc.pages_moved / gc.jobs", "nothing": "gc.jbos * 2"}
    result = sweep({"gc.soft": [0.1, 0.15], "seed": [1, 2]}, columns=columns, out=tmp_path / "out")
    runs = pq.read_table(tmp_path / "out" / "results.parquet").to_pylist()
    assert [row["each"] for row in runs] == [row["gc.pages_moved"] / row["gc.jobs"] for row in runs]
    assert "nothing" not in runs[0]
    assert 'did you mean "jobs"' in result.absent["nothing"]
    assert "column nothing: no run has a value" in tables.as_text(tables.sweep_tables(result))
    assert result.mean_table()["each"].to_pylist() == pytest.approx([np.mean([row["each"] for row in runs[at : at + 2]]) for at in (0, 2)])
    assert [change.axis for change in result.changes("each")] == ["gc.soft"]
    result.plot("each").save(tmp_path / "each.svg")


def test_flows_are_run_alone_too_if_asked(tmp_path: Path) -> None:
    of_flows = {"name": "a", "read_share": 1.0, "queue_depth": 0, "flows": [{"name": "b", "read_share": 0.0, "queue_depth": 0}]}
    columns = {"of_a": "flows.a.alone.slowdown", "of_b": "flows.b.alone.slowdown"}
    more: dict[str, Any] = {"set": COMMON | {"workload": of_flows}, "columns": columns, "out": tmp_path / "out"}
    row = sweep({"gc.soft": [0.1]}, **more, alone=True).table().to_pylist()[0]
    assert row["fairness.ratio"] == pytest.approx(min(row["of_a"], row["of_b"]) / max(row["of_a"], row["of_b"]))
    assert row["of_a"] > 1
    with pytest.raises(ssdlab.UsageError, match=r"sweep\.alone is true there, absent here"):
        sweep({"gc.soft": [0.1]}, **more, resume=True)
    with pytest.raises(ConfigError, match="alone = 1: expected true or false"):
        defined(grid={"gc.soft": [0.1]}, alone=1)
    with pytest.raises(ConfigError, match='unknown axis "alone"'):
        defined(grid={"alone": [True, False]})


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a.b": "gc.jobs"}, "columns.a.b: expected a name of letters"),
        ({"scheme": "gc.jobs"}, "columns.scheme: expected a name of letters"),
        ({"a": 3}, "columns.a = 3: expected a text"),
        ({"a": "gc.jobs +"}, "cannot be read as arithmetic"),
        ({"a": "jobs[pgc]"}, "a column is of one run: leave the brackets out"),
    ],
)
def test_wrong_columns_are_refused(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        defined(grid={"scheme": ["npgc"]}, columns=columns)


def test_a_column_must_not_hide_an_entry_of_the_result() -> None:
    with pytest.raises(ConfigError, match=r"columns\.iops: results have an entry of this name"):
        sweep({"gc.soft": [0.1]}, columns={"iops": "gc.jobs"})


def test_the_table_has_the_codes_of_the_remarks() -> None:
    table = sweep({"gc.soft": [0.1]}).table()
    assert "not-settled" in table["remarks"][0].as_py().split()


def test_refused_points_are_left_out_and_counted_if_asked(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    grid = {"gc.soft": [0.1, 0.99], "scheme": ["npgc", "pgc"]}
    with pytest.raises(ssdlab.Error, match="cannot be simulated"):
        sweep(grid)
    result = sweep(grid, leave_out_refused=True)
    assert [dict(point.values) for point in result] == [{"gc.soft": 0.1, "scheme": "npgc"}, {"gc.soft": 0.1, "scheme": "pgc"}]
    assert [point.values["gc.soft"] for point, _ in result.refused] == [0.99, 0.99]
    assert "left out: 2 of 4 points cannot be simulated. The first: " in tables.as_text(tables.sweep_tables(result))
    with pytest.raises(ssdlab.Error, match="cannot be simulated"):
        sweep({"gc.soft": [0.99]}, leave_out_refused=True)
    keys = "".join(f"{value_text(key)} = {value_text(value)}\n" for key, value in COMMON.items())
    file = tmp_path / "s.toml"
    file.write_text(f"requests = 300\nleave_out_refused = true\n[set]\n{keys}[grid]\ngc.soft = [0.1, 0.99]\n")
    assert "left out: 1 of 2 points" in ssdlab_command("sweep", str(file), "--out", str(tmp_path / "out")).out


# ---------------------------------------------------------------------------------------------------------------------------------------
# Screening


def screened(tmp_path: Path, **more: Any) -> ssdlab.SweepResult:
    schemes = {"scheme": ["npgc", "pgc-none", "pgc", "cep"]}
    return sweep(schemes, set=COMMON | {"gc.soft": 0.1}, seeds=8, screen={"by": "mean", "keep": 0.25} | more, out=tmp_path / "out")


def test_screening_drops_only_what_the_whole_sweep_finds_worse(tmp_path: Path) -> None:
    result = screened(tmp_path)
    whole = sweep({"scheme": ["npgc", "pgc-none", "pgc", "cep"]}, set=COMMON | {"gc.soft": 0.1}, seeds=8)
    assert result.dropped
    assert set(result.dropped.values()) <= {3, 6}
    centres = {point.values["scheme"]: point.estimates["latency_ns.all.mean"].centre for point in whole.means}
    best = min(centres, key=lambda scheme: centres[scheme])
    assert f"scheme = {best}" not in result.dropped
    of_best = whole.best("mean")
    assert of_best is not None
    assert of_best.point.values["scheme"] == best
    table = result.mean_table().to_pylist()
    assert {row["scheme"]: row["seeds"] for row in table if not row["dropped"]} == {
        scheme: 8 for scheme in centres if f"scheme = {scheme}" not in result.dropped
    }
    assert all(row["seeds"] == result.dropped[f"scheme = {row['scheme']}"] for row in table if row["dropped"])
    assert not result.left
    assert "points were dropped after 3 seeds, clearly worse" in tables.as_text(tables.sweep_tables(result))


def test_a_screened_sweep_resumes_to_the_same(tmp_path: Path) -> None:
    first = screened(tmp_path)
    again = ssdlab.sweep(
        {"scheme": ["npgc", "pgc-none", "pgc", "cep"]},
        set=COMMON | {"gc.soft": 0.1},
        requests=300,
        seeds=8,
        screen={"by": "mean", "keep": 0.25},
        out=tmp_path / "out",
        resume=True,
    )
    assert again.dropped == first.dropped
    assert again.to_parquet() == first.to_parquet()


def test_points_in_different_fields_do_not_compete() -> None:
    result = sweep(
        {"load": [{"label": "light", "time_scale": 0.5}, {"label": "heavy", "time_scale": 4}], "scheme": ["pgc", "npgc"]},
        set=COMMON | {"gc.soft": 0.1},
        seeds=6,
        screen={"by": "mean", "among": ["scheme"]},
    )
    kept = {point.values["load"] for point in result.means if len(point.seeds) == 6}
    assert kept == {"light", "heavy"}


def test_rounds_double() -> None:
    assert [list(seeds) for seeds in Screen("mean", ("scheme",), 3, 0.5).rounds(range(16))] == [
        [0, 1, 2],
        [3, 4, 5],
        [6, 7, 8, 9, 10, 11],
        [12, 13, 14, 15],
    ]


@pytest.mark.parametrize(
    ("screen", "message"),
    [
        ({}, "screen.by = None: expected a figure"),
        ({"by": "p98"}, "screen.by: p98: no figure of this name"),
        ({"by": "p99", "first": 2}, "screen.first = 2: expected how many seeds the first round has, at least 3"),
        ({"by": "p99", "keep": 1}, "screen.keep = 1: expected a share above 0 and below 1"),
        ({"by": "p99", "among": ["load"]}, r"screen.among = \['load'\]: expected names of axes \(scheme\)"),
        ({"by": "p99", "first": 6}, r"screen: expected more than 6 seeds, as the last axis \(seeds = 24\)"),
    ],
)
def test_wrong_screens_are_refused(screen: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        defined(grid={"scheme": ["npgc", "pgc"]}, seeds=6, screen=screen)


# ---------------------------------------------------------------------------------------------------------------------------------------
# Memory


def test_the_memory_of_a_run_grows_with_the_drive() -> None:
    def bytes_of(**keys: Any) -> int:
        return memory_of(Setup(device="demo-4g", set=tuple((key, str(value)) for key, value in keys.items())).build("npgc"))

    assert bytes_of() == 64_000_000 + 12 * 32 * 40 * 256
    assert bytes_of(**{"ftl.map_unit_bytes": 4096}) == 64_000_000 + 12 * 4 * 32 * 40 * 256


def test_runs_at_once_fit_into_the_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = [batch.Job.prepare("a", Setup(device="demo-4g"), "npgc", folder=None)] * 3
    monkeypatch.setattr(batch, "processors", lambda: 64)
    for free, expected in ((None, 64), (10**9, 14), (10, 1), (10**12, 64)):
        monkeypatch.setattr(batch, "free_memory", lambda free=free: free)
        assert batch.runs_at_once(job.plan.config for job in jobs) == expected


def test_free_memory_is_that_of_the_system_or_the_container(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(platforms, "MEMORY_FILE", tmp_path / "meminfo")
    monkeypatch.setattr(platforms, "GROUP_FOLDER", tmp_path)
    assert platforms.free_memory() is None
    (tmp_path / "meminfo").write_text("MemTotal: 3000 kB\nMemAvailable: 2000 kB\n")
    assert platforms.free_memory() == 2_048_000
    (tmp_path / "memory.current").write_text("1000000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert platforms.free_memory() == 2_048_000
    (tmp_path / "memory.max").write_text("1500000\n")
    assert platforms.free_memory() == 500_000
