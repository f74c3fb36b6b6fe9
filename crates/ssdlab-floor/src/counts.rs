//! What a run counts.

use ssdlab_base::units::Ns;

/// Buckets of the histogram for each power of two.
const BUCKETS: u32 = 32;

/// Counts of a run.
pub struct Counts {
    /// GC jobs that have begun.
    pub jobs: u64,
    /// Pages that jobs have moved.
    pub pages_moved: u64,
    /// Blocks that have been erased.
    pub erases: u64,
    /// Sum of all response times, ns.
    pub sum_ns: u128,
    /// Longest response time, ns.
    pub max_ns: Ns,
    /// Number of requests by response time: 32 buckets for each power of two.
    pub histogram: Vec<u64>,
}

impl Counts {
    pub(crate) fn new() -> Self {
        Counts { jobs: 0, pages_moved: 0, erases: 0, sum_ns: 0, max_ns: 0, histogram: vec![0; (BUCKETS * u64::BITS) as usize] }
    }

    #[inline(always)]
    pub(crate) fn response(&mut self, response_ns: Ns) {
        self.sum_ns += u128::from(response_ns);
        self.max_ns = self.max_ns.max(response_ns);
        let power = (response_ns | 1).ilog2();
        let part = response_ns >> power.saturating_sub(BUCKETS.ilog2()) & u64::from(BUCKETS - 1);
        self.histogram[(power * BUCKETS) as usize + part as usize] += 1;
    }
}
