//! Random drives, random points of the policy space, random workloads: every invariant after every event.

mod common;

use common::{random_config, random_requests};
use ssdlab::config::Config;
use ssdlab::request::Request;
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify};
use ssdlab::stats::RunResult;

/// Runs the requests and returns the result, with every invariant checked at every event.
fn run(config: &Config, requests: &[Request], every_stage: bool) -> Result<RunResult, String> {
    let plan = Plan { config: config.clone(), seed: 7, requests: None, verify: Verify::Every, request_log: None, state: None };
    let mut simulation = Simulation::new(&plan, &Control::default()).map_err(|e| e.to_string())?;
    if every_stage {
        simulation.ssd_mut().play_every_stage();
    }
    for request in requests {
        simulation.submit(*request).map_err(|e| e.to_string())?;
    }
    simulation.finish().map_err(|e| e.to_string())
}

fn cases() -> u64 {
    std::env::var("SWARM").ok().and_then(|n| n.parse().ok()).unwrap_or(400)
}

#[test]
fn random_drives_keep_every_invariant() {
    let mut fired = std::collections::BTreeMap::<String, u64>::new();
    for case in 0..cases() {
        let mut rng = Rng::new(case, "swarm");
        let config = random_config(&mut rng);
        let count = 30 + rng.below(150);
        let requests = random_requests(&mut rng, &config, count);
        let result = std::panic::catch_unwind(|| run(&config, &requests, false))
            .unwrap_or_else(|_| panic!("case {case} panicked\n{config:#?}"))
            .unwrap_or_else(|error| panic!("case {case}: {error}\n{config:#?}"));
        assert_eq!(result.requests.total(), count, "case {case}");
        // Playing undisturbed operations in one piece changes nothing.
        let staged = run(&config, &requests, true).expect("the same run");
        assert_eq!(result.digest, staged.digest, "case {case}\n{config:#?}");
        assert_eq!(result.breakdown_ns, staged.breakdown_ns, "case {case}\n{config:#?}");
        for (name, count) in result.counters {
            *fired.entry(name).or_default() += count;
        }
        *fired.entry("jobs".into()).or_default() += result.gc.jobs;
        *fired.entry("stale_moves".into()).or_default() += result.gc.stale_moves;
    }
    println!("{fired:?}");
    for (name, count) in fired {
        assert!(count > 0, "{name} never fired");
    }
}
