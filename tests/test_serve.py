"""A drive served to programs: with the tests' own client, and with other clients if they are installed."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import ssdlab
from conftest import DRIVE, PATIENCE_S, options
from nbd_client import FLUSH, FUA, LEAVE, NO_HOLE, READ, REQUEST, TRIM, WRITE, ZEROES, Client, RefusedError
from programs import ended_well, tool
from server import Server

BYTES = 4 << 20
"""Approximate exported bytes of the small drive of the tests."""


class Drive(Server):
    """A running server.

    Attributes:
        socket: path of its socket.
    """

    def __init__(self, folder: Path, words: Sequence[str], *, scale: float = 0.01) -> None:
        self.socket = str(folder / "drive.sock")
        small = {key: value for key, value in DRIVE.items() if "--size" not in words or key != "device.blocks_per_plane"}
        words = ["serve", "--nbd", f"unix:{self.socket}", "--scale", str(scale), "--json", *options(small), *words]
        super().__init__(folder, words)
        assert self.process.stderr is not None
        self.said = self.process.stderr.readline()
        if not self.said.startswith(f"serving at nbd+unix:///?socket={self.socket} "):
            self.process.terminate()
            raise AssertionError(self.said + self.process.stderr.read())


@contextlib.contextmanager
def served(folder: Path, *words: str, scale: float = 0.01) -> Iterator[Drive]:
    """Serves a drive, and checks that it ends regularly."""
    drive = Drive(folder, words, scale=scale)
    try:
        yield drive
        code, said = drive.stop()
        assert (code, said) == (0, "")
    finally:
        drive.process.kill()
        drive.process.communicate()


def test_bytes_are_what_was_written_whatever_is_asked_and_by_whom(tmp_path: Path) -> None:
    """Random requests of several clients, many at a time, beside an array of bytes."""
    chance = random.Random(1)
    with served(tmp_path, "--record", "record.csv") as drive, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(Client(drive.socket)) for _ in range(3)]
        size = clients[0].bytes
        assert size > BYTES / 2
        assert clients[0].flags == 0b101101101  # flush, FUA, trim, zeros, several connections
        expected = bytearray(size)
        for _ in range(300):
            # At a time only requests that do not overlap.
            places = chance.sample(range(size // 65_536), 6)
            waiting = []
            for place in places:
                offset, length = place * 65_536 + chance.randrange(30_000), chance.randrange(1, 30_000)
                client, kind = chance.choice(clients), chance.choice([READ, READ, WRITE, WRITE, TRIM, ZEROES])
                flags = chance.choice([0, FUA]) | (chance.choice([0, NO_HOLE]) if kind == ZEROES else 0)
                data = chance.randbytes(length) if kind == WRITE else b""
                waiting.append((client, client.send(kind, offset, 0 if data else length, data, flags), kind, offset, length))
                if kind != READ:
                    expected[offset : offset + length] = data or bytes(length)
            for client, cookie, kind, offset, length in waiting:
                answer = client.wait(cookie)
                assert kind != READ or answer == expected[offset : offset + length]
            chance.choice(clients).ask(FLUSH)
        assert clients[1].read(0, size) == expected
    result = drive.result
    assert result["requests"]["write"] > 400
    assert result["requests"]["flush"] > 300  # FUA is a flush behind what it belongs to
    assert result["requests"]["trim"] > 200
    assert result["late"]["scale"] == 0.01
    assert result["late"]["max"] >= result["late"]["mean"] > 0
    assert not Path(drive.socket).exists()


@pytest.mark.parametrize("scheme", ["npgc", "gcar-lru+pgc"])
def test_a_replay_of_the_record_is_the_same_run(tmp_path: Path, scheme: str) -> None:
    chance = random.Random(2)
    words = ["--scheme", scheme, "--record", "record.csv", "--seed", "7", "--out", "live", "--log-requests"]
    with served(tmp_path, *words) as drive, Client(drive.socket) as client:
        for _ in range(400):
            waiting = []
            for _ in range(chance.randrange(1, 8)):
                kind, offset = chance.choice([READ, WRITE, WRITE, TRIM]), chance.randrange(client.bytes // 4096 - 4) * 4096
                length = chance.choice([512, 4096, 16_384])
                waiting.append(client.send(kind, offset, 0 if kind == WRITE else length, bytes(length) if kind == WRITE else b""))
            for cookie in waiting:
                client.wait(cookie)
    live = drive.result
    assert live["gc"]["jobs"] > 0
    for _ in range(2):
        again = ssdlab.run(scheme=scheme, seed=7, set=DRIVE, trace=tmp_path / "record.csv").to_dict()
        assert again["digest"] == live["digest"]
        assert again["latency_ns"] == live["latency_ns"]
        # Shares of time differ: a replay ends with its last request, and the drive later, with the jobs under way then, one a pool.
        assert 0 <= live["gc"]["jobs"] - again["gc"]["jobs"] <= 2
    other = ssdlab.run(scheme="fpgc", seed=7, set=DRIVE, trace=tmp_path / "record.csv")
    assert other["requests"]["write"] == live["requests"]["write"]
    # All that a run gives: its folder can be opened, and says how to have the run again.
    kept = ssdlab.load(tmp_path / "live")
    assert kept.digest == live["digest"]
    assert "--trace record.csv" in kept["command"]
    assert (tmp_path / "live" / "report.html").is_file()
    assert (tmp_path / "live" / "requests.parquet").is_file()


def test_an_export_is_a_placement_handle(tmp_path: Path) -> None:
    words = ["--record", "record.csv", *options({"ftl.placement": "handles", "ftl.handles": 3})]
    with (
        served(tmp_path, *words) as drive,
        Client(drive.socket) as plain,
        Client(drive.socket, export="1") as one,
        Client(drive.socket, export="2") as two,
    ):
        high = plain.bytes // 4096 * 3 // 4 * 4096
        for client, offset in [(plain, 0), (plain, high), (one, 0), (two, 4096), (two, high)]:
            client.write(offset, bytes(4096))
        one.read(0, 4096)
        with socket.socket(socket.AF_UNIX) as other:
            other.connect(drive.socket)
            name = struct.pack(">I", 1) + b"3" + struct.pack(">H", 0)
            other.sendall(struct.pack(">I", 3) + struct.pack(">QII", 0x49484156454F5054, 7, len(name)) + name)
            with other.makefile("rb") as reply:
                reply.read(18)
                _, _, kind, length = struct.unpack(">QIII", reply.read(20))
                assert kind == 0x80000006
                assert reply.read(length).decode() == "expected an empty name, or the number of a placement handle, 0 to 2"
    with (tmp_path / "record.csv").open() as file:
        assert [row["handle"] for row in csv.DictReader(file)] == ["", "", "1", "2", "2", ""]
    keys = {**DRIVE, "ftl.placement": "handles", "ftl.handles": 3}
    again = ssdlab.run(scheme=None, set=keys, trace=tmp_path / "record.csv").to_dict()
    assert again["digest"] == drive.result["digest"]
    assert again["streams"] == drive.result["streams"]


def test_the_record_has_simulated_times(tmp_path: Path) -> None:
    with served(tmp_path, "--record", "record.csv", scale=10) as drive, Client(drive.socket) as client:
        began = time.monotonic()
        client.write(0, bytes(4096))
        time.sleep(1)
        client.read(0, 4096)
        spent = time.monotonic() - began
    with (tmp_path / "record.csv").open() as text:
        rows = list(csv.DictReader(text))
    assert [row["op"] for row in rows] == ["W", "R"]
    between_s = (float(rows[1]["timestamp_us"]) - float(rows[0]["timestamp_us"])) / 1e6
    assert 0.1 <= between_s <= spent / 10 + 0.01


def test_late_answers_are_said_beside_every_number(tmp_path: Path) -> None:
    """A write takes 0.2 s. The server is stopped for half a second while one is under way, whose answer is late by 0.4 s."""
    with served(tmp_path, scale=300) as drive, Client(drive.socket) as client:
        for place in range(4):
            cookie = client.send(WRITE, place * 16_384, 16_384, bytes(16_384))
            if place == 2:
                time.sleep(0.1)  # until it has read the request
                drive.process.send_signal(signal.SIGSTOP)
                time.sleep(0.5)
                drive.process.send_signal(signal.SIGCONT)
            client.wait(cookie)
    late = drive.result["late"]
    assert late["count"] >= 1
    assert late["max"] > 100e6
    (remark,) = [remark for remark in drive.result["remarks"] if remark["code"] == "served-late"]
    assert remark["severity"] == "warning"
    assert f"{late['count']} of 4 answers came more than 100 us late" in remark["sentence"]
    scale = int(re.findall(r"--scale (\d+)", remark["remedy"])[0])
    assert scale * drive.result["latency_ns"]["all"]["mean"] >= 10 * late["mean"]
    (tmp_path / "late").mkdir()
    (tmp_path / "late" / "result.json").write_text(json.dumps(drive.result))
    lines = str(ssdlab.load(tmp_path / "late")).splitlines()
    letter = next(line for line in lines if "(served-late)" in line)[1]
    for heading in ("IOPS", "Response times", "Garbage collection"):
        line = next(line for line in lines if heading in line)
        assert letter in line.partition("[")[2].partition("]")[0].split(", "), heading


def test_answers_come_when_the_simulated_drive_is_done(tmp_path: Path) -> None:
    """At a tenth of the speed a read of 80 us takes at least 0.8 ms: an answer is never early."""
    with served(tmp_path, "--record", "record.csv", scale=100) as drive, Client(drive.socket) as client:
        spent = []
        for number in range(20):
            began = time.monotonic()
            client.write(number * 4096, bytes(4096))
            spent.append(time.monotonic() - began)
    shortest_s = drive.result["latency_ns"]["write"]["min"] * 100 / 1e9
    assert min(spent) >= shortest_s
    # The mean that programs see is the simulated one and what the host adds; it is in the result.
    late_s = drive.result["late"]["mean"] / 1e9
    assert sum(spent) / 20 >= drive.result["latency_ns"]["write"]["mean"] * 100 / 1e9
    assert 0 <= late_s <= sum(spent) / 20


def test_what_cannot_be_met_is_refused_and_the_client_goes_on(tmp_path: Path) -> None:
    with served(tmp_path) as drive, Client(drive.socket) as client:
        end = client.bytes
        for kind, offset, length, code in [
            (READ, end, 1, 22),
            (READ, 2**64 - 1, 2, 22),
            (TRIM, end - 1, 2, 22),
            (ZEROES, end, 1, 28),
            (99, 0, 1, 22),
        ]:
            with pytest.raises(RefusedError) as refused:
                client.ask(kind, offset, length)
            assert refused.value.code == code
        with pytest.raises(RefusedError) as refused:
            client.write(end - 1, b"ab")
        assert refused.value.code == 28
        client.write(end - 2, b"ab")
        assert client.read(end - 3, 3) == b"\0ab"
        client.ask(READ, 0, 0)
        client.ask(TRIM, end, 0)


def test_clients_that_vanish_or_talk_nonsense_harm_nobody(tmp_path: Path) -> None:
    chance = random.Random(3)
    with served(tmp_path) as drive, Client(drive.socket) as other:
        other.write(0, b"kept" * 1000)
        with Client(drive.socket) as client:  # killed in the middle of a write: it has not been asked for yet
            client.socket.sendall(struct.pack(">IHHQQI", REQUEST, 0, WRITE, 1, 0, 4096) + bytes(1000))
        for _ in range(20):  # killed while it waits
            with Client(drive.socket) as client:
                client.send(WRITE, 8192, 0, bytes(65_536))
                client.send(READ, 0, 65_536)
        for _ in range(60):
            with Client(drive.socket, agree=False) as client, contextlib.suppress(ConnectionError, OSError):
                client.socket.sendall(chance.randbytes(chance.randrange(200)))
                client.socket.shutdown(socket.SHUT_WR)
                while client.socket.recv(4096):
                    pass
        with Client(drive.socket) as client:
            client.socket.sendall(b"no request at all, not even nearly one")
            with pytest.raises(ConnectionError):
                client.take(1)
        with Client(drive.socket) as client:  # longer than the limit that clients are given
            client.socket.sendall(struct.pack(">IHHQQI", REQUEST, 0, WRITE, 1, 0, 2**31))
            with pytest.raises(ConnectionError):
                client.take(1)
        with Client(drive.socket) as client:
            client.send(READ, 0, 4)
            client.socket.sendall(struct.pack(">IHHQQI", REQUEST, 0, LEAVE, 9, 0, 0))
            assert client.wait(1) == b"kept"
            with pytest.raises(ConnectionError):
                client.take(1)
        assert other.read(0, 4000) == b"kept" * 1000


def test_a_hundred_connections(tmp_path: Path) -> None:
    with served(tmp_path) as drive, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(Client(drive.socket)) for _ in range(100)]
        waiting = [client.send(WRITE, number * 4096, 0, bytes([number]) * 4096) for number, client in enumerate(clients)]
        for client, cookie in zip(clients, waiting, strict=True):
            client.wait(cookie)
        for number, client in enumerate(reversed(clients)):
            assert client.read(number * 4096, 4096) == bytes([number]) * 4096


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_bytes_in_a_file_outlive_the_server(tmp_path: Path, number: int) -> None:
    words = ["--data", "bytes.img", "--record", "record.csv"]
    drive = Drive(tmp_path, words)
    with Client(drive.socket) as client:
        client.write(12_345, b"kept" * 500)
        size = client.bytes
        with contextlib.suppress(ConnectionError):
            client.send(READ, 0, 65_536)
            code, said = drive.stop(number)
    assert code == (-number if number == signal.SIGKILL else 0)
    assert said == ""
    assert (tmp_path / "record.csv").exists() == (number != signal.SIGKILL)
    file = (tmp_path / "bytes.img").stat()
    assert file.st_size == size
    assert file.st_blocks * 512 < size / 2  # it is sparse
    with served(tmp_path, *words) as again, Client(again.socket) as client:
        assert client.read(12_345, 2000) == b"kept" * 500
        second = subprocess.run(
            [sys.executable, "-m", "ssdlab", "serve", "--nbd", "unix:other.sock", *options(DRIVE), "--data", "bytes.img"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert second.returncode == 2
        assert "bytes.img: another process serves this data" in second.stderr


def test_what_cannot_be_served_is_said(tmp_path: Path) -> None:
    (tmp_path / "small.img").write_bytes(b"x" * 1000)
    (tmp_path / "file").write_text("a file")
    cases = [
        (["--nbd", "drive.sock"], ["nbd = drive.sock", "unix:"]),
        (["--nbd", "unix:"], ["unix:"]),
        (["--nbd", "0.0.0.0:0"], ["--allow-remote", "no password"]),
        (["--nbd", "nowhere.invalid:1"], ["nowhere.invalid:1"]),
        (["--nbd", "unix:file"], ["file: there is a file that is no socket"]),
        (["--nbd", f"unix:{'s' * 200}"], ["107 bytes", "this has 200"]),
        (["--nbd", "unix:a.sock", "--scale", "0"], ["scale = 0", "0.001"]),
        (["--nbd", "unix:a.sock", "--scale", "nan"], ["scale"]),
        (["--nbd", "unix:a.sock", "--data", "small.img"], ["small.img", "1000 bytes"]),
        (["--nbd", "unix:a.sock", "--data", "."], ["."]),
        (["--nbd", "unix:a.sock", "--record", "a.parquet"], ["a.parquet", ".csv"]),
        (["--nbd", "unix:a.sock", "--record", "none/a.csv"], ["none/a.csv"]),
        (["--nbd", "unix:a.sock", "--log-requests"], ["--out"]),
        (["--nbd", "unix:a.sock", "--data", "b.csv", "--record", "b.csv"], ["b.csv", "a file each"]),
        (["--nbd", "unix:a.sock", "--data", "b.json", "--timeline", "b.json"], ["b.json", "a file each"]),
        (["--nbd", "unix:a.sock", "--power-cut", "0s"], ["power_cut = 0s", "17s"]),
        (["--nbd", "unix:a.sock", "--device", "demo"], ["demo"]),
        (["--nbd", "unix:a.sock", "--set", "workload.read_share=0.5"], ["workload.read_share", "come from the programs"]),
        ([], ["--nbd"]),
    ]
    for words, expected in cases:
        done = subprocess.run(
            [sys.executable, "-m", "ssdlab", "serve", *words], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        assert done.returncode in (1, 2), words
        assert all(word in done.stderr for word in expected), done.stderr
        assert done.stderr.count("\n") == 1 or not words, done.stderr
        assert not list(tmp_path.glob("*.sock")), words
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "small.img"]


def test_the_size_is_that_which_is_asked_for(tmp_path: Path) -> None:
    with served(tmp_path, "--size", "64MiB") as drive, Client(drive.socket) as client:
        assert client.bytes >= 64 << 20
        client.write(client.bytes - 1, b"x")


def test_a_served_drive_of_python_tells_how_it_goes(tmp_path: Path) -> None:
    """In a process of its own, which sends itself Ctrl-C once a client has been there."""
    script = f"""
import os, signal, sys, threading
sys.path[:0] = [{str(Path(__file__).parent)!r}]
import ssdlab
from nbd_client import Client
told = []
def ask(told_of):
    told.append(told_of)
    if told_of.uri and not asked.is_alive() and not asked.ident:
        asked.start()
def client():
    with Client({str(tmp_path / "a.sock")!r}) as client:
        client.write(0, b"hello")
        assert client.read(0, 5) == b"hello"
    os.kill(os.getpid(), signal.SIGINT)
asked = threading.Thread(target=client)
result = ssdlab.serve(nbd="unix:{tmp_path / "a.sock"}", scale=0.1, set={DRIVE!r}, progress=ask)
print(result["requests"]["write"], result["requests"]["read"], result.late.scale, told[-1].uri)
print(result)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"1 1 0.1 nbd+unix:///?socket={tmp_path}/a.sock")
    assert re.search(r"answers were more than 100 us late", done.stdout)


# Clients by others.
def test_libnbd_copies_there_and_back(tmp_path: Path) -> None:
    info, copy = tool("nbdinfo"), tool("nbdcopy")
    data = os.urandom(64 << 20)
    (tmp_path / "there").write_bytes(data)
    with served(tmp_path, "--size", "64MiB") as drive:
        uri = f"nbd+unix:///?socket={drive.socket}"
        about = json.loads(ended_well([info, "--json", uri], cwd=tmp_path))["exports"][0]
        assert about["export-size"] >= len(data)
        assert all(about[f"can_{ability}"] for ability in ("flush", "fua", "trim", "zero", "multi_conn"))
        ended_well([copy, "there", uri], cwd=tmp_path)
        ended_well([copy, uri, "back"], cwd=tmp_path)
    assert (tmp_path / "back").read_bytes()[: len(data)] == data


def test_qemu_io_writes_patterns_and_finds_them(tmp_path: Path) -> None:
    qemu = tool("qemu-io")
    with served(tmp_path) as drive:
        commands = ["write -P 0xab 4k 64k", "read -P 0xab 4k 64k", "aio_write -P 0x11 1M 128k", "aio_flush", "read -P 0x11 1M 128k"]
        commands += ["write -z 8k 4k", "read -P 0 8k 4k", "discard 16k 16k", "write -f -P 7 100k 512", "read -P 7 100k 512", "flush"]
        words = [qemu, "-f", "raw", *(part for command in commands for part in ("-c", command)), f"nbd+unix:///?socket={drive.socket}"]
        said = ended_well(words, cwd=tmp_path)
        assert "Pattern verification failed" not in said, said


def test_fio_verifies_what_it_wrote(tmp_path: Path) -> None:
    fio = tool("fio")
    with served(tmp_path) as drive:
        words = ["--ioengine=nbd", f"--uri=nbd+unix:///?socket={drive.socket}", "--rw=randrw", "--bs=4k", "--iodepth=16", "--size=2m"]
        said = ended_well([fio, "--name=job", *words, "--verify=crc32c", "--output-format=json"], cwd=tmp_path)
        job = json.loads(said[said.index("{") :])["jobs"][0]
        assert job["error"] == 0
        assert job["write"]["total_ios"] > 0


def test_a_full_disk_under_the_data_is_no_space_for_the_client(tmp_path: Path) -> None:
    """Reads, and writes of what is there already, go on; at the end it is said what could not be kept."""
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    try:
        drive = Drive(tmp_path, ["--data", "disk/bytes.img", "--record", "record.csv"])
        with Client(drive.socket) as client:
            client.write(0, b"a" * 65_536)
            with pytest.raises(RefusedError) as refused:
                client.write(1 << 20, b"b" * 524_288)
            assert refused.value.code == 28
            client.write(0, b"c" * 4096)
            assert client.read(0, 8192) == b"c" * 4096 + b"a" * 4096
            client.ask(FLUSH)
            # A trim makes room again.
            client.ask(TRIM, 1 << 20, 1 << 20)
            client.write(1 << 20, b"d" * 65_536)
            with pytest.raises(RefusedError):
                client.write(1 << 21, b"e" * 524_288)
        code, said = drive.stop()
        assert code == 0
        assert said.startswith("warning: disk/bytes.img.state: ")
        assert "No space left" in said
        assert said.count("\n") == 1
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)
    assert drive.result["requests"] == {"read": 1, "write": 3, "trim": 1, "flush": 1}
    assert (tmp_path / "record.csv").read_text().count("\n") == 7


def test_a_drive_that_works_in_idle_time_is_replayed_too(tmp_path: Path) -> None:
    """Time begins with the first request, in the drive as in its record."""
    words = ["--scheme", "npgc-idle", "--set", "ftl.precondition.kind=soft", "--record", "record.csv"]
    with served(tmp_path, *words) as drive:
        time.sleep(0.3)
        with Client(drive.socket) as client:
            for number in range(200):
                client.write(number * 7 % 100 * 4096, bytes(4096))
                time.sleep(0.001 if number % 10 else 0.01)
    again = ssdlab.run(scheme="npgc-idle", set=DRIVE | {"ftl.precondition.kind": "soft"}, trace=tmp_path / "record.csv")
    assert again["digest"] == drive.result["digest"]
    assert drive.result["gc"]["jobs"] > 0


def test_requests_at_the_instant_of_an_event_are_replayed_too(tmp_path: Path) -> None:
    """At a scale of 0.001 arrivals are multiples of a microsecond, as the times of the device, so that many meet."""
    with served(tmp_path, "--scheme", "nvme", "--record", "record.csv", scale=0.001) as drive, Client(drive.socket) as client:
        chance = random.Random(5)
        for _ in range(3000):
            waiting = [client.send(chance.choice([READ, FLUSH]), 0, 0) for _ in range(2)]
            waiting.append(client.send(WRITE, chance.randrange(100) * 4096, 0, bytes(4096)))
            waiting.append(client.send(READ, chance.randrange(100) * 4096, 4096))
            for cookie in waiting:
                client.wait(cookie)
    again = ssdlab.run(scheme="nvme", set=DRIVE, trace=tmp_path / "record.csv")
    assert again["digest"] == drive.result["digest"]


def test_the_record_of_a_drive_that_goes_on_is_replayed_from_its_state(tmp_path: Path) -> None:
    words = ["--data", "bytes.img", "--set", "ftl.precondition.kind=none"]
    for record in ("first.csv", "second.csv"):
        with served(tmp_path, *words, "--record", record) as drive, Client(drive.socket) as client:
            for number in range(800):
                client.write(number * 13 % 300 * 4096, bytes(4096))
    assert "--state second.csv.state" in drive.result["command"]
    again = ssdlab.run(set=DRIVE | {"ftl.precondition.kind": "none"}, trace=tmp_path / "second.csv", state=tmp_path / "second.csv.state")
    assert again["digest"] == drive.result["digest"]
    assert drive.result["gc"]["jobs"] > 0
