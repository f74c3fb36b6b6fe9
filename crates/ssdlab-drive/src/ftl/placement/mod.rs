//! Data placement: which of the streams of its writer a page goes to, of the host or of a page move (`ftl.placement`).
//!
//! Host writes and page moves have streams of their own, each numbered from 0: the class of a page ([`Class`]). A policy is one file.

mod custom;
mod handles;
mod hot_cold;
mod oracle;
mod sepbit;

pub use custom::{CustomPlacement, Failure, Happened, PlacementPolicy, Placing, Sizes, Source};

use custom::Own;
use handles::Handles;
use hot_cold::HotCold;
use oracle::Oracle;
use sepbit::SepBit;

use crate::ftl::blocks::Columns;
use crate::rules::BurstRule;
use serde::{Deserialize, Serialize};
use ssdlab_base::error::Error;
use ssdlab_base::units::{BlockId, Lpn};
use ssdlab_keys::config::{Config, Frontier, Placement, Stream, Streams};
use ssdlab_result::stats::{NO_STREAM, StreamStats, Streams as Placed};

/// Bursts: moves of several classes go to several blocks, and those that fill one of the host's take room that its writes wait for.
pub const PLACEMENT_BURSTS: BurstRule = BurstRule {
    keys: &[
        "ftl.placement",
        "ftl.handles",
        "ftl.default_handle",
        "ftl.isolation",
        "ftl.hot_within",
        "ftl.groups",
        "ftl.host_streams",
        "ftl.move_streams",
    ],
    exact: |config| {
        let shared = config.ftl.frontier == Frontier::Shared && config.ftl.placement != Placement::None;
        Streams::new(config).move_classes == 1 && !shared
    },
};

/// Number of a stream among those of its writer, from 0.
pub type Class = u8;

/// A placement policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Policy {
    /// One stream for host writes and one for page moves, or one for both (`ftl.frontier`).
    None,
    /// By the handle of the request, or by the zone, whose place among the active ones is a handle.
    Handles(Handles),
    /// By the age of the version that a write replaces.
    HotCold(HotCold),
    /// By the expected life of the page (SepBIT).
    SepBit(SepBit),
    /// By when the page will be overwritten or trimmed.
    Oracle(Oracle),
    /// A user-defined policy, of which nothing can be kept.
    #[serde(skip)]
    Own(Own),
}

/// The placement policy of a drive, and what it has placed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Placer {
    policy: Policy,
    streams: Streams,
    /// Of the streams outside of a cache in SLC mode.
    counts: Placed,
}

impl Placer {
    /// The policy of a drive with `pages` logical pages and `blocks` blocks of `block_units` units.
    pub fn new(config: &Config, pages: u32, blocks: u32, block_units: u32) -> Self {
        let streams = Streams::new(config);
        let policy = match config.ftl.placement {
            Placement::None => Policy::None,
            Placement::Handles => Policy::Handles(Handles::new(config)),
            Placement::HotCold => Policy::HotCold(HotCold::new(config, pages)),
            Placement::Sepbit => Policy::SepBit(SepBit::new(pages, streams.parts_moves())),
            Placement::Oracle => Policy::Oracle(Oracle::new(config.ftl.groups, pages)),
            Placement::Custom => Policy::Own(Own::new(streams, pages, blocks, block_units)),
            Placement::Zones => Policy::Handles(Handles::of_zones(config)),
        };
        let count = if config.ftl.placement == Placement::None { 0 } else { streams.placed().into() };
        let counts = Placed { of_host: streams.host_classes.into(), block_units, counts: vec![StreamStats::default(); count] };
        Placer { policy, streams, counts }
    }

    /// What has been placed in each stream; no stream without a policy.
    pub fn placed(&self) -> &Placed {
        &self.counts
    }

    /// Counts from zero.
    pub fn begin_counting(&mut self) {
        self.counts.counts.fill(StreamStats::default());
    }

    #[inline]
    fn count(&mut self, stream: Stream, change: impl FnOnce(&mut StreamStats)) {
        self.counts.counts.get_mut(usize::from(stream)).map(change);
    }

    /// The class whose open block the first fill leaves: its data name no handle and replace none, and nothing is known of them.
    pub fn fill_class(&self) -> Class {
        match &self.policy {
            Policy::None | Policy::Own(_) => 0,
            Policy::Handles(policy) => policy.host_class(None),
            Policy::HotCold(policy) => policy.host_class(Lpn(0), true),
            Policy::SepBit(policy) => policy.host_class(Lpn(0), true),
            Policy::Oracle(policy) => policy.unknown(),
        }
    }

    /// The first fill has written the first `pages` logical pages, in order. A user's own policy is not told of it.
    pub fn filled(&mut self, pages: u32) {
        match &mut self.policy {
            Policy::HotCold(policy) => policy.filled(pages),
            Policy::SepBit(policy) => policy.filled(pages),
            Policy::None | Policy::Handles(_) | Policy::Oracle(_) | Policy::Own(_) => {}
        }
    }

    /// A page of the host is to be written: its class. `handle`: that of the request; `None`: it names none. `is_new`: the logical page holds no data.
    #[inline]
    pub fn host_class(&mut self, lpn: Lpn, handle: Option<u8>, is_new: bool) -> Class {
        let class = match &mut self.policy {
            Policy::None => 0,
            Policy::Handles(policy) => policy.host_class(handle),
            Policy::HotCold(policy) => policy.host_class(lpn, is_new),
            Policy::SepBit(policy) => policy.host_class(lpn, is_new),
            Policy::Oracle(policy) => policy.host_class(lpn.0),
            Policy::Own(policy) => policy.class(lpn, Source::Host { handle, is_new }),
        };
        // The streams of the host come first.
        self.count(class, |stream| stream.host_units += 1);
        class
    }

    /// The class that [`Placer::host_class`] would give now. An oracle and a user's own policy count their calls, and give the first class
    /// here.
    #[inline]
    pub fn host_class_now(&self, lpn: Lpn, handle: Option<u8>, is_new: bool) -> Class {
        match &self.policy {
            Policy::None | Policy::Oracle(_) | Policy::Own(_) => 0,
            Policy::Handles(policy) => policy.host_class(handle),
            Policy::HotCold(policy) => policy.host_class(lpn, is_new),
            Policy::SepBit(policy) => policy.host_class(lpn, is_new),
        }
    }

    /// The policy counts the calls of [`Placer::host_class`]: an oracle, or a user's own.
    pub fn counts_calls(&self) -> bool {
        matches!(self.policy, Policy::Oracle(_) | Policy::Own(_))
    }

    /// Asks a user-defined policy from now on (`ftl.placement = "custom"`).
    pub fn ask(&mut self, custom: &CustomPlacement) {
        if let Policy::Own(policy) = &mut self.policy {
            policy.ask(custom);
        }
    }

    /// The failure of a user-defined policy or of an oracle, once there is one.
    pub fn take_failure(&mut self) -> Option<Error> {
        match &mut self.policy {
            Policy::Own(policy) => policy.take_failure(),
            Policy::Oracle(policy) => policy.take_failure().map(|why| Error::Simulation(format!("ftl.placement = \"oracle\": {why}"))),
            _ => None,
        }
    }

    /// Plants a defect: page moves forget the handle of their data.
    pub fn forget_handles(&mut self) {
        if let Policy::Handles(policy) = &mut self.policy {
            policy.forget();
        }
    }

    /// The writes ahead, for an oracle to take in; `None` for other policies.
    pub fn foretold(&mut self) -> Option<Foretold<'_>> {
        match &mut self.policy {
            Policy::Oracle(oracle) => Some(Foretold(oracle)),
            _ => None,
        }
    }

    /// A page of the host is in flash: its age counts from now on.
    #[inline]
    pub fn written(&mut self, lpn: Lpn) {
        match &mut self.policy {
            Policy::None | Policy::Handles(_) | Policy::Oracle(_) => {}
            Policy::HotCold(policy) => policy.written(lpn),
            Policy::SepBit(policy) => policy.written(lpn),
            Policy::Own(policy) => policy.note(Happened::Written { page: lpn.0 }),
        }
    }

    /// The stream of which a policy hears for one that filled a block: in a cache in SLC mode, that of the same class outside of it. For
    /// translation pages with a stream of their own: none.
    #[inline]
    fn heard(&self, stream: Stream) -> Stream {
        self.streams.outside_cache(stream).unwrap_or(NO_STREAM)
    }

    /// The class of a page that is moved out of a block, which `from` has filled.
    #[inline]
    pub fn move_class(&self, lpn: Lpn, from: Stream) -> Class {
        let from = self.heard(from);
        match &self.policy {
            Policy::None => 0,
            Policy::Handles(policy) => policy.move_class(from),
            Policy::HotCold(policy) => policy.move_class(lpn),
            Policy::SepBit(policy) => policy.move_class(lpn, from),
            Policy::Oracle(policy) => policy.class(lpn.0),
            Policy::Own(policy) => policy.class(lpn, Source::Moved { stream: noted(from) }),
        }
    }

    /// Pages of one block may have different classes when they are moved.
    pub fn parts_blocks(&self) -> bool {
        matches!(self.policy, Policy::HotCold(_) | Policy::SepBit(_) | Policy::Oracle(_) | Policy::Own(_))
    }

    /// `stream` has taken a block to fill.
    #[inline]
    pub fn block_opened(&mut self, columns: &mut Columns, block: BlockId, stream: Stream) {
        self.count(stream, |counts| counts.blocks_opened += 1);
        let stream = self.heard(stream);
        match &mut self.policy {
            Policy::SepBit(policy) => policy.block_opened(columns, block),
            Policy::Own(policy) if stream != NO_STREAM => policy.note(Happened::opened(block, stream)),
            _ => {}
        }
    }

    /// A block that `from` has filled, with `valid` valid units, has become a victim.
    #[inline]
    pub fn block_collected(&mut self, columns: &Columns, block: BlockId, from: Stream, valid: u32) {
        self.count(from, |counts| {
            counts.blocks_collected += 1;
            counts.valid_units += u64::from(valid);
        });
        let from = self.heard(from);
        match &mut self.policy {
            Policy::SepBit(policy) => policy.block_collected(columns, block, from),
            Policy::Own(policy) => policy.note(Happened::collected(block, noted(from), valid)),
            _ => {}
        }
    }

    /// What a saved state has of the policy, in arrays of fixed lengths.
    pub fn parts(&self) -> Vec<Vec<u32>> {
        match &self.policy {
            // An oracle's knowledge is of one run. A user-defined policy has no state that could be saved: plans refuse that.
            Policy::None | Policy::Handles(_) | Policy::Oracle(_) | Policy::Own(_) => Vec::new(),
            Policy::HotCold(policy) => policy.parts(),
            Policy::SepBit(policy) => policy.parts(),
        }
    }

    /// Takes back the arrays of [`Placer::parts`].
    ///
    /// # Errors
    /// A sentence if no policy could have left them.
    pub fn restore(&mut self, parts: &[Vec<u32>]) -> Result<(), String> {
        match &mut self.policy {
            Policy::None | Policy::Handles(_) | Policy::Oracle(_) | Policy::Own(_) => Ok(()),
            Policy::HotCold(policy) => policy.restore(parts),
            Policy::SepBit(policy) => policy.restore(parts),
        }
    }
}

/// The writes ahead of an oracle.
pub struct Foretold<'a>(&'a mut Oracle);

impl Foretold<'_> {
    /// Forgets what was foretold: other writes come.
    pub fn begin(&mut self) {
        self.0.begin();
    }

    /// More writes must be foretold. `drawn`: units of the writes that the drive may take by now.
    pub fn wants_more(&self, drawn: u64) -> bool {
        self.0.wants_more(drawn)
    }

    /// A write to this unit comes after all that were foretold.
    pub fn write(&mut self, unit: u32) {
        self.0.foretell_write(unit);
    }

    /// A trim of this unit comes after all that was foretold.
    pub fn trim(&mut self, unit: u32) {
        self.0.foretell_trim(unit);
    }
}

fn noted(stream: Stream) -> Option<Stream> {
    (stream != NO_STREAM).then_some(stream)
}

/// When each logical page was last written, counted in pages that the host has written: the clock of the policies that look at ages.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct LastWrites {
    /// Pages that the host has written.
    now: u32,
    /// By logical page: the clock at its last write.
    at: Vec<u32>,
}

impl LastWrites {
    fn new(pages: u32) -> Self {
        LastWrites { now: 0, at: vec![0; pages as usize] }
    }

    /// Pages that the host has written since the last write of this page. The clock wraps after 2^32 pages, so ages are below that.
    #[inline]
    fn age(&self, lpn: Lpn) -> u32 {
        self.now.wrapping_sub(self.at[lpn.0 as usize])
    }

    /// The first `pages` pages were written in order.
    fn filled(&mut self, pages: u32) {
        (0..pages).for_each(|page| self.written(Lpn(page)));
    }

    /// A page of the host is in flash.
    #[inline]
    fn written(&mut self, lpn: Lpn) {
        self.at[lpn.0 as usize] = self.now;
        self.now = self.now.wrapping_add(1);
    }
}
