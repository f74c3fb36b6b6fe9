//! The probes of a drive: counters, gauges, the verifier, statistics of slack. An [`Event`] is for more than one of them.

use crate::ftl::Ftl;
use crate::ssd::watch::gauges::Gauges;
use crate::ssd::watch::planted::Planted;
use crate::ssd::watch::verify::Verifier;
use ssdlab_base::cause::Cause;
use ssdlab_base::units::{BlockId, Lpn, Ns, Ppn};
use ssdlab_keys::config::Mode;
use ssdlab_result::stats::{Counters, SlackStats};

/// An event of a drive that its probes count or check.
#[derive(Clone, Copy, Debug)]
pub(in crate::ssd) enum Event {
    /// A flash read of a page for the host begins; `None`: the page holds no data.
    HostRead(Lpn, Option<Ppn>),
    /// The flash read of another unit also brings this one for the host.
    ReadAlong(Lpn, Option<Ppn>),
    /// A program has padding: its first page of padding, and the number of units.
    Padded(Ppn, u32),
    /// A page move answers a host read of this logical page, from this physical page.
    MergedRead(Lpn, Option<Ppn>),
    /// A host program of this page begins, with data of this version.
    HostProgram(Ppn, u32),
    /// A host program has ended: the logical page has data of this version.
    Written(Lpn, u32),
    /// A host write, with data of this version, merges with a page move, whose target page may be chosen.
    MergedWrite(Option<Ppn>, u32),
    /// The target page of a page move is chosen: source and target.
    MovePlaced(Ppn, Ppn),
    /// A page move of a job with this cause has ended; its copy is current, or else stale.
    PageMoved { from: Ppn, cause: Cause, current: bool },
    /// A logical page is unmapped.
    Trimmed(Lpn),
    /// A block was taken from a pool, or a superblock from its group: `blocks` blocks. The pool has `left` free blocks left.
    BlocksTaken { blocks: u32, left: u32 },
    /// A block was erased.
    Erased(BlockId),
    /// An erased block is free, or those of a superblock together.
    BlocksFreed { blocks: u32 },
    /// A block of the cache was opened, in this mode.
    OpenedInCache(BlockId, Mode),
    /// A job begins to fold a block in SLC mode.
    FoldBegins(BlockId, Cause),
    /// The program that began at this page has failed.
    ProgramFailed(Ppn),
    /// A block that was erased has been retired.
    Retired(BlockId),
    /// A GC job that took this long, ns, has ended.
    JobEnded(Ns),
}

/// The counters, gauges and checks of a drive.
#[derive(Debug)]
pub(in crate::ssd) struct Probes {
    counters: Counters,
    gauges: Gauges,
    slack: SlackStats,
    verifier: Option<Verifier>,
    /// The defect that is planted for tests to find.
    planted: Option<Planted>,
}

impl Probes {
    pub(in crate::ssd) fn new(ftl: &Ftl) -> Self {
        Probes {
            counters: Counters::default(),
            gauges: Gauges::new(ftl.geometry().chips, ftl.blocks().free_total()),
            slack: SlackStats::default(),
            verifier: None,
            planted: None,
        }
    }

    /// Passes an event to the counters, gauges and the verifier.
    #[inline(always)]
    pub(in crate::ssd) fn note(&mut self, now: Ns, ftl: &Ftl, event: Event) {
        let counters = &mut self.counters;
        match event {
            Event::HostRead(lpn, _) if ftl.geometry().is_of_map(lpn) => counters.map_reads += 1,
            Event::HostRead(_, place) => {
                counters.host_reads += 1;
                counters.slc_reads += u64::from(place.is_some_and(|ppn| ftl.in_cache(ppn)));
            }
            // What happens for the mapping table is not the host's.
            Event::ReadAlong(lpn, _) | Event::MergedRead(lpn, _) if ftl.geometry().is_of_map(lpn) => {}
            Event::ReadAlong(..) => counters.reads_along += 1,
            // Without padding the place is that of another program.
            Event::Padded(_, 0) => {}
            Event::Padded(first, units) => {
                counters.padded_units += u64::from(units);
                counters.slc_padded_units += if ftl.in_cache(first) { u64::from(units) } else { 0 };
            }
            Event::MergedRead(..) => counters.merged_reads += 1,
            Event::HostProgram(..)
            | Event::MovePlaced(..)
            | Event::OpenedInCache(..)
            | Event::FoldBegins(..)
            | Event::ProgramFailed(_)
            | Event::Retired(_) => {}
            Event::Written(lpn, _) if ftl.geometry().is_of_map(lpn) => {
                counters.map_programs += 1;
                counters.slc_map_writes += u64::from(ftl.lies_in_cache(lpn));
            }
            Event::Written(lpn, _) => {
                counters.host_programs += 1;
                if ftl.geometry().slc.is_some() {
                    let in_slc = u64::from(ftl.lies_in_cache(lpn));
                    (counters.slc_writes, counters.direct_writes) = (counters.slc_writes + in_slc, counters.direct_writes + 1 - in_slc);
                }
            }
            Event::MergedWrite(..) => counters.merged_writes += 1,
            Event::PageMoved { from, cause, current } => {
                counters.pages_moved += 1;
                counters.folded_pages += u64::from(ftl.in_cache(from));
                counters.moves_by_cause[cause as usize] += 1;
                counters.stale_moves += u64::from(!current);
            }
            Event::Trimmed(..) => counters.trimmed_pages += 1,
            Event::BlocksTaken { blocks, left } => self.gauges.blocks_taken(now, blocks, left),
            Event::Erased(..) => counters.erases += 1,
            Event::BlocksFreed { blocks } => self.gauges.blocks_freed(now, blocks),
            Event::JobEnded(ns) => {
                counters.jobs += 1;
                counters.job_ns += u128::from(ns);
                counters.job_ns_max = counters.job_ns_max.max(ns);
            }
        }
        if let Some(verifier) = &mut self.verifier {
            verifier.note(ftl, event);
        }
    }

    /// Mutable access to the counters, for occurrences without an [`Event`].
    #[inline(always)]
    pub(in crate::ssd) fn count(&mut self) -> &mut Counters {
        &mut self.counters
    }

    pub(in crate::ssd) fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(in crate::ssd) fn gauges(&self) -> &Gauges {
        &self.gauges
    }

    pub(in crate::ssd) fn gauges_mut(&mut self) -> &mut Gauges {
        &mut self.gauges
    }

    pub(in crate::ssd) fn slack(&self) -> &SlackStats {
        &self.slack
    }

    pub(in crate::ssd) fn slack_mut(&mut self) -> &mut SlackStats {
        &mut self.slack
    }

    pub(in crate::ssd) fn verify(&mut self, verifier: Verifier) {
        self.verifier = Some(verifier);
    }

    #[inline(always)]
    pub(in crate::ssd) fn verifier(&self) -> Option<&Verifier> {
        self.verifier.as_ref()
    }

    #[inline(always)]
    pub(in crate::ssd) fn verifier_mut(&mut self) -> Option<&mut Verifier> {
        self.verifier.as_mut()
    }

    pub(in crate::ssd) fn plant(&mut self, defect: Planted) {
        self.planted = Some(defect);
    }

    /// This defect is planted.
    #[inline(always)]
    pub(in crate::ssd) fn has(&self, defect: Planted) -> bool {
        self.planted == Some(defect)
    }
}
