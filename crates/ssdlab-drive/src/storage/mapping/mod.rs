//! The mapping table of a drive, where there is memory for a part of it only: translation pages are in flash, and some of them, or of their
//! entries, in memory.
//! docs/model/mapping-cache.md.
//!
//! | file | what is there |
//! |---|---|
//! | `commands` | a command comes in, uses its translation pages or entries, waits for them, goes on to the drive |
//! | `pages` | the translation pages or entries in memory, and which is replaced |
//! | `transfers` | translation pages are read and written back |
//! | `updates` | entries of pages that GC has moved, and single entries that leave memory, are changed in flash |
//! | `models` | learned models: which places are computed instead of looked up |
//! | `guesses` | reads with predicted addresses: without translation pages, or with a mispredicted flash page first |
//! | `shadow` | verify mode: versions of translation pages |

mod commands;
mod guesses;
mod models;
mod pages;
mod shadow;
mod transfers;
mod updates;

use std::collections::VecDeque;

use super::Store;
use super::desk::Desk;
use super::observed::{LevelStats, Levels, Observed, above_one_level, add};
use super::store::{EachVolatile, Layer, each_written};
use crate::ftl::Ftl;
use crate::lists::{EMPTY, Links, List};
use crate::slab::Slab;
use crate::ssd::{Drained, Ssd};
use commands::{Command, Waiter};
use models::Models;
use pages::Pages;
use shadow::Shadow;
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::units::{Lpn, Ns};
use ssdlab_keys::config::{Config, MapCacheUnit, PartialWrite};
use ssdlab_keys::geometry::MapPages;
use ssdlab_keys::memory::{self, Exhausted};
use ssdlab_result::stats::{Completion, MappingStats};
use ssdlab_result::timeline::Origin;
use updates::{Due, Updates};

/// The purpose of a request to the drive.
#[derive(Clone, Copy, Debug)]
enum Purpose {
    /// Serves a command; holds its place.
    Serves(u32),
    /// Reads the translation page of a slot.
    Reads(u32),
    /// Writes back the translation page that the page of a slot replaces.
    WritesBack(u32),
    /// Reads single entries of a translation page.
    ReadsEntries(u32),
    /// Reads a translation page in order to change entries that are not in memory.
    ReadsForUpdate(u32, Due),
    /// Writes a translation page after such entries were changed.
    WritesUpdate(u32, Due),
    /// Reads a mispredicted flash page for a command.
    Guesses(u32),
}

/// A defect that a test can plant in a mapping cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantedInMap {
    /// A translation page or entry that has changed is replaced without being written back.
    DropsDirtyPages,
    /// Entries of pages that GC has moved are not changed in flash.
    ForgetsMoves,
    /// Commands do not wait for older commands of the same units.
    ForgetsOrder,
    /// Models do not forget units that are written or moved.
    KeepsOldModels,
}

/// A drive behind its mapping table.
pub struct MappingCache {
    drive: Ssd,
    /// `None`: the whole table is in memory, and requests pass straight to the drive.
    state: Option<Box<State>>,
}

/// State of a mapping cache: part of the table is in flash only.
struct State {
    table: MapPages,
    unit_bytes: u32,
    entry_bytes: u32,
    /// Single entries are in memory, not translation pages.
    single: bool,
    /// A level above accepts all writes, and rejects them once the drive is read-only.
    accepted_above: bool,
    /// Partial writes read the rest of their unit, so that its mapping entry must be in memory.
    reads_rest: bool,
    pages: Pages,
    models: Models,
    /// By translation page: flash has the page, or a program of it is outstanding.
    written: Vec<bool>,
    /// By translation page: the slots of the entries that come with a read of it, oldest first. Empty if pages are in memory.
    arriving: Vec<List>,
    arrivals: Links,
    commands: Desk<Command>,
    /// Number of commands that have arrived, which numbers them.
    came: u64,
    /// Commands that have not used all of their translation pages or entries yet, oldest first.
    line: VecDeque<u32>,
    /// Commands that have used all of these and wait for some, or for older commands, oldest first.
    waiting: VecDeque<u32>,
    waiters: Slab<u32, Waiter>,
    below: Slab<u32, Purpose>,
    updates: Updates,
    /// The drive has got a request since `settle` last returned.
    passed: bool,
    /// Buffers reused from call to call.
    ended: Vec<Completion>,
    moved: Vec<Lpn>,
    padded: Vec<(u64, u32)>,
    spare: Vec<Vec<u32>>,
    stats: MappingStats,
    shadow: Option<Shadow>,
    checks_every_event: bool,
    planted: Option<PlantedInMap>,
}

impl MappingCache {
    /// A mapping table as configured in front of `drive`.
    pub fn new(config: &Config, drive: Ssd) -> Self {
        let state = config.has_mapping().then(|| Box::new(State::new(config, &drive)));
        MappingCache { drive, state }
    }

    /// The drive behind the mapping table.
    pub fn drive(&self) -> &Ssd {
        &self.drive
    }

    /// Mutable access to the drive behind the mapping table.
    pub fn drive_mut(&mut self) -> &mut Ssd {
        &mut self.drive
    }

    /// The translation layer of the drive.
    pub fn ftl(&self) -> &Ftl {
        self.drive.ftl()
    }

    /// Allocation is dynamic: the address of a page does not determine its pool.
    pub fn allocates_dynamically(&self) -> bool {
        self.drive.allocates_dynamically()
    }

    /// Calls back with the units of host writes that have not completed and are not in flash.
    pub fn unwritten_units(&self, each: &mut EachVolatile<'_>) {
        if let Some(state) = self.state.as_deref() {
            let waiting = state.commands.iter().filter(|(_, command)| !command.own.passed);
            waiting.for_each(|(_, command)| each_written(&command.request, state.unit_bytes, each));
        }
        self.drive.each_unwritten(&mut |unit| each(unit, None));
    }

    /// Plants a defect.
    ///
    /// # Panics
    /// If all of the table is in memory.
    pub fn plant(&mut self, defect: PlantedInMap) {
        self.state.as_deref_mut().expect("part of the table is in flash only").planted = Some(defect);
    }

    /// Accepts a write of whole units that need not follow each other.
    pub fn accept_units(&mut self, now: Ns, index: u64, units: &[u32], of: Drained) {
        match self.state.as_deref_mut() {
            None => self.drive.accept_units(now, index, units, of),
            Some(state) => {
                state.take_units(now, index, units, of);
                self.settle(now);
            }
        }
    }

    /// Sets the origin of the next request, for the timeline.
    pub fn next_request_is(&mut self, origin: Origin) {
        match self.state.as_deref_mut() {
            None => self.drive.next_request_is(origin),
            Some(state) => state.commands.next_request_is(origin),
        }
    }

    fn take(&mut self, now: Ns, index: u64, request: Request, scattered: bool) {
        match self.state.as_deref_mut() {
            Some(state) => {
                if state.rejects(&self.drive) && matches!(request.kind, RequestKind::Write | RequestKind::Trim) {
                    return state.reject(now, index, request, &mut self.drive);
                }
                state.take(now, index, request, scattered);
                self.settle(now);
            }
            None if scattered => self.drive.accept_scattered(now, index, request),
            None => self.drive.accept(now, index, request),
        }
    }

    /// Does all that can be done at this instant. Returns true if the drive has got requests.
    fn settle(&mut self, now: Ns) -> bool {
        let Some(state) = self.state.as_deref_mut() else { return false };
        loop {
            state.note_changes(&mut self.drive);
            // The padding of a request's programs is known only until its completion is taken.
            state.note_padding(&mut self.drive);
            let mut any = state.take_completions(now, &mut self.drive);
            any |= state.note_moves(&mut self.drive);
            any |= state.serve_line(now, &mut self.drive);
            any |= state.begin_updates(now, &mut self.drive);
            if !any {
                state.check_if_verifying(&self.drive);
                return std::mem::take(&mut state.passed);
            }
        }
    }
}

impl Observed for MappingCache {
    fn describe(&self) -> Option<String> {
        let state = self.state.as_deref()?;
        Some(format!(
            "mapping cache: {} commands are outstanding, {} of them have not looked up all of their units and {} wait; {} translation \
             pages are being changed in flash, and {} are to be; {} requests to the drive are outstanding",
            state.commands.len(),
            state.line.len(),
            state.waiting.len(),
            state.updates.in_flight(),
            state.updates.pending(),
            state.below.len()
        ))
    }

    fn check(&self) -> Result<(), String> {
        self.state.as_deref().map_or(Ok(()), |state| state.recount(&self.drive))
    }

    fn verify(&mut self, every_event: bool) {
        if let Some(state) = self.state.as_deref_mut() {
            state.shadow = Some(Shadow::new(state.table.count()));
            state.checks_every_event = every_event;
        }
    }

    fn is_at_rest(&self) -> bool {
        self.state.as_deref().is_none_or(|state| state.commands.is_empty() && state.below.is_empty())
    }

    fn add_stats(&self, _now: Ns, to: &mut LevelStats) {
        let flash = self.drive.counters();
        let stats = self.state.as_deref().map(|state| MappingStats {
            pages: state.written.len() as u64,
            lines: state.models.size(self.drive.ftl()).0,
            model_bytes: state.models.size(self.drive.ftl()).1,
            capacity: state.pages.capacity() as u64,
            cached: state.pages.in_use().0,
            dirty: state.pages.in_use().1,
            pending: state.updates.pending(),
            flash_reads: flash.map_reads,
            flash_programs: flash.map_programs,
            pages_moved: flash.map_pages_moved,
            ..state.stats
        });
        add(&mut to.mapping, stats, MappingStats::joined);
    }
}

above_one_level!(MappingCache, drive);

impl State {
    fn new(config: &Config, drive: &Ssd) -> Self {
        let geometry = drive.ftl().geometry();
        let table = MapPages::new(config, geometry);
        let units_each = table.units_of(0).len() as u32;
        let single = config.ftl.map_cache_unit == MapCacheUnit::Entry;
        let items = if single { geometry.exported_units } else { table.count() };
        let room = config.ftl.map_cache_bytes / u64::from(config.map_cached_bytes());
        let capacity = room.min(items.into()) as u32;
        let (lists, links) = if single { (table.count(), capacity) } else { (0, 0) };
        let (pages, items) = if config.caches_map() { (table.count(), items) } else { (0, 0) };
        State {
            table,
            unit_bytes: geometry.unit_bytes,
            entry_bytes: config.ftl.map_entry_bytes,
            single,
            accepted_above: config.accepts_above_buffer(),
            reads_rest: config.ftl.partial_write == PartialWrite::Rmw,
            pages: Pages::new(config.ftl.map_cache_policy, capacity, items),
            models: Models::new(config, &table, drive.ftl()),
            written: (0..pages).map(|page| drive.ftl().lookup(Lpn(table.units_of(page).start)).is_some()).collect(),
            arriving: vec![EMPTY; lists as usize],
            arrivals: Links::new(links as usize),
            commands: Desk::default(),
            came: 0,
            line: VecDeque::new(),
            waiting: VecDeque::new(),
            waiters: Slab::default(),
            below: Slab::default(),
            updates: Updates::new(pages, geometry.dies, units_each),
            passed: false,
            ended: Vec::new(),
            moved: Vec::new(),
            padded: Vec::new(),
            spare: Vec::new(),
            stats: MappingStats::default(),
            shadow: None,
            checks_every_event: false,
            planted: None,
        }
    }

    /// What the cache holds of a unit: the number of its translation page, or the unit itself for its entry.
    #[inline(always)]
    fn item_of(&self, unit: u32) -> u32 {
        if self.single { unit } else { self.table.page_of(unit) }
    }

    /// Handles the requests that the drive has completed. Returns true if there were any.
    fn take_completions(&mut self, now: Ns, drive: &mut Ssd) -> bool {
        let mut ended = std::mem::take(&mut self.ended);
        drive.drain_completions(&mut ended);
        let any = !ended.is_empty();
        for completion in &ended {
            let place = completion.index as u32;
            let purpose = self.below[place];
            self.below.remove(place);
            match purpose {
                Purpose::Serves(command) => self.complete(now, command, completion.times),
                Purpose::Reads(slot) => self.is_there(now, slot, drive),
                Purpose::WritesBack(slot) => self.read(now, slot, drive),
                Purpose::ReadsEntries(page) => self.entries_are_there(now, page, drive),
                Purpose::ReadsForUpdate(page, due) => {
                    self.entries_are_there(now, page, drive);
                    self.write_update(now, page, due, drive);
                }
                Purpose::WritesUpdate(page, _) => self.updates.ended(page),
                Purpose::Guesses(command) => self.wrong_place_read(now, command, drive),
            }
        }
        ended.clear();
        self.ended = ended;
        any
    }

    fn recount(&self, drive: &Ssd) -> Result<(), String> {
        self.pages.check()?;
        self.updates.check()?;
        let outside = self.commands.iter().filter(|(_, command)| !command.own.passed).count();
        if outside != self.line.len() + self.waiting.len() {
            return Err(format!("{outside} commands have not gone on, but {} use pages and {} wait", self.line.len(), self.waiting.len()));
        }
        let Some(shadow) = &self.shadow else { return Ok(()) };
        shadow.defect()?;
        (0..self.written.len() as u32).try_for_each(|page| self.check_page(page, shadow, drive))
    }

    /// Checks that flash has the last version of a translation page, or that the page will be written.
    fn check_page(&self, page: u32, shadow: &Shadow, drive: &Ssd) -> Result<(), String> {
        let dirty = if self.single { self.table.mapped_by(page).any(|unit| self.pages.is_dirty(unit)) } else { self.pages.is_dirty(page) };
        if dirty || self.updates.is_to_come(page) {
            return Ok(());
        }
        shadow.check(page)?;
        let maps = || self.table.mapped_by(page).find(|&unit| drive.ftl().lookup(Lpn(unit)).is_some());
        let nothing_written = !self.written[page as usize];
        match nothing_written.then(maps).flatten() {
            Some(unit) => Err(format!("page {unit} holds data, but translation page {page} was never written")),
            None => Ok(()),
        }
    }

    fn check_if_verifying(&mut self, drive: &Ssd) {
        if self.checks_every_event
            && let Err(sentence) = self.recount(drive)
            && let Some(shadow) = &mut self.shadow
        {
            shadow.note(sentence);
        }
    }

    fn make_room(&mut self, units: usize) -> Result<(), Exhausted> {
        self.commands.make_room(units)?;
        self.below.make_room(2 * units)?;
        self.waiters.make_room(2 * units)?;
        memory::make_room(&mut self.line, units)?;
        memory::make_room(&mut self.waiting, units)
    }
}

impl Store for MappingCache {
    fn begin(&mut self) {
        self.drive.begin();
        self.settle(0);
    }

    fn make_room(&mut self, units: usize) -> Result<(), Exhausted> {
        let mut pages = units;
        if let Some(state) = self.state.as_deref_mut() {
            state.make_room(units)?;
            // Each unit may need a translation page, which another page may have to make room for.
            pages = 3 * units;
        }
        Store::make_room(&mut self.drive, pages)
    }

    #[inline(always)]
    fn foresee(&self, request: &Request) {
        Store::foresee(&self.drive, request);
    }

    #[inline(always)]
    fn accept(&mut self, now: Ns, index: u64, request: Request) {
        if self.state.is_none() {
            return Store::accept(&mut self.drive, now, index, request);
        }
        self.take(now, index, request, false);
    }

    fn accept_scattered(&mut self, now: Ns, index: u64, request: Request) {
        self.take(now, index, request, true);
    }

    #[inline(always)]
    fn set_next_origin(&mut self, origin: Origin) {
        self.next_request_is(origin);
    }

    #[inline(always)]
    fn next_event(&self) -> Option<Ns> {
        Store::next_event(&self.drive)
    }

    #[inline(always)]
    fn handle_events(&mut self, now: Ns) {
        Store::handle_events(&mut self.drive, now);
        if self.state.is_some() {
            self.settle(now);
        }
    }

    #[inline(always)]
    fn dispatch(&mut self, now: Ns) {
        Store::dispatch(&mut self.drive, now);
        if self.state.is_some() {
            while self.settle(now) {
                Store::dispatch(&mut self.drive, now);
            }
        }
    }

    #[inline(always)]
    fn has_completed(&self) -> bool {
        self.state.as_deref().map_or_else(|| self.drive.has_completed(), |state| state.commands.has_completed())
    }

    #[inline(always)]
    fn drain_completions(&mut self, into: &mut Vec<Completion>) {
        match self.state.as_deref_mut() {
            None => Store::drain_completions(&mut self.drive, into),
            Some(state) => state.commands.drain_completions(into),
        }
    }

    fn page_bytes(&self) -> u32 {
        self.drive.page_bytes()
    }

    fn exported_pages(&self) -> u32 {
        self.drive.exported_pages()
    }
}

impl Layer for MappingCache {
    type Lower = Ssd;

    fn lower(&self) -> &Ssd {
        &self.drive
    }

    fn lower_mut(&mut self) -> &mut Ssd {
        &mut self.drive
    }

    fn holds_here(&self, page: u32) -> Option<bool> {
        self.state.as_deref()?.writes_before_the_drive(page)
    }
}
