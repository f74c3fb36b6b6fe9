//! Replays a trace: its requests, placed inside the drive's exported range.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::clock::FileClock;
use super::reading::{Reading, SkippedLines, Units};
use super::select::{Choice, Seen, Selection};
use super::source::Entry;
use super::tags::Tags;
use super::volumes::Places;
use super::{RequestSource, WorkloadReport};
use ssdlab_base::caller::Caller;
use ssdlab_base::error::{Error, Result};
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::units::Ns;
use ssdlab_keys::config::{RangePolicy, TraceFormat, Volumes, Workload};

/// Bytes of a chunk that [`RangePolicy::Compact`] renumbers.
const CHUNK_BYTES: u64 = 1 << 20;
/// Steps per unit to which `time_scale` is rounded.
const SCALE_STEPS: f64 = 1e6;

/// Counters of all changes to a trace before its requests reach the drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TraceCounters {
    /// Format of the trace.
    #[schemars(with = "String", extend("unit" = "text"))]
    pub format: TraceFormat,
    /// Units and codes with which the columns of the trace were read.
    pub units: Units,
    /// The trace has no header: its columns were assumed to be `timestamp_us,op,offset_bytes,size_bytes`. Absent if it has one or needs
    /// none.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("unit" = "true or false"))]
    pub without_header: bool,
    /// Number of requests taken from the trace, over all passes if it is repeated.
    #[schemars(extend("unit" = "count"))]
    pub requests: u64,
    /// Number of unreadable lines that were skipped, lines with size 0 included.
    #[schemars(extend("unit" = "count"))]
    pub bad_lines: u64,
    /// Number of lines that were skipped because of size 0.
    #[schemars(extend("unit" = "count"))]
    pub zero_size: u64,
    /// Lines without a request, by kind: other events of the kernel, commands without data. Absent without such lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>", extend("unit" = "what and lines"))]
    pub skipped_lines: Vec<SkippedLines>,
    /// Message for the first unreadable line that was skipped. Absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "text"))]
    pub first_bad_line: Option<String>,
    /// Number of volumes in the trace. With several and none chosen, `workload.volumes` says how their addresses are placed.
    #[schemars(extend("unit" = "count"))]
    pub devices: u64,
    /// Number of requests of volumes that were not chosen.
    #[schemars(extend("unit" = "count"))]
    pub other_devices: u64,
    /// Number of requests left out at the start (`workload.skip`, `workload.last`).
    #[schemars(extend("unit" = "count"))]
    pub skipped: u64,
    /// Number of requests whose arrival was delayed to that of the previous request, requests skipped afterwards included.
    #[schemars(extend("unit" = "count"))]
    pub clamped: u64,
    /// Number of requests whose address was wrapped modulo the exported size.
    #[schemars(extend("unit" = "count"))]
    pub wrapped: u64,
    /// Number of requests clipped at the end of the drive, or because they were larger than the drive.
    #[schemars(extend("unit" = "count"))]
    pub clipped: u64,
    /// Number of requests dropped: wholly beyond the drive, or, with `range = "compact"`, trims of MiB not in use.
    #[schemars(extend("unit" = "count"))]
    pub dropped: u64,
    /// Number of requests split because their parts are no longer adjacent.
    #[schemars(extend("unit" = "count"))]
    pub split: u64,
    /// Number of requests that name a placement handle. Absent without any.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("unit" = "count"))]
    pub handles: u64,
    /// Number of MiB in use, renumbered by `range = "compact"`.
    #[schemars(extend("unit" = "count"))]
    pub compacted_mb: u64,
}

/// For serde, which passes references.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A trace as a source of requests.
pub struct TraceReader {
    selection: Selection,
    passes: Passes,
    /// First byte of each volume, if volumes are placed one after the other.
    places: Option<Places>,
    exported_bytes: u64,
    policy: RangePolicy,
    /// Arrival times matter: the loop is open.
    timed: bool,
    /// `time_scale` in millionths.
    scale_millionths: u64,
    tags: Tags,
    /// New number of each MiB in use, by its number in the trace ([`RangePolicy::Compact`]).
    chunks: BTreeMap<u64, u64>,
    pending: VecDeque<Request>,
    wrapped: u64,
    clipped: u64,
    dropped: u64,
    split: u64,
    handles: u64,
}

/// Passes over a trace that is repeated.
struct Passes {
    /// File name and selection for further passes; `None` if the trace is read once.
    again: Option<(String, Choice)>,
    /// Number of passes. `left`: passes still to come.
    of: u32,
    left: u32,
    clock: Option<FileClock>,
    /// Added to the times of the current pass, ns.
    shift_ns: Ns,
    /// Counters of the first pass, once it has ended. `taken`: requests of all passes that have ended.
    first: Option<Seen>,
    taken: u64,
}

impl TraceReader {
    /// Opens the trace that `config.trace` names, for a drive of `exported_bytes`.
    ///
    /// - The first request taken arrives at 0 (in the log of a run, at its time in that run). Times are divided by `time_scale` (exact to
    ///   six decimals) and rounded down.
    /// - `repeat`: the next pass begins at the time limit if that cut off a request, else one mean interarrival time after the last
    ///   request.
    /// - `wrap`: addresses are taken modulo the exported size; a request that then crosses the end is split in two, the second from byte 0.
    /// - `clip`: the part beyond the end is cut off.
    /// - `compact`: each MiB that is read or written gets the next free number, in order of first use; a request is split where its MiB are
    ///   no longer adjacent, and trims of MiB not in use are dropped.
    ///
    /// # Errors
    /// [`Error::Config`] for values out of range, else as for opening and recognising a trace.
    pub fn new(config: &Workload, exported_bytes: u64) -> Result<Self> {
        Self::cancellable(config, exported_bytes, &Caller::default())
    }

    /// Like [`TraceReader::new`], but reading ends with [`Error::Interrupted`] once `caller` requests a stop.
    ///
    /// # Errors
    /// As [`TraceReader::new`].
    pub fn cancellable(config: &Workload, exported_bytes: u64, caller: &Caller) -> Result<Self> {
        Self::with_clock(config, exported_bytes, FileClock::of(&[config], caller)?, caller)
    }

    /// Like [`TraceReader::cancellable`], with the clock that the flows of one file share, if there is one.
    pub(super) fn with_clock(config: &Workload, exported_bytes: u64, clock: Option<FileClock>, caller: &Caller) -> Result<Self> {
        let path = config.trace.as_deref().ok_or_else(|| Error::Config("workload.trace is not set".into()))?;
        if exported_bytes == 0 {
            return Err(Error::Config("the drive exports no bytes: device.overprovisioning leaves nothing".into()));
        }
        if config.range == RangePolicy::Compact && exported_bytes < CHUNK_BYTES {
            return Err(Error::Config("workload.range = \"compact\" needs a drive that exports at least 1 MiB".into()));
        }
        let choice = choice(config, caller)?;
        let places = match config.volumes {
            Volumes::Overlaid => None,
            Volumes::Concatenated => Some(Places::of(Path::new(path), &choice)?),
        };
        let again = (config.repeat > 1).then(|| (path.to_string(), choice.clone()));
        let of = config.repeat.max(1);
        let passes = Passes { again, of, left: of - 1, clock, shift_ns: 0, first: None, taken: 0 };
        Ok(TraceReader {
            selection: begun(Path::new(path), choice, clock)?,
            passes,
            places,
            exported_bytes,
            policy: config.range,
            timed: config.queue_depth == 0,
            scale_millionths: scale_millionths(config.time_scale)?,
            tags: Tags::new(config, exported_bytes),
            chunks: BTreeMap::new(),
            pending: VecDeque::new(),
            wrapped: 0,
            clipped: 0,
            dropped: 0,
            split: 0,
            handles: 0,
        })
    }

    /// Counters of the changes made to the trace so far.
    pub fn counters(&self) -> TraceCounters {
        let (seen, source) = (self.passes.first.as_ref().unwrap_or(self.selection.seen()), self.selection.source());
        TraceCounters {
            format: source.format().id,
            units: source.units(),
            without_header: source.without_header(),
            requests: self.passes.taken + self.selection.seen().taken,
            bad_lines: seen.bad_lines,
            zero_size: seen.zero_size,
            skipped_lines: source.skipped_lines(),
            first_bad_line: seen.first_bad_line.clone(),
            devices: source.devices.len() as u64,
            other_devices: seen.other_devices,
            skipped: seen.skipped,
            clamped: seen.clamped,
            wrapped: self.wrapped,
            clipped: self.clipped,
            dropped: self.dropped,
            split: self.split,
            handles: self.handles,
            compacted_mb: self.chunks.len() as u64,
        }
    }

    /// Begins the next pass over a repeated trace; returns false if none is left.
    #[cold]
    fn begin_again(&mut self) -> Result<bool> {
        let (Some((path, choice)), Some(clock), true) = (&self.passes.again, self.passes.clock, self.passes.left > 0) else {
            return Ok(false);
        };
        let next = begun(Path::new(path), choice.clone(), Some(clock))?;
        let ended = std::mem::replace(&mut self.selection, next);
        self.passes.taken += ended.seen().taken;
        self.passes.first.get_or_insert_with(|| ended.seen().clone());
        self.passes.left -= 1;
        self.passes.shift_ns = self.passes.shift_ns.saturating_add(clock.period_ns);
        Ok(true)
    }

    #[inline]
    fn request(&self, entry: &Entry, offset: u64, length: u64) -> Request {
        let arrival_ns = if self.scale_millionths == SCALE_STEPS as u64 { entry.time_ns } else { self.scaled(entry.time_ns) };
        Request {
            arrival_ns,
            kind: entry.kind,
            offset,
            length,
            high_priority: false,
            flow: 0,
            handle: entry.handle.or_else(|| self.tags.of(offset)),
        }
    }

    fn scaled(&self, time_ns: Ns) -> Ns {
        scaled(time_ns, self.scale_millionths)
    }

    /// Applies the range policy to a request that is not inside the drive; its parts go to `pending`.
    #[cold]
    fn place(&mut self, entry: &Entry) -> Result<()> {
        match self.policy {
            RangePolicy::Error => return Err(self.beyond(entry)),
            RangePolicy::Wrap => self.wrap(entry),
            RangePolicy::Clip => self.clip(entry),
            RangePolicy::Compact => unreachable!("compacting places every request itself"),
        }
        Ok(())
    }

    fn beyond(&self, entry: &Entry) -> Error {
        let (path, line, exported) = (self.selection.source().path().display(), entry.line, self.exported_bytes);
        let (offset, length) = (entry.offset, entry.length);
        let remedy = "--fit trace makes the drive as large as the trace; workload.range = \"wrap\", \"clip\" or \"compact\" fits the trace \
                      to the drive";
        let found = format!("expected an address within the {exported} bytes that the drive exports, found offset {offset}, size {length}");
        Error::Trace(format!("{path}:{line}: {found}; {remedy}"))
    }

    fn wrap(&mut self, entry: &Entry) {
        let offset = entry.offset % self.exported_bytes;
        self.wrapped += 1;
        let length = entry.length.min(self.exported_bytes);
        self.clipped += u64::from(length < entry.length);
        let until_end = self.exported_bytes - offset;
        let first = self.request(entry, offset, length.min(until_end));
        self.pending.push_back(first);
        if length > until_end {
            self.split += 1;
            let second = self.request(entry, 0, length - until_end);
            self.pending.push_back(second);
        }
    }

    fn clip(&mut self, entry: &Entry) {
        if entry.offset >= self.exported_bytes {
            self.dropped += 1;
            return;
        }
        self.clipped += 1;
        let clipped = self.request(entry, entry.offset, self.exported_bytes - entry.offset);
        self.pending.push_back(clipped);
    }

    /// Renumbers the MiB of a request and joins parts that are still adjacent; the parts go to `pending`.
    fn compact(&mut self, entry: &Entry) -> Result<()> {
        let end = entry.offset + entry.length;
        let (first, last) = (entry.offset / CHUNK_BYTES, (end - 1) / CHUNK_BYTES);
        if entry.kind != RequestKind::Trim {
            self.use_chunks(entry, first, last)?;
        }
        let before = self.pending.len();
        // A trim of terabytes costs only as much as its MiB in use.
        for (&chunk, &place) in self.chunks.range(first..=last) {
            let from = entry.offset.max(chunk * CHUNK_BYTES);
            let to = end.min((chunk + 1) * CHUNK_BYTES);
            let offset = place * CHUNK_BYTES + from % CHUNK_BYTES;
            match self.pending.back_mut().filter(|part| part.offset + part.length == offset) {
                Some(part) => part.length += to - from,
                None => {
                    let part = self.request(entry, offset, to - from);
                    self.pending.push_back(part);
                }
            }
        }
        match self.pending.len() - before {
            0 => self.dropped += 1,
            1 => {}
            _ => self.split += 1,
        }
        Ok(())
    }

    fn use_chunks(&mut self, entry: &Entry, first: u64, last: u64) -> Result<()> {
        let places = self.exported_bytes / CHUNK_BYTES;
        if last - first >= places {
            return Err(self.compact_overflow(entry, places));
        }
        for chunk in first..=last {
            let next = self.chunks.len() as u64;
            if self.chunks.contains_key(&chunk) {
                continue;
            }
            if next == places {
                return Err(self.compact_overflow(entry, places));
            }
            self.chunks.insert(chunk, next);
        }
        Ok(())
    }

    fn compact_overflow(&self, entry: &Entry, places: u64) -> Error {
        let (path, line) = (self.selection.source().path().display(), entry.line);
        let remedy = "use a larger drive, workload.range = \"wrap\", or a part of the trace";
        Error::Trace(format!("{path}:{line}: expected at most {places} MiB in use, all that the drive exports, found more; {remedy}"))
    }
}

impl RequestSource for TraceReader {
    fn next_request(&mut self) -> Result<Option<Request>> {
        loop {
            if let Some(request) = self.pending.pop_front() {
                return Ok(Some(request));
            }
            let Some(mut entry) = self.selection.next_entry()? else {
                if self.begin_again()? {
                    continue;
                }
                return Ok(None);
            };
            entry.time_ns = entry.time_ns.saturating_add(self.passes.shift_ns);
            self.handles += u64::from(entry.handle.is_some());
            if let Some(places) = &self.places {
                places.place(&mut entry);
            }
            let is_inside = entry.offset + entry.length <= self.exported_bytes;
            match self.policy {
                _ if entry.kind == RequestKind::Flush => return Ok(Some(self.request(&entry, 0, 0))),
                RangePolicy::Compact => self.compact(&entry)?,
                _ if is_inside => return Ok(Some(self.request(&entry, entry.offset, entry.length))),
                _ => self.place(&entry)?,
            }
        }
    }

    /// A pipe has no known length, and so no progress.
    fn is_at_hand(&self) -> bool {
        self.progress().is_some()
    }

    fn progress(&self) -> Option<f64> {
        let Passes { of, left, .. } = self.passes;
        let share = self.selection.source().progress()?;
        Some(if of > 1 { (f64::from(of - left - 1) + share) / f64::from(of) } else { share })
    }

    fn report(&self) -> WorkloadReport {
        WorkloadReport { trace: Some(self.counters()), remarks: self.selection.remarks(self.timed), ..WorkloadReport::default() }
    }
}

/// Opens a trace for one pass.
fn begun(path: &Path, choice: Choice, clock: Option<FileClock>) -> Result<Selection> {
    let mut selection = Selection::open(path, choice)?;
    if let Some(clock) = clock {
        selection.count_from(clock.origin_ns);
    }
    Ok(selection)
}

/// The requests that the keys of `config` select from a trace.
pub(super) fn choice(config: &Workload, caller: &Caller) -> Result<Choice> {
    let limit_s = config.limit_s;
    if !(0.0..=1e9).contains(&limit_s) {
        return Err(Error::Config(format!("workload.limit_s = {limit_s}: expected 0 to 1000000000 seconds")));
    }
    Ok(Choice {
        reading: Reading::from_config(config),
        device: config.device.clone(),
        bad_lines: config.bad_lines,
        time_order: config.time_order,
        skip: config.skip,
        last: config.last,
        limit_ns: limit_ns(limit_s),
        caller: caller.clone(),
    })
}

/// Divides a time of a trace, ns, by a scale in millionths; rounds down.
pub(super) fn scaled(time_ns: Ns, scale_millionths: u64) -> Ns {
    let scaled = u128::from(time_ns) * SCALE_STEPS as u128 / u128::from(scale_millionths);
    // A time beyond 584 years does not fit: the latest that does.
    Ns::try_from(scaled).unwrap_or(Ns::MAX)
}

/// A time limit in ns. A limit above 0 never becomes 0, which would mean no limit.
pub(crate) fn limit_ns(limit_s: f64) -> Ns {
    if limit_s > 0.0 { ((limit_s * 1e9).round() as Ns).max(1) } else { 0 }
}

pub(super) fn scale_millionths(time_scale: f64) -> Result<u64> {
    if !(1e-6..=1e6).contains(&time_scale) {
        return Err(Error::Config(format!("workload.time_scale = {time_scale}: expected 0.000001 to 1000000")));
    }
    Ok(((time_scale * SCALE_STEPS).round() as u64).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_keys::config::TimeOrder;
    use std::io::Write;

    struct Trace(tempfile::NamedTempFile, Workload);

    fn trace(text: &str) -> Trace {
        let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        // Text without a header does not state its units.
        let is_plain = text.starts_with(|first: char| first.is_ascii_digit()) && !text.contains("Read");
        let format = is_plain.then_some(TraceFormat::Csv);
        let config = Workload { trace: Some(file.path().to_str().unwrap().into()), format, ..Workload::default() };
        Trace(file, config)
    }

    type Rows = Vec<(u64, RequestKind, u64, u64)>;

    fn replay(config: &Workload, exported: u64) -> Result<(Rows, TraceCounters)> {
        let mut reader = TraceReader::new(config, exported)?;
        let mut rows = Vec::new();
        while let Some(r) = reader.next_request()? {
            assert!(r.offset + r.length <= exported);
            assert!(r.length > 0 || r.kind == RequestKind::Flush);
            rows.push((r.arrival_ns, r.kind, r.offset, r.length));
        }
        assert_eq!(reader.next_request().unwrap(), None, "the end stays the end");
        Ok((rows, reader.counters()))
    }

    fn message(config: &Workload, exported: u64) -> String {
        replay(config, exported).unwrap_err().to_string()
    }

    use RequestKind::{Flush, Read, Trim, Write as W};
    const MB: u64 = 1 << 20;

    #[test]
    fn time_begins_with_the_first_request_taken_and_scales_exactly() {
        let Trace(_file, mut config) = trace("100,R,0,512\n101.5,W,512,512\n107,F,0,0\n");
        config.time_scale = 2.0;
        config.skip = 1;
        let (rows, counters) = replay(&config, MB).unwrap();
        assert_eq!(rows, [(0, W, 512, 512), (2_750, Flush, 0, 0)]);
        assert_eq!((counters.requests, counters.skipped), (2, 1));
    }

    #[test]
    fn the_last_requests_begin_at_time_0_and_come_after_sorting() {
        let Trace(_file, mut config) = trace("5,R,0,512\n6,W,512,512\n9,R,0,512\n8,W,1024,512\n");
        config.last = 2;
        config.time_order = TimeOrder::Clamp;
        let (rows, counters) = replay(&config, MB).unwrap();
        assert_eq!(rows, [(0, Read, 0, 512), (0, W, 1024, 512)]);
        assert_eq!((counters.requests, counters.skipped), (2, 2));
        config.time_order = TimeOrder::Sort;
        assert_eq!(replay(&config, MB).unwrap().0, [(0, W, 1024, 512), (1_000, Read, 0, 512)]);
        config.skip = 1;
        let (rows, counters) = replay(&config, MB).unwrap();
        assert_eq!((rows, counters.skipped), (vec![(0, Read, 0, 512)], 3));
        config.last = 9;
        assert_eq!(replay(&config, MB).unwrap().1.skipped, 1, "fewer than asked for");
    }

    #[test]
    fn the_time_limit_excludes_its_end() {
        let Trace(_file, mut config) = trace("5,R,0,512\n6,R,0,512\n7,R,0,512\n8,R,0,512\n");
        config.limit_s = 2e-6;
        assert_eq!(replay(&config, MB).unwrap().0.len(), 2);
    }

    #[test]
    fn time_that_goes_back_is_refused_clamped_or_sorted() {
        let Trace(_file, mut config) = trace("10,R,0,512\n7,W,0,512\n12,T,0,512\n11,R,0,512\n");
        assert!(message(&config, MB).contains(":2: expected a time no earlier"), "{}", message(&config, MB));
        config.time_order = TimeOrder::Clamp;
        let (rows, counters) = replay(&config, MB).unwrap();
        assert_eq!(rows.iter().map(|r| r.0).collect::<Vec<_>>(), [0, 0, 2000, 2000]);
        assert_eq!(counters.clamped, 2);
        config.time_order = TimeOrder::Sort;
        let (rows, counters) = replay(&config, MB).unwrap();
        assert_eq!(rows.iter().map(|r| (r.0, r.1)).collect::<Vec<_>>(), [(0, W), (3000, Read), (4000, Read), (5000, Trim)]);
        assert_eq!(counters.clamped, 0);
    }

    #[test]
    fn clamped_times_are_those_of_the_whole_trace_when_requests_are_skipped() {
        let Trace(_file, mut config) = trace("10,R,0,512\n7,W,0,512\n9,T,0,512\n12,R,0,512\n11,R,0,512\n");
        config.time_order = TimeOrder::Clamp;
        let times = |config: &Workload| replay(config, MB).unwrap().0.iter().map(|r| r.0).collect::<Vec<_>>();
        config.skip = 1;
        assert_eq!(times(&config), [0, 0, 2000, 2000], "7 and 9 are moved to 10, although that one is skipped");
        (config.skip, config.last) = (0, 4);
        assert_eq!(times(&config), [0, 0, 2000, 2000]);
        (config.skip, config.last) = (1, 3);
        assert_eq!(times(&config), [0, 0]);
        config.limit_s = 2e-6;
        assert_eq!(times(&config), [0, 0]);
        config.time_order = TimeOrder::Error;
        (config.skip, config.last, config.limit_s) = (2, 0, 0.0);
        assert!(message(&config, MB).contains(":5: expected a time no earlier"), "of the requests taken");
    }

    #[test]
    fn an_address_beyond_the_drive_suggests_a_drive_that_fits() {
        let Trace(_file, config) = trace("0,R,0,1024\n1,W,3584,1024\n");
        let message = message(&config, 4096);
        assert!(message.contains("--fit trace") && message.contains("workload.range"), "{message}");
    }

    #[test]
    fn addresses_beyond_the_drive_follow_the_range_policy() {
        let Trace(_file, mut config) = trace("0,R,0,1024\n1,W,3584,1024\n2,W,4608,512\n3,T,1024,99999\n4,F,0,0\n");
        assert!(message(&config, 4096).contains(":2: expected an address within the 4096 bytes"));
        config.range = RangePolicy::Wrap;
        let (rows, counters) = replay(&config, 4096).unwrap();
        let wrapped = [
            (0, Read, 0, 1024),
            (1000, W, 3584, 512),
            (1000, W, 0, 512),
            (2000, W, 512, 512),
            (3000, Trim, 1024, 3072),
            (3000, Trim, 0, 1024),
            (4000, Flush, 0, 0),
        ];
        assert_eq!(rows, wrapped);
        assert_eq!((counters.wrapped, counters.split, counters.clipped, counters.dropped), (3, 2, 1, 0));
        config.range = RangePolicy::Clip;
        let (rows, counters) = replay(&config, 4096).unwrap();
        assert_eq!(rows, [(0, Read, 0, 1024), (1000, W, 3584, 512), (3000, Trim, 1024, 3072), (4000, Flush, 0, 0)]);
        assert_eq!((counters.wrapped, counters.split, counters.clipped, counters.dropped), (0, 0, 2, 1));
    }

    #[test]
    fn compacting_numbers_megabytes_by_first_use() {
        // MiB 1000 -> 0, 5 -> 1, then 6 -> 2 beside 5; 999..=1000 is split: 999 -> 3.
        let text =
            format!("0,W,{},512\n1,W,{},{}\n2,R,{},1024\n3,T,0,{}\n4,T,0,1024\n", 1000 * MB, 5 * MB, 2 * MB, 1000 * MB - 512, 1u64 << 50);
        let Trace(_file, mut config) = trace(&text);
        config.range = RangePolicy::Compact;
        let (rows, counters) = replay(&config, 4 * MB).unwrap();
        let expected = [
            (0, W, 0, 512),
            (1000, W, MB, 2 * MB),
            (2000, Read, 4 * MB - 512, 512),
            (2000, Read, 0, 512),
            (3000, Trim, MB, 3 * MB), // 5, 6, 999 lie side by side
            (3000, Trim, 0, MB),
        ];
        assert_eq!(rows, expected);
        assert_eq!((counters.compacted_mb, counters.split, counters.dropped), (4, 2, 1));
        assert!(message(&config, 3 * MB).contains(":3: expected at most 3 MiB"));
    }

    #[test]
    fn bad_lines_are_errors_until_tolerated() {
        let Trace(_file, mut config) = trace("0,R,0,512\n1,R,1.82083E+11,512\n2,R,0,0\n3,X,0,512\n4,R,0,512\n");
        assert!(message(&config, MB).contains(":2: expected an offset in bytes, found \"1.82083E+11\""));
        config.bad_lines = 2;
        assert!(message(&config, MB).contains(
            ":4: expected the op R, W, T or F (or the words read, write, trim, discard, flush, append, zone-open, zone-close, zone-finish, zone-reset), found \"X\" (2 unreadable lines"
        ));
        config.bad_lines = 3;
        let (rows, counters) = replay(&config, MB).unwrap();
        assert_eq!((rows.len(), counters.bad_lines, counters.zero_size), (2, 3, 1));
        assert!(counters.first_bad_line.unwrap().contains("1.82083E+11"));
    }

    #[test]
    fn a_device_is_chosen_by_its_name() {
        let Trace(_file, mut config) = trace(
            "128166372000000001,wdev,0,Read,0,512,9\n128166372000000002,wdev,1,Write,512,512,9\n128166372000000003,wdev,0,Read,0,512,9\n",
        );
        assert_eq!(replay(&config, MB).unwrap().1.devices, 2);
        config.device = Some("wdev_1".into());
        let (rows, counters) = replay(&config, MB).unwrap();
        assert_eq!((rows, counters.other_devices), (vec![(0, W, 512, 512)], 2));
        config.device = Some("9".into());
        assert!(message(&config, MB).contains("no request is of the volume 9; the trace has: wdev_0, wdev_1"));
    }

    #[test]
    fn what_cannot_be_replayed_says_why() {
        let Trace(_file, mut config) = trace("");
        assert!(message(&config, MB).contains("empty"));
        config.format = Some(TraceFormat::Csv);
        assert!(message(&config, MB).contains("empty"));
        let Trace(_file, mut config) = trace("timestamp_us,op,offset_bytes,size_bytes\n");
        assert!(message(&config, MB).contains("holds no requests"));
        config.unit_bytes = Some(4096);
        assert!(message(&config, MB).contains("the header of the file states its units"));
        config.trace = Some("/nonexistent/trace".into());
        assert!(message(&config, MB).contains("cannot read"));
        config.trace = Some(std::env::temp_dir().to_str().unwrap().into());
        assert!(message(&config, MB).contains("cannot read"));
        let Trace(_file, mut config) = trace("0,R,0,512\n");
        config.skip = 1;
        assert!(message(&config, MB).contains("skipped"));
        config.time_scale = f64::NAN;
        assert!(message(&config, MB).contains("time_scale"));
    }
}
