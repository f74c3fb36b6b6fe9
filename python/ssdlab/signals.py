"""Ctrl-C, and what else asks the command to end (SIGTERM, SIGHUP): one line, nothing half written left, what is finished kept.

They are taken over by the command only, never by the Python API, and only where the shell has not told the command to ignore them. Until
the command has been read in, nothing is begun yet, and the process ends at once: Python modules that are interrupted while they are read
in raise whatever they like. Then such a signal is a `KeyboardInterrupt`, which ends runs as Ctrl-C does.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time

TYPE_CHECKING = False  # that of `typing`, which takes a while to import
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import Never

__all__ = ["code", "ended", "listening", "ready"]

ASKING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
SAME_WISH_S = 1.0
"""Signals that come so soon after the first are the same wish; those that come later end without waiting for anything."""
_OF_SHELLS = 128


class _State:
    """What has come so far."""

    ready = False
    first: int | None = None
    at = 0.0


@contextlib.contextmanager
def listening() -> Iterator[None]:
    """Meanwhile signals end the command."""
    _State.ready, _State.first = False, None
    before = {number: signal.getsignal(number) for number in ASKING}
    taken = {number: handler for number, handler in before.items() if handler in (signal.SIG_DFL, signal.default_int_handler)}
    for number in taken:
        signal.signal(number, _asked)
    ending = False
    try:
        yield
    except SystemExit:
        ending = True
        # An interrupt that passes through code made of text, as that of data classes, marks the process as one that Ctrl-C ended, for
        # which CPython kills itself in the end whatever the exit code (run_eval_code_obj). Running any such code takes the mark away.
        exec("")
        raise
    finally:
        for number, handler in taken.items():
            # All is done. One that comes while the process ends would only change how, and say what is not so.
            signal.signal(number, signal.SIG_IGN if ending or ended() else handler)


def ready() -> None:
    """The command has been read in."""
    _State.ready = True


def ended() -> bool:
    """Whether a signal has come."""
    return _State.first is not None


def code() -> int:
    """What a shell reports of a command that the signal ended."""
    return _OF_SHELLS + (signal.SIGINT if _State.first is None else _State.first)


def _asked(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    if not _State.ready:
        _end_now(number)
    now = time.monotonic()
    if _State.first is None:
        _State.first, _State.at = number, now
    elif now - _State.at < SAME_WISH_S:
        return  # one that came in the middle of putting things away would stop that
    raise KeyboardInterrupt


def _end_now(number: int) -> Never:
    os.write(2, b"error: interrupted\n")
    os._exit(_OF_SHELLS + number)
