//! The fair order of flows in a drive: timelines by hand, and that a quiet flow is slowed down less. What it chooses is compared with a slow model in
//! `sched/fair.rs`.

use crate::common::pages::{READ, WRITE, read, write};
use crate::common::{one_die, simulation};
use crate::timelines::changed;
use ssdlab::config::*;
use ssdlab::request::Request;
use ssdlab::simulation::{Control, Plan, run};
use ssdlab::stats::RunResult;

fn drive(order: Order) -> Config {
    changed(one_die(), |c| {
        c.scheduler.order = order;
        c.workload.flows = vec![[("name".to_string(), "b".into())].into_iter().collect()];
    })
}

/// When each request is complete, and how often another than the oldest operation was chosen.
fn ends(config: &Config, requests: &[Request]) -> (Vec<u64>, u64) {
    let mut simulation = simulation(config);
    requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
    simulation.run_to_idle().unwrap();
    let mut completions = simulation.take_completions();
    completions.sort_by_key(|completion| completion.index);
    (completions.iter().map(|completion| completion.completed_ns).collect(), simulation.ssd().counters().order_passes)
}

/// Four writes of one flow, then a write of another. When the first ends the other has waited 301,400 ns: it first means slowdowns of 2.0 and 1.5, the
/// older first 1 and 3.0.
#[test]
fn a_timeline_of_writes() {
    let mut requests: Vec<Request> = (0..4).map(|page| write(0, page)).collect();
    requests.push(Request { flow: 1, ..write(1_000, 8) });
    assert_eq!(ends(&drive(Order::Fcfs), &requests), ([1, 2, 3, 4, 5].map(|place| place * WRITE).to_vec(), 0));
    assert_eq!(ends(&drive(Order::Fair), &requests), ([1, 3, 4, 5, 2].map(|place| place * WRITE).to_vec(), 1));
}

/// A read that has waited for 0.4 of its service time goes ahead of a write that has waited for 0.3 of its own, and stays behind one that has waited longer.
#[test]
fn a_timeline_of_a_read_and_a_write() {
    for (write_at, read_first) in [(WRITE - 90_000, true), (WRITE - 280_000, false)] {
        let requests = [write(0, 0), Request { flow: 1, ..write(write_at, 4) }, read(WRITE - 50_000, 8)];
        let mut requests = requests.to_vec();
        requests.insert(0, write(0, 8));
        // Page 8 is written first, then page 0; what comes meanwhile waits until both are done.
        requests.iter_mut().skip(2).for_each(|request| request.arrival_ns += WRITE);
        let (found, passes) = ends(&drive(Order::Fair), &requests);
        let both = 2 * WRITE;
        let expected = if read_first { [both + READ + WRITE, both + READ] } else { [both + WRITE, both + WRITE + READ] };
        assert_eq!((&found[2..], passes), (&expected[..], u64::from(read_first)));
    }
}

/// A reader with one request at a time beside a writer of sixteen.
fn shared(change: impl FnOnce(&mut Config)) -> RunResult {
    let mut config = Config::default();
    (config.device.blocks_per_plane, config.device.pages_per_block) = (64, 64);
    (config.workload.read_share, config.workload.queue_depth) = (1.0, 1);
    let writer = [("name", "writer".into()), ("read_share", 0.into()), ("queue_depth", 16.into())];
    config.workload.flows = vec![writer.map(|(key, value): (&str, serde_json::Value)| (key.to_string(), value)).into_iter().collect()];
    change(&mut config);
    run(&Plan { requests: Some(8_000), alone: true, ..Plan::new(config, 1) }, &Control::default()).unwrap()
}

#[test]
fn a_quiet_flow_is_slowed_down_less() {
    let slowdown = |result: &RunResult, flow: usize| result.flows[flow].alone.as_ref().unwrap().slowdown.unwrap();
    let oldest_first = shared(|_| ());
    let fair = shared(|c| c.scheduler.order = Order::Fair);
    assert!(slowdown(&fair, 0) < 0.8 * slowdown(&oldest_first, 0), "{:?} and {:?}", fair.fairness, oldest_first.fairness);
    let [even, uneven] = [&fair, &oldest_first].map(|result| result.fairness.clone().unwrap());
    assert!(even.ratio > uneven.ratio && even.harmonic_speedup > uneven.harmonic_speedup, "{even:?} {uneven:?}");
    assert!(fair.counters["order_passes"] > 100 && oldest_first.counters["order_passes"] == 0);
    let sum: f64 = (0..2).map(|flow| 1.0 / slowdown(&fair, flow)).sum();
    assert!((even.weighted_speedup - sum).abs() < 1e-9);
    let all: f64 = (0..2).map(|flow| slowdown(&fair, flow)).sum();
    assert!((even.harmonic_speedup - 2.0 / all).abs() < 1e-9);
    assert!(fair.remarks.iter().any(|remark| remark.code == "closed-slowdown"), "{:?}", fair.remarks);
}
