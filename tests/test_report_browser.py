"""The report in a browser: all figures are drawn in light and dark and on a phone, and work with mouse and keyboard."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from browser import Page
from conftest import SMALL
from made_up_series import with_series
from ssdlab.pages import report
from ssdlab.pages.colours import COLOURS
from ssdlab.pages.report.runs import Runs

pytestmark = pytest.mark.usefixtures("silent")

SCHEMES = ["npgc", "pgc", "rwp", "fpgc"]
LAPTOP, PHONE = 1300, 390
EVERYTHING = {"cache.policy": "lru", "cache.bytes": 65536, "workload.request_kb": 16}

# The plots that have nothing in them, no line, no bar, no picture, or something without a place. A line without a length is a dot.
EMPTY = """
[...document.querySelectorAll('.plot')].filter(plot => {
  const marks = [...plot.querySelectorAll('path.line, rect.part, image.heat, circle, path[style*=fill]')];
  return !marks.length || /NaN|Infinity|undefined/.test(plot.innerHTML.replace(/data:[^"]*/g, ''));
}).map(plot => plot.id)
"""
# Texts of a plot that lie upon each other.
OVERLAPS = """
[...document.querySelectorAll('.plot svg')].flatMap(svg => {
  const texts = [...svg.querySelectorAll('text:not(.rule)')].map(text => [text.textContent, text.getBoundingClientRect()]);
  return texts.flatMap(([a, x], i) => texts.slice(i + 1)
    .filter(([b, y]) => x.left < y.right - 1 && y.left < x.right - 1 && x.top < y.bottom - 3 && y.top < x.bottom - 3)
    .map(([b]) => `${svg.parentElement.id}: ${a} / ${b}`));
})
"""
# What 40,000 rows of a table take, twenty times 2,000.
TABLES = """
(() => {
  for (let i = 0; i < 20; i++) {
    document.body.innerHTML = `<table>${'<tr><td>0<td>1<td>2'.repeat(2000)}</table>`;
    document.body.offsetHeight;
  }
})()
"""
TICKS = "[...document.querySelectorAll('#{} svg text[text-anchor]')].map(text => text.textContent)"


@pytest.fixture(scope="module")
def results() -> dict[str, dict[str, Any]]:
    compared = ssdlab.compare(schemes=SCHEMES, set={**SMALL, **EVERYTHING}, requests=3000, series=True)
    return {scheme: result.to_dict() for scheme, result in compared.items()}


@pytest.fixture(scope="module")
def four(results: dict[str, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison of four schemes with all figures."""
    file = tmp_path_factory.mktemp("report") / "report.html"
    report.write(Runs.of(results), file)
    return file


@pytest.mark.parametrize("width", [LAPTOP, PHONE])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_everything_draws(width: int, dark: bool, page: Page, four: Path) -> None:
    page.open(four, width=width, dark=dark)
    page.unfold()
    assert page.value("document.querySelectorAll('figure').length") == 12 + 2, "those of the overview besides"
    assert page.value(EMPTY) == []
    assert page.value(OVERLAPS) == []
    assert page.value("document.documentElement.scrollWidth") <= width, "the page is wider than the window"
    wide = "[...document.querySelectorAll('.plot')].filter(plot => plot.firstElementChild.getBBox().width > plot.clientWidth + 1)"
    assert page.value(f"{wide}.map(plot => plot.id)") == []
    ground = page.value("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(20, 23, 27)" if dark else "rgb(255, 255, 255)")


@pytest.mark.parametrize(
    ("changed", "requests"),
    [
        ({}, 3000),
        ({"workload.read_share": 1.0}, 500),
        ({"ftl.precondition.kind": "none", "workload.footprint": 0.1}, 200),
        ({}, 10),
        ({}, 1),
    ],
    ids=["one scheme", "reads only", "no collection", "ten requests", "one request"],
)
def test_other_runs_draw(changed: dict[str, Any], requests: int, page: Page, tmp_path: Path) -> None:
    result = ssdlab.run(scheme="npgc", set={**SMALL, **changed}, requests=requests, series=True)
    result.report(tmp_path / "report.html")
    for width in (LAPTOP, PHONE):
        page.open(tmp_path / "report.html", width=width)
        page.unfold()
        assert page.value(EMPTY) == []
        assert page.value(OVERLAPS) == []
        assert page.value("document.documentElement.scrollWidth") <= width


def test_the_window_changes_its_size(page: Page, four: Path) -> None:
    page.open(four, width=LAPTOP)
    page.resize(PHONE, 800)
    page.until(f"Number(document.querySelector('#timeline-0 svg').getAttribute('width')) <= {PHONE}")
    assert page.value("document.documentElement.scrollWidth") <= PHONE


def test_a_scheme_has_one_colour_and_one_way_of_being_broken(page: Page, four: Path) -> None:
    page.open(four)
    page.unfold()
    seen = "line => [getComputedStyle(line).stroke, getComputedStyle(line).strokeDasharray].join(' ')"
    found = set()
    for run, colour in enumerate(COLOURS[: len(SCHEMES)]):
        expected = "rgb({}, {}, {})".format(*(int(colour[at : at + 2], 16) for at in (1, 3, 5)))
        places = f'path.line[data-run="{run}"], button[data-run="{run}"] .swatch line, #summary th:nth-child({run + 2}) .swatch line'
        looks = page.value(f"[...new Set([...document.querySelectorAll('{places}')].map({seen}))]")
        assert len(looks) == 1, "lines, buttons and headings look the same"
        assert looks[0].startswith(expected)
        found.add(looks[0])
    assert len(found) == len(SCHEMES)


def middle(page: Page, plot: str, share: float = 0.5) -> tuple[float, float]:
    """Coordinates in the first panel of a plot, scrolled into view."""
    box = page.value(
        f"(() => {{ const p = document.getElementById('{plot}'); p.scrollIntoView({{block: 'center'}}); "
        "const b = p.querySelector('.frame').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()"
    )
    return box[0] + box[2] * share, box[1] + box[3] / 2


def test_values_under_the_mouse(page: Page, four: Path, results: dict[str, dict[str, Any]]) -> None:
    page.open(four)
    page.unfold()
    assert page.value("document.querySelector('#queues-0 .readout').hidden")
    page.mouse("mouseMoved", *middle(page, "queues-0", 0.25))
    assert not page.value("document.querySelector('#queues-0 .readout').hidden")
    rows = page.value("[...document.querySelectorAll('#queues-0 .readout tr')].map(row => row.textContent)")
    assert rows[0] == "Mean"
    assert rows[len(SCHEMES) + 1] == "Most at once"
    end = max(result["simulated_ns"] for result in results.values())
    pixels = page.value("Number(document.querySelector('#queues-0 .frame').getAttribute('width'))")
    for scheme, shown in zip(SCHEMES, rows[len(SCHEMES) + 2 :], strict=True):
        series = results[scheme]["series"]
        # As many bins as make a step of three pixels are one, with the largest of their values; a pixel to either side may be the next.
        each = math.ceil(3 / (series["bin_ns"] * pixels / end))
        near = {int((0.25 + off / pixels) * end / series["bin_ns"] / each) * each for off in (-1.5, 0, 1.5)}
        assert shown in {f"{scheme}{max(series['outstanding']['max'][bin_ : bin_ + each]):,}" for bin_ in near}
    page.mouse("mouseMoved", 5, 5)
    assert page.value("document.querySelector('#queues-0 .readout').hidden")


def test_beyond_the_slowest_request_there_are_none(page: Page, four: Path) -> None:
    page.open(four)
    page.mouse("mouseMoved", *middle(page, "latency_tail-0", 0.999))
    rows = page.value("[...document.querySelectorAll('#latency_tail-0 .readout tr')].map(row => row.textContent)")
    assert rows == [f"{scheme}0 %" for scheme in SCHEMES]


def test_a_bar_tells_its_parts(page: Page, four: Path, results: dict[str, dict[str, Any]]) -> None:
    page.open(four)
    place = page.value(
        "(() => { const p = document.getElementById('breakdown-0'); p.scrollIntoView({block: 'center'}); "
        "const b = p.querySelector('rect.part').getBoundingClientRect(); return [b.left + 1, b.top + 8]; })()"
    )
    page.mouse("mouseMoved", *place)
    assert page.value("document.querySelector('#breakdown-0 .readout b').textContent") == "npgc, reads and writes"
    rows = page.value("[...document.querySelectorAll('#breakdown-0 .readout tr')].map(row => row.textContent)")
    waited = results["npgc"]["breakdown_ns"]["all"]["gc"]
    assert 1e6 < waited < 1e9, "another unit than ms"
    assert f"garbage collection{waited / 1e6:#.3g} ms" in rows


def drag(page: Page, plot: str, start: float, end: float) -> None:
    first, last = middle(page, plot, start), middle(page, plot, end)
    page.mouse("mouseMoved", *first)
    page.mouse("mousePressed", *first, pressed=True)
    page.mouse("mouseMoved", *last, pressed=True)
    page.mouse("mouseReleased", *last)


def test_zoom_by_mouse(page: Page, four: Path) -> None:
    page.open(four)
    page.unfold()
    whole = page.value(TICKS.format("timeline-0"))
    others = page.value(TICKS.format("latency_cdf-0"))
    drag(page, "timeline-0", 0.5, 0.75)
    zoomed = page.value(TICKS.format("timeline-0"))
    assert zoomed != whole
    # All figures over time show the same part of it, and the others what they did.
    across = page.value(TICKS.format("utilisation-0"))
    assert {tick for tick in across if tick.endswith("s")} <= set(zoomed)
    assert page.value(TICKS.format("latency_cdf-0")) == others
    x, y = middle(page, "queues-1")
    for clicks in (1, 2):
        page.mouse("mousePressed", x, y, pressed=True, clicks=clicks)
        page.mouse("mouseReleased", x, y, clicks=clicks)
    assert page.value(TICKS.format("timeline-0")) == whole


@pytest.fixture
def phone(page: Page, four: Path) -> Iterator[Page]:
    page.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    page.open(four, width=PHONE, height=800)
    page.unfold()
    yield page
    page.call("Emulation.setTouchEmulationEnabled", enabled=False)


def tap(page: Page, x: float, y: float) -> None:
    page.touch("touchStart", (x, y))
    page.touch("touchEnd")


def test_a_finger_reads_values(phone: Page) -> None:
    hidden = "document.querySelector('#queues-0 .readout').hidden"
    tap(phone, *middle(phone, "queues-0", 0.25))
    assert not phone.value(hidden), "they stay, since a finger hides them"
    shown = phone.value("document.querySelector('#queues-0 .readout').textContent")
    x, y = middle(phone, "queues-0", 0.5)
    phone.touch("touchStart", (x, y))
    for to in range(20, 120, 20):
        phone.touch("touchMove", (x + to, y))
    phone.touch("touchEnd")
    assert phone.value("document.querySelector('#queues-0 .readout').textContent") != shown
    assert phone.value("document.querySelector('#queues [data-zoom=all]').disabled"), "one finger does not zoom"
    tap(phone, *middle(phone, "queues-1", 0.5))
    assert phone.value(hidden)
    place = phone.value(
        "(() => { const p = document.getElementById('breakdown-0'); p.scrollIntoView({block: 'center'}); "
        "const b = p.querySelector('rect.part').getBoundingClientRect(); return [b.left + 1, b.top + 8]; })()"
    )
    tap(phone, *place)
    assert phone.value("document.querySelector('#breakdown-0 .readout b').textContent") == "npgc, reads and writes"


def test_two_fingers_zoom(phone: Page) -> None:
    whole = phone.value(TICKS.format("timeline-0"))
    (left, y), (right, _) = middle(phone, "timeline-0", 0.4), middle(phone, "timeline-0", 0.6)
    phone.touch("touchStart", (left, y), (right, y))
    for by in range(10, 70, 10):
        phone.touch("touchMove", (left - by, y), (right + by, y))
    zoomed = phone.value(TICKS.format("timeline-0"))
    assert zoomed != whole
    for by in range(60, 0, -10):
        phone.touch("touchMove", (left - by, y), (right + by, y))
    phone.touch("touchEnd")
    between = phone.value(TICKS.format("timeline-0"))
    assert between != zoomed, "fingers that come together show more"
    assert phone.value("visualViewport.scale") == 1, "the figure is zoomed, not the page"
    phone.value("document.querySelector('#timeline [data-zoom=all]').click()")
    assert phone.value(TICKS.format("timeline-0")) == whole
    # What was read is what the button zooms into.
    tap(phone, *middle(phone, "timeline-0", 0.9))
    x, y = phone.value(
        "(() => { const b = document.querySelector('#timeline [data-zoom=in]'); b.scrollIntoView({block: 'center'}); "
        "const r = b.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()"
    )
    tap(phone, x, y)
    beginning = {"0 ns", "0 µs", "0 ms", "0 s"}
    assert beginning & set(whole)
    assert not beginning & set(phone.value(TICKS.format("timeline-0")))
    at = phone.value("document.querySelector('#timeline-0 .cursor').getAttribute('x1')")
    frame = phone.value(
        "(() => { const f = document.querySelector('#timeline-0 .frame'); return ['x', 'width'].map(k => Number(f.getAttribute(k))); })()"
    )
    assert (float(at) - frame[0]) / frame[1] == pytest.approx(0.9, abs=0.02), "what was read stays where it was"


def test_zoom_by_buttons(page: Page, four: Path) -> None:
    page.open(four)
    page.unfold()
    whole = page.value(TICKS.format("latency_tail-0"))
    assert page.value("document.querySelector('#latency_tail [data-zoom=all]').disabled")
    page.value("document.querySelector('#latency_tail [data-zoom=in]').click()")
    assert page.value(TICKS.format("latency_tail-0")) != whole
    assert not page.value("document.querySelector('#latency_cdf [data-zoom=all]').disabled"), "both are zoomed"
    page.value("document.querySelector('#latency_tail [data-zoom=out]').click()")
    assert page.value(TICKS.format("latency_tail-0")) == whole


def test_keyboard(page: Page, four: Path) -> None:
    page.open(four)
    page.unfold()
    whole = page.value(TICKS.format("timeline-1"))
    page.value("document.getElementById('timeline-1').focus()")
    page.key("ArrowRight")
    told = page.value("document.querySelector('#timeline-1 .spoken').textContent")
    assert told.startswith("at ")
    assert all(f"{scheme} " in told for scheme in SCHEMES)
    page.key("+")
    zoomed = page.value(TICKS.format("timeline-1"))
    assert zoomed != whole
    page.key("ArrowRight", shift=True)
    assert page.value(TICKS.format("timeline-1")) != zoomed
    page.key("0")
    assert page.value(TICKS.format("timeline-1")) == whole
    page.value("document.getElementById('breakdown-0').focus()")
    page.key("ArrowDown")
    assert page.value("document.querySelector('#breakdown-0 .spoken').textContent").startswith("npgc, reads and writes: ")
    page.value("document.getElementById('gc-0').focus()")
    page.key("ArrowDown")
    assert "chip 1 " in page.value("document.querySelector('#gc-0 .spoken').textContent")


def test_what_can_be_pressed_is_reached_by_tab(page: Page, four: Path) -> None:
    page.open(four)
    assert page.value("[...document.querySelectorAll('.plot, button, summary, .scroll')].filter(e => e.tabIndex !== 0).length") == 0
    assert page.value("[...document.querySelectorAll('.plot')].every(p => p.getAttribute('aria-label').includes('arrow keys'))")


def test_schemes_are_switched_off_and_on(page: Page, four: Path) -> None:
    page.open(four)
    page.unfold()
    lines = "document.querySelectorAll('.plot [data-run=\"1\"]').length"
    before = page.value(lines)
    assert before > 10
    button = "document.querySelector('button[data-run=\"1\"]')"
    page.value(f"{button}.click()")
    assert (page.value(lines), page.value(f"{button}.getAttribute('aria-pressed')")) == (0, "false")
    for run in (0, 2, 3):
        page.value(f"document.querySelector('button[data-run=\"{run}\"]').click()")
    for run in range(4):
        page.value(f"document.querySelector('button[data-run=\"{run}\"]').click()")
    assert page.value(lines) == before


def test_the_switch_of_light_and_dark(page: Page, four: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    pixel = "document.querySelector('image.heat').getAttribute('href').length > 100"
    page.open(four)
    page.unfold()
    light, picture = page.value(ground), page.value("document.querySelector('image.heat').getAttribute('href')")
    page.value("document.getElementById('theme').click()")
    assert page.value(ground) != light
    assert page.value("document.querySelector('image.heat').getAttribute('href')") != picture
    assert page.value(pixel)
    # It is remembered, whatever the system prefers; and switched back.
    page.open(four, dark=False)
    assert page.value(ground) != light
    page.value("document.getElementById('theme').click()")
    assert page.value(ground) == light
    page.value("localStorage.clear()")


def test_the_largest_report_opens_quickly(results: dict[str, dict[str, Any]], page: Page, tmp_path: Path) -> None:
    made = {scheme: with_series(data, seed=index, chips=128, cache=True) for index, (scheme, data) in enumerate(results.items())}
    file = tmp_path / "report.html"
    report.write(Runs.of(made), file)
    opened = page.open(file)
    page.unfold()
    assert page.value(EMPTY) == []
    # However fast the machine is.
    before = page.busy_s()
    page.value(TABLES)
    assert opened < 3 * (page.busy_s() - before), "it takes longer than a table of 120,000 rows"
