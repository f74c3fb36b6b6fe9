"""Timelines for the Perfetto viewer: the rules of the trace-event format, slices that add up to the statistics, window and limit."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import SMALL, SMALL_OPTIONS, Ssdlab

Event = Mapping[str, Any]

KEYS = {
    "M": {"name", "ph", "pid", "tid", "args"},
    "X": {"name", "cat", "ph", "pid", "tid", "ts", "dur", "args"},
    "i": {"name", "cat", "ph", "pid", "tid", "ts", "s"},
    "s": {"name", "cat", "ph", "pid", "tid", "ts", "id"},
    "t": {"name", "cat", "ph", "pid", "tid", "ts", "id"},
    "f": {"name", "cat", "ph", "pid", "tid", "ts", "id", "bp"},
    "C": {"name", "ph", "pid", "tid", "ts", "args"},
}
CATEGORIES = {"host", "gc", "cache", "array"}
FOR = {"fetch": "host", "destage": "cache", "padding": "cache", "update": "array", "parity": "array", "degraded": "array"}
"""Category of the arguments that state the purpose of a page."""
PHASES = set("BEXiIsftbneCMPNODSTpFRcavV,()")
NAMES = {"process_name", "process_sort_index", "thread_name", "thread_sort_index"}
GC = {f"{kind}: {stage}" for kind in ("move", "copyback") for stage in ("read", "program", "transfer out", "transfer in")} | {"erase"}
WAITS = {"wait for bus", "wait for register", "wait for array", "preemption point"}
HOST = {"read", "program", "transfer out", "transfer in"}


def ns(us: float) -> int:
    """A time of the file in ns. Perfetto multiplies by 1000 and truncates, which must equal rounding."""
    assert int(us * 1000.0) == round(us * 1000), us
    return round(us * 1000)


@dataclass(frozen=True)
class Slice:
    """A slice, with times in ns."""

    process: str
    thread: str
    name: str
    category: str
    start: int
    end: int
    args: Mapping[str, Any]

    @property
    def host(self) -> bool:
        """Whether the slice is of an operation other than GC."""
        return self.category != "gc"


@dataclass
class Timeline:
    """A timeline file that obeys the rules."""

    slices: list[Slice]
    marks: list[tuple[str, str, int]]
    other: Mapping[str, Any]

    arrows: Counter[int]
    """Number of arrows that begin at each request."""

    levels: Mapping[tuple[str, str], list[tuple[int, int]]]
    """Times and values of each level, by process and name."""

    def integral(self, process: str, name: str, start: int, end: int) -> int:
        """The integral of a level over a time span."""
        values = self.levels.get((process, name), [])
        spans = zip(values, [*values[1:], (end, 0)], strict=True)
        return sum(value * max(0, min(until, end) - max(at, start)) for (at, value), (until, _) in spans)

    def level(self, process: str, name: str, at: int) -> int:
        """The value of a level at a time."""
        return next((value for since, value in reversed(self.levels.get((process, name), [])) if since <= at), 0)

    def union(self, process: str, threads: Iterable[str]) -> int:
        """The time with a slice on any of these threads of a process."""
        wanted = set(threads)
        busy = until = 0
        pieces = (piece for piece in self.slices if piece.process == process and piece.thread in wanted)
        for piece in sorted(pieces, key=lambda piece: piece.start):
            busy += max(0, piece.end - max(piece.start, until))
            until = max(until, piece.end)
        return busy

    def total(self, process: str, thread: str) -> int:
        return sum(piece.end - piece.start for piece in self.slices if (piece.process, piece.thread) == (process, thread))

    def busy(self, config: Mapping[str, Any]) -> tuple[list[int], list[int]]:
        """Busy time of chips (mean of parallel dies, rounded down, or all) and of channels, over all drives."""
        device, array = config["device"], config["array"]
        dies, chips = device["dies_per_chip"], device["channels"] * device["chips_per_channel"]
        side_by_side = dies if device["die_interleave"] else 1
        by_chip: list[int] = []
        by_channel: list[int] = []
        for of in [""] if array["level"] == "none" else [f"drive {drive}: " for drive in range(array["drives"])]:
            by_die = [self.union(f"{of}dies", [f"die {die}", f"die {die}, second operation"]) for die in range(chips * dies)]
            by_chip += [sum(by_die[chip * dies : (chip + 1) * dies]) // side_by_side for chip in range(chips)]
            by_channel += [self.total(f"{of}channels", f"channel {channel}") for channel in range(device["channels"])]
        return by_chip, by_channel

    def cut(self, start: int, end: int) -> set[tuple[Any, ...]]:
        """The slices between two times, cut there; requests without their lanes."""
        pieces = ((piece, max(piece.start, start), min(piece.end, end)) for piece in self.slices)
        track = {"requests": lambda piece: piece.args["request"]}
        return {
            (piece.process, track.get(piece.process, lambda piece: piece.thread)(piece), piece.name, since, until)
            for piece, since, until in pieces
            if until > since
        }


def read(path: Path) -> Timeline:
    """Reads a timeline and checks it by the rules of the format and the viewers."""
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    whole = json.loads(text, parse_constant=pytest.fail)
    check_format(whole)
    assert set(whole) == {"traceEvents", "otherData"}
    events: list[Event] = whole["traceEvents"]
    for event in events:
        assert set(event) == KEYS[event["ph"]], event
        assert type(event["pid"]) is type(event["tid"]) is int
        assert min(event["pid"], event["tid"]) > 0
    processes, threads = names(event for event in events if event["ph"] == "M")
    timed = [event for event in events if event["ph"] != "M"]
    assert [event["ts"] for event in timed] == sorted(event["ts"] for event in timed)
    for event in timed:
        assert event["pid"] in processes
        assert threads[event["tid"]][0] == event["pid"]
    slices = [
        Slice(
            process=processes[event["pid"]],
            thread=threads[event["tid"]][1],
            name=event["name"],
            category=event["cat"],
            start=ns(event["ts"]),
            end=ns(event["ts"]) + ns(event["dur"]),
            args=event["args"],
        )
        for event in timed
        if event["ph"] == "X"
    ]
    marks = [(threads[event["tid"]][1], event["name"], ns(event["ts"])) for event in timed if event["ph"] == "i"]
    by_thread: dict[int, list[Slice]] = defaultdict(list)
    for event, piece in zip((event for event in timed if event["ph"] == "X"), slices, strict=True):
        assert piece.category in CATEGORIES
        by_thread[event["tid"]].append(piece)
    for pieces in by_thread.values():
        assert all(piece.end > piece.start for piece in pieces)
        assert all(one.end <= other.start for one, other in pairwise(pieces))
    levels: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for event in (event for event in timed if event["ph"] == "C"):
        ((what, value),) = event["args"].items()
        levels[processes[event["pid"]], f"{event['name']} {what}"].append((ns(event["ts"]), value))
    for values in levels.values():
        assert all(one[0] < other[0] and one[1] != other[1] for one, other in pairwise(values)), "a value stands until the next"
        assert any(value for _, value in values), "what is never there has no track"
    return Timeline(slices, marks, whole["otherData"], check_flows(timed, by_thread), levels)


def check_format(whole: Mapping[str, Any]) -> None:
    """Checks the rules of the trace-event format, for any writer and content."""
    spans: dict[tuple[Any, ...], int] = defaultdict(int)
    stacks: dict[tuple[int, int], int] = defaultdict(int)
    flows: dict[tuple[Any, ...], list[tuple[float, str]]] = defaultdict(list)
    for event in whole["traceEvents"]:
        phase = event["ph"]
        assert phase in PHASES, f"no such phase: {event}"
        assert type(event["pid"]) is type(event["tid"]) is int, f"a process and a thread are numbers: {event}"
        assert isinstance(event["name"], str) or phase in "Ee", f"it has no name: {event}"
        assert isinstance(event.get("args", {}), dict), f"arguments have names: {event}"
        if phase == "M":
            assert event["args"], f"metadata that say nothing: {event}"
            continue
        for key in ("ts", "dur") if phase == "X" else ("ts",):
            assert type(event[key]) in (int, float), f"{key} is no number: {event}"
            assert event[key] >= 0, f"{key} is negative: {event}"
        if phase == "C":
            assert event.get("args"), f"a counter without a value: {event}"
            assert all(type(value) in (int, float) for value in event["args"].values()), f"a counter's value is no number: {event}"
        if phase in "iI":
            assert event.get("s", "t") in ("g", "p", "t"), f"no such scope: {event}"
        if phase in "BE":
            place = (event["pid"], event["tid"])
            stacks[place] += 1 if phase == "B" else -1
            assert stacks[place] >= 0, f"it ends and has not begun: {event}"
        if phase in "bne":
            key = (event["cat"], event["id"], event.get("scope"))
            spans[key] += {"b": 1, "n": 0, "e": -1}[phase]
            assert spans[key] >= 0, f"it ends and has not begun: {event}"
        if phase in "stf":
            flows[event["cat"], event["name"], event["id"], event.get("scope")].append((event["ts"], phase))
    assert not any(spans.values()), "something begins and does not end"
    assert not any(stacks.values()), "something begins and does not end"
    for steps in flows.values():
        assert steps == sorted(steps, key=lambda step: step[0]), f"an arrow goes back in time: {steps}"
        order = "".join(phase for _, phase in steps)
        assert order == "s" + "t" * (len(order) - 2) + "f", f"an arrow goes {order}"


def names(events: Iterable[Event]) -> tuple[dict[int, str], dict[int, tuple[int, str]]]:
    """The names of processes and threads. Perfetto identifies a thread by its number alone."""
    processes: dict[int, str] = {}
    threads: dict[int, tuple[int, str]] = {}
    for event in events:
        assert event["name"] in NAMES
        if event["name"] == "process_name":
            assert event["pid"] not in processes
            processes[event["pid"]] = event["args"]["name"]
        elif event["name"] == "thread_name":
            assert event["tid"] not in threads
            threads[event["tid"]] = (event["pid"], event["args"]["name"])
    assert len(set(threads.values())) == len(threads)
    assert len(set(processes.values())) == len(processes)
    assert not set(processes) & set(threads)
    return processes, threads


def check_flows(events: list[Event], slices: Mapping[int, list[Slice]]) -> Counter[int]:
    """Arrows lead from a request forward in time to one of its slices, over at most one other.

    Viewers find the slices by thread and time.
    """
    at = {(tid, piece.start): piece for tid, pieces in slices.items() for piece in pieces}
    flows: dict[int, list[Event]] = defaultdict(list)
    pieces: dict[int, list[Slice]] = defaultdict(list)
    for event in events:
        if event["ph"] in "stf":
            flows[event["id"]].append(event)
            within = at.get((event["tid"], ns(event["ts"])))
            if within is None:  # a request that joined what was under way
                within = next(piece for piece in slices[event["tid"]] if piece.start <= ns(event["ts"]) < piece.end)
            process = within.process.rpartition(": ")[2]
            assert process == {"s": "requests", "t": "dies"}.get(event["ph"], process)
            pieces[event["id"]].append(within)
    arrows: Counter[int] = Counter()
    for begin, *ends in pieces.values():
        arrows[begin.args["request"]] += 1
        # The first slice of an operation on several planes may be the transfer of another page. The arrow ends at the page's own.
        if len(ends) == 2:
            assert ends[1].args["request"] == begin.args["request"]
            assert ends[1].process == ends[0].process.replace("dies", "channels")
    for steps in flows.values():
        assert "".join(step["ph"] for step in steps) in ("sf", "stf")
        assert steps[-1]["bp"] == "e"
        assert len({(step["name"], step["cat"]) for step in steps}) == 1
    return arrows


CACHE = {"cache.policy": "lru", "cache.bytes": 16 * 4096, "cache.access_ns": 1000}
ARRAY = {"array.level": "rais5", "array.drives": 3, "array.stripe_kb": 8}
CASES: dict[str, dict[str, Any]] = {
    "npgc": {"scheme": "npgc", "set": SMALL},
    "pgc": {"scheme": "pgc", "set": SMALL},
    "fpgc": {"scheme": "fpgc", "set": SMALL | {"workload.interarrival_us": 600}},
    "copyback": {"scheme": "bbgc", "set": SMALL | {"device.copyback": True}},
    "multiplane": {
        "device": "elyasi2017",
        "scheme": "npgc",
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
    "slacker": {
        "device": "elyasi2017",
        "scheme": "slacker",
        "set": {"workload.request_kb": 24, "workload.interarrival_us": 50, "device.channels": 1, "device.chips_per_channel": 2},
    },
    "cache": {"scheme": "npgc", "set": SMALL | CACHE},
    "padding": {"scheme": "npgc", "set": SMALL | CACHE | {"cache.policy": "bplru", "cache.padding": "always"}},
    "array": {"scheme": "fpgc", "set": SMALL | ARRAY | {"workload.interarrival_us": 700, "workload.request_kb": 6}},
    "degraded": {"scheme": "npgc", "set": SMALL | ARRAY | {"array.degraded": 1, "workload.read_share": 0.6}},
    "array of cached drives": {"scheme": "npgc", "set": SMALL | ARRAY | CACHE},
    "cached array": {"scheme": "npgc", "set": SMALL | ARRAY | CACHE | {"cache.place": "array"}},
    "two dies that exclude each other": {"scheme": "npgc", "set": SMALL | {"device.dies_per_chip": 2, "device.die_interleave": False}},
}
REQUESTS = 2000


@pytest.fixture(scope="module", params=CASES)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ssdlab.Result, Timeline]:
    """A run with a timeline, by the case's name."""
    path = tmp_path_factory.mktemp("timeline") / "t.json"
    result = ssdlab.run(**CASES[request.param], requests=REQUESTS, timeline=path, log_requests=True)
    return request.param, result, read(path)


def test_a_timeline_changes_nothing_but_the_entry_of_its_own(made: tuple[str, ssdlab.Result, Timeline]) -> None:
    case, result, timeline = made
    without = ssdlab.run(**CASES[case], requests=REQUESTS)
    times = {"wall_s", "prepare_s", "requests_per_s"}
    plain = {key: value for key, value in result.to_dict().items() if key not in times | {"timeline"}}
    assert plain == {key: value for key, value in without.to_dict().items() if key not in times}
    assert "timeline" not in without
    shown = result.timeline.to_dict()
    assert Path(shown.pop("file")).name == "t.json"
    assert shown == {"slices": len(timeline.slices), "from_ns": 0, "to_ns": result.simulated_ns, "full": False}


def test_slices_add_up_to_the_utilisation(made: tuple[str, ssdlab.Result, Timeline]) -> None:
    _, result, timeline = made
    chips, channels = timeline.busy(result.config)
    assert [busy / result.simulated_ns for busy in chips] == result.utilisation.chips
    assert [busy / result.simulated_ns for busy in channels] == result.utilisation.channels
    assert sum(chips) > 0
    assert sum(channels) > 0


def test_requests_outstanding_add_up_to_the_response_times(made: tuple[str, ssdlab.Result, Timeline]) -> None:
    """Little's law, to the nanosecond: requests under way, summed over time, are the time that requests took."""
    _, result, timeline = made
    summed = timeline.integral("requests", "requests outstanding", 0, result.simulated_ns)
    assert summed == sum(result.requests.column("response_ns").to_pylist()) > 0


def test_levels_are_those_of_the_series(made: tuple[str, ssdlab.Result, Timeline]) -> None:
    case, result, timeline = made
    series = ssdlab.run(**CASES[case], requests=REQUESTS, series=True).series
    drives = [process for process, name in timeline.levels if name == "free blocks all pools"]
    assert len(drives) == (3 if result.config.array.level != "none" else 1)
    assert any(name.endswith(" waiting") for _, name in timeline.levels)
    pools = result.config.device.planes_per_die * result.config.device.dies_per_chip * result.config.device.chips_per_channel
    pools *= (
        result.config.device.channels * len(drives) // (1 if result.config.ftl.pool == "plane" else result.config.device.planes_per_die)
    )
    assert ("cache" in series) == (("requests", "cache dirty pages") in timeline.levels)
    for place in range(series.bins):
        start, end = place * series.bin_ns, min((place + 1) * series.bin_ns, result.simulated_ns)
        if end <= start:
            break
        under_way = timeline.integral("requests", "requests outstanding", start, end)
        assert under_way / series.bin_ns == pytest.approx(series.outstanding.mean[place], rel=1e-9)
        free = sum(timeline.integral(process, "free blocks all pools", start, end) for process in drives)
        assert free / (end - start) / pools == pytest.approx(series.free_blocks.mean[place], rel=1e-9)
        fewest = min(timeline.level(process, "fewest free blocks of a pool", end - 1) for process in drives)
        assert fewest >= series.free_blocks.min[place]
        if "cache" in series and end == (place + 1) * series.bin_ns:
            assert timeline.level("requests", "cache dirty pages", end - 1) == series.cache.dirty[place]


def test_queues_add_up_to_the_waits(tmp_path: Path) -> None:
    """Requests of a page each: what is in a queue waits for its first slice on a die, be it for an older operation on its page."""
    settings = SMALL | {"workload.request_kb": 4, "workload.interarrival_us": 900, "device.page_bytes": 4096}
    result = ssdlab.run(scheme="npgc", set=settings, requests=1500, timeline=tmp_path / "t.json")
    timeline = read(tmp_path / "t.json")
    arrived = {piece.args["request"]: ns(piece.args["arrival_us"]) for piece in timeline.slices if piece.process == "requests"}
    begun: dict[int, int] = {}
    for piece in timeline.slices:
        if piece.process == "dies" and "request" in piece.args:
            begun.setdefault(piece.args["request"], piece.start)
    waits = sum(start - arrived[request] for request, start in begun.items())
    queues = {name for _, name in timeline.levels if name.endswith(" waiting")}
    summed = sum(timeline.integral("dies", name, 0, result.simulated_ns) for name in queues)
    assert result.counters.rmw_reads == result.counters.buffer_reads == 0
    assert summed == waits > 0


def test_slices_are_what_the_counters_say(made: tuple[str, ssdlab.Result, Timeline]) -> None:
    case, result, timeline = made
    of = defaultdict(list)
    for piece in timeline.slices:
        of[piece.name].append(piece)
    requests = [piece for piece in timeline.slices if piece.process == "requests"]
    log = result.requests.to_pydict()
    # What is answered at once takes no time and has no slice.
    expected = {index: times for index, *times in zip(log["index"], log["arrival_ns"], log["response_ns"], strict=True) if times[1]}
    assert {piece.args["request"]: [piece.start, piece.end - piece.start] for piece in requests} == expected
    assert all(ns(piece.args["response_us"]) == piece.end - piece.start for piece in requests)
    for piece in timeline.slices:
        if piece.process.endswith(("dies", "channels")) and not piece.thread.endswith("suspended"):
            assert piece.name in (HOST if piece.host else GC | {"suspending"}) | WAITS, piece
    jobs = [piece for piece in timeline.slices if piece.process.endswith("GC jobs")]
    assert len(jobs) in range(result.gc.jobs, result.gc.jobs + len({(piece.process, piece.thread) for piece in jobs}) + 1)
    for process in {piece.process for piece in jobs}:  # each drive counts its own
        numbers = [piece.args["job"] for piece in jobs if piece.process == process]
        assert numbers == list(range(len(numbers)))
    suspensions = [mark for mark in timeline.marks if mark[1] == "suspend"]
    assert len(suspensions) == result.gc.suspensions
    assert sum(mark[1] == "pause" for mark in timeline.marks) == result.counters.write_pauses
    # Each case has what it is there for.
    assert case == "slacker" or jobs
    assert (case in ("fpgc", "array")) == bool(suspensions)
    assert (case == "copyback") == bool(of["copyback: program"])
    assert (case == "slacker") == bool(of["paused program"])
    assert (case in ("multiplane", "slacker")) == any("pages" in piece.args for piece in timeline.slices)


def test_pages_say_what_they_are_for(made: tuple[str, ssdlab.Result, Timeline]) -> None:
    case, result, timeline = made
    pages = Counter[tuple[str, str]]()
    for piece in timeline.slices:
        if piece.process.endswith("dies") and piece.host and "suspended" not in piece.thread and "pages" not in piece.args:
            purpose = piece.args.get("for", "host")
            pages[purpose, piece.name] += 1
            assert piece.category == FOR.get(purpose, "host")
            assert ("request" in piece.args) == (purpose not in ("destage", "padding")) or case == "cached array" or purpose == "fetch"
    cached, striped = "cache" in case, case in ("array", "degraded", "array of cached drives", "cached array")
    assert {purpose for purpose, _ in pages} - {"host"} == {
        "cache": {"fetch", "destage"},
        "padding": {"fetch", "destage", "padding"},
        "array": {"update", "parity"},
        "degraded": {"update", "parity", "degraded"},
        # The drives' caches take what the array writes, and bring what it reads for updates.
        "array of cached drives": {"fetch", "destage", "update"},
        "cached array": {"fetch", "destage", "update", "parity"},
    }.get(case, set())
    if striped and case != "array of cached drives":
        merged = result.gc.merged.write  # these join page moves
        assert pages["parity", "program"] in range(result.array.parity_writes - merged, result.array.parity_writes + 1)
        assert pages["update", "read"] <= result.array.update_reads
    if cached or case == "padding":
        programs = pages["destage", "program"] + (0 if case != "cached array" else pages["parity", "program"])
        frames = 16 * (3 if case == "array of cached drives" else 1)
        assert result.cache.destages - frames <= programs or case == "padding"
        assert pages["destage", "program"] <= result.cache.destages + result.cache.get("padded_pages", 0)


def test_requests_answered_by_a_cache_have_a_slice_and_no_arrow(tmp_path: Path) -> None:
    settings = SMALL | CACHE | {"cache.bytes": 64 * 4096, "workload.read_share": 0.9, "device.blocks_per_plane": 16, "gc.soft": 1}
    result = ssdlab.run(scheme="npgc", set=settings, requests=1500, timeline=tmp_path / "t.json", log_requests=True)
    timeline = read(tmp_path / "t.json")
    log = result.requests.to_pydict()
    answered = {index for index, ns in zip(log["index"], log["response_ns"], strict=True) if ns == settings["cache.access_ns"]}
    assert len(answered) in range(result.cache.read_hits // 2, result.cache.lookups)
    assert not answered & set(timeline.arrows)
    assert answered <= {piece.args["request"] for piece in timeline.slices if piece.process == "requests"}
    fetched = {piece.args["request"] for piece in timeline.slices if piece.args.get("for") == "fetch"}
    assert fetched == set(timeline.arrows)


def test_every_drive_of_an_array_has_its_own_processes(tmp_path: Path) -> None:
    ssdlab.run(scheme="npgc", set=SMALL | ARRAY, requests=300, timeline=tmp_path / "t.json")
    read(tmp_path / "t.json")
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    processes = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    expected = {1: "requests"}
    for drive in range(3):
        names = {2: "dies", 3: "channels", 4: "GC jobs"}
        expected |= {10 * drive + number: f"drive {drive}: {name}" for number, name in names.items()}
    assert processes == expected


def test_a_window_is_that_part_of_the_whole(made: tuple[str, ssdlab.Result, Timeline], tmp_path: Path) -> None:
    case, result, timeline = made
    start, end = result.simulated_ns // 3, result.simulated_ns // 2
    window = (start / 1000, end / 1000)
    part = ssdlab.run(**CASES[case], requests=REQUESTS, timeline=tmp_path / "w.json", timeline_window=window)
    shown = read(tmp_path / "w.json")
    assert shown.cut(0, result.simulated_ns) == timeline.cut(start, end)
    for (process, name), values in shown.levels.items():
        assert all(start <= at < end for at, _ in values)
        assert shown.integral(process, name, start, end) == timeline.integral(process, name, start, end)
        assert [value for value in timeline.levels[process, name] if start < value[0] < end] == [
            value for value in values if value[0] > start
        ]
    assert part.timeline.to_dict() == {
        "file": str(tmp_path / "w.json"),
        "slices": len(shown.slices),
        "from_ns": start,
        "to_ns": end,
        "full": False,
    }
    assert shown.other["slices"] == len(shown.slices)
    assert [ns(shown.other[key]) for key in ("from_us", "to_us")] == [start, end]


def test_a_full_timeline_is_the_whole_up_to_a_time(made: tuple[str, ssdlab.Result, Timeline], tmp_path: Path) -> None:
    case, result, timeline = made
    limit = len(timeline.slices) // 3
    part = ssdlab.run(**CASES[case], requests=REQUESTS, timeline=tmp_path / "l.json", timeline_limit=limit).timeline
    shown = read(tmp_path / "l.json")
    assert part.full
    assert limit * 0.9 < part.slices == len(shown.slices) <= limit
    assert shown.cut(0, result.simulated_ns) == timeline.cut(0, part.to_ns)
    for key, values in shown.levels.items():
        assert values == [value for value in timeline.levels[key] if value[0] < part.to_ns]


def test_windows_at_the_edges(made: tuple[str, ssdlab.Result, Timeline], tmp_path: Path) -> None:
    case, result, timeline = made
    file, end = tmp_path / "e.json", result.simulated_ns

    def shown(window: tuple[float | None, float | None]) -> tuple[int, int, set[tuple[Any, ...]]]:
        part = ssdlab.run(**CASES[case], requests=REQUESTS, timeline=file, timeline_window=window).timeline
        assert not part.full
        return part.from_ns, part.to_ns, read(file).cut(0, end)

    # All of it, by any name; the last nanosecond; what begins with the end or after it is empty.
    assert shown((None, None)) == shown((0, 2 * end / 1000)) == (0, end, timeline.cut(0, end))
    assert shown(((end - 1) / 1000, None)) == (end - 1, end, timeline.cut(end - 1, end))
    assert shown((end / 1000, None)) == shown((2 * end / 1000, None)) == (end, end, set())


def test_a_limit_of_what_there_is_is_not_reached(made: tuple[str, ssdlab.Result, Timeline], tmp_path: Path) -> None:
    case, _, timeline = made
    joined = sum(timeline.arrows.values())  # at most: what joins a move counts as well
    limit = len(timeline.slices) + len(timeline.marks) + joined
    part = ssdlab.run(**CASES[case], requests=REQUESTS, timeline=tmp_path / "l.json", timeline_limit=limit).timeline
    assert (part.slices, part.full) == (len(timeline.slices), False)
    one = ssdlab.run(**CASES[case], requests=REQUESTS, timeline=tmp_path / "l.json", timeline_limit=1).timeline
    assert one.full
    assert len(read(tmp_path / "l.json").slices) == one.slices <= 1


def test_a_compressed_file_has_the_same_content(tmp_path: Path) -> None:
    for name in ("t.json", "t.json.gz"):
        ssdlab.run(scheme="npgc", set=SMALL, requests=300, timeline=tmp_path / name)
    assert gzip.decompress((tmp_path / "t.json.gz").read_bytes()) == (tmp_path / "t.json").read_bytes()


def test_a_comparison_has_a_timeline_for_each_scheme(tmp_path: Path) -> None:
    runs = ssdlab.compare(schemes=["npgc", "pgc"], set=SMALL, requests=300, out=tmp_path, timelines=True, timeline_window=(None, 90_000))
    for scheme, result in runs.items():
        timeline = read(tmp_path / scheme / "timeline.json.gz")
        assert (result.timeline.slices, result.timeline.to_ns) == (len(timeline.slices), 90_000_000)
    # What a later comparison does not write must not look as if it had.
    ssdlab.compare(schemes=["npgc", "pgc"], set=SMALL, requests=300, out=tmp_path)
    assert not list(tmp_path.glob("*/timeline*"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"timeline": 5}, "timeline = 5: expected a path"),
        ({"timeline": "t.txt"}, "ends with .json or .json.gz"),
        ({"timeline": ""}, "ends with .json or .json.gz"),
        ({"timeline_window": (0, 1)}, "no timeline was asked for"),
        ({"timeline_limit": 5}, "no timeline was asked for"),
        ({"timeline": "t.json", "timeline_limit": 0}, "timeline_limit = 0"),
        ({"timeline": "t.json", "timeline_limit": 10**9}, "limit is 1000000000 slices: expected 1 to"),
        ({"timeline": "t.json", "timeline_window": 5}, "a pair"),
        ({"timeline": "t.json", "timeline_window": "01"}, "a pair"),
        ({"timeline": "t.json", "timeline_window": (-1, 1)}, "invalid time -1: expected microseconds >= 0"),
        ({"timeline": "t.json", "timeline_window": (0, float("inf"))}, "invalid time inf"),
        ({"timeline": "t.json", "timeline_window": (0, float("nan"))}, "invalid time nan"),
        ({"timeline": "t.json", "timeline_window": (0, 1e30)}, "timeline_window = "),
        ({"timeline": "t.json", "timeline_window": ("0", 1)}, "invalid time '0'"),
        ({"timeline": "t.json", "timeline_window": (2, 1)}, "from 2 to 1 us: it must end after it begins"),
        ({"timeline": "t.json", "timeline_window": (1.5, 1.5)}, "from 1.5 to 1.5 us: it must end after it begins"),
        ({"timeline": "t.json", "timeline_window": (None, 0)}, "from 0 to 0 us: it must end after it begins"),
    ],
)
def test_wrong_wishes_are_refused(arguments: dict[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ssdlab.UsageError) as refused:
        ssdlab.run(set=SMALL, requests=10, **arguments)
    assert words in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_timelines_of_a_comparison_need_a_folder() -> None:
    with pytest.raises(ssdlab.UsageError, match="--out"):
        ssdlab.compare(schemes=["npgc"], set=SMALL, requests=10, timelines=True)


def test_the_command_says_what_the_timeline_shows(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    run = ["run", *SMALL_OPTIONS, "--scheme", "npgc", "--requests", 300, "--timeline", "t.json"]
    done = ssdlab_command(*run, "--timeline-window", "1000:2500.5")
    assert done.code == 0, done.err
    shown = read(tmp_path / "t.json")
    printed = " ".join(done.out.split())
    assert f"Timeline, t.json: {len(shown.slices)} slices, from 1,000.000 us to 2,500.500 us of " in printed
    assert "full" not in printed
    full = ssdlab_command(*run, "--timeline-limit", 50)
    assert "it ends there because it is full (--timeline-limit)" in " ".join(full.out.split())
    assert len(read(tmp_path / "t.json").slices) <= 50
    assert ssdlab_command(*run, "--timeline-window", ":", "--json").json()["timeline"]["full"] is False
    late = ssdlab_command(*run, "--timeline-window", "1e9:")
    assert "Timeline, t.json: empty, the run ends at " in " ".join(late.out.split())


def test_a_saved_run_says_where_its_timeline_is(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    run = ["run", *SMALL_OPTIONS, "--scheme", "npgc", "--requests", 300, "--out", "results"]
    done = ssdlab_command(*run, "--timeline", "results/t.json.gz", "--timeline-window", "1000:2000")
    assert done.code == 0, done.err
    saved = json.loads((tmp_path / "results" / "result.json").read_text())
    slices = len(read(tmp_path / "results" / "t.json.gz").slices)
    expected = {"file": "results/t.json.gz", "slices": slices, "from_ns": 1_000_000, "to_ns": 2_000_000, "full": False}
    assert saved["timeline"] == expected
    # Options that say what is written are no part of the command that repeats the run.
    assert "timeline" not in saved["command"]
    assert "--out" not in saved["command"]
    page = (tmp_path / "results" / "report.html").read_text()
    assert "<dt>Timeline</dt><dd>results/t.json.gz, 1.00 ms to 2.00 ms</dd>" in page
    plain = ssdlab_command(*run)
    assert "Timeline" not in plain.out
    assert "<dt>Timeline</dt>" not in (tmp_path / "results" / "report.html").read_text()


def test_the_command_compares_with_timelines(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    compare = ["compare", *SMALL_OPTIONS, "--scheme", "npgc", "--scheme", "pgc", "--requests", 300]
    done = ssdlab_command(*compare, "--timelines", "--out", "results")
    assert done.code == 0, done.err
    for scheme in ("npgc", "pgc"):
        file = f"results/{scheme}/timeline.json.gz"
        assert f"Timeline of {scheme}, {file}: {len(read(tmp_path / file).slices):,} slices" in " ".join(done.out.split())
        assert json.loads((tmp_path / "results" / scheme / "result.json").read_text())["timeline"]["file"] == file
    assert "--out" in ssdlab_command(*compare, "--timelines").failed(2)
    assert "no timeline was asked for" in ssdlab_command(*compare, "--timeline-limit", 5).failed(2)


@pytest.mark.parametrize(
    ("window", "words"),
    [
        *((text, f'--timeline-window "{text}": expected START:END in microseconds') for text in ("5", "a:b", "1:2:3", "")),
        ("-1:5", "invalid time -1.0: expected microseconds >= 0"),
        ("0:inf", "invalid time inf"),
        ("5:1", "from 5.0 to 1.0 us: it must end after it begins"),
        ("5:5", "from 5.0 to 5.0 us: it must end after it begins"),
        (":0", "it must end after it begins"),
    ],
)
def test_the_command_refuses_windows_that_are_none(ssdlab_command: Ssdlab, window: str, words: str) -> None:
    assert words in ssdlab_command("run", "--timeline", "t.json", f"--timeline-window={window}").failed(2)


def test_a_file_that_cannot_be_written_is_an_error_before_the_run(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    for file, words in {"missing/t.json": "No such file", "folder.json": "directory"}.items():
        line = ssdlab_command("run", *SMALL_OPTIONS, "--requests", 10**12, "--timeline", file).failed(1)
        assert line.startswith(f"{file}: cannot write: ")
        assert words in line


def test_a_full_disk_leaves_no_timeline(ssdlab_command: Ssdlab, small_disk: Path) -> None:
    line = ssdlab_command("run", *SMALL_OPTIONS, "--requests", 3000, "--timeline", small_disk / "t.json").failed(1)
    assert line.startswith(f"{small_disk}/t.json: cannot write: No space left")
    assert not list(small_disk.iterdir())


GOOD: list[Event] = [
    {"name": "thread_name", "ph": "M", "pid": 1, "tid": 1, "args": {"name": "x"}},
    {"name": "a", "cat": "c", "ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 1.5},
    {"name": "a", "cat": "c", "ph": "s", "id": 1, "pid": 1, "tid": 1, "ts": 0},
    {"name": "a", "cat": "c", "ph": "f", "id": 1, "pid": 1, "tid": 1, "ts": 1},
    {"name": "a", "cat": "c", "ph": "b", "id": 1, "pid": 1, "tid": 1, "ts": 1},
    {"name": "a", "cat": "c", "ph": "e", "id": 1, "pid": 1, "tid": 1, "ts": 2},
    {"name": "n", "ph": "C", "pid": 1, "tid": 1, "ts": 2, "args": {"x": 1}},
]


@pytest.mark.parametrize(
    ("place", "change", "words"),
    [
        (1, {"ph": "?"}, "no such phase"),
        (1, {"pid": "1"}, "a process and a thread are numbers"),
        (1, {"tid": 1.5}, "a process and a thread are numbers"),
        (1, {"ts": "0"}, "ts is no number"),
        (1, {"dur": -1}, "dur is negative"),
        (1, {"name": None}, "it has no name"),
        (0, {"args": {}}, "metadata that say nothing"),
        (2, {"id": 2}, "an arrow goes s"),
        (3, {"name": "b"}, "an arrow goes s"),
        (2, {"ts": 5}, "an arrow goes back"),
        (4, {"id": 2}, "it ends and has not begun"),
        (5, {"cat": "d"}, "it ends and has not begun"),
        (5, {"ph": "n"}, "something begins and does not end"),
        (6, {"args": {}}, "a counter without a value"),
        (6, {"args": {"x": "1"}}, "a counter's value is no number"),
        (6, {"ts": -1}, "ts is negative"),
    ],
)
def test_the_rules_find_what_breaks_them(place: int, change: Mapping[str, Any], words: str) -> None:
    check_format({"traceEvents": GOOD})
    broken = [event | change if index == place else event for index, event in enumerate(map(dict, GOOD))]
    with pytest.raises(AssertionError, match=words):
        check_format({"traceEvents": broken})
