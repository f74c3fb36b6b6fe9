"""Findings as one HTML page with embedded figures."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable, Mapping, Sequence

from ssdlab.experiments.study import page_parts as parts
from ssdlab.experiments.study.results import Ran

__all__ = ["page"]

CSS = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: #1b1b1b; background: #fff }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; font-size: 14px }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #ddd; text-align: right; vertical-align: top }
th:first-child, td:first-child { text-align: left }
.no { color: #b00020; font-weight: 600 }
figure { margin: 1rem 0 } figure img { max-width: 100% }
nav li { margin: .1rem 0 } .muted { color: #666 }
"""
STRIKING = ("NO", "contradicted")
"""Cells that are set in red."""


def page(studies: Sequence[Ran], effects_png: bytes | None) -> str:
    """The page of some studies; `effects_png` is the figure of published against measured numbers, if there are any."""
    names = [study["study"] for _, study in studies]
    contents = "".join(f'<li><a href="#{html.escape(name)}">{html.escape(name)}</a></li>' for name in names)
    measured = parts.measured_of(studies)
    common = parts.common_deviations(studies)
    body = "".join(_study(ran, measured, common) for ran in studies)
    reading = "".join(f"<li>{_emphasised(item)}</li>" for item in parts.READING)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Studies</title><style>{CSS}</style></head><body>\n'
        f"<h1>Studies</h1><p>{html.escape(parts.summary(studies))}</p><p>The columns of the tables:</p><ul>{reading}</ul>\n"
        f"{_effects(studies, effects_png)}{_not_reproduced(studies)}<nav><ul>{contents}</ul></nav>\n{body}{_common(common)}</body></html>\n"
    )


def _effects(studies: Sequence[Ran], picture: bytes | None) -> str:
    if picture is None:
        return ""
    heads, *rows = parts.agreement_table(studies)
    image = _image("Published against measured", picture)
    introduction, caption = html.escape(parts.EFFECTS_INTRODUCTION), html.escape(parts.EFFECTS_CAPTION)
    table = _table(heads, rows)
    return f'<h2>Published against measured</h2><p>{introduction}</p>{table}{image}<p class="muted">{caption}</p>\n'


def _not_reproduced(studies: Sequence[Ran]) -> str:
    failed = parts.not_reproduced(studies)
    table = _table(parts.NOT_REPRODUCED_HEADS, failed)
    causes = parts.causes(studies)
    return f"<h2>{parts.NOT_REPRODUCED}</h2>" + (f"<p>{causes}</p>" if causes else "") + f"{table}\n" if failed else ""


def _common(common: Mapping[str, str]) -> str:
    """The deviations that several studies share."""
    lines = "".join(f"<li><b>{name}</b>: {html.escape(deviation)}</li>" for deviation, name in common.items())
    return f"<section><h2>{parts.COMMON}</h2><ul>{lines}</ul></section>\n" if lines else ""


def _emphasised(text: str) -> str:
    """Converts text with `**` around bold parts to HTML."""
    return re.sub(r"\*\*(.*?)\*\*", r"<b>\1</b>", html.escape(text))


def _study(ran: Ran, measured: parts.Measured, common: Mapping[str, str]) -> str:
    folder, study = ran
    figure = folder / "figure.png"
    pieces = [
        f'<section id="{html.escape(study["study"])}"><h2>{html.escape(study["study"])}: {html.escape(study["title"])}</h2>',
        f'<p class="muted">{html.escape(study["place"])}. {html.escape(parts.sizes(study))}.</p>',
        f"<p>{html.escape(study['about'])}</p>",
        _table(parts.HEADS, parts.rows(study)) if study["rows"] else "",
        _image(study["title"], figure.read_bytes()) if figure.is_file() else "",
        *(f"<p>{html.escape(paragraph)}</p>" for paragraph in parts.paragraphs(measured, study)),
    ]
    conditions = "".join(f"<li>{html.escape(line)}</li>" for line in parts.warnings(study))
    pieces.append(f"<p>{parts.CONDITIONS}:</p><ul>{conditions}</ul>" if conditions else "")
    lines = "".join(f"<li>{html.escape(line)}</li>" for line in parts.remarks(study, common))
    pieces.append(f"<p>{parts.DEVIATIONS}:</p><ul>{lines}</ul>" if lines else "")
    points = _table(parts.point_heads(study), parts.point_rows(study))
    pieces.append(f"<details><summary>All points</summary>{points}</details></section>\n")
    return "".join(pieces)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in heads)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(cell: str) -> str:
    mark = ' class="no"' if cell in STRIKING else ""
    return f"<td{mark}>{html.escape(cell)}</td>"


def _image(title: str, png: bytes) -> str:
    data = base64.b64encode(png).decode()
    return f'<figure><img alt="{html.escape(title)}" src="data:image/png;base64,{data}"></figure>'
