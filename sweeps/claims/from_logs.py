"""Recomputes three findings from logs of requests alone: nothing of ssdlab is imported here.

    python sweeps/claims/from_logs.py LOGS

`LOGS` has a folder for each run, named after its scheme, with `requests.parquet`: a row for each request, with its kind, its response time
and whether it belongs to the warm-up. docs/findings.md has the commands that write them. A percentile is the smallest response time that at
least this share of the requests has.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq


def times(log: Path, kinds: tuple[str, ...] = ("read", "write")) -> np.ndarray:
    """The response times of some kinds of requests, ns, without the warm-up, sorted."""
    table = pq.read_table(log / "requests.parquet", columns=["kind", "response_ns", "warm_up"])
    chosen = [
        ns
        for kind, ns, warm_up in zip(*(table[name].to_pylist() for name in ("kind", "response_ns", "warm_up")), strict=True)
        if kind in kinds and not warm_up
    ]
    return np.sort(np.array(chosen, dtype=np.float64))


def percentile(ordered: np.ndarray, share: float) -> float:
    """The smallest time that at least this share of the requests has."""
    return float(ordered[math.ceil(share * len(ordered)) - 1])


def change(new: float, old: float) -> float:
    """A relative change in percent."""
    return 100 * (new / old - 1)


def main(logs: Path) -> None:
    """Prints the findings."""
    names = ("npgc", "rwp", "npgc-reads", "rwp-reads")
    reads = {name: percentile(times(logs / name, ("read",)), 0.99) for name in names}
    print(f"p99 of reads, rwp against npgc: {change(reads['rwp'], reads['npgc']):.1f} %")
    alone, beside = change(reads["npgc-reads"], reads["npgc"]), change(reads["rwp-reads"], reads["rwp"])
    print(f"p99 of reads, reads first: {alone:.1f} % under npgc, {beside:.1f} % under rwp")
    means = {name: float(times(logs / name).mean()) for name in ("rwp", "rwp-idle")}
    print(f"mean, GC in idle time under rwp: {change(means['rwp-idle'], means['rwp']):.1f} %")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
