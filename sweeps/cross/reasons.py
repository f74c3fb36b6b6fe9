"""Prints what the reasons of docs/findings.md rest on: how often a mechanism of a paper could act at all, by drive and workload.

    python sweeps/cross/reasons.py [DRIVE...]

The runs are those of `singles.toml`. The last lines compare two schemes with one thing changed: a cache of 16 MiB, or GC that lets the
host go first.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import ssdlab
from ssdlab.analysis.uncertainty import Estimate
from ssdlab.experiments.sweeping.definition import Point, load

HERE = Path(__file__).resolve().parent
DRIVES = ("lee2013", "nvme", "pe8110-like")
COUNTS = {
    "npgc-idle": ("counters.idle_jobs", "gc.jobs"),
    "slacker": ("slack.chips.read", "slack.chips.write", "slack.passed.read", "slack.passed.write"),
    "gcar-lru": ("cache.hit_ratio", "cache.gc_fallbacks", "cache.evictions"),
}
"""Statistics of each scheme that say how often it could act."""
CHANGED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("gcar-lru", "lru", {"cache.bytes": 16 << 20}),
    ("slacker", "fr-fcfs", {"gc.scope": "none", "gc.priority": "host"}),
)


def points(drive: str, scheme: str) -> list[Point]:
    """The points of a drive and scheme, by workload."""
    return [
        point
        for point in load(HERE / "singles.toml").points()
        if (point.values["drive"], point.values["scheme of a paper"]) == (drive, scheme)
    ]


def run(point: Point, **keys: Any) -> ssdlab.Result:
    """The run of a point, with some keys changed."""
    options = {**point.options, **({"trace": str(HERE / "traces" / Path(point.options["trace"]).name)} if "trace" in point.options else {})}
    return ssdlab.run(**options, set={**point.set, **keys})


def statistic(result: ssdlab.Result, path: str) -> float:
    """A statistic by its path; 0 if the run does not have it."""
    value: Any = result.to_dict()
    for name in path.split("."):
        value = value.get(name, 0) if isinstance(value, dict) else 0
    return float(value)


def changed(drive: str, one: str, other: str, keys: dict[str, Any]) -> Estimate:
    """The difference of the logarithm of the mean over the workloads of a drive."""
    means = [[run(point, **keys).latency.all.mean for point in points(drive, scheme)] for scheme in (one, other)]
    return Estimate.of([math.log(new / old) for new, old in zip(*means, strict=True)])


def main(drives: tuple[str, ...]) -> None:
    """Prints the counts, then the comparisons."""
    for drive in drives:
        for scheme, paths in COUNTS.items():
            for point in points(drive, scheme):
                result = run(point)
                shown = ", ".join(f"{path} {statistic(result, path):.4g}" for path in paths)
                print(f"{drive}, {point.values['workload']}, {scheme}: {shown}", flush=True)
    for drive in drives:
        for one, other, keys in CHANGED:
            found = changed(drive, one, other, keys)
            low, middle, high = (100 * math.expm1(found.mean + by) for by in (-(found.half or 0), 0, found.half or 0))
            print(f"{drive}, mean, {one} against {other}, {keys}: {middle:+.1f} % ({low:+.1f} to {high:+.1f})", flush=True)


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or DRIVES)
