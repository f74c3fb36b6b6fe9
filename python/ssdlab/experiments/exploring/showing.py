"""What the page shows of a choice: its configuration, then the results of a sample, then those of the whole run."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ssdlab import _core
from ssdlab.analysis.differences import value_in_words
from ssdlab.asking.plans import value_text
from ssdlab.checks import shown, truth
from ssdlab.errors import Error, UsageError
from ssdlab.experiments.exploring.choice import OPTIONS, PRESETS, Bench, Choice, Variant, blamed, compare_command
from ssdlab.experiments.exploring.runs import Key, Runner, apart
from ssdlab.pages.report.page import changing
from ssdlab.pages.report.runs import Runs
from ssdlab.system.progress import DONE, PHASES, WAITING, share_done

__all__ = ["Asked", "in_a_line", "show"]

PAUSE_S = 0.08
"""Minimum time between two messages of progress, s."""
NOW, BEFORE = "now", "before"
"""Labels of the choices after and before a change."""
MOST_KEPT = 20
MOST_CHANGES = 4
"""Maximum number of changes that are named."""

Send = Callable[[Mapping[str, Any]], object]


class Asked(NamedTuple):
    """A request of the page.

    Attributes:
        now: the choice that was changed.
        before: the choice before the change, if there was one.
        kept: variants that were kept.
        to_the_end: whether the whole runs are wanted too, after the samples.
    """

    now: Choice
    before: Choice | None
    kept: list[Variant]
    to_the_end: bool

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Asked:
        """The request in a message.

        Raises:
            UsageError: the message is not a request.
        """
        kept = data.get("kept", [])
        if not isinstance(kept, list) or len(kept) > MOST_KEPT:
            raise UsageError(f"kept = {shown(kept)}: expected a list of at most {MOST_KEPT} variants")
        variants = [Variant.read(entry) for entry in kept]
        labels = [NOW, BEFORE, *(variant.label for variant in variants)]
        twice = next((label for label in labels if labels.count(label) > 1), None)
        if twice is not None:
            raise UsageError(f'two variants are called "{twice}": give one of them another label')
        before = data.get("before")
        past = None if before is None else Choice.read(before)
        return cls(Choice.read(data.get("now")), past, variants, truth("whole", data.get("whole", True)))

    @property
    def variants(self) -> list[Variant]:
        """The variants to show: those that were kept, and the choices before and after the change unless they are among them."""
        found = {variant.choice: variant.label for variant in self.kept}
        for label, choice in ((BEFORE, self.before), (NOW, self.now)):
            if choice is not None and (label == NOW or choice != self.now):
                found.setdefault(choice, label)
        return [Variant(label, choice) for choice, label in found.items()]


async def show(bench: Bench, runner: Runner, asked: Asked, send: Send) -> None:
    """Sends what the page shows, in steps. An error becomes a message; the results that the page has stay."""
    try:
        send({"kind": "config", **await apart(lambda: described(bench, asked))})
        sampled = await apart(lambda: {variant.choice for variant in asked.variants if bench.has_sample(variant.choice)})
        if all(runner.has(Key(variant.choice, sampled=False)) for variant in asked.variants):
            sampled = set()
        if sampled:
            await _stage(bench, runner, asked, send, sampled)
        if asked.to_the_end or not sampled:
            await _stage(bench, runner, asked, send, set())
    except Error as error:
        message = in_a_line(error)
        send({"kind": "refused", "key": blamed(message, asked.now), "message": message})


def in_a_line(error: Error) -> str:
    """The message of an error as one line; what it says twice is there once."""
    return "; ".join(dict.fromkeys(line.strip() for line in str(error).splitlines()))


async def _stage(bench: Bench, runner: Runner, asked: Asked, send: Send, sampled: set[Choice]) -> None:
    """Executes the runs of a stage and sends their figures; `sampled`: the choices of which a sample is run."""
    keys = {variant.label: Key(variant.choice, variant.choice in sampled) for variant in asked.variants}
    states: dict[Key, tuple[int, int, int, int]] = {key: (DONE if runner.has(key) else WAITING, 0, 0, 0) for key in keys.values()}
    sent_at = 0.0

    def told(key: Key, state: tuple[int, int, int, int]) -> None:
        nonlocal sent_at
        states[key] = state
        if time.monotonic() - sent_at >= PAUSE_S:
            sent_at = time.monotonic()
            least = min(states.values(), key=lambda one: (one[0], share_done(one)))
            send({"kind": "progress", "sampled": bool(sampled), "phase": PHASES[least[0]], "share": share_done(least)})

    found = await asyncio.gather(*(runner.result(key, told) for key in keys.values()), return_exceptions=True)
    outcomes = dict(zip(keys, found, strict=True))
    results = {label: outcome for label, outcome in outcomes.items() if not isinstance(outcome, BaseException)}
    failed = {label: outcome for label, outcome in outcomes.items() if isinstance(outcome, BaseException)}
    for label, error in failed.items():
        if keys[label].choice == asked.now or not isinstance(error, Error):
            raise error
    digest = next(result["digest"] for label, result in results.items() if keys[label].choice == asked.now)
    parts = await apart(lambda: changing(Runs.of(results, failed={label: str(error) for label, error in failed.items()})))
    send({"kind": "shown", "sampled": bench.sample if sampled else 0, "digest": digest, **parts})


def described(bench: Bench, asked: Asked) -> dict[str, Any]:
    """The effective configuration of the changed choice, its commands, and what the change was.

    Raises:
        ssdlab.Error: the choice cannot be simulated.
    """
    setup, scheme = bench.setup(asked.now), asked.now.scheme or None
    values, plan = _values(bench, asked.now), setup.plan(scheme)
    compared = [variant for variant in asked.variants if variant.label != BEFORE]
    return {
        "values": values,
        "usual": _usual(bench, asked.now) if asked.now.set else values,
        "idle": setup.idle(plan.config),
        "command": setup.command(scheme) or "",
        "compare": compare_command(bench, compared) if len(compared) > 1 else "",
        "change": "" if asked.before is None else _change(bench, asked.before, asked.now, values),
    }


def _values(bench: Bench, choice: Choice) -> dict[str, str]:
    """The effective value of every configuration key, as the page shows it."""
    tree = json.loads(bench.setup(choice).build(choice.scheme or None).json())
    found: dict[str, Any] = {}
    for key in json.loads(_core.keys()):
        section, *names = key["name"].split(".")
        value = tree[section]
        for name in names:
            value = value[name]
        found[key["name"]] = value
    return {key: _shown(value) for key, value in found.items()}


def _usual(bench: Bench, choice: Choice) -> dict[str, str]:
    """The value that presets give to each configuration key; empty if they cannot be simulated alone."""
    try:
        return _values(bench, replace(choice, set=()))
    except Error:
        return {}


def _shown(value: Any) -> str:
    """A value as `--set` takes it: texts without quotes, whole numbers without decimals, nothing for a key that is not set."""
    if isinstance(value, str) or value is None:
        return value or ""
    return value_text(int(value) if isinstance(value, float) and value.is_integer() else value)


def _change(bench: Bench, before: Choice, now: Choice, values: Mapping[str, str]) -> str:
    """The difference of two choices in words: presets and options, then keys, those set by hand first."""
    try:
        old = _values(bench, before)
    except Error:
        return ""
    named = [(name, getattr(before, name), getattr(now, name)) for name in (*PRESETS, *OPTIONS)]
    by_hand = {*dict(now.set), *dict(before.set)}
    keys = sorted(((key, old[key], value) for key, value in values.items()), key=lambda entry: entry[0] not in by_hand)
    found = [f"{name} {value_in_words(name, new)} (was {value_in_words(name, was)})" for name, was, new in (*named, *keys) if was != new]
    more = len(found) - MOST_CHANGES
    return "; ".join(found[:MOST_CHANGES]) + (f"; and {more} more" if more > 0 else "")
