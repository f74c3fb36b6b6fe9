//! Checks relations between the keys of a configuration.

mod slc;
mod spare;
mod wear;
mod zones;

use serde_json::Value;

use ssdlab_base::error::{Error, Result};

use super::{
    Allocation, ArrayLevel, CacheGroup, CachePlace, Capacity, Config, Drain, Ftl, MapCacheUnit, MapModels, Order, Pace, Placement,
    PoolScope, PreconditionKind, RebuildReads, Rotation, Scope, SuspendedForReads, Trigger, check, namespaces, workload_rules,
};

/// Checks a whole configuration: each key by itself, and relations between keys.
///
/// # Errors
/// [`Error::Config`] with one line for each problem.
pub fn validate(config: &Config) -> Result<()> {
    validate_relations(config, |messages| {
        relations(config, messages);
        if messages.is_empty() {
            sizes(config, messages, spare::check);
        }
    })
}

/// Whether [`validate`] finds no problem. It looks for no remedy, which takes longer than all checks.
pub(super) fn is_valid(config: &Config) -> bool {
    let checked = validate_relations(config, |messages| {
        relations(config, messages);
        if messages.is_empty() {
            sizes(config, messages, |config, capacity, messages| messages.extend(spare::too_few(config, capacity)));
        }
    });
    checked.is_ok()
}

/// Checks a whole configuration, except whether the drive has enough spare blocks.
///
/// # Errors
/// [`Error::Config`] with one line for each problem.
pub(super) fn validate_at_any_size(config: &Config) -> Result<()> {
    validate_relations(config, |messages| relations(config, messages))
}

fn validate_relations(config: &Config, relations: impl FnOnce(&mut Vec<String>)) -> Result<()> {
    let tree = serde_json::to_value(config).map_err(|error| Error::Config(format!("configuration: {error}")))?;
    let mut messages = not_finite(config);
    messages.extend(check(&tree).into_iter().map(|problem| problem.message));
    // The relations rely on the ranges of single keys: they are checked only if all ranges hold.
    if messages.is_empty() {
        relations(&mut messages);
    }
    all_or(messages)
}

/// `Ok` without messages.
///
/// # Errors
/// [`Error::Config`] with all messages, one line each.
pub(super) fn all_or(messages: Vec<String>) -> Result<()> {
    if messages.is_empty() { Ok(()) } else { Err(Error::Config(messages.join("\n"))) }
}

/// Messages for numbers that are not finite. JSON has neither NaN nor infinity, so that an optional one would count as absent; TOML has
/// both.
fn not_finite(config: &Config) -> Vec<String> {
    fn walk(path: &str, value: &toml::Value, messages: &mut Vec<String>) {
        match value {
            toml::Value::Float(float) if !float.is_finite() => messages.push(format!("{path} = {float}: must be a finite number")),
            toml::Value::Table(table) => {
                table.iter().for_each(|(name, value)| walk(&super::node::join(path, name), value, messages));
            }
            toml::Value::Array(values) => {
                values.iter().enumerate().for_each(|(index, value)| walk(&format!("{path}[{index}]"), value, messages));
            }
            _ => {}
        }
    }
    let mut messages = Vec::new();
    // A value that TOML cannot hold (an integer beyond 63 bits) is out of the range of every key; the check of ranges finds it.
    if let Ok(tree) = toml::Value::try_from(config) {
        walk("", &tree, &mut messages);
    }
    messages
}

fn relations(config: &Config, messages: &mut Vec<String>) {
    map_unit(config, messages);
    parity(config, messages);
    partial_reads(config, messages);
    map_cache(config, messages);
    map_models(config, messages);
    if !messages.is_empty() {
        // The sizes are counted in units that hold data.
        return;
    }
    abilities(config, messages);
    placement(config, messages);
    superblocks(config, messages);
    namespaces::check(config, messages);
    page_types(config, messages);
    programs(config, messages);
    precondition(config, messages);
    errors(config, messages);
    slc::check(config, messages);
    wear::check(config, messages);
    zones::check(config, messages);
    pace(config, messages);
    power(config, messages);
    super::thermal::check(config, messages);
    super::power_states::check(config, messages);
    buffer(config, messages);
    cache(config, messages);
    array(config, messages);
    workload_rules::queues(&config.host, messages);
    workload_rules::relations(config, messages);
}

/// Checks that depend on the number of blocks and on over-provisioning, of which `spare` is about the spare blocks. All other relations must hold.
fn sizes(config: &Config, messages: &mut Vec<String>, spare: impl FnOnce(&Config, &Capacity, &mut Vec<String>)) {
    match Capacity::of(config) {
        Err(error) => messages.push(error.to_string()),
        Ok(capacity) => {
            spare(config, &capacity, messages);
            shares_of_the_range(config, &capacity, messages);
            sorted_batches(config, &capacity, messages);
        }
    }
}

/// Highest number of mapping units of a flash page.
pub const UNITS_MAX: u32 = 16;
/// Highest number of mapping units of a program.
pub const PROGRAM_UNITS_MAX: u32 = 4 * UNITS_MAX;
/// Highest number of pages of an operation that transfers parts of pages: the units of each page are counted in four bits.
pub const PART_PAGES_MAX: u32 = 16;
/// Highest number of mapping units of a block: they are counted in 16 bits.
const UNITS_OF_BLOCK_MAX: u32 = u16::MAX as u32;

/// The cap leaves power for each operation on one plane.
fn power(config: &Config, messages: &mut Vec<String>) {
    let energy = &config.energy;
    let most = energy.read_mw.max(energy.program_mw).max(energy.erase_mw);
    let least = (energy.idle_mw + most) / 1e3;
    if energy.cap_w > 0.0 && energy.cap_w < least {
        messages.push(format!(
            "energy.cap_w = {}: an operation on one plane draws up to {most} mW beside energy.idle_mw = {}, so that it could never begin; set a \
             cap of {least} or more, or 0 for none",
            energy.cap_w, energy.idle_mw
        ));
    }
}

fn map_unit(config: &Config, messages: &mut Vec<String>) {
    let (Some(unit), page, pages) = (config.ftl.map_unit_bytes, config.device.page_bytes, config.device.pages_per_block) else { return };
    let units = page / unit;
    if !page.is_multiple_of(unit) || !units.is_power_of_two() || units > UNITS_MAX {
        messages.push(format!(
            "ftl.map_unit_bytes = {unit}: a page (device.page_bytes = {page}) must hold 1, 2, 4, 8 or {UNITS_MAX} units; set it to {}",
            nearest_unit(unit, page)
        ));
    } else if units * pages > UNITS_OF_BLOCK_MAX {
        messages.push(format!(
            "ftl.map_unit_bytes = {unit}: a block of device.pages_per_block = {pages} pages holds {} units, more than {UNITS_OF_BLOCK_MAX}; \
             raise it, or lower device.pages_per_block",
            units * pages
        ));
    }
}

/// Checks that the streams of a data placement policy can be kept apart.
fn placement(config: &Config, messages: &mut Vec<String>) {
    if config.ftl.placement == Placement::None {
        return;
    }
    let name = serde_json::to_value(config.ftl.placement).unwrap_or_default();
    let mut needs = |what: &str| messages.push(format!("ftl.placement = {name}: {what}"));
    if config.ftl.placement == Placement::Custom && (config.ftl.host_streams, config.ftl.move_streams) == (1, 1) {
        needs(
            "with one stream of host writes and one of page moves there is nothing to choose; raise ftl.host_streams or ftl.move_streams",
        );
    }
    if config.ftl.placement == Placement::Oracle {
        for (reorders, remedy) in [
            (config.array.level != ArrayLevel::None, "array.level = \"none\""),
            (config.cache.is_on(), "cache.policy = \"none\""),
            (config.buffer.is_on(), "buffer.bytes = 0"),
            (config.caches_map(), "ftl.map_cache_bytes = 0"),
            (config.maps_by_segments(), "ftl.map_models = \"none\""),
        ] {
            if reorders {
                needs(&format!("the writes that reach the drive must be those of the workload, in order; set {remedy}"));
            }
        }
    }
    let Ftl { handles, default_handle, .. } = config.ftl;
    if config.ftl.placement == Placement::Handles && default_handle >= handles {
        messages.push(format!(
            "ftl.default_handle = {default_handle}: expected a handle from 0 to {}, since ftl.handles = {handles}; lower it, or raise ftl.handles",
            handles - 1
        ));
    }
}

/// Checks the planes of a multi-plane read that transfers parts of pages: the units of each plane are counted.
fn partial_reads(config: &Config, messages: &mut Vec<String>) {
    let planes = config.device.planes_per_die;
    if config.reads_parts() && config.device.multiplane && planes > PART_PAGES_MAX {
        messages.push(format!(
            "device.partial_reads = true: a multi-plane read can transfer parts of at most {PART_PAGES_MAX} pages, and a die has \
             device.planes_per_die = {planes}; set device.partial_reads or device.multiplane to false"
        ));
    }
}

/// Checks that a translation page is whole mapping units, and that the memory for the mapping table holds one, or an entry.
fn map_cache(config: &Config, messages: &mut Vec<String>) {
    let (bytes, page, unit) = (config.ftl.map_cache_bytes, config.map_page_bytes(), config.map_unit_bytes());
    if !page.is_multiple_of(unit) {
        messages.push(format!(
            "ftl.map_page_bytes = {page}: a translation page must be whole mapping units (of {unit} bytes: ftl.map_unit_bytes, or else \
             device.page_bytes); set it to {}, or leave it out for one unit",
            page.next_multiple_of(unit)
        ));
    } else if config.caches_map() && bytes < config.map_cached_bytes().into() {
        let what = match config.ftl.map_cache_unit {
            MapCacheUnit::Page => format!("a translation page of {page} bytes (ftl.map_page_bytes, or else a mapping unit)"),
            MapCacheUnit::Entry => format!("an entry of {} bytes (ftl.map_entry_bytes)", config.ftl.map_entry_bytes),
        };
        messages.push(format!(
            "ftl.map_cache_bytes = {bytes}: must hold {what}, or no entry could be looked up; raise it, or set it to 0 for the whole table in \
             memory"
        ));
    }
}

/// Checks that models of the mapping table stand beside a mapping cache, or in place of it.
fn map_models(config: &Config, messages: &mut Vec<String>) {
    match config.ftl.map_models {
        MapModels::Exact if !config.caches_map() => messages.push(
            "ftl.map_models = \"exact\": the models save reads of translation pages, which need a mapping cache; set ftl.map_cache_bytes, or \
             ftl.map_models to \"none\" or \"segments\""
                .into(),
        ),
        MapModels::Segments if config.caches_map() => messages.push(format!(
            "ftl.map_models = \"segments\": segments take the place of the whole table, and results say how much memory they need; set \
             ftl.map_cache_bytes = 0, not {}, or ftl.map_models to \"exact\" or \"none\"",
            config.ftl.map_cache_bytes
        )),
        _ => {}
    }
}

/// The allowed unit size nearest to `unit`, bytes; of two, the larger.
fn nearest_unit(unit: u32, page: u32) -> u32 {
    let units = [1, 2, 4, 8, UNITS_MAX].into_iter().filter(|&units| page.is_multiple_of(units * 512));
    units.map(|units| page / units).min_by_key(|allowed| allowed.abs_diff(unit)).unwrap_or(page)
}

/// Checks that the write buffer has room for the units of a program.
fn buffer(config: &Config, messages: &mut Vec<String>) {
    let (bytes, program) = (config.buffer.bytes, u64::from(config.device.page_bytes) * u64::from(config.device.pages_per_program));
    if bytes > 0 && bytes < program {
        messages.push(format!(
            "buffer.bytes = {bytes}: must hold the {program} bytes of a program (device.page_bytes x device.pages_per_program), or none would \
             ever be filled; set it to {program} or more, or to 0 for no write buffer"
        ));
    }
}

/// Checks that batches of sorted units fit in the write buffer, and that no program goes without waiting for them.
fn sorted_batches(config: &Config, capacity: &Capacity, messages: &mut Vec<String>) {
    let (units, program) = (config.buffer.sort_units, config.units_per_program());
    if units == 0 || !config.buffer.is_on() {
        return;
    }
    if config.buffer.drain != Drain::Full {
        messages.push(format!(
            "buffer.sort_units = {units}: programs must wait until a batch is complete; set buffer.drain = \"full\", or buffer.sort_units = 0"
        ));
    }
    let destinations = if config.ftl.allocation == Allocation::Dynamic { 1 } else { capacity.pools };
    let most = config.buffer_units() / destinations;
    if !units.is_multiple_of(program) || u64::from(units) > most {
        messages.push(format!(
            "buffer.sort_units = {units}: a batch must be whole programs (of {program} units), and the write buffer must hold one for each of \
             {destinations} destinations (pools, or with dynamic allocation the drive): at most {most} units each; set it to a multiple of {program} up \
             to that, enlarge buffer.bytes, or set it to 0"
        ));
    }
}

fn abilities(config: &Config, messages: &mut Vec<String>) {
    if config.device.multiplane && config.ftl.pool != PoolScope::Plane {
        messages.push(
            "device.multiplane = true: needs ftl.pool = \"plane\", not \"die\", since each plane must fill a block of its own; \
             change one of them"
                .into(),
        );
    }
    if config.scheduler.pipeline && !config.device.cache_register {
        messages.push("scheduler.pipeline = true: needs device.cache_register = true; change one of them".into());
    }
    if config.gc.trigger == Trigger::Both && config.gc.hard > 0.0 {
        messages.push(format!(
            "gc.hard = {}: with gc.trigger = \"both\" writes cannot wait for collection, since between the thresholds there may be nothing to \
             collect; set gc.hard = 0, and gc.forced for the blocks to keep",
            config.gc.hard
        ));
    }
    slack(config, messages);
    suspension(config, messages);
}

/// Checks the needs of slack-aware scheduling (elyasi2017): queue order, program steps and page registers.
fn slack(config: &Config, messages: &mut Vec<String>) {
    let scheduler = &config.scheduler;
    let uses =
        [("read_bypass", scheduler.read_bypass), ("write_bypass", scheduler.write_bypass), ("write_pausing", scheduler.write_pausing)];
    for (key, _) in uses.iter().filter(|(_, on)| *on && scheduler.order != Order::FrFcfs) {
        messages.push(format!("scheduler.{key} = true: needs scheduler.order = \"fr-fcfs\"; change one of them"));
    }
    if scheduler.error_feedback && !scheduler.makes_estimates() {
        messages.push("scheduler.error_feedback = true: there are no estimates to correct; set scheduler.estimates = true as well".into());
    }
    if scheduler.write_pausing && config.device.ispp_steps == 1 {
        messages
            .push("scheduler.write_pausing = true: needs device.ispp_steps of 2 or more, else a program has no step to pause after".into());
    }
    if scheduler.write_pausing && config.device.page_registers == 1 {
        messages.push(
            "scheduler.write_pausing = true: needs device.page_registers = 2, as a paused program keeps its data in one; change one of them"
                .into(),
        );
    }
}

fn cache(config: &Config, messages: &mut Vec<String>) {
    let (cache, page) = (&config.cache, config.map_unit_bytes());
    if !cache.is_on() {
        return;
    }
    if cache.bytes < page.into() {
        let (what, key) = if config.units_per_page() > 1 { ("mapping unit", "ftl.map_unit_bytes") } else { ("page", "device.page_bytes") };
        messages.push(format!("cache.bytes = {}: is less than a {what} ({key} = {page}); raise it", cache.bytes));
    }
    if cache.place == CachePlace::Array && config.array.level == ArrayLevel::None {
        messages.push("cache.place = \"array\": there is no array; set array.level, or cache.place = \"drive\"".into());
    }
    let aware_of_groups = cache.gc_aware && cache.evicts_groups();
    if aware_of_groups && cache.group == CacheGroup::Contiguous {
        messages.push(
            "cache.gc_aware = true: the pages of a group of contiguous addresses lie on several chips, so that bplru and fab cannot tell \
             whether the group is in GC; set cache.group = \"chip\", or cache.gc_aware = false"
                .into(),
        );
    } else if aware_of_groups && cache.place == CachePlace::Drive && config.ftl.allocation == Allocation::Dynamic {
        messages.push(
            "cache.gc_aware = true: with ftl.allocation = \"dynamic\" the pages of a group have no chip in common, so that bplru and fab cannot \
             mind it; choose cache.policy = \"lru\" or \"cflru\", or another allocation"
                .into(),
        );
    }
}

fn array(config: &Config, messages: &mut Vec<String>) {
    let array = &config.array;
    if let Some(failed) = array.degraded.filter(|&failed| array.level != ArrayLevel::Rais5 || failed >= array.drives) {
        let most = array.drives - 1;
        let level = if array.level == ArrayLevel::Rais5 { "" } else { "; set array.level = \"rais5\"" };
        messages.push(format!("array.degraded = {failed}: must be a drive of a rais5 array, 0 to {most}{level}; or leave it out"));
    }
    rebuild(config, messages);
    windows(config, messages);
    rotation(config, messages);
    if array.level == ArrayLevel::None {
        return;
    }
    if config.host.has_quotas() {
        messages.push(
            "host.quota_iops, host.quota_mb_s: the drives of an array also get commands of the array, for parity and for rebuilds, which a quota \
             would hold, too; leave these keys out, or set array.level = \"none\""
                .into(),
        );
    }
    let (page, stripe) = (u64::from(config.device.page_bytes), array.stripe_kb * 1024.0);
    if stripe.fract() != 0.0 || !array.unit_bytes().is_multiple_of(page) {
        messages.push(format!("array.stripe_kb = {}: must be whole pages (device.page_bytes = {page})", array.stripe_kb));
        return;
    }
    if array.level == ArrayLevel::Rais5 && array.drives < 3 {
        messages.push(format!("array.drives = {}: array.level = \"rais5\" needs at least 3", array.drives));
    }
    if config.ftl.precondition.prefill.is_some() {
        messages
            .push("ftl.precondition.prefill: the ranges are those of a single drive; leave it out, or set array.level = \"none\"".into());
    }
    let Ok(drive) = Capacity::of(config) else { return };
    let pages = array.exported_bytes(drive.exported_bytes()) / drive.unit_bytes;
    if pages == 0 {
        messages.push(format!("array.stripe_kb = {}: is more than a drive exports; lower it", array.stripe_kb));
    } else if pages > u64::from(u32::MAX) {
        let most = u32::MAX;
        messages.push(format!("array.drives = {}: {pages} pages are too many; at most {most} can be simulated", array.drives));
    }
}

/// Checks the needs of a drive that replaces a failed one.
fn rebuild(config: &Config, messages: &mut Vec<String>) {
    let array = &config.array;
    if array.rebuild_bytes_per_us > 0.0 && array.rebuild_stripes == 0 {
        let rate = array.rebuild_bytes_per_us;
        messages.push(format!("array.rebuild_bytes_per_us = {rate}: no drive is rebuilt; set array.rebuild_stripes, or leave it out"));
    }
    if array.rebuild_stripes == 0 {
        return;
    }
    let key = format!("array.rebuild_stripes = {}", array.rebuild_stripes);
    if array.degraded.is_none() {
        messages.push(format!("{key}: no drive has failed that could be replaced; set array.degraded, or leave it out"));
    }
    if config.wear.is_on() {
        messages.push(format!(
            "{key}: places on drives whose blocks can fail are not kept for a rebuild yet; leave it out, or the keys of wear"
        ));
    }
}

/// Checks the needs of arrays whose drives collect in turns, or refuse reads that would wait for GC.
fn windows(config: &Config, messages: &mut Vec<String>) {
    let array = &config.array;
    let mut needs = |key: String, need: &str| messages.push(format!("{key}: {need}"));
    let rebuilds = serde_json::to_value(array.rebuild_reads).map_or_else(|_| String::new(), |name| name.to_string());
    for (is_on, key) in [
        (array.rebuild_reads != RebuildReads::Off, format!("array.rebuild_reads = {rebuilds}")),
        (array.window_us > 0, format!("array.window_us = {}", array.window_us)),
    ] {
        if is_on && array.level != ArrayLevel::Rais5 {
            needs(key, "needs parity; set array.level = \"rais5\", or leave it out");
        } else if is_on && array.degraded.is_some() {
            needs(key, "with array.degraded there is no parity to read around GC; leave one of them out");
        }
    }
    if array.rebuild_reads == RebuildReads::Window && array.window_us == 0 {
        needs("array.rebuild_reads = \"window\"".into(), "there are no windows; set array.window_us above 0");
    }
    if array.window_us == 0 {
        return;
    }
    if config.gc.trigger != Trigger::Soft {
        needs(format!("array.window_us = {}", array.window_us), "needs gc.trigger = \"soft\", whose threshold windows change");
    }
    if array.window_tail_us >= array.window_us {
        let tail = format!("array.window_tail_us = {}", array.window_tail_us);
        needs(tail, "must be less than array.window_us, so that jobs can begin");
    }
}

/// Checks the needs of arrays whose pools take turns to collect.
fn rotation(config: &Config, messages: &mut Vec<String>) {
    let array = &config.array;
    if array.rotation == Rotation::Off {
        return;
    }
    let name = serde_json::to_value(array.rotation).map_or_else(|_| String::new(), |name| name.to_string());
    let mut needs = |need: &str| messages.push(format!("array.rotation = {name}: {need}"));
    if array.level != ArrayLevel::Rais5 {
        needs("needs parity; set array.level = \"rais5\", or leave it out");
    } else if array.degraded.is_some() {
        needs("with array.degraded there is no parity to read around GC; leave one of them out");
    }
    if config.gc.trigger == Trigger::Idle {
        needs("with gc.trigger = \"idle\" a job pauses in its turn, for which other drives wait; choose another trigger");
    }
    if config.gc.advances_with_requests() && !array.rotation_forced {
        needs(
            "with gc.advance a job waits in its turn for requests, which may wait for other drives' turns; set gc.advance = \"alone\" or \
             array.rotation_forced = true",
        );
    }
    if config.wear.is_on() {
        needs("blocks that fail may take the places kept for accepted data from a pool that waits; leave it out, or the keys of wear");
    }
    if config.ftl.allocation == Allocation::Dynamic && array.rotation != Rotation::Drive {
        needs(
            "with ftl.allocation = \"dynamic\" the pages of a stripe are in pools of any number; set array.rotation = \"drive\", or another \
             allocation",
        );
    }
}

/// Checks the needs of suspending for reads: reads need a page register, and an operation that is suspended repeatedly must end.
fn suspension(config: &Config, messages: &mut Vec<String>) {
    let (device, suspend) = (&config.device, &config.scheduler.suspend);
    if suspend.contains(&SuspendedForReads::Program) && device.page_registers == 1 {
        messages.push(
            "scheduler.suspend = [\"program\"]: needs device.page_registers = 2, as a suspended program keeps its data in one; change one of them"
                .into(),
        );
    }
    let (lost, run) = (device.resume_ns, device.min_run_ns);
    if !suspend.is_empty() && lost > 0 && lost >= run && device.max_suspends == 0 {
        messages.push(format!(
            "device.resume_ns = {lost}: an operation that is suspended after each device.min_run_ns = {run} would never end; set \
             device.min_run_ns above {lost}, or device.max_suspends"
        ));
    }
}

fn page_types(config: &Config, messages: &mut Vec<String>) {
    let device = &config.device;
    let (pages, each) = (device.pages_per_block, device.pages_per_program);
    for (key, entries, each) in [("read_ns_by_page", &device.read_ns_by_page, 1), ("program_ns_by_page", &device.program_ns_by_page, each)]
    {
        if entries.len() > (pages / each) as usize {
            let count = entries.len();
            let by = if each == 1 { String::new() } else { format!(" and device.pages_per_program = {each}") };
            messages.push(format!("device.{key}: has {count} entries for device.pages_per_block = {pages}{by}; leave out those beyond"));
        }
    }
}

/// Checks that a block is a whole number of programs.
fn programs(config: &Config, messages: &mut Vec<String>) {
    let (pages, each) = (config.device.pages_per_block, config.device.pages_per_program);
    if !pages.is_multiple_of(each) {
        let below = pages - pages % each;
        messages.push(format!(
            "device.pages_per_block = {pages}: must be a multiple of device.pages_per_program = {each}; set it to {}",
            if below == 0 { each } else { below }
        ));
    }
}

/// Checks that a stripe of parity has a program of data, and lies in one block.
fn parity(config: &Config, messages: &mut Vec<String>) {
    let (stripe, device) = (config.ftl.parity_stripe, &config.device);
    let programs = device.pages_per_block.checked_div(device.pages_per_program).unwrap_or(0);
    if stripe == 1 {
        messages.push("ftl.parity_stripe = 1: leaves no page for data; set it to at least 2, or to 0 for no parity".into());
    } else if stripe > programs {
        messages
            .push(format!("ftl.parity_stripe = {stripe}: a block has {programs} programs; set it to at most that, or to 0 for no parity"));
    }
}

/// Checks that superblocks of several pools can be filled die after die.
fn superblocks(config: &Config, messages: &mut Vec<String>) {
    let pools = config.pools_per_group();
    if pools > 1 && config.ftl.allocation != Allocation::Dynamic {
        messages.push(format!(
            "ftl.reclaim_unit = \"superblock\": a superblock of {pools} pools is filled die after die, whatever the address, and not by \
             ftl.allocation = \"{}\"; set ftl.allocation = \"dynamic\", or ftl.reclaim_unit = \"block\"",
            config.ftl.allocation
        ));
    }
}

/// Checks that there are writes to pace: with scope `device`, none is served before a job has ended. By room, steps of a job and writes of its
/// pool have to wait for the same die.
fn pace(config: &Config, messages: &mut Vec<String>) {
    let paced = match config.gc.pace {
        Pace::None => return,
        Pace::Proportional => "proportional",
        Pace::Room => "room",
    };
    if config.gc.scope == Scope::Device {
        messages.push(format!(
            "gc.pace = \"{paced}\": with gc.scope = \"device\" no write is served while a job is active, so that there is none to pace; choose another \
             scope, or \"none\""
        ));
    }
    let waits = config.gc.priority == super::Priority::Gc || !matches!(config.gc.scope, Scope::Block | Scope::None);
    if config.gc.pace == Pace::Room && waits {
        messages.push(
            "gc.pace = \"room\" says which steps of a job go before writes: with gc.priority = \"gc\" all do, and with a gc.scope wider than \
             \"block\" writes wait for the whole job; choose gc.priority = \"host\" or \"fifo\" and gc.scope = \"none\" or \"block\", or another gc.pace"
                .into(),
        );
    }
}

/// Most steps of a retry table.
const RETRY_STEPS_MAX: usize = 64;

/// Checks the retry table, and that distributions of ages have a largest value that is none below their least.
fn errors(config: &Config, messages: &mut Vec<String>) {
    let (errors, precondition) = (&config.errors, &config.ftl.precondition);
    let table = &errors.retry_table;
    if table.len() > RETRY_STEPS_MAX {
        messages.push(format!("errors.retry_table: has {} steps; leave at most {RETRY_STEPS_MAX}", table.len()));
    }
    if let Some(step) = (1..table.len()).find(|&step| table[step] >= table[step - 1]) {
        messages.push(format!(
            "errors.retry_table[{step}] = {}: must be below the entry before, {}, since later steps leave fewer errors; lower it",
            table[step],
            table[step - 1]
        ));
    }
    let bits = u64::from(errors.codeword_bytes) * 8;
    if u64::from(errors.correctable_bits) > bits {
        messages.push(format!(
            "errors.correctable_bits = {}: a codeword of errors.codeword_bytes = {} has {bits} bits; lower it",
            errors.correctable_bits, errors.codeword_bytes
        ));
    }
    let mut order = |key: &str, least: f64, most: Option<f64>| {
        if let Some(most) = most.filter(|&most| most < least) {
            messages.push(format!(
                "ftl.precondition.{key}_max = {most}: must be at least ftl.precondition.{key} = {least}; raise it, or leave it out"
            ));
        }
    };
    order("pe_cycles", precondition.pe_cycles.into(), precondition.pe_cycles_max.map(f64::from));
    order("retention_days", precondition.retention_days, precondition.retention_days_max);
}

fn precondition(config: &Config, messages: &mut Vec<String>) {
    let precondition = &config.ftl.precondition;
    let kind = precondition.kind;
    if kind == PreconditionKind::Trace && !config.workload.reads_traces() {
        messages.push(
            "ftl.precondition.kind = \"trace\": the workload is generated; give a trace (workload.trace), or set kind = \"steady\" and \
             ftl.precondition.settle"
                .into(),
        );
    }
    if kind == PreconditionKind::Ranges && precondition.prefill.is_none() {
        messages.push(
            "ftl.precondition.kind = \"ranges\": needs ftl.precondition.prefill, a CSV file offset_bytes,size_bytes; name one, or choose \
             another kind"
                .into(),
        );
    }
    let Some(file) = &precondition.prefill else { return };
    if file.is_empty() {
        messages.push("ftl.precondition.prefill = \"\": must name a file; leave it out to have none".into());
    } else if matches!(kind, PreconditionKind::None | PreconditionKind::Fill) {
        let kind = serde_json::to_value(kind).unwrap_or(Value::Null);
        messages.push(format!(
            "ftl.precondition.prefill = \"{file}\": is not used by ftl.precondition.kind = {kind}; choose \"ranges\", \"soft\", \
             \"steady\" or \"trace\""
        ));
    }
}

fn shares_of_the_range(config: &Config, capacity: &Capacity, messages: &mut Vec<String>) {
    let mut share = |key: &str, share: f64| {
        let pages = capacity.exported_units;
        if share * (pages as f64) < 1.0 {
            let least = 1.0 / pages as f64;
            messages.push(format!("{key} = {share}: is less than one of the {pages} exported pages; raise it to at least {least:.1e}"));
        }
    };
    share("workload.footprint", config.workload.footprint);
    if let Some(range) = config.ftl.precondition.range {
        share("ftl.precondition.range", range);
    }
}
