//! Characteristics of a trace, as papers report them.

use std::path::Path;

use serde::Serialize;

use super::input::Compression;
use super::plausible::Evidence;
use super::reading::{Reading, SkippedLines, Units};
use super::source::{Entry, Row, Source};
use super::touched::Touched;
use super::trace::{limit_ns, scale_millionths};
use super::volumes::{Places, note_end};
use ssdlab_base::caller::Caller;
use ssdlab_base::error::{Error, Result};
use ssdlab_base::request::RequestKind;
use ssdlab_base::units::Ns;
use ssdlab_keys::config::TraceFormat;
use ssdlab_keys::remark::Remark;

/// Maximum number of unreadable lines listed; all are counted.
const BAD_LINES_SHOWN: usize = 100;
/// A write at most this long after the previous write is bursty (lee2013 Table VIII), ns.
const BURST_NS: Ns = 1_500_000;

/// Characteristics of a trace. Undefined ones, such as the mean size of reads without reads, are absent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceInfo {
    /// Format of the trace.
    pub format: TraceFormat,
    /// Units in which the columns were read.
    pub units: Units,
    /// The trace has no header: its columns were assumed to be `timestamp_us,op,offset_bytes,size_bytes`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub without_header: bool,
    /// Compression of the file.
    pub compression: Compression,
    /// Bytes per unit of address and size. Absent if the format or the file fixes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit_bytes: Option<u64>,
    /// Readable requests by kind.
    pub requests: KindCounts,
    /// Lines that hold no request, counted by kind: other kernel events, commands without data.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped_lines: Vec<SkippedLines>,
    /// Unreadable lines.
    pub bad_lines: u64,
    /// The first 100 unreadable lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bad: Vec<BadLine>,
    /// Volumes of the trace, in order of appearance. Without a chosen volume, all other characteristics are over all volumes, and a replay
    /// overlays their addresses (unless `workload.volumes` places them otherwise).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceCount>,
    /// Mean sizes, KiB.
    pub mean_kb: PerKind,
    /// Standard deviations of the sizes (of the whole population), KiB.
    pub std_kb: PerKind,
    /// Reads as a share of reads and writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_share: Option<f64>,
    /// Share of reads and writes that begin where the previous read or write of the same volume ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequential_share: Option<f64>,
    /// Share of writes that arrive within 1.5 ms of the previous write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursty_write_share: Option<f64>,
    /// Time from the earliest to the latest request, s.
    pub span_s: f64,
    /// Requests a second over the span.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrival_rate_per_s: Option<f64>,
    /// Highest end of a request: the trace fits a drive that exports this many bytes.
    pub max_end_bytes: u64,
    /// Bytes of the distinct units of 4 KiB that reads and writes touch, those of each volume apart.
    pub touched_bytes: u64,
    /// The trace touches more than `touched_bytes`: its addresses are spread over more than 8 TiB. Absent where that number is exact.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub touched_is_lower_bound: bool,
    /// End of the last volume if volumes are placed one after the other (`workload.volumes = "concatenated"`), over the whole trace. Absent
    /// for a single volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concatenated_end_bytes: Option<u64>,
    /// Requests that arrive before the previous request.
    pub time_goes_back: u64,
    /// Remarks for the user on the trace, such as implausible times or sizes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
}

/// Number of requests by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KindCounts {
    /// Number of reads.
    pub read: u64,
    /// Number of writes.
    pub write: u64,
    /// Number of trims.
    pub trim: u64,
    /// Number of flushes.
    pub flush: u64,
    /// Number of commands that manage zones.
    #[serde(skip_serializing_if = "is_zero")]
    pub zone: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl KindCounts {
    /// Number of requests of all kinds.
    pub fn total(&self) -> u64 {
        self.read + self.write + self.trim + self.flush + self.zone
    }

    pub(crate) fn add(&mut self, kind: RequestKind) {
        *match kind {
            RequestKind::Read => &mut self.read,
            RequestKind::Write | RequestKind::Append => &mut self.write,
            RequestKind::Trim => &mut self.trim,
            RequestKind::Flush => &mut self.flush,
            RequestKind::ZoneOpen | RequestKind::ZoneClose | RequestKind::ZoneFinish | RequestKind::ZoneReset | RequestKind::Copy => {
                &mut self.zone
            }
        } += 1;
    }
}

/// A value over reads and one over writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PerKind {
    /// Value over reads; absent without reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<f64>,
    /// Value over writes; absent without writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<f64>,
}

/// An unreadable line of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BadLine {
    /// Line number, from 1; in Parquet the row number.
    pub line: u64,
    /// Message with file, line, what was expected and what was found.
    pub message: String,
}

/// A volume of a trace and the number of its requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceCount {
    /// Name of the volume, as `workload.device` takes it.
    pub name: String,
    /// Number of requests of the volume.
    pub requests: u64,
}

/// The part of a trace to describe, and the scale of its times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracePart {
    /// Number of requests (of the chosen volume) to skip at the start.
    pub skip: u64,
    /// Describe only requests less than this many seconds of trace time after the first request taken. 0: no limit.
    pub limit_s: f64,
    /// Divisor of the times between requests.
    pub time_scale: f64,
}

impl Default for TracePart {
    fn default() -> Self {
        TracePart { skip: 0, limit_s: 0.0, time_scale: 1.0 }
    }
}

impl TracePart {
    /// Whether the next request belongs to the part. Counts `skip` down; sets `first_ns` to the time of the first request that does.
    fn takes(&mut self, time_ns: Ns, first_ns: &mut Option<Ns>) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        let after_ns = time_ns.saturating_sub(*first_ns.get_or_insert(time_ns));
        let is_in = self.limit_s == 0.0 || after_ns < limit_ns(self.limit_s);
        if !is_in {
            self.skip = u64::MAX;
        }
        is_in
    }
}

/// Reads a whole trace, past unreadable lines, and describes it. With `device` only requests of that volume are described, while the list
/// of volumes stays complete.
///
/// # Errors
/// [`Error::Io`], [`Error::Usage`] where the format must be given, and [`Error::Trace`] for an empty or truncated file, one of no known
/// format, or one without requests or without the device.
pub fn trace_info(path: &Path, reading: &Reading, device: Option<&str>) -> Result<TraceInfo> {
    trace_info_cancellable(path, reading, device, TracePart::default(), &Caller::default())
}

/// Like [`trace_info`], for a part of the requests; lines and volumes are those of the whole trace. Ends with [`Error::Interrupted`] once
/// `caller` requests a stop.
///
/// # Errors
/// As [`trace_info`]; [`Error::Usage`] for a limit or scale out of range; [`Error::Interrupted`].
pub fn trace_info_cancellable(path: &Path, reading: &Reading, device: Option<&str>, part: TracePart, caller: &Caller) -> Result<TraceInfo> {
    check_time(part.limit_s, part.time_scale)?;
    let mut source = Source::open(path, reading, caller)?;
    let mut tally = Tally { time_scale: part.time_scale, ..Tally::default() };
    let (mut left, mut first_ns) = (part, None);
    let mut bad = Vec::new();
    let mut bad_lines = 0;
    while let Some(row) = source.next_row()? {
        match row {
            Row::Request(entry) => {
                let is_new = tally.count_device(entry.device);
                let is_chosen = device.is_none_or(|name| tally.is_chosen(&source, entry.device, is_new, name));
                if is_chosen {
                    note_end(&mut tally.ends, &entry);
                }
                if is_chosen && left.takes(entry.time_ns, &mut first_ns) {
                    tally.add(&entry);
                }
            }
            Row::Bad { line, bad: why } => {
                bad_lines += 1;
                if bad.len() < BAD_LINES_SHOWN {
                    bad.push(BadLine { line, message: source.bad_message(line, &why) });
                }
            }
        }
    }
    if part.skip > 0 && first_ns.is_none() && !tally.ends.is_empty() {
        return Err(Error::Trace(format!("{}: all requests are skipped (skip = {})", path.display(), part.skip)));
    }
    if tally.counts.total() == 0 {
        return Err(nothing_described(&source, &tally, device, bad.first(), bad_lines));
    }
    Ok(tally.info(&source, device.is_none(), bad_lines, bad))
}

/// The error for a trace without requests to describe.
fn nothing_described(source: &Source, tally: &Tally, device: Option<&str>, bad: Option<&BadLine>, bad_lines: u64) -> Error {
    let path = source.path().display();
    let names: Vec<String> = tally.devices(source).into_iter().map(|d| d.name).take(20).collect();
    Error::Trace(match (device, bad) {
        (Some(device), _) if !names.is_empty() => {
            format!("{path}: no request is of the volume {device}; the trace has: {}", names.join(", "))
        }
        (_, Some(bad)) => format!("{}; {}", bad.message, source.without_requests(bad_lines)),
        _ => format!("{path}: {}", source.without_requests(bad_lines)),
    })
}

/// Checks the range of a time limit and of a time scale.
///
/// # Errors
/// [`Error::Usage`] for a value out of range.
pub(super) fn check_time(limit_s: f64, time_scale: f64) -> Result<()> {
    if !(0.0..=1e9).contains(&limit_s) {
        return Err(Error::Usage(format!("limit_s = {limit_s}: expected 0 to 1000000000 seconds")));
    }
    scale_millionths(time_scale).map(drop).map_err(|_| Error::Usage(format!("time_scale = {time_scale}: expected 0.000001 to 1000000")))
}

/// Sums over a trace while it is read.
#[derive(Default)]
struct Tally {
    counts: KindCounts,
    reads: Moments,
    writes: Moments,
    per_device: Vec<PerDevice>,
    sequential: u64,
    bursty: u64,
    last_write_ns: Option<Ns>,
    last_ns: Ns,
    earliest_ns: Option<Ns>,
    latest_ns: Ns,
    max_end: u64,
    touched: Touched,
    /// By volume: end of its furthest request, bytes.
    ends: Vec<u64>,
    time_scale: f64,
    time_goes_back: u64,
    evidence: Evidence,
}

#[derive(Clone, Default)]
struct PerDevice {
    requests: u64,
    is_chosen: bool,
    last_end: Option<u64>,
}

impl Tally {
    /// Counts a request of a volume; returns true for the volume's first.
    fn count_device(&mut self, device: u32) -> bool {
        let index = device as usize;
        if index >= self.per_device.len() {
            self.per_device.resize(index + 1, PerDevice::default());
        }
        self.per_device[index].requests += 1;
        self.per_device[index].requests == 1
    }

    fn is_chosen(&mut self, source: &Source, device: u32, is_new: bool, name: &str) -> bool {
        let of_device = &mut self.per_device[device as usize];
        if is_new {
            of_device.is_chosen = source.device_name(device) == name;
        }
        of_device.is_chosen
    }

    fn add(&mut self, entry: &Entry) {
        self.counts.add(entry.kind);
        self.evidence.add(entry);
        self.add_time(entry);
        let end = entry.offset + entry.length;
        self.max_end = self.max_end.max(end);
        match entry.kind {
            RequestKind::Read => self.reads.add(entry.length),
            RequestKind::Write | RequestKind::Append => self.writes.add(entry.length),
            _ => return,
        }
        self.touched.add(entry.device, entry.offset, end);
        let of_device = &mut self.per_device[entry.device as usize];
        self.sequential += u64::from(of_device.last_end == Some(entry.offset));
        of_device.last_end = Some(end);
    }

    fn add_time(&mut self, entry: &Entry) {
        let now_ns = entry.time_ns;
        self.time_goes_back += u64::from(now_ns < self.last_ns);
        self.last_ns = now_ns;
        self.earliest_ns = Some(self.earliest_ns.map_or(now_ns, |earliest| earliest.min(now_ns)));
        self.latest_ns = self.latest_ns.max(now_ns);
        if entry.kind.brings_data() {
            let burst_ns = BURST_NS as f64 * self.time_scale;
            self.bursty += u64::from(self.last_write_ns.is_some_and(|last| now_ns.abs_diff(last) as f64 <= burst_ns));
            self.last_write_ns = Some(now_ns);
        }
    }

    fn devices(&self, source: &Source) -> Vec<DeviceCount> {
        let all = self.per_device.iter().enumerate();
        let counts = all.map(|(number, of)| DeviceCount { name: source.device_name(number as u32), requests: of.requests });
        counts.filter(|device| !device.name.is_empty()).collect()
    }

    fn info(&self, source: &Source, all_volumes: bool, bad_lines: u64, bad: Vec<BadLine>) -> TraceInfo {
        let devices = if all_volumes { self.per_device.len() } else { 1 };
        let remarks = source.remarks(all_volumes).into_iter().chain(self.evidence.remarks(devices, true)).collect();
        let accesses = self.counts.read + self.counts.write;
        let span_s = (self.latest_ns - self.earliest_ns.unwrap_or(self.latest_ns)) as f64 / 1e9 / self.time_scale;
        let volumes = self.ends.iter().filter(|&&end| end > 0).count();
        TraceInfo {
            format: source.format().id,
            units: source.units(),
            without_header: source.without_header(),
            compression: source.compression(),
            unit_bytes: source.unit_bytes(),
            requests: self.counts,
            skipped_lines: source.skipped_lines(),
            bad_lines,
            bad,
            devices: self.devices(source),
            mean_kb: PerKind { read: self.reads.mean_kb(), write: self.writes.mean_kb() },
            std_kb: PerKind { read: self.reads.std_kb(), write: self.writes.std_kb() },
            read_share: share(self.counts.read, accesses),
            sequential_share: share(self.sequential, accesses),
            bursty_write_share: share(self.bursty, self.counts.write),
            span_s,
            arrival_rate_per_s: (span_s > 0.0).then(|| self.counts.total() as f64 / span_s),
            max_end_bytes: self.max_end,
            touched_bytes: self.touched.bytes(),
            touched_is_lower_bound: self.touched.is_lower_bound(),
            concatenated_end_bytes: Places::one_after_the_other(&self.ends).filter(|_| volumes > 1).map(|places| places.end()),
            time_goes_back: self.time_goes_back,
            remarks,
        }
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Mean and standard deviation of sizes: an exact sum for the mean, Welford's recurrence for the squares, which cannot overflow.
#[derive(Default)]
struct Moments {
    count: u64,
    sum: u128,
    running_mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.sum += u128::from(bytes);
        let value = bytes as f64;
        let delta = value - self.running_mean;
        self.running_mean += delta / self.count as f64;
        self.squares += delta * (value - self.running_mean);
    }

    fn mean_kb(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 / 1024.0)
    }

    fn std_kb(&self) -> Option<f64> {
        (self.count > 0).then(|| (self.squares / self.count as f64).max(0.0).sqrt() / 1024.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn info(text: &str, device: Option<&str>) -> Result<TraceInfo> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        // Text without a header does not state its units.
        let is_plain = text.starts_with(|first: char| first.is_ascii_digit()) && !text.contains("Read");
        let reading = Reading { format: is_plain.then_some(TraceFormat::Csv), ..Reading::default() };
        trace_info(file.path(), &reading, device)
    }

    #[test]
    fn characteristics_are_those_of_the_requests() {
        let text = "0,W,0,1024\n1000,W,1024,3072\n3000,R,4096,512\n2900,W,0,512\n4000,T,0,99999\n5000,F,0,0\n6000,R,512,x\n";
        let info = info(text, None).unwrap();
        assert_eq!(info.requests, KindCounts { read: 1, write: 3, trim: 1, flush: 1, zone: 0 });
        assert_eq!((info.bad_lines, info.bad[0].line, info.time_goes_back), (1, 7, 1));
        assert_eq!((info.mean_kb.read, info.mean_kb.write), (Some(0.5), Some(1.5)));
        assert_eq!(info.std_kb.read, Some(0.0));
        assert!((info.std_kb.write.unwrap() - (7.0f64 / 6.0).sqrt()).abs() < 1e-12); // 1, 3, 0.5 KiB
        assert_eq!((info.read_share, info.sequential_share), (Some(0.25), Some(0.5)));
        assert_eq!(info.bursty_write_share, Some(1.0 / 3.0));
        assert_eq!((info.span_s, info.arrival_rate_per_s, info.max_end_bytes), (0.005, Some(1200.0), 99_999));
        assert_eq!((info.touched_bytes, info.touched_is_lower_bound), (8192, false), "trims touch nothing");
        assert!(info.devices.is_empty());
    }

    #[test]
    fn what_is_undefined_is_absent() {
        let json = serde_json::to_string(&info("7,R,0,512\n", None).unwrap()).unwrap();
        assert!(!json.contains("null") && !json.contains("bursty") && !json.contains("arrival_rate"), "{json}");
        assert!(json.contains("\"mean_kb\":{\"read\":0.5}"), "{json}");
    }

    #[test]
    fn devices_are_counted_and_chosen() {
        let text = "128166372000000001,a,0,Read,0,512,9\n128166372000000002,b,0,Read,512,512,9\n128166372000000003,a,0,Read,512,512,9\n";
        let all = info(text, None).unwrap();
        let expected = [("a_0", 2), ("b_0", 1)].map(|(name, requests)| DeviceCount { name: name.into(), requests });
        assert_eq!(all.devices, expected);
        assert_eq!(all.sequential_share, Some(1.0 / 3.0), "of the same device only");
        let one = info(text, Some("b_0")).unwrap();
        assert_eq!((one.requests.read, one.devices.len()), (1, 2));
        assert_eq!([all.touched_bytes, one.touched_bytes], [8192, 4096], "each volume has its own");
        assert!(info(text, Some("c")).unwrap_err().to_string().contains("a_0, b_0"));
    }
}
