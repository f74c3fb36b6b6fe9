"""Reads the request log of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ssdlab.errors import FileError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

__all__ = ["Logged", "log_of"]

AGAIN = "run it with log_requests=True (--log-requests)"


class Logged(Protocol):
    """A run that may have kept a request log."""

    @property
    def request_log(self) -> Path | None:
        """The Parquet file with a row for each request; `None` without a log."""


def log_of(result: Logged, columns: Sequence[str] | None = None) -> pa.Table:
    """The request log of a run: some columns of it, or all.

    Raises:
        UsageError: the run kept no log.
        FileError: the log cannot be read, such as one whose folder was moved.
    """
    # imported here because it takes longer than many runs
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    log = result.request_log
    if log is None:
        raise UsageError(f"this run kept no request log: {AGAIN}")
    try:
        return pq.read_table(log, columns=None if columns is None else list(columns), memory_map=True)
    except (OSError, pa.ArrowException) as reason:
        hint = f"put the file back there, or {AGAIN} again"
        raise FileError(f"{log}: cannot read the log of requests: {reason}: {hint}", None, str(log)) from reason
