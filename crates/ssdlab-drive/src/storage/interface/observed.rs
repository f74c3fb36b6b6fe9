//! What checks, statistics and verify mode ask of the host interface.

use super::{Interface, State};
use crate::storage::Store;
use crate::storage::observed::{LevelStats, Levels, Observed, above_one_level, add};
use crate::storage::store::{EachVolatile, each_written};
use ssdlab_base::units::Ns;
use ssdlab_result::slowest::Passage;
use ssdlab_result::stats::InterfaceStats;

impl<B: Store + 'static> Observed for Interface<B> {
    fn describe(&self) -> Option<String> {
        let state = self.state.as_deref()?;
        Some(format!("host interface: {} commands are outstanding, {} of them without a slot", state.commands.len(), state.outside.len()))
    }

    fn check(&self) -> Result<(), String> {
        let Some(state) = self.state.as_deref() else { return Ok(()) };
        state.defect.clone().map_or_else(|| state.recount(), Err)
    }

    fn verify(&mut self, every_event: bool) {
        if let Some(state) = self.state.as_deref_mut() {
            state.checks_every_event = every_event;
        }
    }

    fn is_at_rest(&self) -> bool {
        self.state.as_deref().is_none_or(|state| state.commands.is_empty())
    }

    /// Calls back with the units of writes that have not gone to the lower level.
    fn volatile_units(&self, each: &mut EachVolatile<'_>) {
        let Some(state) = self.state.as_deref() else { return };
        let waiting = state.commands.iter().filter(|(_, command)| !command.own.delivered);
        waiting.for_each(|(_, command)| each_written(&command.request, self.lower.page_bytes(), each));
    }

    fn keep_passages(&mut self) {
        if let Some(state) = self.state.as_deref_mut() {
            state.passages = Some(Box::default());
        }
    }

    fn take_passages(&mut self, into: &mut Vec<Passage>) {
        if let Some(passages) = self.state.as_deref_mut().and_then(|state| state.passages.as_deref_mut()) {
            into.append(&mut passages.over);
        }
    }

    fn add_stats(&self, now: Ns, to: &mut LevelStats) {
        let stats = self.state.as_deref().filter(|state| state.is_shown).map(|state| InterfaceStats {
            core_busy_ns: state.cores.busy_ns(now).into(),
            link_in_busy_ns: state.link_in.busy_ns(now).into(),
            link_out_busy_ns: state.link_out.busy_ns(now).into(),
            ..state.stats
        });
        add(&mut to.interface, stats, InterfaceStats::joined);
        to.commands += self.commands;
        to.link_bytes += self.link_bytes;
    }
}

above_one_level!(Interface<B>, lower, B);

impl State {
    pub(super) fn recount(&self) -> Result<(), String> {
        let (all, outside, inside) = (self.commands.len(), self.outside.len(), self.inside as usize);
        if outside + inside != all || self.inside > self.slots {
            return Err(format!("the host interface has {all} commands, {inside} of them in {} slots and {outside} outside", self.slots));
        }
        if self.is_held && inside > 0 {
            return Err(format!("{inside} commands have slots, and the drive is in a power state"));
        }
        self.outside.recount()?;
        if self.outside.fetched() != self.inside {
            return Err(format!("the queues of the host count {} commands inside, and there are {inside}", self.outside.fetched()));
        }
        let in_order = [&self.inbound, &self.outbound].iter().all(|queue| queue.iter().is_sorted_by_key(|&(ends, _)| ends));
        if in_order { Ok(()) } else { Err("commands on the link are not in the order in which their data arrive".into()) }
    }
}
