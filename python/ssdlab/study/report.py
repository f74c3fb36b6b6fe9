"""Results of studies as one page: tables, figures, what deviates from the papers and why."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ssdlab._core import write_file
from ssdlab.errors import FileError, UsageError
from ssdlab.folders import STUDY_FILE, settle
from ssdlab.json_text import read_json
from ssdlab.tables import significant, study_cells

__all__ = ["collect", "write"]

LINES = "What is not as in the paper, or left open there"
HEADS = ("finding", "paper", "measured", "difference", "expected", "reproduced")

KINDS: dict[str, type] = {
    **dict.fromkeys(("study", "title", "place", "about", "version"), str),
    **dict.fromkeys(("deviations", "discussion", "seeds", "parameters", "rows", "points", "skipped", "runs"), list),
    **dict.fromkeys(("setup", "metrics", "failed"), dict),
    "quick": bool,
}
"""What the page needs of a study's result."""

NO_RUN = "Not explained: no run shows the cause."

MEANING = (
    'An interval (±) is of 95 % confidence, over seeds. Reproduced ("yes") means that the bound stated under "expected" holds over the '
    'whole interval, not that the published size is met: that is under "difference".'
)

CSS = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: #1b1b1b; background: #fff }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; font-size: 14px }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #ddd; text-align: right; vertical-align: top }
th:first-child, td:first-child { text-align: left }
.no { color: #b00020; font-weight: 600 }
figure { margin: 1rem 0 } figure img { max-width: 100% }
nav li { margin: .1rem 0 } .muted { color: #666 }
"""


def collect(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    """The results of the studies that were run into `folder`, each with the folder that it lies in."""
    found = []
    try:
        for study_folder in folder.glob("*/*/"):
            settle(study_folder)
        files = sorted(folder.glob(f"*/*/{STUDY_FILE}"))
    except OSError as reason:
        raise FileError(f"{folder}: cannot read: {reason.strerror}", reason.errno, str(folder)) from reason
    for file in files:
        try:
            study = read_json(file)
            _check(study)
        except (UsageError, ValueError) as reason:
            raise UsageError(f"{file}: no result of a study: {str(reason).removeprefix(f'{file}: ')}") from reason
        found.append((file.parent, study))
    if not found:
        raise UsageError(f"{folder}: no results of studies here (`ssdlab study run` makes them)")
    return found


def _check(study: object) -> None:
    """Raises a `ValueError` for what `ssdlab study run` does not write."""
    if not isinstance(study, dict):
        raise ValueError("not a JSON object")
    for key, kind in KINDS.items():
        if not isinstance(study.get(key), kind):
            raise ValueError(f'"{key}" is missing' if key not in study else f'"{key}" is not as `ssdlab study run` writes it')
    for part in (_rows, _point_rows, _lines, _point_heads, _sizes, partial(_paragraphs, {})):
        try:
            list(part(study))
        except (KeyError, TypeError, AttributeError, ValueError) as reason:
            raise ValueError(f"an entry is missing or not as `ssdlab study run` writes it ({reason})") from reason


def write(folder: Path, page: Path) -> int:
    """Writes the page, `.html` with everything in it or `.md` with its figures beside it; returns the number of studies."""
    studies = collect(folder)
    if page.suffix == ".html":
        write_file(page, _html(studies))
    elif page.suffix == ".md":
        _write_figures(studies, page)
        write_file(page, _markdown(studies, page))
    else:
        raise UsageError(f"{page}: a report is written as .html or .md")
    return len(studies)


def summary(studies: Sequence[tuple[Path, Mapping[str, Any]]]) -> str:
    """How many rows were reproduced, and what that means."""
    verdicts = [row["reproduced"] for _, study in studies for row in study["rows"] if row.get("reproduced")]
    counts = {verdict: verdicts.count(verdict) for verdict in ("yes", "within interval", "NO", "not measured")}
    names = {
        "yes": "reproduced",
        "within interval": "with the bound inside the confidence interval",
        "NO": "not reproduced",
        "not measured": "not measured",
    }
    parts = [f"{count} {names[verdict]}" for verdict, count in counts.items() if count]
    return f"{len(verdicts)} findings in {len(studies)} studies: {', '.join(parts)}. {MEANING}"


def _sizes(study: Mapping[str, Any]) -> str:
    """How long and how often it was run."""
    seeds = len(study["seeds"])
    requests = study["setup"].get("requests")
    runs = f"{len(study['runs'])} runs, {seeds} {'seed' if seeds == 1 else 'seeds'}"
    if requests is not None:
        runs += f", {requests:,} requests each"
    return runs + (" (quick)" if study["quick"] else "") + f", ssdlab {study['version']}"


def _lines(study: Mapping[str, Any]) -> Iterator[str]:
    """What deviates from the paper, what was left out and what failed."""
    yield from study["deviations"]
    for skipped in study["skipped"]:
        yield f"Left out: {', '.join(skipped['values'])}: {skipped['reason']}."
    for label, error in study["failed"].items():
        yield f"Failed: {label}: {error}"


Measured = Mapping[tuple[str, str], str]
"""What was measured for each row of the studies on the page, by study and row."""


def _measured(studies: Sequence[tuple[Path, Mapping[str, Any]]]) -> Measured:
    return {(study["study"], row["what"]): study_cells(row)[1] for _, study in studies for row in study["rows"]}


def _paragraphs(measured: Measured, study: Mapping[str, Any]) -> Iterator[str]:
    """The statements about the results, each explanation with the rows that show it and what they measured."""
    for statement in study["discussion"]:
        rows = [(entry["study"], entry["row"]) for entry in statement.get("shown_by", [])]
        named = [f"{name}: {row}" + (f" ({measured[name, row]})" if (name, row) in measured else "") for name, row in rows]
        remark = f" [Shown by {'; '.join(named)}.]" if named else f" [{NO_RUN}]" if "shown_by" in statement else ""
        yield statement["text"] + remark


def _rows(study: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for row in study["rows"]:
        remarks = [row[key] for key in ("note", "reason") if key in row]
        yield (row["what"] + "".join(f" ({remark})" for remark in remarks), *study_cells(row))


def _point_rows(study: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Every metric of every scheme at every combination of values."""
    for point in study["points"]:
        cells = (point["metrics"].get(metric) for metric in study["metrics"])
        yield (*point["values"], point["scheme"], *("-" if cell is None else _with_interval(cell) for cell in cells))


def _point_heads(study: Mapping[str, Any]) -> tuple[str, ...]:
    return (*(axis["name"] for axis in study["parameters"]), "scheme", *(metric["title"] for metric in study["metrics"].values()))


def _with_interval(cell: Mapping[str, Any]) -> str:
    return significant(cell["mean"]) + (f" ± {significant(cell['interval'])}" if "interval" in cell else "")


def _html(studies: Sequence[tuple[Path, Mapping[str, Any]]]) -> str:
    names = [study["study"] for _, study in studies]
    contents = "".join(f'<li><a href="#{html.escape(name)}">{html.escape(name)}</a></li>' for name in names)
    measured = _measured(studies)
    body = "".join(_html_study(folder, study, measured) for folder, study in studies)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Studies</title><style>{CSS}</style></head><body>\n'
        f"<h1>Studies</h1><p>{html.escape(summary(studies))}</p>\n"
        f"<nav><ul>{contents}</ul></nav>\n{body}</body></html>\n"
    )


def _html_study(folder: Path, study: Mapping[str, Any], measured: Measured) -> str:
    parts = [
        f'<section id="{html.escape(study["study"])}"><h2>{html.escape(study["study"])}: {html.escape(study["title"])}</h2>',
        f'<p class="muted">{html.escape(study["place"])}. {html.escape(_sizes(study))}.</p>',
        f"<p>{html.escape(study['about'])}</p>",
        _html_table(HEADS, _rows(study)) if study["rows"] else "",
        _html_figure(folder, study),
        *(f"<p>{html.escape(paragraph)}</p>" for paragraph in _paragraphs(measured, study)),
    ]
    lines = "".join(f"<li>{html.escape(line)}</li>" for line in _lines(study))
    parts.append(f"<p>{LINES}:</p><ul>{lines}</ul>" if lines else "")
    points = _html_table(_point_heads(study), _point_rows(study))
    parts.append(f"<details><summary>All points</summary>{points}</details></section>\n")
    return "".join(parts)


def _html_table(heads: Sequence[str], rows: Iterator[tuple[str, ...]]) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in heads)
    body = "".join("<tr>" + "".join(map(_html_cell, row)) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _html_cell(cell: str) -> str:
    mark = ' class="no"' if cell == "NO" else ""
    return f"<td{mark}>{html.escape(cell)}</td>"


def _html_figure(folder: Path, study: Mapping[str, Any]) -> str:
    figure = folder / "figure.png"
    if not figure.is_file():
        return ""
    data = base64.b64encode(figure.read_bytes()).decode()
    return f'<figure><img alt="{html.escape(study["title"])}" src="data:image/png;base64,{data}"></figure>'


def _figure_name(page: Path, study: Mapping[str, Any]) -> str:
    return f"{page.stem}/{study['study'].replace('/', '-')}.svg"


def _write_figures(studies: Sequence[tuple[Path, Mapping[str, Any]]], page: Path) -> None:
    for folder, study in studies:
        figure = folder / "figure.svg"
        if figure.is_file():
            target = page.parent / _figure_name(page, study)
            target.parent.mkdir(parents=True, exist_ok=True)
            write_file(target, figure.read_text(encoding="utf-8"))


def _markdown(studies: Sequence[tuple[Path, Mapping[str, Any]]], page: Path) -> str:
    parts = [f"# Studies\n\n{summary(studies)}\n"]
    measured = _measured(studies)
    for folder, study in studies:
        parts.append(f"\n## {study['study']}: {study['title']}\n\n{study['place']}. {_sizes(study)}.\n\n{study['about']}\n")
        if study["rows"]:
            parts.append("\n" + _markdown_table(HEADS, _rows(study)))
        if (folder / "figure.svg").is_file():
            parts.append(f"\n![{study['title']}]({_figure_name(page, study)})\n")
        parts += [f"\n{paragraph}\n" for paragraph in _paragraphs(measured, study)]
        lines = "".join(f"- {line}\n" for line in _lines(study))
        parts.append(f"\n{LINES}:\n\n{lines}" if lines else "")
    return "".join(parts)


def _markdown_table(heads: Sequence[str], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" if index == 0 else "--:" for index in range(len(heads))), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
