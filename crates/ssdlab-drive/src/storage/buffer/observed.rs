//! What checks, statistics and verify mode ask of the write buffer.

use super::pacing_queue::PacingQueue;
use super::shadow::Shadow;
use super::{Buffer, State};
use crate::storage::observed::{LevelStats, Levels, Observed, above_one_level, add};
use crate::storage::store::EachVolatile;
use ssdlab_base::units::Ns;
use ssdlab_result::stats::BufferStats;

impl Observed for Buffer {
    fn describe(&self) -> Option<String> {
        if let Some(pacing) = self.pacing.as_deref() {
            return Some(pacing.describe());
        }
        let state = self.state.as_deref()?;
        Some(format!(
            "write buffer: {} requests are outstanding, {} of them wait for room and {} for a flush; {} of {} units are in use; {} requests to \
             the drive are outstanding, {} of them programs",
            state.requests.len(),
            state.waiting.len(),
            state.flushes.waiting(),
            state.entries.in_use(),
            state.entries.capacity(),
            state.below.len(),
            state.sent
        ))
    }

    fn check(&self) -> Result<(), String> {
        self.state.as_deref().map_or(Ok(()), State::recount)
    }

    fn verify(&mut self, every_event: bool) {
        let units = self.drive.ftl().geometry().exported_units;
        if let Some(state) = self.state.as_deref_mut() {
            state.shadow = Some(Shadow::new(units));
            state.checks_every_event = every_event;
        }
    }

    fn is_at_rest(&self) -> bool {
        let passed = self.pacing.as_deref().is_none_or(PacingQueue::is_empty);
        passed && self.state.as_deref().is_none_or(|state| state.requests.is_empty() && state.entries.in_use() == 0)
    }

    fn program_all(&mut self, now: Ns) {
        if let Some(state) = self.state.as_deref_mut() {
            state.hurry_all();
            self.settle(now);
        }
    }

    fn volatile_units(&self, each: &mut EachVolatile<'_>) {
        let Some(state) = self.state.as_deref() else {
            self.pacing.iter().flat_map(|pacing| pacing.units_that_wait()).for_each(|unit| each(unit, None));
            return self.drive.unwritten_units(each);
        };
        state.waiting.written_units().for_each(|unit| each(unit, None));
        if !state.protected {
            state.entries.not_in_flash().for_each(|(unit, write)| each(unit, Some(write)));
        }
    }

    fn add_stats(&self, _now: Ns, to: &mut LevelStats) {
        let stats = self.state.as_deref().map(|state| BufferStats {
            capacity: state.entries.capacity() as u64,
            held: state.entries.in_use() as u64,
            ..state.stats
        });
        add(&mut to.buffer, stats, BufferStats::joined);
    }
}

above_one_level!(Buffer, drive);

impl State {
    pub(super) fn recount(&self) -> Result<(), String> {
        self.entries.check()?;
        let Some(shadow) = &self.shadow else { return Ok(()) };
        shadow.defect()?;
        self.entries.findable().try_for_each(|entry| shadow.check(entry.unit, Some(entry.version)))
    }
}
