//! Wait clocks: where the time of waiting transactions goes, without visiting each of them.
//!
//! Each domain (a die; a plane where planes are excluded apart; a station for writes under dynamic allocation) has clocks that add up for how long
//! each reason held it. A transaction notes their readings when it begins to wait; the differences when it begins are its waiting time by
//! reason.

use crate::sched::ClockNote;
use ssdlab_base::blocked::Blocked;
use ssdlab_base::units::{DieId, Ns, PlaneId, PoolId};
use ssdlab_keys::geometry::Geometry;

#[derive(Clone, Copy, Debug)]
struct Clock {
    shown: [Ns; Blocked::OF_DIES],
    /// The reason that holds the domain; `None`: nothing holds it, and then no transaction waits for it.
    reason: Option<Blocked>,
    since: Ns,
}

impl Clock {
    /// The readings at `now`, by reason, ns.
    #[inline(always)]
    fn read(&self, now: Ns) -> [Ns; Blocked::OF_DIES] {
        let mut shown = self.shown;
        if let Some(reason) = self.reason {
            shown[reason as usize] += now - self.since;
        }
        shown
    }
}

/// All wait clocks of a drive.
#[derive(Clone, Debug)]
pub(in crate::ssd) struct WaitClocks {
    clocks: Vec<Clock>,
    /// Domains are planes instead of dies.
    by_plane: bool,
    /// Number of the domain of the first station.
    first_station: u32,
}

impl WaitClocks {
    /// Clocks at zero. `by_plane`: operations wait by plane instead of by die.
    pub(in crate::ssd) fn new(geometry: &Geometry, by_plane: bool) -> Self {
        let first_station = if by_plane { geometry.planes } else { geometry.dies };
        let clock = Clock { shown: [0; Blocked::OF_DIES], reason: None, since: 0 };
        WaitClocks { clocks: vec![clock; (first_station + geometry.stations()) as usize], by_plane, first_station }
    }

    /// Operations wait by plane instead of by die.
    #[inline(always)]
    pub(in crate::ssd) fn by_plane(&self) -> bool {
        self.by_plane
    }

    /// Notes the clocks for a transaction of a pool, on this die, that begins to wait.
    #[inline(always)]
    pub(in crate::ssd) fn note_pool(&self, now: Ns, pool: PoolId, die: DieId, into: &mut ClockNote) {
        self.note(now, if self.by_plane { pool.0 } else { die.0 }, into);
    }

    /// Notes the clocks for a write of a station that begins to wait.
    pub(in crate::ssd) fn note_station(&self, now: Ns, station: u32, into: &mut ClockNote) {
        self.note(now, self.domain_of_station(station), into);
    }

    #[inline(always)]
    fn note(&self, now: Ns, domain: u32, into: &mut ClockNote) {
        into.domain = domain;
        into.shown = self.clocks[domain as usize].read(now);
    }

    /// Sets the reason that holds a die from now on.
    #[inline(always)]
    pub(in crate::ssd) fn set_die(&mut self, now: Ns, die: DieId, reason: Option<Blocked>) {
        self.set(now, die.0, reason);
    }

    /// Sets the reason that holds a plane from now on.
    pub(in crate::ssd) fn set_plane(&mut self, now: Ns, plane: PlaneId, reason: Option<Blocked>) {
        self.set(now, plane.0, reason);
    }

    /// Sets the reason that holds a station from now on.
    pub(in crate::ssd) fn set_station(&mut self, now: Ns, station: u32, reason: Option<Blocked>) {
        self.set(now, self.domain_of_station(station), reason);
    }

    #[inline(always)]
    fn set(&mut self, now: Ns, domain: u32, reason: Option<Blocked>) {
        let clock = &mut self.clocks[domain as usize];
        if clock.reason != reason {
            *clock = Clock { shown: clock.read(now), reason, since: now };
        }
    }

    /// The readings of a domain's clocks, by reason, ns.
    #[inline(always)]
    pub(in crate::ssd) fn read(&self, domain: u32, now: Ns) -> [Ns; Blocked::OF_DIES] {
        self.clocks[domain as usize].read(now)
    }

    /// The domain of a station.
    pub(in crate::ssd) fn domain_of_station(&self, station: u32) -> u32 {
        self.first_station + station
    }

    /// What holds a domain now (`None`: nothing), and since when, ns.
    pub(in crate::ssd) fn held(&self, domain: u32) -> (Option<Blocked>, Ns) {
        let Clock { reason, since, .. } = self.clocks[domain as usize];
        (reason, since)
    }

    /// Number of domains.
    pub(in crate::ssd) fn domains(&self) -> u32 {
        self.clocks.len() as u32
    }

    /// The reason that holds a domain now.
    pub(in crate::ssd) fn reason(&self, domain: u32) -> Option<Blocked> {
        self.clocks[domain as usize].reason
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_keys::config::Config;

    #[test]
    fn differences_are_the_time_for_which_each_reason_held() {
        let mut clocks = WaitClocks::new(&Geometry::new(&Config::default()), false);
        clocks.set_die(10, DieId(0), Some(Blocked::HostOperation));
        let before = clocks.read(0, 15);
        clocks.set_die(20, DieId(0), Some(Blocked::Bus));
        clocks.set_die(26, DieId(0), None);
        clocks.set_die(26, DieId(0), Some(Blocked::Scope));
        let after = clocks.read(0, 33);
        let waited =
            [Blocked::HostOperation, Blocked::Bus, Blocked::Scope, Blocked::GcOperation].map(|r| after[r as usize] - before[r as usize]);
        assert_eq!(waited, [5, 6, 7, 0]);
    }
}
