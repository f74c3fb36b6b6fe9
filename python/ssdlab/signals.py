"""Ctrl-C, and what else asks the command to end (SIGTERM, SIGHUP): one line, nothing half written left, what is finished kept.

They are taken over by the command only, never by the Python API, and only where the shell has not told the command to ignore them. Until
the command has been read in, nothing is begun yet, and the process ends at once: Python modules that are interrupted while they are read
in raise whatever they like. Then such a signal is a `KeyboardInterrupt`, which ends runs as Ctrl-C does.
"""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import signal
import sys
import time

TYPE_CHECKING = False  # that of `typing`, which takes a while to import
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType
    from typing import Any, Never

__all__ = ["answer", "answered", "code", "ended", "listening_while", "new_command", "obeyed", "ready"]

ASKING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
SAME_WISH_S = 1.0
"""Signals that come so soon after one that was obeyed are the same wish; those that come later end without waiting for anything."""
_OF_SHELLS = 128
_INTERRUPTED = b"error: interrupted\n"


class _State:
    """What has come so far."""

    ready = False
    first: int | None = None
    obeyed_at = -math.inf
    answered = False


def listening_while(command: Callable[[], None]) -> None:
    """Runs the command; meanwhile signals end it.

    A function, not a context manager: of a signal that comes within `contextlib`, behind the command, nothing would take care.
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
            # All is done. One that comes while the process ends would only change how, and say what is not so.
            _put_back(dict.fromkeys(taken, signal.SIG_IGN))
            if ended():
                _leave(end.code)
            raise
        except BaseException:
            _put_back(dict.fromkeys(taken, signal.SIG_IGN) if ended() else taken)
            raise
        _put_back(taken)
    except KeyboardInterrupt:  # it came before the command could answer for it, or after
        if not ended():
            raise
        if not answered():
            os.write(2, _INTERRUPTED)
        _leave(code())


def _put_back(handlers: Mapping[int, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)


def _leave(code: object) -> Never:
    """Ends an interrupted process at once, with all that is due at its end but the interpreter's own clearing up.

    That fails after an interrupt at the wrong instant: modules of C++ that were being read in drop Python objects when there is no Python
    any more, which aborts (matplotlib's `ft2font`), and CPython kills itself, whatever the exit code, if the interrupt passed through
    code made of text (run_eval_code_obj).
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code if isinstance(code, int) else 1)


def ready() -> None:
    """The command has been read in."""
    _State.ready = True


def ended() -> bool:
    """Whether a signal has come."""
    return _State.first is not None


def answer() -> None:
    """The command is about to say that it was interrupted. Another signal would have it say so twice, so that it has to wait again."""
    _State.obeyed_at = time.monotonic()
    _State.answered = True


def new_command() -> None:
    """A command begins: what an earlier one of the process has said is not its own answer."""
    _State.answered = False


def answered() -> bool:
    """Whether the command has said that it was interrupted."""
    return _State.answered


def obeyed() -> None:
    """The signal that came was what the command goes on until: it is not interrupted. Another one, later, does so."""
    _State.first = None


def code() -> int:
    """What a shell reports of a command that the signal ended."""
    return _OF_SHELLS + (signal.SIGINT if _State.first is None else _State.first)


def _asked(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    if not _State.ready:
        _end_now(number)
    if time.monotonic() - _State.obeyed_at < SAME_WISH_S:
        return  # one that came in the middle of putting things away would stop that
    _State.obeyed_at = time.monotonic()
    if _State.first is None:
        _State.first = number
    raise KeyboardInterrupt


def _end_now(number: int) -> Never:
    os.write(2, _INTERRUPTED)
    os._exit(_OF_SHELLS + number)
