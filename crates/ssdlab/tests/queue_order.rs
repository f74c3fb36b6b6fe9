//! The order of chip queues where operations wait for older ones on their page: every response time equals that of a queue computed apart, by
//! looking at all operations whenever the die is free.

use ssdlab::config::{Allocation, Config, Order, PoolScope, PreconditionKind};
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation};

use crate::common::one_die;
use crate::common::pages::PAGE;

const TRANSFER: u64 = 102_400;
const READ: u64 = 25_000 + TRANSFER;
const WRITE: u64 = TRANSFER + 200_000;
const EXPORTED: u64 = 512;

/// One server, filled, with enough free blocks that nothing is collected.
fn config(order: Order) -> Config {
    let mut config = one_die();
    config.device.blocks_per_plane = 256;
    config.device.pages_per_block = 128;
    config.device.overprovisioning = 1.0 - EXPORTED as f64 / (256.0 * 128.0);
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config.scheduler.order = order;
    config
}

/// Requests of one page that come at random, a fifth of them for page 0. `mixed`: a third reads, and a third of the writes in part.
fn requests(seed: u64, count: u64, mean_gap: u64, mixed: bool) -> Vec<Request> {
    let mut rng = Rng::new(seed, "queue order");
    let mut arrival_ns = 0;
    (0..count)
        .map(|_| {
            arrival_ns += (-(1.0 - rng.unit()).ln() * mean_gap as f64) as u64;
            let page = if rng.chance(0.2) { 0 } else { rng.below(EXPORTED) };
            let kind = if mixed && rng.chance(0.33) { RequestKind::Read } else { RequestKind::Write };
            let part = mixed && kind == RequestKind::Write && rng.chance(0.33);
            let length = if part { 512 } else { PAGE };
            Request { arrival_ns, kind, offset: page * PAGE, length, high_priority: false, flow: 0, handle: None }
        })
        .collect()
}

/// The response time of each request on the simulated drive.
fn simulated(config: &Config, requests: &[Request]) -> Vec<u64> {
    let mut simulation = Simulation::new(&Plan::new(config.clone(), 1), &Control::default()).expect("a drive");
    simulation.take_completions();
    for &request in requests {
        simulation.submit(request).expect("it fits");
    }
    simulation.run_to_idle().expect("it ends");
    let mut done = simulation.take_completions();
    done.sort_by_key(|completion| completion.index);
    assert_eq!(simulation.ssd().counters().jobs, 0, "nothing is collected");
    assert!(simulation.ssd().counters().page_order_waits > 0, "operations wait for older ones on their page");
    done.iter().map(|completion| completion.completed_ns - completion.arrival_ns).collect()
}

/// An operation that is not done.
struct Op {
    request: usize,
    page: u64,
    write: bool,
    /// A part of the page is written, which has still to be read.
    to_read: bool,
    part: bool,
}

/// The queue, by age, and when requests ended.
struct Queue<'a> {
    order: Order,
    requests: &'a [Request],
    waiting: Vec<Op>,
    next: usize,
    ends: Vec<u64>,
}

impl Queue<'_> {
    /// Takes in what arrives before `until`.
    fn take_in(&mut self, until: u64) {
        while let Some(request) = self.requests.get(self.next).filter(|request| request.arrival_ns < until) {
            let (page, write, part) = (request.offset / PAGE, request.kind == RequestKind::Write, request.length < PAGE);
            let youngest = self.waiting.iter().rfind(|op| op.page == page && op.write);
            if !write && youngest.is_some_and(|op| !op.part) {
                // Answered from the controller's buffer.
                self.ends[self.next] = request.arrival_ns;
            } else {
                self.waiting.push(Op { request: self.next, page, write, to_read: part, part });
            }
            self.next += 1;
        }
    }

    fn can_begin(&self, place: usize) -> bool {
        let op = &self.waiting[place];
        !self.waiting[..place].iter().any(|older| older.page == op.page && (op.write || older.write))
    }

    /// The oldest that can begin: of all, or of the reads while there are any.
    fn choice(&self) -> Option<usize> {
        let programs = |place: usize| self.waiting[place].write && !self.waiting[place].to_read;
        let can_begin = (0..self.waiting.len()).filter(|&place| self.can_begin(place));
        can_begin.min_by_key(|&place| (self.order == Order::FrFcfs && programs(place), place))
    }
}

/// When each request ends on one server, computed apart from the simulator.
fn computed(order: Order, requests: &[Request]) -> Vec<u64> {
    let mut queue = Queue { order, requests, waiting: Vec::new(), next: 0, ends: vec![0; requests.len()] };
    let mut now = 0;
    loop {
        queue.take_in(now + 1);
        let Some(place) = queue.choice() else {
            let Some(request) = requests.get(queue.next) else { break };
            now = request.arrival_ns;
            continue;
        };
        let op = &queue.waiting[place];
        now += if op.write && !op.to_read { WRITE } else { READ };
        // What arrives meanwhile may be to the same page.
        queue.take_in(now);
        if std::mem::take(&mut queue.waiting[place].to_read) {
            continue;
        }
        queue.ends[queue.waiting.remove(place).request] = now;
    }
    queue.ends.iter().zip(requests).map(|(end, request)| end - request.arrival_ns).collect()
}

#[test]
fn writes_behind_an_older_write_of_their_page_wait_no_longer_than_first_in_first_out() {
    // Load 0.9.
    let requests = requests(1, 30_000, WRITE * 10 / 9, false);
    let mut free = 0;
    let fifo = requests.iter().map(|request| {
        free = request.arrival_ns.max(free) + WRITE;
        free - request.arrival_ns
    });
    assert_eq!(simulated(&config(Order::Fcfs), &requests), fifo.collect::<Vec<_>>());
}

/// What makes a drive of one server another one of one server.
type Change = fn(&mut Config);

fn two_planes(config: &mut Config) {
    config.device.planes_per_die = 2;
    config.device.blocks_per_plane /= 2;
}

#[test]
fn operations_keep_the_place_of_their_arrival_while_they_wait_for_their_page() {
    let changes: [(&str, Change); 5] = [
        ("a die", |_| ()),
        ("two planes", two_planes),
        ("two planes as one pool", |config| {
            two_planes(config);
            config.ftl.pool = PoolScope::Die;
        }),
        ("two dies that take turns", |config| {
            config.device.dies_per_chip = 2;
            config.device.blocks_per_plane /= 2;
            config.device.die_interleave = false;
        }),
        ("dynamic allocation", |config| config.ftl.allocation = Allocation::Dynamic),
    ];
    for (seed, (name, change)) in (10..).zip(changes) {
        for order in [Order::Fcfs, Order::FrFcfs] {
            // Load 0.95 and, for long queues, 1.5.
            for mean_gap in [260_000, 165_000] {
                let requests = requests(seed, 3_000, mean_gap, true);
                let mut config = config(order);
                change(&mut config);
                assert_eq!(simulated(&config, &requests), computed(order, &requests), "{name}, {order:?}, {mean_gap}");
            }
        }
    }
}

/// A station's queue with estimates alone, which let no operation pass, is the same queue.
#[test]
fn estimates_do_not_change_the_place_of_operations_that_wait_for_their_page() {
    let requests = requests(5, 3_000, 200_000, true);
    let mut config = config(Order::FrFcfs);
    config.scheduler.estimates = true;
    assert_eq!(simulated(&config, &requests), computed(Order::FrFcfs, &requests));
}
