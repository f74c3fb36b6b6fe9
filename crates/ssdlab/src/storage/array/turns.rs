//! The turns of a row: updates of it go one at a time, first come first served, and with them what must not pass them.
//!
//! Only an update holds its row, as it writes what it has made of what it read. A read or a trim whose turn has come is handed to the drives at once,
//! and the next may go: the drives keep the order from there on.

use super::layout::Layout;
use super::update::Update;
use crate::lists::NONE;
use crate::memory::Exhausted;
use crate::slab::Slab;
use crate::stats::Times;
use crate::units::Ns;

/// What waits for a turn, or has it.
#[derive(Clone, Copy, Debug)]
pub enum What {
    /// A write with parity.
    Update(Update),
    /// A read of bytes of a drive, all in the row.
    Read {
        /// The drive.
        drive: u32,
        /// First byte on it, and one past the last.
        start: u64,
        /// See `start`.
        end: u64,
    },
    /// The whole row is trimmed.
    Trim,
}

/// A turn.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// What has it.
    pub what: What,
    /// Its row.
    pub row: u32,
    /// Its request's place.
    pub request: u32,
    /// Of an update: it reads, and has not begun to write.
    pub reading: bool,
    /// Of an update: requests to drives that it waits for.
    pub pending: u32,
    /// Of an update: where its time went.
    pub times: Times,
    /// The same for the request to a drive that ended last; when that was, and where.
    pub last: (Ns, u64, Times),
    /// Who is next in the row.
    next: u32,
}

impl Turn {
    /// A turn to come.
    pub fn new(what: What, row: u32, request: u32) -> Self {
        Turn { what, row, request, reading: false, pending: 0, times: Times::default(), last: (0, 0, Times::default()), next: NONE }
    }
}

/// A row in use.
#[derive(Clone, Copy, Debug)]
struct Queue {
    /// The update that has the row.
    holder: u32,
    /// Who waits, first and last.
    first: u32,
    last: u32,
    /// Trims that wait.
    trims: u32,
}

/// The turns of all rows.
#[derive(Debug, Default)]
pub struct Turns {
    /// By row: its queue's place plus one; 0: the row is at rest.
    queues_of: Vec<u32>,
    queues: Slab<u32, Queue>,
    turns: Slab<u32, Turn>,
    /// By page of the array: updates under way or waiting that write it.
    changes: Vec<u32>,
}

impl Turns {
    /// No row is in use. Without parity there are no turns.
    pub fn new(layout: &Layout) -> Self {
        let of = |count: u32| vec![0; if layout.parity { count as usize } else { 0 }];
        Turns { queues_of: of(layout.rows), changes: of(layout.exported_pages()), ..Turns::default() }
    }

    /// Sees to it that so many more turns can be asked for without growing.
    ///
    /// # Errors
    /// [`Exhausted`].
    pub fn make_room(&mut self, more: usize) -> Result<(), Exhausted> {
        self.queues.make_room(more)?;
        self.turns.make_room(more)
    }

    /// The turn at a place.
    pub fn get(&self, place: u32) -> &Turn {
        &self.turns[place]
    }

    /// The turn at a place, to change it.
    pub fn get_mut(&mut self, place: u32) -> &mut Turn {
        &mut self.turns[place]
    }

    /// No row is held.
    #[inline]
    pub fn is_at_rest(&self) -> bool {
        self.queues.is_empty()
    }

    /// A row is held by an update.
    #[inline]
    pub fn is_held(&self, row: u32) -> bool {
        self.queues_of[row as usize] != 0
    }

    /// A page of a row is to be changed by what has the row or waits for it.
    #[inline]
    pub fn changes(&self, row: u32, page: u32) -> bool {
        self.changes[page as usize] > 0 || self.is_held(row) && self.queue(row).trims > 0
    }

    /// Lets an update have its row, or wait for it. Returns its place, and whether it has it.
    pub fn update(&mut self, layout: &Layout, turn: Turn) -> (u32, bool) {
        let What::Update(update) = turn.what else { unreachable!("only updates hold rows") };
        update.pages(layout).for_each(|page| self.changes[page as usize] += 1);
        if self.is_held(turn.row) {
            return (self.wait(turn), false);
        }
        let holder = self.turns.insert(turn);
        let queue = self.queues.insert(Queue { holder, first: NONE, last: NONE, trims: 0 });
        self.queues_of[turn.row as usize] = queue + 1;
        (holder, true)
    }

    /// Lets something wait for a row that is held. Returns its place.
    pub fn wait(&mut self, turn: Turn) -> u32 {
        let place = self.turns.insert(turn);
        let queue = &mut self.queues[self.queues_of[turn.row as usize] - 1];
        queue.trims += u32::from(matches!(turn.what, What::Trim));
        if queue.first == NONE {
            queue.first = place;
        } else {
            self.turns[queue.last].next = place;
        }
        queue.last = place;
        place
    }

    /// The update that has a row is done.
    pub fn release(&mut self, layout: &Layout, place: u32) -> Turn {
        let turn = self.turns[place];
        self.turns.remove(place);
        let What::Update(update) = turn.what else { unreachable!("only updates hold rows") };
        update.pages(layout).for_each(|page| self.changes[page as usize] -= 1);
        self.queues[self.queues_of[turn.row as usize] - 1].holder = NONE;
        turn
    }

    /// Whose turn is next in a row that nobody holds. An update has the row then; anything else has gone. `None`: the row is at rest again.
    pub fn next(&mut self, row: u32) -> Option<(u32, Turn)> {
        let queue_place = self.queues_of[row as usize] - 1;
        let queue = &mut self.queues[queue_place];
        let place = queue.first;
        if place == NONE {
            self.queues.remove(queue_place);
            self.queues_of[row as usize] = 0;
            return None;
        }
        let turn = self.turns[place];
        queue.first = turn.next;
        match turn.what {
            What::Update(_) => queue.holder = place,
            What::Read { .. } => self.turns.remove(place),
            What::Trim => {
                queue.trims -= 1;
                self.turns.remove(place);
            }
        }
        Some((place, turn))
    }

    fn queue(&self, row: u32) -> &Queue {
        &self.queues[self.queues_of[row as usize] - 1]
    }

    /// Rows that are held, and turns that wait.
    pub fn counts(&self) -> (usize, usize) {
        (self.queues.len(), self.turns.len() - self.queues.len())
    }

    /// All turns with their places.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Turn)> {
        self.turns.iter()
    }

    /// Recounts what is kept twice.
    ///
    /// # Errors
    /// The first contradiction.
    pub fn check(&self, layout: &Layout) -> Result<(), String> {
        let mut changes = vec![0; self.changes.len()];
        let mut reached = 0;
        for (row, &queue) in (0_u32..).zip(&self.queues_of).filter(|(_, queue)| **queue != 0) {
            let queue = &self.queues[queue - 1];
            let mut trims = 0;
            let mut place = queue.first;
            let waiting = std::iter::from_fn(|| {
                let now = (place != NONE).then_some(place)?;
                place = self.turns[now].next;
                Some(now)
            });
            for turn in std::iter::once(queue.holder).chain(waiting).map(|place| &self.turns[place]) {
                reached += 1;
                match turn.what {
                    What::Update(update) => update.pages(layout).for_each(|page| changes[page as usize] += 1),
                    What::Trim => trims += 1,
                    What::Read { .. } => {}
                }
                if turn.row != row {
                    return Err(format!("a turn of row {} stands in the line of row {row}", turn.row));
                }
            }
            if trims != queue.trims {
                return Err(format!("{trims} trims wait for row {row}, not {}", queue.trims));
            }
        }
        if reached != self.turns.len() {
            return Err(format!("{reached} turns stand in the lines of rows, of {}", self.turns.len()));
        }
        match (0..).zip(&changes).zip(&self.changes).find(|((_, counted), kept)| counted != kept) {
            Some(((page, counted), kept)) => Err(format!("{counted} updates are to write page {page} of the array, not {kept}")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        Layout { drives: 3, parity: true, failed: None, rows: 4, unit_pages: 1, page_bytes: 4096 }
    }

    fn update(from: u64) -> Turn {
        Turn::new(What::Update(Update { row: 2, from, to: from + 512, scattered: false }), 2, 7)
    }

    #[test]
    fn turns_come_in_order_and_only_updates_hold_the_row() {
        let layout = layout();
        let mut turns = Turns::new(&layout);
        let (first, has) = turns.update(&layout, update(0));
        assert!(has && turns.is_held(2) && !turns.is_held(1));
        // Row 2 has pages 4 and 5.
        assert_eq!([4, 5].map(|page| turns.changes(2, page)), [true, false]);
        turns.wait(Turn::new(What::Read { drive: 1, start: 0, end: 512 }, 2, 8));
        turns.wait(Turn::new(What::Trim, 2, 9));
        assert!(turns.changes(2, 5), "the trim is to change all pages of the row");
        let (second, has) = turns.update(&layout, update(4096));
        assert!(!has);
        turns.check(&layout).unwrap();
        assert_eq!(turns.counts(), (1, 3));
        turns.release(&layout, first);
        let requests = [(); 3].map(|()| turns.next(2).unwrap().1.request);
        assert_eq!(requests, [8, 9, 7]);
        assert_eq!([4, 5].map(|page| turns.changes(2, page)), [false, true]);
        turns.check(&layout).unwrap();
        turns.release(&layout, second);
        assert!(turns.next(2).is_none() && !turns.is_held(2));
        turns.check(&layout).unwrap();
        assert_eq!(turns.counts(), (0, 0));
    }
}
