"""What a million parameter sets cost in a formula of the queueing model, beside the same arithmetic in NumPy."""

import time
from collections.abc import Callable

import numpy as np

from ssdlab import queueing

SETS = 1_000_000
TURNS = 5
TABLE_1 = {
    "read_rate": 1.0,
    "write_rate": 0.5,
    "read_time": 0.0763,
    "write_time": 0.9264,
    "copy_time": 0.9507,
    "erase_time": 3.0003,
    "pages": 256.0,
    "valid": 64.0,
}


def fastest(work: Callable[[], object]) -> float:
    """The best of some turns, seconds."""
    times = []
    for _ in range(TURNS):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def main() -> None:
    """Measures equation (15)."""
    draw = np.random.default_rng(1)
    sets = {name: value * draw.uniform(0.5, 1.0, SETS) for name, value in TABLE_1.items()}

    def in_numpy() -> np.ndarray:
        lr, lw, br, bw, bc, be, c, v = sets.values()
        return (lr * br**2 + lw * bw**2 + lw * (v * bc**2 + be**2) / (c - v)) / (2 * (1 - lr * br - lw * bw))

    ours, plain = fastest(lambda: queueing.mean_wait_rwp(**sets)), fastest(in_numpy)
    print(f"Mean wait under rwp (15) for {SETS:,} parameter sets, best of {TURNS} turns")
    print(f"  ssdlab {ours * 1e3:6.1f} ms, NumPy {plain * 1e3:6.1f} ms: {ours / plain:.1f} times NumPy's (asked: at most 20)")


if __name__ == "__main__":
    main()
