"""Counts the instructions of small fixed runs and compares them with `instructions.toml`: a loaded machine does not disturb this guard.

`make instructions` runs this file; `make instructions UPDATE=1` writes the counts again. The counter is valgrind's callgrind, which
`apt-get` installs where this may be done; elsewhere the guard is left out, and with CI=true that is a failure.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = Path(__file__).with_suffix(".toml")
# Room above and below a kept count: what other library versions or processor features change.
ROOM_PERCENT = 5
# The counts are those of this instruction set.
MACHINE = "x86_64"
# The function whose instructions are counted, with all that it calls.
COUNTED = "*counted_part*"
# The programs that have the runs.
PROGRAMS = ("instructions", "floor")
HEAD = """\
# Instructions a request of the runs of crates/ssdlab/benches/instructions.rs, and of the floor below some of them
# (crates/ssdlab-floor/benches/floor.rs), on x86-64, counted by valgrind.
# `make instructions` compares them with 5 % room, and `make instructions UPDATE=1` writes this file.
# A commit that needs more instructions changes this file and says why.
"""


class MissingError(Exception):
    """The counter cannot be had here."""


def valgrind() -> str:
    """The counter on PATH, installed first where apt-get may do that."""
    if shutil.which("valgrind") is None and shutil.which("apt-get") is not None and os.geteuid() == 0:
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for arguments in (["update", "-qq"], ["install", "-qq", "--no-install-recommends", "valgrind"]):
            subprocess.run(["apt-get", *arguments], env=environment, check=False, stdout=subprocess.DEVNULL)
    found = shutil.which("valgrind")
    if platform.machine() != MACHINE:
        raise MissingError(f"the kept counts are those of {MACHINE}, and this is {platform.machine()}")
    if found is None:
        raise MissingError("valgrind is not on PATH (Debian: apt install valgrind)")
    return found


def built() -> dict[str, Path]:
    """The programs with the runs, by name, built with the dependencies that the tests have."""
    chosen = [word for name in PROGRAMS for word in ("--bench", name)]
    command = ["cargo", "bench", "--no-run", "--locked", *chosen, "--message-format", "json"]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    made = {message["target"]["name"]: Path(message["executable"]) for message in messages if message.get("executable")}
    return {name: made[name] for name in PROGRAMS}


def count(counter: str, program: Path, *run: str | Path) -> int:
    """Instructions a request of the run that these arguments of the program name."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        options = ["--tool=callgrind", f"--toggle-collect={COUNTED}", f"--callgrind-out-file={out}", "--quiet"]
        # Addresses and the size of the environment shift alignments a little.
        done = subprocess.run([counter, *options, program, *run], env={}, check=True, capture_output=True, text=True)
        total = re.search(r"^(?:summary|totals): (\d+)$", out.read_text(), re.MULTILINE)
    if total is None or int(total[1]) == 0:
        raise RuntimeError(f"valgrind counted nothing of the run {run[0]}: is there still a function {COUNTED} in the program?")
    return round(int(total[1]) / int(done.stdout))


def counted() -> dict[str, int]:
    """Instructions a request of all runs."""
    counter, programs = valgrind(), built().values()
    listed = {program: subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout.split() for program in programs}
    runs = [(program, run) for program, names in listed.items() for run in names]
    with ThreadPoolExecutor(os.cpu_count()) as several:
        counts = several.map(lambda of: count(counter, *of), runs)
        return {run: instructions for (_, run), instructions in zip(runs, counts, strict=True)}


def compared(kept: Mapping[str, int], now: Mapping[str, int]) -> tuple[list[str], bool]:
    """A line for each run, and whether none needs more instructions than kept. A run that only one of the two has counts as more."""
    lines, passed = [], True
    for run in dict.fromkeys([*kept, *now]):
        if run not in kept or run not in now:
            lines.append(f"{run:<12} is in only one of {FILE.name} and the program: UPDATE=1 writes the file")
            passed = False
            continue
        change = now[run] / kept[run] - 1
        percent = 100 * (now[run] - kept[run])
        remark = ""
        if percent > ROOM_PERCENT * kept[run]:
            remark, passed = f"  MORE than {ROOM_PERCENT} % above", False
        elif percent < -ROOM_PERCENT * kept[run]:
            remark = "  fewer: UPDATE=1 keeps it so"
        lines.append(f"{run:<12}{now[run]:>9} instructions a request, kept {kept[run]:>9}, {change:+.1%}{remark}")
    return lines, passed


def written(now: Mapping[str, int]) -> str:
    """The file with these counts."""
    return HEAD + "".join(f"{run} = {instructions}\n" for run, instructions in now.items())


def main() -> int:
    """Counts and compares, or with UPDATE set writes the file."""
    try:
        now = counted()
    except MissingError as missing:
        print(f"LEFT OUT: instruction counts: {missing}")
        return int(os.environ.get("CI") == "true")
    if os.environ.get("UPDATE"):
        FILE.write_text(written(now))
    lines, passed = compared(tomllib.loads(FILE.read_text()), now)
    print("\n".join(lines))
    if not passed:
        file = FILE.relative_to(ROOT)
        print(f"error: {file}: a run needs more than is kept: spend less, or UPDATE=1 and say why in the commit", file=sys.stderr)
    return int(not passed)


if __name__ == "__main__":
    sys.exit(main())
