"""Checksums of results: whether a file still says what ssdlab wrote."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

__all__ = ["CHECKSUM", "is_sealed", "sealed"]

CHECKSUM = "checksum"
"""The entry of a result that holds it: SHA-256 of all other entries, as JSON without blanks and with sorted names."""


def sealed(data: Mapping[str, Any]) -> dict[str, Any]:
    """A result with its checksum, the last entry."""
    rest = {key: value for key, value in data.items() if key != CHECKSUM}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {**rest, CHECKSUM: hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()}


def is_sealed(data: object) -> bool:
    """Whether it is a result with a checksum, and unchanged."""
    return isinstance(data, Mapping) and CHECKSUM in data and sealed(data)[CHECKSUM] == data[CHECKSUM]
