//! Why operations wait. Whenever a die has been dispatched, its wait clocks are set to the reason that holds it; an operation that begins
//! reads its waiting time from them, by reason.

use crate::arbiter::eligible;
use crate::sched::{QueueKind, TransactionKind};
use crate::ssd::Ssd;
use crate::ssd::mechanisms::power;
use crate::ssd::watch::slowest;
use ssdlab_base::blocked::Blocked;
use ssdlab_base::units::{DieId, Ns, PlaneId, PoolId, TxnId};

impl Ssd {
    /// Calls `each` with the logical pages of host writes that are not in flash: writes under way, and writes in the host queue.
    pub fn each_unwritten(&self, each: &mut dyn FnMut(u32)) {
        let writes = |kind| matches!(kind, TransactionKind::Write | TransactionKind::ReadForWrite);
        self.transactions.iter().filter(|(_, one)| writes(one.kind)).for_each(|(_, one)| each(one.lpn.0));
        self.host.each_queued_write(self.geometry(), each);
    }

    /// No host operation is outstanding, and no job is active.
    pub fn is_at_rest(&self) -> bool {
        self.host.outstanding() == 0 && self.transactions.iter().next().is_none() && self.gc.jobs.count() == 0
    }

    /// Describes what waits for what, for the watchdog's report.
    pub fn describe(&self) -> String {
        let oldest = self.transactions.iter().filter(|(_, transaction)| transaction.queued || !transaction.active);
        let oldest = oldest.min_by_key(|(_, transaction)| transaction.ready).map(|(id, transaction)| {
            let kind = if transaction.kind.queue() == QueueKind::Write { "write" } else { "read" };
            format!(
                "; the oldest that waits is a {kind} of page {} ({})",
                transaction.lpn,
                reason_now(self, id).map_or("nothing holds its die", Blocked::name)
            )
        });
        format!(
            "{} requests are outstanding and nothing is due. {}{}; {}; {} requests in the host queue{}",
            self.host.outstanding(),
            self.sched.describe(),
            oldest.unwrap_or_default(),
            self.gc.describe(),
            self.host.queued(),
            self.accepted_units().map_or_else(String::new, |units| {
                let free = self.pools().map(|pool| self.ftl.blocks().free_count(pool)).min().unwrap_or(0);
                format!("; places are kept for {units} units, and the pool with the fewest free blocks has {free}")
            })
        )
    }
}

/// Ends the waiting time of a transaction: its wait clocks give the reasons.
#[inline(always)]
pub(in crate::ssd) fn stop_waiting(ssd: &mut Ssd, now: Ns, id: TxnId) {
    let transaction = &mut ssd.transactions[id];
    // It began to wait at its mark: mostly at this instant.
    if transaction.mark == now {
        return;
    }
    ssd.clocks.add_since(&transaction.noted, now, &mut transaction.times);
    let from = std::mem::replace(&mut transaction.mark, now);
    slowest::waited(ssd, id, from, now);
}

/// Sets the wait clocks of a die, and of what depends on it, to the reason that holds it now.
#[inline(always)]
pub(in crate::ssd) fn set_clocks(ssd: &mut Ssd, now: Ns, die: DieId) {
    if ssd.rules.flash.interleave {
        set_die_clock(ssd, now, die);
    } else {
        ssd.dies_of_chip_of(die).for_each(|die| set_die_clock(ssd, now, die));
    }
    if ssd.rules.dynamic {
        let station = ssd.geometry().station_of_die(die);
        if ssd.rules.flash.interleave || ssd.geometry().dies_per_station.get() > 1 {
            return set_station_clock(ssd, now, die, station);
        }
        for die in ssd.dies_of_chip_of(die) {
            set_station_clock(ssd, now, die, ssd.geometry().station_of_die(die));
        }
    }
}

#[inline(always)]
fn set_station_clock(ssd: &mut Ssd, now: Ns, die: DieId, station: u32) {
    let reason = station_blocked_by(ssd, station);
    slowest::clock_is_set(ssd, now, die, ssd.clocks.domain_of_station(station), reason);
    ssd.clocks.set_station(now, station, reason);
}

#[inline(always)]
fn set_die_clock(ssd: &mut Ssd, now: Ns, die: DieId) {
    let reason = blocked_on(ssd, die);
    if !ssd.clocks.by_plane() {
        slowest::clock_is_set(ssd, now, die, die.0, reason);
        return ssd.clocks.set_die(now, die, reason);
    }
    for plane in ssd.geometry().pools_of_die(die).map(PlaneId) {
        let reason = if ssd.gc.excludes_plane(plane) { Some(Blocked::Scope) } else { reason };
        slowest::clock_is_set(ssd, now, die, plane.0, reason);
        ssd.clocks.set_plane(now, plane, reason);
    }
}

/// The reason that holds a die. On an idle die that is not excluded, only operations that are not eligible wait.
#[inline(always)]
pub(in crate::ssd) fn blocked_on(ssd: &Ssd, die: DieId) -> Option<Blocked> {
    if ssd.gc.excludes_die(die).is_some() {
        return Some(Blocked::Scope);
    }
    match ssd.flash.in_service(die) {
        (_, true) => Some(Blocked::GcOperation),
        (true, false) => Some(Blocked::HostOperation),
        (false, false) => blocked_on_idle(ssd, die),
    }
}

#[inline]
fn blocked_on_idle(ssd: &Ssd, die: DieId) -> Option<Blocked> {
    if !ssd.rules.flash.interleave {
        // The chip does one operation at a time.
        let running = ssd.dies_of_chip_of(die).map(|die| ssd.flash.in_service(die)).find(|&(host, gc)| host || gc);
        match running {
            Some((true, _)) => return Some(Blocked::HostOperation),
            Some(_) => return Some(Blocked::GcOperation),
            None if ssd.dies_of_chip_of(die).any(|die| ssd.flash.waits_for_bus(die)) => return Some(Blocked::Bus),
            None => {}
        }
    } else if ssd.flash.waits_for_bus(die) {
        return Some(Blocked::Bus);
    }
    if let Some(reason) = power::held_by(ssd, die) {
        return Some(reason);
    }
    not_eligible_on(ssd, die)
}

/// Why the operations that wait for an idle die are not eligible: the reason of the first pool that has one. `None` if none waits, or
/// those that wait may begin.
fn not_eligible_on(ssd: &Ssd, die: DieId) -> Option<Blocked> {
    if !ssd.sched.any_waiting(die) {
        return None;
    }
    let mut pools = ssd.geometry().pools_of_die(die).map(PoolId);
    pools.find_map(|pool| not_eligible_in(ssd, pool, die))
}

fn not_eligible_in(ssd: &Ssd, pool: PoolId, die: DieId) -> Option<Blocked> {
    let limits = ssd.limits_beside_suspended(die);
    let writes = if ssd.rules.dynamic { ssd.sched.writes_for(die) } else { ssd.sched.queue(pool, QueueKind::Write) };
    let write = ssd.sched.head(writes).map(|_| ssd.view_of_write(pool, limits));
    let read = ssd.sched.head(ssd.sched.queue(pool, QueueKind::Read)).map(|id| ssd.view_of_read(pool, id, limits));
    write.into_iter().chain(read).find_map(|view| eligible(view).err())
}

/// The reason that holds a station, for writes that have no page yet: of its dies' reasons an exclusion first, then GC, the host, the bus. Where
/// the dies of a chip exclude each other, what another die of the chip does counts as well.
fn station_blocked_by(ssd: &Ssd, station: u32) -> Option<Blocked> {
    let of_station = ssd.geometry().dies_of_station(station);
    let of_chip = ssd.geometry().dies_of_chip(ssd.geometry().chip_of_die(DieId(of_station.start)));
    let dies = || if ssd.rules.flash.interleave { of_station.clone() } else { of_chip.clone() }.map(DieId);
    let held = |die| {
        let (host, gc) = ssd.flash.in_service(die);
        (host, gc, ssd.gc.excludes_die(die).is_some())
    };
    if dies().any(|die| held(die).2) {
        Some(Blocked::Scope)
    } else if dies().any(|die| held(die).1) {
        Some(Blocked::GcOperation)
    } else if dies().any(|die| held(die).0) {
        Some(Blocked::HostOperation)
    } else if dies().any(|die| ssd.flash.waits_for_bus(die)) {
        Some(Blocked::Bus)
    } else if let Some(reason) = dies().find_map(|die| power::held_by(ssd, die)) {
        Some(reason)
    } else {
        // There may be free blocks, but no room for the data in any pool.
        dies().find_map(|die| not_eligible_on(ssd, die)).or(Some(Blocked::FreeBlock))
    }
}

/// Why a transaction that has not begun waits now.
fn reason_now(ssd: &Ssd, id: TxnId) -> Option<Blocked> {
    let transaction = &ssd.transactions[id];
    if transaction.active { ssd.clocks.reason(transaction.noted.domain) } else { Some(Blocked::PageOrder) }
}
