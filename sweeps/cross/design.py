"""Writes the sweeps of this folder: every mechanism beside every other, on drives of 2013 and of today.

    python sweeps/cross/design.py

The load of each drive and workload is a share of what the baseline sustains. This is measured first: all requests of the workload are
offered at once, and their number over the time until the last has completed is the rate of 100 %. `time_scale` of a point is then the
share of that rate, relative to the times of the workload. The baseline is non-preemptible garbage collection, operations in order of
arrival, no cache, no collection in idle time, and static placement (dynamic on superblocks, which have no other).

`cross.toml` has all combinations, `singles.toml` schemes of the papers one by one at 60 %, `attacks.toml` what findings are tested with,
and `settled.toml` a few schemes on drives whose write amplification has settled.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import Any

import ssdlab
from ssdlab.asking.plans import value_text

HERE = Path(__file__).resolve().parent
REQUESTS, WARM_UP = 9_000, 1_000
OFFERED = 12_000
"""Number of requests that are offered at once."""
LOADS = (60, 90, 30)
"""Shares of what the baseline sustains, in percent, in the order in which they are run."""
SEEDS = (1, 2, 3)
AT_ONCE = 1_000_000.0
"""Factor of the rate at which all requests of a workload arrive at once."""
SLOWLY = 0.001
"""Factor of the rate at which the time between requests decides the duration."""


def merged(*parts: dict[str, Any]) -> dict[str, Any]:
    """Options of several parts, with their keys together."""
    options = {key: value for part in parts for key, value in part.items() if key != "set"}
    return {**options, "set": {key: value for part in parts for key, value in part.get("set", {}).items()}}


ENERGY = {"read_mw": 40, "program_mw": 45, "erase_mw": 30, "bus_mw": 20, "idle_mw": 100}
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
    "uniform 32 KiB": {"workload": "lee2013-synthetic", "set": {"ftl.precondition.settle": 0}},
    "zipf 4 KiB": {
        "set": {
            "ftl.precondition.settle": 0,
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

COLUMNS = {"moved_per_job": "gc.pages_moved / gc.jobs", "wait_for_gc": "breakdown_ns.all.gc / latency_ns.all.mean"}
"""Derived columns of the sweeps."""

STATIC = {"ftl.allocation": "CWDP"}
PACED = {"scheme": "rwp", "set": {"gc.pace": "proportional", "gc.moves_in_flight": 2}}
SINGLES: dict[str, dict[str, Any]] = {
    "npgc": {"scheme": "npgc", "set": STATIC},
    "fpgc": {"scheme": "fpgc", "set": STATIC},
    "pgc-none": {"scheme": "pgc-none", "set": STATIC},
    "pgc-merge": {"scheme": "pgc-merge", "set": STATIC},
    "pgc-pipeline": {"scheme": "pgc-pipeline", "set": STATIC},
    "pgc": {"scheme": "pgc", "set": STATIC},
    "cbgc": {"scheme": "cbgc", "set": STATIC},
    "bbgc-dqgc": {"scheme": "bbgc-dqgc", "set": STATIC},
    "rwp": {"scheme": "rwp", "set": STATIC},
    "paced": merged({"set": STATIC}, PACED),
    "lru": {"scheme": "npgc+lru", "set": STATIC},
    "gcar-lru": {"scheme": "npgc+gcar-lru", "set": STATIC},
    "bplru": {"scheme": "npgc+bplru", "set": STATIC},
    "fr-fcfs": {"scheme": "npgc+fr-fcfs", "set": STATIC},
    "slacker": {"scheme": "npgc+slacker", "set": STATIC},
    "dynalloc": {"scheme": "npgc+dynalloc"},
    "npgc-idle": {"scheme": "npgc-idle", "set": STATIC},
    "sepbit": {"scheme": "npgc", "set": STATIC | {"ftl.placement": "sepbit"}},
    "no suspension": {"scheme": "rwp", "set": STATIC | {"scheduler.suspend": []}},
    "suspension": {"scheme": "rwp", "set": STATIC | {"scheduler.suspend": ["program", "erase"]}},
}
"""Schemes of the papers one by one, for the table of what still holds."""


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
    key = name if name.isidentifier() else value_text(name)
    return [f"{key} = [", *(f"  {value_text({'label': label, **options})}," for label, options in values.items()), "]"]


def sweep(
    title: str,
    axes: dict[str, dict[str, dict[str, Any]]],
    zipped: list[tuple[list[str], list[list[Any]]]],
    seeds: list[int] | None,
    *,
    short: bool = True,
    script: str = "design.py",
    alone: bool = False,
    columns: dict[str, str] = COLUMNS,
) -> str:
    """A sweep as TOML: axes with labels, and which of them go together.

    Args:
        title: what the sweep is about.
        axes: the axes, by name; their values have labels.
        zipped: axes that go together, and their rows.
        seeds: seeds of each point, if they are an axis.
        short: whether all runs have the same number of requests, which are few.
        script: the script of this folder that writes the sweep.
        alone: whether each of several flows is also run alone.
        columns: derived columns.
    """
    lines = [
        f"# {title}. Written by sweeps/cross/{script}.",
        *([toml("requests", REQUESTS), toml("warm_up", WARM_UP)] if short else []),
        toml("leave_out_refused", True),
        toml("series", False),
        *([toml("alone", True)] if alone else []),
        "",
        "[set]",
        *(toml(f"energy.{key}", value) for key, value in ENERGY.items()),
        "",
        "[columns]",
        *(toml(name, formula) for name, formula in columns.items()),
        "",
        "[grid]",
        *(line for name, values in axes.items() for line in axis(name, values)),
        *([] if seeds is None else [toml("seed", seeds)]),
    ]
    for names, rows in zipped:
        lines += ["", "[[zip]]", toml("axes", names), "rows = [", *(f"  {value_text(row)}," for row in rows), "]"]
    return "\n".join(lines) + "\n"


ATTACKED = [
    ["npgc", "fcfs", "none", "off", "static"],
    ["rwp", "fcfs", "none", "off", "static"],
    ["pgc", "fcfs", "none", "off", "static"],
    ["npgc", "reads first", "none", "off", "static"],
    ["rwp", "reads first", "none", "off", "static"],
    ["npgc", "fcfs", "gcar-lru", "off", "static"],
    ["rwp", "fcfs", "gcar-lru", "off", "static"],
    ["npgc", "fcfs", "none", "on", "static"],
    ["npgc", "fcfs", "none", "off", "dynamic"],
    ["rwp", "fcfs", "none", "off", "dynamic"],
    ["rwp", "reads first", "none", "off", "dynamic"],
]
"""The schemes that findings are about, which are run again under other conditions."""
SEED, LOAD, PART, LARGE = "another seed", "another load", "another part", "a larger drive"


def attacks(rates: dict[tuple[str, str], float]) -> str:
    """The sweep in which findings are attacked. Rates are those of the first sweep, so that a larger drive has the same load."""
    later = {name: {**of, "set": {**of["set"], "workload.skip": OFFERED}} for name, of in WORKLOADS.items() if "trace" in of}
    kinds = {SEED: {"seed": 2}, LOAD: {"seed": 3}, PART: {"seed": 1}, LARGE: {"seed": 1}}
    rows = [[SEED, drive, name, "60", scaled(rate, 60)] for (drive, name), rate in rates.items()]
    rows += [[LOAD, drive, name, "75", scaled(rate, 75)] for (drive, name), rate in rates.items()]
    rows += [[PART, drive, f"{name}, later", "60", scaled(rate, 60)] for (drive, name), rate in rates.items() if name in later]
    rows += [[LARGE, f"{drive}, larger", name, "60", scaled(rate, 60)] for (drive, name), rate in rates.items()]
    axes = {
        "attack": kinds,
        "drive": {**DRIVES, **{f"{name}, larger": larger(drive) for name, drive in DRIVES.items()}},
        "workload": {**WORKLOADS, **{f"{name}, later": of for name, of in later.items()}},
        "load": {"60": {}, "75": {}},
        **{factor: {value: MECHANISMS[factor][value] for value in dict.fromkeys(column)} for factor, column in by_factor().items()},
    }
    title = "Schemes that findings are about, under another seed, load, part of the trace, and on a larger drive"
    return sweep(title, axes, [(["attack", "drive", "workload", "load", "time_scale"], rows), (list(MECHANISMS), ATTACKED)], None)


SETTLED = [row for row in ATTACKED if row[2] == "none" and row != ["rwp", "reads first", "none", "off", "dynamic"]] + [
    ["rwp", "reads first", "gcar-lru", "off", "dynamic"],
    ["paced", "reads first", "none", "off", "dynamic"],
]
"""Schemes that are run on settled drives: those of findings without a cache, the best on most drives, and paced GC."""
SETTLED_LOADS = {"uniform 32 KiB": 60, "zipf 4 KiB": 30}
"""Loads at which the baseline is not overloaded in the long run, in percent of what it sustains for a short time."""
LENGTHS = {
    "uniform 32 KiB": {"requests": 42_000, "warm_up": 2_000},
    "zipf 4 KiB": {"requests": 152_000, "warm_up": 2_000},
}
ZIPF_DRIVES = ("lee2013", "pe8110-like", "nvme", "nvme superblocks")
"""Drives that settle under small writes within half a minute."""


def settled(rates: dict[tuple[str, str], float]) -> str:
    """The sweep on drives that serve the workload until write amplification has settled, before they are measured."""
    served = {name: merged(WORKLOADS[name], length, {"set": {"ftl.precondition.settle": 8}}) for name, length in LENGTHS.items()}
    drives = {"uniform 32 KiB": tuple(DRIVES), "zipf 4 KiB": ZIPF_DRIVES}
    rows = [[drive, name, str(load), scaled(rates[drive, name], load)] for name, load in SETTLED_LOADS.items() for drive in drives[name]]
    values = {**MECHANISMS, "gc": {**GC, "paced": PACED}}
    schemes = {name: [row[place] for row in SETTLED] for place, name in enumerate(MECHANISMS)}
    axes = {
        "drive": DRIVES,
        "workload": served,
        "load": {str(load): {} for load in SETTLED_LOADS.values()},
        **{factor: {value: values[factor][value] for value in dict.fromkeys(column)} for factor, column in schemes.items()},
    }
    zipped = [(["drive", "workload", "load", "time_scale"], rows), (list(MECHANISMS), SETTLED)]
    return sweep("A few schemes on settled drives", axes, zipped, [1], short=False)


def by_factor() -> dict[str, list[str]]:
    """The values of each factor of the attacked schemes."""
    return {factor: [row[place] for row in ATTACKED] for place, factor in enumerate(MECHANISMS)}


def scaled(rate: float, load: int) -> float:
    """`time_scale` of a load, with four digits."""
    return float(f"{rate * load / 100:.4g}")


def larger(drive: dict[str, Any]) -> dict[str, Any]:
    """A drive with twice as many blocks."""
    blocks = drive["set"].get("device.blocks_per_plane", 455)
    return {**drive, "set": {**drive["set"], "device.blocks_per_plane": 2 * blocks}}


def sweeps(rates: dict[tuple[str, str], float]) -> dict[str, str]:
    """The files of the folder, by name."""
    head = ["drive", "workload", "load", "time_scale"]
    rows = [[drive, name, str(load), scaled(rate, load)] for load in LOADS for (drive, name), rate in rates.items()]
    common = {"drive": DRIVES, "workload": WORKLOADS}
    loads: dict[str, dict[str, Any]] = {str(load): {} for load in LOADS}
    some = [row for row in rows if row[2] == "60"]
    of_papers = {**common, "load": {"60": {}}, "scheme of a paper": SINGLES}
    return {
        "cross.toml": sweep("Every mechanism beside every other", {**common, "load": loads, **MECHANISMS}, [(head, rows)], [1]),
        "singles.toml": sweep("Schemes of the papers one by one", of_papers, [(head, some)], [1]),
        "attacks.toml": attacks(rates),
        "settled.toml": settled(rates),
    }


def main() -> None:
    """Measures what the baselines sustain, and writes the sweeps."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=HERE)
    asked = parser.parse_args()
    rates: dict[tuple[str, str], float] = {}
    for drive, options in DRIVES.items():
        for name, workload in WORKLOADS.items():
            there = {key: str(HERE / value) if key == "trace" else value for key, value in workload.items()}
            rates[drive, name] = sustained(options, there)
            print(f"{drive}, {name}: 100 % is {rates[drive, name]:.3g} times the rate of the workload", flush=True)
    asked.out.mkdir(parents=True, exist_ok=True)
    for name, text in sweeps(rates).items():
        (asked.out / name).write_text(text)


if __name__ == "__main__":
    main()
