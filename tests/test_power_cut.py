"""Power failures of a served drive: the data that survive, and the start of the next drive on these data."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import struct
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import DRIVE, PATIENCE_S
from nbd_client import FLUSH, FUA, WRITE, ZEROES, Client, RefusedError
from test_serve import Drive, served

CUTS = int(os.environ.get("POWER_CUTS", "3"))
"""Number of random instants for each kind of drive."""
UNIT = 4096
CACHE = ["--set", "cache.policy=lru", "--set", "cache.bytes=1048576"]
PROTECTED = ["--set", "buffer.bytes=262144"]
VOLATILE = [*PROTECTED, "--set", "buffer.protected=false", "--set", "device.pages_per_program=2"]
"""Options with which a unit waits for another of its pool, or for a flush."""
DRIVES = {
    "no buffer": ([], True),
    "slots": (["--set", "host.slots=3", "--set", "host.command_ns=20000"], True),
    "paced": (["--set", "gc.pace=proportional"], True),
    "mapping cache": (["--set", "ftl.map_cache_bytes=8192", "--set", "ftl.map_page_bytes=4096"], True),
    "protected buffer": (PROTECTED, True),
    "volatile buffer": (VOLATILE, False),
    "eager volatile buffer": ([*VOLATILE, "--set", "buffer.drain=eager"], False),
    "cache": (CACHE, False),
    "write-through cache": ([*CACHE, "--set", "cache.writes=false"], True),
    "cache above a protected buffer": ([*CACHE, *PROTECTED], False),
}
"""Options, and whether acknowledged data are safe without a flush."""


def stamp(unit: int, version: int) -> bytes:
    """The content of a version of a unit."""
    return struct.pack("<QQ", unit, version) * (UNIT // 16)


@dataclass
class Writer:
    """Writes versions of units, several at a time, until the drive has failed.

    Attributes:
        sent: last version written, by unit.
        acknowledged: last version acknowledged, by unit.
        safe: version that a power failure must keep, as far as the client knows, by unit.
    """

    socket: str
    seed: int
    keeps_acknowledged: bool
    sent: dict[int, int] = field(default_factory=dict)
    acknowledged: dict[int, int] = field(default_factory=dict)
    safe: dict[int, int] = field(default_factory=dict)
    requests: int = 0
    flushed: int = 0

    def run(self) -> None:
        chance = random.Random(self.seed)
        with contextlib.suppress(ConnectionError, OSError), Client(self.socket) as client:
            units = client.bytes // UNIT
            while True:
                self.round(chance, client, units)

    def round(self, chance: random.Random, client: Client, units: int) -> None:
        waiting = []
        taken: set[int] = set()
        for _ in range(chance.randrange(1, 12)):
            count = chance.choice([1, 1, 2, 8])
            first = chance.randrange(min(units - count, 200))
            written = range(first, first + count)
            if taken.isdisjoint(written):
                taken.update(written)
                versions = {unit: self.sent.get(unit, 0) + 1 for unit in written}
                self.sent |= versions
                flags = FUA if chance.random() < 0.04 else 0
                data = b"".join(stamp(unit, version) for unit, version in versions.items())
                waiting.append((client.send(WRITE, first * UNIT, 0, data, flags), versions, flags))
                self.requests += 1
        for cookie, versions, flags in waiting:
            client.wait(cookie)
            self.acknowledged |= versions
            if self.keeps_acknowledged or flags:
                self.safe |= versions
        if chance.random() < 0.1:
            client.ask(FLUSH)
            self.flushed += 1
            self.safe |= self.sent

    def check(self, data: bytes) -> int:
        """Checks that safe data are present. Returns the number of units older than their last acknowledged version."""
        older = 0
        for unit, sent in self.sent.items():
            held = data[unit * UNIT : (unit + 1) * UNIT]
            found = next((version for version in range(sent, 0, -1) if held == stamp(unit, version)), 0)
            assert found or held == bytes(UNIT), f"unit {unit} has data that were never written"
            assert found >= self.safe.get(unit, 0), f"unit {unit} has version {found}, and {self.safe[unit]} was safe"
            older += found < self.acknowledged.get(unit, 0)
        return older


def cut(drive: Drive) -> dict[str, Any]:
    """Waits for the end of a drive with a power failure."""
    out, said = drive.process.communicate(timeout=PATIENCE_S)
    assert (drive.process.returncode, said) == (0, "")
    result: dict[str, Any] = json.loads(out)
    return result


@pytest.mark.parametrize("name", DRIVES)
def test_what_is_safe_outlives_a_power_cut(tmp_path: Path, name: str) -> None:
    words, keeps_acknowledged = DRIVES[name]
    chance = random.Random(name)
    unanswered = 0
    for number in range(CUTS):
        # The first with a request that has just come.
        after = str(chance.randrange(20, 2000)) if number == 0 or chance.random() < 0.5 else f"{chance.randrange(1_600, 8_000)}ms"
        folder = tmp_path / str(number)
        folder.mkdir()
        words_of_cut = [*words, "--data", "bytes.img", "--record", "record.csv", "--power-cut", after]
        drive = Drive(folder, words_of_cut, scale=0.1)
        writer = Writer(drive.socket, number, keeps_acknowledged)
        writer.run()
        result = cut(drive)
        data = (folder / "bytes.img").read_bytes()
        older = writer.check(data)
        about = result["power_cut"]
        assert (about["lost_bytes"] > 0) == (about["lost_writes"] > 0)
        if keeps_acknowledged:
            assert about["lost_writes"] == 0
        assert older * UNIT <= about["lost_bytes"]
        unanswered += about["unanswered"]
        # The result is that of a replay, with all that had come.
        again = ssdlab.run(set=settings(words), trace=folder / "record.csv").to_dict()
        assert again["digest"] == result["digest"]
        # The next drive goes on with these bytes, from the state of this one.
        with served(folder, *words, "--data", "bytes.img") as following, Client(following.socket) as client:
            assert client.read(0, len(data)) == data
            client.write(0, b"x" * UNIT)
        assert following.result["precondition"]["kind"] == "state"
        assert following.result["precondition"]["pages_mapped"] > 0
    # A buffer answers at once, so that it hardly ever has a request without an answer.
    assert unanswered > 0 or {*PROTECTED, *CACHE} & {*words}


def settings(words: list[str]) -> dict[str, Any]:
    """The keys that options set."""
    pairs = [word.split("=") for word in words if "=" in word]
    values = {"true": True, "false": False}
    return DRIVE | {key: values.get(value, int(value) if value.isdigit() else value) for key, value in pairs}


@pytest.mark.parametrize("name", ["volatile buffer", "cache", "cache above a protected buffer"])
def test_a_signal_cuts_the_power_and_loses_what_was_not_flushed(tmp_path: Path, name: str) -> None:
    drive = Drive(tmp_path, [*DRIVES[name][0], "--data", "bytes.img"])
    with Client(drive.socket) as client:
        client.write(0, b"a" * UNIT, FUA)
        client.write(0, b"b" * UNIT)
        drive.process.send_signal(signal.SIGUSR1)
        result = cut(drive)
    assert result["power_cut"] == {"at_ns": result["power_cut"]["at_ns"], "unanswered": 0, "lost_writes": 1, "lost_bytes": UNIT}
    assert (tmp_path / "bytes.img").read_bytes()[:UNIT] == b"a" * UNIT


def test_zeros_that_were_answered_outlive_a_write_of_the_same_unit_that_was_not(tmp_path: Path) -> None:
    drive = Drive(tmp_path, ["--set", "host.command_ns=1000000000", "--data", "bytes.img"], scale=1)
    with Client(drive.socket) as client, Client(drive.socket) as other:
        client.wait(client.send(WRITE, 0, 0, b"A" * UNIT, FUA))
        client.send(WRITE, 0, 0, b"B" * 512)  # it takes a second
        client.ask(ZEROES, 2048, 2048, FUA)
        client.send(WRITE, 512, 0, b"C" * 512)
        time.sleep(0.2)
        drive.process.send_signal(signal.SIGUSR1)
        with pytest.raises(ConnectionError):
            other.take(1)
        result = cut(drive)
    assert result["power_cut"]["unanswered"] == 1
    assert (tmp_path / "bytes.img").read_bytes()[:UNIT] == b"B" * 512 + b"A" * 1536 + bytes(2048)


def test_a_second_signal_changes_nothing(tmp_path: Path) -> None:
    drive = Drive(tmp_path, ["--data", "bytes.img", "--out", "out"])
    with Client(drive.socket) as client:
        client.write(0, b"a" * UNIT)
    for _ in range(5):
        with contextlib.suppress(ProcessLookupError):
            drive.process.send_signal(signal.SIGUSR1)
        time.sleep(0.15)
    assert cut(drive)["power_cut"]["lost_writes"] == 0
    assert (tmp_path / "out" / "result.json").is_file()


def test_the_next_drive_is_as_used_as_the_last(tmp_path: Path) -> None:
    """Half of it is written at random, twice: its mapping, free blocks and wear go on."""
    chance = random.Random(4)
    words = ["--set", "ftl.precondition.kind=none", "--data", "bytes.img"]
    ends = []
    for first in (True, False):
        with served(tmp_path, *words) as drive, Client(drive.socket) as client:
            for _ in range(1200 if first else 1):
                client.write(chance.randrange(client.bytes // UNIT // 2) * UNIT, b"x" * UNIT)
        ends.append(drive.result)
    assert ends[0]["precondition"]["pages_mapped"] == 0
    assert ends[0]["gc"]["jobs"] > 0
    written = sum(any(block) for block in _units((tmp_path / "bytes.img").read_bytes()))
    assert ends[1]["precondition"]["pages_mapped"] == written
    assert ends[1]["wear"]["max"] >= ends[0]["wear"]["max"] > 0


def _units(data: bytes) -> list[bytes]:
    return [data[at : at + UNIT] for at in range(0, len(data), UNIT)]


def test_a_state_is_of_its_data_and_its_drive(tmp_path: Path) -> None:
    with served(tmp_path, "--data", "bytes.img") as drive, Client(drive.socket) as client:
        client.write(0, b"x" * UNIT)
    state = tmp_path / "bytes.img.state"
    assert state.is_file()
    kept = state.read_bytes()
    assert drive.result["requests"]["write"] == 1
    cases = [
        (["--set", "ftl.allocation=dynamic"], ["bytes.img.state", "another shape", "serve the same drive, or remove it"]),
        (["--state", "bytes.img.state"], ["bytes.img", "leave out the other state"]),
    ]
    for words, expected in cases:
        assert all(word in refused(tmp_path, [*words, "--data", "bytes.img"]) for word in expected)
    (tmp_path / "bytes.img").unlink()
    assert "data (bytes.img) are gone" in refused(tmp_path, ["--data", "bytes.img"])
    assert state.read_bytes() == kept
    for words, expected in [
        ([*CACHE, *VOLATILE, "--power-cut", "5s"], ["at most one volatile level", "buffer.protected"]),
        (["--power-cut", "soon"], ["power_cut", "17s"]),
        (["--power-cut", "5m"], ["power_cut", "min"]),
    ]:
        said = refused(tmp_path, words)
        assert all(word in said for word in expected), said


def refused(folder: Path, words: list[str]) -> str:
    """The error message of a server that does not start."""
    with pytest.raises(AssertionError) as reason:
        Drive(folder, words)
    said = str(reason.value).splitlines()[0]
    assert said.startswith("error: "), said
    return said


def test_a_drive_of_python_is_cut_by_what_it_tells(tmp_path: Path) -> None:
    answers = []

    def told(state: Any) -> bool:
        return bool(answers)

    def client() -> None:
        while not (tmp_path / "a.sock").exists():
            time.sleep(0.01)
        with Client(str(tmp_path / "a.sock")) as one, contextlib.suppress(RefusedError, ConnectionError):
            one.write(0, b"x" * UNIT)
            answers.append(1)
            while True:
                one.write(0, b"y" * UNIT)

    thread = threading.Thread(target=client)
    thread.start()
    result = ssdlab.serve(nbd=f"unix:{tmp_path / 'a.sock'}", scale=0.1, set=DRIVE, progress=told)
    thread.join()
    assert result["power_cut"]["unanswered"] <= 1
    assert result["requests"]["write"] > 1
    assert "Power cut at" in str(result)
