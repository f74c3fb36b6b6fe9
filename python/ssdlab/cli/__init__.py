"""The command line.

A module imports only from modules above it in this table, and from rooms below this one (`docs/architecture.md`).

| module | question |
|---|---|
| `guides` | what does a command need, and how is it called? |
| `options` | how does an option of a run look on the command line? |
| `parts` | which commands are there, and which function does each call? |
| `reading` | how are plain values read without typer's validation, which is slow to import? |
| `command` | how is the command line parsed, and help formatted? |
| `output` | what goes to standard output, and what to standard error? |
| `app` | where do commands begin, and how does an exception become one line and an exit code? |
| `arena`, `artifacts`, `bug_report`, `calibration`, `checking`, `cliffs`, `explore`, `imports`, `plots` | what does this command do? |
| `presets`, `queueing`, `variants`, `runs`, `serving`, `studies`, `sweeps`, `timelines`, `traces`, `why` | what do these commands do? |
"""

from ssdlab.cli.app import app, main

__all__ = ["app", "main"]
