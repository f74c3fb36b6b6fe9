"""Fitting of tables to a terminal: whole, with broken headings, or in parts below each other."""

from __future__ import annotations

import copy
import io
from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

__all__ = [
    "UNBOUNDED",
    "WIDTH_OF_TEXT",
    "Captioned",
    "Fitting",
    "Whole",
    "as_text",
    "is_line",
    "narrowed",
    "new_table",
    "titled",
]

WIDTH_OF_TEXT = 80
"""Maximum width of tables without a terminal; lines of text are not broken there."""

UNBOUNDED = 10_000
"""A width that fits everything, to measure the width that is needed."""


def as_text(items: Iterable[RenderableType]) -> str:
    """Tables as plain text."""
    out = io.StringIO()
    # in a notebook rich would show each table itself, and return no text
    # letters of remarks are in brackets, which are text
    console = Console(file=out, width=WIDTH_OF_TEXT, color_system=None, force_jupyter=False, markup=False)
    for item in items:
        console.print(item, soft_wrap=is_line(item))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def is_line(item: RenderableType) -> bool:
    """Whether an item is a line of text. A terminal may break it; a file or pipe gets it whole."""
    return isinstance(item, str | Text)


def new_table(columns: Sequence[str]) -> Table:
    """A table whose first column names the row; other columns hold numbers. Only headings may be broken."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 0, 0, 1), pad_edge=False, show_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index else "left")
    return table


def titled(title: str, table: Table, otherwise: RenderableType | None = None, *, keys: int = 1) -> RenderableType:
    """A title and a table. Rich's own titles are broken to the width of the table, and its cells are cut on a narrow terminal."""
    narrow = narrowed(table)
    choices = Fitting(Whole(table), Whole(narrow), otherwise or _Stacked(narrow, keys))
    return Group(Text(title, style="bold"), choices, "")


def narrowed(table: Table) -> Table:
    """The table with headings broken that are wider than the cells below them."""
    narrow = copy.deepcopy(table)
    for column, broken in zip(table.columns, narrow.columns, strict=True):
        cells = max((len(line) for cell in column.cells for line in str(cell).splitlines()), default=0)
        if len(str(column.header)) > cells:
            broken.header = "\n".join(str(column.header).split())
    return narrow


class Whole:
    """A table at its full width."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.widest = table
        for column in table.columns:
            column.no_wrap = True

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._table

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        needed = Measurement.get(console, options.update(width=UNBOUNDED), self._table).maximum
        return Measurement(needed, needed)


class _Stacked:
    """A table in parts below each other, each with as many columns as fit after the key columns."""

    def __init__(self, table: Table, keys: int) -> None:
        self._table = table
        self._keys = keys

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for index, part in enumerate(self._parts(console, options)):
            if index:
                yield ""
            yield Whole(part)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        unbounded = options.update(width=UNBOUNDED)
        columns = range(self._keys, max(self._keys + 1, len(self._table.columns)))
        needed = max(Measurement.get(console, unbounded, Whole(self._part([column]))).maximum for column in columns)
        return Measurement(needed, needed)

    def _parts(self, console: Console, options: ConsoleOptions) -> list[Table]:
        """The smallest number of parts that fit, with similar widths."""
        left = list(range(self._keys, len(self._table.columns)))
        parts = [self._table]
        for count in range(1, len(left) + 1):
            share = -(-len(left) // count)
            parts = [self._part(left[at : at + share]) for at in range(0, len(left), share)]
            unbounded = options.update(width=UNBOUNDED)
            if all(Measurement.get(console, unbounded, Whole(part)).maximum <= options.max_width for part in parts):
                break
        return parts

    def _part(self, columns: Sequence[int]) -> Table:
        kept = [self._table.columns[index] for index in (*range(self._keys), *columns) if index < len(self._table.columns)]
        part = new_table([str(column.header) for column in kept])
        for cells in zip(*(column.cells for column in kept), strict=True):
            part.add_row(*cells)
        return part


class Captioned:
    """A table of numbers with a line of text above each row."""

    def __init__(self, captions: Sequence[str], table: Table) -> None:
        table.columns[0].justify = "right"
        self._captions = captions
        self._table = narrowed(table)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for column in self._table.columns:
            column.no_wrap = True
        if self._width(console, options) > options.max_width:
            yield from self._words()
            return
        lines = console.render_lines(self._table, options, pad=False)
        head = len(lines) - len(self._captions)
        for line in lines[:head]:
            yield Segments([*line, Segment.line()])
        for caption, row in zip(self._captions, lines[head:], strict=True):
            yield Text(caption)
            yield Segments([*row, Segment.line()])

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, self._width(console, options))

    def _width(self, console: Console, options: ConsoleOptions) -> int:
        return Measurement.get(console, options.update(width=UNBOUNDED), self._table).maximum

    def _words(self) -> Iterator[RenderableType]:
        """The cells as lines of text, for a terminal that is too narrow for the table."""
        heads = [" ".join(str(column.header).split()) for column in self._table.columns]
        for caption, *cells in zip(self._captions, *(column.cells for column in self._table.columns), strict=True):
            yield Text(caption)
            yield Text(f"  {', '.join(f'{head} {cell}' for head, cell in zip(heads, cells, strict=True))}")


class Fitting:
    """The first of several renderings that fits the width, or else the last."""

    def __init__(self, *choices: RenderableType) -> None:
        self._choices = choices
        self.widest = choices[0]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        unbounded = options.update(width=UNBOUNDED)
        fitting = (item for item in self._choices if Measurement.get(console, unbounded, item).minimum <= options.max_width)
        yield next(fitting, self._choices[-1])

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        sizes = [Measurement.get(console, options.update(width=UNBOUNDED), item) for item in self._choices]
        return Measurement(sizes[-1].minimum, sizes[0].maximum)
