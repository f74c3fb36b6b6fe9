//! The core beside the floor. A run is named `CASE` for the core and `floor-CASE` for the floor, on a small drive, or with `-512` at the end on one of
//! 512 blocks a plane.
//!
//! | arguments | what is done |
//! |---|---|
//! | none | the runs are listed whose instructions `make instructions` counts |
//! | `NAME` | the run is made once; [`counted_part`] is what is counted |
//! | `--serve` | one turn of each run that is named on standard input is measured |
//!
//! A folder behind them keeps the prepared drives for later runs of the same program.

#[path = "../../ssdlab/benches/speed/clock.rs"]
mod clock;

use std::io::{self, BufRead, Write};
use std::time::Duration;

use ssdlab::config::Config;
use ssdlab::simulation::{Control, Plan, Simulation, StateCache};
use ssdlab::workload;
use ssdlab_floor::{CASES, Case, Floor, LARGE};

const SEED: u64 = 1;
/// Requests of a run whose instructions are counted.
const COUNTED: u64 = 10_000;
/// Requests of a run whose time is measured.
const TIMED: u64 = 500_000;
/// Runs of the core that benches/instructions.rs of crate `ssdlab` has.
const COUNTED_THERE: [&str; 1] = ["reads-70"];

/// What a name says.
struct Run {
    floor: bool,
    config: Config,
}

fn main() {
    // Cargo adds --bench.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let cache = arguments.get(1).map(|folder| StateCache { least: Duration::ZERO, ..StateCache::new(folder.into(), String::new()) });
    match arguments.first().map(String::as_str) {
        None => list(),
        Some("--serve") => serve(cache.as_ref()),
        Some(name) => {
            made(&named(name).expect("the name of a run"), cache.as_ref(), COUNTED, counted_part);
            println!("{COUNTED}");
        }
    }
}

fn list() {
    let names = CASES.iter().map(|case| case.name);
    names.clone().filter(|name| !COUNTED_THERE.contains(name)).for_each(|name| println!("{name}"));
    names.for_each(|name| println!("floor-{name}"));
}

fn named(name: &str) -> Option<Run> {
    let (floor, name) = name.strip_prefix("floor-").map_or((false, name), |rest| (true, rest));
    let large = name.strip_suffix(&format!("-{LARGE}"));
    let case: &Case = CASES.iter().find(|case| case.name == large.unwrap_or(name))?;
    Some(Run { floor, config: case.config(if large.is_some() { LARGE } else { case.small }) })
}

/// Answers with the number of requests, and the seconds of real time and of processor time that they took.
fn serve(cache: Option<&StateCache>) {
    for line in io::stdin().lock().lines() {
        match named(&line.expect("a line")) {
            None => println!("unknown"),
            Some(run) => {
                let mut took = (0.0, None);
                made(&run, cache, TIMED, |work| took = clock::seconds(work));
                println!("{TIMED} {:.9} {:.9}", took.0, took.1.unwrap_or(took.0));
            }
        }
        io::stdout().flush().expect("a reader");
    }
}

/// Makes a run, the part of it after the preparation by `measure`.
fn made(run: &Run, cache: Option<&StateCache>, requests: u64, measure: impl FnOnce(&mut dyn FnMut())) {
    let plan = Plan { requests: Some(requests), state_cache: cache.cloned(), ..Plan::new(run.config.clone(), SEED) };
    let exported = plan.config.exported_bytes().expect("a size");
    let mut source = workload::open(&plan.config.workload, exported, plan.seed, plan.requests).expect("a generator");
    let mut core = Simulation::new(&plan, &Control::default()).expect("a drive");
    if run.floor {
        let mut floor = Floor::new(&plan.config, core.ssd().ftl());
        measure(&mut || floor.run(source.as_mut(), plan.config.workload.queue_depth, |_, _| {}));
    } else {
        measure(&mut || core.drive(source.as_mut(), &Control::default()).expect("a run"));
    }
}

/// What is counted. Must not be inlined, and its name not occur in others.
#[inline(never)]
fn counted_part(work: &mut dyn FnMut()) {
    work();
}
