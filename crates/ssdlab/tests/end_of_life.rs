//! The end of life of drives that accept writes before they are in flash: what was accepted is written once the drive is read-only.

use crate::common::{one_die, plan, protected_buffer};
use crate::timelines::{Case, array, bus, filled, play_with, read, write};
use ssdlab::config::{
    Allocation, ArrayLevel, CachePlace, CachePolicy, Config, Frontier, Isolation, MapCacheUnit, Pace, Padding, Placement, PoolScope,
    Priority, ReclaimUnit, Scope, WearEnd, validate,
};
use ssdlab::request::{Request, RequestKind};
use ssdlab::simulation::{Control, Plan, Simulation, Verify, run};
use ssdlab::stats::{Part, ReadOnlyCause, RunResult};

const MS: u64 = 1_000_000;
const US: u64 = 1_000;
const WRITE: u64 = 302_400;
const ERASE: u64 = 1_500_000;

/// A die of 16 blocks that exports 4 of them, behind a buffer of one page. All blocks are worn out after their second erase, and have had one before.
/// Of 12 spare blocks 11 are needed, 8 for the threshold: 5, and 3 that are kept. 17 writes, of all pages and the first again, fill 5 blocks, so
/// that two jobs are wanted; they find blocks without valid pages, whose erases fail. With the second the drive is read-only, at 19.3024 ms. Until then
/// a write of 18 ms, complete since it is in the buffer, waits for the die: it is programmed. A write of 18.2 ms, which waits for the buffer, is
/// rejected then, and one of 21 ms at once.
#[test]
fn what_is_complete_is_programmed_and_what_waits_is_rejected() {
    let mut config = filled(one_die());
    (config.device.blocks_per_plane, config.device.overprovisioning) = (16, 0.75);
    config.ftl.frontier = Frontier::Separate;
    (config.gc.scope, config.gc.priority, config.gc.soft) = (Scope::None, Priority::Host, 5.0);
    (config.wear.endurance, config.wear.end, config.ftl.precondition.pe_cycles) = (2, WearEnd::Reads, 1);
    config.buffer = protected_buffer(4096, US);
    validate(&config).unwrap();
    assert_eq!((config.losable_blocks(), config.reserve()), (1, 4));
    let end = 16 * MS + WRITE + 2 * ERASE;
    let waits = end - 18_200 * US;
    let more = [write(18 * MS, 3), write(18_200 * US, 4), write(21 * MS, 5), read(22 * MS, 3)];
    let programs = |at: u64| vec![bus(0, at, at + 102_400), array(0, at + 102_400, at + WRITE)];
    let erases = |at: u64| vec![array(0, at, at + ERASE)];
    let in_buffer = (US, vec![(Part::Dram, US)]);
    let answers = [
        in_buffer.clone(),
        (waits, vec![(Part::HostQueue, waits)]),
        (0, vec![]),
        (127_400, vec![(Part::Array, 25_000), (Part::Transfer, 102_400)]),
    ];
    let job = 16 * MS + WRITE;
    let last = [
        erases(job),
        erases(job + ERASE),
        programs(end),
        vec![array(0, 22 * MS, 22 * MS + 25_000)],
        vec![bus(0, 22 * MS + 25_000, 22 * MS + 127_400)],
    ];
    let case = Case {
        name: "read-only behind a buffer",
        config: config.clone(),
        requests: (0..17).map(|index| write(index * MS, index % 16)).chain(more).collect(),
        responses: [vec![in_buffer; 17], answers.to_vec()].concat(),
        stages: (0..17).flat_map(|index| programs(index * MS)).chain(last.concat()).collect(),
    };
    for every_stage in [false, true] {
        let mut simulation = Simulation::new(&plan(config.clone()), &Control::default()).unwrap();
        simulation.take_completions();
        let (completions, counters) = play_with(&case, every_stage, simulation);
        let rejected: Vec<u64> = completions.iter().filter(|done| done.is_rejected()).map(|done| done.index).collect();
        assert_eq!(rejected, [18, 19]);
        assert_eq!((counters.retired_by_endurance, counters.rejected_writes, counters.lost_units), (2, 2, 0));
        assert_eq!(counters.host_programs, 18);
    }
}

/// A die of 16 blocks behind a cache of 16 pages. 17 writes, each with a flush 10 us later, fill 5 blocks, and a job begins at 16.3124 ms: its erase
/// fails at 17.8124. Of 17 writes at 17 ms the cache accepts 15, of pages 1 to 15: 7 blocks are free, of which 4 are the reserve, and 3
/// programs are left in the open block. A sixteenth would need a fourth block: that of page 0 waits for a place, and one of page 1 behind it.
/// So page 1 is destaged: its program goes before the second job, whose erase fails at 19.6148 ms. It has taken a page of the open block, and
/// needs no other any longer, so that page 0 goes on waiting. Then the drive is read-only: the two writes that wait are rejected, and pages 2
/// to 15 are programmed.
#[test]
fn dirty_pages_of_a_cache_have_a_place_and_what_waits_for_one_is_rejected() {
    let mut config = filled(one_die());
    (config.device.blocks_per_plane, config.device.overprovisioning) = (16, 0.75);
    config.ftl.frontier = Frontier::Separate;
    (config.gc.scope, config.gc.priority, config.gc.soft) = (Scope::None, Priority::Host, 6.0);
    (config.wear.endurance, config.wear.end, config.ftl.precondition.pe_cycles) = (2, WearEnd::Reads, 1);
    (config.cache.policy, config.cache.bytes, config.cache.access_ns) = (CachePolicy::Lru, 16 * 4096, US);
    validate(&config).unwrap();
    assert_eq!((config.losable_blocks(), config.reserve()), (1, 4));
    let flush = |at: u64| Request { kind: RequestKind::Flush, offset: 0, length: 0, ..write(at, 0) };
    let each = |index: u64| [write(index * MS, index % 16), flush(index * MS + 10 * US)];
    let at_once = (1..18).map(|page| write(17 * MS, page % 16));
    let requests = (0..17).flat_map(each).chain(at_once).chain([write(25 * MS, 5), read(26 * MS, 3)]).collect();
    let job = 16 * MS + 10 * US + WRITE;
    let end = job + 2 * ERASE + WRITE;
    let in_cache = || (US, vec![(Part::Dram, US)]);
    let flushed = || (WRITE, vec![(Part::Array, 200_000), (Part::Transfer, 102_400)]);
    let rejected = || (end - 17 * MS, vec![(Part::HostQueue, end - 17 * MS)]);
    let responses = (0..17).flat_map(|_| [in_cache(), flushed()]).chain((1..16).map(|_| in_cache()));
    let responses = responses.chain([rejected(), rejected(), (0, vec![]), in_cache()]).collect();
    let programs = |at: u64| [bus(0, at, at + 102_400), array(0, at + 102_400, at + WRITE)];
    let erases = |at: u64| [array(0, at, at + ERASE)];
    let stages = (0..17).flat_map(|index| programs(index * MS + 10 * US)).chain(erases(job)).chain(programs(job + ERASE));
    let stages = stages.chain(erases(job + ERASE + WRITE)).chain((0..14).flat_map(|page| programs(end + page * WRITE))).collect();
    let case = Case { name: "read-only behind a cache", config: config.clone(), requests, responses, stages };
    for every_stage in [false, true] {
        let mut simulation = Simulation::new(&plan(config.clone()), &Control::default()).unwrap();
        simulation.take_completions();
        let (completions, counters) = play_with(&case, every_stage, simulation);
        assert_eq!(completions.iter().filter(|done| done.is_rejected()).count(), 3);
        assert_eq!((counters.rejected_writes, counters.lost_units, counters.place_waits), (3, 0, 1));
        assert_eq!(counters.host_programs, 17 + 15);
    }
}

/// Two dies of random writes behind a buffer, with pacing, whose blocks fail as they wear, and before.
fn worn(seed: u64, change: impl FnOnce(&mut Config)) -> RunResult {
    worn_as(Verify::Every, seed, change)
}

fn worn_as(verify: Verify, seed: u64, change: impl FnOnce(&mut Config)) -> RunResult {
    let mut config = one_die();
    (config.device.channels, config.device.blocks_per_plane, config.device.pages_per_block) = (2, 40, 16);
    (config.device.overprovisioning, config.gc.soft, config.gc.pace) = (0.6, 4.0, Pace::Proportional);
    (config.ftl.frontier, config.gc.scope, config.gc.priority) = (Frontier::Separate, Scope::None, Priority::Host);
    config.buffer = protected_buffer(64 * 4096, US);
    (config.wear.endurance, config.wear.spread, config.wear.end) = (8, 0.2, WearEnd::Reads);
    (config.wear.program_fails_ppm, config.wear.erase_fails_ppm) = (2_000.0, 2_000.0);
    (config.workload.read_share, config.workload.queue_depth, config.workload.request_kb) = (0.1, 16, 4.0);
    change(&mut config);
    validate(&config).unwrap();
    run(&Plan { requests: Some(20_000), seed, verify, ..plan(config) }, &Control::default()).unwrap()
}

/// Whatever decides where writes go, nothing that was accepted is lost at the end of life, which verify mode would see.
#[test]
fn nothing_that_was_accepted_is_lost() {
    type Change = fn(&mut Config);
    let changes: [(&str, Change); 18] = [
        ("cache", |c| cached(c, CachePolicy::Lru)),
        ("cache above a buffer", |c| {
            cached(c, CachePolicy::Cflru);
            c.buffer.bytes = 64 * 4096;
        }),
        ("cache above a table in flash", |c| {
            cached(c, CachePolicy::Lru);
            (c.ftl.map_cache_bytes, c.ftl.map_entry_bytes) = (3 * 4096, 256);
        }),
        ("cache that pads", |c| {
            cached(c, CachePolicy::Bplru);
            (c.cache.padding, c.gc.pace) = (Padding::Always, Pace::None);
        }),
        ("cache aware of GC", |c| {
            cached(c, CachePolicy::Lru);
            (c.cache.gc_aware, c.ftl.allocation, c.device.chips_per_channel) = (true, Allocation::Dynamic, 2);
        }),
        ("superblocks", |c| (c.ftl.reclaim_unit, c.ftl.allocation) = (ReclaimUnit::Superblock, Allocation::Dynamic)),
        ("superblocks with handles", |c| {
            (c.ftl.reclaim_unit, c.ftl.allocation) = (ReclaimUnit::Superblock, Allocation::Dynamic);
            (c.ftl.placement, c.ftl.handles, c.device.overprovisioning) = (Placement::Handles, 2, 0.7);
        }),
        ("table in flash", |c| (c.ftl.map_cache_bytes, c.ftl.map_entry_bytes) = (3 * 4096, 256)),
        ("table in flash without a buffer", |c| {
            (c.ftl.map_cache_bytes, c.ftl.map_entry_bytes, c.buffer.bytes) = (3 * 4096, 256, 0);
        }),
        ("table in flash, shared frontier", |c| {
            (c.ftl.map_cache_bytes, c.ftl.map_entry_bytes, c.buffer.bytes) = (3 * 4096, 256, 0);
            (c.ftl.frontier, c.gc.pace) = (Frontier::Shared, Pace::None);
        }),
        ("single entries", |c| {
            (c.ftl.map_cache_bytes, c.ftl.map_entry_bytes, c.ftl.map_cache_unit) = (2048, 256, MapCacheUnit::Entry);
        }),
        ("static", |_| ()),
        ("shared", |c| c.ftl.frontier = Frontier::Shared),
        ("dynamic", |c| (c.ftl.allocation, c.device.chips_per_channel) = (Allocation::Dynamic, 2)),
        ("even wear", |c| (c.wear.spread, c.wear.program_fails_ppm) = (0.0, 0.0)),
        ("units", |c| (c.ftl.map_unit_bytes, c.ftl.pool) = (Some(1024), PoolScope::Die)),
        ("handles", |c| (c.ftl.placement, c.ftl.handles, c.ftl.isolation) = (Placement::Handles, 2, Isolation::Persistent)),
        ("sepbit", |c| c.ftl.placement = Placement::Sepbit),
    ];
    let mut waits = 0;
    for (name, change) in changes {
        for seed in 1..4 {
            let result = worn(seed, change);
            waits += waits_until_the_end(&result, name);
        }
    }
    assert!(waits > 0, "no write ever waited for a place");
}

/// Checks a run of 20,000 requests to its end, in which nothing was lost. Returns how often a write waited for a place.
fn waits_until_the_end(result: &RunResult, name: &str) -> u64 {
    assert!(result.lifetime.as_ref().unwrap().read_only_ns.is_some(), "{name}: not at its end");
    assert_eq!(result.counters["lost_units"], 0, "{name}");
    assert_eq!(result.requests.total() + result.counters["rejected_writes"], 20_000, "{name}");
    result.counters["place_waits"]
}

/// In an array, which is read-only with the first of its drives.
#[test]
fn nothing_that_an_array_was_to_write_is_lost() {
    type Change = fn(&mut Config);
    let of_drives = |c: &mut Config, level, drives| (c.array.level, c.array.drives, c.array.stripe_kb) = (level, drives, 16.0);
    let changes: [(&str, Change); 5] = [
        ("no level that accepts writes", |c| c.buffer.bytes = 0),
        ("buffers", |_| ()),
        ("a table in flash", |c| (c.ftl.map_cache_bytes, c.ftl.map_entry_bytes, c.buffer.bytes) = (3 * 4096, 256, 0)),
        ("a cache of each drive", |c| cached(c, CachePolicy::Lru)),
        ("a cache of the array", |c| {
            cached(c, CachePolicy::Lru);
            c.cache.place = CachePlace::Array;
        }),
    ];
    let mut waits = 0;
    for (level, drives, degraded) in [(ArrayLevel::Rais0, 2, None), (ArrayLevel::Rais5, 3, None), (ArrayLevel::Rais5, 4, Some(1))] {
        for (name, change) in changes {
            let result = worn_as(Verify::End, 1, |c| {
                of_drives(c, level, drives);
                c.array.degraded = degraded;
                change(c);
            });
            waits += waits_until_the_end(&result, &format!("{level:?}, {name}"));
        }
    }
    assert!(waits > 0, "no write ever waited for a place");
}

/// A cache of many pages in place of the buffer.
fn cached(config: &mut Config, policy: CachePolicy) {
    config.buffer.bytes = 0;
    (config.cache.policy, config.cache.bytes, config.cache.access_ns) = (policy, 300 * 4096, US);
}

/// Where two of five programs fail, more blocks fail after the end than the drive has kept: what was accepted is lost, and is counted.
#[test]
fn what_finds_no_place_is_counted() {
    let results = (1..9).map(|seed| worn(seed, |c| (c.wear.program_fails_ppm, c.gc.pace) = (400_000.0, Pace::None)));
    let lost = results.map(|result| {
        let life = result.lifetime.as_ref().unwrap();
        assert!(matches!(life.read_only_cause, Some(ReadOnlyCause::Spare | ReadOnlyCause::NoRoom)));
        assert_eq!(result.requests.total() + result.counters["rejected_writes"], 20_000);
        result.counters["lost_units"]
    });
    assert!(lost.sum::<u64>() > 0);
}
