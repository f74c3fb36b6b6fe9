//! Blocks in SLC mode (`slc`), worked by hand to the nanosecond, and what holds whatever the times are. A page takes 102.4 us on the bus. In
//! SLC mode a read takes 10 us, a program 50 us, an erase 500 us; else 25 us, 200 us and 1.5 ms. A block has six pages, or two in SLC mode.

use crate::common::{one_die, plan, simulation};
use crate::timelines::{Case, array, bus, pages, play_all, read, write};
use ssdlab::cause::Cause;
use ssdlab::config::{
    Advance, Config, Frontier, Isolation, Mode, Placement, PoolScope, PreconditionKind, Priority, RetryPolicy, Scope, SlcFull,
    SuspendedForReads, Trigger, validate,
};
use ssdlab::ftl::{BlockState, Ftl};
use ssdlab::request::{Request, RequestKind};
use ssdlab::simulation::{Control, Plan, Simulation};
use ssdlab::stats::{Counters, Part};
use ssdlab::units::{BlockId, Lpn};

const MS: u64 = 1_000_000;

/// A die with one block that is always in SLC mode, which is folded after 1 ms of idle time.
pub fn one_block(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = one_die();
    (config.device.blocks_per_plane, config.device.pages_per_block) = (12, 6);
    config.ftl.frontier = Frontier::Separate;
    (config.gc.scope, config.gc.priority) = (Scope::None, Priority::Host);
    let slc = &mut config.slc;
    (slc.static_blocks, slc.idle_us) = (1, 1_000);
    (slc.read_ns, slc.program_ns, slc.erase_ns) = (10_000, 50_000, 500_000);
    change(&mut config);
    validate(&config).unwrap();
    config
}

/// The parts of an operation with this array time.
pub fn parts(array: u64) -> Vec<(Part, u64)> {
    vec![(Part::Array, array), (Part::Transfer, 102_400)]
}

fn and_waits(reason: Part, ns: u64, array: u64) -> Vec<(Part, u64)> {
    [vec![(reason, ns)], parts(array)].concat()
}

/// The stages of a write with this array time, and of a read.
pub fn writes(at: u64, array_ns: u64) -> Vec<crate::timelines::Stage> {
    vec![bus(0, at, at + 102_400), array(0, at + 102_400, at + 102_400 + array_ns)]
}

pub fn reads(at: u64, array_ns: u64) -> Vec<crate::timelines::Stage> {
    vec![array(0, at, at + array_ns), bus(0, at + array_ns, at + array_ns + 102_400)]
}

/// A page that is folded, after a retry step of 132.4 us. All of its read counts as array time.
fn moves_after_a_step(at: u64) -> Vec<crate::timelines::Stage> {
    vec![
        array(0, at, at + 162_400),
        bus(0, at + 162_400, at + 264_800),
        bus(0, at + 264_800, at + 367_200),
        array(0, at + 367_200, at + 567_200),
    ]
}

/// A page that is folded: read in SLC mode, transferred out and in, programmed in the other: 414.8 us.
pub fn folds(at: u64) -> Vec<crate::timelines::Stage> {
    [reads(at, 10_000), writes(at + 112_400, 200_000)].concat()
}

const FOLD: u64 = 414_800;

/// Reads of blocks that are not in SLC mode need the second retry step, and those of others have this share of their errors.
fn with_errors(share: f64, change: impl FnOnce(&mut Config)) -> Config {
    one_block(|c| {
        c.slc.idle_us = 1_000_000;
        let errors = &mut c.errors;
        (errors.retry, errors.retry_table) = (RetryPolicy::InOrder, vec![0.5, 0.25, 0.125]);
        (errors.alpha, errors.beta, errors.gamma) = (0.0, 0.0, 0.0);
        // A plain read is good up to 72 bits of 1 KiB.
        (errors.epsilon, c.slc.errors) = (72.0 / 8192.0 * 3.0, share);
        change(c);
    })
}

/// The parts of a read with this array time of which `steps` steps fail: each is an array read, a transfer and the decoding.
fn retried(steps: u64, array: u64) -> (u64, Vec<(Part, u64)>) {
    let step = array + 122_400;
    ((steps + 1) * step, [vec![(Part::Retry, steps * step)], parts(array), vec![(Part::Decode, 20_000)]].concat())
}

/// The stages of a host read of which `steps` steps fail. The last decoding does not hold the die.
fn steps(at: u64, array: u64, steps: u64) -> Vec<crate::timelines::Stage> {
    (0..=steps).flat_map(|step| reads(at + step * (array + 122_400), array)).collect()
}

fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "a read in SLC mode has half of the errors, so needs a step less, of the shorter array read",
            config: with_errors(0.5, |_| ()),
            requests: vec![write(0, 0), write(MS, 1), write(2 * MS, 2), read(3 * MS, 0), read(4 * MS, 2)],
            responses: vec![
                (152_400, parts(50_000)),
                (152_400, parts(50_000)),
                (302_400, parts(200_000)),
                retried(1, 10_000),
                retried(2, 25_000),
            ],
            stages: [writes(0, 50_000), writes(MS, 50_000), writes(2 * MS, 200_000), steps(3 * MS, 10_000, 1), steps(4 * MS, 25_000, 2)]
                .concat(),
        },
        Case {
            name: "cells in SLC mode without a factor of their own age as others, without errors as none",
            config: with_errors(1.0, |_| ()),
            requests: vec![write(0, 0), write(MS, 1), read(3 * MS, 0)],
            responses: vec![(152_400, parts(50_000)), (152_400, parts(50_000)), retried(2, 10_000)],
            stages: [writes(0, 50_000), writes(MS, 50_000), steps(3 * MS, 10_000, 2)].concat(),
        },
        Case {
            // The third read begins at 3 ms. Its die is free after 112.4 us. To move a page takes the failed step of 132.4 us, a read of 10 us
            // and the decoding of 20 us, two transfers and the program: 567.2 us.
            name: "a block in SLC mode that has been read three times is folded for that, and takes writes again",
            config: with_errors(0.5, |c| c.errors.reclaim_reads = 5),
            requests: vec![
                write(0, 0),
                write(200_000, 1),
                read(MS, 0),
                read(2 * MS, 1),
                read(3 * MS, 0),
                write(8 * MS, 2),
                read(9 * MS, 0),
            ],
            responses: vec![
                (152_400, parts(50_000)),
                (152_400, parts(50_000)),
                retried(1, 10_000),
                retried(1, 10_000),
                retried(1, 10_000),
                (152_400, parts(50_000)),
                retried(2, 25_000),
            ],
            stages: [
                writes(0, 50_000),
                writes(200_000, 50_000),
                steps(MS, 10_000, 1),
                steps(2 * MS, 10_000, 1),
                steps(3 * MS, 10_000, 1),
                moves_after_a_step(3_244_800),
                moves_after_a_step(3_812_000),
                vec![array(0, 4_379_200, 4_879_200)],
                writes(8 * MS, 50_000),
                steps(9 * MS, 25_000, 2),
            ]
            .concat(),
        },
        Case {
            name: "two pages fit into the cache, the third goes past it; reads take the time of the block",
            config: one_block(|c| c.slc.idle_us = 1_000_000),
            requests: vec![write(0, 0), write(MS, 1), write(2 * MS, 2), read(3 * MS, 0), read(4 * MS, 2)],
            responses: vec![
                (152_400, parts(50_000)),
                (152_400, parts(50_000)),
                (302_400, parts(200_000)),
                (112_400, parts(10_000)),
                (127_400, parts(25_000)),
            ],
            stages: [writes(0, 50_000), writes(MS, 50_000), writes(2 * MS, 200_000), reads(3 * MS, 10_000), reads(4 * MS, 25_000)].concat(),
        },
        Case {
            name: "the block is folded after 1 ms of idle time, and takes writes again",
            config: one_block(|_| ()),
            requests: vec![write(0, 0), write(200_000, 1), write(4 * MS, 2), read(5 * MS, 0)],
            responses: vec![(152_400, parts(50_000)), (152_400, parts(50_000)), (152_400, parts(50_000)), (127_400, parts(25_000))],
            stages: [
                writes(0, 50_000),
                writes(200_000, 50_000),
                folds(1_352_400),
                folds(1_352_400 + FOLD),
                vec![array(0, 2_182_000, 2_682_000)],
                writes(4 * MS, 50_000),
                reads(5 * MS, 25_000),
            ]
            .concat(),
        },
        Case {
            // The read comes during the first move, and waits for its end: 1,767,200 ns. Its page is not folded yet.
            name: "a read goes between two pages of a fold",
            config: one_block(|_| ()),
            requests: vec![write(0, 0), write(200_000, 1), read(1_452_400, 1), read(4 * MS, 1)],
            responses: vec![
                (152_400, parts(50_000)),
                (152_400, parts(50_000)),
                (314_800 + 112_400, and_waits(Part::Gc, 314_800, 10_000)),
                (127_400, parts(25_000)),
            ],
            stages: [
                writes(0, 50_000),
                writes(200_000, 50_000),
                folds(1_352_400),
                reads(1_767_200, 10_000),
                folds(1_879_600),
                vec![array(0, 1_879_600 + FOLD, 1_879_600 + FOLD + 500_000)],
                reads(4 * MS, 25_000),
            ]
            .concat(),
        },
        Case {
            // The program of the first move begins at 1,567,200 ns. It has 167,200 ns left when the read comes, and stops within 10 us.
            name: "the program of a fold is suspended for a read",
            config: one_block(|c| {
                c.scheduler.suspend = vec![SuspendedForReads::Program];
                (c.device.page_registers, c.device.suspend_ns) = (2, 10_000);
            }),
            requests: vec![write(0, 0), write(200_000, 1), read(1_600_000, 1), read(4 * MS, 1)],
            responses: vec![
                (152_400, parts(50_000)),
                (152_400, parts(50_000)),
                (10_000 + 112_400, and_waits(Part::Gc, 10_000, 10_000)),
                (127_400, parts(25_000)),
            ],
            stages: [
                writes(0, 50_000),
                writes(200_000, 50_000),
                reads(1_352_400, 10_000),
                vec![bus(0, 1_464_800, 1_567_200), array(0, 1_567_200, 1_610_000)],
                reads(1_610_000, 10_000),
                vec![array(0, 1_722_400, 1_889_600)],
                folds(1_889_600),
                vec![array(0, 1_889_600 + FOLD, 1_889_600 + FOLD + 500_000)],
                reads(4 * MS, 25_000),
            ]
            .concat(),
        },
        Case {
            name: "writes wait for a fold where nothing goes past the cache",
            config: one_block(|c| (c.slc.full, c.slc.idle_us) = (SlcFull::Fold, 0)),
            requests: vec![write(0, 0), write(0, 1), write(0, 2)],
            responses: vec![
                (152_400, parts(50_000)),
                (304_800, and_waits(Part::DieQueue, 152_400, 50_000)),
                (
                    304_800 + 2 * FOLD + 500_000 + 152_400,
                    [vec![(Part::DieQueue, 304_800)], and_waits(Part::Gc, 2 * FOLD + 500_000, 50_000)].concat(),
                ),
            ],
            stages: [
                writes(0, 50_000),
                writes(152_400, 50_000),
                folds(304_800),
                folds(304_800 + FOLD),
                vec![array(0, 304_800 + 2 * FOLD, 804_800 + 2 * FOLD)],
                writes(804_800 + 2 * FOLD, 50_000),
            ]
            .concat(),
        },
        Case {
            name: "a page is folded by copyback, without the bus",
            config: one_block(|c| c.device.copyback = true),
            requests: vec![write(0, 0), write(200_000, 1), read(4 * MS, 0)],
            responses: vec![(152_400, parts(50_000)), (152_400, parts(50_000)), (127_400, parts(25_000))],
            stages: [
                writes(0, 50_000),
                writes(200_000, 50_000),
                vec![array(0, 1_352_400, 1_562_400), array(0, 1_562_400, 1_772_400), array(0, 1_772_400, 2_272_400)],
                reads(4 * MS, 25_000),
            ]
            .concat(),
        },
        Case {
            // Three pages of a program one after the other, each of which takes 50 us.
            name: "a program of several pages programs one word line after the other",
            config: one_block(|c| {
                (c.device.pages_per_program, c.device.pages_per_block, c.device.overprovisioning) = (3, 18, 0.7);
                c.slc.idle_us = 1_000_000;
            }),
            requests: vec![pages(write(0, 0), 3)],
            responses: vec![(3 * 102_400 + 150_000, vec![(Part::Transfer, 307_200), (Part::Array, 150_000)])],
            stages: vec![bus(0, 0, 307_200), array(0, 307_200, 457_200)],
        },
    ]
}

#[test]
fn timelines() {
    play_all(&cases());
}

fn played(config: &Config, requests: &[Request]) -> Simulation {
    let mut simulation = simulation(config);
    requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
    simulation.run_to_idle().unwrap();
    simulation
}

#[test]
fn every_mechanism_is_counted() {
    let plan = Plan { series: true, ..plan(one_block(|_| ())) };
    let mut idle = Simulation::new(&plan, &Control::default()).unwrap();
    for request in [write(0, 0), write(200_000, 1), write(400_000, 2), read(5 * MS, 0), read(5 * MS, 2)] {
        idle.submit(request).unwrap();
    }
    idle.run_to_idle().unwrap();
    let counters = idle.ssd().counters();
    let Counters { slc_writes, direct_writes, folds, folded_pages, slc_erases, slc_reads, .. } = counters;
    let (idle_folds, space_folds) = (counters.jobs_for(Cause::FoldIdle), counters.jobs_for(Cause::FoldSpace));
    assert_eq!([slc_writes, direct_writes, folds, idle_folds, space_folds], [2, 1, 1, 1, 0]);
    assert_eq!([folded_pages, slc_erases, slc_reads, counters.erases], [2, 1, 0, 1]);
    let result = idle.finish().unwrap();
    let slc = result.slc.unwrap();
    assert_eq!((slc.static_blocks, slc.dynamic_blocks, slc.capacity_bytes), (1, 0, 2 * 4096));
    assert_eq!((slc.written_bytes, slc.direct_bytes, slc.folded_bytes, slc.folds), (2 * 4096, 4096, 2 * 4096, 1));
    assert_eq!((slc.cached_share, slc.blocks_in_use, slc.held_bytes), (Some(2.0 / 3.0), 0, 0));
    assert_eq!((slc.static_wear.unwrap().mean, slc.other_wear.unwrap().mean), (1.0, 0.0));
    let series = result.series.unwrap().slc.unwrap();
    let sums = [series.cached_bytes, series.direct_bytes, series.folded_bytes].map(|bytes| bytes.iter().sum::<u64>());
    assert_eq!(sums, [2 * 4096, 4096, 2 * 4096]);
}

/// A block that is due leaves the cache with a job of that cause, which is no fold of the cache.
#[test]
fn a_block_in_slc_mode_is_reclaimed_and_refreshed() {
    let read_often = with_errors(0.5, |c| c.errors.reclaim_reads = 3);
    let old = with_errors(0.5, |c| c.errors.refresh_days = 5e-3 / 86_400.0);
    for (config, cause, last) in [(read_often, Cause::Reclaim, MS), (old, Cause::Refresh, 5_000_000)] {
        let requests = [write(0, 0), write(200_000, 1), read(600_000, 0), read(last - 1, 1), read(last, 1), read(last + 4 * MS, 0)];
        let simulation = played(&config, &requests);
        let counters = simulation.ssd().counters();
        assert_eq!((counters.jobs, counters.jobs_for(cause), counters.folds, counters.folded_pages, counters.slc_erases), (1, 1, 0, 2, 1));
        let slc = simulation.finish().unwrap().slc.unwrap();
        assert_eq!((slc.blocks_in_use, slc.held_bytes), (0, 0), "{cause:?}");
    }
}

/// After six erases in SLC mode that each wear as a quarter of another, a block has the errors of one that was erased once, or with the next two
/// twice: the law counts whole cycles.
#[test]
fn cells_in_slc_mode_age_by_their_share_of_wear() {
    let cycles = |wear: f64| {
        let config = with_errors(1.0, |c| (c.slc.wear, c.slc.idle_us, c.errors.alpha) = (wear, 1_000, 1e-6));
        let writes: Vec<_> = (0..6).flat_map(|round| [write(round * 20 * MS, 0), write(round * 20 * MS + MS, 1)]).collect();
        let simulation = played(&config, &[writes, vec![write(121 * MS, 0)]].concat());
        let wear = simulation.finish().unwrap().ages.unwrap().cycles.unwrap();
        (wear.min, wear.max)
    };
    assert_eq!([1.0, 0.25, 0.0].map(cycles), [(0.0, 6.0), (0.0, 1.0), (0.0, 0.0)]);
}

#[test]
fn a_block_without_data_is_only_erased() {
    let trim = Request { kind: RequestKind::Trim, ..pages(read(300_000, 0), 2) };
    let simulation = played(&one_block(|_| ()), &[write(0, 0), write(100_000, 1), trim, read(5 * MS, 0)]);
    let counters = simulation.ssd().counters();
    assert_eq!((counters.folds, counters.folded_pages, counters.slc_erases, counters.pages_moved), (1, 0, 1, 0));
}

/// Two blocks of which one is full: half of the cache, which is the level.
#[test]
fn folding_begins_at_the_level_beside_writes() {
    for (level, folds) in [(0.5, 1), (0.51, 0), (0.0, 0)] {
        let config = one_block(|c| {
            (c.slc.static_blocks, c.slc.fold_level, c.slc.idle_us) = (2, level, 1_000_000);
            c.device.overprovisioning = 0.6;
        });
        let simulation = played(&config, &[write(0, 0), write(200_000, 1), read(5 * MS, 0)]);
        let counters = simulation.ssd().counters();
        assert_eq!((counters.folds, counters.jobs_for(Cause::FoldIdle)), (folds, 0), "level {level}");
    }
}

/// Two dies with a full block each, which begin to fold together, or one after the other.
#[test]
fn no_more_pools_fold_at_a_time_than_are_allowed() {
    let ends = [0, 1].map(|most| {
        let config = one_block(|c| (c.device.channels, c.slc.fold_jobs) = (2, most));
        let mut simulation = simulation(&config);
        (0..4).for_each(|page| _ = simulation.submit(write(0, page)).unwrap());
        simulation.submit(read(9 * MS, 0)).unwrap();
        let mut most_at_once = 0;
        while simulation.now() < 8 * MS {
            simulation.run_until(simulation.now() + 10_000).unwrap();
            let ftl = simulation.ssd().ftl();
            let folded = (0..24).filter(|&block| ftl.blocks().state(BlockId(block)) == BlockState::Victim).count();
            most_at_once = most_at_once.max(folded);
        }
        assert_eq!(simulation.ssd().counters().folds, 2);
        most_at_once
    });
    assert_eq!(ends, [2, 1]);
}

/// Four dies with writes that wait for folds, of which one may run at a time: each die has its turn, although the others want to fold again by
/// then. A fold takes 1,329.6 us; a die fills its cache again in less.
#[test]
fn pools_that_wait_for_each_other_fold_in_turn() {
    let config = one_block(|c| (c.device.channels, c.slc.full, c.slc.idle_us, c.slc.fold_jobs) = (4, SlcFull::Fold, 0, 1));
    let mut simulation = simulation(&config);
    (0..40).for_each(|page| _ = simulation.submit(write(0, page)).unwrap());
    for fold in 1..=12 {
        simulation.run_until(304_800 + fold * (2 * FOLD + 500_000)).unwrap();
        let blocks = simulation.ssd().ftl().blocks();
        let of_cache = (0..48).map(BlockId).filter(|&block| blocks.is_static(block));
        let erases: Vec<u32> = of_cache.map(|block| blocks.erases()[block.index()]).collect();
        assert_eq!(erases.iter().sum::<u32>(), fold as u32, "one after the other");
        let (most, fewest) = (erases.iter().max().unwrap(), erases.iter().min().unwrap());
        assert!(most - fewest <= 1, "after {fold} folds the dies had {erases:?}");
    }
}

/// Three dies with three full blocks each, one of which folds at a time: they take turns, from the first that became full.
#[test]
fn pools_that_wait_to_fold_take_turns() {
    let config = one_block(|c| {
        (c.device.channels, c.slc.static_blocks, c.slc.fold_jobs, c.device.overprovisioning) = (3, 3, 1, 0.7);
    });
    let mut simulation = simulation(&config);
    (0..18).for_each(|page| _ = simulation.submit(write(0, page)).unwrap());
    let mut order = Vec::new();
    while simulation.now() < 20 * MS {
        simulation.run_until(simulation.now() + 10_000).unwrap();
        let ssd = simulation.ssd();
        let victims = (0..36).map(BlockId).filter(|&block| ssd.ftl().blocks().state(block) == BlockState::Victim);
        let folding: Vec<u32> = victims.map(|block| ssd.ftl().geometry().pool_of_block(block).0).collect();
        assert!(folding.len() <= 1, "{folding:?}");
        // Each fold of a pool counts once: the number of those that have begun has grown.
        if ssd.counters().folds > order.len() as u64 {
            order.extend(folding);
        }
    }
    assert_eq!(order, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
}

/// Two dies, one of which folds at a time. Each writes 16 pages in SLC mode (8 x 152.4 us x 2), and with the next has fewer than T_hard = T_soft
/// free blocks, until two folds have ended: the first opens a block for moves. A fold takes 1,329.6 us, and the dies take turns from 2,740.8 us
/// on: while one folds, the other waits for its turn in state S2.
#[test]
fn writes_below_the_hard_threshold_wait_for_a_pool_that_waits_to_fold() {
    let config = one_block(|c| {
        (c.device.channels, c.slc.static_blocks, c.slc.dynamic_blocks, c.slc.idle_us, c.slc.fold_jobs) = (2, 0, 12, 0, 1);
        (c.device.overprovisioning, c.gc.soft, c.gc.hard) = (0.75, 4.0, 1.0);
    });
    let mut simulation = simulation(&config);
    (0..36).for_each(|page| _ = simulation.submit(write(0, page)).unwrap());
    simulation.run_to_idle().unwrap();
    let ended = simulation.take_completions().into_iter().map(|completion| completion.completed_ns);
    let (fold, began) = (2 * FOLD + 500_000, 16 * 152_400 + 302_400);
    assert_eq!(ended.skip(32).collect::<Vec<_>>(), [began, began, began + 3 * fold + 302_400, began + 4 * fold + 302_400]);
    assert_eq!(simulation.ssd().counters().jobs_for(Cause::FoldSpace), 4);
}

/// A drive whose free blocks are used in SLC mode, `most` of each plane, and the pages of a whole fill in order.
fn filled_whole(most: u32, change: impl FnOnce(&mut Config)) -> (Config, Vec<Request>) {
    let config = one_block(|c| {
        (c.device.blocks_per_plane, c.device.overprovisioning) = (24, 0.3);
        (c.slc.static_blocks, c.slc.dynamic_blocks, c.slc.idle_us) = (0, most, 0);
        change(c);
        if !c.slc.is_on() {
            c.slc = ssdlab::config::Slc::default();
        }
    });
    let exported = config.exported_bytes().unwrap() / 4096;
    let requests = (0..exported).map(|page| write(0, page)).collect();
    (config, requests)
}

/// Space decides when direct writes end: U = C - (b - 1) S, within the blocks that GC keeps free and those that are open.
#[test]
fn direct_writes_end_when_erased_blocks_run_out() {
    for most in [6, 8, 10] {
        let (config, requests) = filled_whole(most, |c| c.device.overprovisioning = 0.21);
        let mut simulation = simulation(&config);
        requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
        while simulation.ssd().counters().folds == 0 {
            simulation.run_until(simulation.now() + 10_000).unwrap();
            assert!(simulation.now() < 100 * MS, "nothing is folded");
        }
        let counters = simulation.ssd().counters();
        let (capacity, cache) = (24 * 6, u64::from(most) * 2);
        assert_eq!((counters.slc_writes, counters.jobs_for(Cause::FoldSpace)), (cache, 1));
        // One block is free when folding begins, and the first page of the last block is being written.
        assert_eq!(counters.slc_writes + counters.direct_writes, capacity - 2 * cache - 2 * 6, "{most} blocks");
    }
}

/// All data of the host pass through the cache: each page is programmed in SLC mode once, and once more when it is folded.
#[test]
fn a_whole_fill_programs_each_page_once_in_either_mode() {
    let (config, requests) = filled_whole(100, |c| c.slc.full = SlcFull::Fold);
    let mut simulation = played(&config, &requests);
    // The last job ends.
    simulation.run_until(simulation.now() + 10 * MS).unwrap();
    let (counters, ftl) = (simulation.ssd().counters(), simulation.ssd().ftl());
    assert_eq!((counters.slc_writes, counters.direct_writes), (requests.len() as u64, 0));
    let in_cache = (0..requests.len() as u32).filter(|&page| ftl.in_cache(ftl.lookup(Lpn(page)).unwrap())).count() as u64;
    assert_eq!(counters.folded_pages, requests.len() as u64 - in_cache);
    assert_eq!(counters.pages_moved, counters.folded_pages, "nothing else is collected");
    assert!(counters.folds > 10 && in_cache < 24, "{counters:?}");
}

/// As folding is slower than direct writes, a larger cache does not fill the drive sooner: where the spare is too small for it, so that it is
/// folded before the drive is full.
#[test]
fn a_larger_cache_never_fills_faster() {
    let times = [8, 10, 12, 14, 16].map(|most| {
        let (config, requests) = filled_whole(most, |c| {
            (c.device.channels, c.slc.fold_jobs, c.device.overprovisioning) = (2, 1, 0.21);
        });
        let simulation = played(&config, &requests);
        assert!(simulation.ssd().counters().folds > 0, "{most} blocks");
        simulation.now()
    });
    assert!(times.windows(2).all(|pair| pair[0] <= pair[1]), "{times:?}");
    assert!(times[4] > times[0], "{times:?}");
}

/// A cache of all free blocks takes as much as the drive has free, so less the fuller the drive is.
#[test]
fn the_dynamic_part_follows_the_free_space() {
    let [empty, full] = [PreconditionKind::None, PreconditionKind::Fill].map(|kind| {
        let (config, requests) = filled_whole(100, |c| c.ftl.precondition.kind = kind);
        played(&config, &requests[..40]).ssd().counters()
    });
    assert_eq!((empty.slc_writes, empty.direct_writes), (40, 0));
    assert!(full.slc_writes < 20 && full.slc_writes > 0 && full.jobs_for(Cause::Empty) > 0, "{full:?}");
}

/// The block and the stream of a page.
fn lies_in(simulation: &Simulation, page: u32) -> (BlockId, u8) {
    let ftl = simulation.ssd().ftl();
    let block = ftl.geometry().split_page(ftl.lookup(Lpn(page)).unwrap()).0;
    (block, ftl.blocks().stream(block))
}

/// Two handles: streams 0 and 1 outside of the cache, 2 and 3 of page moves, 4 and 5 in the cache. Each handle has a block of the cache, and
/// its pages go to its own stream when they are folded.
#[test]
fn a_class_has_a_block_of_its_own_in_the_cache_and_keeps_its_class() {
    let config = one_block(|c| {
        (c.device.blocks_per_plane, c.device.overprovisioning) = (24, 0.5);
        (c.ftl.placement, c.ftl.handles, c.ftl.isolation) = (Placement::Handles, 2, Isolation::Persistent);
        c.slc.static_blocks = 2;
    });
    let of = |handle, request| Request { handle: Some(handle), ..request };
    let requests: Vec<_> = (0..4).map(|page| of((page % 2) as u8, write(0, page))).collect();
    let mut simulation = simulation(&config);
    requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
    simulation.run_until(MS).unwrap();
    assert_eq!([0, 1, 2, 3].map(|page| lies_in(&simulation, page).1), [4, 5, 4, 5]);
    simulation.run_until(9 * MS).unwrap();
    assert_eq!([0, 1, 2, 3].map(|page| lies_in(&simulation, page).1), [2, 3, 2, 3], "folded");
    assert_eq!(simulation.ssd().counters().folded_pages, 4);
}

/// Two pages go to the cache, the third past it. Then the two are folded into the block that the third has opened.
#[test]
fn a_fold_fills_the_open_block_of_the_host_where_they_share_one() {
    for (frontier, same) in [(Frontier::Shared, true), (Frontier::Separate, false)] {
        let simulation = played(&one_block(|c| c.ftl.frontier = frontier), &[write(0, 0), write(0, 1), write(0, 2), read(9 * MS, 0)]);
        let blocks = [0, 1, 2].map(|page| lies_in(&simulation, page).0);
        assert_eq!((blocks[0] == blocks[1], blocks[0] == blocks[2]), (true, same), "{frontier:?}");
        assert_eq!(simulation.ssd().counters().folded_pages, 2);
    }
}

/// A page of 4 KiB maps 1,024 units, so that the table has one translation page, and memory holds it. It is written back when the cache for it
/// is too small: here never, but by folds, which change entries that are not in memory.
#[test]
fn translation_pages_fill_blocks_of_their_own_in_their_mode() {
    for mode in [Mode::Slc, Mode::Native] {
        let config = one_block(|c| {
            (c.device.blocks_per_plane, c.device.overprovisioning) = (24, 0.6);
            (c.slc.static_blocks, c.slc.map_mode, c.slc.idle_us) = (8, mode, 1_000_000);
            // Two entries a translation page, one of which is in memory.
            (c.ftl.map_cache_bytes, c.ftl.map_entry_bytes) = (4096, 512);
        });
        let requests: Vec<_> = (0..8).map(|number| write(number * MS, 8 * number % 56)).collect();
        let simulation = played(&config, &requests);
        let (counters, ftl) = (simulation.ssd().counters(), simulation.ssd().ftl());
        let table = ftl.geometry().exported_units..ftl.geometry().logical_units;
        let written: Vec<u32> = table.filter(|&unit| ftl.lookup(Lpn(unit)).is_some()).collect();
        assert!(written.len() > 2, "{written:?}");
        assert_eq!(counters.slc_map_writes, if mode == Mode::Slc { counters.map_programs } else { 0 }, "{counters:?}");
        for unit in written {
            let (block, stream) = lies_in(&simulation, unit);
            assert_eq!((ftl.blocks().mode(block), stream), if mode == Mode::Slc { (mode, 3) } else { (mode, 2) });
        }
        assert!(ftl.blocks().mode(lies_in(&simulation, 0).0) == Mode::Slc, "the host's are in the cache");
    }
}

/// All data pass through caches of one block on two dies, of which one may fold at a time, and folding advances with host operations. Both
/// dies' writes come at once: while a die waits for its turn, the other has none to wait for.
#[test]
fn no_write_waits_for_a_fold_that_waits_for_writes() {
    let config = one_block(|c| {
        (c.device.channels, c.slc.full, c.slc.idle_us, c.slc.fold_jobs) = (2, SlcFull::Fold, 0, 1);
        c.gc.advance = Advance::WithRequests;
    });
    for pages in [vec![0, 2, 4, 6, 8, 1, 3, 5], vec![1, 3, 5, 0, 2, 4, 6, 8, 10, 12]] {
        let mut simulation = simulation(&config);
        pages.iter().for_each(|&page| _ = simulation.submit(write(0, page)).unwrap());
        simulation.run_until(60 * MS).unwrap();
        assert_eq!(simulation.take_completions().len(), pages.len());
        let counters = simulation.ssd().counters();
        assert!(counters.folds > 0 && counters.direct_writes == 0 && counters.steps_without_requests > 0, "{counters:?}");
    }
}

/// Two pools of a die. In one the move of a job for space stops at point A, as no further request comes. In idle time the other folds a block, which
/// needs no requests: the move goes on, lest the fold wait for the die, and the rest of its job waits.
#[test]
fn a_move_that_waits_for_requests_holds_up_no_fold() {
    let config = one_block(|c| {
        (c.device.planes_per_die, c.ftl.pool, c.ftl.precondition.kind) = (2, PoolScope::Plane, PreconditionKind::Fill);
        (c.gc.soft, c.gc.advance) = (2.0, Advance::WithRequests);
    });
    let mut simulation = simulation(&config);
    // Two pages in SLC mode in each pool, then 19 of the first, up to four of each of its full blocks, which leave it one of five free blocks.
    let past_cache = (2..31).filter(|rank| rank % 6 < 4).map(|rank| 2 * rank);
    for (page, at) in [1, 3, 0, 2].into_iter().chain(past_cache).zip(0..) {
        simulation.submit(write(at * MS, page)).unwrap();
    }
    simulation.submit(read(23 * MS, 1)).unwrap();
    let mut after = |ns| {
        simulation.run_until(ns).unwrap();
        let counters = simulation.ssd().counters();
        [counters.jobs_for(Cause::Space), counters.folds, counters.slc_erases, counters.pages_moved, counters.erases]
    };
    assert_eq!(after(24 * MS), [1, 0, 0, 0, 0]);
    assert_eq!(after(40 * MS), [1, 1, 1, 3, 1], "one page for space, two folded");
}

/// A drive of 24 blocks, 22 of which the cache can take, writes 44 of 50 pages to it. Filled, it has seven free blocks, and takes five: the rest
/// of 40 goes past the cache. Filled and wholly trimmed, with idle time, it has erased all but its open block: 21 blocks, and 42 pages.
#[test]
fn a_drive_that_was_trimmed_writes_as_a_new_one() {
    let writes = |trims: bool, kind| {
        let (config, _) = filled_whole(100, |c| (c.ftl.precondition.kind, c.slc.idle_us) = (kind, 1_000));
        let exported = config.exported_bytes().unwrap() / 4096;
        let mut simulation = simulation(&config);
        if trims {
            simulation.submit(Request { kind: RequestKind::Trim, ..pages(read(0, 0), exported) }).unwrap();
        }
        (0..50).for_each(|number| _ = simulation.submit(write(500 * MS, number * 17 % 100)).unwrap());
        simulation.run_until(500 * MS + 50 * 302_400).unwrap();
        let counters = simulation.ssd().counters();
        (counters.slc_writes, counters.jobs_for(Cause::Empty))
    };
    let all = [(false, PreconditionKind::None), (false, PreconditionKind::Fill), (true, PreconditionKind::Fill)];
    assert_eq!(all.map(|(trims, kind)| writes(trims, kind)), [(44, 0), (10, 0), (42, 16)], "new, filled, filled and trimmed");
}

/// Without idle time blocks without data are erased as the cache needs them: no write goes past it, and nothing is moved.
#[test]
fn blocks_without_data_are_erased_before_a_write_would_go_past_the_cache() {
    let (config, _) = filled_whole(100, |c| c.ftl.precondition.kind = PreconditionKind::Fill);
    let trim = Request { kind: RequestKind::Trim, ..pages(read(0, 0), 100) };
    let writes = (0..40).map(|number| write(2 * MS * (number + 1), number));
    let simulation = played(&config, &[trim].into_iter().chain(writes).collect::<Vec<_>>());
    let counters = simulation.ssd().counters();
    assert_eq!((counters.slc_writes, counters.direct_writes, counters.pages_moved), (40, 0, 0));
    assert!(counters.jobs_for(Cause::Empty) > 10, "{counters:?}");
}

/// The dynamic part has no more blocks than there are beside the static part.
#[test]
fn the_size_of_the_cache_is_within_the_drive() {
    let config = one_block(|c| c.slc.dynamic_blocks = 1_000_000);
    let slc = simulation(&config).finish().unwrap().slc.unwrap();
    assert_eq!((slc.static_blocks, slc.dynamic_blocks, slc.capacity_bytes), (1, 11, 12 * 2 * 4096));
}

/// The open block of a cache that is static is none of those that are spare: two others may be open, and one is kept.
#[test]
fn a_static_cache_takes_no_spare_block_beside_its_own() {
    let least = |dynamic| {
        let spare = |blocks: f64| {
            let mut config = one_block(|_| ());
            config.slc.dynamic_blocks = dynamic;
            config.device.overprovisioning = (blocks + 1.0) / 12.0;
            validate(&config).is_ok()
        };
        (1..11).find(|&blocks| spare(f64::from(blocks))).unwrap()
    };
    assert_eq!([least(0), least(1)], [4, 5]);
}

/// Two pages go to the cache, and 36 past it fill six blocks, each of which keeps a valid page, so that five are free. GC in idle time wants six,
/// and folds the block of the cache. Three are enough once a request comes: its page goes to the cache again.
#[test]
fn the_first_write_after_gc_in_idle_time_goes_to_the_cache() {
    let config = one_block(|c| {
        (c.slc.static_blocks, c.slc.dynamic_blocks, c.slc.idle_us) = (0, 1, 1_000_000);
        (c.gc.trigger, c.gc.soft, c.gc.idle_free, c.gc.idle_us) = (Trigger::Idle, 3.0, 2.0, 1_000);
        c.device.overprovisioning = 0.65;
    });
    let pages = (0..25).chain(2..7).chain(8..12).chain(14..18);
    let writes = (0..).zip(pages).map(|(number, page)| write(400_000 * number, page));
    let requests: Vec<_> = writes.chain([write(100 * MS, 3)]).collect();
    let mut simulation = played(&config, &requests);
    let counters = simulation.ssd().counters();
    assert_eq!((counters.jobs_for(Cause::FoldSpace), counters.folded_pages, counters.slc_erases), (1, 2, 1));
    assert_eq!((counters.slc_writes, counters.direct_writes), (3, 36));
    assert_eq!(simulation.take_completions().last().unwrap().completed_ns, 100 * MS + 152_400);
}

/// A drive that was saved with more blocks of the dynamic part than it may have now.
#[test]
fn a_saved_cache_that_is_larger_than_allowed_is_refused_with_what_to_raise() {
    let config = |most| one_block(|c| (c.slc.static_blocks, c.slc.dynamic_blocks, c.slc.idle_us) = (0, most, 1_000_000));
    let mut saved = Vec::new();
    let simulation = played(&config(2), &[write(0, 0), write(MS, 1), write(MS, 2)]);
    simulation.ssd().ftl().save(&config(2), &mut saved).unwrap();
    assert!(Ftl::load(&config(2), saved.as_slice()).is_ok());
    let error = Ftl::load(&config(1), saved.as_slice()).unwrap_err();
    assert!(error.starts_with("pool 0 was saved with 2 blocks in SLC mode") && error.ends_with("raise slc.dynamic_blocks"), "{error}");
}

/// Planes of a die whose next pages lie in blocks of different modes are neither programmed nor read together.
#[test]
fn operations_on_several_planes_are_in_one_mode() {
    let config = one_block(|c| {
        (c.device.planes_per_die, c.device.multiplane, c.device.multiplane_aligned) = (2, true, false);
        (c.ftl.pool, c.slc.idle_us) = (PoolScope::Plane, 1_000_000);
    });
    // Pages 0, 2 and 4 are of the first plane, whose cache is full then.
    let requests = [write(0, 0), write(MS, 2), pages(write(2 * MS, 4), 2), pages(read(3 * MS, 4), 2), pages(write(4 * MS, 6), 1)];
    let simulation = played(&config, &requests);
    let counters = simulation.ssd().counters();
    assert_eq!((counters.slc_writes, counters.direct_writes, counters.slc_reads), (3, 2, 1));
    assert_eq!(counters.multiplane_operations, 0);
}

#[test]
fn what_cannot_be_right_is_refused_with_a_reason() {
    let refused = |says: &str, change: &dyn Fn(&mut Config)| {
        let mut config = one_block(|_| ());
        change(&mut config);
        let error = validate(&config).expect_err(says).to_string();
        assert!(error.contains(says), "{says}: {error}");
    };
    refused("2 classes of writes", &|c| {
        (c.ftl.placement, c.slc.full) = (Placement::HotCold, SlcFull::Fold);
    });
    refused("nothing would ever fold", &|c| c.slc.idle_us = 0);
    refused("nothing would ever fold", &|c| (c.slc.idle_us, c.slc.dynamic_blocks) = (0, 2));
    refused("leaves no other block", &|c| c.slc.static_blocks = 12);
    refused("slc.static_blocks", &|c| c.slc.static_blocks = 6);
    refused("would hold less than a program", &|c| c.device.pages_per_block = 2);
    refused("2 types of pages", &|c| c.device.read_ns_by_page = vec![1_000, 2_000]);
    refused("(device.pages_per_program); set it to 2", &|c| (c.device.pages_per_program, c.device.pages_per_block) = (2, 12));
}
