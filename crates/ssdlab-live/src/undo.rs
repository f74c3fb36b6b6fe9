//! Takes back writes that a power failure loses: keeps the bytes that writes replaced, until those writes cannot be lost any more.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::io;

use crate::contents::Contents;

/// Number of units noted from which on those that are in flash are forgotten.
const NOTED: usize = 4096;

/// Bytes of a unit before a write; `None`: zeros.
struct Before {
    write: u64,
    bytes: Option<Box<[u8]>>,
}

/// Units whose newest data a power failure would lose now, each with the oldest completed write among those lost, if there is one.
pub type Volatile = HashMap<u32, Option<u64>>;

/// Losses of a power failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Number of completed writes of which bytes are lost.
    pub writes: u64,
    /// Bytes of mapping units that are as they were before a completed write.
    pub bytes: u64,
}

/// Bytes that writes replaced, by mapping unit, oldest write first.
pub struct Undo {
    unit_bytes: u64,
    exported_bytes: u64,
    /// Writes that have completed may be lost, unless a flush came after them.
    volatile: bool,
    by_unit: HashMap<u32, VecDeque<Before>>,
    noted: usize,
    /// Number of units noted from which on [`Undo::is_long`] holds.
    limit: usize,
}

impl Undo {
    /// An empty record for a drive of `exported_bytes` with mapping units of `unit_bytes`. `volatile`: completed writes may be lost.
    pub fn new(exported_bytes: u64, unit_bytes: u32, volatile: bool) -> Self {
        Undo { unit_bytes: unit_bytes.into(), exported_bytes, volatile, by_unit: HashMap::new(), noted: 0, limit: NOTED }
    }

    fn units(&self, offset: u64, length: u64) -> impl Iterator<Item = u32> + use<> {
        let unit = self.unit_bytes;
        (offset / unit..(offset + length).div_ceil(unit)).map(|unit| unit as u32)
    }

    fn bytes_of(&self, unit: u32) -> (u64, usize) {
        let from = u64::from(unit) * self.unit_bytes;
        (from, self.unit_bytes.min(self.exported_bytes - from) as usize)
    }

    /// Notes the bytes that a write is about to replace.
    ///
    /// # Errors
    /// Errors of reading the bytes. Then nothing is noted.
    pub fn note(&mut self, write: u64, offset: u64, length_of_write: u64, contents: &dyn Contents) -> io::Result<()> {
        for unit in self.units(offset, length_of_write) {
            let (from, length) = self.bytes_of(unit);
            let mut bytes = vec![0; length];
            if let Err(reason) = contents.read(from, &mut bytes) {
                self.forget(write, offset, length_of_write);
                return Err(reason);
            }
            let bytes = bytes.iter().any(|&byte| byte != 0).then(|| bytes.into_boxed_slice());
            self.by_unit.entry(unit).or_default().push_back(Before { write, bytes });
            self.noted += 1;
        }
        Ok(())
    }

    /// Forgets a write that was noted but not made.
    pub fn forget(&mut self, write: u64, offset: u64, length: u64) {
        for unit in self.units(offset, length) {
            self.keep(unit, |before| before.write != write);
        }
    }

    /// Sets noted bytes of a trimmed range to zeros, as no power failure undoes a trim.
    pub fn trimmed(&mut self, offset: u64, length: u64) {
        let (end, units) = (offset + length, self.units(offset, length));
        // A range may be far larger than what is noted.
        let noted: Vec<u32> = if length / self.unit_bytes > self.by_unit.len() as u64 {
            self.by_unit
                .keys()
                .copied()
                .filter(|&unit| (offset / self.unit_bytes..end.div_ceil(self.unit_bytes)).contains(&unit.into()))
                .collect()
        } else {
            units.collect()
        };
        for unit in noted {
            let (from, length) = self.bytes_of(unit);
            let within = (offset.saturating_sub(from) as usize).min(length)..(end.saturating_sub(from) as usize).min(length);
            for before in self.by_unit.get_mut(&unit).into_iter().flatten() {
                before.bytes.iter_mut().for_each(|bytes| bytes[within.clone()].fill(0));
            }
        }
    }

    /// Notes that a write has completed. Where completed writes cannot be lost, it and older writes of its units are forgotten.
    pub fn completes(&mut self, write: u64, offset: u64, length: u64) {
        if !self.volatile {
            for unit in self.units(offset, length) {
                self.keep(unit, |before| before.write > write);
            }
        }
    }

    fn keep(&mut self, unit: u32, keep: impl Fn(&Before) -> bool) {
        let Some(all) = self.by_unit.get_mut(&unit) else { return };
        self.noted -= all.len();
        all.retain(keep);
        self.noted += all.len();
        if all.is_empty() {
            self.by_unit.remove(&unit);
        }
    }

    /// Whether to call [`Undo::forget_safe`] with the units that are volatile now.
    pub fn is_long(&self) -> bool {
        self.volatile && self.noted > self.limit
    }

    /// Forgets writes that no power failure takes back any more.
    pub fn forget_safe(&mut self, volatile: &Volatile) {
        for unit in self.by_unit.keys().copied().collect::<Vec<_>>() {
            match volatile.get(&unit) {
                None => self.keep(unit, |_| false),
                Some(None) => (),
                Some(&Some(oldest)) => self.keep(unit, |before| before.write >= oldest),
            }
        }
        self.limit = NOTED.max(2 * self.noted);
    }

    /// Takes back what a power failure loses: units become what they were before the lost writes. `is_complete`: whether a write has
    /// completed. Returns the losses, and whether all bytes could be written.
    pub fn take_back(
        &mut self,
        volatile: &Volatile,
        is_complete: impl Fn(u64) -> bool,
        contents: &mut dyn Contents,
    ) -> (Lost, io::Result<()>) {
        let (mut writes, mut lost, mut done) = (BTreeSet::new(), Lost::default(), Ok(()));
        let mut old = Vec::new();
        // In the order of their addresses, so that a failure is the same each time.
        let mut units: Vec<_> = volatile.iter().collect();
        units.sort_unstable();
        for (&unit, &oldest) in units {
            let Some(noted) = self.by_unit.get_mut(&unit) else { continue };
            let is_lost = |before: &Before| oldest.is_some_and(|oldest| before.write >= oldest) || !is_complete(before.write);
            let (mut last, mut any_complete) = (None, false);
            while noted.back().is_some_and(is_lost) {
                last = noted.pop_back();
                let write = last.as_ref().map(|before| before.write).filter(|&write| is_complete(write));
                any_complete |= write.is_some();
                writes.extend(write);
            }
            let Some(Before { bytes, .. }) = last else { continue };
            let (from, length) = self.bytes_of(unit);
            lost.bytes += if any_complete { length as u64 } else { 0 };
            // On a full disk, clearing first makes room for what is written.
            done = done.and(contents.clear(from, length as u64));
            old.extend(bytes.map(|bytes| (from, bytes)));
        }
        for (from, bytes) in old {
            done = done.and(contents.write(from, &bytes));
        }
        lost.writes = writes.len() as u64;
        (lost, done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::Memory;

    const UNIT: u32 = 4;

    struct Drive {
        undo: Undo,
        bytes: Memory,
    }

    impl Drive {
        fn new(volatile: bool) -> Self {
            Drive { undo: Undo::new(18, UNIT, volatile), bytes: Memory::default() }
        }

        fn write(&mut self, number: u64, offset: u64, bytes: &[u8]) {
            self.undo.note(number, offset, bytes.len() as u64, &self.bytes).unwrap();
            self.bytes.write(offset, bytes).unwrap();
        }

        fn cut(&mut self, volatile: &[(u32, Option<u64>)], complete: &[u64]) -> (Lost, String) {
            let volatile = volatile.iter().copied().collect();
            let (lost, done) = self.undo.take_back(&volatile, |write| complete.contains(&write), &mut self.bytes);
            done.unwrap();
            let mut all = [0; 18];
            self.bytes.read(0, &mut all).unwrap();
            (lost, all.iter().map(|&byte| if byte == 0 { '.' } else { char::from(byte) }).collect())
        }
    }

    #[test]
    fn a_volatile_unit_becomes_what_it_was_before_its_oldest_lost_write() {
        let mut drive = Drive::new(true);
        drive.write(0, 0, b"aaaaaaaa");
        drive.write(1, 2, b"bbbb");
        drive.write(2, 1, b"c");
        drive.write(3, 16, b"dd");
        let (lost, all) = drive.cut(&[(0, Some(1)), (4, Some(3))], &[0, 1, 2, 3]);
        assert_eq!(all, "aaaabbaa..........", "of the second unit write 1 is in flash");
        assert_eq!(lost, Lost { writes: 3, bytes: 6 });
    }

    #[test]
    fn writes_that_have_not_completed_are_taken_back_up_to_one_that_has() {
        let mut drive = Drive::new(false);
        for (number, letter) in (0..).zip(*b"abc") {
            drive.write(number, 0, &[letter; 4]);
        }
        drive.undo.completes(1, 0, 4);
        let (lost, all) = drive.cut(&[(0, None)], &[1]);
        assert_eq!((lost, &all[..4]), (Lost::default(), "bbbb"), "write 0 has not completed, but is older than one that has");
    }

    #[test]
    fn a_trim_is_not_undone() {
        let mut drive = Drive::new(true);
        drive.write(0, 0, b"aaaaaaaa");
        drive.write(1, 0, b"b");
        drive.undo.trimmed(2, 4);
        drive.bytes.clear(2, 4).unwrap();
        drive.write(2, 3, b"c");
        let (_, all) = drive.cut(&[(0, Some(1)), (1, None)], &[0]);
        assert_eq!(&all[..8], "aa....aa");
        // A range far larger than what is noted.
        let mut drive = Drive::new(true);
        drive.write(0, 0, b"aaaa");
        drive.write(1, 0, b"b");
        drive.undo.trimmed(1, 17);
        assert_eq!(drive.cut(&[(0, Some(1))], &[0, 1]).1, "a.................");
    }

    #[test]
    fn what_is_in_flash_is_forgotten_and_what_is_not_made_too() {
        let mut drive = Drive::new(true);
        drive.write(0, 0, b"aaaa");
        drive.write(1, 0, b"bbbb");
        drive.write(2, 4, b"cccc");
        drive.undo.completes(1, 0, 4);
        assert_eq!(drive.undo.noted, 3, "a volatile drive may lose it all the same");
        drive.undo.forget_safe(&HashMap::from([(0, Some(1))]));
        assert_eq!((drive.undo.noted, drive.undo.by_unit.len()), (1, 1));
        drive.undo.note(3, 2, 4, &drive.bytes).unwrap();
        drive.undo.forget(3, 2, 4);
        assert_eq!((drive.undo.noted, drive.undo.by_unit.len()), (1, 1));
        let (lost, all) = drive.cut(&[(0, Some(1)), (1, Some(2))], &[0, 1, 2]);
        assert_eq!((lost.writes, &all[..8]), (1, "aaaacccc"), "what has been forgotten stays");
    }

    #[test]
    fn memory_is_bounded_by_what_is_volatile() {
        let mut drive = Drive::new(true);
        for number in 0..3 * NOTED as u64 {
            drive.write(number, 0, b"x");
            if drive.undo.is_long() {
                drive.undo.forget_safe(&HashMap::from([(0, Some(number))]));
                assert_eq!(drive.undo.noted, 1);
            }
        }
        assert!(drive.undo.noted <= NOTED + 1);
    }
}
