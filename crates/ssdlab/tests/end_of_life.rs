//! The end of life of drives that accept writes before they are in flash: what was accepted is written once the drive is read-only.

use crate::common::{one_die, plan, protected_buffer};
use crate::timelines::{Case, array, bus, filled, play_with, read, write};
use ssdlab::config::{
    Allocation, Config, Frontier, Isolation, MapCacheUnit, Pace, Placement, PoolScope, Priority, ReclaimUnit, Scope, WearEnd, validate,
};
use ssdlab::simulation::{Control, Plan, Simulation, Verify, run};
use ssdlab::stats::{Part, ReadOnlyCause, RunResult};

const MS: u64 = 1_000_000;
const US: u64 = 1_000;
const WRITE: u64 = 302_400;
const ERASE: u64 = 1_500_000;

/// A die of 16 blocks that exports 4 of them, behind a buffer of one page. All blocks are worn out after their second erase, and have had one before.
/// Of 12 spare blocks 11 are needed, 8 for the threshold. 17 writes, of all pages and the first again, fill 5 blocks, so that two jobs are
/// wanted; they find blocks without valid pages, whose erases fail. With the second the drive is read-only, at 19.3024 ms. Until then
/// a write of 18 ms, complete since it is in the buffer, waits for the die: it is programmed. A write of 18.2 ms, which waits for the buffer, is
/// rejected then, and one of 21 ms at once.
#[test]
fn what_is_complete_is_programmed_and_what_waits_is_rejected() {
    let mut config = filled(one_die());
    (config.device.blocks_per_plane, config.device.overprovisioning) = (16, 0.75);
    config.ftl.frontier = Frontier::Separate;
    (config.gc.scope, config.gc.priority, config.gc.soft) = (Scope::None, Priority::Host, 8.0);
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

/// Two dies of random writes behind a buffer, with pacing, whose blocks fail as they wear, and before.
fn worn(seed: u64, change: impl FnOnce(&mut Config)) -> RunResult {
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
    run(&Plan { requests: Some(20_000), seed, verify: Verify::Every, ..plan(config) }, &Control::default()).unwrap()
}

/// Whatever decides where writes go, nothing that was accepted is lost at the end of life, which verify mode would see.
#[test]
fn nothing_that_was_accepted_is_lost() {
    type Change = fn(&mut Config);
    let changes: [(&str, Change); 12] = [
        ("superblocks", |c| (c.ftl.reclaim_unit, c.ftl.allocation) = (ReclaimUnit::Superblock, Allocation::Dynamic)),
        ("superblocks with handles", |c| {
            (c.ftl.reclaim_unit, c.ftl.allocation) = (ReclaimUnit::Superblock, Allocation::Dynamic);
            (c.ftl.placement, c.ftl.handles, c.device.overprovisioning) = (Placement::Handles, 2, 0.7);
        }),
        ("table in flash", |c| (c.ftl.map_cache_bytes, c.ftl.map_entry_bytes) = (3 * 4096, 256)),
        ("table in flash without a buffer", |c| {
            (c.ftl.map_cache_bytes, c.ftl.map_entry_bytes, c.buffer.bytes) = (3 * 4096, 256, 0);
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
            let life = result.lifetime.unwrap();
            assert!(life.read_only_ns.is_some(), "{name}: not at its end");
            assert_eq!(result.counters["lost_units"], 0, "{name}");
            assert_eq!(result.requests.total() + result.counters["rejected_writes"], 20_000, "{name}");
            waits += result.counters["place_waits"];
        }
    }
    assert!(waits > 0, "no write ever waited for a place");
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
