"""Which modules of the user's own does a policy import? A change in one of them is a change of the policy."""

from __future__ import annotations

import ast
import functools
import importlib.util
import itertools
import site
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from ssdlab.asking.policies import Policy, file_of

__all__ = ["imported", "imported_files"]


def imported(policy: Policy) -> dict[str, str]:
    """Texts of the modules that the file of a policy imports, also indirectly, by name.

    Modules of Python and of installed packages are left out, and those that cannot be found or read.
    """
    return {name: text for name, (_, text) in _modules(policy).items()}


def imported_files(policy: Policy) -> dict[str, Path]:
    """Files of the modules that `imported` has, by the place where Python looks for each below a folder of modules."""
    return {
        name.replace(".", "/") + ("/__init__.py" if file.name == "__init__.py" else ".py"): file
        for name, (file, _) in _modules(policy).items()
    }


def _modules(policy: Policy) -> dict[str, tuple[Path, str]]:
    """File and text of each module, by name."""
    found: dict[str, tuple[Path, str]] = {}
    text = policy.source if file_of(policy.name) is not None else _text(policy.place and Path(policy.place[0]))
    waiting = list(_names(text or "", ""))
    while waiting:
        name = waiting.pop()
        if name in found or (file := _own_file(name)) is None or (text := _text(file)) is None:
            continue
        found[name] = file, text
        waiting += _names(text, name if file.name == "__init__.py" else name.rpartition(".")[0])
    return found


def _text(file: Path | None) -> str | None:
    try:
        return None if file is None else file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None


def _names(text: str, package: str) -> Iterator[str]:
    """The modules that a text may import: each name behind `import`, with the packages around it. `package`: that of the text."""
    try:
        entries = list(ast.walk(ast.parse(text)))
    except SyntaxError:
        return
    for entry in entries:
        if isinstance(entry, ast.Import):
            names = [alias.name for alias in entry.names]
        elif isinstance(entry, ast.ImportFrom):
            around = package.split(".")[: len(package.split(".")) + 1 - entry.level] if entry.level else []
            origin = ".".join([*filter(None, around), *filter(None, [entry.module])])
            names = [f"{origin}.{alias.name}" for alias in entry.names] if origin else [alias.name for alias in entry.names]
        else:
            continue
        for name in names:
            yield from itertools.accumulate(name.split("."), "{}.{}".format)


def _own_file(name: str) -> Path | None:
    """The file of a module; `None` for what is no module, and for a module of Python, of an installed package or of ssdlab."""
    top = name.partition(".")[0]
    if top != name and _own_file(top) is None:  # looking for a part of a package imports the package
        return None
    try:
        origin = sys.modules[name].__file__ if name in sys.modules else getattr(importlib.util.find_spec(name), "origin", None)
    except (ImportError, AttributeError, ValueError):
        return None
    file = Path(origin or "")
    return None if file.suffix != ".py" or any(file.is_relative_to(folder) for folder in _installed()) else file


@functools.cache
def _installed() -> tuple[str, ...]:
    """Folders of Python, of installed packages, and of ssdlab."""
    paths = sysconfig.get_paths()
    return (
        *(paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")),
        *site.getsitepackages(),
        site.getusersitepackages(),
        str(Path(__file__).parents[1]),
    )
