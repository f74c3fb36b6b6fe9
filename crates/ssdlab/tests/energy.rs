//! Energy (`energy`), worked out by hand, and array times against the stages of random runs.

use crate::common::cases::{Cases, Tally};
use crate::common::pages::{read, write};
use crate::common::{one_die, random_config, random_requests, simulation};
use crate::timelines::{Case, array, bus, filled, pages, play_all};
use ssdlab::config::{ArrayLevel, Config, Frontier, PoolScope, PreconditionKind, Priority, Trigger};
use ssdlab::energy::Drawn;
use ssdlab::flash::Resource;
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify};
use ssdlab::stats::{Part, RunResult};
use ssdlab::units::Ns;

/// Powers with which each part of a drive has another energy.
pub fn energetic(config: &mut Config) {
    let energy = &mut config.energy;
    (energy.read_mw, energy.program_mw, energy.erase_mw) = (80.0, 100.0, 90.0);
    (energy.bus_mw, energy.dram_pj_per_bit, energy.link_pj_per_bit) = (20.0, 22.0, 8.9);
    (energy.command_nj, energy.idle_mw) = (1.5, 1_000.0);
}

/// The write of page 0 takes the block that leaves too few free ones; the job moves the three other pages of the first block by copyback and
/// erases it.
fn collecting() -> Config {
    let mut config = one_die();
    config.device.copyback = true;
    config.ftl.frontier = Frontier::Shared;
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config.gc.trigger = Trigger::Soft;
    config.gc.soft = 4.0;
    config.gc.priority = Priority::Gc;
    energetic(&mut config);
    config
}

fn picojoules(joules: f64) -> f64 {
    (joules * 1e15).round() / 1e3
}

/// In 3 ms: 102,400 ns on the bus and 200,000 ns of a program for the host; of GC three reads of 25,000 ns, three programs of 200,000 ns and an
/// erase of 1,500,000 ns. 4,096 bytes go over the link and once over the channel.
#[test]
fn a_write_and_a_job_to_the_picojoule() {
    let mut simulation = simulation(&collecting());
    simulation.submit(write(0, 0)).unwrap();
    simulation.run_until(3_000_000).unwrap();
    let RunResult { energy, .. } = simulation.finish().unwrap();
    let energy = energy.expect("it is asked for");
    assert_eq!(picojoules(energy.read_j), 75_000.0 * 80.0);
    assert_eq!(picojoules(energy.program_j), 800_000.0 * 100.0);
    assert_eq!(picojoules(energy.erase_j), 1_500_000.0 * 90.0);
    assert_eq!(picojoules(energy.bus_j), 102_400.0 * 20.0);
    assert_eq!(picojoules(energy.dram_j), 2.0 * 4_096.0 * 8.0 * 22.0);
    assert_eq!(picojoules(energy.link_j), 4_096.0 * 8.0 * 8.9);
    assert_eq!(picojoules(energy.controller_j), 1_500.0);
    assert_eq!(picojoules(energy.idle_j), 3_000_000.0 * 1_000.0);
    assert_eq!(picojoules(energy.gc_array_j), 75_000.0 * 80.0 + 600_000.0 * 100.0 + 1_500_000.0 * 90.0);
    let parts =
        [energy.read_j, energy.program_j, energy.erase_j, energy.bus_j, energy.dram_j, energy.link_j, energy.controller_j, energy.idle_j];
    assert_eq!(picojoules(parts.iter().sum()), picojoules(energy.total_j));
    assert_eq!(energy.mean_w.map(|watts| (watts * 1e6).round()), Some((energy.total_j / 3e-3 * 1e6).round()));
}

/// Of three drives the failed one draws nothing and has no temperature, until a new one is in its place.
#[test]
fn a_failed_drive_draws_nothing() {
    for (replaced, drives) in [(false, 2.0), (true, 3.0)] {
        let mut config = one_die();
        energetic(&mut config);
        (config.thermal.resistance_c_per_w, config.thermal.ambient_c) = (10.0, 20.0);
        (config.array.level, config.array.drives, config.array.degraded) = (ArrayLevel::Rais5, 3, Some(1));
        config.array.rebuild_stripes = u32::from(replaced);
        let mut simulation = simulation(&config);
        simulation.run_until(5_000_000).unwrap();
        let heated = simulation.storage().drives().into_iter().filter(|drive| drive.has_temperature()).count();
        assert_eq!(heated as f64, drives);
        let RunResult { energy, thermal, .. } = simulation.finish().unwrap();
        assert_eq!(picojoules(energy.expect("it is asked for").total_j), drives * 5_000_000.0 * 1_000.0);
        assert_eq!(thermal.expect("drives have one").mean_c, Some(30.0));
    }
}

/// A stage in the array counts for the time that has passed of it, whether or not it is one event with the whole operation.
#[test]
fn a_stage_that_goes_on_counts_in_part() {
    for every_stage in [false, true] {
        let mut simulation = simulation(&collecting());
        if every_stage {
            simulation.ssd_mut().play_every_stage();
        }
        simulation.submit(write(0, 0)).unwrap();
        let mut arrays_at = |now: Ns| {
            simulation.run_until(now).unwrap();
            let Drawn { arrays, .. } = simulation.ssd().drawn(now);
            (arrays.read, arrays.program, arrays.erase)
        };
        assert_eq!(arrays_at(50_000), ([0, 0], [0, 0], 0), "the transfer");
        assert_eq!(arrays_at(152_400), ([0, 0], [50_000, 0], 0), "the program of the write");
        assert_eq!(arrays_at(312_400), ([0, 10_000], [200_000, 0], 0), "the read of the first move");
        assert_eq!(arrays_at(377_400), ([0, 25_000], [200_000, 50_000], 0), "its program");
        assert_eq!(arrays_at(1_477_400), ([0, 75_000], [200_000, 600_000], 500_000), "the erase");
    }
}

/// A program of which no other operation waits writes four planes one after the other, each with a quarter of the power. That of page 1 waits
/// from the first plane on, so that the three others go at once.
#[test]
fn planes_that_are_programmed_one_by_one_share_the_power() {
    let mut config = one_die();
    config.device.plane_programs = 4;
    energetic(&mut config);
    let mut simulation = simulation(&config);
    for request in [write(0, 0), write(150_000, 1)] {
        simulation.submit(request).unwrap();
    }
    let mut programs_at = |now: Ns| {
        simulation.run_until(now).unwrap();
        simulation.ssd().drawn(now).arrays.program[0]
    };
    assert_eq!([152_400, 302_400].map(&mut programs_at), [12_500, 50_000], "one plane");
    assert_eq!([402_400, 502_400].map(&mut programs_at), [125_000, 200_000], "three planes");
    // The transfer until 604.8 us, and four planes.
    assert_eq!([804_800, 1_004_800, 1_404_800, 3_000_000].map(&mut programs_at), [250_000, 300_000, 400_000, 400_000]);
    let energy = simulation.finish().unwrap().energy.expect("it is asked for");
    assert_eq!(picojoules(energy.program_j), 400_000.0 * 100.0);
}

/// Two pages on the planes of a die, each of two planes that are programmed one by one: half of the power of a page for four times its program.
#[test]
fn planes_of_a_multi_plane_program_share_the_power() {
    let mut config = one_die();
    (config.device.plane_programs, config.device.planes_per_die, config.device.multiplane) = (2, 2, true);
    config.ftl.pool = PoolScope::Plane;
    energetic(&mut config);
    let mut simulation = simulation(&config);
    simulation.submit(pages(write(0, 0), 2)).unwrap();
    let mut programs_at = |now: Ns| {
        simulation.run_until(now).unwrap();
        simulation.ssd().drawn(now).arrays.program[0]
    };
    // The transfers until 204.8 us.
    assert_eq!([304_800, 404_800, 704_800, 1_004_800, 3_000_000].map(&mut programs_at), [50_000, 100_000, 250_000, 400_000, 400_000]);
}

/// The array times of a random drive of one plane a die, all of whose operations have ended, against its stages. A suspension takes a time of
/// its own, which does not count as array time.
fn array_times_are_those_of_stages(case: u64) -> Result<Tally, String> {
    let mut rng = Rng::new(case, "energy");
    let mut config = random_config(&mut rng);
    while config.device.planes_per_die > 1 {
        config = random_config(&mut rng);
    }
    energetic(&mut config);
    let requests = random_requests(&mut rng, &config, 200);
    let plan = Plan { verify: Verify::End, ..Plan::new(config.clone(), 3) };
    let mut simulation = Simulation::new(&plan, &Control::default()).map_err(|error| error.to_string())?;
    simulation.take_completions();
    simulation.storage_mut().each_drive_mut(|drive| drive.keep_trace());
    for request in requests {
        simulation.submit(request).map_err(|error| error.to_string())?;
    }
    simulation.run_to_idle().map_err(|error| error.to_string())?;
    let until = simulation.now() + 1_000_000_000;
    simulation.run_until(until).map_err(|error| error.to_string())?;
    let mut suspended = 0;
    for drive in simulation.storage().drives() {
        let stages = &drive.trace().expect("it is kept").intervals;
        let in_arrays = stages.iter().filter(|stage| matches!(stage.resource, Resource::Array(_)));
        let traced: Ns = in_arrays.map(|stage| stage.end - stage.start).sum();
        let counters = drive.counters();
        let suspensions = counters.suspensions + counters.suspended_programs + counters.suspended_erases;
        let arrays = drive.drawn(until).arrays;
        let counted = arrays.read.iter().chain(&arrays.program).sum::<Ns>() + arrays.erase;
        let expected = traced - suspensions * config.device.suspend_ns;
        if counted != expected {
            return Err(format!("{counted} ns counted and {expected} ns in stages, with {suspensions} suspensions"));
        }
        suspended += suspensions;
    }
    Ok(Tally::from([("suspensions".to_string(), suspended)]))
}

#[test]
fn array_times_of_random_drives() {
    let tally = Cases::up_to(400).run(array_times_are_those_of_stages).unwrap();
    assert!(tally["suspensions"] > 0);
}

/// Two dies on a channel each, 25 us read, 200 us program, 102.4 us a page on the bus. A program draws 100 mW and a read 80; 1,000 mW are drawn at any
/// time.
fn capped(cap_w: f64) -> Config {
    let mut config = one_die();
    config.device.channels = 2;
    energetic(&mut config);
    config.energy.cap_w = cap_w;
    config
}

fn capped_cases() -> Vec<Case> {
    use Part::{Array, DieQueue, Power, Transfer};
    vec![
        Case {
            name: "two programs draw as much as there is",
            config: capped(1.2),
            requests: vec![write(0, 0), write(0, 1)],
            responses: vec![(302_400, vec![(Transfer, 102_400), (Array, 200_000)]); 2],
            stages: vec![bus(0, 0, 102_400), array(0, 102_400, 302_400), bus(1, 0, 102_400), array(1, 102_400, 302_400)],
        },
        Case {
            name: "one draws too much beside the other, and waits for its end",
            config: capped(1.199),
            requests: vec![write(0, 0), write(0, 1)],
            responses: vec![
                (302_400, vec![(Transfer, 102_400), (Array, 200_000)]),
                (604_800, vec![(Power, 302_400), (Transfer, 102_400), (Array, 200_000)]),
            ],
            stages: vec![bus(0, 0, 102_400), array(0, 102_400, 302_400), bus(1, 302_400, 404_800), array(1, 404_800, 604_800)],
        },
        Case {
            name: "a read draws less than a program, and fits beside one; a second program goes before a later read of its die",
            config: filled(capped(1.18)),
            requests: vec![write(0, 0), read(0, 1), write(10_000, 3), read(20_000, 5)],
            responses: vec![
                (302_400, vec![(Transfer, 102_400), (Array, 200_000)]),
                (127_400, vec![(Array, 25_000), (Transfer, 102_400)]),
                (594_800, vec![(DieQueue, 117_400), (Power, 175_000), (Transfer, 102_400), (Array, 200_000)]),
                (712_200, vec![(DieQueue, 409_800), (Power, 175_000), (Array, 25_000), (Transfer, 102_400)]),
            ],
            stages: vec![
                bus(0, 0, 102_400),
                array(0, 102_400, 302_400),
                array(1, 0, 25_000),
                bus(1, 25_000, 127_400),
                bus(1, 302_400, 404_800),
                array(1, 404_800, 604_800),
                array(1, 604_800, 629_800),
                bus(1, 629_800, 732_200),
            ],
        },
    ]
}

#[test]
fn operations_wait_for_power_to_the_nanosecond() {
    play_all(&capped_cases());
}

/// Random drives whose cap leaves room for one operation or a few: every request completes, and operations have waited.
fn under_a_cap(case: u64) -> Result<Tally, String> {
    let mut rng = Rng::new(case, "cap");
    let mut config = random_config(&mut rng);
    energetic(&mut config);
    config.energy.cap_w = 1.1 + 0.1 * rng.below(4) as f64 + 0.05 * rng.below(2) as f64;
    let requests = random_requests(&mut rng, &config, 150);
    let plan = Plan { verify: Verify::Every, ..Plan::new(config, 3) };
    let mut simulation = Simulation::new(&plan, &Control::default()).map_err(|error| error.to_string())?;
    for request in requests {
        simulation.submit(request).map_err(|error| error.to_string())?;
    }
    let RunResult { counters, .. } = simulation.finish().map_err(|error| error.to_string())?;
    Ok(Tally::from([("waits".to_string(), counters["power_waits"])]))
}

#[test]
fn random_drives_under_a_cap_go_on() {
    let tally = Cases::asked_for(4_000).run(under_a_cap).unwrap();
    assert!(tally["waits"] > 1_000, "{tally:?}");
}
