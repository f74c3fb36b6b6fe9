"""The what-if page in a browser: controls with mouse and keyboard, figures, variants, links and the history."""

from __future__ import annotations

import functools
import json
import operator
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

import ssdlab
from browser import Page
from conftest import SMALL, SMALL_OPTIONS, Ssdlab
from explored import Explored, explored

REQUESTS = 3000
KEYS = {name: key for name, key in ssdlab.config_keys().items() if not key["description"].startswith("Trace")}
"""Keys of a generated workload."""
DONE = "/(whole|refused)$/.test(document.documentElement.dataset.shown ?? '') && document.getElementById('stop').hidden"
COPIES = "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text; } } })"
# Texts of the controls that are cut off, and whatever is wider than the window.
TOO_WIDE = """
[...document.querySelectorAll('aside input, aside select, aside label, .keep button, .keep input')]
  .filter(one => one.getClientRects().length && one.getBoundingClientRect().right > innerWidth)
  .map(one => one.outerHTML.slice(0, 80))
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explored]:
    words = [*SMALL_OPTIONS, "--scheme", "pgc", "--requests", REQUESTS, "--sample", 1000]
    with explored(tmp_path_factory.mktemp("explored"), *words) as found:
        yield found


@pytest.fixture
def shown(page: Page, server: Explored) -> Iterator[Page]:
    """The page with its first figures; at the end, that nothing was logged and nothing came from elsewhere."""
    page.resize(1400, 900)
    page.scheme(dark=False)
    page.visit("about:blank")
    page.requests.clear()
    page.complaints.clear()
    visit(page, server.address)
    yield page
    assert page.complaints == []
    assert all(url.startswith((server.address, "data:", "about:")) for url in page.requests)


def visit(page: Page, url: str) -> None:
    page.visit(url)
    settled(page)


def settled(page: Page) -> None:
    """Waits until the last request of the page is answered to its end."""
    page.until(f"document.documentElement.dataset.shown?.split(' ')[0] === String({asked(page)}) && {DONE}")


def asked(page: Page) -> int:
    """Number of the last request; at least the first one."""
    page.until("document.documentElement.dataset.asked > 0")
    return int(page.value("document.documentElement.dataset.asked"))


def link(page: Page) -> dict[str, str]:
    return dict(parse_qsl(page.value("location.hash.slice(1)")))


def number(page: Page, place: str, run: int = -1) -> float:
    """A number of the overview, of a run by its place."""
    found: list[str] = page.value(f"[...document.querySelectorAll('#overview [data-place=\"{place}\"]')].map(cell => cell.dataset.value)")
    return float(found[run])


def put(page: Page, key: str, value: str) -> None:
    """Types a value into the field of a key, or chooses it."""
    control = f"document.querySelector('#keys [data-key=\"{key}\"] .control > *')"
    page.value(f"(() => {{ {control}.value = {json.dumps(value)}; {control}.dispatchEvent(new Event('change')); }})()")
    settled(page)


def keep(page: Page, label: str) -> None:
    """Types a label and keeps the configuration under it."""
    field = "document.getElementById('label')"
    page.value(f"{field}.value = {json.dumps(label)}; {field}.dispatchEvent(new Event('input'))")
    page.value("document.querySelector('#keep button').click()")


def digest(page: Page) -> str:
    found: str = page.value("document.documentElement.dataset.digest")
    return found


def ran(**changes: Any) -> ssdlab.Result:
    settings = {key.replace("__", "."): value for key, value in changes.items()}
    return ssdlab.run(scheme="pgc", requests=REQUESTS, set={**SMALL, **settings})


def test_a_slider_that_is_moved_by_keys_shows_the_numbers_of_that_run(shown: Page) -> None:
    assert digest(shown) == ran().digest
    shown.value("document.querySelector('[data-key=\"workload.read_share\"] input[type=range]').focus()")
    for _ in range(21):
        shown.key("ArrowRight")
    settled(shown)
    assert link(shown)["workload.read_share"] == "0.51"
    direct = ran(workload__read_share=0.51)
    assert digest(shown) == direct.digest
    for place in ("latency_ns.all.mean", "latency_ns.all.p99", "gc.write_amplification"):
        value: Any = direct
        for name in place.split("."):
            value = value[name]
        assert number(shown, place) == value
        assert number(shown, place, 0) != value, "the first row is the run before"
    assert number(shown, "latency_ns.all.mean", 0) == ran()["latency_ns"]["all"]["mean"]
    assert "workload.read_share 0.51 (was 0.3)" in shown.value("document.getElementById('change').textContent")
    assert shown.value("document.activeElement.type") == "range", "the slider keeps the focus"
    shown.value("history.back()")
    shown.until("!location.hash.includes('read_share=0.51')")
    settled(shown)
    assert digest(shown) == ran().digest, "steps of one slider are one step of the history"


def test_a_slider_that_is_dragged_shows_samples_and_is_one_step(shown: Page) -> None:
    box = shown.value(
        "(() => { document.querySelector('[data-key=\"workload.read_share\"]').scrollIntoView({ block: 'center' });"
        " const r = document.querySelector('[data-key=\"workload.read_share\"] input[type=range]').getBoundingClientRect();"
        " return [r.left, r.top + r.height / 2, r.width]; })()"
    )
    length = shown.value("history.length")
    shown.mouse("mousePressed", box[0] + box[2] * 0.3, box[1], pressed=True)
    for step in range(4, 9):
        place = {"x": box[0] + box[2] * step / 10, "y": box[1]}
        shown.call("Input.dispatchMouseEvent", type="mouseMoved", button="left", buttons=1, **place)
    shown.until("/ sample$/.test(document.documentElement.dataset.shown)")
    assert "read_share=0.8" not in shown.value("location.hash")
    shown.mouse("mouseReleased", box[0] + box[2] * 0.8, box[1])
    settled(shown)
    value = float(link(shown)["workload.read_share"])
    assert 0.7 < value < 0.9
    assert shown.value("history.length") == length + 1
    assert digest(shown) == ran(workload__read_share=value).digest


def test_what_is_copied_repeats_the_run(shown: Page, ssdlab_command: Ssdlab) -> None:
    put(shown, "gc.victim", "random")
    shown.value(COPIES)
    shown.value("document.querySelector('[data-copy=command]').click()")
    shown.until("window.copied")
    words = shlex.split(shown.value("window.copied"))
    repeated = ssdlab_command(*words[1:], "--json").json()
    assert repeated["digest"] == digest(shown)
    figures: list[str] = shown.value(
        "[...document.querySelectorAll('#overview tbody tr:last-child [data-place]')].map(one => one.dataset.place)"
    )
    assert {"latency_ns.all.mean", "latency_ns.all.p99", "gc.write_amplification", "gc.duration_ns.max"} <= set(figures)
    for place in figures:
        assert number(shown, place) == functools.reduce(operator.getitem, place.split("."), repeated), place
    shown.value("document.querySelector('[data-copy=link]').click()")
    shown.until("window.copied.startsWith('http')")
    assert shown.value("window.copied") == shown.value("location.href")


def test_variants_are_kept_compared_and_removed(shown: Page) -> None:
    before = digest(shown)
    keep(shown, "as it is")
    put(shown, "gc.victim", "random")
    shown.value("document.querySelector('#keep button').click()")
    settled(shown)
    put(shown, "gc.soft", "0.15")
    labels = "[...document.querySelectorAll('#overview tbody th')].map(head => head.textContent)"
    suggested = shown.value("document.querySelectorAll('#kept li button')[2].textContent")
    assert shown.value(labels) == ["as it is", suggested, "now"]
    assert suggested.startswith("pgc ")
    means = [ran()["latency_ns"]["all"]["mean"], ran(gc__victim="random")["latency_ns"]["all"]["mean"]]
    assert [number(shown, "latency_ns.all.mean", run) for run in (0, 1)] == means
    variants = shlex.split(shown.value("document.getElementById('compare').textContent"))
    assert variants[variants.index("--variant") + 1].startswith("as it is: ")
    shown.value("document.querySelector('#kept li button').click()")
    settled(shown)
    assert digest(shown) == before, "a click on a variant goes back to it"
    shown.value("document.querySelectorAll('#kept li button')[1].click()")
    settled(shown)
    assert shown.value("document.querySelectorAll('#kept li').length") == 1


def test_a_label_that_is_taken_is_not_kept_twice(shown: Page) -> None:
    for _ in range(2):
        keep(shown, "mine")
    settled(shown)
    assert shown.value("document.querySelectorAll('#kept li').length") == 1
    assert not shown.value("document.getElementById('label').validity.valid")


def test_a_link_restores_configuration_and_variants(shown: Page, server: Explored) -> None:
    put(shown, "buffer.bytes", "64KiB")
    keep(shown, "a & b = c")
    put(shown, "workload.size_table", "[[4, 1.0], [8, 2.0]]")
    put(shown, "workload.request_size", "table")
    saved, found = digest(shown), shown.value("location.hash")
    shown.visit("about:blank")
    visit(shown, server.address + found)
    assert digest(shown) == saved
    assert shown.value("document.querySelector('#kept button').textContent") == "a & b = c"
    assert shown.value("document.querySelector('#keys [data-key=\"buffer.bytes\"] input').value") == "64KiB"
    assert link(shown)["workload.size_table"] == "[[4, 1.0], [8, 2.0]]"


def test_undo_and_redo_are_the_history_of_the_browser(shown: Page) -> None:
    digests = [digest(shown)]
    for value in ("random", "fifo"):
        put(shown, "gc.victim", value)
        digests.append(digest(shown))
    assert len({*digests}) == 3
    for move, wanted in ((-1, 1), (-1, 0), (1, 1), (1, 2)):
        shown.value(f"history.go({move})")
        shown.until(f"document.documentElement.dataset.digest === '{digests[wanted]}'")
        settled(shown)
    assert shown.value("document.querySelector('#keys [data-key=\"gc.victim\"] select').value") == "fifo"


def test_an_invalid_value_says_why_beside_its_key_and_the_last_figures_stay(shown: Page) -> None:
    before, table = digest(shown), shown.value("document.querySelector('#overview table').textContent")
    put(shown, "device.overprovisioning", "0.001")
    note = "document.querySelector('#keys [data-key=\"device.overprovisioning\"] .note')"
    assert "set device.overprovisioning to at least" in shown.value(f"{note}.textContent")
    assert shown.value(f"{note}.getClientRects().length") == 1
    assert shown.value("document.querySelector('#keep button').disabled")
    assert (digest(shown), shown.value("document.querySelector('#overview table').textContent")) == (before, table)
    put(shown, "gc.victim", "random")
    assert "device.overprovisioning" in shown.value("document.getElementById('refused').textContent"), "it is still there"
    put(shown, "device.overprovisioning", "0.25")
    assert shown.value(f"{note}.hidden")
    assert digest(shown) == ran(gc__victim="random").digest
    assert number(shown, "latency_ns.all.mean", 0) == ran()["latency_ns"]["all"]["mean"], "compared with the last that ran"


def test_every_key_is_found_with_its_sentence_and_its_range(shown: Page) -> None:
    there: list[str] = shown.value("[...new Set([...document.querySelectorAll('#keys .row')].map(row => row.dataset.key))]")
    assert set(there) == set(KEYS)
    shown.key("/")
    for letter in "victim":
        shown.key(letter)
    visible = "[...document.querySelectorAll('#keys .row')].filter(row => row.getClientRects().length).map(row => row.dataset.key)"
    wanted = {name for name, key in KEYS.items() if "victim" in f"{name} {key['description']}".lower()}
    assert set(shown.value(visible)) == wanted
    assert shown.value("document.getElementById('found').textContent") == f"{len(wanted)} of {len(KEYS)} keys"
    having = "[...document.querySelectorAll('#keys .row')].filter(row => row.querySelector('[type=range]')).map(row => row.dataset.key)"
    having = having.replace(".filter(", ".filter(row => row.getClientRects().length).filter(", 1)
    assert set(shown.value(having)) == {name for name in wanted if KEYS[name]["kind"] in ("integer", "number")}
    shown.key("Escape")
    assert shown.value("document.getElementById('found').textContent") == ""


def test_sliders_stay_in_the_range_of_their_key_and_begin_at_its_value(shown: Page) -> None:
    keys = {name: key for name, key in KEYS.items() if key["kind"] in ("integer", "number")}
    ends = """
    [...document.querySelectorAll('#keys details:not(:first-child) .row')].filter(row => row.querySelector('[type=range]')).map(row => {
      const [field, slider] = row.querySelectorAll('input');
      const begins = [field.value, slider.getAttribute('aria-valuetext')];
      const at = place => { slider.value = place; slider.dispatchEvent(new Event('input')); return field.value; };
      const reached = [at(0), at(Number(slider.max))];
      return [row.dataset.key, begins, reached];
    })
    """
    found = shown.value(ends)
    assert {key for key, _, _ in found} == set(keys)
    for name, (value, told), (low, high) in found:
        assert value == told
        assert keys[name]["minimum"] <= float(low) < float(high) <= keys[name].get("maximum", 2**53 - 1), name
        if value:
            assert float(low) <= float(value) <= float(high), name


@pytest.mark.parametrize("width", [800, 1400, 1900])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_everything_fits(shown: Page, width: int, dark: bool) -> None:
    shown.resize(width, 900)
    shown.scheme(dark=dark)
    put(shown, "gc.victim", "random")
    shown.unfold()
    assert shown.value("document.documentElement.scrollWidth") <= width
    assert shown.value(TOO_WIDE) == []
    assert shown.value("document.querySelectorAll('#results figure').length") > 8
    assert shown.value("[...document.querySelectorAll('.plot')].filter(plot => !plot.querySelector('svg')).length") == 0
    assert shown.value("getComputedStyle(document.body).backgroundColor") == ("rgb(20, 23, 27)" if dark else "rgb(255, 255, 255)")


def test_figures_work_as_those_of_the_report(shown: Page) -> None:
    put(shown, "gc.victim", "random")
    host = "document.getElementById('timeline-0')"
    shown.value(f"{host}.closest('figure').querySelector('[data-zoom=in]').click()")
    assert shown.value(f"{host}.closest('figure').querySelector('[data-zoom=all]').disabled") is False
    shown.value("document.querySelector('#bar [data-run=\"0\"]').click()")
    assert shown.value("document.querySelector('#bar [data-run=\"0\"]').getAttribute('aria-pressed')") == "false"
    put(shown, "gc.victim", "fifo")
    assert shown.value("document.querySelector('#bar [data-run=\"0\"]').getAttribute('aria-pressed')") == "false", "it stays hidden"
    assert shown.value(f"{host}.closest('figure').querySelector('[data-zoom=all]').disabled") is False, "the zoom stays"
    shown.value("document.getElementById('theme').click()")
    assert shown.value("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"


def test_the_end_of_the_server_is_said(page: Page, tmp_path_factory: pytest.TempPathFactory) -> None:
    with explored(tmp_path_factory.mktemp("ended"), *SMALL_OPTIONS, "--requests", 500) as found:
        page.visit("about:blank")
        visit(page, found.address)
        found.stop()
        page.until("document.getElementById('stage').textContent.includes('server has ended')")
    assert page.value("document.querySelectorAll('#results figure').length") > 8, "its figures stay"


def changed(page: Page) -> str:
    """What the heading of the workload's keys says."""
    return str(
        page.value("[...document.querySelectorAll('#keys summary')].find(one => one.textContent.startsWith('Workload')).textContent")
    )


def test_a_value_back_at_that_of_the_presets_is_no_change(shown: Page) -> None:
    before = ssdlab.config_keys()["workload.queue_depth"]["default"]
    put(shown, "workload.queue_depth", "4")
    settled(shown)
    assert "changed" in changed(shown)
    count = changed(shown)
    put(shown, "workload.queue_depth", str(before))
    settled(shown)
    assert "workload.queue_depth" not in link(shown)
    assert changed(shown) != count


def test_a_change_is_compared_with_what_was_shown_not_with_what_never_ran(shown: Page) -> None:
    """Of three changes in one instant only the last is run: it is compared with the figures from before all of them."""
    keys = ("0.4", "0.5", "0.6")
    script = "document.querySelector('[data-key=\"workload.read_share\"] .number')"
    steps = "; ".join(f"box.value = '{value}'; box.dispatchEvent(new Event('change'))" for value in keys)
    shown.value(f"(() => {{ const box = {script}; {steps}; }})()")
    settled(shown)
    assert digest(shown) == ran(workload__read_share=0.6).digest
    assert "workload.read_share 0.6 (was 0.3)" in shown.value("document.getElementById('change').textContent")
    assert number(shown, "latency_ns.all.mean", 0) == ran()["latency_ns"]["all"]["mean"]


def test_a_value_that_the_drive_cannot_have_is_shown_as_it_is_in_effect(page: Page, tmp_path: Path) -> None:
    """`--fit` raises the over-provisioning of 0 to the least that leaves GC room."""
    words = ["--device", "lee2013", "--scheme", "pgc", "--workload", "uniform-4k-write", "--fit", "1GiB", "--requests", 300]
    with explored(tmp_path, *words) as server:
        visit(page, server.address)
        put(page, "device.overprovisioning", "0")
        settled(page)
        box = "document.querySelector('[data-key=\"device.overprovisioning\"]')"
        assert page.value(f"{box}.querySelector('.number').value") == "0.0588"
        assert page.value(f"{box}.querySelector('.note').textContent") == "0 was asked for; the drive has the value above."
