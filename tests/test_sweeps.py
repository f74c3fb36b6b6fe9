"""The sweeps behind the pages of findings, and the scripts beside them."""

from __future__ import annotations

import ast
import importlib.util
import math
import shutil
import sys
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

import ssdlab
from conftest import ROOT
from ssdlab.experiments.sweeping.definition import load
from ssdlab.experiments.sweeping.tasks import setup_of
from ssdlab.runs.batch import Job

SWEEPS = ROOT / "sweeps"


def loaded(path: Path) -> ModuleType:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", sorted(SWEEPS.glob("*/*.toml")), ids=lambda path: path.stem)
def test_a_point_of_each_drive_can_be_simulated(path: Path, tmp_path: Path) -> None:
    there = tmp_path / "sweeps" / "claims"
    shutil.copytree(SWEEPS / "traces", there.parent / "traces")
    shutil.copytree(SWEEPS / "traces", tmp_path / "pieces")  # in place of pieces of public traces, which are not here
    shutil.copytree(path.parent, there, dirs_exist_ok=True)
    sweep = load(there / path.name)
    axis = next((axis for axis in sweep.axes if axis.name == "drive"), sweep.axes[-1])
    points = {str(point.values[axis.name]): point for point in sweep.points()}
    assert len(points) == len(axis.values)
    for name, point in points.items():
        setup = setup_of(point).with_changes(load=None, load_of=None)
        assert Job.prepare(name, setup, point.options.get("scheme"), folder=None).label == name


def test_the_script_that_reads_logs_imports_nothing_of_ssdlab() -> None:
    tree = ast.parse((SWEEPS / "claims" / "from_logs.py").read_text())
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert "numpy" in names
    assert not any(name.startswith("ssdlab") for name in names)


def test_findings_from_logs_are_those_of_the_results(tmp_path: Path) -> None:
    """Percentiles of the sorted times, and those of the results' histograms."""
    logs = loaded(SWEEPS / "claims" / "from_logs.py")
    result = ssdlab.run(device="demo-4g", scheme="npgc", requests=4000, warm_up=500, log_requests=True, out=tmp_path / "npgc")
    times = logs.times(tmp_path / "npgc")
    assert len(times) == 3500
    assert times.mean() == pytest.approx(result["latency_ns"]["all"]["mean"], rel=1e-12)
    assert logs.percentile(times, 0.999) == pytest.approx(result["latency_ns"]["all"]["p99_9"], rel=0.02)
    assert logs.percentile(times, 0.999) == times[math.ceil(3496.5) - 1]
    assert logs.change(80, 100) == pytest.approx(-20)


def test_a_gain_is_over_traces_whose_baseline_keeps_up() -> None:
    gains = loaded(SWEEPS / "baseline" / "gains.py")
    rows = []
    for trace, factor in (("a", 0.5), ("b", 0.125), ("c", 0.001)):
        for arm in {arm for pair in gains.PAIRS for scope in pair.scopes for arm in pair.arms(scope)}:
            time = 8e6 * (factor if arm == "pgc" else 1.0)
            figures = dict.fromkeys(gains.FIGURES.values(), time)
            rows.append(
                {"drive": "8 dies", "load": 0.6, "trace": trace, "arm": arm, **figures, "overloaded": trace == "c" and arm == "chip"}
            )
    found = gains.gains(pl.DataFrame(rows))
    chip = found.filter((pl.col("paper") == "lee2013") & (pl.col("scope") == "chip") & (pl.col("figure") == "mean"))
    assert chip["change"].to_list() == pytest.approx([-75]), "the geometric mean of 0.5 and 0.125 is 0.25"
    assert (chip["traces"].item(), chip["overloaded"].item()) == (2, 1)
    others = found.filter(pl.col("paper") != "lee2013")["change"]
    assert others.to_list() == pytest.approx([0.0] * len(others))
    row = next(row for row in gains.summary(found) if row["paper"] == "lee2013" and row["figure"] == "mean")
    assert row["own scope"] == "-96 to -96", "with all three traces it is the cube root of 0.5 x 0.125 x 0.001"
    assert row["scope"] == "-96 to -96", "chip has a mean over other traces"
    assert row["choices"] == "6 of 7"


def test_published_gains_are_those_of_the_studies() -> None:
    gains = loaded(SWEEPS / "baseline" / "gains.py")
    counts = {pair.paper: {figure: len(gains.published(pair, figure)) for figure in pair.published} for pair in gains.PAIRS}
    assert min(count for paper in counts.values() for count in paper.values()) >= 1
    assert -29.44 in gains.published(gains.PAIRS[0], "mean")
    assert counts["wu2017"]["mean"] >= 5
    assert not any("mean of all" in name for name, _ in gains.findings(gains.PAIRS[3], "mean"))
