"""The statistics of comparisons over workloads: against SciPy and statsmodels, and on made-up data whose effect is known."""

from __future__ import annotations

import math
import random
import sys

import numpy as np
import pytest

from ssdlab.analysis.effects import effect, holm, p_value, size_interval
from ssdlab.errors import UsageError


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 10, 31, 100])
@pytest.mark.parametrize("t", [0.0, 0.1, 1.0, -2.5, 7.0, 40.0])
def test_the_p_value_is_that_of_scipy(t: float, degrees: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    assert p_value(t, degrees) == pytest.approx(2 * stats.t.sf(abs(t), degrees), abs=1e-13)


@pytest.mark.parametrize("units", [2, 3, 6, 40])
@pytest.mark.parametrize("size", [0.0, 0.3, -1.2, 4.0, 500.0])
def test_the_interval_of_an_effect_size_is_that_of_the_noncentral_t(size: float, units: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    low, high = size_interval(size, units)
    t, root = abs(size) * math.sqrt(units), math.sqrt(units)
    ends = sorted(abs(end) if size < 0 and low * high > 0 else math.copysign(1, size or 1) * end for end in (low, high))
    if t < 40:  # SciPy is not exact beyond
        assert [stats.nct.cdf(t, units - 1, end * root) for end in ends] == pytest.approx([0.975, 0.025], abs=1e-6)
    else:  # then only the deviation is uncertain
        shares = [stats.chi2.cdf((end / abs(size)) ** 2 * (units - 1), units - 1) for end in ends]
        assert shares == pytest.approx([0.025, 0.975], abs=2e-3)


def test_an_effect_size_has_0_in_its_interval_where_p_says_so() -> None:
    rng = random.Random(9)
    found = [one for _ in range(50) if (one := effect([[rng.gauss(0.8, 1.0) for _ in range(5)]])) is not None]
    assert {one.p < 0.05 for one in found} == {True, False}
    for one in found:
        assert one.size_ends is not None
        assert (one.size_ends[0] <= 0 <= one.size_ends[1]) == (one.p >= 0.05)


def test_holms_correction_is_that_of_the_definition() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.6]) == [1.0, 1.0]
    assert holm([]) == []
    multiple = pytest.importorskip("statsmodels.stats.multitest")
    ps = [random.Random(3).random() ** 3 for _ in range(20)]
    assert holm(ps) == pytest.approx(list(multiple.multipletests(ps, method="holm")[1]))


def drawn(rng: random.Random, mean: float, workloads: int, seeds: int, between: float = 0.1, within: float = 0.05) -> list[list[float]]:
    found = []
    for _ in range(workloads):
        own = mean + rng.gauss(0, between)
        found.append([own + rng.gauss(0, within) for _ in range(seeds)])
    return found


def test_intervals_over_workloads_cover_the_effect_and_those_over_seeds_do_not() -> None:
    """At 95 % each; an interval over all runs, as if they were independent, would be far too narrow."""
    rng = random.Random(1)
    samples = [drawn(rng, -0.2, 6, 5) for _ in range(400)]
    found = [effect(groups) for groups in samples]
    covered = sum(abs(one.mean + 0.2) <= one.half for one in found if one is not None)
    assert 365 <= covered <= 395
    together = [effect([[value for group in groups for value in group]]) for groups in samples]
    assert sum(abs(one.mean + 0.2) <= one.half for one in together if one is not None) < 320


def test_no_effect_is_found_where_there_is_none_as_often_as_is_said() -> None:
    rng = random.Random(2)
    ps = [one.p for _ in range(1000) if (one := effect(drawn(rng, 0.0, 5, 3))) is not None]
    assert 30 <= sum(p < 0.05 for p in ps) <= 70


def test_holm_keeps_false_findings_of_a_family_rare() -> None:
    """Twenty comparisons without an effect: two families of three find one; after the correction one of twenty does."""
    rng = random.Random(4)
    families = [[one.p for _ in range(20) if (one := effect(drawn(rng, 0.0, 5, 2))) is not None] for _ in range(300)]
    assert sum(min(family) < 0.05 for family in families) > 150
    assert sum(min(holm(family)) < 0.05 for family in families) <= 27


def test_variances_are_told_apart() -> None:
    found = effect(drawn(random.Random(5), 1.0, 200, 10, between=0.3, within=0.1))
    assert found is not None
    assert found.between == pytest.approx(0.3, rel=0.15)
    assert found.within == pytest.approx(0.1, rel=0.1)
    assert found.size == pytest.approx(1 / math.hypot(0.3, 0.1 / math.sqrt(10)), rel=0.15)
    assert found.units == 200


def test_a_balanced_effect_is_that_of_the_mixed_model() -> None:
    model = pytest.importorskip("statsmodels.regression.mixed_linear_model")
    groups = drawn(random.Random(6), 0.1, 8, 4)
    found = effect(groups)
    assert found is not None
    fit = model.MixedLM(np.ravel(groups), np.ones((32, 1)), groups=np.repeat(range(8), 4)).fit()
    assert found.mean == pytest.approx(float(fit.fe_params[0]))
    assert found.half / 2.3646 == pytest.approx(float(fit.bse_fe[0]), rel=1e-3)
    assert found.within == pytest.approx(math.sqrt(float(fit.scale)), rel=1e-3)


def test_unequal_numbers_of_seeds_need_statsmodels(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = [group[: 2 + place % 3] for place, group in enumerate(drawn(random.Random(7), -0.3, 9, 4))]
    pytest.importorskip("statsmodels")
    found = effect(groups)
    assert found is not None
    assert abs(found.mean + 0.3) < 2 * found.half < 0.4
    monkeypatch.setitem(sys.modules, "statsmodels.regression.mixed_linear_model", None)
    with pytest.raises(UsageError, match=r"different numbers of seeds \(2 to 4\).*ssdlab\[statistics\]"):
        effect(groups)


def test_what_cannot_be_judged() -> None:
    assert effect([[0.5]]) is None
    same = effect([[0.5], [0.5]])
    assert same is not None
    assert (same.half, same.p, same.size) == (0.0, 0.0, None)
    none = effect([[0.0, 0.0]])
    assert none is not None
    assert none.p == 1.0


@pytest.mark.parametrize(
    ("groups", "p"),
    [
        ([[0.0, 0.0], [0.0, 0.0, 0.0]], 1.0),
        ([[0.1, 0.1], [0.1, 0.1, 0.1]], 0.0),
        ([[0.1, 0.1], [0.3, 0.3, 0.3]], 0.2952),  # t = 2, one degree of freedom
    ],
)
def test_groups_without_chance_in_them_are_judged_by_their_means(groups: list[list[float]], p: float) -> None:
    """The mixed model is singular there: its standard error may be no number."""
    found = effect(groups)
    even = effect([group[:2] for group in groups])
    assert found is not None
    assert even is not None
    assert (found.mean, found.half, found.p) == (even.mean, even.half, even.p)
    assert found.p == pytest.approx(p, abs=1e-4)


def test_no_p_value_comes_of_what_is_no_number() -> None:
    with pytest.raises(ValueError, match="not a number"):
        p_value(math.nan, 3)
