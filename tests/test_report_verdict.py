"""The report's words on the outcome: ties, noise, costs of a gain, a description of the runs, and their uncertainty."""

from __future__ import annotations

import copy
import math
import random
import re
import statistics
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import SMALL
from ssdlab.experiments.saved_pages import write_again
from ssdlab.pages.report import figures, noise
from ssdlab.pages.report.about import facts
from ssdlab.pages.report.changes import as_good
from ssdlab.pages.report.drawing import Heat, Plot
from ssdlab.pages.report.frame import DASHES, swatch
from ssdlab.pages.report.page_remarks import of as page_remarks
from ssdlab.pages.report.page_remarks import warnings
from ssdlab.pages.report.runs import Runs, load
from ssdlab.pages.report.summary import overview, summary
from ssdlab.pages.report.verdict import remarks, verdict
from ssdlab.system.json_text import json_text

MINUS = "\N{MINUS SIGN}"
BINS, EACH = 200, 50


def made(times: Sequence[float]) -> dict[str, Any]:
    """A result of reads with these response times, the same number in each bin."""
    ordered = sorted(times)
    each = len(times) // BINS
    bins = [times[each * index : each * (index + 1)] for index in range(BINS)]
    counts = {"count": [each] * BINS, "mean": [statistics.fmean(times_) for times_ in bins], "max": [max(times_) for times_ in bins]}
    percentiles = {
        name: ordered[math.ceil(len(times) * share) - 1]
        for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99_9", 0.999), ("p99_99", 0.9999))
    }
    latency = {
        "count": len(times),
        "mean": statistics.fmean(times),
        "variance": statistics.pvariance(times),
        "min": ordered[0],
        "max": ordered[-1],
        **percentiles,
    }
    return {
        "latency_ns": {"all": latency, "read": latency},
        "series": {"bins": BINS, "bin_ns": 1000, "latency_ns": {"read": counts}},
        "histograms": {"read": {"upper_ns": ordered, "count": [1] * len(times)}},
    }


def pair(seed: int, ratio: float, *, requests: int = BINS * EACH, calm: float = 0.5) -> tuple[dict[str, Any], dict[str, Any]]:
    """One load under two schemes: response times per bin vary from `calm` to twice that; the second takes `ratio` times as long."""
    rng = random.Random(seed)
    loads = [rng.uniform(calm, 2.0) for _ in range(BINS)]
    first, second = ([1e6 * by * load * rng.expovariate(1.0) for load in loads for _ in range(requests // BINS)] for by in (1.0, ratio))
    return made(first), made(second)


def told(*results: dict[str, Any], **more: Any) -> Runs:
    return Runs.of({f"s{index}": data for index, data in enumerate(results)}, **more)


# ---- noise -----------------------------------------------------------------------------------------------------------


@pytest.mark.full
def replay(runs: Runs) -> None:
    """Makes the runs those of a trace, which has as many requests as it has, and no seeds."""
    for run in runs:
        run.data["config"] = {"workload": {"trace": "t.csv"}}


def test_intervals_of_means_cover_as_often_as_they_say() -> None:
    ratio, runs = 0.9, 200
    covered = 0
    for seed in range(runs):
        found = told(*pair(seed, ratio))
        half = noise.scatter(found[0], found[1])
        assert half is not None
        actual = found[1].at("latency_ns.all.mean") / found[0].at("latency_ns.all.mean")
        covered += abs(actual - ratio) <= half
    assert 0.90 * runs <= covered <= 0.99 * runs, covered


@pytest.mark.full
def test_intervals_of_p99_cover_as_often_as_they_say() -> None:
    ratio, runs = 0.8, 100
    covered = 0
    for seed in range(runs):
        found = told(*pair(seed, ratio, calm=1.8))
        half = noise.tail_scatter(found[0], found[1], 0.99)
        assert half is not None
        covered += abs(found[1].at("latency_ns.all.p99") / found[0].at("latency_ns.all.p99") - ratio) <= half
    assert 0.85 * runs <= covered, covered


def test_the_percentile_with_an_interval_is_that_of_the_run() -> None:
    run = told(pair(1, 1.0, calm=1.8)[0])[0]
    found = noise._percentile(run, 0.99)
    assert found is not None
    assert found[0] == run.at("latency_ns.all.p99")


def test_the_load_that_both_had_is_no_noise() -> None:
    """With equal requests, each a tenth faster in one run, the difference is sure for any load."""
    first, _ = pair(1, 1.0)
    second = copy.deepcopy(first)
    second["series"]["latency_ns"]["read"]["mean"] = [0.9 * mean for mean in first["series"]["latency_ns"]["read"]["mean"]]
    second["latency_ns"]["all"]["mean"] *= 0.9
    found = told(first, second)
    half = noise.scatter(found[0], found[1])
    assert half == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("lacking", ["series", "few"])
def test_runs_too_short_for_an_interval_say_so(lacking: str) -> None:
    first, second = pair(1, 0.5, requests=BINS if lacking == "few" else BINS * EACH)
    if lacking == "series":
        first.pop("series")
    found = told(first, second)
    assert noise.scatter(found[0], found[1]) is None
    what = {"series": "p99", "few": "mean"}[lacking]
    assert verdict(found).startswith(f"s1 had the shortest {what} response time in this run: ")
    assert any(text.startswith("Noise was not judged: one seed") and "--seeds 5" in text for text in remarks(found))
    replay(found)
    assert not [text for text in remarks(found) if "--seeds" in text]


def test_a_difference_within_the_noise_is_a_tie() -> None:
    first, second = pair(3, 1.0)
    found = told(first, second)
    assert verdict(found) == "The schemes tie at the p99 response time."
    assert re.match(r"The difference, [\d.]+ %, is within what repeats would scatter \(± ", remarks(found)[0])
    assert not any(cell.best for row in overview(found) for cell in row.cells if row.place in ("latency_ns.all.mean", "latency_ns.all.p99"))
    row = next(row for row in overview(found) if row.place == "latency_ns.all.p99")
    assert row.cells[1].difference.endswith("% tie")


def test_a_difference_beyond_the_noise_has_its_interval() -> None:
    found = told(*pair(3, 0.5))
    assert re.fullmatch(r"s1 has the shortest p99 response time: [\d.]+ ms, \N{MINUS SIGN}\d\d\.\d % against s0\.", verdict(found))
    assert "± from the 20 parts of one run; compare --seeds 5 measures it." in remarks(found)
    replay(found)
    assert "± from the 20 parts of one run." in remarks(found)


def test_a_tail_that_was_not_judged_leaves_the_lead_to_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise, "tail_scatter", lambda *_: None)
    found = told(*pair(3, 0.5))
    assert re.fullmatch(r"s1 has the shortest mean response time: [^:]* against s0\.", verdict(found))
    assert remarks(found)[0].startswith("p99 is not ranked: too few independent samples; compare --seeds 5")
    replay(found)
    assert not [text for text in remarks(found) if "--seeds" in text]


def test_a_tail_of_too_few_independent_requests_says_how_many_would_do() -> None:
    """Each half of the requests takes one of two times: of 10,000, as many are independent as there are such stretches."""
    times = [1000.0 + (9000.0 if index // 2500 % 2 else 0.0) + index % 7 for index in range(10_000)]
    found = told(made(times), made([time / 2 for time in times]))
    some, every = noise.independent(found[0]) or (0.0, 0.0)
    # the parts' means scatter as single requests do: 20 parts, less one
    assert (round(some), every) == (19, 10_000)
    assert "about 19 independent samples, 1,000 needed; about 500,000 requests have them" in remarks(found)[0]
    replay(found)
    assert "requests" not in remarks(found)[0], "a trace has as many as it has"


@pytest.mark.parametrize("requests", [999, 100_000])
def test_percentiles_of_too_few_requests_win_nothing(requests: int) -> None:
    found = told(of(count=requests), of(count=requests, mean=8e5, p99=3e7, p99_9=1e7), of(count=requests, p99=5e6))
    row = next(row for row in overview(found) if row.place == "latency_ns.all.p99")
    enough = requests > 1000
    assert [cell.best for cell in row.cells] == [False, False, enough]
    assert [bool(cell.worse) for cell in row.cells] == [False, enough, False]
    assert any("at the cost of a worse tail (p99 " in text for text in remarks(found)) == enough
    assert verdict(found).startswith(f"s{2 if enough else 1} had the shortest {'p99' if enough else 'mean'} response time in this run")
    assert ("p99 is not ranked: fewer than 10 requests took longer." in remarks(found)) != enough


def test_whichever_scheme_comes_first_ties_are_the_same() -> None:
    found = set()
    for seed in range(20):
        runs = told(*pair(seed, 0.96))
        both = {as_good(runs, *order, place) for place in ("latency_ns.all.mean",) for order in ((runs[0], runs[1]), (runs[1], runs[0]))}
        assert len(both) == 1
        found |= both
    assert found == {False, True}, "nothing was close"


# ---- several seeds ---------------------------------------------------------------------------------------------------


def with_seeds(relative: float, half: float) -> Runs:
    """Runs with the data that `compare --seeds` writes."""
    place = "latency_ns.all.p99"
    seeds = {
        "seeds": [1, 2, 3],
        "level": 0.95,
        "schemes": {
            "s0": {place: {"mean": 2_000_000.0, "half_width": 50_000.0}},
            "s1": {place: {"mean": 2_000_000.0 * (1 + relative), "half_width": 60_000.0}},
        },
        "against": "s0",
        "differences": {"s1": {place: {"relative": relative, "half_width": half}}},
    }
    times = {"mean": 1_000_000.0, "p99": 1_900_000, "count": 5000}
    return told({"latency_ns": {"all": times}, "seed": 1}, {"latency_ns": {"all": times}, "seed": 1}, seeds=seeds)


def test_differences_over_seeds_have_their_intervals() -> None:
    found = with_seeds(-0.25, 0.02)
    assert verdict(found) == f"s1 has the shortest p99 response time: 1.50 ms, {MINUS}25.0 % against s0."
    assert remarks(found) == ["Means over 3 seeds; ± is the 95 % interval of each.", "Figures and workload are those of seed 1."]
    row = next(row for row in overview(found) if row.place == "latency_ns.all.p99")
    assert [cell.text for cell in row.cells] == ["2.00 ± 0.05 ms", "1.50 ± 0.06 ms"]
    assert row.cells[1].difference == f"{MINUS}25.0 ± 2.0 %"
    assert [cell.best for cell in row.cells] == [False, True]


def test_an_interval_over_seeds_that_includes_none_is_a_tie() -> None:
    found = with_seeds(-0.012, 0.02)
    assert verdict(found) == "The schemes tie at the p99 response time."
    assert remarks(found)[0].startswith("The difference, 1.2 %, is within")
    row = next(row for row in overview(found) if row.place == "latency_ns.all.p99")
    assert (row.cells[1].difference, row.cells[1].best) == (f"{MINUS}1.2 ± 2.0 % tie", False)


def test_winners_that_tie_are_not_said_to_tie_with_the_first() -> None:
    place = "latency_ns.all.p99"
    changes = {"pgc": -0.424, "fpgc": -0.42}
    schemes = {name: {place: {"mean": 142.7e6 * (1 + by), "half_width": 1e6}} for name, by in {"npgc": 0.0, **changes}.items()}
    differences = {name: {place: {"relative": by, "half_width": 0.033}} for name, by in changes.items()}
    # Seed by seed, one is ahead and then the other.
    values = {"npgc": {place: [142e6, 143e6]}, "pgc": {place: [81.0e6, 83.4e6]}, "fpgc": {place: [83.0e6, 82.5e6]}}
    seeds = {"seeds": [1, 2], "schemes": schemes, "values": values, "against": "npgc", "differences": differences}
    times = {"latency_ns": {"all": {"p99": 1, "count": 5000}}, "seed": 1}
    found = Runs.of(dict.fromkeys(schemes, times), seeds=seeds)
    assert verdict(found) == f"pgc and fpgc share the shortest p99 response time: 82.2 ms, {MINUS}42.4 % against npgc."
    assert remarks(found)[0] == "pgc and fpgc differ by less than the noise."


def test_seeds_of_a_saved_comparison_are_read(tmp_path: Path) -> None:
    compared = ssdlab.compare(schemes=["npgc", "pgc"], set=SMALL, requests=200)
    place = "latency_ns.all.mean"
    schemes = {scheme: {place: {"mean": 5e6, "half_width": 1e5}} for scheme in compared}
    differences = {"pgc": {place: {"relative": -0.1, "half_width": 0.01}}}
    seeds = {"seeds": [1, 2], "level": 0.95, "schemes": schemes, "against": "npgc", "differences": differences}
    (tmp_path / "comparison.json").write_text(json_text({**compared.to_dict(), "seeds": seeds}))
    write_again(tmp_path, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "Means over 2 seeds" in text
    assert "<dt>Seeds</dt><dd>1, 2</dd>" in text
    assert f"{MINUS}10.0 ± 1.0 %" in text


# ---- costs, pairs, warm-up -------------------------------------------------------------------------------------------


def of(**times: float) -> dict[str, Any]:
    return {"latency_ns": {"all": {"mean": 1e6, "p99": 1e7, "p99_9": 2e7, "count": 100_000} | times}}


def test_a_better_mean_at_the_cost_of_the_tail_is_said() -> None:
    found = told(of(), of(mean=8e5, p99=1.3e7))
    assert f"s1 has a better mean ({MINUS}20.0 %) at the cost of a worse tail (p99 +30.0 %) than s0." in remarks(found)
    found = told(of(), of(mean=8e5, p99_9=2.6e7))
    assert f"s1 has a better mean ({MINUS}20.0 %) at the cost of a worse tail (p99.9 +30.0 %) than s0." in remarks(found)
    assert not any("cost" in text for text in remarks(told(of(), of(mean=8e5, p99=9e6))))


def test_less_load_is_no_better_drive() -> None:
    """A run with a longer time between arrivals is shorter in every figure, and wins nothing."""
    slow, fast = ({**one, "config": {"workload": {"time_scale": scale}}} for one, scale in zip(pair(3, 0.5), (1.0, 0.5), strict=True))
    found = told(slow, fast)
    assert not found.one_load
    assert "different loads" in verdict(found)
    assert not any(cell.best for row in overview(found) for cell in row.cells)
    assert "s1 has the shortest" in verdict(told(slow, {**fast, "config": slow["config"]}))


def test_reads_that_gain_what_writes_pay_are_said() -> None:
    one, other = ({"latency_ns": {"read": {"mean": reads}, "write": {"mean": writes}}} for reads, writes in ((1e6, 1e6), (5e5, 2e6)))
    assert remarks(told(one, other)) == [f"Under s1 the mean response time of reads changes by {MINUS}50.0 %, that of writes by +100.0 %."]


def test_schemes_of_collection_that_had_nothing_to_do_are_told_of() -> None:
    idle, busy = ({**of(), "gc": {"jobs": jobs}} for jobs in (0, 3))
    said = "Garbage collection did not run under any scheme: schemes of collection cannot differ."
    assert said in warnings(page_remarks(told(idle, idle)))
    assert said not in warnings(page_remarks(told(idle, busy)))


def test_volumes_that_are_overlaid_are_told_of_on_the_page(tmp_path: Path) -> None:
    lines = [f"{at * 1000},host,{at % 2},Read,{4096 * at},4096,0" for at in range(20)]
    (tmp_path / "two.csv").write_text("\n".join(lines) + "\n")
    drive = {key: value for key, value in SMALL.items() if not key.startswith("workload.")}
    ssdlab.run(set=drive, trace=tmp_path / "two.csv", format="msr").report(tmp_path / "report.html")
    assert "2 volumes share one address space, their addresses overlaid" in (tmp_path / "report.html").read_text()


def test_the_same_requests_one_by_one_are_told_of() -> None:
    paired = {"against": "s0", "s1": {"all": {"requests": 10, "faster": 0.5, "slower": 0.2, "same": 0.3, "gain_ns": 2e6, "loss_ns": 1e6}}}
    assert remarks(told(of(), of(), paired=paired))[-1] == (
        "The same requests one by one, s1 against s0: 50.0 % were faster (by 2.00 ms), 20.0 % were slower (by 1.00 ms)."
    )


def test_a_warm_up_that_is_left_out_is_said() -> None:
    runs = told({**of(), "warm_up": {"requests": 1234, "ns": 17_000_000_000}})
    assert remarks(runs) == ["Figures leave out the warm-up: the first 17.0 s, 1,234 requests."]


def test_of_several_seeds_the_warm_up_of_one_is_not_told_as_that_of_all() -> None:
    found = with_seeds(-0.25, 0.02)
    warm_up = {"requests": 671, "ns": 2_000_000_000}
    for command, words in (("ssdlab run --warm-up 2s", "2.00 s"), ("ssdlab run --warm-up 671", "671 requests")):
        data = {run.label: {**run.data, "warm_up": warm_up, "command": command} for run in found}
        assert remarks(Runs.of(data, seeds=found.seeds))[-1] == f"Figures leave out the warm-up: the first {words}."


# ---- what was simulated ----------------------------------------------------------------------------------------------


def test_drive_workload_and_overrides_are_told_in_words() -> None:
    result = ssdlab.run(
        device="lee2013", scheme="npgc", workload="lee2013-synthetic", requests=50, set={"gc.soft": 0.06, "ftl.precondition.kind": "none"}
    )
    found = dict(facts(Runs.of({"npgc": result.to_dict()})))
    assert found["Drive"] == (
        "lee2013, 8 channels \N{MULTIPLICATION SIGN} 1 chip \N{MULTIPLICATION SIGN} 1 die, 32 GiB of flash in pages of 4 KiB, "
        "over-provisioning 15 %; read 25.0 µs, program 200 µs, erase 1.50 ms"
    )
    assert re.fullmatch(r"lee2013-synthetic: 50 requests in [\d.]+ ms, \d+ % reads", found["Workload"])
    assert found["Set by hand"] == "gc.soft = 0.06, ftl.precondition.kind = none"
    assert "Array" not in found
    assert "Cache" not in found


def test_the_time_of_the_workload_is_that_of_the_requests_without_warm_up() -> None:
    result = ssdlab.run(set=SMALL, requests=400).to_dict()
    part = {**result, "simulated_ns": 60_000_000_000, "warm_up": {"requests": 5, "ns": 20_000_000_000}}
    assert "requests in 40.0 s" in dict(facts(Runs.of({"npgc": part})))["Workload"]


def test_an_array_with_a_cache_is_named() -> None:
    config = {**SMALL, "array.level": "rais5", "array.drives": 3, "cache.policy": "lru", "cache.bytes": 65536}
    result = ssdlab.run(set=config, requests=400, series=True)
    runs = Runs.of({"run": result.to_dict()})
    found = dict(facts(runs))
    assert found["Array"] == "RAIS5 of 3 drives, stripes of 64 KiB"
    assert found["Cache"] == "lru of 64 KiB, in front of the drive"
    assert "each drive: 2 channels" in found["Drive"]
    figure = figures.gc(runs)
    assert figure is not None
    plot = figure.plots[0]
    assert isinstance(plot, Plot)
    heat = plot.panels[0].marks[0]
    assert isinstance(heat, Heat)
    assert heat.drives == 3
    assert heat.things == len(result.utilisation.chips)
    assert heat.things % 3 == 0


# ---- the tables ------------------------------------------------------------------------------------------------------


def test_percentiles_of_too_few_requests_are_marked() -> None:
    times = {"count": 2000, "p99": 5, "p99_9": 6, "p99_99": 7, "max": 7}
    runs = told({"latency_ns": {"all": times, "read": times, "write": times}})
    rows = {row.place: row.cells[0].few for group in summary(runs) for row in group.rows}
    assert rows["latency_ns.all.p99"] == ""
    assert rows["latency_ns.all.p99_9"] == "2 of 2,000 requests took longer"
    assert rows["latency_ns.all.p99_99"] == "0 of 2,000 requests took longer"
    assert rows["latency_ns.all.max"] == ""


def test_a_collection_that_is_seven_times_longer_is_marked() -> None:
    runs = told(*({"gc": {"duration_ns": {"max": longest, "mean": 1e6}, "jobs": 5}} for longest in (1e7, 7e7, 1.5e7)))
    row = next(row for row in overview(runs) if row.place == "gc.duration_ns.max")
    assert [cell.worse for cell in row.cells] == ["", "7 times worse than the first", ""]
    assert row.cells[1].difference == "\N{MULTIPLICATION SIGN} 7.0"


def test_requests_are_counted_in_the_table(tmp_path: Path) -> None:
    result = ssdlab.run(set=SMALL, requests=300)
    result.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    for kind in ("read", "write"):
        assert f'data-place="requests.{kind}" data-value="{result["requests"][kind]}"' in text


def test_twenty_schemes_look_different() -> None:
    assert len({swatch(run) for run in range(24)}) == 24
    assert DASHES[0] == "none"


def test_results_of_before_have_a_report(tmp_path: Path) -> None:
    """Without what later versions added."""
    compared = ssdlab.compare(schemes=["npgc", "pgc"], set=SMALL, requests=300, series=True).to_dict()
    for run in compared["runs"].values():
        run.pop("warm_up", None)
    compared.pop("seeds", None)
    (tmp_path / "comparison.json").write_text(json_text(compared))
    assert write_again(tmp_path, tmp_path / "report.html").about == "npgc, pgc"
    assert load(tmp_path).seeds == {}


# ---- why -------------------------------------------------------------------------------------------------------------


def with_parts(mean: float, **parts: float) -> dict[str, Any]:
    """A result whose mean has these parts."""
    data = made([mean] * (BINS * EACH))
    return {**data, "breakdown_ns": {"all": {"gc": 0.0, "array": 0.0, "die_queue": 0.0, **parts}}}


def reasons(*results: dict[str, Any]) -> list[str]:
    return [line for line in remarks(told(*results)) if line.startswith("Why")]


def test_the_parts_that_make_most_of_the_difference_are_named() -> None:
    first, second = (
        with_parts(100_000, gc=70_000, array=20_000, die_queue=10_000),
        with_parts(45_000, gc=10_000, array=30_000, die_queue=5_000),
    )
    (line,) = reasons(first, second)
    assert line == "Why s1 is faster than s0 on average: waiting for garbage collection 10.0 µs instead of 70.0 µs."
    (line,) = reasons(second, first)
    assert line.startswith("Why s1 is slower than s0")


def test_of_several_the_one_that_differs_most_is_explained() -> None:
    near, far = with_parts(90_000, gc=60_000, array=30_000), with_parts(40_000, gc=10_000, array=30_000)
    (line,) = reasons(with_parts(100_000, gc=70_000, array=30_000), near, far)
    assert line.startswith("Why s2 is faster")


def test_a_tie_has_no_reason() -> None:
    same = with_parts(100_000, gc=70_000, array=30_000)
    assert reasons(same, copy.deepcopy(same)) == []


@pytest.mark.full
def test_the_demonstration_shows_a_drive_in_use_whose_schemes_differ(tmp_path: Path) -> None:
    """What `make demo` runs: collection from the start, differences of more than a tenth, and the report says why.

    The test of the README runs it too, and compares the table.
    """
    trace = Path(__file__).parents[1] / "traces" / "mariadb_oltp_write_only_paced.csv.zst"
    runs = ssdlab.compare(device="nvme-4g", schemes=["pgc", "fpgc", "nvme"], trace=trace, out=tmp_path)
    means = [runs[scheme].latency.all.mean for scheme in ("pgc", "fpgc", "nvme")]
    assert all(after < 0.9 * before for before, after in pairwise(means))
    for result in runs.values():
        assert result.precondition.valid_share > 0.7
        assert result.gc.write_amplification > 2
        moved = result.series.gc.pages_moved
        assert sum(sum(row) if isinstance(row, list) else row for row in moved[: len(moved) // 10]) > 0
    runs.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "Why nvme is faster than pgc on average: waiting for garbage collection" in page


def test_a_size_that_fit_chose_is_told_as_fit(tmp_path: Path) -> None:
    """Drives of several shapes get one size, so that the commands of the runs have it in place of `--fit`."""
    variants: Any = {"a": {}, "b": {"set": {"device.pages_per_program": 1}}}
    compared = ssdlab.compare(variants=variants, device="nvme-4g", schemes=["nvme"], fit="1GiB", requests=20, out=tmp_path)
    assert "--fit" in str(compared["a"].command)
    assert "device.blocks_per_plane=" in str(compared["b"].command)
    found = dict(facts(load(tmp_path)))
    assert found["Set by hand for all"] == "fit 1GiB", compared["a"].command


def test_a_job_file_is_named_as_the_workload(tmp_path: Path) -> None:
    (tmp_path / "two.fio").write_text("[a]\nioengine=libaio\nrw=randread\nbs=4k\nsize=10%\nio_size=64k\n")
    result = ssdlab.run(device="demo-4g", fio=tmp_path / "two.fio").to_dict()
    found = dict(facts(Runs.of({"npgc": result})))
    assert found["Workload"].startswith("jobs two.fio: ")
    assert "two.fio" not in found.get("Set by hand", "")
