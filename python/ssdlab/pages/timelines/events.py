"""Reads a timeline file, event by event, into tables: slices, pages, requests, jobs, marks and levels."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from array import array
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from ssdlab.errors import UsageError
from ssdlab.pages.timelines.columns import NONE, Columns
from ssdlab.system.folders import file_errors

__all__ = ["Events", "read_events"]

FLOW = re.compile(r'"ph":"(?P<phase>[stf])".*?"id":(?P<id>\d+),"pid":\d+,"tid":(?P<tid>\d+)')
PAGE = ("request", "lpn", "ppn", "block", "pool", "to_ppn", "to_block")
"""Numbers of a page of an operation, in the order of the columns."""


class Words:
    """Different texts, numbered in the order in which they come."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The number of a text."""
        if text not in self._numbers:
            self._numbers[text] = len(self.all)
            self.all.append(text)
        return self._numbers[text]


class Events:
    """What a timeline file holds, in columns."""

    def __init__(self) -> None:
        self.words = Words()
        """Names of slices and marks, categories, purposes and reasons."""
        self.processes: dict[int, str] = {}
        self.tracks: list[tuple[int, str]] = []
        """Process and name of each track."""
        self.other: Mapping[str, Any] = {}
        self._track: dict[int, int] = {}
        self._starts, self._durations = array("d"), array("d")
        self._slice: dict[str, array[int]] = {key: array("I") for key in ("track", "name", "category", "of", "pages", "page", "job")}
        self._page: dict[str, array[int]] = {key: array("I") for key in (*PAGE, "for")}
        self._requests: list[tuple[float, ...]] = []
        self._jobs: list[tuple[int, ...]] = []
        self._marks: list[tuple[float, int, int]] = []
        self._levels: dict[tuple[int, str], list[tuple[float, float]]] = {}
        self._pages_of: dict[str, tuple[int, int]] = {}
        self._running: dict[int, int] = {}
        """The latest slice of each track."""
        self._begun: dict[int, int] = {}
        """The request at which each arrow begins that has not ended."""
        self._merged: list[tuple[int, int]] = []

    @property
    def slices(self) -> int:
        """Number of slices."""
        return len(self._starts)

    def take(self, line: str) -> None:
        """Takes in an event, a line of the file."""
        flow = FLOW.search(line) if '"cat":"flow"' in line else None
        if flow is not None:
            self._take_flow(flow)
            return
        event = json.loads(line)
        take: dict[str, Callable[[Mapping[str, Any]], None]] = {
            "X": self._take_slice,
            "C": self._take_level,
            "M": self._take_name,
            "i": self._take_mark,
        }
        take[event["ph"]](event)

    def _take_name(self, event: Mapping[str, Any]) -> None:
        if event["name"] == "process_name":
            self.processes[event["pid"]] = event["args"]["name"]
        elif event["name"] == "thread_name":
            self._track[event["tid"]] = len(self.tracks)
            self.tracks.append((event["pid"], event["args"]["name"]))

    def _take_mark(self, event: Mapping[str, Any]) -> None:
        track = self._track[event["tid"]] if event["s"] == "t" else NONE
        self._marks.append((_ns(event["ts"]), track, self.words.number(event["name"])))

    def _take_level(self, event: Mapping[str, Any]) -> None:
        ((what, value),) = event["args"].items()
        self._levels.setdefault((event["pid"], f"{event['name']} {what}"), []).append((_ns(event["ts"]), value))

    def _take_slice(self, event: Mapping[str, Any]) -> None:
        values = event["args"]
        of, first, count, job = NONE, 0, 0, NONE
        if "valid_pages" in values:
            of = len(self._jobs)
            self._jobs.append((values["job"], values["pool"], values["victim"], values["valid_pages"]))
        elif "arrival_us" in values:
            of = len(self._requests)
            self._take_request(values)
        else:
            first, count = self._pages(values)
            job = values.get("job", NONE)
        self._running[event["tid"]] = len(self._starts)
        self._starts.append(_ns(event["ts"]))
        self._durations.append(_ns(event["dur"]))
        numbers = (self._track[event["tid"]], self.words.number(event["name"]), self.words.number(event["cat"]), of, count, first, job)
        for column, number in zip(self._slice.values(), numbers, strict=True):
            column.append(number)

    def _take_request(self, values: Mapping[str, Any]) -> None:
        flow = values.get("flow")
        response = _ns(values["response_us"]) if "response_us" in values else -1.0
        reason = self.words.number(values["blocked_by"]) if "blocked_by" in values else NONE
        whose = NONE if flow is None else self.words.number(flow)
        self._requests.append((values["request"], values["offset"], values["bytes"], _ns(values["arrival_us"]), response, reason, whose))

    def _pages(self, values: Mapping[str, Any]) -> tuple[int, int]:
        """The first page of an operation, and their number. Slices of the same pages share them."""
        key = json.dumps(values)
        if key not in self._pages_of:
            pages = values.get("pages", [values])
            self._pages_of[key] = (len(self._page["for"]), len(pages))
            for page in pages:
                for name in PAGE:
                    self._page[name].append(page.get(name, NONE))
                self._page["for"].append(self.words.number(page["for"]) if "for" in page else NONE)
        return self._pages_of[key]

    def _take_flow(self, flow: re.Match[str]) -> None:
        """Arrows add to the slices only which requests merged with a page move; all other slices name their requests."""
        number, tid = int(flow["id"]), int(flow["tid"])
        if flow["phase"] == "s":
            self._begun[number] = self._slice["of"][self._running[tid]]
            return
        request = self._begun[number] if flow["phase"] == "t" else self._begun.pop(number)
        target = self._running[tid]
        if self.words.all[self._slice["category"][target]] == "gc":
            self._merged.append((int(self._requests[request][0]), target))

    def into(self, columns: Columns) -> None:
        """Adds the tables to the columns of a page."""
        columns.add("slices", {"start": np.array(self._starts), "duration": np.array(self._durations), **_whole(self._slice)})
        columns.add("pages", _whole(self._page))
        names = ("number", "offset", "bytes", "arrival", "response", "blocked_by", "flow")
        columns.add("requests", {name: np.array([row[at] for row in self._requests], float) for at, name in enumerate(names)})
        jobs = np.array(self._jobs, np.uint32).reshape(-1, 4)
        columns.add("jobs", {name: jobs[:, at] for at, name in enumerate(("number", "pool", "victim", "valid"))})
        marks = np.array(self._marks, float).reshape(-1, 3)
        columns.add("marks", {"at": marks[:, 0], "track": marks[:, 1], "name": marks[:, 2]})
        merged = np.array(self._merged, np.uint32).reshape(-1, 2)
        columns.add("merged", {"request": merged[:, 0], "slice": merged[:, 1]})
        for number, values in enumerate(self._levels.values()):
            pairs = np.array(values, float)
            columns.add(f"level {number}", {"at": pairs[:, 0], "value": pairs[:, 1]})

    def described(self) -> dict[str, Any]:
        """Everything but the columns."""
        return {
            "words": self.words.all,
            "processes": {str(pid): name for pid, name in self.processes.items()},
            "tracks": self.tracks,
            "levels": [[self.processes[pid], name] for pid, name in self._levels],
            "from_ns": _ns(self.other["from_us"]),
            "to_ns": _ns(self.other["to_us"]),
            "full": self.other["full"],
        }


def _whole(columns: Mapping[str, array[int]]) -> dict[str, np.ndarray[Any, Any]]:
    return {name: np.array(column, np.uint32) for name, column in columns.items()}


def _ns(us: float) -> float:
    """A time of the file, us, in ns. Times in ns are whole numbers."""
    return float(round(us * 1000))


def read_events(path: Path) -> Events:
    """Reads a timeline file, one event at a time.

    Raises:
        UsageError: `path` is not a timeline that ssdlab wrote.
        FileError: it cannot be read.
    """
    events = Events()
    try:
        with file_errors("read", path), _opened(path) as file:
            _take_all(events, file)
    except (ValueError, LookupError, TypeError, AttributeError, EOFError, OverflowError, zlib.error) as reason:
        raise UsageError(
            f"{path}: not a whole timeline that ssdlab wrote ({reason}); write it again with --timeline FILE.json or FILE.json.gz"
        ) from reason
    return events


def _opened(path: Path) -> IO[str]:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rt", encoding="utf-8") if packed else path.open(encoding="utf-8")


def _take_all(events: Events, file: IO[str]) -> None:
    """Takes in the lines of a file: a line that opens the list, a line for each event, a line with what else there is."""
    if file.readline().strip() != '{"traceEvents":[':
        raise ValueError("another first line")
    for line in file:
        if line.startswith("]"):
            events.other = json.loads("{" + line[1:].strip().lstrip(","))["otherData"]
            events.described()
            return
        events.take(line.rstrip().removesuffix(","))
    raise ValueError("it ends before its end")
