//! Why operations wait. Whenever a die has been dispatched, its wait clocks are set to the reason that holds it; an operation that begins
//! reads its waiting time from them, by reason.

use super::Ssd;
use crate::arbiter::eligible;
use crate::blocked::Blocked;
use crate::sched::{QueueKind, TransactionKind, linked};
use crate::units::{ChipId, DieId, Ns, PlaneId, PoolId, TxnId};

impl Ssd {
    /// Ends the waiting time of a transaction: its wait clocks give the reasons.
    #[inline(always)]
    pub(super) fn stop_waiting(&mut self, now: Ns, id: TxnId) {
        let transaction = &mut self.transactions[id];
        // It began to wait at its mark: mostly at this instant.
        if transaction.mark == now {
            return;
        }
        let shown = self.clocks.read(transaction.noted.domain, now);
        transaction.times.wait_by_clocks(&transaction.noted.shown, &shown);
        transaction.mark = now;
    }

    /// Sets the wait clocks of a die, and of what depends on it, to the reason that holds it now.
    #[inline(always)]
    pub(super) fn set_clocks(&mut self, now: Ns, die: DieId) {
        if self.rules.flash.interleave {
            self.set_die_clock(now, die);
        } else {
            self.dies_of_chip_of(die).for_each(|die| self.set_die_clock(now, die));
        }
        if self.rules.dynamic {
            let chip = self.geometry().chip_of_die(die);
            let reason = self.chip_blocked_by(chip);
            self.clocks.set_chip(now, chip, reason);
        }
    }

    #[inline(always)]
    fn set_die_clock(&mut self, now: Ns, die: DieId) {
        let reason = self.blocked_on(die);
        if !self.clocks.by_plane() {
            return self.clocks.set_die(now, die, reason);
        }
        for plane in self.geometry().pools_of_die(die).map(PlaneId) {
            let reason = if self.gc.excludes_plane(plane) { Some(Blocked::Scope) } else { reason };
            self.clocks.set_plane(now, plane, reason);
        }
    }

    /// The reason that holds a die. On an idle die that is not excluded, only operations that are not eligible wait.
    #[inline(always)]
    pub(super) fn blocked_on(&self, die: DieId) -> Option<Blocked> {
        if self.gc.excludes_die(die).is_some() {
            return Some(Blocked::Scope);
        }
        match self.flash.holders(die) {
            (_, true) => Some(Blocked::GcOperation),
            (true, false) => Some(Blocked::HostOperation),
            (false, false) => self.blocked_on_idle(die),
        }
    }

    #[inline]
    fn blocked_on_idle(&self, die: DieId) -> Option<Blocked> {
        if !self.rules.flash.interleave {
            // The chip does one operation at a time.
            let running = self.dies_of_chip_of(die).map(|die| self.flash.holders(die)).find(|&(host, gc)| host || gc);
            match running {
                Some((true, _)) => return Some(Blocked::HostOperation),
                Some(_) => return Some(Blocked::GcOperation),
                None if self.dies_of_chip_of(die).any(|die| self.flash.waits_for_bus(die)) => return Some(Blocked::Bus),
                None => {}
            }
        } else if self.flash.waits_for_bus(die) {
            return Some(Blocked::Bus);
        }
        self.not_eligible_on(die)
    }

    /// Why the operations that wait for an idle die are not eligible: the reason of the first pool that has one. `None` if none waits, or
    /// those that wait may begin.
    fn not_eligible_on(&self, die: DieId) -> Option<Blocked> {
        let chip = self.geometry().chip_of_die(die);
        if !self.sched.any_waiting(die, chip) {
            return None;
        }
        let mut pools = self.geometry().pools_of_die(die).map(PoolId);
        pools.find_map(|pool| self.not_eligible_in(pool, chip))
    }

    fn not_eligible_in(&self, pool: PoolId, chip: ChipId) -> Option<Blocked> {
        let limits = self.limits_beside_suspended(self.geometry().die_of_pool(pool));
        let writes = if self.rules.dynamic { self.sched.chip_queue(chip) } else { self.sched.queue(pool, QueueKind::Write) };
        let write = self.sched.head(writes).map(|_| self.view_of_write(pool, limits));
        let read = self.sched.head(self.sched.queue(pool, QueueKind::Read)).map(|id| self.view_of_read(pool, id, limits));
        write.into_iter().chain(read).find_map(|view| eligible(view).err())
    }

    /// The reason that holds a chip, for writes that have no die yet: of its dies' reasons an exclusion first, then GC, the host, the bus.
    fn chip_blocked_by(&self, chip: ChipId) -> Option<Blocked> {
        let dies = || self.geometry().dies_of_chip(chip).map(DieId);
        let held = |die| {
            let (host, gc) = self.flash.holders(die);
            (host, gc, self.gc.excludes_die(die).is_some())
        };
        if dies().any(|die| held(die).2) {
            Some(Blocked::Scope)
        } else if dies().any(|die| held(die).1) {
            Some(Blocked::GcOperation)
        } else if dies().any(|die| held(die).0) {
            Some(Blocked::HostOperation)
        } else if dies().any(|die| self.flash.waits_for_bus(die)) {
            Some(Blocked::Bus)
        } else {
            // There may be free blocks, but no room for the data in any pool.
            dies().find_map(|die| self.not_eligible_on(die)).or(Some(Blocked::FreeBlock))
        }
    }

    /// Why a transaction that has not begun waits now.
    fn blocked_by(&self, id: TxnId) -> Option<Blocked> {
        let transaction = &self.transactions[id];
        if transaction.active { self.clocks.reason(transaction.noted.domain) } else { Some(Blocked::PageOrder) }
    }

    /// Calls `each` with the logical pages of host writes that are not in flash: writes under way, and writes in the host queue.
    pub fn each_unwritten(&self, each: &mut dyn FnMut(u32)) {
        let writes = |kind| matches!(kind, TransactionKind::Write | TransactionKind::ReadForWrite);
        self.transactions.iter().filter(|(_, one)| writes(one.kind)).for_each(|(_, one)| each(one.lpn.0));
        self.host.each_queued_write(self.geometry(), each);
    }

    /// No host operation is outstanding, and no job is active.
    pub fn is_at_rest(&self) -> bool {
        self.host.outstanding() == 0 && self.transactions.iter().next().is_none() && self.gc.jobs_active() == 0
    }

    /// Describes what waits for what, for the watchdog's report.
    pub fn describe(&self) -> String {
        let oldest = self.transactions.iter().filter(|(_, transaction)| transaction.queued || !transaction.active);
        let oldest = oldest.min_by_key(|(_, transaction)| transaction.ready).map(|(id, transaction)| {
            let kind = if transaction.kind.queue() == QueueKind::Write { "write" } else { "read" };
            format!(
                "; the oldest that waits is a {kind} of page {} ({})",
                transaction.lpn,
                self.blocked_by(id).map_or("nothing holds its die", Blocked::name)
            )
        });
        format!(
            "{} requests are outstanding and nothing is due. {}{}; {}; {} requests in the host queue",
            self.host.outstanding(),
            self.sched.describe(),
            oldest.unwrap_or_default(),
            self.gc.describe(),
            self.host.queued()
        )
    }

    /// The dies of the chip that a die is on.
    pub(super) fn dies_of_chip_of(&self, die: DieId) -> impl Iterator<Item = DieId> + use<> {
        self.geometry().dies_of_chip(self.geometry().chip_of_die(die)).map(DieId)
    }

    /// The transactions of an operation, from the first on.
    pub(super) fn pages_of(&self, first: TxnId) -> impl Iterator<Item = TxnId> {
        linked(&self.transactions, Some(first))
    }
}
