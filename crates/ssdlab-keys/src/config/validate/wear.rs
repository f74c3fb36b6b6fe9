//! Checks of wear.

use crate::config::{Config, Erase, Leveling};

/// Refuses mechanisms for which it is not known what they do when a block fails, or is moved for levelling.
pub(super) fn check(config: &Config, messages: &mut Vec<String>) {
    if config.wear.is_on() {
        failures(config, messages);
    }
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

fn failures(config: &Config, messages: &mut Vec<String>) {
    if config.slc.is_on() && config.accepts_early() {
        messages.push(
            "wear (blocks that fail) does not go with blocks in SLC mode behind what accepts data before they are in flash (buffer, cache, array, \
             ftl.map_cache_bytes): these blocks take more of the place that is kept for such data; leave one of them out, or set \
             wear.endurance, program_fails_ppm and erase_fails_ppm to 0"
                .into(),
        );
    }
}

fn leveling(config: &Config, messages: &mut Vec<String>) {
    if config.wear.leveling == Leveling::Progressive && config.wear.endurance == 0 {
        messages.push("wear.leveling = \"progressive\": goes by the erases that blocks have left; set wear.endurance above 0".into());
    }
}
