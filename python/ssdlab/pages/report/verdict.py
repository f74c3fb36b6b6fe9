"""The outcome in words: the best variant, whether it is better by more than noise, and the costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ssdlab.analysis.differences import in_words
from ssdlab.analysis.remarks import replays
from ssdlab.pages.report import noise
from ssdlab.pages.report.causes import causes
from ssdlab.pages.report.changes import Change, apart, as_good, change, number_of, spread
from ssdlab.pages.report.runs import KINDS, Run, Runs, words_of
from ssdlab.pages.report.summary import FEWEST, few, percent, shown

__all__ = ["remarks", "verdict"]

P99, MEAN = "latency_ns.all.p99", "latency_ns.all.mean"
JUDGED = ((P99, "p99"), (MEAN, "mean"))
TAILS = ((P99, "p99"), ("latency_ns.all.p99_9", "p99.9"))
DISAGREE = "the seeds disagree"
TOO_FEW = f"fewer than {FEWEST} requests took longer"
NEEDED = round(noise.FEWEST / 0.01)
"""Minimum number of independent requests to judge a p99."""
PLAIN = 0.05
"""Minimum relative difference that is reported without a judgement."""
MOST = 3
"""Maximum number of remarks of one kind."""


def verdict(runs: Runs) -> str:
    """The outcome in one sentence: the variant with the shortest response times, by p99 or, if it does not decide, by the mean."""
    return _outcome(runs)[0] if len(runs) > 1 else ""


def _outcome(runs: Runs) -> list[str]:
    """The sentences of the outcome, the headline first."""
    if not runs.one_load:
        return ["These runs have different loads, so response times do not rank them."]
    told = 0
    decided: list[str] = []
    tied: list[str] = []
    unsure: list[str] = []
    doubts: list[str] = []
    for place, name in JUDGED:
        having = [run for run in runs if number_of(runs, run, place) is not None]
        told = max(told, len(having))
        found, doubt = [*_by_place(runs, having, place, f"{name} response time")], _doubt(runs, having, place)
        winners = len(_winners(runs, having, place))
        if doubt:
            doubts.append(f"{name} is not ranked: {doubt}.")
            unsure = unsure or (found if doubt not in (TOO_FEW, DISAGREE) else [])
        elif winners < len(having):
            decided += found if winners == 1 or not decided else []
        else:
            tied = tied or found
        if decided and winners == 1 and not doubt:
            break
    if decided or tied:
        return list(dict.fromkeys([*decided, *tied, *doubts]))
    if unsure:
        return [*unsure, *(doubt for doubt in doubts if TOO_FEW in doubt or DISAGREE in doubt)]
    same = told == len(runs)
    return doubts or [
        f"The {runs.kind}s have the same response times." if same else f"There are no response times of all {runs.kind}s to compare."
    ]


def _by(runs: Runs, winners: Sequence[Run]) -> Iterator[str]:
    """What the best variants change against the first; nothing for schemes, whose names say it."""
    for run in winners[:MOST] if runs.variants else ():
        changed = runs.changes.get(run.label)
        if changed:
            yield f"{run.label} has {in_words(changed)}."


def remarks(runs: Runs) -> list[str]:
    """Remarks on uncertainty, on costs of a gain, and on the warm-up."""
    if len(runs) == 1:
        return list(_warm_up(runs))
    return [
        *_outcome(runs)[1:],
        *_why(runs),
        *(_sure(runs) if runs.one_load else ()),
        *(list(_costs(runs))[:MOST] if runs.one_load else ()),
        *_one_by_one(runs),
        *_warm_up(runs),
    ]


def _why(runs: Runs) -> Iterator[str]:
    """The parts that make up most of the largest difference of the mean from the first run, unless it is a tie, and what lies behind."""
    differences = [(run, change(runs, runs[0], run, MEAN)) for run in runs.runs[1:]]
    real = [(abs(found.relative), run) for run, found in differences if found and not found.tie and not found.disagree]
    if not real:
        return
    _, other = max(real, key=lambda pair: pair[0])
    found = list(causes(runs[0], other))
    if found:
        faster = "faster" if (other.at(MEAN) or 0) < (runs[0].at(MEAN) or 0) else "slower"
        yield f"Why {other.label} is {faster} than {runs[0].label} on average: {', '.join(found)}."


def _warm_up(runs: Runs) -> Iterator[str]:
    """A sentence on the warm-up. With several seeds, only its time or its requests are stated, whichever is the same for all."""
    left_out = runs[0].at("warm_up")
    if not left_out:
        return
    time, requests = shown(left_out["ns"], "ns"), f"{left_out['requests']:,} requests"
    asked = dict(pairwise(words_of(runs[0].data.get("command")))).get("--warm-up", "")
    several = requests if asked.isdecimal() else time
    yield f"Figures leave out the warm-up: the first {several if runs.seeds.get('seeds') else f'{time}, {requests}'}."


def _winners(runs: Runs, having: Sequence[Run], place: str) -> list[Run]:
    """The best runs, with those that are tied."""
    if not having:
        return []
    best = min(having, key=lambda run: number_of(runs, run, place))
    return [run for run in having if as_good(runs, best, run, place)]


def _by_place(runs: Runs, having: Sequence[Run], place: str, what: str) -> Iterator[str]:
    """Sentences on the runs with the shortest times, the headline first; none if all have the same."""
    winners = _winners(runs, having, place)
    if not winners or len(having) < 2:
        return
    if len(winners) == len(having):
        yield from _noise(runs, having, place, what) if len(having) == len(runs) else ()
        return
    doubt = bool(_doubt(runs, having, place))
    has = ("had" if doubt else "has") if len(winners) == 1 else "shared" if doubt else "share"
    yield f"{_listed(winners)} {has} the shortest {what}{' in this run' if doubt else ''}: {_told(runs, winners, place)}."
    if _noisy(runs, winners, place):
        yield f"{_listed(winners)} differ by less than the noise."
    yield from _by(runs, winners)


def _doubt(runs: Runs, having: Sequence[Run], place: str) -> str:
    """Why it is not known that the best is better by more than chance; empty if it is known."""
    if any(few(run, place) for run in having):
        return TOO_FEW
    if not having:
        return ""
    best = min(having, key=lambda run: number_of(runs, run, place))
    found = [apart(runs, best, run, place) for run in having if run is not best]
    if all(entry is None or entry.judged for entry in found):
        return ""
    if any(entry is not None and entry.disagree for entry in found):
        return DISAGREE
    enough = not runs.seeds and all(noise.scatter(runs[0], run) is not None for run in runs)
    return _too_few(having) if enough else "one run does not show how far repeats scatter"


def _too_few(having: Sequence[Run]) -> str:
    """How many independent requests a run has, how many are needed, and what to do, in words."""
    counts = [found for run in having if (found := noise.independent(run)) is not None]
    some, every = min(counts, key=lambda pair: pair[0] / pair[1], default=(NEEDED, NEEDED))
    trace = any(replays(run.data) for run in having)
    if some >= NEEDED:
        return f"too few independent samples; {'a longer trace has more' if trace else 'compare --seeds 5 judges it'}"
    wanted = float(f"{every * NEEDED / some:.1g}")
    advice = "a longer trace has more" if trace else f"about {wanted:,.0f} requests have them, or compare --seeds 5 judges it"
    return f"about {some:,.0f} independent samples, {NEEDED:,} needed; {advice}"


def _told(runs: Runs, winners: Sequence[Run], place: str) -> str:
    """The best value, and its difference from that of the first run, if the first is not among the best."""
    best = min(winners, key=lambda run: number_of(runs, run, place))
    found = None if runs[0] in winners else change(runs, runs[0], best, place)
    against = f", {percent(found.relative)} against {runs[0].label}" if found and not found.tie else ""
    return shown(number_of(runs, best, place), "ns") + against


def _noise(runs: Runs, having: Sequence[Run], place: str, what: str) -> Iterator[str]:
    """Sentences for runs that are all tied because of noise, but differ."""
    noisy = _noisy(runs, having, place)
    if noisy:
        far = max(noisy, key=lambda found: abs(found.relative))
        difference = "The difference" if len(having) == 2 else "The largest difference"
        yield f"The {runs.kind}s tie at the {what}."
        yield f"{difference}, {abs(far.relative) * 100:.1f} %, is within what repeats would scatter (± {(far.half or 0.0) * 100:.1f} %)."


def _noisy(runs: Runs, having: Sequence[Run], place: str) -> list[Change]:
    """The differences from the best run that are ties only because of noise."""
    best = min(having, key=lambda run: number_of(runs, run, place))
    found = [apart(runs, best, run, place) for run in having if run is not best]
    return [entry for entry in found if entry is not None and entry.noise]


def _sure(runs: Runs) -> Iterator[str]:
    """Sentences on how differences were judged."""
    seeds = runs.seeds.get("seeds")
    if seeds:
        yield f"Means over {len(seeds)} seeds; ± is the {runs.seeds.get('level', 0.95):.0%} interval of each.".replace("%", " %")
        yield from list(_disagreements(runs))[:MOST]
        yield f"Figures and workload are those of seed {runs[0].data['seed']}."
        return
    first = [(run, change(runs, runs[0], run, place)) for place, _ in JUDGED for run in runs.runs[1:]]
    judged = [found for _, found in first if found is not None and found.half is not None]
    if judged:
        yield f"± from the {noise.PARTS} parts of one run{_measured(runs)}."
    elif any(found is not None and not found.tie for _, found in first):
        yield f"Noise was not judged: one seed, and runs too short or without series{_measured(runs)}."


def _measured(runs: Runs) -> str:
    """How seeds measure the noise, as the end of a sentence; empty for traces, which have no seeds."""
    return "" if any(replays(run.data) for run in runs) else "; compare --seeds 5 measures it"


def _disagreements(runs: Runs) -> Iterator[str]:
    """The values under each seed, if their mean would mislead."""
    for place, name in JUDGED:
        for run in runs:
            found = spread(runs, run, place)
            if found is not None:
                values = ", ".join(shown(value, "ns") for value in found.values)
                yield f"Seeds disagree about the {name} of {run.label}, so its median stands for a mean: {values}."


def _costs(runs: Runs) -> Iterator[str]:
    """Gains in the mean at the cost of the tail, and gains of reads at the cost of writes or the reverse."""
    for run in runs.runs[1:]:
        mean = change(runs, runs[0], run, MEAN)
        for place, name in TAILS:
            tail = None if any(few(one, place) for one in (runs[0], run)) else change(runs, runs[0], run, place)
            if mean and tail and _is_better(mean) and _is_worse(tail):
                gained, paid = percent(mean.relative), percent(tail.relative)
                yield f"{run.label} has a better mean ({gained}) at the cost of a worse tail ({name} {paid}) than {runs[0].label}."
                break
        reads, writes = (change(runs, runs[0], run, f"latency_ns.{kind}.mean") for kind in KINDS)
        if reads and writes and any(_is_better(one) and _is_worse(other) for one, other in ((reads, writes), (writes, reads))):
            gained, paid = percent(reads.relative), percent(writes.relative)
            yield f"Under {run.label} the mean response time of reads changes by {gained}, that of writes by {paid}."


def _is_worse(found: Change) -> bool:
    return found.relative > (PLAIN if found.half is None else max(found.half, 0.0)) and not (found.tie or found.disagree)


def _is_better(found: Change) -> bool:
    return -found.relative > (PLAIN if found.half is None else max(found.half, 0.0)) and not (found.tie or found.disagree)


def _one_by_one(runs: Runs) -> Iterator[str]:
    """The comparison of the same requests one by one, for the variant with most faster requests."""
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
    *others, last = [run.label for run in runs]
    return f"{', '.join(others)} and {last}" if others else last
