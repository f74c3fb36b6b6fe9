//! Rotation (`array.rotation`; Yan et al. 2017): the pools of all drives take turns to collect. Those of one position have one turn at a time, in the
//! order in which they asked; at one instant by the number of their drive.

use std::collections::VecDeque;

use super::Array;
use crate::storage::Store;
use crate::views::TurnNews;
use ssdlab_base::units::{Ns, PoolId};
use ssdlab_keys::config;

/// A pool of a drive.
type Collector = (u32, PoolId);

/// The turns of one position.
#[derive(Debug, Default)]
struct Turns {
    /// The pool whose turn it is.
    holder: Option<Collector>,
    /// Pools that have asked for their turn, first come first served, and when, ns.
    waiting: VecDeque<(Collector, Ns)>,
}

/// The turns of all positions.
#[derive(Debug)]
pub struct Rotation {
    /// By position; as many as have been asked for.
    turns: Vec<Turns>,
    /// News of one drive, while they are handled; reused from call to call.
    inbox: Vec<TurnNews>,
    /// Positions of which a turn has ended or was asked for; reused from call to call.
    changed: Vec<u32>,
}

impl Rotation {
    /// No pool has asked for a turn; `None` if pools need none.
    pub fn new(array: &config::Array) -> Option<Self> {
        (array.rotation != config::Rotation::Off).then(|| Rotation { turns: Vec::new(), inbox: Vec::new(), changed: Vec::new() })
    }

    fn take_news(&mut self, now: Ns, drive: u32) {
        for TurnNews { position, pool, ends } in self.inbox.drain(..) {
            if self.turns.len() <= position as usize {
                self.turns.resize_with(position as usize + 1, Turns::default);
            }
            let turns = &mut self.turns[position as usize];
            if ends {
                assert_eq!(turns.holder.take(), Some((drive, pool)), "a pool ends its own turn");
            } else {
                turns.waiting.push_back(((drive, pool), now));
            }
            self.changed.push(position);
        }
    }

    /// Gives the turn of a position, if it is free, to the first pool that waits for it. Returns also when that has asked, ns.
    fn give_next(&mut self, position: u32) -> Option<(Collector, Ns)> {
        let turns = &mut self.turns[position as usize];
        if turns.holder.is_some() {
            return None;
        }
        let next = turns.waiting.pop_front();
        turns.holder = next.map(|(collector, _)| collector);
        next
    }
}

impl<D: Store> Array<D> {
    /// Gives free turns to the pools that wait for them. Returns true if a drive has one now: it must be dispatched.
    pub(super) fn pass_turns(&mut self, now: Ns) -> bool {
        let Some(mut rotation) = self.rotation.take() else { return false };
        for drive in self.layout.working() {
            self.drives[drive as usize].take_turn_news(&mut rotation.inbox);
            rotation.take_news(now, drive);
        }
        let mut any = false;
        let changed = std::mem::take(&mut rotation.changed);
        for &position in &changed {
            if let Some(((drive, pool), asked)) = rotation.give_next(position) {
                self.result.rotation_turns += 1;
                self.result.rotation_waits += u64::from(now > asked);
                self.result.rotation_wait_ns += now - asked;
                self.drives[drive as usize].give_turn(now, pool);
                self.touch(drive);
                any = true;
            }
        }
        rotation.changed = changed;
        rotation.changed.clear();
        self.rotation = Some(rotation);
        any
    }

    /// Verify mode: checks that an active job for space has its turn, that the array has given it, and that no turn is free for which a pool waits.
    pub(super) fn check_turns(&self) -> Result<(), String> {
        let Some(rotation) = &self.rotation else { return Ok(()) };
        let mut found = Ok(());
        for drive in self.layout.working() {
            self.drives[drive as usize].jobs_in_turn(&mut |position, pool, has_turn| {
                let holder = rotation.turns.get(position as usize).and_then(|turns| turns.holder);
                if !has_turn || holder != Some((drive, pool)) {
                    found = Err(format!("pool {pool} of drive {drive} collects in the turn of {holder:?} (position {position})"));
                }
            });
        }
        let free = rotation.turns.iter().position(|turns| turns.holder.is_none() && !turns.waiting.is_empty());
        found
            .and_then(|()| free.map_or(Ok(()), |position| Err(format!("the turn of position {position} is free, and a pool waits for it"))))
    }
}
