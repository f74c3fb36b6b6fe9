//! Which segments make up the response time of a request, in the order of its way: host interface, write buffer, mapping table, drive, and
//! back.

use std::collections::BTreeSet;
use std::ops::Range;

use super::blockers::Gatherer;
use super::page::{Piece, in_order};
use super::result::{ChainResult, Explained, Segment};
use super::{Passage, Topology};
use crate::stats::{Completion, Times};
use crate::timeline::{Admission, Cause, Index, NOBODY, PageEnd};
use ssdlab_base::blocked::{Blocked, Served, Share};
use ssdlab_base::request::RequestKind;
use ssdlab_base::units::Ns;

/// Shares of a command on its way into the drive, in order.
const IN: [Share; 9] = [
    Share::Wait(Blocked::PowerState),
    Share::Wait(Blocked::Quota),
    Share::Wait(Blocked::Slot),
    Share::Wait(Blocked::Queue),
    Share::Wait(Blocked::Core),
    Share::Service(Served::Core),
    Share::Wait(Blocked::Link),
    Share::Service(Served::Link),
    Share::Wait(Blocked::WriteRate),
];
/// Shares of a command on its way out of the drive, in order.
const OUT: [Share; 4] =
    [Share::Wait(Blocked::Link), Share::Service(Served::Link), Share::Wait(Blocked::Core), Share::Service(Served::Core)];
/// Shares of a request in front of the drive's queues, in order.
pub(super) const IN_FRONT: [Share; 9] = [
    Share::Wait(Blocked::Zone),
    Share::Wait(Blocked::StripeLock),
    Share::Wait(Blocked::BufferFull),
    Share::Wait(Blocked::Pace),
    Share::Wait(Blocked::TranslationPage),
    Share::Wait(Blocked::NoRoom),
    Share::Wait(Blocked::QueueFull),
    Share::Wait(Blocked::PageOrder),
    Share::Service(Served::Dram),
];
/// Most page operations that a segment names.
const MOST_PAGES: usize = 4;

/// Explains a request.
pub(super) fn explain(completion: &Completion, passage: Option<&Passage>, rings: &[Index<'_>], topology: Topology) -> Explained {
    let Completion { arrival_ns, completed_ns, times, .. } = *completion;
    let horizon = rings.iter().map(|ring| ring.horizon()).max().unwrap_or(0);
    let found = Explained {
        request: completion.index,
        flow: completion.flow,
        kind: completion.kind.name(),
        offset_bytes: completion.offset,
        size_bytes: completion.length,
        arrival_ns,
        completed_ns,
        response_ns: completed_ns - arrival_ns,
        drives: rings.len(),
        blocked_by: completion.blocked_by().map(Blocked::name),
        known_from_ns: (horizon > arrival_ns).then_some(horizon),
        shares: times.shares().map(Into::into).collect(),
        ..Explained::default()
    };
    let mut gatherer = Gatherer::new(rings, topology, completed_ns, found);
    let whole = Passage { delivered: arrival_ns, answered: completed_ns, inside: times, ..Passage::default() };
    let passage = passage.unwrap_or(&whole);
    let out = times.less(&passage.before).and_then(|left| left.less(&passage.inside)).expect("parts of the request's times");
    let into = in_order(arrival_ns, &passage.before, &IN);
    let mut segments: Vec<Segment> = into.into_iter().map(plainly).collect();
    segments.extend(gatherer.inside(completion, passage));
    segments.extend(in_order(passage.answered, &out, &OUT).into_iter().map(plainly));
    let adds_up = segments.iter().flat_map(|segment| &segment.shares).map(|share| share.ns).sum::<Ns>() == completed_ns - arrival_ns;
    let has_gap = segments.windows(2).any(|pair| pair[0].to_ns != pair[1].from_ns);
    assert!(adds_up && !has_gap, "the segments of request {} do not add up to its response time: {segments:?}", completion.index);
    gatherer.found.segments = segments;
    gatherer.found
}

/// A segment that names nothing.
pub(super) fn plainly((from_ns, to_ns, shares): Piece) -> Segment {
    Segment { from_ns, to_ns, shares: shares.into_iter().map(Into::into).collect(), ..Segment::default() }
}

/// The page operation served the request's own data, so that its times are among the request's.
fn is_part(end: &PageEnd) -> bool {
    !matches!(end.origin.cause, Cause::MapRead | Cause::MapWrite | Cause::MapUpdate | Cause::Destage | Cause::Padding | Cause::Drain)
}

impl Gatherer<'_> {
    /// The segments of a request below the host interface.
    fn inside(&mut self, completion: &Completion, passage: &Passage) -> Vec<Segment> {
        if passage.answered == passage.delivered {
            return Vec::new();
        }
        let is_plain = !self.topology.cache && !self.topology.array;
        let way = if is_plain { self.straight(completion, passage) } else { self.trail(completion, passage) };
        way.unwrap_or_else(|| vec![self.in_any_order(completion, passage)])
    }

    /// The segments of a request to a single drive: in front of its queues, then those of its last page.
    fn straight(&mut self, completion: &Completion, passage: &Passage) -> Option<Vec<Segment>> {
        let Passage { delivered, answered, inside, .. } = *passage;
        let Some((drive, end)) = self.last_page(completion.index, passage) else {
            return Some(self.in_front(completion, delivered, answered, &inside));
        };
        let front = inside.less(&Times::from(&end.times)).expect("the page's times are among the request's");
        if end.ended != answered || front.total() != Some(end.arrival - delivered) {
            return None;
        }
        let mut segments = self.in_front(completion, delivered, end.arrival, &front);
        segments.extend(self.page(drive, &end));
        Some(segments)
    }

    /// One segment for all that a request did below the host interface, where the order is not known.
    fn in_any_order(&mut self, completion: &Completion, passage: &Passage) -> Segment {
        let piece = (passage.delivered, passage.answered, passage.inside.shares().collect());
        let mut segment = self.of_front(completion, piece);
        if let Some((drive, end)) = self.last_page(completion.index, passage) {
            let place = self.chain(drive, &end);
            if !segment.pages.contains(&place) {
                segment.pages.push(place);
            }
        }
        segment
    }

    /// The page operation of a request that ended last, and its drive. Of several that end at one instant, the one with the highest page.
    fn last_page(&self, request: u64, passage: &Passage) -> Option<(u32, PageEnd)> {
        let ends = (0..).zip(self.rings).flat_map(|(drive, ring)| ring.ends().rev().map(move |end| (drive, end)));
        let within = |end: &PageEnd| end.arrival >= passage.delivered && end.ended <= passage.answered;
        let of_request = ends.filter(|(_, end)| end.origin.request == request && is_part(end) && within(end));
        let fits = of_request.filter(|(_, end)| passage.inside.less(&Times::from(&end.times)).is_some());
        fits.max_by_key(|(drive, end)| (end.ended, end.lpn, *drive)).map(|(drive, end)| (drive, *end))
    }

    /// The segments of a request in front of the drive's queues: one of several shares where their order is not known.
    pub(super) fn in_front(&mut self, completion: &Completion, from: Ns, to: Ns, times: &Times) -> Vec<Segment> {
        if from == to {
            return Vec::new();
        }
        let pieces = in_order(from, times, &IN_FRONT);
        let mixed = times.of(Share::Wait(Blocked::BufferFull)) > 0 && times.of(Share::Wait(Blocked::Pace)) > 0;
        let known = !mixed && pieces.last().is_some_and(|last| last.1 == to);
        let pieces = if known { pieces } else { vec![(from, to, times.shares().collect())] };
        pieces.into_iter().map(|piece| self.of_front(completion, piece)).collect()
    }

    pub(super) fn of_front(&mut self, completion: &Completion, piece: Piece) -> Segment {
        let shares = piece.2.clone();
        let mut segment = plainly(piece);
        let (to, all) = (segment.to_ns, 0..self.rings.len() as u32);
        let request = completion.index;
        for (share, ns) in &shares {
            match share {
                Share::Wait(Blocked::BufferFull) => self.finds_room(&mut segment, request, &shares),
                Share::Wait(Blocked::Pace) => self.jobs_in(&mut segment, 0, &(0..u32::MAX)),
                Share::Wait(Blocked::TranslationPage) => {
                    let of_map = |end: &PageEnd| matches!(end.origin.cause, Cause::MapRead | Cause::MapWrite | Cause::MapUpdate);
                    self.follows(&mut segment, to, all.clone(), |end| of_map(end) && end.origin.request == request);
                    if segment.pages.is_empty() {
                        self.follows(&mut segment, to, all.clone(), of_map);
                    }
                }
                // A lock comes first: the update that held it ended when the wait did.
                Share::Wait(Blocked::StripeLock) => {
                    let at = segment.from_ns + ns;
                    self.follows(&mut segment, at, all.clone(), |end| end.origin.request != request && is_part(end));
                }
                Share::Wait(Blocked::PageOrder) if completion.kind == RequestKind::Flush => {
                    self.follows(&mut segment, to, all.clone(), |end| end.origin.cause == Cause::Drain);
                }
                Share::Wait(Blocked::PageOrder) if shares.len() == 1 => self.follows(&mut segment, to, all.clone(), |_| true),
                _ => {}
            }
        }
        segment
    }

    /// Names the programs of the write buffer that made room for a request, and counts those that ended while it waited.
    fn finds_room(&mut self, segment: &mut Segment, request: u64, shares: &[(Share, Ns)]) {
        let waited = |share: &Share| matches!(share, Share::Wait(Blocked::BufferFull | Blocked::Pace));
        let ns = shares.iter().filter(|(share, _)| waited(share)).map(|&(_, ns)| ns).sum::<Ns>();
        let is_own = |one: &Admission| {
            let within = one.from >= segment.from_ns && one.to <= segment.to_ns;
            within && (one.origin.request == request || one.origin.request == NOBODY && one.to - one.from == ns)
        };
        let own = |(drive, ring): (u32, &Index<'_>)| ring.admissions().rev().find(|one| is_own(one)).map(|one| (drive, one.from, one.to));
        // Requests that are not writes wait for the writes before them, and come in when these do.
        let last = (0..).zip(self.rings).filter_map(own).max_by_key(|&(drive, _, to)| (to, drive));
        let alone = (shares.len() == 1).then_some((0, segment.from_ns, segment.to_ns));
        let Some((drive, from, to)) = last.or(alone) else { return };
        let is_drain = |end: &PageEnd| end.origin.cause == Cause::Drain;
        self.follows(segment, to, drive..drive + 1, is_drain);
        let Some(ring) = self.rings.get(drive as usize) else { return };
        let ended: BTreeSet<_> =
            ring.ended_within(from, to).filter(|end| is_drain(end)).map(|end| (end.ended, end.arrival, end.die.0)).collect();
        segment.programs = ended.len();
    }

    /// Names page operations that ended at an instant: of the units of one program one, the earliest first.
    pub(super) fn follows(&mut self, segment: &mut Segment, at: Ns, drives: Range<u32>, counts: impl Fn(&PageEnd) -> bool) {
        for drive in drives {
            let Some(ring) = self.rings.get(drive as usize) else { continue };
            let mut ends: Vec<PageEnd> = ring.ended_at(at).filter(|end| end.arrival < at && counts(end)).copied().collect();
            // Units of one program end together, and have one explanation.
            ends.sort_by_key(|end| (end.arrival, end.die.0, end.lpn));
            ends.dedup_by_key(|end| (end.arrival, end.die));
            for end in ends.into_iter().take(MOST_PAGES - segment.pages.len().min(MOST_PAGES)) {
                let place = self.chain(drive, &end);
                if !segment.pages.contains(&place) {
                    segment.pages.push(place);
                }
            }
        }
    }

    /// Place of a page operation in `pages`, where it is added with its segments.
    fn chain(&mut self, drive: u32, end: &PageEnd) -> usize {
        let key = (drive, end.lpn.0, end.arrival, end.ended);
        let same = |known: &ChainResult| (known.drive, known.lpn, known.from_ns, known.to_ns) == key;
        if let Some(known) = self.found.pages.iter().position(same) {
            return known;
        }
        let place = self.found.pages.len();
        self.found.pages.push(ChainResult {
            drive,
            die: end.die.0,
            request: (end.origin.request != NOBODY).then_some(end.origin.request),
            cause: end.origin.cause.name(),
            lpn: end.lpn.0,
            write: end.write,
            from_ns: end.arrival,
            to_ns: end.ended,
            segments: Vec::new(),
        });
        // Page operations that wait for older ones on their page could make this deep.
        if self.found.pages.len() <= 2 * MOST_PAGES {
            self.found.pages[place].segments = self.page(drive, end);
        }
        place
    }
}
