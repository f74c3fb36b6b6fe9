"""The outcome in words: which scheme is best, whether that is more than noise, and at whose cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ssdlab.report.changes import Change, apart, as_good, change, number_of
from ssdlab.report.runs import KINDS, Run, Runs, words_of
from ssdlab.report.summary import percent, shown

__all__ = ["remarks", "verdict"]

P99, MEAN = "latency_ns.all.p99", "latency_ns.all.mean"
JUDGED = ((P99, "p99 response time"), (MEAN, "mean response time"))
TAILS = ((P99, "p99"), ("latency_ns.all.p99_9", "p99.9"))
PLAIN = 0.05
"""Differences that nothing was judged by are told of from here on."""
MOST = 3
"""Remarks of a kind: more nobody reads."""


def verdict(runs: Runs) -> str:
    """The outcome: how long requests took, and under which scheme they took the least time; of means, where the tail does not tell."""
    told = 0
    sentences: list[str] = []
    for place, what in JUDGED:
        having = [run for run in runs if number_of(runs, run, place) is not None]
        told = max(told, len(having))
        winners = _winners(runs, having, place)
        if len(winners) == 1 < len(having):
            return " ".join([*sentences, _won(runs, winners[0], place, what)])
        if 0 < len(winners) < len(having):
            sentences.append(_shared(runs, winners, place, what))
        elif len(having) == len(runs) > 1:
            sentences += _noise(runs, having, place, what)
    if len(runs) == 1 or sentences:
        return " ".join(sentences[:1])
    return "The schemes have the same response times." if told == len(runs) else "There are no response times of all schemes to compare."


def remarks(runs: Runs) -> list[str]:
    """What else is to be known: how sure it is, what a gain costs, and what was left out."""
    found = [*_sure(runs), *list(_costs(runs))[:MOST], *_one_by_one(runs)] if len(runs) > 1 else []
    return [*found, *_warm_up(runs)]


def _warm_up(runs: Runs) -> Iterator[str]:
    """What was left out. Of several seeds only what is the same for all: the time, or the requests where these were asked for."""
    left_out = runs[0].at("warm_up")
    if not left_out:
        return
    time, requests = shown(left_out["ns"], "ns"), f"{left_out['requests']:,} requests"
    asked = dict(pairwise(words_of(runs[0].data.get("command")))).get("--warm-up", "")
    several = requests if asked.isdecimal() else time
    yield f"Figures leave out the warm-up: the first {several if runs.seeds.get('seeds') else f'{time}, {requests}'}."


def _winners(runs: Runs, having: Sequence[Run], place: str) -> list[Run]:
    """The best, and those that are as good for all that is known."""
    if not having:
        return []
    best = min(having, key=lambda run: number_of(runs, run, place))
    return [run for run in having if as_good(runs, best, run, place)]


def _won(runs: Runs, winner: Run, place: str, what: str) -> str:
    return f"{winner.label} has the shortest {what}: {_told(runs, [winner], place)}."


def _shared(runs: Runs, winners: Sequence[Run], place: str, what: str) -> str:
    tie = ", a tie within the noise" if _noisy(runs, winners, place) else ""
    return f"{_listed(winners)} have the shortest {what}: {_told(runs, winners, place)}{tie}."


def _told(runs: Runs, winners: Sequence[Run], place: str) -> str:
    """The best value, and how it differs from the first's, where that is not as good."""
    best = min(winners, key=lambda run: number_of(runs, run, place))
    found = None if runs[0] in winners else change(runs, runs[0], best, place)
    against = f", {percent(found.relative, found.half)} against {runs[0].label}" if found and not found.tie else ""
    return shown(number_of(runs, best, place), "ns") + against


def _noise(runs: Runs, having: Sequence[Run], place: str, what: str) -> Iterator[str]:
    """All are as good as each other for all that can be told, though not the same."""
    noisy = _noisy(runs, having, place)
    if noisy:
        far = max(noisy, key=lambda found: abs(found.relative))
        difference = "The difference" if len(having) == 2 else "The largest difference"
        yield (
            f"A tie at the {what}. {difference}, {abs(far.relative) * 100:.1f} %, is within what repeats of the run "
            f"would scatter (± {(far.half or 0.0) * 100:.1f} %)."
        )


def _noisy(runs: Runs, having: Sequence[Run], place: str) -> list[Change]:
    """The differences from the best that only noise makes none."""
    best = min(having, key=lambda run: number_of(runs, run, place))
    found = [apart(runs, best, run, place) for run in having if run is not best]
    return [entry for entry in found if entry is not None and entry.noise]


def _sure(runs: Runs) -> Iterator[str]:
    """By what differences were judged."""
    seeds = runs.seeds.get("seeds")
    if seeds:
        yield f"Means over {len(seeds)} seeds; ± is the {runs.seeds.get('level', 0.95):.0%} interval of each.".replace("%", " %")
        yield f"Figures and workload are those of seed {runs[0].data['seed']}."
        return
    first = [(run, change(runs, runs[0], run, place)) for place, _ in JUDGED for run in runs.runs[1:]]
    judged = [found for _, found in first if found is not None and found.half is not None]
    if judged:
        yield "One seed: ± is estimated from how the parts of each run differ; several seeds measure it (compare --seeds 5)."
    elif any(found is not None and not found.tie for _, found in first):
        yield "Noise was not judged: one seed, and the runs are too short or kept no series (compare --seeds 5 measures it)."


def _costs(runs: Runs) -> Iterator[str]:
    """Gains in the mean that the tail pays for, and gains of reads that writes pay for, or the other way round."""
    for run in runs.runs[1:]:
        mean = change(runs, runs[0], run, MEAN)
        for place, name in TAILS:
            tail = change(runs, runs[0], run, place)
            if mean and tail and _is_better(mean) and _is_worse(tail):
                gained, paid = percent(mean.relative), percent(tail.relative)
                yield f"{run.label} has a better mean ({gained}) at the cost of a worse tail ({name} {paid}) than {runs[0].label}."
                break
        reads, writes = (change(runs, runs[0], run, f"latency_ns.{kind}.mean") for kind in KINDS)
        if reads and writes and any(_is_better(one) and _is_worse(other) for one, other in ((reads, writes), (writes, reads))):
            gained, paid = percent(reads.relative), percent(writes.relative)
            yield f"Under {run.label} the mean response time of reads changes by {gained}, that of writes by {paid}."


def _is_worse(found: Change) -> bool:
    return found.relative > (PLAIN if found.half is None else max(found.half, 0.0)) and not found.tie


def _is_better(found: Change) -> bool:
    return -found.relative > (PLAIN if found.half is None else max(found.half, 0.0)) and not found.tie


def _one_by_one(runs: Runs) -> Iterator[str]:
    """What the same requests say, one by one, of the scheme that gained most by their count."""
    found = {label: kinds["all"] for label, kinds in runs.paired.items() if label != "against" and "all" in kinds}
    if not found:
        return
    label = max(found, key=lambda name: found[name]["faster"])
    shares = found[label]
    parts = [
        f"{shown(shares[share], 'share')} were {share}" + (f" (by {shown(shares[by], 'ns')})" if by in shares else "")
        for share, by in (("faster", "gain_ns"), ("slower", "loss_ns"))
    ]
    yield f"The same requests one by one, {label} against {runs.paired['against']}: {', '.join(parts)}."


def _listed(runs: Sequence[Run]) -> str:
    labels = [run.label for run in runs]
    return f"{', '.join(labels[:-1])} and {labels[-1]}"
