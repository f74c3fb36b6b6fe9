//! Power states (`power_states`): timelines by hand, closed forms, and a reference written apart over random drives.

use crate::common::cases::{Cases, Tally};
use crate::common::{
    fair, heat, mapping_cache, one_die, pick, plan, power_states, protected_buffer, random_buffer, random_config, random_host,
    random_requests, simulation,
};
use crate::timelines::{Case, array, bus, changed, filled, play_all, read, write};
use ssdlab::config::{ArrayLevel, Config, Frontier, PowerState, PowerStates, PreconditionKind, Thermal, Trigger, validate};
use ssdlab::power_states::PowerStateStats;
use ssdlab::request::Request;
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify};
use ssdlab::ssd::Planted;
use ssdlab::stats::{Completion, Part};
use ssdlab::units::Ns;

const US: Ns = 1_000;
/// A read of one page, and a write.
const READ: Ns = 127_400;
const WRITE: Ns = 302_400;

/// Two states: after 500 us of idle time, 100 us in and 300 us out, and after 2 ms in that, 400 us in and 1 ms out.
fn two_states() -> PowerStates {
    PowerStates { power_mw: vec![40.0, 5.0], entry_us: vec![100, 400], exit_us: vec![300, 1_000], idle_us: vec![500, 2_000] }
}

fn sleepy(config: Config) -> Config {
    changed(config, |config| {
        config.energy.idle_mw = 100.0;
        config.power_states = two_states();
    })
}

/// Response time and parts of a read that waits `held` ns for the drive.
fn late_read(held: Ns) -> (u64, Vec<(Part, u64)>) {
    (READ + held, vec![(Part::PowerState, held), (Part::Array, 25_000), (Part::Transfer, 102_400)])
}

fn read_stages(start: Ns) -> [(ssdlab::flash::Resource, u64, u64); 2] {
    [array(0, start, start + 25_000), bus(0, start + 25_000, start + READ)]
}

/// A read at 0, and one at `arrival` that waits `held` ns. The drive is idle from 127.4 us on: it enters the first state at 627.4 us and is in it
/// from 727.4; it enters the second at 2,727.4 and is in it from 3,127.4.
fn after_a_read(name: &'static str, arrival: Ns, held: Ns) -> Case {
    Case {
        name,
        config: sleepy(filled(one_die())),
        requests: vec![read(0, 0), read(arrival, 1)],
        responses: vec![late_read(0), late_read(held)],
        stages: [read_stages(0), read_stages(arrival + held)].concat(),
    }
}

fn cases() -> Vec<Case> {
    use Part::{Array, DieQueue, Dram, PowerState, Transfer};
    let buffered = changed(sleepy(filled(one_die())), |config| {
        config.ftl.map_unit_bytes = Some(1024);
        config.device.blocks_per_plane = 12;
        config.device.overprovisioning = 0.66;
        config.buffer = protected_buffer(16 * 1024, 1_000);
        config.buffer.timeout_us = 1_500;
    });
    let unit = |arrival, page| Request { length: 1024, ..write(arrival, page) };
    let collecting = changed(sleepy(filled(one_die())), |config| {
        config.device.copyback = true;
        config.ftl.frontier = Frontier::Shared;
        (config.gc.trigger, config.gc.idle_us, config.gc.idle_free) = (Trigger::Idle, 1_000, 4.0);
    });
    vec![
        after_a_read("a command that comes when the drive would enter a state finds it awake", 627_400, 0),
        after_a_read("one that comes just after waits for the rest of the entry, and for the exit", 627_401, 99_999 + 300_000),
        after_a_read("one that comes when the entry ends waits for the exit", 727_400, 300_000),
        after_a_read("one that comes in the state waits for the exit", 1_000_000, 300_000),
        after_a_read("one that comes when the second state is due leaves the first", 2_727_400, 300_000),
        after_a_read("one that comes while the drive enters the second leaves that", 2_800_000, 327_400 + 1_000_000),
        after_a_read("one that comes in the second waits for its exit", 10_000_000, 1_000_000),
        Case {
            name: "the idle time counts from the start of the run",
            config: sleepy(filled(one_die())),
            requests: vec![read(500_000, 0), read(627_401 + 500_000, 1)],
            responses: vec![late_read(0), late_read(99_999 + 300_000)],
            stages: [read_stages(500_000), read_stages(1_527_400)].concat(),
        },
        // Pages without data. The idle time begins again at 400 us.
        Case {
            name: "a command that takes no time ends an idle time",
            config: sleepy(one_die()),
            requests: vec![read(0, 0), read(400_000, 0), read(900_000, 0), read(1_400_001, 0)],
            responses: vec![(0, vec![]), (0, vec![]), (0, vec![]), (399_999, vec![(PowerState, 399_999)])],
            stages: Vec::new(),
        },
        Case {
            name: "commands that come while the drive leaves a state wait for the rest",
            config: sleepy(filled(one_die())),
            requests: vec![read(700_000, 0), read(900_000, 1)],
            responses: vec![
                late_read(300_000),
                (100_000 + 2 * READ, vec![(PowerState, 100_000), (DieQueue, READ), (Array, 25_000), (Transfer, 102_400)]),
            ],
            stages: [read_stages(1_000_000), read_stages(1_000_000 + READ)].concat(),
        },
        // The unit is programmed after 1.5 ms, and the drive has been in the first state since 601 us: it leaves it from 1,500 to 1,800 us. The
        // program ends at 2,102.4, so that it enters the state again at 2,602.4 and is in it from 2,702.4.
        Case {
            name: "the drain of a buffer wakes the drive, and idle time counts from its end",
            config: buffered,
            requests: vec![unit(0, 0), read(2_602_400, 5), read(3_500_000, 6)],
            responses: vec![(1_000, vec![(Dram, 1_000)]), late_read(0), late_read(300_000)],
            stages: [[bus(0, 1_800_000, 1_902_400), array(0, 1_902_400, 2_102_400)], read_stages(2_602_400), read_stages(3_800_000)]
                .concat(),
        },
        // The idle time of GC ends at 1,302.4 us in the first state, in which the drive is from 902.4 on. The job, of three moves and an erase, takes
        // 2,175 us. The drive is idle again at 3,777.4.
        Case {
            name: "GC in idle time wakes the drive",
            config: collecting,
            requests: vec![write(0, 0), read(4_500_000, 9)],
            responses: vec![(WRITE, vec![(Transfer, 102_400), (Array, 200_000)]), late_read(300_000)],
            stages: [
                vec![bus(0, 0, 102_400), array(0, 102_400, WRITE)],
                (0..3).map(|step| array(0, 1_602_400 + step * 225_000, 1_827_400 + step * 225_000)).collect(),
                vec![array(0, 2_277_400, 3_777_400)],
                read_stages(4_800_000).to_vec(),
            ]
            .concat(),
        },
    ]
}

#[test]
fn commands_wait_for_power_states_to_the_nanosecond() {
    play_all(&cases());
}

/// By hand, in us: idle from 0, in state 0 from 600 to 2,600, in state 1 from 3,000 to 10,000, left until 11,000. The read ends at 11,127.4, and at 12,000
/// the drive has been in state 0 since 11,727.4.
#[test]
fn times_and_energy_by_hand() {
    let mut simulation = simulation(&sleepy(filled(one_die())));
    simulation.submit(read(10_000_000, 0)).unwrap();
    simulation.run_until(12_000_000).unwrap();
    let stats = simulation.ssd().power_state_stats(12_000_000).expect("it is on");
    assert_eq!(
        stats,
        PowerStateStats {
            states: 2,
            entries: [2, 1, 0, 0],
            in_ns: [2_000_000 + 272_600, 7_000_000, 0, 0],
            changing_ns: 100_000 + 400_000 + 1_000_000 + 100_000,
            wakes: 1,
            background_wakes: 0,
        }
    );
    let rates = simulation.ssd().energy_rates().expect("it draws");
    let parts = rates.parts(&simulation.ssd().drawn(12_000_000));
    assert_eq!(parts.idle, 100_000 * (12_000_000 - 2_272_600 - 7_000_000));
    assert_eq!(parts.states, 40_000 * 2_272_600 + 5_000 * 7_000_000);
    let result = simulation.finish().unwrap();
    let (states, energy) = (result.power_states.expect("it is on"), result.energy.expect("it draws"));
    assert!((states.states[0].energy_j + states.states[1].energy_j - energy.states_j).abs() < 1e-15);
    assert_eq!((states.wakes, states.states[0].entries, states.states[1].in_ns), (1, 2, 7_000_000));
}

/// Reads `gap` us apart: each but the first waits for an exit if the gap is longer than its idle time and the read.
#[test]
fn fixed_gaps_have_fixed_response_times_and_power() {
    for (gap, held) in [(600, 0), (1_500, 300), (2_000, 300), (6_000, 1_000), (50_000, 1_000)] {
        let config = sleepy(filled(one_die()));
        let mut simulation = simulation(&config);
        let count = 200;
        (1..=count).for_each(|number| _ = simulation.submit(read(number * gap * US, number % 16)).unwrap());
        simulation.take_completions();
        simulation.run_until((count + 1) * gap * US).unwrap();
        let completions = simulation.take_completions();
        let responses: Vec<Ns> = completions.iter().skip(1).map(|one| one.completed_ns - one.arrival_ns).collect();
        assert!(responses.iter().all(|&ns| ns == READ + held * US), "{gap}: {responses:?}");
        let stats = simulation.ssd().power_state_stats(simulation.now()).expect("it is on");
        // From the end of a read to the arrival of the next, which comes `held` later in the cycle of the one before.
        let idle_ns = gap * US - READ - held * US;
        let in_first = idle_ns.saturating_sub(600 * US).min(2_000 * US);
        let in_second = idle_ns.saturating_sub(3_000 * US);
        let cycles = u128::from(count - 2);
        let within = |ns: Ns, found: u128| found.abs_diff(cycles * u128::from(ns)) <= 3 * u128::from(gap * US);
        assert!(within(in_first, stats.in_ns[0]) && within(in_second, stats.in_ns[1]), "{gap}: {stats:?}");
    }
}

/// Poisson arrivals, l a second: the idle time after each busy one is exponential, so that a share e^(-l T) of them is longer than T, and the time in a
/// state from T + entry on is e^(-l (T + entry)) / l for each of them.
#[test]
fn random_gaps_wake_the_drive_as_often_as_the_exponential_says() {
    for mean_us in [400.0, 1_000.0, 4_000.0] {
        let mut config = sleepy(filled(one_die()));
        config.power_states = PowerStates { power_mw: vec![40.0], entry_us: vec![100], exit_us: vec![300], idle_us: vec![500] };
        let mut simulation = simulation(&config);
        let (mut rng, mut arrival, count) = (Rng::new(1, "gaps"), 0.0, 40_000);
        simulation.take_completions();
        for number in 0..count {
            arrival -= (1.0 - rng.unit()).ln() * mean_us * 1e3;
            simulation.submit(read(arrival as Ns, number % 16)).unwrap();
        }
        simulation.run_to_idle().unwrap();
        let mut completions = simulation.take_completions();
        completions.sort_by_key(|one| one.index);
        let mut until = 0;
        let mut idle_times = 0;
        for one in &completions {
            idle_times += u64::from(one.arrival_ns > until);
            until = one.completed_ns;
        }
        let stats = simulation.ssd().power_state_stats(simulation.now()).expect("it is on");
        let share = stats.wakes as f64 / idle_times as f64;
        let expected = (-500.0 / mean_us).exp();
        assert!((share - expected).abs() < 4.0 * (expected / idle_times as f64).sqrt(), "{mean_us}: {share} of {expected}");
        let mean_in_us = stats.in_ns[0] as f64 / 1e3 / idle_times as f64;
        let expected_us = (-600.0 / mean_us).exp() * mean_us;
        assert!((mean_in_us / expected_us - 1.0).abs() < 0.05, "{mean_us}: {mean_in_us} us of {expected_us}");
    }
}

/// States that are never entered change no response time.
#[test]
fn states_that_are_never_entered_change_nothing() {
    for case in 0..60 {
        let mut rng = Rng::new(case, "never");
        let mut config = random_config(&mut rng);
        random_host(&mut rng, &mut config);
        random_buffer(&mut rng, &mut config);
        let digest = |config: &Config| {
            let plan = Plan { verify: Verify::End, ..Plan::new(config.clone(), 3) };
            let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
            random_requests(&mut Rng::new(case, "requests"), config, 150)
                .into_iter()
                .for_each(|request| _ = simulation.submit(request).unwrap());
            simulation.finish_at_rest().unwrap().0
        };
        let off = digest(&config);
        config.power_states = PowerStates { idle_us: vec![900_000_000, 1_000_000_000], power_mw: vec![0.0, 0.0], ..two_states() };
        let on = digest(&config);
        assert_eq!((&off.digest, off.simulated_ns, &off.interface), (&on.digest, on.simulated_ns, &on.interface), "case {case}");
        assert!(off.power_states.is_none() && on.power_states.is_some_and(|states| states.wakes == 0 && states.states[0].entries == 0));
    }
}

/// The drive is one body that settles at 25 degrees plus 10 for each W: after 20 s of the deepest state it has what that draws.
#[test]
fn a_drive_that_sleeps_cools() {
    let mut config = sleepy(filled(one_die()));
    config.energy.idle_mw = 4_000.0;
    config.thermal = Thermal { resistance_c_per_w: 10.0, time_constant_s: 1.0, ..Thermal::default() };
    let mut simulation = simulation(&config);
    simulation.submit(read(20_000_000_000, 0)).unwrap();
    simulation.run_until(3_000_000_000).unwrap();
    let stats = simulation.ssd().thermal_stats(3_000_000_000).expect("it is on");
    // 65 degrees until 600 us; 40 mW, which settle at 25.4, for 2 ms; 400 us on the way to 65 again; then 5 mW and 25.05 degrees.
    let mut expected = 65.0;
    for (settled, ms) in [(25.4, 2.0), (65.0, 0.4), (25.05, 2_997.0)] {
        expected = settled + (expected - settled) * f64::exp(-ms / 1_000.0);
    }
    assert!((stats.present as f64 / 1e9 - expected).abs() < 1e-6, "{} of {expected}", stats.present);
    simulation.run_to_idle().unwrap();
}

/// What the reference knows of one idle time.
#[derive(Debug, Default)]
struct Expected {
    stats: PowerStateStats,
    /// Each time that a command woke the drive: from its arrival until the drive was operational.
    held: Vec<(Ns, Ns)>,
}

/// Goes through the idle times of a drive, one after the other. `busy`: the times in which a command was outstanding or an operation in service, in order
/// and apart from each other. `end`: of the run.
fn expected(states: &[PowerState], busy: &[(Ns, Ns)], end: Ns) -> Expected {
    let mut found = Expected::default();
    found.stats.states = states.len();
    let starts = std::iter::once(0).chain(busy.iter().map(|&(_, until)| until));
    let ends = busy.iter().map(|&(from, _)| Some(from)).chain([None]);
    for (from, to) in starts.zip(ends) {
        // Without a command the run ends in the idle time.
        let last = to.unwrap_or(end).min(end);
        let (mut deepest, mut since) = (None, from);
        for (number, state) in states.iter().enumerate() {
            let enters = since + state.idle_ns;
            if enters >= last && to.is_some() || enters > last {
                break;
            }
            let entered = enters + state.entry_ns;
            found.stats.changing_ns += u128::from(if to.is_none() { entered.min(last) } else { entered } - enters);
            if to.is_none() && entered > last {
                break;
            }
            found.stats.entries[number] += 1;
            let deeper = states.get(number + 1).map_or(Ns::MAX, |next| entered + next.idle_ns);
            let leaves = if deeper < last { deeper } else { last.max(entered) };
            found.stats.in_ns[number] += u128::from(leaves - entered);
            (deepest, since) = (Some((entered, state)), entered);
        }
        if let (Some(arrival), Some((entered, state))) = (to, deepest) {
            let operational = arrival.max(entered) + state.exit_ns;
            found.stats.changing_ns += u128::from(state.exit_ns);
            found.stats.wakes += 1;
            found.held.push((arrival, operational));
        }
    }
    found
}

/// The times in which at least one of these is, where those that touch are one.
fn joined(mut times: Vec<(Ns, Ns)>) -> Vec<(Ns, Ns)> {
    times.sort_unstable();
    let mut found: Vec<(Ns, Ns)> = Vec::new();
    for (from, until) in times {
        match found.last_mut() {
            Some(last) if last.1 >= from => last.1 = last.1.max(until),
            _ => found.push((from, until)),
        }
    }
    found
}

/// A random drive that only commands wake.
fn drawn(case: u64) -> (Config, Rng) {
    let mut rng = Rng::new(case, "power states");
    let mut config = random_config(&mut rng);
    if rng.chance(0.5) {
        random_host(&mut rng, &mut config);
    }
    if rng.chance(0.5) {
        random_buffer(&mut rng, &mut config);
        config.buffer.timeout_us = 0;
    }
    if rng.chance(0.3) {
        mapping_cache(&mut rng, &mut config);
    }
    heat(&mut rng, &mut config);
    // A drive that is too hot to work is not idle while work waits, which the reference does not see.
    config.thermal.critical_c = 0.0;
    fair(&mut rng, &mut config);
    while !config.power_states.is_on() {
        power_states(&mut rng, &mut config);
    }
    if config.gc.trigger == Trigger::Idle {
        config.gc.trigger = Trigger::Soft;
    }
    (config, rng)
}

fn agrees_with_the_reference(case: u64, planted: Option<Planted>) -> Result<Tally, String> {
    let (config, mut rng) = drawn(case);
    if validate(&config).is_err() {
        return Ok(Tally::new());
    }
    let plan = Plan { verify: Verify::Every, ..Plan::new(config.clone(), 3) };
    let mut simulation = Simulation::new(&plan, &Control::default()).map_err(|error| error.to_string())?;
    simulation.ssd_mut().keep_trace();
    if let Some(defect) = planted {
        simulation.ssd_mut().plant(defect);
    }
    simulation.take_completions();
    let mut requests = random_requests(&mut rng, &config, 150);
    let mut late = 0;
    for request in &mut requests {
        let most = pick(&mut rng, &[1, 1, 1, 1, 1, 1, 1, 1, 2_000_000, 12_000_000]);
        late += rng.below(most);
        request.arrival_ns += late;
    }
    for request in requests {
        simulation.submit(request).map_err(|error| error.to_string())?;
    }
    simulation.run_to_idle().map_err(|error| error.to_string())?;
    let end = simulation.now() + rng.below(20_000_000);
    simulation.run_until(end).map_err(|error| error.to_string())?;
    let completions = simulation.take_completions();
    let stats = simulation.ssd().power_state_stats(end).expect("it is on");
    // Only what has ended is in the trace.
    simulation.run_until(end + 500_000_000).map_err(|error| error.to_string())?;
    let served = simulation.ssd().trace().expect("it is kept").intervals.iter().filter(|interval| interval.start < end);
    let served: Vec<(Ns, Ns)> = served.map(|interval| (interval.start, interval.end.min(end))).collect();
    simulation.finish().map_err(|error| error.to_string())?;
    let outstanding = completions.iter().map(|one| (one.arrival_ns, one.completed_ns));
    let expected = expected(&config.power_states.states(), &joined(outstanding.chain(served).collect()), end);
    if stats != expected.stats {
        return Err(format!("{stats:?}, and the reference {:?}", expected.stats));
    }
    let held = |one: &Completion| {
        let period = expected.held.iter().find(|&&(from, until)| (from..until).contains(&one.arrival_ns));
        period.map_or(0, |&(_, until)| until - one.arrival_ns)
    };
    if let Some(wrong) = completions.iter().find(|one| one.parts().0[Part::PowerState as usize] != held(one)) {
        return Err(format!("{wrong:?} waited, and the reference {} ns", held(wrong)));
    }
    let waited = completions.iter().filter(|one| held(one) > 0).count() as u64;
    let entries = stats.entries;
    Ok([("waited", waited), ("wakes", stats.wakes), ("first", entries[0]), ("second", entries[1]), ("third", entries[2])]
        .map(|(name, count)| (name.to_string(), count))
        .into())
}

#[test]
fn random_drives_wake_as_the_reference_says() {
    let tally = Cases::asked_for(2_400).run(|case| agrees_with_the_reference(case, None));
    let tally = tally.unwrap_or_else(|failure| panic!("{failure:?}: {:#?}", drawn(failure.case).0));
    println!("{tally:?}");
    for name in ["waited", "wakes", "first", "second", "third"] {
        assert!(tally[name] > 100, "{name}: {tally:?}");
    }
}

#[test]
fn a_drive_that_sleeps_at_work_is_found() {
    let failure = Cases::up_to(50).run(|case| agrees_with_the_reference(case, Some(Planted::SleepsAtWork))).unwrap_err();
    assert!(failure.reason.contains("has an operation in service"), "{failure:?}");
}

/// Each drive of an array has states of its own: a read of the first drive leaves the second where it is.
#[test]
fn drives_of_an_array_sleep_apart() {
    let mut config = sleepy(filled(one_die()));
    (config.array.level, config.array.drives, config.array.stripe_kb) = (ArrayLevel::Rais0, 2, 4.0);
    let mut simulation = simulation(&config);
    simulation.take_completions();
    for request in [read(10_000_000, 0), read(12_000_000, 1)] {
        simulation.submit(request).unwrap();
    }
    simulation.run_to_idle().unwrap();
    let responses: Vec<Ns> = simulation.take_completions().iter().map(|one| one.completed_ns - one.arrival_ns).collect();
    assert_eq!(responses, [READ + 1_000 * US, READ + 1_000 * US], "both have slept since 3 ms");
    let wakes: Vec<u64> = simulation.storage().drives().iter().map(|drive| drive.power_state_stats(13_200_000).unwrap().wakes).collect();
    assert_eq!(wakes, [1, 1]);
}

/// A warm-up counts neither times nor wakes: it ends when the second read comes, at 20 ms.
#[test]
fn a_warm_up_is_left_out() {
    let mut config = sleepy(one_die());
    config.ftl.precondition.kind = PreconditionKind::Fill;
    let plan = Plan { warm_up: Some(ssdlab::simulation::WarmUp::Requests(1)), ..plan(config) };
    let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
    for request in [read(10_000_000, 0), read(20_000_000, 1), read(30_000_000, 2)] {
        simulation.submit(request).unwrap();
    }
    let states = simulation.finish().unwrap().power_states.expect("it is on");
    assert_eq!((states.wakes, states.states[1].entries), (2, 1));
    // The second read ends at 21,127.4 us, and 3 ms later the drive is in the second state.
    assert_eq!(states.states[1].in_ns, 30_000_000 - 21_127_400 - 3_000_000);
}
