"""Results in notebooks: the command line's tables as HTML. It sets no colours, so that it suits light and dark backgrounds."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ssdlab.pages.html_table import LEFT, RIGHT, of_mapping
from ssdlab.pages.tables import as_text

__all__ = ["Named", "of_mapping", "of_tables"]


class Named(dict[str, str]):
    """Descriptions by name: a dictionary that notebooks show as a table."""

    def _repr_html_(self) -> str:
        return of_mapping("", self)


def of_tables(items: Iterable[RenderableType]) -> str:
    """Tables and lines as HTML; their content is escaped."""
    parts: list[str] = []
    for item in (piece for whole in items for piece in _pieces(whole)):
        if isinstance(item, Table):
            parts.append(_table(item))
        elif isinstance(item, Text | str):
            text = item.plain if isinstance(item, Text) else item
            bold = isinstance(item, Text) and "bold" in str(item.style)
            parts += [f"<p>{f'<b>{html.escape(text)}</b>' if bold else html.escape(text)}</p>"] if text.strip() else []
        else:
            parts.append(f"<pre>{html.escape(as_text([item]))}</pre>")
    return f"<div>{''.join(parts)}</div>"


def _pieces(item: RenderableType) -> Iterator[RenderableType]:
    """The parts of a renderable. Of several renderings of one table, the widest is used, since a notebook scrolls."""
    if isinstance(item, Group):
        for part in item.renderables:
            yield from _pieces(part)
    elif hasattr(item, "widest"):
        yield from _pieces(item.widest)
    else:
        yield item


def _table(table: Table) -> str:
    columns = [(_plain(column.header), RIGHT if column.justify == "right" else LEFT, list(column.cells)) for column in table.columns]
    heads = "".join(f"<th{style}>{header}</th>" for header, style, _ in columns)
    rows = "".join(
        "<tr>" + "".join(f"<td{style}>{_plain(cells[row])}</td>" for _, style, cells in columns) + "</tr>" for row in range(table.row_count)
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _plain(cell: RenderableType) -> str:
    return html.escape(cell.plain if isinstance(cell, Text) else str(cell))
