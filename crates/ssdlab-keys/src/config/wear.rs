//! Wear: how often blocks can be erased, which programs and erases fail, what happens at the end of the drive's life, and how blocks are worn
//! evenly.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::VariantArray;

use super::capacity::RESERVE;
use super::{ArrayLevel, Config, Streams, Trigger};

/// Blocks that fail, and the end of the drive's life. Off while no block can fail: `endurance`, `program_fails_ppm` and `erase_fails_ppm` are
/// 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Wear {
    /// Rated endurance: erases after which a block fails, those before the run included (`ftl.precondition.pe_cycles`); the mean over all
    /// blocks. 0: no block wears out.
    #[schemars(range(min = 0, max = 1000000000))]
    pub endurance: u32,
    /// Erases that a block is rated for: the ratings TBW and DWPD of any drive follow from it, and no block fails by it. 0: `endurance` is
    /// the rating.
    #[schemars(range(min = 0, max = 1000000000))]
    pub rated_cycles: u32,
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
    /// Static wear levelling: when the data of a block that has been erased little move, so that a worn block takes them and rests.
    pub leveling: Leveling,
    /// Difference of the erases of two blocks of a pool beyond which data move for levelling. `progressive`: the least such difference.
    #[schemars(range(min = 1, max = 1000000))]
    pub leveling_threshold: u32,
    /// With `leveling = "old-block"`: a block takes data of another only if its pool has had more erases than this since the block was erased
    /// last.
    #[schemars(range(min = 0, max = 1000000))]
    pub leveling_rest: u32,
    /// Growth of the erase time with wear: the share of `device.erase_ns` by which each 1,000 erases of a block lengthen its next, or, with
    /// `erase` other than `fixed`, the pulses that it needs.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub erase_growth: f64,
    /// How a block is erased. With pulses `device.erase_ns` is the mean time of pulses that a new block needs.
    pub erase: Erase,
    /// Length of a whole erase pulse, ns.
    #[schemars(range(min = 1000, max = 1000000000))]
    pub pulse_ns: u64,
    /// Time of the verify read after each erase pulse, ns.
    #[schemars(range(min = 0, max = 1000000000))]
    pub verify_ns: u64,
    /// With `erase = "as-needed"`: the last pulse is a multiple of this long, ns; a whole pulse at most.
    #[schemars(range(min = 1, max = 1000000000))]
    pub step_ns: u64,
    /// With `erase = "as-needed"`: length of a first pulse after which a verify read tells what the block needs, ns. It is part of the first
    /// whole pulse. 0: the first pulse is predicted without one.
    #[schemars(range(min = 0, max = 1000000000))]
    pub probe_ns: u64,
    /// Spread between blocks of the pulses that they need: the standard deviation of a normal distribution, as a share of
    /// `device.erase_ns`. Draws are cut off at three standard deviations.
    #[schemars(range(min = 0.0, max = 0.33))]
    pub erase_spread: f64,
}

impl Default for Wear {
    fn default() -> Self {
        Wear {
            endurance: 0,
            rated_cycles: 0,
            spread: 0.0,
            program_fails_ppm: 0.0,
            program_fails_worn_ppm: 0.0,
            erase_fails_ppm: 0.0,
            erase_fails_worn_ppm: 0.0,
            end: WearEnd::Stop,
            warranty_years: 5.0,
            leveling: Leveling::None,
            // Of the threshold and the rest, as public simulators of wear levelling have them.
            leveling_threshold: 10,
            leveling_rest: 8,
            erase_growth: 0.0,
            erase: Erase::Fixed,
            // Of pulse and probe, as the abstract of AERO has them; of the verify read and the step, guesses.
            pulse_ns: 3_500_000,
            verify_ns: 100_000,
            step_ns: 500_000,
            probe_ns: 1_000_000,
            erase_spread: 0.0,
        }
    }
}

impl Wear {
    /// Erases that a block is rated for; 0 without a rating.
    pub fn rating(&self) -> u32 {
        if self.rated_cycles > 0 { self.rated_cycles } else { self.endurance }
    }

    /// Blocks can fail.
    pub fn is_on(&self) -> bool {
        self.endurance > 0 || self.program_fails_ppm > 0.0 || self.erase_fails_ppm > 0.0
    }
}

impl Wear {
    /// Erases of a block have some effect: it may fail, take another time to erase, or have its data moved.
    pub fn is_active(&self) -> bool {
        self.is_on() || self.leveling != Leveling::None || self.erase_growth > 0.0 || self.erase != Erase::Fixed
    }
}

/// Static wear levelling: which blocks change their data, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, VariantArray)]
#[serde(rename_all = "kebab-case")]
pub enum Leveling {
    /// No data move for that.
    None,
    /// Dual pool (Chang, SAC 2007): blocks are hot or cold, at first every other. A hot block that is more than the threshold ahead of the youngest
    /// cold one takes its data, and both change sides.
    DualPool,
    /// Progressive, after PWL (Chen et al., DATE 2015): a block may be ahead of the youngest by as many erases as it has left
    /// (`wear.endurance`), and by the threshold at least.
    Progressive,
    /// Old block protection: a block that is more than the threshold ahead of the youngest, and was not erased lately
    /// (`wear.leveling_rest`), takes its data.
    OldBlock,
}

/// How a block is erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, VariantArray)]
#[serde(rename_all = "kebab-case")]
pub enum Erase {
    /// An erase takes `device.erase_ns`, whatever its block needs.
    Fixed,
    /// Whole pulses, each with a verify read, until the block is erased.
    Pulses,
    /// As `pulses`, but the last pulse is only as long as the block needs (AERO, ASPLOS 2024). An erase wears a block by the time of its
    /// pulses, as a share of that of whole ones.
    AsNeeded,
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
    /// Number of free blocks of a pool that the host may not take: one for the pages that a job moves; where blocks can fail, one for the next
    /// job, if the block that a job erases fails; and those of [`Config::kept_blocks`].
    pub fn reserve(&self) -> u32 {
        RESERVE + u32::from(self.wear.is_on()) + self.kept_blocks()
    }

    /// Blocks of a pool that are kept where blocks can fail and a level above the drive accepts writes before they are in flash: the two whose
    /// failure these writes outlive ([`Config::KEPT_BLOCKS`]), one for each further stream of writes, in either mode, and of page moves, of which each may take
    /// one, and those that the mapping table may take. Else 0.
    fn kept_blocks(&self) -> u32 {
        if !self.wear.is_on() || !self.accepts_early() {
            return 0;
        }
        let Streams { host_classes, move_classes, slc, count, .. } = Streams::new(self);
        Self::KEPT_BLOCKS + u32::from(host_classes + move_classes + count - slc) - 2 + self.map_kept_blocks()
    }

    /// Free blocks of a pool that no threshold of GC counts: those of [`Config::kept_blocks`], and what a full write buffer may take of the pool, if
    /// each of its units is programmed alone. So GC begins before the host has to wait for them.
    pub fn uncounted_blocks(&self) -> u32 {
        let Some(capacity) = super::Capacity::of(self).ok().filter(|_| self.kept_blocks() > 0) else { return 0 };
        let units = self.buffer_units().min(capacity.exported_units).div_ceil(capacity.pools / capacity.pools_per_group);
        let blocks = (units * capacity.units_per_program).div_ceil(capacity.units_per_block * capacity.pools_per_group);
        self.kept_blocks() + u32::try_from(blocks).unwrap_or(u32::MAX)
    }

    /// Blocks of a pool that may fail under data that a level above the drive has accepted: the one with which the drive becomes read-only,
    /// and one while the data are written after that.
    pub const KEPT_BLOCKS: u32 = 2;

    /// A level above the drive completes writes, or holds changes of the mapping table, before they are in flash.
    pub fn accepts_early(&self) -> bool {
        self.buffer.is_on() || self.caches_map() || self.accepts_above_buffer()
    }

    /// A level above the write buffer of the drive accepts writes: a cache that keeps them, or an array, which writes all pages that
    /// belong together or none.
    pub fn accepts_above_buffer(&self) -> bool {
        self.caches_writes() || self.array.level != ArrayLevel::None
    }

    /// Blocks of a pool that its share of the mapping table takes at most, if each translation page is written once more while it is being
    /// written, and shares its programs with no other; 0 if the whole table is in memory.
    pub fn map_kept_blocks(&self) -> u32 {
        let Some(capacity) = super::Capacity::of(self).ok().filter(|_| self.caches_map()) else { return 0 };
        let (page, program) = (u64::from(self.map_page_bytes() / self.map_unit_bytes()), capacity.units_per_program);
        // Pages that no program holds whole may begin and end within one.
        let programs = if program.is_multiple_of(page) { 1 } else { page.div_ceil(program) + 1 };
        let pages = capacity.map_units.div_ceil(capacity.pools).div_ceil(page);
        let units = 2 * pages * programs * program;
        let classes = u64::from(Streams::new(self).host_classes);
        u32::try_from(units.div_ceil(capacity.units_per_block) + if classes > 1 { classes } else { 0 }).unwrap_or(u32::MAX)
    }

    /// Number of blocks that a pool may lose before the drive is read-only: beyond those, a drive of the blocks that are left would be
    /// refused, as it could not keep open blocks, reserve and GC threshold free.
    pub fn losable_blocks(&self) -> u32 {
        let Ok(capacity) = super::Capacity::of(self) else { return 0 };
        let held = capacity.frontiers + capacity.scattered_blocks();
        let reserve = u64::from(self.reserve());
        let key = if self.gc.trigger == Trigger::Both { self.gc.forced } else { self.gc.soft };
        let soft = capacity.soft_blocks(key) + u64::from(self.uncounted_blocks());
        let until = u64::from(self.gc.until);
        let threshold = if self.gc.trigger == Trigger::InvalidShare { reserve + 1 } else { soft.max(reserve + 1) };
        let for_episodes = if until > 0 { threshold + until + held + 1 } else { 0 };
        let needed = (held + reserve).max(held + soft + 1).max(for_episodes);
        u32::try_from(capacity.spare_blocks().saturating_sub(needed)).unwrap_or(u32::MAX)
    }
}
