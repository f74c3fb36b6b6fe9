//! Bit errors of reads: how they grow with wear, time and reads, and what a read does that has more than can be corrected.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::VariantArray;

use ssdlab_base::units::Ns;

/// Bit errors of flash reads, and the retries that they cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Errors {
    /// What a read does whose data have more errors than can be corrected. `off`: no read has errors.
    pub retry: RetryPolicy,
    /// Size of a codeword, bytes: the unit of error correction.
    #[schemars(range(min = 64, max = 65536))]
    pub codeword_bytes: u32,
    /// Number of wrong bits of a codeword that can be corrected.
    #[schemars(range(min = 1, max = 65536))]
    pub correctable_bits: u32,
    /// Time to decode the data of a page, ns. A step of a read is an array read, a transfer and the decoding.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub decode_ns: Ns,
    /// Retry table: by retry step, the raw bit error rate as a share of that of a first read. Descending, at most 64 steps.
    #[schemars(inner(range(min = 0.000001, max = 1.0)))]
    pub retry_table: Vec<f64>,
    /// Array time of a retry step with `ar2`, as a share of the time of a first read.
    #[schemars(range(min = 0.01, max = 1.0))]
    pub short_read: f64,
    /// Time to change the read time of a die (SET FEATURES) before the first retry step with `ar2`, ns.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub set_ns: Ns,
    /// Time to stop an array read that was begun ahead with `pr2` or `ar2` (RESET), ns.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub reset_ns: Ns,
    /// Raw bit error rate of new cells. The rate is epsilon + alpha c^k + beta c^m t^n + gamma c^p r^q, with the erases c of the block (at
    /// least 1), the days t since the block was opened and its reads r, divided by its pages.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub epsilon: f64,
    /// Wear: coefficient of c^k.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub alpha: f64,
    /// Wear: exponent of the erases c.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub k: f64,
    /// Retention: coefficient of c^m t^n.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub beta: f64,
    /// Retention: exponent of the erases c.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub m: f64,
    /// Retention: exponent of the days t.
    #[schemars(range(min = 0.01, max = 10.0))]
    pub n: f64,
    /// Read disturb: coefficient of c^p r^q.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub gamma: f64,
    /// Read disturb: exponent of the erases c.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub p: f64,
    /// Read disturb: exponent of the reads r.
    #[schemars(range(min = 0.01, max = 10.0))]
    pub q: f64,
    /// Spread of the raw bit error rate between blocks: that of a block is multiplied by a number drawn between 1 - `spread` and 1 +
    /// `spread`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub spread: f64,
    /// Read reclaim: a block is moved once it has had this many array reads since it was opened. 0: never.
    #[schemars(range(min = 0, max = 1000000000000_u64))]
    pub reclaim_reads: u64,
    /// Refresh: a block is moved this many days after it was opened. 0: never.
    #[schemars(range(min = 0.0, max = 100000.0))]
    pub refresh_days: f64,
}

impl Default for Errors {
    fn default() -> Self {
        Errors {
            retry: RetryPolicy::Off,
            // 72 bits of 1 KiB: Park et al., ASPLOS 2021 (arXiv 2104.09611).
            codeword_bytes: 1024,
            correctable_bits: 72,
            decode_ns: 20_000,
            // A guess: each step leaves nine tenths of the errors.
            retry_table: vec![0.9, 0.81, 0.729, 0.656, 0.59, 0.531, 0.478, 0.43, 0.387, 0.349, 0.314, 0.282],
            short_read: 0.75,
            set_ns: 1_000,
            reset_ns: 5_000,
            // 72-layer TLC: Kim et al., FAST 2019.
            epsilon: 1.48e-3,
            alpha: 3.90e-10,
            k: 2.05,
            beta: 6.28e-5,
            m: 0.14,
            n: 0.54,
            gamma: 3.73e-9,
            p: 0.33,
            q: 1.71,
            spread: 0.0,
            reclaim_reads: 0,
            refresh_days: 0.0,
        }
    }
}

impl Errors {
    /// Reads have errors, and cells age.
    pub fn is_on(&self) -> bool {
        self.retry != RetryPolicy::Off
    }
}

/// What a read does whose data have more errors than can be corrected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, VariantArray)]
#[serde(rename_all = "kebab-case")]
pub enum RetryPolicy {
    /// No read has errors.
    Off,
    /// Nothing: the read is uncorrectable.
    None,
    /// The steps of the retry table in order, one after the other.
    InOrder,
    /// As `in-order`, but the read begins with the step that was good for the last read of the block.
    LastGood,
    /// Pipelined retry (PR2): as `in-order`, but the array reads for the next step while the data of a retry step are transferred and
    /// decoded.
    Pr2,
    /// Pipelined and adaptive retry (PR2 and AR2): as `pr2`, with shorter array reads in retry steps (`errors.short_read`).
    Ar2,
}

impl RetryPolicy {
    /// All policies, in the order of the reference.
    pub const ALL: &'static [RetryPolicy] = RetryPolicy::VARIANTS;
}
