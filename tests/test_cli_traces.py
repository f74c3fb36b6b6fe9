"""`ssdlab trace info` and `trace convert`, as a user calls them. Exact counts per format are tested with the readers."""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import Ssdlab

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
    (tmp_path / "words.csv").write_text("timestamp_us,op,offset_bytes,size_bytes\n0,write,0,4096\n")
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


def test_convert_of_a_bad_trace_leaves_no_file(ssdlab_command: Ssdlab, bad: Path, tmp_path: Path) -> None:
    target = tmp_path / "converted.parquet"
    assert "6" in ssdlab_command("trace", "convert", bad, target).failed(1)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


def test_info_has_units_and_names_devices(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    header = "timestamp_us,op,offset_bytes,size_bytes,device\n"
    (tmp_path / "t.csv").write_text(header + "0,R,0,4096,sda\n5,W,0,4096,sdb\n1000000,W,0,8192,sdb\n")
    lines = [" ".join(line.split()) for line in ssdlab_command("trace", "info", "t.csv").out.splitlines()]
    for line in ("mean write 6.000 KB", "read share 33.3%", "span 1.000 s", "arrival rate 3.000 /s", "max end 8,192 bytes"):
        assert line in lines
    assert "devices sda (1 requests)" in lines
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
