"""`ssdlab explore`."""

from __future__ import annotations

import sys
from typing import Unpack

from ssdlab.asking import options as o
from ssdlab.checks import whole
from ssdlab.cli.options import parse_settings
from ssdlab.experiments.exploring import Bench, serve
from ssdlab.system import signals
from ssdlab.system.platforms import processors

__all__ = ["explore"]


def explore(**words: Unpack[o.ExploreOptions]) -> None:
    """The command `ssdlab explore`."""
    bench = Bench(words, parse_settings(words["set"]))
    workers = processors() if words["jobs"] is None else whole("jobs", words["jobs"], least=1)

    def ready(address: str) -> None:
        print(f"exploring at {address} until Ctrl-C", file=sys.stderr, flush=True)
        if words["open"]:
            import webbrowser  # noqa: PLC0415 (most runs of the command do not open it)

            webbrowser.open(address)

    try:
        serve(bench, port=words["port"], workers=workers, ready=ready)
    except KeyboardInterrupt:
        signals.obeyed()  # Ctrl-C is the regular end
