//! Blocks in SLC mode that wear and fail (`slc.wear`, `wear`), worked by hand to the nanosecond, on the die of `slc`.

use crate::common::pages::PAGE;
use crate::common::{plan, protected_buffer, simulation};
use crate::slc::{folds, one_block, parts, reads, writes};
use crate::timelines::{Case, array, bus, read, write};
use crate::wear::{play_seed, seed_where};
use ssdlab::cause::Cause;
use ssdlab::config::{Address, Config, Erase, Leveling, PreconditionKind, SlcFull, WearEnd, validate};
use ssdlab::flash::OpKind;
use ssdlab::ftl::{BlockState, Ftl};
use ssdlab::geometry::WHOLE;
use ssdlab::simulation::{Control, Plan, Simulation, Verify, run};
use ssdlab::stats::{Part, ReadOnlyCause};
use ssdlab::units::{BlockId, Lpn, PoolId};

const MS: u64 = 1_000_000;

/// Ten times two pages, which fill the block that is always in SLC mode, each time it is there.
fn filled_ten_times(config: Config) -> Simulation {
    let mut simulation = Simulation::new(&plan(config), &Control::default()).expect("a drive");
    simulation.ssd_mut().keep_trace();
    for round in 0..10 {
        for page in 0..2 {
            simulation.submit(write(20 * MS * round + MS * page, page)).unwrap();
        }
    }
    simulation.run_to_idle().unwrap();
    let until = simulation.now() + 20 * MS;
    simulation.run_until(until).unwrap();
    simulation
}

/// A block that endures two erases. Where each wears by 0.3 of another, the seventh is the last: 2.1 erases. Then the static part has no block,
/// and writes go past the cache, also those that otherwise wait for it. The spare has lost none.
#[test]
fn a_static_block_wears_by_its_share_and_leaves_the_cache() {
    for full in [SlcFull::Direct, SlcFull::Fold] {
        for (share, erases) in [(1.0, 2), (0.5, 4), (0.3, 7)] {
            let config = one_block(|c| {
                (c.slc.full, c.slc.wear) = (full, share);
                (c.wear.endurance, c.wear.end) = (2, WearEnd::Reads);
            });
            let spare = config.losable_blocks();
            let simulation = filled_ten_times(config);
            let counters = simulation.ssd().counters();
            let found = [counters.slc_erases, counters.slc_writes, counters.direct_writes, counters.retired_by_endurance];
            assert_eq!(found, [erases, 2 * erases, 20 - 2 * erases, 1], "{full:?} {share}");
            let result = simulation.finish().unwrap();
            let life = result.lifetime.unwrap();
            assert_eq!((life.retired_blocks, life.spare_left, life.read_only_ns), (1, Some(spare.into()), None));
            assert_eq!(result.slc.unwrap().static_blocks, 0);
        }
    }
}

/// In SLC mode a block needs 0.4 ms of a pulse of 1 ms: 0.3 ms, which tells what is needed, and 0.1 ms, each with a verify read of 0.1 ms. That
/// is worth 0.4 of an erase in SLC mode, or 0.2 of another, so that a block of one erase is worn out after five. Other blocks, which are erased
/// when all of their data were written again, need 1.5 ms: two pulses, which wear them out, or pulses of 0.3, 1.0 and 0.2 ms, 0.75 of an erase.
#[test]
fn a_block_in_slc_mode_needs_shorter_pulses() {
    for (erase, ns, erases, other) in [(Erase::Pulses, 1_100_000, 2, 2_200_000), (Erase::AsNeeded, 600_000, 5, 1_800_000)] {
        let config = one_block(|c| {
            (c.slc.erase_ns, c.slc.wear, c.wear.endurance, c.wear.end) = (400_000, 0.5, 1, WearEnd::Reads);
            (c.wear.erase, c.wear.pulse_ns, c.wear.verify_ns) = (erase, MS, 100_000);
            (c.wear.step_ns, c.wear.probe_ns) = (100_000, 300_000);
        });
        let simulation = filled_ten_times(config);
        let stages = &simulation.ssd().trace().unwrap().intervals;
        let all: Vec<_> = stages.iter().filter(|stage| stage.kind == OpKind::Erase).map(|stage| stage.end - stage.start).collect();
        let (of_cache, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|&found| found == ns);
        assert_eq!(of_cache.len(), erases, "{erase:?}");
        assert!(!others.is_empty() && others.iter().all(|&found| found == other), "{erase:?}: {others:?}");
        let worn = if erase == Erase::Pulses { others.len() as u64 } else { 0 };
        assert_eq!(simulation.ssd().counters().retired_by_endurance, 1 + worn, "{erase:?}");
        simulation.finish().unwrap();
    }
}

/// The program of the first page fails in the only block that is always in SLC mode: its data go past the cache, and the block is erased.
#[test]
fn a_write_whose_program_failed_in_the_static_part_goes_past_the_cache() {
    let config = one_block(|c| (c.wear.program_fails_ppm, c.wear.end, c.slc.idle_us) = (200_000.0, WearEnd::Reads, 1_000_000));
    let seed = seed_where(&config, &[(11, 4)], &[(0, 0), (0, 1)]);
    let again = 152_400;
    let case = Case {
        name: "a failed program in the static part",
        config,
        requests: vec![write(0, 0), write(4 * MS, 1)],
        responses: vec![(454_800, vec![(Part::Array, 250_000), (Part::Transfer, 204_800)]), (302_400, parts(200_000))],
        stages: [writes(0, 50_000), writes(again, 200_000), vec![array(0, 454_800, 954_800)], writes(4 * MS, 200_000)].concat(),
    };
    let counters = play_seed(&case, seed);
    assert_eq!([counters.failed_programs, counters.retired_by_program, counters.jobs_for(Cause::Retirement)], [1, 1, 1]);
    assert_eq!([counters.slc_writes, counters.direct_writes, counters.slc_erases, counters.folds], [0, 2, 1, 0]);
}

/// The program of the second page fails in the first block of the dynamic part. Its data go to the next block in SLC mode, the first page moves
/// out of the cache, and the block is erased in the time of its mode, and retired.
#[test]
fn a_block_of_the_dynamic_part_that_failed_is_folded_and_retired() {
    let config = one_block(|c| {
        (c.slc.static_blocks, c.slc.dynamic_blocks, c.slc.idle_us) = (0, 3, 1_000_000);
        (c.wear.program_fails_ppm, c.wear.end) = (200_000.0, WearEnd::Reads);
    });
    let seed = seed_where(&config, &[(0, 5)], &[(0, 4), (1, 4), (2, 0)]);
    let moved = MS + 304_800;
    let case = Case {
        name: "a failed program in the dynamic part",
        config,
        requests: vec![write(0, 0), write(MS, 1), read(4 * MS, 0), read(5 * MS, 1)],
        responses: vec![
            (152_400, parts(50_000)),
            (304_800, vec![(Part::Array, 100_000), (Part::Transfer, 204_800)]),
            (127_400, parts(25_000)),
            (112_400, parts(10_000)),
        ],
        stages: [
            writes(0, 50_000),
            writes(MS, 50_000),
            vec![bus(0, MS + 152_400, MS + 254_800), array(0, MS + 254_800, moved)],
            folds(moved),
            vec![array(0, moved + 414_800, moved + 914_800)],
            reads(4 * MS, 25_000),
            reads(5 * MS, 10_000),
        ]
        .concat(),
    };
    let counters = play_seed(&case, seed);
    assert_eq!([counters.failed_programs, counters.retired_by_program, counters.jobs_for(Cause::Retirement)], [1, 1, 1]);
    assert_eq!([counters.slc_writes, counters.folded_pages, counters.slc_erases, counters.folds], [2, 1, 1, 0]);
}

/// A drive of random writes with both parts of a cache.
fn cached(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = Config::default();
    let device = &mut config.device;
    (device.channels, device.blocks_per_plane, device.pages_per_block) = (2, 40, 12);
    device.overprovisioning = 0.5;
    config.gc.soft = 2.0;
    config.ftl.precondition.kind = PreconditionKind::Fill;
    (config.slc.static_blocks, config.slc.dynamic_blocks, config.slc.idle_us) = (3, 6, 100);
    config.slc.wear = 0.25;
    (config.wear.spread, config.wear.end) = (0.1, WearEnd::Stop);
    config.workload.read_share = 0.0;
    change(&mut config);
    validate(&config).unwrap();
    config
}

/// Until the drive is read-only each block has been retired with the erase that brought its wear to its endurance: those in SLC mode by their
/// share, and the others.
#[test]
fn blocks_are_retired_by_the_sum_of_both_shares() {
    let config = cached(|c| c.wear.endurance = 12);
    let endurance = {
        let simulation = Simulation::new(&plan(config.clone()), &Control::default()).unwrap();
        simulation.ssd().endurance_of_blocks()
    };
    let mut simulation = Simulation::new(&Plan { verify: Verify::End, ..plan(config) }, &Control::default()).unwrap();
    let pages = simulation.exported_bytes() / 4096;
    for index in 0..60_000 {
        simulation.submit(write(index * MS, (index * 7_919 + index * index) % pages)).unwrap();
    }
    simulation.run_to_idle().unwrap();
    let ftl = simulation.ssd().ftl();
    let (mut retired_static, mut retired, mut in_both) = (0, 0, 0);
    for block in (0..ftl.geometry().blocks).map(BlockId) {
        let facts = ftl.block_facts(block);
        let worn = u64::from(facts.erases) * WHOLE - facts.spared;
        let limit = u64::from(endurance[block.index()]) * WHOLE;
        if ftl.blocks().state(block) != BlockState::Retired {
            assert!(worn < limit, "block {block}: {facts:?}");
            continue;
        }
        assert!(limit <= worn && worn < limit + WHOLE, "block {block}: {facts:?}");
        retired += 1;
        retired_static += u32::from(ftl.geometry().is_static(block));
        in_both += u32::from(facts.spared > 0 && facts.spared < 3 * WHOLE / 4 * u64::from(facts.erases));
    }
    assert!(retired > 8 && in_both > 4, "{retired} are retired, {in_both} of them worn in both modes");
    let life = simulation.finish().unwrap().lifetime.unwrap();
    assert_eq!(life.read_only_cause, Some(ReadOnlyCause::Spare));
    assert_eq!((life.retired_blocks, life.worn_out), (retired, retired), "{retired_static} of the static part");
}

/// With 95 % of the writes to a tenth of the addresses blocks wear more evenly, and the static part takes no part in it: its blocks are in SLC mode
/// whenever they are in use, which verify mode checks.
#[test]
fn levelling_leaves_the_static_part_alone() {
    let spread = |leveling| {
        let config = cached(|c| {
            (c.wear.leveling, c.wear.leveling_threshold, c.slc.wear) = (leveling, 3, 1.0);
            (c.slc.idle_us, c.slc.fold_level) = (0, 0.5);
            (c.workload.address, c.workload.hot_share, c.workload.hot_access) = (Address::HotCold, 0.1, 0.95);
        });
        let result = run(&Plan { requests: Some(20_000), ..plan(config) }, &Control::default()).unwrap();
        (result.slc.unwrap().other_wear.unwrap().std, result.counters["leveling_jobs"])
    };
    let (none, jobs) = spread(Leveling::None);
    assert_eq!(jobs, 0);
    let (std, jobs) = spread(Leveling::DualPool);
    assert!(std < 0.7 * none && jobs > 10, "{std} of {none}, {jobs} jobs");
    assert!(spread(Leveling::OldBlock).1 > 10);
}

/// Data that a level above has accepted need free blocks. A block is opened in SLC mode only if these are there beside the others that the cache
/// leaves: those below T_soft, or where writes wait for the cache the reserve. Else writes go past the cache, and wait no longer.
#[test]
fn a_block_in_slc_mode_leaves_what_accepted_data_need() {
    for full in [SlcFull::Direct, SlcFull::Fold] {
        let config = one_block(|c| (c.slc.full, c.slc.static_blocks, c.slc.dynamic_blocks) = (full, 0, 2));
        let (mut ftl, pool) = (Ftl::new(&config), PoolId(0));
        ftl.begin_run();
        let free = ftl.blocks().free_count(pool);
        let left = if full == SlcFull::Direct { ftl.soft_blocks().max(ftl.reserve() + 1) } else { ftl.reserve() };
        let found: Vec<bool> = (0..free + 2)
            .map(|promised| {
                ftl.promise(pool, promised);
                ftl.writes_to_cache(pool, 0)
            })
            .collect();
        let expected: Vec<bool> = (0..free + 2).map(|promised| free > left + promised).collect();
        assert_eq!(found, expected, "{full:?}");
        assert!(found[0] && !found[free as usize]);
        // They are in flash.
        ftl.promise(pool, 0);
        assert!(ftl.writes_to_cache(pool, 0));
    }
}

/// Writes go past the cache while accepted data need all free blocks that GC leaves, so that its full block is not folded. When these data are in
/// flash, writes wait for the cache again, and the block is folded.
#[test]
fn a_block_is_folded_once_accepted_data_need_no_free_block() {
    let config = one_block(|c| {
        (c.device.blocks_per_plane, c.wear.endurance, c.wear.end) = (20, 1_000, WearEnd::Reads);
        (c.slc.static_blocks, c.slc.dynamic_blocks, c.slc.full, c.slc.idle_us) = (0, 1, SlcFull::Fold, 0);
        c.buffer = protected_buffer(PAGE, 0);
    });
    let mut simulation = simulation(&config);
    let write_page = |simulation: &mut Simulation, page| {
        simulation.submit(write(10 * MS * page, page)).unwrap();
        simulation.run_until(10 * MS * page + 9 * MS).unwrap();
        let counters = simulation.ssd().counters();
        [counters.slc_writes, counters.direct_writes, counters.folds]
    };
    assert_eq!(write_page(&mut simulation, 0), [1, 0, 0]);
    // 14 blocks of 6 units, and with the reserve of 5 all that are free.
    (0..83).for_each(|_| simulation.ssd_mut().is_accepted(Lpn(5)));
    let ftl = simulation.ssd().ftl();
    assert_eq!((ftl.promised(PoolId(0)), ftl.blocks().free_count(PoolId(0))), (14, 19));
    assert_eq!(write_page(&mut simulation, 1), [2, 0, 0], "the block is full");
    (0..83).for_each(|_| simulation.ssd_mut().is_in_flash(Lpn(5)));
    assert_eq!(write_page(&mut simulation, 2), [3, 0, 1]);
}

/// From a block of the static part no free block comes. When two programs of its fold fail, one of the three blocks is left that the pool had: the
/// drive is read-only, lest the pool has none for the next job.
#[test]
fn a_fold_of_the_static_part_leaves_a_free_block() {
    let config = one_block(|c| {
        (c.device.blocks_per_plane, c.device.overprovisioning) = (14, 0.571);
        (c.ftl.precondition.kind, c.slc.idle_us) = (PreconditionKind::Fill, 1_000_000);
        (c.wear.program_fails_ppm, c.wear.end) = (100_000.0, WearEnd::Reads);
    });
    // Two pages in the static part, and four blocks of others, which leave some data in each of six blocks.
    let direct = (0..6).flat_map(|block| (0..4).map(move |page| 6 * block + page));
    let good: Vec<_> = (6..10).flat_map(|block| (0..6).map(move |page| (block, page))).chain([(13, 4), (13, 5)]).collect();
    let seed = seed_where(&config, &[(10, 0), (11, 0)], &good);
    let mut simulation = Simulation::new(&Plan { seed, ..plan(config) }, &Control::default()).unwrap();
    for (page, at) in [4, 10].into_iter().chain(direct).zip(0..) {
        simulation.submit(write(MS * at, page)).unwrap();
    }
    simulation.run_until(100 * MS).unwrap();
    assert_eq!(simulation.ssd().ftl().blocks().free_count(PoolId(0)), 3);
    simulation.run_until(2_000 * MS).unwrap();
    let (ssd, pool) = (simulation.ssd(), PoolId(0));
    let counters = ssd.counters();
    assert_eq!([counters.slc_writes, counters.direct_writes, counters.jobs_for(Cause::FoldIdle), counters.failed_programs], [2, 24, 1, 2]);
    assert_eq!(ssd.ftl().blocks().free_count(pool), 1);
    assert_eq!(simulation.finish().unwrap().lifetime.unwrap().read_only_cause, Some(ReadOnlyCause::NoRoom));
}
