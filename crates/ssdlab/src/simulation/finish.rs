//! The end of a run, or of its warm-up: statistics are gathered into the result.

use std::path::Path;

use super::plan::Verify;
use super::prepare::{not_of_zones, only_of_one_drive, save_state};
use super::{Simulation, WarmingUp, trends};
use ssdlab_base::caller::Caller;
use ssdlab_base::error::{Error, Result};
use ssdlab_base::units::{ChannelId, Ns};
use ssdlab_drive::ssd::{RoundPhase, Ssd};
use ssdlab_drive::storage::{LevelStats, Storage};
use ssdlab_keys::config::Allocation;
use ssdlab_keys::energy::Drawn;
use ssdlab_keys::scale;
use ssdlab_result::stats::{DeviceStats, Rating, Run, RunResult, Series, SeriesResult, TimelineResult, Trends, WarmUpResult};
use ssdlab_result::timeline;
use ssdlab_result::timeline::Output;

impl Simulation {
    /// Simulates until every submitted request is complete, ends the run and returns its result.
    ///
    /// # Errors
    /// [`Error::Simulation`] if a request never completes or verify mode finds a defect; errors of writing the request log or the timeline.
    pub fn finish(self) -> Result<RunResult> {
        Ok(self.end()?.0)
    }

    /// Like [`Simulation::finish`], but afterwards, which is not part of the run, writes all that caches hold to flash and lets GC jobs
    /// end. Returns the storage at rest, too.
    ///
    /// # Errors
    /// As [`Simulation::finish`].
    pub fn finish_at_rest(self) -> Result<(RunResult, Storage)> {
        let (result, mut storage, now) = self.end()?;
        storage.come_to_rest(now)?;
        Ok((result, storage))
    }

    /// Like [`Simulation::finish`], but afterwards saves the state of the drive at rest to `out`, for a later run to begin with. Returns
    /// also whether that succeeded.
    ///
    /// # Errors
    /// As [`Simulation::finish`]; [`Error::Usage`] for an array.
    pub fn finish_and_save(self, out: &Path) -> Result<(RunResult, Result<()>)> {
        let config = self.plan.config.clone();
        only_of_one_drive(&config)?;
        not_of_zones(&config)?;
        let (result, mut storage, now) = self.end()?;
        let saved = storage.come_to_rest(now).and_then(|_| save_state(&config, storage.drives()[0].ftl(), out, &Caller::default()));
        Ok((result, saved))
    }

    pub(super) fn end(mut self) -> Result<(RunResult, Storage, Ns)> {
        self.run_to_idle()?;
        self.finish_with(serde_json::Value::Null, &Caller::default())
    }

    pub(super) fn finish_with(mut self, workload: serde_json::Value, caller: &Caller) -> Result<(RunResult, Storage, Ns)> {
        self.storage.catch_up(self.now, RoundPhase::Over);
        self.look_for_failures();
        if self.plan.verify != Verify::Off {
            self.storage.check()?;
        }
        let erases: Vec<u32> = self.storage.drives().into_iter().flat_map(|drive| drive.ftl().blocks().erases()).copied().collect();
        self.check_warm_up()?;
        let trends = self.trends();
        let device = device_stats(&self.storage, self.now);
        let (warm_up, device) = match &self.before {
            Some((warm_up, before)) => (Some(*warm_up), device.since(before)),
            None => (None, device),
        };
        let outstanding = self.outstanding();
        let warm_up_ns = warm_up.map(|warm_up| warm_up.ns);
        let shown = |series: Box<Series>| SeriesResult { warm_up_ns, ..series.finish(self.now, outstanding, &mut self.storage) };
        let series = self.series.map(shown);
        let run = Run {
            config: self.plan.config_of_result(),
            victim_source: self.plan.victim.map(|victim| victim.source_hash().to_string()),
            eviction_source: self.plan.eviction.map(|eviction| eviction.source_hash().to_string()),
            placement_source: self.plan.placement.map(|placement| placement.source_hash().to_string()),
            order_source: self.plan.order.map(|order| order.source_hash().to_string()),
            seed: self.plan.seed,
            workload,
            precondition: Some(self.precondition),
            warm_up,
            rating: Rating::of(&self.plan.config)?,
            series,
            histograms: self.plan.series.then(|| self.recorder.histograms()),
            write_stall_ns_max: self.stalls.longest(),
            simulated_ns: self.now,
            prepare_s: self.prepare_s,
            prepared_earlier: self.prepared_earlier,
            wall_s: self.started.elapsed().as_secs_f64(),
        };
        let idle_keys = self.plan.config.idle_choices(&self.plan.written, self.plan.state.is_some());
        if let Some(slowest) = &mut self.slowest {
            self.storage.finish_rings(self.now);
            self.storage.with_rings(self.now, |rings| slowest.finish(rings));
        }
        let recorders = self.storage.take_timelines();
        let reach = self.timeline.as_mut().map(|timeline| timeline.write(recorders, self.now, caller)).transpose()?;
        let blocks = self.blocks.map(|blocks| blocks.finish(self.now, |each| self.storage.blocks_now(each))).transpose()?;
        let result = RunResult::assemble(run, self.recorder.finish()?, device, &erases);
        self.slowest.map(|slowest| slowest.write(&result.digest)).transpose()?;
        self.timeline.map(Output::commit).transpose()?;
        let timeline = self.plan.timeline.as_ref().zip(reach).map(|(wanted, reach)| timeline_result(&wanted.path, reach));
        let (config, written) = (&self.plan.config, &self.plan.written);
        let of_config = [config.remarks(written), scale::remarks(config, written)].concat();
        let result = trends::with_remarks(RunResult { timeline, blocks, idle_keys, ..result }, &trends, of_config)?;
        Ok((result, self.storage, self.now))
    }

    /// Overload of the run and settling of its write amplification, at the end of the run.
    pub(super) fn trends(&mut self) -> Trends {
        let overload = if self.open_loop.contains(&true) { self.load.overload() } else { None };
        let met = if self.open_loop.contains(&false) { None } else { self.load.met() };
        let filled = (self.plan.config.ftl.allocation == Allocation::Dynamic).then(|| trends::filled(&self.storage));
        let cut = self.plan.requests.is_some_and(|requests| self.submitted >= requests);
        Trends { overload, settling: self.settling.ended(&self.storage), filled, cut, met }
    }

    /// Checks that the warm-up, if there is one, is over and that requests came after it.
    pub(super) fn check_warm_up(&self) -> Result<()> {
        let Some(warm_up) = self.plan.warm_up.filter(|&warm_up| !WarmingUp::of(Some(warm_up)).is_over()) else { return Ok(()) };
        let left_out = self.before.as_ref().map_or(0, |(warm_up, _)| warm_up.requests);
        if self.warming_up.is_over() && left_out < self.submitted {
            return Ok(());
        }
        Err(Error::Usage(format!(
            "{warm_up}: the run ended after {} requests and {} s, so that none was measured; take a shorter one",
            self.submitted,
            self.now as f64 / 1e9
        )))
    }

    /// Ends the warm-up at `ns`. `phase`: nothing of that instant has happened yet, or only the ends of stages. `first`: index of the
    /// request that is taken in next.
    #[cold]
    pub(super) fn end_warm_up(&mut self, ns: Ns, first: u64, phase: RoundPhase) {
        self.warming_up = WarmingUp::OVER;
        // The stages that end at this instant have been counted before a request that ends the warm-up arrives.
        let from_ns = if phase == RoundPhase::StagesEnded { ns + 1 } else { ns };
        self.recorder.measure_from(first, from_ns);
        if let Some(slowest) = &mut self.slowest {
            slowest.measure_from(first);
        }
        self.stalls.begin_at(ns);
        self.load.begin_measuring();
        match phase {
            RoundPhase::StagesEnded => self.storage.interrupt_bursts(ns),
            RoundPhase::Begins | RoundPhase::Over => self.storage.catch_up(ns, phase),
        }
        self.settling.restart(&self.storage);
        self.before = Some((WarmUpResult { requests: first, ns }, device_stats(&self.storage, ns)));
        self.storage.end_warm_up(ns);
        if let Some(timeline) = &mut self.timeline {
            timeline.requests().warm_up_ends(ns);
        }
    }
}

pub(super) fn timeline_result(file: &Path, reach: timeline::Reach) -> TimelineResult {
    let timeline::Reach { slices, from, to, full } = reach;
    TimelineResult { file: file.display().to_string(), slices, from_ns: from, to_ns: to, full }
}

/// The statistics of all drives at the time `end`.
pub(super) fn device_stats(storage: &Storage, end: Ns) -> DeviceStats {
    let drives = storage.drives().into_iter().map(|drive| drive_stats(drive, end));
    let joined = drives.reduce(DeviceStats::joined).expect("there is a drive");
    let LevelStats { cache, buffer, mapping, interface, array, commands, link_bytes } = storage.stats(end);
    let energy = joined.energy.map(|(rates, drawn)| (rates, Drawn { commands, link_bytes, ..drawn }));
    DeviceStats { cache, buffer, mapping, interface, array, energy, ..joined }
}

pub(super) fn drive_stats(ssd: &Ssd, end: Ns) -> DeviceStats {
    let counters = ssd.counters();
    let geometry = ssd.ftl().geometry();
    DeviceStats {
        pools: u64::from(geometry.pools.count.get()),
        unit_bytes: geometry.unit_bytes.into(),
        held_before: 0,
        host_programs: counters.host_programs,
        gc_programs: counters.pages_moved,
        padded_units: counters.padded_units,
        parity_units: counters.parity_programs * u64::from(geometry.units_per_program),
        reads: counters.host_reads + counters.map_reads + counters.gc_reads,
        erases: counters.erases,
        jobs: counters.jobs,
        pages_moved: counters.pages_moved,
        stale_moves: counters.stale_moves,
        job_ns_sum: counters.job_ns,
        job_ns_max: counters.job_ns_max,
        merged: [counters.merged_reads, counters.merged_writes],
        pipelined: [counters.pipelined_reads, counters.pipelined_writes],
        host_operations: counters.host_reads + counters.host_programs + counters.merged_reads,
        preemptions: counters.preemptions,
        suspensions: counters.suspensions,
        state_ns: ssd.state_ns(end),
        cache: None,
        buffer: None,
        mapping: None,
        interface: None,
        streams: ssd.ftl().placed().clone(),
        slack: *ssd.slack_stats(),
        energy: ssd.energy_rates().map(|rates| (rates, ssd.drawn(end))),
        thermal: ssd.thermal_stats(end),
        power_states: ssd.power_state_stats(end),
        ages: ssd.age_stats(end),
        slc: ssd.slc_stats(),
        wear: ssd.wear_stats(),
        erase_wear: ssd.erase_wear(),
        free_blocks_min: ssd.ftl().blocks().free_min(),
        gc_active_pool_ns: ssd.gc_active_ns(end),
        chip_busy_ns: (0..geometry.chips).map(|chip| ssd.chip_busy_ns(chip, end)).collect(),
        channel_busy_ns: (0..geometry.channels).map(|channel| ssd.bus_busy_ns(ChannelId(channel), end)).collect(),
        counters: counters.listed().map(|(name, count)| (name.to_string(), count)).collect(),
        array: None,
    }
}
