"""The table of `ssdlab import`, as lines of text: what became of each key of a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text

__all__ = ["import_lines"]

COLOURS = {"mapped": "green", "approximated": "yellow", "left out": "red", "unknown": "bold red", "idle": "dim"}


def import_lines(imported: Mapping[str, Any]) -> Iterator[RenderableType]:
    """The lines of one file: a head, a line for each key, and what is set without a key."""
    counts = ", ".join(f"{count} {fate}" for fate, count in imported["counts"].items() if count)
    yield Text(f"{imported['file']}: {imported['form']}. {len(imported['keys'])} keys: {counts}", style="bold")
    width = max((len(str(row["line"])) for row in imported["keys"]), default=1)
    section = ""
    for row in imported["keys"]:
        if " " in row["section"] and row["section"] != section:
            section = row["section"]
            yield Text(f"{section}:")
        yield _line(row, width)
    if imported["without_a_key"]:
        yield Text("Set without a key in the file, by what the simulator does or by its defaults:")
    yield from (Text(f"  {_settings(row)}  {row['note']}") for row in imported["without_a_key"])


def _line(row: Mapping[str, Any], width: int) -> Text:
    line = Text(f"  {row['line']:>{width}}  ")
    line.append(f"{row['fate']:<12}", style=COLOURS[row["fate"]])
    line.append(f"  {row['name']} = {row['value']}")
    what = "; ".join(part for part in (_settings(row), row["note"]) if part)
    line.append(f"  ->  {what}" if what else "")
    return line


def _settings(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {_value(value)}" for key, value in row["settings"].items())


def _value(value: object) -> str:
    """A value as TOML has it, long lists cut short."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        shown = [_value(entry) for entry in value[:6]]
        return f"[{', '.join(shown)}{', ...' if len(value) > len(shown) else ''}]"
    return f'"{value}"' if isinstance(value, str) else str(value)
