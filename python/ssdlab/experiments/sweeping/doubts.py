"""Why a figure of a sweep's points cannot be judged: write amplification that has not settled, and percentiles of too few requests."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ssdlab.analysis.remarks import NOT_SETTLED, replays
from ssdlab.asking.plans import value_text
from ssdlab.experiments.sweeping.points import SEED, SweepPoint
from ssdlab.pages.report.summary import BEYOND

__all__ = ["AMPLIFICATIONS", "NO_REPEATS", "OF_PARTS", "doubt", "is_of_parts", "is_percentile", "no_repeats", "sources", "too_few"]

AMPLIFICATIONS = ("gc.write_amplification", "gc.page_write_amplification")
"""Figures that are judged only where all points have settled, or are parts of a trace that began settled."""
OF_PARTS = "the parts began in a settled state and have not settled again: the change is of parts this long, and may turn in longer ones"
UNCOUNTED = "run before a question asked for percentiles, without a count of independent requests: run the sweep in a new folder (--out)"
NO_REPEATS = "all seeds gave the same runs, which are no repeats: cut a trace into parts (an axis skip), or give more workloads"
BEYOND_LEAST = 10
"""Minimum number of independent requests of a point beyond a percentile, over its seeds: of 1,000 for p99, of 10,000 for p99.9."""
BEYOND_OF_PART = 1
"""As many of each part of a trace, where they are counted over the parts."""
PART_KEYS = ("skip", "last", "limit_s")
"""Keys of `workload` that choose a part of a trace."""


def doubt(figure: str, points: Collection[SweepPoint], across: Collection[str]) -> str:
    """Why differences of a figure between points cannot be judged by their interval; empty if they can.

    Args:
        figure: a path, such as `latency_ns.read.p99`.
        points: all points that are compared.
        across: axes of workloads over which the interval is.
    """
    return next((why for source in sources(figure, points) if (why := _doubt(source, points, across))), "")


def sources(figure: str, points: Iterable[SweepPoint]) -> list[str]:
    """The figures that a figure of points is: those in the formula of a derived column, or itself."""
    return list(dict.fromkeys(source for point in points for source in point.sources.get(figure, (figure,))))


def _doubt(figure: str, points: Collection[SweepPoint], across: Collection[str]) -> str:
    if figure in AMPLIFICATIONS:
        unsettled = _unsettled(points)
        if not unsettled or is_of_parts(figure, points, across):
            return ""
        advice = ": begin each part in a settled state (state)" if all(replays(point.result) for point in unsettled) else ""
        return f"write amplification has not settled at {len(unsettled):,} of {len(points):,} points{advice}"
    if not is_percentile(figure):
        return ""
    alike: dict[str, list[SweepPoint]] = {}
    for point in points:
        # other parts of a trace are other requests of one workload, as other seeds are
        workload = _workload(point)
        left_out = {SEED, *(across if workload.get("trace") else ())}
        values = {axis: value for axis, value in point.values.items() if axis not in left_out}
        alike.setdefault(value_text({**values, "its trace": str(workload.get("trace"))}), []).append(point)
    return too_few(figure, alike.values())


def is_of_parts(figure: str, points: Collection[SweepPoint], across: Collection[str]) -> bool:
    """Whether points that have not settled are parts of traces that each began in a settled state, and the interval is over the parts."""
    unsettled = _unsettled(points) if {*AMPLIFICATIONS} & {*sources(figure, points)} else []
    parts = {value_text({axis: point.values[axis] for axis in across}) for point in points}
    return bool(unsettled) and len(parts) > 1 and all(replays(point.result) and _began_settled(point) for point in unsettled)


def _unsettled(points: Iterable[SweepPoint]) -> list[SweepPoint]:
    return [point for point in points if any(remark.code == NOT_SETTLED for remark in point.result.remarks)]


def _began_settled(point: SweepPoint) -> bool:
    """Whether a point began in a saved state, or was prepared until it had settled."""
    prepared = point.result.get("precondition") or {}
    return prepared.get("kind") == "state" or bool(prepared.get("steady") or prepared.get("settled"))


def no_repeats(figure: str, points: Iterable[Sequence[SweepPoint]]) -> str:
    """Why runs under several seeds say nothing of how a figure scatters: at each point all are the same run; empty if they do."""
    return NO_REPEATS if all(len(runs) > 1 and _is_one(figure, runs) for runs in points) else ""


def _is_one(figure: str, runs: Sequence[SweepPoint]) -> bool:
    return len(_distinct(runs)) == 1 and len({run.measures.get(figure) for run in runs}) == 1


def _distinct(runs: Iterable[SweepPoint]) -> list[SweepPoint]:
    """The runs that differ: the first of those in which each request took the same time."""
    found: dict[object, SweepPoint] = {}
    for run in runs:
        found.setdefault(run.result.get("digest") or id(run), run)
    return list(found.values())


def too_few(figure: str, points: Iterable[Sequence[SweepPoint]]) -> str:
    """Why a figure cannot be judged, and what would reach it; empty if it can, or is no percentile of response times.

    Args:
        figure: a path, such as `latency_ns.read.p99`.
        points: for each point its runs, one for each seed and part of a trace.
    """
    if not is_percentile(figure):
        return ""
    path, _, name = figure.rpartition(".")
    needed, kind = round(BEYOND_LEAST / BEYOND[name]), path.removeprefix("latency_ns.")
    apart = [(_distinct(runs), len(runs)) for runs in points]
    least, runs, seeds = min(((_independent(runs, kind), runs, seeds) for runs, seeds in apart), key=lambda found: found[0])
    parts = _parts(runs)
    if least < needed:
        what = "of a point" if len(parts) == 1 else f"of {len(parts):,} parts"
        return f"rests on about {least:,.0f} independent requests {what}, {needed:,} needed{_remedy(runs, least, needed, seeds)}"
    of_part, enough = min(_independent(part, kind) for part in parts), round(BEYOND_OF_PART / BEYOND[name])
    if len(parts) > 1 and of_part < enough:
        longer = f": parts {_factor(enough / of_part)} times as long would do" if of_part > 0 else ""
        return f"a part has about {of_part:,.0f} independent requests, {enough:,} needed{longer}"
    return ""


def is_percentile(figure: str) -> bool:
    """Whether a figure is a percentile of response times."""
    return figure.startswith("latency_ns.") and figure.rpartition(".")[2] in BEYOND


def _parts(runs: Sequence[SweepPoint]) -> list[list[SweepPoint]]:
    """The runs of each part of a trace."""
    found: dict[str, list[SweepPoint]] = {}
    for run in runs:
        workload = _workload(run)
        found.setdefault(str([workload.get(key) for key in PART_KEYS]), []).append(run)
    return list(found.values())


def _workload(run: SweepPoint) -> Mapping[str, Any]:
    """The keys `workload` of a run."""
    found: Mapping[str, Any] = (run.result.get("config") or {}).get("workload") or {}
    return found


def _independent(runs: Sequence[SweepPoint], kind: str) -> float:
    """Effective number of independent requests of a kind in runs; infinite where a result has no counts."""
    return math.fsum(_count(run, kind, math.inf) * run.independent_share for run in runs)


def _count(run: SweepPoint, kind: str, otherwise: float) -> float:
    """Number of measured requests of a kind; `otherwise` if the result has none."""
    return float(run.result.get("latency_ns", {}).get(kind, {}).get("count", otherwise))


def _remedy(runs: Sequence[SweepPoint], least: float, needed: int, seeds: int) -> str:
    """What would reach the number that is needed, as the end of a sentence. Neither seeds nor repeats give a trace other requests.

    `seeds` gave the `runs` that differ.
    """
    if least <= 0:
        return ""
    times = needed / least
    if len(_parts(runs)) > 1:
        return f": {_factor(times)} times as much of the trace would do, or ask for the mean"
    kept = max(_count(run, "all", 0) + (run.result.get("warm_up") or {}).get("requests", 0) for run in runs)
    requests = f"{_rounded_up(times * kept):,} requests"
    if replays(runs[0].result):
        return f": about {requests} of a trace would do, or ask for the mean"
    if len(runs) < seeds:
        return f": about {requests} a run would do, since seeds gave the same runs"
    return f": about {math.ceil(times * len(runs)):,} seeds or {requests} a run would do"


def _factor(times: float) -> str:
    """A factor, rounded up to about two digits."""
    return f"{math.ceil(10 * times) / 10:g}" if times < 10 else f"{_rounded_up(times):,}"


def _rounded_up(number: float) -> int:
    """The next number of two significant digits."""
    unit = int(10 ** max(math.floor(math.log10(number)) - 1, 0))
    return math.ceil(number / unit - 1e-9) * unit
