//! Checks of blocks that fail.

use crate::config::{ArrayLevel, Config, Pace, Placement, ReclaimUnit};

/// Refuses mechanisms for which it is not known what they do when a block fails.
pub(super) fn check(config: &Config, messages: &mut Vec<String>) {
    if !config.wear.is_on() {
        return;
    }
    let refused = [
        (
            config.ftl.reclaim_unit == ReclaimUnit::Superblock,
            "ftl.reclaim_unit = \"superblock\": a superblock without one of its blocks is not modelled; set \"block\"",
        ),
        (config.ftl.placement != Placement::None, "ftl.placement: the room for moves of each stream is not kept; set \"none\""),
        (config.slc.is_on(), "blocks in SLC mode: how they wear is not modelled; set slc.static_blocks = slc.dynamic_blocks = 0"),
        (config.caches_map(), "ftl.map_cache_bytes: updates of the mapping table that the drive rejects are not modelled; set 0"),
        (config.gc.pace != Pace::None, "gc.pace: GC would earn credit for blocks that never come free; set \"none\""),
        (
            config.scheduler.makes_estimates(),
            "scheduler: estimates of ends do not know programs that are repeated; set scheduler.estimates, read_bypass, write_bypass and \
             write_pausing to false",
        ),
        (config.cache.is_on(), "cache: what it does with writes that the drive rejects is not modelled; leave the cache out"),
        (config.buffer.is_on(), "buffer: what it does with writes that the drive rejects is not modelled; set buffer.bytes = 0"),
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
