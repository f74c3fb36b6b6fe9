//! Statistics of the streams of data placement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counts::counts;
use super::result::ratio;
use ssdlab_keys::config::Stream;

counts! {
    /// Counts of a stream over all pools of a drive, or over those of an array's drives together.
    pub struct StreamStats {
        now {}
        counted {
            /// Units that the host wrote into the stream.
            host_units: u64,
            /// Blocks that the stream began to fill.
            blocks_opened: u64,
            /// Blocks filled by the stream that became victims.
            blocks_collected: u64,
            /// Valid units of these victims: those that GC had to move.
            valid_units: u64,
        }
    }
}

/// Who fills a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Writer {
    /// Host writes.
    Host,
    /// Page moves of garbage collection.
    Moves,
}

impl Writer {
    /// Who fills a stream, and its number among those of the same writer. `of_host`: number of the host's streams, which come first.
    pub(super) fn of(stream: usize, of_host: usize) -> (Self, Stream) {
        let (writer, first) = if stream < of_host { (Writer::Host, 0) } else { (Writer::Moves, of_host) };
        (writer, (stream - first) as Stream)
    }
}

/// Statistics of a stream, summed over pools and the drives of an array. The blocks that a stream filled before the run count when they are
/// collected.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StreamResult {
    /// Who fills the stream: the host, or the page moves of GC.
    #[schemars(with = "String", extend("unit" = "text"))]
    pub writer: Writer,
    /// Number among the streams of the same writer, from 0: the handle, or the class of the policy (`ftl.placement`).
    #[schemars(extend("unit" = "number"))]
    pub class: Stream,
    /// Mapping units that the host wrote into the stream.
    #[schemars(extend("unit" = "mapping units"))]
    pub host_units: u64,
    /// Blocks that the stream began to fill; with superblocks of several pools (`ftl.reclaim_unit`), superblocks.
    #[schemars(extend("unit" = "blocks"))]
    pub blocks_opened: u64,
    /// Blocks, or superblocks, filled by the stream that GC collected.
    #[schemars(extend("unit" = "blocks"))]
    pub blocks_collected: u64,
    /// Valid units of these blocks when they became victims.
    #[schemars(extend("unit" = "mapping units"))]
    pub valid_units: u64,
    /// Valid share of the collected blocks: their valid units, as a share of all their units. Absent without such a block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "share"))]
    pub valid_share: Option<f64>,
}

/// The counts of all streams of a drive. Drives without a placement policy have none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Streams {
    /// Number of streams of host writes, which come first.
    pub of_host: usize,
    /// Units of a block, or of a superblock.
    pub block_units: u32,
    /// The counts, by stream.
    pub counts: Vec<StreamStats>,
}

impl Streams {
    /// The sum of the counts of two drives of one configuration.
    #[must_use]
    pub(super) fn joined(mut self, other: &Streams) -> Self {
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, more)| *sum = sum.joined(*more));
        self
    }

    /// The counts since `before`.
    #[must_use]
    pub(super) fn since(mut self, before: &Streams) -> Self {
        self.counts.iter_mut().zip(&before.counts).for_each(|(now, then)| *now = now.since(then));
        self
    }

    /// Adds to `sums`, by stream: units that the host wrote, units of the blocks collected, and valid units of these.
    pub fn add_to(&self, sums: &mut Vec<[u64; 3]>) {
        sums.resize(self.counts.len(), [0; 3]);
        for (sum, counts) in sums.iter_mut().zip(&self.counts) {
            let collected_units = counts.blocks_collected * u64::from(self.block_units);
            for (sum, more) in sum.iter_mut().zip([counts.host_units, collected_units, counts.valid_units]) {
                *sum += more;
            }
        }
    }

    /// The statistics as they appear in a result.
    pub(super) fn result(&self) -> Vec<StreamResult> {
        let of = |(stream, counts): (usize, &StreamStats)| {
            let (writer, class) = Writer::of(stream, self.of_host);
            let StreamStats { host_units, blocks_opened, blocks_collected, valid_units } = *counts;
            let units = u128::from(blocks_collected) * u128::from(self.block_units);
            let valid_share = ratio(valid_units.into(), units);
            StreamResult { writer, class, host_units, blocks_opened, blocks_collected, valid_units, valid_share }
        };
        self.counts.iter().enumerate().map(of).collect()
    }
}
