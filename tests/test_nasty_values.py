"""Every public function, every argument, every command that reads a file: invalid values give one `ssdlab.Error`, or are harmless.

No other exception, no message that fills a screen, no traceback.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import DRIVE, SMALL_OPTIONS, Ended, Ssdlab
from ssdlab import queueing
from ssdlab.cli import main

LONGEST_MESSAGE = 3200
LONG = "x" * 10_000


class _NoIndex:
    def __index__(self) -> int:
        raise RuntimeError("no index")


class _NoPath:
    def __fspath__(self) -> str:
        return 5  # type: ignore[return-value]


class _NoText:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


def nested(depth: int) -> list[Any]:
    """A list nested `depth` times."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


NASTY: dict[str, Any] = {
    "none": None,
    "true": True,
    "negative": -1,
    "beyond 64 bits": 2**64,
    "5,000 digits": 10**5000,
    "half": 1.5,
    "nan": float("nan"),
    "infinite": float("inf"),
    "empty": "",
    "long": LONG,
    "long path": f"{'y' * 200}/" * 30,
    "nul": "a\0b",
    "not UTF-8": "\udcff.csv",
    "two lines": "a\nb",
    "escape": "\x1b[31m",
    "loop of links": "loop",
    "folder": "folder",
    "bytes": b"\xff",
    "no items": [],
    "none in a list": [None],
    "long in a list": [LONG],
    "not UTF-8 in a list": ["\udcff"],
    "nul in a list": ["a\0b"],
    "mapping": {},
    "key is no text": {1: 2},
    "key has a nul": {"a\0": 1},
    "key is not UTF-8": {"\udcff": 1},
    "long key": {LONG: 1},
    "no value": {"gc.soft": None},
    "value is not UTF-8": {"gc.soft": "\udcff"},
    "deep value": {"gc.soft": nested(5000)},
    "deep": nested(5000),
    "object": object(),
    "class": object,
    "no index": _NoIndex(),
    "no path": _NoPath(),
    "no text": _NoText(),
    "path with a nul": Path("a\0b"),
    "path not UTF-8": Path("\udcff"),
    "loop of links as a path": Path("loop"),
    "pair of nothing": (None, None),
    "complex": 1j,
    "set": {1, 2},
}
SET = DRIVE | {"workload.read_share": 0.5}
FEW: dict[str, Any] = {"set": SET, "requests": 3}
RATES = {"read_rate": 0.1, "write_rate": 0.1}
TIMES = {"read_time": 1, "write_time": 1, "copy_time": 1, "erase_time": 1}
REST = {"reads_per_write": 1, "pages": 4, "valid": 1, "amplification": 2, "wait": 1, "rate": 1, "read_queue": 1, "write_queue": 1}


def functions() -> Iterator[tuple[str, Callable[..., Any], dict[str, Any]]]:
    """Every public function with valid arguments."""
    run = partial(ssdlab.run, **FEW)
    yield "run", ssdlab.run, FEW
    yield "compare", ssdlab.compare, {**FEW, "schemes": ["npgc", "rwp"]}
    yield "sweep", ssdlab.sweep, {"grid": {"seed": [1]}, "set": SET, "requests": 3}
    yield "precondition", ssdlab.precondition, {"out": "x.state", "set": SET}
    yield "trace_info", ssdlab.trace_info, {"path": "good.csv"}
    yield "trace_convert", ssdlab.trace_convert, {"source": "good.csv", "target": "out.csv"}
    yield "presets", ssdlab.presets, {"kind": "device"}
    yield "preset_text", ssdlab.preset_text, {"kind": "device", "name": "lee2013"}
    yield "replay_cache", ssdlab.replay_cache, {"requests": [("read", 0, 4096)], "set": {"cache.policy": "lru", "cache.bytes": 8192}}
    yield "run_study", ssdlab.run_study, {"name": "nobody/nothing"}
    yield "study_report", ssdlab.study_report, {"folder": "folder", "page": "page.html"}
    yield "Simulator", ssdlab.Simulator, {"set": SET}
    yield (
        "submit",
        lambda **request: ssdlab.Simulator(set=SET).submit(ssdlab.Request(**request)),
        {"op": "read", "offset": 0, "length": 4096},
    )
    yield "submit what", ssdlab.Simulator(set=SET).submit, {"request": ssdlab.Request(op="flush")}
    yield "run_until", lambda until_ns: ssdlab.Simulator(set=SET).run_until(until_ns), {"until_ns": 5}
    yield "free_blocks", ssdlab.Simulator(set=SET).free_blocks, {"pool": 0}
    yield "report", lambda path: run().report(path), {"path": "page.html"}
    yield "save", lambda path: run().plot.breakdown().save(path), {"path": "picture.svg"}
    yield "plot", ssdlab.sweep({"seed": [1]}, set=SET, requests=3).plot, {"y": "iops", "x": "seed", "by": None, "where": None}
    yield "simulate", queueing.simulate, {"requests": 3}
    every = RATES | TIMES | REST
    for name in queueing.__all__:
        function = getattr(queueing, name)
        if inspect.isfunction(function) and name != "simulate":
            yield name, function, {key: every[key] for key in inspect.signature(function).parameters}


def arguments(function: Callable[..., Any], given: Mapping[str, Any]) -> list[str]:
    """The names of a function's arguments; for `**kwargs`, of those given."""
    named = [name for name, kind in inspect.signature(function).parameters.items() if kind.kind is not kind.VAR_KEYWORD]
    return named or list(given) + (["arrival_ns", "high_priority"] if "op" in given else [])


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "folder").mkdir()
    (tmp_path / "good.csv").write_text("timestamp_us,op,offset_bytes,size_bytes\n0,R,0,4096\n")
    return tmp_path


def is_clear(error: ssdlab.Error) -> bool:
    """Whether a message is readable and about the given value."""
    return not isinstance(error, ssdlab.InternalError) and 10 < len(str(error)) < LONGEST_MESSAGE and LONG[:500] not in str(error)


def test_every_public_function_refuses_nasty_values_by_an_error_of_its_own(workplace: Path) -> None:
    wrong = []
    for name, function, given in functions():
        for argument in arguments(function, given):
            for what, value in NASTY.items():
                try:
                    function(**{**given, argument: value})
                except ssdlab.Error as error:
                    if not is_clear(error):
                        wrong.append(f"{name}({argument}: {what}): {type(error).__name__}: {str(error)[:300]}")
                except Exception as error:
                    wrong.append(f"{name}({argument}: {what}): {type(error).__name__}: {str(error)[:300]}")
    assert workplace.exists()
    assert not wrong, "\n".join(wrong)


NUL_IN_SET: dict[str, dict[str, Any]] = {
    "trace": {"workload.trace": "a\0b"},
    "path of a trace": {"workload.trace": Path("a\0b")},
    "prefill": {"ftl.precondition.prefill": "a\0b"},
    "a flow's trace": {"workload.flows": [{"name": "a", "trace": "good\0.csv"}, {"name": "b"}]},
    "a flow's preset": {"workload.flows": [{"name": "a", "preset": "a\0/b.toml"}, {"name": "b"}]},
    "a flow's name": {"workload.flows": [{"name": "a\0"}, {"name": "b"}]},
    "a key": {"workload.tr\0ace": "good.csv"},
    "a key of a flow": {"workload.flows": [{"na\0me": "a"}]},
    "a choice": {"gc.victim": "greedy\0"},
}


@pytest.mark.parametrize("what", NUL_IN_SET)
def test_a_nul_in_a_setting_is_one_line_that_says_so(workplace: Path, what: str) -> None:
    settings = NUL_IN_SET[what]
    (key,) = settings
    calls: list[Callable[[], object]] = [
        lambda: ssdlab.run(set=settings, requests=3),
        lambda: ssdlab.run(set=settings, requests=3, out="out", fit="trace"),
        lambda: ssdlab.compare(schemes=["npgc"], set=settings, requests=3),
        lambda: ssdlab.sweep({"seed": [1]}, set=settings, requests=3),
        lambda: ssdlab.sweep({key: [settings[key]]}, requests=3),
        lambda: ssdlab.Simulator(set=settings),
        lambda: ssdlab.precondition("x.state", set=settings),
        lambda: queueing.simulate(set=settings, requests=3, arrivals="replayed"),
    ]
    for call in calls:
        with pytest.raises(ssdlab.Error) as refused:
            call()
        assert not isinstance(refused.value, ssdlab.InternalError)
        assert "\0" not in str(refused.value)
        assert "\n" not in str(refused.value)
        assert "NUL" in str(refused.value) or "\\x00" in str(refused.value), refused.value
    assert not (workplace / "out").exists()


NUL_IN_TOML = {
    "trace": '[workload]\ntrace = "a\\u0000b"\n',
    "a flow's trace": '[workload]\nflows = [{name = "a", trace = "a\\u0000b"}, {name = "b"}]\n',
    "prefill": '[ftl.precondition]\nkind = "ranges"\nprefill = "a\\u0000b"\n',
}


@pytest.mark.parametrize("what", NUL_IN_TOML)
def test_a_nul_in_a_file_of_settings_is_one_line(command: Command, workplace: Path, what: str) -> None:
    text = NUL_IN_TOML[what]
    (workplace / "own.toml").write_text(text)
    for words in (["run", "--config", "own.toml"], ["compare", "--scheme", "npgc", "--config", "own.toml"]):
        ended = command([*words, "--requests", "3", "--out", "out"])
        assert (ended.code, "without NUL characters" in one_line(ended)) == (2, True), ended.err
        assert not (workplace / "out").exists()
    flat = [line for line in ('[grid]\ntrace = ["a\\u0000b"]\n', 'trace = "a\\u0000b"\n[grid]\nseed = [1]\n') if what == "trace"]
    for text in flat:
        (workplace / "grid.toml").write_text(text)
        ended = command(["sweep", "grid.toml", "--out", "out"])
        assert (ended.code, "without NUL characters" in one_line(ended)) == (2, True), ended.err


# ---------------------------------------------------------------------------------------------------------------------------------------
# Files that are read, and names of them.


def _deep_json() -> bytes:
    return b'{"runs": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


CONTENTS: dict[str, bytes] = {
    "empty": b"",
    "nul": b"\0" * 100,
    "not UTF-8": b"\xff\xfe\xfd",
    "not UTF-8 in a value": b'title = "\xff"\n{"seed": "\xff"}',
    "null": b"null",
    "a number": b"5",
    "a list": b"[]",
    "no runs": b"{}",
    "runs are no runs": b'{"runs": {"npgc": 5}}',
    "deep": _deep_json(),
    "deep list": b"[" * 100_000,
    "deep TOML": b"grid = " + b"[" * 100_000,
    "5,000 digits": b'{"seed": ' + b"9" * 5000 + b"}",
    "5,000 digits of TOML": b"seed = " + b"9" * 5000 + b"\n",
    "long line": b"x" * 100_000,
    "not a number": b'{"seed": NaN}',
}

READERS: dict[str, tuple[str, list[str]]] = {
    "report of a run": ("there/result.json", ["report", "there"]),
    "report of a comparison": ("there/comparison.json", ["report", "there"]),
    "study report": ("there/paper/study/study.json", ["study", "report", "there"]),
    "study run": ("own.toml", ["study", "run", "own.toml"]),
    "study show": ("own.toml", ["study", "show", "own.toml"]),
    "sweep": ("own.toml", ["sweep", "own.toml", "--out", "results"]),
    "config": ("own.toml", ["run", *SMALL_OPTIONS, "--config", "own.toml", "--requests", "3"]),
    "device": ("own.toml", ["run", "--device", "own.toml", "--requests", "3"]),
    "scheme": ("own.toml", ["run", "--scheme", "own.toml", "--requests", "3"]),
    "workload": ("own.toml", ["run", "--workload", "own.toml", "--requests", "3"]),
    "trace": ("own.csv", ["run", *SMALL_OPTIONS[:-4], "--trace", "own.csv"]),
    "prefill": ("own.csv", ["run", *SMALL_OPTIONS, "--prefill", "own.csv", "--requests", "3"]),
    "state": ("own.state", ["run", *SMALL_OPTIONS, "--state", "own.state", "--requests", "3"]),
    "info": ("own.csv", ["trace", "info", "own.csv"]),
    "convert": ("own.csv", ["trace", "convert", "own.csv", "out.csv"]),
    "sample": ("own.csv", ["trace", "sample", "own.csv", "out.csv", "--requests", "1"]),
    "gaps": ("own.csv", ["queueing", "--gaps", "own.csv", "--requests", "3"]),
}

Command = Callable[..., Ended]


@pytest.fixture
def command(workplace: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """Runs a command in this process, since there are many cases."""

    def run(arguments: list[str]) -> Ended:
        monkeypatch.setattr(sys, "argv", ["ssdlab", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        assert isinstance(end.value.code, int)
        out, err = capfd.readouterr()
        assert workplace.exists()
        return Ended(end.value.code, out, err)

    return run


def one_line(ended: Ended) -> str:
    """Checks that a command succeeded, or failed with a one-line message."""
    assert ended.code in (0, 1, 2), ended.err
    assert "Traceback" not in ended.err
    for bad in ("internal error", "panicked", "Error("):
        assert bad not in ended.err, ended.err[:500]
    if ended.code and not ended.out:
        assert len(ended.err.splitlines()) == 1, ended.err[:500]
    assert len(ended.err) < LONGEST_MESSAGE, ended.err[:500]
    assert "\x1b" not in ended.err
    return ended.err


@pytest.mark.parametrize("reader", READERS)
def test_a_file_with_nasty_content_is_one_line(command: Command, workplace: Path, reader: str) -> None:
    name, words = READERS[reader]
    file = workplace / name
    file.parent.mkdir(parents=True, exist_ok=True)
    for what, content in CONTENTS.items():
        file.write_bytes(content)
        ended = command(words)
        one_line(ended)
        if ended.code == 0:
            assert reader in {"config", "device", "scheme", "workload"}, (what, ended.out)  # a file without a key sets none
            assert what == "empty"


@pytest.mark.parametrize("reader", READERS)
def test_a_file_that_cannot_be_read_ends_as_one_that_is_missing(command: Command, workplace: Path, reader: str) -> None:
    """A loop of links, a folder, and nothing at all: the same exit code, 1, but where only a folder was named."""
    name, words = READERS[reader]
    file = workplace / name
    file.parent.mkdir(parents=True, exist_ok=True)
    codes = {}
    for what in ("missing", "loop of links", "folder"):
        if what == "loop of links":
            file.symlink_to(file.name)
        elif what == "folder":
            file.unlink()
            file.mkdir()
        ended = command(words)
        one_line(ended)
        codes[what] = ended.code
    assert all(codes.values())
    named = name in words
    assert set(codes.values()) == {1} or not named, codes


@pytest.mark.parametrize("reader", [reader for reader, (name, words) in READERS.items() if name in words])
@pytest.mark.parametrize(
    "name", ["\udcff.{}", "{}\udcff", LONG + ".{}", "loop/x.{}", "x" * 250 + ".{}"], ids=["not UTF-8", "end", "long", "loop", "250"]
)
def test_a_file_with_a_nasty_name_is_one_line(command: Command, reader: str, name: str) -> None:
    file, words = READERS[reader]
    nasty = name.format(file.rpartition(".")[2])
    ended = command([nasty if word == file else word for word in words])
    assert ended.code in (1, 2)
    one_line(ended)


def test_a_trace_whose_name_is_not_utf_8_is_read(command: Command, workplace: Path) -> None:
    name = "\udcff.csv"
    Path("good.csv").rename(name)
    for words in (["trace", "info", name], ["trace", "convert", name, "out.csv"]):
        ended = command(words)
        assert ended.code == 0, ended.err


@pytest.mark.parametrize(
    "value", ["gc.soft=\udcff", "\udcff=1", f"gc.soft={LONG}", f"{LONG}=1", "gc.soft=\x1b[31m", f"gc.soft={'[' * 10_000}"]
)
def test_a_nasty_setting_is_one_line(command: Command, value: str) -> None:
    ended = command(["run", "--set", value, "--requests", "3"])
    assert ended.code == 2
    one_line(ended)


@pytest.mark.parametrize("option", ["--device", "--scheme", "--workload", "--format", "--fit", "--requests", "--timeline-window"])
@pytest.mark.parametrize("value", ["\udcff", LONG, "\x1b[31m", ""], ids=["not UTF-8", "long", "escape", "empty"])
def test_a_nasty_option_is_one_line(command: Command, option: str, value: str) -> None:
    ended = command(["run", "--trace", "good.csv", option, value])
    assert ended.code in ((1, 2) if value else (0, 1, 2))
    one_line(ended)


@pytest.mark.parametrize("content", CONTENTS)
def test_resuming_beside_a_damaged_result_runs_it_again(command: Command, workplace: Path, content: str) -> None:
    (workplace / "own.toml").write_text("requests = 3\n[grid]\nseed = [1]\n")
    sweep = ["sweep", "own.toml", "--out", "results", "--quiet"]
    assert command(sweep).code == 0
    (result,) = (workplace / "results").glob("*/result.json")
    digest = json.loads(result.read_bytes())["digest"]
    result.write_bytes(CONTENTS[content])
    ended = command([*sweep, "--resume"])
    one_line(ended)
    with contextlib.suppress(ValueError, RecursionError, TypeError, KeyError):
        assert json.loads(result.read_bytes())["digest"] == digest


@pytest.mark.parametrize("encoding", ["utf-8:strict", "ascii:strict"])
def test_output_takes_names_and_signs_that_its_encoding_does_not_have(ssdlab_command: Ssdlab, tmp_path: Path, encoding: str) -> None:
    trace = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.csv")
    Path(trace).write_text("timestamp_us,op,offset_bytes,size_bytes\n0,R,0,4096\n")
    done = ssdlab_command("trace", "info", trace, env={"PYTHONIOENCODING": encoding})
    assert (done.code, done.err) == (0, "")
    assert "\\udcff.csv" in done.out
