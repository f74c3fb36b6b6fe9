"""The statistics of a result as classes, made from the core's schema when one of them is first used.

Type checkers and editors know them from the stub beside this file, which `tools/statistics_classes.py` writes. `help` of a class, such as
`ssdlab.run_statistics.Gc`, has the meaning and the unit of each entry.

An entry that a run does not have is absent: its attribute raises `AttributeError`. A time has two names, with and without its unit:
`latency.read.p99` is `latency_ns.read.p99`, in nanoseconds.
"""

from __future__ import annotations

import json
from threading import Lock
from typing import Any

from ssdlab import _core
from ssdlab.section import Section, UntypedSection, part_classes  # noqa: F401 (annotations name UntypedSection)

NOT_ATTRIBUTES = ("requests", "remarks")
"""Entries of a result whose attribute differs: `Result.requests` is the log, `Result.remarks` a list of `Remark`."""
_MAKING = Lock()


class RunStatistics(Section):
    """The statistics of a run. `ssdlab.Result` adds the log of requests and figures."""

    @property
    def _parts(self) -> Any:
        _make()  # replaces this property
        return RunStatistics._parts


def _make() -> None:
    """Makes the classes, on first use: this takes longer than importing all modules of a run."""
    with _MAKING:
        if "__all__" not in globals():
            classes = part_classes(RunStatistics, json.loads(_core.statistics_schema()), NOT_ATTRIBUTES)
            globals().update(classes, __all__=sorted(classes))


def __getattr__(name: str) -> Any:
    if name == "__all__" or not name.startswith("_"):
        _make()
        if name in globals():
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    _make()
    return sorted(globals())
