"""The report in a browser, beyond its figures: overview, sticky headings, saved figures, print, twenty schemes, sweeps."""

from __future__ import annotations

import base64
import csv
import io
import json
import struct
import urllib.parse
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import ssdlab
from browser import Page
from conftest import SMALL
from made_up_series import with_series
from ssdlab.analysis.remarks import shown
from ssdlab.analysis.uncertainty import estimates
from ssdlab.experiments.saved_pages import write_again
from ssdlab.experiments.sweeping.outcome import headline, known_figure, relative
from ssdlab.experiments.sweeping.page import write
from ssdlab.experiments.sweeping.result import SweepResult
from ssdlab.pages import report
from ssdlab.pages.report.runs import Runs

pytestmark = pytest.mark.usefixtures("silent")

SCHEMES = ["npgc", "pgc", "rwp"]
MANY = [f"scheme{number}" for number in range(20)]
CLOSE = 2e-5
"""Relative tolerance: numbers in a page have six digits."""


@pytest.fixture(scope="module")
def results() -> dict[str, dict[str, Any]]:
    compared = ssdlab.compare(schemes=SCHEMES, set={**SMALL, "cache.policy": "lru", "cache.bytes": 65536}, requests=3000, series=True)
    return {scheme: result.to_dict() for scheme, result in compared.items()}


@pytest.fixture(scope="module")
def three(results: dict[str, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("three") / "report.html"
    report.write(Runs.of(results), file)
    return file


@pytest.fixture(scope="module")
def twenty(results: dict[str, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("twenty") / "report.html"
    report.write(Runs.of({name: with_series(results["npgc"], seed=seed) for seed, name in enumerate(MANY)}), file)
    return file


# ---- the first screen ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schemes", [SCHEMES, [*SCHEMES, "npgc+gcar-cflru", "dynalloc-slacker"]], ids=["three", "five"])
def test_the_short_table_of_several_seeds_shows_all_its_columns(schemes: list[str], page: Page, tmp_path: Path, results: Any) -> None:
    """The interval of a mean stands below it, in the same unit."""
    places = {"latency_ns.all.mean": 12e6, "latency_ns.all.p99": 1.2e6, "latency_ns.all.p99_9": 3e6, "latency_ns.all.count": 19_309.3}
    places |= {"gc.write_amplification": 1.239, "gc.duration_ns.max": 12.4e6}
    values = {place: {"mean": mean, "half_width": 0.07 * mean} for place, mean in places.items()}
    differences = {place: {"relative": 0.01, "half_width": 0.014} for place in places}
    seeds = {"seeds": [1, 2, 3], "level": 0.95, "against": schemes[0], "schemes": dict.fromkeys(schemes, values)}
    seeds["differences"] = dict.fromkeys(schemes[1:], differences)
    report.write(Runs.of(dict.fromkeys(schemes, results["npgc"]), seeds=seeds), tmp_path / "report.html")
    page.open(tmp_path / "report.html", width=1300, height=900)
    assert page.value("document.querySelectorAll('#overview thead th').length") == 7
    assert page.value("(t => t.scrollWidth <= t.parentElement.clientWidth)(document.querySelector('#overview table'))")
    assert page.value("document.querySelector('#overview td').textContent").startswith("12.0 ± 0.8 ms")
    after = page.value("getComputedStyle(document.querySelector('.overview.seeds'), '::after').content")
    assert after in ("none", "normal"), "what marks a button that opens seeds is on nothing else"


def test_the_first_screen_has_verdict_drive_table_tail_and_breakdown(page: Page, three: Path) -> None:
    page.open(three, width=1300, height=900)
    for part in (".lead", ".about", "#overview table", "#glance_tail-0 svg", "#glance_breakdown-0 svg"):
        top, bottom = page.value(
            f"(() => {{ const b = document.querySelector('{part}').getBoundingClientRect(); return [b.top, b.bottom]; }})()"
        )
        assert 0 <= top < bottom <= 900, part
    overflowing = "(t => t.scrollWidth > t.parentElement.clientWidth + 1)(document.querySelector('#overview table'))"
    assert not page.value(overflowing)


@pytest.mark.parametrize("width", [1300, 420])
@pytest.mark.parametrize("file", ["three", "twenty"])
def test_no_width_is_too_small(file: str, width: int, page: Page, request: pytest.FixtureRequest) -> None:
    page.open(request.getfixturevalue(file), width=width)
    assert page.value("document.documentElement.scrollWidth") <= width


def test_headings_of_the_long_table_stay(page: Page, twenty: Path) -> None:
    page.open(twenty)
    moved = page.value(
        "(() => { const box = document.querySelector('#summary .scroll'); box.scrollTop = 400; box.scrollLeft = 300;"
        " const [b, head, side] = [box, box.querySelector('thead th:nth-child(9)'), box.querySelector('tbody tr:nth-child(20) th')]"
        ".map(e => e.getBoundingClientRect()); return [box.scrollTop, box.scrollLeft, head.top - b.top, side.left - b.left]; })()"
    )
    assert moved == [400, 300, 0, 0]


def test_a_click_on_an_interval_leads_to_its_slowest_requests(page: Page, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = ssdlab.run(set=SMALL, requests=2000, out=out, timeline=tmp_path / "slow.html")
    result.report(out / "report.html")
    page.open(out / "report.html")
    slowest = json.loads((out / "slowest.json").read_text())["slowest"][0]
    plot, share = f"timeline-{0 if slowest['kind'] == 'read' else 1}", slowest["completed_ns"] / result.to_dict()["simulated_ns"]
    x, y = page.value(
        f"(() => {{ const p = document.getElementById('{plot}'); p.scrollIntoView({{block: 'center'}});"
        " const b = p.getBoundingClientRect(); const f = p.querySelector('.frame');"
        f" return [b.left + Number(f.getAttribute('x')) + {share} * Number(f.getAttribute('width')), b.top + 60]; }})()"
    )
    page.mouse("mousePressed", x, y, pressed=True)
    page.mouse("mouseReleased", x, y)
    link = f"document.querySelector('.interval a[href=\"#late-{slowest['request']}\"]')"
    page.value(f"{link}.click()")
    row = f"document.getElementById('late-{slowest['request']}')"
    assert page.value(f"{row}.open")
    assert page.value(f"{row}.querySelector('p a').getAttribute('href')") == f"../slow.html#request={slowest['request']}"


# ---- schemes ---------------------------------------------------------------------------------------------------------


def test_twenty_schemes_are_told_apart_everywhere(page: Page, twenty: Path) -> None:
    page.open(twenty)
    page.unfold()
    look = "e => [getComputedStyle(e).stroke, getComputedStyle(e).strokeDasharray].join(' ')"
    for places in ("button[data-run] .swatch line", "#timeline-0 path.line", "#latency_tail-0 path.line", "#overview tbody .swatch line"):
        assert page.value(f"new Set([...document.querySelectorAll('{places}')].map({look})).size") == len(MANY), places
    page.value("document.getElementById('queues-0').focus()")
    page.key("ArrowRight")
    assert page.value(f"new Set([...document.querySelectorAll('#queues-0 .readout .swatch line')].map({look})).size") == len(MANY)
    box = "document.querySelector('#queues-0 .readout').getBoundingClientRect()"
    assert page.value(f"{box}.right <= innerWidth && {box}.height < 600"), "what is read has room"


def test_hiding_a_scheme_rescales_what_is_left(results: dict[str, dict[str, Any]], page: Page, tmp_path: Path) -> None:
    slow = ssdlab.run(set={**SMALL, "device.program_ns": 20_000_000}, requests=3000, series=True).to_dict()
    report.write(Runs.of({"fast": results["pgc"], "slow": slow}), tmp_path / "report.html")
    page.open(tmp_path / "report.html")
    page.unfold()
    ticks = "[...document.querySelectorAll('#{} svg text[text-anchor]')].map(text => text.textContent).join()"
    places = ("latency_tail-1", "timeline-1", "queues-0", "breakdown-0", "glance_tail-0")
    before = {place: page.value(ticks.format(place)) for place in places}
    page.value("document.querySelector('button[data-run=\"1\"]').click()")
    for place in places:
        assert page.value(ticks.format(place)) != before[place], place
    page.value("document.querySelector('button[data-run=\"1\"]').click()")
    assert {place: page.value(ticks.format(place)) for place in places} == before


def test_chips_of_an_array_are_named_by_drive(page: Page, tmp_path: Path) -> None:
    result = ssdlab.run(set={**SMALL, "array.level": "rais5", "array.drives": 3}, requests=1500, series=True)
    result.report(tmp_path / "report.html")
    page.open(tmp_path / "report.html")
    page.unfold()
    assert page.value("document.querySelectorAll('#gc-0 line.drive').length") == 2
    assert page.value("[...document.querySelectorAll('#gc-0 text')].map(t => t.textContent).filter(t => t.startsWith('drive'))") == [
        "drive 0",
        "drive 1",
        "drive 2",
    ]
    chips = len(result.utilisation.chips) // 3
    page.value("document.getElementById('gc-0').focus()")
    page.key("ArrowDown")
    assert "drive 0, chip 1 " in page.value("document.querySelector('#gc-0 .spoken').textContent")
    for _ in range(chips):
        page.key("ArrowDown")
    assert "drive 1, chip 1 " in page.value("document.querySelector('#gc-0 .spoken').textContent")


# ---- files of figures ------------------------------------------------------------------------------------------------


def saved(page: Page, plot: str, kind: str) -> tuple[str, bytes]:
    """The name and the content of the file that a button saves."""
    page.value(
        "window.saved = new Promise(done => { HTMLAnchorElement.prototype.click = function () { done([this.download, this.href]); }; }); 0"
    )
    page.value(f"document.querySelector('button[data-save={kind}][data-plot={plot}]').click()")
    name, href = page.value("window.saved")
    head, _, content = href.partition(",")
    return name, base64.b64decode(content) if head.endswith("base64") else urllib.parse.unquote_to_bytes(content)


def table(page: Page, plot: str) -> list[dict[str, str]]:
    name, content = saved(page, plot, "csv")
    assert name == f"{plot}.csv"
    return list(csv.DictReader(io.StringIO(content.decode())))


def test_csv_of_what_happened_when_is_that_of_the_results(page: Page, three: Path, results: dict[str, dict[str, Any]]) -> None:
    page.open(three)
    rows = table(page, "timeline-1")
    assert list(rows[0]) == [
        "scheme",
        "from (ns)",
        "to (ns)",
        "Mean response time (ns)",
        "Longest response time (ns)",
        "Chips collecting garbage (share)",
    ]
    for scheme in SCHEMES:
        series = results[scheme]["series"]
        found = [row for row in rows if row["scheme"] == scheme]
        assert [int(row["from (ns)"]) for row in found] == [series["bin_ns"] * bin_ for bin_ in range(series["bins"])]
        writes = series["latency_ns"]["write"]
        for row, count, mean, longest in zip(found, writes["count"], writes["mean"], writes["max"], strict=True):
            if count:
                assert float(row["Mean response time (ns)"]) == pytest.approx(mean, rel=CLOSE)
                assert float(row["Longest response time (ns)"]) == pytest.approx(longest, rel=CLOSE)
            else:
                assert row["Mean response time (ns)"] == row["Longest response time (ns)"] == ""


def test_csv_of_parts_distributions_chips_and_wear_is_that_of_the_results(
    page: Page, three: Path, results: dict[str, dict[str, Any]]
) -> None:
    page.open(three)
    for row in table(page, "breakdown-0"):
        kind = {"Reads and writes": "all", "Reads": "read", "Writes": "write"}[row["group"]]
        parts = [float(value) for name, value in row.items() if name.endswith(" (ns)")]
        assert sum(parts) == pytest.approx(results[row["scheme"]]["latency_ns"][kind]["mean"], rel=CLOSE)
        assert float(row["garbage collection (ns)"]) == pytest.approx(results[row["scheme"]]["breakdown_ns"][kind]["gc"], rel=CLOSE)
    for row in table(page, "wear-0"):
        wear = results[row["scheme"]]["wear"]
        assert [float(row[f"{name} (count)"]) for name in ("mean", "most")] == pytest.approx([wear["mean"], wear["max"]], rel=CLOSE)
    tail = table(page, "latency_tail-1")
    for scheme in SCHEMES:
        last = [row for row in tail if row["scheme"] == scheme][-1]
        assert float(last["response time (ns)"]) == pytest.approx(results[scheme]["latency_ns"]["write"]["max"], rel=CLOSE)
    chips = table(page, "gc-0")
    series = results[SCHEMES[0]]["series"]
    shares = {(row["chip"], int(row["from (ns)"])): float(row["Time collecting, by chip (share)"]) for row in chips if row["chip"]}
    assert len(shares) == series["bins"] * len(series["gc"]["chips"])
    for chip, row_ in enumerate(series["gc"]["chips"]):
        for bin_, share in enumerate(row_):
            assert shares[str(chip), series["bin_ns"] * bin_] == pytest.approx(share, abs=1 / 65535)


def test_a_scheme_that_is_switched_off_is_not_in_files(page: Page, three: Path) -> None:
    page.open(three)
    page.unfold()
    page.value("document.querySelector('button[data-run=\"1\"]').click()")
    assert {row["scheme"] for row in table(page, "queues-0")} == {"npgc", "rwp"}
    content = saved(page, "queues-0", "svg")[1].decode()
    assert ">npgc<" in content
    assert ">pgc<" not in content


@pytest.mark.parametrize("plot", ["glance_tail-0", "latency_cdf-0", "timeline-0", "breakdown-0", "gc-0", "free_blocks-1", "wear-0"])
def test_figures_are_saved_as_pictures_that_need_nothing(plot: str, page: Page, three: Path) -> None:
    page.open(three)
    page.unfold()
    name, content = saved(page, plot, "svg")
    assert name == f"{plot}.svg"
    root = ElementTree.fromstring(content)
    assert root.tag.endswith("svg")
    text = content.decode()
    assert "var(" not in text
    paints = {element.get(name, "none") for element in root.iter() for name in ("fill", "stroke")}
    assert len([paint for paint in paints if paint.startswith("rgb")]) >= 3, "colours, and not only of texts"
    name, picture = saved(page, plot, "png")
    assert name == f"{plot}.png"
    assert picture.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", picture[16:24])
    assert (width, height) == pytest.approx((2 * float(root.get("width", "0")), 2 * float(root.get("height", "0"))), abs=2)


# ---- paper -----------------------------------------------------------------------------------------------------------


def test_paper_has_everything_that_the_screen_shows_or_scrolls(page: Page, twenty: Path) -> None:
    page.open(twenty)
    before = page.value("document.body.textContent.length")
    closed = "document.querySelectorAll('details:not([open])').length"
    folded = page.value(closed)
    assert folded > 1
    page.value("document.querySelector('#summary details').open = true")
    page.value("dispatchEvent(new Event('beforeprint'))")
    assert page.value(closed) == folded - 1, "what is folded stays so, what was opened is printed"
    said = "[...document.querySelectorAll('details{} > summary')].map(s => getComputedStyle(s, '::after').content)"
    assert all("not printed" in text for text in page.value(said.format(":not([open])")))
    assert set(page.value(said.format("[open]"))) == {"none"}
    assert page.value("Math.max(...[...document.querySelectorAll('.plot svg')].map(s => Number(s.getAttribute('width'))))") <= 700
    wide = "[...document.querySelectorAll('.scroll table')].filter(t => !t.closest('details:not([open])') && t.offsetWidth > 700).length"
    assert page.value(wide) == 0
    # Every value of every scheme is in one of the parts that a table was divided into.
    for number, name in enumerate(MANY):
        named = f"filter(h => h.childNodes[1]?.textContent === '{name}')"
        heads = page.value(f"[...document.querySelectorAll('#summary > .scroll > table.paper thead th')].{named}.length")
        assert heads == 1, number
    cells = "[...document.querySelectorAll('#summary > .scroll > table.{}')].reduce((n, t) => n + t.querySelectorAll('td').length, 0)"
    assert page.value(cells.format("paper")) == page.value(cells.format("screen"))
    page.value("dispatchEvent(new Event('afterprint'))")
    assert page.value(closed) == folded - 1
    assert page.value("document.querySelectorAll('table.paper').length") == 0
    assert page.value("document.body.textContent.length") == before


# ---- sweeps ----------------------------------------------------------------------------------------------------------

GRID = {"scheme": ["npgc", "pgc"], "gc.soft": [0.05, 0.07, 0.1], "workload.read_share": [0.2, 0.5], "seed": [1, 2, 3]}


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssdlab.SweepResult, Path]:
    folder = tmp_path_factory.mktemp("sweep")
    rest = {key: value for key, value in SMALL.items() if key not in GRID}
    return ssdlab.sweep(GRID, set=rest, requests=300, out=folder), folder


MARKS = "document.querySelectorAll('#sweep-0 circle:not(.seed), #sweep-0 .median')"
"""Means, and medians of seeds that disagree, in the first figure."""


def test_a_sweep_has_a_page_which_is_made_again_from_its_results(swept: tuple[ssdlab.SweepResult, Path], tmp_path: Path) -> None:
    _, folder = swept
    first = (folder / "report.html").read_text()
    assert write_again(folder, folder / "report.html").about == "36 of 36 points"
    assert (folder / "report.html").read_text() == first
    assert "http" not in first.replace("http-equiv", "")
    write_again(folder, tmp_path / "elsewhere.html")
    assert "result.json" in (tmp_path / "elsewhere.html").read_text()


def test_a_sweep_without_a_result_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text('[grid]\nscheme = ["npgc"]\n')
    with pytest.raises(ssdlab.UsageError, match="a sweep of which no point has a result"):
        write_again(tmp_path, tmp_path / "report.html")


def test_a_damaged_point_of_a_sweep_is_refused_by_name(swept: tuple[ssdlab.SweepResult, Path], tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text((swept[1] / "sweep.toml").read_text())
    point = swept[0][0].folder
    assert point is not None
    (tmp_path / point.name).mkdir()
    (tmp_path / point.name / "result.json").write_text("{}")
    with pytest.raises(ssdlab.UsageError, match='"config" is missing'):
        write_again(tmp_path, tmp_path / "report.html")


@pytest.mark.parametrize("width", [1300, 420])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_sweep_draws(width: int, dark: bool, page: Page, swept: tuple[ssdlab.SweepResult, Path]) -> None:
    page.open(swept[1] / "report.html", width=width, dark=dark)
    assert page.value("document.querySelectorAll('#sweep .plot').length") == 2, "a panel for each share of reads"
    assert page.value("document.querySelectorAll('#sweep-0 path.line').length") == 2, "a line for each scheme"
    assert page.value(f"{MARKS}.length") == 6
    assert page.value("[...document.querySelectorAll('#lines li')].map(l => l.textContent)") == ["npgc", "pgc"]
    assert not page.value("/NaN|Infinity|undefined/.test(document.querySelector('#sweep').innerHTML)")
    assert page.value("document.documentElement.scrollWidth") <= width


def test_figures_of_a_sweep_are_means_over_seeds_with_intervals(page: Page, swept: tuple[ssdlab.SweepResult, Path]) -> None:
    result, folder = swept
    page.open(folder / "report.html")
    choose(page, "figure", "Response times, all requests: mean")
    rows = [row for plot in ("sweep-0", "sweep-1") for row in table(page, plot)]
    assert len(rows) == 12
    assert page.value("document.getElementById('best').textContent") == headline(result.groups, known_figure("mean"), [])
    assert page.value("document.getElementById('judged').textContent") == result.outcome("mean")
    for row in rows:
        share = row["panel"].rpartition(" ")[2]
        values = [
            point.result.latency.all.mean
            for point in result
            if (point.values["scheme"], str(point.values["gc.soft"]), str(point.values["workload.read_share"]))
            == (row["line"], row["gc.soft"], share)
        ]
        estimate = estimates([{"": value} for value in values])[""]
        assert len(values) == 3
        assert float(row["Response times, all requests: mean (ns)"]) == pytest.approx(estimate.centre, rel=CLOSE)
        if estimate.disagree:
            seeds = row["seeds, which disagree: the value is their median (ns)"].split()
            assert [float(value) for value in seeds] == pytest.approx(values, rel=CLOSE)
        else:
            assert float(row["half width of the 95 % interval (ns)"]) == pytest.approx(estimate.half, rel=CLOSE)


# ---- remarks ---------------------------------------------------------------------------------------------------------

REMARKS = [
    {"code": "not-settled", "severity": "warning", "about": "gc.write_amplification", "sentence": "Not settled.", "remedy": "Run on."},
    {"code": "overloaded", "severity": "warning", "about": "latency_ns", "sentence": "Too much load.", "remedy": "Less."},
    {"code": "small-blocks", "severity": "note", "about": "gc.duration_ns", "sentence": "Small blocks.", "remedy": "Larger."},
]
WHOLE = {"code": "trace-changed", "severity": "warning", "about": "", "sentence": "A trace was changed.", "remedy": "Look."}
LETTERS = "[...document.querySelectorAll('{}')].map(s => s.textContent)"
UNSAID = """[...document.querySelectorAll('#summary table')].filter(t => !t.closest('details')).flatMap(t => {
  const rows = [...t.querySelectorAll('tbody tr')];
  return rows.flatMap((row, at) => [...row.querySelectorAll('td sup.told')].filter(sup => {
    const last = rows.slice(at).find(other => other.querySelector('th[scope=rowgroup], .sentences'));
    return !last?.querySelector('.sentences')?.textContent.includes(sup.textContent);
  })).map(sup => sup.textContent);
})"""


@pytest.mark.parametrize("several", [False, True])
def test_each_letter_has_its_sentence_in_its_part_of_the_page(*, several: bool, page: Page, tmp_path: Path, results: Any) -> None:
    npgc, pgc = ({**results[scheme], "remarks": REMARKS} for scheme in ("npgc", "pgc"))
    runs = {"npgc": npgc, "pgc": {**pgc, "remarks": [*REMARKS, WHOLE]}} if several else {"npgc": npgc}
    report.write(Runs.of(runs), tmp_path / "report.html")
    page.open(tmp_path / "report.html")
    amplified = "#summary td[data-place=\\'gc.write_amplification\\'] sup"
    assert page.value(LETTERS.format(amplified))[: len(runs)] == ["[a]"] * len(runs)
    assert page.value(LETTERS.format(".lead sup")) == ["[b]"], "the sentence on top names response times"
    assert page.value(UNSAID) == []
    notes = LETTERS.format("#summary td[data-place=\\'gc.duration_ns.max\\'] sup.muted")
    assert page.value(notes)[:1] == ["[d]" if several else "[c]"]
    assert page.value(LETTERS.format("#overview tbody th sup")) == (["[c]"] if several else [])
    order = "[...document.querySelectorAll('#overview, main > .warning, #summary')].map(e => e.id || e.textContent.slice(0, 3))"
    assert page.value(order) == ["overview", "[a]", "[b]", *(["[c]"] if several else []), "summary"]


def test_a_figure_of_a_sweep_has_the_warnings_about_it(page: Page, tmp_path: Path) -> None:
    rest = {key: value for key, value in SMALL.items() if key != "gc.soft"}
    result = ssdlab.sweep({"scheme": ["npgc", "pgc"], "gc.soft": [0.05, 0.1]}, set=rest, requests=400, seed=1)
    for point in result:
        own = REMARKS[:1] if point.values["gc.soft"] == 0.1 else []
        object.__setattr__(point, "result", ssdlab.Result({**point.result.to_dict(), "remarks": own}))
    found = SweepResult(result.sweep, result.points)
    write(found, tmp_path / "report.html")
    page.open(tmp_path / "report.html")
    letter = next(letter for letter, remark in shown(found.remarks).lettered() if remark.code == "not-settled")
    assert page.value("document.getElementById('apart').textContent") == ""
    where = "all points with gc.soft = 0.1: "
    choose(page, "figure", "Garbage collection: write amplification")
    assert page.value("document.getElementById('apart').textContent") == f"[{letter}] {where}Not settled."
    assert page.value("document.getElementById('changed').textContent").endswith(f" [{letter}]")
    assert page.value("document.querySelector('#points .warning').textContent") == f"[{letter}] {where}Not settled."
    cells = page.value("[...document.querySelectorAll('#rows tbody tr')].map(r => r.textContent.includes('[" + letter + "]'))")
    assert cells == [False, True, False, True]


def choose(page: Page, name: str, text: str, form: str = "choices") -> None:
    page.value(
        f"(s => {{ s.value = [...s.options].find(o => o.textContent === '{text}').value; "
        f"s.dispatchEvent(new Event('change', {{bubbles: true}})); }})(document.querySelector('#{form} select[name=\"{name}\"]'))"
    )


def test_axes_of_a_sweep_change_places(page: Page, swept: tuple[ssdlab.SweepResult, Path]) -> None:
    page.open(swept[1] / "report.html")
    choose(page, "x", "scheme")
    lines = "document.querySelector('#choices select[name=lines]').selectedOptions[0].textContent"
    assert page.value(lines) == "gc.soft", "the axes change places"
    assert page.value("[...document.querySelectorAll('#sweep-0 text')].map(t => t.textContent).includes('pgc')")
    assert page.value(f"{MARKS}.length") == 6
    choose(page, "at2", "0.5")
    assert page.value("document.querySelectorAll('#sweep .plot').length") == 1
    choose(page, "lines", "-")
    assert page.value("document.querySelectorAll('#sweep .plot').length") == 3, "a panel for each value of what has no other use"
    page.value("document.getElementById('sweep-0').focus()")
    page.key("ArrowRight")
    assert page.value("document.querySelector('#sweep-0 .spoken').textContent").startswith("scheme npgc: Response times")


def chosen(page: Page) -> list[str]:
    """The axes across, of lines and of panels."""
    selected = "document.querySelector(`#choices select[name=${n}]`).selectedOptions[0].textContent"
    return list(page.value(f"['x', 'lines', 'panels'].map(n => {selected})"))


TITLES = "[...document.querySelectorAll('#sweep h3')].map(h => h.textContent)"


def test_an_axis_is_chosen_for_panels(page: Page, swept: tuple[ssdlab.SweepResult, Path]) -> None:
    page.open(swept[1] / "report.html")
    assert chosen(page) == ["gc.soft", "scheme", "workload.read_share"]
    assert page.value(TITLES) == ["workload.read_share 0.2", "workload.read_share 0.5"]
    choose(page, "panels", "scheme")
    assert chosen(page) == ["gc.soft", "workload.read_share", "scheme"], "lines and panels change places"
    assert page.value(TITLES) == ["scheme npgc", "scheme pgc"]
    ticks = "(n => [...document.querySelectorAll(`#sweep-${n} text[text-anchor=end]`)].map(t => t.textContent))"
    assert page.value(f"{ticks}(0)") == page.value(f"{ticks}(1)"), "one scale"
    choose(page, "lines", "-")
    both = [f"scheme {scheme}, workload.read_share {share}" for scheme in ("npgc", "pgc") for share in ("0.2", "0.5")]
    assert page.value(TITLES) == both
    choose(page, "panels", "workload.read_share")
    assert page.value(TITLES)[:2] == ["workload.read_share 0.2, scheme npgc", "workload.read_share 0.2, scheme pgc"]
    choose(page, "panels", "gc.soft")
    assert chosen(page) == ["workload.read_share", "-", "gc.soft"], "the axis across takes the place of panels"


def test_panels_of_two_axes_take_the_place_of_lines(page: Page, tmp_path: Path) -> None:
    rest = {key: value for key, value in SMALL.items() if key != "gc.soft"}
    ssdlab.sweep({"scheme": ["npgc", "pgc"], "gc.soft": [0.05, 0.1]}, set=rest, requests=50, out=tmp_path / "out", seed=1)
    page.open(tmp_path / "out" / "report.html")
    assert chosen(page) == ["gc.soft", "scheme", "-"]
    choose(page, "panels", "gc.soft")
    assert chosen(page) == ["gc.soft", "scheme", "-"], "one axis goes across"
    choose(page, "panels", "scheme")
    assert chosen(page) == ["gc.soft", "-", "scheme"]
    choose(page, "lines", "scheme")
    assert chosen(page) == ["gc.soft", "scheme", "-"]


def test_differences_along_the_axes_are_listed(page: Page, swept: tuple[ssdlab.SweepResult, Path]) -> None:
    result, folder = swept
    page.open(folder / "report.html")
    choose(page, "figure", "Response times, all requests: mean")
    rows = page.value("[...document.querySelectorAll('#changes tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
    assert [row[0] for row in rows] == ["scheme, against npgc", "pgc", "gc.soft, against 0.05", "0.07", "0.1", *rows[5][:1], "0.5"]
    changes = result.changes("mean")
    assert [row[1] for row in rows if len(row) > 1] == [relative(change.estimate) for change in changes]
    assert [row[4] for row in rows if len(row) > 1] == ["6", "4", "4", "6"]


def doctored(tmp_path: Path, result: ssdlab.SweepResult) -> Path:
    """The page of a sweep whose p99 is two groups of seeds at one point, and 50 times as long as at the others."""
    for run in result:
        data = run.result.to_dict()
        odd = run.values["scheme"] == "pgc" and run.values["gc.soft"] == 0.1 and run.values["workload.read_share"] == 0.2
        data["latency_ns"]["all"]["p99"] = (
            (400_000, 400_000, 31_300_000)[run.values["seed"] - 1] if odd else 600_000 + 1000 * run.values["seed"]
        )
        object.__setattr__(run, "result", ssdlab.Result(data))
    write(SweepResult(result.sweep, result.points), tmp_path / "report.html")
    return tmp_path / "report.html"


def test_seeds_that_disagree_are_dots_on_a_logarithmic_axis(page: Page, tmp_path: Path) -> None:
    rest = {key: value for key, value in SMALL.items() if key not in GRID}
    page.open(doctored(tmp_path, ssdlab.sweep(GRID, set=rest, requests=100)))
    assert page.value("document.querySelectorAll('#sweep-0 .seed').length") == 6 * 3, "a dot for each seed"
    assert page.value("document.querySelectorAll('#sweep-0 .median').length") == 1
    told = page.value("document.getElementById('apart').textContent")
    expected = "scheme = pgc, gc.soft = 0.1, workload.read_share = 0.2: two groups of seeds, 2 near 400 µs and 1 near 31.3 ms"
    assert told == f"Seeds disagree at {expected}."
    # 31.3 and 0.6 ms are a decade and a half apart, so 0.4 and 0.6 ms are far above the lower end only on a logarithmic axis
    heights = page.value(
        "[...document.querySelectorAll('#sweep-0 .seed')].slice(-3).map(c => Number(c.getAttribute('cy')))"
        ".concat([...document.querySelectorAll('#sweep-0 circle:not(.seed)')].map(c => Number(c.getAttribute('cy'))))"
    )
    low, _, high, *others = heights
    assert all((low - other) / (low - high) == pytest.approx(0.093, abs=0.003) for other in others), "log 1.5 / log 78.25"
    bars = page.value(
        "[...document.querySelectorAll('.interval')].map(l => Math.max(Number(l.getAttribute('y1')), Number(l.getAttribute('y2'))))"
    )
    frame = page.value("(f => Number(f.getAttribute('y')) + Number(f.getAttribute('height')))(document.querySelector('#sweep-0 .frame'))")
    assert all(bar <= frame for bar in bars)


def test_points_of_a_sweep_are_sorted_and_chosen(page: Page, swept: tuple[ssdlab.SweepResult, Path]) -> None:
    result, folder = swept
    page.open(folder / "report.html")
    names = page.value("[...document.querySelectorAll('#rows thead th')].map(h => h.textContent)")
    axes = [axis for axis in GRID if axis != "seed"]
    assert names == [*axes, "mean", "p99", "p99.9", "write amplification", "GC jobs", "requests/s", "runs"]
    choose(page, "axis0", "pgc", "filters")
    wanted = [point for point in result.means if point.values["scheme"] == "pgc"]
    assert page.value("document.getElementById('shown').textContent") == "6 of 12 points"
    for down in (False, True):
        page.value("document.querySelectorAll('#rows thead button')[4].click()")
        assert page.value("document.querySelectorAll('#rows thead th')[4].getAttribute('aria-sort')") == (
            "descending" if down else "ascending"
        )
        ordered = sorted(wanted, key=lambda point: point.estimates["latency_ns.all.p99"].centre, reverse=down)
        rows = page.value("[...document.querySelectorAll('#rows tbody tr')].map(r => [...r.cells].slice(0, 3).map(c => c.textContent))")
        assert rows == [[str(value) for value in point.values.values()] for point in ordered]
    assert page.value("document.querySelectorAll('#rows a').length") == 0
    page.value("document.querySelector('#rows .seeds').click()")
    singles = page.value(
        "[...document.querySelectorAll('#rows .single')]"
        ".map(r => [r.cells[0].textContent, ...[...r.querySelectorAll('a')].map(a => a.href)])"
    )
    assert [row[0] for row in singles] == ["seed 1", "seed 2", "seed 3"]
    for (_, *links), point in zip(singles, ordered[0].runs, strict=True):
        report_, file = [Path(urllib.parse.unquote(urllib.parse.urlparse(link).path)) for link in links]
        assert report_.name == "report.html"
        assert report_.is_file()
        assert json.loads(file.read_text())["digest"] == point.result.digest
    page.value("document.querySelector('#rows .seeds').click()")
    assert page.value("document.querySelectorAll('#rows .single').length") == 0


def test_a_sweep_of_one_seed_and_one_axis_draws(page: Page, tmp_path: Path) -> None:
    result = ssdlab.sweep({"scheme": ["npgc", "pgc", "rwp"]}, set=SMALL, requests=200, out=tmp_path)
    page.open(tmp_path / "report.html")
    assert page.value(f"{MARKS}.length") == 3
    assert "One seed: whether that is chance is not known" in page.value("document.getElementById('judged').textContent")
    assert page.value("document.querySelectorAll('#rows tbody a').length") == 6, "page and result of each"
    rows = table(page, "sweep-0")
    assert [row["scheme"] for row in rows] == ["npgc", "pgc", "rwp"]
    for row, point in zip(rows, result, strict=True):
        assert float(row["Response times, all requests: p99 (ns)"]) == pytest.approx(point.result.latency.all.p99, rel=CLOSE)


def test_results_beside_a_file_of_a_sweep_are_not_taken_for_a_sweep(results: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text('[grid]\nscheme = ["npgc"]\n')
    (tmp_path / "result.json").write_text(json.dumps(results["pgc"]))
    assert write_again(tmp_path, tmp_path / "report.html").about == "pgc"


def test_the_end_of_a_warm_up_is_marked(results: dict[str, dict[str, Any]], page: Page, tmp_path: Path) -> None:
    ends = results["npgc"]["simulated_ns"] // 4
    report.write(Runs.of({"npgc": {**results["npgc"], "warm_up": {"requests": 700, "ns": ends}}}), tmp_path / "report.html")
    page.open(tmp_path / "report.html")
    marks = page.value(
        "(p => ['line.warm-up', '.frame'].map(s => p.querySelector(s).getBoundingClientRect()).map(b => [b.left, b.width]))"
        "(document.getElementById('timeline-0'))"
    )
    (place, _), (left, width) = marks
    assert (place - left) / width == pytest.approx(0.25, abs=0.01)
    assert page.value("document.querySelectorAll('#latency_cdf-0 line.warm-up').length") == 0
    assert "Figures leave out the warm-up" in page.value("document.querySelector('.remarks').textContent")
