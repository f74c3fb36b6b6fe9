//! Small fixed runs whose instructions `make instructions` counts. A run is named as the only argument; without one the names are listed.
//!
//! Only [`counted_part`] is counted: `valgrind --tool=callgrind --toggle-collect='*counted_part*'`. It must not be inlined, and its name not occur in others.

use ssdlab::config::{Address, Config, Layers, PreconditionKind};
use ssdlab::error::Result;
use ssdlab::ftl::Ftl;
use ssdlab::gc::untimed::{self, UntimedCounts};
use ssdlab::gc::victim::Picker;
use ssdlab::precondition;
use ssdlab::request::Request;
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation};
use ssdlab::units::Lpn;
use ssdlab::workload::{self, RequestSource};

const SEED: u64 = 1;
/// Timed requests of a run.
const REQUESTS: u64 = 10_000;
/// Writes of the untimed replay, each of which costs about a tenth.
const WRITES: u64 = 50_000;

/// A run's name and the configuration that it is of.
type Run = (&'static str, fn() -> Config);

const RUNS: [Run; 11] = [
    ("untimed", || lee2013("npgc")),
    ("npgc", || lee2013("npgc")),
    ("pgc", || lee2013("pgc")),
    ("fpgc", || lee2013("fpgc")),
    ("cep", || lee2013("cep")),
    ("rwp", bux2011),
    ("reads-70", reads),
    ("gcar-lru", cached),
    ("slacker", slacker),
    ("rais5", array),
    ("nvme", nvme),
];

fn main() {
    // Cargo adds --bench.
    let name = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let Some(name) = name else {
        RUNS.iter().for_each(|(name, _)| println!("{name}"));
        return;
    };
    let (_, config) = RUNS.iter().find(|(known, _)| *known == name).expect("the name of a run");
    let config = config();
    if name == "untimed" {
        let (mut ftl, _) =
            precondition::prepare(&config, None, precondition::Own::default(), SEED, &|_, _| Ok(())).expect("a prepared drive");
        println!("{}", counted_part(WRITES, || replay(&config, &mut ftl)));
        return;
    }
    // Requests before those that are counted: the write buffer of this run is empty at first, and takes writes at the rate of the cores.
    let before = if name == "nvme" { REQUESTS } else { 0 };
    let plan = Plan { requests: Some(before + REQUESTS), ..Plan::new(config, SEED) };
    let exported = plan.config.exported_bytes().expect("a size");
    let mut source = workload::open(&plan.config.workload, exported, plan.seed, plan.requests).expect("a generator");
    let mut simulation = Simulation::new(&plan, &Control::default()).expect("a drive");
    if before > 0 {
        drive(&mut simulation, &mut First { source: source.as_mut(), left: before });
    }
    println!("{}", counted_part(REQUESTS, || drive(&mut simulation, source.as_mut())));
}

/// The first `left` requests of a source.
struct First<'a> {
    source: &'a mut dyn RequestSource,
    left: u64,
}

impl RequestSource for First<'_> {
    fn next_request(&mut self) -> Result<Option<Request>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        self.source.next_request()
    }
}

/// What is counted. Returns the number of requests, by which the count is divided.
#[inline(never)]
fn counted_part(requests: u64, run: impl FnOnce()) -> u64 {
    run();
    requests
}

fn drive(simulation: &mut Simulation, source: &mut dyn RequestSource) {
    simulation.drive(source, &Control::default()).expect("a run");
}

fn replay(config: &Config, ftl: &mut Ftl) {
    let mut rng = Rng::new(SEED, "instructions");
    let mut counts = UntimedCounts::default();
    let mut victims = Picker::new(&config.gc, SEED, "instructions/victim");
    let pages = u64::from(ftl.geometry().exported_units);
    for _ in 0..WRITES {
        let lpn = Lpn(rng.below(pages) as u32);
        let pool = ftl.geometry().home(lpn).0;
        assert!(untimed::write(ftl, &mut victims, pool, &[lpn], &mut counts));
    }
}

fn layers(device: &str, schemes: &[&str], workload: Option<&str>) -> Config {
    Layers {
        device: Some(device.into()),
        schemes: schemes.iter().map(|&scheme| scheme.into()).collect(),
        workload: workload.map(String::from),
        ..Layers::default()
    }
    .build()
    .expect("presets fit together")
}

/// 4 KiB random writes in steady state on a drive like that of lee2013 with an eighth of its dies' blocks in sixteen.
fn lee2013(scheme: &str) -> Config {
    let mut config = layers("lee2013", &[scheme], Some("uniform-4k-write"));
    config.device.blocks_per_plane = 16;
    config.ftl.precondition.kind = PreconditionKind::Steady;
    config
}

fn bux2011() -> Config {
    let mut config = layers("bux2011", &["rwp"], None);
    config.device.blocks_per_plane = 128;
    config.workload.read_share = 2.0 / 3.0;
    config.workload.interarrival_us = 672.0;
    config
}

/// No GC: it would begin after more writes than there are.
fn reads() -> Config {
    let mut config = layers("lee2013", &["npgc"], Some("uniform-4k-write"));
    config.device.blocks_per_plane = 64;
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config.workload.read_share = 0.7;
    config
}

fn cached() -> Config {
    let mut config = layers("wu2017", &["npgc", "gcar-lru"], Some("wu2017-synthetic"));
    config.device.blocks_per_plane = 16;
    config.cache.bytes = 1 << 20;
    config
}

fn slacker() -> Config {
    let mut config = layers("elyasi2017", &["slacker"], None);
    config.workload.request_kb = 32.0;
    config.workload.align_kb = 8.0;
    config.workload.read_share = 0.25;
    config.workload.interarrival_us = 300.0;
    config.workload.address = Address::Uniform;
    config
}

/// 4 KiB random writes in steady state on a small drive of today: units, one-shot programs, parity, write buffer, pacing, host interface. The
/// counted writes come after as many that fill the write buffer.
fn nvme() -> Config {
    let mut config = layers("nvme-tlc-2023", &["nvme"], Some("uniform-4k-write"));
    (config.device.channels, config.device.chips_per_channel, config.device.dies_per_chip) = (2, 1, 2);
    (config.device.blocks_per_plane, config.device.pages_per_block) = (64, 96);
    config.ftl.precondition.kind = PreconditionKind::Steady;
    config.workload.queue_depth = 32;
    config
}

fn array() -> Config {
    let mut config = layers("lee2013", &["npgc"], Some("uniform-4k-write"));
    config.device.blocks_per_plane = 8;
    config.array.level = ssdlab::config::ArrayLevel::Rais5;
    config
}
