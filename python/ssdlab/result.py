"""What runs come back with: `Result` for one, `Comparison` for several."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ssdlab.checks import path as checked_path
from ssdlab.checksums import CHECKSUM, sealed
from ssdlab.errors import FileError, UsageError
from ssdlab.folders import final
from ssdlab.paired import paired, paired_by_size

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    import pyarrow as pa

    from ssdlab.report.plots import Plots
    from ssdlab.report.runs import Runs
    from ssdlab.seeds import SeedRuns

__all__ = ["Comparison", "NoRequestLogError", "Result", "Section", "figures_of", "measures_of"]


class NoRequestLogError(UsageError, AttributeError):
    """A run that kept no request log was asked for it. An `AttributeError` too, so that `hasattr` can be asked before."""


class Section(Mapping[str, Any]):
    """A part of a result: a mapping whose entries are attributes too.

    A name may be given without its unit: `latency` is the entry `latency_ns`, in nanoseconds. What a run does not have is absent:
    asking for it raises `AttributeError` (or `KeyError`), and `get` returns its default.
    """

    def __init__(self, data: Mapping[str, Any], path: str = "") -> None:
        self._data = data
        self._path = path

    def __getitem__(self, key: str) -> Any:
        value = self._data[key]
        return Section(value, f"{self._path}.{key}".lstrip(".")) if isinstance(value, dict) else value

    def __getattr__(self, name: str) -> Any:
        # Copying and pickling ask for private names before there is any data.
        if name.startswith("_"):
            raise AttributeError(name)
        for key in (name, f"{name}_ns"):
            if key in self._data:
                return self[key]
        where = self._path or "this result"
        raise AttributeError(f"{where} has no {name}; it has {', '.join(self._data) or 'nothing'}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._data]

    def __repr__(self) -> str:
        return f"<{self._path or 'result'}: {json.dumps(_shortened(self._data))}>"

    def _repr_html_(self) -> str:
        """For notebooks: names and values."""
        from ssdlab.notebook import of_mapping  # noqa: PLC0415

        return of_mapping(self._path, self._data)

    def to_dict(self) -> dict[str, Any]:
        """A plain copy: dictionaries, lists, numbers and texts."""
        return cast("dict[str, Any]", copy.deepcopy(self._data))


SHOWN = 8
"""Entries of a list that are shown where a part of a result is printed."""


def _shortened(value: Any) -> Any:
    """A value with the first entries of its lists, and how many there are: series have thousands."""
    if isinstance(value, Mapping):
        return {key: _shortened(entry) for key, entry in value.items()}
    if not isinstance(value, list):
        return value
    more = len(value) - SHOWN
    return [*map(_shortened, value[:SHOWN]), *([f"... {more:,} more"] if more > 0 else [])]


class Result(Section):
    """The result of a run.

    Its entries are those that `--json` prints: `result.latency.read.p99` (ns), `result.gc.write_amplification`, `result.digest`,
    `result.config`, ... The entry `requests` (how many of each kind) is `result["requests"]` or `result.request_counts`, because the
    attribute `result.requests` is the log of all requests.
    """

    def __init__(
        self,
        data: Mapping[str, Any],
        *,
        log: Path | None = None,
        keep: TemporaryDirectory[str] | None = None,
        title: str = "",
        source: Path | None = None,
    ) -> None:
        super().__init__(data)
        self._title = title
        self._source = source  # the folder that it was read from
        self._log = log
        self._keep = keep  # the folder that holds the log lives as long as the result does

    @property
    def request_counts(self) -> Section:
        """How many requests of each kind were completed."""
        return cast("Section", self["requests"])

    @property
    def title(self) -> str:
        """What was simulated, in a line: device, scheme, workload and what was set by hand. Empty where it is not known."""
        return self._title

    @property
    def request_log(self) -> Path | None:
        """The Parquet file with a row for each request, where logging was asked for."""
        return self._log

    def __getattr__(self, name: str) -> Any:
        if name == "requests":  # where the property below has nothing to give, Python asks here; the entry of that name is not meant
            raise NoRequestLogError("this run kept no request log: run it with log_requests=True (--log-requests)")
        return super().__getattr__(name)

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
            return pq.read_table(self._log, memory_map=True)
        except (OSError, pa.ArrowException) as reason:
            raise FileError(f"{self._log}: cannot read the log of requests: {reason}", None, str(self._log)) from reason

    @property
    def plot(self) -> Plots:
        """The figures of the report, such as `result.plot.latency_cdf(width="3.4in").save("cdf.pdf")`."""
        from ssdlab.report.plots import Plots  # noqa: PLC0415

        return Plots(_runs({self._label(): self}, source=self._source))

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes the page about this run: one file, whole or not at all. Figures over time need a run with `series=True`."""
        from ssdlab.report import write  # noqa: PLC0415

        write(_runs({self._label(): self}), Path(checked_path("path", path)))

    def _label(self) -> str:
        from ssdlab.report.runs import scheme_of  # noqa: PLC0415

        return scheme_of(self._data) or "run"

    def pair_with(self, base: Result) -> None:
        """Adds the entry `paired`: how its requests fared against the same ones of `base`, altogether and by size."""
        self._data = {**self._data, "paired": {**paired(base, self), "by_size": paired_by_size(base, self)}}

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


class Comparison(Mapping[str, Result]):
    """The results of one workload under several schemes, by scheme; with several seeds, of the first."""

    def __init__(
        self,
        runs: Mapping[str, Result],
        seeds: SeedRuns | None = None,
        *,
        title: str = "",
        saved: Mapping[str, Any] | None = None,
        source: Path | None = None,
    ) -> None:
        """Results by scheme. Of a saved comparison also what stood beside the runs, and the folder that it was read from."""
        self._runs = dict(runs)
        self._seeds = seeds
        self._title = title
        self._saved = dict(saved or {})
        self._source = source

    @property
    def title(self) -> str:
        """What all runs have in common, in a line: device, workload and what was set by hand. Empty where it is not known."""
        return self._title

    @property
    def seeds(self) -> SeedRuns | None:
        """The runs under all seeds, with means, differences and their intervals; `None` for one seed."""
        return self._seeds

    def __getitem__(self, scheme: str) -> Result:
        return self._runs[scheme]

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self._runs)}>"

    def __str__(self) -> str:
        """The tables that the command line prints."""
        from ssdlab import tables  # noqa: PLC0415

        return tables.as_text(tables.comparison_tables(self))

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        from ssdlab import notebook, tables  # noqa: PLC0415

        return notebook.of_tables(tables.comparison_tables(self))

    @property
    def plot(self) -> Plots:
        """The figures of the report with all schemes, such as `comparison.plot.latency_cdf(width="3.4in").save("cdf.pdf")`."""
        from ssdlab.report.plots import Plots  # noqa: PLC0415

        seeds = {"seeds": list(self._seeds.seeds)} if self._seeds else self._saved.get("seeds", {})
        return Plots(_runs(self._runs, source=self._source, seeds=seeds))

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes the page about these runs: one file, whole or not at all. Figures over time need runs with `series=True`."""
        from ssdlab.report import write  # noqa: PLC0415

        data = self.to_dict()
        more = {key: data[key] for key in ("paired", "seeds") if key in data}
        write(_runs(self._runs, **more), Path(checked_path("path", path)))

    @cached_property
    def paired(self) -> dict[str, dict[str, Any]]:
        """By scheme: how its requests fared against the same ones under the first scheme, one by one (`ssdlab.paired`).

        Empty where the runs kept no logs of their requests (`log_requests` or `paired`), or there is only one.
        """
        if "paired" in self._saved:
            return {scheme: entry for scheme, entry in self._saved["paired"].items() if scheme != "against"}
        if self._source is not None or not all(result.request_log for result in self._runs.values()):
            return {}
        runs = list(self._runs.items())
        return {scheme: paired(runs[0][1], result) for scheme, result in runs[1:]}

    def to_dict(self) -> dict[str, Any]:
        """A plain copy, as `compare --json` prints it."""
        runs = {**copy.deepcopy(self._saved), "runs": {scheme: result.to_dict() for scheme, result in self._runs.items()}}
        seeds = {} if self._seeds is None else {"seeds": self._seeds.to_dict()}
        paired = {"paired": {"against": next(iter(self._runs)), **self.paired}} if self.paired else {}
        return {**runs, **seeds, **paired}


NO_FIGURES = ("config", "sweep", CHECKSUM)
"""What a result says of what was asked for, and of itself."""
ASKED = ("seed", "requests_per_s", "prepare_s", "wall_s", "percentile_error", "fit", "timeline", "warm_up", "workload")
"""Numbers that say what was asked for, what the input was, or how fast this machine is: none of what was simulated."""


def figures_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """Every number, text and truth value of a result by its place, such as `latency_ns.read.p99`; no lists."""
    return {name: value for key in result if key not in NO_FIGURES for name, value in _leaves(key, result[key])}


def _leaves(name: str, value: object) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _leaves(f"{name}.{key}", entry)
    elif not isinstance(value, list):
        yield name, value


def measures_of(result: Mapping[str, Any]) -> dict[str, float]:
    """The numbers that a simulation came to, by place: those that have a mean over seeds."""
    measured = {key: value for key, value in result.items() if key not in ASKED}
    return {name: value for name, value in figures_of(measured).items() if isinstance(value, int | float) and not isinstance(value, bool)}


def _runs(results: Mapping[str, Result], **more: Any) -> Runs:
    from ssdlab.report.runs import Runs  # noqa: PLC0415 (which reads the files that this module's results are written to)

    if not results:
        raise UsageError("nothing to show: no run has finished")
    return Runs.of({label: result.to_dict() for label, result in results.items()}, **more)
