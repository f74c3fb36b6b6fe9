//! Entries of a write buffer: their units, ages and destinations.

use std::collections::VecDeque;

use super::table::Table;
use crate::ftl::Class;
use crate::lists::{EMPTY, Links, List, NONE};
use crate::sched::{Change, SCATTERED};
use ssdlab_base::units::Ns;

/// State of an entry of the write buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The entry is not in use.
    Free,
    /// The entry waits for a program, in the list of its destination.
    Waits,
    /// The entry waits until older data of its unit are in flash; then it waits for a program.
    Behind,
    /// The program of the entry has been sent to the drive.
    Sent,
    /// The entry was trimmed while the rest of its unit is read; it becomes free when that read ends.
    Dropped,
}

/// A unit in the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) unit: u32,
    /// The destination of the program that the entry is for.
    pub(super) destination: u32,
    /// The bytes of the unit that the entry holds.
    pub(super) bytes: Change,
    pub(super) progress: Progress,
    /// The rest of the unit is being read.
    pub(super) filling: bool,
    /// The entry does not wait for others to fill its program.
    late: bool,
    /// The entry is among those at the front of its list that have been put in the order of their addresses.
    sorted: bool,
    /// The entry is late because its timeout has expired.
    pub(super) timed_out: bool,
    /// The entry holds data of a host write of high priority (lee2013 III-D).
    pub(super) high_priority: bool,
    /// Placement handle of the host write that inserted the entry.
    pub(super) handle: Option<u8>,
    /// Class that the placement policy gave to the data when they came, where programs take units of one class.
    pub(super) class: Option<Class>,
    /// When the entry was inserted.
    since: Ns,
    /// Version of the data, in verify mode.
    pub(super) version: u32,
    /// The oldest host write whose data the entry holds.
    first_write: u64,
    /// Number of flushes that came before the entry.
    pub(super) flushes_before: u64,
    /// The next entry of the same program; in `Behind`, the entry with the older data of the unit; else [`NONE`].
    pub(super) next: u32,
    /// The entry of the same unit that waits behind this entry, or [`NONE`].
    behind: u32,
    /// The most recent read that waits for the rest of the unit, first of a list, or [`NONE`].
    pub(super) readers: u32,
}

const NOTHING: Entry = Entry {
    unit: 0,
    destination: 0,
    bytes: (0, 0),
    progress: Progress::Free,
    filling: false,
    late: false,
    sorted: false,
    timed_out: false,
    high_priority: false,
    handle: None,
    class: None,
    since: 0,
    version: 0,
    first_write: 0,
    flushes_before: 0,
    next: NONE,
    behind: NONE,
    readers: NONE,
};

/// A destination of programs: a pool, or with dynamic allocation the whole drive; with a placement policy that parts the units of a program, one of its streams there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Destination {
    /// The entries that wait for a program, oldest first.
    list: List,
    pub(super) waiting: u32,
    /// Number of waiting entries that do not wait for others to fill their program.
    late: u32,
    /// Number of entries at the front of the list that have been put in the order of their addresses.
    pub(super) sorted: u32,
    /// Number of outstanding programs to the destination.
    pub(super) sent: u32,
    /// The destination is in `Entries::noted`.
    noted: bool,
}

/// All entries of a buffer.
pub(super) struct Entries {
    all: Vec<Entry>,
    free: Vec<u32>,
    /// By unit, its youngest entry, unless the unit has been trimmed since.
    youngest: Table,
    /// Entries that wait and are not late, oldest first.
    by_age: List,
    age_links: Links,
    destinations: Vec<Destination>,
    destination_links: Links,
    /// Destinations where something has changed, in the order of the changes.
    noted: VecDeque<u32>,
    unit_bytes: u32,
}

impl Entries {
    pub(super) fn new(capacity: u32, destinations: u32, unit_bytes: u32) -> Self {
        let nowhere = Destination { list: EMPTY, waiting: 0, late: 0, sorted: 0, sent: 0, noted: false };
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

    /// Number of entries in use.
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

    /// The entry holds the whole unit.
    #[inline(always)]
    pub(super) fn is_whole(&self, entry: u32) -> bool {
        self.get(entry).bytes == (0, self.unit_bytes)
    }

    /// The entry holds these bytes of its unit.
    #[inline(always)]
    pub(super) fn covers(&self, entry: u32, bytes: Change) -> bool {
        let has = self.get(entry).bytes;
        has.0 <= bytes.0 && bytes.1 <= has.1
    }

    pub(super) fn destination(&self, number: u32) -> &Destination {
        &self.destinations[number as usize]
    }

    /// Whether entries of a write class wait for a program or are being programmed. `classes`: number of write classes.
    pub(super) fn any_of_class(&self, class: u32, classes: u32) -> bool {
        self.destinations.iter().skip(class as usize).step_by(classes as usize).any(|to| to.waiting + to.sent > 0)
    }

    /// Inserts data of `unit` as a new entry for `destination`; `write`: the host write. There must be a free entry.
    pub(super) fn insert(&mut self, now: Ns, unit: u32, bytes: Change, destination: u32, write: u64) -> u32 {
        let entry = self.free.pop().expect("the caller has asked");
        let older = self.of_unit(unit);
        let waits_behind = older != NONE;
        *self.get_mut(entry) = Entry {
            unit,
            destination,
            // The older entry of the unit has been sent as a whole unit, from which the rest is taken.
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

    /// Adds bytes of the same unit to an entry that has not been sent.
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

    /// Puts an entry in the list of those that wait for a program.
    fn join(&mut self, entry: u32) {
        let Entry { late, destination, .. } = *self.get(entry);
        let to = &mut self.destinations[destination as usize];
        self.destination_links.push(&mut to.list, entry);
        to.waiting += 1;
        to.late += u32::from(late);
        self.note(destination);
    }

    fn leave(&mut self, entry: u32) {
        let Entry { late, sorted, destination, .. } = *self.get(entry);
        let from = &mut self.destinations[destination as usize];
        self.destination_links.unlink(&mut from.list, entry);
        from.waiting -= 1;
        from.sorted -= u32::from(sorted);
        from.late -= u32::from(late);
        if !late {
            self.age_links.unlink(&mut self.by_age, entry);
        }
    }

    /// The oldest entry that waits and is not late, and when it was inserted.
    pub(super) fn oldest(&self) -> Option<(u32, Ns)> {
        Some(self.by_age.head).filter(|&entry| entry != NONE).map(|entry| (entry, self.get(entry).since))
    }

    /// Makes an entry that is not late yet late: it no longer waits for others to fill its program.
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

    /// Records that something has changed at a destination.
    pub(super) fn note(&mut self, destination: u32) {
        let to = &mut self.destinations[destination as usize];
        if !std::mem::replace(&mut to.noted, true) {
            self.noted.push_back(destination);
        }
    }

    /// Takes the destination that was noted first: a program to it may be due.
    pub(super) fn next_noted(&mut self) -> Option<u32> {
        let number = self.noted.pop_front()?;
        self.destinations[number as usize].noted = false;
        Some(number)
    }

    /// Some entry waiting for a destination does not wait for others to fill its program.
    pub(super) fn has_late(&self, destination: u32) -> bool {
        self.destination(destination).late > 0
    }

    /// The first `count` entries that wait for a program to a destination.
    pub(super) fn first_of(&self, destination: u32, count: u32) -> impl Iterator<Item = u32> + '_ {
        self.destination_links.chain(self.destination(destination).list).take(count as usize)
    }

    /// Puts the first `count` entries that wait for a destination in the order of their addresses.
    pub(super) fn sort(&mut self, destination: u32, count: u32) {
        let mut waiting: Vec<u32> = self.destination_links.chain(self.destination(destination).list).collect();
        waiting[..count as usize].sort_unstable_by_key(|&entry| self.get(entry).unit);
        let to = &mut self.destinations[destination as usize];
        for &entry in &waiting {
            self.destination_links.unlink(&mut to.list, entry);
            self.destination_links.push(&mut to.list, entry);
        }
        to.sorted = count;
        waiting[..count as usize].iter().for_each(|&entry| self.get_mut(entry).sorted = true);
    }

    /// Marks the first `count` waiting entries as sent with one program. Returns the first; the others follow by [`Entry::next`].
    pub(super) fn send(&mut self, destination: u32, count: u32) -> u32 {
        let first = self.destination(destination).list.head;
        let mut entry = first;
        for left in (0..count).rev() {
            self.leave(entry);
            let next = if left == 0 { NONE } else { self.destination(destination).list.head };
            let whole = (0, self.unit_bytes);
            let sent = self.get_mut(entry);
            (sent.progress, sent.next) = (Progress::Sent, next);
            // Even if the rest is not read (`ftl.partial_write = "program"`), the unit counts as whole from now on.
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

    /// The data of an entry are in flash: the entry becomes free, and the entry behind it waits for a program.
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

    /// Trims the unit of its youngest entry: reads no longer find the entry, and unless it has been sent it is not programmed.
    pub(super) fn trim(&mut self, entry: u32) {
        let Entry { unit, destination, progress, filling, next, .. } = *self.get(entry);
        self.youngest.remove(unit);
        match progress {
            Progress::Sent => return,
            Progress::Behind => {
                self.get_mut(next).behind = NONE;
                if !self.get(entry).late {
                    self.age_links.unlink(&mut self.by_age, entry);
                }
            }
            Progress::Waits => {
                self.leave(entry);
                // The units behind may have waited for the rest of this one.
                self.note(destination);
            }
            Progress::Free | Progress::Dropped => unreachable!("no unit has such an entry"),
        }
        if filling {
            self.get_mut(entry).progress = Progress::Dropped;
        } else {
            self.free(entry);
        }
    }

    /// Frees an entry that is no longer needed.
    pub(super) fn free(&mut self, entry: u32) {
        self.get_mut(entry).progress = Progress::Free;
        self.free.push(entry);
    }

    /// The youngest entry of each unit from `first` to before `end`, as far as reads may find one, by unit.
    pub(super) fn within(&self, first: u32, end: u32) -> Vec<u32> {
        if (end - first) as usize <= self.youngest.len() {
            return (first..end).map(|unit| self.of_unit(unit)).filter(|&entry| entry != NONE).collect();
        }
        let mut found: Vec<(u32, u32)> = self.youngest.iter().filter(|(unit, _)| (first..end).contains(unit)).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, entry)| entry).collect()
    }

    /// Data inserted before `instant` are not in flash yet. Looks at every entry: for verify mode.
    pub(super) fn any_before(&self, instant: Ns) -> bool {
        let unwritten = |entry: &Entry| !matches!(entry.progress, Progress::Free | Progress::Dropped);
        self.all.iter().any(|entry| unwritten(entry) && entry.since < instant)
    }

    /// The units whose data are not in flash, with the oldest host write of each entry.
    pub(super) fn not_in_flash(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let unwritten = self.all.iter().filter(|entry| !matches!(entry.progress, Progress::Free | Progress::Dropped));
        unwritten.map(|entry| (entry.unit, entry.first_write))
    }

    /// All entries that reads may find.
    pub(super) fn findable(&self) -> impl Iterator<Item = &Entry> {
        self.youngest.iter().map(|(_, entry)| self.get(entry))
    }

    /// Checks that lists and counters (free, waiting, late, by age, youngest) agree with the entries.
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
        let front = |to: &Destination| {
            let units = self.destination_links.chain(to.list).map(|entry| self.get(entry));
            let sorted: Vec<u32> = units.take_while(|entry| entry.sorted).map(|entry| entry.unit).collect();
            sorted.len() == to.sorted as usize && sorted.is_sorted()
        };
        if !self.destinations.iter().all(front) {
            return Err("the units at the front of the write buffer are not in the order of their addresses".into());
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

/// The bytes of a unit that are present after writes of `a` and `b`; [`SCATTERED`] if they are not consecutive.
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
