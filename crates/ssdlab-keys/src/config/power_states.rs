//! Power states: how little a drive draws while it is idle, and how long it takes to come back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Config;
use ssdlab_base::units::Ns;

/// Most power states of a drive.
pub const POWER_STATES_MAX: usize = 4;
/// The default of `idle_us`: this many times the latencies of the state together, as Linux before 5.14 sets it up for NVMe drives.
const LINUX_FACTOR: u64 = 50;

/// Power states that a drive enters by itself while it is idle (NVMe: non-operational power states, autonomous power state transitions).
/// Each list has an entry for each state, the shallowest first, at most four. Off with empty lists. In an array each drive has states of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PowerStates {
    /// Power of the drive in each state, mW: all that it draws, in place of `energy.idle_mw`.
    #[schemars(inner(range(min = 0.0, max = 1000000.0)))]
    pub power_mw: Vec<f64>,
    /// Entry latency of each state, us: a command that comes meanwhile waits for its end, and for the exit.
    #[schemars(inner(range(min = 1, max = 1000000000)))]
    pub entry_us: Vec<u64>,
    /// Exit latency of each state, us: a command that comes waits for it.
    #[schemars(inner(range(min = 1, max = 1000000000)))]
    pub exit_us: Vec<u64>,
    /// Idle time before each state, us, in the state before it (NVMe: idle time prior to transition): without a command outstanding or a flash operation
    /// under way. Empty: 50 times `entry_us` + `exit_us`, as Linux did before 5.14.
    #[schemars(inner(range(min = 0, max = 1000000000)))]
    pub idle_us: Vec<u64>,
}

impl PowerStates {
    /// Drives have power states.
    pub fn is_on(&self) -> bool {
        !self.power_mw.is_empty()
    }

    /// The states, the shallowest first.
    pub fn states(&self) -> Vec<PowerState> {
        let of = |list: &[u64], state: usize| list.get(state).copied().unwrap_or(0) * 1000;
        let state = |(state, power_mw): (usize, &f64)| {
            let (entry_ns, exit_ns) = (of(&self.entry_us, state), of(&self.exit_us, state));
            let idle_ns = if self.idle_us.is_empty() { LINUX_FACTOR * (entry_ns + exit_ns) } else { of(&self.idle_us, state) };
            PowerState { power_uw: (power_mw * 1e3).round() as u64, entry_ns, exit_ns, idle_ns }
        };
        self.power_mw.iter().enumerate().map(state).collect()
    }
}

/// A power state in integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerState {
    /// What the drive draws in it, uW.
    pub power_uw: u64,
    /// Time to enter it, ns.
    pub entry_ns: Ns,
    /// Time to leave it, ns.
    pub exit_ns: Ns,
    /// Idle time in the state before it after which the drive begins to enter it, ns.
    pub idle_ns: Ns,
}

/// Checks the lists of power states, and their relation to `energy`.
pub(super) fn check(config: &Config, messages: &mut Vec<String>) {
    let PowerStates { power_mw, entry_us, exit_us, idle_us } = &config.power_states;
    let (states, given) = (power_mw.len(), messages.len());
    for (key, entries) in [("entry_us", entry_us.len()), ("exit_us", exit_us.len()), ("idle_us", idle_us.len())] {
        if entries != states && !(key == "idle_us" && entries == 0) {
            messages.push(format!(
                "power_states.{key}: has {entries} entries, and power_states.power_mw has {states}; give one for each power state"
            ));
        }
    }
    if states > POWER_STATES_MAX {
        messages.push(format!("power_states.power_mw: has {states} entries; a drive has at most {POWER_STATES_MAX} power states"));
    }
    if messages.len() == given {
        order(config, messages);
    }
}

/// Checks that a deeper state draws no more.
fn order(config: &Config, messages: &mut Vec<String>) {
    let (given, idle_mw) = (&config.power_states.power_mw, config.energy.idle_mw);
    if given.first().is_some_and(|&first| first > idle_mw) {
        messages.push(format!(
            "power_states.power_mw[0] = {}: more than energy.idle_mw = {idle_mw}, which the operational drive draws; set energy.idle_mw, or a lower \
             power",
            given[0]
        ));
    }
    for (deeper, pair) in (1..).zip(given.windows(2)) {
        if pair[1] > pair[0] {
            messages.push(format!(
                "power_states.power_mw[{deeper}] = {}: more than the {} of the state before it; list the states from the shallowest to the deepest",
                pair[1], pair[0]
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(change: impl FnOnce(&mut Config)) -> Vec<String> {
        let mut config = Config::default();
        config.energy.idle_mw = 100.0;
        config.power_states =
            PowerStates { power_mw: vec![40.0, 5.0], entry_us: vec![210, 2_000], exit_us: vec![1_200, 8_000], idle_us: Vec::new() };
        change(&mut config);
        let mut messages = Vec::new();
        check(&config, &mut messages);
        messages
    }

    /// 50 x (210 + 1200) and 50 x (2000 + 8000) us.
    #[test]
    fn idle_times_are_those_of_linux_by_default() {
        let mut config = Config::default();
        (config.power_states.power_mw, config.power_states.entry_us) = (vec![40.0, 5.0], vec![210, 2_000]);
        config.power_states.exit_us = vec![1_200, 8_000];
        let idle: Vec<_> = config.power_states.states().iter().map(|state| state.idle_ns).collect();
        assert_eq!(idle, [70_500_000, 500_000_000]);
    }

    #[test]
    fn states_that_contradict_each_other_are_refused() {
        assert!(messages(|_| ()).is_empty());
        let first = |change: fn(&mut Config)| messages(change).remove(0);
        assert!(first(|c| c.power_states.exit_us = vec![1]).contains("exit_us: has 1 entries, and power_states.power_mw has 2"));
        assert!(first(|c| c.energy.idle_mw = 30.0).contains("power_mw[0] = 40: more than energy.idle_mw = 30"));
        assert!(first(|c| c.power_states.power_mw = vec![5.0, 40.0]).contains("power_mw[1] = 40: more than the 5"));
        assert!(first(|c| c.power_states.idle_us = vec![1]).contains("idle_us: has 1 entries"));
        let five = |c: &mut Config| {
            c.power_states = PowerStates { power_mw: vec![1.0; 5], entry_us: vec![1; 5], exit_us: vec![1; 5], idle_us: Vec::new() };
        };
        assert!(messages(five)[0].contains("has 5 entries; a drive has at most 4 power states"));
    }
}
