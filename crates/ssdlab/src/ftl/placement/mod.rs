//! Data placement: which of the streams of its writer a page goes to, of the host or of a page move (`ftl.placement`).
//!
//! Host writes and page moves have streams of their own, each numbered from 0: the class of a page ([`Class`]). A policy is one file.

mod handles;
mod hot_cold;
mod sepbit;

use handles::Handles;
use hot_cold::HotCold;
use sepbit::SepBit;

use crate::config::{Config, Placement, Stream, Streams};
use crate::stats::{StreamStats, Streams as Placed};
use crate::units::{BlockId, Lpn};

/// Number of a stream among those of its writer, from 0.
pub type Class = u8;

/// A placement policy.
#[derive(Clone, Debug)]
enum Policy {
    /// One stream for host writes and one for page moves, or one for both (`ftl.frontier`).
    None,
    /// By the handle of the request.
    Handles(Handles),
    /// By the age of the version that a write replaces.
    HotCold(HotCold),
    /// By the expected life of the page (SepBIT).
    SepBit(SepBit),
}

/// The placement policy of a drive, and what it has placed.
#[derive(Clone, Debug)]
pub struct Placer {
    policy: Policy,
    counts: Placed,
}

impl Placer {
    /// The policy of a drive with `pages` logical pages and `blocks` blocks of `block_units` units.
    pub fn new(config: &Config, pages: u32, blocks: u32, block_units: u32) -> Self {
        let policy = match config.ftl.placement {
            Placement::None => Policy::None,
            Placement::Handles => Policy::Handles(Handles::new(config)),
            Placement::HotCold => Policy::HotCold(HotCold::new(config, pages)),
            Placement::Sepbit => Policy::SepBit(SepBit::new(pages, blocks)),
        };
        let streams = Streams::new(config);
        let count = if config.ftl.placement == Placement::None { 0 } else { streams.count.into() };
        let counts = Placed { of_host: streams.host_classes.into(), block_units, counts: vec![StreamStats::default(); count] };
        Placer { policy, counts }
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

    /// A page of the host is to be written: its class. `handle`: that of the request; `None`: it names none. `is_new`: the logical page holds no data.
    #[inline]
    pub fn host_class(&mut self, lpn: Lpn, handle: Option<u8>, is_new: bool) -> Class {
        let class = match &self.policy {
            Policy::None => 0,
            Policy::Handles(policy) => policy.host_class(handle),
            Policy::HotCold(policy) => policy.host_class(lpn, is_new),
            Policy::SepBit(policy) => policy.host_class(lpn, is_new),
        };
        // The streams of the host come first.
        self.count(class, |stream| stream.host_units += 1);
        class
    }

    /// A page of the host is in flash: its age counts from now on.
    #[inline]
    pub fn written(&mut self, lpn: Lpn) {
        match &mut self.policy {
            Policy::None | Policy::Handles(_) => {}
            Policy::HotCold(policy) => policy.written(lpn),
            Policy::SepBit(policy) => policy.written(lpn),
        }
    }

    /// The class of a page that is moved out of a block, which `from` has filled.
    #[inline]
    pub fn move_class(&self, lpn: Lpn, from: Stream) -> Class {
        match &self.policy {
            Policy::None => 0,
            Policy::Handles(policy) => policy.move_class(from),
            Policy::HotCold(policy) => policy.move_class(lpn),
            Policy::SepBit(policy) => policy.move_class(lpn, from),
        }
    }

    /// Pages of one block may have different classes when they are moved.
    pub fn parts_blocks(&self) -> bool {
        matches!(self.policy, Policy::HotCold(_) | Policy::SepBit(_))
    }

    /// `stream` has taken a block to fill.
    #[inline]
    pub fn block_opened(&mut self, block: BlockId, stream: Stream) {
        self.count(stream, |counts| counts.blocks_opened += 1);
        if let Policy::SepBit(policy) = &mut self.policy {
            policy.block_opened(block);
        }
    }

    /// A block that `from` has filled, with `valid` valid units, has become a victim.
    #[inline]
    pub fn block_collected(&mut self, block: BlockId, from: Stream, valid: u32) {
        self.count(from, |counts| {
            counts.blocks_collected += 1;
            counts.valid_units += u64::from(valid);
        });
        if let Policy::SepBit(policy) = &mut self.policy {
            policy.block_collected(block, from);
        }
    }

    /// What a saved state has of the policy, in arrays of fixed lengths.
    pub fn parts(&self) -> Vec<Vec<u32>> {
        match &self.policy {
            Policy::None | Policy::Handles(_) => Vec::new(),
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
            Policy::None | Policy::Handles(_) => Ok(()),
            Policy::HotCold(policy) => policy.restore(parts),
            Policy::SepBit(policy) => policy.restore(parts),
        }
    }
}

/// When each logical page was last written, counted in pages that the host has written: the clock of the policies that look at ages.
#[derive(Clone, Debug)]
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

    /// A page of the host is in flash.
    #[inline]
    fn written(&mut self, lpn: Lpn) {
        self.at[lpn.0 as usize] = self.now;
        self.now = self.now.wrapping_add(1);
    }
}
