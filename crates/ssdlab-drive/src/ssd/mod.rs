//! One drive: passes transactions down from requests to the flash, and completions up.
//!
//! [`Ssd`] owns the parts, and each part its state. The spine is what happens in every drive, in the order of a request's way:
//!
//! | file | question |
//! |---|---|
//! | `round` | what happens at an instant, in which order? |
//! | `accept` | how does a request become page transactions, and where do they wait? |
//! | `candidates` | which host operation and which GC step could begin on a die? |
//! | `dispatch` | what does the arbiter's decision do? |
//! | `begin` | what happens when an operation begins? |
//! | `complete` | what happens when a stage, an operation, a request ends? |
//! | `collect` | when do GC jobs start and end, and how do a pool's state and exclusion follow? |
//!
//! `mechanisms` has what keys of the configuration add, `watch` what is counted, recorded and checked. Their functions are called by path
//! (`pace::write_begins(ssd, ..)`), so that a call says where it leads.
//!
//! | part | owned by | what it owns |
//! |---|---|---|
//! | `host` | [`HostRequests`] | requests, the host queue, completions |
//! | `order` | [`OwnOrder`] | a user-defined order of operations |
//! | `ready` | [`Ready`] | dies and channels to be dispatched before the instant ends |
//! | `clocks` | [`WaitClocks`] | for how long each reason held each die |
//! | `merging` | [`Merging`] | pages that registers and the controller's buffer hold for reads |
//! | `probes` | [`Probes`] | counters, gauges, the verifier, planted defects |

mod accept;
mod begin;
mod candidates;
mod collect;
mod complete;
mod dispatch;
mod host;
mod mechanisms;
mod ready;
mod round;
mod watch;

use self::mechanisms::{ages, pace};
use crate::event::EventQueue;
use crate::flash::{Cells, Flash};
use crate::ftl::{Class, Ftl};
use crate::gc::{Collector, Pace};
use crate::rules::Rules;
use crate::sched::{Scheduler, Transactions};
use ssdlab_base::units::{DieId, Lpn, Ns, PoolId};
use ssdlab_keys::config::Config;
use ssdlab_keys::geometry::Geometry;

pub use mechanisms::burst::RoundPhase;
pub use mechanisms::estimates::Estimate;
pub use mechanisms::power_states::Commands;
pub use ssdlab_result::stats::Counters;
#[doc(hidden)]
pub use watch::planted::Planted;

use host::HostRequests;
use mechanisms::ages::Ages;
use mechanisms::burst;
use mechanisms::heat::Heat;
use mechanisms::merge::Merging;
use mechanisms::order::{self, OwnOrder};
use mechanisms::power::Power;
use mechanisms::power_states::PowerStates;
use mechanisms::rotation::Rotation;
use mechanisms::slc::Slc;
use mechanisms::wear::Wear;
use mechanisms::windows::Windows;
use ready::Ready;
use watch::clocks::WaitClocks;
use watch::probes::Probes;

/// The simulated drive.
pub struct Ssd {
    /// Rules that follow from the configuration.
    rules: Rules,
    /// Requests and completions.
    host: HostRequests,
    /// Page operations of requests that have not ended.
    transactions: Transactions,
    /// The queues in which page operations wait.
    sched: Scheduler,
    /// The translation layer: map, blocks, write frontiers.
    ftl: Ftl,
    /// A user-defined order of operations, or the fair one; `None` without.
    order: Option<Box<OwnOrder>>,
    /// GC: jobs, scopes, states of pools.
    gc: Collector,
    /// Credit of writes; `None` if these are not paced (`gc.pace`).
    pace: Option<Box<Pace>>,
    /// The power that operations may draw; `None` without a cap (`energy.cap_w`, `thermal`).
    power: Option<Box<Power>>,
    /// The temperature of the drive; `None` without one (`thermal`).
    heat: Option<Box<Heat>>,
    /// The drive has failed, and draws no power.
    is_off: bool,
    /// Power states while the drive is idle; `None` without any (`power_states`).
    power_states: Option<Box<PowerStates>>,
    /// Steps and data of reads that age; `None` if reads have no errors (`errors.retry`).
    ages: Option<Box<Ages>>,
    /// The cache of blocks in SLC mode; `None` without one (`slc`).
    slc: Option<Box<Slc>>,
    /// Blocks that fail; `None` if none can (`wear`).
    wear: Option<Box<Wear>>,
    /// Windows in which the drive collects; `None` if it may at any time (`array.window_us`).
    windows: Option<Box<Windows>>,
    /// Turns to collect; `None` if pools need none (`array.rotation`).
    rotation: Option<Box<Rotation>>,
    /// The flash: dies and buses.
    flash: Flash,
    /// Events at which stages end, and timers.
    events: EventQueue,
    /// Dies and channels to be dispatched before the instant ends.
    ready: Ready,
    /// Time each die was blocked, by reason.
    clocks: WaitClocks,
    /// Pages that registers and the controller's buffer hold for reads.
    merging: Merging,
    /// Counters, gauges, the verifier, and planted defects.
    probes: Probes,
    /// Units that GC has moved since the last [`Ssd::take_moved`]; only with `ftl.map_cache_bytes`.
    moved: Vec<Lpn>,
    /// Units that have been written, trimmed or moved since the last [`Ssd::take_changed`]; only with `ftl.map_models`.
    changed: Vec<Lpn>,
    /// Units of all victims erased, less those that GC has moved (with padding) so far; only with `ftl.map_cache_bytes`.
    gained: i64,
    /// Units of padding in programs of translation pages since the last [`Ssd::take_padded`], each with the index of its request.
    padded: Vec<(u64, u32)>,
    /// Serial number of the last moment at which something became ready.
    serial: u64,
    /// The last instant at which all woken dies had been dispatched, ns.
    dispatched_at: Option<Ns>,
    /// See [`Ssd::changes`].
    changes: u64,
}

/// What the units of a program from a write buffer have in common.
#[derive(Clone, Copy, Debug)]
pub struct Drained {
    /// A host write of high priority is among them.
    pub high_priority: bool,
    /// Their placement handle.
    pub handle: Option<u8>,
    /// Their class, if the placement policy was asked when they came into the buffer.
    pub class: Option<Class>,
}

impl Ssd {
    /// A drive at rest, with the state of `ftl`. `seed`: the seed of the run.
    pub fn new(config: &Config, mut ftl: Ftl, seed: u64) -> Self {
        // Here and not only when a run begins: a failed drive of an array begins none.
        ftl.begin_run();
        ftl.begin_counting();
        let geometry = ftl.geometry();
        let rules = Rules { bursts: burst::remain_exact(config), ..Rules::new(config, geometry) };
        let mut flash = Flash::new(config, rules.flash, geometry);
        let ages = ages::of(&ftl, &mut flash, Cells::new(config, geometry, seed));
        Ssd {
            host: HostRequests::default(),
            transactions: Transactions::default(),
            sched: Scheduler::new(config, &ftl, flash.timing()),
            order: order::of(config, ftl.geometry(), flash.timing()),
            gc: Collector::new(config, &rules.gc, &ftl, seed),
            pace: pace::of(config, geometry),
            power: Power::new(config, geometry.dies),
            heat: Heat::new(config),
            is_off: false,
            power_states: PowerStates::new(config),
            ages,
            slc: Slc::new(config),
            wear: Wear::new(config, &ftl, seed),
            windows: None,
            rotation: Rotation::new(config, geometry.pools.count.get()),
            flash,
            events: EventQueue::default(),
            ready: Ready::new(geometry.dies),
            clocks: WaitClocks::new(geometry, rules.waits_by_plane),
            merging: Merging::new(geometry.dies),
            probes: Probes::new(&ftl),
            moved: Vec::new(),
            changed: Vec::new(),
            gained: 0,
            padded: Vec::new(),
            serial: 0,
            dispatched_at: None,
            changes: 0,
            rules,
            ftl,
        }
    }

    /// Gives the drive its number in an array, which says when its turn to collect comes, and whether it has failed. Call before
    /// [`Ssd::begin`].
    #[must_use]
    pub fn numbered(mut self, config: &Config, drive: u32) -> Self {
        self.windows = Windows::new(config, drive, self.geometry().pools.blocks_each);
        if config.array.degraded == Some(drive) && !config.array.replaces(drive) {
            self.is_off = true;
            (self.heat, self.power_states) = (None, None);
        }
        self
    }

    #[inline(always)]
    fn geometry(&self) -> &Geometry {
        self.ftl.geometry()
    }

    /// The dies of the chip that a die is on.
    fn dies_of_chip_of(&self, die: DieId) -> impl Iterator<Item = DieId> + use<> {
        self.geometry().dies_of_chip(self.geometry().chip_of_die(die)).map(DieId)
    }

    /// The dies of a station, that which is offered its next write first (dynamic allocation).
    fn dies_for_write(&self, station: u32) -> impl Iterator<Item = DieId> + use<> {
        let dies = self.geometry().dies_of_station(station);
        let (first, count) = (self.sched.placement().map_or(0, |placement| placement.next_die(station)), dies.end - dies.start);
        (0..count).map(move |step| DieId(dies.start + (first + step) % count))
    }

    fn pools(&self) -> impl Iterator<Item = PoolId> + use<> {
        (0..self.geometry().pools.count.get()).map(PoolId)
    }

    #[inline(always)]
    fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }
}
