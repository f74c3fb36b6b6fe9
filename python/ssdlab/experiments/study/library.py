"""The locations of studies: in the package, and in a user's files."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from ssdlab import _core
from ssdlab.asking.keys import read_file, read_toml
from ssdlab.checks import nearest
from ssdlab.errors import UsageError
from ssdlab.experiments.study.definition import Study, parse
from ssdlab.experiments.study.statements import check_shown

__all__ = ["find", "load", "located", "shipped", "text"]


@cache
def shipped() -> dict[str, str]:
    """The text of each study of the package, by name (`lee2013/fig10a`)."""
    return dict(_core.studies())


def text(name: str) -> str:
    """The text of a study, by name or by the path of a TOML file."""
    if name.endswith(".toml"):
        return read_file(Path(name))
    return _shipped_text(name)


def _shipped_text(name: str) -> str:
    if name not in shipped():
        every = ", ".join(shipped())
        raise UsageError(
            f'study "{name}": no such study{nearest(name, shipped())} (there are {every}; a file is given by a path ending in .toml)'
        )
    return shipped()[name]


def load(name: str) -> Study:
    """Reads and checks a study."""
    path = Path(name)
    own = path.suffix == ".toml"
    if own and path.stem.startswith("."):
        raise UsageError(f"{name}: a study is named after its file: give the file a name that does not begin with a dot")
    study = parse(f"own/{path.stem}" if own else name, text(name), path.parent if own else Path())
    names = [row.what for row in study.rows]
    check_shown(f"{study.name}: discussion", study.discussion, lambda other: names if other == study.name else rows_of(other))
    return study


@cache
def rows_of(name: str) -> tuple[str, ...]:
    """Names of the rows of a study in the package."""
    return tuple(row["what"] for row in read_toml(name, _shipped_text(name)).get("rows", []))


def find(names: list[str]) -> list[Study]:
    """Finds studies by name, by file, or all of a paper by its key; each once, in the given order.

    Raises:
        UsageError: two files have the same name, so that their results would lie in the same folder.
    """
    return list(located(names).values())


def located(names: list[str]) -> dict[str, Study]:
    """Finds studies like `find`, by the name or file that `text` takes.

    Raises:
        UsageError: two files have the same name, so that their results would lie in the same folder.
    """
    found: dict[str, Study] = {}
    files: dict[str, str] = {}
    for name in names:
        members = [study for study in shipped() if study.split("/")[0] == name.rstrip("/")]
        for member in members or [name]:
            study = load(member)
            if study.name in found and member != files[study.name] and not _same_file(member, files[study.name]):
                raise UsageError(
                    f"{files[study.name]} and {member}: both are named {study.name}, and would write the same results: rename one of them"
                )
            found.setdefault(study.name, study)
            files.setdefault(study.name, member)
    return {files[name]: study for name, study in found.items()}


def _same_file(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
