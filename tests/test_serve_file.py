"""A drive served as a file in a FUSE mount, used by plain system calls. For databases see test_serve_databases.py."""

from __future__ import annotations

import contextlib
import csv
import ctypes
import errno
import mmap
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import ssdlab
from conftest import DRIVE, PATIENCE_S, Ssdlab, options
from programs import ended_well, tool
from served_file import FileDrive, is_mounted, may_mount, served, why_no_mount

KEEP_SIZE, PUNCH_HOLE, COLLAPSE_RANGE, ZERO_RANGE = 1, 2, 8, 16
LIBC = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def opened(file: Path, flags: int = os.O_RDWR) -> Iterator[int]:
    descriptor = os.open(file, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def allocate(descriptor: int, mode: int, offset: int, length: int) -> None:
    """fallocate(2), whose modes Python does not support."""
    arguments = [ctypes.c_int(descriptor), ctypes.c_int(mode), ctypes.c_int64(offset), ctypes.c_int64(length)]
    if LIBC.fallocate(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def operations(record: Path) -> list[tuple[str, int, int]]:
    with record.open() as text:
        return [(row["op"], int(row["offset_bytes"]), int(row["size_bytes"])) for row in csv.DictReader(text)]


def test_bytes_are_what_was_written_at_any_offset_and_of_any_length(tmp_path: Path) -> None:
    """Random requests beside an array of bytes."""
    chance = random.Random(1)
    with served(tmp_path, "--record", "record.csv") as drive, opened(drive.file) as file:
        size = os.fstat(file).st_size
        expected = bytearray(size)
        for _ in range(400):
            offset, length = chance.randrange(size - 30_000), chance.randrange(1, 30_000)
            match chance.choice(["read", "write", "write", "hole", "zero"]):
                case "read":
                    assert os.pread(file, length, offset) == expected[offset : offset + length]
                case "write":
                    data = chance.randbytes(length)
                    assert os.pwrite(file, data, offset) == length
                    expected[offset : offset + length] = data
                case "hole":
                    allocate(file, PUNCH_HOLE | KEEP_SIZE, offset, length)
                    expected[offset : offset + length] = bytes(length)
                case "zero":
                    allocate(file, ZERO_RANGE, offset, length)
                    expected[offset : offset + length] = bytes(length)
        assert drive.file.read_bytes() == expected
    requests = drive.result["requests"]
    assert all(requests[kind] > 30 for kind in ("read", "write", "trim"))
    # A replay is the same run.
    for _ in range(2):
        assert ssdlab.run(set=DRIVE, trace=tmp_path / "record.csv")["digest"] == drive.result["digest"]


def test_each_system_call_is_its_request(tmp_path: Path) -> None:
    with served(tmp_path, "--record", "record.csv") as drive:
        with opened(drive.file) as file:
            os.pwrite(file, b"a" * 100, 8192)
            os.fsync(file)
            os.fdatasync(file)
            allocate(file, PUNCH_HOLE | KEEP_SIZE, 8192, 4096)
            allocate(file, ZERO_RANGE, 16_384, 4096)
            allocate(file, 0, 0, 4096)  # a drive has all its room already
            assert os.pread(file, 100, 8192) == bytes(100)
        with opened(drive.file, os.O_RDWR | os.O_DSYNC) as file:
            os.pwrite(file, b"b" * 512, 0)
        with opened(drive.file) as file:
            os.pwritev(file, [b"c" * 10], 4096, os.RWF_DSYNC)
            with pytest.raises(OSError, match="No such device"):
                mmap.mmap(file, 4096)
        with opened(drive.file, os.O_RDWR | os.O_DIRECT) as file, mmap.mmap(-1, 1 << 20) as aligned:
            assert os.preadv(file, [aligned], 0) == 1 << 20
            assert aligned[:513] == b"b" * 512 + b"\0"
    assert operations(tmp_path / "record.csv") == [
        ("W", 8192, 100),
        ("F", 0, 0),
        ("F", 0, 0),
        ("T", 8192, 4096),
        ("W", 16_384, 4096),
        ("R", 8192, 100),
        ("W", 0, 512),
        ("F", 0, 0),
        ("W", 4096, 10),
        ("F", 0, 0),
        ("R", 0, 1 << 20),
    ]


def test_the_file_is_its_owners_and_as_long_as_the_drive(tmp_path: Path) -> None:
    with served(tmp_path, "--data", "bytes.img") as drive:
        about = drive.file.stat()
        assert (about.st_mode & 0o777, about.st_uid) == (0o600, os.geteuid())
        assert drive.mount.stat().st_mode & 0o777 == 0o500
        assert about.st_size == (tmp_path / "bytes.img").stat().st_size
        assert [entry.name for entry in drive.mount.iterdir()] == ["drive"]
        room = os.statvfs(drive.mount)
        assert room.f_blocks * room.f_frsize == about.st_size
        drive.file.touch()


def test_what_a_drive_cannot_do_is_refused_and_the_program_goes_on(tmp_path: Path) -> None:
    with served(tmp_path) as drive, opened(drive.file) as file:
        size = os.fstat(file).st_size
        refusals = [
            (errno.EPERM, lambda: os.ftruncate(file, 5)),
            (errno.EPERM, lambda: drive.file.write_bytes(b"replaced")),
            (errno.EPERM, lambda: drive.file.chmod(0o644)),
            (errno.EPERM, drive.file.unlink),
            (errno.EPERM, lambda: drive.file.rename(drive.mount / "other")),
            (errno.ENOENT, (drive.mount / "other").read_bytes),
            (errno.ENOSPC, lambda: os.pwrite(file, b"ab", size - 1)),
            (errno.ENOSPC, lambda: os.pwrite(file, b"ab", size + 9)),
            (errno.ENOSPC, lambda: allocate(file, 0, 0, size + 1)),
            (errno.EOPNOTSUPP, lambda: allocate(file, COLLAPSE_RANGE, 0, 4096)),
        ]
        if os.geteuid() == 0:  # others are not allowed to write in the folder at all
            refusals += [(errno.EPERM, (drive.mount / "other").touch), (errno.EPERM, (drive.mount / "other").mkdir)]
        for code, refused in refusals:
            with pytest.raises(OSError, match=os.strerror(code)):
                refused()
        os.ftruncate(file, size)
        os.pwrite(file, b"ab", size - 2)
        assert os.pread(file, 100, size - 3) == b"\0ab"
        assert os.pread(file, 100, size) == b""
        allocate(file, PUNCH_HOLE | KEEP_SIZE, size - 1, 4096)
        assert os.pread(file, 100, size - 3) == b"\0a\0"


def test_requests_of_several_programs_are_under_way_together(tmp_path: Path) -> None:
    """Eight writers, and a drive so slow that their writes meet: one after another would take longer than it took."""
    count, each, scale = 8, 2, 200
    with served(tmp_path, "--record", "record.csv", scale=scale) as drive, opened(drive.file) as file:

        def write(number: int) -> None:
            for turn in range(each):
                os.pwrite(file, bytes([number + 1]) * 4096, (turn * count + number) * 4096)

        writers = [threading.Thread(target=write, args=(number,)) for number in range(count)]
        began = time.monotonic()
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        spent = time.monotonic() - began
        for turn in range(each):
            assert os.pread(file, count * 4096, turn * count * 4096) == b"".join(bytes([n + 1]) * 4096 for n in range(count))
    together = drive.result["latency_ns"]["write"]["mean"] * scale / 1e9 * count * each
    assert together > 2 * spent


def test_answers_come_when_the_simulated_drive_is_done(tmp_path: Path) -> None:
    with served(tmp_path, scale=100) as drive, opened(drive.file) as file:
        spent = []
        for number in range(20):
            began = time.monotonic()
            os.pwrite(file, bytes(4096), number * 4096)
            spent.append(time.monotonic() - began)
    assert min(spent) >= drive.result["latency_ns"]["write"]["min"] * 100 / 1e9
    assert drive.result["late"]["scale"] == 100


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_bytes_outlive_the_server_and_so_does_nothing_else(tmp_path: Path, number: int) -> None:
    words = ["--data", "bytes.img", "--record", "record.csv"]
    drive = FileDrive(tmp_path, words, scale=0.01, drive=options(DRIVE))
    with opened(drive.file) as file:
        os.pwrite(file, b"kept" * 500, 12_345)
    code, said = drive.stop(number)
    assert said == ""
    if number == signal.SIGKILL:
        # The kernel keeps the mount: its readers get an error, and the next server removes it.
        assert code == -number
        assert is_mounted(drive.mount)
        with pytest.raises(OSError, match="not connected"):
            drive.file.stat()
    else:
        assert code == 0
        assert not is_mounted(drive.mount)
    assert (tmp_path / "record.csv").exists() == (number != signal.SIGKILL)
    with served(tmp_path, *words) as again, opened(again.file) as file:
        assert os.pread(file, 2000, 12_345) == b"kept" * 500


def test_a_drive_that_ends_while_its_file_is_open_is_a_drive_unplugged(tmp_path: Path) -> None:
    drive = FileDrive(tmp_path, ["--record", "record.csv"], scale=0.01, drive=[])
    with opened(drive.file) as file:
        os.pwrite(file, b"a" * 4096, 0)
        time.sleep(0.3)  # it is told of every 80 ms
        code, said = drive.stop()
        assert code == 0
        assert said == f"warning: {drive.file} was still open: programs and file systems that use it get errors from now on\n"
        assert not is_mounted(drive.mount)
        for attempt in (lambda: os.pread(file, 10, 0), lambda: os.pwrite(file, b"b", 0), lambda: os.fsync(file)):
            with pytest.raises(OSError, match=r"not connected|Input/output"):
                attempt()
    assert operations(tmp_path / "record.csv") == [("W", 0, 4096)]


def test_a_program_killed_while_it_writes_harms_nobody(tmp_path: Path) -> None:
    writes = "import os, sys\nfile = os.open(sys.argv[1], os.O_WRONLY)\nwhile True:\n    print(os.pwrite(file, b'x' * 4096, 0), flush=True)"
    with served(tmp_path, scale=10) as drive, opened(drive.file) as file:
        for _ in range(5):
            with subprocess.Popen([sys.executable, "-c", writes, str(drive.file)], stdout=subprocess.PIPE) as writer:
                assert writer.stdout is not None
                assert writer.stdout.readline() == b"4096\n"  # it is at the next one now
                writer.kill()
        assert os.pread(file, 4096, 0) == b"x" * 4096
        os.pwrite(file, b"y" * 4096, 0)
        os.fsync(file)
        assert os.pread(file, 4097, 0) == b"y" * 4096 + b"\0"


def test_a_full_disk_under_the_data_is_told_to_programs(tmp_path: Path, small_disk: Path) -> None:
    with served(tmp_path, "--data", str(small_disk / "bytes.img")) as drive, opened(drive.file) as file:
        os.pwrite(file, b"a" * 4096, 0)
        with pytest.raises(OSError, match="No space left"):
            os.pwrite(file, b"b" * (1 << 20), 4096)
        assert os.pread(file, 4096, 0) == b"a" * 4096
        allocate(file, PUNCH_HOLE | KEEP_SIZE, 4096, 1 << 20)  # there is room again
        os.pwrite(file, b"c" * 4096, 8192)
        assert os.pread(file, 8192, 4096) == bytes(4096) + b"c" * 4096


def test_a_power_cut_takes_what_was_not_flushed(tmp_path: Path) -> None:
    # A program takes two units, so that one alone stays in the buffer, which is volatile.
    words = options(DRIVE | {"buffer.bytes": 262_144, "buffer.protected": "false", "device.pages_per_program": 2})
    drive = FileDrive(tmp_path, ["--data", "bytes.img"], scale=0.01, drive=words)
    with opened(drive.file) as file:
        os.pwrite(file, b"a" * 4096, 0)
        os.fsync(file)
        os.pwrite(file, b"b" * 4096, 0)
        assert os.pread(file, 4096, 0) == b"b" * 4096
        assert drive.stop(signal.SIGUSR1) == (0, "")
        with pytest.raises(OSError, match=r"not connected|Input/output"):
            os.pread(file, 4096, 0)
    about = drive.result["power_cut"]
    assert (about["lost_writes"], about["lost_bytes"]) == (1, 4096)
    assert not is_mounted(drive.mount)
    with served(tmp_path, "--data", "bytes.img", drive=words) as again:
        assert again.file.read_bytes()[:4096] == b"a" * 4096


def test_who_unmounts_the_file_ends_the_drive(tmp_path: Path) -> None:
    drive = FileDrive(tmp_path, ["--record", "record.csv"], scale=0.01, drive=[])
    with opened(drive.file) as file:
        os.pwrite(file, b"a", 0)
    ended_well([tool("fusermount3"), "-u", drive.mount] if os.geteuid() else ["umount", drive.mount])
    out, said = drive.process.communicate(timeout=PATIENCE_S)
    assert (drive.process.returncode, said) == (0, "")
    assert '"digest"' in out
    assert operations(tmp_path / "record.csv") == [("W", 0, 1)]


def test_one_drive_at_a_mount_point(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    with served(tmp_path):
        said = ssdlab_command("serve", "--file", "mount").failed(2)
        assert said == "mount: something is mounted there already; unmount it, or take another folder"


def test_what_cannot_be_a_mount_point_is_said(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "text").write_text("data")
    (tmp_path / "text").write_text("data")
    (tmp_path / "empty").mkdir()
    cases = [
        (["--scheme", "pgc"], ["--nbd", "--file"]),
        (["--nbd", "unix:a.sock", "--file", "empty"], ["one place"]),
        (["--file", "none"], ["none: there is no such folder"]),
        (["--file", "text"], ["text: not a folder"]),
        (["--file", "full"], ["full: not an empty folder"]),
        (["--file", "/proc"], ["/proc: something is mounted there already"]),
    ]
    if why_no_mount() is None:
        cases += [
            (["--file", "empty", "--data", "empty/drive"], ["empty/drive: it would be inside the mount"]),
            (["--file", "empty", "--record", "empty/record.csv"], ["empty/record.csv: it would be inside the mount"]),
            (["--file", "empty", "--scale", "0"], ["scale = 0"]),
        ]
    if why_no_mount() is None and may_mount():  # said when it is mounted
        cases += [(["--file", "empty", "--record", "a.parquet"], ["a.parquet", ".csv"])]
    for words, expected in cases:
        said = ssdlab_command("serve", *words).failed(2)
        assert all(word in said for word in expected), said
    assert not list((tmp_path / "empty").iterdir())
    assert not is_mounted(tmp_path / "empty")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "full", "text"]


def without_permission(words: list[str], folder: Path, before: str = "true", **more: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in a mount namespace of its own, without the capability to mount."""
    if reason := why_no_mount():
        pytest.skip(reason)
    unshare, setpriv = tool("unshare"), tool("setpriv")
    if os.geteuid() != 0 or not may_mount():
        pytest.skip("taking a permission away needs root, and a mount name space of its own the permission to mount")
    drop = [setpriv, "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"]
    line = f'{before} && exec "$@"'
    command = [unshare, "--mount", "sh", "-c", line, "sh", *drop, sys.executable, "-m", "ssdlab", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=PATIENCE_S, check=False, env={**os.environ, **more})


def test_who_may_not_mount_is_told_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "mount").mkdir()
    words = ["serve", "--file", "mount"]
    done = without_permission(words, tmp_path, FUSERMOUNT_PATH="/nowhere/fusermount3")
    assert done.returncode == 2
    said = "error: mount: cannot mount there: this user needs fusermount3 for it, which is not installed (package fuse3); "
    assert done.stderr.startswith(said), done.stderr
    if Path("/dev/null").stat().st_rdev:  # a folder of devices in place of /dev, without FUSE
        bare = "mkdir -p bare && touch bare/null && mount --bind /dev/null bare/null && mount --rbind bare /dev"
        done = without_permission(words, tmp_path, bare)
        assert done.returncode == 2
        assert done.stderr == "error: /dev/fuse is missing: this system has no FUSE, or keeps it from this process; take --nbd\n"
    refused = without_permission(words, tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: mount: cannot mount there: ")
    assert refused.stderr.count("\n") == 1


def test_fio_verifies_what_it_wrote_with_many_requests_under_way(tmp_path: Path) -> None:
    fio = tool("fio")
    with served(tmp_path, "--record", "record.csv") as drive:
        words = ["--direct=1", "--rw=randrw", "--bs=4k", "--size=2m", "--verify=crc32c", "--ioengine=libaio", "--iodepth=16"]
        ended_well([fio, "--name=job", f"--filename={drive.file}", *words], cwd=tmp_path)
    assert drive.result["requests"]["write"] > 100
    assert ssdlab.run(set=DRIVE, trace=tmp_path / "record.csv")["digest"] == drive.result["digest"]
