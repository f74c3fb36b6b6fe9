"""Several seeds: `compare --seeds`, and sweeps with an axis `seed`."""

from __future__ import annotations

import csv
import json
import re
import statistics
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import ssdlab
from conftest import DRIVE_OPTIONS, SMALL, SMALL_OPTIONS, Ssdlab
from ssdlab.pages import tables
from ssdlab.runs.comparison import collected
from ssdlab.runs.seeds import label_of

SEEDS = (1, 2, 3)
TRACE = "timestamp_us,op,offset_bytes,size_bytes\n" + "".join(f"{i * 100},W,{i * 4096 % 1_000_000},4096\n" for i in range(300))
P99 = "latency_ns.all.p99"


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssdlab.Comparison, Path]:
    out = tmp_path_factory.mktemp("seeds")
    return ssdlab.compare(schemes=["npgc", "pgc"], requests=1500, set=SMALL, seeds=3, series=True, out=out), out


def test_every_scheme_runs_under_the_same_seeds(compared: tuple[ssdlab.Comparison, Path]) -> None:
    comparison, out = compared
    assert comparison.seeds is not None
    assert comparison.seeds.seeds == SEEDS
    for scheme in ("npgc", "pgc"):
        for seed in SEEDS:
            alone = ssdlab.run(scheme=scheme, requests=1500, set=SMALL, seed=seed)
            result = comparison.seeds.runs[scheme][seed]
            assert (result.digest, result.seed) == (alone.digest, seed)
            file = out / scheme / ("result.json" if seed == 1 else f"seed-{seed}/result.json")
            assert json.loads(file.read_text())["digest"] == alone.digest
        assert comparison[scheme].seed == 1
        assert "series" in comparison[scheme]


def test_intervals_are_students_over_seeds_and_differences_are_seed_by_seed(compared: tuple[ssdlab.Comparison, Path]) -> None:
    comparison, out = compared
    assert comparison.seeds is not None
    values = {scheme: [comparison.seeds.runs[scheme][seed].latency.all.p99 for seed in SEEDS] for scheme in ("npgc", "pgc")}
    changes = [after / before - 1 for before, after in zip(values["npgc"], values["pgc"], strict=True)]
    data = json.loads((out / "comparison.json").read_text())["seeds"]
    assert {key: data[key] for key in ("seeds", "level", "differ", "against")} == {
        "seeds": [1, 2, 3],
        "level": 0.95,
        "differ": True,
        "against": "npgc",
    }
    half = 4.303 / 3**0.5
    for scheme, of in values.items():
        expected = {"mean": statistics.mean(of), "half_width": half * statistics.stdev(of)}
        assert data["schemes"][scheme][P99] == pytest.approx(expected)
    expected = {"relative": statistics.mean(changes), "half_width": half * statistics.stdev(changes)}
    assert list(data["differences"]) == ["pgc"]
    assert data["differences"]["pgc"][P99] == pytest.approx(expected)
    assert data == comparison.to_dict()["seeds"]
    for figure in ("wall_s", "seed", "config.gc.soft", "percentile_error"):
        assert figure not in data["schemes"]["npgc"]


def test_the_table_of_seeds_is_legible_at_80_columns(ssdlab_command: Ssdlab) -> None:
    schemes = [part for scheme in ("npgc", "pgc", "rwp") for part in ("--scheme", scheme)]
    done = ssdlab_command("compare", *schemes, *SMALL_OPTIONS, "--requests", 1500, "--seeds", 3, "--out", "r")
    assert done.code == 0, done.err
    means, changes = done.out.split("Change against npgc, seed by seed")
    assert "mean over 3 seeds (1 to 3) ± 95 % interval" in means
    assert sum(" ± " in line for line in means.splitlines()) == 7  # the title and three schemes, in two parts
    assert "read p99" in means
    assert sum("% ± " in line for line in changes.splitlines()) == 4
    assert "tie (" in changes  # the write amplification of preemption
    assert "tie: the interval includes 0" in changes
    tables = [line for line in done.out.splitlines() if "±" in line or "─" in line]  # lines of words are left whole in a pipe
    assert max(map(len, tables)) <= 80


def test_seeds_begin_with_the_one_asked_for(ssdlab_command: Ssdlab) -> None:
    done = ssdlab_command("compare", "--scheme", "npgc", *SMALL_OPTIONS, "--requests", 300, "--seed", 7, "--seeds", 2, "--json")
    data = done.json()
    assert data["seeds"]["seeds"] == [7, 8]
    assert data["runs"]["npgc"]["seed"] == 7
    assert data["seeds"]["differences"] == {}
    one = ssdlab_command("compare", "--scheme", "npgc", *SMALL_OPTIONS, "--requests", 300, "--seeds", 1, "--json").json()
    assert "seeds" not in one


def test_seeds_that_change_nothing_are_said(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    (tmp_path / "t.csv").write_text(TRACE)
    options = ["compare", "--scheme", "npgc", "--scheme", "pgc", *DRIVE_OPTIONS, "--trace", "t.csv", "--seeds", 2]
    done = ssdlab_command(*options, "--set", "ftl.precondition.kind=fill")
    assert done.code == 0, done.err
    assert "All seeds gave the same runs" in done.out
    done = ssdlab_command(*options, "--set", "ftl.precondition.kind=soft")
    assert done.code == 0, done.err
    assert "All seeds gave the same runs" not in done.out
    assert "Intervals are over seeds of the drive, not over traces." in done.out


@pytest.mark.parametrize(
    ("seeds", "seed", "says"), [(0, 1, "seeds = 0"), (True, 1, "seeds = True"), (3, 2**64 - 2, "seeds = 3: from seed")]
)
def test_seeds_that_cannot_be_are_said(seeds: Any, seed: int, says: str) -> None:
    with pytest.raises(ssdlab.UsageError, match=says):
        ssdlab.compare(schemes=["npgc"], requests=10, set=SMALL, seed=seed, seeds=seeds)


def test_a_scheme_of_which_a_run_failed_has_no_interval(compared: tuple[ssdlab.Comparison, Path]) -> None:
    comparison, _ = compared
    assert comparison.seeds is not None
    finished = {label_of(scheme, seed, SEEDS): result for scheme, runs in comparison.seeds.runs.items() for seed, result in runs.items()}
    del finished["pgc, seed 2"]
    part = collected(finished, ["npgc", "pgc"], SEEDS)
    assert list(part) == ["npgc", "pgc"]
    data = part.to_dict()["seeds"]
    assert (list(data["schemes"]), data["differences"]) == (["npgc"], {})
    assert "Without all seeds, hence without intervals: pgc" in str(part)


def sweep(**more: Any) -> ssdlab.SweepResult:
    settings = {key: value for key, value in SMALL.items() if key != "gc.soft"}
    return ssdlab.sweep({"scheme": ["npgc", "pgc"], "gc.soft": [0.1, 0.15]}, requests=600, set=settings, **more)


def test_sweep_tables_show_means_over_seeds_and_keep_every_run(tmp_path: Path) -> None:
    result = sweep(seeds=3, out=tmp_path)
    assert result.axes["seed"] == [1, 2, 3]
    assert len(result) == 12
    assert pq.read_table(tmp_path / "results.parquet").num_rows == 12
    means = pq.read_table(tmp_path / "means.parquet")
    assert means.column_names[:3] == ["scheme", "gc.soft", "seeds"]
    assert means.num_rows == 4
    row = means.slice(3).to_pylist()[0]
    values = [
        point.result.latency.all.p99
        for point in result
        if dict(point.values) | {"seed": 0} == {"scheme": "pgc", "gc.soft": 0.15, "seed": 0}
    ]
    assert (row["scheme"], row["gc.soft"], row["seeds"]) == ("pgc", 0.15, 3)
    assert row[P99] == pytest.approx(statistics.mean(values))
    assert row[f"{P99}.half_width"] == pytest.approx(4.303 * statistics.stdev(values) / 3**0.5)
    with (tmp_path / "means.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 4
    text = tables.as_text(tables.sweep_tables(result))
    assert "mean over 3 seeds" in text
    table = text.partition("Best by ")[0]
    assert table.count(" ± ") == 4 * 4 + 1
    assert "seed" not in text.splitlines()[1]
    data = result.to_dict()["means"]
    assert data["level"] == 0.95
    assert data["points"][3]["values"] == {"scheme": "pgc", "gc.soft": 0.15}
    assert data["points"][3]["figures"][P99]["mean"] == pytest.approx(row[P99])


def test_a_sweep_of_one_seed_has_no_means(tmp_path: Path) -> None:
    assert sweep(seeds=1).means == []
    assert sweep(out=tmp_path).means == []
    assert not (tmp_path / "means.csv").exists()


def test_stale_means_are_taken_out_of_a_folder(tmp_path: Path) -> None:
    sweep(seeds=2, out=tmp_path)
    assert (tmp_path / "means.csv").exists()
    sweep(seeds=1, out=tmp_path, resume=True)
    assert not (tmp_path / "means.csv").exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("seeds = 0", "seeds = 0: expected how many, from 1"),
        ("seeds = true", "seeds = true: expected how many"),
        ("seeds = 2\ngrid = 5", "grid: expected at least one axis"),
        ("seeds = 3\ngrid.seed = [1, 2]", "seeds and grid.seed were both given"),
    ],
)
def test_seeds_of_a_sweep_that_cannot_be_are_said(tmp_path: Path, ssdlab_command: Ssdlab, text: str, says: str) -> None:
    (tmp_path / "s.toml").write_text(text if "grid = " in text else f'{text}\ngrid.scheme = ["npgc", "pgc"]\n')
    line = ssdlab_command("sweep", "s.toml", "--out", "r").failed(2)
    assert re.search(says, line), line
