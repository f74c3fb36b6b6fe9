//! Programs plane by plane (`device.plane_programs`), worked by hand to the nanosecond: one die whose pages span two planes. A read takes 25 us, a
//! program of all planes, or of one of them, 200 us, a transfer 102.4 us, an erase 1.5 ms.

use crate::common::{one_die, plan};
use crate::timelines::{Case, Stage, array, bus, changed, filled, play_all, read, write};
use ssdlab::config::{Config, Frontier, Order, Pace, Priority, Scope, SuspendedForReads};
use ssdlab::request::Request;
use ssdlab::simulation::{Control, Simulation};
use ssdlab::stats::Part;

const MS: u64 = 1_000_000;

fn drive() -> Config {
    changed(one_die(), |c| c.device.plane_programs = 2)
}

/// Blocks of four pages; a block is collected when less than three are free, and one page may be written ahead of that.
fn paced() -> Config {
    changed(filled(drive()), |c| {
        c.ftl.frontier = Frontier::Shared;
        (c.gc.soft, c.gc.scope, c.gc.priority) = (3.0, Scope::None, Priority::Host);
        (c.gc.pace, c.gc.pace_window) = (Pace::Proportional, 0.0);
    })
}

/// A program of all planes at once, and one of each after the other.
fn at_once(at: u64) -> Vec<Stage> {
    vec![bus(0, at, at + 102_400), array(0, at + 102_400, at + 302_400)]
}

fn by_plane(at: u64) -> Vec<Stage> {
    vec![bus(0, at, at + 102_400), array(0, at + 102_400, at + 502_400)]
}

fn page_move(at: u64, program: u64) -> Vec<Stage> {
    let out = at + 25_000;
    vec![
        array(0, at, out),
        bus(0, out, out + 102_400),
        bus(0, out + 102_400, out + 204_800),
        array(0, out + 204_800, out + 204_800 + program),
    ]
}

fn response(waits: &[(Part, u64)], program: u64) -> (u64, Vec<(Part, u64)>) {
    let parts = [waits, &[(Part::Transfer, 102_400), (Part::Array, program)]].concat();
    (parts.iter().map(|(_, ns)| ns).sum(), parts)
}

/// The first five writes have time, though with the fifth a block less is free than wanted: credit for a page is left. The sixth takes it, and the
/// seventh waits for more, so that nothing has time until the second move has earned it.
fn seven_writes() -> Vec<Request> {
    let first = [0, 1, 4, 8, 12].into_iter().zip(0..).map(|(page, ms)| write(ms * MS, page));
    first.chain([write(4_010_000, 5), write(4_020_000, 9), read(12 * MS, 3)]).collect()
}

fn cases() -> Vec<Case> {
    use Part::{Array, DieQueue, Gc, Pace, Suspended, Transfer};
    let read_alone = (127_400, vec![(Array, 25_000), (Transfer, 102_400)]);
    let suspends = changed(drive(), |c| {
        (c.device.page_registers, c.device.suspend_ns) = (2, 10_000);
        c.scheduler.order = Order::FrFcfs;
        c.scheduler.suspend = vec![SuspendedForReads::Program];
    });
    vec![
        Case {
            name: "a write has time if none waits behind it",
            config: drive(),
            requests: vec![write(0, 0), write(10_000, 1), write(20_000, 2)],
            responses: vec![response(&[], 400_000), response(&[(DieQueue, 492_400)], 200_000), response(&[(DieQueue, 784_800)], 400_000)],
            stages: [by_plane(0), at_once(502_400), by_plane(804_800)].concat(),
        },
        Case {
            name: "programs of one plane after the other are suspended as one",
            config: changed(filled(suspends), |_| {}),
            requests: vec![write(0, 0), read(300_000, 1)],
            responses: vec![
                (639_800, vec![(Transfer, 102_400), (Array, 400_000), (Suspended, 137_400)]),
                (137_400, vec![(DieQueue, 10_000), (Array, 25_000), (Transfer, 102_400)]),
            ],
            stages: vec![
                bus(0, 0, 102_400),
                array(0, 102_400, 310_000),
                array(0, 310_000, 335_000),
                bus(0, 335_000, 437_400),
                array(0, 437_400, 639_800),
            ],
        },
        Case {
            name: "no program has time while half of the credit is spent",
            config: paced(),
            requests: seven_writes(),
            responses: [
                vec![response(&[], 400_000); 5],
                vec![
                    response(&[(DieQueue, 492_400), (Gc, 429_800)], 200_000),
                    response(&[(Pace, 912_200), (DieQueue, 302_400)], 200_000),
                    read_alone,
                ],
            ]
            .concat(),
            stages: [
                (0..5).flat_map(|ms| by_plane(ms * MS)).collect(),
                page_move(4_502_400, 200_000),
                at_once(4_932_200),
                at_once(5_234_600),
                page_move(5_537_000, 200_000),
                vec![array(0, 5_966_800, 7_466_800)],
                page_move(7_466_800, 400_000),
                page_move(8_096_600, 400_000),
                vec![array(0, 8_726_400, 10_226_400)],
                vec![array(0, 12 * MS, 12_025_000), bus(0, 12_025_000, 12_127_400)],
            ]
            .concat(),
        },
    ]
}

#[test]
fn timelines() {
    play_all(&cases());
}

/// Of the timeline above: five writes and two page moves.
#[test]
fn programs_plane_by_plane_are_counted() {
    let counted = |planes| {
        let config = changed(paced(), |c| c.device.plane_programs = planes);
        let mut simulation = Simulation::new(&plan(config), &Control::default()).expect("it runs");
        for request in seven_writes() {
            simulation.submit(request).expect("it has room");
        }
        simulation.finish().expect("it ends").counters.get("plane_by_plane").copied()
    };
    assert_eq!([1, 2].map(counted), [Some(0), Some(7)]);
}
