"""The reference of the command line, made of the commands: what `--help` prints of each, on one page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import EnumType
from typing import Any, get_args

import typer

from ssdlab.cli import app
from ssdlab.cli.guides import GUIDES, NO_GUIDE

INTRODUCTION = """\
# Commands and options

Every command with all of its arguments and options, as `--help` has them. [What all commands share](../howto/commands.md):
layers of a configuration, units, folders of results, exit codes.
"""


def page() -> str:
    """The text of the page."""
    return INTRODUCTION + "".join(command_section(words, command) for words, command in commands(["ssdlab"], typer.main.get_command(app)))


def commands(words: list[str], command: Any) -> Iterator[tuple[list[str], Any]]:
    """A command and its subcommands, with the words that call them."""
    yield words, command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands([*words, name], below)


def command_section(words: list[str], command: Any) -> str:
    """The section of a command: usage, arguments, options and examples."""
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    usage = [*words, *(["[OPTIONS]"] if options else []), *(written(argument) for argument in arguments)]
    below = list(getattr(command, "commands", {}))
    text = f"\n## `{' '.join(words)}`\n\n{' '.join((command.help or '').split())}\n\n"
    if below:
        links = ", ".join(f"[`{name}`](#{'-'.join([*words, name])})" for name in below)
        text += f"Commands: {links}.\n"
        text += "" if not options else "\n"
    else:
        text += f"    {' '.join(usage)}\n\n"
    if arguments:
        text += "| argument | |\n|---|---|\n"
        text += "".join(f"| {code(written(argument))} | {cell(argument.help)} |\n" for argument in arguments)
        text += "\n" if options else ""
    if options:
        text += "| option | default | |\n|---|---|---|\n"
        text += "".join(option_row(option) for option in options)
    examples = GUIDES.get(" ".join(words[1:]), NO_GUIDE).examples
    if examples:
        text += "\n" + "```console\n" + "".join(f"$ {example}\n" for example in examples) + "```\n"
    return text


def written(argument: Any) -> str:
    """An argument in the form of the usage line."""
    name = argument.metavar or "|".join(choices(argument)) or argument.name.upper()
    return name if argument.required else f"[{name}]"


def option_row(option: Any) -> str:
    """A table row for an option: value, default, description and range."""
    value = "" if option.is_flag else f" {option.metavar or '|'.join(choices(option))}"
    assert option.is_flag or value.strip(), option.name
    names = ", ".join(code(name + value) for name in sorted(option.opts, key=len, reverse=True))
    default = getattr(option.default, "value", option.default)
    shown = "required" if option.required else "" if default in (None, False, []) else f"`{default}`"
    repeated = option.multiple and not re.search("once for each|repeated", option.help)
    return f"| {names} | {shown} | {cell(option.help)}{' May be repeated.' if repeated else ''}{bounds(option)} |\n"


def bounds(option: Any) -> str:
    """The range of an option, as a sentence."""
    least, most = (str(bound).replace(str(2**64 - 1), "2^64 - 1") for bound in (option.min, option.max))
    if option.max is not None:
        return f" {least} to {most}."
    return "" if option.min is None else f" At least {least}."


def choices(parameter: Any) -> list[str]:
    """The choices of an option."""
    annotation = parameter.type_descriptor.annotation if hasattr(parameter, "type_descriptor") else None
    annotation = (*get_args(annotation), annotation)[0]  # of a list its entries
    return [choice.value for choice in annotation] if isinstance(annotation, EnumType) else []


def code(text: str) -> str:
    """Code in a table. A bar would end its cell, and escapes of bars in backquotes differ between Markdown dialects."""
    return f"<code>{text.replace('|', '&#124;')}</code>" if "|" in text else f"`{text}`"


def cell(text: str) -> str:
    """Text in a table."""
    return " ".join(text.split()).replace("|", "\\|")
