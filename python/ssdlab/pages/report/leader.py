"""The best run of a comparison by a figure, the next one, and whether they differ by more than chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ssdlab.analysis.remarks import replays
from ssdlab.checks import nearest, text
from ssdlab.errors import UsageError
from ssdlab.pages.report.changes import Change, change, number_of, seeded, spread
from ssdlab.pages.report.runs import Run, Runs
from ssdlab.pages.report.summary import Place, few, percent, places, shown, within
from ssdlab.pages.report.words import described

__all__ = ["SHORT", "Leader", "known_figure", "leader"]

SHORT = {
    "mean": "latency_ns.all.mean",
    "p99": "latency_ns.all.p99",
    "p99.9": "latency_ns.all.p99_9",
    "max": "latency_ns.all.max",
    "write-amplification": "gc.write_amplification",
    "iops": "iops",
}
"""Names of figures by which the best is often chosen, with their path in a result."""


def known_figure(figure: str) -> Place:
    """The figure of a short name or a path, by which runs can be better or worse.

    Raises:
        UsageError: there is none, or neither high nor low values of it are better.
    """
    judged = {place.place: place for place in places() if place.better}
    path = SHORT.get(text("figure", figure), figure)
    if path in judged:
        return judged[path]
    neutral = any(place.place == path for place in places())
    why = "neither high nor low is better" if neutral else f"no figure of this name{nearest(figure, [*SHORT, *judged])}"
    raise UsageError(f"{figure}: {why}: expected one of {', '.join(SHORT)}, or a path such as latency_ns.read.p99")


@dataclass(frozen=True)
class Leader:
    """The best run by a figure, and the next.

    Attributes:
        place: the figure.
        runs: the runs that are compared.
        best: the best run; of equal runs the first.
        next: the second best; `None` for the only run with the figure.
        change: relative difference of the next from the best; `None` if the figure of the best is 0.
        judged: number of other runs whose difference from the best was judged.
        alike: number of those that do not differ by more than chance.
    """

    place: Place
    runs: Runs
    best: Run
    next: Run | None
    change: Change | None
    judged: int
    alike: int

    @property
    def differs(self) -> bool | None:
        """Whether the next run differs by more than chance; `None` if that is not known."""
        return None if self.change is None else _differs(self.change)

    def to_dict(self) -> dict[str, Any]:
        """A copy as a dictionary, as in `compare --json`. Without a judgement, `differs` is absent."""
        told: dict[str, Any] = {"figure": self.place.place, "label": self.best.label}
        if self.next is None:
            return told
        half = {} if self.change is None or self.change.half is None else {"half_width": self.change.half}
        difference = {} if self.change is None else {"difference": {"relative": self.change.relative, **half}}
        judged = {} if self.differs is None else {"differs": self.differs}
        return {**told, "next": {"label": self.next.label, **difference, **judged}}

    def in_words(self, marks: str = "") -> str:
        """The best run with the next one, and whether they differ. `marks` are letters of remarks."""
        doubt = few(self.best, self.place.place)
        which = "highest" if self.place.better == "high" else "lowest"
        head = (
            f"Best by {described(self.place.place).label} ({which})" if self.next else f"The only run, {described(self.place.place).label}"
        )
        said = f"{head}: {self.best.label}, {self._value(self.best)}{marks}{f' (few: {doubt})' if doubt else ''}."
        return said if self.next is None else f"{said} Next: {self.next.label}, {self._value(self.next)}{self._judgement()}"

    def _value(self, run: Run) -> str:
        seeds, value = seeded(self.runs, run, self.place.place), number_of(self.runs, run, self.place.place)
        if spread(self.runs, run, self.place.place) is not None:
            return f"median {shown(value, self.place.unit)}"
        return within(value, seeds["half_width"] or 0.0, self.place.unit) if seeds else shown(value, self.place.unit)

    def _judgement(self) -> str:
        """Whether the next run differs from the best, as the end of a sentence."""
        found = self.change
        told = "" if found is None or found.disagree else percent(found.relative, found.half) or "0.0 %"
        aside = f" ({told})" if told else ""
        if found is not None and not found.disagree and found.relative == 0:
            return ", the same."
        if self.differs:
            return f"{aside}: it differs by more than chance."
        others = (
            f" Of {self.judged} others that were judged, {self.alike} do not differ from the best by more than chance."
            if self.alike > 1
            else ""
        )
        if self.differs is not None:
            return f"{aside}: no more than chance.{others}"
        seeds = "" if any(replays(run.data) for run in self.runs) else ": several seeds would tell (--seeds 5)"
        why = ": the seeds disagree" if found is not None and found.disagree else seeds
        return f"{aside}; whether that is chance is not known{why}.{others}"


def leader(runs: Runs, figure: str) -> Leader | None:
    """The best run by a figure (`known_figure`); `None` if no run has it."""
    place = known_figure(figure)
    having = [run for run in runs if number_of(runs, run, place.place) is not None]
    having.sort(key=lambda run: number_of(runs, run, place.place), reverse=place.better == "high")
    if not having:
        return None
    best, *others = having
    found = [change(runs, best, other, place.place) for other in others]
    judged = [apart for one in found if one is not None and (apart := _differs(one)) is not None]
    return Leader(place, runs, best, others[0] if others else None, found[0] if found else None, len(judged), judged.count(False))


def _differs(found: Change) -> bool | None:
    return not found.tie if found.judged and not found.disagree else None
