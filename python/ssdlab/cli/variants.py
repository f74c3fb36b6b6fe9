"""`--variant "LABEL: OPTIONS"`: a variant of a comparison on the command line, with the options of `ssdlab run`."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from functools import cache
from typing import Any, Unpack

from ssdlab.asking import options as o
from ssdlab.asking.option import options_of, picked
from ssdlab.checks import text
from ssdlab.cli.command import command_of
from ssdlab.cli.options import parse_settings
from ssdlab.errors import UsageError
from ssdlab.runs.variants import INSTEAD, OF_RUN, Variant

__all__ = ["parse_variants"]

EXAMPLE = "such as --variant 'small buffer: buffer.bytes=4MiB' or --variant 'QLC: --device nvme-qlc-2023 --set gc.soft=0.1'"

OF_COMMAND = ("--variant", "--best", "--json", "--quiet", "-q", "--expect-gc", "--kit")
"""Options of the command alone."""


def parse_variants(words: Iterable[str]) -> list[Variant]:
    """Parses the values of `--variant`.

    Raises:
        UsageError: a value has no label, or options that no variant may have.
    """
    return [_parse(text("--variant", word)) for word in words]


def _parse(word: str) -> Variant:
    label, colon, rest = f"{word} ".partition(": ")
    if not colon or not label.strip():
        raise UsageError(f'--variant "{word}": expected a label, a colon and a space, then options of run or KEY=VALUE, {EXAMPLE}')
    label = label.strip()
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise UsageError(f'--variant "{label}": {rest.strip()}: {error}') from error
    given, settings = _read(label, words)
    return Variant(label, given, parse_settings(settings))


def _read(label: str, words: list[str]) -> tuple[dict[str, Any], list[str]]:
    """The options among words, by name, and the single keys among them, `KEY=VALUE` with or without `--set`."""
    context_settings = {"info_name": "compare --variant", "args": list(words)}
    try:
        context = _command().make_context(**context_settings)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        raise UsageError(f'--variant "{label}": {_refusal(str(error.format_message()), words)}') from error
    stray = [word for word in context.args if "=" not in word or word.startswith("-")]
    if stray:
        raise UsageError(f'--variant "{label}": {stray[0]}: expected an option of run or KEY=VALUE, {EXAMPLE}')
    named = {name for name in context.params if context.get_parameter_source(name).name == "COMMANDLINE"}
    options = {name: value for name, value in picked(o.VariantOptions, context.params).items() if name in named and name != "set"}
    return options, [*(context.params["set"] or ()), *context.args]


def _refusal(message: str, words: list[str]) -> str:
    """The parser's message, or for an option that no variant may have where that belongs."""
    own = _flags(o.VariantOptions)
    others = {*_flags(o.RunOptions), *_flags(o.CompareOptions), *OF_COMMAND} - own
    flag = next((given for given in (word.partition("=")[0] for word in words) if given in others), None)
    if flag is None:
        return message.rstrip(".")
    name = next((name for name, option in options_of(o.RunOptions).items() if flag in option.flags), "")
    if name not in OF_RUN:
        return f"{flag} is an option of the whole comparison: give it beside --variant"
    instead = f": give --{INSTEAD[name]} beside --variant" if name in INSTEAD else ""
    return f"{flag} is an option of `ssdlab run`, which compare does not have{instead}"


def _flags(kind: type) -> set[str]:
    return {flag for option in options_of(kind).values() for flag in option.flags}


@cache
def _command() -> Any:
    """The command that parses a variant: the options of `run` that it may have, and words besides."""

    def variant(**words: Unpack[o.VariantOptions]) -> None:
        """Parses a variant."""

    return command_of("variant", variant, allow_extra_args=True, help_option_names=[])
