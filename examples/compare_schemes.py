"""A real trace under three schemes of garbage collection: who waits, and for how long.

Replays what a database wrote and read (`traces/README.md`) on a drive of 4 GiB that holds what it held when the trace began. Under `npgc` a
collection runs to its end once it has begun; `pgc` lets requests go between its steps; `fpgc` also stops steps that have begun.

Prints a table, and writes `schemes.html`, a page with figures, into the current folder.
"""

from pathlib import Path

import ssdlab

TRACES = Path(__file__).resolve().parent.parent / "traces"
TRACE = "mariadb_oltp_write_only_paced"

comparison = ssdlab.compare(
    schemes=["npgc", "pgc", "fpgc"],
    device="demo-4g",
    trace=TRACES / f"{TRACE}.csv.zst",
    prefill=TRACES / f"{TRACE}.prefill.csv",
    series=True,  # for the figures over time
    paired=True,  # the same requests, one by one, against the first scheme
)

print(f"{'scheme':6} {'mean':>9} {'p99':>9} {'p99.9':>9} {'slowest':>9} {'GC jobs':>8} {'faster':>7} {'slower':>7}")
for scheme, result in comparison.items():
    times = result.latency.all
    milliseconds = [f"{ns / 1e6:6.2f} ms" for ns in (times.mean, times.p99, times.p99_9, times.max)]
    fared = comparison.paired.get(scheme, {}).get("all")
    shares = [f"{fared[kind]:7.1%}" for kind in ("faster", "slower")] if fared else ["      -", "      -"]
    print(f"{scheme:6} {' '.join(milliseconds)} {result.gc.jobs:8,} {' '.join(shares)}")

comparison.report("schemes.html")
print("\nschemes.html has the figures: open it in a browser.")
