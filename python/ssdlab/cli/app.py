"""The command `ssdlab` as a whole: its parts, how it ends, and what it says when something goes wrong.

Exit codes: 0 done, 1 the run failed, 2 wrong usage or configuration, 130 interrupted (Ctrl-C), 143 and 129 ended by SIGTERM and SIGHUP.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Annotated, Any

import typer

from ssdlab import signals
from ssdlab._core import abandon_files, version
from ssdlab.cli.command import MOST_COLUMNS, Group
from ssdlab.cli.output import INTERRUPTED, complain, tell_of_interrupt
from ssdlab.cli.parts import PARTS
from ssdlab.errors import Error
from ssdlab.progress import show_reading

__all__ = ["app", "main"]


class Commands(Group):
    """The group of all commands: turns exceptions into one line and an exit code, at one place."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(parts=PARTS, **attributes)

    def invoke(self, ctx: Any) -> Any:
        """Runs the command that was asked for."""
        try:
            signals.new_command()
            return super().invoke(ctx)
        except Error as error:
            complain(str(error))
            raise typer.Exit(error.exit_code) from error
        except KeyboardInterrupt as interrupt:
            tell_of_interrupt()
            raise typer.Exit(INTERRUPTED) from interrupt


app = typer.Typer(
    name="ssdlab",
    cls=Commands,
    help="A trace-driven SSD simulator.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # help as plain text: markup would swallow what stands in brackets
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": MOST_COLUMNS},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ssdlab {version()}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """A trace-driven SSD simulator."""
    show_reading(True)


def main() -> None:
    """The entry point: whatever happens, the user sees a line, not a traceback."""
    if sys.stdout is None:  # the command was started with a closed one
        complain("standard output is closed: send it to /dev/null if it is not wanted")
        sys.exit(1)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a file's name need not be UTF-8, nor a terminal take all of it
        sys.stdout.reconfigure(errors="backslashreplace")
    code = _run()
    try:
        sys.stdout.flush()
    except OSError as reason:
        code = _lost_output(reason)
    if signals.ended():
        abandon_files()  # of threads that are not waited for
        code = code and signals.code()
    sys.exit(code)


def _run() -> int:
    try:
        # By its name however it was started, also as a module or by a test.
        code = app(prog_name="ssdlab", standalone_mode=False)
        if code == INTERRUPTED and signals.ended():  # the parser swallows a Ctrl-C that comes while it reads the words
            tell_of_interrupt()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        tell_of_interrupt()
        return INTERRUPTED
    except OSError as reason:
        return _lost_output(reason)
    except Exception as error:
        if os.environ.get("SSDLAB_TRACEBACK") and not hasattr(error, "format_message"):
            raise
        return _failure(error)
    return code if isinstance(code, int) else 0


def _failure(error: Exception) -> int:
    """What no command expected."""
    if hasattr(error, "format_message"):
        return _wrong_usage(error)
    if signals.ended():  # while a module was read in, which then says that it is broken
        tell_of_interrupt()
        return INTERRUPTED
    complain(
        f"internal error, please report it with the command that led to it: {type(error).__name__}: {error} "
        "(SSDLAB_TRACEBACK=1 shows where)"
    )
    return 1


def _wrong_usage(error: Any) -> int:
    """An option or argument that the parser refused. Its own rendering takes a box of five lines to say it."""
    context = error.ctx
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.format_message())
    else:
        hint = f" (`{context.command_path} --help` lists the options)" if context is not None else ""
        message = error.format_message().rstrip(".").replace(". Choose from:\n\t", ": one of ").replace(",\n\t", ", ")
        complain(f"{message.replace('Value error, ', '')}{hint}")
    return 2


def _lost_output(reason: OSError) -> int:
    """Standard output cannot be written. A reader that has seen enough (`| head`) is no reason for words."""
    if reason.filename is not None:  # not standard output, which has no name
        complain(f"{os.fsdecode(reason.filename)}: {reason.strerror or reason}")
        return 1
    if not isinstance(reason, BrokenPipeError):
        complain(f"cannot write: {reason.strerror or reason}")
    with contextlib.suppress(OSError):
        # What is still buffered would fail once more when Python exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1
