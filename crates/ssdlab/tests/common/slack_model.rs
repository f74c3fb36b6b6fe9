//! A slow and obvious model of docs/model/slack.md, for drives on which nothing but host reads and writes of different pages happens, and
//! each channel is one station. Nothing of the drive's own code is used.

use std::collections::BTreeMap;

use ssdlab::config::Config;
use ssdlab::request::{Request, RequestKind};
use ssdlab::units::Ns;

use super::slack::{Key, PAGE, Page};

/// What the model says of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub pages: BTreeMap<Key, Page>,
    /// As [`super::slack::counts`].
    pub counts: [u64; 4],
}

/// An operation on a page.
#[derive(Clone, Debug)]
struct Op {
    key: Key,
    /// A read, or a partial write whose page is still to be read.
    read: bool,
    /// A write of a part of the page.
    partial: bool,
    estimate: Ns,
    /// None until all pages of its request have been admitted.
    slack: Option<Ns>,
}

/// A program that has begun: it works in the array from `since` on, and `done` of its array time was over then.
#[derive(Clone, Copy, Debug)]
struct Program {
    op: usize,
    since: Ns,
    done: Ns,
}

#[derive(Clone, Debug, Default)]
struct Chip {
    reads: Vec<usize>,
    writes: Vec<usize>,
    /// The read that runs, and when it began.
    read: Option<(usize, Ns)>,
    program: Option<Program>,
    /// The program is paused.
    paused: bool,
}

/// The model.
#[derive(Debug)]
pub struct Model {
    read_ns: Ns,
    write_ns: Ns,
    transfer_ns: Ns,
    program_ns: Ns,
    step_ns: Ns,
    read_bypass: bool,
    write_bypass: bool,
    pausing: bool,
    ops: Vec<Op>,
    chips: Vec<Chip>,
    counts: [u64; 4],
}

impl Model {
    fn new(config: &Config) -> Self {
        let device = &config.device;
        assert!(device.chips_per_channel == 1 && !device.multiplane && !device.cache_register);
        assert!(device.dies_per_chip == 1 || !device.die_interleave);
        let transfer_ns = u64::from(device.page_bytes) * device.transfer_ps_per_byte / 1000 + device.command_ns;
        let steps = u64::from(device.ispp_steps);
        assert!(device.program_ns.is_multiple_of(steps), "the steps are of equal length");
        Model {
            read_ns: device.read_ns + transfer_ns,
            write_ns: transfer_ns + device.program_ns,
            transfer_ns,
            program_ns: device.program_ns,
            step_ns: device.program_ns / steps,
            read_bypass: config.scheduler.read_bypass,
            write_bypass: config.scheduler.write_bypass,
            pausing: config.scheduler.write_pausing,
            ops: Vec::new(),
            chips: vec![Chip::default(); device.channels as usize],
            counts: [0; 4],
        }
    }

    /// Plays requests, in order of arrival.
    pub fn play(config: &Config, requests: &[Request]) -> Outcome {
        let mut model = Model::new(config);
        let mut pages: BTreeMap<Key, Page> = BTreeMap::new();
        let mut arrivals = requests.iter().enumerate().peekable();
        loop {
            let arrival = arrivals.peek().map(|(_, request)| request.arrival_ns);
            let Some(now) = (0..model.chips.len()).filter_map(|chip| model.next(chip)).chain(arrival).min() else { break };
            // What ends first, then arrivals, then what begins.
            for chip in 0..model.chips.len() {
                for op in model.end(chip, now) {
                    if std::mem::take(&mut model.ops[op].read) && model.ops[op].partial {
                        model.join(chip, op);
                        continue;
                    }
                    let page = pages.get_mut(&model.ops[op].key).expect("it began after it was admitted");
                    page.end = now;
                }
            }
            while let Some((index, request)) = arrivals.next_if(|(_, request)| request.arrival_ns == now) {
                model.admit(now, index as u64, request);
            }
            (0..model.chips.len()).for_each(|chip| model.begin(chip, now));
            for op in &model.ops {
                let left = op.slack.expect("whole requests are admitted");
                let new = Page { admitted: now, estimate: op.estimate, slack: left, left, end: Ns::MAX };
                let page = pages.entry(op.key).or_insert(new);
                if page.end == Ns::MAX {
                    page.left = left;
                }
            }
        }
        Outcome { pages, counts: model.counts }
    }

    fn latency(&self, read: bool) -> Ns {
        if read { self.read_ns } else { self.write_ns }
    }

    fn program_end(&self, program: Program) -> Ns {
        program.since + self.program_ns - program.done
    }

    /// When something happens on a chip by itself.
    fn next(&self, chip: usize) -> Option<Ns> {
        let chip = &self.chips[chip];
        if let Some((_, began)) = chip.read {
            return Some(began + self.read_ns);
        }
        let program = chip.program?;
        assert!(!chip.paused, "a pause without a read");
        // The end of the step at work, which may be the last.
        Some(program.since + self.step_ns - program.done % self.step_ns).filter(|_| self.pausing).or(Some(self.program_end(program)))
    }

    /// What ends at `now` does; a program gets to the end of a step.
    fn end(&mut self, chip: usize, now: Ns) -> Vec<usize> {
        let mut ended = Vec::new();
        let (read_ns, program_ns) = (self.read_ns, self.program_ns);
        let chip = &mut self.chips[chip];
        if let Some((op, _)) = chip.read.filter(|(_, began)| began + read_ns == now) {
            chip.read = None;
            ended.push(op);
        }
        if let Some(program) = chip.program.as_mut().filter(|program| !chip.paused && program.since <= now) {
            program.done += now - program.since;
            program.since = now;
            if program.done == program_ns {
                ended.push(program.op);
                chip.program = None;
            }
        }
        ended
    }

    /// What is left of the operation at work: as nothing keeps it waiting here, its latency less the time since it began, pauses apart.
    fn residual(&self, chip: usize, now: Ns) -> Ns {
        let chip = &self.chips[chip];
        let read = chip.read.map_or(0, |(_, began)| began + self.read_ns - now);
        let program = chip.program.map_or(0, |program| {
            let left = self.program_ns - program.done;
            if chip.paused { left } else { program.since + left - now }
        });
        read.max(program)
    }

    fn admit(&mut self, now: Ns, index: u64, request: &Request) {
        let read = request.kind == RequestKind::Read;
        let first = self.ops.len();
        for page in request.offset / PAGE..(request.offset + request.length).div_ceil(PAGE) {
            let chip = page as usize % self.chips.len();
            let op = self.ops.len();
            let partial = !read && !request.offset.is_multiple_of(PAGE) && page == request.offset / PAGE;
            self.ops.push(Op { key: (index, page), read: read || partial, partial, estimate: 0, slack: None });
            self.ops[op].estimate = now + self.response(now, chip, op);
        }
        let latest = self.ops[first..].iter().map(|op| op.estimate).max().expect("a page");
        for op in &mut self.ops[first..] {
            op.slack = Some(latest - op.estimate);
        }
    }

    /// Puts an operation into its queue and estimates how long it will take.
    fn response(&mut self, now: Ns, chip: usize, op: usize) -> Ns {
        let to_read =
            |model: &Model| model.chips[chip].reads.iter().filter(|&&other| other != op && model.ops[other].partial).count() as u64;
        let running = self.chips[chip].read.is_some_and(|(read, _)| self.ops[read].partial);
        let ahead = self.join(chip, op);
        let residual = self.residual(chip, now);
        let (reads, writes) = (self.chips[chip].reads.len() as u64, self.chips[chip].writes.len() as u64);
        let Op { read, partial, .. } = self.ops[op];
        // Partial writes before it that are not in the queue of writes yet: there they will stand in the place of their age.
        let coming = to_read(self) + u64::from(running);
        if partial {
            let to_write = writes + coming;
            residual + (ahead + 1) * self.read_ns + (reads - 1 - ahead) * self.read_ns + to_write * self.write_ns + self.write_ns
        } else if read {
            residual + ahead * self.read_ns + self.read_ns
        } else {
            residual + reads * self.read_ns + (ahead + coming) * self.write_ns + self.write_ns
        }
    }

    /// Puts an operation into its queue. Returns how many are ahead.
    fn join(&mut self, chip: usize, op: usize) -> u64 {
        let Op { key, read, .. } = self.ops[op];
        let latency = self.latency(read);
        let (bypass, count) = if read { (self.read_bypass, 0) } else { (self.write_bypass, 1) };
        let chip = &mut self.chips[chip];
        let queue = if read { &mut chip.reads } else { &mut chip.writes };
        // Operations are numbered by age.
        let mut place = queue.iter().rposition(|&other| other < op).map_or(0, |other| other + 1);
        while bypass && place > 0 {
            let other = &mut self.ops[queue[place - 1]];
            match other.slack {
                Some(slack) if slack >= latency && other.key.0 != key.0 => other.slack = Some(slack - latency),
                _ => break,
            }
            self.counts[count] += 1;
            place -= 1;
        }
        queue.insert(place, op);
        place as u64
    }

    /// What begins on a chip.
    fn begin(&mut self, chip: usize, now: Ns) {
        if self.chips[chip].read.is_some() {
            return;
        }
        if let Some(program) = self.chips[chip].program {
            self.pause_or_go_on(chip, program, now);
        } else if !self.chips[chip].reads.is_empty() {
            self.begin_read(chip, now);
        } else if !self.chips[chip].writes.is_empty() {
            let op = self.chips[chip].writes.remove(0);
            self.chips[chip].program = Some(Program { op, since: now + self.transfer_ns, done: 0 });
        }
    }

    fn pause_or_go_on(&mut self, chip: usize, program: Program, now: Ns) {
        let at_step = program.since == now && program.done > 0 && program.done.is_multiple_of(self.step_ns);
        let slack = self.ops[program.op].slack.expect("admitted");
        let paused = self.chips[chip].paused;
        // What it was paused for may not have been there when it went on at this very instant: it does so below.
        let may = self.pausing && (paused || at_step) && slack >= self.read_ns;
        if may && !self.chips[chip].reads.is_empty() {
            self.ops[program.op].slack = Some(slack - self.read_ns);
            self.counts[2] += u64::from(!paused);
            self.counts[3] += 1;
            self.chips[chip].paused = true;
            self.begin_read(chip, now);
        } else if paused {
            self.chips[chip].paused = false;
            self.chips[chip].program = Some(Program { since: now, ..program });
        }
    }

    fn begin_read(&mut self, chip: usize, now: Ns) {
        let op = self.chips[chip].reads.remove(0);
        self.chips[chip].read = Some((op, now));
    }
}
