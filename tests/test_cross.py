"""The table of sweeps/cross, and what tools/cross.py makes of it."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import math
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import ssdlab
from conftest import ROOT
from ssdlab.experiments.sweeping.definition import Sweep, load
from ssdlab.experiments.sweeping.tasks import Task

FOLDER = ROOT / "sweeps" / "cross"
TABLE = FOLDER / "cross.parquet"


def loaded(path: Path) -> ModuleType:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


cross = loaded(ROOT / "tools" / "cross.py")
LEVELS = {
    "gc": ("npgc", "rwp", "pgc"),
    "order": ("fcfs", "reads first"),
    "cache": ("none", "gcar-lru"),
    "idle": ("off", "on"),
    "placement": ("static", "dynamic"),
}


@pytest.fixture(scope="module")
def runs() -> Any:
    """The stored runs."""
    return cross.Runs.read(TABLE)


def made_up(effects: Mapping[tuple[str, ...], float], spread: float = 0.0) -> Any:
    """A table in which each set of values multiplies the mean by a factor; `spread` makes it differ between workloads."""
    rows = []
    for number, workload in enumerate(("a", "b", "c", "d")):
        for point in itertools.product(*LEVELS.values()):
            logarithm = math.log(1e6 * (number + 1))
            for values, value in effects.items():
                if set(values) <= set(point):
                    logarithm += value + spread * (number - 1.5)
            block = {"drive": "x", "workload": workload, "load": "60", "seed": 1, "remarks": ""}
            rows.append({**block, **dict(zip(LEVELS, point, strict=True)), "latency_ns.all.mean": math.exp(logarithm)})
    return cross.Runs(rows)


def test_effects_and_interactions_of_a_made_up_table_are_found() -> None:
    made = made_up({("pgc",): -0.5, ("reads first",): -0.2, ("pgc", "reads first"): 0.15})
    # the effect of one is the mean with the other off and on
    assert cross.effect(made, "mean", "gc", "pgc").mean == pytest.approx(-0.5 + 0.15 / 2)
    assert cross.effect(made, "mean", "order", "reads first").mean == pytest.approx(-0.2 + 0.15 / 3)
    assert cross.effect(made, "mean", "cache", "gcar-lru").mean == pytest.approx(0, abs=1e-12)
    assert cross.interaction(made, "mean", ("gc", "pgc"), ("order", "reads first")).mean == pytest.approx(0.15)
    assert cross.interaction(made, "mean", ("gc", "rwp"), ("order", "reads first")).mean == pytest.approx(0, abs=1e-12)
    best = min(cross.scores(made, "mean").items(), key=lambda entry: entry[1].mean)
    assert best[0][:2] == ("pgc", "reads first")
    assert best[1].mean == pytest.approx(-0.55)


def test_the_interval_is_over_workloads() -> None:
    found = cross.effect(made_up({("pgc",): -0.5}, spread=0.1), "mean", "gc", "pgc")
    values = [-0.65, -0.55, -0.45, -0.35]
    assert sorted(found.values) == pytest.approx(values)
    assert found.half == pytest.approx(3.182 * np.std(values, ddof=1) / 2)


def test_the_front_has_what_nothing_beats() -> None:
    points = {("a",): (1.0, 3.0), ("b",): (2.0, 1.0), ("c",): (2.0, 2.0), ("d",): (0.9, 4.0), ("e",): (3.0, 1.0)}
    assert cross.front(points) == [("d",), ("a",), ("b",)]


def test_the_table_is_large_and_small(runs: Any) -> None:
    assert len(runs.rows) >= 3900
    assert sum(pq.read_metadata(file).num_rows for file in FOLDER.glob("*.parquet")) >= 5000
    assert sum(file.stat().st_size for file in FOLDER.rglob("*.parquet")) <= 2_000_000
    assert len(runs.values("workload")) == 8
    assert all(row["latency_ns.all.p99_9"] > 0 and row["gc.write_amplification"] > 0 for row in runs.rows)
    digests = {row["digest"] for row in runs.rows}
    assert len(digests) > 0.5 * len(runs.rows), "most mechanisms should change something"


def coded(points: list[dict[str, Any]]) -> tuple[np.ndarray, dict[tuple[str, ...], int]]:
    """A design matrix: an intercept for each block, all values of each factor and of each pair of factors but the first."""
    terms: dict[tuple[str, ...], int] = {}
    blocks: dict[tuple[Any, ...], int] = {}
    rows = []
    for point in points:
        on = [(f, point[f]) for f in cross.FACTORS if point[f] != cross.BASELINE[f]]
        names = [(f"{f}={v}",) for f, v in on] + [(f"{a}={v}", f"{b}={w}") for (a, v), (b, w) in itertools.combinations(on, 2)]
        rows.append((blocks.setdefault(tuple(point[name] for name in cross.BLOCK), len(blocks)), names))
        for name in names:
            terms.setdefault(name, len(terms))
    matrix = np.zeros((len(points), len(blocks) + len(terms)))
    for at, (block, names) in enumerate(rows):
        matrix[at, block] = 1
        for name in names:
            matrix[at, len(blocks) + terms[name]] = 1
    return matrix, {name: len(blocks) + place for name, place in terms.items()}


@pytest.mark.parametrize("figure", ["p99.9", "mean", "write amplification"])
@pytest.mark.parametrize("drive", ["lee2013", "nvme", "pe8110-like"])
def test_a_linear_model_finds_the_same_interactions(runs: Any, drive: str, figure: str) -> None:
    """Least squares on the logarithm, over complete blocks: its coefficients of pairs are the interactions, found another way."""
    scipy_linalg = pytest.importorskip("scipy.linalg")
    column = cross.FIGURES[figure][0]
    points = runs.where(drive=drive, load="60").rows
    assert len(points) == 8 * 48
    matrix, places = coded(points)
    solution, _, rank, _ = scipy_linalg.lstsq(matrix, np.log([row[column] for row in points]))
    assert rank == matrix.shape[1]
    for one, other in cross.pairs_of_changes():
        found = cross.interaction(cross.Runs(points), figure, one, other)
        name = tuple(f"{factor}={value}" for factor, value in sorted((one, other), key=lambda change: cross.FACTORS.index(change[0])))
        assert found.mean == pytest.approx(solution[places[name]], abs=1e-9)


def test_points_of_the_sweep_have_the_stored_digests(runs: Any, tmp_path: Path) -> None:
    """Runs of the table are made again: one of each drive."""
    sweep = load(FOLDER / "cross.toml")
    assert len(sweep) == 6912
    seen: set[str] = set()
    for row in runs.rows:
        if row["load"] == "60" and row["drive"] not in seen and row["workload"] == "sqlite wal" and row["gc"] == "npgc":
            seen.add(row["drive"])
            assert digest(sweep, row).startswith(row["digest"]), row
    assert seen == {"lee2013", "nvme", "nvme worn", "nvme superblocks", "pe8110-like", "consumer"}


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        ("flows", {"drive": "pe8110-like", "workload": "bursts", "gc": "rwp", "order": "fcfs", "idle": "off", "queues": "in turns"}),
        ("flows-attacks", {"drive": "nvme superblocks, larger", "workload": "small writes", "gc": "rwp", "queues": "one"}),
        ("attacks", {"drive": "pe8110-like, larger", "workload": "sqlite wal", "gc": "pgc"}),
        ("settled", {"drive": "lee2013", "workload": "uniform 32 KiB", "gc": "pgc"}),
    ],
)
def test_a_point_of_each_other_sweep_has_its_stored_digest(name: str, chosen: dict[str, str]) -> None:
    sweep, stored = load(FOLDER / f"{name}.toml"), cross.Runs.read(FOLDER / f"{name}.parquet")
    (row,) = stored.where(**chosen).rows
    assert digest(sweep, row).startswith(row["digest"])


@pytest.mark.parametrize("name", ["flows", "flows-attacks"])
def test_fairness_is_that_of_the_slowdowns(name: str) -> None:
    stored = cross.Runs.read(FOLDER / f"{name}.parquet")
    for row in stored.rows:
        slowdowns = [row[f"slowdown_of_{flow}"] for flow in ("reader", "writer", "mix")]
        assert row["fairness.ratio"] == pytest.approx(min(slowdowns) / max(slowdowns), rel=1e-6)
        assert row["fairness.worst_slowdown"] == max(slowdowns)


def test_effects_are_those_of_a_table_with_other_factors() -> None:
    """The effect of a mechanism among several flows, computed from pairs of rows."""
    flows = cross.Runs.read(cross.FLOWS).where(drive="pe8110-like")
    found = cross.effect(flows, "fairness", "gc", "rwp", cross.SHARED)
    names = ("workload", "order", "idle", "queues")
    under = {gc: {tuple(row[name] for name in names): row["fairness.ratio"] for row in flows.where(gc=gc).rows} for gc in ("npgc", "rwp")}
    by_mix: dict[str, list[float]] = {}
    for point, fairness in under["npgc"].items():
        by_mix.setdefault(point[0], []).append(math.log(under["rwp"][point] / fairness))
    assert [len(values) for values in by_mix.values()] == [12] * 4
    assert sorted(found.values) == pytest.approx(sorted(np.mean(values) for values in by_mix.values()))


def test_drives_have_settled_where_the_page_compares_them() -> None:
    """The baseline and `rwp` have no remark that bears on them, on each drive of the findings; and the column shows only such runs."""
    findings = loaded(ROOT / "tools" / "findings.py")
    stored = cross.Runs.read(cross.SETTLED)
    for drive, gc in itertools.product(findings.EVERY, ("npgc", "rwp")):
        rows = stored.where(drive=drive, workload="uniform 32 KiB", gc=gc, order="fcfs", cache="none", idle="off", placement="static").rows
        assert [cross.is_settled(row) for row in rows] == [True], (drive, gc)
    claim = next(claim for claim in findings.CLAIMS if claim.number == 7 and "under rwp" in claim.what and claim.figure == "mean")
    short = cross.Runs.read(TABLE)
    cell = findings.settled_cell(claim, "nvme", findings.Stored(short, short, stored))
    point = {"drive": "nvme", "gc": "rwp", "order": "fcfs", "cache": "none", "idle": "off"}
    for workload, part in zip(("uniform 32 KiB", "zipf 4 KiB"), cell.split("; "), strict=True):
        means = [stored.where(**point, workload=workload, placement=how).rows[0]["latency_ns.all.mean"] for how in ("dynamic", "static")]
        assert re.match(rf"(uniform|Zipf) {re.escape(cross.signed(100 * (means[0] / means[1] - 1)))} \(", part), (workload, part)


def digest(sweep: Sweep, row: Mapping[str, Any]) -> str:
    """The digest of the point of a row, run again."""
    from ssdlab.runs import batch

    names = [axis.name for axis in sweep.axes if axis.name in row]
    point = next(point for point in sweep.points() if all(point.values[name] == row[name] for name in names))
    task = Task.of(replace(point, series=False), None)
    ended = batch.execute([task.job])
    ended.raise_failure()
    return str(ended.finished[point.folder].digest)


def test_the_page_has_all_drives_and_pictures(runs: Any) -> None:
    files = dict(cross.files())
    page = files.pop("cross.md")
    assert set(files) == set(re.findall(r"\]\((cross/\w+\.svg)\)", page))
    assert all(f"\n| {drive}, p99.9 | " in page for drive in runs.values("drive"))


def test_the_findings_on_the_page_are_those_of_the_stored_runs() -> None:
    """Each change with its interval is in the table of its finding, and the titles are those of the full page."""
    findings = loaded(ROOT / "tools" / "findings.py")
    full = findings.page()
    for number, table in findings.tables().items():
        (line,) = re.findall(rf"^\| {number}\. (.*)$", (ROOT / "docs" / "findings.md").read_text(), re.MULTILINE)
        assert f"\n## {number}. {line.partition(':')[0].partition(' |')[0]}\n" in full
        changes = re.findall(r"\*{0,2}[-+][\d.]+ \([^)]*\)\*{0,2}", line)
        assert changes
        assert not [change for change in changes if f" {change} |" not in "\n".join(table)]


def test_the_script_that_reads_logs_imports_nothing_of_ssdlab() -> None:
    tree = ast.parse((FOLDER / "from_logs.py").read_text())
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert "numpy" in names
    assert not any(name.startswith("ssdlab") for name in names)


def test_findings_from_logs_are_those_of_the_results(tmp_path: Path) -> None:
    """Percentiles of the sorted times, and those of the results' histograms."""
    logs = loaded(FOLDER / "from_logs.py")
    result = ssdlab.run(device="demo-4g", scheme="npgc", requests=4000, warm_up=500, log_requests=True, out=tmp_path / "npgc")
    times = logs.times(tmp_path / "npgc")
    assert len(times) == 3500
    assert times.mean() == pytest.approx(result["latency_ns"]["all"]["mean"], rel=1e-12)
    assert logs.percentile(times, 0.999) == pytest.approx(result["latency_ns"]["all"]["p99_9"], rel=0.02)
    assert logs.percentile(times, 0.999) == times[math.ceil(3496.5) - 1]
    assert logs.change(80, 100) == pytest.approx(-20)


def test_storing_keeps_the_numbers(tmp_path: Path) -> None:
    import pyarrow as pa

    source, target = tmp_path / "results.parquet", tmp_path / "stored.parquet"
    row = dict.fromkeys(LEVELS, "x") | {"drive": "d", "workload": "w", "load": "60", "seed": 1, "remarks": "a b", "digest": "0123456789"}
    pq.write_table(pa.table({name: [value] for name, value in {**row, "latency_ns.all.mean": 123.5, "other": 3.0}.items()}), source)
    cross.store(source, target)
    kept = pq.read_table(target).to_pylist()[0]
    assert kept["latency_ns.all.mean"] == 123.5
    assert kept["digest"] == "01234567"
    assert "other" not in kept
