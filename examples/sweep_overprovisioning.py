"""How much spare space a drive should have: a sweep over over-provisioning, drawn as two figures.

A drive with more blocks than it shows to the host finds emptier victims, copies less, and answers sooner; but the blocks cost money. The
sweep runs each share of spare space under two schemes and three seeds.

Prints a line for each share, and writes `write_amplification.png` and `p99.png`, and the folder `overprovisioning` with a table for
pandas, Polars or DuckDB (`results.parquet`). Started again it only draws: what is in the folder is not run again.
"""

import ssdlab

SPARE = [0.07, 0.1, 0.15, 0.2, 0.28, 0.4]

sweep = ssdlab.sweep(
    {"scheme": ["npgc", "pgc"], "device.overprovisioning": SPARE, "seed": range(1, 4)},
    device="lee2013",
    workload="lee2013-synthetic",
    requests=5_000,
    set={"gc.soft": 0.03, "device.blocks_per_plane": 256},  # an eighth of the drive: quicker to prepare
    out="overprovisioning",
    resume=True,
    progress=True,
)

rows = sweep.table().to_pylist()


def mean(figure: str, scheme: str, spare: float) -> float:
    """Over the seeds."""
    found = [row[figure] for row in rows if (row["scheme"], row["device.overprovisioning"]) == (scheme, spare)]
    return sum(found) / len(found)


print(f"{'spare':>6} {'write ampl.':>11} {'p99, npgc':>12} {'p99, pgc':>12}")
for spare in SPARE:
    amplification = mean("gc.write_amplification", "npgc", spare)
    p99 = [mean("latency_ns.all.p99", scheme, spare) / 1e6 for scheme in ("npgc", "pgc")]
    print(f"{spare:6.0%} {amplification:11.3f} {p99[0]:9.2f} ms {p99[1]:9.2f} ms")

sweep.plot("gc.write_amplification", "device.overprovisioning").save("write_amplification.png")
sweep.plot("latency_ns.all.p99", "device.overprovisioning").save("p99.png")
print(f"\n{len(sweep)} runs are in overprovisioning/results.parquet, the figures in write_amplification.png and p99.png.")
