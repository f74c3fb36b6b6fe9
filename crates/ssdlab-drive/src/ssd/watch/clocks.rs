//! Wait clocks: where the time of waiting transactions goes, without visiting each of them.
//!
//! Each domain (a die; a plane where planes are excluded apart; a station for writes under dynamic allocation) has clocks that add up for how long
//! each reason held it. A transaction notes their readings when it begins to wait; the differences when it begins are its waiting time by
//! reason.

use crate::sched::ClockNote;
use ssdlab_base::blocked::{Blocked, DriveTimes};
use ssdlab_base::units::{DieId, Ns, PlaneId, PoolId};
use ssdlab_keys::geometry::Geometry;

#[derive(Clone, Copy, Debug)]
struct Clock {
    shown: [Ns; Blocked::OF_DIES],
    /// The reason that holds the domain; `None`: nothing holds it, and then no transaction waits for it.
    reason: Option<Blocked>,
    since: Ns,
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
        let clock = &self.clocks[domain as usize];
        (into.domain, into.shown) = (domain, clock.shown);
        if let Some(reason) = clock.reason {
            into.shown[reason as usize] += now - clock.since;
        }
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
            if let Some(before) = clock.reason {
                clock.shown[before as usize] += now - clock.since;
            }
            (clock.reason, clock.since) = (reason, now);
        }
    }

    /// Adds the times from the noted readings until `now`, by reason.
    #[inline(always)]
    pub(in crate::ssd) fn add_since(&self, noted: &ClockNote, now: Ns, times: &mut DriveTimes) {
        let clock = &self.clocks[noted.domain as usize];
        // First, since the noted reading may have more of this reason than the clock shows.
        if let Some(reason) = clock.reason {
            times.wait(reason, now - clock.since);
        }
        times.wait_by_clocks(&noted.shown, &clock.shown);
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
        let mut noted = ClockNote::default();
        clocks.note_pool(15, PoolId(0), DieId(0), &mut noted);
        clocks.set_die(20, DieId(0), Some(Blocked::Bus));
        clocks.set_die(26, DieId(0), None);
        clocks.set_die(26, DieId(0), Some(Blocked::Scope));
        let (mut waited, mut expected) = (DriveTimes::default(), DriveTimes::default());
        clocks.add_since(&noted, 33, &mut waited);
        [(Blocked::HostOperation, 5), (Blocked::Bus, 6), (Blocked::Scope, 7)]
            .into_iter()
            .for_each(|(reason, ns)| expected.wait(reason, ns));
        assert_eq!(waited, expected);
    }
}
