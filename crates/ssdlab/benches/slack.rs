//! What slack-aware scheduling (elyasi2017) costs: an operation that passes a whole queue, by the queue's length, and a run under `slacker` against
//! one under `fr-fcfs`.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]

use std::time::Instant;

use ssdlab::config::{Arrival, Config, Layers};
use ssdlab::flash::Timing;
use ssdlab::ftl::Ftl;
use ssdlab::sched::{QueueKind, Scheduler, Transaction, TransactionKind, Transactions};
use ssdlab::simulation::{Control, Plan, run};
use ssdlab::units::{ChipId, DieId, Lpn, Ns, PoolId, ReqId, SlabId};

/// Number of turns, the best of which counts: other work on the machine only ever makes a turn slower.
const TURNS: u32 = 3;
/// Entries passed in a turn.
const PASSES: u32 = 10_000_000;
const REQUESTS: u64 = 300_000;

fn main() {
    println!("An operation that passes a queue of others with slack, best of {TURNS} turns");
    for length in [10, 100, 1_000, 10_000] {
        let ns = (0..TURNS).map(|_| insertion_ns(length)).fold(f64::INFINITY, f64::min);
        println!("  {length:>6} entries  {ns:>12.0} ns an insertion  {:>6.2} ns an entry", ns / f64::from(length));
    }
    let (plain, slack) = (0..TURNS)
        .map(|_| (run_s("fr-fcfs"), run_s("slacker")))
        .fold((f64::INFINITY, f64::INFINITY), |best, turn| (best.0.min(turn.0), best.1.min(turn.1)));
    println!("{REQUESTS} requests on the elyasi2017 drive in bursts of 100, three of four writes of 32 KiB");
    println!("  fr-fcfs {:>10.0} requests/s", REQUESTS as f64 / plain);
    println!("  slacker {:>10.0} requests/s   {:.2} times the time (asked: at most 2)", REQUESTS as f64 / slack, slack / plain);
}

fn config(scheme: &str) -> Config {
    Layers { device: Some("elyasi2017".into()), schemes: vec![scheme.into()], ..Layers::default() }.build().expect("presets fit together")
}

/// Expected times of a read and of a program, ns.
const EXPECTED: [Ns; 2] = [100_000, 1_000_000];

/// The time to put one operation into a queue of `length` which it bypasses whole, and to take it out again.
fn insertion_ns(length: u32) -> f64 {
    let config = config("slacker");
    let mut scheduler = Scheduler::new(&config, &Ftl::new(&config), &Timing::new(&config));
    let mut transactions = Transactions::default();
    let queue = scheduler.queue(PoolId(0), QueueKind::Write);
    let push = |scheduler: &mut Scheduler, transactions: &mut Transactions, number: u32, slack: Ns| {
        let request = ReqId::new(number);
        let id = transactions.insert(write(request));
        let of = scheduler.slack_mut().expect("slacker");
        of.new_request(request, 0);
        of.new_operation(id, u64::from(number), ChipId(0), EXPECTED);
        scheduler.push(transactions, DieId(0), id);
        let of = scheduler.slack_mut().expect("slacker");
        // The latest end of the request is that of a page elsewhere.
        of.will_end(0, id, request, QueueKind::Write, slack, 0);
        of.will_end(0, id, request, QueueKind::Write, 0, 0);
        id
    };
    for number in 0..length {
        push(&mut scheduler, &mut transactions, number, Ns::MAX / 4);
    }
    let turns = PASSES / length;
    let start = Instant::now();
    for _ in 0..turns {
        let id = push(&mut scheduler, &mut transactions, length, 0);
        assert_eq!(scheduler.head(queue), Some(id), "it has bypassed the whole queue");
        scheduler.remove(&mut transactions, DieId(0), id);
        transactions.remove(id);
    }
    start.elapsed().as_nanos() as f64 / f64::from(turns)
}

fn write(request: ReqId) -> Transaction {
    let number = request.number();
    Transaction {
        active: true,
        ready: (0, u64::from(number)),
        rank: u64::from(number),
        ..Transaction::new(TransactionKind::Write, request, Lpn(number), (0, 8192), ChipId(0), 0)
    }
}

fn run_s(scheme: &str) -> f64 {
    let mut config = config(scheme);
    config.workload.arrival = Arrival::Burst;
    config.workload.burst_length = 100;
    config.workload.interarrival_us = 200.0;
    config.workload.request_kb = 32.0;
    config.workload.read_share = 0.25;
    config.workload.align_kb = 8.0;
    let plan = Plan { requests: Some(REQUESTS), ..Plan::new(config, 1) };
    run(&plan, &Control::default()).expect("a run").wall_s
}
