"""The options of job files: which become keys of a workload, which are about the host alone, and which are accepted without effect only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ssdlab.asking.fio.job_file import Entry, Section
from ssdlab.checks import nearest
from ssdlab.errors import UsageError

__all__ = ["check_known", "depth_of", "ignored", "is_cached", "is_fdp", "is_synchronous", "percentiles_of", "said"]

KEYS = frozenset(
    """
    ba bs bsrange bssplit clat_percentiles dataplacement directory end_fsync fdatasync fdp fdp_pli filename filename_format fsync
    fsync_on_close group_reporting io_size iodepth ioengine lat_percentiles loops new_group norandommap numjobs offset offset_increment
    percentage_random percentile_list ramp_time random_distribution randrepeat rate rate_iops rate_process runtime rw rwmixread
    rwmixwrite size startdelay stonewall sync thinktime thinktime_blocks time_based
    """.split()  # noqa: SIM905
)
"""Options that become keys of the workload, or of which the JSON form depends."""
HOST = frozenset(
    """
    allow_file_create allow_mounted_write allrandrepeat buffer_compress_chunk buffer_compress_percentage buffer_pattern buffered
    bwavgtime clocksource cmd_type continue_on_error cpumask cpus_allowed cpus_allowed_policy create_fsync create_on_open
    create_serialize dedupe_mode dedupe_percentage description direct disable_bw_measurement disable_clat disable_lat disable_slat
    disk_util dp_scheme error_dump exitall_on_error fallocate file_service_type fixedbufs gid gtod_cpu gtod_reduce hipri
    hugepage-size invalidate iodepth_batch iodepth_batch_complete iodepth_batch_complete_max iodepth_batch_complete_min
    iodepth_batch_submit iomem iomem_align iopsavgtime ioscheduler latency_percentiles lockmem log_avg_msec log_hist_msec
    log_max_value log_offset mem mem_align name nice nonvectored numa_cpu_nodes numa_mem_policy overwrite per_job_logs plid_select pool
    prio prioclass random_generator randseed refill_buffers registerfiles scramble_buffers significant_figures slat_percentiles
    sqthread_poll sqthread_poll_cpu ss_dur thinktime_spin thread uid unified_rw_reporting unlink verify_async verify_async_cpus
    verify_backlog verify_backlog_batch verify_dump verify_fatal verify_interval verify_offset verify_pattern verify_state_load
    verify_state_save verifysort verifysort_nr write_bw_log write_hist_log write_iolog write_iops_log write_lat_log zero_buffers
    """.split()  # noqa: SIM905
)
"""Options about the host or about fio's own output: they change no request."""
WITHOUT_EFFECT: Mapping[str, frozenset[str]] = {
    **{name: frozenset({"0", "none", "false"}) for name in ("verify_only", "zonemode", "exitall", "pre_read")},
    **{name: frozenset({"0"}) for name in ("bs_unaligned", "bs_is_seq_rand", "thinktime_iotime", "readonly")},
    "nrfiles": frozenset({"1"}),
    "kb_base": frozenset({"1024"}),
    "thinktime_blocks_type": frozenset({"complete"}),
    "rw_sequencer": frozenset({"sequential"}),
}
"""Options that are accepted with these values, by which they change nothing."""
WITH_REMARK = frozenset({"verify", "do_verify"})
"""Options that are accepted with a remark, since fio sends further requests."""
PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
"""The percentiles that fio reports by default."""
PAST_CACHE = {"io_uring_cmd", "null", "sg", "xnvme", "libblkio", "spdk"}
"""Engines that have no page cache."""
ASYNCHRONOUS = {
    *("libaio", "io_uring", "io_uring_cmd", "posixaio", "windowsaio", "solarisaio", "null", "sg", "xnvme", "libblkio", "spdk"),
}
SYNCHRONOUS = {"sync", "psync", "vsync", "pvsync", "pvsync2"}
"""Engines that keep one request outstanding, whatever `iodepth` says."""


def check_known(jobs: Iterable[Section]) -> None:
    """Refuses options that are not known, and values of others that would change the requests in ways that are not simulated."""
    for entry in _entries(jobs):
        allowed = WITHOUT_EFFECT.get(entry.name)
        if allowed is not None and entry.value not in allowed:
            raise entry.refuse(f"not simulated; leave it out (accepted without effect: {', '.join(sorted(allowed))})")
        if allowed is None and entry.name not in KEYS | HOST | WITH_REMARK:
            close = nearest(entry.name, KEYS | HOST | WITH_REMARK)
            raise entry.refuse(f"not an option that is simulated or known to be about the host alone{close}; leave it out")
        if entry.name == "filename" and ":" in entry.value.replace("\\:", ""):
            raise entry.refuse("several files: expected one drive; give each its own job with offset and size")
        if entry.name == "percentile_list":
            _percentiles(entry)


def ignored(jobs: Iterable[Section]) -> list[str]:
    """The names of the options about the host alone that a file has."""
    return sorted({entry.name for entry in _entries(jobs) if entry.name in HOST})


def is_fdp(job: Section) -> bool:
    """Whether writes of a job name a placement handle: `fdp=1`, or `dataplacement=fdp` since fio 3.38."""
    entry = job.get("dataplacement")
    return job.is_on("fdp") or (entry is not None and entry.choice({"none": False, "fdp": True}))


def is_synchronous(job: Section) -> bool:
    """Whether each write ends when it is in flash (`O_SYNC`): the host flushes behind it."""
    entry = job.get("sync")
    return entry is not None and entry.choice({"1": True, "sync": True, "dsync": True, "0": False, "none": False})


def is_cached(job: Section) -> bool:
    """Whether fio reads and writes through the page cache of the host."""
    engine, buffered = job.get("ioengine"), job.get("buffered")
    direct = job.is_on("direct") or (buffered is not None and not buffered.truth())
    return not direct and (engine is None or engine.value not in PAST_CACHE)


def said(job: Section, *, writes: bool) -> Iterator[str]:
    """What fio does beside the requests of a job, a sentence each. `writes`: whether the job writes."""
    given = {name for name, entry in job.options.items() if entry.value not in ("0", "none", "false")}
    checks = job.get("do_verify")
    if writes and "verify" in given and (checks is None or checks.truth()):
        yield f"[{job.name}]: {_text(job.options['verify'])} reads what the job wrote; these reads are left out (add a job of reads)"
    for name in sorted(name for name in given if name.startswith("iodepth_batch")):
        if job.options[name].whole(0, 65536) > 1:
            yield f"[{job.name}]: {_text(job.options[name])} sends or collects requests in batches; they are sent one by one"
    if is_cached(job):
        yield f"[{job.name}]: without direct=1 fio reads and writes through the page cache; simulated as with direct=1"


def percentiles_of(job: Section) -> Sequence[float]:
    """The percentiles of fio's report, ascending: its default ones, or those of `percentile_list`."""
    entry = job.get("percentile_list")
    return PERCENTILES if entry is None else _percentiles(entry)


def _percentiles(entry: Entry) -> Sequence[float]:
    return sorted(part.number(0, 100) for part in entry.parts(":"))


def _text(entry: Entry) -> str:
    return f"{entry.name} = {entry.value or '1'}"


def _entries(jobs: Iterable[Section]) -> Iterable[Entry]:
    return (entry for job in jobs for entry in job.options.values())


def depth_of(job: Section, differs: list[str]) -> int:
    """The queue depth that fio has: 1 with an engine that waits for each request.

    Raises:
        UsageError: the engine does not read and write a drive.
    """
    entry, engine = job.get("iodepth"), job.get("ioengine")
    depth = 1 if entry is None else entry.whole(1, 65536)
    name = "psync" if engine is None else engine.value
    if engine is not None and name not in ASYNCHRONOUS | SYNCHRONOUS:
        raise _engine(engine)
    if depth > 1 and name in SYNCHRONOUS:
        default = ", fio's default," if engine is None else ""
        differs.append(f"[{job.name}]: ioengine = {name}{default} keeps one request outstanding: iodepth = {depth} has no effect")
        return 1
    return depth


def _engine(engine: Entry) -> UsageError:
    return engine.wrong(f"an engine that reads and writes a drive: {', '.join(sorted(ASYNCHRONOUS | SYNCHRONOUS))}")
