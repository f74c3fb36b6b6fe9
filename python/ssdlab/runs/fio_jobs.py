"""Remarks on a result of jobs of fio."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab.analysis.remarks import WARNING, Remark
from ssdlab.asking.fio import Flows
from ssdlab.runs import scaled

__all__ = ["remarks_of"]

STARVED_SHARE = 0.1
"""Share of the measured time from which on a mean response time of writes is that of starved writes."""
STARVED_RATIO = 100
"""Least mean response time of starved writes, in mean response times of reads."""


def remarks_of(jobs: Flows, device: str | None, result: Mapping[str, Any]) -> Iterator[Remark]:
    """The remarks on the load of jobs: queue depths of a whole drive on a scaled one, and writes that starve beside reads."""
    simulated = result.get("config", {}).get("device", {})
    if simulated:
        yield from _depth(jobs, scaled.scale(device, simulated), scaled.dies(simulated))
    yield from _starved(result)


def _depth(jobs: Flows, scale: int, dies: int) -> Iterator[Remark]:
    stages: dict[int, int] = {}
    for flow in jobs.flows:
        stage = flow.keys.get("stage", 0)
        stages[stage] = stages.get(stage, 0) + flow.keys["queue_depth"]
    deepest = max(stages.values())
    # A depth that was divided by `scale` is seldom more than a request for each die.
    if scale > 1 and deepest > dies:
        sentence = f"{deepest} requests for {dies} dies are as {deepest * scale} for the {dies * scale} dies of the whole drive."
        remedy = f"If the jobs are meant for that, divide iodepth or numjobs, and rates, by {scale}, or simulate the whole drive."
        yield Remark("fio-depth", WARNING, "latency_ns", sentence, remedy)


def _starved(result: Mapping[str, Any]) -> Iterator[Remark]:
    reads, writes = (result.get("latency_ns", {}).get(kind) for kind in ("read", "write"))
    measured_ns = result.get("simulated_ns", 0) - result.get("warm_up", {}).get("ns", 0)
    if not reads or not writes or writes["mean"] < max(STARVED_SHARE * measured_ns, STARVED_RATIO * reads["mean"]):
        return
    sentence = f"Writes starve beside reads: {writes['count']:,} writes took {writes['mean'] / 1e6:,.0f} ms on average, "
    sentence += f"while {reads['count']:,} reads completed."
    remedy = "Lower the depth of the reads, or bound how many writes may wait (scheduler.write_queue)."
    yield Remark("starved", WARNING, "latency_ns.write", sentence, remedy)
