//! One drive: passes transactions down from requests to the flash, and completions up.
//!
//! [`Ssd`] owns the parts, and each part its state; what happens between them is in these files, in the order of a request's way:
//!
//! | file | question |
//! |---|---|
//! | `round` | what happens at an instant, in which order? |
//! | `accept` | how does a request become page transactions, and where do they wait? |
//! | `candidates` | which host operation and which GC step could begin on a die? |
//! | `dispatch` | what does the arbiter's decision do? |
//! | `begin` | what happens when an operation begins? |
//! | `burst` | which page moves are one event, and what interrupts them? |
//! | `complete` | what happens when a stage, an operation, a request ends? |
//! | `collect` | when do GC jobs start and end, and how do a pool's state and exclusion follow? |
//! | `advance` | which steps of a job may begin where it advances with host operations only? |
//! | `idle` | what does idle time change? |
//! | `pace` | which writes wait for credit that collection earns? |
//! | `units` | which mapping units share a flash operation? |
//! | `merge` | how do host operations merge with page moves (lee2013 III-B)? |
//! | `estimates`, `pause` | when will operations end, and when does a program pause for reads (elyasi2017)? |
//! | `waits` | why does an operation wait? |
//! | `report` | what can be asked of a drive? |
//!
//! | part | owned by | what it owns |
//! |---|---|---|
//! | `host` | [`HostRequests`] | requests, the host queue, completions |
//! | `ready` | [`Ready`] | what is to be looked at before the instant ends |
//! | `clocks` | [`WaitClocks`] | for how long each reason held each die |
//! | `merging` | [`Merging`] | pages that registers and the controller's buffer hold for reads |
//! | `probes` | [`Probes`] | counters, gauges, the verifier, planted defects |

mod accept;
mod advance;
mod begin;
mod burst;
mod candidates;
mod clocks;
mod collect;
mod complete;
mod dispatch;
mod estimates;
mod gauges;
mod host;
mod idle;
mod merge;
mod pace;
mod pause;
mod planted;
mod probes;
mod ready;
mod report;
mod round;
mod timeline;
mod units;
mod verify;
mod waits;

use crate::config::Config;
use crate::event::EventQueue;
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::gc::{Collector, Pace};
use crate::geometry::Geometry;
use crate::rules::Rules;
use crate::sched::{Scheduler, Transactions};
use crate::units::{Lpn, Ns, PoolId};

pub use crate::stats::Counters;
pub use burst::RoundPhase;
pub use estimates::Estimate;
#[doc(hidden)]
pub use planted::Planted;

use clocks::WaitClocks;
use host::HostRequests;
use merge::Merging;
use probes::Probes;
use ready::Ready;

/// The simulated drive.
pub struct Ssd {
    /// What the configuration means.
    rules: Rules,
    /// Requests and completions.
    host: HostRequests,
    /// Page operations of requests that have not ended.
    transactions: Transactions,
    /// The order in which they wait.
    sched: Scheduler,
    /// Where pages are.
    ftl: Ftl,
    /// Jobs, scopes, states of pools.
    gc: Collector,
    /// Credit of writes, where these are paced.
    pace: Option<Box<Pace>>,
    /// Dies and buses.
    flash: Flash,
    /// When stages end.
    events: EventQueue,
    /// What is to be looked at before the instant ends.
    ready: Ready,
    /// For how long what held dies.
    clocks: WaitClocks,
    /// Reads that page moves answer without a transfer of their own.
    merging: Merging,
    /// What watches all this.
    probes: Probes,
    /// Units that GC has moved since this was asked last, where that is noted.
    moved: Vec<Lpn>,
    /// Units that GC has gained in all, less those that it has moved in the victim that it has not erased yet, where that is noted.
    gained: i64,
    /// Units of padding in programs of translation pages, by the index of their request, since this was asked last.
    padded: Vec<(u64, u32)>,
    /// Serial number of the last moment at which something became ready.
    serial: u64,
    /// The instant at which all dies that were woken had last been dispatched, ns.
    dispatched_at: Option<Ns>,
}

impl Ssd {
    /// A drive at rest, with the state of `ftl`. `seed`: that of the run.
    pub fn new(config: &Config, mut ftl: Ftl, seed: u64) -> Self {
        // Not only when the run begins: a failed drive of an array never does.
        ftl.begin_run();
        let geometry = ftl.geometry();
        let rules = Rules::new(config, geometry);
        let flash = Flash::new(&config.device, rules.flash, geometry);
        Ssd {
            host: HostRequests::default(),
            transactions: Transactions::default(),
            sched: Scheduler::new(config, &ftl, flash.timing()),
            gc: Collector::new(config, &rules.gc, &ftl, seed),
            pace: pace::of(config, geometry),
            flash,
            events: EventQueue::default(),
            ready: Ready::new(geometry.dies),
            clocks: WaitClocks::new(geometry, rules.waits_by_plane),
            merging: Merging::new(geometry.dies),
            probes: Probes::new(&ftl),
            moved: Vec::new(),
            gained: 0,
            padded: Vec::new(),
            serial: 0,
            dispatched_at: None,
            rules,
            ftl,
        }
    }

    #[inline(always)]
    fn geometry(&self) -> &Geometry {
        self.ftl.geometry()
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
