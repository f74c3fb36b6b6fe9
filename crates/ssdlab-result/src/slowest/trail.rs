//! Which segments make up the response time of a request behind a cache or in an array: its page operations, found backwards from its end.
//!
//! A write to a full cache waits until the page that it evicts is in flash, and then accesses the cache. A read that misses waits for its
//! page. A write to an array with parity waits for its stripe, reads old data and parity, and then writes. Each step begins when the one
//! before it ends, and the times of the last page operation of each are among those of the request.

use super::Passage;
use super::blockers::Gatherer;
use super::explain::{IN_FRONT, plainly};
use super::page::in_order;
use super::result::Segment;
use crate::stats::{Completion, Times};
use crate::timeline::{NOBODY, PageEnd};
use ssdlab_base::blocked::{Blocked, Served, Share};
use ssdlab_base::units::Ns;

const DRAM: Share = Share::Service(Served::Dram);
const BEHIND: Share = Share::Wait(Blocked::PageOrder);
/// Most steps that follow each other: reads of old data and parity, then writes, each perhaps of a page that leaves a cache, and then an
/// access to that cache.
const MOST_STEPS: usize = 6;

/// A step of a request's way.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A page operation of a drive.
    Page(u32, PageEnd),
    /// An access to a cache: start and end, ns.
    Access(Ns, Ns),
    /// The wait of a page of a cache for a page operation that began before it: start and end, ns.
    Behind(Ns, Ns),
}

impl Step {
    fn start(&self) -> Ns {
        match self {
            Step::Page(_, end) => end.arrival,
            Step::Access(start, _) | Step::Behind(start, _) => *start,
        }
    }
}

impl Gatherer<'_> {
    /// The segments of a request below the host interface; `None` if no steps are found that add up to its times.
    pub(super) fn trail(&mut self, completion: &Completion, passage: &Passage) -> Option<Vec<Segment>> {
        let Passage { delivered, answered, inside, .. } = *passage;
        let mut steps = Vec::new();
        let front = self.steps(completion.index, (delivered, answered), &inside, &mut steps)?;
        let first = steps.last().map_or(answered, Step::start);
        let mut segments = self.in_front(completion, delivered, first, &front);
        for step in steps.into_iter().rev() {
            match step {
                Step::Page(drive, end) => segments.extend(self.page(drive, &end)),
                Step::Access(from, to) => segments.push(plainly((from, to, vec![(DRAM, to - from)]))),
                Step::Behind(from, to) => segments.push(self.of_front(completion, (from, to, vec![(BEHIND, to - from)]))),
            }
        }
        Some(segments)
    }

    /// Adds the steps of an interval to `steps`, the last first. They and the waits in front of them add up to `left`. Returns the times in
    /// front.
    fn steps(&self, request: u64, (from, until): (Ns, Ns), left: &Times, steps: &mut Vec<Step>) -> Option<Times> {
        let reached = in_order(from, left, &IN_FRONT).last().map_or(from, |piece| piece.1);
        if reached == until && left.total() == Some(until - from) {
            return Some(*left);
        }
        if steps.len() == MOST_STEPS || until <= from {
            return None;
        }
        for (step, times) in self.last_steps(request, (from, until), left, steps.last()) {
            let Some(rest) = left.less(&times) else { continue };
            steps.push(step);
            if let Some(front) = self.steps(request, (from, step.start()), &rest, steps) {
                return Some(front);
            }
            steps.pop();
        }
        None
    }

    /// The steps with which an interval may have ended, and their times; `next`: the step that follows.
    fn last_steps(&self, request: u64, (from, until): (Ns, Ns), left: &Times, next: Option<&Step>) -> Vec<(Step, Times)> {
        let dram = left.of(DRAM);
        let mut found = Vec::new();
        if self.topology.cache && !matches!(next, Some(Step::Access(..))) {
            // In front of each drive of an array caches are accessed twice: for old data, and for new data.
            for ns in [dram, dram / 2].into_iter().filter(|&ns| ns > 0 && ns <= until - from) {
                let mut times = Times::default();
                times.add(DRAM, ns);
                found.push((Step::Access(until - ns, until), times));
            }
        }
        let ends = (0..).zip(self.rings).flat_map(|(drive, ring)| ring.ended_at(until).map(move |end| (drive, *end)));
        let is_own = |end: &PageEnd| end.origin.request == request || end.origin.request == NOBODY;
        let mut pages: Vec<(u32, PageEnd)> = ends.filter(|(_, end)| end.arrival >= from && is_own(end)).collect();
        // Of pages that end at one instant the highest counts for the request.
        pages.sort_by_key(|(drive, end)| std::cmp::Reverse((end.origin.request == request, end.lpn, *drive)));
        found.extend(pages.into_iter().map(|(drive, end)| (Step::Page(drive, end), Times::from(&end.times))));
        let behind = left.of(BEHIND);
        // The page operation for which it waited ended then.
        let may_wait = self.rings.iter().any(|ring| ring.ended_at(until).next().is_some());
        if may_wait && matches!(next, Some(Step::Access(..))) && behind > 0 && behind <= until - from {
            let mut times = Times::default();
            times.add(BEHIND, behind);
            found.push((Step::Behind(until - behind, until), times));
        }
        found
    }
}
