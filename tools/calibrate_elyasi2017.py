"""Calibrates the workloads of elyasi2017's Table 2, and writes them to `presets/workloads/*-like.toml`.

    python tools/calibrate_elyasi2017.py FOLDER [TRACE ...]

The paper prints write shares, sizes and the slack of each trace under the baseline, but neither rates nor addresses. One rule is used for
all traces, with two fitted numbers for each: the requests in a burst of writes and in a burst of reads. The search only uses slack, and
only runs the baseline scheme.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import ssdlab

PAGE_KB = 8
UNIT = 8
"""Pages in 64 KiB: a request of at least this size begins at a multiple of it."""
CHIPS = 16
PROGRAM_S, READ_S = 1.3265e-3, 101.5e-6
WRITE_LOAD, READ_LOAD = 0.6, 0.1
"""Maximum share of time in which the busiest chip programs, or reads; the rate is the highest with both below it."""
DEVICE = {"device.multiplane": False, "device.die_interleave": False}
SEEDS = (1, 2, 3)
ROUNDS = 2
NEAR = 0.2
"""Sum of the relative differences of both slacks below which the search ends."""
FIRST = {False: 1.6, True: 9.0}
"""Factor of the initial burst length, which is factor x slack / service time / share of large requests; for writes (false) and reads
(true)."""


@dataclass(frozen=True)
class Trace:
    """A row of Table 2."""

    writes: float
    read_kb: tuple[float, float]
    write_kb: tuple[float, float]
    """Mean and standard deviation of the request size, KiB."""
    read_slack_ms: float
    write_slack_ms: float


TABLE = {
    "wdev_2": Trace(0.99, (13.4, 8.6), (16.2, 11.7), 0.0, 144.8),
    "rsrch_1": Trace(0.99, (25.6, 16.4), (18.7, 15.7), 0.1, 155.9),
    "prxy_0": Trace(0.95, (18.3, 14.9), (38.6, 30.6), 1.5, 577.9),
    "prn_0": Trace(0.94, (22.3, 18.7), (16.3, 19.5), 2.5, 130.0),
    "rsrch_0": Trace(0.9, (18.9, 46.7), (16.5, 12.2), 6.8, 43.9),
    "fin1": Trace(0.77, (11.3, 4.6), (12.6, 10.4), 0.9, 41.1),
    "msnfs_3": Trace(0.76, (23.6, 23.1), (23.2, 25.4), 2.1, 26.9),
    "wdev_0": Trace(0.7, (16.8, 14.5), (17.1, 14.4), 2.6, 63.7),
    "web_3": Trace(0.68, (82.9, 241.5), (28.9, 14.6), 2.0, 6.2),
    "src2_0": Trace(0.64, (18.2, 11.8), (22.7, 20.3), 5.1, 193.9),
    "ts_0": Trace(0.56, (19.6, 14.7), (19.6, 17.7), 1.4, 52.8),
    "usr_0": Trace(0.43, (66.9, 16.5), (17.7, 13.3), 46.7, 37.1),
    "prn_1": Trace(0.42, (16.3, 14.2), (17.4, 13.3), 0.5, 72.2),
    "mds_0": Trace(0.21, (43.5, 26.3), (18.4, 15.6), 2.8, 14.1),
    "fin2": Trace(0.18, (10.3, 5.1), (11.0, 12.3), 1.6, 74.4),
    "web_0": Trace(0.18, (46.9, 26.3), (16.6, 14.1), 1.3, 15.7),
    "rsrch_2": Trace(0.08, (12.0, 4.0), (12.2, 4.0), 1.3, 67.9),
    "usr_1": Trace(0.06, (56.3, 26.3), (14.5, 7.8), 30.9, 36.1),
    "hm_1": Trace(0.05, (22.9, 19.2), (27.8, 32.5), 2.2, 35.1),
    "stg_1": Trace(0.02, (68.5, 13.6), (15.7, 11.9), 0.4, 4.5),
    "proj_4": Trace(0.005, (32.8, 28.5), (18.4, 17.7), 0.3, 6.4),
}

Sizes = dict[int, float]
"""Probability by number of pages."""


def sizes(mean_kb: float, deviation_kb: float) -> Sizes:
    """Three request sizes, in pages, with the given mean and deviation, and their probabilities: 1, 2 and 9 if possible.

    Section 7.4 names these three for prxy_0. 9 pages are 64 KiB that begin within a page. Otherwise another number replaces the 2, or
    multiples of 64 KiB replace the 9.
    """
    mean = mean_kb / PAGE_KB
    second = (deviation_kb / PAGE_KB) ** 2 + mean**2
    triples = [(1, middle, 9) for middle in range(2, 9)]
    triples += [(1, middle, UNIT * units + 1) for middle in (2, 9) for units in (2, 4, 8, 16)]
    for triple in triples:
        weights = np.linalg.solve(np.array([[pages**power for pages in triple] for power in range(3)], dtype=float), [1, mean, second])
        if min(weights) >= -1e-3:
            return {pages: round(float(weight), 4) for pages, weight in zip(triple, weights, strict=True) if round(weight, 4) > 0}
    raise ValueError(f"no three sizes have mean {mean_kb} KiB and deviation {deviation_kb} KiB")


@dataclass(frozen=True)
class Flow:
    """The reads or the writes of a workload."""

    reads: bool
    share: float
    sizes: Sizes

    def pages_of_the_chip(self) -> float:
        """Mean number of pages on the busiest chip, per request of the workload."""
        total = sum(self.sizes.values())
        return self.share * sum(share / total * _pages_of_the_chip(pages) for pages, share in self.sizes.items())


def _pages_of_the_chip(pages: int) -> float:
    """Mean number of pages on the busiest chip for a request of `pages`: a large one begins on chip 0 or 8, a small one on any."""
    starts = range(0, CHIPS, UNIT if pages >= UNIT else 1)
    return sum((start + i) % CHIPS == 0 for start in starts for i in range(pages)) / len(starts)


def flows(trace: Trace) -> list[Flow]:
    """The flows of writes and of reads, each with all sizes."""
    return [
        Flow(False, trace.writes, sizes(*trace.write_kb)),
        Flow(True, 1 - trace.writes, sizes(*trace.read_kb)),
    ]


def rate(trace: Trace) -> float:
    """The request rate, per second."""
    parts = flows(trace)
    load = [
        second * sum(flow.pages_of_the_chip() for flow in parts if flow.reads is reads)
        for reads, second in ((False, PROGRAM_S), (True, READ_S))
    ]
    return min(WRITE_LOAD / load[0], READ_LOAD / load[1])


def keys(trace: Trace, bursts: tuple[int, int]) -> list[dict[str, object]]:
    """The tables of the flows in the preset; `bursts`: lengths of bursts of writes and of reads."""
    each = rate(trace)
    tables = []
    for flow in flows(trace):
        burst = bursts[flow.reads]
        tables.append({
            "read_share": float(flow.reads),
            "size_table": [[PAGE_KB * pages, weight] for pages, weight in flow.sizes.items()],
            "interarrival_us": float(f"{1e6 / (each * flow.share):.4g}"),
            "arrival": "burst" if burst > 1 else "exponential",
            **({"burst_length": burst} if burst > 1 else {}),
        })  # fmt: skip
    return tables


COMMON = {
    "request_size": "table",
    "address": "uniform",
    "footprint": 0.1,
    "align_kb": PAGE_KB,
    "align_large_kb": PAGE_KB * UNIT,
    "queue_depth": 0,
}


def slack_ms(tables: list[dict[str, object]], requests: int) -> tuple[float, float]:
    """Mean slack of writes and of reads under the baseline, ms, over the seeds."""
    keys = {f"workload.{key}": value for key, value in {**COMMON, **tables[0]}.items()} | {"workload.flows": tables[1:]}
    runs = [ssdlab.run(device="elyasi2017", scheme="fr-fcfs", requests=requests, seed=seed, set={**keys, **DEVICE}) for seed in SEEDS]
    return tuple(sum(run["slack"][kind]["mean_ns"] for run in runs) / len(runs) / 1e6 for kind in ("write", "read"))  # type: ignore[return-value]


REQUESTS = 200_000
FEWEST_SHARE = 1 / 4
"""Maximum share of the writes, or of the reads, of a run in one burst: with few bursts their number would dominate."""


def _first(flow: Flow, slack_ms: float, most: float) -> float:
    """Initial length of bursts."""
    large = sum(share for pages, share in flow.sizes.items() if pages >= UNIT)
    services = slack_ms / 1e3 / (READ_S if flow.reads else PROGRAM_S)
    return max(1.0, min(FIRST[flow.reads] * services / large, most)) if large else most


def calibrated(name: str) -> tuple[tuple[int, int], tuple[float, float]]:
    """The fitted bursts of a trace, and the resulting slack."""
    trace = TABLE[name]
    wanted = (trace.write_slack_ms, trace.read_slack_ms)
    most = [FEWEST_SHARE * REQUESTS * flow.share for flow in flows(trace)]
    lengths = [_first(flow, slack, limit) for flow, slack, limit in zip(flows(trace), wanted, most, strict=True)]
    best = (np.inf, (1, 1), (0.0, 0.0))
    for _ in range(ROUNDS):
        bursts = (_rounded(min(lengths[0], most[0])), _rounded(min(lengths[1], most[1])))
        found = slack_ms(keys(trace, bursts), REQUESTS)
        off = sum(abs(np.log((is_ + 0.2) / (should + 0.2))) for is_, should in zip(found, wanted, strict=True))
        if off < best[0]:
            best = (off, bursts, found)
        if off < NEAR:
            break
        for kind in range(2):
            factor = (wanted[kind] + 1e-3) / (found[kind] + 1e-3)
            lengths[kind] = min(max(1.0, lengths[kind] * min(max(factor, 0.1), 10.0) ** 0.85), max(1.0, most[kind]))
    return best[1:]


def _rounded(length: float) -> int:
    """Rounds to two digits, at least 1."""
    return max(1, int(float(f"{length:.2g}")))


SOURCE = (
    "N. Elyasi, M. Arjomand, A. Sivasubramaniam, M. T. Kandemir, C. R. Das, M. Jung. Exploiting Intra-Request Slack to Improve SSD "
    "Performance. ASPLOS 2017. doi:10.1145/3037697.3037728. Table 2; sizes as in section 7.4"
)

HEAD = """\
description = "Requests with the write share, sizes and slack that elyasi2017 prints for its {name} trace; not that trace."
source = "{source}"

[workload]
# Table 2: {table}: of a few whole pages that give just these. Open
# there: arrivals and addresses. One rule for all 21 (tools/calibrate_elyasi2017.py): writes come in bursts of all sizes, and so do reads;
# requests of 64 KiB and more begin at multiples of 64 KiB, smaller ones at any page; the rate is the highest at which no chip programs for
# more than 60 % of its time or reads for more than 10 %. The lengths of the bursts are calibrated, at seeds 1 to 3 and 200,000 requests, to
# the slack that Table 2 has for the baseline, on the elyasi2017 drive with one operation at a time on a chip (device.multiplane and
# die_interleave false): {slack}."""


def preset(name: str, bursts: tuple[int, int], found: tuple[float, float]) -> str:
    """The text of the preset."""
    trace = TABLE[name]
    table = f"{100 * trace.writes:g} % writes of {trace.write_kb[0]} KiB (deviation {trace.write_kb[1]}), "
    table += f"reads of {trace.read_kb[0]} KiB ({trace.read_kb[1]})"
    slack = f"{trace.write_slack_ms} ms of writes, {trace.read_slack_ms} of reads; here {found[0]:.1f} and {found[1]:.2f}"
    lines = [HEAD.format(name=name, source=SOURCE, table=table, slack=slack)]
    tables = keys(trace, bursts)
    for number, table in enumerate(tables):
        if number:
            lines += ["", "[[workload.flows]]"]
        lines += [f"{key} = {_text(value)}" for key, value in {**({} if number else COMMON), **table}.items()]
    return "\n".join(lines) + "\n"


def _text(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def main() -> None:
    """Fits the workloads, and writes the presets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("traces", nargs="*", default=list(TABLE))
    asked = parser.parse_args()
    for name in asked.traces:
        bursts, found = calibrated(name)
        (asked.folder / f"{name}-like.toml").write_text(preset(name, bursts, found))
        wanted = TABLE[name]
        print(f"{name}: bursts of {bursts}, slack {found} ms for {(wanted.write_slack_ms, wanted.read_slack_ms)}", flush=True)


if __name__ == "__main__":
    main()
