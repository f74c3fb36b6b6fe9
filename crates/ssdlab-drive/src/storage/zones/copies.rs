//! The Copy command (NVMe Command Set 1.0, section 3.2.2): the drive reads data and writes them at the write pointer of a zone.

use super::machine::Refusal;
use super::{Below, Phase, Zones};
use crate::storage::desk::Tracked;
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::units::Ns;
use ssdlab_result::stats::Times;

impl Zones {
    /// A copy to the byte `offset` comes in later, of units that begin at the bytes `sources`: as the command of a host only points to such a list.
    pub fn will_copy(&mut self, offset: u64, sources: Vec<u64>) {
        self.to_copy.push_back((offset, sources));
    }

    /// Reads what a copy copies, consecutive units of a zone together. Other commands of the zone to which it goes wait until then.
    pub(super) fn copy(&mut self, now: Ns, place: u32) -> Result<(), Refusal> {
        let Tracked { request, own, .. } = self.requests[place];
        let at = self.to_copy.iter().position(|copy| copy.0 == request.offset);
        let (_, sources) = at.and_then(|at| self.to_copy.remove(at)).ok_or(Refusal::InvalidWrite)?;
        let (unit, zone_bytes) = (self.unit_bytes, self.zone_bytes());
        let runs = || sources.chunk_by(|one, next| one + unit == *next && !next.is_multiple_of(zone_bytes));
        if sources.iter().any(|source| source % zone_bytes >= u64::from(self.capacity) * unit) {
            return Err(Refusal::Boundary);
        }
        self.busy[own.zone as usize] = true;
        let own = &mut self.requests[place].own;
        (own.phase, own.since) = (Phase::Copies(runs().count() as u32), now);
        for run in runs() {
            let zone = (run[0] / zone_bytes) as u32;
            self.accesses[zone as usize] += 1;
            let (offset, length) = (self.byte(zone, run[0] % zone_bytes), run.len() as u64 * unit);
            self.pass(now, Below::Copies(place, zone), Request { kind: RequestKind::Read, offset, length, ..request });
        }
        Ok(())
    }

    /// A part of what a copy copies has been read. After the last one the copy is written.
    pub(super) fn copy_has_read(&mut self, now: Ns, place: u32, from: u32, times: &Times) {
        self.accesses[from as usize] -= 1;
        let command = &mut self.requests[place];
        let Phase::Copies(left) = command.own.phase else { unreachable!("a copy reads") };
        command.own.phase = Phase::Copies(left - 1);
        command.times.status.add(times.status);
        if left > 1 {
            return;
        }
        command.times.then(times);
        let zone = command.own.zone;
        self.busy[zone as usize] = false;
        if let Err(refusal) = self.write(now, place) {
            self.count_error(refusal);
            self.reject(now, place);
        }
        self.let_in(now, zone);
    }
}
