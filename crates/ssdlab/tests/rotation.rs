//! Pools of an array that take turns to collect (`array.rotation`): timelines worked by hand, and jobs of random arrays that must not overlap, read from
//! their timelines.
//!
//! A drive is that of [`common::one_die`], filled: four of its eight blocks are free, and it collects with fewer than three. A write of a page that
//! reads and programs two drives takes `READ` and then `WRITE`. Its fifth program takes a drive's second free block, so that two are left.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::arrays::{drawn, drawn_with_cache};
use crate::common::cases::{Cases, Tally, is_full};
use crate::common::pages::{ERASE, READ, WRITE, read, write};
use crate::common::{one_die, pick, plan, simulation};
use ssdlab::cause::Cause;
use ssdlab::config::{ArrayLevel, Config, PreconditionKind, Priority, RebuildReads, Rotation, Scope};
use ssdlab::request::Request;
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify, run};
use ssdlab::ssd::Planted;
use ssdlab::timeline::{DEFAULT_LIMIT, Wanted};
use ssdlab::units::Ns;

/// Drives with stripe units of a page: 0 1 P / 3 P 2 / P 4 5 of three, 0 1 2 P / 4 5 P 3 of four.
fn drives(count: u32, rotation: Rotation) -> Config {
    let mut config = one_die();
    config.ftl.precondition.kind = PreconditionKind::Fill;
    (config.array.level, config.array.drives, config.array.stripe_kb) = (ArrayLevel::Rais5, count, 4.0);
    (config.array.rotation, config.gc.soft) = (rotation, 3.0);
    config
}

/// At each time, by drive: jobs for space that have begun, and blocks erased.
type Jobs = Vec<Vec<(u64, u64)>>;

/// What drives have done at each of these times. Then how often pools had turns, waited, and for how long, and
/// jobs without a turn.
fn play(config: &Config, requests: &[Request], times: &[Ns]) -> (Jobs, (u64, u64, Ns), u64) {
    let mut simulation = simulation(config);
    for request in requests {
        simulation.submit(*request).unwrap();
    }
    let at = |&now: &Ns| {
        simulation.run_until(now).unwrap();
        let drives = simulation.storage().drives();
        drives.iter().map(|drive| (drive.counters().jobs_for(Cause::Space), drive.counters().erases)).collect()
    };
    let jobs = times.iter().map(at).collect();
    let forced = simulation.storage().drives().iter().map(|drive| drive.counters().rotation_forced).sum();
    let array = simulation.storage().stats(simulation.now()).array.expect("there is an array");
    (jobs, (array.rotation_turns, array.rotation_waits, array.rotation_wait_ns), forced)
}

/// Writes of page 0 of three drives, each of which reads page 1 and programs drives 0 and 2.
fn page_0() -> Vec<Request> {
    (0..5).map(|k| write(k * 1_000_000, 0)).collect()
}

/// When the fifth program of a drive begins, and ends.
const FIFTH: Ns = 4_000_000 + READ;
const ENDS: Ns = FIFTH + WRITE;

/// Drives 0 and 2 want to collect at one instant. A job waits for the program in service, and erases a block without valid data. Drive 0 has its turn
/// first; drive 2 begins when that job ends, and finds its die idle.
#[test]
fn the_second_drive_waits_for_the_job_of_the_first() {
    let times = [FIFTH - 1, FIFTH, ENDS + ERASE - 1, ENDS + ERASE, ENDS + 2 * ERASE - 1, ENDS + 2 * ERASE];
    let both = vec![
        vec![(0, 0), (0, 0), (0, 0)],
        vec![(1, 0), (0, 0), (1, 0)],
        vec![(1, 0), (0, 0), (1, 0)],
        vec![(1, 1), (0, 0), (1, 1)],
        vec![(1, 1), (0, 0), (1, 1)],
        vec![(1, 1), (0, 0), (1, 1)],
    ];
    assert_eq!(play(&drives(3, Rotation::Off), &page_0(), &times), (both, (0, 0, 0), 0));
    let in_turn = vec![
        vec![(0, 0), (0, 0), (0, 0)],
        vec![(1, 0), (0, 0), (0, 0)],
        vec![(1, 0), (0, 0), (0, 0)],
        vec![(1, 1), (0, 0), (1, 0)],
        vec![(1, 1), (0, 0), (1, 0)],
        vec![(1, 1), (0, 0), (1, 1)],
    ];
    for rotation in [Rotation::Pool, Rotation::Die, Rotation::Drive] {
        let waited = ENDS + ERASE - FIFTH;
        assert_eq!(play(&drives(3, rotation), &page_0(), &times), (in_turn.clone(), (2, 1, waited), 0), "{rotation:?}");
    }
}

/// A job that lets the host go first holds its turn for longer: a read of drive 0 comes during the program, goes before the erase, and drive 2 waits for
/// both.
#[test]
fn a_job_that_makes_way_holds_its_turn() {
    let mut config = drives(3, Rotation::Pool);
    (config.gc.scope, config.gc.priority) = (Scope::None, Priority::Host);
    let requests = [&page_0()[..], &[read(FIFTH + 100_000, 3)]].concat();
    let ends = ENDS + READ + ERASE;
    let (jobs, turns, forced) = play(&config, &requests, &[ENDS + ERASE, ends - 1, ends, ends + ERASE - 1, ends + ERASE]);
    let expected = vec![
        vec![(1, 0), (0, 0), (0, 0)],
        vec![(1, 0), (0, 0), (0, 0)],
        vec![(1, 1), (0, 0), (1, 0)],
        vec![(1, 1), (0, 0), (1, 0)],
        vec![(1, 1), (0, 0), (1, 1)],
    ];
    assert_eq!((jobs, turns, forced), (expected, (2, 1, ends - FIFTH), 0));
}

/// Drive 2 reads page 2 when its turn comes, and page 5 waits: both go before the job. A read that comes between the turn and the job waits for that, or
/// is rebuilt from drives 0 and 1. The job begins with the last read that had waited, and erases when that has ended.
#[test]
fn a_job_begins_behind_what_waits() {
    let turn = ENDS + ERASE;
    let requests = [&page_0()[..], &[read(turn - 30_000, 2), read(turn - 20_000, 5), read(turn + 10_000, 2)]].concat();
    let [first, second] = [1, 2].map(|reads| turn - 30_000 + reads * READ);
    for rebuilds in [RebuildReads::Off, RebuildReads::Refused] {
        let mut config = drives(3, Rotation::Pool);
        config.array.rebuild_reads = rebuilds;
        let times = [turn, first - 1, first, second + ERASE - 1, second + ERASE];
        let (jobs, turns, _) = play(&config, &requests, &times);
        assert_eq!(jobs.iter().map(|drives| drives[2]).collect::<Vec<_>>(), [(0, 0), (0, 0), (1, 0), (1, 0), (1, 1)]);
        assert_eq!(turns, (2, 1, turn - FIFTH));
        let mut simulation = simulation(&config);
        for request in &requests {
            simulation.submit(*request).unwrap();
        }
        simulation.run_to_idle().unwrap();
        let mut done = simulation.take_completions();
        done.sort_by_key(|completion| completion.index);
        let ends: Vec<_> = done[5..].iter().map(|completion| completion.completed_ns).collect();
        let last = if rebuilds == RebuildReads::Off { second + ERASE + READ } else { turn + 10_000 + READ };
        assert_eq!(ends, [first, second, last]);
    }
}

/// Drives 1 and 3 of four want to collect at one instant. Writes of page 0, one after the other, program drives 0 and 3; the fourth takes the third
/// free block of drive 3, which is down to the reserve, 83,200 ns before the job of drive 1 ends. Without turns that are forced it waits for that; with
/// them it collects at once, and uses its turn for the block that it still lacks then.
#[test]
fn a_drive_without_free_blocks_waits_unless_it_is_forced() {
    let requests: Vec<_> = (0..5).map(|k| write(k * 1_000_000, 1)).chain((0..4).map(|k| write(4_000_001 + k, 0))).collect();
    let ninth = ENDS + 3 * (READ + WRITE) + READ;
    assert_eq!(ENDS + ERASE - ninth, 83_200);
    let first = ninth + WRITE + ERASE;
    let times = [ninth - 1, ninth, ENDS + ERASE - 1, ENDS + ERASE, first - 1, first, first + ERASE - 1, first + ERASE];
    let of_drive_3 = |is_forced| {
        let mut config = drives(4, Rotation::Pool);
        config.array.rotation_forced = is_forced;
        let (jobs, turns, forced) = play(&config, &requests, &times);
        assert_eq!(jobs.iter().map(|drives| drives[1]).collect::<Vec<_>>(), [[(1, 0); 3].as_slice(), &[(1, 1); 5]].concat());
        (jobs.into_iter().map(|drives| drives[3]).collect::<Vec<_>>(), turns, forced)
    };
    let (waits, turns, forced) = of_drive_3(false);
    assert_eq!(waits, [(0, 0), (0, 0), (0, 0), (1, 0), (1, 0), (2, 1), (2, 1), (2, 2)]);
    assert_eq!((turns, forced), ((3, 1, ENDS + ERASE - FIFTH), 0));
    let (at_once, turns, forced) = of_drive_3(true);
    assert_eq!(at_once, [(0, 0), (1, 0), (1, 0), (1, 0), (1, 0), (2, 1), (2, 1), (2, 2)]);
    assert_eq!((turns, forced), ((2, 1, ENDS + ERASE - FIFTH), 1));
}

/// A random array as those of `arrays.rs`, whose pools take turns to collect; `None` if it cannot be.
fn in_turns(case: u64) -> Option<(Config, Vec<Request>)> {
    let (mut config, requests) = if case.is_multiple_of(3) { drawn_with_cache(case) } else { drawn(case) };
    let mut rng = Rng::new(case, "turns");
    (config.array.level, config.array.degraded) = (ArrayLevel::Rais5, None);
    config.array.drives = config.array.drives.max(3);
    config.wear = Default::default();
    config.array.rotation = pick(&mut rng, &[Rotation::Pool, Rotation::Die, Rotation::Drive]);
    config.array.rotation_forced = rng.chance(0.3);
    let exported = config.exported_bytes().ok()?;
    let fits = requests.iter().all(|request| request.offset + request.length <= exported);
    (fits && ssdlab::config::validate(&config).is_ok()).then_some((config, requests))
}

/// Jobs for space of a drive, from its timeline: pool, beginning and end.
fn jobs(timeline: &Value) -> BTreeMap<u64, Vec<(u64, Ns, Ns)>> {
    let events = timeline["traceEvents"].as_array().expect("a list");
    let of_jobs =
        |event: &&Value| event["name"] == "process_name" && event["args"]["name"].as_str().is_some_and(|name| name.contains("GC jobs"));
    let drives: Vec<u64> = events.iter().filter(of_jobs).map(|event| event["pid"].as_u64().expect("a number")).collect();
    let mut jobs = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X" && event["name"] == "job") {
        let drive = drives.iter().position(|pid| event["pid"] == *pid).expect("a job of a drive") as u64;
        let ns = |value: &Value| (value.as_f64().expect("a time") * 1e3).round() as Ns;
        let (pool, begins) = (event["args"]["pool"].as_u64().expect("a pool"), ns(&event["ts"]));
        jobs.entry(drive).or_insert_with(Vec::new).push((pool, begins, begins + ns(&event["dur"])));
    }
    jobs
}

/// Plays a case, and counts jobs of one position that overlap: of the same pool, the same die, or all. None may, but for those that are forced.
fn overlaps(config: &Config, requests: &[Request], verify: Verify, planted: bool) -> Result<Tally, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.json");
    let timeline = Some(Wanted::new(path.clone(), (0, Ns::MAX), DEFAULT_LIMIT).map_err(|error| error.to_string())?);
    let plan = Plan { seed: 7, verify, timeline, ..plan(config.clone()) };
    let mut simulation = Simulation::new(&plan, &Control::default()).map_err(|error| error.to_string())?;
    if planted {
        simulation.storage_mut().each_drive_mut(|drive| drive.plant(Planted::IgnoresTurn));
    }
    for request in requests {
        simulation.submit(*request).map_err(|error| error.to_string())?;
    }
    simulation.run_to_idle().map_err(|error| error.to_string())?;
    let pools = &simulation.storage().drives()[0].ftl().geometry().pools;
    let (per_group, per_die) = (u64::from(pools.per_group.get()), u64::from(pools.per_die.get()));
    let result = simulation.finish().map_err(|error| error.to_string())?;
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let position = |pool: u64| match config.array.rotation {
        Rotation::Off | Rotation::Pool => pool,
        Rotation::Die => pool / per_die,
        Rotation::Drive => 0,
    };
    let mut by_position: BTreeMap<u64, Vec<(Ns, Ns, u64)>> = BTreeMap::new();
    for (drive, jobs) in jobs(&serde_json::from_str(&text).map_err(|error| error.to_string())?) {
        for (pool, begins, ends) in jobs.into_iter().filter(|(pool, ..)| pool.is_multiple_of(per_group)) {
            by_position.entry(position(pool)).or_default().push((begins, ends, drive));
        }
    }
    let mut overlaps = 0;
    for jobs in by_position.values_mut() {
        jobs.sort_unstable();
        let mut busy_until = 0;
        for &(begins, ends, _) in jobs.iter() {
            overlaps += u64::from(begins < busy_until);
            busy_until = busy_until.max(ends);
        }
    }
    let array = result.array.expect("there is an array");
    let forced = result.counters["rotation_forced"];
    if overlaps > 0 && forced == 0 {
        return Err(format!("{overlaps} jobs begin during others of their position: {by_position:?}"));
    }
    let counts = [
        ("turns", array.rotation_turns),
        ("waits", array.rotation_waits),
        ("forced", forced),
        ("overlaps", overlaps),
        ("jobs", by_position.values().map(|jobs| jobs.len() as u64).sum()),
    ];
    Ok(counts.map(|(name, count)| (name.to_string(), count)).into())
}

/// Cases of `make test FULL=1`.
const CASES: u64 = 400;

#[test]
fn random_jobs_of_one_position_do_not_overlap() {
    let play = |verify, planted| {
        move |case| in_turns(case).map_or_else(|| Ok(Tally::new()), |(config, requests)| overlaps(&config, &requests, verify, planted))
    };
    let tally = Cases::asked_for(CASES).run(play(Verify::Every, false)).unwrap_or_else(|failure| {
        panic!("{failure:?}\n(SWARM=1 SWARM_FIRST={} runs it alone)\n{:#?}", failure.case, in_turns(failure.case).map(|drawn| drawn.0))
    });
    println!("{tally:?}");
    if is_full() {
        assert!(tally.values().all(|&count| count > 100), "{tally:?}");
    }
    for (verify, says) in [(Verify::Off, "jobs begin during others"), (Verify::Every, "collects in the turn of")] {
        let failure = Cases::up_to(CASES).run(play(verify, true)).expect_err("the planted defect is found");
        assert!(failure.reason.contains(says), "{failure:?}");
    }
}

/// A turn wakes a drive that sleeps, in every scope of jobs.
#[test]
fn a_sleeping_drive_wakes_for_its_turn() {
    for rotation in [Rotation::Drive, Rotation::Pool] {
        for seed in 0..6 {
            let mut config = Config::default();
            (config.device.blocks_per_plane, config.device.pages_per_block, config.device.overprovisioning) = (8, 2, 0.5);
            (config.array.level, config.array.rotation, config.energy.idle_mw) = (ArrayLevel::Rais5, rotation, 100.0);
            config.workload.interarrival_us = 300.0;
            let states = &mut config.power_states;
            (states.power_mw, states.entry_us, states.exit_us) = (vec![40.0], vec![1], vec![1]);
            let plan = Plan { requests: Some(300), seed, ..plan(config) };
            let result = run(&plan, &Control::default()).unwrap();
            assert!(result.array.is_some_and(|array| array.rotation_turns > 5));
        }
    }
}
