"""Synthetic series and histograms in the form of real ones, of any size: runs of tests are too short for large ones."""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Mapping
from typing import Any

BUCKETS = 1.001
"""Ratio of neighbouring bucket bounds of response times."""


def with_series(
    data: Mapping[str, Any], *, seed: int, bins: int = 512, chips: int = 16, collects: bool = True, cache: bool = False
) -> dict[str, Any]:
    """A copy of a result with synthetic series and histograms."""
    made = copy.deepcopy(dict(data))
    rng = random.Random(seed)
    width = max(made["simulated_ns"] // bins, 1)
    rows = min(chips, 64)
    wave = [max(0.0, math.sin(index / 17 + seed)) ** 3 for index in range(bins)]
    active = [[_share(rng, wave[b]) if collects else 0.0 for b in range(bins)] for _ in range(rows)]
    load = [0.3 + 0.7 * abs(math.sin(index / 40)) for index in range(bins)]
    free = [max(0, round(20 - 19 * wave[b] - 3 * rng.random())) if collects else 30 for b in range(bins)]
    s3 = [0.2 * wave[b] * rng.random() if collects and free[b] < 4 else 0.0 for b in range(bins)]
    s2 = [0.3 * wave[b] * rng.random() if collects and free[b] < 8 else 0.0 for b in range(bins)]
    s1 = [0.4 * wave[b] for b in range(bins)] if collects else [0.0] * bins
    series = {
        "bin_ns": width,
        "bins": bins,
        "latency_ns": {kind: _latencies(made, kind, bins, load, wave, rng) for kind in ("read", "write")},
        "outstanding": {
            "mean": [8 * share * (1 + rng.random()) for share in load],
            "max": [round(30 * share * (1 + 3 * rng.random())) for share in load],
        },
        "gc": {
            "chips": active,
            "chips_per_row": -(-chips // 64),
            "jobs": [round(9 * share) for share in wave],
            "pages_moved": [round(300 * share * rng.random()) if collects else 0 for share in wave],
        },
        "written": {
            "host_bytes": [round(1e6 * share) for share in load],
            "flash_bytes": [round(1e6 * share * (1 + 2 * peak)) for share, peak in zip(load, wave, strict=True)],
        },
        "free_blocks": {"min": free, "mean": [count + 3 + rng.random() for count in free], "soft": 12, "hard": 4},
        "states": {"s0": [1 - a - b - c for a, b, c in zip(s1, s2, s3, strict=True)], "s1": s1, "s2": s2, "s3": s3},
        "bus": [0.1 * share * (1 + rng.random()) for share in load],
        "dies": [0.4 * share * (1 + rng.random()) for share in load],
    }
    if cache:
        lookups = [round(400 * share) for share in load]
        series["cache"] = {
            "lookups": lookups,
            "hits": [round(count * (0.2 + 0.3 * rng.random())) for count in lookups],
            "dirty": [round(200 + 50 * rng.random()) for _ in load],
        }
    if cache:
        series["slc"] = {
            "cached_bytes": [round(1e6 * share) for share in load],
            "direct_bytes": [round(4e5 * peak) for peak in wave],
            "folded_bytes": [round(6e5 * peak * share) for peak, share in zip(wave, load, strict=True)],
        }
        written, collected = [round(900 * share) for share in load], [64 * round(3 * peak) for peak in wave]
        valid = [round(units * share) for units, share in zip(collected, load, strict=True)]
        counts = {"collected_units": collected, "valid_units": valid}
        series["streams"] = [
            {"writer": "host", "class": 0, "host_units": written, **counts},
            {"writer": "host", "class": 1, "host_units": [0] * bins, "collected_units": [0] * bins, "valid_units": [0] * bins},
            {"writer": "moves", "class": 0, "host_units": [0] * bins, **counts},
        ]
    made["series"] = series
    made["histograms"] = {kind: _histogram(made["latency_ns"][kind], rng) for kind in ("read", "write") if kind in made["latency_ns"]}
    return made


def _share(rng: random.Random, most: float) -> float:
    return min(1.0, most * rng.random() * 1.2) if rng.random() < 0.7 else 0.0


def _latencies(data: Mapping[str, Any], kind: str, bins: int, load: list[float], wave: list[float], rng: random.Random) -> dict[str, Any]:
    whole = data["latency_ns"].get(kind)
    if whole is None:
        return {name: [0] * bins for name in ("count", "mean", "max")}
    total = sum(load)
    count = [round(whole["count"] * share / total) for share in load]
    mean = [whole["mean"] * (0.5 + share) * (0.8 + 0.4 * rng.random()) if n else 0.0 for share, n in zip(wave, count, strict=True)]
    most = [round(min(whole["max"], value * (2 + 10 * rng.random()))) for value in mean]
    return {"count": count, "mean": mean, "max": most}


def _histogram(whole: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    """Counts that decrease towards the longest response time."""
    bounds = [max(float(whole["min"]), 1.0)]
    while bounds[-1] < whole["max"]:
        bounds.append(bounds[-1] * BUCKETS)
    weights = [rng.random() * math.exp(-8 * index / len(bounds)) for index in range(len(bounds))]
    scale = whole["count"] / sum(weights)
    counts = [round(weight * scale) for weight in weights]
    counts[-1] = 1
    kept = [(round(bound), count) for bound, count in zip(bounds, counts, strict=True) if count]
    kept[-1] = (whole["max"], kept[-1][1])
    return {"upper_ns": [bound for bound, _ in kept], "count": [count for _, count in kept]}
