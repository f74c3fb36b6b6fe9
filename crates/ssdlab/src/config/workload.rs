//! The requests: what a generator draws or a trace gives, by flow.

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
    /// Generated, for `arrival = "burst"`: requests of a burst, which arrive together. The time between bursts keeps the mean
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
    /// Generated: share of writes marked as high priority.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub high_priority_share: f64,
    /// Generated: distribution of addresses over the footprint.
    pub address: Address,
    /// Generated, for `address = "hot-cold"`: share of the footprint that is hot: from its start, or scattered (`hot_scattered`).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub hot_share: f64,
    /// Generated, for `address = "hot-cold"`: share of the random requests that go to the hot part.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub hot_access: f64,
    /// Generated, for `address = "hot-cold"`: the hot part is scattered over the footprint at random, as popular addresses are with
    /// `address = "zipf"`, instead of lying at its start. It consists of pieces of `align_kb`, where hot requests begin; a longer request goes
    /// on into what follows, hot or cold. Each flow has hot pieces of its own.
    pub hot_scattered: bool,
    /// Generated, for `address = "zipf"`: the exponent.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub zipf_exponent: f64,
    /// Generated: share of the exported range, from its start, that is accessed.
    #[schemars(range(min = 0.000001, max = 1.0))]
    pub footprint: f64,
    /// Generated: addresses of random requests are multiples of this, KiB; itself a multiple of 0.5.
    #[schemars(range(min = 0.5, max = 1048576.0))]
    pub align_kb: f64,
    /// Generated: random requests of at least this size begin at multiples of it, KiB; itself a multiple of 0.5. 0: as all others.
    #[schemars(range(min = 0.0, max = 1048576.0))]
    pub align_large_kb: f64,
    /// Further flows, each a table. One without a `name` is a part of this workload: it has the `Generated` keys above, those not given have
    /// the value of this flow, and the requests are merged by arrival time. One with a `name` is a flow of its own, reported apart: it has any
    /// key of this section but `max_outstanding` and `only`, those not given have their defaults, and `preset` names a workload to begin with.
    pub flows: Vec<Map<String, Value>>,
    /// The name of this flow, where there are others with a name. Absent: `main`.
    pub name: Option<String>,
    /// The queue of the host that takes the requests of this flow, from 0. Absent: its number among the flows with a name (this one is 0), modulo
    /// `host.queues`.
    #[schemars(range(min = 0, max = 1023))]
    pub queue: Option<u32>,
    /// The part of the exported range that this flow uses, from its beginning: where it starts and where it ends, as shares of the range (in
    /// whole 64 KiB). All that is said of addresses, footprints and the exported range then means this part.
    pub part: (f64, f64),
    /// When the time of this flow begins, seconds after the start of the run (or after the flow that `start_after` names): its requests arrive
    /// that much later, and a closed loop sends none before.
    #[schemars(range(min = 0.0, max = 1000000000.0))]
    pub start_s: f64,
    /// The name of the flow that this one follows: its time begins when the last request of that flow, a trace in open loop, arrives. Absent:
    /// at the start of the run.
    pub start_after: Option<String>,
    /// Only the flow of this name sends requests, as a reference for how the others slow it down. Absent: all do.
    pub only: Option<String>,
    /// Closed loop: number of outstanding requests. The next is issued when one completes; arrival times are ignored. 0: open loop by
    /// arrival times.
    #[schemars(range(min = 0, max = 65536))]
    pub queue_depth: u32,
    /// Open loop: limit of outstanding requests. A run that exceeds it ends with an error: the drive is overloaded. An outstanding request
    /// takes about 0.5 KB of memory per page.
    #[schemars(range(min = 1, max = 1000000000))]
    pub max_outstanding: u32,
    /// Trace: the file to replay. Absent: generate.
    pub trace: Option<String>,
    /// Trace: its format. Absent: detected by content and file name, where these state it; a file that does not state its units is refused.
    pub format: Option<TraceFormat>,
    /// Trace, for `disksim`, `ssdsim`, `mqsim`, `nvme` and `csv` without a header: bytes of one unit of address and size. Absent: 512 (or 4096
    /// for a file whose name contains `.disksim-pages.`), for `csv` 1; `nvme` needs it.
    #[schemars(range(min = 1, max = 1073741824))]
    pub unit_bytes: Option<u64>,
    /// Trace, for formats whose file does not state it: the unit of its times. Absent: the unit of the format's definition.
    pub time_unit: Option<TimeUnit>,
    /// Trace, for `blkparse` and `ftrace`: the event that is a request. Absent: for `blkparse`, `queue` where the beginning of the file has
    /// such events; for `ftrace`, `issue` where it has those; else the other one.
    pub event: Option<TraceEvent>,
    /// Trace, for `fio-v2`: the meaning of its `wait` lines.
    pub fio_wait: FioWait,
    /// Trace (`--volume`): only requests of this volume, named as `trace info` lists it (MSR: `host_disk`, for example `prn_0`). Absent:
    /// all volumes, placed as `volumes` says.
    pub device: Option<String>,
    /// Trace: how the addresses of several volumes are placed, if none is chosen.
    pub volumes: Volumes,
    /// Times between arrivals are divided by this, for traces and all generated flows. Six decimals count.
    #[schemars(range(min = 0.000001, max = 1000000.0))]
    pub time_scale: f64,
    /// Trace: treatment of addresses beyond the exported range.
    pub range: RangePolicy,
    /// Trace: number of unreadable lines that are skipped and counted; one more is an error.
    #[schemars(range(min = 0, max = 1000000000000_u64))]
    pub bad_lines: u64,
    /// Trace: treatment of arrival times that go back.
    pub time_order: TimeOrder,
    /// Trace (`--skip`): number of requests (of the chosen volume) skipped at its start.
    #[schemars(range(min = 0, max = 1000000000000_u64))]
    pub skip: u64,
    /// Trace: only this many requests at its end; `skip` counts from the first of these. 0: all. The whole trace is read first.
    #[schemars(range(min = 0, max = 1000000000000_u64))]
    pub last: u64,
    /// Trace (`--seconds`): only this many seconds of trace time, from the first request that flows of this file take. 0: all.
    #[schemars(range(min = 0.0, max = 1000000000.0))]
    pub limit_s: f64,
    /// Trace: how many times it is replayed. The next pass begins one mean time between requests after the last request, or where `limit_s`
    /// ends the trace.
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
            sequential_share: 0.0,
            high_priority_share: 0.0,
            address: Address::Uniform,
            hot_share: 0.2,
            hot_access: 0.8,
            hot_scattered: false,
            zipf_exponent: 1.0,
            footprint: 1.0,
            align_kb: 4.0,
            align_large_kb: 0.0,
            flows: Vec::new(),
            name: None,
            queue: None,
            part: (0.0, 1.0),
            start_s: 0.0,
            start_after: None,
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

/// The name of the first flow, where it has none.
const FIRST: &str = "main";
/// Parts of the exported range begin and end at multiples of this, bytes.
const PART_BYTES: u64 = 64 * 1024;

/// A flow that is reported apart: with its own generator or trace, queue, load and part of the addresses.
#[derive(Clone, Debug, PartialEq)]
pub struct SeparateFlow {
    /// Its name.
    pub name: String,
    /// Where its keys are, for messages: `workload` or `workload.flows[1]`.
    pub path: String,
    /// Its number among the flows with and without a name, by which its random streams are known.
    pub stream: usize,
    /// Its keys. Its own further flows are parts of it.
    pub workload: Workload,
}

impl SeparateFlow {
    /// The bytes of its part of `exported_bytes`: the first, and how many.
    pub fn range(&self, exported_bytes: u64) -> (u64, u64) {
        let (from, to) = self.workload.part;
        let at = |share: f64| {
            if share >= 1.0 { exported_bytes } else { (exported_bytes as f64 * share) as u64 / PART_BYTES * PART_BYTES }
        };
        (at(from), at(to).saturating_sub(at(from)))
    }
}

impl Workload {
    /// Some flow has a name, so that flows are reported apart.
    pub fn has_separate_flows(&self) -> bool {
        self.flows.iter().any(is_separate)
    }

    /// A trace is among the inputs.
    pub fn reads_traces(&self) -> bool {
        self.trace.is_some() || self.flows.iter().any(|flow| flow.get("trace").is_some_and(|trace| !trace.is_null()))
    }

    /// The flows that are reported apart, in order: this one with its unnamed parts, then those with a name.
    ///
    /// # Errors
    /// A sentence for keys of a flow that cannot be read, with the flow.
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

    /// The flows without a name, which are parts of this one, with their places in the list.
    pub fn parts(&self) -> impl Iterator<Item = (usize, &Map<String, Value>)> {
        self.flows.iter().enumerate().filter(|(_, keys)| !is_separate(keys))
    }

    /// The queue of the host for each separate flow, of `queues`.
    pub fn queues_of_flows(&self, queues: u32) -> Vec<u16> {
        let flows = self.separate_flows().unwrap_or_default();
        flows.iter().zip(0..).map(|(flow, number)| flow.workload.queue.unwrap_or(number % queues) as u16).collect()
    }
}

/// A flow with a name is a flow of its own.
fn is_separate(keys: &Map<String, Value>) -> bool {
    keys.contains_key("name")
}

/// Distribution of generated request sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizeDistribution {
    /// All sizes are `request_kb`.
    Fixed,
    /// Exponential with mean `request_kb`.
    Exponential,
    /// By `size_table`.
    Table,
}

/// Distribution of generated arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrival {
    /// A Poisson process.
    Exponential,
    /// Evenly spaced.
    Fixed,
    /// Bursts of `burst_length` requests; the bursts are a Poisson process.
    Burst,
}

/// Distribution of generated addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Address {
    /// Uniform over the footprint.
    Uniform,
    /// A hot part and a cold part, uniform within each.
    HotCold,
    /// Zipf-distributed popularity, scattered over the footprint.
    Zipf,
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
    /// ssdlab CSV: `timestamp_us,op,offset_bytes,size_bytes` and optional further columns.
    Csv,
    /// ssdlab Parquet.
    Parquet,
}

/// The places of a trace's volumes in the address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Volumes {
    /// All begin at address 0.
    Overlaid,
    /// One after the other, in order of appearance, each at a multiple of 2^20 bytes. The whole trace is read first.
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

/// The event of a kernel's trace that is taken for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TraceEvent {
    /// A request enters the block layer, before merging (blkparse's action Q, ftrace's `block_bio_queue`).
    Queue,
    /// A request is issued to the driver, after merging (blkparse's action D, ftrace's `block_rq_issue`).
    Issue,
}

/// The meaning of `wait` in fio's log of version 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FioWait {
    /// As fio replays it: until so many milliseconds after the start (`iolog.c`, `read_iolog_get`).
    Program,
    /// As fio's manual states it: so many microseconds after the `wait` before.
    Manual,
}

/// The treatment of addresses beyond the exported range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RangePolicy {
    /// The first one is an error.
    Error,
    /// They wrap around (modulo the exported size) and are counted.
    Wrap,
    /// The part beyond is cut off, and requests wholly beyond are dropped; both are counted.
    Clip,
    /// The MiB in use are renumbered in the order of their first use, without gaps.
    Compact,
}

/// The treatment of arrival times that go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeOrder {
    /// The first one is an error.
    Error,
    /// The request arrives at the time of the previous request; it is counted.
    Clamp,
    /// The whole trace is read into memory and sorted by time (stable) first.
    Sort,
}
