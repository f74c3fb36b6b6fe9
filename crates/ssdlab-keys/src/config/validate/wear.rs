//! Checks of wear.

use crate::config::{Config, Erase, Leveling};

/// Refuses levelling that nothing guides, and pulses whose length is not known.
pub(super) fn check(config: &Config, messages: &mut Vec<String>) {
    if config.wear.leveling != Leveling::None {
        leveling(config, messages);
    }
    if config.wear.erase != Erase::Fixed {
        pulses(config, messages);
    }
}

/// Refuses pulses whose length is not known.
fn pulses(config: &Config, messages: &mut Vec<String>) {
    let wear = &config.wear;
    for (key, ns) in [("probe_ns", wear.probe_ns), ("step_ns", wear.step_ns)] {
        if wear.erase == Erase::AsNeeded && ns > wear.pulse_ns {
            messages
                .push(format!("wear.{key} = {ns} ns is longer than a whole pulse: expected at most wear.pulse_ns = {} ns", wear.pulse_ns));
        }
    }
}

fn leveling(config: &Config, messages: &mut Vec<String>) {
    if config.wear.leveling == Leveling::Progressive && config.wear.endurance == 0 {
        messages.push("wear.leveling = \"progressive\": goes by the erases that blocks have left; set wear.endurance above 0".into());
    }
}
