"""The results of variants of a run beside each other: `Comparison`."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.analysis.differences import Change, changes, of_variants
from ssdlab.analysis.paired import paired, same_requests
from ssdlab.analysis.remarks import Remark, as_dicts, from_dict, of_comparison, shown
from ssdlab.checks import path as checked_path
from ssdlab.runs.result import Result, runs_of
from ssdlab.runs.seeds import SeedRuns, label_of

if TYPE_CHECKING:
    from ssdlab.pages.report.leader import Leader
    from ssdlab.pages.report.plots import Plots

__all__ = ["Comparison", "collected"]


class Comparison(Mapping[str, Result]):
    """The results of variants of a run, by label; those of schemes by scheme. With several seeds, they are the results of the first."""

    def __init__(
        self,
        runs: Mapping[str, Result],
        seeds: SeedRuns | None = None,
        *,
        title: str = "",
        variants: Mapping[str, Any] | None = None,
        saved: Mapping[str, Any] | None = None,
        source: Path | None = None,
    ) -> None:
        """Builds a comparison from results by label.

        For a saved comparison, `saved` has the other entries of its file, and `source` is its folder.
        """
        self._runs = dict(runs)
        self._seeds = seeds
        self._title = title
        self._saved = dict(saved or {})
        self._variants = dict(variants or self._saved.get("variants", {}))
        self._source = source

    @property
    def title(self) -> str:
        """A line with what all runs have in common: device, workload and keys set by hand. Empty if unknown."""
        return self._title

    @property
    def seeds(self) -> SeedRuns | None:
        """The runs under all seeds, with means, differences and their intervals; `None` for one seed."""
        return self._seeds

    @property
    def variants(self) -> Mapping[str, Any]:
        """By label, the `options` and `set` that each variant was given, and the `exported_bytes` of its drive; empty for schemes."""
        return self._variants

    @cached_property
    def changes(self) -> dict[str, list[Change]]:
        """What each variant changes against the first, by label: options and configuration keys, each `before` and `after`."""
        return changes(self._runs, self._variants)

    @cached_property
    def half_widths(self) -> dict[str, dict[str, float]]:
        """Half widths of the 95 % intervals of relative differences from the first variant, by label and path, as the report has them.

        They are estimated from how parts of each run differ; empty for runs that are not recorded over time (`series`), or several seeds.
        """
        if self._seeds is not None or self._saved.get("seeds") or not all("series" in result for result in self._runs.values()):
            return {}
        from ssdlab.pages.report.changes import half_widths  # noqa: PLC0415

        return half_widths(runs_of(self._runs))

    def __getitem__(self, label: str) -> Result:
        return self._runs[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self._runs)}>"

    def __str__(self) -> str:
        """The tables that the command line prints."""
        from ssdlab.pages import tables  # noqa: PLC0415

        return tables.as_text(tables.comparison_tables(self))

    def _repr_html_(self) -> str:
        """The tables that the command line prints, as HTML for notebooks."""
        from ssdlab.pages import notebook, tables  # noqa: PLC0415

        return notebook.of_tables(tables.comparison_tables(self))

    @property
    def plot(self) -> Plots:
        """The report's figures with all variants, such as `comparison.plot.latency_cdf(width="3.4in").save("cdf.pdf")`."""
        from ssdlab.pages.report.plots import Plots  # noqa: PLC0415

        seeds = self._seeds.to_dict() if self._seeds else self._saved.get("seeds", {})
        return Plots(runs_of(self._runs, source=self._source, seeds=seeds))

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes the report page of the runs as one file, completely or not at all. Figures over time need runs with `series=True`."""
        from ssdlab.pages.report import Runs, write  # noqa: PLC0415

        write(Runs.saved(self.to_dict()), Path(checked_path("path", path)))

    @cached_property
    def remarks(self) -> list[Remark]:
        """Remarks that qualify the numbers: those of the runs, and those that result from the comparison."""
        if self._seeds is None and self._saved.get("seeds") and "remarks" in self._saved:  # the folders of later seeds are gone
            return [from_dict(entry) for entry in self._saved["remarks"]]
        differ, of_seeds = (None, None) if self._seeds is None else (self._seeds.differ, self._seeds.runs)
        return [*of_variants(self._runs, self._variants), *of_comparison(self._runs, seeds_differ=differ, of_seeds=of_seeds)]

    @cached_property
    def paired(self) -> dict[str, dict[str, Any]]:
        """Differences between the requests of each variant and the same ones of the first, one by one, by label (`ssdlab.analysis.paired`).

        Empty if the runs kept no request logs (`log_requests` or `paired`), or for a single run. Variants with other requests than the
        first are left out.
        """
        if "paired" in self._saved:
            return {label: entry for label, entry in self._saved["paired"].items() if label != "against"}
        if self._source is not None or not all(result.request_log for result in self._runs.values()):
            return {}
        (_, base), *others = self._runs.items()
        if not self._variants:  # schemes have the same requests
            return {label: paired(base, result) for label, result in others}
        return {label: paired(base, result) for label, result in others if same_requests(base, result)}

    def best(self, figure: str = "p99") -> Leader | None:
        """The best variant by a figure, the next one, and whether they differ by more than chance; `None` if no variant has the figure.

        Args:
            figure: `"mean"`, `"p99"`, `"p99.9"`, `"max"`, `"write-amplification"`, `"iops"`, or the path of another figure by which
                runs can be better or worse, such as `"latency_ns.read.p99"`.

        Raises:
            UsageError: there is no such figure, or neither high nor low values of it are better.
        """
        from ssdlab.pages.report.leader import leader  # noqa: PLC0415
        from ssdlab.pages.report.runs import Runs  # noqa: PLC0415

        return leader(Runs.saved(self.to_dict()), figure)

    def outcome(self, figure: str = "p99") -> str:
        """The best variant by a figure, as for `best`, in words; empty if no variant has the figure."""
        found = self.best(figure)
        return "" if found is None else found.in_words(shown(self.remarks).mark(found.place.place, found.best.label))

    def to_dict(self) -> dict[str, Any]:
        """A copy as a dictionary, as `compare --json` prints it."""
        runs = {**copy.deepcopy(self._saved), "runs": {label: result.to_dict() for label, result in self._runs.items()}}
        variants = {"variants": copy.deepcopy(self._variants)} if self._variants else {}
        seeds = {} if self._seeds is None else {"seeds": self._seeds.to_dict()}
        paired = {"paired": {"against": next(iter(self._runs)), **self.paired}} if self.paired else {}
        return {**runs, **variants, **seeds, **paired, "remarks": as_dicts(self.remarks)}


def collected(
    finished: Mapping[str, Result],
    labels: Sequence[str],
    seeds: Sequence[int],
    *,
    title: str = "",
    variants: Mapping[str, Any] | None = None,
) -> Comparison:
    """Builds a comparison from the finished runs, by label, of variants with these `labels`."""
    if len(seeds) == 1:
        return Comparison(finished, title=title, variants=variants)
    runs = {label: {seed: finished[name] for seed in seeds if (name := label_of(label, seed, seeds)) in finished} for label in labels}
    # a variant without its first seed would have runs that no entry refers to
    runs = {label: of for label, of in runs.items() if seeds[0] in of}
    first = {label: of[seeds[0]] for label, of in runs.items()}
    return Comparison(first, SeedRuns(tuple(seeds), runs) if runs else None, title=title, variants=variants)
