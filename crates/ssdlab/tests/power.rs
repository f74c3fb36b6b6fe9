//! What a power failure would lose at an instant, worked by hand. One die; a page of 4 KiB takes 102.4 us to transfer and 200 us to program.

use crate::common::{one_die, simulation};
use ssdlab::config::{CachePolicy, Config, PreconditionKind};
use ssdlab::ftl::Ftl;
use ssdlab::request::{Request, RequestKind};

const PAGE: u64 = 4096;
const PROGRAM: u64 = 302_400;
/// Half a transfer into the first program.
const EARLY: u64 = 50_000;

fn request(kind: RequestKind, arrival_ns: u64, first: u64, count: u64) -> Request {
    Request { arrival_ns, kind, offset: first * PAGE, length: count * PAGE, high_priority: false, flow: 0, handle: None }
}

fn write(at: u64, first: u64, count: u64) -> Request {
    request(RequestKind::Write, at, first, count)
}

fn flush(at: u64) -> Request {
    request(RequestKind::Flush, at, 0, 0)
}

fn drive(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = one_die();
    config.ftl.precondition.kind = PreconditionKind::Fill;
    change(&mut config);
    config
}

/// For each instant the units that would be lost, with the oldest completed write of each: 0 for the first request.
fn lost(config: &Config, requests: &[Request], instants: &[u64]) -> Vec<Vec<(u32, Option<u64>)>> {
    let mut simulation = simulation(config);
    requests.iter().for_each(|&request| _ = simulation.submit(request).expect("it is inside the drive"));
    let at = |&instant: &u64| {
        simulation.run_until(instant).expect("it goes on");
        let mut found = Vec::new();
        simulation.volatile_units(&mut |unit, oldest| found.push((unit, oldest)));
        found.sort_unstable();
        found.dedup();
        found
    };
    instants.iter().map(at).collect()
}

#[test]
fn a_write_is_torn_between_its_pages() {
    let config = drive(|_| {});
    let found = lost(&config, &[write(10, 0, 2), write(20, 1, 1)], &[0, EARLY, 10 + PROGRAM, 10 + 2 * PROGRAM, 10 + 3 * PROGRAM]);
    // A cut before the write arrives loses it too, since the host has submitted it. Each page counts once, however many writes wait for it.
    let [both, second] = [vec![(0, None), (1, None)], vec![(1, None)]];
    assert_eq!(found, [both.clone(), both, second.clone(), second, vec![]]);
}

#[test]
fn a_write_that_waits_for_a_place_in_the_queue_of_its_chip_is_torn_as_well() {
    let config = drive(|c| c.scheduler.write_queue = 1);
    // Pages 1 and 2 of the second request, and the third, which comes behind it, wait in the host queue until page 0 has been programmed.
    let requests = [write(0, 0, 1), write(10, 1, 2), write(20, 7, 1), request(RequestKind::Read, 30, 9, 1)];
    let found = lost(&config, &requests, &[40, PROGRAM, 2 * PROGRAM, 3 * PROGRAM, 4 * PROGRAM]);
    let units = |from: usize| [0, 1, 2, 7][from..].iter().map(|&unit| (unit, None)).collect::<Vec<_>>();
    assert_eq!(found, [units(0), units(1), units(2), units(3), units(4)]);
}

#[test]
fn commands_that_have_no_slot_are_not_in_the_drive() {
    let config = drive(|c| {
        c.host.slots = 1;
        c.host.command_ns = 1_000;
        c.buffer.bytes = 8 * PAGE;
        c.device.pages_per_program = 4;
    });
    // The first is in the protected buffer from 1 us on, and complete 1 us later; then the second is fetched.
    let found = lost(&config, &[write(0, 0, 1), write(0, 5, 1)], &[999, 1_000, 2_999, 3_000]);
    assert_eq!(found, [vec![(0, None), (5, None)], vec![(5, None)], vec![(5, None)], vec![]]);
}

#[test]
fn a_volatile_buffer_loses_what_is_not_in_flash_and_a_protected_one_nothing() {
    let buffered = |protected| {
        drive(|c| {
            c.buffer.bytes = 8 * PAGE;
            c.buffer.protected = protected;
            c.device.pages_per_program = 2;
        })
    };
    // Two pages fill a program, whose pages are transferred one after the other; the third waits for more until a flush comes.
    let requests = [write(0, 0, 1), write(10, 0, 1), write(20, 3, 1), write(30, 7, 1), write(40, 3, 1), flush(1_000_000)];
    let both = 20 + 2 * 102_400 + 200_000;
    let instants = [15, 35, both - 1, both, 1_000_000, 3_000_000];
    let found = lost(&buffered(false), &requests, &instants);
    assert_eq!(
        found,
        [
            vec![(0, Some(0)), (3, None), (7, None)],
            vec![(0, Some(0)), (3, None), (3, Some(2)), (7, Some(3))],
            // The third request is on its way to flash, and the fifth, to the same page, behind it.
            vec![(0, Some(0)), (3, Some(2)), (3, Some(4)), (7, Some(3))],
            vec![(3, Some(4)), (7, Some(3))],
            // These two fill a program, which has begun at that instant.
            vec![],
            vec![],
        ]
    );
    let found = lost(&buffered(true), &requests, &instants);
    assert_eq!(found[1..], [vec![(3, None)], vec![], vec![], vec![], vec![]]);
}

#[test]
fn a_cache_loses_dirty_pages_and_those_on_their_way_down() {
    let config = drive(|c| {
        c.cache.policy = CachePolicy::Lru;
        c.cache.bytes = 2 * PAGE;
        c.cache.access_ns = 1_000;
    });
    // The third page takes the place of the first, which is destaged; its next write is of another time.
    let requests = [write(0, 0, 1), write(10_000, 1, 1), write(20_000, 0, 1), write(30_000, 2, 1), flush(1_000_000)];
    let down = 30_000 + PROGRAM;
    let found = lost(&config, &requests, &[25_000, down - 1, down, 1_000_000, 1_000_000 + 3 * PROGRAM]);
    assert_eq!(
        found,
        [
            vec![(0, Some(0)), (1, Some(1)), (2, None)],
            vec![(0, Some(0)), (1, None), (1, Some(1)), (2, Some(3))],
            vec![(0, Some(0)), (2, Some(3))],
            vec![(0, None), (0, Some(0)), (2, None), (2, Some(3))],
            vec![],
        ]
    );
}

#[test]
fn a_drive_that_ends_with_data_in_its_buffer_has_them_in_flash_when_it_goes_on() {
    let config = drive(|c| {
        c.ftl.precondition.kind = PreconditionKind::None;
        c.buffer.bytes = 8 * PAGE;
        c.device.pages_per_program = 4;
    });
    let mut simulation = simulation(&config);
    simulation.submit(write(0, 5, 1)).expect("it is inside the drive");
    simulation.run_to_idle().expect("it goes on");
    assert!(simulation.storage().is_buffered(5) && simulation.ssd().ftl().mapped_pages() == 0);
    let (result, storage) = simulation.finish_at_rest().expect("it ends");
    assert_eq!(result.flash.host_programs, 0, "what comes after the run is no part of its result");
    assert!(!storage.is_buffered(5));
    let mut saved = Vec::new();
    storage.drives()[0].ftl().save(&config, &mut saved).expect("memory takes it");
    assert_eq!(Ftl::load(&config, saved.as_slice()).expect("it is whole").mapped_pages(), 1);
}
