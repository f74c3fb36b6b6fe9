//! Judges whether the times, sizes and volumes of a trace are plausible as read, and makes remarks on those that are not.

use super::formats::{duration, significant};
use super::source::Entry;
use ssdlab_base::request::RequestKind;
use ssdlab_base::units::Ns;
use ssdlab_keys::remark::Remark;

/// Sector size, bytes: addresses and sizes of a block device are multiples of it.
const SECTOR_BYTES: u64 = 512;
/// Highest plausible rate of requests, per second; a higher one suggests another unit of time.
const RATE_MAX_PER_S: f64 = 1e7;
/// Shortest plausible trace, ns; a shorter one suggests another unit of time.
const SPAN_MIN_NS: Ns = 1_000_000;
/// Times that are multiples of this or more are coarse: requests may share an instant only because of the resolution. In ns.
const COARSE_NS: Ns = 10_000;
/// Share of the gaps between requests that need not be multiples of a step.
const OFF_SHARE: f64 = 0.01;
/// One second, ns.
const SECOND_NS: Ns = 1_000_000_000;
/// Share of requests at the time of the previous request from which coarse times are reported as bursts.
const BURST_SHARE: f64 = 0.1;

/// Sums over the requests of a trace, from which their plausibility is judged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    requests: u64,
    /// Reads, writes and trims with an offset or a size that is not a multiple of a sector.
    unaligned: u64,
    first_unaligned_line: u64,
    earliest_ns: Ns,
    latest_ns: Ns,
    last_ns: Ns,
    /// Requests at the same time as the previous request.
    together: u64,
    /// The gaps between requests that are not 0, and their resolution.
    resolution: Resolution,
}

/// The resolution of nearly all gaps between requests: the largest time of which they are multiples. A gap whose common divisor with the
/// earlier gaps is below [`COARSE_NS`] is counted in `off`. When such gaps are the majority, the step restarts from the current gap.
#[derive(Clone, Copy, Debug, Default)]
struct Resolution {
    /// Greatest common divisor of the gaps that are not off, ns; 0 before the first.
    step_ns: Ns,
    gaps: u64,
    off: u64,
    /// Gaps that are not off, less those that are, since the last change of the step.
    lead: u64,
}

impl Resolution {
    /// Gaps that are off, from which on a share of 1/50 settles it: the clock is a fine one.
    const ENOUGH_OFF: u64 = 16_384;

    #[inline]
    fn add(&mut self, gap_ns: Ns) {
        self.gaps += 1;
        if self.off < Self::ENOUGH_OFF || self.off * 50 < self.gaps {
            self.look(gap_ns);
        } else {
            self.off += 1;
        }
    }

    fn look(&mut self, gap_ns: Ns) {
        let common_ns = common_divisor(self.step_ns, gap_ns);
        if common_ns >= COARSE_NS {
            (self.step_ns, self.lead) = (common_ns, self.lead + 1);
            return;
        }
        self.off += 1;
        self.lead = self.lead.saturating_sub(1);
        if self.lead == 0 {
            self.step_ns = gap_ns;
        }
    }

    /// The resolution of nearly all gaps, ns, and whether it is that of all; `None` if there is none of [`COARSE_NS`] or more.
    fn of_most(&self) -> Option<(Ns, bool)> {
        let nearly_all = self.off as f64 <= self.gaps as f64 * OFF_SHARE;
        (self.step_ns >= COARSE_NS && nearly_all).then_some((self.step_ns, self.off == 0))
    }
}

impl Evidence {
    #[inline]
    pub(crate) fn add(&mut self, entry: &Entry) {
        if !(entry.offset | entry.length).is_multiple_of(SECTOR_BYTES) && entry.kind != RequestKind::Flush {
            self.first_unaligned_line = if self.unaligned == 0 { entry.line } else { self.first_unaligned_line };
            self.unaligned += 1;
        }
        let now_ns = entry.time_ns;
        if self.requests == 0 {
            (self.earliest_ns, self.latest_ns) = (now_ns, now_ns);
        } else {
            let gap_ns = now_ns.abs_diff(self.last_ns);
            self.together += u64::from(gap_ns == 0);
            if gap_ns > 0 {
                self.resolution.add(gap_ns);
            }
            self.earliest_ns = self.earliest_ns.min(now_ns);
            self.latest_ns = self.latest_ns.max(now_ns);
        }
        self.last_ns = now_ns;
        self.requests += 1;
    }

    /// Remarks on implausible requests. `devices`: number of volumes that the requests name. `timed`: their times matter (open loop).
    pub(crate) fn remarks(&self, devices: usize, timed: bool) -> Vec<Remark> {
        let times = if timed { self.of_times() } else { Vec::new() };
        times.into_iter().chain(self.of_sizes()).chain(self.of_volumes(devices)).collect()
    }

    fn of_times(&self) -> Vec<Remark> {
        const ABOUT: &str = "workload.trace";
        const UNIT: &str = "Check the unit of time. Where the format leaves it open, --time-unit (workload.time_unit) states another.";
        if self.requests < 2 {
            return Vec::new();
        }
        let (requests, span_ns) = (self.requests, self.latest_ns - self.earliest_ns);
        if span_ns == 0 {
            let sentence = format!("The {requests} requests have no times of their own: all arrive at one instant.");
            return vec![Remark::warning("no-times", ABOUT, sentence, CLOSED_LOOP)];
        }
        let mut remarks = Vec::from_iter(self.of_resolution());
        let rate_per_s = (requests - 1) as f64 / (span_ns as f64 / 1e9);
        if rate_per_s > RATE_MAX_PER_S {
            let sentence = format!("The trace has {} requests a second, more than any drive takes.", significant(rate_per_s));
            remarks.push(Remark::warning("implausible-rate", ABOUT, sentence, UNIT));
        }
        if span_ns < SPAN_MIN_NS {
            let sentence = format!("The {requests} requests span only {}.", duration(span_ns as f64));
            remarks.push(Remark::warning("short-span", ABOUT, sentence, UNIT));
        }
        remarks
    }

    /// The remark on coarse times, if nearly all times are multiples of [`COARSE_NS`] or more with bursts, or whole seconds.
    fn of_resolution(&self) -> Option<Remark> {
        const ABOUT: &str = "workload.trace";
        let (requests, together) = (self.requests, self.together);
        let share = together as f64 / (requests - 1) as f64;
        let (resolution_ns, of_all) = self.resolution.of_most()?;
        let is_seconds = resolution_ns.is_multiple_of(SECOND_NS);
        let step = if is_seconds { "whole seconds".into() } else { format!("multiples of {} apart", duration(resolution_ns as f64)) };
        let times = if of_all { "All times" } else { "99 % of all times or more" };
        if share >= BURST_SHARE {
            let sentence = format!("{times} are {step}, and {together} of {requests} requests arrive with the one before.");
            return Some(Remark::warning("coarse-times", ABOUT, sentence, CLOSED_LOOP).because("The clock of the trace makes bursts."));
        }
        (is_seconds && requests > 2).then(|| {
            let sentence = format!("{times} are {step}: the pace within a second is not known.");
            Remark::note("whole-seconds", ABOUT, sentence, CLOSED_LOOP)
        })
    }

    fn of_sizes(&self) -> Option<Remark> {
        (self.unaligned > 0).then(|| {
            let (unaligned, requests, line) = (self.unaligned, self.requests, self.first_unaligned_line);
            let sentence = format!(
                "{unaligned} of {requests} requests have an offset or a size that is no multiple of {SECTOR_BYTES} bytes (first: line {line})."
            );
            let remedy = "Check the units of address and size (sectors read as bytes?); --unit-bytes states others.";
            Remark::warning("unaligned", "workload.trace", sentence, remedy)
        })
    }

    fn of_volumes(&self, devices: usize) -> Option<Remark> {
        (self.requests > 2 && devices as u64 == self.requests).then(|| {
            let sentence = format!("Each of the {devices} requests is of a volume of its own.");
            Remark::warning(
                "volumes",
                "workload.trace.devices",
                sentence,
                "Check the columns (is another one read as the volume?); --format states them.",
            )
        })
    }
}

/// What to do about times without meaning.
const CLOSED_LOOP: &str = "workload.queue_depth = N replays the trace in closed loop, N requests at a time, without its times.";

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remarks(requests: &[(Ns, u64, u64)]) -> Vec<String> {
        let mut evidence = Evidence::default();
        for (&(time_ns, offset, length), line) in requests.iter().zip(1..) {
            evidence.add(&Entry { time_ns, kind: RequestKind::Read, offset, length, device: 0, handle: None, line });
        }
        evidence.remarks(1, true).into_iter().map(|remark| remark.code).collect()
    }

    fn at(times_us: &[u64]) -> Vec<String> {
        remarks(&times_us.iter().map(|us| (us * 1000, 0, 512)).collect::<Vec<_>>())
    }

    #[test]
    fn times_are_none_coarse_or_of_another_unit() {
        assert_eq!(at(&[5, 5, 5]), ["no-times"]);
        assert_eq!(at(&[5]), [""; 0]);
        assert_eq!(at(&[0, 0, 1_000_000, 1_000_000, 3_000_000]), ["coarse-times"]);
        assert_eq!(at(&[0, 1_000_000, 3_000_000]), ["whole-seconds"]);
        assert_eq!(at(&[0, 0, 1_000, 1_000, 3_000]), ["coarse-times"]);
        assert_eq!(at(&[0, 0, 1_001, 1_001, 3_007]), [""; 0], "bursts of a fine clock are real");
        assert_eq!(at(&[0, 999]), ["short-span"]);
        assert_eq!(at(&[0, 1_000]), [""; 0]);
        // One request between the ticks of a clock of 1 ms: two gaps are no multiples.
        let ticks: Vec<_> = (0..150).map(|i| if i == 7 { 2_345_678 } else { (i - i % 3 / 2) * 1_000_000 }).map(|ns| (ns, 0, 512)).collect();
        assert_eq!(remarks(&ticks), [""; 0], "1 % of 100 gaps is one");
        let ticks: Vec<_> = (0..900).map(|i| if i == 7 { 6_345_678 } else { (i - i % 3 / 2) * 1_000_000 }).map(|ns| (ns, 0, 512)).collect();
        assert_eq!(remarks(&ticks), ["coarse-times"]);
        // A clock of 15.625 ms, whose first request or one in the middle is 1 us off.
        for off in [0, 151] {
            let ticks = (0..3000).map(|i| i / 8 * 15_625_000 + if i == off { 1_000 } else { 0 }).map(|ns| (ns, 0, 512));
            assert_eq!(remarks(&ticks.collect::<Vec<_>>()), ["coarse-times"], "{off}");
        }
        // 10 ns apart for 2 ms: 10^8 a second.
        let fast: Vec<_> = (0..200_000).map(|i| (i * 10, 0, 512)).collect();
        assert_eq!(remarks(&fast), ["implausible-rate"]);
    }

    #[test]
    fn sizes_and_offsets_are_whole_sectors() {
        assert_eq!(remarks(&[(0, 1, 512), (2_000_000, 0, 512)]), ["unaligned"]);
        assert_eq!(remarks(&[(0, 0, 8), (2_000_000, 0, 512)]), ["unaligned"]);
        assert_eq!(remarks(&[(0, 512, 1024), (2_000_000, 0, 512)]), [""; 0]);
    }

    #[test]
    fn times_do_not_matter_in_closed_loop_and_volumes_always_do() {
        let mut evidence = Evidence::default();
        for line in 1..=3 {
            evidence.add(&Entry { time_ns: 0, kind: RequestKind::Read, offset: 0, length: 512, device: line as u32, handle: None, line });
        }
        let codes = |timed| evidence.remarks(3, timed).into_iter().map(|remark| remark.code).collect::<Vec<_>>();
        assert_eq!(codes(false), ["volumes"]);
        assert_eq!(codes(true), ["no-times", "volumes"]);
    }
}
