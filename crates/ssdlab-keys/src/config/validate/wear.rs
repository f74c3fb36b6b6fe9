//! Checks of wear.

use crate::config::{ArrayLevel, Config, Erase, Leveling, ReclaimUnit};

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

/// Refuses pulses whose number or length is not known.
fn pulses(config: &Config, messages: &mut Vec<String>) {
    let wear = &config.wear;
    let refused = [(
        config.slc.is_on(),
        "blocks in SLC mode: which pulses they need is not modelled; set slc.static_blocks = slc.dynamic_blocks = 0",
    )];
    for (_, why) in refused.iter().filter(|(is, _)| *is) {
        messages.push(format!("wear.erase (erase pulses) does not go with {why}, or wear.erase = \"fixed\""));
    }
    for (key, ns) in [("probe_ns", wear.probe_ns), ("step_ns", wear.step_ns)] {
        if wear.erase == Erase::AsNeeded && ns > wear.pulse_ns {
            messages
                .push(format!("wear.{key} = {ns} ns is longer than a whole pulse: expected at most wear.pulse_ns = {} ns", wear.pulse_ns));
        }
    }
}

const SUPERBLOCK: &str =
    "ftl.reclaim_unit = \"superblock\": what becomes of a superblock without one of its blocks is not modelled; set \"block\"";
const SLC: &str = "blocks in SLC mode: how they wear is not modelled; set slc.static_blocks = slc.dynamic_blocks = 0";

fn failures(config: &Config, messages: &mut Vec<String>) {
    let refused = [
        (config.slc.is_on(), SLC),
        (config.cache.is_on(), "cache: what it does with writes that the drive rejects is not modelled; leave the cache out"),
        (
            config.array.level != ArrayLevel::None,
            "array: what it does with writes that a drive rejects is not modelled; simulate one drive",
        ),
    ];
    for (_, why) in refused.iter().filter(|(is, _)| *is) {
        messages.push(format!(
            "wear (blocks that fail) does not go with {why}, or set wear.endurance, program_fails_ppm and erase_fails_ppm to 0"
        ));
    }
}

fn leveling(config: &Config, messages: &mut Vec<String>) {
    let refused = [(config.ftl.reclaim_unit == ReclaimUnit::Superblock, SUPERBLOCK), (config.slc.is_on(), SLC)];
    for (_, why) in refused.iter().filter(|(is, _)| *is) {
        messages.push(format!("wear.leveling does not go with {why}, or wear.leveling = \"none\""));
    }
    if config.wear.leveling == Leveling::Progressive && config.wear.endurance == 0 {
        messages.push("wear.leveling = \"progressive\": goes by the erases that blocks have left; set wear.endurance above 0".into());
    }
}
