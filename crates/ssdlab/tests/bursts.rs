//! Page moves of a GC job as one event ("bursts") against move after move: nothing that can be seen differs.

use crate::common::cases::{Cases, Tally, is_full};
use crate::common::{pick, random_config, random_requests};
use crate::energy::energetic;
use serde_json::Value;
use ssdlab::config::{ArrayLevel, Config};
use ssdlab::request::Request;
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, WarmUp};
use ssdlab::ssd::Ssd;
use ssdlab::timeline::Wanted;
use ssdlab::units::Ns;

/// How the moves of jobs are played.
#[derive(Clone, Copy, PartialEq)]
enum Moves {
    /// As bursts, where they can be.
    Bursts,
    /// One after the other until the timeline is full, then as bursts.
    BurstsAfterTimeline,
    /// One after the other.
    OneByOne,
}

/// A drive, or an array of such, that may have bursts: each channel has one die.
fn drawn(case: u64) -> (Config, Vec<Request>, Option<WarmUp>) {
    let mut rng = Rng::new(case, "bursts");
    let mut config = random_config(&mut rng);
    config.device.chips_per_channel = 1;
    config.device.dies_per_chip = 1;
    config.device.copyback = false;
    config.device.die_interleave = true;
    config.gc.moves_in_flight = 1;
    config.device.read_command_ns = 0;
    config.scheduler.pipeline = false;
    config.device.read_ns_by_page.clear();
    config.device.program_ns_by_page.clear();
    energetic(&mut config);
    if rng.chance(0.25) {
        config.array.level = pick(&mut rng, &[ArrayLevel::Rais0, ArrayLevel::Rais5]);
        config.array.drives = 3 + rng.below(3) as u32;
        config.array.stripe_kb = f64::from(config.device.page_bytes) / 1024.0;
        config.cache.bytes = 0;
    }
    let mut requests = random_requests(&mut rng, &config, 250);
    if rng.chance(0.5) {
        meet_on_a_grid(&mut config, &mut requests);
    }
    let middle = requests[requests.len() / 2].arrival_ns;
    let warm_up = [None, Some(WarmUp::Requests(60)), Some(WarmUp::Time(middle))][case as usize % 3];
    (config, requests, warm_up)
}

/// All times are multiples of a page's transfer, so that requests come at the very instants at which stages of moves end.
fn meet_on_a_grid(config: &mut Config, requests: &mut [Request]) {
    let device = &mut config.device;
    (device.transfer_ps_per_byte, device.command_ns) = (25_000, 0);
    let grid_ns = u64::from(device.page_bytes) * 25;
    (device.read_ns, device.program_ns, device.erase_ns) = (2 * grid_ns, 6 * grid_ns, 30 * grid_ns);
    device.suspend_ns -= device.suspend_ns % grid_ns;
    for request in requests {
        request.arrival_ns -= request.arrival_ns % grid_ns;
    }
}

/// All that a run comes back with but wall-clock times, and how many bursts it had.
fn outcome(case: u64, moves: Moves) -> Result<(Value, u64), String> {
    let (config, requests, warm_up) = drawn(case);
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let limit = 1 + case % 300;
    let timeline =
        (moves == Moves::BurstsAfterTimeline).then(|| Wanted { path: folder.path().join("t.json"), from: 0, to: Ns::MAX, limit });
    let plan = Plan { series: case.is_multiple_of(2), warm_up, timeline, ..Plan::new(config, 7) };
    let mut simulation = Simulation::new(&plan, &Control::default()).map_err(|error| error.to_string())?;
    if moves == Moves::OneByOne {
        simulation.storage_mut().each_drive_mut(Ssd::play_every_stage);
    }
    let (first, rest) = requests.split_at(requests.len() / 3);
    first.iter().chain(rest).try_for_each(|&request| simulation.submit(request).map(drop)).map_err(|error| error.to_string())?;
    // Looks at the drive between two rounds, as co-simulation does.
    simulation.run_until(first.last().expect("requests").arrival_ns).map_err(|error| error.to_string())?;
    let between = format!("{:?} {:?}", simulation.ssd().counters(), simulation.ssd().state_ns(simulation.now()));
    simulation.run_to_idle().map_err(|error| error.to_string())?;
    let bursts = simulation.storage().drives().iter().map(|drive| drive.bursts_begun()).sum();
    let result = simulation.finish().map_err(|error| error.to_string())?;
    let mut value = serde_json::to_value(&result).map_err(|error| error.to_string())?;
    for name in ["prepare_s", "wall_s", "requests_per_s", "timeline"] {
        value[name] = Value::Null;
    }
    value["between"] = between.into();
    Ok((value, bursts))
}

/// Compares a run whose jobs may have bursts with one whose pages move one by one.
fn compared(one_by_one: &Result<(Value, u64), String>, with_bursts: Result<(Value, u64), String>) -> Result<Tally, String> {
    // What cannot be run is the same either way.
    let ((one, bursts), (other, none)) = match (with_bursts, one_by_one) {
        (Ok(with), Ok(without)) => (with, without),
        (Err(one), Err(other)) if one == *other => return Ok(Tally::from([("refused".to_string(), 1)])),
        (one, other) => return Err(format!("{one:?} with bursts, {other:?} without")),
    };
    if one == *other && *none == 0 {
        let of_array = if one["array"].is_null() { 0 } else { bursts };
        return Ok(Tally::from([
            ("bursts".to_string(), bursts),
            ("bursts in arrays".to_string(), of_array),
            ("jobs".to_string(), one["gc"]["jobs"].as_u64().unwrap_or(0)),
        ]));
    }
    let entries = one.as_object().expect("a result").iter();
    let differing: Vec<_> = entries.filter(|(name, value)| other[name.as_str()] != **value).map(|(name, _)| name).collect();
    Err(format!("{differing:?} differ: {} {}", one[differing[0]], other[differing[0]]))
}

#[test]
fn bursts_change_nothing() {
    let cases = Cases::asked_for(1_500);
    let result = cases.run(|case| {
        let one_by_one = outcome(case, Moves::OneByOne);
        let mut tally = compared(&one_by_one, outcome(case, Moves::Bursts))?;
        let after_timeline = compared(&one_by_one, outcome(case, Moves::BurstsAfterTimeline))?;
        tally.insert("bursts after timelines".into(), after_timeline.get("bursts").copied().unwrap_or(0));
        Ok(tally)
    });
    let tally = result.unwrap_or_else(|failure| panic!("case {} {}\n{:#?}", failure.case, failure.reason, drawn(failure.case).0));
    println!("{tally:?}");
    assert!(tally["bursts"] > 200 && tally.get("refused").is_none_or(|&refused| refused < 100), "{tally:?}");
    assert!(tally["bursts in arrays"] > 50 && tally["bursts after timelines"] > 50, "{tally:?}");
    assert!(tally["bursts"] > 2_000 || !is_full(), "{tally:?}");
}
