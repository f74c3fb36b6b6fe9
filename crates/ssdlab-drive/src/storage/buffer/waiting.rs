//! Requests that wait for room in a write buffer, for credit (`gc.pace`), or behind one that does: first come, first served. Reads and trims
//! that may pass others wait only until the older requests of their units have come in.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use super::table::Table;
use crate::lists::NONE;
use ssdlab_base::request::RequestKind;
use ssdlab_keys::memory::{self, Exhausted};

/// The bits of a request's number kept in the table of units: fewer requests than that wait at a time.
const NUMBER_BITS: u64 = 0x7FFF_FFFF;

/// A request that waits for room or credit, or behind one that does.
#[derive(Clone, Debug)]
struct Waits {
    request: u32,
    /// Of a write: the units that have not come in; empty for other requests.
    units: Range<u32>,
}

/// The end of a wait of a read or trim: request `number` has come in, or, if it is a write, its units up to and including `unit`.
/// Ordered by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Conflict {
    number: u64,
    unit: u32,
}

/// A read or trim that waits for older requests of its units.
#[derive(Clone, Debug)]
struct Passing {
    waits_for: Conflict,
    /// Serial number of the request among all reads and trims that have waited for older requests.
    age: u64,
    request: u32,
    kind: RequestKind,
    units: Range<u32>,
}

impl Passing {
    fn rank(&self) -> (Conflict, u64) {
        (self.waits_for, self.age)
    }
}

impl PartialEq for Passing {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Passing {}

impl PartialOrd for Passing {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Passing {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

/// All requests that wait outside a buffer.
pub(super) struct Waiting {
    requests: VecDeque<Waits>,
    /// The number of the oldest waiting request, counted from the first that ever waited.
    first: u64,
    /// By unit: the low bits of the number of the youngest waiting write of the unit.
    last_write: Table,
    /// Reads and trims that wait only for older requests of their units, by that wait and then by age.
    passing: BinaryHeap<Reverse<Passing>>,
    /// Number of trims in `passing`.
    trims: usize,
    passing_came: u64,
}

impl Waiting {
    pub(super) fn new() -> Self {
        Waiting { requests: VecDeque::new(), first: 0, last_write: Table::new(0), passing: BinaryHeap::new(), trims: 0, passing_came: 0 }
    }

    pub(super) fn make_room(&mut self, units: usize) -> Result<(), Exhausted> {
        memory::make_room(&mut self.requests, units)?;
        memory::make_room(&mut self.passing, units)?;
        self.last_write.make_room(units)
    }

    /// No request waits for room.
    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Number of requests that wait.
    pub(super) fn len(&self) -> usize {
        self.requests.len() + self.passing.len()
    }

    /// The last older request that a read or trim of `units` must wait for: a write of one of them; for a read also a trim, for a trim
    /// also a read. Of a trim, `units` are those that lie wholly inside it.
    pub(super) fn last_conflict(&self, kind: RequestKind, units: &Range<u32>) -> Option<Conflict> {
        self.last_write_in(units).max(self.last_passing(kind, units))
    }

    /// The last waiting write of one of `units`.
    fn last_write_in(&self, units: &Range<u32>) -> Option<Conflict> {
        if units.len() <= self.last_write.len() {
            return units.clone().filter_map(|unit| self.last_write_of(unit)).max();
        }
        self.last_write.iter().filter(|(unit, _)| units.contains(unit)).filter_map(|(unit, _)| self.last_write_of(unit)).max()
    }

    /// The last wait of a waiting trim that touches `units`, for a read; of a waiting read, for a trim.
    fn last_passing(&self, kind: RequestKind, units: &Range<u32>) -> Option<Conflict> {
        if kind == RequestKind::Read && self.trims == 0 {
            return None;
        }
        let touches = |other: &Passing| other.kind != kind && other.units.start < units.end && units.start < other.units.end;
        self.passing.iter().map(|Reverse(other)| other).filter(|other| touches(other)).map(|other| other.waits_for).max()
    }

    fn last_write_of(&self, unit: u32) -> Option<Conflict> {
        let stored = Some(self.last_write.get(unit)).filter(|&number| number != NONE)?;
        let after_first = u64::from(stored).wrapping_sub(self.first) & NUMBER_BITS;
        Some(Conflict { number: self.first + after_first, unit })
    }

    /// Units of waiting writes that have not come in.
    pub(super) fn written_units(&self) -> impl Iterator<Item = u32> + '_ {
        self.requests.iter().flat_map(|waits| waits.units.clone())
    }

    /// Adds a request that waits; `units`: of a write, the units that have not come in.
    pub(super) fn waits(&mut self, request: u32, kind: RequestKind, units: Range<u32>) {
        let number = self.first + self.requests.len() as u64;
        let written = if kind == RequestKind::Write { units } else { 0..0 };
        written.clone().for_each(|unit| self.last_write.set(unit, (number & NUMBER_BITS) as u32));
        self.requests.push_back(Waits { request, units: written });
    }

    /// Adds a read or trim of `units` that waits for a conflicting older request.
    pub(super) fn passing_waits(&mut self, waits_for: Conflict, request: u32, kind: RequestKind, units: Range<u32>) {
        self.trims += usize::from(kind == RequestKind::Trim);
        self.passing.push(Reverse(Passing { waits_for, age: self.passing_came, request, kind, units }));
        self.passing_came += 1;
    }

    /// The oldest waiting request, and the first of its units that has not come in.
    pub(super) fn front(&self) -> Option<(u32, u32)> {
        self.requests.front().map(|waits| (waits.request, waits.units.start))
    }

    /// The oldest waiting request.
    pub(super) fn oldest(&self) -> Option<u32> {
        self.requests.front().map(|waits| waits.request)
    }

    /// The oldest waiting request has come in; with `up_to`, only its units before this one.
    pub(super) fn entered(&mut self, up_to: Option<u32>) {
        let number = self.first;
        let waits = &mut self.requests[0];
        let come = waits.units.start..up_to.unwrap_or(waits.units.end);
        waits.units.start = come.end;
        if up_to.is_none() {
            self.requests.pop_front();
            self.first += 1;
        }
        for unit in come {
            if self.last_write.get(unit) == (number & NUMBER_BITS) as u32 {
                self.last_write.remove(unit);
            }
        }
    }

    /// Takes out a read or trim whose wait is over. Those of the same units go in the order of arrival.
    pub(super) fn next_passing(&mut self) -> Option<u32> {
        let come = Conflict { number: self.first, unit: self.front().map_or(0, |(_, unit)| unit) };
        self.passing.peek().filter(|Reverse(next)| next.waits_for < come)?;
        let Reverse(Passing { request, kind, .. }) = self.passing.pop()?;
        self.trims -= usize::from(kind == RequestKind::Trim);
        Some(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units 0 and 1 come in with the first write, then 5 and 6 of the second in turn. A read of 5 or 6 waits until its unit has come in.
    #[test]
    fn a_read_goes_on_when_its_unit_has_come_in_and_not_before() {
        let mut outside = Waiting::new();
        outside.make_room(8).unwrap();
        outside.waits(10, RequestKind::Write, 0..2);
        outside.waits(11, RequestKind::Write, 5..7);
        for (unit, read) in [(5, 20), (6, 21)] {
            let conflict = outside.last_conflict(RequestKind::Read, &(unit..unit + 1)).expect("a write of it waits");
            outside.passing_waits(conflict, read, RequestKind::Read, unit..unit + 1);
        }
        let mut after = |up_to| {
            outside.entered(up_to);
            let reads: Vec<_> = std::iter::from_fn(|| outside.next_passing()).collect();
            (outside.front(), reads)
        };
        assert_eq!(after(None), (Some((11, 5)), vec![]), "the second write is the oldest, and nothing of it has come in");
        assert_eq!(after(Some(6)), (Some((11, 6)), vec![20]));
        assert_eq!(after(None), (None, vec![21]));
    }

    /// Unit 5 is written, trimmed and read: the trim waits for the write and the read for the trim. Nothing else waits, whatever is trimmed.
    #[test]
    fn a_trim_that_waits_holds_up_the_reads_of_its_units_and_no_others() {
        let (read, trim) = (RequestKind::Read, RequestKind::Trim);
        let mut outside = Waiting::new();
        outside.make_room(8).unwrap();
        outside.waits(10, RequestKind::Write, 0..2);
        outside.waits(11, RequestKind::Write, 5..6);
        let conflict = outside.last_conflict(trim, &(4..1_000_000)).expect("a write of it waits");
        outside.passing_waits(conflict, 20, trim, 4..1_000_000);
        assert_eq!(outside.last_conflict(read, &(2..4)), None, "units 2 and 3 are neither written nor trimmed");
        assert_eq!(outside.last_conflict(trim, &(6..8)), None, "a trim never waits for a trim");
        let conflict = outside.last_conflict(read, &(7..8)).expect("the trim touches it");
        outside.passing_waits(conflict, 21, read, 7..8);
        // The read is older than this trim, which must not pass it.
        let conflict = outside.last_conflict(trim, &(7..8)).expect("the read touches it");
        outside.passing_waits(conflict, 22, trim, 7..8);
        let mut after = || {
            outside.entered(None);
            std::iter::from_fn(|| outside.next_passing()).collect::<Vec<_>>()
        };
        assert_eq!(after(), Vec::<u32>::new());
        assert_eq!(after(), [20, 21, 22]);
        assert_eq!(outside.last_conflict(read, &(7..8)), None);
    }
}
