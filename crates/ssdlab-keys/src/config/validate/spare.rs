//! Checks that a pool has the spare blocks that frontiers, GC and its thresholds need.

use serde_json::Value;

use crate::config::{Capacity, Config, Placement, Trigger};

/// Checks the spare blocks: a pool needs them for its write frontiers and one for GC. The soft threshold must be less than the rest, else
/// GC would never end.
pub(super) fn check(config: &Config, capacity: &Capacity, messages: &mut Vec<String>) {
    let (spare, frontiers, blocks) = (capacity.spare_blocks(), capacity.frontiers, capacity.blocks_per_pool);
    let needed = frontiers + u64::from(config.reserve()) + capacity.scattered_blocks();
    if spare < needed {
        let given = config.device.overprovisioning;
        let (frontier, with) = streams(config);
        messages.push(format!(
            "device.overprovisioning = {given}: leaves {spare} spare of the {blocks} blocks of a pool{}; ftl.frontier = {frontier}{with} \
             needs at least {needed}{}{}",
            taken(config, capacity),
            scattered(capacity),
            make_room(config, capacity, needed)
        ));
    } else {
        threshold(config, capacity, messages);
        until(config, capacity, messages);
    }
}

/// Text on the keys that decide how many blocks are being filled at a time: the frontier, and what adds to it.
fn streams(config: &Config) -> (Value, String) {
    let frontier = serde_json::to_value(config.ftl.frontier).unwrap_or(Value::Null);
    let placement = serde_json::to_value(config.ftl.placement).unwrap_or(Value::Null);
    let with = match config.ftl.placement {
        Placement::None if config.redirects_writes() => " with gc.scope = \"block\"".into(),
        Placement::None if config.slc.is_on() => " with blocks in SLC mode (slc)".into(),
        Placement::None => String::new(),
        Placement::Handles => format!(" with ftl.placement = {placement} and ftl.handles = {}", config.ftl.handles),
        Placement::Oracle => format!(" with ftl.placement = {placement} and ftl.groups = {}", config.ftl.groups),
        Placement::Custom => {
            let (host, moves) = (config.ftl.host_streams, config.ftl.move_streams);
            format!(" with ftl.placement = {placement}, ftl.host_streams = {host} and ftl.move_streams = {moves}")
        }
        Placement::HotCold | Placement::Sepbit => format!(" with ftl.placement = {placement}"),
    };
    let superblocks = if config.open_each() > 1 { " with superblocks of several pools" } else { "" };
    (frontier, with + superblocks)
}

/// Text on what takes blocks that over-provisioning would leave: parity, the mapping table and blocks in SLC mode; empty without any.
fn taken(config: &Config, capacity: &Capacity) -> String {
    let parity = (config.ftl.parity_stripe > 0).then_some("parity takes a part (ftl.parity_stripe)");
    let table = (capacity.map_units > 0).then_some("the mapping table takes a part (ftl.map_cache_bytes)");
    let cache = (capacity.static_blocks > 0).then_some("blocks in SLC mode take a part (slc.static_blocks)");
    let all: Vec<&str> = parity.into_iter().chain(table).chain(cache).collect();
    if all.is_empty() { String::new() } else { format!(", since {}", all.join(" and ")) }
}

/// Checks that a pool can reach the free blocks with which an episode ends; else an episode would go on until no victim is left.
fn until(config: &Config, capacity: &Capacity, messages: &mut Vec<String>) {
    let (until, key) = (u64::from(config.gc.until), key_of(config).0);
    let soft = threshold_blocks(config, capacity);
    let (spare, frontiers) = (capacity.spare_blocks(), capacity.frontiers);
    let by_share = config.gc.trigger == Trigger::InvalidShare;
    // Below that a pool is down to the reserve for GC, and is collected whatever the threshold.
    let short = u64::from(config.reserve()) + 1;
    let (threshold, with) = if by_share || soft < short { (short, "the reserve") } else { (soft, key) };
    // A threshold that leaves no room has a message of its own.
    let held = frontiers + capacity.scattered_blocks();
    if until == 0 || soft + held >= spare || threshold + until + held < spare {
        return;
    }
    let most = spare.saturating_sub(held + 1 + threshold);
    messages.push(format!(
        "gc.until = {until}: with {with} that is {} free blocks of a pool, but {spare} are spare, of which {frontiers} are being filled{}; \
         lower it to at most {most}{}",
        threshold + until,
        scattered(capacity),
        raise(capacity, threshold.saturating_add(until).saturating_add(needed_beyond(held)))
    ));
}

/// The key of the threshold at which GC must find room, whatever blocks hold, and its value.
fn key_of(config: &Config) -> (&'static str, f64) {
    if config.gc.trigger == Trigger::Both { ("gc.forced", config.gc.forced) } else { ("gc.soft", config.gc.soft) }
}

/// The threshold at which GC must find room, blocks, those included that no threshold counts; at least 1.
fn threshold_blocks(config: &Config, capacity: &Capacity) -> u64 {
    capacity.soft_blocks(key_of(config).1) + u64::from(config.uncounted_blocks())
}

fn threshold(config: &Config, capacity: &Capacity, messages: &mut Vec<String>) {
    let (key, soft) = key_of(config);
    for (key, value) in [("gc.soft", config.gc.soft), (key, soft)] {
        if value >= 1.0 && value.fract() != 0.0 {
            let (low, high) = (value.floor(), value.ceil());
            return messages
                .push(format!("{key} = {value}: must be a share below 1, or a whole number of blocks, for example {low} or {high}"));
        }
    }
    let (spare, frontiers, blocks) = (capacity.spare_blocks(), capacity.frontiers, capacity.blocks_per_pool);
    let threshold = threshold_blocks(config, capacity);
    let held = frontiers + capacity.scattered_blocks();
    if threshold + held < spare {
        return;
    }
    let uncounted = u64::from(config.uncounted_blocks());
    let needed = threshold.saturating_add(needed_beyond(held));
    let change = match (spare - held - 1).saturating_sub(uncounted) {
        0 => make_room(config, capacity, needed),
        most => format!("; lower it to at most {most} blocks{}", raise(capacity, needed)),
    };
    messages.push(format!(
        "{key} = {soft}: {threshold} of the {blocks} blocks of a pool{}, but {spare} are spare, of which {frontiers} are being filled{}, and \
         the threshold must lie below the rest{change}",
        if uncounted > 0 { format!(", with {uncounted} for accepted data that may fail to be written (wear)") } else { String::new() },
        scattered(capacity)
    ));
}

/// Number of spare blocks that a threshold needs in addition: the `held` ones, and one to be strictly less.
fn needed_beyond(held: u64) -> u64 {
    held + 1
}

/// Text on other blocks that are held, behind those that are being filled.
fn scattered(capacity: &Capacity) -> String {
    match capacity.scattered_blocks() {
        0 => String::new(),
        blocks => {
            format!(" and {blocks} may be held by invalid units too few for a program (ftl.map_unit_bytes, device.pages_per_program)")
        }
    }
}

fn raise(capacity: &Capacity, spare: u64) -> String {
    match capacity.overprovisioning_for(spare) {
        Some(share) => format!("; set device.overprovisioning to at least {share}"),
        None => String::new(),
    }
}

/// Text on what gives a pool `spare` spare blocks: over-provisioning, or, where none does, more blocks, and less of the buffer for each pool.
fn make_room(config: &Config, capacity: &Capacity, spare: u64) -> String {
    let text = raise(capacity, spare);
    if !text.is_empty() {
        return text;
    }
    let of_buffer = config.buffer.is_on() && config.uncounted_blocks() > 0;
    let buffer =
        if of_buffer { ", lower buffer.bytes, or raise device.channels, since each pool takes a share of a full buffer" } else { "" };
    format!("; no device.overprovisioning leaves {spare} blocks spare: raise device.blocks_per_plane{buffer}")
}
