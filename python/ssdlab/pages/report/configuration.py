"""The configuration of runs: differences from the defaults and between runs, and all keys."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ssdlab import _core
from ssdlab.pages.report.runs import Runs, leaves

__all__ = ["Setting", "settings"]


@dataclass(frozen=True)
class Setting:
    """A configuration key: description, default, and value in each run, as texts."""

    key: str
    meaning: str
    default: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether the value differs between runs."""
        return len(set(self.values)) > 1

    @property
    def chosen(self) -> bool:
        """Whether the value differs from the default in any run."""
        return any(value != self.default for value in self.values)


def settings(runs: Runs) -> list[Setting]:
    """All configuration keys, in the order of the reference."""
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
