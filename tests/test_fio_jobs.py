"""Job files of fio as workloads: the keys that they become, worked out by hand, what is refused with its line, and what is said."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import DRIVE, ROOT
from ssdlab.asking.fio import Flows, flows_of, load
from ssdlab.runs.fio_jobs import remarks_of

MIB = 1 << 20
EXPORTED = 256 * MIB
ENGINE = "[global]\nioengine=libaio\n"
DRIVE_NAME = "filename=/dev/nvme0n1\n"


def flows(folder: Path, text: str, exported: int = EXPORTED) -> Flows:
    file = folder / "job.fio"
    file.write_text(text)
    return flows_of(load(file, file), exported)


def keys(folder: Path, options: str) -> dict[str, Any]:
    """The keys of the only job, with an asynchronous engine, without its name."""
    found = flows(folder, f"{ENGINE}[job]\n{options.replace('; ', chr(10))}\n").settings
    return {key.removeprefix("workload."): value for key, value in found.items() if key != "workload.name"}


SEQUENTIAL = {"queue_depth": 1, "total_bytes": 256 * MIB, "align_kb": 4.0, "request_kb": 4.0, "address": "start", "sequential_share": 1.0}
RANDOM = {"queue_depth": 1, "total_bytes": 256 * MIB, "align_kb": 4.0, "request_kb": 4.0, "read_share": 0.0}
MAP = {**RANDOM, "address": "permutation"}
UNIFORM = {**RANDOM, "address": "uniform"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("rw=read", {**SEQUENTIAL, "read_share": 1.0}),
        ("rw=write; iodepth=8", {**SEQUENTIAL, "queue_depth": 8, "read_share": 0.0}),
        ("rw=trim", {**SEQUENTIAL, "read_share": 0.0, "trim_share": 1.0}),
        ("rw=trimwrite", {**SEQUENTIAL, "read_share": 0.0, "trim_first": True}),
        ("rw=randwrite", MAP),
        ("rw=randrw; rwmixwrite=30", {**MAP, "read_share": 0.7}),
        (
            "rw=randwrite; bs=16k; io_size=1g",
            {**MAP, "align_kb": 16.0, "request_kb": 16.0, "total_bytes": 1 << 30, "permutation_repeats": True},
        ),
        ("rw=randwrite; loops=1; io_size=1m", {**MAP, "total_bytes": MIB}),
        ("rw=randwrite; loops=2; randrepeat=0", {**MAP, "total_bytes": 512 * MIB}),
        ("rw=randwrite; norandommap", UNIFORM),
        # half of 256 MiB
        ("rw=randwrite; size=50%", {**MAP, "part": [0.0, 0.5 + 32768 / EXPORTED], "total_bytes": 128 * MIB}),
        (
            "rw=randwrite; offset=64m; size=32m",
            {**MAP, "part": [0.25 + 32768 / EXPORTED, 0.375 + 32768 / EXPORTED], "total_bytes": 32 * MIB},
        ),
        # 66 KiB are 16 blocks, in a part of 64 KiB
        ("rw=randwrite; size=66k", {**MAP, "part": [0.0, (65536 + 32768) / EXPORTED], "total_bytes": 65536}),
        # 68 KiB in a part of 128 KiB
        (
            "rw=randwrite; size=68k",
            {**MAP, "part": [0.0, (131072 + 32768) / EXPORTED], "footprint": (69632 + 256) / 131072, "total_bytes": 69632},
        ),
        ("rw=randwrite; time_based; runtime=2m", {**{k: v for k, v in MAP.items() if k != "total_bytes"}, "run_s": 120.0}),
        ("rw=randwrite; runtime=500ms; startdelay=2", {**MAP, "run_s": 0.5, "start_s": 2.0}),
        ("rw=randwrite; thinktime=10ms; thinktime_blocks=4", {**MAP, "think_us": 10_000.0, "think_requests": 4}),
        ("rw=randwrite; rate_iops=2000", {**MAP, "paced": True, "arrival": "fixed", "interarrival_us": 500.0}),
        ("rw=randwrite; rate=4m; rate_process=poisson", {**MAP, "paced": True, "arrival": "exponential", "interarrival_us": 1e6 / 1024}),
        (
            "rw=randrw; rwmixread=75; rate_iops=300,100",
            {**MAP, "read_share": 0.75, "paced": True, "arrival": "fixed", "interarrival_us": 2500.0},
        ),
        ("rw=randwrite; random_distribution=zipf:1.2", {**RANDOM, "address": "zipf", "fio_draws": True, "zipf_exponent": 1.2}),
        ("rw=randwrite; random_distribution=pareto", {**RANDOM, "address": "pareto", "fio_draws": True, "pareto_h": 0.2}),
        ("rw=randwrite; random_distribution=normal:10", {**RANDOM, "address": "normal", "normal_width": 0.1}),
        (
            "rw=randwrite; random_distribution=zoned:60/25:40/25",
            {**RANDOM, "address": "zones", "zones": [[60.0, 64 * MIB], [40.0, 64 * MIB], [0.0, 128 * MIB]]},
        ),
        (
            "rw=randwrite; random_distribution=zoned_abs:60/64m:40/192m",
            {**RANDOM, "address": "zones", "zones": [[60.0, 64 * MIB], [40.0, 192 * MIB]]},
        ),
        ("rw=randwrite; norandommap; percentage_random=25", {**UNIFORM, "sequential_share": 0.75}),
        (
            "rw=randwrite; norandommap; bssplit=4k/60:64k/",
            {k: v for k, v in {**UNIFORM, "request_size": "table", "size_table": [[4.0, 60.0], [64.0, 40.0]]}.items() if k != "request_kb"},
        ),
        # 18 KiB: each multiple of 4 KiB by a draw of 4 KiB, and the last by one of 2 KiB
        (
            "rw=randwrite; norandommap; bsrange=4k-18k",
            {
                **{k: v for k, v in UNIFORM.items() if k != "request_kb"},
                "request_size": "table",
                "size_table": [[4.0, 4096.0], [8.0, 4096.0], [12.0, 4096.0], [16.0, 4096.0], [18.0, 2048.0]],
            },
        ),
        # reads and writes with positions of their own: turns by exponential distances of 1/0.8 and 1/0.2
        (
            "rw=rw; rwmixread=80",
            {
                **{**SEQUENTIAL, "read_share": 1.0, "interarrival_us": 1.25},
                "flows": [
                    {
                        **{k: v for k, v in SEQUENTIAL.items() if k not in ("queue_depth", "total_bytes")},
                        **{"read_share": 0.0, "interarrival_us": pytest.approx(5.0), "request_size": "fixed"},
                    }
                ],
            },
        ),
    ],
)
def test_a_job_becomes_these_keys(options: str, expected: dict[str, Any], tmp_path: Path) -> None:
    assert keys(tmp_path, options) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("size=1m", 1 << 20),
        ("size=1M", 1 << 20),
        ("size=1mb", 1 << 20),
        ("size=1mi", 1 << 20),
        ("size=2mib", 2_000_000 // 4096 * 4096),
        ("blocksize=8k; size=20k", 16384),
        ("size=4096", 4096),
        ("size=1.5k; bs=512", 1536),
    ],
)
def test_sizes_have_the_units_of_fio(text: str, expected: int, tmp_path: Path) -> None:
    """By fio 3.33: units that end in `ib` are powers of 1000 unless `kb_base` is set."""
    assert keys(tmp_path, f"rw=write; {text}")["total_bytes"] == expected


def test_jobs_are_flows_in_stages_with_copies(tmp_path: Path) -> None:
    text = f"""{ENGINE}{DRIVE_NAME}size=64m
; a comment
[fill]
rw=write
[a]
stonewall
rw=randread
numjobs=2
offset_increment=64m
[global]
bs=8k
[b]
rw=randwrite
[b]
wait_for_previous
rw=randwrite
"""
    found = flows(tmp_path, text)
    assert [flow.name for flow in found.flows] == ["fill", "a.1", "a.2", "b", "b (2)"]
    assert [flow.keys.get("stage", 0) for flow in found.flows] == [0, 1, 1, 1, 2]
    assert [flow.group for flow in found.flows] == [0, 1, 1, 1, 2]
    assert [flow.keys["request_kb"] for flow in found.flows] == [4.0, 4.0, 4.0, 8.0, 8.0]
    assert found.flows[2].keys["part"] == [0.25 + 32768 / EXPORTED, 0.5 + 32768 / EXPORTED]
    assert [flow["name"] for flow in found.settings["workload.flows"]] == ["a.1", "a.2", "b", "b (2)"]


REFUSED = [
    ("rw=randwrite; verify_only=1", 4, "verify_only = 1: not simulated"),
    ("rw=randwrite; dataplacement=streams; plids=1", 4, "expected one of none, fdp"),
    (
        "rw=randwrite; iodeph=4",
        4,
        "iodeph = 4: not an option that is simulated or known to be about the host alone",
    ),
    ("rw=randwrite:8", 3, "rw = randwrite:8: expected one of read, write, trim, rw"),
    ("rw=randwrite; size=10q", 4, "size = 10q: expected bytes such as 4096, 4k or 1g"),
    ("rw=randwrite; size=1g", 4, "of which the drive exports 268435456"),
    ("rw=randwrite; offset=4k; size=64k", 4, "a multiple of 64 KiB"),
    ("rw=randwrite; bssplit=4k/60:8k/40", 2, "[job]: sizes or alignments that vary with the random map"),
    ("rw=randwrite; bssplit=4k/60:8k/30; norandommap", 4, "shares that add up to 100"),
    ("rw=randwrite; random_distribution=zipf:1.0", 4, "an exponent other than 1"),
    ("rw=randwrite; random_distribution=zipf:0", 4, "random_distribution = zipf:0: expected an exponent other than 1 and above 0"),
    ("rw=randwrite; random_distribution=zipf:1.2:0.5", 4, "1.2:0.5: expected a number"),
    ("rw=randwrite; random_distribution=zoned:60/10:30/20", 4, "shares of requests that add up to 100"),
    ("rw=randwrite; random_distribution=zoned_abs:100/1g", 4, "zones beyond the job's 268435456 bytes"),
    ("rw=randrw; rate_iops=500,100", 4, "in the proportion of rwmixread = 50"),
    ("rw=rw; rate_iops=100", 4, "differ in size or position"),
    ("rw=rw; loops=2", 4, "time_based=1"),
    ("rw=randwrite; time_based", 4, "needs runtime"),
    ("rw=randwrite; ramp_time=1", 4, "needs time_based"),
    ("rw=randwrite; fdp=1", 4, "one placement handle"),
    ("rw=randwrite; fdp=1; fdp_pli=1,2", 5, "one placement handle"),
    ("rw=randwrite; ioengine=net", 4, "an engine that reads and writes a drive"),
    ("rw=randwrite; filename=/dev/a:/dev/b", 4, "several files"),
    ("rw=randwrite; size=$SIZE", 4, "variables are not expanded"),
    ("rw=randwrite; direct=1; bs=1000", 2, "bs: 1000 bytes: expected whole sectors"),
    ("rw=randwrite; numjobs=300", 4, "a whole number from 1 to 256"),
    ("rw=randwrite; rwmixread=70; rwmixwrite=70; rw=randrw", 5, "does not go with rwmixread = 70"),
    ("rw randwrite", 3, "expected an option such as rw=randwrite"),
]


@pytest.mark.parametrize(("options", "line", "message"), REFUSED)
def test_what_cannot_be_done_is_refused_with_its_line(options: str, line: int, message: str, tmp_path: Path) -> None:
    text = f"# job\n[job]\n{options.replace('; ', chr(10))}\n"
    with pytest.raises(ssdlab.UsageError) as error:
        flows(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path / 'job.fio'}:{line}: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no job"),
        ("[global]\nrw=read\n", "has no job"),
        ("rw=read\n[job]\n", "stands before the first section"),
        (f"{ENGINE}{DRIVE_NAME}[a]\nrw=read\ntime_based\nruntime=1\nramp_time=1\n[b]\nrw=read\n", "a ramp_time for some jobs"),
        (f"{ENGINE}{DRIVE_NAME}[a]\nrw=read\n[b]\nstonewall\nrw=read\nstartdelay=1\n", "startdelay counts from the start"),
    ],
)
def test_files_that_are_no_jobs_or_go_beyond_are_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ssdlab.UsageError, match=message):
        flows(tmp_path, text)


def test_what_is_ignored_or_differs_is_said(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("[job]\nrw=randwrite\nsize=1m\niodepth=32\ndirect=1\nthread\nfilename=/dev/nvme0n1\n")
    result = ssdlab.run(device="demo-4g", fio=tmp_path / "job.fio")
    said = {remark["code"]: remark for remark in result.to_dict()["remarks"]}
    assert said["fio-ignored"]["sentence"].endswith("about the host alone: direct, thread.")
    assert "psync, fio's default, keeps one request outstanding: iodepth = 32 has no effect" in said["fio-differs"]["sentence"]
    assert result.to_dict()["requests"]["write"] == 256
    assert result.to_dict()["config"]["workload"]["queue_depth"] == 1


JOBS = f"{ENGINE}size=4m\n[fill]\nrw=write\n[reads]\nstonewall\nrw=randread\niodepth=4\n"


def test_a_trace_that_ends_with_fio_is_a_job_file_and_its_command_repeats_it(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(JOBS)
    by_trace = ssdlab.run(device="demo-4g", trace=tmp_path / "job.fio")
    by_fio = ssdlab.run(device="demo-4g", fio=tmp_path / "job.fio")
    assert by_trace.digest == by_fio.digest
    assert "--fio" in by_trace["command"]
    first, second = by_fio.flows
    assert (first.requests.write, second.requests.read) == (1024, 1024)
    assert first.ended_ns <= second.began_ns
    shown, jobs = by_fio.to_dict()["config"]["workload"], flows(tmp_path, JOBS, 4 << 30)
    settings = {key: shown[key.removeprefix("workload.")] for key in jobs.settings}
    assert ssdlab.run(device="demo-4g", set=settings).digest == by_fio.digest, "the configuration repeats the run"


def test_a_fitted_drive_and_variants_take_jobs(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(f"{ENGINE}[half]\nrw=randwrite\nsize=50%\n")
    shape = {key: value for key, value in DRIVE.items() if key != "device.blocks_per_plane"}
    result = ssdlab.run(fio=tmp_path / "job.fio", fit=16 * MIB, set=shape)
    assert 16 * MIB <= result["fit"]["exported_bytes"] < 20 * MIB
    assert result.to_dict()["requests"]["write"] == result["fit"]["exported_bytes"] // 2 // 4096
    variants = {"jobs": {"fio": str(tmp_path / "job.fio")}, "preset": {"workload": "uniform-4k-write"}}
    compared = ssdlab.compare(variants=variants, set=DRIVE, requests=500)
    assert compared["jobs"].digest != compared["preset"].digest


@pytest.mark.parametrize("other", [{"trace": "a.csv"}, {"workload": "uniform-4k-write"}, {"queue_depth": 4}, {"fit": "trace"}, {"skip": 5}])
def test_what_jobs_have_themselves_is_refused_beside_them(other: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(JOBS)
    with pytest.raises(ssdlab.UsageError, match="were both given, but the jobs are the workload"):
        ssdlab.run(device="demo-4g", fio=tmp_path / "job.fio", **other)


def test_the_ramp_time_is_a_warm_up(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(f"{ENGINE}[job]\nrw=randwrite\ntime_based\nruntime=2s\nramp_time=1s\n")
    result = ssdlab.run(device="demo-4g", fio=tmp_path / "job.fio")
    assert result.to_dict()["warm_up"]["ns"] == 1_000_000_000
    assert 3_000_000_000 <= result.to_dict()["simulated_ns"] < 4_000_000_000
    with pytest.raises(ssdlab.UsageError, match="ramp_time"):
        ssdlab.run(device="demo-4g", fio=tmp_path / "job.fio", warm_up=5)


def test_a_job_file_comes_through_a_pipe() -> None:
    words = [sys.executable, "-m", "ssdlab", "run", "--device", "demo-4g", "--fio", "-", "--json"]
    done = subprocess.run(words, input=JOBS, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["requests"]["write"] == 1024


def test_the_example_runs(tmp_path: Path) -> None:
    """The fill writes 2 GiB; the backup, 100 MiB/s in pieces of 128 KiB for two seconds, is no faster than its rate."""
    result = ssdlab.run(device="demo-4g", scheme="fpgc", fio=ROOT / "examples" / "jobs.fio")
    fill, database, backup = result.flows
    assert (fill.requests.write, fill.requests.read) == (2048, 0)
    assert min(database.began_ns, backup.began_ns) >= fill.ended_ns
    assert 0.6 < database.requests.read / (database.requests.read + database.requests.write) < 0.8
    assert 0 < backup.requests.write <= 1600


def test_a_sweep_takes_jobs_and_writes_the_pages_of_its_points(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(JOBS)
    swept = ssdlab.sweep({"scheme": ["npgc", "pgc"]}, device="demo-4g", fio=tmp_path / "job.fio", out=tmp_path / "out")
    assert [len(point.result.flows) for point in swept] == [2, 2]
    assert "reads" in (tmp_path / "out" / "scheme=pgc" / "report.html").read_text()
    (tmp_path / "job.fio").write_text(JOBS.replace("4m", "8m"))
    with pytest.raises(ssdlab.UsageError, match="is the result of another run"):
        ssdlab.sweep({"scheme": ["npgc", "pgc"]}, device="demo-4g", fio=tmp_path / "job.fio", out=tmp_path / "out", resume=True)


def test_jobs_of_shares_meet_and_the_last_ends_with_the_drive(tmp_path: Path) -> None:
    """Of 7,339,972,198 bytes no share is a multiple of 64 KiB."""
    (tmp_path / "job.fio").write_text(
        f"{ENGINE}{DRIVE_NAME}[front]\nrw=write\nbs=4k\nsize=90%\n[back]\nrw=write\nbs=4k\noffset=90%\nsize=10%\n"
    )
    front, back = flows(tmp_path, (tmp_path / "job.fio").read_text(), 7_339_972_198).flows
    assert front.keys["part"][0:1] == [0.0]
    assert back.keys["part"][1] == 1.0


def begins(folder: Path, text: str) -> dict[str, int]:
    """The first byte of each flow."""
    return {flow.name: int(flow.keys.get("part", [0.0])[0] * EXPORTED) // 65536 * 65536 for flow in flows(folder, text).flows}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # each copy of a job has a file of its own, at the next multiple of 64 KiB
        ("size=1000k\nnumjobs=3\n[a]\n", [0, 1 << 20, 2 << 20]),
        ("size=1m\n[a]\n[b]\nsize=2m\n[c]\n", [0, 1 << 20, 3 << 20]),
        # jobs of one name have one file
        ("size=1m\n[a]\n[a]\nstonewall\n[b]\n", [0, 0, 1 << 20]),
        ("size=1m\nfilename=x\nnumjobs=2\n[a]\n[b]\n", [0, 0, 0, 0]),
        ("size=1m\n[a]\nfilename=x\n[b]\nfilename=x\noffset=2m\n[c]\nfilename=y\n", [0, 2 << 20, 3 << 20]),
        ("size=1m\ndirectory=/mnt\n[a]\nfilename=x\n[b]\nfilename=x\ndirectory=/srv/\n", [0, 1 << 20]),
        ("size=1m\ndirectory=/mnt:/srv\nfilename=x\nnumjobs=3\n[a]\n", [0, 1 << 20, 0]),
        ("size=1m\nfilename_format=x\nnumjobs=2\n[a]\n", [0, 0]),
        # shares are of the drive
        ("size=25%\n[a]\n[b]\n", [0, 64 * MIB]),
        ("size=1m\n[a]\nfilename=/dev/nvme0n1p1\n[b]\nfilename=/dev/nvme0n1p2\n", [0, 1 << 20]),
        ("size=1m\n[a]\nfilename=/dev/nvme0n1\n[b]\nfilename=/dev/ng0n1\n", [0, 0]),
        ("size=1m\n[/dev/sda]\n[b]\nfilename=/dev/sda\n", [0, 0]),
    ],
)
def test_files_are_never_laid_over_each_other(text: str, expected: list[int], tmp_path: Path) -> None:
    assert list(begins(tmp_path, f"{ENGINE}rw=write\n{text}").values()) == expected


def test_copies_run_as_jobs_at_places_of_their_own(tmp_path: Path) -> None:
    """Four copies with files of their own, as four jobs that lie one behind another in one file. On one file all four write the same."""
    common = f"{ENGINE}direct=1\nrw=randwrite\nbs=4k\niodepth=8\nsize=4m\n"
    jobs = "".join(f"[{place}]\noffset={4 * place}m\nfilename=x\n" for place in range(4))
    digests = []
    for text in ("numjobs=4\n[job]\n", jobs, "numjobs=4\nfilename=x\n[job]\n"):
        (tmp_path / "job.fio").write_text(common + text)
        digests.append(ssdlab.run(device="demo-4g", fio=tmp_path / "job.fio").digest)
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("size=1m\n[a]\nfilename=/dev/nvme0n1\n[b]\nfilename=/dev/nvme1n1\n", "/dev/nvme0n1 beside /dev/nvme1n1: expected one drive"),
        ("size=1m\n[a]\nfilename=/dev/sda\n[b]\nfilename=/dev/sda1\n", "/dev/sda beside /dev/sda1: expected one drive"),
        ("size=1m\n[a]\nfilename=/dev/sda\n[b]\nfilename=x\n", "expected one drive"),
        ("size=25%\n[a]\nfilename=/dev/sda1\n[b]\nfilename=/dev/sda2\n", "whose size is not known"),
        ("[a]\n[b]\nsize=1m\n", "needs size, since there are several files"),
        ("size=100m\nnumjobs=3\n[a]\n", "3 files of 314572800 bytes in all, of which the drive exports 268435456"),
    ],
)
def test_several_drives_and_files_without_room_are_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ssdlab.UsageError, match=message):
        flows(tmp_path, f"{ENGINE}rw=write\n{text}")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("rw=write; direct=1", []),
        ("rw=write; buffered=0", []),
        ("rw=write", ["without direct=1"]),
        ("rw=write; ioengine=io_uring_cmd", []),
        ("rw=write; direct=1; fdatasync=1", []),
        ("rw=write; fdatasync=1", ["without direct=1", "fdatasync also writes the page cache back; here that is the write ("]),
        ("rw=write; fsync=8", ["without direct=1", "fsync also writes the page cache back; here that is the writes"]),
        ("rw=write; direct=1; sync=dsync", ["in fio a write with sync ends with its flush"]),
        ("rw=write; direct=1; iodepth=4; fsync=8", ["libaio waits for each flush"]),
        ("rw=write; direct=1; iodepth=4; fsync=8; ioengine=io_uring", []),
        ("rw=write; direct=1; fsync=8; fdatasync=12", ["fsync = 12 beside 8 is left out"]),
        ("rw=randrw; direct=1; end_fsync", []),
        ("rw=read; direct=1; fsync=1; verify=crc32c", []),
        ("rw=write; direct=1; fsync=0; sync=none; verify=0", []),
        ("rw=write; direct=1; verify=crc32c; verify_fatal=1", ["verify = crc32c reads what the job wrote"]),
        ("rw=write; direct=1; verify=crc32c; do_verify=0", []),
        ("rw=write; direct=1; iodepth_batch=8; iodepth_batch_complete_min=0", ["iodepth_batch = 8"]),
        ("rw=write; direct=1; latency_percentiles=1; lat_percentiles=1; percentile_list=50:99; unified_rw_reporting=both; pool=a", []),
    ],
)
def test_what_fio_does_beside_the_requests_is_remarked(options: str, expected: list[str], tmp_path: Path) -> None:
    found = flows(tmp_path, f"{ENGINE}[job]\n{options.replace('; ', chr(10))}\n").differs
    assert len(found) == len(expected)
    assert all(text in sentence for text, sentence in zip(expected, found, strict=True))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("fsync=32", {"flush_every": 32}),
        ("fdatasync=1", {"flush_every": 1}),
        ("fsync=8; fdatasync=4", {"flush_every": 4}),
        ("fsync=8; fdatasync=0", {"flush_every": 8}),
        ("sync=1; fsync=8", {"flush_every": 1, "flush_at_end": True}),
        ("sync=dsync", {"flush_every": 1, "flush_at_end": True}),
        ("sync=none; fsync=0; end_fsync=0", {}),
        ("end_fsync=1", {"flush_at_end": True}),
        ("fsync_on_close", {"flush_at_end": True}),
        ("rw=read; fsync=1; sync=1; end_fsync=1", {}),
        ("rw=randtrim; norandommap; fsync=1", {}),
    ],
)
def test_flushes_of_jobs_are_flushes(options: str, expected: dict[str, Any], tmp_path: Path) -> None:
    found = keys(tmp_path, f"rw=write; direct=1; {options}")
    assert {key: value for key, value in found.items() if key.startswith("flush")} == expected


@pytest.mark.parametrize("options", ["sync=maybe", "fsync=-1", "fdatasync=1.5", "percentile_list=99:101", "percentile_list=99,50"])
def test_wrong_values_of_flushes_and_percentiles_are_refused(options: str, tmp_path: Path) -> None:
    with pytest.raises(ssdlab.UsageError, match=f":5: {options.partition('=')[0]} = .*expected"):
        keys(tmp_path, f"rw=write; {options}")


@pytest.mark.parametrize(
    "options", ["fdp=1; fdp_pli=3", "dataplacement=fdp; plids=3; plid_select=random", "fdp=1; plids=3; fdp_pli_select=roundrobin"]
)
def test_both_names_of_placement_options_are_read(options: str, tmp_path: Path) -> None:
    assert keys(tmp_path, f"rw=write; {options}")["handle"] == 3
    assert "handle" not in keys(tmp_path, "rw=write; dataplacement=none; plids=3")


def test_sizes_that_only_the_page_cache_takes_are_whole_pages(tmp_path: Path) -> None:
    text = f"{ENGINE}[wal]\nrw=write\nbs=2300\nsize=1m\n"
    assert flows(tmp_path, text).settings["workload.request_kb"] == 4.0
    assert any("the page cache writes whole pages" in sentence for sentence in flows(tmp_path, text).differs)


def test_rates_of_jobs_are_over_their_own_time(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(f"{ENGINE}direct=1\nsize=4m\nrw=write\n[slow]\n[fast]\nstonewall\niodepth=16\n")
    result = ssdlab.run(device="demo-4g", fio=tmp_path / "job.fio")
    for flow in result.flows:
        span_s = (flow.ended_ns - flow.began_ns) / 1e9
        assert flow.iops == pytest.approx(1024 / span_s)
        assert flow.bandwidth_mb_s.write == pytest.approx(4 * MIB / 1e6 / span_s)
        assert flow.iops > 1.01 * 1024 / (result.simulated_ns / 1e9)


@pytest.mark.parametrize(
    ("device", "depth", "expected"), [("nvme-tlc-scaled-5g", 9, True), ("nvme-tlc-scaled-5g", 8, False), ("demo-4g", 9, False)]
)
def test_a_depth_on_a_scaled_drive_is_remarked(device: str, depth: int, expected: bool, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(f"{ENGINE}direct=1\nsize=1m\nrw=randread\niodepth={depth}\n[a]\n")
    remarks = [remark for remark in ssdlab.run(device=device, fio=tmp_path / "job.fio").remarks if remark.code == "fio-depth"]
    assert bool(remarks) == expected
    assert all("9 requests for 8 dies are as 72 for the 64 dies" in remark.sentence for remark in remarks)


@pytest.mark.parametrize(("write_ms", "read_us", "expected"), [(2000, 100, True), (2000, 50_000, False), (20, 100, False)])
def test_writes_that_starve_beside_reads_are_remarked(write_ms: int, read_us: int, expected: bool, tmp_path: Path) -> None:
    times = {"read": {"count": 100_000, "mean": read_us * 1e3}, "write": {"count": 1, "mean": write_ms * 1e6}}
    jobs = flows(tmp_path, f"{ENGINE}[job]\nrw=randrw\n")
    codes = [remark.code for remark in remarks_of(jobs, None, {"latency_ns": times, "simulated_ns": 3 * 10**9})]
    assert codes == ["starved"] * expected
