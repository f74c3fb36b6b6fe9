"""`ssdlab trace info` and `trace convert`, from a user's perspective. Exact counts per format are tested with the readers."""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ssdlab
from conftest import DRIVE, DRIVE_OPTIONS, Ssdlab

GOOD = "timestamp_us,op,offset_bytes,size_bytes\n0,R,0,4096\n10,W,4096,8192\n20,W,0,8192\n30,T,0,4096\n"
BAD = GOOD + "40,X,0,4096\n50,R,1.5E+11,4096\n60,R,0,4096\n"


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.csv"
    path.write_text(GOOD)
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.csv"
    path.write_text(BAD)
    return path


def test_info_has_the_contract_keys(ssdlab_command: Ssdlab, good: Path) -> None:
    done = ssdlab_command("trace", "info", good, "--json")
    assert (done.code, done.err) == (0, "")
    info = done.json()
    assert {kind: info["requests"][kind] for kind in ("read", "write", "trim")} == {"read": 1, "write": 2, "trim": 1}
    assert info["bad_lines"] == 0
    assert info["mean_kb"] == {"read": 4.0, "write": 8.0}
    assert info["span_s"] == pytest.approx(30e-6)
    assert info["max_end_bytes"] == 12288
    assert info["touched_bytes"] == 12288
    assert "touched_is_lower_bound" not in info


def test_bad_lines_are_named_and_fail(ssdlab_command: Ssdlab, bad: Path) -> None:
    done = ssdlab_command("trace", "info", bad)
    assert done.code == 1
    assert "Traceback" not in done.err
    assert "line 6" in done.out
    assert "line 7" in done.out
    assert "line 8" not in done.out
    assert done.err == f"error: {bad}: 2 lines cannot be read\n"
    counted = ssdlab_command("trace", "info", bad, "--json")
    assert counted.code == 1
    assert counted.json()["bad_lines"] == 2
    assert counted.json()["requests"]["read"] == 2


def test_several_files_are_one_object(ssdlab_command: Ssdlab, good: Path, bad: Path) -> None:
    done = ssdlab_command("trace", "info", good, bad, "missing.csv", "--json")
    assert done.code == 1
    assert set(done.json()["files"]) == {str(good), str(bad)}
    assert "missing.csv" in done.err


def test_info_of_what_is_no_trace(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    assert "missing.csv" in ssdlab_command("trace", "info", "missing.csv").failed(1)
    (tmp_path / "empty.csv").write_text("")
    assert "empty.csv" in ssdlab_command("trace", "info", "empty.csv").failed(1)
    line = ssdlab_command("trace", "info", "empty.csv", "--format", "mrs").failed(2)
    assert "mrs" in line
    assert "msr" in line
    # Where the header is the project's own, the message is about what is below it.
    (tmp_path / "words.csv").write_text("timestamp_us,op,offset_bytes,size_bytes\n0,wrote,0,4096\n")
    assert "op R, W, T or F" in ssdlab_command("trace", "convert", "words.csv", "out.csv").failed(1)


@pytest.mark.parametrize("suffix", ["csv", "csv.zst", "csv.gz", "parquet"])
def test_convert_keeps_every_request(ssdlab_command: Ssdlab, good: Path, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"converted.{suffix}"
    done = ssdlab_command("trace", "convert", good, target, "--json")
    assert done.code == 0, done.err
    assert done.json()
    before = ssdlab_command("trace", "info", good, "--json").json()
    after = ssdlab_command("trace", "info", target, "--json").json()
    for key in ("requests", "mean_kb", "span_s", "max_end_bytes", "bad_lines"):
        assert after[key] == before[key]


VOLUMES = "timestamp_us,op,offset_bytes,size_bytes,device\n0,R,0,4096,sda\n5,W,0,4096,sdb\n9,W,0,8192,sdb\n"


@pytest.mark.parametrize("command", [["run"], ["compare", "--scheme", "npgc", "--scheme", "pgc"]], ids=["run", "compare"])
def test_a_trace_of_several_volumes_says_so_and_one_can_be_chosen(ssdlab_command: Ssdlab, tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "t.csv").write_text(VOLUMES)
    replay = [*command, *DRIVE_OPTIONS, "--trace", "t.csv"]
    assert "2 volumes share one address space" in (shown := ssdlab_command(*replay).out)
    assert "--volume NAME" in shown
    chosen = ssdlab_command(*replay, "--volume", "sdb")
    assert "share one address space" not in chosen.out
    assert "1 requests of other volumes left out" in chosen.out
    result = ssdlab_command(*replay, "--volume", "sdb", "--json").json()
    result = result if command == ["run"] else result["runs"]["pgc"]
    assert result["latency_ns"]["all"]["count"] == 2
    assert "--volume sdb" in result["command"]
    assert "the trace has: sda, sdb" in ssdlab_command("run", *DRIVE_OPTIONS, "--trace", "t.csv", "--volume", "sdc").failed(1)


def test_a_volume_has_one_name_everywhere_and_its_old_ones(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(VOLUMES)
    for option in ("--volume", "--device-of-trace"):
        assert ssdlab_command("trace", "info", "t.csv", option, "sda", "--json").json()["requests"]["read"] == 1
        assert ssdlab_command("trace", "convert", "t.csv", "one.csv", option, "sda").code == 0
        assert (tmp_path / "one.csv").read_text() == "timestamp_us,op,offset_bytes,size_bytes\n0,R,0,4096\n"
    for name in ({"volume": "sdb"}, {"device": "sdb"}):
        assert ssdlab.trace_info(tmp_path / "t.csv", **name)["requests"]["write"] == 2
        assert ssdlab.trace_convert(tmp_path / "t.csv", tmp_path / "b.csv", **name)["requests"]["write"] == 2
    with pytest.raises(ssdlab.UsageError, match="older name"):
        ssdlab.trace_info(tmp_path / "t.csv", volume="sda", device="sdb")
    by_key = ssdlab.run(trace=tmp_path / "t.csv", set=DRIVE | {"workload.device": "sdb"})
    assert ssdlab.run(trace=tmp_path / "t.csv", volume="sdb", set=DRIVE).digest == by_key.digest
    points = ssdlab.sweep({"volume": ["sda", "sdb"]}, trace=tmp_path / "t.csv", set=DRIVE)
    assert [point.result["latency_ns"]["all"]["count"] for point in points] == [1, 2]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("t.csv", "", "the file is empty"),
        ("t.csv", "timestamp_us,op,offset_bytes,size_bytes\n", "holds no requests"),
        ("t.csv", "time;op;offset;size\n0;R;0;512\n", "semicolons"),
        ("t.csv", "0,5;R;0;512\n0,7;R;0;512\n", "decimal points"),
        ("t.csv", "when,what,where,much\n0,R,0,512\n", "the header timestamp_us,op,offset_bytes,size_bytes"),
        ("t.csv", "0,wrote,0,512\n", "the header timestamp_us,op,offset_bytes,size_bytes"),
        ("t.csv", "timestamp_us,op,offset_bytes,size_bytes\n0,5,R,0,512\n", "the op R, W, T or F"),
        ("t.csv", "timestamp_us,op,offset_bytes,size_bytes\n0,R,0,512\n".encode("utf-16"), "iconv"),
        ("t.zip", b"PK\x03\x04" + bytes(40), "a zip archive; unpack it first: unzip t.zip"),
        ("t.csv.gz", gzip.compress(b"timestamp_us,op,offset_bytes,size_bytes\n" + b"0,R,0,512\n" * 5000, mtime=0)[:60], "cut short"),
        ("t.tar.gz", gzip.compress(bytes(257) + b"ustar" + bytes(250)), "a tar archive"),
        ("t_lat.1.log", "1, 104000, 0, 4096, 0\n2, 99000, 1, 4096, 8192\n", "write_iolog"),
        ("t.lis", "0 64 0 1\n128 8 0 2\n", "ARC"),
        ("t.csv", "BeginHeader\n  DiskRead, TimeStamp\nEndHeader\n", "Event Tracing for Windows"),
        ("t.csv", "Timestamp,Response,IOType,LUN,Offset,Size\n1456095145.5,1,R,0,0,512\n1456095145.6,1,,0,0,512\n", "--skip-bad-lines N"),
        ("t.csv", None, "cannot read: Is a directory"),
        ("missing.csv", ..., "cannot read: No such file or directory"),
    ],
    ids=["empty", "header only", "semicolons", "commas", "own header", "no header", "decimal comma", "UTF-16", "zip", "cut gzip", "tar",
         "fio log", "ARC", "ETW", "Systor", "folder", "missing"],
)  # fmt: skip
def test_what_is_no_trace_is_one_line_that_helps_with_the_same_exit_code(
    ssdlab_command: Ssdlab, tmp_path: Path, name: str, content: str | bytes | None, told: str
) -> None:
    if content is None:
        (tmp_path / name).mkdir()
    elif content is not ...:
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    for command in (["run"], ["run", "--fit", "trace"], ["compare", "--scheme", "npgc", "--fit", "trace"]):
        options = ["--device", "demo-4g"]
        line = ssdlab_command(*command, *options, "--trace", name).failed(1)
        assert told in line, command
        assert name in line, command
    assert ssdlab_command("trace", "convert", name, "out.csv").failed(1)


ROW, LAST = "timestamp_us,op,offset_bytes,size_bytes\n0,R,0,512", "5,W,512,512"


@pytest.mark.parametrize(
    "text",
    [f"\ufeff{ROW}\n{LAST}\n", f"{ROW}\r\n{LAST}\r\n", f"{ROW}\r\n{LAST}"],
    ids=["byte order mark", "CRLF", "CRLF without a last one"],
)
def test_marks_and_line_ends_of_other_systems_are_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_bytes(text.encode())
    info = ssdlab.trace_info(tmp_path / "t.csv")
    assert (info["requests"]["read"], info["requests"]["write"], info["bad_lines"]) == (1, 1, 0)


def test_convert_of_a_bad_trace_leaves_no_file(ssdlab_command: Ssdlab, bad: Path, tmp_path: Path) -> None:
    target = tmp_path / "converted.parquet"
    assert "6" in ssdlab_command("trace", "convert", bad, target).failed(1)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


def test_info_has_units_and_names_devices(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    header = "timestamp_us,op,offset_bytes,size_bytes,device\n"
    (tmp_path / "t.csv").write_text(header + "0,R,0,4096,sda\n5,W,0,4096,sdb\n1000000,W,0,8192,sdb\n")
    lines = [" ".join(line.split()) for line in ssdlab_command("trace", "info", "t.csv").out.splitlines()]
    for line in ("mean write 6 KiB", "read share 33.3%", "span 1.00 s", "arrival rate 3 /s", "max end 8,192 bytes (8 KiB)"):
        assert line in lines
    assert "touched 12,288 bytes (12 KiB)" in lines, "by volume"
    assert "volumes sda (1 requests)" in lines
    assert "sdb (2 requests)" in lines
    many = "".join(f"{index},R,0,4096,disk{index}\n" for index in range(25))
    (tmp_path / "many.csv").write_text(header + many)
    assert "and 5 more" in ssdlab_command("trace", "info", "many.csv").out


PLAIN = {"time_ns": pa.int64(), "op": pa.string(), "offset_bytes": pa.int64(), "size_bytes": pa.int64(), "device": pa.string()}
KINDS = {
    "unsigned": {"time_ns": pa.uint64(), "offset_bytes": pa.uint32(), "size_bytes": pa.uint16()},
    "narrow": {"time_ns": pa.int32(), "offset_bytes": pa.int32(), "size_bytes": pa.int16()},
    "fractions": {"time_ns": pa.float64(), "offset_bytes": pa.float64(), "size_bytes": pa.float32()},
    "long text": {"op": pa.large_string(), "device": pa.large_string()},
    "views": {"op": pa.string_view(), "device": pa.string_view()},
    "words by number": {"op": pa.dictionary(pa.int8(), pa.string()), "device": pa.dictionary(pa.int32(), pa.large_string())},
}


@pytest.mark.parametrize("changed", KINDS.values(), ids=KINDS)
def test_parquet_of_other_column_types(ssdlab_command: Ssdlab, tmp_path: Path, changed: dict[str, pa.DataType]) -> None:
    columns = {"time_ns": [0, 10, 20], "op": ["R", "W", "R"], "offset_bytes": [0, 8192, 4096], "size_bytes": [4096, 512, 8192]}
    columns["device"] = ["a", None, "b"]
    pq.write_table(pa.table(columns, schema=pa.schema(PLAIN)), tmp_path / "plain.parquet")
    pq.write_table(pa.table(columns, schema=pa.schema(PLAIN | changed)), tmp_path / "other.parquet")
    files = ssdlab_command("trace", "info", "plain.parquet", "other.parquet", "--json").json()["files"]
    assert files["other.parquet"] == files["plain.parquet"]
    assert files["plain.parquet"]["requests"] == {"read": 2, "write": 1, "trim": 0, "flush": 0}
    assert files["plain.parquet"]["max_end_bytes"] == 12288


LAYOUTS: dict[str, dict[str, Any]] = {
    "row groups": {"row_group_size": 1000},
    "small pages": {"data_page_size": 500, "dictionary_pagesize_limit": 100},
    "new pages": {"data_page_version": "2.0", "compression": "zstd"},
    "no dictionaries": {"use_dictionary": False, "compression": "none"},
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_parquet_that_is_laid_out_otherwise(ssdlab_command: Ssdlab, tmp_path: Path, layout: dict[str, Any]) -> None:
    """20,000 rows: two batches and a half, which end within row groups and pages."""
    ops, devices = ["R", "W", "read", "Trim", "F"], ["a", None, "b", "å"]
    rows = [(7 * i, ops[i % 5], 4096 * (i * i % 97), 4096, devices[i % 4]) for i in range(20_000)]
    table = pa.table(
        [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), PLAIN.values(), strict=True)], names=list(PLAIN)
    )
    pq.write_table(table, tmp_path / "t.parquet", **layout)
    assert ssdlab_command("trace", "convert", "t.parquet", "t.csv").code == 0
    found = [line.split(",") for line in (tmp_path / "t.csv").read_text().splitlines()[1:]]
    for (time, op, offset, size, device), line in zip(rows, found, strict=True):
        moved = [str(offset), str(size)] if op != "F" else ["0", "0"]
        assert float(line[0]) * 1000 == pytest.approx(time)
        assert line[1:] == [op[0].upper(), *moved, device or ""]


@pytest.mark.parametrize("value", [-4096.0, 0.5, 1e30, math.nan, None])
def test_parquet_numbers_that_are_none(ssdlab_command: Ssdlab, tmp_path: Path, value: float | None) -> None:
    schema = pa.schema(PLAIN | {"offset_bytes": pa.float64()})
    columns = {"time_ns": [0, 1], "op": ["R", "R"], "offset_bytes": [0.0, value], "size_bytes": [512, 512], "device": ["a", "a"]}
    pq.write_table(pa.table(columns, schema=schema), tmp_path / "bad.parquet")
    line = ssdlab_command("trace", "convert", "bad.parquet", "out.csv").failed(1)
    assert "bad.parquet:2: " in line
    assert "offset_bytes" in line


def test_parquet_columns_of_no_use(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    schema = pa.schema(PLAIN | {"time_ns": pa.list_(pa.int64())})
    columns = {"time_ns": [[0]], "op": ["R"], "offset_bytes": [0], "size_bytes": [512], "device": ["a"]}
    pq.write_table(pa.table(columns, schema=schema), tmp_path / "bad.parquet")
    line = ssdlab_command("trace", "convert", "bad.parquet", "out.csv").failed(1)
    assert "time_ns: expected whole numbers" in line


def test_parquet_times_that_are_durations_are_nanoseconds_or_refused(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    """Parquet stores durations as bare numbers; only the Arrow schema says their unit."""
    columns = {"time_ns": [0, 5], "op": ["R", "R"], "offset_bytes": [0, 0], "size_bytes": [512, 512], "device": ["a", "a"]}
    for unit in ("ns", "us", "ms", "s"):
        schema = pa.schema(PLAIN | {"time_ns": pa.duration(unit)})
        pq.write_table(pa.table(columns, schema=schema), tmp_path / "times.parquet")
        command = ssdlab_command("trace", "convert", "times.parquet", f"{unit}.csv")
        if unit == "ns":
            assert command.code == 0, command.err
        else:
            assert f"time_ns holds durations in {unit}" in command.failed(1)


def test_sample_takes_a_part(ssdlab_command: Ssdlab, good: Path, tmp_path: Path) -> None:
    done = ssdlab_command("trace", "sample", good, "part.csv", "--skip", "1", "--seconds", "0.000015", "--json")
    assert done.json()["requests"] == {"read": 0, "write": 2, "trim": 0, "flush": 0}
    assert (tmp_path / "part.csv").read_text() == "timestamp_us,op,offset_bytes,size_bytes\n0,W,4096,8192\n10,W,0,8192\n"
    ssdlab_command("trace", "sample", good, "one.csv", "--requests", "1")
    assert (tmp_path / "one.csv").read_text().splitlines()[1:] == ["0,R,0,4096"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "--seconds"),
        (("--seconds", "0"), "above 0"),
        (("--seconds", "nan"), "above 0"),
        (("--skip", "9"), "all 4 requests are skipped"),
    ],
)
def test_sample_of_nothing(ssdlab_command: Ssdlab, good: Path, options: tuple[str, ...], told: str) -> None:
    done = ssdlab_command("trace", "sample", good, "part.csv", *options)
    assert done.code in (1, 2)
    assert told in done.err


BLKPARSE = "8,0 1 1 0.000000000 9 Q WS 2048 + 8 [dd]\n8,0 1 2 0.100000000 9 G WS 2048 + 8 [dd]\n8,0 1 3 0.200000000 9 D RS 2048 + 16 [dd]\n"


def test_info_says_how_a_trace_is_read(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text(BLKPARSE)
    lines = [" ".join(line.split()) for line in ssdlab_command("trace", "info", "t.txt", "--event", "issue").out.splitlines()]
    for line in ("format blkparse", "time unit s", "address unit 512 bytes", "size unit 512 bytes", "event issue", "mean read 8 KiB"):
        assert line in lines
    assert any(line.startswith("operation codes RWBS letters") for line in lines)
    assert "1 of action Q (queued)" in lines
    (tmp_path / "small.csv").write_text("timestamp_us,op,offset_bytes,size_bytes\n0,W,0,1\n10,R,0,3\n")
    shown = ssdlab_command("trace", "info", "small.csv").out
    assert "0.000977 KiB" in shown
    assert "2 of 2 requests have an offset or a size that is no multiple of 512 bytes" in " ".join(shown.split())
    assert "--unit-bytes states others. (unaligned)" in " ".join(shown.split())


def test_a_run_and_a_comparison_say_how_a_trace_was_read(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text(BLKPARSE)
    for command in (["run"], ["compare", "--scheme", "npgc", "--scheme", "pgc"]):
        shown = " ".join(ssdlab_command(*command, *DRIVE_OPTIONS, "--trace", "t.txt", "--event", "issue").out.split())
        assert "Trace: blkparse, times in s, addresses in units of 512 bytes, sizes in units of 512 bytes" in shown
        assert "issue events; skipped 1 of action G (request allocated), 1 of action Q (queued)" in shown
    result = ssdlab_command("run", *DRIVE_OPTIONS, "--trace", "t.txt", "--json").json()
    assert result["workload"]["trace"]["units"]["event"] == "queue"
    kept = ssdlab.run(trace=tmp_path / "t.txt", event="issue", set=DRIVE)
    assert "--event issue" in kept["command"]


def test_times_in_another_unit_are_stated_in_the_command_and_in_python(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "t.trace").write_text("0 0 80 8 1\n20000 0 160 8 0\n41000 0 800 8 1\n60000 0 240 8 0\n")
    told = ssdlab_command("trace", "info", "t.trace").failed(2)
    assert "60 ms as us" in told
    assert "--time-unit" in told
    info = ssdlab_command("trace", "info", "t.trace", "--format", "mqsim", "--time-unit", "us", "--json").json()
    assert info["span_s"] == pytest.approx(0.060)
    assert ssdlab.trace_info(tmp_path / "t.trace", format="mqsim", time_unit="us")["span_s"] == pytest.approx(0.060)
    done = ssdlab_command("trace", "convert", "t.trace", "t.csv", "--format", "mqsim", "--time-unit", "us")
    assert done.code == 0
    assert (tmp_path / "t.csv").read_text().splitlines()[2] == "20000,W,81920,4096"
    assert "minutes" in ssdlab_command("trace", "info", "t.trace", "--format", "mqsim", "--time-unit", "minutes").failed(2)


def test_a_trace_without_requests_or_without_times_is_told(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("8,0 1 1 0.1 9 C WS 2048 + 8 [0]\n")
    assert "1 lines of action C (completed)" in ssdlab_command("trace", "info", "c.txt").failed(1)
    (tmp_path / "t.log").write_text("fio version 2 iolog\n/d add\n/d read 0 4096\n/d write 4096 4096\n")
    info = ssdlab_command("trace", "info", "t.log", "--json").json()
    assert [remark["code"] for remark in info["remarks"]] == ["no-times"]
    assert "workload.queue_depth" in info["remarks"][0]["remedy"]
    assert ssdlab.run(trace=tmp_path / "t.log", set=DRIVE)["workload"]["remarks"][0]["code"] == "no-times"
    closed = ssdlab.run(trace=tmp_path / "t.log", set={**DRIVE, "workload.queue_depth": 2}).to_dict()
    assert "remarks" not in closed["workload"]
