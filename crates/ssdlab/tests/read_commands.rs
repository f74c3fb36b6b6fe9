//! What the bus and the planes of a die ask of reads, worked by hand to the nanosecond: the command of a read holds the bus
//! (`device.read_command_ns`), and a multi-plane read is of one page offset (`device.multiplane_aligned_reads`). 25 us read, 200 us program,
//! 102.4 us a page on the bus, 2 us a command.

use crate::common::{one_die, simulation};
use crate::timelines::{Case, array, bus, changed, filled, pages, play_all, read, write};
use ssdlab::config::{Config, Frontier, PoolScope};
use ssdlab::simulation::Simulation;
use ssdlab::stats::Part::{Array, BusQueue, DieQueue, Transfer};

fn with_commands(config: Config) -> Config {
    changed(config, |c| c.device.read_command_ns = 2_000)
}

fn chips(count: u32, config: Config) -> Config {
    changed(config, |c| c.device.chips_per_channel = count)
}

fn two_planes(aligned: bool) -> Config {
    changed(one_die(), |c| {
        c.device.planes_per_die = 2;
        c.ftl.pool = PoolScope::Plane;
        c.device.multiplane = true;
        c.device.multiplane_aligned_reads = aligned;
    })
}

fn cases() -> Vec<Case> {
    let alone = || (129_400, vec![(Transfer, 104_400), (Array, 25_000)]);
    vec![
        Case {
            name: "a read alone: command, array, transfer",
            config: with_commands(filled(one_die())),
            requests: vec![read(0, 0)],
            responses: vec![alone()],
            stages: vec![bus(0, 0, 2_000), array(0, 2_000, 27_000), bus(0, 27_000, 129_400)],
        },
        Case {
            name: "a command waits for the transfer in of a program on another chip",
            config: with_commands(chips(2, filled(one_die()))),
            requests: vec![write(0, 0), read(50_000, 1)],
            responses: vec![
                (302_400, vec![(Transfer, 102_400), (Array, 200_000)]),
                (52_400 + 129_400, vec![(BusQueue, 52_400), (Transfer, 104_400), (Array, 25_000)]),
            ],
            stages: vec![
                bus(0, 0, 102_400),
                array(0, 102_400, 302_400),
                bus(0, 102_400, 104_400),
                array(1, 104_400, 129_400),
                bus(0, 129_400, 231_800),
            ],
        },
        Case {
            // Chips 0 and 1 read at once. While the data of chip 0 are on the bus, from 27,000 to 129,400, those of chip 1 come to wait, at
            // 29,000; the die of chip 2 waits since 28,000 for its command, and goes last.
            name: "data that wait go ahead of a command that has waited longer",
            config: with_commands(chips(3, filled(one_die()))),
            requests: vec![read(0, 0), read(0, 1), read(28_000, 2)],
            responses: vec![
                alone(),
                (231_800, vec![(BusQueue, 2_000 + 100_400), (Transfer, 104_400), (Array, 25_000)]),
                (231_800 + 129_400 - 28_000, vec![(BusQueue, 203_800), (Transfer, 104_400), (Array, 25_000)]),
            ],
            stages: vec![
                bus(0, 0, 2_000),
                bus(0, 2_000, 4_000),
                array(0, 2_000, 27_000),
                array(1, 4_000, 29_000),
                bus(0, 27_000, 129_400),
                bus(0, 129_400, 231_800),
                bus(0, 231_800, 233_800),
                array(2, 233_800, 258_800),
                bus(0, 258_800, 361_200),
            ],
        },
        Case {
            name: "a command a page of a multi-plane read",
            config: with_commands(filled(two_planes(false))),
            requests: vec![pages(read(0, 0), 2)],
            responses: vec![(233_800, vec![(Transfer, 4_000 + 102_400), (Array, 25_000), (BusQueue, 102_400)])],
            stages: vec![bus(0, 0, 4_000), array(0, 4_000, 29_000), bus(0, 29_000, 131_400), bus(0, 131_400, 233_800)],
        },
        Case {
            // Page 0 is the first of its block in plane 0, page 3 the second of its block in plane 1.
            name: "reads of different offsets are not one multi-plane read",
            config: filled(two_planes(true)),
            requests: vec![read(0, 0), read(0, 3)],
            responses: vec![
                (127_400, vec![(Array, 25_000), (Transfer, 102_400)]),
                (254_800, vec![(DieQueue, 127_400), (Array, 25_000), (Transfer, 102_400)]),
            ],
            stages: vec![array(0, 0, 25_000), bus(0, 25_000, 127_400), array(0, 127_400, 152_400), bus(0, 152_400, 254_800)],
        },
        Case {
            name: "where the device does not ask for it they are",
            config: filled(two_planes(false)),
            requests: vec![read(0, 0), read(0, 3)],
            responses: vec![
                (127_400, vec![(Array, 25_000), (Transfer, 102_400)]),
                (229_800, vec![(Array, 25_000), (BusQueue, 102_400), (Transfer, 102_400)]),
            ],
            stages: vec![array(0, 0, 25_000), bus(0, 25_000, 127_400), bus(0, 127_400, 229_800)],
        },
    ]
}

#[test]
fn timelines() {
    play_all(&cases());
}

fn ran(config: &Config, requests: impl IntoIterator<Item = ssdlab::request::Request>) -> Simulation {
    let mut simulation = simulation(config);
    requests.into_iter().for_each(|request| _ = simulation.submit(request).unwrap());
    simulation.run_to_idle().unwrap();
    simulation
}

#[test]
fn commands_and_data_that_go_first_are_counted() {
    let config = with_commands(chips(3, filled(one_die())));
    let simulation = ran(&config, [read(0, 0), read(0, 1), read(28_000, 2)]);
    let counters = simulation.ssd().counters();
    // The second read waits for the command of the first, the third for data.
    assert_eq!((counters.read_commands, counters.data_first, counters.bus_lines), (3, 1, 2));
    let without = changed(config, |c| c.device.read_command_ns = 0);
    let simulation = ran(&without, [read(0, 0), read(0, 1), read(28_000, 2)]);
    let counters = simulation.ssd().counters();
    assert_eq!((counters.read_commands, counters.data_first, counters.bus_lines), (0, 0, 0));
}

/// The fifth write starts a job of one move, as in the timelines: page 3, then the erase.
#[test]
fn page_moves_and_copybacks_have_commands_too() {
    for (copyback, moved_ns) in [(false, 2_000 + 25_000 + 204_800 + 200_000), (true, 2_000 + 25_000 + 200_000)] {
        let config = changed(with_commands(filled(one_die())), |c| {
            c.device.copyback = copyback;
            c.ftl.frontier = Frontier::Shared;
            c.gc.soft = 3.0;
        });
        let writes = [0, 1, 2, 4, 5].into_iter().enumerate().map(|(i, page)| write(1_000_000 * i as u64, page));
        let mut simulation = simulation(&config);
        writes.for_each(|request| _ = simulation.submit(request).unwrap());
        let ends = 4_302_400 + moved_ns + 1_500_000;
        simulation.run_until(ends - 1).unwrap();
        assert_eq!((simulation.ssd().counters().jobs, simulation.ssd().counters().read_commands), (0, 1), "copyback {copyback}");
        simulation.run_until(ends).unwrap();
        assert_eq!(simulation.ssd().counters().jobs, 1, "copyback {copyback}");
        simulation.finish().unwrap();
    }
}

#[test]
fn reads_of_different_offsets_are_counted() {
    // Page 8 comes first and holds the die. Pages 0 and 3 wait for it: planes 0 and 1, offsets 0 and 1. Pages 0 and 1 have one offset.
    let cases = [(true, 3, 0, 1), (true, 1, 1, 0), (false, 3, 1, 0)];
    for (aligned, other, together, misaligned) in cases {
        let simulation = ran(&filled(two_planes(aligned)), [read(0, 8), read(1_000, 0), read(1_000, other)]);
        let counters = simulation.ssd().counters();
        assert_eq!((counters.multiplane_operations, counters.misaligned_reads), (together, misaligned), "{aligned} {other}");
    }
}
