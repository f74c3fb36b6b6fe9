"""The options in the command of a result, which repeats its run: the inverse of `Setup.command`."""

from __future__ import annotations

import contextlib
import shlex
import tomllib
from functools import cache
from typing import Any, NamedTuple

from ssdlab.asking.option import file_types, options_of
from ssdlab.asking.options import RunOptions
from ssdlab.asking.plans import Setup, value_text

__all__ = ["Asked", "asked_by"]

SETTING = "--set"


class Asked(NamedTuple):
    """What a command asks for."""

    scheme: str | None
    options: dict[str, Any]
    """Options of a `Setup`, by name."""
    set: dict[str, Any]
    """Values of single keys."""

    def setup(self) -> Setup:
        """The setup of the run, which may share its inputs with others."""
        return Setup(shared=True, set=tuple((key, value_text(value)) for key, value in self.set.items()), **self.options)


def asked_by(command: str) -> Asked:
    """The options in a command that `Setup.command` has written."""
    options: dict[str, Any] = {}
    keys: dict[str, Any] = {}
    words = iter(shlex.split(command)[2:])
    for flag in words:
        name, kinds = _options()[flag]
        if flag == SETTING:
            key, _, text = next(words).partition("=")
            keys[key] = _value(text)
        else:
            options[name] = True if kinds == (bool,) else _typed(next(words), kinds)
    return Asked(options.pop("scheme", None), options, keys)


@cache
def _options() -> dict[str, tuple[str, tuple[type, ...]]]:
    """Name and types of each option of a run, by flag."""
    types = file_types(RunOptions)
    return {option.flags[0]: (name, types[name]) for name, option in options_of(RunOptions).items() if option.flags}


def _typed(word: str, kinds: tuple[type, ...]) -> Any:
    """A word as the first of these types that it can be."""
    for kind in kinds:
        if kind in (int, float):
            with contextlib.suppress(ValueError):
                return kind(word)
    return word


def _value(text: str) -> Any:
    """The value of a key from TOML text; texts may be without quotes, as with `--set`."""
    with contextlib.suppress(tomllib.TOMLDecodeError):
        found = tomllib.loads(f"value = {text}")
        if len(found) == 1:
            return found["value"]
    return text
