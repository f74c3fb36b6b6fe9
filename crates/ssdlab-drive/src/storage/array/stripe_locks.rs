//! Stripe locks: one update of a stripe is in service at a time, first come first served.
//!
//! A read or a trim that must not bypass an update waits in the same queue. An update keeps the lock until its parity is written, the rebuild of a
//! stripe until the new drive has its unit. A
//! read or a trim at the head of the queue goes to the drives at once and the lock passes on: the drives keep the order from there on.

use super::layout::Layout;
use super::update::Update;
use crate::lists::NONE;
use crate::slab::Slab;
use ssdlab_base::units::Ns;
use ssdlab_keys::memory::Exhausted;
use ssdlab_result::stats::Times;

/// The work of an operation on a stripe.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// A write with parity.
    Update(Update),
    /// A read of bytes of a drive, all in the stripe.
    Read {
        /// The drive that is read.
        drive: u32,
        /// First byte on the drive, and one past the last.
        start: u64,
        /// End of the bytes that begin at `start`.
        end: u64,
    },
    /// A read of all other drives in place of bytes of a drive, all in the stripe.
    Rebuild {
        /// The drive whose data are read.
        drive: u32,
        /// First byte on the drive, and one past the last.
        start: u64,
        /// End of the bytes that begin at `start`.
        end: u64,
    },
    /// A trim of the whole stripe.
    Trim,
    /// The unit of the failed drive is computed, and written to the drive in its place.
    Replacement,
}

/// An operation that holds the lock of its stripe or waits for it.
#[derive(Clone, Copy, Debug)]
pub struct StripeOp {
    /// The work of the operation.
    pub work: Work,
    /// The stripe of the operation.
    pub stripe: u32,
    /// The place of the host request that the operation is part of; `NONE` for [`Work::Replacement`].
    pub request: u32,
    /// An update or rebuild is reading and has not begun to write.
    pub reading: bool,
    /// Number of outstanding requests to drives that an update or rebuild waits for.
    pub pending: u32,
    /// Latency parts of an update.
    pub times: Times,
    /// End and position of the request to a drive that ended last for this update.
    pub last: (Ns, u64),
    /// Latency parts of the request to a drive that ended last for this update.
    pub last_times: Times,
    /// The next operation in the queue of the stripe, or `NONE`.
    next: u32,
}

impl StripeOp {
    /// An operation that has not waited yet.
    pub fn new(work: Work, stripe: u32, request: u32) -> Self {
        StripeOp {
            work,
            stripe,
            request,
            reading: false,
            pending: 0,
            times: Times::default(),
            last: (0, 0),
            last_times: Times::default(),
            next: NONE,
        }
    }
}

/// The lock of a locked stripe, and the queue for it.
#[derive(Clone, Copy, Debug)]
struct Queue {
    /// The update or rebuild that holds the lock.
    holder: u32,
    /// First and last of the operations that wait for the lock.
    first: u32,
    last: u32,
    /// Number of trims that wait for the lock.
    trims: u32,
}

/// The locks of all stripes.
#[derive(Debug, Default)]
pub struct StripeLocks {
    /// By stripe: the place of its lock in `queues` plus 1; 0 if the stripe is unlocked.
    queues_of: Vec<u32>,
    queues: Slab<u32, Queue>,
    ops: Slab<u32, StripeOp>,
    /// By page of the array: number of updates that write the page and hold a lock or wait for one.
    changes: Vec<u32>,
}

impl StripeLocks {
    /// Unlocked stripes. Without parity there are no locks.
    pub fn new(layout: &Layout) -> Self {
        let of = |count: u32| vec![0; if layout.parity { count as usize } else { 0 }];
        StripeLocks { queues_of: of(layout.stripes), changes: of(layout.exported_pages()), ..StripeLocks::default() }
    }

    /// Reserves memory for `more` operations.
    ///
    /// # Errors
    /// [`Exhausted`].
    pub fn make_room(&mut self, more: usize) -> Result<(), Exhausted> {
        self.queues.make_room(more)?;
        self.ops.make_room(more)
    }

    /// The operation at `place`.
    pub fn get(&self, place: u32) -> &StripeOp {
        &self.ops[place]
    }

    /// Mutable access to the operation at `place`.
    pub fn get_mut(&mut self, place: u32) -> &mut StripeOp {
        &mut self.ops[place]
    }

    /// No stripe is locked.
    #[inline]
    pub fn is_at_rest(&self) -> bool {
        self.queues.is_empty()
    }

    /// The stripe is locked.
    #[inline]
    pub fn is_held(&self, stripe: u32) -> bool {
        self.queues_of[stripe as usize] != 0
    }

    /// An operation that holds the lock of `stripe`, or waits for it, changes `page`.
    #[inline]
    pub fn changes(&self, stripe: u32, page: u32) -> bool {
        self.changes[page as usize] > 0 || self.is_held(stripe) && self.queue(stripe).trims > 0
    }

    /// Locks the stripe of an update, or queues the update. Returns its place, and whether it holds the lock.
    pub fn update(&mut self, layout: &Layout, op: StripeOp) -> (u32, bool) {
        let Work::Update(update) = op.work else { unreachable!("only updates hold locks") };
        update.pages(layout).for_each(|page| self.changes[page as usize] += 1);
        self.lock(op)
    }

    /// Locks the stripe of an operation that keeps the lock, or queues the operation. Returns its place, and whether it holds the lock.
    pub fn lock(&mut self, op: StripeOp) -> (u32, bool) {
        if self.is_held(op.stripe) {
            return (self.wait(op), false);
        }
        let holder = self.ops.insert(op);
        let queue = self.queues.insert(Queue { holder, first: NONE, last: NONE, trims: 0 });
        self.queues_of[op.stripe as usize] = queue + 1;
        (holder, true)
    }

    /// Queues an operation for its stripe, which is locked. Returns its place.
    pub fn wait(&mut self, op: StripeOp) -> u32 {
        let place = self.ops.insert(op);
        let queue = &mut self.queues[self.queues_of[op.stripe as usize] - 1];
        queue.trims += u32::from(matches!(op.work, Work::Trim));
        if queue.first == NONE {
            queue.first = place;
        } else {
            self.ops[queue.last].next = place;
        }
        queue.last = place;
        place
    }

    /// Removes an update or rebuild that has ended and held the lock of its stripe. [`StripeLocks::next`] passes the lock on.
    pub fn release(&mut self, layout: &Layout, place: u32) -> StripeOp {
        let op = self.ops[place];
        self.ops.remove(place);
        if let Work::Update(update) = op.work {
            update.pages(layout).for_each(|page| self.changes[page as usize] -= 1);
        }
        self.queues[self.queues_of[op.stripe as usize] - 1].holder = NONE;
        op
    }

    /// Takes the next operation from the queue of a released stripe. An update or rebuild holds the lock from then on; a read or trim is removed.
    /// `None`: the queue was empty, and the stripe is unlocked.
    pub fn next(&mut self, stripe: u32) -> Option<(u32, StripeOp)> {
        let queue_place = self.queues_of[stripe as usize] - 1;
        let queue = &mut self.queues[queue_place];
        let place = queue.first;
        if place == NONE {
            self.queues.remove(queue_place);
            self.queues_of[stripe as usize] = 0;
            return None;
        }
        let op = self.ops[place];
        queue.first = op.next;
        match op.work {
            Work::Update(_) | Work::Replacement => queue.holder = place,
            Work::Read { .. } | Work::Rebuild { .. } => self.ops.remove(place),
            Work::Trim => {
                queue.trims -= 1;
                self.ops.remove(place);
            }
        }
        Some((place, op))
    }

    fn queue(&self, stripe: u32) -> &Queue {
        &self.queues[self.queues_of[stripe as usize] - 1]
    }

    /// Number of locked stripes, and number of operations that wait for a lock.
    pub fn counts(&self) -> (usize, usize) {
        (self.queues.len(), self.ops.len() - self.queues.len())
    }

    /// All operations with their places, those that wait included.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &StripeOp)> {
        self.ops.iter()
    }

    /// Recounts the redundant counters.
    ///
    /// # Errors
    /// The first contradiction found.
    pub fn check(&self, layout: &Layout) -> Result<(), String> {
        let mut changes = vec![0; self.changes.len()];
        let mut reached = 0;
        for (stripe, &queue) in (0_u32..).zip(&self.queues_of).filter(|(_, queue)| **queue != 0) {
            let queue = &self.queues[queue - 1];
            let mut trims = 0;
            let mut place = queue.first;
            let waiting = std::iter::from_fn(|| {
                let now = (place != NONE).then_some(place)?;
                place = self.ops[now].next;
                Some(now)
            });
            for op in std::iter::once(queue.holder).chain(waiting).map(|place| &self.ops[place]) {
                reached += 1;
                match op.work {
                    Work::Update(update) => update.pages(layout).for_each(|page| changes[page as usize] += 1),
                    Work::Trim => trims += 1,
                    Work::Read { .. } | Work::Rebuild { .. } | Work::Replacement => {}
                }
                if op.stripe != stripe {
                    return Err(format!("an operation on stripe {} is in the queue of stripe {stripe}", op.stripe));
                }
            }
            if trims != queue.trims {
                return Err(format!("{trims} trims wait for stripe {stripe}, not {}", queue.trims));
            }
        }
        if reached != self.ops.len() {
            return Err(format!("{reached} of {} operations are in a stripe's queue", self.ops.len()));
        }
        match (0..).zip(&changes).zip(&self.changes).find(|((_, counted), kept)| counted != kept) {
            Some(((page, counted), kept)) => Err(format!("{counted} updates write page {page} of the array, not {kept}")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        Layout { drives: 3, parity: true, failed: None, replaced: false, rebuilt: 0, stripes: 4, unit_pages: 1, page_bytes: 4096 }
    }

    fn update(from: u64) -> StripeOp {
        StripeOp::new(Work::Update(Update { stripe: 2, from, to: from + 512, scattered: false }), 2, 7)
    }

    #[test]
    fn locks_are_granted_in_order_and_only_updates_hold_them() {
        let layout = layout();
        let mut locks = StripeLocks::new(&layout);
        let (first, has) = locks.update(&layout, update(0));
        assert!(has && locks.is_held(2) && !locks.is_held(1));
        // Stripe 2 has pages 4 and 5.
        assert_eq!([4, 5].map(|page| locks.changes(2, page)), [true, false]);
        locks.wait(StripeOp::new(Work::Read { drive: 1, start: 0, end: 512 }, 2, 8));
        locks.wait(StripeOp::new(Work::Trim, 2, 9));
        assert!(locks.changes(2, 5), "the trim changes all pages of the stripe");
        let (second, has) = locks.update(&layout, update(4096));
        assert!(!has);
        locks.check(&layout).unwrap();
        assert_eq!(locks.counts(), (1, 3));
        locks.release(&layout, first);
        let requests = [(); 3].map(|()| locks.next(2).unwrap().1.request);
        assert_eq!(requests, [8, 9, 7]);
        assert_eq!([4, 5].map(|page| locks.changes(2, page)), [false, true]);
        locks.check(&layout).unwrap();
        locks.release(&layout, second);
        assert!(locks.next(2).is_none() && !locks.is_held(2));
        locks.check(&layout).unwrap();
        assert_eq!(locks.counts(), (0, 0));
    }
}
