"""`ssdlab list`, `show` and `schema`: presets, policies and the configuration schema."""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Literal

import typer

from ssdlab import _core
from ssdlab.checks import nearest
from ssdlab.cli.output import print_json
from ssdlab.errors import UsageError

__all__ = ["list_", "schema", "show"]

Kind = Literal["device", "scheme", "workload"]
POLICY_SECTIONS = ("ftl", "gc", "scheduler", "cache", "array")


class Listable(StrEnum):
    """Kinds of items to list."""

    devices = "devices"
    schemes = "schemes"
    workloads = "workloads"
    policies = "policies"


KINDS: tuple[Kind, ...] = ("device", "scheme", "workload")


def list_(what: Annotated[Listable, typer.Argument(help="What to list.")]) -> None:
    """The command `ssdlab list`."""
    lines = policies() if what is Listable.policies else _presets(what)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in lines:
        typer.echo(_broken(line, width))


def _broken(line: str, width: int | None) -> str:
    """A name and its description, broken into lines of the given width; on one line in a file or pipe."""
    described = re.match(r"( *\S+ +)(?=\S)", line)
    if width is None or len(line) < width or described is None:
        return line
    indent = " " * min(described.end(), width // 2)
    return textwrap.fill(line, width - 1, subsequent_indent=indent, break_on_hyphens=False)


def show(
    words: Annotated[
        list[str],
        typer.Argument(help="Name of the preset; before it, device, scheme or workload, if several have the name.", metavar="[KIND] NAME"),
    ],
) -> None:
    """The command `ssdlab show`."""
    if len(words) > 2 or (len(words) == 2 and words[0] not in KINDS):
        raise UsageError(f"show {' '.join(words)}: expected the name of a preset, or before it one of {', '.join(KINDS)}")
    kind = _kind_of(words[0]) if len(words) == 1 else next(kind for kind in KINDS if kind == words[0])
    typer.echo(_core.preset_text(kind, words[-1]), nl=False)


def _kind_of(name: str) -> Kind:
    """The kind of preset that has a name.

    Raises:
        UsageError: none has it, or several have.
    """
    names = {kind: [known for known, _, _ in _core.presets(kind)] for kind in KINDS}
    having = [kind for kind in KINDS if name in names[kind]]
    if len(having) == 1:
        return having[0]
    if having:
        raise UsageError(f"{name}: a preset of {' and of '.join(having)}: give the kind too, such as `ssdlab show {having[0]} {name}`")
    if name in KINDS:
        raise UsageError(f"show {name}: expected the name of a preset behind it (`ssdlab list {name}s`)")
    near = nearest(name, [known for kind in KINDS for known in names[kind]])
    raise UsageError(f"{name}: no preset of this name{near} (`ssdlab list devices`, schemes or workloads has them)")


def schema() -> None:
    """The command `ssdlab schema`."""
    print_json(json.loads(_core.schema()))


def policies() -> Iterator[str]:
    """The configuration keys with named choices, each followed by its choices."""
    for key in json.loads(_core.keys()):
        name = key["name"]
        if name.split(".")[0] in POLICY_SECTIONS and "choices" in key:
            yield f"{name}: {key['description']}"
            choices = key["choices"]
            if any(choice["description"] for choice in choices):
                yield from (f"  {choice['name']:<16}{choice['description']}" for choice in choices)
            else:
                yield "  " + " ".join(choice["name"] for choice in choices)


def _presets(what: Listable) -> Iterator[str]:
    presets = _core.presets(what.value.removesuffix("s"))
    width = max((len(name) for name, _, _ in presets), default=0) + 2
    yield from (f"{name:<{width}}{description}" for name, description, _ in presets)
