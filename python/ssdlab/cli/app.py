"""The command `ssdlab`: its subcommands, exit codes and error messages.

Exit codes: 0 done, 1 the run failed, 2 wrong usage or configuration, 130 interrupted (Ctrl-C), 143 and 129 ended by SIGTERM and SIGHUP.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Annotated, Any

import typer

from ssdlab._core import abandon_files, version
from ssdlab.cli.command import MOST_COLUMNS, Group
from ssdlab.cli.output import INTERRUPTED, complain, report_interrupt
from ssdlab.cli.parts import PARTS
from ssdlab.errors import Error
from ssdlab.system import signals
from ssdlab.system.progress import show_reading

__all__ = ["app", "main"]


class Commands(Group):
    """The group of all commands. It turns exceptions into a one-line message and an exit code."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(parts=PARTS, **attributes)

    def invoke(self, ctx: Any) -> Any:
        """Runs the chosen command."""
        try:
            signals.new_command()
            return super().invoke(ctx)
        except Error as error:
            complain(str(error))
            raise typer.Exit(error.exit_code) from error
        except KeyboardInterrupt as interrupt:
            report_interrupt()
            raise typer.Exit(INTERRUPTED) from interrupt


app = typer.Typer(
    name="ssdlab",
    cls=Commands,
    help="A trace-driven SSD simulator.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain text: markup would drop texts in brackets
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
    """Entry point of the command. Errors of any kind are reported in one line without a traceback."""
    if sys.stdout is None:  # the process was started without a standard output
        complain(f"standard output is closed: send it to {os.devnull} if it is not wanted")
        sys.exit(1)
    if isinstance(sys.stdout, io.TextIOWrapper):  # file names may not be UTF-8, and the terminal's encoding may lack characters
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
        # the same name if started as a module or by a test
        code = app(prog_name="ssdlab", standalone_mode=False)
        if code == INTERRUPTED and signals.ended():  # the parser drops a Ctrl-C during parsing
            report_interrupt()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        report_interrupt()
        return INTERRUPTED
    except OSError as reason:
        return _lost_output(reason)
    except Exception as error:
        if os.environ.get("SSDLAB_TRACEBACK") and not hasattr(error, "format_message"):
            raise
        return _failure(error)
    return code if isinstance(code, int) else 0


def _failure(error: Exception) -> int:
    """Reports an unexpected exception; returns the exit code."""
    if hasattr(error, "format_message"):
        return _wrong_usage(error)
    if signals.ended():  # it may be an import that the signal interrupted, and fails with any error
        report_interrupt()
        return INTERRUPTED
    complain(
        f"internal error, please report it with the command that led to it: {type(error).__name__}: {error} "
        "(SSDLAB_TRACEBACK=1 shows where)"
    )
    return 1


def _wrong_usage(error: Any) -> int:
    """Reports a refused option or argument in one line, instead of typer's box of five lines; returns the exit code."""
    context = error.ctx
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.format_message())
    else:
        hint = f" (`{context.command_path} --help` lists the options)" if context is not None else ""
        message = _positional(error) or error.format_message().rstrip(".").replace(". Choose from:\n\t", ": one of ").replace(",\n\t", ", ")
        complain(f"{message.replace('Value error, ', '')}{hint}")
    return 2


def _positional(error: Any) -> str | None:
    """The message for an option with the name of an argument of its command; None for another error."""
    option, command = getattr(error, "option_name", ""), getattr(error.ctx, "command", None)
    for parameter in getattr(command, "params", ()):
        if parameter.param_type_name == "argument" and option == f"--{parameter.name}":
            return f"{option}: expected without an option here: `{error.ctx.command_path} {parameter.metavar}`"
    return None


def _lost_output(reason: OSError) -> int:
    """Reports that standard output cannot be written; returns the exit code. A closed pipe (`| head`) is not reported."""
    if reason.filename is not None:  # standard output has no name
        complain(f"{os.fsdecode(reason.filename)}: {reason.strerror or reason}")
        return 1
    if not isinstance(reason, BrokenPipeError):
        complain(f"cannot write: {reason.strerror or reason}")
    with contextlib.suppress(OSError):
        # buffered output would fail again when Python exits
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1
