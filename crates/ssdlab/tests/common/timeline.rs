//! Timelines of a drive that collects, relative to the moment at which its first job begins its first operation.

use ssdlab::config::{Config, Frontier, PreconditionKind, Priority, Scope};
use ssdlab::flash::Resource;
use ssdlab::request::{Request, RequestKind};
use ssdlab::ssd::Counters;
use ssdlab::stats::Part;
use ssdlab::units::{ChannelId, DieId};

use crate::common::{one_die, simulation};

pub const PAGE: u64 = 4096;
/// Stage times of the base drive, ns.
pub const READ_NS: u64 = 25_000;
pub const TRANSFER_NS: u64 = 102_400;
pub const PROGRAM_NS: u64 = 200_000;
pub const ERASE_NS: u64 = 1_500_000;
pub const SUSPEND_NS: u64 = 20_000;

/// The moment 0 of every case: the die has ended the last write of the beginning, and the job begins its first operation.
pub const ORIGIN: u64 = 2_100_000;
/// When the last write of the beginning starts (with the base drive's bus): it takes a free block, so that a job is wanted from then on.
pub const WANTED: u64 = ORIGIN - (TRANSFER_NS + PROGRAM_NS);

/// A stage: array or bus of a number, start, end.
pub type Stage = (Resource, u64, u64);

/// Eight blocks of four pages, sixteen of them exported and filled, so that four blocks are free. The fifth write takes the second of
/// these; that leaves two, fewer than three, and a job starts. Nothing is excluded, and the host goes first. Writes and moves fill blocks
/// of their own: with its first move the job takes the next free block.
pub fn preemptible(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = one_die();
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config.ftl.frontier = Frontier::Separate;
    config.gc.soft = 3.0;
    config.gc.scope = Scope::None;
    config.gc.priority = Priority::Host;
    change(&mut config);
    config
}

/// The drive of [`preemptible`] with one block for writes and moves: after one job three blocks are free, which is enough.
pub fn one_job(change: impl FnOnce(&mut Config)) -> Config {
    preemptible(|config| {
        config.ftl.frontier = Frontier::Shared;
        change(config);
    })
}

/// The five writes of the beginning, after which block 0 has two valid pages: 2 and 3 are moved.
pub const TWO_MOVES: [u64; 5] = [0, 1, 4, 8, 12];
/// Five writes after which block 0 has three valid pages: 1, 2 and 3 are moved.
pub const THREE_MOVES: [u64; 5] = [0, 4, 8, 12, 13];
/// Five writes after which block 0 of the first of two dies (or planes) with striped pages has two valid pages: 4 and 6 are moved.
pub const TWO_MOVES_OF_EVEN_PAGES: [u64; 5] = [0, 2, 8, 16, 24];
/// Five writes after which block 0 of the first of three dies with striped pages has two valid pages: 6 and 9 are moved.
pub const TWO_MOVES_OF_EVERY_THIRD_PAGE: [u64; 5] = [0, 3, 12, 24, 36];

pub fn a(start: u64, end: u64) -> Vec<Stage> {
    vec![(Resource::Array(DieId(0)), start, end)]
}

pub fn b(start: u64, end: u64) -> Vec<Stage> {
    vec![(Resource::Bus(ChannelId(0)), start, end)]
}

pub fn array_of(die: u32, start: u64, end: u64) -> Vec<Stage> {
    vec![(Resource::Array(DieId(die)), start, end)]
}

/// A read of the host.
pub fn host_read(at: u64) -> Vec<Stage> {
    [a(at, at + READ_NS), b(at + READ_NS, at + READ_NS + TRANSFER_NS)].concat()
}

/// A write of the host.
pub fn host_write(at: u64) -> Vec<Stage> {
    let full = at + TRANSFER_NS;
    [b(at, full), a(full, full + PROGRAM_NS)].concat()
}

/// A page move: 25 + 102.4 + 102.4 + 200 = 429.8 us.
pub fn page_move(at: u64) -> Vec<Stage> {
    [host_read(at), host_write(at + READ_NS + TRANSFER_NS)].concat()
}

pub fn erase(at: u64) -> Vec<Stage> {
    a(at, at + ERASE_NS)
}

/// The first piece of an array operation that is suspended at `asked`: it stops, and the die is free, `SUSPEND_NS` later.
pub fn cut(start: u64, asked: u64) -> Vec<Stage> {
    a(start, asked + SUSPEND_NS)
}

/// What a request spends being served.
pub type Parts = Vec<(Part, u64)>;

/// A read from the array.
pub const READ: [(Part, u64); 2] = [(Part::Array, READ_NS), (Part::Transfer, TRANSFER_NS)];
/// A write.
pub const WRITE: [(Part, u64); 2] = [(Part::Transfer, TRANSFER_NS), (Part::Array, PROGRAM_NS)];
/// A read of what is in a register.
pub const REGISTER: [(Part, u64); 1] = [(Part::Transfer, TRANSFER_NS)];

/// Waiting for collection, and what follows.
pub fn gc(ns: u64, rest: &[(Part, u64)]) -> Parts {
    [&[(Part::Gc, ns)], rest].concat()
}

/// Parts that begin with a wait for a transfer.
pub fn behind_bus(ns: u64, rest: &[(Part, u64)]) -> Parts {
    [&[(Part::BusQueue, ns)], rest].concat()
}

/// The counters of which all that a case does not name must be 0.
const MECHANISMS: [&str; 16] = [
    "merged_reads",
    "merged_writes",
    "pipelined_reads",
    "pipelined_writes",
    "suspensions",
    "discarded_moves",
    "reordered_moves",
    "stale_moves",
    "s3_entries",
    "jobs_set_off",
    "episode_jobs",
    "steps_forgone",
    "steps_in_turn",
    "steps_owed",
    "steps_with_requests",
    "steps_without_requests",
];

/// In place of a count that is not looked at.
pub const ANY: u64 = u64::MAX;

fn counter(counters: &Counters, name: &str) -> u64 {
    match name {
        "merged_reads" => counters.merged_reads,
        "merged_writes" => counters.merged_writes,
        "pipelined_reads" => counters.pipelined_reads,
        "pipelined_writes" => counters.pipelined_writes,
        "suspensions" => counters.suspensions,
        "discarded_moves" => counters.discarded_moves,
        "reordered_moves" => counters.reordered_moves,
        "stale_moves" => counters.stale_moves,
        "s3_entries" => counters.s3_entries,
        "jobs_set_off" => counters.jobs_set_off,
        "episode_jobs" => counters.episode_jobs,
        "steps_forgone" => counters.steps_forgone,
        "steps_in_turn" => counters.steps_in_turn,
        "steps_owed" => counters.steps_owed,
        "steps_with_requests" => counters.steps_with_requests,
        "steps_without_requests" => counters.steps_without_requests,
        "preemptions" => counters.preemptions,
        "pages_moved" => counters.pages_moved,
        "host_programs" => counters.host_programs,
        "copybacks" => counters.copybacks,
        "erases" => counters.erases,
        name => panic!("no counter {name}"),
    }
}

/// Plays cases, all of them before it fails.
pub fn play(cases: Vec<Case>) {
    let wrong: Vec<String> = cases.iter().flat_map(Case::play).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// A timeline. All times are relative to [`ORIGIN`].
pub struct Case {
    name: &'static str,
    config: Config,
    beginning: Vec<u64>,
    /// Pages of each write of the beginning: with two, one on each of two planes, programmed together.
    pages: u64,
    requests: Vec<(Request, Parts)>,
    stages: Vec<Stage>,
    until: u64,
    counts: Vec<(&'static str, u64)>,
    states: Option<[u64; 4]>,
}

impl Case {
    pub fn new(name: &'static str, config: Config) -> Self {
        let beginning = TWO_MOVES.to_vec();
        Case { name, config, beginning, pages: 1, requests: Vec::new(), stages: Vec::new(), until: 0, counts: Vec::new(), states: None }
    }

    /// The pages written before, if not [`TWO_MOVES`].
    pub fn beginning(self, pages: &[u64]) -> Self {
        Case { beginning: pages.to_vec(), ..self }
    }

    /// The beginning on both of two planes, whose pools each begin a job: 4 and 6 are moved on the first, 5 and 7 on the other.
    pub fn on_two_planes(self) -> Self {
        Case { beginning: TWO_MOVES_OF_EVEN_PAGES.to_vec(), pages: 2, ..self }
    }

    /// A read of a page that arrives at `at` and completes at `end`; `parts` add up to the difference.
    pub fn read(self, at: u64, page: u64, end: u64, parts: impl Into<Parts>) -> Self {
        self.request(at, page, end, parts.into(), RequestKind::Read, false)
    }

    pub fn write(self, at: u64, page: u64, end: u64, parts: impl Into<Parts>) -> Self {
        self.request(at, page, end, parts.into(), RequestKind::Write, false)
    }

    /// A write of 512 bytes of a page.
    pub fn partial_write(self, at: u64, page: u64, end: u64, parts: impl Into<Parts>) -> Self {
        let mut case = self.write(at, page, end, parts);
        case.requests.last_mut().expect("just added").0.length = 512;
        case
    }

    /// A write of high priority.
    pub fn urgent(self, at: u64, page: u64, end: u64, parts: impl Into<Parts>) -> Self {
        self.request(at, page, end, parts.into(), RequestKind::Write, true)
    }

    fn request(mut self, at: u64, page: u64, end: u64, parts: Parts, kind: RequestKind, high_priority: bool) -> Self {
        let sum: u64 = parts.iter().map(|part| part.1).sum();
        assert_eq!(at + sum, end, "{}: the parts of the request at {at} add up to its response time", self.name);
        let request = Request { arrival_ns: ORIGIN + at, kind, offset: page * PAGE, length: PAGE, high_priority, flow: 0, handle: None };
        self.requests.push((request, parts));
        self
    }

    /// All stages that end after the beginning and up to `until`, when states and counters are looked at.
    pub fn stages(mut self, until: u64, stages: &[Vec<Stage>]) -> Self {
        self.until = until;
        self.stages = stages.concat();
        self
    }

    /// Counters at the end; mechanisms that are not named are 0.
    pub fn counts(self, counts: &[(&'static str, u64)]) -> Self {
        Case { counts: counts.to_vec(), ..self }
    }

    /// Time in S0 to S3, from time 0 and not from [`ORIGIN`].
    pub fn states(self, states: [u64; 4]) -> Self {
        Case { states: Some(states), ..self }
    }

    /// Plays the case, also with every stage as an event of its own. Returns what was not as expected.
    fn play(&self) -> Vec<String> {
        [false, true].into_iter().flat_map(|every_stage| self.play_once(every_stage)).collect()
    }

    fn beginning_at(&self, index: usize) -> u64 {
        if index + 1 == self.beginning.len() { ORIGIN - self.pages * self.transfer_ns() - PROGRAM_NS } else { 410_000 * index as u64 }
    }

    fn transfer_ns(&self) -> u64 {
        PAGE * self.config.device.transfer_ps_per_byte / 1000
    }

    fn beginning_parts(&self) -> Parts {
        let first = (Part::BusQueue, (self.pages - 1) * self.transfer_ns());
        vec![first, (Part::Transfer, self.transfer_ns()), (Part::Array, PROGRAM_NS)]
    }

    fn beginning_stages(&self, index: usize) -> Vec<Stage> {
        let at = |page| self.beginning_at(index) + page * self.transfer_ns();
        let transfers = (0..self.pages).flat_map(|page| b(at(page), at(page + 1)));
        transfers.chain(a(at(self.pages), at(self.pages) + PROGRAM_NS)).collect()
    }

    fn play_once(&self, every_stage: bool) -> Option<String> {
        let name = format!("{} (every stage played: {every_stage})", self.name);
        // Shown if the drive panics.
        println!("{name}");
        let mut simulation = simulation(&self.config);
        simulation.ssd_mut().keep_trace();
        if every_stage {
            simulation.ssd_mut().play_every_stage();
        }
        for (index, page) in self.beginning.iter().enumerate() {
            let write = Request {
                arrival_ns: self.beginning_at(index),
                kind: RequestKind::Write,
                offset: page * PAGE,
                length: self.pages * PAGE,
                high_priority: false,
                flow: 0,
                handle: None,
            };
            simulation.submit(write).unwrap();
        }
        for (request, _) in &self.requests {
            simulation.submit(*request).unwrap();
        }
        let end = ORIGIN + self.until;
        if let Err(error) = simulation.run_until(end) {
            return Some(format!("{name}: {error}"));
        }

        let mut wrong = Vec::new();
        self.compare_responses(simulation.take_completions(), &mut wrong);
        let trace = &simulation.ssd().trace().unwrap().intervals;
        self.compare_stages(trace.iter().map(|interval| (interval.resource, interval.start, interval.end)).collect(), &mut wrong);
        self.compare_counts(&simulation.ssd().counters(), &mut wrong);
        let states = simulation.ssd().state_ns(end).map(|ns| ns as u64);
        let pools: u64 = simulation.ssd().ftl().geometry().pools.count.get().into();
        if states.iter().sum::<u64>() != end * pools || self.states.is_some_and(|expected| expected != states) {
            wrong.push(format!("time in the states: {states:?}, not {:?}", self.states));
        }
        if let Err(error) = simulation.finish() {
            wrong.push(error.to_string());
        }
        (!wrong.is_empty()).then(|| format!("{name}:\n  {}", wrong.join("\n  ")))
    }

    fn compare_responses(&self, mut completions: Vec<ssdlab::stats::Completion>, wrong: &mut Vec<String>) {
        completions.sort_by_key(|completion| completion.index);
        let beginning = self.beginning.iter().map(|_| self.beginning_parts());
        let expected = beginning.chain(self.requests.iter().map(|(_, parts)| parts.clone()));
        for (index, parts) in expected.enumerate() {
            let mut sums = [0; Part::COUNT];
            parts.iter().for_each(|&(part, ns)| sums[part as usize] += ns);
            let Some(found) = completions.iter().find(|completion| completion.index == index as u64) else {
                wrong.push(format!("request {index} is not complete"));
                continue;
            };
            let taken = found.completed_ns - found.arrival_ns;
            let own = (index + 1).saturating_sub(self.beginning.len());
            if taken != sums.iter().sum::<u64>() || found.parts().0 != sums {
                wrong.push(format!(
                    "request {own} of the case took {taken}: {:?}, not {}: {sums:?}",
                    found.parts().0,
                    sums.iter().sum::<u64>()
                ));
            }
        }
    }

    fn compare_stages(&self, mut found: Vec<Stage>, wrong: &mut Vec<String>) {
        let beginning = (0..self.beginning.len()).flat_map(|index| self.beginning_stages(index));
        let shifted = self.stages.iter().map(|&(resource, start, end)| (resource, ORIGIN + start, ORIGIN + end));
        let mut expected: Vec<Stage> = beginning.chain(shifted).collect();
        found.retain(|&(_, _, end)| end <= ORIGIN + self.until);
        // Where transfers take no time they show nowhere.
        for stages in [&mut found, &mut expected] {
            stages.retain(|&(_, start, end)| start < end);
        }
        let relative = |stages: &[Stage]| {
            let shift =
                |&(resource, start, end): &Stage| format!("{resource:?} {}..{}", start as i64 - ORIGIN as i64, end as i64 - ORIGIN as i64);
            stages.iter().map(shift).collect::<Vec<_>>().join(", ")
        };
        for stages in [&mut found, &mut expected] {
            stages.sort_by_key(|&(resource, start, end)| (start, resource, end));
        }
        let only = |these: &[Stage], those: &[Stage]| these.iter().filter(|stage| !those.contains(stage)).copied().collect::<Vec<_>>();
        if found != expected {
            let (more, less) = (only(&found, &expected), only(&expected, &found));
            wrong.push(format!("stages: found {}\n  but expected {}", relative(&more), relative(&less)));
        }
    }

    fn compare_counts(&self, counters: &Counters, wrong: &mut Vec<String>) {
        let unnamed = MECHANISMS.iter().filter(|name| !self.counts.iter().any(|(other, _)| other == *name)).map(|&name| (name, 0));
        for (name, expected) in self.counts.iter().copied().chain(unnamed) {
            let found = counter(counters, name);
            if found != expected && expected != ANY {
                wrong.push(format!("{name}: {found}, not {expected}"));
            }
        }
    }
}
