//! Wear: how often blocks can be erased, which programs and erases fail, and what happens at the end of the drive's life.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::VariantArray;

use super::capacity::RESERVE;
use super::{Config, Trigger};

/// Blocks that fail, and the end of the drive's life. Off while no block can fail: `endurance`, `program_fails_ppm` and `erase_fails_ppm` are
/// 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Wear {
    /// Rated endurance: erases after which a block fails, those before the run included (`ftl.precondition.pe_cycles`); the mean over all
    /// blocks. 0: no block wears out.
    #[schemars(range(min = 0, max = 1000000000))]
    pub endurance: u32,
    /// Spread of the endurance between blocks: the standard deviation of a normal distribution, as a share of `endurance`. Draws are cut
    /// off at three standard deviations.
    #[schemars(range(min = 0.0, max = 0.33))]
    pub spread: f64,
    /// Failed programs in a million.
    #[schemars(range(min = 0.0, max = 1000000.0))]
    pub program_fails_ppm: f64,
    /// Failed programs in a million that wear adds: this many at `endurance` erases, in proportion to the erases of the block.
    #[schemars(range(min = 0.0, max = 1000000.0))]
    pub program_fails_worn_ppm: f64,
    /// Failed erases in a million.
    #[schemars(range(min = 0.0, max = 1000000.0))]
    pub erase_fails_ppm: f64,
    /// Failed erases in a million that wear adds: this many at `endurance` erases, in proportion to the erases of the block.
    #[schemars(range(min = 0.0, max = 1000000.0))]
    pub erase_fails_worn_ppm: f64,
    /// What the run does once the drive is read-only.
    pub end: WearEnd,
    /// Years of warranty over which drive writes per day (DWPD) are counted.
    #[schemars(range(min = 0.1, max = 100.0))]
    pub warranty_years: f64,
}

impl Default for Wear {
    fn default() -> Self {
        Wear {
            endurance: 0,
            spread: 0.0,
            program_fails_ppm: 0.0,
            program_fails_worn_ppm: 0.0,
            erase_fails_ppm: 0.0,
            erase_fails_worn_ppm: 0.0,
            end: WearEnd::Stop,
            warranty_years: 5.0,
        }
    }
}

impl Wear {
    /// Blocks can fail.
    pub fn is_on(&self) -> bool {
        self.endurance > 0 || self.program_fails_ppm > 0.0 || self.erase_fails_ppm > 0.0
    }
}

/// What the run does once the drive is read-only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, VariantArray)]
#[serde(rename_all = "kebab-case")]
pub enum WearEnd {
    /// No further request arrives: the run ends when the requests that are outstanding have ended.
    Stop,
    /// The run goes on: reads are served, writes and trims rejected.
    Reads,
}

impl Config {
    /// Number of free blocks of a pool that only GC may take: one for the pages that a job moves, and, where blocks can fail, one for the
    /// next job, if the block that a job erases fails.
    pub fn reserve(&self) -> u32 {
        RESERVE + u32::from(self.wear.is_on())
    }

    /// Number of blocks that a pool may lose before the drive is read-only: beyond those, a drive of the blocks that are left would be
    /// refused, as it could not keep open blocks, reserve and GC threshold free.
    pub fn losable_blocks(&self) -> u32 {
        let Ok(capacity) = super::Capacity::of(self) else { return 0 };
        let held = capacity.frontiers + capacity.scattered_blocks();
        let reserve = u64::from(self.reserve());
        let soft = capacity.soft_blocks(if self.gc.trigger == Trigger::Both { self.gc.forced } else { self.gc.soft });
        let until = u64::from(self.gc.until);
        let threshold = if self.gc.trigger == Trigger::InvalidShare { reserve + 1 } else { soft.max(reserve + 1) };
        let for_episodes = if until > 0 { threshold + until + held + 1 } else { 0 };
        let needed = (held + reserve).max(held + soft + 1).max(for_episodes);
        u32::try_from(capacity.spare_blocks().saturating_sub(needed)).unwrap_or(u32::MAX)
    }
}
