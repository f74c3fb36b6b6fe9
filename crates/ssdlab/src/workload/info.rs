//! The characteristics of a trace that papers print.

use std::path::Path;

use serde::Serialize;

use super::input::Compression;
use super::source::{Entry, Row, Source};
use crate::caller::Caller;
use crate::config::TraceFormat;
use crate::error::{Error, Result};
use crate::request::RequestKind;
use crate::units::Ns;

/// Limit of the listed unreadable lines; all are counted.
const BAD_LINES_SHOWN: usize = 100;
/// A write this soon after the write before is bursty (lee2013 Table VIII).
const BURST_NS: Ns = 1_500_000;

/// The characteristics of a trace. Undefined ones (the mean size of reads without reads) are absent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceInfo {
    /// Its format.
    pub format: TraceFormat,
    /// The trace has no header: its columns were assumed to be `timestamp_us,op,offset_bytes,size_bytes`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub without_header: bool,
    /// How the file is compressed.
    pub compression: Compression,
    /// Bytes of a unit of address and size, for the formats that let it be chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit_bytes: Option<u64>,
    /// Readable requests by kind.
    pub requests: KindCounts,
    /// Unreadable lines.
    pub bad_lines: u64,
    /// The first 100 unreadable lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bad: Vec<BadLine>,
    /// The volumes of the trace, in order of appearance. With several and none chosen, all other characteristics are over all of them, and
    /// a replay overlays their addresses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceCount>,
    /// Mean sizes, KB of 1024 bytes.
    pub mean_kb: PerKind,
    /// Standard deviations of the sizes (of the whole population), KB of 1024 bytes.
    pub std_kb: PerKind,
    /// Reads as a share of reads and writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_share: Option<f64>,
    /// Sequential requests: reads and writes that begin where the previous one of the same volume ended, as a share of reads and writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequential_share: Option<f64>,
    /// Writes within 1.5 ms of the write before, as a share of writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursty_write_share: Option<f64>,
    /// Time from the earliest to the latest request, s.
    pub span_s: f64,
    /// Requests a second over the span.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrival_rate_per_s: Option<f64>,
    /// The highest end of a request: the trace fits a drive that exports this many bytes.
    pub max_end_bytes: u64,
    /// Requests that arrive before the previous request.
    pub time_goes_back: u64,
}

/// Counts by kind of request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KindCounts {
    /// Reads.
    pub read: u64,
    /// Writes.
    pub write: u64,
    /// Trims.
    pub trim: u64,
    /// Flushes.
    pub flush: u64,
}

impl KindCounts {
    /// All kinds together.
    pub fn total(&self) -> u64 {
        self.read + self.write + self.trim + self.flush
    }

    pub(crate) fn add(&mut self, kind: RequestKind) {
        *match kind {
            RequestKind::Read => &mut self.read,
            RequestKind::Write => &mut self.write,
            RequestKind::Trim => &mut self.trim,
            RequestKind::Flush => &mut self.flush,
        } += 1;
    }
}

/// A value for reads and one for writes, each absent without such requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PerKind {
    /// Reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<f64>,
    /// Writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<f64>,
}

/// An unreadable line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BadLine {
    /// Its number from 1 (in Parquet: the row's).
    pub line: u64,
    /// File, line, what was expected and what was found.
    pub message: String,
}

/// A device and its requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceCount {
    /// As `workload.device` takes it.
    pub name: String,
    /// Its requests.
    pub requests: u64,
}

/// Reads a whole trace, past unreadable lines, and describes it. With `device` only that device's requests are described; the list of
/// devices is complete all the same.
///
/// # Errors
/// [`Error::Io`], [`Error::Usage`] where the format must be given, and [`Error::Trace`] for an empty or truncated file, one of no known
/// format, or one without the device.
pub fn trace_info(path: &Path, format: Option<TraceFormat>, unit_bytes: Option<u64>, device: Option<&str>) -> Result<TraceInfo> {
    trace_info_cancellable(path, format, unit_bytes, device, &Caller::default())
}

/// As [`trace_info`]; it ends with [`Error::Interrupted`] once `caller` requests a stop.
///
/// # Errors
/// As [`trace_info`].
pub fn trace_info_cancellable(
    path: &Path,
    format: Option<TraceFormat>,
    unit_bytes: Option<u64>,
    device: Option<&str>,
    caller: &Caller,
) -> Result<TraceInfo> {
    if unit_bytes == Some(0) {
        return Err(Error::Usage("unit_bytes = 0: expected at least 1".into()));
    }
    let mut source = Source::open(path, format, unit_bytes, caller)?;
    let mut tally = Tally::default();
    let mut bad = Vec::new();
    let mut bad_lines = 0;
    while let Some(row) = source.next_row()? {
        match row {
            Row::Request(entry) => {
                let is_new = tally.count_device(entry.device);
                let is_chosen = device.is_none_or(|name| tally.is_chosen(&source, entry.device, is_new, name));
                if is_chosen {
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
    if let Some(device) = device
        && tally.counts.total() == 0
    {
        let names: Vec<String> = tally.devices(&source).into_iter().map(|d| d.name).take(20).collect();
        let found = if names.is_empty() { "none".to_string() } else { names.join(", ") };
        return Err(Error::Trace(format!("{}: no request is of the volume {device}; the trace has: {found}", path.display())));
    }
    Ok(tally.info(&source, bad_lines, bad))
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
    time_goes_back: u64,
}

#[derive(Clone, Default)]
struct PerDevice {
    requests: u64,
    is_chosen: bool,
    last_end: Option<u64>,
}

impl Tally {
    /// Counts a request for its device; true for the device's first.
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
        self.add_time(entry);
        let end = entry.offset + entry.length;
        self.max_end = self.max_end.max(end);
        match entry.kind {
            RequestKind::Read => self.reads.add(entry.length),
            RequestKind::Write => self.writes.add(entry.length),
            RequestKind::Trim | RequestKind::Flush => return,
        }
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
        if entry.kind == RequestKind::Write {
            self.bursty += u64::from(self.last_write_ns.is_some_and(|last| now_ns.abs_diff(last) <= BURST_NS));
            self.last_write_ns = Some(now_ns);
        }
    }

    fn devices(&self, source: &Source) -> Vec<DeviceCount> {
        let all = self.per_device.iter().enumerate();
        let counts = all.map(|(number, of)| DeviceCount { name: source.device_name(number as u32), requests: of.requests });
        counts.filter(|device| !device.name.is_empty()).collect()
    }

    fn info(&self, source: &Source, bad_lines: u64, bad: Vec<BadLine>) -> TraceInfo {
        let accesses = self.counts.read + self.counts.write;
        let span_s = (self.latest_ns - self.earliest_ns.unwrap_or(self.latest_ns)) as f64 / 1e9;
        TraceInfo {
            format: source.format().id,
            without_header: source.without_header(),
            compression: source.compression(),
            unit_bytes: source.unit_bytes(),
            requests: self.counts,
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
            time_goes_back: self.time_goes_back,
        }
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Mean and deviation of sizes: an exact sum for the mean, Welford's recurrence for the squares, which cannot overflow.
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
        trace_info(file.path(), None, None, device)
    }

    #[test]
    fn characteristics_are_those_of_the_requests() {
        let text = "0,W,0,1024\n1000,W,1024,3072\n3000,R,4096,512\n2900,W,0,512\n4000,T,0,99999\n5000,F,0,0\n6000,R,512,x\n";
        let info = info(text, None).unwrap();
        assert_eq!(info.requests, KindCounts { read: 1, write: 3, trim: 1, flush: 1 });
        assert_eq!((info.bad_lines, info.bad[0].line, info.time_goes_back), (1, 7, 1));
        assert_eq!((info.mean_kb.read, info.mean_kb.write), (Some(0.5), Some(1.5)));
        assert_eq!(info.std_kb.read, Some(0.0));
        assert!((info.std_kb.write.unwrap() - (7.0f64 / 6.0).sqrt()).abs() < 1e-12); // 1, 3, 0.5 KB
        assert_eq!((info.read_share, info.sequential_share), (Some(0.25), Some(0.5)));
        assert_eq!(info.bursty_write_share, Some(1.0 / 3.0));
        assert_eq!((info.span_s, info.arrival_rate_per_s, info.max_end_bytes), (0.005, Some(1200.0), 99_999));
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
        let text = "1,a,0,Read,0,512,9\n2,b,0,Read,512,512,9\n3,a,0,Read,512,512,9\n";
        let all = info(text, None).unwrap();
        let expected = [("a_0", 2), ("b_0", 1)].map(|(name, requests)| DeviceCount { name: name.into(), requests });
        assert_eq!(all.devices, expected);
        assert_eq!(all.sequential_share, Some(1.0 / 3.0), "of the same device only");
        let one = info(text, Some("b_0")).unwrap();
        assert_eq!((one.requests.read, one.devices.len()), (1, 2));
        assert!(info(text, Some("c")).unwrap_err().to_string().contains("a_0, b_0"));
    }
}
