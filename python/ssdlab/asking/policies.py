"""User-defined policies: for garbage collection's victims, for cache evictions, for the order of operations, and for data placement.

A policy is a callable or a class in Python, or a text such as `ours.py:Ours` that names a class or function in a file.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib.abc
import importlib.util
import inspect
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Protocol

from ssdlab._core import Candidates, EvictionCandidates, OrderChoices, Placing
from ssdlab.checks import nearest, shown, text
from ssdlab.errors import UsageError

__all__ = [
    "KINDS",
    "Eviction",
    "EvictionPolicy",
    "Order",
    "OrderPolicy",
    "Placement",
    "PlacementPolicy",
    "Policy",
    "Victim",
    "VictimPolicy",
    "described",
    "file_of",
    "located",
    "provided",
    "sources_of",
]


@dataclass(frozen=True)
class Kind:
    """A decision that a user-defined policy can make."""

    key: str
    """The configuration key that chooses between the built-in policies."""
    excludes_key: bool = False
    """Whether that key cannot be set by hand at the same time, since it would have no effect."""


KINDS: Mapping[str, Kind] = {
    "victim": Kind("gc.victim", excludes_key=True),
    "eviction": Kind("cache.policy"),
    "order": Kind("scheduler.order"),
    "placement": Kind("ftl.placement"),
}
"""The kinds of policies, by the name of their option. The core has the arguments of `Plan` under the same names."""


class VictimPolicy(Protocol):
    """Selects the block that garbage collection collects. Any callable, such as a function, that takes the candidates can be used.

    It is called once per GC job, also during preconditioning. It returns the number of a block, `candidates.blocks[i]`. For `None` or a
    block that is not a candidate, the greedy choice is collected (counted in `result.counters.victim_fallbacks`).

    A class can be given instead of an instance. Each run then creates its own instance, and so does preconditioning. Use a class for a
    policy that keeps state between calls.
    """

    def __call__(self, candidates: Candidates, /) -> int | None:
        """Returns the number of the block to collect."""


class EvictionPolicy(Protocol):
    """Selects the page that a full cache evicts. Any callable, such as a function, that takes the candidates can be used.

    It is called once per eviction. It returns the number of a page, `candidates.pages[i]`. For `None` or a page that is not a candidate,
    the least recently used page is evicted (counted in `result.cache.policy_fallbacks`).

    A class can be given instead of an instance. Each cache then creates its own instance.
    """

    def __call__(self, candidates: EvictionCandidates, /) -> int | None:
        """Returns the number of the page to evict."""


class OrderPolicy(Protocol):
    """Selects the operation that goes first on a die. Any callable, such as a function, that takes the choices can be used.

    It is called once per decision between two operations or more. It returns an index, 0 to `len(choices) - 1`. For `None` the configured
    order decides (`scheduler.order`, `gc.priority`; counted in `result.counters.order_fallbacks`).

    A class can be given instead of an instance. Each run then creates its own instance.
    """

    def __call__(self, choices: OrderChoices, /) -> int | None:
        """Returns the index of the operation that goes first."""


class PlacementPolicy(Protocol):
    """Selects the stream that a page goes to. Any callable, such as a function, that takes the page and what has happened can be used.

    It is called once per page (mapping unit) that the host writes, and once per page that garbage collection moves, also during
    preconditioning, where the writer has more than one stream. It returns the number of a stream among those of the writer, from 0.

    A class can be given instead of an instance. Each drive then creates its own instance, for preconditioning and the run. Use a class for
    a policy that keeps state between calls.
    """

    def __call__(self, placing: Placing, /) -> int:
        """Returns the number of the stream."""


Victim = VictimPolicy | type[VictimPolicy] | str
Eviction = EvictionPolicy | type[EvictionPolicy] | str
Order = OrderPolicy | type[OrderPolicy] | str
Placement = PlacementPolicy | type[PlacementPolicy] | str


class Policy(NamedTuple):
    """A policy in the form of the core."""

    policy: Any
    """The callable, or a class whose instances are."""
    name: str
    source: str
    """Source text, or the name if that is not available; results have its hash."""
    place: tuple[str, int] | None
    """File and line of the definition, if known."""


def described(kind: str, policy: Any) -> Policy | None:
    """A policy in the form of the core; `None` without one.

    Raises:
        UsageError: the policy cannot be called, or the file that a text names has no such policy or cannot be loaded.
    """
    if policy is None or isinstance(policy, Policy):
        return policy
    if isinstance(policy, str):
        return _of_file(kind, policy)
    if not _can_choose(policy):
        message = f"{kind} = {shown(policy)}: expected something to call with the candidates, or a text such as ours.py:Ours"
        raise UsageError(f"{message}; a built-in policy is chosen by the key {KINDS[kind].key}")
    defined = _named(policy)
    if (how := _returns_later(defined)) is not None:
        raise UsageError(f"{kind} = {shown(policy)}: {how}, whose call returns no choice: expected a plain function or method")
    name = f"{getattr(defined, '__module__', None) or '?'}.{defined.__qualname__}"
    try:
        lines, first = inspect.getsourcelines(defined)
        return Policy(policy, name, "".join(lines), (inspect.getfile(defined), max(first, 1)))
    except (OSError, TypeError):
        return Policy(policy, name, name, None)


def _can_choose(policy: object) -> bool:
    if isinstance(policy, type):  # a class is callable too, which creates an instance
        return any("__call__" in vars(base) for base in policy.__mro__)
    return callable(policy)


def _returns_later(defined: Any) -> str | None:
    """What a policy is whose call only makes something that could return a choice later; `None` for others."""
    called = defined.__call__ if isinstance(defined, type) else defined
    if inspect.iscoroutinefunction(called) or inspect.isasyncgenfunction(called):
        return "an async function"
    return "a generator" if inspect.isgeneratorfunction(called) else None


def _named(policy: Any) -> Any:
    """The object with the policy's name and source: the function, or the class of another object."""
    while isinstance(policy, functools.partial):
        policy = policy.func
    return policy if hasattr(policy, "__qualname__") else type(policy)


# ---- Policies in files -------------------------------------------------------------------------------------------------------------------

_texts: dict[str, str] = {}
"""Texts of files that need not exist on this machine, by path."""


@contextlib.contextmanager
def provided(texts: Mapping[str, str]) -> Iterator[None]:
    """Lets policies be loaded from these texts, by path, in place of files."""
    _texts.update(texts)
    try:
        yield
    finally:
        for file in texts:
            _texts.pop(file, None)


def sources_of(options: Mapping[str, Any]) -> dict[str, str]:
    """The texts of the files that policies among the options are loaded from, by path, for `provided` elsewhere."""
    files = (file_of(options[kind]) for kind in KINDS if kind in options)
    return {file: _read(file, file) for file in files if file is not None}


def file_of(policy: Any) -> str | None:
    """The path of the file of a policy; `None` for a policy that is not in the form `ours.py:Ours`."""
    return policy.rpartition(":")[0] if isinstance(policy, str) and ":" in policy else None


def located(policy: str, folder: Path | None) -> str:
    """A policy `ours.py:Ours` with the path of its file in `folder` if it exists there, else as it is."""
    file = file_of(policy)
    return str(folder / policy) if file is not None and folder is not None and (folder / file).is_file() else policy


def _of_file(kind: str, policy: str) -> Policy:
    """The policy in a file."""
    text(kind, policy)
    asked, (file, colon, name) = f'{kind} = "{policy}"', policy.rpartition(":")
    if not colon or not file.endswith(".py") or not name.isidentifier():
        raise UsageError(f"{asked}: expected FILE.py:CLASS, such as ours.py:Ours; a built-in policy is chosen by the key {KINDS[kind].key}")
    source = _read(file, asked)
    module = _module(file, source)
    lines = _definitions(source)
    if name not in vars(module):
        there = ", ".join(lines) or "no class and no function"
        raise UsageError(f"{asked}: {file} defines no {name}{nearest(name, lines)} (it defines {there})")
    found = vars(module)[name]
    line = {**_assignments(source), **lines}.get(name, 1)
    if not _can_choose(found):
        raise UsageError(f"{asked}: {name} ({file}, line {line}) cannot be called: expected a class with a method __call__, or a function")
    if (how := _returns_later(_named(found))) is not None:
        raise UsageError(
            f"{asked}: {name} ({file}, line {line}) is {how}, whose call returns no choice: expected a plain function or method"
        )
    return Policy(found, policy, source, (file, line))


def _read(file: str, asked: str) -> str:
    if file in _texts:
        return _texts[file]
    try:
        if not stat.S_ISREG(Path(file).stat().st_mode):  # a pipe would never end
            raise UsageError(f"{asked}: {file} is not a regular file: expected a file of Python code")
        return Path(file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as reason:
        raise UsageError(f"{asked}: cannot read {file}: {getattr(reason, 'strerror', None) or reason}") from reason


def _definitions(source: str) -> dict[str, int]:
    """The line of each class and function of a module."""
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {entry.name: entry.lineno for entry in ast.parse(source).body if isinstance(entry, kinds)}


def _assignments(source: str) -> dict[str, int]:
    """The line of each name that a module assigns to."""
    entries = [entry for entry in ast.parse(source).body if isinstance(entry, ast.Assign)]
    return {target.id: entry.lineno for entry in entries for target in entry.targets if isinstance(target, ast.Name)}


class _Loader(importlib.abc.SourceLoader):
    """Loads a module from a text. It writes no compiled file."""

    def __init__(self, file: str, source: str) -> None:
        self._file, self._source = file, source

    def get_filename(self, fullname: str) -> str:  # noqa: ARG002
        return self._file

    def get_data(self, path: str | bytes) -> bytes:  # noqa: ARG002
        return self._source.encode()


@functools.lru_cache(maxsize=256)
def _module(file: str, source: str) -> ModuleType:
    """The module of a file, loaded once for each text that it has had.

    Raises:
        UsageError: its code raised an exception.
    """
    name = f"ssdlab_policy_{hashlib.sha256(f'{file}:{source}'.encode()).hexdigest()[:16]}"
    spec = importlib.util.spec_from_loader(name, _Loader(file, source), origin=file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        with contextlib.redirect_stdout(sys.stderr):  # standard output has results
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as reason:
        del sys.modules[name]
        raise UsageError(f"{file}, line {_line_of(reason, file)}: {type(reason).__name__}: {_message(reason)}") from reason
    return module


def _message(reason: BaseException) -> str:
    return (reason.msg if isinstance(reason, SyntaxError) else str(reason)) or "no message"


def _line_of(reason: BaseException, file: str) -> int:
    """The last line of a file that an exception passed, or the first if it passed none."""
    if isinstance(reason, SyntaxError) and reason.filename == file:
        return reason.lineno or 1
    line, trace = 1, reason.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
