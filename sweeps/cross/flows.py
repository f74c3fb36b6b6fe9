"""Writes flows.toml and flows-attacks.toml: several flows of requests on one drive, and how evenly they slow each other down.

    python sweeps/cross/flows.py

The load is 60 % of what the baseline sustains of each mix of flows: all requests are offered at once, and their number over the time until
the last has completed is the rate of 100 %. The drive takes 32 commands, so that the queues of the host matter.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import Any

import design

import ssdlab

LOAD, OTHER_LOAD = 60, 75
DRIVES = {name: design.DRIVES[name] for name in ("lee2013", "nvme", "nvme superblocks", "pe8110-like")}
READER = {"read_share": 1.0, "request_kb": 4, "arrival": "fixed"}
BURSTS = {"read_share": 0.0, "request_kb": 32, "arrival": "burst", "burst_length": 32}
ZIPF = {"read_share": 0.7, "request_kb": 4, "address": "zipf", "zipf_exponent": 0.9}
Flows = dict[str, tuple[float, dict[str, Any]]]
MIXES: dict[str, Flows] = {
    "bursts": {"reader": (0.4, READER), "writer": (0.2, BURSTS), "mix": (0.4, ZIPF)},
    "long bursts": {"reader": (0.4, READER), "writer": (0.2, BURSTS | {"burst_length": 128}), "mix": (0.4, ZIPF)},
    "small writes": {"reader": (0.3, READER), "writer": (0.4, BURSTS | {"request_kb": 4}), "mix": (0.3, ZIPF)},
    "large writes": {
        "reader": (0.5, READER),
        "writer": (0.1, {"read_share": 0.0, "request_kb": 128, "sequential_share": 1.0}),
        "mix": (0.4, ZIPF),
    },
}
"""Flows by mix: the share of the requests that each sends, and its keys. Each has a third of the addresses."""
QUEUES = {
    "one": {"set": {"host.queues": 1}},
    "in turns": {"set": {"host.queues": 3}},
    "weighted": {"set": {"host.queues": 3, "host.arbitration": "wrr", "host.weights": [4, 1, 2]}},
}
"""The queues of the host: one for all, or one for each flow, which give commands in turns, or 4, 1 and 2 in a turn."""
MECHANISMS = {name: design.MECHANISMS[name] for name in ("gc", "order", "idle")} | {"queues": QUEUES}
COLUMNS = {f"slowdown_of_{name}": f"flows.{name}.alone.slowdown" for name in ("reader", "writer", "mix")}


ATTACKED = [
    ["npgc", "fcfs", "off", "one"],
    ["rwp", "fcfs", "off", "one"],
    ["npgc", "fcfs", "off", "in turns"],
    ["rwp", "fcfs", "off", "in turns"],
]
"""The schemes that the finding is about, which are run again under other conditions."""


def workload(flows: Flows, rate: float) -> dict[str, Any]:
    """The keys of the workload at which the flows send `rate` requests a second together."""
    third = 1 / len(flows)
    parts = [
        {
            "name": name,
            "queue_depth": 0,
            "interarrival_us": float(f"{1e6 / (rate * share):.4g}"),
            "part": [round(third * place, 4), round(third * (place + 1), 4)],
            **keys,
        }
        for place, (name, (share, keys)) in enumerate(flows.items())
    ]
    return {**parts[0], "flows": parts[1:]}


def allocation(drive: str) -> dict[str, Any]:
    """Static placement; dynamic on superblocks, which have no other."""
    return {"set": {"ftl.allocation": "dynamic" if drive == "nvme superblocks" else "CWDP", "host.slots": 32, "ftl.precondition.settle": 0}}


def sustained(drive: str, flows: Flows) -> float:
    """The rate at which the baseline serves all requests that are offered at once, 1/s: the median over seeds."""
    at_once = {"scheme": "npgc", "set": {"scheduler.order": "fcfs", "workload": workload(flows, 1e9)}}
    options = design.merged(DRIVES[drive], allocation(drive), at_once)
    return statistics.median(float(ssdlab.run(**options, requests=design.OFFERED, seed=seed)["iops"]) for seed in design.SEEDS)


def rated(rates: dict[tuple[str, str], float], load: int) -> dict[str, dict[str, Any]]:
    """The labelled values of an axis: the workload of each drive and mix at a load."""
    found = {(drive, mix): workload(MIXES[mix], rate * load / 100) for (drive, mix), rate in rates.items()}
    return {f"{mix} on {drive} at {load}": {"set": {"workload": keys}} for (drive, mix), keys in found.items()}


def placed_drives() -> dict[str, dict[str, Any]]:
    """The drives with what all points have."""
    return {name: design.merged(drive, allocation(name)) for name, drive in DRIVES.items()}


def flows_toml(rates: dict[tuple[str, str], float]) -> str:
    """The sweep. `rates`: what the baseline sustains, by drive and mix, 1/s."""
    rows = [[drive, mix, str(LOAD), f"{mix} on {drive} at {LOAD}"] for drive, mix in rates]
    labels: dict[str, dict[str, Any]] = {mix: {} for mix in MIXES}
    axes = {"drive": placed_drives(), "workload": labels, "load": {str(LOAD): {}}, "rates": rated(rates, LOAD), **MECHANISMS}
    title = "Several flows on one drive, each also alone"
    return design.sweep(title, axes, [(["drive", "workload", "load", "rates"], rows)], [1], script="flows.py", alone=True, columns=COLUMNS)


def attacks_toml(rates: dict[tuple[str, str], float]) -> str:
    """The sweep in which the finding is attacked: another seed, another load, and a larger drive under the same rate."""
    kinds = {design.SEED: {"seed": 2}, design.LOAD: {"seed": 3}, design.LARGE: {"seed": 1}}
    rows = []
    for drive, mix in rates:
        rows += [[design.SEED, drive, mix, str(LOAD), f"{mix} on {drive} at {LOAD}"]]
        rows += [[design.LOAD, drive, mix, str(OTHER_LOAD), f"{mix} on {drive} at {OTHER_LOAD}"]]
        rows += [[design.LARGE, f"{drive}, larger", mix, str(LOAD), f"{mix} on {drive} at {LOAD}"]]
    placed = placed_drives()
    axes = {
        "attack": kinds,
        "drive": {**placed, **{f"{name}, larger": design.larger(drive) for name, drive in placed.items()}},
        "workload": {mix: {} for mix in MIXES},
        "load": {str(load): {} for load in (LOAD, OTHER_LOAD)},
        "rates": {**rated(rates, LOAD), **rated(rates, OTHER_LOAD)},
        **{
            name: {value: MECHANISMS[name][value] for value in dict.fromkeys(column)}
            for name, column in zip(MECHANISMS, zip(*ATTACKED, strict=True), strict=True)
        },
    }
    title = "Several flows under another seed and load, and on a larger drive"
    zipped = [(["attack", "drive", "workload", "load", "rates"], rows), (list(MECHANISMS), ATTACKED)]
    return design.sweep(title, axes, zipped, None, script="flows.py", alone=True, columns=COLUMNS)


def main() -> None:
    """Measures what the baselines sustain, and writes the sweep."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=design.HERE)
    asked = parser.parse_args()
    rates: dict[tuple[str, str], float] = {}
    for drive in DRIVES:
        for mix, flows in MIXES.items():
            rates[drive, mix] = sustained(drive, flows)
            print(f"{drive}, {mix}: 100 % is {rates[drive, mix]:,.0f} requests a second", flush=True)
    (asked.out / "flows.toml").write_text(flows_toml(rates))
    (asked.out / "flows-attacks.toml").write_text(attacks_toml(rates))


if __name__ == "__main__":
    main()
