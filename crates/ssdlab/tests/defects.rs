//! One test for each defect that was found and mended, named after it. Those that show in a timeline stand in `timelines.rs`.

mod common;

use common::{one_die, plan, simulation};
use ssdlab::config::{Allocation, Config, Order, PoolScope, PreconditionKind, Priority, Scope};
use ssdlab::error::Result;
use ssdlab::request::{Request, RequestKind};
use ssdlab::simulation::{Control, Plan, Simulation, Verify};
use ssdlab::stats::{Completion, Part};
use ssdlab::workload::RequestSource;

const PAGE: u64 = 4096;

fn read(arrival_ns: u64, page: u64) -> Request {
    Request { arrival_ns, kind: RequestKind::Read, offset: page * PAGE, length: PAGE, high_priority: false }
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
    assert_eq!(done[3].parts.0[Part::HostQueue as usize], 301_400);
    assert_eq!(done[3].parts.0[Part::DieQueue as usize], 604_800);
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
