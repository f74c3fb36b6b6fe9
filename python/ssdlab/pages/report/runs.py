"""Runs as the report uses them: labelled results in order, from memory or from the files of a run or comparison."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from ssdlab.analysis.differences import Change, changes
from ssdlab.asking.plans import as_fitted
from ssdlab.checks import mapping, nearest, shown, text
from ssdlab.errors import Error, UsageError
from ssdlab.system.folders import COMPARISON_FILE, RESULT_FILE, settle
from ssdlab.system.json_text import read_json

__all__ = [
    "KINDS",
    "Run",
    "Runs",
    "check_labels",
    "command_of",
    "leaves",
    "load",
    "read_result",
    "saved_in",
    "title_of",
    "title_parts",
    "undamaged",
    "words_of",
]

KINDS = {"read": "Reads", "write": "Writes"}
"""Names of request kinds in figures."""

NEEDED: dict[str, type] = {
    **dict.fromkeys(("config", "requests", "latency_ns", "breakdown_ns", "gc", "slack", "flash", "bytes_written", "counters"), dict),
    **dict.fromkeys(("version", "digest"), str),
    "seed": int,
    "simulated_ns": int,
}
"""Entries of every result, with their types."""


MOST_IN_TITLE, LONGEST_TITLE = 5, 90
"""Maximum number of labels that a title lists, and their maximum length together, characters."""


@dataclass(frozen=True)
class Run:
    """A result with its label. `index` determines its colour in all figures."""

    label: str
    index: int
    data: Mapping[str, Any]

    def at(self, place: str) -> Any:
        """An entry by its path, such as `latency_ns.read.p99`; `None` if the run does not have it."""
        found: Any = self.data
        for part in place.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
        return found

    @property
    def series(self) -> Mapping[str, Any] | None:
        """The recorded series, if any."""
        return self.data.get("series")

    @property
    def drives(self) -> int:
        """Number of drives: 1, or those of the array."""
        array = self.at("config.array") or {}
        return int(array["drives"]) if array.get("level", "none") != "none" else 1

    @cached_property
    def histogram(self) -> tuple[list[int], list[int]]:
        """The distribution of response times of all requests, if recorded: upper bounds of buckets, ns, and counts."""
        counts: Counter[int] = Counter()
        for kind in KINDS:
            counts.update(dict(zip(self.at(f"histograms.{kind}.upper_ns") or (), self.at(f"histograms.{kind}.count") or (), strict=True)))
        upper = sorted(counts)
        return upper, [counts[bound] for bound in upper]


@dataclass(frozen=True)
class Runs:
    """One run or the runs of a comparison. The others are compared with the first."""

    runs: tuple[Run, ...]
    paired: Mapping[str, Any] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    seeds: Mapping[str, Any] = field(default_factory=dict)
    """Means and differences over several seeds with their intervals, as in `comparison.json`."""
    remarks: Sequence[Mapping[str, Any]] | None = None
    """The remarks on all runs, as in `comparison.json`: with several seeds, those of later seeds are among them."""
    variants: Mapping[str, Any] = field(default_factory=dict)
    """What each variant was given, as in `comparison.json`; empty for schemes and for a single run."""
    source: Path | None = None
    """Folder or file that the runs were read from."""

    @classmethod
    def of(cls, results: Mapping[str, Mapping[str, Any]], **more: Any) -> Runs:
        """Builds runs from results by label."""
        return cls(tuple(Run(label, index, data) for index, (label, data) in enumerate(results.items())), **more)

    @classmethod
    def saved(cls, data: Mapping[str, Any], source: Path | None = None) -> Runs:
        """Builds runs from the content of `comparison.json`."""
        more = {key: data.get(key, {}) for key in ("paired", "failed", "seeds", "variants")}
        return cls.of(data["runs"], **more, remarks=data.get("remarks"), source=source)

    @property
    def kind(self) -> str:
        """The word for what is compared."""
        return "variant" if self.variants else "scheme"

    @cached_property
    def one_load(self) -> bool:
        """Whether all runs have the same workload, so that shorter response times are those of a better drive."""
        return all(run.at("config.workload") == self[0].at("config.workload") for run in self)

    @cached_property
    def changes(self) -> Mapping[str, Sequence[Change]]:
        """What each run but the first changes against the first, by label."""
        return changes({run.label: run.data for run in self}, self.variants)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def __getitem__(self, index: int) -> Run:
        return self.runs[index]

    def only(self, labels: Sequence[str]) -> Runs:
        """A selection of the runs in the given order; each keeps its colour.

        Raises:
            UsageError: a run does not exist.
        """
        by_label = {run.label: run for run in self}
        if isinstance(labels, str) or not isinstance(labels, Sequence) or not labels:
            raise UsageError(f"schemes = {shown(labels)}: expected a list of names (there are {', '.join(by_label)})")
        for label in labels:
            if not isinstance(label, str) or label not in by_label:
                raise UsageError(f'schemes: no "{label}"{nearest(str(label), by_label)} (there are {", ".join(by_label)})')
        return replace(self, runs=tuple(by_label[label] for label in dict.fromkeys(labels)), remarks=None)

    def renamed(self, labels: Mapping[str, str]) -> Runs:
        """A copy in which some runs have other labels, for figures.

        Raises:
            UsageError: a run does not exist.
        """
        check_labels(labels, [run.label for run in self])
        runs = tuple(replace(run, label=labels.get(run.label, run.label)) for run in self)
        return replace(self, runs=runs, seeds={key: _renamed(entry, labels) for key, entry in self.seeds.items()})

    @property
    def recorded(self) -> tuple[Run, ...]:
        """The runs with recorded series of at least one bin."""
        return tuple(run for run in self.runs if run.series and run.series["bins"])

    @property
    def title(self) -> str:
        """A short description of the runs: labels, device and workload."""
        options = [dict(pairwise(words_of(run.data.get("command")))) for run in self]
        traces = [run.at("config.workload.trace") for run in self]
        named = [Path(trace).name if trace else of.get("--workload") for trace, of in zip(traces, options, strict=True)]
        device, workload = (_common(values) for values in ([of.get("--device") for of in options], named))
        return self.compared + (f" on {device}" if device else "") + (f", {workload}" if workload else "")

    @property
    def compared(self) -> str:
        """The labels of the runs, or how many there are."""
        labels = [run.label for run in self]
        listed = ", ".join(labels)
        return f"{len(labels)} {self.kind}s" if len(labels) > MOST_IN_TITLE or len(listed) > LONGEST_TITLE else listed


def check_labels(labels: Mapping[str, str], known: Sequence[str]) -> None:
    """Checks labels for a figure: a text for each of some names.

    Raises:
        UsageError: a name does not exist, or a label is not a text.
    """
    for name, label in mapping("labels", labels).items():
        text(f'labels["{name}"]', label)
        if name not in known:
            raise UsageError(f'labels: no "{name}"{nearest(str(name), known)} (there are {", ".join(known)})')


def _common(values: Sequence[str | None]) -> str | None:
    """The value that all have; `None` if they differ."""
    return values[0] if len(set(values)) == 1 else None


def load(folder: Path) -> Runs:
    """Loads the results of `ssdlab run` or `ssdlab compare` from a folder.

    Raises:
        UsageError: the folder has no results, or a file in it is invalid.
        FileError: a file cannot be read.
    """
    file, data = saved_in(folder)
    if file.name == COMPARISON_FILE:
        return Runs.saved(data, folder)
    return Runs.of({scheme_of(data) or "run": data}, source=folder)


def saved_in(folder: Path) -> tuple[Path, dict[str, Any]]:
    """The file with the results of a folder, and its content.

    Raises:
        UsageError: the folder has no results, or the file is invalid.
        FileError: the file cannot be read.
    """
    settle(folder)
    # pathlib raises for a name that is too long
    found = [file for file in (folder / COMPARISON_FILE, folder / RESULT_FILE) if os.path.exists(file)]  # noqa: PTH110
    if not found:
        written = "`ssdlab run --out` and `compare --out` write them"
        raise UsageError(f"{folder}: neither {RESULT_FILE} nor {COMPARISON_FILE} is here ({written})")
    file = max(found, key=lambda file: file.stat().st_mtime_ns)  # the folder may have been used twice
    if file.name == RESULT_FILE:
        return file, read_result(file)
    data = _read(file)
    runs = data.get("runs")
    if not isinstance(runs, dict) or not runs:
        raise UsageError(f"{file}: it has no runs; not a file written by `ssdlab compare`")
    for run in runs.values():
        _check(run, file)
    return file, data


def read_result(file: Path) -> dict[str, Any]:
    """Reads a result file.

    Raises:
        UsageError: the file is not a result, or from another version.
        FileError: the file cannot be read.
    """
    data = _read(file)
    _check(data, file)
    return data


@contextlib.contextmanager
def undamaged(source: Path | None) -> Iterator[None]:
    """Reports missing or invalid entries of results from `source` in one line.

    Raises:
        UsageError: an entry is missing or invalid. For results without a source it is a defect, and the exception is not changed.
    """
    try:
        yield
    except Error:
        raise
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError) as reason:
        if source is None:
            raise
        found = f"{type(reason).__name__}: {reason}"
        raise UsageError(f"{source}: the results here are damaged or those of another version, run it again ({found})") from reason


def scheme_of(data: Mapping[str, Any]) -> str | None:
    """The scheme of a run, if its command is known."""
    words = words_of(data.get("command"))
    return words[words.index("--scheme") + 1] if "--scheme" in words else None


def title_of(data: Mapping[str, Any]) -> str:
    """A description of a run in one line, if its command is known."""
    return ", ".join(title_parts(data))


def title_parts(data: Mapping[str, Any]) -> list[str]:
    """The parts of a run's description; empty if its command is not known."""
    words = words_of(data.get("command"))
    if not words:
        return []
    pairs = list(pairwise(words))
    options = {option: value for option, value in pairs if option.startswith("--")}
    settings = [value.partition("=") for option, value in pairs if option == "--set"]
    trace = next((value for key, _, value in settings if key == "workload.trace"), options.get("--trace"))
    parts = [f"Device {options.get('--device', 'default')}", f"scheme {options.get('--scheme', 'default')}"]
    parts.append(f"workload {options.get('--workload', 'default')}" if trace is None else f"trace {trace}")
    parts += [f"config {options['--config']}"] if "--config" in options else []
    return as_fitted([*parts, *(f"{key} = {value}" for key, _, value in settings if key != "workload.trace")], data.get("fit"))


def _read(file: Path) -> dict[str, Any]:
    data = read_json(file)
    if not isinstance(data, dict):
        raise UsageError(f"{file}: not a JSON object")
    return data


def _check(data: object, file: Path) -> None:
    for key, kind in NEEDED.items():
        if not isinstance(data, dict) or not isinstance(data.get(key), kind):
            raise UsageError(f'{file}: not a result of this version: "{key}" is missing or not as `ssdlab run` writes it')


def command_of(runs: Runs) -> str | None:
    """A command that repeats the run or comparison; `None` if it is not known, as for policies written in Python."""
    commands = [words_of(run.data.get("command")) for run in runs]
    if not all(commands):
        return None
    if len(runs) == 1:
        return shlex.join(commands[0])
    compared = _variants(runs, commands) if runs.variants else _schemes(commands)
    if compared is None:
        return None
    paired = ["--paired"] if runs.paired else []
    seeds = ["--seeds", str(len(runs.seeds["seeds"]))] if runs.seeds else []
    return shlex.join(["ssdlab", "compare", *compared, *seeds, *paired])


def _schemes(commands: Sequence[Sequence[str]]) -> list[str] | None:
    """The words that compare schemes, from the command of each; `None` if something else differs."""
    first = commands[0]
    if "--scheme" not in first:
        return None
    place = first.index("--scheme")
    before, after = first[2:place], first[place + 2 :]
    if any(words[:place] != first[:place] or words[place + 2 :] != after for words in commands):
        return None
    return [*before, *(word for words in commands for word in words[place : place + 2]), *after]


def _variants(runs: Runs, commands: Sequence[Sequence[str]]) -> list[str]:
    """The words that compare variants: what all commands have, and for each variant the rest of its own."""
    options = [_options_in(words[2:]) for words in commands]
    common = [option for option in options[0] if all(option in others for others in options)]
    own = [[word for option in of if option not in common for word in option] for of in options]
    labelled = [["--variant", f"{run.label}: {shlex.join(words)}".rstrip()] for run, words in zip(runs, own, strict=True)]
    return [word for option in (*common, *map(tuple, labelled)) for word in option]


def _options_in(words: Sequence[str]) -> list[tuple[str, ...]]:
    """The words of a command by option."""
    starts = [index for index, word in enumerate(words) if word.startswith("--")]
    return [tuple(words[start:end]) for start, end in zip(starts, [*starts[1:], len(words)], strict=True)]


def _renamed(entry: Any, labels: Mapping[str, str]) -> Any:
    """An entry of `Runs.seeds` with other labels."""
    if isinstance(entry, Mapping):
        return {labels.get(label, label): of for label, of in entry.items()}
    return labels.get(entry, entry) if isinstance(entry, str) else entry


def words_of(command: object) -> list[str]:
    """The words of a command; empty if it is not known."""
    return shlex.split(command) if isinstance(command, str) else []


def leaves(tree: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of a tree with its path."""
    for key, value in tree.items():
        place = f"{path}.{key}" if path else key
        if isinstance(value, Mapping):
            yield from leaves(value, place)
        else:
            yield place, value
