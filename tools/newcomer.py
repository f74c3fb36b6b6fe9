"""Follows docs/tutorial.md from the sources to a report of one's own trace, and measures the time of each step.

Nothing previously built or downloaded on this machine is used: it uses a copy of the sources, a new home folder, and empty caches of Cargo
and pip. Needs network. Run it by `make newcomer`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from pages import Block, blocks  # noqa: E402 (beside the tests that run the same blocks)

REPORT = Path("results") / "mine" / "report.html"
"""The file at the end of the path."""
PATIENCE_S = 3600


def environment(home: Path, copy: Path) -> dict[str, str]:
    """The environment of a new user: the toolchain and nothing else."""
    others = {key: value for key, value in os.environ.items() if not key.startswith(("CARGO", "VIRTUAL_ENV", "PYTHON"))}
    others.setdefault("RUSTUP_HOME", str(Path.home() / ".rustup"))
    path = f"{copy / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return others | {"PATH": path, "HOME": str(home), "CARGO_HOME": str(home / "cargo"), "PIP_NO_CACHE_DIR": "1"}


def step(words: list[str], folder: Path, env: dict[str, str]) -> None:
    """Runs one step, and prints its duration."""
    shown = " ".join(word if "\n" not in word else word.splitlines()[0] + " ..." for word in words[2:] if word)
    started = time.monotonic()
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    print(f"{time.monotonic() - started:7.1f} s  {shown}", flush=True)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}")


def do(block: Block, folder: Path, env: dict[str, str]) -> None:
    """Runs a code block."""
    if block.file is not None:
        (folder / block.file).write_text(block.text)
    elif block.language == "sh":
        for line in block.text.replace("\\\n", " ").splitlines():
            step(["bash", "-c", line], folder, env)
    elif block.language == "python":
        step(["python", "-c", block.text], folder, env)


def follow(folder: Path, env: dict[str, str]) -> bool:
    """Follows the tutorial in a folder where ssdlab is installed; returns whether it leads to the report."""
    for block in blocks(ROOT / "docs" / "tutorial.md"):
        do(block, folder, env)
        if (folder / REPORT).exists():
            return True
    return False


def main() -> None:
    """Copies the sources, builds, and follows the tutorial until there is a report."""
    with tempfile.TemporaryDirectory(prefix="newcomer-") as place:
        home, copy = Path(place) / "home", Path(place) / "ssdlab"
        home.mkdir()
        env = environment(home, copy)
        started = time.monotonic()
        made = [line.strip("/") for line in (ROOT / ".gitignore").read_text().splitlines()]
        shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", *made))
        step(["bash", "-c", "make build"], copy, env)
        if not follow(copy, env):
            sys.exit(f"the tutorial has ended, and there is no {REPORT}")
        print(f"{time.monotonic() - started:7.1f} s  from nothing to {REPORT}")


if __name__ == "__main__":
    main()
