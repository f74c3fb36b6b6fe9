//! Draws the timelines of `docs/schemes.md`: runs small drives with the mechanisms of the policy space, keeps every stage, and writes what was
//! seen as SVG. `cargo run --release --example timelines` writes the files; the test `schemes` compares them.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ssdlab::config::{
    Advance, Allocation, Begin, Buffer, Config, Drain, Frontier, HardStops, Order, Pace, PreconditionKind, Priority, ReclaimUnit, Scope,
    Suspendable, SuspendedForReads, Trigger, Victim,
};
use ssdlab::flash::{Interval, OpKind, Resource};
use ssdlab::request::{Request, RequestKind};
use ssdlab::simulation::{Control, Plan, Simulation, Verify};
use ssdlab::ssd::Counters;
use ssdlab::units::Lpn;

const PAGE: u64 = 4096;
const MS: u64 = 1_000_000;
const READ_NS: u64 = 25_000;
const PROGRAM_NS: u64 = 200_000;
const SUSPEND_NS: u64 = 20_000;

/// A request of a drawing: when it arrives, after the start of the job.
#[derive(Clone, Copy)]
struct Ask {
    at: u64,
    kind: RequestKind,
    page: u64,
    /// Subscript of the request.
    letter: &'static str,
    /// Text added to the line of the request.
    note: &'static str,
    urgent: bool,
}

fn read(at_us: u64, page: u64, letter: &'static str) -> Ask {
    Ask { at: at_us * 1000, kind: RequestKind::Read, page, letter, note: "", urgent: false }
}

fn write(at_us: u64, page: u64, letter: &'static str) -> Ask {
    Ask { kind: RequestKind::Write, ..read(at_us, page, letter) }
}

fn noted(ask: Ask, note: &'static str) -> Ask {
    Ask { note, ..ask }
}

/// A counter, by its field.
type Count = (&'static str, fn(&Counters) -> u64);

macro_rules! counts {
    ($($name:ident),*) => {
        vec![$((stringify!($name), (|counters: &Counters| counters.$name) as fn(&Counters) -> u64)),*]
    };
}

/// The name of a counter in results.
fn in_results(name: &str) -> String {
    match name {
        "merged_reads" => "gc.merged.read".into(),
        "merged_writes" => "gc.merged.write".into(),
        "pipelined_reads" => "gc.pipelined.read".into(),
        "pipelined_writes" => "gc.pipelined.write".into(),
        "preemptions" | "suspensions" | "pages_moved" | "stale_moves" => format!("gc.{name}"),
        name => format!("counters.{name}"),
    }
}

/// One run.
struct Panel {
    title: &'static str,
    config: Config,
    /// The writes that bring a job about: arrival, page.
    beginning: Vec<(u64, u64)>,
    /// When the job begins.
    origin: u64,
    asks: Vec<Ask>,
    /// The subscripts of the pages that the job moves, in the order in which their reads begin.
    moves: &'static [&'static str],
    counts: Vec<Count>,
    /// Pages whose place at the end is printed, with their subscripts.
    places: &'static [(&'static str, u32)],
    states: bool,
    /// The subscripts of programs of the job that move several units, in their order.
    programs: &'static [&'static str],
    /// The subscripts of the host's operations in the order in which they begin, where they do not end with a request.
    host: &'static [&'static str],
    /// Further text about the drive.
    told: fn(&Simulation) -> String,
}

/// Runs on one time axis.
struct Drawing {
    name: &'static str,
    from_us: u64,
    to_us: u64,
    panels: Vec<Panel>,
}

/// The first and the second page that a job moves, and pages that it does not move.
const X: u64 = 2;
const Z: u64 = 9;

/// One die of eight blocks of four pages, sixteen pages exported and filled. 25 us a read, 200 us a program, 1.5 ms an erase, 102.4 us a page
/// on the bus.
fn drive() -> Config {
    let mut config = Config::default();
    config.device.channels = 1;
    config.device.blocks_per_plane = 8;
    config.device.pages_per_block = 4;
    config.device.overprovisioning = 0.5;
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config
}

/// The fifth write takes the second of four free blocks, which leaves fewer than three: a job starts when it has ended, at [`ORIGIN`].
fn preemptible(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = drive();
    config.ftl.frontier = Frontier::Separate;
    config.gc.soft = 3.0;
    config.gc.scope = Scope::None;
    config.gc.priority = Priority::Host;
    change(&mut config);
    config
}

/// When the job of [`preemptible`] begins.
const ORIGIN: u64 = 2_100_000;

fn beginning(pages: [u64; 5]) -> Vec<(u64, u64)> {
    pages.into_iter().enumerate().map(|(i, page)| (if i == 4 { ORIGIN - 302_400 } else { 410_000 * i as u64 }, page)).collect()
}

fn panel(title: &'static str, config: Config, asks: Vec<Ask>, counts: Vec<Count>) -> Panel {
    let beginning = beginning([0, 1, 4, 8, 12]);
    Panel {
        title,
        config,
        beginning,
        origin: ORIGIN,
        asks,
        moves: &["x", "y"],
        counts,
        places: &[],
        states: false,
        programs: &[],
        host: &[],
        told: |_| String::new(),
    }
}

/// A run without collection.
fn plain(title: &'static str, config: Config, asks: Vec<Ask>, told: fn(&Simulation) -> String) -> Panel {
    Panel { beginning: Vec::new(), origin: 0, moves: &[], told, ..panel(title, config, asks, Vec::new()) }
}

fn merging(config: &mut Config) {
    config.gc.merge = true;
}

fn pairing(config: &mut Config) {
    config.device.cache_register = true;
    config.gc.pipeline = true;
}

fn suspending(operation: Suspendable) -> Config {
    preemptible(|c| c.gc.suspend = vec![operation])
}

fn insertion() -> Drawing {
    let npgc = preemptible(|c| {
        c.gc.scope = Scope::Chip;
        c.gc.priority = Priority::Gc;
    });
    let asks = || vec![write(300, Z, "z")];
    Drawing {
        name: "insertion",
        from_us: 0,
        to_us: 2662,
        panels: vec![
            panel("npgc: scope = chip, priority = gc", npgc, asks(), counts!(preemptions)),
            panel("pgc-none: scope = none, priority = host", preemptible(|_| ()), asks(), counts!(preemptions)),
        ],
    }
}

fn pipeline_reads() -> Drawing {
    let asks = || vec![read(300, Z, "z")];
    Drawing {
        name: "pipeline-b",
        from_us: 0,
        to_us: 1150,
        panels: vec![
            panel("pipeline = false", preemptible(|c| c.device.cache_register = true), asks(), counts!(pipelined_reads, preemptions)),
            panel("pipeline = true", preemptible(pairing), asks(), counts!(pipelined_reads, preemptions)),
        ],
    }
}

fn pipeline_writes() -> Drawing {
    let asks = || vec![write(100, Z, "z")];
    Drawing {
        name: "pipeline-a",
        from_us: 0,
        to_us: 1300,
        panels: vec![
            panel("pipeline = false", preemptible(|c| c.device.cache_register = true), asks(), counts!(pipelined_writes, preemptions)),
            panel("pipeline = true", preemptible(pairing), asks(), counts!(pipelined_writes, preemptions)),
        ],
    }
}

fn merge_reads() -> Drawing {
    let with_cache = |merge: bool| {
        preemptible(|c| {
            c.gc.merge = merge;
            c.device.cache_register = true;
        })
    };
    Drawing {
        name: "merge-read",
        from_us: 0,
        to_us: 1150,
        panels: vec![
            panel("merge = false", with_cache(false), vec![read(10, X, "x")], counts!(merged_reads)),
            panel("merge = true, x is being read", with_cache(true), vec![read(10, X, "x")], counts!(merged_reads)),
            panel("merge = true, x is being written", with_cache(true), vec![read(300, X, "x")], counts!(merged_reads)),
        ],
    }
}

fn merge_writes() -> Drawing {
    let asks = || vec![write(10, X, "x")];
    Drawing {
        name: "merge-write",
        from_us: 0,
        to_us: 1300,
        panels: vec![
            panel("merge = false", preemptible(|_| ()), asks(), counts!(merged_writes, pages_moved)),
            panel("merge = true", preemptible(merging), asks(), counts!(merged_writes, pages_moved)),
        ],
    }
}

fn suspend_erase() -> Drawing {
    let asks = || vec![read(1000, Z, "z")];
    Drawing {
        name: "suspend-erase",
        from_us: 800,
        to_us: 2487,
        panels: vec![
            panel("suspend = []", preemptible(|_| ()), asks(), counts!(suspensions)),
            panel("suspend = [\"erase\"]", suspending(Suspendable::Erase), asks(), counts!(suspensions)),
        ],
    }
}

fn discard() -> Drawing {
    let fully = || {
        preemptible(|c| {
            c.gc.suspend = vec![Suspendable::Read, Suspendable::Program, Suspendable::Erase];
            merging(c);
            pairing(c);
        })
    };
    let counted = || counts!(suspensions, discarded_moves, stale_moves, pages_moved);
    Drawing {
        name: "discard",
        from_us: 0,
        to_us: 1250,
        panels: vec![
            panel("fpgc, a write to another page during R x", fully(), vec![write(2, Z, "z")], counted()),
            panel("fpgc, a write to x during R x: discarded", fully(), vec![write(2, X, "x")], counted()),
            panel("fpgc, a write to x during W x: the copy is stale", fully(), vec![write(300, X, "x")], counted()),
        ],
    }
}

fn hard_threshold() -> Drawing {
    // The job shares a block with the two writes at 100 us and needs another for its second move, which leaves one free block.
    let shared = |hard: f64, stops: HardStops| {
        preemptible(|c| {
            c.ftl.frontier = Frontier::Shared;
            c.gc.hard = hard;
            c.gc.hard_stops = stops;
        })
    };
    let asks = |urgent| vec![write(100, 9, "u"), write(100, 10, "v"), Ask { urgent, ..write(1100, 13, "w") }, read(1200, 14, "z")];
    let states = |title, config, urgent| Panel {
        states: true,
        moves: &["x", "y", "p", "q"],
        ..panel(title, config, asks(urgent), counts!(preemptions, s3_entries))
    };
    Drawing {
        name: "hard-threshold",
        from_us: 0,
        to_us: 3395,
        panels: vec![
            states("hard = 0", shared(0.0, HardStops::Writes), false),
            states("hard = 0.67: T_hard = 2 of T_soft = 3 blocks", shared(0.67, HardStops::Writes), false),
            states("hard = 0.67, hard_stops = \"all\"", shared(0.67, HardStops::All), false),
            states("hard = 0.67, write w has high priority", shared(0.67, HardStops::Writes), true),
        ],
    }
}

/// Moves by copyback, and the trigger of ae2022: a job starts when the fifth write has ended, 302.4 us after it began at 4 ms.
fn blocking(scope: Scope, priority: Priority, change: impl FnOnce(&mut Config)) -> Config {
    let mut config = drive();
    config.device.copyback = true;
    config.ftl.frontier = Frontier::Shared;
    config.gc.trigger = Trigger::InvalidShare;
    config.gc.invalid_share = 0.4;
    config.gc.scope = scope;
    config.gc.priority = priority;
    change(&mut config);
    config
}

/// When the job of [`blocking`] begins.
const SLOW_ORIGIN: u64 = 4 * MS + 302_400;

fn slow_beginning(pages: [u64; 5]) -> Vec<(u64, u64)> {
    pages.into_iter().enumerate().map(|(i, page)| (MS * i as u64, page)).collect()
}

fn blocking_scopes() -> Drawing {
    // Pages go to chips, then planes, in turn: the four pools of the two dies.
    let four_pools = |c: &mut Config| {
        c.device.chips_per_channel = 2;
        c.device.planes_per_die = 2;
    };
    let asks = || {
        vec![
            noted(read(30, 21, "d"), " (other die)"),
            noted(read(40, 22, "p"), " (other plane)"),
            noted(read(50, 20, "b"), " (other block)"),
            noted(read(60, 12, "v"), " (victim)"),
        ]
    };
    let scoped = |title, scope, priority| Panel {
        beginning: slow_beginning([0, 4, 16, 32, 48]),
        origin: SLOW_ORIGIN,
        ..panel(title, blocking(scope, priority, four_pools), asks(), counts!(preemptions))
    };
    Drawing {
        name: "blocking-scopes",
        from_us: 0,
        to_us: 2750,
        panels: vec![
            scoped("cbgc: scope = channel, priority = fifo", Scope::Channel, Priority::Fifo),
            scoped("pbgc: scope = plane, priority = fifo", Scope::Plane, Priority::Fifo),
            scoped("bbgc: scope = block, priority = fifo", Scope::Block, Priority::Fifo),
            scoped("bbgc-dqgc: scope = block, priority = host", Scope::Block, Priority::Host),
        ],
    }
}

fn moves_in_flight() -> Drawing {
    let of_three = |title, moves| Panel {
        beginning: beginning([0, 4, 8, 12, 13]),
        moves: &["x", "y", "z"],
        ..panel(title, preemptible(|c| c.gc.moves_in_flight = moves), vec![read(50, Z, "h")], counts!(preemptions))
    };
    Drawing {
        name: "moves-in-flight",
        from_us: 0,
        to_us: 1550,
        panels: vec![of_three("moves_in_flight = 1", 1), of_three("moves_in_flight = 2", 2), of_three("moves_in_flight = 16", 16)],
    }
}

/// Two chips, whose blocks of two pages are collected alone, or as superblocks. Pages 0 and 1 stay valid in the blocks that were filled first.
fn superblocks() -> Drawing {
    let collecting = |title, allocation, reclaim_unit, origin, moves| {
        let config = preemptible(|c| {
            c.ftl.precondition.kind = PreconditionKind::None;
            (c.device.chips_per_channel, c.device.die_interleave) = (2, true);
            (c.device.blocks_per_plane, c.device.pages_per_block, c.device.overprovisioning) = (16, 2, 0.875);
            (c.ftl.allocation, c.ftl.reclaim_unit) = (allocation, reclaim_unit);
            (c.gc.soft, c.gc.victim) = (9.0, Victim::Fifo);
        });
        let pages = (0..4).chain((0..24).map(|number| 2 + number % 4)).chain([2]);
        Panel {
            beginning: pages.zip(0..).map(|(page, number)| (10 * MS * number, page)).collect(),
            origin,
            moves,
            places: &[("x", 0), ("y", 1)],
            ..panel(title, config, vec![read(1200, 3, "h")], counts!(pages_moved))
        }
    };
    Drawing {
        name: "superblocks",
        from_us: 0,
        to_us: 3000,
        panels: vec![
            collecting("reclaim_unit = block", Allocation::default(), ReclaimUnit::Block, 280 * MS + 302_400, &["x"]),
            collecting("reclaim_unit = superblock", Allocation::Dynamic, ReclaimUnit::Superblock, 280 * MS, &["y", "x"]),
        ],
    }
}

fn begins() -> Drawing {
    let begun = |title, begin, scope, priority| {
        let config = preemptible(|c| {
            c.ftl.frontier = Frontier::Shared;
            (c.gc.begin, c.gc.scope, c.gc.priority) = (begin, scope, priority);
        });
        panel(title, config, vec![read(300, Z, "z"), write(2500, 13, "u")], counts!(jobs_set_off))
    };
    Drawing {
        name: "begin",
        from_us: 0,
        to_us: 5250,
        panels: vec![
            begun("npgc, begin = frontier", Begin::Frontier, Scope::Chip, Priority::Gc),
            begun("npgc, begin = request", Begin::Request, Scope::Chip, Priority::Gc),
            begun("npgc, begin = write", Begin::Write, Scope::Chip, Priority::Gc),
            begun("pgc-none, begin = request", Begin::Request, Scope::None, Priority::Host),
        ],
    }
}

fn advances() -> Drawing {
    let advancing = |title, advance, pipeline, moves: &'static [&'static str]| {
        let config = preemptible(|c| {
            if pipeline {
                pairing(c);
            }
            c.gc.advance = advance;
        });
        let asks = vec![write(100, Z, "z"), write(900, 13, "u"), read(1500, 10, "r")];
        Panel { moves, ..panel(title, config, asks, counts!(steps_with_requests, pipelined_writes, pipelined_reads)) }
    };
    Drawing {
        name: "advance",
        from_us: 0,
        to_us: 2150,
        panels: vec![
            advancing("pgc-none, advance = alone", Advance::Alone, false, &["x", "y"]),
            advancing("pgc-none, advance = with-requests", Advance::WithRequests, false, &["x", "y"]),
            advancing("pgc-pipeline, advance = with-requests", Advance::WithRequests, true, &["x", "y"]),
        ],
    }
}

/// Two units a page. Of the victim's four pages three hold one valid unit each.
fn units() -> Drawing {
    let collecting = |title, moves_in_flight| {
        let config = preemptible(|c| {
            c.ftl.map_unit_bytes = Some(PAGE as u32 / 2);
            c.ftl.frontier = Frontier::Shared;
            c.gc.soft = 1.0;
            c.gc.moves_in_flight = moves_in_flight;
        });
        let units = [0, 2, 4, 6, 7, 8, 10, 12, 14].into_iter().enumerate();
        let beginning = units.map(|(i, unit)| (MS * i as u64, unit)).collect();
        let panel = panel(title, config, vec![read(300, 20, "u")], counts![pages_moved]);
        Panel { beginning, origin: 8 * MS + 302_400, moves: &["x", "y", "z"], programs: &["xy", "z"], ..panel }
    };
    let panels = vec![collecting("two units a page", 1), collecting("moves_in_flight = 2", 2)];
    Drawing { name: "units", from_us: 0, to_us: 1600, panels }
}

/// A read comes while a page is programmed.
fn suspending_for_reads() -> Drawing {
    let suspending = |title, suspend: &[SuspendedForReads], min_run_ns| {
        let mut config = drive();
        config.scheduler.order = Order::FrFcfs;
        config.scheduler.suspend = suspend.to_vec();
        config.device.page_registers = 2;
        (config.device.suspend_ns, config.device.resume_ns, config.device.min_run_ns) = (10_000, 20_000, min_run_ns);
        let told = |simulation: &Simulation| format!("counters.suspended_programs {}", simulation.ssd().counters().suspended_programs);
        Panel { host: &["x", "y"], ..plain(title, config, vec![write(0, 0, "x"), read(150, 5, "y")], told) }
    };
    let program = &[SuspendedForReads::Program];
    let panels = vec![
        suspending("scheduler.suspend = []", &[], 0),
        suspending("scheduler.suspend = [program], min_run_ns = 30 us", program, 30_000),
        suspending("min_run_ns = 100 us", program, 100_000),
    ];
    Drawing { name: "suspend-for-reads", from_us: 0, to_us: 700, panels }
}

/// Three writes while a job is active: one page may be written ahead of it, or any number.
fn pacing() -> Drawing {
    let paced = |title, pace| {
        let config = preemptible(|c| {
            c.ftl.frontier = Frontier::Shared;
            (c.gc.pace, c.gc.pace_window) = (pace, 0.0);
        });
        panel(title, config, vec![write(10, 5, "z"), write(20, Z, "u"), write(30, 13, "v")], counts!(paced_writes))
    };
    let panels = vec![paced("pace = none", Pace::None), paced("pace = proportional", Pace::Proportional)];
    Drawing { name: "pace", from_us: 0, to_us: 1900, panels }
}

/// Four writes of a quarter of a page each, and a read of the first.
fn write_buffer() -> Drawing {
    let quarters = |buffer: Buffer| {
        let mut config = drive();
        config.ftl.precondition.kind = PreconditionKind::None;
        config.device.blocks_per_plane = 12;
        config.ftl.map_unit_bytes = Some(PAGE as u32 / 4);
        config.buffer = buffer;
        config
    };
    let asks = || vec![write(0, 0, "x"), write(100, 1, "y"), write(200, 2, "z"), read(250, 0, "x"), write(300, 3, "u")];
    let told = |simulation: &Simulation| {
        let stats = simulation.storage().stats(simulation.now()).buffer.expect("a write buffer");
        format!("buffer.programs {}, buffer.part_programs {}, buffer.read_hits {}", stats.programs, stats.part_programs, stats.read_hits)
    };
    let full = Buffer { bytes: 4 * PAGE, ..Buffer::default() };
    let none = plain("no write buffer", quarters(Buffer::default()), asks(), |_| String::new());
    let filled = plain("buffer.drain = full", quarters(full.clone()), asks(), told);
    let eager = plain("buffer.drain = eager", quarters(Buffer { drain: Drain::Eager, ..full }), asks(), told);
    Drawing {
        name: "write-buffer",
        from_us: 0,
        to_us: 1400,
        panels: vec![none, Panel { host: &["xyzu"], ..filled }, Panel { host: &["x", "yzu"], ..eager }],
    }
}

fn drawings() -> Vec<Drawing> {
    vec![
        units(),
        write_buffer(),
        suspending_for_reads(),
        begins(),
        pacing(),
        advances(),
        insertion(),
        pipeline_reads(),
        pipeline_writes(),
        merge_reads(),
        merge_writes(),
        suspend_erase(),
        discard(),
        hard_threshold(),
        blocking_scopes(),
        moves_in_flight(),
        superblocks(),
    ]
}

/// What was seen of a panel, in time relative to the first operation of the job.
struct Seen {
    boxes: Vec<Drawn>,
    /// Completions of the panel's requests.
    ends: Vec<u64>,
    /// The preemption points A and B.
    points: Vec<(char, u64)>,
    /// Start, end, number.
    states: Vec<(u64, u64, usize)>,
    counts: String,
    places: String,
    dies: u32,
}

/// A stage.
struct Drawn {
    resource: Resource,
    start: u64,
    end: u64,
    host: bool,
    /// Letter of the stage: R, T, W or E; two for a move by copyback.
    letter: &'static str,
    subscript: &'static str,
    /// The last part of the stage is a suspension.
    cut: bool,
    /// The stage belongs to a GC job and serves a host request too.
    joined: bool,
}

fn submitted(panel: &Panel, origin: u64) -> Simulation {
    let plan = Plan { verify: Verify::Every, ..Plan::new(panel.config.clone(), 1) };
    let mut simulation = Simulation::new(&plan, &Control::default()).expect("a drive");
    simulation.take_completions();
    simulation.ssd_mut().keep_trace();
    let unit = u64::from(panel.config.map_unit_bytes());
    let request = |arrival_ns, kind, page, high_priority| Request {
        arrival_ns,
        kind,
        offset: page * unit,
        length: unit,
        high_priority,
        flow: 0,
        handle: None,
    };
    for &(at, page) in &panel.beginning {
        simulation.submit(request(at, RequestKind::Write, page, false)).expect("a request");
    }
    for ask in &panel.asks {
        simulation.submit(request(origin + ask.at, ask.kind, ask.page, ask.urgent)).expect("a request");
    }
    simulation
}

fn play(panel: &Panel, until: u64) -> Seen {
    let origin = panel.origin;
    let end = origin + 8 * MS;
    let mut simulation = submitted(panel, origin);
    simulation.run_until(origin + until).expect("it runs");
    let counters = simulation.ssd().counters();
    let told = (panel.told)(&simulation);
    // What is under way at the end of the drawing is seen when it ends.
    simulation.run_until(end).expect("it runs");
    let mut completions = simulation.take_completions();
    completions.sort_by_key(|completion| completion.index);
    let ends: Vec<u64> = completions[panel.beginning.len()..].iter().map(|completion| completion.completed_ns - origin).collect();
    assert_eq!(ends.len(), panel.asks.len(), "{}: every request completes", panel.title);

    let all = &simulation.ssd().trace().expect("it was kept").intervals;
    let mut intervals: Vec<Interval> = all.iter().filter(|i| i.start >= origin && i.start < i.end).copied().collect();
    intervals.iter_mut().for_each(|i| (i.start, i.end) = (i.start - origin, i.end - origin));
    intervals.sort_by_key(|i| (i.start, i.end));
    let waits = panel.config.gc.begin != Begin::Frontier || panel.config.gc.advance == Advance::WithRequests;
    let begins = intervals.iter().find(|i| !i.host).map(|first| first.start == 0 || waits);
    assert_eq!(begins, (panel.origin > 0).then_some(true), "{}: the job begins at the origin, and there is none without one", panel.title);

    let mut points = Vec::new();
    let mut boxes = job(panel, &intervals, &mut points);
    join(panel, &ends, &mut boxes);
    boxes.extend(host(panel, &intervals, &ends));
    let counts = panel.counts.iter().map(|(name, of)| format!("{} {}", in_results(name), of(&counters)));
    let counts = counts.chain(Some(told).filter(|text| !text.is_empty())).collect::<Vec<_>>().join(", ");
    let place = |&(letter, page): &(&str, u32)| {
        let ftl = simulation.ssd().ftl();
        let (block, offset) = ftl.geometry().split_page(ftl.lookup(Lpn(page)).expect("it holds data"));
        format!("{letter} is in block {}, page {offset}", block.0)
    };
    let places = panel.places.iter().map(place).collect::<Vec<_>>().join("; ");
    let states = if panel.states { states(panel, origin, &intervals) } else { Vec::new() };
    simulation.finish().expect("a drive without errors");
    Seen { boxes, ends, points, states, counts, places, dies: panel.config.device.chips_per_channel }
}

/// The stages of the job, told apart by what precedes them, with the points between them.
fn job(panel: &Panel, intervals: &[Interval], points: &mut Vec<(char, u64)>) -> Vec<Drawn> {
    let mut boxes = Vec::new();
    let mut reads = panel.moves.iter();
    let mut moved = Vec::new();
    let mut programs = 0;
    let mut page = "";
    // Inside a move: its bus stages so far, and what is left of the array operation under way.
    let (mut transfers, mut left, mut erase_left) = (0, 0, 0);
    for i in intervals.iter().filter(|i| !i.host) {
        let length = i.end - i.start;
        let on_bus = matches!(i.resource, Resource::Bus(_));
        let mut cut = false;
        let mut piece = |left: &mut u64| {
            cut = length != *left;
            *left = if cut { *left + SUSPEND_NS - length } else { 0 };
            cut
        };
        let letter = match (i.kind, on_bus) {
            (OpKind::Erase, _) => {
                if erase_left == 0 {
                    erase_left = panel.config.device.erase_ns;
                }
                page = "";
                piece(&mut erase_left);
                "E"
            }
            (OpKind::CopybackMove, _) => {
                page = reads.next().unwrap_or(&"");
                "R+W"
            }
            (OpKind::Read, false) => {
                page = reads.next().unwrap_or(&"");
                moved.push(page);
                "R"
            }
            (OpKind::Read, true) | (OpKind::RegisterRead, _) => "T",
            (OpKind::Program, _) => {
                page = panel.programs.get(programs).or(moved.get(programs)).copied().unwrap_or("");
                programs += usize::from(!on_bus);
                if on_bus { "T" } else { "W" }
            }
            (OpKind::Move, true) => {
                transfers += 1;
                if transfers == 2 {
                    left = PROGRAM_NS;
                    points.push(('A', i.end));
                }
                "T"
            }
            (OpKind::Move, false) if transfers < 2 => {
                // What is left of a discarded read is never finished.
                if left == 0 || length > left {
                    left = READ_NS;
                    page = reads.next().unwrap_or(&"");
                    if points.is_empty() {
                        points.push(('B', i.start));
                    }
                }
                piece(&mut left);
                "R"
            }
            (OpKind::Move, false) => {
                if !piece(&mut left) {
                    transfers = 0;
                    points.push(('B', i.end));
                }
                "W"
            }
        };
        boxes.push(Drawn { resource: i.resource, start: i.start, end: i.end, host: false, letter, subscript: page, cut, joined: false });
    }
    boxes
}

/// The stages of host operations: that of a request ends when the request does, and the stage before it is the last of its kind.
fn host(panel: &Panel, intervals: &[Interval], ends: &[u64]) -> Vec<Drawn> {
    let mut stages: Vec<(&Interval, &'static str)> = intervals.iter().filter(|i| i.host).map(|i| (i, "")).collect();
    if !panel.host.is_empty() {
        name_in_order(panel.host, &mut stages);
    }
    for (ask, &end) in panel.asks.iter().zip(ends).filter(|_| panel.host.is_empty()) {
        let mut until = end;
        for last in [true, false] {
            let before = |i: &Interval| if last { i.end == until } else { i.end <= until };
            if let Some(stage) = stages.iter_mut().rev().find(|(i, letter)| letter.is_empty() && before(i) && fits(i, ask, last)) {
                stage.1 = ask.letter;
                until = stage.0.start;
            }
        }
    }
    let letter = |i: &Interval| match (i.resource, i.kind) {
        (Resource::Bus(_), _) => "T",
        (Resource::Array(_), OpKind::Read) => "R",
        (Resource::Array(_), _) => "W",
    };
    let to_box = |&(i, subscript): &(&Interval, _)| Drawn {
        resource: i.resource,
        start: i.start,
        end: i.end,
        host: true,
        letter: letter(i),
        subscript,
        cut: false,
        joined: false,
    };
    stages.iter().map(to_box).collect()
}

/// Gives operations of two stages their subscripts: of a read the array and the bus, of a program the bus and the array.
fn name_in_order(names: &[&'static str], stages: &mut [(&Interval, &'static str)]) {
    let mut names = names.iter();
    let mut begun = [VecDeque::new(), VecDeque::new()];
    // What was suspended goes on.
    let mut programmed = None;
    for (stage, letter) in stages {
        let program = stage.kind == OpKind::Program;
        let of_kind = &mut begun[usize::from(program)];
        let second = matches!(stage.resource, Resource::Bus(_)) != program;
        let name = if second { of_kind.pop_front().or(programmed) } else { names.next().inspect(|&name| of_kind.push_back(name)) };
        *letter = name.expect("a subscript");
        programmed = if program && second { name } else { programmed };
    }
}

/// Whether a host stage can be the last (or the one before) of a request.
fn fits(interval: &Interval, ask: &Ask, last: bool) -> bool {
    let on_bus = matches!(interval.resource, Resource::Bus(_));
    match ask.kind {
        RequestKind::Read => on_bus == last && matches!(interval.kind, OpKind::Read | OpKind::RegisterRead),
        _ => on_bus != last && !matches!(interval.kind, OpKind::Read | OpKind::RegisterRead),
    }
}

/// Marks the stages of moves that host requests have joined: those of the page that end with the request, and for a write the transfer before.
fn join(panel: &Panel, ends: &[u64], boxes: &mut [Drawn]) {
    for (ask, &end) in panel.asks.iter().zip(ends) {
        let Some(last) = boxes.iter().position(|stage| stage.subscript == ask.letter && stage.end == end) else { continue };
        boxes[last].joined = true;
        if ask.kind == RequestKind::Write {
            boxes[last - 1].joined = true;
        }
    }
}

/// The state of the pool between any two moments at which something begins or ends.
fn states(panel: &Panel, origin: u64, intervals: &[Interval]) -> Vec<(u64, u64, usize)> {
    let moments = intervals.iter().flat_map(|i| [i.start, i.end]).chain(panel.asks.iter().map(|ask| ask.at));
    let mut moments: Vec<u64> = moments.chain([0]).collect();
    moments.sort_unstable();
    moments.dedup();
    let mut simulation = submitted(panel, origin);
    let mut known: Vec<(u64, u64, usize)> = Vec::new();
    let mut before = None;
    for &moment in &moments {
        simulation.run_until(origin + moment).expect("it runs");
        let now = simulation.ssd().state_ns(origin + moment);
        if let Some((start, then)) = before.replace((moment, now)) {
            let state = (0..4).max_by_key(|&s| now[s] - then[s]).expect("four states");
            assert_eq!(now[state] - then[state], u128::from(moment - start), "one state between {start} and {moment}");
            match known.last_mut() {
                Some(last) if last.2 == state => last.1 = moment,
                _ => known.push((start, moment, state)),
            }
        }
    }
    known
}

const WIDTH: f64 = 960.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
/// Of a stage, of the space above it for labels that do not fit in, and of a request's line.
const BOX: f64 = 18.0;
const ABOVE: f64 = 12.0;
const LINE: f64 = 16.0;

const STYLE: &str = "
text{font:11px system-ui,sans-serif;fill:#1b1f24}
.title{font-weight:600}.note,.tick{fill:#57606a}.tick,.point{font-size:10px}.sub{font-size:8px}
.page{fill:#fff;stroke:#d0d7de}.gap{fill:#fff}.rail{stroke:#d0d7de}.grid{stroke:#d0d7de;stroke-dasharray:2 3}
.host{fill:#0072b2}.gc{fill:#f0b13c}.cut{fill:#8c959f}.edge{fill:none;stroke:#fff;stroke-width:.8}
.on-host{fill:#fff}.on-gc{fill:#1b1f24}.wait{stroke:#0072b2;stroke-width:1.5}.mark{fill:#0072b2}.arrive{fill:#fff;stroke:#0072b2;stroke-width:1.5}
.s1{fill:#e6edf3}.s2{fill:#c3cdd8}.s3{fill:#97a5b4}.s0{fill:#fff}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.note,.tick{fill:#9aa5b1}.page{fill:#161b22;stroke:#3d444d}.gap{fill:#161b22}.rail,.grid{stroke:#3d444d}
.edge{stroke:#161b22}.host{fill:#4aa3df}.on-host,.on-gc{fill:#0d1117}.wait,.arrive{stroke:#4aa3df}.arrive{fill:#161b22}.mark{fill:#4aa3df}
.s1{fill:#262d36}.s2{fill:#3a4450}.s3{fill:#566371}.s0{fill:#161b22}}
";

/// A drawing under construction.
struct Canvas {
    from: u64,
    to: u64,
    y: f64,
    text: String,
}

impl Canvas {
    fn x(&self, ns: u64) -> f64 {
        let ns = ns.clamp(self.from, self.to) - self.from;
        LEFT + ns as f64 * (WIDTH - LEFT - RIGHT) / (self.to - self.from) as f64
    }

    fn add(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
    }

    fn label(&mut self, x: f64, y: f64, class: &str, anchor: &str, label: &str) {
        self.add(&format!("<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\" text-anchor=\"{anchor}\">{label}</text>"));
    }

    fn rail(&mut self, name: &str) -> f64 {
        let top = self.y + ABOVE;
        self.label(LEFT - 8.0, top + 13.0, "note", "end", name);
        let (right, middle) = (WIDTH - RIGHT, top + BOX);
        self.add(&format!("<line x1=\"{LEFT:.1}\" x2=\"{right:.1}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\" class=\"rail\"/>"));
        self.y = top + BOX;
        top
    }

    fn stage(&mut self, top: f64, stage: &Drawn) {
        if stage.start >= self.to || stage.end <= self.from {
            return;
        }
        let (left, right) = (self.x(stage.start), self.x(stage.end));
        let side = if stage.host { "host" } else { "gc" };
        let bar = |x: f64, to: f64, class: &str| {
            format!("<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{BOX}\" class=\"{class}\"/>", to - x)
        };
        self.add(&bar(left, right, side));
        if stage.joined {
            self.add(&format!("<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"4\" class=\"host\"/>", right - left));
        }
        if stage.cut {
            let asked = self.x(stage.end - SUSPEND_NS);
            self.add(&bar(asked, right, "cut"));
        }
        self.add(&bar(left, right, "edge"));
        let mut label = stage.letter.to_string();
        if !stage.subscript.is_empty() {
            let _ = write!(label, "<tspan dy=\"3\" class=\"sub\">{}</tspan>", stage.subscript);
        }
        if stage.end > self.to {
            if right - left < 74.0 {
                return; // no room to say when it ends
            }
            let _ = write!(label, " to {}", us(stage.end));
        }
        let middle = f64::midpoint(left, right);
        if right - left >= 9.0 * stage.letter.len() as f64 + 3.0 {
            // A class of an outer element is not inherited by the rule for tspan, so that both have it.
            let label = label.replace("class=\"sub\"", &format!("class=\"sub on-{side}\""));
            self.label(middle, top + 13.0, &format!("on-{side}"), "middle", &label);
        } else {
            self.label(middle, top - 4.0, "", "middle", &label);
        }
    }

    fn request(&mut self, ask: &Ask, end: u64) {
        let (left, right, y) = (self.x(ask.at), self.x(end), self.y + 8.0);
        self.add(&format!("<line x1=\"{left:.1}\" x2=\"{right:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" class=\"wait\"/>"));
        self.add(&format!("<circle cx=\"{left:.1}\" cy=\"{y:.1}\" r=\"3.2\" class=\"arrive\"/>"));
        if end <= self.to {
            self.add(&format!("<path d=\"M{right:.1} {:.1}l4.5 4.5-4.5 4.5-4.5-4.5z\" class=\"mark\"/>", y - 4.5));
        }
        let verb = if ask.kind == RequestKind::Read { "read" } else { "write" };
        let label = format!("{verb} {}{}: {} us", ask.letter, ask.note, us(end - ask.at));
        // Beside its end, unless the drawing ends there.
        if right < WIDTH - 190.0 {
            self.label(right + 9.0, y + 4.0, "", "start", &label);
        } else if left > LEFT + 190.0 {
            self.label(left - 8.0, y + 4.0, "", "end", &label);
        } else {
            let width = 6.0 * label.len() as f64 + 10.0;
            self.add(&format!("<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"14\" class=\"gap\"/>", left + 40.0, y - 7.0));
            self.label(left + 40.0 + width / 2.0, y + 4.0, "", "middle", &label);
        }
        self.y += LINE;
    }

    fn panel(&mut self, panel: &Panel) {
        let seen = play(panel, self.to);
        self.y += 16.0;
        self.label(8.0, self.y, "title", "start", &panel.title.replace('"', "&quot;"));
        let told = [seen.counts.as_str(), seen.places.as_str()].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>();
        self.label(WIDTH - RIGHT, self.y, "note", "end", &told.join("; "));
        self.y += 6.0;
        let top = self.y;
        let bottom = top + LINE * panel.asks.len() as f64 + (ABOVE + BOX) * f64::from(1 + seen.dies);
        for ask in &panel.asks {
            let x = self.x(ask.at);
            self.add(&format!("<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{bottom:.1}\" class=\"grid\"/>", top + 11.0));
        }
        for (ask, &end) in panel.asks.iter().zip(&seen.ends) {
            self.request(ask, end);
        }
        let (from, to) = (self.from, self.to);
        let bus = self.rail("bus");
        for stage in seen.boxes.iter().filter(|stage| matches!(stage.resource, Resource::Bus(_))) {
            self.stage(bus, stage);
        }
        for die in 0..seen.dies {
            let name = if seen.dies == 1 { "array".to_string() } else { format!("array {die}") };
            let array = self.rail(&name);
            for stage in &seen.boxes {
                if matches!(stage.resource, Resource::Array(id) if id.0 == die) {
                    self.stage(array, stage);
                }
            }
        }
        self.y += 11.0;
        for &(point, at) in seen.points.iter().filter(|&&(_, at)| at >= from && at < to) {
            let x = self.x(at);
            let class = "point note";
            self.label(x, self.y, class, "middle", &point.to_string());
        }
        if !seen.states.is_empty() {
            self.y += 4.0;
            self.label(LEFT - 8.0, self.y + 11.0, "note", "end", "state");
            for &(start, end, state) in seen.states.iter().filter(|&&(start, end, _)| start < to && end > from) {
                let (left, right, y) = (self.x(start), self.x(end), self.y);
                self.add(&format!("<rect x=\"{left:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"14\" class=\"s{state}\"/>", right - left));
                if right - left > 14.0 {
                    self.label(f64::midpoint(left, right), y + 11.0, "", "middle", &format!("S{state}"));
                }
            }
            self.y += 14.0;
        }
        self.y += 10.0;
    }

    fn axis(&mut self) {
        let (y, right) = (self.y, WIDTH - RIGHT);
        self.add(&format!("<line x1=\"{LEFT:.1}\" x2=\"{right:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" class=\"rail\"/>"));
        let (from, to) = (self.from, self.to);
        let step = if to - from > 1_600_000 { 500_000 } else { 200_000 };
        for at in (0..=to).step_by(step).filter(|&at| at >= from) {
            let x = self.x(at);
            self.add(&format!("<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{y:.1}\" y2=\"{:.1}\" class=\"rail\"/>", y + 4.0));
            self.label(x, y + 15.0, "tick", "middle", &us(at));
        }
        self.label(LEFT - 8.0, y + 15.0, "tick", "end", "us");
        self.y += 22.0;
    }

    fn legend(&mut self) {
        let mut x = 8.0;
        for (class, name, width) in [("host", "host", 56.0), ("gc", "collection", 86.0), ("cut", "being suspended", 122.0)] {
            if class == "cut" && !self.text.contains("class=\"cut\"") {
                continue;
            }
            self.add(&format!("<rect x=\"{x:.1}\" y=\"8\" width=\"14\" height=\"14\" class=\"{class}\"/>"));
            self.label(x + 19.0, 19.0, "", "start", name);
            x += width;
        }
        if self.text.contains("height=\"4\"") {
            self.add(&format!("<rect x=\"{x:.1}\" y=\"8\" width=\"14\" height=\"14\" class=\"gc\"/>"));
            self.add(&format!("<rect x=\"{x:.1}\" y=\"8\" width=\"14\" height=\"4\" class=\"host\"/>"));
            self.label(x + 19.0, 19.0, "", "start", "both");
            x += 58.0;
        }
        self.add(&format!("<circle cx=\"{:.1}\" cy=\"15\" r=\"3.2\" class=\"arrive\"/>", x + 6.0));
        self.label(x + 14.0, 19.0, "", "start", "arrival");
        self.add(&format!("<path d=\"M{:.1} 10.5l4.5 4.5-4.5 4.5-4.5-4.5z\" class=\"mark\"/>", x + 66.0));
        self.label(x + 75.0, 19.0, "", "start", "completion");
        let points = if self.text.contains("class=\"point note\"") { "; A, B preemption points" } else { "" };
        let letters = format!("R read, T transfer, W program, E erase{points}");
        self.label(WIDTH - RIGHT, 19.0, "note", "end", &letters);
    }
}

fn us(ns: u64) -> String {
    if ns.is_multiple_of(1000) { (ns / 1000).to_string() } else { format!("{}.{}", ns / 1000, ns % 1000 / 100) }
}

fn svg(drawing: &Drawing) -> String {
    let mut canvas = Canvas { from: drawing.from_us * 1000, to: drawing.to_us * 1000, y: 28.0, text: String::new() };
    drawing.panels.iter().for_each(|panel| canvas.panel(panel));
    canvas.axis();
    let height = canvas.y;
    canvas.legend();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" height=\"{height:.0}\">\n\
         <style>{STYLE}</style>\n<rect x=\"0.5\" y=\"0.5\" width=\"{:.1}\" height=\"{:.1}\" rx=\"6\" class=\"page\"/>\n{}</svg>\n",
        WIDTH - 1.0,
        height - 1.0,
        canvas.text
    )
}

/// Where the drawings are.
pub fn folder() -> PathBuf {
    // A test compiles this file, too, as a part of its own package.
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    above.map(|folder| folder.join("docs/images/schemes")).find(|folder| folder.is_dir()).expect("this is the repository of ssdlab")
}

/// All drawings: file name, text.
pub fn files() -> Vec<(String, String)> {
    drawings().iter().map(|drawing| (format!("{}.svg", drawing.name), svg(drawing))).collect()
}

fn main() {
    std::fs::create_dir_all(folder()).expect("the folder can be created");
    for (name, text) in files() {
        std::fs::write(folder().join(name), text).expect("the drawing can be written");
    }
}
