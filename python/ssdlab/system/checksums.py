"""Checksums of results, to detect files that were changed after ssdlab wrote them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

__all__ = ["CHECKSUM", "is_changed", "is_sealed", "sealed"]

CHECKSUM = "checksum"
"""The entry with the checksum: SHA-256 of all other entries but `SPEED`, as JSON without blanks and with sorted names."""
SPEED = ("prepare_s", "prepared_earlier", "wall_s", "requests_per_s")
"""Entries that differ between executions of the same command."""


def sealed(data: Mapping[str, Any]) -> dict[str, Any]:
    """A result with its checksum as the last entry."""
    rest = {key: value for key, value in data.items() if key != CHECKSUM}
    simulated = {key: value for key, value in rest.items() if key not in SPEED}
    text = json.dumps(simulated, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {**rest, CHECKSUM: hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()}


def is_sealed(data: object) -> bool:
    """Whether a value is an unchanged result with a checksum."""
    return isinstance(data, Mapping) and CHECKSUM in data and sealed(data)[CHECKSUM] == data[CHECKSUM]


def is_changed(data: Mapping[str, Any]) -> bool:
    """Whether a result was changed after it was written; false for a result without a checksum."""
    return CHECKSUM in data and not is_sealed(data)
