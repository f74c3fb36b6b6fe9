//! What a request costs in the queueing model of a single die and in the full drive of one die, on the same arrivals.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]

use std::sync::atomic::AtomicU64;
use std::time::Instant;

use ssdlab::caller::Caller;
use ssdlab::config::{Config, Layers};
use ssdlab::geometry::Geometry;
use ssdlab::queueing::{Arrivals, Model, Priority, ServiceTimes, Traffic, Watch, simulate};
use ssdlab::replay::replay;
use ssdlab::simulation::{Control, Plan, Simulation};
use ssdlab::workload;

const REQUESTS: u64 = 1_000_000;
const SEED: u64 = 2;
/// Number of turns, the best of which counts: other work on the machine only ever makes a turn slower.
const TURNS: u32 = 3;

fn main() {
    println!("{REQUESTS} reads and writes of a page, two to one, at 0.7 utilisation, on the bux2011 die; best of {TURNS} turns");
    for scheme in ["rwp", "cep"] {
        let config = config(scheme);
        let drive = best(|| drive_s(&config));
        let queue = best(|| queue_s(&config));
        let rate = |seconds: f64| REQUESTS as f64 / seconds;
        println!("  {scheme}  full drive     {:>12.0} requests/s", rate(drive));
        println!(
            "  {scheme}  queueing model {:>12.0} requests/s   {:.3} of the drive's cost (asked: at most 0.333)",
            rate(queue),
            queue / drive
        );
    }
}

fn config(scheme: &str) -> Config {
    let layers = Layers { device: Some("bux2011".into()), schemes: vec![scheme.into()], ..Layers::default() };
    let mut config = layers.build().expect("presets fit together");
    config.workload.read_share = 2.0 / 3.0;
    config.workload.interarrival_us = 672.0;
    config
}

fn best(turn: impl Fn() -> f64) -> f64 {
    (0..TURNS).map(|_| turn()).fold(f64::INFINITY, f64::min)
}

/// Seconds that a drive takes for all requests. The drive is prepared before; the requests are drawn as it runs.
fn drive_s(config: &Config) -> f64 {
    let plan = Plan { requests: Some(REQUESTS), ..Plan::new(config.clone(), SEED) };
    let mut simulation = Simulation::new(&plan, &Control::default()).expect("a drive");
    let exported = Geometry::new(config).exported_bytes();
    let mut source = workload::open(&config.workload, exported, SEED, plan.requests).expect("a generator");
    let start = Instant::now();
    simulation.drive(source.as_mut(), &Control::default()).expect("a run");
    start.elapsed().as_secs_f64()
}

/// Seconds that the queueing model takes for the requests of `drive_s`, drawing them included.
fn queue_s(config: &Config) -> f64 {
    let model = Model {
        times: ServiceTimes::of(&config.device),
        pages: config.device.pages_per_block,
        valid: vec![64],
        priority: Priority::from(config.gc.priority),
        free_blocks: None,
    };
    let start = Instant::now();
    let replay = replay(config, SEED, Some(REQUESTS), &Caller::default()).expect("a generator");
    let traffic = Traffic::new(Arrivals::Replayed(replay.arrivals.into()), 0, SEED).expect("arrivals");
    let watch = Watch { caller: &Caller::default(), completed: &AtomicU64::new(0) };
    simulate(&model, &traffic, false, watch).expect("a run");
    start.elapsed().as_secs_f64()
}
