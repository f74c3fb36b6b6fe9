"""What a run comes back with: `Result`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ssdlab.checks import path as checked_path
from ssdlab.checksums import sealed
from ssdlab.errors import FileError, UsageError
from ssdlab.folders import final
from ssdlab.paired import paired, paired_by_size
from ssdlab.remarks import Remark, of_run
from ssdlab.run_statistics import Requests, RunStatistics
from ssdlab.section import Section, UntypedSection

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    import pyarrow as pa

    from ssdlab.report.plots import Plots
    from ssdlab.report.runs import Runs

__all__ = ["NoRequestLogError", "Result", "runs_of"]


class NoRequestLogError(UsageError, AttributeError):
    """A run that kept no request log was asked for it. An `AttributeError` too, so that `hasattr` can be asked before."""


class Result(RunStatistics):
    """The result of a run.

    Its entries are those that `--json` prints: `result.latency.read.p99` (ns), `result.gc.write_amplification`, `result.digest`,
    `result.config`, ... The entry `requests` (how many of each kind) is `result["requests"]` or `result.request_counts`, because the
    attribute `result.requests` is the log of all requests. Type checkers know the statistics (`ssdlab.run_statistics`); a wrong name is an
    error to them.
    """

    command: str
    """The command that repeats the run. Absent where none does, as with a policy of one's own."""
    fit: UntypedSection
    """How the device was fitted to the trace. Absent without `fit`."""
    paired: UntypedSection
    """How the requests fared against the same ones of another run, altogether and by size. Absent where they were not compared."""
    checksum: str
    """SHA-256 by which a change of a saved result is seen. Absent before it is saved."""

    def __init__(
        self,
        data: Mapping[str, Any],
        *,
        log: Path | None = None,
        keep: TemporaryDirectory[str] | None = None,
        title: str = "",
        source: Path | None = None,
    ) -> None:
        Section.__init__(self, data)  # to type checkers, the class between them is a frozen dataclass with an `__init__` of its own
        self._title = title
        self._source = source  # the folder that it was read from
        self._log = log
        self._keep = keep  # the folder that holds the log lives as long as the result does

    @property
    def request_counts(self) -> Requests:
        """How many requests of each kind were completed."""
        return cast("Requests", self["requests"])

    @property
    def remarks(self) -> list[Remark]:
        """What must be known beside the numbers; empty where nothing needs to be said."""
        return of_run(self._data)

    @property
    def title(self) -> str:
        """What was simulated, in a line: device, scheme, workload and what was set by hand. Empty where it is not known."""
        return self._title

    @property
    def request_log(self) -> Path | None:
        """The Parquet file with a row for each request, where logging was asked for."""
        return self._log

    def _entry(self, name: str) -> Any:
        if name == "requests":  # where the property below has nothing to give, Python asks here; the entry of that name is not meant
            raise NoRequestLogError("this run kept no request log: run it with log_requests=True (--log-requests)")
        return super()._entry(name)

    @property
    def requests(self) -> pa.Table:
        """Every request, a row each, as an Arrow table; absent if the run kept no log.

        `.to_pandas()` (with pandas installed) and `polars.from_arrow(...)` go on from there.
        """
        if self._log is None:
            raise AttributeError("requests")
        # Imported here because it takes longer than many a run.
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415

        try:
            return pq.read_table(self._log, memory_map=True, read_dictionary=["kind", "blocked_by", "flow"])
        except (OSError, pa.ArrowException) as reason:
            raise FileError(f"{self._log}: cannot read the log of requests: {reason}", None, str(self._log)) from reason

    @property
    def plot(self) -> Plots:
        """The figures of the report, such as `result.plot.latency_cdf(width="3.4in").save("cdf.pdf")`."""
        from ssdlab.report.plots import Plots  # noqa: PLC0415

        return Plots(runs_of({self._label(): self}, source=self._source))

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes the page about this run: one file, whole or not at all. Figures over time need a run with `series=True`."""
        from ssdlab.report import write  # noqa: PLC0415

        write(runs_of({self._label(): self}), Path(checked_path("path", path)))

    def _label(self) -> str:
        from ssdlab.report.runs import scheme_of  # noqa: PLC0415

        return scheme_of(self._data) or "run"

    def pair_with(self, base: Result, tolerance: float = 0.0) -> None:
        """Adds the entry `paired`: how its requests fared against the same ones of `base`, altogether and by size.

        A change of at most `tolerance` times the response time in `base` counts as none.

        Raises:
            UsageError: if a run kept no log, they are not of the same requests, or the tolerance is negative or no number.
        """
        by_size = paired_by_size(base, self, tolerance)
        self._data = {**self._data, "paired": {**paired(base, self, tolerance), "by_size": by_size}}

    def seal(self) -> None:
        """Adds the entry `checksum`, by which a change of the file is seen."""
        self._data = sealed(self._data)

    def settle_log(self) -> None:
        """The log is where it belongs now."""
        self._log = self._log and final(self._log)

    def drop_log(self) -> None:
        """Removes the log if it is a temporary one."""
        if self._keep is not None:
            self._log = None
            self._keep.cleanup()

    def __repr__(self) -> str:
        from ssdlab import tables  # noqa: PLC0415

        return f"<Result: {tables.headline(self)}>"

    def __str__(self) -> str:
        """The tables that the command line prints."""
        from ssdlab import tables  # noqa: PLC0415

        return tables.as_text(tables.run_tables(self))

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        from ssdlab import notebook, tables  # noqa: PLC0415

        return notebook.of_tables(tables.run_tables(self))


def runs_of(results: Mapping[str, Result], **more: Any) -> Runs:
    """Results as the report sees them, by label; `more` is what it knows of them besides (`Runs`)."""
    from ssdlab.report.runs import Runs  # noqa: PLC0415

    if not results:
        raise UsageError("nothing to show: no run has finished")
    return Runs.of({label: result.to_dict() for label, result in results.items()}, **more)
