//! The zones of a drive: commands are checked against the state of their zone, appends get their place, and a reset or a finish is carried out
//! below. docs/model/zones.md.
//!
//! | file | what is there |
//! |---|---|
//! | `machine` | states, write pointers and limits |
//! | `carry_out` | commands begin, go to the drive, and end |
//! | `copies` | the Copy command |
//! | `observed` | what checks and verify mode ask |
//!
//! Each active zone has a place, which is the class of its data in the drive: so its data fill blocks of their own. Units of the drive are those
//! that can be written, one zone after the other; addresses of the host have gaps between zones if `zones.size_bytes` says so.

mod carry_out;
mod copies;
mod machine;
mod observed;

use std::collections::VecDeque;

use super::Store;
use super::buffer::Buffer;
use super::desk::Desk;
use super::store::Layer;
use crate::slab::Slab;
use machine::{Machine, Place};
use ssdlab_base::request::Request;
use ssdlab_base::units::{Lpn, Ns, earliest};
use ssdlab_keys::config::{Config, Zones as Keys};
use ssdlab_keys::memory::{self, Exhausted};
use ssdlab_result::stats::Completion;
use ssdlab_result::timeline::Origin;

pub use machine::State;

/// What becomes of an outstanding command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It waits for an earlier command on its zone.
    Held,
    /// The drive serves it.
    Below,
    /// A finish writes padding; holds the next unit of the zone.
    Pads(u32),
    /// A reset waits until reads and writes of the zone have ended.
    Drains,
    /// A reset has unmapped the zone and waits until programs of its place have ended.
    Settles,
    /// A copy reads its data; holds the number of reads that have not ended.
    Copies(u32),
    /// It ends after a time.
    Ends,
}

/// State of an outstanding command.
#[derive(Clone, Copy, Debug)]
struct Command {
    zone: u32,
    phase: Phase,
    /// Start of the present phase; the times of the command cover the time until then.
    since: Ns,
}

/// A request to the drive.
#[derive(Clone, Copy, Debug)]
enum Below {
    /// Serves a flush.
    Serves(u32),
    /// Serves a read.
    Reads(u32),
    /// Serves a write or an append of the zone at this place.
    Writes(u32, Place),
    /// Writes padding for a finish.
    Pads(u32),
    /// Reads data of this zone for a copy.
    Copies(u32, u32),
    /// Unmaps the zone of a reset.
    Unmaps(u32),
}

/// A drive with zones.
pub struct Zones {
    drive: Buffer,
    keys: Keys,
    machine: Machine,
    unit_bytes: u64,
    /// Units of a zone that can be written, and between the first units of two zones.
    capacity: u32,
    distance: u32,
    /// Units of padding that a finish writes at a time: a program on each plane.
    stripe: u32,
    /// By zone: a finish, a reset or a copy is under way. Other commands wait for it, but reads only for a reset.
    busy: Vec<bool>,
    resetting: Vec<bool>,
    /// By zone: outstanding reads and writes.
    accesses: Vec<u32>,
    /// By place: outstanding writes.
    writes_of_place: Vec<u32>,
    requests: Desk<Command>,
    below: Slab<u32, Below>,
    /// Commands that wait for an earlier one on their zone, oldest first, and by zone their number.
    held: VecDeque<u32>,
    held_by_zone: Vec<u32>,
    /// Copies that have not come in: the byte to which each copies, and the first byte of each mapping unit that it reads.
    to_copy: VecDeque<(u64, Vec<u64>)>,
    /// Resets that wait for writes or programs.
    resets: Vec<u32>,
    /// Commands that the controller serves until a time, in the order of these times.
    ending: VecDeque<(Ns, u32)>,
    /// The drive has got a request since `settle` last returned.
    passed: bool,
    /// Buffer reused from call to call.
    ended: Vec<Completion>,
    checks_every_event: bool,
    /// The first contradiction found by verify mode.
    defect: Option<String>,
}

impl Zones {
    /// The zones of `drive` as configured.
    pub fn new(config: &Config, drive: Buffer) -> Self {
        let geometry = drive.drive().ftl().geometry();
        let pools = u64::from(geometry.pools.count.get());
        let (capacity, distance) = (config.zone_units(pools) as u32, config.zone_distance(pools) as u32);
        let (unit_bytes, stripe) = (geometry.unit_bytes.into(), geometry.planes * geometry.units_per_program);
        let count = geometry.exported_units / capacity;
        let mut machine = Machine::new(count, capacity, config.zones.max_open, config.zones.max_active);
        for zone in 0..count {
            if drive.drive().ftl().lookup(Lpn(zone * capacity)).is_some() {
                machine.filled(zone);
            }
        }
        Zones {
            machine,
            keys: config.zones.clone(),
            unit_bytes,
            capacity,
            distance,
            stripe,
            busy: vec![false; count as usize],
            resetting: vec![false; count as usize],
            accesses: vec![0; count as usize],
            writes_of_place: vec![0; config.zones.max_active.into()],
            drive,
            requests: Desk::default(),
            below: Slab::default(),
            held: VecDeque::new(),
            held_by_zone: vec![0; count as usize],
            to_copy: VecDeque::new(),
            resets: Vec::new(),
            ending: VecDeque::new(),
            passed: false,
            ended: Vec::new(),
            checks_every_event: false,
            defect: None,
        }
    }

    /// State of a zone, and the units that the host has written in it.
    ///
    /// # Panics
    /// If there is no such zone.
    pub fn zone(&self, zone: u32) -> (State, u32) {
        (self.machine.state(zone), self.machine.written(zone))
    }

    /// Bytes between the beginnings of two zones.
    pub fn zone_bytes(&self) -> u64 {
        u64::from(self.distance) * self.unit_bytes
    }

    /// Mapping units of a zone that can be written.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Number of zones.
    pub fn count(&self) -> u32 {
        self.machine.count()
    }

    /// Does all that can be done at this instant. Returns true if operations of the drive may begin.
    fn settle(&mut self, now: Ns) -> bool {
        loop {
            let mut any = self.drive.has_completed();
            if any {
                self.take_completions(now);
            }
            any |= self.end_commands(now);
            any |= self.go_on_with_resets(now);
            if !any {
                self.check_if_verifying();
                return std::mem::take(&mut self.passed);
            }
        }
    }
}

impl Store for Zones {
    fn begin(&mut self) {
        self.drive.begin();
    }

    fn make_room(&mut self, pages: usize) -> Result<(), Exhausted> {
        self.requests.make_room(pages)?;
        self.below.make_room(pages)?;
        memory::make_room(&mut self.held, pages)?;
        memory::make_room(&mut self.ending, pages)?;
        self.drive.make_room(pages + self.stripe as usize)
    }

    fn accept(&mut self, now: Ns, index: u64, request: Request) {
        self.take(now, index, request);
        self.settle(now);
    }

    fn accept_scattered(&mut self, _: Ns, _: u64, _: Request) {
        unreachable!("only caches write scattered sectors, and none is in front of zones");
    }

    fn set_next_origin(&mut self, origin: Origin) {
        self.requests.next_request_is(origin);
    }

    fn next_event(&self) -> Option<Ns> {
        earliest(self.drive.next_event(), self.ending.front().map(|&(at, _)| at))
    }

    fn handle_events(&mut self, now: Ns) {
        self.drive.handle_events(now);
        self.settle(now);
    }

    fn dispatch(&mut self, now: Ns) {
        self.drive.dispatch(now);
        while self.settle(now) {
            self.drive.dispatch(now);
        }
    }

    fn has_completed(&self) -> bool {
        self.requests.has_completed()
    }

    fn drain_completions(&mut self, into: &mut Vec<Completion>) {
        self.requests.drain_completions(into);
    }

    fn is_volatile(&self) -> bool {
        self.drive.is_volatile()
    }

    fn page_bytes(&self) -> u32 {
        self.drive.page_bytes()
    }

    fn exported_pages(&self) -> u32 {
        self.machine.count() * self.distance
    }
}

impl Layer for Zones {
    type Lower = Buffer;

    fn lower(&self) -> &Buffer {
        &self.drive
    }

    fn lower_mut(&mut self) -> &mut Buffer {
        &mut self.drive
    }

    fn holds_here(&self, _page: u32) -> Option<bool> {
        None
    }
}
