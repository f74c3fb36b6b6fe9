"""The commands: what each is for, as help says it, and the function that does it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["PARTS", "Part"]


class Part(NamedTuple):
    """A command, or a group of commands."""

    about: str
    code: str = ""
    """`module:function`, imported when the command is called."""
    below: Mapping[str, Part] = MappingProxyType({})
    """Of a group: its commands."""
    runs_program: bool = False
    """Whether what follows its first word belongs to that, with `--` in front or without."""


TRACE = {
    "info": Part("Count what is in traces, and list lines that cannot be read (exit code 1 if there are any).", "ssdlab.cli.traces:info"),
    "convert": Part("Convert a trace to the format that OUT ends with.", "ssdlab.cli.traces:convert"),
    "sample": Part(
        "Write a part of a trace, in the format that OUT ends with: of so many requests or seconds, from some request on.",
        "ssdlab.cli.traces:sample",
    ),
    "record": Part(
        "Run a command and record the requests that it makes a device carry out (Linux, as root).",
        "ssdlab.cli.traces:record",
        runs_program=True,
    ),
}
STUDY = {
    "list": Part("List the studies that come with ssdlab.", "ssdlab.cli.studies:list_"),
    "show": Part("Print a study's file: what is run, how, and what it is compared with.", "ssdlab.cli.studies:show"),
    "run": Part("Run studies, and compare what was measured with what was published.", "ssdlab.cli.studies:run"),
    "report": Part("Collect the results of studies into one page.", "ssdlab.cli.studies:report"),
}
PARTS: Mapping[str, Part] = MappingProxyType(
    {
        "run": Part("Simulate one workload on one device under one scheme.", "ssdlab.cli.runs:run"),
        "compare": Part("Simulate one workload on one device under several schemes, side by side.", "ssdlab.cli.runs:compare"),
        "sweep": Part("Simulate every point of a grid of schemes, keys, workloads and seeds.", "ssdlab.cli.sweeps:sweep"),
        "report": Part("Make the page about a run, a comparison or a sweep again, from its saved results.", "ssdlab.cli.runs:report"),
        "plot": Part("Draw a figure of saved results for a paper, without running again.", "ssdlab.cli.plots:plot"),
        "precondition": Part(
            "Prepare a device as ftl.precondition says and save its state, to begin runs with (run --state).",
            "ssdlab.cli.runs:precondition",
        ),
        "queueing": Part(
            "One flash die as a queue: what collections do to waits, by formula and by simulation (bux2011).",
            "ssdlab.cli.queueing:queueing",
        ),
        "list": Part("List presets, or the policies that configuration keys choose between.", "ssdlab.cli.presets:list_"),
        "show": Part("Print a preset as it is written, with its sources.", "ssdlab.cli.presets:show"),
        "schema": Part("Print the JSON Schema of the configuration.", "ssdlab.cli.presets:schema"),
        "trace": Part("Look at traces, convert and record them.", below=TRACE),
        "study": Part("Published experiments, run again and compared with what was published.", below=STUDY),
    }
)
