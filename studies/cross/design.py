"""Writes the sweeps of this folder: every mechanism beside every other, on drives of 2013 and of today.

    python studies/cross/design.py

The load of each drive and workload is a share of what the baseline sustains. This is measured first: all requests of the workload are offered
at once, and their number over the time until the last has completed is the rate of 100 %. `time_scale` of a point is then the share of that
rate, relative to the times of the workload. The baseline is non-preemptible garbage collection, operations in order of arrival, no cache,
no collection in idle time, and static placement (dynamic on superblocks, which have no other).

`--out FOLDER` writes elsewhere, `--large` drives twice as large, `--part` another part of each trace, `--loads` other shares, `--seed`
another first seed.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import Any

import ssdlab
from ssdlab.plans import value_text

HERE = Path(__file__).resolve().parent
REQUESTS, WARM_UP = 9_000, 1_000
OFFERED = 12_000
"""Number of requests that are offered at once."""
LOADS = (30, 60, 90)
SEEDS = (1, 2, 3)
AT_ONCE = 1_000_000.0
"""Factor of the rate at which all requests of a workload arrive at once."""
SLOWLY = 0.001
"""Factor of the rate at which the time between requests decides the duration."""

ENERGY = {"read_mw": 40, "program_mw": 45, "erase_mw": 30, "bus_mw": 20, "idle_mw": 100}
NVME = {"ftl.precondition.settle": 1}
DRIVES: dict[str, dict[str, Any]] = {
    "lee2013": {"device": "lee2013", "set": {"device.blocks_per_plane": 64, "ftl.precondition.kind": "steady"}},
    "nvme": {"device": "nvme-tlc-scaled-5g", "set": {"device.blocks_per_plane": 150}},
    "nvme worn": {
        "device": "nvme-tlc-scaled-5g",
        "set": {
            "device.blocks_per_plane": 150,
            "errors.retry": "in-order",
            "errors.correctable_bits": 57,
            "ftl.precondition.pe_cycles": 3000,
            "ftl.precondition.retention_days": 365,
        },
    },
    "nvme superblocks": {
        "device": "nvme-tlc-2023-superblock",
        "set": {
            "device.channels": 1,
            "device.chips_per_channel": 8,
            "device.blocks_per_plane": 150,
            "device.pages_per_block": 96,
            "device.erase_ns": 625_000,
            "buffer.bytes": 1_048_576,
            "host.link_bytes_per_us": 862,
            "host.cores": 1,
            "ftl.precondition.kind": "steady",
            "gc.soft": 3,
        },
    },
    "pe8110-like": {
        "device": "pe8110-like",
        "set": {
            "device.channels": 4,
            "device.pages_per_block": 48,
            "device.blocks_per_plane": 150,
            "device.erase_ns": 312_500,
            "buffer.bytes": 2_097_152,
            "host.cores": 2,
            "ftl.precondition.kind": "steady",
        },
    },
    "consumer": {"device": "consumer-tlc-scaled-4g", "set": {"ftl.precondition.kind": "fill"}},
}
"""The drives, made small so that a run takes half a second: fewer dies, blocks and pages of a block than their presets."""

TRACED = {"workload.range": "wrap"}
WORKLOADS: dict[str, dict[str, Any]] = {
    "uniform 32 KiB": {"workload": "lee2013-synthetic", "set": {"ftl.precondition.settle": 1}},
    "zipf 4 KiB": {
        "set": {
            "ftl.precondition.settle": 1,
            "workload": {
                "read_share": 0.7,
                "request_kb": 4,
                "arrival": "exponential",
                "interarrival_us": 300,
                "queue_depth": 0,
                "address": "zipf",
                "zipf_exponent": 0.9,
                "footprint": 0.8,
            },
        },
    },
    **{
        name.replace("_", " "): {"trace": f"traces/{name}.csv.zst", "set": TRACED}
        for name in (
            "mariadb_oltp_paced",
            "mariadb_oltp_write_only",
            "mariadb_oltp_read_write",
            "rocksdb_ycsb",
            "sqlite_delete",
            "sqlite_wal",
        )
    },
}

GC = {
    "npgc": {"scheme": "npgc"},
    "rwp": {"scheme": "rwp"},
    "pgc": {"scheme": "pgc"},
}
ORDER = {"fcfs": {"set": {"scheduler.order": "fcfs"}}, "reads first": {"set": {"scheduler.order": "fr-fcfs"}}}
CACHE: dict[str, dict[str, Any]] = {"none": {}, "gcar-lru": {"set": {"cache.policy": "lru", "cache.gc_aware": True}}}
IDLE: dict[str, dict[str, Any]] = {
    "off": {},
    "on": {"set": {"gc.trigger": "idle", "gc.idle_us": 1000, "gc.idle_timeout": "adaptive"}},
}
PLACEMENT = {"static": {"set": {"ftl.allocation": "CWDP"}}, "dynamic": {"set": {"ftl.allocation": "dynamic"}}}
MECHANISMS = {"gc": GC, "order": ORDER, "cache": CACHE, "idle": IDLE, "placement": PLACEMENT}

STATIC = {"ftl.allocation": "CWDP"}
SINGLES: dict[str, dict[str, Any]] = {
    "npgc": {"scheme": "npgc", "set": STATIC},
    "fpgc": {"scheme": "fpgc", "set": STATIC},
    "pgc-none": {"scheme": "pgc-none", "set": STATIC},
    "pgc-merge": {"scheme": "pgc-merge", "set": STATIC},
    "pgc-pipeline": {"scheme": "pgc-pipeline", "set": STATIC},
    "pgc": {"scheme": "pgc", "set": STATIC},
    "cbgc": {"scheme": "cbgc", "set": STATIC},
    "dqgc": {"scheme": "dqgc", "set": STATIC},
    "bbgc-dqgc": {"scheme": "bbgc-dqgc", "set": STATIC},
    "cep": {"scheme": "cep", "set": STATIC},
    "rwp": {"scheme": "rwp", "set": STATIC},
    "paced": {"scheme": "rwp", "set": STATIC | {"gc.pace": "proportional", "gc.moves_in_flight": 2}},
    "lru": {"scheme": "npgc+lru", "set": STATIC},
    "gcar-lru": {"scheme": "npgc+gcar-lru", "set": STATIC},
    "cflru": {"scheme": "npgc+cflru", "set": STATIC},
    "bplru": {"scheme": "npgc+bplru", "set": STATIC},
    "pgc lru": {"scheme": "pgc+lru", "set": STATIC},
    "pgc gcar-lru": {"scheme": "pgc+gcar-lru", "set": STATIC},
    "fr-fcfs": {"scheme": "npgc+fr-fcfs", "set": STATIC},
    "rbyp": {"scheme": "npgc+rbyp", "set": STATIC},
    "slacker": {"scheme": "npgc+slacker", "set": STATIC},
    "pgc fr-fcfs": {"scheme": "pgc+fr-fcfs", "set": STATIC},
    "pgc slacker": {"scheme": "pgc+slacker", "set": STATIC},
    "dynalloc": {"scheme": "npgc+dynalloc"},
    "npgc-idle": {"scheme": "npgc-idle", "set": STATIC},
    "pgc-idle": {"scheme": "pgc-idle", "set": STATIC},
    "sepbit": {"scheme": "npgc", "set": STATIC | {"ftl.placement": "sepbit"}},
    "pgc sepbit": {"scheme": "pgc", "set": STATIC | {"ftl.placement": "sepbit"}},
    "no suspension": {"scheme": "rwp", "set": STATIC | {"scheduler.suspend": []}},
    "suspension": {"scheme": "rwp", "set": STATIC | {"scheduler.suspend": ["program", "erase"]}},
}
"""Schemes of the papers one by one, for the table of what still holds."""


def merged(*parts: dict[str, Any]) -> dict[str, Any]:
    """Options of several parts, with their keys together."""
    options = {key: value for part in parts for key, value in part.items() if key != "set"}
    return {**options, "set": {key: value for part in parts for key, value in part.get("set", {}).items()}}


def sustained(drive: dict[str, Any], workload: dict[str, Any]) -> float:
    """The factor of the workload's rate at which the baseline serves all requests that are offered at once: the median over seeds."""
    superblocks = "superblock" in drive["device"]
    baseline = {"scheme": "npgc", "set": {"ftl.allocation": "dynamic" if superblocks else "CWDP", "scheduler.order": "fcfs"}}

    def rate(time_scale: float, seed: int) -> float:
        result = ssdlab.run(**merged(drive, workload, baseline), requests=OFFERED, seed=seed, time_scale=time_scale)
        return float(result["iops"])

    if "trace" in workload:
        return statistics.median(rate(AT_ONCE, seed) for seed in SEEDS) / (rate(SLOWLY, 1) / SLOWLY)
    return statistics.median(rate(AT_ONCE, seed) / (rate(SLOWLY, seed) / SLOWLY) for seed in SEEDS)


def toml(name: str, value: object) -> str:
    """A line of a TOML file."""
    return f"{name} = {value_text(value)}"


def axis(name: str, values: dict[str, dict[str, Any]]) -> list[str]:
    """The lines of an axis with labels."""
    return [f"{name} = [", *(f"  {value_text({'label': label, **options})}," for label, options in values.items()), "]"]


def text(title: str, axes: dict[str, dict[str, dict[str, Any]]], drives: dict[str, Any], rows: list[list[Any]], seeds: list[int]) -> str:
    """A sweep as TOML."""
    loads = dict.fromkeys((str(row[2]) for row in rows), {})
    used = {"drive": drives, "workload": WORKLOADS, "load": loads}
    lines = [
        f"# {title}. Written by studies/cross/design.py.",
        toml("requests", REQUESTS),
        toml("warm_up", WARM_UP),
        toml("leave_out_refused", True),
        toml("series", False),
        "",
        "[set]",
        *(toml(f"energy.{key}", value) for key, value in ENERGY.items()),
        "",
        "[columns]",
        'moved_per_job = "gc.pages_moved / gc.jobs"',
        'wait_for_gc = "breakdown_ns.all.gc / latency_ns.all.mean"',
        "",
        "[grid]",
        *(line for name, values in {**used, **axes}.items() for line in axis(name, values)),
        toml("seed", seeds),
        "",
        "[[zip]]",
        'axes = ["drive", "workload", "load", "time_scale"]',
        "rows = [",
        *(f"  {value_text(row)}," for row in rows),
        "]",
    ]
    return "\n".join(lines) + "\n"


def larger(drive: dict[str, Any]) -> dict[str, Any]:
    """A drive with twice as many blocks."""
    blocks = drive["set"].get("device.blocks_per_plane", 455)
    return {**drive, "set": {**drive["set"], "device.blocks_per_plane": 2 * blocks}}


def main() -> None:
    """Measures what the baselines sustain, and writes the sweeps."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=HERE)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--part", action="store_true")
    parser.add_argument("--loads", type=int, nargs="+", default=list(LOADS))
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    drives = {name: larger(drive) if asked.large else drive for name, drive in DRIVES.items()}
    if asked.part:
        TRACED["workload.skip"] = OFFERED
    rows: list[list[Any]] = []
    for drive, options in drives.items():
        for name, workload in WORKLOADS.items():
            there = {key: str(HERE / value) if key == "trace" else value for key, value in workload.items()}
            full = sustained(options, there)
            print(f"{drive}, {name}: 100 % is {full:.3g} times the rate of the workload", flush=True)
            rows += [[drive, name, str(load), float(f"{full * load / 100:.4g}")] for load in asked.loads]
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "cross.toml").write_text(text("Every mechanism beside every other", MECHANISMS, drives, rows, [asked.seed]))
    some = [row for row in rows if row[2] == "60"] or rows
    singles = text("Schemes of the papers one by one", {"scheme of a paper": SINGLES}, drives, some, [asked.seed, asked.seed + 1])
    (asked.out / "singles.toml").write_text(singles)


if __name__ == "__main__":
    main()
