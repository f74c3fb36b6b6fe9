"""SimpleSSD's drive (sample.cfg of 2.0, the XML of 2.1, ssd.cfg of 1.x) as a device and a scheme.

Sources: SimpleSSD/SimpleSSD, `config/sample.cfg`, `config/sample.xml` with their comments, `pal/`, `ftl/page_mapping.cc`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ssdlab.asking.importing.ini_file import entries_of, entries_of_xml
from ssdlab.asking.importing.ledger import Fate, Imported, Ledger
from ssdlab.asking.importing.presets import drive_presets
from ssdlab.asking.importing.source import Entry, Source

__all__ = ["read_drive", "read_old_drive", "read_xml_drive"]

LEVELS = {0: ("LSB",), 1: ("LSB", "MSB"), 2: ("LSB", "CSB", "MSB")}
"""Page types by `NANDType`."""
VICTIMS = {"0": "greedy", "1": "cost-benefit", "2": "random", "3": "d-choices"}
VICTIMS_2_1 = {"0": "greedy", "1": "random", "2": "cost-benefit", "3": "d-choices"}
LANE_MB_S = {0: 250.0, 1: 500.0, 2: 984.6}
"""MB/s of a PCIe lane by generation 1.x, 2.x, 3.x, after line coding."""
NAMES_2_1 = {
    ("fil", "Channel"): ("pal", "Channel"),
    ("fil", "Way"): ("pal", "Package"),
    **{
        ("fil.nand", name): ("pal", name)
        for name in ("Die", "Plane", "Block", "Page", "PageSize", "SpareSize", "DMASpeed", "NANDType", "PageAllocation")
    },
    ("fil.nand", "DataWidth"): ("pal", "DMAWidth"),
    ("fil.nand.timing", "tBERS"): ("pal", "Erase"),
    ("ftl", "MappingMode"): ("ftl", "MappingMode"),
    ("ftl.gc", "VictimSelectionPolicy"): ("ftl", "EvictPolicy"),
    ("ftl.gc", "DChoiceParam"): ("ftl", "DChoiceParam"),
    ("ftl.gc", "GCThreshold"): ("ftl", "GCThreshold"),
    ("ftl.common", "OverProvisioningRatio"): ("ftl", "OverProvisioningRatio"),
    ("ftl.common", "SuperpageAllocation"): ("pal", "SuperblockSize"),
    ("ftl.common.warmup", "FillRatio"): ("ftl", "FillRatio"),
    ("ftl.common.warmup", "InvalidFillRatio"): ("ftl", "InvalidPageRatio"),
    ("ftl.common.warmup", "FillingMode"): ("ftl", "FillingMode"),
    ("icl", "CacheSize"): ("icl", "CacheSize"),
    ("icl.eviction", "EvictPolicy"): ("icl", "EvictPolicy"),
    ("hil.interface.pcie", "Generation"): ("nvme", "PCIEGeneration"),
    ("hil.interface.pcie", "Lane"): ("nvme", "PCIELane"),
}
"""Keys of 2.1 that mean the same as keys of 2.0."""
FORM = "SimpleSSD"
OTHERS = {
    "cpu": "the time of firmware on its cores is counted by instructions there; host.command_ns is a time for each command",
    "dram": "the time of the memory is one value here, cache.access_ns",
    "ufs": "of UFS; the drive is imported with the link of NVMe",
    "sata": "of SATA; the drive is imported with the link of NVMe",
    "memory": "the time of the memory is one value here, cache.access_ns",
}


def read_drive(source: Source) -> Imported:
    """Reads a sample.cfg of SimpleSSD 2.0."""
    return _drive(Ledger(source, list(entries_of(source))), f"{FORM} 2.0, .cfg", VICTIMS)


def read_xml_drive(source: Source) -> Imported:
    """Reads a configuration of SimpleSSD 2.1."""
    entries = [_renamed(entry) for entry in entries_of_xml(source)]
    ledger = Ledger(source, [entry._replace(section=entry.section or "simplessd") for entry in entries])
    mode = ledger.get("CacheMode")
    ledger.approximated("CacheMode", {}, "0: no cache; others become the cache of CacheSize")
    has_cache = mode is not None and mode.value.strip() != "0"
    return _drive(ledger, f"{FORM} 2.1, .xml", VICTIMS_2_1, has_cache=has_cache)


def read_old_drive(source: Source) -> Imported:
    """Reads an ssd.cfg of SimpleSSD 1.x, which lacks the times of its flash: there are no presets."""
    ledger = Ledger(source, list(entries_of(source)))
    problem = "the times of the flash are not in the file: SimpleSSD 1.x has them in its source, by NANDType"
    for section in {entry.section for entry in ledger.entries}:
        ledger.rest_of(section, Fate.left_out, problem)
    return ledger.imported(f"{FORM} 1.x, ssd.cfg", (), problem)


def _renamed(entry: Entry) -> Entry:
    level = {"[0]": "LSB", "[1]": "MSB", "[2]": "CSB"}.get(entry.name[-3:])
    if entry.section == "fil.nand.timing" and level and entry.name[:-3] in {"tR", "tPROG"}:
        return entry._replace(section="pal", name=f"{level}{'Read' if entry.name.startswith('tR') else 'Write'}")
    section, name = NAMES_2_1.get((entry.section, entry.name), (entry.section, entry.name))
    return entry._replace(section=section, name=name)


def _drive(ledger: Ledger, form: str, victims: dict[str, str], *, has_cache: bool | None = None) -> Imported:
    ledger.require(("DMASpeed",), "pal")
    ledger.require(("OverProvisioningRatio", "GCThreshold"), "ftl")
    _geometry(ledger)
    _times(ledger)
    _mapping(ledger)
    _collection(ledger, victims)
    _cache(ledger, has_cache)
    _host(ledger)
    for entry in ledger.entries:
        for section, note in OTHERS.items():
            if entry.section.split(".")[0] == section:
                ledger.rest_of(entry.section, Fate.left_out, note)
        if entry.section.split(".")[0] in {"hil", "fil", "icl", "sim"}:
            ledger.rest_of(entry.section, Fate.left_out, "a mechanism, a cost or a current that is not simulated here")
    presets, problem = drive_presets(ledger)
    return ledger.imported(form, presets, problem)


def _amount(ledger: Ledger, name: str, key: str, default: int | None = None) -> int:
    entry = ledger.get(name, "pal")
    if entry is None and default is None:
        raise ledger.source.refuse(0, f"{name} is not given: expected it in the section of the flash")
    value = default if entry is None else entry.amount()
    ledger.mapped(name, {key: value}, section="pal")
    return int(value or 0)


def _geometry(ledger: Ledger) -> None:
    for name, key in (
        ("Channel", "device.channels"),
        ("Package", "device.chips_per_channel"),
        ("Die", "device.dies_per_chip"),
        ("Plane", "device.planes_per_die"),
        ("Block", "device.blocks_per_plane"),
        ("Page", "device.pages_per_block"),
        ("PageSize", "device.page_bytes"),
    ):
        _amount(ledger, name, key)
    if ledger.get("SpareSize", "pal") is not None:
        _amount(ledger, "SpareSize", "device.spare_bytes")
    if (entry := ledger.get("EnableMultiPlaneOperation", "pal")) is not None:
        is_on = entry.truth()
        settings = {"device.multiplane": is_on, **({"device.multiplane_aligned_reads": True} if is_on else {})}
        ledger.approximated(entry.name, settings, "planes work together there on every operation, here if pages of the same number wait")
    if (entry := ledger.get("SuperblockSize", "pal")) is not None:
        if entry.value.strip():
            ledger.left_out(entry.name, "a superpage is written, mapped and collected as one there; here each page by itself")
        else:
            ledger.idle(entry.name, "empty: off")
    if (entry := ledger.get("PageAllocation", "pal")) is not None:
        order = entry.value.strip().upper()
        if sorted(order) != sorted("CWDP"):
            raise entry.wrong("a permutation of C, W, D and P")
        ledger.mapped(entry.name, {"ftl.allocation": order}, "the same letters and order: the first changes fastest")
    ledger.without_key({"ftl.pool": "plane", "ftl.frontier": "separate"}, "each plane has its own blocks")


def _times(ledger: Ledger) -> None:
    kind = ledger.get("NANDType", "pal")
    number = 1 if kind is None else kind.whole(0, 9)
    levels = LEVELS.get(number)
    if kind is not None and levels is None:
        raise kind.wrong("0 (SLC), 1 (MLC) or 2 (TLC)")
    levels = levels or LEVELS[1]
    ledger.mapped("NANDType", {}, f"page types by page number: {', '.join(levels)}", section="pal")
    for what, key in (("Read", "device.read_ns"), ("Write", "device.program_ns")):
        _page_times(ledger, what, key, levels)
    erase = ledger.get("Erase", "pal")
    if erase is None:
        raise ledger.source.refuse(0, "Erase (tBERS) is not given: expected the time of a block erase")
    ledger.mapped("Erase", {"device.erase_ns": max(1, round(erase.nanoseconds()))}, "ps / 1000 = ns", section="pal")
    speed, width = ledger.get("DMASpeed", "pal"), ledger.get("DMAWidth", "pal")
    bits = 8 if width is None else width.whole(1, 1024)
    if speed is not None:
        rate = speed.amount()
        mt_s = rate / 1e6 if rate >= 10**5 else rate  # 2.1 has transfers a second
        if rate < 1:
            raise speed.wrong("a rate above 0")
        ledger.mapped(
            speed.name, {"device.transfer_ps_per_byte": round(8e6 / (mt_s * bits))}, f"8,000,000 / ({mt_s:g} MT/s x {bits} bits) ps a byte"
        )
    ledger.mapped("DMAWidth", {}, "a factor of device.transfer_ps_per_byte", section="pal")


def _page_times(ledger: Ledger, what: str, key: str, levels: tuple[str, ...]) -> None:
    found = {level: ledger.get(f"{level}{what}", "pal") for level in ("LSB", "CSB", "MSB")}
    times = []
    for level in levels:
        entry = found[level]
        if entry is None or not entry.value.strip():
            raise ledger.source.refuse(
                0 if entry is None else entry.line, f"{level}{what} is not given: expected a time for each of {', '.join(levels)}"
            )
        times.append(max(1, round(entry.nanoseconds())))
    is_same = len(set(times)) == 1
    settings: dict[str, Any] = {key: times[0]} if is_same else {key: round(sum(times) / len(times)), f"{key}_by_page": times}
    how = "ps / 1000 = ns; the pages of a block take turns here, TLC there by a table" if len(levels) > 2 else "ps / 1000 = ns"
    enter: Callable[..., None] = ledger.approximated if len(levels) > 2 and not is_same else ledger.mapped
    for level, entry in found.items():
        if entry is not None and level in levels:
            enter(entry.name, settings, how, section="pal")
        elif entry is not None:
            ledger.idle(entry.name, "this type of flash has no such pages", section="pal")


def _mapping(ledger: Ledger) -> None:
    if (entry := ledger.get("MappingMode", "ftl")) is not None:
        if entry.value.strip() == "0":
            ledger.mapped(entry.name, {}, "the mapping unit is the page", section="ftl")
        else:
            ledger.left_out(entry.name, "only page mapping is simulated", section="ftl")
    if (entry := ledger.get("OverProvisioningRatio", "ftl")) is not None:
        ledger.mapped(
            entry.name, {"device.overprovisioning": entry.number(0, 0.99)}, "the host gets 1 - ratio of the flash in both", section="ftl"
        )
    ledger.left_out("EraseThreshold", "erases until a block is worn out: set wear.endurance for blocks that fail", section="ftl")
    for name in ("FillRatio", "Warmup"):
        if (entry := ledger.get(name, "ftl")) is not None:
            share = entry.number(0, 1)
            settings = {"ftl.precondition.kind": "fill" if share else "none"}
            enter = ledger.mapped if share in {0, 1} else ledger.approximated
            enter(
                name,
                settings,
                "the drive is filled whole" if share not in {0, 1} else f"{share:g} of the addresses are filled",
                section="ftl",
            )
    if (entry := ledger.get("InvalidPageRatio", "ftl")) is not None:
        if share := entry.number(0, 1):
            ledger.approximated(
                entry.name,
                {"ftl.precondition.kind": "soft"},
                f"{share:g} of the pages overwritten there; here until GC is about to begin",
                section="ftl",
            )
        else:
            ledger.idle(entry.name, "0: off", section="ftl")
    ledger.approximated("FillingMode", {}, "filled in order, and overwritten at random", section="ftl")
    ledger.left_out("EnableRandomIOTweak", "of superpages", section="ftl")
    ledger.left_out("Latency", "a time of the FTL for each request; host.command_ns is one", section="ftl")
    ledger.left_out("RequestQueue", "the queue of the FTL", section="ftl")


def _collection(ledger: Ledger, victims: dict[str, str]) -> None:
    blocks = int(ledger.settings["device.blocks_per_plane"])
    share = 0.05
    if (entry := ledger.get("GCThreshold", "ftl")) is not None:
        share = entry.number(1e-6, 0.999999)
        ledger.mapped(
            entry.name, {"gc.soft": share}, f"a share of free blocks: {max(1, round(share * blocks)):,} of {blocks:,}", section="ftl"
        )
    if (entry := ledger.get("EvictPolicy", "ftl")) is not None:
        if (victim := victims.get(entry.value.strip())) is None:
            raise entry.wrong(f"one of {', '.join(victims)}")
        ledger.mapped(entry.name, {"gc.victim": victim}, section="ftl")
        choices = ledger.get("DChoiceParam", "ftl")
        if choices is not None and victim == "d-choices":
            ledger.mapped(choices.name, {"gc.choices": choices.whole(1, 65536)}, "blocks drawn for each block to collect", section="ftl")
        elif choices is not None:
            ledger.idle(choices.name, "of the victim policy d-choices", section="ftl")
    mode = ledger.get("GCMode", "ftl")
    until = mode is not None and mode.value.strip() == "1"
    ledger.mapped("GCMode", {}, "collects until a threshold" if until else "collects a number of blocks", section="ftl")
    if (entry := ledger.get("GCReclaimBlocks", "ftl")) is not None:
        count = entry.whole(1, 10**6)
        if until:
            ledger.idle(entry.name, "GCMode = 1", section="ftl")
        else:
            ledger.mapped(
                entry.name, {"gc.until": count - 1}, "block by block: one, and then until T_soft + gc.until blocks are free", section="ftl"
            )
    if (entry := ledger.get("GCReclaimThreshold", "ftl")) is not None:
        if until:
            wanted = max(1, round((entry.number(0, 1) - share) * blocks))
            ledger.mapped(entry.name, {"gc.until": wanted}, f"({entry.value} - {share:g}) x {blocks:,} blocks above T_soft", section="ftl")
        else:
            ledger.idle(entry.name, "GCMode = 0", section="ftl")
    how = "a write that finds too few free blocks waits for the whole collection; other operations of a die are served as they come"
    ledger.without_key({"gc.scope": "die", "gc.priority": "gc", "scheduler.order": "fcfs"}, how)


def _cache(ledger: Ledger, has_cache: bool | None) -> None:
    read, write, size = (ledger.get(name, "icl") for name in ("EnableReadCache", "EnableWriteCache", "CacheSize"))
    reads = bool(has_cache) if read is None else read.truth()
    writes = bool(has_cache) if write is None else write.truth()
    is_on = (reads or writes) and size is not None
    if is_on and size is not None:
        settings = {"cache.policy": "lru", "cache.bytes": size.amount(), "cache.reads": reads, "cache.writes": writes}
        ledger.mapped(size.name, settings, "bytes", section="icl")
        ledger.mapped("EnableReadCache", {}, "cache.reads", section="icl")
        ledger.mapped("EnableWriteCache", {}, "cache.writes", section="icl")
        policy = ledger.get("EvictPolicy", "icl")
        is_lru = policy is not None and policy.value.strip() == ("2" if has_cache is None else "1")
        (ledger.mapped if is_lru else ledger.approximated)(
            "EvictPolicy", {}, "LRU" if is_lru else "LRU in place of another policy", section="icl"
        )
        ledger.approximated("CacheWaySize", {}, "fully associative here", section="icl")
    else:
        ledger.without_key({"cache.policy": "none"}, "no cache: it is off, or not in the file")
        ledger.rest_of("icl", Fate.idle, "the cache is off")
    ledger.rest_of(
        "icl",
        Fate.left_out,
        "reading ahead, evicting in groups and the time of the cache's table are not simulated; cache.access_ns is a time for each page",
    )


def _host(ledger: Ledger) -> None:
    generation, lanes = ledger.get("PCIEGeneration", "nvme"), ledger.get("PCIELane", "nvme")
    width, clock = ledger.get("AXIBusWidth", "nvme"), ledger.get("AXIClock", "nvme")
    if generation is not None and lanes is not None:
        number = generation.whole(0, 9) - (1 if ledger.get("AXIBusWidth", "nvme") is None else 0)
        if number not in LANE_MB_S:
            raise generation.wrong("a generation of PCI Express from 1.x to 3.x")
        rate = LANE_MB_S[number] * lanes.whole(1, 32)
        how = f"{LANE_MB_S[number]:g} MB/s x {lanes.value} lanes"
        if width is not None and clock is not None:
            bus = 4 * 2 ** width.whole(0, 5) * clock.amount() / 1e6
            how += f", and a bus of {bus:,.0f} MB/s inside: the smaller"
            rate = min(rate, bus)
            ledger.mapped("AXIBusWidth", {}, "see PCIEGeneration", section="nvme")
            ledger.mapped("AXIClock", {}, "see PCIEGeneration", section="nvme")
        ledger.approximated(
            generation.name, {"host.link_bytes_per_us": max(1, round(rate))}, f"{how}; headers of packets are left out", section="nvme"
        )
        ledger.mapped(lanes.name, {}, "a factor of host.link_bytes_per_us", section="nvme")
    idle = (
        "MaxIOCQueue",
        "MaxIOSQueue",
        "DefaultNamespace",
        "LBASize",
        "EnableDiskImage",
        "StrictSizeCheck",
        "DiskImageFile",
        "DiskImageFile1",
        "UseCopyOnWriteDisk",
    )
    ledger.all_of(ledger.idle, dict.fromkeys(idle, "sizes the controller, or keeps data; it takes no time of the flash"), section="nvme")
    ledger.rest_of(
        "nvme",
        Fate.left_out,
        "the controller's polling, its FIFO and the priorities of queues are not simulated; host.command_ns is a time for each command",
    )
