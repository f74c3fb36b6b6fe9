"""Common parts of all pages: a head that forbids loading resources, colours, and the script."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files

from ssdlab._core import version
from ssdlab.pages.colours import COLOURS, DARK_COLOURS
from ssdlab.pages.report.drawing import DARK_SHADES

__all__ = ["DASHES", "bar", "contents", "css", "framed", "parts", "script", "scroll", "shade", "swatch"]

NOTHING = "Nothing may be loaded from anywhere: what the page needs is in it."
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
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
}
SCRIPT = ("state", "numbers", "axes", "elements", "plot", "heat", "rows", "late", "save", "print", "sweep", "controls")
"""Parts of the script, in order."""
DASHES = ("none", "9 4", "2.5 3.5", "9 3 2.5 3")
"""Dash patterns of lines. Coinciding lines show through the gaps; when colours repeat, the next pattern is used."""


def framed(title: str, body: Iterable[str], data: str, labels: Sequence[str]) -> str:
    """A complete page: title, body, data for its script, and labels of the runs."""
    title = html.escape(title)
    return "".join(
        [
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n<!-- {NOTHING} -->\n',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f'<link rel="icon" href="data:,">\n<title>{title}</title>\n<style>\n{css(len(labels))}</style></head>\n<body>\n',
            *body,
            f'<footer class="muted">Made by ssdlab {html.escape(version())}.</footer>\n</main>\n',
            '<svg id="namespace" hidden></svg>\n',
            f'<script type="application/json" id="data">{data}</script>\n',
            f"<script>\n{script(parts(SCRIPT))}</script>\n</body></html>\n",
        ]
    )


def swatch(run: int) -> str:
    """The line of a run, as figures draw it."""
    dash = DASHES[(run + run // len(COLOURS)) % len(DASHES)]
    colour = f"var(--run-{run % len(COLOURS)})"
    line = f'<line x1="1" x2="25" y1="5" y2="5" style="stroke:{colour}" stroke-dasharray="{dash}"/>'
    return f'<svg class="swatch" viewBox="0 0 26 10" aria-hidden="true">{line}</svg>'


def shade(colour: str) -> str:
    """The CSS of a part's or a state's colour, which is lighter on dark backgrounds."""
    return f"var(--shade-{colour[1:]})"


def bar(labels: Sequence[str]) -> str:
    """The bar at the top: buttons for the runs, and for light and dark."""
    buttons = "".join(
        f'<button type="button" data-run="{run}" aria-pressed="true" title="{html.escape(label)}">{swatch(run)}'
        f"<span>{html.escape(label)}</span></button>"
        for run, label in enumerate(labels)
    )
    alone = f"{swatch(0)}{html.escape(labels[0])}" if labels else ""
    hint = "Show or hide in all figures" if len(labels) > 1 else "Run"
    return (
        f'<div class="bar"><div><div class="runs" role="group" aria-label="{hint}">{buttons if len(labels) > 1 else alone}</div>'
        '<button type="button" id="theme">Light or dark</button></div></div>\n'
    )


def contents(sections: Iterable[tuple[str, str]]) -> str:
    """The list of sections, by place and title: beside the page, or folded above it where there is no room."""
    items = "".join(f'<a href="#{key}">{html.escape(title)}</a>' for key, title in sections)
    return f'<nav aria-label="Sections"><details open><summary>Sections</summary>{items}</details></nav>\n'


def scroll(table: str, label: str = "Table") -> str:
    """A table whose headings stay in place while it is scrolled."""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{html.escape(label)}">{table}</div>'


def _resource(name: str) -> str:
    return files("ssdlab.pages.report").joinpath("web", name).read_text(encoding="utf-8")


def parts(names: Iterable[str]) -> Iterator[str]:
    """Parts of the script by name."""
    return (_resource(f"{name}.js") for name in names)


def script(texts: Iterable[str]) -> str:
    """A script from its parts, which share a scope of their own."""
    return '(() => {\n"use strict";\n' + "".join(texts) + "})();\n"


def css(runs: int) -> str:
    """The style sheet of a page with this many runs."""
    light = LIGHT | {f"run-{index}": colour for index, colour in enumerate(COLOURS)} | {f"shade-{key[1:]}": key for key in DARK_SHADES}
    dark = DARK | {f"run-{index}": colour for index, colour in enumerate(DARK_COLOURS)}
    themes = {"LIGHT": light, "DARK": dark | {f"shade-{key[1:]}": colour for key, colour in DARK_SHADES.items()}}
    text = _resource("page.css")
    for name, theme in themes.items():
        scheme = f"color-scheme: {name.lower()}; "
        text = re.sub(rf"\b{name}\b", scheme + "; ".join(f"--{key}: {value}" for key, value in theme.items()), text)
    # while the pointer is on a run's button, the other runs fade
    stressed = "".join(f'body[data-stressed="{run}"] .plot [data-run]:not([data-run="{run}"]) {{ opacity: .12 }}\n' for run in range(runs))
    return f"{text}{stressed}"
