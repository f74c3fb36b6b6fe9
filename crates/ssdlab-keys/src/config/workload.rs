//! The requests: generated or from a trace, by flow.

use super::Exported;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Requests: generated, or read from a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Workload {
    /// Generated: mean request size, KiB.
    #[schemars(range(min = 0.5, max = 1048576.0))]
    pub request_kb: f64,
    /// Generated: distribution of request sizes. Sizes are whole sectors of 512 bytes, at least one and at most the footprint.
    pub request_size: SizeDistribution,
    /// Generated, for `request_size = "table"`: pairs of size in KiB (0.5 to 1048576) and relative weight (from 0).
    pub size_table: Vec<(f64, f64)>,
    /// Generated: mean time between arrivals, us.
    #[schemars(range(min = 0.0, max = 1000000000.0))]
    pub interarrival_us: f64,
    /// Generated: distribution of arrivals.
    pub arrival: Arrival,
    /// Generated, for `arrival = "burst"`: number of requests of a burst, which arrive together. The time between bursts keeps the mean
    /// `interarrival_us`.
    #[schemars(range(min = 1, max = 1000000))]
    pub burst_length: u32,
    /// Generated: probability that a request is a read.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub read_share: f64,
    /// Generated: probability that a request starts where the previous request of its flow ended (lee2013, footnote 2), or at the start of
    /// the footprint if it does not fit there.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub sequential_share: f64,
    /// Generated: share of the requests other than reads that are trims instead of writes.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub trim_share: f64,
    /// Generated: each write follows a trim of the same bytes (fio's `trimwrite`). `total_bytes` counts the bytes of both once.
    pub trim_first: bool,
    /// Generated: share of writes marked as high priority.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub high_priority_share: f64,
    /// Placement handle of the requests (`ftl.placement = "handles"`), from 0; of a trace, of those that name none. Absent: none, so that
    /// `ftl.default_handle` holds.
    #[schemars(range(min = 0, max = 7))]
    pub handle: Option<u8>,
    /// Placement handles by address, of a trace for requests that name none: pairs of the end of a range (a share of what the flow may
    /// address) and the handle of requests that begin in it. A range begins where the one before it ends, the first at 0; behind the last,
    /// `handle` holds.
    pub handle_ranges: Vec<(f64, u8)>,
    /// Generated: distribution of addresses over the footprint.
    pub address: Address,
    /// Generated, for `address = "hot-cold"`: share of the footprint that is hot: from its start, or scattered (`hot_scattered`).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub hot_share: f64,
    /// Generated, for `address = "hot-cold"`: share of the random requests that go to the hot part.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub hot_access: f64,
    /// Generated, for `address = "hot-cold"`: the hot part is scattered over the footprint at random, as popular addresses are with
    /// `address = "zipf"`, instead of lying at its start. It consists of pieces of `align_kb`, where hot requests begin; a longer request
    /// continues into the addresses behind, hot or cold. Each flow has hot pieces of its own.
    pub hot_scattered: bool,
    /// Generated, for `address = "permutation"`: every pass has the order of the first (fio with `loops`, or with `io_size` above `size`),
    /// instead of an order of its own (fio with `time_based` and `randrepeat=0`).
    pub permutation_repeats: bool,
    /// Generated, for `address = "zipf"`: exponent of Zipf's law.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub zipf_exponent: f64,
    /// Generated, for `address = "pareto"`: the share h of the addresses that gets the share 1 - h of the requests (fio's
    /// `random_distribution=pareto:h`).
    #[schemars(range(min = 0.0001, max = 0.9999))]
    pub pareto_h: f64,
    /// Generated, for `address = "zipf"` or `"pareto"`: ranks are drawn and placed as fio does (`lib/zipf.c`): Zipf's law by an approximation
    /// (not for an exponent of 1), and each rank at the remainder of a product, so that several ranks may share an address, and some
    /// addresses have none.
    pub fio_draws: bool,
    /// Generated, for `address = "normal"`: width of a uniform offset that is added to each address, as a share of the footprint (fio's
    /// `random_distribution=normal:100 x width`).
    #[schemars(range(min = 0.0, max = 0.5))]
    pub normal_width: f64,
    /// Generated, for `address = "zones"`: pairs of relative weights, of the random requests that go to a zone and of its size; the zones
    /// follow each other from the start of the footprint to its end.
    pub zones: Vec<(f64, f64)>,
    /// Generated: share of the exported range, from its start, that is accessed.
    #[schemars(range(min = 0.000001, max = 1.0))]
    pub footprint: f64,
    /// Generated: addresses of random requests are multiples of this, KiB; itself a multiple of 0.5.
    #[schemars(range(min = 0.5, max = 1048576.0))]
    pub align_kb: f64,
    /// Generated: random requests of at least this size begin at multiples of it, KiB; itself a multiple of 0.5. 0: no such rule.
    #[schemars(range(min = 0.0, max = 1048576.0))]
    pub align_large_kb: f64,
    /// Further flows, each a table. One without a `name` is a part of this workload: it may have the keys whose description begins with
    /// `Generated`, `handle` and `handle_ranges`; keys not given have the value of this flow, and the requests are merged by arrival time.
    /// One with a `name` is a flow of its own, reported separately: it may have any key of this section except `max_outstanding` and
    /// `only`, keys not given have their defaults, and `preset` names a workload to begin with.
    pub flows: Vec<Map<String, Value>>,
    /// Name of this flow, if there are further flows with a name. Absent: `main`.
    pub name: Option<String>,
    /// Queue of the host that takes the requests of this flow, from 0. Absent: its number among the flows with a name (the first flow is
    /// 0), modulo `host.queues`.
    #[schemars(range(min = 0, max = 1023))]
    pub queue: Option<u32>,
    /// The namespace that this flow uses (`ftl.namespaces`), from 0: its `part` is of this namespace. Absent: of the whole exported range.
    pub namespace: Option<u32>,
    /// The part of the exported range, or of the flow's namespace, that this flow uses: its start and its end, as shares of the range (rounded
    /// down to 64 KiB). Addresses, footprints and the exported range of the flow's other keys refer to this part.
    pub part: (f64, f64),
    /// Start of this flow, seconds after the start of the run (or after the flow that `start_after` names): its requests arrive that much
    /// later, and a closed loop sends none before.
    #[schemars(range(min = 0.0, max = 1000000000.0))]
    pub start_s: f64,
    /// Name of the flow after which this one starts: when the last request of that flow, a trace in open loop, arrives. Absent: at the
    /// start of the run.
    pub start_after: Option<String>,
    /// Stage of this flow: it starts when all requests of the flows of lower stages have completed. All flows must be closed loops.
    #[schemars(range(min = 0, max = 65535))]
    pub stage: u32,
    /// End of this flow, if it is generated: the request that brings its bytes to at least this many. 0: no such end.
    pub total_bytes: u64,
    /// How long this flow, if it is generated, sends requests, seconds from its start. 0: no such end.
    #[schemars(range(min = 0.0, max = 1000000000.0))]
    pub run_s: f64,
    /// A closed loop sends no request before its arrival time, counted from its first request: a limit of the rate.
    pub paced: bool,
    /// A closed loop waits this long after each `think_requests` requests, from the instant at which all of them have completed, us. 0: no
    /// wait.
    #[schemars(range(min = 0.0, max = 1000000000.0))]
    pub think_us: f64,
    /// For `think_us`: number of requests from one wait to the next.
    #[schemars(range(min = 1, max = 1000000000))]
    pub think_requests: u32,
    /// A flush follows each N writes of this flow, if it is generated, before its next request (fio's `fsync=N`). 0: none.
    #[schemars(range(min = 0, max = 1000000000))]
    pub flush_every: u32,
    /// A closed loop sends a flush when it has ended and all of its requests have completed (fio's `end_fsync=1`).
    pub flush_at_end: bool,
    /// Name of the only flow that sends requests, as a reference for how the others slow it down. Absent: all flows send.
    pub only: Option<String>,
    /// Closed loop: number of outstanding requests of this flow. The next is issued when one completes; arrival times are ignored. 0: open
    /// loop by arrival times.
    #[schemars(range(min = 0, max = 65536))]
    pub queue_depth: u32,
    /// Open loop: limit of the outstanding requests. A run that exceeds it ends with an error: the drive is overloaded. An outstanding
    /// request takes about 0.5 KB of memory per page.
    #[schemars(range(min = 1, max = 1000000000))]
    pub max_outstanding: u32,
    /// Trace: file to replay. Absent: requests are generated.
    pub trace: Option<String>,
    /// Trace: format of the file. Absent: detected by content and file name; a file of which neither states the units is refused.
    pub format: Option<TraceFormat>,
    /// Trace, for `disksim`, `ssdsim`, `mqsim`, `nvme` and `csv` without a header: bytes of one unit of address and size. Absent: 512 (4096
    /// for a file whose name has the part `.disksim-pages`), for `csv` 1; `nvme` needs it.
    #[schemars(range(min = 1, max = 1073741824))]
    pub unit_bytes: Option<u64>,
    /// Trace, for formats whose files do not state it: unit of the times. Absent: the unit of the format's definition.
    pub time_unit: Option<TimeUnit>,
    /// Trace, for `blkparse` and `ftrace`: event that counts as a request. Absent: `queue` for `blkparse` and `issue` for `ftrace`, or the
    /// other event if only that is in the beginning of the file.
    pub event: Option<TraceEvent>,
    /// Trace, for `fio-v2`: meaning of the `wait` lines.
    pub fio_wait: FioWait,
    /// Trace (`--volume`): only requests of this volume, named as `trace info` lists it (MSR: `host_disk`, for example `prn_0`). Absent:
    /// all volumes, placed as `volumes` says.
    pub device: Option<String>,
    /// Trace: placement of the addresses of several volumes, if none is chosen.
    pub volumes: Volumes,
    /// Divisor of the times between the arrivals of this flow, generated or from a trace (for a trace rounded to six decimals).
    #[schemars(range(min = 0.000001, max = 1000000.0))]
    pub time_scale: f64,
    /// Trace: treatment of addresses beyond the exported range.
    pub range: RangePolicy,
    /// Trace: number of unreadable lines that are skipped and counted; one more is an error.
    #[schemars(range(min = 0, max = 1000000000000_u64))]
    pub bad_lines: u64,
    /// Trace: treatment of arrival times that go back.
    pub time_order: TimeOrder,
    /// Trace (`--skip`): number of requests (of the chosen volume) skipped at the start.
    #[schemars(range(min = 0, max = 1000000000000_u64))]
    pub skip: u64,
    /// Trace: only this many requests at the end; `skip` counts from the first of these. 0: all. The whole trace is read first.
    #[schemars(range(min = 0, max = 1000000000000_u64))]
    pub last: u64,
    /// Trace (`--seconds`): only this many seconds of trace time, from the first request that flows of this file take (in the log of a run:
    /// from time 0 of that run, unless `skip` or `last` is given). 0: all.
    #[schemars(range(min = 0.0, max = 1000000000.0))]
    pub limit_s: f64,
    /// Trace: number of times that it is replayed. The next pass begins one mean time between requests after the last request, or where
    /// `limit_s` ends the trace.
    #[schemars(range(min = 1, max = 1000000000))]
    pub repeat: u32,
}

impl Default for Workload {
    fn default() -> Self {
        Workload {
            request_kb: 4.0,
            request_size: SizeDistribution::Fixed,
            size_table: Vec::new(),
            interarrival_us: 1000.0,
            arrival: Arrival::Exponential,
            burst_length: 8,
            read_share: 0.5,
            trim_share: 0.0,
            trim_first: false,
            sequential_share: 0.0,
            high_priority_share: 0.0,
            handle: None,
            handle_ranges: Vec::new(),
            address: Address::Uniform,
            hot_share: 0.2,
            hot_access: 0.8,
            hot_scattered: false,
            permutation_repeats: false,
            zipf_exponent: 1.0,
            pareto_h: 0.2,
            fio_draws: false,
            normal_width: 0.0,
            zones: Vec::new(),
            footprint: 1.0,
            align_kb: 4.0,
            align_large_kb: 0.0,
            flows: Vec::new(),
            name: None,
            queue: None,
            namespace: None,
            part: (0.0, 1.0),
            start_s: 0.0,
            start_after: None,
            stage: 0,
            total_bytes: 0,
            run_s: 0.0,
            paced: false,
            think_us: 0.0,
            think_requests: 1,
            flush_every: 0,
            flush_at_end: false,
            only: None,
            queue_depth: 0,
            max_outstanding: 10_000_000,
            trace: None,
            format: None,
            unit_bytes: None,
            time_unit: None,
            event: None,
            fio_wait: FioWait::Program,
            device: None,
            volumes: Volumes::Overlaid,
            time_scale: 1.0,
            range: RangePolicy::Error,
            bad_lines: 0,
            time_order: TimeOrder::Error,
            skip: 0,
            last: 0,
            limit_s: 0.0,
            repeat: 1,
        }
    }
}

/// Name of the first flow, if it has none of its own.
const FIRST: &str = "main";
/// Alignment of the parts of the exported range (`part`), bytes.
const PART_BYTES: u64 = 64 * 1024;

/// A flow that is reported separately: with its own generator or trace, queue, load and part of the addresses.
#[derive(Clone, Debug, PartialEq)]
pub struct SeparateFlow {
    /// Name of the flow.
    pub name: String,
    /// Path of the flow's keys, for messages: `workload` or `workload.flows[1]`.
    pub path: String,
    /// Number of the flow among all flows, with and without a name, for its random streams.
    pub stream: usize,
    /// Keys of the flow. Its `flows` without a name are parts of it.
    pub workload: Workload,
}

impl SeparateFlow {
    /// The flow's part of the exported range, bytes: its first byte, and its length; 0 for a namespace that there is not.
    pub fn range(&self, exported: &Exported) -> (u64, u64) {
        let of_namespace = |number: u32| exported.namespaces.get(number as usize).copied().unwrap_or_default();
        let (begin, bytes) = self.workload.namespace.map_or((0, exported.bytes), of_namespace);
        let (from, to) = self.workload.part;
        let at = |share: f64| if share >= 1.0 { bytes } else { (bytes as f64 * share) as u64 / PART_BYTES * PART_BYTES };
        (begin + at(from), at(to).saturating_sub(at(from)))
    }
}

impl Workload {
    /// Some further flow has a name, so that flows are reported separately.
    pub fn has_separate_flows(&self) -> bool {
        self.flows.iter().any(is_separate)
    }

    /// The requests of this flow are generated and end (`total_bytes`, `run_s`).
    pub fn is_bounded(&self) -> bool {
        self.trace.is_none() && (self.total_bytes > 0 || self.run_s > 0.0)
    }

    /// This workload without the ends of its generated flows (`total_bytes`, `run_s`), for a preparation that goes on until write amplification has
    /// settled. A workload whose named flows start or end at different times is returned unchanged: without its end a short flow would send more
    /// of the requests than it does in a run.
    #[must_use]
    pub fn without_ends(&self) -> Workload {
        let runs_on = |flow: &Map<String, Value>| {
            let given = |key: &str| flow.get(key).is_some_and(|value| !value.is_null() && value.as_f64() != Some(0.0));
            let run_s = flow.get("run_s").and_then(Value::as_f64).unwrap_or(0.0);
            run_s == self.run_s && !["total_bytes", "start_s", "start_after", "stage", "preset"].iter().any(|key| given(key))
        };
        let late = self.total_bytes > 0 || self.start_s > 0.0 || !self.flows.iter().filter(|flow| is_separate(flow)).all(runs_on);
        if self.has_separate_flows() && late {
            return self.clone();
        }
        let mut endless = Workload { total_bytes: 0, run_s: 0.0, ..self.clone() };
        for flow in &mut endless.flows {
            flow.remove("run_s");
        }
        endless
    }

    /// Some flow reads a trace.
    pub fn reads_traces(&self) -> bool {
        self.trace.is_some() || self.flows.iter().any(|flow| flow.get("trace").is_some_and(|trace| !trace.is_null()))
    }

    /// The flows that are reported separately, in order: the first flow with its unnamed parts, then the flows with a name.
    ///
    /// # Errors
    /// A message with the path of a flow whose keys cannot be read.
    pub fn separate_flows(&self) -> Result<Vec<SeparateFlow>, String> {
        let name = self.name.clone().unwrap_or(FIRST.into());
        let first = SeparateFlow { name, path: "workload".into(), stream: 0, workload: self.clone() };
        let named = self.flows.iter().enumerate().filter(|(_, keys)| is_separate(keys)).map(|(index, keys)| {
            let path = format!("workload.flows[{index}]");
            let read = serde_json::from_value(Value::Object(keys.clone()));
            let workload: Workload = read.map_err(|error| format!("{path}: {error}"))?;
            let name = workload.name.clone().unwrap_or_default();
            Ok(SeparateFlow { name, path, stream: index + 1, workload })
        });
        std::iter::once(Ok(first)).chain(named).collect()
    }

    /// The flows without a name, which are parts of this one, with their positions in the list.
    pub fn parts(&self) -> impl Iterator<Item = (usize, &Map<String, Value>)> {
        self.flows.iter().enumerate().filter(|(_, keys)| !is_separate(keys))
    }

    /// The queue of the host for each separate flow, below `queues`; empty if keys of a flow cannot be read.
    pub fn queues_of_flows(&self, queues: u32) -> Vec<u16> {
        let flows = self.separate_flows().unwrap_or_default();
        flows.iter().zip(0..).map(|(flow, number)| flow.workload.queue.unwrap_or(number % queues) as u16).collect()
    }
}

/// The flow has a name, and is reported separately.
fn is_separate(keys: &Map<String, Value>) -> bool {
    keys.contains_key("name")
}

/// Distribution of generated request sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizeDistribution {
    /// All sizes are `request_kb`.
    Fixed,
    /// Sizes are exponentially distributed with mean `request_kb`.
    Exponential,
    /// Sizes are drawn from `size_table`.
    Table,
}

/// Distribution of generated arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrival {
    /// Exponential times between arrivals (a Poisson process).
    Exponential,
    /// Equal times between arrivals.
    Fixed,
    /// Bursts of `burst_length` requests; the bursts are a Poisson process.
    Burst,
}

/// Distribution of generated addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Address {
    /// Aligned addresses in the footprint at which the request fits, all equally likely.
    Uniform,
    /// A hot part and a cold part of the footprint, uniform within each.
    HotCold,
    /// Popularity of aligned addresses by Zipf's law, scattered over the footprint.
    Zipf,
    /// Popularity of aligned addresses by a Pareto distribution, scattered over the footprint.
    Pareto,
    /// Parts of the footprint, each with a share of the requests, uniform within each.
    Zones,
    /// The start of the footprint: with `sequential_share = 1`, the flow begins there (fio's `rw=read`, `write`).
    Start,
    /// The mean of twelve uniform draws, scattered over the footprint as fio does (`lib/gauss.c`).
    Normal,
    /// Each aligned address of the footprint once a pass, in a random order (fio's random map). Passes follow each other.
    Permutation,
}

/// The trace formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TraceFormat {
    /// MSR Cambridge CSV: Windows ticks of 100 ns, host, disk, type, offset and size in bytes, response.
    Msr,
    /// MSR Cambridge, reduced to time, type, offset, size.
    MsrReduced,
    /// SPC (UMass): ASU, LBA, size in bytes, opcode, seconds.
    Spc,
    /// DiskSim ASCII: milliseconds, device, block, size in blocks, flags (1 = read).
    Disksim,
    /// SSDSim ASCII: nanoseconds, device, sector, sectors, 1 = read.
    Ssdsim,
    /// MQSim ASCII: nanoseconds, device, sector, sectors, 1 = read.
    Mqsim,
    /// blkparse text output.
    Blkparse,
    /// fio iolog version 2.
    FioV2,
    /// fio iolog version 3.
    FioV3,
    /// SNIA SYSTOR '17 CSV.
    Systor,
    /// Alibaba block traces CSV.
    Alibaba,
    /// Tencent block storage CSV.
    Tencent,
    /// FIU (IODedup): nanoseconds, process, sector, sectors, R or W, device, digests.
    Fiu,
    /// DiskMon (Sysinternals) log: number, seconds, duration, disk, Read or Write, sector, sectors.
    Diskmon,
    /// VMware vscsiStats text: serial number, bytes, elements, read or write, sector, microseconds.
    VscsiText,
    /// VMware vscsiStats records, version 1 or 2, as CloudPhysics published them.
    Vscsi,
    /// CloudPhysics CSV: version, seconds, SCSI operation code, size in bytes, sector.
    Cloudphysics,
    /// Linux block events as ftrace, `trace-cmd report` and `perf script` print them (`block_rq_issue`, `block_bio_queue`).
    Ftrace,
    /// Linux NVMe commands as ftrace prints them (`nvme_setup_cmd`); needs `unit_bytes`.
    Nvme,
    /// biosnoop (BCC, libbpf-tools), with its header.
    Biosnoop,
    /// io-tracer (cacheMon), block device traces: date and time, process, command, sector, operation, bytes, latency in ms.
    IoTracer,
    /// Open CAS iotrace: one JSON object a line.
    Iotrace,
    /// MiDAS: seconds, type (0 = read, 1 = write, 3 = trim), page of 4096 bytes, size in bytes, and perhaps a stream, which is a handle.
    Midas,
    /// ssdlab CSV: `timestamp_us,op,offset_bytes,size_bytes` and optional further columns.
    Csv,
    /// ssdlab Parquet: the request log of a run, or a converted trace.
    Parquet,
}

/// Placement of the volumes of a trace in the address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Volumes {
    /// All volumes begin at address 0.
    Overlaid,
    /// The volumes follow each other in order of appearance, each at a multiple of 2^20 bytes. The whole trace is read first.
    Concatenated,
}

/// The unit of the times in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeUnit {
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Windows ticks of 100 ns.
    Ticks,
    /// Nanoseconds.
    Ns,
}

impl TimeUnit {
    /// All units of time, the longest first.
    pub const ALL: [TimeUnit; 5] = [TimeUnit::S, TimeUnit::Ms, TimeUnit::Us, TimeUnit::Ticks, TimeUnit::Ns];

    /// Name of the unit in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            TimeUnit::S => "s",
            TimeUnit::Ms => "ms",
            TimeUnit::Us => "us",
            TimeUnit::Ticks => "ticks",
            TimeUnit::Ns => "ns",
        }
    }

    /// Exponent of the unit: it has 10^places nanoseconds.
    #[must_use]
    pub fn places(self) -> u32 {
        match self {
            TimeUnit::S => 9,
            TimeUnit::Ms => 6,
            TimeUnit::Us => 3,
            TimeUnit::Ticks => 2,
            TimeUnit::Ns => 0,
        }
    }

    /// Words for a time in this unit, for error messages.
    #[must_use]
    pub fn expected(self) -> &'static str {
        match self {
            TimeUnit::S => "a time in seconds",
            TimeUnit::Ms => "a time in ms",
            TimeUnit::Us => "a time in us",
            TimeUnit::Ticks => "a time in ticks of 100 ns",
            TimeUnit::Ns => "a time in ns",
        }
    }
}

/// The event of a kernel trace that counts as a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TraceEvent {
    /// A request enters the block layer, before merging (action Q of blkparse, `block_bio_queue` of ftrace).
    Queue,
    /// A request is issued to the driver, after merging (action D of blkparse, `block_rq_issue` of ftrace).
    Issue,
}

/// The meaning of `wait` lines in fio's log of version 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FioWait {
    /// As fio replays its log: wait until that many milliseconds after the start (`iolog.c`, `read_iolog_get`).
    Program,
    /// As fio's manual has it: wait for that many microseconds after the previous `wait`.
    Manual,
}

/// Treatment of addresses beyond the exported range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RangePolicy {
    /// The first address beyond the range is an error.
    Error,
    /// Addresses wrap around (modulo the exported size) and are counted.
    Wrap,
    /// The part of a request beyond the range is cut off, and a request wholly beyond it is dropped; both are counted.
    Clip,
    /// The MiB in use are renumbered without gaps, in the order of their first use.
    Compact,
}

/// Treatment of arrival times that go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeOrder {
    /// The first time that goes back is an error.
    Error,
    /// The request arrives at the time of the previous request, and is counted.
    Clamp,
    /// The whole trace is first read into memory and sorted by time (stable).
    Sort,
}
