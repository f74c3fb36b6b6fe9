//! Mapping units below the page (`ftl.map_unit_bytes`): timelines worked by hand, what is counted, and write amplification as with pages of
//! a unit's size. Flash as in `timelines.rs`: whatever part of a page is used, its read takes 25 us, its program 200 us and its transfer
//! 102,400 ns.

use crate::common::{one_die, simulation};
use crate::timelines::{Case, array, bus, changed, filled, play_all};
use ssdlab::config::{Config, Frontier, Priority, Scope, UnmappedRead, Victim};
use ssdlab::ftl::Ftl;
use ssdlab::gc::untimed::{self, Packs, UntimedCounts};
use ssdlab::gc::victim::Picker;
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation};
use ssdlab::stats::Part;
use ssdlab::units::{Lpn, PoolId};

/// Four units a page: ten blocks of four pages, 16 pages exported.
pub const QUARTER: u64 = 1024;

pub fn quarters() -> Config {
    changed(one_die(), |c| {
        c.device.blocks_per_plane = 10;
        c.device.overprovisioning = 0.6;
        c.ftl.map_unit_bytes = Some(QUARTER as u32);
    })
}

/// Two units a page: eight blocks of four pages, of which four are filled with units 0 to 31. Host and jobs fill one block. The ninth write
/// takes the third free block, which leaves one, and a job starts.
const HALF: u64 = 2048;

pub fn halves() -> Config {
    changed(filled(one_die()), |c| {
        c.ftl.map_unit_bytes = Some(HALF as u32);
        c.ftl.frontier = Frontier::Shared;
        (c.gc.scope, c.gc.priority) = (Scope::None, Priority::Host);
    })
}

pub fn bytes(kind: RequestKind, arrival_ns: u64, offset: u64, length: u64) -> Request {
    Request { arrival_ns, kind, offset, length, high_priority: false, flow: 0, handle: None }
}

pub fn quarters_of(kind: RequestKind, arrival_ns: u64, first: u64, count: u64) -> Request {
    bytes(kind, arrival_ns, first * QUARTER, count * QUARTER)
}

pub fn half_of(kind: RequestKind, arrival_ns: u64, unit: u64) -> Request {
    bytes(kind, arrival_ns, unit * HALF, HALF)
}

/// One unit each, a millisecond apart. Of block 0 that leaves units 1, 3 and 5, of three pages; of block 1 five. The blocks that these
/// writes fill have four valid units each, the rest being padding.
pub fn nine_writes() -> Vec<Request> {
    let units = [0, 2, 4, 6, 7, 8, 10, 12, 14].into_iter().enumerate();
    units.map(|(i, unit)| half_of(RequestKind::Write, 1_000_000 * i as u64, unit)).collect()
}

/// What came before it is over: a run ends with its last request.
pub fn last_read() -> Request {
    half_of(RequestKind::Read, 12_000_000, 20)
}

pub fn program(at: u64) -> [crate::timelines::Stage; 2] {
    [bus(0, at, at + 102_400), array(0, at + 102_400, at + 302_400)]
}

pub fn read(at: u64) -> [crate::timelines::Stage; 2] {
    [array(0, at, at + 25_000), bus(0, at + 25_000, at + 127_400)]
}

/// The stages of these writes.
pub fn nine_programs() -> Vec<crate::timelines::Stage> {
    (0..9).flat_map(|i| program(1_000_000 * i)).collect()
}

fn cases() -> Vec<Case> {
    use Part::{Array, BusQueue, DieQueue, Gc, Transfer};
    use RequestKind::{Read, Write};
    let write_parts = || (302_400, vec![(Transfer, 102_400), (Array, 200_000)]);
    let read_parts = || (127_400, vec![(Array, 25_000), (Transfer, 102_400)]);
    let nine_parts = || (0..9).map(|_| write_parts()).collect::<Vec<_>>();
    let erase = |at| vec![array(0, at, at + 1_500_000)];
    vec![
        Case {
            name: "the units of a page are written by one program and read by one read",
            config: quarters(),
            requests: vec![quarters_of(Write, 0, 0, 4), quarters_of(Read, 1_000_000, 0, 4), quarters_of(Read, 2_000_000, 1, 2)],
            responses: vec![write_parts(), read_parts(), read_parts()],
            stages: [program(0), read(1_000_000), read(2_000_000)].concat(),
        },
        Case {
            name: "one unit takes as long as a page; units of two requests share no program",
            config: quarters(),
            requests: vec![quarters_of(Write, 0, 0, 1), quarters_of(Write, 0, 1, 1)],
            responses: vec![write_parts(), (604_800, vec![(DieQueue, 302_400), (Transfer, 102_400), (Array, 200_000)])],
            stages: [program(0), program(302_400)].concat(),
        },
        Case {
            name: "six units are two programs; a read of four that lie in two pages is two reads",
            config: filled(quarters()),
            requests: vec![quarters_of(Write, 0, 2, 6), quarters_of(Read, 1_000_000, 0, 4)],
            responses: vec![
                (604_800, vec![(DieQueue, 302_400), (Transfer, 102_400), (Array, 200_000)]),
                (254_800, vec![(DieQueue, 127_400), (Array, 25_000), (Transfer, 102_400)]),
            ],
            stages: [program(0), program(302_400), read(1_000_000), read(1_127_400)].concat(),
        },
        Case {
            name: "dynamic allocation: the units of a page go to one chip, and those of the next to another",
            config: changed(quarters(), |c| {
                c.device.chips_per_channel = 2;
                c.ftl.allocation = ssdlab::config::Allocation::Dynamic;
            }),
            requests: vec![quarters_of(Write, 0, 0, 8)],
            responses: vec![(404_800, vec![(BusQueue, 102_400), (Transfer, 102_400), (Array, 200_000)])],
            stages: vec![bus(0, 0, 102_400), array(0, 102_400, 302_400), bus(0, 102_400, 204_800), array(1, 204_800, 404_800)],
        },
        Case {
            name: "units without data lie as their addresses do: a read of four that belong to two pages is two reads",
            config: changed(quarters(), |c| c.ftl.unmapped_read = UnmappedRead::Flash),
            requests: vec![quarters_of(Read, 0, 2, 4), quarters_of(Read, 1_000_000, 4, 4)],
            responses: vec![(254_800, vec![(DieQueue, 127_400), (Array, 25_000), (Transfer, 102_400)]), read_parts()],
            stages: [read(0), read(127_400), read(1_000_000)].concat(),
        },
        Case {
            name: "a part of a unit is written after a read of its page, together with the unit behind it",
            config: filled(quarters()),
            requests: vec![bytes(Write, 0, QUARTER + 512, 512 + QUARTER)],
            responses: vec![(429_800, vec![(DieQueue, 127_400), (Transfer, 102_400), (Array, 200_000)])],
            stages: [read(0), program(127_400)].concat(),
        },
        Case {
            name: "units of two planes: both transfers, one program; one read, both transfers",
            config: changed(quarters(), |c| {
                c.device.planes_per_die = 2;
                c.device.multiplane = true;
            }),
            requests: vec![quarters_of(Write, 0, 0, 8), quarters_of(Read, 1_000_000, 0, 8)],
            responses: vec![
                (404_800, vec![(BusQueue, 102_400), (Transfer, 102_400), (Array, 200_000)]),
                (229_800, vec![(Array, 25_000), (BusQueue, 102_400), (Transfer, 102_400)]),
            ],
            stages: vec![
                bus(0, 0, 102_400),
                bus(0, 102_400, 204_800),
                array(0, 204_800, 404_800),
                array(0, 1_000_000, 1_025_000),
                bus(0, 1_025_000, 1_127_400),
                bus(0, 1_127_400, 1_229_800),
            ],
        },
        Case {
            name: "a job gathers units of two pages for a program, and pads the last",
            config: halves(),
            requests: [nine_writes(), vec![last_read()]].concat(),
            responses: [nine_parts(), vec![read_parts()]].concat(),
            // Units 1 and 3 are read, and programmed; unit 5 is, with as much padding.
            stages: [
                nine_programs(),
                [read(8_302_400), read(8_429_800), program(8_557_200), read(8_859_600), program(8_987_000)].concat(),
                erase(9_289_400),
                read(12_000_000).to_vec(),
            ]
            .concat(),
        },
        Case {
            name: "a gathered unit that the host writes is given up: unit 3 waits for unit 5",
            config: halves(),
            requests: [nine_writes(), vec![half_of(Write, 8_440_000, 1), last_read()]].concat(),
            responses: [nine_parts(), vec![(419_600, vec![(Gc, 117_200), (Transfer, 102_400), (Array, 200_000)]), read_parts()]].concat(),
            stages: [
                nine_programs(),
                [read(8_302_400), read(8_429_800), program(8_557_200), read(8_859_600), program(8_987_000)].concat(),
                erase(9_289_400),
                read(12_000_000).to_vec(),
            ]
            .concat(),
        },
        Case {
            // The job reads it from 8,302,400 on, with the transfer from 8,327,400 to 8,429,800.
            name: "with merging a read that comes during the transfer out of its unit is answered when that is in the buffer",
            config: changed(halves(), |c| c.gc.merge = true),
            requests: [nine_writes(), vec![half_of(Read, 8_350_000, 1), last_read()]].concat(),
            responses: [nine_parts(), vec![(79_800, vec![(Gc, 79_800)]), read_parts()]].concat(),
            stages: [
                nine_programs(),
                [read(8_302_400), read(8_429_800), program(8_557_200), read(8_859_600), program(8_987_000)].concat(),
                erase(9_289_400),
                read(12_000_000).to_vec(),
            ]
            .concat(),
        },
        Case {
            // The first page read ends at 8,429,800. The read has waited since before, so that it goes before the next, which is ready then.
            name: "the next step of a job that gathers is ready when the one before has ended",
            config: changed(halves(), |c| c.gc.priority = Priority::Fifo),
            requests: [nine_writes(), vec![half_of(Read, 8_350_000, 20), last_read()]].concat(),
            responses: [nine_parts(), vec![(207_200, vec![(Gc, 79_800), (Array, 25_000), (Transfer, 102_400)]), read_parts()]].concat(),
            stages: [
                nine_programs(),
                [read(8_302_400), read(8_429_800), read(8_557_200), program(8_684_600), read(8_987_000), program(9_114_400)].concat(),
                erase(9_416_800),
                read(12_000_000).to_vec(),
            ]
            .concat(),
        },
        Case {
            // The page of unit 5 is read second, for the host too, then that of unit 3. Units 1 and 5 are programmed, then 3.
            name: "with merging a page that the host reads is read next, and not again in its turn",
            config: changed(halves(), |c| (c.gc.merge, c.gc.moves_in_flight) = (true, 2)),
            requests: [nine_writes(), vec![half_of(Read, 8_350_000, 5), last_read()]].concat(),
            responses: [nine_parts(), vec![(207_200, vec![(Gc, 104_800), (Transfer, 102_400)]), read_parts()]].concat(),
            stages: [
                nine_programs(),
                [read(8_302_400), read(8_429_800), read(8_557_200), program(8_684_600), program(8_987_000)].concat(),
                erase(9_289_400),
                read(12_000_000).to_vec(),
            ]
            .concat(),
        },
        Case {
            name: "with merging the write of a gathered unit takes its place, and a read its page's way out",
            config: changed(halves(), |c| c.gc.merge = true),
            requests: [nine_writes(), vec![half_of(Write, 8_440_000, 1), half_of(Read, 8_870_000, 5), last_read()]].concat(),
            responses: [
                nine_parts(),
                vec![
                    (419_600, vec![(Gc, 117_200), (Transfer, 102_400), (Array, 200_000)]),
                    (117_000, vec![(Gc, 14_600), (Transfer, 102_400)]),
                    read_parts(),
                ],
            ]
            .concat(),
            stages: [
                nine_programs(),
                [read(8_302_400), read(8_429_800), program(8_557_200), read(8_859_600), program(8_987_000)].concat(),
                erase(9_289_400),
                read(12_000_000).to_vec(),
            ]
            .concat(),
        },
    ]
}

#[test]
fn timelines_of_units() {
    play_all(&cases());
}

#[test]
fn padding_counts_as_programmed() {
    let mut simulation = simulation(&halves());
    for request in nine_writes().into_iter().chain([half_of(RequestKind::Write, 8_440_000, 1), last_read()]) {
        simulation.submit(request).unwrap();
    }
    let result = simulation.finish().unwrap();
    // Ten programs of the host with one unit of padding each, three page reads of a job, and one program of units 3 and 5: unit 1 was given
    // up.
    assert_eq!((result.flash.host_programs, result.gc.pages_moved, result.counters["padded_units"]), (10, 2, 10));
    assert_eq!((result.flash.reads, result.counters["discarded_moves"], result.gc.stale_moves), (4, 1, 0));
    assert_eq!(result.gc.write_amplification, Some(2.2));
}

#[test]
fn reads_of_one_page_are_one_flash_read() {
    let mut simulation = simulation(&filled(quarters()));
    let requests =
        [quarters_of(RequestKind::Read, 0, 0, 8), quarters_of(RequestKind::Read, 1, 0, 1), quarters_of(RequestKind::Read, 1, 1, 1)];
    for request in requests {
        simulation.submit(request).unwrap();
    }
    let result = simulation.finish().unwrap();
    // Two pages for the first, and one for each of the others, which are other requests.
    assert_eq!((result.flash.reads, result.counters["reads_along"]), (4, 6));
}

/// Write amplification of uniform random writes in steady state, greedily collected, after several overwrites of the drive.
fn amplification(unit_bytes: u32, pages_per_block: u32, page_bytes: u32, spare: f64) -> f64 {
    const BLOCKS: u32 = 258;
    let mut config = Config::default();
    config.device.channels = 1;
    config.device.blocks_per_plane = BLOCKS;
    (config.device.pages_per_block, config.device.page_bytes) = (pages_per_block, page_bytes);
    config.device.overprovisioning = 1.0 - f64::from(BLOCKS - 2) * (1.0 - spare) / f64::from(BLOCKS);
    config.ftl.map_unit_bytes = Some(unit_bytes);
    config.ftl.frontier = Frontier::Shared;
    config.gc.soft = 1.0;
    config.gc.victim = Victim::Greedy;
    let mut ftl = Ftl::new(&config);
    let pages = ftl.geometry().exported_units;
    ftl.fill(pages);
    let (mut rng, mut victims) = (Rng::new(5, "units"), Picker::new(&config.gc, 5, "units/victim"));
    let (mut packs, mut counts) = (Packs::new(1, ftl.geometry().units_per_flash_page), UntimedCounts::default());
    let mut overwrite = |counts: &mut UntimedCounts, times: u64| {
        for _ in 0..times * u64::from(pages) {
            let lpn = Lpn(rng.below(u64::from(pages)) as u32);
            let mut write = |packs: &mut Packs| {
                let pack = packs.take(0);
                assert!(untimed::write(&mut ftl, &mut victims, PoolId(0), &pack, counts));
                packs.give_back(0, pack);
            };
            if packs.has(0, lpn) {
                write(&mut packs);
            }
            if packs.add(0, lpn) {
                write(&mut packs);
            }
        }
    };
    // The fill is forgotten after a few overwrites.
    overwrite(&mut counts, 4);
    let before = counts;
    overwrite(&mut counts, 4);
    let host = (counts.host_programs - before.host_programs) as f64;
    (host + (counts.pages_moved - before.pages_moved) as f64 + (counts.padded_units - before.padded_units) as f64) / host
}

/// Greedy collection knows units only: it amplifies as with pages of their size, up to the padding of each job's last program. That is
/// (k - 1) / 2 units on average of those that a job gains, which is the less the larger blocks are: here they have 1,024 flash pages, fewer
/// than those of today's drives.
#[test]
fn units_amplify_writes_as_pages_of_their_size_do() {
    for spare in [0.07, 0.15, 0.28] {
        let (units, pages) = (amplification(4096, 1024, 16384, spare), amplification(4096, 4096, 4096, spare));
        println!(
            "spare {spare}: {units:.4} with units of 4 KiB on pages of 16 KiB, {pages:.4} with pages of 4 KiB: {:+.2} %",
            (units / pages - 1.0) * 100.0
        );
        assert!((units / pages - 1.0).abs() < 0.01, "{spare}: {units} {pages}");
        assert!(units > pages, "padding costs something");
    }
}

#[test]
fn a_unit_of_a_page_changes_nothing() {
    let write_or_read = |i: u64| {
        let kind = if i.is_multiple_of(3) { RequestKind::Read } else { RequestKind::Write };
        bytes(kind, 100_000 * i, i * 7_919 % 60 * 1024, 1024 * (1 + i % 5))
    };
    let run = |unit: Option<u32>| {
        let mut config = filled(changed(one_die(), |c| c.gc.soft = 1.0));
        config.ftl.map_unit_bytes = unit;
        let mut simulation = Simulation::new(&Plan::new(config, 3), &Control::default()).unwrap();
        for i in 0..500 {
            simulation.submit(write_or_read(i)).unwrap();
        }
        simulation.finish().unwrap().digest
    };
    assert_eq!(run(Some(4096)), run(None));
}
