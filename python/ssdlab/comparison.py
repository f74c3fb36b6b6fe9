"""The results of one workload under several schemes: `Comparison`."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.checks import path as checked_path
from ssdlab.paired import paired
from ssdlab.remarks import Remark, as_dicts, from_dict, of_comparison
from ssdlab.result import Result, runs_of
from ssdlab.seeds import SeedRuns, label_of

if TYPE_CHECKING:
    from ssdlab.report.plots import Plots

__all__ = ["Comparison", "collected"]


class Comparison(Mapping[str, Result]):
    """The results of one workload under several schemes, by scheme. With several seeds, they are the results of the first."""

    def __init__(
        self,
        runs: Mapping[str, Result],
        seeds: SeedRuns | None = None,
        *,
        title: str = "",
        saved: Mapping[str, Any] | None = None,
        source: Path | None = None,
    ) -> None:
        """Builds a comparison from results by scheme.

        For a saved comparison, `saved` has the other entries of its file, and `source` is its folder.
        """
        self._runs = dict(runs)
        self._seeds = seeds
        self._title = title
        self._saved = dict(saved or {})
        self._source = source

    @property
    def title(self) -> str:
        """A line with what all runs have in common: device, workload and keys set by hand. Empty if unknown."""
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
        """The tables that the command line prints, as HTML for notebooks."""
        from ssdlab import notebook, tables  # noqa: PLC0415

        return notebook.of_tables(tables.comparison_tables(self))

    @property
    def plot(self) -> Plots:
        """The report's figures with all schemes, such as `comparison.plot.latency_cdf(width="3.4in").save("cdf.pdf")`."""
        from ssdlab.report.plots import Plots  # noqa: PLC0415

        seeds = {"seeds": list(self._seeds.seeds)} if self._seeds else self._saved.get("seeds", {})
        return Plots(runs_of(self._runs, source=self._source, seeds=seeds))

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes the report page of the runs as one file, completely or not at all. Figures over time need runs with `series=True`."""
        from ssdlab.report import write  # noqa: PLC0415

        data = self.to_dict()
        more = {key: data[key] for key in ("paired", "seeds", "remarks") if key in data}
        write(runs_of(self._runs, **more), Path(checked_path("path", path)))

    @cached_property
    def remarks(self) -> list[Remark]:
        """Remarks that qualify the numbers: those of the runs, and those that result from the comparison."""
        if self._seeds is not None:
            return of_comparison(self._runs, seeds_differ=self._seeds.differ, of_seeds=self._seeds.runs)
        if self._saved.get("seeds") and "remarks" in self._saved:  # the folders of later seeds are gone
            return [from_dict(entry) for entry in self._saved["remarks"]]
        return of_comparison(self._runs)

    @cached_property
    def paired(self) -> dict[str, dict[str, Any]]:
        """Differences between the requests of each scheme and the same ones under the first, one by one, by scheme (`ssdlab.paired`).

        Empty if the runs kept no request logs (`log_requests` or `paired`), or for a single scheme.
        """
        if "paired" in self._saved:
            return {scheme: entry for scheme, entry in self._saved["paired"].items() if scheme != "against"}
        if self._source is not None or not all(result.request_log for result in self._runs.values()):
            return {}
        runs = list(self._runs.items())
        return {scheme: paired(runs[0][1], result) for scheme, result in runs[1:]}

    def to_dict(self) -> dict[str, Any]:
        """A copy as a dictionary, as `compare --json` prints it."""
        runs = {**copy.deepcopy(self._saved), "runs": {scheme: result.to_dict() for scheme, result in self._runs.items()}}
        seeds = {} if self._seeds is None else {"seeds": self._seeds.to_dict()}
        paired = {"paired": {"against": next(iter(self._runs)), **self.paired}} if self.paired else {}
        return {**runs, **seeds, **paired, "remarks": as_dicts(self.remarks)}


def collected(finished: Mapping[str, Result], schemes: Sequence[str], seeds: Sequence[int], *, title: str = "") -> Comparison:
    """Builds a comparison from the finished runs, by label."""
    if len(seeds) == 1:
        return Comparison(finished, title=title)
    runs = {scheme: {seed: finished[label] for seed in seeds if (label := label_of(scheme, seed, seeds)) in finished} for scheme in schemes}
    # a scheme without its first seed would have runs that no entry refers to
    runs = {scheme: of for scheme, of in runs.items() if seeds[0] in of}
    first = {scheme: of[seeds[0]] for scheme, of in runs.items()}
    return Comparison(first, SeedRuns(tuple(seeds), runs) if runs else None, title=title)
