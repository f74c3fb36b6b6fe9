//! A log of the host on the zones of a drive (`zones.log`): it takes reads, writes and trims at any address, writes zones in order, and collects
//! them. docs/model/zones.md.
//!
//! | file | what is there |
//! |---|---|
//! | `space` | places of logical units, free and open zones, victims |
//! | `serve` | requests come in, are sent to the zones, and end |
//! | `moves` | a victim is moved and reset |
//! | `blocks`, `merges` | log-block mapping in place of that: data and log zones; merges |
//! | `bast`, `fast` | its policies |
//! | `shadow` | verify mode: versions of data |
//! | `observed` | what checks and verify mode ask |
//!
//! The log knows the place of each unit in the memory of the host, which takes no time. It has one zone open for writes and one for moves.

mod bast;
mod blocks;
mod fast;
mod merges;
mod moves;
mod observed;
mod serve;
mod shadow;
mod space;

use std::collections::{BTreeMap, VecDeque};

use super::Store;
use super::desk::Desk;
use super::interface::Interface;
use super::store::Layer;
use super::zones::{State, Zones};
use crate::slab::Slab;
use blocks::Blocks;
use merges::Steps;
use moves::Moves;
use shadow::Shadow;
use space::{Run, Space};
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::status::Status;
use ssdlab_base::units::Ns;
use ssdlab_keys::config::{Config, Zones as Keys};
use ssdlab_keys::memory::{self, Exhausted};
use ssdlab_result::stats::{Completion, Counters, Times};
use ssdlab_result::timeline::{Cause, Origin};

/// State of an outstanding request; its parts are the requests to the zones.
#[derive(Clone, Copy, Debug)]
struct Command {
    /// Latency parts of the request until `since`, when its present wait began.
    before: Times,
    since: Ns,
    /// Number of requests that came in before this one.
    number: u64,
    /// Number of mapping units of the request of which earlier requests have not been sent to the zones.
    behind: u32,
    /// Number of reads, of mapping units of which the request writes a part, that have not ended.
    fills: u32,
    /// The next mapping unit of a write to be sent to a zone.
    next: u32,
}

/// A request to the zones.
#[derive(Clone, Copy, Debug)]
enum Below {
    /// Serves a flush.
    Flushes(u32),
    /// Serves a read, from this logical unit on.
    Reads(u32, u32),
    /// Reads a unit of which a write writes a part.
    Fills(u32),
    /// Serves a write that has waited until `sent`.
    Writes { place: u32, run: Run, sent: Ns },
    /// Reads data of the victim.
    ReadsVictim,
    /// Writes data of the victim, or copies them.
    Moves,
    /// Resets the victim.
    Resets,
    /// Copies or pads data for a merge.
    Merges,
    /// Resets a zone without valid units.
    ResetsEmpty,
}

/// A log on a drive with zones.
pub struct Log {
    zones: Interface<Zones>,
    keys: Keys,
    space: Space,
    unit_bytes: u64,
    /// Units of a zone that can be written, and between the first units of two zones.
    capacity: u32,
    distance: u32,
    requests: Desk<Command>,
    below: Slab<u32, Below>,
    /// Number of requests that have come in.
    came: u64,
    /// By logical unit, where there are any: requests that have come in and have not been sent to the zones, oldest first. Only the first may be sent.
    unsent: BTreeMap<u32, VecDeque<u32>>,
    /// Requests that waited for earlier ones of their units, and are the first of all their units now.
    released: VecDeque<u32>,
    /// Writes that wait for a free zone, in the order in which they came in.
    waiting: VecDeque<u32>,
    moves: Moves,
    /// Log-block mapping; `None`: the log maps by unit, and `moves` collects zones.
    blocks: Option<Blocks>,
    steps: Steps,
    /// The zones have got a request since `settle` last returned.
    passed: bool,
    /// Buffer reused from call to call.
    ended: Vec<Completion>,
    /// A planted defect: moved data replace those that were written meanwhile.
    moves_replace: bool,
    shadow: Option<Box<Shadow>>,
    checks_every_event: bool,
    /// The first contradiction found by verify mode.
    defect: Option<String>,
}

impl Log {
    /// A log on `zones`, as configured, which are all empty or all full. Full ones have its data in order.
    pub fn new(config: &Config, zones: Interface<Zones>) -> Self {
        let below = zones.lower();
        let (count, capacity) = (below.count(), below.capacity());
        let logical = config.log_units(u64::from(count) * u64::from(capacity), capacity.into()) as u32;
        let filled = below.zone(0).0 == State::Full;
        let space = Space::new(config.zones.log, count, capacity, logical, filled);
        Log {
            keys: config.zones.clone(),
            blocks: Blocks::new(&config.zones, &space, count, capacity, filled),
            steps: Steps::default(),
            space,
            unit_bytes: below.page_bytes().into(),
            capacity,
            distance: (below.zone_bytes() / u64::from(below.page_bytes())) as u32,
            zones,
            requests: Desk::default(),
            below: Slab::default(),
            came: 0,
            unsent: BTreeMap::new(),
            released: VecDeque::new(),
            waiting: VecDeque::new(),
            moves: Moves::default(),
            passed: false,
            ended: Vec::new(),
            moves_replace: false,
            shadow: None,
            checks_every_event: false,
            defect: None,
        }
    }

    /// Plants a defect: moved data replace those that were written meanwhile.
    pub fn let_moves_replace(&mut self) {
        self.moves_replace = true;
    }

    /// The zones to which the log writes.
    pub fn zones(&self) -> &Zones {
        self.zones.lower()
    }

    fn counters(&mut self) -> &mut Counters {
        self.zones.lower_mut().counters()
    }

    /// The byte of the drive at which a unit begins that can be written.
    fn byte(&self, place: u32) -> u64 {
        let (zone, unit) = (place / self.capacity, place % self.capacity);
        (u64::from(zone) * u64::from(self.distance) + u64::from(unit)) * self.unit_bytes
    }

    /// Sends a request to the zones. `for_request`: the place of the request that waits for it.
    fn pass(&mut self, now: Ns, below: Below, for_request: Option<u32>, (kind, offset, length): (RequestKind, u64, u64)) {
        let origin = for_request.map_or(Origin::nobody(Cause::LogMove), |place| self.requests[place].origin);
        let number = self.below.insert(below);
        self.zones.set_next_origin(origin);
        let request = Request { arrival_ns: now, kind, offset, length, high_priority: false, flow: 0, handle: None };
        self.zones.accept(now, number.into(), request);
        self.passed = true;
    }

    /// Does all that can be done at this instant. Returns true if operations of the drive may begin.
    fn settle(&mut self, now: Ns) -> bool {
        loop {
            let mut any = self.zones.has_completed();
            if any {
                self.take_completions(now);
            }
            any |= self.send_waiting(now);
            any |= if self.blocks.is_some() { self.merge(now) } else { self.collect(now) };
            if !any {
                self.check_if_verifying();
                return std::mem::take(&mut self.passed);
            }
        }
    }

    fn take_completions(&mut self, now: Ns) {
        let mut ended = std::mem::take(&mut self.ended);
        self.zones.drain_completions(&mut ended);
        for completion in &ended {
            let number = completion.index as u32;
            let below = self.below[number];
            self.below.remove(number);
            self.check_status(below, &completion.times);
            match below {
                Below::Flushes(place) => self.part_ended(now, place, 0, &completion.times),
                Below::Reads(place, unit) => {
                    let mut times = self.requests[place].own.before;
                    times.then(&completion.times);
                    self.part_ended(now, place, unit, &times);
                }
                Below::Fills(place) => self.filled(now, place, &completion.times),
                Below::Writes { place, run, sent } => self.written(now, place, run, sent, &completion.times),
                Below::ReadsVictim => self.victim_read(now),
                Below::Moves => self.moved(),
                Below::Resets => self.victim_reset(),
                Below::Merges => self.step_ended(),
                Below::ResetsEmpty => self.empty_reset(),
            }
        }
        ended.clear();
        self.ended = ended;
    }
}

impl Log {
    /// Verify mode: the drive rejects nothing that the log writes.
    fn check_status(&mut self, below: Below, times: &Times) {
        if self.shadow.is_some()
            && self.defect.is_none()
            && times.status == Status::Rejected
            && matches!(below, Below::Writes { .. } | Below::Moves | Below::Merges)
        {
            self.defect = Some(format!("the drive has rejected what the log writes: {below:?}"));
        }
    }
}

impl Store for Log {
    fn begin(&mut self) {
        self.zones.begin();
    }

    fn make_room(&mut self, pages: usize) -> Result<(), Exhausted> {
        let batch = self.keys.log_batch as usize;
        self.requests.make_room(pages)?;
        self.below.make_room(pages + batch)?;
        memory::make_room(&mut self.waiting, pages)?;
        self.zones.make_room(pages + batch)
    }

    fn accept(&mut self, now: Ns, index: u64, request: Request) {
        self.take(now, index, request);
        self.settle(now);
    }

    fn accept_scattered(&mut self, _: Ns, _: u64, _: Request) {
        unreachable!("only caches write scattered sectors, and none is in front of a log");
    }

    fn set_next_origin(&mut self, origin: Origin) {
        self.requests.next_request_is(origin);
    }

    fn next_event(&self) -> Option<Ns> {
        self.zones.next_event()
    }

    fn handle_events(&mut self, now: Ns) {
        self.zones.handle_events(now);
        self.settle(now);
    }

    fn dispatch(&mut self, now: Ns) {
        self.zones.dispatch(now);
        while self.settle(now) {
            self.zones.dispatch(now);
        }
    }

    fn has_completed(&self) -> bool {
        self.requests.has_completed()
    }

    fn drain_completions(&mut self, into: &mut Vec<Completion>) {
        self.requests.drain_completions(into);
    }

    fn is_volatile(&self) -> bool {
        self.zones.is_volatile()
    }

    fn page_bytes(&self) -> u32 {
        self.zones.page_bytes()
    }

    fn exported_pages(&self) -> u32 {
        self.space.logical()
    }
}

impl Layer for Log {
    type Lower = Interface<Zones>;

    fn lower(&self) -> &Interface<Zones> {
        &self.zones
    }

    fn lower_mut(&mut self) -> &mut Interface<Zones> {
        &mut self.zones
    }

    fn holds_here(&self, page: u32) -> Option<bool> {
        Some(self.space.place(page).is_some())
    }
}
