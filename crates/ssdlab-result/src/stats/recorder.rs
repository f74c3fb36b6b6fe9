//! Takes every completion once and makes the statistics of requests from them.

use std::path::Path;

use super::Completion;
use super::class::Class;
use super::log::{Extra, RequestLog};
use super::order::InOrder;
use super::result::{Bandwidth, Breakdowns, Latencies, RequestCounts, ratio};
use super::series::Histograms;
use crate::distribution::Digest;
use ssdlab_base::error::{Error, Result};
use ssdlab_base::request::RequestKind;
use ssdlab_base::units::Ns;

/// Records completions. Without a log, recording one takes a few tens of nanoseconds and allocates nothing.
#[derive(Debug)]
pub struct Recorder {
    all: Tally,
    /// By flow, if there are several: its name and its requests.
    flows: Vec<(String, Tally)>,
    /// Index of the first measured request: requests before it belong to the warm-up.
    first: u64,
    /// Time from which flash operations are measured, ns.
    measured_from_ns: Ns,
    /// Bytes of writes that arrived in the warm-up and completed after it: their programs are measured.
    written_late: u128,
    /// Bytes of the host's writes when 1 % of the blocks had failed.
    one_percent_bytes: Option<u64>,
    digest: OrderedDigest,
    log: Option<RequestLog>,
}

/// Sums over the measured requests of all flows, or of one flow.
#[derive(Debug)]
struct Tally {
    sequential_reads: Class,
    random_reads: Class,
    writes: Class,
    /// Flushes, since the first of them.
    flushes: Option<Box<Class>>,
    requests: RequestCounts,
    bytes_read: u128,
    bytes_written: u128,
    /// Earliest arrival and latest completion, ns; the first is later than the second without requests.
    span_ns: (Ns, Ns),
    /// Number of requests that arrived in the warm-up.
    left_out: u64,
}

/// Statistics of the measured requests of all flows, or of one flow.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestStats {
    /// Number of measured requests by kind.
    pub requests: RequestCounts,
    /// Number of requests that arrived in the warm-up; no other field counts them.
    pub left_out: u64,
    /// Bytes requested by reads.
    pub bytes_read: u128,
    /// Bytes requested by writes.
    pub bytes_written: u128,
    /// Arrival of the first request and completion of the last, ns; `None` without requests.
    pub span_ns: Option<(Ns, Ns)>,
    /// Response times by class.
    pub latency_ns: Latencies,
    /// Mean parts of the response times by class.
    pub breakdown_ns: Breakdowns,
}

/// Statistics of a run's requests once all have completed.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Statistics of the requests of all flows.
    pub all: RequestStats,
    /// Bytes of the writes that completed in the measured part of the run, writes that arrived in the warm-up included: the denominator of
    /// write amplification.
    pub host_bytes: u128,
    /// What `host_bytes` was when 1 % of the blocks had failed; `None` if fewer have.
    pub one_percent_bytes: Option<u64>,
    /// By flow, if there are several: its name and the statistics of its requests.
    pub flows: Vec<(String, RequestStats)>,
    /// BLAKE3 over the response times of all requests (those of the warm-up, trims and flushes too) in order of their index, each as eight
    /// bytes, least significant first; 64 hexadecimal digits.
    pub digest: String,
}

impl RequestStats {
    /// Reads and writes completed per second of `measured_ns`.
    pub(super) fn iops(&self, measured_ns: Ns) -> Option<f64> {
        per_second((self.requests.read + self.requests.write).into(), measured_ns)
    }

    /// Bytes requested by reads and writes.
    pub(super) fn bytes(&self) -> u128 {
        self.bytes_read + self.bytes_written
    }

    /// Megabytes (10^6 bytes) requested per second of `measured_ns`.
    pub(super) fn bandwidth_mb_s(&self, measured_ns: Ns) -> Option<Bandwidth> {
        let megabytes = |bytes| per_second(bytes, measured_ns).map(|bytes| bytes / 1e6);
        Some(Bandwidth { read: megabytes(self.bytes_read)?, write: megabytes(self.bytes_written)? })
    }
}

fn per_second(amount: u128, measured_ns: Ns) -> Option<f64> {
    ratio(amount * 1_000_000_000, measured_ns.into())
}

impl Recorder {
    /// A recorder; with `log`, it also writes the per-request log to that path. `flows`: if there are several flows, their names, by
    /// number; each flow is then recorded separately, too.
    ///
    /// # Errors
    /// [`Error::Io`] if the log cannot be begun.
    pub fn new(log: Option<&Path>, flows: Vec<String>) -> Result<Self> {
        Recorder::of(log, flows, Extra::default())
    }

    /// A recorder as [`Recorder::new`]. `extra`: the columns that the log has besides.
    ///
    /// # Errors
    /// [`Error::Io`] if the log cannot be begun.
    pub fn of(log: Option<&Path>, flows: Vec<String>, extra: Extra) -> Result<Self> {
        Ok(Recorder {
            first: 0,
            measured_from_ns: 0,
            written_late: 0,
            one_percent_bytes: None,
            digest: OrderedDigest::new(),
            log: log.map(|log| RequestLog::create(log, &flows, extra)).transpose()?,
            all: Tally::new(),
            flows: flows.into_iter().map(|name| (name, Tally::new())).collect(),
        })
    }

    /// Begins a warm-up: no request is measured until [`Recorder::measure_from`] is called.
    pub fn warm_up(&mut self) {
        self.first = u64::MAX;
        self.measured_from_ns = Ns::MAX;
    }

    /// Ends the warm-up: requests with the index `first` and above, none of which has completed yet, are measured. Flash operations are
    /// measured from `from_ns` on.
    pub fn measure_from(&mut self, first: u64, from_ns: Ns) {
        self.first = first;
        self.measured_from_ns = from_ns;
    }

    /// Records a completion, in any order. Requests of the warm-up enter the digest and the log only. Trims, and commands that manage zones, count as
    /// requests and enter the digest and the log, but no class of response times. Appends are writes. Flushes are a class of their own, and not in
    /// `all`, where those of drives without a volatile buffer would hide the drive behind zeros. Requests that the drive rejected enter the digest and the log only.
    ///
    /// # Errors
    /// [`Error::Io`] if the log cannot be written; [`Error::Simulation`] if memory does not suffice to put completions in order.
    ///
    /// # Panics
    /// If the request completed before, ended before it arrived, or its parts do not add up to its response time.
    #[inline]
    pub fn record(&mut self, completion: &Completion) -> Result<()> {
        let response_ns = response_time(completion);
        self.digest.take(completion.index, response_ns)?;
        let in_warm_up = completion.index < self.first;
        if let Some(log) = &mut self.log {
            log.take(completion, in_warm_up)?;
        }
        if in_warm_up {
            if completion.kind.brings_data() && !completion.is_rejected() && completion.completed_ns >= self.measured_from_ns {
                self.written_late += u128::from(completion.length);
            }
            self.all.left_out += 1;
            if let Some((_, tally)) = self.flows.get_mut(usize::from(completion.flow)) {
                tally.left_out += 1;
            }
            return Ok(());
        }
        if completion.is_rejected() {
            return Ok(());
        }
        self.all.take(completion, response_ns);
        if let Some((_, tally)) = self.flows.get_mut(usize::from(completion.flow)) {
            tally.take(completion, response_ns);
        }
        Ok(())
    }

    /// Notes that 1 % of the blocks have failed, and what the host has written until now. Only the first call counts.
    #[cold]
    pub fn note_one_percent(&mut self) {
        let written = self.all.bytes_written + self.written_late;
        self.one_percent_bytes.get_or_insert(u64::try_from(written).unwrap_or(u64::MAX));
    }

    /// Distributions of the response times recorded so far.
    pub fn histograms(&self) -> Histograms {
        Histograms { read: self.all.sequential_reads.merged(&self.all.random_reads).histogram(), write: self.all.writes.histogram() }
    }

    /// Ends the recording: finishes the log, and returns the statistics.
    ///
    /// # Errors
    /// [`Error::Simulation`] if a request before the last completed one never completed; [`Error::Io`] if the log cannot be
    /// written. In both cases no log is left.
    pub fn finish(self) -> Result<Recorded> {
        let digest = self.digest.finish()?;
        if let Some(log) = self.log {
            log.finish()?;
        }
        let flows = self.flows.into_iter().map(|(name, tally)| (name, tally.stats())).collect();
        let all = self.all.stats();
        let (host_bytes, one_percent_bytes) = (all.bytes_written + self.written_late, self.one_percent_bytes);
        Ok(Recorded { host_bytes, one_percent_bytes, all, flows, digest })
    }
}

impl Tally {
    fn new() -> Self {
        Tally {
            sequential_reads: Class::new(),
            random_reads: Class::new(),
            writes: Class::new(),
            flushes: None,
            requests: RequestCounts::default(),
            bytes_read: 0,
            bytes_written: 0,
            span_ns: (Ns::MAX, 0),
            left_out: 0,
        }
    }

    #[inline]
    fn take(&mut self, completion: &Completion, response_ns: Ns) {
        let (first, last) = self.span_ns;
        self.span_ns = (first.min(completion.arrival_ns), last.max(completion.completed_ns));
        let class = match completion.kind {
            RequestKind::Read => {
                self.requests.read += 1;
                self.bytes_read += u128::from(completion.length);
                Some(if completion.sequential { &mut self.sequential_reads } else { &mut self.random_reads })
            }
            RequestKind::Write | RequestKind::Append => {
                self.requests.write += 1;
                self.bytes_written += u128::from(completion.length);
                Some(&mut self.writes)
            }
            RequestKind::Trim => {
                self.requests.trim += 1;
                None
            }
            RequestKind::Flush => {
                self.requests.flush += 1;
                Some(self.flushes.get_or_insert_with(|| Box::new(Class::new())).as_mut())
            }
            RequestKind::ZoneOpen | RequestKind::ZoneClose | RequestKind::ZoneFinish | RequestKind::ZoneReset | RequestKind::Copy => {
                self.requests.zone += 1;
                None
            }
        };
        if let Some(class) = class {
            class.record(response_ns, &completion.times);
        }
    }

    fn stats(self) -> RequestStats {
        let reads = self.sequential_reads.merged(&self.random_reads);
        let all = reads.merged(&self.writes);
        debug_assert_eq!(all.count(), self.requests.read + self.requests.write);
        RequestStats {
            requests: self.requests,
            left_out: self.left_out,
            bytes_read: self.bytes_read,
            bytes_written: self.bytes_written,
            span_ns: (self.span_ns.0 <= self.span_ns.1).then_some(self.span_ns),
            latency_ns: Latencies {
                all: all.latency(),
                read: reads.latency(),
                write: self.writes.latency(),
                seq_read: self.sequential_reads.latency(),
                rand_read: self.random_reads.latency(),
                flush: self.flushes.as_ref().and_then(|flushes| flushes.latency()),
            },
            breakdown_ns: Breakdowns {
                all: all.breakdown(),
                read: reads.breakdown(),
                write: self.writes.breakdown(),
                flush: self.flushes.as_ref().and_then(|flushes| flushes.breakdown()),
            },
        }
    }
}

/// The response time of a completion. Reports a wrong time if the latency parts do not add up to it.
#[inline]
fn response_time(completion: &Completion) -> Ns {
    let Completion { index, arrival_ns, completed_ns, .. } = completion;
    assert!(completed_ns >= arrival_ns, "request {index} completed at {completed_ns} ns, before it arrived at {arrival_ns} ns");
    let response_ns = completed_ns - arrival_ns;
    // A wrong time must be reported, not overflow.
    if completion.times.total() != Some(response_ns) {
        wrong_times(completion, response_ns);
    }
    response_ns
}

#[cold]
fn wrong_times(completion: &Completion, response_ns: Ns) -> ! {
    let Completion { index, times, .. } = completion;
    let total = times.wide_total();
    panic!("request {index} took {response_ns} ns, but its parts add up to {total} ns: {times:?}");
}

/// The digest of the response times in order of request index, computed as completions come.
#[derive(Debug)]
struct OrderedDigest {
    order: InOrder<Ns>,
    digest: Digest,
}

impl OrderedDigest {
    fn new() -> Self {
        OrderedDigest { order: InOrder::new(), digest: Digest::new() }
    }

    #[inline]
    fn take(&mut self, index: u64, response_ns: Ns) -> Result<()> {
        self.order.insert(index, response_ns)?;
        while let Some(response_ns) = self.order.pop() {
            self.digest.take(response_ns);
        }
        Ok(())
    }

    fn finish(self) -> Result<String> {
        if let Some(index) = self.order.gap() {
            return Err(Error::Simulation(format!("request {index} never completed, though a later one did")));
        }
        Ok(self.digest.finish())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Blocked, Times};
    use super::*;
    use ssdlab_base::blocked::Served;

    fn completion(index: u64, kind: RequestKind, response_ns: Ns) -> Completion {
        let mut times = Times::default();
        times.serve(Served::Array, response_ns - response_ns / 3);
        times.wait(Blocked::GcOperation, response_ns / 3);
        Completion {
            index,
            flow: 0,
            kind,
            sequential: index.is_multiple_of(3),
            offset: 4096 * index,
            length: 4096,
            handle: None,
            arrival_ns: 10 * index,
            completed_ns: 10 * index + response_ns,
            times,
        }
    }

    fn kind() -> impl Strategy<Value = RequestKind> {
        prop_oneof![Just(RequestKind::Read), Just(RequestKind::Write), Just(RequestKind::Trim), Just(RequestKind::Flush)]
    }

    fn record_all(completions: &[Completion]) -> Recorded {
        let mut recorder = Recorder::new(None, Vec::new()).unwrap();
        completions.iter().for_each(|completion| recorder.record(completion).unwrap());
        recorder.finish().unwrap()
    }

    fn mean(values: &[Ns]) -> Option<f64> {
        (!values.is_empty()).then(|| values.iter().map(|&v| u128::from(v)).sum::<u128>() as f64 / values.len() as f64)
    }

    proptest! {
        #[test]
        fn statistics_are_those_of_a_naive_computation(requests in prop::collection::vec((kind(), 0u64..1 << 50), 0..300)) {
            let completions: Vec<_> = requests.iter().zip(0..).map(|(&(kind, ns), index)| completion(index, kind, ns)).collect();
            let stats = record_all(&completions).all;
            let of = |wanted: &dyn Fn(&Completion) -> bool| -> Vec<Ns> {
                completions.iter().filter(|c| wanted(c)).map(|c| c.completed_ns - c.arrival_ns).collect()
            };
            let read = |c: &Completion| c.kind == RequestKind::Read;
            let write = |c: &Completion| c.kind == RequestKind::Write;
            let latency = &stats.latency_ns;
            for (found, expected) in [
                (&latency.all, of(&|c| read(c) || write(c))),
                (&latency.read, of(&read)),
                (&latency.write, of(&write)),
                (&latency.seq_read, of(&|c| read(c) && c.sequential)),
                (&latency.rand_read, of(&|c| read(c) && !c.sequential)),
                (&latency.flush, of(&|c| c.kind == RequestKind::Flush)),
            ] {
                prop_assert_eq!(found.as_ref().map(|l| l.mean), mean(&expected));
                prop_assert_eq!(found.as_ref().map_or(0, |l| l.count), expected.len() as u64);
                prop_assert_eq!(found.as_ref().map(|l| l.min), expected.iter().min().copied());
                prop_assert_eq!(found.as_ref().map(|l| l.max), expected.iter().max().copied());
            }
            if let (Some(latency), Some(parts)) = (&latency.all, &stats.breakdown_ns.all) {
                prop_assert!((parts.array + parts.gc - latency.mean).abs() <= 1e-12 * latency.mean);
                prop_assert!((parts.gc * 3.0 - latency.mean).abs() <= 3.0);
            }
            prop_assert_eq!(stats.requests.trim, completions.iter().filter(|c| c.kind == RequestKind::Trim).count() as u64);
            prop_assert_eq!(stats.bytes_written, u128::from(4096 * stats.requests.write));
        }

        #[test]
        fn the_digest_is_by_index_whatever_the_order_of_completion(
            (in_order, shuffled) in prop::collection::vec(0u64..1 << 40, 1..3000).prop_flat_map(|responses| {
                let completions: Vec<_> = responses.iter().zip(0..).map(|(&ns, i)| completion(i, RequestKind::Write, ns)).collect();
                (Just(completions.clone()), Just(completions).prop_shuffle())
            })
        ) {
            let bytes: Vec<u8> = in_order.iter().flat_map(|c| (c.completed_ns - c.arrival_ns).to_le_bytes()).collect();
            let expected = blake3::hash(&bytes).to_hex().to_string();
            prop_assert_eq!(&record_all(&in_order).digest, &expected);
            prop_assert_eq!(record_all(&shuffled), record_all(&in_order));
        }
    }

    #[test]
    #[should_panic(expected = "request 7 took 99 ns, but its parts add up to 100 ns")]
    fn parts_that_do_not_add_up_are_a_defect() {
        let mut wrong = completion(7, RequestKind::Read, 100);
        wrong.completed_ns -= 1;
        let _ = Recorder::new(None, Vec::new()).unwrap().record(&wrong);
    }

    #[test]
    #[should_panic(expected = "request 7 took 100 ns, but its parts add up to")]
    fn parts_beyond_the_range_of_time_are_a_defect_too() {
        let mut wrong = completion(7, RequestKind::Read, 100);
        wrong.times.wait(Blocked::Bus, u64::MAX);
        let _ = Recorder::new(None, Vec::new()).unwrap().record(&wrong);
    }

    #[test]
    #[should_panic(expected = "request 2 completed at 19 ns, before it arrived at 20 ns")]
    fn time_does_not_go_back() {
        let wrong = Completion { completed_ns: 19, ..completion(2, RequestKind::Read, 0) };
        let _ = Recorder::new(None, Vec::new()).unwrap().record(&wrong);
    }

    #[test]
    fn a_request_that_never_completed_is_named() {
        let mut recorder = Recorder::new(None, Vec::new()).unwrap();
        for index in [0, 1, 3] {
            recorder.record(&completion(index, RequestKind::Flush, 5)).unwrap();
        }
        assert_eq!(recorder.finish().unwrap_err().to_string(), "request 2 never completed, though a later one did");
    }

    #[test]
    fn a_run_without_requests_has_no_response_times() {
        let stats = Recorder::new(None, Vec::new()).unwrap().finish().unwrap();
        assert_eq!((stats.all.latency_ns, stats.all.breakdown_ns), (Latencies::default(), Breakdowns::default()));
        assert_eq!(stats.digest, blake3::hash(b"").to_hex().to_string());
    }
}
