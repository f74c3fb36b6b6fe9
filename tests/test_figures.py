"""Figures for print: size, fonts, ticks and labels, selections, and agreement with saved results."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text

import ssdlab
from conftest import AGED, SMALL, SMALL_OPTIONS, Ssdlab
from made_up_series import with_series
from ssdlab.errors import UsageError
from ssdlab.pages.colours import COLOURS, DARK_COLOURS
from ssdlab.pages.report.axes import log_ticks, widened
from ssdlab.pages.report.drawing import DARK_SHADES, OTHER_PART, PART_COLOURS, STATE_COLOURS
from ssdlab.pages.report.figures import FIGURES
from ssdlab.pages.report.frame import DARK
from ssdlab.pages.report.leader import SHORT
from ssdlab.pages.report.look import inches
from ssdlab.pages.report.paper import Picture
from ssdlab.pages.report.plots import ABOUT, Plots
from ssdlab.pages.report.runs import Runs
from ssdlab.runs.comparison import Comparison
from ssdlab.runs.seeds import SeedRuns

COLUMN = 3.4
"""Width of a paper's column, inches."""
CACHE = {"cache.policy": "lru", "cache.bytes": 16 * 4096, "cache.access_ns": 50_000}
FIXED = {key: value for key, value in SMALL.items() if key != "gc.soft"}
"""Settings beside an axis of `gc.soft`."""
NAMES = ["npgc", "pgc", "fpgc", "npgc+gcar-cflru", "dynalloc-slacker", "bbgc-dqgc", "cbgc", "rwp"]


@pytest.fixture(scope="module")
def small() -> dict[str, Any]:
    """A result of a small drive with a cache."""
    return ssdlab.run(scheme="npgc", set={**SMALL, **CACHE, **AGED, "workload.request_kb": 16}, requests=2500, series=True).to_dict()


@pytest.fixture(scope="module", params=[1, 2, 8])
def plots(request: pytest.FixtureRequest, small: dict[str, Any]) -> Plots:
    """Figures of several schemes, with synthetic series; some requests under the second scheme took no time."""
    runs = {name: with_series(small, seed=index, cache=True) for index, name in enumerate(NAMES[: request.param])}
    for data in list(runs.values())[1:2]:
        for histogram in data["histograms"].values():
            histogram["upper_ns"].insert(0, 0)
            histogram["count"].insert(0, 500)
    return Plots(Runs.of(runs))


def axes_of(picture: Picture) -> list[Axes]:
    """All axes except the colour scales of heat maps."""
    return [axes for axes in picture.sheet.axes if axes.get_label() != "<colorbar>"]


def texts(sheet: Figure) -> Iterator[Text]:
    for text in sheet.findobj(Text):
        if isinstance(text, Text) and text.get_visible() and text.get_text().strip():
            yield text


def ticks(axis: Axis) -> list[float]:
    low, high = sorted(axis.get_view_interval())
    return [tick for tick in axis.get_majorticklocs() if low <= tick <= high]


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_fits_a_column(name: str, plots: Plots) -> None:
    """A figure has the requested width, letters of 7 points or more, nothing cut off, and a legend beside the data."""
    picture = plots.picture(name, width="3.4in")
    sheet = picture.sheet
    assert sheet.get_size_inches()[0] == COLUMN
    sheet.canvas.draw()
    across, up = sheet.bbox.width, sheet.bbox.height
    for text in texts(sheet):
        assert text.get_fontsize() >= 7, text
    for axes in sheet.axes:
        for axis in (axes.xaxis, axes.yaxis):
            labels = [label for label in axis.get_ticklabels() if label.get_visible() and label.get_text()]
            boxes = [label.get_window_extent() for label, place in zip(labels, axis.get_majorticklocs(), strict=False) if place is not None]
            low, high = sorted(axis.get_view_interval())
            shown = [box for box, place in zip(boxes, axis.get_majorticklocs(), strict=False) if low <= place <= high]
            for one, other in itertools.pairwise(shown):
                assert not one.overlaps(other), (name, [label.get_text() for label in labels])
            named = axis.label.get_window_extent()
            if axis.label.get_text():
                for box in (named, *shown):
                    assert box.x0 >= -1.5, (name, axis.label.get_text(), box)
                    assert box.x1 <= across + 1.5, (name, axis.label.get_text(), box)
                    assert box.y0 >= -1.5, (name, axis.label.get_text(), box)
                    assert box.y1 <= up + 1.5, (name, axis.label.get_text(), box)
    for legend in sheet.legends:
        box = legend.get_window_extent()
        assert box.x0 >= -1.5, "the legend is cut off"
        assert box.x1 <= across + 1.5, "the legend is cut off"
        for axes in axes_of(picture):
            assert not box.overlaps(axes.get_window_extent()), "the legend covers data"


@pytest.mark.parametrize("name", FIGURES)
def test_axes_are_named_in_words_with_units(name: str, plots: Plots) -> None:
    picture = plots.picture(name, width=COLUMN)
    sheet = picture.sheet
    sheet.canvas.draw()
    for text in texts(sheet):
        assert not re.search(r"_(ns|us|s|bytes)\b|\de[+-]?\d|\bns\b", text.get_text()), text
    for axes in axes_of(picture):
        below = [other for other in axes_of(picture) if other.get_position().x0 == pytest.approx(axes.get_position().x0, abs=0.2)]
        lowest = min(below, key=lambda other: other.get_position().y0)
        assert lowest.get_xlabel(), "what the axis across shows is not said"
        assert axes.get_ylabel() or name in ("breakdown", "slack", "wear", "energy")  # whose rows have names
        for label in (axes.get_xlabel(), axes.get_ylabel()):
            if "time" in label.lower() and "Times" not in label:
                assert re.search(r"\((s|ms|µs|%)\)$", label), label


@pytest.mark.parametrize("name", FIGURES)
def test_ticks_are_one_two_or_five_apart(name: str, plots: Plots) -> None:
    picture = plots.picture(name, width=COLUMN)
    picture.sheet.canvas.draw()
    rows = [axes.yaxis for axes in axes_of(picture) if name in ("breakdown", "slack", "wear", "energy")]
    for axis in (axis for axes in axes_of(picture) for axis in (axes.xaxis, axes.yaxis) if axis not in rows):
        found = ticks(axis)
        assert len(found) >= 2, (name, axis.get_label_text())
        if axis.get_scale() == "log":
            for tick in found:
                assert round(tick / 10.0 ** math.floor(math.log10(tick * (1 + 1e-9))), 6) in (1, 2, 5), found
        else:
            step = found[1] - found[0]
            assert round(step / 10.0 ** math.floor(math.log10(step * (1 + 1e-9))), 6) in (1, 2, 5), found


def test_ticks_of_logarithmic_axes() -> None:
    assert log_ticks(0.3, 12) == pytest.approx([0.5, 1, 2, 5, 10])
    assert log_ticks(0.001, 1000, 4) == pytest.approx([0.01, 1, 100])
    assert log_ticks(1e-4, 1, 4) == pytest.approx([1e-4, 1e-3, 1e-2, 0.1, 1]), "five labels fit a column"
    assert log_ticks(0.11, 0.9) == pytest.approx([0.2, 0.5])
    # Between 1.1 and 1.3 there is none: the axis is widened until its scale can be read.
    assert widened(1.1, 1.3) == pytest.approx((1, 2))
    assert widened(0.3, 12) == (0.3, 12)


@pytest.mark.parametrize("width", [None, "3.4in", "7in"])
@pytest.mark.parametrize("name", ["latency_cdf", "latency_tail", "timeline", "gc", "utilisation"])
def test_panels_that_show_the_same_have_the_same_scale(name: str, width: str | None, plots: Plots) -> None:
    picture = plots.picture(name, width=width)
    by_label: dict[str, set[tuple[float, float]]] = {}
    for axes in axes_of(picture):
        if axes.get_ylabel() not in ("", "Chip"):
            by_label.setdefault(axes.get_ylabel(), set()).add(axes.get_ylim())
    assert all(len(ends) == 1 for ends in by_label.values()), by_label
    assert len({axes.get_xlim() for axes in axes_of(picture)}) == 1


def test_lines_of_eight_schemes_differ_without_colour(small: dict[str, Any]) -> None:
    plots = Plots(Runs.of({name: with_series(small, seed=index) for index, name in enumerate(NAMES)}))
    for name in ("latency_tail", "timeline", "queues"):
        sheet = plots.picture(name, width=COLUMN).sheet
        looks = [(line.get_marker(), str(line._unscaled_dash_pattern)) for line in sheet.legends[0].get_lines()]  # type: ignore[attr-defined]
        assert len(set(looks)) == len(looks) == len(NAMES)
        drawn = sheet.axes[0].lines
        assert len({line.get_marker() for line in drawn}) == len(NAMES)


def test_a_pdf_has_no_type_3_fonts(plots: Plots, tmp_path: Path) -> None:
    plots.latency_tail(width="3.4in").save(tmp_path / "x.pdf")
    content = (tmp_path / "x.pdf").read_bytes()
    assert b"/Type3" not in content
    assert b"/FontFile2" in content, "TrueType, embedded"
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) [\d.]+ \]", content)
    assert box is not None
    assert float(box[1]) == pytest.approx(COLUMN * 72)


def test_text_of_an_svg_is_text(plots: Plots, tmp_path: Path) -> None:
    plots.latency_tail(width="3.4in").save(tmp_path / "x.svg")
    assert ">Response time (ms)</text>" in (tmp_path / "x.svg").read_text()


def test_maps_of_six_schemes_fit_a_page(small: dict[str, Any]) -> None:
    drawn = Plots(Runs.of({name: with_series(small, seed=index) for index, name in enumerate(NAMES[:6])}))
    assert drawn.gc(width=COLUMN).sheet.get_size_inches()[1] <= 9


@pytest.mark.parametrize("height", [None, "4in"])
def test_what_colours_mean_is_said_below_maps_that_are_flat(height: str | None, small: dict[str, Any]) -> None:
    """Beside them it would be cut and lie on that of the next map."""
    drawn = Plots(Runs.of({name: with_series(small, seed=index) for index, name in enumerate(NAMES[:3])}))
    sheet = drawn.gc(width=COLUMN, height=height).sheet
    sheet.canvas.draw()
    keys = [key for axes in sheet.axes for key in axes.child_axes]
    said = [key.get_ylabel() for key in keys]
    assert len(said) == 3
    if height:
        assert set(said) == {""}
        assert sheet.get_supxlabel() == "Colours: time collecting (%)."
    else:
        assert set(said) == {"Time collecting (%)"}
        assert all(key.yaxis.label.get_window_extent().height <= key.bbox.height * 1.05 for key in keys)


def test_how_many_took_no_time_is_said(plots: Plots) -> None:
    picture = plots.latency_tail(width="3.4in")
    said = picture.sheet.get_supxlabel().replace("\n", " ")
    several = len(plots._runs) > 1
    assert bool(said) == several
    if several:
        assert re.search(r"Reads that took no time: pgc \d+", said)
    for axes in axes_of(picture):
        assert axes.get_xlim()[0] > 1e4, "the axis begins near the shortest time above 0"


# ---- what can be chosen ----------------------------------------------------------------------------------------------


def test_sizes_and_headings(plots: Plots) -> None:
    sheet = plots.breakdown(width="86mm", height=2, font=9, title=True).sheet
    assert tuple(sheet.get_size_inches()) == pytest.approx((86 / 25.4, 2))
    assert sheet.get_suptitle() == "Where the time goes"
    assert min(text.get_fontsize() for text in texts(sheet)) == 8
    alone = {"kind": "read", "width": COLUMN}
    assert plots.picture("latency_tail", **alone).sheet.axes[0].get_title() == "Reads"
    assert plots.picture("latency_tail", **alone, title=False).sheet.axes[0].get_title() == ""
    both = plots.latency_tail(width=COLUMN, title=False).sheet.axes
    assert [axes.get_title() for axes in both] == ["Reads", "Writes"], "of two it has to be said which is which"


def test_parts_of_a_figure(plots: Plots) -> None:
    assert plots.panels("queues") == [
        "Requests under way: mean",
        "Requests under way: most at once",
        "Requests completed in a second: reads",
        "Requests completed in a second: writes",
    ]
    one = plots.queues(panels=[1, 4]).sheet.axes
    assert [axes.get_ylabel().replace("\n", " ") for axes in one] == ["Mean (requests)", "Writes (requests/s)"]
    (writes,) = plots.queues(kind="write").sheet.axes
    assert writes.get_ylabel().replace("\n", " ") == "Writes (requests/s)"
    (reads,) = plots.picture("tail", kind="read").sheet.axes
    assert reads.get_title() == "Reads"


def test_schemes_are_chosen_and_keep_their_looks(small: dict[str, Any]) -> None:
    plots = Plots(Runs.of({name: with_series(small, seed=index) for index, name in enumerate(NAMES)}))
    sheet = plots.latency_tail(schemes=["rwp", "pgc"]).sheet
    whole = plots.latency_tail().sheet.legends[0]
    looks = {text.get_text(): line.get_color() for text, line in zip(whole.get_texts(), whole.get_lines(), strict=True)}
    legend = sheet.legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["rwp", "pgc"]
    assert [line.get_color() for line in legend.get_lines()] == [looks["rwp"], looks["pgc"]]
    assert len(sheet.axes[0].lines) == 2
    named = plots.latency_tail(schemes=["rwp", "pgc"], labels={"rwp": "ours"}).sheet.legends[0]
    assert [text.get_text() for text in named.get_texts()] == ["ours", "pgc"]
    assert [line.get_color() for line in named.get_lines()] == [looks["rwp"], looks["pgc"]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"width": "3.4"}, None),
        ({"width": "3.4 furlongs"}, "width = '3.4 furlongs': expected 0.5 to 100 inches, such as 3.4in"),
        ({"width": "wide"}, "width = 'wide': expected"),
        ({"width": -1}, "width = -1: expected"),
        ({"width": True}, "width = True: expected"),
        ({"height": "1000in"}, "height = '1000in': expected"),
        ({"font": 1}, "font = 1: expected points, 4 to 40"),
        ({"font": "8"}, "font = '8': expected points"),
        ({"title": "yes"}, "title = 'yes': expected True or False"),
        ({"kind": "trim"}, "kind = 'trim': expected read or write"),
        ({"schemes": ["ngpc"]}, 'no "ngpc"; did you mean "npgc"?'),
        ({"schemes": []}, "schemes = []: expected a list of names (there are npgc"),
        ({"schemes": "npgc"}, "schemes = 'npgc': expected a list of names"),
        ({"labels": {"ngpc": "ours"}}, 'labels: no "ngpc"; did you mean "npgc"?'),
        ({"labels": {"npgc": 1}}, 'labels["npgc"] = 1: expected a text'),
        ({"panels": [7]}, "panels = [7]: latency_tail has 2 (1 Reads: share of requests that took longer, 2 Writes"),
        ({"panels": []}, "panels = []: latency_tail has 2"),
        ({"panels": [0]}, "panels = 0: expected a whole number from 1"),
    ],
)
def test_wrong_wishes_are_refused(options: dict[str, Any], words: str | None, plots: Plots) -> None:
    if words is None:
        assert plots.latency_tail(**options).sheet.get_size_inches()[0] == COLUMN
        return
    with pytest.raises(UsageError) as refused:
        plots.latency_tail(**options)
    assert words in str(refused.value)


def test_a_figure_has_the_word_that_no_other_has_in_python_too(plots: Plots) -> None:
    assert plots.tail(width=COLUMN).title == plots.latency_tail(width=COLUMN).title
    with pytest.raises(AttributeError, match=r'no figure .tial.; did you mean "tail"'):
        _ = plots.tial
    with pytest.raises(UsageError, match=r'no figure "tial"; did you mean "tail"\?: there are latency_cdf'):
        plots.picture("tial")


def test_a_wrong_name_is_offered_only_figures_that_there_are(small: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as refused:
        Plots(Runs.of({"npgc": {key: value for key, value in small.items() if key != "series"}})).picture("nothing")
    assert "timeline" not in str(refused.value)
    assert "breakdown" in str(refused.value)


# ---- one number of each run --------------------------------------------------------------------------------------------


def _numbered(path: str, values: dict[str, list[float]], small: dict[str, Any]) -> ssdlab.Comparison:
    """A comparison of variants with these values of a number, one for each seed."""

    def result(value: float, seed: int) -> ssdlab.Result:
        data = json.loads(json.dumps({key: entry for key, entry in small.items() if key != "series"}))
        *groups, name = path.split(".")
        inner = data
        for group in groups:
            inner = inner[group]
        inner[name] = value
        return ssdlab.Result({**data, "digest": f"{value}", "seed": seed})

    seeds = tuple(range(1, len(next(iter(values.values()))) + 1))
    runs = {label: {seed: result(value, seed) for seed, value in zip(seeds, of, strict=True)} for label, of in values.items()}
    return Comparison({label: of[1] for label, of in runs.items()}, SeedRuns(seeds, runs) if len(seeds) > 1 else None)


def _bars(picture: Picture) -> tuple[list[str], list[float], list[list[float]], list[list[float]]]:
    """Names and lengths of the bars, ends of their intervals, and dots."""
    (axes,) = picture.sheet.axes
    lengths = [patch.get_width() for patch in axes.patches]
    ends = [[float(x) for x, _ in segment] for collection in axes.collections for segment in collection.get_segments()]
    dots = [[float(x) for x in line.get_xdata()] for line in axes.lines if line.get_marker() == "."]
    return [label.get_text() for label in axes.get_yticklabels()], lengths, ends, dots


def test_a_number_of_a_comparison_is_a_bar_for_each_variant(small: dict[str, Any]) -> None:
    both = _numbered("latency_ns.read.p99_9", {"as it is": [8e6], "ours": [2e6]}, small)
    picture = both.plot("latency_ns.read.p99_9")
    assert _bars(picture) == (["as it is", "ours"], [8e6, 2e6], [], [])
    assert picture.title == "p99.9 response time of reads"
    assert _bars(both.plot("latency_ns.read.p99_9", schemes=["ours"], labels={"ours": "new"}))[:2] == (["new"], [2e6])
    assert _bars(both.plot("latency_ns.write.max"))[1] == [small["latency_ns"]["write"]["max"]] * 2
    for short, path in SHORT.items():
        inner: Any = small
        for part in path.split("."):
            inner = inner[part]
        assert _bars(both.plot(short))[1] == [inner] * 2, short
    with pytest.raises(
        UsageError, match=r'no figure "latency_ns.read.p98"; did you mean "latency_ns.read.p9\d.*numbers such as p99 or latency_ns'
    ):
        both.plot("latency_ns.read.p98")
    for nothing in ("latency_ns.read", "config.gc.soft", "seed"):
        with pytest.raises(UsageError, match="no figure"):
            both.plot(nothing)
    with pytest.raises(UsageError, match="it does not tell reads from writes"):
        both.plot("p99", kind="read")


def test_a_number_over_seeds_has_its_interval(small: dict[str, Any], tmp_path: Path) -> None:
    """Of 9, 10 and 11 ms the mean is 10, and half the interval is 4.303 / sqrt(3) of the deviation, 1 ms; 1, 1 and 30 ms disagree."""
    half = 4.303 * 1e6 / math.sqrt(3)
    several = _numbered("latency_ns.all.p99", {"base": [9e6, 10e6, 11e6], "ours": [1e6, 1e6, 30e6]}, small)
    for labels in ({}, {"base": "as it is", "ours": "new"}):
        picture = several.plot("p99", labels=labels)
        names, lengths, ends, dots = _bars(picture)
        assert names == list(labels.values() or ["base", "ours"])
        assert lengths == [10e6, 1e6]
        assert ends == [[pytest.approx(10e6 - half), pytest.approx(10e6 + half)]]
        assert dots == [[1e6, 1e6, 30e6]]
    (note,) = [text.get_text() for text in texts(picture.sheet) if "seeds" in text.get_text()]
    assert " ".join(note.split()) == (
        "Means over 3 seeds, with their 95 % confidence intervals. Where seeds disagree, the median, with a dot for each."
    )
    axes = several.plot("p99").sheet.axes[0]
    assert axes.get_xlim()[1] > 30e6, "every dot is on the axes"
    ssdlab.compare(schemes=["npgc", "pgc"], set=SMALL, requests=400, seeds=3, out=tmp_path / "out")
    saved = ssdlab.load(tmp_path / "out")
    assert isinstance(saved, ssdlab.Comparison)
    (_, lengths, ends, _), means = _bars(saved.plot("mean")), saved.to_dict()["seeds"]["schemes"]
    expected = [means[label]["latency_ns.all.mean"] for label in saved]
    assert lengths == [of["mean"] for of in expected]
    assert ends == [[pytest.approx(of["mean"] - of["half_width"]), pytest.approx(of["mean"] + of["half_width"])] for of in expected]


def test_what_is_not_of_reads_or_writes_is_refused(plots: Plots) -> None:
    with pytest.raises(UsageError, match="gc has no part about reads: it does not tell reads from writes"):
        plots.gc(kind="read")
    with pytest.raises(UsageError, match=r'no figure "latency"; did you mean "latency_'):
        plots.picture("latency")


@pytest.mark.parametrize(("text", "length"), [("3.4in", 3.4), ("2.54cm", 1), ("25.4 mm", 1), ("72.27pt", 1), (".5in", 0.5), (2, 2)])
def test_lengths(text: object, length: float) -> None:
    assert inches("width", text) == pytest.approx(length)


def test_a_figure_of_several_seeds_says_which_it_is_of(small: dict[str, Any]) -> None:
    runs = {"npgc": small, "pgc": small}
    drawn = Plots(Runs.of(runs, seeds={"seeds": [small["seed"], 2, 3]}))
    for name in ("latency_tail", "breakdown"):
        said = drawn.picture(name, width=COLUMN).sheet.get_supxlabel().replace("\n", " ")
        assert said.endswith(f"Figures are those of seed {small['seed']}, of 3 seeds.")
    compared = ssdlab.compare(schemes=["npgc", "pgc"], set=SMALL, requests=100, seeds=2)
    assert compared.plot.breakdown(width=COLUMN).sheet.get_supxlabel().endswith("of 2 seeds.")
    assert "seed" not in Plots(Runs.of(runs)).breakdown(width=COLUMN).sheet.get_supxlabel()


# ---- saved results ---------------------------------------------------------------------------------------------------


def same_figure(one: Plots, other: Plots) -> None:
    assert one.available() == other.available()
    assert one.latency_tail(width=COLUMN)._repr_svg_() == other.latency_tail(width=COLUMN)._repr_svg_()


def test_a_saved_run_is_loaded(tmp_path: Path) -> None:
    run = ssdlab.run(scheme="pgc", set=SMALL, requests=300, out=tmp_path / "run", log_requests=True)
    again = ssdlab.load(tmp_path / "run")
    assert isinstance(again, ssdlab.Result)
    assert again.to_dict() == run.to_dict() == json.loads((tmp_path / "run" / "result.json").read_text())
    assert (again.title, str(again)) == (run.title, str(run))
    assert again.requests.equals(run.requests)
    same_figure(again.plot, run.plot)
    ssdlab.run(set=SMALL, requests=300, out=tmp_path / "run", series=False)
    plain = ssdlab.load(str(tmp_path / "run"))
    assert not hasattr(plain, "requests")
    assert "series" not in plain.to_dict(), "left out where it is said so"


def test_a_saved_comparison_is_loaded(tmp_path: Path) -> None:
    runs = ssdlab.compare(schemes=["npgc", "pgc"], set=SMALL, requests=300, out=tmp_path, paired=True)
    again = ssdlab.load(tmp_path)
    assert isinstance(again, ssdlab.Comparison)
    assert list(again) == ["npgc", "pgc"]
    assert again.to_dict() == runs.to_dict() == json.loads((tmp_path / "comparison.json").read_text())
    assert again.paired == runs.paired != {}
    assert (str(again), repr(again)) == (str(runs), repr(runs))
    same_figure(again.plot, runs.plot)
    again.report(tmp_path / "again.html")
    runs.report(tmp_path / "first.html")
    assert (tmp_path / "again.html").read_text() == (tmp_path / "first.html").read_text()
    assert ssdlab.load(tmp_path / "pgc").to_dict() == runs["pgc"].to_dict()


def test_a_saved_sweep_is_loaded(tmp_path: Path) -> None:
    sweep = ssdlab.sweep({"scheme": ["npgc", "pgc"], "gc.soft": [0.1, 0.12]}, set=FIXED, requests=200, out=tmp_path)
    again = ssdlab.load(tmp_path)
    assert isinstance(again, ssdlab.SweepResult)
    assert again.to_dict() == sweep.to_dict()
    assert again.table().equals(sweep.table())
    assert [point.folder for point in again] == [point.folder for point in sweep]
    picture = again.plot("latency_ns.all.p99", "gc.soft", width="3.4in")
    assert picture._repr_svg_() == sweep.plot("latency_ns.all.p99", "gc.soft", width="3.4in")._repr_svg_()
    assert picture.sheet.get_size_inches()[0] == COLUMN
    (tmp_path / "scheme=pgc_gc.soft=0.12" / "result.json").unlink()
    less = ssdlab.load(tmp_path)
    assert isinstance(less, ssdlab.SweepResult)
    assert (len(less), [dict(point.values) for point in less.left]) == (3, [{"scheme": "pgc", "gc.soft": 0.12}])


DAMAGED: list[tuple[dict[str, str | bytes], str]] = [
    ({}, "neither result.json nor comparison.json is here"),
    ({"result.json": "{"}, "not JSON"),
    ({"result.json": b"\xff\xfe"}, "not JSON"),
    ({"result.json": "[" * 100_000}, "not JSON"),
    ({"result.json": "[]"}, "not a JSON object"),
    ({"result.json": "{}"}, '"config" is missing'),
    ({"comparison.json": '{"runs": {"x": 3}}'}, '"config" is missing'),
    ({"comparison.json": '{"runs": []}'}, "it has no runs"),
    ({"sweep.toml": 'device = "lee2013"\n[grid]\nseed = [1]\n'}, "a sweep of which no point has a result"),
    ({"sweep.toml": "grid = 5"}, "sweep.toml"),
]


@pytest.mark.parametrize(("files", "words"), DAMAGED, ids=range(len(DAMAGED)))
def test_damaged_folders_are_refused_in_a_line(files: dict[str, str | bytes], words: str, ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ssdlab.Error) as refused:
        ssdlab.load(folder)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
    assert words in ssdlab_command("plot", "out").failed(2)


def test_damaged_contents_are_refused_in_a_line(tmp_path: Path) -> None:
    ssdlab.run(set=SMALL, requests=100, out=tmp_path, log_requests=True)
    whole = json.loads((tmp_path / "result.json").read_text())
    for place, value in (("latency_ns", {"read": 5}), ("histograms", {"read": {"upper_ns": "x", "count": [1]}}), ("command", 5)):
        (tmp_path / "result.json").write_text(json.dumps({**whole, place: value}))
        loaded = ssdlab.load(tmp_path)
        assert isinstance(loaded, ssdlab.Result)
        if place != "command":
            with pytest.raises(UsageError, match="damaged or those of another version"):
                loaded.plot.latency_tail()
    (tmp_path / "requests.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(ssdlab.FileError, match=r"requests\.parquet: cannot read the log of requests"):
        _ = ssdlab.load(tmp_path).requests  # type: ignore[union-attr]
    with pytest.raises(UsageError, match="folder = 5: expected a path"):
        ssdlab.load(5)  # type: ignore[arg-type]


# ---- the command -----------------------------------------------------------------------------------------------------


def test_the_command_draws_saved_results(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    schemes = ["--scheme", "npgc", "--scheme", "pgc"]
    assert ssdlab_command("compare", *SMALL_OPTIONS, *schemes, "--requests", 400, "--out", "out", "--quiet").code == 0
    listed = ssdlab_command("plot", "out").out
    assert max(map(len, listed.splitlines())) <= 80
    assert "\nlatency_tail (or tail)\n" in listed
    for name in ("latency_tail", "breakdown", "gc"):
        assert name in listed
        assert ABOUT[name] in listed
    assert "1 Reads: share of requests that took longer" in listed
    assert "cache" not in listed
    done = ssdlab_command("plot", "out", "tail", "-o", "tail.pdf", "--width", "3.4in")
    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(r"tail\.pdf: Response times: tail, 3\.40 x \d\.\d\d in\n", done.out)
    assert (tmp_path / "tail.pdf").read_bytes().startswith(b"%PDF")
    assert ssdlab_command("plot", "out", "tail", "-o", "l.svg", "--label", "pgc=ours").code == 0
    assert "ours" in (tmp_path / "l.svg").read_text()
    done = ssdlab_command("plot", "out", "latency_ns.read.p99_9", "-o", "n.svg", "--label", "pgc=ours", "--title")
    assert done.out.startswith("n.svg: p99.9 response time of reads, ")
    assert [words in (tmp_path / "n.svg").read_text() for words in (">ours<", ">p99.9 response time of reads<")] == [True, True]
    refused = ssdlab_command("plot", "out", "tail", "-o", "n.svg", "--title", "My text").failed(2)
    assert "My text: a word that belongs to no option; --title is a flag, which takes no text" in refused
    more = ["--schemes", "pgc", "--kind", "write", "--panels", "2", "--font", "9", "--title", "--height", "5cm"]
    assert ssdlab_command("plot", "out", "latency_tail", "-o", "w.svg", *more).code == 0
    text = (tmp_path / "w.svg").read_text()
    assert "Response times: tail" in text
    assert "Reads" not in text
    assert "npgc" not in text


def test_the_command_draws_a_sweep(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    ssdlab.sweep({"scheme": ["npgc", "pgc"], "gc.soft": [0.1, 0.12], "seed": [1, 2]}, set=FIXED, requests=200, out=tmp_path / "s")
    listed = ssdlab_command("plot", "s").out.splitlines()
    assert "gc.soft: 0.1, 0.12" in listed
    assert "latency_ns.all.p99" in listed
    options = ["--over", "gc.soft", "--by", "scheme", "--where", "seed=1", "--width", "3.4in"]
    done = ssdlab_command("plot", "s", "latency_ns.all.p99", "-o", "p.svg", *options)
    assert (done.code, done.err) == (0, "")
    text = (tmp_path / "p.svg").read_text()
    assert "p99 response time (ms)" in text
    assert "pgc" in text
    assert ssdlab_command("plot", "s", "gc.jobs", "-o", "f.svg", "--panels-by", "scheme,seed", "--panels", "1,4").code == 0
    text = (tmp_path / "f.svg").read_text()
    assert [title in text for title in ("npgc, seed = 1", "npgc, seed = 2", "= pgc, seed = 2")] == [True, False, True]
    assert ssdlab_command("plot", "s", "gc.jobs", "-o", "l.svg", "--by", "scheme", "--label", "pgc=ours").code == 0
    assert "ours" in (tmp_path / "l.svg").read_text()
    assert "p99.9 response time over gc.soft" in ssdlab_command("plot", "s", "p99.9", "-o", "f.svg").out
    assert "a figure of a run or a comparison" in ssdlab_command("plot", "s", "tail", "-o", "f.svg").failed(2)
    wrong = ssdlab_command("plot", "s", "gc.jobs", "-o", "f.svg", "--panels-by", "scheme,sede").failed(2)
    assert 'no axis "sede"; did you mean "seed"? (there are scheme, gc.soft, seed)' in wrong
    assert "--kind: s has a sweep" in ssdlab_command("plot", "s", "gc.jobs", "--kind", "read").failed(2)
    assert "gc.soft has 0.1, 0.12" in ssdlab_command("plot", "s", "gc.jobs", "--where", "gc.soft=7").failed(2)
    assert "expected AXIS=VALUE" in ssdlab_command("plot", "s", "gc.jobs", "--where", "gc.soft").failed(2)


def test_the_command_refuses_wrong_wishes(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    ssdlab.run(set=SMALL, requests=100, out=tmp_path / "out")
    for arguments, words in (
        (["tail"], "-o FILE is missing, such as -o tail.pdf"),
        (["tail", "-o", "x.bmp"], "ends with .png, .svg or .pdf"),
        (["tale", "-o", "x.pdf"], 'no figure "tale"'),
        (["cache", "-o", "x.pdf"], "nothing to draw: the drive has no cache"),
        (["tail", "-o", "x.pdf", "--width", "3.4furlongs"], "such as 3.4in"),
        (["tail", "-o", "x.pdf", "--panels", "a"], "expected numbers from 1 on, such as 1,3"),
        (["tail", "-o", "x.pdf", "--label", "ours"], "expected NAME=TEXT"),
        (["tail", "-o", "x.pdf", "--over", "gc.soft"], "--over: out has no sweep"),
        (["--width", "3in"], "--width: name a FIGURE as well"),
        (["tail", "-o", "missing/x.pdf"], "missing/x.pdf: cannot write"),
    ):
        assert words in ssdlab_command("plot", "out", *arguments).failed(1 if "cannot write" in words else 2)
    assert not list(tmp_path.glob("*.pdf"))


# ---- write amplification, wear, shares, axes of one's own --------------------------------------------------------------


def test_write_amplification_by_hand(small: dict[str, Any]) -> None:
    """An interval without writes of the host has no value, and what was programmed in it counts in the next one."""
    data = with_series(small, seed=1, bins=4)
    data["series"]["written"] = {"host_bytes": [100, 0, 200, 100], "flash_bytes": [150, 100, 300, 0]}
    (plot,) = _made("write_amplification", data).plots
    now, so_far = plot.panels
    assert now.marks[0].values == [1.5, None, 2.0, 0.0]
    assert so_far.marks[0].values == [1.5, 2.5, 550 / 300, 550 / 400]


def test_write_amplification_leaves_the_warm_up_out(small: dict[str, Any]) -> None:
    data = with_series(small, seed=1, bins=4)
    data["series"]["written"] = {"host_bytes": [100, 100, 200, 100], "flash_bytes": [900, 150, 300, 150]}
    data["warm_up"] = {"requests": 1, "ns": data["series"]["bin_ns"] + 1}
    assert _made("write_amplification", data).plots[0].panels[1].marks[0].values == [None, 1.5, 1.5, 1.5]


def test_write_amplification_ends_at_that_of_the_result(small: dict[str, Any]) -> None:
    written = small["series"]["written"]
    assert sum(written["flash_bytes"]) == small["bytes_written"]["flash"] > 0
    assert sum(written["host_bytes"]) == small["bytes_written"]["host"]
    last = _made("write_amplification", small).plots[0].panels[1].marks[0].values[-1]
    assert last == pytest.approx(small["gc"]["write_amplification"])


def test_wear_counts_every_block(small: dict[str, Any]) -> None:
    histogram = small["wear"]["histogram"]
    steps = _made("wear", small).plots[1].panels[0].marks[0]
    assert list(steps.y[1:-1]) == histogram["blocks"]
    assert steps.x[-1] == histogram["least"] + histogram["width"] * len(histogram["blocks"])
    mean = sum(histogram["blocks"][at] * (histogram["least"] + at) for at in range(len(histogram["blocks"]))) / sum(histogram["blocks"])
    assert histogram["width"] == 1
    assert mean == pytest.approx(small["wear"]["mean"])


def _made(name: str, data: dict[str, Any]) -> Any:
    return FIGURES[name](Runs.of({"npgc": data}))


def test_bars_to_100_percent(plots: Plots) -> None:
    picture = plots.breakdown(shares=True)
    (axes,) = axes_of(picture)
    ends = {round(patch.get_y(), 6): 0.0 for patch in axes.patches}
    for patch in axes.patches:
        ends[round(patch.get_y(), 6)] += patch.get_width()
    assert list(ends.values()) == pytest.approx([1.0] * len(ends))
    with pytest.raises(UsageError, match=r"shares = True: latency_tail has no bars with parts"):
        plots.latency_tail(shares=True)


def test_a_part_is_drawn_on_axes_of_ones_own(plots: Plots, tmp_path: Path) -> None:
    sheet = Figure(figsize=(6, 3))
    left, right = sheet.subplots(1, 2)
    picture = plots.latency_tail(kind="read", ax=left)
    assert picture.sheet is sheet
    assert left.get_xscale() == left.get_yscale() == "log"
    assert left.lines
    assert not right.lines
    plots.breakdown(panels=[1], ax=right)
    assert right.patches
    picture.save(tmp_path / "both.pdf")
    assert (tmp_path / "both.pdf").stat().st_size > 1000


def test_axes_of_ones_own_hold_one_part(plots: Plots) -> None:
    axes = Figure().add_subplot()
    with pytest.raises(UsageError, match=r"ax: timeline has 6 parts \(1 Reads: mean response time, .*\): choose one, such as panels=\[1\]"):
        plots.timeline(ax=axes)
    with pytest.raises(UsageError, match=r"ax = 'left': expected matplotlib axes"):
        plots.timeline(panels=[1], ax="left")  # type: ignore[arg-type]


def _luminance(colour: str) -> float:
    """Relative luminance, by WCAG 2."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_by_hand() -> None:
    assert _contrast("#ffffff", "#000000") == pytest.approx(21)
    assert _contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_colours_on_dark_backgrounds_reach_aa() -> None:
    grounds = [DARK["ground"], DARK["panel"]]
    for colour in (*DARK_COLOURS, *DARK_SHADES.values(), DARK["ink"], DARK["soft"], DARK["good"], DARK["warn"]):
        assert min(_contrast(colour, ground) for ground in grounds) >= 4.5, colour
    assert {*PART_COLOURS.values(), *STATE_COLOURS.values(), OTHER_PART} == {*DARK_SHADES}
    assert len(DARK_COLOURS) == len(COLOURS) == len(set(DARK_COLOURS))


def test_no_two_parts_of_a_response_time_have_one_colour() -> None:
    assert len({*PART_COLOURS.values(), OTHER_PART}) == len(PART_COLOURS) + 1
    assert len(set(DARK_SHADES.values())) == len(DARK_SHADES)
