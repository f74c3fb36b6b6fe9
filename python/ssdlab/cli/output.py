"""What the commands print, and where: results on standard output, all else on standard error."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ssdlab.errors import shortened
from ssdlab.json_text import json_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from ssdlab.folders import ResultFolder

__all__ = ["INTERRUPTED", "complain", "print_json", "print_tables", "said", "warn", "warn_of_old"]

INTERRUPTED = 130
"""What a shell reports of a command that Ctrl-C ended: 128 + SIGINT."""


_WRITTEN_OUT = {code: f"\\x{code:02x}" for code in (*range(32), 127)}
"""Characters of a value that would move a terminal's cursor or change its colours."""


_complaints: list[str] = []


def said() -> bool:
    """Whether the command has said already what went wrong."""
    return bool(_complaints)


def complain(message: str) -> None:
    """What went wrong, as one line on standard error."""
    _complaints.append(message)
    _say(f"error: {message}")


def warn(message: str) -> None:
    """What should be known of a result, as one line on standard error."""
    _say(f"warning: {message}")


def warn_of_old(out: ResultFolder) -> None:
    """So that nobody takes earlier results for those of a command that failed."""
    if out.has_old:
        warn(f"{out.folder}: what is there are the results of before")


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
