"""Calibration: tables are converted to operating points, rows are fitted or predicted by a rule, and a known drive is recovered."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import ssdlab
from conftest import BASE_FILE, MEASURED, ROOT, Ssdlab
from ssdlab.experiments.calibration import csv_tables
from ssdlab.experiments.calibration.api import BASE, SCHEME, calibrate, measurements_of
from ssdlab.experiments.calibration.fitting import Fit, Fitted
from ssdlab.experiments.calibration.measurements import FullSpeed, Measurement, Measurements, Pattern, Point, Probe, QuantityName
from ssdlab.experiments.calibration.parameters import AS_BASE, CHOICES, PARAMETERS, PLANES, settings_of
from ssdlab.experiments.calibration.preset import preset_text
from ssdlab.experiments.calibration.result import calibration_of, written
from ssdlab.experiments.calibration.rule import bound, fitted_rows, highest_rate, waiting_rows
from ssdlab.experiments.calibration.runs import Candidate, Runs, Simulated, flash_bytes, run_at

PUBLISHED = ROOT / "measurements" / "ssd-iq"
KNOWN = int(os.environ.get("KNOWN", "0"))
"""Number of random drives that are recovered with reads too; each takes some minutes."""


def published(drive: str) -> Measurements:
    return csv_tables.read(sorted(PUBLISHED.glob("*.csv")), drive)


def by_hand(file: str, **fields: str) -> list[dict[str, str]]:
    """Rows of a published table, parsed independently of the reader."""
    with (PUBLISHED / file).open(newline="") as text:
        return [row for row in csv.DictReader(text) if all(row[name] == value for name, value in fields.items())]


def test_the_tables_are_read_to_operating_points() -> None:
    found = published("7450-max")
    assert found.drive == "7450-max"
    rows = by_hand("steady_throughput.csv", device="7450-max", pattern="uniform", used_GiB="745.2", block_bytes="4096")
    point = FullSpeed(Pattern("uniform"), round(745.2 * 2**30), 4096, 512)
    (row,) = [row for row in found.at("write_iops") if row.point == point]
    assert row.repeats == len(rows) == 3
    assert row.value == pytest.approx(sum(float(row["steady_write_iops"]) for row in rows) / 3)
    assert 0 < row.spread < 0.01
    frozen = Pattern("zones", hot_share=0.4, hot_access=1.0)
    assert any(row.point == FullSpeed(frozen, round(745.2 * 2**30), 4096, 512) for row in found.at("write_iops"))


def test_repeats_under_load_are_one_row_and_saturated_ones_one_point() -> None:
    found = published("7450-pro")
    saturated = [row for row in found.at("iops") if isinstance(row.point, Probe) and row.point.is_saturated]
    assert len(saturated) == 1
    assert saturated[0].repeats == len(by_hand("latency_under_load.csv", device="7450-pro", saturated="1"))
    loads = [row.point.load_per_s for row in found.at("read_p50_us") if isinstance(row.point, Probe) and not row.point.is_saturated]
    assert sorted(load for load in loads if load is not None) == [5_000, 15_000, 25_000, 35_000, 45_000, 55_000]
    assert saturated[0].point == Probe(round(894.25 * 2**30), 4096, 10_000, 0.5, None, 0.01, 384, 64)


def test_every_row_is_used_or_left_out_with_a_reason() -> None:
    for drive in csv_tables.drives_in(sorted(PUBLISHED.glob("*.csv"))):
        found = published(drive)
        steady = by_hand("steady_throughput.csv", device=drive)
        used = sum(row.repeats for row in found.at("write_iops"))
        counted = by_hand("write_amplification.csv", device=drive)
        loads = by_hand("latency_under_load.csv", device=drive)
        amplified = sum(row.repeats for row in found.at("write_amplification"))
        loaded = sum(row.repeats for row in found.at("iops"))
        assert used + amplified + loaded + sum(found.left_out.values()) == len(steady) + len(counted) + len(loads)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"steady_write_iops": "fast"}, ["line 2", "steady_write_iops = fast", "a number"]),
        ({"steady_write_iops": ""}, ["line 2", "steady_write_iops", "above 0"]),
        ({"steady_write_iops": "-5"}, ["line 2", "steady_write_iops = -5"]),
        ({"used_GiB": "nan"}, ["line 2", "used_GiB = nan"]),
        ({"pattern": "zones-shuffle", "zones": "s0.5 f"}, ["line 2", "zones = s0.5 f", "s0.8 f0.2 s0.2 f0.8"]),
    ],
)
def test_wrong_tables_are_refused_with_the_line(tmp_path: Path, change: Mapping[str, str], words: list[str]) -> None:
    row = by_hand("steady_throughput.csv", device="pe8110", pattern="uniform")[0] | change
    table = tmp_path / "steady.csv"
    with table.open("w", newline="") as text:
        writer = csv.DictWriter(text, list(row))
        writer.writeheader()
        writer.writerow(row)
    with pytest.raises(ssdlab.UsageError) as refused:
        csv_tables.read([table], "pe8110")
    assert all(word in str(refused.value) for word in [*words, "steady.csv"]), refused.value


def test_the_drive_has_to_be_named_where_there_are_several(ssdlab_command: Ssdlab) -> None:
    message = ssdlab_command("calibrate", str(PUBLISHED)).failed(2)
    assert "7450-max" in message
    assert "--drive" in message
    message = ssdlab_command("calibrate", str(PUBLISHED), "--drive", "7450-mox").failed(2)
    assert 'did you mean "7450-max"?' in message


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--print-jobs", "a.csv"], ["--print-jobs"]),
        ([str(PUBLISHED), "--drive", "pe8110", "--out", "mine.json"], [".toml"]),
        ([str(PUBLISHED), "--drive", "pe8110", "--base", "nvme-tlc-2032"], ["nvme-tlc-2032", "did you mean"]),
        (["nothing.csv"], ["nothing.csv"]),
        ([str(ROOT / "README.md")], ["README.md"]),
    ],
)
def test_what_cannot_be_calibrated_is_said(ssdlab_command: Ssdlab, words: list[str], expected: list[str]) -> None:
    message = ssdlab_command("calibrate", *words).failed(1 if words == ["nothing.csv"] else 2)
    assert all(word in message for word in expected), message


def test_rows_fitted_and_predicted_are_apart_and_by_the_rule() -> None:
    found = published("7450-max")
    fitted = set(fitted_rows(found))
    highest = highest_rate(found.rows)
    assert highest == pytest.approx(123_147, rel=1e-3)
    predicted = [row for row in found.rows if row not in fitted]
    assert fitted
    assert len(fitted) + len(predicted) == len(found.rows)
    loads = sorted({row.point.load_per_s for row in fitted if isinstance(row.point, Probe) and row.point.load_per_s})
    assert loads == [5_000, 25_000, 45_000, 65_000, 85_000]
    uses = sorted({row.point.used_bytes for row in fitted if isinstance(row.point, FullSpeed) and row.point.pattern.kind == "uniform"})
    assert [round(used / 2**30, 1) for used in uses] == [372.6, 745.2]
    for row in predicted:
        if isinstance(row.point, FullSpeed) and row.point.pattern.kind == "zipf":
            assert row.point.pattern.theta < 0.8
            assert bound(row, highest) == (0.1, 0.0)
    zones = {row.point.pattern.hot_share for row in fitted if isinstance(row.point, FullSpeed) and row.point.pattern.kind == "zones"}
    assert zones == {0.8, 0.5, 0.2}  # of 0.8, 0.6, 0.5, 0.4, 0.2 and 0.1 that are written, the others never again


@pytest.mark.parametrize(
    ("changes", "load_per_s", "waits", "dies", "narrow", "flows"),
    [
        ({}, 0, False, 4, 4, 0),
        ({}, None, False, 4, 4, 1),
        ({"gc.pace_window": 0.1}, 40_000, False, 16, 4, 6),
        ({"device.plane_programs": 4}, 40_000, False, 8, 4, 1),
        ({"device.plane_programs": 4}, 40_000, True, 32, 4, 1),
        ({"device.plane_programs": 4}, None, True, 4, 4, 1),
        # all dies, pages as they are, and a queue for each thread: how long a command waits for a place depends on how many places a
        # program frees, and on how many commands of other queues there are
        ({"host.slots": 256}, None, False, 64, 1, 6),
    ],
)
def test_a_large_drive_is_simulated_on_as_few_dies_as_a_small_one(
    changes: Mapping[str, float], load_per_s: float | None, *, waits: bool, dies: int, narrow: int, flows: int
) -> None:
    large = Candidate(BASE, SCHEME, has_many_dies=waits).with_changes({"device.chips_per_channel": 4, **changes})
    probe = Probe(4 * USED[1], 4096, 10_000, 0.5, load_per_s, 0.01, 384, 64)
    (_, written), (setup, parts) = run_at(large, FullSpeed(Pattern("uniform"), 4 * USED[1], 4096, 512), 1), run_at(large, probe, 1)
    assert 64 * 4 * written["load"] == 1  # pages hold a quarter: of reads a die has as many as before
    half = dies / 64 * (1 + 1 / narrow) / 2
    assert parts["probe"] == pytest.approx(half)
    assert parts.get("load", 0) == pytest.approx(0 if load_per_s == 0 else dies / 64 * (0.01 + 0.99 / narrow))
    tree = json.loads(setup.build(SCHEME).json())
    assert tree["device"]["channels"] * tree["device"]["chips_per_channel"] == dies
    assert tree["host"]["slots"] == changes.get("host.slots", 0) / narrow
    assert len(tree["workload"]["flows"]) == flows


def test_a_smaller_drive_does_as_the_whole_one_does() -> None:
    """What is measured does not depend on how many dies are simulated: all of a small drive, or a quarter of one four times as large."""
    few = Candidate(BASE, SCHEME).with_changes({"device.channels": 2, "device.pages_per_block": 192, "device.blocks_per_plane": 200})
    many = few.with_changes({"device.channels": 8, "buffer.bytes": 4 * 8_388_608, "host.cores": 32})
    used = round(flash_bytes(few.tree()) * 0.75)
    runs = Runs(seed=1)
    points = [FullSpeed(Pattern("uniform"), share * used, 4096, share * 128) for share in (1, 4)]
    one, other = runs.at([(few, points[0]), (many, points[1])])
    assert one is not None
    assert other is not None
    assert other["write_amplification"] == pytest.approx(one["write_amplification"], rel=0.02)
    assert other["write_iops"] == pytest.approx(4 * one["write_iops"], rel=0.03)


def test_runs_that_begin_with_the_same_steady_drive_do_as_if_each_had_prepared_it() -> None:
    drive = Candidate(BASE, SCHEME).with_changes({"device.channels": 2, "device.pages_per_block": 192, "device.blocks_per_plane": 60})
    used = round(flash_bytes(drive.tree()) * 0.75)
    slower = drive.with_changes(
        {"device.program_ns": 3_000_000, "device.suspend_ns": 5_000, "buffer.drain": "eager", "gc.pace_window": 0.35}
    )
    writes = FullSpeed(Pattern("uniform"), used, 4096, 64)
    loads = [Probe(used, 4096, 10_000, 0.5, load, 0.01, 384) for load in (5_000.0, 8_000.0, None)]
    smaller = FullSpeed(Pattern("uniform"), round(used * 0.9), 4096, 64)
    pairs = [(candidate, point) for candidate in (drive, slower) for point in (writes, *loads, smaller)]
    too_full = (drive, FullSpeed(Pattern("uniform"), flash_bytes(drive.tree()) + 1, 4096, 64))
    *together, none = Runs(seed=3).at([*pairs, too_full])
    assert none is None
    assert together == [Runs(seed=3).at([pair])[0] for pair in pairs]
    # Whichever drive is at hand, runs begin with that of their own candidate.
    runs = Runs(seed=3)
    other = [(drive.with_changes({"gc.victim": "fifo"}), point) for point in loads]
    assert [runs.at(chosen) for chosen in (pairs, other, pairs[1:3])][1:] == [[Runs(seed=3).at([pair])[0] for pair in other], together[1:3]]
    assert runs.done == len(pairs) + len(other)


# What is measured of known drives: a part of what was measured of the 7450 MAX.
USED = (400_000_000_000, 800_000_000_000)
BLOCKS, FEW_BLOCKS = 497, 124
"""Blocks per plane of the base, and of one with a quarter of its bytes: a run takes as much less time."""


def writes(used_bytes: Sequence[float]) -> list[Point]:
    """Sequential and uniform writes to parts of a drive."""
    sequential = [FullSpeed(Pattern("sequential"), round(used), 524_288, 1) for used in used_bytes]
    return [*sequential, *(FullSpeed(Pattern("uniform"), round(used), 4096, 512) for used in used_bytes)]


def few_blocks(folder: Path) -> Path:
    """A file with the base of calibrations, but fewer blocks."""
    text = ssdlab.preset_text("device", BASE)
    few = text.replace(f"blocks_per_plane = {BLOCKS}\n", f"blocks_per_plane = {FEW_BLOCKS}\n")
    assert few != text
    file = folder / "few-blocks.toml"
    file.write_text(few)
    return file


PROBING, LOADING = 0.1, (0.05, 0.2, 0.4, 0.6)
"""Rates of probe and loads, as shares of the highest rate: real measurements use loads that the drive can take."""


def probes(drive: Candidate) -> list[Point]:
    """A probe beside four loads and beside a saturated one."""
    saturated: Point = Probe(USED[1], 4096, 10_000, 0.5, None, 0.01, 384)
    (rough,) = Runs(seed=1).at([(drive, saturated)])
    assert rough is not None
    per_s = round(rough["iops"] * PROBING, -2)
    loads = [*(round(rough["iops"] * share, -2) for share in LOADING), None]
    return [Probe(USED[1], 4096, per_s, 0.5, load, 0.01, 384) for load in loads]


def random_drive(seed: int, share: float = 1.0) -> tuple[dict[str, float], dict[str, str], dict[str, int]]:
    """Random values, choices and directly stated values of a drive, within the range of its class; `share`: of the bytes of that class."""
    chance = random.Random(seed)
    ranges = {
        "capacity_gb": (900 * share, 1300 * share),
        "program_us": (1500, 2600),
        "read_us": (35, 75),
        "min_run_us": (200, 500),
        "lost_us": (150, 700),
        "suspend_us": (15, 60),
    }
    assert set(ranges) == {parameter.name for parameter in PARAMETERS}
    values = {name: chance.uniform(*ends) for name, ends in ranges.items()}
    choices = {choice.name: next(iter(choice.alternatives)) for choice in CHOICES}
    choices["reads_pass"] = chance.choice(list(CHOICES[0].alternatives))
    read_off = {"ftl.parity_stripe": chance.choice([8, 16, 32]), "buffer.access_ns": chance.randrange(1_000, 8_000)}
    choices["planes"] = chance.choice(list(PLANES.alternatives))
    return values, choices, read_off


def measured(candidate: Candidate, points: Sequence[Point], seed: int) -> Measurements:
    """The simulated quantities of a drive, as measurements."""
    results = Runs(seed=seed).at([(candidate, point) for point in points])
    rows: list[Measurement] = []
    for point, result in zip(points, results, strict=True):
        assert result is not None
        rows += [Measurement(point, quantity, value, "simulated") for quantity, value in result.items()]
    return Measurements("known", tuple(rows), {})


def found_again(seed: int, base: Candidate, share: float, *, is_probed: bool) -> list[str]:
    """Calibrates a known drive; returns determined values that differ by more than 5 % from the truth, and wrong choices.

    `share`: of the bytes of the drives of its class.
    """
    values, choices, read_off = random_drive(seed, share)
    known = base.with_changes({**settings_of(values, choices, base.tree()), **read_off})
    used = [round(used * share) for used in USED]
    points = [*writes(used), *(probes(known) if is_probed else [])]
    found = measured(known, points, seed=1000 + seed)  # with other random numbers than those of the search
    runs = Runs(seed=1)
    fit = Fit(fitted_rows(found), waiting_rows(found), base, runs, lambda _, __: None, used_bytes=used[1])
    fitted = fit.run()
    results = dict(zip(points, fit.simulated(fitted, points), strict=True))
    calibration = calibration_of(found, base, 1, fitted, fit.settings(fitted), results, runs.done)
    print(f"seed {seed}: {runs.done} runs, {calibration.misfit}")
    assert calibration.is_well_fitted
    truths = {**values, "parity_stripe": read_off["ftl.parity_stripe"], "access_ns": read_off["buffer.access_ns"], **choices}
    far = []
    for value in calibration.values:
        truth = truths[value.name]
        error = float(value.value != truth) if isinstance(value.value, str) else value.value / float(truth) - 1
        sure = "determined" if value.is_determined else f"not determined: {value.why}"
        print(f"  {value.name}: {value.value} for {truth} ({error:+.1%}, standard error {value.uncertainty or 0:.1%}), {sure}")
        if value.is_determined and abs(error) > 0.05:
            far.append(value.name)
    return far


@pytest.mark.full
def test_the_writes_of_a_known_drive_tell_its_capacity_and_program_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = Candidate(str(few_blocks(tmp_path)), SCHEME)
    assert found_again(0, base, FEW_BLOCKS / BLOCKS, is_probed=False) == []
    told = capsys.readouterr().out
    for name in ("capacity_gb", "program_us", "parity_stripe"):
        assert re.search(rf"  {name}: .* determined$", told, re.MULTILINE), told
    for name in ("read_us", "min_run_us", "lost_us", "suspend_us"):
        assert re.search(rf"  {name}: .* not determined: ", told), told


@pytest.mark.parametrize("seed", range(KNOWN))
def test_a_known_drive_is_found_again(seed: int) -> None:
    assert found_again(seed, Candidate(BASE, SCHEME), 1.0, is_probed=True) == []


class Leaping(Runs):
    """A stand-in for the simulator: reads take 10 % longer per percent of `lost_us` above 400, and with `evenly` also below."""

    def __init__(self, *, evenly: bool) -> None:
        super().__init__(seed=1)
        self._evenly = evenly

    def at(self, wanted: Sequence[tuple[Candidate, Point]]) -> list[Simulated | None]:
        percent = [float(dict(candidate.settings)["device.resume_ns"]) / 4_000 - 100 for candidate, _ in wanted]
        return [{"read_mean_us": 100.0 + 10 * (one if self._evenly else max(0.0, one))} for one in percent]


@pytest.mark.parametrize("evenly", [True, False])
def test_a_value_is_as_sure_as_to_the_side_where_it_tells_less(*, evenly: bool) -> None:
    base = Candidate(BASE, SCHEME)
    rows = [Measurement(Probe(USED[1], 4096, 10_000, 0.5, load, 0.01, 384), "read_mean_us", 100.0, "by hand") for load in (1e4, 2e4)]
    fit = Fit(rows, (), base, Leaping(evenly=evenly), lambda _, __: None, used_bytes=USED[1])
    values, choices, _ = random_drive(0)
    errors = fit._uncertainty(rows, Fitted({**values, "lost_us": 400.0}, choices))
    # The differences are clipped at 3 tolerances, a step of 0.25: slopes of 12 in two rows, whose differences of 0 count as 0.3.
    assert errors["lost_us"] == pytest.approx(0.3 / (12 * 2**0.5) if evenly else 1.5, rel=0.01)
    assert errors["read_us"] == pytest.approx(1.5)


class Planes(Runs):
    """A stand-in for the simulator: reads wait for a suspension, in proportion to the load, or always if planes are programmed one by one.

    With a limit of 256 commands a read takes 100 us longer. `late_us`: mean of the load's writes if planes are programmed one by one.
    """

    def __init__(self, *, late_us: float = 10.0) -> None:
        super().__init__(seed=1)
        self._late_us = late_us
        self.with_many_dies = 0

    def at(self, wanted: Sequence[tuple[Candidate, Point]]) -> list[Simulated | None]:
        self.with_many_dies += sum(candidate.has_many_dies for candidate, _ in wanted)
        return [self._one(dict(candidate.settings), point) for candidate, point in wanted]

    def _one(self, settings: Mapping[str, str], point: Point) -> Simulated:
        assert isinstance(point, Probe)
        one_by_one = settings["device.plane_programs"] == "4"
        busy = 1.0 if one_by_one or point.load_per_s is None else point.load_per_s / 1e5
        limited = 100.0 if settings.get("host.slots") == "256" else 0.0
        read_us = 60.0 + busy * float(settings["device.suspend_ns"]) / 1e3 + limited
        return {"read_p50_us": read_us, "load_write_mean_us": self._late_us if one_by_one else 10.0}


def test_waits_of_writes_are_those_of_many_dies_and_reads_those_of_as_many_as_were_searched() -> None:
    class Few(Planes):
        def at(self, wanted: Sequence[tuple[Candidate, Point]]) -> list[Simulated | None]:
            return [{"read_p50_us": read_us, "write_p99_us": wait_us} for read_us, wait_us in map(self._of, wanted)]

        def _of(self, pair: tuple[Candidate, Point]) -> tuple[float, float]:
            return (400.0, 50.0) if pair[0].has_many_dies else (100.0, 4_500.0)

    fit = Fit([under_load("read_p50_us", 2e4, 100.0)], (), Candidate(BASE, SCHEME), Few(), lambda _, __: None, used_bytes=USED[1])
    values, choices, _ = random_drive(0)
    point = under_load("read_p50_us", 2e4, 100.0).point
    whole = FullSpeed(Pattern("uniform"), USED[1], 4096, 512)
    for planes, wait_us in (("all", 4_500.0), ("one by one while there is time", 50.0)):
        found = fit.simulated(Fitted(values, {**choices, "planes": planes}), [point, whole], waits=True)
        assert found == [{"read_p50_us": 100.0, "write_p99_us": wait_us}, {"read_p50_us": 100.0, "write_p99_us": 4_500.0}]


@pytest.mark.parametrize(("used", "times"), [(960_000_000_000, 1), (1_920_000_000_000, 2), (3_840_000_000_000, 4)])
def test_a_larger_drive_has_as_much_of_the_buffer_for_each_die(used: int, times: int) -> None:
    base = Candidate(BASE, SCHEME)
    fit = Fit((), (), base, Runs(seed=1), lambda _, __: None, used_bytes=used)
    settings = fit.settings(Fitted(*random_drive(0)[:2], read_off=fit._chips))
    tree = base.tree()
    assert settings.get("device.chips_per_channel", 1) == times * tree["device"]["chips_per_channel"]
    assert settings.get("buffer.bytes", tree["buffer"]["bytes"]) == times * tree["buffer"]["bytes"]


def under_load(quantity: QuantityName, load_per_s: float | None, value: float) -> Measurement:
    return Measurement(Probe(USED[1], 4096, 10_000, 0.5, load_per_s, 0.01, 384, 64), quantity, value, "by hand")


@pytest.mark.parametrize(("late_us", "expected"), [(10.0, "one by one while there is time"), (5_000.0, "all")])
def test_planes_are_programmed_as_reads_tell_unless_writes_would_wait(late_us: float, expected: str) -> None:
    loads = (1e4, 5e4, 9e4)
    rows = [under_load("read_p50_us", load, 150.0) for load in loads]
    waits = [under_load("load_write_mean_us", load, 10.0) for load in loads]
    runs = Planes(late_us=late_us)
    fit = Fit(rows, waits, Candidate(BASE, SCHEME), runs, lambda _, __: None, used_bytes=USED[1])
    values, choices, _ = random_drive(0)
    fitted = fit._choose_planes(Fitted({**values, "suspend_us": 30.0}, {**choices, "planes": "all"}, ends=fit._ends))
    assert fitted.choices["planes"] == expected
    assert set(fitted.losses["planes"]) == set(PLANES.alternatives) - {expected}
    assert runs.with_many_dies == len(loads)  # the waits of writes, of the drive that programs planes one by one
    if expected != "all":
        assert fitted.values["suspend_us"] == pytest.approx(90.0, rel=0.1)


def test_the_present_way_of_programming_planes_is_searched_as_well() -> None:
    rows = [under_load("read_p50_us", load, 150.0) for load in (1e4, 5e4, 9e4)]
    fit = Fit(rows, (), Candidate(BASE, SCHEME), Planes(), lambda _, __: None, used_bytes=USED[1])
    values, choices, _ = random_drive(0)
    present = {**choices, "planes": "one by one while there is time"}
    fitted = fit._choose_planes(Fitted({**values, "suspend_us": 140.0}, present, ends=fit._ends))
    assert fitted.choices["planes"] == present["planes"]
    assert fitted.values["suspend_us"] == pytest.approx(90.0, rel=0.1)
    assert fitted.losses["planes"]["all"] > 0


@pytest.mark.parametrize(
    ("measured", "expected", "tried"),
    [(160.0, AS_BASE, set()), (260.0, "256", {AS_BASE, "320", "384", "128"}), (100.0, AS_BASE, {"256"})],
)
def test_limits_of_commands_are_tried_only_if_reads_are_missed_without(measured: float, expected: str, tried: set[str]) -> None:
    rows = [under_load("read_p50_us", None, measured)]
    fit = Fit(rows, (), Candidate(BASE, SCHEME), Planes(), lambda _, __: None, used_bytes=USED[1])
    values, choices, _ = random_drive(0)
    fitted = fit._choose_slots(Fitted({**values, "suspend_us": 100.0}, {**choices, "planes": "all"}, ends=fit._ends))
    assert fitted.choices["slots"] == expected
    assert set(fitted.losses["slots"]) == tried


def test_the_window_of_the_base_is_compared_whatever_it_is() -> None:
    class Waiting(Planes):
        def _one(self, settings: Mapping[str, str], point: Point) -> Simulated:
            assert isinstance(point, Probe)
            return {"load_write_mean_us": 10.0 if settings.get("gc.pace_window", "0.1") == "0.1" else 5_000.0}

    waits = [under_load("load_write_mean_us", load, 10.0) for load in (2e4, 4e4)]
    base = Candidate(BASE, SCHEME).with_changes({"gc.pace_window": 0.1})
    fit = Fit((), waits, base, Waiting(), lambda _, __: None, used_bytes=USED[1])
    values, _, _ = random_drive(0)
    choices = {choice.name: choice.of(base.tree()) for choice in CHOICES}
    assert choices["pacing"] == "0.1"
    assert fit._choose_pacing(Fitted(values, choices, ends=fit._ends)).choices["pacing"] == "0.1"


def test_the_preset_is_the_drive_that_was_found(tmp_path: Path) -> None:
    fitted = Fitted(*random_drive(5))
    base = Candidate(BASE, SCHEME)
    settings = fitted.settings(base.tree())
    text = preset_text(BASE, 'my "own"\\drive', SCHEME, settings, {"program_us": "fitted, +-3%"}, 0.25, caveat=" Badly fitted.")
    tree = tomllib.loads(text)
    assert tree["description"].startswith("A drive")
    assert 'my "own"\\drive' in tree["description"]
    assert "Badly fitted" in tree["description"]
    for key, value in {**settings, "device.overprovisioning": 0.25}.items():
        section, name = key.split(".")
        assert tree[section][name] == value, key
    assert "# Fitted, +-3%.\nprogram_ns = " in text
    # Whatever is found can be used: a device preset may have it.
    for choice in CHOICES:
        for name in choice.alternatives:
            found = Fitted(fitted.values, {**fitted.choices, choice.name: name}, fitted.read_off).settings(base.tree())
            file = tmp_path / "mine.toml"
            file.write_text(preset_text(BASE, "mine", SCHEME, found, {}, 0.25))
            used = Candidate(str(file), SCHEME).tree()
            assert all(used[key.split(".")[0]][key.split(".")[1]] == value for key, value in found.items()), name
    # What was not fitted is as in the preset that it began with, with its comments.
    original = tomllib.loads(ssdlab.preset_text("device", BASE))
    assert tree["device"]["page_bytes"] == original["device"]["page_bytes"]
    assert "# Pages, their spare bytes" in text


def fewer(gib: str) -> str:
    """What a drive with few blocks has in place of these bytes."""
    return f"{float(gib) * FEW_BLOCKS / BLOCKS:.3f}"


def few_rows(tmp_path: Path) -> Path:
    """Tables with a single row of a drive: its uniform writes at full speed, as if it had fewer blocks."""
    for file in ("steady_throughput.csv", "drives.csv"):
        rows = by_hand(file, device="pe8110")
        if file.startswith("steady"):
            rows = [row | {"used_GiB": fewer(row["used_GiB"])} for row in rows if row["pattern"] == "uniform"]
        with (tmp_path / file).open("w", newline="") as text:
            writer = csv.DictWriter(text, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return tmp_path


def test_measurements_are_never_written_over(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    """Results replace neither the `mine.json` of fio beside a preset `mine.toml`, nor a file with the name of a result."""
    assert tmp_path / "mine.json" not in written(tmp_path / "mine.toml")
    table = tmp_path / "mine.svg"
    table.write_text("measurements")
    message = ssdlab_command("calibrate", "mine.svg", "--out", "mine.toml").failed(2)
    assert "mine.svg is what the run reads" in message
    assert table.read_text() == "measurements"


def test_a_calibration_begins_with_a_file_as_with_a_preset(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    for name, text in {"base.toml": BASE_FILE, "measured.csv": MEASURED}.items():
        (tmp_path / name).write_text(text)
    words = ["calibrate", "measured.csv", "--base", "base.toml", "--out"]
    message = ssdlab_command(*words, "base.toml").failed(2)
    assert "base.toml is what the run reads" in message
    run = ssdlab_command(*words, "mine.toml")
    assert run.code == 0, run.err
    tree = tomllib.loads((tmp_path / "mine.toml").read_text())
    assert "behave as measured of mine" in tree["description"]
    assert "from the device base.toml" in tree["source"]
    assert tree["device"]["pages_per_block"] == 16
    assert tree["buffer"]["bytes"] == 65_536
    assert tree["device"]["program_ns"] != 400_000


@pytest.mark.full
def test_what_no_row_speaks_of_is_said_to_be_undetermined(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    out = tmp_path / "mine.toml"
    base = few_blocks(tmp_path)
    run = ssdlab_command("calibrate", str(few_rows(tmp_path)), "--base", str(base), "--out", str(out), "--json")
    data = run.json()
    assert {value["name"] for value in data["values"] if not value["determined"]} >= {"read_us", "min_run_us", "lost_us", "suspend_us"}
    assert all(value["why"] == "no row tells" for value in data["values"] if value["name"] in ("reads_pass", "drain", "collection"))
    assert sorted(path.name for path in tmp_path.glob("mine.*")) == ["mine.png", "mine.rows.json", "mine.svg", "mine.toml"]
    assert json.loads((tmp_path / "mine.rows.json").read_text()) == data
    again = calibrate(tmp_path, base=str(base), seed=1, jobs=1)
    assert again.to_dict() == data
    assert measurements_of([tmp_path], None).drive == "pe8110"
    config = ["run", "--device", str(out), "--scheme", "nvme", "--set", "device.pages_per_block=96", "--requests", "2k"]
    used = ssdlab_command(*config, "--workload", "uniform-4k-write")
    assert used.code == 0, used.err


@pytest.mark.full
def test_a_drive_with_a_ceiling_of_writes_is_called_badly_fitted(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    """Random writes are as fast on a full drive as on an empty one, and far slower than sequential ones: no flash explains that."""
    alike = {"device": "ceiling", "zipf_theta": "", "zones": "", "initial_state": "filled once", "late_drift": "1"}
    random_writes = {"pattern": "uniform", "block_bytes": "4096", "queue_depth_total": "512", "steady_write_iops": "60000"}
    in_order = {"pattern": "sequential", "block_bytes": "524288", "queue_depth_total": "1", "steady_write_iops": "3000"}
    rows = [{**alike, **kind, "used_GiB": fewer(used)} for kind in (random_writes, in_order) for used in ("370", "560", "740")]
    with (tmp_path / "ceiling.csv").open("w", newline="") as text:
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    words = ["calibrate", "ceiling.csv", "--base", few_blocks(tmp_path), "--json", "--out", "ceiling.toml"]
    run = ssdlab_command(*words, cwd=tmp_path)
    assert run.code == 1
    assert "ceiling is badly fitted" in run.err
    data = run.json()
    assert not data["well_fitted"]
    assert any(row["verdict"] in ("not fitted", "missed") for row in data["rows"])
    assert (tmp_path / "ceiling.toml").is_file()  # all the same, for who wants to look
