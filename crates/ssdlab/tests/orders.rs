//! Orders of operations of the user's own: those that repeat the built-in ones give the same response times, bit for bit, and none can
//! break the simulator's rules.

use crate::common::cases::{Cases, Failure, Tally};
use crate::common::{self, one_die};
use crate::swarm::drawn;
use ssdlab::config::{Config, Order, PreconditionKind, Priority, Scope, Suspendable};
use ssdlab::error::Error;
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::sched::{Cause, Choices, CustomOrder, Failure as Reason, Operation, OperationKind, OrderPolicy, Situation};
use ssdlab::simulation::{Control, Plan, Simulation, Verify, run};
use ssdlab::stats::RunResult;
use ssdlab::units::Ns;

/// The order of a configuration, written as a policy.
#[derive(Clone, Copy)]
struct Again {
    order: Order,
    priority: Priority,
    /// Writes go before reads if more of them are queued.
    write_mark: u32,
}

impl Again {
    fn of(config: &Config) -> Self {
        let bounded = f64::from(config.scheduler.write_queue);
        let write_mark = if bounded == 0.0 { u32::MAX } else { (bounded * config.scheduler.alpha) as u32 };
        Again { order: config.scheduler.order, priority: config.gc.priority, write_mark }
    }
}

impl OrderPolicy for Again {
    fn pick(&mut self, choices: &Choices<'_>) -> Result<Option<usize>, Reason> {
        let (all, last) = (choices.operations, choices.operations.len() - 1);
        let hosts = if choices.job.is_some() { last } else { last + 1 };
        let first_kind = if choices.queued[1] > self.write_mark { OperationKind::Program } else { OperationKind::Read };
        let preferred = (0..hosts).find(|&index| self.order == Order::FrFcfs && all[index].kind == first_kind);
        let host = preferred.unwrap_or(0);
        let gc_first = choices.job.is_some()
            && match self.priority {
                Priority::Gc => true,
                Priority::Host => false,
                Priority::Fifo => all[last].ready < all[host].ready,
            };
        Ok(Some(if gc_first { last } else { host }))
    }
}

/// A policy made of a function of the choices and of the number of the call.
struct By<F>(F, u64);

impl<F: FnMut(&Choices<'_>, u64) -> Result<Option<usize>, Reason> + Send> OrderPolicy for By<F> {
    fn pick(&mut self, choices: &Choices<'_>) -> Result<Option<usize>, Reason> {
        self.1 += 1;
        (self.0)(choices, self.1)
    }
}

fn by<F: FnMut(&Choices<'_>, u64) -> Result<Option<usize>, Reason> + Send + Copy + Sync + 'static>(pick: F) -> CustomOrder {
    CustomOrder::new("ours", "version 1", move || By(pick, 0))
}

fn simulated(config: &Config, requests: &[Request], order: Option<CustomOrder>, verify: Verify) -> Result<RunResult, String> {
    let plan = Plan { verify, order, ..Plan::new(config.clone(), 7) };
    let mut simulation = Simulation::new(&plan, &Control::default()).map_err(|error| error.to_string())?;
    for request in requests {
        simulation.submit(*request).map_err(|error| error.to_string())?;
    }
    simulation.finish().map_err(|error| error.to_string())
}

/// A case of the swarm under its own order, and under the policy that repeats it.
fn repeated(case: u64) -> Result<Tally, String> {
    let (mut config, requests) = drawn(case);
    if config.scheduler.order == Order::Fair {
        // It goes by what has been, which a situation does not show.
        config.scheduler.order = Order::Fcfs;
    }
    let again = Again::of(&config);
    let built_in = simulated(&config, &requests, None, Verify::Off)?;
    let ours = simulated(&config, &requests, Some(CustomOrder::new("again", "again", move || again)), Verify::Off)?;
    if built_in.digest != ours.digest {
        return Err(format!("digest {} with the policy, {} without", ours.digest, built_in.digest));
    }
    let mut expected = built_in.counters.clone();
    expected.insert("order_choices".into(), ours.counters["order_choices"]);
    if expected != ours.counters {
        let differs =
            |(name, count): (&String, &u64)| (expected[name] != *count).then(|| format!("{name} {count}, not {}", expected[name]));
        return Err(ours.counters.iter().filter_map(differs).collect::<Vec<_>>().join("; "));
    }
    let jobs = u64::from(ours.gc.suspensions > 0);
    Ok([("choices", ours.counters["order_choices"]), ("suspended", jobs), ("jobs", ours.gc.jobs)].map(|(name, n)| (name.into(), n)).into())
}

#[test]
fn a_policy_that_repeats_a_built_in_order_gives_its_response_times() {
    let tally = Cases::asked_for(3_000).run(repeated);
    let tally = tally.unwrap_or_else(|Failure { case, reason }| panic!("case {case} {reason}\n{:#?}", drawn(case).0));
    println!("{tally:?}");
    assert!(["choices", "suspended", "jobs"].iter().all(|name| tally[*name] > 10), "{tally:?}");
}

/// Choices that no sensible policy makes: by a hash of what it sees, so that they are repeatable.
fn at_random(choices: &Choices<'_>, call: u64) -> Result<Option<usize>, Reason> {
    let mut rng = Rng::new(call ^ choices.now_ns, "any");
    Ok((!rng.chance(0.1)).then(|| rng.below(choices.operations.len() as u64) as usize))
}

#[test]
fn no_policy_can_break_the_rules_of_the_drive() {
    let case = |case| {
        let (config, requests) = drawn(case);
        let ours = simulated(&config, &requests, Some(by(at_random)), Verify::Every)?;
        Ok([("choices", ours.counters["order_choices"]), ("left", ours.counters["order_fallbacks"])]
            .map(|(name, n)| (name.into(), n))
            .into())
    };
    let tally = Cases::asked_for(2_000).run(case);
    let tally = tally.unwrap_or_else(|Failure { case, reason }| panic!("case {case} {reason}\n{:#?}", drawn(case).0));
    assert!(tally["choices"] > 10 * tally["left"] / 2 && tally["left"] > 10, "{tally:?}");
}

/// A drive of two dies on which GC runs, with its erases suspended.
fn config() -> Config {
    let mut config = one_die();
    config.device.channels = 2;
    config.device.blocks_per_plane = 32;
    config.device.pages_per_block = 16;
    config.device.overprovisioning = 0.25;
    config.gc.soft = 2.0;
    config.gc.priority = Priority::Host;
    config.gc.scope = Scope::None;
    config.gc.suspend = vec![Suspendable::Erase];
    config.ftl.precondition.kind = PreconditionKind::Steady;
    config.workload.read_share = 0.5;
    config.workload.interarrival_us = 700.0;
    config
}

fn ended(order: Option<CustomOrder>, verify: Verify) -> Result<RunResult, Error> {
    run(&Plan { requests: Some(2_000), verify, order, ..Plan::new(config(), 1) }, &Control::default())
}

#[test]
fn the_result_says_whose_order_it_was() {
    let (built_in, ours) = (ended(None, Verify::Off).expect("a run"), ended(Some(by(|_, _| Ok(None))), Verify::End).expect("a run"));
    assert_eq!((&ours.digest, ours.counters["order_fallbacks"]), (&built_in.digest, ours.counters["order_choices"]));
    assert!(ours.counters["order_choices"] > 1_000, "{:?}", ours.counters);
    assert_eq!(ours.config["scheduler"]["order"], "custom, else fcfs");
    assert_eq!(ours.order_source, Some(blake3::hash(b"version 1").to_hex().to_string()));
    assert_eq!((&built_in.config["scheduler"]["order"], built_in.order_source), (&"fcfs".into(), None));
}

#[test]
fn an_index_out_of_range_is_an_error() {
    let error = ended(Some(by(|choices, _| Ok(Some(choices.operations.len())))), Verify::Off).expect_err("no such operation");
    assert_eq!(error.to_string(), "order policy ours: chose operation 2 of 2: expected an index from 0 to 1");
}

#[test]
fn a_policy_that_suspends_in_vain_for_ever_is_an_error() {
    let last_unless_in_service = |choices: &Choices<'_>, _: u64| {
        let last = choices.operations.len() - 1;
        Ok(Some(if choices.situation == Situation::InService { 0 } else { last }))
    };
    let error = ended(Some(by(last_unless_in_service)), Verify::Off).expect_err("no run would end");
    assert!(error.to_string().contains("had an operation suspended for the host, and then chose the suspended operation"), "{error}");
}

#[test]
fn verify_mode_finds_a_policy_that_is_not_deterministic() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let clock = |choices: &Choices<'_>, _: u64| Ok(Some(CALLS.fetch_add(1, Ordering::Relaxed) % choices.operations.len()));
    let error = ended(Some(by(clock)), Verify::End).expect_err("it changes its mind").to_string();
    assert!(error.starts_with("order policy ours: is not deterministic: two instances, called with the same arguments, chose "), "{error}");
}

/// Three writes and a read wait behind a read of the same die: the policy sees all of them, and the one that it chooses begins.
#[test]
fn the_policy_sees_what_waits_and_is_obeyed() {
    let mut config = one_die();
    config.ftl.precondition.kind = PreconditionKind::Fill;
    let page = 4096;
    let request = |arrival_ns, kind, page_number: u64, bytes| Request {
        arrival_ns,
        kind,
        offset: page_number * page,
        length: bytes,
        high_priority: page_number == 2,
        flow: 0,
        handle: None,
    };
    let requests = [
        request(0, RequestKind::Read, 0, page),
        request(10, RequestKind::Write, 1, page),
        request(20, RequestKind::Write, 2, page),
        request(30, RequestKind::Read, 3, 512),
    ];
    let shortest = |choices: &Choices<'_>, call: u64| {
        if call == 1 {
            let seen = |one: &Operation| (one.kind, one.arrival_ns, one.offset, one.bytes, one.request, one.high_priority);
            let expected = [
                (OperationKind::Program, 10, 4096, 4096, Some(1), false),
                (OperationKind::Program, 20, 8192, 4096, Some(2), true),
                (OperationKind::Read, 30, 12288, 512, Some(3), false),
            ];
            assert_eq!(choices.operations.iter().map(seen).collect::<Vec<_>>(), expected);
            assert!(choices.operations.iter().all(|one| one.cause == Cause::Host && one.slack_ns.is_none()));
            assert_eq!((choices.now_ns, choices.queued, choices.job, choices.situation), (127_400, [1, 2], None, Situation::Begins));
        }
        let smallest = (0..choices.operations.len()).min_by_key(|&index| choices.operations[index].bytes);
        Ok(smallest)
    };
    let mut simulation =
        Simulation::new(&Plan { order: Some(by(shortest)), ..common::plan(config) }, &Control::default()).expect("a drive");
    simulation.take_completions();
    requests.iter().for_each(|&one| assert!(simulation.submit(one).is_ok()));
    simulation.run_to_idle().expect("it ends");
    let done: Vec<(u64, Ns)> = simulation.take_completions().iter().map(|one| (one.index, one.completed_ns)).collect();
    // Read 25 + 102.4 us, program 102.4 + 200 us, one after the other.
    assert_eq!(done, [(0, 127_400), (3, 254_800), (1, 557_200), (2, 859_600)]);
}
