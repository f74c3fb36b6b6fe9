//! The recorded states of blocks: against the translation layer's own state at the same instants, on random drives.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use crate::common::{random_cache, random_config, random_requests};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use ssdlab::config::{ArrayLevel, Config};
use ssdlab::ftl::BlockState;
use ssdlab::request::Request;
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation};
use ssdlab::stats::NO_STREAM;
use ssdlab::stats::RunResult;
use ssdlab::units::{BlockId, Ns, PoolId};

const CASES: u64 = 60;

/// Die, pool, state, stream, valid pages, programmed pages, erases.
type State = (i64, i64, String, i64, i64, i64, i64);
/// By drive and block.
type Snapshot = BTreeMap<(i64, i64), State>;

fn simulation(config: &Config, requests: &[Request], plan: Plan) -> Simulation {
    let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
    // The states between two moves of a burst are made up late.
    simulation.storage_mut().move_page_by_page();
    requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
    assert_eq!(plan.config.exported_bytes().unwrap(), config.exported_bytes().unwrap());
    simulation
}

/// The states that the file gives for each instant at which a block changed, with all other blocks.
fn recorded(path: &Path) -> BTreeMap<Ns, Snapshot> {
    let mut snapshots: BTreeMap<Ns, Snapshot> = BTreeMap::new();
    let mut latest = Snapshot::new();
    let file = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    for row in file.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let fields: BTreeMap<_, _> = row.get_column_iter().map(|(name, field)| (name.as_str(), field)).collect();
        let number = |name: &str| match fields[name] {
            Field::Long(number) => *number,
            other => panic!("{name} is {other:?}"),
        };
        let Field::Str(state) = fields["state"] else { panic!("a state is a text") };
        let counts = (number("stream"), number("valid"), number("programmed"), number("erases"));
        let block = (number("die"), number("pool"), state.clone(), counts.0, counts.1, counts.2, counts.3);
        latest.insert((number("drive"), number("block")), block);
        snapshots.insert(number("time_ns").cast_unsigned(), latest.clone());
    }
    snapshots
}

/// The states that the drives have now.
fn present(simulation: &Simulation) -> Snapshot {
    let mut states = Snapshot::new();
    for (drive, number) in simulation.storage().drives().into_iter().zip(0..) {
        let (ftl, geometry) = (drive.ftl(), drive.ftl().geometry());
        for block in (0..geometry.blocks).map(BlockId) {
            let pool: PoolId = geometry.pool_of_block(block);
            let blocks = ftl.blocks();
            let state = match blocks.state(block) {
                BlockState::Free | BlockState::Spare => "free",
                BlockState::Open | BlockState::Taken => "open",
                BlockState::Closed | BlockState::Cached => "closed",
                BlockState::Victim | BlockState::Erased => "victim",
                BlockState::Retired => "retired",
            };
            let stream = if blocks.stream(block) == NO_STREAM { -1 } else { blocks.stream(block).into() };
            let counts = (blocks.valid(block).into(), blocks.programmed(block).into(), blocks.erases()[block.index()].into());
            let place = (geometry.die_of_pool(pool).0.into(), pool.0.into());
            states.insert((number, block.0.into()), (place.0, place.1, state.to_string(), stream, counts.0, counts.1, counts.2));
        }
    }
    states
}

fn run(config: &Config, requests: &[Request], seed: u64, path: Option<&Path>) -> RunResult {
    let plan = Plan { blocks: path.map(Path::to_path_buf), ..Plan::new(config.clone(), seed) };
    simulation(config, requests, plan).finish().unwrap()
}

#[test]
fn recorded_states_are_those_of_the_drives_at_each_instant() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("blocks.parquet");
    let (mut seen, mut several) = (BTreeMap::<String, u64>::new(), 0);
    for seed in 0..CASES {
        let mut rng = Rng::new(seed, "blocks");
        let mut config = random_config(&mut rng);
        if rng.chance(0.3) {
            random_cache(&mut rng, &mut config);
        }
        if rng.chance(0.2) {
            config.array.level = ArrayLevel::Rais0;
            config.array.drives = 2;
            config.array.stripe_kb = f64::from(config.device.page_bytes) / 1024.0;
            several += 1;
        }
        let requests = random_requests(&mut rng, &config, 200);
        let result = run(&config, &requests, seed, Some(&path));
        let told = result.blocks.as_ref().expect("it was asked for");
        assert_eq!((told.end_ns, told.thinned), (result.simulated_ns, false));
        assert_eq!(RunResult { blocks: None, ..without_clock(&result) }, without_clock(&run(&config, &requests, seed, None)));

        let snapshots = recorded(&path);
        let mut watched = simulation(&config, &requests, Plan::new(config.clone(), seed));
        let instants: Vec<Ns> = (0..told.instants - 1).map(|number| number * told.interval_ns).chain([told.end_ns]).collect();
        assert!(snapshots.keys().all(|at| instants.contains(at)), "a change at no instant");
        for at in instants {
            match at {
                0 => {}
                at if at == told.end_ns => watched.run_to_idle().unwrap(),
                // Before the events of that instant.
                at => watched.run_until(at - 1).unwrap(),
            }
            let (_, states) = snapshots.range(..=at).next_back().expect("the first snapshot has all blocks");
            assert_eq!(*states, present(&watched), "seed {seed}, at {at} ns");
            states.values().for_each(|state| *seen.entry(state.2.clone()).or_default() += 1);
        }
    }
    let often = ["free", "open", "closed", "victim"].map(|state| seen.get(state).copied().unwrap_or(0));
    assert!(often.iter().all(|&count| count > 100) && several > 3, "{seen:?}");
}

/// A result without the times of the machine.
fn without_clock(result: &RunResult) -> RunResult {
    RunResult { wall_s: 0.0, prepare_s: 0.0, requests_per_s: None, ..result.clone() }
}
