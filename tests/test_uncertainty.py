"""Means and their confidence intervals: values of tables, and their coverage."""

from __future__ import annotations

import numpy as np
import pytest

import ssdlab
from ssdlab.analysis.uncertainty import Estimate, batch_means, estimates, relative_differences, student_t


@pytest.mark.parametrize(
    ("degrees", "t"),
    [(1, 12.706), (4, 2.776), (19, 2.093), (20, 2.086), (25, 2.060), (29, 2.045), (60, 2.000), (120, 1.980), (10**6, 1.960)],
)
def test_students_t_is_that_of_tables(degrees: int, t: float) -> None:
    assert student_t(degrees) == pytest.approx(t, abs=1e-3)


@pytest.mark.parametrize("seeds", [2, 3, 5, 10, 25, 40])
def test_intervals_hold_the_truth_19_times_in_20(seeds: int) -> None:
    draws = np.random.default_rng(seeds).normal(7.0, 2.0, (4000, seeds))
    held = sum(abs(estimate.mean - 7.0) <= (estimate.half or 0.0) for estimate in (Estimate.of(list(row)) for row in draws))
    # Of 4000 trials 3800 are expected, give or take 14 (one standard deviation).
    assert abs(held - 3800) < 60


def test_differences_are_paired_so_that_what_seeds_have_in_common_cancels() -> None:
    chance = np.random.default_rng(1).uniform(1, 10, 5)
    base, other = [{"x": float(x), "zero": 0.0} for x in chance], [{"x": 0.9 * float(x), "zero": 1.0} for x in chance]
    difference = relative_differences(base, other)
    assert list(difference) == ["x"]  # to nothing there is no relative difference
    assert difference["x"].mean == pytest.approx(-0.1)
    assert difference["x"].half == pytest.approx(0, abs=1e-12)
    assert not difference["x"].is_tie
    assert (estimates(base)["x"].half or 0) > 1


def test_a_figure_that_a_run_does_not_have_has_no_mean() -> None:
    assert set(estimates([{"a": 1.0, "b": 2.0}, {"a": 3.0}])) == {"a"}


def test_a_tie_is_a_difference_whose_interval_includes_0() -> None:
    assert Estimate.of([-1.0, 1.0, 0.5]).is_tie
    assert Estimate.of([0.0, 0.0]).is_tie
    assert not Estimate.of([1.0, 1.1, 0.9]).is_tie
    assert not Estimate.of([0.0]).is_tie  # unknown for one run


def test_batch_means_hold_the_truth_where_neighbours_are_alike() -> None:
    random = np.random.default_rng(3)
    held = naive = 0
    for _ in range(300):
        noise, values = random.normal(0, 1, 4000), np.empty(4000)
        values[0] = noise[0] / (1 - 0.9**2) ** 0.5
        for index in range(1, 4000):
            values[index] = 0.9 * values[index - 1] + noise[index]
        estimate, wrong = batch_means(list(5 + values)), Estimate.of(list(5 + values))
        held += abs(estimate.mean - 5) <= (estimate.half or 0)
        naive += abs(wrong.mean - 5) <= (wrong.half or 0)
    assert 270 <= held <= 297  # of 285 expected
    assert naive < 150  # as if each were by itself


def test_batch_means_of_too_few_values_are_refused() -> None:
    assert batch_means(list(range(100)), 10).mean == 49.5
    with pytest.raises(ssdlab.UsageError, match="39 values in 20 parts"):
        batch_means([1.0] * 39)
