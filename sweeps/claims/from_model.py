"""Recomputes finding 1 for a single die with a model written apart (`tests/reference_queueing.py`): nothing of ssdlab is imported here.

    python sweeps/claims/from_model.py

The die is that of bux2011: 2 reads to a write, Poisson arrivals, 64 of 256 pages valid in each victim. Its utilisation by users and
GC is 0.3, 0.6 and 0.9. `cep` lets GC go first, `rwp` the host.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from reference_queueing import Die, Op, simulate

DIE = Die(read_ns=76_300, write_ns=926_400, copy_ns=950_700, erase_ns=3_000_300, pages=256, valid=(64,))
REQUESTS = 200_000


def arrivals(utilisation: float, seed: int) -> list[tuple[int, Op]]:
    """Poisson arrivals of two reads to a write, at times in ns."""
    (valid,) = DIE.valid
    gc_ns = (valid * DIE.copy_ns + DIE.erase_ns) / (DIE.pages - valid)
    work_ns = (2 * DIE.read_ns + DIE.write_ns + gc_ns) / 3
    draws = np.random.default_rng(seed)
    times = np.cumsum(draws.exponential(work_ns / utilisation, REQUESTS)).astype(np.int64)
    writes = draws.random(REQUESTS) < 1 / 3
    return [(int(at), "write" if write else "read") for at, write in zip(times, writes, strict=True)]


def of_reads(priority: str, utilisation: float, seed: int) -> np.ndarray:
    """Response times of reads, ns, sorted."""
    found = simulate(DIE, priority, arrivals(utilisation, seed))
    return np.sort([request.wait_ns + DIE.read_ns for request in found.requests if request.op == "read"])


def main() -> None:
    """Prints the change of the mean and of p99 of reads at each utilisation."""
    for utilisation in (0.3, 0.6, 0.9):
        cep, rwp = (of_reads(priority, utilisation, seed=1) for priority in ("cep", "rwp"))
        place = math.ceil(0.99 * len(cep)) - 1
        mean, tail = 100 * (rwp.mean() / cep.mean() - 1), 100 * (rwp[place] / cep[place] - 1)
        print(f"reads at utilisation {utilisation}: mean {mean:.1f} %, p99 {tail:.1f} %")


if __name__ == "__main__":
    main()
