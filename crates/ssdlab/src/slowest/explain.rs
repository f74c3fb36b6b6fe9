//! Which segments make up the response time of a request, in the order of its way: host interface, write buffer, mapping table, drive, and
//! back.

use super::Passage;
use super::blockers::Gatherer;
use super::page::{Piece, in_order};
use super::result::{ChainResult, Explained, Segment};
use crate::blocked::{Blocked, Served, Share};
use crate::request::RequestKind;
use crate::stats::{Completion, Times};
use crate::timeline::{Cause, NOBODY, PageEnd, Ring};
use crate::units::Ns;

/// Shares of a command on its way into the drive, in order.
const IN: [Share; 6] = [
    Share::Wait(Blocked::Slot),
    Share::Wait(Blocked::Queue),
    Share::Wait(Blocked::Core),
    Share::Service(Served::Core),
    Share::Wait(Blocked::Link),
    Share::Service(Served::Link),
];
/// Shares of a command on its way out of the drive, in order.
const OUT: [Share; 4] =
    [Share::Wait(Blocked::Link), Share::Service(Served::Link), Share::Wait(Blocked::Core), Share::Service(Served::Core)];
/// Shares of a request in front of the drive's queues, in order.
const IN_FRONT: [Share; 7] = [
    Share::Wait(Blocked::BufferFull),
    Share::Wait(Blocked::Pace),
    Share::Wait(Blocked::TranslationPage),
    Share::Wait(Blocked::NoRoom),
    Share::Wait(Blocked::QueueFull),
    Share::Wait(Blocked::PageOrder),
    Share::Service(Served::Dram),
];
/// Names of the kinds of requests, in the order of [`RequestKind`].
const KINDS: [&str; 4] = ["read", "write", "trim", "flush"];
/// Most page operations that a segment names.
const MOST_PAGES: usize = 4;

/// Explains a request. `plain`: no cache and no array decides on its parts.
pub(super) fn explain(completion: &Completion, passage: Option<&Passage>, rings: &[&Ring], plain: bool) -> Explained {
    let Completion { arrival_ns, completed_ns, times, .. } = *completion;
    let horizon = rings.iter().map(|ring| ring.horizon()).max().unwrap_or(0);
    let found = Explained {
        request: completion.index,
        flow: completion.flow,
        kind: KINDS[completion.kind as usize],
        offset_bytes: completion.offset,
        size_bytes: completion.length,
        arrival_ns,
        completed_ns,
        response_ns: completed_ns - arrival_ns,
        blocked_by: completion.blocked_by().map(Blocked::name),
        known_from_ns: (horizon > arrival_ns).then_some(horizon),
        shares: times.shares().map(Into::into).collect(),
        ..Explained::default()
    };
    let mut gatherer = Gatherer { rings, until: completed_ns, found };
    let whole = Passage { delivered: arrival_ns, answered: completed_ns, inside: times, ..Passage::default() };
    let passage = passage.unwrap_or(&whole);
    let out = times.less(&passage.before).and_then(|left| left.less(&passage.inside)).expect("parts of the request's times");
    let into = in_order(arrival_ns, &passage.before, &IN);
    let mut segments: Vec<Segment> = into.into_iter().map(plainly).collect();
    segments.extend(gatherer.inside(completion, passage, plain));
    segments.extend(in_order(passage.answered, &out, &OUT).into_iter().map(plainly));
    let adds_up = segments.iter().flat_map(|segment| &segment.shares).map(|share| share.ns).sum::<Ns>() == completed_ns - arrival_ns;
    let has_gap = segments.windows(2).any(|pair| pair[0].to_ns != pair[1].from_ns);
    assert!(adds_up && !has_gap, "the segments of request {} do not add up to its response time: {segments:?}", completion.index);
    gatherer.found.segments = segments;
    gatherer.found
}

/// A segment that names nothing.
fn plainly((from_ns, to_ns, shares): Piece) -> Segment {
    Segment { from_ns, to_ns, shares: shares.into_iter().map(Into::into).collect(), ..Segment::default() }
}

/// The page operation served the request's own data, so that its times are among the request's.
fn is_part(end: &PageEnd) -> bool {
    !matches!(end.origin.cause, Cause::MapRead | Cause::MapWrite | Cause::MapUpdate | Cause::Destage | Cause::Padding | Cause::Drain)
}

impl Gatherer<'_> {
    /// The segments of a request below the host interface.
    fn inside(&mut self, completion: &Completion, passage: &Passage, plain: bool) -> Vec<Segment> {
        let Passage { delivered, answered, inside, .. } = *passage;
        if answered == delivered {
            return Vec::new();
        }
        let Some((drive, end)) = self.last_page(completion.index, passage) else {
            return self.in_front(completion, delivered, answered, &inside, plain);
        };
        let times = Times::from(&end.times);
        let front = inside.less(&times).expect("the page's times are among the request's");
        if plain && end.ended == answered && front.total() == Some(end.arrival - delivered) {
            let mut segments = self.in_front(completion, delivered, end.arrival, &front, plain);
            segments.extend(self.page(drive, &end));
            return segments;
        }
        // An array or a cache: other parts came before or behind this page, in an order that is not known.
        let mut segment = plainly((delivered, answered, inside.shares().collect()));
        let place = self.chain(drive, &end);
        segment.pages.push(place);
        vec![segment]
    }

    /// The page operation of a request that ended last, and its drive. Of several that end at one instant, the one with the highest page.
    fn last_page(&self, request: u64, passage: &Passage) -> Option<(u32, PageEnd)> {
        let ends = (0..).zip(self.rings).flat_map(|(drive, ring)| ring.ends().rev().map(move |end| (drive, end)));
        let within = |end: &PageEnd| end.arrival >= passage.delivered && end.ended <= passage.answered;
        let of_request = ends.filter(|(_, end)| end.origin.request == request && is_part(end) && within(end));
        let fits = of_request.filter(|(_, end)| passage.inside.less(&Times::from(&end.times)).is_some());
        fits.max_by_key(|(drive, end)| (end.ended, end.lpn, *drive)).map(|(drive, end)| (drive, *end))
    }

    /// The segments of a request in front of the drive's queues.
    fn in_front(&mut self, completion: &Completion, from: Ns, to: Ns, times: &Times, plain: bool) -> Vec<Segment> {
        if from == to {
            return Vec::new();
        }
        let pieces = in_order(from, times, &IN_FRONT);
        let mixed = times.of(Share::Wait(Blocked::BufferFull)) > 0 && times.of(Share::Wait(Blocked::Pace)) > 0;
        let known = plain && !mixed && pieces.last().is_some_and(|last| last.1 == to);
        let pieces = if known { pieces } else { vec![(from, to, times.shares().collect())] };
        pieces.into_iter().map(|piece| self.of_front(completion, piece)).collect()
    }

    fn of_front(&mut self, completion: &Completion, piece: Piece) -> Segment {
        let reasons: Vec<Share> = piece.2.iter().map(|&(share, _)| share).collect();
        let mut segment = plainly(piece);
        for share in reasons {
            match share {
                Share::Wait(Blocked::BufferFull) => self.follows(&mut segment, 0, |end| end.origin.cause == Cause::Drain),
                Share::Wait(Blocked::Pace) => self.jobs_in(&mut segment, 0, &(0..u32::MAX)),
                Share::Wait(Blocked::TranslationPage) => {
                    let of_map = |end: &PageEnd| matches!(end.origin.cause, Cause::MapRead | Cause::MapWrite | Cause::MapUpdate);
                    self.follows(&mut segment, 0, |end| of_map(end) && end.origin.request == completion.index);
                    if segment.pages.is_empty() {
                        self.follows(&mut segment, 0, of_map);
                    }
                }
                Share::Wait(Blocked::PageOrder) if completion.kind == RequestKind::Flush => {
                    self.follows(&mut segment, 0, |end| end.origin.cause == Cause::Drain);
                }
                _ => {}
            }
        }
        segment
    }

    /// Names the page operations of a drive at whose end a segment ended: those of one request, that which took longest first.
    pub fn follows(&mut self, segment: &mut Segment, drive: u32, counts: impl Fn(&PageEnd) -> bool) {
        let at_end = |end: &&PageEnd| end.ended == segment.to_ns && end.arrival < segment.to_ns && counts(end);
        let mut ends: Vec<PageEnd> =
            self.rings.get(drive as usize).map_or_else(Vec::new, |ring| ring.ends().filter(at_end).copied().collect());
        // Units of one program end together, and have one explanation.
        ends.sort_by_key(|end| (end.arrival, end.die.0, end.lpn));
        ends.dedup_by_key(|end| (end.arrival, end.die));
        for end in ends.into_iter().take(MOST_PAGES) {
            let place = self.chain(drive, &end);
            if !segment.pages.contains(&place) {
                segment.pages.push(place);
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
