//! Programs plane by plane (`device.plane_programs`), worked by hand to the nanosecond: one die whose pages span two planes. A read takes 25 us, a
//! program of all planes, or of one of them, 200 us, a transfer 102.4 us, an erase 1.5 ms.

use crate::common::{one_die, simulation};
use crate::pacing::{self, erase, flash_read, page_move, program, requests};
use crate::timelines::{Case, Stage, array, bus, changed, filled, play_all, read, write};
use ssdlab::config::{Config, Order, SuspendedForReads};
use ssdlab::request::Request;
use ssdlab::stats::Part;

const MS: u64 = 1_000_000;

fn drive() -> Config {
    changed(one_die(), |c| c.device.plane_programs = 2)
}

/// Of the drive of `pacing`: blocks of four pages; a block is collected when less than three are free, and one page may be written ahead of that.
fn paced() -> Config {
    changed(pacing::drive(), |c| c.device.plane_programs = 2)
}

/// A program of one plane after the other.
fn by_plane(at: u64) -> Vec<Stage> {
    vec![bus(0, at, at + 102_400), array(0, at + 102_400, at + 502_400)]
}

/// A page move with such a program.
fn move_by_plane(at: u64) -> Vec<Stage> {
    let mut stages = page_move(at);
    stages.last_mut().expect("it ends with its program").2 += 200_000;
    stages
}

fn response(waits: &[(Part, u64)], program: u64) -> (u64, Vec<(Part, u64)>) {
    let parts = [waits, &[(Part::Transfer, 102_400), (Part::Array, program)]].concat();
    (parts.iter().map(|(_, ns)| ns).sum(), parts)
}

/// The first five writes have time, though with the fifth a block less is free than wanted: credit for a page is left. The sixth takes it, and the
/// seventh waits for more, so that nothing has time until the second move has earned it.
fn seven_writes() -> Vec<Request> {
    requests(&[write(4_010_000, 5), write(4_020_000, 9)])
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
            stages: [by_plane(0), program(502_400), by_plane(804_800)].concat(),
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
                page_move(4_502_400),
                program(4_932_200),
                program(5_234_600),
                page_move(5_537_000),
                erase(5_966_800),
                move_by_plane(7_466_800),
                move_by_plane(8_096_600),
                erase(8_726_400),
                flash_read(12 * MS),
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
        let mut simulation = simulation(&config);
        seven_writes().into_iter().for_each(|request| _ = simulation.submit(request).expect("it has room"));
        simulation.finish().expect("it ends").counters["plane_by_plane"]
    };
    assert_eq!([1, 2].map(counted), [0, 7]);
}
