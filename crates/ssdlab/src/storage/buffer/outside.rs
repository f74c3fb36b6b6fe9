//! Requests that wait for room in a write buffer, for credit (`gc.pace`), or behind one that does: first come, first served. Reads that may
//! pass others wait only until the data that they are to read have come in.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use super::table::Table;
use crate::lists::NONE;
use crate::memory::{self, Exhausted};
use crate::request::RequestKind;

/// The bits of a request's number that the table of units has: fewer requests wait at a time.
const NUMBER_BITS: u64 = 0x7FFF_FFFF;

/// A request that waits.
#[derive(Clone, Debug)]
struct Waits {
    request: u32,
    /// The units of a write that have not come in; none of others.
    units: Range<u32>,
}

/// What a read waits for: the request with this number has come in, or a write as far as this unit. In the order in which that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Conflict {
    number: u64,
    unit: u32,
}

/// All that waits outside a buffer.
pub(super) struct Outside {
    requests: VecDeque<Waits>,
    /// The number of the oldest, counted from the first that ever waited.
    first: u64,
    /// By unit, the number of the youngest write of it that waits; its low bits.
    last_write: Table,
    last_trim: Option<u64>,
    /// Reads that wait for data, by what they wait for and then by age.
    reads: BinaryHeap<Reverse<(Conflict, u64, u32)>>,
    reads_come: u64,
}

impl Outside {
    pub(super) fn new() -> Self {
        Outside { requests: VecDeque::new(), first: 0, last_write: Table::new(0), last_trim: None, reads: BinaryHeap::new(), reads_come: 0 }
    }

    pub(super) fn make_room(&mut self, units: usize) -> Result<(), Exhausted> {
        memory::make_room(&mut self.requests, units)?;
        memory::make_room(&mut self.reads, units)?;
        self.last_write.make_room(units)
    }

    /// No request waits for room.
    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Requests that wait.
    pub(super) fn len(&self) -> usize {
        self.requests.len() + self.reads.len()
    }

    /// A request that is to come in touches one of these units, or any read waits.
    pub(super) fn is_touched(&self, units: &Range<u32>) -> bool {
        let touches = |waits: &Waits| waits.units.start < units.end && units.start < waits.units.end;
        // By unit or by request, whichever are fewer: in an overload many requests wait.
        let by_unit = units.len() < self.requests.len();
        !self.reads.is_empty()
            || if by_unit {
                units.clone().any(|unit| self.last_write.get(unit) != NONE)
            } else {
                self.requests.iter().any(touches)
            }
    }

    /// The last request that must come in before a read of these units: a write of one of them, or any trim.
    pub(super) fn last_conflict(&self, units: Range<u32>) -> Option<Conflict> {
        let trim = self.last_trim.map(|number| Conflict { number, unit: NONE });
        units.filter_map(|unit| self.last_write_of(unit)).chain(trim).max()
    }

    fn last_write_of(&self, unit: u32) -> Option<Conflict> {
        let stored = Some(self.last_write.get(unit)).filter(|&number| number != NONE)?;
        let after_first = u64::from(stored).wrapping_sub(self.first) & NUMBER_BITS;
        Some(Conflict { number: self.first + after_first, unit })
    }

    /// The units of writes that have not come in.
    pub(super) fn written_units(&self) -> impl Iterator<Item = u32> + '_ {
        self.requests.iter().flat_map(|waits| waits.units.clone())
    }

    /// A request waits. Its units have not come in.
    pub(super) fn waits(&mut self, request: u32, kind: RequestKind, units: Range<u32>) {
        let number = self.first + self.requests.len() as u64;
        let written = if kind == RequestKind::Write { units } else { 0..0 };
        written.clone().for_each(|unit| self.last_write.set(unit, (number & NUMBER_BITS) as u32));
        if kind == RequestKind::Trim {
            self.last_trim = Some(number);
        }
        self.requests.push_back(Waits { request, units: written });
    }

    /// A read waits for what is in its way.
    pub(super) fn read_waits(&mut self, conflict: Conflict, request: u32) {
        self.reads.push(Reverse((conflict, self.reads_come, request)));
        self.reads_come += 1;
    }

    /// The oldest request, and the first of its units that has not come in.
    pub(super) fn front(&self) -> Option<(u32, u32)> {
        self.requests.front().map(|waits| (waits.request, waits.units.start))
    }

    /// The oldest request.
    pub(super) fn oldest(&self) -> Option<u32> {
        self.requests.front().map(|waits| waits.request)
    }

    /// The oldest request has come in; or, if it is a write, up to this unit.
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
        self.last_trim = self.last_trim.filter(|&trim| trim >= self.first);
    }

    /// A read that need not wait any more.
    pub(super) fn next_read(&mut self) -> Option<u32> {
        let come = Conflict { number: self.first, unit: self.front().map_or(0, |(_, unit)| unit) };
        let Reverse((_, _, request)) = *self.reads.peek().filter(|Reverse((conflict, ..))| *conflict < come)?;
        self.reads.pop();
        Some(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units 0 and 1 come in with the first write, then 5 and 6 of the second one after the other. Reads of these wait until theirs has.
    #[test]
    fn a_read_goes_on_when_its_unit_has_come_in_and_not_before() {
        let mut outside = Outside::new();
        outside.make_room(8).unwrap();
        outside.waits(10, RequestKind::Write, 0..2);
        outside.waits(11, RequestKind::Write, 5..7);
        for (unit, read) in [(5, 20), (6, 21)] {
            let conflict = outside.last_conflict(unit..unit + 1).expect("a write of it waits");
            outside.read_waits(conflict, read);
        }
        let mut after = |up_to| {
            outside.entered(up_to);
            let reads: Vec<_> = std::iter::from_fn(|| outside.next_read()).collect();
            (outside.front(), reads)
        };
        assert_eq!(after(None), (Some((11, 5)), vec![]), "the second write is the oldest, and nothing of it has come in");
        assert_eq!(after(Some(6)), (Some((11, 6)), vec![20]));
        assert_eq!(after(None), (None, vec![21]));
    }
}
