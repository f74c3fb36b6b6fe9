//! What is measured: each case is a prepared drive, a workload and a number of requests. Preparing is not timed.

use std::collections::BTreeMap;
use std::time::Instant;

use ssdlab::config::{Address, Arrival, Config, Layers, PreconditionKind};
use ssdlab::ftl::Ftl;
use ssdlab::gc::untimed::{self, UntimedCounts};
use ssdlab::gc::victim::Picker;
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, run};
use ssdlab::stats::PreconditionReport;
use ssdlab::units::Lpn;
use ssdlab::{precondition, workload};

use crate::plain::PlainLoop;

/// Requests of a turn, unless the case is about their number.
const REQUESTS: u64 = 1_000_000;
const SEED: u64 = 2;

/// One thing to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// The loop in C.
    PlainC,
    /// The translation layer and greedy GC without time.
    Untimed,
    /// The timed simulation under a scheme.
    Timed(&'static str),
    /// The same under `npgc` with its series over time.
    Series,
    /// Host first on the die of bux2011, reads and writes two to one, at 0.7 utilisation.
    Rwp,
    /// Random 4 KiB requests, 70 % reads, on a drive with so much free space that GC never begins.
    Reads,
    /// Random 8 KiB requests on 1,024 chips or 16 with as many pages in all; written where they belong or to the chip with the fewest operations.
    Chips {
        /// 1,024 rather than 16.
        many: bool,
        /// With dynamic allocation.
        dynamic: bool,
    },
    /// `npgc` with 10 to this power requests.
    Requests(u32),
}

impl Case {
    /// All, in the order in which a turn measures them.
    pub const ALL: [Case; 18] = [
        Case::PlainC,
        Case::Untimed,
        Case::Timed("npgc"),
        Case::Series,
        Case::Timed("pgc"),
        Case::Timed("fpgc"),
        Case::Timed("cep"),
        Case::Timed("bbgc-dqgc"),
        Case::Rwp,
        Case::Reads,
        Case::Chips { many: false, dynamic: false },
        Case::Chips { many: true, dynamic: false },
        Case::Chips { many: false, dynamic: true },
        Case::Chips { many: true, dynamic: true },
        Case::Requests(5),
        Case::Requests(6),
        Case::Requests(7),
        Case::Requests(8),
    ];

    /// Those that the budget compares with the C loop, with the share that it asks for.
    pub const SHARES: [(Case, f64); 6] = [
        (Case::Untimed, 0.9),
        (Case::Timed("npgc"), 0.45),
        (Case::Timed("pgc"), 0.28),
        (Case::Timed("fpgc"), 0.28),
        (Case::Timed("cep"), 0.28),
        (Case::Timed("bbgc-dqgc"), 0.28),
    ];

    /// By which it is asked for and shown.
    pub fn name(self) -> &'static str {
        match self {
            Case::PlainC => "plain-c",
            Case::Untimed => "untimed",
            Case::Timed(scheme) => scheme,
            Case::Series => "npgc-series",
            Case::Rwp => "rwp",
            Case::Reads => "reads-70",
            Case::Chips { many: false, dynamic: false } => "chips-16",
            Case::Chips { many: true, dynamic: false } => "chips-1024",
            Case::Chips { many: false, dynamic: true } => "chips-16-dynalloc",
            Case::Chips { many: true, dynamic: true } => "chips-1024-dynalloc",
            Case::Requests(5) => "requests-1e5",
            Case::Requests(6) => "requests-1e6",
            Case::Requests(7) => "requests-1e7",
            Case::Requests(_) => "requests-1e8",
        }
    }

    /// Turns after which it is measured no more.
    pub fn turns(self) -> usize {
        match self {
            Case::Requests(7) => 3,
            Case::Requests(8) => 1,
            _ => usize::MAX,
        }
    }

    fn requests(self) -> u64 {
        match self {
            Case::Requests(power) => 10_u64.pow(power),
            Case::Chips { .. } => REQUESTS / 4,
            _ => REQUESTS,
        }
    }

    fn config(self) -> Config {
        match self {
            Case::Rwp => bux2011(),
            Case::Reads => reads(),
            Case::Chips { many, dynamic } => chips(many, dynamic),
            Case::Timed(scheme) => lee2013(scheme),
            Case::PlainC | Case::Untimed | Case::Series | Case::Requests(_) => lee2013("npgc"),
        }
    }

    /// Cases of one drive, which is prepared once.
    fn drive(self) -> &'static str {
        match self {
            Case::PlainC | Case::Untimed | Case::Series | Case::Requests(_) => "npgc",
            _ => self.name(),
        }
    }
}

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

fn lee2013(scheme: &str) -> Config {
    let mut config = layers("lee2013", scheme, Some("uniform-4k-write"));
    config.ftl.precondition.kind = PreconditionKind::Steady;
    config
}

fn bux2011() -> Config {
    let mut config = layers("bux2011", "rwp", None);
    config.workload.read_share = 2.0 / 3.0;
    config.workload.interarrival_us = 672.0;
    config
}

fn reads() -> Config {
    let mut config = layers("lee2013", "npgc", Some("uniform-4k-write"));
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config.workload.read_share = 0.7;
    config
}

/// 2^25 pages either way, in chips of a single plane. Filled, so that no page of the map is touched for the first time while it is measured.
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
    config.workload.queue_depth = 32;
    config
}

/// What a turn measured.
pub struct Turn {
    /// Requests simulated.
    pub requests: u64,
    /// Real time that they took, s.
    pub seconds: f64,
    /// Processor time that they took, s, where the system tells: other work on the machine adds little to it.
    pub processor_s: Option<f64>,
}

impl Turn {
    /// Requests a second.
    pub fn rate(&self) -> f64 {
        self.requests as f64 / self.seconds
    }
}

/// The prepared drives, each made when it is first needed.
#[derive(Default)]
pub struct Bench {
    drives: BTreeMap<&'static str, (Ftl, PreconditionReport)>,
    plain: Option<Option<PlainLoop>>,
}

impl Bench {
    /// One turn of a case. `None` where it cannot be measured: the C loop without a C compiler.
    pub fn turn(&mut self, case: Case) -> Option<Turn> {
        let config = case.config();
        let prepare = || precondition::prepare(&config, None, precondition::Own::default(), 1, &|_, _| Ok(())).expect("a prepared drive");
        let (ftl, report) = self.drives.entry(case.drive()).or_insert_with(prepare);
        let requests = case.requests();
        let (seconds, processor_s) = match case {
            Case::PlainC => {
                let plain = self.plain.get_or_insert_with(PlainLoop::compile).as_ref()?;
                (requests as f64 / plain.rate(ftl, report.pages_overwritten, requests)?, None)
            }
            Case::Untimed => untimed(&config, ftl.clone(), requests),
            _ => timed(&config, ftl.clone(), report.clone(), requests, case == Case::Series),
        };
        Some(Turn { requests, seconds, processor_s })
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

fn timed(config: &Config, ftl: Ftl, report: PreconditionReport, requests: u64, series: bool) -> (f64, Option<f64>) {
    let plan = Plan { requests: Some(requests), series, ..Plan::new(config.clone(), SEED) };
    let exported = ftl.geometry().exported_bytes();
    let mut source = workload::open(&config.workload, exported, plan.seed, plan.requests).expect("a generator");
    let mut simulation = Simulation::with_drives(&plan, vec![ftl], report).expect("a drive");
    seconds(|| simulation.drive(source.as_mut(), &Control::default()).expect("a run"))
}

/// Real time and processor time of what this thread does, s.
fn seconds(work: impl FnOnce()) -> (f64, Option<f64>) {
    let (start, before) = (Instant::now(), processor_ns());
    work();
    let spent = processor_ns().zip(before).map(|(after, before)| (after - before) as f64 / 1e9);
    (start.elapsed().as_secs_f64(), spent)
}

/// Processor time of this thread, ns, where the kernel is Linux.
fn processor_ns() -> Option<u64> {
    std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split_whitespace().next()?.parse().ok()
}

/// A run of 10,000 requests on a filled drive of 1 TB, preparation included, s.
pub fn terabyte_drive_s(series: bool) -> f64 {
    let mut config = layers("elyasi2017", "fr-fcfs", Some("fio-randread"));
    config.workload.read_share = 0.5;
    let plan = Plan { requests: Some(10_000), series, ..Plan::new(config, 3) };
    let start = Instant::now();
    run(&plan, &Control::default()).expect("a run");
    start.elapsed().as_secs_f64()
}
