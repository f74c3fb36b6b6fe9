//! Where the data of the log are, which zones are free, open or full, and which is collected next.

use std::cmp::Reverse;
use std::collections::VecDeque;

use ssdlab_keys::config::LogVictim;

/// Means "no unit".
pub const NOWHERE: u32 = u32::MAX;

/// What becomes of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Free,
    /// Writes or moves fill it.
    Open,
    Full,
    /// Its data are being moved, or it is being reset.
    Victim,
}

/// For whom a zone is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    Host,
    Moves,
}

/// Consecutive units of a zone that are written together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub zone: u32,
    /// The first unit, counted over the units of all zones that can be written.
    pub first: u32,
    pub units: u32,
}

/// The zones as the log sees them, and the place of each logical unit.
#[derive(Debug)]
pub struct Space {
    by: LogVictim,
    capacity: u32,
    /// By logical unit: the unit with its newest data, counted over the units of all zones that can be written, or [`NOWHERE`].
    places: Vec<u32>,
    /// By unit that can be written: the logical unit whose newest data it has, or [`NOWHERE`].
    owners: Vec<u32>,
    /// By zone: number of units with newest data.
    valid: Vec<u32>,
    uses: Vec<Use>,
    free: VecDeque<u32>,
    /// By writer: its open zone, and the next unit there.
    open: [Option<(u32, u32)>; 2],
    /// By zone: `written` when it became full.
    closed: Vec<u64>,
    /// By zone: number of writes that have not ended.
    under_way: Vec<u32>,
    /// Number of units that the host has written.
    written: u64,
}

impl Space {
    /// A log of `logical` units on `zones` zones of `capacity` units, which are empty; or with `filled` full, with the data of the logical units in order.
    pub fn new(by: LogVictim, zones: u32, capacity: u32, logical: u32, filled: bool) -> Self {
        let at = |unit: u32, of: u32| if filled && unit < of { unit } else { NOWHERE };
        let valid = |zone: u32| if filled { logical.saturating_sub(zone * capacity).min(capacity) } else { 0 };
        Space {
            by,
            capacity,
            places: (0..logical).map(|unit| at(unit, logical)).collect(),
            owners: (0..zones * capacity).map(|unit| at(unit, logical)).collect(),
            valid: (0..zones).map(valid).collect(),
            uses: vec![if filled { Use::Full } else { Use::Free }; zones as usize],
            free: if filled { VecDeque::new() } else { (0..zones).collect() },
            open: [None; 2],
            closed: vec![0; zones as usize],
            under_way: vec![0; zones as usize],
            written: 0,
        }
    }

    /// Number of logical units.
    pub fn logical(&self) -> u32 {
        self.places.len() as u32
    }

    /// Number of free zones.
    pub fn free(&self) -> u32 {
        self.free.len() as u32
    }

    /// The unit with the newest data of a logical unit.
    pub fn place(&self, unit: u32) -> Option<u32> {
        Some(self.places[unit as usize]).filter(|&place| place != NOWHERE)
    }

    /// The logical unit whose newest data a unit has.
    pub fn owner(&self, place: u32) -> Option<u32> {
        Some(self.owners[place as usize]).filter(|&unit| unit != NOWHERE)
    }

    /// Units that can be written in the open zone of moves, or in a new one.
    pub fn left_for_moves(&self) -> u32 {
        self.open[Writer::Moves as usize].map_or(self.capacity, |(_, next)| self.capacity - next)
    }

    /// Takes a free zone, for log-block mapping.
    pub fn open_zone(&mut self) -> Option<u32> {
        let zone = self.free.pop_front()?;
        self.uses[zone as usize] = Use::Open;
        Some(zone)
    }

    /// Takes up to `most` units of a zone from `next` on.
    pub fn append(&mut self, zone: u32, next: u32, most: u32) -> Run {
        let end = self.capacity.min(next + most);
        self.under_way[zone as usize] += 1;
        Run { zone, first: zone * self.capacity + next, units: end - next }
    }

    /// A zone is neither free nor being reset, and no write of it is under way.
    pub fn is_used(&self, zone: u32) -> bool {
        !matches!(self.uses[zone as usize], Use::Free | Use::Victim) && self.is_written(zone)
    }

    /// A zone without newest data is being reset.
    pub fn resets(&mut self, zone: u32) {
        self.uses[zone as usize] = Use::Victim;
    }

    /// Takes up to `most` units of the writer's open zone. `None`: it has none, and none may be opened; the last free zone is kept for moves.
    pub fn take(&mut self, writer: Writer, most: u32) -> Option<Run> {
        let (zone, next) = match self.open[writer as usize] {
            Some(open) => open,
            None if self.free.len() <= usize::from(writer == Writer::Host) => return None,
            None => (self.free.pop_front()?, 0),
        };
        let end = self.capacity.min(next + most);
        self.under_way[zone as usize] += 1;
        self.written += if writer == Writer::Host { u64::from(end - next) } else { 0 };
        let is_full = end == self.capacity;
        self.uses[zone as usize] = if is_full { Use::Full } else { Use::Open };
        self.open[writer as usize] = (!is_full).then_some((zone, end));
        if is_full {
            self.closed[zone as usize] = self.written;
        }
        Some(Run { zone, first: zone * self.capacity + next, units: end - next })
    }

    /// The newest data of a logical unit are at `place` from now on.
    pub fn put(&mut self, unit: u32, place: u32) {
        self.forget(unit);
        self.places[unit as usize] = place;
        self.owners[place as usize] = unit;
        self.valid[(place / self.capacity) as usize] += 1;
    }

    /// A logical unit has no data from now on.
    pub fn forget(&mut self, unit: u32) {
        let place = std::mem::replace(&mut self.places[unit as usize], NOWHERE);
        if place != NOWHERE {
            self.owners[place as usize] = NOWHERE;
            self.valid[(place / self.capacity) as usize] -= 1;
        }
    }

    /// A write of a zone has ended.
    pub fn write_ended(&mut self, zone: u32) {
        self.under_way[zone as usize] -= 1;
    }

    /// No write of a zone is under way.
    pub fn is_written(&self, zone: u32) -> bool {
        self.under_way[zone as usize] == 0
    }

    /// Chooses the next zone to collect: of the full zones with units that are not valid, and for whose valid units there is room, that which gains most.
    pub fn choose_victim(&mut self) -> Option<u32> {
        let room = self.free() * self.capacity + self.open[Writer::Moves as usize].map_or(0, |(_, next)| self.capacity - next);
        let is_ripe = |&zone: &usize| self.uses[zone] == Use::Full && self.valid[zone] < self.capacity && self.valid[zone] <= room;
        let zones = (0..self.uses.len()).filter(is_ripe);
        let victim = match self.by {
            LogVictim::None | LogVictim::Bast | LogVictim::Fast | LogVictim::Greedy => zones.min_by_key(|&zone| self.valid[zone]),
            LogVictim::CostBenefit => zones.min_by_key(|&zone| Reverse(self.gain(zone))),
        }?;
        self.uses[victim] = Use::Victim;
        Some(victim as u32)
    }

    /// Benefit over cost (Rosenblum and Ousterhout, TOCS 1992), (1 - u) age / (1 + u) for a share u of valid units, in 2^-32; the age is in units
    /// written since the zone was full.
    fn gain(&self, zone: usize) -> u128 {
        let (valid, all) = (u128::from(self.valid[zone]), u128::from(self.capacity));
        (((all - valid) * u128::from(self.written - self.closed[zone])) << 32) / (all + valid)
    }

    /// Units of a zone with newest data from `from` on, at most `most`, with the unit after the last one that was looked at.
    pub fn valid_from(&self, from: u32, most: u32, into: &mut Vec<u32>) -> u32 {
        let end = (from / self.capacity + 1) * self.capacity;
        let mut next = from;
        while next < end && (into.len() as u32) < most {
            if self.owners[next as usize] != NOWHERE {
                into.push(next);
            }
            next += 1;
        }
        next
    }

    /// A victim has been reset.
    pub fn reset_ended(&mut self, zone: u32) {
        self.uses[zone as usize] = Use::Free;
        self.free.push_back(zone);
    }

    /// Recounts what is redundant.
    ///
    /// # Errors
    /// A sentence about the first contradiction.
    pub fn check(&self) -> Result<(), String> {
        for (unit, &place) in (0..).zip(&self.places) {
            if place != NOWHERE && self.owners[place as usize] != unit {
                return Err(format!("unit {unit} of the log is at {place}, which has unit {}", self.owners[place as usize]));
            }
        }
        let owned = self.owners.iter().filter(|&&unit| unit != NOWHERE).count();
        let placed = self.places.iter().filter(|&&place| place != NOWHERE).count();
        if owned != placed {
            return Err(format!("{owned} units of zones have newest data of {placed} units of the log"));
        }
        for (zone, owners) in self.owners.chunks(self.capacity as usize).enumerate() {
            let valid = owners.iter().filter(|&&unit| unit != NOWHERE).count() as u32;
            if valid != self.valid[zone] || valid > 0 && self.uses[zone] == Use::Free {
                return Err(format!(
                    "zone {zone} of the log is {:?} and counts {} of {valid} valid units",
                    self.uses[zone], self.valid[zone]
                ));
            }
        }
        let free = self.uses.iter().filter(|&&what| what == Use::Free).count();
        if free == self.free.len() { Ok(()) } else { Err(format!("{free} zones of the log are free, and {} are listed", self.free.len())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four zones of four units, filled in order by eight logical units: two are full of newest data, two of none.
    fn filled(by: LogVictim) -> Space {
        Space::new(by, 4, 4, 8, true)
    }

    #[test]
    fn the_last_free_zone_is_kept_for_moves() {
        let mut space = Space::new(LogVictim::Greedy, 3, 4, 4, false);
        assert_eq!(space.take(Writer::Host, 8), Some(Run { zone: 0, first: 0, units: 4 }));
        assert_eq!(space.take(Writer::Host, 1), Some(Run { zone: 1, first: 4, units: 1 }));
        assert_eq!(space.take(Writer::Host, 8), Some(Run { zone: 1, first: 5, units: 3 }));
        assert_eq!(space.take(Writer::Host, 1), None);
        assert_eq!(space.take(Writer::Moves, 1), Some(Run { zone: 2, first: 8, units: 1 }));
    }

    #[test]
    fn greedy_takes_the_emptiest_zone() {
        let mut space = filled(LogVictim::Greedy);
        assert_eq!([space.choose_victim(), space.choose_victim(), space.choose_victim()], [Some(2), Some(3), None]);
        space.forget(5);
        assert_eq!(space.choose_victim(), None, "there is no room for its valid units");
        space.reset_ended(2);
        assert_eq!(space.choose_victim(), Some(1));
        space.check().unwrap();
    }

    /// Four units are written since zone 0, half valid, was full, so it gains 0.5 x 4 / 1.5. Zone 2 is emptier, but was filled just now, and gains nothing.
    #[test]
    fn cost_benefit_takes_an_old_zone() {
        let mut space = filled(LogVictim::CostBenefit);
        assert_eq!([space.choose_victim(), space.choose_victim()], [Some(2), Some(3)]);
        [2, 3].into_iter().for_each(|zone| space.reset_ended(zone));
        for unit in [0, 1, 4, 4] {
            let run = space.take(Writer::Host, 1).unwrap();
            space.put(unit, run.first);
        }
        [0, 1].into_iter().for_each(|unit| space.forget(unit));
        space.check().unwrap();
        assert_eq!(space.choose_victim(), Some(0));
    }
}
