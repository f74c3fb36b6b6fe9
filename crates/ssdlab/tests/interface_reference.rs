//! The host interface against a slow and obvious model of it, written from docs/model/host.md alone: it looks at every command, again and
//! again, until nothing more happens at an instant. The drive behind it needs no flash: a write takes a fixed time, so does a read of what
//! was written and is not trimmed, and all else is answered at once.

use crate::common::{one_die, simulation};
use crate::timelines::changed;
use ssdlab::config::{Buffer, Config, Drain, Host};
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;

const UNIT: u64 = 1024;
/// What the write buffer takes.
const ACCESS_NS: u64 = 777;

/// Where a command is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum At {
    /// It has not come.
    Host,
    WaitsForSlot,
    WaitsForFetch,
    Fetch(u64),
    LinkIn(u64),
    Drive(u64),
    LinkOut(u64),
    /// Since when.
    WaitsForCompletion(u64),
    Completion(u64),
    Done(u64),
}

struct Model<'a> {
    host: &'a Host,
    requests: &'a [Request],
    at: Vec<At>,
    free_slots: u32,
    free_cores: u32,
    link_in_free: u64,
    link_out_free: u64,
    /// When the next write may go on.
    next_write: u64,
    /// The bucket of commands, and that of bytes: what comes in each ns, the most, what is there, in parts of a command and of a byte.
    buckets: [(i64, i64, i64); 2],
    /// The time of `buckets`.
    filled_until: u64,
    /// Units in the buffer.
    written: Vec<u64>,
}

impl<'a> Model<'a> {
    fn new(host: &'a Host, requests: &'a [Request]) -> Self {
        Model {
            host,
            requests,
            at: vec![At::Host; requests.len()],
            free_slots: if host.slots == 0 { u32::MAX } else { host.slots },
            free_cores: host.cores,
            link_in_free: 0,
            link_out_free: 0,
            next_write: 0,
            buckets: [&host.quota_iops, &host.quota_mb_s].map(|rates| rates.first().map_or(0, |&rate| i64::from(rate))).map(|rate| {
                let most = rate * i64::from(host.quota_burst_us) * 1_000;
                (rate, most, most)
            }),
            filled_until: 0,
            written: Vec::new(),
        }
    }

    /// When each request is complete.
    fn play(mut self) -> Vec<u64> {
        while let Some(now) = (0..self.at.len()).filter_map(|command| self.due(command)).chain(self.quota_opens()).min() {
            self.fill(now);
            // First all that ends, until nothing more does; then commands are let in and fetched.
            while self.something_ends(now) || self.something_begins(now) {}
        }
        self.at.iter().map(|at| if let At::Done(ns) = at { *ns } else { panic!("{at:?}") }).collect()
    }

    /// When something happens to a command by itself.
    fn due(&self, command: usize) -> Option<u64> {
        match self.at[command] {
            At::Host => Some(self.requests[command].arrival_ns),
            At::Fetch(ns) | At::LinkIn(ns) | At::Drive(ns) | At::LinkOut(ns) | At::Completion(ns) => Some(ns),
            At::WaitsForSlot | At::WaitsForFetch | At::WaitsForCompletion(_) | At::Done(_) => None,
        }
    }

    /// Fills the buckets, ns by ns.
    fn fill(&mut self, now: u64) {
        for _ in self.filled_until..now {
            self.buckets.iter_mut().for_each(|(rate, most, level)| *level = (*level + *rate).min(*most));
        }
        self.filled_until = now;
    }

    /// What a command costs in each bucket: 1,000,000,000 parts of a command; 1,000 parts for each byte that it moves.
    fn cost(&self, command: usize) -> [i64; 2] {
        let Request { kind, length, .. } = self.requests[command];
        let moves = matches!(kind, RequestKind::Read | RequestKind::Write);
        [1_000_000_000, if moves { length as i64 * 1_000 } else { 0 }]
    }

    fn may_pay(&self, command: usize) -> bool {
        let cost = self.cost(command);
        self.buckets.iter().zip(cost).all(|((rate, most, level), cost)| *rate == 0 || *level >= cost.min(*most))
    }

    /// The first ns at which the oldest command outside can pay, if only the quota holds it.
    fn quota_opens(&self) -> Option<u64> {
        let command = self.at.iter().position(|at| *at == At::WaitsForSlot)?;
        let mut later = Model { host: self.host, requests: self.requests, at: Vec::new(), written: Vec::new(), ..*self };
        if later.may_pay(command) {
            return None;
        }
        while !later.may_pay(command) {
            later.fill(later.filled_until + 1);
        }
        Some(later.filled_until)
    }

    fn something_ends(&mut self, now: u64) -> bool {
        let Some(command) = (0..self.at.len()).find(|&command| self.due(command).is_some_and(|ns| ns <= now)) else {
            return self.a_completion_begins(now);
        };
        self.at[command] = match self.at[command] {
            At::Host => At::WaitsForSlot,
            At::Fetch(_) => {
                self.free_cores += u32::from(self.host.command_ns > 0);
                At::LinkIn(self.data_are_there(now, command))
            }
            At::LinkIn(_) => At::Drive(now + self.in_drive(command)),
            At::Drive(_) if self.requests[command].kind == RequestKind::Read => {
                self.link_out_free = self.link_out_free.max(now) + self.on_link(command);
                At::LinkOut(if self.host.link_bytes_per_us > 0 { self.link_out_free } else { now })
            }
            At::Drive(_) | At::LinkOut(_) => At::WaitsForCompletion(now),
            At::Completion(_) => {
                self.free_cores += u32::from(self.host.completion_ns > 0);
                self.free_slots += 1;
                At::Done(now)
            }
            at => panic!("{at:?}"),
        };
        true
    }

    fn on_link(&self, command: usize) -> u64 {
        self.takes(command, self.host.link_bytes_per_us)
    }

    fn takes(&self, command: usize, bytes_per_us: u32) -> u64 {
        let rate = u64::from(bytes_per_us);
        (self.requests[command].length * 1_000 + rate / 2).checked_div(rate).unwrap_or(0)
    }

    /// When the data of a write have come; a command that must not pass one whose data have not waits for it.
    fn data_are_there(&mut self, now: u64, command: usize) -> u64 {
        let request = self.requests[command];
        if request.kind == RequestKind::Write && (self.host.link_bytes_per_us > 0 || self.host.write_bytes_per_us > 0) {
            self.link_in_free = self.link_in_free.max(now) + self.on_link(command);
            let goes_on = self.next_write.max(self.link_in_free);
            self.next_write = goes_on + self.takes(command, self.host.write_bytes_per_us);
            return goes_on;
        }
        let waits = self.at.iter().zip(self.requests).filter_map(|(at, older)| match (at, request.kind, older.kind) {
            (At::LinkIn(ns), RequestKind::Flush, RequestKind::Write) => Some(*ns),
            (At::LinkIn(_), RequestKind::Flush, _) => None,
            (At::LinkIn(_), RequestKind::Read, RequestKind::Read) | (At::LinkIn(_), RequestKind::Trim, RequestKind::Trim) => None,
            (At::LinkIn(ns), ..) if older.offset < request.offset + request.length && request.offset < older.offset + older.length => {
                Some(*ns)
            }
            _ => None,
        });
        waits.max().unwrap_or(now).max(now)
    }

    fn in_drive(&mut self, command: usize) -> u64 {
        let Request { kind, offset, length, .. } = self.requests[command];
        let units = offset / UNIT..(offset + length) / UNIT;
        match kind {
            RequestKind::Write => {
                self.written.extend(units);
                ACCESS_NS
            }
            RequestKind::Trim => {
                self.written.retain(|unit| !units.contains(unit));
                0
            }
            RequestKind::Read if self.written.iter().any(|unit| units.contains(unit)) => ACCESS_NS,
            _ => 0,
        }
    }

    /// The command that has waited for its completion for longest.
    fn a_completion_begins(&mut self, now: u64) -> bool {
        let waits = self.at.iter().enumerate().filter_map(|(command, at)| match at {
            At::WaitsForCompletion(since) => Some((*since, command)),
            _ => None,
        });
        let Some((_, command)) = waits.min().filter(|_| self.host.completion_ns == 0 || self.free_cores > 0) else { return false };
        self.free_cores -= u32::from(self.host.completion_ns > 0);
        self.at[command] = At::Completion(now + self.host.completion_ns);
        true
    }

    /// The oldest command that waits gets a slot, or a core fetches the oldest that has one.
    fn something_begins(&mut self, now: u64) -> bool {
        let oldest = |waits: At| self.at.iter().position(|at| *at == waits);
        let has_core = self.host.command_ns == 0 || self.free_cores > 0;
        if let Some(command) = oldest(At::WaitsForSlot)
            && self.free_slots > 0
            && (!self.host.has_quotas() || oldest(At::WaitsForFetch).is_none() && has_core && self.may_pay(command))
        {
            let cost = self.cost(command);
            self.buckets.iter_mut().zip(cost).for_each(|(bucket, cost)| bucket.2 -= cost);
            self.free_slots -= 1;
            self.at[command] = At::WaitsForFetch;
            return true;
        }
        let Some(command) = oldest(At::WaitsForFetch).filter(|_| self.host.command_ns == 0 || self.free_cores > 0) else { return false };
        self.free_cores -= u32::from(self.host.command_ns > 0);
        self.at[command] = At::Fetch(now + self.host.command_ns);
        true
    }
}

/// Three units are ever written, so that they never fill a program of four.
fn drive(host: Host) -> Config {
    changed(one_die(), |c| {
        c.ftl.map_unit_bytes = Some(UNIT as u32);
        c.buffer = Buffer {
            bytes: 16 * UNIT,
            access_ns: ACCESS_NS,
            protected: true,
            drain: Drain::Full,
            timeout_us: 0,
            reads_pass: true,
            bytes_per_us: 0,
            sort_units: 0,
        };
        c.host = host;
    })
}

fn random_host(rng: &mut Rng) -> Host {
    let mut pick = |from: &[u32]| from[rng.below(from.len() as u64) as usize];
    Host {
        slots: pick(&[0, 0, 1, 2, 5]),
        cores: pick(&[1, 1, 2, 3]),
        command_ns: pick(&[0, 137, 1_013, 2_311]).into(),
        completion_ns: pick(&[0, 91, 509, 1_709]).into(),
        link_bytes_per_us: pick(&[0, 389, 1_009, 7_013]),
        write_bytes_per_us: pick(&[0, 0, 211, 1_511]),
        ..Host::default()
    }
}

/// A quota of the only queue, for half of the hosts.
fn random_quota(rng: &mut Rng, host: &mut Host) {
    if rng.chance(0.5) {
        let mut pick = |from: &[u32]| from[rng.below(from.len() as u64) as usize];
        (host.quota_iops, host.quota_mb_s) = (vec![pick(&[0, 437_121, 1_200_007])], vec![pick(&[0, 301, 977])]);
        host.quota_burst_us = pick(&[0, 1, 3, 20]);
    }
}

fn random_commands(rng: &mut Rng) -> Vec<Request> {
    let gap = [50, 1_500, 6_000][rng.below(3) as usize];
    let mut arrival_ns = 0;
    let commands = (0..60).map(|_| {
        arrival_ns += rng.below(gap);
        let (kind, units) = match rng.below(10) {
            0..4 => (RequestKind::Read, 1),
            4 => (RequestKind::Flush, 0),
            5..7 => (RequestKind::Trim, 1 + rng.below(3)),
            _ => (RequestKind::Write, 1),
        };
        let offset = if kind == RequestKind::Flush { 0 } else { UNIT * rng.below(if kind == RequestKind::Write { 3 } else { 6 }) };
        Request { arrival_ns, kind, offset, length: units * UNIT, high_priority: false, flow: 0, handle: None }
    });
    commands.collect()
}

#[test]
fn commands_are_complete_when_the_slow_model_says() {
    for case in 0..300 {
        let mut rng = Rng::new(case, "interface");
        let (mut host, requests) = (random_host(&mut rng), random_commands(&mut rng));
        random_quota(&mut Rng::new(case, "quota"), &mut host);
        let mut simulation = simulation(&drive(host.clone()));
        requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
        simulation.run_to_idle().unwrap();
        let mut completions = simulation.take_completions();
        completions.sort_by_key(|completion| completion.index);
        let found: Vec<u64> = completions.iter().map(|completion| completion.completed_ns).collect();
        let expected = Model::new(&host, &requests).play();
        let first = found.iter().zip(&expected).position(|(found, expected)| found != expected);
        assert_eq!(first, None, "case {case}, {host:?}: {found:?} and not {expected:?} for {requests:#?}");
    }
}
