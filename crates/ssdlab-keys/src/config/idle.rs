//! Idle keys: keys of a configuration that have no effect, because their mechanism is off or the device does not support it.
//!
//! A preset may hold idle keys, so that every scheme fits every device: the result names them. A user sets a key to have an effect, so the
//! callers of [`idle_by_hand`] warn of a key that is idle in all of their runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layers::keys_by_hand;
use super::workload_rules;
use super::{
    Address, Advance, Allocation, Arbitration, ArrayLevel, Arrival, CachePolicy, Config, Drain, DynamicTies, Erase, Leftover, Leveling,
    LogVictim, MapModels, Order, Pace, Padding, Placement, PoolScope, PowerSource, PreconditionKind, ReclaimUnit, RetryPolicy, Rotation,
    Scope, SizeDistribution, Suspendable, SuspendedForReads, Trigger, Turns, Victim, Volumes, Workload,
};
use ssdlab_base::error::Result;

/// A key without effect, and the setting that would give it one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdleKey {
    /// Name of the key, such as `gc.pipeline`.
    #[schemars(extend("unit" = "text"))]
    pub key: String,
    /// Setting that the key needs to have an effect, such as `device.cache_register = true`.
    #[schemars(extend("unit" = "text"))]
    pub needs: String,
}

/// Condition under which a key has an effect.
struct Rule {
    key: &'static str,
    /// The value of the key requests a mechanism: false for a switch that is off. An idle key requests a mechanism that cannot work.
    asks: fn(&Config) -> bool,
    /// The rest of the configuration gives the key an effect.
    works: fn(&Config) -> bool,
    needs: &'static str,
}

/// A rule for a parameter: every value requests a mechanism.
const fn parameter(key: &'static str, needs: &'static str, works: fn(&Config) -> bool) -> Rule {
    Rule { key, asks: |_| true, works, needs }
}

/// A rule for a switch: it requests a mechanism if it is on.
const fn switch(key: &'static str, asks: fn(&Config) -> bool, needs: &'static str, works: fn(&Config) -> bool) -> Rule {
    Rule { key, asks, works, needs }
}

const A_MAP_CACHE: &str = "part of the mapping table in flash (ftl.map_cache_bytes above 0)";
const TIES: &str = "ftl.allocation = \"dynamic\" with blocks, or superblocks of one pool (those of several are filled die after die)";
const A_BUFFER: &str = "a write buffer (buffer.bytes above 0)";
const BUFFERED_UNITS: &str =
    "a write buffer (buffer.bytes above 0) and programs of several mapping units (ftl.map_unit_bytes, device.pages_per_program)";
const A_TEMPERATURE: &str = "a temperature (thermal.resistance_c_per_w above 0)";
const HEATED_FLASH: &str =
    "a temperature (thermal.resistance_c_per_w above 0), and operations that draw power (energy.read_mw, program_mw or erase_mw above 0)";
const A_CACHE: &str = "a cache (cache.policy other than \"none\")";
const AN_ARRAY: &str = "an array (array.level other than \"none\")";
const WINDOWS: &str = "windows in which the drives of an array collect (array.window_us above 0)";
const ROTATION: &str = "drives that take turns to collect (array.rotation other than \"off\")";
const IDLE_TRIGGER: &str = "gc.trigger = \"idle\"";
const HOST_ON_THE_DIE: &str = "a scope that leaves the die to the host while a job is active (gc.scope = \"none\", \"block\" or \"plane\")";
const SEVERAL_JOBS: &str =
    "jobs of several planes on a die (gc.scope = \"none\", \"block\" or \"plane\", ftl.pool = \"plane\", device.planes_per_die above 1)";
const SEVERAL_POOLS: &str = "several planes of a die, each with a pool (device.planes_per_die above 1, ftl.pool = \"plane\")";
const HOT_COLD: &str = "workload.address = \"hot-cold\"";
const HANDLES: &str = "ftl.placement = \"handles\"";
const NAMED_HANDLES: &str = "ftl.placement = \"handles\" or \"custom\"";
const CUSTOM_PLACEMENT: &str = "ftl.placement = \"custom\"";
const ZONES: &str = "ftl.placement = \"zones\"";
const LOG: &str = "zones.log";
const LOG_BY_UNIT: &str = "zones.log = \"greedy\" or \"cost-benefit\"";
const LOG_BLOCKS: &str = "zones.log = \"bast\" or \"fast\"";
const PERMUTATION: &str = "workload.address = \"permutation\"";
const QUEUES: &str = "host.queues above 1";
const CLOSED_LOOP: &str = "workload.queue_depth above 0, a closed loop";
const OPEN_LOOP: &str = "workload.queue_depth = 0, since a closed loop has no arrival times of its own";
const FAIR: &str = "scheduler.order = \"fair\"";
const GROUPS: &str = "cache.policy = \"bplru\" or \"fab\"";
const BPLRU: &str = "cache.policy = \"bplru\"";

/// Prefix of the keys of the preparation.
const PREPARATION: &str = "ftl.precondition.";
/// Beginnings of keys of the preparation that hold for a saved state, too: ages are drawn when the run begins.
const AGES: [&str; 2] = ["ftl.precondition.pe_cycles", "ftl.precondition.retention_days"];
const NO_STATE: &str = "a drive that is prepared for the run, not one in a saved state (leave out --state)";
const ERRORS: &str = "reads with errors (errors.retry other than \"off\")";
const A_RETRY: &str = "retries (errors.retry = \"in-order\", \"last-good\", \"pr2\" or \"ar2\")";
const WEAR: &str = "blocks that fail (wear.endurance, wear.program_fails_ppm or wear.erase_fails_ppm above 0)";
const ENDURANCE: &str = "wear.endurance above 0";
const RATING: &str = "wear.rated_cycles or wear.endurance above 0";
const CYCLES: &str = "reads with errors (errors.retry other than \"off\"), or wear.endurance or wear.erase_growth above 0";
const WORN: &str =
    "reads with errors (errors.retry other than \"off\"), wear.rated_cycles, wear.endurance or wear.erase_growth above 0, or wear.leveling";
const SLC: &str = "blocks in SLC mode (slc.static_blocks or slc.dynamic_blocks above 0)";
const PULSES: &str = "wear.erase = \"pulses\" or \"as-needed\"";
const AS_NEEDED: &str = "wear.erase = \"as-needed\"";
const FOR_READS: &str = "an entry in scheduler.suspend";

/// The rules of idle keys. Rules of one key stand together, and the first that the configuration breaks gives the reason. A key without a
/// rule always has an effect, or one that depends on the requests.
const RULES: &[Rule] = &[
    parameter("device.read_ns", "device.read_ns_by_page = []", |c| c.device.read_ns_by_page.is_empty()),
    parameter("device.program_ns", "device.program_ns_by_page = []", |c| c.device.program_ns_by_page.is_empty()),
    switch("device.multiplane", |c| c.device.multiplane, SEVERAL_POOLS, |c| c.device.planes_per_die > 1 && c.ftl.pool == PoolScope::Plane),
    parameter("device.multiplane_aligned", "device.multiplane = true", |c| c.device.multiplane),
    switch("device.multiplane_aligned_reads", |c| c.device.multiplane_aligned_reads, "device.multiplane = true", |c| c.device.multiplane),
    switch(
        "device.copyback",
        |c| c.device.copyback,
        "gc.merge = false, gc.moves_in_flight = 1, ftl.parity_stripe = 0 and programs of one unit (no ftl.map_unit_bytes, device.pages_per_program = 1), since pages pass through the controller otherwise",
        |c| !c.gc.merge && c.gc.moves_in_flight == 1 && c.units_per_program() == 1 && c.ftl.parity_stripe == 0,
    ),
    switch(
        "device.partial_reads",
        |c| c.device.partial_reads,
        "transfers that take time (device.transfer_ps_per_byte above 0)",
        Config::reads_parts,
    ),
    switch(
        "device.cache_register",
        |c| c.device.cache_register,
        "scheduler.pipeline = true, gc.pipeline = true or gc.merge = true",
        |c| c.scheduler.pipeline || c.gc.pipeline || c.gc.merge,
    ),
    parameter("device.ispp_steps", "scheduler.write_pausing = true", |c| c.scheduler.write_pausing),
    parameter(
        "device.page_registers",
        "gc.suspend with \"read\" or \"program\", scheduler.suspend with \"program\", or scheduler.write_pausing = true",
        |c| {
            let by_gc = c.gc.suspend.contains(&Suspendable::Read) || c.gc.suspend.contains(&Suspendable::Program);
            by_gc || c.scheduler.suspend.contains(&SuspendedForReads::Program) || c.scheduler.write_pausing
        },
    ),
    parameter("device.suspend_ns", "an entry in gc.suspend or scheduler.suspend", |c| !c.gc.suspend.is_empty() || c.suspends_for_reads()),
    parameter("device.resume_ns", FOR_READS, Config::suspends_for_reads),
    parameter("device.min_run_ns", FOR_READS, Config::suspends_for_reads),
    parameter("device.max_suspends", FOR_READS, Config::suspends_for_reads),
    switch(
        "scheduler.suspend",
        |c| !c.scheduler.suspend.is_empty(),
        "an entry \"program\" (for programs of the host), or gc.suspend = [], gc.pipeline = false, gc.merge = false and gc.advance = \"alone\" (for GC), which have rules of their own",
        Config::suspends_for_reads,
    ),
    parameter("ftl.map_cache_unit", A_MAP_CACHE, Config::caches_map),
    parameter("ftl.map_cache_policy", A_MAP_CACHE, Config::caches_map),
    switch("ftl.precondition.whole_table", |c| c.ftl.precondition.whole_table, A_MAP_CACHE, Config::caches_map),
    parameter("ftl.map_entry_bytes", A_MAP_CACHE, Config::caches_map),
    parameter("ftl.map_page_bytes", A_MAP_CACHE, Config::caches_map),
    parameter("ftl.map_model_error", "ftl.map_models = \"segments\"", Config::maps_by_segments),
    parameter("ftl.map_model_pieces", "ftl.map_models = \"exact\"", |c| c.ftl.map_models == MapModels::Exact),
    parameter("ftl.handles", HANDLES, |c| c.ftl.placement == Placement::Handles),
    parameter("ftl.default_handle", HANDLES, |c| c.ftl.placement == Placement::Handles),
    switch(
        "ftl.dynamic_ties",
        |c| c.ftl.dynamic_ties != DynamicTies::Turn,
        TIES,
        |c| c.ftl.allocation == Allocation::Dynamic && c.pools_per_group() == 1,
    ),
    parameter("ftl.namespace_layout", "ftl.namespaces", |c| !c.ftl.namespaces.is_empty()),
    parameter("ftl.superblock_span", "ftl.reclaim_unit = \"superblock\"", |c| c.ftl.reclaim_unit == ReclaimUnit::Superblock),
    parameter("zones.blocks", ZONES, Config::has_zones),
    switch("zones.size_bytes", |c| c.zones.size_bytes > 0, ZONES, Config::has_zones),
    parameter("zones.max_open", ZONES, Config::has_zones),
    parameter("zones.max_active", ZONES, Config::has_zones),
    switch("zones.append_ns", |c| c.zones.append_ns > 0, ZONES, Config::has_zones),
    switch("zones.manage_ns", |c| c.zones.manage_ns > 0, ZONES, Config::has_zones),
    switch("zones.close_ns", |c| c.zones.close_ns > 0, ZONES, Config::has_zones),
    switch("zones.reset_ns", |c| c.zones.reset_ns > 0, ZONES, Config::has_zones),
    switch("zones.reset_unit_ns", |c| c.zones.reset_unit_ns > 0, ZONES, Config::has_zones),
    switch("zones.log", |c| c.zones.log != LogVictim::None, ZONES, Config::has_zones),
    parameter("zones.log_blocks", LOG_BLOCKS, Config::has_log_blocks),
    parameter("zones.log_spare", LOG_BY_UNIT, maps_log_by_unit),
    parameter("zones.log_free", LOG_BY_UNIT, maps_log_by_unit),
    parameter("zones.log_batch", LOG, Config::has_log),
    parameter("zones.log_copy", LOG_BY_UNIT, maps_log_by_unit),
    parameter("ftl.frontier", "a placement other than \"zones\", where page moves have blocks of their own", |c| !c.has_zones()),
    parameter("ftl.isolation", HANDLES, |c| c.ftl.placement == Placement::Handles),
    parameter("workload.handle", NAMED_HANDLES, sees_handles),
    switch("workload.handle_ranges", |c| !c.workload.handle_ranges.is_empty(), NAMED_HANDLES, sees_handles),
    parameter("ftl.hot_within", "ftl.placement = \"hot-cold\"", |c| c.ftl.placement == Placement::HotCold),
    parameter("ftl.groups", "ftl.placement = \"oracle\"", |c| c.ftl.placement == Placement::Oracle),
    parameter("ftl.host_streams", CUSTOM_PLACEMENT, |c| c.ftl.placement == Placement::Custom),
    parameter("ftl.move_streams", CUSTOM_PLACEMENT, |c| c.ftl.placement == Placement::Custom),
    switch("ftl.parity_in_spare", |c| !c.ftl.parity_in_spare, "ftl.parity_stripe above 0", |c| c.ftl.parity_stripe > 0),
    parameter("slc.full", SLC, |c| c.slc.is_on()),
    parameter("slc.fold_level", SLC, |c| c.slc.is_on()),
    parameter("slc.idle_us", SLC, |c| c.slc.is_on()),
    parameter("slc.fold_jobs", SLC, |c| c.slc.is_on()),
    parameter("slc.map_mode", "slc.static_blocks or slc.dynamic_blocks above 0, and ftl.map_cache_bytes above 0", |c| {
        c.slc.is_on() && c.caches_map()
    }),
    parameter("slc.bits_per_cell", SLC, |c| c.slc.is_on()),
    parameter("slc.read_ns", SLC, |c| c.slc.is_on()),
    parameter("slc.program_ns", SLC, |c| c.slc.is_on()),
    parameter("slc.erase_ns", SLC, |c| c.slc.is_on()),
    parameter("slc.errors", SLC, |c| c.slc.is_on()),
    parameter("slc.errors", ERRORS, |c| c.errors.is_on()),
    parameter("slc.wear", SLC, |c| c.slc.is_on()),
    parameter("slc.wear", WORN, |c| c.errors.is_on() || counts_cycles(c) || c.wear.rated_cycles > 0 || c.wear.leveling != Leveling::None),
    switch("wear.spread", |c| c.wear.spread > 0.0, ENDURANCE, |c| c.wear.endurance > 0),
    switch("wear.program_fails_worn_ppm", |c| c.wear.program_fails_worn_ppm > 0.0, ENDURANCE, |c| c.wear.endurance > 0),
    switch("wear.erase_fails_worn_ppm", |c| c.wear.erase_fails_worn_ppm > 0.0, ENDURANCE, |c| c.wear.endurance > 0),
    parameter("wear.leveling_threshold", "wear.leveling other than \"none\"", |c| c.wear.leveling != Leveling::None),
    parameter("wear.leveling_rest", "wear.leveling = \"old-block\"", |c| c.wear.leveling == Leveling::OldBlock),
    parameter("wear.pulse_ns", PULSES, |c| c.wear.erase != Erase::Fixed),
    parameter("wear.verify_ns", PULSES, |c| c.wear.erase != Erase::Fixed),
    parameter("wear.step_ns", AS_NEEDED, |c| c.wear.erase == Erase::AsNeeded),
    parameter("wear.probe_ns", AS_NEEDED, |c| c.wear.erase == Erase::AsNeeded),
    switch("wear.erase_spread", |c| c.wear.erase_spread > 0.0, PULSES, |c| c.wear.erase != Erase::Fixed),
    parameter("wear.end", WEAR, |c| c.wear.is_on()),
    parameter("wear.warranty_years", RATING, |c| c.wear.rating() > 0),
    parameter("errors.codeword_bytes", ERRORS, |c| c.errors.is_on()),
    parameter("errors.correctable_bits", ERRORS, |c| c.errors.is_on()),
    parameter("errors.decode_ns", ERRORS, |c| c.errors.is_on()),
    parameter("errors.epsilon", ERRORS, |c| c.errors.is_on()),
    parameter("errors.alpha", ERRORS, |c| c.errors.is_on()),
    parameter("errors.k", ERRORS, |c| c.errors.is_on()),
    parameter("errors.beta", ERRORS, |c| c.errors.is_on()),
    parameter("errors.m", ERRORS, |c| c.errors.is_on()),
    parameter("errors.n", ERRORS, |c| c.errors.is_on()),
    parameter("errors.gamma", ERRORS, |c| c.errors.is_on()),
    parameter("errors.p", ERRORS, |c| c.errors.is_on()),
    parameter("errors.q", ERRORS, |c| c.errors.is_on()),
    parameter("errors.retry_table", A_RETRY, |c| retries(c.errors.retry)),
    parameter("errors.short_read", "errors.retry = \"ar2\"", |c| c.errors.retry == RetryPolicy::Ar2),
    parameter("errors.set_ns", "errors.retry = \"ar2\"", |c| c.errors.retry == RetryPolicy::Ar2),
    parameter("errors.reset_ns", "errors.retry = \"pr2\" or \"ar2\"", |c| matches!(c.errors.retry, RetryPolicy::Pr2 | RetryPolicy::Ar2)),
    switch("errors.spread", |c| c.errors.spread > 0.0, ERRORS, |c| c.errors.is_on()),
    switch("errors.reclaim_reads", |c| c.errors.reclaim_reads > 0, ERRORS, |c| c.errors.is_on()),
    switch("errors.refresh_days", |c| c.errors.refresh_days > 0.0, ERRORS, |c| c.errors.is_on()),
    switch("ftl.precondition.pe_cycles", |c| c.ftl.precondition.pe_cycles > 0, CYCLES, |c| c.errors.is_on() || counts_cycles(c)),
    parameter("ftl.precondition.pe_cycles_max", CYCLES, |c| c.errors.is_on() || counts_cycles(c)),
    switch("ftl.precondition.retention_days", |c| c.ftl.precondition.retention_days > 0.0, ERRORS, |c| c.errors.is_on()),
    parameter("ftl.precondition.retention_days_max", ERRORS, |c| c.errors.is_on()),
    parameter("ftl.precondition.range", "ftl.precondition.kind = \"soft\" or \"steady\"", |c| {
        matches!(c.ftl.precondition.kind, PreconditionKind::Soft | PreconditionKind::Steady)
    }),
    parameter("ftl.precondition.rounds", "ftl.precondition.kind = \"trace\"", |c| c.ftl.precondition.kind == PreconditionKind::Trace),
    switch(
        "ftl.precondition.settle",
        |c| c.ftl.precondition.settle > 0.0,
        "a generated workload, since for a trace the drive is prepared without time",
        |c| !c.workload.reads_traces(),
    ),
    switch(
        "gc.advance",
        |c| c.gc.advance != Advance::Alone,
        "gc.scope = \"none\" or \"block\", since no host operation is served \
        during a job otherwise",
        |c| c.gc.advances_with_requests(),
    ),
    parameter("gc.hard_stops", "gc.hard above 0", |c| c.gc.hard > 0.0),
    parameter("gc.invalid_share", "gc.trigger = \"invalid-share\" or \"both\"", |c| {
        matches!(c.gc.trigger, Trigger::InvalidShare | Trigger::Both)
    }),
    parameter("gc.forced", "gc.trigger = \"both\"", |c| c.gc.trigger == Trigger::Both),
    parameter("gc.choices", "gc.victim = \"d-choices\"", |c| c.gc.victim == Victim::DChoices),
    parameter("gc.pace_window", "gc.pace = \"proportional\" or \"room\"", |c| c.gc.pace != Pace::None),
    parameter("gc.idle_us", IDLE_TRIGGER, |c| c.gc.trigger == Trigger::Idle),
    parameter("gc.idle_timeout", IDLE_TRIGGER, |c| c.gc.trigger == Trigger::Idle),
    parameter("gc.idle_free", IDLE_TRIGGER, |c| c.gc.trigger == Trigger::Idle),
    switch("gc.pipeline", |c| c.gc.pipeline, "device.cache_register = true", |c| c.device.cache_register || cancels_suspension(c)),
    switch(
        "gc.pipeline",
        |c| c.gc.pipeline,
        HOST_ON_THE_DIE,
        |c| host_uses_the_die(c.gc.scope) || c.gc.moves_in_flight > 1 || c.units_per_program() > 1 || cancels_suspension(c),
    ),
    switch(
        "gc.suspend",
        // "program" has an effect in every scope: a page move then stops before its program, and is discarded if the host has
        // overwritten or trimmed its page by then.
        |c| !c.gc.suspend.is_empty() && !c.gc.suspend.contains(&Suspendable::Program),
        HOST_ON_THE_DIE,
        |c| {
            let beside_other_die = c.gc.scope == Scope::Die && !c.device.die_interleave && c.device.dies_per_chip > 1;
            host_uses_the_die(c.gc.scope) || beside_other_die || cancels_suspension(c)
        },
    ),
    switch(
        "gc.leftover",
        |c| c.gc.leftover == Leftover::Carry,
        "programs of several mapping units (ftl.map_unit_bytes, device.pages_per_program above 1)",
        |c| c.units_per_program() > 1,
    ),
    switch(
        "gc.turns",
        |c| c.gc.turns == Turns::Job,
        SEVERAL_JOBS,
        |c| host_uses_the_die(c.gc.scope) && c.ftl.pool == PoolScope::Plane && c.device.planes_per_die > 1,
    ),
    // Moves that may merge never use copyback, whether or not a host operation can reach them.
    switch("gc.merge", |c| c.gc.merge, HOST_ON_THE_DIE, |c| host_uses_the_die(c.gc.scope) || c.device.copyback || cancels_suspension(c)),
    switch("scheduler.flow_weights", |c| !c.scheduler.flow_weights.is_empty(), FAIR, is_fair),
    parameter("scheduler.fair_epoch_us", FAIR, is_fair),
    parameter("scheduler.fair_low_mb_s", FAIR, is_fair),
    parameter("scheduler.fair_ratio", FAIR, is_fair),
    parameter("scheduler.alpha", "scheduler.order = \"fr-fcfs\" and scheduler.write_queue above 0", |c| {
        c.scheduler.order == Order::FrFcfs && c.scheduler.write_queue > 0
    }),
    switch(
        "energy.cap_w",
        |c| c.energy.cap_w > 0.0,
        "operations that draw power (energy.read_mw, energy.program_mw or energy.erase_mw above 0)",
        |c| c.energy.of_operations(),
    ),
    switch(
        "energy.source",
        |c| c.energy.source != PowerSource::Guessed,
        "powers (energy.idle_mw, energy.program_mw or others above 0)",
        |c| c.energy.is_on(),
    ),
    parameter("thermal.time_constant_s", A_TEMPERATURE, |c| c.thermal.is_on()),
    parameter("thermal.ambient_c", A_TEMPERATURE, |c| c.thermal.is_on()),
    switch("thermal.start_c", |c| c.thermal.start_c.is_some(), A_TEMPERATURE, |c| c.thermal.is_on()),
    parameter("thermal.sample_us", A_TEMPERATURE, |c| c.thermal.is_on()),
    switch("thermal.light_c", |c| c.thermal.light_c > 0.0, HEATED_FLASH, |c| c.thermal.is_on() && c.energy.of_operations()),
    switch("thermal.heavy_c", |c| c.thermal.heavy_c > 0.0, HEATED_FLASH, |c| c.thermal.is_on() && c.energy.of_operations()),
    switch("thermal.critical_c", |c| c.thermal.critical_c > 0.0, A_TEMPERATURE, |c| c.thermal.is_on()),
    parameter("thermal.light_w", "thermal.light_c above 0", |c| c.thermal.is_on() && c.thermal.light_c > 0.0),
    parameter("thermal.heavy_w", "thermal.heavy_c above 0", |c| c.thermal.is_on() && c.thermal.heavy_c > 0.0),
    parameter("thermal.hysteresis_c", "a temperature that limits the drive (thermal.light_c, heavy_c or critical_c above 0)", |c| {
        c.thermal.throttles()
    }),
    parameter("cache.place", A_CACHE, |c| c.cache.is_on()),
    parameter("cache.bytes", A_CACHE, |c| c.cache.is_on()),
    parameter("cache.access_ns", A_CACHE, |c| c.cache.is_on()),
    parameter("cache.reads", A_CACHE, |c| c.cache.is_on()),
    parameter("cache.writes", A_CACHE, |c| c.cache.is_on()),
    switch("cache.gc_aware", |c| c.cache.gc_aware, A_CACHE, |c| c.cache.is_on()),
    switch("cache.soon", |c| c.cache.soon > 0, "a cache with cache.gc_aware = true", |c| c.cache.is_on() && c.cache.gc_aware),
    switch("cache.flush_on_idle", |c| c.cache.flush_on_idle, "a cache with cache.writes = true", |c| c.cache.is_on() && c.cache.writes),
    parameter("cache.flush_idle_us", "a cache with cache.writes and cache.flush_on_idle = true", |c| {
        c.cache.is_on() && c.cache.writes && c.cache.flush_on_idle
    }),
    switch("cache.destage_ahead", |c| c.cache.destage_ahead > 0.0, A_CACHE, |c| c.cache.is_on()),
    parameter("cache.clean_window", "cache.policy = \"cflru\"", |c| c.cache.policy == CachePolicy::Cflru),
    parameter("cache.group", GROUPS, |c| c.cache.evicts_groups()),
    parameter("cache.compensation", BPLRU, |c| c.cache.policy == CachePolicy::Bplru),
    switch("cache.padding", |c| c.cache.padding != Padding::Off, BPLRU, |c| c.cache.policy == CachePolicy::Bplru),
    parameter("cache.padding_share", "cache.policy = \"bplru\" and cache.padding = \"share\"", |c| {
        c.cache.policy == CachePolicy::Bplru && c.cache.padding == Padding::Share
    }),
    parameter("buffer.access_ns", A_BUFFER, |c| c.buffer.is_on()),
    parameter("buffer.protected", A_BUFFER, |c| c.buffer.is_on()),
    parameter("buffer.bytes_per_us", A_BUFFER, |c| c.buffer.is_on()),
    parameter("buffer.drain", BUFFERED_UNITS, |c| c.buffer.is_on() && (c.units_per_program() > 1 || c.buffer.drain == Drain::AtOnce)),
    switch("buffer.timeout_us", |c| c.buffer.timeout_us > 0, BUFFERED_UNITS, |c| c.buffer.is_on() && c.units_per_program() > 1),
    switch("buffer.sort_units", |c| c.buffer.sort_units > 0, A_BUFFER, |c| c.buffer.is_on()),
    parameter("buffer.reads_pass", A_BUFFER, |c| c.buffer.is_on()),
    switch("host.arbitration", |c| c.host.arbitration != Arbitration::Rr, QUEUES, |c| c.host.queues > 1),
    switch("host.weights", |c| !c.host.weights.is_empty(), "host.arbitration = \"wrr\"", |c| c.host.arbitration == Arbitration::Wrr),
    parameter("host.quota_burst_us", "a quota of a queue (host.quota_iops or host.quota_mb_s above 0)", |c| c.host.has_quotas()),
    parameter("host.cores", "host.command_ns or host.completion_ns above 0", |c| c.host.works()),
    parameter("array.drives", AN_ARRAY, |c| c.array.level != ArrayLevel::None),
    parameter("array.stripe_kb", AN_ARRAY, |c| c.array.level != ArrayLevel::None),
    parameter("array.window_tail_us", WINDOWS, |c| c.array.window_us > 0),
    parameter("array.window_forced", WINDOWS, |c| c.array.window_us > 0),
    parameter("array.rotation_forced", ROTATION, |c| c.array.rotation != Rotation::Off),
    parameter("workload.hot_share", HOT_COLD, |c| generated(c, |w| w.address == Address::HotCold)),
    parameter("workload.hot_access", HOT_COLD, |c| generated(c, |w| w.address == Address::HotCold)),
    switch("workload.hot_scattered", |c| c.workload.hot_scattered, HOT_COLD, |c| generated(c, |w| w.address == Address::HotCold)),
    switch(
        "workload.permutation_repeats",
        |c| c.workload.permutation_repeats,
        PERMUTATION,
        |c| generated(c, |w| w.address == Address::Permutation),
    ),
    parameter("workload.pareto_h", "workload.address = \"pareto\"", |c| generated(c, |w| w.address == Address::Pareto)),
    switch(
        "workload.zones",
        |c| !c.workload.zones.is_empty(),
        "workload.address = \"zones\"",
        |c| generated(c, |w| w.address == Address::Zones),
    ),
    switch(
        "workload.fio_draws",
        |c| c.workload.fio_draws,
        "workload.address = \"zipf\" or \"pareto\"",
        |c| generated(c, |w| matches!(w.address, Address::Zipf | Address::Pareto)),
    ),
    parameter("workload.normal_width", "workload.address = \"normal\"", |c| generated(c, |w| w.address == Address::Normal)),
    switch("workload.trim_first", |c| c.workload.trim_first, "workload.read_share below 1", |c| generated(c, |w| w.read_share < 1.0)),
    switch("workload.paced", |c| c.workload.paced, CLOSED_LOOP, |c| c.workload.queue_depth > 0),
    switch("workload.think_us", |c| c.workload.think_us > 0.0, CLOSED_LOOP, |c| c.workload.queue_depth > 0),
    switch("workload.flush_every", |c| c.workload.flush_every > 0, "workload.read_share below 1", |c| generated(c, |w| w.read_share < 1.0)),
    switch("workload.flush_at_end", |c| c.workload.flush_at_end, CLOSED_LOOP, |c| c.workload.queue_depth > 0),
    parameter("workload.think_requests", "workload.think_us above 0", |c| c.workload.think_us > 0.0),
    switch("workload.trim_share", |c| c.workload.trim_share > 0.0, "workload.read_share below 1", |c| generated(c, |w| w.read_share < 1.0)),
    parameter("workload.zipf_exponent", "workload.address = \"zipf\"", |c| generated(c, |w| w.address == Address::Zipf)),
    switch(
        "workload.size_table",
        |c| !c.workload.size_table.is_empty(),
        "workload.request_size = \"table\"",
        |c| generated(c, |w| w.request_size == SizeDistribution::Table),
    ),
    parameter("workload.request_kb", "workload.request_size other than \"table\"", |c| {
        generated(c, |w| w.request_size != SizeDistribution::Table)
    }),
    switch(
        "workload.volumes",
        |c| c.workload.volumes == Volumes::Concatenated,
        "workload.device absent, since one volume begins at 0",
        |c| c.workload.device.is_none(),
    ),
    parameter("workload.burst_length", "workload.arrival = \"burst\"", |c| generated(c, |w| w.arrival == Arrival::Burst)),
    switch("workload.time_scale", |c| c.workload.time_scale != 1.0, OPEN_LOOP, |c| c.workload.queue_depth == 0),
    parameter("workload.max_outstanding", OPEN_LOOP, |c| c.workload.queue_depth == 0 || c.workload.has_separate_flows()),
    parameter("workload.interarrival_us", OPEN_LOOP, |c| generated(c, |w| w.queue_depth == 0 || w.paced)),
    parameter("workload.arrival", OPEN_LOOP, |c| generated(c, |w| w.queue_depth == 0 || w.paced)),
];

/// A saved state takes the place of what the key says.
fn replaced_by_a_state(key: &str) -> bool {
    key.starts_with(PREPARATION) && !AGES.iter().any(|age| key.starts_with(age))
}

/// The number of erases of a block changes when it fails or how long its erases take.
fn counts_cycles(config: &Config) -> bool {
    config.wear.endurance > 0 || config.wear.erase_growth > 0.0
}

/// Reads that fail are repeated by the steps of the retry table.
fn retries(policy: RetryPolicy) -> bool {
    !matches!(policy, RetryPolicy::Off | RetryPolicy::None)
}

/// Host operations may run on the die of a pool whose job is active.
fn host_uses_the_die(scope: Scope) -> bool {
    matches!(scope, Scope::None | Scope::Block | Scope::Plane)
}

/// Operations are ordered so that flows are slowed down evenly.
fn is_fair(config: &Config) -> bool {
    config.scheduler.order == Order::Fair
}

/// Exactly one key of preemptible GC is on, and it switches off suspension of GC operations by `scheduler.suspend`
/// ([`Config::suspends_gc`]): this alone is an effect.
fn cancels_suspension(config: &Config) -> bool {
    let gc = &config.gc;
    let on = [!gc.suspend.is_empty(), gc.pipeline, gc.merge, gc.advances_with_requests()];
    !config.scheduler.suspend.is_empty() && on.into_iter().filter(|&on| on).count() == 1
}

/// A key of generated requests has an effect in some flow. True with a trace, for which [`workload_rules::without_effect`] names such keys,
/// and with parts of a flow, any of which may use the key.
fn generated(config: &Config, works: fn(&Workload) -> bool) -> bool {
    let workload = &config.workload;
    let in_some_flow = || workload.separate_flows().map_or(true, |flows| flows.iter().any(|flow| works(&flow.workload)));
    workload.trace.is_some() || workload.parts().next().is_some() || in_some_flow()
}

impl Config {
    /// The keys that have no effect in this configuration, whatever its requests are, in the order of the rules. A switch that is off is
    /// not among them.
    pub fn idle_keys(&self) -> Vec<IdleKey> {
        let idle = RULES.iter().filter(|rule| (rule.asks)(self) && !(rule.works)(self));
        let mut keys: Vec<_> = idle.map(|rule| IdleKey { key: rule.key.into(), needs: rule.needs.into() }).collect();
        keys.dedup_by(|later, earlier| later.key == earlier.key);
        keys
    }

    /// The keys that have no effect in a run, whatever its requests are. `from_state`: the run begins with a saved state, which replaces
    /// the preparation.
    pub fn idle_keys_of_run(&self, from_state: bool) -> Vec<IdleKey> {
        if !from_state {
            return self.idle_keys();
        }
        let is_replaced = replaced_by_a_state;
        let of_preparation = super::node::root().keys().into_iter().map(|node| node.path.clone()).filter(|key| is_replaced(key));
        let replaced = of_preparation.map(|key| IdleKey { key, needs: NO_STATE.into() });
        self.idle_keys().into_iter().filter(|idle| !is_replaced(&idle.key)).chain(replaced).collect()
    }

    /// The idle keys that a result names. All keys that the user wrote (`written`), also those of requests that a trace replaces. Of the
    /// other keys, those that request a mechanism: with values other than the default, outside of `device`, `workload` and
    /// `ftl.precondition`, which only describe the drive, what it was used for, and the requests. `from_state`: the run begins with a saved state.
    pub fn idle_choices(&self, written: &[String], from_state: bool) -> Vec<IdleKey> {
        let describes = |key: &str| ["device.", "workload.", "ftl.precondition."].iter().any(|section| key.starts_with(section));
        let tree = |config: &Config| serde_json::to_value(config).expect("a configuration is a JSON object");
        let (own, default) = (tree(self), tree(&Config::default()));
        let pointer = |key: &str| format!("/{}", key.replace('.', "/"));
        let changed = |key: &str| own.pointer(&pointer(key)) != default.pointer(&pointer(key));
        let is_written = |key: &str| written.iter().any(|other| other == key);
        let is_choice = |key: &str| !(describes(key) || from_state && replaced_by_a_state(key)) && changed(key);
        let named = |idle: &IdleKey| is_written(&idle.key) || is_choice(&idle.key);
        let of_workload = workload_rules::without_effect(written.iter().map(String::as_str), &self.workload);
        self.idle_keys_of_run(from_state).into_iter().filter(named).chain(of_workload).collect()
    }
}

/// The keys among those set by hand (`("gc.hard", "0.2")`) that have no effect in `config`. `from_state`: the run begins with a saved
/// state.
///
/// # Errors
/// [`Error::Config`](ssdlab_base::error::Error::Config) if a pair cannot be read.
pub fn idle_by_hand(config: &Config, set: &[(String, String)], from_state: bool) -> Result<Vec<IdleKey>> {
    let keys = keys_by_hand(set)?;
    Ok(config.idle_keys_of_run(from_state).into_iter().filter(|idle| keys.contains(&idle.key)).collect())
}

/// A log of the host maps units, and collects zones.
fn maps_log_by_unit(config: &Config) -> bool {
    config.has_log() && !config.has_log_blocks()
}

fn sees_handles(config: &Config) -> bool {
    matches!(config.ftl.placement, Placement::Handles | Placement::Custom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;

    fn needs(pairs: &[(&str, &str)], key: &str) -> Option<String> {
        let set: Vec<_> = pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let config = Layers { set: set.clone(), ..Layers::default() }.build().unwrap();
        idle_by_hand(&config, &set, false).unwrap().into_iter().find(|idle| idle.key == key).map(|idle| idle.needs)
    }

    #[test]
    fn a_pipeline_without_a_cache_register_is_idle_until_the_device_has_one() {
        let pipeline = ("gc.pipeline", "true");
        assert!(needs(&[pipeline, ("gc.scope", "none")], "gc.pipeline").unwrap() == "device.cache_register = true");
        assert!(needs(&[pipeline, ("gc.scope", "chip"), ("device.cache_register", "true")], "gc.pipeline").unwrap() == HOST_ON_THE_DIE);
        assert!(needs(&[pipeline, ("gc.scope", "chip")], "gc.pipeline").unwrap() == "device.cache_register = true", "one of two");
        assert_eq!(needs(&[pipeline, ("gc.scope", "none"), ("device.cache_register", "true")], "gc.pipeline"), None);
    }

    #[test]
    fn a_switch_that_is_off_is_never_idle() {
        assert_eq!(needs(&[("gc.pipeline", "false"), ("cache.gc_aware", "false"), ("gc.suspend", "[]")], "gc.pipeline"), None);
        assert_eq!(needs(&[("cache.gc_aware", "false")], "cache.gc_aware"), None);
        assert!(needs(&[("cache.gc_aware", "true")], "cache.gc_aware").is_some());
    }

    #[test]
    fn scattering_a_hot_part_is_idle_where_there_is_none() {
        let scattered = ("workload.hot_scattered", "true");
        assert_eq!(needs(&[scattered, ("workload.address", "zipf")], "workload.hot_scattered").unwrap(), HOT_COLD);
        assert_eq!(needs(&[scattered, ("workload.address", "hot-cold")], "workload.hot_scattered"), None);
        assert_eq!(needs(&[("workload.hot_scattered", "false")], "workload.hot_scattered"), None);
    }

    #[test]
    fn a_key_of_generated_requests_is_idle_if_no_flow_uses_it() {
        let gaps = ("workload.interarrival_us", "100");
        let flow = |keys: &str| format!("[{{ name = \"other\", {keys} }}]");
        let needs = |depth: &str, keys: &str| {
            needs(&[gaps, ("workload.queue_depth", depth), ("workload.flows", &flow(keys))], "workload.interarrival_us")
        };
        assert_eq!(needs("4", "queue_depth = 2").unwrap(), OPEN_LOOP);
        assert_eq!(needs("4", "queue_depth = 0"), None);
        assert_eq!(needs("0", "queue_depth = 2"), None);
    }

    #[test]
    fn a_key_that_nobody_set_is_not_one_set_by_hand() {
        assert_eq!(needs(&[("cache.policy", "lru")], "cache.clean_window"), None);
        assert!(needs(&[("cache.policy", "lru"), ("cache.clean_window", "0.5")], "cache.clean_window").is_some());
        assert!(needs(&[("cache", "{policy = \"lru\", clean_window = 0.5}")], "cache.clean_window").is_some());
    }

    #[test]
    fn a_saved_state_replaces_the_preparation() {
        let written = ["ftl.precondition.settle", "ftl.precondition.rounds", "gc.choices"].map(String::from);
        let named = |from_state| Config::default().idle_choices(&written, from_state).into_iter().map(|idle| (idle.key, idle.needs));
        let keys: Vec<_> = named(true).filter(|(_, needs)| needs == NO_STATE).map(|(key, _)| key).collect();
        assert_eq!(keys, ["ftl.precondition.rounds", "ftl.precondition.settle"]);
        assert!(named(true).any(|(key, _)| key == "gc.choices"));
        assert!(named(false).all(|(_, needs)| needs != NO_STATE));
    }

    #[test]
    fn every_rule_names_a_key_and_those_of_a_key_stand_together() {
        let known: Vec<&str> = super::super::node::root().keys().into_iter().map(|node| node.path.as_str()).collect();
        for (index, rule) in RULES.iter().enumerate() {
            assert!(known.contains(&rule.key), "{}", rule.key);
            let before = &RULES[..index];
            let is_first = before.iter().all(|other| other.key != rule.key);
            assert!(is_first || before.last().is_some_and(|other| other.key == rule.key), "{}", rule.key);
        }
    }

    #[test]
    fn what_describes_the_drive_is_no_choice_that_is_idle() {
        let set = [("gc.scope", "none"), ("gc.pipeline", "true"), ("device.suspend_ns", "1")];
        let set = set.map(|(key, value)| (key.to_string(), value.to_string())).to_vec();
        let config = Layers { set, ..Layers::default() }.build().unwrap();
        let keys = |idle: Vec<IdleKey>| idle.into_iter().map(|idle| idle.key).collect::<Vec<_>>();
        assert!(keys(config.idle_keys()).contains(&"device.suspend_ns".to_string()));
        assert_eq!(keys(config.idle_choices(&[], false)), ["gc.pipeline"]);
        let written = ["device.suspend_ns", "gc.soft", "cache.bytes"].map(String::from);
        assert_eq!(keys(config.idle_choices(&written, false)), ["device.suspend_ns", "gc.pipeline", "cache.bytes"]);
    }
}
