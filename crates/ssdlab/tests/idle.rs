//! Collection ahead of need (lee2013 V-B), worked by hand to the nanosecond: 25 us read, 200 us program, 1.5 ms erase, 102.4 us a page on the
//! bus, moves by copyback (225 us); 1 ms of idleness.
//!
//! One die of eight blocks of four pages, sixteen of them exported. After the fill blocks 0 to 3 are full, 4 to 7 free. The write of page 0
//! takes block 4 and ends at 302,400; three blocks are free, fewer than the four that idleness works for. The job moves pages 1 to 3 and
//! erases block 0: 3 x 225,000 + 1,500,000.

use crate::common::pages::*;
use crate::common::{one_die, simulation};
use ssdlab::cause::Cause;
use ssdlab::config::{Config, Frontier, IdleTimeout, PreconditionKind, Priority, Scope, SlcFull, Trigger};
use ssdlab::request::{Request, RequestKind};
use ssdlab::simulation::Simulation;

const IDLE: u64 = 1_000_000;

fn config(scope: Scope) -> Config {
    let mut config = one_die();
    config.device.copyback = true;
    config.ftl.frontier = Frontier::Shared;
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config.gc.trigger = Trigger::Idle;
    config.gc.idle_us = 1000;
    config.gc.idle_free = 4.0;
    config.gc.scope = scope;
    config.gc.priority = Priority::Gc;
    config
}

fn submitted(config: &Config, requests: &[Request]) -> Simulation {
    let mut simulation = simulation(config);
    simulation.ssd_mut().keep_trace();
    for request in requests {
        simulation.submit(*request).unwrap();
    }
    simulation
}

/// What collection did until `until`: start and end of each operation.
fn collection(simulation: &mut Simulation, until: u64) -> Vec<(u64, u64)> {
    simulation.run_until(until).unwrap();
    simulation.ssd().trace().unwrap().intervals.iter().filter(|interval| !interval.host).map(|i| (i.start, i.end)).collect()
}

/// Moves one after the other from `start` on, and the erase.
fn job(start: u64, moves: u64) -> Vec<(u64, u64)> {
    let erase = start + moves * MOVE;
    (0..moves).map(|i| (start + i * MOVE, start + (i + 1) * MOVE)).chain([(erase, erase + ERASE)]).collect()
}

/// Jobs that idleness started, and their pauses.
fn counted(simulation: &Simulation) -> (u64, u64) {
    (simulation.ssd().counters().jobs_for(Cause::Idle), simulation.ssd().counters().idle_pauses)
}

#[test]
fn a_drive_collects_when_it_has_been_idle_for_the_timeout() {
    for scope in [Scope::Chip, Scope::Plane, Scope::Block, Scope::None] {
        let mut simulation = submitted(&config(scope), &[write(0, 0)]);
        assert_eq!(collection(&mut simulation, 100_000_000), job(WRITE + IDLE, 3), "{scope:?}");
        assert_eq!(counted(&simulation), (1, 0));
        // Four blocks are free again: nothing more to do.
        simulation.finish().unwrap();
    }
}

#[test]
fn a_drive_with_blocks_enough_does_nothing() {
    let mut config = config(Scope::None);
    config.gc.idle_free = 3.0;
    let mut simulation = submitted(&config, &[write(0, 0)]);
    assert_eq!(collection(&mut simulation, 100_000_000), []);
    assert_eq!(counted(&simulation), (0, 0));
}

#[test]
fn a_run_ends_with_its_last_request() {
    for requests in [vec![write(0, 0)], vec![write(0, 0), read(WRITE + IDLE + 1, 9)]] {
        let mut simulation = submitted(&config(Scope::None), &requests);
        simulation.run_to_idle().unwrap();
        let end = requests.last().unwrap().arrival_ns + if requests.len() == 1 { WRITE } else { MOVE - 1 + READ };
        assert_eq!(simulation.now(), end);
        assert_eq!(simulation.finish().unwrap().simulated_ns, end);
    }
}

#[test]
fn requests_at_the_very_instant_come_first_and_each_begins_the_time_anew() {
    let flush = Request { length: 0, offset: 0, ..request(RequestKind::Flush, 3_000_000, 0) };
    for (requests, begins) in [
        (vec![read(WRITE + IDLE, 9)], WRITE + IDLE + READ + IDLE),
        (vec![read(WRITE + IDLE - 1, 9)], WRITE + IDLE - 1 + READ + IDLE),
        // The read arrives and completes within the idle time, which begins again.
        (vec![read(2_000_000 - READ - 1, 9), Request { arrival_ns: 2_500_000, ..flush }], 2_500_000 + IDLE),
    ] {
        let mut config = config(Scope::Chip);
        if requests.len() == 2 {
            config.gc.idle_us = 2_000;
        }
        let begins = if requests.len() == 2 { begins + 1_000_000 } else { begins };
        let mut simulation = submitted(&config, &[vec![write(0, 0)], requests].concat());
        assert_eq!(collection(&mut simulation, 100_000_000), job(begins, 3));
        simulation.finish().unwrap();
    }
}

#[test]
fn where_hosts_are_excluded_the_job_goes_on_to_its_end() {
    let mut simulation = submitted(&config(Scope::Chip), &[write(0, 0), read(1_400_000, 9)]);
    let whole = job(WRITE + IDLE, 3);
    assert_eq!(collection(&mut simulation, 100_000_000), whole);
    let done = simulation.take_completions();
    assert_eq!(done[1].completed_ns, whole[3].1 + READ);
    assert_eq!(counted(&simulation), (1, 0));
    simulation.finish().unwrap();
}

/// A cache of one block in SLC mode, which holds two pages: a program takes 50 us there, an erase 500 us. The first write and 1 ms begin the job.
/// During its first move comes the second write, for which the job pauses, and which fills the cache. The third waits for a fold, and that for
/// the job: so the job goes on at once, with two moves and the erase. The fold has two moves by copyback and the erase.
#[test]
fn a_paused_job_goes_on_where_writes_wait_for_a_fold() {
    let mut config = config(Scope::None);
    (config.device.blocks_per_plane, config.device.overprovisioning, config.ftl.frontier) = (10, 0.6, Frontier::Separate);
    config.gc.idle_free = 6.0;
    (config.slc.static_blocks, config.slc.bits_per_cell, config.slc.full, config.slc.idle_us) = (1, 2, SlcFull::Fold, 0);
    (config.slc.program_ns, config.slc.erase_ns) = (50_000, 500_000);
    let in_cache = 102_400 + 50_000;
    let begins = in_cache + IDLE;
    let mut simulation = submitted(&config, &[write(0, 0), write(begins + 50_000, 9), write(begins + 100_000, 10)]);
    let goes_on = begins + MOVE + in_cache;
    let folds = goes_on + 2 * MOVE + ERASE;
    let fold = [(folds, folds + MOVE), (folds + MOVE, folds + 2 * MOVE), (folds + 2 * MOVE, folds + 2 * MOVE + 500_000)];
    let collected = [vec![(begins, begins + MOVE)], job(goes_on, 2), fold.to_vec()].concat();
    let seen = collection(&mut simulation, fold[2].1 + in_cache);
    assert_eq!(seen, collected);
    let ends: Vec<u64> = simulation.take_completions().iter().map(|done| done.completed_ns).collect();
    assert_eq!(ends, [in_cache, goes_on, fold[2].1 + in_cache]);
    assert_eq!(counted(&simulation), (1, 1));
}

#[test]
fn where_nobody_is_excluded_it_pauses_at_its_next_point_and_goes_on_when_idle() {
    // Collection would have priority. The read comes during the first move (1,302,400 to 1,527,400).
    let mut simulation = submitted(&config(Scope::None), &[write(0, 0), read(1_400_000, 9)]);
    let first = WRITE + IDLE;
    let again = first + MOVE + READ + IDLE;
    assert_eq!(collection(&mut simulation, 100_000_000), [vec![(first, first + MOVE)], job(again, 2)].concat());
    let done = simulation.take_completions();
    assert_eq!(done[1].completed_ns, first + MOVE + READ);
    assert_eq!(counted(&simulation), (1, 1));
    simulation.finish().unwrap();
}

#[test]
fn a_job_may_pause_at_each_of_its_points_and_each_pause_counts() {
    // The first read comes during the first move, the second during the next, one idle time later.
    let first = WRITE + IDLE;
    let second = first + MOVE + READ + IDLE;
    let third = second + MOVE + READ + IDLE;
    let mut simulation = submitted(&config(Scope::None), &[write(0, 0), read(first + 1_000, 9), read(second + 1_000, 9)]);
    let expected = [vec![(first, first + MOVE), (second, second + MOVE)], job(third, 1)].concat();
    assert_eq!(collection(&mut simulation, 100_000_000), expected);
    assert_eq!(counted(&simulation), (1, 2));
    simulation.finish().unwrap();
}

#[test]
fn a_request_during_the_erase_finds_no_point_to_pause_at() {
    let whole = job(WRITE + IDLE, 3);
    let mut simulation = submitted(&config(Scope::None), &[write(0, 0), read(whole[3].0 + 1, 9)]);
    assert_eq!(collection(&mut simulation, 100_000_000), whole);
    assert_eq!(counted(&simulation), (1, 0));
    simulation.finish().unwrap();
}

#[test]
fn a_job_that_pauses_goes_on_when_its_pool_is_short_of_blocks() {
    // Eight writes come during the first move. Two fill block 4, four block 5, and the seventh takes block 6, which leaves only the reserve.
    let writes: Vec<_> = [write(0, 0)].into_iter().chain((4..12).map(|page| write(1_400_000, page))).collect();
    let mut simulation = submitted(&config(Scope::None), &writes);
    let first = WRITE + IDLE;
    let again = first + MOVE + 7 * WRITE;
    let rest = job(again, 2);
    simulation.run_to_idle().unwrap();
    let done = simulation.take_completions();
    assert_eq!(done.last().unwrap().completed_ns, rest[2].1 + WRITE);
    let end = simulation.now();
    assert_eq!(collection(&mut simulation, end), [vec![(first, first + MOVE)], rest].concat());
    assert_eq!(counted(&simulation), (1, 1));
    simulation.finish().unwrap();
}

#[test]
fn the_adaptive_timeout_doubles_when_a_request_finds_work_and_halves_when_not() {
    let mut config = config(Scope::None);
    config.gc.idle_timeout = IdleTimeout::Adaptive;
    // The first request of an idle time counts: the second read does not double it again.
    let requests =
        [write(0, 0), read(1_400_000, 9), read(1_400_001, 10), write(10_000_000, 8), write(20_000_000, 12), write(30_000_000, 13)];
    let mut simulation = submitted(&config, &requests);
    let first = WRITE + IDLE;
    let reads = first + MOVE + 2 * READ;
    // 2 ms, after which it ends its work; the write at 10 ms halves it, that at 20 ms again, which is 0.5 ms.
    let expected = [
        vec![(first, first + MOVE)],
        job(reads + 2 * IDLE, 2),
        // Page 8 opened block 5, and block 2 has lost it: pages 9 to 11 move.
        job(10_000_000 + WRITE + IDLE, 3),
        job(20_000_000 + WRITE + IDLE / 2, 3),
    ]
    .concat();
    assert_eq!(collection(&mut simulation, 29_999_999), expected);
    assert_eq!(counted(&simulation), (3, 1));
    simulation.finish().unwrap();
}

#[test]
fn the_adaptive_timeout_stays_within_a_sixteenth_and_sixteen_times() {
    let mut config = config(Scope::Chip);
    config.gc.idle_timeout = IdleTimeout::Adaptive;
    // Each write takes a page of the frontier and invalidates one; every fourth takes a block and has the next job follow. A request that
    // never finds work: the timeout falls to 62,500 ns and stays there.
    let writes: Vec<_> = (0..40).map(|i| write(20_000_000 * i, i % 16)).collect();
    let mut simulation = submitted(&config, &writes);
    let starts = collection(&mut simulation, 800_000_000);
    let waits: Vec<_> = (0..40)
        .filter_map(|i| {
            starts.iter().find(|(start, _)| (20_000_000 * i..20_000_000 * (i + 1)).contains(start)).map(|(s, _)| s - 20_000_000 * i)
        })
        .collect();
    assert_eq!(waits[..6], [1_000_000, 500_000, 250_000, 125_000, 62_500, 62_500].map(|timeout| WRITE + timeout));
    // Requests that always find work: it rises to 16 ms.
    config.device.erase_ns = 400_000_000;
    let reads = (0..8).map(|i| read(1_000_000_000 * i + 100_000_000, 9));
    let mut requests: Vec<_> = (0..8).map(|i| write(1_000_000_000 * i, i % 16)).chain(reads).collect();
    requests.sort_by_key(|request| request.arrival_ns);
    let mut simulation = submitted(&config, &requests);
    let jobs = collection(&mut simulation, 8_000_000_000);
    assert!(jobs.len() >= 8, "{jobs:?}");
    simulation.finish().unwrap();
}

#[test]
fn a_closed_loop_is_never_idle() {
    // The next request comes at the instant at which the one before ends.
    let mut config = config(Scope::None);
    config.gc.idle_us = 1;
    config.gc.idle_timeout = IdleTimeout::Adaptive;
    let mut simulation = simulation(&config);
    for i in 0..50 {
        let now = simulation.now();
        simulation.submit(read(now, i % 16)).unwrap();
        simulation.run_to_idle().unwrap();
    }
    assert_eq!(counted(&simulation), (0, 0));
    assert_eq!(simulation.now(), 50 * READ);
    simulation.finish().unwrap();
}
