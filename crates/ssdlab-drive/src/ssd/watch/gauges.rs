//! Values that a drive sums up over time for series of a run, beside its counters. They change seldom, when a job starts or ends and when a
//! block is taken or freed, so that every run keeps them.

use crate::ssd::{RoundPhase, Ssd};
use ssdlab_base::units::{ChipId, DieId, Ns};
use ssdlab_keys::energy::{ArrayTimes, Drawn, EnergyRates};
use ssdlab_result::stats::{Level, Readings, SeriesShape};

/// The gauges of a drive: levels and an extreme.
#[derive(Clone, Debug)]
pub(in crate::ssd) struct Gauges {
    /// By chip: 1 while a job is active on it.
    gc: Vec<Level>,
    /// Number of free blocks of all pools.
    free: Level,
    /// The fewest free blocks of a pool after a block was taken from it, since the last reading; `u32::MAX` if none was taken.
    free_min: u32,
}

impl Gauges {
    /// Gauges of a drive with `chips` chips and `free` free blocks at time 0.
    pub(in crate::ssd) fn new(chips: u32, free: u64) -> Self {
        let mut gauges = Gauges { gc: vec![Level::default(); chips as usize], free: Level::default(), free_min: u32::MAX };
        gauges.free.set(0, free);
        gauges
    }

    /// Number of free blocks of all pools.
    pub(in crate::ssd) fn free(&self) -> u64 {
        self.free.value()
    }

    /// Notes that a block was taken from each of some pools, which have `left` free blocks left.
    pub(in crate::ssd) fn blocks_taken(&mut self, now: Ns, blocks: u32, left: u32) {
        self.free.set(now, self.free.value() - u64::from(blocks));
        self.free_min = self.free_min.min(left);
    }

    /// Notes that erased blocks are free.
    pub(in crate::ssd) fn blocks_freed(&mut self, now: Ns, blocks: u32) {
        self.free.set(now, self.free.value() + u64::from(blocks));
    }
}

impl Ssd {
    /// Number of operations passed in searches for places in queues: a measure of work for tests.
    #[doc(hidden)]
    pub fn passed_in_queues(&self) -> u64 {
        self.sched.passed_in_queues()
    }

    /// Number of free blocks of the pool that has the fewest.
    pub fn fewest_free_blocks(&self) -> u32 {
        self.ftl.blocks().free_fewest()
    }

    /// What the parts of the drive draw; `None` without `energy`.
    pub fn energy_rates(&self) -> Option<EnergyRates> {
        self.rules.energy
    }

    /// What has drawn energy in this drive until `now`, commands of the host apart. Array times are 0 without keys of energy.
    pub fn drawn(&self, now: Ns) -> Drawn {
        let arrays = if self.rules.energy.is_some() { self.flash.array_times(now) } else { ArrayTimes::default() };
        let on_ns = if self.is_off { 0 } else { now.into() };
        Drawn { arrays, bus_ns: self.flash.buses_busy_ns(now), on_ns, state_ns: self.power_state_ns(now), ..Drawn::default() }
    }

    /// Adds the chips, dies, channels, pools and thresholds of this drive to `shape`.
    pub fn add_shape(&self, shape: &mut SeriesShape) {
        let geometry = self.geometry();
        shape.chips += geometry.chips;
        shape.dies += geometry.dies;
        shape.channels += geometry.channels;
        shape.pools += geometry.pools.count.get();
        shape.soft_blocks = self.ftl.soft_blocks();
        shape.hard_blocks = self.gc.hard_blocks();
        shape.energy = self.energy_rates();
        shape.heated += u32::from(self.has_temperature());
        shape.slc = self.rules.slc;
        (shape.streams, shape.host_streams) = (self.ftl.placed().counts.len(), self.ftl.placed().of_host);
    }

    /// Mapping units programmed since the start of the run: host data, page moves, mapping table, padding and parity.
    pub fn flash_units(&self) -> u64 {
        let counters = self.probes.counters();
        let parity_units = counters.parity_programs * u64::from(self.geometry().units_per_program);
        counters.host_programs + counters.pages_moved + counters.map_programs + counters.padded_units + parity_units
    }

    /// Adds the sums of this drive until `now` to `readings`; the fewest free blocks are counted from now on again.
    pub fn add_readings(&mut self, now: Ns, readings: &mut Readings) {
        self.catch_up(now, RoundPhase::Begins);
        let gauges = self.probes.gauges();
        readings.gc_ns.extend(gauges.gc.iter().map(|level| level.sum_until(now)));
        readings.jobs += self.probes.counters().jobs + self.active_jobs() + self.jobs_given_up().0;
        readings.pages_moved += self.probes.counters().pages_moved;
        readings.flash_bytes += self.flash_units() * u64::from(self.geometry().unit_bytes);
        let counters = self.probes.counters();
        let ways = [counters.slc_writes, counters.direct_writes, counters.folded_pages];
        for (bytes, units) in readings.slc_bytes.iter_mut().zip(ways) {
            *bytes += units * u64::from(self.geometry().unit_bytes);
        }
        self.ftl.placed().add_to(&mut readings.streams);
        readings.free_blocks += gauges.free();
        readings.free_block_ns += gauges.free.sum_until(now);
        for (sum, ns) in readings.state_ns.iter_mut().zip(self.state_ns(now)) {
            *sum += ns;
        }
        readings.bus_ns += self.flash.buses_busy_ns(now);
        readings.drawn = readings.drawn.joined(self.drawn(now));
        if let Some(stats) = self.thermal_stats(now) {
            readings.temperature += stats.sum;
            readings.throttled_ns += stats.level_ns[1..].iter().sum::<u128>();
        }
        readings.die_ns += (0..self.geometry().dies).map(|die| u128::from(self.flash.die_busy_ns(DieId(die), now))).sum::<u128>();
        readings.free_min = readings.free_min.min(std::mem::replace(&mut self.probes.gauges_mut().free_min, u32::MAX));
    }
}

/// Updates the gauge of a chip. Call when a job has started or ended on a die of it.
pub(in crate::ssd) fn jobs_changed(ssd: &mut Ssd, now: Ns, die: DieId) {
    let chip = ssd.geometry().chip_of_die(die);
    let active = ssd.chip_in_gc(chip, 0);
    ssd.probes.gauges_mut().gc[chip.index()].set(now, u64::from(active));
}

/// Recounts the gauged values.
pub(in crate::ssd) fn check(ssd: &Ssd) -> Result<(), String> {
    let gauges = ssd.probes.gauges();
    let (gauged, counted) = (gauges.free(), ssd.ftl.blocks().free_total());
    if gauged != counted {
        return Err(format!("{gauged} blocks are gauged as free, and {counted} are"));
    }
    match (0..ssd.geometry().chips).map(ChipId).find(|&chip| (gauges.gc[chip.index()].value() > 0) != ssd.chip_in_gc(chip, 0)) {
        Some(chip) => {
            Err(format!("chip {chip}: the gauge says that a GC job runs there, or that none does, and the jobs say the opposite"))
        }
        None => Ok(()),
    }
}
