"""What the commands print, and where: results on standard output, all else on standard error."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ssdlab import signals
from ssdlab.errors import Error, shortened
from ssdlab.json_text import json_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from ssdlab.folders import ResultFolder

__all__ = ["INTERRUPTED", "complain", "print_json", "print_tables", "tell_of_interrupt", "telling_of_old", "warn"]

INTERRUPTED = 130
"""What a shell reports of a command that Ctrl-C ended: 128 + SIGINT."""


_WRITTEN_OUT = {code: f"\\x{code:02x}" for code in (*range(32), 127)}
"""Characters of a value that would move a terminal's cursor or change its colours."""


def complain(message: str) -> None:
    """What went wrong, as one line on standard error."""
    _say(f"error: {message}")


def tell_of_interrupt(message: str = "interrupted") -> None:
    """Says that the command was interrupted, once: a second Ctrl-C may come while the first is answered."""
    if not signals.answered():
        signals.answer()
        complain(message)


def how_far(finished: int, asked: int, what: str = "runs had finished", kept: str | None = "their results are kept") -> str:
    """How many of several runs were done at an interrupt, and what is kept of them if there are some."""
    if not finished:
        return f"none of {asked:,} {what}"
    return f"{finished:,} of {asked:,} {what}" + (f", {kept}" if kept else "")


def warn(message: str) -> None:
    """What should be known of a result, as one line on standard error."""
    _say(f"warning: {message}")


@contextlib.contextmanager
def telling_of_old(out: ResultFolder) -> Iterator[None]:
    """So that nobody takes earlier results for those of a command that failed."""
    try:
        yield
    except Error as error:
        if error.exit_code == 1:  # else nothing began
            _tell_of_old(out)
        raise
    _tell_of_old(out)


def _tell_of_old(out: ResultFolder) -> None:
    if out.has_old and not signals.ended():
        warn(f"{out.folder}: the earlier results are still there, and no new ones")


def _say(message: str) -> None:
    line = "; ".join(part.strip() for part in shortened(message).splitlines() if part.strip()).translate(_WRITTEN_OUT)
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr)


def print_json(value: Mapping[str, Any]) -> None:
    """The one JSON object of a command's standard output."""
    sys.stdout.write(json_text(value) + "\n")


def print_tables(items: Iterable[RenderableType]) -> None:
    """Tables and lines, in colour on a terminal."""
    # Imported here because what draws tables takes longer than many a run.
    from rich.measure import Measurement  # noqa: PLC0415

    from ssdlab.tables import UNBOUNDED, WIDTH_OF_TEXT, is_line  # noqa: PLC0415

    is_terminal = sys.stdout.isatty()
    console = _console(None if is_terminal else WIDTH_OF_TEXT)
    for item in items:
        # On a narrow terminal, broken lines are better than digits cut off.
        needed = Measurement.get(console, console.options.update(width=UNBOUNDED), item).minimum
        wide = console if needed <= console.width else _console(needed)
        wide.print(item, soft_wrap=isinstance(item, str) or (not is_terminal and is_line(item)))


def _console(width: int | None) -> Console:
    from rich.console import Console  # noqa: PLC0415

    return Console(width=width, highlight=False, markup=False)
