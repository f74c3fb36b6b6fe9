"""Output of the commands: results to standard output, everything else to standard error."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ssdlab.errors import Error, shortened
from ssdlab.system import signals
from ssdlab.system.json_text import json_text
from ssdlab.system.states import state_folder

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from ssdlab.system.folders import ResultFolder

__all__ = ["INTERRUPTED", "complain", "noting_old_results", "of_states", "print_json", "print_tables", "report_interrupt", "warn"]

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C ended: 128 + SIGINT."""


_WRITTEN_OUT = {code: f"\\x{code:02x}" for code in (*range(32), 127)}
"""Replacements of control characters, which would move a terminal's cursor or change its colours."""


def complain(message: str) -> None:
    """Prints an error message as one line on standard error."""
    _say(f"error: {message}")


def report_interrupt(message: str = "interrupted") -> None:
    """Prints once that the command was interrupted; a second Ctrl-C may come while the first is handled."""
    if not signals.answered():
        signals.answer()
        complain(message)


def how_far(finished: int, asked: int, what: str = "runs had finished", kept: str | None = "their results are kept") -> str:
    """The number of runs finished at an interrupt and, if there are any, that their results are kept; as text."""
    if not finished:
        return f"none of {asked:,} {what}"
    return f"{finished:,} of {asked:,} {what}" + (f", {kept}" if kept else "")


def warn(message: str) -> None:
    """Prints a warning as one line on standard error."""
    _say(f"warning: {message}")


@contextlib.contextmanager
def noting_old_results(out: ResultFolder) -> Iterator[None]:
    """Warns after a failed command that the results in the folder are earlier ones."""
    try:
        yield
    except Error as error:
        if error.exit_code == 1:  # with another exit code no run started
            _note_old_results(out)
        raise
    _note_old_results(out)


def _note_old_results(out: ResultFolder) -> None:
    if out.has_old and not signals.ended():
        warn(f"{out.folder}: the earlier results are still there, and no new ones")


def _say(message: str) -> None:
    line = "; ".join(part.strip() for part in shortened(message).splitlines() if part.strip()).translate(_WRITTEN_OUT)
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr)


def of_states(results: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line that says where prepared drives came from, if an earlier run had prepared some."""
    earlier = [result.get("prepared_earlier", False) for result in results]
    if not any(earlier):
        return []
    drives = "drive" if len(earlier) == 1 else f"{sum(earlier):,} of {len(earlier):,} drives"
    said = f"{drives} prepared earlier with this configuration and seed: state taken from {state_folder()}"
    return [f"{said}; --no-state-cache prepares it anew"]


def print_json(value: Mapping[str, Any]) -> None:
    """Prints the single JSON object of a command."""
    sys.stdout.write(json_text(value) + "\n")


def print_tables(items: Iterable[RenderableType]) -> None:
    """Prints tables and lines, in colour on a terminal."""
    # imported here because rendering tables takes longer to import than many runs take
    from rich.measure import Measurement  # noqa: PLC0415

    from ssdlab.pages.tables import UNBOUNDED, WIDTH_OF_TEXT, is_line  # noqa: PLC0415

    is_terminal = sys.stdout.isatty()
    console = _console(None if is_terminal else WIDTH_OF_TEXT)
    for item in items:
        # on a narrow terminal, broken lines are better than cut-off digits
        needed = Measurement.get(console, console.options.update(width=UNBOUNDED), item).minimum
        wide = console if needed <= console.width else _console(needed)
        wide.print(item, soft_wrap=isinstance(item, str) or (not is_terminal and is_line(item)))


def _console(width: int | None) -> Console:
    from rich.console import Console  # noqa: PLC0415

    return Console(width=width, highlight=False, markup=False)
