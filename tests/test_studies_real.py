"""The studies of real drives equal the output of their generator, and their rows equal those of the tables and of the calibration."""

from __future__ import annotations

import csv
import itertools
import sys
import tomllib
from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any

import pytest

import ssdlab
from conftest import ROOT
from ssdlab.experiments.calibration import csv_tables
from ssdlab.experiments.calibration.api import BASE, SCHEME
from ssdlab.experiments.calibration.rule import fitted_rows
from ssdlab.experiments.calibration.runs import Candidate, Runs
from ssdlab.experiments.study import library
from ssdlab.experiments.study.definition import parse
from ssdlab.experiments.study.running import prepare, run

sys.path.insert(0, str(ROOT / "tools"))

import real_studies
from calibrated_drives import DRIVES, PRESETS, ROWS_PAGE, TABLES, files, stored, summary

CANDIDATE = Candidate(BASE, SCHEME)
"""Replaces the drives' own presets: rows and operating points do not depend on it."""
Lines = list[dict[str, str]]


def texts(drive: str) -> dict[str, str]:
    return real_studies.studies_of(drive, BASE, CANDIDATE)


def lines_of(file: str, drive: str) -> Lines:
    with (TABLES / file).open(newline="") as text:
        return [line for line in csv.DictReader(text) if line["device"] == drive]


def by_hand(drive: str, study: str, metric: str, label: str) -> float:
    """The mean of a row's values in the tables, found independently of the reader."""
    kind = study.removeprefix(f"{drive.removesuffix('-b')}-")
    if kind in ("load", "saturated"):
        names = {"rate": "achieved_iops", "load_write": "load_write_avg_us"}
        lines = lines_of("latency_under_load.csv", drive)
        chosen = [line for line in lines if (line["saturated"] == "1") == (kind == "saturated") and is_offered(line, label)]
        return fmean(float(line[names.get(metric, f"probe_{metric}_us")]) for line in chosen)
    file, column = {
        "rate": ("steady_throughput.csv", "steady_write_iops"),
        "amplification": ("write_amplification.csv", "waf_measured"),
    }[metric]
    lines = [line for line in lines_of(file, drive) if line[column] and line["late_drift"] and abs(float(line["late_drift"]) - 1) <= 0.05]
    depth = {"sequential": "1", "depth-256": "256"}.get(kind, "512")
    chosen = [line for line in lines if line["queue_depth_total"] == depth and is_written(line, kind, label)]
    return fmean(float(line[column]) for line in chosen)


def is_offered(line: Mapping[str, str], label: str) -> bool:
    return label == "saturated" or round(float(line["offered_writes_and_reads_per_s"]) / 1000) == int(label)


def is_written(line: Mapping[str, str], kind: str, label: str) -> bool:
    """Whether a line of writes at full speed belongs to a study's operating point."""
    used = f"{float(line['used_GiB']) * 2**30 / 1e9:.0f}"
    zipf, uniform = line["pattern"] == "zipf-shuffle", line["pattern"] == "uniform"
    if kind == "sequential":
        return line["pattern"] in ("sequential", "sequential-noshuffle") and used == label
    if line["initial_state"].partition(" ")[0] != "filled":
        return False
    if kind == "use":
        return uniform and used == label
    if float(line["used_share_of_capacity"]) != 1:
        return False
    if kind == "zones":
        access, share = (f"{int(part) / 100:g}" for part in label.split(" to "))
        return line["pattern"] == "zones-shuffle" and f"s{share} f{access}" in line["zones"]
    return uniform if label in ("0", "uniform") else zipf and float(line["zipf_theta"]) == float(label.removeprefix("zipf "))


def rows_of(drive: str) -> Iterator[tuple[str, dict[str, Any], str, str]]:
    """The rows of a drive's studies: study, row, metric and label."""
    for name, text in texts(drive).items():
        for row in tomllib.loads(text)["rows"]:
            metric, _, where = row["value"].removesuffix("]").partition("[")
            yield name, row, metric, where.partition(", ")[2]


def test_the_files_are_what_the_generator_writes() -> None:
    files = {file.stem: file.read_text(encoding="utf-8") for file in (ROOT / "studies" / "real").glob("*.toml")}
    assert files == real_studies.studies(), "run tools/real_studies.py"


@pytest.mark.parametrize("drive", DRIVES)
def test_every_row_is_a_row_of_the_tables(drive: str) -> None:
    for name, row, metric, label in rows_of(drive):
        assert row["paper"] == pytest.approx(by_hand(drive, name, metric, label), abs=6e-4), (name, row["what"])


@pytest.mark.parametrize("drive", DRIVES)
def test_every_measurement_of_the_kinds_is_a_row_and_fitted_ones_are_marked(drive: str) -> None:
    found = csv_tables.read(sorted(TABLES.glob("*.csv")), drive)
    in_studies = {quantity for kind in (real_studies.USE, real_studies.LOAD, real_studies.SATURATED) for quantity in kind.quantities}
    only_saturated = set(real_studies.SATURATED.quantities) - set(real_studies.LOAD.quantities)

    def is_wanted(row: Any) -> bool:
        return row.quantity in in_studies and (row.quantity not in only_saturated or row.point.is_saturated)

    def values(rows: Any) -> list[tuple[float, bool]]:
        return sorted((round(row.value, 3), row in fitted) for row in rows if is_wanted(row))

    fitted = set(fitted_rows(found))
    written = sorted((row["paper"], row.get("calibrated", False)) for _, row, *_ in rows_of(drive))
    assert written == values(found.rows)
    assert 10 < sum(marked for _, marked in written) < len(written)


@pytest.mark.parametrize("drive", DRIVES)
def test_the_studies_can_be_read_and_run(drive: str) -> None:
    for name, text in texts(drive).items():
        study = parse(f"real/{name}", text, ROOT)
        assert study.place
        assert study.about
        assert "8a0a3f4" in study.place
        if drive == "7450-max":  # of the others the base has too little flash, which their presets have not
            prepare(study)


@pytest.mark.parametrize(
    ("kind", "point"), [(real_studies.LOAD, 0), (real_studies.SEQUENTIAL, 0)], ids=["a probe under load", "writes at full speed"]
)
def test_a_study_repeats_what_the_calibration_simulated(kind: real_studies.Kind, point: int) -> None:
    found = csv_tables.read(sorted(TABLES.glob("*.csv")), "7450-max")
    (points,) = [points for some, points in real_studies.kinds(found) if some is kind]
    chosen = points[point : point + 1]
    text = real_studies.text_of("7450-max", BASE, CANDIDATE, found, kind, chosen)
    outcomes = run(prepare(parse("real/one", text, ROOT)), workers=1).outcomes
    (simulated,) = Runs(seed=real_studies.SEED, workers=1).at([(CANDIDATE, chosen[0])])
    assert simulated is not None
    rows = real_studies.ordered(found.rows, kind.quantities, chosen)
    assert [outcome.estimate.mean for outcome in outcomes if outcome.estimate] == [simulated[row.quantity] for row in rows]
    assert [outcome.row.paper for outcome in outcomes] == [round(row.value, 3) for row in rows]


def test_each_drive_has_each_kind() -> None:
    kinds = ("sequential", "zipf", "zones", "load", "saturated")
    names = [name for drive in DRIVES for name in texts(drive)]
    assert set(names) >= {f"{drive.removesuffix('-b')}-{kind}" for drive, kind in itertools.product(DRIVES, kinds)}
    assert {"7450-max-use", "7450-pro-use", "d7-p5520-depth-256"} < set(names)


def test_a_drive_whose_preset_is_there_has_its_studies() -> None:
    shipped = [parse(name, text, ROOT) for name, text in library.shipped().items() if name.startswith("real/")]
    assert {study.setup["device"] for study in shipped} == set(PRESETS.values()) & set(ssdlab.presets("device"))


def test_the_page_of_calibrated_drives_has_their_quality() -> None:
    page = (ROOT / "docs" / "evidence" / "calibrated-drives.md").read_text()
    assert "\n".join(summary(stored(), to_files=True)) in page


def test_the_page_with_all_rows_has_each_stored_row() -> None:
    made = dict(files())[ROWS_PAGE]
    rows = [row for drive in stored().values() for row in drive["rows"]]
    for word in ("fitted", "not fitted", "within", "missed", "reported"):
        assert made.count(f" | {word} |") >= sum(row["verdict"] == word for row in rows) > 0
