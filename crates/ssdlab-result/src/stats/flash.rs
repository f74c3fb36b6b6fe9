//! What a result says of the flash: operations, wear, and the share of time in which chips and channels were busy.

use schemars::JsonSchema;
use serde::Serialize;

use super::device::DeviceStats;
use crate::distribution::Sums;
use ssdlab_base::units::Ns;

/// Wear: erases of each block since it was new.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Wear {
    /// Mean number of erases of a block.
    #[schemars(extend("unit" = "count"))]
    pub mean: f64,
    /// Standard deviation of the number of erases over all blocks.
    #[schemars(extend("unit" = "count"))]
    pub std: f64,
    /// Number of erases of the most worn block.
    #[schemars(extend("unit" = "count"))]
    pub max: u32,
    /// Number of blocks by number of erases.
    pub histogram: WearHistogram,
}

/// Most bins of a histogram of wear.
const MOST_BINS: u32 = 64;

/// Number of blocks by number of erases, in bins from the least worn block to the most worn one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WearHistogram {
    /// Number of erases of the least worn block, where the first bin begins.
    #[schemars(extend("unit" = "count"))]
    pub least: u32,
    /// How many numbers of erases a bin has: 1 if there are at most 64 between the least and the most worn block, else the fewest that give
    /// at most 64 bins.
    #[schemars(extend("unit" = "count"))]
    pub width: u32,
    /// By bin: number of blocks erased that often.
    #[schemars(extend("unit" = "count"))]
    pub blocks: Vec<u64>,
}

impl WearHistogram {
    /// The histogram of blocks that were erased `least` to `max` times.
    fn of(erase_counts: &[u32], least: u32, max: u32) -> Self {
        let width = (max - least) / MOST_BINS + 1;
        let mut blocks = vec![0; ((max - least) / width + 1) as usize];
        erase_counts.iter().for_each(|&erases| blocks[((erases - least) / width) as usize] += 1);
        WearHistogram { least, width, blocks }
    }
}

impl Wear {
    /// Wear from the number of erases of each block; `None` without blocks.
    pub fn of(erase_counts: &[u32]) -> Option<Self> {
        let mut sums = Sums::new();
        erase_counts.iter().for_each(|&erases| sums.add(erases.into()));
        let (min, max) = (*erase_counts.iter().min()?, *erase_counts.iter().max()?);
        let histogram = WearHistogram::of(erase_counts, min, max);
        Some(Wear { mean: sums.mean()?, std: sums.variance()?.sqrt(), max, histogram })
    }
}

/// Flash operations of host, GC and mapping table during the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FlashResult {
    /// Number of page reads of host, GC and mapping table.
    #[schemars(extend("unit" = "count"))]
    pub reads: u64,
    /// Number of page programs of host, GC and mapping table; with mapping units, the number of units programmed, without padding.
    #[schemars(extend("unit" = "count"))]
    pub programs: u64,
    /// Number of page programs of host writes; with mapping units, the number of units programmed, without padding.
    #[schemars(extend("unit" = "count"))]
    pub host_programs: u64,
    /// Number of page programs of page moves; with mapping units, the number of units programmed, without padding.
    #[schemars(extend("unit" = "count"))]
    pub gc_programs: u64,
    /// Number of block erases.
    #[schemars(extend("unit" = "count"))]
    pub erases: u64,
}

/// Share of the measured part of the run in which chips and channels are busy.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Utilisation {
    /// By chip: share of the measured time in which it is busy. If its dies work in parallel: share in which a die is occupied, mean over
    /// dies.
    #[schemars(extend("unit" = "share"))]
    pub chips: Vec<f64>,
    /// By channel: share of the measured time in which its bus transfers.
    #[schemars(extend("unit" = "share"))]
    pub channels: Vec<f64>,
}

impl Utilisation {
    pub(super) fn of(device: &DeviceStats, measured_ns: Ns) -> Option<Self> {
        let share = |busy: &Ns| {
            assert!(*busy <= measured_ns, "a resource was busy for {busy} ns of {measured_ns} ns");
            *busy as f64 / measured_ns as f64
        };
        let shares = |busy: &[Ns]| busy.iter().map(share).collect();
        (measured_ns > 0).then(|| Utilisation { chips: shares(&device.chip_busy_ns), channels: shares(&device.channel_busy_ns) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(erase_counts: &[u32]) -> (u32, u32, Vec<u64>) {
        let WearHistogram { least, width, blocks } = Wear::of(erase_counts).unwrap().histogram;
        (least, width, blocks)
    }

    #[test]
    fn blocks_by_erases_by_hand() {
        assert_eq!(histogram(&[3, 5, 3, 4, 7]), (3, 1, vec![2, 1, 1, 0, 1]));
        assert_eq!(histogram(&[0, 0]), (0, 1, vec![2]));
        assert_eq!(Wear::of(&[]), None);
    }

    #[test]
    fn bins_are_as_narrow_as_64_of_them_allow() {
        let counts: Vec<u32> = (10..=73).collect();
        assert_eq!(histogram(&counts), (10, 1, vec![1; 64]));
        let counts: Vec<u32> = (10..=74).collect(); // one more: 32 bins of two, and one that holds 74 alone
        assert_eq!(histogram(&counts), (10, 2, [vec![2; 32], vec![1]].concat()));
        let (least, width, blocks) = histogram(&[0, u32::MAX]);
        assert_eq!((least, width, blocks.len(), blocks[0], blocks[63]), (0, 1 << 26, 64, 1, 1));
    }
}
