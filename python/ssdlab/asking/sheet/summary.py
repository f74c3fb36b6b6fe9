"""All that is computed of a drive, in one place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ssdlab import _core
from ssdlab.asking.sheet.amplification import Amplification, amplification_of
from ssdlab.asking.sheet.claims import Claim
from ssdlab.asking.sheet.drive import SCOPES, Drive
from ssdlab.asking.sheet.limits import Rate, latencies, random_read, random_write, sequential_read, sequential_write

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
    remarks: tuple[str, ...]

    def claims(self, sheet: Mapping[str, float]) -> list[Claim]:
        """A sheet's numbers beside the computed ones; those without a computed one are left out, with a remark."""
        values = self._values()
        return [Claim(name, number, values[name]) for name, number in sheet.items() if name in values]

    def without(self, sheet: Mapping[str, float]) -> list[str]:
        """The names of a sheet for which nothing is computed."""
        return [name for name in sheet if name not in self._values()]

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
        return {**found, **({"write_iops": rates["random write"].per_s} if "random write" in rates else {})}

    def to_dict(self) -> dict[str, Any]:
        """The summary as JSON."""
        drive = self.drive
        return {
            "exported_bytes": drive.exported_bytes,
            "flash_bytes": drive.flash_bytes,
            "data_bytes": drive.data_bytes,
            "spare_share": 1 - drive.exported_bytes / drive.data_bytes,
            "pools": drive.pools,
            "blocks_per_pool": drive.blocks_per_pool,
            "spare_blocks": drive.spare_blocks,
            "open_blocks": drive.open_blocks,
            "reserve_blocks": 1,
            "soft_blocks": drive.soft_blocks,
            "hard_blocks": drive.hard_blocks,
            "rates": {
                name: {"per_s": rate.per_s, "mb_s": rate.mb_s, "bytes": rate.size, "binding": rate.binding, "limits": dict(rate.limits)}
                for name, rate in self.rates.items()
            },
            "latencies_ns": dict(self.latencies),
            **({"write_amplification": [self.amplification.low, self.amplification.high]} if self.amplification.high else {}),
            "write_amplification_by": self.amplification.form,
            "remarks": list(self.remarks),
        }


def summary_of(config: _core.Config) -> Summary:
    """Computes what the drive of a configuration will do."""
    drive = Drive.of(config)
    amplification = amplification_of(drive)
    rates = {"random read": random_read(drive), "sequential read": sequential_read(drive), "sequential write": sequential_write(drive)}
    if amplification.high:
        rates["random write"] = random_write(drive, amplification.high)
    return Summary(drive, rates, latencies(drive), amplification, tuple(_remarks(drive)))


def _remarks(drive: Drive) -> Iterator[str]:
    if drive.blocks_per_pool < FEW_BLOCKS:
        yield (
            f"Pools of {drive.blocks_per_pool} blocks: the closed forms hold for many. Small pools amplify up to a quarter less than "
            "computed, and write at random that much faster."
        )
    if drive.planes_together > 1:
        yield (
            "Planes that work together: rates hold if requests for all planes of a die wait; random writes are "
            "computed plane by plane, and may be faster."
        )
    if drive.gc["scope"] in SCOPES[:3] and drive.dies > 1:
        yield f"gc.scope = {drive.gc['scope']}: other dies wait while one collects, so random writes are slower than computed."
    if drive.scheduler["suspend"]:
        yield "Suspension is not in these numbers: under a mix it makes reads faster and writes slower."
    if drive.has_slc:
        yield "Blocks in SLC mode are not in these numbers: writes to the cache are faster, and slower while it is folded."
    if drive.ftl["map_cache_bytes"]:
        yield "The mapping cache is not in these numbers: each miss costs a read, and often a program, of the flash."
    if drive.cache["policy"] != "none":
        yield "The cache is not in these numbers: hits are faster."
    if drive.host["slots"] or drive.host["queue_depth"]:
        yield "The limit of outstanding commands is not in these numbers: at most (commands) / (response time) requests a second."
