"""All that is computed of a drive, in one place."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ssdlab import _core
from ssdlab.asking.sheet.amplification import Amplification, amplification_of
from ssdlab.asking.sheet.claims import CLAIMS, SEQUENTIAL, Claim
from ssdlab.asking.sheet.drive import SCOPES, Drive
from ssdlab.asking.sheet.limits import SMALL, Rate, latencies, random_read, random_write, sequential_read, sequential_write

__all__ = ["Summary", "summary_of"]


FEW_BLOCKS = 100
"""Blocks of a pool below which a closed form is known to be too high."""


@dataclass(frozen=True)
class Summary:
    """What a drive will do. Rates are limits: a run reaches them only with enough requests outstanding."""

    drive: Drive
    rates: Mapping[str, Rate]
    latencies: Mapping[str, float]
    amplification: Amplification
    """That of random writes of mapping units."""
    remarks: tuple[str, ...]

    @property
    def small_amplification(self) -> Amplification:
        """That of random writes of 4 KiB: each programs a mapping unit at least."""
        each = max(1.0, self.drive.unit_bytes / SMALL)
        return self.amplification._replace(low=self.amplification.low * each, high=self.amplification.high * each)

    @property
    def rating(self) -> dict[str, float]:
        """TBW and DWPD under random writes of 4 KiB; empty without rated erases, or without their write amplification."""
        high = self.small_amplification.high
        return self._rated(high * self.drive.data_bytes / self.drive.flash_bytes) if high else {}

    @property
    def sequential_rating(self) -> dict[str, float]:
        """TBW and DWPD under sequential writes, each programmed once, and with an SLC cache twice; empty without rated erases."""
        slc = self.drive.slc
        return self._rated(1 + slc["bits_per_cell"] * slc["wear"] if self.drive.has_slc else 1)

    def _rated(self, wears: float) -> dict[str, float]:
        """TBW and DWPD, if a byte of the host wears the cells of so many bytes of data; empty without rated erases."""
        wear = self.drive.wear
        written = (wear["rated_cycles"] or wear["endurance"]) * self.drive.data_bytes / wears
        warranty = self.drive.exported_bytes * wear["warranty_years"] * 365
        return {"tbw": written / 1e12, "dwpd": written / warranty} if written else {}

    @property
    def watts(self) -> float:
        """The highest power of all rates, W; 0 without `energy`."""
        return max(rate.watts for rate in self.rates.values())

    def claims(self, sheet: Mapping[str, float]) -> list[Claim]:
        """A sheet's numbers beside the computed ones, without those that have none.

        Ratings are those of random writes, or where these have no closed form of sequential ones.
        """
        values, about = self._values(), CLAIMS if self.rating else {**CLAIMS, **SEQUENTIAL}
        return [Claim(name, number, values[name], about[name]) for name, number in sheet.items() if name in values]

    def without(self, sheet: Mapping[str, float]) -> dict[str, str]:
        """The names of a sheet for which nothing is computed, and why."""
        return {name: self._why_not(name) for name in sheet if name not in self._values()}

    def _why_not(self, name: str) -> str:
        if name == "watts":
            return "the drive draws no power: set the keys of energy, such as energy.program_mw"
        if name in ("tbw", "dwpd"):
            return "no erases are rated: set wear.rated_cycles"
        return self.amplification.form

    def _values(self) -> dict[str, float]:
        rates, times = self.rates, self.latencies
        found = {
            "read_iops": rates["random read"].per_s,
            "read_mb_s": rates["sequential read"].mb_s,
            "write_mb_s": rates["sequential write"].mb_s,
            "read_us": times["read_4k"] / 1e3,
            "write_us": times["write_4k"] / 1e3,
            "capacity_gb": self.drive.exported_bytes / 1e9,
        }
        writes = {"write_iops": rates["random write"].per_s} if "random write" in rates else {}
        return {**found, **writes, **(self.rating or self.sequential_rating), **({"watts": self.watts} if self.watts else {})}

    def to_dict(self) -> dict[str, Any]:
        """The summary as JSON."""
        drive = self.drive
        return {
            "exported_bytes": drive.exported_bytes,
            "flash_bytes": drive.flash_bytes,
            "data_bytes": drive.data_bytes,
            **({"zones": dict(zip(("count", "capacity_bytes", "size_bytes"), drive.zones, strict=True))} if drive.zones else {}),
            "spare_share": 1 - drive.exported_bytes / drive.data_bytes,
            "pools": drive.pools,
            "blocks_per_pool": drive.blocks_per_pool,
            "spare_blocks": drive.spare_blocks,
            "open_blocks": drive.open_blocks,
            "reserve_blocks": drive.reserve_blocks,
            "soft_blocks": drive.soft_blocks,
            "hard_blocks": drive.hard_blocks,
            "rates": {
                name: {
                    "per_s": rate.per_s,
                    "mb_s": rate.mb_s,
                    "bytes": rate.size,
                    "binding": rate.binding,
                    "limits": dict(rate.limits),
                    **({"watts": rate.watts} if rate.watts else {}),
                }
                for name, rate in self.rates.items()
            },
            "latencies_ns": dict(self.latencies),
            **self._amplifications(),
            "write_amplification_by": self.amplification.form,
            **({"rating": self.rating} if self.rating else {}),
            **({"sequential_rating": self.sequential_rating} if self.sequential_rating else {}),
            "remarks": list(self.remarks),
        }

    def _amplifications(self) -> dict[str, list[float]]:
        """Write amplification of random writes of 4 KiB, and of units, if these are larger: lower and upper bound."""
        small, unit = self.small_amplification, self.amplification
        found = {"write_amplification": small, **({"unit_write_amplification": unit} if small.high != unit.high else {})}
        return {name: [one.low, one.high] for name, one in found.items() if one.high}


def summary_of(config: _core.Config) -> Summary:
    """Computes what the drive of a configuration will do."""
    drive = Drive.of(config)
    amplification = amplification_of(drive)
    rates = {"random read": random_read(drive), "sequential read": sequential_read(drive), "sequential write": sequential_write(drive)}
    if amplification.high:
        rates["random write"] = random_write(drive, SMALL, amplification.high)
        if drive.unit_bytes > SMALL:
            rates["random write of a unit"] = random_write(drive, drive.unit_bytes, amplification.high)
    return Summary(
        drive,
        rates,
        latencies(drive),
        amplification,
        (*_remarks(drive), *_left_out(drive), *_steps(drive, amplification), *_above_cap(drive, rates), *_throttled(drive, rates)),
    )


COARSE = 0.1
"""Steps of write amplification from which on the next one is another result."""


def _steps(drive: Drive, amplification: Amplification) -> Iterator[str]:
    """Victims that give up a whole number of programs: a drive near the edge of a step may come out on the next."""
    if not amplification.in_programs:
        return
    given = drive.units_per_reclaim * drive.parity / amplification.high
    step = drive.units_per_program / (given - drive.units_per_program) if given > drive.units_per_program else math.inf
    if step >= COARSE:
        yield (
            f"A block has {drive.units_per_reclaim // drive.units_per_program} programs of data, and a job gains whole ones, so that write "
            f"amplification goes in steps: the next is {step:.0%} higher. A run may come out one step away; with larger blocks "
            "(device.pages_per_block) steps are smaller."
        )


def _above_cap(drive: Drive, rates: Mapping[str, Rate]) -> Iterator[str]:
    cap, most = float(drive.energy["cap_w"]), max(rate.watts for rate in rates.values())
    if 0 < cap < most:
        yield (
            f"energy.cap_w = {cap:g} holds energy.idle_mw and the flash arrays. With buses, memory, link and controller the drive draws up "
            f"to {most:.2f} W; lower the cap by {most - cap:.2f} to keep all of it within {cap:g} W."
        )


def _throttled(drive: Drive, rates: Mapping[str, Rate]) -> Iterator[str]:
    """A drive that gets so warm at its highest power that it does not keep up its rates."""
    heat, most = drive.thermal, max(rate.watts for rate in rates.values())
    settled = heat["ambient_c"] + heat["resistance_c_per_w"] * most
    caps = {"light_c": heat["light_w"], "heavy_c": heat["heavy_w"], "critical_c": 0.0}
    # a cap above what the drive draws limits nothing
    reached = [key for key, cap in caps.items() if 0 < heat[key] <= settled and cap < most]
    if heat["resistance_c_per_w"] and reached:
        limits = ", ".join(f"thermal.{key} = {heat[key]:g}" for key in reached)
        yield (
            f"At {most:.2f} W, the most that it draws, the drive would settle at {settled:.0f} °C: it does not keep up that rate, since "
            f"heat limits it from {limits} on."
        )


def _remarks(drive: Drive) -> Iterator[str]:
    if drive.blocks_per_pool < FEW_BLOCKS and not drive.zones:
        yield (
            f"Pools of {drive.blocks_per_pool} blocks: the closed forms hold for many. Small pools amplify up to a quarter less than "
            "computed, and write at random that much faster."
        )
    if drive.planes_together > 1:
        yield "Planes that work together: rates hold if requests for all planes of a die wait."
    if drive.gc["scope"] in SCOPES[:3] and drive.dies > 1 and not drive.zones:
        yield f"gc.scope = {drive.gc['scope']}: other dies wait while one collects, so random writes are slower than computed."
    if drive.array["level"] != "none":
        yield f"All numbers are those of one of the {drive.array['drives']} drives of the array."
    if 0 < drive.wear["endurance"] < drive.wear["rated_cycles"]:
        yield f"Blocks fail after wear.endurance = {drive.wear['endurance']} erases, before the wear.rated_cycles of TBW and DWPD."
    if drive.ftl["namespaces"]:
        yield "Rates are those of all namespaces together: each has those of its own dies."
    if drive.power_states["exit_us"]:
        asleep = drive.power_states["exit_us"][-1]
        yield f"Latencies are those of a drive that is awake: from its deepest power state a command takes {asleep:,} us more."


def _left_out(drive: Drive) -> Iterator[str]:
    """Mechanisms that these numbers leave out."""
    if drive.scheduler["suspend"]:
        yield "Suspension is not in these numbers: under a mix it makes reads faster and writes slower."
    if drive.array["rebuild_stripes"]:
        yield "The rebuild of the failed drive is not in these numbers: it reads the others, and writes the new one, beside the host."
    if drive.has_slc:
        yield "Blocks in SLC mode are not in these numbers: writes to the cache are faster, and slower while it is folded."
    if drive.wear["erase"] != "fixed" or drive.wear["erase_growth"]:
        yield "Pulses and growth of erases are not in these numbers: an erase takes device.erase_ns, and wears its block by one."
    if drive.ftl["map_cache_bytes"]:
        yield "The mapping cache is not in these numbers: each miss costs a read, and often a program, of the flash."
    if drive.ftl["map_models"] == "segments" and drive.ftl["map_model_error"]:
        yield "Reads at a wrong place are not in these numbers: a segment may be off by ftl.map_model_error units, which costs a read."
    if drive.cache["policy"] != "none":
        yield "The cache is not in these numbers: hits are faster."
    if drive.host["slots"] or drive.host["queue_depth"]:
        yield "The limit of outstanding commands is not in these numbers: at most (commands) / (response time) requests a second."
