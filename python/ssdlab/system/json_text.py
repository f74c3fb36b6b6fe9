"""Writing and reading of JSON in files and on standard output."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ssdlab.errors import FileError, UsageError

__all__ = ["json_text", "read_json"]


def read_json(file: Path) -> Any:
    """The content of a JSON file.

    Raises:
        FileError: the file cannot be read.
        UsageError: the file is not JSON, or too large or too deeply nested.
    """
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as reason:
        raise FileError(f"{file}: cannot read: {reason.strerror}", reason.errno, os.fspath(file)) from reason
    except ValueError as reason:
        raise UsageError(f"{file}: not JSON: {reason}") from reason
    except RecursionError as reason:
        raise UsageError(f"{file}: not JSON that ssdlab writes: nested too deeply") from reason
    except MemoryError as reason:
        raise UsageError(f"{file}: too large to read; not a file written by ssdlab") from reason


def json_text(value: Any, indent: str = "") -> str:
    """Indented JSON text. Lists of numbers and texts, which can be long, take one line."""
    deeper = f"{indent}  "
    if isinstance(value, Mapping) and value:
        entries = (f"{deeper}{json.dumps(key)}: {json_text(entry, deeper)}" for key, entry in value.items())
        return "{\n" + ",\n".join(entries) + f"\n{indent}}}"
    if isinstance(value, list | tuple) and any(isinstance(entry, Mapping | list | tuple) for entry in value):
        return "[\n" + ",\n".join(f"{deeper}{json_text(entry, deeper)}" for entry in value) + f"\n{indent}]"
    return json.dumps(value, allow_nan=False)
