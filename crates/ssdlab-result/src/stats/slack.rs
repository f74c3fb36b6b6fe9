//! Slack (elyasi2017): how much earlier than its request a page ended, and how well ends were estimated.

use schemars::JsonSchema;
use serde::Serialize;

use crate::distribution::Wide;
use ssdlab_base::units::Ns;

/// Sums over completed requests, for [`SlackResult`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SlackStats {
    /// By kind (reads, writes): number of pages; `sum`, `squares`: sums of their slack (ns) and of its square.
    pages: [u64; 2],
    sum: [u128; 2],
    squares: [Wide; 2],
    /// By kind: number of requests with an estimate; `passed`: with a page that bypassed others; `paused`: in a pause, or paused.
    requests: [u64; 2],
    passed: [u64; 2],
    paused: [u64; 2],
    /// By kind: number of chips that serve a request, summed over requests with an estimate.
    chips: [u64; 2],
    /// Number of requests that arrived. `waiting`, `most`, `fewest`: operations waiting at their arrival on all chips, on the chip with
    /// most, on the chip with fewest, each summed over arrivals.
    arrivals: u64,
    chips_of_drive: u64,
    waiting: u128,
    most: u128,
    fewest: u128,
    /// Sums over requests with an estimate, ns: response times; `error`: absolute errors of the estimates; `bias`: signed errors.
    responses: u128,
    error: u128,
    bias: i128,
}

impl SlackStats {
    /// Sum over two drives. The drives of an array are alike, so their chips count once.
    #[must_use]
    pub fn joined(self, other: SlackStats) -> Self {
        let each = |a: [u64; 2], b: [u64; 2]| [a[0] + b[0], a[1] + b[1]];
        let sums = |a: [u128; 2], b: [u128; 2]| [a[0] + b[0], a[1] + b[1]];
        SlackStats {
            pages: each(self.pages, other.pages),
            sum: sums(self.sum, other.sum),
            squares: [0, 1].map(|kind| self.squares[kind] + other.squares[kind]),
            requests: each(self.requests, other.requests),
            passed: each(self.passed, other.passed),
            paused: each(self.paused, other.paused),
            chips: each(self.chips, other.chips),
            arrivals: self.arrivals + other.arrivals,
            chips_of_drive: self.chips_of_drive.max(other.chips_of_drive),
            waiting: self.waiting + other.waiting,
            most: self.most + other.most,
            fewest: self.fewest + other.fewest,
            responses: self.responses + other.responses,
            error: self.error + other.error,
            bias: self.bias + other.bias,
        }
    }

    /// A request of a kind (0: read, 1: write) with one page has ended.
    #[inline]
    pub fn only_page_ended(&mut self, kind: usize) {
        self.pages[kind] += 1;
    }

    /// A request of a kind has ended after `response`, ns. `sum`, `squares`: sums over its pages of the end (ns) and of its square.
    #[inline]
    pub fn pages_ended(&mut self, kind: usize, pages: u32, sum: u128, squares: Wide, response: Ns) {
        let (count, response) = (u128::from(pages), u128::from(response));
        self.pages[kind] += u64::from(pages);
        self.sum[kind] += count * response - sum;
        // The squares of (response - end) over all pages, multiplied out. By Cauchy-Schwarz nothing falls below 0.
        let squares = Wide::product(count, response * response) + squares - Wide::product(2 * response, sum);
        self.squares[kind] = self.squares[kind] + squares;
    }

    /// A request arrives; `waiting`: by chip, the number of operations that wait for it.
    pub fn arrived(&mut self, waiting: &[u32]) {
        self.arrivals += 1;
        self.waiting += waiting.iter().map(|&count| u128::from(count)).sum::<u128>();
        self.most += u128::from(waiting.iter().copied().max().unwrap_or(0));
        self.fewest += u128::from(waiting.iter().copied().min().unwrap_or(0));
        self.chips_of_drive = waiting.len() as u64;
    }

    /// A request of a kind with an estimate has ended. `chips`: number of chips of its pages; `passed`: a page bypassed another;
    /// `paused`: a page was served in a pause, or was paused.
    pub fn request_ended(&mut self, kind: usize, chips: u32, estimate: Ns, response: Ns, [passed, paused]: [bool; 2]) {
        self.requests[kind] += 1;
        self.passed[kind] += u64::from(passed);
        self.paused[kind] += u64::from(paused);
        self.chips[kind] += u64::from(chips);
        self.responses += u128::from(response);
        self.error += u128::from(estimate.abs_diff(response));
        self.bias += i128::from(estimate) - i128::from(response);
    }

    /// The statistics as a result; undefined statistics are absent.
    pub fn result(&self) -> SlackResult {
        let of = |kind: usize| {
            let count = self.pages[kind] as f64;
            (self.pages[kind] > 0).then(|| {
                let mean = self.sum[kind] as f64 / count;
                let variance = (self.squares[kind].to_f64() / count - mean * mean).max(0.0);
                Slack { mean_ns: mean, std_ns: variance.sqrt() }
            })
        };
        let estimated = self.requests.iter().sum::<u64>() > 0;
        let relative = |error: f64| (self.responses > 0).then(|| error / self.responses as f64);
        let per_request = |counts: [u64; 2]| {
            let of = |kind: usize| (self.requests[kind] > 0).then(|| counts[kind] as f64 / self.requests[kind] as f64);
            estimated.then(|| [of(0), of(1)])
        };
        let mean = |sum: u128, count: u64| sum as f64 / count as f64;
        let waiting = (self.arrivals > 0).then(|| Waiting {
            mean: mean(self.waiting, self.arrivals * self.chips_of_drive),
            longest: mean(self.most, self.arrivals),
            shortest: mean(self.fewest, self.arrivals),
        });
        SlackResult {
            read: of(0),
            write: of(1),
            estimation_error: relative(self.error as f64),
            estimation_bias: relative(self.bias as f64),
            passed: per_request(self.passed).map(|[read, write]| ShareByKind { read, write }),
            paused: per_request(self.paused).map(|[read, write]| PausedShare { read, write }),
            chips: per_request(self.chips).map(|[read, write]| MeanByKind { read, write }),
            waiting,
        }
    }
}

/// Slack of pages (how much earlier than its request a page ended), and the error of the estimates of ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SlackResult {
    /// Slack of the pages of reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Slack>,
    /// Slack of the pages of writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Slack>,
    /// Estimation error: sum over requests of |estimated - actual response time|, over the sum of the actual response times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "ratio"))]
    pub estimation_error: Option<f64>,
    /// Estimation bias: sum over requests of (estimated - actual response time), over the sum of the actual response times. Above 0: the
    /// estimates are too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "ratio"))]
    pub estimation_bias: Option<f64>,
    /// Share of requests with a page that bypassed another in its queue (`scheduler.read_bypass`, `scheduler.write_bypass`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<ShareByKind>,
    /// Share of requests with a part in the pause of a flash program for reads (`scheduler.write_pausing`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<PausedShare>,
    /// Number of chips that serve a request, mean over requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chips: Option<MeanByKind>,
    /// Number of page operations that waited for a chip at the arrival of a request, mean over requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
}

impl SlackResult {
    pub(super) fn is_empty(&self) -> bool {
        *self == SlackResult::default()
    }
}

/// Slack of pages: end of the request minus end of the page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Slack {
    /// Mean slack of a page.
    #[schemars(extend("unit" = "ns"))]
    pub mean_ns: f64,
    /// Standard deviation of the slack of a page.
    #[schemars(extend("unit" = "ns"))]
    pub std_ns: f64,
}

/// Number of operations in the queues of a chip at the arrival of a request, mean over requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Waiting {
    /// Operations in the queues of a chip, mean over chips.
    #[schemars(extend("unit" = "count"))]
    pub mean: f64,
    /// Operations in the queues of the chip with the most at that time.
    #[schemars(extend("unit" = "count"))]
    pub longest: f64,
    /// Operations in the queues of the chip with the fewest at that time.
    #[schemars(extend("unit" = "count"))]
    pub shortest: f64,
}

/// Declares a number for reads and one for writes: the type, the unit, and a sentence for each number.
macro_rules! by_kind {
    ($(#[$about:meta])* $name:ident in $unit:literal { $(#[$reads:meta])* read, $(#[$writes:meta])* write }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
        pub struct $name {
            $(#[$reads])*
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schemars(extend("unit" = $unit))]
            pub read: Option<f64>,
            $(#[$writes])*
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schemars(extend("unit" = $unit))]
            pub write: Option<f64>,
        }
    };
}

by_kind! {
    /// Shares of reads and of writes with a page that bypassed another in its queue.
    ShareByKind in "share" {
        /// Reads with a page that bypassed another in its queue, as a share of all reads.
        read,
        /// Writes with a page that bypassed another in its queue, as a share of all writes.
        write
    }
}

by_kind! {
    /// Shares of reads and of writes with a part in the pause of a program.
    PausedShare in "share" {
        /// Reads served in a pause of a program, as a share of all reads.
        read,
        /// Writes whose program was paused, as a share of all writes.
        write
    }
}

by_kind! {
    /// Means over reads and over writes.
    MeanByKind in "number" {
        /// Mean over reads.
        read,
        /// Mean over writes.
        write
    }
}
