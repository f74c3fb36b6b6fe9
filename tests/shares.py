"""Which cases of the tests run: all of them with `FULL=1` and new draws, otherwise a fixed share that has every kind of case."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"
FULL = bool(os.environ.get("FULL"))


def _seed() -> int:
    """`SEED`, otherwise the commit's with `FULL=1`, otherwise 0."""
    if "SEED" in os.environ or not FULL:
        return int(os.environ.get("SEED") or 0)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    return int(commit[:8] or "0", 16)


SEED = _seed()
"""Seed of all random cases; a landing always has the same."""
os.environ["SEED"] = str(SEED)  # workers take that of the process that starts them


def share(cases: Sequence[Mapping[str, object]], every: int) -> set[int]:
    """The places of one of `every` cases, chosen so that as many values as possible of each parameter are among them."""
    kinds = [{(name, repr(value)[:80]) for name, value in case.items()} for case in cases]
    left, seen, chosen = set(range(len(cases))), set[tuple[str, str]](), set[int]()
    while left and len(chosen) * every < len(cases):
        best = min(left, key=lambda at: (-len(kinds[at] - seen), at % every, at))
        chosen.add(best)
        left.remove(best)
        seen |= kinds[best]
    return chosen


def recorded(name: str, key: str, computed: Callable[[], Any]) -> Any:
    """The answer of a slow reference, from `tests/data/NAME.json`.

    `FULL=1` computes it again and compares; `UPDATE=1` writes it (with one worker).
    """
    file = DATA / f"{name}.json"
    answers = json.loads(file.read_text()) if file.exists() else {}
    if os.environ.get("UPDATE"):
        answers[key] = computed()
        file.write_text(json.dumps(dict(sorted(answers.items())), indent=1) + "\n")
    elif FULL:
        assert computed() == answers[key], f"{file.name}: {key}: UPDATE=1 writes it again"
    return answers[key]
