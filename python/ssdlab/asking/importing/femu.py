"""FEMU's `-device femu,...` as a device and a scheme.

Sources: MoatLab/FEMU, `hw/femu/femu.c` (`femu_props`), `hw/femu/bbssd/` (`ftl-geom.c`, `ftl-media.c`, `ftl.c`, `ftl-line-gc.c`).
"""

from __future__ import annotations

import math

from ssdlab.asking.importing.ledger import Fate, Imported, Ledger
from ssdlab.asking.importing.presets import drive_presets, objection
from ssdlab.asking.importing.shell import devices
from ssdlab.asking.importing.source import Source

__all__ = ["read_device"]

DEFAULTS = {"secsz": 512, "secs_per_pg": 8, "pgs_per_blk": 256, "blks_per_pl": 256, "pls_per_lun": 1, "luns_per_ch": 8, "nchs": 8}
GEOMETRY = {
    "nchs": "device.channels",
    "luns_per_ch": "device.chips_per_channel",
    "pls_per_lun": "device.planes_per_die",
    "blks_per_pl": "device.blocks_per_plane",
    "pgs_per_blk": "device.pages_per_block",
}
MODES = {"0": "Open-Channel", "2": "no SSD: DRAM without a drive's times", "3": "zoned (ZNS)", "4": "computational", "5": "key-value"}
CONTROLLER = [
    "serial",
    "id",
    "bus",
    "addr",
    "drive",
    "namespaces",
    "queues",
    "entries",
    ("multipoller_enabled"),
    "poller_ratio",
    "hiops_inline",
    "max_cqes",
    "max_sqes",
    "stride",
    "aerl",
    "acl",
    "elpe",
    "mdts",
    "cqr",
    "vwc",
    "intc",
    "intc_thresh",
    "intc_time",
    "ms",
    "ms_max",
    "dlfeat",
    "temperature",
    "mpsmin",
    "mpsmax",
    "nlbaf",
    "lba_index",
    "extended",
    "dpc",
    "dps",
    "mc",
    "meta",
    "cmbsz",
    "cmbloc",
    "oacs",
    "oncs",
    "sgl",
    "vid",
    "did",
    "debug_ftl",
    "nand_bad_blocks",
    "pe_cycles_rated",
    "namespace_sizes",
    "namespace_modes",
]
OTHER_MODES = [
    "flash_type",
    "lver",
    "lsec_size",
    "lsecs_per_pg",
    "lpgs_per_blk",
    "lmax_sec_per_rq",
    "lnum_ch",
    "lnum_lun",
    "lnum_pln",
    "lmetasize",
    "learly_reset",
    "fdm_size",
    "nr_cu",
    "nr_thread",
    "time_slice",
    ("context_switch_time"),
    "csf_runtime_scale",
    "csd_program_dir",
]
LEFT_OUT = {
    "nand_cell_type": "FEMU then takes times from a table in its source in place of pg_rd_lat and the others; set device.read_ns_by_page",
    "pgtype_lat": "program times by page type, as shares of pg_wr_lat; set device.program_ns_by_page",
    "cell_pages": "the page types of pgtype_lat",
    "ecc_step_ns": "read times that grow with wear: set errors.retry",
    "ecc_retention_sec": "read times that grow with age are not simulated",
    "tplpbsy": "the busy time between planes is not simulated",
    "tplrbsy": "the busy time between planes is not simulated",
    "tplebsy": "the busy time between planes is not simulated",
    "trcbsy": "the busy time of cached reads is not simulated",
    "trim_lat_ns": "a trim takes no flash time here",
    "pe_suspend": "suspension is scheduler.suspend here, with times of its own in device",
    "tsusp_ns": "as pe_suspend",
    "err_read_unc_ppm": "reads that fail: set errors.retry",
    "err_write_fail_ppm": "programs that fail: set wear.program_fails_ppm",
    "pcie_bandwidth_mbps": "the name does not say bits or bytes; set host.link_bytes_per_us",
    "pcie_prop_delay_ns": "a delay of the link is not simulated",
    "fdp_trim_erase_all": "a trim frees the ranges that it names",
    "hot_cold_sep": "overwritten pages have lines of their own there; ftl.placement = hot-cold is near",
    "read_reclaim_limit": "read disturb is not simulated",
    "retention_limit_sec": "retention is not simulated",
    "cache_evict": "the cache evicts as cache.policy says",
    "gc_strategy": "the victim policy with FDP: set gc.victim",
    "buffer_thres_pcent": "the buffer is emptied at once here (buffer.drain = eager), there from this share on",
}
VICTIMS = {"greedy": "greedy", "cb": "cost-benefit", "cost-benefit": "cost-benefit", "random": "random", "rand": "random", "fifo": "fifo"}


def read_device(source: Source) -> Imported:
    """Reads a command line or a run script of FEMU."""
    found = devices(source)
    own = found.get("femu") or found.get("nvme") or []
    ledger = Ledger(source, [*own, *found.get("femu-subsys", [])])
    form = "FEMU, -device femu"
    if not own:
        lacking = "-device femu has no options" if "femu" in found else "femu_mode= is there, but no -device femu in front of it"
        raise source.refuse(0, f"{lacking}: expected them as QEMU takes them, such as -device femu,devsz_mb=4096,femu_mode=1")
    mode = ledger.get("femu_mode")
    word = "2" if mode is None else mode.value.strip()
    if word != "1":
        problem = (
            f"femu_mode = {word} is {MODES.get(word, 'no mode that ssdlab knows')}: only mode 1 (a black box with an FTL) is simulated"
        )
        ledger.left_out("femu_mode", problem)
        for section in ("femu", "nvme"):
            ledger.rest_of(section, Fate.left_out, problem)
        return ledger.imported(form, (), problem)
    ledger.mapped("femu_mode", {}, "a black box with an FTL by page")
    ledger.all_of(ledger.idle, dict.fromkeys(CONTROLLER, "names or sizes the NVMe controller, or reports; it takes no time of the flash"))
    ledger.all_of(ledger.idle, dict.fromkeys(OTHER_MODES, "of another femu_mode"))
    ledger.all_of(ledger.idle, {entry.name: "of another femu_mode" for entry in own if entry.name.startswith("zns_")})
    ledger.all_of(ledger.left_out, LEFT_OUT)
    _geometry(ledger)
    _times(ledger)
    problem = _size(ledger)
    _levels(ledger)
    _collection(ledger)
    _placement(ledger)
    presets, refusal = drive_presets(ledger)
    return ledger.imported(form, () if problem else presets, problem or refusal)


def _placement(ledger: Ledger) -> None:
    """Maps the handles of data placement by the host (FDP), which are keys of the subsystem."""
    switch, handles, isolation = (ledger.get(name, "femu-subsys") for name in ("fdp", "fdp.nruh", "fdp.isolation_mode"))
    is_on = switch is not None and switch.truth() and handles is not None
    if is_on and handles is not None:
        count = handles.whole(1, 1024)
        is_initial = isolation is not None and isolation.value.strip() != "0"
        _handles(ledger, count, is_initial=is_initial)
        ledger.mapped("fdp", {}, "data placement by the host", "femu-subsys")
        ledger.approximated("fdp.isolation_mode", {}, "see fdp.nruh; other than 0, the last handle alone is initially isolated there")
    ledger.idle("subsys", "names the subsystem")
    idle = "names or sizes the subsystem; reclaim units are lines there, and blocks of a die here" if is_on else "FDP is off"
    ledger.rest_of("femu-subsys", Fate.idle, idle)


def _handles(ledger: Ledger, count: int, *, is_initial: bool) -> None:
    """Maps the number of handles, with isolation as in the file where the drive has the spare blocks for it."""
    wanted = {"ftl.placement": "handles", "ftl.handles": count, "ftl.frontier": "separate"}
    least = {**ledger.settings, "gc.soft": 1}
    problem = ""
    for isolation in ("initial",) if is_initial else ("persistent", "initial"):
        settings = {**wanted, "ftl.isolation": isolation}
        problem = objection({**least, **settings})
        if not problem:
            how = f"{isolation} isolation" + ("" if is_initial or isolation == "persistent" else ": persistent, as there, needs more spare")
            ledger.approximated("fdp.nruh", settings, f"{how}; each handle has an open block on each die", "femu-subsys")
            return
    ledger.left_out("fdp.nruh", f"ftl.placement = handles does not take it: {problem}", "femu-subsys")


def _geometry(ledger: Ledger) -> None:
    for name, key in GEOMETRY.items():
        ledger.whole(name, key, default=DEFAULTS[name])
    sector = 512 if (entry := ledger.get("secsz")) is None else entry.whole(1, 65536)
    count = 8 if (entry := ledger.get("secs_per_pg")) is None else entry.whole(1, 65536)
    how = f"secsz x secs_per_pg = {sector} x {count}"
    settings = {"device.page_bytes": sector * count}
    given = [name for name in ("secsz", "secs_per_pg") if ledger.get(name) is not None]
    for name in given:
        ledger.mapped(name, settings, how)
    if not given:
        ledger.without_key(settings, f"{how}, the defaults there")
    ledger.without_key({"device.dies_per_chip": 1, "device.spare_bytes": 0}, "a LUN is one die, and serves one operation at a time")
    ledger.without_key(
        {"ftl.allocation": "dynamic"},
        "pages are written round robin over channels and LUNs, wherever their address; here to the LUN with the fewest operations",
    )
    ledger.without_key(
        {"ftl.precondition.kind": "none", "ftl.unmapped_read": "immediate"},
        "FEMU begins with an empty drive, and reads of pages without data take no time",
    )


def _times(ledger: Ledger) -> None:
    added = {}
    for name in ("cmd_addr_lat", "pg_xfer_lat", "status_lat"):
        if (entry := ledger.get(name)) is not None:
            added[name] = entry.whole(0, 10**9)
    extra = sum(added.values())
    for name, key, default in (("pg_rd_lat", "device.read_ns", 40_000), ("pg_wr_lat", "device.program_ns", 200_000)):
        entry = ledger.get(name)
        time = default if entry is None else entry.whole(0, 2**31)
        note = f"ns in both{f'; with {extra:,} ns of command, transfer and status' if extra else ''}"
        _time(ledger, name, key, time + extra, note)
    for name, time in added.items():
        if time:
            ledger.approximated(name, {}, "added to the times of reads and programs: it occupies the LUN, and no channel, there")
        else:
            ledger.idle(name, "0: off")
    entry = ledger.get("blk_er_lat")
    _time(ledger, "blk_er_lat", "device.erase_ns", 2_000_000 if entry is None else entry.whole(0, 2**31), "ns in both")
    ledger.idle("ch_xfer_lat", "read and never used there")
    ledger.without_key({"device.transfer_ps_per_byte": 0, "device.command_ns": 0}, "channels take no time in FEMU's FTL")


def _time(ledger: Ledger, name: str, key: str, time: int, note: str) -> None:
    if time < 1:
        ledger.approximated(name, {key: 1}, "0 ns there; at least 1 ns here")
    elif ledger.get(name) is None:
        ledger.without_key({key: time}, f"{name} is not given: the default there")
    else:
        ledger.mapped(name, {key: time}, note)


def _size(ledger: Ledger) -> str:
    """Maps the exported size; returns why there can be no preset, or an empty text."""
    sizes = ("channels", "chips_per_channel", "planes_per_die", "blocks_per_plane", "pages_per_block", "page_bytes")
    flash = math.prod(int(ledger.settings[f"device.{name}"]) for name in sizes)
    share, size = ledger.get("op_pcent"), ledger.get("devsz_mb")
    if share is not None and (percent := share.whole(0, 1000)):
        how = f"1 - 1 / (1 + {percent} / 100): the namespace has {flash / 2**20 / (1 + percent / 100):,.0f} of {flash / 2**20:,.0f} MiB"
        ledger.mapped(share.name, {"device.overprovisioning": round(percent / (100 + percent), 6)}, how)
        ledger.idle("devsz_mb", "op_pcent gives the size")
        return ""
    ledger.idle("op_pcent", "0: devsz_mb gives the size")
    exported = (1024 if size is None else size.whole(1, 2**40)) << 20
    how = f"1 - {exported >> 20:,} MiB / {flash / 2**20:,.0f} MiB of flash"
    if exported > flash:
        given = any(entry.name in DEFAULTS for entry in ledger.entries)
        absent = "the geometry is not in the file (older versions have it in hw/femu/bbssd/ftl.c)"
        remedy = "lower devsz_mb, or raise blks_per_pl or pgs_per_blk" if given else absent
        problem = f"devsz_mb = {exported >> 20} is more than the {flash >> 20} MiB of flash: {remedy}"
        ledger.left_out("devsz_mb", problem)
        return problem
    ledger.mapped("devsz_mb", {"device.overprovisioning": round(1 - exported / flash, 6)}, how)
    return ""


def _levels(ledger: Ledger) -> None:
    page = int(ledger.settings["device.page_bytes"])
    if (entry := ledger.get("buffer_size")) is not None:
        count = entry.whole(0, 2**31)
        settings = {"buffer.bytes": count * page, **({"buffer.protected": False, "buffer.drain": "eager"} if count else {})}
        ledger.approximated(entry.name, settings, f"{count:,} pages x {page:,} bytes; the buffer keeps nothing for reads here")
    if (entry := ledger.get("read_cache_mb")) is not None:
        count = entry.whole(0, 2**20)
        settings = {"cache.policy": "lru", "cache.bytes": count << 20, "cache.writes": False} if count else {}
        ledger.approximated(entry.name, settings, f"{count} MiB, evicted by LRU" if count else "0: off")
    scheme = ledger.get("mapping")
    word = "page" if scheme is None else scheme.value.strip().lower()
    if scheme is not None and word in {"page", "dftl"}:
        ledger.mapped(scheme.name, {}, "the whole table is in memory" if word == "page" else "part of the table is in flash")
    elif scheme is not None:
        ledger.left_out(scheme.name, "only page and dftl are simulated; the preset maps by page")
    if (entry := ledger.get("mapping_cache_mb")) is not None or word == "dftl":
        count = 4 if entry is None else entry.whole(0, 2**20) or 4
        if word == "dftl":
            ledger.approximated("mapping_cache_mb", {"ftl.map_cache_bytes": count << 20}, f"{count} MiB of whole translation pages")
        else:
            ledger.idle("mapping_cache_mb", "the mapping is by page, with the whole table in memory")
    if (entry := ledger.get("fw_cpu_ns")) is not None:
        ledger.mapped(entry.name, {"host.command_ns": entry.whole(0, 10**9)}, "one core, for each command")


def _collection(ledger: Ledger) -> None:
    lines = int(ledger.settings["device.blocks_per_plane"])

    def threshold(name: str, default: int) -> int:
        entry = ledger.get(name)
        percent = default if entry is None else entry.whole(1, 100)
        return int((1 - percent / 100.0) * lines)

    low, high = threshold("gc_thres_pcent", 75), threshold("gc_thres_pcent_high", 95)
    soft = low + 1
    how = (
        f"int((1 - share) x {lines} lines) = {low}: GC with at most as many free lines, so below {soft} "
        "blocks here. There only victims with an eighth invalid are taken until the high threshold"
    )
    ledger.approximated("gc_thres_pcent", {"gc.soft": soft}, how)
    hard = {"gc.hard": round(min(1.0, (high + 1) / soft), 6)}
    ledger.approximated(
        "gc_thres_pcent_high", hard, f"int((1 - share) x {lines}) = {high} lines: writes wait for GC below {high + 1} blocks"
    )
    policy = ledger.get("gc_policy")
    word = "greedy" if policy is None else policy.value.strip().lower()
    if word in VICTIMS:
        ledger.mapped("gc_policy", {"gc.victim": VICTIMS[word]})
    else:
        ledger.left_out("gc_policy", "not a victim policy here; greedy is taken")
    ledger.without_key(
        {"gc.scope": "die", "gc.priority": "gc", "scheduler.order": "fcfs"},
        "operations of a LUN are served as they come, and a collection is queued as a whole: the host waits until it ends",
    )
    ledger.without_key(
        {"ftl.pool": "die", "ftl.frontier": "shared"},
        "FEMU collects a line, a block of every LUN, and GC writes to the open line of the host; here each die collects by itself",
    )
