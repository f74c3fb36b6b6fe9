"""Bad input on the command line.

Each case ends with one clear message, exit code 2 (wrong usage or configuration) or 1 (the run failed), no traceback, and no file left.
Cases in `test_cli_*.py` are not repeated here.
"""

from __future__ import annotations

import bz2
import gzip
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import DRIVE_OPTIONS, PATIENCE_S, ROOT, SMALL, SMALL_OPTIONS, UNTIL_NOTHING_WORKS, Ended, Ssdlab, core_at_work, fill, until
from ssdlab.cli import main

HEADER = "timestamp_us,op,offset_bytes,size_bytes\n"
RUN = ["run", *SMALL_OPTIONS]
REPLAY = ["run", *DRIVE_OPTIONS]
FOREVER = str(10**12)
GARBAGE = bytes(range(256)) * 64
Fails = Callable[..., str]


def files_below(folder: Path) -> dict[Path, bytes]:
    """Every file with its content, hidden ones included."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.is_symlink()}


@pytest.fixture
def fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Fails:
    """Runs a command that must fail with an exit code and one line with the given words, and must not make or change files.

    It runs in the test's own process, since there are many cases. Output of the core is captured too.
    """
    monkeypatch.chdir(tmp_path)

    def check(code: int, arguments: Sequence[object], *words: str) -> str:
        before = files_below(tmp_path)
        monkeypatch.setattr(sys, "argv", ["ssdlab", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        assert isinstance(end.value.code, int)
        line = Ended(end.value.code, *capfd.readouterr()).failed(code)
        for bad in ("panicked", "internal error", "RUST_BACKTRACE", "Error("):
            assert bad not in line
        for word in words:
            assert word in line, line
        assert files_below(tmp_path) == before
        return line

    return check


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def settings(**values: object) -> list[str]:
    """`--set` options; two underscores replace the dot."""
    return [part for key, value in values.items() for part in ("--set", f"{key.replace('__', '.')}={value}")]


# ---------------------------------------------------------------------------------------------------------------------------------------
# Configuration and options.


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (settings(workload__read_shard=1), ["workload.read_shard", "unknown key", "workload.read_share"]),
        (settings(devise__channels=1), ["devise.channels", "unknown key", "device.channels"]),
        (
            settings(device__channels=1024, device__chips_per_channel=1024, device__blocks_per_plane=1048576),
            ["device", "too many", "at most"],
        ),
        (settings(device__blocks_per_plane=3), ["device.blocks_per_plane = 3", "from 4"]),
        (settings(device__pages_per_block=1), ["device.pages_per_block = 1", "from 2"]),
        (settings(device__page_bytes=0), ["device.page_bytes = 0", "from 512"]),
        (settings(device__overprovisioning=1.0), ["device.overprovisioning = 1", "0.99"]),
        (settings(device__overprovisioning=0.001), ["device.overprovisioning = 0.001", "spare", "at least"]),
        (
            settings(device__overprovisioning=0.99, device__blocks_per_plane=4, device__pages_per_block=2),
            ["device.overprovisioning", "no page"],
        ),
        (settings(gc__soft=0.5), ["gc.soft = 0.5", "lower it"]),
        (settings(gc__soft=2.5), ["gc.soft = 2.5", "whole"]),
        (settings(gc__soft="nan"), ["gc.soft", "finite"]),
        (settings(gc__soft="-inf"), ["gc.soft", "finite"]),
        (settings(device__read_ns=-1), ["device.read_ns = -1", "from 1"]),
        (settings(device__read_ns=10**30), ["device.read_ns", "from 1"]),
        (settings(device__read_ns=1.5), ["device.read_ns = 1.5", "whole number"]),
        (settings(device__read_ns="0x"), ["device.read_ns", "whole number"]),
        (settings(device__read_ns_by_page="[0]"), ["device.read_ns_by_page[0] = 0"]),
        (settings(gc__soft="[" * 5000), ["gc.soft", "must be a number"]),
        (settings(device__multiplane="true", ftl__pool="die"), ["device.multiplane", "ftl.pool"]),
        (settings(workload__footprint=0), ["workload.footprint = 0"]),
        (settings(workload__request_size="table"), ["workload.size_table", "[[4, 3], [64, 1]]"]),
        (settings(workload__flows="[{read_shar = 1}]"), ["workload.flows[0].read_shar", "read_share"]),
        (settings(workload__request_kb=1048576, device__blocks_per_plane=64), ["workload.request_kb", "footprint"]),
        (["--set", "=1"], ["KEY=VALUE"]),
        (["--requests", "-5"], ["requests = -5", "from 1"]),
        (["--requests", "99999999999999999999"], ["requests = 99999999999999999999", "18446744073709551615"]),
        (["--requests", "many"], ["--requests", "whole number", "5k"]),
        (["--seed", "18446744073709551616"], ["--seed", "18446744073709551615"]),
        (["--unit-bytes", "0"], ["workload.unit_bytes = 0"]),
        (["--skip-bad-lines", "99999999999999999999999"], ["workload.bad_lines"]),
        (["--scale-time", "nan"], ["workload.time_scale", "finite"]),
        (["--scale-time", "-1"], ["workload.time_scale = -1"]),
        (["--bogus"], ["--bogus", "--help"]),
    ],
)
def test_configuration_and_options(fails: Fails, arguments: list[str], words: list[str]) -> None:
    fails(2, ["run", *arguments, "--out", "results"], *words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "--scheme", "npgc", "--jobs", "99999999999999999999", "--requests", "0"], ["requests"]),
        (["compare", "--scheme", "npgc", "--jobs", "0"], ["--jobs"]),
        (["trace", "info", "good.csv", "--unit-bytes", "-3"], ["unit_bytes = -3"]),
        (["trace", "info", "good.csv", "--unit-bytes", "99999999999999999999999"], ["unit_bytes"]),
        (["trace", "info", "good.csv", "--unit-bytes", "4096"], ["unit_bytes", "csv", "disksim"]),
        (["trace", "convert", "good.csv", "out.csv", "--requests", "99999999999999999999999"], ["requests"]),
        (["trace", "convert", "good.csv", "out.csv", "--skip-bad-lines", "99999999999999999999999"], ["bad_lines"]),
        (["trace", "convert", "good.csv", "out.txt"], ["out.txt", ".parquet"]),
        (["trace", "bogus"], ["bogus", "--help"]),
        (["precondition"], ["--out", "--help"]),
        (["precondition", "--out", "x.state", "--set", "ftl.precondition.kind=ranges"], ["ftl.precondition.prefill"]),
    ],
)
def test_options_of_other_commands(fails: Fails, tmp_path: Path, arguments: list[str], words: list[str]) -> None:
    write(tmp_path / "good.csv", HEADER + "0,R,0,4096\n")
    fails(2, arguments, *words)


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (GARBAGE, 1, ["own.toml", "UTF-8"]),
        (b"\x00" * 100, 2, ["own.toml:1"]),
        (b"[gc]\nsoft = \n", 2, ["own.toml:2", "not valid TOML"]),
        (b"[gc]\nsoft = 1979-05-27\n", 2, ["own.toml:2", "gc.soft"]),
        (b"gc = 5\n", 2, ["own.toml:1", "gc = 5", "section"]),
        (b"[gc]\nsotf = 1\n", 2, ["own.toml:2", "gc.sotf", "gc.soft"]),
        (b"[gc]\n[gc]\n", 2, ["own.toml:2"]),
        (b"[gc]\nsoft = " + b"[" * 20_000, 2, ["own.toml:2"]),
    ],
    ids=["garbage", "zeros", "cut short", "date", "no section", "unknown key", "twice", "deep"],
)
def test_configuration_files(fails: Fails, tmp_path: Path, text: bytes, code: int, words: list[str]) -> None:
    write(tmp_path / "own.toml", text)
    fails(code, [*RUN, "--config", "own.toml", "--out", "results"], *words)


@pytest.mark.parametrize("option", ["--trace", "--config", "--prefill", "--state"])
def test_a_folder_given_as_a_file(fails: Fails, tmp_path: Path, option: str) -> None:
    (tmp_path / "folder").mkdir()
    fails(1, [*REPLAY, option, "folder", "--requests", 10], "folder: cannot read", "directory")


@pytest.mark.parametrize("option", ["--trace", "--config", "--prefill", "--state"])
def test_a_file_that_may_not_be_read(fails: Fails, tmp_path: Path, option: str) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    write(tmp_path / "secret", "").chmod(0)
    fails(1, [*REPLAY, option, "secret", "--requests", 10], "secret: cannot read", "Permission denied")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["trace", "info", "folder"], ["folder: cannot read"]),
        (["trace", "convert", "folder", "out.csv"], ["folder: cannot read"]),
        (["trace", "convert", "good.csv", "missing/out.csv"], ["missing/out.csv: cannot write: No such file"]),
        (["trace", "convert", "good.csv", "folder.csv"], ["folder.csv: cannot write", "directory"]),
        (["precondition", *SMALL_OPTIONS, "--out", "missing/x.state"], ["missing/x.state: cannot write: No such file"]),
        (["precondition", *SMALL_OPTIONS, "--out", "folder"], ["folder: cannot write", "directory"]),
        ([*RUN, "--requests", "10", "--out", "good.csv"], ["good.csv: cannot write"]),
        ([*RUN, "--requests", "10", "--out", "good.csv/below"], ["good.csv/below: cannot write"]),
    ],
)
def test_places_that_cannot_be_used(fails: Fails, tmp_path: Path, command: list[str], words: list[str]) -> None:
    write(tmp_path / "good.csv", HEADER + "0,R,0,4096\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.csv").mkdir()
    line = fails(1, command, *words)
    assert ".partial" not in line, "the user knows nothing of temporary files"
    assert ".ssdlab-" not in line


# ---------------------------------------------------------------------------------------------------------------------------------------
# Traces.


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0,R,0,4096\n1,R,0,-4096\n", ["t.csv:3", "expected", '"-4096"']),
        ("0,R,0,4096\n1,R,0,0\n", ["t.csv:3", "size above 0"]),
        ("0,R,0,4096\n1,R,18446744073709551615,4096\n", ["t.csv:3", "expected"]),
        ("0,R,0,4096\n1,R,0,18446744073709551616\n", ["t.csv:3", "18446744073709551616"]),
        ("0,R,0,4096\n99999999999999999999,R,0,4096\n", ["t.csv:3", "99999999999999999999"]),
        ("0,R,0,4096\n1,R,1.82083E+11,4096\n", ["t.csv:3", "1.82083E+11"]),
        ("0,R,0,4096\n1,R,0,4096", []),
        ("0,R,0,4096\n1,R,0", ["t.csv:3", "expected"]),
        ("0,R,0,4096\n" + "9" * 70_000 + "\n", ["t.csv:3", "64 KiB"]),
        ("0,R,0,4096\n\x00\x00\x00\n", ["t.csv", "binary file"]),
    ],
    ids=["negative", "size 0", "end overflows", "size overflows", "time overflows", "exponent", "no line end", "cut", "long", "zeros"],
)
def test_lines_of_a_trace(fails: Fails, ssdlab_command: Ssdlab, tmp_path: Path, text: str, words: list[str]) -> None:
    write(tmp_path / "t.csv", HEADER + text)
    if not words:  # a last line without its end is a line
        assert ssdlab_command(*REPLAY, "--trace", "t.csv", "--quiet").code == 0
        return
    fails(1, [*REPLAY, "--trace", "t.csv", "--out", "results"], *words)
    fails(1, ["trace", "convert", "t.csv", "out.parquet"], *words)


def parquet_of(tmp_path: Path, text: str) -> bytes:
    source, target = write(tmp_path / "source.csv", text), tmp_path / "whole.parquet"
    ssdlab.trace_convert(source, target)
    return target.read_bytes()


def zstd_of(tmp_path: Path, text: str) -> bytes:
    source, target = write(tmp_path / "source.csv", text), tmp_path / "whole.csv.zst"
    ssdlab.trace_convert(source, target)
    return target.read_bytes()


PACKERS: dict[str, Callable[[Path, str], bytes]] = {
    "csv.gz": lambda _, text: gzip.compress(text.encode()),
    "csv.bz2": lambda _, text: bz2.compress(text.encode()),
    "csv.zst": zstd_of,
    "parquet": parquet_of,
}


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("share", [0.5, 0.99])
def test_truncated_compressed_traces(fails: Fails, tmp_path: Path, ending: str, share: float) -> None:
    text = HEADER + "".join(f"{i * 10},{'RW'[i * 7 % 3 % 2]},{i * 7919 % 150 * 4096},4096\n" for i in range(5000))
    whole = PACKERS[ending](tmp_path, text)
    name = write(tmp_path / f"cut.{ending}", whole[: int(len(whole) * share)]).name
    word = "Parquet" if ending == "parquet" else "cut short"
    fails(1, [*REPLAY, "--trace", name, "--out", "results"], name, word)
    fails(1, ["trace", "info", name], name, word)
    fails(1, ["trace", "convert", name, "out.csv"], name, word)


@pytest.mark.parametrize(
    "content", [b"", GARBAGE, b"\x1f\x8b" + GARBAGE, b"BZh91AY&SY" + GARBAGE, b"\x28\xb5\x2f\xfd" + GARBAGE, b"PAR1" + GARBAGE]
)
@pytest.mark.parametrize("option", ["--trace", "--prefill"])
def test_garbage_as_a_trace_or_a_prefill_file(fails: Fails, tmp_path: Path, content: bytes, option: str) -> None:
    write(tmp_path / "garbage", content)
    fails(1, [*REPLAY, option, "garbage", "--requests", 10, "--out", "results"], "garbage")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0,4096\n0,0\n", ["prefill.csv:2", "size above 0"]),
        ("0,4096\n-4096,4096\n", ["prefill.csv:2", "-4096"]),
        ("0,4096\n0,99999999999999999999\n", ["prefill.csv:2", "99999999999999999999"]),
        ("0,4096\n18446744073709551615,4096\n", ["prefill.csv:2"]),
        ("0,4096\n0,4096,1\n", ["prefill.csv:2"]),
        ("0,1000000000000\n", ["prefill.csv:1", "bytes"]),
    ],
)
def test_prefill_files(fails: Fails, tmp_path: Path, text: str, words: list[str]) -> None:
    write(tmp_path / "prefill.csv", text)
    fails(1, [*RUN, "--prefill", "prefill.csv", "--requests", 10, "--out", "results"], *words)


BEYOND = HEADER + "0,W,0,4096\n100000,W,1000000000000,8192\n200000,R,3000000000000,4096\n"


def test_a_trace_larger_than_the_drive_by_range_policy(fails: Fails, ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    write(tmp_path / "t.csv", BEYOND)
    command = [*REPLAY, "--trace", "t.csv"]
    fails(1, [*command, "--out", "results"], "t.csv:3", "1000000000000", '"wrap"', '"clip"', '"compact"')
    for policy, counted in (("wrap", "wrapped"), ("clip", "dropped")):
        done = ssdlab_command(*command, "--set", f"workload.range={policy}", "--json").json()
        assert done["workload"]["trace"][counted] == 2
    fails(2, [*command, *settings(workload__range="compact", device__pages_per_block=4)], "workload.range", "1 MiB")
    # Two megabytes exported, three in use.
    two = settings(device__blocks_per_plane=24, device__pages_per_block=16, device__channels=2, device__overprovisioning=0.3)
    fails(1, ["run", *two, "--trace", "t.csv", "--set", "workload.range=compact"], "t.csv:4", "at most 2 MiB", "larger drive")
    four = settings(device__blocks_per_plane=48, device__pages_per_block=16, device__channels=2, device__overprovisioning=0.3)
    done = ssdlab_command("run", *four, "--trace", "t.csv", "--set", "workload.range=compact", "--json").json()
    assert done["workload"]["trace"]["compacted_mb"] == 3


def test_a_time_that_goes_back_by_policy(fails: Fails, ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    write(tmp_path / "t.csv", HEADER + "0,W,0,4096\n9000,W,4096,4096\n5000,R,0,4096\n")
    command = [*REPLAY, "--trace", "t.csv"]
    words = ("t.csv:4", "4000000 ns earlier", '"sort"', '"clamp"')
    fails(1, [*command, "--out", "results"], *words)
    fails(1, ["trace", "convert", "t.csv", "out.csv"], *words)
    clamped, in_order = (
        ssdlab_command(*command, "--set", f"workload.time_order={policy}", "--json").json() for policy in ("clamp", "sort")
    )
    assert clamped["workload"]["trace"]["clamped"] == 1
    assert in_order["workload"]["trace"]["clamped"] == 0
    for policy, times in (("clamp", ["0", "9000", "9000"]), ("sort", ["0", "5000", "9000"])):
        assert ssdlab_command("trace", "convert", "t.csv", f"{policy}.csv", "--time-order", policy).code == 0
        assert [line.split(",")[0] for line in (tmp_path / f"{policy}.csv").read_text().splitlines()[1:]] == times


# ---------------------------------------------------------------------------------------------------------------------------------------
# Saved states.


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("state") / "warm.state"
    ssdlab.precondition(path, set={**SMALL, "ftl.precondition.kind": "soft"})
    return path.read_bytes()


def test_states_that_are_none(fails: Fails, tmp_path: Path, state: bytes) -> None:
    command = [*RUN, "--requests", 10, "--state", "x.state", "--out", "results"]
    for content, word in [
        (b"", "not a drive state"),
        (GARBAGE, "not a drive state"),
        (b"ssdlab-state 99\n", "another version"),
        (state[:200], "truncated or damaged"),
        (state[:-1], "truncated or damaged"),
        (state + b"more", "more in it"),
        (state + state, "more in it"),
    ]:
        write(tmp_path / "x.state", content)
        fails(2, command, "x.state: ", word, "ssdlab precondition")
    write(tmp_path / "x.state", state)
    fails(2, [*command, "--set", "device.blocks_per_plane=33"], "x.state: ", "another shape", "geometry")


def test_a_state_damaged_anywhere_is_refused(tmp_path: Path, state: bytes) -> None:
    """Every byte of the head and a sample of the rest; and cut off anywhere.

    A few bits of the compression mean nothing: then the state is what it was, and so is the run.
    """
    path = tmp_path / "x.state"

    def run() -> str:
        return str(ssdlab.run(set=SMALL, requests=50, state=path).digest)

    write(path, state)
    good, refused = run(), 0
    positions = [*range(100), *range(100, len(state), max(1, len(state) // 200))]
    for position in positions:
        damaged = bytearray(state)
        damaged[position] ^= 1 << (position % 8)
        write(path, bytes(damaged))
        try:
            assert run() == good
        except ssdlab.ConfigError as error:
            refused += str(error).startswith(f"{path}: ")
        write(path, state[:position])
        with pytest.raises(ssdlab.ConfigError, match=r"x\.state: "):
            run()
    assert refused > 0.9 * len(positions)


# ---------------------------------------------------------------------------------------------------------------------------------------
# Full disks, closed pipes.


def convertible(folder: Path, lines: int = 20_000) -> Path:
    return write(folder / "in.csv", HEADER + "".join(f"{i},W,{i * 7919 % 65536 * 512},{512 * (1 + i % 7)}\n" for i in range(lines)))


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.bz2", "csv.zst", "parquet"])
def test_conversion_to_a_full_device(fails: Fails, tmp_path: Path, ending: str) -> None:
    convertible(tmp_path)
    link = tmp_path / f"out.{ending}"
    link.symlink_to("/dev/full")
    fails(1, ["trace", "convert", "in.csv", link.name], f"{link.name}: cannot write: No space left on device")
    assert link.is_symlink(), "a device is written, never replaced"


def test_state_to_a_full_device(fails: Fails) -> None:
    fails(1, ["precondition", *SMALL_OPTIONS, "--out", "/dev/full"], "/dev/full: cannot write: No space left on device")


@pytest.mark.parametrize(
    "command",
    [
        ["precondition", *SMALL_OPTIONS, "--out", "disk/x.state"],
        ["trace", "convert", "in.csv", "disk/out.csv"],
        ["trace", "convert", "in.csv", "disk/out.parquet"],
        ["compare", *SMALL_OPTIONS, "--scheme", "npgc", "--scheme", "rwp", "--requests", "2000", "--out", "disk/results"],
        ["run", *SMALL_OPTIONS, "--requests", "2000", "--timeline", "disk/t.json"],
        ["run", *SMALL_OPTIONS, "--requests", "2000", "--log-requests", "--out", "disk/results"],
    ],
    ids=["precondition", "convert to csv", "convert to parquet", "compare", "timeline", "log"],
)
def test_full_disk(fails: Fails, small_disk: Path, tmp_path: Path, command: list[str]) -> None:
    assert small_disk == tmp_path / "disk"
    convertible(tmp_path)
    fill(small_disk)
    fails(1, command, "disk/", "cannot write: No space left on device")


@pytest.mark.parametrize(
    ("trace", "more"),
    [
        ("requests.parquet", ["--out", "."]),
        ("there/report.html", ["--out", "there"]),
        ("in.json", ["--timeline", "in.json"]),
        ("in.json", ["--timeline", "there/../in.json"]),
    ],
)
def test_what_a_run_reads_is_not_written_over(fails: Fails, tmp_path: Path, trace: str, more: list[str]) -> None:
    (tmp_path / "there").mkdir()
    content = "0,W,0,4096\n"
    (tmp_path / trace).write_text(content)
    fails(2, ["run", *DRIVE_OPTIONS, "--trace", trace, "--format", "csv", *more], trace, "would be written over")
    assert (tmp_path / trace).read_text() == content


def test_a_timeline_is_not_written_over_by_the_results(fails: Fails) -> None:
    fails(2, [*RUN, "--requests", "10", "--out", "there", "--timeline", "there/result.json"], "there/result.json", "another name")


@pytest.mark.parametrize(
    "arguments",
    [
        [*RUN, "--requests", "100"],
        [*RUN, "--requests", "100", "--json"],
        ["compare", *SMALL_OPTIONS, "--scheme", "npgc", "--requests", "100", "--json"],
        ["trace", "info", str(ROOT / "traces" / "mariadb_oltp_write_only_paced.csv.zst")],
        ["list", "policies"],
        ["show", "device", "lee2013"],
    ],
    ids=["tables", "json", "compare", "info", "list", "show"],
)
@pytest.mark.parametrize("kind", ["full", "broken pipe", "closed"])
def test_standard_output_that_takes_nothing(arguments: list[str], kind: str) -> None:
    if arguments[0] == "trace" and kind != "full":
        arguments = ["trace", "info", str(ROOT / "traces" / "mariadb_oltp_write_only_paced.csv.zst"), "--json"]
    command = [sys.executable, "-m", "ssdlab", *arguments]
    if kind == "closed":
        done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *command], stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 1
        assert done.stderr.count("\n") <= 1
    else:
        with output(kind) as stdout:
            done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)
        lines = [line for line in done.stderr.splitlines() if "lines cannot be read" not in line]
        assert lines == (["error: cannot write: No space left on device"] if kind == "full" else [])
        assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@contextmanager
def output(kind: str) -> Iterator[int]:
    """A file descriptor to which writes fail."""
    if kind == "full":
        descriptor = os.open("/dev/full", os.O_WRONLY)
    else:
        reader, descriptor = os.pipe()
        os.close(reader)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


# ---------------------------------------------------------------------------------------------------------------------------------------
# Ctrl-C. Work that does not look for it is no longer waited for after five seconds, and goes on.

# `ssdlab`, and a file once nothing of it is at work any more.
COMMAND = f"""
import atexit, os, runpy
@atexit.register  # before all others, and so run after them
def over():
    exec({UNTIL_NOTHING_WORKS!r}, {{}})
    open(os.environ["OVER"], "x").close()
runpy.run_module("ssdlab", run_name="__main__")
"""


def interrupted(arguments: Sequence[str], folder: Path) -> str:
    """Starts a command, interrupts it after a while, and returns its standard error."""
    before = files_below(folder)
    over = folder.with_name(f"{folder.name}-over")
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments],
        cwd=folder,
        env={**os.environ, "OVER": str(over)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until(lambda: core_at_work(process.pid), process)
    time.sleep(0.3)
    assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (130, ""), err
    over.unlink()
    assert files_below(folder) == before
    return err


HUGE = settings(device__blocks_per_plane=65536, device__pages_per_block=256, device__overprovisioning=0.1, gc__soft=0.01)


def test_ctrl_c_while_preconditioning(tmp_path: Path) -> None:
    steady = settings(ftl__precondition__kind="steady")
    assert interrupted(["precondition", *HUGE, *steady, "--out", "warm.state"], tmp_path) == "error: interrupted\n"
    assert interrupted(["run", *HUGE, *steady, "--requests", "10", "--out", "results"], tmp_path) == "error: interrupted\n"


def test_ctrl_c_with_a_request_log(tmp_path: Path) -> None:
    assert interrupted([*RUN, "--requests", FOREVER, "--log-requests", "--out", "results"], tmp_path) == "error: interrupted\n"


def test_ctrl_c_before_any_run_of_a_comparison_has_finished(tmp_path: Path) -> None:
    compare = ["compare", *SMALL_OPTIONS, "--scheme", "npgc", "--scheme", "rwp", "--requests", FOREVER, "--out", "results"]
    assert interrupted(compare, tmp_path) == "error: interrupted: none of 2 runs had finished\n"


def test_ctrl_c_in_the_queueing_model(tmp_path: Path) -> None:
    forever = ["queueing", "--requests", FOREVER]
    assert interrupted(forever, tmp_path) == "error: interrupted\n"
    assert interrupted([*forever, "--arrivals", "saturated", "--json"], tmp_path) == "error: interrupted\n"


@pytest.fixture
def endless(tmp_path: Path) -> Iterator[str]:
    """An endless trace: a pipe that is filled as long as it is read."""
    pipe = tmp_path / "endless.csv"
    os.mkfifo(pipe)
    over = threading.Event()

    def feed() -> None:
        # Opened for both, so that neither end waits for the other.
        descriptor = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
        data = HEADER.encode() + b"".join(b"%d,R,0,4096\n" % i for i in range(5000))
        body = data[len(HEADER) :]
        while not over.is_set():
            with suppress(BlockingIOError):
                data = data[os.write(descriptor, data) :] or body
            time.sleep(0.002)
        os.close(descriptor)

    feeder = threading.Thread(target=feed)
    feeder.start()
    yield pipe.name
    over.set()
    feeder.join()


@pytest.mark.parametrize(
    "command",
    [
        ["trace", "info", "endless.csv"],
        ["trace", "convert", "endless.csv", "out.csv", "--time-order", "sort"],
        ["trace", "convert", "endless.csv", "out.parquet", "--time-order", "clamp"],
        [*REPLAY, "--trace", "endless.csv", "--set", "workload.time_order=sort", "--log-requests", "--out", "results"],
    ],
    ids=["info", "convert and sort", "convert", "run and sort"],
)
def test_ctrl_c_while_reading_a_trace(endless: str, tmp_path: Path, command: list[str]) -> None:
    assert interrupted(command, tmp_path) == "error: interrupted\n"


# ---------------------------------------------------------------------------------------------------------------------------------------
# Size.


def test_a_drive_of_tens_of_terabytes(ssdlab_command: Ssdlab) -> None:
    """The maps of a large drive are reserved, and hardly touched."""
    large = settings(device__channels=8, device__blocks_per_plane=2**18, device__pages_per_block=64, device__page_bytes=2**18)
    done = ssdlab_command("run", *large, "--requests", 100, "--json")
    assert done.code == 0, done.err
    assert done.json()["precondition"]["pages_mapped"] * 2**18 > 25e12


def limited(arguments: Sequence[object], folder: Path, limit: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ssdlab", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )


@pytest.mark.parametrize("command", ["run", "precondition"])
def test_a_drive_that_does_not_fit_into_memory(tmp_path: Path, command: str) -> None:
    """A billion blocks of two pages, with four gigabytes of address space."""
    shape = settings(device__channels=512, device__chips_per_channel=1024, device__planes_per_die=64, device__pages_per_block=2)
    shape += settings(device__blocks_per_plane=30, device__overprovisioning=0.4)
    out = ["--out", "out"]
    done = limited([command, *shape, *out], tmp_path, 4 << 30)
    assert done.returncode == 1, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    for word in ("error: device: ", "GiB of memory", "device.blocks_per_plane"):
        assert word in done.stderr
    assert files_below(tmp_path) == {}


OVERLOAD = ["run", *DRIVE_OPTIONS, *settings(workload__interarrival_us=0.1), "--out", "out"]


def test_an_overload_ends_with_a_line_that_says_what_happens_and_what_to_set(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    message = ssdlab_command(*OVERLOAD, "--requests", 100_000_000, *settings(workload__max_outstanding=200_000)).failed(1)
    for word in (
        "overloaded",
        "200000 requests are outstanding",
        "a second and completed at",
        "workload.max_outstanding",
        "workload.queue_depth",
    ):
        assert word in message
    assert files_below(tmp_path) == {}, "no part of a result is left"


def test_an_overload_that_memory_does_not_hold_is_no_abort(tmp_path: Path) -> None:
    """Requests that wait are half a kilobyte each; there is a gigabyte and a half of address space."""
    done = limited([*OVERLOAD, "--requests", 100_000_000, *settings(workload__max_outstanding=10**9)], tmp_path, 3 << 29)
    assert done.returncode == 1, (done.returncode, done.stderr)
    assert done.stderr.count("\n") == 1, done.stderr
    for word in ("error: the drive is overloaded", "more of memory", "a second and completed at"):
        assert word in done.stderr
    assert files_below(tmp_path) == {}


@pytest.mark.parametrize(
    "call",
    [
        lambda: ssdlab.run(set=SMALL, requests=10, seed=-1),
        lambda: ssdlab.run(set=SMALL, requests=2**64),
        lambda: ssdlab.compare(schemes=["npgc"], set=SMALL, requests=10, jobs=0),
        lambda: ssdlab.trace_info("x", unit_bytes=-1),
        lambda: ssdlab.trace_convert("x", "y.csv", bad_lines=-1),
        lambda: ssdlab.Simulator(set=SMALL).submit(ssdlab.Request(op="read", offset=-1, length=4096)),
        lambda: ssdlab.Simulator(set=SMALL).submit(ssdlab.Request(op="read", offset=0, length=2**64)),
        lambda: ssdlab.Simulator(set=SMALL).run_until(-1),
        lambda: ssdlab.Simulator(set=SMALL).run_until(2**63),
    ],
    ids=["seed", "requests", "jobs", "unit_bytes", "bad_lines", "offset", "length", "until", "too late"],
)
def test_numbers_that_the_core_cannot_hold(call: Callable[[], Any]) -> None:
    with pytest.raises(ssdlab.UsageError):
        call()
