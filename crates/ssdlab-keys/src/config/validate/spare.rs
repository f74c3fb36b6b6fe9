//! Checks that a pool has the spare blocks that frontiers, GC and its thresholds need.

use serde_json::Value;

use crate::config::{Capacity, Config, Placement, Trigger};

/// Most parts into which each block is divided to keep the over-provisioning that is asked for.
const PARTS_MAX: u32 = 32;

/// The advice on over-provisioning, before the least share that will do.
const RAISE: &str = "set device.overprovisioning to at least";

/// Checks the spare blocks: a pool needs them for its write frontiers and one for GC. The soft threshold must be less than the rest, else
/// GC would never end.
pub(super) fn check(config: &Config, capacity: &Capacity, messages: &mut Vec<String>) {
    let found = too_few(config, capacity);
    if let Some((last, others)) = found.split_last() {
        messages.extend_from_slice(others);
        let keep = if last.contains(RAISE) { keep(config) } else { String::new() };
        messages.push(format!("{last}{keep}"));
    }
}

/// Messages on spare blocks that do not suffice.
pub(super) fn too_few(config: &Config, capacity: &Capacity) -> Vec<String> {
    let mut messages = Vec::new();
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
        threshold(config, capacity, &mut messages);
        until(config, capacity, &mut messages);
    }
    messages
}

/// Text on the keys with which the drive works at the over-provisioning that is asked for: parity beside it, and as much flash in smaller
/// blocks. Empty if they do not suffice, or if none is asked for.
fn keep(config: &Config) -> String {
    if config.device.overprovisioning == 0.0 {
        return String::new();
    }
    let beside = config.ftl.parity_stripe > 0 && config.ftl.parity_in_spare;
    let parts = std::iter::successors(Some(1), |parts| Some(2 * parts)).take_while(|&parts| parts <= PARTS_MAX);
    let parity = [false, true].into_iter().take(1 + usize::from(beside));
    let mut ways = parts.flat_map(|parts| parity.clone().map(move |beside| (parts, beside))).skip(1);
    let found = ways.find_map(|(parts, beside)| divided(config, parts, beside).filter(suffices));
    let Some(other) = found else { return String::new() };
    let mut keys = Vec::new();
    if other.ftl.parity_in_spare != config.ftl.parity_in_spare {
        keys.push("ftl.parity_in_spare = false".to_string());
    }
    if other.device.blocks_per_plane != config.device.blocks_per_plane {
        keys.push(format!("device.blocks_per_plane = {}", other.device.blocks_per_plane));
        keys.push(format!("device.pages_per_block = {}", other.device.pages_per_block));
    }
    if other.slc.static_blocks != config.slc.static_blocks {
        keys.push(format!("slc.static_blocks = {}", other.slc.static_blocks));
    }
    format!("; or keep {} with {}", config.device.overprovisioning, keys.join(", "))
}

/// The drive with each block divided into `parts`; with parity beside the over-provisioning, if so asked. `None` if a block cannot be divided.
fn divided(config: &Config, parts: u32, parity_beside: bool) -> Option<Config> {
    let mut other = config.clone();
    let pages = config.device.pages_per_block;
    (other.device.pages_per_block, other.device.blocks_per_plane) = (pages / parts, config.device.blocks_per_plane.checked_mul(parts)?);
    other.slc.static_blocks = config.slc.static_blocks.checked_mul(parts)?;
    other.ftl.parity_in_spare &= !parity_beside;
    pages.is_multiple_of(parts).then_some(other)
}

/// The drive has spare blocks enough, and fails no other check.
fn suffices(config: &Config) -> bool {
    super::validate_at_any_size(config).is_ok() && Capacity::of(config).is_ok_and(|capacity| too_few(config, &capacity).is_empty())
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
        Placement::HotCold | Placement::Sepbit | Placement::Zones => format!(" with ftl.placement = {placement}"),
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
        Some(share) => format!("; {RAISE} {share}"),
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
