//! A closed loop sends its next request at the instant at which one completes, before operations begin at that instant. So the log of a run,
//! replayed as a trace in open loop, takes as long request by request.

use std::path::Path;

use crate::common::cases::{Cases, Failure, Tally};
use crate::common::{
    mapping_cache, mapping_units, one_die, one_shot_programs, pacing, parity, partial_reads, plan, random_buffer, random_cache,
    random_config, random_host, random_requests, suspension,
};
use crate::timelines::{changed, filled, read, write};
use ssdlab::config::{ArrayLevel, Config};
use ssdlab::error::Result;
use ssdlab::request::Request;
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation};
use ssdlab::stats::{Completion, RunResult};
use ssdlab::workload::{self, RequestSource};

/// Random drives with random workloads.
const CASES: u64 = 200;

/// Requests whose times do not matter.
struct Listed(std::vec::IntoIter<Request>);

impl RequestSource for Listed {
    fn next_request(&mut self) -> Result<Option<Request>> {
        Ok(self.0.next())
    }
}

/// By request: when it arrived and when it completed.
type Times = Vec<(u64, u64)>;

fn run(plan: &Plan, source: &mut dyn RequestSource) -> Result<(Times, RunResult)> {
    let mut simulation = Simulation::new(plan, &Control::default())?;
    let mut completions: Vec<Completion> = simulation.take_completions();
    simulation.drive(source, &Control::default())?;
    completions.extend(simulation.take_completions());
    completions.sort_unstable_by_key(|completion| completion.index);
    let times = completions.iter().map(|completion| (completion.arrival_ns, completion.completed_ns)).collect();
    Ok((times, simulation.finish()?))
}

/// Runs `requests` as a closed loop of `depth` outstanding requests, with a request log.
fn closed(config: &Config, depth: u32, requests: &[Request], log: Option<&Path>) -> Result<(Times, RunResult)> {
    let mut plan = Plan { request_log: log.map(Path::to_path_buf), ..Plan::new(config.clone(), 7) };
    plan.config.workload.queue_depth = depth;
    run(&plan, &mut Listed(Vec::from(requests).into_iter()))
}

/// The trace `log` in open loop.
fn replayed(config: &Config, log: &Path) -> Result<(Times, RunResult)> {
    let mut plan = Plan::new(config.clone(), 7);
    plan.config.workload.trace = Some(log.to_str().expect("a temporary file").into());
    let mut source = workload::open(&plan.config.workload, config.exported_bytes()?, plan.seed, None)?;
    run(&plan, source.as_mut())
}

/// The configuration of a case, its requests and how many of them are outstanding.
fn drawn(case: u64) -> (Config, Vec<Request>, u32) {
    let mut rng = Rng::new(case, "closed loops");
    let mut config = random_config(&mut rng);
    mapping_units(&rng, &mut config);
    one_shot_programs(&mut Rng::new(case, "programs"), &mut config);
    parity(&mut Rng::new(case, "parity"), &mut config);
    partial_reads(&mut Rng::new(case, "partial reads"), &mut config);
    suspension(&mut Rng::new(case, "suspension"), &mut config);
    mapping_cache(&mut Rng::new(case, "mapping"), &mut config);
    pacing(&mut Rng::new(case, "pacing"), &mut config);
    let count = 60 + rng.below(300);
    let mut requests = random_requests(&mut rng, &config, count);
    // A trace has no priorities.
    requests.iter_mut().for_each(|request| request.high_priority = false);
    if rng.chance(0.4) {
        random_cache(&mut rng, &mut config);
    }
    random_host(&mut Rng::new(case, "host"), &mut config);
    random_buffer(&mut Rng::new(case, "buffer"), &mut config);
    if rng.chance(0.15) {
        in_an_array(&mut rng, &mut config, &requests);
    }
    let depth = 1 + rng.below(64) as u32;
    (config, requests, depth)
}

/// The drive is one of three, if that gives storage that the requests fit into.
fn in_an_array(rng: &mut Rng, config: &mut Config, requests: &[Request]) {
    let mut array = config.clone();
    array.array.level = if rng.chance(0.5) { ArrayLevel::Rais0 } else { ArrayLevel::Rais5 };
    (array.array.drives, array.array.stripe_kb) = (3, 4.0);
    let exported = array.exported_bytes().unwrap_or(0);
    if ssdlab::config::validate(&array).is_ok() && requests.iter().all(|request| request.offset + request.length <= exported) {
        *config = array;
    }
}

fn replays_as_it_ran(case: u64) -> std::result::Result<Tally, String> {
    let (config, requests, depth) = drawn(case);
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let log = folder.path().join("requests.parquet");
    let (ran, result) = closed(&config, depth, &requests, Some(&log)).map_err(|error| error.to_string())?;
    let (again, _) = replayed(&config, &log).map_err(|error| error.to_string())?;
    if ran.len() != requests.len() || ran.len() != again.len() {
        return Err(format!("{} requests, {} completed and {} when replayed", requests.len(), ran.len(), again.len()));
    }
    if let Some(index) = (0..ran.len()).find(|&index| ran[index] != again[index]) {
        return Err(format!("request {index} (depth {depth}) took {:?} and {:?} when replayed", ran[index], again[index]));
    }
    let late = ran.iter().filter(|&&(arrival, _)| arrival > 0 && ran.iter().any(|&(_, end)| end + 1 == arrival)).count() as u64;
    Ok(Tally::from([
        ("jobs".to_string(), result.gc.jobs),
        ("caches".to_string(), u64::from(config.cache.is_on())),
        ("buffers".to_string(), u64::from(config.buffer.is_on())),
        ("interfaces".to_string(), u64::from(config.host.is_on())),
        ("arrays".to_string(), u64::from(config.array.level != ArrayLevel::None)),
        ("arrivals after operations began".to_string(), late),
    ]))
}

#[test]
fn the_log_of_a_closed_loop_replays_to_the_same_times() {
    let tally = Cases::asked_for(CASES).run(replays_as_it_ran).unwrap_or_else(|Failure { case, reason }| {
        panic!("case {case} {reason}\n(SWARM=1 SWARM_FIRST={case} runs it alone)\n{:#?}", drawn(case).0)
    });
    println!("{tally:?}");
    if std::env::var_os("SWARM").is_none() {
        assert_eq!(tally.iter().find(|(_, count)| **count == 0), None, "this never happened");
    }
}

/// One die, 25 us read, 102.4 us a page on the bus, 200 us program. Two requests are outstanding, and reads go first. When the read ends at
/// 127.4 us the next read arrives, before the write can begin: so the write waits for that, too.
#[test]
fn a_read_that_answers_a_read_goes_before_a_write_that_waits() {
    let config = changed(filled(one_die()), |c| c.scheduler.order = ssdlab::config::Order::FrFcfs);
    let requests = [read(0, 0), write(0, 1), read(0, 2)];
    let (times, _) = closed(&config, 2, &requests, None).unwrap();
    assert_eq!(times, [(0, 127_400), (0, 2 * 127_400 + 302_400), (127_400, 2 * 127_400)]);
}

/// A read of a page without data needs no flash: a closed loop of them ends at the instant at which it begins.
#[test]
fn what_is_answered_at_once_is_followed_at_once() {
    let requests = [read(0, 0), read(0, 1), read(0, 2)];
    let (times, _) = closed(&plan(one_die()).config, 1, &requests, None).unwrap();
    assert_eq!(times, [(0, 0); 3]);
}

/// Reads of an empty drive need no time, and the loop is to send for a second: it would never end.
#[test]
fn a_loop_that_takes_no_time_and_ends_by_time_is_refused() {
    let config = changed(one_die(), |c| (c.workload.read_share, c.workload.queue_depth, c.workload.run_s) = (1.0, 1, 1.0));
    let found = ssdlab::simulation::run(&Plan { requests: None, ..plan(config) }, &Control::default());
    let sentence = found.expect_err("it takes no time").to_string();
    assert!(sentence.starts_with("10000000 requests of a closed loop took no time, all at 0 ns"), "{sentence}");
}
