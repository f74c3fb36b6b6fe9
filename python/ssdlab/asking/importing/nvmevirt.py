"""NVMeVirt's ssd_config.h as a device and a scheme.

Sources: snu-csl/nvmevirt, `ssd_config.h`, `ssd.c` (`ssd_init_params`, `ssd_advance_nand`), `conv_ftl.c`, `channel_model.c`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from ssdlab.asking.importing.c_header import Header, choices_of
from ssdlab.asking.importing.ledger import Fate, Imported, Ledger
from ssdlab.asking.importing.presets import drive_presets
from ssdlab.asking.importing.source import Entry, Source
from ssdlab.errors import UsageError

__all__ = ["read_device"]

PROFILE = "BASE_SSD"
_GUARD = re.compile(r"^\s*#\s*ifndef\s+(\w+)\s*\n\s*#\s*define\s+\1\s*$", re.MULTILINE)
UNIT = 4096
"""`secsz` x `secs_per_pg` in ssd.c: what the mapping table maps."""
CELLS = {1: ("LSB",), 2: ("LSB", "MSB"), 3: ("LSB", "MSB", "CSB"), 4: ("LSB", "MSB", "CSB")}
NUMBERS = ("INTEL_OPTANE", "SAMSUNG_970PRO", "ZNS_PROTOTYPE", "KV_PROTOTYPE", "WD_ZN540")
PREFIXES = ("SSD_TYPE_", "CELL_MODE_", "NS_SSD_TYPE_1", "NS_CAPACITY_1")
IDLE = {
    "NR_NAMESPACES": "the first namespace is imported",
    "NS_CAPACITY_0": "0: all of the memory, which --capacity gives",
    "MDTS": "limits the size of a command",
    "CONV_MDTS": "limits the size of a command",
    "NVM_MDTS": "limits the size of a command",
    "LBA_BITS": "the size of a sector; it takes no time",
    "LBA_SIZE": "the size of a sector; it takes no time",
    "DIES_PER_ZONE": "of zoned drives",
    "ZONE_SIZE": "of zoned drives",
    "ZONE_WB_SIZE": "of zoned drives",
    "MAX_ZRWA_ZONES": "of zoned drives",
    "ZRWAFG_SIZE": "of zoned drives",
    "ZRWA_SIZE": "of zoned drives",
    "ZRWA_BUFFER_SIZE": "of zoned drives",
}
TYPES = {0: "flat memory without flash (SSD_TYPE_NVM)", 2: "zoned (SSD_TYPE_ZNS)", 3: "a key-value drive (SSD_TYPE_KV)"}


def read_device(source: Source, *, profile: str | None, capacity: int | None) -> Imported:
    """Reads an ssd_config.h.

    Args:
        source: the header.
        profile: the drive of the header to import, a value of BASE_SSD.
        capacity: bytes of memory that the module gets (`memmap_size`).
    """
    header = _header(source, profile)
    entries = [Entry(source, found.line, "", found.name, found.text) for found in (*header.repeated, *header.definitions.values())]
    ledger = Ledger(source, sorted(entries, key=lambda entry: entry.line))
    names = {*NUMBERS, *choices_of(source, PROFILE)}
    names |= {found.name for found in header.definitions.values() if found.is_enumerator}
    ledger.all_of(ledger.idle, dict.fromkeys(_GUARD.findall(source.text), "guards against a second inclusion"))
    ledger.all_of(
        ledger.idle, {entry.name: "a name for a number" for entry in entries if entry.name in names or entry.name.startswith(PREFIXES)}
    )
    form = f"NVMeVirt, ssd_config.h{f', {profile}' if profile else ''}"
    ledger.mapped(PROFILE, {}, f"chooses the drive of the header{f'; --profile takes its place: {profile}' if profile else ''}")
    values = _Values(source, header)
    kind = values.whole("NS_SSD_TYPE_0")
    if kind != 1:
        problem = (
            f"the profile is {TYPES.get(kind, 'of a type that ssdlab does not know')}: only drives with a page "
            "map (SSD_TYPE_CONV) are simulated"
        )
        ledger.rest_of("", Fate.left_out, problem)
        return ledger.imported(form, (), problem)
    ledger.mapped("NS_SSD_TYPE_0", {}, "a drive with a page map")
    ledger.all_of(ledger.idle, IDLE)
    _geometry(ledger, values, capacity)
    _times(ledger, values)
    _host(ledger, values)
    _collection(ledger)
    presets, problem = drive_presets(ledger)
    return ledger.imported(form, presets, problem)


def _header(source: Source, profile: str | None) -> Header:
    profiles = choices_of(source, PROFILE)
    if profile is not None and profile not in profiles:
        raise UsageError(f"{source.name}: no profile {profile!r}: it has {', '.join(profiles) or 'none'}")
    header = Header(source, {PROFILE: profile} if profile else {})
    if profiles and not profile and PROFILE not in header.definitions:
        raise UsageError(f"{source.name}: has several drives, and the Makefile chooses: give --profile with one of {', '.join(profiles)}")
    return header


class _Values:
    """Numbers of the header, with one-line errors."""

    def __init__(self, source: Source, header: Header) -> None:
        self._source = source
        self._header = header

    def of(self, name: str, least: float = 0, default: float | None = None) -> float:
        """The number of a definition."""
        lacking = self._header.undefined(name)
        if lacking and name not in lacking:
            text = self._header.definitions[name].text
            raise self._source.refuse(
                self._line(name), f"{name} = {text}: {lacking[0]} is not defined: add its definition from NVMeVirt's ssd_config.h"
            )
        number = self._header.number(name)
        number = default if number is None else number
        if number is None:
            raise self._source.refuse(0, f"{name} is not defined: expected NVMeVirt's ssd_config.h")
        if not least <= number <= 1e15:
            raise self._source.refuse(self._line(name), f"{name} = {number:g}: expected a number from {least:g} to 1e15")
        return number

    def whole(self, name: str, least: int = 0, default: int | None = None) -> int:
        """The whole number of a definition."""
        return int(self.of(name, least, default))

    def _line(self, name: str) -> int:
        return self._header.definitions[name].line if name in self._header.definitions else 0


def _geometry(ledger: Ledger, values: _Values, capacity: int | None) -> None:
    channels, luns, planes = values.whole("NAND_CHANNELS", 1), values.whole("LUNS_PER_NAND_CH", 1), values.whole("PLNS_PER_LUN", 1, 1)
    page, shot = values.whole("FLASH_PAGE_SIZE", 512), values.whole("ONESHOT_PAGE_SIZE", 512)
    ledger.mapped("NAND_CHANNELS", {"device.channels": channels})
    ledger.mapped("LUNS_PER_NAND_CH", {"device.chips_per_channel": luns, "device.dies_per_chip": 1}, "a LUN is one die")
    ledger.mapped("PLNS_PER_LUN", {"device.planes_per_die": planes})
    ledger.mapped("FLASH_PAGE_SIZE", {"device.page_bytes": page, "device.spare_bytes": 0}, "bytes")
    ledger.mapped(
        "ONESHOT_PAGE_SIZE", {"device.pages_per_program": max(1, shot // page)}, f"{shot:,} / {page:,} bytes: flash pages of a program"
    )
    ledger.without_key({"ftl.map_unit_bytes": UNIT, "device.partial_reads": True}, "ssd.c maps 4 KiB, and transfers what a read asks for")
    blocks = values.whole("BLKS_PER_PLN")
    block = values.whole("BLK_SIZE", 0, 0)
    stations = channels * luns * planes
    if capacity is None:
        raise UsageError(
            f"{ledger.source.name}: the size of the drive is not in the header (it is memmap_size of the module): "
            "give --capacity, such as 60GiB"
        )
    if blocks:
        block = math.ceil(capacity / (blocks * stations))
        how = f"blocks of {capacity:,} / ({blocks:,} x {stations}) bytes, rounded up to programs"
    else:
        blocks = math.ceil(capacity / max(1, block * stations))
        how = f"{capacity:,} / ({block:,} x {stations}) blocks"
    pages = math.ceil(block / shot) * max(1, shot // page)
    ledger.mapped(
        "BLKS_PER_PLN", {"device.blocks_per_plane": blocks, "device.pages_per_block": pages}, f"{how}; --capacity is the size of the memory"
    )
    ledger.idle("BLK_SIZE", "BLKS_PER_PLN gives the size of blocks") if values.whole("BLKS_PER_PLN") else ledger.mapped("BLK_SIZE", {}, how)
    share = values.of("OP_AREA_PERCENT")
    how = f"1 - 100 / int((1 + {share:g}) x 100): the header divides by what is exported"
    percent = int((1 + share) * 100)
    ledger.mapped("OP_AREA_PERCENT", {"device.overprovisioning": round(1 - 100 / percent, 6)}, how)
    parts = values.whole("SSD_PARTITIONS", 1, 1)
    if parts > 1:
        ledger.approximated("SSD_PARTITIONS", {}, f"{parts} FTLs there, each for a part of the channels; one FTL here")
    ledger.idle("SSD_PARTITIONS", "one FTL")
    ledger.without_key(
        {"ftl.allocation": "dynamic"},
        "programs go round robin over channels and LUNs, whatever their address; here to the LUN with the fewest operations",
    )
    ledger.without_key({"ftl.precondition.kind": "none", "ftl.unmapped_read": "immediate"}, "the drive is empty at the start")


def _times(ledger: Ledger, values: _Values) -> None:
    cell = values.whole("CELL_MODE", 0, 2)
    levels = CELLS.get(cell, ("LSB",))
    reads = [max(1, round(values.of(f"NAND_READ_LATENCY_{level}"))) for level in levels]
    same = len(set(reads)) == 1
    settings: dict[str, Any] = {"device.read_ns": reads[0]} if same else {"device.read_ns_by_page": reads}
    ledger.mapped("CELL_MODE", {}, f"page types by flash page: {', '.join(levels)}")
    for level in ("LSB", "MSB", "CSB"):
        name = f"NAND_READ_LATENCY_{level}"
        if level in levels:
            ledger.mapped(name, settings, "ns in both")
            ledger.approximated(
                f"NAND_4KB_READ_LATENCY_{level}",
                {},
                f"reads of 4 KiB take {name}, {values.of(name) - values.of(f'NAND_4KB_READ_LATENCY_{level}', 0, 0):+,.0f} ns",
            )
        else:
            ledger.idle(name, "this cell mode has no such pages")
            ledger.idle(f"NAND_4KB_READ_LATENCY_{level}", "this cell mode has no such pages")
    for name, key in (("NAND_PROG_LATENCY", "device.program_ns"), ("NAND_ERASE_LATENCY", "device.erase_ns")):
        time = round(values.of(name))
        if time:
            ledger.mapped(name, {key: time}, "ns in both")
        else:
            ledger.approximated(name, {key: 1}, "0 ns there; at least 1 ns here")
    bandwidth = values.of("NAND_CHANNEL_BANDWIDTH", 1)
    ledger.approximated(
        "NAND_CHANNEL_BANDWIDTH",
        {"device.transfer_ps_per_byte": round(1e12 / (bandwidth * 2**20))},
        f"10^12 / ({bandwidth:g} x 2^20) ps a byte. There LUNs share the bandwidth by credits of 4 us; here one transfer follows the other",
    )
    extra = values.of("FW_CH_XFER_LATENCY", 0, 0)
    if extra:
        ledger.left_out("FW_CH_XFER_LATENCY", "a time for each 4 KiB on the channel")
    ledger.idle("FW_CH_XFER_LATENCY", "0: off")
    ledger.left_out("MAX_CH_XFER_SIZE", "a transfer is not divided here, so that it does not overlap with the link")
    ledger.idle("WRITE_UNIT_SIZE", "the least write there")


def _host(ledger: Ledger, values: _Values) -> None:
    link = values.of("PCIE_BANDWIDTH", 1)
    rate = round(link * 2**20 / 1e6)
    ledger.approximated(
        "PCIE_BANDWIDTH",
        {"host.link_bytes_per_us": rate},
        f"{link:g} x 2^20 bytes/s; reads and writes share it there, and have it each here",
    )
    read, large = values.whole("FW_4KB_READ_LATENCY"), values.whole("FW_READ_LATENCY")
    settings: Mapping[str, Any] = {"host.command_ns": read, "host.cores": 1024}
    ledger.approximated(
        "FW_4KB_READ_LATENCY",
        settings,
        "a delay of each command, reads and writes; 1,024 cores, so that commands do not wait for each other",
    )
    if large != read:
        ledger.approximated("FW_READ_LATENCY", {}, f"reads above 4 KiB take {read - large:+,} ns here, the time of FW_4KB_READ_LATENCY")
    ledger.mapped("FW_READ_LATENCY", {}, "as FW_4KB_READ_LATENCY")
    name = "GLOBAL_WB_SIZE" if ledger.get("GLOBAL_WB_SIZE") else "WRITE_BUFFER_SIZE"
    if name == "GLOBAL_WB_SIZE":
        ledger.idle("WRITE_BUFFER_SIZE", "GLOBAL_WB_SIZE gives the size")
    size, early = values.whole(name, 0, 0), bool(values.of("WRITE_EARLY_COMPLETION", 0, 1))
    first, each = values.whole("FW_WBUF_LATENCY0", 0, 0), values.whole("FW_WBUF_LATENCY1", 0, 0)
    access = max(0, first + each - read)
    if size and early:
        ledger.mapped(name, {"buffer.bytes": size, "buffer.access_ns": access, "buffer.drain": "full"}, "bytes")
        ledger.mapped("WRITE_EARLY_COMPLETION", {}, "a write completes when it is in the buffer")
        how = f"{first:,} + {each:,} ns for 4 KiB there, host.command_ns + buffer.access_ns = {read + access:,} ns here"
        ledger.approximated("FW_WBUF_LATENCY0", {}, how)
        ledger.approximated("FW_WBUF_LATENCY1", {}, how)
    else:
        how = "a write completes when it is in flash, and no buffer is built"
        ledger.approximated(name, {"buffer.bytes": 0}, how)
        ledger.approximated("WRITE_EARLY_COMPLETION", {}, how)
        ledger.all_of(ledger.left_out, {"FW_WBUF_LATENCY0": how, "FW_WBUF_LATENCY1": how})


def _collection(ledger: Ledger) -> None:
    soft = {"gc.soft": 3, "gc.victim": "greedy"}
    ledger.without_key(
        soft, "conv_ftl.c: GC with at most 2 free lines, the line with the fewest valid pages; here below 3 free blocks of a die"
    )
    how = (
        "operations of a LUN are served as they come, and a collection is queued as a whole: the host waits "
        "until it ends. A line is a block of every LUN there; here each die collects by itself"
    )
    ledger.without_key({"gc.scope": "die", "gc.priority": "gc", "scheduler.order": "fcfs"}, how)
    ledger.without_key({"ftl.pool": "die", "ftl.frontier": "separate"}, "one open line for the host and one for GC")
