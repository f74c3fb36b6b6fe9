//! States of prepared drives kept in a folder: a run that takes them from there is the run that would have prepared its drives.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::common::cases::{Cases, Failure, Tally};
use crate::swarm::drawn;
use ssdlab::config::{Array, ArrayLevel, Config, Placement, PreconditionKind, Victim, validate};
use ssdlab::custom::Failure as Failed;
use ssdlab::error::Error;
use ssdlab::gc::victim::{Candidates, CustomVictim, VictimPolicy};
use ssdlab::request::Request;
use ssdlab::simulation::{Control, Plan, Simulation, StateCache, Verify, precondition, run};
use ssdlab::stats::RunResult;
use ssdlab::units::BlockId;

/// A folder of its own for each caller, that keeps what was prepared in no time.
fn kept_in(folder: &Path) -> StateCache {
    StateCache { least: Duration::ZERO, ..StateCache::new(folder.to_path_buf(), "this build".to_string()) }
}

/// A small drive that is overwritten until it is steady.
fn steady() -> Config {
    let mut config = Config::default();
    config.device.blocks_per_plane = 32;
    config.device.pages_per_block = 16;
    config.device.overprovisioning = 0.25;
    config.gc.soft = 3.0;
    config.ftl.precondition.kind = PreconditionKind::Steady;
    config
}

fn plan(config: Config, cache: StateCache) -> Plan {
    Plan { requests: Some(300), state_cache: Some(cache), ..Plan::new(config, 7) }
}

fn result(plan: &Plan) -> RunResult {
    run(plan, &Control::default()).expect("a run")
}

/// The drive came from the folder.
fn hits(plan: &Plan) -> bool {
    result(plan).prepared_earlier == Some(true)
}

/// A result without what differs from one execution to the next.
fn simulated(result: RunResult) -> RunResult {
    RunResult { prepare_s: 0.0, prepared_earlier: None, wall_s: 0.0, requests_per_s: None, ..result }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).map_or(Vec::new(), |entries| entries.map(|entry| entry.unwrap().path()).collect())
}

/// The whole files of states.
fn kept(folder: &Path) -> Vec<PathBuf> {
    files(folder).into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "kept")).collect()
}

/// A file was used these seconds after 1970.
fn set_used(path: &Path, seconds: u64) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
}

/// All fields of all drives before their first request, and the result of the requests.
fn run_given(plan: &Plan, requests: &[Request]) -> Result<(String, RunResult), String> {
    let mut simulation = Simulation::new(plan, &Control::default()).map_err(|error| error.to_string())?;
    let drives: String = simulation.storage().drives().iter().map(|drive| format!("{:?}", drive.ftl())).collect();
    for request in requests {
        simulation.submit(*request).map_err(|error| error.to_string())?;
    }
    simulation.run_to_idle().map_err(|error| error.to_string())?;
    Ok((drives, simulation.finish().map_err(|error| error.to_string())?))
}

/// Random drives with mechanisms of all kinds, prepared without time and given requests, or with a timed end and its own workload.
fn goes_on_as_prepared(case: u64) -> Result<Tally, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut config, requests) = drawn(case);
    let alone = Plan::new(config.clone(), 7);
    let cached = Plan { state_cache: Some(kept_in(folder.path())), ..alone.clone() };
    let [(drives, prepared), (_, stored), (taken_drives, taken)] = [&alone, &cached, &cached]
        .map(|plan| run_given(plan, &requests))
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?
        .try_into()
        .expect("three");
    if stored.prepared_earlier.is_some() || taken.prepared_earlier != Some(true) {
        return Err("it was not stored and taken".into());
    }
    if drives != taken_drives {
        return Err(format!("the drive has other fields:\n{drives}\n{taken_drives}"));
    }
    let [prepared, stored, taken] = [prepared, stored, taken].map(simulated);
    if prepared != stored || prepared != taken {
        return Err("the results differ".into());
    }
    let mut tally = Tally::from([("taken".to_string(), 1), (format!("{:?}", config.ftl.placement), 1)]);
    let mechanisms = [
        ("slc", config.slc.is_on()),
        ("map", config.caches_map()),
        ("superblocks", config.pools_per_group() > 1),
        ("wear", config.wear.is_on()),
        ("errors", config.errors.is_on()),
        ("units", config.units_per_page() > 1),
    ];
    tally.extend(mechanisms.into_iter().filter(|(_, is_on)| *is_on).map(|(name, _)| (name.to_string(), 1)));
    config.ftl.precondition.settle = 1.5;
    config.ftl.precondition.kind = PreconditionKind::Steady;
    let alone = Plan { requests: Some(100), ..Plan::new(config, 7) };
    let cached = Plan { state_cache: Some(kept_in(folder.path())), ..alone.clone() };
    // Not every drawn drive can serve the generated workload.
    if let Ok(prepared) = run(&alone, &Control::default()) {
        let (stored, taken) = (result(&cached), result(&cached));
        if stored.prepared_earlier.is_some() || taken.prepared_earlier != Some(true) {
            return Err("the settled drive was not stored and taken".into());
        }
        let timed = prepared.precondition.as_ref().and_then(|report| report.timed_requests);
        tally.insert("settled".to_string(), timed.unwrap_or(0).min(1));
        let [prepared, stored, taken] = [prepared, stored, taken].map(simulated);
        if prepared != stored || prepared != taken {
            return Err("the results of settled drives differ".into());
        }
    }
    Ok(tally)
}

#[test]
fn a_drive_from_the_folder_is_the_one_that_was_prepared() {
    let tally = Cases::asked_for(800).run(goes_on_as_prepared);
    let tally = tally.unwrap_or_else(|Failure { case, reason }| panic!("case {case} {reason}\n{:#?}", drawn(case).0));
    println!("{tally:?}");
    let seen = ["slc", "map", "superblocks", "wear", "errors", "units", "settled", "Handles", "HotCold", "Sepbit"];
    assert!(seen.iter().all(|&name| tally.get(name).is_some_and(|&count| count > 0)), "{tally:?}");
}

#[test]
fn an_oracle_and_an_array_go_on_as_prepared() {
    let folder = tempfile::tempdir().unwrap();
    let mut oracle = steady();
    (oracle.ftl.placement, oracle.ftl.groups, oracle.ftl.precondition.settle) = (Placement::Oracle, 3, 2.0);
    // Its streams need a few blocks more. It must know in which order writes come.
    oracle.device.overprovisioning = 0.4;
    (oracle.workload.read_share, oracle.workload.queue_depth) = (0.2, 1);
    (oracle.workload.request_kb, oracle.workload.align_kb) = (4.0, 4.0);
    let mut array = steady();
    array.array = Array { level: ArrayLevel::Rais0, drives: 3, ..array.array };
    for config in [oracle, array] {
        validate(&config).expect("a drive");
        let cached = plan(config, kept_in(folder.path()));
        let alone = simulated(result(&Plan { state_cache: None, ..cached.clone() }));
        assert_eq!(simulated(result(&cached)), alone);
        let taken = result(&cached);
        assert_eq!(taken.prepared_earlier, Some(true));
        assert_eq!(simulated(taken), alone);
    }
}

#[test]
fn only_a_drive_of_this_code_configuration_and_seed_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let first = plan(steady(), kept_in(folder.path()));
    assert!(!hits(&first) && hits(&first));
    assert!(hits(&Plan { requests: Some(20), series: true, ..first.clone() }), "the length of the run prepares nothing");
    let with = |change: fn(&mut Config)| {
        let mut config = steady();
        change(&mut config);
        Plan { config, ..first.clone() }
    };
    let code = StateCache { code: "another build".to_string(), ..kept_in(folder.path()) };
    let others = [
        Plan { seed: 8, ..first.clone() },
        with(|config| config.gc.victim = Victim::Fifo),
        with(|config| config.workload.footprint = 0.5),
        Plan { state_cache: Some(code), ..first.clone() },
    ];
    for other in &others {
        assert!(!hits(other) && hits(other), "{other:?}");
    }
    // A simulation has no timed end, which a run has.
    let settles = with(|config| config.ftl.precondition.settle = 1.0);
    let simulation = Simulation::new(&settles, &Control::default()).unwrap();
    assert_eq!(simulation.finish().unwrap().prepared_earlier, None);
    assert!(!hits(&settles) && hits(&settles));
    assert!(hits(&first));
}

/// A policy that leaves the choice to the drive.
#[derive(Debug)]
struct Undecided;

impl VictimPolicy for Undecided {
    fn pick(&mut self, _: &Candidates<'_>) -> Result<Option<BlockId>, Failed> {
        Ok(None)
    }
}

#[test]
fn what_more_than_the_key_determines_is_never_stored() {
    let folder = tempfile::tempdir().unwrap();
    let first = plan(steady(), kept_in(folder.path()));
    let state = folder.path().join("one.state");
    precondition(&Plan { state_cache: None, ..first.clone() }, &state, &Control::default()).unwrap();
    let trace = folder.path().join("trace.csv");
    fs::write(&trace, "timestamp_us,op,offset_bytes,size_bytes\n0,W,0,4096\n100,R,0,4096\n").unwrap();
    let mut replayed = steady();
    (replayed.workload.trace, replayed.ftl.precondition.kind) = (Some(trace.display().to_string()), PreconditionKind::Trace);
    let prefill = folder.path().join("prefill.csv");
    fs::write(&prefill, "offset_bytes,size_bytes\n0,65536\n").unwrap();
    let mut ranges = steady();
    (ranges.ftl.precondition.kind, ranges.ftl.precondition.prefill) = (PreconditionKind::Ranges, Some(prefill.display().to_string()));
    let plans = [
        Plan { state: Some(state), ..first.clone() },
        Plan { config: replayed, requests: None, ..first.clone() },
        Plan { config: ranges, ..first.clone() },
        Plan { verify: Verify::End, ..first.clone() },
        Plan { victim: Some(CustomVictim::new("undecided", "1", || Undecided)), ..first.clone() },
    ];
    for plan in &plans {
        assert!(!hits(plan) && !hits(plan), "{plan:?}");
    }
    // In verify mode a drive is prepared though there is a file of its state.
    assert!(!hits(&first) && hits(&first) && !hits(&plans[3]));
    assert_eq!(kept(folder.path()).len(), 1);
}

#[test]
fn a_damaged_file_is_no_error_and_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let first = plan(steady(), kept_in(folder.path()));
    let right = simulated(result(&first));
    let path = files(folder.path()).pop().expect("it was stored");
    let whole = fs::read(&path).unwrap();
    let another = tempfile::tempdir().unwrap();
    result(&Plan { seed: 8, state_cache: Some(kept_in(another.path())), ..first.clone() });
    let foreign = fs::read(files(another.path()).pop().unwrap()).unwrap();
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 16;
        bytes
    };
    let longer = [whole.as_slice(), b"more"].concat();
    let damages = [
        Vec::new(),
        whole[..whole.len() / 2].to_vec(),
        whole[..whole.len() - 1].to_vec(),
        longer,
        b"something else".to_vec(),
        zstd::encode_all(&b"something else"[..], 3).unwrap(),
        foreign,
    ];
    let mut refused = 0;
    for bytes in damages.into_iter().chain((0..whole.len()).step_by(whole.len() / 40).map(flipped)) {
        fs::write(&path, &bytes).unwrap();
        let found = result(&first);
        // Some bits of what the compression says of itself, such as the size of its window, change nothing that is read.
        let taken = found.prepared_earlier.is_some();
        assert!(!taken || bytes.len() == whole.len(), "{} bytes were taken", bytes.len());
        refused += u32::from(!taken);
        assert_eq!(simulated(found), right);
        assert!(taken || fs::read(&path).unwrap() == whole, "it was not replaced");
        assert!(hits(&first));
    }
    assert!(refused > 35, "{refused} were refused");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(simulated(result(&first)), right);
}

#[test]
fn the_folder_has_a_limit_and_the_oldest_use_goes_first() {
    let folder = tempfile::tempdir().unwrap();
    let first = plan(steady(), kept_in(folder.path()));
    let seeded = |seed: u64, most_bytes: u64| {
        let cache = StateCache { most_bytes, ..kept_in(folder.path()) };
        Plan { seed, state_cache: Some(cache), ..first.clone() }
    };
    assert!(!hits(&seeded(1, 1_000)), "nothing is there");
    assert_eq!(files(folder.path()).len(), 0, "it is larger than the limit, and leaves nothing");
    assert!(!hits(&seeded(1, u64::MAX)));
    let bytes = fs::metadata(&files(folder.path())[0]).unwrap().len();
    // Room for two: all have about this size.
    let most = 5 * bytes / 2;
    // What a killed writer left counts, and a file of another kind stays.
    fs::write(folder.path().join(".0123.keptXYZ.partial"), vec![0; bytes as usize]).unwrap();
    fs::write(folder.path().join("notes.txt"), vec![0; bytes as usize]).unwrap();
    let (one, partial) = (kept(folder.path()).pop().unwrap(), folder.path().join(".0123.keptXYZ.partial"));
    set_used(&one, 1);
    set_used(&partial, 2);
    assert!(hits(&seeded(1, most)), "its use counts, not when it was stored");
    assert!(!hits(&seeded(2, most)));
    assert!(!partial.exists() && folder.path().join("notes.txt").exists());
    let two = kept(folder.path()).into_iter().find(|path| *path != one).expect("two are there");
    set_used(&two, 3);
    assert!(!hits(&seeded(3, most)));
    assert!(hits(&seeded(1, most)) && hits(&seeded(3, most)), "the second was used longest ago");
    assert!(!hits(&seeded(2, most)));
}

#[test]
fn quick_preparations_are_not_stored_and_a_useless_folder_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let quick = plan(steady(), StateCache::new(folder.path().join("states"), String::new()));
    assert!(!hits(&quick) && !hits(&quick));
    assert!(!folder.path().join("states").exists());
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let below = plan(steady(), kept_in(&file.join("states")));
    assert!(!hits(&below) && !hits(&below));
}

#[test]
fn several_at_once_store_one_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    let first = plan(steady(), kept_in(&folder.path().join("made").join("by the first")));
    let results: Vec<_> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..6).map(|_| scope.spawn(|| result(&first))).collect();
        all.into_iter().map(|one| one.join().unwrap().digest).collect()
    });
    assert!(results.iter().all(|digest| *digest == results[0]));
    assert_eq!(files(&folder.path().join("made").join("by the first")).len(), 1);
    assert!(hits(&first));
}

#[test]
fn a_stop_leaves_nothing_and_takes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let first = plan(steady(), kept_in(folder.path()));
    let stopped = || {
        let control = Control::default();
        control.caller.request_stop();
        matches!(run(&first, &control), Err(Error::Interrupted))
    };
    assert!(stopped());
    assert_eq!(files(folder.path()).len(), 0);
    assert!(!hits(&first) && stopped() && hits(&first));
}

#[test]
fn a_saved_state_is_that_of_the_drive_from_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let first = plan(steady(), kept_in(&folder.path().join("states")));
    let saved = ["prepared", "taken"].map(|name| {
        let out = folder.path().join(name);
        precondition(&first, &out, &Control::default()).unwrap();
        fs::read(out).unwrap()
    });
    assert_eq!(saved[0], saved[1]);
    assert!(hits(&first), "a run begins with the drive that a state was saved of");
}
