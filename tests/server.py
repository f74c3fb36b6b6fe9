"""A running server for tests of served drives."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conftest import PATIENCE_S

__all__ = ["Server"]


class Server:
    """A process of `ssdlab` with the given words.

    Attributes:
        process: the process.
        result: its JSON output after the end.
    """

    def __init__(self, folder: Path, words: Sequence[str]) -> None:
        self.result: dict[str, Any] = {}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ssdlab", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder
        )

    def stop(self, number: int = signal.SIGINT) -> tuple[int, str]:
        """Ends the process by a signal; returns its exit code and standard error."""
        self.process.send_signal(number)
        out, said = self.process.communicate(timeout=PATIENCE_S)
        if out:
            self.result = json.loads(out)
        return self.process.returncode, said
