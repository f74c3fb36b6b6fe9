"""Measures the speed budget, and writes its tables into docs/performance.md.

    python tools/speed.py                    # all, as medians of 5 alternating turns
    python tools/speed.py --turns 3 --long   # also a run of 10^8 requests, and a drive of 3.84 TB, which needs 12 GB of memory
    python tools/speed.py --print            # prints the tables only

Rates are in processor time, so that other work on the machine adds little; logs and timelines in real time, since other threads write them.
"""

from __future__ import annotations

import argparse
import platform
import resource
import statistics
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from compare_speed import ROOT, Program, Turn, built

PAGE = ROOT / "docs" / "performance.md"
INSTRUCTIONS = ROOT / "benches" / "instructions.toml"
BEGIN, END = "<!-- written by make bench -->", "<!-- end of what make bench writes -->"
YARDSTICK = "plain-c"

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
    Cost("`npgc` in an overload, beside a light load", "overload-npgc", "light-npgc", 1.5),
    Cost("`slacker` in an overload, beside a light load", "overload-slacker", "light-slacker", 1.5),
    Cost("1,024 chips beside 16", "chips-1024", "chips-16", 1 / 0.9),
    Cost("1,024 chips beside 16, `dynalloc`", "chips-1024-dynalloc", "chips-16-dynalloc", 1 / 0.9),
    Cost("a run of 10^5 requests beside 10^6", "requests-1e5", "npgc", 1.1),
    Cost("a run of 10^7 requests beside 10^6", "requests-1e7", "npgc", 1.1),
)
LONG_COSTS = (Cost("a run of 10^8 requests beside 10^6", "requests-1e8", "npgc", 1.1),)
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


def table(head: str, rows: list[str]) -> str:
    """A table in Markdown."""
    columns = head.count("|") - 1
    return "\n".join([head, "|" + "---|" * columns, *rows])


def met(found: float, asked: float, most: bool) -> str:
    """The last column: what is asked, and whether it is met."""
    fits = found <= asked if most else found >= asked
    shown = f"{asked:,}" if isinstance(asked, int) else f"{asked:.2g}"
    return f"{'at most' if most else 'at least'} {shown}" + ("" if fits else ": not met")


def tables(found: Measured, costs: list[Cost]) -> list[str]:
    """The tables of rates, costs and instructions."""
    rates = [f"| plain loop in C | {found.rate(YARDSTICK):,.0f} | 1 | |"]
    for case, asked in SHARES.items():
        share = found.ratio(case, YARDSTICK)
        rates.append(f"| `{case}` | {found.rate(case):,.0f} | {share:.2f} | {met(share, asked, most=False)} |")
    rates += [f"| `{case}` | {found.rate(case):,.0f} | {found.ratio(case, YARDSTICK):.2f} | |" for case in RATES]
    by_cost = []
    for cost in costs:
        ratio = 1 / found.ratio(cost.case, cost.beside, cost.real)
        by_cost.append(f"| {cost.what} | {ratio:.2f} | {met(ratio, cost.most, most=True)} |")
    lines = [f"| {name} | {found.rate(case) / 1e6:.1f} million lines a second | at least 5 |" for case, name in TEXTS.items()]
    counts = tomllib.loads(INSTRUCTIONS.read_text())
    counted = [
        f"| `{run}` | {count:,} | {met(count, LIMITS[run], most=True)} |" if run in LIMITS else f"| `{run}` | {count:,} | |"
        for run, count in counts.items()
    ]
    return [
        table("| run | requests a second | share of the C loop | asked |", rates),
        table("| cost of a request | ratio | asked |", by_cost),
        table("| text traces | read | asked |", lines),
        table("| run of `make instructions` | instructions a request | asked |", counted),
    ]


def whole_runs(program_path: Path, long: bool) -> str:
    """Runs from start to end, each in a process of its own."""
    rows = []
    for case, what, asked in (("1-tb", "1 TB, 10^4 requests", "2 s"), ("3.84-tb", "3.84 TB, 10^7 requests", "")):
        if case == "3.84-tb" and not long:
            continue
        program = Program(program_path)
        turn = program.turn(case)
        program.close()
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
        rows.append(f"| {what} | {turn.real_s:.1f} s | {memory:.1f} GiB | {asked} |")
    return table("| a whole run on a filled drive of | time | most memory | asked |", rows)


def main() -> None:
    """Measures, and writes or prints the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, default=5, help="turns of each case (default: 5)")
    parser.add_argument("--long", action="store_true", help="also what takes minutes and much memory")
    parser.add_argument("--print", action="store_true", help="print the tables, and leave the page as it is")
    arguments = parser.parse_args()
    path = built(ROOT)
    whole = whole_runs(path, arguments.long)
    costs = [*COSTS, *(LONG_COSTS if arguments.long else ())]
    cases = [YARDSTICK, *SHARES, *RATES, *TEXTS, *(case for cost in costs for case in (cost.case, cost.beside))]
    program = Program(path)
    found = measure(program, list(dict.fromkeys(cases)), arguments.turns)
    program.close()
    head = f"Medians of {arguments.turns} alternating turns on {platform.machine()}, {platform.system()}."
    text = "\n\n".join([head, *tables(found, costs), whole])
    print(text)
    if not arguments.print:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
