"""A mapping as an HTML table, for notebooks. It sets no colours, so that it suits light and dark backgrounds."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["LEFT", "RIGHT", "of_mapping"]

LISTED = 8
"""Maximum number of entries of a list that are shown."""
CELL = ' style="text-align: {}; vertical-align: top; white-space: {}"'
LEFT, RIGHT, LONG = CELL.format("left", "pre"), CELL.format("right", "pre"), CELL.format("left", "normal")


def of_mapping(title: str, values: Mapping[str, Any]) -> str:
    """A table of names and values; nested entries are named by their path."""
    rows = "".join(
        f"<tr><th{LEFT}>{html.escape(name)}</th><td{LONG}>{html.escape(_shown(value))}</td></tr>" for name, value in _leaves(values)
    )
    heading = f"<p><b>{html.escape(title)}</b></p>" if title else ""
    return f"<div>{heading}<table><tbody>{rows}</tbody></table></div>"


def _leaves(values: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        place = f"{path}.{key}" if path else str(key)
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, place)
        else:
            yield place, value


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        more = len(value) - LISTED
        return ", ".join([*map(_shown, value[:LISTED]), *([f"... {more:,} more"] if more > 0 else [])])
    if isinstance(value, bool):
        return str(value).lower()  # as in the configuration
    return f"{value:,}" if isinstance(value, int) else str(value)
