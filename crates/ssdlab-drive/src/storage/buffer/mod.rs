//! The write buffer of a drive: writes complete when they are in it, and are programmed later. docs/model/write-buffer.md.
//!
//! | file | what is there |
//! |---|---|
//! | `requests` | a request comes in: it waits for room, finds its data, completes |
//! | `pacing_queue` | without a buffer: writes wait for credit (`gc.pace`) |
//! | `drain` | when the content is programmed, and what happens then |
//! | `entries` | the units in the buffer: their age, and where they go |
//! | `table` | which entry has a unit |
//! | `waiting` | requests that wait for room |
//! | `flushes` | flushes that wait until all is in flash |
//! | `shadow` | verify mode: versions of data |
//! | `observed` | what checks, statistics and verify mode ask |

mod drain;
mod entries;
mod flushes;
mod observed;
mod pacing_queue;
mod requests;
mod shadow;
mod table;
mod waiting;

use std::collections::VecDeque;

use super::Store;
use super::desk::Desk;
use super::mapping::MappingCache;
use super::store::Layer;
use crate::lists::NONE;
use crate::slab::Slab;
use entries::{Entries, Progress};
use flushes::Flushes;
use pacing_queue::PacingQueue;
use shadow::Shadow;
use ssdlab_base::request::Request;
use ssdlab_base::units::{Ns, earliest};
use ssdlab_keys::config::{Config, Drain, PartialWrite};
use ssdlab_keys::memory::{self, Exhausted};
use ssdlab_result::stats::{BufferStats, Completion, Times};
use ssdlab_result::timeline::Origin;
use waiting::Waiting;

/// Most programs of the buffer outstanding per plane: one in the flash array, and one ready to begin when that ends.
const PROGRAMS_OF_PLANE: u32 = 2;

/// State of an outstanding host request at the buffer; its parts end at units.
#[derive(Clone, Copy, Debug)]
struct HostRequest {
    /// The request writes sectors that are not consecutive.
    scattered: bool,
    /// Version of the data of a write, in verify mode.
    version: u32,
    /// When all of the request had come in. `paced`: its wait for credit until then; before that, [`Held::paced`] on arrival.
    entered: Ns,
    paced: Ns,
}

/// The purpose of a request to the drive.
#[derive(Clone, Copy, Debug)]
enum Purpose {
    /// Serves a part of a host request: the place of the request, and the last unit of the part.
    Serves(u32, u32),
    /// Reads the rest of the unit of this entry.
    Fills(u32),
    /// Programs a chain of entries: its first entry, and the destination.
    Programs(u32, u32),
}

/// An outstanding request to the drive.
#[derive(Clone, Copy, Debug)]
struct Below {
    purpose: Purpose,
    since: Ns,
}

/// A part of a read that waits until the rest of a unit has been read into an entry.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    request: u32,
    since: Ns,
    next: u32,
}

/// A transfer of data of a host request into or out of the buffer.
#[derive(Clone, Copy, Debug)]
struct Access {
    came: Ns,
    ends: Ns,
    request: u32,
    /// Times (in `State::waited_before`) of the wait for the rest of a unit before this access; `NONE`: there was no wait.
    before: u32,
}

/// A defect that a test can plant in a write buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantedInBuffer {
    /// A write of a unit that waits in the buffer leaves the old data there.
    ForgetsRewrites,
    /// A flush waits for nothing.
    FlushesEarly,
}

/// The reason why the next unit of the oldest waiting request could not come in.
#[derive(Clone, Copy, Debug)]
enum Lacks {
    Room,
    /// The drive has no place for this unit, whatever fails (`wear`).
    Place(u32),
    /// There was no credit for this unit (`gc.pace`).
    Credit(u32),
}

/// Time that the oldest waiting request, and the requests behind it, have waited for credit (`gc.pace`).
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    /// Start of the present wait for credit; `None`: no request waits for credit.
    since: Option<Ns>,
    /// Duration of all earlier waits for credit, ns.
    ns: Ns,
}

impl Held {
    /// Time that requests have waited for credit until `now`, ns.
    #[inline(always)]
    fn paced(&self, now: Ns) -> Ns {
        self.ns + self.since.map_or(0, |since| now - since)
    }

    /// A request is waiting for credit.
    #[inline(always)]
    fn is_paced(&self) -> bool {
        self.since.is_some()
    }

    fn set(&mut self, now: Ns, paced: bool) {
        *self = Held { since: paced.then_some(now), ns: self.paced(now) };
    }
}

/// A drive behind a write buffer.
pub struct Buffer {
    drive: MappingCache,
    /// `None`: there is no write buffer, and requests go to `pacing` if there is one, else straight to the drive.
    state: Option<Box<State>>,
    /// Holds back writes without credit where there is no write buffer; `None`: writes are not held back.
    pacing: Option<Box<PacingQueue>>,
}

/// State of a write buffer.
struct State {
    access_ns: Ns,
    /// Bandwidth of the memory, whose accesses then follow each other; 0: they do not wait. `memory_free`: when the last of them ends.
    bytes_per_us: u64,
    memory_free: Ns,
    protected: bool,
    eager: bool,
    timeout: Option<Ns>,
    /// Units that wait for a destination and are put in the order of their addresses together; 0: none are.
    sort_units: u32,
    reads_pass: bool,
    /// Partial writes do not read the rest of their unit.
    skips_rest: bool,
    /// A level above accepts all writes: they come with a place (`wear`), and none is rejected.
    accepted_above: bool,
    unit_bytes: u32,
    /// Number of units that fill a program.
    program_units: u32,
    /// Dynamic allocation: programs go wherever there is room, so that there is one pool.
    dynamic: bool,
    /// Number of placement handles, or of classes of host writes that do not share programs, each with destinations of its own; else 1.
    classes: u32,
    /// The handle of writes that name none.
    default_handle: u8,
    /// Most programs to a destination outstanding at a time. With fewer than `idle_below` outstanding, some die has none.
    most_sent: u32,
    idle_below: u32,
    entries: Entries,
    requests: Desk<HostRequest>,
    below: Slab<u32, Below>,
    waiters: Slab<u32, Waiter>,
    waiting: Waiting,
    /// The reason why the oldest waiting request could not come in at the last attempt.
    lacks: Option<Lacks>,
    /// Whether there is credit for the unit that lacked it, as of [`Ssd::changes`]: until the drive does something, the answer is the same.
    has_credit: (bool, u64),
    held: Held,
    accesses: VecDeque<Access>,
    waited_before: Slab<u32, Times>,
    /// Time of the first access or timeout to end, computed at the end of each `settle`; `None` if there is none.
    due: Option<Ns>,
    flushes: Flushes,
    /// `sent`: number of outstanding programs; `filling`: number of outstanding reads of the rest of a unit.
    sent: u32,
    filling: u32,
    /// The drive is read-only, and what was accepted goes to flash.
    closing: bool,
    /// Operations of the drive may begin since `settle` last returned: it has got a request, or a write has come to wait for credit.
    passed: bool,
    /// Buffers reused from call to call.
    ended: Vec<Completion>,
    chosen: Vec<u32>,
    stats: BufferStats,
    shadow: Option<Shadow>,
    checks_every_event: bool,
    planted: Option<PlantedInBuffer>,
}

impl Buffer {
    /// A write buffer as configured in front of `drive`.
    pub fn new(config: &Config, drive: MappingCache) -> Self {
        let state = config.buffer.is_on().then(|| Box::new(State::new(config, &drive)));
        let pacing = (state.is_none() && drive.drive().paces()).then(|| Box::new(PacingQueue::new(drive.ftl().geometry().unit_bytes)));
        Buffer { drive, state, pacing }
    }

    /// The drive behind the buffer.
    pub fn drive(&self) -> &MappingCache {
        &self.drive
    }

    /// Mutable access to the drive behind the buffer.
    pub fn drive_mut(&mut self) -> &mut MappingCache {
        &mut self.drive
    }

    /// The buffer holds data of `unit`.
    pub fn holds(&self, unit: u32) -> bool {
        self.state.as_deref().is_some_and(|state| state.entries.of_unit(unit) != NONE)
    }

    /// The buffer holds data of one of these units.
    pub fn holds_any(&self, units: std::ops::Range<u32>) -> bool {
        self.state.as_deref().is_some_and(|state| !state.entries.within(units.start, units.end).is_empty())
    }

    /// The buffer has data of a class that its writes named, which wait for a program or are being programmed.
    pub fn has_data_of(&self, class: u8) -> bool {
        self.state.as_deref().is_some_and(|state| state.entries.any_of_class(u32::from(class), state.classes))
    }

    /// Plants a defect.
    ///
    /// # Panics
    /// If there is no buffer.
    pub fn plant(&mut self, defect: PlantedInBuffer) {
        self.state.as_deref_mut().expect("there is a write buffer").planted = Some(defect);
    }

    fn take(&mut self, now: Ns, index: u64, request: Request, scattered: bool) {
        match self.state.as_deref_mut() {
            Some(state) => {
                state.take(now, index, request, scattered, &mut self.drive);
                self.settle(now);
            }
            None if self.pacing.is_some() => {
                let pacing = self.pacing.as_deref_mut().expect("just seen");
                pacing.take(now, index, request, scattered, &mut self.drive);
            }
            None if scattered => self.drive.accept_scattered(now, index, request),
            None => self.drive.accept(now, index, request),
        }
    }

    /// `settle` may have something to do: the drive has completed requests, or a waiting request may find room or credit.
    #[inline(always)]
    fn may_settle(&mut self) -> bool {
        match self.state.as_deref_mut() {
            Some(state) => {
                Store::has_completed(&self.drive)
                    || state.may_admit(&self.drive)
                    || state.is_to_close(&self.drive)
                    || state.is_pressed(&self.drive)
            }
            None => self.pacing.as_deref().is_some_and(|pacing| !pacing.is_empty()),
        }
    }

    /// Does all that can be done at this instant. Returns true if operations of the drive may begin.
    fn settle(&mut self, now: Ns) -> bool {
        let Some(state) = self.state.as_deref_mut() else {
            return self.pacing.as_deref_mut().is_some_and(|pacing| pacing.admit(now, &mut self.drive));
        };
        if state.is_to_close(&self.drive) {
            state.close();
        }
        loop {
            if Store::has_completed(&self.drive) {
                state.take_completions(now, &mut self.drive);
            }
            state.end_flushes(now);
            state.admit(now, &mut self.drive);
            state.drain(now, &mut self.drive);
            // Each step uses the results of those before it. Immediate completions, and flushes that a trim has ended, need another turn.
            if !Store::has_completed(&self.drive) && !state.flushes.any_done() && !state.press(&self.drive) {
                state.check_if_verifying();
                state.due = state.first_due();
                return std::mem::take(&mut state.passed);
            }
        }
    }
}

impl State {
    fn new(config: &Config, drive: &MappingCache) -> Self {
        let geometry = drive.ftl().geometry();
        let unit_bytes = geometry.unit_bytes;
        let capacity = config.buffer_units().min(u64::from(geometry.exported_units)) as u32;
        let dynamic = drive.allocates_dynamically();
        let (pools, dies) = (geometry.pools.count.get(), geometry.dies);
        let planes_each = geometry.pools.planes_each.get();
        let apart = if geometry.units_per_program > 1 { drive.ftl().classes_of_write() } else { 1 };
        let classes = config.named_classes().max(apart).into();
        let (at_once, idle_below) = (config.buffer.drain == Drain::AtOnce, if dynamic { dies } else { 1 });
        State {
            access_ns: config.buffer.access_ns,
            bytes_per_us: config.buffer.bytes_per_us,
            memory_free: 0,
            protected: config.buffer.protected,
            eager: config.buffer.drain != Drain::Full,
            timeout: (config.buffer.timeout_us > 0).then_some(config.buffer.timeout_us * 1_000),
            sort_units: config.buffer.sort_units,
            reads_pass: config.buffer.reads_pass,
            skips_rest: config.ftl.partial_write == PartialWrite::Program,
            accepted_above: config.accepts_above_buffer(),
            unit_bytes,
            program_units: geometry.units_per_program,
            dynamic,
            classes,
            default_handle: config.ftl.default_handle,
            most_sent: if at_once { u32::MAX } else { PROGRAMS_OF_PLANE * if dynamic { geometry.planes } else { planes_each } },
            idle_below: if at_once { u32::MAX } else { idle_below },
            entries: Entries::new(capacity, classes * if dynamic { 1 } else { pools }, unit_bytes),
            requests: Desk::default(),
            below: Slab::default(),
            waiters: Slab::default(),
            waiting: Waiting::new(),
            lacks: None,
            has_credit: (false, 0),
            held: Held::default(),
            accesses: VecDeque::new(),
            waited_before: Slab::default(),
            due: None,
            flushes: Flushes::new(),
            sent: 0,
            filling: 0,
            closing: false,
            passed: false,
            ended: Vec::new(),
            chosen: Vec::new(),
            stats: BufferStats::default(),
            shadow: None,
            checks_every_event: false,
            planted: None,
        }
    }

    fn check_if_verifying(&mut self) {
        if self.checks_every_event
            && let Err(sentence) = self.recount()
            && let Some(shadow) = &mut self.shadow
        {
            shadow.note(sentence);
        }
    }

    fn first_due(&self) -> Option<Ns> {
        let access = self.accesses.front().map(|access| access.ends);
        let timer = self.timeout.and_then(|timeout| self.entries.oldest().map(|(_, since)| since + timeout));
        earliest(access, timer)
    }

    fn make_room(&mut self, units: usize) -> Result<(), Exhausted> {
        self.requests.make_room(units)?;
        self.below.make_room(2 * units)?;
        self.waiters.make_room(units)?;
        self.waited_before.make_room(units)?;
        self.waiting.make_room(units)?;
        memory::make_room(&mut self.accesses, 2 * units)
    }
}

impl Store for Buffer {
    fn begin(&mut self) {
        self.drive.begin();
        self.settle(0);
    }

    fn make_room(&mut self, units: usize) -> Result<(), Exhausted> {
        if let Some(state) = self.state.as_deref_mut() {
            state.make_room(units)?;
        }
        if let Some(pacing) = self.pacing.as_deref_mut() {
            pacing.make_room(units)?;
        }
        Store::make_room(&mut self.drive, units)
    }

    #[inline(always)]
    fn foresee(&self, request: &Request) {
        Store::foresee(&self.drive, request);
    }

    #[inline(always)]
    fn accept(&mut self, now: Ns, index: u64, request: Request) {
        if self.state.is_none() && self.pacing.is_none() {
            return Store::accept(&mut self.drive, now, index, request);
        }
        self.take(now, index, request, false);
    }

    fn accept_scattered(&mut self, now: Ns, index: u64, request: Request) {
        self.take(now, index, request, true);
    }

    #[inline(always)]
    fn set_next_origin(&mut self, origin: Origin) {
        match self.state.as_deref_mut() {
            None => match self.pacing.as_deref_mut() {
                None => self.drive.next_request_is(origin),
                Some(pacing) => pacing.next_request_is(origin),
            },
            Some(state) => state.requests.next_request_is(origin),
        }
    }

    #[inline(always)]
    fn next_event(&self) -> Option<Ns> {
        let below = Store::next_event(&self.drive);
        match self.state.as_deref() {
            None => below,
            Some(state) => earliest(below, state.due),
        }
    }

    #[inline(always)]
    fn handle_events(&mut self, now: Ns) {
        Store::handle_events(&mut self.drive, now);
        if let Some(state) = self.state.as_deref_mut()
            && state.due.is_some_and(|due| due <= now)
        {
            state.end_accesses(now);
            state.end_waits(now);
            self.settle(now);
        } else if self.may_settle() {
            self.settle(now);
        }
    }

    #[inline(always)]
    fn dispatch(&mut self, now: Ns) {
        Store::dispatch(&mut self.drive, now);
        while self.may_settle() && self.settle(now) {
            Store::dispatch(&mut self.drive, now);
        }
    }

    #[inline(always)]
    fn has_completed(&self) -> bool {
        self.state.as_deref().map_or_else(|| self.drive.has_completed(), |state| state.requests.has_completed())
    }

    #[inline(always)]
    fn drain_completions(&mut self, into: &mut Vec<Completion>) {
        match self.state.as_deref_mut() {
            None => match self.pacing.as_deref_mut() {
                None => Store::drain_completions(&mut self.drive, into),
                Some(pacing) => pacing.drain_completions(&mut self.drive, into),
            },
            Some(state) => state.requests.drain_completions(into),
        }
    }

    fn is_volatile(&self) -> bool {
        self.state.as_deref().is_some_and(|state| !state.protected)
    }

    fn page_bytes(&self) -> u32 {
        self.drive.page_bytes()
    }

    fn exported_pages(&self) -> u32 {
        self.drive.exported_pages()
    }
}

impl Layer for Buffer {
    type Lower = MappingCache;

    fn lower(&self) -> &MappingCache {
        &self.drive
    }

    fn lower_mut(&mut self) -> &mut MappingCache {
        &mut self.drive
    }

    fn holds_here(&self, page: u32) -> Option<bool> {
        self.holds(page).then_some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::Ftl;
    use crate::ssd::Ssd;

    /// `dispatch` goes on while the drive gets requests: the read of the rest of a unit counts as a request.
    #[test]
    fn the_read_of_the_rest_of_a_unit_is_a_request_to_the_drive() {
        let mut config = Config::default();
        (config.device.blocks_per_plane, config.device.pages_per_block, config.buffer.bytes) = (8, 4, 1 << 16);
        let mut ftl = Ftl::new(&config);
        ftl.fill(1);
        let mut buffer = Buffer::new(&config, MappingCache::new(&config, Ssd::new(&config, ftl, 1)));
        buffer.begin();
        let state = buffer.state.as_deref_mut().unwrap();
        let entry = state.entries.insert(0, 0, (0, 512), 0, 0);
        assert!(!std::mem::take(&mut state.passed) && state.needs_rest(entry, &buffer.drive));
        state.fill(0, entry, &mut buffer.drive);
        assert!(std::mem::take(&mut state.passed));
        state.fill(0, entry, &mut buffer.drive);
        assert!(!state.passed, "it is read once");
    }
}
