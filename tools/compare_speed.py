"""Measures the speed of this tree relative to an older commit, in alternating turns, so that other load slows down both.

    python tools/compare_speed.py d0952d1                   # all cases of `make bench` that both have
    python tools/compare_speed.py d0952d1 rwp reads-70 --turns 9

The older commit is checked out and built below target/compare, with this tree's harness (crates/ssdlab/benches/speed) instead of its own.
If its interface differs from what this harness calls, build it by hand and name the program instead of the commit.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
CRATE = Path("crates") / "ssdlab"
HARNESS = CRATE / "benches" / "speed"
CASES = (
    "untimed",
    "npgc",
    "pgc",
    "fpgc",
    "cep",
    "bbgc-dqgc",
    "rwp",
    "reads-70",
    "chips-16",
    "chips-1024",
    "chips-16-dynalloc",
    "chips-1024-dynalloc",
)


def built(tree: Path) -> Path:
    """Builds the speed benchmark of a source tree; returns the program."""
    command = ["cargo", "bench", "--no-run", "--locked", "--package", "ssdlab", "--bench", "speed", "--message-format", "json"]
    done = subprocess.run(command, cwd=tree, check=True, stdout=subprocess.PIPE, text=True)
    messages = (json.loads(line) for line in done.stdout.splitlines())
    return Path(next(made for message in messages if (made := message.get("executable")) and message["target"]["name"] == "speed"))


def checked_out(commit: str) -> Path:
    """A tree of `commit` with this tree's harness."""
    git = ["git", "-C", str(ROOT)]
    name = subprocess.run([*git, "rev-parse", "--verify", commit], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    tree = ROOT / "target" / "compare" / name
    if not tree.exists():
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(tree)], check=True)
        subprocess.run(["git", "-C", str(tree), "checkout", "--quiet", name], check=True)
    shutil.rmtree(tree / HARNESS, ignore_errors=True)
    (tree / HARNESS).with_suffix(".rs").unlink(missing_ok=True)
    shutil.copytree(ROOT / HARNESS, tree / HARNESS)
    return tree


@dataclass(frozen=True)
class Turn:
    """What a program measured in one turn: requests, and seconds of real time and of processor time."""

    requests: int
    real_s: float
    processor_s: float

    @property
    def rate(self) -> float:
        """Requests a second of processor time."""
        return self.requests / self.processor_s

    @property
    def real_rate(self) -> float:
        """Requests a second of real time."""
        return self.requests / self.real_s


class Program:
    """A running benchmark program, which measures one turn of a case on request."""

    def __init__(self, path: Path, *words: str) -> None:
        self.path = path
        self.process = subprocess.Popen([path, "--bench", "--serve", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def turn(self, case: str) -> Turn:
        """Measures one turn."""
        print(case, file=self._open(self.process.stdin), flush=True)
        answer = self._open(self.process.stdout).readline().split()
        if len(answer) != 3:
            said = " ".join(answer) or "nothing"
            raise SystemExit(f"error: {self.path} answers {said} to the case {case}; it names its cases when it is run without --serve")
        return Turn(int(answer[0]), float(answer[1]), float(answer[2]))

    @staticmethod
    def _open(stream: IO[str] | None) -> IO[str]:
        assert stream is not None
        return stream

    def close(self) -> None:
        """Ends the program."""
        self._open(self.process.stdin).close()
        self.process.wait()


def main() -> None:
    """Measures the cases, and prints a row for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("old", help="a commit, or the benchmark program built of one")
    parser.add_argument("cases", nargs="*", default=CASES, help=f"what to measure: {', '.join(CASES)} (default: all)")
    parser.add_argument("--turns", type=int, default=5, help="turns of each case (default: 5)")
    arguments = parser.parse_args()
    old = Path(arguments.old).resolve() if Path(arguments.old).is_file() else built(checked_out(arguments.old))
    programs = [Program(old), Program(built(ROOT))]
    print(f"{'case':<22}{'old/s':>12}{'new/s':>12}{'new/old':>9}   of {arguments.turns} turns")
    for case in arguments.cases:
        turns = [[program.turn(case).rate for program in programs] for _ in range(arguments.turns)]
        before, after = (statistics.median(rates) for rates in zip(*turns, strict=True))
        ratios = sorted(new / old for old, new in turns)
        spread = f"{ratios[0]:.2f} to {ratios[-1]:.2f}"
        print(f"{case:<22}{before:>12,.0f}{after:>12,.0f}{statistics.median(ratios):>9.2f}   {spread}", flush=True)
    for program in programs:
        program.close()


if __name__ == "__main__":
    main()
