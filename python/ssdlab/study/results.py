"""The results of studies, read back from the folder that they were run into."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ssdlab.errors import FileError, UsageError
from ssdlab.folders import STUDY_FILE, settle
from ssdlab.json_text import read_json

__all__ = ["Part", "Ran", "check_result", "collect"]

Ran = tuple[Path, Mapping[str, Any]]
"""A study that was run: its folder, and its `study.json`."""
Part = Callable[[Mapping[str, Any]], object]
"""Something that is made of a result; it raises where the result lacks an entry."""

KINDS: dict[str, type] = {
    **dict.fromkeys(("study", "title", "place", "about", "version"), str),
    **dict.fromkeys(("deviations", "discussion", "seeds", "parameters", "rows", "points", "skipped", "runs"), list),
    **dict.fromkeys(("setup", "metrics", "failed"), dict),
    "quick": bool,
}
"""What a page needs of a study's result."""


def collect(folder: Path, parts: Sequence[Part]) -> list[Ran]:
    """The results of the studies that were run into `folder`, each with the folder that it lies in.

    Args:
        folder: the folder.
        parts: what will be made of each result, tried on it, so that one that lacks something is named.

    Raises:
        FileError: if the folder cannot be read.
        UsageError: if it has no results, or a file that `ssdlab study run` did not write.
    """
    found = []
    try:
        for study_folder in folder.glob("*/*/"):
            settle(study_folder)
        files = sorted(folder.glob(f"*/*/{STUDY_FILE}"))
    except OSError as reason:
        raise FileError(f"{folder}: cannot read: {reason.strerror}", reason.errno, str(folder)) from reason
    for file in files:
        found.append((file.parent, check_result(file, parts)))
    if not found:
        raise UsageError(f"{folder}: no results of studies here (`ssdlab study run` makes them)")
    return found


def check_result(file: Path, parts: Sequence[Part] = ()) -> Mapping[str, Any]:
    """What a `study.json` says.

    Args:
        file: the file.
        parts: what will be made of it, tried on it.

    Raises:
        FileError: it cannot be read.
        UsageError: it is not as `ssdlab study run` writes it.
    """
    try:
        study: Mapping[str, Any] = read_json(file)
        _check(study, parts)
    except (UsageError, ValueError) as reason:
        raise UsageError(f"{file}: no result of a study: {str(reason).removeprefix(f'{file}: ')}") from reason
    return study


def _check(study: object, parts: Sequence[Part]) -> None:
    """Raises a `ValueError` for what `ssdlab study run` does not write."""
    if not isinstance(study, dict):
        raise ValueError("not a JSON object")
    for key, kind in KINDS.items():
        if not isinstance(study.get(key), kind):
            raise ValueError(f'"{key}" is missing' if key not in study else f'"{key}" is not as `ssdlab study run` writes it')
    for part in parts:
        try:
            part(study)
        except (KeyError, TypeError, AttributeError, ValueError) as reason:
            raise ValueError(f"an entry is missing or not as `ssdlab study run` writes it ({reason})") from reason
