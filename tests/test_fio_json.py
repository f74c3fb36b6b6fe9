"""Results in the JSON form of fio, beside what fio 3.33 wrote for the same jobs (`tests/data/fio-3.33.fio` and `.json`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import ROOT, Ssdlab

DATA = ROOT / "tests" / "data"
JOBS = DATA / "fio-3.33.fio"
LEFT_OUT = {
    *("usr_cpu", "sys_cpu", "ctx", "majf", "minf", "iodepth_level", "iodepth_submit", "iodepth_complete"),
    *("latency_ns", "latency_us", "latency_ms", "latency_depth", "latency_target", "latency_percentile", "latency_window"),
}
SAMPLES = {f"{what}_{rest}" for what in ("bw", "iops") for rest in ("min", "max", "mean", "samples")} | {"bw_agg", "bw_dev", "iops_stddev"}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any], ssdlab.Result]:
    """What ssdlab and fio wrote, and the result."""
    file = tmp_path_factory.mktemp("json") / "out.json"
    result = ssdlab.run(device="demo-4g", fio=JOBS, fio_json=file)
    return json.loads(file.read_text()), json.loads((DATA / "fio-3.33.json").read_text()), result


def test_fields_are_those_of_fio_but_for_what_is_left_out(both: tuple[dict[str, Any], dict[str, Any], ssdlab.Result]) -> None:
    ours, fios, _ = both
    assert ours.keys() == fios.keys() - {"timestamp", "timestamp_ms", "time", "global options"}
    assert len(ours["jobs"]) == len(fios["jobs"]) == 2
    for one, other in zip(ours["jobs"], fios["jobs"], strict=True):
        assert one.keys() == other.keys() - LEFT_OUT
        for direction in ("read", "write", "trim"):
            assert one[direction].keys() == other[direction].keys() - SAMPLES
            for part in ("slat_ns", "clat_ns", "lat_ns"):
                assert one[direction][part].keys() == other[direction][part].keys()
                for key, value in one[direction][part].items():
                    assert type(value) is type(other[direction][part][key]), (direction, part, key)
            assert list(one[direction]["clat_ns"].get("percentile", ())) == list(other[direction]["clat_ns"].get("percentile", ()))
            for key, value in one[direction].items():
                assert type(value) is type(other[direction][key]), (direction, key)


def test_jobs_have_the_names_groups_and_bytes_of_fio(both: tuple[dict[str, Any], dict[str, Any], ssdlab.Result]) -> None:
    ours, fios, _ = both
    for one, other in zip(ours["jobs"], fios["jobs"], strict=True):
        assert (one["jobname"], one["groupid"], one["error"]) == (other["jobname"], other["groupid"], 0)
        assert sum(one[way]["total_ios"] for way in ("read", "write")) == sum(other[way]["total_ios"] for way in ("read", "write"))
        assert sum(one[way]["io_bytes"] for way in ("read", "write")) == sum(other[way]["io_bytes"] for way in ("read", "write"))
    # 2,048 requests, 70 % reads, in fio and here
    assert ours["jobs"][1]["read"]["total_ios"] == pytest.approx(fios["jobs"][1]["read"]["total_ios"], abs=5 * (2 * 2048 * 0.21) ** 0.5)


def test_figures_are_those_of_the_log(both: tuple[dict[str, Any], dict[str, Any], ssdlab.Result]) -> None:
    ours, _, result = both
    fill = ours["jobs"][0]["write"]
    flow = result.flows[0]
    rows = [row for row in result.requests.to_pylist() if row["flow"] == "fill"]
    times = sorted(row["response_ns"] for row in rows)
    seconds = (max(row["arrival_ns"] + row["response_ns"] for row in rows) - min(row["arrival_ns"] for row in rows)) / 1e9
    assert fill["total_ios"] == 64
    assert fill["io_kbytes"] == 4096
    assert fill["iops"] == pytest.approx(64 / seconds)
    assert fill["bw_bytes"] == int(64 * 65536 / seconds)
    assert fill["bw"] == fill["bw_bytes"] // 1024
    assert fill["clat_ns"]["mean"] == pytest.approx(flow.latency.write.mean)
    assert fill["lat_ns"]["stddev"] == pytest.approx(flow.latency.write.std * (64 / 63) ** 0.5)
    # nearest rank: the 32nd of 64, and the 64th
    assert fill["clat_ns"]["percentile"]["50.000000"] == times[31]
    assert fill["clat_ns"]["percentile"]["99.000000"] == times[63] == fill["lat_ns"]["max"]
    assert ours["jobs"][0]["read"]["iops"] == 0.0


def test_the_command_prints_it_or_writes_it(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    words = ("run", "--device", "demo-4g", "--fio", JOBS, "--quiet", "--fio-json")
    printed = ssdlab_command(*words, "-")
    assert printed.code == 0, printed.err
    written = ssdlab_command(*words, tmp_path / "fio.json", "--out", tmp_path / "out", "--log-requests")
    assert written.code == 0, written.err
    assert json.loads(printed.out) == json.loads((tmp_path / "fio.json").read_text())
    assert (tmp_path / "out" / "requests.parquet").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--fio-json", "x.json"), "fio_json needs fio"),
        (("--fio", JOBS, "--fio-json", "-", "--json"), "would both print"),
        (("--fio", JOBS, "--fio-json", JOBS), "would be written over"),
    ],
)
def test_wrong_uses_get_one_line(words: tuple[object, ...], message: str, ssdlab_command: Ssdlab) -> None:
    done = ssdlab_command("run", "--device", "demo-4g", *words)
    assert message in done.failed(2)


def test_python_has_no_standard_output_for_it() -> None:
    with pytest.raises(ssdlab.UsageError, match="only the command prints it"):
        ssdlab.run(device="demo-4g", fio=JOBS, fio_json="-")


@pytest.mark.parametrize(
    ("options", "having"),
    [("", {"clat_ns"}), ("lat_percentiles=1\n", {"clat_ns", "lat_ns"}), ("lat_percentiles\nclat_percentiles=0\n", {"lat_ns"})],
)
def test_percentiles_are_of_the_times_that_the_job_asks_for(options: str, having: set[str], tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(f"[job]\nrw=write\nsize=64k\n{options}")
    ssdlab.run(device="demo-4g", fio=tmp_path / "job.fio", fio_json=tmp_path / "out.json")
    write = json.loads((tmp_path / "out.json").read_text())["jobs"][0]["write"]
    assert {name for name in ("clat_ns", "lat_ns", "slat_ns") if "percentile" in write[name]} == having


WAL = {"buffer.bytes": 1 << 16, "buffer.protected": False}


def wal(folder: Path, options: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The only entry for a job of 16 writes with `options`, and the log of its requests."""
    (folder / "job.fio").write_text(f"[job]\nrw=write\nsize=64k\nioengine=libaio\n{options}\n")
    result = ssdlab.run(device="demo-4g", set=WAL, fio=folder / "job.fio", fio_json=folder / "out.json", log_requests=True)
    return json.loads((folder / "out.json").read_text())["jobs"][0], result.requests.to_pylist()


def test_flushes_are_the_section_sync(tmp_path: Path) -> None:
    entry, rows = wal(tmp_path, "direct=1\nfsync=4\npercentile_list=99.9:50")
    times = sorted(row["response_ns"] for row in rows if row["kind"] == "flush")
    # after 4, 8 and 12 writes; fio ends with the last write
    assert (entry["sync"]["total_ios"], entry["sync"]["lat_ns"]["N"], len(times)) == (3, 3, 3)
    assert entry["sync"]["lat_ns"]["max"] == times[-1] > 100_000
    assert entry["sync"]["lat_ns"]["percentile"] == {"50.000000": times[1], "99.900000": times[2]}
    assert list(entry["write"]["clat_ns"]["percentile"]) == ["50.000000", "99.900000"]
    assert entry["write"]["clat_ns"]["max"] < 100_000


@pytest.mark.parametrize("depth", [1, 4])
def test_a_write_with_sync_ends_with_its_flush(depth: int, tmp_path: Path) -> None:
    entry, rows = wal(tmp_path, f"direct=1\nsync=1\niodepth={depth}")
    writes, flushes = ([row for row in rows if row["kind"] == kind] for kind in ("write", "flush"))
    ends = [flush["arrival_ns"] + flush["response_ns"] - write["arrival_ns"] for write, flush in zip(writes, flushes, strict=False)]
    assert entry["sync"] == {"total_ios": 0, "lat_ns": {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}}
    assert entry["write"]["total_ios"] == 16 == len(writes)
    # the last flush is that of the end of the job
    assert len(flushes) == 16
    assert entry["write"]["lat_ns"]["mean"] == pytest.approx(sum(ends) / 16)
    assert entry["write"]["lat_ns"]["min"] > 100_000


def test_a_flush_of_the_page_cache_begins_with_its_write(tmp_path: Path) -> None:
    entry, rows = wal(tmp_path, "fdatasync=1")
    times = [write["response_ns"] + flush["response_ns"] for write, flush in zip(rows[:-1:2], rows[1::2], strict=True)]
    assert (entry["sync"]["total_ios"], len(times)) == (15, 15)
    assert entry["sync"]["lat_ns"]["mean"] == pytest.approx(sum(times) / 15)
