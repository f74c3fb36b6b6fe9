"""Results as the report sees them: labelled, in order, from memory or from the files of a run or comparison."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from ssdlab.checksums import CHECKSUM, is_sealed
from ssdlab.errors import FileError, UsageError
from ssdlab.folders import COMPARISON_FILE, RESULT_FILE, settle

__all__ = ["KINDS", "Run", "Runs", "command_of", "leaves", "load"]

KINDS = {"read": "Reads", "write": "Writes"}
"""Of requests, as figures call them."""

NEEDED: dict[str, type] = {
    **dict.fromkeys(("config", "requests", "latency_ns", "breakdown_ns", "gc", "slack", "flash", "counters"), dict),
    **dict.fromkeys(("version", "digest"), str),
    "seed": int,
    "simulated_ns": int,
}
"""What every result has."""


@dataclass(frozen=True)
class Run:
    """One result and what it is called. `index` chooses its colour, everywhere the same."""

    label: str
    index: int
    data: Mapping[str, Any]

    def at(self, place: str) -> Any:
        """An entry by its path, such as `latency_ns.read.p99`; `None` where the run does not have it."""
        found: Any = self.data
        for part in place.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
        return found

    @property
    def changed(self) -> bool:
        """Whether it says something else than when it was written."""
        return CHECKSUM in self.data and not is_sealed(self.data)

    @property
    def series(self) -> Mapping[str, Any] | None:
        """What happened when, if the run recorded it."""
        return self.data.get("series")


@dataclass(frozen=True)
class Runs:
    """One run, or those of a comparison: the first is what the others are compared with."""

    runs: tuple[Run, ...]
    paired: Mapping[str, Any] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, results: Mapping[str, Mapping[str, Any]], **more: Mapping[str, Any]) -> Runs:
        """From results by label."""
        return cls(tuple(Run(label, index, data) for index, (label, data) in enumerate(results.items())), **more)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def __getitem__(self, index: int) -> Run:
        return self.runs[index]

    @property
    def recorded(self) -> tuple[Run, ...]:
        """Those that recorded what happened when, with at least one bin."""
        return tuple(run for run in self.runs if run.series and run.series["bins"])

    @property
    def title(self) -> str:
        """What was simulated, in a few words: schemes, device, workload."""
        words = _words(self[0].data.get("command"))
        options = dict(pairwise(words))
        trace, device = self[0].at("config.workload.trace"), options.get("--device")
        workload = Path(trace).name if trace else options.get("--workload")
        labels = [run.label for run in self]
        shown = ", ".join(labels) if len(labels) < 6 else f"{len(labels)} schemes"
        return shown + (f" on {device}" if device else "") + (f", {workload}" if workload else "")


def load(folder: Path) -> Runs:
    """The results that `ssdlab run` or `ssdlab compare` left in a folder.

    Raises:
        UsageError: there are none, or a file is not one of theirs.
        FileError: a file cannot be read.
    """
    settle(folder)
    found = [file for file in (folder / COMPARISON_FILE, folder / RESULT_FILE) if file.exists()]
    if found:
        file = max(found, key=lambda file: file.stat().st_mtime_ns)  # a folder may have been used twice
        return _comparison(file) if file.name == COMPARISON_FILE else _single(file)
    raise UsageError(f"{folder}: neither {RESULT_FILE} nor {COMPARISON_FILE} is here (`ssdlab run --out` and `compare --out` write them)")


def _single(file: Path) -> Runs:
    data = _read(file)
    _check(data, file)
    return Runs.of({scheme_of(data) or "run": data})


def scheme_of(data: Mapping[str, Any]) -> str | None:
    """The scheme that a run was asked for, where its command is known."""
    words = _words(data.get("command"))
    return words[words.index("--scheme") + 1] if "--scheme" in words else None


def _comparison(file: Path) -> Runs:
    data = _read(file)
    runs = data.get("runs")
    if not isinstance(runs, dict) or not runs:
        raise UsageError(f"{file}: not what `ssdlab compare` writes: it has no runs")
    for run in runs.values():
        _check(run, file)
    return Runs.of(runs, paired=data.get("paired", {}), failed=data.get("failed", {}))


def _read(file: Path) -> dict[str, Any]:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except OSError as reason:
        raise FileError(f"{file}: cannot read: {reason.strerror}", reason.errno, os.fspath(file)) from reason
    except ValueError as reason:
        raise UsageError(f"{file}: not JSON: {reason}") from reason
    if not isinstance(data, dict):
        raise UsageError(f"{file}: not a JSON object")
    return data


def _check(data: object, file: Path) -> None:
    for key, kind in NEEDED.items():
        if not isinstance(data, dict) or not isinstance(data.get(key), kind):
            raise UsageError(f'{file}: not a result of this version: "{key}" is missing or not as `ssdlab run` writes it')


def command_of(runs: Runs) -> str | None:
    """A command that repeats the run, or the comparison; `None` where it is not known, as of policies written in Python."""
    commands = [_words(run.data.get("command")) for run in runs]
    if not all(commands):
        return None
    first = commands[0]
    if len(runs) == 1 or "--scheme" not in first:
        return shlex.join(first) if len(runs) == 1 else None
    place = first.index("--scheme")
    before, after = first[2:place], first[place + 2 :]
    if any(words[:place] != first[:place] or words[place + 2 :] != after for words in commands):
        return None
    schemes = [word for words in commands for word in words[place : place + 2]]
    paired = ["--paired"] if runs.paired else []
    return shlex.join(["ssdlab", "compare", *before, *schemes, *after, *paired])


def _words(command: object) -> list[str]:
    return shlex.split(command) if isinstance(command, str) else []


def leaves(tree: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of a tree with its path."""
    for key, value in tree.items():
        place = f"{path}.{key}" if path else key
        if isinstance(value, Mapping):
            yield from leaves(value, place)
        else:
            yield place, value
