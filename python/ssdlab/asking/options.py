"""Definitions of the options of a run: name, type, default, description, and form on the command line.

This file determines the arguments of `ssdlab.run`, `compare`, `sweep`, `precondition`, `replay_cache` and `Simulator` with their
documentation (`ssdlab.asking.option.takes`), the options of the commands with their help (`ssdlab.cli.options`), the keys of sweep and
study files, the content of a `Setup`, and the command that repeats a run.

To add an option, define it at its position in the order of help, and add it to the classes below that have it. The first sentence of its
description is its help on the command line; further sentences are for Python.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypedDict

from ssdlab.asking.option import Heading, Option
from ssdlab.asking.policies import Eviction, Order, Placement, Victim

__all__ = [
    "DEFAULT_SEED",
    "WHAT",
    "CacheOptions",
    "CheckedOptions",
    "CompareOptions",
    "ExploreOptions",
    "InputOptions",
    "LoadOptions",
    "Path_",
    "PolicyOptions",
    "PreconditionOptions",
    "RunOptions",
    "ServeOptions",
    "Set",
    "SetupOptions",
    "SimulatorOptions",
    "SweepOptions",
    "VariantOptions",
    "VariantWords",
    "Variants_",
    "Verified",
    "Window",
]

Path_ = str | os.PathLike[str]
Set = Mapping[str, Any]
Variants_ = Mapping[str, Mapping[str, Any]] | Path_
"""Options and keys by label, or the file that has them."""
Window = tuple[float | None, float | None]
"""A part of a run: start and end, us; `None` for the run's start or end."""
Verified = Literal["off", "end", "every"]


DEFAULT_SEED = 1
WHAT: Heading = "What is simulated"


# ---------------------------------------------------------------------------------------------------------------------------------------
# The options, in the order of help.

Device = Annotated[
    str | None,
    Option(
        'Device preset (see `ssdlab list devices`). `presets("device")` has them.', "--device NAME", WHAT, complete="device", check="text"
    ),
]
Scheme = Annotated[str | None, Option("Scheme preset, or several joined by `+`.", "--scheme NAME[+NAME...]", WHAT, complete="scheme")]
Schemes = Annotated[
    Sequence[str],
    Option(
        "A scheme to compare, possibly several joined by `+`; once for each. With variants at most one, which all variants have.",
        "--scheme NAME[+NAME...]",
        WHAT,
        "texts",
        complete="scheme",
        default=(),
    ),
]
VariantFile = Annotated[
    Variants_ | None,
    Option(
        "Variants to compare: a TOML file of tables [[variants]], each with a label, options of `run`, and `set`. In Python also a "
        'mapping by label, such as `{"as it is": {}, "small buffer": {"set": {"buffer.bytes": "4MiB"}}, "QLC": {"device": '
        '"nvme-qlc-2023"}}`. They are added to the other arguments, which all variants have.',
        "--variants FILE.toml",
        WHAT,
        "file",
    ),
]
VariantWords = Annotated[
    Sequence[str],
    Option(
        "A variant to compare, such as 'small buffer: buffer.bytes=4MiB' or 'QLC: --device nvme-qlc-2023'; once for each.",
        "--variant LABEL:OPTIONS",
        WHAT,
        "texts",
        default=(),
    ),
]
BestWords = Annotated[
    Sequence[str],
    Option(
        "Show mean, p99, p99.9, max, write-amplification, iops, or a path such as latency_ns.read.p99_9, and name the best by it; may be "
        "repeated.",
        "--best FIGURE",
        "Results",
        "texts",
        default=(),
    ),
]
Workload = Annotated[str | None, Option("Workload preset.", "--workload NAME", WHAT, complete="workload", check="text")]
Config = Annotated[Path_ | None, Option("TOML file of configuration keys.", "--config FILE.toml", WHAT, "file", check="path")]
Trace = Annotated[
    Path_ | None,
    Option(
        "Replay this trace, plain, .gz, .bz2 or .zst; - is standard input. A pipe is copied to a temporary file first.",
        "--trace FILE",
        "Traces",
        "file",
        key="workload.trace",
        check="path",
    ),
]
Fio = Annotated[
    Path_ | None,
    Option(
        "Generate the requests of this job file of fio, in place of a trace. A trace whose name ends with `.fio` is one, too.",
        "--fio FILE",
        "Traces",
        "file",
        check="path",
    ),
]
Format = Annotated[
    str | None,
    Option(
        "The trace's format, if its file does not state it.",
        "--format NAME",
        "Traces",
        complete="format",
        key="workload.format",
        check="text",
    ),
]
UnitBytes = Annotated[
    int | None,
    Option(
        "Bytes of one unit of address and size, for trace formats with units of their own.",
        "--unit-bytes N",
        "Traces",
        "size",
        key="workload.unit_bytes",
        check="number",
    ),
]
TimeUnit = Annotated[
    str | None,
    Option(
        "The unit of the trace's times, where its file does not state it: s, ms, us, ticks (100 ns) or ns.",
        "--time-unit UNIT",
        "Traces",
        key="workload.time_unit",
        check="text",
    ),
]
Event = Annotated[
    str | None,
    Option(
        "The event of a blkparse or ftrace trace that is a request: queue (before merging) or issue (after).",
        "--event NAME",
        "Traces",
        key="workload.event",
        check="text",
    ),
]
FioWait = Annotated[
    str | None,
    Option(
        "The meaning of `wait` in a fio log of version 2: program (ms after the start) or manual (us after the wait before).",
        "--fio-wait NAME",
        "Traces",
        key="workload.fio_wait",
        check="text",
    ),
]
Volume = Annotated[
    str | None,
    Option(
        "Only requests of this volume of the trace (disk, LUN, ASU), as `ssdlab trace info` lists it. `trace_info` has it in `devices`.",
        "--volume NAME",
        "Traces",
        key="workload.device",
        check="text",
    ),
]
TimeScale = Annotated[
    float | None,
    Option(
        "Divide the times between arrivals, of a trace or generated, by this number.",
        "--scale-time X",
        "Traces",
        "number",
        key="workload.time_scale",
        check="number",
    ),
]
Load = Annotated[
    float | None,
    Option(
        "Send requests at this share of the highest rate that the drive sustains, which a search finds; above 1: an overload. It divides "
        "the times between arrivals, as `time_scale` does. `result.capacity` has the rate and its interval.",
        "--load X",
        WHAT,
        "number",
        check="number",
    ),
]
LoadOf = Annotated[
    str | None,
    Option(
        "The drive whose capacity `load` is a share of: a scheme, of `compare` a label. "
        'In a sweep it is a value of an axis, such as "npgc" or "scheme = npgc".',
        "--load-of NAME",
        WHAT,
        check="text",
    ),
]
Skip = Annotated[
    int | None,
    Option("Leave out this many requests at the trace's start.", "--skip N", "Traces", "count", key="workload.skip", check="number"),
]
LimitS = Annotated[
    float | None,
    Option(
        "Only this many seconds of the trace, by its own clock, from the first request taken.",
        "--seconds S",
        "Traces",
        "number",
        key="workload.limit_s",
        check="number",
    ),
]
QueueDepth = Annotated[
    int | None,
    Option(
        "Keep this many requests outstanding, whatever their arrival times (a closed loop); 0: each arrives at its time.",
        "--queue-depth N",
        WHAT,
        "count",
        key="workload.queue_depth",
        check="number",
    ),
]
BadLines = Annotated[
    int | None,
    Option(
        "Skip and count up to this many unreadable lines of the trace. One more is an error.",
        "--skip-bad-lines N",
        "Traces",
        "count",
        key="workload.bad_lines",
        check="number",
    ),
]
Prefill = Annotated[
    Path_ | None,
    Option(
        "CSV file of the ranges (offset_bytes,size_bytes) with data before the trace; they are written first, untimed. It sets "
        '`ftl.precondition.kind = "ranges"`, unless `set` has another.',
        "--prefill FILE",
        "Traces",
        "file",
        key="ftl.precondition.prefill",
        check="path",
    ),
]
Fit = Annotated[
    Literal["trace"] | int | None,
    Option(
        "Give the device the fewest blocks per plane that export all addresses of the trace and the prefill file, or this many bytes. "
        '`"trace"` or a number; `result.fit` has the outcome.',
        "--fit trace|BYTES",
        WHAT,
    ),
]
Size = Annotated[
    int | None,
    Option(
        "Give the device the fewest blocks per plane that export this many bytes (default: as the device has it).",
        "--size BYTES",
        WHAT,
        "size",
    ),
]
Nbd = Annotated[
    str | None,
    Option(
        "Serve NBD at a Unix socket, which its owner alone may use, or at a host and a port. This or `file`.", "--nbd unix:PATH|HOST:PORT"
    ),
]
MountPoint = Annotated[
    Path_ | None,
    Option("Serve a file, MOUNTPOINT/drive, which only its owner may use: the folder must be empty (a FUSE mount).", "--file MOUNTPOINT"),
]
AllowRemote = Annotated[
    bool,
    Option("Serve at an address that other machines reach, too; NBD asks for no password.", "--allow-remote", form="flag", default=False),
]
Scale = Annotated[
    float, Option("How many times slower than real time the drive is; 1 is real time.", "--scale X", WHAT, "number", default=1.0)
]
Data = Annotated[
    Path_ | None,
    Option(
        "Keep the drive's bytes in this sparse file, which is created if it does not exist (default: in memory). FILE.state beside it has "
        "the state of the drive at its end, from which the next drive with this file starts.",
        "--data FILE",
        form="file",
        check="path",
    ),
]
PowerCut = Annotated[
    str | int | None,
    Option(
        "End as a power failure would, after a simulated time, such as 17s or 500ms, or a number of requests. Data in a volatile cache or "
        "write buffer are lost; `result.power_cut` has their amount.",
        "--power-cut TIME|N",
        WHAT,
    ),
]
RecordFile = Annotated[
    Path_ | None,
    Option(
        "Write the requests as a trace, a .csv file, which can be replayed under other schemes. On the same device under the same scheme, "
        "they have the same response times.",
        "--record FILE.csv",
        "Results",
        "file",
        check="path",
    ),
]
Requests = Annotated[
    int | None,
    Option("Stop after this many requests (default: the whole trace, or 100,000 generated ones).", "--requests N", WHAT, "count"),
]
WarmUp = Annotated[
    str | int | None,
    Option(
        "Warm-up, simulated but left out of the statistics: a time, such as 17s or 500ms, or a number of requests. `result.warm_up` "
        "describes it; `series` and the request log cover the whole run.",
        "--warm-up TIME|N",
        WHAT,
    ),
]
Seed = Annotated[int, Option("Seed of all random streams.", "--seed N", WHAT, "seed", default=DEFAULT_SEED)]
Settings = Annotated[
    Set | None,
    Option(
        'Set one configuration key; may be repeated. In Python a mapping, such as `{"gc.soft": 0.1, "gc.scope": "none"}`.',
        "--set KEY=VALUE",
        WHAT,
        "texts",
        complete="key",
    ),
]
State = Annotated[
    Path_ | None, Option("Start from this device state, saved by `precondition`.", "--state FILE", WHAT, "file", check="path")
]
StateCache = Annotated[
    bool,
    Option(
        "Prepare the drive even if an earlier run with the same configuration and seed has left its state. In Python `state_cache=False`; "
        "`result.prepared_earlier` says that such a state was taken.",
        "--no-state-cache",
        WHAT,
        "flag",
        default=True,
    ),
]
SaveState = Annotated[
    Path_ | None,
    Option(
        "Save the state of the device after the run, when all jobs and buffered writes have ended: further runs start from it.",
        "--save-state FILE",
        "Results",
        "file",
    ),
]
Verify = Annotated[
    Verified,
    Option(
        'Check all invariants: at the end, or after every event (small devices). `"end"` or `"every"`.',
        "--verify",
        "Checks",
        "choice",
        default="off",
    ),
]
AloneToo = Annotated[
    bool,
    Option(
        "Of several flows, run each alone too, with the same requests: how much the others slow it down. `result.flows[i].alone` and "
        "`result.fairness` have it.",
        "--alone",
        WHAT,
        "flag",
        default=False,
    ),
]
ExpectGc = Annotated[bool, Option("Fail if garbage collection never ran.", "--expect-gc", "Checks", "flag", default=False)]
ForKit = Annotated[bool, Option("Refuse before the runs what `ssdlab artifact` could not pack.", "--kit", "Checks", "flag", default=False)]
VictimChoice = Annotated[
    Victim | None,
    Option(
        "A victim policy of your own, in place of gc.victim. A callable, a class, or a text `ours.py:Ours`; it is called once per GC job "
        "(`VictimPolicy`).",
        "--victim FILE.py:CLASS",
        WHAT,
    ),
]
EvictionChoice = Annotated[
    Eviction | None,
    Option(
        "An eviction policy of your own, in place of cache.policy = lru. Given as `victim` is; it is called once per eviction "
        "(`EvictionPolicy`).",
        "--eviction FILE.py:CLASS",
        WHAT,
    ),
]
OrderChoice = Annotated[
    Order | None,
    Option(
        "An order of operations on a die of your own, in place of scheduler.order and gc.priority. Given as `victim` is; it is called once "
        "per decision (`OrderPolicy`).",
        "--order FILE.py:CLASS",
        WHAT,
    ),
]
PlacementChoice = Annotated[
    Placement | None,
    Option(
        "A placement policy of your own, with ftl.placement = custom. Given as `victim` is; it is called once per page written or moved "
        "(`PlacementPolicy`). `ftl.host_streams` and `ftl.move_streams` are its numbers of streams.",
        "--placement FILE.py:CLASS",
        WHAT,
    ),
]
Series = Annotated[
    bool | None,
    Option(
        "Record the run over time (`result.series`) and the distribution of response times (`result.histograms`); by default if "
        "`out` is given, for figures drawn later."
    ),
]
LogRequests = Annotated[
    bool,
    Option(
        "Keep a row for each request: requests.parquet in the folder of results. `result.requests` has them.",
        "--log-requests",
        "Results",
        "flag",
        default=False,
    ),
]
SlowestRequests = Annotated[
    int,
    Option(
        "Keep the reasons of this many slowest requests, for `ssdlab why`, in the folder of results; 0: none. `slowest.json` has them: "
        "which operations and GC jobs each waited for.",
        "--slowest N",
        "Results",
        "count",
        default=10,
    ),
]
TimelineFile = Annotated[
    Path_ | None,
    Option(
        "Write a timeline: .json or .json.gz for the Perfetto viewer; of `run` also .html, a page that needs no network. "
        "`result.timeline` describes it.",
        "--timeline FILE",
        "Timelines",
        "file",
    ),
]
BlocksToo = Annotated[
    bool,
    Option(
        "Write blocks.parquet, the states of all blocks over time, to the folder of results. `result.blocks` describes it.",
        "--blocks",
        "Timelines",
        "flag",
        default=False,
    ),
]
Timelines = Annotated[
    bool,
    Option(
        "Write timeline.json.gz, for the Perfetto viewer, for each variant, to its folder of results.",
        "--timelines",
        "Timelines",
        "flag",
        default=False,
    ),
]
TimelineWindow = Annotated[
    Window | None,
    Option(
        "Show only this part of the run, in us; START or END may be left out. In Python `(start_us, end_us)`, with `None` for the "
        "beginning or the end.",
        "--timeline-window START:END",
        "Timelines",
    ),
]
TimelineLimit = Annotated[
    int | None, Option("Limit of a timeline's slices, at which it ends (default: 200,000).", "--timeline-limit N", "Timelines", "count")
]
FioJson = Annotated[
    Path_ | None,
    Option("Write the result in the JSON form of fio; - is standard output. It needs `fio`.", "--fio-json FILE", "Results", "file"),
]
Paired = Annotated[
    bool,
    Option(
        "Also compare request by request with the first one: how many are faster, slower, unchanged. The result's `paired` has it.",
        "--paired",
        "Results",
        "flag",
        default=False,
    ),
]
Seeds = Annotated[
    int,
    Option(
        "Run every variant under this many seeds: means, differences and their 95 % intervals. The seeds begin at `seed`. The comparison "
        "is of the first seed, and its `seeds` has the means over all, the differences from the first variant, and their intervals. "
        "Series, timelines and `paired` are of the first seed only.",
        "--seeds N",
        WHAT,
        "positive",
        default=1,
    ),
]
Out = Annotated[
    Path_ | None, Option("Folder for the results, and for report.html, a page with tables and figures.", "--out DIR", "Results", "folder")
]
Jobs = Annotated[
    int | None, Option("Runs at once (default: as many as processors). It does not change any result.", "--jobs N", form="positive")
]
Port = Annotated[
    int, Option("Port of the page's address on this machine (default: one that is free).", "--port N", form="count", default=0)
]
Sample = Annotated[
    int, Option("Requests that are run first after each change, before the whole run.", "--sample N", WHAT, "count", default=5000)
]
OpenBrowser = Annotated[bool, Option("Open the page in a browser.", "--open", form="flag", default=False)]
Json = Annotated[bool, Option("Print one JSON object on standard output, and nothing else.", "--json", "Results", "flag", default=False)]
Quiet = Annotated[bool, Option("No progress bar, no tables.", "--quiet -q", form="flag", default=False)]


# ---------------------------------------------------------------------------------------------------------------------------------------
# Classes of options.


class DriveOptions(TypedDict, total=False):
    """Options that describe a drive."""

    device: Device
    prefill: Prefill


class InputOptions(DriveOptions, total=False):
    """Options for drive and requests that points of a study also have."""

    workload: Workload
    trace: Trace
    fio: Fio
    format: Format
    unit_bytes: UnitBytes
    time_unit: TimeUnit
    event: Event
    fio_wait: FioWait
    volume: Volume
    time_scale: TimeScale
    skip: Skip
    limit_s: LimitS
    queue_depth: QueueDepth
    bad_lines: BadLines
    fit: Fit
    requests: Requests
    warm_up: WarmUp


class LoadOptions(TypedDict, total=False):
    """Options for a rate of requests that is a share of what a drive sustains."""

    load: Load
    load_of: LoadOf


class StartOptions(TypedDict, total=False):
    """Further options of every run."""

    config: Config
    seed: Seed
    state_cache: StateCache


class CheckedOptions(StartOptions, total=False):
    """Options for the start and the checks of a run with requests."""

    state: State
    verify: Verify


class PolicyOptions(TypedDict, total=False):
    """Options for user-defined policies."""

    victim: VictimChoice
    eviction: EvictionChoice
    order: OrderChoice
    placement: PlacementChoice


class SetupOptions(InputOptions, LoadOptions, CheckedOptions, PolicyOptions, total=False):
    """Options of a run that the variants of a comparison may share or differ in."""

    alone: AloneToo


class RecordOptions(TypedDict, total=False):
    """Options for single keys and for recording."""

    set: Settings
    series: Series
    log_requests: LogRequests
    timeline_window: TimelineWindow
    timeline_limit: TimelineLimit
    out: Out


class RunOptions(SetupOptions, RecordOptions, total=False):
    """Options of `run`."""

    scheme: Scheme
    save_state: SaveState
    fio_json: FioJson
    timeline: TimelineFile
    slowest: SlowestRequests
    blocks: BlocksToo


class VariantOptions(SetupOptions, total=False):
    """Options that a variant of a comparison may have."""

    scheme: Scheme
    set: Settings


class CompareOptions(SetupOptions, RecordOptions, total=False):
    """Options of `compare`."""

    schemes: Schemes
    variants: VariantFile
    timelines: Timelines
    slowest: SlowestRequests
    blocks: BlocksToo
    paired: Paired
    seeds: Seeds
    jobs: Jobs


class SweepOptions(InputOptions, LoadOptions, CheckedOptions, PolicyOptions, total=False):
    """Options that the points of a sweep share."""

    alone: AloneToo
    scheme: Scheme
    set: Settings


class PreconditionOptions(DriveOptions, StartOptions, total=False):
    """Options of `precondition`."""

    scheme: Scheme
    workload: Workload
    set: Settings
    victim: VictimChoice


class SimulatorOptions(DriveOptions, CheckedOptions, PolicyOptions, total=False):
    """Options of `Simulator`."""

    scheme: Scheme
    warm_up: WarmUp
    set: Settings


class ServeOptions(DriveOptions, CheckedOptions, PolicyOptions, RecordOptions, total=False):
    """Options of `serve`."""

    nbd: Nbd
    file: MountPoint
    scheme: Scheme
    size: Size
    scale: Scale
    data: Data
    record: RecordFile
    power_cut: PowerCut
    allow_remote: AllowRemote
    timeline: TimelineFile


class ExploreOptions(InputOptions, CheckedOptions, PolicyOptions, total=False):
    """Options of `explore`."""

    scheme: Scheme
    set: Settings
    sample: Sample
    port: Port
    open: OpenBrowser
    jobs: Jobs


class CacheOptions(TypedDict, total=False):
    """Options of `replay_cache`."""

    device: Device
    scheme: Scheme
    set: Settings
    eviction: EvictionChoice
