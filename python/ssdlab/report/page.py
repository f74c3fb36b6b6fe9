"""The page `report.html`: one file with everything in it, which asks for nothing from elsewhere."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

from ssdlab._core import write_file
from ssdlab.colours import COLOURS
from ssdlab.errors import Error, UsageError
from ssdlab.report.configuration import Setting, settings
from ssdlab.report.drawing import Bars, Figure, Plot, Ranges
from ssdlab.report.encoding import embedded
from ssdlab.report.figures import FIGURES
from ssdlab.report.runs import Run, Runs, command_of, load
from ssdlab.report.summary import Cell, Row, everything, of_run, shown, summary, verdict
from ssdlab.tables import CLASSES

__all__ = ["page", "write", "write_again"]

NOTHING = "Nothing may be loaded from anywhere: what the page needs is in it."
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
BLACK = "#000000"
LIGHT = {
    "ground": "#ffffff",
    "panel": "#f6f7f9",
    "ink": "#1a1d21",
    "soft": "#5c6470",
    "edge": "#d7dbe0",
    "focus": "#0b63ce",
    "good": "#0b7a4b",
    "warn": "#b25e00",
    "dark": "0",
    "black": "#000000",
}
DARK = {
    "ground": "#14171b",
    "panel": "#1e2228",
    "ink": "#e8eaed",
    "soft": "#a3abb6",
    "edge": "#363c45",
    "focus": "#6cb0ff",
    "good": "#4fc58e",
    "warn": "#e8a04c",
    "dark": "1",
    "black": "#ffffff",
}
PAIRED = {"faster": "share", "gain_ns": "ns", "slower": "share", "loss_ns": "ns", "same": "share"}


def write(runs: Runs, path: Path) -> None:
    """Writes the page, whole or not at all."""
    write_file(path, page(runs))


def write_again(folder: Path, path: Path) -> Runs:
    """Writes the page about the results in a folder, and returns these.

    Raises:
        UsageError: there are none, or they are damaged or those of another version.
        FileError: a file cannot be read or written.
    """
    try:
        runs = load(folder)
        text = page(runs)
    except Error:
        raise
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError) as reason:
        found = f"{type(reason).__name__}: {reason}"
        raise UsageError(f"{folder}: the results here are damaged or those of another version, run it again ({found})") from reason
    write_file(path, text)
    return runs


def page(runs: Runs) -> str:
    """The page as text."""
    drawn = [figure for figure in (make(runs) for make in FIGURES.values()) if figure is not None]
    title = html.escape(runs.title)
    return "".join(
        [
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n<!-- {NOTHING} -->\n',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f'<link rel="icon" href="data:,">\n<title>{title}</title>\n<style>\n{_css(len(runs))}</style></head>\n<body>\n',
            _bar(runs),
            f"<main>\n<h1>{title}</h1>\n",
            *_lead(runs),
            _contents(drawn),
            _summary(runs),
            _paired(runs),
            _notes(runs, drawn),
            *(_figure(figure) for figure in drawn),
            _setup(runs),
            f'<footer class="muted">Made by ssdlab {html.escape(runs[0].data["version"])}.</footer>\n</main>\n',
            '<svg id="namespace" hidden></svg>\n',
            f'<script type="application/json" id="data">{embedded(drawn, runs)}</script>\n',
            f"<script>\n{_resource('page.js')}</script>\n</body></html>\n",
        ]
    )


def _resource(name: str) -> str:
    return files("ssdlab.report").joinpath(name).read_text(encoding="utf-8")


def _css(runs: int) -> str:
    themes = {"LIGHT": LIGHT, "DARK": DARK}
    css = _resource("page.css")
    for name, theme in themes.items():
        scheme = f"color-scheme: {name.lower()}; "
        css = re.sub(rf"\b{name}\b", scheme + "; ".join(f"--{key}: {value}" for key, value in theme.items()), css)
    colours = "; ".join(f"--run-{index}: {'var(--black)' if colour == BLACK else colour}" for index, colour in enumerate(COLOURS))
    # While a scheme's button is pointed at, the others step back.
    stressed = "".join(f'body[data-stressed="{run}"] .plot [data-run]:not([data-run="{run}"]) {{ opacity: .12 }}\n' for run in range(runs))
    return f":root {{ {colours} }}\n{css}{stressed}"


# ---- what is above the figures ---------------------------------------------------------------------------------------


def _bar(runs: Runs) -> str:
    buttons = "".join(
        f'<button type="button" data-run="{run.index}" aria-pressed="true">{_swatch(run)}{html.escape(run.label)}</button>' for run in runs
    )
    hint = "Show or hide in all figures" if len(runs) > 1 else "Scheme"
    return (
        f'<div class="bar"><div><div class="runs" role="group" aria-label="{hint}">{buttons if len(runs) > 1 else _swatch(runs[0])}'
        f"{'' if len(runs) > 1 else html.escape(runs[0].label)}</div>"
        '<button type="button" id="theme">Light or dark</button></div></div>\n'
    )


def _swatch(run: Run) -> str:
    return f'<span class="swatch" style="background:var(--run-{run.index % len(COLOURS)})"></span>'


def _lead(runs: Runs) -> Iterable[str]:
    yield f'<p class="lead">{html.escape(verdict(runs) if len(runs) > 1 else of_run(runs[0]))}</p>\n'
    for label, error in runs.failed.items():
        yield f'<p class="warning">{html.escape(label)} failed: {html.escape(error)}</p>\n'
    for name, count in _trace_remarks(runs):
        yield f'<p class="warning">Trace: {count:,} {name}.</p>\n'


def _trace_remarks(runs: Runs) -> list[tuple[str, int]]:
    from ssdlab.tables import TRACE_REMARKS  # noqa: PLC0415

    trace = runs[0].at("workload.trace") or {}
    return [(name, trace[key]) for key, name in TRACE_REMARKS.items() if trace.get(key)]


def _contents(drawn: Sequence[Figure]) -> str:
    links = [("summary", "Summary"), *((figure.key, figure.title) for figure in drawn), ("setup", "How it was run")]
    items = "".join(f'<a href="#{key}">{html.escape(title)}</a>' for key, title in links)
    return f'<nav aria-label="Contents">{items}</nav>\n'


def _summary(runs: Runs) -> str:
    groups = summary(runs)
    text = (
        f"Differences are against {html.escape(runs[0].label)}. ✓ marks the best of a row, where there is a better and a worse; values "
        "within 0.1 % of each other, the error of percentiles, are as good as each other."
        if len(runs) > 1
        else ""
    )
    rows = [row for group in groups for row in (_heading(group.title, len(runs)), *map(_row, group.rows))]
    # Of one run, groups stand side by side.
    alone = (f"<table><tbody>{_heading(group.title, 1)}{''.join(map(_row, group.rows))}</tbody></table>" for group in groups)
    table = _table(runs, rows) if len(runs) > 1 else f'<div class="columns">{"".join(alone)}</div>'
    return (
        f'<section id="summary"><h2>Summary</h2><p class="muted">{text}</p>{table}'
        f"<details><summary>Every figure of the results</summary>{_table(runs, map(_row, everything(runs)))}</details></section>\n"
    )


def _heading(title: str, runs: int) -> str:
    return f'<tr><th scope="rowgroup" colspan="{runs + 1}">{html.escape(title)}</th></tr>'


def _table(runs: Runs, rows: Iterable[str]) -> str:
    heads = "".join(f'<th scope="col">{_swatch(run)}{html.escape(run.label)}</th>' for run in runs)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead><tr><th></th>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _row(row: Row) -> str:
    cells = "".join(_cell(row, cell, column) for column, cell in enumerate(row.cells))
    return f'<tr><th scope="row">{html.escape(row.name)}</th>{cells}</tr>'


def _cell(row: Row, cell: Cell, column: int) -> str:
    """The exact value goes along, for whoever reads the page with a program."""
    if cell.value is None:
        return "<td></td>"
    exact = html.escape(json.dumps(cell.value))
    best = ' class="best"' if cell.best else ""
    difference = f' <span class="difference">{cell.difference}</span>' if column and row.compared else ""
    return f'<td{best} data-place="{html.escape(row.place)}" data-value="{exact}">{html.escape(cell.text)}{difference}</td>'


def _paired(runs: Runs) -> str:
    against = runs.paired.get("against")
    if against is None:
        return ""
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("requests", "faster", "by (mean)", "slower", "by (mean)", "unchanged"))
    rows = []
    for scheme, kinds in runs.paired.items():
        for kind, found in kinds.items() if scheme != "against" else ():
            cells = [
                shown(found["requests"], "count"),
                *(shown(found.get(key), unit) for key, unit in PAIRED.items()),
            ]
            name = f"{html.escape(scheme)}, {CLASSES[kind]}"
            rows.append(f'<tr><th scope="row">{name}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>')
    return (
        f"<section><h2>The same requests, one by one, against {html.escape(against)}</h2>"
        f'<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead><tr><th></th>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div></section>\n"
    )


# ---- figures ---------------------------------------------------------------------------------------------------------


def _figure(figure: Figure) -> str:
    links = dict.fromkeys(plot.link for plot in figure.plots if isinstance(plot, Plot))
    name = html.escape(figure.title)
    buttons = "".join(
        f'<button type="button" data-zoom="{action}" data-link="{link}" aria-label="{label}: {name}">{label}</button>'
        for link in links
        for action, label in (("in", "Zoom in"), ("out", "Zoom out"), ("all", "Show all"))
    )
    key = "".join(f'<li><span class="swatch" style="background:{colour}"></span>{html.escape(text)}</li>' for text, colour in figure.legend)
    plots = "".join(_place(figure, index, plot) for index, plot in enumerate(figure.plots))
    return (
        f'<figure id="{figure.key}"><figcaption><div><h2>{name}</h2><p class="muted">{html.escape(figure.text)}</p></div>'
        f'<div class="zoom">{buttons}</div></figcaption>{f"<ul class=key>{key}</ul>" if key else ""}'
        f'<div class="plots{" one" if len(figure.plots) == 1 else ""}">{plots}</div></figure>\n'
    )


def _place(figure: Figure, index: int, plot: Plot | Bars | Ranges) -> str:
    """Where a plot is drawn; what screen readers and those who use the keyboard are told about it."""
    zoomed = isinstance(plot, Plot)
    keys = "arrow keys read values" + (", shift and arrows move, plus and minus zoom, 0 shows all" if zoomed else "")
    label = html.escape(f"{figure.title}, {plot.title}: {keys}")
    head = f"<h3>{html.escape(plot.title)}</h3>"
    return (
        f'<div>{head}<div class="plot{"" if zoomed else " rows"}" id="{figure.key}-{index}" tabindex="0" role="application" '
        f'aria-roledescription="figure" aria-label="{label}"></div></div>'
    )


def _notes(runs: Runs, drawn: Sequence[Figure]) -> str:
    """Why figures are not there that one might look for."""
    keys = {figure.key for figure in drawn}
    notes = []
    if not any(run.series for run in runs):
        notes.append("These runs recorded no series, which figures over time are drawn from (`--out`, or series=True in Python).")
    elif "gc" not in keys:
        notes.append("Garbage collection did not run.")
    if "wear" not in keys:
        notes.append("No block was erased.")
    paragraphs = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    help_ = (
        "<p>Drag across a figure to zoom in, double-click to see all again; all figures over time follow. On a phone: touch a figure to "
        "read it, two fingers zoom. With the keyboard: Tab to a "
        "figure, ← and → to read it, Shift with them to move, plus and minus to zoom, 0 to see all.</p>"
    )
    return f"<section><h2>Figures</h2>{help_}{paragraphs}<noscript><p>Figures need JavaScript.</p></noscript></section>\n"


# ---- how it was run --------------------------------------------------------------------------------------------------


def _setup(runs: Runs) -> str:
    command = command_of(runs)
    repeat = (
        f'<h3>To repeat it</h3><pre tabindex="0"><code id="command">{html.escape(command)}</code></pre>'
        '<button type="button" id="copy">Copy</button>'
        if command
        else "<h3>To repeat it</h3><p>The command is not known: the run had a policy written in Python, or requests of another "
        "program. The configuration below and the seed say what was simulated.</p>"
    )
    found = settings(runs)
    chosen = [setting for setting in found if setting.chosen]
    chosen.sort(key=lambda setting: not setting.differs)
    usual = [setting for setting in found if not setting.chosen]
    return (
        f'<section id="setup"><h2>How it was run</h2>{repeat}{_facts(runs)}{_reports(runs)}'
        f"<details><summary>Configuration: {len(chosen)} keys that differ from their defaults</summary>{_settings(runs, chosen)}</details>"
        f"<details><summary>Configuration: {len(usual)} keys at their defaults</summary>{_settings(runs, usual)}</details></section>\n"
    )


def _facts(runs: Runs) -> str:
    """Version, seed and digests; where timelines are."""
    facts = [("ssdlab", runs[0].data["version"]), ("Seed", str(runs[0].data["seed"]))]
    facts += [(f"Digest, {run.label}" if len(runs) > 1 else "Digest", run.data["digest"]) for run in runs]
    facts.append(("Simulated", shown(runs[0].data["simulated_ns"], "ns")))
    for run in runs:
        timeline = run.data.get("timeline")
        if timeline:
            reach = f"{shown(timeline['from_ns'], 'ns')} to {shown(timeline['to_ns'], 'ns')}"
            facts.append((f"Timeline, {run.label}" if len(runs) > 1 else "Timeline", f"{timeline['file']}, {reach}"))
    return f"<dl>{''.join(f'<dt>{html.escape(name)}</dt><dd>{html.escape(value)}</dd>' for name, value in facts)}</dl>"


def _reports(runs: Runs) -> str:
    """What was read from the trace, how the drive was prepared and fitted."""
    parts = []
    for place, title in (("workload", "Workload"), ("precondition", "Preparation of the drive"), ("fit", "Fit of the device")):
        rows = [
            row for row in everything(runs) if row.place.startswith(f"{place}.") and any(cell.value not in (None, 0) for cell in row.cells)
        ]
        named = [Row(row.name.removeprefix(f"{place}.").replace("_", " ").replace(".", ", "), row.place, row.cells) for row in rows]
        if rows:
            parts.append(f"<details><summary>{title}</summary>{_table(runs, [_row(row) for row in named])}</details>")
    return "".join(parts)


def _settings(runs: Runs, found: Sequence[Setting]) -> str:
    heads = "".join(f'<th scope="col">{_swatch(run)}{html.escape(run.label)}</th>' for run in runs)
    rows = "".join(_setting(setting, len(runs)) for setting in found)
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Configuration"><table class="settings">'
        f'<thead><tr><th scope="col">key</th>{heads}<th scope="col">default</th><th scope="col">meaning</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _setting(setting: Setting, runs: int) -> str:
    values = (
        "".join(f"<td>{html.escape(value)}</td>" for value in setting.values)
        if setting.differs
        else f'<td colspan="{runs}">{html.escape(setting.values[0])}</td>'
    )
    differs = ' class="differs"' if setting.differs else ""
    meaning = html.escape(setting.meaning.replace("`", ""))
    return (
        f'<tr{differs}><th scope="row"><code>{html.escape(setting.key)}</code></th>{values}'
        f'<td class="muted">{html.escape(setting.default)}</td><td class="muted">{meaning}</td></tr>'
    )
