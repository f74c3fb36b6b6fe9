//! What checks and verify mode ask of the zones of a drive.

use super::machine::State;
use super::{Below, Phase, Zones};
use crate::storage::Store;
use crate::storage::observed::{Levels, Observed, above_one_level};
use crate::storage::store::{EachVolatile, each_written};
use ssdlab_base::request::RequestKind;

impl Observed for Zones {
    fn describe(&self) -> Option<String> {
        let (all, held) = (self.requests.len(), self.held.len());
        Some(format!("zones: {all} commands are outstanding, {held} of them wait for their zone, {} resets for writes", self.resets.len()))
    }

    fn check(&self) -> Result<(), String> {
        self.defect.clone().map_or_else(|| self.recount(), Err)
    }

    fn verify(&mut self, every_event: bool) {
        self.checks_every_event = every_event;
    }

    fn is_at_rest(&self) -> bool {
        self.requests.is_empty()
    }

    /// Calls back with the units of writes that have not gone to the drive.
    fn volatile_units(&self, each: &mut EachVolatile<'_>) {
        let held = self.held.iter().map(|&place| &self.requests[place].request);
        held.for_each(|request| each_written(request, self.page_bytes(), each));
    }
}

above_one_level!(Zones, drive);

impl Zones {
    pub(super) fn check_if_verifying(&mut self) {
        if self.checks_every_event && self.defect.is_none() {
            self.defect = self.recount().err();
        }
    }

    fn recount(&self) -> Result<(), String> {
        self.machine.check()?;
        let (mut accesses, mut writes) = (vec![0; self.accesses.len()], 0);
        let mut busy = vec![false; self.busy.len()];
        for (_, command) in self.requests.iter() {
            let (zone, phase) = (command.own.zone as usize, command.own.phase);
            let (is_below, kind) = (phase == Phase::Below, command.request.kind);
            let writes_zone = kind.brings_data() || kind == RequestKind::Copy;
            accesses[zone] += u32::from(is_below && (writes_zone || kind == RequestKind::Read));
            writes += u32::from(is_below && writes_zone);
            busy[zone] |= phase != Phase::Held && matches!(kind, RequestKind::ZoneFinish | RequestKind::ZoneReset);
            busy[zone] |= matches!(phase, Phase::Copies(_));
        }
        for (_, below) in self.below.iter() {
            if let Below::Copies(_, zone) = below {
                accesses[*zone as usize] += 1;
            }
        }
        if accesses != self.accesses || busy != self.busy {
            return Err("the zones count other accesses, finishes and resets than there are".into());
        }
        if writes != self.writes_of_place.iter().sum::<u32>() {
            return Err("the places of active zones count other writes than there are".into());
        }
        // At rest all that the host wrote in a zone is there, and nothing behind the write pointer of a zone that was not finished.
        let zones = (0..self.machine.count()).filter(|&zone| self.requests.is_empty() && !self.busy[zone as usize]);
        for zone in zones {
            let (state, written) = (self.machine.state(zone), self.machine.written(zone));
            let holds = |unit: u32| crate::cache::Targets::holds_data(&self.drive, zone * self.capacity + unit);
            let rejects = crate::storage::places::Places::is_read_only(&self.drive);
            if let Some(unit) = (0..self.capacity).find(|&unit| !rejects && state != State::Full && holds(unit) != (unit < written)) {
                return Err(format!("zone {zone} is {state:?} with {written} units written, and unit {unit} is wrong"));
            }
        }
        Ok(())
    }
}
