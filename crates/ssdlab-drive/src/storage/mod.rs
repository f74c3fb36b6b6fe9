//! The storage that serves the host: a drive or an array of drives, with or without caches in front.
//!
//! | file | what is there |
//! |---|---|
//! | `store` | the common interface of a drive, an array and a cache |
//! | `drive` | a drive as a store |
//! | `desk` | the outstanding requests of a level, and its completions |
//! | `array` | several drives behind one address space, striped, with or without parity |
//! | `front` | a cache in front of a store |
//! | `buffer` | the write buffer of a drive |
//! | `mapping` | the mapping table of a drive, where part of it is in flash only |
//! | `zones` | the zones of a drive |
//! | `log` | a log of the host on these |
//! | `interface` | the host interface of a drive: slots, processors and link |
//! | `places` | places that drives keep for data which a level above has accepted |
//! | `gauged` | the inputs of time series, summed over all drives and caches |
//! | `observed` | statistics, checks and user-defined policies of all levels |

mod array;
mod buffer;
mod desk;
mod drive;
mod front;
mod gauged;
mod interface;
mod log;
mod mapping;
mod observed;
mod places;
mod store;
mod zones;

pub use array::Array;
#[doc(hidden)]
pub use array::PlantedInArray;
#[doc(hidden)]
pub use buffer::PlantedInBuffer;
#[doc(hidden)]
pub use front::PlantedInCache;
#[doc(hidden)]
pub use mapping::PlantedInMap;
pub use observed::{LevelStats, Observed};
pub use places::Places;
pub use store::each_written;
pub use store::{EachVolatile, Store};
pub use zones::{State as ZoneState, Zones};

use std::path::Path;
use std::sync::Arc;

use crate::cache::CustomEviction;
use crate::ftl::Ftl;
use crate::gc::victim::CustomVictim;
use crate::sched::CustomOrder;
use crate::ssd::{RoundPhase, Ssd};
use buffer::Buffer;
use front::Front;
use interface::Interface;
use log::Log;
use mapping::MappingCache;
use observed::Levels;
use ssdlab_base::error::{Error, Result};
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::rng::Rng;
use ssdlab_base::units::Ns;
use ssdlab_keys::config::{ArrayLevel, CachePlace, Config};
use ssdlab_keys::memory::Exhausted;
use ssdlab_result::slowest::{Passage, Topology};
use ssdlab_result::stats::{BlockNow, Blocks, Completion};
use ssdlab_result::timeline::{Budget, Level, Recorder, Ring};
use store::Layer;

/// Rounds after which a drive without host requests counts as never coming to rest.
const ROUNDS_TO_REST: u64 = 1_000_000_000;

/// The storage that serves the host.
pub enum Storage {
    /// A single drive.
    Drive(Box<Interface<Buffer>>),
    /// A drive with zones.
    Zoned(Box<Interface<Zones>>),
    /// A drive with zones and a log of the host on them.
    Logged(Box<Log>),
    /// A drive with a cache.
    Cached(Box<Interface<Front<Buffer>>>),
    /// An array of drives.
    Array(Box<Array<Interface<Buffer>>>),
    /// An array of drives, each with its own cache.
    OfCached(Box<Array<Interface<Front<Buffer>>>>),
    /// An array of drives behind one cache.
    CachedArray(Box<Front<Array<Interface<Buffer>>>>),
}

/// Calls the same method of the store in use.
macro_rules! each {
    ($storage:expr, $store:ident => $call:expr) => {
        match $storage {
            Storage::Drive($store) => $call,
            Storage::Zoned($store) => $call,
            Storage::Logged($store) => $call,
            Storage::Cached($store) => $call,
            Storage::Array($store) => $call,
            Storage::OfCached($store) => $call,
            Storage::CachedArray($store) => $call,
        }
    };
}

impl Storage {
    /// Storage as configured by `config`; `ftls`: the state of each drive.
    pub fn new(config: &Config, ftls: Vec<Ftl>, seed: u64) -> Self {
        assert_eq!(ftls.len(), config.array.drives() as usize, "a state for each drive");
        let ssds = ftls.into_iter().zip(0..).map(|(ftl, drive)| Ssd::new(config, ftl, drive_seed(seed, drive)).numbered(config, drive));
        let mut drives = ssds.map(|ssd| Buffer::new(config, MappingCache::new(config, ssd)));
        let cache = config.cache.is_on().then_some(config.cache.place);
        let queues = config.workload.queues_of_flows(config.host.queues);
        let plain = |drive| Interface::new(config, queues.clone(), drive);
        let cached = |drive| Interface::new(config, queues.clone(), Front::new(config, drive));
        if config.array.level == ArrayLevel::None {
            let drive = drives.next().expect("there is a drive");
            return match cache {
                None if config.has_zones() => {
                    let zones = Zones::new(config, drive);
                    let zone_bytes = zones.zone_bytes();
                    let zoned = Interface::new(config, queues.clone(), zones).with_zones(zone_bytes);
                    if config.has_log() { Storage::Logged(Box::new(Log::new(config, zoned))) } else { Storage::Zoned(Box::new(zoned)) }
                }
                None => Storage::Drive(Box::new(plain(drive))),
                Some(_) => Storage::Cached(Box::new(cached(drive))),
            };
        }
        match cache {
            None => Storage::Array(Box::new(Array::new(config, drives.map(plain).collect()))),
            Some(CachePlace::Drive) => Storage::OfCached(Box::new(Array::new(config, drives.map(cached).collect()))),
            Some(CachePlace::Array) => {
                let array = Array::new(config, drives.map(plain).collect());
                Storage::CachedArray(Box::new(Front::new(config, array)))
            }
        }
    }

    /// Visits all levels with shared access, the lowest first.
    fn each_level<'a>(&'a self, see: &mut dyn FnMut(&'a dyn Observed)) {
        each!(self, store => store.each_level(see));
    }

    /// Visits all levels with mutable access, the lowest first.
    fn each_level_mut(&mut self, see: &mut dyn FnMut(&mut dyn Observed)) {
        each!(self, store => store.each_level_mut(see));
    }

    /// All drives.
    pub fn drives(&self) -> Vec<&Ssd> {
        let mut drives = Vec::new();
        self.each_level(&mut |level| drives.extend(level.drive()));
        drives
    }

    /// Visits all drives with mutable access.
    pub fn each_drive_mut(&mut self, mut see: impl FnMut(&mut Ssd)) {
        self.each_level_mut(&mut |level| {
            level.drive_mut().map(&mut see);
        });
    }

    /// Mutable access to the first drive.
    pub fn first_drive_mut(&mut self) -> &mut Ssd {
        self.first_buffer_mut().drive_mut().drive_mut()
    }

    fn first_buffer_mut(&mut self) -> &mut Buffer {
        match self {
            Storage::Drive(interface) => interface.lower_mut(),
            Storage::Zoned(interface) => interface.lower_mut().lower_mut(),
            Storage::Logged(log) => log.lower_mut().lower_mut().lower_mut(),
            Storage::Cached(interface) => interface.lower_mut().lower_mut(),
            Storage::Array(array) => array.members_mut()[0].lower_mut(),
            Storage::OfCached(array) => array.members_mut()[0].lower_mut().lower_mut(),
            Storage::CachedArray(front) => front.lower_mut().members_mut()[0].lower_mut(),
        }
    }

    /// A drive is read-only, and the run is to end.
    pub fn is_at_end_of_life(&self) -> bool {
        let mut is_at_end = false;
        self.each_level(&mut |level| is_at_end |= level.drive().is_some_and(Ssd::is_at_end_of_life));
        is_at_end
    }

    /// 1 % of the blocks of a drive have failed.
    pub fn has_lost_one_percent(&self) -> bool {
        let mut has_lost = false;
        self.each_level(&mut |level| has_lost |= level.drive().is_some_and(Ssd::has_lost_one_percent));
        has_lost
    }

    /// Statistics until `now` of all levels except the drives.
    pub fn stats(&self, now: Ns) -> LevelStats {
        let mut stats = LevelStats::default();
        self.each_level(&mut |level| level.add_stats(now, &mut stats));
        stats
    }

    /// The write buffer of the drive holds data of a unit.
    ///
    /// # Panics
    /// If there is an array.
    #[doc(hidden)]
    pub fn is_buffered(&self, unit: u32) -> bool {
        match self {
            Storage::Drive(interface) => interface.lower().holds(unit),
            Storage::Zoned(interface) => interface.lower().lower().holds(unit),
            Storage::Logged(log) => log.lower().lower().lower().holds(unit),
            Storage::Cached(interface) => interface.lower().lower().holds(unit),
            _ => panic!("there is an array"),
        }
    }

    /// The zones of the drive; `None` without zones.
    pub fn zones(&self) -> Option<&Zones> {
        match self {
            Storage::Zoned(interface) => Some(interface.lower()),
            Storage::Logged(log) => Some(log.zones()),
            _ => None,
        }
    }

    /// Calls back with the units whose newest data a power failure would lose now: in a volatile cache or write buffer, or of writes that
    /// have not completed. Some units come more than once. For a drive by itself (no array), without a cache above a volatile buffer.
    pub fn volatile_units(&self, each: &mut EachVolatile<'_>) {
        self.each_level(&mut |level| level.volatile_units(each));
    }

    /// Runs from `now` on until no operation is under way, caches and write buffers are empty, and GC jobs have ended. No request may
    /// be outstanding. Returns the time of rest.
    ///
    /// # Errors
    /// [`Error::Simulation`] if the drive never comes to rest.
    pub fn come_to_rest(&mut self, now: Ns) -> Result<Ns> {
        let flush =
            Request { arrival_ns: now, kind: RequestKind::Flush, offset: 0, length: 0, high_priority: false, flow: 0, handle: None };
        let (mut now, mut ended) = (now, Vec::new());
        self.each_drive_mut(Ssd::let_jobs_end);
        self.accept(now, 0, flush);
        for _ in 0..ROUNDS_TO_REST {
            self.each_level_mut(&mut |level| level.program_all(now));
            self.dispatch(now);
            self.drain_completions(&mut ended);
            if self.is_at_rest() {
                self.each_drive_mut(Ssd::close_waiting);
                return Ok(now);
            }
            now = self.next_event().ok_or_else(|| self.stuck(now))?;
            self.handle_events(now);
        }
        Err(self.stuck(now))
    }

    fn is_at_rest(&self) -> bool {
        let mut at_rest = true;
        self.each_level(&mut |level| at_rest &= level.is_at_rest());
        at_rest
    }

    /// Turns verify mode on: checks data during the run and, with `every_event`, recounts the redundant state after each event.
    pub fn verify(&mut self, every_event: bool) {
        self.each_level_mut(&mut |level| level.verify(every_event));
    }

    /// Makes the drives record their operations, for a timeline. Call it before [`Storage::begin`].
    pub fn keep_timeline(&mut self, budget: &Arc<Budget>) {
        let mut number = 0;
        self.each_drive_mut(|drive| {
            drive.keep_timeline(number, budget);
            number += 1;
        });
    }

    /// Keeps what the drives do recently, in rings of this many stages in all, and the passages of commands through the host interface.
    /// Call it before [`Storage::begin`], and after [`Storage::keep_timeline`].
    pub fn keep_rings(&mut self, stages: usize) {
        let each = stages / self.drives().len();
        let mut number = 0;
        self.each_drive_mut(|drive| {
            drive.keep_ring(number, each);
            number += 1;
        });
        if self.is_one_drive() {
            self.each_level_mut(&mut |level| level.keep_passages());
        }
    }

    /// Whether the host interface is the topmost level: there is no array.
    pub fn is_one_drive(&self) -> bool {
        matches!(self, Storage::Drive(_) | Storage::Zoned(_) | Storage::Cached(_))
    }

    /// There is a cache in front of drives or of an array.
    fn is_cached(&self) -> bool {
        matches!(self, Storage::Cached(_) | Storage::OfCached(_) | Storage::CachedArray(_))
    }

    /// The levels on which the order of a request's parts depends.
    pub fn topology(&self) -> Topology {
        Topology { cache: self.is_cached(), array: !self.is_one_drive() }
    }

    /// Calls `see` with the ring of each drive, in order. Call it after [`Storage::keep_rings`]. `now`: the present.
    pub fn with_rings<T>(&mut self, now: Ns, see: impl FnOnce(&[&Ring]) -> T) -> T {
        self.each_drive_mut(|drive| drive.note_holds(now));
        let rings: Vec<&Ring> = self.drives().into_iter().filter_map(Ssd::ring).collect();
        see(&rings)
    }

    /// Ends the rings at the end of the run.
    pub fn finish_rings(&mut self, now: Ns) {
        self.each_drive_mut(|drive| drive.finish_ring(now));
    }

    /// Moves the passages of completed commands to `into`, in the order of their completions.
    pub fn take_passages(&mut self, into: &mut Vec<Passage>) {
        self.each_level_mut(&mut |level| level.take_passages(into));
    }

    /// Begins to record the states of all blocks over time in a file. Call it before [`Storage::begin`].
    ///
    /// # Errors
    /// As [`Blocks::create`].
    pub fn record_blocks(&mut self, path: &Path, changes_max: usize) -> Result<Blocks> {
        // Snapshots are taken between two events, and a burst is several moves as one event.
        self.move_page_by_page();
        let mut blocks = Blocks::create(path, self.drives().into_iter().map(Ssd::blocks_shape).collect(), changes_max)?;
        blocks.begin(|each| self.blocks_now(each));
        Ok(blocks)
    }

    /// Calls back with the present states of the blocks of all drives.
    pub fn blocks_now(&self, each: &mut dyn FnMut(BlockNow)) {
        self.drives().into_iter().for_each(|drive| drive.blocks_now(each));
    }

    /// Begins a warm-up. Call it before [`Storage::begin`].
    pub fn warm_up(&mut self) {
        self.each_level_mut(&mut |level| level.set_warming_up(true));
    }

    /// Ends the warm-up at `now`: minima and maxima start again, and response times count the requests that arrive from now on.
    pub fn end_warm_up(&mut self, now: Ns) {
        self.each_drive_mut(|drive| drive.forget_highest_temperature(now));
        self.each_level_mut(&mut |level| level.set_warming_up(false));
    }

    /// Takes the recorded operations of each drive that recorded any.
    pub fn take_timelines(&mut self) -> Vec<Box<Recorder>> {
        let mut recordings = Vec::new();
        self.each_drive_mut(|drive| recordings.extend(drive.take_timeline()));
        recordings
    }

    /// Calls back with the present fill levels of caches and drives, for a timeline.
    pub fn levels(&self, each: &mut dyn FnMut(Level, u64)) {
        let mut dirty = None;
        self.each_level(&mut |level| {
            if let Some(pages) = level.dirty_pages() {
                *dirty.get_or_insert(0) += pages;
            }
        });
        if let Some(pages) = dirty {
            each(Level::Dirty, pages);
        }
        self.drives().into_iter().zip(0..).for_each(|(drive, number)| drive.levels(number, each));
    }

    /// Uses a user-defined victim policy in all drives. Call it before [`Storage::begin`].
    pub fn use_victim_policy(&mut self, custom: &CustomVictim) {
        self.each_drive_mut(|drive| drive.use_victim_policy(custom));
    }

    /// Uses a user-defined order of operations in all drives. Call it before [`Storage::begin`].
    pub fn use_order_policy(&mut self, custom: &CustomOrder) {
        self.each_drive_mut(|drive| drive.use_order_policy(custom));
    }

    /// Uses a user-defined eviction policy in the caches, if there are any. Call it before [`Storage::begin`].
    pub fn use_eviction_policy(&mut self, custom: &CustomEviction) {
        self.each_level_mut(&mut |level| level.use_eviction_policy(custom));
    }

    /// Takes the failure of a user-defined policy, if there is one.
    #[inline]
    pub fn take_policy_failure(&mut self) -> Option<Error> {
        each!(self, store => store.take_policy_failure())
    }

    /// The watchdog's error: no event is due although requests are outstanding.
    pub fn stuck(&self, now: Ns) -> Error {
        let mut outstanding = Vec::new();
        self.each_level(&mut |level| outstanding.extend(level.describe()));
        Error::Simulation(format!(
            "no progress at {now} ns: {}. This is a defect of the simulator: please report it with the configuration and the seed.",
            outstanding.join("; ")
        ))
    }

    /// Recounts the redundant state of all levels.
    ///
    /// # Errors
    /// The first contradiction found, by verify mode during the run or now.
    pub fn check(&self) -> Result<()> {
        let mut found = Ok(());
        self.each_level(&mut |level| {
            if found.is_ok() {
                found = level.check();
            }
        });
        found.map_err(|sentence| Error::Simulation(format!("verify mode found a defect: {sentence}")))
    }

    /// Plants a defect in the array.
    ///
    /// # Panics
    /// If there is no array.
    #[doc(hidden)]
    pub fn plant_in_array(&mut self, defect: PlantedInArray) {
        match self {
            Storage::Drive(_) | Storage::Zoned(_) | Storage::Logged(_) | Storage::Cached(_) => panic!("there is no array"),
            Storage::Array(array) => array.plant(defect),
            Storage::OfCached(array) => array.plant(defect),
            Storage::CachedArray(front) => front.lower_mut().plant(defect),
        }
    }

    /// Plants a defect in the log of the host: moved data replace those that were written meanwhile.
    ///
    /// # Panics
    /// If there is no log.
    #[doc(hidden)]
    pub fn plant_in_log(&mut self) {
        match self {
            Storage::Logged(log) => log.let_moves_replace(),
            _ => panic!("there is no log"),
        }
    }

    /// Plants a defect in the cache; if the drives of an array have caches, in the cache of the first drive.
    ///
    /// # Panics
    /// If there is no cache.
    #[doc(hidden)]
    pub fn plant_in_cache(&mut self, defect: PlantedInCache) {
        match self {
            Storage::Drive(_) | Storage::Zoned(_) | Storage::Logged(_) | Storage::Array(_) => panic!("there is no cache"),
            Storage::Cached(interface) => interface.lower_mut().plant(defect),
            Storage::OfCached(array) => array.members_mut()[0].lower_mut().plant(defect),
            Storage::CachedArray(front) => front.plant(defect),
        }
    }

    /// Plants a defect in the write buffer of the first drive.
    ///
    /// # Panics
    /// If there is no write buffer.
    #[doc(hidden)]
    pub fn plant_in_buffer(&mut self, defect: PlantedInBuffer) {
        self.first_buffer_mut().plant(defect);
    }

    /// Plants a defect in the mapping cache of the first drive.
    ///
    /// # Panics
    /// If the whole mapping table is in memory.
    #[doc(hidden)]
    pub fn plant_in_map(&mut self, defect: PlantedInMap) {
        self.first_buffer_mut().drive_mut().plant(defect);
    }

    /// Plants a defect in the host interface of the drive: commands no longer wait for older commands of the same bytes.
    ///
    /// # Panics
    /// If there is an array.
    #[doc(hidden)]
    pub fn forget_order_of_commands(&mut self) {
        match self {
            Storage::Drive(interface) => interface.forget_order(),
            Storage::Zoned(interface) => interface.forget_order(),
            Storage::Cached(interface) => interface.forget_order(),
            _ => panic!("there is an array"),
        }
    }

    /// Makes each page move of GC an event of its own. Call it before [`Storage::begin`].
    pub fn move_page_by_page(&mut self) {
        self.each_drive_mut(Ssd::move_page_by_page);
    }

    /// Applies page moves that have ended by `now`, so that sums over drives can be read between two rounds.
    pub fn catch_up(&mut self, now: Ns, phase: RoundPhase) {
        self.each_drive_mut(|drive| drive.catch_up(now, phase));
    }

    /// Applies page moves that have ended by `now` and ends the bursts of moves, in the middle of a round.
    pub fn interrupt_bursts(&mut self, now: Ns) {
        self.each_drive_mut(|drive| drive.interrupt_bursts(now));
    }

    /// See [`Store::begin`].
    pub fn begin(&mut self) {
        each!(self, store => store.begin());
    }

    /// See [`Store::make_room`].
    ///
    /// # Errors
    /// [`Exhausted`].
    pub fn make_room(&mut self, pages: usize) -> std::result::Result<(), Exhausted> {
        each!(self, store => store.make_room(pages))
    }

    /// See [`Store::foresee`].
    #[inline]
    pub fn foresee(&self, request: &Request) {
        each!(self, store => store.foresee(request));
    }

    /// See [`Store::accept`].
    #[inline]
    pub fn accept(&mut self, now: Ns, index: u64, request: Request) {
        each!(self, store => store.accept(now, index, request));
    }

    /// See [`Store::next_event`].
    #[inline]
    pub fn next_event(&self) -> Option<Ns> {
        each!(self, store => store.next_event())
    }

    /// See [`Store::handle_events`].
    #[inline]
    pub fn handle_events(&mut self, now: Ns) {
        each!(self, store => store.handle_events(now));
    }

    /// See [`Store::dispatch`].
    #[inline]
    pub fn dispatch(&mut self, now: Ns) {
        each!(self, store => store.dispatch(now));
    }

    /// See [`Store::has_completed`].
    #[inline(always)]
    pub fn has_completed(&self) -> bool {
        each!(self, store => store.has_completed())
    }

    /// See [`Store::drain_completions`].
    #[inline]
    pub fn drain_completions(&mut self, into: &mut Vec<Completion>) {
        each!(self, store => store.drain_completions(into));
    }
}

/// The seed of a drive's random streams. The first drive has the seed of the run, as a single drive has.
pub fn drive_seed(seed: u64, drive: u32) -> u64 {
    if drive == 0 { seed } else { Rng::new(seed, &format!("drive/{drive}")).bits() }
}
