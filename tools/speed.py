"""Measures the speed budget, and writes it into docs/performance/budget.csv.

    python tools/speed.py                    # all, as medians of 5 alternating turns
    python tools/speed.py --turns 3 --long   # also a run of 10^8 requests, and a drive of 3.84 TB, which needs 12 GB of memory
    python tools/speed.py --print            # prints the lines only
    python tools/speed.py --floor            # prints what the core needs beside the floor only

Rates are in processor time, so that other work on the machine adds little; logs and timelines in real time, since other threads write them.
"""

from __future__ import annotations

import argparse
import csv
import platform
import resource
import statistics
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from compare_speed import ROOT, Program, Turn, built

sys.path.insert(0, str(ROOT / "benches"))

import instructions

BUDGET = ROOT / "docs" / "performance" / "budget.csv"
INSTRUCTIONS = ROOT / "benches" / "instructions.toml"
HEADS = ("kind", "what", "found", "unit", "share_of_the_C_loop", "asked")
YARDSTICK = "plain-c"
Line = tuple[str, str, str, str, str, str]
"""A line of the budget, for `HEADS`."""

# What is asked: shares of the rate of the C loop, at least; instructions a request, at most.
SHARES = {"untimed": 0.9, "npgc": 0.65, "pgc": 0.38, "fpgc": 0.38, "cep": 0.28, "bbgc-dqgc": 0.28, "nvme": 0.4, "nvme-reads-70": 0.35}
RATES = ("rwp", "reads-70", "slacker", "gcar-lru", "rais5")
LIMITS = {
    "npgc": 5_000,
    "pgc": 8_500,
    "fpgc": 8_500,
    "reads-70": 3_500,
    "slacker": 18_000,
    "gcar-lru": 40_000,
    "rais5": 22_000,
    "nvme": 10_000,
}


@dataclass
class Cost:
    """What a request of one case costs beside one of another."""

    what: str
    case: str
    beside: str
    most: float
    real: bool = False


COSTS = (
    Cost("with series over time", "npgc-series", "npgc", 1.5),
    Cost("with a log of requests", "npgc-log", "npgc", 1.5, real=True),
    Cost("with a timeline of 200,000 slices", "npgc-timeline", "npgc", 1.5, real=True),
    Cost("npgc in an overload, beside a light load", "overload-npgc", "light-npgc", 1.5),
    Cost("slacker in an overload, beside a light load", "overload-slacker", "light-slacker", 1.5),
    Cost("1,024 chips beside 16", "chips-1024", "chips-16", 1 / 0.9),
    Cost("1,024 chips beside 16, dynalloc", "chips-1024-dynalloc", "chips-16-dynalloc", 1 / 0.9),
    Cost("a run of 10^5 requests beside 10^6", "requests-1e5", "npgc", 1.1),
    Cost("a run of 10^7 requests beside 10^6", "requests-1e7", "npgc", 1.1),
)
LONG_COSTS = (Cost("a run of 10^8 requests beside 10^6", "requests-1e8", "npgc", 1.1),)
# What the core may take beside the floor, by size of the drive: the end of its runs' names, and the most time.
FLOOR_CASES = ("whole-jobs", "reads-70", "preempt", "preempt-reads")
FLOOR_SIZES = {"a small drive": ("", 2.5), "512 blocks a plane": ("-512", 1.5)}
TEXTS = {"text-csv": "CSV", "text-msr": "MSR"}
MOST_LINES = 5e6
# Turns of cases that take long and vary little.
FEW_TURNS = {"requests-1e7": 1, "requests-1e8": 1, "1-tb": 3}


@dataclass
class Measured:
    """The turns of all cases."""

    turns: dict[str, list[Turn]] = field(default_factory=dict)

    def rate(self, case: str) -> float:
        """Requests a second of processor time, the median of all turns."""
        return statistics.median(turn.rate for turn in self.turns[case])

    def ratio(self, case: str, to: str, real: bool = False) -> float:
        """Of the rates of two cases: the median over turns."""
        rates = [[turn.real_rate if real else turn.rate for turn in self.turns[name]] for name in (case, to)]
        return statistics.median(one / other for one, other in zip(*rates, strict=False))


def measure(program: Program, cases: list[str], turns: int) -> Measured:
    """Measures all cases in alternating turns."""
    found = Measured({case: [] for case in cases})
    for turn in range(turns):
        for case in cases:
            if turn < FEW_TURNS.get(case, turns):
                print(f"\rturn {turn + 1} of {turns}: {case:<24}", end="", file=sys.stderr, flush=True)
                found.turns[case].append(program.turn(case))
    print(f"\r{'':<50}\r", end="", file=sys.stderr, flush=True)
    return found


def met(found: float, asked: float, most: bool) -> str:
    """The last column: what is asked, and whether it is met."""
    fits = found <= asked if most else found >= asked
    shown = f"{asked:,}" if isinstance(asked, int) else f"{asked:.2g}"
    return f"{'at most' if most else 'at least'} {shown}" + ("" if fits else ": not met")


def lines_of(found: Measured, costs: list[Cost]) -> Iterator[Line]:
    """The lines of rates, costs, text traces and instructions."""
    unit = "requests a second"
    yield "rate", "plain loop in C", f"{found.rate(YARDSTICK):.0f}", unit, "1", ""
    for case in (*SHARES, *RATES):
        share = found.ratio(case, YARDSTICK)
        asked = met(share, SHARES[case], most=False) if case in SHARES else ""
        yield "rate", case, f"{found.rate(case):.0f}", unit, f"{share:.2f}", asked
    for cost in costs:
        ratio = 1 / found.ratio(cost.case, cost.beside, cost.real)
        yield "cost", cost.what, f"{ratio:.2f}", "ratio", "", met(ratio, cost.most, most=True)
    for case, name in TEXTS.items():
        yield "text traces", name, f"{found.rate(case) / 1e6:.1f}", "million lines a second", "", "at least 5"
    for run, count in tomllib.loads(INSTRUCTIONS.read_text()).items():
        asked = met(count, LIMITS[run], most=True) if run in LIMITS else ""
        yield "instructions", run, str(count), "instructions a request", "", asked


def counts_beside_floor(path: Path, runs: list[str], folder: str) -> dict[str, int]:
    """Instructions a request of runs: kept ones, and where there is a counter those on large drives."""
    kept = tomllib.loads(INSTRUCTIONS.read_text())
    try:
        counter = instructions.valgrind()
    except instructions.MissingError as missing:
        print(f"LEFT OUT: instructions a request on large drives: {missing}", file=sys.stderr)
        return kept
    return kept | {run: instructions.count(counter, path, run, folder) for run in runs if run not in kept}


def beside_floor(turns: int) -> Iterator[Line]:
    """Lines of what the core takes beside the least that a simulator of some configurations needs."""
    path = instructions.built()["floor"]
    pairs = {f"{case}, {what}": (f"{case}{end}", most) for what, (end, most) in FLOOR_SIZES.items() for case in FLOOR_CASES}
    runs = [run for core, _ in pairs.values() for run in (core, f"floor-{core}")]
    with tempfile.TemporaryDirectory(prefix="floor-") as folder:
        program = Program(path, folder)
        found = measure(program, runs, turns)
        program.close()
        counts = counts_beside_floor(path, runs, folder)
    for what, (core, most) in pairs.items():
        core_ns, floor_ns = (1e9 / found.rate(run) for run in (core, f"floor-{core}"))
        ratio = found.ratio(f"floor-{core}", core)
        yield (
            "beside the floor",
            what,
            f"{ratio:.1f}",
            f"ratio of {core_ns:.0f} to {floor_ns:.0f} ns a request",
            "",
            met(ratio, most, most=True),
        )
    for what, (core, _) in pairs.items():
        if core in counts:
            one, other = counts[core], counts[f"floor-{core}"]
            yield "beside the floor", what, f"{one / other:.1f}", f"ratio of {one:,} to {other:,} instructions a request", "", ""


def whole_runs(program_path: Path, long: bool) -> Iterator[Line]:
    """Runs from start to end on a filled drive, each in a process of its own."""
    for case, what, asked in (("1-tb", "1 TB, 10^4 requests", "2 s"), ("3.84-tb", "3.84 TB, 10^7 requests", "")):
        if case == "3.84-tb" and not long:
            continue
        program = Program(program_path)
        turn = program.turn(case)
        program.close()
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
        yield "whole run", what, f"{turn.real_s:.1f}", "s", "", asked
        yield "memory of a whole run", what, f"{memory:.1f}", "GiB", "", ""


def main() -> None:
    """Measures, prints the lines, and writes them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, default=5, help="turns of each case (default: 5)")
    parser.add_argument("--long", action="store_true", help="also what takes minutes and much memory")
    parser.add_argument("--floor", action="store_true", help="only print what the core needs beside the floor")
    parser.add_argument("--print", action="store_true", help="print the lines, and leave the file as it is")
    arguments = parser.parse_args()
    if arguments.floor:
        csv.writer(sys.stdout, lineterminator="\n").writerows([HEADS, *beside_floor(arguments.turns)])
        return
    path = built(ROOT)
    whole = list(whole_runs(path, arguments.long))
    costs = [*COSTS, *(LONG_COSTS if arguments.long else ())]
    cases = [YARDSTICK, *SHARES, *RATES, *TEXTS, *(case for cost in costs for case in (cost.case, cost.beside))]
    program = Program(path)
    found = measure(program, list(dict.fromkeys(cases)), arguments.turns)
    program.close()
    lines = [HEADS, *lines_of(found, costs), *beside_floor(arguments.turns), *whole]
    csv.writer(sys.stdout, lineterminator="\n").writerows(lines)
    if not arguments.print:
        with BUDGET.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)
    print(f"medians of {arguments.turns} alternating turns on {platform.machine()}, {platform.system()}", file=sys.stderr)


if __name__ == "__main__":
    main()
