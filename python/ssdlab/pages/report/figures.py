"""The figures of a report, from results. A figure without data is `None`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from ssdlab.pages.report.drawing import (
    OTHER_PART,
    PART_COLOURS,
    STATE_COLOURS,
    Axis,
    Bar,
    Bars,
    Curve,
    Figure,
    Heat,
    Panel,
    Plot,
    Rule,
    Stack,
    Steps,
)
from ssdlab.pages.report.energy import energy
from ssdlab.pages.report.over_time import TIME, figure_of, of_what_was, per_second, steps
from ssdlab.pages.report.runs import KINDS, Run, Runs
from ssdlab.pages.report.slc import slc
from ssdlab.pages.report.streams import streams
from ssdlab.pages.report.written import retries, wear, write_amplification

__all__ = ["FIGURES", "GLANCE", "PARTS", "nice"]

PARTS = {
    "host_queue": "host queue",
    "die_queue": "die busy with host work",
    "gc": "garbage collection",
    "bus_queue": "bus busy",
    "transfer": "transfer",
    "array": "flash array",
    "suspended": "suspended",
    "dram": "DRAM",
    "controller": "controller",
    "link": "link to the host",
    "mapping": "mapping table",
    "pace": "paced",
    "power": "waiting for power",
    "heat": "too warm",
    "power_state": "leaving a power state",
    "retry": "failed steps of reads",
    "decode": "decoding",
}
STATES = {
    "s1": "S1 (collection, host goes on)",
    "s2": "S2 (below T_hard, writes wait)",
    "s3": "S3 (collection runs to its end)",
}
SHARED_BY = {"all": "Reads and writes", **KINDS}
NEAR = 0.8
"""Ratio of the fewest to the most free blocks above which the axis does not start at 0."""
NEAREST = 1.004
"""Ratio of response times up to which they are drawn as one step: less than a pixel at any useful zoom."""
LATENCY = Axis("response time", "ns", log=True)


def latency_cdf(runs: Runs) -> Figure | None:
    """The cumulative distribution of response times."""
    plots = [
        _distribution(runs, kind, "Share of requests that took at most as long", Axis("requests", "share", low=0.0, high=1.0), _at_most)
        for kind in KINDS
    ]
    text = "How many requests took at most as long as the axis below says. Further left is faster."
    return figure_of("latency_cdf", "Response times: distribution", text + _at_zero(plots), plots)


def latency_tail(runs: Runs) -> Figure | None:
    """The share of requests that took longer than a time, including the slowest."""
    axis = Axis("requests", "share", log=True, low=0.1, high=1.0)
    plots = [_distribution(runs, kind, "Share of requests that took longer", axis, _longer) for kind in KINDS]
    text = "The slow end of the same: how many requests took longer than the axis below says. Each line ends at the slowest request."
    return figure_of("latency_tail", "Response times: tail", text + _at_zero(plots), plots)


def timeline(runs: Runs) -> Figure | None:
    """Response times over time, with GC below them."""
    text = (
        "Response times of the requests completed in each interval, mean and longest, and below them how many chips were collecting "
        "garbage: where lines rise together, collection is what requests waited for."
    )
    if any(_has_bins_of_zero(run, kind) for run in runs.recorded for kind in KINDS):
        text += " Intervals in which all requests took no time at all are gaps."
    return figure_of("timeline", "Response times over time", text, [_timeline(runs, kind) for kind in KINDS])


def breakdown(runs: Runs) -> Figure | None:
    """The parts of mean response times."""
    groups = {kind: [run for run in runs if run.at(f"breakdown_ns.{kind}")] for kind in SHARED_BY}
    found = [run.at(f"breakdown_ns.{kind}") for kind, having in groups.items() for run in having]
    parts = [part for part in PARTS if any(times.get(part) for times in found)]
    parts += sorted({part for times in found for part in times if part not in PARTS and times[part]})
    if not parts:
        return None
    names = [(part, PARTS.get(part, part.replace("_", " "))) for part in parts]
    bars = [
        (
            SHARED_BY[kind],
            [Bar(run.label, run.index, [run.at(f"breakdown_ns.{kind}").get(part, 0.0) for part in parts]) for run in having],
        )
        for kind, having in groups.items()
        if having and (kind != "all" or all(groups[other] for other in KINDS))
    ]
    text = "What the mean response time is made of. Waiting comes first, work on the request last; the parts add up to the mean."
    legend = [(name, PART_COLOURS.get(part, OTHER_PART)) for part, name in names]
    return Figure(
        "breakdown", "Where the time goes", text, [Bars("Mean response time", Axis("response time", "ns", low=0.0), names, bars)], legend
    )


def gc(runs: Runs) -> Figure | None:
    """GC on each chip over time, and the number of pages moved."""
    having = [run for run in runs.recorded if any(map(any, _chips(run)))]
    if not having:
        return None
    most = nice(max(max(map(max, _chips(run))) for run in having))
    moved = Axis("pages/s", "per_s", low=0.0, same="moved")
    plots = [
        Plot(
            run.label,
            TIME,
            [
                Panel("Time collecting, by chip", Axis("chip", "count"), [_heat(run, most)], 1.4),
                Panel("Pages moved in a second", moved, [steps(run, per_second(run, run.at("series.gc.pages_moved")))], 0.6),
            ],
        )
        for run in having
    ]
    text = "A row for each chip; the stronger the colour, the longer it was collecting in that interval."
    return figure_of("gc", "Garbage collection by chip", text, plots)


def free_blocks(runs: Runs) -> Figure | None:
    """Free blocks against the thresholds, and the states of the pools."""
    having = runs.recorded
    if not having:
        return None
    fewest = [steps(run, run.at("series.free_blocks.min"), "min") for run in having]
    mean = [steps(run, run.at("series.free_blocks.mean")) for run in having]
    axis, rules, beyond = _where_it_happens(fewest, _rules(having))
    plots = [
        Plot(
            "Free blocks of a pool",
            TIME,
            [
                # thresholds are drawn above: free blocks lie at T_soft for most of many runs
                Panel("Fewest of all pools", axis, [*rules, *fewest]),
                Panel("Mean of all pools", axis, [*rules, *mean]),
            ],
        )
    ]
    states = [run for run in having if any(any(run.at(f"series.states.{state}")) for state in STATES)]
    panels = [Panel(run.label, Axis("pools", "share", low=0.0, same="states"), [_state_stack(run)], 0.75) for run in states]
    if panels:
        plots.append(Plot("Share of pools in S1, S2 and S3", TIME, panels))
    text = (
        "Collection is wanted when a pool has fewer free blocks than T_soft; with fewer than T_hard writes wait. "
        "Blocks being filled do not count as free. Pools that are in none of the states S1 to S3 are in S0."
    )
    if not panels:
        text = text.partition(" Pools that")[0]
        text += " All pools were in S0 throughout: no collection was wanted."
    seen = [state for state in STATES if any(any(run.at(f"series.states.{state}")) for run in states)]
    legend = [(STATES[state], STATE_COLOURS[state]) for state in seen]
    return figure_of("free_blocks", "Free blocks and states", text + beyond, plots, legend)


def _where_it_happens(fewest: Sequence[Steps], rules: list[Rule]) -> tuple[Axis, list[Rule], str]:
    """The axis of free blocks, the thresholds on it, and a note about the thresholds outside.

    An axis from 0 would hide that a large pool goes a few blocks below T_soft.
    """
    values = [value for steps in fewest for value in steps.values if value is not None]
    far = [rule for rule in rules if rule.value < min(values) * NEAR]
    near = [rule for rule in rules if rule not in far]
    if min(values) < NEAR * max(*values, *(rule.value for rule in rules), 1):
        return Axis("free blocks", "count", low=0.0), rules, ""
    told = sorted({(rule.name, rule.value) for rule in far})
    return Axis("free blocks", "count"), near, "".join(f" {name} is far below what is shown, at {value:,.0f}." for name, value in told)


def queues(runs: Runs) -> Figure | None:
    """Numbers of outstanding requests and of completed ones, over time."""
    having = runs.recorded
    if not having:
        return None
    axis = Axis("requests", "count", low=0.0)
    waiting = [
        Panel("Mean", axis, [steps(run, of_what_was(run, run.at("series.outstanding.mean"))) for run in having]),
        Panel("Most at once", axis, [steps(run, run.at("series.outstanding.max"), "max") for run in having]),
    ]
    rate = Axis("requests/s", "per_s", low=0.0)
    done = [
        Panel(name, rate, [steps(run, per_second(run, run.at(f"series.latency_ns.{kind}.count"))) for run in having])
        for kind, name in KINDS.items()
        if any(any(run.at(f"series.latency_ns.{kind}.count") or ()) for run in having)
    ]
    text = "How many requests had arrived and were not completed yet, and how many were completed in a second."
    plots = [Plot("Requests under way", TIME, waiting), Plot("Requests completed in a second", TIME, done) if done else None]
    return figure_of("queues", "Queues and load", text, plots)


def utilisation(runs: Runs) -> Figure | None:
    """The busy share of dies and buses."""
    having = runs.recorded
    if not having:
        return None
    plots = []
    for title, name in (("Dies", "dies"), ("Channels", "bus")):
        axis = Axis("busy", "share", low=0.0)
        plots.append(Plot(title, TIME, [Panel("", axis, [steps(run, of_what_was(run, run.at(f"series.{name}"))) for run in having])]))
    return figure_of(
        "utilisation", "How busy the drive was", "Share of the time in which dies and channel buses worked, on average.", plots
    )


def cache(runs: Runs) -> Figure | None:
    """Hits and dirty pages of the cache, over time."""
    having = [run for run in runs.recorded if run.at("series.cache")]
    if not having:
        return None
    ratios = [
        steps(run, [hits / lookups if lookups else None for hits, lookups in _hits(run)], weights=run.at("series.cache.lookups"))
        for run in having
    ]
    dirty = [steps(run, run.at("series.cache.dirty")) for run in having]
    plots = [
        Plot("Hits", TIME, [Panel("", Axis("of pages looked up", "share", low=0.0), ratios)]),
        Plot("Dirty pages at the end of each interval", TIME, [Panel("", Axis("pages", "count", low=0.0), dirty)]),
    ]
    text = "Hits as a share of the pages looked up, and the pages in the cache that had still to be written to flash."
    return figure_of("cache", "Cache", text, plots)


def slack(runs: Runs) -> Figure | None:
    """The slack of pages: the time by which a page ended before its request."""
    groups = [
        (name, [Bar(run.label, run.index, [run.at(f"slack.{kind}.mean_ns")]) for run in runs if run.at(f"slack.{kind}")])
        for kind, name in KINDS.items()
    ]
    if not any(bar.values[0] for _, bars in groups for bar in bars):
        return None
    text = "By how much the pages of a request ended before its last one, on average: time for which others can go first at no cost."
    axis = Axis("slack", "ns", low=0.0)
    return Figure("slack", "Slack", text, [Bars("Mean slack of a page", axis, [("run", "slack")], [group for group in groups if group[1]])])


FIGURES: Mapping[str, Callable[[Runs], Figure | None]] = {
    function.__name__: function
    for function in (
        latency_cdf,
        latency_tail,
        timeline,
        breakdown,
        gc,
        write_amplification,
        free_blocks,
        queues,
        utilisation,
        wear,
        energy,
        retries,
        slc,
        streams,
        cache,
        slack,
    )
}
"""All figures by key, in the order of the page."""


def glance_tail(runs: Runs) -> Figure | None:
    """The tail of all requests, for the overview."""
    axis = Axis("requests", "share", log=True, low=0.1, high=1.0)
    kinds = [kind for kind in KINDS if any(run.at(f"histograms.{kind}.upper_ns") for run in runs)]
    if not kinds:
        return None
    if len(kinds) == 1:
        plot = _distribution(runs, kinds[0], "Share that took longer", axis, _longer)
    else:
        curves = [_longer(run, "all", *_coarser(*run.histogram, run.at("latency_ns.all.max"))) for run in runs if any(run.histogram[0])]
        plot = Plot(SHARED_BY["all"], LATENCY, [Panel("Share that took longer", axis, curves, 1.6)], "latency")
    return figure_of("glance_tail", "Tail", "", [plot])


def glance_breakdown(runs: Runs) -> Figure | None:
    """The parts of the mean response time of all requests, for the overview."""
    whole = breakdown(runs)
    if whole is None:
        return None
    bars = whole.plots[0]
    assert isinstance(bars, Bars)
    return replace(whole, key="glance_breakdown", text="", plots=[replace(bars, groups=bars.groups[:1])])


GLANCE: Sequence[Callable[[Runs], Figure | None]] = (glance_tail, glance_breakdown)
"""Figures in the overview, beside its table."""


def _distribution(
    runs: Runs, kind: str, title: str, axis: Axis, shape: Callable[[Run, str, Sequence[float], Sequence[int]], Curve]
) -> Plot | None:
    curves, zeros = [], []
    for run in runs:
        upper, counts = run.at(f"histograms.{kind}.upper_ns"), run.at(f"histograms.{kind}.count")
        if upper and upper[-1]:
            curves.append(shape(run, kind, *_coarser(upper, counts, run.at(f"latency_ns.{kind}.max"))))
        share = _zero_share(run, kind)
        if share:
            zeros.append(f"{run.label} {share * 100:.3g} %" if len(runs) > 1 else f"{share * 100:.3g} %")
    note = f"took no time: {', '.join(zeros)}" if zeros else ""
    panels = [Panel(title, axis, curves, 1.6)]
    return Plot(KINDS[kind], LATENCY, panels, "latency", note) if curves else None


def _zero_share(run: Run, kind: str) -> float:
    """Share of requests that took no time, such as hits of a cache without access time or reads of pages without data."""
    upper, counts = run.at(f"histograms.{kind}.upper_ns"), run.at(f"histograms.{kind}.count")
    return counts[0] / sum(counts) if upper and not upper[0] else 0.0


def _at_zero(plots: Iterable[Plot | None]) -> str:
    """A note about requests that took no time, which logarithmic axes, and those from 1 ns, cannot show."""
    told = [f"{plot.title.lower()} ({plot.note.partition(': ')[2]})" for plot in plots if plot is not None and plot.note]
    return f" Some requests took no time at all and lie left of the axis: of {', of '.join(told)}." if told else ""


def _coarser(upper: Sequence[int], counts: Sequence[int], longest: int) -> tuple[list[float], list[int]]:
    """Joins neighbouring buckets, with the upper bound of the last one: counts up to an upper bound stay exact.

    The bucket of requests that took no time is kept.
    """
    bounds: list[float] = []
    sums: list[int] = []
    first = 0.0
    for bound, count in zip(upper, counts, strict=True):
        end = float(min(bound, longest))
        if bounds and end <= first * NEAREST:
            bounds[-1] = end
            sums[-1] += count
        else:
            first = end
            bounds.append(end)
            sums.append(count)
    return bounds, sums


def _at_most(run: Run, kind: str, upper: Sequence[float], counts: Sequence[int]) -> Curve:
    total = sum(counts)
    shares = [reached / total for reached in _sums(counts)]
    return _begun(run, kind, upper, shares, 0.0)


def _longer(run: Run, kind: str, upper: Sequence[float], counts: Sequence[int]) -> Curve:
    """The share of requests above each time, up to the slowest; a share of 0 cannot be drawn on a logarithmic axis."""
    total = sum(counts)
    shares = [(total - reached) / total for reached in _sums(counts)][:-1]
    return _begun(run, kind, upper, [*shares, shares[-1] if shares else 1.0], 1.0, end=0.0)


def _begun(run: Run, kind: str, upper: Sequence[float], shares: Sequence[float], before: float, end: float | None = None) -> Curve:
    """A curve from the shortest response time above 0 on."""
    if not upper[0]:
        return Curve(run.label, run.index, [upper[1], *upper[1:]], shares, end=end)
    return Curve(run.label, run.index, [float(run.at(f"latency_ns.{kind}.min")), *upper], [before, *shares], end=end)


def _sums(counts: Sequence[int]) -> list[int]:
    reached, sums = 0, []
    for count in counts:
        reached += count
        sums.append(reached)
    return sums


def _timeline(runs: Runs, kind: str) -> Plot | None:
    having = [run for run in runs.recorded if any(run.at(f"series.latency_ns.{kind}.count") or ())]
    if not having:
        return None
    mean, longest = (Axis("response time", "ns", log=True, same=what) for what in ("mean response time", "longest response time"))
    panels = [
        Panel("Mean response time", mean, [steps(run, _where_any(run, kind, "mean"), weights=_counts(run, kind)) for run in having]),
        Panel("Longest response time", longest, [steps(run, _where_any(run, kind, "max"), "max") for run in having]),
    ]
    collecting = {run.index: _collecting(run) for run in having}
    if any(map(any, collecting.values())):
        share = Axis("chips", "share", low=0.0)
        panels.append(Panel("Chips collecting garbage", share, [steps(run, collecting[run.index]) for run in having], 0.7))
    return Plot(KINDS[kind], TIME, panels)


def _counts(run: Run, kind: str) -> Sequence[int]:
    counts: Sequence[int] = run.at(f"series.latency_ns.{kind}.count")
    return counts


def _where_any(run: Run, kind: str, what: str) -> list[float | None]:
    """Response times of the bins in which requests that took time were completed."""
    times = run.at(f"series.latency_ns.{kind}")
    return [value or None if count else None for value, count in zip(times[what], times["count"], strict=True)]


def _has_bins_of_zero(run: Run, kind: str) -> bool:
    times = run.at(f"series.latency_ns.{kind}")
    return any(count and not longest for count, longest in zip(times["count"], times["max"], strict=True))


def _chips(run: Run) -> Sequence[Sequence[float]]:
    chips: Sequence[Sequence[float]] = run.at("series.gc.chips")
    return chips


def _collecting(run: Run) -> list[float | None]:
    """The share of chips in GC, by bin; the last row may stand for fewer chips than the others."""
    rows, each = _chips(run), run.at("series.gc.chips_per_row")
    chips = _chip_count(run)
    weights = [each] * (len(rows) - 1) + [chips - each * (len(rows) - 1)]
    means = [sum(weight * share for weight, share in zip(weights, shares, strict=True)) / chips for shares in zip(*rows, strict=True)]
    return of_what_was(run, means)


def _chip_count(run: Run) -> int:
    return len(run.at("utilisation.chips") or ()) or len(_chips(run)) * int(run.at("series.gc.chips_per_row"))


def _heat(run: Run, most: float) -> Heat:
    each = run.at("series.gc.chips_per_row")
    return Heat(run.index, run.at("series.bin_ns"), _chips(run), "chip", each, _chip_count(run), most, run.drives)


def _hits(run: Run) -> Iterable[tuple[int, int]]:
    return zip(run.at("series.cache.hits"), run.at("series.cache.lookups"), strict=True)


def _state_stack(run: Run) -> Stack:
    return Stack(run.index, run.at("series.bin_ns"), [(state, STATES[state], run.at(f"series.states.{state}")) for state in STATES])


def _rules(runs: Sequence[Run]) -> list[Rule]:
    """The thresholds, merged to one line if all runs have the same."""
    rules = []
    for key, name in (("soft", "T_soft"), ("hard", "T_hard")):
        levels: dict[float, int] = {}
        for run in runs:
            level = run.at(f"series.free_blocks.{key}")
            if level:
                levels[level] = -1 if level in levels else run.index
        alone = len(levels) == 1
        rules += [Rule(name, -1 if alone else index, level) for level, index in levels.items()]
    return rules


def nice(value: float) -> float:
    """The next larger round share, up to 1."""
    if value <= 0:
        return 0.0
    step = 10.0 ** math.floor(math.log10(value))
    rounded = next(factor * step for factor in (1, 2, 3, 4, 5, 6, 8, 10) if value <= factor * step * (1 + 1e-9))
    return min(rounded, 1.0)
