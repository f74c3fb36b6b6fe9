//! What a result says of reads that age: retries, and how old the cells were.

use schemars::JsonSchema;
use serde::Serialize;

use super::result::ratio;

/// Sum and extremes of a property of blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spread {
    sum: f64,
    min: f64,
    max: f64,
}

impl Default for Spread {
    fn default() -> Self {
        Spread { sum: 0.0, min: f64::INFINITY, max: 0.0 }
    }
}

impl Spread {
    fn add(&mut self, value: f64) {
        *self = self.joined(Spread { sum: value, min: value, max: value });
    }

    fn joined(self, other: Spread) -> Spread {
        Spread { sum: self.sum + other.sum, min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    fn over(self, blocks: u64) -> Option<OverBlocks> {
        (blocks > 0).then(|| OverBlocks { min: self.min, mean: self.sum / blocks as f64, max: self.max })
    }
}

/// The age of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgedBlock {
    /// Erases since the block was new.
    pub cycles: u64,
    /// Days since the block was opened.
    pub days: f64,
    /// Array reads since the block was opened.
    pub reads: u64,
    /// Raw bit error rate.
    pub bit_error_rate: f64,
}

/// Retries of a drive or of those of an array's drives together, and the age of its blocks with data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgeStats {
    /// Flash reads by number of steps that failed before the last.
    reads: Vec<u64>,
    uncorrectable: u64,
    blocks: u64,
    cycles: Spread,
    days: Spread,
    reads_of_block: Spread,
    rate: Spread,
}

impl AgeStats {
    /// Counts a flash read of which `failed` steps fail before the last; `lost`: the last does, too.
    #[inline]
    pub fn read(&mut self, failed: u8, lost: bool) {
        if self.reads.len() <= usize::from(failed) {
            self.reads.resize(usize::from(failed) + 1, 0);
        }
        self.reads[usize::from(failed)] += 1;
        self.uncorrectable += u64::from(lost);
    }

    /// Adds a block with data.
    pub fn add_block(&mut self, block: AgedBlock) {
        self.blocks += 1;
        self.cycles.add(block.cycles as f64);
        self.days.add(block.days);
        self.reads_of_block.add(block.reads as f64);
        self.rate.add(block.bit_error_rate);
    }

    /// The statistics of two drives together.
    #[must_use]
    pub fn joined(self, other: &AgeStats) -> Self {
        let length = self.reads.len().max(other.reads.len());
        let at = |reads: &[u64], step: usize| reads.get(step).copied().unwrap_or(0);
        AgeStats {
            reads: (0..length).map(|step| at(&self.reads, step) + at(&other.reads, step)).collect(),
            uncorrectable: self.uncorrectable + other.uncorrectable,
            blocks: self.blocks + other.blocks,
            cycles: self.cycles.joined(other.cycles),
            days: self.days.joined(other.days),
            reads_of_block: self.reads_of_block.joined(other.reads_of_block),
            rate: self.rate.joined(other.rate),
        }
    }

    /// The reads since `before`; ages are those of now.
    #[must_use]
    pub fn since(mut self, before: &AgeStats) -> Self {
        self.reads.iter_mut().zip(&before.reads).for_each(|(now, before)| *now -= before);
        self.uncorrectable -= before.uncorrectable;
        self
    }

    /// The statistics as they appear in a result.
    pub(super) fn result(&self) -> AgesResult {
        let all: u64 = self.reads.iter().sum();
        let steps: u64 = self.reads.iter().zip(0..).map(|(count, step)| count * step).sum();
        AgesResult {
            reads: all,
            retried: all - self.reads.first().copied().unwrap_or(0),
            uncorrectable: self.uncorrectable,
            retries_mean: ratio(steps.into(), all.into()),
            by_retries: self.reads.clone(),
            cycles: self.cycles.over(self.blocks),
            days: self.days.over(self.blocks),
            reads_of_block: self.reads_of_block.over(self.blocks),
            bit_error_rate: self.rate.over(self.blocks),
        }
    }
}

/// Retries of flash reads during the run, and the age of blocks with data at its end (`errors.retry`).
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AgesResult {
    /// Number of flash reads whose data were decoded, of host and GC, one for each plane. Copyback is not decoded.
    #[schemars(extend("unit" = "count"))]
    pub reads: u64,
    /// Number of these with at least one step that failed before the last.
    #[schemars(extend("unit" = "count"))]
    pub retried: u64,
    /// Number of flash reads whose data were lost: no step that the policy takes was good.
    #[schemars(extend("unit" = "count"))]
    pub uncorrectable: u64,
    /// Mean number of retries of a flash read. Absent without reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "ratio"))]
    pub retries_mean: Option<f64>,
    /// Number of flash reads by retries: entry `i` has those with `i` steps that failed before the last.
    #[schemars(extend("unit" = "count"))]
    pub by_retries: Vec<u64>,
    /// Erases of a block, those before the run included (`ftl.precondition.pe_cycles`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<OverBlocks>,
    /// Days since a block was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<OverBlocks>,
    /// Array reads of a block since it was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_of_block: Option<OverBlocks>,
    /// Raw bit error rate of a block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bit_error_rate: Option<OverBlocks>,
}

/// A property over the blocks with data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OverBlocks {
    /// Least value of a block.
    #[schemars(extend("unit" = "number"))]
    pub min: f64,
    /// Mean over the blocks.
    #[schemars(extend("unit" = "number"))]
    pub mean: f64,
    /// Largest value of a block.
    #[schemars(extend("unit" = "number"))]
    pub max: f64,
}
