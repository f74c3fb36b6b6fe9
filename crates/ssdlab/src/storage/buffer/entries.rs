//! What is in a write buffer: units, their age, and where they go.

use std::collections::VecDeque;

use super::table::Table;
use crate::lists::{EMPTY, Links, List, NONE};
use crate::sched::{Change, SCATTERED};
use crate::units::Ns;

/// Where an entry is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// There is nothing in it.
    Free,
    /// It waits for a program, in the list of its destination.
    Waits,
    /// The same, but older data of its unit are on their way, which must not be passed.
    Behind,
    /// It is on its way to the flash.
    Sent,
    /// Trimmed while the rest of its unit is read: it becomes free when that ends.
    Dropped,
}

/// A unit in the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) unit: u32,
    /// Where it goes.
    pub(super) destination: u32,
    /// The bytes that it has of the unit.
    pub(super) bytes: Change,
    pub(super) progress: Progress,
    /// The rest of its unit is being read.
    pub(super) filling: bool,
    /// It does not wait until others fill its program.
    late: bool,
    /// That is for its age.
    pub(super) timed_out: bool,
    /// A host write of high priority is in it (lee2013 III-D).
    pub(super) high_priority: bool,
    /// When it came.
    since: Ns,
    /// Version of its data, in verify mode.
    pub(super) version: u32,
    /// The oldest host write whose data it has.
    first_write: u64,
    /// The flush that waits for it is the first to come after this many.
    pub(super) flushes_before: u64,
    /// The next of its program; while it waits behind older data, the entry that has these. Or [`NONE`].
    pub(super) next: u32,
    /// The entry that waits behind it, or [`NONE`].
    behind: u32,
    /// The reads that wait for the rest of its unit, the youngest first, or [`NONE`].
    pub(super) readers: u32,
}

const NOTHING: Entry = Entry {
    unit: 0,
    destination: 0,
    bytes: (0, 0),
    progress: Progress::Free,
    filling: false,
    late: false,
    timed_out: false,
    high_priority: false,
    since: 0,
    version: 0,
    first_write: 0,
    flushes_before: 0,
    next: NONE,
    behind: NONE,
    readers: NONE,
};

/// Where programs go: a pool, or with dynamic allocation any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Destination {
    /// The entries that wait, oldest first.
    list: List,
    pub(super) waiting: u32,
    /// Those of them that do not wait until others fill their program.
    late: u32,
    /// Programs on their way.
    pub(super) sent: u32,
    /// It is among those to look at.
    noted: bool,
}

/// All entries of a buffer.
pub(super) struct Entries {
    all: Vec<Entry>,
    free: Vec<u32>,
    /// By unit its youngest entry, unless that has been trimmed.
    youngest: Table,
    /// Entries that wait and are not late, oldest first.
    by_age: List,
    age_links: Links,
    destinations: Vec<Destination>,
    destination_links: Links,
    /// Destinations that something has changed for, in the order in which it did.
    noted: VecDeque<u32>,
    unit_bytes: u32,
}

impl Entries {
    pub(super) fn new(capacity: u32, destinations: u32, unit_bytes: u32) -> Self {
        let nowhere = Destination { list: EMPTY, waiting: 0, late: 0, sent: 0, noted: false };
        Entries {
            all: vec![NOTHING; capacity as usize],
            // The lowest number is taken first.
            free: (0..capacity).rev().collect(),
            youngest: Table::new(capacity as usize),
            by_age: EMPTY,
            age_links: Links::new(capacity as usize),
            destinations: vec![nowhere; destinations as usize],
            destination_links: Links::new(capacity as usize),
            noted: VecDeque::new(),
            unit_bytes,
        }
    }

    pub(super) fn capacity(&self) -> usize {
        self.all.len()
    }

    /// Entries in use.
    pub(super) fn in_use(&self) -> usize {
        self.all.len() - self.free.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    #[inline(always)]
    pub(super) fn get(&self, entry: u32) -> &Entry {
        &self.all[entry as usize]
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, entry: u32) -> &mut Entry {
        &mut self.all[entry as usize]
    }

    /// The youngest entry of a unit that reads may find, or [`NONE`].
    #[inline(always)]
    pub(super) fn of_unit(&self, unit: u32) -> u32 {
        self.youngest.get(unit)
    }

    /// An entry has the whole unit.
    #[inline(always)]
    pub(super) fn is_whole(&self, entry: u32) -> bool {
        self.get(entry).bytes == (0, self.unit_bytes)
    }

    /// An entry has these bytes of its unit.
    #[inline(always)]
    pub(super) fn covers(&self, entry: u32, bytes: Change) -> bool {
        let has = self.get(entry).bytes;
        has.0 <= bytes.0 && bytes.1 <= has.1
    }

    pub(super) fn destination(&self, number: u32) -> &Destination {
        &self.destinations[number as usize]
    }

    /// Data of a unit come into a new entry, which goes to `destination`; `write` is the host write. There must be a free one.
    pub(super) fn insert(&mut self, now: Ns, unit: u32, bytes: Change, destination: u32, write: u64) -> u32 {
        let entry = self.free.pop().expect("the caller has asked");
        let older = self.of_unit(unit);
        let waits_behind = older != NONE;
        *self.get_mut(entry) = Entry {
            unit,
            destination,
            // What is on its way is a whole unit, from which the rest is taken.
            bytes: if waits_behind { (0, self.unit_bytes) } else { bytes },
            progress: if waits_behind { Progress::Behind } else { Progress::Waits },
            since: now,
            first_write: write,
            ..NOTHING
        };
        self.youngest.set(unit, entry);
        self.age_links.push(&mut self.by_age, entry);
        if waits_behind {
            self.get_mut(older).behind = entry;
            self.get_mut(entry).next = older;
        } else {
            self.join(entry);
        }
        entry
    }

    /// Data of the same unit come into an entry that waits.
    pub(super) fn rewrite(&mut self, entry: u32, bytes: Change) {
        let unit_bytes = self.unit_bytes;
        let has = &mut self.get_mut(entry).bytes;
        *has = joined(*has, bytes, unit_bytes);
    }

    /// The rest of an entry's unit has been read.
    pub(super) fn filled(&mut self, entry: u32) {
        let whole = (0, self.unit_bytes);
        let entry = self.get_mut(entry);
        (entry.filling, entry.bytes) = (false, whole);
    }

    /// An entry joins those that wait for a program.
    fn join(&mut self, entry: u32) {
        let Entry { late, destination, .. } = *self.get(entry);
        let to = &mut self.destinations[destination as usize];
        self.destination_links.push(&mut to.list, entry);
        to.waiting += 1;
        to.late += u32::from(late);
        self.note(destination);
    }

    fn leave(&mut self, entry: u32) {
        let Entry { late, destination, .. } = *self.get(entry);
        let from = &mut self.destinations[destination as usize];
        self.destination_links.unlink(&mut from.list, entry);
        from.waiting -= 1;
        from.late -= u32::from(late);
        if !late {
            self.age_links.unlink(&mut self.by_age, entry);
        }
    }

    /// The oldest entry that waits and is not late, and since when.
    pub(super) fn oldest(&self) -> Option<(u32, Ns)> {
        Some(self.by_age.head).filter(|&entry| entry != NONE).map(|entry| (entry, self.get(entry).since))
    }

    /// An entry, which is not late yet, does not wait any longer until others fill its program.
    pub(super) fn hurry(&mut self, entry: u32) {
        self.age_links.unlink(&mut self.by_age, entry);
        let entry = self.get_mut(entry);
        entry.late = true;
        let destination = entry.destination;
        if entry.progress == Progress::Waits {
            self.destinations[destination as usize].late += 1;
            self.note(destination);
        }
    }

    /// Something has changed for a destination.
    pub(super) fn note(&mut self, destination: u32) {
        let to = &mut self.destinations[destination as usize];
        if !std::mem::replace(&mut to.noted, true) {
            self.noted.push_back(destination);
        }
    }

    /// A destination for which something has changed.
    pub(super) fn next_noted(&mut self) -> Option<u32> {
        let number = self.noted.pop_front()?;
        self.destinations[number as usize].noted = false;
        Some(number)
    }

    /// Some entry of a destination does not wait until others fill its program.
    pub(super) fn has_late(&self, destination: u32) -> bool {
        self.destination(destination).late > 0
    }

    /// The first entries that wait for a program to a destination.
    pub(super) fn first_of(&self, destination: u32, count: u32) -> impl Iterator<Item = u32> + '_ {
        self.destination_links.chain(self.destination(destination).list).take(count as usize)
    }

    /// The first so many entries that wait go with one program. Returns the first; the others follow by [`Entry::next`].
    pub(super) fn send(&mut self, destination: u32, count: u32) -> u32 {
        let first = self.destination(destination).list.head;
        let mut entry = first;
        for left in (0..count).rev() {
            self.leave(entry);
            let next = if left == 0 { NONE } else { self.destination(destination).list.head };
            let whole = (0, self.unit_bytes);
            let sent = self.get_mut(entry);
            (sent.progress, sent.next) = (Progress::Sent, next);
            // Also where the rest is not read (`ftl.partial_write = "program"`): from now on it counts as there.
            sent.bytes = whole;
            entry = next;
        }
        self.destinations[destination as usize].sent += 1;
        first
    }

    /// A program to a destination has ended.
    pub(super) fn program_ended(&mut self, destination: u32) {
        self.destinations[destination as usize].sent -= 1;
        self.note(destination);
    }

    /// The data of an entry are in flash. What waited behind it waits for a program now.
    pub(super) fn in_flash(&mut self, entry: u32) {
        let Entry { unit, behind, .. } = *self.get(entry);
        if self.of_unit(unit) == entry {
            self.youngest.remove(unit);
        }
        self.free(entry);
        if behind != NONE {
            self.get_mut(behind).progress = Progress::Waits;
            self.join(behind);
        }
    }

    /// A unit is trimmed: its youngest entry is not found any more, and unless it is on its way it is not written.
    pub(super) fn trim(&mut self, entry: u32) {
        let Entry { unit, progress, filling, next, .. } = *self.get(entry);
        self.youngest.remove(unit);
        match progress {
            Progress::Sent => return,
            Progress::Behind => {
                self.get_mut(next).behind = NONE;
                if !self.get(entry).late {
                    self.age_links.unlink(&mut self.by_age, entry);
                }
            }
            Progress::Waits => self.leave(entry),
            Progress::Free | Progress::Dropped => unreachable!("no unit has such an entry"),
        }
        if filling {
            self.get_mut(entry).progress = Progress::Dropped;
        } else {
            self.free(entry);
        }
    }

    /// Nothing needs an entry any more.
    pub(super) fn free(&mut self, entry: u32) {
        self.get_mut(entry).progress = Progress::Free;
        self.free.push(entry);
    }

    /// The entries of the units from `first` to before `end`, youngest by unit, which reads may find.
    pub(super) fn within(&self, first: u32, end: u32) -> Vec<u32> {
        if (end - first) as usize <= self.youngest.len() {
            return (first..end).map(|unit| self.of_unit(unit)).filter(|&entry| entry != NONE).collect();
        }
        let mut found: Vec<(u32, u32)> = self.youngest.iter().filter(|(unit, _)| (first..end).contains(unit)).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, entry)| entry).collect()
    }

    /// Data that came before an instant are not in flash yet. This looks at every entry: for verify mode.
    pub(super) fn any_before(&self, instant: Ns) -> bool {
        let unwritten = |entry: &Entry| !matches!(entry.progress, Progress::Free | Progress::Dropped);
        self.all.iter().any(|entry| unwritten(entry) && entry.since < instant)
    }

    /// The units whose data are not in flash, with the oldest host write of each entry.
    pub(super) fn not_in_flash(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let unwritten = self.all.iter().filter(|entry| !matches!(entry.progress, Progress::Free | Progress::Dropped));
        unwritten.map(|entry| (entry.unit, entry.first_write))
    }

    /// All that reads may find.
    pub(super) fn findable(&self) -> impl Iterator<Item = &Entry> {
        self.youngest.iter().map(|(_, entry)| self.get(entry))
    }

    /// Recounts.
    ///
    /// # Errors
    /// The first contradiction found.
    pub(super) fn check(&self) -> Result<(), String> {
        let count = |progress| self.all.iter().filter(|entry| entry.progress == progress).count();
        let listed: usize = self.destinations.iter().map(|to| self.destination_links.chain(to.list).count()).sum();
        let counted: usize = self.destinations.iter().map(|to| to.waiting as usize).sum();
        let waiting = count(Progress::Waits);
        if count(Progress::Free) != self.free.len() || listed != waiting || counted != waiting {
            return Err(format!("{waiting} units of the write buffer wait, but {listed} are listed and {counted} counted"));
        }
        let late: usize = self.all.iter().filter(|entry| entry.progress == Progress::Waits && entry.late).count();
        let counted: usize = self.destinations.iter().map(|to| to.late as usize).sum();
        if late != counted {
            return Err(format!("{late} units of the write buffer are late, but {counted} are counted"));
        }
        let ages: Vec<Ns> = self.age_links.chain(self.by_age).map(|entry| self.get(entry).since).collect();
        let on_time = self.all.iter().filter(|entry| matches!(entry.progress, Progress::Waits | Progress::Behind) && !entry.late).count();
        if !ages.is_sorted() || ages.len() != on_time {
            return Err("the units of the write buffer are not in the order of their age".into());
        }
        let known = |(unit, entry): (u32, u32)| {
            self.get(entry).unit == unit && !matches!(self.get(entry).progress, Progress::Free | Progress::Dropped)
        };
        if self.youngest.iter().all(known) { Ok(()) } else { Err("the write buffer finds a unit that it does not have".into()) }
    }
}

/// The bytes of a unit that are there once both have been written; [`SCATTERED`] if these do not follow each other.
fn joined(a: Change, b: Change, unit_bytes: u32) -> Change {
    let whole = (0, unit_bytes);
    if a == whole || b == whole {
        whole
    } else if a == SCATTERED || b == SCATTERED || a.1 < b.0 || b.1 < a.0 {
        SCATTERED
    } else {
        (a.0.min(b.0), a.1.max(b.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_touch_are_joined_and_others_are_scattered() {
        let cases = [
            ((0, 512), (512, 1024), (0, 1024)),
            ((512, 1024), (0, 600), (0, 1024)),
            ((0, 512), (1024, 1536), SCATTERED),
            ((0, 4096), (512, 1024), (0, 4096)),
            (SCATTERED, (0, 512), SCATTERED),
            (SCATTERED, (0, 4096), (0, 4096)),
        ];
        for (a, b, expected) in cases {
            assert_eq!(joined(a, b, 4096), expected, "{a:?} and {b:?}");
        }
    }
}
