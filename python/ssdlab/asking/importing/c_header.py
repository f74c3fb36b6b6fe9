"""The definitions of a C header: `#define` under `#if`, `#ifdef` and `#else`, and the numbers that they come to.

Enumerators of `enum { ... }` count as definitions. Nothing is compiled.
Expressions have numbers, names, + - * / %, comparisons, && || ! and the macros KB, MB and GB.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from ssdlab.asking.importing.source import Source

__all__ = ["Definition", "Header", "choices_of"]

DEEPEST = 40
LONGEST = 2_000
LARGEST = 2.0**80
MACROS = {"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
OPERATORS: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
    ast.LShift: lambda one, other: one << min(other, 64),
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ENUM = re.compile(r"\benum\b[\s\w]*\{([^{}]*)\}")
_ENUMERATOR = re.compile(r"(?:[ \t]*#[^\n]*\n|\s)*([A-Za-z_]\w*)\s*(?:=([^,]*))?")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DIRECTIVE = re.compile(r"\s*#\s*(\w+)\s*(.*)")
_DEFINE = re.compile(r"([A-Za-z_]\w*)(\([^)]*\))?\s*(.*)")
_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_SUFFIX = re.compile(r"\b(0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?)[uUlLfF]+\b")


class Definition(NamedTuple):
    """A `#define` or an enumerator that counts."""

    name: str
    text: str
    line: int
    is_enumerator: bool = False


class Header:
    """The definitions that count, given the values of some names."""

    def __init__(self, source: Source, given: Mapping[str, str]) -> None:
        self.source = source
        self.definitions: dict[str, Definition] = {}
        self.repeated: list[Definition] = []
        self._given = given
        for found in _definitions(source, self._is_true):
            if found.name in self.definitions:
                self.repeated.append(self.definitions[found.name])
            self.definitions[found.name] = found

    def number(self, name: str) -> float | None:
        """The number that a definition comes to; `None` without the definition."""
        found = self.definitions.get(name)
        if found is None:
            return None
        return float(self._value(found.text, found.line, 0))

    def undefined(self, name: str) -> list[str]:
        """Names that a definition needs, itself or through others, and that the header does not define; its own if it is absent."""
        seen: set[str] = set()
        left, lacking = [name], []
        while left:
            word = left.pop()
            if word in seen or word in MACROS or word in self._given:
                continue
            seen.add(word)
            found = self.definitions.get(word)
            if found is None:
                lacking.append(word)
            else:
                left += _WORD.findall(found.text)
        return lacking

    def _is_true(self, kind: str, text: str, line: int) -> bool:
        if kind in {"ifdef", "ifndef"}:
            return (text.split(maxsplit=1)[0] in {**self._given, **self.definitions} if text.split() else False) == (kind == "ifdef")
        return bool(self._value(text, line, 0))

    def _value(self, text: str, line: int, depth: int) -> Any:
        if depth > DEEPEST or len(text) > LONGEST:
            raise self.source.refuse(line, f"{text[:40]}: definitions that refer to each other too deeply")
        clean = _SUFFIX.sub(r"\1", text).replace("&&", " and ").replace("||", " or ")
        clean = re.sub(r"!(?!=)", " not ", clean)
        try:
            tree = ast.parse(clean.strip() or "0", mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise self.source.refuse(line, f"{text[:80]}: not a number or an expression of numbers") from None
        return self._evaluated(tree, text, line, depth)

    def _evaluated(self, node: ast.AST, text: str, line: int, depth: int) -> Any:
        def of(part: ast.AST) -> Any:
            return self._evaluated(part, text, line, depth + 1)

        result: Any = None
        if depth <= DEEPEST:
            match node:
                case ast.Constant(value=bool() | int() | float() as value):
                    result = value
                case ast.Name(id=name):
                    result = self._named(name, line, depth)
                case ast.BinOp(left=left, op=operation, right=right) | ast.Compare(left=left, ops=[operation], comparators=[right]):
                    result = _combined(operation, of(left), of(right))
                case ast.BoolOp(op=operation, values=values):
                    result = (all if isinstance(operation, ast.And) else any)(of(value) for value in values)
                case ast.UnaryOp(op=operation, operand=part):
                    result = _single(operation, of(part))
                case ast.Call(func=ast.Name(id=name), args=[part], keywords=[]) if name in MACROS:
                    result = of(part) * MACROS[name]
        if result is None or not abs(result) < LARGEST:
            raise self.source.refuse(line, f"{text[:80]}: not a number or an expression of numbers")
        return result

    def _named(self, name: str, line: int, depth: int) -> Any:
        if name in self._given and self._given[name] != name:
            return self._value(self._given[name], line, depth + 1)
        found = self.definitions.get(name)
        return 0 if found is None else self._value(found.text, found.line, depth + 1)


def _single(operation: ast.AST, value: Any) -> Any:
    """- or !; `None` for another operator."""
    return -value if isinstance(operation, ast.USub) else not value if isinstance(operation, ast.Not) else None


def _combined(operation: ast.AST, one: Any, other: Any) -> Any:
    """The operator applied as in C; `None` if it has no value or is not known."""
    if isinstance(operation, ast.Div):
        if not other:
            return None
        return one // other if isinstance(one, int) and isinstance(other, int) else one / other
    if isinstance(operation, ast.Mod | ast.LShift) and not (isinstance(one, int) and isinstance(other, int) and other >= 0):
        return None
    known = OPERATORS.get(type(operation))
    return None if known is None or (isinstance(operation, ast.Mod) and not other) else known(one, other)


def choices_of(source: Source, name: str) -> list[str]:
    """The words that a header compares `name` with in its conditions, in their order."""
    found = re.findall(rf"\b{re.escape(name)}\s*==\s*([A-Za-z_]\w*)", source.text)
    return list(dict.fromkeys(found))


def _enumerators(text: str) -> dict[int, list[Definition]]:
    """The enumerators of a text without comments, by line. One without a value is one more than the one before it."""
    by_line: dict[int, list[Definition]] = {}
    for block in _ENUM.finditer(text):
        base, steps = "0", 0
        for item in re.finditer(r"[^,]+", block[1]):
            found = _ENUMERATOR.match(item[0])
            if found is None:
                continue
            base, steps = (found[2].strip(), 0) if found[2] else (base, steps)
            line = text.count("\n", 0, block.start(1) + item.start() + found.start(1)) + 1
            by_line.setdefault(line, []).append(Definition(found[1], f"({base}) + {steps}" if steps else base, line, is_enumerator=True))
            steps += 1
    return by_line


def _definitions(source: Source, is_true: Callable[[str, str, int], bool]) -> Iterator[Definition]:
    """The definitions outside of conditions that are false. Macros with arguments are left out."""
    text = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source.text)
    text = text.replace("\\\n", "  ")
    enumerators = _enumerators(text)
    stack: list[tuple[bool, bool]] = []  # of each open #if: a branch was taken, and this branch counts
    for number, line in enumerate(text.split("\n"), 1):
        directive = _DIRECTIVE.fullmatch(line)
        if directive is None:
            if all(counts for _, counts in stack):
                yield from enumerators.get(number, ())
            continue
        kind, rest = directive[1], directive[2].strip()
        outer = all(counts for _, counts in stack[: None if kind in {"if", "ifdef", "ifndef", "define"} else -1])
        if kind in {"if", "ifdef", "ifndef"}:
            taken = outer and is_true(kind, rest, number)
            stack.append((taken, taken))
        elif kind == "elif" and stack:
            taken = outer and not stack[-1][0] and is_true("if", rest, number)
            stack[-1] = (stack[-1][0] or taken, taken)
        elif kind == "else" and stack:
            stack[-1] = (True, outer and not stack[-1][0])
        elif kind == "endif" and stack:
            stack.pop()
        elif kind == "define" and outer and (found := _DEFINE.fullmatch(rest)) is not None and found[2] is None:
            yield Definition(found[1], found[3].strip(), number)
