//! Checks of a cache of blocks in SLC mode.

use crate::config::{Config, SlcFull, Streams};

/// Checks that the cache can be simulated together with all other keys, and that something empties it.
pub(super) fn check(config: &Config, messages: &mut Vec<String>) {
    if !config.slc.is_on() {
        return;
    }
    bits(config, messages);
    let slc = &config.slc;
    if slc.static_blocks >= config.device.blocks_per_plane {
        messages.push(format!(
            "slc.static_blocks = {}: leaves no other block of the {} of a plane (device.blocks_per_plane); lower it",
            slc.static_blocks, config.device.blocks_per_plane
        ));
    }
    // For space, only blocks of the dynamic part are folded.
    if slc.static_blocks > 0 && slc.full == SlcFull::Direct && slc.idle_us == 0 && slc.fold_level == 0.0 {
        messages.push(
            "slc.static_blocks: nothing would ever fold these blocks; set slc.idle_us or slc.fold_level above 0, or slc.full = \"fold\""
                .into(),
        );
    }
    let streams = Streams::new(config);
    let (open, blocks) = (u32::from(streams.count - streams.slc), slc.static_blocks.saturating_add(slc.dynamic_blocks));
    if slc.full == SlcFull::Fold && blocks.saturating_mul(config.planes_per_pool()) < open {
        messages.push(format!(
            "slc.full = \"fold\": {open} classes of writes (ftl.placement, ftl.map_cache_bytes) have an open block each, and a pool has fewer \
             blocks in SLC mode; raise slc.static_blocks or slc.dynamic_blocks, or set slc.full = \"direct\""
        ));
    }
    if slc.bits_per_cell > 1 && config.slc_units_per_block() == 0 {
        messages.push(format!(
            "slc.bits_per_cell = {}: a block in SLC mode would hold less than a program; raise device.pages_per_block",
            slc.bits_per_cell
        ));
    }
}

/// The bits per cell agree with what the flash says of itself.
fn bits(config: &Config, messages: &mut Vec<String>) {
    let (device, bits) = (&config.device, config.slc.bits_per_cell);
    let pages = device.pages_per_program;
    if pages > 1 && pages != bits {
        messages.push(format!(
            "slc.bits_per_cell = {bits}: a program writes all {pages} pages of a word line (device.pages_per_program); set it to {pages}"
        ));
    }
    for (key, types) in [("read_ns_by_page", device.read_ns_by_page.len()), ("program_ns_by_page", device.program_ns_by_page.len())] {
        if (2..=4).contains(&types) && types != bits as usize {
            messages
                .push(format!("slc.bits_per_cell = {bits}: device.{key} has {types} types of pages, one for each bit; set it to {types}"));
        }
    }
}
