"""`ssdlab list`, `show` and `schema`: presets, policies and the configuration schema."""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import typer

from ssdlab import _core
from ssdlab.checks import nearest
from ssdlab.cli.output import print_json
from ssdlab.errors import UsageError

__all__ = ["list_", "schema", "show"]

Kind = Literal["device", "scheme", "workload"]
POLICY_SECTIONS = ("ftl", "gc", "scheduler", "cache", "array")


KINDS: tuple[Kind, ...] = ("device", "scheme", "workload")


POLICIES = "policies"
LISTS = (*(f"{kind}s" for kind in KINDS), POLICIES)
WIDEST_NAME = 16
"""Width of the column of a key's choices, characters."""


def _completions(incomplete: str) -> list[str]:
    return [name for name in (*LISTS, *_keys()) if name.startswith(incomplete)]


def list_(
    what: Annotated[
        str,
        typer.Argument(
            help=f"{', '.join(LISTS)}, or a configuration key, such as scheduler.order; gc. lists all keys of this section.",
            metavar="WHAT",
            autocompletion=_completions,
            show_default=False,
        ),
    ] = "",
) -> None:
    """The command `ssdlab list`."""
    lines = policies() if what == POLICIES else _presets(what) if what in LISTS else keys(what)
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
    for name, key in _keys().items():
        if name.split(".")[0] in POLICY_SECTIONS and "choices" in key:
            yield f"{name}: {key['description']}"
            yield from _choices(key)


def keys(name: str) -> Iterator[str]:
    """A configuration key, or each key of a section: its description, values and default.

    Raises:
        UsageError: no key and no section has the name.
    """
    known = _keys()
    chosen = [name] if name in known else [key for key in known if key.startswith(f"{name.rstrip('.')}.")]
    if not chosen:
        having = [key for key in known if key.rpartition(".")[2] == name]
        near = f"; did you mean {' or '.join(having)}?" if having else nearest(name, [*LISTS, *known]) if name else ""
        raise UsageError(f"list{f' {name}' if name else ''}: expected {', '.join(LISTS)}, a configuration key, or its section{near}")
    for key in chosen:
        entry = known[key]
        yield f"{key}: {entry['description']}"
        yield f"  {_allowed(entry)}; default {_shown(entry['default'])}"
        yield from _choices(entry)


def _keys() -> dict[str, Any]:
    return {key["name"]: key for key in json.loads(_core.keys())}


def _allowed(key: Mapping[str, Any]) -> str:
    """What kind of value a key takes, and from where to where."""
    ends = [f"{word} {key[end]:.15g}" for word, end in (("from", "minimum"), ("to", "maximum")) if end in key]
    of_names = " of the names below" if key["kind"] == "list" and "choices" in key else ""
    return " ".join([KINDS_OF_VALUES[key["kind"]] + of_names, *ends])


KINDS_OF_VALUES = {
    "boolean": "true or false",
    "choice": "one of the names below",
    "integer": "a whole number",
    "list": "a list",
    "number": "a number",
    "string": "a text",
}
"""The kinds of values of keys in words."""


def _shown(default: Any) -> str:
    """A default as it is written after `--set`."""
    if isinstance(default, float):
        return f"{default:.15g}"
    return "none" if default is None else default if isinstance(default, str) and default else json.dumps(default)


def _choices(key: Mapping[str, Any]) -> Iterator[str]:
    """The choices of a key: each with its description, or all in a line."""
    choices = key.get("choices", ())
    if any(choice["description"] for choice in choices):
        yield from (f"  {choice['name']:<{WIDEST_NAME}}{choice['description']}" for choice in choices)
    elif choices:
        yield "  " + " ".join(choice["name"] for choice in choices)


def _presets(what: str) -> Iterator[str]:
    presets = _core.presets(what.removesuffix("s"))
    width = max((len(name) for name, _, _ in presets), default=0) + 2
    yield from (f"{name:<{width}}{description}" for name, description, _ in presets)
