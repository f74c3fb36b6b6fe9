//! When reads and writes arrive at the die: drawn from distributions, or replayed.

use std::sync::Arc;

use serde::Serialize;

use ssdlab_base::error::{Error, Result};
use ssdlab_base::rng::Rng;
use ssdlab_base::units::Ns;

/// Latest arrival allowed, ns (292 years): with later ones, times could overflow.
pub const LAST_ARRIVAL: Ns = Ns::MAX / 2;
/// Longest interarrival time allowed in [`GapLists`], ns.
pub const LONGEST_GAP: Ns = 1_000_000_000_000_000;
/// Rates allowed for a stream, requests per millisecond; a rate of 0 means no stream.
const RATES_PER_MS: std::ops::RangeInclusive<f64> = 1e-6..=1e6;
const PS_PER_NS: u64 = 1000;
const PS_PER_MS: f64 = 1e9;
const NS_PER_MS: f64 = 1e6;

/// The kind of a user request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UserOp {
    /// A page is read.
    Read,
    /// A page is written.
    Write,
}

/// Arrival time and kind of a request, packed into one word, as an unbounded queue holds many of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Arrival(u64);

impl Arrival {
    /// An arrival at `at_ns`; `None` if that is after [`LAST_ARRIVAL`].
    #[inline]
    pub fn new(at_ns: Ns, op: UserOp) -> Option<Self> {
        (at_ns <= LAST_ARRIVAL).then_some(Arrival(at_ns << 1 | u64::from(op == UserOp::Write)))
    }

    /// Arrival time, ns.
    #[inline]
    pub fn at_ns(self) -> Ns {
        self.0 >> 1
    }

    /// Kind of the request.
    #[inline]
    pub fn op(self) -> UserOp {
        if self.0 & 1 == 0 { UserOp::Read } else { UserOp::Write }
    }
}

impl std::fmt::Debug for Arrival {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} at {}", self.op(), self.at_ns())
    }
}

/// Rates of the streams of reads and writes, requests per millisecond. 0: no such stream.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RatesPerMs {
    /// Rate of reads.
    pub read_per_ms: f64,
    /// Rate of writes.
    pub write_per_ms: f64,
}

/// Lists of interarrival times of the streams of reads and writes, ns. Empty: no such stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GapLists {
    /// Interarrival times of reads, ns.
    pub read: Arc<[Ns]>,
    /// Interarrival times of writes, ns.
    pub write: Arc<[Ns]>,
}

/// How requests arrive. Reads and writes are two independent streams, merged by time; at one instant the read comes first.
///
/// Requests arrive at whole nanoseconds, rounded down. Gaps that are drawn are whole picoseconds, whose sum is exact; with fixed gaps, the
/// k-th request arrives at k divided by the rate. So rounding errors do not accumulate. The first request of a stream arrives one gap after
/// the start.
#[derive(Clone, Debug)]
pub enum Arrivals {
    /// Exponential gaps (bux2011, section 3.2).
    Poisson(RatesPerMs),
    /// Gaps of one length.
    Deterministic(RatesPerMs),
    /// Each gap is one of a list, drawn uniformly and independently: the list may be the quantiles of any distribution.
    Renewal(GapLists),
    /// All requests arrive at time 0, reads and writes drawn in the ratio of their rates.
    Saturated(RatesPerMs),
    /// Given requests, in order of time.
    Replayed(Arc<[Arrival]>),
}

/// The requests of a run: how they arrive, their number and the seed.
#[derive(Clone, Debug)]
pub struct Traffic {
    arrivals: Arrivals,
    requests: u64,
    seed: u64,
}

impl Traffic {
    /// Traffic of `requests` requests, or of all replayed requests. The seed is used for arrivals only.
    ///
    /// # Errors
    /// [`Error::Usage`] for a rate or gap out of range, no stream at all, replayed requests that go back in time, or no request.
    pub fn new(arrivals: Arrivals, requests: u64, seed: u64) -> Result<Self> {
        let requests = match &arrivals {
            Arrivals::Poisson(rates) | Arrivals::Deterministic(rates) | Arrivals::Saturated(rates) => {
                check_rates(*rates)?;
                requests
            }
            Arrivals::Renewal(gaps) => {
                check_gaps(gaps)?;
                requests
            }
            Arrivals::Replayed(list) => {
                check_order(list)?;
                list.len() as u64
            }
        };
        if requests == 0 {
            return Err(Error::Usage("there is no request to serve: the queueing model needs at least one read or write".into()));
        }
        Ok(Traffic { arrivals, requests, seed })
    }

    /// How the requests arrive.
    pub fn arrivals(&self) -> &Arrivals {
        &self.arrivals
    }

    /// Number of requests.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// The seed of the arrivals.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Mean rate of each stream, requests per millisecond: as configured, from the mean gap of a list, or of replayed requests up to the
    /// last. `None` for replayed requests that all arrive at time 0.
    pub fn mean_rates(&self) -> Option<RatesPerMs> {
        let rates = |read_per_ms: f64, write_per_ms: f64| RatesPerMs { read_per_ms, write_per_ms };
        match &self.arrivals {
            Arrivals::Poisson(rates) | Arrivals::Deterministic(rates) | Arrivals::Saturated(rates) => Some(*rates),
            Arrivals::Renewal(gaps) => {
                let sum = |list: &[Ns]| list.iter().map(|&gap| u128::from(gap)).sum::<u128>();
                let rate = |list: &[Ns]| if list.is_empty() { 0.0 } else { list.len() as f64 * NS_PER_MS / sum(list) as f64 };
                Some(rates(rate(&gaps.read), rate(&gaps.write))).filter(|rates| (rates.read_per_ms + rates.write_per_ms).is_finite())
            }
            Arrivals::Replayed(list) => {
                let end_ns = list.last().map_or(0, |last| last.at_ns());
                let writes = list.iter().filter(|arrival| arrival.op() == UserOp::Write).count();
                let rate = |count: usize| count as f64 * NS_PER_MS / end_ns as f64;
                (end_ns > 0).then(|| rates(rate(list.len() - writes), rate(writes)))
            }
        }
    }

    /// A stream of all requests from the first on, the same on each call.
    pub fn stream(&self) -> Stream {
        let rng = |purpose: &str| Rng::new(self.seed, &format!("queueing/{purpose}"));
        let two = |law: &dyn Fn(f64) -> Law, rates: &RatesPerMs| {
            let gaps = |rate: f64, purpose| (rate > 0.0).then(|| Gaps::new(law(rate), rng(purpose)));
            Source::Two { read: gaps(rates.read_per_ms, "read"), write: gaps(rates.write_per_ms, "write") }
        };
        let source = match &self.arrivals {
            Arrivals::Poisson(rates) => two(&|rate| Law::Exponential { mean_ps: PS_PER_MS / rate }, rates),
            Arrivals::Deterministic(rates) => two(&|rate_per_ms| Law::Fixed { rate_per_ms, given: 0 }, rates),
            Arrivals::Renewal(GapLists { read, write }) => {
                let gaps = |list: &Arc<[Ns]>, purpose| (!list.is_empty()).then(|| Gaps::new(Law::Drawn(Arc::clone(list)), rng(purpose)));
                Source::Two { read: gaps(read, "read"), write: gaps(write, "write") }
            }
            Arrivals::Saturated(rates) => {
                Source::Saturated { read_share: rates.read_per_ms / (rates.read_per_ms + rates.write_per_ms), kind: rng("kind") }
            }
            Arrivals::Replayed(list) => Source::Replayed(Arc::clone(list)),
        };
        Stream { source, requests: self.requests, given: 0 }
    }
}

fn check_rates(rates: RatesPerMs) -> Result<()> {
    for (name, rate) in [("read_per_ms", rates.read_per_ms), ("write_per_ms", rates.write_per_ms)] {
        if rate != 0.0 && !RATES_PER_MS.contains(&rate) {
            let (low, high) = (RATES_PER_MS.start(), RATES_PER_MS.end());
            return Err(Error::Usage(format!("{name} = {rate}: expected 0 or {low} to {high} requests in a millisecond")));
        }
    }
    if rates.read_per_ms + rates.write_per_ms == 0.0 {
        return Err(Error::Usage("read_per_ms and write_per_ms are both 0: no request would ever arrive".into()));
    }
    Ok(())
}

fn check_gaps(gaps: &GapLists) -> Result<()> {
    for (name, list) in [("read_gaps_ns", &gaps.read), ("write_gaps_ns", &gaps.write)] {
        if let Some((index, gap)) = list.iter().enumerate().find(|&(_, &gap)| gap > LONGEST_GAP) {
            return Err(Error::Usage(format!("{name}[{index}] = {gap}: expected at most {LONGEST_GAP} ns")));
        }
    }
    if gaps.read.is_empty() && gaps.write.is_empty() {
        return Err(Error::Usage("read_gaps_ns and write_gaps_ns are both empty: no request would ever arrive".into()));
    }
    Ok(())
}

fn check_order(list: &[Arrival]) -> Result<()> {
    match list.windows(2).position(|pair| pair[1].at_ns() < pair[0].at_ns()) {
        None => Ok(()),
        Some(before) => Err(Error::Usage(format!(
            "replayed request {} arrives at {} ns, before the one in front of it at {} ns: give them in order of time",
            before + 1,
            list[before + 1].at_ns(),
            list[before].at_ns()
        ))),
    }
}

/// Requests in order of arrival.
#[derive(Clone, Debug)]
pub struct Stream {
    source: Source,
    requests: u64,
    given: u64,
}

#[derive(Clone, Debug)]
enum Source {
    Two { read: Option<Gaps>, write: Option<Gaps> },
    Saturated { read_share: f64, kind: Rng },
    Replayed(Arc<[Arrival]>),
}

impl Stream {
    /// The next request, `None` after the last.
    ///
    /// # Errors
    /// [`Error::Usage`] for an arrival later than [`LAST_ARRIVAL`].
    #[inline]
    pub fn next_arrival(&mut self) -> Result<Option<Arrival>> {
        if self.given == self.requests {
            return Ok(None);
        }
        self.given += 1;
        let (at_ns, op) = match &mut self.source {
            Source::Two { read, write } => {
                let next = |gaps: &Option<Gaps>| gaps.as_ref().map_or(Ns::MAX, |gaps| gaps.next_ns);
                if next(read) <= next(write) { (take(read), UserOp::Read) } else { (take(write), UserOp::Write) }
            }
            Source::Saturated { read_share, kind } => (0, if kind.chance(*read_share) { UserOp::Read } else { UserOp::Write }),
            Source::Replayed(list) => return Ok(Some(list[self.given as usize - 1])),
        };
        match Arrival::new(at_ns, op) {
            Some(arrival) => Ok(Some(arrival)),
            None => Err(Error::Usage("the arrivals span more than 292 years: use fewer requests, or higher rates".into())),
        }
    }

    /// Number of requests left if all arrive at time 0 ([`Arrivals::Saturated`]), otherwise `None`: such a queue is counted, not stored.
    pub(super) fn left_at_start(&self) -> Option<u64> {
        matches!(self.source, Source::Saturated { .. }).then(|| self.requests - self.given)
    }
}

/// Takes the next arrival time of a stream, which must have requests.
#[inline]
fn take(gaps: &mut Option<Gaps>) -> Ns {
    gaps.as_mut().expect("a stream without requests is never the next").take()
}

/// The arrival times of one stream.
#[derive(Clone, Debug)]
struct Gaps {
    law: Law,
    rng: Rng,
    next_ns: Ns,
    /// Fraction of the next arrival time beyond whole nanoseconds, ps.
    rest_ps: u64,
}

#[derive(Clone, Debug)]
enum Law {
    Exponential {
        mean_ps: f64,
    },
    Fixed {
        rate_per_ms: f64,
        given: u64,
    },
    /// Gaps drawn uniformly from a list, ns.
    Drawn(Arc<[Ns]>),
}

impl Gaps {
    fn new(law: Law, rng: Rng) -> Self {
        let mut gaps = Gaps { law, rng, next_ns: 0, rest_ps: 0 };
        gaps.advance();
        gaps
    }

    #[inline]
    fn take(&mut self) -> Ns {
        let time = self.next_ns;
        self.advance();
        time
    }

    #[inline]
    fn advance(&mut self) {
        let gap_ps = match &mut self.law {
            Law::Exponential { mean_ps } => self.rng.exponential(*mean_ps).round() as u64,
            Law::Fixed { rate_per_ms, given } => {
                *given += 1;
                self.next_ns = (*given as f64 * NS_PER_MS / *rate_per_ms) as Ns;
                return;
            }
            Law::Drawn(list) => list[self.rng.below(list.len() as u64) as usize] * PS_PER_NS,
        };
        let ps = self.rest_ps + gap_ps;
        // Times after the last arrival allowed are refused when they are taken.
        self.next_ns = self.next_ns.saturating_add(ps / PS_PER_NS);
        self.rest_ps = ps % PS_PER_NS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: RatesPerMs = RatesPerMs { read_per_ms: 1.0, write_per_ms: 0.5 };

    fn all(arrivals: Arrivals, requests: u64, seed: u64) -> Vec<Arrival> {
        let mut stream = Traffic::new(arrivals, requests, seed).unwrap().stream();
        std::iter::from_fn(|| stream.next_arrival().unwrap()).collect()
    }

    fn message(arrivals: Arrivals, requests: u64) -> String {
        Traffic::new(arrivals, requests, 1).unwrap_err().to_string()
    }

    fn lists(read: &[Ns], write: &[Ns]) -> Arrivals {
        Arrivals::Renewal(GapLists { read: read.into(), write: write.into() })
    }

    fn times(arrivals: &[Arrival], op: UserOp) -> Vec<Ns> {
        arrivals.iter().filter(|arrival| arrival.op() == op).map(|arrival| arrival.at_ns()).collect()
    }

    #[test]
    fn two_poisson_streams_have_their_rates_and_are_merged_by_time() {
        let arrivals = all(Arrivals::Poisson(RATES), 300_000, 7);
        assert_eq!(arrivals.len(), 300_000);
        assert!(arrivals.windows(2).all(|pair| pair[0].at_ns() <= pair[1].at_ns()));
        for (op, gap) in [(UserOp::Read, 1e6), (UserOp::Write, 2e6)] {
            let times = times(&arrivals, op);
            let mean = *times.last().unwrap() as f64 / times.len() as f64;
            assert!((mean / gap - 1.0).abs() < 0.01, "{op:?} {mean}");
            let squares = times.windows(2).map(|pair| ((pair[1] - pair[0]) as f64).powi(2)).sum::<f64>() / times.len() as f64;
            assert!((squares / (2.0 * gap * gap) - 1.0).abs() < 0.05, "exponential gaps have a mean square of twice the squared mean");
        }
    }

    #[test]
    fn a_stream_is_the_same_whatever_the_other_does() {
        let alone = all(Arrivals::Poisson(RatesPerMs { write_per_ms: 0.0, ..RATES }), 1000, 3);
        let both = times(&all(Arrivals::Poisson(RATES), 3000, 3), UserOp::Read);
        assert_eq!(times(&alone, UserOp::Read)[..1000], both[..1000]);
        assert_ne!(times(&all(Arrivals::Poisson(RATES), 3000, 4), UserOp::Read), both);
    }

    #[test]
    fn fixed_gaps_do_not_drift_and_at_one_instant_the_read_is_first() {
        let arrivals = all(Arrivals::Deterministic(RatesPerMs { read_per_ms: 3.0, write_per_ms: 1.5 }), 3_000, 1);
        let reads = times(&arrivals, UserOp::Read);
        assert_eq!((reads[0], reads[1], reads[2]), (333_333, 666_666, 1_000_000));
        assert_eq!(reads[1499], 500_000_000);
        assert_eq!((arrivals[1].op(), arrivals[2].op()), (UserOp::Read, UserOp::Write));
        assert_eq!(arrivals[1].at_ns(), arrivals[2].at_ns());
    }

    #[test]
    fn gaps_of_a_list_are_drawn_evenly() {
        let reads = times(&all(lists(&[10, 20, 90], &[]), 30_000, 5), UserOp::Read);
        assert!((*reads.last().unwrap() as f64 / 30_000.0 / 40.0 - 1.0).abs() < 0.02);
        let gaps: std::collections::BTreeSet<Ns> = reads.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(gaps, [10, 20, 90].into());
    }

    #[test]
    fn saturated_requests_are_there_from_the_start_in_their_ratio() {
        let arrivals = all(Arrivals::Saturated(RATES), 90_000, 1);
        assert!(arrivals.iter().all(|arrival| arrival.at_ns() == 0));
        assert!((times(&arrivals, UserOp::Read).len() as f64 / 60_000.0 - 1.0).abs() < 0.01);
    }

    #[test]
    fn what_cannot_arrive_is_refused() {
        let rates = |read_per_ms, write_per_ms| Arrivals::Poisson(RatesPerMs { read_per_ms, write_per_ms });
        assert!(message(rates(-1.0, 1.0), 1).starts_with("read_per_ms = -1: expected 0 or 0.000001 to"));
        assert!(message(rates(1.0, f64::NAN), 1).starts_with("write_per_ms = NaN"));
        assert!(message(rates(0.0, 0.0), 1).contains("both 0"));
        assert!(message(rates(1.0, 1.0), 0).contains("at least one"));
        assert!(message(lists(&[], &[]), 1).contains("both empty"));
        assert!(message(lists(&[], &[1, Ns::MAX]), 1).starts_with("write_gaps_ns[1] = 18446744073709551615: expected at most"));
        let at = |at_ns| Arrival::new(at_ns, UserOp::Read).unwrap();
        assert!(message(Arrivals::Replayed([at(5), at(9), at(8)].into()), 0).contains("request 2 arrives at 8 ns, before"));
        assert!(message(Arrivals::Replayed([].into()), 5).contains("no request to serve"));
        assert_eq!(Arrival::new(LAST_ARRIVAL + 1, UserOp::Read), None);
        let mut stream = Traffic::new(lists(&[LONGEST_GAP], &[]), u64::MAX, 1).unwrap().stream();
        let error = (0..20_000).find_map(|_| stream.next_arrival().err()).unwrap().to_string();
        assert!(error.contains("292 years"), "{error}");
    }
}
