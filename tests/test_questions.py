"""Questions of a sweep: stated before its runs or asked later, answered over workloads, and corrected for their number."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow.csv as pcsv
import pytest

import ssdlab
from conftest import DRIVE, Ssdlab
from ssdlab.analysis.uncertainty import estimates
from ssdlab.asking.plans import value_text
from ssdlab.experiments.sweeping.comparisons import COLUMNS, Comparison, comparisons, in_words
from ssdlab.experiments.sweeping.definition import define
from ssdlab.experiments.sweeping.doubts import NO_REPEATS, OF_PARTS, UNCOUNTED
from ssdlab.experiments.sweeping.outcome import Change, Pairs
from ssdlab.experiments.sweeping.points import SweepMean, SweepPoint
from ssdlab.runs.result import Result

TABLE: dict[str, Any] = {
    "grid": {
        "scheme": ["npgc", "pgc", "rwp"],
        "input": [{"label": name, "workload": f"{name}-like"} for name in ("mysql", "tpch", "sqlite")],
        "load": [0.5, 0.9],
        "seed": [1, 2],
    }
}


def answers(
    means: dict[str, float],
    *questions: dict[str, Any],
    count: int = 10**6,
    unsettled: tuple[str, ...] = (),
    overloaded: tuple[str, ...] = (),
    busy: float = 1.0,
    missing: Callable[[Mapping[str, Any]], bool] = lambda _: False,
    table: Mapping[str, Any] = TABLE,
    share: float = 1.0,
    sustained: Mapping[str, float] = MappingProxyType({}),
    run_of: Callable[[Mapping[str, Any]], Any] = lambda _: None,
) -> list[Comparison]:
    """The answers for made-up points: a mean time of each scheme, which differs between workloads and seeds.

    Write amplification is 1 more than the factor of the scheme, and has not settled under schemes in `unsettled`. At a load of 0.9 pgc is
    `busy` times slower than that. Points that are `missing` were not run. `run_of` names the run
    of a point, which is the same under seeds that change nothing.
    """
    sweep = define("sweep", {**table, "questions": list(questions)})
    points = []
    for place, point in enumerate(sweep.points()):
        values = point.values
        own = {"mysql": 1.0, "tpch": 30.0, "sqlite": 5.0}[values["input"]] * (3 if values["load"] == 0.9 else 1)
        run = place if run_of(values) is None else len(str(run_of(values)))
        change = means[values["scheme"]] * math.exp(0.01 * ((run * 37) % 7 - 3) * (values["scheme"] != "npgc"))
        change *= busy if (values["load"], values["scheme"]) == (0.9, "pgc") else 1
        time = 1e6 * own * change
        latency = {"mean": time, "p99": 5 * time, "p99_9": 20 * time, "count": count}
        codes = {"not-settled": unsettled, "overloaded": overloaded[:1], "load-above-capacity": overloaded[1:], "many-seeds": tuple(means)}
        remarks = [{"code": code} for code, schemes in codes.items() if values["scheme"] in schemes]
        gc = {"write_amplification": 1 + change}
        data = {"seed": values["seed"], "latency_ns": {"all": latency}, "gc": gc, "remarks": remarks, "digest": run_of(values)}
        data |= {"independent_share": share} if share else {}
        data |= {"capacity": {"load": values["load"], "iops": sustained[values["scheme"]]}} if sustained else {}
        points.append(SweepPoint(dict(values), Result(data)))
    return comparisons(sweep.questions, [point for point in points if not missing(point.values)], list(sweep.points()))


def test_a_known_change_is_found_over_workloads() -> None:
    pgc, rwp = answers({"npgc": 1.0, "pgc": 0.7, "rwp": 1.0}, {"compare": "scheme"})
    assert (pgc.value, pgc.figure, pgc.workloads, pgc.seeds, pgc.judged, rwp.judged) == ("pgc", "latency_ns.all.p99", 3, 2, "lower", "tie")
    assert pgc.change is not None
    assert pgc.change[0] == pytest.approx(-0.3, abs=0.02)
    assert pgc.change[1] < -0.3 < pgc.change[2] < 0


def test_the_correction_is_over_everything_that_was_compared() -> None:
    (alone,) = answers({"npgc": 1.0, "pgc": 0.9, "rwp": 1.0}, {"compare": "scheme", "values": ["pgc"]})
    among = answers(
        {"npgc": 1.0, "pgc": 0.9, "rwp": 1.0},
        {"compare": "scheme", "figures": ["mean", "p99"]},
        {"compare": "load", "against": 0.5, "by": ["scheme"]},
    )
    assert len(among) == 2 * 2 + 3
    same = next(one for one in among if one.value == "pgc" and one.figure == alone.figure)
    assert alone.p is not None
    assert same.p is not None
    assert same.effect == alone.effect
    assert alone.p == alone.effect.p < same.p  # type: ignore[union-attr]
    by_load = [one for one in among if one.question.compare == "load"]
    assert [one.at for one in by_load] == [{"scheme": "npgc"}, {"scheme": "pgc"}, {"scheme": "rwp"}]
    assert all(one.change is not None and one.change[0] == pytest.approx(2.0, rel=0.05) for one in by_load)


def test_what_chance_explains_only_among_many_answers_is_uncertain() -> None:
    question = {"compare": "scheme", "values": ["pgc"], "figures": ["mean"]}
    means = {"npgc": 1.0, "pgc": 0.975, "rwp": 1.0}
    (alone,) = answers(means, question)
    assert alone.judged == "lower"
    assert alone.p is not None
    again = answers(means, *[question] * (1 + int(0.05 / alone.p)))
    assert {one.judged for one in again} == {"uncertain"}


def test_a_tail_needs_enough_requests() -> None:
    question = {"compare": "scheme", "values": ["pgc"], "figures": ["p99", "p99.9"]}
    p99, p999 = answers({"npgc": 1.0, "pgc": 0.7, "rwp": 1.0}, question, count=4_000)  # two seeds each
    assert p99.judged == "lower"
    assert (p999.judged, p999.p) == ("not judged", None)
    few = "rests on about 8,000 independent requests of a point, 10,000 needed"
    assert p999.note == f"{few}: about 3 seeds or 5,000 requests a run would do"
    assert all(one.judged == "lower" for one in answers({"npgc": 1.0, "pgc": 0.7, "rwp": 1.0}, question, count=5_000))


def test_write_amplification_is_judged_only_where_it_has_settled() -> None:
    question = {"compare": "scheme", "figures": ["write-amplification", "mean"]}
    found = answers({"npgc": 1.0, "pgc": 0.7, "rwp": 0.7}, question, unsettled=("pgc",))
    pgc, pgc_mean, rwp, _ = found
    assert (pgc.judged, pgc.p, pgc.change) == ("not judged", None, None)
    assert pgc.note == "write amplification has not settled at 12 of 24 points"
    assert (pgc_mean.judged, pgc_mean.note) == ("lower", "")
    assert (rwp.judged, rwp.note) == ("lower", "")


def of_parts(count: int, prepared: dict[str, Any], *, parts: int = 4, trace: str = "a.csv") -> tuple[list[Comparison], list[Change]]:
    """Answers and changes for parts of a trace, none of which has settled: pgc has 0.8 times the amplification and times of npgc, about."""
    question = {"compare": "scheme", "figures": ["write-amplification", "p99"]}
    grid = {"scheme": ["npgc", "pgc"], "skip": [5 * part for part in range(parts)]}
    sweep = define("sweep", {"grid": grid, "questions": [question], "trace": trace})
    points = []
    for point in sweep.points():
        skip = point.values["skip"]
        factor = (1 + 0.1 * skip) * (0.8 + 0.002 * skip if point.values["scheme"] == "pgc" else 1)
        of_trace = {"workload": {"trace": trace, "skip": skip}}
        data = {"seed": 1, "latency_ns": {"all": {"p99": 1e6 * factor, "count": count}}, "gc": {"write_amplification": 3 * factor}}
        data |= {"remarks": [{"code": "not-settled"}], "precondition": prepared, "config": of_trace, "independent_share": 1.0}
        points.append(SweepPoint(dict(point.values), Result(data)))
    found = [SweepMean(point.values, (1,), estimates([point.measures]), [point]) for point in points]
    pairs = Pairs(found, {"scheme": ["npgc", "pgc"]}, ["skip"])
    return comparisons(sweep.questions, points), [next(pairs.changes(path)) for path in ("gc.write_amplification", "latency_ns.all.p99")]


@pytest.mark.parametrize("prepared", [{"kind": "state"}, {"kind": "steady", "steady": True}, {"kind": "trace", "settled": True}])
def test_parts_that_began_settled_are_samples_of_write_amplification(prepared: dict[str, Any]) -> None:
    (amplification, _), (change, _) = of_parts(10**6, prepared)
    assert (amplification.judged, amplification.workloads, amplification.note) == ("lower", 4, OF_PARTS)
    assert amplification.change is not None
    assert amplification.change[0] == pytest.approx(-0.185, abs=0.01)
    assert (change.differs, len(change.estimate.values)) == (True, 4), "changes do not contradict answers"


@pytest.mark.parametrize("prepared", [{"kind": "fill"}, {"kind": "steady", "steady": False}, {"kind": "trace", "settled": False}])
def test_parts_that_began_unsettled_are_not(prepared: dict[str, Any]) -> None:
    (amplification, _), (change, _) = of_parts(10**6, prepared)
    note = "write amplification has not settled at 8 of 8 points: begin each part in a settled state (state)"
    assert (amplification.judged, amplification.note, change.doubt, change.differs) == ("not judged", note, note, None)
    (alone, _), _ = of_parts(10**6, {"kind": "state"}, parts=1)
    assert alone.note.startswith("write amplification has not settled at 2 of 2 points"), "one part is no sample"


def test_percentiles_of_parts_count_the_requests_of_all() -> None:
    """p99 takes 1,000 independent requests of all parts, and 100 of each."""

    def told(count: int, parts: int) -> tuple[str, str]:
        (_, p99), (_, change) = of_parts(count, {"kind": "state"}, parts=parts)
        assert change.doubt == p99.note
        assert (change.differs is None) == (p99.judged == "not judged")
        return p99.judged, p99.note

    assert told(250, 4) == ("lower", "")
    more = "5 times as much of the trace would do, or ask for the mean"
    assert told(50, 4) == ("not judged", f"rests on about 200 independent requests of 4 parts, 1,000 needed: {more}")
    longer = "a part has about 80 independent requests, 100 needed: parts 1.3 times as long would do"
    assert told(80, 13) == ("not judged", longer)


def test_whether_a_change_depends_on_another_axis() -> None:
    question = {"compare": "scheme", "values": ["pgc", "rwp"], "figures": ["mean"], "depends_on": "load"}
    means = {"npgc": 1.0, "pgc": 0.7, "rwp": 0.5}
    pgc, rwp = answers(means, question, busy=1.4)
    assert (pgc.at, pgc.judged, rwp.judged) == ({"load": 0.9}, "higher", "tie")
    assert pgc.change is not None
    assert pgc.change[0] == pytest.approx(0.4, abs=0.03), "0.7 x 1.4 over 0.7"
    (found,) = in_words([pgc, rwp])
    assert found.title.startswith("scheme against npgc, whether it depends on load (against 0.5), mean: over 3 workloads x 2 seeds, stated")
    assert found.heads[:2] == ["scheme", "load"]
    lost = answers(means, question, missing=at(load=0.5))
    assert {(one.at["load"], one.judged, one.note) for one in lost} == {(0.9, "not judged", "no pair of points was run")}, "not against 0.9"
    with pytest.raises(ssdlab.ConfigError, match="load has two uses"):
        answers(means, {**question, "by": ["load"]})


def at(**values: Any) -> Callable[[Mapping[str, Any]], bool]:
    """Whether a point has these values."""
    return lambda of: all(of[axis] == value for axis, value in values.items())


def test_all_seeds_of_a_workload_count_with_the_same_points() -> None:
    """At load 0.9 alone pgc is 1.4 times slower: without a point there, its seed would be about load 0.5."""
    question = {"compare": "scheme", "values": ["pgc"], "figures": ["mean"], "by": ["input"]}
    table = {"grid": {**TABLE["grid"], "seed": [1, 2, 3]}}
    lost = at(scheme="pgc", load=0.9, seed=3, input="mysql")
    mysql, *others = answers({"npgc": 1.0, "pgc": 0.7, "rwp": 1.0}, question, busy=1.4, missing=lost, table=table)
    assert mysql.change is not None
    assert mysql.change[0] == pytest.approx(0.7 * math.sqrt(1.4) - 1, abs=0.03)
    assert mysql.change[2] < 0, "without the missing pair the scatter of seeds is small"
    assert (mysql.seeds, mysql.note.partition("; ")[2]) == (2, "without 2 of 6 pairs, which were not run, or not under every seed")
    assert [(other.seeds, "pairs" in other.note) for other in others] == [(3, False)] * 2


def test_points_that_a_seed_lacks_do_not_count_where_no_seeds_would_be_left() -> None:
    question = {"compare": "scheme", "values": ["pgc"], "figures": ["mean"], "by": ["input"]}
    means = {"npgc": 1.0, "pgc": 0.7, "rwp": 1.0}
    mysql, *_ = answers(means, question, busy=1.4, missing=at(scheme="pgc", load=0.9, seed=2))
    assert mysql.change is not None
    assert mysql.change[0] == pytest.approx(-0.3, abs=0.03), "of load 0.5"
    assert (mysql.seeds, "without 2 of 4 pairs" in mysql.note) == (2, True)

    def crossed(of: Mapping[str, Any]) -> bool:
        return bool((of["load"] == 0.9) == (of["seed"] == 1))

    mysql, *_ = answers(means, question, missing=crossed)
    assert (mysql.judged, mysql.note) == ("not judged", "no two seeds have pairs alike: run the missing points (--resume)")


def test_seeds_that_change_nothing_count_once() -> None:
    question = {"compare": "scheme", "values": ["pgc"], "figures": ["mean", "p99"], "by": ["input"]}
    means, table = {"npgc": 1.0, "pgc": 0.7, "rwp": 1.0}, {"grid": {**TABLE["grid"], "seed": [1, 2, 3]}}

    def asked(run_of: Callable[[Mapping[str, Any]], Any], count: int = 10**6, **question_: Any) -> list[Comparison]:
        return answers(means, {**question, **question_}, table=table, run_of=run_of, count=count)[:2]

    def named(values: Mapping[str, Any], seed: int) -> str:
        return f"{values['scheme']} {values['input']} {values['load']}" + " " * seed

    for one in asked(lambda values: named(values, 1)):
        assert (one.seeds, one.judged, one.note) == (1, "not judged", NO_REPEATS)
    for one in asked(lambda values: named(values, min(values["seed"], 2))):
        assert (one.seeds, one.effect is not None and one.effect.units) == (2, 2)
        assert one.note.endswith("; seeds that gave the same runs as others, and do not count: 1")
    for one in asked(lambda values: named(values, values["seed"] if values["scheme"] == "pgc" else 1)):
        assert (one.seeds, one.judged, "the same runs" in one.note) == (3, "lower", False), "seeds change one side"
    mean, p99 = asked(lambda values: named(values, 1), count=400, across=["input"], by=[])
    assert (mean.judged, mean.workloads) == ("lower", 3), "the interval is over workloads"
    assert p99.note.startswith("rests on about 400 independent requests of a point, 1,000 needed: about 1,000 requests a run would do")


def test_a_change_may_depend_on_an_axis_of_lists() -> None:
    grid = {"scheme": ["npgc", "pgc", "rwp"], "scheduler.suspend": [[], ["program"]], "input": TABLE["grid"]["input"], "load": [0.5]}
    question = {"compare": "scheme", "values": ["pgc"], "figures": ["mean"], "depends_on": "scheduler.suspend"}
    (one,) = answers({"npgc": 1.0, "pgc": 0.7, "rwp": 1.0}, question, table={"grid": {**grid, "seed": [1, 2]}})
    assert (one.at, one.judged) == ({"scheduler.suspend": ["program"]}, "tie")
    assert in_words([one])[0].rows[0][1] == '["program"]'


def test_the_size_of_a_change_against_an_overload_is_conditional() -> None:
    question = {"compare": "scheme", "values": ["pgc"], "figures": ["mean", "write-amplification"]}
    mean, amplification = answers({"npgc": 1.0, "pgc": 0.7, "rwp": 1.0}, question, overloaded=("npgc",))
    assert mean.judged == "lower"
    assert mean.note == "12 of 24 points are overloaded: how large the change is depends on the length of the runs"
    assert (amplification.judged, amplification.note) == ("lower", "")
    mean, _ = answers({"npgc": 1.0, "pgc": 0.7, "rwp": 1.0}, question, overloaded=("npgc", "pgc"))
    assert mean.note.startswith("24 of 24 points are overloaded"), "above their capacity too"


def test_points_that_were_offered_other_rates_are_said() -> None:
    means = {"npgc": 1.0, "pgc": 0.7, "rwp": 1.0}
    questions = {"compare": "scheme", "figures": ["mean"]}, {"compare": "load", "figures": ["mean"]}
    pgc, rwp, load = answers(means, *questions, sustained={"npgc": 1000, "pgc": 1260, "rwp": 1000})
    assert pgc.note == "offered +26% requests/s, each a share of what it sustains: load_of compares at one rate"
    assert (rwp.note, load.note) == ("", "")


def test_one_workload_says_so() -> None:
    (one,) = answers({"npgc": 1.0, "pgc": 0.7, "rwp": 1.0}, {"compare": "scheme", "values": ["pgc"], "by": ["input"], "figures": ["mean"]})[
        :1
    ]
    assert (one.workloads, one.note) == (1, "no axis in across: the interval is over seeds, not over workloads")


def test_a_figure_that_no_run_has_is_not_judged() -> None:
    one, *_ = answers({"npgc": 1.0, "pgc": 0.7, "rwp": 1.0}, {"compare": "scheme", "figures": ["slc.folds"]})
    assert (one.judged, one.note) == ("not judged", "no run has the figure, or it is 0")


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({}, r"questions\[0\]: expected \[\[questions\]\] with compare"),
        ({"compare": "schema"}, "compare = .schema.: no such axis.*scheme"),
        ({"compare": "seed"}, "no such axis"),
        ({"compare": "scheme", "against": "npc"}, "npc is no value of the axis.*npgc"),
        ({"compare": "scheme", "values": ["npgc"]}, "compared with nothing"),
        ({"compare": "scheme", "figures": ["p 99"]}, "expected mean, p99"),
        *(({"compare": "scheme", "figures": [name]}, "no such figure") for name in ("p95", "p999", "gc", "seed", "gc.xy", "config.x")),
        ({"compare": "scheme", "figures": ["mena"]}, "no such figure.*mean"),
        ({"compare": "scheme", "figures": ["latency_ns.reads.p99"]}, "no such figure.*latency_ns.read.p99"),
        ({"compare": "scheme", "by": 5}, "by = 5: expected a list"),
        ({"compare": "scheme", "by": [["load"]]}, "by = .*: no such axis"),
        ({"compare": "scheme", "figures": []}, r"figures = \[\]: expected at least one, such as p99"),
        ({"compare": "scheme", "by": ["scheme"]}, "scheme has two uses"),
        ({"compare": "scheme", "figure": ["p99"]}, "figure"),
        ({"compare": "scheme", "depends_on": "laod"}, "depends_on = .laod.: no such axis.*load"),
    ],
)
def test_mistakes_are_found_before_the_runs(question: dict[str, Any], message: str) -> None:
    with pytest.raises(ssdlab.ConfigError, match=message):
        define("sweep", {**TABLE, "questions": [question]})


KEYS = "".join(f'"{key}" = {value_text(value)}\n' for key, value in {**DRIVE, "workload.read_share": 0.5}.items() if key != "gc.soft")
SWEEP = f'requests = 2000\n[set]\n{KEYS}[grid]\nscheme = ["npgc", "pgc"]\n"workload.request_kb" = [4, 16]\nseed = [1, 2, 3]\n'
STATED = '[[questions]]\ncompare = "scheme"\nfigures = ["mean", "p99"]\nacross = ["workload.request_kb"]\n'
LATER = '[[questions]]\ncompare = "workload.request_kb"\nfigures = ["iops"]\n'


def test_questions_that_come_after_results_are_marked(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    file = tmp_path / "asked.toml"
    file.write_text(SWEEP + STATED)
    first = ssdlab_command("sweep", "asked.toml", "--out", "out").out
    assert "scheme against npgc" in first
    rows = pcsv.read_csv(tmp_path / "out" / "comparisons.csv").to_pylist()
    assert [(row["chosen"], row["workloads"], row["seeds"]) for row in rows] == [("before", 2, 3)] * 2
    assert "independent requests of a point, 1,000 needed" in rows[1]["note"] or rows[1]["judged"] != "not judged"
    file.write_text(SWEEP + STATED + LATER)
    shown = ssdlab_command("sweep", "asked.toml", "--out", "out", "--resume", "--json").json()
    assert [row["chosen"] for row in shown["comparisons"]] == ["before", "before", "after"]
    assert shown["comparisons"][0]["p"] == pytest.approx(rows[0]["p"])
    kept = json.loads((tmp_path / "out" / "questions.json").read_text())
    assert (len(kept["stated"]), len(kept["after"])) == (1, 1)
    found = ssdlab.load(tmp_path / "out")
    assert isinstance(found, ssdlab.SweepResult)
    assert [one.chosen for one in found.comparisons] == ["before", "before", "after"]
    again = ssdlab_command("sweep", "asked.toml", "--out", "out", "--resume", "--json").json()
    assert [row["chosen"] for row in again["comparisons"]] == ["before", "before", "after"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "<h2>Questions</h2>" in page
    assert page.count("asked after results were there") >= 1


@pytest.mark.parametrize("kept", [{"series": False}, {"out": None}])
def test_requests_that_wait_for_each_other_count_without_a_kept_record_over_time(kept: dict[str, Any], tmp_path: Path) -> None:
    """Large sweeps keep none; each run would otherwise count as if all its requests were independent."""
    options = {"set": {**DRIVE, "workload.read_share": 0.5}, "requests": 3000, "questions": [{"compare": "scheme"}]}
    grid = {"scheme": ["npgc", "pgc"], "seed": [1, 2]}
    full = ssdlab.sweep(grid, out=tmp_path / "full", **options)
    found = ssdlab.sweep(grid, **{"out": tmp_path / "bare", **options, **kept})
    assert [point.independent_share for point in found] == [point.independent_share for point in full]
    assert all(0 < point.independent_share < 0.9 and "series" not in point.result for point in found)
    assert [one.note for one in found.comparisons] == [one.note for one in full.comparisons]
    assert "independent requests of a point, 1,000 needed" in found.comparisons[0].note


def test_tables_without_a_row_are_those_that_were_asked_for() -> None:
    found = ssdlab.sweep({"scheme": ["npgc", "pgc"]}, requests=20, set=DRIVE)
    assert found.to_csv(comparisons=True).decode().strip() == ",".join(f'"{name}"' for name in COLUMNS)
    assert b"latency" not in found.to_csv(parts=True)


def test_every_number_of_a_run_can_be_asked_for() -> None:
    table = {"grid": {"scheme": ["npgc", "pgc"], "load": [0.5]}, "columns": {"moved": "gc.pages_moved / gc.jobs"}}
    found = ssdlab.sweep(**table, set={**DRIVE, "workload.read_share": 0.5}, requests=3000)
    names = sorted(found[0].measures)
    assert {"capacity.iops", "counters.bus_lines", "latency_ns.read.p99_9", "moved"} <= {*names}
    (question,) = define("sweep", {**table, "questions": [{"compare": "scheme", "figures": names}]}).questions
    assert list(question.figures) == names


def test_columns_are_judged_as_the_figures_that_they_are_calculated_from(tmp_path: Path) -> None:
    options = {"set": {**DRIVE, "workload.read_share": 0.5}, "requests": 3000, "columns": {"p99_us": "latency_ns.all.p99 / 1000"}}
    found = ssdlab.sweep(
        {"scheme": ["npgc", "pgc"], "seed": [1, 2]},
        questions=[{"compare": "scheme", "figures": ["p99_us"]}],
        out=tmp_path / "out",
        series=False,
        **options,
    )
    (one,) = found.comparisons
    assert (one.judged, "independent requests of a point, 1,000 needed" in one.note) == ("not judged", True)
    again = ssdlab.load(tmp_path / "out")
    assert isinstance(again, ssdlab.SweepResult)
    assert [one.note for one in again.comparisons] == [one.note]
    assert again.table().equals(found.table())


def test_percentiles_are_not_judged_where_independent_requests_were_not_counted() -> None:
    question = {"compare": "scheme", "figures": ["mean", "p99"]}
    mean, p99, *_ = answers({"npgc": 1.0, "pgc": 0.7, "rwp": 1.0}, question, share=0.0)
    assert (mean.judged, p99.judged) == ("lower", "not judged")
    assert p99.note == f"24 of 24 points were {UNCOUNTED}"


def test_what_was_chosen_after_results_is_not_stated_before(tmp_path: Path) -> None:
    def asked(schemes: list[str], seeds: int, **more: Any) -> list[tuple[str, str]]:
        found = ssdlab.sweep(
            {"scheme": schemes},
            seeds=seeds,
            questions=[{"compare": "scheme", "figures": ["mean"], **more}],
            set=DRIVE,
            requests=20,
            out=tmp_path / "out",
            resume=(tmp_path / "out").exists(),
        )
        again = ssdlab.load(tmp_path / "out")
        assert isinstance(again, ssdlab.SweepResult)
        assert [one.chosen for one in again.comparisons] == [one.chosen for one in found.comparisons]
        return [(one.value, one.chosen) for one in found.comparisons]

    three = ["npgc", "pgc", "rwp"]
    assert asked(three, 2) == [("pgc", "before"), ("rwp", "before")]
    assert asked(three, 3) == [("pgc", "after"), ("rwp", "after")], "seeds were added"
    assert asked([*three, "fpgc"], 2) == [("pgc", "before"), ("rwp", "before"), ("fpgc", "after")], "a value was added"
    assert asked([*three, "fpgc"], 2) == [("pgc", "before"), ("rwp", "before"), ("fpgc", "after")], "still"
    assert asked(three, 2, values=["rwp"]) == [("rwp", "after")], "a value was left out"
    assert asked(three, 2) == [("pgc", "before"), ("rwp", "before")]


def test_answers_fit_into_80_columns() -> None:
    """Several figures, one of them by its path, and two axes of `by`."""
    questions = [
        {"compare": "scheme", "figures": ["mean", "p99.9", "latency_ns.read.p99_9"]},
        {"compare": "scheme", "by": ["load", "input"], "figures": ["p99.9"]},
    ]
    found = in_words(answers({"npgc": 1.0, "pgc": 0.7, "rwp": 1.0}, *questions, count=4000))
    assert [(one.heads[0], len(one.rows)) for one in found] == [("scheme", 6), ("scheme", 12)]
    for one in found:
        widths = [max(map(len, column)) for column in zip(one.heads, *one.rows, strict=True)]
        assert sum(widths) + 2 * len(widths) <= 80
    (read,) = [note for note in found[0].notes if note.endswith("no run has the figure, or it is 0")]
    assert read.startswith("pgc, latency_ns.read.p99_9; rwp, latency_ns.read.p99_9: ")
    assert len(found[1].notes) == 2
    assert "pgc" not in found[1].notes[0]


def test_how_to_ask_about_other_pairs_is_said_where_none_does() -> None:
    means, hint = {"npgc": 1.0, "pgc": 0.7, "rwp": 1.0}, 'other pairs: a further question with against = "pgc"'
    question = {"compare": "scheme", "figures": ["mean"]}
    assert [one.notes for one in in_words(answers(means, question))] == [[hint]]
    assert [one.notes for one in in_words(answers(means, question, {**question, "against": "pgc", "values": ["rwp"]}))] == [[], []]
    assert [one.notes for one in in_words(answers(means, {**question, "values": ["rwp"]}))] == [[]], "one pair was chosen"
