"""JSON as it is written to files and standard output."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["json_text"]


def json_text(value: Any, indent: str = "") -> str:
    """Indented, but for lists of numbers and texts, which take a line each: there are long ones."""
    deeper = f"{indent}  "
    if isinstance(value, Mapping) and value:
        entries = (f"{deeper}{json.dumps(key)}: {json_text(entry, deeper)}" for key, entry in value.items())
        return "{\n" + ",\n".join(entries) + f"\n{indent}}}"
    if isinstance(value, list | tuple) and any(isinstance(entry, Mapping | list | tuple) for entry in value):
        return "[\n" + ",\n".join(f"{deeper}{json_text(entry, deeper)}" for entry in value) + f"\n{indent}]"
    return json.dumps(value, allow_nan=False)
