"""Compares the same requests in two runs one by one: which are faster, slower or unchanged.

Means hide which requests pay for a gain: elyasi2017 (sections 7.1 to 7.3) counts the requests that a scheduler slows down.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ssdlab.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from ssdlab.analysis.logs import Logged

__all__ = ["paired", "paired_by_size", "same_requests"]

MANY_SIZES = 16
KINDS = {"all": ("read", "write"), "read": ("read",), "write": ("write",)}


def paired(base: Logged, other: Logged, tolerance: float = 0.0) -> dict[str, Any]:
    """Compares the requests of `other` with the same ones of `base`.

    Args:
        base: a run with a request log.
        other: a run of the same requests, also with a log.
        tolerance: relative change of a request's response time in `base`, from 0, that counts as no change.

    Returns:
        A dictionary for each of `all`, `read` and `write` with requests: the number of `requests`, the shares `faster`, `slower` and
        `same`, and, where there are such requests, the mean time gained by faster ones, `gain_ns`, and lost by slower ones, `loss_ns`.
        `own_change` is the mean over requests of the change of each relative to its own time, in percent. Requests that took no time in
        `base` are left out of it; it is absent without others.

    Raises:
        UsageError: a run kept no log, the runs are not of the same requests, or the tolerance is invalid.
    """
    import pyarrow.compute as pc  # noqa: PLC0415 (it takes longer than many runs)

    before, after = _logs(base, other)
    gain = _gain(before, after)
    groups = {name: _is_in(before["kind"], wanted) for name, wanted in KINDS.items()}
    found = {name: (pc.filter(gain, chosen), pc.filter(before["response_ns"], chosen)) for name, chosen in groups.items()}
    return {name: _summary(gains, times, tolerance) for name, (gains, times) in found.items() if len(gains)}


def paired_by_size(base: Logged, other: Logged, tolerance: float = 0.0) -> dict[str, Any]:
    """Compares the reads and writes of each size in `other` with the same ones of `base`, like `paired`.

    Sizes are rounded up to whole KiB and named `kb8`, `kb16`, ... `change` is the change of the mean response time in percent; it is absent
    if all requests of the size took no time in `base`. The result is empty for more than 16 sizes.
    """
    import pyarrow.compute as pc  # noqa: PLC0415

    before, after = _logs(base, other)
    chosen = _is_in(before["kind"], KINDS["all"])
    before, after = before.filter(chosen), after.filter(chosen)
    gain = _gain(before, after)
    kb = pc.ceil(pc.divide(pc.cast(before["size_bytes"], "float64"), 1024))
    found: dict[str, Any] = {}
    for size in sorted(pc.unique(kb).to_pylist()):
        if len(found) == MANY_SIZES:
            return {}
        of_size = pc.equal(kb, size)
        gains, times = pc.filter(gain, of_size), pc.filter(before["response_ns"], of_size)
        found[f"kb{size:.0f}"] = {**_summary(gains, times, tolerance), **_change(pc.sum(gains).as_py(), pc.sum(times).as_py())}
    return found


def _change(gain: int, time: int) -> dict[str, float]:
    """The change of a mean in percent, from sums; empty if the sum of times is 0."""
    return {"change": _loss(100 * gain / time)} if time else {}


def _loss(gain: float) -> float:
    """A gain with its sign reversed; 0 stays 0, not -0."""
    return 0.0 - gain


def _logs(base: Logged, other: Logged) -> tuple[pa.Table, pa.Table]:
    """The logged requests that are after the warm-up of both runs."""
    import pyarrow.compute as pc  # noqa: PLC0415

    before, after = (_log(result) for result in (base, other))
    if not _are_same(before, after):
        raise UsageError("these runs are not of the same requests: compare runs of one workload with one seed")
    # in closed loops, a warm-up by time may cover more requests in one run than in the other
    measured = pc.invert(pc.or_(before["warm_up"], after["warm_up"]))
    return before.filter(measured), after.filter(measured)


def same_requests(base: Logged, other: Logged) -> bool:
    """Whether two runs with logs have the same requests in the same order, at any times."""
    return _are_same(_log(base), _log(other))


def _are_same(before: pa.Table, after: pa.Table) -> bool:
    return not any(before[name] != after[name] for name in ("kind", "offset_bytes", "size_bytes"))


def _gain(before: pa.Table, after: pa.Table) -> pa.ChunkedArray:
    import pyarrow.compute as pc  # noqa: PLC0415

    return pc.subtract(pc.cast(before["response_ns"], "int64"), pc.cast(after["response_ns"], "int64"))


def _log(result: Logged) -> pa.Table:
    """The compared columns of a log, which has many more."""
    import pyarrow.compute as pc  # noqa: PLC0415

    from ssdlab.analysis.logs import log_of  # noqa: PLC0415 (most runs read no log)

    table = log_of(result, ["kind", "offset_bytes", "size_bytes", "response_ns", "warm_up"])
    return table.set_column(0, "kind", pc.cast(table["kind"], "string"))  # a dictionary column in logs of earlier versions


def _is_in(kinds: pa.ChunkedArray, wanted: tuple[str, ...]) -> pa.ChunkedArray:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    return pc.is_in(kinds, pa.array(wanted))


def _summary(gains: pa.ChunkedArray, times: pa.ChunkedArray, tolerance: float) -> dict[str, Any]:
    import pyarrow.compute as pc  # noqa: PLC0415

    count = len(gains)
    if not 0 <= tolerance < math.inf:
        raise UsageError(f"tolerance = {tolerance}: expected a share of the response time from 0 on, such as 0.01")
    limit = pc.multiply(pc.cast(times, "float64"), tolerance)
    faster, slower = pc.filter(gains, pc.greater(gains, limit)), pc.filter(gains, pc.less(gains, pc.negate(limit)))
    summary = {
        "requests": count,
        "faster": len(faster) / count,
        "slower": len(slower) / count,
        "same": (count - len(faster) - len(slower)) / count,
    }
    if len(faster):
        summary["gain_ns"] = pc.mean(faster).as_py()
    if len(slower):
        summary["loss_ns"] = -pc.mean(slower).as_py()
    took = pc.greater(times, 0)
    if pc.any(took).as_py():
        shares = pc.divide(pc.cast(pc.filter(gains, took), "float64"), pc.cast(pc.filter(times, took), "float64"))
        summary["own_change"] = _loss(100 * pc.mean(shares).as_py())
    return summary
