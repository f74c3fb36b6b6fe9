//! One test for each defect that was found and mended, named after it. Those that show in a timeline stand in `timelines.rs`.

use crate::common::{one_die, plan, simulation};
use ssdlab::config::{Allocation, Config, Frontier, Order, PoolScope, PreconditionKind, Priority, Scope};
use ssdlab::error::Result;
use ssdlab::request::{Request, RequestKind};
use ssdlab::simulation::{Control, Plan, Simulation, Verify};
use ssdlab::stats::{Completion, Part};
use ssdlab::workload::RequestSource;

const PAGE: u64 = 4096;

fn read(arrival_ns: u64, page: u64) -> Request {
    Request { arrival_ns, kind: RequestKind::Read, offset: page * PAGE, length: PAGE, high_priority: false, flow: 0, handle: None }
}

fn write(arrival_ns: u64, page: u64) -> Request {
    Request { kind: RequestKind::Write, ..read(arrival_ns, page) }
}

fn trim(arrival_ns: u64, page: u64) -> Request {
    Request { kind: RequestKind::Trim, ..read(arrival_ns, page) }
}

/// Plays requests and returns their completions by index.
fn play(config: &Config, requests: impl IntoIterator<Item = Request>) -> Vec<Completion> {
    let mut simulation = simulation(config);
    for request in requests {
        simulation.submit(request).unwrap();
    }
    simulation.run_to_idle().unwrap();
    let mut completions = simulation.take_completions();
    completions.sort_by_key(|completion| completion.index);
    simulation.finish().unwrap();
    completions
}

fn response(completion: &Completion) -> u64 {
    completion.completed_ns - completion.arrival_ns
}

fn filled(mut config: Config) -> Config {
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config
}

struct Listed(std::vec::IntoIter<Request>);

impl RequestSource for Listed {
    fn next_request(&mut self) -> Result<Option<Request>> {
        Ok(self.0.next())
    }
}

struct Endless<F>(F);

impl<F: FnMut() -> Option<Request> + Send> RequestSource for Endless<F> {
    fn next_request(&mut self) -> Result<Option<Request>> {
        Ok((self.0)())
    }
}

/// Plays requests through [`Simulation::drive`], which takes them one by one.
fn driven(config: &Config, requests: Vec<Request>) -> Vec<Completion> {
    let mut simulation = simulation(config);
    simulation.drive(&mut Listed(requests.into_iter()), &Control::default()).unwrap();
    let mut completions = simulation.take_completions();
    completions.sort_by_key(|completion| completion.index);
    completions
}

#[test]
fn a_trim_does_not_overtake_a_write_in_the_host_queue() {
    let mut config = one_die();
    config.scheduler.write_queue = 1;
    let done = play(&config, [write(0, 0), write(0, 1), write(0, 2), trim(1_000, 2), read(5_000_000, 2)]);
    // The third write enters the chip's queue when the second leaves it, and ends at 907.2 us: the trim waits for it.
    assert_eq!(response(&done[3]), 906_200);
    assert_eq!(done[3].parts().0[Part::HostQueue as usize], 301_400);
    assert_eq!(done[3].parts().0[Part::DieQueue as usize], 604_800);
    assert_eq!(response(&done[4]), 0, "the page holds no data");
}

#[test]
fn many_trims_behind_one_write_do_not_exhaust_the_stack() {
    let mut config = one_die();
    config.ftl.precondition.kind = PreconditionKind::None;
    let plan = Plan { verify: Verify::End, ..plan(config) };
    let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
    simulation.submit(write(0, 0)).unwrap();
    for _ in 0..300_000 {
        simulation.submit(trim(10, 0)).unwrap();
    }
    simulation.finish().unwrap();
}

#[test]
fn operations_that_overlap_do_not_keep_an_older_one_of_the_other_kind_waiting() {
    let mut config = filled(one_die());
    config.device.cache_register = true;
    config.scheduler.pipeline = true;
    let reads = |from: u64, count: u64| (0..count).map(move |i| read(from, 1 + i % 8));
    let done = play(&config, [read(0, 0), write(1, 15)].into_iter().chain(reads(2, 40)));
    // fcfs: the write is second.
    assert_eq!(done[1].completed_ns, 127_400 + 302_400);
    config.scheduler.order = Order::FrFcfs;
    let done = play(&config, [write(0, 0), write(0, 1), write(0, 2), write(0, 3), read(10, 9)]);
    // fr-fcfs: the second write overlaps the first, being there before the read; the others wait for the read.
    assert!(done[4].completed_ns < done[2].completed_ns, "{done:?}");
}

#[test]
fn operations_that_overlap_do_not_keep_collection_waiting_that_goes_first() {
    let mut config = filled(one_die());
    config.device.cache_register = true;
    config.device.copyback = true;
    config.scheduler.pipeline = true;
    config.gc.soft = 3.0;
    config.ftl.frontier = Frontier::Shared;
    config.gc.scope = Scope::None;
    config.gc.priority = Priority::Gc;
    let early = [0, 1, 2, 4].into_iter().enumerate().map(|(i, page)| write(1_000_000 * i as u64, page));
    // The first of these opens a block and starts a job; the others could overlap it, and each other.
    let done = play(&config, early.chain((5..8).map(|page| write(4_000_000, page))));
    assert_eq!(done[4].completed_ns, 4_302_400);
    // One page is moved, then the block is erased; only then the others go.
    assert_eq!(done[5].completed_ns, 4_302_400 + 225_000 + 1_500_000 + 302_400);
}

#[test]
fn dies_of_a_chip_without_interleave_are_served_in_the_order_of_their_operations() {
    let mut config = filled(one_die());
    config.device.dies_per_chip = 2;
    config.device.die_interleave = false;
    // Even pages lie on one die, odd ones on the other.
    let done = play(&config, (0..10).map(|i| read(i, 2 * (i % 4))).chain([read(20, 1)]).chain((30..40).map(|i| read(i, 2 * (i % 4)))));
    let order: Vec<u64> = done.iter().map(|completion| completion.completed_ns).collect();
    assert!(order.is_sorted(), "{order:?}");
}

#[test]
fn what_arrives_together_is_dispatched_together_however_it_is_submitted() {
    let mut config = filled(one_die());
    config.scheduler.order = Order::FrFcfs;
    let requests = vec![write(1_000, 0), read(1_000, 1), write(1_000, 2), read(1_000, 3), write(2_000, 4), read(2_000, 5)];
    let at_once = play(&config, requests.clone());
    assert_eq!(format!("{:?}", driven(&config, requests)), format!("{at_once:?}"));
    assert!(at_once[1].completed_ns < at_once[0].completed_ns, "reads go first");
}

#[test]
fn a_page_held_in_the_host_queue_is_counted_once() {
    let mut config = filled(one_die());
    config.scheduler.read_queue = 1;
    // The write leaves its queue and ends while the third read waits for the second to leave the queue of reads.
    let mut simulation = simulation(&config);
    for request in [write(0, 0), write(0, 1), write(0, 2), read(1, 4), read(2, 5)] {
        simulation.submit(request).unwrap();
    }
    simulation.run_to_idle().unwrap();
    assert_eq!(simulation.ssd().counters().host_queue_waits, 1);
}

#[test]
fn progress_without_time_is_progress() {
    let mut config = one_die();
    config.workload.queue_depth = 1;
    let mut reads = 0;
    let mut source = Endless(|| {
        reads += 1;
        (reads <= 10_000_010).then(|| read(0, 0))
    });
    // Every read is of a page without data, hence answered at once: time stays 0.
    let plan = Plan { verify: Verify::Off, ..plan(config) };
    let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
    simulation.drive(&mut source, &Control::default()).unwrap();
}

#[test]
fn a_read_behind_a_waiting_read_is_answered_from_the_write_ahead_of_both() {
    let config = filled(one_die());
    let half = |request: Request, from: u64| Request { offset: request.offset + from, length: PAGE / 2, ..request };
    let done = play(&config, [half(write(0, 0), 0), half(read(10, 0), PAGE / 2), half(read(20, 0), 0)]);
    assert!(response(&done[1]) > 0);
    assert_eq!(response(&done[2]), 0);
}

#[test]
fn arrivals_at_the_end_of_time_are_refused() {
    let mut simulation = simulation(&one_die());
    let error = simulation.submit(write(u64::MAX, 0)).unwrap_err();
    assert!(error.to_string().contains("285 years"), "{error}");
    simulation.submit(write(1_000_000_000_000_000_000, 0)).unwrap();
    simulation.finish().unwrap();
}

#[test]
fn a_gate_between_the_jobs_of_one_plane_does_not_wait_for_another_plane() {
    let mut config = filled(one_die());
    config.device.planes_per_die = 2;
    config.device.copyback = true;
    config.ftl.pool = PoolScope::Plane;
    config.gc.soft = 3.0;
    config.gc.scope = Scope::Plane;
    config.gc.priority = Priority::Host;
    // As in "between two jobs the host operations that wait go first" of timelines.rs, on each of two planes, one of them a little later. When
    // the first job of the one ends and another is to follow, a read waits for the job of the other.
    let on_plane = |plane: u64, at: u64| {
        let ranks = [0, 1, 2, 4, 5].into_iter().enumerate();
        ranks.map(move |(i, rank)| write(at + 1_000_000 * i as u64, 2 * rank + plane)).collect::<Vec<_>>()
    };
    let mut requests = [on_plane(0, 0), on_plane(1, 310_000), vec![read(4_700_000, 2 * 9 + 1)]].concat();
    requests.sort_by_key(|request| request.arrival_ns);
    let mut simulation = simulation(&config);
    for request in requests {
        simulation.submit(request).unwrap();
    }
    // The first plane's job ends at 4,612,400 + 225,000 + 225,000 (the other plane's move was ready earlier) + 1,500,000.
    simulation.run_until(6_562_400).unwrap();
    let counters = simulation.ssd().counters();
    assert_eq!((counters.jobs, counters.host_first_between_jobs), (1, 0));
}

#[test]
fn a_write_that_waits_for_a_chip_goes_to_another_one_that_ends_its_work() {
    let mut config = filled(one_die());
    config.device.channels = 2;
    config.device.chips_per_channel = 2;
    config.ftl.allocation = Allocation::Dynamic;
    config.scheduler.write_queue = 1;
    // Chips 2 and 3 are on the second channel and read two pages each. The writes go to chip 0, to chip 1 (which waits for the bus), to chip 0
    // again, and the last finds chip 1 the least loaded and its queue full: until chip 2, whose turn is first, has no more to do.
    let reads = [2, 6, 3, 7].map(|page| read(0, page));
    let done = play(&config, reads.into_iter().chain((0..4).map(|i| write(100_000 + i, 8 + i))));
    assert_eq!(done[0].completed_ns, 127_400);
    assert_eq!(done[7].parts().0[Part::HostQueue as usize], 127_400 - 100_003);
}

#[test]
fn trims_behind_a_trim_that_waits_leave_nothing_to_do() {
    let config = one_die();
    // The first trim waits for the write, the others change nothing; then the page is written again, and trimmed once more.
    let trims = [trim(10, 0), trim(20, 0), trim(30, 0)];
    let done = play(&config, [write(0, 0)].into_iter().chain(trims).chain([read(40, 0), write(50, 0), trim(60, 0), read(70, 0)]));
    let ends: Vec<u64> = done.iter().map(|completion| completion.completed_ns).collect();
    assert_eq!(ends, [302_400, 302_400, 20, 30, 40, 604_800, 604_800, 70]);
}
