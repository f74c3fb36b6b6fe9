"""Fuzzes everything that is read: `make fuzz SECONDS=600` (for each reader), or `make fuzz INPUTS=10000000 ONLY="trace state"`.

libFuzzer mutates inputs and keeps those that reach code no other has reached. It begins with the few of `fuzz/corpus` and goes on with
those of earlier runs, in `target/fuzz`. An input that makes a reader panic, hang or read something else than it writes is kept there too.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
WORK = ROOT / "target" / "fuzz"
RUST = {"trace": 2_000, "prefill": 500, "config": 2_000, "state": 300, "nbd": 1_000}
PYTHON = {"study": 4_000, "sweep": 1_000, "result": 4_000}
"""Readers, and the longest input that is tried, bytes."""
SHORT = {
    "trace": 30_000,
    "prefill": 600_000,
    "config": 15_000,
    "state": 120_000,
    "nbd": 60_000,
    "study": 90_000,
    "sweep": 200_000,
    "result": 30_000,
}
"""Inputs of each with `SHORT=1`, some ten seconds: always the same ones, so that whether tests pass is not a matter of luck.

Without `FULL=1` one in `SHARE` of them."""
SHARE = 5
LONGEST_S = 30
"""A reader that takes so long for one input hangs."""


def left_out(what: str, why: str) -> None:
    """Says what is not fuzzed."""
    print(f"LEFT OUT: {what}: {why}", flush=True)


def rust_readers() -> dict[str, list[str]]:
    """Builds them. By name, the command that fuzzes one."""
    if absent := [name for name in ("cargo", "rustc") if shutil.which(name) is None]:
        left_out("fuzzing of the readers in Rust", f"there is no {absent[0]} to build them")
        return {}
    compilers = [found for name in (os.environ.get("CXX", "c++"), "g++", "clang++") if (found := shutil.which(name))]
    if not compilers:
        left_out("fuzzing of the readers in Rust", "libFuzzer needs a C++ compiler")
        return {}
    # Dependencies are shared with all other builds: `instrument.sh` adds counters only to the crates of the workspace.
    bins = [word for name in RUST for word in ("--bin", name)]
    built = subprocess.run(
        ["cargo", "build", "--release", "--locked", "--workspace", *bins, "--target-dir", str(ROOT / "target")],
        cwd=ROOT,
        check=False,
        env={**os.environ, "CXX": compilers[0], "RUSTC_WORKSPACE_WRAPPER": str(HERE / "instrument.sh")},
    )
    if built.returncode:
        sys.exit("error: the readers in Rust cannot be built: cargo says why, above")
    return {name: [str(ROOT / "target" / "release" / name)] for name in RUST}


def python_readers() -> dict[str, list[str]]:
    """By name, the command that fuzzes one."""
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
    if subprocess.run([*install, "-r", str(HERE / "requirements.txt")], check=False).returncode:
        left_out("fuzzing of the readers in Python", "atheris cannot be installed for this Python")
        return {}
    return {name: [sys.executable, str(HERE / "readers.py"), name] for name in PYTHON}


def budget() -> str:
    """How long each reader is fuzzed, as an option of libFuzzer, which takes what is no number for 0: without end.

    Empty: the short form.
    """
    if os.environ.get("SHORT"):
        return ""
    for variable, option in (("INPUTS", "runs"), ("SECONDS", "max_total_time")):
        value = os.environ.get(variable, "")
        if value and not re.fullmatch(r"[1-9][0-9]{0,17}", value):
            sys.exit(f"error: {variable}={value}: expected a whole number from 1 on, such as {variable}=600")
        if value:
            return f"-{option}={value}"
    return "-max_total_time=20"


def fuzz(name: str, command: list[str], limit: str) -> bool:
    """Runs one reader; says how many inputs were tried, or what was found."""
    corpus, found = WORK / ("corpus" if limit else "short") / name, WORK / "found"
    if not limit:
        shutil.rmtree(corpus, ignore_errors=True)
        inputs = SHORT[name] if os.environ.get("FULL") else SHORT[name] // SHARE
        limit = f"-runs={inputs} -seed=1"
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    longest = (RUST | PYTHON)[name]
    options = [*limit.split(), f"-max_len={longest}", f"-timeout={LONGEST_S}", f"-artifact_prefix={found}/{name}-", "-print_final_stats=1"]
    words = [*command, *options, str(corpus), str(HERE / "corpus" / name)]
    done = subprocess.run(words, check=False, capture_output=True, text=True, errors="replace")
    tried = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    if done.returncode == 0 and tried:
        print(f"fuzz {name}: {int(tried[1]):,} inputs, no fault", flush=True)
        return True
    print(f"fuzz {name}: FAILED\n{done.stderr[-4_000:]}", file=sys.stderr)
    print(f"to see it again: {shlex.join(command)} and the file of {found}", file=sys.stderr, flush=True)
    return False


def main() -> None:
    """Fuzzes the readers that `ONLY` names, or all."""
    only = os.environ.get("ONLY", "").split()
    if unknown := [name for name in only if name not in RUST | PYTHON]:
        sys.exit(f"error: ONLY={unknown[0]}: expected some of {', '.join(RUST | PYTHON)}")
    limit, wanted = budget(), list(dict.fromkeys(only)) or [*RUST, *PYTHON]
    readers = rust_readers() if set(wanted) & set(RUST) else {}
    readers |= python_readers() if set(wanted) & set(PYTHON) else {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda name: fuzz(name, readers[name], limit), [name for name in wanted if name in readers]))
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
