"""Timelines for the Perfetto viewer: the rules of the trace-event format, slices that add up to the statistics, window and limit."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
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
}
NAMES = {"process_name", "process_sort_index", "thread_name", "thread_sort_index"}
GC = {f"{kind}: {stage}" for kind in ("move", "copyback") for stage in ("read", "program", "transfer out", "transfer in")} | {"erase"}
WAITS = {"wait for bus", "wait for register", "wait for array", "preemption point"}
HOST = {"read", "program", "transfer out", "transfer in"}


def ns(us: float) -> int:
    """A time of the file in ns. Perfetto multiplies by 1000 and cuts off: that must give the same as rounding."""
    assert int(us * 1000.0) == round(us * 1000), us
    return round(us * 1000)


@dataclass(frozen=True)
class Slice:
    """A slice, its times in ns."""

    process: str
    thread: str
    name: str
    host: bool
    start: int
    end: int
    args: Mapping[str, Any]


@dataclass
class Timeline:
    """A file whose rules have been checked."""

    slices: list[Slice]
    marks: list[tuple[str, str, int]]
    other: Mapping[str, Any]

    def union(self, threads: Iterable[str]) -> int:
        """The time in which there is a slice on one of these threads."""
        wanted = set(threads)
        busy = until = 0
        for piece in sorted((piece for piece in self.slices if piece.thread in wanted), key=lambda piece: piece.start):
            busy += max(0, piece.end - max(piece.start, until))
            until = max(until, piece.end)
        return busy

    def total(self, thread: str) -> int:
        return sum(piece.end - piece.start for piece in self.slices if piece.thread == thread)

    def busy(self, config: Mapping[str, Any]) -> tuple[list[int], list[int]]:
        """By chip, averaged over its dies and rounded down, and by channel: in what time they were busy."""
        device = config["device"]
        dies, chips = device["dies_per_chip"], device["channels"] * device["chips_per_channel"]
        by_die = [self.union([f"die {die}", f"die {die}, second operation"]) for die in range(chips * dies)]
        by_chip = [sum(by_die[chip * dies : (chip + 1) * dies]) // dies for chip in range(chips)]
        return by_chip, [self.total(f"channel {channel}") for channel in range(device["channels"])]

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
    """Reads a timeline and holds it against the rules of the format and the viewers."""
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    whole = json.loads(text)
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
            host={"host": True, "gc": False}[event["cat"]],
            start=ns(event["ts"]),
            end=ns(event["ts"]) + ns(event["dur"]),
            args=event["args"],
        )
        for event in timed
        if event["ph"] == "X"
    ]
    marks = [(threads[event["tid"]][1], event["name"], ns(event["ts"])) for event in timed if event["ph"] == "i"]
    by_thread: dict[str, list[Slice]] = defaultdict(list)
    for piece in slices:
        by_thread[piece.thread].append(piece)
    for pieces in by_thread.values():
        assert all(piece.end > piece.start for piece in pieces)
        assert all(one.end <= other.start for one, other in pairwise(pieces))
    check_flows(timed, {tid: by_thread[name] for tid, (_, name) in threads.items()})
    return Timeline(slices, marks, whole["otherData"])


def names(events: Iterable[Event]) -> tuple[dict[int, str], dict[int, tuple[int, str]]]:
    """What processes and threads are called. Perfetto knows a thread by its number alone."""
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
    assert len({name for _, name in threads.values()}) == len(threads)
    assert not set(processes) & set(threads)
    return processes, threads


def check_flows(events: list[Event], slices: Mapping[int, list[Slice]]) -> None:
    """Arrows go from a request forward in time to a slice, over at most one other. Viewers find these by thread and time."""
    at = {(tid, piece.start): piece for tid, pieces in slices.items() for piece in pieces}
    flows: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        if event["ph"] in "stf":
            flows[event["id"]].append(event)
            within = at.get((event["tid"], ns(event["ts"])))
            if within is None:  # a request that joined what was under way
                within = next(piece for piece in slices[event["tid"]] if piece.start <= ns(event["ts"]) < piece.end)
            assert within.process == {"s": "requests", "t": "dies"}.get(event["ph"], within.process)
    for steps in flows.values():
        assert "".join(step["ph"] for step in steps) in ("sf", "stf")
        assert steps[-1]["bp"] == "e"
        assert len({(step["name"], step["cat"]) for step in steps}) == 1


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
    assert result.timeline.to_dict() == {"slices": len(timeline.slices), "from_ns": 0, "to_ns": result.simulated_ns, "full": False}


def test_slices_add_up_to_the_utilisation(made: tuple[str, ssdlab.Result, Timeline]) -> None:
    _, result, timeline = made
    chips, channels = timeline.busy(result.config)
    assert [busy / result.simulated_ns for busy in chips] == result.utilisation.chips
    assert [busy / result.simulated_ns for busy in channels] == result.utilisation.channels
    assert sum(chips) > 0
    assert sum(channels) > 0


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
        if piece.process in ("dies", "channels") and not piece.thread.endswith("suspended"):
            assert piece.name in (HOST if piece.host else GC | {"suspending"}) | WAITS, piece
    jobs = [piece for piece in timeline.slices if piece.process == "GC jobs"]
    assert len(jobs) in range(result.gc.jobs, result.gc.jobs + len({piece.thread for piece in jobs}) + 1)
    assert [piece.args["job"] for piece in jobs] == list(range(len(jobs)))
    suspensions = [mark for mark in timeline.marks if mark[1] == "suspend"]
    assert len(suspensions) == result.gc.suspensions
    assert sum(mark[1] == "pause" for mark in timeline.marks) == result.counters.write_pauses
    # Each case has what it is there for.
    assert case == "slacker" or jobs
    assert (case == "fpgc") == bool(suspensions)
    assert (case == "copyback") == bool(of["copyback: program"])
    assert (case == "slacker") == bool(of["paused program"])
    assert (case in ("multiplane", "slacker")) == any("pages" in piece.args for piece in timeline.slices)


def test_a_window_is_that_part_of_the_whole(made: tuple[str, ssdlab.Result, Timeline], tmp_path: Path) -> None:
    case, result, timeline = made
    start, end = result.simulated_ns // 3, result.simulated_ns // 2
    window = (start / 1000, end / 1000)
    part = ssdlab.run(**CASES[case], requests=REQUESTS, timeline=tmp_path / "w.json", timeline_window=window)
    shown = read(tmp_path / "w.json")
    assert shown.cut(0, result.simulated_ns) == timeline.cut(start, end)
    assert part.timeline.to_dict() == {"slices": len(shown.slices), "from_ns": start, "to_ns": end, "full": False}


def test_a_full_timeline_is_the_whole_up_to_a_time(made: tuple[str, ssdlab.Result, Timeline], tmp_path: Path) -> None:
    case, result, timeline = made
    limit = len(timeline.slices) // 3
    part = ssdlab.run(**CASES[case], requests=REQUESTS, timeline=tmp_path / "l.json", timeline_limit=limit).timeline
    shown = read(tmp_path / "l.json")
    assert part.full
    assert limit * 0.9 < part.slices == len(shown.slices) <= limit
    assert shown.cut(0, result.simulated_ns) == timeline.cut(0, part.to_ns)


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
        ({"timeline_window": (0, 1)}, "no timeline was asked for"),
        ({"timeline_limit": 5}, "no timeline was asked for"),
        ({"timeline": "t.json", "timeline_limit": 0}, "timeline_limit = 0"),
        ({"timeline": "t.json", "timeline_limit": 10**9}, "limit is 1000000000 slices: expected 1 to"),
        ({"timeline": "t.json", "timeline_window": 5}, "a pair"),
        ({"timeline": "t.json", "timeline_window": "01"}, "a pair"),
        ({"timeline": "t.json", "timeline_window": (-1, 1)}, "-1 is no time"),
        ({"timeline": "t.json", "timeline_window": (0, float("inf"))}, "inf is no time"),
        ({"timeline": "t.json", "timeline_window": (2, 1)}, "must end after it begins"),
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
    assert f"Timeline: {len(shown.slices)} slices, from 1,000.000 us to 2,500.500 us of " in printed
    assert "full" not in printed
    full = ssdlab_command(*run, "--timeline-limit", 50)
    assert "it ends there because it is full (--timeline-limit)" in " ".join(full.out.split())
    assert len(read(tmp_path / "t.json").slices) <= 50
    assert ssdlab_command(*run, "--timeline-window", ":", "--json").json()["timeline"]["full"] is False


def test_the_command_compares_with_timelines(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    compare = ["compare", *SMALL_OPTIONS, "--scheme", "npgc", "--scheme", "pgc", "--requests", 300]
    done = ssdlab_command(*compare, "--timelines", "--out", "results")
    assert done.code == 0, done.err
    for scheme in ("npgc", "pgc"):
        assert f"Timeline of {scheme}: {len(read(tmp_path / 'results' / scheme / 'timeline.json.gz').slices):,} slices" in done.out
    assert "--out" in ssdlab_command(*compare, "--timelines").failed(2)
    assert "no timeline was asked for" in ssdlab_command(*compare, "--timeline-limit", 5).failed(2)


@pytest.mark.parametrize("window", ["5", "a:b", "1:2:3", "-1:5", "5:1"])
def test_the_command_refuses_windows_that_are_none(ssdlab_command: Ssdlab, window: str) -> None:
    assert "window" in ssdlab_command("run", "--timeline", "t.json", f"--timeline-window={window}").failed(2)


def test_a_file_that_cannot_be_written_is_an_error_before_the_run(ssdlab_command: Ssdlab) -> None:
    line = ssdlab_command("run", *SMALL_OPTIONS, "--requests", 10**12, "--timeline", "missing/t.json").failed(1)
    assert line.startswith("missing/t.json: cannot write: No such file")
