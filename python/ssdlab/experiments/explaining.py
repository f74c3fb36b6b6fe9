"""`ssdlab.slow_requests`: why requests of a saved run were slow, from what the run kept, or from the run repeated."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from ssdlab.pages.report.runs import saved_in, undamaged, words_of
from ssdlab.pages.why import Explained, Found, alike, found_in, paragraph, read_slowest, timeline
from ssdlab.runs.api import executed_run, prepared_run
from ssdlab.runs.batch import Progress
from ssdlab.system.folders import LOG_FILE, SLOWEST_FILE

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Question", "SlowRequest", "SlowRequests", "slow_requests"]

DEFAULT_COUNT = 10
"""Number of requests to explain where the run kept none."""
STAGES = 1 << 19
"""Number of stages of operations that a repeated run keeps at a time: about 80 MB."""
KINDS = ("read", "write", "all")
"""Kinds of requests that can be chosen."""
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
        kind: `read` or `write`: only the slowest of this kind, of those that the run kept, or of all in its log (`log_requests`).
        at: a percentile of the response times, such as `"p99.9"`: explain the five requests of `kind` nearest to it in rank instead, the
            nearest first. The run must have a log.

    The run is repeated if it did not keep these requests.

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
        UsageError: the folder has no such run, or the run no such request; or it kept none of `kind`, and has no log to find one in; or no
            log for a percentile; or options exclude each other.
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
        share = None if at is None else _share(at)
        self.count = None if count is None else whole("count", count, least=1)
        self.requests = list(dict.fromkeys(whole("requests", number) for number in requests))
        self.folder = run_in(folder, of)
        _, self._result = saved_in(self.folder)
        with undamaged(self.folder):
            self._measured = sum(self._result["requests"].values())
            total = self._measured + self._result.get("warm_up", {}).get("requests", 0)
        for number in self.requests:
            if number >= total:
                raise UsageError(f"request {number}: the run had {total:,} requests, numbered from 0")
        self.missing = ""
        """What of the kind cannot be shown, in words; empty if all can."""
        if share is not None:
            self._choose_at(share, kind)
        elif kind != "all":
            self._choose(kind)

    def _choose(self, kind: str) -> None:
        """Sets `requests` to the slowest of a kind.

        Kept requests of a kind are its slowest, since all kinds are kept in one order. Further ones are found in the log of the run.
        """
        numbers = [one.request for one in (self._found.slowest if self._found else ()) if one.kind == kind]
        wanted = min(self.count or len(numbers) or DEFAULT_COUNT, self._result["requests"].get(kind, 0))
        if not wanted:
            raise UsageError(f"{self.folder}: the run measured no {kind}s")
        log = self.folder / LOG_FILE
        if len(numbers) < wanted and log.is_file():
            numbers = _by_time(log, kind)[:wanted]
        if len(numbers) < wanted:
            kept = f"{len(numbers):,} of the {wanted:,} slowest {kind}s are" if numbers else f"no {kind} is"
            advice = f"run it again with a larger --slowest N; or with --log-requests, and then `ssdlab why --kind {kind}` or `--request`"
            self.missing = f"{self.folder}: {kept} among the requests that the run kept: {advice}"
            if not numbers:
                raise UsageError(self.missing)
        self.count, self.requests = None, numbers[:wanted]

    def _choose_at(self, share: Fraction, kind: str) -> None:
        """Sets `requests` to those of a kind whose rank in response time is nearest to that of a percentile, the nearest first."""
        log = self.folder / LOG_FILE
        if not log.is_file():
            advice = "run it again with --log-requests (a point of a sweep: by `ssdlab run`)"
            raise UsageError(f"{self.folder}: at (--at) needs the response time of every request: {advice}")
        numbers = _by_time(log, kind)
        if not numbers:
            raise UsageError(f"{self.folder}: the run measured no {'requests' if kind == 'all' else f'{kind}s'}")
        place = len(numbers) - math.ceil(share * len(numbers))  # the percentile's nearest rank, counted from the slowest
        first = max(min(place - NEAR // 2, len(numbers) - NEAR), 0)
        near = range(first, min(first + NEAR, len(numbers)))
        self.requests = [numbers[rank] for rank in sorted(near, key=lambda rank: abs(rank - place))]

    @cached_property
    def _found(self) -> Found | None:
        return found_in(self.folder, self._result["digest"])

    @property
    def kept(self) -> SlowRequests | None:
        """The requests as the run kept them; `None` if it did not keep all of them."""
        if self._found is None:
            return None
        if self.requests:
            named = [one for one in map(self._found.request, self.requests) if one is not None]
            return self._shown(named, repeated=False) if len(named) == len(self.requests) else None
        slowest = self._found.slowest
        wanted = len(slowest) if self.count is None else min(self.count, self._measured)
        return self._shown(slowest[:wanted], repeated=False) if 0 < wanted <= len(slowest) else None

    @property
    def lacking(self) -> str:
        """Why the run must be repeated, in words."""
        return "the run kept no requests" if self._found is None else "these requests are not among those that the run kept"

    def repeated(self, progress: Progress | None = None) -> SlowRequests:
        """Repeats the run, which gives the same response times, and explains the requests. `progress`: callback for its progress.

        Raises:
            UsageError: the run cannot be repeated, or came out differently.
            ssdlab.Interrupted: Ctrl-C.
        """
        words = words_of(self._result.get("command"))
        if not words:
            raise UsageError(
                f"{self.folder}: the run cannot be repeated, since its command is not known (it used a policy that is not in a file, or "
                "a pipe, or served a program): run it again with a larger slowest (--slowest)"
            )
        count = 0 if self.requests else self.count or DEFAULT_COUNT
        with tempfile.TemporaryDirectory(prefix="ssdlab-") as place:
            file = Path(place) / SLOWEST_FILE
            try:
                prepared = prepared_run(*_options_in(words[2:]), Slowest(file, count, self.requests, STAGES))
                batch = executed_run(prepared, progress=progress)
                batch.raise_failure()
            except InternalError:
                raise
            except Error as reason:
                where = "it names files as seen from the folder where it was begun"
                raise UsageError(f"{self.folder}: the run must be repeated, and cannot be: {reason} (its command: {where})") from reason
            if batch.finished["run"].digest != self._result["digest"]:
                changed = "its traces, presets or policies have changed since, or ssdlab has"
                raise UsageError(f"{self.folder}: the repeated run came out differently, so that it explains nothing: {changed}")
            found = read_slowest(file, self._result["digest"])
        return self._shown(found.asked if self.requests else found.slowest, repeated=True)

    def _shown(self, requests: Sequence[Explained], *, repeated: bool) -> SlowRequests:
        by_number = {one.request: one for one in requests}
        ordered = [by_number[number] for number in self.requests] if self.requests else requests
        return SlowRequests([_record(one, self._result["config"]) for one in ordered], self.folder, repeated=repeated)


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


def _by_time(log: Path, kind: str) -> list[int]:
    """Numbers of the requests of a kind after the warm-up, from the log of a run: the slowest first; of equal ones, the first to arrive.

    Raises:
        UsageError: the file is no log of requests.
    """
    import pyarrow as pa  # noqa: PLC0415 (it takes a while to import)
    import pyarrow.compute as pc  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        table = pq.read_table(log, columns=["index", "kind", "response_ns", "warm_up"])
        kinds = pa.array(KINDS[:-1] if kind == "all" else [kind])
        chosen = table.filter(pc.and_(pc.is_in(table["kind"].cast(pa.string()), kinds), pc.invert(table["warm_up"])))
    except (pa.ArrowException, OSError, KeyError) as reason:
        raise UsageError(f"{log}: not a log of requests, or damaged: {reason}; run it again") from reason
    order = [("response_ns", "descending"), ("index", "ascending")]
    return [int(number) for number in chosen.sort_by(order)["index"].to_pylist()]


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
