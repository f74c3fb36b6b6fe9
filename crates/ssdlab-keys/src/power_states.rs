//! What became of the power states of drives.

use crate::config::POWER_STATES_MAX;

/// Counts and times of power states, summed over drives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerStateStats {
    /// Number of states of a drive.
    pub states: usize,
    /// By state: how often it was entered.
    pub entries: [u64; POWER_STATES_MAX],
    /// By state: time in it, without that of entry and exit, ns.
    pub in_ns: [u128; POWER_STATES_MAX],
    /// Time of entries and exits, ns.
    pub changing_ns: u128,
    /// How often a command woke a drive.
    pub wakes: u64,
    /// How often work of its own woke a drive.
    pub background_wakes: u64,
}

impl PowerStateStats {
    /// The statistics of both drives.
    #[must_use]
    pub fn joined(self, other: PowerStateStats) -> Self {
        self.each(other, |a, b| a + b, |a, b| a + b)
    }

    /// The statistics since `before`.
    #[must_use]
    pub fn since(self, before: &PowerStateStats) -> Self {
        self.each(*before, |now, then| now - then, |now, then| now - then)
    }

    fn each(self, other: PowerStateStats, count: impl Fn(u64, u64) -> u64, time: impl Fn(u128, u128) -> u128) -> Self {
        PowerStateStats {
            states: self.states,
            entries: std::array::from_fn(|state| count(self.entries[state], other.entries[state])),
            in_ns: std::array::from_fn(|state| time(self.in_ns[state], other.in_ns[state])),
            changing_ns: time(self.changing_ns, other.changing_ns),
            wakes: count(self.wakes, other.wakes),
            background_wakes: count(self.background_wakes, other.background_wakes),
        }
    }
}
