"""Handling of Ctrl-C, SIGTERM and SIGHUP by the command: a one-line message, no partial files, and finished results are kept.

Only the command handles these signals, not the Python API, and only if the shell did not set the command to ignore them. During imports the
process exits at once: nothing has started yet, and interrupted imports raise arbitrary errors. Afterwards a signal raises
`KeyboardInterrupt`, which ends runs like Ctrl-C.
"""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import signal
import sys
import time

TYPE_CHECKING = False  # replaces that of `typing`, whose import takes a while
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType
    from typing import Any, Never

__all__ = ["answer", "answered", "code", "ended", "listening_while", "new_command", "obeyed", "ready"]

ASKING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
SAME_WISH_S = 1.0
"""Time after a handled signal, s, during which another one counts as the same request; a later one exits without waiting."""
_OF_SHELLS = 128
_INTERRUPTED = b"error: interrupted\n"


class _State:
    """The state of signal handling."""

    ready = False
    first: int | None = None
    obeyed_at = -math.inf
    answered = False


def listening_while(command: Callable[[], None]) -> None:
    """Runs the command with signal handlers that end it.

    It is a function, not a context manager: a signal after the command, within `contextlib`, would not be handled.
    """
    _State.ready, _State.first, _State.obeyed_at, _State.answered = False, None, -math.inf, False
    before = {number: signal.getsignal(number) for number in ASKING}
    taken = {number: handler for number, handler in before.items() if handler in (signal.SIG_DFL, signal.default_int_handler)}
    for number in taken:
        signal.signal(number, _asked)
    try:
        try:
            command()
        except SystemExit as end:
            # The command is complete. A signal while the process exits would only change the exit code and print a false message.
            _put_back(dict.fromkeys(taken, signal.SIG_IGN))
            if ended():
                _leave(end.code)
            raise
        except BaseException:
            _put_back(dict.fromkeys(taken, signal.SIG_IGN) if ended() else taken)
            raise
        _put_back(taken)
    except KeyboardInterrupt:  # the signal came before or after the command could handle it
        if not ended():
            raise
        if not answered():
            os.write(2, _INTERRUPTED)
        _leave(code())


def _put_back(handlers: Mapping[int, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)


def _leave(code: object) -> Never:
    """Ends an interrupted process at once, with its exit handlers but without the interpreter's finalisation.

    Finalisation fails after an interrupt at a bad moment: C++ modules whose import was interrupted release Python objects after Python has
    ended, which aborts (matplotlib's `ft2font`), and CPython kills itself, whatever the exit code, if the interrupt passed through code
    made of text (run_eval_code_obj).
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code if isinstance(code, int) else 1)


def ready() -> None:
    """Marks the end of the command's imports."""
    _State.ready = True


def ended() -> bool:
    """Whether a signal has been received."""
    return _State.first is not None


def answer() -> None:
    """Marks that the command reports the interrupt now. Another signal would make it report twice, so a later one must wait again."""
    _State.obeyed_at = time.monotonic()
    _State.answered = True


def new_command() -> None:
    """Resets the state for a new command in the same process."""
    _State.answered = False


def answered() -> bool:
    """Whether the command has reported the interrupt."""
    return _State.answered


def obeyed() -> None:
    """Marks a signal as the regular end of the command, as for a served drive; a later signal interrupts it."""
    _State.first = None


def code() -> int:
    """Exit code of a command that a signal ended."""
    return _OF_SHELLS + (signal.SIGINT if _State.first is None else _State.first)


def _asked(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    if not _State.ready:
        _end_now(number)
    if time.monotonic() - _State.obeyed_at < SAME_WISH_S:
        return  # a signal during cleaning up would interrupt it
    _State.obeyed_at = time.monotonic()
    if _State.first is None:
        _State.first = number
    raise KeyboardInterrupt


def _end_now(number: int) -> Never:
    os.write(2, _INTERRUPTED)
    os._exit(_OF_SHELLS + number)
