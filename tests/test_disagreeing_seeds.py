"""Seeds that disagree: medians and all values replace means with impossible intervals, and differences are not judged."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import SMALL
from ssdlab.analysis.remarks import shown
from ssdlab.analysis.uncertainty import Estimate, estimates, relative_differences
from ssdlab.experiments.saved_pages import write_again
from ssdlab.experiments.sweeping import page as sweep_page
from ssdlab.pages import tables
from ssdlab.pages.report import changes, noise
from ssdlab.pages.report.page import _overview
from ssdlab.pages.report.runs import Runs
from ssdlab.pages.report.summary import overview
from ssdlab.pages.report.verdict import remarks, verdict
from ssdlab.pages.tables.comparisons import disagreeing, seed_tables, with_interval

MEAN, P99 = "latency_ns.all.mean", "latency_ns.all.p99"
MS = 1e6
# Three seeds of which one met a collection: mean 10.7, standard deviation 17.84, and 4.303 x 17.84 / sqrt(3) = 44.3.
ONE_OF_THREE = [0.4 * MS, 0.4 * MS, 31.3 * MS]
# Mean 25.5, standard deviation 25.8, interval 18.5: above 0, and yet no seed is anywhere near.
TWO_GROUPS = [1 * MS] * 5 + [50 * MS] * 5
CLOSE = [10 * MS, 10.4 * MS, 9.7 * MS]


def over_seeds(values: list[float]) -> Estimate:
    return estimates([{MEAN: value} for value in values])[MEAN]


def test_an_interval_of_times_below_zero_is_none() -> None:
    found = over_seeds(ONE_OF_THREE)
    assert (found.mean / MS, (found.half or 0) / MS) == (pytest.approx(10.7), pytest.approx(44.32, abs=0.01))
    assert found.disagree
    assert found.median == 0.4 * MS
    assert with_interval(MEAN, found) == "median 400 us"


@pytest.mark.parametrize(
    ("values", "disagree"),
    [
        (TWO_GROUPS, True),
        ([1.0, 1.1, 0.9, 1.2, 1.0, 2.9, 3.0, 3.1, 2.8, 3.0], True),
        (CLOSE, False),
        ([1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7], False),  # evenly apart
        ([1.0, 1.1, 1.2, 1.3, 1.7, 1.8, 1.9, 1.95], False),  # two groups that are near each other
        ([0.0, 0.0, 0.0], False),
        ([5.0, 5.0], False),
        ([5.0], False),
        ([1.0, 2.0], True),  # of two seeds so far apart, Student's interval is 12.7 x 0.5 wide
        ([1.0, 1.01], False),
    ],
)
def test_values_in_two_groups_disagree(values: list[float], disagree: bool) -> None:
    assert over_seeds(values).disagree == disagree


def test_values_of_both_signs_may_have_any_interval() -> None:
    """Slack, for one, is negative where a request is late."""
    assert not over_seeds([-1.0, 1.0, 0.5]).disagree
    assert Estimate.of([-1.0, 1.0, 0.5]).least == -math.inf


def test_a_change_by_more_than_everything_is_none() -> None:
    base, other = [{P99: 10.0}, {P99: 10.0}, {P99: 10.0}], [{P99: 0.2}, {P99: 0.3}, {P99: 29.0}]
    found = relative_differences(base, other)[P99]
    # -98 %, -97 %, +190 %: mean -1.7 %, interval 412 %.
    assert (found.mean, found.half) == (pytest.approx(-0.01667, abs=1e-4), pytest.approx(4.12, abs=0.02))
    assert found.disagree
    assert not relative_differences(base, [{P99: 9.0}, {P99: 9.1}, {P99: 8.9}])[P99].disagree


def test_seeds_that_both_schemes_share_do_not_make_their_difference_disagree() -> None:
    base, other = [{P99: value} for value in TWO_GROUPS], [{P99: 0.9 * value} for value in TWO_GROUPS]
    assert estimates(base)[P99].disagree
    found = relative_differences(base, other)[P99]
    assert not found.disagree
    assert not found.is_tie


# ---- the terminal --------------------------------------------------------------------------------------------------------------------


@dataclass
class Compared:
    """A comparison under several seeds with the interface that `seed_tables` uses."""

    values: dict[str, dict[str, list[float]]]
    seeds: tuple[int, ...] = (1, 2, 3)
    runs: dict[str, dict[int, Any]] = field(default_factory=dict)
    against: str = "npgc"
    differ: bool = True

    def _runs(self, scheme: str) -> list[dict[str, float]]:
        of = self.values[scheme]
        return [{place: of[place][index] for place in of} for index in range(len(self.seeds))]

    @property
    def estimates(self) -> dict[str, dict[str, Estimate]]:
        return {scheme: estimates(self._runs(scheme)) for scheme in self.values}

    @property
    def differences(self) -> dict[str, dict[str, Estimate]]:
        base = self._runs(self.against)
        return {scheme: relative_differences(base, self._runs(scheme)) for scheme in self.values if scheme != self.against}


def test_tables_show_the_median_and_the_value_under_each_seed() -> None:
    found = Compared({"npgc": {MEAN: CLOSE, P99: ONE_OF_THREE}, "pgc": {MEAN: [9 * MS, 9.4 * MS, 8.8 * MS], P99: [3 * MS] * 3}})
    text = tables.as_text(seed_tables(found, shown([])))
    assert "median 400 us" in text
    assert "10.7 ± 44" not in text
    assert "npgc, p99: 400 us, 400 us, 31.3 ms" in text
    # +650 %, +650 %, -90 %
    assert re.search("pgc against npgc, p99: \u00d7.7\\.5, \u00d7.7\\.5, -90\\.4%", text)
    assert "The values under seeds 1 to 3:" in text
    row = next(line for line in text.splitlines() if line.startswith("pgc") and "%" in line)
    assert "not judged" in row
    assert re.search(r"-9\.\d% ± \d\.\d%", row), "what the seeds agree about is shown as ever"
    assert "tie:" not in text


def test_seeds_that_agree_are_told_nothing() -> None:
    text = tables.as_text(seed_tables(Compared({"npgc": {MEAN: CLOSE}, "pgc": {MEAN: CLOSE}}), shown([])))
    assert "disagree" not in text
    assert "median" not in text
    assert "10.0 ± 0.9 ms" in text


def test_disagreeing_names_what_is_shown_only() -> None:
    assert disagreeing(estimates([{MEAN: value, "gc.jobs": value} for value in ONE_OF_THREE])) == ["mean: 400 us, 400 us, 31.3 ms"]


# ---- the page ------------------------------------------------------------------------------------------------------------------------


def runs_of(values: dict[str, dict[str, list[float]]]) -> Runs:
    """Runs with the data that `compare --seeds` writes."""
    compared = Compared(values, seeds=tuple(range(1, 1 + len(next(iter(next(iter(values.values())).values()))))))
    schemes = {
        scheme: {place: {"mean": of.mean, "half_width": of.half} for place, of in figures.items()}
        for scheme, figures in compared.estimates.items()
    }
    differences = {
        scheme: {place: {"relative": of.mean, "half_width": of.half} for place, of in figures.items()}
        for scheme, figures in compared.differences.items()
    }
    seeds = {
        "seeds": list(compared.seeds),
        "level": 0.95,
        "schemes": schemes,
        "values": values,
        "against": "npgc",
        "differences": differences,
    }
    first = {
        scheme: {"seed": 1, "latency_ns": {"all": {"count": 100_000, **{place.split(".")[-1]: of[0] for place, of in figures.items()}}}}
        for scheme, figures in values.items()
    }
    return Runs.of(first, seeds=seeds)


def test_the_page_judges_nothing_about_which_seeds_disagree() -> None:
    found = runs_of({"npgc": {MEAN: ONE_OF_THREE, P99: ONE_OF_THREE}, "pgc": {MEAN: CLOSE, P99: CLOSE}})
    assert verdict(found) == "p99 is not ranked: the seeds disagree."
    assert remarks(found)[0] == "mean is not ranked: the seeds disagree."
    assert "Seeds disagree about the p99 of npgc, so its median stands for a mean: 400 µs, 400 µs, 31.3 ms." in remarks(found)
    row = next(row for row in overview(found) if row.place == P99)
    assert [cell.text for cell in row.cells] == [
        "median 400 µs (400 µs to 31.3 ms)",
        "10.0 ± 0.9 ms",
    ]
    assert row.cells[1].difference == "not judged (\N{MINUS SIGN}69 to +2,500 %)"
    assert not any(cell.best or cell.worse for cell in row.cells)
    assert "tie" not in row.cells[1].difference


def test_a_mean_that_is_judged_leads_where_the_tail_is_not() -> None:
    found = runs_of(
        {"npgc": {MEAN: CLOSE, P99: ONE_OF_THREE}, "pgc": {MEAN: [value / 2 for value in CLOSE], P99: [value / 9 for value in CLOSE]}}
    )
    assert verdict(found).startswith("pgc has the shortest mean response time: 5.02 ms, \N{MINUS SIGN}50.0 % against npgc.")
    assert "p99 is not ranked: the seeds disagree." in remarks(found)
    rows = {row.place: [cell.best for cell in row.cells] for row in overview(found)}
    assert rows[MEAN] == [False, True]
    assert rows[P99] == [False, False]


def cells(text: str, place: str) -> list[str]:
    """The classes of a statistic's cells in the overview."""
    first = text.partition('<section id="overview"')[2].partition("</section>")[0]
    return re.findall(rf'<td(?: class="([^"]*)")?[^>]*data-place="{re.escape(place)}"', first)


def test_nothing_is_marked_that_was_not_judged(tmp_path: Path) -> None:
    ssdlab.compare(schemes=["npgc", "pgc"], set=SMALL, requests=300, out=tmp_path)  # too short for batch means
    write_again(tmp_path, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "in this run" in text
    for place in (MEAN, P99):
        assert [kinds for kinds in cells(text, place) if "best" in kinds.split()] == []
    judged = _overview(
        runs_of({"npgc": {MEAN: CLOSE, P99: CLOSE}, "pgc": {MEAN: [value / 2 for value in CLOSE], P99: CLOSE}}), shown([]), []
    )
    assert cells(judged, MEAN) == ["", "best"]


def test_an_interval_of_one_seed_that_cannot_be_judges_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """How parts of a run differ may say as little: -1.4 ± 412 % is no tie."""
    monkeypatch.setattr(noise, "scatter", lambda *_: 4.12)
    monkeypatch.setattr(noise, "tail_scatter", lambda *_: 4.12)
    monkeypatch.setitem(changes.ESTIMATES, MEAN, lambda *_: 4.12)  # type: ignore[arg-type]
    monkeypatch.setitem(changes.ESTIMATES, P99, lambda *_: 4.12)  # type: ignore[arg-type]
    of = [{"latency_ns": {"all": {"mean": 1e6 * by, "p99": 5e6 * by, "count": 100_000}}} for by in (1.0, 0.986)]
    found = Runs.of({"npgc": of[0], "pgc": of[1]})
    row = next(row for row in overview(found) if row.place == P99)
    assert row.cells[1].difference == "\N{MINUS SIGN}1.4 %"
    assert not row.cells[1].judged
    assert verdict(found).startswith("pgc had the shortest p99 response time in this run")
    assert "tie" not in verdict(found)
    assert "412" not in " ".join([verdict(found), *remarks(found)])


def test_results_of_versions_without_values_show_no_interval_below_zero() -> None:
    found = runs_of({"npgc": {MEAN: CLOSE, P99: ONE_OF_THREE}, "pgc": {MEAN: CLOSE, P99: CLOSE}})
    seeds = {key: entry for key, entry in found.seeds.items() if key != "values"}
    row = next(row for row in overview(replace(found, seeds=seeds)) if row.place == P99)
    assert row.cells[0].text == "10.7 ms (seeds disagree)"
    assert " ± " not in row.cells[1].difference


# ---- what is written -----------------------------------------------------------------------------------------------------------------


def bimodal_sweep() -> ssdlab.SweepResult:
    """A sweep of two points over three seeds, with synthetic response times."""
    swept = ssdlab.sweep({"scheme": ["npgc", "pgc"]}, seeds=3, set=SMALL, requests=100)
    for point in swept:
        values = ONE_OF_THREE if point.values["scheme"] == "npgc" else CLOSE
        data = point.result.to_dict()
        data["latency_ns"]["all"]["p99"] = round(values[point.values["seed"] - 1])
        object.__setattr__(point, "result", ssdlab.Result(data))
    return swept


def test_a_sweep_shows_medians_and_draws_ranges(tmp_path: Path) -> None:
    swept = bimodal_sweep()
    text = str(swept)
    assert "median 400 us" in text
    assert "scheme = npgc, p99: 400 us, 400 us, 31.3 ms (two groups: 2 and 1 seeds)" in text
    figures = swept.to_dict()["means"]["points"][0]["figures"][P99]
    assert (figures["seeds_disagree"], figures["median"]) == (True, 0.4 * MS)
    assert "median" not in swept.to_dict()["means"]["points"][1]["figures"][P99]
    data = sweep_page._data(swept, tmp_path)["sweep"]
    drawn = next(figure for figure in data["figures"] if figure["place"] == P99)
    assert drawn["apart"] == {0: "scheme = npgc: two groups of seeds, 2 near 400 µs and 1 near 31.3 ms"}
    assert [drawn["values"][number] for number in data["members"][0]] == [400_000, 400_000, 31_300_000]
    assert drawn["halves"][0] is None
    assert drawn["means"][0] == 400_000
    assert drawn["cells"][0] == "median 400 µs"


def test_the_table_of_means_has_medians_where_seeds_disagree() -> None:
    rows = {row["scheme"]: row for row in bimodal_sweep().mean_table().to_pylist()}
    assert rows["npgc"][f"{P99}.median"] == 0.4 * MS
    assert rows["npgc"][P99] == pytest.approx((0.4 + 0.4 + 31.3) / 3 * MS), "the mean stays"
    assert rows["pgc"][f"{P99}.median"] is None
    names = list(rows["npgc"])
    assert names.index(f"{P99}.median") == names.index(P99) + 2, "beside the mean and its interval"
    assert "latency_ns.all.mean.median" not in names


def test_seeds_that_disagree_are_dots_and_a_median_and_have_no_bar() -> None:
    picture = bimodal_sweep().plot(P99, "scheme")
    assert picture.about.endswith("Where seeds disagree, the median, with a dot for each.")
    (axes,) = picture.sheet.axes
    (bars,) = axes.containers
    marks, _, (upright,) = bars
    assert list(marks.get_ydata()) == [0.4 * MS, pytest.approx(10.033 * MS, rel=1e-4)]
    spans = [segment[:, 1] for segment in upright.get_segments()]
    half = over_seeds(CLOSE).half or 0
    assert [high - low for low, high in spans] == [pytest.approx(0, abs=1), pytest.approx(2 * half, rel=1e-4)]
    (dots,) = [line for line in axes.lines if line.get_marker() == "."]
    assert list(dots.get_ydata()) == [400_000, 400_000, 31_300_000]
    assert axes.get_yscale() == "log", "31.3 ms is more than ten times 0.4 ms"
    assert axes.get_ylim()[0] > 0


def test_comparison_json_says_so(tmp_path: Path) -> None:
    """What is written for programs keeps mean and interval, and says that they mislead."""
    compared = ssdlab.compare(schemes=["npgc"], seeds=3, set=SMALL, requests=100)
    assert compared.seeds is not None
    for seed, value in zip((1, 2, 3), ONE_OF_THREE, strict=True):
        data = compared.seeds.runs["npgc"][seed].to_dict()
        data["latency_ns"]["all"]["p99"] = round(value)
        compared.seeds.runs["npgc"][seed] = ssdlab.Result(data)  # type: ignore[index]
    found = json.loads(json.dumps(compared.to_dict()))["seeds"]["schemes"]["npgc"][P99]
    assert found["seeds_disagree"]
    assert found["median"] == 400_000
    assert set(found) == {"mean", "half_width", "seeds_disagree", "median"}
