"""A result in the JSON form of fio, with fio's names and units, from the log of requests.

Left out, since the simulator has nothing of the kind: `usr_cpu`, `sys_cpu`, `ctx`, `majf`, `minf`, `iodepth_submit`, `iodepth_complete`,
`iodepth_level`, the buckets `latency_ns`, `latency_us` and `latency_ms`, the samples `bw_*` and `iops_*`, `timestamp` and `time`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ssdlab.asking.fio import Flow, Flows, is_cached, is_synchronous, percentiles_of
from ssdlab.runs.result import Result

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

__all__ = ["fio_json"]

DIRECTIONS = ("read", "write", "trim")
PERCENTILES_OF = {"clat_ns": "clat_percentiles", "lat_ns": "lat_percentiles"}
"""Options by which fio reports percentiles; `clat_percentiles` is on by default."""
NO_TIMES = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000


def fio_json(result: Result, jobs: Flows) -> dict[str, Any]:
    """The result of a run of `jobs`, whose requests were logged."""
    rows = result.requests
    measured = rows.filter(_not(rows["warm_up"]))
    apart = {flow.name: _of_flow(measured, flow.name) for flow in jobs.flows}
    entries = [_entry(flows, [apart[flow.name] for flow in flows]) for flows in _groups(jobs.flows)]
    return {"fio version": f"ssdlab-{result.to_dict()['version']}", "jobs": entries}


def _not(column: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow.compute as pc  # noqa: PLC0415 (it takes longer than many runs)

    return pc.invert(column)


def _of_flow(rows: pa.Table, name: str) -> pa.Table:
    import pyarrow.compute as pc  # noqa: PLC0415

    return rows.filter(pc.equal(rows["flow"].cast("string"), name)) if "flow" in rows.column_names else rows


def _groups(flows: Sequence[Flow]) -> Iterable[Sequence[Flow]]:
    """The jobs of each entry: those of a group together if they ask for it (`group_reporting`)."""
    together: dict[int, list[Flow]] = {}
    entries: list[list[Flow]] = []
    for flow in flows:
        if flow.job.is_on("group_reporting") and flow.group in together:
            together[flow.group].append(flow)
            continue
        entries.append([flow])
        if flow.job.is_on("group_reporting"):
            together[flow.group] = entries[-1]
    return entries


class _Rows(NamedTuple):
    """Columns of the requests of a job, in the order in which they were sent."""

    kinds: np.ndarray
    sizes: np.ndarray
    arrivals: np.ndarray
    times: np.ndarray


def _rows(flow: Flow, table: pa.Table) -> _Rows:
    """The requests of a job as fio measures them: it has one time for a write and its flush where the host makes both of one call."""
    import numpy as np  # noqa: PLC0415

    kinds = np.asarray(table["kind"].cast("string").to_pylist(), dtype=object)
    rows = _Rows(kinds, *(table[name].to_numpy().copy() for name in ("size_bytes", "arrival_ns", "response_ns")))
    if flow.keys.get("flush_every") != 1 or not (is_synchronous(flow.job) or is_cached(flow.job)):
        return rows
    (order,) = np.nonzero((kinds == "write") | (kinds == "flush"))
    pairs = (kinds[order[:-1]] == "write") & (kinds[order[1:]] == "flush")
    writes, flushes = order[:-1][pairs], order[1:][pairs]
    rows.times[writes if is_synchronous(flow.job) else flushes] = rows.times[flushes] + rows.arrivals[flushes] - rows.arrivals[writes]
    return _Rows(*(column[kinds != "flush"] for column in rows)) if is_synchronous(flow.job) else rows


def _entry(flows: Sequence[Flow], tables: Sequence[pa.Table]) -> dict[str, Any]:
    import numpy as np  # noqa: PLC0415

    apart, first = [_rows(flow, table) for flow, table in zip(flows, tables, strict=True)], flows[0]
    rows = _Rows(*(np.concatenate(columns) for columns in zip(*apart, strict=True)))
    span_ns = int((rows.arrivals + rows.times).max() - rows.arrivals.min()) if len(rows.times) else 0
    asked = [name for name, option in PERCENTILES_OF.items() if (entry := first.job.get(option)) is not None and entry.truth()]
    asked += ["clat_ns"] if first.job.get("clat_percentiles") is None else []
    shares = percentiles_of(first.job)
    directions = {one: _direction(rows, one, span_ns, asked, shares) for one in DIRECTIONS}
    flushes = rows.times[rows.kinds == "flush"]
    return {
        "jobname": first.job.name,
        "groupid": first.group,
        "error": 0,
        "eta": 0,
        "elapsed": math.ceil(span_ns / NS_PER_S),
        "job options": {name: entry.value or "1" for name, entry in first.job.options.items()},
        **directions,
        "sync": {"total_ios": len(flushes), "lat_ns": {**_times(flushes), **(_percentiles(flushes, shares) if asked else {})}},
        "job_runtime": math.ceil(span_ns / NS_PER_MS),
    }


def _direction(rows: _Rows, one: str, span_ns: int, asked: Sequence[str], shares: Sequence[float]) -> dict[str, Any]:
    """Figures of one direction; those in `asked` have percentiles. Rates are over the exact time, which fio rounds to milliseconds."""
    sizes, times = rows.sizes[rows.kinds == one], rows.times[rows.kinds == one]
    count, total = len(sizes), int(sizes.sum())
    seconds = span_ns / NS_PER_S if count else 0.0
    rate = total / seconds if seconds else 0.0
    latency, percentiles = _times(times), _percentiles(times, shares)
    latencies = {name: {**latency, **(percentiles if name in asked else {})} for name in PERCENTILES_OF}
    return {
        "io_bytes": total,
        "io_kbytes": total >> 10,
        "bw_bytes": int(rate),
        "bw": int(rate) >> 10,
        "iops": count / seconds if seconds else 0.0,
        "runtime": math.ceil(span_ns / NS_PER_MS) if count else 0,
        "total_ios": count,
        "short_ios": 0,
        "drop_ios": 0,
        # the simulated host submits in no time
        "slat_ns": dict(NO_TIMES),
        **latencies,
    }


def _times(times: np.ndarray) -> dict[str, Any]:
    if not len(times):
        return dict(NO_TIMES)
    deviation = float(times.std(ddof=1)) if len(times) > 1 else 0.0
    return {"min": int(times.min()), "max": int(times.max()), "mean": float(times.mean()), "stddev": deviation, "N": len(times)}


def _percentiles(times: np.ndarray, shares: Sequence[float]) -> Mapping[str, Mapping[str, int]]:
    """Percentiles by nearest rank: exact, where fio has bins. Nothing without times."""
    import numpy as np  # noqa: PLC0415

    if not len(times):
        return {}
    ordered = np.sort(times)
    # in millionths percentiles are whole numbers, so that the rank is exact
    ranks = (-(-round(share * 10**6) * len(ordered) // 10**8) for share in shares)
    return {"percentile": {f"{share:.6f}": int(ordered[max(rank, 1) - 1]) for share, rank in zip(shares, ranks, strict=True)}}
