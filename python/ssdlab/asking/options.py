"""Definitions of the options of a run: name, type, default, description for Python, and form on the command line.

This file determines the arguments of `ssdlab.run`, `compare`, `sweep`, `precondition`, `replay_cache` and `Simulator` with their
documentation (`ssdlab.asking.option.takes`), the options of the commands with their help (`ssdlab.cli.options`), the keys of sweep and
study files, the content of a `Setup`, and the command that repeats a run.

To add an option, define it at its position in the order of help, and add it to the classes below that have it.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypedDict

from ssdlab.asking.option import Heading, Option, Shell
from ssdlab.asking.policies import Eviction, Order, Placement, Victim

__all__ = [
    "DEFAULT_SEED",
    "WHAT",
    "CacheOptions",
    "CheckedOptions",
    "CompareOptions",
    "ExploreOptions",
    "InputOptions",
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
        'a device preset (`presets("device")`).',
        Shell("--device NAME", "Device preset (see `ssdlab list devices`).", WHAT, complete="device"),
        check="text",
    ),
]
Scheme = Annotated[
    str | None,
    Option(
        "a scheme preset, or several joined by `+`.",
        Shell("--scheme NAME[+NAME...]", "Scheme preset, or several joined by +.", WHAT, complete="scheme"),
    ),
]
Schemes = Annotated[
    Sequence[str],
    Option(
        "scheme presets to compare, each possibly several joined by `+`. With `variants`, at most one, which all variants have.",
        Shell(
            "--scheme NAME[+NAME...]",
            "A scheme to compare; give it once for each. With variants: once, for all of them.",
            WHAT,
            "texts",
            complete="scheme",
        ),
        default=(),
    ),
]
VariantFile = Annotated[
    Variants_ | None,
    Option(
        "what to compare, by label: a table of options of `run` for each, and `set` with single keys, such as "
        '`{"as it is": {}, "small buffer": {"set": {"buffer.bytes": "4MiB"}}, "QLC": {"device": "nvme-qlc-2023"}}`; or a TOML file of '
        "such tables. They are added to the other arguments, which all variants have.",
        Shell("--variants FILE.toml", "File of variants: tables [[variants]] with a label, options of run, and set.", WHAT, "file"),
    ),
]
VariantWords = Annotated[
    Sequence[str],
    Option(
        None,
        Shell(
            "--variant LABEL:OPTIONS",
            "A variant to compare, such as 'small buffer: buffer.bytes=4MiB' or 'QLC: --device nvme-qlc-2023'; once for each.",
            WHAT,
            "texts",
        ),
        default=(),
    ),
]
BestWord = Annotated[
    str | None,
    Option(
        None,
        Shell(
            "--best FIGURE",
            "Name the best variant by mean, p99, p99.9, max, write-amplification, iops, or a path such as latency_ns.read.p99.",
            "Results",
        ),
    ),
]
Workload = Annotated[
    str | None,
    Option("a workload preset.", Shell("--workload NAME", "Workload preset.", WHAT, complete="workload"), check="text"),
]
Config = Annotated[
    Path_ | None,
    Option(
        "a TOML file of configuration keys.",
        Shell("--config FILE.toml", "TOML file of configuration keys.", WHAT, "file"),
        check="path",
    ),
]
Trace = Annotated[
    Path_ | None,
    Option(
        'a trace file to replay instead, plain or compressed; `"-"` is standard input. A pipe is copied to a temporary file first.',
        Shell("--trace FILE", "Replay this trace, plain, .gz, .bz2 or .zst; - is standard input.", "Traces", "file"),
        key="workload.trace",
        check="path",
    ),
]
Fio = Annotated[
    Path_ | None,
    Option(
        "a job file of fio whose jobs are the workload, in place of a trace. A `trace` whose name ends with `.fio` is one, too.",
        Shell("--fio FILE", "Generate the requests of this job file of fio (also: --trace FILE.fio).", "Traces", "file"),
        check="path",
    ),
]
Format = Annotated[
    str | None,
    Option(
        "the trace's format, if its file does not state it.",
        Shell("--format NAME", "The trace's format, if its file does not state it.", "Traces", complete="format"),
        key="workload.format",
        check="text",
    ),
]
UnitBytes = Annotated[
    int | None,
    Option(
        "bytes of one unit of address and size, for trace formats that count in units of their own.",
        Shell("--unit-bytes N", "Bytes of one unit of address and size, for formats with units of their own.", "Traces", "size"),
        key="workload.unit_bytes",
        check="number",
    ),
]
TimeUnit = Annotated[
    str | None,
    Option(
        'the unit of the trace\'s times, where its file does not state it: `"s"`, `"ms"`, `"us"`, `"ticks"` (100 ns) or `"ns"`.',
        Shell("--time-unit UNIT", "The unit of the trace's times, where its file does not state it: s, ms, us, ticks, ns.", "Traces"),
        key="workload.time_unit",
        check="text",
    ),
]
Event = Annotated[
    str | None,
    Option(
        'the event of a blkparse or ftrace trace that is a request: `"queue"` (before merging) or `"issue"` (after).',
        Shell("--event NAME", "The event of a blkparse or ftrace trace that is a request: queue or issue.", "Traces"),
        key="workload.event",
        check="text",
    ),
]
FioWait = Annotated[
    str | None,
    Option(
        'the meaning of `wait` in a fio log of version 2: `"program"` (ms after the start) or `"manual"` (us after the wait before).',
        Shell("--fio-wait NAME", "The meaning of wait in a fio log of version 2, by fio's program or manual.", "Traces"),
        key="workload.fio_wait",
        check="text",
    ),
]
Volume = Annotated[
    str | None,
    Option(
        "replay only the requests of this volume (disk, LUN, ASU, ...), as `trace_info` lists it under `devices`.",
        Shell("--volume NAME", "Only requests of this volume of the trace (disk, LUN, ASU), as `ssdlab trace info` lists it.", "Traces"),
        key="workload.device",
        check="text",
    ),
]
TimeScale = Annotated[
    float | None,
    Option(
        "divides the times between arrivals, of a trace or generated.",
        Shell("--scale-time X", "Divide the times between arrivals by X.", "Traces", "number"),
        key="workload.time_scale",
        check="number",
    ),
]
Skip = Annotated[
    int | None,
    Option(
        "leave out this many requests at the trace's start.",
        Shell("--skip N", "Leave out N requests at the trace's start, such as 5000, 20k or 2M.", "Traces", "count"),
        key="workload.skip",
        check="number",
    ),
]
LimitS = Annotated[
    float | None,
    Option(
        "only this many seconds of the trace, by its own clock, from the first request taken.",
        Shell("--seconds S", "Only S seconds of the trace, by its own clock, from the first request taken.", "Traces", "number"),
        key="workload.limit_s",
        check="number",
    ),
]
QueueDepth = Annotated[
    int | None,
    Option(
        "requests kept outstanding, whatever their arrival times (a closed loop); 0: each arrives at its time.",
        Shell("--queue-depth N", "Keep N requests outstanding, whatever their arrival times; 0: each arrives at its time.", WHAT, "count"),
        key="workload.queue_depth",
        check="number",
    ),
]
BadLines = Annotated[
    int | None,
    Option(
        "skip up to this many unreadable lines of the trace; one more is an error.",
        Shell("--skip-bad-lines N", "Skip up to N unreadable lines of the trace (they are counted).", "Traces", "count"),
        key="workload.bad_lines",
        check="number",
    ),
]
Prefill = Annotated[
    Path_ | None,
    Option(
        "a CSV file of the ranges (`offset_bytes,size_bytes`) with data before the trace; they are written first, untimed "
        '(`ftl.precondition.kind = "ranges"`, unless `set` has another).',
        Shell("--prefill FILE", "CSV of the ranges with data before the trace; written first, untimed.", "Traces", "file"),
        key="ftl.precondition.prefill",
        check="path",
    ),
]
Fit = Annotated[
    Literal["trace"] | int | None,
    Option(
        '`"trace"` or a number of bytes: gives the device the fewest blocks per plane that export all addresses of the trace (and of '
        "the prefill file), or this many bytes; `result.fit` has the outcome.",
        Shell("--fit trace|BYTES", "Set the number of blocks to fit the trace's addresses, or this many bytes, such as 64MiB.", WHAT),
    ),
]
Size = Annotated[
    int | None,
    Option(
        "exported bytes: gives the device the fewest blocks per plane that export this many. By default the device keeps its blocks.",
        Shell("--size BYTES", "Set the number of blocks to export this many bytes (default: as the device has it).", WHAT, "size"),
    ),
]
Nbd = Annotated[
    str | None,
    Option(
        'where programs connect by NBD: `"unix:PATH"` for a Unix socket, which its owner alone may use, or `"HOST:PORT"`. This or `file`.',
        Shell("--nbd unix:PATH|HOST:PORT", "Serve NBD here: at a Unix socket, or at a host and a port.", "Options"),
    ),
]
MountPoint = Annotated[
    Path_ | None,
    Option(
        "an empty folder. The drive is the file `drive` in it, which only its owner may use (a FUSE mount).",
        Shell("--file MOUNTPOINT", "Serve a file: MOUNTPOINT/drive. The folder must be empty (a FUSE mount).", "Options"),
    ),
]
AllowRemote = Annotated[
    bool,
    Option(
        "whether to serve at an address that other machines reach. NBD asks for no password.",
        Shell("--allow-remote", "Serve at an address that other machines reach, too. NBD asks for no password.", "Options", "flag"),
        default=False,
    ),
]
Scale = Annotated[
    float,
    Option(
        "how many times slower than real time the drive is: 1 is real time, 10 ten times slower.",
        Shell("--scale X", "The drive is X times slower than real time.", WHAT, "number"),
        default=1.0,
    ),
]
Data = Annotated[
    Path_ | None,
    Option(
        "a sparse file for the drive's bytes, created if it does not exist. FILE.state beside it has the state of the drive at its end, "
        "from which the next drive with this file starts. By default bytes are in memory, and lost at the end.",
        Shell("--data FILE", "Keep the drive's bytes in this sparse file (default: in memory).", "Options", "file"),
        check="path",
    ),
]
PowerCut = Annotated[
    str | int | None,
    Option(
        'ends the drive as a power failure would: after a simulated time such as `"17s"` or `"500ms"`, or a number of requests. Data '
        "in a volatile cache or write buffer are lost. `result.power_cut` has their amount.",
        Shell("--power-cut TIME|N", "End as a power failure would, after a simulated time, such as 17s, or a number of requests.", WHAT),
    ),
]
RecordFile = Annotated[
    Path_ | None,
    Option(
        "a `.csv` file for the requests as a trace. Replayed on the same device under the same scheme, they have the same response times.",
        Shell("--record FILE.csv", "Write the requests as a trace, which can be replayed under other schemes.", "Results", "file"),
        check="path",
    ),
]
Requests = Annotated[
    int | None,
    Option(
        "stop after this many requests; by default the whole trace, or 100,000 generated requests.",
        Shell(
            "--requests N",
            "Stop after N requests, such as 5000, 20k or 2M (default: the whole trace, or 100,000 generated ones).",
            WHAT,
            "count",
        ),
    ),
]
WarmUp = Annotated[
    str | int | None,
    Option(
        'the warm-up, simulated but left out of the statistics: a number of requests, or a time such as `"17s"` or '
        '`"500ms"`. `result.warm_up` describes it; `series` and the request log cover the whole run.',
        Shell("--warm-up TIME|N", "Warm-up, left out of the statistics: a time, such as 17s or 500ms, or a number of requests.", WHAT),
    ),
]
Seed = Annotated[
    int,
    Option("seed of all random streams.", Shell("--seed N", "Seed of all random streams.", WHAT, "seed"), default=DEFAULT_SEED),
]
Settings = Annotated[
    Set | None,
    Option(
        'single keys, such as `{"gc.soft": 0.1, "gc.scope": "none"}`.',
        Shell("--set KEY=VALUE", "Set one configuration key; may be repeated.", WHAT, "texts", complete="key"),
    ),
]
State = Annotated[
    Path_ | None,
    Option(
        "a device state saved by `precondition`, from which the run starts.",
        Shell("--state FILE", "Start from this device state, saved by `ssdlab precondition`.", WHAT, "file"),
        check="path",
    ),
]
SaveState = Annotated[
    Path_ | None,
    Option(
        "a file for the state of the device after the run, when all jobs and buffered writes have ended: further runs start from it.",
        Shell("--save-state FILE", "Save the state of the device after the run, for --state of further runs.", "Results", "file"),
    ),
]
Verify = Annotated[
    Verified,
    Option(
        '`"end"` checks all invariants after the run, `"every"` after every event (for small devices).',
        Shell("--verify", "Check all invariants: at the end, or after every event (small devices).", "Checks", "choice"),
        default="off",
    ),
]
AloneToo = Annotated[
    bool,
    Option(
        "with several flows (`workload.flows`), run each alone too, with the same requests: `result.flows[i].alone` and "
        "`result.fairness` have its slowdown by the others.",
        Shell("--alone", "Of several flows, run each alone too: how much the others slow it down.", WHAT, "flag"),
        default=False,
    ),
]
ExpectGc = Annotated[bool, Option(None, Shell("--expect-gc", "Fail if garbage collection never ran.", "Checks", "flag"), default=False)]
VictimChoice = Annotated[
    Victim | None,
    Option(
        'a user-defined victim policy, called once per GC job (`VictimPolicy`): a callable, a class, or a text `"ours.py:Ours"`. It '
        "replaces `gc.victim`.",
        Shell("--victim FILE.py:CLASS", "A victim policy of your own, in place of gc.victim.", WHAT),
    ),
]
EvictionChoice = Annotated[
    Eviction | None,
    Option(
        "a user-defined eviction policy, called once per eviction (`EvictionPolicy`), given as `victim` is. It replaces `cache.policy`, "
        "which must be `lru`.",
        Shell("--eviction FILE.py:CLASS", "An eviction policy of your own, in place of cache.policy = lru.", WHAT),
    ),
]
OrderChoice = Annotated[
    Order | None,
    Option(
        "a user-defined order of operations on a die, called once per decision (`OrderPolicy`), given as `victim` is. It replaces "
        "`scheduler.order` and `gc.priority`.",
        Shell("--order FILE.py:CLASS", "An order of operations of your own, in place of scheduler.order and gc.priority.", WHAT),
    ),
]
PlacementChoice = Annotated[
    Placement | None,
    Option(
        "a user-defined placement policy, called once per page written or moved (`PlacementPolicy`), given as `victim` is. It needs "
        "`ftl.placement = custom`, and its numbers of streams in `ftl.host_streams` and `ftl.move_streams`.",
        Shell("--placement FILE.py:CLASS", "A placement policy of your own, with ftl.placement = custom.", WHAT),
    ),
]
Series = Annotated[
    bool | None,
    Option(
        "record the run over time (`result.series`) and the distribution of response times (`result.histograms`); by default if "
        "`out` is given, for figures drawn later."
    ),
]
LogRequests = Annotated[
    bool,
    Option(
        "keep a row for each request (`result.requests`).",
        Shell("--log-requests", "Write requests.parquet, a row for each request (needs --out).", "Results", "flag"),
        default=False,
    ),
]
SlowestRequests = Annotated[
    int,
    Option(
        "number of the slowest requests that `slowest.json`, in `out`, explains: which operations and GC jobs each waited for. 0: none.",
        Shell("--slowest N", "Keep the reasons of the N slowest requests, for `ssdlab why` (needs --out; 0: none).", "Results", "count"),
        default=10,
    ),
]
TimelineFile = Annotated[
    Path_ | None,
    Option(
        "a file for a timeline that the Perfetto viewer opens, `.json` or `.json.gz`; `result.timeline` describes it. `run` "
        "also takes `.html`, a page that opens without a network.",
        Shell(
            "--timeline FILE",
            "Write a timeline: .json or .json.gz for the Perfetto viewer; of run also .html, a page.",
            "Timelines",
            "file",
        ),
    ),
]
BlocksToo = Annotated[
    bool,
    Option(
        "record the states of all blocks over time in `blocks.parquet` below `out`; `result.blocks` describes it.",
        Shell("--blocks", "Write blocks.parquet, the states of all blocks over time (needs --out).", "Timelines", "flag"),
        default=False,
    ),
]
Timelines = Annotated[
    bool,
    Option(
        "write a timeline for each variant or scheme, `timeline.json.gz` in its folder below `out`.",
        Shell("--timelines", "Write timeline.json.gz, for the Perfetto viewer, for each variant (needs --out).", "Timelines", "flag"),
        default=False,
    ),
]
TimelineWindow = Annotated[
    Window | None,
    Option(
        "show only this part of the run, `(start_us, end_us)`; `None` for its beginning or its end.",
        Shell("--timeline-window START:END", "Show only this part of the run, in us; START or END may be left out.", "Timelines"),
    ),
]
TimelineLimit = Annotated[
    int | None,
    Option(
        "limit of the timeline's slices, 200,000 by default; the timeline ends when it is reached.",
        Shell("--timeline-limit N", "Limit of a timeline's slices; it ends when it has N (default: 200,000).", "Timelines", "count"),
    ),
]
FioJson = Annotated[
    Path_ | None,
    Option(
        'a file for the result in the JSON form of fio, for scripts around fio; `"-"` is standard output. It needs `fio`.',
        Shell("--fio-json FILE", "Write the result in the JSON form of fio; - is standard output.", "Results", "file"),
    ),
]
Paired = Annotated[
    bool,
    Option(
        "compare request by request with the first variant or scheme as well; the result's `paired` has how many gained and lost.",
        Shell(
            "--paired",
            "Also compare request by request with the first one: how many are faster, slower, unchanged.",
            "Results",
            "flag",
        ),
        default=False,
    ),
]
Seeds = Annotated[
    int,
    Option(
        "run every variant or scheme under this many seeds, from `seed` on. The comparison is then of the first seed, and its `seeds` has "
        "the means over all, the differences from the first variant, and their intervals. Series, timelines and `paired` are of the first "
        "seed only.",
        Shell(
            "--seeds N", "Run every variant under N seeds, from --seed on: means, differences and their 95 % intervals.", WHAT, "positive"
        ),
        default=1,
    ),
]
Out = Annotated[
    Path_ | None,
    Option(
        "a folder for `result.json` and, if asked for, `requests.parquet`.",
        Shell("--out DIR", "Folder for the results, and for report.html, a page with tables and figures.", "Results", "folder"),
    ),
]
Jobs = Annotated[
    int | None,
    Option(
        "maximum number of runs at once (default: one per processor). It does not change any result.",
        Shell("--jobs N", "Runs at once (default: as many as processors).", "Options", "positive"),
    ),
]
Port = Annotated[
    int,
    Option(
        "port of the page's address on this machine; 0: one that is free.",
        Shell("--port N", "Port of the page's address (default: one that is free).", "Options", "count"),
        default=0,
    ),
]
Sample = Annotated[
    int,
    Option(
        "number of requests that are run first after each change, before the whole run.",
        Shell("--sample N", "Requests that are run first after each change, before the whole run.", WHAT, "count"),
        default=5000,
    ),
]
OpenBrowser = Annotated[
    bool, Option("whether to open the page in a browser.", Shell("--open", "Open the page in a browser.", "Options", "flag"), default=False)
]
Json = Annotated[
    bool, Option(None, Shell("--json", "Print one JSON object on standard output, and nothing else.", "Results", "flag"), default=False)
]
Quiet = Annotated[bool, Option(None, Shell("--quiet -q", "No progress bar, no tables.", "Options", "flag"), default=False)]


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


class StartOptions(TypedDict, total=False):
    """Further options of every run."""

    config: Config
    seed: Seed


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


class SetupOptions(InputOptions, CheckedOptions, PolicyOptions, total=False):
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


class SweepOptions(InputOptions, CheckedOptions, PolicyOptions, total=False):
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
