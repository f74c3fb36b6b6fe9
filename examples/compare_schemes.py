"""One workload under three schemes of garbage collection: who waits, and for how long.

The drive and the requests are those of a published experiment (lee2013), on an eighth of the blocks. Under `npgc` a collection runs to its
end once it has begun; `pgc` lets requests go between its steps; `fpgc` also stops steps that have begun. With a trace of your own, write
`trace="mine.csv", fit="trace"` in place of the workload.

Prints a table, and writes `schemes.html`, a page with figures, into the current folder.
"""

import ssdlab

comparison = ssdlab.compare(
    schemes=["npgc", "pgc", "fpgc"],
    device="lee2013",
    workload="lee2013-synthetic",
    requests=20_000,
    set={"gc.soft": 0.03, "device.blocks_per_plane": 256},  # quicker to prepare
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
