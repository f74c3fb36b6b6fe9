"""What a result says of jobs of fio: rates over the time of each, and remarks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab.analysis.remarks import WARNING, Remark
from ssdlab.asking.fio import Flows

__all__ = ["flows_in_own_time", "remarks_of"]

SCALED = {"nvme-tlc-scaled-5g": 8, "consumer-tlc-scaled-4g": 4, "consumer-qlc-scaled-4g": 4}
"""Dies of the whole drive for each die of a scaled one, by preset."""
STARVED_SHARE = 0.1
"""Share of the measured time from which on a mean response time of writes is that of starved writes."""
STARVED_RATIO = 100
"""Least mean response time of starved writes, in mean response times of reads."""


def flows_in_own_time(flows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The flows of a result with rates over the time from the first request of each to the end of its last."""
    return [_in_own_time(flow) for flow in flows]


def _in_own_time(flow: dict[str, Any]) -> dict[str, Any]:
    span_s = (flow.get("ended_ns", 0) - flow.get("began_ns", 0)) / 1e9
    if not flow.get("iops") or span_s <= 0:
        return flow
    iops = (flow["requests"]["read"] + flow["requests"]["write"]) / span_s
    bandwidth = {kind: rate * iops / flow["iops"] for kind, rate in flow["bandwidth_mb_s"].items()}
    return {**flow, "iops": iops, "bandwidth_mb_s": bandwidth}


def remarks_of(jobs: Flows, device: str | None, result: Mapping[str, Any]) -> Iterator[Remark]:
    """The remarks on the load of jobs: queue depths of a whole drive on a scaled one, and writes that starve beside reads."""
    yield from _depth(jobs, SCALED.get(device or "", 1))
    yield from _starved(result)


def _depth(jobs: Flows, scale: int) -> Iterator[Remark]:
    stages: dict[int, int] = {}
    for flow in jobs.flows:
        stage = flow.keys.get("stage", 0)
        stages[stage] = stages.get(stage, 0) + flow.keys["queue_depth"]
    deepest = max(stages.values())
    if deepest >= scale > 1:
        sentence = f"The drive has 1/{scale} of the dies of a whole one, and the jobs keep up to {deepest} requests outstanding: "
        sentence += f"the load of each die is {scale} times as deep."
        remedy = f"Divide iodepth or numjobs, and rates, by {scale}, or simulate the whole drive."
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
