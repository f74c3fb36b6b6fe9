"""What the log of requests of a run says about single requests: which were slowest, and which older ones they waited behind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.errors import UsageError
from ssdlab.pages.why import Explained, Older, waits_for_older

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc

__all__ = ["KINDS", "numbers_by_time", "older_than"]

KINDS = ("read", "write", "all")
"""Kinds of requests that can be chosen."""
WRITTEN = ("index", "kind", "offset_bytes", "size_bytes", "arrival_ns")


def numbers_by_time(log: Path, kind: str) -> list[int]:
    """Numbers of the requests of a kind after the warm-up: the slowest first; of equal ones, the first to arrive.

    Raises:
        UsageError: the file is no log of requests.
    """
    import pyarrow as pa  # noqa: PLC0415 (it takes a while to import)
    import pyarrow.compute as pc  # noqa: PLC0415

    kinds = pa.array(KINDS[:-1] if kind == "all" else [kind])
    is_chosen = pc.field("kind").cast(pa.string()).isin(kinds) & ~pc.field("warm_up")
    order = [("response_ns", "descending"), ("index", "ascending")]
    return [int(number) for number in _rows(log, ["index", "response_ns"], is_chosen).sort_by(order)["index"].to_pylist()]


def older_than(log: Path, one: Explained, config: Mapping[str, Any]) -> Older | None:
    """The write or trim behind which a read waited in front of the write buffer, or for credit; `None` if it did not.

    That is the youngest older one that still waited when the read came, of the units of the read; without `buffer.reads_pass` of any.

    Raises:
        UsageError: the file is no log of requests.
    """
    import pyarrow.compute as pc  # noqa: PLC0415 (it takes a while to import)

    if not waits_for_older(one):
        return None
    unit = config["ftl"].get("map_unit_bytes") or config["device"]["page_bytes"]
    begin, end = one.offset_bytes, one.offset_bytes + one.size_bytes
    offset, size = pc.field("offset_bytes"), pc.field("size_bytes")
    left = pc.field("arrival_ns") + pc.field("response_ns") - pc.field("dram_ns") > one.arrival_ns
    waited = pc.field("host_queue_ns") + pc.field("pace_ns") > 0
    is_older = (pc.field("index") < one.request) & (pc.field("kind").cast("string") != "read") & left & waited
    touches = (offset < -(-end // unit) * unit) & (offset + size > begin // unit * unit)
    reads_pass = config.get("buffer", {}).get("reads_pass", True)
    for of, is_candidate in (("unit", is_older & touches), *([] if reads_pass else [("", is_older)])):
        rows = _rows(log, list(WRITTEN), is_candidate).sort_by([("index", "descending")]).slice(0, 1).to_pylist()
        for row in rows:
            same = "bytes" if of and row["offset_bytes"] < end and row["offset_bytes"] + row["size_bytes"] > begin else of
            return Older(request=row["index"], kind=str(row["kind"]), arrival_ns=row["arrival_ns"], same=same)
    return None


def _rows(log: Path, columns: list[str], which: pc.Expression) -> pa.Table:
    """Columns of rows of a log."""
    import pyarrow as pa  # noqa: PLC0415 (it takes a while to import)
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        return pq.read_table(log, columns=columns, filters=which)
    except (pa.ArrowException, OSError, KeyError) as reason:
        raise UsageError(f"{log}: not a log of requests, or damaged: {reason}; run it again") from reason
