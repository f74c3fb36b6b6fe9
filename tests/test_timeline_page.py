"""The page of a timeline: what it holds is what the JSON file and the states of blocks say, it draws, and it loads nothing."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import ssdlab
from browser import Page
from conftest import SMALL, SMALL_OPTIONS, Ssdlab
from ssdlab.pages.timelines.blocks import read_blocks
from ssdlab.pages.timelines.columns import NONE
from test_timeline import ns

REQUESTS = 800
MERGING = SMALL | {"gc.merge": True, "gc.scope": "none", "workload.interarrival_us": 500}
CASES: dict[str, dict[str, Any]] = {
    "fpgc": {"scheme": "fpgc", "set": SMALL | {"workload.interarrival_us": 600}},
    "merging": {"scheme": "npgc", "set": MERGING},
    "multiplane": {
        "device": "elyasi2017",
        "set": {
            "device.channels": 1,
            "device.blocks_per_plane": 32,
            "device.pages_per_block": 8,
            "device.overprovisioning": 0.25,
            "workload.read_share": 0.3,
            "workload.request_kb": 64,
            "workload.interarrival_us": 1000,
        },
    },
    "array": {"scheme": "npgc", "set": SMALL | {"array.level": "rais5", "array.drives": 3, "array.stripe_kb": 8}},
    "flows": {
        "scheme": "npgc",
        "set": SMALL | {"workload.flows": [{"name": "a <b>", "read_share": 1.0}, {"name": "c", "interarrival_us": 900}]},
    },
}


class Made:
    """A run with a timeline and states of blocks, and its page."""

    def __init__(self, folder: Path, case: Mapping[str, Any]) -> None:
        self.result = ssdlab.run(**case, requests=REQUESTS, timeline=folder / "t.json", blocks=True, out=folder / "run")
        self.events = json.loads((folder / "t.json").read_text())["traceEvents"]
        self.slices = [event for event in self.events if event["ph"] == "X"]
        (folder / "t.json").rename(folder / "run" / "t.json")
        self.page = folder / "page.html"
        write_page(folder / "run", self.page)
        self.data, self.tables = unpacked(self.page.read_text())

    def states_at(self, at: int) -> list[dict[str, Any]]:
        """The state of each block at a time, by drive and block."""
        rows = pq.read_table(self.page.parent / "run" / "blocks.parquet").to_pylist()
        latest = {(row["drive"], row["block"]): row for row in rows if row["time_ns"] <= at}
        return [latest[place] for place in sorted(latest)]


def write_page(source: Path, page: Path) -> None:
    from ssdlab.pages.timelines import found_in, write

    write(found_in(source), page)


def unpacked(text: str) -> tuple[dict[str, Any], dict[str, dict[str, np.ndarray[Any, Any]]]]:
    """The data of a page, as its script reads them."""
    found = {id_: re.search(rf'id="{id_}">(.*?)</script>', text, re.DOTALL) for id_ in ("data", "columns")}
    data = json.loads(found["data"][1])  # type: ignore[index]
    raw = zlib.decompress(base64.b64decode(found["columns"][1]))  # type: ignore[index]
    types = {"Float64": "<f8", "Uint32": "<u4", "Uint16": "<u2", "Uint8": "u1"}
    tables = {
        table: {name: np.frombuffer(raw, types[kind], count, at) for name, (kind, at, count) in columns.items()}
        for table, columns in data["layout"].items()
    }
    return data, tables


@pytest.fixture(scope="module", params=CASES)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("page"), CASES[request.param])


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("page"), CASES["merging"])


def optional(number: int) -> int | None:
    return None if number == NONE else number


def rebuilt(made: Made) -> list[dict[str, Any]]:
    """The slices of a page in the form of the file."""
    about, tables = made.data["events"], made.tables
    words, slices, pages = about["words"], tables["slices"], tables["pages"]
    threads = {index: (about["processes"][str(pid)], name) for index, (pid, name) in enumerate(about["tracks"])}

    def page(at: int) -> dict[str, Any]:
        values = {name: optional(int(pages[name][at])) for name in pages}
        values["for"] = None if values["for"] is None else words[values["for"]]
        return {name: value for name, value in values.items() if value is not None}

    def arguments(at: int) -> dict[str, Any]:
        of = int(slices["of"][at])
        if of != NONE and threads[int(slices["track"][at])][0] == "requests":
            row = {name: float(column[of]) for name, column in tables["requests"].items()}
            shown = {"request": row["number"], "offset": row["offset"], "bytes": row["bytes"], "arrival_us": row["arrival"]}
            shown |= {"response_us": row["response"]} if row["response"] >= 0 else {}
            return shown | {key: words[int(row[key])] for key in ("blocked_by", "flow") if row[key] != NONE}
        if of != NONE:
            jobs = tables["jobs"]
            return dict(zip(("job", "pool", "victim", "valid_pages"), (int(jobs[name][of]) for name in jobs), strict=True))
        first, count, job = int(slices["page"][at]), int(slices["pages"][at]), optional(int(slices["job"][at]))
        whose = {} if job is None else {"job": job}
        return whose | (page(first) if count == 1 else {"pages": [page(number) for number in range(first, first + count)]})

    return [
        {
            "thread": threads[int(slices["track"][at])],
            "name": words[slices["name"][at]],
            "cat": words[slices["category"][at]],
            "ts": int(slices["start"][at]),
            "dur": int(slices["duration"][at]),
            "args": arguments(at),
        }
        for at in range(len(slices["start"]))
    ]


def test_the_page_holds_every_slice_of_the_file(made: Made) -> None:
    names = {(event["name"], event["pid"], event["tid"]): event["args"].get("name") for event in made.events if event["ph"] == "M"}
    process = {pid: name for (what, pid, _), name in names.items() if what == "process_name"}
    thread = {tid: (process[pid], name) for (what, pid, tid), name in names.items() if what == "thread_name"}

    def in_ns(arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {key: ns(value) if key in ("arrival_us", "response_us") else value for key, value in arguments.items()}

    expected = [
        {
            "thread": thread[event["tid"]],
            "name": event["name"],
            "cat": event["cat"],
            "ts": ns(event["ts"]),
            "dur": ns(event["dur"]),
            "args": in_ns(event["args"]),
        }
        for event in made.slices
    ]
    assert rebuilt(made) == expected


def test_merged_requests_are_those_of_the_arrows(made: Made) -> None:
    """An arrow that ends at a page move is of a request that merged with it."""
    begun: dict[int, int] = {}
    running: dict[int, int] = {}
    expected: list[tuple[int, int]] = []
    number = 0
    # events are in order of time, and slices of an instant before arrows: the latest slice of a track is the one under way
    for event in made.events:
        if event["ph"] == "X":
            running[event["tid"]] = number
            number += 1
        elif event["ph"] == "s":
            begun[event["id"]] = made.slices[running[event["tid"]]]["args"]["request"]
        elif event["ph"] in "tf" and made.slices[running[event["tid"]]]["cat"] == "gc":
            expected.append((begun[event["id"]], running[event["tid"]]))
    merged = made.tables["merged"]
    assert list(zip(merged["request"], merged["slice"], strict=True)) == expected
    merges = made.result.to_dict()["gc"].get("merged", {})
    assert expected or not merges.get("read")


def test_curves_are_those_of_the_states(made: Made) -> None:
    blocks = made.data["blocks"]
    instants = [int(at) for at in made.tables["instants"]["at"]]
    told = made.result.blocks
    assert (len(instants), instants[1] - instants[0], instants[-1]) == (told.instants, told.interval_ns, made.result.simulated_ns)
    for number in (0, 1, len(instants) // 2, len(instants) - 1):
        states = made.states_at(instants[number])
        free = Counter((row["drive"], row["pool"]) for row in states if row["state"] == "free")
        pools = {(row["drive"], row["pool"]) for row in states}
        assert blocks["free"][number] == sum(free.values())
        assert blocks["fewest"][number] == min(free[pool] for pool in pools)
    first, last = made.states_at(0), made.states_at(instants[-1])
    erased = sum(row["erases"] for row in last) - sum(row["erases"] for row in first)
    assert erased == made.result.flash.erases > 0
    # pages programmed: those of erased blocks and what the blocks hold now
    held = sum(row["programmed"] for row in last) - sum(row["programmed"] for row in first)
    assert made.data["blocks"]["pages"] == made.result.config["device"]["pages_per_block"]
    assert erased * blocks["pages"] + held == made.result.flash.programs
    assert len(blocks["amplification"]) == len(instants)


def test_a_cache_in_slc_mode_has_free_blocks_of_its_own_and_no_curve_of_amplification(tmp_path: Path) -> None:
    keys = {
        "device.blocks_per_plane": 24,
        "device.pages_per_block": 12,
        "device.overprovisioning": 0.6,
        "ftl.frontier": "separate",
        "slc.static_blocks": 3,
        "slc.idle_us": 1_000,
        "workload.read_share": 0.2,
    }
    drive = Made(tmp_path, {"set": keys})
    blocks, series = drive.data["blocks"], drive.result.series
    assert drive.result.slc.folds > 0
    assert blocks["amplification"] is None
    assert min(blocks["fewest"]) >= min(series.free_blocks.min)
    assert max(blocks["fewest"]) <= 24 - 3


def test_write_amplification_over_the_run_is_that_of_the_result(one: Made) -> None:
    blocks, bins = one.data["blocks"], one.result.series
    assert blocks["interval_ns"] == bins.bin_ns
    moved = bins.gc.pages_moved
    own = [
        pages / (amplification - 1)
        for pages, amplification in zip(moved, blocks["amplification"][1:], strict=False)
        if pages and amplification
    ]
    assert all(abs(round(pages) - pages) < 0.01 for pages in own), "a whole number of pages of the host"
    assert sum(moved) == one.result.gc.pages_moved


def test_states_change_no_result(tmp_path: Path) -> None:
    with_states = ssdlab.run(scheme="npgc", set=SMALL, requests=800, blocks=True, out=tmp_path)
    assert with_states.digest == ssdlab.run(scheme="npgc", set=SMALL, requests=800).digest
    assert ssdlab.load(tmp_path).to_dict()["blocks"]["file"] == str(tmp_path / "blocks.parquet")


def opened(page: Page, file: Path, *, width: int = 1300, dark: bool = False) -> None:
    page.resize(width, 900)
    page.scheme(dark=dark)
    page.visit(file.resolve().as_uri())
    page.until("document.documentElement.dataset.drawn === 'yes'")


def find(page: Page, kind: str, number: int) -> dict[str, list[str]]:
    """Searches; returns the details of the slice found, by name."""
    page.value(
        f"(() => {{ document.getElementById('search-kind').value = '{kind}'; document.getElementById('search-number').value = '{number}';"
        " document.getElementById('search').requestSubmit(); })()"
    )
    pairs = page.value("[...document.querySelectorAll('#details dt')].map(term => [term.textContent, term.nextSibling.textContent])")
    details: dict[str, list[str]] = {}
    for term, text in pairs:
        details.setdefault(term, []).append(text)
    return details


def exact(at_ns: int) -> str:
    """A time in the unit that fits, with all of its nanoseconds."""
    size, unit = next(((size, unit) for size, unit in ((10**9, "s"), (10**6, "ms"), (1000, "us")) if at_ns >= size), (1, "ns"))
    rest = f"{at_ns % size:0{len(str(size)) - 1}}".rstrip("0") if size > 1 else ""
    return f"{at_ns // size:,}{f'.{rest}' if rest else ''} {unit}"


def shown_us(at: float) -> str:
    return exact(ns(at))


@pytest.mark.usefixtures("silent")
def test_numbers_on_the_page_are_those_of_the_file(one: Made, page: Page) -> None:
    opened(page, one.page)
    requests = [piece for piece in one.slices if "arrival_us" in piece["args"]]
    for piece in requests[:: len(requests) // 12]:
        number = piece["args"]["request"]
        details = find(page, "request", number)
        assert details["kind"] == [piece["name"]]
        assert details["request"] == [f"{number:,}"]
        assert (details["begin"], details["duration"]) == ([shown_us(piece["ts"])], [shown_us(piece["dur"])])
        assert details["response time"] == [shown_us(piece["args"]["response_us"])]
        works = [other for other in one.slices if other["args"].get("request") == number and other is not piece]
        links = page.value("[...document.querySelectorAll('#details .links button')].map(button => button.textContent)")
        merged = int((one.tables["merged"]["request"] == number).sum())
        assert len(links) == len(works) + merged
        for other in works:
            assert any(link.startswith(f"{other['name']}, ") and shown_us(other["ts"]) in link for link in links), (other, links)
    jobs = [piece for piece in one.slices if "victim" in piece["args"]]
    for piece in jobs[:: max(1, len(jobs) // 5)]:
        details = find(page, "job", piece["args"]["job"])
        assert details["victim block"] == [f"{piece['args']['victim']:,}"]
        assert details["end"] == [exact(ns(piece["ts"]) + ns(piece["dur"]))]
    assert "no slice of request 999,999" in (
        find(page, "request", 999_999) and page.value("document.getElementById('search-found').textContent")
    )


@pytest.mark.usefixtures("silent")
def test_a_link_leads_from_an_operation_to_its_request(one: Made, page: Page) -> None:
    opened(page, one.page)
    piece = next(piece for piece in one.slices if piece["name"] == "program" and "request" in piece["args"])
    find(page, "request", piece["args"]["request"])
    page.value("[...document.querySelectorAll('#details .links button')].find(button => button.textContent.startsWith('program')).click()")
    assert page.value("document.querySelector('#details h3').textContent") == "program"
    page.value("document.querySelector('#details .links button').click()")
    assert page.value("document.querySelector('#details h3').textContent") == "write request"


WINDOW = "document.getElementById('window').textContent"


@pytest.mark.usefixtures("silent")
def test_an_address_names_a_request(one: Made, page: Page) -> None:
    number = next(piece["args"]["request"] for piece in one.slices if "arrival_us" in piece["args"])
    page.resize(1300, 900)
    page.visit(f"{one.page.resolve().as_uri()}#request={number}")
    page.until(f"document.getElementById('search-found').textContent.startsWith('request {number:,}: slice 1 of')")


@pytest.mark.usefixtures("silent")
def test_empty_tracks_are_folded_and_shown_by_a_key(page: Page, tmp_path: Path) -> None:
    keys = {"workload.read_share": 0.0, "ftl.precondition.kind": "none"}
    ssdlab.run(set={**SMALL, **keys}, requests=1, timeline=tmp_path / "t.html")
    opened(page, tmp_path / "t.html")
    height = "document.getElementById('rows-height').offsetHeight"
    folded = page.value(height)
    page.value("document.getElementById('tracks').focus()")
    page.key("e")
    assert page.value(height) > folded
    page.key("e")
    assert page.value(height) == folded


@pytest.mark.usefixtures("silent")
def test_wheel_keys_and_drag_zoom_to_the_nanosecond(one: Made, page: Page) -> None:
    opened(page, one.page)
    page.value("document.getElementById('tracks').focus()")
    page.key("Home")
    page.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    whole = page.value(WINDOW)
    page.key("+")
    page.until(f"{WINDOW} !== {json.dumps(whole)}")
    page.key("Home")
    page.until(f"{WINDOW} === {json.dumps(whole)}")
    for _ in range(60):
        page.key("+")
    page.until(f"/: [89] ns$/.test({WINDOW})")
    nearest = page.value(WINDOW)
    page.key("ArrowRight")
    page.until(f"{WINDOW} !== {json.dumps(nearest)}")
    page.key("Home")
    page.until(f"{WINDOW} === {json.dumps(whole)}")
    box = page.value("(({left, top}) => [left, top])(document.getElementById('tracks').getBoundingClientRect())")
    page.call("Input.dispatchMouseEvent", type="mouseWheel", x=box[0] + 500, y=box[1] + 80, deltaX=0, deltaY=-100)
    page.until(f"{WINDOW} !== {json.dumps(whole)}")
    zoomed = page.value(WINDOW)
    page.mouse("mousePressed", box[0] + 500, box[1] + 80, pressed=True)
    page.mouse("mouseMoved", box[0] + 400, box[1] + 80, pressed=True)
    page.mouse("mouseReleased", box[0] + 400, box[1] + 80)
    page.until(f"{WINDOW} !== {json.dumps(zoomed)}")
    page.key(".")
    assert page.value("document.querySelectorAll('#details dt').length") > 5


@pytest.mark.usefixtures("silent")
def test_the_pointer_names_everything_about_a_slice(one: Made, page: Page) -> None:
    opened(page, one.page)
    find(page, "job", 3)
    page.value("document.querySelector('#scroller').scrollIntoView()")
    where = page.value(
        "(() => { const {left, top, width} = document.getElementById('tracks').getBoundingClientRect(); return [left, top, width]; })()"
    )
    # the job has been zoomed to, so that it lies in the middle; its row is framed
    found = None
    for down in range(30, 557, 9):
        page.mouse("mouseMoved", where[0] + where[2] * 0.6, where[1] + down)
        names = page.value("[...document.querySelectorAll('#tip:not([hidden]) dt')].map(term => term.textContent)")
        if "victim block" in names:
            found = names
            break
    assert found is not None
    assert {"kind", "begin", "end", "duration", "job", "pool"} <= set(found)


@pytest.mark.usefixtures("silent")
def test_blocks_play_step_and_show_what_was_recorded(one: Made, page: Page) -> None:
    opened(page, one.page)
    now = "document.getElementById('block-now').textContent"
    last = len(one.tables["instants"]["at"]) - 1
    go = "(at => {{ const range = document.getElementById('block-instant'); range.value = at;"
    go += " range.dispatchEvent(new Event('input')); }})({})"
    for number in (last, 3, last // 2, 0):
        page.value(go.format(number))
        states = one.states_at(int(one.tables["instants"]["at"][number]))
        counts = Counter(row["state"] for row in states)
        words = ", ".join(f"{counts[state]:,} {state}" for state in ("free", "open", "closed", "victim"))
        valid = sum(row["valid"] for row in states)
        assert page.value(now).endswith(f": {words}; {valid:,} valid pages"), number
    page.value(go.format(last // 2))
    states = one.states_at(int(one.tables["instants"]["at"][last // 2]))
    page.value("document.getElementById('cells').focus()")
    for row in states[:3]:
        page.key("ArrowRight")
        chosen = page.value("document.getElementById('block-chosen').textContent")
        assert f"block {row['block']}," in chosen
        assert f"state {row['state']}, " in chosen
        assert f"valid pages {row['valid']} of" in chosen
        assert chosen.endswith(f"erases {row['erases']}")
    page.key("PageDown")
    assert page.value(now).startswith(f"Instant {last // 2 + 1} of")
    page.key("Home")
    page.value("document.getElementById('block-speed').value = '30'")
    page.key(" ")
    page.until(f"/^Instant [2-9] of/.test({now})")
    page.key(" ")
    assert page.value("document.getElementById('block-play').textContent") == "Play"


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize("width", [1300, 800, 390])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_draws_in_any_window(width: int, dark: bool, one: Made, page: Page) -> None:
    opened(page, one.page, width=width, dark=dark)
    assert page.value("document.documentElement.scrollWidth") <= width, "the page is wider than the window"
    colours = "(id => { const canvas = document.getElementById(id), copy = document.createElement('canvas');"
    colours += " const {width, height} = Object.assign(copy, {width: canvas.width, height: canvas.height});"
    colours += " const paint = copy.getContext('2d', {willReadFrequently: true}); paint.drawImage(canvas, 0, 0);"
    colours += " return new Set(new Uint32Array(paint.getImageData(0, 0, width, height).data.buffer)).size; })"
    for canvas in ("tracks", "cells"):
        page.until(f"{colours}('{canvas}') > 3")
    assert page.value("document.querySelectorAll('.uplot canvas').length") == 3
    before = page.value("getComputedStyle(document.body).backgroundColor")
    assert before == ("rgb(20, 23, 27)" if dark else "rgb(255, 255, 255)")
    for quantity in ("state", "stream", "erases", "programmed"):
        set_to = f"box.value = '{quantity}'; box.dispatchEvent(new Event('change'));"
        page.value(f"(() => {{ const box = document.getElementById('block-colour'); {set_to} }})()")
        assert page.value(f"{colours}('cells')") > 2, quantity
    page.value("document.getElementById('theme').click()")
    assert page.value("getComputedStyle(document.body).backgroundColor") != before


def test_a_single_value_far_above_the_others_does_not_set_the_scale(one: Made, page: Page, tmp_path: Path) -> None:
    """One of all values is 217, the rest between 2 and 3: it is above the scale, which the title says."""
    text = one.page.read_text()
    own = json.dumps(one.data["blocks"]["amplification"], separators=(",", ":"))
    values = [None, *(2 + at % 10 / 10 for at in range(len(one.data["blocks"]["amplification"]) - 1))]
    values[len(values) // 2] = 217
    assert text.count(own) == 1
    (tmp_path / "spike.html").write_text(text.replace(own, json.dumps(values)))
    for file, said in (
        (tmp_path / "spike.html", f"1 of {len(values)} values are above the scale (triangles), up to 217"),
        (one.page, "move)"),
    ):
        opened(page, file)
        assert said in page.value("document.querySelector('#amplification h3').textContent")


def test_the_command_writes_the_page_beside_its_source(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    run = ["run", "--scheme", "npgc", *SMALL_OPTIONS, "--requests", "500", "--quiet"]
    assert ssdlab_command(*run, "--timeline", "a.json.gz", "--blocks", "--out", "there").code == 0
    ended = ssdlab_command("timeline", "a.json.gz")
    assert (ended.code, ended.out.partition(":")[0]) == (0, "a.html")
    ended = ssdlab_command("timeline", "there")
    assert ended.code == 0
    assert re.fullmatch(r"there/timeline.html: [\d,]+ slices, blocks at \d+ instants \(opens in a browser\)\n", ended.out)
    assert ssdlab_command(*run, "--timeline", "b.html").code == 0
    slices = [unpacked((tmp_path / name).read_text())[1]["slices"] for name in ("a.html", "b.html")]
    assert all((slices[0][name] == slices[1][name]).all() for name in slices[0])
    (tmp_path / "a.json.gz").unlink()
    ended = ssdlab_command("timeline", "there")
    assert (ended.code, "the timeline of this run, a.json.gz, is not there" in ended.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "--blocks"], "blocks (--blocks) needs out (--out DIR)"),
        (["run", "--timeline", "no/b.html"], "no/b.html: cannot write: No such file or directory"),
        (["run", "--timeline", "b.txt"], "expected a file name that ends with .json or .json.gz, which viewers open, or .html"),
        (["timeline", "missing.json"], "missing.json: cannot read: No such file or directory"),
        (["timeline", "."], "no result of a run there (result.json); of a comparison, name the folder of one scheme"),
        (["timeline", "x.json", "--out", "x.txt"], '--out "x.txt": expected a file name that ends with .html'),
    ],
)
def test_what_cannot_be_is_one_line(words: list[str], message: str, ssdlab_command: Ssdlab) -> None:
    ended = ssdlab_command(*words)
    assert ended.code in (1, 2)
    assert message in ended.err
    assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize("cut", [0, 10, 300, -200, -3])
def test_a_file_that_is_cut_or_another_is_refused(cut: int, one: Made, tmp_path: Path) -> None:
    whole = (one.page.parent / "run" / "t.json").read_text()
    (tmp_path / "t.json").write_text(whole[:cut])
    with pytest.raises(ssdlab.UsageError, match=r"t\.json: not a whole timeline that ssdlab wrote"):
        write_page(tmp_path / "t.json", tmp_path / "t.html")
    assert not (tmp_path / "t.html").exists()


def test_shares_of_blocks_are_of_all_their_pages_though_none_was_filled(tmp_path: Path) -> None:
    """Three pages are written to blocks of 16 (SMALL): the fullest was taken for a whole block."""
    result = ssdlab.run(set={**SMALL, "workload.read_share": 0.0}, requests=3, blocks=True, out=tmp_path / "out")
    assert read_blocks(tmp_path / "out" / "blocks.parquet", result).pages == 16
    halves = {"ftl.map_unit_bytes": 2048, "device.page_bytes": 4096}
    result = ssdlab.run(set={**SMALL, **halves, "workload.read_share": 0.0}, requests=3, blocks=True, out=tmp_path / "halves")
    assert read_blocks(tmp_path / "halves" / "blocks.parquet", result).pages == 32
