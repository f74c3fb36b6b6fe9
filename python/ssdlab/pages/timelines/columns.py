"""Tables of numbers as compressed text that the page's script unpacks into typed arrays."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

__all__ = ["NONE", "Columns", "integers"]

NONE = 2**32 - 1
"""Stands for no value in a column of whole numbers."""
TYPES = {"float64": "Float64", "uint32": "Uint32", "uint16": "Uint16", "uint8": "Uint8"}
"""Typed arrays of JavaScript, by NumPy's type."""

Array = np.ndarray[Any, np.dtype[Any]]


def integers(values: Iterable[int]) -> Array:
    """A column of whole numbers below `NONE`; `NONE` stands for none."""
    return np.fromiter(values, np.uint32)


class Columns:
    """Columns, collected for the page."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._bytes = 0
        self.layout: dict[str, dict[str, tuple[str, int, int]]] = {}
        """Type, first byte and length of each column, by table and name."""

    def add(self, table: str, columns: Mapping[str, Array]) -> None:
        """Adds the columns of a table."""
        places = self.layout.setdefault(table, {})
        for name, column in columns.items():
            data = column.astype(column.dtype.newbyteorder("<")).tobytes()
            places[name] = (TYPES[column.dtype.name], self._bytes, len(column))
            self._parts += [data, bytes(-len(data) % 8)]  # typed arrays begin at a multiple of their width
            self._bytes += len(data) + -len(data) % 8

    def packed(self) -> str:
        """All columns, compressed (RFC 1950), as base64."""
        return base64.b64encode(zlib.compress(b"".join(self._parts), 6)).decode()
