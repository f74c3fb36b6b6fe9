//! Programs plane by plane (`device.plane_programs`), worked by hand to the nanosecond: one die whose pages span two planes, or four. A read
//! takes 25 us, a program of all planes, or of one of them, 200 us, a transfer 102.4 us, an erase 1.5 ms.

use crate::common::{one_die, simulation};
use crate::pacing::{self, erase, flash_read, page_move, program, requests};
use crate::timelines::{Case, Stage, array, bus, changed, filled, pages, play_all, read, write};
use ssdlab::config::{Config, Order, PoolScope, SuspendedForReads};
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
    [program(at), vec![array(0, at + 302_400, at + 502_400)]].concat()
}

/// A page move with such a program.
fn move_by_plane(at: u64) -> Vec<Stage> {
    [page_move(at), vec![array(0, at + 429_800, at + 629_800)]].concat()
}

fn response(waits: &[(Part, u64)], program: u64) -> (u64, Vec<(Part, u64)>) {
    let parts = [waits, &[(Part::Transfer, 102_400), (Part::Array, program)]].concat();
    (parts.iter().map(|(_, ns)| ns).sum(), parts)
}

/// The first four writes have time. Behind the fifth waits the sixth, which takes the only credit. The seventh waits for more, so that nothing has
/// time until the second move has earned it.
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
            name: "a write has time if none waits when its program begins",
            config: drive(),
            requests: vec![write(0, 0), write(10_000, 1), write(20_000, 2)],
            responses: vec![response(&[], 200_000), response(&[(DieQueue, 292_400)], 200_000), response(&[(DieQueue, 584_800)], 400_000)],
            stages: [program(0), program(302_400), by_plane(604_800)].concat(),
        },
        Case {
            name: "the planes that are left go at once if a write has come",
            config: changed(drive(), |c| c.device.plane_programs = 4),
            requests: vec![write(0, 0), write(150_000, 1)],
            responses: vec![response(&[], 400_000), response(&[(DieQueue, 352_400)], 800_000)],
            stages: [by_plane(0), by_plane(502_400), vec![array(0, 1_004_800, 1_204_800), array(0, 1_204_800, 1_404_800)]].concat(),
        },
        Case {
            name: "a write waits with its data in the cache register",
            config: changed(drive(), |c| {
                (c.device.plane_programs, c.device.cache_register, c.scheduler.pipeline) = (4, true, true);
            }),
            requests: vec![write(0, 0), write(150_000, 1)],
            responses: vec![response(&[], 400_000), response(&[(DieQueue, 250_000)], 800_000)],
            stages: vec![
                bus(0, 0, 102_400),
                array(0, 102_400, 302_400),
                bus(0, 150_000, 252_400),
                array(0, 302_400, 502_400),
                array(0, 502_400, 702_400),
                array(0, 702_400, 902_400),
                array(0, 902_400, 1_102_400),
                array(0, 1_102_400, 1_302_400),
            ],
        },
        Case {
            name: "a write waits for another die of a chip whose dies take turns",
            config: changed(drive(), |c| {
                (c.device.plane_programs, c.device.dies_per_chip, c.device.die_interleave) = (4, 2, false);
            }),
            requests: vec![write(0, 0), write(150_000, 1)],
            responses: vec![response(&[], 400_000), response(&[(DieQueue, 352_400)], 800_000)],
            stages: vec![
                bus(0, 0, 102_400),
                array(0, 102_400, 302_400),
                array(0, 302_400, 502_400),
                bus(0, 502_400, 604_800),
                array(1, 604_800, 804_800),
                array(1, 804_800, 1_004_800),
                array(1, 1_004_800, 1_204_800),
                array(1, 1_204_800, 1_404_800),
            ],
        },
        Case {
            name: "a read that comes too late to suspend a plane goes before the next",
            config: filled(suspends.clone()),
            requests: vec![write(0, 0), read(299_000, 1)],
            responses: vec![
                (629_800, vec![(Transfer, 102_400), (Array, 400_000), (Suspended, 127_400)]),
                (130_800, vec![(DieQueue, 3_400), (Array, 25_000), (Transfer, 102_400)]),
            ],
            stages: [program(0), vec![array(0, 302_400, 327_400), bus(0, 327_400, 429_800), array(0, 429_800, 629_800)]].concat(),
        },
        Case {
            name: "the program of a plane is suspended",
            config: filled(suspends),
            requests: vec![write(0, 0), read(200_000, 1)],
            responses: vec![
                (639_800, vec![(Transfer, 102_400), (Array, 400_000), (Suspended, 137_400)]),
                (137_400, vec![(DieQueue, 10_000), (Array, 25_000), (Transfer, 102_400)]),
            ],
            stages: vec![
                bus(0, 0, 102_400),
                array(0, 102_400, 210_000),
                array(0, 210_000, 235_000),
                bus(0, 235_000, 337_400),
                array(0, 337_400, 439_800),
                array(0, 439_800, 639_800),
            ],
        },
        Case {
            name: "no program has time while half of the credit is spent",
            config: paced(),
            requests: seven_writes(),
            responses: [
                vec![response(&[], 400_000); 4],
                vec![
                    response(&[], 200_000),
                    response(&[(DieQueue, 292_400), (Gc, 429_800)], 200_000),
                    response(&[(Pace, 712_200), (DieQueue, 302_400)], 200_000),
                    read_alone,
                ],
            ]
            .concat(),
            stages: [
                (0..4).flat_map(|ms| by_plane(ms * MS)).collect(),
                program(4 * MS),
                page_move(4_302_400),
                program(4_732_200),
                program(5_034_600),
                page_move(5_337_000),
                erase(5_766_800),
                move_by_plane(7_266_800),
                move_by_plane(7_896_600),
                erase(8_526_400),
                flash_read(12 * MS),
            ]
            .concat(),
        },
    ]
}

/// Of two planes on a die, whose pages span two planes each and take 200 us and 300 us in turn. Each has its pages in one block: the first write
/// leaves the first plane at its second page, and the second write has a page on both.
fn two_pages_at_once(later: &[Request]) -> Case {
    Case {
        name: "a multi-plane program goes on plane by plane, in the time of each page",
        config: changed(drive(), |c| {
            (c.device.planes_per_die, c.device.multiplane, c.ftl.pool) = (2, true, PoolScope::Plane);
            c.device.multiplane_aligned = false;
            c.device.program_ns_by_page = vec![200_000, 300_000];
        }),
        requests: [&[write(0, 0), pages(write(2 * MS, 0), 2)], later].concat(),
        responses: vec![response(&[], 400_000), response(&[(Part::BusQueue, 102_400)], 1_000_000)],
        stages: [by_plane(0), two_transfers(), vec![array(0, 2_504_800, 2_804_800), array(0, 2_804_800, 3_004_800)]].concat(),
    }
}

/// The transfers of two pages, and the program of the first plane of the first.
fn two_transfers() -> Vec<Stage> {
    vec![bus(0, 2 * MS, 2_102_400), bus(0, 2_102_400, 2_204_800), array(0, 2_204_800, 2_504_800)]
}

fn cases_of_two_pages() -> Vec<Case> {
    let alone = two_pages_at_once(&[]);
    // The third write comes when one plane is programmed: of the first page one is left, of the second both.
    let (early, late) = (two_pages_at_once(&[write(2_300_000, 2)]), two_pages_at_once(&[write(2_600_000, 2)]));
    let two_planes = |responses: &[u64]| {
        let second = response(&[(Part::BusQueue, 102_400)], responses[0]);
        vec![response(&[], 400_000), second, response(&[(Part::DieQueue, responses[1])], 400_000)]
    };
    vec![
        Case { stages: [alone.stages, vec![array(0, 3_004_800, 3_204_800)]].concat(), ..alone },
        Case {
            name: "the planes that are left of two pages take the longer time",
            responses: two_planes(&[600_000, 504_800]),
            stages: [by_plane(0), two_transfers(), vec![array(0, 2_504_800, 2_804_800)], by_plane(2_804_800)].concat(),
            ..early
        },
        Case {
            name: "the planes that are left of the second page take its time",
            responses: two_planes(&[800_000, 404_800]),
            stages: [late.stages, by_plane(3_004_800)].concat(),
            ..late
        },
    ]
}

#[test]
fn timelines() {
    play_all(&cases());
    play_all(&cases_of_two_pages());
}

/// Counters of the timelines above: that of the credit has four writes and two page moves with time.
#[test]
fn programs_plane_by_plane_are_counted() {
    let counters = ["plane_by_plane", "planes_together", "reads_between_planes"];
    let counted = cases().into_iter().chain(cases_of_two_pages()).map(|case| {
        let mut simulation = simulation(&case.config);
        case.requests.into_iter().for_each(|request| _ = simulation.submit(request).expect("it has room"));
        let result = simulation.finish().expect("it ends");
        counters.map(|name| result.counters[name])
    });
    assert_eq!(
        counted.collect::<Vec<_>>(),
        [[[1, 0, 0], [2, 1, 0], [2, 1, 0], [2, 1, 0], [1, 0, 1], [1, 0, 0], [6, 0, 0]].as_slice(), &[[2, 0, 0], [3, 1, 0], [3, 1, 0]]]
            .concat()
    );
}

#[test]
fn all_planes_at_once_are_no_programs_plane_by_plane() {
    let mut simulation = simulation(&pacing::drive());
    seven_writes().into_iter().for_each(|request| _ = simulation.submit(request).expect("it has room"));
    assert_eq!(simulation.finish().expect("it ends").counters["plane_by_plane"], 0);
}
