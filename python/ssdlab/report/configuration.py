"""The configuration of runs: what differs from the defaults, what differs between runs, and all of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ssdlab import _core
from ssdlab.report.runs import Runs, leaves

__all__ = ["Setting", "settings"]


@dataclass(frozen=True)
class Setting:
    """A key: what it means, its default and its value in each run, as texts."""

    key: str
    meaning: str
    default: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether the runs have different values."""
        return len(set(self.values)) > 1

    @property
    def chosen(self) -> bool:
        """Whether any run has another value than the default."""
        return any(value != self.default for value in self.values)


def settings(runs: Runs) -> list[Setting]:
    """Every key of the configuration, in the order of the reference."""
    keys = _keys()
    trees = [dict(leaves(run.data["config"])) for run in runs]
    names = [*keys, *dict.fromkeys(key for tree in trees for key in tree if key not in keys)]
    return [
        Setting(
            name,
            keys.get(name, {}).get("description", ""),
            _text(keys.get(name, {}).get("default")),
            tuple(_text(tree.get(name)) for tree in trees),
        )
        for name in names
    ]


@lru_cache(maxsize=1)
def _keys() -> Mapping[str, Any]:
    return {key["name"]: key for key in json.loads(_core.keys())}


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value)
