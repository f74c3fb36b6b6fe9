//! Reads that transfer only the mapping units that they are for (`device.partial_reads`), worked by hand to the nanosecond: 25 us read, 200 us
//! program, and 102,400 ns a page on the bus, which is 25,600 ns for each of its four units, or 51,200 for each of two.

use crate::common::{one_die, simulation};
use crate::timelines::{Case, array, bus, changed, filled, play_all};
use crate::units::{QUARTER, bytes, half_of, halves, last_read, nine_programs, nine_writes, program, quarters, quarters_of, read};
use ssdlab::config::{Config, UnmappedRead};
use ssdlab::request::RequestKind;
use ssdlab::stats::Part;
use ssdlab::units::ChannelId;

fn in_part(config: Config) -> Config {
    changed(config, |c| c.device.partial_reads = true)
}

/// Four units a page, all with data.
fn parts() -> Config {
    in_part(filled(quarters()))
}

fn two_planes() -> Config {
    changed(parts(), |c| {
        c.device.planes_per_die = 2;
        c.device.multiplane = true;
    })
}

fn of_one_die() -> Vec<Case> {
    use Part::{Array, DieQueue, Transfer};
    use RequestKind::{Read, Write};
    vec![
        Case {
            name: "one unit, two, three, and all four of a page",
            config: parts(),
            requests: [1, 2, 3, 4].map(|units| quarters_of(Read, units * 1_000_000, 0, units)).to_vec(),
            responses: [1, 2, 3, 4].map(|units| (25_000 + units * 25_600, vec![(Array, 25_000), (Transfer, units * 25_600)])).to_vec(),
            stages: vec![
                array(0, 1_000_000, 1_025_000),
                bus(0, 1_025_000, 1_050_600),
                array(0, 2_000_000, 2_025_000),
                bus(0, 2_025_000, 2_076_200),
                array(0, 3_000_000, 3_025_000),
                bus(0, 3_025_000, 3_101_800),
                array(0, 4_000_000, 4_025_000),
                bus(0, 4_025_000, 4_127_400),
            ],
        },
        Case {
            // Of 4,096 + 13 bytes at 25 ns a quarter takes 25,681.25 ns, three 77,043.75 ns, and all 102,725 ns; and 80 ns each.
            name: "each unit has its share of the spare bytes; the time is rounded once, and the overhead is that of a page",
            config: changed(parts(), |c| (c.device.spare_bytes, c.device.command_ns) = (13, 80)),
            requests: vec![quarters_of(Read, 0, 2, 1), quarters_of(Read, 1_000_000, 1, 3), quarters_of(Read, 2_000_000, 0, 4)],
            responses: [25_761, 77_124, 102_805].map(|ns| (25_000 + ns, vec![(Array, 25_000), (Transfer, ns)])).to_vec(),
            stages: vec![
                array(0, 0, 25_000),
                bus(0, 25_000, 50_761),
                array(0, 1_000_000, 1_025_000),
                bus(0, 1_025_000, 1_102_124),
                array(0, 2_000_000, 2_025_000),
                bus(0, 2_025_000, 2_127_805),
            ],
        },
        Case {
            name: "a request of the last three units of a page and the first of the next",
            config: parts(),
            requests: vec![quarters_of(Read, 0, 1, 4)],
            responses: vec![(152_400, vec![(DieQueue, 101_800), (Array, 25_000), (Transfer, 25_600)])],
            stages: vec![array(0, 0, 25_000), bus(0, 25_000, 101_800), array(0, 101_800, 126_800), bus(0, 126_800, 152_400)],
        },
        Case {
            name: "a part of a unit takes as long as the unit",
            config: parts(),
            requests: vec![bytes(Read, 0, QUARTER + 512, 512)],
            responses: vec![(50_600, vec![(Array, 25_000), (Transfer, 25_600)])],
            stages: vec![array(0, 0, 25_000), bus(0, 25_000, 50_600)],
        },
        Case {
            name: "units without data that are read from flash",
            config: in_part(changed(quarters(), |c| c.ftl.unmapped_read = UnmappedRead::Flash)),
            requests: vec![quarters_of(Read, 0, 2, 4)],
            responses: vec![(152_400, vec![(DieQueue, 76_200), (Array, 25_000), (Transfer, 51_200)])],
            stages: vec![array(0, 0, 25_000), bus(0, 25_000, 76_200), array(0, 76_200, 101_200), bus(0, 101_200, 152_400)],
        },
        Case {
            name: "a part of a unit is written: the unit is read, and a whole page is programmed",
            config: parts(),
            requests: vec![bytes(Write, 0, QUARTER + 512, 512)],
            responses: vec![(353_000, vec![(Array, 225_000), (Transfer, 128_000)])],
            stages: vec![array(0, 0, 25_000), bus(0, 25_000, 50_600), bus(0, 50_600, 153_000), array(0, 153_000, 353_000)],
        },
    ]
}

fn of_shared_resources() -> Vec<Case> {
    use Part::{Array, BusQueue, DieQueue, Transfer};
    use RequestKind::Read;
    vec![
        Case {
            name: "two dies of one channel: the second waits for a transfer of one unit, and has two itself",
            config: changed(parts(), |c| c.device.chips_per_channel = 2),
            requests: vec![quarters_of(Read, 0, 0, 1), quarters_of(Read, 0, 4, 2)],
            responses: vec![
                (50_600, vec![(Array, 25_000), (Transfer, 25_600)]),
                (101_800, vec![(Array, 25_000), (BusQueue, 25_600), (Transfer, 51_200)]),
            ],
            stages: vec![array(0, 0, 25_000), array(1, 0, 25_000), bus(0, 25_000, 50_600), bus(0, 50_600, 101_800)],
        },
        Case {
            name: "two planes: each has its own transfer, of one unit and of two",
            config: two_planes(),
            requests: vec![quarters_of(Read, 0, 3, 3)],
            responses: vec![(101_800, vec![(Array, 25_000), (BusQueue, 25_600), (Transfer, 51_200)])],
            stages: vec![array(0, 0, 25_000), bus(0, 25_000, 50_600), bus(0, 50_600, 101_800)],
        },
        Case {
            name: "two planes: the older request, on the second plane, has all of its page, the other a unit",
            config: two_planes(),
            requests: vec![quarters_of(Read, 0, 4, 4), quarters_of(Read, 0, 0, 1)],
            responses: vec![
                (127_400, vec![(Array, 25_000), (Transfer, 102_400)]),
                (153_000, vec![(Array, 25_000), (BusQueue, 102_400), (Transfer, 25_600)]),
            ],
            stages: vec![array(0, 0, 25_000), bus(0, 25_000, 127_400), bus(0, 127_400, 153_000)],
        },
        Case {
            // The second read is in the array until 50,000; its register is that of the first until 50,600.
            name: "a cache register: the second read overlaps the short transfer of the first",
            config: changed(parts(), |c| (c.device.cache_register, c.scheduler.pipeline) = (true, true)),
            requests: vec![quarters_of(Read, 0, 0, 1), quarters_of(Read, 0, 4, 2)],
            responses: vec![
                (50_600, vec![(Array, 25_000), (Transfer, 25_600)]),
                (101_800, vec![(DieQueue, 25_000), (Array, 25_000), (BusQueue, 600), (Transfer, 51_200)]),
            ],
            stages: vec![array(0, 0, 25_000), array(0, 25_000, 50_000), bus(0, 25_000, 50_600), bus(0, 50_600, 101_800)],
        },
        Case {
            name: "the command of a read is as long as that of a whole page",
            config: changed(parts(), |c| c.device.read_command_ns = 2_000),
            requests: vec![quarters_of(Read, 0, 0, 1)],
            responses: vec![(52_600, vec![(Transfer, 27_600), (Array, 25_000)])],
            stages: vec![bus(0, 0, 2_000), array(0, 2_000, 27_000), bus(0, 27_000, 52_600)],
        },
    ]
}

/// As in `units.rs`: a job reads two pages of a victim and programs two units of them, then a third page and its unit.
fn of_collection() -> Vec<Case> {
    use Part::{Array, Gc, Transfer};
    use RequestKind::Read;
    let job = || [read(8_302_400), read(8_429_800), program(8_557_200), read(8_859_600), program(8_987_000)].concat();
    let after_job = || vec![array(0, 9_289_400, 10_789_400), array(0, 12_000_000, 12_025_000), bus(0, 12_025_000, 12_076_200)];
    let nine_parts = || (0..9).map(|_| (302_400, vec![(Transfer, 102_400), (Array, 200_000)])).collect::<Vec<_>>();
    let last_parts = || (76_200, vec![(Array, 25_000), (Transfer, 51_200)]);
    vec![
        Case {
            name: "a job reads whole pages",
            config: in_part(halves()),
            requests: [nine_writes(), vec![last_read()]].concat(),
            responses: [nine_parts(), vec![last_parts()]].concat(),
            stages: [nine_programs(), job(), after_job()].concat(),
        },
        Case {
            name: "a read that a page read of a job answers ends with the whole page",
            config: changed(in_part(halves()), |c| c.gc.merge = true),
            requests: [nine_writes(), vec![half_of(Read, 8_870_000, 5), last_read()]].concat(),
            responses: [nine_parts(), vec![(117_000, vec![(Gc, 14_600), (Transfer, 102_400)]), last_parts()]].concat(),
            stages: [nine_programs(), job(), after_job()].concat(),
        },
    ]
}

#[test]
fn timelines_of_partial_reads() {
    [of_one_die(), of_shared_resources(), of_collection()].iter().for_each(|cases| play_all(cases));
}

/// Where the unit is the page, the parts are its sixteenths of 256 bytes, 6.4 us each.
#[test]
fn timelines_of_reads_of_sixteenths() {
    use Part::{Array, Transfer};
    let reads = |parts: u64| (25_000 + parts * 6_400, vec![(Array, 25_000), (Transfer, parts * 6_400)]);
    let stages = |at: u64, parts: u64| [array(0, at, at + 25_000), bus(0, at + 25_000, at + 25_000 + parts * 6_400)];
    const MS: u64 = 1_000_000;
    play_all(&[Case {
        name: "512 bytes; a byte; 512 bytes over three parts; all of a page; a part each of two pages",
        config: in_part(filled(one_die())),
        requests: vec![
            bytes(RequestKind::Read, 0, 1_024, 512),
            bytes(RequestKind::Read, MS, 255, 1),
            bytes(RequestKind::Read, 2 * MS, 128, 512),
            bytes(RequestKind::Read, 3 * MS, 4_096, 4_096),
            bytes(RequestKind::Read, 4 * MS, 4_000, 200),
        ],
        responses: vec![
            reads(2),
            reads(1),
            reads(3),
            reads(16),
            // The second page, after the first on the die.
            (2 * 31_400, vec![(Part::DieQueue, 31_400), (Array, 25_000), (Transfer, 6_400)]),
        ],
        stages: [stages(0, 2), stages(MS, 1), stages(2 * MS, 3), stages(3 * MS, 16), stages(4 * MS, 1), stages(4 * MS + 31_400, 1)]
            .concat(),
    }]);
}

/// The rest of a page that is written in part is read with the whole page.
#[test]
fn reads_of_sixteenths_are_counted() {
    use RequestKind::{Read, Write};
    let requests = [bytes(Read, 0, 0, 512), bytes(Read, 1_000_000, 0, 4_096), bytes(Write, 2_000_000, 0, 512)];
    let mut simulation = simulation(&in_part(filled(one_die())));
    requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
    simulation.run_to_idle().unwrap();
    assert_eq!(simulation.ssd().bus_busy_ns(ChannelId(0), simulation.now()), 2 * 6_400 + 3 * 102_400);
    let result = simulation.finish().unwrap();
    assert_eq!((result.flash.reads, result.counters["partial_reads"], result.counters["rmw_reads"]), (3, 1, 1));
}

#[test]
fn reads_of_a_part_of_a_page_are_counted() {
    use RequestKind::{Read, Write};
    // Page 0 in part, for two requests; page 1 whole and page 2 in part; a unit for a write of a part of it.
    let requests = [
        quarters_of(Read, 0, 0, 1),
        quarters_of(Read, 0, 1, 3),
        quarters_of(Read, 1_000_000, 4, 5),
        bytes(Write, 2_000_000, 13 * QUARTER, 512),
    ];
    for (config, partial, busy) in [(parts(), 4, 102_400 + 102_400 + 2 * 25_600), (filled(quarters()), 0, 5 * 102_400)] {
        let mut simulation = simulation(&config);
        for request in requests {
            simulation.submit(request).unwrap();
        }
        simulation.run_to_idle().unwrap();
        let program = 102_400;
        assert_eq!(simulation.ssd().bus_busy_ns(ChannelId(0), simulation.now()), busy + program);
        let result = simulation.finish().unwrap();
        assert_eq!((result.flash.reads, result.counters["partial_reads"], result.counters["rmw_reads"]), (5, partial, 1));
    }
}

/// Where the read is one event, and where each of its stages is.
#[test]
fn the_bus_is_busy_for_the_short_transfer() {
    for every_stage in [false, true] {
        let mut simulation = simulation(&parts());
        if every_stage {
            simulation.ssd_mut().play_every_stage();
        }
        simulation.submit(quarters_of(RequestKind::Read, 0, 0, 2)).unwrap();
        for (until, busy) in [(25_000, 0), (30_000, 5_000), (76_000, 51_000), (76_200, 51_200), (90_000, 51_200)] {
            simulation.run_until(until).unwrap();
            assert_eq!(simulation.ssd().bus_busy_ns(ChannelId(0), until), busy, "at {until}, {every_stage}");
        }
        simulation.finish().unwrap();
    }
}

#[test]
fn the_key_is_idle_without_transfer_times() {
    let of = |config: &Config| config.idle_keys().into_iter().any(|idle| idle.key == "device.partial_reads");
    assert!(!of(&parts()));
    assert!(!of(&filled(quarters())), "it is off");
    assert!(!of(&in_part(one_die())));
    assert!(of(&changed(parts(), |c| c.device.transfer_ps_per_byte = 0)));
}
