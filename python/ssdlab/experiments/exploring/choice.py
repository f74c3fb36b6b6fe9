"""A configuration that is chosen on the page, and its run: the options of the command with what the page changed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from ssdlab.asking.option import picked
from ssdlab.asking.options import ExploreOptions, SetupOptions
from ssdlab.asking.plans import Setup, requests_of
from ssdlab.checks import amount, shown, text, whole
from ssdlab.errors import Error, UsageError
from ssdlab.system.inputs import is_passing

__all__ = ["OPTIONS", "PRESETS", "Bench", "Choice", "Variant", "blamed", "compare_command"]

PRESETS = ("device", "scheme", "workload")
COUNTS = ("seed", "requests")
OPTIONS = (*COUNTS, "warm_up")
"""Options of a run that the page changes."""
BEGINS = re.compile(r"([a-z_]+(?:\.[a-z_]+)*)(?: =|:| \")")
"""Matches the name at the beginning of an error about a key, a preset or an option."""
LONGEST = 60
"""Maximum length of the label of a variant, characters."""


@dataclass(frozen=True)
class Choice:
    """A configuration as the page has it: names of presets, options of a run, and single keys, all as texts; empty for the default."""

    device: str = ""
    scheme: str = ""
    workload: str = ""
    seed: str = ""
    requests: str = ""
    warm_up: str = ""
    set: tuple[tuple[str, str], ...] = field(default=())

    @classmethod
    def read(cls, data: object) -> Choice:
        """The choice in a message of the page.

        Raises:
            UsageError: the data are not a choice.
        """
        names = {entry.name for entry in fields(cls)}
        if not isinstance(data, dict) or not set(data) <= names:
            raise UsageError(f"choice = {shown(data)}: expected an object with some of {', '.join(sorted(names))}")
        settings = data.get("set", {})
        if not isinstance(settings, dict):
            raise UsageError(f"set = {shown(settings)}: expected an object of keys and values")
        texts = {name: text(name, value) for name, value in data.items() if name != "set"}
        return cls(**texts, set=tuple(sorted((text("a key of set", key), text(key, value)) for key, value in settings.items())))

    def to_dict(self) -> dict[str, Any]:
        """The choice as the page has it."""
        return {**{name: value for name, value in vars(self).items() if name != "set" and value}, "set": dict(self.set)}


class Variant(NamedTuple):
    """A choice with its label."""

    label: str
    choice: Choice

    @classmethod
    def read(cls, data: object) -> Variant:
        """The variant in a message of the page.

        Raises:
            UsageError: the data are not a variant.
        """
        if not isinstance(data, dict):
            raise UsageError(f"variant = {shown(data)}: expected an object with a label and a choice")
        label = text("label", data.get("label"))
        if not label.strip() or len(label) > LONGEST or ":" in label:
            raise UsageError(f"label = {shown(label)}: expected 1 to {LONGEST} characters without a colon")
        return cls(label, Choice.read(data.get("choice")))


class Bench:
    """What is explored: the options of the command, from which each choice makes a run.

    Args:
        asked: options of the command.
        pairs: single keys with TOML text.
    """

    def __init__(self, asked: ExploreOptions, pairs: Sequence[tuple[str, str]]) -> None:
        self.sample = whole("sample", asked["sample"], least=1)
        self._options = picked(SetupOptions, asked)
        numbers = {name: "" if asked[name] is None else str(asked[name]) for name in OPTIONS}  # type: ignore[literal-required]
        names = {name: asked[name] or "" for name in PRESETS}  # type: ignore[literal-required]
        self.first = Choice(**names, **numbers, set=tuple(sorted(pairs)))
        setup = self.setup(self.first)
        passing = next((file for file in setup.inputs(setup.build(self.first.scheme or None)) if is_passing(file)), None)
        if passing is not None:
            raise UsageError(f"{passing}: can be read only once, but every change of the configuration reads it: give a file")

    @property
    def trace(self) -> str:
        """The trace given by an option, or an empty text."""
        return str(self._options.get("trace") or "")

    def setup(self, choice: Choice, *, sampled: bool = False) -> Setup:
        """The setup of a choice's run, or of its sample, which has the first requests and no warm-up.

        Raises:
            UsageError: an option is invalid.
        """
        counts = {name: amount(name, value, in_bytes=False) for name in COUNTS if (value := getattr(choice, name))}
        options: dict[str, Any] = {**self._options, **{name: getattr(choice, name) or None for name in ("device", "workload", "warm_up")}}
        options |= {"requests": None, "seed": self._options["seed"], **counts}
        if sampled:
            options |= {"requests": self.sample, "warm_up": None}
        return Setup(set=choice.set, series=True, shared=True, **options)

    def has_sample(self, choice: Choice) -> bool:
        """Whether the whole run is longer than its sample, as far as known before it runs; not for a choice that cannot be run."""
        try:
            setup = self.setup(choice)
            requests = requests_of(setup.build(choice.scheme or None), setup.options["requests"])
        except Error:
            return False
        return requests is None or requests > self.sample

    def words(self, choice: Choice) -> list[str]:
        """The words of the command that repeats a choice's run, after `ssdlab run`; empty if no command does."""
        command = self.setup(choice).command(choice.scheme or None)
        return [] if command is None else shlex.split(command)[2:]


def blamed(message: str, choice: Choice) -> str:
    """The key, preset or option that an error is about: the name that the message begins with, or before it a key set by hand."""
    found = BEGINS.match(message)
    name = found[1] if found is not None and ("." in found[1] or found[1] in (*PRESETS, *OPTIONS)) else ""
    by_hand = [key for key, _ in choice.set if key in message]
    return name if name in by_hand or not by_hand else by_hand[0]


def compare_command(bench: Bench, variants: Sequence[Variant]) -> str:
    """A command that compares the variants; empty if a variant cannot be told in words.

    What all share are its own options, the rest is in each variant.
    """
    try:
        told = {variant.label: bench.words(variant.choice) for variant in variants}
    except Error:
        return ""
    if not all(told.values()):
        return ""
    pairs = {label: _paired(words) for label, words in told.items()}
    first = next(iter(pairs.values()))
    shared = [pair for pair in first if all(pair in found for found in pairs.values())]
    own = {label: [pair for pair in found if pair not in shared] for label, found in pairs.items()}
    words = [word for label, found in own.items() for word in ("--variant", f"{label}: {_inner(found)}")]
    return shlex.join(["ssdlab", "compare", *(word for pair in shared for word in pair), *words])


def _paired(words: Sequence[str]) -> list[tuple[str, ...]]:
    """Options with their values."""
    pairs: list[tuple[str, ...]] = []
    for word in words:
        if word.startswith("--"):
            pairs.append((word,))
        else:
            pairs[-1] = (*pairs[-1], word)
    return pairs


def _inner(pairs: Sequence[tuple[str, ...]]) -> str:
    """The words of a variant: keys as KEY=VALUE, options as on the command line."""
    return shlex.join(word for pair in pairs for word in (pair[1:] if pair[0] == "--set" else pair))
