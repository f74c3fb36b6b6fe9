"""Which decision a policy in a file makes: seen from what it asks of its argument."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ssdlab._core import Candidates, EvictionCandidates, OrderChoices, Placing
from ssdlab.errors import UsageError
from ssdlab.policies import KINDS

__all__ = ["kind_of", "policies_in"]

ARGUMENTS: Mapping[str, type] = {"victim": Candidates, "eviction": EvictionCandidates, "order": OrderChoices, "placement": Placing}
"""The class of the argument, by kind of policy."""


Definition = ast.FunctionDef | ast.ClassDef


def policies_in(source: str) -> list[str]:
    """Names of the functions, and of the classes that can be called, which a source text defines at its top."""
    return [one.name for one in ast.parse(source).body if isinstance(one, Definition) and _can_be_called(one)]


def _can_be_called(one: Definition) -> bool:
    return isinstance(one, ast.FunctionDef) or any(isinstance(part, ast.FunctionDef) and part.name == "__call__" for part in one.body)


def kind_of(source: str, name: str) -> str:
    """The kind of the policy that a source text defines under a name.

    Raises:
        UsageError: its attributes are those of no kind, or of several.
    """
    defined = next((one for one in ast.parse(source).body if getattr(one, "name", None) == name), None)
    used = {part.attr for part in ast.walk(defined) if isinstance(part, ast.Attribute)} if defined is not None else set()
    found = [kind for kind, argument in ARGUMENTS.items() if used & _only_of(argument)]
    if len(found) != 1:
        seen = f"those of {' and '.join(found)} policies" if found else "none by which its kind could be seen"
        raise UsageError(f"{name}: of the attributes of its argument it uses {seen}: name the kind with --kind {'|'.join(KINDS)}")
    return found[0]


def _only_of(argument: type) -> set[str]:
    """The attributes that only this argument has."""
    others = {name for other in ARGUMENTS.values() if other is not argument for name in dir(other)}
    return {name for name in dir(argument) if not name.startswith("_")} - others
