"""The command line."""

from ssdlab.cli.app import app, main

__all__ = ["app", "main"]
