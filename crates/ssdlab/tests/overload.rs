//! Requests that come faster than the drive completes them: the run ends with a message, not with the machine's memory.

use crate::common::one_die;
use ssdlab::config::Config;
use ssdlab::error::Error;
use ssdlab::simulation::{Control, Plan, Simulation, run};
use ssdlab::workload;

/// The drive takes 302.4 us for a write.
fn config(interarrival_us: f64) -> Config {
    let mut config = one_die();
    config.device.blocks_per_plane = 64;
    config.workload.interarrival_us = interarrival_us;
    config.workload.arrival = ssdlab::config::Arrival::Fixed;
    config.workload.read_share = 0.0;
    config.workload.max_outstanding = 100;
    config
}

fn outcome(config: Config, requests: u64) -> Result<u64, Error> {
    let plan = Plan { requests: Some(requests), ..Plan::new(config, 1) };
    run(&plan, &Control::default()).map(|result| result.requests.total())
}

#[test]
fn an_overloaded_drive_ends_the_run_with_what_happens_and_what_to_set() {
    let error = outcome(config(10.0), 10_000).unwrap_err();
    let message = error.to_string();
    assert_eq!(error.exit_code(), 1);
    // One request in 10 us, the first of them at once, and one done in 302.4 us: the 104th would be the 101st outstanding, at 1030 us.
    for part in [
        "the drive is overloaded: at 0.001 s 100 requests are outstanding",
        "since 0.000010000 s, when there were none, requests arrived at 1",
        "a second and completed at 29",
        "workload.max_outstanding",
        "workload.time_scale",
        "workload.queue_depth",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert_eq!(message.lines().count(), 1);
}

#[test]
fn more_requests_at_one_instant_than_may_be_outstanding_end_the_run() {
    let error = outcome(config(0.0), 1_000_000).unwrap_err();
    assert!(error.to_string().contains("requests arrived at one instant"), "{error}");
    assert_eq!(outcome(config(0.0), 100).unwrap(), 100, "as many as may be outstanding");
    assert!(outcome(config(0.0), 101).is_err(), "one more");
}

#[test]
fn a_closed_loop_and_a_load_that_the_drive_can_take_are_not_limited() {
    let mut closed = config(0.0);
    (closed.workload.queue_depth, closed.workload.max_outstanding) = (64, 1);
    assert_eq!(outcome(closed, 5_000).unwrap(), 5_000);
    let mut light = config(400.0);
    light.workload.max_outstanding = 1;
    light.gc.soft = 1.0;
    light.workload.read_share = 1.0;
    assert_eq!(outcome(light, 5_000).unwrap(), 5_000);
}

/// A drive of four dies under random writes of ten pages that come 2.6 times too fast, so that most wait for older ones on their pages, and
/// enter their queues in the middle. Returns the operations that each of these passes in search of its place.
fn passed_by_a_late_operation(requests: u64) -> f64 {
    let mut config = one_die();
    (config.device.channels, config.device.blocks_per_plane, config.device.pages_per_block) = (4, 256, 64);
    config.device.overprovisioning = 0.25;
    config.ftl.precondition.kind = ssdlab::config::PreconditionKind::Fill;
    (config.gc.soft, config.gc.scope) = (0.05, ssdlab::config::Scope::None);
    (config.workload.request_kb, config.workload.read_share, config.workload.footprint) = (40.0, 0.1, 0.3);
    // Four programs at a time take 302.4 us.
    config.workload.interarrival_us = 10.0 * 302.4 / 4.0 / 2.6;
    let plan = Plan { requests: Some(requests), ..Plan::new(config, 1) };
    let exported = plan.config.exported_bytes().unwrap();
    let mut source = workload::open(&plan.config.workload, exported, plan.seed, plan.requests).unwrap();
    let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
    simulation.drive(source.as_mut(), &Control::default()).unwrap();
    let late = simulation.ssd().counters().page_order_waits;
    assert!(late > requests, "{late} operations of {requests} requests waited for older ones");
    simulation.ssd().passed_in_queues() as f64 / late as f64
}

/// A search passes 16 operations where it looks nearby, and between landmarks 32 at most: two strides, however long the queue is. Those that
/// wait are 40,000 in the end here; a walk from either end would pass a quarter of them.
#[test]
fn a_search_in_an_overload_passes_no_more_than_two_strides() {
    let (short, long) = (passed_by_a_late_operation(4_000), passed_by_a_late_operation(64_000));
    println!("{short} and {long} operations");
    assert!(short < 64.0 && long < 64.0, "{short} and {long} operations");
}
