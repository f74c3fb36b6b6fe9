//! The operations of one drive, as slices of time on tracks.
//!
//! A die has two operation slots and a place for a suspended operation. Each is a track, so slices of one track never overlap. A die is
//! occupied while one of its slots has a slice.
//!
//! The functions that the simulation calls are cold: most runs have no recorder, and their path must stay short.

use std::sync::Arc;

use super::budget::{Budget, RecordingWindow};
use super::origin::{NOBODY, Origin};
use super::ring::{RecentOperation, Ring};
use super::track::{DriveShape, Track};
use ssdlab_base::units::{BlockId, ChannelId, DieId, Lpn, Ns, PoolId, Ppn};
use ssdlab_keys::memory::{self, Exhausted};

/// Value for no physical page, no block, no page of an operation and no stored operation.
pub const NOWHERE: u32 = u32::MAX;

/// A page of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Origin of the page's request. `None`: a page move of GC.
    pub origin: Option<Origin>,
    /// The logical page.
    pub lpn: Lpn,
    /// The physical page: for a move its source. [`NOWHERE`]: none.
    pub ppn: Ppn,
    /// The destination of a move, once chosen, or [`NOWHERE`].
    pub to: Ppn,
}

/// A flash operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub host: bool,
    /// Number of the GC job that the operation belongs to, or [`NOBODY`].
    pub job: u64,
    /// The block that the operation erases, or [`NOWHERE`].
    pub block: u32,
    /// Pages of the operation, as indices into [`Recorder::pages`]: the first, and one past the last.
    pub pages: (u32, u32),
}

/// The operation in a slot, or suspended.
#[derive(Clone, Debug)]
struct Current {
    host: bool,
    job: u64,
    block: u32,
    pages: Vec<Page>,
    /// Index of the operation in [`Recorder::operations`], or [`NOWHERE`] before it has a slice.
    stored: u32,
}

/// A slice: an interval on a track.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice {
    pub start: Ns,
    pub end: Ns,
    pub track: Track,
    pub name: &'static str,
    /// Index of the operation or job that the slice belongs to.
    pub of: u32,
    /// For a transfer, the page of the operation, from 0; otherwise [`NOWHERE`].
    pub page: u32,
}

/// A slice that has not ended.
#[derive(Clone, Copy, Debug)]
struct Open {
    start: Ns,
    track: Track,
    name: &'static str,
    /// Slot of the operation; [`NOWHERE`] for a suspended operation and for a job.
    slot: u32,
    page: u32,
}

/// An event, such as a resumption, of the operation in a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub at: Ns,
    pub slot: u32,
    pub name: &'static str,
}

/// A request merged with the operation in a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joined {
    pub at: Ns,
    pub slot: u32,
    pub request: u64,
}

/// A GC job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub number: u64,
    pub victim: u32,
    /// Valid pages of the victim when the job started.
    pub valid: u32,
}

/// The recording of one drive.
#[derive(Debug)]
pub struct Recorder {
    pub(super) shape: DriveShape,
    window: RecordingWindow,
    /// Open slice of each track: slots, suspended operations, buses, pools.
    open: Vec<Option<Open>>,
    /// Operation in each slot, then the suspended operation of each die.
    current: Vec<Current>,
    /// The operation announced to begin next.
    next: Current,
    /// The origin of the next request, if the caller gave one.
    next_origin: Option<Origin>,
    /// Origins of requests, by the place at which the drive keeps them.
    origins: Vec<Origin>,
    running: Vec<Job>,
    jobs_started: u64,
    /// Recorded slices; once recording has ended, sorted by start, then by track.
    pub(super) slices: Vec<Slice>,
    pub(super) operations: Vec<Operation>,
    pub(super) pages: Vec<Page>,
    pub(super) marks: Vec<Mark>,
    pub(super) joined: Vec<Joined>,
    pub(super) jobs: Vec<Job>,
    /// What the drive did recently, for the slowest requests; not limited to the window.
    ring: Option<Box<Ring>>,
}

impl Recorder {
    /// A recorder of a drive at the start of its run.
    pub fn new(shape: DriveShape, budget: &Arc<Budget>) -> Self {
        let nothing = Current { host: false, job: NOBODY, block: NOWHERE, pages: Vec::new(), stored: NOWHERE };
        let tracks = 3 * shape.dies + shape.channels + shape.pools;
        Recorder {
            shape,
            window: RecordingWindow::new(budget),
            open: vec![None; tracks as usize],
            current: vec![nothing.clone(); 3 * shape.dies as usize],
            next: nothing,
            next_origin: None,
            origins: Vec::new(),
            running: vec![Job { number: NOBODY, victim: NOWHERE, valid: 0 }; shape.pools as usize],
            jobs_started: 0,
            slices: Vec::new(),
            operations: Vec::new(),
            pages: Vec::new(),
            marks: Vec::new(),
            joined: Vec::new(),
            jobs: Vec::new(),
            ring: None,
        }
    }

    /// Keeps what the drive does recently in a ring, too.
    pub fn keep_ring(&mut self, ring: Ring) {
        self.ring = Some(Box::new(ring));
    }

    /// What the drive did recently, if that is kept.
    #[inline]
    pub fn ring(&self) -> Option<&Ring> {
        self.ring.as_deref()
    }

    /// Mutable access to what the drive did recently, if that is kept.
    #[inline]
    pub fn ring_mut(&mut self) -> Option<&mut Ring> {
        self.ring.as_deref_mut()
    }

    /// The origin of the request that the drive keeps at `place`.
    pub fn origin_at(&self, place: u32) -> Option<Origin> {
        self.origins.get(place as usize).copied()
    }

    /// Number of the running job of a pool, or [`NOBODY`].
    pub fn job_of(&self, pool: PoolId) -> u64 {
        self.running[pool.index()].number
    }

    /// Whether recording has ended, and nothing needs operations any more.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.is_over() && self.ring.is_none()
    }

    /// Whether recording has ended.
    #[inline]
    fn is_over(&self) -> bool {
        self.window.ended().is_some()
    }

    /// Number of recorded slices.
    pub(super) fn count(&self) -> u64 {
        self.slices.len() as u64
    }

    /// Ends recording at the end of the run, if it has not ended before. Returns when it ended, ns.
    pub(super) fn finish(&mut self, end: Ns) -> Ns {
        if !self.is_over() {
            let end = self.window.finish(end);
            self.end(end);
        }
        self.window.finish(end)
    }

    /// Sets the origin of the drive's next request. By default it is the host request with the same number.
    #[cold]
    pub fn next_request_is(&mut self, origin: Origin) {
        self.next_origin = Some(origin);
    }

    /// Reserves memory for the origins of requests at this many places.
    ///
    /// # Errors
    /// [`Exhausted`] if there is not enough memory.
    pub fn make_room(&mut self, places: usize) -> std::result::Result<(), Exhausted> {
        let more = places.saturating_sub(self.origins.len());
        memory::make_room(&mut self.origins, more)
    }

    /// Records that request number `index` arrives at the drive, which keeps it at `place`.
    #[cold]
    pub fn request_comes(&mut self, place: u32, index: u64) {
        let origin = self.next_origin.take().unwrap_or(Origin::host(index));
        if self.origins.len() <= place as usize {
            self.origins.resize(place as usize + 1, origin);
        }
        self.origins[place as usize] = origin;
    }

    /// Announces an operation that serves requests. `pages`: for each page the place of its request, its logical and its physical page.
    #[cold]
    pub fn next_is_for_requests(&mut self, pages: impl Iterator<Item = (u32, Lpn, Ppn)>) {
        self.next_is(true, NOBODY, NOWHERE);
        let origins = &self.origins;
        let page = |(place, lpn, ppn)| Page { origin: Some(origins[place as usize]), lpn, ppn, to: Ppn(NOWHERE) };
        self.next.pages.extend(pages.map(page));
    }

    /// Announces an operation that reads, writes or moves a page for the GC job of a pool.
    #[cold]
    pub fn next_moves(&mut self, pool: PoolId, lpn: Lpn, from: Ppn, to: Option<Ppn>) {
        self.next_is(false, self.running[pool.index()].number, NOWHERE);
        self.next.pages.push(Page { origin: None, lpn, ppn: from, to: to.unwrap_or(Ppn(NOWHERE)) });
    }

    /// Announces an operation that erases a block for the GC job of a pool.
    #[cold]
    pub fn next_erases(&mut self, pool: PoolId, block: BlockId) {
        self.next_is(false, self.running[pool.index()].number, block.0);
    }

    fn next_is(&mut self, host: bool, job: u64, block: u32) {
        self.next.pages.clear();
        self.next = Current { host, job, block, pages: std::mem::take(&mut self.next.pages), stored: NOWHERE };
    }

    /// Records that the announced operation begins in a slot.
    #[cold]
    pub fn operation_begins(&mut self, slot: u32) {
        std::mem::swap(&mut self.current[slot as usize], &mut self.next);
        if let Some(ring) = &mut self.ring {
            let Current { job, block, pages, .. } = &self.current[slot as usize];
            ring.begins(slot, RecentOperation::new(*job, *block, pages));
        }
    }

    /// Sets the destination of the page move in a slot.
    #[cold]
    pub fn moves_to(&mut self, slot: u32, to: Ppn) {
        if let Some(ring) = &mut self.ring {
            ring.moves_to(slot, to);
        }
        let current = &mut self.current[slot as usize];
        let Some(page) = current.pages.first_mut() else { return };
        page.to = to;
        if let Some(operation) = self.operations.get(current.stored as usize) {
            self.pages[operation.pages.0 as usize].to = to;
        }
    }

    /// Records that the operation in a slot enters a stage.
    #[cold]
    pub fn stage(&mut self, now: Ns, slot: u32, name: &'static str, page: u32) {
        self.next_slice(now, Open { start: now, track: Track::Slot(slot), name, slot, page });
    }

    /// Records that the operation in a slot begins to transfer a page: a slice on its die and one on the bus.
    #[cold]
    pub fn transfer(&mut self, now: Ns, slot: u32, channel: ChannelId, name: &'static str, page: u32) {
        self.stage(now, slot, name, page);
        self.next_slice(now, Open { start: now, track: Track::Bus(channel.0), name, slot, page });
    }

    /// Records the end of the transfer on a channel.
    #[cold]
    pub fn transfer_ends(&mut self, now: Ns, channel: ChannelId) {
        self.close(now, Track::Bus(channel.0));
    }

    /// Records that a slot is empty.
    #[cold]
    pub fn empty(&mut self, now: Ns, slot: u32) {
        self.close(now, Track::Slot(slot));
    }

    /// Records an operation that cannot be preempted. `stages`: name and duration (ns) of each stage, and whether it uses the bus.
    #[cold]
    pub fn whole(&mut self, now: Ns, slot: u32, channel: ChannelId, stages: &[(&'static str, Ns, bool)]) {
        let mut start = now;
        for &(name, ns, on_bus) in stages {
            let page = if on_bus { 0 } else { NOWHERE };
            self.known(now, (start, start + ns), Open { start, track: Track::Slot(slot), name, slot, page });
            if on_bus {
                self.known(now, (start, start + ns), Open { start, track: Track::Bus(channel.0), name, slot, page });
            }
            start += ns;
        }
    }

    /// Records a slice whose end is known. It is cut if recording ends before.
    fn known(&mut self, now: Ns, (start, end): (Ns, Ns), open: Open) {
        if let Some(ring) = &mut self.ring {
            ring.known((start, end), open.track, open.name, open.slot);
        }
        if end > start && self.take(now) {
            self.keep(end, open);
        }
    }

    /// Records that the operation in a slot is suspended.
    #[cold]
    pub fn put_aside(&mut self, now: Ns, slot: u32, name: &'static str) {
        self.empty(now, slot);
        let die = slot / 2;
        let suspended = self.suspended(die);
        self.current.swap(slot as usize, suspended);
        self.swap_in_ring(slot);
        self.next_slice(now, Open { start: now, track: Track::Suspended(die), name, slot: NOWHERE, page: NOWHERE });
    }

    /// Records that the suspended operation of a die resumes in a slot.
    #[cold]
    pub fn take_back(&mut self, now: Ns, slot: u32) {
        let die = slot / 2;
        self.close(now, Track::Suspended(die));
        let suspended = self.suspended(die);
        self.current.swap(slot as usize, suspended);
        self.swap_in_ring(slot);
        self.mark(now, slot, "resume");
    }

    fn swap_in_ring(&mut self, slot: u32) {
        if let Some(ring) = &mut self.ring {
            ring.swap(slot);
        }
    }

    /// Records that the suspended operation of a die is cancelled.
    #[cold]
    pub fn give_up(&mut self, now: Ns, die: DieId) {
        self.close(now, Track::Suspended(die.0));
    }

    fn suspended(&self, die: u32) -> usize {
        (2 * self.shape.dies + die) as usize
    }

    /// Records an event of the operation in a slot.
    #[cold]
    pub fn mark(&mut self, now: Ns, slot: u32, name: &'static str) {
        if self.window.is_within(now) && self.take(now) {
            self.marks.push(Mark { at: now, slot, name });
        }
    }

    /// Records that the request which the drive keeps at `place` merges with the operation in a slot.
    #[cold]
    pub fn joins(&mut self, now: Ns, slot: u32, place: u32) {
        let request = self.origins.get(place as usize).map_or(NOBODY, |origin| origin.request);
        if request != NOBODY && self.window.is_within(now) && self.take(now) {
            self.joined.push(Joined { at: now, slot, request });
        }
    }

    /// Records the start of a GC job in a pool. `name`: its name in the timeline. `valid`: valid pages of the victim.
    #[cold]
    pub fn job_starts(&mut self, now: Ns, pool: PoolId, name: &'static str, victim: BlockId, valid: u32) {
        self.running[pool.index()] = Job { number: self.jobs_started, victim: victim.0, valid };
        self.jobs_started += 1;
        self.next_slice(now, Open { start: now, track: Track::Job(pool.0), name, slot: NOWHERE, page: NOWHERE });
    }

    /// Records the end of the GC job of a pool.
    #[cold]
    pub fn job_ends(&mut self, now: Ns, pool: PoolId) {
        self.close(now, Track::Job(pool.0));
    }

    fn place(&self, track: Track) -> usize {
        let (dies, channels) = (self.shape.dies, self.shape.channels);
        (match track {
            Track::Slot(slot) => slot,
            Track::Suspended(die) => 2 * dies + die,
            Track::Bus(channel) => 3 * dies + channel,
            Track::Job(pool) => 3 * dies + channels + pool,
        }) as usize
    }

    /// Whether recording goes on at `now`. If not, the recording is closed.
    fn is_on(&mut self, now: Ns) -> bool {
        let over = self.is_over();
        self.window.is_open(now) || self.just_ended(over)
    }

    /// Takes one more slice of the budget; returns false once recording has ended.
    fn take(&mut self, now: Ns) -> bool {
        let over = self.is_over();
        self.window.take(now) || self.just_ended(over)
    }

    /// Closes the recording if it has ended since `over` was read. Always returns false.
    fn just_ended(&mut self, over: bool) -> bool {
        if !over && let Some(at) = self.window.ended() {
            self.end(at);
        }
        false
    }

    /// Ends the open slice of a track and begins the next.
    fn next_slice(&mut self, now: Ns, open: Open) {
        self.close(now, open.track);
        if let Some(ring) = &mut self.ring {
            ring.begin(now, open.track, open.name, open.slot);
        }
        if self.take(now) {
            let place = self.place(open.track);
            self.open[place] = Some(open);
        }
    }

    /// Ends the open slice of a track, if there is one.
    fn close(&mut self, now: Ns, track: Track) {
        if let Some(ring) = &mut self.ring {
            ring.end(now, track);
        }
        if self.is_on(now) {
            let place = self.place(track);
            if let Some(open) = self.open[place].take() {
                self.keep(now, open);
            }
        }
    }

    /// Closes the recording at `at`: ends the open slices, cuts all slices there and sorts them.
    fn end(&mut self, at: Ns) {
        for open in std::mem::take(&mut self.open).into_iter().flatten() {
            self.keep(at, open);
        }
        self.slices.retain_mut(|slice| {
            slice.end = slice.end.min(at);
            slice.end > slice.start
        });
        self.slices.sort_by_key(|slice| (slice.start, slice.track));
        self.joined.retain(|joined| joined.at < at);
    }

    /// Stores the part of a slice that lies in the window.
    fn keep(&mut self, end: Ns, open: Open) {
        let Some((start, end)) = self.window.clip(open.start, end) else { return };
        let of = match open.track {
            Track::Job(pool) => store(&mut self.jobs, self.running[pool as usize]),
            Track::Slot(_) | Track::Bus(_) => self.stored(open.slot as usize),
            Track::Suspended(die) => self.stored(self.suspended(die)),
        };
        self.slices.push(Slice { start, end, track: open.track, name: open.name, of, page: open.page });
    }

    /// Index of an operation in [`Recorder::operations`], where its first slice stores it. `place`: its index in [`Recorder::current`].
    fn stored(&mut self, place: usize) -> u32 {
        let current = &mut self.current[place];
        if current.stored == NOWHERE {
            let first = self.pages.len() as u32;
            self.pages.extend_from_slice(&current.pages);
            let pages = (first, self.pages.len() as u32);
            current.stored = store(&mut self.operations, Operation { host: current.host, job: current.job, block: current.block, pages });
        }
        current.stored
    }
}

fn store<T>(all: &mut Vec<T>, one: T) -> u32 {
    all.push(one);
    all.len() as u32 - 1
}
