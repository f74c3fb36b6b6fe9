//! Log-block mapping: the data of a logical block, as many units as a zone has, lie in a data zone at their own offsets; what is written goes to
//! log zones. Where a log zone is wanted and there is none, the newest data of a block are *merged* into one data zone. Which block has which log
//! zones is the policy: `bast` or `fast`.

use super::bast::Bast;
use super::fast::Fast;
use super::space::{NOWHERE, Run, Space};
use ssdlab_keys::config::{LogVictim, Zones};

/// What a zone is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Nothing: it is free, or to be reset.
    Nothing,
    /// The data of a block, each at its offset.
    Data(u32),
    /// What was written since.
    Log,
    /// What a merge writes.
    Merge,
}

/// The log zone to which a policy sends a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goes {
    /// To the next unit of this log zone.
    To(u32),
    /// To a new log zone.
    ToNew,
    /// The write waits for the merge of this block.
    AfterMerge(u32),
    /// This log zone has no valid units, and is to be reset before the write has a log zone.
    AfterEmpty(u32),
}

/// How blocks have log zones.
#[derive(Debug)]
pub enum Policy {
    Bast(Bast),
    Fast(Fast),
}

/// How a block is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The log zone has all data in order, and becomes the data zone.
    Switch,
    /// The log zone has the first data in order; the rest is copied to it.
    Partial,
    /// All data are copied to a new zone.
    Full,
}

/// The merge under way.
#[derive(Clone, Copy, Debug)]
pub struct Merge {
    pub block: u32,
    /// The zone that becomes the data zone.
    pub into: u32,
    /// The next offset there.
    pub next: u32,
    pub how: How,
}

/// Logical blocks and their zones.
#[derive(Debug)]
pub struct Blocks {
    capacity: u32,
    policy: Policy,
    /// By logical block: its data zone, or [`NOWHERE`].
    data: Vec<u32>,
    holds: Vec<Holds>,
    /// By zone: units written, until a reset of it has ended.
    written: Vec<u32>,
    /// Most zones that may be written in part at a time: those are active, until their reset ends, too.
    most_active: usize,
    merge: Option<Merge>,
    /// The block to merge next.
    asked: Option<u32>,
}

impl Blocks {
    /// The blocks of a log as configured; `None` if it maps by unit. `filled`: all data lie in their data zones, the first ones.
    pub fn new(keys: &Zones, space: &Space, zones: u32, capacity: u32, filled: bool) -> Option<Self> {
        let count = space.logical() / capacity;
        let policy = match keys.log {
            LogVictim::Bast => Policy::Bast(Bast::new(count, keys.log_blocks)),
            LogVictim::Fast => Policy::Fast(Fast::new(keys.log_blocks - 1)),
            _ => return None,
        };
        let in_data = |zone: u32| filled && zone < count;
        Some(Blocks {
            capacity,
            policy,
            data: (0..count).map(|block| if filled { block } else { NOWHERE }).collect(),
            holds: (0..zones).map(|zone| if in_data(zone) { Holds::Data(zone) } else { Holds::Nothing }).collect(),
            written: (0..zones).map(|_| if filled { capacity } else { 0 }).collect(),
            most_active: keys.max_active.into(),
            merge: None,
            asked: None,
        })
    }

    /// The merge under way.
    pub fn merging(&self) -> Option<Merge> {
        self.merge
    }

    /// A merge is asked for that has not begun.
    pub fn asks(&self) -> bool {
        self.asked.is_some()
    }

    /// Takes up to `most` units of a log zone for a write from `unit` on, of the block of that unit. `None`: it waits.
    pub fn take(&mut self, space: &mut Space, unit: u32, most: u32) -> Option<Run> {
        let (block, offset) = (unit / self.capacity, unit % self.capacity);
        if self.merge.is_some_and(|merge| merge.block == block) || self.asked == Some(block) {
            return None;
        }
        let goes = match &mut self.policy {
            Policy::Bast(bast) => bast.place(block, |zone| self.written[zone as usize] < self.capacity),
            Policy::Fast(fast) => fast.place(block, offset, |zone| self.written[zone as usize], self.capacity, space),
        };
        let zone = match goes {
            Goes::To(zone) => zone,
            Goes::ToNew => {
                let zone = self.open_zone(space)?;
                self.holds[zone as usize] = Holds::Log;
                match &mut self.policy {
                    Policy::Bast(bast) => bast.opened(block, zone),
                    Policy::Fast(fast) => fast.opened(block, offset, zone),
                }
                zone
            }
            Goes::AfterMerge(block) => {
                if self.merge.is_none_or(|merge| merge.block != block) {
                    self.asked = Some(block);
                }
                return None;
            }
            Goes::AfterEmpty(zone) => {
                self.give_up(zone);
                return self.take(space, unit, most);
            }
        };
        Some(self.append(space, zone, most.min(self.capacity - offset)))
    }

    /// Takes up to `most` units of a zone.
    pub fn append(&mut self, space: &mut Space, zone: u32, most: u32) -> Run {
        let run = space.append(zone, self.written[zone as usize], most);
        self.written[zone as usize] += run.units;
        run
    }

    fn give_up(&mut self, zone: u32) {
        self.holds[zone as usize] = Holds::Nothing;
        match &mut self.policy {
            Policy::Bast(_) => {}
            Policy::Fast(fast) => fast.gave_up(zone),
        }
    }

    /// Takes a free zone, if one more may be active.
    fn open_zone(&self, space: &mut Space) -> Option<u32> {
        let active = self.written.iter().filter(|&&written| 0 < written && written < self.capacity).count();
        if active < self.most_active { space.open_zone() } else { None }
    }

    /// Begins the merge that is asked for, if there is a zone for it and none is under way. The zones of a block without valid units are to be reset instead.
    pub fn begin_merge(&mut self, space: &mut Space) -> Option<Merge> {
        let block = self.asked.filter(|_| self.merge.is_none())?;
        if (block * self.capacity..(block + 1) * self.capacity).all(|unit| space.place(unit).is_none()) {
            self.asked = None;
            self.give_up_zones(block);
            return None;
        }
        let log = match &self.policy {
            Policy::Bast(bast) => bast.log_of(block),
            Policy::Fast(fast) => fast.sequential_of(block),
        };
        let (how, into) = match log.filter(|&zone| self.is_in_order(space, block, zone)) {
            Some(zone) if self.written[zone as usize] == self.capacity => (How::Switch, zone),
            Some(zone) => (How::Partial, zone),
            None => (How::Full, self.open_zone(space)?),
        };
        self.holds[into as usize] = Holds::Merge;
        self.asked = None;
        self.merge = Some(Merge { block, into, next: self.written[into as usize], how });
        self.merge
    }

    /// A log zone has the newest data of a block, in order from its first unit on.
    fn is_in_order(&self, space: &Space, block: u32, zone: u32) -> bool {
        (0..self.written[zone as usize]).all(|offset| space.place(block * self.capacity + offset) == Some(zone * self.capacity + offset))
    }

    /// Some of what the merge copies next has been written as far as its destination.
    pub fn merged(&mut self, units: u32) {
        self.merge.as_mut().expect("a merge is under way").next += units;
    }

    /// The merge has ended: its destination becomes the data zone, and the old data and log zones of the block are to be reset.
    pub fn end_merge(&mut self) {
        let Merge { block, into, .. } = self.merge.take().expect("a merge is under way");
        self.give_up_zones(block);
        self.data[block as usize] = into;
        self.holds[into as usize] = Holds::Data(block);
    }

    /// The data zone of a block, and its own log zone, are to be reset.
    fn give_up_zones(&mut self, block: u32) {
        let old = std::mem::replace(&mut self.data[block as usize], NOWHERE);
        let log = match &mut self.policy {
            Policy::Bast(bast) => bast.merged(block),
            Policy::Fast(fast) => fast.merged(block),
        };
        for zone in [Some(old), log].into_iter().flatten().filter(|&zone| zone != NOWHERE) {
            self.holds[zone as usize] = Holds::Nothing;
        }
    }

    /// A written zone without valid units, to be reset next.
    pub fn to_reset(&self, space: &Space) -> Option<u32> {
        (0..).zip(&self.holds).find(|&(zone, &holds)| holds == Holds::Nothing && space.is_used(zone)).map(|(zone, _)| zone)
    }

    /// A zone has been reset.
    pub fn reset_ended(&mut self, zone: u32) {
        self.written[zone as usize] = 0;
    }

    /// Checks that all data lie at their offsets in data zones, or in log zones.
    ///
    /// # Errors
    /// A sentence about the first contradiction.
    pub fn check(&self, space: &Space) -> Result<(), String> {
        for unit in 0..space.logical() {
            let Some(place) = space.place(unit) else { continue };
            let (block, zone) = (unit / self.capacity, place / self.capacity);
            let is_right = match self.holds[zone as usize] {
                Holds::Nothing => false,
                Holds::Data(of) => of == block && place % self.capacity == unit % self.capacity && self.data[block as usize] == zone,
                Holds::Log => true,
                Holds::Merge => self.merge.is_some_and(|merge| merge.block == block),
            };
            if !is_right {
                return Err(format!("unit {unit} of the log is at {place}, in a zone that holds {:?}", self.holds[zone as usize]));
            }
        }
        let logs = self.holds.iter().filter(|&&holds| holds == Holds::Log).count();
        let listed = match &self.policy {
            Policy::Bast(bast) => bast.count(),
            Policy::Fast(fast) => fast.count(),
        };
        let into_log = self.merge.is_some_and(|merge| merge.how != How::Full);
        if logs + usize::from(into_log) == listed { Ok(()) } else { Err(format!("{logs} zones are logs, and {listed} are listed")) }
    }
}
