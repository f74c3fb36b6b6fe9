//! An array of drives: one address space, striped over them, with or without parity.
//!
//! | file | what happens there |
//! |---|---|
//! | `layout` | where data and parity lie |
//! | `split` | a request is split into requests to drives and operations on stripes |
//! | `rebuild` | which reads are replaced by reads of the other drives, so that they do not wait for GC |
//! | `replacement` | a failed drive was replaced: its units are rebuilt beside the requests of the host |
//! | `rotation` | which pool of which drive may collect, where they take turns |
//! | `update` | what a write to a stripe with parity reads and writes |
//! | `stripe_locks` | which update holds a stripe, and what waits for it |
//! | `places` | where blocks can fail: writes wait for the places that drives keep for their data and parity |
//! | `complete` | requests to drives end: updates continue, then host requests complete |
//! | `shadow` | verify mode: the content of every sector |
//! | `planted` | defects for tests to find |
//!
//! A request to a drive is a *part* of its request, directly or by way of an update.

mod complete;
mod layout;
mod places;
mod planted;
mod rebuild;
mod replacement;
mod rotation;
mod shadow;
mod split;
mod stripe_locks;
mod update;

pub use planted::PlantedInArray;

use super::Store;
use super::desk::Desk;
use super::observed::{LevelStats, Levels, Observed};
use super::places::{Gate, Line};
use crate::cache::{Groups, Targets};
use crate::slab::Slab;
use ssdlab_base::error::Error;
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::units::Ns;
use ssdlab_keys::config::{ArrayLevel, CachePlace, Config};
use ssdlab_keys::memory::Exhausted;
use ssdlab_result::stats::{ArrayResult, Completion};
use ssdlab_result::timeline::Origin;

use layout::Layout;
use rebuild::Rebuilds;
use replacement::Replacement;
use rotation::Rotation;
use shadow::Shadow;
use split::Run;
use stripe_locks::{StripeLocks, Work};
use update::Method;

/// State of an outstanding host request at the array; its parts are requests to drives and operations on stripes.
#[derive(Clone, Copy, Debug)]
struct ArrayRequest {
    /// The request writes sectors of its page that are not consecutive.
    scattered: bool,
}

/// The origin of a request to a drive, by its place.
#[derive(Clone, Copy, Debug)]
enum Owner {
    /// A host request.
    Request(u32),
    /// An update of a stripe.
    Update(u32),
    /// The rebuild of a stripe.
    Rebuild(u32),
}

/// An outstanding request to a drive.
#[derive(Clone, Copy, Debug)]
struct DriveRequest {
    owner: Owner,
    /// Position among the parts: of several that end at one instant, the part with the highest position gives the latency parts.
    place: u64,
}

/// Drives behind one address space.
pub struct Array<D: Store> {
    drives: Vec<D>,
    layout: Layout,
    locks: StripeLocks,
    requests: Desk<ArrayRequest>,
    drive_requests: Slab<u32, DriveRequest>,
    /// Drives to dispatch, one bit each.
    touched: u64,
    /// Drives that may have completions, one bit each.
    completed: u64,
    /// When the next event of each drive is due, ns; [`Ns::MAX`] for never.
    due: Vec<Ns>,
    /// Drives whose next event may be due at another time than `due` says, one bit each.
    undated: u64,
    /// By drive: the bytes that the host request being split needs of it.
    runs: Vec<Run>,
    /// By column of the update that begins: the method for its parity.
    methods: Vec<Method>,
    /// Completions of a drive, while they are handled; reused from call to call.
    inbox: Vec<Completion>,
    /// `None`: reads of a working drive are never replaced.
    rebuilds: Option<Rebuilds>,
    /// `None`: no drive is replaced.
    replacement: Option<Box<Replacement>>,
    /// `None`: pools collect without turns.
    rotation: Option<Rotation>,
    /// `None`: no block can fail.
    line: Option<Box<Line>>,
    result: ArrayResult,
    shadow: Option<Box<Shadow>>,
    /// The defect that a test has planted.
    planted: Option<PlantedInArray>,
}

impl<D: Store> Array<D> {
    /// An array as configured by `config`, of idle drives.
    pub fn new(config: &Config, drives: Vec<D>) -> Self {
        let layout = Layout::new(&config.array, drives[0].page_bytes(), drives[0].exported_pages());
        assert_eq!(drives.len(), layout.drives as usize, "as many drives as configured");
        assert!(drives.len() <= u64::BITS as usize, "a bit for each drive");
        let level = if config.array.level == ArrayLevel::Rais0 { "rais0" } else { "rais5" };
        let left_stripes = if layout.replaced { layout.stripes } else { 0 };
        Array {
            locks: StripeLocks::new(&layout),
            requests: Desk::default(),
            drive_requests: Slab::default(),
            touched: 0,
            completed: 0,
            due: vec![Ns::MAX; drives.len()],
            undated: 0,
            runs: vec![Run::default(); drives.len()],
            methods: Vec::new(),
            rebuilds: Rebuilds::new(&config.array),
            replacement: Replacement::new(&config.array, &layout),
            rotation: Rotation::new(&config.array),
            inbox: Vec::new(),
            line: config.wear.is_on().then(|| Box::new(Line::new(config.caches_writes() && config.cache.place == CachePlace::Array))),
            result: ArrayResult { level: level.into(), drives: layout.drives, left_stripes, ..ArrayResult::default() },
            shadow: None,
            planted: None,
            layout,
            drives,
        }
    }

    /// Mutable access to the drives.
    pub fn members_mut(&mut self) -> &mut [D] {
        self.undate_all();
        &mut self.drives
    }

    /// Statistics of the array so far.
    pub fn result(&self) -> &ArrayResult {
        &self.result
    }

    fn recount(&self) -> Result<(), String> {
        self.locks.check(&self.layout)?;
        self.check_turns()?;
        let mut pending: Vec<(u32, u32)> = self.requests.iter().map(|(place, _)| (place, 0)).collect();
        let mut add = |request: u32| match pending.iter_mut().find(|(place, _)| *place == request) {
            Some((_, count)) => {
                *count += 1;
                Ok(())
            }
            None => Err(format!("an operation belongs to request {request} of the array, which is not outstanding")),
        };
        self.line.iter().flat_map(|line| line.waiting()).try_for_each(&mut add)?;
        for (place, op) in self.locks.iter() {
            if !matches!(op.work, Work::Replacement) {
                add(op.request)?;
            }
            let is_own = |owner| matches!(owner, Owner::Update(own) | Owner::Rebuild(own) if own == place);
            let drive_requests = self.drive_requests.iter().filter(|(_, request)| is_own(request.owner)).count();
            if drive_requests != op.pending as usize {
                return Err(format!(
                    "an operation on stripe {} waits for {} requests to drives, not {drive_requests}",
                    op.stripe, op.pending
                ));
            }
        }
        for (_, drive_request) in self.drive_requests.iter() {
            if let Owner::Request(request) = drive_request.owner {
                add(request)?;
            }
        }
        match pending.iter().find(|&&(place, count)| self.requests.pending(place) != count) {
            Some((place, count)) => Err(format!("request {place} of the array waits for {}, not {count}", self.requests.pending(*place))),
            None => self.shadow.as_ref().map_or(Ok(()), |shadow| shadow.check_stripes(&self.layout, |stripe| !self.locks.is_held(stripe))),
        }
    }

    /// A drive gets a request or has an event at this instant: it must be dispatched, and may have completions.
    #[inline]
    fn touch(&mut self, drive: u32) {
        self.touched |= 1 << drive;
        self.completed |= 1 << drive;
        self.undated |= 1 << drive;
    }

    fn undate_all(&mut self) {
        self.undated = self.layout.working().fold(0, |all, drive| all | 1 << drive);
    }

    /// When the next event of a drive is due, ns; [`Ns::MAX`] for never.
    #[inline]
    fn due(&self, drive: usize) -> Ns {
        if self.undated >> drive & 1 == 0 { self.due[drive] } else { self.drives[drive].next_event().unwrap_or(Ns::MAX) }
    }

    /// Brings `due` up to date.
    #[inline]
    fn date(&mut self) {
        while self.undated != 0 {
            let drive = self.undated.trailing_zeros() as usize;
            self.due[drive] = self.due(drive);
            self.undated &= self.undated - 1;
        }
    }

    /// Handles all completions of drives, and those that follow from them at this instant.
    fn settle(&mut self, now: Ns) {
        while self.completed != 0 {
            let drive = self.completed.trailing_zeros();
            self.completed &= self.completed - 1;
            let mut inbox = std::mem::take(&mut self.inbox);
            self.drives[drive as usize].drain_completions(&mut inbox);
            for completion in &inbox {
                self.drive_request_done(now, drive, completion);
            }
            inbox.clear();
            self.inbox = inbox;
        }
    }

    fn dispatch_drives(&mut self, now: Ns) {
        while self.touched != 0 {
            let drive = self.touched.trailing_zeros();
            self.touched &= self.touched - 1;
            self.drives[drive as usize].dispatch(now);
            self.completed |= 1 << drive;
            if self.touched == 0 {
                self.settle(now);
            }
        }
    }

    fn accept_as(&mut self, now: Ns, index: u64, request: Request, scattered: bool) {
        self.take(now, index, request, scattered);
        self.settle(now);
    }
}

impl<D: Store + 'static> Observed for Array<D> {
    fn describe(&self) -> Option<String> {
        let (held, waiting) = self.locks.counts();
        Some(format!(
            "array: {} requests and {} requests to drives are outstanding, {held} stripes are locked, {waiting} operations wait for a lock",
            self.requests.len(),
            self.drive_requests.len()
        ))
    }

    fn check(&self) -> Result<(), String> {
        let wrong = self.shadow.as_ref().and_then(|shadow| shadow.wrong().map(str::to_string));
        wrong.map_or_else(|| self.recount(), Err)
    }

    /// Verify mode: tracks the content of every sector, and checks reads and parity.
    fn verify(&mut self, every_event: bool) {
        self.shadow = Some(Box::new(Shadow::new(&self.layout, every_event)));
    }

    fn is_at_rest(&self) -> bool {
        self.requests.is_empty() && self.drive_requests.is_empty()
    }

    fn add_stats(&self, _now: Ns, to: &mut LevelStats) {
        to.array = Some(self.result.clone());
    }
}

impl<D: Store + Levels> Levels for Array<D> {
    fn each_level<'a>(&'a self, see: &mut dyn FnMut(&'a dyn Observed)) {
        self.drives.iter().for_each(|drive| drive.each_level(see));
        see(self);
    }

    fn each_level_mut(&mut self, see: &mut dyn FnMut(&mut dyn Observed)) {
        self.undate_all();
        self.drives.iter_mut().for_each(|drive| drive.each_level_mut(see));
        see(self);
    }

    fn take_policy_failure(&mut self) -> Option<Error> {
        self.drives.iter_mut().find_map(D::take_policy_failure)
    }
}

impl<D: Store> Store for Array<D> {
    fn begin(&mut self) {
        // A failed drive that is not replaced gets no requests and does nothing.
        self.layout.working().for_each(|drive| self.drives[drive as usize].begin());
        self.undate_all();
        while self.pass_turns(0) {
            self.dispatch_drives(0);
        }
    }

    #[inline]
    fn make_room(&mut self, pages: usize) -> Result<(), Exhausted> {
        self.requests.make_room(pages)?;
        // An update reads before it writes, on all drives together; each page of the update may be a request to a drive.
        self.drive_requests.make_room(2 * pages)?;
        self.locks.make_room(pages)?;
        if let Some(line) = &mut self.line {
            line.make_room(pages)?;
        }
        self.drives.iter_mut().try_for_each(|drive| drive.make_room(2 * pages))
    }

    fn accept(&mut self, now: Ns, index: u64, request: Request) {
        self.accept_as(now, index, request, false);
    }

    fn accept_scattered(&mut self, now: Ns, index: u64, request: Request) {
        assert!(request.kind == RequestKind::Write && request.length == u64::from(self.layout.page_bytes));
        self.accept_as(now, index, request, true);
    }

    #[inline]
    fn set_next_origin(&mut self, origin: Origin) {
        self.requests.next_request_is(origin);
    }

    fn next_event(&self) -> Option<Ns> {
        let of_rebuild = self.replacement.as_ref().map_or(Ns::MAX, |replacement| replacement.wakes);
        (0..self.due.len()).map(|drive| self.due(drive)).min().map(|due| due.min(of_rebuild)).filter(|&due| due < Ns::MAX)
    }

    fn handle_events(&mut self, now: Ns) {
        for drive in 0..self.layout.drives {
            if self.due(drive as usize) == now {
                self.drives[drive as usize].handle_events(now);
                self.touch(drive);
            }
        }
        self.settle(now);
        if self.replacement.as_ref().is_some_and(|replacement| replacement.wakes <= now) {
            self.rebuild_stripes(now);
        }
    }

    /// Dispatches drives until nothing more happens at this instant: an operation may complete at once and let others begin.
    fn dispatch(&mut self, now: Ns) {
        self.dispatch_drives(now);
        while self.line.is_some() && self.let_in(now) || self.pass_turns(now) {
            self.dispatch_drives(now);
        }
        self.date();
        if self.shadow.as_ref().is_some_and(|shadow| shadow.every_event()) {
            let result = self.recount();
            self.shadow.as_mut().expect("checked above").note(result);
        }
    }

    fn has_completed(&self) -> bool {
        self.requests.has_completed()
    }

    fn drain_completions(&mut self, into: &mut Vec<Completion>) {
        self.requests.drain_completions(into);
    }

    fn is_volatile(&self) -> bool {
        self.drives.iter().any(D::is_volatile)
    }

    fn page_bytes(&self) -> u32 {
        self.layout.page_bytes
    }

    fn exported_pages(&self) -> u32 {
        self.layout.exported_pages()
    }
}

impl<D: Store> Targets for Array<D> {
    fn targets(&self) -> u32 {
        self.layout.drives
    }

    #[inline]
    fn target_of(&self, page: u32) -> Option<u32> {
        Some(self.layout.drive_of(page / self.layout.unit_pages))
    }

    fn targets_are_fixed(&self) -> bool {
        true
    }

    fn in_gc(&self, target: u32, soon: u32) -> bool {
        let drive = &self.drives[target as usize];
        (self.layout.replaced || self.layout.failed != Some(target)) && (0..drive.targets()).any(|target| drive.in_gc(target, soon))
    }

    /// Whether the page holds data. For a page of the failed drive: whether a page at the same place on another drive does.
    fn holds_data(&self, page: u32) -> bool {
        let (unit, offset) = (page / self.layout.unit_pages, page % self.layout.unit_pages);
        let at = unit / self.layout.data_units() * self.layout.unit_pages + offset;
        let drive = self.layout.drive_of(unit);
        if self.layout.failed_in(at / self.layout.unit_pages) == Some(drive) {
            self.layout.working().any(|drive| self.drives[drive as usize].holds_data(at))
        } else {
            self.drives[drive as usize].holds_data(at)
        }
    }

    /// Groups of pages for the cache: units of data go round the drives, with left-symmetric parity, too.
    fn groups(&self) -> Groups {
        Groups { pages: self.drives[0].groups().pages, run: self.layout.unit_pages, places: self.layout.drives }
    }
}
