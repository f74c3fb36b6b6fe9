//! Packing, where a program takes several mapping units: the moved units in the controller's buffer, and which of them share a program.
//!
//! The units of one class ([`Class`]) share programs, and a class is programmed when it fills one. At the end of a job the units that are
//! left of each class have a program of their own, with padding, as long as the job then still gains a program
//! ([`Ftl::most_programs`](crate::ftl::Ftl::most_programs)). If there are too few programs for that, units of several classes share one.

use super::Move;
use crate::ftl::Class;
use ssdlab_keys::config::STREAMS_MAX;

/// Units by class.
pub(super) type Counts = [u16; STREAMS_MAX];

/// The units of a job in the controller's buffer.
#[derive(Clone, Debug)]
pub(super) struct Packing {
    /// In the order of the reads that brought them.
    units: Vec<Move>,
    /// Units of each class. Only where there are several.
    counts: Counts,
    /// Number of classes of page moves; 1: all units share programs.
    classes: u8,
    per_program: usize,
}

impl Packing {
    /// No units; with room for those that wait until `programs` programs are filled.
    pub(super) fn new(per_program: u32, classes: u8, programs: u32) -> Self {
        let per_program = per_program as usize;
        // The last read may bring up to a program of units more, and each class but one may lack one unit.
        let room = per_program * (programs as usize + usize::from(classes));
        Packing { units: Vec::with_capacity(room), counts: [0; STREAMS_MAX], classes, per_program }
    }

    pub(super) fn units(&self) -> &[Move] {
        &self.units
    }

    pub(super) fn units_mut(&mut self) -> &mut [Move] {
        &mut self.units
    }

    /// The units of a block have one class.
    pub(super) fn has_one_class(&self) -> bool {
        self.classes == 1
    }

    /// Adds units of one class, and leaves none in `units`.
    pub(super) fn append(&mut self, units: &mut Vec<Move>, class: Class) {
        if class != 0 {
            units.iter_mut().for_each(|moved| moved.class = class);
        }
        self.units.append(units);
    }

    pub(super) fn push(&mut self, moved: Move) {
        if self.classes > 1 {
            self.counts[usize::from(moved.class)] += 1;
        }
        self.units.push(moved);
    }

    /// Puts units back whose program has failed, ahead of the others.
    pub(super) fn put_back(&mut self, units: impl Iterator<Item = Move>) {
        self.units.splice(0..0, units);
        self.recount();
    }

    /// Drops the units that are not needed any more. Returns their number.
    pub(super) fn keep(&mut self, is_needed: impl Fn(&Move) -> bool) -> u32 {
        let before = self.units.len();
        self.units.retain(is_needed);
        self.recount();
        (before - self.units.len()) as u32
    }

    fn recount(&mut self) {
        if self.classes > 1 {
            self.counts = [0; STREAMS_MAX];
            self.units.iter().for_each(|moved| self.counts[usize::from(moved.class)] += 1);
        }
    }

    /// Number of programs that the units fill.
    pub(super) fn filled(&self) -> usize {
        if self.classes == 1 { self.units.len() / self.per_program } else { self.filled_by(&self.counts) }
    }

    /// Number of programs that the units for which `is_needed` is true fill, and their number.
    pub(super) fn needed(&self, is_needed: impl Fn(&Move) -> bool) -> (usize, usize) {
        let needed = self.units.iter().filter(|moved| is_needed(moved));
        if self.classes == 1 {
            let all = needed.count();
            return (all / self.per_program, all);
        }
        let (mut counts, mut all) = ([0; STREAMS_MAX], 0);
        for moved in needed {
            counts[usize::from(moved.class)] += 1;
            all += 1;
        }
        (self.filled_by(&counts), all)
    }

    fn filled_by(&self, counts: &Counts) -> usize {
        let classes = &counts[..usize::from(self.classes)];
        classes.iter().map(|&units| usize::from(units) / self.per_program).sum()
    }

    /// Number of classes that have units.
    pub(super) fn classes_left(&self) -> u32 {
        if self.classes == 1 { 1 } else { self.counts.iter().filter(|&&units| units > 0).count() as u32 }
    }

    /// The class of the next program, and whether units of all classes share it. `allowed`: programs that the job may still begin.
    ///
    /// Of the classes that fill a program that of the oldest unit goes first. If none does, all that is left is programmed.
    pub(super) fn next(&self, allowed: u32) -> Option<(Class, bool)> {
        let first = self.units.first()?.class;
        if self.classes == 1 {
            return Some((first, false));
        }
        let fills = |class: Class| usize::from(self.counts[usize::from(class)]) >= self.per_program;
        if let Some(full) = self.units.iter().map(|moved| moved.class).find(|&class| fills(class)) {
            return Some((full, false));
        }
        Some((first, self.classes_left() > allowed))
    }

    /// Moves the units of the next program to `into`, and returns its class; `None` without units. `allowed`: programs that the job may still
    /// begin, this one included.
    pub(super) fn take(&mut self, allowed: u32, into: &mut Vec<Move>) -> Option<Class> {
        let (class, mixed) = self.next(allowed)?;
        self.take_of(class, mixed, into);
        Some(class)
    }

    /// Moves the units of a program of this class to `into`, the oldest first; `mixed`: units of all classes.
    pub(super) fn take_of(&mut self, class: Class, mixed: bool, into: &mut Vec<Move>) {
        let first = into.len();
        if self.classes == 1 {
            let count = self.per_program.min(self.units.len());
            into.extend(self.units.drain(..count));
        } else {
            let Packing { units, counts, per_program, .. } = self;
            units.retain(|moved| {
                let taken = into.len() - first < *per_program && (mixed || moved.class == class);
                if taken {
                    counts[usize::from(moved.class)] -= 1;
                    into.push(*moved);
                }
                !taken
            });
        }
    }

    /// Gives up all units.
    pub(super) fn give_up(&mut self) -> Vec<Move> {
        self.counts = [0; STREAMS_MAX];
        std::mem::take(&mut self.units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_base::units::{Lpn, Ppn};

    /// Units of these classes, in programs of four.
    fn packing(classes: &[Class]) -> Packing {
        let mut packing = Packing::new(4, 3, 1);
        for (&class, unit) in classes.iter().zip(0..) {
            packing.push(Move { class, ..Move::new(Lpn(unit), Ppn(unit)) });
        }
        packing
    }

    /// The programs of a packing: class and units. `allowed`: programs that the job may begin.
    fn programs(mut packing: Packing, allowed: u32) -> Vec<(Class, Vec<u32>)> {
        let mut programs = Vec::new();
        loop {
            let mut units = Vec::new();
            let Some(class) = packing.take(allowed - programs.len() as u32, &mut units) else { return programs };
            programs.push((class, units.iter().map(|moved| moved.lpn.0).collect()));
        }
    }

    /// Units 1, 2, 4 and 6 of class 1 fill a program; units 0 and 3 of class 0, and unit 5 of class 2 do not.
    #[test]
    fn a_class_that_fills_a_program_goes_first_and_the_rest_of_each_has_its_own() {
        let classes = [0, 1, 1, 0, 1, 2, 1];
        assert_eq!(packing(&classes).filled(), 1);
        assert_eq!(programs(packing(&classes), 3), [(1, vec![1, 2, 4, 6]), (0, vec![0, 3]), (2, vec![5])]);
    }

    /// Where a block has units of one class, whichever, they share programs, and there may be any number of them one after the other.
    #[test]
    fn units_of_one_class_are_not_told_apart() {
        let mut packing = Packing::new(4, 1, 1);
        let mut units = Vec::new();
        for unit in 0..100_000 {
            packing.push(Move { class: 2, ..Move::new(Lpn(unit), Ppn(unit)) });
            assert_eq!(packing.needed(|_| true), (packing.filled(), packing.units().len()));
            if packing.filled() > 0 {
                assert_eq!(packing.take(1, &mut units), Some(2));
            }
        }
        assert_eq!((units.len(), packing.units().len()), (100_000, 0));
    }

    /// With one program left for the rests of two classes they share it.
    #[test]
    fn rests_share_a_program_where_the_job_would_gain_none() {
        assert_eq!(programs(packing(&[0, 1, 1, 0, 1, 2, 1]), 2), [(1, vec![1, 2, 4, 6]), (0, vec![0, 3, 5])]);
        // Seven units of three classes, of which none fills a program, in two programs.
        assert_eq!(programs(packing(&[2, 0, 1, 2, 0, 1, 2]), 2), [(2, vec![0, 1, 2, 3]), (0, vec![4, 5, 6])]);
    }
}
