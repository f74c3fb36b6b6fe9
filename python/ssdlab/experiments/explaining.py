"""`ssdlab.slow_requests`: why requests of a saved run were slow, from what the run kept, or from the run repeated."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

from ssdlab.asking.option import Option, complete, options_of
from ssdlab.asking.options import Path_, RunOptions
from ssdlab.asking.plans import Slowest
from ssdlab.checks import amount, path, shown, text, whole
from ssdlab.errors import Error, InternalError, UsageError
from ssdlab.experiments.loading import run_in
from ssdlab.experiments.logged import KINDS, numbers_by_time, older_than
from ssdlab.pages.report.runs import saved_in, undamaged, words_of
from ssdlab.pages.why import Explained, Found, alike, found_in, paragraph, read_slowest, timeline, waits_for_older
from ssdlab.runs.api import executed_run, prepared_run
from ssdlab.runs.batch import Progress
from ssdlab.runs.result import Result
from ssdlab.system.folders import LOG_FILE, SLOWEST_FILE

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Question", "SlowRequest", "SlowRequests", "slow_requests"]

DEFAULT_COUNT = 10
"""Number of requests to explain where the run kept none."""
STAGES = 1 << 19
"""Number of stages of operations that a repeated run keeps at a time: about 80 MB."""
NEAR = 5
"""Number of requests to explain at a percentile: it, and those beside it."""
EXAMPLE = "p99.9"
COLUMNS = ("request", "kind", "offset_bytes", "size_bytes", "arrival_ns", "response_ns", "blocked_by")


@dataclass(frozen=True)
class SlowRequest:
    """A request, and why it took as long as it did.

    `request` is its number, from 0 in order of arrival; `blocked_by` is the reason for which it waited longest, `None` if it never waited.
    `explained` has the segments of its response time, which add up to it, and the operations, jobs and pages that these name.
    """

    request: int
    kind: str
    offset_bytes: int
    size_bytes: int
    arrival_ns: int
    response_ns: int
    blocked_by: str | None
    paragraph: str
    timeline: str
    explained: Explained

    def to_dict(self) -> dict[str, Any]:
        """The request as `ssdlab why --json` has it."""
        return {**self.explained.to_dict(), "paragraph": self.paragraph}

    def __str__(self) -> str:
        return f"{self.paragraph}\n\n{self.timeline}"


class SlowRequests(Sequence[SlowRequest]):
    """Requests of a run with the reasons for their response times: the slowest first, or in the order in which they were named."""

    def __init__(self, requests: Sequence[SlowRequest], folder: Path, *, repeated: bool) -> None:
        """Requests of the run in `folder`; `repeated`: the run was repeated for them."""
        self._requests = tuple(requests)
        self._folder = folder
        self._repeated = repeated

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return self._folder

    @property
    def repeated(self) -> bool:
        """Whether the run was repeated, since it had not kept these requests."""
        return self._repeated

    @overload
    def __getitem__(self, index: int) -> SlowRequest: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SlowRequest]: ...
    def __getitem__(self, index: int | slice) -> SlowRequest | Sequence[SlowRequest]:
        """A request by its place, or several."""
        return self._requests[index]

    def __len__(self) -> int:
        return len(self._requests)

    def __iter__(self) -> Iterator[SlowRequest]:
        return iter(self._requests)

    def groups(self) -> list[tuple[SlowRequest, str]]:
        """The first request of each group that was late for the same reasons, and the others of the group in words."""
        known = {one.request: one for one in self}
        groups = alike.grouped(one.explained for one in self)
        return [(known[first.request], alike.in_words(others) if others else "") for first, *others in groups]

    def table(self) -> pa.Table:
        """An Arrow table with a row for each request: its attributes except the timeline and `explained`."""
        import pyarrow as pa  # noqa: PLC0415 (it takes a while to import)

        return pa.table({name: [getattr(one, name) for one in self] for name in (*COLUMNS, "paragraph")})

    def to_dict(self) -> dict[str, Any]:
        """What `ssdlab why --json` prints."""
        return {"folder": str(self.folder), "repeated": self.repeated, "requests": [one.to_dict() for one in self]}

    def __str__(self) -> str:
        return "\n\n".join(map(str, self))


def slow_requests(
    folder: Path_,
    *,
    of: str | None = None,
    count: int | None = None,
    requests: Sequence[int] = (),
    kind: str = "all",
    at: str | None = None,
) -> SlowRequests:
    """Why the slowest requests of a saved run, those at a percentile, or requests by number, took as long as they did.

        for one in ssdlab.slow_requests("results/first"):
            print(one.paragraph)

    Args:
        folder: output of `run`, `compare` or `sweep`, or of one of their runs.
        of: in the folder of a comparison or sweep, the run, by label or by folder name.
        count: explain this many of the slowest reads and writes; by default those that the run kept.
        requests: explain these requests, by number from 0, instead.
        kind: `read` or `write`: only the slowest of this kind.
        at: a percentile of the response times, such as `"p99.9"`: explain the five requests of `kind` nearest to it in rank instead, the
            nearest first.

    The run is repeated if it did not keep these requests; twice if it kept no log (`log_requests`) to find them in.

    Raises:
        UsageError: the folder has no such run, the run no such request, its file of slowest requests is damaged, or it cannot be repeated.
        FileError: a file cannot be read.
        ssdlab.Interrupted: Ctrl-C.
    """
    question = Question(Path(path("folder", folder)), of, count, requests, kind, at)
    return question.kept or question.repeated()


class Question:
    """Which requests of which run are to be explained.

    Raises:
        UsageError: the folder has no such run, or the run no such request; or it must be repeated and cannot be; or options exclude each
            other.
        FileError: a file cannot be read.
    """

    def __init__(
        self, folder: Path, of: str | None, count: int | None, requests: Sequence[int], kind: str = "all", at: str | None = None
    ) -> None:
        if of is not None:
            text("of", of)
        if kind not in KINDS:
            raise UsageError(f"kind (--kind) = {shown(kind)}: expected {', '.join(KINDS[:-1])} or {KINDS[-1]}")
        if requests and kind != "all":
            raise UsageError("kind (--kind) and requests (--request): give one of them")
        if requests and count is not None:
            raise UsageError("count (--slowest) and requests (--request): give one of them")
        if at is not None and (requests or count is not None):
            raise UsageError("at (--at) stands alone: leave count (--slowest) and requests (--request) out")
        self._share = None if at is None else _share(at)
        self._kind = kind
        self.count = None if count is None else whole("count", count, least=1)
        self._named = bool(requests)
        self.requests = list(dict.fromkeys(whole("requests", number) for number in requests))
        self.folder = run_in(folder, of)
        _, self._result = saved_in(self.folder)
        self._words = tuple(words_of(self._result.get("command")))
        with undamaged(self.folder):
            self._measured = sum(self._result["requests"].values())
            total = self._measured + self._result.get("warm_up", {}).get("requests", 0)
        for number in self.requests:
            if number >= total:
                raise UsageError(f"request {number}: the run had {total:,} requests, numbered from 0")
        self._needs_log = self._share is not None or (kind != "all" and not self._chosen_of_kept())
        """Whether the requests are yet to be chosen, by a log."""
        log = self.folder / LOG_FILE
        self._log = log if log.is_file() else None
        if self._needs_log and self._log is not None:
            self._choose(self._log)
        elif self._needs_log:
            _ = self._command  # said before the run is repeated

    def _chosen_of_kept(self) -> bool:
        """Sets `requests` to the slowest of a kind that the run kept; returns whether these are all that are wanted.

        Those of a kind are its slowest, since all kinds are kept in one order.
        """
        numbers = [one.request for one in (self._found.slowest if self._found else ()) if one.kind == self._kind]
        wanted: int = min(self.count or len(numbers) or DEFAULT_COUNT, self._result["requests"].get(self._kind, 0))
        if not wanted:
            raise UsageError(f"{self.folder}: the run measured no {self._kind}s")
        self.count, self.requests = wanted, numbers[:wanted]
        return len(numbers) >= wanted

    def _choose(self, log: Path) -> None:
        """Sets `requests`, by a log, to the slowest of a kind, or to those nearest in rank of response time to a percentile."""
        self._needs_log = False
        numbers = numbers_by_time(log, self._kind)
        if self._share is None:
            self.requests = numbers[: self.count]
            return
        if not numbers:
            raise UsageError(f"{self.folder}: the run measured no {'requests' if self._kind == 'all' else f'{self._kind}s'}")
        place = len(numbers) - math.ceil(self._share * len(numbers))  # the percentile's nearest rank, counted from the slowest
        first = max(min(place - NEAR // 2, len(numbers) - NEAR), 0)
        near = range(first, min(first + NEAR, len(numbers)))
        self.requests = [numbers[rank] for rank in sorted(near, key=lambda rank: abs(rank - place))]

    @cached_property
    def _found(self) -> Found | None:
        return found_in(self.folder, self._result["digest"])

    @property
    def kept(self) -> SlowRequests | None:
        """The requests as the run kept them; `None` if it did not keep all of them, or if they were named and it can tell more of one."""
        if self._found is None or self._needs_log:
            return None
        if self.requests:
            named = [one for one in map(self._found.request, self.requests) if one is not None]
            untold = self._named and self._log is None and self._words and any(map(waits_for_older, named))
            return self._shown(named, self._log, repeated=False) if len(named) == len(self.requests) and not untold else None
        slowest = self._found.slowest
        wanted = len(slowest) if self.count is None else min(self.count, self._measured)
        return self._shown(slowest[:wanted], self._log, repeated=False) if 0 < wanted <= len(slowest) else None

    @property
    def lacking(self) -> str:
        """Why the run must be repeated, in words."""
        if self._needs_log:
            return "the run kept no log of its requests to find these"
        if self._found is None:
            return "the run kept no requests"
        known = all(map(self._found.request, self.requests)) if self._named else False
        return "the run kept no log to find an older request in" if known else "these requests are not among those that the run kept"

    def repeated(self, progress: Progress | None = None) -> SlowRequests:
        """Repeats the run, which gives the same response times, and explains the requests. `progress`: callback for its progress.

        Raises:
            UsageError: the run cannot be repeated, or came out differently.
            ssdlab.Interrupted: Ctrl-C.
        """
        if self._needs_log:
            logged = self._again(None, progress)
            self._choose(_log_of(logged))
        count = 0 if self.requests else self.count or DEFAULT_COUNT
        with tempfile.TemporaryDirectory(prefix="ssdlab-") as place:
            file = Path(place) / SLOWEST_FILE
            again = self._again(Slowest(file, count, self.requests, STAGES), progress)
            found = read_slowest(file, self._result["digest"])
            return self._shown(found.asked if self.requests else found.slowest, _log_of(again), repeated=True)

    @cached_property
    def _command(self) -> tuple[str, ...]:
        """The words of the command that repeats the run.

        Raises:
            UsageError: there is none.
        """
        if not self._words:
            point = "the point by ssdlab.run" if "sweep" in self._result else "it"
            advice = f"run {point} again with a larger slowest (--slowest) and log_requests (--log-requests)"
            unknown = "its command is not known (it used a policy that is not in a file, or a pipe, or served a program)"
            raise UsageError(f"{self.folder}: the run cannot be repeated, since {unknown}: {advice}")
        return self._words

    def _again(self, slowest: Slowest | None, progress: Progress | None) -> Result:
        """Repeats the run with a temporary log."""
        try:
            options, keys = _options_in(self._command[2:])
            prepared = prepared_run({**options, "log_requests": True}, keys, slowest)
            batch = executed_run(prepared, progress=progress)
            batch.raise_failure()
        except InternalError:
            raise
        except Error as reason:
            where = "it names files as seen from the folder where it was begun"
            raise UsageError(f"{self.folder}: the run must be repeated, and cannot be: {reason} (its command: {where})") from reason
        result = cast("Result", batch.finished["run"])
        if result.digest != self._result["digest"]:
            changed = "its traces, presets or policies have changed since, or ssdlab has"
            raise UsageError(f"{self.folder}: the repeated run came out differently, so that it explains nothing: {changed}")
        return result

    def _shown(self, requests: Sequence[Explained], log: Path | None, *, repeated: bool) -> SlowRequests:
        by_number = {one.request: one for one in requests}
        ordered = [by_number[number] for number in self.requests] if self.requests else requests
        config = self._result["config"]
        told = ordered if log is None else [replace(one, older=older_than(log, one, config)) for one in ordered]
        return SlowRequests([_record(one, config) for one in told], self.folder, repeated=repeated)


def _log_of(result: Result) -> Path:
    """The temporary log of a run that was repeated. It is there as long as the result."""
    if result.request_log is None:
        raise InternalError("the repeated run has no log")
    return result.request_log


def _share(at: str) -> Fraction:
    """The share of requests that a percentile such as `p99.9` is above.

    Raises:
        UsageError: the text is not a percentile.
    """
    found = re.fullmatch(r"p(\d{1,2}|\d{1,2}\.\d{1,6})", text("at", at))
    share = Fraction(found[1]) / 100 if found else Fraction(0)
    if not share:
        raise UsageError(f"at (--at) = {shown(at)}: expected a percentile above p0 and below p100, such as {EXAMPLE}")
    return share


def _record(one: Explained, config: Mapping[str, Any]) -> SlowRequest:
    entries = {name: getattr(one, name) for name in COLUMNS}
    return SlowRequest(**entries, paragraph=paragraph(one, config), timeline=timeline(one), explained=one)


def _options_in(words: Sequence[str]) -> tuple[RunOptions, tuple[tuple[str, str], ...]]:
    """The options of `run`, and the keys set by hand, in a command as results have it (`Setup.command`).

    Raises:
        UsageError: the command is not one that ssdlab writes.
    """
    known = {flag: (name, option) for name, option in options_of(RunOptions).items() for flag in option.flags}
    given: dict[str, Any] = {}
    keys: list[tuple[str, str]] = []
    left = iter(words)
    for word in left:
        if word not in known:
            raise UsageError(f"{shown(word)}: not an option of `ssdlab run`; the command in the result is of another version, or damaged")
        name, option = known[word]
        if name == "set":
            key, _, value = next(left, "").partition("=")
            keys.append((key, value))
        else:
            given[name] = True if option.form == "flag" else _value_of(name, option, next(left, ""))
    return complete("run", RunOptions, cast("RunOptions", given)), tuple(keys)


def _value_of(name: str, option: Option, word: str) -> Any:
    """The value of an option from its word."""
    if option.form in ("count", "size", "seed", "positive"):
        return amount(name, word, in_bytes=option.form == "size")
    if option.form == "number":
        try:
            return float(word)
        except ValueError:
            raise UsageError(f"{name} = {shown(word)}: expected a number") from None
    return word
