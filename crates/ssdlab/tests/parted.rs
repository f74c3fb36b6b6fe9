//! Data placement together with programs of several units, a shared frontier and scope `block`, and GC that advances with requests with units
//! and several moves in flight: worked out by hand.

use crate::common::timeline::{Case, READ, a, b, erase, host_read, host_write, play, preemptible};
use crate::common::{one_die, plan, simulation};
use crate::timelines::changed;
use ssdlab::config::{
    Advance, Allocation, Buffer, Config, Drain, Frontier, Isolation, Leftover, Placement, Priority, ReclaimUnit, Scope, Trigger, Victim,
};
use ssdlab::ftl::{BlockState, Class, CustomPlacement, Failure, PlacementPolicy, Placing};
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation};
use ssdlab::units::{BlockId, Lpn};

const MS: u64 = 1_000_000;
const UNIT: u64 = 1024;

/// Even and odd units are of different classes, of writes and of moves.
struct ByParity;

impl PlacementPolicy for ByParity {
    fn place(&mut self, placing: &Placing<'_>) -> Result<Class, Failure> {
        Ok((placing.page % 2) as Class)
    }
}

/// One die with 16 blocks of four pages of four units, of which 48 units are exported. A block with more than three tenths of its units
/// invalid is collected once the host takes another block; the oldest goes first.
fn drive(change: impl FnOnce(&mut Config)) -> Config {
    changed(one_die(), |c| {
        (c.device.blocks_per_plane, c.device.overprovisioning) = (16, 0.8);
        (c.ftl.map_unit_bytes, c.ftl.frontier) = (Some(UNIT as u32), Frontier::Separate);
        (c.gc.trigger, c.gc.invalid_share, c.gc.victim) = (Trigger::InvalidShare, 0.3, Victim::Fifo);
        (c.gc.scope, c.gc.priority) = (Scope::None, Priority::Host);
        change(c);
    })
}

/// `host` and `moves`: streams of a policy that parts even and odd units where it has two.
fn parted(host: u8, moves: u8, change: impl FnOnce(&mut Config)) -> Config {
    drive(|c| {
        (c.ftl.placement, c.ftl.host_streams, c.ftl.move_streams) = (Placement::Custom, host, moves);
        change(c);
    })
}

fn begin(config: &Config) -> Simulation {
    let placement = (config.ftl.placement == Placement::Custom).then(|| CustomPlacement::new("parity", "1", || ByParity));
    let mut simulation = Simulation::new(&Plan { placement, ..plan(config.clone()) }, &Control::default()).unwrap();
    simulation.take_completions();
    simulation
}

/// Writes and reads of units: first and number of each.
fn units(kind: RequestKind, arrival_ns: u64, first: u64, count: u64) -> Request {
    Request { arrival_ns, kind, offset: first * UNIT, length: count * UNIT, high_priority: false, flow: 0, handle: None }
}

/// Writes runs of units, 10 ms apart, so that each has ended before the next.
fn write(simulation: &mut Simulation, runs: &[(u64, u64)]) -> u64 {
    for (&(first, count), number) in runs.iter().zip(0..) {
        simulation.submit(units(RequestKind::Write, 10 * MS * number, first, count)).unwrap();
    }
    10 * MS * runs.len() as u64
}

/// Block and offset of units.
fn places(simulation: &Simulation, units: &[u32]) -> Vec<(u32, u32)> {
    let ftl = simulation.ssd().ftl();
    let place = |&unit: &u32| ftl.geometry().split_page(ftl.lookup(Lpn(unit)).expect("it was written"));
    units.iter().map(place).map(|(block, page)| (block.0, page)).collect()
}

/// Eight units in one request are two programs, one of the even and one of the odd units. From a write buffer, too, into which they come one
/// by one.
#[test]
fn the_units_of_a_program_of_the_host_have_one_class() {
    let at_once = vec![(0, 8)];
    let one_by_one: Vec<_> = (0..8).map(|unit| (unit, 1)).collect();
    let buffered = parted(2, 2, |c| {
        c.buffer = Buffer { bytes: 64 << 10, access_ns: 1_000, protected: true, drain: Drain::Full, ..Buffer::default() };
    });
    for (config, runs) in [(parted(2, 2, |_| ()), at_once), (buffered, one_by_one)] {
        let mut simulation = begin(&config);
        let end = write(&mut simulation, &runs);
        simulation.run_until(end).unwrap();
        assert_eq!(places(&simulation, &[0, 2, 4, 6, 1, 3, 5, 7]), [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (1, 3)]);
        let counters = simulation.ssd().counters();
        assert_eq!((counters.host_programs, counters.padded_units), (8, 0));
        simulation.finish().unwrap();
    }
}

/// Block 0 is full of units 0 to 15. Units 0 to 3, 4 and 6 are written again, so that it keeps 5 and 7, 8 to 11, 12 to 15; with unit 20 the
/// next block is full, and unit 21 takes another.
const BEGINNING: [(u64, u64); 6] = [(0, 16), (0, 4), (4, 1), (6, 1), (20, 1), (21, 1)];

/// The job on block 0 reads 5 and 7, then 8 to 11: the odd units 5, 7, 9 and 11 fill a program. With 12 to 15 the even units 8, 10, 12 and 14
/// fill another; 13 and 15 are left for a third, with two units of padding. It begins three programs, as many as leave it one to gain.
///
/// Block 1 has 0 to 3, 4, 6 and 20: it is read to 6, when 0, 2, 4 and 6 fill a program. With 20, unit 1 is the oldest that is left: a program
/// of 1 and 3 with two units of padding, and one of 20 with three. With padding of 3 for each of the four host writes of one unit that is 19.
#[test]
fn a_job_gathers_units_by_class() {
    let mut simulation = begin(&parted(1, 2, |_| ()));
    let end = write(&mut simulation, &BEGINNING);
    simulation.run_until(end + 100 * MS).unwrap();
    let counters = simulation.ssd().counters();
    assert_eq!((counters.pages_moved, counters.erases, counters.padded_units, counters.displaced_moves), (17, 2, 19, 0));
    assert_eq!((counters.gc_reads, counters.discarded_moves), (3 + 4, 0));
    // The odd units take the first free block, the even ones the next: 13 and 15 come before 1 and 3.
    assert_eq!(places(&simulation, &[5, 7, 9, 11, 13, 15, 1, 3]), [0, 1, 2, 3, 4, 5, 8, 9].map(|page| (3, page)));
    assert_eq!(places(&simulation, &[8, 10, 12, 14, 0, 2, 4, 6, 20]), [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|page| (4, page)));
    let ftl = simulation.ssd().ftl();
    assert_eq!([3, 4].map(|block| ftl.blocks().stream(BlockId(block))), [2, 1]);
    simulation.finish().unwrap();
}

/// As above, where rests wait. The job on block 0 leaves 13 and 15, and the block. The next, on block 1, reads 0 to 3: units 13, 15, 1 and 3 fill
/// a program, after which block 0 is erased. Then it reads 4 and 6, and 0, 2, 4 and 6 fill a program. It reads 20, and leaves that unit and
/// block 1. Only the host's writes of one unit are padded.
#[test]
fn rests_wait_for_the_next_job_and_so_does_their_block() {
    let mut simulation = begin(&parted(1, 2, |c| c.gc.leftover = Leftover::Carry));
    let end = write(&mut simulation, &BEGINNING);
    let mut seen = Vec::new();
    for time in (end - 10 * MS..end + 20 * MS).step_by(10_000) {
        simulation.run_until(time).unwrap();
        let counters = simulation.ssd().counters();
        seen.push((counters.gc_reads, counters.pages_moved, counters.erases));
    }
    seen.dedup();
    assert_eq!(seen, [(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 4, 0), (4, 8, 0), (4, 12, 0), (5, 12, 1), (6, 12, 1), (7, 16, 1)]);
    let counters = simulation.ssd().counters();
    assert_eq!((counters.carried_units, counters.padded_units, counters.displaced_moves), (3, 4 * 3, 0));
    assert_eq!(places(&simulation, &[5, 7, 9, 11, 13, 15, 1, 3]), [0, 1, 2, 3, 4, 5, 6, 7].map(|page| (3, page)));
    assert_eq!(places(&simulation, &[20]), [(1, 12)], "the block still holds it");
    assert_eq!(states(&simulation, [0, 1]), [BlockState::Free, BlockState::Victim]);
    assert_eq!(simulation.finish().unwrap().gc.jobs, 2);
}

fn states<const N: usize>(simulation: &Simulation, blocks: [u32; N]) -> [BlockState; N] {
    blocks.map(|block| simulation.ssd().ftl().blocks().state(BlockId(block)))
}

/// As above. At rest no job comes for block 1, which is closed with the unit that it holds: a saved state has it.
#[test]
fn a_block_that_waits_is_closed_once_the_drive_is_at_rest() {
    let mut simulation = begin(&parted(1, 2, |c| c.gc.leftover = Leftover::Carry));
    write(&mut simulation, &BEGINNING);
    let (_, storage) = simulation.finish_at_rest().unwrap();
    let blocks = storage.drives()[0].ftl().blocks();
    assert_eq!([0, 1].map(|block| blocks.state(BlockId(block))), [BlockState::Free, BlockState::Closed]);
}

/// As above; then the host writes 20 again, beside 22 and 23, which fills block 2, and 24, which takes another. Unit 20 need not be moved any more,
/// so that the job on block 2 begins with the erase of block 1. It reads 21, 20, 22 and 23, two of each class, and leaves them. A read of 20 finds it
/// in block 2.
#[test]
fn a_rest_that_the_host_writes_again_is_given_up() {
    let mut simulation = begin(&parted(1, 2, |c| c.gc.leftover = Leftover::Carry));
    let end = write(&mut simulation, &[&BEGINNING[..], &[(20, 1), (22, 1), (23, 1), (24, 1)]].concat());
    simulation.submit(units(RequestKind::Read, end + 50 * MS, 20, 1)).unwrap();
    simulation.run_until(end + 100 * MS).unwrap();
    let counters = simulation.ssd().counters();
    assert_eq!((counters.carried_units, counters.discarded_moves, counters.erases, counters.gc_reads), (3 + 4, 1, 2, 7 + 4));
    assert_eq!((counters.pages_moved, counters.padded_units), (16, 8 * 3));
    assert_eq!(places(&simulation, &[21, 20, 22, 23]), [(2, 0), (2, 4), (2, 8), (2, 12)]);
    assert_eq!(states(&simulation, [0, 1, 2]), [BlockState::Free, BlockState::Free, BlockState::Victim]);
    simulation.finish().unwrap();
}

/// A pool that collects while only the reserve is free has no room for blocks that wait.
#[test]
fn a_pool_without_free_blocks_leaves_nothing() {
    let run = |leftover, soft| {
        let mut simulation = begin(&parted(1, 2, |c| {
            (c.gc.leftover, c.gc.trigger, c.gc.soft, c.gc.victim) = (leftover, Trigger::Soft, soft, Victim::Greedy);
            c.device.overprovisioning = 0.6;
        }));
        let mut rng = Rng::new(1, "leftovers");
        for number in 0..2_000 {
            simulation.submit(units(RequestKind::Write, 10 * MS * number, rng.below(96), 1 + rng.below(4))).unwrap();
        }
        simulation.run_to_idle().unwrap();
        let counters = simulation.ssd().counters();
        let result = simulation.finish().unwrap();
        (counters.carried_units, counters.padded_units, result.digest)
    };
    let [pads, carries] = [Leftover::Pad, Leftover::Carry].map(|leftover| run(leftover, 2.0));
    assert_eq!(pads, carries);
    let [pads, carries] = [Leftover::Pad, Leftover::Carry].map(|leftover| run(leftover, 4.0));
    assert!(carries.0 > 1_000 && carries.1 < pads.1, "{pads:?} {carries:?}");
}

/// A block of two programs that keeps 4 and 5: the job may begin one program, so that it gains one. The odd unit goes along with the even one,
/// and two units of padding. With 2 and 3 for the host's writes of two units and one that is 7.
#[test]
fn rests_of_classes_share_a_program_where_the_job_would_gain_none() {
    let mut simulation = begin(&parted(1, 2, |c| c.device.pages_per_block = 2));
    let end = write(&mut simulation, &[(0, 8), (0, 4), (6, 2), (20, 1)]);
    simulation.run_until(end + 100 * MS).unwrap();
    let counters = simulation.ssd().counters();
    assert_eq!((counters.pages_moved, counters.erases, counters.padded_units, counters.displaced_moves), (2, 1, 7, 1));
    assert_eq!(places(&simulation, &[4, 5]), [(3, 0), (3, 1)]);
    simulation.finish().unwrap();
}

/// With a shared frontier even units that are moved go to the block of the even units that the host writes.
#[test]
fn moves_of_a_class_fill_the_open_block_of_the_host() {
    let config = parted(2, 2, |c| c.ftl.frontier = Frontier::Shared);
    let mut simulation = begin(&config);
    // Blocks 0 and 1 have the even and the odd units of 0 to 31. Those of 0 to 11 are written again, to blocks 2 and 3, of which 34 and 35
    // are the last; 36 takes another block, and block 0, of which 6 of 16 units are invalid, is collected.
    let end = write(&mut simulation, &[(0, 32), (0, 8), (8, 4), (32, 1), (33, 1), (34, 1), (35, 1), (36, 1)]);
    simulation.run_until(end + 100 * MS).unwrap();
    let counters = simulation.ssd().counters();
    assert!(counters.pages_moved > 0 && counters.erases > 0, "{counters:?}");
    let ftl = simulation.ssd().ftl();
    for unit in 0..37 {
        let Some(ppn) = ftl.lookup(Lpn(unit)) else { continue };
        let stream = ftl.blocks().stream(ftl.geometry().split_page(ppn).0);
        assert_eq!(u32::from(stream), unit % 2, "unit {unit}");
    }
    let shared = (0..32).step_by(2).filter_map(|unit| ftl.lookup(Lpn(unit))).map(|ppn| ftl.geometry().split_page(ppn).0);
    let block = ftl.geometry().split_page(ftl.lookup(Lpn(36)).unwrap()).0;
    assert!(shared.filter(|&other| other == block).count() > 0, "moved units lie beside unit 36");
    let result = simulation.finish().unwrap();
    assert_eq!(result.streams.len(), 2);
}

/// Scope `block` with handles: a job moves pages 2 and 3 from 302.4 us on, in 429.8 us each, and erases until 2,662 us. A read at 602.4 us of
/// page 3, which lies in the victim, waits until then, and so does one of page 2, which the first move takes to the block that the job fills.
/// One of page 4 waits for the first move. Without exclusion all do.
#[test]
fn scope_block_excludes_reads_of_the_victim_and_of_what_moves_fill() {
    let run = |scope, page| {
        let config = changed(one_die(), |c| {
            (c.device.blocks_per_plane, c.device.overprovisioning) = (16, 0.8);
            (c.ftl.placement, c.ftl.handles, c.ftl.isolation) = (Placement::Handles, 2, Isolation::Persistent);
            (c.gc.trigger, c.gc.invalid_share, c.gc.scope, c.gc.priority) = (Trigger::InvalidShare, 0.3, scope, Priority::Fifo);
        });
        let mut simulation = simulation(&config);
        // Block 0 keeps pages 2 and 3 of handle 1; the write of page 8 takes a block, and the job begins when it has ended.
        for (page, number) in [0, 1, 2, 3, 0, 1, 4, 5, 8].into_iter().zip(0..) {
            simulation.submit(Request { handle: Some(1), ..crate::common::pages::write(10 * MS * number, page) }).unwrap();
        }
        simulation.submit(crate::common::pages::read(80 * MS + 302_400 + 300_000, page)).unwrap();
        simulation.run_until(100 * MS).unwrap();
        let ends = simulation.take_completions();
        let read = ends.iter().find(|completion| completion.index == 9).expect("it is complete");
        (simulation.ssd().counters().erases, read.completed_ns - read.arrival_ns)
    };
    let ends = |scope| [2, 3, 4].map(|page| run(scope, page));
    assert_eq!(ends(Scope::Block), [(1, 2_187_000), (1, 2_187_000), (1, 257_200)]);
    assert_eq!(ends(Scope::None), [(1, 257_200); 3]);
}

/// Superblocks of two dies with a policy of the user's own, which is asked once for each page of a write, when its die is chosen: even and odd
/// pages are never in one superblock, unless a move has found no free one.
#[test]
fn a_policy_of_the_user_s_own_parts_superblocks() {
    let config = changed(one_die(), |c| {
        (c.device.channels, c.device.blocks_per_plane, c.device.overprovisioning) = (2, 24, 0.75);
        (c.ftl.placement, c.ftl.allocation, c.ftl.reclaim_unit) = (Placement::Custom, Allocation::Dynamic, ReclaimUnit::Superblock);
        (c.ftl.map_unit_bytes, c.ftl.frontier, c.gc.soft) = (Some(2048), Frontier::Separate, 2.0);
    });
    let mut simulation = begin(&config);
    let (pages, mut rng) = (config.exported_bytes().unwrap() / 4096, Rng::new(5, "superblocks"));
    for number in 0..600 {
        let (first, count) = (rng.below(2 * pages - 4), 1 + rng.below(4));
        simulation.submit(Request { offset: 2048 * first, length: 2048 * count, ..units(RequestKind::Write, MS * number, 0, 1) }).unwrap();
    }
    simulation.run_to_idle().unwrap();
    let (counters, ftl) = (simulation.ssd().counters(), simulation.ssd().ftl());
    let elsewhere = (0..2 * pages as u32).filter(|&unit| {
        let block = ftl.lookup(Lpn(unit)).map(|ppn| ftl.geometry().split_page(ppn).0);
        block.is_some_and(|block| u32::from(ftl.blocks().stream(block)) % 2 != unit % 2)
    });
    assert!(counters.superblocks_collected > 10 && counters.pages_moved > 0, "{counters:?}");
    assert!(elsewhere.count() as u64 <= counters.displaced_moves);
    let result = simulation.finish().unwrap();
    let written = result.streams.iter().map(|stream| stream.host_units).sum::<u64>();
    assert_eq!(written, result.flash.host_programs);
}

fn with_requests(config: &mut Config) {
    config.gc.advance = Advance::WithRequests;
}

/// Steps of the job on block 0, which keeps 5 and 7, 8 to 11, 12 to 15, all of one class: the reads of 5 and 7 and of 8 to 11, which bring a
/// program's worth; the program of 5, 7, 8 and 9; the read of 12 to 15; the program of 10 to 13; that of 14 and 15; the erase. Each read of
/// the host allows one.
#[test]
fn a_step_is_one_program_s_worth_of_moves() {
    for (advance, turns) in [(Advance::WithRequests, 0), (Advance::InTurns, 0)] {
        let mut simulation = begin(&drive(|c| c.gc.advance = advance));
        let end = write(&mut simulation, &BEGINNING);
        let mut seen = Vec::new();
        for step in 0..6 {
            simulation.submit(units(RequestKind::Read, end + 10 * MS * step, 20, 1)).unwrap();
        }
        for step in 0..7 {
            simulation.run_until(end + 10 * MS * step - 1).unwrap();
            let counters = simulation.ssd().counters();
            seen.push((counters.gc_reads, counters.pages_moved, counters.erases));
        }
        assert_eq!(seen, [(0, 0, 0), (2, 0, 0), (2, 4, 0), (3, 4, 0), (3, 8, 0), (3, 10, 0), (3, 10, 1)], "{advance:?}");
        let counters = simulation.ssd().counters();
        assert_eq!((counters.steps_with_requests, counters.steps_without_requests, counters.steps_in_turn), (6, 0, turns));
        simulation.finish().unwrap();
    }
}

/// Two moves in flight: of the steps that are ready that goes first which has been for longer, as without `gc.advance`: both reads, then the
/// programs. A program takes its step when it begins, and does not stop at A.
#[test]
fn moves_in_flight_advance_with_requests() {
    let drive = |moves| {
        preemptible(|c| {
            with_requests(c);
            c.gc.moves_in_flight = moves;
        })
    };
    let z = 9;
    play(vec![
        Case::new("without a request nothing goes on", drive(2)).stages(9 * MS, &[]),
        Case::new("each read lets one flash operation of the job begin", drive(2))
            .read(300_000, z, 427_400, READ)
            .read(1_000_000, z, 1_127_400, READ)
            .read(2_000_000, z, 2_127_400, READ)
            .read(3_000_000, z, 3_127_400, READ)
            .read(4_000_000, z, 4_127_400, READ)
            .stages(
                9 * MS,
                &[
                    host_read(300_000),
                    host_read(427_400),
                    host_read(1_000_000),
                    host_read(1_127_400),
                    host_read(2_000_000),
                    host_write(2_127_400),
                    host_read(3_000_000),
                    host_write(3_127_400),
                    host_read(4_000_000),
                    erase(4_127_400),
                ],
            )
            .counts(&[("steps_with_requests", 5), ("pages_moved", 2), ("erases", 1)]),
        // With one move in flight the read stops at A, where the next operation lets the program go first.
        Case::new("one move in flight", drive(1))
            .read(300_000, z, 427_400, READ)
            .read(1_000_000, z, 1_327_400, crate::common::timeline::gc(200_000, &READ))
            .stages(2 * MS, &[host_read(300_000), host_read(427_400), b(554_800, 657_200), a(1_000_000, 1_200_000), host_read(1_200_000)])
            .counts(&[("steps_with_requests", 2), ("pages_moved", 1)]),
    ]);
}
