"""`ssdlab trace record`: the kernel's lines, missing requirements of a machine, and recordings with simulated tracefs folders."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import ssdlab
from conftest import PATIENCE_S, Ended
from ssdlab.cli import main
from ssdlab.errors import Error, UsageError
from ssdlab.system import recording
from ssdlab.system.recording import Device, Recorder, Recording, Tracefs, devices, recorder
from ssdlab.system.recording.lines import Event, Lost, op_of, parse_line
from ssdlab.system.recording.recording import Collector, Gap, check_target

DISK = Device(path="/dev/sda", major=8, minor=0, start=0, sectors=1_000_000, partition=False, event="block_rq_issue")
PART = Device(path="/dev/sda2", major=8, minor=0, start=2048, sectors=4096, partition=True, event="block_rq_issue")


# --- lines ---------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "event"),
    [
        (  # Linux 4.18, four flags, no priority
            "  kworker/7:1H-250   [007] .... 19654.923352: block_rq_issue: 8,0 FF 0 () 0 + 0 [kworker/7:1H]",
            Event(19654923352, 7, False, "FF", "F", 0, 0),
        ),
        (
            "           <...>-1234  [002] d..1  1234.567890: block_rq_issue: 8,0 W 8192 () 779 + 16 [kworker/2:1]",
            Event(1234567890, 2, False, "W", "W", 779, 16),
        ),
        (  # Linux 6.0, five flags
            "  raft-benchmark-37801   [003] .....  9904.831159: block_rq_issue: 259,0 WS 4096 () 498455480 + 8 [raft-benchmark]",
            Event(9904831159, 3, False, "WS", "W", 498455480, 8),
        ),
        (  # Linux 6.18, with the priority, read ahead
            "       mkfs.ext4-13694   [001] ..... 35450.612105: block_rq_issue: 7,0 RA 16384 () 0 + 32 be,0,4 [mkfs.ext4]",
            Event(35450612105, 1, False, "RA", "R", 0, 32),
        ),
        (
            "    kworker/1:2H-26473   [001] ..... 35450.632113: block_rq_issue: 7,0 DS 67108864 () 0 + 131072 be,0,4 [kworker/1:2H]",
            Event(35450632113, 1, False, "DS", "T", 0, 131072),
        ),
        (  # BLKZEROOUT
            "    kworker/1:2H-26473   [001] ..... 35452.004273: block_rq_issue: 7,0 NS 1048576 () 0 + 2048 be,0,4 [kworker/1:2H]",
            Event(35452004273, 1, False, "NS", "T", 0, 2048),
        ),
        (  # an atomic write to the medium
            "          xfs_io-4238    [009] .....  4148.126843: block_rq_issue: 259,0 WFSU 16384 () 768 + 32 none,0,0 [xfs_io]",
            Event(4148126843, 9, False, "WFSU", "W", 768, 32),
        ),
        (  # SYNCHRONIZE CACHE, sent past the block layer
            "   kworker/u16:9-325     [000] ...2.   230.478731: block_rq_issue: 8,0 N 0 () 0 + 0 [kworker/u16:9]",
            Event(230478731, 0, False, "N", "", 0, 0),
        ),
        (  # with thread groups, and a name to mislead
            "   x [9] 1.5: y-40   (   40) [123] d.h. 1.000000: block_rq_requeue: 8,0 WM () 8 + 8 none,0,0 [0]",
            Event(1000000, 123, True, "WM", "W", 8, 8),
        ),
        (  # without flags
            "            dd-12345   [002]  1234.567890: block_bio_queue: 252,3 R 2048 + 256 [dd]",
            Event(1234567890, 2, False, "R", "R", 2048, 256),
        ),
        (  # a flush before the first sector was given one
            "          dd-1 [002] ....  12.000000: block_rq_issue: 8,0 FF 0 () 18446744073709551615 + 0 [dd]",
            Event(12000000, 2, False, "FF", "F", 2**64 - 1, 0),
        ),
        ("CPU:1 [LOST 4312 EVENTS]", Lost(1, 4312)),
        ("CPU:12 [LOST EVENTS]", Lost(12, None)),
        ("# tracer: nop", None),
        ("", None),
        ("  <idle>-0 [007] ..s. 19654.923562: block_rq_complete: 8,0 FF () 18446744073709551615 + 0 [0]", None),
    ],
)
def test_lines_of_many_kernels(line: str, event: Event | Lost | None) -> None:
    assert parse_line(line) == event


@pytest.mark.parametrize(
    ("rwbs", "sectors", "op"),
    [
        ("R", 8, "R"),
        ("RSM", 8, "R"),
        ("WS", 8, "W"),
        ("WFS", 8, "W"),  # to the medium, which is no flush
        ("FWFS", 8, "W"),  # a flush in front: as in blkparse's text, the write alone
        ("FWS", 0, "F"),
        ("F", 0, "F"),
        ("FN", 0, "F"),
        ("FFS", 0, "F"),
        ("D", 8, "T"),
        ("DE", 8, "T"),
        ("WZ", 8, "T"),
        ("N", 8, "T"),
        ("N", 0, ""),
        ("W", 0, ""),
        ("ZA", 8, ""),
        ("ZR", 0, ""),
    ],
)
def test_letters(rwbs: str, sectors: int, op: str) -> None:
    assert op_of(rwbs, sectors) == op


def test_a_request_in_an_unknown_form_is_not_passed_over() -> None:
    with pytest.raises(ValueError, match="issue"):
        parse_line("  dd-1 [002] ....  12.000000: block_rq_issue: sda W 8 at 16 [dd]")


# --- what is collected ---------------------------------------------------------------------------------------------------------------


def issue(time_us: int, rwbs: str, sector: int, sectors: int, *, cpu: int = 0, event: str = "block_rq_issue") -> str:
    """A line in the format of Linux 6.18."""
    size = f" {sectors * 512}" if event == "block_rq_issue" else ""
    command = " ()" if event.startswith("block_rq") else ""
    time = f"{time_us // 1_000_000}.{time_us % 1_000_000:06}"
    return f"  dd-77   [{cpu:03}] ..... {time}: {event}: 8,0 {rwbs}{size}{command} {sector} + {sectors} be,0,4 [dd]"


def requeue(time_us: int, rwbs: str, sector: int, sectors: int, *, cpu: int = 0) -> str:
    return issue(time_us, rwbs, sector, sectors, cpu=cpu, event="block_rq_requeue")


def collected(lines: Sequence[str], device: Device = DISK) -> Collector:
    collector = Collector(device, began_us=1_000_000)
    for line in lines:
        collector.add(line)
    return collector


def rows(lines: Sequence[str], device: Device = DISK) -> list[tuple[int, str, int, int]]:
    table = collected(lines, device).table()[0]
    return list(zip(*(table[name].to_pylist() for name in ("time_ns", "op", "offset_bytes", "size_bytes")), strict=True))


def test_requests_by_time_from_0() -> None:
    lines = [
        issue(3_000_010, "W", 16, 8, cpu=1),
        issue(3_000_010, "R", 0, 8, cpu=1),
        issue(3_000_003, "DS", 8, 1),
        issue(3_000_011, "FF", 5, 0),
    ]
    assert rows(lines) == [(0, "T", 4096, 512), (7000, "W", 8192, 4096), (7000, "R", 0, 4096), (8000, "F", 0, 0)]


def test_nothing_is_an_empty_table() -> None:
    assert rows([]) == []


def test_a_partition_begins_at_0_and_leaves_out_the_rest_of_the_disk() -> None:
    lines = [
        issue(1, "W", 2047, 1),  # in front of it
        issue(2, "W", 2048, 8),
        issue(3, "R", 6143, 1),  # its last sector
        issue(4, "R", 6144, 8),  # behind it
        issue(5, "FF", 0, 0),  # of the whole disk
    ]
    assert rows(lines, PART) == [(0, "W", 0, 4096), (1000, "R", 4095 * 512, 512), (3000, "F", 0, 0)]
    assert collected(lines, PART).other_partitions == 2


def test_what_the_driver_hands_back_counts_once() -> None:
    lines = [
        requeue(5, "W", 64, 8),  # issued before the recording began
        issue(10, "W", 8, 8),
        issue(11, "W", 8, 8),  # the same once more, by another writer
        requeue(12, "W", 8, 8),
        issue(20, "W", 8, 16, cpu=1),  # merged with its neighbour in between
        issue(30, "R", 8, 8),
    ]
    assert rows(lines) == [(0, "W", 4096, 4096), (10000, "W", 4096, 8192), (20000, "R", 4096, 4096)]
    assert collected(lines).table()[1] == 1


def test_what_is_no_request_is_counted() -> None:
    lines = [issue(1, "N", 0, 0), issue(2, "NS", 8, 8), issue(3, "D", 8, 8), ": block_rq_issue: what is this\n", ": block_rq_issue: ?"]
    found = collected(lines)
    assert [row[1] for row in rows(lines)] == ["T", "T"]
    assert (found.left_out.total(), found.write_zeroes, found.unreadable) == (1, 1, 2)
    assert found.first_unreadable == ": block_rq_issue: what is this"


def test_gaps_are_from_the_last_event_to_the_next_of_the_same_processor() -> None:
    lines = [
        "CPU:1 [LOST 7 EVENTS]",  # before anything was heard of it: since the recording began
        issue(1_200_000, "R", 0, 8, cpu=1),
        issue(2_000_000, "R", 0, 8, cpu=0),
        "CPU:0 [LOST 5 EVENTS]",
        issue(2_100_000, "R", 0, 8, cpu=1),
        issue(2_500_000, "R", 0, 8, cpu=0),
        "CPU:1 [LOST EVENTS]",
        issue(2_600_000, "R", 0, 8, cpu=1),
        issue(9_000_000, "R", 0, 8, cpu=1),
    ]
    found = collected(lines)
    assert found.gaps() == [Gap(1_000_000, 1_200_000), Gap(2_000_000, 2_600_000)]
    assert found.lost == 13  # the kernel does not know how many the last ones were: at least one


# --- what is missing -----------------------------------------------------------------------------------------------------------------


def test_only_linux_and_only_root() -> None:
    with pytest.raises(Error, match="on Linux only, and this is darwin") as refused:
        recorder.check_system("darwin", 0)
    assert refused.value.exit_code == 1
    with pytest.raises(Error, match=r"needs root.*sudo"):
        recorder.check_system("linux", 1000)
    recorder.check_system("linux", 0)


def test_what_is_no_block_device(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, message in [
        (tmp_path / "none", "No such file.*lsblk"),
        (tmp_path / "file", "expected a block device.*findmnt"),
        (Path(os.devnull), "expected a block device"),
    ]:
        with pytest.raises(UsageError, match=message):
            recording.find_device(path)


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """A sysfs folder with a disk with queue and partition, a volume without a queue, a drive with zones, and a slot without a medium."""
    texts = {
        "sda/dev": "8:0",
        "sda/size": "1000",
        "sda/queue/zoned": "none",
        "sda/mq/0/tags": "",
        "sda/sda2/dev": "8:2",
        "sda/sda2/partition": "2",
        "sda/sda2/start": "100",
        "sda/sda2/size": "800",
        "dm-0/dev": "252:0",
        "dm-0/size": "64",
        "sdz/dev": "8:16",
        "sdz/size": "64",
        "sdz/queue/zoned": "host-managed",
        "sr0/dev": "11:0",
        "sr0/size": "0",
        "loop9/size": "64",
    }
    for name, text in texts.items():
        path = tmp_path / "devices" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    folder = tmp_path / "dev" / "block"
    folder.mkdir(parents=True)
    links = {"8:0": "sda", "8:2": "sda/sda2", "252:0": "dm-0", "8:16": "sdz", "11:0": "sr0", "7:9": "loop9"}
    for numbers, place in links.items():
        (folder / numbers).symlink_to(tmp_path / "devices" / place)
    return folder


def test_disks_partitions_and_volumes(sysfs: Path) -> None:
    disk = devices.describe(Path("/dev/sda"), 8, 0, sysfs)
    assert (disk.major, disk.minor, disk.start, disk.sectors, disk.partition, disk.event) == (8, 0, 0, 1000, False, "block_rq_issue")
    part = devices.describe(Path("/dev/sda2"), 8, 2, sysfs)
    assert (part.major, part.minor, part.start, part.sectors, part.partition, part.event) == (8, 0, 100, 800, True, "block_rq_issue")
    assert part.filter == "dev == 8388608"  # 8 << 20: the disk's
    assert part.size_bytes == 800 * 512
    volume = devices.describe(Path("/dev/mapper/data"), 252, 0, sysfs)
    assert (volume.filter, volume.event) == ("dev == 264241152", "block_bio_queue")


def test_devices_that_cannot_be_recorded(sysfs: Path) -> None:
    with pytest.raises(UsageError, match="/dev/sdz: is a zoned drive"):
        devices.describe(Path("/dev/sdz"), 8, 16, sysfs)
    with pytest.raises(UsageError, match="/dev/sr0: has no medium"):
        devices.describe(Path("/dev/sr0"), 11, 0, sysfs)
    for minor in (9, 10):  # one without its numbers, one that is not there
        with pytest.raises(Error, match=r"does not describe it.*is /sys mounted") as refused:
            devices.describe(Path("/dev/loop"), 7, minor, sysfs)
        assert refused.value.exit_code == 1


def test_tracefs_that_is_not_there_or_too_little(tmp_path: Path) -> None:
    places = [tmp_path / "tracing", tmp_path / "debug"]
    with pytest.raises(Error, match=f"not at {places[0]} or {places[1]}: mount it with `mount -t tracefs tracefs {places[0]}`"):
        recording.find_tracefs(places)
    (places[1] / "events").mkdir(parents=True)
    found = recording.find_tracefs(places)
    assert found.folder == places[1]
    with pytest.raises(Error, match=r"no event block_rq_issue: .*CONFIG_BLK_DEV_IO_TRACE"):
        found.check("block_rq_issue")
    (places[1] / "events" / "block" / "block_rq_issue").mkdir(parents=True)
    with pytest.raises(Error, match="no instances"):
        found.check("block_rq_issue")


def test_commands_and_targets_are_checked_before(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no-such-program: no such program"):
        recording.check_command(["no-such-program", "-x"])
    for path, message in [
        (tmp_path / "trace.txt", r"ends in \.csv, .*or \.parquet"),
        (tmp_path / "none" / "t.csv", "there is no folder"),
    ]:
        with pytest.raises(UsageError, match=message):
            check_target(path)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        check_target(tmp_path / "folder.csv")


# --- recordings ----------------------------------------------------------------------------------------------------------------------


class FakeTracefs(Tracefs):
    """Folders that simulate the kernel's tracefs. Data written to `pipe` are its trace."""

    def __init__(self, folder: Path, *, overrun: int = 0) -> None:
        super().__init__(folder)
        self.pipe = folder / "pipe"
        self.overrun = overrun
        self.made: dict[str, str] = {}
        """Contents of the instance's files when it was removed."""
        for event in ("block_rq_issue", "block_rq_requeue", "block_bio_queue"):
            (folder / "events" / "block" / event).mkdir(parents=True)
        (folder / "instances").mkdir()
        os.mkfifo(self.pipe)

    def create(self, name: str) -> Path:
        path = super().create(name)
        shutil.copytree(self.folder / "events", path / "events")
        (path / "trace_pipe").symlink_to(self.pipe)
        (path / "options").mkdir()
        (path / "options" / "raw").write_text("1")
        for cpu, overrun in enumerate((self.overrun, 0)):
            (path / "per_cpu" / f"cpu{cpu}").mkdir(parents=True)
            stats = f"entries: 9\noverrun: {overrun}\ncommit overrun: 0\noldest event ts: 1.0\ndropped events: 0\nread events: 3\n"
            (path / "per_cpu" / f"cpu{cpu}" / "stats").write_text(stats)
        return path

    def remove(self, path: Path) -> None:
        files = [file for file in path.rglob("*") if file.is_file() and not file.is_symlink()]
        self.made = {str(file.relative_to(path)): file.read_text() for file in files}
        shutil.rmtree(path)

    def left(self) -> list[Path]:
        """Instances that were not removed."""
        return list((self.folder / "instances").iterdir())


@pytest.fixture
def tracefs(tmp_path: Path) -> Iterator[FakeTracefs]:
    folder = tmp_path / "tracing"
    folder.mkdir()
    fake = FakeTracefs(folder)
    yield fake
    assert fake.left() == []


LINES = [issue(5_000_000, "R", 0, 8), issue(5_000_100, "WS", 8, 16, cpu=1), issue(7_500_100, "FF", 0, 0), issue(7_500_200, "D", 0, 8)]
TRACE = "timestamp_us,op,offset_bytes,size_bytes\n0,R,0,4096\n100,W,4096,8192\n2500100,F,0,0\n2500200,T,0,4096\n"


def traced(tracefs: FakeTracefs, lines: Sequence[str] = LINES, then: str = "") -> list[str]:
    """A command during which the kernel traces the given lines, followed by shell code `then`."""
    file = tracefs.folder / "lines"
    file.write_text("\n".join(lines) + "\n")
    return ["sh", "-c", f"cat {file} > {tracefs.pipe}; {then or ':'}"]


def record(tracefs: Tracefs, command: Sequence[str], device: Device = DISK, patience_s: float = 0.2) -> Recording:
    return Recorder(device, tracefs, buffer_mb=2, flush=lambda: None, patience_s=patience_s).record(command)


def test_a_recording(tracefs: FakeTracefs, tmp_path: Path) -> None:
    told: list[tuple[str, int]] = []
    flushes: list[int] = []
    command = traced(tracefs, then="sleep 1")
    recorded = Recorder(
        DISK, tracefs, buffer_mb=2, progress=lambda doing, count: told.append((doing, count)), flush=lambda: flushes.append(len(told))
    ).record(command)
    assert recorded.warnings() == []
    report = recorded.save(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == TRACE
    assert report.pop("duration_s") >= 1
    assert report == {
        "device": "/dev/sda",
        "device_size_bytes": 512_000_000,
        "event": "block_rq_issue",
        "command": command,
        "exit_code": 0,
        "lost_events": 0,
        "longest_gap_s": 2.5,
        "idle_share": 2_500_000 / 2_500_200,
    }
    assert ("recording", 4) in told
    assert len(flushes) == 2  # before and after


def test_what_the_kernel_is_told(tracefs: FakeTracefs) -> None:
    record(tracefs, traced(tracefs))
    made = tracefs.made
    assert made["trace_clock"] == "mono"
    assert made["buffer_size_kb"] == "2048"
    assert made["options/raw"] == "0"
    assert "options/hex" not in made  # this kernel has none
    assert made["events/block/block_rq_issue/filter"] == made["events/block/block_rq_requeue/filter"] == "dev == 8388608"
    assert made["events/block/block_rq_issue/enable"] == "1"
    assert "events/block/block_bio_queue/enable" not in made
    assert (made["tracing_on"], made["events/enable"]) == ("0", "0")  # at the end


def test_a_volume_is_recorded_where_requests_enter(tracefs: FakeTracefs, tmp_path: Path) -> None:
    volume = Device(path="/dev/dm-0", major=252, minor=0, start=0, sectors=64, partition=False, event="block_bio_queue")
    lines = [issue(1, "R", 8, 8, event="block_bio_queue"), issue(2, "FW", 0, 0, event="block_bio_queue")]
    record(tracefs, traced(tracefs, lines), volume).save(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().splitlines()[1:] == ["0,R,4096,4096", "1,F,0,0"]
    assert [name for name in tracefs.made if name.endswith("/enable") and "block" in name] == ["events/block/block_bio_queue/enable"]


def test_more_than_a_pipe_holds(tracefs: FakeTracefs, tmp_path: Path) -> None:
    lines = [issue(1_000_000 + 3 * i, "W", 8 * i, 8, cpu=i % 2) for i in range(20_000)]  # 1.8 MB, read in parts that end within lines
    record(tracefs, traced(tracefs, lines)).save(tmp_path / "t.parquet")
    table = pq.read_table(tmp_path / "t.parquet")
    assert table["time_ns"].to_pylist() == [3000 * i for i in range(20_000)]
    assert table["offset_bytes"].to_pylist() == [4096 * i for i in range(20_000)]


def test_lost_events_are_a_loud_warning(tracefs: FakeTracefs, tmp_path: Path) -> None:
    lines = [*LINES[:2], "CPU:0 [LOST 300 EVENTS]", issue(5_250_000, "R", 0, 8), *LINES[2:]]
    recorded = record(tracefs, traced(tracefs, lines))
    (warning,) = recorded.warnings()
    assert "LOST 300 EVENTS (0.000 to 0.250 s)" in warning
    assert "--buffer-mb" in warning
    report = recorded.save(tmp_path / "t.csv")
    assert report["lost_events"] == 300
    assert report["lost_between_s"] == [[0.0, 0.25]]


def test_events_dropped_without_a_line_are_lost_too(tracefs: FakeTracefs) -> None:
    tracefs.overrun = 42
    (warning,) = record(tracefs, traced(tracefs)).warnings()
    assert "LOST 42 EVENTS:" in warning


def test_many_gaps_are_not_all_said(tracefs: FakeTracefs) -> None:
    lines = [
        line
        for i in range(6)
        for line in (issue(1_000_000 * i, "R", 0, 8, cpu=0), "CPU:0 [LOST 1 EVENTS]", issue(1_000_000 * i + 5, "R", 0, 8))
    ]
    (warning,) = record(tracefs, traced(tracefs, lines)).warnings()
    assert warning.startswith("LOST 6 EVENTS (0.000 to 0.000 s, 1.000 to 1.000 s, 2.000 to 2.000 s and 3 times more)")


def test_a_failing_command_leaves_its_trace(tracefs: FakeTracefs, tmp_path: Path) -> None:
    recorded = record(tracefs, traced(tracefs, then="exit 3"))
    assert recorded.warnings() == ["sh failed with exit code 3; the trace holds what it did"]
    assert recorded.save(tmp_path / "t.csv")["exit_code"] == 3
    assert (tmp_path / "t.csv").read_text() == TRACE


def test_a_command_that_cannot_be_run(tracefs: FakeTracefs, tmp_path: Path) -> None:
    with pytest.raises(Error, match=f"{tmp_path}: cannot be run"):
        record(tracefs, [str(tmp_path)])


@pytest.mark.parametrize(
    ("then", "code", "patience_s"),
    [
        ("kill -INT $PPID; exec sleep 60000", 143, 2),  # told to end as it did not by itself
        ("trap 'kill $!; exit 7' TERM; kill -TERM $PPID; sleep 60000 & wait", 7, PATIENCE_S),
        ("trap '' TERM; kill -INT $PPID; exec sleep 60000", 137, 0.2),  # and killed as it would not
        ("kill -TERM $PPID; exec sleep 60000", 143, PATIENCE_S),
    ],
)
def test_ctrl_c_ends_the_command_and_keeps_the_trace(tracefs: FakeTracefs, tmp_path: Path, then: str, code: int, patience_s: float) -> None:
    recorded = record(tracefs, traced(tracefs, then=then), patience_s=patience_s)
    assert recorded.interrupted
    assert recorded.exit_code == code
    assert recorded.warnings() == []
    assert recorded.duration_s < 60000
    assert recorded.save(tmp_path / "t.csv")["interrupted"] is True
    assert (tmp_path / "t.csv").read_text() == TRACE


def test_a_second_ctrl_c_gives_up(tracefs: FakeTracefs) -> None:
    command = traced(tracefs, then="while :; do kill -INT $PPID; sleep 0.3; done")
    with pytest.raises(KeyboardInterrupt):
        record(tracefs, command, patience_s=PATIENCE_S)
    assert tracefs.made["tracing_on"] == "0"


def test_no_request_says_where_to_look(tracefs: FakeTracefs, tmp_path: Path) -> None:
    for lines in ([], [issue(1, "FF", 0, 0)]):  # the flush comes of writing out
        recorded = record(tracefs, traced(tracefs, lines))
        with pytest.raises(Error, match=r"no request reached /dev/sda while sh ran: .*findmnt.*O_DIRECT"):
            recorded.save(tmp_path / "t.csv")
    recorded = record(tracefs, traced(tracefs, [issue(1, "W", 0, 8)]), PART)
    with pytest.raises(Error, match=r"\(1 reached other parts of the disk\)"):
        recorded.save(tmp_path / "t.csv")
    assert not (tmp_path / "t.csv").exists()


def test_a_kernel_that_refuses(tracefs: FakeTracefs, monkeypatch: pytest.MonkeyPatch) -> None:
    write = Path.write_text

    def refusing(path: Path, text: str) -> int:
        if path.name == "buffer_size_kb":
            raise OSError(12, "Cannot allocate memory")
        return write(path, text)

    monkeypatch.setattr(Path, "write_text", refusing)
    with pytest.raises(Error, match=r"buffer_size_kb: the kernel does not take 2048: .*smaller --buffer-mb"):
        record(tracefs, ["true"])


def test_an_instance_that_stays_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stuck(FakeTracefs):
        def remove(self, _path: Path) -> None:
            raise OSError(16, "Device or resource busy")

    monkeypatch.setattr("ssdlab.system.recording.tracefs._PATIENCE_S", 0.1)
    stuck = Stuck(tmp_path)
    recorded = record(stuck, traced(stuck))
    (left,) = stuck.left()
    assert recorded.warnings() == [f"the kernel would not remove {left}: remove it with `rmdir {left}`"]
    with pytest.raises(Error, match="cannot be made: File exists"):
        record(stuck, ["true"])


# --- the command ---------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def command(tracefs: FakeTracefs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeTracefs:
    """Redirects the command to the simulated folders."""
    monkeypatch.setattr(recording, "check_system", lambda: None)
    monkeypatch.setattr(recording, "find_device", lambda _path: DISK)
    monkeypatch.setattr(recording, "find_tracefs", lambda: tracefs)
    monkeypatch.setattr(os, "sync", lambda: None)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tracefs


def called(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Runs the command in this process; returns its exit code."""
    monkeypatch.setattr(sys, "argv", ["ssdlab", "trace", "record", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_the_command(command: FakeTracefs, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    assert called(monkeypatch, "--dev", "/dev/sda", "--out", "t.csv.zst", "--", *traced(command, then="echo its own words")) == 0
    out, err = capfd.readouterr()
    assert err == "its own words\n"
    lines = [" ".join(line.split()) for line in out.splitlines()]
    for line in ("reads 1", "span 2.50 s", "Recording", "lost events 0", "longest gap 2.500 s", "idle share 100.0%"):
        assert line in lines
    assert "ssdlab run --trace t.csv.zst --fit trace" in lines
    assert ssdlab.trace_info("t.csv.zst")["requests"] == {"read": 1, "write": 1, "trim": 1, "flush": 1}


def test_the_command_as_json(command: FakeTracefs, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    run = traced(command, then="echo its own words; exit 3")
    assert called(monkeypatch, "--json", "--dev", "/dev/sda", "--out", "t.parquet", *run) == 0
    out, err = capfd.readouterr()
    assert err == "its own words\nwarning: sh failed with exit code 3; the trace holds what it did\n"
    told = json.loads(out)
    assert told["file"] == "t.parquet"
    assert told["trace"]["requests"]["write"] == 1
    assert told["recording"]["exit_code"] == 3


def test_ctrl_c_during_the_command(command: FakeTracefs, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    run = traced(command, then="kill -TERM $PPID; exec sleep 60000")
    assert called(monkeypatch, "--quiet", "--dev", "/dev/sda", "--out", "t.csv", "--", *run) == 130
    assert capfd.readouterr() == ("", "error: interrupted; the trace holds what was recorded until then\n")
    assert Path("t.csv").read_text() == TRACE


def test_a_trace_that_cannot_be_written_is_kept(
    command: FakeTracefs, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("out").mkdir()
    assert called(monkeypatch, "--dev", "/dev/sda", "--out", "out/t.csv", "--", *traced(command, then="rmdir out")) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("error: out/t.csv: ")
    kept = Path(err.strip().rpartition("kept as ")[2])
    assert ssdlab.trace_info(kept)["requests"]["write"] == 1


def test_refusals_of_the_command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(recording, "check_system", lambda: recorder.check_system("linux", 0))
    for arguments, message in [
        (["--out", "t.csv"], "COMMAND"),
        (["--out", "t.txt", "--", "true"], ".parquet"),
        (["--out", "t.csv", "--", "no-such-program"], "no such program"),
        (["--out", "t.csv", "--buffer-mb", "0", "--", "true"], "--buffer-mb"),
        (["--out", "t.csv", "--", "true"], "expected a block device"),
    ]:
        code = called(monkeypatch, "--dev", os.devnull, *arguments)
        assert message in Ended(code, *capfd.readouterr()).failed(2)
    monkeypatch.setattr(recording, "check_system", lambda: recorder.check_system("win32", 0))
    code = called(monkeypatch, "--dev", "C:", "--out", "t.csv", "--", "true")
    assert "on Linux only, and this is win32" in Ended(code, *capfd.readouterr()).failed(1)


# --- a real kernel -------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[str]:
    """A block device of 4 MiB, if the machine's kernel allows tracing."""
    if sys.platform != "linux" or os.geteuid() != 0 or not all(map(shutil.which, ("losetup", "unshare", "mount", "dd"))):
        pytest.skip("a real recording needs Linux, root, losetup, unshare, mount and dd")
    look = ["sh", "-c", f"{MOUNT} && test -d /sys/kernel/tracing/events/block/block_rq_issue"]
    if subprocess.run(["unshare", "-m", *look], capture_output=True, check=False).returncode != 0:
        pytest.skip("this kernel does not let itself be traced")
    (tmp_path / "disk").write_bytes(bytes(4 << 20))
    made = subprocess.run(["losetup", "--find", "--show", tmp_path / "disk"], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"no loop device: {made.stderr.strip()}")
    yield made.stdout.strip()
    subprocess.run(["losetup", "--detach", made.stdout.strip()], check=True)


MOUNT = "mount -t tracefs tracefs /sys/kernel/tracing"  # in a view of the file systems that ends with the process


def test_a_real_recording(loop: str, tmp_path: Path) -> None:
    work = (
        f"dd if=/dev/zero of={loop} bs=64k seek=8 count=2 oflag=direct conv=notrunc && "
        f"dd if={loop} of=/dev/null bs=4k skip=3 count=2 iflag=direct && printf x | dd of={loop} conv=notrunc"
    )
    record = [sys.executable, "-m", "ssdlab", "trace", "record", "--dev", loop, "--out", "t.csv", "--buffer-mb", "1", "--json"]
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", f'{MOUNT} && "$@" && ls /sys/kernel/tracing/instances >&2', "sh", *record, "--", "sh", "-c", work],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)["recording"]
    assert (report["exit_code"], report["lost_events"], report["device_size_bytes"]) == (0, 0, 4 << 20)
    assert "ssdlab-" not in done.stderr  # the instance is gone
    times, requests = zip(*(line.split(",", 1) for line in (tmp_path / "t.csv").read_text().splitlines()[1:]), strict=True)
    assert list(map(int, times)) == sorted(map(int, times))
    # The last write waits in memory until it is written out behind the command. Others may look at the device in between.
    wanted = iter(requests)
    for request in ("W,524288,65536", "W,589824,65536", "R,12288,4096", "R,16384,4096", "W,0,4096"):
        assert request in wanted, requests
