"""MQSim's ssdconfig.xml as a device and a scheme.

Sources: CMU-SAFARI/MQSim, `Device_Parameter_Set.cpp`, `SSD_Device.cpp`, `ONFI_Channel_NVDDR2.cpp`, `Flash_Chip.h`,
`GC_and_WL_Unit_Base.cpp`, `GC_and_WL_Unit_Page_Level.cpp`, `Address_Mapping_Unit_Page_Level.cpp`, `Data_Cache_Manager_Flash_Advanced.cpp`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ssdlab.asking.importing.ledger import Imported, Ledger
from ssdlab.asking.importing.presets import drive_presets
from ssdlab.asking.importing.source import Entry, Source
from ssdlab.asking.importing.xml_file import Element, parse

__all__ = ["Flows", "entries_of", "read_device"]

COMMAND_NS, SETUP_NS, READY_NS = 290, 30, 20
"""ReadCommandTime[1], ReadDataOutSetupTime and the ready/busy delay of a read, by the constructors' defaults."""
PATTERNS = {"SLC": ("LSB",), "MLC": ("LSB", "MSB"), "TLC": ("MSB", "MSB", "LSB", "LSB", "CSB", "CSB")}
"""Page types by page number. TLC: ((page - 8) >> 1) % 3 from page 8 on; the first eight pages differ."""
VICTIMS = {"GREEDY": "greedy", "RGA": "d-choices", "RANDOM": "random", "RANDOM_P": "random", "RANDOM_PP": "random", "FIFO": "fifo"}
SOFT = 0.05
"""MQSim's default of `GC_Exec_Threshold`."""
LEAST_FREE = 10
"""`max_ongoing_gc_reqs_per_plane`: the least threshold of GC, and writes to a plane with fewer free blocks wait."""
REQUIRED = ("Overprovisioning_Ratio", "Channel_Transfer_Rate", "Page_Read_Latency_LSB", "Page_Program_Latency_LSB")
SUSPENSION = {"NONE": (), "PROGRAM": ("program",), "ERASE": ("erase",), "PROGRAM_ERASE": ("program", "erase")}
NO_WEAR = "other rules level wear here: wear.leveling moves cold data, gc.victim = wear-aware collects blocks of few erases"
IDLE = {
    "Seed": "numbers are drawn by another generator; --seed sets the seed here",
    "Enable_ResponseTime_Logging": "a log; ssdlab run --series has response times over time",
    "ResponseTime_Logging_Period_Length": "the period of that log",
    "Page_Metadat_Capacity": "MQSim transfers the sectors of a request alone, not the metadata",
    "Memory_Type": "flash is the only type",
}
LEFT_OUT = {
    "Dynamic_Wearleveling_Enabled": f"the free block with the fewest erases is taken there, the oldest here; {NO_WEAR}",
    "Static_Wearleveling_Enabled": NO_WEAR,
    "Static_Wearleveling_Threshold": NO_WEAR,
    "Block_PE_Cycles_Limit": "erases until a block is worn out: set wear.endurance for blocks that fail",
    "Preferred_suspend_erase_time_for_write": "only reads suspend operations here",
}


def entries_of(source: Source, element: Element, section: str = "") -> Iterator[Entry]:
    """The keys in an element and below it; elements with children are sections."""
    for child in element.children:
        if child.children:
            yield from entries_of(source, child, child.name)
        else:
            yield Entry(source, child.line, section, child.name, child.text)


class Flows(NamedTuple):
    """What the flows that are imported with a device mean for it."""

    modes: tuple[str, ...]
    """Their caching modes, in the order of the file."""
    most: int
    """The most flows of a scenario."""
    sectors: int | None
    """The largest mean size of a request; `None`: it is not known."""


def read_device(source: Source, flows: Flows) -> Imported:
    """Reads an ssdconfig.xml. `flows`: those that are imported with it."""
    ledger = Ledger(source, list(entries_of(source, parse(source), "Execution_Parameter_Set")))
    ledger.require(REQUIRED)
    ledger.all_of(ledger.idle, IDLE)
    ledger.all_of(ledger.left_out, LEFT_OUT)
    _geometry(ledger)
    _times(ledger)
    _channel(ledger)
    _host(ledger)
    _cache(ledger, flows)
    _mapping(ledger, flows)
    _collection(ledger)
    _suspension(ledger)
    presets, problem = drive_presets(ledger)
    return ledger.imported("MQSim, ssdconfig.xml", presets, problem)


def _geometry(ledger: Ledger) -> None:
    for name, key, default in (
        ("Flash_Channel_Count", "device.channels", 8),
        ("Chip_No_Per_Channel", "device.chips_per_channel", 4),
        ("Die_No_Per_Chip", "device.dies_per_chip", 2),
        ("Plane_No_Per_Die", "device.planes_per_die", 2),
        ("Block_No_Per_Plane", "device.blocks_per_plane", 2048),
        ("Page_No_Per_Block", "device.pages_per_block", 256),
        ("Page_Capacity", "device.page_bytes", 8192),
    ):
        ledger.whole(name, key, default=default)
    ledger.without_key({"device.die_interleave": False}, "MQSim begins an operation on a chip only when the whole chip is idle")
    if int(ledger.settings["device.planes_per_die"]) > 1:
        aligned = {"device.multiplane": True, "device.multiplane_aligned": True, "device.multiplane_aligned_reads": True}
        ledger.without_key(aligned, "planes of a die work together if their pages have the same number in their blocks")
    ledger.without_key(
        {"ftl.pool": "plane", "ftl.frontier": "separate"}, "each plane has its own blocks, and one open block each for host and GC"
    )
    ledger.without_key({"ftl.partial_write": "rmw", "ftl.unmapped_read": "flash"}, "a read of a page without data reads flash there")
    if (entry := ledger.get("Overprovisioning_Ratio")) is not None:
        ledger.mapped(entry.name, {"device.overprovisioning": entry.number(0, 0.99)}, "(physical - exported) / physical in both")
    if (entry := ledger.get("Enabled_Preconditioning")) is None:
        ledger.without_key({"ftl.precondition.kind": "soft"}, "Enabled_Preconditioning is not given: the default there is true")
    elif entry.value.strip().lower() == "false":
        ledger.mapped(entry.name, {"ftl.precondition.kind": "none"})
    else:
        ledger.approximated(
            entry.name,
            {"ftl.precondition.kind": "soft"},
            "there a state by a model of the workload; here the drive is filled, and overwritten until GC is about to begin",
        )


def _times(ledger: Ledger) -> None:
    technology = ledger.get("Flash_Technology")
    name = "MLC" if technology is None else technology.value.strip().upper()
    if technology is not None and name in PATTERNS:
        ledger.mapped(technology.name, {}, f"page types by page number: {', '.join(PATTERNS[name])}")
    elif technology is not None:
        ledger.left_out(technology.name, "SLC, MLC and TLC are MQSim's; the times of MLC pages are taken")
        name = "MLC"
    for kind, key, extra in (("Read", "device.read_ns", READY_NS), ("Program", "device.program_ns", 0)):
        _page_times(ledger, kind, key, extra, PATTERNS[name], is_tlc=name == "TLC")
    ledger.whole("Block_Erase_Latency", "device.erase_ns", default=3_800_000)


def _page_times(ledger: Ledger, kind: str, key: str, extra: int, pattern: Sequence[str], *, is_tlc: bool) -> None:
    found = {level: ledger.get(f"Page_{kind}_Latency_{level}") for level in ("LSB", "CSB", "MSB")}
    times = {level: entry.whole(1, 10**12) + extra for level, entry in found.items() if entry is not None}
    added = f"; {extra} ns more, the ready/busy delay there" if extra else ""
    ledger.require(f"Page_{kind}_Latency_{level}" for level in sorted(set(pattern)))
    used = [times[level] for level in pattern]
    is_same = len(set(used)) == 1
    settings = {key: used[0]} if is_same else {f"{key}_by_page": used}
    for level, entry in found.items():
        if entry is None:
            continue
        if level not in pattern:
            ledger.idle(entry.name, "this technology has no such pages")
        elif is_tlc and not is_same:
            ledger.approximated(entry.name, settings, f"the first eight pages of a block are LSB and CSB pages there{added}")
        else:
            ledger.mapped(entry.name, settings, f"ns in both{added}")


def _channel(ledger: Ledger) -> None:
    width = ledger.get("Flash_Channel_Width")
    rate = ledger.get("Channel_Transfer_Rate")
    width_bytes = 1 if width is None else width.whole(1, 64)
    if rate is not None:
        mt_s = rate.number(1e-3, 1e6)
        exact, used = 1e6 / mt_s / width_bytes, math.floor(1000 / mt_s) * 1000 / width_bytes
        if used:
            how = (
                f"2 x floor(1000 / {rate.value}) ns for two transfers of {width_bytes} bytes, as MQSim rounds "
                f"({exact:,.0f} ps without rounding)"
            )
            ledger.mapped(rate.name, {"device.transfer_ps_per_byte": round(used)}, how)
        else:
            how = f"1,000,000 / {rate.value} ps. MQSim rounds times above 1000 MT/s down to 0: a transfer takes no time there"
            ledger.approximated(rate.name, {"device.transfer_ps_per_byte": round(exact)}, how)
    if width is not None:
        ledger.mapped(width.name, {}, "bytes of a transfer: a factor of device.transfer_ps_per_byte")
    if (entry := ledger.get("Flash_Comm_Protocol")) is not None:
        commands = {"device.read_command_ns": COMMAND_NS, "device.command_ns": SETUP_NS}
        ledger.approximated(
            entry.name, commands, "commands of reads as there; of programs 30 ns for 361 there, of erases none for 220 there"
        )
    ledger.without_key(
        {"device.spare_bytes": 0, "device.partial_reads": True},
        "metadata are not transferred. Reads transfer the sectors of a request in both, in sixteenths of a page here; programs a page here",
    )


def _host(ledger: Ledger) -> None:
    bandwidth, lanes = ledger.get("PCIe_Lane_Bandwidth"), ledger.get("PCIe_Lane_Count")
    if bandwidth is not None:
        count = 4 if lanes is None else lanes.whole(1, 1024)
        rate = round(bandwidth.number(1e-6, 1e5) * count * 1000)
        how = f"{bandwidth.value} GB/s x {count} lanes = {rate:,} bytes in a us; the headers of packets are left out"
        ledger.approximated(bandwidth.name, {"host.link_bytes_per_us": rate}, how)
    if lanes is not None:
        ledger.mapped(lanes.name, {}, "a factor of host.link_bytes_per_us")
    interface = ledger.get("HostInterface_Type")
    is_sata = interface is not None and interface.value.strip().upper() == "SATA"
    if interface is not None and is_sata:
        ledger.left_out(interface.name, "the SATA link and its processing delay are not simulated; commands are limited by host.slots")
    elif interface is not None:
        ledger.mapped(interface.name, {"host.queues": 8}, "a queue for each flow, of which MQSim has at most 8")
    ledger.all_of(ledger.left_out if is_sata else ledger.idle, {"SATA_Processing_Delay": "a delay of the SATA interface alone"})
    if (depth := ledger.get("IO_Queue_Depth")) is not None:
        if is_sata:
            ledger.mapped(depth.name, {"host.slots": depth.whole(1, 1_000_000)}, "places of the command queue")
        else:
            ledger.idle(depth.name, "a request waits in the host when the queue is full, which is the same wait here")
    if (fetch := ledger.get("Queue_Fetch_Size")) is not None:
        how = "requests of a queue inside the drive at a time"
        ledger.mapped(fetch.name, {"host.queue_depth": min(65535, fetch.whole(1, 10**9))}, how)


def _cache(ledger: Ledger, flows: Flows) -> None:
    modes = flows.modes
    mode = modes[0] if modes else "WRITE_CACHE"
    capacity = ledger.get("Data_Cache_Capacity")
    size = 0 if capacity is None else capacity.whole(0, 2**40)
    assumed = "" if modes else "; the mode is in the workload, and WRITE_CACHE is assumed: import both files together"
    several = f"; the flows have several modes, and that of the first ({mode}) is taken for all" if len(set(modes)) > 1 else ""
    access, opening = _access_ns(ledger)
    if capacity is not None and (mode == "TURNED_OFF" or not size):
        ledger.mapped(capacity.name, {"buffer.bytes": 0}, f"no cache: {mode}{several}")
    elif capacity is not None and mode == "WRITE_CACHE":
        room, how = _room(ledger, size, flows)
        settings: dict[str, Any] = {"buffer.bytes": room, "buffer.protected": True, "buffer.drain": "at-once"}
        rate = {"buffer.access_ns": opening, "buffer.bytes_per_us": max(1, round(4096 * 1000 / (access - opening)))}
        ledger.approximated(capacity.name, settings | rate, f"a write buffer that is emptied at once: {how}{assumed}{several}")
    elif capacity is not None:
        settings = {"cache.policy": "lru", "cache.bytes": size, "cache.reads": True, "cache.writes": mode == "WRITE_READ_CACHE"}
        ledger.approximated(capacity.name, {**settings, "cache.access_ns": access}, f"an LRU cache with write-back by need{several}")
    for name in DRAM:
        ledger.approximated(name, {}, f"part of the access time: {access:,} ns for 4 KiB; in a write buffer accesses follow each other")
    if (entry := ledger.get("Caching_Mechanism")) is not None:
        ledger.approximated(entry.name, {}, "both mechanisms become the write buffer or the LRU cache of Data_Cache_Capacity")
    _sharing(ledger, "Data_Cache_Sharing_Mode", "cache")


DRAM = (
    "Data_Cache_DRAM_Row_Size",
    "Data_Cache_DRAM_Data_Rate",
    "Data_Cache_DRAM_Data_Busrt_Size",
    "Data_Cache_DRAM_Data_Burst_Size",
    "Data_Cache_DRAM_tRCD",
    "Data_Cache_DRAM_tCL",
    "Data_Cache_DRAM_tRP",
)


def _room(ledger: Ledger, size: int, flows: Flows) -> tuple[int, str]:
    """Bytes of the write buffer, and how they are computed.

    Writes wait there while as much as a page of each plane is on its way to flash, whatever the capacity is. Here a page takes its place
    whole, also if a request fills a part of it.
    """
    sizes = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die")
    page = int(ledger.settings["device.page_bytes"])
    waiting = math.prod(int(ledger.settings[f"device.{name}"]) for name in sizes) * page
    parts = 1 if flows.sectors is None else max(1, page // 512 // flows.sectors)
    how = f"writes wait there while {waiting:,} bytes, a page of each plane, are on their way to flash"
    if parts > 1:
        how += f"; requests of {flows.sectors} sectors take a page each here: {parts} times as many bytes"
    return min(size, waiting * parts), how


def _access_ns(ledger: Ledger) -> tuple[int, int]:
    """Time to access 4 KiB, and of this the time that does not depend on the size.

    As `estimate_dram_access_time` has it: two bursts in the time of one transfer.
    """

    def of(name: str, default: int) -> int:
        entry = ledger.get(f"Data_Cache_DRAM_{name}")
        return default if entry is None else entry.whole(1, 10**9)

    burst, row = of("Data_Busrt_Size", of("Data_Burst_Size", 4)), of("Row_Size", 8192)
    opening, transfer = of("tRCD", 13) + of("tCL", 13), 1000 / of("Data_Rate", 800)
    if row >= 4096:
        time = opening + int(4096 // burst // 2 * transfer)
    else:
        rows = opening + (int(row // burst // 2 * transfer) + of("tRP", 13)) * (4096 // row // 2)
        time = rows + opening + int(4096 % row / (burst * transfer))
    return min(10**9, time), min(10**9 - 1, opening)


def _sharing(ledger: Ledger, name: str, what: str) -> None:
    entry = ledger.get(name)
    if entry is not None and entry.value.strip().upper() == "SHARED":
        ledger.mapped(name, {}, f"the flows share the {what}")
    elif entry is not None:
        ledger.left_out(name, f"the {what} is not divided between flows here")


def _mapping(ledger: Ledger, flows: Flows) -> None:
    if (entry := ledger.get("Address_Mapping")) is not None:
        if entry.value.strip().upper() == "PAGE_LEVEL":
            ledger.mapped(entry.name, {}, "the mapping unit is the page")
        else:
            ledger.left_out(entry.name, "hybrid mapping is not simulated; the presets map by page")
    ideal, capacity = ledger.get("Ideal_Mapping_Table"), ledger.get("CMT_Capacity")
    is_ideal = ideal is None or ideal.value.strip().lower() != "false"
    if ideal is not None:
        ledger.mapped(
            ideal.name, {"ftl.map_cache_bytes": 0} if is_ideal else {}, "the whole table is in memory" if is_ideal else "see CMT_Capacity"
        )
    if capacity is not None and is_ideal:
        ledger.idle(capacity.name, "the mapping is ideal")
    elif capacity is not None:
        sharing = ledger.get("CMT_Sharing_Mode")
        is_shared = sharing is None or sharing.value.strip().upper() == "SHARED"
        settings, how = _map_cache(ledger, capacity.whole(1, 2**40), flows.most if is_shared else 1)
        ledger.approximated(capacity.name, settings, how)
        ledger.without_key({"ftl.precondition.whole_table": True}, "the whole mapping table is in flash when a run begins")
    _sharing(ledger, "CMT_Sharing_Mode", "mapping cache")
    if (entry := ledger.get("Plane_Allocation_Scheme")) is None:
        ledger.without_key({"ftl.allocation": "CWDP"}, "Plane_Allocation_Scheme is not given: the default there is CWDP")
    else:
        order = entry.value.strip().upper()
        if sorted(order) == sorted("CWDP"):
            ledger.mapped(entry.name, {"ftl.allocation": order}, "the same letters and order")
        else:
            ledger.left_out(entry.name, "expected a permutation of C, W, D and P")


def _map_cache(ledger: Ledger, capacity: int, caches: int) -> tuple[dict[str, int | str], str]:
    sizes = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die", "blocks_per_plane", "pages_per_block")
    pages = math.prod(int(ledger.settings[f"device.{name}"]) for name in sizes)
    page = int(ledger.settings["device.page_bytes"])
    bits = math.log2(pages)
    there, in_flash = math.ceil((2 * bits + page / 512) / 8), math.ceil((bits + page / 512) / 8)
    entries = max(1, capacity // there)
    how = f"{entries:,} entries of {there} bytes there, of {in_flash} bytes in flash"
    if caches > 1:
        how += f"; each of {caches} flows has that many to itself, and here all share {caches} times as many"
    how += ". MQSim reads changed translation pages and never programs them"
    sizes_here = {"ftl.map_cache_bytes": caches * entries * in_flash, "ftl.map_entry_bytes": in_flash, "ftl.map_page_bytes": page}
    return {"ftl.map_cache_unit": "entry", **sizes_here}, how


def _collection(ledger: Ledger) -> None:
    blocks = int(ledger.settings["device.blocks_per_plane"])
    soft = None
    for name in ("GC_Exec_Threshold", "GC_Exect_Threshold"):
        if (entry := ledger.get(name)) is not None:
            soft, how = _threshold(entry.number(0, 1), blocks)
            ledger.mapped(name, {"gc.soft": soft}, f"{how}: GC below that in both")
    if soft is None:
        soft, how = _threshold(SOFT, blocks)
        ledger.without_key({"gc.soft": soft}, f"GC_Exec_Threshold is not given: the default there, {how}")
    _victim(ledger, blocks)
    if (entry := ledger.get("Use_Copyback_for_GC")) is not None:
        ledger.mapped(entry.name, {"device.copyback": entry.truth()})
    _priority(ledger, soft)
    if (entry := ledger.get("Transaction_Scheduling_Policy")) is None:
        ledger.without_key(
            {"scheduler.order": "fr-fcfs"}, "Transaction_Scheduling_Policy is not given: the default there serves reads first"
        )
    else:
        order = entry.value.strip().upper()
        if order == "OUT_OF_ORDER":
            ledger.mapped(entry.name, {"scheduler.order": "fr-fcfs"}, "reads first, then by age")
        elif order == "PRIORITY_OUT_OF_ORDER":
            ledger.approximated(
                entry.name, {"scheduler.order": "fr-fcfs"}, "reads first, then by age; the priorities of flows are left out"
            )
        else:
            ledger.left_out(entry.name, "not simulated; the scheme has fr-fcfs, MQSim's other policy")
            ledger.without_key({"scheduler.order": "fr-fcfs"}, "in place of the policy that is refused")
    moves = {"gc.scope": "none", "gc.moves_in_flight": int(ledger.settings["device.pages_per_block"])}
    ledger.without_key(
        moves,
        (
            "all pages of a victim are in flight at once, one by one with operations of the host; MQSim collects "
            "up to 10 blocks of a plane at once, ssdlab one"
        ),
    )


def _threshold(share: float, blocks: int) -> tuple[int, str]:
    """The free blocks of a plane below which GC begins, and how they are computed."""
    count = int(share * blocks)
    how = f"{share:g} x {blocks:,} = {count:,} blocks, rounded down"
    return max(LEAST_FREE, count), how if count >= LEAST_FREE else f"{how}, and raised to {LEAST_FREE} there"


def _victim(ledger: Ledger, blocks: int) -> None:
    choices = max(1, int(math.log2(blocks)))
    entry = ledger.get("GC_Block_Selection_Policy")
    if entry is None:
        how = f"the default there is RGA, the emptiest of floor(log2 {blocks:,}) = {choices} random blocks"
        ledger.without_key({"gc.victim": "d-choices", "gc.choices": choices}, f"GC_Block_Selection_Policy is not given: {how}")
        return
    policy = entry.choice({name: name for name in VICTIMS})
    settings: dict[str, str | int] = {"gc.victim": VICTIMS[policy]}
    if policy == "RGA":
        settings["gc.choices"] = choices
        ledger.mapped(entry.name, settings, f"floor(log2 {blocks:,}) = {choices} random blocks; the emptiest of them")
    elif policy in {"RANDOM", "RANDOM_PP"}:
        ledger.approximated(entry.name, settings, "a closed block with an invalid page; MQSim has other conditions")
    else:
        ledger.mapped(entry.name, settings)


def _priority(ledger: Ledger, soft: int) -> None:
    preemptible, hard = ledger.get("Preemptible_GC_Enabled"), ledger.get("GC_Hard_Threshold")
    is_on = preemptible is None or preemptible.truth()
    if preemptible is None:
        ledger.without_key(
            {"gc.priority": "host"},
            "Preemptible_GC_Enabled is not given: the default there is true; MQSim erases only when no read or write waits",
        )
    else:
        what = "the host goes first" if is_on else "operations of GC go first"
        ledger.approximated(
            preemptible.name, {"gc.priority": "host" if is_on else "gc"}, f"{what}; MQSim erases only when no read or write waits"
        )
    waiting = {"gc.hard": round(LEAST_FREE / soft, 6)}
    ledger.without_key(waiting, f"writes to a plane with fewer than {LEAST_FREE} free blocks wait there, whatever GC_Hard_Threshold is")
    if hard is not None and is_on:
        ledger.left_out(hard.name, "free blocks below which GC goes first there; gc.priority does not change with free blocks here")
    elif hard is not None:
        ledger.idle(hard.name, "GC is not preemptible, and always goes first")


def _suspension(ledger: Ledger) -> None:
    support = ledger.get("CMD_Suspension_Support")
    kinds = () if support is None else support.choice(SUSPENSION)
    if support is not None:
        ledger.mapped(support.name, {"scheduler.suspend": list(kinds)}, "suspended when a read waits")
    times: list[int] = []
    for kind, names, limit in (
        ("program", ("Suspend_Program_Time", "Suspend_Write_Time"), "Preferred_suspend_write_time_for_read"),
        ("erase", ("Suspend_Erase_Time",), "Preferred_suspend_erase_time_for_read"),
    ):
        for name in names:
            if (entry := ledger.get(name)) is not None:
                _suspend_time(ledger, entry, limit, times if kind in kinds else None)
        if kind not in kinds and ledger.get(limit) is not None:
            ledger.idle(limit, f"a {kind} cannot be suspended")


def _suspend_time(ledger: Ledger, entry: Entry, limit: str, times: list[int] | None) -> None:
    if times is None:
        ledger.idle(entry.name, "CMD_Suspension_Support leaves it out")
        return
    time = entry.whole(0, 10**9)
    times.append(time)
    if len(set(times)) > 1:
        ledger.approximated(entry.name, {"device.suspend_ns": max(times)}, "one time for programs and erases here: the longer one")
    else:
        ledger.mapped(entry.name, {"device.suspend_ns": time})
    if (preferred := ledger.get(limit)) is not None:
        how = "an operation that ends sooner than that is not suspended"
        if preferred.whole(0, 10**12) == time:
            ledger.mapped(limit, {}, f"{how}: device.suspend_ns is that limit, too")
        else:
            ledger.approximated(limit, {}, f"{how}; the limit here is device.suspend_ns, {max(times):,} ns")
