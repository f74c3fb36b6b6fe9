//! Temperature and throttling (`thermal`): timelines by hand, closed forms, and a reference written apart over random drives.

use crate::common::cases::{Cases, Tally};
use crate::common::pages::{read, write};
use crate::common::{heat, one_die, pick, plan, random_cache, random_config, random_requests, simulation};
use crate::energy::energetic;
use crate::timelines::{Case, array, bus, changed, play_all};
use ssdlab::config::{ArrayLevel, CachePlace, Config, Thermal, validate};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify};
use ssdlab::ssd::Planted;
use ssdlab::stats::{Part, RunResult, ThermalResult};
use ssdlab::units::Ns;

/// `dies` dies on a channel each, transfers that take no time, and 1 W while a die programs beside 1 W at any time. 10 degrees for each W and 25
/// around: the idle drive has 35 degrees.
fn warm(dies: u32, change: impl FnOnce(&mut Thermal)) -> Config {
    changed(one_die(), |config| {
        config.device.channels = dies;
        config.device.transfer_ps_per_byte = 0;
        (config.energy.idle_mw, config.energy.program_mw, config.energy.read_mw) = (1_000.0, 1_000.0, 1_000.0);
        config.thermal =
            Thermal { resistance_c_per_w: 10.0, time_constant_s: 0.001, sample_us: 100, hysteresis_c: 0.5, ..Thermal::default() };
        change(&mut config.thermal);
    })
}

fn cases() -> Vec<Case> {
    use Part::{Array, DieQueue, Heat, Transfer};
    // Two dies; too warm from the start, and for the whole run.
    let throttled = changed(warm(2, |thermal| thermal.start_c = Some(80.0)), |config| {
        config.device.transfer_ps_per_byte = 25_000;
        (config.thermal.light_c, config.thermal.light_w, config.thermal.time_constant_s) = (70.0, 2.5, 1_000.0);
    });
    // Programs from 102.4 us on. The looks find 35 degrees at 100 us; 35.929 at 200 us, on the way to 44.76; 36.792 at 300 us, on the way to 45: the
    // drive stops. At 400 us, after 2.4 us of the program, there are 36.644 degrees, and 1.644 e^(-0.1 n) + 35 are below 35.5 first for n = 12.
    let stops = changed(warm(1, |thermal| thermal.critical_c = 36.0), |config| config.device.transfer_ps_per_byte = 25_000);
    let first = (302_400, vec![(Transfer, 102_400), (Array, 200_000)]);
    vec![
        Case {
            name: "a throttled drive has power for one program",
            config: throttled,
            requests: vec![write(0, 0), write(0, 1)],
            responses: vec![first.clone(), (604_800, vec![(Heat, 302_400), (Transfer, 102_400), (Array, 200_000)])],
            stages: vec![bus(0, 0, 102_400), array(0, 102_400, 302_400), bus(1, 302_400, 404_800), array(1, 404_800, 604_800)],
        },
        Case {
            name: "a program goes on at the critical temperature, and the next waits until the drive has cooled",
            config: stops.clone(),
            requests: vec![write(0, 0), write(250_000, 1)],
            responses: vec![first.clone(), (1_652_400, vec![(DieQueue, 52_400), (Heat, 1_297_600), (Transfer, 102_400), (Array, 200_000)])],
            stages: vec![bus(0, 0, 102_400), array(0, 102_400, 302_400), bus(0, 1_600_000, 1_702_400), array(0, 1_702_400, 1_902_400)],
        },
        Case {
            name: "a drive that sleeps cools as well",
            config: stops.clone(),
            requests: vec![write(0, 0), write(1_000_000, 1)],
            responses: vec![first.clone(), (902_400, vec![(Heat, 600_000), (Transfer, 102_400), (Array, 200_000)])],
            stages: vec![bus(0, 0, 102_400), array(0, 102_400, 302_400), bus(0, 1_600_000, 1_702_400), array(0, 1_702_400, 1_902_400)],
        },
        Case {
            name: "it is cool before the next write comes",
            config: stops,
            requests: vec![write(0, 0), write(1_600_000, 1)],
            responses: vec![first.clone(), first],
            stages: vec![bus(0, 0, 102_400), array(0, 102_400, 302_400), bus(0, 1_600_000, 1_702_400), array(0, 1_702_400, 1_902_400)],
        },
    ]
}

#[test]
fn a_warm_drive_waits_to_the_nanosecond() {
    play_all(&cases());
}

/// Writes one after the other on each die, without end.
fn writing(config: &Config, until: Ns) -> (Simulation, ThermalResult) {
    let mut simulation = Simulation::new(&Plan { verify: Verify::End, ..plan(config.clone()) }, &Control::default()).expect("a drive");
    simulation.take_completions();
    let pages = simulation.exported_bytes() / 4_096;
    (0..until / 200_000 * u64::from(config.device.channels)).for_each(|number| {
        simulation.submit(write(0, number % pages)).unwrap();
    });
    simulation.run_until(until).unwrap();
    let stats = simulation.ssd().thermal_stats(until).expect("it is on");
    let level = |level: usize| (stats.level_ns[level] as Ns, stats.entered[level]);
    let ((light_ns, light_count), (heavy_ns, heavy_count), (stopped_ns, stop_count)) = (level(1), level(2), level(3));
    let (end_c, max_c) = (stats.present as f64 / 1e9, stats.highest as f64 / 1e9);
    let mean_c = Some(stats.sum as f64 / until as f64 / 1e9);
    let seen = ThermalResult { max_c, mean_c, end_c, light_count, light_ns, heavy_count, heavy_ns, stop_count, stopped_ns };
    (simulation, seen)
}

/// Large enough that writes go on without collection.
fn large(dies: u32, change: impl FnOnce(&mut Thermal)) -> Config {
    changed(warm(dies, change), |config| {
        (config.device.blocks_per_plane, config.device.pages_per_block, config.device.overprovisioning) = (64, 64, 0.1);
        config.workload.max_outstanding = 10_000_000;
    })
}

/// Two watts from 35 degrees on: T(t) = 45 - 10 e^(-t/tau).
#[test]
fn a_constant_load_follows_the_exponential() {
    for ms in [1_u64, 3, 10, 200] {
        let config = large(1, |thermal| thermal.time_constant_s = 0.02);
        let (_, seen) = writing(&config, ms * 1_000_000);
        let (share, tau) = (ms as f64 / 20.0, 20.0);
        assert!((seen.end_c - (45.0 - 10.0 * (-share).exp())).abs() < 1e-4, "{ms} ms: {seen:?}");
        let mean = 45.0 - 10.0 * tau / ms as f64 * (1.0 - (-share).exp());
        assert!((seen.mean_c.expect("time has passed") - mean).abs() < 1e-4, "{ms} ms: {seen:?}");
    }
}

/// Four dies draw 5 W and go to 75 degrees: 60 are reached after tau ln(40/15). One die draws 2 W and goes to 45. Then the temperature goes up and
/// down between 60 and 55 degrees: up in tau ln(20/15) = 0.2877 tau, down in tau ln(15/10) = 0.4055 tau, so that the drive is throttled for 58.5 % of
/// the time, with the mean power that holds it near 57.5 degrees: 3.25 W, and 5 W less 3 W times the share are 3.24 W.
#[test]
fn throttling_holds_the_temperature_by_its_duty_cycle() {
    let config = large(4, |thermal| {
        (thermal.light_c, thermal.light_w, thermal.hysteresis_c, thermal.time_constant_s) = (60.0, 2.0, 5.0, 0.1);
    });
    let (_, before) = writing(&config, 98_000_000);
    assert_eq!((before.light_ns, before.light_count), (0, 0));
    let (_, after) = writing(&config, 98_200_000);
    assert_eq!((after.light_ns, after.light_count), (100_000, 1), "98.08 ms, seen at the look at 98.1 ms");
    let (_, long) = writing(&config, 1_600_000_000);
    let share = long.light_ns as f64 / (1_600.0 - 98.1) / 1e6;
    assert!((share - 0.585).abs() < 0.02, "throttled for {share} of the time");
    assert!(long.max_c < 60.1 && long.heavy_count == 0 && (19..=23).contains(&long.light_count), "{long:?}");
}

/// An hour without a request, at 1 us a look: it takes no looks, and the drive is as it was at the start.
/// A failed drive begins no run, and is as warm as the others.
#[test]
fn a_drive_that_has_failed_begins_warm() {
    let hot = warm(1, |thermal| (thermal.start_c, thermal.light_c, thermal.light_w) = (Some(80.0), 70.0, 2.5));
    let config = changed(hot, |config| {
        (config.array.level, config.array.drives, config.array.stripe_kb) = (ArrayLevel::Rais5, 3, 4.0);
        config.array.degraded = Some(2);
    });
    let mut simulation = Simulation::new(&Plan { verify: Verify::Every, ..plan(config) }, &Control::default()).unwrap();
    simulation.submit(write(0, 0)).unwrap();
    simulation.finish().unwrap();
}

#[test]
fn long_idle_times_take_no_events() {
    let config = warm(1, |thermal| (thermal.sample_us, thermal.light_c, thermal.light_w) = (1, 44.0, 2.0));
    let mut simulation = simulation(&config);
    for request in [write(0, 0), write(3_600_000_000_000, 1)] {
        simulation.submit(request).unwrap();
    }
    simulation.run_to_idle().unwrap();
    let stats = simulation.ssd().thermal_stats(simulation.now()).unwrap();
    assert!((stats.present as f64 / 1e9 - (45.0 - 10.0 * (-0.2_f64).exp())).abs() < 1e-6, "{stats:?}");
    assert!((stats.sum as f64 / 3.6e12 / 1e9 - 35.0).abs() < 1e-5);
}

/// A temperature that limits nothing changes no response time, and looks do not keep a run from ending.
#[test]
fn a_temperature_alone_changes_no_result() {
    let digest = |config: &Config, case: u64| {
        let plan = Plan { verify: Verify::End, ..Plan::new(config.clone(), 3) };
        let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
        random_requests(&mut Rng::new(case, "requests"), config, 150).into_iter().for_each(|request| {
            simulation.submit(request).unwrap();
        });
        simulation.finish_at_rest().unwrap().0
    };
    for case in 0..40 {
        let mut config = random_config(&mut Rng::new(case, "off"));
        energetic(&mut config);
        let off = digest(&config, case);
        (config.thermal.resistance_c_per_w, config.thermal.sample_us, config.thermal.time_constant_s) = (20.0, 50, 0.01);
        let on = digest(&config, case);
        assert_eq!((&off.digest, off.simulated_ns, off.energy), (&on.digest, on.simulated_ns, on.energy), "case {case}");
        let ThermalResult { max_c, end_c, .. } = on.thermal.expect("it is on");
        assert!(off.thermal.is_none() && max_c >= end_c && end_c >= 45.0, "the idle drive has 45 degrees");
    }
}

/// The temperature of one drive, in floating point, from the energy that the drive has drawn.
struct Reference {
    thermal: Thermal,
    temperature: f64,
    level: usize,
    energy_fj: u128,
}

impl Reference {
    fn new(config: &Config) -> Self {
        let thermal = config.thermal.clone();
        let temperature = thermal.start_c.unwrap_or(thermal.ambient_c + thermal.resistance_c_per_w * config.energy.idle_mw / 1e3);
        let mut reference = Reference { thermal, temperature, level: 0, energy_fj: 0 };
        reference.look();
        reference
    }

    fn limits(&self) -> [f64; 3] {
        [self.thermal.light_c, self.thermal.heavy_c, self.thermal.critical_c]
    }

    fn look(&mut self) {
        for (place, limit) in self.limits().into_iter().enumerate().filter(|(_, limit)| *limit > 0.0) {
            if self.temperature >= limit {
                self.level = self.level.max(place + 1);
            }
        }
        while self.level > 0 {
            let limit = self.limits()[self.level - 1];
            if limit > 0.0 && self.temperature >= limit - self.thermal.hysteresis_c {
                break;
            }
            self.level -= 1;
        }
    }

    /// A limit, or the end of a level, is so near that rounding decides.
    fn is_close(&self) -> bool {
        let ends = self.limits().map(|limit| limit - self.thermal.hysteresis_c);
        self.limits().iter().chain(&ends).any(|limit| (self.temperature - limit).abs() < 0.05)
    }

    fn sample(&mut self, energy_fj: u128) {
        let seconds = self.thermal.sample_us as f64 / 1e6;
        let watts = (energy_fj - self.energy_fj) as f64 / 1e15 / seconds;
        self.energy_fj = energy_fj;
        // A hundred small steps of the differential equation instead of its solution.
        let settled = self.thermal.ambient_c + watts * self.thermal.resistance_c_per_w;
        for _ in 0..100 {
            self.temperature += (settled - self.temperature) * seconds / 100.0 / self.thermal.time_constant_s;
        }
        self.look();
    }
}

/// Draws keys of heat for a drive that draws power, and at times a cap.
fn heats(rng: &mut Rng, config: &mut Config) {
    while !config.thermal.is_on() {
        heat(rng, config);
    }
    // The reference does not know of commands.
    (config.energy.link_pj_per_bit, config.energy.command_nj) = (0.0, 0.0);
    config.energy.cap_w = pick(rng, &[0.0, 0.0, 1.3]);
    config.thermal.sample_us = pick(rng, &[20, 50]);
    config.thermal.time_constant_s = pick(rng, &[0.001, 0.01]);
}

fn agrees_with_the_reference(case: u64, planted: Option<Planted>) -> Result<Tally, String> {
    let mut rng = Rng::new(case, "heat");
    let mut config = random_config(&mut rng);
    heats(&mut rng, &mut config);
    let count = 150;
    if rng.chance(0.3) {
        (config.array.level, config.array.drives) = (ArrayLevel::Rais0, 2);
    } else if rng.chance(0.3) {
        random_cache(&mut rng, &mut config);
        config.cache.place = CachePlace::Drive;
    }
    if validate(&config).is_err() {
        return Ok(Tally::new());
    }
    let requests = random_requests(&mut rng, &config, count);
    let plan = Plan { verify: Verify::Every, ..Plan::new(config.clone(), 3) };
    let mut simulation = Simulation::new(&plan, &Control::default()).map_err(|error| error.to_string())?;
    if let Some(defect) = planted {
        simulation.storage_mut().each_drive_mut(|drive| drive.plant(defect));
    }
    let last = requests.last().expect("there are some").arrival_ns;
    for request in requests {
        simulation.submit(request).map_err(|error| error.to_string())?;
    }
    let sample = config.thermal.sample_us * 1_000;
    let mut references: Vec<Reference> = simulation.storage().drives().iter().map(|_| Reference::new(&config)).collect();
    let mut tally = Tally::new();
    let mut before: Vec<_> = references.iter().map(|_| [0_u128; 4]).collect();
    for now in (1..=(last + 20_000_000) / sample).map(|number| number * sample) {
        let levels: Vec<usize> = references.iter().map(|reference| reference.level).collect();
        simulation.run_until(now).map_err(|error| error.to_string())?;
        for (drive, ((reference, before), level)) in
            simulation.storage().drives().into_iter().zip(references.iter_mut().zip(&mut before).zip(levels))
        {
            let stats = drive.thermal_stats(now).expect("it is on");
            let rates = drive.energy_rates().expect("it draws");
            let spent: Vec<u128> = stats.level_ns.iter().zip(&*before).map(|(now, before)| now - before).collect();
            *before = stats.level_ns;
            if spent[level] != u128::from(sample) {
                return Err(format!("until {now} ns {spent:?} ns were at the levels, and the reference was at {level}"));
            }
            *tally.entry(format!("level_{level}")).or_default() += 1;
            reference.sample(rates.total_fj(&drive.drawn(now)));
            let temperature = stats.present as f64 / 1e9;
            if (temperature - reference.temperature).abs() > 0.04 {
                return Err(format!("at {now} ns the drive has {temperature} degrees, and the reference {}", reference.temperature));
            }
            if reference.is_close() {
                // Rounding decides: the drive's decision is taken. It shows in what it does next.
                reference.temperature = temperature;
                reference.level = drive.thermal_level(now).expect("it is on");
            }
        }
    }
    let RunResult { counters, thermal, .. } = simulation.finish().map_err(|error| error.to_string())?;
    let thermal = thermal.expect("it is on");
    for (name, count) in [
        ("waits", counters["heat_waits"]),
        ("power_waits", counters["power_waits"]),
        ("light", thermal.light_count),
        ("heavy", thermal.heavy_count),
        ("stops", thermal.stop_count),
    ] {
        tally.insert(name.into(), count);
    }
    Ok(tally)
}

#[test]
fn random_drives_have_the_temperature_of_the_reference() {
    let tally = Cases::asked_for(2_400).run(|case| agrees_with_the_reference(case, None)).unwrap_or_else(|failure| panic!("{failure:?}"));
    println!("{tally:?}");
    for name in ["waits", "power_waits", "light", "heavy", "stops", "level_0", "level_1", "level_2", "level_3"] {
        assert!(tally[name] > 20, "{name}: {tally:?}");
    }
}

#[test]
fn a_drive_that_ignores_its_temperature_is_found() {
    let failure = Cases::up_to(50).run(|case| agrees_with_the_reference(case, Some(Planted::IgnoresHeat))).unwrap_err();
    assert!(failure.reason.contains("power is that of level"), "{failure:?}");
}

/// Reads of a drive that is throttled in a run without a warm-up are counted after it, and the highest temperature is looked for again.
#[test]
fn a_warm_up_is_left_out() {
    let mut config = warm(1, |thermal| thermal.start_c = Some(90.0));
    config.ftl.precondition.kind = ssdlab::config::PreconditionKind::Fill;
    let plan = Plan { warm_up: Some(ssdlab::simulation::WarmUp::Requests(1)), ..plan(config) };
    let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
    for request in [read(0, 0), read(2_000_000, 1), read(4_000_000, 2)] {
        simulation.submit(request).unwrap();
    }
    let thermal = simulation.finish().unwrap().thermal.expect("it is on");
    // 35 + 55 e^-2 at 2 ms, less what the first read heated.
    assert!((42.3..42.6).contains(&thermal.max_c), "{thermal:?}");
    assert!((35.9..40.0).contains(&thermal.mean_c.unwrap()), "{thermal:?}");
}
