"""Power failures under SQLite on ext4 on a served drive: committed transactions survive, and the database is consistent."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import PATIENCE_S
from programs import ended_well, tool, unmount
from served_file import FileDrive, is_mounted, loop_device, make_ext4

CUTS = int(os.environ.get("POWER_CUTS", "2"))
"""Number of random instants for each kind of drive and journal."""
DRIVE = ["--device", "demo-4g", "--size", "64MiB", "--set", "ftl.precondition.kind=none", "--data", "bytes.img"]
BUFFER = ["--set", "buffer.bytes=2097152", "--set", "device.pages_per_program=2"]
DRIVES = {
    "protected buffer": BUFFER,
    "volatile buffer": [*BUFFER, "--set", "buffer.protected=false"],
    "volatile cache": ["--set", "cache.policy=lru", "--set", "cache.bytes=4194304"],
}
WRITER = """
import sqlite3, sys
data = sqlite3.connect(sys.argv[1], isolation_level=None)
data.execute(f"PRAGMA journal_mode = {sys.argv[2]}")
data.execute("PRAGMA synchronous = EXTRA")
data.execute("CREATE TABLE notes (number INTEGER PRIMARY KEY, part INTEGER, text TEXT)")
number = 0
while True:
    data.execute("BEGIN")
    for part in range(5):
        data.execute("INSERT INTO notes (part, text) VALUES (?, ?)", (number, "some text " * 40))
    data.execute("COMMIT")
    print(number, flush=True)
    number += 1
"""
"""A script that prints each committed transaction. Without EXTRA the last one may be undone: removal of the journal is not flushed."""


@pytest.mark.parametrize("journal", ["wal", "delete"])
@pytest.mark.parametrize("name", DRIVES)
def test_what_is_committed_outlives_a_power_cut(tmp_path: Path, name: str, journal: str) -> None:
    tool("mkfs.ext4")
    chance = random.Random(f"{name} {journal}")
    committed = 0
    for number in range(CUTS):
        folder = tmp_path / str(number)
        folder.mkdir()
        committed += until_cut(folder, DRIVES[name], journal, chance.uniform(0.1, 0.6))
    assert committed > 0


def until_cut(folder: Path, words: list[str], journal: str, after_s: float) -> int:
    """Runs SQLite until the power fails, checks that committed transactions survive, and returns their number."""
    drive = FileDrive(folder, words, scale=0.1, drive=DRIVE)
    fs = folder / "fs"
    fs.mkdir()
    try:
        make_ext4(drive.file)
        with loop_device(drive.file) as device:
            ended_well(["mount", device, fs])
            writer = subprocess.Popen(
                [sys.executable, "-c", WRITER, fs / "data.db", journal], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
            try:
                assert writer.stdout is not None
                said = [writer.stdout.readline()]
                time.sleep(after_s)
                drive.process.send_signal(signal.SIGUSR1)
                out, errors = drive.process.communicate(timeout=PATIENCE_S)
                assert (drive.process.returncode, errors) == (0, ""), errors
                writer.kill()
                said += writer.communicate(timeout=PATIENCE_S)[0].splitlines()
            finally:
                writer.kill()
                ended_well(["umount", "--lazy", fs])
        assert '"power_cut"' in out
        committed = len([line for line in said if line.strip()])
        # The data are those of a disk: the system mends its journal when it mounts them.
        ended_well(["mount", "-o", "loop", folder / "bytes.img", fs])
        try:
            with contextlib.closing(sqlite3.connect(fs / "data.db")) as data:
                assert data.execute("PRAGMA integrity_check").fetchone() == ("ok",)
                whole = data.execute("SELECT part FROM notes GROUP BY part HAVING count(*) = 5 ORDER BY part").fetchall()
                parts = data.execute("SELECT count(DISTINCT part) FROM notes").fetchone()[0]
        finally:
            unmount(fs)
    finally:
        drive.process.kill()
        drive.process.communicate()
        if is_mounted(drive.mount):
            subprocess.run(["umount", "--lazy", drive.mount], check=False)
    assert [part for (part,) in whole] == list(range(len(whole))), "transactions are there in their order"
    assert parts == len(whole) >= committed, (parts, len(whole), committed)
    return committed
