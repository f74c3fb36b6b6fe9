"""Derived columns of a sweep: arithmetic over the figures of a run, as in the metrics of studies."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

from ssdlab.checks import shown
from ssdlab.errors import ConfigError
from ssdlab.experiments.study.expressions import AbsentError, Formula, lookup

__all__ = ["check", "sources_of", "values_of"]

NAME = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
"""Matches names of columns: without dots, so that they differ from figures such as `gc.jobs`."""


def check(where: str, table: object, axes: Collection[str]) -> dict[str, str]:
    """The formulas of a table `columns`, by name.

    Raises:
        ConfigError: a name is that of an axis or has a dot, or a formula cannot be read.
    """
    if not isinstance(table, Mapping):
        raise ConfigError(f'{where} = {shown(table)}: expected a table, such as moved = "gc.pages_moved / gc.jobs"')
    for name, formula in table.items():
        if not NAME.fullmatch(name) or name in axes:
            raise ConfigError(f"{where}.{name}: expected a name of letters, digits, - and _ that no axis has")
        if not isinstance(formula, str):
            raise ConfigError(f'{where}.{name} = {shown(formula)}: expected a text, such as "gc.pages_moved / gc.jobs"')
        if _parsed(formula, f"{where}.{name}").references:
            raise ConfigError(f'{where}.{name} = "{formula}": a column is of one run: leave the brackets out')
    return dict(table)


def values_of(columns: Mapping[str, str], result: Mapping[str, Any]) -> tuple[dict[str, float], dict[str, str]]:
    """The values of the columns of a run, and for those without a value the reason."""
    values: dict[str, float] = {}
    absent: dict[str, str] = {}
    for name, formula in columns.items():
        if name in result:
            raise ConfigError(f"columns.{name}: results have an entry of this name; choose another one")
        try:
            values[name] = _parsed(formula, f"columns.{name}").number(lambda path: lookup(result, path))
        except AbsentError as reason:
            absent[name] = str(reason)
    return values, absent


def sources_of(columns: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The figures that each column is calculated from, by path."""
    return {name: _parsed(formula, f"columns.{name}").names for name, formula in columns.items()}


@lru_cache(maxsize=256)
def _parsed(formula: str, where: str) -> Formula:
    return Formula(formula, where)
