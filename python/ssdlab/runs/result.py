"""The result of a run: `Result`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ssdlab.analysis.paired import paired, paired_by_size
from ssdlab.analysis.remarks import Remark, of_run
from ssdlab.checks import path as checked_path
from ssdlab.errors import FileError, UsageError
from ssdlab.run_statistics import RunStatistics
from ssdlab.section import Section, UntypedSection
from ssdlab.system.checksums import sealed
from ssdlab.system.folders import final

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    import pyarrow as pa

    from ssdlab.pages.report.plots import Plots
    from ssdlab.pages.report.runs import Runs
    from ssdlab.run_statistics import Requests

__all__ = ["NoRequestLogError", "Result", "runs_of"]


class NoRequestLogError(UsageError, AttributeError):
    """The request log was requested of a run that kept none. It is an `AttributeError` too, so that `hasattr` works."""


class Result(RunStatistics):
    """The result of a run.

    Its entries are those printed by `--json`: `result.latency.read.p99` (ns), `result.gc.write_amplification`, `result.digest`,
    `result.config`, ... The entry `requests` (counts by kind) is `result["requests"]` or `result.request_counts`, because the attribute
    `result.requests` is the log of all requests. Type checkers know the statistics (`ssdlab.run_statistics`), and report wrong names.
    """

    command: str
    """Command that repeats the run. Absent if there is none, as with a user-defined policy."""
    capacity: UntypedSection
    """The highest rate that the drive sustains, and the load as a share of it. Absent without `load`."""
    fit: UntypedSection
    """How the device was fitted to the trace. Absent without `fit`."""
    paired: UntypedSection
    """Comparison of the requests with the same ones of another run, for all and by size. Absent without a comparison."""
    checksum: str
    """SHA-256 checksum that detects changes of a saved result. Absent before it is saved."""

    def __init__(
        self,
        data: Mapping[str, Any],
        *,
        log: Path | None = None,
        keep: TemporaryDirectory[str] | None = None,
        title: str = "",
        source: Path | None = None,
    ) -> None:
        Section.__init__(self, data)  # type checkers see the class in between as a frozen dataclass with its own `__init__`
        self._title = title
        self._source = source  # folder that the result was read from
        self._log = log
        self._keep = keep  # keeps a temporary folder with the log until the result is dropped

    @property
    def request_counts(self) -> Requests:
        """Number of completed requests of each kind."""
        return cast("Requests", self["requests"])

    @property
    def remarks(self) -> list[Remark]:
        """Remarks that qualify the numbers; empty if there are none."""
        return of_run(self._data)

    @property
    def title(self) -> str:
        """A description of the run in one line: device, scheme, workload and keys set by hand. Empty if unknown."""
        return self._title

    @property
    def request_log(self) -> Path | None:
        """The Parquet file with a row for each request; `None` without a log."""
        return self._log

    def _entry(self, name: str) -> Any:
        if name == "requests":  # Python calls this if the property `requests` raises; the entry of that name is not meant
            raise NoRequestLogError("this run kept no request log: run it with log_requests=True (--log-requests)")
        return super()._entry(name)

    @property
    def requests(self) -> pa.Table:
        """All requests as an Arrow table, one row each; absent if the run kept no log.

        Use `.to_pandas()` (with pandas installed) or `polars.from_arrow(...)` to convert it.
        """
        if self._log is None:
            raise AttributeError("requests")
        # imported here because it takes longer than many runs
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415

        try:
            return pq.read_table(self._log, memory_map=True, read_dictionary=["kind", "blocked_by", "flow"])
        except (OSError, pa.ArrowException) as reason:
            raise FileError(f"{self._log}: cannot read the log of requests: {reason}", None, str(self._log)) from reason

    @property
    def plot(self) -> Plots:
        """The figures of the report, such as `result.plot.latency_cdf(width="3.4in").save("cdf.pdf")`."""
        from ssdlab.pages.report.plots import Plots  # noqa: PLC0415

        return Plots(runs_of({self._label(): self}, source=self._source))

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes the report page of the run as one file, completely or not at all. Figures over time need a run with `series=True`."""
        from ssdlab.pages.report import write  # noqa: PLC0415

        write(runs_of({self._label(): self}), Path(checked_path("path", path)))

    def _label(self) -> str:
        from ssdlab.pages.report.runs import scheme_of  # noqa: PLC0415

        return scheme_of(self._data) or "run"

    def pair_with(self, base: Result, tolerance: float = 0.0) -> None:
        """Adds the entry `paired`: a comparison of the requests with the same ones of `base`, for all and by size.

        A change of at most `tolerance` times the response time in `base` counts as no change.

        Raises:
            UsageError: a run kept no log, the requests differ, or the tolerance is negative or not a number.
        """
        by_size = paired_by_size(base, self, tolerance)
        self._data = {**self._data, "paired": {**paired(base, self, tolerance), "by_size": by_size}}

    def seal(self) -> None:
        """Adds the entry `checksum`, which detects changes of the saved file."""
        self._data = sealed(self._data)

    def settle_log(self) -> None:
        """Updates the path of the log after it was moved to its final place."""
        self._log = self._log and final(self._log)

    def drop_log(self) -> None:
        """Removes the log if it is temporary."""
        if self._keep is not None:
            self._log = None
            self._keep.cleanup()

    def __repr__(self) -> str:
        from ssdlab.pages import tables  # noqa: PLC0415

        return f"<Result: {tables.headline(self)}>"

    def __str__(self) -> str:
        """The tables that the command line prints."""
        from ssdlab.pages import tables  # noqa: PLC0415

        return tables.as_text(tables.run_tables(self._data, self._title))

    def _repr_html_(self) -> str:
        """The tables that the command line prints, as HTML for notebooks."""
        from ssdlab.pages import notebook, tables  # noqa: PLC0415

        return notebook.of_tables(tables.run_tables(self._data, self._title))


def runs_of(results: Mapping[str, Result], **more: Any) -> Runs:
    """Results as runs of the report, by label; `more` are further fields of `Runs`."""
    from ssdlab.pages.report.runs import Runs  # noqa: PLC0415

    if not results:
        raise UsageError("nothing to show: no run has finished")
    return Runs.of({label: result.to_dict() for label, result in results.items()}, **more)
