//! The host interface of a drive: slots for commands, the controller's processors, and the link to the host. docs/model/host.md.
//!
//! | file | what is there |
//! |---|---|
//! | `cores` | the processors: they fetch commands and complete them |
//! | `link` | one direction of the link, and the rate of writes |
//! | `observed` | what checks, statistics and verify mode ask |
//! | `power_states` | which commands wait while the drive leaves a power state? |
//! | `queues`, `quota` | the queues of the host, and whose turn it is; how fast a queue may send |
//!
//! A command waits for a slot, then for a core that fetches it; the data of a write come over the link; then the *lower* level, a drive
//! or a cache in front of it, serves it. The data of a read go over the link; then a core completes the command, and its slot is free.
//!
//! At one instant all that can end ends first, repeatedly where an end causes another at once. A core that is free after that fetches:
//! a fetch that takes time begins in [`Store::dispatch`], once the lower level has nothing more to do at the instant.

mod cores;
mod link;
mod observed;
mod passages;
mod power_states;
mod queues;
mod quota;

use std::collections::VecDeque;

use super::Store;
use super::desk::{Desk, Tracked};
use super::observed::Levels;
use super::store::Layer;
use crate::ssd::Ssd;
use cores::{Cores, Task};
use link::{Link, WriteRate};
use passages::Passages;
use queues::Queues;
use ssdlab_base::blocked::{Blocked, Served};
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::units::Ns;
use ssdlab_keys::config::Config;
use ssdlab_keys::memory::{self, Exhausted};
use ssdlab_result::stats::{Completion, InterfaceStats};
use ssdlab_result::timeline::Origin;

/// State of an outstanding request at the interface, called a command.
#[derive(Clone, Copy, Debug)]
struct Command {
    /// Number of commands that arrived before this one.
    number: u64,
    /// The command writes sectors that are not consecutive.
    scattered: bool,
    /// Start of the present phase of the command; its latency parts cover the time until then.
    since: Ns,
    /// Time that the command waits for the rate of writes, or for that of an older write, once its data, or those of that write, have come.
    rate_ns: Ns,
    /// The command has gone to the lower level.
    delivered: bool,
}

impl Tracked<Command> {
    /// A link phase ends. A command whose data were `carried` had them on `link`; any other waited at most for an older write.
    fn was_on(&mut self, link: &Link, carried: bool, now: Ns) {
        let served = if carried { link.takes_ns(self.request.length) } else { 0 };
        self.times.serve(Served::Link, served);
        let rate_ns = std::mem::take(&mut self.own.rate_ns);
        self.times.wait(Blocked::WriteRate, rate_ns);
        self.times.wait(Blocked::Link, now - self.own.since - served - rate_ns);
        self.own.since = now;
    }
}

/// A store behind a host interface.
pub struct Interface<B: Store> {
    lower: B,
    /// `None`: the interface takes no time and has no limits, and requests pass straight to the lower level.
    state: Option<Box<State>>,
    /// Commands that have arrived, and the bytes that they read or write.
    commands: u64,
    link_bytes: u64,
    /// The drive has a temperature, which commands raise (`thermal`).
    heats: bool,
}

/// State of a host interface that takes time or has limits.
struct State {
    /// It takes time or has limits of its own: if not, it only holds commands while the drive is in a power state.
    is_shown: bool,
    /// Most commands inside the drive at a time; `u32::MAX`: no limit.
    slots: u32,
    inside: u32,
    commands: Desk<Command>,
    /// Number of commands that have arrived, which numbers them.
    all_came: u64,
    /// With power states: how many had arrived at the end of the last round.
    came_before: u64,
    /// Commands that wait for a slot or for their queue's turn.
    outside: Queues,
    /// True: a command gets its slot in its queue's turn, once a core is free. False: it gets a slot first, then waits for a core.
    takes_turns: bool,
    /// If `takes_turns`: commands that arrived at this instant and are not fetched yet.
    came: Vec<u32>,
    /// The last time that a slot became free while all slots were taken.
    full_until: Ns,
    /// The drive has power states.
    has_power_states: bool,
    /// The drive is not operational: no command gets a slot.
    is_held: bool,
    /// The last time that the drive became operational.
    held_until: Ns,
    cores: Cores,
    /// Fetched commands, each with the time at which it goes to the lower level: when write data, its own or older, have arrived and the
    /// rate of writes lets them go on.
    inbound: VecDeque<(Ns, u32)>,
    link_in: Link,
    write_rate: WriteRate,
    /// Reads whose data are on the link, with the time at which the data arrive.
    outbound: VecDeque<(Ns, u32)>,
    link_out: Link,
    /// Time of the next event of the interface, computed at the end of each `settle`; [`Ns::MAX`] if there is none.
    due: Ns,
    /// Buffer reused from call to call.
    ended: Vec<Completion>,
    passages: Option<Box<Passages>>,
    stats: InterfaceStats,
    checks_every_event: bool,
    /// Planted defect: commands do not wait for older commands of the same bytes.
    forgets_order: bool,
    /// Bytes between the beginnings of two zones; 0 without zones.
    zone_bytes: u64,
    /// The first contradiction found by verify mode.
    defect: Option<String>,
}

impl<B: Store> Interface<B> {
    /// A host interface as configured in front of `lower`. `queues`: the queue of each flow of requests.
    pub fn new(whole: &Config, queues: Vec<u16>, lower: B) -> Self {
        let (config, has_power_states) = (&whole.host, whole.power_states.is_on());
        let state = (config.is_on() || has_power_states).then(|| {
            Box::new(State {
                is_shown: config.is_on(),
                slots: if config.slots == 0 { u32::MAX } else { config.slots },
                inside: 0,
                commands: Desk::default(),
                all_came: 0,
                came_before: 0,
                outside: Queues::new(config, queues),
                takes_turns: config.has_queues(),
                came: Vec::new(),
                full_until: 0,
                has_power_states,
                is_held: false,
                held_until: 0,
                cores: Cores::new(config),
                inbound: VecDeque::new(),
                link_in: Link::new(config.link_bytes_per_us),
                write_rate: WriteRate::new(config.write_bytes_per_us),
                outbound: VecDeque::new(),
                link_out: Link::new(config.link_bytes_per_us),
                due: Ns::MAX,
                ended: Vec::new(),
                passages: None,
                stats: InterfaceStats { drives: 1, cores: config.cores.into(), ..InterfaceStats::default() },
                checks_every_event: false,
                forgets_order: false,
                zone_bytes: 0,
                defect: None,
            })
        });
        Interface { lower, state, commands: 0, link_bytes: 0, heats: false }
    }

    /// Commands on a zone keep their order with other commands of that zone. `zone_bytes`: bytes between the beginnings of two zones.
    pub fn with_zones(mut self, zone_bytes: u64) -> Self {
        if let Some(state) = self.state.as_deref_mut() {
            state.zone_bytes = zone_bytes;
        }
        self
    }

    /// Plants a defect: commands no longer wait for older commands of the same bytes.
    pub fn forget_order(&mut self) {
        if let Some(state) = self.state.as_deref_mut() {
            state.forgets_order = true;
        }
    }

    fn take(&mut self, now: Ns, index: u64, request: Request, scattered: bool) {
        let Some(state) = self.state.as_deref_mut() else {
            return if scattered {
                self.lower.accept_scattered(now, index, request);
            } else {
                self.lower.accept(now, index, request);
            };
        };
        let command = Command { number: state.all_came, scattered, since: now, rate_ns: 0, delivered: false };
        let place = state.commands.accept(index, request, command);
        state.all_came += 1;
        state.outside.push(now, place, request);
        if state.takes_turns {
            state.came.push(place);
        } else {
            state.note_wait(request.flow);
        }
        // Where nothing has ended, the new command is all that can change something.
        if self.lower.has_completed() || state.due <= now || state.fetch(now, false) {
            self.settle(now, false);
        } else {
            state.due = state.due.min(state.outside.quota_due(now));
            state.check_if_verifying();
        }
    }

    /// Does all that can be done at this instant. `last`: nothing else ends at the instant, so that fetches that take time may begin.
    /// Returns true if the lower level has got a request.
    fn settle(&mut self, now: Ns, last: bool) -> bool {
        let Some(state) = self.state.as_deref_mut() else { return false };
        let mut passed = false;
        loop {
            if self.lower.has_completed() {
                state.take_completions(now, &mut self.lower);
            }
            state.end_tasks(now);
            state.receive(now);
            passed |= state.deliver(now, &mut self.lower);
            // Each step uses the results of those before it. Tasks without duration, and immediate completions, need another turn.
            let again = self.lower.has_completed()
                || state.cores.begin(now, Task::Complete, &mut state.commands, &mut state.stats)
                || state.fetch(now, last);
            if !again {
                state.due = state.first_due(now);
                state.check_if_verifying();
                return passed;
            }
        }
    }

    /// Begins fetches for which there is a core, if nothing else ends at this instant. Returns true if the lower level has got a request.
    fn fetch_last(&mut self, now: Ns) -> bool {
        let begins = self.state.as_deref().is_some_and(State::may_fetch);
        begins && self.lower.next_event().is_none_or(|next| next > now) && self.settle(now, true)
    }
}

impl State {
    /// Time of the next event of the interface after `now`; [`Ns::MAX`] if there is none.
    fn first_due(&self, now: Ns) -> Ns {
        let first = |queue: &VecDeque<(Ns, u32)>| queue.front().map_or(Ns::MAX, |&(at, _)| at);
        first(&self.inbound).min(first(&self.outbound)).min(self.cores.next_end()).min(self.outside.quota_due(now))
    }

    /// Counts a command that has arrived and waits: for a slot if all are taken, for its queue if that is full.
    fn note_wait(&mut self, flow: u16) {
        self.stats.slot_waits += u64::from(self.inside == self.slots);
        self.stats.queue_full_waits += u64::from(self.outside.is_full(flow));
    }

    /// If `takes_turns`: the instant is over; counts the waits of the commands that arrived at it and are not fetched.
    fn note_waits(&mut self) {
        for at in 0..self.came.len() {
            self.note_wait(self.commands[self.came[at]].request.flow);
        }
        self.came.clear();
    }

    /// A fetch that takes time could begin: a command waits for it, and a core is free.
    #[inline(always)]
    fn may_fetch(&self) -> bool {
        let in_turn = || self.takes_turns && self.outside.len() > 0 && self.inside < self.slots && self.cores.can_fetch();
        !self.is_held && self.cores.takes_time(Task::Fetch) && (self.cores.has_fetch_to_begin() || in_turn())
    }

    /// Gives commands slots and begins their fetches on free cores. A fetch that takes time begins only if `last`. Returns true if a
    /// fetch without duration has begun, which ends now.
    #[inline]
    fn fetch(&mut self, now: Ns, last: bool) -> bool {
        let begins = last || !self.cores.takes_time(Task::Fetch);
        if self.outside.len() > 0 && (begins || !self.takes_turns) {
            self.admit(now);
        }
        begins && self.cores.begin(now, Task::Fetch, &mut self.commands, &mut self.stats)
    }

    fn check_if_verifying(&mut self) {
        if self.checks_every_event && self.defect.is_none() {
            self.defect = self.recount().err();
        }
    }

    /// Handles the requests that the lower level has completed: read data go over the link, or a core completes the command.
    fn take_completions<B: Store>(&mut self, now: Ns, lower: &mut B) {
        let mut ended = std::mem::take(&mut self.ended);
        lower.drain_completions(&mut ended);
        for completion in &ended {
            let place = completion.index as u32;
            let command = &mut self.commands[place];
            command.times.then(&completion.times);
            command.own.since = now;
            if completion.kind == RequestKind::Append {
                // The place that the drive has found.
                command.request.offset = completion.offset;
            }
            if let Some(passages) = &mut self.passages {
                passages.answered(now, place, &completion.times);
            }
            if completion.kind == RequestKind::Read && self.link_out.takes_time() {
                let arrives = self.link_out.send(now, completion.length, &mut self.stats.link_waits);
                self.outbound.push_back((arrives, place));
            } else {
                self.cores.ask_completion(place, &self.commands);
            }
        }
        ended.clear();
        self.ended = ended;
    }

    /// Handles the tasks of cores that have ended: commands have been completed or fetched.
    fn end_tasks(&mut self, now: Ns) {
        while let Some((task, place)) = self.cores.ended(now) {
            match task {
                Task::Complete => self.complete(now, place),
                Task::Fetch => self.fetched(now, place),
            }
        }
    }

    /// A command is complete: its slot is free.
    fn complete(&mut self, now: Ns, place: u32) {
        if self.inside == self.slots {
            self.full_until = now;
        }
        self.inside -= 1;
        self.outside.complete(self.commands[place].request.flow);
        self.commands.complete(now, place);
        if let Some(passages) = &mut self.passages {
            passages.completed(place);
        }
    }

    /// A command has been fetched. It goes to the lower level once its data have arrived, and not before older commands of the same bytes.
    fn fetched(&mut self, now: Ns, place: u32) {
        self.stats.commands += 1;
        let request = self.commands[place].request;
        self.commands[place].own.since = now;
        let (ready, came) = if request.kind.brings_data() && (self.link_in.takes_time() || self.write_rate.is_on()) {
            let came = self.link_in.send(now, request.length, &mut self.stats.link_waits);
            (self.write_rate.goes_on(came, request.length, &mut self.stats.rate_waits), came)
        } else {
            let waits_for = |older: u32| !self.forgets_order && must_follow(&request, &self.commands[older].request, self.zone_bytes);
            // The last such command in the queue is the last to go to the lower level.
            let older = self.inbound.iter().rfind(|&&(_, older)| waits_for(older));
            let (ready, came) = older.map_or((now, now), |&(ready, older)| (ready, ready - self.commands[older].own.rate_ns));
            self.stats.held_commands += u64::from(ready > now);
            (ready, came)
        };
        self.commands[place].own.rate_ns = ready - came.max(now);
        let behind = self.inbound.partition_point(|&(other, _)| other <= ready);
        self.inbound.insert(behind, (ready, place));
    }

    /// Handles read data that have arrived at the host: cores complete the commands.
    fn receive(&mut self, now: Ns) {
        while let Some(&(_, place)) = self.outbound.front().filter(|(arrives, _)| *arrives <= now) {
            self.outbound.pop_front();
            let command = &mut self.commands[place];
            command.was_on(&self.link_out, true, now);
            self.cores.ask_completion(place, &self.commands);
        }
    }

    /// Sends commands whose data have arrived to the lower level. Returns true if there are any.
    fn deliver<B: Store>(&mut self, now: Ns, lower: &mut B) -> bool {
        let mut any = false;
        while let Some(&(_, place)) = self.inbound.front().filter(|(ready, _)| *ready <= now) {
            self.inbound.pop_front();
            let command = &mut self.commands[place];
            command.was_on(&self.link_in, command.request.kind.brings_data(), now);
            command.own.delivered = true;
            if let Some(passages) = &mut self.passages {
                passages.delivered(now, place, &command.times);
            }
            let request = Request { arrival_ns: now, ..command.request };
            lower.set_next_origin(command.origin);
            if command.own.scattered {
                lower.accept_scattered(now, place.into(), request);
            } else {
                lower.accept(now, place.into(), request);
            }
            any = true;
        }
        any
    }

    /// Gives free slots to waiting commands, which then wait for a core to fetch them.
    fn admit(&mut self, now: Ns) {
        while !self.is_held
            && self.inside < self.slots
            && (!self.takes_turns || self.cores.can_fetch())
            && let Some(next) = self.outside.pop(now, &mut self.stats.order_waits)
        {
            self.inside += 1;
            if let Some(at) = self.came.iter().position(|&place| place == next.place) {
                self.came.swap_remove(at);
            }
            self.stats.passing_commands += u64::from(next.passes);
            let command = &mut self.commands[next.place];
            let since = std::mem::replace(&mut command.own.since, now);
            let held = self.held_until.saturating_sub(since);
            command.times.wait(Blocked::PowerState, held);
            let rest = now - since - held - next.quota_ns;
            let without_slot = if self.takes_turns { self.full_until.saturating_sub(since + held).min(rest) } else { rest };
            command.times.wait(Blocked::Slot, without_slot);
            command.times.wait(Blocked::Queue, rest - without_slot);
            if next.quota_ns > 0 {
                self.stats.quota_waits += 1;
                command.times.wait(Blocked::Quota, next.quota_ns);
            }
            self.cores.ask_fetch(next.place);
        }
    }
}

/// Whether `newer` must reach the drive after `older`, as their order could change what is read. A flush follows all writes.
fn must_follow(newer: &Request, older: &Request, zone_bytes: u64) -> bool {
    let same_zone = || newer.offset.checked_div(zone_bytes) == older.offset.checked_div(zone_bytes);
    let same_bytes = newer.offset < older.offset + older.length && older.offset < newer.offset + newer.length;
    match (newer.kind, older.kind) {
        (RequestKind::Flush, older) => older.brings_data(),
        // Commands on a zone name it by its beginning, or by all of its addresses.
        (newer, older) if newer.is_of_whole_zone() || older.is_of_whole_zone() => same_zone(),
        (_, RequestKind::Write) | (RequestKind::Read, RequestKind::Trim) | (RequestKind::Trim, RequestKind::Read) => same_bytes,
        _ => false,
    }
}

impl<B: Store + Levels> Interface<B> {
    #[inline(always)]
    fn count(&mut self, now: Ns, request: &Request) {
        self.commands += 1;
        let is_moved = request.kind == RequestKind::Read || request.kind.brings_data();
        self.link_bytes += if is_moved { request.length } else { 0 };
        if self.heats {
            self.heat_drive(now);
        }
    }

    #[cold]
    fn heat_drive(&mut self, now: Ns) {
        let (commands, link_bytes) = (self.commands, self.link_bytes);
        self.lower.each_level_mut(&mut |level| {
            if let Some(drive) = level.drive_mut() {
                drive.commands_came(now, commands, link_bytes);
            }
        });
    }
}

impl<B: Store + Levels> Store for Interface<B> {
    fn begin(&mut self) {
        let mut heats = false;
        self.lower.each_level(&mut |level| heats |= level.drive().is_some_and(Ssd::has_temperature));
        self.heats = heats;
        self.lower.begin();
        self.settle(0, false);
        self.end_round(0);
    }

    fn make_room(&mut self, pages: usize) -> Result<(), Exhausted> {
        if let Some(state) = self.state.as_deref_mut() {
            state.commands.make_room(pages)?;
            state.outside.make_room(pages)?;
            memory::make_room(&mut state.inbound, pages)?;
            memory::make_room(&mut state.outbound, pages)?;
            state.cores.make_room(pages)?;
            if let Some(passages) = &mut state.passages {
                passages.make_room(state.commands.capacity())?;
            }
        }
        self.lower.make_room(pages)
    }

    #[inline]
    fn foresee(&self, request: &Request) {
        self.lower.foresee(request);
    }

    #[inline]
    fn accept(&mut self, now: Ns, index: u64, request: Request) {
        self.count(now, &request);
        if self.state.is_none() {
            return self.lower.accept(now, index, request);
        }
        self.take(now, index, request, false);
    }

    fn accept_scattered(&mut self, now: Ns, index: u64, request: Request) {
        self.count(now, &request);
        self.take(now, index, request, true);
    }

    #[inline]
    fn set_next_origin(&mut self, origin: Origin) {
        match self.state.as_deref_mut() {
            None => self.lower.set_next_origin(origin),
            Some(state) => state.commands.next_request_is(origin),
        }
    }

    #[inline]
    fn next_event(&self) -> Option<Ns> {
        let below = self.lower.next_event();
        let Some(state) = self.state.as_deref() else { return below };
        if state.due == Ns::MAX { below } else { Some(below.map_or(state.due, |below| below.min(state.due))) }
    }

    #[inline]
    fn handle_events(&mut self, now: Ns) {
        self.lower.handle_events(now);
        self.release(now);
        if let Some(state) = self.state.as_deref()
            && (self.lower.has_completed() || state.due <= now)
        {
            self.settle(now, false);
        }
    }

    #[inline]
    fn dispatch(&mut self, now: Ns) {
        self.lower.dispatch(now);
        if self.state.is_none() {
            return;
        }
        while self.lower.has_completed() && self.settle(now, false) || self.fetch_last(now) {
            self.lower.dispatch(now);
        }
        if let Some(state) = self.state.as_deref_mut() {
            state.note_waits();
        }
        self.end_round(now);
    }

    #[inline]
    fn has_completed(&self) -> bool {
        self.state.as_deref().map_or_else(|| self.lower.has_completed(), |state| state.commands.has_completed())
    }

    #[inline]
    fn drain_completions(&mut self, into: &mut Vec<Completion>) {
        match self.state.as_deref_mut() {
            None => self.lower.drain_completions(into),
            Some(state) => state.commands.drain_completions(into),
        }
    }

    fn is_volatile(&self) -> bool {
        self.lower.is_volatile()
    }

    fn page_bytes(&self) -> u32 {
        self.lower.page_bytes()
    }

    fn exported_pages(&self) -> u32 {
        self.lower.exported_pages()
    }
}

impl<B: Store> Layer for Interface<B> {
    type Lower = B;

    fn lower(&self) -> &B {
        &self.lower
    }

    fn lower_mut(&mut self) -> &mut B {
        &mut self.lower
    }

    fn holds_here(&self, _page: u32) -> Option<bool> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::Ftl;
    use crate::ssd::Ssd;
    use crate::storage::observed::Observed;

    fn page_read() -> Request {
        Request { arrival_ns: 0, kind: RequestKind::Read, offset: 0, length: 4096, high_priority: false, flow: 0, handle: None }
    }

    /// An interface that is wrong only while it takes a command: only a check after every event finds the defect.
    #[test]
    fn a_contradiction_is_found_while_it_lasts() {
        let mut config = Config::default();
        (config.host.slots, config.host.command_ns) = (2, 1_000);
        for every_event in [false, true] {
            let mut interface = Interface::new(&config, vec![0], Ssd::new(&config, Ftl::new(&config), 1));
            Observed::verify(&mut interface, every_event);
            interface.begin();
            interface.accept(0, 0, page_read());
            interface.check().unwrap();
            interface.state.as_mut().unwrap().inside += 1;
            interface.accept(0, 1, page_read());
            interface.state.as_mut().unwrap().inside -= 1;
            interface.settle(0, false);
            let found = interface.check();
            assert_eq!(found.is_err_and(|found| found.contains("in 2 slots")), every_event);
        }
    }

    #[test]
    fn what_does_not_add_up_is_found() {
        let mut config = Config::default();
        (config.host.slots, config.host.link_bytes_per_us) = (2, 100);
        let found = |spoil: fn(&mut State)| {
            let mut interface = Interface::new(&config, vec![0], Ssd::new(&config, Ftl::new(&config), 1));
            interface.begin();
            interface.accept(0, 0, Request { kind: RequestKind::Write, ..page_read() });
            interface.accept(0, 1, Request { kind: RequestKind::Write, ..page_read() });
            let state = interface.state.as_mut().unwrap();
            spoil(state);
            state.recount().err().unwrap_or_default()
        };
        assert_eq!(found(|_| ()), "");
        assert!(found(|state| state.inside = 1).contains("2 commands, 1 of them in 2 slots and 0 outside"));
        assert!(found(|state| state.slots = 1).contains("2 of them in 1 slots"));
        assert!(found(|state| state.inbound.swap(0, 1)).contains("not in the order"));
    }
}
