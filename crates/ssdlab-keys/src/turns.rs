//! The turns in which the drives of an array collect (`array.window_us`).

use crate::config::Array;
use ssdlab_base::units::Ns;

/// Drives take turns: turn after turn, each as long as a window, and drive 0 first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    drives: u64,
    window_ns: Ns,
    /// Time from the beginning of a window in which jobs may begin, ns.
    begin_ns: Ns,
}

impl Turns {
    /// The turns of an array; `None` if its drives collect at any time.
    pub fn new(array: &Array) -> Option<Self> {
        let ns = |us: u64| us * 1000;
        (array.window_us > 0).then(|| Turns {
            drives: array.drives.into(),
            window_ns: ns(array.window_us),
            begin_ns: ns(array.window_us.saturating_sub(array.window_tail_us)),
        })
    }

    /// The drive whose window it is.
    pub fn drive_at(&self, now: Ns) -> u32 {
        (now / self.window_ns % self.drives) as u32
    }

    /// A drive may begin jobs: it is in its window, and not in the tail of it.
    pub fn may_begin(&self, drive: u32, now: Ns) -> bool {
        self.drive_at(now) == drive && now % self.window_ns < self.begin_ns
    }

    /// When [`Turns::may_begin`] next changes for a drive, ns: after `now`.
    pub fn next_change(&self, drive: u32, now: Ns) -> Ns {
        let round = self.window_ns * self.drives;
        let first = now / round * round + self.window_ns * u64::from(drive);
        [first, first + self.begin_ns, first + round].into_iter().find(|&at| at > now).unwrap_or(first + round)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three drives, windows of 10 us: jobs begin in the first 7 of them.
    #[test]
    fn drives_take_turns() {
        assert_eq!(Turns::new(&Array::default()), None);
        let turns = Turns::new(&Array { drives: 3, window_us: 10, window_tail_us: 3, ..Array::default() }).unwrap();
        assert_eq!([0, 9_999, 10_000, 29_999, 30_000].map(|now| turns.drive_at(now)), [0, 0, 1, 2, 0]);
        assert_eq!(
            [9_999, 10_000, 16_999, 17_000, 20_000, 40_000].map(|now| turns.may_begin(1, now)),
            [false, true, true, false, false, true]
        );
        let mut changes = vec![0];
        while changes.len() < 5 {
            changes.push(turns.next_change(1, changes[changes.len() - 1]));
        }
        assert_eq!(changes, [0, 10_000, 17_000, 40_000, 47_000]);
        assert_eq!([0, 7_000].map(|now| turns.next_change(0, now)), [7_000, 30_000]);
    }
}
