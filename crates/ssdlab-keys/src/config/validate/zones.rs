//! Checks of zones.

use crate::config::zones::fills_programs;
use crate::config::{Allocation, ArrayLevel, Capacity, Config, LogVictim, PreconditionKind, RangePolicy, SuperblockSpan, UnmappedRead};

/// Checks that nothing above the zones changes the order of writes, that a zone is whole blocks, and that preparation can leave zones.
pub(super) fn check(config: &Config, messages: &mut Vec<String>) {
    if !config.has_zones() {
        return;
    }
    let zones = &config.zones;
    let mut needs = |what: &str| messages.push(format!("ftl.placement = \"zones\": {what}"));
    for (refused, what) in [
        (config.array.level != ArrayLevel::None, "an array has no zones of its own; set array.level = \"none\""),
        (config.cache.is_on(), "a cache does not write in the order of the host; set cache.policy = \"none\""),
        (config.slc.is_on(), "folding would mix zones in a block; set slc.static_blocks = 0 and slc.dynamic_blocks = 0"),
        (config.caches_map(), "zones need few mapping entries, which are all in memory; set ftl.map_cache_bytes = 0"),
        (config.buffer.sort_units > 0, "zones are written in order, so that there is nothing to sort; set buffer.sort_units = 0"),
        (config.maps_by_segments(), "zones need few mapping entries, without models; set ftl.map_models = \"none\""),
        (
            !matches!(config.ftl.precondition.kind, PreconditionKind::None | PreconditionKind::Fill),
            "the drive cannot be overwritten at random; set ftl.precondition.kind = \"none\" (all zones empty) or \"fill\" (all full)",
        ),
        (config.ftl.precondition.settle > 0.0, "the drive cannot be overwritten at random; set ftl.precondition.settle = 0"),
        (
            config.workload.range != RangePolicy::Error && config.workload.reads_traces() && !config.has_log(),
            "commands of a trace name zones by their addresses, which must not change; set workload.range = \"error\"",
        ),
        (
            (config.ftl.allocation == Allocation::Dynamic) != (config.pools_per_group() > 1),
            "the data of a zone must fill its blocks evenly; set ftl.allocation to a permutation with ftl.reclaim_unit = \"block\", or \
             ftl.allocation = \"dynamic\" with ftl.reclaim_unit = \"superblock\" on a drive of several pools",
        ),
        (
            config.pools_per_group() > 1 && config.ftl.superblock_span != SuperblockSpan::Drive,
            "superblocks of a channel would share the data of a zone unevenly; set ftl.superblock_span = \"drive\"",
        ),
        (
            !fills_programs(config),
            "a program of several mapping units must be full, or a zone does not fill whole blocks; set buffer.bytes above 0, \
             buffer.protected = true, buffer.drain = \"full\" and buffer.timeout_us = 0",
        ),
    ] {
        if refused {
            needs(what);
        }
    }
    if zones.max_open > zones.max_active {
        messages.push(format!(
            "zones.max_open = {}: an open zone is active, of which zones.max_active = {} may be; lower one or raise the other",
            zones.max_open, zones.max_active
        ));
    }
    let Ok(capacity) = Capacity::of(config) else { return };
    sizes(config, &capacity, messages);
    if config.has_log() {
        log(config, &capacity, messages);
    }
}

/// Checks the distance of zones, and that the write buffer has room for a part of a program of each active zone.
fn sizes(config: &Config, capacity: &Capacity, messages: &mut Vec<String>) {
    let (zones, unit) = (&config.zones, capacity.unit_bytes);
    let zone = config.zone_units(capacity.pools) * unit;
    if zones.size_bytes > 0 && (zones.size_bytes < zone || !zones.size_bytes.is_multiple_of(unit)) {
        messages.push(format!(
            "zones.size_bytes = {}: must be a multiple of the mapping unit of {unit} bytes, and at least the {zone} bytes of a zone; set it to {}, \
             or to 0 for that",
            zones.size_bytes,
            zone.next_power_of_two()
        ));
    }
    if config.addressed_units(capacity) > u32::MAX.into() {
        messages.push(format!(
            "zones.size_bytes = {}: the addresses of all zones are more than {} mapping units; lower it",
            zones.size_bytes,
            u32::MAX
        ));
    }
    let parts = u64::from(zones.max_active) * if config.ftl.allocation == Allocation::Dynamic { 1 } else { capacity.pools };
    let least = (parts * (capacity.units_per_program - 1) + 1) * unit;
    if capacity.units_per_program > 1 && config.buffer.is_on() && config.buffer.bytes < least {
        messages.push(format!(
            "buffer.bytes = {}: with zones.max_active = {} the data that wait for a full program may take {least} bytes; raise it, or lower \
             zones.max_active",
            config.buffer.bytes, zones.max_active
        ));
    }
}

/// Checks that a log of the host has room to move data, and that its zones cannot fail.
fn log(config: &Config, capacity: &Capacity, messages: &mut Vec<String>) {
    let zones = &config.zones;
    let zone = config.zone_units(capacity.pools);
    let (count, units) = (capacity.exported_units / zone, config.log_units(capacity.exported_units, zone));
    // One each is open for writes and for moves, and one is kept free.
    let spare = count.saturating_sub(units.div_ceil(zone));
    if config.has_log_blocks() {
        log_blocks(config, count, messages);
    } else if count < 4 {
        messages.push(format!(
            "zones.log: the drive has {count} zones, and a log needs four; have more zones (zones.blocks, device.blocks_per_plane)"
        ));
    } else if units == 0 || spare < 3 {
        let most = 1.0 - (count - 3) as f64 / count as f64;
        messages.push(format!(
            "zones.log_spare = {}: the drive has {count} zones, of which the log needs three that its data do not fill; set it to {most:.3} or more, or \
             have more zones (zones.blocks, device.blocks_per_plane)",
            zones.log_spare
        ));
    } else if u64::from(zones.log_free) > (spare - 2).max(2) {
        messages.push(format!(
            "zones.log_free = {}: data leave {spare} of the {count} zones, of which two are open, so that as many are never free; set it to {} or less, \
             or raise zones.log_spare",
            zones.log_free,
            (spare - 2).max(2)
        ));
    }
    if config.host.queues > 1 {
        messages.push(format!(
            "host.queues = {}: the log writes its zones in order, for which it has one queue; set it to 1, or set zones.log = \"none\"",
            config.host.queues
        ));
    }
    if config.ftl.unmapped_read != UnmappedRead::Immediate {
        messages
            .push("ftl.unmapped_read: the log knows which units hold no data, and sends no read for them; set it to \"immediate\"".into());
    }
    if zones.max_open < 2 {
        messages
            .push(format!("zones.max_open = {}: the log of the host writes to two zones at a time; set it to 2 or more", zones.max_open));
    }
    if config.wear.is_on() {
        messages
            .push("zones.log: the log of the host has no remedy for blocks that fail; switch wear off, or set zones.log = \"none\"".into());
    }
}

/// Checks that log-block mapping has zones for data, logs and merges, and that all that it writes at a time can be active.
fn log_blocks(config: &Config, count: u64, messages: &mut Vec<String>) {
    let zones = &config.zones;
    let least = u64::from(zones.log_blocks) + Config::MERGE_ZONES + 1;
    if count < least {
        messages.push(format!(
            "zones.log_blocks = {}: the drive has {count} zones, and needs {least}: for logs, two for merges, and one for data; lower it, or have more \
             zones (zones.blocks, device.blocks_per_plane)",
            zones.log_blocks
        ));
    }
    // Of `fast` only one log zone of each kind is written at a time.
    let active = if zones.log == LogVictim::Bast { zones.log_blocks + 1 } else { 3 };
    if active > zones.max_active.into() {
        let raise = if active <= 14 { format!("raise it to {active}, or ") } else { String::new() };
        messages.push(format!(
            "zones.max_active = {}: log-block mapping writes to {active} zones at a time, one of them for merges; {raise}lower zones.log_blocks",
            zones.max_active
        ));
    }
}
