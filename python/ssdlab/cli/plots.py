"""`ssdlab plot`."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ssdlab.errors import UsageError
from ssdlab.experiments.loading import load
from ssdlab.experiments.sweeping.result import SweepResult
from ssdlab.pages.report.plots import ABOUT, WORDS, Plots

__all__ = ["plot"]


class OfKind(StrEnum):
    """A class of requests that a figure can be limited to."""

    read = "read"
    write = "write"


def plot(
    folder: Annotated[Path, typer.Argument(help="Output folder (--out) of `run`, `compare` or `sweep`.", metavar="DIR")],
    figure: Annotated[
        str | None,
        typer.Argument(
            help="A figure, or a number of a result (p99, or a path such as latency_ns.read.p99_9; default: list them).", metavar="[FIGURE]"
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The file: .pdf, .svg or .png.", metavar="FILE")] = None,
    width: Annotated[str | None, typer.Option(help="Width, such as 3.4in, 86mm, 8.6cm or 245pt.", metavar="LENGTH")] = None,
    height: Annotated[str | None, typer.Option(help="Height (default: depends on the figure).", metavar="LENGTH")] = None,
    font: Annotated[float | None, typer.Option(help="Font size in points (default: 8).", metavar="PT")] = None,
    title: Annotated[
        bool | None, typer.Option("--title/--no-title", help="Write the figure's heading above it, or leave all headings out.")
    ] = None,
    schemes: Annotated[str | None, typer.Option(help="Only these schemes, in this order.", metavar="NAME[,NAME...]")] = None,
    labels: Annotated[
        list[str] | None,
        typer.Option("--label", help="Another name for a scheme or variant (of a sweep, a line); may be repeated.", metavar="NAME=TEXT"),
    ] = None,
    kind: Annotated[OfKind | None, typer.Option(help="Only parts about reads, or about writes.")] = None,
    panels: Annotated[
        str | None, typer.Option(help="Only these parts of the figure, or panels of a sweep, by number.", metavar="N[,N...]")
    ] = None,
    shares: Annotated[bool, typer.Option("--shares", help="Each bar of a figure with parts (breakdown) to 100 %.")] = False,
    over: Annotated[str | None, typer.Option(help="For a sweep: the x axis (default: that of most numbers).", metavar="AXIS")] = None,
    by: Annotated[
        str | None, typer.Option(help="For a sweep: the axis with a line for each value (default: scheme).", metavar="AXIS")
    ] = None,
    panels_by: Annotated[
        str | None, typer.Option(help="For a sweep: the axes with a panel for each value (default: all others).", metavar="AXIS[,AXIS...]")
    ] = None,
    mean_over: Annotated[
        str | None,
        typer.Option(help="For a sweep: the axes over which means are, such as skip (default: seed).", metavar="AXIS[,AXIS...]"),
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option(help="For a sweep: only points with this value; may be repeated.", metavar="AXIS=VALUE")
    ] = None,
) -> None:
    """The command `ssdlab plot`."""
    results = load(folder)
    size: dict[str, Any] = {"width": width, "height": height, "font": font, "title": title}
    named: dict[str, Any] = {"labels": _labels(labels)} if labels else {}
    of_runs = {"schemes": schemes, "kind": kind, "shares": shares or None}
    of_sweeps = {"over": over, "by": by, "panels-by": panels_by, "mean-over": mean_over, "where": where or None}
    is_sweep = isinstance(results, SweepResult)
    _refuse(of_runs if is_sweep else of_sweeps, f"{folder} has {'a sweep' if is_sweep else 'no sweep'}")
    if figure is None:
        _refuse({**size, **of_runs, **of_sweeps, "label": labels, "panels": panels, "out": out}, "name a FIGURE as well")
        lines = _columns(results) if isinstance(results, SweepResult) else _listed(results.plot)
        typer.echo("\n".join(lines))
        return
    if isinstance(results, SweepResult):
        facets = panels_by.split(",") if panels_by is not None else []
        means = mean_over.split(",") if mean_over is not None else []
        chosen: dict[str, Any] = {"panels_by": facets, "panels": _numbers(panels), "mean_over": means}
        picture = results.plot(figure, over, by=by, where=_where(results, where or []), **chosen, **named, **size)
    else:
        chosen = {"schemes": schemes.split(",") if schemes else None, "kind": kind and kind.value}
        chosen["panels"] = _numbers(panels)
        chosen["shares"] = shares
        picture = results.plot.picture(figure, **named, **size, **chosen)
    if out is None:
        raise UsageError(f"{figure}: -o FILE is missing, such as -o {figure}.pdf")
    picture.save(out)
    across, up = picture.sheet.get_size_inches()
    typer.echo(f"{out}: {picture.title}, {across:.2f} x {up:.2f} in")


def _refuse(options: dict[str, Any], reason: str) -> None:
    given = [f"--{name}" for name, value in options.items() if value is not None]
    if given:
        raise UsageError(f"{', '.join(given)}: {reason}")


def _listed(plots: Plots) -> list[str]:
    lines = []
    for name in plots.available():
        words = [word for word, whole in WORDS.items() if whole == name]
        lines.append(name + (f" (or {', '.join(words)})" if words else ""))
        parts = plots.panels(name)
        told = [ABOUT[name], *(f"{number} {part}" for number, part in enumerate(parts, 1) if len(parts) > 1)]
        for text in told:
            lines += textwrap.wrap(text, 80, initial_indent="    ", subsequent_indent="      ")
    return lines


def _columns(sweep: SweepResult) -> list[str]:
    axes = [f"{name}: {', '.join(map(str, values))}" for name, values in sweep.axes.items()]
    return ["Axes (--over, --by, --panels-by, --mean-over, --where):", *axes, "Columns:", *sweep.numbers()]


def _numbers(text: str | None) -> Sequence[int] | None:
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as reason:
        raise UsageError(f'--panels "{text}": expected numbers from 1 on, such as 1,3') from reason


def _labels(pairs: Sequence[str]) -> dict[str, str]:
    """Converts `NAME=TEXT` words to labels by name."""
    labels = {}
    for pair in pairs:
        name, equals, label = pair.rpartition("=")
        if not equals or not name or not label:
            raise UsageError(f'--label "{pair}": expected NAME=TEXT, such as fpgc=preemptive')
        labels[name] = label
    return labels


def _where(sweep: SweepResult, pairs: Sequence[str]) -> dict[str, Any]:
    """Converts `AXIS=VALUE` words to values of the axes: the text 0.1 becomes a number on an axis of numbers."""
    chosen = {}
    for pair in pairs:
        axis, equals, text = pair.partition("=")
        if not equals:
            raise UsageError(f'--where "{pair}": expected AXIS=VALUE, such as seed=1')
        known = {str(value): value for value in sweep.axes.get(axis, [])}
        if axis in sweep.axes and text not in known:
            raise UsageError(f'--where "{pair}": {axis} has {", ".join(known)}')
        chosen[axis] = known.get(text, text)
    return chosen
