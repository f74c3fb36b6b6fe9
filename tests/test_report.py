"""The report: its numbers equal those of the results, it loads no other resources, and damage is reported."""

from __future__ import annotations

import copy
import json
import re
import shlex
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import AGED, SMALL, SMALL_OPTIONS, Ssdlab, fill
from made_up_series import with_series
from ssdlab.experiments.saved_pages import write_again
from ssdlab.pages import report
from ssdlab.pages.report import figures
from ssdlab.pages.report.configuration import settings
from ssdlab.pages.report.drawing import Bars, Curve, Heat, Plot, Rule, Steps
from ssdlab.pages.report.plots import Plots
from ssdlab.pages.report.runs import Runs, command_of, load
from ssdlab.pages.report.summary import shown, summary
from ssdlab.pages.report.verdict import verdict

SCHEMES = ["npgc", "pgc", "rwp", "fpgc"]


class Cells(HTMLParser):
    """The cells with figures in a page's tables: path, exact value and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, Any, str, bool]] = []
        self._open: list[Any] | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "td" and "data-value" in given:
            assert given["data-place"] is not None
            assert given["data-value"] is not None
            self._open = [given["data-place"], json.loads(given["data-value"]), "", given.get("class") == "best"]
        elif tag == "span":
            self._close()  # what follows is the difference

    def handle_data(self, data: str) -> None:
        if self._open:
            self._open[2] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "td":
            self._close()

    def _close(self) -> None:
        if self._open:
            self.found.append((self._open[0], self._open[1], self._open[2].strip(), self._open[3]))
            self._open = None


@pytest.fixture(scope="module")
def results() -> dict[str, dict[str, Any]]:
    """Results of a small drive under four schemes."""
    compared = ssdlab.compare(schemes=SCHEMES, set={**SMALL, **AGED, "workload.request_kb": 16}, requests=3000, seed=1, series=True)
    return {scheme: result.to_dict() for scheme, result in compared.items()}


def at(data: Any, place: str) -> Any:
    for part in place.split("."):
        data = data[part]
    return data


# ---- the page's numbers ----------------------------------------------------------------------------------------------


def test_numbers_of_the_page_are_those_of_the_results(results: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    report.write(Runs.of(results), page)
    cells = Cells(page.read_text()).found
    places = list(dict.fromkeys(place for place, *_ in cells))
    for place in places:
        values = [value for found, value, _, _ in cells if found == place]
        expected = [at(results[scheme], place) for scheme in SCHEMES]
        assert values == expected * (len(values) // len(expected)), place
    texts = {(place, text) for place, _, text, _ in cells}
    npgc = results["npgc"]
    p99 = npgc["latency_ns"]["read"]["p99"]
    assert 1e6 < p99 < 1e8, "another unit than ms"
    digits = 0 if p99 >= 1e8 else 1 if p99 >= 1e7 else 2
    assert ("latency_ns.read.p99", f"{p99 / 1e6:.{digits}f} ms") in texts
    # Behind a number there may be the letters of remarks on it.
    bare = {(place, text.partition("[")[0]) for place, text in texts}
    assert ("gc.jobs", f"{npgc['gc']['jobs']:,}") in bare
    assert ("gc.write_amplification", f"{npgc['gc']['write_amplification']:.2f}") in bare
    assert {"latency_ns.all.mean", "iops", "wear.max", "counters.rmw_reads", "utilisation.chips", "wall_s"} <= set(places)


def test_what_the_page_is_about_is_in_it(results: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    report.write(Runs.of(results), page)
    text = page.read_text()
    for scheme in SCHEMES:
        assert results[scheme]["digest"] in text
    for figure in figures.FIGURES:
        assert (f'<figure id="{figure}">' in text) == (figure not in ("cache", "slc", "streams")), figure
    assert "gc.scope" in text
    assert f"<dd>{ssdlab.__version__}</dd>" in text


def row(values: list[float], place: str = "latency_ns.read.p99") -> list[tuple[str, str, bool]]:
    """Text, difference, and whether the cell is the best, for a row of synthetic values."""
    runs = {}
    for index, value in enumerate(values):
        data: dict[str, Any] = {}
        inner = data
        *path, last = place.split(".")
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
        runs[f"scheme{index}"] = data
    rows = [found for group in summary(Runs.of(runs)) for found in group.rows if found.place == place]
    assert len(rows) == 1
    return [(cell.text, cell.difference, cell.best) for cell in rows[0].cells]


def test_the_best_of_a_row() -> None:
    assert row([2_000_000, 1_500_000, 3_000_000]) == [
        ("2.00 ms", "", False),
        ("1.50 ms", "\N{MINUS SIGN}25.0 %", True),
        ("3.00 ms", "+50.0 %", False),
    ]
    # Percentiles are exact to 0.1 %: what is as close shares the mark, and if all are, none has it.
    assert [best for _, _, best in row([2_000_000, 1_500_000, 1_501_000])] == [False, True, True]
    assert [best for _, _, best in row([1_500_000, 1_501_000])] == [False, False]
    # More requests a second are better, more jobs neither better nor worse, and alone there is no best.
    assert [best for _, _, best in row([10.0, 20.0], "iops")] == [False, True]
    assert [best for _, _, best in row([10, 20], "gc.jobs")] == [False, False]
    assert row([1_000]) == [("1.00 µs", "", False)]


def test_differences_of_shares_are_points_and_large_ones_are_factors() -> None:
    assert row([0.25, 0.5], "cache.hit_ratio") == [("25.0 %", "", False), ("50.0 %", "+25.0 points", True)]
    assert row([100, 2000], "gc.pages_moved")[1][:2] == ("2,000", "\N{MULTIPLICATION SIGN} 20")
    assert row([0, 5], "gc.pages_moved") == [("0", "", True), ("5", "", False)]


def test_the_outcome_in_a_sentence() -> None:
    def of(*p99: int) -> str:
        return verdict(Runs.of({f"s{index}": {"latency_ns": {"all": {"p99": value, "mean": 1.0}}} for index, value in enumerate(p99)}))

    assert of(2_000_000, 1_000_000) == "s1 had the shortest p99 response time in this run: 1.00 ms, \N{MINUS SIGN}50.0 % against s0."
    assert of(1_000_000, 2_000_000) == "s0 had the shortest p99 response time in this run: 1.00 ms."
    assert of(1_000_000, 1_000_000) == "The schemes have the same response times."
    assert of(1_000_000, 2_000_000, 1_000_000) == "s0 and s2 shared the shortest p99 response time in this run: 1.00 ms."
    without: dict[str, Any] = {"latency_ns": {}}
    told = {"latency_ns": {"all": {"p99": 5, "mean": 5.0}}}
    for runs in ({"a": without, "b": without}, {"a": without, "b": told}):
        assert verdict(Runs.of(runs)) == "There are no response times of all schemes to compare."


def test_values_have_units() -> None:
    shapes = {"ns": "1.50 ms", "share": "150,000,000 %", "per_s": "1,500,000/s", "bytes": "1.43 MiB", "count": "1,500,000"}
    assert {unit: shown(1_500_000, unit) for unit in shapes} == shapes
    assert shown([0.5, 0.25], "share") == "50.0 %, 25.0 %"
    assert shown(None, "ns") == ""


def test_configuration_sorts_out_what_differs(results: dict[str, dict[str, Any]]) -> None:
    found = {setting.key: setting for setting in settings(Runs.of(results))}
    assert set(found) >= set(ssdlab.config_keys())
    assert found["gc.priority"].values == tuple(results[scheme]["config"]["gc"]["priority"] for scheme in SCHEMES)
    assert found["gc.priority"].differs
    assert (found["device.channels"].values, found["device.channels"].default) == (("2",) * 4, "4")
    assert (found["device.channels"].differs, found["device.channels"].chosen) == (False, True)
    assert not found["device.page_bytes"].chosen


# ---- what is drawn ---------------------------------------------------------------------------------------------------

# Ten reads: 4 took 100 ns, 5 took 200 ns, one 1000 ns.
TEN = {
    "latency_ns": {"read": {"min": 100, "max": 1000, "count": 10}},
    "histograms": {"read": {"upper_ns": [100, 200, 1000], "count": [4, 5, 1]}},
}


def curve(data: dict[str, Any], key: str) -> Curve:
    figure = figures.FIGURES[key](Runs.of({"x": data}))
    assert figure is not None
    (plot,) = figure.plots
    assert isinstance(plot, Plot)
    (mark,) = plot.panels[0].marks
    assert isinstance(mark, Curve)
    return mark


def test_distribution_worked_by_hand() -> None:
    cdf = curve(TEN, "latency_cdf")
    assert (cdf.x, cdf.y) == ([100, 100, 200, 1000], [0, 0.4, 0.9, 1.0])
    # 60 % took longer than 100 ns, 10 % longer than 200 ns; the line ends at the slowest.
    tail = curve(TEN, "latency_tail")
    assert (tail.x, tail.y) == ([100, 100, 200, 1000], [1.0, 0.6, 0.1, 0.1])


def test_requests_that_took_no_time_do_not_stretch_the_axis_to_a_nanosecond() -> None:
    """Hits of a cache without access time, and reads of pages without data: 40 of 50 here."""
    data = copy.deepcopy(TEN)
    data["latency_ns"]["read"]["min"] = 0
    data["histograms"]["read"] = {"upper_ns": [0, 100_000, 200_000, 1_000_000], "count": [40, 4, 5, 1]}
    data["latency_ns"]["read"]["max"] = 1_000_000
    cdf, tail = curve(data, "latency_cdf"), curve(data, "latency_tail")
    assert (cdf.x, cdf.y) == ([100_000, 100_000, 200_000, 1_000_000], [0.8, 0.88, 0.98, 1.0])
    assert (tail.x, tail.y) == ([100_000, 100_000, 200_000, 1_000_000], pytest.approx([0.2, 0.12, 0.02, 0.02]))
    for key in ("latency_cdf", "latency_tail"):
        figure = figures.FIGURES[key](Runs.of({"lru": data, "none": TEN}))
        assert figure is not None
        assert "no time at all and lie left of the axis: of reads (lru 80 %)." in figure.text
    # All of them: nothing is left to draw.
    data["histograms"]["read"] = {"upper_ns": [0], "count": [50]}
    assert figures.FIGURES["latency_cdf"](Runs.of({"lru": data})) is None


def test_intervals_of_requests_that_took_no_time_are_gaps(results: dict[str, dict[str, Any]]) -> None:
    data = copy.deepcopy(results["pgc"])
    times = data["series"]["latency_ns"]["read"]
    place = next(index for index, count in enumerate(times["count"]) if count)
    times["mean"][place], times["max"][place] = 0.0, 0
    figure = figures.FIGURES["timeline"](Runs.of({"pgc": data}))
    assert figure is not None
    assert isinstance(figure.plots[0], Plot)
    for panel in figure.plots[0].panels[:2]:
        (mark,) = panel.marks
        assert isinstance(mark, Steps)
        assert mark.values[place] is None
    assert "took no time at all are gaps" in figure.text
    unchanged = figures.FIGURES["timeline"](Runs.of({"pgc": results["pgc"]}))
    assert unchanged is not None
    assert "gaps" not in unchanged.text


def test_buckets_drawn_as_one_keep_counts_and_the_slowest() -> None:
    data = copy.deepcopy(TEN)
    upper = [1_000_000 + 1000 * index for index in range(2000)]
    data["histograms"]["read"] = {"upper_ns": [*upper, 9_000_000], "count": [1] * 2001}  # type: ignore[dict-item]
    data["latency_ns"]["read"] = {"min": 1_000_000, "max": 8_999_000, "count": 2001}
    cdf = curve(data, "latency_cdf")
    assert len(cdf.x) < 400
    assert cdf.x[-1] == 8_999_000, "no request took as long as its bucket reaches"
    for x, y in list(zip(cdf.x, cdf.y, strict=True))[1:-1]:
        assert y == pytest.approx(sum(bound <= x for bound in upper) / 2001, abs=1e-12)


def test_thresholds_are_one_line_where_they_are_the_same(results: dict[str, dict[str, Any]]) -> None:
    def rules(levels: list[int]) -> set[tuple[str, int, float]]:
        made = {}
        for scheme, level in zip(SCHEMES, levels, strict=True):
            made[scheme] = copy.deepcopy(results[scheme])
            made[scheme]["series"]["free_blocks"] |= {"soft": level, "hard": 0}
        figure = figures.free_blocks(Runs.of(made))
        assert figure is not None
        plot = figure.plots[0]
        assert isinstance(plot, Plot)
        return {(mark.name, mark.run, mark.value) for mark in plot.panels[0].marks if isinstance(mark, Rule)}

    assert rules([3, 3, 3, 3]) == {("T_soft", -1, 3)}
    assert rules([3, 3, 5, 3]) == {("T_soft", -1, 3), ("T_soft", 2, 5)}


def test_free_blocks_of_a_large_pool_are_shown_where_they_are(results: dict[str, dict[str, Any]]) -> None:
    made = with_series(results["npgc"], seed=1)
    made["series"]["free_blocks"] |= {"min": [819, 817, 818], "mean": [822.0, 819.0, 819.0], "soft": 819, "hard": 164}
    figure = figures.free_blocks(Runs.of({"npgc": made}))
    assert figure is not None
    assert isinstance(figure.plots[0], Plot)
    panel = figure.plots[0].panels[0]
    assert panel.y.low is None  # not from 0 on
    assert [mark.name for mark in panel.marks if isinstance(mark, Rule)] == ["T_soft"]
    assert figure.text.endswith("T_hard is far below what is shown, at 164.")
    made["series"]["free_blocks"] |= {"min": [819, 300, 160]}
    figure = figures.free_blocks(Runs.of({"npgc": made}))
    assert figure is not None
    assert isinstance(figure.plots[0], Plot)
    panel = figure.plots[0].panels[0]
    assert panel.y.low == 0
    assert [mark.name for mark in panel.marks if isinstance(mark, Rule)] == ["T_soft", "T_hard"]


def test_series_are_drawn_as_they_are(results: dict[str, dict[str, Any]]) -> None:
    figure = figures.timeline(Runs.of(results))
    assert figure is not None
    plot = figure.plots[1]
    assert isinstance(plot, Plot)
    for run, scheme in enumerate(SCHEMES):
        series = results[scheme]["series"]
        longest = plot.panels[1].marks[run]
        assert isinstance(longest, Steps)
        assert (longest.run, longest.width) == (run, series["bin_ns"])
        times = series["latency_ns"]["write"]
        assert list(longest.values) == [most if count else None for most, count in zip(times["max"], times["count"], strict=True)]
        assert max(value for value in longest.values if value) == results[scheme]["latency_ns"]["write"]["max"]
    heat = figures.gc(Runs.of(results))
    assert heat is not None
    marks = [plot.panels[0].marks[0] for plot in heat.plots if isinstance(plot, Plot)]
    assert [mark.rows for mark in marks if isinstance(mark, Heat)] == [results[scheme]["series"]["gc"]["chips"] for scheme in SCHEMES]


def test_bins_are_joined_where_there_are_too_many() -> None:
    values = [2.0, None, 5.0, 1.0, None, None, 4.0]
    weights = [1, 0, 3, 7, 0, 0, 2]
    assert Steps("x", 0, 10.0, values, "max").joined(3).values == [5.0, 1.0, 4.0]
    assert Steps("x", 0, 10.0, values, "min").joined(3).values == [2.0, 1.0, 4.0]
    mean = Steps("x", 0, 10.0, values).joined(3)
    assert (mean.values, mean.width) == ([3.5, 1.0, 4.0], 30.0)
    # (2 x 1 + 5 x 3) / 4
    assert Steps("x", 0, 10.0, values, weights=weights).joined(3).values == [4.25, 1.0, 4.0]
    assert Steps("x", 0, 10.0, values).joined(7).values == values
    assert Steps("x", 0, 10.0, [None, None]).joined(1).values == [None]


def test_parts_add_up_to_the_mean(results: dict[str, dict[str, Any]]) -> None:
    figure = figures.breakdown(Runs.of(results))
    assert figure is not None
    (bars,) = figure.plots
    assert isinstance(bars, Bars)
    assert [name for name, _ in bars.groups] == ["Reads and writes", "Reads", "Writes"]
    for kind, (_, group) in zip(("all", "read", "write"), bars.groups, strict=True):
        for scheme, bar in zip(SCHEMES, group, strict=True):
            assert sum(bar.values) == pytest.approx(results[scheme]["latency_ns"][kind]["mean"], rel=1e-9)


def test_a_last_row_of_fewer_chips_counts_for_fewer() -> None:
    # 65 chips in rows of two: 33 rows, the last of one chip, which alone collects.
    data = {
        "simulated_ns": 1,
        "series": {"bins": 1, "bin_ns": 1, "gc": {"chips": [[0.0]] * 32 + [[1.0]], "chips_per_row": 2}},
        "utilisation": {"chips": [0.0] * 65},
    }
    assert figures._collecting(Runs.of({"x": data})[0]) == [pytest.approx(1 / 65)]


def test_a_last_row_stands_for_the_chips_that_there_are() -> None:
    data = {
        "series": {"bins": 1, "bin_ns": 1, "gc": {"chips": [[0.0]] * 32 + [[1.0]], "chips_per_row": 2}},
        "utilisation": {"chips": [0.0] * 65},
    }
    assert figures._heat(Runs.of({"x": data})[0], 1.0).things == 65


@pytest.mark.parametrize(
    ("simulated_ns", "values", "drawn"),
    [
        (3000, [4.0, 4.0, 4.0], [4.0, 4.0, 4.0]),
        (2750, [4.0, 4.0, 3.0], [4.0, 4.0, 4.0]),  # three quarters of the last bin are in the run
        (2250, [4.0, 4.0, 1.0], [4.0, 4.0, None]),
        (2000, [4.0, 4.0, 0.0], [4.0, 4.0, None]),  # it ends where the last one begins
        (100, [0.1], [1.0]),
    ],
)
def test_a_bin_that_the_run_ends_in_is_of_the_time_that_there_was(
    simulated_ns: int, values: list[float], drawn: list[float | None]
) -> None:
    data = {"simulated_ns": simulated_ns, "series": {"bins": len(values), "bin_ns": 1000, "dies": values, "bus": values}}
    figure = figures.utilisation(Runs.of({"x": data}))
    assert figure is not None
    for plot in figure.plots:
        assert isinstance(plot, Plot)
        (steps,) = plot.panels[0].marks
        assert isinstance(steps, Steps)
        assert steps.values == [None if value is None else pytest.approx(value) for value in drawn]


@pytest.mark.parametrize(
    ("changed", "absent"),
    [
        ({"workload.read_share": 1.0}, {"gc", "wear", "write_amplification"}),
        ({"workload.read_share": 0.0}, set()),
        ({"ftl.precondition.kind": "none", "workload.footprint": 0.1}, {"gc", "wear"}),
        ({"cache.policy": "lru", "cache.bytes": 65536}, set()),
    ],
    ids=["reads only", "writes only", "no collection", "cache"],
)
def test_runs_that_lack_something(changed: dict[str, Any], absent: set[str], tmp_path: Path) -> None:
    result = ssdlab.run(set={**SMALL, **changed}, requests=400, series=True)
    page = tmp_path / "report.html"
    result.report(page)
    text = page.read_text()
    drawn = set(re.findall(r'<figure id="(\w+)">', text))
    slack = {"slack"} if "slack" not in drawn else set()
    assert set(figures.FIGURES) - drawn == absent | slack | {"energy", "retries", "slc", "streams"} | (
        set() if "cache.policy" in changed else {"cache"}
    )
    assert ("Garbage collection did not run" in text) == ("gc" in absent)


@pytest.mark.parametrize("requests", [1, 10])
def test_runs_of_a_few_requests(requests: int, tmp_path: Path) -> None:
    result = ssdlab.run(set=SMALL, requests=requests, series=True)
    result.report(tmp_path / "report.html")
    assert f"{requests} request" in (tmp_path / "report.html").read_text()


def test_a_simulator_without_requests(tmp_path: Path) -> None:
    ssdlab.Simulator(set=SMALL).finish().report(tmp_path / "report.html")
    assert "0 requests." in (tmp_path / "report.html").read_text()


# ---- one file, whole or not at all -----------------------------------------------------------------------------------


def test_nothing_is_loaded_from_elsewhere(results: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    report.write(Runs.of(results), page)
    text = page.read_text()
    assert "http" not in text.replace("http-equiv", "")
    assert set(re.findall(r'(?:src|href)="([^#][^"]*)"', text)) == {"data:,"}
    assert "url(" not in text.replace("url(#${id})", "")
    assert "default-src 'none'" in text


def test_names_are_not_taken_for_html(results: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    name = "</script><b>x"
    report.write(Runs.of({name: results["npgc"], "pgc": results["pgc"]}, failed={"<i>": "<u>"}), page)
    text = page.read_text()
    assert text.count("</script>") == 2
    assert not re.search("<b>x|<i>|<u>", text)


def test_a_large_report_is_small_and_quickly_made(results: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    """As of a million requests: as many bins and rows of chips as there can be, and a thousand buckets for each factor of e."""
    made = {scheme: with_series(data, seed=index, chips=64, cache=True) for index, (scheme, data) in enumerate(results.items())}
    page = tmp_path / "report.html"
    begun = time.process_time()
    json.dumps(made)
    plain = time.process_time() - begun
    begun = time.process_time()
    report.write(Runs.of(made), page)
    assert time.process_time() - begun < 30 * plain, "it takes far longer than to write its data as JSON"
    assert page.stat().st_size < 2_500_000


def test_a_page_that_cannot_be_written(results: dict[str, dict[str, Any]], small_disk: Path) -> None:
    fill(small_disk)
    with pytest.raises(ssdlab.FileError, match=r"report\.html"):
        report.write(Runs.of(results), small_disk / "report.html")
    assert not (small_disk / "report.html").exists()


# ---- the command line ------------------------------------------------------------------------------------------------


def test_run_and_report(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    ran = ssdlab_command("run", "--scheme", "npgc", *SMALL_OPTIONS, "--requests", 300, "--out", "out")
    assert ran.code == 0, ran.err
    assert "report: out/report.html" in ran.out
    first = (tmp_path / "out" / "report.html").read_bytes()
    again = ssdlab_command("report", "out")
    assert (again.code, again.out) == (0, "out/report.html: npgc\n")
    assert (tmp_path / "out" / "report.html").read_bytes() == first
    elsewhere = ssdlab_command("report", "out", "--out", "page.html")
    assert elsewhere.code == 0
    assert (tmp_path / "page.html").read_bytes() == first


def test_the_command_in_the_page_repeats_the_run(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    schemes = ["--scheme", "npgc", "--scheme", "pgc+fr-fcfs"]
    compared = ssdlab_command("compare", *schemes, *SMALL_OPTIONS, "--requests", 300, "--seed", 7, "--out", "out")
    assert compared.code == 0, compared.err
    command = command_of(load(tmp_path / "out"))
    assert command is not None
    assert "--seed 7" in command
    program, *arguments = shlex.split(command)
    assert program == "ssdlab"
    repeated = ssdlab_command(*arguments, "--json").json()
    saved = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert {scheme: run["digest"] for scheme, run in repeated["runs"].items()} == {
        scheme: run["digest"] for scheme, run in saved["runs"].items()
    }


def test_command_of_values_from_python() -> None:
    changed = {"gc.scope": "none", "gc.suspend": ["read", "erase"], "workload.address": "uniform"}
    result = ssdlab.run(set={**SMALL, **changed}, requests=50, time_scale=2.0)
    command = result["command"]
    assert "--scale-time 2.0" in command
    words = shlex.split(command)
    settings_ = [words[place + 1] for place, word in enumerate(words) if word == "--set"]
    assert 'gc.suspend=["read", "erase"]' in settings_
    own = ssdlab.run(set=SMALL, requests=50, victim=lambda _candidates: 0)
    assert "command" not in own


def test_a_comparison_of_which_a_scheme_failed(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    # A read beyond what pages of the drive were ever written is fine; a line that cannot be read is not.
    trace.write_text("timestamp_us,op,offset_bytes,size_bytes\n0,R,0,4096\n5,?,0,4096\n")
    done = ssdlab_command("compare", "--scheme", "npgc", "--trace", trace, "--out", "out")
    assert done.code == 1
    assert not (tmp_path / "out" / "report.html").exists()
    page = tmp_path / "partial.html"
    result = ssdlab.run(set=SMALL, requests=20)
    report.write(Runs.of({"npgc": result.to_dict()}, failed={"pgc": "no good"}), page)
    assert "pgc failed: no good" in page.read_text()


@pytest.mark.parametrize("place", ["series.gc", "series.bin_ns", "latency_ns.read", "latency_ns.read.min", "requests.read"])
@pytest.mark.parametrize("value", [None, "text", []])
def test_damaged_results_are_refused(place: str, value: object, results: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    damaged = copy.deepcopy(results["pgc"])
    *path, last = place.split(".")
    at(damaged, ".".join(path))[last] = value
    (tmp_path / "result.json").write_text(json.dumps(damaged))
    with pytest.raises(ssdlab.UsageError, match="damaged or those of another version"):
        write_again(tmp_path, tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_a_damaged_command_is_refused(results: dict[str, dict[str, Any]], ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    for command in ("ssdlab run '", "ssdlab run --scheme"):
        (tmp_path / "result.json").write_text(json.dumps({**results["pgc"], "command": command}))
        ended = ssdlab_command("report", str(tmp_path))
        assert ended.code == 2
        assert "damaged or those of another version" in ended.err


def test_the_page_of_a_result_that_was_edited_says_so(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    for name, command in (("result.json", ["run"]), ("comparison.json", ["compare", "--scheme", "npgc"])):
        assert ssdlab_command(*command, *SMALL_OPTIONS, "--requests", 50, "--out", "out").code == 0
        assert ssdlab_command("report", "out").err == ""
        file = tmp_path / "out" / name
        file.write_text(file.read_text().replace('"iops": ', '"iops": 1'))
        done = ssdlab_command("report", "out")
        assert done.code == 0
        assert done.err.startswith("warning: out: the result of ")
        assert "was changed after ssdlab wrote it" in done.err


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "neither result.json nor comparison.json"),
        ({"result.json": "{"}, "not JSON"),
        ({"result.json": "[]"}, "not a JSON object"),
        ({"result.json": "{}"}, '"config" is missing'),
        ({"comparison.json": "{}"}, "it has no runs"),
        ({"comparison.json": '{"runs": {"x": 3}}'}, '"config" is missing'),
    ],
)
def test_folders_without_results(files: dict[str, str], words: str, ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_text(content)
    assert words in ssdlab_command("report", "out").failed(2)


# ---- Python ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [key for key in figures.FIGURES if key not in ("cache", "slc", "streams")])
def test_figures_are_saved(key: str, results: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    picture = getattr(Plots(Runs.of(results)), key)()
    for ending, begin in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        file = tmp_path / f"figure{ending}"
        picture.save(file)
        assert file.read_bytes().startswith(begin)
    assert picture._repr_svg_().startswith("<?xml")
    assert picture._repr_png_().startswith(b"\x89PNG")
    assert list(tmp_path.glob(".*")) == []


def test_a_figure_is_the_same_each_time(results: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    for name in ("a", "b"):
        for ending in ("svg", "pdf"):
            Plots(Runs.of(results)).breakdown().save(tmp_path / f"{name}.{ending}")
    for ending in ("svg", "pdf"):
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()


def test_lines_on_paper_have_the_colours_of_the_page(results: dict[str, dict[str, Any]]) -> None:
    sheet = Plots(Runs.of(results)).latency_cdf().sheet
    axes = sheet.axes[0]
    assert [line.get_color() for line in axes.lines] == ["#0072B2", "#D55E00", "#009E73", "#CC79A7"]
    assert [text.get_text() for text in sheet.legends[0].get_texts()] == SCHEMES


def test_figures_of_results(tmp_path: Path) -> None:
    result = ssdlab.run(set=SMALL, requests=200)
    result.plot.breakdown().save(tmp_path / "x.png")
    assert "breakdown" in repr(result.plot)
    with pytest.raises(ssdlab.UsageError, match=r"plot\.timeline: nothing to draw: it needs runs with series=True"):
        result.plot.timeline()
    with pytest.raises(ssdlab.UsageError, match=r"\.png, \.svg or \.pdf"):
        result.plot.breakdown().save(tmp_path / "x.bmp")
    with pytest.raises(ssdlab.FileError, match="missing"):
        result.plot.breakdown().save(tmp_path / "missing" / "x.png")
    compared = ssdlab.compare(schemes=["npgc", "pgc"], set=SMALL, requests=200, series=True)
    assert "Responses" not in repr(compared.plot.latency_cdf())
    assert repr(compared.plot.latency_cdf()) == "<Picture: Response times: distribution, of npgc, pgc>"
    with pytest.raises(ssdlab.UsageError, match="the drive has no cache"):
        compared.plot.cache()
    compared.report(tmp_path / "report.html")
    assert "npgc, pgc" in (tmp_path / "report.html").read_text()


def test_paired_requests_are_in_the_page(tmp_path: Path) -> None:
    compared = ssdlab.compare(schemes=["npgc", "pgc"], set=SMALL, requests=300, paired=True)
    compared.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "The same requests, one by one, against npgc" in text
    assert shown(compared.paired["pgc"]["all"]["faster"], "share") in text
    assert " --paired</code>" in text
