"""`result.plot` and `comparison.plot`: the figures of the report, individually."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ssdlab.analysis.measures import measures_of
from ssdlab.checks import nearest, truth
from ssdlab.errors import UsageError
from ssdlab.pages.report.compared import of_number
from ssdlab.pages.report.figures import FIGURES
from ssdlab.pages.report.leader import SHORT
from ssdlab.pages.report.look import Kind, Length, Look, in_shares, panels_of, reduced
from ssdlab.pages.report.runs import Runs, undamaged

if TYPE_CHECKING:
    from typing import TypedDict, Unpack

    from matplotlib.axes import Axes

    from ssdlab.pages.report.drawing import Figure
    from ssdlab.pages.report.paper import Picture

    class Options(TypedDict, total=False):
        """Options of every figure; see `Plots`."""

        width: Length | None
        height: Length | None
        font: float | None
        title: bool | None
        schemes: Sequence[str] | None
        labels: Mapping[str, str]
        kind: Kind | None
        panels: Sequence[int] | None
        shares: bool
        ax: Axes | None


__all__ = ["ABOUT", "WORDS", "Plots"]

EXAMPLE = "latency_ns.read.p99_9"
OVER_TIME = ("timeline", "gc", "write_amplification", "free_blocks", "queues", "utilisation", "slc", "streams", "cache")
"""Figures that need series. Distributions need them too."""
OTHERWISE = {
    **dict.fromkeys(("latency_cdf", "latency_tail", "timeline"), "no requests were completed"),
    **dict.fromkeys(("free_blocks", "queues", "utilisation"), "no time passed"),
    "gc": "garbage collection did not run",
    "write_amplification": "the host wrote nothing",
    "wear": "no block was erased",
    "energy": "no key of energy is set",
    "retries": "no read was repeated",
    "slc": "the drive has no blocks in SLC mode",
    "streams": "the drive places data in no streams, or nothing was written into them",
    "cache": "the drive has no cache",
    "slack": "no request had more than one page that ended at different times",
    "breakdown": "no requests were completed",
}
"""Reasons why a figure has no data other than missing series, by figure."""


class Plots:
    """The figures of a result or comparison. Each has `save("x.pdf")` (or `.png`, `.svg`); notebooks show it.

    Figures over time and distributions need runs that recorded series: with `series=True` or `out=...`. A figure without data raises
    `UsageError`. All figures take these options:

    - `width`, `height`: inches, or a text such as `"3.4in"`, `"86mm"`, `"8.6cm"`, `"245pt"`;
    - `font`: font size in points, 8 by default;
    - `title`: `True` writes the figure's heading above it, `False` also omits the heading of a single part;
    - `schemes`: schemes of a comparison to draw, in this order; colours and line styles do not change;
    - `labels`: other names for schemes or variants, such as `{"fpgc": "preemptive"}`;
    - `kind`: `"read"` or `"write"`, for parts about these requests only;
    - `panels`: numbers of parts to draw, from 1, as `panels(...)` lists them;
    - `shares`: `True` draws each bar of a figure with parts (`breakdown`) to 100 %;
    - `ax`: matplotlib axes of one's own to draw a single part on, in place of a new figure; `sheet` is then their figure.
    """

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def __call__(self, name: str, **options: Unpack[Options]) -> Picture:
        """A number of the result as bars, such as `comparison.plot("latency_ns.read.p99_9")`, or a figure by its name; see `picture`."""
        return self.picture(name, **options)

    def latency_cdf(self, **options: Unpack[Options]) -> Picture:
        """Cumulative distribution of response times, for reads and for writes."""
        return self.picture("latency_cdf", **options)

    def latency_tail(self, **options: Unpack[Options]) -> Picture:
        """Share of requests that took longer than a time, up to the slowest."""
        return self.picture("latency_tail", **options)

    def timeline(self, **options: Unpack[Options]) -> Picture:
        """Mean and longest response times over time, and the share of chips in GC."""
        return self.picture("timeline", **options)

    def breakdown(self, **options: Unpack[Options]) -> Picture:
        """Parts of the mean response times."""
        return self.picture("breakdown", **options)

    def gc(self, **options: Unpack[Options]) -> Picture:
        """GC on each chip over time, and the pages that it moved."""
        return self.picture("gc", **options)

    def write_amplification(self, **options: Unpack[Options]) -> Picture:
        """Bytes programmed in flash for each byte of the host, over time."""
        return self.picture("write_amplification", **options)

    def free_blocks(self, **options: Unpack[Options]) -> Picture:
        """Free blocks against T_soft and T_hard, and the states of the pools."""
        return self.picture("free_blocks", **options)

    def queues(self, **options: Unpack[Options]) -> Picture:
        """Outstanding requests, and requests completed per second."""
        return self.picture("queues", **options)

    def utilisation(self, **options: Unpack[Options]) -> Picture:
        """Busy share of dies and channels over time."""
        return self.picture("utilisation", **options)

    def wear(self, **options: Unpack[Options]) -> Picture:
        """Erase counts of blocks: mean, deviation and maximum, and the number of blocks by erases."""
        return self.picture("wear", **options)

    def energy(self, **options: Unpack[Options]) -> Picture:
        """Energy of the drives by part, and their power over time."""
        return self.picture("energy", **options)

    def retries(self, **options: Unpack[Options]) -> Picture:
        """Flash reads by the number of their retries."""
        return self.picture("retries", **options)

    def slc(self, **options: Unpack[Options]) -> Picture:
        """Rates at which data go to the cache of blocks in SLC mode, past it and out of it; rate of writes over data written."""
        return self.picture("slc", **options)

    def streams(self, **options: Unpack[Options]) -> Picture:
        """What the host writes into each stream of data placement, and how valid its blocks are when they are collected."""
        return self.picture("streams", **options)

    def cache(self, **options: Unpack[Options]) -> Picture:
        """Cache hits and dirty pages over time."""
        return self.picture("cache", **options)

    def slack(self, **options: Unpack[Options]) -> Picture:
        """Slack of pages: the time by which a page ended before its request."""
        return self.picture("slack", **options)

    def __repr__(self) -> str:
        return f"<figures: {', '.join(FIGURES)}>"

    def available(self) -> list[str]:
        """Names of the figures with data."""
        return [name for name in FIGURES if self._figure(self._runs, name) is not None]

    def panels(self, name: str) -> list[str]:
        """Descriptions of a figure's parts; the first is number 1."""
        return panels_of(self._there(self._runs, name))

    def picture(
        self,
        name: str,
        *,
        width: Length | None = None,
        height: Length | None = None,
        font: float | None = None,
        title: bool | None = None,
        schemes: Sequence[str] | None = None,
        labels: Mapping[str, str] = MappingProxyType({}),
        kind: Kind | None = None,
        panels: Sequence[int] | None = None,
        shares: bool = False,
        ax: Axes | None = None,
    ) -> Picture:
        """A figure by its name or a word of it such as `tail`, or of a number of the result as bars; the options are those of every figure.

        A number has a path such as `latency_ns.read.p99_9`, or a short name: `mean`, `p99`, `p99.9`, `max`, `write-amplification`, `iops`.

        Raises:
            UsageError: the figure, a scheme or a part does not exist or has no data, a size is invalid, or `ax` is asked to hold several
                parts.
        """
        # Matplotlib takes longer to import than many runs take
        from ssdlab.pages.report.paper import Picture  # noqa: PLC0415

        look = Look.of(width, height, font, title)
        runs = self._runs if schemes is None else self._runs.only(schemes)
        runs = runs.renamed(labels) if labels else runs
        figure = reduced(self._there(runs, name), kind=kind, panels=panels)
        figure = in_shares(figure) if truth("shares", shares) else figure
        return Picture(figure, {run.index: run.label for run in runs}, look, ax)

    def _there(self, runs: Runs, name: str) -> Figure:
        """A figure with data; an error if it has none."""
        if name not in FIGURES and name not in WORDS:
            with undamaged(runs.source):
                bars = of_number(runs, name)
            if bars is None:
                raise UsageError(self._unknown(name))
            return bars
        name = WORDS.get(name, name)
        figure = self._figure(runs, name)
        if figure is None:
            recorded = any(run.series is not None for run in runs)
            needed = name in OVER_TIME or name.startswith("latency")
            reason = "it needs runs with series=True, or saved ones (--out, out=)" if needed and not recorded else OTHERWISE[name]
            raise UsageError(f"plot.{name}: nothing to draw: {reason}")
        return replace(figure, note=_of_seed(runs))

    def _unknown(self, name: str) -> str:
        """The message for a name that is neither a figure nor a number of the runs."""
        numbers = {place for run in self._runs for place in measures_of(run.data)}
        near = nearest(name, (*FIGURES, *WORDS, *SHORT, *sorted(numbers)))
        return f'no figure "{name}"{near}: there are {", ".join(self.available())}, and numbers such as p99 or {EXAMPLE}'

    @staticmethod
    def _figure(runs: Runs, name: str) -> Figure | None:
        with undamaged(runs.source):
            return FIGURES[name](runs)

    def __getattr__(self, name: str) -> Callable[..., Picture]:
        """A figure by a word of its name, such as `tail`."""
        if name in WORDS:
            figure: Callable[..., Picture] = getattr(self, WORDS[name])
            return figure
        raise AttributeError(f"no figure {name!r}{nearest(name, (*FIGURES, *WORDS))}")


def _of_seed(runs: Runs) -> str:
    """A sentence on the seed that is drawn, if there are several; tables and verdicts cover all seeds."""
    seeds = runs.seeds.get("seeds")
    return f"Figures are those of seed {runs[0].data['seed']}, of {len(seeds)} seeds." if seeds else ""


_SPLIT = [(word, name) for name in FIGURES if "_" in name for word in name.split("_")]
WORDS = {word: name for word, name in _SPLIT if [other for other, _ in _SPLIT].count(word) == 1}
"""Figure names by a word that only they contain: `tail`."""


def _about(name: str) -> str:
    function: Any = getattr(Plots, name)
    return str(function.__doc__)


ABOUT = {name: _about(name) for name in FIGURES}
"""Description of each figure."""
