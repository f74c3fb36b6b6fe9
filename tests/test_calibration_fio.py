"""fio's output is converted to operating points and quantities.

The files in `data` are fio's output for `drive.fio` on a file, with shorter times:

- `fio-two-parts.json`: fio 3.33, `--output-format=normal,json` and then `json`, in two runs as the job file describes; 1 GiB, RATE=200,
  each job 6 s after 2 s.
- `fio-threads.json`: fio 3.33, `json+`, without group_reporting; 64 MiB, RATE=300, fewer jobs, 2 threads each, 5 s after 1 s.
"""

from __future__ import annotations

import configparser
import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from conftest import ROOT
from ssdlab.errors import FileError, UsageError
from ssdlab.experiments.calibration import fio
from ssdlab.experiments.calibration.measurements import QUANTITIES, FullSpeed, Measurements, Pattern, Point, Probe

DATA = ROOT / "tests" / "data"
TWO_PARTS, THREADS = DATA / "fio-two-parts.json", DATA / "fio-threads.json"
JOBS = ROOT / "python" / "ssdlab" / "experiments" / "calibration" / "drive.fio"
GIB, MIB = 2**30, 2**20

Output = dict[str, Any]

TEXTS = {file: re.findall(r"^\{\n.*?^\}$", file.read_text(), re.MULTILINE | re.DOTALL) for file in (TWO_PARTS, THREADS)}


def recorded(file: Path) -> list[Output]:
    """The outputs in a file, found by their first and last lines."""
    return [json.loads(text) for text in TEXTS[file]]


def values(measurements: Measurements, point: Point) -> dict[str, float]:
    return {row.quantity: row.value for row in measurements.rows if row.point == point}


def side(name: str, result: Mapping[str, Any]) -> dict[str, float]:
    """Percentiles of one direction of a probe, us."""
    percentiles = result["lat_ns"]["percentile"]
    return {f"{name}_p50_us": percentiles["50.000000"] / 1e3, f"{name}_p99_us": percentiles["99.000000"] / 1e3}


def test_recorded_jobs_are_read_to_their_points() -> None:
    found = fio.read(TWO_PARTS)
    assert found.drive == "fio-two-parts"
    points = list(dict.fromkeys(row.point for row in found.rows))
    loads = [Probe(GIB, 4096, 500.0, 0.5, load, 0.0, depth) for load, depth in
             [(2000.0, 80), (4000.0, 160), (7000.0, 280), (10_000.0, 400), (13_000.0, 520), (16_000.0, 640), (None, 384)]]  # fmt: skip
    assert points == [
        FullSpeed(Pattern("sequential"), GIB, 512 * 1024, 32),
        FullSpeed(Pattern("uniform"), GIB, 4096, 512),
        Probe(GIB, 4096, 500.0, 1.0, 0.0, 0.0, 0),
        *loads,
    ]
    assert found.left_out == {"overwrite: prepares the drive, and is not measured": 1}


def test_recorded_numbers_are_those_of_fio() -> None:
    found = fio.read(TWO_PARTS, drive="mine")
    assert found.drive == "mine"
    speed, loads = (output["jobs"] for output in recorded(TWO_PARTS))
    points = list(dict.fromkeys(row.point for row in found.rows))
    assert values(found, points[0]) == {"write_iops": speed[0]["write"]["iops"]}
    assert values(found, points[1]) == {"write_iops": speed[2]["write"]["iops"]}
    reads = loads[0]["read"]
    assert values(found, points[2]) == {"iops": reads["iops"], "read_mean_us": reads["lat_ns"]["mean"] / 1e3, **side("read", reads)}
    for number, point in enumerate(points[3:]):
        probe, load = loads[1 + 2 * number], loads[2 + 2 * number]
        assert (probe["jobname"], load["jobname"]) == ("probe", "load")
        wanted = {
            "iops": probe["read"]["iops"] + probe["write"]["iops"] + load["write"]["iops"],
            "read_mean_us": probe["read"]["lat_ns"]["mean"] / 1e3,
            **side("read", probe["read"]),
            **side("write", probe["write"]),
            "load_write_mean_us": load["write"]["lat_ns"]["mean"] / 1e3,
        }
        assert values(found, point) == pytest.approx(wanted)
        assert list(values(found, point)) == [name for name in QUANTITIES if name in wanted]
    assert found.rows[-1].source == "fio-two-parts.json: job 17 (probe), job 18 (load)"


def test_threads_that_fio_lists_one_by_one_are_joined() -> None:
    found = fio.read(THREADS)
    (output,) = recorded(THREADS)
    assert "bins" in output["jobs"][0]["write"]["lat_ns"], "no json+"
    fill, one, two, probe, first, second = output["jobs"]
    uniform, pair = FullSpeed(Pattern("uniform"), 64 * MIB, 4096, 64), Probe(64 * MIB, 4096, 500.0, 0.5, 600.0, 0.0, 16)
    assert values(found, FullSpeed(Pattern("sequential"), 64 * MIB, 512 * 1024, 32)) == {"write_iops": fill["write"]["iops"]}
    assert values(found, uniform) == {"write_iops": pytest.approx(one["write"]["iops"] + two["write"]["iops"])}
    ios, means = zip(*((load["write"]["total_ios"], load["write"]["lat_ns"]["mean"]) for load in (first, second)), strict=True)
    measured = values(found, pair)
    assert measured["load_write_mean_us"] == pytest.approx((ios[0] * means[0] + ios[1] * means[1]) / sum(ios) / 1e3)
    rates = [probe["read"], probe["write"], first["write"], second["write"]]
    assert measured["iops"] == pytest.approx(sum(rate["iops"] for rate in rates))
    assert not found.left_out


def test_how_much_is_used_is_what_the_fill_wrote_if_no_size_says_so(tmp_path: Path) -> None:
    """As on a whole drive, for which no size is given."""
    speed, loads = recorded(TWO_PARTS)
    for output in (speed, loads):
        del output["global options"]["size"]
    speed["jobs"][0]["write"]["io_bytes"] = 960 * 10**9
    file = tmp_path / "drive.json"
    file.write_text(json.dumps(speed) + "\n" + json.dumps(loads))
    assert {row.point.used_bytes for row in fio.read(file).rows} == {960 * 10**9}


def later(output: Output, seconds: int) -> Output:
    """A copy of an output whose run began later."""
    return {**output, "timestamp": output["timestamp"] + seconds, "timestamp_ms": output["timestamp_ms"] + 1000 * seconds}


def test_repeats_are_averaged(tmp_path: Path) -> None:
    file = tmp_path / "twice.json"
    outputs = recorded(TWO_PARTS)
    file.write_text("\n".join(json.dumps(output) for output in [*outputs, *(later(output, 3600) for output in outputs)]))
    once, twice = fio.read(TWO_PARTS).rows, fio.read(file).rows
    assert [(row.point, row.quantity) for row in once] == [(row.point, row.quantity) for row in twice]
    assert [row.repeats for row in twice] == [2] * len(once)
    assert [row.value for row in twice] == pytest.approx([row.value for row in once])
    assert twice[0].source == "twice.json: job 1 (fill); twice.json: job 19 (fill)"


def interim(output: Output, before_s: int, share: float) -> Output:
    """An interim output of fio, `before_s` before the end of its last job, with a share of that job's requests."""
    found: Output = json.loads(json.dumps(output))
    found["timestamp"] -= before_s
    found["timestamp_ms"] -= 1000 * before_s
    for job in found["jobs"]:
        job["elapsed"] -= before_s
    last = found["jobs"][-1]["write"]
    for name in ("io_bytes", "total_ios", "runtime"):
        last[name] = round(last[name] * share)
    last["iops"] *= 1.3  # the first seconds are faster
    return found


@pytest.mark.parametrize("before_s", [0, 1, 3])
def test_of_outputs_of_one_run_the_last_counts(tmp_path: Path, before_s: int) -> None:
    """`--status-interval` has fio print what it has so far."""
    speed, loads = recorded(TWO_PARTS)
    early = [interim(speed, before_s + 1, 0.2), interim(speed, before_s, 0.95)]
    found = written(tmp_path, *early, speed, loads)
    assert values(found, WRITES) == {"write_iops": speed["jobs"][2]["write"]["iops"]}
    assert [row.repeats for row in found.rows if row.point == WRITES] == [1]
    assert found.left_out["printed while fio was running (--status-interval): the last output of the run is used"] == 6
    assert [row.source for row in found.rows if row.point == WRITES] == ["changed.json: job 9 (full-speed)"]
    # A second run of the same jobs begins after the first has ended.
    again = written(tmp_path, *early, speed, later(speed, speed["jobs"][0]["elapsed"] + 1), loads)
    assert [row.repeats for row in again.rows if row.point == WRITES] == [2]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"filename": "drive"', '"filename": "/dev/nvme0n1", "filename": "/dev/nvme1n1"', "as '/dev/nvme0n1' and as '/dev/nvme1n1'"),
        ('"size": "1g"', '"size": "1g", "size": "2g"', "\"size\" is given twice, as '1g' and as '2g'"),
        ('"iodepth": "512"', '"iodepth": "512", "iodepth": "1"', '"iodepth" is given twice'),
        ('"io_bytes": 0,', '"io_bytes": 0, "io_bytes": 5,', '"io_bytes" is given twice, as 0 and as 5'),
    ],
)
def test_what_is_given_twice_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    """An option is listed by fio as often as it was given; of several `filename` it uses all drives."""
    file = tmp_path / "twice.json"
    speed, loads = map(json.dumps, recorded(TWO_PARTS))
    part = speed if old in speed else loads
    file.write_text("fio: text before\n" + part.replace(old, new, 1))
    with pytest.raises(UsageError) as refused:
        fio.read(file)
    assert says in str(refused.value)
    assert "fio's output from line 2 on" in str(refused.value)
    assert "\n" not in str(refused.value)
    # The same twice says nothing else; fio 3.1 wrote such percentiles.
    file.write_text(part.replace(old, f"{old.rstrip(',')}, {old}", 1))
    assert fio.read(file).rows


RANDOM_MAP = "fio wrote each address once before any for a second time, which wears a drive less than uniform writes do"


@pytest.mark.parametrize(
    ("options", "how"),
    [
        ({"norandommap": None}, "set norandommap=1 (with =1, or fio does not list it)"),
        ({"norandommap": "0"}, "set norandommap=1"),
        ({"random_generator": "lfsr"}, "leave out random_generator=lfsr, and set norandommap=1"),
        ({"norandommap": None, "loops": "3"}, "set norandommap=1"),
        ({"norandommap": None, "random_distribution": "random"}, "set norandommap=1"),
        ({"norandommap": None, "size": "512m"}, "set norandommap=1"),
    ],
    ids=str,
)
def test_random_writes_with_fios_map_are_not_uniform(tmp_path: Path, options: dict[str, str | None], how: str) -> None:
    found = changed(tmp_path, 0, 2, **options)
    assert not [row for row in found.rows if isinstance(row.point, FullSpeed) and row.point.pattern != Pattern("sequential")]
    reasons = [reason for reason in found.left_out if reason.startswith(f"full-speed: {RANDOM_MAP}")]
    assert len(reasons) == 1
    assert how in reasons[0]


def without_map(output: Output, *prepared: int, **options: str) -> None:
    """Removes norandommap from the common options; some jobs get it as their own option, and the last one gets others."""
    del output["global options"]["norandommap"]
    for job in prepared:
        output["jobs"][job]["job options"]["norandommap"] = "1"
    output["jobs"][2]["job options"].update(options)


@pytest.mark.parametrize("distribution", ["zipf:1.1", "zoned:20/80:80/20"])
def test_a_distribution_that_is_not_uniform_has_no_map(tmp_path: Path, distribution: str) -> None:
    """Fio leaves out its map for such a distribution."""
    found = edited(tmp_path, 0, lambda output: without_map(output, 1, random_distribution=distribution))
    assert [row for row in found.rows if isinstance(row.point, FullSpeed) and row.point.request_bytes == 4096]


def test_loads_with_fios_map_are_left_out_and_probes_that_read_are_not(tmp_path: Path) -> None:
    found = changed(tmp_path, 1, 2, norandommap=None)
    left = {type(row.point): row.point for row in found.rows}
    assert set(left) == {FullSpeed, Probe}
    points = {row.point for row in found.rows}
    assert Probe(GIB, 4096, 500.0, 1.0, 0.0, 0.0, 0) in points, "reads wear no drive"
    assert not {point for point in points if isinstance(point, Probe) and point.read_share < 1}
    assert [count for reason, count in found.left_out.items() if RANDOM_MAP in reason]


def test_a_drive_that_was_prepared_with_fios_map_is_not_steady(tmp_path: Path) -> None:
    found = edited(tmp_path, 0, lambda output: without_map(output, 0, 2))
    assert WRITES not in {row.point for row in found.rows}
    assert [reason for reason in found.left_out if reason.startswith(f"full-speed: job 2 (overwrite) prepared the drive: {RANDOM_MAP}")]


def typical(tmp_path: Path, read: dict[str, str], write: dict[str, str]) -> Measurements:
    """The measurements of two typical jobs: random reads, then random writes."""
    speed, _ = recorded(TWO_PARTS)
    common = {"filename": "/dev/nvme0n1", "direct": "1", "ioengine": "libaio", "bs": "4k"}
    times = {"runtime": "6", "time_based": "1", "ramp_time": "2", "numjobs": "16", "group_reporting": "1"}
    output: Output = {**speed, "global options": common | times}
    writer = output["jobs"][2]
    reader = {**writer, "jobname": "randread", "groupid": 1, "read": writer["write"], "write": writer["read"]}
    output["jobs"] = [
        {**reader, "job options": {"rw": "randread", "iodepth": "32", "stonewall": "1", **read}},
        {**writer, "jobname": "randwrite", "job options": {"rw": "randwrite", "iodepth": "32", "stonewall": "1", **write}},
    ]
    return written(tmp_path, output)


def test_common_jobs_are_told_all_that_they_lack(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        typical(tmp_path, {}, {})
    for words in (
        "none of its 2 jobs can be used",
        "job 1 (randread): rw=randread at full speed: reads are measured at a fixed rate, below what the drive can do: set rate_iops",
        f"randwrite: {RANDOM_MAP}: set norandommap=1",
        "not known how much of the drive holds data: put the output of the job `fill` before, or set size in bytes",
    ):
        assert words in str(refused.value)


def test_common_jobs_are_used_for_what_they_tell(tmp_path: Path) -> None:
    """Whatever their names are: with a rate, reads are a probe; with a size and without the map, writes are at full speed."""
    found = typical(tmp_path, {"rate_iops": "6800", "size": "1g"}, {"norandommap": "1", "size": "1g"})
    iops = recorded(TWO_PARTS)[0]["jobs"][2]["write"]["iops"]
    assert values(found, WRITES) == {"write_iops": iops}
    probe = values(found, Probe(GIB, 4096, 16 * 6800.0, 1.0, 0.0, 0.0, 0))
    assert probe["iops"] == iops
    assert {"read_mean_us", "read_p50_us", "read_p99_us"} < set(probe)
    assert not found.left_out


# Changes of recorded output, by the job: 0 fill, 1 overwrite, 2 full-speed; of the second part 0 the probe alone, 1 probe, 2 load at 10 %.


def changed(tmp_path: Path, part: int, job: int, **options: str | None) -> Measurements:
    """The measurements after a job's options are changed."""

    def change(output: Output) -> None:
        entry = output["jobs"][job]["job options"]
        entry.update({name: value for name, value in options.items() if value is not None})
        for name in [name for name, value in options.items() if value is None]:
            entry.pop(name, None)
            output["global options"].pop(name, None)

    return edited(tmp_path, part, change)


def edited(tmp_path: Path, part: int, change: Callable[[Output], object]) -> Measurements:
    outputs = recorded(TWO_PARTS)
    change(outputs[part])
    file = tmp_path / "changed.json"
    file.write_text("\n".join(map(json.dumps, outputs)))
    return fio.read(file)


@pytest.mark.parametrize(
    ("options", "pattern"),
    [
        ({"random_distribution": "zipf:1.1"}, Pattern("zipf", theta=1.1)),
        ({"random_distribution": "zipf:0.8:0.5"}, Pattern("zipf", theta=0.8)),
        ({"random_distribution": "zoned:20/80:80/20"}, Pattern("zones", hot_share=0.2, hot_access=0.8)),
        ({"size": "512m"}, Pattern("zones", hot_share=0.5, hot_access=1.0)),
        ({"size": "25%"}, Pattern("zones", hot_share=0.25, hot_access=1.0)),
        ({"size": "1020m"}, Pattern("uniform")),
    ],
    ids=str,
)
def test_which_addresses_are_written(tmp_path: Path, options: dict[str, str], pattern: Pattern) -> None:
    found = changed(tmp_path, 0, 2, **options)
    assert FullSpeed(pattern, GIB, 4096, 512) in {row.point for row in found.rows}


@pytest.mark.parametrize(
    ("options", "size", "depth"),
    [
        ({"bs": "16k"}, 16_384, 512),
        ({"bs": "8k,16K"}, 16_384, 512),
        ({"bs": ",8192"}, 8192, 512),
        ({"bs": "8192,"}, 4096, 512),
        ({"bs": "4ki"}, 4000, 512),
        ({"bs": "4ki", "kb_base": "1000", "size": "1gi"}, 4096, 512),
        ({"bs": "0x1000"}, 4096, 512),
        ({"ioengine": "psync"}, 4096, 16),
        ({"ioengine": "psync", "io_submit_mode": "offload"}, 4096, 512),
        ({"iodepth": None}, 4096, 16),
    ],
    ids=str,
)
def test_sizes_and_depths(tmp_path: Path, options: dict[str, str | None], size: int, depth: int) -> None:
    found = changed(tmp_path, 0, 2, **options)
    assert FullSpeed(Pattern("uniform"), GIB, size, depth) in {row.point for row in found.rows}


LEFT_OUT: list[tuple[int, int, dict[str, str | None], str, int]] = [
    (0, 2, {"rw": "randtrim"}, "rw=randtrim: expected one of read, randread", 1),
    (0, 2, {"rw": "randread"}, "job 3 (full-speed): rw=randread at full speed: reads are measured at a fixed rate", 1),
    (0, 2, {"rate_iops": "100"}, "job 3 (full-speed): rw=randwrite with rate_iops: writes are measured at full speed", 1),
    (1, 0, {"rate_process": "poisson"}, "probe: rate_process=poisson: leave it out", 1),
    (0, 2, {"ramp_time": None}, "random writes without ramp_time", 1),
    (0, 2, {"rw": "write"}, "sequential writes that are not the first job", 1),
    (0, 0, {"numjobs": "1", "loops": "2"}, "sequential writes with time_based, loops or numjobs", 1),
    (0, 0, {"time_based": "1"}, "sequential writes with time_based, loops or numjobs", 1),
    (0, 2, {"direct": "0"}, "no direct=1: the page cache was measured", 1),
    (0, 2, {"buffered": "1"}, "no direct=1: the page cache was measured", 1),
    (0, 2, {"bssplit": "4k/50:8k/50"}, "bssplit=4k/50:8k/50: no operating point has it", 1),
    (0, 2, {"fsync": "1"}, "fsync=1: no operating point has it", 1),
    (0, 2, {"bs": "many"}, "bs=many: expected a whole number", 1),
    (0, 2, {"random_distribution": "pareto:0.9"}, "random_distribution=pareto:0.9: expected random", 1),
    (0, 2, {"random_distribution": "zoned:50/10:50/20:0/70"}, "random_distribution=zoned:50/10:50/20:0/70: expected two zones", 1),
    (0, 2, {"random_distribution": "zipf:"}, "random_distribution=zipf:: expected numbers", 1),
    (1, 0, {"rate_iops": None}, "probe: no rate_iops", 1),
    (1, 1, {"rate_iops": ",250"}, "rate_iops=,250: reads or writes have no rate", 2),
    (1, 1, {"bs": "4k,8k"}, "bs=4k,8k: reads and writes of different sizes", 2),
    (1, 1, {"bs": "8k"}, "probe and load: requests of different sizes", 2),
    (1, 1, {"rw": "rw"}, "probe or load: addresses that are not random", 2),
    (1, 1, {"size": "512m"}, "probe or load: addresses that are not random, all alike, over all", 2),
    (1, 2, {"random_distribution": "zipf:1.2"}, "probe or load: addresses that are not random", 2),
    (1, 2, {"rate_process": None}, "load: rate_iops without rate_process=poisson", 2),
    (1, 2, {"rate_iops": "400"}, "load: 4,000 writes/s were requested and 1,971 made", 2),
    (1, 2, {"rate_iops": "100"}, "load: 1,000 writes/s were requested and 1,971 made", 2),
]


NO_POINTS: list[tuple[int, int, dict[str, str | None], str, int]] = [
    (0, 0, {"io_size": "128m"}, "job 1 (fill): io_size without a size, or below it", 1),
    (0, 0, {"io_size": "2g"}, "job 1 (fill): sequential writes with io_size", 1),
    (0, 2, {"io_limit": "128m"}, "job 3 (full-speed): io_size without a size, or below it", 1),
    (0, 2, {"ramp_time": "0s"}, "random writes without ramp_time", 1),
    (0, 2, {"ramp_time": "soon"}, "ramp_time=soon: expected a time, such as 90, 90s or 2m", 1),
    (0, 2, {"ioengine": "null"}, "ioengine=null: does not read or write the drive itself", 1),
    (0, 2, {"bs": "0"}, "bs=0: requests of 0 bytes: expected 1 KiB to 1 GiB", 1),
    (0, 2, {"bs": "512"}, "bs=512: requests of 512 bytes: expected 1 KiB to 1 GiB", 1),
    (0, 2, {"bs": "2g"}, "bs=2g: requests of 2,147,483,648 bytes: expected 1 KiB to 1 GiB", 1),
    (0, 2, {"size": "2k"}, "size=2k: less than one request of 4,096 bytes", 1),
    (0, 2, {"iodepth": "0"}, "numjobs and iodepth: 0 requests are outstanding: expected 1 to 1,000,000", 1),
    (0, 2, {"random_distribution": "zoned:90/0:10/100"}, "random_distribution=zoned:90/0:10/100: a zone without addresses", 1),
    (0, 2, {"random_distribution": "zipf:1e300"}, "random_distribution=zipf:1e300: expected an exponent above 0, up to 10", 1),
    (0, 2, {"random_distribution": "zipf:0"}, "random_distribution=zipf:0: expected an exponent above 0, up to 10", 1),
]


@pytest.mark.parametrize(
    ("part", "job", "options", "reason", "count"),
    [*LEFT_OUT, *NO_POINTS],
    ids=[f"{case[1]}-{case[2]}" for case in (*LEFT_OUT, *NO_POINTS)],
)
def test_what_is_no_operating_point_is_left_out(
    tmp_path: Path, part: int, job: int, options: dict[str, str | None], reason: str, count: int
) -> None:
    before, found = fio.read(TWO_PARTS), changed(tmp_path, part, job, **options)
    counts = {text: number for text, number in found.left_out.items() if text.startswith(reason)}
    assert list(counts.values()) == [count], found.left_out
    assert sum(found.left_out.values()) == 1 + count
    assert len({row.point for row in found.rows}) == len({row.point for row in before.rows}) - 1


def test_loads_are_known_by_rates_or_shares(tmp_path: Path) -> None:
    """A load that reads too, with rates of its own or as much as the drive takes."""

    def change(output: Output) -> None:
        for job in (2, 14):
            entry = output["jobs"][job]
            entry["job options"] |= {"rw": "randrw", "rwmixread": "25"}
            entry["read"] |= {"iops": entry["write"]["iops"], "total_ios": 1}
        output["jobs"][2]["job options"]["rate_iops"] = "200,200"

    points = {row.point for row in edited(tmp_path, 1, change).rows}
    assert Probe(GIB, 4096, 500.0, 0.5, 4000.0, 0.5, 80) in points
    assert Probe(GIB, 4096, 500.0, 0.5, None, 0.25, 384) in points


def test_a_load_alone_is_left_out(tmp_path: Path) -> None:
    """Without its probe it stands behind the probe of reads alone: the numbers of their groups say that a job between them is missing."""
    found = edited(tmp_path, 1, lambda output: output["jobs"].pop(1))
    assert not {row.point for row in found.rows} & {
        Probe(GIB, 4096, 500.0, 1.0, 2000.0, 0.0, 80),
        Probe(GIB, 4096, 500.0, 1.0, 0.0, 0.0, 0),
    }
    reason = "between job 4 (probe) and job 5 (load) a job is missing, which may have run beside them: pass the file as fio wrote it"
    assert found.left_out[reason] == 2
    found = edited(tmp_path, 1, lambda output: output["jobs"].__delitem__(slice(2)))
    assert found.left_out["load: no probe before it"] == 1


def test_threads_that_are_not_there(tmp_path: Path) -> None:
    (output,) = recorded(THREADS)
    output["jobs"][1]["job options"]["numjobs"] = output["jobs"][2]["job options"]["numjobs"] = "3"
    file = tmp_path / "threads.json"
    file.write_text(json.dumps(output))
    assert fio.read(file).left_out == {"2 of 3 threads are there: pass the file as fio wrote it": 1}


def test_quantities_that_are_not_there_are_left_out_alone(tmp_path: Path) -> None:
    def change(output: Output) -> None:
        probe, load = output["jobs"][1:3]
        del probe["read"]["lat_ns"]["percentile"]["50.000000"], probe["read"]["clat_ns"]["percentile"]["50.000000"]
        probe["write"]["total_ios"] = 999
        load["write"]["lat_ns"]["mean"] = 0.0

    found = edited(tmp_path, 1, change)
    point = Probe(GIB, 4096, 500.0, 0.5, 2000.0, 0.0, 80)
    assert set(values(found, point)) == {"iops", "read_mean_us", "read_p99_us", "write_p50_us"}
    assert [text for text in found.left_out if not text.startswith("overwrite")] == [
        "no percentile 50 of reads: set lat_percentiles=1 and percentile_list=50:99",
        "fewer than 1,000 writes, too few for the 99th percentile: set a longer runtime",
        "no response times of writes were recorded",
    ]


def test_completion_times_stand_in_where_fio_was_not_asked_for_response_times(tmp_path: Path) -> None:
    found = edited(tmp_path, 1, lambda output: output["jobs"][1]["read"]["lat_ns"].pop("percentile"))
    wanted = recorded(TWO_PARTS)[1]["jobs"][1]["read"]["clat_ns"]["percentile"]["99.000000"] / 1e3
    assert values(found, Probe(GIB, 4096, 500.0, 0.5, 2000.0, 0.0, 80))["read_p99_us"] == wanted


def test_percentiles_of_several_threads_cannot_be_joined(tmp_path: Path) -> None:
    (output,) = recorded(THREADS)
    probe = output["jobs"][3]
    probe["job options"] |= {"numjobs": "2", "rate_iops": "125,125"}
    for direction in ("read", "write"):
        probe[direction]["iops"] /= 2
    output["jobs"].insert(4, probe)
    file = tmp_path / "threads.json"
    file.write_text(json.dumps(output))
    found = fio.read(file)
    assert set(values(found, Probe(64 * MIB, 4096, 500.0, 0.5, 600.0, 0.0, 16))) == {"iops", "read_mean_us", "load_write_mean_us"}
    assert found.left_out == {"percentiles of several threads cannot be joined: set group_reporting=1": 4}


def test_without_fill_or_size_nothing_is_known_of_what_is_used(tmp_path: Path) -> None:
    loads = recorded(TWO_PARTS)[1]
    del loads["global options"]["size"]
    file = tmp_path / "loads.json"
    file.write_text(json.dumps(loads))
    with pytest.raises(
        UsageError, match=r"loads\.json: none of its 15 jobs can be used \(not known how much of the drive holds data: put "
    ):
        fio.read(file)


# Which jobs ran at the same time.


def written(tmp_path: Path, *outputs: Output) -> Measurements:
    file = tmp_path / "changed.json"
    file.write_text("\n".join(map(json.dumps, outputs)))
    return fio.read(file)


def two_writers(**second: object) -> Output:
    """The recorded fill, and random writes twice; the second with other options and entries."""
    output = recorded(TWO_PARTS)[0]
    fill, _, one = output["jobs"]
    one["groupid"] = 1
    two: Output = json.loads(json.dumps(one))
    two["groupid"] = 2
    for name, value in second.items():
        (two if name in {"groupid", "job_start"} else two["job options"])[name] = value
    output["jobs"] = [fill, one, {**two, "job options": {name: value for name, value in two["job options"].items() if value is not None}}]
    for job in output["jobs"]:
        job["elapsed"] = 18
    return output


WRITES = FullSpeed(Pattern("uniform"), GIB, 4096, 512)
TOGETHER = (
    "job 2 (full-speed) and job 3 (full-speed) ran at the same time: set stonewall=1 in each, but not in a load directly behind its probe"
)


def test_jobs_that_ran_one_after_another_are_repeats(tmp_path: Path) -> None:
    found = written(tmp_path, two_writers())
    assert [row.repeats for row in found.rows if row.point == WRITES] == [2]
    assert not found.left_out
    # fio does not list `stonewall` without `=1`, but it begins a new group, and the jobs fill the time that fio took.
    assert [row.repeats for row in written(tmp_path, two_writers(stonewall=None)).rows if row.point == WRITES] == [2]
    assert [row.repeats for row in written(tmp_path, two_writers(stonewall=None, wait_for_previous="1")).rows if row.point == WRITES] == [2]


@pytest.mark.parametrize("second", [{"groupid": 1, "stonewall": None}, {"stonewall": None, "new_group": "1"}], ids=str)
def test_jobs_that_ran_at_the_same_time_are_no_repeats(tmp_path: Path, second: dict[str, object]) -> None:
    found = written(tmp_path, two_writers(**second))
    assert WRITES not in {row.point for row in found.rows}
    assert found.left_out == {TOGETHER: 2}


def test_when_jobs_started_says_more_than_their_options(tmp_path: Path) -> None:
    """Newer versions of fio have `job_start`, in milliseconds."""
    for start, counts in [(1_000_500, {TOGETHER: 2}), (1_008_100, {})]:
        output = two_writers(job_start=start)
        output["jobs"][1]["job_start"] = 1_000_000
        assert written(tmp_path, output).left_out == counts


def test_jobs_that_may_have_run_at_the_same_time_are_left_out(tmp_path: Path) -> None:
    """New groups without stonewall or new_group, in less time than the jobs need one after another."""
    output = two_writers(stonewall=None)
    for job in output["jobs"]:
        job["elapsed"] = 10
    reason = "not known whether job 3 (full-speed) ran beside job 2 (full-speed): set stonewall=1 in it, with =1, or fio does not list it"
    assert written(tmp_path, output).left_out == {reason: 2}


def test_several_jobs_at_once(tmp_path: Path) -> None:
    def change(output: Output) -> None:
        for job in output["jobs"][1:]:
            job["job options"].pop("stonewall", None)
            job["groupid"] = 1

    found = edited(tmp_path, 1, change)
    assert {type(row.point) for row in found.rows} == {FullSpeed, Probe}
    assert [text for text in found.left_out if text.startswith("job 5 (probe) to job 18 (load) ran at the same time")]


def test_jobs_that_fio_added_up_are_left_out(tmp_path: Path) -> None:
    """As group_reporting does with those of one group."""
    found = edited(tmp_path, 0, lambda output: output["jobs"][2].update(job_runtime=2 * 96_040))
    assert WRITES not in {row.point for row in found.rows}
    assert [text for text in found.left_out if text.startswith("job 3 (full-speed): fio added other jobs to it")]


def test_a_load_that_waits_did_not_run_beside_the_probe(tmp_path: Path) -> None:
    found = changed(tmp_path, 1, 2, stonewall="1", new_group=None)
    points = {row.point for row in found.rows}
    assert Probe(GIB, 4096, 500.0, 0.5, 2000.0, 0.0, 80) not in points
    assert Probe(GIB, 4096, 500.0, 0.5, 0.0, 0.0, 0) in points
    assert found.left_out["load: no probe before it"] == 1


def test_a_load_of_which_nothing_says_when_it_ran(tmp_path: Path) -> None:
    found = changed(tmp_path, 1, 2, new_group=None)
    reason = "not known whether job 6 (load) ran beside job 5 (probe): set new_group=1 in it, with =1, or fio does not list it"
    assert found.left_out[reason] == 2
    assert Probe(GIB, 4096, 500.0, 0.5, 2000.0, 0.0, 80) not in {row.point for row in found.rows}


@pytest.mark.parametrize("options", [{"ramp_time": "8"}, {"ramp_time": "500ms"}], ids=str)
def test_probe_and_load_that_were_not_measured_at_the_same_time(tmp_path: Path, options: dict[str, str | None]) -> None:
    found = changed(tmp_path, 1, 2, **options)
    reason = "job 5 (probe) and job 6 (load) were not measured at the same time: give both the same ramp_time and runtime"
    assert found.left_out[reason] == 2


# Runs that were interrupted, or failed.


def test_a_fill_that_was_interrupted_is_left_out(tmp_path: Path) -> None:
    found = edited(tmp_path, 0, lambda output: output["jobs"][0]["write"].update(io_bytes=GIB // 8))
    reason = "job 1 (fill): 134,217,728 of 1,073,741,824 bytes were read or written: let fio run to its end"
    assert found.left_out[reason] == 1
    assert {row.point.used_bytes for row in found.rows} == {GIB}
    assert "sequential" not in {row.point.pattern.kind for row in found.rows if isinstance(row.point, FullSpeed)}


def test_a_fill_of_a_whole_drive_that_was_interrupted_is_left_out(tmp_path: Path) -> None:
    """The size of the drive is unknown, but fio lists the later jobs, which never ran."""

    def change(output: Output) -> None:
        del output["global options"]["size"]
        for job in output["jobs"][1:]:
            job["job_runtime"] = 0
            job["write"] |= {"runtime": 0, "iops": 0.0, "io_bytes": 0}

    output = recorded(TWO_PARTS)[0]
    change(output)
    with pytest.raises(UsageError, match=r"job 1 \(fill\): the jobs behind it never ran, so it was interrupted: let fio run to its end"):
        written(tmp_path, output)


def test_a_fill_that_is_smaller_than_the_drive_is_refused(tmp_path: Path) -> None:
    """Interrupted in an output of its own, which says nothing of that; the drive's size shows when it is overwritten."""
    output = recorded(TWO_PARTS)[0]
    del output["global options"]["size"]
    output["jobs"][0]["write"]["io_bytes"] = GIB // 8
    what = (
        r"job 1 \(fill\) wrote 134,217,728 bytes, and job 2 \(overwrite\) 1,073,741,824 in each loop: expected the same, all of the drive"
    )
    with pytest.raises(UsageError, match=rf"changed\.json: {what}"):
        written(tmp_path, output)


@pytest.mark.parametrize("entry", [{"job_runtime": 16_000}, {"runtime": 1000}], ids=str)
def test_jobs_that_ran_too_briefly_are_left_out(tmp_path: Path, entry: dict[str, int]) -> None:
    def change(output: Output) -> None:
        job = output["jobs"][2]
        (job if "job_runtime" in entry else job["write"]).update(entry)
        if "runtime" in entry:
            del job["job_runtime"]

    found = edited(tmp_path, 0, change)
    assert found.left_out["job 3 (full-speed): measured for 1 s, and runtime asks for 6 s: let fio run to its end"] == 1
    assert WRITES not in {row.point for row in found.rows}


def test_a_runtime_may_be_an_upper_limit(tmp_path: Path) -> None:
    """Without time_based a job ends when it has moved its size."""
    output = recorded(TWO_PARTS)[0]
    output["jobs"][2]["job options"] |= {"runtime": "60", "time_based": "0"}
    output["jobs"][2]["write"]["io_bytes"] = 16 * GIB
    assert WRITES in {row.point for row in written(tmp_path, output).rows}


def test_jobs_with_requests_that_failed_are_left_out(tmp_path: Path) -> None:
    found = edited(tmp_path, 0, lambda output: output["jobs"][2].update(total_err=1200, first_error=5))
    assert found.left_out["job 3 (full-speed): 1,200 of its requests failed (total_err): remove the cause, and run fio again"] == 1


def test_times_may_have_units(tmp_path: Path) -> None:
    for ramp_time, runtime in [("2s", "6000ms"), ("0:02", "00:00:06"), ("2000000us", "6 s")]:
        assert WRITES in {row.point for row in changed(tmp_path, 0, 2, ramp_time=ramp_time, runtime=runtime).rows}
    assert (
        changed(tmp_path, 0, 2, runtime="1:06").left_out[
            "job 3 (full-speed): measured for 6 s, and runtime asks for 66 s: let fio run to its end"
        ]
        == 1
    )


def test_response_times_without_sense_are_left_out(tmp_path: Path) -> None:
    def change(output: Output) -> None:
        probe, load = output["jobs"][1:3]
        probe["read"]["lat_ns"]["percentile"]["99.000000"] = 79_000
        probe["write"]["lat_ns"]["percentile"]["50.000000"] = 20
        load["write"]["lat_ns"]["mean"] = 1e15

    found = edited(tmp_path, 1, change)
    assert set(values(found, Probe(GIB, 4096, 500.0, 0.5, 2000.0, 0.0, 80))) == {"iops", "read_mean_us", "write_p99_us"}
    below = "job 5 (probe): of its reads the median 79.36 us is above their 99th percentile, 79 us: pass the file as fio wrote it"
    assert {text: count for text, count in found.left_out.items() if not text.startswith("overwrite")} == {
        below: 2,
        "job 5 (probe): percentile 50 of writes is 0.02 us: expected 1 us to the 8 s that the job ran": 1,
        "job 6 (load): mean of writes is 1e+12 us: expected 1 us to the 8.01 s that the job ran": 1,
    }


# Which drive.


def test_outputs_of_two_drives_are_refused(tmp_path: Path) -> None:
    one, two = recorded(TWO_PARTS)
    two["global options"]["filename"] = "/dev/nvme1n1"
    what = (
        r"job 1 \(fill\) has filename=drive, and job 4 \(probe\) has filename=/dev/nvme1n1: expected the output of one drive: put that of"
    )
    with pytest.raises(UsageError, match=rf"changed\.json: {what}"):
        written(tmp_path, one, two)
    one, _ = recorded(TWO_PARTS)
    one["jobs"][2]["job options"]["filename"] = "/dev/nvme1n1"
    with pytest.raises(UsageError, match=r"job 3 \(full-speed\) has filename=/dev/nvme1n1"):
        written(tmp_path, one)


def test_a_drive_may_be_named_once(tmp_path: Path) -> None:
    one, two = recorded(TWO_PARTS)
    del two["global options"]["filename"]
    assert len(written(tmp_path, one, two).rows) == len(fio.read(TWO_PARTS).rows)
    two["global options"]["filename"] = "./drive"
    assert len(written(tmp_path, one, two).rows) == len(fio.read(TWO_PARTS).rows)


def test_several_files_of_a_job_are_no_drive(tmp_path: Path) -> None:
    one, two = recorded(TWO_PARTS)
    for output in (one, two):
        output["global options"]["filename"] = "/dev/nvme0n1:/dev/nvme1n1"
    with pytest.raises(UsageError, match=r"filename=/dev/nvme0n1:/dev/nvme1n1: several files: expected one drive"):
        written(tmp_path, one, two)


# Files that are refused.


def text_of(change: Callable[[Output], object]) -> str:
    output = recorded(TWO_PARTS)[0]
    change(output)
    return json.dumps(output)


def damaged(job: int, *path: str, **changes: object) -> str:
    """An output with changed entries of a job, or of a part of it; `None` removes an entry."""

    def change(output: Output) -> None:
        entry = output["jobs"][job]
        for name in path:
            entry = entry[name]
        entry.update(changes)
        for name in [name for name, value in changes.items() if value is None]:
            del entry[name]

    return text_of(change)


STRANGE: list[Any] = [
    *(
        None,
        True,
        0,
        -1,
        1e308,
        float("nan"),
        float("inf"),
        10**400,
        "",
        "0",
        "0%",
        "50%",
        "-1",
        "1e9",
        "9" * 30,
        "zipf:nan",
        "zoned:1/0:99/100",
    ),
    *("randrw", "write", "poisson", ",", [], {}, [1], {"mean": None}),
]
EXPECTED = r"expected what `fio --output-format=json\+ --output=FILE` writes"
REFUSED = {
    "empty": ("", rf"no JSON of fio in it: {EXPECTED}"),
    "text": ("fill: (g=0): rw=write, bs=(R) 512KiB\n", rf"no JSON of fio in it: {EXPECTED}"),
    "other text": ("{ once upon a time }\n", rf"line 1: neither JSON nor text of fio \(.*\): {EXPECTED}"),
    "other JSON": ('{"jobs": []}', rf"JSON without `fio version`: {EXPECTED}"),
    "cut off": (
        TWO_PARTS.read_text()[:5000],
        r"line \d+: fio's output is damaged or ends too early \(.*\): let fio run to its end, and copy",
    ),
    "long number": ('{"fio version": ' + "9" * 5000 + "}", rf"a number with more digits than can be read: {EXPECTED}"),
    "deep": ('{"fio version": ' + "[" * 100_000, r"nested too deeply"),
    "no jobs": (text_of(lambda output: output["jobs"].clear()), rf"fio's output has no jobs: {EXPECTED}"),
    "client": (text_of(lambda output: output.update(client_stats=[])), r"fio ran as a client of servers: run it on the machine that has"),
    "no job": (text_of(lambda output: output["jobs"].insert(1, 7)), rf"job 2: not a job of fio: {EXPECTED}"),
    "error": (
        damaged(1, error=28),
        r"job 2 \(overwrite\): fio ended it with error 28 \(No space left on device\): remove the cause, and run",
    ),
    "no options": (damaged(0, **{"job options": None}), r"job 1 \(fill\): no `job options`, which say what was measured: pass the file"),
    "fio 2": (damaged(0, "write", clat={}), r"job 1 \(fill\): times in microseconds, as fio 2 writes them: use fio 3.0 or newer"),
    "no number": (damaged(2, "write", iops=None), rf"job 3 \(full-speed\): write\.iops is not there or not a number: {EXPECTED}"),
    "text as number": (damaged(2, "write", iops="9"), rf"job 3 \(full-speed\): write\.iops is not there or not a number: {EXPECTED}"),
    "nothing to use": (
        text_of(lambda output: (output["jobs"].pop(0), output["jobs"].pop(1))),
        r"none of its 1 jobs can be used \(overwrite: prepares the drive, and is not measured\): expected the jobs that `ssdlab calibrate",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_files_that_are_refused(tmp_path: Path, name: str) -> None:
    text, message = REFUSED[name]
    file = tmp_path / "mine.json"
    file.write_text(text)
    with pytest.raises(UsageError, match=f"^{re.escape(str(file))}: {message}") as caught:
        fio.read(file)
    assert "\n" not in str(caught.value)


MORE_PLACES = ("groupid", "elapsed", "job_runtime", "runtime", "error")


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all entries at any depth."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield (*path, key)
            yield from places(value[key], (*path, key))


def test_whatever_stands_in_the_file_is_read_or_refused(tmp_path: Path) -> None:
    """Entries replaced at random: never another exception than those that are documented."""
    random = Random(1)
    (recording,) = recorded(THREADS)
    for job in recording["jobs"]:
        for direction in ("read", "write", "trim", "sync"):
            for kind in ("lat_ns", "clat_ns"):
                job.get(direction, {}).get(kind, {}).pop("bins", None)
    text, file = json.dumps(recording), tmp_path / "mine.json"
    likely = [
        place
        for place in places(recording)
        if {"job options", "global options", "lat_ns", "iops", "io_bytes", "total_ios", *MORE_PLACES} & {*place}
    ]
    refused = 0
    for _ in range(600):
        output = json.loads(text)
        for *path, last in random.choices(likely, k=2):
            entry = output
            for name in path:
                entry = entry[name] if isinstance(entry, dict | list) and (isinstance(entry, list) or name in entry) else {}
            if isinstance(entry, dict) and last in entry:
                entry[last] = random.choice(STRANGE)
        file.write_text(json.dumps(output))
        try:
            found = fio.read(file)
        except UsageError:
            refused += 1
        else:
            assert all(0 < row.value < float("inf") for row in found.rows)
            assert all(row.point.used_bytes > 0 for row in found.rows)
    assert 50 < refused < 550


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"mine\.json: cannot read: No such file or directory"):
        fio.read(tmp_path / "mine.json")
    with pytest.raises(FileError, match=r"cannot read: Is a directory"):
        fio.read(tmp_path)


# The job file.


def sections() -> list[tuple[str, dict[str, str]]]:
    """The sections of the job file in order; a name may occur several times."""
    parts = re.split(r"^\[([\w-]+)\]$", JOBS.read_text(), flags=re.MULTILINE)[1:]
    found = []
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        parser = configparser.ConfigParser(interpolation=None)
        parser.read_string(f"[{name}]\n{text}")
        found.append((name, dict(parser[name])))
    return found


def test_the_job_file_warns_first() -> None:
    assert JOBS.read_text().startswith("# THIS DESTROYS ALL DATA ON THE DRIVE")


def test_the_job_file_is_what_the_recorded_output_was_made_with() -> None:
    """All but the times, and the file and its size, which are given on the command line."""
    (_, shared), *jobs = sections()
    entries = [job for output in recorded(TWO_PARTS) for job in output["jobs"]]
    given = recorded(TWO_PARTS)[0]["global options"]
    assert {name: value for name, value in given.items() if name not in {"filename", "size"}} == shared
    assert [name for name, _ in jobs] == [entry["jobname"] for entry in entries]
    for (name, options), entry in zip(jobs, entries, strict=True):
        times = {key: entry["job options"][key] for key in ("ramp_time", "runtime") if key in entry["job options"]}
        assert entry["job options"] == {
            **options,
            **times,
            **({"rate_iops": "200"} if "${RATE}" in options.get("rate_iops", "") else {}),
        }, name


def test_the_job_file_says_which_jobs_run_alone() -> None:
    """With values, as fio lists no others; and each time-based job has a ramp."""
    _, *jobs = sections()
    assert all(options.get("stonewall") == "1" for name, options in jobs if name != "load")
    for name, options in jobs:
        assert ("time_based" in options) == ("ramp_time" in options) == ("runtime" in options), name


def test_probe_and_load_of_the_job_file_run_for_the_same_time() -> None:
    _, *jobs = sections()
    pairs = [(one, two) for (_, one), (name, two) in pairwise(jobs) if name == "load"]
    assert len(pairs) == 7
    for probe, load in pairs:
        assert "stonewall" in probe
        assert "stonewall" not in load
        assert load["new_group"] == "1", "without a value fio does not list it"
        assert (probe["ramp_time"], probe["runtime"]) == (load["ramp_time"], load["runtime"])
    assert [load["numjobs"] for _, load in pairs if "rate_iops" in load] == ["10", "20", "35", "50", "65", "80"]
