"""`ssdlab list`, `show`, `schema`: what there is to choose from."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any, cast

import typer

from ssdlab import api
from ssdlab.cli.output import print_json

__all__ = ["list_", "schema", "show"]

POLICY_SECTIONS = ("ftl", "gc", "scheduler", "cache", "array")


class Listable(StrEnum):
    """What can be listed."""

    devices = "devices"
    schemes = "schemes"
    workloads = "workloads"
    policies = "policies"


class Showable(StrEnum):
    """What can be shown."""

    device = "device"
    scheme = "scheme"
    workload = "workload"


def list_(what: Annotated[Listable, typer.Argument(help="What to list.")]) -> None:
    """List presets, or the policies that configuration keys choose between."""
    if what is Listable.policies:
        for key, values in policies(api.config_schema()):
            typer.echo(f"{key}: {' '.join(values)}")
        return
    for name in api.presets(cast("api.Kind", what.value.removesuffix("s"))):
        typer.echo(f"{name:<24}{_first_comment(what, name)}".rstrip())


def show(
    kind: Annotated[Showable, typer.Argument(help="The kind of preset.")],
    name: Annotated[str, typer.Argument(help="Its name.")],
) -> None:
    """Print a preset as it is written, with its sources."""
    typer.echo(api.preset_text(kind.value, name), nl=False)


def schema() -> None:
    """Print the JSON Schema of the configuration."""
    print_json(api.config_schema())


def policies(schema: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """The configuration keys that choose between named values, with these values."""
    for section in POLICY_SECTIONS:
        if section in schema.get("properties", {}):
            yield from _choices(schema, section, schema["properties"][section])


def _choices(schema: dict[str, Any], key: str, node: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    node = _resolved(schema, node)
    if "properties" in node:
        for name, child in node["properties"].items():
            yield from _choices(schema, f"{key}.{name}", child)
    elif node.get("type") == "array" and isinstance(node.get("items"), dict):
        yield from _choices(schema, key, node["items"])
    elif values := _values(node):
        yield key, values


def _values(node: dict[str, Any]) -> list[str]:
    if "enum" in node:
        return [str(value) for value in node["enum"]]
    alternatives = node.get("oneOf", [])
    return [str(alternative["const"]) for alternative in alternatives if "const" in alternative]


def _resolved(schema: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """Follows a reference to the definition it names."""
    reference = node.get("$ref", "")
    return cast("dict[str, Any]", schema["$defs"][reference.rsplit("/", 1)[-1]]) if reference else node


def _first_comment(what: Listable, name: str) -> str:
    """The first line of a preset says what it is."""
    text = api.preset_text(cast("api.Kind", what.value.removesuffix("s")), name)
    first = text.splitlines()[0] if text else ""
    return first.removeprefix("#").strip() if first.startswith("#") else ""
