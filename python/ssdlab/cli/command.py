"""Parsing of the command line, and formatting of help, for all commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from ssdlab.cli.guides import GUIDES, NO_GUIDE, Guide
from ssdlab.cli.parts import Part
from ssdlab.cli.reading import read_plainly

__all__ = ["MOST_COLUMNS", "Command", "Group", "command_of"]

MOST_COLUMNS = 100
"""Maximum width of help on wide terminals, characters."""

MANY = 15

ONCE = {
    "--scheme": "join schemes by + to merge them into one (npgc+slacker), or run each with `ssdlab compare --scheme npgc --scheme slacker`",
}
"""Advice for an option that was given twice but takes one value, by option."""


class _Guided:
    """Mixin of commands and groups: help with examples, and fast parsing of plain values."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The command's arguments and options."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        read_plainly(parameters)
        return parameters

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Writes the examples."""
        _write_examples(_guide(ctx), formatter)


class Command(_Guided, TyperCommand):
    """A command. It refuses a second value for a single-valued option, and explains surplus words."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses the command line."""
        if not args and _guide(ctx).needs and not ctx.resilient_parsing:
            typer.echo(self._brief(ctx), err=True)
            raise typer.Exit(2)
        _, surplus, given = self.make_parser(ctx).parse_args(args=list(args))
        if not ctx.resilient_parsing and not any(parameter.is_eager for parameter in given):
            _refuse_twice(ctx, given)
            if surplus and not ctx.allow_extra_args:
                ctx.fail(self._surplus(args, surplus))
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes arguments and options, in groups if there are many."""
        from ssdlab.asking.option import Heading  # noqa: PLC0415 (the help of a group does not use options)

        groups: dict[str, list[tuple[str, str]]] = {name: [] for name in ("Arguments", *get_args(Heading))}
        parameters = self.get_params(ctx)
        for parameter in parameters:
            record = parameter.get_help_record(ctx)
            if record is not None:
                record = _narrow(record, formatter.width)
                groups[_group(parameter) if len(parameters) > MANY else parameter.param_type_name.capitalize() + "s"].append(record)
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)

    def _brief(self, ctx: Any) -> str:
        """A short help for a call without arguments: usage, needed arguments and examples."""
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        formatter.write_paragraph()
        needs, _, verbatim = _guide(ctx).needs.partition("\n\n")
        with formatter.indentation():
            formatter.write_text(needs)
        if verbatim:
            formatter.write(f"\n{verbatim}\n")
        _write_examples(_guide(ctx), formatter)
        formatter.write(f"\n`{ctx.command_path} --help` lists all options.")
        return str(formatter.getvalue())

    def _surplus(self, args: Sequence[str], surplus: Sequence[str]) -> str:
        """The message for a surplus word, which is most often a second value for an option."""
        words = " ".join(surplus)
        before = (_value_before(args, index) for index, word in enumerate(args) if word == surplus[0])
        option, value = next((found for found in before if found is not None), ("", ""))
        parameter = next((one for one in self.params if option in one.opts), None)
        if parameter is None or getattr(parameter, "is_flag", False):
            flags = {name for one in self.params if getattr(one, "is_flag", False) for name in one.opts}
            flag = next((before for before, word in pairwise(args) if before in flags and not word.startswith("-")), None)
            return f"{words}: a word that belongs to no option{f'; {flag} is a flag, which takes no text' if flag else ''}"
        if parameter.metavar == "KEY=VALUE" and "=" not in value:
            return f"{words}: a second word behind {option} {value}: write {option} {value}={surplus[0]}"
        if parameter.multiple:
            repeated = " ".join(f"{option} {word}" for word in (value, *surplus))
            return f"{words}: a second value behind {option}: repeat {option} for each: {repeated}"
        return f"{words}: a second value behind {option} {value}, which takes one"


class Group(_Guided, TyperGroup):
    """A group of commands. Each is imported when it is called: the group's own help does not need them."""

    def __init__(self, *, parts: Mapping[str, Part], **attributes: Any) -> None:
        super().__init__(**attributes)
        self.parts = parts
        self.commands = _Commands(parts)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Writes the description of each command in full."""
        rows = [(name, part.about) for name, part in self.parts.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class _Commands(dict[str, Any]):
    """Commands by name, each imported on first use."""

    def __init__(self, parts: Mapping[str, Part]) -> None:
        super().__init__(dict.fromkeys(parts))
        self._parts = parts

    def __getitem__(self, name: str) -> Any:
        command = super().__getitem__(name)
        if command is None:
            command = self[name] = _command(name, self._parts[name])
        return command

    def get(self, name: str, default: Any = None) -> Any:
        """The command with this name, or `default`."""
        known = name in self
        return self[name] if known else default

    def items(self) -> Any:
        """All commands with their names."""
        return [(name, self[name]) for name in self]

    def values(self) -> Any:
        """All commands."""
        return [self[name] for name in self]


def _command(name: str, part: Part) -> Any:
    """Builds the command that a part describes."""
    if part.below:
        return Group(name=name, help=part.about, parts=part.below, no_args_is_help=True, rich_markup_mode=None)
    module, function = part.code.split(":")
    settings = {"allow_interspersed_args": not part.runs_program}
    return command_of(name, getattr(import_module(module), function), part.about, **settings)


def command_of(name: str, function: Any, about: str = "", **settings: Any) -> Any:
    """The command that calls a function with the options of its signature; `settings` of its parser."""
    from ssdlab.cli.options import as_command  # noqa: PLC0415 (the help of a group does not use options)

    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name, cls=Command, help=about, context_settings=settings)(as_command(function))
    return typer.main.get_command(app)


def _narrow(record: tuple[str, str], width: int) -> tuple[str, str]:
    """An option's help record. Choices too wide to appear beside the option are appended to its help."""
    name, _, choices = record[0].partition(" <")
    if len(record[0]) + 2 <= width or not choices:
        return record
    return name, f"{record[1]}  [{choices.rstrip('>').replace('|', ', ')}]"


def _group(parameter: Any) -> str:
    """The heading under which help lists an argument or option."""
    if parameter.param_type_name == "argument":
        return "Arguments"
    return getattr(parameter, "rich_help_panel", None) or "Options"


def _refuse_twice(ctx: Any, given: Sequence[Any]) -> None:
    """Refuses an option that takes one value and is given several times: only the last would count."""
    single = [one for one in given if one.param_type_name == "option" and not (one.multiple or one.is_flag or one.count)]
    for parameter in single:
        if single.count(parameter) > 1:
            name = max(parameter.opts, key=len)
            ctx.fail(f"{name}: given {single.count(parameter)} times: expected once{f'; {ONCE[name]}' if name in ONCE else ''}")


def _value_before(args: Sequence[str], index: int) -> tuple[str, str] | None:
    """The option and value directly before a word; `None` for another word there."""
    before = args[index - 1] if index else ""
    if before.startswith("--") and "=" in before:
        option, _, value = before.partition("=")
        return option, value
    return (args[index - 2], before) if index > 1 and args[index - 2].startswith("-") else None


def _guide(ctx: Any) -> Guide:
    words = []
    while ctx.parent is not None:
        words.append(ctx.info_name)
        ctx = ctx.parent
    return GUIDES.get(" ".join(reversed(words)), NO_GUIDE)


def _write_examples(guide: Guide, formatter: Any) -> None:
    if not guide.examples:
        return
    with formatter.section("Examples"):
        for example in guide.examples:
            formatter.write("".join(f"{'':>{formatter.current_indent}}{line}\n" for line in _broken(example, formatter.width - 4)))


def _broken(command: str, width: int) -> list[str]:
    """Breaks a command in front of options into lines that a shell reads as one."""
    first, *rest = command.split(" --")
    parts = [first, *(f"--{part}" for part in rest)]
    lines = [parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + 1 + len(part) <= width:
            lines[-1] += f" {part}"
        else:
            lines.append(f"  {part}")
    return [*(f"{line} \\" for line in lines[:-1]), lines[-1]]
