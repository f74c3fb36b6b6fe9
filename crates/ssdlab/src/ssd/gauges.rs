//! What a drive adds up over time for those who want to see a run as series, where it is not added up anyway. It changes so seldom, when a job
//! starts or ends and when a block is taken or freed, that it is done in every run.

use super::{RoundPhase, Ssd};
use crate::stats::{Level, Readings, SeriesShape};
use crate::units::{ChipId, DieId, Ns};

/// Levels and extremes.
#[derive(Clone, Debug)]
pub(super) struct Gauges {
    /// By chip: 1 while a job is active on it.
    gc: Vec<Level>,
    /// Free blocks of all pools.
    free: Level,
    /// The fewest free blocks that a pool was left with when one was taken, since that was read last.
    free_min: u32,
}

impl Gauges {
    /// A drive of `chips` chips has `free` free blocks at time 0.
    pub(super) fn new(chips: u32, free: u64) -> Self {
        let mut gauges = Gauges { gc: vec![Level::default(); chips as usize], free: Level::default(), free_min: u32::MAX };
        gauges.free.set(0, free);
        gauges
    }

    /// Free blocks of all pools.
    pub(super) fn free(&self) -> u64 {
        self.free.value()
    }

    /// A block has been taken from a pool that has so many left.
    pub(super) fn block_taken(&mut self, now: Ns, left: u32) {
        self.free.set(now, self.free.value() - 1);
        self.free_min = self.free_min.min(left);
    }

    /// A block has been erased.
    pub(super) fn block_freed(&mut self, now: Ns) {
        self.free.set(now, self.free.value() + 1);
    }
}

impl Ssd {
    /// Operations that were passed in search of places in queues: a measure of work for tests.
    #[doc(hidden)]
    pub fn passed_in_queues(&self) -> u64 {
        self.sched.passed_in_queues()
    }

    /// A job has started or ended on a die.
    pub(super) fn gauge_jobs(&mut self, now: Ns, die: DieId) {
        let chip = self.geometry().chip_of_die(die);
        let active = self.chip_in_gc(chip, 0);
        self.probes.gauges_mut().gc[chip.index()].set(now, u64::from(active));
    }

    /// The free blocks of the pool that has the fewest.
    pub fn fewest_free_blocks(&self) -> u32 {
        self.ftl.blocks().free_fewest()
    }

    /// Adds to `shape` what this drive has.
    pub fn add_shape(&self, shape: &mut SeriesShape) {
        let geometry = self.geometry();
        shape.chips += geometry.chips;
        shape.dies += geometry.dies;
        shape.channels += geometry.channels;
        shape.pools += geometry.pools.count.get();
        shape.soft_blocks = self.ftl.soft_blocks();
        shape.hard_blocks = self.gc.hard_blocks();
    }

    /// Adds to `readings` what has been added up until `now`; the fewest free blocks begin anew.
    pub fn add_readings(&mut self, now: Ns, readings: &mut Readings) {
        self.catch_up(now, RoundPhase::Begins);
        let gauges = self.probes.gauges();
        readings.gc_ns.extend(gauges.gc.iter().map(|level| level.sum_until(now)));
        readings.jobs += self.probes.counters().jobs + self.gc.jobs_active();
        readings.pages_moved += self.probes.counters().pages_moved;
        readings.free_blocks += gauges.free();
        readings.free_block_ns += gauges.free.sum_until(now);
        for (sum, ns) in readings.state_ns.iter_mut().zip(self.state_ns(now)) {
            *sum += ns;
        }
        readings.bus_ns += self.flash.buses_busy_ns(now);
        readings.die_ns += (0..self.geometry().dies).map(|die| u128::from(self.flash.die_busy_ns(DieId(die), now))).sum::<u128>();
        readings.free_min = readings.free_min.min(std::mem::replace(&mut self.probes.gauges_mut().free_min, u32::MAX));
    }

    /// Recounts what is gauged.
    pub(super) fn check_gauges(&self) -> Result<(), String> {
        let gauges = self.probes.gauges();
        let (gauged, counted) = (gauges.free(), self.ftl.blocks().free_total());
        if gauged != counted {
            return Err(format!("{gauged} blocks are gauged as free, and {counted} are"));
        }
        match (0..self.geometry().chips).map(ChipId).find(|&chip| (gauges.gc[chip.index()].value() > 0) != self.chip_in_gc(chip, 0)) {
            Some(chip) => Err(format!("chip {chip} is gauged wrongly as to whether it has a job")),
            None => Ok(()),
        }
    }
}
