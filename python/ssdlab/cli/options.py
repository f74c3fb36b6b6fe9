"""Conversion of the options in `ssdlab.asking.options` to options of the command line."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args

import typer

from ssdlab import _core
from ssdlab.asking.option import Completion, Form, option_of, signature_with
from ssdlab.asking.options import Window
from ssdlab.checks import LARGEST, amount, text
from ssdlab.errors import UsageError
from ssdlab.system.progress import show_reading

__all__ = ["TimeOrder", "as_command", "count", "folder", "parse_settings", "parse_window", "size"]

Function = TypeVar("Function", bound=Callable[..., Any])


def _hush(quiet: bool) -> bool:
    """Disables progress bars before the command starts to read files."""
    if quiet:
        show_reading(False)
    return quiet


def _not(given: bool) -> bool:
    return not given


def count(text: str) -> int:
    """Parses a number such as 5000, 5k or 2M."""
    return _amount(text, in_bytes=False)


def size(text: str) -> int:
    """Parses a number of bytes such as 4096, 4k, 4KiB or 4kB."""
    return _amount(text, in_bytes=True)


def _amount(text: str, *, in_bytes: bool) -> int:
    try:
        return amount("", text, in_bytes=in_bytes)
    except UsageError as error:
        raise typer.BadParameter(str(error).removeprefix(" = ")) from error


def _preset(kind: Literal["device", "scheme", "workload"]) -> Callable[[str], list[str]]:
    """The shell completion of preset names, also after a `+`."""

    def complete(incomplete: str) -> list[str]:
        before, plus, last = incomplete.rpartition("+")
        return [f"{before}{plus}{name}" for name, _about, _source in _core.presets(kind) if name.startswith(last)]

    return complete


def _format(incomplete: str) -> list[str]:
    choices = next(key["choices"] for key in json.loads(_core.keys()) if key["name"] == "workload.format")
    return [choice["name"] for choice in choices if choice["name"].startswith(incomplete)]


def _key(incomplete: str) -> list[str]:
    return [f"{key['name']}=" for key in json.loads(_core.keys()) if key["name"].startswith(incomplete)]


def folder(text: str) -> Path:
    """Checks the name of a folder; returns its path."""
    if not text:
        raise typer.BadParameter("expected the name of a folder; . is the current one")
    return Path(text)


class TimeOrder(StrEnum):
    """Handling of times that decrease in a trace."""

    error = "error"
    clamp = "clamp"
    sort = "sort"


class _Read(NamedTuple):
    """Type and further typer settings of a value form."""

    kind: Any
    more: Mapping[str, Any] = MappingProxyType({})


FORMS: Mapping[Form, _Read] = MappingProxyType(
    {
        "text": _Read(str),
        "texts": _Read(list[str]),
        "number": _Read(float),
        "count": _Read(int, {"parser": count}),
        "size": _Read(int, {"parser": size}),
        "seed": _Read(int, {"min": 0, "max": LARGEST}),
        "positive": _Read(int, {"min": 1}),
        "file": _Read(Path),
        "folder": _Read(Path, {"parser": folder}),
        "flag": _Read(bool),
    }
)
COMPLETIONS: Mapping[Completion, Callable[[str], list[str]]] = MappingProxyType(
    {"device": _preset("device"), "scheme": _preset("scheme"), "workload": _preset("workload"), "format": _format, "key": _key}
)
CALLBACKS = {"quiet": _hush}
"""Callbacks that run as soon as an option is parsed, by option. A flag that turns off what is on by default has `_not`."""


def as_command(function: Function) -> Function:
    """Sets a function's signature for typer: the options of `**options: Unpack[...]` and its own parameters."""
    plain = inspect.signature(function, eval_str=True)
    kinds = [get_args(one.annotation)[0] for one in plain.parameters.values() if one.kind is inspect.Parameter.VAR_KEYWORD]
    if kinds:
        plain = signature_with(plain, kinds[0])
    parameters = [_parameter(one) for one in plain.parameters.values() if not _is_for_python_only(one)]
    function.__signature__ = plain.replace(parameters=parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {one.name: one.annotation for one in parameters}
    return function


def _is_for_python_only(parameter: inspect.Parameter) -> bool:
    option = option_of(parameter.annotation)
    return option is not None and not option.usage


def _parameter(parameter: inspect.Parameter) -> inspect.Parameter:
    option = option_of(parameter.annotation)
    if option is None or not option.usage:
        return parameter
    read = _choice(parameter) if option.form == "choice" else FORMS[option.form]
    turns_off = option.form == "flag" and option.default
    word = typer.Option(
        *option.flags,
        help=option.help,
        metavar=option.metavar,
        autocompletion=COMPLETIONS.get(option.complete) if option.complete else None,
        callback=_not if turns_off else CALLBACKS.get(parameter.name),
        rich_help_panel=option.heading,
        **read.more,
    )
    default = read.kind(parameter.default) if option.form == "choice" else False if turns_off else parameter.default
    return parameter.replace(annotation=Annotated[read.kind | None if default is None else read.kind, word], default=default)


def _choice(parameter: inspect.Parameter) -> _Read:
    """The form of a `Literal`: an enumeration, whose values help lists."""
    return _Read(StrEnum(parameter.name.capitalize(), [(value, value) for value in get_args(parameter.annotation.__origin__)]))


def parse_settings(settings: Any) -> tuple[tuple[str, str], ...]:
    """Parses the values of `--set`, `KEY=VALUE` each, to pairs; the value stays TOML text."""
    pairs = []
    for setting in settings or []:
        text("--set", setting)
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise UsageError(f'--set "{setting}": expected KEY=VALUE, such as gc.soft=0.05')
        pairs.append((key.strip(), value.strip()))
    return tuple(pairs)


def parse_window(text: Any) -> Window | None:
    """Parses `--timeline-window START:END`, us."""
    if text is None:
        return None
    start, colon, end = text.partition(":")
    try:
        times = tuple(float(us) if us.strip() else None for us in (start, end))
    except ValueError:
        times = ()
    if not colon or len(times) != 2:
        raise UsageError(f'--timeline-window "{text}": expected START:END in microseconds, such as 1000:2500')
    return times
