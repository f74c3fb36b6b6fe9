//! Times up to the last at which a request may arrive, 285 years: no sum over pools, drives or requests overflows, whatever is recorded.

use crate::common::cases::{Cases, Tally, is_full};
use crate::common::pages::{read, write};
use crate::common::{one_die, random_cache, random_config, random_requests};
use ssdlab::config::{Array, ArrayLevel, CachePlace, Config, Layers, PreconditionKind, validate};
use ssdlab::request::Request;
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation};
use ssdlab::stats::RunResult;
use ssdlab::timeline::Wanted;

const DAY: u64 = 86_400_000_000_000;
const LAST: u64 = 9_000_000_000_000_000_000;

fn played(plan: &Plan, requests: &[Request]) -> Result<RunResult, String> {
    let mut simulation = Simulation::new(plan, &Control::default()).map_err(|error| error.to_string())?;
    for &request in requests {
        simulation.submit(request).map_err(|error| error.to_string())?;
    }
    simulation.finish().map_err(|error| error.to_string())
}

/// Two reads, and what must hold of the times in states: they are the time of all pools.
fn two_reads(config: Config, apart: u64, pools: u64) {
    let result = played(&Plan::new(config, 1), &[read(0, 0), read(apart, 1)]).expect("it ends");
    let all = u128::from(result.simulated_ns) * u128::from(pools);
    assert_eq!(result.gc.state_ns.s0, all);
    let json = serde_json::to_value(&result).expect("a result is JSON");
    let s0 = json.pointer("/gc/state_ns/s0").and_then(serde_json::Value::as_f64).expect("a number");
    assert!((s0 / all as f64 - 1.0).abs() < 1e-15, "{s0} for {all}");
    assert_eq!(json.pointer("/simulated_ns").and_then(serde_json::Value::as_u64), Some(result.simulated_ns));
}

#[test]
fn two_reads_sixty_days_apart_on_32_elyasi2017_drives_end_with_a_result() {
    let mut config = Layers { device: Some("elyasi2017".into()), ..Layers::default() }.build().expect("a preset");
    config.ftl.precondition.kind = PreconditionKind::None;
    config.array = Array { level: ArrayLevel::Rais0, drives: 32, ..config.array };
    let device = &config.device;
    let dies = device.channels * device.chips_per_channel * device.dies_per_chip;
    let pools = u64::from(32 * dies * device.planes_per_die);
    assert!(u128::from(pools) * u128::from(60 * DAY) > u128::from(u64::MAX), "the sum needs more than 64 bits");
    two_reads(config, 60 * DAY, pools);
}

#[test]
fn two_reads_a_week_apart_on_32768_pools_end_with_a_result() {
    let mut config = one_die();
    (config.device.channels, config.device.chips_per_channel, config.device.planes_per_die) = (32, 16, 64);
    two_reads(config, 7 * DAY, 32_768);
}

#[test]
fn a_read_after_285_years_on_4_pools_ends_with_a_result() {
    let mut config = one_die();
    config.device.channels = 4;
    two_reads(config, LAST, 4);
}

#[test]
fn later_arrivals_and_instants_are_refused_in_a_line() {
    let mut simulation = Simulation::new(&Plan::new(one_die(), 1), &Control::default()).expect("a drive");
    let message = simulation.submit(read(LAST + 1, 0)).unwrap_err().to_string();
    assert!(message.starts_with("a request arrives at 9000000000000000001 ns; expected at most 9000000000000000000 ns"), "{message}");
    let message = simulation.run_until(1 << 63).unwrap_err().to_string();
    assert!(message.contains("expected at most 9223372036854775807 ns"), "{message}");
}

/// Operations of 1000 s each, so many at the last instant that the last would end after 292 years.
#[test]
fn work_that_ends_beyond_all_times_is_refused_in_a_line() {
    let mut config = one_die();
    config.device.program_ns = 1_000_000_000_000;
    config.device.blocks_per_plane = 64;
    let mut simulation = Simulation::new(&Plan::new(config, 1), &Control::default()).expect("a drive");
    // 223,372 of them would just end in time.
    for _ in 0..230_000 {
        simulation.submit(write(LAST, 0)).expect("it fits");
    }
    let error = simulation.run_to_idle().unwrap_err();
    assert!(error.to_string().contains("are still under way at") && error.exit_code() == 1, "{error}");
}

/// Requests of which half arrive at the start and half so late that none may come later.
fn spread(requests: Vec<Request>) -> Vec<Request> {
    let (half, last) = (requests.len() / 2, requests[requests.len() - 1].arrival_ns);
    let late = |(place, request): (usize, Request)| {
        let arrival_ns = if place < half { request.arrival_ns } else { LAST - last + request.arrival_ns };
        Request { arrival_ns, ..request }
    };
    requests.into_iter().enumerate().map(late).collect()
}

#[test]
fn random_drives_at_the_last_times_end_with_a_result_whatever_is_recorded() {
    let result = Cases::asked_for(400).run(|case| {
        let mut rng = Rng::new(case, "long times");
        let mut config = random_config(&mut rng);
        if rng.chance(0.5) {
            random_cache(&mut rng, &mut config);
        }
        if rng.chance(0.4) {
            let page_kb = f64::from(config.device.page_bytes) / 1024.0;
            config.array = Array { level: ArrayLevel::Rais5, drives: 3, stripe_kb: page_kb, ..config.array };
            config.cache.place = if rng.chance(0.5) { CachePlace::Drive } else { CachePlace::Array };
        }
        // Not every combination goes together.
        if validate(&config).is_err() {
            return Ok(Tally::from([("played".to_string(), 0)]));
        }
        let requests = spread(random_requests(&mut rng, &config, 60));
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let wanted = Wanted::new(folder.path().join("t.json"), (0, u64::MAX), 100_000).map_err(|error| error.to_string())?;
        let log = Some(folder.path().join("requests.parquet"));
        let plan = Plan { series: true, timeline: Some(wanted), request_log: log, ..Plan::new(config, 1) };
        let result = played(&plan, &requests)?;
        if result.simulated_ns < LAST {
            return Err(format!("it ends at {}", result.simulated_ns));
        }
        serde_json::to_value(&result).map_err(|error| error.to_string())?;
        Ok(Tally::from([("played".to_string(), 1)]))
    });
    let tally = result.unwrap_or_else(|failure| panic!("case {} {}", failure.case, failure.reason));
    assert!(tally["played"] > 20 && (tally["played"] > 200 || !is_full()), "{tally:?}");
}

/// The slack of pages that wait for centuries: squares of their times exceed 128 bits.
#[test]
fn the_spread_of_slack_of_pages_that_end_centuries_apart_is_exact() {
    let mut stats = ssdlab::stats::SlackStats::default();
    let mut squares = ssdlab::distribution::Wide::ZERO;
    let ends = [LAST, 0, 0, 0];
    ends.iter().for_each(|&end| squares.add_square(end));
    for _ in 0..1000 {
        stats.pages_ended(0, 4, ends.iter().map(|&end| u128::from(end)).sum(), squares, LAST);
    }
    let slack = stats.result().read.expect("reads have ended");
    // Three pages of four have all of it.
    assert!((slack.mean_ns / (0.75 * LAST as f64) - 1.0).abs() < 1e-12, "{slack:?}");
    assert!((slack.std_ns / (0.1875f64.sqrt() * LAST as f64) - 1.0).abs() < 1e-9, "{slack:?}");
}
