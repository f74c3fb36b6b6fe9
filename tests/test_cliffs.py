"""Write cliffs: what is predicted of drives on sale, and the stored rows that say so (`python tools/cliffs_page.py`)."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

import ssdlab
from conftest import ROOT, Ssdlab
from ssdlab.experiments.cliffs import fill as fills
from ssdlab.experiments.cliffs.drives import Drive, read
from ssdlab.experiments.cliffs.fill import Fill, fill, fitted, recovery
from ssdlab.experiments.cliffs.model import BASE, SCHEME, SPARE_BLOCKS, folding_of, model_of
from ssdlab.experiments.cliffs.predictions import END, FITTED, UNFITTED, predicted

sys.path.insert(0, str(ROOT / "tools"))

from cliffs_page import TABLE, lines, stored

DRIVES = {drive.label: drive for drive in read(TABLE).drives}
NM620, A2000, ATOM, SN550 = "Lexar NM620 1,000 GB", "Kingston A2000 1,000 GB", "ADATA XPG Atom 50 1,000 GB", "WD Blue SN550 500 GB"
SN580, M480, NM800 = "WD Blue SN580 1,000 GB", "MSI Spatium M480 Play 2,000 GB", "Lexar NM800 Pro 2,000 GB"
KC3000, ROCKET, GM7 = "Kingston KC3000 2,000 GB", "Sabrent Rocket 4 Plus 2,000 GB", "Acer Predator GM7 4,000 GB"
EX900, P41, QVO = "HP EX900 Pro 1,000 GB", "Solidigm P41 Plus 1,000 GB", "Samsung 870 QVO SATA 4,000 GB"
SN850X, PRO980 = "WD Black SN850X 2,000 GB", "Samsung 980 Pro 1,000 GB"
MISSES = {(NM620, END), (NM620, FITTED), (A2000, END), (EX900, END)}
"""Predictions of the table that miss their bounds; the page discusses each."""
UNDECIDED = {(KC3000, UNFITTED), (ROCKET, UNFITTED), (SN850X, UNFITTED), (PRO980, UNFITTED)}
CONTRADICTORY = {(GM7, FITTED), (QVO, UNFITTED), (P41, END)}
"""Published numbers that the others do not decide, and those that they contradict."""


def rows_about(what: str) -> dict[str, dict[str, str]]:
    """The stored rows about one quantity, by drive."""
    return {row["drive"]: row for row in stored() if row["what"] == what}


# ---------------------------------------------------------------------------------------------------------------------------------------
# The stored rows.


@pytest.mark.parametrize("label", DRIVES)
def test_stored_rows_are_what_runs_give(label: str) -> None:
    assert [row for row in stored() if row["drive"] == label] == list(lines(predicted(DRIVES[label])))


def test_all_drives_are_stored_and_only_those_miss_that_the_page_discusses() -> None:
    rows = stored()
    assert list(dict.fromkeys(row["drive"] for row in rows)) == list(DRIVES)
    assert {(row["drive"], row["what"]) for row in rows if row["kept"] == "NO"} == MISSES
    assert {(row["drive"], row["what"]) for row in rows if row["kept"] == "not predicted"} == UNDECIDED | CONTRADICTORY
    assert sum(row["kept"] == "yes" for row in rows) == 24


def test_four_fifths_of_the_whole_fills_are_within_their_bounds() -> None:
    """Each drive once: with folding fitted where it may be, else as it follows from what was given."""
    kept = [row["kept"] for row in {**rows_about(UNFITTED), **rows_about(FITTED)}.values()]
    assert kept.count("yes") == 10
    assert kept.count("NO") <= 0.2 * 11
    unfitted = rows_about(UNFITTED)
    assert [unfitted[label]["kept"] for label in (M480, NM800, "Crucial P5 1,000 GB")] == ["yes"] * 3


def test_drives_with_eight_channels_fold_with_one_plane_of_each_die() -> None:
    """The number of planes that the third phase asks for, in both rows that have one."""
    for label in (M480, NM800):
        drive = DRIVES[label]
        assert drive.v3 is not None
        found = fitted(drive, drive.v3, fill(drive))
        assert folding_of(drive) == drive.dies == 32
        assert found.folding == pytest.approx(32, abs=1)


def test_one_sheet_has_three_fills() -> None:
    """Controller, dies, planes and channels do not decide how fast a drive is filled."""
    drives = [DRIVES[label] for label in (M480, KC3000, ROCKET)]
    assert {(drive.capacity, drive.bits, drive.dies, drive.planes, drive.channels) for drive in drives} == {(2000, 3, 32, 4, 8)}
    assert [drive.fill for drive in drives] == [3.1, 2.0, 1.6]


def test_what_is_published_contradicts_itself() -> None:
    for label, what in CONTRADICTORY - {(P41, END)}:
        steps, whole = DRIVES[label].fill_by_steps, DRIVES[label].fill
        assert steps is not None
        assert whole is not None
        assert abs(steps / whole - 1) > 0.15, what
    assert [label for label, drive in DRIVES.items() if drive.kind == "D" and not drive.fits] == [P41]


# ---------------------------------------------------------------------------------------------------------------------------------------
# What was missed.


@pytest.mark.parametrize(("label", "gigabytes", "error"), [(NM620, 250, 0.16), (A2000, 200, 0.0), (EX900, 200, None)])
def test_a_larger_cache_would_end_the_second_phase_when_it_was_measured_to_end(label: str, gigabytes: float, error: float | None) -> None:
    """By space alone: (C - U) / (b - 1) GB of cache. `error`: what is left of that of the fill."""
    drive = replace(DRIVES[label], cache=gigabytes)
    first = fill(drive)
    assert first.until == pytest.approx(drive.until, rel=0.03)
    if error is not None:
        assert drive.v3 is not None
        assert drive.fill is not None
        assert fitted(drive, drive.v3, first).rate / drive.fill - 1 == pytest.approx(error, abs=0.02)


def test_the_published_steps_of_the_nm620_are_faster_than_its_published_fill() -> None:
    steps, whole = DRIVES[NM620].fill_by_steps, DRIVES[NM620].fill
    assert steps is not None
    assert whole is not None
    assert steps / whole - 1 == pytest.approx(0.10, abs=0.01)


def test_a_reserve_that_the_other_drives_ask_for_ends_three_of_nine_phases_well_and_one_badly() -> None:
    """Each drive with the mean of the others, as a share of its size, by which space would have to run out sooner."""
    ends = {label: row for label, row in rows_about(END).items() if row["kept"] in {"yes", "NO"}}
    late = {label: float(row["simulated"].replace(",", "")) - (DRIVES[label].until or 0.0) for label, row in ends.items()}

    def error(label: str) -> float:
        reserve = fmean(late[other] / DRIVES[other].capacity for other in late if other != label)
        return (late[label] - reserve * DRIVES[label].capacity) / (DRIVES[label].until or 0.0)

    assert len(late) == 9
    assert {label for label in late if abs(error(label)) > 0.15} == {ATOM}


@pytest.mark.parametrize("label", [NM620, A2000])
@pytest.mark.parametrize(("level", "folding"), [(0.05, 0), (1.0, 0), (0.05, 6), (1.0, 6)])
def test_folding_beside_direct_writes_does_not_end_them_sooner(label: str, level: float, folding: int) -> None:
    """The rate does not fall where it was measured to."""
    drive = DRIVES[label]
    model = model_of(drive, folding=folding)
    found = fills._fill_of(drive, model, folding, fills._run(model, {"slc.fold_level": level}, model.requests))
    end, tenth = drive.until or 0.0, drive.capacity / 10

    def mean(low: float, high: float) -> float:
        return fmean(rate for written, rate in zip(found.written, found.rates, strict=True) if low < written <= high)

    assert mean(end, end + 0.8 * tenth) >= 0.95 * mean(end - tenth, end)


# ---------------------------------------------------------------------------------------------------------------------------------------
# What holds for any drive.


@pytest.mark.parametrize(("label", "folding"), [(ATOM, 0), (ATOM, 9), (M480, 31), (SN580, 26), (SN580, 0), (SN550, 0)])
def test_the_scale_does_not_matter(label: str, folding: int) -> None:
    small, large = (fill(DRIVES[label], scale=scale, folding=folding) for scale in (64, 32))
    for name in ("rate", "v1", "v2", "v3", "until"):
        one, other = getattr(small, name), getattr(large, name)
        assert (one is None) == (other is None), name
        if one is not None:
            assert one == pytest.approx(other, rel=0.02), name


def exact_end(drive: Drive) -> tuple[float, float]:
    """Pages written when folding begins, in GB: simulated up to then, and by the law U = C - (b - 1) S."""
    model = model_of(drive)
    blocks, pages = model.settings["device.blocks_per_plane"], model.settings["device.pages_per_block"]
    in_cache = model.settings["slc.dynamic_blocks"] * (pages // drive.bits)
    law = (blocks * pages - (drive.bits - 1) * in_cache) * model.units
    found = fill(drive)
    # What folding has made free was written by the end, all but what is left.
    return (found.pages - (drive.bits - 1) * found.folded) / model.units / pages, law / model.units / pages


@pytest.mark.parametrize("gigabytes", [88, 150, 208, 280])
def test_direct_writes_end_when_space_does(gigabytes: float) -> None:
    found, law = exact_end(replace(DRIVES[ATOM], cache=gigabytes))
    assert law - found == pytest.approx(SPARE_BLOCKS, abs=SPARE_BLOCKS)


def test_every_page_is_programmed_once_and_once_more_when_folded() -> None:
    def programs(found: Fill) -> int:
        return found.cached + found.direct

    for label in (ATOM, SN580, SN550):
        found = fill(DRIVES[label])
        # Those in the buffer at the end have not been.
        assert 0 <= found.pages - programs(found) <= 3 * found.units, label
        assert found.folded <= found.cached
    assert fill(DRIVES[SN580]).direct == 0
    assert fill(DRIVES[SN550]).folded == 0


def test_a_larger_cache_never_fills_faster_where_folding_is_slow() -> None:
    rates = [fill(replace(DRIVES[ATOM], cache=gigabytes, v1=2.1), folding=9).rate for gigabytes in (100, 160, 220, 280)]
    assert rates == sorted(rates, reverse=True)


def test_more_units_fold_faster_and_the_rate_is_proportional_while_folding_limits() -> None:
    rates = [fill(DRIVES[ATOM], folding=folding).v3 or 0.0 for folding in (4, 8, 16)]
    assert rates[1] == pytest.approx(2 * rates[0], rel=0.05)
    assert rates[2] == pytest.approx(4 * rates[0], rel=0.1)


def test_recovery_takes_the_time_of_folding() -> None:
    drive = DRIVES[SN550]
    back = [recovery(drive, seconds).back for seconds in (1, 5, 10, 60)]
    assert back == sorted(back)
    assert back[0] < 0.5
    assert back[2] == pytest.approx(2 * back[1], rel=0.1)
    assert back[3] == pytest.approx(drive.cache, rel=0.02)


# ---------------------------------------------------------------------------------------------------------------------------------------
# The command.

BACK = "back_GB_least,back_GB_most,idle_s_least,idle_s_most"
COLUMNS = "drive,capacity_GB,bits,slc_GB,v1_GBps,v2_GBps,kind,channels"


def test_the_command_takes_a_row_of_any_table(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(f"{COLUMNS}\nMine,100,3,10,3,1,D,4\nOther,100,4,10,3,0.5,S,\n")
    done = ssdlab_command("cliffs", "mine.csv", "--drive", "mine", "--out", "cliffs", "--json")
    (drive,) = json.loads(done.out)["drives"]
    assert (drive["drive"], [row["what"] for row in drive["rows"]]) == ("Mine", [END, UNFITTED])
    end, whole = drive["rows"]
    assert end["simulated"] == pytest.approx(80, abs=2)
    assert whole["within"] is None
    assert json.loads((tmp_path / "cliffs" / "cliffs.json").read_text())["drives"] == [drive]
    assert (tmp_path / "cliffs" / "figure.svg").read_text().startswith("<?xml")
    text = ssdlab_command("cliffs", "mine.csv", "--drive", "other").out
    assert "Other 100 GB" in text
    assert "Mine" not in text


def test_what_a_row_does_not_decide_is_named_and_the_rest_predicted(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(f"{COLUMNS},phase2_until_GB,v3_GBps,fill_MBps\nMine,100,3,10,3,,D,8,82,0.4,1000\n")
    (drive,) = json.loads(ssdlab_command("cliffs", "mine.csv", "--json").out)["drives"]
    assert [(row["what"], row["within"]) for row in drive["rows"]] == [(END, True), (UNFITTED, None)]
    assert drive["rows"][1]["simulated"] is None
    assert 0 < drive["written_gb"][-1] <= 10
    text = ssdlab_command("cliffs", "mine.csv").out
    assert f"Not predicted: Mine 100 GB, {UNFITTED}: v2_GBps and die_MBps are empty" in text


def test_rows_that_cannot_be_used_are_named(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    rows = ["Mine,100,3,10,3,1,D,4", "Lost,100,3,10,3,,S,4", "Vast,100000,3,10,3,1,D,4"]
    (tmp_path / "mine.csv").write_text("\n".join([COLUMNS, *rows]))
    found = json.loads(ssdlab_command("cliffs", "mine.csv", "--json").out)
    assert [drive["drive"] for drive in found["drives"]] == ["Mine"]
    assert ["v2_GBps is empty" in found["refused"][0], "Vast: 6,248 planes" in found["refused"][1]] == [True, True]
    assert "line 3: v2_GBps is empty" in ssdlab_command("cliffs", "mine.csv", "--drive", "lost").failed(2)
    assert "Not predicted: Vast" in ssdlab_command("cliffs", "mine.csv").out


@pytest.mark.parametrize(
    ("table", "options", "expected"),
    [
        ("drive,capacity_GB\nA,1\n", [], "no column bits"),
        (f"{COLUMNS}\n", [], "no drives"),
        (f"{COLUMNS}\nMine,100,3,10,3,1,X,4\n", [], "line 2, kind = X: expected one of D, F, S, SF, W"),
        (f"{COLUMNS}\nMine,100,3,200,3,1,D,4\n", [], "line 2, slc_GB = 200: expected a number from 0.01 to 100 GB"),
        (f"{COLUMNS}\nMine,100,3,ten,3,1,D,4\n", [], "line 2, slc_GB = ten"),
        (f"{COLUMNS}\nMine,100,3,10,3,,S,4\n", [], "line 2: v2_GBps is empty"),
        (f"{COLUMNS}\nMine,100,3,10,3,1,D,1.5\n", [], "line 2, channels = 1.5: expected a whole number"),
        (f"{COLUMNS},back_GB_least\nMine,100,3,10,3,1,S,4,7\n", [], "back_GB_least and back_GB_most: expected both"),
        ("", [], "no column drive: expected one, next to no other"),
        (f"{COLUMNS},drive\nMine,100,3,10,3,1,D,4,Other\n", [], "2 columns are named drive: expected one"),
        (f"{COLUMNS},v3_GBs\nMine,100,3,10,3,1,D,4,1\n", [], "v3_GBs"),
        (f"{COLUMNS}\nMine,1,000,3,10,3,1,D,4\n", [], "line 2: more values than columns"),
        (f"{COLUMNS},phase2_until_GB\nMine,100,3,10,3,1,D,4,5\n", [], "line 2, phase2_until_GB = 5: expected at least slc_GB, 10"),
        (f"{COLUMNS}\nMine,100,2.5,10,3,1,D,4\n", [], "line 2, bits = 2.5: expected a whole number from 2 to 4"),
        (f"{COLUMNS}\nMine,100,3,40,3,1,D,4\n", [], "line 2, slc_GB = 40: 33.3 GB of the 100 fit at one bit per cell"),
        (f"{COLUMNS}\nMine,100000,3,10,3,1,D,4\n", [], "Mine: 6,248 planes on 4 channels: expected at most 1,024 each (channels)"),
        (f"{COLUMNS},{BACK}\nMine,100,3,30,3,,W,4,7,8,10,20\n", [], "all data of kind W pass through the cache"),
        (f"{COLUMNS}\nMine,100,3,10,3,1,D,4\n", ["--out", "mine.csv/x"], "mine.csv/x: cannot write: Not a directory"),
        (f"{COLUMNS}\nMine,100,3,10,3,1,D,4\n", ["--drive", "his"], "no drive is named his"),
        (f"{COLUMNS}\nMine,100,3,10,3,1,D,4\n", ["--scale", "7"], "scale = 7: expected one of 16, 32, 64"),
    ],
)
def test_what_cannot_be_used_is_refused(ssdlab_command: Ssdlab, tmp_path: Path, table: str, options: list[str], expected: str) -> None:
    (tmp_path / "mine.csv").write_text(table)
    assert expected in ssdlab_command("cliffs", "mine.csv", *options).failed(1 if "--out" in options else 2)


# ---------------------------------------------------------------------------------------------------------------------------------------
# The devices with a cache.


@pytest.mark.parametrize(("device", "fast", "slow"), [("consumer-tlc", 1_100, 110), ("consumer-qlc", 440, 20)])
def test_a_fill_of_the_scaled_device_shows_its_cliff(device: str, fast: float, slow: float) -> None:
    """A quarter of the rates of the large drive: of consumer-tlc 4.5 GB/s, and 0.44 when two planes fold; of consumer-qlc 1.8 and 0.08."""
    writes = {"workload.read_share": 0.0, "workload.address": "start", "workload.sequential_share": 1.0, "workload.queue_depth": 16}
    settings = {**writes, "workload.request_kb": 192}
    name = f"{device}-scaled-4g"
    requests = ssdlab.check(name, scheme=SCHEME).to_dict()["exported_bytes"] // (192 << 10)
    result = ssdlab.run(device=name, scheme=SCHEME, set=settings, requests=requests, series=True)
    rates = [count / (result.series.bin_ns / 1e3) for count in result.series.written.host_bytes]
    assert max(rates[1:20]) == pytest.approx(fast, rel=0.1)
    assert sum(rates[-60:-4]) / 56 == pytest.approx(slow, rel=0.3)
    assert result.slc.written_bytes > 0.1 * requests * (192 << 10)


def test_the_base_has_no_cache_of_its_own() -> None:
    settings = {"ftl.precondition.kind": "none"}
    assert "slc" not in ssdlab.run(device=BASE, scheme=SCHEME, workload="uniform-4k-write", requests=100, set=settings)
