//! What all configurations have in common: dies with operations of the host and steps of jobs, and the events that end them.

mod closed_loop;
mod jobs;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::units::{Ns, PoolId};
use ssdlab_drive::ftl::Ftl;
use ssdlab_keys::config::{Config, Device};

use crate::blocks::{Blocks, Frontier, PAGES};
use crate::counts::Counts;
use crate::map::{Admission, Map};
use crate::operations::{NONE, Operation, Operations, Queue};

/// How jobs share a die with the host. The implementing type is what a die keeps for it.
pub(crate) trait Sharing: Default {
    /// Page moves of a job that are one event, at most.
    const MOVES_AT_ONCE: u32;

    /// The operation of the host that begins on an idle die, by number; none: the next step of a job begins.
    fn host_begins(drive: &Drive<Self>, die: u32) -> Option<u32>;

    /// A job is wanted and has not begun.
    fn job_waits(&self) -> bool;

    /// A job has ended: perhaps another one begins or waits.
    fn job_ended(drive: &mut Drive<Self>, die: u32);

    /// The job that waits may begin now, if one waits, and then waits no longer.
    fn job_may_begin(drive: &mut Drive<Self>, die: u32) -> bool;
}

/// What a die does.
#[derive(Clone, Copy, PartialEq)]
enum Doing {
    Nothing,
    /// An operation of the host, by number.
    Host(u32),
    /// The next page moves of its job: their number.
    Moves(u32),
    Erase,
}

/// A die, and the pool of its blocks.
pub(crate) struct Die<S> {
    doing: Doing,
    /// The block that its job collects.
    pub(crate) victim: Option<u32>,
    queue: Queue,
    pub(crate) host: Frontier,
    moves: Frontier,
    pub(crate) sharing: S,
}

/// How long steps take, ns.
struct Times {
    read: Ns,
    write: Ns,
    page_move: Ns,
    erase: Ns,
}

impl Times {
    fn new(device: &Device) -> Self {
        let transfer = u64::from(device.page_bytes) * device.transfer_ps_per_byte / 1000;
        let (read, write) = (device.read_ns + transfer, transfer + device.program_ns);
        Times { read, write, page_move: read + write, erase: device.erase_ns }
    }
}

/// A simulated drive whose dies have channels of their own.
pub(crate) struct Drive<S> {
    times: Times,
    page_bytes: u64,
    map: Map,
    blocks: Blocks,
    operations: Operations,
    dies: Vec<Die<S>>,
    /// Dies on which something may begin, a bit each.
    ready: u64,
    /// GC is wanted with fewer free blocks.
    wanted_free: u32,
    /// When what a die does ends, when it began in the order of all beginnings, and the die: in one number, which compares fast.
    events: BinaryHeap<Reverse<u128>>,
    serial: u64,
    counts: Counts,
}

/// Bits for the die and for all but the time in a number of `Drive::events`.
const DIE_BITS: u32 = 16;
const ORDER_BITS: u32 = 64;

impl<S: Sharing> Drive<S> {
    pub(crate) fn new(config: &Config, ftl: &Ftl) -> Self {
        let dies = ftl.geometry().pools.count.get();
        assert!(dies == ftl.geometry().channels && dies <= u64::BITS, "a channel for each die, and not more than 64");
        Drive {
            times: Times::new(&config.device),
            page_bytes: config.device.page_bytes.into(),
            map: Map::new(ftl),
            blocks: Blocks::new(ftl),
            operations: Operations::default(),
            dies: (0..dies).map(|die| idle(ftl, PoolId(die))).collect(),
            ready: 0,
            wanted_free: ftl.soft_blocks().max(ftl.reserve() + 1),
            events: BinaryHeap::new(),
            serial: 0,
            counts: Counts::new(),
        }
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    #[inline(always)]
    pub(crate) fn die(&self, die: u32) -> &Die<S> {
        &self.dies[die as usize]
    }

    #[inline(always)]
    pub(crate) fn die_mut(&mut self, die: u32) -> &mut Die<S> {
        &mut self.dies[die as usize]
    }

    /// The operations of the host that wait for a die, oldest first: their numbers.
    #[inline(always)]
    pub(crate) fn waiting(&self, die: u32) -> impl Iterator<Item = u32> {
        self.die(die).queue.iter(&self.operations)
    }

    #[inline(always)]
    pub(crate) fn operation(&self, number: u32) -> &Operation {
        &self.operations[number]
    }

    /// Number of free blocks of a die.
    #[inline(always)]
    pub(crate) fn free(&self, die: u32) -> u32 {
        self.blocks.free(die)
    }

    /// A die wants GC.
    #[inline(always)]
    pub(crate) fn is_short(&self, die: u32) -> bool {
        self.free(die) < self.wanted_free
    }

    /// Number of operations that have arrived and steps that have begun.
    #[inline(always)]
    pub(crate) fn serial(&self) -> u64 {
        self.serial
    }

    /// A request arrives. Returns true if it completes at once.
    #[inline(always)]
    fn arrive(&mut self, now: Ns, request: u32, wanted: &Request) -> bool {
        assert!(wanted.length == self.page_bytes, "a request is a page");
        self.serial += 1;
        let address = (wanted.offset / self.page_bytes) as u32;
        let operation = Operation {
            address,
            page: NONE,
            target: NONE,
            youngest: NONE,
            next_on_address: NONE,
            next: NONE,
            request,
            reads: wanted.kind == RequestKind::Read,
            age: self.serial,
            arrival_ns: now,
        };
        match self.map.admit(&mut self.operations, operation) {
            Admission::Ready(number) => self.enqueue(address % self.dies.len() as u32, number),
            Admission::Waits => {}
            Admission::Answered => return true,
        }
        false
    }

    #[inline(always)]
    fn enqueue(&mut self, die: u32, number: u32) {
        self.ready |= 1 << die;
        self.dies[die as usize].queue.insert(&mut self.operations, number);
    }

    /// All that may begin on a die begins.
    #[inline(always)]
    fn dispatch(&mut self, now: Ns, die: u32) {
        self.begin(now, die);
        if S::job_may_begin(self, die) {
            self.begin_job(die);
            self.begin(now, die);
        }
    }

    #[inline(always)]
    fn begin(&mut self, now: Ns, die: u32) {
        if self.die(die).doing != Doing::Nothing {
        } else if let Some(number) = S::host_begins(self, die) {
            self.begin_host(now, die, number);
        } else if let Some(victim) = self.die(die).victim {
            self.begin_step(now, die, victim);
        }
    }

    #[inline(always)]
    fn begin_host(&mut self, now: Ns, die: u32, number: u32) {
        self.dies[die as usize].queue.take(&mut self.operations, number);
        self.dies[die as usize].doing = Doing::Host(number);
        if self.operations[number].reads {
            return self.ends(now + self.times.read, die);
        }
        if self.die(die).host.room() == 0 {
            self.open_host_block(die);
        }
        self.operations[number].target = self.dies[die as usize].host.take(1);
        self.ends(now + self.times.write, die);
    }

    #[inline(always)]
    fn open_host_block(&mut self, die: u32) {
        let block = self.blocks.take_free(die);
        self.dies[die as usize].host = Frontier { block, next: 0 };
        let Die { victim, sharing, .. } = self.die(die);
        if victim.is_none() && !sharing.job_waits() && self.is_short(die) {
            self.begin_job(die);
        }
    }

    #[inline(always)]
    fn ends(&mut self, then: Ns, die: u32) {
        self.serial += 1;
        self.events.push(Reverse(u128::from(then) << ORDER_BITS | u128::from(self.serial << DIE_BITS) | u128::from(die)));
    }

    /// What a die does has ended. Returns the number and the response time of a request that has completed.
    #[inline(always)]
    fn ended(&mut self, now: Ns, die: u32) -> Option<(u32, Ns)> {
        self.ready |= 1 << die;
        let doing = std::mem::replace(&mut self.dies[die as usize].doing, Doing::Nothing);
        let Doing::Host(number) = doing else {
            self.step_ended(die, doing);
            return None;
        };
        let Operation { page, target, request, arrival_ns, .. } = self.operations[number];
        if target != NONE {
            self.written(die, number, page, target);
        }
        let page = if target == NONE { page } else { target };
        if let Some(next) = self.map.ended(&mut self.operations, number, page) {
            self.enqueue(die, next);
        }
        Some((request, now - arrival_ns))
    }

    #[inline(always)]
    fn written(&mut self, die: u32, number: u32, old: u32, new: u32) {
        self.blocks.invalidate(die, old);
        self.map.programmed(new, self.operations[number].address);
        self.blocks.programmed(die, new / PAGES, 1);
    }
}

fn idle<S: Sharing>(ftl: &Ftl, pool: PoolId) -> Die<S> {
    let [host, moves] = Frontier::both(ftl, pool);
    Die { doing: Doing::Nothing, victim: None, queue: Queue::EMPTY, host, moves, sharing: S::default() }
}
