"""Commands in any folder, and the script of an artifact kit."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conftest import PATIENCE_S, Ended
from forks import Forks
from ssdlab.experiments.artifact import reproduce


@functools.cache
def forks() -> Forks:
    """A process that starts commands."""
    return Forks(os.environ)


def ssdlab_in(folder: Path, *words: object) -> Ended:
    forks().start([*map(str, words)], folder, os.environ)
    done = forks().end(PATIENCE_S)
    return Ended(done.returncode, done.stdout, done.stderr)


def rerun(kit: Path, *words: object, **env: str) -> Ended:
    """Runs the kit's script with an empty home, from another folder."""
    home = kit.parent / "home"
    home.mkdir(exist_ok=True)
    command = [sys.executable, kit / "reproduce.py", *map(str, words)]
    variables = {**os.environ, "HOME": str(home), **env}
    done = subprocess.run(command, cwd=home, env=variables, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    err = done.stderr.replace("Matplotlib is building the font cache; this may take a moment.\n", "")  # by the first, if that is slow
    return Ended(done.returncode, done.stdout, err)


def change(file: Path, how: Callable[[Any], object], kit: Path | None = None) -> None:
    """Changes a JSON file and, with a kit, its hash in the manifest, like an attempt to hide the change."""
    value = json.loads(file.read_text())
    how(value)
    file.write_text(json.dumps(value))
    if kit is not None:
        name = file.relative_to(kit).as_posix()
        change(kit / "artifact.json", lambda manifest: manifest["files"].update({name: reproduce.hash_of(file)}))
