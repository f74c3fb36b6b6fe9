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
    """The kind of the policy that a source text defines under a name: the one whose argument has all attributes that the policy uses.

    Raises:
        UsageError: there is no such kind, or several.
    """
    used = _used(next((one for one in ast.parse(source).body if isinstance(one, Definition) and one.name == name), None))
    found = [kind for kind, argument in ARGUMENTS.items() if used and all(hasattr(argument, attribute) for attribute in used)]
    if len(found) != 1:
        asked = ", ".join(sorted(used)) or "nothing"
        seen = f"{' and '.join(found)} policies have" if found else "no kind of policies has"
        raise UsageError(f"{name}: of its argument it uses {asked}, which {seen}: name the kind with --kind {'|'.join(KINDS)}")
    return found[0]


def _used(defined: Definition | None) -> set[str]:
    """The attributes of its argument that a function, or the method `__call__` of a class, uses."""
    if isinstance(defined, ast.ClassDef):
        called = next((one for one in defined.body if isinstance(one, ast.FunctionDef) and one.name == "__call__"), None)
        parameters = called.args.args[1:] if called is not None else []
    else:
        called, parameters = defined, defined.args.args if defined is not None else []
    if called is None or not parameters:
        return set()
    attributes = (part for part in ast.walk(called) if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name))
    return {part.attr for part in attributes if isinstance(part.value, ast.Name) and part.value.id == parameters[0].arg}
