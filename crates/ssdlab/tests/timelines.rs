//! Timelines worked by hand, to the nanosecond. Unless a case says otherwise: 25 us read, 200 us program, 1.5 ms erase, and 4096 bytes at 25 ns
//! a byte = 102,400 ns on the bus.

use crate::common::{one_die, simulation};
use ssdlab::config::{Config, Frontier, Layers, Order, PoolScope, PreconditionKind, Trigger};
use ssdlab::flash::{OpKind, Resource};
use ssdlab::request::{Request, RequestKind};
use ssdlab::simulation::Simulation;
use ssdlab::stats::{Completion, Counters, Part};
use ssdlab::units::{ChannelId, DieId, Lpn};

const PAGE: u64 = 4096;

pub fn read(arrival_ns: u64, page: u64) -> Request {
    Request { arrival_ns, kind: RequestKind::Read, offset: page * PAGE, length: PAGE, high_priority: false, flow: 0, handle: None }
}

pub fn write(arrival_ns: u64, page: u64) -> Request {
    Request { kind: RequestKind::Write, ..read(arrival_ns, page) }
}

pub fn pages(request: Request, count: u64) -> Request {
    Request { length: count * PAGE, ..request }
}

/// A stage: array or bus of a number, start, end.
pub type Stage = (Resource, u64, u64);

pub fn array(die: u32, start: u64, end: u64) -> Stage {
    (Resource::Array(DieId(die)), start, end)
}

pub fn bus(channel: u32, start: u64, end: u64) -> Stage {
    (Resource::Bus(ChannelId(channel)), start, end)
}

pub struct Case {
    pub name: &'static str,
    pub config: Config,
    pub requests: Vec<Request>,
    /// By request: its response time and the parts of it.
    pub responses: Vec<(u64, Vec<(Part, u64)>)>,
    /// Every stage, by start.
    pub stages: Vec<Stage>,
}

pub fn filled(mut config: Config) -> Config {
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config
}

pub fn changed(mut config: Config, change: impl FnOnce(&mut Config)) -> Config {
    change(&mut config);
    config
}

fn cases() -> Vec<Case> {
    use Part::{Array, BusQueue, DieQueue, Gc, HostQueue, Transfer};
    let two_chips = |config: Config| changed(config, |c| c.device.chips_per_channel = 2);
    let cache = |config: Config| {
        changed(config, |c| {
            c.device.cache_register = true;
            c.scheduler.pipeline = true;
        })
    };
    let planes = |multiplane| {
        changed(one_die(), |c| {
            c.device.planes_per_die = 2;
            c.ftl.pool = PoolScope::Plane;
            c.device.multiplane = multiplane;
        })
    };
    // Eight blocks of four pages, sixteen pages exported: after the fill four blocks are free. The fifth write opens a second block, which
    // leaves two: fewer than three, so a job starts. Block 0 has lost pages 0 to 2; page 3 is moved.
    let collecting = |copyback| {
        changed(filled(one_die()), |c| {
            c.device.copyback = copyback;
            c.ftl.frontier = Frontier::Shared;
            c.gc.soft = 3.0;
        })
    };
    let five_writes = || [0, 1, 2, 4, 5].iter().enumerate().map(|(i, &page)| write(1_000_000 * i as u64, page)).collect::<Vec<_>>();
    let write_parts = || (302_400, vec![(Transfer, 102_400), (Array, 200_000)]);
    let write_stages = |starts: &[u64]| {
        let stages = |&at: &u64| [bus(0, at, at + 102_400), array(0, at + 102_400, at + 302_400)];
        starts.iter().flat_map(stages).collect::<Vec<_>>()
    };
    vec![
        Case {
            name: "one read",
            config: filled(one_die()),
            requests: vec![read(1_000, 5)],
            responses: vec![(127_400, vec![(Array, 25_000), (Transfer, 102_400)])],
            stages: vec![array(0, 1_000, 26_000), bus(0, 26_000, 128_400)],
        },
        Case {
            name: "one write",
            config: one_die(),
            requests: vec![write(0, 5)],
            responses: vec![write_parts()],
            stages: write_stages(&[0]),
        },
        Case {
            name: "spare bytes and the command overhead are part of each transfer: (4096 + 224) x 6 ns + 80 ns = 26 us (bux2011)",
            config: changed(one_die(), |c| {
                c.device.spare_bytes = 224;
                c.device.transfer_ps_per_byte = 6_000;
                c.device.command_ns = 80;
            }),
            requests: vec![write(0, 0)],
            responses: vec![(226_000, vec![(Transfer, 26_000), (Array, 200_000)])],
            stages: vec![bus(0, 0, 26_000), array(0, 26_000, 226_000)],
        },
        Case {
            name: "two reads on one die wait for each other: without a cache register the transfer holds the die",
            config: filled(one_die()),
            requests: vec![read(0, 0), read(0, 1)],
            responses: vec![
                (127_400, vec![(Array, 25_000), (Transfer, 102_400)]),
                (254_800, vec![(DieQueue, 127_400), (Array, 25_000), (Transfer, 102_400)]),
            ],
            stages: vec![array(0, 0, 25_000), bus(0, 25_000, 127_400), array(0, 127_400, 152_400), bus(0, 152_400, 254_800)],
        },
        Case {
            name: "two reads on one channel from two chips: the arrays overlap, the transfers do not",
            config: two_chips(filled(one_die())),
            requests: vec![read(0, 0), read(0, 1)],
            responses: vec![
                (127_400, vec![(Array, 25_000), (Transfer, 102_400)]),
                (229_800, vec![(Array, 25_000), (BusQueue, 102_400), (Transfer, 102_400)]),
            ],
            stages: vec![array(0, 0, 25_000), array(1, 0, 25_000), bus(0, 25_000, 127_400), bus(0, 127_400, 229_800)],
        },
        Case {
            name: "a write that waits for the bus does not hold its die: a read that comes first in the order uses it",
            config: changed(two_chips(filled(one_die())), |c| c.scheduler.order = Order::FrFcfs),
            requests: vec![write(0, 0), write(10_000, 1), read(50_000, 3)],
            responses: vec![
                write_parts(),
                // 92.4 us for the bus (at first in its line), then behind the read's transfer: 194.8 us in all.
                (497_200, vec![(BusQueue, 40_000), (DieQueue, 154_800), (Transfer, 102_400), (Array, 200_000)]),
                (154_800, vec![(Array, 25_000), (BusQueue, 27_400), (Transfer, 102_400)]),
            ],
            stages: vec![
                bus(0, 0, 102_400),
                array(1, 50_000, 75_000),
                array(0, 102_400, 302_400),
                bus(0, 102_400, 204_800),
                bus(0, 204_800, 307_200),
                array(1, 307_200, 507_200),
            ],
        },
        Case {
            name: "multi-plane program: both transfers, then one program",
            config: planes(true),
            requests: vec![pages(write(0, 0), 2)],
            responses: vec![(404_800, vec![(BusQueue, 102_400), (Transfer, 102_400), (Array, 200_000)])],
            stages: vec![bus(0, 0, 102_400), bus(0, 102_400, 204_800), array(0, 204_800, 404_800)],
        },
        Case {
            name: "the same without the ability",
            config: planes(false),
            requests: vec![pages(write(0, 0), 2)],
            responses: vec![(604_800, vec![(DieQueue, 302_400), (Transfer, 102_400), (Array, 200_000)])],
            stages: write_stages(&[0, 302_400]),
        },
        Case {
            name: "multi-plane read: one array time, the transfers one after the other",
            config: filled(planes(true)),
            requests: vec![pages(read(0, 0), 2)],
            responses: vec![(229_800, vec![(Array, 25_000), (BusQueue, 102_400), (Transfer, 102_400)])],
            stages: vec![array(0, 0, 25_000), bus(0, 25_000, 127_400), bus(0, 127_400, 229_800)],
        },
        Case {
            // The first write leaves the first plane at its second page, the second plane at its first.
            name: "multi-plane programs need one page offset: until both planes are at the same one they follow each other",
            config: changed(planes(true), |c| c.device.multiplane_aligned = true),
            requests: vec![write(0, 0), pages(write(1_000_000, 0), 2), write(2_000_000, 1), pages(write(3_000_000, 0), 2)],
            responses: vec![
                write_parts(),
                (604_800, vec![(DieQueue, 302_400), (Transfer, 102_400), (Array, 200_000)]),
                write_parts(),
                (404_800, vec![(BusQueue, 102_400), (Transfer, 102_400), (Array, 200_000)]),
            ],
            stages: [
                write_stages(&[0, 1_000_000, 1_302_400, 2_000_000]),
                vec![bus(0, 3_000_000, 3_102_400), bus(0, 3_102_400, 3_204_800), array(0, 3_204_800, 3_404_800)],
            ]
            .concat(),
        },
        Case {
            name: "cache program: the second transfer overlaps the first program",
            config: cache(one_die()),
            requests: vec![write(0, 0), write(0, 1)],
            responses: vec![
                write_parts(),
                // Until 102.4 us the first holds the die; from 204.8 to 302.4 us the data wait for its program to end.
                (502_400, vec![(DieQueue, 102_400 + 97_600), (Transfer, 102_400), (Array, 200_000)]),
            ],
            stages: vec![bus(0, 0, 102_400), bus(0, 102_400, 204_800), array(0, 102_400, 302_400), array(0, 302_400, 502_400)],
        },
        Case {
            name: "cache read: the second array read overlaps the first transfer",
            config: cache(filled(one_die())),
            requests: vec![read(0, 0), read(0, 1)],
            responses: vec![
                (127_400, vec![(Array, 25_000), (Transfer, 102_400)]),
                (229_800, vec![(DieQueue, 25_000), (Array, 25_000), (BusQueue, 77_400), (Transfer, 102_400)]),
            ],
            stages: vec![array(0, 0, 25_000), array(0, 25_000, 50_000), bus(0, 25_000, 127_400), bus(0, 127_400, 229_800)],
        },
        Case {
            name: "no overlap of different kinds: a write waits for the read's transfer",
            config: cache(filled(one_die())),
            requests: vec![read(0, 0), write(0, 1)],
            responses: vec![
                (127_400, vec![(Array, 25_000), (Transfer, 102_400)]),
                (429_800, vec![(DieQueue, 127_400), (Transfer, 102_400), (Array, 200_000)]),
            ],
            stages: [vec![array(0, 0, 25_000), bus(0, 25_000, 127_400)], write_stages(&[127_400])].concat(),
        },
        Case {
            name: "a partial write reads its page first",
            config: filled(one_die()),
            requests: vec![Request { length: 512, ..write(0, 0) }],
            responses: vec![(429_800, vec![(Array, 225_000), (Transfer, 204_800)])],
            stages: [vec![array(0, 0, 25_000), bus(0, 25_000, 127_400)], write_stages(&[127_400])].concat(),
        },
        Case {
            name: "a read of a page that is being written is served from the controller's buffer; one after it from flash",
            config: one_die(),
            requests: vec![write(0, 0), read(100_000, 0), read(302_400, 0)],
            responses: vec![write_parts(), (0, vec![]), (127_400, vec![(Array, 25_000), (Transfer, 102_400)])],
            stages: [write_stages(&[0]), vec![array(0, 302_400, 327_400), bus(0, 327_400, 429_800)]].concat(),
        },
        Case {
            name: "two writes to one page never pass each other, also on two chips by load",
            config: changed(two_chips(one_die()), |c| c.ftl.allocation = ssdlab::config::Allocation::Dynamic),
            requests: vec![write(0, 0), write(1_000, 0)],
            responses: vec![write_parts(), (603_800, vec![(DieQueue, 301_400), (Transfer, 102_400), (Array, 200_000)])],
            stages: vec![bus(0, 0, 102_400), array(0, 102_400, 302_400), bus(0, 302_400, 404_800), array(1, 404_800, 604_800)],
        },
        Case {
            name: "a full chip queue holds a request in the host queue",
            config: changed(filled(one_die()), |c| c.scheduler.read_queue = 1),
            requests: vec![read(0, 0), read(0, 1), read(0, 2)],
            responses: vec![
                (127_400, vec![(Array, 25_000), (Transfer, 102_400)]),
                (254_800, vec![(DieQueue, 127_400), (Array, 25_000), (Transfer, 102_400)]),
                (382_200, vec![(HostQueue, 127_400), (DieQueue, 127_400), (Array, 25_000), (Transfer, 102_400)]),
            ],
            stages: [0, 127_400, 254_800].iter().flat_map(|&at| [array(0, at, at + 25_000), bus(0, at + 25_000, at + 127_400)]).collect(),
        },
        Case {
            name: "a job of one page: read, out, in, program, erase; a read inside its scope waits for its end",
            config: collecting(false),
            requests: [five_writes(), vec![read(4_100_000, 9)]].concat(),
            responses: [
                vec![write_parts(); 5],
                // The job starts at 4 ms and excludes from then on, also while the fifth write still runs (GC pending).
                vec![(2_259_600, vec![(Gc, 2_132_200), (Array, 25_000), (Transfer, 102_400)])],
            ]
            .concat(),
            stages: [
                write_stages(&[0, 1_000_000, 2_000_000, 3_000_000, 4_000_000]),
                vec![
                    array(0, 4_302_400, 4_327_400),
                    bus(0, 4_327_400, 4_429_800),
                    bus(0, 4_429_800, 4_532_200),
                    array(0, 4_532_200, 4_732_200),
                    array(0, 4_732_200, 6_232_200),
                    array(0, 6_232_200, 6_257_200),
                    bus(0, 6_257_200, 6_359_600),
                ],
            ]
            .concat(),
        },
        Case {
            name: "the same by copyback: read and program, nothing on the bus",
            config: collecting(true),
            requests: [five_writes(), vec![read(4_100_000, 9)]].concat(),
            responses: [vec![write_parts(); 5], vec![(2_054_800, vec![(Gc, 1_927_400), (Array, 25_000), (Transfer, 102_400)])]].concat(),
            stages: [
                write_stages(&[0, 1_000_000, 2_000_000, 3_000_000, 4_000_000]),
                vec![
                    array(0, 4_302_400, 4_527_400),
                    array(0, 4_527_400, 6_027_400),
                    array(0, 6_027_400, 6_052_400),
                    bus(0, 6_052_400, 6_154_800),
                ],
            ]
            .concat(),
        },
        Case {
            // With separate frontiers the page moved opens a block of its own, so that after the erase there are again only two free blocks:
            // another job follows, but not before the read that waits.
            name: "between two jobs the host operations that wait go first",
            config: changed(collecting(true), |c| c.ftl.frontier = Frontier::Separate),
            requests: [five_writes(), vec![read(4_100_000, 9), read(6_200_000, 10)]].concat(),
            responses: [
                vec![write_parts(); 5],
                vec![(2_054_800, vec![(Gc, 1_927_400), (Array, 25_000), (Transfer, 102_400)])],
                // The second job moves pages 6 and 7 and erases: it begins at 6,154,800 and takes 2 x 225,000 + 1,500,000.
                vec![(2_032_200, vec![(Gc, 1_904_800), (Array, 25_000), (Transfer, 102_400)])],
            ]
            .concat(),
            stages: [
                write_stages(&[0, 1_000_000, 2_000_000, 3_000_000, 4_000_000]),
                vec![
                    array(0, 4_302_400, 4_527_400),
                    array(0, 4_527_400, 6_027_400),
                    array(0, 6_027_400, 6_052_400),
                    bus(0, 6_052_400, 6_154_800),
                    array(0, 6_154_800, 6_379_800),
                    array(0, 6_379_800, 6_604_800),
                    array(0, 6_604_800, 8_104_800),
                    array(0, 8_104_800, 8_129_800),
                    bus(0, 8_129_800, 8_232_200),
                ],
            ]
            .concat(),
        },
    ]
}

#[test]
fn timelines() {
    play_all(&cases());
}

/// Plays cases and compares, once with what nothing can interrupt as one event, and once with every stage as one.
pub fn play_all(cases: &[Case]) {
    for case in cases {
        for every_stage in [false, true] {
            play(case, every_stage);
        }
    }
}

/// Plays a case and compares. Returns the completions, by request.
pub fn play(case: &Case, every_stage: bool) -> Vec<Completion> {
    play_with(case, every_stage, simulation(&case.config)).0
}

/// Plays a case with a simulation of its own, and compares. Returns the completions, by request, and the counters.
pub fn play_with(case: &Case, every_stage: bool, mut simulation: Simulation) -> (Vec<Completion>, Counters) {
    simulation.ssd_mut().keep_trace();
    if every_stage {
        simulation.ssd_mut().play_every_stage();
    }
    for request in &case.requests {
        simulation.submit(*request).unwrap();
    }
    simulation.run_to_idle().unwrap_or_else(|error| panic!("{}: {error}", case.name));
    // What began but has not ended is not compared: it is seen in one piece or not at all.
    let idle_at = simulation.now();
    let mut completions = simulation.take_completions();
    completions.sort_by_key(|completion| completion.index);
    for (completion, (response, parts)) in completions.iter().zip(&case.responses) {
        let taken = completion.completed_ns - completion.arrival_ns;
        assert_eq!(taken, *response, "{}: response of request {}: {:?}", case.name, completion.index, completion.parts());
        let mut expected = [0; Part::COUNT];
        parts.iter().for_each(|&(part, ns)| expected[part as usize] += ns);
        assert_eq!(completion.parts().0, expected, "{}: parts of request {}", case.name, completion.index);
    }
    assert_eq!(completions.len(), case.responses.len(), "{}", case.name);
    let mut stages: Vec<Stage> =
        simulation.ssd().trace().unwrap().intervals.iter().map(|interval| (interval.resource, interval.start, interval.end)).collect();
    stages.retain(|&(_, _, end)| end <= idle_at);
    let mut expected = case.stages.clone();
    stages.sort_by_key(|&(resource, start, _)| (start, resource));
    expected.sort_by_key(|&(resource, start, _)| (start, resource));
    assert_eq!(stages, expected, "{}: stages (every stage played: {every_stage})", case.name);
    let counters = simulation.ssd().counters();
    simulation.finish().unwrap();
    (completions, counters)
}

/// ae2022 section 3: a block of 128 pages of which 30 % are valid costs about 9.8 ms of copies and 0.7 ms of erase.
#[test]
fn a_job_of_30_percent_valid_pages_on_the_ae2022_drive() {
    let mut config = Layers { device: Some("ae2022".into()), schemes: vec!["npgc".into()], ..Layers::default() }.build().unwrap();
    config.device.channels = 1;
    config.device.planes_per_die = 1;
    config.device.blocks_per_plane = 16;
    config.device.overprovisioning = 0.5;
    config.gc.trigger = Trigger::Soft;
    config.gc.soft = 7.0;
    config.ftl.precondition.kind = PreconditionKind::Fill;
    for (valid, moves_ns) in [(38, 9_690_000), (39, 9_945_000)] {
        let mut simulation = simulation(&config);
        simulation.ssd_mut().keep_trace();
        // 128 writes fill a block and leave 7 free; the next opens another, 6 are left, and the first block is collected.
        let overwritten = 128 - valid;
        for i in 0..129 {
            let page = if i < overwritten { i } else { 256 + i };
            simulation.submit(write(1_000_000 * i, page)).unwrap();
        }
        simulation.run_until(128_000_000 + 332_400 + moves_ns + 700_000).unwrap();
        let gc: Vec<_> = simulation.ssd().trace().unwrap().intervals.iter().filter(|interval| !interval.host).cloned().collect();
        let total = |kind| gc.iter().filter(|i| i.kind == kind).map(|i| i.end - i.start).sum::<u64>();
        assert_eq!(total(OpKind::CopybackMove), moves_ns);
        assert_eq!(total(OpKind::Erase), 700_000);
        // From the end of the write that was running to the end of the erase there is no gap.
        assert_eq!((gc[0].start, gc.last().unwrap().end), (128_332_400, 128_332_400 + moves_ns + 700_000));
        assert_eq!(simulation.ssd().counters().jobs, 1);
    }
}

/// Writes without an address rule go to the first free die, and there to one plane after the other.
#[test]
fn the_planes_of_a_die_take_turns_where_writes_go_by_load() {
    let config = changed(one_die(), |c| {
        c.device.planes_per_die = 3;
        c.ftl.pool = PoolScope::Plane;
        c.ftl.allocation = ssdlab::config::Allocation::Dynamic;
    });
    let mut simulation = simulation(&config);
    (0..5).for_each(|page| _ = simulation.submit(write(1_000_000 * page, page)).unwrap());
    simulation.run_to_idle().unwrap();
    let ftl = simulation.ssd().ftl();
    let planes = (0..5).map(|page| ftl.geometry().pool_of_page(ftl.lookup(Lpn(page)).unwrap()).0);
    assert_eq!(planes.collect::<Vec<_>>(), [0, 1, 2, 0, 1]);
    simulation.finish().unwrap();
}

/// A chip that does one thing at a time is busy while any of its dies is, not half as long.
#[test]
fn a_chip_whose_dies_take_turns_is_busy_for_the_time_of_all_of_them() {
    // Side by side the last read waits on its die for the bus: it holds it for 25,000 + 2 x 102,400.
    for (interleave, busy, end) in [(false, 3 * 127_400, 1_254_800), (true, (127_400 + 127_400 + 229_800) / 2, 1_229_800)] {
        let config = changed(filled(one_die()), |c| {
            c.device.dies_per_chip = 2;
            c.device.die_interleave = interleave;
        });
        let mut simulation = simulation(&config);
        // Pages 0 and 1 lie on dies 0 and 1. The first read is alone.
        for request in [read(0, 0), read(1_000_000, 0), read(1_000_000, 1)] {
            simulation.submit(request).unwrap();
        }
        let result = simulation.finish().unwrap();
        assert_eq!(result.simulated_ns, end);
        let share = result.utilisation.unwrap().chips[0];
        assert_eq!(share, f64::from(busy) / end as f64, "die_interleave = {interleave}");
    }
}
