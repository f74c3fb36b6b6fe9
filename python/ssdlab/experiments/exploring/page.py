"""The page as the server sends it: what does not change, and the data of its controls."""

from __future__ import annotations

import html
import json
from importlib.resources import files
from typing import Any

from ssdlab import _core
from ssdlab.experiments.exploring.choice import PRESETS, Bench
from ssdlab.pages.report import frame
from ssdlab.pages.report.encoding import as_script
from ssdlab.pages.report.words import KEY_UNITS

__all__ = ["document", "script", "style"]

OTHER_PAGES = ("sweep", "controls")
"""Parts of the report's script that this page has others for."""
PARTS = ("link", "stops", "rows", "panel", "results", "page")
"""Parts of the page's own script, in order."""
MATTER = (
    "device.overprovisioning",
    "buffer.bytes",
    "gc.soft",
    "gc.scope",
    "gc.priority",
    "gc.victim",
    "scheduler.order",
    "device.planes_per_die",
    "device.program_ns",
    "slc.dynamic_blocks",
    "workload.time_scale",
    "workload.read_share",
)
"""Keys that matter most: spare room, buffer, when and how GC runs, parallelism and cells, and last the load."""
MOST_RUNS = 24
"""Number of runs that the style sheet has rules for."""


def document(bench: Bench) -> str:
    """The page without results."""
    data = {
        "keys": [{**key, "unit": _unit(key["name"])} for key in json.loads(_core.keys())],
        "presets": {kind: [[name, about] for name, about, _ in _core.presets(kind)] for kind in PRESETS},
        "first": bench.first.to_dict(),
        "matter": MATTER,
        "trace": bench.trace,
    }
    shell = files("ssdlab.experiments.exploring").joinpath("web", "page.html").read_text(encoding="utf-8")
    parts = {"DATA": as_script(data), "BAR": frame.bar([]), "VERSION": html.escape(_core.version())}
    for name, text in parts.items():
        shell = shell.replace(f"<!-- {name} -->", text)
    return shell


def script() -> str:
    """The script of the page: the report's figures, and the page's own controls."""
    report = frame.parts(name for name in frame.SCRIPT if name not in OTHER_PAGES)
    return frame.script([*report, *(_own(f"{name}.js") for name in PARTS)])


def style() -> str:
    """The style sheet of the page: the report's, and that of the controls."""
    return frame.css(MOST_RUNS) + _own("page.css")


def _own(name: str) -> str:
    return files("ssdlab.experiments.exploring").joinpath("web", name).read_text(encoding="utf-8")


def _unit(key: str) -> str:
    """The unit of a key, with which its name ends; `bytes` also for those that are sizes."""
    if key.rpartition(".")[2] == "bytes":
        return "bytes"
    found: dict[str, Any] = dict(KEY_UNITS)
    return next((str(unit) for end, unit in found.items() if key.endswith(end)), "")
