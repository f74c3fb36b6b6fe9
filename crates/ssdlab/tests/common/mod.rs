//! Small drives, random drives and random workloads for tests.

pub mod cases;
pub mod pages;
pub mod perfetto;
pub mod slack;
pub mod slack_model;
pub mod slack_recount;
pub mod timeline;
pub mod watch;

use ssdlab::config::*;
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify};

/// A plan with every invariant checked after every event.
pub fn plan(config: Config) -> Plan {
    Plan { verify: Verify::Every, ..Plan::new(config, 1) }
}

/// A simulation of `config`, ready for requests.
pub fn simulation(config: &Config) -> Simulation {
    let mut simulation = Simulation::new(&plan(config.clone()), &Control::default()).expect("a drive");
    simulation.take_completions();
    simulation
}

/// One die, one plane, erased: read 25 us, program 200 us, erase 1.5 ms, 102.4 us a page on the bus.
pub fn one_die() -> Config {
    let mut config = Config::default();
    config.device.channels = 1;
    config.device.blocks_per_plane = 8;
    config.device.pages_per_block = 4;
    config.device.overprovisioning = 0.5;
    config.ftl.precondition.kind = PreconditionKind::None;
    config.gc.soft = 1.0;
    config
}

/// A protected write buffer whose memory takes `access_ns`, and which programs what fills a program.
pub fn protected_buffer(bytes: u64, access_ns: u64) -> Buffer {
    Buffer { bytes, access_ns, protected: true, drain: Drain::Full, timeout_us: 0, reads_pass: true, bytes_per_us: 0, sort_units: 0 }
}

pub fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.below(from.len() as u64) as usize]
}

/// A random small drive with a random point of the policy space.
pub fn random_config(rng: &mut Rng) -> Config {
    let mut config = Config::default();
    let device = &mut config.device;
    device.channels = pick(rng, &[1, 1, 2, 3]);
    device.chips_per_channel = pick(rng, &[1, 1, 2]);
    device.dies_per_chip = pick(rng, &[1, 1, 2]);
    device.planes_per_die = pick(rng, &[1, 1, 2, 4]);
    device.blocks_per_plane = pick(rng, &[8, 12, 16]);
    device.pages_per_block = pick(rng, &[2, 4, 7, 8]);
    device.page_bytes = pick(rng, &[512, 4096]);
    device.transfer_ps_per_byte = pick(rng, &[0, 3_003, 25_000]);
    device.command_ns = pick(rng, &[0, 100]);
    device.copyback = rng.chance(0.5);
    device.cache_register = rng.chance(0.5);
    device.die_interleave = rng.chance(0.8);
    device.multiplane_aligned = rng.chance(0.5);
    if rng.chance(0.2) {
        device.read_ns_by_page = vec![20_000, 40_000];
        device.program_ns_by_page = vec![150_000, 300_000, 600_000];
    }
    config.ftl.pool = pick(rng, &[PoolScope::Plane, PoolScope::Plane, PoolScope::Die]);
    device.multiplane = config.ftl.pool == PoolScope::Plane && rng.chance(0.5);
    config.ftl.frontier = pick(rng, &[Frontier::Shared, Frontier::Separate]);
    config.ftl.allocation = match rng.below(3) {
        0 => Allocation::Dynamic,
        1 => Allocation::default(),
        _ => {
            let names = Allocation::names();
            names[1 + rng.below(names.len() as u64 - 1) as usize].parse().expect("a permutation")
        }
    };
    config.ftl.partial_write = pick(rng, &[PartialWrite::Rmw, PartialWrite::Program]);
    config.ftl.unmapped_read = pick(rng, &[UnmappedRead::Immediate, UnmappedRead::Flash]);
    config.ftl.precondition.kind = pick(
        rng,
        &[PreconditionKind::None, PreconditionKind::Fill, PreconditionKind::Fill, PreconditionKind::Soft, PreconditionKind::Steady],
    );
    let planes = if config.ftl.pool == PoolScope::Die { device.planes_per_die } else { 1 };
    let blocks = f64::from(device.blocks_per_plane * planes);
    // Three spare blocks and the threshold, at the least.
    device.overprovisioning = (4.5 + 3.0 * rng.unit()) / blocks;
    config.gc.soft = pick(rng, &[1.0, 2.0]);
    config.gc.scope =
        pick(rng, &[Scope::Device, Scope::Channel, Scope::Chip, Scope::Die, Scope::Plane, Scope::Block, Scope::Block, Scope::None]);
    config.gc.trigger = pick(rng, &[Trigger::Soft, Trigger::Soft, Trigger::Idle, Trigger::InvalidShare]);
    config.gc.invalid_share = pick(rng, &[0.0, 0.3, 0.7, 1.0]);
    config.gc.idle_us = pick(rng, &[1, 50, 300]);
    config.gc.idle_timeout = pick(rng, &[IdleTimeout::Fixed, IdleTimeout::Adaptive]);
    config.gc.idle_free = pick(rng, &[1.0, 1.5, 3.0, 100.0]);
    config.gc.priority = pick(rng, &[Priority::Gc, Priority::Fifo, Priority::Host]);
    config.gc.victim = pick(rng, Victim::ALL);
    config.gc.choices = pick(rng, &[1, 2, 10]);
    config.gc.hard = pick(rng, &[0.0, 0.0, 0.2, 0.5, 0.8, 1.0]);
    config.gc.hard_stops = pick(rng, &[HardStops::Writes, HardStops::Writes, HardStops::All]);
    config.gc.pipeline = device.cache_register && rng.chance(0.6);
    config.gc.merge = rng.chance(0.5);
    let kinds = [Suspendable::Read, Suspendable::Program, Suspendable::Erase];
    config.gc.suspend = if rng.chance(0.5) { kinds.into_iter().filter(|_| rng.chance(0.6)).collect() } else { Vec::new() };
    device.suspend_ns = pick(rng, &[0, 1_000, 20_000, 20_000, 150_000]);
    device.page_registers = pick(rng, &[1, 2]);
    config.gc.moves_in_flight = pick(rng, &[1, 1, 1, 2, 3, 100]);
    config.gc.poll_ns = pick(rng, &[0, 0, 600]);
    config.scheduler.order = pick(rng, &[Order::Fcfs, Order::FrFcfs]);
    config.scheduler.pipeline = device.cache_register && rng.chance(0.6);
    if rng.chance(0.3) {
        config.scheduler.read_queue = pick(rng, &[1, 3]);
        config.scheduler.write_queue = pick(rng, &[1, 2, 5]);
        config.scheduler.alpha = pick(rng, &[0.0, 0.5, 1.0]);
    }
    if rng.chance(0.4) {
        slack_aware(rng, &mut config);
    }
    if rng.chance(0.5) {
        by_requests(rng, &mut config);
    }
    how_dies_are_shared(rng, &mut config);
    config
}

/// Half of the small drives whose pages can be divided map units smaller than a page. Again from a stream of its own.
pub fn mapping_units(rng: &Rng, config: &mut Config) {
    let rng = &mut Rng::new(rng.clone().bits(), "units");
    let units = pick(rng, &[2, 4, 8]);
    let device = &config.device;
    let planes = device.channels * device.chips_per_channel * device.dies_per_chip * device.planes_per_die;
    // Recounting large drives of many units after every event takes too long.
    if device.page_bytes < 512 * units || planes > 6 || rng.chance(0.5) {
        return;
    }
    config.ftl.map_unit_bytes = Some(config.device.page_bytes / units);
    room_for_programs(rng, config);
}

/// A quarter of the small drives have programs of several pages.
pub fn one_shot_programs(rng: &mut Rng, config: &mut Config) {
    let device = &mut config.device;
    let planes = device.channels * device.chips_per_channel * device.dies_per_chip * device.planes_per_die;
    if planes > 6 || rng.chance(0.75) {
        return;
    }
    device.pages_per_program = pick(rng, &[2, 3, 4]);
    device.pages_per_block = device.pages_per_program * pick(rng, &[2, 3, 4]);
    device.read_ns_by_page.truncate(device.pages_per_block as usize);
    device.program_ns_by_page.truncate((device.pages_per_block / device.pages_per_program) as usize);
    room_for_programs(rng, config);
}

/// A quarter of the drives draw power, which heats them within milliseconds: they throttle and stop.
pub fn heat(rng: &mut Rng, config: &mut Config) {
    if rng.chance(0.75) {
        return;
    }
    let energy = &mut config.energy;
    (energy.read_mw, energy.program_mw, energy.erase_mw, energy.idle_mw) = (80.0, 100.0, 90.0, 1_000.0);
    (energy.bus_mw, energy.link_pj_per_bit, energy.command_nj) = (20.0, 8.9, 1.5);
    let resistance = pick(rng, &[20.0, 100.0]);
    let above = |watts: f64| 25.0 + watts * resistance;
    config.thermal = Thermal {
        resistance_c_per_w: resistance,
        time_constant_s: pick(rng, &[0.0002, 0.001, 0.01]),
        start_c: pick(rng, &[None, Some(above(1.2))]),
        sample_us: pick(rng, &[50, 300, 1_000]),
        light_c: pick(rng, &[0.0, above(1.01), above(1.04)]),
        light_w: pick(rng, &[1.1, 1.2]),
        heavy_c: pick(rng, &[0.0, above(1.06), above(1.1)]),
        heavy_w: 1.1,
        critical_c: pick(rng, &[0.0, above(1.11), above(1.2)]),
        hysteresis_c: resistance * pick(rng, &[0.0, 0.02, 0.05]),
        ..Thermal::default()
    };
}

/// A quarter of the drives have up to three power states, with latencies like those of their operations.
pub fn power_states(rng: &mut Rng, config: &mut Config) {
    if rng.chance(0.75) {
        return;
    }
    let states = 1 + rng.below(3) as usize;
    let mut list = |most: &[u64]| (0..states).map(|state| 1 + rng.below(most[state])).collect::<Vec<u64>>();
    let (entry_us, exit_us) = (list(&[200, 400, 2_000]), list(&[400, 1_000, 5_000]));
    let idle_us = list(&[300, 1_000, 5_000]);
    let power_mw = [60.0, 25.0, 5.0].iter().map(|share| share * config.energy.idle_mw / 100.0).take(states).collect();
    config.power_states = PowerStates { power_mw, entry_us, exit_us, idle_us };
}

/// In half of the drives units of a job that fill no program wait for the next, some with room for that.
pub fn leftovers(rng: &mut Rng, config: &mut Config) {
    if config.units_per_program() == 1 || rng.chance(0.5) {
        return;
    }
    config.gc.leftover = Leftover::Carry;
    let before = config.clone();
    let more = pick(rng, &[0, 1, 3]);
    config.device.blocks_per_plane += more;
    config.gc.soft += f64::from(more);
    let planes = if config.ftl.pool == PoolScope::Die { config.device.planes_per_die } else { 1 };
    let (old, new) = (f64::from(before.device.blocks_per_plane * planes), f64::from(config.device.blocks_per_plane * planes));
    config.device.overprovisioning = (before.device.overprovisioning * old + new - old) / new;
    if ssdlab::config::validate(config).is_err() || config.exported_bytes().ok() < before.exported_bytes().ok() {
        *config = before;
    }
}

/// A quarter of the small drives have parity.
pub fn parity(rng: &mut Rng, config: &mut Config) {
    let programs = config.device.pages_per_block / config.device.pages_per_program;
    let stripe = pick(rng, &[2, 3, 4, 5]);
    // Of blocks with one program of data none that keeps a unit would ever be collected.
    if programs < stripe.max(3) || rng.chance(0.75) {
        return;
    }
    config.ftl.parity_stripe = stripe;
    room_for_programs(rng, config);
}

/// An eighth of the drives collect by two thresholds at once.
pub fn two_thresholds(rng: &mut Rng, config: &mut Config) {
    if rng.chance(0.875) {
        return;
    }
    let before = config.clone();
    (config.gc.trigger, config.gc.hard, config.gc.soft) = (Trigger::Both, 0.0, pick(rng, &[2.0, 3.0, 5.0]));
    (config.gc.invalid_share, config.gc.forced) = (pick(rng, &[0.0, 0.3, 0.7, 0.95]), pick(rng, &[0.0, 1.0, 2.0]));
    if ssdlab::config::validate(config).is_err() {
        *config = before;
    }
}

/// A quarter of the drives have a data placement policy, and requests that name handles.
pub fn placement(rng: &mut Rng, config: &mut Config, requests: &mut [Request]) {
    if rng.chance(0.75) {
        return;
    }
    let before = config.clone();
    let ftl = &mut config.ftl;
    ftl.placement = pick(rng, &[Placement::Handles, Placement::HotCold, Placement::Sepbit]);
    (ftl.handles, ftl.isolation) = (pick(rng, &[1, 2, 3]), pick(rng, &[Isolation::Initial, Isolation::Persistent]));
    ftl.default_handle = rng.below(ftl.handles.into()) as u8;
    ftl.hot_within = pick(rng, &[0.0, 0.1, 0.5]);
    let handles = u64::from(config.ftl.handles);
    // As many blocks more as there are streams more, so that the same pages are exported at the same threshold.
    config.device.blocks_per_plane += 8;
    let planes = if config.ftl.pool == PoolScope::Die { config.device.planes_per_die } else { 1 };
    let (old, new) = (f64::from(before.device.blocks_per_plane * planes), f64::from(config.device.blocks_per_plane * planes));
    config.device.overprovisioning = (before.device.overprovisioning * old + new - old) / new;
    if ssdlab::config::validate(config).is_err() || config.exported_bytes().ok() < before.exported_bytes().ok() {
        *config = before;
        return;
    }
    for request in requests {
        request.handle = rng.chance(0.8).then(|| rng.below(handles) as u8);
    }
}

/// An eighth of the drives have zones, where nothing else refuses them, and get commands of zones in place of their requests: most of them may
/// be carried out.
pub fn zones(rng: &mut Rng, config: &mut Config, requests: &mut [Request]) {
    if rng.chance(0.875) {
        return;
    }
    let before = config.clone();
    config.ftl.placement = Placement::Zones;
    config.ftl.precondition.kind = pick(rng, &[PreconditionKind::None, PreconditionKind::None, PreconditionKind::Fill]);
    config.ftl.superblock_span = SuperblockSpan::Drive;
    config.ftl.allocation = if config.pools_per_group() > 1 { Allocation::Dynamic } else { Allocation::default() };
    (config.ftl.map_cache_bytes, config.cache.policy, config.slc) = (0, CachePolicy::None, Slc::default());
    let max_active = pick(rng, &[1, 2, 3, 5]);
    config.zones = Zones {
        blocks: pick(rng, &[1, 1, 2]),
        max_active,
        max_open: 1 + rng.below(max_active.into()) as u8,
        size_bytes: 0,
        append_ns: pick(rng, &[0, 3_000]),
        manage_ns: pick(rng, &[0, 5_000]),
        close_ns: pick(rng, &[0, 40_000]),
        reset_ns: pick(rng, &[0, 100_000]),
        reset_unit_ns: pick(rng, &[0, 70]),
        ..Zones::default()
    };
    if config.units_per_program() > 1 {
        config.buffer = protected_buffer(1 << 22, 1_000);
    }
    let Ok(capacity) = Capacity::of(config) else {
        *config = before;
        return;
    };
    let (unit, zone) = (capacity.unit_bytes, config.zone_units(capacity.pools));
    if rng.chance(0.3) {
        config.zones.size_bytes = (zone * unit).next_power_of_two();
    }
    if ssdlab::config::validate(config).is_err() {
        *config = before;
        return;
    }
    let (count, distance) = (config.zone_count().expect("zones"), config.zone_distance(capacity.pools));
    if rng.chance(0.4) && log(rng, config, requests) {
        return;
    }
    let filled = config.ftl.precondition.kind == PreconditionKind::Fill;
    let mut written = vec![if filled { zone } else { 0 }; count as usize];
    for request in requests {
        let at = rng.below(count.min(6));
        let pointer = &mut written[at as usize];
        let most = pick(rng, &[1, 4, zone]);
        let units = (1 + rng.below(most)).min(zone);
        let (kind, from, units) = match rng.unit() {
            x if x < 0.3 => (RequestKind::Append, 0, units),
            x if x < 0.65 => (RequestKind::Write, *pointer % zone, units.min(zone - *pointer % zone)),
            x if x < 0.8 => (RequestKind::Read, rng.below(zone), 1),
            x if x < 0.85 => (RequestKind::ZoneReset, 0, zone),
            x if x < 0.88 => (RequestKind::ZoneFinish, 0, zone),
            x if x < 0.92 => (RequestKind::ZoneOpen, 0, zone),
            x if x < 0.96 => (RequestKind::ZoneClose, 0, zone),
            x if x < 0.98 => (RequestKind::Trim, rng.below(zone), 1),
            _ => (RequestKind::Flush, 0, 0),
        };
        *pointer = match kind {
            RequestKind::ZoneFinish => zone,
            // Most full zones are reset at last.
            RequestKind::ZoneReset => 0,
            _ if kind.brings_data() => (*pointer + units).min(zone),
            _ => *pointer,
        };
        let reset = *pointer == zone && kind == RequestKind::Write && rng.chance(0.5);
        request.kind = if reset { RequestKind::ZoneReset } else { kind };
        *pointer = if reset { 0 } else { *pointer };
        request.offset = if kind == RequestKind::Flush { 0 } else { (at * distance + from) * unit };
        (request.length, request.handle, request.high_priority) = (units * unit, None, false);
    }
}

/// A log of the host on the zones, which takes the requests as they are, within its addresses. Returns whether the drive has room for one.
fn log(rng: &mut Rng, config: &mut Config, requests: &mut [Request]) -> bool {
    let before = config.clone();
    let zones = &mut config.zones;
    (zones.log, zones.log_spare) =
        (pick(rng, &[LogVictim::Greedy, LogVictim::CostBenefit, LogVictim::Bast, LogVictim::Fast]), pick(rng, &[0.9, 0.7, 0.5]));
    zones.log_blocks = 2;
    (zones.log_free, zones.log_batch, zones.log_copy) = (pick(rng, &[2, 3]), pick(rng, &[1, 5, 64]), rng.chance(0.5));
    (zones.max_open, zones.max_active) = (zones.max_open.max(2), zones.max_active.max(2));
    if ssdlab::config::validate(config).is_err() {
        *config = before;
        return false;
    }
    let exported = config.exported_bytes().expect("a log");
    for request in requests.iter_mut().filter(|request| request.kind != RequestKind::Flush) {
        request.length = request.length.min(exported);
        request.offset = request.offset.min(exported - request.length);
    }
    true
}

/// A quarter of the drives have superblocks, of the blocks of all pools or of those of a channel.
pub fn superblocks(rng: &mut Rng, config: &mut Config) {
    if rng.chance(0.75) {
        return;
    }
    let before = config.clone();
    config.ftl.reclaim_unit = ReclaimUnit::Superblock;
    config.ftl.superblock_span = pick(rng, &[SuperblockSpan::Drive, SuperblockSpan::Drive, SuperblockSpan::Channel]);
    if config.pools_per_group() > 1 {
        config.ftl.allocation = Allocation::Dynamic;
        // What superblocks of several dies do not go together with.
        if matches!(config.ftl.placement, Placement::Oracle | Placement::Custom) {
            config.ftl.placement = Placement::HotCold;
        }
    }
    // As many blocks more as may be open more, so that the same pages are exported at the same threshold.
    config.device.blocks_per_plane += pick(rng, &[4, 8, 12]);
    let planes = if config.ftl.pool == PoolScope::Die { config.device.planes_per_die } else { 1 };
    let (old, new) = (f64::from(before.device.blocks_per_plane * planes), f64::from(config.device.blocks_per_plane * planes));
    config.device.overprovisioning = (before.device.overprovisioning * old + new - old) / new;
    if ssdlab::config::validate(config).is_err() || config.exported_bytes().ok() < before.exported_bytes().ok() {
        *config = before;
    }
}

/// Half of the drives that map units below the page transfer parts of it for reads, a third of them with spare bytes that do not divide evenly.
pub fn partial_reads(rng: &mut Rng, config: &mut Config) {
    if config.units_per_page() > 1 && rng.chance(0.5) {
        config.device.partial_reads = true;
        config.device.spare_bytes = pick(rng, &[0, 0, 13]);
    }
}

/// A third of the drives suspend programs or erases for reads.
pub fn suspension(rng: &mut Rng, config: &mut Config) {
    if rng.chance(0.65) {
        return;
    }
    let (program, erase) = (SuspendedForReads::Program, SuspendedForReads::Erase);
    config.scheduler.suspend = [vec![program], vec![erase], vec![program, erase]][rng.below(3) as usize].clone();
    let device = &mut config.device;
    device.page_registers = 2;
    (device.resume_ns, device.min_run_ns, device.max_suspends) =
        pick(rng, &[(0, 0, 0), (0, 50_000, 0), (5_000, 20_000, 0), (30_000, 0, 3), (100_000, 100_001, 1), (1_000, 300_000, 2)]);
}

/// Half of the drives that can program the planes that a page spans one after the other, while there is time.
pub fn plane_programs(rng: &mut Rng, config: &mut Config) {
    config.device.plane_programs = pick(rng, &[1, 1, 2, 4]);
    if ssdlab::config::validate(config).is_err() {
        config.device.plane_programs = 1;
    }
}

/// A quarter of the drives have reads with errors, of blocks of all ages: many are repeated, and some of the data are lost.
pub fn ageing(rng: &mut Rng, config: &mut Config) {
    if rng.chance(0.75) {
        return;
    }
    let errors = &mut config.errors;
    errors.retry = pick(rng, &RetryPolicy::ALL[1..]);
    errors.decode_ns = pick(rng, &[0, 1_000, 20_000, 150_000]);
    (errors.reset_ns, errors.set_ns) = (pick(rng, &[0, 5_000]), pick(rng, &[0, 1_000]));
    errors.short_read = pick(rng, &[0.5, 0.75, 1.0]);
    errors.retry_table = pick(rng, &[&[0.5, 0.3, 0.2][..], &[0.9, 0.81, 0.7, 0.6, 0.5, 0.4], &[0.5], &[]]).to_vec();
    errors.epsilon = pick(rng, &[1.48e-3, 6e-3, 1.2e-2]);
    // A block is read a few dozen times in a run.
    errors.gamma = pick(rng, &[3.73e-9, 1e-4, 1e-3]);
    errors.spread = pick(rng, &[0.0, 0.5]);
    errors.reclaim_reads = pick(rng, &[0, 0, 3, 10, 40]);
    errors.refresh_days = pick(rng, &[0.0, 0.0, 200.0, 390.0]);
    let precondition = &mut config.ftl.precondition;
    (precondition.pe_cycles, precondition.pe_cycles_max) = pick(rng, &[(0, None), (3_000, None), (0, Some(5_000))]);
    (precondition.retention_days, precondition.retention_days_max) = pick(rng, &[(0.0, None), (100.0, None), (0.0, Some(400.0))]);
}

/// Two fifths of the drives that can have one have a cache of blocks in SLC mode.
pub fn slc(rng: &mut Rng, config: &mut Config) {
    if rng.chance(0.6) {
        return;
    }
    let before = config.clone();
    let bits = if config.device.pages_per_program > 1 { config.device.pages_per_program } else { pick(rng, &[2, 3, 4]) };
    (config.device.read_ns_by_page, config.device.program_ns_by_page) = (Vec::new(), Vec::new());
    // Blocks that hold at least two programs in SLC mode, so that they are filled and folded.
    if config.slc_units_per_block() == 0 || rng.chance(0.5) {
        config.device.pages_per_block = bits * config.device.pages_per_program * pick(rng, &[2, 3]) + config.device.pages_per_program;
    }
    config.slc = Slc {
        static_blocks: pick(rng, &[0, 1, 1, 2]),
        dynamic_blocks: pick(rng, &[0, 1, 3, 100]),
        full: pick(rng, &[SlcFull::Direct, SlcFull::Direct, SlcFull::Fold]),
        fold_level: pick(rng, &[0.0, 0.0, 0.3, 1.0]),
        idle_us: pick(rng, &[0, 1, 50, 1_000]),
        fold_jobs: pick(rng, &[0, 0, 1, 2]),
        map_mode: pick(&mut Rng::new(rng.clone().bits(), "map mode"), &[Mode::Slc, Mode::Native]),
        bits_per_cell: bits,
        read_ns: pick(rng, &[10_000, 25_000]),
        program_ns: pick(rng, &[40_000, 150_000]),
        erase_ns: pick(rng, &[500_000, 2_000_000]),
        errors: pick(rng, &[1.0, 0.3, 0.0]),
        wear: pick(rng, &[1.0, 0.3, 0.0]),
    };
    config.device.blocks_per_plane += 10;
    let planes = if config.ftl.pool == PoolScope::Die { config.device.planes_per_die } else { 1 };
    let blocks = |config: &Config| f64::from(config.device.blocks_per_plane * planes);
    // As many spare blocks as before, beside those of the cache and the open ones of its dynamic part, and as many pages at least.
    let open = f64::from(config.open_blocks() - before.open_blocks());
    let more = blocks(config) - blocks(&before) - f64::from(config.slc.static_blocks * planes) - open;
    config.device.overprovisioning = 1.0 - (1.0 - before.device.overprovisioning) * (blocks(&before) - more.min(0.0)) / blocks(config);
    let pages = f64::from(config.device.pages_per_block) / f64::from(before.device.pages_per_block);
    if pages < 1.0 || validate(config).is_err() || config.exported_bytes().ok() < before.exported_bytes().ok() {
        *config = before;
    }
}

/// Half of the drives that can have such have blocks that fail: programs, erases, and after a few erases. Some become read-only.
pub fn wear(rng: &mut Rng, config: &mut Config) {
    if rng.chance(0.5) {
        return;
    }
    let before = config.clone();
    config.ftl.precondition.pe_cycles = if config.errors.is_on() { config.ftl.precondition.pe_cycles } else { pick(rng, &[0, 0, 2]) };
    config.wear = Wear {
        endurance: pick(rng, &[0, 0, 4, 9]) * u32::from(!config.errors.is_on()),
        rated_cycles: pick(rng, &[0, 3_000]),
        spread: pick(rng, &[0.0, 0.3]),
        program_fails_ppm: pick(rng, &[0.0, 10_000.0, 50_000.0]),
        program_fails_worn_ppm: pick(rng, &[0.0, 100_000.0]),
        erase_fails_ppm: pick(rng, &[0.0, 20_000.0, 200_000.0]),
        erase_fails_worn_ppm: pick(rng, &[0.0, 100_000.0]),
        end: WearEnd::Reads,
        warranty_years: 5.0,
        leveling: pick(rng, &[Leveling::None, Leveling::DualPool, Leveling::OldBlock, Leveling::Progressive]),
        leveling_threshold: pick(rng, &[1, 2]),
        leveling_rest: pick(rng, &[0, 3]),
        erase_growth: pick(rng, &[0.0, 50.0]),
        erase: pick(rng, &[Erase::Fixed, Erase::Fixed, Erase::Pulses, Erase::AsNeeded, Erase::AsNeeded]),
        pulse_ns: pick(rng, &[400_000, 1_000_000]),
        verify_ns: pick(rng, &[0, 50_000]),
        step_ns: pick(rng, &[1_000, 150_000]),
        probe_ns: pick(rng, &[0, 300_000]),
        erase_spread: pick(rng, &[0.0, 0.2]),
    };
    if config.wear.leveling == Leveling::Progressive && config.wear.endurance == 0 {
        config.wear.leveling = Leveling::OldBlock;
    }
    let more = pick(rng, &[1, 4, 12]);
    config.device.blocks_per_plane += more + config.reserve();
    let planes = if config.ftl.pool == PoolScope::Die { config.device.planes_per_die } else { 1 };
    let blocks = |config: &Config| f64::from(config.device.blocks_per_plane * planes);
    // All blocks more are spare.
    config.device.overprovisioning = 1.0 - (1.0 - before.device.overprovisioning) * blocks(&before) / blocks(config);
    if validate(config).is_err() || config.exported_bytes().ok() < before.exported_bytes().ok() {
        *config = before;
    }
}

/// Half of the smallest drives have a part of the mapping table in flash only: of few entries for each translation page.
pub fn mapping_cache(rng: &mut Rng, config: &mut Config) {
    let device = &config.device;
    let planes = device.channels * device.chips_per_channel * device.dies_per_chip * device.planes_per_die;
    if planes > 3 || rng.chance(0.5) {
        return segments(rng, config);
    }
    let before = config.clone();
    let page = config.map_unit_bytes() * pick(rng, &[1, 1, 1, 2, 3]);
    config.ftl.map_page_bytes = Some(page);
    // Eight entries or more.
    config.ftl.map_entry_bytes = (page / pick(rng, &[8, 16, 30])).clamp(4, 512);
    let (room, rest) = (pick(rng, &[1, 1, 2, 3, 5, 100]), rng.below(u64::from(page)));
    config.ftl.map_cache_bytes = u64::from(page) * room + rest;
    config.ftl.map_cache_policy = pick(rng, &[MapCachePolicy::Lru, MapCachePolicy::Fifo, MapCachePolicy::Clock]);
    config.ftl.precondition.whole_table = rest % 4 > 1;
    if rest % 2 == 1 {
        config.ftl.map_cache_unit = MapCacheUnit::Entry;
        config.ftl.map_cache_bytes = u64::from(config.ftl.map_entry_bytes) * [1, 2, 3, 5, 20, 1000][rest as usize / 4 % 6];
    }
    if rest % 3 == 0 {
        (config.ftl.map_models, config.ftl.map_model_pieces) = (MapModels::Exact, pick(rng, &[1, 2, 8]));
    }
    config.device.blocks_per_plane += 4;
    let drive = Capacity::of(&before).expect("a drive");
    let planes_each = if config.ftl.pool == PoolScope::Die { config.device.planes_per_die } else { 1 };
    let physical = drive.pools * u64::from(config.device.blocks_per_plane * planes_each) * drive.physical_per_block;
    // As many pages for the host as before, so that the table takes of the blocks that have come.
    config.device.overprovisioning = 1.0 - (drive.exported_units as f64 + 0.5) / physical as f64;
    if validate(config).is_err() {
        *config = before;
    }
}

/// A third of the drives without a mapping cache have segments in place of the mapping table.
fn segments(rng: &mut Rng, config: &mut Config) {
    if rng.chance(0.33) {
        let before = config.clone();
        (config.ftl.map_models, config.ftl.map_model_error) = (MapModels::Segments, pick(rng, &[0, 1, 4]));
        if validate(config).is_err() {
            *config = before;
        }
    }
}

/// Half of the write buffers that fill their programs sort batches of units.
pub fn sorting(rng: &mut Rng, config: &mut Config) {
    if config.buffer.is_on() && config.buffer.drain == Drain::Full && rng.chance(0.5) {
        config.buffer.sort_units = config.units_per_program() * pick(rng, &[1, 2, 4]);
        if validate(config).is_err() {
            config.buffer.sort_units = 0;
        }
    }
}

/// A third of the drives pace writes.
pub fn pacing(rng: &mut Rng, config: &mut Config) {
    if config.gc.scope != Scope::Device && rng.chance(0.33) {
        // From a stream of its own, so that the cases are otherwise those of one kind of pacing.
        let has_choice = config.gc.priority != Priority::Gc && matches!(config.gc.scope, Scope::Block | Scope::None);
        let by_room = has_choice && Rng::new(rng.clone().bits(), "room").chance(0.8);
        config.gc.pace = if by_room { Pace::Room } else { Pace::Proportional };
        config.gc.pace_window = pick(rng, &[0.0, 0.0, 0.1, 0.4, 1.0]);
    }
}

/// Room for the units that are left over in each block, since they fill no program.
fn room_for_programs(rng: &mut Rng, config: &mut Config) {
    config.device.blocks_per_plane += 8;
    let planes = if config.ftl.pool == PoolScope::Die { config.device.planes_per_die } else { 1 };
    let blocks = config.device.blocks_per_plane * planes;
    let (data, all) = (config.data_units_per_block(), config.device.pages_per_block * config.units_per_page());
    let scattered = (blocks * (config.units_per_program() - 1)).div_ceil(data);
    let spare = (4.5 + 3.0 * rng.unit() + f64::from(scattered)) / f64::from(blocks);
    config.device.overprovisioning = 1.0 - (1.0 - spare) * f64::from(data) / f64::from(all);
    if validate(config).is_err() {
        config.gc.until = 0;
    }
}

/// What reads ask of bus and planes, and jobs of their die. From a stream of its own, so that the cases are otherwise those without.
fn how_dies_are_shared(rng: &Rng, config: &mut Config) {
    let rng = &mut Rng::new(rng.clone().bits(), "dies");
    config.device.multiplane_aligned_reads = rng.chance(0.3);
    config.device.read_command_ns = pick(rng, &[0, 0, 0, 200, 30_000]);
    config.gc.turns = pick(rng, &[Turns::Step, Turns::Step, Turns::Job]);
    config.ftl.dynamic_ties = pick(rng, &[DynamicTies::Turn, DynamicTies::Turn, DynamicTies::Valid]);
}

/// Who sets collection off, how long it lasts, and whether it advances with requests.
fn by_requests(rng: &mut Rng, config: &mut Config) {
    config.gc.begin = pick(rng, &[Begin::Frontier, Begin::Request, Begin::Write]);
    if rng.chance(0.5) {
        config.gc.advance = pick(rng, &[Advance::WithRequests, Advance::InTurns]);
    }
    config.gc.until = pick(rng, &[0, 1, 2]);
    // The spare blocks may be fewer than this.
    if validate(config).is_err() {
        config.gc.until = 0;
    }
}

/// Some of what elyasi2017 has.
fn slack_aware(rng: &mut Rng, config: &mut Config) {
    config.scheduler.order = Order::FrFcfs;
    config.scheduler.read_bypass = rng.chance(0.7);
    config.scheduler.write_bypass = rng.chance(0.7);
    config.scheduler.write_pausing = rng.chance(0.6);
    config.scheduler.estimates = rng.chance(0.5);
    config.scheduler.error_feedback = rng.chance(0.3) && config.scheduler.makes_estimates();
    config.device.ispp_steps = pick(rng, &[2, 3, 8, 1000]);
    if config.scheduler.write_pausing {
        config.device.page_registers = 2;
    }
}

/// A random cache in front of the drive, of few pages.
pub fn random_cache(rng: &mut Rng, config: &mut Config) {
    let page = u64::from(config.device.page_bytes);
    let cache = &mut config.cache;
    cache.policy = pick(rng, &[CachePolicy::Lru, CachePolicy::Cflru, CachePolicy::Bplru, CachePolicy::Bplru, CachePolicy::Fab]);
    // A part of a page is not used.
    cache.bytes = page * pick(rng, &[1, 1, 2, 3, 5, 8, 20]) + rng.below(page);
    cache.access_ns = pick(rng, &[0, 1_000, 1_000, 40_000]);
    cache.reads = rng.chance(0.7);
    cache.writes = rng.chance(0.85);
    cache.gc_aware = rng.chance(0.6);
    cache.soon = pick(rng, &[0, 0, 1, 2]);
    cache.flush_on_idle = rng.chance(0.4);
    cache.flush_idle_us = pick(rng, &[0, 20, 300]);
    cache.destage_ahead = pick(rng, &[0.0, 0.0, 0.2, 0.5, 0.9]);
    cache.clean_window = pick(rng, &[0.0, 0.25, 0.5, 1.0]);
    cache.compensation = rng.chance(0.5);
    cache.padding = pick(rng, &[Padding::Off, Padding::Always, Padding::Share]);
    cache.padding_share = pick(rng, &[0.0, 0.5, 1.0]);
    let mut own = Rng::new(rng.clone().bits(), "groups");
    if !(cache.gc_aware && cache.evicts_groups()) {
        cache.group = pick(&mut own, &[CacheGroup::Chip, CacheGroup::Contiguous]);
    }
}

/// A random host interface, for one drive in four.
pub fn random_host(rng: &mut Rng, config: &mut Config) {
    if rng.chance(0.25) {
        config.host = Host {
            link_bytes_per_us: pick(rng, &[0, 20, 400, 7_000]),
            write_bytes_per_us: pick(&mut Rng::new(rng.clone().bits(), "write rate"), &[0, 0, 10, 900]),
            command_ns: pick(rng, &[0, 300, 5_000, 100_000]),
            completion_ns: pick(rng, &[0, 200, 30_000]),
            cores: pick(rng, &[1, 2, 3]),
            slots: pick(rng, &[0, 0, 1, 2, 9]),
            ..Host::default()
        };
    }
}

/// Several queues of the host, and flows that send to them, for one drive in four.
pub fn random_queues(rng: &mut Rng, config: &mut Config, requests: &mut [Request]) {
    if !rng.chance(0.25) {
        return;
    }
    let queues = pick(rng, &[1, 2, 3, 5]);
    config.host.queues = queues;
    config.host.queue_depth = pick(rng, &[0, 1, 2, 8]);
    config.host.arbitration = pick(rng, &[Arbitration::Rr, Arbitration::Wrr]);
    config.host.weights = (0..queues).map(|_| pick(rng, &[1, 2, 5])).collect();
    let mut own = Rng::new(rng.clone().bits(), "quotas");
    if own.chance(0.5) && config.array.level == ArrayLevel::None {
        config.host.quota_iops = (0..queues).map(|_| pick(&mut own, &[0, 700, 20_000])).collect();
        config.host.quota_mb_s = (0..queues).map(|_| pick(&mut own, &[0, 0, 5, 90])).collect();
        config.host.quota_burst_us = pick(&mut own, &[0, 100, 4_000]);
    }
    let further = pick(rng, &[0_u64, 1, 2, 4]);
    config.workload.flows = (0..further).map(|flow| [("name".to_string(), format!("flow {flow}").into())].into_iter().collect()).collect();
    for request in requests {
        request.flow = rng.below(further + 1) as u16;
    }
}

/// The fair order of flows, for one in four of the drives that can have it.
pub fn fair(rng: &mut Rng, config: &mut Config) {
    let uses_slack = config.scheduler.makes_estimates();
    if !uses_slack && rng.chance(0.25) {
        config.scheduler.order = Order::Fair;
        config.scheduler.flow_weights = pick(rng, &[&[][..], &[1, 3], &[4, 1, 2]]).to_vec();
        config.scheduler.fair_epoch_us = pick(rng, &[100, 2_000]);
        config.scheduler.fair_low_mb_s = pick(rng, &[0, 5, 100]);
        config.scheduler.fair_ratio = pick(rng, &[0.0, 0.6, 1.0]);
    }
}

/// Namespaces with dies of their own, for half of the drives that can have them.
pub fn namespaces(rng: &mut Rng, config: &mut Config) {
    let by_chip = config.cache.evicts_groups() && config.cache.group == CacheGroup::Chip;
    if by_chip
        || config.has_zones()
        || config.array.level != ArrayLevel::None
        || config.ftl.allocation == Allocation::Dynamic
        || rng.chance(0.5)
    {
        return;
    }
    let mut left = config.device.channels * config.device.chips_per_channel * config.device.dies_per_chip;
    while left > 0 {
        let dies = 1 + rng.below(left.into()) as u32;
        config.ftl.namespaces.push(dies);
        left -= dies;
    }
    config.ftl.namespace_layout = pick(rng, &[NamespaceLayout::Channels, NamespaceLayout::Dies]);
}

/// A random write buffer, for one drive in three.
pub fn random_buffer(rng: &mut Rng, config: &mut Config) {
    if rng.chance(0.33) {
        let page = u64::from(config.device.page_bytes);
        config.buffer = Buffer {
            bytes: u64::from(config.device.pages_per_program) * pick(rng, &[page, 2 * page, 5 * page, 40 * page]),
            access_ns: pick(rng, &[0, 300, 20_000]),
            protected: rng.chance(0.5),
            drain: pick(rng, &[Drain::Full, Drain::Eager]),
            timeout_us: pick(rng, &[0, 0, 100, 3_000]),
            reads_pass: rng.chance(0.5),
            bytes_per_us: 0,
            sort_units: 0,
        };
        // Without draws of their own, so that other drives stay as they are.
        if config.device.pages_per_block.is_multiple_of(3) {
            config.buffer.drain = Drain::AtOnce;
        }
        if config.device.blocks_per_plane % 2 == 1 {
            config.buffer.bytes_per_us = 200;
        }
    }
}

/// Random requests of all kinds, many of them to the same few pages.
pub fn random_requests(rng: &mut Rng, config: &Config, count: u64) -> Vec<Request> {
    let exported = config.exported_bytes().expect("a valid configuration");
    let page = u64::from(config.device.page_bytes);
    let gap = pick(rng, &[2_000, 100_000, 600_000]);
    let reads = rng.unit() * 0.8;
    let mut arrival_ns = 0;
    (0..count)
        .map(|_| {
            arrival_ns += if rng.chance(0.3) { 0 } else { rng.below(gap) };
            let kind = match rng.unit() {
                x if x < 0.05 => RequestKind::Trim,
                x if x < 0.07 => RequestKind::Flush,
                x if x < 0.07 + reads => RequestKind::Read,
                _ => RequestKind::Write,
            };
            let span = if rng.chance(0.3) { exported.min(4 * page) } else { exported };
            let most = pick(rng, &[2, 2, 3 * page / 512, 3 * page / 512, 8 * page / 512]);
            let sectors = 1 + rng.below(most);
            let offset = 512 * rng.below(span / 512);
            let offset = if rng.chance(0.5) { offset / page * page } else { offset };
            let length = (512 * sectors).min(exported - offset);
            let (offset, length) = if kind == RequestKind::Flush { (0, 0) } else { (offset, length) };
            let high_priority = kind == RequestKind::Write && rng.chance(0.1);
            Request { arrival_ns, kind, offset, length, high_priority, flow: 0, handle: None }
        })
        .collect()
}
