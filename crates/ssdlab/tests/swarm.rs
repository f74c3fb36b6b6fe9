//! Random drives, random points of the policy space, random workloads: every invariant after every event.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::cases::{Cases, Failure, Tally, add, is_full};
use crate::common::watch::Watch;
use crate::common::{
    ageing, fair, heat, leftovers, mapping_cache, mapping_units, namespaces, one_shot_programs, pacing, parity, partial_reads, placement,
    plane_programs, power_states, random_buffer, random_cache, random_config, random_host, random_queues, random_requests, slc, sorting,
    superblocks, suspension, two_thresholds, wear, zones,
};
use ssdlab::cause::Cause;
use ssdlab::config::{Config, Leftover, Padding, PoolScope, SlcFull, UnmappedRead};
use ssdlab::ftl::Ftl;
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify};
use ssdlab::ssd::Planted;
use ssdlab::stats::{CacheCounters, CacheStats, RunResult, Writer};
use ssdlab::storage::{PlantedInBuffer, PlantedInMap, Storage};
use ssdlab::units::{ChannelId, Lpn};

/// Cases of `make test FULL=1`; `make swarm` runs more.
const CASES: u64 = 2_500;

/// How a case is run.
#[derive(Clone, Copy, Debug)]
struct How {
    verify: Verify,
    every_stage: bool,
    planted: Option<Planted>,
    /// The host interface forgets the order of commands.
    forgets_order: bool,
    planted_in_buffer: Option<PlantedInBuffer>,
    planted_in_map: Option<PlantedInMap>,
}

/// Every invariant is checked at every event.
const CHECKED: How =
    How { verify: Verify::Every, every_stage: false, planted: None, forgets_order: false, planted_in_buffer: None, planted_in_map: None };

/// Runs the requests and returns the result, and how often the watch had something to look at.
fn run(config: &Config, requests: &[Request], how: How) -> Result<(RunResult, Tally), String> {
    let plan = Plan { verify: how.verify, ..Plan::new(config.clone(), 7) };
    let mut simulation = Simulation::new(&plan, &Control::default()).map_err(|e| e.to_string())?;
    if how.every_stage {
        simulation.ssd_mut().play_every_stage();
    }
    if let Some(defect) = how.planted {
        simulation.ssd_mut().plant(defect);
    }
    if how.forgets_order {
        simulation.storage_mut().forget_order_of_commands();
    }
    if let Some(defect) = how.planted_in_buffer.filter(|_| config.buffer.is_on()) {
        simulation.storage_mut().plant_in_buffer(defect);
    }
    if let Some(defect) = how.planted_in_map.filter(|_| config.has_mapping()) {
        simulation.storage_mut().plant_in_map(defect);
    }
    for request in requests {
        simulation.submit(*request).map_err(|e| e.to_string())?;
    }
    let had_data: Vec<bool> = pages(&simulation).map(|lpn| simulation.ssd().ftl().lookup(lpn).is_some()).collect();
    let mut watch = Watch::new(config, &simulation);
    watch.run(&mut simulation, requests)?;
    agrees(&simulation, config, requests, had_data)?;
    let watched = [("watched_takes", watch.takes), ("watched_short", watch.short), ("watched_episodes", watch.episodes)];
    let (result, storage) = simulation.finish_at_rest().map_err(|e| e.to_string())?;
    goes_on(config, &storage, requests)?;
    Ok((result, watched.map(|(name, count)| (name.to_string(), count)).into()))
}

/// A drive at rest has nothing that a power failure would lose, and another can go on from its state.
fn goes_on(config: &Config, storage: &Storage, requests: &[Request]) -> Result<(), String> {
    let mut lost = None;
    storage.volatile_units(&mut |unit, _| lost = Some(unit));
    if let Some(unit) = lost {
        return Err(format!("at rest, a power failure would lose unit {unit}"));
    }
    if let Some(units) = storage.drives()[0].accepted_units().filter(|&units| units > 0) {
        return Err(format!("at rest, places are kept for {units} units"));
    }
    let ftl = storage.drives()[0].ftl();
    ftl.check()?;
    if ftl.blocks().retired_total() > 0 || storage.drives()[0].counters().failed_programs > 0 {
        // The state of a drive with failed blocks cannot be saved.
        return Ok(());
    }
    let mut saved = Vec::new();
    ftl.save(config, &mut saved).map_err(|e| e.to_string())?;
    let again = Ftl::load(config, saved.as_slice())?;
    let unit = u64::from(config.map_unit_bytes());
    let ends = requests.iter().flat_map(|request| [request.offset / unit, (request.offset + request.length) / unit]);
    let mut touched = ends.map(|unit| Lpn((unit as u32).min(ftl.geometry().exported_units - 1)));
    match touched.find(|&lpn| again.lookup(lpn) != ftl.lookup(lpn)) {
        None => Ok(()),
        Some(lpn) => Err(format!("page {lpn} lies elsewhere in the drive that goes on")),
    }
}

fn pages(simulation: &Simulation) -> impl Iterator<Item = Lpn> + use<> {
    (0..simulation.ssd().ftl().geometry().exported_units).map(Lpn)
}

/// What follows from the requests alone, whatever the drive did: which pages hold data, and how often flash was used for the host.
fn agrees(simulation: &Simulation, config: &Config, requests: &[Request], mut has_data: Vec<bool>) -> Result<(), String> {
    let counters = simulation.ssd().counters();
    if config.has_zones() {
        return agrees_with_zones(simulation, config);
    }
    if counters.rejected_writes + counters.lost_units > 0 {
        // What the drive holds then depends on when it became read-only.
        return Ok(());
    }
    let page = u64::from(config.map_unit_bytes());
    let (mut read_pages, mut written_pages) = (0, 0);
    for request in requests {
        let end = request.offset + request.length;
        let touched = (request.offset / page) as usize..end.div_ceil(page) as usize;
        match request.kind {
            RequestKind::Read => read_pages += touched.len() as u64,
            RequestKind::Write => {
                written_pages += touched.len() as u64;
                has_data[touched].fill(true);
            }
            RequestKind::Trim => (request.offset.div_ceil(page)..end / page).for_each(|lpn| has_data[lpn as usize] = false),
            _ => {}
        }
    }
    let ssd = simulation.ssd();
    // With a cache, this is so after the flush at the end.
    let holds_data = |lpn: Lpn| ssd.ftl().lookup(lpn).is_some() || config.buffer.protected && simulation.storage().is_buffered(lpn.0);
    if let Some(lpn) = pages(simulation).find(|&lpn| holds_data(lpn) != has_data[lpn.index()]) {
        return Err(format!("page {lpn} should hold data: {}", has_data[lpn.index()]));
    }
    let counters = ssd.counters();
    let without_flash =
        counters.buffer_reads + if config.ftl.unmapped_read == UnmappedRead::Immediate { counters.unmapped_reads } else { 0 };
    // Reads at a wrong place are of no request.
    let guesses = simulation.storage().stats(simulation.now()).mapping.map_or(0, |stats| stats.mispredicted);
    let read_below = counters.host_reads + counters.reads_along + counters.merged_reads + without_flash - counters.rmw_reads - guesses;
    let pages = (written_pages, read_pages);
    let mut below = (counters.host_programs, read_below);
    if let Some(stats) = simulation.storage().stats(simulation.now()).buffer {
        // What came into the write buffer, by what came out of it.
        below = (below.0 + stats.rewrites + stats.trimmed + stats.held, below.1 + stats.read_hits - stats.fills);
        if below.0 != stats.units || counters.rmw_reads > 0 {
            return Err(format!("{} units came into the write buffer and {} came out: {stats:?}", stats.units, below.0));
        }
    }
    match simulation.storage().stats(simulation.now()).cache {
        None if below != pages => {
            return Err(format!("{written_pages} pages were written and {read_pages} read, {below:?} below: {counters:?}"));
        }
        Some(stats) => agrees_with_cache(config, &stats, pages, below)?,
        None => {}
    }
    agrees_with_slc(config, &counters, ssd.ftl())?;
    let erased: u64 = ssd.ftl().blocks().erases().iter().map(|&count| u64::from(count)).sum();
    let states = ssd.state_ns(simulation.now()).iter().sum::<u128>() as u64;
    if states != simulation.now() * u64::from(ssd.ftl().geometry().pools.count.get()) {
        return Err(format!("the times in the states add up to {states} ns, not to the pools' {} ns each", simulation.now()));
    }
    // Of the job of a superblock that has not ended, all blocks but one may be erased.
    let (pools, blocks_of_job) = (ssd.ftl().geometry().pools.count.get(), ssd.ftl().geometry().pools.per_group.get());
    let ended = counters.jobs * u64::from(blocks_of_job);
    let under_way = u64::from(pools / blocks_of_job * (blocks_of_job - 1));
    // A block may wait for the next job of its pool, which may have nothing else to erase.
    let least = if config.gc.leftover == Leftover::Carry { ended.saturating_sub(u64::from(pools)).div_ceil(2) } else { ended };
    if !(least..=ended + under_way).contains(&counters.erases) || erased < counters.erases || counters.stale_moves > counters.pages_moved {
        return Err(format!("{erased} erases on blocks: {counters:?}"));
    }
    // A step for each operation, a program that failed included; that for which the last of a job was taken may have been served otherwise.
    let for_map = counters.map_reads + counters.map_programs;
    let served =
        for_map + counters.failed_programs + counters.host_reads + counters.host_programs + counters.merged_reads + counters.merged_writes;
    if counters.steps_with_requests + counters.steps_forgone > served + counters.erases + u64::from(ssd.ftl().geometry().pools.count.get())
    {
        return Err(format!("more steps were taken or forgone with requests than there were: {counters:?}"));
    }
    // Of reads that only a page move answers none is in part.
    if counters.partial_reads > if config.reads_parts() { counters.host_reads + counters.map_reads } else { 0 } {
        return Err(format!("more reads were of a part of a page than there were: {counters:?}"));
    }
    let (now, geometry) = (simulation.now(), ssd.ftl().geometry());
    let chips = (0..geometry.chips).map(|chip| ssd.chip_busy_ns(chip, now));
    let buses = (0..geometry.channels).map(|channel| ssd.bus_busy_ns(ChannelId(channel), now));
    match chips.chain(buses).chain([ssd.gc_active_ns(now) as u64 / u64::from(geometry.pools.count.get())]).find(|&busy| busy > now) {
        Some(busy) => Err(format!("busy for {busy} of {now} ns")),
        None => Ok(()),
    }
}

/// Where no block can fail and writes keep their order, data of a zone lie in blocks of its own, so that no page is moved for space.
fn agrees_with_zones(simulation: &Simulation, config: &Config) -> Result<(), String> {
    let counters = simulation.ssd().counters();
    let moved: u64 = [Cause::Space, Cause::Idle].map(|cause| counters.moves_by_cause[cause as usize]).iter().sum();
    let moves_for_others = counters.moves_by_cause.iter().sum::<u64>() - moved;
    if config.zones_fill_blocks() && moves_for_others == 0 && moved > 0 {
        return Err(format!("{moved} pages of zones were moved to free blocks: {counters:?}"));
    }
    Ok(())
}

/// Each unit of the host went to the cache of blocks in SLC mode or past it, and only blocks in that mode were folded. Folds may be under way.
fn agrees_with_slc(config: &Config, counters: &ssdlab::stats::Counters, ftl: &Ftl) -> Result<(), String> {
    let (pools, each) = (ftl.geometry().pools.count.get(), ftl.geometry().pools.per_group.get());
    let on = config.slc.is_on();
    let written = if on { counters.host_programs } else { 0 };
    // Blocks that were due for another reason left the cache, too.
    let due =
        [Cause::Reclaim, Cause::Refresh, Cause::Retirement, Cause::Leveling].map(|cause| counters.jobs_for(cause)).iter().sum::<u64>();
    let agree = counters.slc_writes + counters.direct_writes == written
        && counters.folded_pages <= counters.slc_writes + counters.slc_map_writes
        && (counters.slc_erases.saturating_sub(due * u64::from(each))..=counters.slc_erases + u64::from(pools))
            .contains(&(counters.folds * u64::from(each)))
        && counters.jobs_for(Cause::FoldIdle) + counters.jobs_for(Cause::FoldSpace) <= counters.folds
        && (!on
            || config.slc.full == SlcFull::Direct
            || config.wear.is_on()
            || counters.direct_writes == counters.merged_writes
            || config.caches_map() && counters.direct_writes < counters.merged_writes);
    if agree { Ok(()) } else { Err(format!("writes and folds of the cache in SLC mode do not add up: {counters:?}")) }
}

/// The counters of a cache agree with the requests above and below it. `pages`, `below`: pages written and read.
fn agrees_with_cache(config: &Config, stats: &CacheStats, pages: (u64, u64), below: (u64, u64)) -> Result<(), String> {
    let CacheCounters { lookups, read_hits, write_hits, evictions, destages, .. } = stats.counters;
    let through = if config.cache.writes { 0 } else { pages.0 };
    // Pages that were read for padding may have changed below before they were to be written.
    let missed = pages.1 - read_hits;
    let agree = lookups == pages.0 - through + pages.1
        && below.0 == destages + stats.padded_pages + through
        && (below.1 == missed || below.1 > missed && stats.counters.evictions > 0 && config.cache.padding != Padding::Off)
        && write_hits <= pages.0
        && evictions <= lookups
        && (stats.idle_destages <= destages && stats.delayed_hits <= read_hits)
        && stats.dirty_pages == 0;
    if agree { Ok(()) } else { Err(format!("{pages:?} pages were written and read, {below:?} below: {stats:?}")) }
}

/// The configuration and the requests of a case. Two of five drives have a cache in front, and half of the others an unprotected write
/// buffer: they get a flush at the end. Some map units below the page.
pub fn drawn(case: u64) -> (Config, Vec<Request>) {
    let mut rng = Rng::new(case, "swarm");
    let mut config = random_config(&mut rng);
    mapping_units(&rng, &mut config);
    one_shot_programs(&mut Rng::new(case, "programs"), &mut config);
    parity(&mut Rng::new(case, "parity"), &mut config);
    partial_reads(&mut Rng::new(case, "partial reads"), &mut config);
    suspension(&mut Rng::new(case, "suspension"), &mut config);
    mapping_cache(&mut Rng::new(case, "mapping"), &mut config);
    sorting(&mut Rng::new(case, "sorting"), &mut config);
    pacing(&mut Rng::new(case, "pacing"), &mut config);
    let count = 30 + rng.below(150);
    let mut requests = random_requests(&mut rng, &config, count);
    let cached = rng.chance(0.4);
    if cached {
        random_cache(&mut rng, &mut config);
    }
    random_host(&mut Rng::new(case, "host"), &mut config);
    random_buffer(&mut Rng::new(case, "buffer"), &mut config);
    if cached || config.buffer.is_on() && !config.buffer.protected {
        let last = requests.last().expect("there are some").arrival_ns;
        requests.push(Request {
            arrival_ns: last + rng.below(300_000),
            kind: RequestKind::Flush,
            offset: 0,
            length: 0,
            high_priority: false,
            flow: 0,
            handle: None,
        });
    }
    random_queues(&mut Rng::new(case, "queues"), &mut config, &mut requests);
    if config.host.has_quotas()
        && config.host.queues > 1
        && let Some(last) = requests.last_mut().filter(|last| last.kind == RequestKind::Flush)
    {
        // A flush does not wait for what the quotas of other queues hold: by then they hold nothing.
        last.arrival_ns += 20_000_000_000;
    }
    two_thresholds(&mut Rng::new(case, "thresholds"), &mut config);
    placement(&mut Rng::new(case, "placement"), &mut config, &mut requests);
    ageing(&mut Rng::new(case, "ageing"), &mut config);
    superblocks(&mut Rng::new(case, "superblocks"), &mut config);
    leftovers(&mut Rng::new(case, "leftovers"), &mut config);
    slc(&mut Rng::new(case, "slc"), &mut config);
    wear(&mut Rng::new(case, "wear"), &mut config);
    plane_programs(&mut Rng::new(case, "planes"), &mut config);
    zones(&mut Rng::new(case, "zones"), &mut config, &mut requests);
    namespaces(&mut Rng::new(case, "namespaces"), &mut config);
    fair(&mut Rng::new(case, "fair"), &mut config);
    heat(&mut Rng::new(case, "heat"), &mut config);
    power_states(&mut Rng::new(case, "power states"), &mut config);
    (config, requests)
}

fn keeps_every_invariant(case: u64) -> Result<Tally, String> {
    let (config, requests) = drawn(case);
    let (result, mut tally) = run(&config, &requests, CHECKED)?;
    let rejected = result.counters["rejected_writes"] + result.counters["zone_errors"];
    if result.requests.total() + rejected != requests.len() as u64 {
        return Err(format!("{} of {} requests were completed", result.requests.total(), requests.len()));
    }
    // Playing undisturbed operations in one piece changes nothing. That takes no recount after every event.
    let (staged, _) = run(&config, &requests, How { verify: Verify::End, every_stage: true, ..CHECKED })?;
    let same = |a: &RunResult, b: &RunResult| (&a.digest, &a.breakdown_ns, &a.cache) == (&b.digest, &b.breakdown_ns, &b.cache);
    if !same(&result, &staged) {
        return Err("gives another result with every stage played".into());
    }
    let slack_used = ["read_passes", "write_passes", "write_pauses"].iter().map(|name| result.counters[*name]).sum();
    let beside = [
        ("slack_with_slc", config.slc.is_on()),
        ("slack_with_superblocks", config.pools_per_group() > 1),
        ("slack_with_wear", config.wear.is_active()),
        ("slack_plane_by_plane", config.device.plane_programs > 1),
    ];
    add(&mut tally, beside.map(|(name, on)| (name.to_string(), if on { slack_used } else { 0 })).into());
    let of_parts = if config.pools_per_group() > 1 { result.counters["steps_with_requests"] } else { 0 };
    add(&mut tally, Tally::from([("steps_of_parts".to_string(), of_parts)]));
    let keeps_places = config.slc.is_on() && config.wear.is_on() && config.accepts_early();
    add(&mut tally, Tally::from([("slc_writes_beside_places".to_string(), if keeps_places { result.counters["slc_writes"] } else { 0 })]));
    add(&mut tally, fired(result));
    Ok(tally)
}

/// What the mechanisms of a drive did.
fn fired(result: RunResult) -> Tally {
    let gc = &result.gc;
    let more = [
        ("jobs", gc.jobs),
        ("stale_moves", gc.stale_moves),
        ("merged_reads", gc.merged.read),
        ("merged_writes", gc.merged.write),
        ("pipelined_reads", gc.pipelined.read),
        ("pipelined_writes", gc.pipelined.write),
        ("preemptions", gc.preemptions),
        ("suspensions", gc.suspensions),
        ("s2_ns", gc.state_ns.s2 as u64),
        ("s3_ns", gc.state_ns.s3 as u64),
    ];
    let cache = result.cache.map(|cache| {
        [
            ("cache_read_hits", cache.read_hits),
            ("cache_write_hits", cache.write_hits),
            ("cache_delayed_hits", cache.delayed_hits),
            ("cache_evictions", cache.evictions),
            ("cache_destages", cache.destages),
            ("cache_idle_destages", cache.idle_destages),
            ("cache_padded_pages", cache.padded_pages),
            ("cache_gc_skips", cache.gc_skips),
            ("cache_gc_fallbacks", cache.gc_fallbacks),
            ("cache_gc_bypasses", cache.gc_bypasses),
            ("cache_spread_groups", cache.spread_groups),
        ]
    });
    let interface = result.interface.map(|interface| {
        [
            ("slot_waits", interface.slot_waits),
            ("queue_full_waits", interface.queue_full_waits),
            ("passing_commands", interface.passing_commands),
            ("order_waits", interface.order_waits),
            ("core_waits", interface.core_waits),
            ("link_waits", interface.link_waits),
            ("held_commands", interface.held_commands),
            ("quota_waits", interface.quota_waits),
        ]
    });
    let buffer = result.buffer.map(|buffer| {
        [
            ("buffer_rewrites", buffer.rewrites),
            ("buffer_trimmed", buffer.trimmed),
            ("buffer_read_hits", buffer.read_hits),
            ("buffer_full_waits", buffer.full_waits),
            ("buffer_fills", buffer.fills),
            ("buffer_part_programs", buffer.part_programs),
            ("buffer_timeouts", buffer.timeouts),
            ("buffer_sorts", buffer.sorts),
            ("buffer_held", buffer.held),
        ]
    });
    let mapping = result.mapping.map(|mapping| {
        [
            ("mapping_hits", mapping.hits),
            ("mapping_delayed_hits", mapping.delayed_hits),
            ("mapping_misses", mapping.misses),
            ("mapping_predicted", mapping.predicted),
            ("mapping_mispredicted", mapping.mispredicted),
            ("mapping_lines", mapping.lines),
            ("mapping_unread", mapping.unread),
            ("mapping_full_waits", mapping.full_waits),
            ("mapping_order_waits", mapping.order_waits),
            ("mapping_write_backs", mapping.write_backs),
            ("mapping_moves_cached", mapping.moves_cached),
            ("mapping_moves_gathered", mapping.moves_gathered),
            ("mapping_updates", mapping.updates),
            ("mapping_flash_reads", mapping.flash_reads),
            ("mapping_flash_programs", mapping.flash_programs),
            ("mapping_pages_moved", mapping.pages_moved),
            ("mapping_dirty", mapping.dirty),
            ("mapping_pending", mapping.pending),
        ]
    });
    let placed = result.streams.iter().fold([0; 4], |[host, moves, opened, valid], stream| match stream.writer {
        Writer::Host => [host + stream.host_units, moves, opened, valid + stream.valid_units],
        Writer::Moves => [host, moves + stream.valid_units, opened + stream.blocks_opened, valid],
    });
    let placed = ["placed_host_units", "placed_valid_of_moves", "placed_blocks_of_moves", "placed_valid_of_host"].into_iter().zip(placed);
    let states = result.power_states.map(|states| {
        let entries: u64 = states.states.iter().map(|state| state.entries).sum();
        [("power_state_entries", entries), ("power_state_wakes", states.wakes), ("background_wakes", states.background_wakes)]
    });
    let named =
        more.into_iter().chain(states.into_iter().flatten()).chain(cache.into_iter().flatten()).chain(interface.into_iter().flatten());
    let named = named.chain(buffer.into_iter().flatten()).chain(mapping.into_iter().flatten());
    result.counters.into_iter().chain(named.chain(placed).map(|(name, count)| (name.to_string(), count))).collect()
}

/// What to do about a case that failed.
fn describe(failure: &Failure) -> String {
    let Failure { case, reason } = failure;
    format!("case {case} {reason}\n(SWARM=1 SWARM_FIRST={case} runs it alone)\n{:#?}", drawn(*case).0)
}

#[test]
fn random_drives_keep_every_invariant() {
    let tally = Cases::asked_for(CASES).run(keeps_every_invariant).unwrap_or_else(|failure| panic!("{}", describe(&failure)));
    println!("{tally:?}");
    if is_full() {
        // Policies of the user's own are for runs that have one: `orders` gives these cases some. Drives with a power cap alone: `energy`. A
        // superblock closes early only where the reserve is all that is left, and nothing can be collected. A write goes to another chip where
        // a block fails that leaves its chip no room, and accepted data find no place where many blocks fail at once: `wear`.
        let elsewhere = ["lost_units", "order_fallbacks", "power_waits", "rerouted_writes", "skipped_units", "victim_choices"];
        let counted = |name: &String| !elsewhere.contains(&name.as_str());
        assert_eq!(tally.iter().find(|(name, count)| **count == 0 && counted(name)), None, "this never happened");
    }
}

#[test]
fn a_case_that_does_not_end_is_reported() {
    let ended = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&ended);
    let cases = Cases { first: 3, count: 20, limit: Duration::from_secs(1), progress: false };
    let result = cases.run(move |case| {
        while case == 11 && !seen.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        Ok(Tally::new())
    });
    ended.store(true, Ordering::Relaxed);
    let failure = result.expect_err("case 11 has no end");
    assert_eq!(failure.case, 11);
    assert!(describe(&failure).starts_with("case 11 does not end\n(SWARM=1 SWARM_FIRST=11 runs it alone)\nConfig {"));
}

/// The first case that finds a planted defect.
fn found(defect: Planted, verify: Verify) -> Failure {
    found_so(How { verify, planted: Some(defect), ..CHECKED })
}

fn found_so(how: How) -> Failure {
    let cases = Cases::up_to(CASES);
    let result = cases.run(move |case| {
        let (config, requests) = drawn(case);
        run(&config, &requests, how).map(|(_, tally)| tally)
    });
    result.expect_err("a planted defect is found")
}

#[test]
fn planted_defects_are_found() {
    let defects: [(Planted, &[&str]); 17] = [
        (Planted::LosesAccepted, &["accepted data have no place"]),
        (Planted::ErasesInWholePulses, &["and its pulses"]),
        (
            Planted::UsesRetiredBlock,
            &["in a block that was retired", "the blocks of a superblock are free together", "pages for writes to pool"],
        ),
        (Planted::ForgetsFailedWrite, &["where"]),
        // The page is read back wrong, or its block is seen before to have another number of valid pages, or none that lists name.
        (Planted::KeepsStaleCopies, &["holds version", "is listed under", "has others, or more than one victim", "valid pages and has"]),
        (Planted::ForgetsHardThreshold, &["T_hard"]),
        (Planted::KeepsExclusion, &["no progress"]),
        (Planted::CountsCreditTwice, &["pages for writes to pool"]),
        // Of a zone that is reset, the block that closes may be that of another.
        (Planted::WritesToAnotherStream, &["data of the host at page", "pages valid and counts"]),
        (Planted::ForgetsHandles, &["moved data at page"]),
        (
            Planted::FreesMembersApart,
            &["the blocks of the superblock of block", "the blocks of a superblock are free together", "cannot come free: it is Retired"],
        ),
        (Planted::ForgetsOneInvalid, &["valid units and counts"]),
        (Planted::ForgetsRetryStep, &["is needed and step"]),
        (Planted::MixesRetrySteps, &["is needed and step"]),
        (Planted::ForgetsSlcMode, &["in the mode of its block"]),
        (Planted::FoldsYoungest, &["is folded before block"]),
        (Planted::CountsUnitTwice, &["pages valid and counts", "is erased with data in it"]),
    ];
    for (defect, says) in defects {
        let failure = found(defect, Verify::Every);
        println!("{defect:?}: case {} {}", failure.case, failure.reason);
        assert!(says.iter().any(|says| failure.reason.contains(says)), "{defect:?}: {failure:?}");
    }
}

/// A trim or a flush that comes before an older write is seen: the page has data, or the cache a dirty page, in the end.
#[test]
fn a_host_interface_without_order_is_found() {
    let failure = found_so(How { forgets_order: true, ..CHECKED });
    assert!(failure.reason.contains("should hold data: false") || failure.reason.contains("dirty_pages: 1"), "{failure:?}");
}

#[test]
fn a_write_buffer_that_forgets_is_found() {
    for (defect, says) in [(PlantedInBuffer::ForgetsRewrites, "but version"), (PlantedInBuffer::FlushesEarly, "a flush that came at")] {
        let failure = found_so(How { planted_in_buffer: Some(defect), ..CHECKED });
        assert!(failure.reason.contains(says), "{defect:?}: {failure:?}");
    }
}

#[test]
fn a_mapping_table_that_forgets_is_found() {
    for (defect, says) in [
        (PlantedInMap::DropsDirtyPages, "ranslation page"),
        (PlantedInMap::ForgetsMoves, "of translation page"),
        (PlantedInMap::ForgetsOrder, "goes on before it"),
        (PlantedInMap::KeepsOldModels, "the model of the mapping table gives"),
    ] {
        let failure = found_so(How { planted_in_map: Some(defect), ..CHECKED });
        assert!(failure.reason.contains(says), "{defect:?}: {failure:?}");
    }
}

#[test]
fn writes_below_the_hard_threshold_are_seen_from_outside() {
    let failure = found(Planted::ForgetsHardThreshold, Verify::Off);
    assert!(failure.reason.contains("below T_hard"), "{failure:?}");
}

/// A drive with thresholds well above the reserve, and a workload that overwrites it all the time.
fn overwritten(case: u64) -> (Config, Vec<Request>) {
    let mut rng = Rng::new(case, "thresholds");
    let mut config = random_config(&mut rng);
    config.device.blocks_per_plane = 16;
    config.device.overprovisioning = if config.ftl.pool == PoolScope::Die { 0.5 } else { 0.6 };
    (config.gc.soft, config.gc.hard) = (5.0, [0.4, 0.6, 1.0][case as usize % 3]);
    let mut requests = random_requests(&mut rng, &config, 300);
    for request in &mut requests {
        request.high_priority = false;
        if request.kind == RequestKind::Read {
            request.kind = RequestKind::Write;
        }
    }
    (config, requests)
}

#[test]
fn collection_ends_and_free_blocks_stay_above_the_hard_threshold() {
    let cases = Cases::asked_for(600);
    let result = cases.run(|case| {
        let (config, requests) = overwritten(case);
        let (result, mut tally) = run(&config, &requests, How { verify: Verify::End, ..CHECKED })?;
        for name in [format!("{:?}", config.gc.victim), format!("{:?}", config.gc.trigger), format!("{:?}", config.gc.scope)] {
            tally.insert(name, result.gc.jobs);
        }
        Ok(tally)
    });
    let tally = result.unwrap_or_else(|Failure { case, reason }| panic!("case {case} {reason}\n{:#?}", overwritten(case).0));
    println!("{tally:?}");
    if is_full() {
        assert_eq!(tally.len(), 3 + 6 + 3 + 7, "a victim policy, trigger or scope is missing");
        assert!(tally.values().all(|&count| count > 500), "{tally:?}");
    }
}
