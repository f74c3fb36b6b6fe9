"""The command `ssdlab`, also `python -m ssdlab`. It takes over Ctrl-C before the slow imports."""

from __future__ import annotations

import sys

from ssdlab.system import signals

__all__ = ["main"]


def main() -> None:
    """Entry point of the command."""
    signals.listening_while(_command)


def _command() -> None:
    if sys.argv[1:] == ["--version"] and _print_version():  # first, without further imports: scripts call it
        return
    from ssdlab.cli import main as run  # noqa: PLC0415

    signals.ready()
    run()


def _print_version() -> bool:
    """Prints the version; returns whether the core could be imported. If not, the full command line reports why."""
    from ssdlab._core import version  # noqa: PLC0415

    try:
        print(f"ssdlab {version()}", flush=True)
    except (OSError, ValueError):
        return False
    return sys.stdout is not None


if __name__ == "__main__":
    main()
