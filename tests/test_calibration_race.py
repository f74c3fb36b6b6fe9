"""Alternatives of a calibration are compared without the runs that cannot change the outcome."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from ssdlab.experiments.calibration.api import BASE, SCHEME
from ssdlab.experiments.calibration.fitting import BETTER, MARGIN
from ssdlab.experiments.calibration.measurements import FullSpeed, Pattern, Point
from ssdlab.experiments.calibration.race import Part, race
from ssdlab.experiments.calibration.runs import Candidate, Runs, Simulated

POINTS = [FullSpeed(Pattern("uniform"), (number + 1) << 30, 4096, 32) for number in range(5)]


class Table(Runs):
    """A stand-in for the simulator: the quantity of each alternative at each operating point, from a table. Counts what was asked for."""

    def __init__(self, table: Sequence[Sequence[float]]) -> None:
        super().__init__(seed=1)
        self._table = table
        self.asked = 0

    def at(self, wanted: Sequence[tuple[Candidate, Point]]) -> list[Simulated | None]:
        self.asked += len(wanted)
        return [{"iops": self._table[int(dict(one.settings)["number"])][POINTS.index(point)]} for one, point in wanted]


def part(point: Point) -> Part:
    return Part((point,), lambda results: (results[point] or {})["iops"])


def named(count: int) -> dict[str, Candidate]:
    return {str(number): Candidate(BASE, SCHEME, (("number", str(number)),)) for number in range(count)}


def test_the_outcome_is_that_of_all_runs() -> None:
    dice, asked, all_runs, close = random.Random(1), 0, 0, 0
    for _ in range(900):
        count = dice.randrange(1, 40)
        scales = [dice.expovariate(1 / dice.choice([0.5, 3.0, 30.0])) for _ in range(count)]
        table = [[scale * dice.uniform(0.0, 2.0) for _ in POINTS] for scale in scales]
        runs = Table(table)
        tried = named(count)
        found = race(tried, [part(point) for point in POINTS], runs, margin=MARGIN, share=BETTER)
        whole = {str(number): sum(row) for number, row in enumerate(table)}
        best = min(whole.values())
        assert list(found) == list(tried)
        for name, sum_of_all in whole.items():
            if sum_of_all <= best + MARGIN or best >= BETTER * sum_of_all:
                assert found[name] == pytest.approx(sum_of_all)
                close += 1
            else:
                assert best + MARGIN < found[name] <= sum_of_all * (1 + 1e-12)
                assert best < BETTER * found[name]
        asked += runs.asked
        all_runs += count * len(POINTS)
    assert close > 900
    assert asked < 0.6 * all_runs


def test_what_cannot_be_simulated_is_not_chosen() -> None:
    class Impossible(Table):
        def at(self, wanted: Sequence[tuple[Candidate, Point]]) -> list[Simulated | None]:
            return [None if dict(one.settings)["number"] == "0" else {"iops": 1.0} for one, _ in wanted]

    tried = named(2)
    parts = [Part((point,), lambda results, point=point: 400.0 if results[point] is None else 1.0) for point in POINTS]
    found = race(tried, parts, Impossible([]), margin=MARGIN, share=BETTER)
    assert found == {"0": 2000.0, "1": 5.0}
