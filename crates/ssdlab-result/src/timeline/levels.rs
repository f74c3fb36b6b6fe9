//! Levels over time: outstanding requests, waiting operations, free blocks, dirty pages.
//!
//! Levels are read once per instant, after all its events: nothing changes between two instants.

use std::sync::Arc;

use super::Ns;
use super::budget::{Budget, RecordingWindow};

/// Values of levels allowed per slice of the limit: levels end a recording that slices alone would not end.
const VALUES_PER_SLICE: u64 = 4;

/// A quantity that is recorded over time. Drives and chips are given by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Host requests that have arrived and are not complete.
    Outstanding,
    /// Dirty pages in all caches.
    Dirty,
    /// Reads in the queue of a chip.
    Reads {
        /// The drive, from 0.
        drive: u32,
        /// The chip of the drive, from 0.
        chip: u32,
    },
    /// Writes in the queue of a chip.
    Writes {
        /// The drive, from 0.
        drive: u32,
        /// The chip of the drive, from 0.
        chip: u32,
    },
    /// Free blocks of all pools of a drive.
    Free {
        /// The drive, from 0.
        drive: u32,
    },
    /// Free blocks of the pool of a drive that has the fewest.
    Fewest {
        /// The drive, from 0.
        drive: u32,
    },
    /// Temperature of a drive at its last look, whole degrees C; 0 below that.
    Temperature {
        /// The drive, from 0.
        drive: u32,
    },
    /// What the temperature limits: 0 nothing, 1 light and 2 heavy throttling, 3 all.
    Throttling {
        /// The drive, from 0.
        drive: u32,
    },
    /// Power state of a drive, from 1 on; 0 while it is operational, or enters or leaves one.
    PowerState {
        /// The drive, from 0.
        drive: u32,
    },
}

/// The value of a level from a time on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub at: Ns,
    /// Index of the level in [`Levels::levels`].
    pub of: u32,
    pub value: u64,
}

/// Recorder of levels over time.
#[derive(Debug)]
pub struct Levels {
    window: RecordingWindow,
    from: Ns,
    most: u64,
    /// Levels with their latest values.
    pub(super) levels: Vec<(Level, u64)>,
    /// Recorded values, by time, then by level. The first of each level is its value at the beginning of the window.
    pub(super) values: Vec<Value>,
}

impl Levels {
    pub(super) fn new(budget: &Arc<Budget>, limit: u64) -> Self {
        let most = limit.saturating_mul(VALUES_PER_SLICE);
        Levels { window: RecordingWindow::new(budget), from: budget.from, most, levels: Vec::new(), values: Vec::new() }
    }

    /// Records the values that `each` gives, which hold from `now` to `until`. Each call must give the same levels in the same order.
    #[cold]
    pub fn hold(&mut self, now: Ns, until: Ns, each: impl FnOnce(&mut dyn FnMut(Level, u64))) {
        let at = now.max(self.from);
        if until <= self.from || !self.window.is_open(at) {
            return;
        }
        let (levels, values, mut of) = (&mut self.levels, &mut self.values, 0);
        each(&mut |level, value| {
            match levels.get_mut(of as usize) {
                Some((_, before)) if *before == value => {}
                known => {
                    match known {
                        Some((_, before)) => *before = value,
                        None => levels.push((level, value)),
                    }
                    values.push(Value { at, of, value });
                }
            }
            of += 1;
        });
        if self.values.len() as u64 > self.most {
            self.window.stop(at);
        }
    }

    /// Ends recording at the end of the run, if it has not ended before. Returns when it ended, ns.
    pub(super) fn finish(&mut self, end: Ns) -> Ns {
        let end = self.window.finish(end);
        self.values.retain(|value| value.at < end);
        end
    }

    /// Whether each level is ever above 0, by its index.
    pub(super) fn used(&self) -> Vec<bool> {
        let mut used = vec![false; self.levels.len()];
        self.values.iter().filter(|value| value.value > 0).for_each(|value| used[value.of as usize] = true);
        used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(levels: &mut Levels, spans: &[(Ns, Ns, u64)]) -> Vec<(Ns, u64)> {
        for &(now, until, value) in spans {
            levels.hold(now, until, |each| each(Level::Outstanding, value));
        }
        levels.values.iter().map(|value| (value.at, value.value)).collect()
    }

    #[test]
    fn levels_begin_with_the_window_and_are_kept_where_they_change() {
        let mut levels = Levels::new(&Arc::new(Budget::new(100, 400, 10)), 10);
        let spans = [(0, 50, 7), (50, 150, 2), (150, 200, 2), (200, 300, 0), (300, 500, 5), (500, 600, 1)];
        assert_eq!(held(&mut levels, &spans), [(100, 2), (200, 0), (300, 5)]);
        assert_eq!((levels.finish(600), levels.used()), (400, vec![true]));
    }

    #[test]
    fn too_many_values_end_the_recording_of_all() {
        let budget = Arc::new(Budget::new(0, 1000, 1));
        let mut levels = Levels::new(&budget, 1);
        let spans: Vec<_> = (0..9).map(|at| (at, at + 1, at)).collect();
        held(&mut levels, &spans);
        assert_eq!((levels.finish(9), budget.is_full()), (4, true));
        assert_eq!(levels.values.len() as u64, VALUES_PER_SLICE);
    }
}
