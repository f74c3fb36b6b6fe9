"""The commands, each with the sentence shown by help and its function."""

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
    """The commands of a group, by name."""
    runs_program: bool = False
    """Whether the words after the first one belong to a program to run, with or without `--` before it."""


TRACE = {
    "info": Part("Describe traces, and list their unreadable lines (exit code 1 if there are any).", "ssdlab.cli.traces:info"),
    "convert": Part("Convert a trace to the format of OUT's ending.", "ssdlab.cli.traces:convert"),
    "sample": Part(
        "Write part of a trace, in the format of OUT's ending (skip N requests, then copy at most N requests or S seconds), or of a folder "
        "of traces a stratified sample of pieces.",
        "ssdlab.cli.traces:sample",
    ),
    "collections": Part("List public collections of traces: where they are, licence, reader, checksums.", "ssdlab.cli.traces:collections"),
    "record": Part(
        "Run a command and record the requests that it sends to a block device (Linux, as root).",
        "ssdlab.cli.traces:record",
        runs_program=True,
    ),
}
ARENA = {
    "run": Part("Rank a policy of your own beside all built-in ones on a fixed set of drives and loads.", "ssdlab.cli.arena:run"),
    "list": Part("List the policies that are ranked, and the drives and loads.", "ssdlab.cli.arena:list_"),
}
STUDY = {
    "list": Part("List the studies that come with ssdlab.", "ssdlab.cli.studies:list_"),
    "show": Part("Print a study's file: its runs, metrics and published values.", "ssdlab.cli.studies:show"),
    "run": Part("Run studies, and compare the results with the published values.", "ssdlab.cli.studies:run"),
    "report": Part("Collect the results of studies into one page, or a page for each paper.", "ssdlab.cli.studies:report"),
}
PARTS: Mapping[str, Part] = MappingProxyType(
    {
        "run": Part("Simulate one workload on one device under one scheme.", "ssdlab.cli.runs:run"),
        "compare": Part("Simulate variants of a run beside each other: schemes, keys, devices, policies.", "ssdlab.cli.runs:compare"),
        "sweep": Part("Simulate every point of a grid of schemes, keys, workloads and seeds.", "ssdlab.cli.sweeps:sweep"),
        "explore": Part(
            "Change configuration keys on a local page, and see at once what follows, until Ctrl-C.", "ssdlab.cli.explore:explore"
        ),
        "report": Part("Write the report page of a run, a comparison or a sweep again, from its saved results.", "ssdlab.cli.runs:report"),
        "why": Part("Explain why the slowest requests of a run were late, or the remarks below its tables.", "ssdlab.cli.why:why"),
        "plot": Part("Draw a figure for a paper from saved results.", "ssdlab.cli.plots:plot"),
        "timeline": Part(
            "Write a page of a timeline, and of the states of blocks over time, that opens without a network.",
            "ssdlab.cli.timelines:timeline",
        ),
        "precondition": Part(
            "Precondition a device (ftl.precondition) and save its state, from which runs can start (run --state).",
            "ssdlab.cli.runs:precondition",
        ),
        "queueing": Part(
            "Compute the waits of a single flash die with GC as a queueing model: formulas and simulation (bux2011).",
            "ssdlab.cli.queueing:queueing",
        ),
        "serve": Part(
            "Serve a simulated drive to programs, as a block device (NBD) or as a file (FUSE), until Ctrl-C.",
            "ssdlab.cli.serving:serve",
        ),
        "calibrate": Part(
            "Fit a simulated drive to measurements of a real one, and predict the measurements it was not fitted to.",
            "ssdlab.cli.calibration:calibrate",
        ),
        "import": Part(
            "Make presets of a configuration of MQSim, FEMU, NVMeVirt or SimpleSSD, and say what became of each of its keys.",
            "ssdlab.cli.imports:import_",
        ),
        "check": Part(
            "Compute what a drive will do: rates and the limits behind them, latencies, spare, write amplification.",
            "ssdlab.cli.checking:check",
        ),
        "cliffs": Part(
            "Predict whole fills of drives with an SLC cache from a table of what reviews measured, and compare.",
            "ssdlab.cli.cliffs:cliffs",
        ),
        "list": Part("List presets, policies, or configuration keys with their values.", "ssdlab.cli.presets:list_"),
        "show": Part("Print a preset's file, with its sources.", "ssdlab.cli.presets:show"),
        "schema": Part("Print the JSON Schema of the configuration.", "ssdlab.cli.presets:schema"),
        "bug-report": Part(
            "Print what a bug report needs: versions, machine, configuration and digest, without private paths.",
            "ssdlab.cli.bug_report:bug_report",
        ),
        "trace": Part("Describe, convert and record traces.", below=TRACE),
        "study": Part("Run published experiments, and compare the results with the published values.", below=STUDY),
        "arena": Part("Rank policies of your own beside the built-in ones.", below=ARENA),
        "artifact": Part(
            "Write an artifact kit: what a reviewer needs to run studies and sweeps again and compare, with one script that does it.",
            "ssdlab.cli.artifacts:artifact",
        ),
    }
)
