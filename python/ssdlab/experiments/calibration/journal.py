"""A file that keeps the runs of a calibration, so that one that was interrupted goes on where it stopped.

A search without chance asks for the same runs again: what it has simulated is read from the file. A run is known by its whole
configuration, its length and seed, the part of the measured rates that it has, and the version of ssdlab, so that a file of other
measurements or of another base does no harm.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import cast

from ssdlab import _core
from ssdlab.asking.plans import Setup
from ssdlab.experiments.calibration.measurements import QuantityName
from ssdlab.system.folders import file_errors

__all__ = ["Journal", "Simulated"]

Simulated = Mapping[QuantityName, float]
"""The quantities that a run has, in their units."""
NAME_DIGITS = 32


class Journal:
    """What was simulated, by run.

    Args:
        file: where it is kept, a line of JSON for each run; `None`: nowhere.

    Raises:
        FileError: the file cannot be read.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._known: dict[str, Simulated] = {}
        self._before = ""
        if file is not None and file.exists():
            with file_errors("read", file):
                text = file.read_text(encoding="utf-8", errors="replace")  # a crash can leave any bytes
            for line in text.splitlines():
                self._read(line)
            self._before = "" if text.endswith("\n") or not text else "\n"

    def of(self, setup: Setup, scheme: str, parts: Mapping[str, float]) -> Simulated | None:
        """What a run has shown, with rates of the whole drive; `None` if it is not known. `parts`: as in `keep`."""
        return self._known.get(_name(setup, scheme, parts)) if self._known else None

    def keep(self, setup: Setup, scheme: str, parts: Mapping[str, float], simulated: Simulated) -> None:
        """Keeps what a run has shown.

        Args:
            setup: the run.
            scheme: its scheme.
            parts: the part of the measured rate that each of its flows has. Of two drives of different size the same run may be the smaller
                drive, and their rates differ.
            simulated: what it has shown, with rates of the whole drive.

        Raises:
            FileError: the file cannot be written.
        """
        if self._file is None:
            return
        line = json.dumps({"run": _name(setup, scheme, parts), "simulated": simulated})
        with file_errors("write", self._file), self._file.open("a", encoding="utf-8") as file:
            file.write(self._before + line + "\n")
        self._before = ""

    def _read(self, line: str) -> None:
        """Reads a line; one that was cut off or damaged is no run."""
        try:
            entry = json.loads(line)
            self._known[entry["run"]] = cast("Simulated", {name: float(value) for name, value in entry["simulated"].items()})
        except (ValueError, TypeError, KeyError, AttributeError):
            return


def _name(setup: Setup, scheme: str, parts: Mapping[str, float]) -> str:
    """A name that differs between runs that may differ."""
    options = setup.options
    length = (str(options[key]) for key in ("requests", "warm_up", "seed"))
    text = "\n".join([_core.version(), setup.build(scheme).json(), *length, json.dumps(parts, sort_keys=True)])
    return sha256(text.encode()).hexdigest()[:NAME_DIGITS]
