"""Measures which lines and branches of the core its Rust tests reach. Run it by `make coverage`.

The core and its tests are compiled with counters, their dependencies are not. `--uncovered` also lists the lines that no test reaches,
`--module gc` (may be repeated) only those of a module.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from rust_sources import CORE, ROOT, core_files, lines_without_tests, module

PLACE = ROOT / "target" / "coverage"
# Branch counters need an unstable option, which RUSTC_BOOTSTRAP allows for the crates of this workspace.
WRAPPER = """#!/bin/sh
RUSTC_BOOTSTRAP=1 exec "$@" -C instrument-coverage -Z coverage-options=branch
"""


@dataclass
class Reached:
    """Counters of the lines of a source, and of both directions of its branches."""

    lines: dict[int, int] = field(default_factory=dict)
    branches: dict[tuple[int, str], int] = field(default_factory=dict)

    def without_tests(self, last: int) -> Reached:
        """The counters up to a line."""
        lines = {line: count for line, count in self.lines.items() if line <= last}
        return Reached(lines, {key: count for key, count in self.branches.items() if key[0] <= last})


def llvm(tool: str) -> str:
    """The path of a tool of the compiler's LLVM, from rustup's component llvm-tools."""
    asked = subprocess.run(["rustc", "--print", "target-libdir"], cwd=ROOT, check=True, text=True, capture_output=True)
    path = Path(asked.stdout.strip()).parent / "bin" / tool
    if not path.exists():
        sys.exit(f"error: {tool} is missing: rustup component add llvm-tools")
    return str(path)


def build() -> list[str]:
    """Compiles unit tests and integration tests with counters; returns the programs."""
    wrapper = PLACE / "rustc"
    if not wrapper.exists() or wrapper.read_text() != WRAPPER:
        wrapper.write_text(WRAPPER)
        wrapper.chmod(0o755)
    # build scripts are compiled with counters too
    env = os.environ | {"RUSTC_WORKSPACE_WRAPPER": str(wrapper), "LLVM_PROFILE_FILE": str(PLACE / "build.profraw")}
    packages = " ".join(f"-p {folder.parent.name}" for folder in CORE)
    words = shlex.split(f"cargo test --release --locked {packages} -p ssdlab-tests --lib --test main --no-run --message-format=json")
    done = subprocess.run(words, cwd=ROOT, env=env, check=False, text=True, stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit("error: the tests cannot be built with counters: see above")
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [message["executable"] for message in messages if message.get("executable")]


def run(programs: list[str]) -> None:
    """Runs all tests."""
    for old in PLACE.glob("*.profraw"):
        old.unlink()
    env = os.environ | {"LLVM_PROFILE_FILE": str(PLACE / "%p-%m.profraw")}
    for program in programs:
        if subprocess.run([program, "--quiet"], cwd=CORE[0].parent, env=env, check=False).returncode:
            sys.exit("error: a test has failed")


def lcov(programs: list[str]) -> str:
    """The counters in the format of lcov."""
    profile = str(PLACE / "all.profdata")
    subprocess.run([llvm("llvm-profdata"), "merge", "-sparse", "-o", profile, *map(str, PLACE.glob("*.profraw"))], check=True)
    objects = [word for program in programs[1:] for word in ("--object", program)]
    words = [llvm("llvm-cov"), "export", "--format=lcov", f"--instr-profile={profile}", programs[0], *objects]
    return subprocess.run(words, check=True, text=True, capture_output=True).stdout


def parse(text: str) -> dict[Path, Reached]:
    """The counters by source."""
    by_source: dict[Path, Reached] = {}
    now = Reached()
    for line in text.splitlines():
        key, _, rest = line.partition(":")
        parts = rest.split(",")
        if key == "SF":
            now = by_source.setdefault(Path(rest), Reached())
        elif key == "DA":
            now.lines[int(parts[0])] = now.lines.get(int(parts[0]), 0) + int(parts[1])
        elif key == "BRDA":
            way = (int(parts[0]), f"{parts[1]},{parts[2]}")
            now.branches[way] = now.branches.get(way, 0) + (0 if parts[3] == "-" else int(parts[3]))
    return by_source


def share(counts: Iterable[int]) -> tuple[int, int]:
    """Number of counters, and number of counters above 0."""
    values = list(counts)
    return len(values), sum(count > 0 for count in values)


def table(reached: dict[Path, Reached]) -> list[str]:
    """A row for each module, and one for all."""
    modules: dict[str, list[int]] = {}
    for file, counts in reached.items():
        figures = [*share(counts.lines.values()), *share(counts.branches.values())]
        for name in (module(file), "all"):
            modules[name] = [a + b for a, b in zip(modules.get(name, [0] * 4), figures, strict=True)]

    def per_cent(total: int, part: int) -> str:
        return f"{100 * part / total:.1f} %" if total else "none"

    everything = modules.pop("all")
    rows = [*sorted(modules.items()), ("all", everything)]
    head = ["| module | lines | reached | branches | reached |", "|---|--:|--:|--:|--:|"]
    return head + [f"| `{name}` | {a} | {per_cent(a, b)} | {c} | {per_cent(c, d)} |" for name, (a, b, c, d) in rows]


def uncovered(file: Path, counts: Reached) -> list[str]:
    """The lines of a source that were not reached; with `?`, lines with a branch that always went one way."""
    text = file.read_text().splitlines()
    halves = {line for (line, _), count in counts.branches.items() if count == 0}
    missed = {line for line, count in counts.lines.items() if count == 0}
    name = file.relative_to(ROOT)
    return [f"{name}:{line}:{' ' if line in missed else '?'} {text[line - 1].strip()}" for line in sorted(missed | halves)]


def main() -> None:
    """Builds and runs the tests, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uncovered", action="store_true", help="list the lines, too")
    parser.add_argument("--module", action="append", help="list only lines of this module")
    asked = parser.parse_args()
    PLACE.mkdir(parents=True, exist_ok=True)
    programs = build()
    run(programs)
    found = parse(lcov(programs))
    reached = {file: found[file].without_tests(lines_without_tests(file)) for file in core_files() if file in found}
    print("\n".join(table(reached)))
    for file, counts in reached.items():
        if asked.uncovered and (not asked.module or module(file) in asked.module):
            print(*uncovered(file, counts), sep="\n")


if __name__ == "__main__":
    main()
