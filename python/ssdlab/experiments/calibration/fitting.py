"""Searches for a drive that reproduces the measurements, and estimates the uncertainty of each value.

SciPy's `least_squares` minimises the differences of all fitted rows, in units of their tolerance, over the logarithms of the parameters. A
large difference counts less than its square (`soft_l1`), so that a row which the model cannot explain does not distort the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssdlab.errors import ConfigError, UsageError
from ssdlab.experiments.calibration.measurements import QUANTITIES, FullSpeed, Measurement, Point, Probe
from ssdlab.experiments.calibration.parameters import (
    CAPACITY,
    CHOICES,
    COLLECTION,
    DRAINING,
    PACING,
    PARAMETERS,
    PASSING,
    PLANES,
    READING,
    SLOTS,
    SUSPENDING,
    WRITING,
    Choice,
    Parameter,
    settings_of,
    speaks,
)
from ssdlab.experiments.calibration.race import Part, race
from ssdlab.experiments.calibration.rule import WAITING
from ssdlab.experiments.calibration.runs import Candidate, Runs, Simulated, flash_bytes, run_at

__all__ = ["MARGIN", "Fit", "Fitted", "difference"]

Vector = NDArray[np.float64]
LONGEST = 10
"""Maximum number of steps of a search."""
SHORT = 6
"""Maximum number of steps of a search that only ranks a starting point."""
PLACES = 32
"""Number of starting points."""
PRIOR = 1.5
"""Prior standard deviation of a parameter's logarithm: a factor of about four."""
PULL = 0.1 / PRIOR
"""Weight of the pull to the starting values: it fixes parameters without rows, and does not show in others."""
MUCH = 1.5
"""Ratio of the used bytes to the base's from which the number of dies is changed."""
SHORTEST = 32
"""Minimum programs per block, so that parity stripes fit."""
LITTLE = 0.001
"""Write amplification above 1 below which sequential writes show no parity."""
ALIKE = 0.05
"""Maximum relative spread of a value that rows state directly, for it to be determined."""
IMPOSSIBLE = 20.0
"""The difference of a row that cannot be simulated."""
CLEAR = 3.0
"""Cut-off of differences in slopes for uncertainties: next to saturation a small step makes response times jump."""
BETTER = 0.97
"""Share of the present sum of squares below which a choice is changed."""
MARGIN = 2.0
"""Increase of the sum of squares from which on an alternative is clearly worse."""
WORTH = 2.0
"""An alternative is searched if its sum of squares is below this multiple of the present one."""
WAIT_US, WAIT_FACTOR = 100.0, 1.5
"""Waits of writes, us, below which differences count little, and the ratio of waits that is a difference of one."""
CREEP = 0.01
"""Share of what is left of a step that each of its runs counts for."""
RENEWED = 4
"""Number of steps of a search after which its slopes are simulated again."""
QUIET = 0.1
"""Steps of a logarithm below which differences are chance, so that they say little of slopes."""
NOISE = 0.3
"""Differences due to chance, in units of the tolerance: simulated percentiles are from some thousand requests."""


def difference(row: Measurement, simulated: float) -> float:
    """The difference between a simulated and the measured value, in units of the tolerance."""
    quantity = QUANTITIES[row.quantity]
    return (simulated - row.value) / max(quantity.tolerance * row.value, quantity.floor)


@dataclass(frozen=True)
class Fitted:
    """The outcome of a search.

    Attributes:
        values: values of the parameters, by name.
        choices: names of the alternatives taken, by choice.
        read_off: values that rows state directly, by configuration key.
        doubts: why a value in `read_off` is not determined, by configuration key.
        uncertainty: relative standard error, by parameter.
        ends: lower and upper bound of the search, by parameter.
        losses: increase of the sum of squares over the alternative taken, by choice and alternative; at least this much where it is more
            than `MARGIN`.
    """

    values: Mapping[str, float]
    choices: Mapping[str, str]
    read_off: Mapping[str, int] = field(default_factory=dict)
    doubts: Mapping[str, str] = field(default_factory=dict)
    uncertainty: Mapping[str, float] = field(default_factory=dict)
    ends: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    losses: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def settings(self, tree: Mapping[str, Any]) -> dict[str, Any]:
        """The configuration keys with their values."""
        return {**settings_of(self.values, self.choices, tree), **self.read_off}


class _Slopes:
    """Slopes along a search: simulated at the first place and now and then, else corrected by what the last step showed.

    The correction is Broyden's, row by row (Schubert): of the parameters that a row speaks of, as much as explains its last change. A short
    step corrects little, since chance has a part in what it shows.

    Args:
        speaks_of: 1 where a row speaks of a parameter, else 0.
        simulated: returns simulated slopes at a place.
    """

    def __init__(self, speaks_of: Vector, simulated: Callable[[Vector], Vector]) -> None:
        self._speaks_of = speaks_of
        self._simulated = simulated
        self._asked = 0
        self._last: tuple[Vector, Vector, Vector] | None = None

    def at(self, place: Vector, differences: Vector) -> Vector:
        """The slopes at a place with these differences."""
        if self._last is None or self._asked % RENEWED == 0:
            slopes = self._simulated(place)
        else:
            before, then, slopes = self._last
            steps = self._speaks_of * (place - before)
            unexplained = differences - then - np.sum(slopes * steps, axis=1)
            slopes = slopes + (unexplained / (np.sum(steps**2, axis=1) + QUIET**2))[:, None] * steps
        self._asked += 1
        self._last = (place.copy(), differences, slopes)
        return slopes


class Fit:
    """The search for one drive.

    Args:
        rows: rows to fit.
        waits: rows with the waits of writes below saturation.
        base: drive to start from.
        runs: simulator of candidates.
        used_bytes: largest number of used bytes in any row, fitted or predicted.
        told: called again and again with the present step in words, and the share of the work that is done.
    """

    def __init__(
        self,
        rows: Sequence[Measurement],
        waits: Sequence[Measurement],
        base: Candidate,
        runs: Runs,
        told: Callable[[str, float], object],
        *,
        used_bytes: int,
    ) -> None:
        self._rows = rows
        self._plain = [row for row in rows if not COLLECTION.is_told_by(row.point)]
        self._waits = waits
        self._report = told
        self._runs = runs
        runs.told = self._tick
        self._doing, self._begin, self._share, self._end, self._before = "", 0.0, 0.0, 0.0, 0
        self.best: Fitted | None = None
        """What was found so far."""
        self._used = used_bytes
        self._chips, self._base = _as_large_as(self._used, base)
        self._tree = self._base.tree()
        # the other parameters keep their value in the base
        self._searched = tuple(parameter for parameter in PARAMETERS if any(parameter.matters_at(row.point) for row in rows))
        self._ends = {parameter.name: self._range(parameter) for parameter in PARAMETERS}

    def run(self) -> Fitted:
        """Runs the whole search.

        Raises:
            ssdlab.Interrupted: Ctrl-C.
        """
        plain = self._plain
        first = {choice.name: choice.of(self._tree) for choice in CHOICES}
        parity, doubts = self._parity()
        doubts |= dict.fromkeys(self._chips, "no row tells apart more dies from faster ones")
        fitted = Fitted(self._start(), first, {**self._chips, **parity}, doubts, ends=self._ends)
        self._began("reads and the buffer", 0.0, 0.01)
        fitted = self._choose(PASSING, fitted)
        # first the parameters that rates determine, then those that reads under load determine: a drive that cannot take the load is a bad
        # start
        self._began("flash and program time", 0.01, 0.05)
        fitted = self._found(self._search([row for row in plain if isinstance(row.point, FullSpeed)], fitted, of=WRITING))
        self._began("times of reads, roughly", 0.05, 0.1)
        spread = self._spread([row for row in plain if isinstance(row.point, Probe)], fitted)
        self._began("all values", 0.1, 0.3)
        fitted = self._found(self._with_buffer(self._search(plain, spread, longest=SHORT)))
        self._began("when the buffer is programmed", 0.3, 0.35)
        fitted = self._found(self._choose(DRAINING, fitted, search=True))
        self._began("planes", 0.35, 0.5)
        fitted = self._found(self._choose_planes(fitted))
        self._began("how blocks are collected", 0.5, 0.65)
        fitted = self._found(self._choose_collection(fitted))
        self._began("all values again", 0.65, 0.8)
        fitted = self._found(self._search(plain, fitted, certain=True))
        # last, since runs with writes that wait for collection, or with all dies, take too long for a search
        self._began("how far writes may be ahead", 0.8, 0.85)
        fitted = self._found(self._choose_pacing(fitted))
        self._began("commands in the drive", 0.85, 0.9)
        fitted = self._found(self._choose_slots(fitted))
        self._began("all rows", 0.9, 1.0)
        return fitted

    def _began(self, doing: str, begin: float, end: float) -> None:
        """A step begins that takes the work from one share to another."""
        best = "" if self.best is None else f"; so far {self._near(self.best)} near enough"
        self._begin, self._before = begin, self._runs.done
        self._doing, self._share, self._end = f"fitting {doing}{best}" if end < 1 else f"simulating {doing}{best}", begin, end
        self._report(self._doing, begin)

    def _tick(self) -> None:
        """Runs go on: with each that has ended the share grows towards the end of the step."""
        share = self._end - (self._end - self._begin) * (1 - CREEP) ** (self._runs.done - self._before)
        self._share = max(self._share, share)
        self._report(self._doing, self._share)

    def _found(self, fitted: Fitted) -> Fitted:
        """A step has ended with this drive, whose rows the next one needs, too, but for those that take long."""
        self.simulated(fitted, list(dict.fromkeys(row.point for row in self._plain)))
        self.best = fitted
        return fitted

    def _near(self, fitted: Fitted) -> str:
        """The number of fitted rows within their tolerance, of those that were simulated."""
        results = self.known(fitted, dict.fromkeys(row.point for row in self._rows))
        rows = [row for row in self._rows if row.point in results]
        return f"{sum(abs(_difference(row, results[row.point])) <= 1 for row in rows)} of {len(rows)} rows"

    def settings(self, fitted: Fitted) -> dict[str, Any]:
        """The fitted values as configuration keys."""
        values = {parameter.name: fitted.values[parameter.name] for parameter in self._searched}
        return replace(fitted, values=values).settings(self._tree)

    def check(self, points: Iterable[Point]) -> None:
        """Checks that the operating points can be simulated at all.

        Raises:
            ConfigError: a point cannot be simulated.
        """
        here = self._candidate(Fitted(self._start(), {choice.name: choice.of(self._tree) for choice in CHOICES}, self._chips))
        for point in points:
            try:
                setup, _ = run_at(here, point, self._runs.seed)
                setup.build(here.scheme)
            except ConfigError as error:
                raise ConfigError(f"{point}: cannot be simulated, so take its rows out: {error}") from error

    def simulated(self, fitted: Fitted, points: Sequence[Point], *, waits: bool = False) -> list[Simulated | None]:
        """The simulated quantities at some operating points; `None` for a point that cannot be simulated.

        `waits`: also the waits of writes, which take more dies if programs go plane by plane.
        """
        candidate, with_waits = self._candidate(fitted), self._candidate(fitted, waits=waits)
        results = self._runs.at([(candidate, point) for point in points])
        if with_waits == candidate:
            return results
        those = [point for point in points if PLANES.is_told_by(point)]
        waited = dict(zip(those, self._runs.at([(with_waits, point) for point in those]), strict=True))
        return [_with_waits(result, waited.get(point)) for point, result in zip(points, results, strict=True)]

    def known(self, fitted: Fitted, points: Iterable[Point]) -> dict[Point, Simulated | None]:
        """What was simulated so far of a drive, by operating point."""
        return self._runs.known(self._candidate(fitted), points)

    def _start(self) -> dict[str, float]:
        """Starting values: those of the base, with its flash capacity scaled to the used bytes."""
        values = {parameter.name: parameter.start(self._tree) for parameter in PARAMETERS}
        exported = values["capacity_gb"] * (1 - self._tree["device"]["overprovisioning"])
        values["capacity_gb"] *= self._used / 1e9 / exported
        searched = {parameter.name for parameter in self._searched}
        return {
            name: min(max(value, self._ends[name][0]), self._ends[name][1]) if name in searched else value for name, value in values.items()
        }

    def _range(self, parameter: Parameter) -> tuple[float, float]:
        """The bounds of a parameter, extended to the base's value if it has one."""
        low, high = parameter.ends(self._used)
        start = parameter.start(self._tree)
        return (low, high) if parameter.name == CAPACITY or start <= 0 else (min(low, start), max(high, start))

    def _parity(self) -> tuple[dict[str, int], dict[str, str]]:
        """The parity stripe from sequential writes, which cause no collection: writes beyond the host's are parity. Also returns doubts."""
        amplifications = [
            row.value
            for row in self._rows
            if row.quantity == "write_amplification" and isinstance(row.point, FullSpeed) and row.point.pattern.kind == "sequential"
        ]
        if not amplifications:
            return {}, {}
        device = self._tree["device"]
        most = device["pages_per_block"] // device["pages_per_program"]
        stripes = [_stripe(one, most) for one in (median(amplifications), *amplifications)]
        found, least, largest = stripes[0], min(stripes), max(stripes)
        doubts = {"ftl.parity_stripe": f"rows say {least} to {largest}"} if largest > (1 + ALIKE) * least else {}
        return {"ftl.parity_stripe": found}, doubts

    def _with_buffer(self, fitted: Fitted) -> Fitted:
        """The access time of the write buffer, from the response time of writes that do not wait."""
        rows = [row for row in self._rows if row.quantity == "write_p50_us" and speaks(row.point) == "below saturation"]
        results = self.simulated(fitted, [row.point for row in rows])
        both = zip(rows, results, strict=True)
        late = [row.value - result["write_p50_us"] for row, result in both if result and "write_p50_us" in result]
        if not late:
            return fitted
        now = fitted.read_off.get("buffer.access_ns", self._tree["buffer"]["access_ns"])
        found = round(now + median(late) * 1e3)
        doubts = {"buffer.access_ns": "without it writes still take longer than measured"} if found < 0 else {}
        return replace(fitted, read_off={**fitted.read_off, "buffer.access_ns": max(0, found)}, doubts={**fitted.doubts, **doubts})

    def _candidate(self, fitted: Fitted, *, waits: bool = False) -> Candidate:
        settings = self.settings(fitted)
        by_plane = settings.get("device.plane_programs", self._tree["device"]["plane_programs"]) > 1
        return replace(self._base.with_changes(settings), has_many_dies=waits and by_plane)

    def _search(
        self,
        rows: Sequence[Measurement],
        start: Fitted,
        *,
        of: Sequence[Parameter] | None = None,
        longest: int = LONGEST,
        certain: bool = False,
    ) -> Fitted:
        """Fits some parameters to some rows; `certain`: also estimates their uncertainty."""
        # imported here because it takes longer than many commands
        from scipy.optimize import least_squares  # noqa: PLC0415

        of = [parameter for parameter in of or PARAMETERS if parameter in self._searched]
        if not rows:
            return start
        low, high = np.log([self._ends[parameter.name] for parameter in of]).T
        first = np.clip(np.log([start.values[parameter.name] for parameter in of]), low, high)
        speaks_of = np.array([[parameter.matters_at(row.point) for parameter in of] for row in rows], dtype=float)
        slopes = _Slopes(speaks_of, lambda at: self._slopes(rows, _with(start, of, at), of))

        def measured(at: Vector) -> Vector:
            return self._differences(rows, _with(start, of, at))

        found = least_squares(
            lambda at: np.append(measured(at), (at - first) * PULL),
            first,
            jac=lambda at: np.vstack([slopes.at(at, measured(at)), np.eye(len(of)) * PULL]),
            bounds=(low, high),
            loss="soft_l1",
            max_nfev=longest,
            xtol=2e-4,
            ftol=2e-3,
            gtol=1e-4,
        )
        fitted = _with(start, of, found.x)
        return replace(fitted, uncertainty=self._uncertainty(rows, fitted)) if certain else fitted

    def _differences(self, rows: Sequence[Measurement], fitted: Fitted) -> Vector:
        points = list(dict.fromkeys(row.point for row in rows))
        results = dict(zip(points, self.simulated(fitted, points), strict=True))
        return np.array([_difference(row, results[row.point]) for row in rows])

    def _loss(self, rows: Sequence[Measurement], fitted: Fitted) -> float:
        """The sum that the search minimises."""
        return float(np.sum(_soft(self._differences(rows, fitted))))

    def _spread(self, rows: Sequence[Measurement], start: Fitted) -> Fitted:
        """The best of several starting points that are spread over the suspension parameters.

        These parameters can replace each other, so that a search from a single point ends in a local minimum.
        """
        # imported here because it takes longer than many commands
        from scipy.stats.qmc import Sobol  # noqa: PLC0415

        if not rows:
            return start
        centre = np.log([start.values[parameter.name] for parameter in SUSPENDING])
        low, high = np.log([self._ends[parameter.name] for parameter in SUSPENDING]).T
        places = centre + (Sobol(len(SUSPENDING), scramble=False).random(PLACES) * 2 - 1) * PRIOR
        tried = dict(enumerate([start, *(_with(start, SUSPENDING, place) for place in np.clip(places, low, high))]))
        parts = _parts(sorted(rows, key=_telling))
        losses = race({number: self._candidate(one) for number, one in tried.items()}, parts, self._runs, margin=0.0, share=1.0)
        return tried[min(losses, key=losses.__getitem__)]

    def _slopes(
        self,
        rows: Sequence[Measurement],
        fitted: Fitted,
        of: Sequence[Parameter],
        *,
        most: float = IMPOSSIBLE,
        up: bool = True,
    ) -> Vector:
        """Derivatives of the differences, limited to `most`, by the logarithms of the parameters; all runs are done in parallel.

        `up`: step to larger values, if the bounds allow it.
        """
        here = self._candidate(fitted)
        others = {parameter.name: _moved(fitted, parameter, self._ends[parameter.name], up=up) for parameter in of}
        points = list(dict.fromkeys(row.point for row in rows))
        wanted = [(here, point) for point in points]
        for parameter in of:
            wanted += [(self._candidate(others[parameter.name]), point) for point in points if parameter.matters_at(point)]
        results = dict(zip(wanted, self._runs.at(wanted), strict=True))
        slopes = np.zeros((len(rows), len(of)))
        for column, parameter in enumerate(of):
            there = self._candidate(others[parameter.name])
            width = math.log(others[parameter.name].values[parameter.name] / fitted.values[parameter.name])
            for line, row in enumerate(rows):
                if parameter.matters_at(row.point):
                    ends = [_difference(row, results[side, row.point], most) for side in (here, there)]
                    slopes[line, column] = (ends[1] - ends[0]) / width
        return slopes

    def _uncertainty(self, rows: Sequence[Measurement], fitted: Fitted) -> dict[str, float]:
        """Standard errors, from the slopes and the remaining differences at the fitted values.

        The smaller slope of both sides is used: next to saturation, a step to the saturated side makes differences jump.
        """
        above, below = (self._slopes(rows, fitted, self._searched, most=CLEAR, up=up) for up in (True, False))
        slopes = np.where(np.abs(above) < np.abs(below), above, below)
        left = self._differences(rows, fitted)
        free = max(1, len(rows) - len(self._searched))
        variance = max(float(np.sum(_soft(left))) / free, NOISE**2)
        information = slopes.T @ slopes / variance + np.eye(len(self._searched)) / PRIOR**2
        errors = np.sqrt(np.diag(np.linalg.inv(information)))
        return {parameter.name: float(error) for parameter, error in zip(self._searched, errors, strict=True)}

    def _choose(self, choice: Choice, fitted: Fitted, *, search: bool = False) -> Fitted:
        """Takes the alternative with the smallest sum of squares over the rows that distinguish them; `search`: after a search for each."""
        rows = [row for row in self._rows if choice.is_told_by(row.point)]
        if not rows:
            return fitted
        plain = self._plain
        taken = fitted.choices[choice.name]
        others = _others(choice, fitted)
        if not search:
            return self._race(choice, fitted, others, _parts(rows))
        self._runs.at([(self._candidate(other), row.point) for other in others.values() for row in plain])
        found: dict[str, tuple[float, Fitted]] = {}
        for name, other in others.items():
            is_worth_it = name != taken and self._loss(plain, other) < WORTH * self._loss(plain, fitted)
            best = self._search(plain, other) if is_worth_it else other
            found[name] = (self._loss(plain, best), best)
        return self._taken(choice, fitted, found)

    def _race(self, choice: Choice, fitted: Fitted, others: Mapping[str, Fitted], parts: Sequence[Part]) -> Fitted:
        """Takes the alternative with the smallest sum over some parts, without a search."""
        candidates = {name: self._candidate(other, waits=choice is PACING) for name, other in others.items()}
        losses = race(candidates, parts, self._runs, margin=MARGIN, share=BETTER)
        return self._taken(choice, fitted, {name: (loss, others[name]) for name, loss in losses.items()})

    def _choose_planes(self, fitted: Fitted) -> Fitted:
        """Takes the way of programming planes with the smallest sum of squares, each after a search of the times of reads.

        With programs that last longer other times of a suspension explain the same reads, so that for other ways the search starts again.
        The waits of writes count, too: a drive that programs for too long lets them wait, which no fitted row tells.
        """
        rows, waits = ([row for row in all_rows if PLANES.is_told_by(row.point)] for all_rows in (self._rows, self._waits))
        if not rows:
            return fitted
        taken = fitted.choices[PLANES.name]
        found: dict[str, tuple[float, Fitted]] = {}
        for name, other in _others(PLANES, fitted).items():
            best = other if name == taken else self._spread(rows, other)
            if name == taken or self._loss(rows, best) < WORTH * self._loss(rows, fitted):
                best = self._search(rows, best, of=READING, longest=SHORT)
            found[name] = (self._loss(rows, best) + self._wait_loss(waits, best), best)
        return self._taken(PLANES, fitted, found)

    def _choose_collection(self, fitted: Fitted) -> Fitted:
        """Takes the collection policy whose ratio of skewed to uniform writes is closest to the measured one.

        Absolute rates would mislead: they also depend on the capacity, which was fitted with another policy.
        """
        rows = [row for row in self._rows if COLLECTION.is_told_by(row.point)]
        if not rows:
            return fitted
        uniform = {(row.point.used_bytes, row.quantity): row for row in self._rows if _is_uniform(row.point)}
        beside = [(row, uniform.get((row.point.used_bytes, row.quantity))) for row in rows]
        beside.sort(key=lambda pair: 0.0 if pair[1] is None else -abs(math.log(pair[0].value / pair[1].value)))  # those that tell most
        parts = [_part_beside(row, other) for row, other in beside]
        return self._race(COLLECTION, fitted, _others(COLLECTION, fitted), parts)

    def _choose_pacing(self, fitted: Fitted) -> Fitted:
        """Takes the pacing window whose waits of writes are closest to the measured ones."""
        rows = [row for row in self._waits if PACING.is_told_by(row.point)]
        if not rows:
            return fitted
        others = _worth_trying(PACING, fitted, lambda other: self._wait_loss(rows, other))
        return self._race(PACING, fitted, others, [Part((row.point,), _wait_part(row)) for row in rows])

    def _wait_loss(self, rows: Sequence[Measurement], fitted: Fitted) -> float:
        """The sum of squares of the differences between waits of writes."""
        candidate = self._candidate(fitted, waits=True)
        results = self._runs.at([(candidate, row.point) for row in rows])
        return sum(_wait_part(row)({row.point: result}) for row, result in zip(rows, results, strict=True))

    def _choose_slots(self, fitted: Fitted) -> Fitted:
        """Tries limits of the commands in the drive, whose runs take long, only if rows are missed without one."""
        rows = [row for row in self._rows if SLOTS.is_told_by(row.point)]
        if not rows:
            return fitted
        if np.all(np.abs(self._differences(rows, fitted)) <= 1):
            return replace(fitted, losses={**fitted.losses, SLOTS.name: {}})
        return self._race(SLOTS, fitted, _worth_trying(SLOTS, fitted, lambda other: self._loss(rows, other)), _parts(rows))

    def _taken(self, choice: Choice, fitted: Fitted, found: Mapping[str, tuple[float, Fitted]]) -> Fitted:
        """The best alternative if it is clearly better than the present one, else the present one."""
        taken = fitted.choices[choice.name]
        best = min(found, key=lambda name: found[name][0])
        if found[best][0] < min(BETTER * found[taken][0], found[taken][0] - MARGIN):
            taken = best
        losses = {name: loss - found[taken][0] for name, (loss, _) in found.items() if name != taken}
        return replace(found[taken][1], losses={**fitted.losses, choice.name: losses})


def _others(choice: Choice, fitted: Fitted) -> dict[str, Fitted]:
    """Copies with each alternative of a choice."""
    names = dict.fromkeys((*choice.alternatives, fitted.choices[choice.name]))
    return {name: replace(fitted, choices={**fitted.choices, choice.name: name}) for name in names}


def _worth_trying(choice: Choice, fitted: Fitted, loss: Callable[[Fitted], float]) -> dict[str, Fitted]:
    """Copies with each alternative; if the second one is worse than the first, without those after it, whose runs take as long."""
    others = _others(choice, fitted)
    first, second, *_ = others
    if loss(others[second]) <= loss(others[first]):
        return others
    return {name: others[name] for name in dict.fromkeys((first, second, fitted.choices[choice.name]))}


def _parts(rows: Sequence[Measurement]) -> list[Part]:
    """The sum of squares of some rows, by operating point."""
    by_point: dict[Point, list[Measurement]] = {}
    for row in rows:
        by_point.setdefault(row.point, []).append(row)

    def part(point: Point, those: Sequence[Measurement]) -> Part:
        return Part((point,), lambda results: float(np.sum(_soft(np.array([_difference(row, results[point]) for row in those])))))

    return [part(point, those) for point, those in by_point.items()]


def _telling(row: Measurement) -> float:
    """A key that sorts rows with a probe: high loads tell more than low ones, and runs of a saturated one take longest."""
    assert isinstance(row.point, Probe)
    return 0.0 if row.point.load_per_s is None else -1 - row.point.load_per_s


def _part_beside(row: Measurement, uniform: Measurement | None) -> Part:
    """The square of a row's difference, with its rate scaled as if uniform writes were simulated exactly as measured."""

    def loss(results: Mapping[Point, Simulated | None]) -> float:
        simulated, reference = results[row.point], None if uniform is None else results[uniform.point]
        if simulated is None or uniform is None or reference is None:
            off = _difference(row, simulated)
        else:
            off = difference(row, simulated[row.quantity] * uniform.value / reference[row.quantity])
        return float(_soft(np.array([off]))[0])

    return Part((row.point,) if uniform is None else (row.point, uniform.point), loss)


def _wait_part(row: Measurement) -> Callable[[Mapping[Point, Simulated | None]], float]:
    """The square of the difference between a measured wait and what is simulated at its operating point."""
    return lambda results: _wait_difference(row, results[row.point]) ** 2


def _as_large_as(used_bytes: int, base: Candidate) -> tuple[dict[str, int], Candidate]:
    """The base with dies scaled in number to the used bytes, so that die sizes are kept; a very small drive gets shorter blocks.

    More dies have as much more of the write buffer: with less than two programs for each they would wait for data.

    Raises:
        UsageError: the smallest such drive is much larger than what was used.
    """
    tree = base.tree()
    device = tree["device"]
    times = used_bytes / (flash_bytes(tree) * (1 - device["overprovisioning"]))
    other: dict[str, int] = {}
    if times >= MUCH:
        other["device.chips_per_channel"] = device["chips_per_channel"] * round(times)
        if size := tree["buffer"]["bytes"]:
            other["buffer.bytes"] = size * round(times)
    elif 0 < times < 1 / MUCH:
        other["device.channels"] = channels = max(1, round(device["channels"] * times))
        left = times * device["channels"] / channels
        if left < 1 / MUCH:
            together = device["pages_per_program"]
            other["device.pages_per_block"] = pages = max(SHORTEST, round(device["pages_per_block"] * left / together)) * together
            if left * device["pages_per_block"] / pages < 1 / MUCH:
                least = used_bytes * channels * pages / (times * device["channels"] * device["pages_per_block"])
                raise UsageError(
                    f"the measurements used {_gigabytes(used_bytes)} GB of the drive or file at most, and {base.device} cannot be "
                    f"made smaller than {_gigabytes(least)} GB: measure on a larger file (for fio, --size), or start from a smaller "
                    f"drive (--base)"
                )
    return other, base.with_changes(other)


def _gigabytes(count: float) -> str:
    """Bytes in GB, three digits."""
    return f"{count / 1e9:.3g}"


def _stripe(amplification: float, most: int) -> int:
    """Programs per parity stripe; 0 without parity. A stripe longer than a block, `most` programs, cannot be simulated."""
    more = amplification - 1
    if more < LITTLE:
        return 0
    stripe = max(2, round(amplification / more))
    return stripe if stripe <= most else 0


def _is_uniform(point: Point) -> bool:
    return isinstance(point, FullSpeed) and point.pattern.kind == "uniform"


def _difference(row: Measurement, simulated: Simulated | None, most: float = IMPOSSIBLE) -> float:
    if simulated is None or row.quantity not in simulated:
        return most
    return max(-most, min(most, difference(row, simulated[row.quantity])))


def _wait_difference(row: Measurement, simulated: Simulated | None) -> float:
    """The difference between two waits that may differ by a factor of a thousand, on a logarithmic scale."""
    if simulated is None or row.quantity not in simulated:
        return IMPOSSIBLE
    return math.log((simulated[row.quantity] + WAIT_US) / (row.value + WAIT_US)) / math.log(WAIT_FACTOR)


def _with_waits(simulated: Simulated | None, waited: Simulated | None) -> Simulated | None:
    """What was simulated, with the waits of writes of another run."""
    if simulated is None or waited is None:
        return simulated
    return {quantity: waited.get(quantity, value) if quantity in WAITING else value for quantity, value in simulated.items()}


def _soft(differences: Vector) -> Vector:
    """Softened squares of differences, with less weight on large ones: the sum that the search minimises."""
    soft: Vector = 2 * (np.sqrt(1 + differences**2) - 1)
    return soft


def _with(fitted: Fitted, of: Sequence[Parameter], logarithms: Vector) -> Fitted:
    """A copy with other values of some parameters."""
    others = {parameter.name: float(np.exp(value)) for parameter, value in zip(of, logarithms, strict=True)}
    return replace(fitted, values={**fitted.values, **others})


def _moved(fitted: Fitted, parameter: Parameter, ends: tuple[float, float], *, up: bool) -> Fitted:
    """A copy with one parameter moved by a step, to the other side if the bounds require it."""
    value = fitted.values[parameter.name]
    by = parameter.step if up else -parameter.step
    if not ends[0] <= value * math.exp(by) <= ends[1]:
        by = -by
    return replace(fitted, values={**fitted.values, parameter.name: value * math.exp(by)})
