//! What checks and verify mode ask of the log.

use super::Log;
use super::shadow::Shadow;
use crate::storage::observed::{Levels, Observed, above_one_level};
use crate::storage::zones::State;

impl Observed for Log {
    fn describe(&self) -> Option<String> {
        let (all, waiting, free) = (self.requests.len(), self.waiting.len(), self.space.free());
        let moves = if self.collects() { format!("it moves {} units", self.in_batch()) } else { "it moves nothing".into() };
        Some(format!("log: {all} requests are outstanding, {waiting} wait for a free zone, of which there are {free}; {moves}"))
    }

    fn check(&self) -> Result<(), String> {
        self.defect.clone().map_or_else(|| self.recount(), Err)
    }

    fn verify(&mut self, every_event: bool) {
        self.checks_every_event = every_event;
        self.shadow = Some(Box::new(Shadow::of(self)));
    }

    fn is_at_rest(&self) -> bool {
        self.requests.is_empty() && !self.collects() && !self.merges()
    }
}

above_one_level!(Log, zones);

impl Log {
    pub(super) fn check_if_verifying(&mut self) {
        if self.checks_every_event && self.defect.is_none() {
            self.defect = self.recount().err();
        }
    }

    fn recount(&self) -> Result<(), String> {
        self.space.check()?;
        self.blocks.as_ref().map_or(Ok(()), |blocks| blocks.check(&self.space))?;
        if self.requests.is_empty() && !self.unsent.is_empty() {
            return Err(format!("no request of the log is outstanding, and requests of {} units count as not sent", self.unsent.len()));
        }
        if !self.waiting.iter().is_sorted_by_key(|&place| self.requests[place].own.number) {
            return Err("writes do not wait for a free zone in the order in which they came in".into());
        }
        // With nothing outstanding all newest data lie in front of the write pointers of their zones.
        if !self.requests.is_empty() || self.collects() || self.merges() {
            return Ok(());
        }
        for place in (0..self.space.logical()).filter_map(|unit| self.space.place(unit)) {
            let (state, written) = self.zones().zone(place / self.capacity);
            if state == State::Empty || place % self.capacity >= written {
                return Err(format!("the log has data at {place}, in a zone that is {state:?} with {written} units"));
            }
        }
        Ok(())
    }
}
