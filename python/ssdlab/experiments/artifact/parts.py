"""A part of a kit: a study, or the results of a run, comparison or sweep, with all that the kit has of it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdlab.asking.policies import KINDS

__all__ = ["RUNS", "STUDY", "TRACES", "Part", "Reads", "seconds_of", "setup_of", "without_folders"]

STUDY, RUNS = "study", "runs"
SPEED = ("prepare_s", "wall_s")
TRACES = ("trace", "prefill", "fio")
"""Options with files that a kit lists by their hash."""
PLACES = {f"--{name}" for name in (*TRACES, *KINDS)}


@dataclass(frozen=True)
class Reads:
    """The files that runs read."""

    traces: tuple[tuple[str, Path], ...] = ()
    """Files that the kit lists by their hash: the name there, and the present path."""
    own: tuple[tuple[str, Path], ...] = ()
    """Presets, policies and the like: the name that runs use, which the kit keeps, and the present path."""
    named: tuple[str, ...] = ()
    """Traces that only a configuration names."""

    @classmethod
    def together(cls, parts: Sequence[Reads]) -> Reads:
        """The files of several runs, each once."""
        return cls(
            tuple(dict.fromkeys(entry for part in parts for entry in part.traces)),
            tuple(dict.fromkeys(entry for part in parts for entry in part.own)),
            tuple(dict.fromkeys(entry for part in parts for entry in part.named)),
        )


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a kit."""

    kind: str
    """`STUDY` or `RUNS`."""
    name: str
    title: str
    made: float
    """The time when the results were written, s since 1970."""
    runs: Mapping[str, Mapping[str, Any]]
    """Values, seed, command and configuration of each run, by the name of its folder."""
    seconds: tuple[float, ...]
    """Duration of each run, s."""
    reads: Reads
    file: str
    """The file in the kit that says what is run."""
    expected: str
    """The file in the kit with the expected results."""
    files: Mapping[str, str | Path | Mapping[str, Any]]
    """The part's files by their names in the kit: texts, files to copy, and contents of JSON files."""
    quick: bool = False
    """Whether the part is the quick form of a study."""


def seconds_of(result: Mapping[str, Any]) -> float:
    """The duration of a run, s."""
    return sum(float(result.get(key, 0)) for key in SPEED)


def setup_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of a result, with the names of files but not their folders."""
    setup = {key: result[key] for key in ("config", "parameters", "priority", "command") if key in result}
    if "command" in setup:
        setup["command"] = without_folders(setup["command"])
    return {key: _names_only(entry) for key, entry in setup.items()}


def without_folders(command: str) -> str:
    """A command with the names of files but not their folders."""
    words = shlex.split(command)
    named = [Path(word).name if before in PLACES else word for before, word in zip(["", *words], words, strict=False)]
    return shlex.join(named)


def _names_only(value: Any, key: str = "") -> Any:
    """A configuration without absent values and without the folders of traces, which belong to this machine."""
    if isinstance(value, Mapping):
        return {name: _names_only(entry, name) for name, entry in value.items() if entry is not None}
    return Path(value).name if key in TRACES and isinstance(value, str) else value
