"""SimpleSSD-Standalone's simulation file as a workload.

Source: SimpleSSD/SimpleSSD-Standalone, `config/sample.cfg` with its comments, `igl/request/request_generator.cc`.
"""

from __future__ import annotations

from ssdlab.asking.importing.ini_file import entries_of
from ssdlab.asking.importing.ledger import Fate, Imported, Ledger
from ssdlab.asking.importing.presets import workload_preset
from ssdlab.asking.importing.source import Source

__all__ = ["read_workload"]

KINDS = {
    "READ": (1.0, 1.0),
    "WRITE": (0.0, 1.0),
    "RANDREAD": (1.0, 0.0),
    "RANDWRITE": (0.0, 0.0),
    "READWRITE": (None, 1.0),
    "RANDRW": (None, 0.0),
}
"""Share of reads (`None`: rwmixread) and of sequential requests."""


def read_workload(source: Source) -> Imported:
    """Reads a simulation file of SimpleSSD-Standalone."""
    ledger = Ledger(source, list(entries_of(source)))
    mode = ledger.get("Mode", "global")
    is_trace = mode is not None and mode.value.strip() == "1"
    form = "SimpleSSD-Standalone, simulation file"
    ledger.mapped("Mode", {}, "replays a trace" if is_trace else "generates requests", section="global")
    ledger.left_out("Interface", "the interface is that of the device here", section="global")
    for name in ("BreakAsyncIO", "BreakSyncIO"):
        ledger.left_out(name, "a break between two requests; workload.interarrival_us is one in open loop", section="global")
    ledger.rest_of("global", Fate.idle, "a log, a progress bar, or the one scheduler there is")
    if is_trace:
        ledger.rest_of("generator", Fate.idle, "Mode = 1 replays a trace")
        problem = "a trace is read by a regular expression there: convert it to a format that ssdlab reads, and give it as --trace"
        ledger.rest_of("trace", Fate.left_out, problem)
        return ledger.imported(form, (), problem)
    ledger.rest_of("trace", Fate.idle, "Mode = 0 generates requests")
    _generator(ledger)
    preset, problem = workload_preset("", ledger.settings, ledger.comments)
    return ledger.imported(form, (preset,), problem)


def _generator(ledger: Ledger) -> None:
    kind = ledger.get("readwrite", "generator")
    reads, sequential = (1.0, 1.0) if kind is None else kind.choice(KINDS)
    mix = ledger.get("rwmixread", "generator")
    if reads is None:
        reads = 0.5 if mix is None else mix.number(0, 1)
        ledger.mapped("rwmixread", {"workload.read_share": reads}, section="generator")
    else:
        ledger.idle("rwmixread", "readwrite says it", section="generator")
    settings = {"workload.read_share": reads, "workload.sequential_share": sequential}
    ledger.mapped("readwrite", settings, section="generator")
    size = ledger.get("blocksize", "generator")
    kib = 4.0 if size is None or not size.value else size.amount() / 1024
    ledger.mapped("blocksize", {"workload.request_kb": kib}, "bytes / 1024 = KiB", section="generator")
    align = ledger.get("blockalign", "generator")
    unit = kib if align is None or not align.value else align.amount() / 1024
    ledger.mapped("blockalign", {"workload.align_kb": unit}, "bytes / 1024 = KiB; blocksize if it is empty", section="generator")
    way, depth = ledger.get("iomode", "generator"), ledger.get("iodepth", "generator")
    is_sync = way is not None and way.value.strip().lower() == "sync"
    outstanding = 1 if is_sync or depth is None else depth.whole(1, 65536)
    ledger.mapped(
        "iomode",
        {"workload.queue_depth": outstanding},
        "one request at a time" if is_sync else "iodepth requests at a time",
        section="generator",
    )
    if is_sync:
        ledger.idle("iodepth", "iomode = sync: one", section="generator")
    else:
        ledger.mapped("iodepth", {"workload.queue_depth": outstanding}, "requests outstanding at any time", section="generator")
    for name in ("io_size", "runtime"):
        ledger.left_out(name, "a preset has no length: give --requests", section="generator")
    ledger.idle("time_based", "chooses between io_size and runtime", section="generator")
    ledger.idle("randseed", "numbers are drawn by another generator; --seed sets the seed here", section="generator")
    for name, key in (("offset", "the start"), ("size", "the size")):
        entry = ledger.get(name, "generator")
        if entry is not None and entry.value.strip() not in {"", "0"}:
            ledger.left_out(
                name, f"{key} of the addresses in bytes; workload.footprint and workload.part are shares of the drive", section="generator"
            )
        elif entry is not None:
            ledger.mapped(name, {}, "the whole drive", section="generator")
    think = ledger.get("thinktime", "generator")
    if think is not None and think.value.strip() not in {"", "0"}:
        ledger.left_out("thinktime", "a pause between requests of a closed loop is not simulated", section="generator")
    ledger.idle("thinktime", "0: off", section="generator")
