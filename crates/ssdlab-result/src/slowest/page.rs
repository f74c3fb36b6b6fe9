//! Which segments make up the time of one page operation in a drive: waiting in front of its queue, for its die, and being served.

use super::blockers::{Among, Gatherer, die_of};
use super::result::Segment;
use crate::stats::Times;
use crate::timeline::{Hold, Index, PageEnd, Stage, Wait};
use ssdlab_base::blocked::{Blocked, Served, Share};
use ssdlab_base::units::{DieId, Ns};

/// Waits before the die's queue, in order.
const IN_FRONT: [Share; 3] = [Share::Wait(Blocked::NoRoom), Share::Wait(Blocked::QueueFull), Share::Wait(Blocked::PageOrder)];

/// An interval with its share; several shares where their order is not known.
pub(super) type Piece = (Ns, Ns, Vec<(Share, Ns)>);

/// Pieces of an interval from `from` on, one for each share of `order` that `times` has.
pub(super) fn in_order(from: Ns, times: &Times, order: &[Share]) -> Vec<Piece> {
    let mut at = from;
    let shares = order.iter().map(|&share| (share, times.of(share))).filter(|&(_, ns)| ns > 0);
    shares
        .map(|(share, ns)| {
            at += ns;
            (at - ns, at, vec![(share, ns)])
        })
        .collect()
}

/// The sum of all pieces by share.
fn sum<'a>(pieces: impl Iterator<Item = &'a Piece>) -> Times {
    let mut times = Times::default();
    pieces.flat_map(|piece| &piece.2).for_each(|&(share, ns)| times.add(share, ns));
    times
}

/// What a stage of the page's own operation counts as.
fn share_of(stage: &Stage, left: &Times) -> Share {
    let waits = |reason| Share::Wait(reason);
    match stage.name {
        name if name.starts_with("failed ") => Share::Service(Served::Retry),
        "decode" => Share::Service(Served::Decode),
        "read" | "program" | "erase" => Share::Service(Served::Array),
        "wait for bus" | "wait for register" => waits(Blocked::Bus),
        "wait for array" if left.of(waits(Blocked::HostOperation)) > 0 => waits(Blocked::HostOperation),
        "wait for array" => waits(Blocked::GcOperation),
        "suspending" | "put aside" => waits(Blocked::Paused),
        name if name.starts_with("suspended") || name.starts_with("paused") => waits(Blocked::Paused),
        name if name.ends_with("read") || name.ends_with("program") => Share::Service(Served::Array),
        _ => Share::Service(Served::Transfer),
    }
}

/// The pieces of a page operation in its drive, and the serial number of each one's own operation.
struct Pieces<'a> {
    ring: &'a Index<'a>,
    end: &'a PageEnd,
    times: Times,
    pieces: Vec<(Piece, Option<u64>)>,
}

impl Pieces<'_> {
    /// Finds the pieces; `None` if they do not add up to the times, by share.
    fn find(&mut self) -> Option<()> {
        let mut at = self.end.arrival;
        let waits: Vec<Wait> = self.ring.waits_of(self.end).copied().collect();
        for piece in in_order(at, &self.times, &IN_FRONT) {
            at = piece.1;
            self.pieces.push((piece, None));
        }
        for wait in waits {
            if at > wait.from {
                return None;
            }
            self.serve(at, wait.from);
            self.holds(&wait);
            at = wait.to;
        }
        // The data of a read are decoded after its operation has ended.
        let decode_ns = self.times.of(Share::Service(Served::Decode));
        let decoding = self.end.ended - decode_ns;
        self.serve(at, decoding);
        if decode_ns > 0 {
            self.pieces.push(((decoding, self.end.ended, vec![(Share::Service(Served::Decode), decode_ns)]), None));
        }
        let all = self.found().map(|piece| piece.1 - piece.0).sum::<Ns>() == self.end.ended - self.end.arrival;
        (all && sum(self.found()) == self.times || self.join_transfers()).then_some(())
    }

    fn found(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().map(|(piece, _)| piece)
    }

    /// What held the die during a wait for it.
    fn holds(&mut self, wait: &Wait) {
        for hold in self.ring.holds_between(wait.domain, wait.from, wait.to) {
            let (from, to) = (hold.from.max(wait.from), hold.to.min(wait.to));
            match self.pieces.last_mut() {
                Some(((_, end, shares), _)) if *end == from && shares[0].0 == Share::Wait(hold.reason) => {
                    *end = to;
                    shares[0].1 += to - from;
                }
                _ => self.pieces.push(((from, to, vec![(Share::Wait(hold.reason), to - from)]), None)),
            }
        }
    }

    /// The stages of the operations that served the page between two times: found from the last one backwards, as each begins where the one
    /// before ended (a partial write first reads its page).
    fn serve(&mut self, from: Ns, to: Ns) {
        let (mut until, mut own): (Ns, Vec<&Stage>) = (to, Vec::new());
        while until > from
            && let Some(operation) = self.own_until(until)
        {
            let begin = own.len();
            let within = |stage: &&Stage| die_of(stage.track).is_some() && stage.start < until && stage.end > from;
            own.extend(self.ring.stages_of(operation).filter(within));
            until = own[begin..].iter().map(|stage| stage.start).min().expect("a stage ended there");
        }
        own.sort_by_key(|stage| (stage.start, stage.end));
        // What the waits for the die have not used up.
        let left = self.times.less(&sum(self.found())).unwrap_or_default();
        for stage in own {
            let (start, end) = (stage.start.max(from), stage.end.min(to));
            self.pieces.push(((start, end, vec![(share_of(stage, &left), end - start)]), Some(stage.operation)));
        }
    }

    /// The operation that served the page until `until`: one of the page itself before others of its die.
    fn own_until(&self, until: Ns) -> Option<u64> {
        let rank = |stage: &&Stage| {
            let operation = self.ring.operation(stage.operation)?;
            let of_page = operation.page.is_some_and(|page| page.lpn == self.end.lpn);
            let on_die = die_of(stage.track) == Some(self.end.die.0);
            (of_page || on_die).then_some((of_page, operation.host, stage.start))
        };
        let last = self.ring.slots_ended_at(until).filter(|stage| rank(stage).is_some());
        last.max_by_key(rank).map(|stage| stage.operation)
    }

    /// The transfers of an operation's other pages count as waiting for the bus: joins neighbouring pieces of both kinds, where there is one
    /// such place, and gives it the shares that are left for it. Returns false if that does not add up either.
    fn join_transfers(&mut self) -> bool {
        let on_bus = |piece: &Piece| matches!(piece.2[0].0, Share::Service(Served::Transfer) | Share::Wait(Blocked::Bus));
        let own = |(piece, own): &&(Piece, Option<u64>)| own.is_some() && on_bus(piece);
        let of_bus: Vec<usize> = (0..self.pieces.len()).filter(|&at| own(&&self.pieces[at])).collect();
        let (Some(&first), Some(&last)) = (of_bus.first(), of_bus.last()) else { return false };
        if last - first + 1 != of_bus.len() {
            return false;
        }
        let others: Vec<Piece> =
            self.pieces.iter().enumerate().filter(|(at, _)| !of_bus.contains(at)).map(|(_, (piece, _))| piece.clone()).collect();
        let (from, to) = (self.pieces[first].0.0, self.pieces[last].0.1);
        let Some(left) = self.times.less(&sum(others.iter())) else { return false };
        let shares: Vec<(Share, Ns)> = left.shares().collect();
        let covered = others.iter().map(|piece| piece.1 - piece.0).sum::<Ns>() + to - from;
        let adds_up = left.total() == Some(to - from) && covered == self.end.ended - self.end.arrival;
        let operation = self.pieces[first].1;
        self.pieces.splice(first..=last, [((from, to, shares), operation)]);
        adds_up
    }
}

impl Gatherer<'_> {
    /// The segments of a page operation.
    pub fn page(&mut self, drive: u32, end: &PageEnd) -> Vec<Segment> {
        let rings = self.rings;
        let ring = &rings[drive as usize];
        let mut pieces = Pieces { ring, end, times: Times::from(&end.times), pieces: Vec::new() };
        if pieces.find().is_none() {
            let own = pieces.pieces.last().and_then(|(_, own)| *own);
            pieces.pieces = vec![((end.arrival, end.ended, pieces.times.shares().collect()), own)];
        }
        let found = pieces.pieces;
        found.into_iter().filter(|(piece, _)| piece.1 > piece.0).map(|(piece, own)| self.of_page(drive, end, piece, own)).collect()
    }

    /// A segment of a page operation, with what it waited for.
    fn of_page(&mut self, drive: u32, end: &PageEnd, (from_ns, to_ns, shares): Piece, own: Option<u64>) -> Segment {
        let ring = &self.rings[drive as usize];
        let by = own.filter(|&own| ring.operation(own).is_some()).map(|own| self.operation(drive, own));
        let results = shares.iter().map(|&share| share.into()).collect();
        let mut segment = Segment { from_ns, to_ns, shares: results, drive: Some(drive), die: Some(end.die.0), by, ..Segment::default() };
        let is_mixed = shares.len() > 1;
        for (share, _) in shares {
            if let Share::Wait(reason) = share {
                self.waited_for(&mut segment, drive, end, (reason, own));
            }
            if is_mixed {
                break;
            }
        }
        segment
    }

    /// Names what a segment of a page operation waited for.
    fn waited_for(&mut self, segment: &mut Segment, drive: u32, end: &PageEnd, (reason, own): (Blocked, Option<u64>)) {
        let ring = &self.rings[drive as usize];
        let geometry = ring.geometry();
        let domain = ring.waits_of(end).find(|wait| wait.from < segment.to_ns && wait.to > segment.from_ns).map(|wait| wait.domain);
        let dies = domain.map_or(end.die.0..end.die.0 + 1, |domain| ring.dies_of_domain(domain));
        let pools = geometry.pools_of_die(DieId(dies.start)).start..geometry.pools_of_die(DieId(dies.end - 1)).end;
        match reason {
            Blocked::HostOperation => self.behind(segment, drive, &dies, Among::Host, own),
            Blocked::GcOperation => self.behind(segment, drive, &dies, Among::Gc, own),
            Blocked::Bus => self.behind(segment, drive, &dies, Among::Bus, own),
            Blocked::Paused => self.behind(segment, drive, &dies, Among::All, own),
            Blocked::Register => self.behind(segment, drive, &dies, Among::Suspended, own),
            Blocked::HardThreshold | Blocked::FreeBlock => self.jobs_in(segment, drive, &pools),
            Blocked::Scope => {
                let held = |hold: &Hold| hold.excluded_by.filter(|_| hold.reason == Blocked::Scope);
                let by = domain.and_then(|domain| ring.holds_between(domain, segment.from_ns, segment.to_ns).find_map(held));
                let pools = by.map_or(pools, |pool| pool.0..pool.0 + 1);
                self.jobs_in(segment, drive, &pools);
            }
            Blocked::QueueFull => {
                let chip = geometry.dies_of_chip(geometry.chip_of_die(end.die));
                self.behind(segment, drive, &chip, Among::All, own);
            }
            Blocked::PageOrder => self.follows(segment, segment.to_ns, drive..drive + 1, |other| other.lpn == end.lpn),
            _ => {}
        }
    }
}
