"""Reads the results of studies from their folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ssdlab.errors import FileError, UsageError
from ssdlab.system.folders import STUDY_FILE, settle
from ssdlab.system.json_text import read_json

__all__ = ["Part", "Ran", "check_result", "collect"]

Ran = tuple[Path, Mapping[str, Any]]
"""A study that was run: its folder, and the content of its `study.json`."""
Part = Callable[[Mapping[str, Any]], object]
"""A function of a result; it raises if the result lacks an entry."""

KINDS: dict[str, type] = {
    **dict.fromkeys(("study", "title", "place", "about", "version"), str),
    **dict.fromkeys(("deviations", "discussion", "seeds", "parameters", "rows", "points", "skipped", "runs"), list),
    **dict.fromkeys(("setup", "metrics", "failed"), dict),
    "quick": bool,
}
"""Types of the entries that pages use."""


def collect(folder: Path, parts: Sequence[Part]) -> list[Ran]:
    """Reads the results of the studies in `folder`, each with its own folder.

    Args:
        folder: folder with the results of studies.
        parts: functions that will be applied to each result; they are tried, so that an incomplete result is reported.

    Raises:
        FileError: the folder cannot be read.
        UsageError: the folder has no results, or a file that `ssdlab study run` did not write.
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
    """Reads and checks a `study.json`.

    Args:
        file: path of the file.
        parts: functions that will be applied to the result; they are tried.

    Raises:
        FileError: the file cannot be read.
        UsageError: the file was not written by `ssdlab study run`, or was changed.
    """
    try:
        study: Mapping[str, Any] = read_json(file)
        _check(study, parts)
    except (UsageError, ValueError) as reason:
        raise UsageError(f"{file}: no result of a study: {str(reason).removeprefix(f'{file}: ')}") from reason
    return study


def _check(study: object, parts: Sequence[Part]) -> None:
    """Raises a `ValueError` for content that `ssdlab study run` does not write."""
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
