//! What is measured: each case is a prepared drive, a workload and a number of requests. Preparing is not timed.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use ssdlab::config::{Address, ArrayLevel, Arrival, Config, Layers, PreconditionKind, Workload};
use ssdlab::ftl::Ftl;
use ssdlab::gc::untimed::{self, UntimedCounts};
use ssdlab::gc::victim::Picker;
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, run};
use ssdlab::stats::PreconditionReport;
use ssdlab::timeline;
use ssdlab::units::{Lpn, Ns};
use ssdlab::workload::RequestSource;
use ssdlab::{precondition, workload};

use crate::clock::seconds;
use crate::plain::PlainLoop;

const MILLION: u64 = 1_000_000;
const SEED: u64 = 2;
/// The package's default limit of a timeline.
const SLICES: u64 = 200_000;

/// What a turn does.
#[derive(Clone, Copy)]
enum Measured {
    /// The loop in C.
    PlainC,
    /// The translation layer and greedy GC without time.
    Untimed,
    /// The timed simulation.
    Timed,
    /// The timed simulation with its series over time.
    Series,
    /// The timed simulation with a log of its requests, until the log is written.
    Log,
    /// The timed simulation with a timeline of as many slices as by default, until it is written.
    Timeline,
    /// A run from its start to its end, preparing included.
    Whole,
    /// A text trace is read. The function gives a line: from the arrival in microseconds, whether it writes, the offset and the length.
    Text(fn(u64, bool, u64, u64) -> String),
}

/// One thing to measure.
pub struct Case {
    /// Name of the case on the command line and in the output.
    pub name: &'static str,
    requests: u64,
    measured: Measured,
    config: fn() -> Config,
}

const fn timed(name: &'static str, requests: u64, config: fn() -> Config) -> Case {
    Case { name, requests, measured: Measured::Timed, config }
}

const fn npgc(name: &'static str, measured: Measured) -> Case {
    Case { name, requests: MILLION, measured, config: || lee2013("npgc") }
}

/// All cases.
pub const CASES: &[Case] = &[
    npgc("plain-c", Measured::PlainC),
    npgc("untimed", Measured::Untimed),
    npgc("npgc", Measured::Timed),
    npgc("npgc-series", Measured::Series),
    npgc("npgc-log", Measured::Log),
    npgc("npgc-timeline", Measured::Timeline),
    timed("pgc", MILLION, || lee2013("pgc")),
    timed("fpgc", MILLION, || lee2013("fpgc")),
    timed("cep", MILLION, || lee2013("cep")),
    timed("bbgc-dqgc", MILLION, || lee2013("bbgc-dqgc")),
    timed("rwp", MILLION, bux2011),
    timed("reads-70", MILLION, reads),
    timed("nvme", MILLION, || today(0.0)),
    timed("nvme-reads-70", MILLION, || today(0.7)),
    timed("slacker", MILLION / 5, || slacker(300.0)),
    timed("gcar-lru", MILLION / 5, cached),
    timed("rais5", MILLION / 5, array),
    timed("light-npgc", MILLION / 5, || open_loop(1_000.0)),
    timed("overload-npgc", MILLION / 5, || open_loop(1.0)),
    timed("light-slacker", MILLION / 20, || slacker(3_000.0)),
    timed("overload-slacker", MILLION / 20, || slacker(3.0)),
    timed("chips-16", MILLION / 4, || chips(false, false)),
    timed("chips-1024", MILLION / 4, || chips(true, false)),
    timed("chips-16-dynalloc", MILLION / 4, || chips(false, true)),
    timed("chips-1024-dynalloc", MILLION / 4, || chips(true, true)),
    timed("requests-1e5", MILLION / 10, || lee2013("npgc")),
    timed("requests-1e7", 10 * MILLION, || lee2013("npgc")),
    timed("requests-1e8", 100 * MILLION, || lee2013("npgc")),
    Case { name: "1-tb", requests: 10_000, measured: Measured::Whole, config: terabyte },
    Case { name: "3.84-tb", requests: 10 * MILLION, measured: Measured::Whole, config: four_terabytes },
    Case { name: "text-csv", requests: 2 * MILLION, measured: Measured::Text(csv_line), config: Config::default },
    Case { name: "text-msr", requests: 2 * MILLION, measured: Measured::Text(msr_line), config: Config::default },
];

fn layers(device: &str, scheme: &str, workload: Option<&str>) -> Config {
    Layers {
        device: Some(device.into()),
        schemes: scheme.split('+').map(String::from).collect(),
        workload: workload.map(String::from),
        ..Layers::default()
    }
    .build()
    .expect("presets fit together")
}

/// 4 KiB uniform random writes in steady state.
fn lee2013(scheme: &str) -> Config {
    let mut config = layers("lee2013", scheme, Some("uniform-4k-write"));
    config.ftl.precondition.kind = PreconditionKind::Steady;
    config
}

/// 4 KiB uniform random writes under `npgc` in steady state, in open loop, `interarrival_us` apart.
fn open_loop(interarrival_us: f64) -> Config {
    let mut config = lee2013("npgc");
    (config.workload.queue_depth, config.workload.interarrival_us) = (0, interarrival_us);
    config
}

/// Host first on the die of bux2011, reads and writes two to one, at 0.7 utilisation.
fn bux2011() -> Config {
    let mut config = layers("bux2011", "rwp", None);
    config.workload.read_share = 2.0 / 3.0;
    config.workload.interarrival_us = 672.0;
    config
}

/// Random 4 KiB requests, 70 % reads, on a drive with so much free space that GC never begins.
fn reads() -> Config {
    let mut config = layers("lee2013", "npgc", Some("uniform-4k-write"));
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config.workload.read_share = 0.7;
    config
}

/// 4 KiB random requests in steady state on a drive of today, with smaller blocks and fewer of them, 128 outstanding.
fn today(read_share: f64) -> Config {
    let mut config = layers("nvme-tlc-2023", "nvme", Some("uniform-4k-write"));
    (config.device.blocks_per_plane, config.device.pages_per_block) = (64, 288);
    config.ftl.precondition.kind = PreconditionKind::Steady;
    (config.workload.queue_depth, config.workload.read_share) = (128, read_share);
    config
}

/// Requests of 32 KiB under `slacker`, a quarter of them reads, in open loop, `interarrival_us` apart on average.
fn slacker(interarrival_us: f64) -> Config {
    let mut config = layers("elyasi2017", "slacker", None);
    (config.workload.request_kb, config.workload.align_kb, config.workload.read_share) = (32.0, 8.0, 0.25);
    (config.workload.address, config.workload.interarrival_us) = (Address::Uniform, interarrival_us);
    config
}

fn cached() -> Config {
    let mut config = layers("wu2017", "npgc+gcar-lru", Some("wu2017-synthetic"));
    config.device.blocks_per_plane = 16;
    config.cache.bytes = 1 << 20;
    config
}

fn array() -> Config {
    let mut config = layers("lee2013", "npgc", Some("uniform-4k-write"));
    config.array.level = ArrayLevel::Rais5;
    config
}

/// Random 8 KiB requests, half of them reads, on 2^25 pages in chips of a single plane. Filled, so that no page of the map is touched for the
/// first time while it is measured.
fn chips(many: bool, dynamic: bool) -> Config {
    let mut config = layers("elyasi2017", if dynamic { "dynalloc" } else { "fr-fcfs" }, None);
    let (side, blocks) = if many { (32, 128) } else { (4, 8192) };
    config.device.channels = side;
    config.device.chips_per_channel = side;
    config.device.dies_per_chip = 1;
    config.device.planes_per_die = 1;
    config.device.blocks_per_plane = blocks;
    config.workload.request_kb = 8.0;
    config.workload.align_kb = 8.0;
    config.workload.read_share = 0.5;
    config.workload.address = Address::Uniform;
    config.workload.arrival = Arrival::Fixed;
    config.workload.queue_depth = 1024;
    config
}

fn terabyte() -> Config {
    let mut config = layers("elyasi2017", "fr-fcfs", Some("fio-randread"));
    config.workload.read_share = 0.5;
    config
}

/// The drive of today four times as large, filled, with random reads and writes.
fn four_terabytes() -> Config {
    let mut config = layers("nvme-tlc-2023", "nvme", Some("uniform-4k-write"));
    (config.device.chips_per_channel, config.workload.queue_depth, config.workload.read_share) = (8, 128, 0.5);
    config
}

fn csv_line(us: u64, write: bool, offset: u64, length: u64) -> String {
    format!("{us},{},{offset},{length}\n", if write { "W" } else { "R" })
}

fn msr_line(us: u64, write: bool, offset: u64, length: u64) -> String {
    format!("{},prn,0,{},{offset},{length},{}\n", 128_166_372_003_061_629 + 10 * us, if write { "Write" } else { "Read" }, us % 100_000)
}

/// What a turn measured.
pub struct Turn {
    /// Requests simulated, or lines read.
    pub requests: u64,
    /// Real time that they took, s.
    pub seconds: f64,
    /// Processor time that they took, s, where the system tells: other work on the machine adds little to it.
    pub processor_s: Option<f64>,
}

/// The prepared drives, each made when it is first needed.
#[derive(Default)]
pub struct Bench {
    drives: BTreeMap<String, (Ftl, PreconditionReport)>,
    plain: Option<Option<PlainLoop>>,
}

impl Bench {
    /// One turn of a case. `None` where it cannot be measured: the C loop without a C compiler.
    pub fn turn(&mut self, case: &Case) -> Option<Turn> {
        let (config, requests) = ((case.config)(), case.requests);
        let (seconds, processor_s) = match case.measured {
            Measured::Text(line) => text(line, requests),
            Measured::Whole => {
                let plan = Plan { requests: Some(requests), ..Plan::new(config, 3) };
                seconds(|| drop(run(&plan, &Control::default()).expect("a run")))
            }
            Measured::PlainC => {
                let (ftl, report) = self.drives(&config).remove(0);
                let plain = self.plain.get_or_insert_with(PlainLoop::compile).as_ref()?;
                (requests as f64 / plain.rate(&ftl, report.pages_overwritten, requests)?, None)
            }
            Measured::Untimed => untimed(&config, self.drives(&config).remove(0).0, requests),
            measured => simulated(&config, self.drives(&config), requests, measured),
        };
        Some(Turn { requests, seconds, processor_s })
    }

    /// Prepared drives for the configuration. Drives of one shape and preparation are prepared once.
    fn drives(&mut self, config: &Config) -> Vec<(Ftl, PreconditionReport)> {
        let prepare = |own| precondition::prepare(config, None, own, 1, &|_, _| Ok(())).expect("a prepared drive");
        let key = format!("{:?} {:?}", config.device, config.ftl);
        let drive = self.drives.entry(key).or_insert_with(|| prepare(precondition::Own::default()));
        vec![drive.clone(); config.array.drives() as usize]
    }
}

fn untimed(config: &Config, mut ftl: Ftl, writes: u64) -> (f64, Option<f64>) {
    let mut rng = Rng::new(SEED, "speed");
    let mut counts = UntimedCounts::default();
    let mut victims = Picker::new(&config.gc, SEED, "speed/victim");
    let pages = u64::from(ftl.geometry().exported_units);
    seconds(|| {
        for _ in 0..writes {
            let lpn = Lpn(rng.below(pages) as u32);
            let pool = ftl.geometry().home(lpn).0;
            assert!(untimed::write(&mut ftl, &mut victims, pool, &[lpn], &mut counts));
        }
    })
}

fn simulated(config: &Config, drives: Vec<(Ftl, PreconditionReport)>, requests: u64, measured: Measured) -> (f64, Option<f64>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut plan = Plan { requests: Some(requests), ..Plan::new(config.clone(), SEED) };
    match measured {
        Measured::Series => plan.series = true,
        Measured::Log => plan.request_log = Some(folder.path().join("log.parquet")),
        Measured::Timeline => {
            let path = folder.path().join("timeline.json.gz");
            plan.timeline = Some(timeline::Wanted { path, from: 0, to: Ns::MAX, limit: SLICES });
        }
        _ => {}
    }
    let (ftls, reports): (Vec<_>, Vec<_>) = drives.into_iter().unzip();
    let exported = config.exported_bytes().expect("a size");
    let mut source = workload::open(&config.workload, exported, plan.seed, plan.requests).expect("a generator");
    let mut simulation = Simulation::with_drives(&plan, ftls, reports[0].clone()).expect("a drive");
    let drive = |simulation: &mut Simulation| simulation.drive(source.as_mut(), &Control::default()).expect("a run");
    match measured {
        Measured::Log | Measured::Timeline => seconds(move || {
            let mut simulation = simulation;
            let mut drive = drive;
            drive(&mut simulation);
            drop(simulation.finish().expect("a result"));
        }),
        _ => {
            let mut drive = drive;
            seconds(|| drive(&mut simulation))
        }
    }
}

/// Reads a text trace of `lines` lines to its end.
fn text(line: fn(u64, bool, u64, u64) -> String, lines: u64) -> (f64, Option<f64>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("trace.csv");
    write_text(&path, line, lines);
    let config = Workload { trace: Some(path.to_string_lossy().into_owned()), ..Workload::default() };
    let mut reader = workload::TraceReader::new(&config, 1 << 40).expect("a readable trace");
    let mut read = 0;
    let took = seconds(|| {
        while reader.next_request().expect("readable lines").is_some() {
            read += 1;
        }
    });
    assert_eq!(read, lines);
    took
}

fn write_text(path: &Path, line: fn(u64, bool, u64, u64) -> String, lines: u64) {
    let mut out = std::io::BufWriter::new(std::fs::File::create(path).expect("a temporary file"));
    let mut rng = Rng::new(SEED, "speed/text");
    if line(0, false, 0, 0).starts_with("0,") {
        out.write_all(b"timestamp_us,op,offset_bytes,size_bytes\n").expect("room for a trace");
    }
    for number in 0..lines {
        let (offset, length) = (rng.below(30_000_000) * 4096, (1 + rng.below(16)) * 4096);
        out.write_all(line(20 * number, rng.chance(0.6), offset, length).as_bytes()).expect("room for a trace");
    }
    out.flush().expect("room for a trace");
}
