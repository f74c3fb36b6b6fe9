//! Verify mode: each read must find the data of the last write that came before it.

use std::collections::BTreeMap;

use super::Log;
use ssdlab_base::request::RequestKind;

/// Versions of data: 0 is none, 1 what was there at the beginning.
#[derive(Debug)]
pub(super) struct Shadow {
    /// By logical unit: the version of the last write that came in.
    latest: Vec<u32>,
    /// By unit that can be written: the version that was written there last.
    stored: Vec<u32>,
    /// By place of an outstanding request: the versions that a read must find or a write writes, by unit.
    asked: BTreeMap<u32, Vec<u32>>,
    last: u32,
}

impl Shadow {
    /// Where the data are now.
    pub(super) fn of(log: &Log) -> Self {
        let stored = (0..log.zones().count() * log.capacity).map(|place| u32::from(log.space.owner(place).is_some())).collect();
        let latest = (0..log.space.logical()).map(|unit| u32::from(log.space.place(unit).is_some())).collect();
        Shadow { latest, stored, asked: BTreeMap::new(), last: 1 }
    }
}

impl Log {
    /// A request has come in: notes the versions that it must find, or writes.
    pub(super) fn note_request(&mut self, place: u32) {
        let request = self.requests[place].request;
        let units = request.offset / self.unit_bytes..(request.offset + request.length).div_ceil(self.unit_bytes);
        let whole = request.offset.div_ceil(self.unit_bytes)..(request.offset + request.length) / self.unit_bytes;
        let Some(shadow) = &mut self.shadow else { return };
        shadow.last += 1;
        let changed = match request.kind {
            RequestKind::Write => units.clone(),
            RequestKind::Trim => whole,
            _ => 0..0,
        };
        let version = if request.kind == RequestKind::Write { shadow.last } else { 0 };
        changed.for_each(|unit| shadow.latest[unit as usize] = version);
        if matches!(request.kind, RequestKind::Read | RequestKind::Write) {
            shadow.asked.insert(place, units.map(|unit| shadow.latest[unit as usize]).collect());
        }
    }

    /// A request has ended.
    pub(super) fn forget_request(&mut self, place: u32) {
        if let Some(shadow) = &mut self.shadow {
            shadow.asked.remove(&place);
        }
    }

    /// The version that a request must find in a unit, or writes; `None` without verify mode.
    fn asked(&self, place: u32, unit: u32) -> Option<u32> {
        let first = (self.requests[place].request.offset / self.unit_bytes) as u32;
        self.shadow.as_ref().map(|shadow| shadow.asked[&place][(unit - first) as usize])
    }

    /// A read of a unit is sent to where its data are.
    pub(super) fn check_read(&mut self, place: u32, unit: u32) {
        let (Some(shadow), Some(expected)) = (&self.shadow, self.asked(place, unit)) else { return };
        let found = self.space.place(unit).map_or(0, |at| shadow.stored[at as usize]);
        if found != expected && self.defect.is_none() {
            self.defect = Some(format!("a read of unit {unit} of the log finds version {found} in place of {expected}"));
        }
    }

    /// A write of a unit is sent to `at`.
    pub(super) fn note_write(&mut self, place: u32, unit: u32, at: u32) {
        let version = self.asked(place, unit);
        if let (Some(shadow), Some(version)) = (&mut self.shadow, version) {
            shadow.stored[at as usize] = version;
        }
    }

    /// The data at `from` have been moved to `to`.
    pub(super) fn note_move(&mut self, from: u32, to: u32) {
        if let Some(shadow) = &mut self.shadow {
            shadow.stored[to as usize] = shadow.stored[from as usize];
        }
    }
}
