//! What watches a drive: counters, gauges, the verifier, statistics of slack. What more than one of them is told is an [`Event`].

use super::gauges::Gauges;
use super::planted::Planted;
use super::verify::Verifier;
use crate::ftl::Ftl;
use crate::stats::{Counters, SlackStats};
use crate::units::{BlockId, Lpn, Ns, Ppn};

/// Something that a drive did.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A flash read of a page for the host begins; `None`: of a page that holds no data.
    HostRead(Lpn, Option<Ppn>),
    /// The flash read of another unit brings this one for the host too.
    ReadAlong(Lpn, Option<Ppn>),
    /// A program has so many units of padding, from this one on.
    Padded(Ppn, u32),
    /// A page move answers a host read.
    MergedRead(Lpn, Option<Ppn>),
    /// A host program begins, of data of this version.
    HostProgram(Ppn, u32),
    /// A host program has ended: the page's data have this version.
    Written(Lpn, u32),
    /// A host write, of data of this version, takes the place of a page move, which may have a page to go to.
    MergedWrite(Option<Ppn>, u32),
    /// The page to which a move goes is chosen.
    MovePlaced(Ppn, Ppn),
    /// A page move has ended; its copy is current, or else stale.
    PageMoved { current: bool },
    /// A page is unmapped.
    Trimmed(Lpn),
    /// A block was taken from a pool that has so many free ones left.
    BlockTaken { left: u32 },
    /// A block was erased.
    Erased(BlockId),
    /// A GC job has ended after so long, ns.
    JobEnded(Ns),
}

/// What watches a drive.
#[derive(Debug)]
pub(super) struct Probes {
    counters: Counters,
    gauges: Gauges,
    slack: SlackStats,
    verifier: Option<Verifier>,
    /// A defect for tests to find.
    planted: Option<Planted>,
}

impl Probes {
    pub(super) fn new(ftl: &Ftl) -> Self {
        Probes {
            counters: Counters::default(),
            gauges: Gauges::new(ftl.geometry().chips, ftl.blocks().free_total()),
            slack: SlackStats::default(),
            verifier: None,
            planted: None,
        }
    }

    /// Tells all who want to know.
    #[inline(always)]
    pub(super) fn note(&mut self, now: Ns, ftl: &Ftl, event: Event) {
        let counters = &mut self.counters;
        match event {
            Event::HostRead(lpn, _) if ftl.geometry().is_of_map(lpn) => counters.map_reads += 1,
            Event::HostRead(..) => counters.host_reads += 1,
            // What happens for the mapping table is not the host's.
            Event::ReadAlong(lpn, _) | Event::MergedRead(lpn, _) if ftl.geometry().is_of_map(lpn) => {}
            Event::ReadAlong(..) => counters.reads_along += 1,
            Event::Padded(_, units) => counters.padded_units += u64::from(units),
            Event::MergedRead(..) => counters.merged_reads += 1,
            Event::HostProgram(..) | Event::MovePlaced(..) => {}
            Event::Written(lpn, _) if ftl.geometry().is_of_map(lpn) => counters.map_programs += 1,
            Event::Written(..) => counters.host_programs += 1,
            Event::MergedWrite(..) => counters.merged_writes += 1,
            Event::PageMoved { current } => {
                counters.pages_moved += 1;
                counters.stale_moves += u64::from(!current);
            }
            Event::Trimmed(..) => counters.trimmed_pages += 1,
            Event::BlockTaken { left } => self.gauges.block_taken(now, left),
            Event::Erased(..) => {
                counters.erases += 1;
                self.gauges.block_freed(now);
            }
            Event::JobEnded(ns) => {
                counters.jobs += 1;
                counters.job_ns += u128::from(ns);
                counters.job_ns_max = counters.job_ns_max.max(ns);
            }
        }
        if let Some(verifier) = &mut self.verifier {
            verifier.note(ftl.geometry(), event);
        }
    }

    /// Counts of what nobody else watches.
    #[inline(always)]
    pub(super) fn count(&mut self) -> &mut Counters {
        &mut self.counters
    }

    pub(super) fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(super) fn gauges(&self) -> &Gauges {
        &self.gauges
    }

    pub(super) fn gauges_mut(&mut self) -> &mut Gauges {
        &mut self.gauges
    }

    pub(super) fn slack(&self) -> &SlackStats {
        &self.slack
    }

    pub(super) fn slack_mut(&mut self) -> &mut SlackStats {
        &mut self.slack
    }

    pub(super) fn verify(&mut self, verifier: Verifier) {
        self.verifier = Some(verifier);
    }

    #[inline(always)]
    pub(super) fn verifier(&self) -> Option<&Verifier> {
        self.verifier.as_ref()
    }

    #[inline(always)]
    pub(super) fn verifier_mut(&mut self) -> Option<&mut Verifier> {
        self.verifier.as_mut()
    }

    pub(super) fn plant(&mut self, defect: Planted) {
        self.planted = Some(defect);
    }

    /// The defect is there.
    #[inline(always)]
    pub(super) fn has(&self, defect: Planted) -> bool {
        self.planted == Some(defect)
    }
}
