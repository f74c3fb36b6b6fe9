"""Rates by each limit, power, and unloaded latencies: worked out from the timing keys, not simulated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ssdlab.asking.sheet.drive import Drive
from ssdlab.asking.sheet.retries import read_time

__all__ = ["SMALL", "Rate", "latencies", "random_read", "random_write", "sequential_read", "sequential_write"]

SMALL, LARGE = 4096, 131072
"""Bytes of random and of sequential requests."""


class Operation(NamedTuple):
    """Flash operations of one kind that a request causes."""

    milliwatts: float
    """Power of a plane."""
    pages: float
    """Operations of one plane for each request."""
    array: float
    """Time of the array, ns."""
    bus: float
    """Time of a plane on the channel, ns."""
    die: float
    """Time for which the die is occupied, ns."""
    planes: int = 1
    """Planes that work together."""
    capped: float | None = None
    """Power of a plane that counts for `energy.cap_w`, if it is another one."""


class Rate(NamedTuple):
    """A rate: requests of `size` bytes a second, by each limit that there is."""

    size: int
    limits: Mapping[str, float]
    idle_w: float
    """What the drive always draws, W."""
    nanojoules: float
    """Energy of a request beside that."""

    @property
    def binding(self) -> str:
        """The limit that binds."""
        return min(self.limits, key=lambda name: self.limits[name])

    @property
    def per_s(self) -> float:
        """Requests a second."""
        return self.limits[self.binding]

    @property
    def mb_s(self) -> float:
        """Bandwidth, MB/s of 10^6 bytes."""
        return self.per_s * self.size / 1e6

    @property
    def watts(self) -> float:
        """Power at this rate, W; 0 without `energy`."""
        return self.idle_w + self.per_s * self.nanojoules / 1e9


def random_read(drive: Drive) -> Rate:
    """Random reads of 4 KiB."""
    planes = 1 if drive.device["multiplane_aligned_reads"] else drive.planes_together
    pages = max(1.0, SMALL / int(drive.device["page_bytes"]))
    return _rate(drive, SMALL, _reads(drive, pages, _read_bus_ns(drive, SMALL), planes, at_random=planes))


def sequential_read(drive: Drive) -> Rate:
    """Sequential reads of 128 KiB."""
    pages, page = LARGE / int(drive.device["page_bytes"]), int(drive.device["page_bytes"])
    return _rate(drive, LARGE, _reads(drive, pages, _read_bus_ns(drive, page), drive.planes_together))


def sequential_write(drive: Drive) -> Rate:
    """Sequential writes of 128 KiB, to a drive in which nothing is collected."""
    programs = LARGE / int(drive.device["page_bytes"]) / int(drive.device["pages_per_program"])
    return _rate(drive, LARGE, [_program(drive, programs, drive.planes_together, overlaps=_overlaps(drive))], writes=True)


def random_write(drive: Drive, size: int, amplification: float) -> Rate:
    """Random writes of `size` bytes in steady state: bux2011 (8), whose moves are programs of several units here.

    `amplification`: that of writes of whole mapping units. A write of a part of a unit programs all of it, after a read of the rest.
    """
    blocks, shot = drive.programs_per_block, int(drive.device["pages_per_program"])
    share = 1 - drive.parity / amplification  # of the units of a victim, valid
    programs = max(1.0, size / drive.unit_bytes) / drive.units_per_program
    jobs = programs / (blocks * (1 - share))
    copies = bool(drive.device["copyback"]) and not drive.moves_in_parts
    pages = blocks * shot * (1 - (1 - share) ** drive.units_per_page)
    operations = [
        _program(drive, programs, drive.planes_written),
        *_jobs(drive, jobs, pages, blocks * share, copies=copies),
    ]
    if size < drive.unit_bytes and drive.ftl["partial_write"] == "rmw":
        bus = _read_bus_ns(drive, drive.unit_bytes)
        operations.append(_read(drive, 1.0, bus, aged=False))
    return _rate(drive, size, operations, writes=True)


def latencies(drive: Drive) -> dict[str, float]:
    """Response times of one request on an idle drive, ns. `write` is of 4 KiB, `page` of a flash page."""
    page = int(drive.device["page_bytes"])
    found = {
        "read_4k": _command(drive, SMALL) + read_time(drive, _read_bus_ns(drive, SMALL)).response,
        "read_page": _command(drive, page) + read_time(drive, _read_bus_ns(drive, page)).response,
    }
    if drive.buffer["bytes"]:
        return {
            **found,
            "write_4k": _command(drive, SMALL) + int(drive.buffer["access_ns"]),
            "write_page": _command(drive, page) + int(drive.buffer["access_ns"]),
        }
    shot = -(-SMALL // page)
    program = drive.mean_ns("program_ns")
    fill = SMALL % drive.unit_bytes and drive.ftl["partial_write"] == "rmw"
    small = program + shot * drive.transfer_ns() + (read_time(drive, _read_bus_ns(drive, drive.unit_bytes)).response if fill else 0)
    return {**found, "write_4k": _command(drive, SMALL) + small, "write_page": _command(drive, page) + program + drive.transfer_ns()}


def _read(drive: Drive, pages: float, bus: float, planes: int = 1, *, at_random: int = 1, aged: bool = True) -> Operation:
    time = read_time(drive, bus, planes=planes, pages=at_random, aged=aged, overlaps=_overlaps(drive))
    return Operation(float(drive.energy["read_mw"]), pages, time.array, time.bus, time.die, planes)


def _reads(drive: Drive, pages: float, bus: float, planes: int, *, at_random: int = 1) -> list[Operation]:
    """Reads of the host, and the moves of the blocks that were read often (`errors.reclaim_reads`), unless these wait for the host."""
    one, often = _read(drive, pages, bus, planes, at_random=at_random), int(drive.errors["reclaim_reads"])
    if drive.errors["retry"] == "off" or not often or drive.gc["priority"] == "host":
        return [one]
    shot, blocks = int(drive.device["pages_per_program"]), drive.programs_per_block
    jobs = pages / often * one.array / drive.mean_ns("read_ns")
    return [one, *_jobs(drive, jobs, blocks * shot, blocks, copies=False)]


def _program(drive: Drive, programs: float, planes: int = 1, *, overlaps: bool = False, moved: bool = True) -> Operation:
    """Programs, each of one plane; with parity, whose transfers count as time of the array."""
    shot, array = int(drive.device["pages_per_program"]), drive.mean_ns("program_ns")
    bus = shot * drive.transfer_ns() if moved else 0.0
    with_parity = array * drive.parity + (drive.parity - 1) * planes * bus
    die = max(with_parity, planes * bus) if overlaps else with_parity + planes * bus
    return Operation(float(drive.energy["program_mw"]), programs, with_parity, bus, die, planes)


def _jobs(drive: Drive, jobs: float, pages: float, programs: float, *, copies: bool) -> list[Operation]:
    """The reads, programs and erase of GC jobs that move this many pages in this many programs each."""
    program = _program(drive, jobs * programs, moved=not copies)
    array = float(drive.device["erase_ns"])
    erase = Operation(float(drive.energy["erase_mw"]), jobs, array, 0.0, array)
    bus = 0.0 if copies else drive.transfer_ns() + int(drive.device["read_command_ns"])
    time = read_time(drive, bus, aged=False)
    read = Operation(float(drive.energy["read_mw"]), jobs * pages, time.array, time.bus, time.die if copies else time.response)
    if drive.moves_in_parts:
        return [read, program, erase]
    # one operation, which counts with the larger power from its start to its end
    most = max(read.milliwatts, program.milliwatts)
    return [read._replace(capped=most), program._replace(capped=most), erase]


def _rate(drive: Drive, size: int, operations: Iterable[Operation], *, writes: bool = False) -> Rate:
    operations = list(operations)
    bus = sum(one.pages * one.bus for one in operations)
    limits = {"die": drive.stations * 1e9 / sum(one.pages / one.planes * one.die for one in operations), **_power(drive, operations)}
    if bus:
        limits["channel"] = int(drive.device["channels"]) * 1e9 / bus
    drawn = sum(one.pages * one.milliwatts * one.array for one in operations) + float(drive.energy["bus_mw"]) * bus
    idle_w = float(drive.energy["idle_mw"]) / 1e3
    return Rate(size, {**limits, **_host(drive, size, writes=writes)}, idle_w, drawn / 1e3 + _above(drive, size, bus))


def _above(drive: Drive, size: int, bus: float) -> float:
    """Energy of controller, memory and link for a request, nJ. `bus`: time on the channels, ns."""
    each = int(drive.device["transfer_ps_per_byte"])
    passing = size + (bus * 1000 / each if each else 0.0)
    dram, link, command = (float(drive.energy[key]) for key in ("dram_pj_per_bit", "link_pj_per_bit", "command_nj"))
    return command + (passing * dram + size * link) * 8 / 1e3


def _power(drive: Drive, operations: Iterable[Operation]) -> dict[str, float]:
    """The limit of `energy.cap_w`: an operation draws the power of its array from its start to its end."""
    counted = [(one, round(1e3 * (one.milliwatts if one.capped is None else one.capped))) for one in operations]
    each = {microwatts for _, microwatts in counted if microwatts}
    if not drive.energy["cap_w"] or not each:
        return {}
    budget = round(float(drive.energy["cap_w"]) * 1e6) - round(float(drive.energy["idle_mw"]) * 1e3)
    # of operations that draw alike, the rest of the budget is too little for one more
    used = budget // max(each) * max(each) if len(each) == 1 else budget
    return {"power": used * 1e9 / sum(one.pages * microwatts * one.die for one, microwatts in counted)}


def _read_bus_ns(drive: Drive, size: int) -> float:
    """Time of a read on the channel: its command, and its page or the parts of it (units, or sixteenths of a page that is one unit)."""
    page = int(drive.device["page_bytes"])
    part = drive.unit_bytes if drive.units_per_page > 1 else page // 16
    needed = -(-min(size, page) // part) * part
    share = needed / page if drive.device["partial_reads"] and drive.device["transfer_ps_per_byte"] else 1.0
    return drive.transfer_ns(share) + int(drive.device["read_command_ns"])


def _overlaps(drive: Drive) -> bool:
    """Whether the array of a die works during the transfer of another operation."""
    return bool(drive.scheduler["pipeline"] and drive.device["cache_register"])


def _host(drive: Drive, size: int, *, writes: bool) -> dict[str, float]:
    host, cost = drive.host, int(drive.host["command_ns"]) + int(drive.host["completion_ns"])
    rates = {"link": host["link_bytes_per_us"], "write rate": host["write_bytes_per_us"] if writes else 0}
    limits = {name: int(rate) * 1e6 / size for name, rate in rates.items() if rate}
    return {**limits, **({"cores": int(host["cores"]) * 1e9 / cost} if cost else {}), **_quotas(host, size)}


def _quotas(host: Mapping[str, Any], size: int) -> dict[str, float]:
    """The limit of the quotas of all queues together, unless a queue has none."""
    queues = int(host["queues"])
    commands, data = (host[key] or [0] * queues for key in ("quota_iops", "quota_mb_s"))
    each = [min(one or math.inf, mb * 1e6 / size or math.inf) for one, mb in zip(commands, data, strict=True)]
    return {"quotas": sum(each)} if math.isfinite(sum(each)) else {}


def _command(drive: Drive, size: int) -> float:
    link = int(drive.host["link_bytes_per_us"])
    return int(drive.host["command_ns"]) + int(drive.host["completion_ns"]) + (round(size * 1000 / link) if link else 0)
