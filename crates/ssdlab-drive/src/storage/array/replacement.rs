//! A failed drive was replaced by a new one (`array.rebuild_stripes`): from time 0 on its units are computed, stripe after stripe, from those of
//! the other drives, and written to it, beside the requests of the host.
//!
//! A stripe is locked while it is rebuilt. Before, it is served without the drive, and from then on with it. Stripes end in order: one that is
//! written before an earlier one keeps its lock until that has been written, too.

use std::collections::VecDeque;

use super::layout::Layout;
use super::split::Access;
use super::stripe_locks::{StripeOp, Work};
use super::{Array, Owner, PlantedInArray};
use crate::lists::NONE;
use crate::storage::Store;
use ssdlab_base::request::RequestKind;
use ssdlab_base::units::Ns;
use ssdlab_keys::config;

/// A stripe that is being rebuilt.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    stripe: u32,
    /// The place of its operation among those on stripes.
    place: u32,
    /// The new drive has its unit.
    ended: bool,
    /// It holds no data.
    is_empty: bool,
}

/// State of the rebuild.
#[derive(Debug)]
pub struct Replacement {
    /// Stripes rebuilt at a time, at most.
    most: u32,
    /// Time between the beginnings of two stripes at the configured rate, ns; 0 without one.
    between: Ns,
    /// The next stripe to begin, and when it may, ns.
    next: u32,
    due: Ns,
    /// When the rebuild goes on without the end of a request, ns; [`Ns::MAX`] for never.
    pub wakes: Ns,
    under_way: VecDeque<UnderWay>,
    /// By stripe: the host has written to it before it was rebuilt.
    written: Vec<bool>,
}

impl Replacement {
    /// The rebuild of an array in which no stripe is rebuilt; `None` if no drive is replaced.
    pub fn new(array: &config::Array, layout: &Layout) -> Option<Box<Self>> {
        let rate = array.rebuild_bytes_per_us;
        layout.replaced.then(|| {
            Box::new(Replacement {
                most: array.rebuild_stripes,
                between: if rate > 0.0 { (layout.unit_bytes() as f64 * 1e3 / rate).round() as Ns } else { 0 },
                next: 0,
                due: 0,
                wakes: 0,
                under_way: VecDeque::new(),
                written: vec![false; layout.stripes as usize],
            })
        })
    }

    /// Takes the next stripe to begin, if one may begin now.
    fn take_next(&mut self, now: Ns, stripes: u32) -> Option<u32> {
        self.wakes = Ns::MAX;
        if self.next == stripes || self.under_way.len() >= self.most as usize {
            return None;
        }
        if now < self.due {
            self.wakes = self.due;
            return None;
        }
        self.next += 1;
        Some(self.next - 1)
    }

    fn of(&mut self, place: u32) -> &mut UnderWay {
        self.under_way.iter_mut().find(|stripe| stripe.place == place).expect("the stripe is being rebuilt")
    }
}

impl<D: Store> Array<D> {
    /// A write of the host to a stripe comes in.
    #[inline]
    pub(super) fn note_degraded_write(&mut self, stripe: u32) {
        if let Some(replacement) = &mut self.replacement {
            replacement.written[stripe as usize] = true;
        }
    }

    /// Begins to rebuild as many stripes as may begin now, and ends those that are first in order and written.
    pub(super) fn rebuild_stripes(&mut self, now: Ns) {
        while let Some(replacement) = &mut self.replacement {
            if let Some(&UnderWay { stripe, place, is_empty, .. }) = replacement.under_way.front().filter(|stripe| stripe.ended) {
                replacement.under_way.pop_front();
                *if is_empty { &mut self.result.empty_stripes } else { &mut self.result.rebuilt_stripes } += 1;
                self.layout.rebuilt = stripe + 1;
                self.result.left_stripes = self.layout.stripes - self.layout.rebuilt;
                if self.result.left_stripes == 0 {
                    self.result.rebuild_ns = now;
                }
                self.locks.release(&self.layout, place);
                self.stripe_is_free(now, stripe);
                continue;
            }
            let Some(stripe) = replacement.take_next(now, self.layout.stripes) else { return };
            let (place, has_lock) = self.locks.lock(StripeOp::new(Work::Replacement, stripe, NONE));
            replacement.under_way.push_back(UnderWay { stripe, place, ended: false, is_empty: false });
            if has_lock {
                self.begin_to_rebuild(now, place);
            }
        }
    }

    /// The rebuild of a stripe has its lock: reads all other units of it. A stripe without data needs no rebuild, and takes no time.
    pub(super) fn begin_to_rebuild(&mut self, now: Ns, place: u32) {
        let stripe = self.locks.get(place).stripe;
        let replacement = self.replacement.as_deref_mut().expect("a drive was replaced");
        let holds_data = |drive: &D| (0..self.layout.unit_pages).any(|page| drive.holds_data(stripe * self.layout.unit_pages + page));
        if !replacement.written[stripe as usize] && !self.drives.iter().any(holds_data) {
            let stripe = replacement.of(place);
            (stripe.ended, stripe.is_empty) = (true, true);
            replacement.wakes = now;
            return;
        }
        replacement.due = now.max(replacement.due) + replacement.between;
        self.locks.get_mut(place).reading = true;
        let left_out = self.has(PlantedInArray::RebuildsWithoutOne).then_some(u32::from(self.layout.failed == Some(0)));
        let failed = self.layout.failed;
        for drive in (0..self.layout.drives).filter(|&drive| failed != Some(drive) && left_out != Some(drive)) {
            self.send_unit(now, place, RequestKind::Read, drive);
        }
    }

    /// Sends a read or write of the unit of a stripe that is being rebuilt.
    fn send_unit(&mut self, now: Ns, place: u32, kind: RequestKind, drive: u32) {
        let op = self.locks.get_mut(place);
        op.pending += 1;
        let start = u64::from(op.stripe) * self.layout.unit_bytes();
        self.send(now, Owner::Rebuild(place), 0, Access { kind, drive, start, end: start + self.layout.unit_bytes(), data_drive: drive });
    }

    /// A request to a drive for the rebuild of a stripe has ended.
    pub(super) fn rebuild_request_done(&mut self, now: Ns, place: u32) {
        let op = self.locks.get_mut(place);
        op.pending -= 1;
        if op.pending > 0 {
            return;
        }
        let failed = self.layout.failed.expect("a drive has failed");
        if std::mem::replace(&mut op.reading, false) {
            let stripe = op.stripe;
            if let Some(shadow) = &mut self.shadow {
                shadow.compute_replacement(&self.layout, place, (stripe, failed));
            }
            return self.send_unit(now, place, RequestKind::Write, failed);
        }
        self.replacement.as_deref_mut().expect("a drive was replaced").of(place).ended = true;
        self.rebuild_stripes(now);
    }
}
