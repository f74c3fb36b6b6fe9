"""The parts of a page of findings, as texts for both HTML and Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ssdlab.analysis.remarks import from_dict
from ssdlab.experiments.study.effects import agreement, agreement_rows, effects_of, grade_counts
from ssdlab.experiments.study.results import Part, Ran
from ssdlab.pages.tables import STUDY_HEADS, significant, study_cells

__all__ = [
    "COMMON",
    "CONDITIONS",
    "DEVIATIONS",
    "EFFECTS_CAPTION",
    "EFFECTS_INTRODUCTION",
    "HEADS",
    "NOT_REPRODUCED",
    "NOT_REPRODUCED_HEADS",
    "PARTS",
    "READING",
    "Measured",
    "agreement_table",
    "causes",
    "common_deviations",
    "measured_of",
    "not_reproduced",
    "paragraphs",
    "point_heads",
    "point_rows",
    "remarks",
    "rows",
    "sizes",
    "summary",
    "warnings",
]

COMMON = "Deviations of several studies"
DEVIATIONS = "Deviations from what was published, and choices where it leaves something open"
HEADS = ("finding", *STUDY_HEADS)
CONDITIONS = "These numbers hold only under conditions"
NO_RUN = "Cause not shown by a run."

READING = (
    "**finding**: what is compared. A change below 0 % is a reduction: of a time, a gain.",
    "**published**: the number that the paper gives, or that was measured of the real drive.",
    "**simulated**: the mean over seeds that was measured here; with several seeds, ± the half width of its 95 % confidence interval.",
    "**difference**: simulated less published.",
    "**expected**: the bound under which the finding holds. Its study sets it, from the paper's words or around the published number.",
    "**reproduced**: yes, if the whole interval is within the bound (with one seed: the number). NO, if the whole interval is outside. "
    "within interval, if the bound lies inside the interval. This says nothing about size; the grade does.",
    "**grade** size: the simulated number has the published sign, and is within a factor of two of the published number. If it is a "
    "reduction, what it leaves has to be within a factor of two as well: -99 % leaves 1 %, and -83 % leaves 17 %, so they differ in "
    "size.",
    "**grade** direction: the sign or the order is right, but not the size. Or there is only a claim in words, and it holds.",
    "**grade** contradicted: the sign or the order is wrong; or 0 % (no effect) is in the interval, and the published size is not. A "
    "number that has no sign, such as a time, is contradicted if it is off by more than a factor of two, and outside what the paper "
    "says in words.",
    "**grade** inconclusive: the interval is too wide to decide.",
    "**grade** ours: the experiment is not the paper's, or the row has neither a published number nor a bound. Published numbers beside "
    "it are of other rows, to compare.",
    "Below a table, **Shown by** names the rows that show what a text says. **Cause not shown by a run**: the cause is a guess, or not "
    "known.",
)
"""Descriptions of the tables' columns, as list items. Markdown with no markup but `**`."""
EFFECTS_INTRODUCTION = (
    "This table says how many published numbers of each paper have each grade. Size: the simulated number has the published sign, and "
    "is within a factor of two. Direction: the sign is right, but not the size; or a number without a sign is within bounds that the "
    "paper states. Contradicted: the sign is wrong; or 0 % (no effect) is in the interval and the published size is not; or there is an "
    "effect where the paper has none; or a number without a sign is off by more than a factor of two. Inconclusive: the interval is too "
    "wide to decide. Not measured: a trace was missing. Two columns are about the numbers that compare two others, such as changes in "
    "percent. Sign right: how many have the published sign in the mean, whatever the interval; a published 0 is right if its grade is "
    "size. Rank correlation: Spearman's correlation of published and simulated; a dash stands for fewer than three numbers, or all "
    "equal. An interval after ± has a confidence of 95 %."
)
EFFECTS_CAPTION = (
    "Each point is one published number against the simulated number. Left: numbers that compare two others (changes in percent, "
    "differences in points, ratios as changes in percent). Right: all other numbers, in their own units. The band is a factor of two. "
    "A hollow point was fitted, not predicted."
)
NOT_REPRODUCED = "Not reproduced"
NOT_REPRODUCED_HEADS = ("finding", "study", "published", "simulated", "expected")

Measured = Mapping[tuple[str, str], str]
"""Measured value of each row of some studies, as text, by study and row."""


def summary(studies: Sequence[Ran]) -> str:
    """A sentence with the numbers of reproduced rows and of rows with each grade."""
    verdicts = [row["reproduced"] for _, study in studies for row in study["rows"] if row.get("reproduced")]
    names = {
        "yes": "reproduced",
        "within interval": "with the bound inside the confidence interval",
        "NO": "not reproduced",
        "not measured": "not measured",
    }
    counts = [f"{verdicts.count(verdict)} {name}" for verdict, name in names.items() if verdict in verdicts]
    grades = grade_counts(studies)
    beside = sum(grades.values()) - len(verdicts)
    those = f" of all {sum(grades.values()):,} rows ({beside:,} {'has' if beside == 1 else 'have'} no bound)" if beside else ""
    text = (
        f"{counted(len(verdicts), 'finding')} in {counted(len(studies), 'study', 'studies')}: {', '.join(counts)}.{_of_calibrated(studies)}"
    )
    return f"{text} Grades{those}: {', '.join(f'{count} {grade}' for grade, count in grades.items())}."


def _of_calibrated(studies: Sequence[Ran]) -> str:
    """A sentence with the numbers of reproduced rows among calibrated and other rows; empty without calibrated rows."""
    verdicts = [("calibrated" in row, row["reproduced"]) for _, study in studies for row in study["rows"] if row.get("reproduced")]
    ends = {is_calibrated: [verdict for calibrated, verdict in verdicts if calibrated == is_calibrated] for is_calibrated in (True, False)}
    if not ends[True]:
        return ""
    own, others = (f"{found.count('yes')} of {len(found)}" for found in ends.values())
    return f' Of the findings with which a parameter was chosen ("calibrated"), {own} are reproduced; of the others {others}.'


def causes(studies: Sequence[Ran]) -> str:
    """A reference to the explanations of findings that were not reproduced; empty if no study has any."""
    return (
        "The causes, where they are known, are below the tables of the studies." if any(study["discussion"] for _, study in studies) else ""
    )


def not_reproduced(studies: Sequence[Ran]) -> list[tuple[str, ...]]:
    """The findings with an interval outside the bound, as rows for `NOT_REPRODUCED_HEADS`."""
    failed = [(study["study"], row) for _, study in studies for row in study["rows"] if row.get("reproduced") == "NO"]
    cells = [(_noted(row), name, *study_cells(row)) for name, row in failed]
    return [(what, name, published, simulated, expected) for what, name, published, simulated, _, expected, *_ in cells]


def agreement_table(studies: Sequence[Ran]) -> list[tuple[str, ...]]:
    """Agreement of published and measured numbers, by paper and overall, with headings; empty without published numbers."""
    effects = effects_of(studies)
    return agreement_rows(agreement(effects)) if effects else []


def sizes(study: Mapping[str, Any]) -> str:
    """Number of requests and seeds of a study, and its device."""
    seeds = len(study["seeds"])
    requests, device = (study["setup"].get(key) for key in ("requests", "device"))
    runs = f"{len(study['runs'])} runs, {seeds} {'seed' if seeds == 1 else 'seeds'}"
    if requests is not None:
        runs += f", {requests:,} requests each"
    if device is not None:
        runs += f", device {device}"
    return runs + (" (quick)" if study["quick"] else "") + f", ssdlab {study['version']}"


def common_deviations(studies: Sequence[Ran]) -> dict[str, str]:
    """Deviations that several studies of a page share, each with a name (`D1`, `D2`, ...), in the order of their first study."""
    counts = Counter(deviation for _, study in studies for deviation in study["deviations"])
    shared = [deviation for deviation, count in counts.items() if count > 1]
    return {deviation: f"D{number}" for number, deviation in enumerate(shared, 1)}


def remarks(study: Mapping[str, Any], common: Mapping[str, str]) -> Iterator[str]:
    """Deviations from the paper, and runs left out or failed; deviations in `common` only by name."""
    names = [common[deviation] for deviation in study["deviations"] if deviation in common]
    if names:
        yield f'{", ".join(names)}: see "{COMMON}".'
    yield from (deviation for deviation in study["deviations"] if deviation not in common)
    for skipped in study["skipped"]:
        yield f"Left out: {', '.join(skipped['values'])}: {skipped['reason']}."
    for label, error in study["failed"].items():
        yield f"Failed: {label}: {error}"


def warnings(study: Mapping[str, Any]) -> list[str]:
    """Conditions under which the numbers of the rows hold, as the command printed them."""
    return [str(remark) for entry in study.get("remarks", ()) if (remark := from_dict(entry)).is_warning]


def counted(count: int, one: str, several: str = "") -> str:
    """A number of things: `1 study`, `2 studies`."""
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"


def measured_of(studies: Sequence[Ran]) -> Measured:
    """Measured values of each row of the studies, as text."""
    return {(study["study"], row["what"]): study_cells(row)[1] for _, study in studies for row in study["rows"]}


def paragraphs(measured: Measured, study: Mapping[str, Any]) -> Iterator[str]:
    """Statements about the results; explanations have the rows that show them, with measured values."""
    for statement in study["discussion"]:
        shown = [(entry["study"], entry["row"]) for entry in statement.get("shown_by", [])]
        named = [f"{name}: {row}" + (f" ({measured[name, row]})" if (name, row) in measured else "") for name, row in shown]
        remark = f" [Shown by {'; '.join(named)}.]" if named else f" [{NO_RUN}]" if "shown_by" in statement else ""
        yield statement["text"] + remark


def rows(study: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """The cells of each row, for `HEADS`."""
    for row in study["rows"]:
        yield (_noted(row) + (" (calibrated)" if "calibrated" in row else ""), *study_cells(row))


def _noted(row: Mapping[str, Any]) -> str:
    """The finding of a row with its notes."""
    return str(row["what"]) + "".join(f" ({row[key]})" for key in ("note", "reason") if key in row)


def point_rows(study: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Values of every metric for every scheme and combination of values."""
    for point in study["points"]:
        cells = (point["metrics"].get(metric) for metric in study["metrics"])
        yield (*point["values"], point["scheme"], *("-" if cell is None else _with_interval(cell) for cell in cells))


def point_heads(study: Mapping[str, Any]) -> tuple[str, ...]:
    """The headings of `point_rows`."""
    return (*(axis["name"] for axis in study["parameters"]), "scheme", *(metric["title"] for metric in study["metrics"].values()))


def _with_interval(cell: Mapping[str, Any]) -> str:
    return significant(cell["mean"]) + (f" ± {significant(cell['interval'])}" if "interval" in cell else "")


PARTS: tuple[Part, ...] = (
    lambda study: list(rows(study)),
    lambda study: list(point_rows(study)),
    lambda study: list(remarks(study, {})),
    point_heads,
    sizes,
    lambda study: list(paragraphs({}, study)),
    lambda study: not_reproduced([(Path(), study)]),
    lambda study: (grade_counts([(Path(), study)]), agreement_table([(Path(), study)])),
)
"""Functions for all parts of a page that depend on one study, to check its result."""
