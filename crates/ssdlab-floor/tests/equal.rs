//! The core against a simulator that was written apart and does only what a few configurations need: each response time, and what GC does.

use ssdlab::config::{Config, PreconditionKind};
use ssdlab::ftl::Ftl;
use ssdlab::precondition;
use ssdlab::simulation::{Control, Plan, Simulation};
use ssdlab::units::Ns;
use ssdlab::workload::{self, RequestSource};
use ssdlab_floor::{CASES, Case, Counts, Floor};

const SEEDS: std::ops::Range<u64> = 1..4;
const REQUESTS: u64 = 6_000;
/// After the last request: longer than all jobs that are wanted then.
const UNTIL_REST_NS: Ns = 100_000_000_000;

/// What is compared beside single response times: what GC has done when all its jobs have ended, and sum and largest response time, ns.
#[derive(Debug, PartialEq)]
struct Totals {
    jobs: u64,
    pages_moved: u64,
    erases: u64,
    sum_ns: u128,
    max_ns: Ns,
}

fn source(plan: &Plan) -> Box<dyn RequestSource> {
    let exported = plan.config.exported_bytes().expect("a size");
    workload::open(&plan.config.workload, exported, plan.seed, plan.requests).expect("a generator")
}

fn of_the_core(plan: &Plan, ftl: Ftl, report: ssdlab::stats::PreconditionReport) -> (Vec<Ns>, Totals) {
    let mut simulation = Simulation::with_drives(plan, vec![ftl], report).expect("a drive");
    simulation.take_completions();
    simulation.drive(source(plan).as_mut(), &Control::default()).expect("a run");
    simulation.run_until(simulation.now() + UNTIL_REST_NS).expect("jobs end");
    let mut responses_ns = vec![0; REQUESTS as usize];
    for completion in simulation.take_completions() {
        responses_ns[completion.index as usize] = completion.completed_ns - completion.arrival_ns;
    }
    let gc = simulation.finish().expect("a result").gc;
    let sum_ns = responses_ns.iter().map(|&ns| u128::from(ns)).sum();
    let max_ns = responses_ns.iter().copied().max().expect("requests");
    (responses_ns, Totals { jobs: gc.jobs, pages_moved: gc.pages_moved, erases: gc.erases, sum_ns, max_ns })
}

fn of_the_floor(plan: &Plan, ftl: &Ftl) -> (Vec<Ns>, Totals) {
    let mut floor = Floor::new(&plan.config, ftl);
    let mut responses_ns = vec![Ns::MAX; REQUESTS as usize];
    floor.run(source(plan).as_mut(), plan.config.workload.queue_depth, |request, response_ns| {
        responses_ns[request as usize] = response_ns;
    });
    let counts = floor.counts();
    assert_eq!(counts.histogram.iter().sum::<u64>(), REQUESTS, "requests in the histogram");
    let &Counts { jobs, pages_moved, erases, sum_ns, max_ns, .. } = counts;
    (responses_ns, Totals { jobs, pages_moved, erases, sum_ns, max_ns })
}

/// Compares both for several seeds. `collects`: GC jobs must occur. Returns all response times, ns.
fn compare(config: &Config, collects: bool) -> Vec<Ns> {
    let mut all_ns = Vec::new();
    for seed in SEEDS {
        let plan = Plan { requests: Some(REQUESTS), ..Plan::new(config.clone(), seed) };
        let own = precondition::Own::default();
        let (ftl, report) = precondition::prepare(&plan.config, None, own, seed, &|_, _| Ok(())).expect("a prepared drive");
        let (floor_ns, floor) = of_the_floor(&plan, &ftl);
        let (core_ns, core) = of_the_core(&plan, ftl, report);
        let differs = core_ns.iter().zip(&floor_ns).enumerate().find(|(_, (core, floor))| core != floor);
        assert_eq!(differs, None, "seed {seed}: the first request with two response times (of the core, of the floor), ns");
        assert_eq!(core, floor, "seed {seed}");
        assert_eq!(floor.jobs > 20, collects, "seed {seed}: {} jobs", floor.jobs);
        all_ns.extend(floor_ns);
    }
    all_ns
}

fn case(name: &str) -> &'static Case {
    CASES.iter().find(|case| case.name == name).expect("a case")
}

fn small(name: &str) -> Config {
    case(name).config(case(name).small)
}

#[test]
fn writes_when_a_job_has_its_die() {
    compare(&small("whole-jobs"), true);
}

#[test]
fn reads_and_writes_without_gc() {
    compare(&small("reads-70"), false);
}

#[test]
fn operations_that_go_before_page_moves() {
    compare(&small("preempt"), true);
    compare(&small("preempt-reads"), true);
}

/// Few addresses, so that operations meet on one page: reads are answered from writes, and writes wait for older operations.
fn crowded(mut config: Config, read_share: f64) -> Config {
    config.ftl.precondition.kind = PreconditionKind::Steady;
    (config.workload.read_share, config.workload.footprint, config.workload.queue_depth) = (read_share, 0.02, 64);
    config
}

#[test]
fn reads_and_writes_of_few_pages_when_a_job_has_its_die() {
    let responses_ns = compare(&crowded(small("whole-jobs"), 0.3), true);
    assert!(responses_ns.contains(&0), "a read is answered from a write");
}

#[test]
fn reads_and_writes_of_few_pages_that_go_before_page_moves() {
    compare(&crowded(small("preempt"), 0.3), true);
}
