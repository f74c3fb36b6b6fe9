"""MQSim's workload.xml as workload presets, one for each scenario.

Sources: CMU-SAFARI/MQSim, `IO_Flow_Parameter_Set.cpp`, `Host_System.cpp`, `IO_Flow_Synthetic.cpp`, `IO_Flow_Trace_Based.cpp`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from ssdlab.asking.importing.ledger import Imported, Ledger, Preset
from ssdlab.asking.importing.mqsim import Flows, entries_of
from ssdlab.asking.importing.presets import workload_preset
from ssdlab.asking.importing.source import Entry, Source
from ssdlab.asking.importing.xml_file import Element, parse

__all__ = ["flows_of", "read_workloads"]

MODES = ("TURNED_OFF", "WRITE_CACHE", "READ_CACHE", "WRITE_READ_CACHE")
SYNTHETIC, TRACE = "IO_Flow_Parameter_Set_Synthetic", "IO_Flow_Parameter_Set_Trace_Based"
MODE = "Device_Level_Data_Caching_Mode"
SIZE = "Average_Request_Size"
MOST_FLOWS = 64
MOST_SIZES = 400
"""Maximum number of request sizes in a table."""
PARTS = {
    "Channel_IDs": "device.channels",
    "Chip_IDs": "device.chips_per_channel",
    "Die_IDs": "device.dies_per_chip",
    "Plane_IDs": "device.planes_per_die",
}
IDLE = {"Seed": "numbers are drawn by another generator; --seed sets the seed here", "Type": "the element says it"}


def flows_of(sources: Iterable[Source]) -> Flows:
    """What the flows of workload.xml files mean for a device."""
    scenarios = [scenario for source in sources for scenario in _scenarios(parse(source))]
    flows = [flow for scenario in scenarios for flow in scenario.children if flow.children]
    keys = [(child.name, child.text.strip()) for flow in flows for child in flow.children]
    modes = tuple(text.upper() for name, text in keys if name == MODE and text.upper() in MODES)
    sizes = [int(text) for name, text in keys if name == SIZE and text.isdecimal() and int(text)]
    most = max((sum(bool(flow.children) for flow in scenario.children) for scenario in scenarios), default=1)
    return Flows(modes, most, max(sizes, default=None))


def read_workloads(source: Source, sizes: Mapping[str, int]) -> Imported:
    """Reads a workload.xml. `sizes`: the configuration of the device that is imported with it; empty if it is not known."""
    scenarios = _scenarios(parse(source))
    if not scenarios:
        raise source.refuse(0, "no <IO_Scenario> with a flow: expected MQSim's workload.xml")
    rows, fixed, presets, problems = [], [], list[Preset](), []
    for number, scenario in enumerate(scenarios, 1):
        label = f"-{number}" if len(scenarios) > 1 else ""
        ledgers, settings, comments = _scenario(source, scenario, f"scenario {number}, " if label else "", sizes)
        preset, problem = workload_preset(label, settings, comments)
        presets.append(preset)
        problems += [f"scenario {number}: {problem}"] if problem else []
        rows += [row for ledger in ledgers for row in ledger.rows()]
        fixed += [row for ledger in ledgers for row in ledger.fixed]
    return Imported(source.name, "MQSim, workload.xml", tuple(presets), tuple(rows), tuple(fixed), "; ".join(problems))


def _scenarios(root: Element) -> list[Element]:
    """The scenarios with a flow; a file may have flows without one around them."""
    found = [element for element in root.children if element.name == "IO_Scenario" and element.children]
    return found or ([root] if any(child.children for child in root.children) else [])


def _scenario(
    source: Source, scenario: Element, place: str, sizes: Mapping[str, int]
) -> tuple[list[Ledger], dict[str, Any], dict[str, str]]:
    flows = [element for element in scenario.children if element.children]
    if len(flows) > MOST_FLOWS:
        raise source.refuse(scenario.line, f"{len(flows):,} flows in a scenario: expected at most {MOST_FLOWS}")
    ledgers = []
    for number, flow in enumerate(flows, 1):
        section = f"{place}flow {number}"
        ledger = Ledger(source, [entry._replace(section=section) for entry in entries_of(source, flow)])
        _flow(ledger, flow, _priorities(flows), sizes)
        if len(flows) > 1:
            part = {"workload.name": f"flow-{number}", "workload.part": [(number - 1) / len(flows), number / len(flows)]}
            ledger.without_key(part, f"{section}: each flow has an equal part of the addresses")
        ledgers.append(ledger)
    settings, comments = dict(ledgers[0].settings), dict(ledgers[0].comments)
    if len(ledgers) > 1:
        further = [{key.removeprefix("workload."): value for key, value in ledger.settings.items()} for ledger in ledgers[1:]]
        settings["workload.flows"] = further
        comments["workload.flows"] = "the further flows; the table of the import has a row for each of their keys"
    return ledgers, settings, comments


def _priorities(flows: list[Element]) -> int:
    return len({child.text for flow in flows for child in flow.children if child.name == "Priority_Class"})


def _flow(ledger: Ledger, flow: Element, priorities: int, sizes: Mapping[str, int]) -> None:
    ledger.all_of(ledger.idle, IDLE)
    for name, key in PARTS.items():
        _partition(ledger, name, sizes.get(key))
    if priorities > 1:
        ledger.left_out("Priority_Class", "flows have no priorities inside the drive; host.arbitration = wrr weights the queues of flows")
    else:
        ledger.idle("Priority_Class", "all flows have the same")
    if (mode := ledger.get(MODE)) is not None:
        if mode.value.strip().upper() not in MODES:
            raise mode.wrong(f"one of {', '.join(MODES)}")
        ledger.mapped(MODE, {}, "decides about the cache of the device, if it is imported together with this file")
    if (filled := ledger.get("Initial_Occupancy_Percentage")) is not None:
        how = (
            "the device preset says how the drive is prepared (ftl.precondition); a part of the addresses is "
            "filled by ftl.precondition.prefill"
        )
        ledger.left_out(filled.name, how)
    if flow.name == TRACE:
        _trace(ledger)
    else:
        _generated(ledger)


def _partition(ledger: Ledger, name: str, there: int | None) -> None:
    entry = ledger.get(name)
    if entry is None:
        return
    numbers = {word.strip() for word in entry.value.split(",")}
    is_first = numbers == {str(index) for index in range(len(numbers))}
    if is_first and there == len(numbers):
        ledger.mapped(name, {}, f"all {there}: no partition")
    elif is_first and there is None:
        ledger.approximated(
            name, {}, f"taken as all of the drive, which has {len(numbers)} then; import the device together with this file"
        )
    else:
        ledger.left_out(name, "flows cannot be bound to parts of the flash here; addresses are striped over all")


def _generated(ledger: Ledger) -> None:
    _sizes(ledger)
    _load(ledger)
    _addresses(ledger)
    if (entry := ledger.get("Read_Percentage")) is not None:
        ledger.mapped(entry.name, {"workload.read_share": entry.number(0, 100) / 100}, "percent / 100")
    if (entry := ledger.get("Working_Set_Percentage")) is not None:
        share = entry.number(0, 10**6)
        used = share if 1 <= share <= 100 else 100
        ledger.mapped(
            entry.name,
            {"workload.footprint": used / 100},
            "percent / 100, of the flow's part" + ("" if used == share else "; outside 1 to 100 it is 100 there"),
        )
    if (entry := ledger.get("Stop_Time")) is not None:
        ledger.left_out(entry.name, f"a preset has no length: {entry.number() / 1e9:g} s there; give --requests")
    if (entry := ledger.get("Total_Requests_To_Generate")) is not None:
        count = entry.whole()
        (ledger.left_out if count else ledger.idle)(
            entry.name, f"a preset has no length: give --requests {count}" if count else "Stop_Time ends the flow"
        )


def _sectors(entry: Entry | None) -> int:
    return 8 if entry is None else entry.whole(1, 2_097_152)


def _sizes(ledger: Ledger) -> None:
    mean, variance, kind = (ledger.get(name) for name in ("Average_Request_Size", "Variance_Request_Size", "Request_Size_Distribution"))
    sectors = _sectors(mean)
    deviation = 0 if variance is None else variance.whole(0, 10**9)
    is_normal = kind is not None and kind.value.strip().upper() == "NORMAL" and deviation > 0
    table = _normal(sectors, deviation) if is_normal else []
    if mean is not None:
        ledger.mapped(mean.name, {"workload.request_kb": sectors / 2}, "sectors of 512 bytes / 2 = KiB")
    if kind is not None and table:
        settings = {"workload.request_size": "table", "workload.size_table": table}
        ledger.mapped(kind.name, settings, "the same distribution as a table: a normal number of sectors, rounded up, at least 1")
    elif kind is not None and is_normal:
        ledger.approximated(kind.name, {"workload.request_size": "fixed"}, f"more than {MOST_SIZES} sizes: all have the mean")
    elif kind is not None:
        ledger.mapped(kind.name, {"workload.request_size": "fixed"})
    if variance is not None and is_normal:
        ledger.mapped(variance.name, {}, "used as the standard deviation there, in sectors, in spite of its name")
    elif variance is not None:
        ledger.idle(variance.name, "sizes are fixed")


def _normal(mean: int, deviation: int) -> list[list[float]]:
    """Sizes in KiB and their weights: a normal number of sectors, rounded up, at least 1. Empty if there are too many."""
    low, high = max(1, mean - 4 * deviation), mean + 4 * deviation
    if high - low > MOST_SIZES:
        return []

    def below(sectors: float) -> float:
        return (1 + math.erf((sectors - mean) / deviation / math.sqrt(2))) / 2

    edges = [0.0, *(below(sectors) for sectors in range(low, high)), 1.0]
    return [[sectors / 2, round(edges[at + 1] - edges[at], 9)] for at, sectors in enumerate(range(low, high + 1))]


def _load(ledger: Ledger) -> None:
    kind, depth = ledger.get("Synthetic_Generator_Type"), ledger.get("Average_No_of_Reqs_in_Queue")
    is_open = kind is not None and kind.value.strip().upper() in {"ARRIVAL_RATE", "BANDWIDTH"}
    if kind is not None:
        ledger.mapped(kind.name, {}, "open loop: arrivals by rate" if is_open else "closed loop: a number of requests outstanding")
    if depth is not None and is_open:
        ledger.idle(depth.name, "the load is given by arrivals")
    elif depth is not None:
        ledger.mapped(depth.name, {"workload.queue_depth": depth.whole(1, 65536)}, "requests outstanding at any time")
    for name in ("Bandwidth", "Intensity"):
        if (entry := ledger.get(name)) is None:
            continue
        if not is_open:
            ledger.idle(name, "the load is given by Average_No_of_Reqs_in_Queue")
            continue
        sectors = int(ledger.settings.get("workload.request_kb", 4) * 2)
        rate = entry.whole(1) // 512 // sectors
        if rate < 1:
            raise entry.wrong(f"at least {512 * sectors} bytes a second, one request")
        settings = {"workload.arrival": "exponential", "workload.interarrival_us": (10**9 // rate) / 1000}
        ledger.mapped(
            name, settings, f"{entry.value} bytes/s / 512 / {sectors} = {rate:,} requests/s, exponential gaps; rounded down as there"
        )


def _addresses(ledger: Ledger) -> None:
    kind, hot = ledger.get("Address_Distribution"), ledger.get("Percentage_of_Hot_Region")
    word = "UNIFORM_RANDOM" if kind is None else kind.value.strip().upper()
    share = 0.0 if hot is None else hot.number(0, 100) / 100
    if kind is not None and word == "STREAMING":
        ledger.mapped(
            kind.name,
            {"workload.sequential_share": 1.0},
            "each request begins where the last ended; the first at the start, there at random",
        )
    elif kind is not None and word in {"HOTCOLD_RANDOM", "RANDOM_HOTCOLD"}:
        settings = {"workload.address": "hot-cold", "workload.hot_share": share, "workload.hot_access": 1 - share}
        ledger.mapped(kind.name, settings, f"{100 - 100 * share:g} % of the requests go to the first {100 * share:g} % of the addresses")
    elif kind is not None and word in {"UNIFORM_RANDOM", "RANDOM_UNIFORM"}:
        ledger.mapped(kind.name, {"workload.address": "uniform"})
    elif kind is not None:
        ledger.left_out(kind.name, "expected STREAMING, HOTCOLD_RANDOM or UNIFORM_RANDOM; addresses are uniform")
    if hot is not None and word in {"HOTCOLD_RANDOM", "RANDOM_HOTCOLD"}:
        ledger.mapped(hot.name, {}, "see Address_Distribution")
    elif hot is not None:
        ledger.idle(hot.name, "addresses are not hot and cold")
    _alignment(ledger)


def _alignment(ledger: Ledger) -> None:
    aligned, unit = ledger.get("Generated_Aligned_Addresses"), ledger.get("Address_Alignment_Unit")
    is_aligned = aligned is not None and aligned.truth()
    if aligned is not None:
        ledger.mapped(
            aligned.name, {} if is_aligned else {"workload.align_kb": 0.5}, "see Address_Alignment_Unit" if is_aligned else "any sector"
        )
    else:
        ledger.without_key({"workload.align_kb": 0.5}, "requests begin at any sector of 512 bytes, and so in the middle of pages")
    if unit is not None and is_aligned:
        ledger.mapped(unit.name, {"workload.align_kb": unit.whole(1, 2_097_152) / 2}, "sectors / 2 = KiB")
    elif unit is not None:
        ledger.idle(unit.name, "addresses are not aligned")


def _trace(ledger: Ledger) -> None:
    if (entry := ledger.get("File_Path")) is not None:
        path = entry.value.replace("\\", "/")
        ledger.mapped(entry.name, {"workload.trace": path, "workload.format": "mqsim"}, "relative to the folder where the run begins")
    ledger.without_key({"workload.range": "wrap"}, "addresses beyond the flow's range wrap around")
    if (entry := ledger.get("Relay_Count")) is not None:
        ledger.mapped(entry.name, {"workload.repeat": entry.whole(1, 10**9)}, "times the trace is replayed")
    if (entry := ledger.get("Percentage_To_Be_Executed")) is not None:
        if (share := entry.number(0, 100)) == 100:
            ledger.mapped(entry.name, {}, "the whole trace")
        else:
            ledger.left_out(entry.name, f"a preset has no length: give {share:g} % of the trace's requests as --requests")
    if (entry := ledger.get("Time_Unit")) is not None:
        units: dict[str, dict[str, Any]] = {
            "NANOSECOND": {"workload.time_unit": "ns"},
            "MICROSECOND": {"workload.time_unit": "us"},
            "PICOSECOND": {"workload.time_unit": "ns", "workload.time_scale": 1000.0},
        }
        how = "1,000 ps are read as 1,000 ns, and divided by 1,000" if entry.value.strip().upper() == "PICOSECOND" else ""
        ledger.mapped(entry.name, entry.choice(units), how)
