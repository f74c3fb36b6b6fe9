"""PostgreSQL and its own benchmark, pgbench, on a simulated drive: what garbage collection does to a database.

The drive is served as a file, which becomes a block device with an ext4 of Linux. The database is made once, on a drive of no account.
Then the benchmark runs twice, each time on the same bytes and a full drive, under two schemes of garbage collection. Its requests are
recorded, and the record of either is replayed under the other scheme.

Prints transactions a second and how long they take, as the benchmark saw them, beside what the drive did; and what the replays gave.
All times are those of the simulated drive. Needs Linux, root (for the block device; the database runs as `nobody`) and PostgreSQL.

Takes about two minutes; with a number behind its name, that many seconds of benchmark on each drive in place of 30.
"""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import ssdlab

DEVICE, SCHEMES = "demo-4g", ("npgc", "fpgc")
SCALE = 4  # slow-down of the drive, so that the database waits for the drive and not for the processor
CLIENTS, BRANCHES = 16, 10  # a branch of the benchmark is 15 MB of data
PROGRAMS = {
    "PostgreSQL": ("initdb", "postgres", "pg_isready", "pgbench"),
    "e2fsprogs": ("mkfs.ext4",),
    "util-linux": ("losetup", "mount", "umount"),
    "coreutils": ("cp",),
}
PLACES = [os.environ.get("PATH", ""), "/usr/sbin", "/sbin", *sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True)]
ANSWER_S = 60


def program(name: str) -> str | None:
    """Path of a program."""
    return shutil.which(name, path=os.pathsep.join(PLACES))


def missing() -> list[str]:
    """What keeps this from running."""
    found = [f"{package} ({name})" for package, names in PROGRAMS.items() for name in names if program(name) is None]
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        found.append("/dev/fuse")
    if os.geteuid() != 0:
        found.append("root, who may use loop devices and mount (sudo)")
    return found


def done(*words: str | Path, **more: Any) -> str:
    """What a program prints; its complaint ends this script if it fails."""
    name, *others = words
    ended = subprocess.run([program(str(name)) or name, *others], capture_output=True, text=True, check=False, **more)
    if ended.returncode != 0:
        sys.exit(f"error: {name} failed: {ended.stderr.strip() or ended.stdout.strip()}")
    return ended.stdout


def wait_for(what: str, is_there: Callable[[], bool], process: subprocess.Popen[Any]) -> None:
    """Until a program is ready."""
    began = time.monotonic()
    while not is_there():
        if process.poll() is not None or time.monotonic() - began > ANSWER_S:
            sys.exit(f"error: {what} did not start")
        time.sleep(0.05)


def ended(process: subprocess.Popen[Any], number: int) -> None:
    """Asks a program to end, and waits."""
    if process.poll() is None:
        process.send_signal(number)
        try:
            process.wait(ANSWER_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def drive(folder: Path, scheme: str, scale: float, *words: str | Path) -> Iterator[tuple[Path, Path]]:
    """A drive: its file, and where its result will be."""
    mount, result = folder / "mount", folder / f"{scheme}.json"
    mount.mkdir(exist_ok=True)
    words = ("--device", DEVICE, "--scheme", scheme, "--file", mount, "--scale", str(scale), "--json", "--quiet", *words)
    with result.open("wb") as out:
        # In a session of its own: Ctrl-C is for this script, which takes the file system away before the drive.
        process = subprocess.Popen([sys.executable, "-m", "ssdlab", "serve", *words], stdout=out, start_new_session=True)
    try:
        wait_for("the drive", (mount / "drive").exists, process)
        yield mount / "drive", result
    finally:
        ended(process, signal.SIGINT)


@contextmanager
def file_system(file: Path, folder: Path) -> Iterator[Path]:
    """The ext4 on a file, mounted."""
    folder.mkdir(exist_ok=True)
    device = done("losetup", "--find", "--show", "--direct-io=on", file).strip()
    try:
        done("mount", device, folder)
        try:
            yield folder
        finally:
            done("umount", folder)
    finally:
        done("losetup", "--detach", device)


@contextmanager
def database(fs: Path, user: dict[str, Any]) -> Iterator[Sequence[str]]:
    """The server under way, with what its clients have to say."""
    settings = ["listen_addresses=", "shared_buffers=16MB", "checkpoint_timeout=30s", "max_wal_size=64MB"]
    words = ["-D", fs / "data", "-k", fs, *(part for setting in settings for part in ("-c", setting))]
    with (fs / "log").open("wb") as log:
        process = subprocess.Popen([program("postgres") or "", *words], stdout=log, stderr=log, start_new_session=True, **user)
    at = ["-h", str(fs), "-U", "nobody"]
    try:
        ready = [program("pg_isready") or "", *at]
        wait_for("PostgreSQL", lambda: subprocess.run(ready, capture_output=True, check=False).returncode == 0, process)
        yield at
    finally:
        ended(process, signal.SIGINT)


def nobody() -> dict[str, Any]:
    """As whom PostgreSQL runs, which does not run as root."""
    about = pwd.getpwnam("nobody")
    return {"user": about.pw_uid, "group": about.pw_gid, "extra_groups": [], "env": {"PATH": os.pathsep.join(PLACES), "LC_ALL": "C"}}


def make_database(folder: Path) -> Path:
    """The bytes of a drive with the benchmark's tables."""
    data, user = folder / "made.img", nobody()
    with drive(folder, SCHEMES[0], 0.01, "--data", data) as (file, _):
        done("mkfs.ext4", "-q", file)
        with file_system(file, folder / "fs") as fs:
            os.chown(fs, user["user"], user["group"])
            done("initdb", "--no-instructions", "--no-sync", "--auth=trust", "-D", fs / "data", **user)
            with database(fs, user) as at:
                done("pgbench", *at, "--initialize", "--quiet", f"--scale={BRANCHES}", "postgres")
    return data


def benchmark(folder: Path, made: Path, scheme: str, seconds: int) -> tuple[float, float, dict[str, Any]]:
    """Transactions a second, mean time of one in ms, and the drive's result."""
    data = folder / f"{scheme}.img"
    done("cp", "--sparse=always", made, data)
    with (
        drive(folder, scheme, SCALE, "--data", data, "--record", folder / f"{scheme}.csv") as (file, result),
        file_system(file, folder / "fs") as fs,
        database(fs, nobody()) as at,
    ):
        said = done("pgbench", *at, f"--client={CLIENTS}", "--jobs=2", f"--time={seconds}", "postgres")
    data.unlink()
    figures = dict(re.findall(r"^(tps|latency average) = ([\d.]+)", said, re.MULTILINE))
    return float(figures["tps"]) * SCALE, float(figures["latency average"]) / SCALE, json.loads(result.read_text())


def line(scheme: str, rate: str, mean_ms: str, result: Any) -> str:
    """A row of the table."""
    read, write = (result["latency_ns"][kind] for kind in ("read", "write"))
    times = [f"{times[place] / 1e6:.2f}" for times in (read, write) for place in ("mean", "p99")]
    return f"{scheme:14}" + "".join(f"{text:>10}" for text in (rate, mean_ms, *times, f"{result['gc']['jobs']:,}"))


def main(seconds: int) -> None:
    """Prints the table."""
    lacking = missing()
    if lacking:
        sys.exit("error: this needs " + "; ".join(lacking))
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends this as Ctrl-C does
    print(f"{'scheme':14}" + "".join(f"{name:>10}" for name in ("tps", "ms each", "read ms", "p99", "write ms", "p99", "GC jobs")))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ssdlab")))
        folder.chmod(0o711)  # the database's user has to get through
        made, late = make_database(folder), []
        for scheme in SCHEMES:
            rate, mean_ms, result = benchmark(folder, made, scheme, seconds)
            print(line(scheme, f"{rate:,.0f}", f"{mean_ms:.2f}", result), flush=True)
            late.append(f"{result['late']['mean'] / SCALE / 1e3:.0f}")
        for served, other in (SCHEMES, SCHEMES[::-1]):
            replay = ssdlab.run(device=DEVICE, scheme=other, trace=folder / f"{served}.csv")
            print(line(f"{served} on {other}", "", "", replay))
    print(f"\nThe last two: the requests of the one, replayed under the other. Answers came {' and '.join(late)} us late on average.")


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
    except KeyboardInterrupt:
        sys.exit("interrupted")
