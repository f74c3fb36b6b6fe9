"""Tables of measurements: errors are reported in one line, and unused rows are counted with the reason."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import ssdlab
from conftest import ROOT
from ssdlab.experiments.calibration import csv_tables
from ssdlab.experiments.calibration.measurements import Measurements, Pattern, QuantityName

PUBLISHED = ROOT / "measurements" / "ssd-iq"
Row = Mapping[str, str]

WRITES: Row = {
    **{"device": "mine", "pattern": "uniform", "zipf_theta": "", "zones": "", "initial_state": "filled once", "block_bytes": "4096"},
    **{"queue_depth_total": "64", "used_GiB": "100", "used_share_of_capacity": "1", "steady_write_iops": "3000", "late_drift": "1"},
}
FLASH: Row = {name: text for name, text in WRITES.items() if name != "steady_write_iops"} | {"waf_measured": "2.5"}
LOAD: Row = {
    **{"device": "mine", "offered_writes_and_reads_per_s": "20000", "achieved_iops": "20100", "queue_depth_total": "448", "saturated": "0"},
    **{"probe_read_avg_us": "100", "probe_read_p50_us": "90", "probe_read_p99_us": "400", "probe_write_p50_us": "12"},
    **{"probe_write_p99_us": "20", "load_write_avg_us": "15", "pattern": "uniform-shuffle", "block_bytes": "4096"},
    "used_share_of_capacity": "1",
}
CAPACITY: Row = {"device": "mine", "user_capacity_GiB": "100"}


def written(file: Path, *rows: Row, head: Sequence[str] = ()) -> Path:
    """Writes a table with the given rows."""
    with file.open("w", newline="") as text:
        writer = csv.DictWriter(text, list(head or rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return file


def loads(folder: Path, *rows: Row) -> list[Path]:
    """Writes a table of loads, and one with the drive's capacity."""
    return [written(folder / "drives.csv", CAPACITY), written(folder / "loads.csv", *rows)]


def without(row: Row, *names: str) -> dict[str, str]:
    return {name: text for name, text in row.items() if name not in names}


def refused(files: Sequence[Path]) -> str:
    """The one-line error with which the tables are refused."""
    with pytest.raises(ssdlab.UsageError) as error:
        csv_tables.read(files, "mine")
    assert "\n" not in str(error.value)
    return str(error.value)


def values(found: Measurements) -> dict[QuantityName, float]:
    return {row.quantity: row.value for row in found.rows}


def test_the_tables_that_the_others_differ_from_are_read(tmp_path: Path) -> None:
    found = csv_tables.read([written(tmp_path / "w.csv", WRITES), written(tmp_path / "f.csv", FLASH), *loads(tmp_path, LOAD)], "mine")
    assert len(found.rows) == 2 + 7
    assert not found.left_out


def test_percentiles_at_the_end_of_the_histogram_are_counted_and_other_values_of_that_size_used(tmp_path: Path) -> None:
    slow = {"achieved_iops": "21000", "probe_read_avg_us": "25000", "probe_read_p50_us": "19997", "load_write_avg_us": "30000"}
    clipped = {"probe_read_p99_us": "19998", "probe_write_p99_us": "19999"}
    found = csv_tables.read(loads(tmp_path, {**LOAD, **slow, **clipped}), "mine")
    read = {"iops": 21_000.0, "read_mean_us": 25_000.0, "read_p50_us": 19_997.0, "write_p50_us": 12.0, "load_write_mean_us": 30_000.0}
    assert values(found) == read
    assert found.left_out == {
        "99th percentile of reads at the end of the histogram, 20 ms: it may be any above": 1,
        "99th percentile of writes at the end of the histogram, 20 ms: it may be any above": 1,
    }


def test_rates_and_write_amplification_of_one_table_are_both_read_and_empty_ones_counted(tmp_path: Path) -> None:
    both = {**WRITES, **FLASH}
    rows = [both, {**both, "waf_measured": ""}, {**both, "steady_write_iops": ""}]
    found = csv_tables.read([written(tmp_path / "t.csv", *rows)], "mine")
    assert [(row.quantity, row.value, row.repeats) for row in found.rows] == [("write_amplification", 2.5, 2), ("write_iops", 3000.0, 2)]
    assert found.left_out == {"waf_measured is empty": 1, "steady_write_iops is empty": 1}


def test_an_empty_write_amplification_is_counted(tmp_path: Path) -> None:
    found = csv_tables.read([written(tmp_path / "t.csv", FLASH, {**FLASH, "waf_measured": ""})], "mine")
    assert (len(found.rows), found.left_out) == (1, {"waf_measured is empty": 1})


def test_write_amplification_below_1_is_counted(tmp_path: Path) -> None:
    found = csv_tables.read([written(tmp_path / "t.csv", {**FLASH, "waf_measured": "0.6"})], "mine")
    assert not found.rows
    ((reason, count),) = found.left_out.items()
    assert count == 1
    assert "compresses" in reason


@pytest.mark.parametrize("column", ["pattern", "initial_state", "block_bytes", "queue_depth_total", "used_GiB"])
def test_a_column_that_writes_lack_is_named(tmp_path: Path, column: str) -> None:
    message = refused([written(tmp_path / "t.csv", without(WRITES, column))])
    assert f"t.csv: no column {column}: expected one, next to device" in message


@pytest.mark.parametrize(("column", "pattern"), [("zones", "zones-shuffle"), ("zipf_theta", "zipf-shuffle")])
def test_a_column_that_only_some_patterns_need_is_named_then(tmp_path: Path, column: str, pattern: str) -> None:
    row = without(WRITES, column)
    assert csv_tables.read([written(tmp_path / "t.csv", row)], "mine").rows
    assert f"t.csv: no column {column}" in refused([written(tmp_path / "t.csv", {**row, "pattern": pattern})])


@pytest.mark.parametrize(
    "column",
    [
        "pattern",
        "saturated",
        "block_bytes",
        "queue_depth_total",
        "used_share_of_capacity",
        "achieved_iops",
        "offered_writes_and_reads_per_s",
    ],
)
def test_a_column_that_loads_lack_is_named(tmp_path: Path, column: str) -> None:
    assert f"loads.csv: no column {column}" in refused(loads(tmp_path, without(LOAD, column)))


@pytest.mark.parametrize(
    ("column", "text", "expected"),
    [
        ("steady_write_iops", "0", "a number above 0"),
        ("steady_write_iops", "1e300", "1,000,000,000"),
        ("steady_write_iops", "inf", "a number above 0"),
        ("steady_write_iops", "3_000", "a number above 0"),
        ("steady_write_iops", "3,000", "a number above 0"),
        ("block_bytes", "0", "a multiple of 512"),
        ("block_bytes", "-4096", "a multiple of 512"),
        ("block_bytes", "1000", "a multiple of 512"),
        ("block_bytes", "1e18", "a multiple of 512"),
        ("queue_depth_total", "0", "a whole number from 1 to 65,536"),
        ("queue_depth_total", "1.5", "a whole number from 1 to 65,536"),
        ("queue_depth_total", "65537", "a whole number from 1 to 65,536"),
        ("used_GiB", "1e300", "up to 1,000,000 GiB"),
        ("used_GiB", "1e999", "up to 1,000,000 GiB"),
        ("used_GiB", "1000001", "up to 1,000,000 GiB"),
        ("used_GiB", "1e-12", "at least a request, 4,096 bytes"),
        ("used_GiB", "0", "above 0"),
        ("used_share_of_capacity", "1.5", "a share"),
        ("used_share_of_capacity", "0", "a share"),
        ("late_drift", "nan", "at least 0"),
    ],
)
def test_writes_that_cannot_be_are_refused_with_line_and_column(tmp_path: Path, column: str, text: str, expected: str) -> None:
    message = refused([written(tmp_path / "t.csv", WRITES, {**WRITES, column: text})])
    assert f"t.csv, line 3, {column} = {text}: expected " in message
    assert expected in message


@pytest.mark.parametrize(
    ("column", "text", "expected"),
    [
        ("achieved_iops", "0", "a number above 0"),
        ("probe_read_p50_us", "0", "a number above 0"),
        ("load_write_avg_us", "0", "a number above 0"),
        ("probe_write_p99_us", "1e300", "1,000,000,000 us"),
        ("saturated", "yes", "1 if the drive did not reach"),
        ("saturated", "2", "1 if the drive did not reach"),
        ("used_share_of_capacity", "50", "a share"),
        ("used_share_of_capacity", "0", "a share"),
        ("used_share_of_capacity", "1e-9", "at least a request"),
        ("offered_writes_and_reads_per_s", "9000", "the probe of these tables is 10,000"),
        ("queue_depth_total", "6", "at least one for each of 6 threads"),
        ("queue_depth_total", "448.5", "a whole number"),
    ],
)
def test_loads_that_cannot_be_are_refused_with_line_and_column(tmp_path: Path, column: str, text: str, expected: str) -> None:
    message = refused(loads(tmp_path, LOAD, {**LOAD, column: text}))
    assert f"loads.csv, line 3, {column} = {text}: expected " in message
    assert expected in message


@pytest.mark.parametrize("column", ["saturated", "used_share_of_capacity", "block_bytes", "offered_writes_and_reads_per_s"])
def test_what_a_load_must_have_is_refused_if_empty(tmp_path: Path, column: str) -> None:
    assert f"loads.csv, line 2: {column} is empty: expected " in refused(loads(tmp_path, {**LOAD, column: ""}))


@pytest.mark.parametrize("text", ["0", "20000"])
def test_write_amplification_that_cannot_be_is_refused(tmp_path: Path, text: str) -> None:
    assert f"t.csv, line 2, waf_measured = {text}: expected " in refused([written(tmp_path / "t.csv", {**FLASH, "waf_measured": text})])


@pytest.mark.parametrize("text", ["-0.5", "10.5", "nan", "0.9x"])
def test_exponents_outside_0_to_10_are_refused(tmp_path: Path, text: str) -> None:
    message = refused([written(tmp_path / "t.csv", {**WRITES, "pattern": "zipf-shuffle", "zipf_theta": text})])
    assert f"t.csv, line 2, zipf_theta = {text}: expected the exponent of Zipf's law: a number from 0 to 10" in message


def test_the_exponent_0_is_uniform(tmp_path: Path) -> None:
    (row,) = csv_tables.read([written(tmp_path / "t.csv", {**WRITES, "pattern": "zipf-shuffle", "zipf_theta": "0"})], "mine").rows
    assert row.point.pattern == Pattern("uniform")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("zones", "why"),
    [
        ("", "two zones"),
        ("s0.8 f0.2", "two zones"),
        ("snan f0.2 s0.2 f0.8", "shares from 0 to 1"),
        ("s-0.2 f0.2 s1.2 f0.8", "shares from 0 to 1"),
        ("s80 f20 s20 f80", "shares from 0 to 1"),
        ("s0.8 f0.2 s0.1 f0.8", "shares s that sum to 0.9"),
        ("s0.8 f0.2 s0.2 f0.9", "shares f that sum to 1.1"),
        ("s0 f0 s1 f1", "a zone with a share s0 of the addresses"),
        ("s1 f0.5 s0 f0.5", "a zone with a share s0 of the addresses"),
        ("f0.2 s0.8 f0.8 s0.2", "two zones"),
    ],
)
def test_zones_that_cannot_be_are_refused(tmp_path: Path, zones: str, why: str) -> None:
    message = refused([written(tmp_path / "t.csv", {**WRITES, "pattern": "zones-shuffle", "zones": zones})])
    assert f"t.csv, line 2, zones = {zones}: " in message
    assert why in message


def test_shares_of_zones_may_be_rounded(tmp_path: Path) -> None:
    table = written(tmp_path / "t.csv", {**WRITES, "pattern": "zones-shuffle", "zones": "s0.333 f0.9 s0.666 f0.1"})
    (row,) = csv_tables.read([table], "mine").rows
    assert row.point.pattern == Pattern("zones", hot_share=0.333, hot_access=0.9)  # type: ignore[union-attr]


def test_a_pattern_must_be_there(tmp_path: Path) -> None:
    assert "t.csv, line 2: pattern is empty: expected uniform" in refused([written(tmp_path / "t.csv", {**WRITES, "pattern": ""})])


def test_a_column_twice_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("device,pattern,device,steady_write_iops\nmine,uniform,mine,5\n")
    assert "t.csv, line 1: two columns device: expected each name once" in refused([table])


def test_the_mark_of_excel_and_blanks_around_fields_are_passed_over(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    lines = [" , ".join(row) for row in (WRITES, WRITES.values())]
    table.write_text("\n".join([*lines, "", " "]) + "\n", encoding="utf-8-sig")
    assert csv_tables.drives_in([table]) == {"mine": None}
    assert values(csv_tables.read([table], "mine")) == {"write_iops": 3000.0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["t.csv: its first line is empty", "expected names of columns"]),
        ("\n", ["t.csv: its first line is empty"]),
        ("device,pattern,steady_write_iops\n", ["t.csv: no rows", "device, pattern, steady_write_iops"]),
        ("device;pattern;steady_write_iops\nmine;uniform;5\n", ["t.csv, line 1: names with semicolons", "commas", "device;pattern"]),
        ("device\tsteady_write_iops\nmine\t5\n", ["t.csv, line 1: names with tabs", "commas"]),
        ("Device,steady_write_iops\nmine,5\n", ["t.csv: no column device beside steady_write_iops", "Device, steady_write_iops"]),
        ("device,steady_write_iops\nmine,5\n,6\n", ["t.csv, line 3: device is empty", "the name of the drive"]),
        ("device,steady_write_iops\nmine,5,6\n", ["t.csv, line 2: 3 fields: expected 2"]),
        ('device,steady_write_iops\nmine,"5\n', ["t.csv, line 2: not a table of comma-separated values"]),
        (
            "device,steady_write_iops,probe_read_p50_us\nmine,5,6\n",
            ["t.csv: columns steady_write_iops and probe_read_p50_us", "a table each"],
        ),
    ],
)
def test_what_is_no_such_table_is_refused_with_what_it_has(tmp_path: Path, text: str, words: list[str]) -> None:
    table = tmp_path / "t.csv"
    table.write_text(text)
    message = refused([table])
    assert all(word in message for word in words), message


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("device,steady_write_iops\nmine,5\n", encoding="utf-16")
    assert "t.csv" in refused([table])


def test_other_tables_are_counted_in_a_folder_and_refused_if_named(tmp_path: Path) -> None:
    good = written(tmp_path / "good.csv", WRITES)
    other = written(tmp_path / "other.csv", {"name": "mine", "colour": "red"})
    idle = written(tmp_path / "idle.csv", {"device": "mine", "colour": "red"})
    found = csv_tables.read([good, idle, other], "mine")
    assert values(found) == {"write_iops": 3000.0}
    assert found.left_out == {"idle.csv: a table without what is measured": 1, "other.csv: a whole table without the column device": 1}
    csv_tables.check_named([good, written(tmp_path / "drives.csv", CAPACITY)])
    with pytest.raises(ssdlab.UsageError, match=r"other\.csv: no column device: expected one, next to name, colour"):
        csv_tables.check_named([good, other])
    with pytest.raises(ssdlab.UsageError, match=r"idle\.csv: no measurements: expected .* next to device, colour"):
        csv_tables.check_named([good, idle])


def test_tables_of_a_folder_are_found_whatever_the_case_of_their_names(tmp_path: Path) -> None:
    for name in ("b.CSV", "a.csv", "c.Csv", "d.txt"):
        (tmp_path / name).touch()
    assert [path.name for path in csv_tables.tables_in(tmp_path)] == ["a.csv", "b.CSV", "c.Csv"]
    with pytest.raises(ssdlab.FileError, match="nowhere"):
        csv_tables.tables_in(tmp_path / "nowhere")


def test_a_file_of_several_names_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, other = written(tmp_path / "t.csv", WRITES), written(tmp_path / "u.csv", {**WRITES, "steady_write_iops": "4000"})
    (tmp_path / "link.csv").symlink_to(table)
    (tmp_path / "hard.csv").hardlink_to(table)
    monkeypatch.chdir(tmp_path)
    (row,) = csv_tables.read([table, other, tmp_path / "link.csv", tmp_path / "hard.csv", Path("t.csv")], "mine").rows
    assert (row.repeats, row.value, row.source) == (2, 3500.0, "t.csv:2; u.csv:2")


@pytest.mark.parametrize(("achieved", "is_used"), [("21900", True), ("18000", True), ("22100", False), ("17900", False)])
def test_loads_that_were_not_as_offered_are_counted(tmp_path: Path, achieved: str, is_used: bool) -> None:
    found = csv_tables.read(loads(tmp_path, {**LOAD, "achieved_iops": achieved}), "mine")
    assert bool(found.rows) == is_used
    reason = "loads not saturated whose achieved_iops is more than 10 % off what was offered"
    assert found.left_out == ({} if is_used else {reason: 1})


def test_a_saturated_load_may_be_far_from_what_was_offered_and_need_not_say_what_that_was(tmp_path: Path) -> None:
    rows = [{**LOAD, "saturated": "1", "offered_writes_and_reads_per_s": offered, "achieved_iops": "5000"} for offered in ("90000", "")]
    found = csv_tables.read(loads(tmp_path, *rows), "mine")
    assert [row.repeats for row in found.at("iops")] == [2]
    assert not found.left_out


def test_loads_of_which_it_is_not_known_what_they_were_or_did_are_counted(tmp_path: Path) -> None:
    unknown = {**LOAD, "achieved_iops": ""}
    nothing = {name: "" for name in LOAD if name.endswith("_us") or name == "achieved_iops"}
    found = csv_tables.read(loads(tmp_path, LOAD, unknown, {**LOAD, **nothing, "saturated": "1"}), "mine")
    assert all(row.repeats == 1 for row in found.rows)
    assert list(found.left_out.values()) == [1, 1]


def test_a_table_of_loads_needs_no_median(tmp_path: Path) -> None:
    files = loads(tmp_path, without(LOAD, "probe_read_p50_us"))
    assert list(csv_tables.drives_in(files)) == ["mine"]
    assert len(csv_tables.read(files, "mine").rows) == 6


@pytest.mark.parametrize("other", [{"user_capacity_GiB": "200"}, {"capacity_GB": "960"}])
def test_two_capacities_of_a_drive_are_refused(tmp_path: Path, other: Row) -> None:
    files = [*loads(tmp_path, LOAD), written(tmp_path / "more.csv", {"device": "else", **other}, {"device": "mine", **other})]
    message = refused(files)
    assert all(word in message for word in ("two capacities", "drives.csv, line 2", "more.csv, line 3", "107.4 GB")), message


def test_a_capacity_may_be_stated_twice_in_other_units(tmp_path: Path) -> None:
    files = [*loads(tmp_path, LOAD), written(tmp_path / "more.csv", {"device": "mine", "capacity_GB": "107"})]
    assert csv_tables.read(files, "mine").rows


@pytest.mark.parametrize("text", ["0", "1e300", "-1"])
def test_a_capacity_that_cannot_be_is_refused(tmp_path: Path, text: str) -> None:
    files = [written(tmp_path / "drives.csv", {**CAPACITY, "user_capacity_GiB": text}), written(tmp_path / "loads.csv", LOAD)]
    assert f"drives.csv, line 2, user_capacity_GiB = {text}: expected " in refused(files)


def test_a_table_that_cannot_be_opened_is_an_error_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(ssdlab.FileError, match="absent"):
        csv_tables.read([tmp_path / "absent.csv"], "mine")
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    with pytest.raises(ssdlab.FileError, match="loop"):
        csv_tables.read([loop], "mine")


def test_no_published_row_is_lost_to_the_checks() -> None:
    """What was left out before any value was checked: patterns, runs that were not steady, and loads of an unknown depth."""
    files = csv_tables.tables_in(PUBLISHED)
    found = [csv_tables.read(files, drive) for drive in csv_tables.drives_in(files)]
    assert [len(measured.rows) for measured in found] == [76, 91, 107, 74, 124, 45]
    reasons = sum((Counter(measured.left_out) for measured in found), Counter())
    kinds = (
        "the pattern",
        "writes at full speed that had not become steady",
        "random writes to a drive",
        "response times under a saturated",
    )
    assert all(reason.startswith(kinds) for reason in reasons)
    assert reasons.total() == 98
