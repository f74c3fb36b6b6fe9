"""File systems and databases on a drive served as a file. Replays of their requests equal the original run."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pwd
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import PATIENCE_S
from programs import ended_well, tool
from served_file import FileDrive, check_ext4, make_ext4, mounted, served, why_no_loop_device

DEVICE = ("--device", "demo-4g", "--scheme", "fpgc")
SCALE = 0.1


@contextlib.contextmanager
def recorded(folder: Path) -> Iterator[FileDrive]:
    """A drive of 4 GiB. After its end, two replays of its recording must equal the run."""
    with served(folder, "--record", "record.csv", scale=SCALE, drive=DEVICE) as drive:
        yield drive
    live = drive.result
    for _ in range(2):
        again = ssdlab.run(device="demo-4g", scheme="fpgc", trace=folder / "record.csv")
        assert again["digest"] == live["digest"]
        assert again["requests"]["write"] == live["requests"]["write"] > 0


def test_ext4_is_made_and_checked_without_a_mount(tmp_path: Path) -> None:
    tool("fsck.ext4")
    with recorded(tmp_path) as drive:
        make_ext4(drive.file)
        check_ext4(drive.file)
    assert drive.result["requests"]["trim"] > 0  # it discards the whole drive first


def test_files_on_ext4_are_what_was_copied_there(tmp_path: Path) -> None:
    data = {f"file{number}": os.urandom(number * 700_001 + 1) for number in range(5)}
    with recorded(tmp_path) as drive:
        make_ext4(drive.file)
        with mounted(drive.file, tmp_path / "fs") as fs:
            for name, content in data.items():
                (fs / name).write_bytes(content)
                shutil.copy(fs / name, fs / f"{name}.copy")
            (fs / "file4.copy").unlink()
            ended_well([tool("fstrim"), fs])
        with mounted(drive.file, tmp_path / "fs") as fs:  # what it reads now comes from the drive
            names = [*data, *(f"{name}.copy" for name in data if name != "file4")]
            found = {name: hashlib.sha256((fs / name).read_bytes()).digest() for name in names}
            assert sorted(path.name for path in fs.iterdir()) == sorted([*names, "lost+found"])
    assert found == {name: hashlib.sha256(data[name.removesuffix(".copy")]).digest() for name in names}
    assert drive.result["requests"]["flush"] > 0


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_sqlite_keeps_its_promises(tmp_path: Path, journal: str) -> None:
    with recorded(tmp_path) as drive:
        make_ext4(drive.file)
        with mounted(drive.file, tmp_path / "fs") as fs, contextlib.closing(sqlite3.connect(fs / "data.db", isolation_level=None)) as data:
            assert data.execute(f"PRAGMA journal_mode = {journal}").fetchone() == (journal,)
            data.execute("PRAGMA synchronous = FULL")
            data.execute("CREATE TABLE notes (number INTEGER PRIMARY KEY, text TEXT)")
            for number in range(100):
                data.execute("BEGIN")
                data.executemany("INSERT INTO notes VALUES (?, ?)", [(number * 10 + one, f"note {one}" * 20) for one in range(10)])
                data.execute("COMMIT" if number % 10 else "ROLLBACK")
        with mounted(drive.file, tmp_path / "fs") as fs, contextlib.closing(sqlite3.connect(fs / "data.db")) as data:
            assert data.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert data.execute("SELECT count(*), min(number), max(number) FROM notes").fetchone() == (900, 10, 999)
    # Each transaction was flushed.
    assert drive.result["requests"]["flush"] >= 90


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that the user of a database server can access."""
    folder = Path(tempfile.mkdtemp(prefix="ssdlab"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def as_nobody() -> dict[str, Any]:
    """Arguments to run PostgreSQL as another user, since it refuses root."""
    reason = why_no_loop_device()
    if reason is not None:
        pytest.skip(reason)
    about = pwd.getpwnam("nobody")
    return {"user": about.pw_uid, "group": about.pw_gid, "extra_groups": [], "env": {"PATH": os.environ["PATH"], "LC_ALL": "C"}}


@contextlib.contextmanager
def server(words: Sequence[str | Path], ready: Sequence[str | Path], folder: Path, **more: Any) -> Iterator[None]:
    """A database server that is ready; it must end regularly."""
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log, **more)
    try:
        began = time.monotonic()
        while subprocess.run(ready, capture_output=True, check=False).returncode != 0:
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() - began < PATIENCE_S
            time.sleep(0.05)
        yield
        process.terminate()
        assert process.wait(PATIENCE_S) == 0, (folder / "log").read_text()
    finally:
        process.kill()
        process.wait()


def test_postgresql_and_its_benchmark(tmp_path: Path, place: Path) -> None:
    initdb, postgres, ready, bench, psql = (tool(name) for name in ("initdb", "postgres", "pg_isready", "pgbench", "psql"))
    nobody = as_nobody()
    at = ["-h", str(place / "fs"), "-U", "nobody"]
    with recorded(tmp_path) as drive:
        make_ext4(drive.file)
        with mounted(drive.file, place / "fs") as fs:
            os.chown(fs, nobody["user"], nobody["group"])
            ended_well([initdb, "--no-instructions", "--auth=trust", "-D", fs / "data"], **nobody)
            words = [postgres, "-D", fs / "data", "-k", fs, "-c", "listen_addresses=", "-c", "shared_buffers=4MB"]
            with server(words, [ready, *at], place, **nobody):
                ended_well([bench, *at, "--initialize", "--quiet", "postgres"])
                said = ended_well([bench, *at, "--client=4", "--time=3", "postgres"])
                # Whatever was transferred is the same in all four tables.
                sums = ["SELECT sum(abalance) FROM pgbench_accounts", "SELECT sum(bbalance) FROM pgbench_branches"]
                sums += ["SELECT sum(tbalance) FROM pgbench_tellers", "SELECT sum(delta) FROM pgbench_history"]
                found = ended_well([psql, *at, "-At", "-c", " UNION ALL ".join(f"({one})" for one in sums), "postgres"]).split()
                count = ended_well([psql, *at, "-At", "-c", "SELECT count(*) FROM pgbench_history", "postgres"])
    transactions = re.search(r"number of transactions actually processed: (\d+)", said)
    assert transactions
    assert int(count) == int(transactions[1]) > 10
    assert len(found) == 4
    assert len({*found}) == 1
    assert drive.result["requests"]["flush"] >= int(count) / 4  # four at most share a flush


def test_mariadb_and_a_benchmark(tmp_path: Path, place: Path) -> None:
    install, mariadbd, admin, slap, check = (
        tool(name) for name in ("mariadb-install-db", "mariadbd", "mariadb-admin", "mariadb-slap", "mariadb-check")
    )
    nobody = as_nobody()
    at = ["--no-defaults", f"--socket={place / 'fs' / 'socket'}", "--user=root"]
    with recorded(tmp_path) as drive:
        make_ext4(drive.file)
        with mounted(drive.file, place / "fs") as fs:
            os.chown(fs, nobody["user"], nobody["group"])
            data = ["--no-defaults", f"--datadir={fs / 'data'}"]
            ended_well([install, *data, "--auth-root-authentication-method=normal", "--skip-test-db"], **nobody)
            words = [mariadbd, *data, f"--socket={fs / 'socket'}", "--skip-networking", "--innodb-flush-method=O_DIRECT"]
            with server(words, [admin, *at, "ping"], place, **nobody):
                load = ["--auto-generate-sql", "--auto-generate-sql-load-type=write", "--concurrency=4", "--number-of-queries=1000"]
                said = ended_well([slap, *at, *load, "--no-drop", "--engine=innodb"])
                checked = ended_well([check, *at, "mysqlslap"])
    assert "Average number of seconds to run all queries" in said
    assert re.search(r"^mysqlslap\.t1\s+OK$", checked, re.MULTILINE)
    assert drive.result["requests"]["flush"] > 100


def test_the_commands_of_the_page(tmp_path: Path) -> None:
    """`--out` has what a run gives; `compare` replays the record under other schemes."""
    words = ["--record", "mine.csv", "--out", "live"]
    with served(tmp_path, *words, scale=SCALE, drive=DEVICE) as drive:
        tool("fsck.ext4")
        make_ext4(drive.file)
    assert ssdlab.load(tmp_path / "live").digest == drive.result["digest"]
    words = ["compare", "--device", "demo-4g", "--scheme", "npgc", "--scheme", "fpgc", "--trace", "mine.csv"]
    said = ended_well([sys.executable, "-m", "ssdlab", *words], cwd=tmp_path)
    assert "npgc" in said
    assert "fpgc" in said
