"""A victim policy of one's own: which block garbage collection empties, decided in Python.

Greedy takes the block with the fewest valid pages, and so copies the least for now. But blocks that were filled a moment ago may still lose
pages to the next writes: `patient` leaves them alone for a while. Most writes go to few addresses here, so that waiting pays off.

Prints both policies beside built-in ones: pages copied for each page written, jobs, response times, and how evenly blocks wear.
"""

import ssdlab

DRIVE = {
    "device.blocks_per_plane": 128,
    "ftl.precondition.kind": "steady",  # begins where a drive is after a long time under these writes
    "workload.read_share": 0.2,
    "workload.interarrival_us": 700,
    "workload.address": "hot-cold",
    "workload.hot_access": 0.9,  # of the requests go to ...
    "workload.hot_share": 0.1,  # of the addresses
}
YOUNG = 0.4
"""The part of the candidates, those filled last, that is left alone."""


def patient(candidates):
    """Of the older candidates the one with the fewest valid pages; they are sorted by these."""
    oldest_first = sorted(range(len(candidates)), key=lambda i: -candidates.ages[i])
    old = oldest_first[: max(1, round(len(candidates) * (1 - YOUNG)))]
    return candidates.blocks[min(old)]


runs = {
    "greedy": ssdlab.run(set=DRIVE, requests=30_000),
    "patient (ours)": ssdlab.run(set=DRIVE, requests=30_000, victim=patient),
    "cost-benefit": ssdlab.run(set=DRIVE | {"gc.victim": "cost-benefit"}, requests=30_000),
    "fifo": ssdlab.run(set=DRIVE | {"gc.victim": "fifo"}, requests=30_000),
}

print(f"{'victims':15} {'write ampl.':>11} {'GC jobs':>8} {'mean':>9} {'p99':>9} {'erases a block':>15}")
for name, r in runs.items():
    times = " ".join(f"{ns / 1e6:6.2f} ms" for ns in (r.latency.all.mean, r.latency.all.p99))
    print(f"{name:15} {r.gc.write_amplification:11.3f} {r.gc.jobs:8,} {times} {r.wear.mean:8.1f} ± {r.wear.std:.1f}")

ours = runs["patient (ours)"]
print(f"\nThe result says which policy it was: {ours.config.gc.victim}, source {ours.gc.victim_source[:16]}...")
