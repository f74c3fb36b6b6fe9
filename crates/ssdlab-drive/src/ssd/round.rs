//! A round: all that a drive does at one instant. `simulation` (or a cache or array above) calls these in order.
//!
//! 1. Stages that end at this instant end ([`Ssd::handle_events`]).
//! 2. Requests that arrive are taken in ([`Ssd::accept`]).
//! 3. All that may begin begins ([`Ssd::dispatch`]): on each die that was woken, what the arbiter decides.
//!
//! Each completion is noted as it happens; [`Ssd::drain_completions`] fetches them.

use super::mechanisms::{self, ages, heat, idle, merge, pace, pause, power, power_states, slc, wear, windows};
use super::watch::{verify, waits};
use super::{Drained, Ssd};
use crate::event::Event;
use crate::flash::{Doing, Grant};
use crate::gc::Idle;
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::units::{ChannelId, DieId, Lpn, Ns, SlotId};
use ssdlab_result::stats::Completion;

impl Ssd {
    /// Begins the run at time 0. A drive with too few free blocks in some pool (a state saved under another threshold) collects at once.
    pub fn begin(&mut self) {
        windows::change(self, 0);
        heat::begin(self);
        self.pools().for_each(|pool| pace::pace_block(self, pool));
        self.pools().for_each(|pool| self.trigger_gc(0, pool));
        idle::all_requests_ended(self, 0);
        self.dispatch(0);
    }

    /// Counts the events, requests and dispatches that may have changed the state of the drive: while the count stays, so does the state.
    #[inline(always)]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// When the next event is due, ns.
    #[inline]
    pub fn next_event(&self) -> Option<Ns> {
        self.events.next_time()
    }

    /// Prefetches the memory for a request that will arrive soon. Results do not depend on it.
    #[inline]
    pub fn foresee(&self, request: &Request) {
        let page = self.geometry().units_in(request.offset);
        if page < u64::from(self.geometry().exported_units) {
            self.ftl.prefetch(Lpn(page as u32));
        }
    }

    /// Step 1 of a round: handles all events due at `now`.
    #[inline]
    pub fn handle_events(&mut self, now: Ns) {
        while let Some(event) = self.events.pop_at(now) {
            self.changes += 1;
            match event {
                (serial, Event::Slot(at)) if self.flash.is_stale(SlotId(at), serial) => {}
                (_, Event::Slot(at)) => self.array_event(now, SlotId(at)),
                (_, Event::Bus(channel)) => self.bus_event(now, ChannelId(channel)),
                (_, Event::Idle(work)) => idle::timer_is_due(self, now, work),
                (_, Event::Decoded) => ages::decoded(self, now),
                (_, Event::Window) => windows::change(self, now),
                (_, Event::Heat) => heat::look(self, now),
                (_, Event::PowerState) => power_states::event(self, now),
            }
        }
    }

    /// Step 2 of a round: takes in a request that arrives now. It must lie inside the logical pages of the drive.
    #[inline]
    pub fn accept(&mut self, now: Ns, index: u64, request: Request) {
        self.changes += 1;
        self.take_in(now, index, request, false);
    }

    /// Step 2 of a round, for a write of sectors of one page that do not follow each other. `request` is of the page, which is read first,
    /// once.
    pub fn accept_scattered(&mut self, now: Ns, index: u64, request: Request) {
        assert!(request.kind == RequestKind::Write && request.length == u64::from(self.geometry().unit_bytes));
        self.changes += 1;
        self.take_in(now, index, request, true);
    }

    /// Step 2 of a round, for a write of whole units that need not follow each other: units that go to one pool share programs.
    pub fn accept_units(&mut self, now: Ns, index: u64, units: &[u32], of: Drained) {
        let Drained { high_priority, handle, class } = of;
        self.changes += 1;
        // Most of the units have been in a write buffer for long.
        units.iter().for_each(|&unit| self.ftl.prefetch(Lpn(unit)));
        let length = u64::from(self.geometry().unit_bytes) * units.len() as u64;
        let request = Request { arrival_ns: now, kind: RequestKind::Write, offset: 0, length, high_priority, flow: 0, handle };
        let id = self.host.take_in_units(now, index, request, units, class);
        self.admit_request(now, id, index);
    }

    /// Step 3 of a round: begins everything that can begin now.
    #[inline]
    pub fn dispatch(&mut self, now: Ns) {
        if self.may_begin() {
            self.begin_all(now);
        } else {
            self.dispatched_at = Some(now);
        }
        verify::round(self);
    }

    /// Operations may begin in this round. With ageing, a power cap, an SLC cache or blocks that fail, that depends on the time alone: then always true.
    #[inline(always)]
    fn may_begin(&self) -> bool {
        let by_requests = self.ready.any() || self.host.may_admit() || self.merging.any_answered();
        by_requests || self.gc.may_begin() || self.ages.is_some() || self.power.is_some() || self.slc.is_some() || self.wear.is_some()
    }

    #[inline(never)]
    fn begin_all(&mut self, now: Ns) {
        self.changes += 1;
        if self.gc.idle().is_some_and(Idle::is_due) {
            idle::begin(self, now);
        }
        heat::catch_up(self, now);
        ages::look_for_due(self, now);
        slc::look(self, now);
        wear::look(self, now);
        if power_states::hold(self) {
            self.dispatched_at = Some(now);
            return;
        }
        loop {
            while let Some(channel) = self.ready.next_channel() {
                self.grant_bus(now, channel);
            }
            if self.merging.any_answered() {
                merge::answer_buffered(self, now);
            }
            if let Some(die) = self.ready.next_die() {
                self.dispatch_die(now, die, false);
                continue;
            }
            self.dispatched_at = Some(now);
            if self.host.may_admit() {
                self.admit_from_host_queue(now);
            } else if !power::wake_next(self)
                && (!self.gc.any_barrier() || !self.lift_barriers(now))
                && !mechanisms::nothing_begins(self, now)
            {
                break;
            }
        }
        heat::begun(self, now);
    }

    /// The bus of a channel is free: serves the transfers and dies in its queue, in order.
    fn grant_bus(&mut self, now: Ns, channel: ChannelId) {
        while let Some(grant) = self.flash.next_for_bus(now, channel, &mut self.events) {
            match grant {
                Grant::Transfer { at, ahead } => {
                    self.probes.count().data_first += u64::from(ahead);
                    self.transfer_begun(now, at);
                }
                Grant::Die(die) => self.dispatch_die(now, die, true),
            }
        }
    }

    /// Begins operations on a die, and sets its wait clocks to the reason that holds it then. `granted`: the bus is granted to the die.
    fn dispatch_die(&mut self, now: Ns, die: DieId, granted: bool) {
        if self.order.is_some() {
            self.dispatch_die_by::<true>(now, die, granted);
        } else {
            self.dispatch_die_by::<false>(now, die, granted);
        }
    }

    /// `OWN`: there is a user-defined order. Dispatching is compiled apart for it, so that it costs nothing without one.
    fn dispatch_die_by<const OWN: bool>(&mut self, now: Ns, die: DieId, granted: bool) {
        loop {
            let die = self.working_die(die);
            let begun = match self.flash.doing(die) {
                Doing::Nothing => self.between_moves::<OWN>(now, die, granted),
                _ if !self.rules.flash.shares_dies => false,
                Doing::Stopped(at) => self.inside_move::<OWN>(now, die, at),
                Doing::Gc(_) if self.read_register(now, die) => true,
                Doing::Gc(_) if self.rules.flash.for_reads.of_gc() && pause::stop_for_reads(self, now, die) => false,
                Doing::Gc(at) => {
                    self.in_array::<OWN>(now, die, at);
                    false
                }
                Doing::Other if self.rules.flash.pauses && pause::stop_for_reads(self, now, die) => false,
                Doing::Other if !OWN && self.nothing_can_begin_beside(die) => false,
                // A die at work begins only an operation that it would begin if it were idle: else a stream of one kind would keep the
                // other kind, or GC, waiting without end.
                Doing::Other => self.between_moves::<OWN>(now, die, granted),
            };
            if !begun || !self.rules.flash.shares_dies {
                break;
            }
        }
        waits::set_clocks(self, now, die);
    }

    /// Requests have completed since the last call of [`Ssd::drain_completions`].
    #[inline]
    pub fn has_completed(&self) -> bool {
        self.host.has_completed()
    }

    /// Moves the completions since the last call to `into`.
    #[inline]
    pub fn drain_completions(&mut self, into: &mut Vec<Completion>) {
        self.host.drain_completions(into);
    }
}
