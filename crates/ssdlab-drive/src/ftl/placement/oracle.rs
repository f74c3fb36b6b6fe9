//! Placement by death time: pages that will be overwritten or trimmed at about the same time share blocks. The writes ahead are foretold.
//!
//! Each page goes to a group by the number of units that the host will write before the page dies. Below the last group, which has all that
//! live longer than four times the logical pages, each group has lives of up to half of those of the next.

use super::Class;
use serde::{Deserialize, Serialize};
use ssdlab_keys::config::{GROUPS_MAX, HORIZON, foretold_writes};

/// Number of a write that is not known.
const NONE: u32 = u32::MAX;

/// The policy. Units written by the host are numbered from 0, in the order in which the drive takes them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Oracle {
    groups: u8,
    /// Upper ends of the lives of all groups but the last.
    bounds: [u64; GROUPS_MAX - 1],
    pages: u32,
    /// Writes that the drive has taken, and writes that are known.
    taken: u32,
    known: u32,
    /// By page: the number of the first write that is known and not taken, of the last one, and when the data in the drive die.
    upcoming: Vec<u32>,
    last: Vec<u32>,
    death: Vec<u32>,
    /// By number of a write, in a ring: the next write to its page, and when its data die.
    next: Vec<u32>,
    dies: Vec<u32>,
    failure: Option<String>,
}

impl Oracle {
    pub(super) fn new(groups: u8, pages: u32) -> Self {
        let longest = HORIZON * u64::from(pages);
        let bounds = std::array::from_fn(|group| longest >> (usize::from(groups) - 2).saturating_sub(group));
        let none = Vec::new;
        Oracle {
            groups,
            bounds,
            pages,
            taken: 0,
            known: 0,
            upcoming: none(),
            last: none(),
            death: none(),
            next: none(),
            dies: none(),
            failure: None,
        }
    }

    /// Forgets what was foretold: other writes come.
    pub(super) fn begin(&mut self) {
        let (pages, ring) = (self.pages as usize, foretold_writes(self.pages.into()) as usize);
        (self.taken, self.known) = (0, 0);
        (self.upcoming, self.last, self.death) = (vec![NONE; pages], vec![NONE; pages], vec![NONE; pages]);
        (self.next, self.dies) = (vec![NONE; ring], vec![NONE; ring]);
    }

    /// Fewer writes are known than `drawn`, or than the drive needs to tell lives apart.
    pub(super) fn wants_more(&self, drawn: u64) -> bool {
        u64::from(self.known) < drawn.max(u64::from(self.taken) + HORIZON * u64::from(self.pages))
    }

    /// A write to this page comes after all that are known.
    pub(super) fn foretell_write(&mut self, page: u32) {
        if self.known == NONE {
            let message = format!("the oracle numbers at most {NONE} units written; shorten the run");
            self.failure.get_or_insert(message);
            return;
        }
        let (number, place) = (self.known, page as usize);
        let at = self.slot(number);
        (self.next[at], self.dies[at]) = (NONE, NONE);
        let current = if self.upcoming[place] == NONE {
            self.upcoming[place] = number;
            &mut self.death[place]
        } else {
            let last = self.slot(self.last[place]);
            self.next[last] = number;
            &mut self.dies[last]
        };
        *current = number.min(*current);
        self.last[place] = number;
        self.known += 1;
    }

    /// A trim of this page comes after all writes that are known.
    pub(super) fn foretell_trim(&mut self, page: u32) {
        let place = page as usize;
        let last = self.slot(self.last[place]);
        let current = if self.upcoming[place] == NONE { &mut self.death[place] } else { &mut self.dies[last] };
        *current = self.known.min(*current);
    }

    fn slot(&self, number: u32) -> usize {
        number as usize % self.next.len()
    }

    /// The class of data of which nothing is known.
    pub(super) fn unknown(&self) -> Class {
        self.groups - 1
    }

    /// The drive takes a write to this page. Before anything is foretold, as while a drive is prepared, nothing is known of any page.
    #[inline]
    pub(super) fn host_class(&mut self, page: u32) -> Class {
        if self.upcoming.is_empty() {
            return self.unknown();
        }
        let place = page as usize;
        let number = self.upcoming[place];
        if number == NONE || (self.known - number) as usize > self.next.len() {
            self.failure.get_or_insert_with(|| {
                format!("page {page} is written, which was not foretold, or too many writes wait; the order of writes must be known ahead")
            });
            return self.unknown();
        }
        let at = self.slot(number);
        (self.upcoming[place], self.death[place]) = (self.next[at], self.dies[at]);
        self.taken += 1;
        self.class(page)
    }

    /// The class of the data that a page holds.
    #[inline]
    pub(super) fn class(&self, page: u32) -> Class {
        match self.death.get(page as usize) {
            None | Some(&NONE) => self.unknown(),
            Some(&death) => {
                let life = u64::from(death.saturating_sub(self.taken));
                self.bounds[..usize::from(self.groups) - 1].iter().filter(|&&bound| life >= bound).count() as Class
            }
        }
    }

    pub(super) fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 64 pages, so that the bounds of four groups are 64, 128 and 256 writes.
    fn oracle(groups: u8, writes: &[u32]) -> Oracle {
        let mut oracle = Oracle::new(groups, 64);
        oracle.begin();
        writes.iter().for_each(|&page| oracle.foretell_write(page));
        oracle
    }

    #[test]
    fn lives_double_from_group_to_group() {
        assert_eq!(Oracle::new(8, 64).bounds, [4, 8, 16, 32, 64, 128, 256]);
        assert_eq!(Oracle::new(4, 64).bounds[..3], [64, 128, 256]);
        assert_eq!(Oracle::new(2, 64).bounds[..1], [256]);
    }

    /// Page 1 is written as number 0, 2, 70 and 200, pages 2 and up in between.
    #[test]
    fn a_write_goes_by_the_life_of_its_data() {
        let mut writes: Vec<u32> = (0..200).map(|number| 2 + number % 62).collect();
        for number in [0, 2, 70] {
            writes[number] = 1;
        }
        writes.push(1);
        let mut oracle = oracle(4, &writes);
        let classes: Vec<_> = writes.iter().map(|&page| (page, oracle.host_class(page))).filter(|write| write.0 == 1).collect();
        // Lives of 1, 67 and 129 writes after the write itself, and one without an end.
        assert_eq!(classes, [(1, 0), (1, 1), (1, 2), (1, 3)]);
        assert_eq!(oracle.take_failure(), None);
    }

    #[test]
    fn data_of_the_prepared_drive_die_by_what_is_foretold_and_grow_older() {
        let mut oracle = oracle(4, &[vec![9; 100], vec![3]].concat());
        assert_eq!([oracle.class(3), oracle.class(9), oracle.class(5)], [1, 0, 3]);
        (0..50).for_each(|_| _ = oracle.host_class(9));
        assert_eq!(oracle.class(3), 0, "50 writes are left");
    }

    #[test]
    fn a_trim_ends_a_life() {
        let mut oracle = oracle(4, &[1, 2]);
        oracle.foretell_trim(1);
        (0..300).for_each(|_| oracle.foretell_write(2));
        oracle.foretell_write(1);
        assert_eq!(oracle.host_class(1), 0, "trimmed after one more write");
        (0..301).for_each(|_| _ = oracle.host_class(2));
        assert_eq!(oracle.host_class(1), 3, "written anew, and never again");
        assert_eq!(oracle.take_failure(), None);
    }

    #[test]
    fn a_write_that_was_not_foretold_is_a_failure() {
        let mut oracle = oracle(4, &[1]);
        oracle.host_class(2);
        assert!(oracle.take_failure().unwrap().starts_with("page 2 is written, which was not foretold"));
    }
}
