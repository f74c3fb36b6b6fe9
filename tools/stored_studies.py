"""Results of the studies as tables in `docs/studies`, from which `make docs` writes their pages and draws their figures.

    python tools/stored_studies.py results/studies

stores what `ssdlab study run ... --out results/studies` found: a row for each finding (`PAPER.csv`), the metrics at each point
(`PAPER-points.csv`), and of each study its size, the version and commit that ran it, and a digest of some of its runs (`runs.csv`). Texts
and bounds are those of the study's own file.

`tools/run_studies.py` runs studies and stores them.
"""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

from ssdlab.analysis.remarks import listed
from ssdlab.analysis.uncertainty import Estimate
from ssdlab.experiments.study import figures, library
from ssdlab.experiments.study.api import study_report
from ssdlab.experiments.study.definition import Study
from ssdlab.experiments.study.evaluation import Outcome, RunKey
from ssdlab.experiments.study.page_parts import PARTS
from ssdlab.experiments.study.result import StudyResult, labels_of
from ssdlab.experiments.study.results import collect
from ssdlab.experiments.study.running import prepare
from ssdlab.pages.drawings import STYLE, as_svg
from ssdlab.runs.batch import execute

STORED = Path(__file__).resolve().parent.parent / "docs" / "studies"
ROWS = ("study", "finding", "published", "simulated", "interval", "difference", "unit", "at_least", "at_most")
ROWS += ("reproduced", "grade", "calibrated", "note")
POINTS = ("study", "metric", "scheme", "values", "simulated", "interval")
RUNS = ("study", "runs", "seeds", "requests", "device", "version", "digest")
REMARKS = ("study", "code", "sentence", "remedy")
OTHERS = ("host-gc", "placement-or-preemption", "real", "retry", "wear", "worn-or-new")
"""Studies that repeat no paper's experiments."""
DIGITS = ".10g"
SEPARATOR = ", "
"""Separator of the values of a point; a label has no comma."""

Point = tuple[str, str, tuple[str, ...]]
"""Metric, scheme and values of a point of a figure."""
Table = list[dict[str, str]]


class StoredResult(StudyResult):
    """The stored result of a study: means and intervals, without runs."""

    def __init__(self, study: Study, outcomes: list[Outcome], points: Mapping[Point, Estimate]) -> None:
        super().__init__(study, quick=False, outcomes=outcomes, runs={})
        self.points = points

    def estimate(self, metric: str, scheme: str, labels: tuple[str, ...], relative_to: str | None = None) -> Estimate | None:
        """The stored point of the figure, which is relative if the figure is."""
        assert relative_to in (None, self.study.figure and self.study.figure.relative_to)
        return self.points.get((metric, scheme, labels))


def read(name: str) -> Table:
    """The lines of a stored table; none if there is no such file."""
    path = STORED / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(name: str, heads: Sequence[str], lines: Iterable[Mapping[str, str]]) -> None:
    """Writes a table, if it has any line."""
    ordered = sorted(lines, key=lambda line: line["study"])
    if not ordered:
        return
    with (STORED / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, heads, lineterminator="\n")
        table.writeheader()
        table.writerows(ordered)


def papers() -> list[str]:
    """The papers with stored studies."""
    return sorted({line["study"].split("/")[0] for line in read("runs")})


def text(number: float | None) -> str:
    """A number of a table, or nothing."""
    return "" if number is None else format(number, DIGITS)


def row_line(study: str, row: Mapping[str, Any]) -> dict[str, str]:
    """The line of a row of `study.json`."""
    measured = row.get("measured", {})
    difference = row.get("difference")
    if difference is not None:
        # Of the numbers that are stored.
        difference = float(text(measured["mean"])) - float(text(row["paper"]))
    numbers = (row.get("paper"), measured.get("mean"), measured.get("interval"), difference)
    bounds = (row.get("at_least"), row.get("at_most"))
    cells = (*map(text, numbers), row.get("unit", ""), *map(text, bounds), row.get("reproduced", ""), row["grade"])
    return dict(zip(ROWS, (study, row["what"], *cells, "yes" if "calibrated" in row else "", row.get("note", "")), strict=True))


def probes(study: Study) -> list[RunKey]:
    """Runs that tell whether a study gives the same again: one of each scheme and one at each point, by the first seed."""
    points = [labels_of(combination) for combination in study.combinations()]
    count = max(len(study.schemes), len(points))
    return [(study.schemes[index % len(study.schemes)], points[index % len(points)], study.seeds[0]) for index in range(count)]


def digest(study: Study, of_run: Callable[[RunKey], str]) -> str:
    """A digest of the study's probes, from a function that gives the digest of a run."""
    return hashlib.sha256("".join(map(of_run, probes(study))).encode()).hexdigest()[:16]


def run_line(study: Mapping[str, Any]) -> dict[str, str]:
    """Size, version and digest of a study, from its `study.json`."""
    setup = study["setup"]
    digests = {(run["scheme"], tuple(run["values"]), run["seed"]): run["digest"] for run in study["runs"]}
    sizes = (len(study["runs"]), len(study["seeds"]), setup.get("requests", ""), setup.get("device", ""))
    cells = (study["study"], *sizes, study["version"], digest(library.load(study["study"]), digests.__getitem__))
    return dict(zip(RUNS, map(str, cells), strict=True))


def point_lines(study: Study, found: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """The values of a study's metrics at each of its points, from its `study.json`; relative where its figure shows them so."""
    base_of = study.figure.relative_to if study.figure is not None else None
    values = {(point["scheme"], tuple(point["values"])): point["metrics"] for point in found["points"]}
    for metric in study.metrics:
        for (scheme, labels), metrics in values.items():
            entry = metrics.get(metric)
            if entry is None:
                continue
            estimate = Estimate.of(entry["values"])
            if base_of is not None:
                base = values.get((base_of, labels), {}).get(metric, {}).get("values", [])
                if not base or not all(base):
                    continue
                estimate = Estimate.of([value / other for value, other in zip(entry["values"], base, strict=True)])
            cells = (found["study"], metric, scheme, SEPARATOR.join(labels), text(estimate.mean), text(estimate.half))
            yield dict(zip(POINTS, cells, strict=True))


def store(results: Path, only: str | None = None) -> list[str]:
    """Stores the results of studies in a folder, or of one of them, in place of those stored before; returns the names of the studies."""
    found = {str(study["study"]): study for _, study in collect(results, PARTS) if only in (None, study["study"])}
    for name, study in found.items():
        if study["quick"] or study["skipped"] or study["failed"] or any("reason" in row for row in study["rows"]):
            sys.exit(f"{name}: not all runs of the full study are there")
    remarks = [
        dict(zip(REMARKS, (name, one["code"], f"{listed(one.get('where', ()))}{one['sentence']}", one["remedy"]), strict=True))
        for name, study in found.items()
        for one in study.get("remarks", ())
        if one["severity"] == "warning"
    ]
    kept = {table: [line for line in read(table) if line["study"] not in found] for table in ("runs", "remarks")}
    write("runs", RUNS, [*kept["runs"], *map(run_line, found.values())])
    write("remarks", REMARKS, [*kept["remarks"], *remarks])
    for paper in sorted({name.split("/")[0] for name in found}):
        members = {name: study for name, study in found.items() if name.startswith(f"{paper}/")}
        rows = [row_line(name, row) for name, study in members.items() for row in study["rows"]]
        points = [line for name, study in members.items() for line in point_lines(library.load(name), study)]
        for table, heads, lines in ((paper, ROWS, rows), (f"{paper}-points", POINTS, points)):
            write(table, heads, [*(line for line in read(table) if line["study"] not in found), *lines])
    for name in found:
        redraw(name)
    return sorted(found)


def redraw(name: str) -> None:
    """Draws the picture of a study in `docs/studies` again, if it is there."""
    picture = STORED / f"{name.replace('/', '-')}.svg"
    if picture.exists():
        (result,) = (result for result in stored(name.split("/", maxsplit=1)[0]) if result.study.name == name)
        picture.write_text(figure(result) or "", encoding="utf-8")


def estimate(line: Mapping[str, str]) -> Estimate:
    """The mean and interval of a line."""
    mean = float(line["simulated"])
    return Estimate(mean, float(line["interval"]) if line["interval"] else None, (mean,))


def stored(paper: str) -> Iterator[StoredResult]:
    """The stored studies of a paper. A row that the study's file lacks, or has besides, raises a `KeyError`."""
    rows = {(line["study"], line["finding"]): estimate(line) for line in read(paper)}
    points: dict[str, dict[Point, Estimate]] = {}
    for line in read(f"{paper}-points"):
        labels = tuple(line["values"].split(SEPARATOR)) if line["values"] else ()
        points.setdefault(line["study"], {})[line["metric"], line["scheme"], labels] = estimate(line)
    for name in dict.fromkeys(study for study, _ in rows):
        study = library.load(name)
        outcomes = [Outcome(row, rows.pop((name, row.what))) for row in study.rows]
        yield StoredResult(study, outcomes, points.get(name, {}))
    if rows:
        raise KeyError(f"{paper}: rows of no study: {list(rows)}")


def as_json(result: StoredResult) -> dict[str, Any]:
    """The result as in `study.json`, except that the runs are only counted."""
    name = result.study.name
    (run,) = (line for line in read("runs") if line["study"] == name)
    remarks = [
        {"code": line["code"], "severity": "warning", "about": "", "sentence": line["sentence"], "remedy": line["remedy"]}
        for line in read("remarks")
        if line["study"] == name
    ]
    return result.to_dict() | {"runs": [{}] * int(run["runs"]), "version": run["version"], "remarks": remarks}


def series(study: Study, folder: Path) -> dict[RunKey, Any]:
    """The results of the runs that a figure shows over time, which are run again in a folder."""
    prepared = prepare(study, out=folder)
    jobs = {key: job for key, job in prepared.jobs.items() if job.series}
    with prepared.out as out:
        batch = execute(list(jobs.values()), out=out)
        batch.raise_failure()
        out.commit()
    return {key: batch.finished[job.label] for key, job in jobs.items()}


def figure(result: StoredResult) -> str | None:
    """The figure of a study as SVG, if it has one."""
    drawn = result.study.figure
    if drawn is None:
        return None
    with tempfile.TemporaryDirectory() as folder, mpl.rc_context(STYLE):
        if drawn.over_time:
            result.series = series(result.study, Path(folder))
        return as_svg(figures._drawing(result, drawn))


def restore(into: Path, *, drawn: bool = True) -> None:
    """Writes the stored results into a folder as `ssdlab study run` does, so that `ssdlab study report` makes their pages."""
    for paper in papers():
        for result in stored(paper):
            folder = into / result.study.name
            folder.mkdir(parents=True)
            (folder / "study.json").write_text(json.dumps(as_json(result)), encoding="utf-8")
            picture = figure(result) if drawn else None
            if picture is not None:
                (folder / "figure.svg").write_text(picture, encoding="utf-8")


def write_pages(out: Path, *, drawn: bool = True) -> None:
    """Writes the pages of all stored studies into a folder, and the comparison with published numbers of the papers alone."""
    with tempfile.TemporaryDirectory() as name:
        results = Path(name)
        restore(results, drawn=drawn)
        study_report(results, out)
        for other in OTHERS:
            shutil.rmtree(results / other, ignore_errors=True)
        study_report(results, results / "papers")
        for file in (results / "papers").glob("effects.*"):
            shutil.copy(file, out / file.name)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print("\n".join(store(Path(sys.argv[1]))))
