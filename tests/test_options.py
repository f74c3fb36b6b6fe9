"""The options of a run are defined once: functions, their documentation, commands and files all follow `ssdlab.asking.options`."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Unpack, get_args, get_type_hints

import pytest
import typer

import ssdlab
from conftest import PATIENCE_S, ROOT
from ssdlab.asking import options
from ssdlab.asking.option import Option, complete, file_types, options_of, takes
from ssdlab.asking.options import RunOptions
from ssdlab.cli import app
from ssdlab.cli.options import as_command
from ssdlab.cli.parts import PARTS
from ssdlab.cli.reading import read_plainly

FUNCTIONS: dict[str, tuple[Callable[..., Any], type]] = {
    "run": (ssdlab.run, options.RunOptions),
    "compare": (ssdlab.compare, options.CompareOptions),
    "sweep": (ssdlab.sweep, options.SweepOptions),
    "precondition": (ssdlab.precondition, options.PreconditionOptions),
    "Simulator": (ssdlab.Simulator, options.SimulatorOptions),
    "replay_cache": (ssdlab.replay_cache, options.CacheOptions),
}
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
KINDS = {"run": options.RunOptions, "compare": options.CompareOptions, "precondition": options.PreconditionOptions}
FILE_TYPES = {
    **dict.fromkeys(("device", "scheme", "workload", "config", "trace", "fio", "prefill", "state", "verify", "format", "volume"), (str,)),
    **dict.fromkeys(("time_unit", "event", "fio_wait", "load_of"), (str,)),
    **dict.fromkeys(("unit_bytes", "bad_lines", "requests", "seed", "skip", "queue_depth"), (int,)),
    **dict.fromkeys(("time_scale", "limit_s", "load"), (int, float)),
    "fit": (int, str),
    "warm_up": (int, str),
    "set": (dict,),
    "alone": (bool,),
    "state_cache": (bool,),
    **dict.fromkeys(("victim", "eviction", "order", "placement"), (str,)),
}
MISTAKES = """
import ssdlab
ssdlab.run(devise="lee2013")
ssdlab.run(requests="many")
ssdlab.compare(schemes=5)
ssdlab.Simulator(trace="some.csv")
ssdlab.sweep({"seed": [1]}, verify="never")
ssdlab.run(device="lee2013", fit="trace", requests=5, out=None).digest
"""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_its_options_in_its_signature(name: str) -> None:
    function, kind = FUNCTIONS[name]
    parameters = inspect.signature(function).parameters
    assert not [one for one in parameters.values() if one.kind is inspect.Parameter.VAR_KEYWORD]
    for option, about in options_of(kind).items():
        assert parameters[option].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[option].default == about.default
        assert not hasattr(parameters[option].annotation, "__metadata__")
    target = function.__init__ if inspect.isclass(function) else function
    assert get_args(get_type_hints(target)["options"]) == (kind,)  # what editors and type checkers see


def test_the_documentation_describes_every_option_once() -> None:
    described = inspect.getdoc(ssdlab.run) or ""
    for name, option in options_of(options.RunOptions).items():
        assert described.count(f"\n    {name}: {option.about[:20]}") == 1
        assert option.about.endswith(".")
        assert option.help.endswith(".")
    more = inspect.getdoc(ssdlab.compare) or ""
    assert "\n    paired: " in more
    assert "\n    device: " not in more


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_option_that_there_is_not_is_a_type_error_as_of_any_function(name: str) -> None:
    given: dict[str, Any] = {"precondition": {"out": "x"}, "sweep": {"grid": {}}, "replay_cache": {"requests": []}}.get(name, {})
    with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'devise'"):
        FUNCTIONS[name][0](**given, devise="lee2013")


@pytest.mark.full
def test_the_type_checker_knows_the_options(tmp_path: Path) -> None:
    (tmp_path / "mistakes.py").write_text(MISTAKES)
    kept = str(ROOT / ".mypy_cache" / "strict")
    words = ["--strict", "--no-error-summary", "--cache-dir", kept, "--follow-imports", "silent", "mistakes.py"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words],
        cwd=tmp_path,
        env={"MYPYPATH": str(ROOT / "python"), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    lines = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    assert lines == {3, 4, 5, 6, 7}, done.stdout + done.stderr


@pytest.mark.parametrize("command", KINDS)
def test_a_command_has_the_options_of_its_function(command: str) -> None:
    words = {parameter.name: parameter for parameter in COMMANDS[command].params}
    for name, option in options_of(KINDS[command]).items():
        if not option.usage:
            assert name not in words
        else:
            found = words[name]
            assert (found.opts, found.help, found.metavar) == (option.flags, option.help, option.metavar)
            assert found.rich_help_panel == option.heading


def test_only_series_are_for_python_only() -> None:
    python_only = {name for name, option in options_of(options.RunOptions).items() if not option.usage}
    assert python_only == {"series"}


def test_files_take_options_of_the_types_that_functions_do() -> None:
    assert file_types(options.SweepOptions) == FILE_TYPES


# ---------------------------------------------------------------------------------------------------------------------------------------
# An option that is added.

Depth = Annotated[int | None, Option("How deep to go. From 1 on.", "--depth N", "Checks", "count", key="gc.depth")]


class MoreOptions(RunOptions, total=False):
    """The options of `run`, and one more."""

    depth: Depth


@takes(MoreOptions)
def dig(**given: Unpack[MoreOptions]) -> int | None:
    """Digs.

    Raises:
        ssdlab.Error: where it is too deep.
    """
    return complete("dig", MoreOptions, given)["depth"]


def test_an_option_that_is_added_is_known_to_functions_help_and_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert (dig(), dig(depth=3)) == (None, 3)
    assert inspect.signature(dig).parameters["depth"].default is None
    assert "    depth: How deep to go. From 1 on.\n\nRaises:" in (inspect.getdoc(dig) or "")

    def command(**words: Unpack[MoreOptions]) -> None:
        print(words["depth"], words["device"], "series" in words)

    digger = typer.Typer()
    digger.command()(as_command(command))
    depth = next(one for one in typer.main.get_command(digger).params if one.name == "depth")
    assert vars(depth)["help"] == "How deep to go."
    digger(["--depth", "2k", "--device", "demo-4g"], standalone_mode=False)
    assert capsys.readouterr().out.split() == ["2000", "demo-4g", "False"]


# ---------------------------------------------------------------------------------------------------------------------------------------
# How words are read, and commands found.

WORDS = ("5", "05", "-1", "+5", " 5", "5.0", "1e3", "٣", "0", "", "abc", "2k", "18446744073709551615", "18446744073709551616", "end", "End")


@pytest.mark.parametrize("option", ["seed", "seeds", "jobs", "requests", "device", "time_scale", "out", "trace", "verify"])
def test_a_plain_word_is_read_as_typer_reads_it(option: str) -> None:
    command = COMMANDS["compare"]
    parameter = next(one for one in command.params if one.name == option)
    context = typer.Context(command)
    vars(parameter).pop("get_runtime_param", None)
    expected = [outcome(parameter, word, context) for word in (*WORDS, None, parameter.default)]
    read_plainly([parameter])
    assert [outcome(parameter, word, context) for word in (*WORDS, None, parameter.default)] == expected


def outcome(parameter: Any, word: Any, context: Any) -> tuple[Any, ...]:
    """The value of a word with its type, or the error."""
    try:
        value = parameter.get_runtime_param().coerce(word, param=parameter, ctx=context)
    except typer.BadParameter as error:
        return ("error", error.message)
    return type(value), value


def test_every_command_is_where_it_is_said_to_be() -> None:
    assert list(COMMANDS) == list(PARTS)
    for name, part in PARTS.items():
        assert COMMANDS[name].help == part.about
        assert list(getattr(COMMANDS[name], "commands", {})) == list(part.below)
    assert COMMANDS.get("nothing") is None
