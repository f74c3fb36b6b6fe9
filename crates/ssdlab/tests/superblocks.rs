//! Superblocks: blocks of several dies that are filled, collected and erased as one, worked out by hand and against closed forms.

use crate::common::pages::{READ, WRITE, read, write};
use crate::common::{one_die, plan, random_config, random_requests, simulation};
use crate::timelines::changed;
use ssdlab::cause::Cause;
use ssdlab::config::{
    Advance, Allocation, Begin, Capacity, Config, Errors, Frontier, Leftover, Leveling, Pace, Placement, PreconditionKind, Priority,
    ReclaimUnit, RetryPolicy, Scope, SlcFull, SuperblockSpan, Trigger, Victim, WearEnd, validate,
};
use ssdlab::flash::Failures;
use ssdlab::ftl::{BlockState, Ftl};
use ssdlab::geometry::BlockFacts;
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify, run};
use ssdlab::stats::{Counters, ReadOnlyCause, RunResult, Writer};
use ssdlab::units::{BlockId, Lpn, PoolId};

const MS: u64 = 1_000_000;
const POOLS: [PoolId; 2] = [PoolId(0), PoolId(1)];

fn superblocks(config: Config) -> Config {
    changed(config, |c| (c.ftl.reclaim_unit, c.ftl.allocation) = (ReclaimUnit::Superblock, Allocation::Dynamic))
}

/// Two dies on channels of their own, each with 16 blocks of two pages, of which eight pages are exported. GC begins with eight free
/// superblocks, and collects that which was filled first.
fn two_dies() -> Config {
    superblocks(changed(one_die(), |c| {
        (c.device.channels, c.device.blocks_per_plane, c.device.pages_per_block) = (2, 16, 2);
        (c.device.overprovisioning, c.gc.soft) = (0.875, 9.0);
        (c.gc.victim, c.gc.scope, c.gc.priority) = (Victim::Fifo, Scope::None, Priority::Host);
    }))
}

fn result(config: &Config, requests: &[Request]) -> RunResult {
    let mut simulation = Simulation::new(&plan(config.clone()), &Control::default()).unwrap();
    requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
    simulation.finish().unwrap()
}

/// Random drives of one die and one plane: there a superblock is a block.
#[test]
fn with_one_pool_a_superblock_is_a_block() {
    let mut compared = 0;
    for case in 0..60 {
        let mut rng = Rng::new(case, "superblocks of one pool");
        let mut blocks = random_config(&mut rng);
        let device = &mut blocks.device;
        (device.channels, device.chips_per_channel, device.dies_per_chip, device.planes_per_die) = (1, 1, 1, 1);
        device.multiplane = false;
        (device.blocks_per_plane, device.overprovisioning) = (16, 0.5);
        if validate(&blocks).is_err() {
            continue;
        }
        let requests = random_requests(&mut rng, &blocks, 120);
        let as_superblocks = changed(blocks.clone(), |c| c.ftl.reclaim_unit = ReclaimUnit::Superblock);
        let [one, other] = [&blocks, &as_superblocks].map(|config| result(config, &requests));
        assert_eq!((&one.digest, &one.counters, &one.wear), (&other.digest, &other.counters, &other.wear), "case {case}");
        compared += u32::from(one.gc.jobs > 0);
    }
    assert!(compared > 20, "only {compared} drives collected");
}

/// Writes that fill seven superblocks: those of pages 0, 1 and 2 stay valid in the first, and nothing does in the second.
fn filled() -> Vec<Request> {
    let pages = (0..4).chain((0..24).map(|number| 3 + number % 5));
    pages.zip(0..).map(|(page, number)| write(10 * MS * number, page)).collect()
}

fn states(ftl: &Ftl, block: u32) -> [BlockState; 2] {
    [block, 16 + block].map(|block| ftl.blocks().state(BlockId(block)))
}

#[test]
fn writes_fill_a_superblock_die_after_die() {
    let mut simulation = simulation(&two_dies());
    filled()[..6].iter().for_each(|request| _ = simulation.submit(*request).unwrap());
    simulation.run_to_idle().unwrap();
    let ftl = simulation.ssd().ftl();
    let at = |page| ftl.geometry().split_page(ftl.lookup(Lpn(page)).unwrap());
    assert_eq!([0, 1, 2].map(at), [(BlockId(0), 0), (BlockId(16), 0), (BlockId(0), 1)]);
    // Page 3 was written once more, and then page 4: the first pages of the second superblock.
    assert_eq!([3, 4].map(at), [(BlockId(1), 0), (BlockId(17), 0)]);
    assert_eq!((states(ftl, 0), states(ftl, 1)), ([BlockState::Closed; 2], [BlockState::Open; 2]));
    assert_eq!(POOLS.map(|pool| ftl.blocks().free_count(pool)), [14; 2]);
    assert_eq!(ftl.blocks().valid_together(BlockId(0)), 3);
}

/// The job of a superblock of two dies, to the nanosecond. An operation reads in 25 us, programs in 200 us, erases in 1.5 ms, and its page
/// takes 102.4 us on the bus of its die. One page of each part may be in flight.
///
/// | from | die 0 | die 1 |
/// |--:|---|---|
/// | T | the host's program, which takes the eighth superblock: the job begins | reads page 1 (127.4 us), which goes to die 0, whose turn it is |
/// | T + 302.4 us | programs page 1 (302.4 us); a read of the host comes at T + 402.4 us | nothing to do |
/// | T + 604.8 us | the host's read, which goes before the job's (127.4 us) | |
/// | T + 732.2 us | reads page 0 (127.4 us), which goes to die 1 | |
/// | T + 859.6 us | has one page in flight | programs page 0 (302.4 us) |
/// | T + 1,162 us | reads page 2 (127.4 us), which goes to die 0 | |
/// | T + 1,289.4 us | programs page 2 (302.4 us) | |
/// | T + 1,591.8 us | both erase, as no page is left to be moved; the blocks come free together | |
#[test]
fn the_moves_of_a_job_go_from_die_to_die() {
    const T: u64 = 500 * MS;
    let (read_ns, program_ns, erase_ns) = (127_400, 302_400, 1_500_000);
    let mut simulation = simulation(&two_dies());
    for request in filled().into_iter().chain([write(T, 7), read(T + program_ns + 100_000, 5)]) {
        simulation.submit(request).unwrap();
    }
    let mut seen = |until: u64| {
        simulation.run_until(until).unwrap();
        let (ftl, counters) = (simulation.ssd().ftl(), simulation.ssd().counters());
        let erases = [0, 16].map(|block| ftl.blocks().erases()[block]);
        (states(ftl, 0), ftl.blocks().free_count(POOLS[1]), [counters.gc_reads, counters.pages_moved], erases, counters.jobs)
    };
    let (victim, none, whole) = ([BlockState::Victim; 2], [0_u64; 2], [0_u32; 2]);
    assert_eq!(seen(T - 1), ([BlockState::Closed; 2], 9, none, whole, 0));
    assert_eq!(seen(T), (victim, 8, [1, 0], whole, 0));
    // Page 1 needs a superblock, which is taken once its data are in the buffer.
    assert_eq!(seen(T + read_ns - 1), (victim, 8, [1, 0], whole, 0));
    assert_eq!(seen(T + read_ns), (victim, 7, [1, 0], whole, 0));
    assert_eq!(seen(T + 2 * program_ns - 1).2, [1, 0]);
    assert_eq!(seen(T + 2 * program_ns).2, [1, 1]);
    let second = T + 2 * program_ns + read_ns;
    assert_eq!((seen(second - 1).2, seen(second).2), ([1, 1], [2, 1]));
    let third = second + read_ns + program_ns;
    assert_eq!((seen(third - 1).2, seen(third).2), ([2, 1], [3, 2]));
    let moved = third + read_ns + program_ns;
    assert_eq!((seen(moved - 1).2, seen(moved).2), ([3, 2], [3, 3]));
    assert_eq!(seen(moved + erase_ns - 1), (victim, 7, [3, 3], whole, 0));
    assert_eq!(seen(moved + erase_ns), ([BlockState::Free; 2], 8, [3, 3], [1; 2], 1));
    // Eight are not enough: the second superblock has no valid page, and is erased at once.
    assert_eq!(seen(moved + 2 * erase_ns - 1).4, 1);
    assert_eq!((seen(moved + 2 * erase_ns).1, seen(moved + 2 * erase_ns).4), (9, 2));
    simulation.run_to_idle().unwrap();
    let ftl = simulation.ssd().ftl();
    let at = |page| ftl.geometry().split_page(ftl.lookup(Lpn(page)).unwrap());
    assert_eq!([1, 0, 2].map(at), [(BlockId(8), 0), (BlockId(24), 0), (BlockId(8), 1)]);
    let completions = simulation.take_completions();
    assert_eq!(completions.iter().map(|completion| completion.completed_ns).max(), Some(second));
    let result = simulation.finish().unwrap();
    // Both dies have the job from its start to its end.
    let with_job = (moved + erase_ns - T) + erase_ns;
    assert!((result.gc.time_share.unwrap() * result.simulated_ns as f64 / with_job as f64 - 1.0).abs() < 1e-9, "{:?}", result.gc);
    let counted = ["superblocks_opened", "superblocks_collected", "skipped_units", "relocated_reads"].map(|name| result.counters[name]);
    assert_eq!((counted, result.gc.jobs, result.gc.erases, result.gc.preemptions), ([9, 2, 0, 0], 2, 4, 1));
}

/// A superblock in SLC mode that fills and is folded after 1 ms of idle time, to the nanosecond. A page takes 102.4 us on the bus. In SLC mode
/// a read takes 10 us, a program 50 us, an erase 500 us; else a read 25 us, a program 200 us. Each block of the cache holds two pages. Pages 0
/// and 2 fill that of die 0, so page 3 goes past the cache, where it is the first and die 0 has the turn. Page 4 has the turn of die 1 there,
/// and finds room in the cache. With T = 952.4 us (the end of that write) + 1 ms:
///
/// | from | die 0 | die 1 |
/// |--:|---|---|
/// | T | reads page 0 (112.4 us), which goes to die 0 | reads page 1 (112.4 us), which goes to die 1 |
/// | T + 112.4 us | programs page 0 (302.4 us); a read of page 2 comes at T + 200 us | programs page 1 (302.4 us) |
/// | T + 414.8 us | the host's read (112.4 us) | reads page 4 (112.4 us), which goes to die 0, whose turn it is |
/// | T + 527.2 us | programs page 4 (302.4 us) before it reads on | has no page left to read |
/// | T + 829.6 us | reads page 2 (112.4 us), which goes to die 1 | |
/// | T + 942 us | has no page left to read | programs page 2 (302.4 us) |
/// | T + 1,244.4 us | both erase (500 us), and the superblock is free for the cache again | |
#[test]
fn a_superblock_in_slc_mode_fills_and_is_folded() {
    const T: u64 = 1_952_400;
    let config = changed(two_dies(), |c| {
        (c.device.pages_per_block, c.gc.soft) = (6, 1.0);
        (c.slc.static_blocks, c.slc.idle_us) = (1, 1_000);
        (c.slc.read_ns, c.slc.program_ns, c.slc.erase_ns) = (10_000, 50_000, 500_000);
    });
    let mut simulation = simulation(&config);
    let writes = (0..5).map(|page| write(200_000 * page, page));
    let later = [read(T + 200_000, 2), read(T + 5 * MS, 2), write(T + 5 * MS + 500_000, 5)];
    writes.chain(later).for_each(|request| _ = simulation.submit(request).unwrap());
    let place = |ftl: &Ftl, page| ftl.geometry().split_page(ftl.lookup(Lpn(page)).unwrap());
    let mut seen = |until: u64| {
        simulation.run_until(until).unwrap();
        let (ftl, counters) = (simulation.ssd().ftl(), simulation.ssd().counters());
        (states(ftl, 15), [counters.gc_reads, counters.pages_moved, counters.slc_erases])
    };
    let (open, full, victim) = ([BlockState::Open; 2], [BlockState::Cached; 2], [BlockState::Victim; 2]);
    assert_eq!((seen(952_399), seen(952_400)), ((open, [0; 3]), (full, [0; 3])));
    assert_eq!((seen(T - 1), seen(T)), ((full, [0; 3]), (victim, [2, 0, 0])));
    assert_eq!((seen(T + 414_799), seen(T + 414_800)), ((victim, [2, 0, 0]), (victim, [3, 2, 0])));
    assert_eq!((seen(T + 829_599), seen(T + 829_600)), ((victim, [3, 2, 0]), (victim, [4, 3, 0])));
    assert_eq!((seen(T + 1_244_399), seen(T + 1_244_400)), ((victim, [4, 3, 0]), (victim, [4, 4, 0])));
    assert_eq!((seen(T + 1_744_399), seen(T + 1_744_400)), ((victim, [4, 4, 0]), ([BlockState::Free; 2], [4, 4, 2])));
    simulation.run_to_idle().unwrap();
    let ftl = simulation.ssd().ftl();
    let places = [0, 1, 2, 3, 4, 5].map(|page| place(ftl, page));
    assert_eq!(places, [(1, 0), (17, 0), (17, 1), (0, 0), (1, 1), (15, 4)].map(|(block, page)| (BlockId(block), page)));
    let mut completions = simulation.take_completions();
    completions.sort_by_key(|completion| completion.arrival_ns);
    let responses: Vec<u64> = completions.iter().map(|completion| completion.completed_ns - completion.arrival_ns).collect();
    assert_eq!(responses, [152_400, 152_400, 152_400, 302_400, 152_400, 327_200, 127_400, 152_400]);
    let counters = simulation.ssd().counters();
    let counted = [counters.slc_writes, counters.direct_writes, counters.folds, counters.folded_pages, counters.jobs];
    assert_eq!(counted, [5, 1, 1, 4, 1]);
}

/// A write of `count` mapping units of 1 KiB, a quarter of a page.
fn units(arrival_ns: u64, first: u64, count: u64) -> Request {
    Request { offset: first * 1024, length: count * 1024, ..write(arrival_ns, 0) }
}

/// A cache of `superblocks` of two dies, each with two programs of four units on each die, through which all data pass, of which `classes` of handles
/// have open superblocks of their own.
fn all_pass_through(superblocks: u32, classes: u8) -> Config {
    changed(two_dies(), |c| {
        (c.device.pages_per_block, c.ftl.map_unit_bytes, c.gc.soft) = (6, Some(1024), 1.0);
        (c.slc.static_blocks, c.slc.full) = (superblocks, SlcFull::Fold);
        (c.slc.read_ns, c.slc.program_ns, c.slc.erase_ns) = (10_000, 50_000, 500_000);
        if classes > 1 {
            (c.ftl.placement, c.ftl.handles) = (Placement::Handles, classes);
        }
    })
}

/// When each of these requests ends, ns, and the counters.
fn ends(config: &Config, requests: &[Request]) -> (Vec<u64>, Counters) {
    let mut simulation = simulation(config);
    requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
    simulation.run_to_idle().unwrap();
    let mut completions = simulation.take_completions();
    completions.sort_by_key(|completion| completion.index);
    let counters = simulation.ssd().counters();
    simulation.finish().unwrap();
    (completions.iter().map(|completion| completion.completed_ns).collect(), counters)
}

/// Writes of a unit, of four, and of two times a unit: the first, third and fourth have the turn of die 0, since the second counts as much as four
/// of them. But each takes a program.
fn unequal() -> Vec<Request> {
    vec![units(0, 0, 1), units(0, 4, 4), units(0, 1, 1), units(0, 2, 1)]
}

/// A write that waits for the cache waits for its group, by hand. A program in SLC mode takes 152.4 us with its transfer.
///
/// | from | die 0 | die 1 |
/// |--:|---|---|
/// | 0 | unit 0 | units 4 to 7 |
/// | 152.4 us | unit 1, and is full: unit 2, which waited here, goes to die 1 | unit 2 |
/// | T = 304.8 us | reads unit 0 to fold it (112.4 us); unit 3, which came at 200 us, waits | reads units 4 to 7 |
/// | T + 112.4 us | programs units 0, 4, 5 and 6 (302.4 us) | holds a program's worth |
/// | T + 414.8 us | reads unit 1 | reads unit 2 |
/// | T + 527.2 us | | programs units 7, 1 and 2 |
/// | T + 829.6 us | erases (500 us), then writes unit 3 | erases |
#[test]
fn a_write_that_finds_no_room_in_the_cache_goes_to_a_die_that_has_some() {
    const T: u64 = 304_800;
    let (ended, counters) = ends(&all_pass_through(1, 1), &[unequal(), vec![units(200_000, 3, 1)]].concat());
    assert_eq!(ended, [152_400, 152_400, T, T, T + 1_329_600 + 152_400]);
    let counted = [counters.writes_dealt_again, counters.slc_writes, counters.direct_writes, counters.folds, counters.pages_moved];
    assert_eq!(counted, [1, 8, 0, 1, 7]);
}

/// A die that has filled its part may take another superblock while one is left for each class without room in its own: with two superblocks and
/// two classes unit 2 goes to die 1 instead, and the other class has room at once. With three of them die 0 goes on by itself.
#[test]
fn a_class_leaves_superblocks_of_the_cache_to_classes_without() {
    let requests: Vec<Request> = unequal().into_iter().chain([units(10 * MS, 8, 1)]).collect();
    for (superblocks, unit_2, dealt_again) in [(2, 304_800, 1), (3, 457_200, 0)] {
        let of_class = |(request, number): (&Request, u64)| Request { handle: Some(u8::from(number == 4)), ..*request };
        let requests: Vec<Request> = requests.iter().zip(0..).map(of_class).collect();
        let (ended, counters) = ends(&all_pass_through(superblocks, 2), &requests);
        assert_eq!(ended, [152_400, 152_400, 304_800, unit_2, 10 * MS + 152_400], "{superblocks}");
        // A fold makes room for the class whose superblock is full.
        assert_eq!((counters.writes_dealt_again, counters.folds), (dealt_again, dealt_again));
    }
}

/// Superblocks of four pages of four units, in which units that fill no program wait. One with more than four tenths of its units invalid is
/// collected once the host takes another. The first has units 0 to 15, of which 0 is left on die 0, and 4, 6, 7 and 15 on die 1; the second is filled,
/// and three units of the third are padding.
fn carried() -> (Config, Vec<Request>) {
    let config = changed(two_dies(), |c| {
        (c.device.overprovisioning, c.ftl.map_unit_bytes, c.gc.leftover) = (0.8, Some(1024), Leftover::Carry);
        (c.gc.trigger, c.gc.invalid_share, c.gc.soft) = (Trigger::InvalidShare, 0.4, 1.0);
    });
    let runs = [(0, 4), (4, 4), (8, 4), (12, 4), (1, 3), (5, 1), (8, 4), (12, 3)];
    (config, runs.into_iter().zip(0..).map(|((first, count), number)| units(10 * MS * number, first, count)).collect())
}

/// A superblock whose last unit waits for the next job, to the nanosecond. The first job begins at T, with a write that die 0 takes, as all odd ones
/// do here:
///
/// | from | die 0 | die 1 |
/// |--:|---|---|
/// | T | the write | reads units 4, 6 and 7 (127.4 us), then 15 |
/// | T + 302.4 us | programs these four (302.4 us), whose turn it is | |
/// | T + 604.8 us | reads unit 0, which the job leaves at T + 732.2 us | |
///
/// Three more writes leave unit 5, on die 1, in the second superblock. The job on that begins at U:
///
/// | from | die 0 | die 1 |
/// |--:|---|---|
/// | U | a write | reads unit 5 |
/// | U + 127.4 us | | programs units 0 and 5, whose turn it is |
/// | U + 429.8 us | both erase the first superblock (1.5 ms), then the second | |
#[test]
fn units_of_a_superblock_wait_for_the_next_job_of_the_group() {
    const T: u64 = 80 * MS;
    const U: u64 = 120 * MS;
    let (config, beginning) = carried();
    let mut simulation = simulation(&config);
    let later = [units(T, 20, 1), units(T + 10 * MS, 8, 4), units(T + 20 * MS, 12, 3), units(T + 30 * MS, 1, 3), units(U, 21, 1)];
    beginning.into_iter().chain(later).for_each(|request| _ = simulation.submit(request).unwrap());
    let mut seen = |until: u64| {
        simulation.run_until(until).unwrap();
        let (ftl, counters) = (simulation.ssd().ftl(), simulation.ssd().counters());
        let counted = [counters.gc_reads, counters.pages_moved, counters.carried_units, counters.jobs];
        (states(ftl, 0), states(ftl, 1), counted)
    };
    let (closed, victim, free) = ([BlockState::Closed; 2], [BlockState::Victim; 2], [BlockState::Free; 2]);
    assert_eq!((seen(T - 1), seen(T)), ((closed, closed, [0; 4]), (victim, closed, [1, 0, 0, 0])));
    assert_eq!((seen(T + 127_399), seen(T + 127_400)), ((victim, closed, [1, 0, 0, 0]), (victim, closed, [2, 0, 0, 0])));
    assert_eq!((seen(T + 604_799), seen(T + 604_800)), ((victim, closed, [2, 0, 0, 0]), (victim, closed, [3, 4, 0, 0])));
    assert_eq!((seen(T + 732_199), seen(T + 732_200)), ((victim, closed, [3, 4, 0, 0]), (victim, closed, [3, 4, 1, 1])));
    assert_eq!((seen(U - 1), seen(U)), ((victim, closed, [3, 4, 1, 1]), (victim, victim, [4, 4, 1, 1])));
    assert_eq!((seen(U + 429_799), seen(U + 429_800)), ((victim, victim, [4, 4, 1, 1]), (victim, victim, [4, 6, 1, 1])));
    assert_eq!((seen(U + 1_929_799), seen(U + 1_929_800)), ((victim, victim, [4, 6, 1, 1]), (free, victim, [4, 6, 1, 1])));
    assert_eq!((seen(U + 3_429_799), seen(U + 3_429_800)), ((free, victim, [4, 6, 1, 1]), (free, free, [4, 6, 1, 2])));
    assert_eq!(simulation.finish().unwrap().gc.erases, 4);
}

/// Unit 0 of a superblock waits for the next job, and the host writes it again. So the superblock holds nothing when the second job begins: die 1 erases its block at
/// once, for 1.5 ms, and die 0 behind the write. Both come free together.
#[test]
fn a_superblock_whose_waiting_units_are_written_again_is_erased_first() {
    const T: u64 = 80 * MS;
    const U: u64 = 120 * MS;
    let (config, beginning) = carried();
    let mut simulation = simulation(&config);
    let later = [units(T, 20, 1), units(T + 10 * MS, 8, 4), units(T + 20 * MS, 12, 3), units(T + 30 * MS, 0, 1), units(U, 21, 1)];
    beginning.into_iter().chain(later).for_each(|request| _ = simulation.submit(request).unwrap());
    let mut seen = |until: u64| {
        simulation.run_until(until).unwrap();
        let counters = simulation.ssd().counters();
        (states(simulation.ssd().ftl(), 0), [counters.gc_reads, counters.erases, counters.discarded_moves])
    };
    let (victim, free) = (BlockState::Victim, BlockState::Free);
    assert_eq!((seen(U - 1), seen(U)), (([victim; 2], [3, 0, 0]), ([victim; 2], [3, 0, 1])));
    assert_eq!(seen(U + 1_500_000), ([victim, BlockState::Erased], [4, 1, 1]));
    assert_eq!((seen(U + 1_802_399), seen(U + 1_802_400)), (([victim, BlockState::Erased], [4, 1, 1]), ([free; 2], [5, 2, 1])));
    simulation.finish().unwrap();
}

/// A fold of a superblock in SLC mode takes up the units of another that wait, to the nanosecond. In SLC mode each block holds one program of four
/// units, which takes 152.4 us with its transfer, as a read takes 112.4 us; elsewhere a block holds three, and they take 302.4 and 127.4 us. Three
/// folds fill the first superblock with units 0 to 23, of which trims leave 0 on one die, and 4 on the other. The write of units 8 to 11, on die 0,
/// takes a superblock of the cache, so that a job collects the first one. It fills no program, and leaves both units. The write of 12 to 15, on
/// die 1, ends at T and fills the cache. Unit 12 is read at T + 50 us, and unit 20 written at T + 200 us.
///
/// | from | die 0 | die 1 |
/// |--:|---|---|
/// | T | reads units 8 to 11 (112.4 us) | reads units 12 to 15 (112.4 us) |
/// | T + 112.4 us | programs those that waited, which come first, and two others (302.4 us) | the host's read (112.4 us) |
/// | T + 224.8 us | | programs four others (302.4 us) |
/// | T + 414.8 us | erases its block of the first superblock, which holds nothing any more (1.5 ms) | |
/// | T + 527.2 us | | erases its block (1.5 ms) |
/// | T + 2,027.2 us | programs the last two, now that the first superblock is free (302.4 us) | has nothing to do |
/// | T + 2,329.6 us | both erase the superblock in SLC mode (500 us), for which unit 20 waits | |
/// | T + 2,829.6 us | writes unit 20 (152.4 us) | |
#[test]
fn a_fold_of_a_superblock_takes_up_units_that_wait() {
    const T: u64 = 80 * MS + 152_400;
    let config = changed(all_pass_through(1, 1), |c| {
        (c.device.pages_per_block, c.gc.leftover) = (3, Leftover::Carry);
        (c.gc.trigger, c.gc.invalid_share) = (Trigger::InvalidShare, 0.5);
    });
    let trim = |first, count| Request { kind: RequestKind::Trim, ..units(60 * MS, first, count) };
    let filled = (0..6).map(|program| units(10 * MS * program, 4 * program, 4));
    let collected = [trim(1, 3), trim(5, 19), units(70 * MS, 8, 4), units(80 * MS, 12, 4)];
    let meanwhile = [Request { kind: RequestKind::Read, ..units(T + 50_000, 12, 1) }, units(T + 200_000, 20, 1)];
    let mut simulation = simulation(&config);
    filled.chain(collected).chain(meanwhile).for_each(|request| _ = simulation.submit(request).unwrap());
    let mut seen = |until: u64| {
        simulation.run_until(until).unwrap();
        let (ftl, counters) = (simulation.ssd().ftl(), simulation.ssd().counters());
        let counted = [counters.carried_units, counters.gc_reads, counters.pages_moved, counters.slc_erases];
        (states(ftl, 0), states(ftl, 15), counted)
    };
    let (free, open, victim) = ([BlockState::Free; 2], [BlockState::Open; 2], [BlockState::Victim; 2]);
    let half = [BlockState::Erased, BlockState::Victim];
    // Die 0 reads its unit behind the host's write.
    assert_eq!((seen(70 * MS + 279_799).2, seen(70 * MS + 279_800).2), ([0, 8, 24, 6], [2, 8, 24, 6]));
    assert_eq!((seen(T - 1), seen(T)), ((victim, open, [2, 8, 24, 6]), (victim, victim, [2, 10, 24, 6])));
    assert_eq!((seen(T + 414_799), seen(T + 414_800)), ((victim, victim, [2, 10, 24, 6]), (victim, victim, [2, 10, 28, 6])));
    assert_eq!((seen(T + 527_199).2, seen(T + 527_200).2), ([2, 10, 28, 6], [2, 10, 32, 6]));
    assert_eq!((seen(T + 1_914_799).0, seen(T + 1_914_800).0), (victim, half));
    assert_eq!((seen(T + 2_027_199).0, seen(T + 2_027_200).0), (half, free));
    assert_eq!((seen(T + 2_329_599).2, seen(T + 2_329_600).2), ([2, 10, 32, 6], [2, 10, 34, 6]));
    assert_eq!((seen(T + 2_829_599).1, seen(T + 2_829_600)), (victim, (free, [BlockState::Open, BlockState::Taken], [2, 10, 34, 8])));
    simulation.run_to_idle().unwrap();
    let ftl = simulation.ssd().ftl();
    let mut places = [0, 4].map(|unit| ftl.geometry().split_page(ftl.lookup(Lpn(unit)).unwrap()));
    places.sort();
    assert_eq!(places, [(BlockId(1), 0), (BlockId(1), 1)]);
    let ended: Vec<u64> =
        simulation.take_completions().iter().map(|completion| completion.completed_ns).filter(|&ended| ended > T).collect();
    assert_eq!(ended, [T + 224_800, T + 2_982_000]);
    let counters = simulation.ssd().counters();
    assert_eq!([counters.folds, counters.jobs, counters.erases], [4, 5, 10]);
    simulation.finish().unwrap();
}

/// Writes are paced by the job of a superblock as a whole, by hand. Of its four units three are valid, so that its third move earns the only unit
/// of credit. The window has a unit for each die: of three writes that come at T + 10 us two are let in, and the third waits.
///
/// | from | die 0 | die 1 |
/// |--:|---|---|
/// | T | the write that begins the job | reads page 1 (127.4 us), which goes to die 0 |
/// | T + 127.4 us | | the first write (302.4 us) |
/// | T + 302.4 us | programs page 1, since the job has had a step for die 0 since T, before the second write came (302.4 us) | |
/// | T + 604.8 us | the second write (302.4 us), then reads page 0, which goes to die 1 | |
/// | T + 1,034.6 us | has one page in flight | programs page 0 |
/// | T + 1,337 us | reads page 2, then programs it | |
/// | T + 1,766.8 us | erases | the third write, for which the job has earned credit (302.4 us) |
#[test]
fn the_job_of_a_superblock_earns_credit_as_one() {
    const T: u64 = 500 * MS;
    let ends = |pace| {
        let config = changed(two_dies(), |c| (c.gc.pace, c.gc.pace_window) = (pace, 0.0));
        let mut simulation = simulation(&config);
        let asked = [write(T, 7), write(T + 10_000, 3), write(T + 10_000, 4), write(T + 10_000, 5)];
        filled().into_iter().chain(asked).for_each(|request| _ = simulation.submit(request).unwrap());
        simulation.run_to_idle().unwrap();
        let mut ends: Vec<u64> = simulation.take_completions().iter().map(|completion| completion.completed_ns).collect();
        ends.sort_unstable();
        let last: Vec<u64> = ends[ends.len() - 4..].iter().map(|end| end - T).collect();
        (last, simulation.finish().unwrap().counters["paced_writes"])
    };
    assert_eq!(ends(Pace::Proportional), (vec![302_400, 429_800, 907_200, 2_069_200], 1));
    // The third write is the next on die 1.
    assert_eq!(ends(Pace::None), (vec![302_400, 429_800, 604_800, 732_200], 0));
}

/// As above, but GC goes first, and the host reads page 1 while die 1 moves it: the read waits for die 1 and then, as its page has moved, for
/// die 0. There it goes once die 0, which programs no page any more and may not read another before it has room, is free.
#[test]
fn a_read_follows_its_page_to_another_die() {
    const T: u64 = 500 * MS;
    let config = changed(two_dies(), |c| (c.gc.scope, c.gc.priority) = (Scope::Die, Priority::Gc));
    let mut simulation = simulation(&config);
    for request in filled().into_iter().chain([write(T, 7), read(T + 10_000, 1)]) {
        simulation.submit(request).unwrap();
    }
    simulation.run_to_idle().unwrap();
    let ends: Vec<u64> = simulation.take_completions().iter().map(|completion| completion.completed_ns).collect();
    // The job excludes the host from both dies until it has ended: page 1 at T + 604.8 us, pages 0 and 2 (127.4 and 302.4 us each, one after
    // the other), the erases (1.5 ms).
    let job = T + 604_800 + 2 * 429_800 + 1_500_000;
    assert_eq!(ends.iter().max(), Some(&(job + 127_400)));
    assert_eq!(simulation.finish().unwrap().counters["relocated_reads"], 1);
}

/// Pages 0 to 3 fill the first superblock, 0 and 2 on die 0 and 1 and 3 on die 1; no pool needs a free block.
fn one_filled() -> Vec<Request> {
    (0..4).map(|page| write(10 * MS * page, page)).collect()
}

fn ageing(change: impl FnOnce(&mut Errors)) -> Config {
    changed(two_dies(), |c| {
        (c.errors.retry, c.errors.decode_ns) = (RetryPolicy::InOrder, 0);
        change(&mut c.errors);
    })
}

/// Read reclaim of a superblock, to the nanosecond. The third read of page 1 makes block 16 due, and the superblock with it. The job begins when
/// something happens next, at J: the array has been read.
///
/// | from | die 0 | die 1 |
/// |--:|---|---|
/// | J | reads page 0 (127.4 us), which goes to die 0, whose turn it is | transfers the host's page (102.4 us) |
/// | J + 102.4 us | | reads page 1, which goes to die 1 |
/// | J + 127.4 us | programs page 0 (302.4 us) | |
/// | J + 229.8 us | | programs page 1 |
/// | J + 429.8 us | reads page 2, then programs it | |
/// | J + 532.2 us | | reads page 3, then programs it |
/// | J + 962 us | erases | erases (1.5 ms) |
#[test]
fn a_superblock_is_moved_whole_when_one_of_its_blocks_was_read_too_often() {
    const T: u64 = 500 * MS;
    let mut simulation = simulation(&ageing(|errors| errors.reclaim_reads = 3));
    let reads = (0..3).map(|number| read(T + number * MS, 1));
    one_filled().into_iter().chain(reads).for_each(|request| _ = simulation.submit(request).unwrap());
    let job = T + 2 * MS + 25_000;
    let mut seen = |until: u64| {
        simulation.run_until(until).unwrap();
        let (ftl, counters) = (simulation.ssd().ftl(), simulation.ssd().counters());
        (states(ftl, 0), counters.jobs_for(Cause::Reclaim), counters.pages_moved, counters.erases)
    };
    let (closed, victim) = ([BlockState::Closed; 2], [BlockState::Victim; 2]);
    assert_eq!(seen(job - 1), (closed, 0, 0, 0));
    assert_eq!(seen(job), (victim, 1, 0, 0));
    let moved = [429_800, 532_200, 859_600, 962_000].map(|after| (seen(job + after - 1).2, seen(job + after).2));
    assert_eq!(moved, [(0, 1), (1, 2), (2, 3), (3, 4)]);
    assert_eq!(seen(job + 962_000 + 1_500_000 - 1), (victim, 1, 4, 0));
    assert_eq!(seen(job + 962_000 + 1_500_000), ([BlockState::Free; 2], 1, 4, 2));
    let result = simulation.finish().unwrap();
    assert_eq!((result.gc.jobs, result.gc.erases, result.counters["superblocks_collected"]), (1, 2, 1));
    assert_eq!([Cause::Reclaim, Cause::Space].map(|cause| result.counters[Cause::MOVES[cause as usize].0]), [4, 0]);
}

/// The block of die 0 is 100 ms old at 100 ms, that of die 1, which was opened 10 ms later, is not. The new superblock is not due at 115 ms, and
/// is at 210 ms. Of a run that ends with the read at 101 or 210 ms the job has only begun.
#[test]
fn a_superblock_is_refreshed_when_the_oldest_of_its_blocks_is_due() {
    let refreshes = |until| {
        let config = ageing(|errors| errors.refresh_days = 100e6 / 86_400e9);
        let looks = [99, 101, 115, 210, 220].into_iter().filter(|&ms| ms <= until).map(|ms| read(ms * MS, 3));
        let requests: Vec<_> = one_filled().into_iter().chain(looks).collect();
        let result = result(&config, &requests);
        [Cause::JOBS, Cause::MOVES].map(|names| result.counters[names[Cause::Refresh as usize].0])
    };
    assert_eq!([99, 101, 115, 210, 220].map(refreshes), [[0, 0], [1, 0], [1, 4], [2, 4], [2, 8]]);
}

/// The first superblock keeps pages 0 to 3, and all others are erased in turn, without valid pages. The first that is two erases ahead takes the four
/// pages: of each die's block two.
#[test]
fn a_worn_superblock_takes_the_data_of_one_that_was_not_erased() {
    let config = changed(two_dies(), |c| {
        c.gc.victim = Victim::Greedy;
        (c.wear.leveling, c.wear.leveling_threshold) = (Leveling::OldBlock, 1);
    });
    let mut simulation = simulation(&config);
    let hot = (0..200).map(|number| write(10 * MS * (4 + number), 4 + number % 4));
    one_filled().into_iter().chain(hot).for_each(|request| _ = simulation.submit(request).unwrap());
    let levelled = |simulation: &Simulation| simulation.ssd().counters().jobs_for(Cause::Leveling);
    let mut now = 0;
    while levelled(&simulation) == 0 {
        now += MS;
        simulation.run_until(now).unwrap();
    }
    let erases = simulation.ssd().ftl().blocks().erases().to_vec();
    simulation.run_until(now + 5 * MS).unwrap();
    let ftl = simulation.ssd().ftl();
    let worn: Vec<u32> = (0..32).filter(|&block| erases[block as usize] == 2).collect();
    assert_eq!(worn, [worn[0], worn[0] + 16]);
    let mut blocks = [0, 1, 2, 3].map(|page| ftl.geometry().split_page(ftl.lookup(Lpn(page)).unwrap()).0.0);
    blocks.sort_unstable();
    assert_eq!(blocks, [worn[0], worn[0], worn[1], worn[1]]);
    assert_eq!([0, 16].map(|block| (erases[block], ftl.blocks().erases()[block])), [(0, 1); 2]);
    let counters = simulation.ssd().counters();
    assert_eq!((levelled(&simulation), counters.moves_by_cause[Cause::Leveling as usize]), (1, 4));
}

/// Host operations merge with the moves of a job between two dies. Page 1 is in the controller's buffer from T + 127.4 us on, and its program on
/// die 0 lasts from T + 302.4 to 604.8 us: reads of it are answered at once. Die 0 reads page 0 then, for 127.4 us, and die 1 programs it for
/// 302.4 us: a write of page 0 that comes at T + 650 us leaves its turn and takes the place of the page. Page 2 is moved as without.
#[test]
fn host_operations_merge_with_moves_between_dies() {
    const T: u64 = 500 * MS;
    let mut simulation = simulation(&changed(two_dies(), |c| c.gc.merge = true));
    let asked = [write(T, 7), read(T + 200_000, 1), read(T + 400_000, 1), write(T + 650_000, 0)];
    filled().into_iter().chain(asked).for_each(|request| _ = simulation.submit(request).unwrap());
    simulation.run_until(T + 20 * MS).unwrap();
    let mut completions = simulation.take_completions();
    completions.sort_by_key(|completion| completion.arrival_ns);
    let ends: Vec<u64> = completions.iter().rev().take(4).rev().map(|completion| completion.completed_ns - T).collect();
    assert_eq!(ends, [302_400, 200_000, 400_000, 604_800 + 127_400 + 302_400]);
    let ftl = simulation.ssd().ftl();
    let at = |page| ftl.geometry().split_page(ftl.lookup(Lpn(page)).unwrap());
    assert_eq!([1, 0, 2].map(at), [(BlockId(8), 0), (BlockId(24), 0), (BlockId(8), 1)]);
    let result = simulation.finish().unwrap();
    assert_eq!((result.gc.merged.read, result.gc.merged.write, result.gc.pages_moved), (2, 1, 2));
}

/// The parts of a job advance each with the host operations of its die, to the nanosecond. The job begins at T with a write on die 0, and from
/// then on each operation allows the part of its die one step. With one read every millisecond, of page 4 on die 1 or of page 5 on die 0:
///
/// | the host | its die then |
/// |---|---|
/// | T + 1 ms, page 4 | die 1 reads page 1, which goes to die 0 |
/// | T + 2 ms, page 5 | die 0 programs page 1 |
/// | T + 3 ms, page 5 | die 0 reads page 0, which goes to die 1 |
/// | T + 4 ms: writes page 0 | die 1 programs it with the move at once, as a write waits for that |
/// | T + 5, 6, 7 ms, page 4 | die 1 has no step. It keeps two: its share of page 2, and the erase. The third read is lost |
/// | T + 8 ms, page 5 | die 0 reads page 2, whose turn is that of die 0 |
/// | T + 9 ms, page 5 | die 0 programs page 2, and die 1 erases behind it |
/// | T + 12 ms, page 5 | die 0 erases, and the job ends: the step that die 1 has left is lost |
#[test]
fn the_parts_of_a_job_advance_with_the_requests_of_their_dies() {
    const T: u64 = 500 * MS;
    let (read_ns, program_ns, erase_ns) = (127_400, 302_400, 1_500_000);
    let mut simulation = simulation(&changed(two_dies(), |c| (c.gc.advance, c.gc.merge) = (Advance::WithRequests, true)));
    let reads = |pages: &[(u64, u64)]| pages.iter().map(|&(ms, page)| read(T + ms * MS, page)).collect::<Vec<_>>();
    let before = [filled(), vec![write(T, 7)], reads(&[(1, 4), (2, 5), (3, 5)]), vec![write(T + 4 * MS, 0)]];
    let asked = [before.concat(), reads(&[(5, 4), (6, 4), (7, 4), (8, 5), (9, 5), (12, 5)])].concat();
    asked.into_iter().for_each(|request| _ = simulation.submit(request).unwrap());
    let mut seen = |until: u64| {
        simulation.run_until(until).unwrap();
        let (ftl, counters) = (simulation.ssd().ftl(), simulation.ssd().counters());
        let steps = [counters.steps_with_requests, counters.steps_without_requests, counters.steps_forgone];
        ([counters.gc_reads, counters.pages_moved, counters.merged_writes, counters.erases], steps, counters.jobs, states(ftl, 0))
    };
    let victim = [BlockState::Victim; 2];
    // The operations and steps at a time, before the job ends.
    let mut at = |until: u64, operations: [u64; 4], steps: [u64; 3]| {
        assert_eq!(seen(until - 1).0[..2].iter().sum::<u64>() + 1, operations[..2].iter().sum::<u64>(), "one less before {until}");
        assert_eq!(seen(until), (operations, steps, 0, victim), "at {until}");
    };
    at(T + MS + read_ns, [1, 0, 0, 0], [1, 0, 0]);
    at(T + 2 * MS + read_ns + program_ns, [1, 1, 0, 0], [2, 0, 0]);
    at(T + 3 * MS + read_ns, [2, 1, 0, 0], [3, 0, 0]);
    assert_eq!(seen(T + 5 * MS - 1).0, [2, 1, 1, 0]);
    assert_eq!(seen(T + 8 * MS - 1).1, [3, 1, 1]);
    assert_eq!(seen(T + 9 * MS + read_ns + program_ns).0, [3, 2, 1, 0]);
    assert_eq!(seen(T + 12 * MS), ([3, 2, 1, 1], [6, 1, 1], 0, [BlockState::Victim, BlockState::Erased]));
    assert_eq!(seen(T + 12 * MS + read_ns + erase_ns - 1).2, 0);
    assert_eq!(seen(T + 12 * MS + read_ns + erase_ns), ([3, 2, 1, 2], [7, 1, 2], 1, [BlockState::Free; 2]));
}

/// A write that only the job of a superblock helps makes all its parts go on, also that of a die for which no operation waits. Below nine free
/// superblocks no write begins, so that the whole job follows the write that comes at T + 1 ms: both dies read and program a page (127.4 and
/// 302.4 us), die 0 another, and both erase. The second superblock, which has no valid page, is erased behind the first.
#[test]
fn a_write_that_waits_for_the_job_of_a_superblock_makes_all_parts_go_on() {
    const T: u64 = 500 * MS;
    for advance in [Advance::WithRequests, Advance::InTurns] {
        let config = changed(two_dies(), |c| (c.gc.advance, c.gc.hard) = (advance, 1.0));
        let requests: Vec<_> = filled().into_iter().chain([write(T, 7), write(T + MS, 7)]).collect();
        let mut simulation = simulation(&config);
        requests.into_iter().for_each(|request| _ = simulation.submit(request).unwrap());
        simulation.run_until(T + 20 * MS).unwrap();
        let last = simulation.take_completions().iter().map(|completion| completion.completed_ns).max();
        assert_eq!(last, Some(T + MS + 2 * (127_400 + 302_400) + 2 * 1_500_000 + 302_400));
        let counters = simulation.ssd().counters();
        assert_eq!((counters.steps_with_requests, counters.steps_without_requests, counters.erases), (0, 10, 4));
    }
}

/// With the read of page 4 die 1 reads page 1, whose program is dealt to die 0. A write of page 1 merges with it there, and die 0 programs it at once,
/// though page 1 lies on die 1, whose turn it is to take the next write.
#[test]
fn a_write_that_merged_makes_the_die_of_its_program_go_on() {
    const T: u64 = 500 * MS;
    let mut simulation = simulation(&changed(two_dies(), |c| (c.gc.advance, c.gc.merge) = (Advance::WithRequests, true)));
    let requests = [filled(), vec![write(T, 7), read(T + MS, 4), write(T + 2 * MS, 1)]].concat();
    requests.into_iter().for_each(|request| _ = simulation.submit(request).unwrap());
    simulation.run_until(T + 5 * MS).unwrap();
    assert_eq!(simulation.ssd().counters().merged_writes, 1);
    assert_eq!(simulation.take_completions().last().map(|last| last.completed_ns), Some(T + 2 * MS + WRITE));
}

/// Programs of two and three pages, and moves that are dealt to four classes: each part reads on until some class fills a program, since each may
/// have held a unit less than that, and nothing else would go on.
#[test]
fn parts_read_on_until_a_class_fills_a_program() {
    for pages_per_program in [2, 3] {
        let config = superblocks(changed(one_die(), |c| {
            (c.device.channels, c.device.blocks_per_plane, c.device.pages_per_block) = (2, 32, 12);
            (c.device.pages_per_program, c.device.overprovisioning, c.gc.soft) = (pages_per_program, 0.7, 2.0);
            (c.ftl.placement, c.gc.scope, c.gc.priority) = (Placement::Sepbit, Scope::None, Priority::Host);
            (c.workload.read_share, c.workload.queue_depth, c.workload.request_kb) = (0.0, 8, 4.0);
        }));
        let result = run(&Plan { requests: Some(6_000), ..plan(config) }, &Control::default()).expect("it goes on");
        let filled = result.streams.iter().filter(|stream| stream.writer == Writer::Moves && stream.blocks_opened > 0);
        assert!(filled.count() >= 3, "{:?}", result.streams);
    }
}

/// A superblock closes early, by hand. Reads of page 1 keep die 1 busy for 12.74 ms, while writes fill die 0 alone: after 27 of them, one of
/// 302.4 us after the other, 14 superblocks are open, one is free, and the closed one has valid pages only. The oldest open one gives up the two
/// pages of die 1 and is collected.
#[test]
fn a_superblock_closes_early_where_one_die_is_far_behind() {
    const T: u64 = 500 * MS;
    let mut simulation = simulation(&two_dies());
    let valid = (0..4).map(|page| write(10 * MS * page, page));
    let reads = (0..100).map(|_| read(T, 1));
    let writes = (0..60).map(|number| write(T + 1, 4 + number % 4));
    valid.chain(reads).chain(writes).for_each(|request| _ = simulation.submit(request).unwrap());
    let mut seen = |until: u64| {
        simulation.run_until(until).unwrap();
        let (ssd, ftl) = (simulation.ssd(), simulation.ssd().ftl());
        (ftl.blocks().free_count(POOLS[0]), ftl.blocks().open_superblocks(POOLS[0]).len(), ssd.counters().skipped_units, states(ftl, 1))
    };
    let behind = [BlockState::Open, BlockState::Taken];
    assert_eq!(seen(T + 26 * WRITE), (2, 13, 0, behind));
    // The victim of the job is the superblock that has closed; its erase waits for the reads.
    assert_eq!(seen(T + 1 + 26 * WRITE), (1, 13, 2, [BlockState::Victim; 2]));
    assert_eq!(seen(T + 100 * READ - 1).0, 1);
    simulation.run_to_idle().unwrap();
    let ftl = simulation.ssd().ftl();
    ftl.check().unwrap();
    assert_eq!([1, 17].map(|block| ftl.blocks().erases()[block]), [1; 2]);
    let result = simulation.finish().unwrap();
    assert_eq!((result.requests.total(), result.counters["skipped_units"]), (164, 2));
    assert_eq!(result.bytes_written.flash, (64 + result.gc.pages_moved) * 4096, "pages that are skipped are not programmed");
}

/// A read that waits for the second die sets off the job of the superblock.
#[test]
fn an_operation_that_waits_for_any_die_sets_off_the_job() {
    const T: u64 = 500 * MS;
    let config = changed(two_dies(), |c| c.gc.begin = Begin::Request);
    let requests: Vec<_> = filled().into_iter().chain([write(T, 7), read(T + MS, 1)]).collect();
    let before = result(&config, &requests[..requests.len() - 1]);
    assert_eq!((before.counters["superblocks_collected"], before.counters["jobs_set_off"]), (0, 0));
    let after = result(&config, &requests);
    assert_eq!((after.counters["superblocks_collected"], after.counters["jobs_set_off"]), (1, 1));
}

/// Blocks of several dies as one, with writes at random over all pages.
fn steady(dies: u32, pages: u32, victim: Victim) -> Config {
    let config = changed(one_die(), |c| {
        (c.device.channels, c.device.blocks_per_plane, c.device.pages_per_block) = (dies, 400, pages);
        (c.device.overprovisioning, c.gc.soft, c.gc.victim) = (0.2, 4.0, victim);
        c.ftl.precondition.kind = PreconditionKind::Steady;
        c.workload.read_share = 1.0;
    });
    superblocks(config)
}

fn amplification(config: &Config) -> f64 {
    let plan = Plan { requests: Some(1), verify: Verify::End, ..plan(config.clone()) };
    run(&plan, &Control::default()).unwrap().precondition.unwrap().write_amplification.unwrap()
}

/// Under uniform writes a superblock of 4 blocks of 256 pages behaves as a block of 1,024 pages; with FIFO, a share p of its pages is valid at
/// collection, where p = exp(-(1 - p) s) and s is the pages of closed blocks for each page with data (docs/validity.md).
#[test]
fn a_superblock_behaves_as_a_block_of_as_many_pages() {
    for victim in [Victim::Greedy, Victim::Fifo] {
        let [one, four] = [(1, 1024), (4, 256)].map(|(dies, pages)| amplification(&steady(dies, pages, victim)));
        assert!((four / one - 1.0).abs() < 0.02, "{victim:?}: {four} with superblocks, {one} with blocks");
    }
    let s = (400.0 - 4.0 - 2.0) / (400.0 * 0.8);
    let p = (0..200).fold(0.5_f64, |p, _| (-(1.0 - p) * s).exp());
    let four = amplification(&steady(4, 256, Victim::Fifo));
    assert!((four * (1.0 - p) - 1.0).abs() < 0.02, "{four} measured, {} by the closed form", 1.0 / (1.0 - p));
}

/// Superblocks of a channel: each channel has its own, and collects them by itself.
#[test]
fn superblocks_of_channels_are_collected_apart() {
    let config = changed(steady(2, 16, Victim::Greedy), |c| {
        (c.device.chips_per_channel, c.device.blocks_per_plane) = (2, 60);
        c.ftl.superblock_span = SuperblockSpan::Channel;
        (c.workload.read_share, c.workload.interarrival_us) = (0.0, 800.0);
    });
    assert_eq!((config.pools_per_group(), Capacity::of(&config).unwrap().frontiers), (2, 4));
    let result = run(&Plan { requests: Some(3_000), ..plan(config) }, &Control::default()).unwrap();
    assert_eq!(result.gc.erases, 2 * result.gc.jobs);
    assert!(result.gc.jobs > 40, "{:?}", result.gc.jobs);
}

/// The streams of a placement policy count superblocks: as many pages as they have were written to those opened.
#[test]
fn streams_count_superblocks() {
    let config = changed(two_dies(), |c| {
        (c.device.blocks_per_plane, c.device.overprovisioning) = (24, 0.9);
        (c.ftl.placement, c.ftl.handles, c.gc.soft) = (Placement::Handles, 2, 4.0);
    });
    let requests: Vec<_> =
        (0..80).map(|number| Request { handle: Some(u8::from(number % 4 == 0)), ..write(10 * MS * number, number % 7) }).collect();
    let result = result(&config, &requests);
    let opened = |class| {
        let stream = result.streams.iter().find(|stream| stream.writer == Writer::Host && stream.class == class).unwrap();
        (stream.host_units, stream.blocks_opened)
    };
    assert_eq!([opened(0).0, opened(1).0], [60, 20]);
    // Four pages each, and one more may be under way where a die is ahead.
    assert!((15..=16).contains(&opened(0).1) && (5..=7).contains(&opened(1).1), "{:?}", [opened(0), opened(1)]);
    let collected: u64 = result.streams.iter().map(|stream| stream.blocks_collected).sum();
    assert_eq!(collected, result.counters["superblocks_collected"]);
    assert_eq!(result.streams.iter().map(|stream| stream.blocks_opened).sum::<u64>(), result.counters["superblocks_opened"]);
}

/// A drive that is saved and loaded goes on with the same open superblocks.
#[test]
fn a_loaded_drive_goes_on_with_its_superblocks() {
    let config = two_dies();
    let mut simulation = simulation(&config);
    filled()[..5].iter().for_each(|request| _ = simulation.submit(*request).unwrap());
    simulation.run_to_idle().unwrap();
    let ftl = simulation.ssd().ftl();
    let mut saved = Vec::new();
    ftl.save(&config, &mut saved).unwrap();
    let loaded = Ftl::load(&config, saved.as_slice()).unwrap();
    loaded.check().unwrap();
    // Die 0 has begun its block of the second superblock, die 1 has not.
    assert_eq!(states(&loaded, 1), [BlockState::Open, BlockState::Taken]);
    assert_eq!(loaded.blocks().open_superblocks(POOLS[1]), ftl.blocks().open_superblocks(POOLS[1]));
    assert_eq!(POOLS.map(|pool| loaded.next_write_block(pool, 0)), [BlockId(1), BlockId(17)]);
}

#[test]
fn superblocks_of_several_dies_need_dynamic_allocation() {
    let config = changed(two_dies(), |c| c.ftl.allocation = Allocation::default());
    let error = validate(&config).unwrap_err().to_string();
    assert!(error.starts_with("ftl.reclaim_unit = \"superblock\": a superblock of 2 pools is filled die after die"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
}

/// A superblock may keep one unit less than a program invalid, however many dies it has: of 100 blocks of 48 programs of 12 units that is
/// 100 x 11 / 576, which fills two blocks of each pool, or one where four pools share it.
#[test]
fn superblocks_lose_less_to_scattered_units_than_blocks() {
    let config = |unit| {
        changed(one_die(), |c| {
            (c.device.channels, c.device.blocks_per_plane, c.device.pages_per_block) = (4, 100, 144);
            (c.device.page_bytes, c.device.pages_per_program, c.ftl.map_unit_bytes) = (16384, 3, Some(4096));
            (c.ftl.reclaim_unit, c.ftl.allocation) = (unit, Allocation::Dynamic);
        })
    };
    let scattered = |unit| Capacity::of(&config(unit)).unwrap().scattered_blocks();
    assert_eq!([scattered(ReclaimUnit::Block), scattered(ReclaimUnit::Superblock)], [2, 1]);
}

/// Dies that share a chip and work side by side are filled, and collected, as those of as many chips.
#[test]
fn where_dies_share_a_chip_changes_nothing() {
    let mut collected = 0;
    for case in 0..40 {
        let mut rng = Rng::new(case, "superblocks of shared chips");
        let mut config = superblocks(random_config(&mut rng));
        // Of several chips a channel, pages without data would have other homes.
        (config.device.chips_per_channel, config.device.dies_per_chip, config.device.die_interleave) = (1, 2, true);
        // These go by chips.
        (config.scheduler.read_queue, config.scheduler.write_queue) = (0, 0);
        config.gc.scope = if config.gc.scope == Scope::Chip { Scope::Die } else { config.gc.scope };
        config.device.blocks_per_plane += 8;
        let chips = changed(config.clone(), |c| (c.device.dies_per_chip, c.device.chips_per_channel) = (1, 2));
        if validate(&config).is_err() {
            continue;
        }
        let requests = random_requests(&mut rng, &config, 300);
        let [one, other] = [&config, &chips].map(|config| result(config, &requests));
        assert_eq!(
            (&one.digest, &one.counters, &one.breakdown_ns),
            (&other.digest, &other.counters, &other.breakdown_ns),
            "case {case}: {config:?}"
        );
        collected += u32::from(one.gc.jobs > 0);
    }
    assert!(collected > 5, "only {collected} drives collected");
}

/// Two dies of a chip that take turns. The writes of one instant go to die 0 and die 1 in turn, and each waits for the one before; a read of
/// die 0 that comes with the third waits longest for it.
///
/// | from | on the chip |
/// |--:|---|
/// | T | page 4 to die 0 (302.4 us) |
/// | T + 302.4 us | page 5 to die 1 |
/// | T + 604.8 us | the read of page 0, on die 0 (127.4 us) |
/// | T + 732.2 us | page 6 to die 0 |
/// | T + 1,034.6 us | page 7 to die 1 |
#[test]
fn dies_that_take_turns_are_filled_in_turn() {
    const T: u64 = 500 * MS;
    let config = changed(two_dies(), |c| {
        (c.device.channels, c.device.dies_per_chip, c.device.die_interleave) = (1, 2, false);
    });
    let mut simulation = simulation(&config);
    let asked = [write(T, 4), write(T, 5), read(T + 1, 0), write(T + 2, 6), write(T + 2, 7)];
    one_filled().into_iter().chain(asked).for_each(|request| _ = simulation.submit(request).unwrap());
    simulation.run_to_idle().unwrap();
    let mut ends: Vec<u64> = simulation.take_completions().iter().map(|completion| completion.completed_ns).collect();
    ends.sort_unstable();
    let last: Vec<u64> = ends[4..].iter().map(|end| end - T).collect();
    assert_eq!(last, [302_400, 604_800, 732_200, 1_034_600, 1_337_000]);
    let ftl = simulation.ssd().ftl();
    let at = |page| ftl.geometry().split_page(ftl.lookup(Lpn(page)).unwrap());
    assert_eq!([4, 5, 6, 7].map(at), [(BlockId(1), 0), (BlockId(17), 0), (BlockId(1), 1), (BlockId(17), 1)]);
}

/// With a shared frontier the pages that a job moves go to the superblock that the host fills. Here it takes the eighth for page 7, as the host
/// would with a frontier of its own; the three moves take the rest of it.
#[test]
fn page_moves_fill_the_superblock_of_the_host() {
    const T: u64 = 500 * MS;
    let places = |frontier| {
        let mut simulation = simulation(&changed(two_dies(), |c| c.ftl.frontier = frontier));
        filled().into_iter().chain([write(T, 7)]).for_each(|request| _ = simulation.submit(request).unwrap());
        simulation.run_until(T + 20 * MS).unwrap();
        let ftl = simulation.ssd().ftl();
        let mut at = [7, 1, 0, 2].map(|page| ftl.geometry().split_page(ftl.lookup(Lpn(page)).unwrap()).0.0);
        at[1..].sort_unstable();
        (at, simulation.finish().unwrap().counters["superblocks_opened"])
    };
    assert_eq!(places(Frontier::Shared), ([7, 7, 23, 23], 8));
    assert_eq!(places(Frontier::Separate), ([7, 8, 8, 24], 9));
}

/// A seed with which of the programs of new blocks, given as block and page, those of `failed` fail and those of `good` do not.
fn seed_where(config: &Config, blocks: u32, failed: &[(u32, u32)], good: &[(u32, u32)]) -> u64 {
    let fits = |&seed: &u64| {
        let failures = Failures::new(config, blocks, seed).expect("blocks can fail");
        let fails = |&(block, page): &(u32, u32)| failures.program_fails(BlockId(block), BlockFacts::after(0), page);
        failed.iter().all(fails) && !good.iter().any(fails)
    };
    (1..100_000).find(fits).expect("some seed does")
}

/// Superblocks of two blocks of two pages. The third write fails in page 1 of block 0, and is repeated at once on the same die, in the first
/// page of superblock 1. The fourth fills superblock 0, so that its pages 1, 0 and 3 move to superblock 2
/// (both dies read at once, and the one whose program has just ended is woken first); block 0 is retired, and block 16
/// has no partner: it is spare. Of superblock 1, pages 5, 6 and 7 follow, of which the last fails in page 1 of block 17. It goes to superblock 3,
/// the others move, block 17 is retired, and block 16 takes its place.
#[test]
fn a_block_that_fails_leaves_its_superblock() {
    let config = changed(two_dies(), |c| (c.gc.soft, c.wear.program_fails_ppm, c.wear.end) = (2.0, 200_000.0, WearEnd::Reads));
    validate(&config).unwrap();
    let good = [(0, 0), (16, 0), (16, 1), (1, 0), (1, 1), (17, 0), (2, 0), (2, 1), (18, 0), (18, 1), (3, 0), (19, 0), (4, 0), (20, 0)];
    let seed = seed_where(&config, 32, &[(0, 1), (17, 1)], &good);
    let plan = Plan { seed, ..plan(config) };
    let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
    simulation.take_completions();
    let play = |simulation: &mut Simulation, writes: &[(u64, u64)]| {
        writes.iter().for_each(|&(at, page)| _ = simulation.submit(write(at * MS, page)).unwrap());
        simulation.run_until(simulation.now() + 40 * MS).unwrap();
        simulation.ssd().ftl().check().unwrap();
        simulation.take_completions().iter().map(|done| done.completed_ns - done.arrival_ns).collect::<Vec<_>>()
    };
    assert_eq!(play(&mut simulation, &[(0, 0), (10, 1), (20, 2), (30, 3)]), [WRITE, WRITE, 2 * WRITE, WRITE]);
    let (ftl, counters) = (simulation.ssd().ftl(), simulation.ssd().counters());
    let at = |ftl: &Ftl, page| ftl.geometry().split_page(ftl.lookup(Lpn(page)).unwrap());
    assert_eq!([0, 1, 2, 3].map(|page| at(ftl, page).0.0), [18, 2, 1, 2]);
    assert_eq!(states(ftl, 0), [BlockState::Retired, BlockState::Spare]);
    assert_eq!((counters.jobs_for(Cause::Retirement), counters.pages_moved, counters.replaced_blocks), (1, 3, 0));
    assert_eq!(play(&mut simulation, &[(41, 5), (50, 6), (60, 7)]), [WRITE, WRITE, 2 * WRITE]);
    let (ftl, counters) = (simulation.ssd().ftl(), simulation.ssd().counters());
    assert_eq!(at(ftl, 7), (BlockId(19), 0));
    assert_eq!(states(ftl, 1), [BlockState::Free, BlockState::Retired]);
    assert_eq!((ftl.blocks().state(BlockId(16)), ftl.blocks().member(BlockId(1), POOLS[1])), (BlockState::Free, BlockId(16)));
    assert_eq!((counters.retired_by_program, counters.replaced_blocks, counters.jobs_for(Cause::Retirement)), (2, 1, 2));
    // Superblock 0 is gone; 2 is full, since the second job has moved pages 2, 5 and 6; 3 and 4 are open.
    assert_eq!(POOLS.map(|pool| ftl.blocks().free_count(pool)), [12, 12]);
}

/// Random overwrites until the drive is read-only: a pool has lost a block more than it can, all its pages can be read, and writes before were
/// all taken.
#[test]
fn a_drive_of_superblocks_wears_out() {
    let (mut replaced, mut again) = (0, 0);
    for case in 0..12 {
        let mut config = changed(two_dies(), |c| {
            (c.device.chips_per_channel, c.device.pages_per_block) = (1 + case as u32 % 2, 4);
            (c.device.overprovisioning, c.gc.soft, c.gc.victim) = (0.6, 2.0, Victim::Greedy);
            (c.wear.endurance, c.wear.spread, c.wear.program_fails_ppm) = (12, 0.2, 3_000.0);
            c.wear.end = WearEnd::Reads;
        });
        if case % 3 == 0 {
            (config.device.pages_per_program, config.ftl.map_unit_bytes) = (2, Some(config.device.page_bytes / 2));
        }
        validate(&config).unwrap();
        let losable = config.losable_blocks();
        let mut rng = Rng::new(case, "superblocks wear out");
        let plan = Plan { verify: Verify::End, seed: case, ..plan(config) };
        let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
        let pages = u64::from(simulation.ssd().ftl().geometry().exported_units / simulation.ssd().ftl().geometry().units_per_flash_page);
        let mut number = 0;
        while simulation.ssd().wear_stats().unwrap().read_only.is_none() {
            let now = simulation.now();
            for step in 1..=50 {
                let page = if number < pages { number } else { rng.below(pages) };
                simulation.submit(write(now + step * MS, page)).unwrap();
                number += 1;
            }
            simulation.run_to_idle().unwrap();
            assert!(number < 100_000, "case {case} has no end");
        }
        let now = simulation.now();
        (0..pages).for_each(|page| _ = simulation.submit(read(now + (1 + page) * MS, page)).unwrap());
        simulation.run_to_idle().unwrap();
        let (ssd, stats) = (simulation.ssd(), simulation.ssd().wear_stats().unwrap());
        let read_only = stats.read_only.unwrap();
        let lost = match read_only.cause {
            ReadOnlyCause::Spare => read_only.lost == losable + 1,
            ReadOnlyCause::NoRoom => read_only.lost <= losable,
        };
        assert!(lost, "case {case}: {read_only:?}, {losable} of each pool can be lost");
        ssd.ftl().check().unwrap();
        (replaced, again) = (replaced + ssd.counters().replaced_blocks, again + ssd.counters().programs_dealt_again);
        assert_eq!(ssd.counters().unmapped_reads, 0, "case {case}: a page that was written holds no data");
    }
    assert!(replaced > 5 && again > 0, "{replaced} blocks replaced, {again} programs dealt again");
}
