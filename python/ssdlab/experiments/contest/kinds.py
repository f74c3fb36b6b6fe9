"""Which decision a policy in a file makes: seen from what it asks of its argument."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ssdlab._core import Candidates, EvictionCandidates, OrderChoices, Placing
from ssdlab.asking.policies import KINDS
from ssdlab.errors import UsageError

__all__ = ["kind_of", "policies_in"]

ARGUMENTS: Mapping[str, type] = {"victim": Candidates, "eviction": EvictionCandidates, "order": OrderChoices, "placement": Placing}
"""The class of the argument, by kind of policy."""


Definition = ast.FunctionDef | ast.ClassDef


def policies_in(source: str) -> list[str]:
    """Names of the functions, and of the classes that can be called, which a source text defines at its top."""
    there = _definitions(source)
    return [name for name, one in there.items() if _called(one, there) is not None]


def _definitions(source: str) -> dict[str, Definition]:
    return {one.name: one for one in ast.parse(source).body if isinstance(one, Definition)}


def _called(one: Definition, there: Mapping[str, Definition], most: int = 16) -> ast.FunctionDef | None:
    """What runs when a policy is called: a function, or the method `__call__` of a class or of one of its bases in the same text."""
    if isinstance(one, ast.FunctionDef):
        return one
    method = next((part for part in one.body if isinstance(part, ast.FunctionDef) and part.name == "__call__"), None)
    bases = [there[base.id] for base in one.bases if isinstance(base, ast.Name) and base.id in there] if most else []
    return method or next((found for base in bases if (found := _called(base, there, most - 1)) is not None), None)


def kind_of(source: str, name: str) -> str:
    """The kind of the policy that a source text defines under a name: the one whose argument has all attributes that the policy uses.

    Raises:
        UsageError: there is no such kind, or several.
    """
    there = _definitions(source)
    used = _used(there[name], there) if name in there else set()
    found = [kind for kind, argument in ARGUMENTS.items() if used and all(hasattr(argument, attribute) for attribute in used)]
    if len(found) != 1:
        asked = ", ".join(sorted(used)) or "nothing"
        seen = f"{' and '.join(found)} policies have" if found else "no kind of policies has"
        raise UsageError(f"{name}: of its argument it uses {asked}, which {seen}: name the kind with --kind {'|'.join(KINDS)}")
    return found[0]


def _used(defined: Definition, there: Mapping[str, Definition]) -> set[str]:
    """The attributes of its argument that a policy uses."""
    called = _called(defined, there)
    parameters = [] if called is None else [*called.args.posonlyargs, *called.args.args][isinstance(defined, ast.ClassDef) :]
    if called is None or not parameters:
        return set()
    attributes = (part for part in ast.walk(called) if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name))
    return {part.attr for part in attributes if isinstance(part.value, ast.Name) and part.value.id == parameters[0].arg}
