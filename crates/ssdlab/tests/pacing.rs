//! Paced writes (`gc.pace`), worked by hand to the nanosecond. One die; a read takes 25 us, a program 200 us, a transfer 102.4 us, a page move
//! 429.8 us and an erase 1.5 ms. Blocks have four pages, of which a victim has two valid: each move earns one page of credit.

use crate::common::{one_die, plan, simulation};
use crate::timelines::{Case, Stage, array, bus, changed, filled, pages, play_all, read, write};
use ssdlab::config::{
    Address, Allocation, Buffer, Config, Drain, Frontier, Order, Pace, Placement, PoolScope, PreconditionKind, Priority, Scope, Trigger,
};
use ssdlab::request::{Request, RequestKind};
use ssdlab::simulation::{Control, Plan, Simulation, run};
use ssdlab::stats::{Part, RunResult};
use ssdlab::units::Lpn;

const MS: u64 = 1_000_000;
const US: u64 = 1_000;

/// Four of eight blocks are full, and four are free. The fifth write takes the second of these: fewer than three are left, and a job starts.
/// One page may be written ahead of it.
pub fn drive() -> Config {
    changed(filled(one_die()), |c| {
        c.ftl.frontier = Frontier::Shared;
        (c.gc.soft, c.gc.scope, c.gc.priority) = (3.0, Scope::None, Priority::Host);
        (c.gc.pace, c.gc.pace_window) = (Pace::Proportional, 0.0);
    })
}

fn buffered(protected: bool) -> Config {
    changed(drive(), |c| {
        c.buffer = Buffer {
            bytes: 8 * 4096,
            access_ns: US,
            protected,
            drain: Drain::Full,
            timeout_us: 0,
            reads_pass: true,
            bytes_per_us: 0,
            sort_units: 0,
        };
    })
}

type Response = (u64, Vec<(Part, u64)>);

/// After these pages 2 and 3 of block 0 are valid.
fn five_writes() -> Vec<Request> {
    [0, 1, 4, 8, 12].into_iter().zip(0..).map(|(page, ms)| write(ms * MS, page)).collect()
}

fn alone() -> Response {
    (302_400, vec![(Part::Transfer, 102_400), (Part::Array, 200_000)])
}

pub fn program(at: u64) -> Vec<Stage> {
    vec![bus(0, at, at + 102_400), array(0, at + 102_400, at + 302_400)]
}

pub fn flash_read(at: u64) -> Vec<Stage> {
    vec![array(0, at, at + 25_000), bus(0, at + 25_000, at + 127_400)]
}

pub fn page_move(at: u64) -> Vec<Stage> {
    let out = at + 25_000;
    vec![array(0, at, out), bus(0, out, out + 102_400), bus(0, out + 102_400, out + 204_800), array(0, out + 204_800, at + 429_800)]
}

pub fn erase(at: u64) -> Vec<Stage> {
    vec![array(0, at, at + 1_500_000)]
}

/// The five writes, then these, and a read at the end, when all else is over: a run ends with its last request.
pub fn requests(more: &[Request]) -> Vec<Request> {
    [&five_writes(), more, &[read(12 * MS, 3)]].concat()
}

fn responses(first: Response, more: &[Response]) -> Vec<Response> {
    let last = (127_400, vec![(Part::Array, 25_000), (Part::Transfer, 102_400)]);
    [&vec![first; 5], more, &[last]].concat()
}

/// The programs of the five writes, a page move from here on, two programs, another move and the erase of block 0; then a block with
/// `valid` valid pages is collected.
fn stages(job: u64, valid: u64) -> Vec<Stage> {
    let after = job + 429_800 + 604_800;
    let second = after + 429_800 + 1_500_000;
    [
        (0..5).flat_map(|ms| program(ms * MS)).collect(),
        page_move(job),
        program(job + 429_800),
        program(job + 732_200),
        page_move(after),
        erase(after + 429_800),
        (0..valid).flat_map(|page| page_move(second + page * 429_800)).collect(),
        erase(second + valid * 429_800),
        flash_read(12 * MS),
    ]
    .concat()
}

fn cases() -> Vec<Case> {
    use Part::{Array, DieQueue, Dram, Gc, Transfer};
    let two_writes = [write(4_010_000, 5), write(4_020_000, 9)];
    let served = [(Transfer, 102_400), (Array, 200_000)];
    let parts = |waits: &[(Part, u64)]| [waits, &served].concat();
    // The first has the page of credit. It waits for the program before it, and for the move that goes ahead of it.
    let first = (1_024_600, parts(&[(DieQueue, 292_400), (Gc, 429_800)]));
    // The second is let in when the move ends at 4.7322 ms, and has the first ahead of it.
    let second = (1_317_000, parts(&[(Part::Pace, 712_200), (DieQueue, 302_400)]));
    let trim = |request: Request| Request { kind: RequestKind::Trim, ..request };
    let flush = |at| Request { kind: RequestKind::Flush, length: 0, ..read(at, 0) };
    let in_buffer = (US, vec![(Dram, US)]);
    let let_in = (713_200, vec![(Part::Pace, 712_200), (Dram, US)]);
    // Both writes, then all moves and erases.
    let ahead_of_the_moves = [
        (0..5).flat_map(|ms| program(ms * MS)).collect(),
        program(4_302_400),
        program(4_604_800),
        page_move(4_907_200),
        page_move(5_337_000),
        erase(5_766_800),
        page_move(7_266_800),
        page_move(7_696_600),
        erase(8_126_400),
        flash_read(12 * MS),
    ]
    .concat();
    vec![
        Case {
            name: "a write without credit waits until a page move has earned it; the move goes first",
            config: drive(),
            requests: requests(&two_writes),
            responses: responses(alone(), &[first.clone(), second.clone()]),
            stages: stages(4_302_400, 2),
        },
        Case {
            name: "without pacing both writes go ahead of the move",
            config: changed(drive(), |c| (c.gc.pace, c.gc.pace_window) = (Pace::None, 0.4)),
            requests: requests(&two_writes),
            responses: responses(alone(), &[(594_800, parts(&[(DieQueue, 292_400)])), (887_200, parts(&[(DieQueue, 584_800)]))]),
            stages: ahead_of_the_moves.clone(),
        },
        Case {
            name: "credit for two pages lets both in",
            config: changed(drive(), |c| c.gc.pace_window = 2.0 / 12.0),
            requests: requests(&two_writes),
            responses: responses(alone(), &[(594_800, parts(&[(DieQueue, 292_400)])), (887_200, parts(&[(DieQueue, 584_800)]))]),
            stages: ahead_of_the_moves,
        },
        Case {
            // Of the trims the first passes. The second waits for the write, then for its program.
            name: "a read of a write that waits has its data when it comes in; flushes and trims of other pages pass",
            config: drive(),
            requests: requests(
                &[&two_writes[..], &[trim(write(4_022_000, 10)), read(4_025_000, 9), flush(4_026_000), trim(write(4_028_000, 9))]].concat(),
            ),
            responses: responses(
                alone(),
                &[
                    first.clone(),
                    second.clone(),
                    (0, vec![]),
                    (707_200, vec![(Part::Pace, 707_200)]),
                    (0, vec![]),
                    (1_309_000, vec![(Part::Pace, 704_200), (DieQueue, 604_800)]),
                ],
            ),
            // Page 11 is all that is left of block 2.
            stages: stages(4_302_400, 1),
        },
        Case {
            name: "a read of another page passes, and goes before the move",
            config: changed(drive(), |c| c.scheduler.order = Order::FrFcfs),
            requests: requests(&[&two_writes[..], &[read(4_025_000, 3)]].concat()),
            responses: responses(
                alone(),
                &[
                    (1_152_000, parts(&[(DieQueue, 419_800), (Gc, 429_800)])),
                    (1_444_400, parts(&[(Part::Pace, 839_600), (DieQueue, 302_400)])),
                    (404_800, vec![(DieQueue, 277_400), (Array, 25_000), (Transfer, 102_400)]),
                ],
            ),
            stages: {
                let mut stages = stages(4_429_800, 2);
                stages.extend(flash_read(4_302_400));
                stages.sort_by_key(|&(_, start, _)| start);
                stages
            },
        },
        Case {
            name: "nor does a trim hold it up that waits for the write that waits",
            config: changed(drive(), |c| c.scheduler.order = Order::FrFcfs),
            requests: requests(&[&two_writes[..], &[trim(write(4_022_000, 9)), read(4_025_000, 3)]].concat()),
            responses: responses(
                alone(),
                &[
                    (1_152_000, parts(&[(DieQueue, 419_800), (Gc, 429_800)])),
                    (1_444_400, parts(&[(Part::Pace, 839_600), (DieQueue, 302_400)])),
                    (1_442_400, vec![(Part::Pace, 837_600), (DieQueue, 604_800)]),
                    (404_800, vec![(DieQueue, 277_400), (Array, 25_000), (Transfer, 102_400)]),
                ],
            ),
            stages: {
                let mut stages = stages(4_429_800, 2);
                stages.extend(flash_read(4_302_400));
                stages.sort_by_key(|&(_, start, _)| start);
                stages
            },
        },
        Case {
            // Pages 5 and 6: block 1 has one valid page left.
            name: "a command of two pages comes in when there is credit for both",
            config: drive(),
            requests: requests(&[pages(write(4_010_000, 5), 2)]),
            responses: responses(alone(), &[(1_327_000, parts(&[(Part::Pace, 722_200), (DieQueue, 302_400)]))]),
            stages: stages(4_302_400, 1),
        },
        Case {
            // Pages 0 to 3 are written: block 0 has no valid page, and its erase earns four pages.
            name: "a victim without valid pages earns all at its erase",
            config: drive(),
            requests: [0, 1, 2, 3, 4]
                .into_iter()
                .zip(0..)
                .map(|(page, ms)| write(ms * MS, page))
                .chain([write(4_010_000, 5), write(4_020_000, 6), read(12 * MS, 3)])
                .collect(),
            responses: responses(
                alone(),
                &[
                    (2_094_800, parts(&[(DieQueue, 292_400), (Gc, 1_500_000)])),
                    (2_387_200, parts(&[(Part::Pace, 1_782_400), (DieQueue, 302_400)])),
                ],
            ),
            stages: [
                (0..5).flat_map(|ms| program(ms * MS)).collect(),
                erase(4_302_400),
                program(5_802_400),
                program(6_104_800),
                flash_read(12 * MS),
            ]
            .concat(),
        },
        Case {
            name: "in front of a write buffer",
            config: buffered(true),
            requests: requests(&two_writes),
            responses: responses(in_buffer.clone(), &[in_buffer.clone(), let_in.clone()]),
            stages: stages(4_302_400, 2),
        },
        Case {
            name: "a flush waits for a write that waits, and then until all is in flash",
            config: buffered(false),
            requests: requests(&[&two_writes[..], &[flush(4_030_000)]].concat()),
            responses: responses(in_buffer.clone(), &[in_buffer, let_in, (1_307_000, vec![(Part::Pace, 702_200), (DieQueue, 604_800)])]),
            stages: stages(4_302_400, 2),
        },
    ]
}

/// Of eight blocks of four pages four are full. Nine writes fill two more and begin a third, the last but one: of T_soft = 2 one is left, and the job
/// of block 0 starts, which has two pages to move and frees two. The tenth write leaves two pages in the open block and, for host and job, the four
/// of the reserve: four but for the two moves, where two and the window of four would owe nothing. So it owes half a page. The eleventh waits for a
/// move, which earns one, and goes before the next: half a page is left, and it owes as much, since three pages are left and one is due.
#[test]
fn a_write_owes_more_the_less_room_its_pool_has() {
    let writes = [0, 1, 4, 8, 12, 5, 9, 13, 0].into_iter().zip(0..).map(|(page, ms)| write(ms * MS, page));
    let later = [write(8_010_000, 1), write(8_020_000, 4), read(14 * MS, 3)];
    let served = [(Part::Transfer, 102_400), (Part::Array, 200_000)];
    let tenth = (594_800, [&[(Part::DieQueue, 292_400)][..], &served].concat());
    let eleventh = (1_317_000, [&[(Part::DieQueue, 584_800), (Part::Gc, 429_800)][..], &served].concat());
    let last = (127_400, vec![(Part::Array, 25_000), (Part::Transfer, 102_400)]);
    let case = Case {
        name: "half a page is owed",
        config: changed(drive(), |c| (c.gc.pace, c.gc.pace_window, c.gc.soft) = (Pace::Room, 1.0, 2.0)),
        requests: writes.chain(later).collect(),
        responses: [vec![alone(); 9], vec![tenth, eleventh, last]].concat(),
        stages: [
            (0..9).flat_map(|ms| program(ms * MS)).collect(),
            program(8_302_400),
            page_move(8_604_800),
            program(9_034_600),
            page_move(9_337_000),
            erase(9_766_800),
            page_move(11_266_800),
            erase(11_696_600),
            flash_read(14 * MS),
        ]
        .concat(),
    };
    let mut simulation = simulation(&case.config);
    case.requests.iter().for_each(|&request| _ = simulation.submit(request).unwrap());
    play_all(&[case]);
    assert_eq!(simulation.finish().unwrap().counters["steps_owed"], 1);
}

#[test]
fn timelines() {
    play_all(&cases());
}

/// The case of the first timeline: of writes outstanding none completes between 4.3024 ms and 5.0346 ms, and one has waited for credit.
#[test]
fn a_write_that_waits_and_the_longest_stall_are_in_the_result() {
    let found = |config| {
        let mut simulation = Simulation::new(&plan(config), &Control::default()).unwrap();
        for request in requests(&[write(4_010_000, 5), write(4_020_000, 9)]) {
            simulation.submit(request).unwrap();
        }
        let result = simulation.finish().unwrap();
        (result.counters["paced_writes"], result.write_stall_ns_max)
    };
    assert_eq!(found(drive()), (1, Some(732_200)));
    // With a buffer the first is complete at once, and the second has all of the 713.2 us.
    assert_eq!(found(buffered(true)), (1, Some(713_200)));
}

/// A full drive of four dies, each on its channel, that is written to at random without end.
fn saturated(change: impl FnOnce(&mut Config)) -> RunResult {
    let config = changed(one_die(), |c| {
        (c.device.channels, c.device.blocks_per_plane, c.device.pages_per_block) = (4, 256, 32);
        c.device.overprovisioning = 0.25;
        c.ftl.precondition.kind = PreconditionKind::Steady;
        c.ftl.frontier = Frontier::Separate;
        (c.gc.soft, c.gc.scope, c.gc.priority) = (4.0, Scope::None, Priority::Host);
        (c.workload.read_share, c.workload.request_kb, c.workload.queue_depth) = (0.0, 4.0, 16);
        change(c);
    });
    run(&Plan { requests: Some(40_000), ..Plan::new(config, 1) }, &Control::default()).expect("it runs")
}

fn pace(config: &mut Config) {
    config.gc.pace = Pace::Proportional;
}

/// Pacing by room gives more writes a second than credit, and shorter stalls than no pacing, also with hot and cold writes apart, of which one has
/// room and the other none. With several pools in a die, of which one may owe while another has the step that was ready first, half as long.
#[test]
fn pacing_by_room_knows_several_pools_and_streams() {
    let planes = |c: &mut Config| (c.device.channels, c.device.planes_per_die) = (1, 4);
    let streams = |c: &mut Config| {
        (c.workload.address, c.workload.hot_share, c.workload.hot_access) = (Address::HotCold, 0.1, 0.9);
        c.ftl.placement = Placement::HotCold;
    };
    for (change, part) in [(&planes as &dyn Fn(&mut Config), 2), (&streams, 1)] {
        let [room, credit, free] = [Pace::Room, Pace::Proportional, Pace::None].map(|pace| {
            saturated(|c| {
                change(c);
                (c.gc.pace, c.buffer.bytes, c.device.overprovisioning) = (pace, 64 * 4096, 0.28);
            })
        });
        let [by_room, unpaced] = [&room, &free].map(|result| result.write_stall_ns_max.expect("there are writes"));
        let [fast, slow] = [&room, &credit].map(|result| result.iops.expect("a run has a rate"));
        println!("by room {by_room} ns and {fast} a second, by credit {slow}, without pacing {unpaced} ns");
        assert!(part * by_room < unpaced && fast > slow, "{by_room} ns and {fast} a second, by credit {slow}, without pacing {unpaced} ns");
        assert!(room.counters["steps_owed"] > 1_000, "{:?}", room.counters);
    }
}

/// The longest that one write may have to wait: for the operation in service on the die, the erase, the moves that earn a page, a step that goes
/// ahead of the program, and the program. The block with the fewest valid pages has at most the mean of the blocks that are full: 192
/// blocks of data lie in at least 250, so 24 of 32 pages, and three moves earn one.
#[test]
fn no_stall_is_longer_than_it_must_be() {
    let (program, page_move, erase) = (302_400, 429_800, 1_500_000);
    let bound = program + erase + 3 * page_move + page_move + program;
    let (with, without) = (saturated(pace), saturated(|_| {}));
    let [paced, free] = [&with, &without].map(|result| result.write_stall_ns_max.expect("there are writes"));
    println!("with {paced} ns, without {free} ns, bound {bound} ns");
    assert!(paced <= bound, "{paced} ns, and not {bound} ns");
    // With a buffer a page may owe eight, which 24 moves earn.
    let windows = [(0, 0.1), (0, 1.0), (16, 0.4), (64, 0.4), (512, 0.1), (512, 1.0)];
    for (buffer, window) in windows {
        let bound = if buffer > 0 { bound + 21 * page_move } else { bound };
        let result = saturated(|c| (c.gc.pace, c.gc.pace_window, c.buffer.bytes) = (Pace::Room, window, buffer * 4096));
        let (stall, fast) = (result.write_stall_ns_max.expect("there are writes"), without.iops.expect("a run has a rate"));
        println!("by room, {buffer} pages of buffer: {stall} ns, {:?} writes a second, {:?}", result.iops, result.counters["steps_owed"]);
        assert!(stall <= bound, "{stall} ns by room with {buffer} pages of buffer, and not {bound} ns");
        assert!(result.iops.expect("a run has a rate") > 0.95 * fast && result.counters["steps_owed"] > 1_000, "{:?}", result.counters);
    }
    assert!(free > bound, "{free} ns without pacing");
    let [fast, slow] = [&without, &with].map(|result| result.iops.expect("a run has a rate"));
    assert!(slow > 0.95 * fast, "{slow} writes a second, and {fast} without pacing");
    assert!(with.counters["paced_writes"] > 1_000, "{:?}", with.counters);
}

/// Of 32 and more writes outstanding those of one pool that came in while its account was full take of its window when it becomes short: else the
/// pool would run dry, and all of them wait for the rest of a job. The bound is that of above.
#[test]
fn writes_that_came_in_before_their_pool_was_short_are_paced_too() {
    for depth in [32, 64] {
        let result = saturated(|c| {
            pace(c);
            c.workload.queue_depth = depth;
        });
        let stall = result.write_stall_ns_max.expect("there are writes");
        println!("{depth} outstanding: {stall} ns");
        assert!(stall <= 3_824_000, "{depth} outstanding: {stall} ns");
    }
}

/// Writes that came in are counted until they have a page in flash, also where a page move carries them.
#[test]
fn what_has_come_in_is_counted_until_it_is_placed() {
    for (config, waiting) in [(drive(), 1), (changed(drive(), |c| c.gc.merge = true), 1), (buffered(true), 0)] {
        let mut simulation = simulation(&config);
        // Page 5 waits for the program of page 12 at 4.011 ms. Pages 2 and 3 are those of the first job.
        let more = [write(4_010_000, 5), write(4_020_000, 2), write(4_030_000, 3), pages(write(4_040_000, 4), 3)];
        requests(&more).into_iter().for_each(|request| _ = simulation.submit(request).unwrap());
        simulation.run_until(4_011_000).unwrap();
        assert_eq!(simulation.ssd().paced_units(), waiting);
        simulation.run_to_idle().unwrap();
        assert_eq!(simulation.ssd().paced_units(), 0);
    }
}

/// Each write of a unit is a program of its own here, of which three quarters are padding. That takes credit too: else four times as much would
/// be let in as collection frees, and pools would run dry.
#[test]
fn padding_is_paced_too() {
    let units = |c: &mut Config| {
        c.ftl.map_unit_bytes = Some(1024);
        c.workload.request_kb = 1.0;
        c.device.overprovisioning = 0.4;
    };
    let [with, without] = [pace, |_: &mut Config| {}].map(|pace| {
        saturated(|c| {
            units(c);
            pace(c);
        })
    });
    let [paced, free] = [&with, &without].map(|result| result.write_stall_ns_max.expect("there are writes"));
    println!("with {paced} ns, without {free} ns");
    assert!(with.counters["padded_units"] > 3 * 40_000 && with.counters["paced_writes"] > 1_000, "{:?}", with.counters);
    assert!(2 * paced < free, "{paced} ns, and {free} ns without pacing");
}

/// Between two jobs, host operations that wait go first: of those that wait for credit none comes in for that. Jobs that advance with requests
/// advance on all dies while writes wait for credit of one, else one die after the other would collect. The bound is that of above.
#[test]
fn stalls_are_as_short_behind_barriers_and_where_jobs_wait_for_requests() {
    type Change = fn(&mut Config);
    let modes: [(&str, Change); 3] = [
        ("blocks", |c| (c.gc.scope, c.gc.priority) = (Scope::Block, Priority::Fifo)),
        ("with requests", |c| c.gc.advance = ssdlab::config::Advance::WithRequests),
        ("in turns", |c| c.gc.advance = ssdlab::config::Advance::InTurns),
    ];
    for (name, mode) in modes {
        let [with, without] = [pace, |_: &mut Config| {}].map(|pace| {
            saturated(|c| {
                mode(c);
                pace(c);
            })
        });
        let [paced, free] = [&with, &without].map(|result| result.write_stall_ns_max.expect("there are writes"));
        let [slow, fast] = [&with, &without].map(|result| result.iops.expect("a run has a rate"));
        println!("{name}: with {paced} ns, without {free} ns; {slow} writes a second, and {fast}");
        assert!(paced <= 3_824_000 && free > 3_824_000, "{name}: {paced} ns, and {free} ns without pacing");
        assert!(slow > 0.95 * fast, "{name}: {slow} writes a second, and {fast} without pacing");
    }
}

/// Writes that are paced all end, whatever else decides about collection.
#[test]
fn paced_writes_end_in_every_mode() {
    type Change = fn(&mut Config);
    let modes: [(&str, Change); 13] = [
        ("dynamic allocation", |c| c.ftl.allocation = Allocation::Dynamic),
        ("pools of dies", |c| (c.ftl.pool, c.device.planes_per_die) = (PoolScope::Die, 2)),
        ("several planes", |c| c.device.planes_per_die = 2),
        ("idle time", |c| c.gc.trigger = Trigger::Idle),
        ("invalid share", |c| c.gc.trigger = Trigger::InvalidShare),
        ("with requests", |c| c.gc.advance = ssdlab::config::Advance::WithRequests),
        ("in turns", |c| c.gc.advance = ssdlab::config::Advance::InTurns),
        ("in turns, one die of a chip at a time", |c| {
            c.gc.advance = ssdlab::config::Advance::InTurns;
            (c.device.channels, c.device.dies_per_chip, c.device.die_interleave) = (2, 2, false);
        }),
        ("writes set it off", |c| c.gc.begin = ssdlab::config::Begin::Write),
        ("chips", |c| c.gc.scope = Scope::Chip),
        ("blocks", |c| (c.gc.scope, c.gc.priority) = (Scope::Block, Priority::Fifo)),
        ("T_hard", |c| c.gc.hard = 0.5),
        ("suspended for the host", |c| {
            c.gc.suspend = vec![ssdlab::config::Suspendable::Program, ssdlab::config::Suspendable::Erase];
            c.device.page_registers = 2;
        }),
    ];
    for (name, mode) in modes {
        let change = |c: &mut Config| {
            pace(c);
            c.gc.pace_window = 0.0;
            mode(c);
        };
        let result = saturated(change);
        println!("{name}: {:?} paced, stall {:?} ns", result.counters.get("paced_writes"), result.write_stall_ns_max);
        assert_eq!(result.requests.write, 40_000, "{name}");
        assert!(result.counters["paced_writes"] > 0, "{name} paces no write");
    }
}

/// A write that begins to wait for credit has the steps of jobs that earn it go before writes, so that something may begin: once, until it waits
/// for another account.
#[test]
fn something_may_begin_when_a_write_begins_to_wait_for_credit() {
    let mut config = drive();
    config.device.channels = 2;
    let mut simulation = simulation(&config);
    let ssd = simulation.ssd_mut();
    let pools = [0, 1, 2].map(|page| ssd.ftl().geometry().static_pool(Lpn(page)));
    assert!(pools[0] != pools[1] && pools[0] == pools[2], "{pools:?}");
    let begins = [Some(0), Some(2), Some(1), Some(1), None, None, Some(1)].map(|page| ssd.awaits_credit(page.map(Lpn)));
    assert_eq!(begins, [true, false, true, false, false, false, true]);
}
