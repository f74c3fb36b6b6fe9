"""The page `report.html`: a single file that loads nothing else."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ssdlab._core import write_file
from ssdlab.analysis.differences import Change
from ssdlab.analysis.remarks import Remark, Shown, gc_ran
from ssdlab.pages.report import late, page_remarks, streams
from ssdlab.pages.report.about import facts
from ssdlab.pages.report.causes import causes
from ssdlab.pages.report.configuration import Setting, settings
from ssdlab.pages.report.drawing import Bars, Figure, Plot, Ranges
from ssdlab.pages.report.encoding import embedded
from ssdlab.pages.report.figures import FIGURES, GLANCE
from ssdlab.pages.report.frame import bar, contents, framed, scroll, shade, swatch
from ssdlab.pages.report.runs import Run, Runs, command_of
from ssdlab.pages.report.summary import FEWEST, Cell, Group, Row, everything, of_run, overview, shown, summary
from ssdlab.pages.report.verdict import remarks, verdict
from ssdlab.pages.tables import CLASSES
from ssdlab.pages.why import Found

__all__ = ["changing", "page", "write"]

MARKS = (
    '<i class="mark check" role="img" aria-label="A check mark"></i> best or tied, if the difference is significant. '
    '<i class="mark peak" role="img" aria-label="A triangle"></i> at least twice as bad as the first.'
)
FEW, MANY = 4, 8
"""Number of runs up to which tables are narrow, and from which on the overview's table is long."""
DETAILS = ("Response times, all requests", "Requests", "Suspensions", "Bytes written", "Wear", "Slack")
"""Groups of the summary that are folded: few people read them, or the overview has most of their rows."""
FOLDED = ("latency_cdf", "gc", "write_amplification", "free_blocks", "queues", "utilisation", "retries", "wear", "cache", "slack")
"""Figures that are folded."""
MOST_CHANGES = 5
"""Maximum number of changes of a variant that are not folded."""
MEAN = "latency_ns.all.mean"
PAIRED = {"faster": "share", "gain_ns": "ns", "slower": "share", "loss_ns": "ns", "same": "share"}


def write(runs: Runs, path: Path) -> None:
    """Writes the page, completely or not at all."""
    write_file(path, page(runs, late.found(runs, path), late.recording(runs, path)))


def page(runs: Runs, slowest: Found | None = None, recorded: tuple[str, int, int] | None = None) -> str:
    """The text of the page. `slowest`: the slowest requests of a single run, if they were kept; `recorded`: its `late.recording`."""
    drawn = [figure for figure in (make(runs) for make in FIGURES.values()) if figure is not None]
    glance = [figure for figure in (make(runs) for make in GLANCE) if figure is not None]
    labels = [run.label for run in runs]
    told = page_remarks.of(runs)
    body = [
        bar(labels),
        "<main>\n",
        contents(
            _sections(
                drawn,
                several_flows=any("flows" in run.data for run in runs),
                variants=bool(runs.variants) and len(runs) > 1,
                explained=slowest is not None,
            )
        ),
        f"<h1>{html.escape(runs.title)}</h1>\n",
        *_lead(runs, told),
        _overview(runs, told, glance),
        page_remarks.warnings(told),
        _variants(runs, told),
        _summary(runs, told),
        _flows(runs, told),
        streams.section(runs),
        _paired(runs, told),
        _notes(runs, drawn),
        *(_figure(figure, told) for figure in drawn),
        late.section(slowest, runs[0].data["config"], recorded),
        _setup(runs, told),
    ]
    return framed(runs.title, body, embedded([*glance, *drawn], runs), labels)


def changing(runs: Runs) -> dict[str, Any]:
    """The parts of the page that depend on results, for a page whose runs change: HTML by name, and the figures' data as JSON text."""
    drawn = [figure for figure in (make(runs) for make in FIGURES.values()) if figure is not None]
    glance = [figure for figure in (make(runs) for make in GLANCE) if figure is not None]
    told = page_remarks.of(runs)
    return {
        "bar": bar([run.label for run in runs]),
        "outcome": "".join(_outcome(runs, told)),
        "overview": _overview(runs, told, glance),
        "warnings": page_remarks.warnings(told),
        "notes": page_remarks.notes(told),
        "summary": _summary(runs, told),
        "figures": {figure.key: _figure(figure, told) for figure in drawn},
        "data": embedded([*glance, *drawn], runs),
    }


# ---- parts above the figures -----------------------------------------------------------------------------------------


def _lead(runs: Runs, told: Shown) -> Iterable[str]:
    """The outcome, remarks, and a description of the runs."""
    yield from _outcome(runs, told)
    yield f"{_listed(facts(runs), 'about')}\n"


def _outcome(runs: Runs, told: Shown) -> Iterable[str]:
    """The outcome, and remarks on it."""
    letters = page_remarks.superscript(told.of(MEAN))
    yield f'<p class="lead">{html.escape(verdict(runs) if len(runs) > 1 else of_run(runs[0]))}{letters}</p>\n'
    items = "".join(f"<li>{html.escape(text)}</li>" for text in remarks(runs))
    yield f'<ul class="remarks">{items}</ul>\n' if items else ""
    for label, error in runs.failed.items():
        yield f'<p class="warning">{html.escape(label)} failed: {html.escape(error)}</p>\n'


def _listed(pairs: Iterable[tuple[str, str]], kind: str = "") -> str:
    entries = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(value)}</dd>" for name, value in pairs)
    return f'<dl class="{kind}">{entries}</dl>' if kind else f"<dl>{entries}</dl>"


def _overview(runs: Runs, told: Shown, glance: Sequence[Figure]) -> str:
    """The overview: a few figures of each run, with the tail and the parts of the mean beside them."""
    rows = overview(runs)
    heads = "".join(f'<th scope="col">{html.escape(row.name)}</th>' for row in rows)
    lines = "".join(
        f'<tr><th scope="row">{_label(run, told)}</th>'
        f"{''.join(_cell(row, row.cells[run.index], run, told.of(row.place, run.label)) for row in rows)}</tr>"
        for run in runs
    )
    table = f"<table><thead><tr><th></th>{heads}</tr></thead><tbody>{lines}</tbody></table>"
    legend = f'<p class="muted small">{MARKS}</p>' if len(runs) > 1 else ""
    many = (" many" if len(runs) > MANY else "") + (" seeds" if runs.seeds else "")
    # a short table leaves room for a figure below it
    first, *below = [_figure(figure, told) for figure in glance] if glance else [""]
    left, right = ("".join(below), first) if len(runs) <= FEW else ("", "".join([first, *below]))
    return (
        f'<section id="overview" class="overview{many}" aria-label="Overview"><div>{scroll(table, "Overview")}{legend}{left}</div>'
        f"<div>{right}</div></section>\n"
    )


def _variants(runs: Runs, told: Shown) -> str:
    """What each variant changes against the first, and why it takes more or less time; for schemes, their names say the former."""
    if not runs.variants or len(runs) < 2:
        return ""
    first = html.escape(runs[0].label)
    rows = "".join(
        f'<tr><th scope="row">{_label(run, told)}</th><td>{_changed(runs, run)}</td><td>{_why(runs, run, told)}</td></tr>'
        for run in runs.runs[1:]
    )
    heads = f'<th></th><th scope="col">changes against {first}</th><th scope="col">mean response time, and what makes the difference</th>'
    table = f'<table class="texts"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    return f'<section id="variants"><h2>What differs, and why</h2>{scroll(table, "Variants")}</section>\n'


def _changed(runs: Runs, run: Run) -> str:
    """The options and keys that a variant changes, those that follow from a preset folded."""
    found = runs.changes.get(run.label, ())
    named = [change for change in found if change.given] or list(found)
    others = [change for change in found if change not in named]
    shown_, more = named[:MOST_CHANGES], [*named[MOST_CHANGES:], *others]
    if not found:
        return "nothing: the configuration is the same"
    folded = f"<details><summary>{len(more)} more</summary>{_items(more)}</details>" if more else ""
    return f"{_items(shown_)}{folded}"


def _items(found: Sequence[Change]) -> str:
    """Changes, a line for each."""
    return "".join(
        f"<div><code>{html.escape(one.key)}</code> {html.escape(one.after)} "
        f'<span class="muted">instead of {html.escape(one.before)}</span></div>'
        for one in found
    )


def _why(runs: Runs, run: Run, told: Shown) -> str:
    """The mean response time of a variant, and the parts and counters that make it differ from that of the first."""
    row = next(iter(row for row in overview(runs) if row.place == MEAN), None)
    if row is None:
        return ""
    cell = row.cells[run.index]
    reasons = "" if cell.difference.endswith(" tie") else "; ".join(causes(runs[0], run)) if cell.difference else "the same"
    letters = page_remarks.superscript(told.of(MEAN, run.label, runs[0].label))
    number = f'<span class="mean">{html.escape(cell.text)}{letters}</span> <span class="difference">{_tied(cell.difference)}</span>'
    return f"{number}<div>{html.escape(reasons)}</div>"


def _sections(drawn: Sequence[Figure], *, several_flows: bool, variants: bool, explained: bool) -> list[tuple[str, str]]:
    """Places and titles of the sections, in the order of the page."""
    flows = [("flows", "Flows")] if several_flows else []
    differs = [("variants", "What differs, and why")] if variants else []
    slowest = [("late", "The slowest requests")] if explained else []
    figures = ((figure.key, figure.title) for figure in drawn)
    return [("overview", "Overview"), *differs, ("summary", "Summary"), *flows, *figures, *slowest, ("setup", "How it was run")]


def _summary(runs: Runs, told: Shown) -> str:
    groups = summary(runs)
    text = f'<span class="muted small">differences against {html.escape(runs[0].label)}</span>' if len(runs) > 1 else ""
    few = any(cell.few for group in groups for row in group.rows for cell in row.cells)
    grey = f'<p class="muted">Grey percentiles: fewer than {FEWEST} requests took longer, as said beside them.</p>' if few else ""
    shown_, more = ([group for group in groups if (group.title in DETAILS) == folded] for folded in (False, True))
    folded = f"<details><summary>{', '.join(group.title for group in more)}</summary>{_groups(more, runs, told)}</details>" if more else ""
    every = _table(runs, told, (_row(row, runs, told) for row in everything(runs)))
    return (
        f'<section id="summary"><h2>Summary {text}</h2>{grey}{_groups(shown_, runs, told)}{folded}'
        f"<details><summary>Every figure of the results</summary>{every}</details></section>\n"
    )


def _groups(groups: Sequence[Group], runs: Runs, told: Shown) -> str:
    """Groups of the summary: tables side by side for few runs, for many one table that is scrolled."""
    if len(runs) > FEW:
        return _table(runs, told, (f"{_title(group, runs)}{_group(group, runs, told)}" for group in groups))
    if len(runs) == 1:
        tables = (f"<tbody>{_title(group, runs)}{_group(group, runs, told)}</tbody>" for group in groups)
        return f'<div class="columns">{"".join(f"<table>{table}</table>" for table in tables)}</div>'
    tables = (f"<thead>{_heads(runs, told, group.title)}</thead><tbody>{_group(group, runs, told)}</tbody>" for group in groups)
    return f'<div class="columns of{len(runs)}">{"".join(f"<table>{table}</table>" for table in tables)}</div>'


def _title(group: Group, runs: Runs) -> str:
    return f'<tr><th scope="rowgroup" colspan="{len(runs) + 1}">{html.escape(group.title)}</th></tr>'


def _group(group: Group, runs: Runs, told: Shown) -> str:
    """The rows of a group, and the sentences of the remarks on their numbers."""
    across, rows = len(runs) + 1, "".join(_row(row, runs, told) for row in group.rows)
    found = [pair for row in group.rows for run in runs for pair in told.about(row.place, run.label)]
    about = [pair for pair in told.lettered() if pair in found]
    last = f'<tr><td class="sentences" colspan="{across}">{page_remarks.sentences(about)}</td></tr>' if about else ""
    return rows + last


def _label(run: Run, told: Shown) -> str:
    """The label of a run, with the letters of warnings about the whole of its result."""
    return f"{swatch(run.index)}{html.escape(run.label)}{page_remarks.superscript(told.of_whole(run.label))}"


def _table(runs: Runs, told: Shown, rows: Iterable[str]) -> str:
    return scroll(f"<table><thead>{_heads(runs, told)}</thead><tbody>{''.join(rows)}</tbody></table>")


def _heads(runs: Runs, told: Shown, title: str = "") -> str:
    heads = "".join(f'<th scope="col">{_label(run, told)}</th>' for run in runs)
    return f"<tr><th>{html.escape(title)}</th>{heads}</tr>"


def _row(row: Row, runs: Runs, told: Shown) -> str:
    cells = "".join(_cell(row, cell, run, told.about(row.place, run.label)) for run, cell in zip(runs, row.cells, strict=True))
    return f'<tr><th scope="row">{html.escape(row.name)}</th>{cells}</tr>'


def _cell(row: Row, cell: Cell, run: Run, told: Iterable[tuple[str, Remark]]) -> str:
    """A cell with the letters of remarks about its value. The exact value is included for programs that read the page."""
    if cell.value is None:
        return "<td></td>"
    exact = html.escape(json.dumps(cell.value))
    marked = (("best", cell.best and cell.judged), ("worse", cell.worse), ("few", cell.few))
    kinds = [kind for kind, holds in marked if holds]
    marks = f' class="{" ".join(kinds)}"' if kinds else ""
    said = f' title="{html.escape("; ".join(filter(None, (cell.worse, cell.few))))}"' if cell.worse or cell.few else ""
    notes = f' <span class="note">({html.escape(cell.few.partition(" of ")[0])} beyond)</span>' if cell.few else ""
    difference = f' <span class="difference">{_tied(cell.difference)}</span>' if run.index and row.compared else ""
    letters = page_remarks.superscript(told)
    text = f'<span class="whole">{_broken(cell.text)}{letters}</span>' if difference else f"{_broken(cell.text)}{letters}"
    place = html.escape(row.place)
    return f'<td{marks}{said} data-place="{place}" data-value="{exact}">{text}{notes}{difference}</td>'


def _tied(difference: str) -> str:
    """A difference, which may be broken before the mark of a tie."""
    return f'<span class="whole">{difference.removesuffix(" tie")}</span> tie' if difference.endswith(" tie") else difference


def _broken(text: str) -> str:
    """A value, which may be broken before its interval or range if the table is too wide."""
    value, within, half = html.escape(text).partition(" ± ")
    if within:
        return f'<span class="mean">{value}</span> <span class="within">± {half}</span>'
    if not text.startswith("median "):
        return value
    value, _, ends = value.partition(" (")
    return f'<span class="mean">{value}</span> <span class="within">({ends}</span>'


FLOWS = {
    "requests": ("requests", "count"),
    "latency_ns.all.mean": ("mean", "ns"),
    "latency_ns.all.p99": ("p99", "ns"),
    "latency_ns.all.max": ("max", "ns"),
    "latency_ns.read.p99": ("reads p99", "ns"),
    "latency_ns.write.p99": ("writes p99", "ns"),
    "iops": ("requests/s", "per_s"),
    "bandwidth_mb_s.read": ("read", "mb_s"),
    "bandwidth_mb_s.write": ("written", "mb_s"),
    "alone.mean_ns": ("mean alone", "ns"),
    "alone.slowdown": ("slowdown", "ratio"),
}
"""Columns of the table of flows: heading and unit, by path in `flows[]`."""


def _flows(runs: Runs, told: Shown) -> str:
    """The table of flows, if there are several: a row for each flow, and for each run."""
    flows = [(run, Run(flow["name"], run.index, flow)) for run in runs for flow in run.data.get("flows", ())]
    flows.sort(key=lambda pair: [flow["name"] for flow in pair[0].data["flows"]].index(pair[1].label))
    having = {place: head for place, head in FLOWS.items() if any(_of_flow(flow, place) is not None for _, flow in flows)}
    if not flows:
        return ""
    heads = "".join(f'<th scope="col">{head}</th>' for head, _ in having.values())
    rows = (
        f'<tr><th scope="row">{swatch(run.index)}{html.escape(f"{flow.label}, {run.label}" if len(runs) > 1 else flow.label)}</th>'
        + "".join(_flow_cell(_of_flow(flow, place), unit, told.of(place, run.label)) for place, (_, unit) in having.items())
        + "</tr>"
        for run, flow in flows
    )
    fair = ((run, run.data["fairness"]) for run in runs if "fairness" in run.data)
    sentences = page_remarks.sentences(pair for place in having for pair in told.of(place))
    lines = "".join(
        f"<p>{html.escape(f'{run.label}: ' if len(runs) > 1 else '')}Fairness {fairness['ratio']:.3f}, the smallest slowdown over the "
        f"largest, which is that of {html.escape(fairness['worst'])}.</p>"
        for run, fairness in fair
    )
    table = scroll(f"<table><thead><tr><th></th>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>", "Flows")
    return f'<section id="flows"><h2>Flows</h2>{table}{sentences}{lines}</section>\n'


def _flow_cell(value: Any, unit: str, told: Iterable[tuple[str, Remark]]) -> str:
    return "<td></td>" if value is None else f"<td>{shown(value, unit)}{page_remarks.superscript(told)}</td>"


def _of_flow(flow: Run, place: str) -> Any:
    value = flow.at(place)
    return sum(value.values()) if isinstance(value, Mapping) else value


def _paired(runs: Runs, told: Shown) -> str:
    against = runs.paired.get("against")
    if against is None:
        return ""
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("requests", "faster", "by (mean)", "slower", "by (mean)", "unchanged"))
    rows = []
    for label, kinds in runs.paired.items():
        for kind, found in kinds.items() if label != "against" else ():
            cells = [
                shown(found["requests"], "count"),
                *(shown(found.get(key), unit) for key, unit in PAIRED.items()),
            ]
            name = f"{html.escape(label)}, {CLASSES[kind]}{page_remarks.superscript(told.of(MEAN, label, against))}"
            rows.append(f'<tr><th scope="row">{name}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>')
    return (
        f"<section><h2>The same requests, one by one, against {html.escape(against)}</h2>"
        + scroll(f"<table><thead><tr><th></th>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>")
        + page_remarks.sentences(told.of(MEAN))
        + "</section>\n"
    )


# ---- figures ---------------------------------------------------------------------------------------------------------


def _figure(figure: Figure, told: Shown) -> str:
    links = dict.fromkeys(plot.link for plot in figure.plots if isinstance(plot, Plot))
    name = html.escape(figure.title)
    buttons = "".join(
        f'<button type="button" data-zoom="{action}" data-link="{link}" aria-label="{label}: {name}" title="{label}">{sign}</button>'
        for link in links
        for action, label, sign in (("all", "Show all", "Show all"), ("in", "Zoom in", "+"), ("out", "Zoom out", "\N{MINUS SIGN}"))
    )
    parts = "".join(
        f'<li><span class="patch" style="background:{shade(colour)}"></span>{html.escape(text)}</li>' for text, colour in figure.legend
    )
    plots = "".join(_place(figure, index, plot) for index, plot in enumerate(figure.plots))
    many = " one" if len(figure.plots) == 1 else " more" if len(figure.plots) > 2 else ""
    zoom = f'<div class="zoom">{buttons}</div>' if buttons else ""
    text = f'<p class="muted">{html.escape(figure.text)}</p>'
    inner = (
        f"{f'<ul class=key>{parts}</ul>' if parts else ''}{page_remarks.below_figure(told, figure.key)}"
        f'<div class="plots{many}">{plots}</div>'
    )
    if figure.key in FOLDED:
        head = f"<figcaption><div>{text}</div>{zoom}</figcaption>"
        return f'<figure id="{figure.key}"><details><summary><h2>{name}</h2></summary>{head}{inner}</details></figure>\n'
    return f'<figure id="{figure.key}"><figcaption><div><h2>{name}</h2>{text}</div>{zoom}</figcaption>{inner}</figure>\n'


def _place(figure: Figure, index: int, plot: Plot | Bars | Ranges) -> str:
    """The place of a plot, with its description for screen readers and keyboard users."""
    zoomed = isinstance(plot, Plot)
    keys = "arrow keys read values" + (", shift and arrows move, plus and minus zoom, 0 shows all" if zoomed else "")
    label = html.escape(f"{figure.title}, {plot.title}: {keys}")
    title = html.escape(plot.title)
    kinds = (("svg", "SVG"), ("png", "PNG"), ("csv", "CSV"))
    has_parts = isinstance(plot, Bars) and len(plot.parts) > 1
    whole = f'<button type="button" data-whole="{figure.key}-{index}" aria-pressed="false">each to 100 %</button>' if has_parts else ""
    save = "".join(
        f'<button type="button" data-save="{kind}" data-plot="{figure.key}-{index}" '
        f'aria-label="Save as {name}: {html.escape(figure.title)}, {title}">{name}</button>'
        for kind, name in kinds
    )
    saving = (
        f'<details class="save"><summary aria-label="Save: {html.escape(figure.title)}, {title}">Save</summary><div>{save}</div></details>'
    )
    head = f'<div class="head"><h3>{title}</h3><div>{whole}{saving}</div></div>'
    return (
        f'<div>{head}<div class="plot{"" if zoomed else " rows"}" id="{figure.key}-{index}" tabindex="0" role="application" '
        f'aria-roledescription="figure" aria-label="{label}"></div></div>'
    )


def _notes(runs: Runs, drawn: Sequence[Figure]) -> str:
    """Reasons why expected figures are missing."""
    keys = {figure.key for figure in drawn}
    notes = []
    if not any(run.series for run in runs):
        notes.append("These runs recorded no series, which figures over time are drawn from (`--out`, or series=True in Python).")
    elif "gc" not in keys:
        notes.append("No GC job ended." if any(gc_ran(run.data) for run in runs) else "Garbage collection did not run.")
    if "wear" not in keys:
        notes.append("No block was erased.")
    paragraphs = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    help_ = (
        "<details><summary>How to read figures</summary><p>Drag across a figure to zoom in, double-click to see all again; all figures "
        "over time follow. On a phone: touch a figure to read it, two fingers zoom. With the keyboard: Tab to a figure, the left and right "
        "arrow keys to read it, Shift with them to move, plus and minus to zoom, 0 to see all.</p></details>"
    )
    return f"<section>{help_}{paragraphs}<noscript><p>Figures need JavaScript.</p></noscript></section>\n"


# ---- run and reports -------------------------------------------------------------------------------------------------


def _setup(runs: Runs, told: Shown) -> str:
    command = command_of(runs)
    repeat = (
        f'<h3>To repeat it</h3><pre tabindex="0"><code id="command">{html.escape(command)}</code></pre>'
        '<button type="button" id="copy">Copy</button>'
        if command
        else "<h3>To repeat it</h3><p>The command is not known: the run had a policy that is not in a file, or requests of another "
        "program. The configuration below and the seed say what was simulated.</p>"
    )
    notes = page_remarks.notes(told)
    noted = f"<details><summary>Notes on the results</summary>{notes}</details>" if notes else ""
    found = settings(runs)
    chosen = [setting for setting in found if setting.chosen]
    chosen.sort(key=lambda setting: not setting.differs)
    usual = [setting for setting in found if not setting.chosen]
    return (
        f'<section id="setup"><h2>How it was run</h2>{repeat}{noted}'
        f"<details><summary>Version, seed and digests</summary>{_facts(runs)}</details>{_reports(runs)}"
        f"<details><summary>Configuration: {len(chosen)} keys that differ from their defaults</summary>{_settings(runs, chosen)}</details>"
        f"<details><summary>Configuration: {len(usual)} keys at their defaults</summary>{_settings(runs, usual)}</details></section>\n"
    )


def _facts(runs: Runs) -> str:
    """Version, seed and digests, and the files of timelines."""
    found = [("ssdlab", runs[0].data["version"]), ("Seed", str(runs[0].data["seed"]))]
    found += [(f"Digest, {run.label}" if len(runs) > 1 else "Digest", run.data["digest"]) for run in runs]
    found.append(("Simulated", shown(runs[0].data["simulated_ns"], "ns")))
    for run in runs:
        timeline = run.data.get("timeline")
        if timeline:
            reach = f"{shown(timeline['from_ns'], 'ns')} to {shown(timeline['to_ns'], 'ns')}"
            found.append((f"Timeline, {run.label}" if len(runs) > 1 else "Timeline", f"{timeline['file']}, {reach}"))
    return _listed(found)


def _reports(runs: Runs) -> str:
    """Reports on reading the trace, and on preparing and fitting the drive."""
    parts = []
    for place, title in (("workload", "Workload"), ("precondition", "Preparation of the drive"), ("fit", "Fit of the device")):
        rows = [
            row for row in everything(runs) if row.place.startswith(f"{place}.") and any(cell.value not in (None, 0) for cell in row.cells)
        ]
        named = [Row(row.name.removeprefix(f"{place}.").replace("_", " ").replace(".", ", "), row.place, row.cells) for row in rows]
        if rows:
            nothing = page_remarks.NOTHING
            table = _table(runs, nothing, [_row(row, runs, nothing) for row in named])
            parts.append(f"<details><summary>{title}</summary>{table}</details>")
    return "".join(parts)


def _settings(runs: Runs, found: Sequence[Setting]) -> str:
    heads = "".join(f'<th scope="col">{swatch(run.index)}{html.escape(run.label)}</th>' for run in runs)
    rows = "".join(_setting(setting, len(runs)) for setting in found)
    return scroll(
        f'<table class="settings"><thead><tr><th scope="col">key</th>{heads}<th scope="col">default</th><th scope="col">meaning</th></tr>'
        f"</thead><tbody>{rows}</tbody></table>",
        "Configuration",
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
