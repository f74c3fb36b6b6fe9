"""What a sweep found: the best point and the differences along its axes, with numbers worked out by hand."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.csv as pcsv
import pytest

import ssdlab
from conftest import DRIVE, SMALL, Ssdlab
from ssdlab.analysis.uncertainty import Estimate, estimates
from ssdlab.experiments.saved_pages import write_again
from ssdlab.experiments.sweeping.axes import Uses, is_wide, loads, needs_log, numbers_of, uses
from ssdlab.experiments.sweeping.doubts import NO_REPEATS
from ssdlab.experiments.sweeping.outcome import Pairs, best, by_workload, groups_in_words, headline, known_figure, outcome, relative
from ssdlab.experiments.sweeping.points import PartMean, SweepMean, SweepPoint
from ssdlab.pages.report.summary import Place, places, shown
from ssdlab.pages.report.words import described

P99 = "latency_ns.all.p99"
PLACE = Place("p99", P99, "ns", "low")
IOPS = known_figure("iops")


def point(values: Mapping[str, Any], numbers: list[float], place: str = P99, seeds: tuple[int, ...] = (1, 2, 3)) -> SweepMean:
    """A point with the values of one figure under its seeds."""
    runs = [SweepPoint({**values, "seed": seed}, ssdlab.Result({})) for seed in seeds]
    return SweepMean(values, seeds[: len(numbers)], estimates([{place: number} for number in numbers]), runs)


GRID = [
    point({"scheme": "npgc", "load": "a"}, [10.0, 10.0, 10.0]),
    point({"scheme": "npgc", "load": "b"}, [20.0, 20.0, 20.0]),
    point({"scheme": "pgc", "load": "a"}, [5.0, 6.0, 4.0]),
    point({"scheme": "pgc", "load": "b"}, [18.0, 16.0, 14.0]),
]
AXES = {"scheme": ["npgc", "pgc"], "load": ["a", "b"]}


# ---- differences along an axis -----------------------------------------------------------------------------------------


def test_a_difference_along_an_axis_is_over_all_pairs_with_an_interval_over_seeds() -> None:
    """Differences of pgc by seed: -50, -40, -60 % at load a and -10, -20, -30 % at load b; means -30, -30 and -45 %."""
    scheme, load = Pairs(GRID, AXES).changes(P99)
    assert (scheme.axis, scheme.value, scheme.pairs, scheme.left_out) == ("scheme", "pgc", 2, 0)
    assert scheme.estimate.values == (pytest.approx(-0.3), pytest.approx(-0.3), pytest.approx(-0.45))
    # standard deviation 0.0866, Student's t of two degrees of freedom 4.303: 4.303 x 0.0866 / sqrt(3)
    assert (scheme.estimate.mean, scheme.estimate.half) == (pytest.approx(-0.35), pytest.approx(0.2151, abs=1e-4))
    assert (scheme.least, scheme.most) == (pytest.approx(-0.5), pytest.approx(-0.2))
    assert scheme.differs
    # npgc takes twice the time at load b, pgc 3.6, 2.67 and 3.5 times: means 2.8, 2.33 and 2.75 times
    assert load.estimate.values == (pytest.approx(1.8), pytest.approx(4 / 3), pytest.approx(1.75))


def test_with_one_seed_the_interval_is_over_the_pairs() -> None:
    grid = [
        point({"scheme": scheme, "load": load}, [number], seeds=(7,))
        for scheme, load, number in (("npgc", "a", 10.0), ("npgc", "b", 20.0), ("pgc", "a", 5.0), ("pgc", "b", 16.0))
    ]
    scheme, _ = Pairs(grid, AXES).changes(P99)
    assert scheme.estimate.values == (-0.5, pytest.approx(-0.2))


def test_with_several_workloads_the_interval_is_over_them() -> None:
    """Of two values of gc.soft each: -50 and -30 %, mean -40 %, at load a, and twice -20 % at load b."""
    numbers = {"a": ((10.0, 5.0), (10.0, 7.0)), "b": ((20.0, 16.0), (30.0, 24.0))}
    grid = [
        point({"scheme": scheme, "load": load, "gc.soft": soft}, [numbers[load][soft][place]] * 3)
        for place, scheme in enumerate(("npgc", "pgc"))
        for load in numbers
        for soft in (0, 1)
    ]
    scheme, load, _ = Pairs(grid, {**AXES, "gc.soft": [0, 1]}, ["load"]).changes(P99)
    assert scheme.estimate.values == (pytest.approx(-0.4), pytest.approx(-0.2))
    assert len(load.estimate.values) == 3, "along the axis of workloads itself it is over seeds"


def test_seeds_that_only_some_points_have_are_not_mixed() -> None:
    """A run is missing at load b: then there is no mean over both loads under each seed."""
    grid = [*GRID[:3], point({"scheme": "pgc", "load": "b"}, [18.0, 16.0], seeds=(1, 3))]
    scheme, _ = Pairs(grid, AXES).changes(P99)
    assert scheme.estimate.values == (pytest.approx(-0.5), pytest.approx(-0.15)), "-10 % of seed 1 and -20 % of seed 3"


def test_a_figure_that_is_zero_at_first_or_absent_is_left_out_and_counted() -> None:
    grid = [point({"scheme": "npgc", "load": "a"}, [0.0, 0.0, 1.0]), *GRID[1:3], point({"scheme": "pgc", "load": "b"}, [1.0], "other")]
    assert [change.axis for change in Pairs(grid, AXES).changes(P99)] == [], "no pair has both numbers"
    found = list(Pairs([grid[0], *GRID[1:]], AXES).changes(P99))
    assert [(change.axis, change.pairs, change.left_out) for change in found] == [("scheme", 1, 1), ("load", 1, 1)]


# ---- the best point ----------------------------------------------------------------------------------------------------


def test_the_best_point_is_named_with_the_next_and_whether_they_differ() -> None:
    found = best(GRID, PLACE)
    assert found is not None
    assert found.next is not None
    assert (found.point.values, found.next.values) == ({"scheme": "pgc", "load": "a"}, {"scheme": "npgc", "load": "a"})
    # 100, 66.7 and 150 % more: mean 105.6, standard deviation 41.9, interval 4.303 x 41.9 / sqrt(3) = 104.2
    assert found.difference is not None
    assert (found.difference.mean, found.difference.half) == (pytest.approx(1.0556, abs=1e-4), pytest.approx(1.042, abs=1e-3))
    assert (found.differs, found.others) == (True, 3)
    text = outcome(found, PLACE)
    assert text.startswith("Best by p99 response time (lowest): scheme = pgc, load = a, 5 ± 2 ns. Next: scheme = npgc, load = a, 10 ns (")
    assert text.endswith("seed by seed): it differs beyond the interval.")


def test_points_that_chance_may_tell_apart_are_counted() -> None:
    grid = [
        point({"gc.soft": soft}, numbers) for soft, numbers in ((1, [10.0, 11.0, 12.0]), (2, [10.5, 10.9, 12.3]), (3, [11.0, 10.0, 12.9]))
    ]
    text = outcome(best(grid, PLACE), PLACE)
    assert "no difference beyond the interval. 2 others may be as good." in text
    assert "Run the best again" not in text
    many = [point({"gc.soft": soft}, [10.0 + soft / 1000, 11.0, 12.0]) for soft in range(30)]
    assert outcome(best(many, PLACE), PLACE).endswith(" Run the best again with new seeds.")


def test_high_is_best_of_throughput_and_equal_points_are_said_to_be_the_same() -> None:
    grid = [point({"scheme": scheme}, [numbers] * 3, "iops") for scheme, numbers in (("npgc", 100.0), ("pgc", 200.0), ("rwp", 200.0))]
    text = outcome(best(grid, IOPS), IOPS)
    assert text == "Best by requests a second (highest): scheme = pgc, 200/s. The same: scheme = rwp."


def test_one_seed_and_seeds_that_disagree_judge_nothing() -> None:
    grid = [point({"scheme": scheme}, [number], seeds=(1,)) for scheme, number in (("npgc", 10.0), ("pgc", 5.0))]
    assert "(+100.0 %). One seed: whether that is chance is not known (seeds = 5)." in outcome(best(grid, PLACE), PLACE)
    of_trace = [
        counted(scheme, [time], 10**6, {"config": {"workload": {"trace": "a.csv"}}}) for scheme, time in (("npgc", 9.0), ("pgc", 5.0))
    ]
    assert "not known (cut the trace into parts, by an axis skip)." in outcome(best(of_trace, PLACE), PLACE)
    bimodal = [point({"scheme": "npgc"}, [4e5, 4e5, 3.13e7]), point({"scheme": "pgc"}, [1e6, 1.1e6, 0.9e6])]
    text = outcome(best(bimodal, PLACE), PLACE)
    assert text.startswith("Best by p99 response time (lowest): scheme = npgc, median 400 µs (400 µs to 31.3 ms). Next: scheme = pgc, ")
    assert text.endswith("; not judged, since the seeds disagree about the difference.")


def test_a_best_of_zero_is_compared_by_difference() -> None:
    place = Place("pages moved", "gc.pages_moved", "count", "low")
    grid = [point({"scheme": scheme}, numbers, place.place) for scheme, numbers in (("npgc", [0.0] * 3), ("pgc", [5.0, 6.0, 7.0]))]
    found = best(grid, place)
    assert found is not None
    assert (found.difference, found.differs) == (None, True)


def test_a_percentile_of_few_requests_is_said_to_be_one() -> None:
    result = ssdlab.Result({"latency_ns": {"all": {"count": 300, "p99": 5}}})
    one = SweepMean({"scheme": "npgc"}, (1,), estimates([{P99: 5.0}]), [SweepPoint({"scheme": "npgc"}, result)])
    assert "5 ns (few: 3 of 300 requests took longer)." in outcome(best([one], PLACE), PLACE)


def counted(scheme: str, numbers: list[float], count: int, more: Mapping[str, Any] | None = None) -> SweepMean:
    """A point with its p99 and number of requests under seeds 1, 2, ..."""
    results = [ssdlab.Result({"latency_ns": {"all": {"count": count, "p99": number}}, **(more or {})}) for number in numbers]
    runs = [SweepPoint({"scheme": scheme, "seed": seed}, result) for seed, result in enumerate(results, 1)]
    return SweepMean({"scheme": scheme}, tuple(range(1, len(numbers) + 1)), estimates([{P99: number} for number in numbers]), runs)


def test_the_best_by_a_percentile_is_judged_from_as_many_independent_requests_as_questions_are() -> None:
    """1,000 for p99, over the seeds: 3 x 150 are 450, of 7 seeds 1,050, of 334 requests a run 1,002."""
    times = {"npgc": [100.0, 101.0, 102.0], "pgc": [50.0, 51.0, 52.0]}

    def found(count: int, **more: Any) -> str:
        return outcome(best([counted(scheme, of, count, more) for scheme, of in times.items()], PLACE), PLACE)

    few = "; not judged: rests on about 450 independent requests of a point, 1,000 needed: about 7 seeds or "
    assert f"{few}340 requests a run would do." in found(150)
    assert "differs beyond" not in found(150)
    of_trace = few.removesuffix("about 7 seeds or ")
    assert f"{of_trace}about 340 requests of a trace would do, or" in found(150, config={"workload": {"trace": "a.csv", "repeat": 2}})
    assert "not judged" not in found(334)
    assert "it differs beyond the interval." in found(334)


def test_seeds_that_change_nothing_show_no_difference_beyond_chance() -> None:
    times = {"npgc": [100.0] * 3, "pgc": [50.0] * 3}
    points = [counted(scheme, of, 1000, {"digest": scheme}) for scheme, of in times.items()]
    found = best(points, PLACE)
    assert found is not None
    assert (found.differs, found.doubt) == (None, NO_REPEATS)
    (change,) = Pairs(points, {"scheme": ["npgc", "pgc"]}).changes(P99)
    assert (change.differs, change.doubt) == (None, NO_REPEATS)
    other = best([points[0], counted("pgc", [50.0, 51.0, 52.0], 1000)], PLACE)
    assert other is not None
    assert other.differs, "seeds change one of both"


def test_points_at_shares_of_their_own_capacities_name_the_rates() -> None:
    def points(*rates: float, loads: tuple[float, float] = (0.5, 0.5), **more: str) -> list[SweepMean]:
        return [
            counted(scheme, [time, time + 1], 1000, {"capacity": {"load": load, "iops": rate, **more}})
            for scheme, time, rate, load in zip(("npgc", "pgc"), (100.0, 50.0), rates, loads, strict=True)
        ]

    def found(*rates: float, **more: Any) -> str:
        return outcome(best(points(*rates, **more), PLACE), PLACE)

    assert found(2176, 7860).endswith(" Points were offered 1,088 to 3,930 requests/s; load_of compares at one rate.")
    assert "offered" not in found(2000, 2000, loads=(0.5, 0.9)), "the load alone"
    assert "offered" not in found(2000, 7860, of="npgc")
    of_workload = by_workload(points(2000, 2500), PLACE, [])
    assert of_workload.endswith(" Points of a workload were offered rates up to 25% apart; load_of compares at one rate.")
    assert "were offered" not in found(2176, 2176)


@pytest.mark.parametrize(
    ("figure", "why"),
    [("p98", 'no figure of this name; did you mean "p99"?'), ("gc.jobs", "neither high nor low is better"), (5, "figure = 5")],
)
def test_what_cannot_judge_is_refused(figure: Any, why: str) -> None:
    with pytest.raises(ssdlab.UsageError, match=r"expected") as error:
        known_figure(figure)
    assert why in str(error.value)


def test_differences_have_their_intervals_also_if_they_are_zero_or_factors() -> None:
    assert relative(Estimate.of([0.0, 0.1, -0.1])) == "0.0 ± 24.8 %"
    assert relative(Estimate.of([5.0, 6.0, 7.0])).endswith("7.0 ± 2.5")
    assert relative(Estimate.of([0.0, 0.0])) == "0.0 %"


def test_two_groups_of_seeds_are_said() -> None:
    """Four near 0.4 ms, of which the median is 0.4, and two near 31."""
    found = estimates([{P99: value} for value in (4e5, 3.1e7, 4e5, 3.9e5, 4.1e5, 3.2e7)])[P99]
    assert found.groups == ((3.9e5, 4e5, 4e5, 4.1e5), (3.1e7, 3.2e7))
    assert groups_in_words(found, "ns") == "two groups of seeds, 4 near 400 µs and 2 near 31.5 ms"


# ---- what is drawn how -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        ({"scheme": "ab", "gc.soft": [1, 2, 3]}, Uses("gc.soft", "scheme", ())),
        ({"gc.soft": [1, 2], "scheme": "ab", "workload.read_share": [1, 2, 3]}, Uses("workload.read_share", "scheme", ("gc.soft",))),
        ({"load": "abc", "gc.scope": "ab", "gc.soft": [1, 2]}, Uses("gc.soft", "load", ("gc.scope",))),
        ({"a.b": [1, 2, 3], "c.d": [1, 2], "e.f": [1, 2, 3, 4]}, Uses("e.f", "c.d", ("a.b",))),
        ({"scheme": "ab", "load": "abc"}, Uses("load", "scheme", ())),
        ({"scheme": "ab", "seed": [1, 2]}, Uses("scheme", None, ())),
        ({"scheme": "a", "gc.soft": [1, 2]}, Uses("gc.soft", None, ())),
        ({"seed": [1, 2]}, Uses("seed", None, ())),
    ],
)
def test_numbers_go_across_schemes_are_lines_and_the_rest_panels(axes: dict[str, Any], expected: Uses) -> None:
    known = {axis: list(values) if isinstance(values, list) else None for axis, values in axes.items()}
    assert uses(known, axes, None, None) == expected


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        ({"input": "ab", "scheme": "ab", "gc.soft": [1, 2]}, Uses("gc.soft", "scheme", ("input",))),
        ({"input": "abc", "scheme": "ab"}, Uses("scheme", None, ("input",))),
        ({"input": "ab", "gc.soft": [1, 2]}, Uses("gc.soft", None, ("input",))),
        ({"input": "ab"}, Uses("input", None, ())),
    ],
)
def test_workloads_are_panels(axes: dict[str, Any], expected: Uses) -> None:
    known = {axis: list(values) if isinstance(values, list) else None for axis, values in axes.items()}
    assert uses(known, axes, None, None, loads=["input"]) == expected


def test_the_headline_names_the_best_of_each_workload() -> None:
    inputs = [{"label": "few", "workload": "lee2013-synthetic"}, {"label": "many", "workload": "uniform-4k-write"}]
    grid = {"input": inputs, "gc.soft": [0.05, 0.1]}
    result = ssdlab.sweep(grid, device="demo-4g", requests=20, set={"ftl.precondition.kind": "none"})
    assert loads(result.sweep.axes) == ["input"]
    told = headline(result.groups, known_figure("mean"), ["input"])
    for label in ("few", "many"):
        of = [point for point in result.groups if point.values["input"] == label]
        first = best(of, known_figure("mean"))
        assert first is not None
        assert f"({label}, {shown(first.point.estimates['latency_ns.all.mean'].centre, 'ns')})" in told
    assert "±" not in told


@pytest.mark.parametrize(
    ("panels", "expected"),
    [
        (["load"], Uses("gc.soft", "scheme", ("load", "gc.scope"))),
        (["scheme"], Uses("gc.soft", "gc.scope", ("scheme", "load"))),
        (["load", "scheme"], Uses("gc.soft", "gc.scope", ("load", "scheme"))),
        (["gc.soft", "load"], Uses("gc.scope", "scheme", ("gc.soft", "load"))),
        (["seed"], Uses("gc.soft", "scheme", ("seed", "gc.scope", "load"))),
    ],
)
def test_axes_named_for_panels_have_no_other_use(panels: list[str], expected: Uses) -> None:
    axes: dict[str, Any] = {"gc.scope": "ab", "load": "abc", "gc.soft": [1, 2], "scheme": "ab", "seed": [1, 2]}
    known = {axis: list(values) if isinstance(values, list) else None for axis, values in axes.items()}
    assert uses(known, axes, None, None, panels) == expected


def test_an_axis_is_logarithmic_from_a_factor_of_ten_on() -> None:
    assert is_wide([1.0, 10.0])
    assert not is_wide([1.0, 9.9])
    assert not is_wide([0.0, 10.0])
    assert not is_wide([])
    assert needs_log([1, 2, 4, 8])
    assert not needs_log([1, 2, 3, 5])
    assert not needs_log(None)


def test_texts_that_the_configuration_makes_numbers_are_numbers() -> None:
    points = [
        SweepPoint({"b.bytes": text}, ssdlab.Result({"config": {"b": {"bytes": size}}})) for text, size in (("4MiB", 4), ("1GiB", 1024))
    ]
    assert numbers_of("b.bytes", ["4MiB", "1GiB"], points) == [4, 1024]
    assert numbers_of("b.bytes", ["4MiB", "2GiB"], points) is None, "a point without result"
    assert numbers_of("scheme", ["npgc"], []) is None
    assert numbers_of("seed", [1, 2], []) == [1, 2]


# ---- pages of points ---------------------------------------------------------------------------------------------------


def swept(folder: Path, **more: Any) -> ssdlab.SweepResult:
    return ssdlab.sweep({"scheme": ["npgc", "pgc"], "seed": [1, 2]}, set=SMALL, requests=200, out=folder, **more)


def test_a_small_sweep_writes_the_page_of_each_point(tmp_path: Path) -> None:
    result = swept(tmp_path)
    for point in result:
        assert point.folder is not None
        text = (point.folder / "report.html").read_text()
        assert f"<h1>scheme = {point.values['scheme']}, seed = {point.values['seed']}" in text
        assert 'id="timeline-0"' in text, "it was recorded over time"
        again = tmp_path / "again.html"
        write_again(point.folder, again)
        assert again.read_text() == text
    page = (tmp_path / "report.html").read_text()
    assert page.count("/report.html") == 4


def test_a_point_that_was_not_recorded_is_run_again_for_its_page(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    first, *_ = swept(tmp_path / "s", series=False)
    assert first.folder is not None
    before = (first.folder / "result.json").read_bytes()
    assert not (first.folder / "report.html").exists()
    assert "ssdlab report DIR/POINT" in (tmp_path / "s" / "report.html").read_text()
    done = ssdlab_command("report", first.folder)
    assert (done.code, done.err) == (0, "")
    assert 'id="timeline-0"' in (first.folder / "report.html").read_text()
    assert (first.folder / "result.json").read_bytes() == before, "the result stays"
    ssdlab_command("report", tmp_path / "s")
    assert (tmp_path / "s" / "report.html").read_text().count("/report.html") == 1


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (
            lambda text: text.replace("requests = 200", "requests = 100"),
            "it would be another run now (sweep.requests is 200 there, 100 here)",
        ),
        (lambda text: text.replace("npgc", "rwp"), "sweep.toml has no such point any more"),
        (lambda text: text.replace('"npgc"', '"npgc", "nothing"'), ""),
        (lambda _: "grid = 5", "grid: expected at least one axis"),
    ],
)
def test_a_point_that_cannot_be_repeated_gets_a_page_that_says_so(tmp_path: Path, ssdlab_command: Ssdlab, edit: Any, why: str) -> None:
    first, *_ = swept(tmp_path / "s", series=False)
    assert first.folder is not None
    definition = tmp_path / "s" / "sweep.toml"
    definition.write_text(edit(definition.read_text()))
    done = ssdlab_command("report", first.folder)
    assert done.code == 0
    assert why in done.err
    assert bool(why) == ("the page has no figures over time" in done.err)
    assert "scheme = npgc, seed = 1" in (first.folder / "report.html").read_text()


def test_only_small_sweeps_are_recorded_unless_asked(tmp_path: Path) -> None:
    grid = {"gc.soft": [0.1, 0.15], "seed": range(51)}
    common = {key: value for key, value in SMALL.items() if key != "gc.soft"}
    large = ssdlab.sweep(grid, set=common, requests=5, out=tmp_path / "large")
    assert len(large) == 102
    assert not any("series" in point.result for point in large)
    asked = ssdlab.sweep({"seed": [1]}, set=SMALL, requests=5, out=tmp_path / "asked", series=True)
    assert "series" in asked[0].result
    assert "series = true" in (tmp_path / "asked" / "sweep.toml").read_text()
    assert "series" not in ssdlab.sweep({"seed": [1]}, set=SMALL, requests=5)[0].result
    with pytest.raises(ssdlab.ConfigError, match=r"series = 1: expected true"):
        ssdlab.sweep({"seed": [1]}, set=SMALL, series=1)  # type: ignore[arg-type]


@pytest.fixture
def in_parts(tmp_path: Path) -> dict[str, Any]:
    """Options of a sweep that replays 30 reads of a trace from request 0, 30 or 60 on."""
    trace = tmp_path / "reads.csv"
    rows = [f"{100 * number + number**2},R,{4096 * number},4096" for number in range(90)]
    trace.write_text("\n".join(["timestamp_us,op,offset_bytes,size_bytes", *rows, ""]))
    return {"set": DRIVE, "trace": trace, "requests": 30}


def test_parts_of_a_trace_are_no_options_and_have_means(in_parts: dict[str, Any], tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = ssdlab.sweep({"scheme": ["npgc", "pgc"], "skip": [0, 30, 60]}, out=out, **in_parts)
    times = {point.values["skip"]: point.measures["iops"] for point in found if point.values["scheme"] == "pgc"}
    assert len(set(times.values())) == 3
    assert [(dict(one.values), one.parts) for one in found.part_means] == [({"scheme": "npgc"}, 3), ({"scheme": "pgc"}, 3)]
    of = found.part_means[1].estimates["iops"]
    assert (of.mean, len(of.values)) == (pytest.approx(sum(times.values()) / 3), 3)
    (npgc, pgc) = pcsv.read_csv(out / "part_means.csv").to_pylist()
    assert (npgc["scheme"], pgc["iops"], pgc["parts"]) == ("npgc", of.mean, 3)
    assert "skip = 30" in found.outcome()
    assert "Next: " not in found.outcome()
    assert len(found.best_by_workload()) == 3
    assert "best" not in found.to_dict()
    picture = found.plot("iops", "scheme", mean_over="skip")
    assert picture.about.startswith("Means over skip, with their 95 % ")
    with pytest.raises(ssdlab.UsageError, match="skip has two uses"):
        found.plot("iops", "skip", mean_over="skip")
    alone = ssdlab.sweep({"skip": [0, 30, 60]}, **in_parts)
    assert alone.outcome() == "", "there is nothing to choose"


def test_many_parts_are_counted(in_parts: dict[str, Any]) -> None:
    found = ssdlab.sweep({"scheme": ["npgc", "pgc"], "skip": [0, 10, 20, 30, 40]}, **in_parts)
    assert found.outcome().endswith("in each of 5 workloads (skip): scheme = npgc and scheme = pgc in 5."), "no write came"


def test_a_mean_over_parts_takes_the_mean_over_seeds_for_one_value() -> None:
    points = [
        SweepPoint({"skip": skip, "seed": seed}, ssdlab.Result({"seed": seed, "iops": iops}))
        for skip, seed, iops in ((0, 1, 10.0), (0, 2, 30.0), (5, 1, 40.0), (5, 2, 60.0))
    ]
    groups = [SweepMean({"skip": skip}, (1, 2), estimates([p.measures for p in points if p.values["skip"] == skip])) for skip in (0, 5)]
    assert PartMean.of(groups, ["skip"]).estimates["iops"].values == (20.0, 50.0)


@pytest.mark.parametrize("kind", ["trace", "fill"])
def test_parts_that_are_prepared_by_other_parts_warn(in_parts: dict[str, Any], kind: str) -> None:
    """Each part is prepared by all requests from its first to the last of the trace."""
    keys = {**in_parts, "set": {**DRIVE, "ftl.precondition.kind": kind}}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = ssdlab.sweep({"skip": [0, 30]}, **keys)
    assert any("prepared differently" in str(one.message) for one in said) == (kind == "trace")
    timed = [point.result["precondition"].get("timed_requests") for point in found]
    assert timed == ([90, 60] if kind == "trace" else [None, None])
    with warnings.catch_warnings(record=True) as same:
        warnings.simplefilter("always")
        ssdlab.sweep({"scheme": ["npgc", "pgc"]}, **keys)
    assert not any("prepared differently" in str(one.message) for one in same)


def test_the_command_names_the_best_by_a_figure(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    keys = "".join(f'"{key}" = {json.dumps(value)}\n' for key, value in SMALL.items())
    (tmp_path / "s.toml").write_text(f'requests = 200\nseeds = 2\n[set]\n{keys}[grid]\nscheme = ["npgc", "pgc"]\n')
    done = ssdlab_command("sweep", "s.toml", "--out", "a", "--best", "write-amplification")
    assert "Best by write amplification (lowest): scheme = " in done.out
    assert not re.search(r"\bread\b", done.out.partition("Best by")[0])
    one_seed = (tmp_path / "s.toml").read_text().replace("seeds = 2\n", "")
    (tmp_path / "one.toml").write_text(one_seed)
    for file in ("s.toml", "one.toml"):
        table = ssdlab_command("sweep", file, "--out", f"of {file}", "--best", "latency_ns.read.p99_9").out
        assert re.search(r"\bread\b", table.partition("Best by")[0])
    report = ssdlab_command("sweep", "s.toml", "--out", "b", "--best", "latency_ns.read.mean", "--json").json()
    assert report["best"]["figure"] == "latency_ns.read.mean"
    means = {point["values"]["scheme"]: point["figures"]["latency_ns.read.mean"]["mean"] for point in report["means"]["points"]}
    assert report["best"]["values"] == {"scheme": min(means, key=means.__getitem__)}
    line = ssdlab_command("sweep", "s.toml", "--out", "c", "--best", "p98").failed(2)
    assert 'did you mean "p99"?' in line
    assert not (tmp_path / "c").exists()


def test_every_figure_of_the_table_has_words_for_an_axis() -> None:
    """`plot` and the page of a sweep draw any of them, such as suspensions."""
    labels = [described(place.place).label for place in places()]
    assert len(set(labels)) == len(labels)
    assert described("counters.suspended_programs").label == "programs, for reads (scheduler.suspend)"
    assert described("requests.read").label == "reads (requests)"


@pytest.mark.parametrize("figure", ["energy.total_j", "energy.mean_w", "energy.nj_per_byte", "ages.retries_mean"])
def test_energy_and_retries_can_be_best(figure: str) -> None:
    drive = {**SMALL, "energy.read_mw": 50, "errors.retry": "in-order", "errors.correctable_bits": 57, "ftl.precondition.pe_cycles": 3000}
    variants = {
        "old": {"set": {"energy.idle_mw": 400, "ftl.precondition.retention_days": 365}},
        "new": {"set": {"energy.idle_mw": 40, "ftl.precondition.retention_days": 30}},
    }
    leader = ssdlab.compare(variants=variants, set=drive, requests=200, device="lee2013").best(figure)
    assert leader is not None
    assert leader.best.label == "new"
