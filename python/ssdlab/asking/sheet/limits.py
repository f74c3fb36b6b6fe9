"""Rates by each limit, and unloaded latencies: worked out from the timing keys, not simulated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ssdlab.asking.sheet.drive import Drive

__all__ = ["Rate", "latencies", "random_read", "random_write", "sequential_read", "sequential_write"]

SMALL, LARGE = 4096, 131072
"""Bytes of random and of sequential requests."""


class Rate(NamedTuple):
    """A rate: requests of `size` bytes a second, by each limit that there is."""

    size: int
    limits: Mapping[str, float]

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


def random_read(drive: Drive) -> Rate:
    """Random reads of 4 KiB, as many outstanding as keep every die busy."""
    planes = 1 if drive.device["multiplane_aligned_reads"] else drive.planes_together
    pages = max(1.0, SMALL / int(drive.device["page_bytes"]))
    bus = _read_bus_ns(drive, SMALL)
    die = _cycle(drive, drive.mean_ns("read_ns"), planes * bus)
    limits = {"die": drive.stations * planes * 1e9 / die / pages, **_channel(drive, bus * pages)}
    return Rate(SMALL, {**limits, **_host(drive, SMALL)})


def sequential_read(drive: Drive) -> Rate:
    """Sequential reads of 128 KiB."""
    page, planes = int(drive.device["page_bytes"]), drive.planes_together
    pages = LARGE / page
    bus = drive.transfer_ns() + int(drive.device["read_command_ns"])
    die = _cycle(drive, drive.mean_ns("read_ns"), planes * bus)
    limits = {"die": drive.stations * planes * 1e9 / die / pages, **_channel(drive, bus * pages)}
    return Rate(LARGE, {**limits, **_host(drive, LARGE)})


def sequential_write(drive: Drive) -> Rate:
    """Sequential writes of 128 KiB, to a drive in which nothing is collected."""
    pages, planes = LARGE / int(drive.device["page_bytes"]), drive.planes_together
    per_program = planes * int(drive.device["pages_per_program"])
    stripe = int(drive.ftl["parity_stripe"])
    parity = stripe / (stripe - 1) if stripe else 1.0
    bus = drive.transfer_ns()
    die = _cycle(drive, drive.mean_ns("program_ns"), per_program * bus) * parity
    limits = {"die": drive.stations * per_program * 1e9 / die / pages, **_channel(drive, bus * pages)}
    return Rate(LARGE, {**limits, **_host(drive, LARGE)})


def random_write(drive: Drive, amplification: float) -> Rate:
    """Random writes of a mapping unit in steady state: bux2011 (8), whose moves are programs of several units here."""
    units, blocks = drive.units_per_program, drive.programs_per_block
    stripe = int(drive.ftl["parity_stripe"])
    parity = stripe / (stripe - 1) if stripe else 1.0
    share = 1 - parity / amplification  # of the units of a victim, valid
    read, bus, shot = drive.mean_ns("read_ns"), drive.transfer_ns(), int(drive.device["pages_per_program"])
    copies = bool(drive.device["copyback"]) and units == 1 and drive.gc["moves_in_flight"] == 1
    pages_read = blocks * shot * (1 - (1 - share) ** drive.units_per_page)
    program = (drive.mean_ns("program_ns") + (0 if copies else shot * bus)) * parity
    host = (drive.mean_ns("program_ns") + shot * bus) * parity
    move = pages_read * (read + (0 if copies else bus)) + blocks * share * program
    gained = blocks * (1 - share)  # programs that a job frees
    die = host + (move + int(drive.device["erase_ns"])) / gained
    on_bus = shot * bus + (0 if copies else (pages_read * bus + blocks * share * shot * bus) / gained)
    per_s = units * drive.unit_bytes / SMALL if units > 1 else 1.0
    size = SMALL if units > 1 else drive.unit_bytes
    limits = {"die": drive.stations * per_s * 1e9 / die, **_channel(drive, on_bus / per_s)}
    return Rate(size, {**limits, **_host(drive, size)})


def latencies(drive: Drive) -> dict[str, float]:
    """Response times of one request on an idle drive, ns. `write` is of 4 KiB, `page` of a flash page."""
    page = int(drive.device["page_bytes"])
    read = drive.mean_ns("read_ns")
    found = {
        "read_4k": _command(drive, SMALL) + read + _read_bus_ns(drive, SMALL),
        "read_page": _command(drive, page) + read + drive.transfer_ns() + int(drive.device["read_command_ns"]),
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
    small = program + shot * drive.transfer_ns() + (read + _read_bus_ns(drive, drive.unit_bytes) if fill else 0)
    return {**found, "write_4k": _command(drive, SMALL) + small, "write_page": _command(drive, page) + program + drive.transfer_ns()}


def _read_bus_ns(drive: Drive, size: int) -> float:
    """Time of a read on the channel: its command, and its page or the units of it."""
    page = int(drive.device["page_bytes"])
    needed = -(-min(size, page) // drive.unit_bytes) * drive.unit_bytes
    share = needed / page if drive.device["partial_reads"] and drive.device["transfer_ps_per_byte"] else 1.0
    return drive.transfer_ns(share) + int(drive.device["read_command_ns"])


def _cycle(drive: Drive, array: float, bus: float) -> float:
    """Time for which an operation occupies its die; with pipelining the array works during the transfer of another."""
    pipelined = drive.scheduler["pipeline"] and drive.device["cache_register"]
    return max(array, bus) if pipelined else array + bus


def _channel(drive: Drive, bus: float) -> dict[str, float]:
    return {"channel": int(drive.device["channels"]) * 1e9 / bus} if bus else {}


def _host(drive: Drive, size: int) -> dict[str, float]:
    link, cost = int(drive.host["link_bytes_per_us"]), int(drive.host["command_ns"]) + int(drive.host["completion_ns"])
    limits = {"link": link * 1e6 / size} if link else {}
    return {**limits, **({"cores": int(drive.host["cores"]) * 1e9 / cost} if cost else {})}


def _command(drive: Drive, size: int) -> float:
    link = int(drive.host["link_bytes_per_us"])
    return int(drive.host["command_ns"]) + int(drive.host["completion_ns"]) + (round(size * 1000 / link) if link else 0)
