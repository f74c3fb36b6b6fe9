"""`result.plot` and `comparison.plot`: the figures of the report, one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.errors import UsageError
from ssdlab.report.figures import FIGURES
from ssdlab.report.runs import Runs

if TYPE_CHECKING:
    from ssdlab.report.paper import Picture

__all__ = ["Plots"]

OVER_TIME = ("timeline", "gc", "free_blocks", "queues", "utilisation", "cache")
"""Figures that are drawn from what a run records only when asked to; so are distributions."""


class Plots:
    """The figures of a result or comparison. Each has `save("x.pdf")` (or `.png`, `.svg`) and is shown by notebooks.

    Those over time and the distributions need runs with `series=True`. A figure that there is nothing to draw for raises `UsageError`.
    """

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def latency_cdf(self) -> Picture:
        """Which share of requests took at most how long, reads and writes."""
        return self._picture("latency_cdf", "no requests were completed")

    def latency_tail(self) -> Picture:
        """Which share of requests took longer than how long, down to the slowest."""
        return self._picture("latency_tail", "no requests were completed")

    def timeline(self) -> Picture:
        """Mean and longest response times over time, and below them how many chips were collecting garbage."""
        return self._picture("timeline", "no requests were completed")

    def breakdown(self) -> Picture:
        """What mean response times are made of."""
        return self._picture("breakdown", "no requests were completed")

    def gc(self) -> Picture:
        """When each chip was collecting garbage, and how many pages that moved."""
        return self._picture("gc", "garbage collection did not run")

    def free_blocks(self) -> Picture:
        """Free blocks against T_soft and T_hard, and the states of the pools."""
        return self._picture("free_blocks", "no time passed")

    def queues(self) -> Picture:
        """Requests under way, and requests completed in a second."""
        return self._picture("queues", "no time passed")

    def utilisation(self) -> Picture:
        """How busy dies and channels were."""
        return self._picture("utilisation", "no time passed")

    def wear(self) -> Picture:
        """How often blocks were erased."""
        return self._picture("wear", "no block was erased")

    def cache(self) -> Picture:
        """Hits of the cache and its dirty pages."""
        return self._picture("cache", "the drive has no cache")

    def slack(self) -> Picture:
        """How much earlier than their requests pages ended."""
        return self._picture("slack", "no request had more than one page that ended at different times")

    def __repr__(self) -> str:
        return f"<figures: {', '.join(FIGURES)}>"

    def _picture(self, key: str, otherwise: str) -> Picture:
        # Matplotlib takes longer to import than many a run takes.
        from ssdlab.report.paper import Picture  # noqa: PLC0415

        figure = FIGURES[key](self._runs)
        if figure is None:
            recorded = any(run.series is not None for run in self._runs)
            needed = key in OVER_TIME or key.startswith("latency")
            reason = "it needs runs with series=True" if needed and not recorded else otherwise
            raise UsageError(f"plot.{key}: nothing to draw: {reason}")
        return Picture(figure, [run.label for run in self._runs])
