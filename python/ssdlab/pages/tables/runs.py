"""The tables of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from ssdlab.analysis.remarks import Shown, gc_ran, of_run, shown
from ssdlab.pages.tables.layout import new_table, titled
from ssdlab.pages.tables.numbers import duration, number, share, size, three, time_of
from ssdlab.pages.tables.streams import Stream, used_streams
from ssdlab.pages.tables.traces import reading_lines

__all__ = [
    "CLASSES",
    "RunData",
    "blocks_line",
    "headline",
    "remark_lines",
    "run_tables",
    "setup_lines",
    "speed_line",
    "timeline_line",
]

RunData = Mapping[str, Any]
"""The result of a run, of the drive or of the queueing model, as a mapping."""

CLASSES = {
    "all": "all",
    "read": "reads",
    "write": "writes",
    "seq_read": "sequential reads",
    "rand_read": "random reads",
    "flush": "flushes",
}

LATENCIES = {"mean": "mean", "p50": "p50", "p90": "p90", "p99": "p99", "p99_9": "p99.9", "max": "max"}


def headline(result: RunData) -> str:
    """A short summary of a result."""
    latency = result.get("latency_ns", {}).get("all")
    count = sum(result.get("requests", {}).values())
    times = f", mean {duration(latency['mean'])}, p99 {duration(latency['p99'])}" if latency else ""
    return f"{count:,} requests{times}, {gc_sentence(result)}"


def gc_sentence(result: RunData) -> str:
    """A sentence on whether GC ran, and on write amplification, which may exceed 1 without GC."""
    gc = result.get("gc", {})
    amplification = gc.get("write_amplification")
    under_way = "no GC job has ended" if gc_ran(result) else "garbage collection did not run"
    parts = [f"{gc['jobs']:,} GC jobs" if gc.get("jobs") else under_way]
    if amplification is not None:
        parts.append(f"write amplification {number(float(amplification))}")
    return ", ".join(parts)


def run_tables(result: RunData, title: str = "") -> list[RenderableType]:
    """The output of `ssdlab run`; `title`: device, scheme and workload in a line."""
    told = shown(of_run(result))
    return [
        *_header(result, title, told),
        latency_table(result, told),
        *_flows(result),
        *_breakdown(result),
        Text(f"Garbage collection{told.heading('gc')}: {_gc_details(result)}"),
        *_gc_scheduling(result),
        *_suspended(result),
        *_written(result, told.mark("gc.write_amplification")),
        *_slack(result),
        *_cache(result),
        *_buffer(result),
        *_energy(result),
        *_power_states(result),
        *_streams(result),
        *_mapping(result),
        *_ages(result),
        *_slc(result),
        *_lifetime(result, told),
        *_interface(result),
        *_log(result),
        *_array(result),
        *map(Text, setup_lines(result)),
        *timeline_line(result),
        *blocks_line(result),
        *remark_lines(told),
        Text(speed_line(result)),
        Text(f"Digest: {result.get('digest', '')[:16]}, seed {result.get('seed')}"),
    ]


def setup_lines(result: RunData) -> list[str]:
    """Lines on fitting the device, on the warm-up, and on how a trace was read."""
    return [*_fit_line(result), *capacity_line(result), *_warm_up_line(result), *reading_lines(result.get("workload"))]


def capacity_line(result: RunData) -> list[str]:
    """A line on the load as a share of what a drive sustains, if the run has one."""
    if "capacity" not in result:
        return []
    found = result["capacity"]
    of = f"{found['of']} sustains" if "of" in found else "the drive sustains"
    return [f"Load {found['load']:g} of what {of}: {capacity_of(result)} requests/s"]


def capacity_of(result: RunData) -> str:
    """The rate that a drive sustains, with its interval, requests/s; a dash for a run without a load by capacity."""
    found = result.get("capacity")
    return "-" if found is None else f"{found['iops']:,.0f} ({found['low_iops']:,.0f} to {found['high_iops']:,.0f})"


def remark_lines(told: Shown) -> list[RenderableType]:
    """A line for each remark, with its letter."""
    return [Text(line, style="yellow" if is_warning else "") for line, is_warning in told.lines()]


def timeline_line(result: RunData, whose: str = "") -> list[RenderableType]:
    """A line on the part of the run in its timeline, if there is one."""
    timeline = result.get("timeline")
    if not timeline:
        return []
    start, end, whole = (f"{ns / 1000:,.3f}" for ns in (timeline["from_ns"], timeline["to_ns"], result["simulated_ns"]))
    of = f"Timeline{whose}, {timeline['file']}:"
    if timeline["from_ns"] == result["simulated_ns"]:
        return [Text(f"{of} empty, the run ends at {whole} us, before the window begins")]
    shows = f"{of} {number(timeline['slices'])} slices, from {start} us to {end} us of {whole} us simulated"
    return [Text(f"{shows}; it ends there because it is full (--timeline-limit)" if timeline["full"] else shows)]


def blocks_line(result: RunData, whose: str = "") -> list[RenderableType]:
    """A line on the recorded states of blocks, if there are any."""
    blocks = result.get("blocks")
    if not blocks:
        return []
    every = f"{number(blocks['instants'])} instants, {blocks['interval_ns'] / 1000:,.3f} us apart"
    thinned = "; farther apart than the series, to limit the number of changes" if blocks["thinned"] else ""
    return [Text(f"States of blocks{whose}, {blocks['file']}: {every}{thinned}")]


def _fit_line(result: RunData) -> list[str]:
    fit = result.get("fit")
    if not fit:
        return []
    before, after, exported = (number(fit[key]) for key in ("blocks_per_plane_before", "blocks_per_plane", "exported_bytes"))
    spare = " -> ".join(dict.fromkeys(share(fit[f"overprovisioning{when}"]) for when in ("_before", "")))
    return [f"Fit to {number(fit['to'])}: {before} -> {after} blocks a plane, {spare} over-provisioning, {exported} bytes exported"]


def _warm_up_line(result: RunData) -> list[str]:
    warm_up = result.get("warm_up")
    if not warm_up:
        return []
    return [f"Warm-up: the first {warm_up['requests']:,} requests, {duration(warm_up['ns'])}, are left out of all figures"]


def _header(result: RunData, title: str, told: Shown) -> list[RenderableType]:
    """Lines on the drive and workload, the speed of the drive, and its utilisation."""
    lines = [Text(title, style="bold")] if title else []
    return [*lines, Text(_throughput(result) + told.heading("iops")), ""]


def _throughput(result: RunData) -> str:
    iops, bandwidth, utilisation = (result.get(key) for key in ("iops", "bandwidth_mb_s", "utilisation"))
    parts = [f"{three(iops)} IOPS"] if iops is not None else ["no time passed"]
    if bandwidth:
        parts += [f"{verb} {three(bandwidth[kind])} MB/s" for kind, verb in (("read", "reads"), ("write", "writes"))]
    if utilisation:
        parts += [f"{name} {share(_mean(utilisation[name]))} busy" for name in ("chips", "channels")]
    return ", ".join(parts)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def latency_table(result: RunData, told: Shown) -> RenderableType:
    """Response times by class of requests, with letters of remarks."""
    table = new_table(["requests", "count", *LATENCIES.values()])
    rows = {key: row for key in CLASSES if (row := result.get("latency_ns", {}).get(key))}
    if not rows:
        return Text(f"Response times{told.heading('latency_ns')}: none, since no read or write was measured")
    for key, name in CLASSES.items():
        if row := rows.get(key):
            table.add_row(name + told.row(f"latency_ns.{key}"), number(row["count"]), *(time_of(row, column) for column in LATENCIES))
    return titled(f"Response times{told.heading('latency_ns')}", table)


def _flows(result: RunData) -> list[RenderableType]:
    """The table of flows, if there are several: their response times, and their slowdown by the others."""
    flows = [flow for flow in result.get("flows", ()) if any(flow["requests"].values())]
    if not flows:
        return []
    compared = any("alone" in flow for flow in flows)
    table = new_table(["flow", "requests", "mean", "p50", "p99", "max", "IOPS", "MB/s", *(["alone", "slowdown"] if compared else [])])
    for flow in flows:
        latency, bandwidth, alone = flow["latency_ns"].get("all"), flow.get("bandwidth_mb_s"), flow.get("alone")
        times = [time_of(latency, column) if latency else "" for column in ("mean", "p50", "p99", "max")]
        rates = [three(flow["iops"]), three(sum(bandwidth.values()))] if flow.get("iops") and bandwidth else ["", ""]
        slowed = [duration(alone["mean_ns"]), f"{alone['slowdown']:.2f}" if "slowdown" in alone else ""] if alone else ["", ""]
        table.add_row(flow["name"], number(sum(flow["requests"].values())), *times, *rates, *(slowed if compared else []))
    fairness = result.get("fairness")
    if not fairness:
        return [titled("Flows", table)]
    ratio = number(float(fairness["ratio"]))
    return [titled("Flows", table), Text(f"Fairness: {ratio} (smallest slowdown over the largest, that of {fairness['worst']})\n")]


def _breakdown(result: RunData) -> list[RenderableType]:
    """The table of parts of the mean response time, if there are any; parts that are always zero are left out."""
    breakdown = result.get("breakdown_ns", {})
    if not breakdown:
        return []
    parts = [part for part in next(iter(breakdown.values())) if any(row.get(part) for row in breakdown.values())]
    table = new_table(["requests", *(part.replace("_", " ") for part in parts)])
    for key, row in breakdown.items():
        table.add_row(CLASSES.get(key, key), *(time_of(row, part) for part in parts))
    return [titled("Where the mean response time goes", table)]


def _gc_details(result: RunData) -> str:
    gc = result.get("gc", {})
    if not gc_ran(result):
        return "it did not run"
    details = [
        f"{gc['jobs']:,} GC jobs" if gc.get("jobs") else "no job has ended",
        f"{gc['pages_moved']:,} pages moved" if "pages_moved" in gc else None,
        f"{gc['erases']:,} erases" if "erases" in gc else None,
        f"{share(gc['time_share'])} of a pool's time" if "time_share" in gc else None,
    ]
    return ", ".join(detail for detail in details if detail)


def _suspended(result: RunData) -> list[RenderableType]:
    """Suspensions for reads, which `gc.suspensions` does not count; zeros are left out."""
    counters = result.get("counters", {})
    found = {name: counters.get(f"suspended_{name}", 0) for name in ("programs", "erases")}
    counts = [f"{count:,} {name}" for name, count in found.items() if count]
    return [Text(f"Suspended for reads (scheduler.suspend): {', '.join(counts)}")] if counts else []


def _gc_scheduling(result: RunData) -> list[RenderableType]:
    """Preemptions and suspensions of GC, and its states; zeros are left out."""
    gc = result.get("gc", {})
    names = {"preemptions": "preemptions", "suspensions": "GC operations suspended for the host (gc.suspend)"}
    counts = [f"{gc[key]:,} {name}" for key, name in names.items() if gc.get(key)]
    for kind in ("merged", "pipelined"):
        moved = {operation: gc.get(kind, {}).get(operation, 0) for operation in ("read", "write")}
        parts = [f"{count:,} {operation}{'' if count == 1 else 's'}" for operation, count in moved.items() if count]
        if parts:
            counts.append(f"{kind} {' and '.join(parts)}")
    lines = [", ".join(counts)] if counts else []
    states = gc.get("state_ns", {})
    total = sum(states.values())
    if any(time for state, time in states.items() if state != "s0"):
        lines.append("time in " + ", ".join(f"{state.upper()} {share(time / total, digits=2)}" for state, time in states.items() if time))
    return [Text(f"  {line}") for line in lines]


WRITTEN = {
    "data": "host data",
    "gc": "page moves",
    "mapping": "mapping table",
    "padding": "padding",
    "parity": "parity",
}
"""Labels of the bytes written to flash, by purpose."""


def _written(result: RunData, mark: str) -> list[RenderableType]:
    """Bytes written by the host and to flash, if any, with letters of remarks on their ratio."""
    written = result.get("bytes_written", {})
    amplification = result.get("gc", {}).get("write_amplification")
    if not written.get("host") and not written.get("flash"):
        return []
    parts = [f"{name} {size(written[key])}" for key, name in WRITTEN.items() if written[key]]
    of = f" ({', '.join(parts)})" if parts else ""
    ratio = f": write amplification {number(float(amplification))}{mark}" if amplification is not None else ""
    held = written.get("held", 0)
    lines = [f"Written: {size(written['flash'])} to flash{of} for {size(written['host'])} of the host{ratio}"]
    if held:
        change = f"{size(held)} more than" if held > 0 else f"{size(-held)} less than"
        lines.append(f"  cache and write buffer hold {change} when the measured part began: of the host, in no flash")
    return [Text(line) for line in lines]


def _slack(result: RunData) -> list[RenderableType]:
    """Accuracy and effect of the estimated ends of requests; empty without estimates."""
    slack, counters = result.get("slack", {}), result.get("counters", {})
    if "estimation_error" not in slack:
        return []
    means = [f"{kind}s {duration(slack[kind]['mean_ns'])}" for kind in ("read", "write") if kind in slack]
    error, bias = share(slack["estimation_error"]), share(slack["estimation_bias"], sign=True)
    lines = [f"Slack: {', '.join(means)} on average; response times estimated with {error} error ({bias} on balance)"]
    names = {
        "read_passes": "reads passed",
        "write_passes": "writes passed",
        "write_pauses": "pauses of programs",
        "pause_reads": "reads in them",
    }
    counts = [f"{counters[key]:,} {name}" for key, name in names.items() if counters.get(key)]
    return [Text(line) for line in [*lines, *([f"  {', '.join(counts)}"] if counts else [])]]


def _cache(result: RunData) -> list[RenderableType]:
    """Statistics of the cache, including GC awareness."""
    cache = result.get("cache")
    if cache is None:
        return []
    found = f" of {cache['lookups']:,} pages ({share(cache['hit_ratio'], digits=2)})" if "hit_ratio" in cache else ""
    lines = [f"Cache of {cache['capacity_pages']:,} pages: {cache['read_hits'] + cache['write_hits']:,} hits{found}"]
    names = {
        "evictions": "evictions",
        "destages": "destages",
        "idle_destages": "in idle time",
        "padded_pages": "pages of padding",
        "spread_groups": "evicted groups on several targets",
        "gc_skips": "evictions skipped targets in GC",
        "gc_fallbacks": "with all targets in GC",
        "gc_bypasses": "pages not inserted, as all targets were in GC",
        "dirty_pages": "dirty pages left",
    }
    counts = [f"{cache[key]:,} {name}" for key, name in names.items() if cache.get(key)]
    responses = cache.get("response_ns", {})
    split = [f"{duration(responses[key]['mean'])} {where}" for key, where in (("gc", "with"), ("no_gc", "without")) if key in responses]
    lines += [f"  {', '.join(counts)}"] if counts else []
    lines += [f"  mean response {' and '.join(split)} a page whose target was in GC"] if split else []
    return [Text(line) for line in lines]


def _energy(result: RunData) -> list[RenderableType]:
    """The energy of the drives, their mean power, and what GC took of it; nothing if it is not asked for."""
    energy = result.get("energy")
    if not energy:
        return []
    total = energy["total_j"]
    arrays = sum(energy[f"{part}_j"] for part in ("read", "program", "erase"))
    parts = [f"{three(total)} J"]
    if "mean_w" in energy:
        parts.append(f"{three(energy['mean_w'])} W on average")
    if total:
        parts += [f"flash arrays {share(arrays / total)}", f"of these GC {share(energy['gc_array_j'] / arrays) if arrays else share(0)}"]
    return [Text(f"Energy: {', '.join(parts)}"), *_temperature(result)]


def _temperature(result: RunData) -> list[RenderableType]:
    """How warm the drives were, and for how long that limited them; nothing without a temperature."""
    thermal = result.get("thermal")
    if not thermal:
        return []
    parts = [f"{three(thermal['max_c'])} degrees C at most, {three(thermal['end_c'])} at the end"]
    names = {"light_ns": "throttled lightly for", "heavy_ns": "throttled heavily for", "stopped_ns": "stopped for"}
    parts += [f"{name} {duration(thermal[key])}" for key, name in names.items() if thermal[key]]
    together = ", times summed over drives" if result.get("array") and len(parts) > 1 else ""
    return [Text(f"Temperature: {', '.join(parts)}{together}")]


def _power_states(result: RunData) -> list[RenderableType]:
    """How long drives were in power states, and how often they were woken; nothing without any."""
    states = result.get("power_states")
    if not states:
        return []
    array = result["config"]["array"]
    drives = array["drives"] if array["level"] != "none" else 1
    drives -= array.get("degraded") is not None and not array["rebuild_stripes"]
    time = drives * (result["simulated_ns"] - result.get("warm_up", {}).get("ns", 0))
    parts = [f"{share(state['in_ns'] / time)} of the time in {number}" for number, state in enumerate(states["states"], 1)] if time else []
    parts.append(f"woken {states['wakes']:,} times by commands")
    if states["background_wakes"]:
        parts.append(f"{states['background_wakes']:,} times by work of the drive")
    return [Text(f"Power states: {', '.join(parts)}")]


def _streams(result: RunData) -> list[RenderableType]:
    """A line for each stream of data placement that was used."""
    lines = [_stream(stream) for stream in used_streams(result)]
    return [Text(f"Streams (ftl.placement = {result['config']['ftl']['placement']}):"), *map(Text, lines)] if lines else []


def _stream(stream: Stream) -> str:
    written = f"{stream.written} written, " if stream.written else ""
    valid = f", {stream.valid} valid then" if stream.valid else ""
    return f"  {stream.name}: {written}{stream.collected} blocks collected{valid}"


def _mapping(result: RunData) -> list[RenderableType]:
    """Statistics of the mapping cache."""
    mapping = result.get("mapping")
    if mapping is None:
        return []
    memory = size(mapping["model_bytes"])
    if not mapping["pages"]:
        return [Text(f"Mapping: {mapping['lines']:,} segments of {memory}; {mapping['mispredicted']:,} reads at a wrong place first")]
    uses = mapping["hits"] + mapping["misses"]
    found = f" ({share(mapping['hit_ratio'])})" if uses else ""
    kept = f"{mapping['capacity']:,} of {mapping['pages']:,} translation pages in memory"
    names = {
        "flash_reads": "read",
        "flash_programs": "programmed",
        "write_backs": "pages written back",
        "updates": "pages changed for collection",
        "pages_moved": "moved",
    }
    counts = [f"{mapping[key]:,} {name}" for key, name in names.items() if mapping[key]]
    lines = [f"Mapping cache: {kept}; {mapping['hits']:,} of {uses:,} uses hit{found}"]
    models = [f"  models of {memory}: {mapping['predicted']:,} further uses needed no page"] if mapping["model_bytes"] else []
    return [Text(line) for line in (*lines, *models, *([f"  flash: {', '.join(counts)}"] if counts else []))]


def _ages(result: RunData) -> list[RenderableType]:
    """Retries of flash reads, and how old blocks are."""
    ages = result.get("ages")
    if ages is None:
        return []
    mean = f", {number(float(ages['retries_mean']))} retries a read" if "retries_mean" in ages else ""
    lost = f", data of {ages['uncorrectable']:,} lost" if ages["uncorrectable"] else ""
    lines = [f"Retry: {ages['retried']:,} of {ages['reads']:,} flash reads repeated{mean}{lost}"]
    if "cycles" in ages:
        cycles, days, rate = ages["cycles"], ages["days"], ages["bit_error_rate"]
        ranges = f"{_range(cycles)} erases, data {_range(days)} days old, bit error rate {rate['min']:.2g} to {rate['max']:.2g}"
        lines.append(f"  blocks: {ranges}")
    counters = result.get("counters", {})
    names = {"reclaim_jobs": "blocks moved for their reads", "refresh_jobs": "for their age"}
    counts = [f"{counters[key]:,} {name}" for key, name in names.items() if counters.get(key)]
    return [Text(line) for line in [*lines, *([f"  {', '.join(counts)}"] if counts else [])]]


def _slc(result: RunData) -> list[RenderableType]:
    """The cache of blocks in SLC mode."""
    slc = result.get("slc")
    if slc is None:
        return []
    went = f" ({share(slc['cached_share'])} of the host's data)" if "cached_share" in slc else ""
    lines = [
        f"SLC cache of {size(slc['capacity_bytes'])}: {size(slc['written_bytes'])} written to it{went}, {size(slc['direct_bytes'])} past it"
    ]
    counters = result.get("counters", {})
    names = {"idle_folds": "in idle time", "space_folds": "for free blocks"}
    why = ", ".join(f"{counters[key]:,} {name}" for key, name in names.items() if counters.get(key))
    if slc["folds"]:
        lines.append(f"  {slc['folds']:,} blocks folded{f' ({why})' if why else ''}: {size(slc['folded_bytes'])} moved")
    lines.append(f"  at the end {slc['blocks_in_use']:,} blocks with {size(slc['held_bytes'])} of data")
    return [Text(line) for line in lines]


def _lifetime(result: RunData, told: Shown) -> list[RenderableType]:
    """Blocks that have failed, if any can, and what the drive can take."""
    life = result.get("lifetime")
    if life is None:
        return []
    names = {"worn_out": "worn out", "failed_erases": "erase failed", "failed_programs": "program failed"}
    why = ", ".join(f"{life[key]:,} {name}" for key, name in names.items() if life[key])
    end = (
        f", read-only since {duration(life['read_only_ns'])}"
        if "read_only_ns" in life
        else f"; each pool can lose {life.get('spare_left', 0):,} more"
    )
    lines = (
        [f"Lifetime: {life['retired_blocks']:,} blocks retired{f' ({why})' if why else ''}{end}"] if "spare_left" in life else ["Lifetime:"]
    )
    if "tbw" in life:
        # as true as the write amplification that it comes from
        marks = told.mark("gc.write_amplification") + told.row("lifetime.tbw")
        lines.append(f"  rated {three(life['tbw'])} TB written, {three(life['dwpd'])} drive writes a day{marks}")
        if "years" in life:
            daily = life["tbw"] * 1e12 / life["years"] / 365
            lines.append(f"  written on as in this run, {size(round(daily))} a day: {three(life['years'])} years")
    if "wear_amplification" in life:
        lines.append(f"  a byte of the host wears {three(life['wear_amplification'])} bytes of flash, those in SLC mode by slc.wear")
    if life.get("erase_wear", 1) < 1:
        lines.append(f"  an erase wears a block by {three(life['erase_wear'])} of one with whole pulses")
    counters = result.get("counters", {})
    counted = {"failed_programs": "programs failed", "retirement_moves": "pages moved for that", "rejected_writes": "writes rejected"}
    counted["leveling_moves"] = "pages moved to wear blocks evenly"
    counts = [f"{counters[key]:,} {name}" for key, name in counted.items() if counters.get(key)]
    return [Text(line) for line in [*lines, *([f"  {', '.join(counts)}"] if counts else [])]]


def _range(spread: Mapping[str, float]) -> str:
    """A property of blocks: the least and the largest value, or one."""
    low, high = (three(spread[end]) for end in ("min", "max"))
    return low if low == high else f"{low} to {high}"


def _buffer(result: RunData) -> list[RenderableType]:
    """Statistics of the write buffer."""
    buffer = result.get("buffer")
    if buffer is None:
        return []
    early = f", {buffer['timeouts']:,} of them for the timeout" if buffer["timeouts"] else ""
    programs = f"{buffer['programs']:,} programs ({buffer['part_programs']:,} not full{early})"
    names = {
        "rewrites": "replaced data that waited",
        "trimmed": "trimmed while they waited",
        "read_hits": "read from it",
        "fills": "completed by a read of flash",
    }
    counts = [f"{buffer[key]:,} {name}" for key, name in names.items() if buffer[key]]
    full = f", {buffer['full_waits']:,} requests waited for room" if buffer["full_waits"] else ""
    size = f"{buffer['units']:,} units written, in {programs}{full}; {buffer['held']:,} of {buffer['capacity']:,} in it at the end"
    return [Text(line) for line in (f"Write buffer: {size}", *([f"  units: {', '.join(counts)}"] if counts else []))]


def _interface(result: RunData) -> list[RenderableType]:
    """Statistics of the host interface."""
    interface = result.get("interface")
    if interface is None:
        return []
    cores, link_in, link_out = (share(interface[key]) for key in ("cores", "link_in", "link_out"))
    busy = f"cores busy {cores}, link {link_in} in and {link_out} out"
    names = {
        "slot_waits": "waited for a slot",
        "queue_full_waits": "found their queue full",
        "passing_commands": "passed an older one of another queue",
        "order_waits": "waited for an older one of another queue",
        "core_waits": "times for a core",
        "link_waits": "times for the link",
        "held_commands": "for data of an older write",
        "rate_waits": "for the rate of writes",
        "quota_waits": "for the quota of their queue",
    }
    counts = [f"{interface[key]:,} {name}" for key, name in names.items() if interface.get(key)]
    lines = [f"Host interface: {interface['commands']:,} commands, {busy}", *([f"  {', '.join(counts)}"] if counts else [])]
    return [Text(line) for line in lines]


def _log(result: RunData) -> list[RenderableType]:
    """What a log of the host wrote to zones beside the data of the host; nothing without one."""
    counters = result.get("counters", {})
    written, moved, padded = (counters.get(f"log_{what}_units", 0) for what in ("written", "moved", "padded"))
    if not written:
        return []
    names = {
        "log_collections": "zones collected",
        "log_switch_merges": "switch merges",
        "log_partial_merges": "partial merges",
        "log_full_merges": "full merges",
        "log_padded_units": "units of padding",
        "log_fills": "units read for writes of parts",
        "log_waits": "writes waited for a zone",
    }
    counts = [f"{counters[key]:,} {name}" for key, name in names.items() if counters.get(key)]
    of_all = f"{(written + moved + padded) / written:.3f} units written for each of the host, {moved:,} moved"
    return [Text(f"Log of the host: {', '.join([of_all, *counts])}")]


def _array(result: RunData) -> list[RenderableType]:
    """Statistics of the array's writes."""
    array = result.get("array")
    if array is None:
        return []
    names = {
        "read_modify_writes": "pages of parity by read-modify-write",
        "reconstruct_writes": "by reconstruction",
        "full_writes": "without reading",
        "degraded_reads": "degraded reads",
        "refused_reads": "reads refused for GC",
        "rebuilt_pages": "pages read around GC",
        "shortest_waits": "of these that waited for the shortest GC",
        "rebuilt_stripes": "stripes rebuilt",
        "empty_stripes": "without data",
        "left_stripes": "still to rebuild",
        "rotation_turns": "turns to collect",
        "rotation_waits": "of these that a pool waited for",
        "row_waits": "waits for a stripe lock",
    }
    counts = [f"{array[key]:,} {name}" for key, name in names.items() if array.get(key)]
    if array.get("rebuild_ns"):
        counts.append(f"rebuilt after {array['rebuild_ns'] / 1e9:.3g} s")
    return [Text(f"Array: {array['level']} of {array['drives']} drives{''.join(f', {count}' for count in counts)}")]


def speed_line(result: RunData) -> str:
    """Simulated time, and time and speed on this machine."""
    simulated, wall, speed = (result.get(key) for key in ("simulated_ns", "wall_s", "requests_per_s"))
    text = f"Simulated {duration(simulated or 0)}"
    if wall is not None:
        text += f" in {duration(wall * 1e9)}"
    prepared = result.get("prepare_s")
    if prepared is not None:
        text += f", after {duration(prepared * 1e9)} of preparation"
    late = result.get("late")
    if late is not None:
        pace = "in real time" if late["scale"] == 1 else f"{late['scale']:g} times slower than real time"
        return text + f". Served {pace}; {_late(result, late)}{_power_cut(result)}"
    return text + (f" (simulator speed: {three(speed)} requests/s)" if speed is not None else "")


def _late(result: RunData, late: Mapping[str, Any]) -> str:
    """The lateness of the answers of a served drive, as text."""
    answers = sum(result["requests"].values())
    those = f"{late['count']:,} of {answers:,} answers were more than 100 us late"
    return f"{those} (mean {duration(late['mean'])}, worst {duration(late['max'])})"


def _power_cut(result: RunData) -> str:
    """The effect of a power failure on a served drive, as text."""
    cut = result.get("power_cut")
    if cut is None:
        return ""
    lost = (
        f"{cut['lost_writes']:,} completed writes lost data ({cut['lost_bytes']:,} bytes)"
        if cut["lost_writes"]
        else "no completed write was lost"
    )
    return f". Power cut at {duration(cut['at_ns'])}: {cut['unanswered']:,} requests got no answer; {lost}"
