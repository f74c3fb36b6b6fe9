"""The command `ssdlab`, which is also `python -m ssdlab`: takes over Ctrl-C before it reads in the rest, which takes a while."""

from __future__ import annotations

import sys

from ssdlab import signals

__all__ = ["main"]


def main() -> None:
    """The entry point."""
    signals.listening_while(_command)


def _command() -> None:
    if sys.argv[1:] == ["--version"] and _print_version():  # at once: scripts ask for it
        return
    from ssdlab.cli import main as run  # noqa: PLC0415

    signals.ready()
    run()


def _print_version() -> bool:
    """Whether that was possible; the whole command line says why it is not."""
    from ssdlab._core import version  # noqa: PLC0415

    try:
        print(f"ssdlab {version()}", flush=True)
    except (OSError, ValueError):
        return False
    return sys.stdout is not None


if __name__ == "__main__":
    main()
