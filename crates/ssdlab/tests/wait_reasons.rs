//! What a page waits for, worked by hand to the nanosecond, where several things hold it at once: each case has two reasons to choose from,
//! and they differ in what they count as. Flash as in `timelines.rs`; a page move by copyback takes 225,000 ns.

use crate::common::one_die;
use crate::common::pages::{read, write};
use crate::timelines::{Case, array, bus, changed, filled, play};
use ssdlab::blocked::Blocked;
use ssdlab::config::{Allocation, Config, Frontier, PoolScope, Priority, Scope};
use ssdlab::request::Request;
use ssdlab::stats::Part::{Array, BusQueue, DieQueue, Gc, Transfer};

/// A case, and for which reason each request waited longest.
type Reasons = (Case, Vec<Option<Blocked>>);

/// Two pools, to which pages belong in turn. Eight blocks of four pages each, of which four are filled.
fn two_pools(change: impl FnOnce(&mut Config)) -> Config {
    let config = changed(filled(one_die()), |c| {
        c.device.copyback = true;
        c.ftl.frontier = Frontier::Shared;
        c.gc.soft = 3.0;
    });
    changed(config, change)
}

/// Five writes, of which the last takes a free block of the first pool at 4 ms and starts a job there: when the write has ended, at
/// 4,302,400, page 6 is moved until 4,527,400, and the erase ends at 6,027,400, if nothing comes between.
fn five_writes() -> Vec<Request> {
    [0, 2, 4, 8, 10].iter().enumerate().map(|(i, &page)| write(1_000_000 * i as u64, page)).collect()
}

type Response = (u64, Vec<(ssdlab::stats::Part, u64)>);

fn read_after(waits: Vec<(ssdlab::stats::Part, u64)>) -> Response {
    let waited: u64 = waits.iter().map(|(_, ns)| ns).sum();
    (waited + 127_400, [waits, vec![(Array, 25_000), (Transfer, 102_400)]].concat())
}

fn write_after(waits: Vec<(ssdlab::stats::Part, u64)>) -> Response {
    let waited: u64 = waits.iter().map(|(_, ns)| ns).sum();
    (waited + 302_400, [waits, vec![(Transfer, 102_400), (Array, 200_000)]].concat())
}

fn five_responses() -> Vec<Response> {
    vec![write_after(vec![]); 5]
}

fn read_stages(die: u32, at: u64) -> Vec<crate::timelines::Stage> {
    vec![array(die, at, at + 25_000), bus(0, at + 25_000, at + 127_400)]
}

fn write_stages(die: u32, at: u64) -> Vec<crate::timelines::Stage> {
    vec![bus(0, at, at + 102_400), array(die, at + 102_400, at + 302_400)]
}

fn five_stages() -> Vec<crate::timelines::Stage> {
    (0..5).flat_map(|i| write_stages(0, 1_000_000 * i)).collect()
}

fn job(moves_at: u64, erases_at: u64) -> Vec<crate::timelines::Stage> {
    vec![array(0, moves_at, moves_at + 225_000), array(0, erases_at, erases_at + 1_500_000)]
}

fn of_planes() -> Reasons {
    let case = Case {
        // Page 18 is on the plane that is collected: it waits for the job, whatever uses the die. Pages 19 and 21 are on the other: they wait
        // for what uses the die, first the fifth write and then the page move.
        name: "a plane that a job excludes waits for the job, the other plane of the die for what occupies the die",
        config: two_pools(|c| {
            c.device.planes_per_die = 2;
            c.ftl.pool = PoolScope::Plane;
            (c.gc.scope, c.gc.priority) = (Scope::Plane, Priority::Host);
        }),
        requests: [five_writes(), vec![read(4_100_000, 18), read(4_100_000, 19), read(4_450_000, 21)]].concat(),
        responses: [
            five_responses(),
            vec![read_after(vec![(Gc, 2_182_200)]), read_after(vec![(DieQueue, 202_400)]), read_after(vec![(Gc, 204_800)])],
        ]
        .concat(),
        stages: [five_stages(), read_stages(0, 4_302_400), job(4_429_800, 4_782_200), read_stages(0, 4_654_800), read_stages(0, 6_282_200)]
            .concat(),
    };
    (case, [vec![None; 5], vec![Some(Blocked::Scope), Some(Blocked::HostOperation), Some(Blocked::GcOperation)]].concat())
}

fn of_dies_that_take_turns() -> Reasons {
    let case = Case {
        name: "a chip whose dies take turns: page 1, on the other die, waits for the fifth write, then for the job",
        config: two_pools(|c| {
            c.device.dies_per_chip = 2;
            c.device.die_interleave = false;
            (c.gc.scope, c.gc.priority) = (Scope::Die, Priority::Gc);
        }),
        requests: [five_writes(), vec![read(4_100_000, 1)]].concat(),
        responses: [five_responses(), vec![read_after(vec![(DieQueue, 202_400), (Gc, 1_725_000)])]].concat(),
        stages: [five_stages(), job(4_302_400, 4_527_400), read_stages(1, 6_027_400)].concat(),
    };
    (case, [vec![None; 5], vec![Some(Blocked::GcOperation)]].concat())
}

/// Writes without an address rule wait for a chip, not for a die.
fn of_writes_by_load() -> Vec<Reasons> {
    let by_load = |change: fn(&mut Config)| {
        two_pools(|c| {
            c.ftl.allocation = Allocation::Dynamic;
            change(c);
        })
    };
    // Dies take turns: before each write but the first the other die reads, and transfers when the write has. A run ends with its last request:
    // a read when the job is over.
    let beside = |i: u64| read(1_000_000 * i - 10_000, 1);
    let on_first_die = || five_writes().into_iter().zip(0..).flat_map(|(write, i)| (i > 0).then(|| beside(i)).into_iter().chain([write]));
    let collecting = |requests: [Request; 2]| on_first_die().chain(requests).chain([read(7_000_000, 1)]).collect::<Vec<_>>();
    let beside_after = || (214_800, vec![(Array, 25_000), (BusQueue, 87_400), (Transfer, 102_400)]);
    let responses = || [vec![write_after(vec![])], vec![vec![beside_after(), write_after(vec![])]; 4].concat()].concat();
    let beside_stages =
        |i: u64| vec![array(1, 1_000_000 * i - 10_000, 1_000_000 * i + 15_000), bus(0, 1_000_000 * i + 102_400, 1_000_000 * i + 204_800)];
    let stages = || five_stages().into_iter().chain((1..5).flat_map(beside_stages)).collect::<Vec<_>>();
    let reasons = |of_last: Option<Blocked>| [vec![None], [Some(Blocked::Bus), None].repeat(4), vec![None, of_last, None]].concat();
    vec![
        (
            Case {
                name: "one die has a host operation, the other waits for the bus: the host operation counts",
                config: changed(by_load(|c| c.device.dies_per_chip = 2), |c| c.gc.soft = 1.0),
                requests: vec![write(0, 0), write(0, 2), write(0, 4)],
                responses: vec![write_after(vec![]), write_after(vec![(DieQueue, 102_400)]), write_after(vec![(DieQueue, 302_400)])],
                stages: [write_stages(0, 0), write_stages(1, 102_400), write_stages(0, 302_400)].concat(),
            },
            vec![None, Some(Blocked::HostOperation), Some(Blocked::HostOperation)],
        ),
        (
            Case {
                name: "all dies of the chip wait for the bus, which another chip uses",
                config: changed(by_load(|c| c.device.chips_per_channel = 2), |c| c.gc.soft = 1.0),
                requests: vec![write(0, 0), write(0, 2)],
                responses: vec![write_after(vec![]), write_after(vec![(BusQueue, 102_400)])],
                stages: [write_stages(0, 0), write_stages(1, 102_400)].concat(),
            },
            vec![None, Some(Blocked::Bus)],
        ),
        (
            Case {
                name: "one die is erased, the other has a host operation: GC counts",
                config: by_load(|c| {
                    c.device.dies_per_chip = 2;
                    c.gc.scope = Scope::None;
                }),
                requests: collecting([write(4_600_000, 12), write(4_610_000, 14)]),
                responses: [responses(), vec![write_after(vec![]), write_after(vec![(Gc, 292_400)]), read_after(vec![])]].concat(),
                stages: [
                    stages(),
                    job(4_302_400, 4_527_400),
                    write_stages(1, 4_600_000),
                    write_stages(1, 4_902_400),
                    read_stages(1, 7_000_000),
                ]
                .concat(),
            },
            reasons(Some(Blocked::GcOperation)),
        ),
        (
            Case {
                // The job is active from 4 ms on. Until 4,302,400 the fifth write keeps it waiting, then its own operations occupy the die.
                name: "one die is excluded, the other has a host operation: the exclusion counts from the start of the job",
                config: by_load(|c| {
                    c.device.dies_per_chip = 2;
                    c.gc.scope = Scope::Die;
                }),
                requests: collecting([write(4_210_000, 12), write(4_220_000, 14)]),
                responses: [responses(), vec![write_after(vec![]), write_after(vec![(Gc, 292_400)]), read_after(vec![])]].concat(),
                stages: [
                    stages(),
                    job(4_302_400, 4_527_400),
                    write_stages(1, 4_210_000),
                    write_stages(1, 4_512_400),
                    read_stages(1, 7_000_000),
                ]
                .concat(),
            },
            reasons(Some(Blocked::Scope)),
        ),
    ]
}

#[test]
fn of_several_reasons_the_defined_one_counts() {
    for (case, reasons) in [of_planes(), of_dies_that_take_turns()].into_iter().chain(of_writes_by_load()) {
        for every_stage in [false, true] {
            let completions = play(&case, every_stage);
            let found: Vec<_> = completions.iter().map(|completion| completion.blocked_by()).collect();
            assert_eq!(found, reasons, "{}: reasons (every stage played: {every_stage})", case.name);
        }
    }
}
