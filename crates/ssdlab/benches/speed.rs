//! How fast the simulator is, as ratios measured in one run: a plain C loop, the untimed replay of the same translation layer and greedy
//! collection, and the timed simulation, all under 4 KB uniform random writes in steady state on the lee2013 drive.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use ssdlab::config::{Config, Layers, PreconditionKind};
use ssdlab::ftl::Ftl;
use ssdlab::gc::untimed::{self, PagesAhead, UntimedCounts};
use ssdlab::gc::victim::Picker;
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, run};
use ssdlab::stats::PreconditionReport;
use ssdlab::{precondition, workload};

const WRITES: u64 = 1_000_000;
/// The best of so many turns: other work on the machine only ever makes a turn slower.
const TURNS: u32 = 3;

fn main() {
    let mut config = layers("lee2013", "npgc", "uniform-4k-write");
    config.ftl.precondition.kind = PreconditionKind::Steady;
    println!("4 KB uniform random writes, lee2013 drive, npgc, steady state, {WRITES} writes a turn, best of {TURNS} turns");
    let (ftl, report) = precondition::prepare(&config, None, None, 1, &|_, _| Ok(())).expect("a steady drive");
    println!(
        "  preconditioned: write amplification {:.3} after {} overwrites",
        report.write_amplification.unwrap_or(1.0),
        report.pages_overwritten
    );
    let (mut plain, mut bare, mut timed, mut with_series) = (0.0f64, 0.0f64, 0.0f64, 0.0f64);
    for _ in 0..TURNS {
        plain = plain.max(plain_c_loop(&ftl, report.pages_overwritten).unwrap_or(0.0));
        bare = bare.max(untimed_replay(&config, ftl.clone()));
        timed = timed.max(timed_simulation(&config, ftl.clone(), report.clone(), false));
        with_series = with_series.max(timed_simulation(&config, ftl.clone(), report.clone(), true));
    }
    if plain > 0.0 {
        println!("  plain C loop            {plain:>12.0} host writes/s");
    } else {
        println!("  plain C loop            not measured: no C compiler (cc) found");
    }
    println!("  (a) untimed replay      {bare:>12.0} host writes/s   {:.2} of the C loop (asked: at least 0.5)", bare / plain);
    println!("  (b) timed simulation    {timed:>12.0} host writes/s");
    println!("  ratio (a)/(b)           {:>12.2}                 (asked: at most 5)", bare / timed);
    println!("  (c) (b) with series     {with_series:>12.0} host writes/s   (b)/(c) {:.3} (asked: at most 1.1)", timed / with_series);
    terabyte_drive();
}

fn layers(device: &str, scheme: &str, workload: &str) -> Config {
    Layers { device: Some(device.into()), schemes: vec![scheme.into()], workload: Some(workload.into()), ..Layers::default() }
        .build()
        .expect("presets fit together")
}

fn untimed_replay(config: &Config, mut ftl: Ftl) -> f64 {
    let mut lpns = PagesAhead::new(Rng::new(2, "speed"), u64::from(ftl.geometry().exported_pages));
    let mut counts = UntimedCounts::default();
    let mut victims = Picker::new(&config.gc, 2, "speed/victim");
    let start = Instant::now();
    for _ in 0..WRITES {
        let lpn = lpns.next(&ftl);
        let pool = ftl.geometry().home(lpn).0;
        assert!(untimed::write(&mut ftl, &mut victims, pool, lpn, &mut counts));
    }
    WRITES as f64 / start.elapsed().as_secs_f64()
}

fn timed_simulation(config: &Config, ftl: Ftl, report: PreconditionReport, series: bool) -> f64 {
    let plan = Plan { requests: Some(WRITES), series, ..Plan::new(config.clone(), 2) };
    let exported = ftl.geometry().exported_bytes();
    let mut source = workload::open(&config.workload, exported, plan.seed, plan.requests).expect("a generator");
    let mut simulation = Simulation::with_drives(&plan, vec![ftl], report).expect("a drive");
    let start = Instant::now();
    simulation.drive(source.as_mut(), &Control::default()).expect("a run");
    WRITES as f64 / start.elapsed().as_secs_f64()
}

/// Compiles and runs `plain.c` beside this file. `None` without a C compiler.
fn plain_c_loop(ftl: &Ftl, warm: u64) -> Option<f64> {
    let folder = tempfile::tempdir().ok()?;
    let program = folder.path().join("plain");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/plain.c");
    let compiled = Command::new("cc").args(["-O2", "-o"]).arg(&program).arg(&source).status().ok()?.success();
    let geometry = ftl.geometry();
    let arguments = [
        u64::from(geometry.pools.count.get()),
        u64::from(geometry.pools.blocks_each),
        u64::from(geometry.pages_per_block.get()),
        u64::from(geometry.exported_pages),
        warm.min(20_000_000),
        WRITES,
    ];
    let output = Command::new(&program).args(arguments.map(|n| n.to_string())).output().ok().filter(|_| compiled)?;
    String::from_utf8(output.stdout).ok()?.split_whitespace().next()?.parse().ok()
}

fn terabyte_drive() {
    let mut config = layers("elyasi2017", "fr-fcfs", "fio-randread");
    config.workload.read_share = 0.5;
    let plan = Plan { requests: Some(10_000), ..Plan::new(config, 3) };
    let seconds = [false, true].map(|series| {
        let start = Instant::now();
        run(&Plan { series, ..plan.clone() }, &Control::default()).expect("a run");
        start.elapsed().as_secs_f64()
    });
    println!(
        "1 TB drive (elyasi2017 as it ships, filled), 10,000 requests from start to finish: {:.3} s (asked: under 2 s), with series {:.3} s",
        seconds[0], seconds[1]
    );
}
