//! The tracks of a timeline, and the geometry of the drive that they belong to.

/// The geometry of the recorded drive.
#[derive(Clone, Copy, Debug)]
pub struct DriveShape {
    /// Number of the drive in the run, from 0.
    pub drive: u32,
    /// Number of dies.
    pub dies: u32,
    /// Number of channels.
    pub channels: u32,
    /// Number of pools.
    pub pools: u32,
    /// Pages per block.
    pub pages_per_block: u32,
    /// Blocks per pool.
    pub blocks_per_pool: u32,
}

/// Track of a slice. Slices that begin at one instant are sorted in the order of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Track {
    /// An operation slot: two for each die.
    Slot(u32),
    /// The suspended or paused operation of a die.
    Suspended(u32),
    /// The bus of a channel.
    Bus(u32),
    /// The job of a pool.
    Job(u32),
}
