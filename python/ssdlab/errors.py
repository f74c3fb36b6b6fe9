"""What can go wrong, as exceptions. The core's message is the exception's text; `exit_code` is what the command line ends with."""

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
"""A value in a message is cut if it has more characters: what it begins and ends with is shown."""
_BEGIN, _END = 80, 40
_LONG = re.compile(rf'"[^"\n]{{{LONGEST},}}"|\S{{{LONGEST},}}')
_LONGEST_LINE = 3000

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def shortened(message: str) -> str:
    """A message without the middle of what is too long to be read: a value in quotes, a word, a line."""
    message = _LONG.sub(lambda found: f"{found[0][:_BEGIN]}…{found[0][-_END:]}", message)
    lines = (line if len(line) <= _LONGEST_LINE else f"{line[:LONGEST]}…{line[-LONGEST:]}" for line in message.splitlines())
    return "\n".join(lines)


class Error(Exception):
    """The base of all errors of ssdlab.

    Attributes:
        finished: by name, the results of the runs that finished before the error, if there were several: a `Result` for a run of the
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
    """A call or command that makes no sense as given."""

    exit_code = 2


class IdleKeyWarning(UserWarning):
    """A configuration key was set that has no effect in the run, or in any of the runs. The result's `idle_keys` names it too."""


class TraceError(Error):
    """A trace that cannot be read, with file and line where there is one."""


class SimulationError(Error):
    """The simulation cannot go on: a defect or an impossible situation, with what waits for what."""


class PolicyError(Error):
    """A policy of the user's own that raised an error, which is the `__cause__`, or returned what it must not."""


class StoppedError(Error):
    """A run that was asked to stop before its end."""


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
    """Ctrl-C while runs were under way.

    Attributes:
        finished: by name, the results of the runs that had finished, as in `Error.finished`.
    """

    def __init__(self, finished: Mapping[str, Any] = _NOTHING) -> None:
        super().__init__("interrupted")
        self.finished = finished
