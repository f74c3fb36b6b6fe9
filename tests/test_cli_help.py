"""The command line at first contact: help, and messages for words that commands do not take."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
import typer

import ssdlab
from conftest import DRIVE_OPTIONS, PATIENCE_S, ROOT, SMALL_OPTIONS, Ssdlab
from shares import FULL
from ssdlab.asking.option import Heading
from ssdlab.cli import app
from ssdlab.cli.app import _run
from ssdlab.cli.guides import GUIDES

sys.path.insert(0, str(ROOT / "tools"))

from command_reference import commands

TRACE = "timestamp_us,op,offset_bytes,size_bytes\n0,W,0,4096\n100,R,0,4096\n250,W,8192,4096\n"
SWEEP = 'workload = "lee2013-synthetic"\nrequests = 500\n[grid]\nscheme = ["npgc", "pgc"]\n'
ALL = {" ".join(words[1:]): command for words, command in commands(["ssdlab"], typer.main.get_command(app))}
NOT_RUN = ("trace record", "calibrate", "cliffs", "serve", "explore", "import")
"""Commands that need root and a device, minutes, clients, or files of others: see `test_trace_record.py`, `test_calibration.py`,
`test_cliffs.py`, `test_serve.py`, `test_explore.py` and `test_import.py`."""


def called(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Runs a command in this process; returns exit code and output. There are many cases, which end before files are read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["ssdlab", *words])
        code = _run()
    return code, *capsys.readouterr()


def single_options() -> list[tuple[str, str]]:
    """Every option of every command that takes one value."""
    return [
        (words, max(parameter.opts, key=len))
        for words, command in ALL.items()
        for parameter in command.params
        if words and parameter.param_type_name == "option" and not (parameter.multiple or parameter.is_flag)
    ]


# ---------------------------------------------------------------------------------------------------------------------------------------
# Options given twice, words too many.


@pytest.mark.parametrize(("words", "option"), single_options())
def test_an_option_given_twice_is_refused_not_overridden(words: str, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = called([*words.split(), option, "1", option, "1"], capsys)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert f"{option}: given 2 times: expected once" in err


def test_a_second_scheme_of_run_is_refused_and_says_what_to_do(ssdlab_command: Ssdlab) -> None:
    line = ssdlab_command("run", *SMALL_OPTIONS, "--scheme", "npgc", "--scheme=slacker", "--requests", 10).failed(2)
    assert "--scheme: given 2 times" in line
    assert "npgc+slacker" in line
    assert "ssdlab compare" in line


def test_a_flag_and_what_may_be_repeated_are_taken_twice(ssdlab_command: Ssdlab) -> None:
    assert ssdlab_command("run", *SMALL_OPTIONS, "--requests", 10, "--quiet", "--quiet").code == 0


@pytest.mark.parametrize("words", [["--scheme", "npgc", "pgc", "fpgc"], ["--scheme=npgc", "pgc", "fpgc"]])
def test_several_schemes_behind_one_option_are_told_to_repeat_it(ssdlab_command: Ssdlab, words: list[str]) -> None:
    line = ssdlab_command("compare", *words).failed(2)
    assert "repeat --scheme for each: --scheme npgc --scheme pgc --scheme fpgc" in line


@pytest.mark.parametrize("command", [["compare"], ["run"], ["precondition", "--out", "x.state"]])
def test_schemes_with_commas_are_told_to_repeat_the_option(ssdlab_command: Ssdlab, command: list[str]) -> None:
    line = ssdlab_command(*command, "--scheme", "npgc,pgc").failed(2)
    assert "--scheme npgc --scheme pgc" in line
    with pytest.raises(ssdlab.UsageError, match="expected one scheme"):
        ssdlab.compare(schemes=["npgc,pgc"])


def test_a_second_file_behind_an_option_is_named(ssdlab_command: Ssdlab) -> None:
    line = ssdlab_command("run", "--trace", "a.csv", "b.csv").failed(2)
    assert "b.csv: a second value behind --trace a.csv, which takes one" in line
    assert "no option" in ssdlab_command("run", "--json", "surplus").failed(2)


# ---------------------------------------------------------------------------------------------------------------------------------------
# Amounts.


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        (["--requests", "0.1k"], ["--requests", "100"]),
        (["--requests", "100", "--fit", "2MiB"], ["--requests", "100", "--fit", "2097152"]),
        (["--requests", "100", "--fit", "2m"], ["--requests", "100", "--fit", "2097152"]),
        (["--requests", "100", "--fit", "2MB"], ["--requests", "100", "--fit", "2000000"]),
        (["--requests", "100", "--set", "device.page_bytes=8k"], ["--requests", "100", "--set", "device.page_bytes=8192"]),
        (["--requests", "100", "--set", "cache.policy=lru", "--set", "cache.bytes=64KiB"], None),
    ],
)
def test_sizes_and_counts_take_units(ssdlab_command: Ssdlab, given: list[str], plain: list[str] | None) -> None:
    drive = [part for part in SMALL_OPTIONS if not ("--fit" in given and "blocks_per_plane" in part)]
    drive = _pairs(drive)
    done = ssdlab_command("run", *drive, *given, "--json").json()
    if plain is None:
        assert done["config"]["cache"]["bytes"] == 64 * 1024
    else:
        assert done["digest"] == ssdlab_command("run", *drive, *plain, "--json").json()["digest"]


def _pairs(words: list[str]) -> list[str]:
    """The words without a `--set` that lost its value."""
    return [word for index, word in enumerate(words) if word != "--set" or (index + 1 < len(words) and words[index + 1] != "--set")]


def test_sizes_in_files_take_units(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('[cache]\npolicy = "lru"\nbytes = "1.5MiB"\n')
    done = ssdlab_command("run", *SMALL_OPTIONS, "--config", "own.toml", "--requests", 10, "--json").json()
    assert done["config"]["cache"]["bytes"] == 1_572_864
    (tmp_path / "own.toml").write_text('[cache]\nbytes = "1.5 MiBs"\n')
    line = ssdlab_command("run", "--config", "own.toml").failed(2)
    assert 'own.toml:2: cache.bytes = "1.5 MiBs": expected a number of bytes such as 4096, 4k' in line


def test_traces_take_counts_and_sizes_with_units(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TRACE)
    done = ssdlab_command("run", *DRIVE_OPTIONS, "--trace", "t.csv", "--skip-bad-lines", "1k", "--json").json()
    assert done["config"]["workload"]["bad_lines"] == 1000
    (tmp_path / "t.dis").write_text("0.0 0 0 8 0\n1.0 0 8 8 1\n")
    info = ssdlab_command("trace", "info", "t.dis", "--format", "disksim", "--unit-bytes", "4k", "--json").json()
    assert info["max_end_bytes"] == 16 * 4096
    assert ssdlab_command("trace", "sample", "t.csv", "part.csv", "--requests", "0.002k").code == 0
    assert len((tmp_path / "part.csv").read_text().splitlines()) == 3


@pytest.mark.parametrize("option", ["--requests", "--skip-bad-lines", "--unit-bytes", "--fit", "--timeline-limit"])
@pytest.mark.parametrize("value", ["many", "5x", "1.0001k", "k", ""])
def test_what_is_no_amount_is_told_the_forms(ssdlab_command: Ssdlab, option: str, value: str) -> None:
    line = ssdlab_command("run", option, value).failed(2)
    assert option.lstrip("-") in line
    assert ("4096, 4k" if option in {"--unit-bytes", "--fit"} else "5000, 5k") in line


# ---------------------------------------------------------------------------------------------------------------------------------------
# Help.


@pytest.mark.parametrize("command", ["run", "compare", "sweep"])
def test_a_command_without_a_word_says_what_it_needs(ssdlab_command: Ssdlab, command: str) -> None:
    done = ssdlab_command(command)
    assert (done.code, done.out) == (2, "")
    for word in ("Usage: ", "Give it ", "Examples:", f"ssdlab {command} --help` lists all options."):
        assert word in done.err
    assert len(done.err.splitlines()) < 24


def test_trace_without_a_word_lists_its_commands(ssdlab_command: Ssdlab) -> None:
    done = ssdlab_command("trace")
    assert done.code == 2
    for word in ("info", "convert", "sample", "record", "Examples:"):
        assert word in done.out


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize("words", ALL)
def test_help_has_examples_and_fits_the_terminal(
    words: str, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = help_of(words, capsys)
    for line in shown.splitlines():
        assert len(line) <= columns, line
        assert line.startswith("Usage:") or not line.rstrip().endswith("..."), line  # cut
        assert len(line) <= 100, line
    if words:
        assert "Examples:" in shown


def help_of(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The help of a command."""
    code, out, _ = called([*words.split(), "--help"], capsys)
    assert code == 0
    return out


def test_options_of_a_long_help_are_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    shown = help_of("run", capsys)
    for heading in ("What is simulated:", "Traces:", "Checks:", "Results:", "Timelines:", "Options:"):
        assert f"\n{heading}\n" in shown


def test_every_group_of_options_has_some_and_no_option_another_group() -> None:
    named = {getattr(parameter, "rich_help_panel", None) for command in ALL.values() for parameter in command.params}
    assert named - {None} == set(get_args(Heading))


def test_every_command_has_examples_that_run(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    """One after the other, in one folder, as help has them."""
    assert set(GUIDES) == set(ALL) - {""}
    (tmp_path / "trace.csv").write_text(TRACE)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    (tmp_path / "ours.py").write_text("def oldest(choices):\n    return min(range(len(choices)), key=lambda i: choices.ready_ns[i])\n")
    for words, guide in GUIDES.items():
        assert guide.examples[0].startswith(f"ssdlab {words}")
        for example in guide.examples if words not in NOT_RUN else ():
            program, *given = shlex.split(example)
            assert program == "ssdlab"
            done = ssdlab_command(*given, *(["--quick"] if words == "arena run" and not FULL else []))
            assert done.code == 0, (example, done.err)


# ---------------------------------------------------------------------------------------------------------------------------------------
# Completion by the shell.


def completed(*words: str) -> list[str]:
    """The completions that bash gets for the last word."""
    environment: dict[str, Any] = {
        **os.environ,
        "_SSDLAB_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(["ssdlab", *words]),
        "COMP_CWORD": str(len(words)),
    }
    script = "import sys; sys.argv = ['ssdlab']; from ssdlab.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.stderr == ""
    return done.stdout.split()


def test_a_shell_completes_commands_presets_formats_and_keys() -> None:
    assert completed("prec") == ["precondition"]
    assert {"demo-4g"} == set(completed("run", "--device", "demo-4"))
    assert {"npgc", "npgc-idle"} <= set(completed("compare", "--scheme", "npg"))
    assert completed("run", "--scheme", "npgc+slack") == ["npgc+slacker"]
    assert completed("run", "--format", "blkp") == ["blkparse"]
    assert completed("run", "--set", "gc.sof") == ["gc.soft="]
    assert "--workload" in completed("run", "--wor")


def test_a_shell_is_given_a_script(ssdlab_command: Ssdlab) -> None:
    done = ssdlab_command("--show-completion", env={"SHELL": "/bin/bash"})
    assert done.code in (0, 1)  # the shell is found by the process that started it
    assert "Traceback" not in done.err
