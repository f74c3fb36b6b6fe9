"""Values that a calibration keeps from its base drive, the preset that it writes, and input that it refuses before the search."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import BASE_FILE, MEASURED, Ssdlab
from ssdlab.experiments.calibration.api import SCHEME, calibrate, measurements_of
from ssdlab.experiments.calibration.fitting import Fit, Fitted
from ssdlab.experiments.calibration.measurements import FullSpeed, Measurement, Measurements, Pattern, Point, Power, Probe
from ssdlab.experiments.calibration.parameters import CHOICES, PARAMETERS, power_settings
from ssdlab.experiments.calibration.preset import preset_text
from ssdlab.experiments.calibration.rule import bound, fitted_rows
from ssdlab.experiments.calibration.runs import Candidate, Runs

USED = 4_000_000
OWN_CHOICES = """victim = "fifo"
[ftl]
frontier = "shared"
"""
OWN_BASE = BASE_FILE.replace("soft = 4\n", f"soft = 4\n{OWN_CHOICES}") + 'reads_pass = false\ndrain = "eager"\n'


IN_FRONT = {
    "keys with dots": "gc.soft = 4\ngc.trigger = 'soft'\nbuffer.bytes = 65536\n",
    "an inline table": "gc = {soft = 4, trigger = 'soft'}\n",
}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "base.toml").write_text(BASE_FILE)
    (tmp_path / "measured.csv").write_text(MEASURED)
    return tmp_path


def written_at(point: Point, value: float) -> Measurement:
    return Measurement(point, "write_amplification", value, "by hand")


def a_fit(*rows: Measurement, base: str, used_bytes: int = USED) -> Fit:
    return Fit(rows, (), Candidate(base, SCHEME), Runs(seed=1), lambda _, __: None, used_bytes=used_bytes)


def test_what_no_row_speaks_of_stays_as_it_is_in_the_base(here: Path) -> None:
    (here / "base.toml").write_text(OWN_BASE)
    before = Candidate(str(here / "base.toml"), SCHEME).tree()
    found = calibrate(here / "measured.csv", base=str(here / "base.toml"), jobs=1)
    (here / "mine.toml").write_text(found.preset())
    after = Candidate(str(here / "mine.toml"), SCHEME).tree()
    fitted = {("device", "blocks_per_plane"), ("device", "program_ns"), ("device", "read_ns"), ("device", "overprovisioning")}
    changed = {(section, key) for section in before for key in after[section] if after[section][key] != before[section][key]}
    assert changed <= fitted
    assert before["device"]["min_run_ns"] == after["device"]["min_run_ns"] == 0, "below the range that is searched"
    whys = {value.name: (value.value, value.why) for value in found.values if not value.is_determined}
    assert whys["min_run_us"] == (0, "no row tells")
    assert whys["collection"] == ("fifo, shared", "no row tells")
    assert whys["drain"] == ("at once", "no row tells")
    assert whys["reads_pass"] == ("in order", "no row tells")
    assert whys["parity_stripe"] == (0, "no row tells")


def test_each_choice_begins_with_what_the_base_has() -> None:
    def of(device: str, **changes: Any) -> dict[str, str]:
        tree = Candidate(device, SCHEME).with_changes({key.replace("_", ".", 1): value for key, value in changes.items()}).tree()
        return {choice.name: choice.of(tree) for choice in CHOICES}

    first = {choice.name: next(iter(choice.alternatives)) for choice in CHOICES}
    assert of("nvme-tlc-superpage-2023") == first
    assert of("nvme-tlc-superpage-2023", gc_victim="fifo", gc_pace_window=0.1) == first | {"collection": "fifo, apart", "pacing": "0.1"}
    assert of("bux2011")["collection"] == "greedy, shared"


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("a list over several lines", "program_ns = 400_000\n", "program_ns = 400_000\nread_ns_by_page = [\n 20_000,\n 30_000,\n]\n"),
        ("an indented key", "program_ns", "  program_ns"),
        ("an indented section", "[gc]", " [gc]"),
        ("blanks in a section's name", "[device]", "[ device ]"),
        ("a quoted key", "program_ns", '"program_ns"'),
        ("keys with dots", '[gc]\ntrigger = "soft"\nsoft = 4\n[buffer]\nbytes = 65536\n', ""),
        ("an inline table", '[gc]\ntrigger = "soft"\nsoft = 4\n', ""),
        ("a description of two lines", "[device]", 'description = """one\ntwo"""\n[device]'),
        ("a tab behind a name", "[device]", 'description\t= "one"\n[device]'),
        ("a mark that says how it is coded", "[device]", "\ufeff[device]"),
        ("a section in a text", "[device]", 'source = """\n[gc]\nvictim = 1\n"""\n[device]'),
    ],
)
def test_a_preset_says_what_was_found_however_its_base_is_written(name: str, old: str, new: str, tmp_path: Path) -> None:
    text = IN_FRONT.get(name, "") + BASE_FILE.replace(old, new)
    assert text != BASE_FILE
    base = tmp_path / "base.toml"
    base.write_text(text, encoding="utf-8")
    candidate = Candidate(str(base), SCHEME)
    values = {parameter.name: parameter.start(candidate.tree()) * 1.5 for parameter in PARAMETERS}
    settings = Fitted(values, {"collection": "fifo, shared"}, {"ftl.parity_stripe": 8}).settings(candidate.tree())
    mine = tmp_path / "mine.toml"
    mine.write_text(preset_text(str(base), "mine", SCHEME, settings, {"program_us": "fitted, +-3%"}, 0.25))
    wanted: dict[str, Any] = candidate.with_changes({**settings, "device.overprovisioning": 0.25}).tree()
    assert Candidate(str(mine), SCHEME).tree() == wanted
    assert "# Fitted, +-3%.\n" in mine.read_text()


def test_a_prediction_may_use_more_of_the_drive_than_what_is_fitted(here: Path) -> None:
    zipf = "mine,zipf-shuffle,0.5,,filled once,4096,64,0.02,3000,1\n"
    (here / "measured.csv").write_text(MEASURED + zipf)
    found = calibrate(here / "measured.csv", base=str(here / "base.toml"), jobs=1)
    assert found.exported_bytes == round(0.02 * 2**30) < found.flash_bytes
    spare = tomllib.loads(found.preset())["device"]["overprovisioning"]
    assert 0 < spare < 1


@pytest.mark.parametrize(
    ("amplifications", "stripe", "doubt"),
    [
        ([1.0005], 0, None),
        ([1.0012], 0, None),  # 834 programs, where a block has 768
        ([1.0014], 715, None),
        ([1.02, 1.0205], 50, None),
        ([1.02, 1.06], 26, "rows say 18 to 51"),
    ],
)
def test_parity_is_read_off_where_a_block_has_room_for_it_and_rows_agree(
    amplifications: list[float], stripe: int, doubt: str | None
) -> None:
    used = 400_000_000_000
    points = [FullSpeed(Pattern("sequential"), used + number, 524_288, 1) for number in range(len(amplifications))]
    fit = a_fit(*map(written_at, points, amplifications), base="nvme-tlc-superpage-2023", used_bytes=used)
    found, doubts = fit._parity()
    assert found == {"ftl.parity_stripe": stripe}
    assert doubts.get("ftl.parity_stripe") == doubt


def test_a_file_that_is_too_small_for_the_base_is_told() -> None:
    row = written_at(FullSpeed(Pattern("uniform"), 100_000_000, 4096, 1), 2.0)
    with pytest.raises(ssdlab.UsageError, match=r"used 0\.1 GB .* nvme-tlc-2023 cannot be made smaller than .* GB: measure on a larger"):
        a_fit(row, base="nvme-tlc-2023", used_bytes=100_000_000)


def test_rows_that_choose_how_blocks_are_collected_may_be_all(here: Path) -> None:
    (here / "measured.csv").write_text(MEASURED.replace("uniform,,", "zipf-shuffle,0.9,"))
    found = calibrate(here / "measured.csv", base=str(here / "base.toml"), jobs=1)
    assert not any(value.is_determined for value in found.values if value.name in ("capacity_gb", "program_us"))


def test_a_drive_is_called_what_it_is_called(here: Path, ssdlab_command: Ssdlab) -> None:
    (here / "measured.csv").write_text(MEASURED.replace("mine", r"cost $\frac$ x"))
    done = ssdlab_command("calibrate", "measured.csv", "--base", "base.toml", "--out", "mine.toml")
    assert done.code == 0, done.err
    assert r"cost $\frac$ x" in (here / "mine.rows.json").read_text().replace("\\\\", "\\")


def test_what_cannot_be_is_said_before_the_search(here: Path, ssdlab_command: Ssdlab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(here)
    (here / "folder.svg").mkdir()
    (here / "deep.csv").write_text(MEASURED.replace(",64,", ",100000000,"))
    cases = [
        (["measured.csv", "--out", "folder.toml"], ["folder.svg: there is a folder"]),
        (["measured.csv", "--scheme", "npgc-wear"], ["npgc-wear", "gc.victim", "choose one that does not"]),
        (["--print-jobs", "--json"], ["--print-jobs", "leave out"]),
        (["deep.csv"], ["100000000"]),
    ]
    for words, expected in cases:
        message = ssdlab_command("calibrate", *words, *([] if "--print-jobs" in words else ["--base", "base.toml"])).failed(2)
        assert all(word in message for word in expected), message


def test_sequential_writes_have_their_own_least_and_most_and_nothing_is_bounded_beyond_saturation() -> None:
    points = [
        FullSpeed(Pattern(kind), used, 4096, 1) for kind, uses in {"sequential": (1, 2, 3), "uniform": (2, 4, 5)}.items() for used in uses
    ]
    rows = [Measurement(point, "write_iops", 1000.0, "by hand") for point in points]
    fitted = fitted_rows(Measurements("mine", tuple(rows), {}))
    assert [(row.point.pattern.kind, row.point.used_bytes) for row in fitted if isinstance(row.point, FullSpeed)] == [
        *(("sequential", 1), ("sequential", 3)),
        *(("uniform", 2), ("uniform", 5)),
    ]
    for offered, is_bounded in ((80_000, True), (95_000, False), (105_000, False), (150_000, False)):
        row = Measurement(Probe(USED, 4096, 10_000, 0.5, offered - 10_000, 0.01, 384), "read_p99_us", 100.0, "by hand")
        assert (bound(row, 100_000.0) is not None) == is_bounded, offered


def test_the_drive_of_a_calibration_is_that_of_its_preset(here: Path) -> None:
    found = ssdlab.calibrate(here / "measured.csv", base=str(here / "base.toml"), jobs=1)
    assert "no row could check a prediction" in found.misfit


def test_a_file_counts_once_however_often_and_by_whatever_name_it_is_given(here: Path) -> None:
    (here / "other.csv").symlink_to(here / "measured.csv")
    (here / "MORE.CSV").write_text(MEASURED.replace("0.004", "0.003"))
    rows = measurements_of([here, here / "measured.csv", here / "other.csv"], None).rows
    assert sorted((row.point.used_bytes, row.repeats) for row in rows) == [(round(used * 2**30), 1) for used in (0.003, 0.004)]


def test_what_was_left_out_is_said_where_nothing_is_left(here: Path, ssdlab_command: Ssdlab) -> None:
    (here / "measured.csv").write_text(MEASURED.replace("3000,1", "3000,0.5"))
    message = ssdlab_command("calibrate", "measured.csv", "--base", "base.toml").failed(2)
    assert "nothing to fit a drive to" in message
    assert "1 left out: " in message


def test_a_table_that_is_named_and_says_nothing_of_a_drive_is_refused(here: Path, ssdlab_command: Ssdlab) -> None:
    (here / "notes.csv").write_text("who,when\nme,today\n")
    message = ssdlab_command("calibrate", "measured.csv", "notes.csv", "--base", "base.toml").failed(2)
    assert "notes.csv" in message
    assert "device" in message
    message = ssdlab_command("calibrate", "measured.csv", "missing.csv", "--base", "base.toml").failed(1)
    assert "missing.csv: cannot read" in message


def test_a_preset_draws_what_its_data_sheet_says(here: Path, ssdlab_command: Ssdlab) -> None:
    """Writes in order that keep all dies busy draw the active power, a drive at rest the idle one."""
    in_order = "mine,sequential,,,empty,65536,8,0.004,{rate},1\n"
    (here / "measured.csv").write_text(MEASURED + in_order.format(rate=10_000))
    (here / "drives.csv").write_text("device,idle_W,active_W,capacity_GB\nmine,2,6,0.0043\n")
    found = calibrate([here / "measured.csv", here / "drives.csv"], base=str(here / "base.toml"), jobs=1)
    device = found.preset()
    energy = tomllib.loads(device)["energy"]
    dies, page_bytes = 2, Candidate(str(here / "base.toml"), SCHEME).tree()["device"]["page_bytes"]
    program_ns = tomllib.loads(device)["device"]["program_ns"]
    busy = min(dies, 10_000 * 65_536 / 1e9 / (page_bytes / program_ns))
    assert energy == {
        "idle_mw": 2_000.0,
        "program_mw": pytest.approx(4_000 / busy, rel=1e-3),
        "erase_mw": energy["program_mw"],
        "read_mw": pytest.approx(0.8 * energy["program_mw"], rel=1e-3),
        "source": "sheet",
    }
    (here / "mine.toml").write_text(device)
    writes = ["--set", "workload.read_share=0", "--set", "workload.sequential_share=1", "--set", "workload.request_kb=64"]
    run = ssdlab_command("run", "--device", "mine.toml", "--scheme", SCHEME, *writes, "--requests", "400", "--json", cwd=here)
    data = run.json()["energy"]
    assert data["total_j"] / data["idle_j"] * 2.0 == pytest.approx(6.0, rel=0.25)
    (here / "drives.csv").write_text("device,idle_W,active_W,capacity_GB\nmine,7,6,0.0043\n")
    assert "line 2, active_W = 6" in ssdlab_command("calibrate", "measured.csv", "drives.csv", cwd=here).failed(2)


def test_a_program_draws_less_where_a_share_of_programs_holds_parity() -> None:
    """Parity is programmed beside what the host writes: with one program of two, twice as many planes are busy."""
    base = Candidate("nvme-tlc-superpage-2023", SCHEME)
    drives = {stripe: base.with_changes({"ftl.parity_stripe": stripe, "device.overprovisioning": 0.6}).tree() for stripe in (0, 2, 11)}
    drawn = {stripe: power_settings(Power(5.0, 15.0), drive, 100.0) for stripe, drive in drives.items()}
    assert drawn[2]["energy.program_mw"] == pytest.approx(drawn[0]["energy.program_mw"] / 2, abs=0.1)
    assert drawn[11]["energy.program_mw"] == pytest.approx(drawn[0]["energy.program_mw"] * 10 / 11, abs=0.1)


@pytest.mark.parametrize(
    ("sheet", "message"),
    [
        ("mine,2,\n", "line 2: only one of idle_W and active_W: expected both, or neither"),
        ("mine,2,6\nmine,2,7\n", "two powers of a drive: 2 and 6 W"),
        ("mine,2,6\nmine,8,7\n", "line 3, active_W = 7: expected more than idle_W, 8"),
    ],
)
def test_a_power_that_is_half_given_or_given_twice_is_refused(here: Path, sheet: str, message: str) -> None:
    (here / "drives.csv").write_text(f"device,idle_W,active_W\n{sheet}")
    with pytest.raises(ssdlab.UsageError, match=message):
        measurements_of([here / "measured.csv", here / "drives.csv"], None)


def test_a_table_may_have_powers_and_nothing_else(here: Path) -> None:
    (here / "drives.csv").write_text("device,idle_W,active_W\nmine,2,6\nmine,2,6\nother,1,\n")
    found = measurements_of([here / "measured.csv", here / "drives.csv"], None)
    assert found.power == (2, 6)
    assert found.left_out == {}
