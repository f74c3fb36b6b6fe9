"""Objects that are read in several parts: the time until all parts have come, from a request log.

A key-value cache of a language model, a striped file or a shard of an index is read by several requests at once, and is of use when the
slowest has completed. With n parts that do not depend on one another the median of objects is the quantile 2^(-1/n) of parts, since all
of them have to be faster.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdlab.analysis.logs import Logged, log_of
from ssdlab.checks import text, whole
from ssdlab.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["FanIn", "Times", "fan_in"]


@dataclass(frozen=True)
class Times:
    """Times, ns: their mean, exact percentiles (nearest rank), and the longest."""

    mean: float
    p50: int
    p99: int
    max: int


@dataclass(frozen=True)
class FanIn:
    """Times of objects and of their parts.

    Attributes:
        parts: requests of an object.
        objects: number of objects.
        object: from the arrival of the first part to the completion of the last one.
        part: response times of the parts.
        arrival_spread: the longest time from the arrival of the first part of an object to that of its last part, ns. It is 0 where parts
            arrive together; if not, times of objects contain that wait.
    """

    parts: int
    objects: int
    object: Times
    part: Times
    arrival_spread: int


def fan_in(result: Logged, parts: int, *, flow: str | None = None) -> FanIn:
    """The time until all parts of an object have been read.

    Each `parts` successive reads of a flow, in order of arrival, are an object. Let them arrive together with
    `workload.arrival = "burst"` and `workload.burst_length = parts`, in a flow of reads only: else an object can
    have parts of two bursts, which `FanIn.arrival_spread` tells. Objects with a part in the warm-up, and parts
    at the end that make no whole object, are left out.

    Args:
        result: a run with a request log.
        parts: reads of an object, from 1.
        flow: name of the flow to take; by default all, each by itself.

    Raises:
        UsageError: the run kept no log, has no such flow, or no whole object.
        FileError: the log cannot be read.
    """
    whole("parts", parts, least=1)
    found = list(_objects(result, parts, None if flow is None else text("flow", flow)))
    objects = sum(len(times) for times, _, _ in found)
    if objects == 0:
        raise UsageError(f"parts = {parts}: no object of so many reads after the warm-up: expected fewer parts, or more requests")
    import numpy as np  # noqa: PLC0415 (it takes longer than many runs)

    times, each, spreads = (np.concatenate(columns) for columns in zip(*found, strict=True))
    return FanIn(parts, objects, _times(times), _times(each), int(spreads.max()))


def _objects(result: Logged, parts: int, named: str | None) -> Iterator[tuple[NDArray[np.int64], ...]]:
    """Times of the objects, times of their parts, and the time over which parts of each object arrive, for each flow."""
    import pyarrow.compute as pc  # noqa: PLC0415

    log = log_of(result)
    flows = pc.cast(log["flow"], "string") if "flow" in log.column_names else None
    names = [None] if flows is None else pc.unique(flows).to_pylist()
    if named is not None and named not in names:
        raise UsageError(f"flow = {named}: expected one of {', '.join(str(name) for name in names) if flows is not None else 'no flow'}")
    reads = pc.equal(pc.cast(log["kind"], "string"), "read")
    for name in names if named is None else [named]:
        rows = log.filter(reads if flows is None else pc.and_(reads, pc.equal(flows, name)))
        whole_ones = len(rows) // parts * parts
        arrival, response, early = (_grid(rows[column], whole_ones, parts) for column in ("arrival_ns", "response_ns", "warm_up"))
        kept = ~early.any(axis=1)
        first = arrival.min(axis=1)
        times, spreads = (arrival + response).max(axis=1) - first, arrival.max(axis=1) - first
        yield times[kept], response[kept].reshape(-1), spreads[kept]


def _grid(column: Any, count: int, parts: int) -> NDArray[Any]:
    """The first values of a column, a row for each object."""
    values: NDArray[Any] = column.slice(0, count).to_numpy()
    return values.reshape(-1, parts)


def _times(values: NDArray[np.int64]) -> Times:
    ordered = sorted(values.tolist())
    at = {share: ordered[math.ceil(share * len(ordered)) - 1] for share in (0.5, 0.99)}
    return Times(sum(ordered) / len(ordered), at[0.5], at[0.99], ordered[-1])
