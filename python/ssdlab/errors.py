"""The exceptions of ssdlab. The text is the core's message; `exit_code` is the exit code of the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

__all__ = [
    "ConfigError",
    "Error",
    "FileError",
    "IdleKeyWarning",
    "InternalError",
    "Interrupted",
    "PolicyError",
    "SimulationError",
    "StoppedError",
    "TraceError",
    "UsageError",
    "shortened",
]

LONGEST = 200
"""Maximum number of characters of a value in a message; a longer value is shown with its middle cut out."""
_BEGIN, _END = 80, 40
_LONG = re.compile(rf'"[^"\n]{{{LONGEST},}}"|\S{{{LONGEST},}}')
_LONGEST_LINE = 3000

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def shortened(message: str) -> str:
    """A message with the middle cut out of overlong parts: a value in quotes, a word, a line."""
    message = _LONG.sub(lambda found: f"{found[0][:_BEGIN]}…{found[0][-_END:]}", message)
    lines = (line if len(line) <= _LONGEST_LINE else f"{line[:LONGEST]}…{line[-LONGEST:]}" for line in message.splitlines())
    return "\n".join(lines)


class Error(Exception):
    """Base class of all errors of ssdlab.

    Attributes:
        finished: results of the runs that finished before the error, by name, if there were several runs: a `Result` for a run of the
            drive, a `QueueingResult` for a run of the queueing model.
    """

    exit_code = 1
    finished: Mapping[str, Any] = _NOTHING

    def __init__(self, message: str = "") -> None:
        super().__init__(shortened(message))


class ConfigError(Error):
    """A configuration key, value or combination that cannot be simulated."""

    exit_code = 2


class UsageError(Error):
    """A call or command with invalid or contradictory arguments."""

    exit_code = 2


class IdleKeyWarning(UserWarning):
    """A configuration key was set that has no effect in any of the runs. The result's `idle_keys` lists it too."""


class TraceError(Error):
    """A trace that cannot be read, with file and line if there is one."""


class SimulationError(Error):
    """The simulation cannot continue, because of a defect or an impossible situation; the message says what waits for what."""


class PolicyError(Error):
    """A user-defined policy raised an error (the `__cause__`), or returned an invalid value."""


class StoppedError(Error):
    """A run was requested to stop before its end."""


class InternalError(Error):
    """A defect in ssdlab itself. Please report it."""


class FileError(Error, OSError):
    """A file that cannot be read or written; `errno` and `filename` are set as in any `OSError`."""

    def __init__(self, message: str, errno: int | None = None, filename: str | None = None) -> None:
        OSError.__init__(self, errno, message, filename)
        self._message = shortened(message)

    def __str__(self) -> str:
        return self._message


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during runs.

    Attributes:
        finished: results of the runs that had finished, by name, as in `Error.finished`.
    """

    def __init__(self, finished: Mapping[str, Any] = _NOTHING) -> None:
        super().__init__("interrupted")
        self.finished = finished
