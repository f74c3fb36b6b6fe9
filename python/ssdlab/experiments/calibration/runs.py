"""Runs of a simulated drive at an operating point, and the quantities measured there.

Runs simulate a smaller drive: fewer dies, with fewer programs per block, narrower pages, and load, buffer and cores in proportion.
Conditions on a die are kept: its share of the programs and of the host's reads, its spare space, and the number of blocks that victims are
chosen from. The erase time is scaled with the programs of a block.

Blocks need many programs: collection pads the last program of each job, and so moves a whole number of programs of each victim. With 64
programs in a block write amplification has steps of 7 % at 4.3. Narrower pages keep blocks of many programs small.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from types import MappingProxyType
from typing import Any

from ssdlab import _core
from ssdlab.asking.plans import Setup, value_text
from ssdlab.errors import ConfigError, Interrupted, SimulationError
from ssdlab.experiments.calibration.journal import Journal, Simulated
from ssdlab.experiments.calibration.measurements import FullSpeed, Pattern, Point, Probe, QuantityName
from ssdlab.runs.batch import Job, execute, runs_at_once
from ssdlab.runs.result import Result

__all__ = ["Candidate", "Runs", "Simulated", "flash_bytes", "run_at"]

Settings = Mapping[str, Any]
"""Values by configuration key."""

DIES, PROBED_DIES, SUPERBLOCK_DIES = 1, 4, 2
"""Minimum number of dies of the smaller drive at full speed, with a probe, and at full speed with superblocks."""
PROGRAMS, FEW_PROGRAMS = 128, 64
"""Approximate number of programs per block of the smaller drive, and of one that has many dies (`TIGHT`, `host.slots`)."""
NARROW = 4
"""How many times less a page of the smaller drive holds; less often if its planes would have less than a mapping unit each."""
STEADY_SHARE, STEADY_WARM_UP = 0.3, 0.1
"""Uniform writes to a drive preconditioned as steady: written share of the used space, and the share of it that is warm-up."""
SKEWED_SHARE, SKEWED_WARM_UP = 2.0, 1.6
"""Other writes: written share and warm-up. By Zipf's law they begin on a steady drive, else it takes long until rare writes have mixed its
blocks; with a part of the addresses that is never written again on a drive filled in order, which stays so."""
COLD_SHARE, COLD_WARM_UP = 8.0, 7.6
"""As `SKEWED_SHARE`, of writes to two zones, on a drive filled in order. They are as many as were measured, since rates still fall."""
FILL_SHARE = 0.5
PROBE_READS = 4_000
"""Number of reads for a probe's percentiles: forty are above the 99th."""
TIGHT, TIGHT_PROBE_READS, TIGHT_DIES = 0.3, 10_000, 16
"""Value of `gc.pace_window` below which writes wait for collection at any load.

The wait depends on the number of dies that collect at once and of waiting requests, so as many dies as a drive of a terabyte has and the
threads of the load are simulated, with more reads: such periods are rare and long.
"""
PLANE_DIES, MANY_DIES = 8, 32
"""Minimum number of dies with a probe where programs go plane by plane (`device.plane_programs`), and of those for waits of writes.

As many blocks as of four dies are collected. Times of reads hardly depend on the number of dies. Writes wait once all are in such
programs, which few dies often are: at nine tenths of the highest rate of a drive with 32 dies the 99th percentile of writes is 0.05 ms with
all of them, 2 with 16, and 4.5 with eight.
"""
COLLECTED_SHARE = 0.005
"""Minimum share of the used space that a load below saturation writes after the warm-up, about twenty blocks.

With one or two collected blocks, the number of reads that wait for collection would be left to chance.
"""
PROBE_WARM_UP = 0.2
SETTLING_SHARE, SETTLED_SHARE = 0.02, 0.03
"""Share of the used space that a saturated load writes before measurement, since the pool of free blocks has to settle, and during it."""
UNIT = 4096
STATES = 4
"""Maximum number of saved steady states between batches; each takes some tens of megabytes."""
TIMED_SECTIONS = ("workload.", "host.")
TIMED = frozenset(
    {
        "device.read_ns",
        "device.read_ns_by_page",
        "device.program_ns",
        "device.suspend_ns",
        "device.resume_ns",
        "device.min_run_ns",
        "device.plane_programs",
        "buffer.access_ns",
        "buffer.reads_pass",
        "buffer.drain",
        "gc.pace_window",
    }
)
"""Keys that, with those of `TIMED_SECTIONS`, only affect timing: a steady state does not depend on them."""
LATENCIES: Mapping[QuantityName, tuple[str, str, str]] = MappingProxyType(
    {
        "read_mean_us": ("probe", "read", "mean"),
        "read_p50_us": ("probe", "read", "p50"),
        "read_p99_us": ("probe", "read", "p99"),
        "write_p50_us": ("probe", "write", "p50"),
        "write_p99_us": ("probe", "write", "p99"),
        "load_write_mean_us": ("load", "write", "mean"),
    }
)
"""Flow, class of requests, and statistic in a result's `latency_ns`, by quantity."""


@dataclass(frozen=True)
class Candidate:
    """A drive that may be the measured one.

    Attributes:
        device: device preset to start from.
        scheme: scheme presets, joined by `+`.
        settings: differences from the presets, as pairs of key and TOML text.
        has_many_dies: whether a probe below saturation has `MANY_DIES`.
    """

    device: str
    scheme: str
    settings: tuple[tuple[str, str], ...] = ()
    has_many_dies: bool = False

    def with_changes(self, settings: Settings) -> Candidate:
        """A copy with other values of some keys."""
        return replace(self, settings=tuple({**dict(self.settings), **_texts(settings)}.items()))

    def tree(self) -> dict[str, Any]:
        """The complete configuration of the drive."""
        config = Setup(device=self.device, set=self.settings).build(self.scheme)
        tree: dict[str, Any] = json.loads(config.json())
        return tree


class Runs:
    """Simulates candidates at operating points, each pair once.

    Args:
        seed: seed of all runs.
        workers: maximum number of runs at once (default: one per processor, or as many as fit into the free memory).
        journal: file that keeps what was simulated, so that a search that was interrupted need not repeat its runs; `None` to keep nothing.
    """

    def __init__(self, *, seed: int, workers: int | None = None, journal: Path | None = None) -> None:
        self.seed = seed
        self.told: Callable[[], object] = _nothing
        """Called again and again while runs go on, from any thread."""
        self._workers = workers
        self._known: dict[tuple[Candidate, Point], Simulated | None] = {}
        self._journal = Journal(journal)
        self._steady = _SteadyDrives(workers, self._tell)

    @property
    def done(self) -> int:
        """Number of pairs simulated so far."""
        return len(self._known)

    def _tell(self) -> None:
        self.told()

    def known(self, candidate: Candidate, points: Iterable[Point]) -> dict[Point, Simulated | None]:
        """What was simulated of a candidate so far, by operating point."""
        return {point: self._known[candidate, point] for point in points if (candidate, point) in self._known}

    def at(self, wanted: Sequence[tuple[Candidate, Point]]) -> list[Simulated | None]:
        """The quantities of each candidate at its point; `None` for a drive that cannot be simulated, such as one without spare space.

        Raises:
            ssdlab.Interrupted: Ctrl-C.
            ssdlab.Error: a run failed for a reason other than its drive.
        """
        new = dict.fromkeys(pair for pair in wanted if pair not in self._known)
        runs: dict[tuple[Candidate, Point], tuple[Setup, Mapping[str, float]]] = {}
        found: dict[tuple[Candidate, Point], Simulated | None] = dict.fromkeys(new)
        for pair in new:
            with suppress(ConfigError):
                setup, parts = run_at(*pair, self.seed)
                if (kept := self._journal.of(setup, pair[0].scheme, parts)) is None:
                    runs[pair] = setup, parts
                else:
                    found[pair] = kept
        setups = self._steady.given((setup, candidate.scheme) for (candidate, _), (setup, _) in runs.items())
        jobs: list[Job] = []
        places: dict[str, tuple[Candidate, Point]] = {}
        for number, (pair, setup) in enumerate(zip(runs, setups, strict=True)):
            with suppress(ConfigError):
                jobs.append(Job.prepare(str(number), setup, pair[0].scheme, folder=None))
                places[str(number)] = pair
        batch = execute(jobs, workers=self._workers, progress=lambda _: self._tell())
        self._steady.forget()
        for label, pair in places.items():
            result = batch.finished.get(label)
            if result is not None:
                setup, parts = runs[pair]
                found[pair] = simulated = _simulated(pair[1], result, parts)
                self._journal.keep(setup, pair[0].scheme, parts, simulated)
        if batch.interrupt is not None:
            batch.raise_failure()
        for error in batch.failed.values():
            if not isinstance(error, SimulationError):
                raise error
        self._known |= found
        return [self._known[pair] for pair in wanted]


def _nothing() -> None:
    """Tells nobody."""


class _SteadyDrives:
    """Saved states of steady drives: preparing one takes ten times as long as the run of a probe.

    Runs that differ only in timing start from the same state. The results equal those of runs that prepare the drive themselves.
    """

    def __init__(self, workers: int | None, told: Callable[[], object]) -> None:
        self._folder = TemporaryDirectory(prefix="ssdlab-")
        self._told = told
        self._workers = workers
        self._files: dict[tuple[object, ...], Path | None] = {}
        self._made = 0

    def given(self, runs: Iterable[tuple[Setup, str]]) -> list[Setup]:
        """The setups, with a saved state where several runs start from the same one."""
        wanted = [(setup, scheme, _drive(setup, scheme)) for setup, scheme in runs]
        count = Counter(drive for _, _, drive in wanted if drive is not None)
        drives = {drive: (setup, scheme) for setup, scheme, drive in wanted if drive is not None}
        for drive in [drive for drive in drives if drive in self._files]:
            self._files[drive] = self._files.pop(drive)  # moves it to the end, as the last one used
        self._make({drive: run for drive, run in drives.items() if count[drive] > 1 and drive not in self._files})
        files = [None if drive is None else self._files.get(drive) for _, _, drive in wanted]
        return [setup if file is None else setup.with_changes(state=file) for (setup, _, _), file in zip(wanted, files, strict=True)]

    def forget(self) -> None:
        """Removes all states but the last `STATES`."""
        for drive in list(self._files)[:-STATES]:
            if file := self._files.pop(drive):
                file.unlink()

    def _make(self, drives: Mapping[tuple[object, ...], tuple[Setup, str]]) -> None:
        """Makes states, some at once. Those that cannot be prepared have no file; the runs themselves then say why."""
        plans: dict[tuple[object, ...], _core.Plan] = {}
        for drive, (setup, scheme) in drives.items():
            self._files[drive] = None
            with suppress(ConfigError):
                plans[drive] = setup.plan(scheme)
        stopped = Event()
        with ThreadPoolExecutor(self._workers or runs_at_once(plan.config for plan in plans.values())) as threads:
            try:
                made = {drive: threads.submit(self._made_file, plan, number, stopped) for number, (drive, plan) in enumerate(plans.items())}
                self._files |= {drive: file.result() for drive, file in made.items()}
            except KeyboardInterrupt:
                raise Interrupted from None
            finally:
                stopped.set()  # those that have not ended are of no use, whatever has happened
        self._made += len(plans)

    def _made_file(self, plan: _core.Plan, number: int, stopped: Event) -> Path | None:
        def go_on(_: object) -> None:
            if stopped.is_set():
                raise Interrupted
            self._told()

        file = Path(self._folder.name) / f"{self._made + number}.state"
        try:
            go_on(None)
            _core.precondition(plan, file, progress=go_on)
        except (ConfigError, SimulationError):
            return None
        return file


def _drive(setup: Setup, scheme: str) -> tuple[object, ...] | None:
    """The settings that a steady state depends on; `None` for a run with another precondition."""
    settings = dict(setup.set)
    if settings.get("ftl.precondition.kind") != value_text("steady"):
        return None
    those = frozenset((key, text) for key, text in settings.items() if key not in TIMED and not key.startswith(TIMED_SECTIONS))
    return setup.options["device"], scheme, setup.options["seed"], those


def flash_bytes(tree: Mapping[str, Any]) -> int:
    """Bytes of a drive's flash pages, without out-of-band bytes."""
    device = tree["device"]
    counts = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die", "blocks_per_plane", "pages_per_block", "page_bytes")
    return math.prod(device[name] for name in counts)


def _texts(settings: Settings) -> dict[str, str]:
    return {key: value_text(value) for key, value in settings.items()}


def run_at(candidate: Candidate, point: Point, seed: int) -> tuple[Setup, Mapping[str, float]]:
    """The run of a candidate at an operating point, and the part of the measured rate that each of its flows has, by name.

    The single flow of writes at full speed is called `load`, and that of a probe without a load `probe`.
    """
    tree = candidate.tree()
    if isinstance(point, FullSpeed):
        spans = tree["ftl"]["reclaim_unit"] == "superblock"
        smaller = _smaller(tree, point.used_bytes, SUPERBLOCK_DIES if spans else DIES, PROGRAMS, narrow=_narrow(tree))
        load, requests, warm_up = _full_speed(point, smaller)
        parts: Mapping[str, float] = {"load": smaller.of_writes}
    else:
        # how long a command waits for a place depends on how many places a program frees, so that all dies are simulated
        is_slotted = tree["host"]["slots"] > 0 and point.is_saturated and point.probe_depth > 0
        is_tight = tree["gc"]["pace"] == "proportional" and tree["gc"]["pace_window"] < TIGHT and not point.is_saturated
        by_plane = tree["device"]["plane_programs"] > 1 and not point.is_saturated
        has_many = candidate.has_many_dies and not point.is_saturated
        dies = MANY_DIES if has_many else TIGHT_DIES if is_tight else PLANE_DIES if by_plane else PROBED_DIES
        programs = FEW_PROGRAMS if is_tight or is_slotted else PROGRAMS
        # pages as they are, too: reads, of which narrow ones get more in proportion, would fill the turns of their queue
        smaller = _smaller(tree, point.used_bytes, None if is_slotted else dies, programs, narrow=1 if is_slotted else _narrow(tree))
        reads = TIGHT_PROBE_READS if is_tight else PROBE_READS
        collected = COLLECTED_SHARE * (PROBED_DIES / dies if by_plane and not is_tight else 1)
        load, requests, warm_up, parts = _probe(point, smaller, by_thread=is_tight or is_slotted, reads=reads, collected=collected)
    run = candidate.with_changes({**smaller.settings, "device.overprovisioning": 1 - point.used_bytes / flash_bytes(tree), **load})
    return Setup(device=run.device, set=run.settings, requests=requests, warm_up=warm_up, seed=seed), parts


@dataclass(frozen=True)
class _Smaller:
    """The smaller drive.

    Attributes:
        settings: its keys.
        of_reads: its part of the host's reads: that of the dies.
        of_writes: its part of the written bytes, less than that of the dies since its pages hold less.
        units: used mapping units.
    """

    settings: Mapping[str, Any]
    of_reads: float
    of_writes: float
    units: float

    def flow(self, per_s: float, read_share: float) -> tuple[float, float]:
        """The rate and the share of reads of a flow on the smaller drive."""
        if self.of_reads == self.of_writes:
            return per_s * self.of_reads, read_share
        reads, writes = per_s * read_share * self.of_reads, per_s * (1 - read_share) * self.of_writes
        return reads + writes, reads / (reads + writes)


def _smaller(tree: Mapping[str, Any], used_bytes: int, dies: int | None, programs: int, *, narrow: int) -> _Smaller:
    """The smaller drive.

    Args:
        tree: the configuration of the whole drive.
        used_bytes: used bytes of the whole drive.
        dies: minimum number of dies, or planes; `None` for all.
        programs: approximate number of programs per block.
        narrow: how many times less a page holds.
    """
    device, buffer, host = tree["device"], tree["buffer"], tree["host"]
    on_chip = device["dies_per_chip"] * device["planes_per_die"]
    chips = device["chips_per_channel"]
    channels = device["channels"] if dies is None else min(device["channels"], math.ceil(dies / (chips * on_chip)))
    if dies is not None and channels == 1:  # a channel of a large drive has more dies than are needed
        chips = min(chips, math.ceil(dies / on_chip))
    share = channels * chips / (device["channels"] * device["chips_per_channel"])
    stripe = device["pages_per_program"] * max(1, tree["ftl"]["parity_stripe"])
    wanted = programs * device["pages_per_program"]
    pages = min(device["pages_per_block"], max(1, round(wanted / stripe)) * stripe)  # whole stripes, so that the share of parity is kept
    length = pages / device["pages_per_block"]
    settings: dict[str, Any] = {
        "device.channels": channels,
        "device.pages_per_block": pages,
        "device.erase_ns": max(1, round(device["erase_ns"] * length)),
    }
    if narrow > 1:
        settings |= _narrower(device, narrow)
    if chips != device["chips_per_channel"]:
        settings["device.chips_per_channel"] = chips
    if buffer["bytes"]:
        settings["buffer.bytes"] = max(UNIT, round(buffer["bytes"] * share / narrow))
    if host["slots"]:
        settings["host.slots"] = max(1, round(host["slots"] * share / narrow))
    settings["host.cores"] = max(1, round(host["cores"] * share))
    return _Smaller(settings, share, share / narrow, used_bytes * share * length / narrow / UNIT)


def _narrow(tree: Mapping[str, Any]) -> int:
    """How many times less a page of the smaller drive holds."""
    device, unit = tree["device"], tree["ftl"]["map_unit_bytes"]
    return math.gcd(NARROW, device["page_bytes"] // (unit * device["plane_programs"])) if unit else 1


def _narrower(device: Mapping[str, Any], narrow: int) -> dict[str, Any]:
    """Settings of narrower pages: transfers of a page take as long as before, and so do reads of a mapping unit with its transfer."""
    slower = round(device["transfer_ps_per_byte"] * UNIT * (narrow - 1) / 1e3) if device["partial_reads"] else 0
    times = {key: device[key] for key in ("read_ns", "read_ns_by_page") if device[key]}
    return {
        "device.page_bytes": device["page_bytes"] // narrow,
        "device.spare_bytes": device["spare_bytes"] // narrow,
        "device.transfer_ps_per_byte": device["transfer_ps_per_byte"] * narrow,
        **{
            f"device.{key}": [max(1, one - slower) for one in time] if isinstance(time, list) else max(1, time - slower)
            for key, time in times.items()
        },
    }


def _full_speed(point: FullSpeed, smaller: _Smaller) -> tuple[dict[str, Any], int, int]:
    """The settings of the writes, the number of requests, and the number of them that are warm-up."""
    pattern, size = point.pattern, max(1, point.request_bytes // UNIT)
    settings: dict[str, Any] = {
        "workload.read_share": 0.0,
        "workload.request_kb": point.request_bytes / 1024,
        "workload.queue_depth": max(1, round(point.depth * smaller.of_writes)),
        **_addresses(pattern),
    }
    if pattern.kind == "sequential":
        count, before, kind = FILL_SHARE, FILL_SHARE / 3, "none"
    elif pattern.kind == "uniform":
        count, before, kind = STEADY_SHARE, STEADY_WARM_UP, "steady"
    else:
        has_cold = pattern.kind == "zones" and pattern.hot_access < 1
        count, before = (COLD_SHARE, COLD_WARM_UP) if has_cold else (SKEWED_SHARE, SKEWED_WARM_UP)
        kind = "steady" if pattern.kind == "zipf" else "fill"
    settings["ftl.precondition.kind"] = kind
    return settings, max(1_000, round(smaller.units * count / size)), round(smaller.units * before / size)


def _addresses(pattern: Pattern) -> dict[str, Any]:
    if pattern.kind == "sequential":
        return {"workload.sequential_share": 1.0}
    if pattern.kind == "zipf":
        return {"workload.address": "zipf", "workload.zipf_exponent": pattern.theta}
    if pattern.kind == "zones":
        return {
            "workload.address": "hot-cold",
            "workload.hot_share": pattern.hot_share,
            "workload.hot_access": pattern.hot_access,
            "workload.hot_scattered": True,
        }
    return {}


def _probe(
    point: Probe, smaller: _Smaller, *, by_thread: bool, reads: int, collected: float
) -> tuple[dict[str, Any], int, int, dict[str, float]]:
    """Settings of probe and load, number of requests, number of warm-up requests, and the part of the measured rate of each flow.

    The probe is a flow beside the load, or alone without a load. `by_thread`: each thread of the load is a flow with a queue of its own.
    `reads`: minimum number of reads of the probe. `collected`: minimum share of the used units that a load below saturation writes.
    """
    kb = point.request_bytes / 1024
    probe_per_s, read_share = smaller.flow(point.per_s, point.read_share)
    probe = {"read_share": read_share, "request_kb": kb, "arrival": "fixed", "interarrival_us": 1e6 / probe_per_s}
    settings: dict[str, Any] = {"ftl.precondition.kind": "steady"}
    parts = {"probe": probe_per_s / point.per_s}
    seconds = reads / (probe_per_s * read_share)
    if point.load_per_s == 0:
        return settings | {f"workload.{key}": value for key, value in probe.items()} | {"workload.name": "probe"}, reads, 0, parts
    of_load, load_read_share = smaller.flow(1.0, point.load_read_share)
    load: dict[str, Any] = {"read_share": load_read_share, "request_kb": kb}
    threads = 1
    if by_thread and point.probe_depth:
        threads = max(1, round(point.load_depth / point.probe_depth))
        # one queue per thread; requests beyond its depth wait in it, as part of their response time
        settings |= {"host.queues": threads + 1, "host.queue_depth": max(1, round(point.probe_depth * smaller.of_writes))}
    if point.load_per_s is None:
        load["queue_depth"] = max(1, round(point.load_depth * smaller.of_writes / threads))
        requests = smaller.units * SETTLED_SHARE
        warm_up = smaller.units * SETTLING_SHARE
    else:
        per_s = point.load_per_s * of_load
        load |= {"arrival": "exponential", "interarrival_us": 1e6 * threads / per_s}
        written_per_s = per_s * (1 - load_read_share) * point.request_bytes / UNIT
        if written_per_s:
            seconds = max(seconds, collected * smaller.units / written_per_s)
        requests = (probe_per_s + per_s) * seconds
        warm_up = requests * PROBE_WARM_UP
    settings |= {"workload.name": "load", **{f"workload.{key}": value for key, value in load.items()}}
    others = [{"name": f"load-{number}", **{"queue_depth": 0, **load}} for number in range(2, threads + 1)]
    settings["workload.flows"] = [{"name": "probe", "queue_depth": 0, **probe}, *others]
    return settings, round(requests + warm_up), round(warm_up), parts | dict.fromkeys(("load", *(one["name"] for one in others)), of_load)


def _simulated(point: Point, result: Result, parts: Mapping[str, float]) -> Simulated:
    """The quantities of a run, with rates scaled to the whole drive."""
    data = result.to_dict()
    if isinstance(point, FullSpeed):
        return {"write_amplification": data["gc"]["write_amplification"], "write_iops": data["iops"] / parts["load"]}
    flows = {flow["name"]: flow for flow in data["flows"]} if "flows" in data else {"probe": data}
    values: dict[QuantityName, float] = {"iops": sum(flow.get("iops", 0.0) / parts[name] for name, flow in flows.items())}
    for quantity, (flow, kind, name) in LATENCIES.items():
        if flow in flows and (latencies := flows[flow]["latency_ns"].get(kind)):
            values[quantity] = latencies[name] / 1e3
    return values
