//! A slow and obvious model of docs/model/slack.md, for drives on which nothing but host reads and writes of different pages happens, and
//! each channel is one station. Writes may fill a cache of blocks in SLC mode, which is never folded, and programs may go plane by plane.
//! Nothing of the drive's own code is used.

use std::collections::{BTreeMap, BTreeSet};

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
    page: u64,
    /// What its read and its program are expected to take.
    expected: [Ns; 2],
    estimate: Ns,
    /// None until all pages of its request have been admitted.
    slack: Option<Ns>,
}

/// A program that has begun: it works in the array from `since` on, and `done` of the array time of its plane (or of all) was over then.
#[derive(Clone, Copy, Debug)]
struct Program {
    op: usize,
    since: Ns,
    done: Ns,
    /// Array time of a plane, or of all of them at once.
    array_ns: Ns,
    in_slc: bool,
    /// Planes that are done, and those that have not begun.
    planes_done: u64,
    planes_left: u64,
    /// It is before its first plane, or between two.
    between: bool,
}

#[derive(Clone, Debug, Default)]
struct Chip {
    reads: Vec<usize>,
    writes: Vec<usize>,
    /// The read that runs, when it began, and when it ends.
    read: Option<(usize, Ns, Ns)>,
    program: Option<Program>,
    /// The program is paused.
    paused: bool,
}

/// The model.
#[derive(Debug)]
pub struct Model {
    /// Of pages outside the cache and in it: time of a read with its transfer, and array time of a program.
    read_ns: [Ns; 2],
    program_ns: [Ns; 2],
    transfer_ns: Ns,
    steps: u64,
    planes: u64,
    /// By chip: the pages that its pools (two planes or dies, or one) have left in the cache.
    cache: Vec<Vec<u64>>,
    /// Pages in the cache.
    cached: BTreeSet<u64>,
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
        let (steps, slc) = (u64::from(device.ispp_steps), &config.slc);
        let program_ns = [device.program_ns, slc.program_ns];
        assert!(program_ns.iter().all(|ns| ns.is_multiple_of(steps)), "the steps are of equal length");
        assert!(slc.dynamic_blocks == 0 && slc.fold_level == 0.0);
        let in_cache = u64::from(slc.static_blocks) * u64::from(device.pages_per_block / slc.bits_per_cell);
        let pools = (device.planes_per_die * device.dies_per_chip) as usize;
        Model {
            read_ns: [device.read_ns, slc.read_ns].map(|ns| ns + transfer_ns),
            program_ns,
            transfer_ns,
            steps,
            planes: u64::from(device.plane_programs),
            cache: vec![vec![in_cache; pools]; device.channels as usize],
            cached: BTreeSet::new(),
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

    /// What the read of a page and its program would take now.
    fn expected(&self, page: u64) -> [Ns; 2] {
        let has_room = self.cache[self.chip_of(page)][self.pool_of(page)] > 0;
        let program = self.program_ns[usize::from(has_room)];
        [self.read_ns[usize::from(self.cached.contains(&page))], self.transfer_ns + program]
    }

    fn chip_of(&self, page: u64) -> usize {
        page as usize % self.chips.len()
    }

    fn pool_of(&self, page: u64) -> usize {
        page as usize / self.chips.len() % self.cache[0].len()
    }

    /// When something happens on a chip by itself.
    fn next(&self, chip: usize) -> Option<Ns> {
        let chip = &self.chips[chip];
        if let Some((_, _, ends)) = chip.read {
            return Some(ends);
        }
        let program = chip.program?;
        assert!(!chip.paused, "a pause without a read");
        if program.between {
            return Some(program.since);
        }
        // The end of the step at work, which may be the last.
        let step_ns = program.array_ns / self.steps;
        let left = if self.pausing { step_ns - program.done % step_ns } else { program.array_ns - program.done };
        Some(program.since + left)
    }

    /// What ends at `now` does; a program gets to the end of a step.
    fn end(&mut self, chip: usize, now: Ns) -> Vec<usize> {
        let mut ended = Vec::new();
        if let Some((op, ..)) = self.chips[chip].read.filter(|&(_, _, ends)| ends == now) {
            self.chips[chip].read = None;
            ended.push(op);
        }
        let works = !self.chips[chip].paused;
        let Some(mut program) = self.chips[chip].program.filter(|program| works && program.since <= now) else { return ended };
        if !program.between {
            program.done += now - program.since;
            program.since = now;
            program.between = program.done == program.array_ns;
            program.planes_done += u64::from(program.between);
        }
        self.chips[chip].program = Some(program);
        if program.between && program.planes_left == 0 {
            let page = self.ops[program.op].page;
            if program.in_slc {
                self.cached.insert(page)
            } else {
                self.cached.remove(&page)
            };
            self.chips[chip].program = None;
            ended.push(program.op);
        } else if program.between {
            self.next_plane(chip, program, now);
        }
        ended
    }

    /// A program is before its first plane or between two: it pauses, or goes on with one plane or all that are left.
    fn next_plane(&mut self, chip: usize, program: Program, now: Ns) {
        let slack = self.ops[program.op].slack.expect("admitted");
        let pauses = self.pausing && program.planes_done > 0;
        let state = &mut self.chips[chip];
        if pauses && state.reads.first().is_some_and(|&read| slack >= self.ops[read].expected[0]) {
            state.paused = true;
            self.counts[2] += 1;
            return;
        }
        let has_time = state.reads.is_empty() && state.writes.is_empty();
        let planes_left = if has_time { program.planes_left - 1 } else { 0 };
        state.program = Some(Program { since: now, done: 0, between: false, planes_left, ..program });
    }

    /// What is left of the operation at work: as nothing keeps it waiting here, its latency less the time since it began, pauses apart.
    fn residual(&self, chip: usize, now: Ns) -> Ns {
        let chip = &self.chips[chip];
        let read = chip.read.map_or(0, |(_, _, ends)| ends - now);
        let program = chip.program.map_or(0, |program| {
            // All planes are expected to be programmed at once; of a paused program what is left of its plane counts.
            let left = program.array_ns - program.done;
            match (chip.paused, program.planes_done) {
                (true, _) => {
                    if program.between {
                        0
                    } else {
                        left
                    }
                }
                (false, 0) => program.since + left - now,
                (false, _) => 0,
            }
        });
        read.max(program)
    }

    fn admit(&mut self, now: Ns, index: u64, request: &Request) {
        let read = request.kind == RequestKind::Read;
        let first = self.ops.len();
        for page in request.offset / PAGE..(request.offset + request.length).div_ceil(PAGE) {
            let chip = self.chip_of(page);
            let op = self.ops.len();
            let partial = !read && !request.offset.is_multiple_of(PAGE) && page == request.offset / PAGE;
            let expected = self.expected(page);
            self.ops.push(Op { key: (index, page), read: read || partial, partial, page, expected, estimate: 0, slack: None });
            self.ops[op].estimate = now + self.response(now, chip, op);
        }
        let latest = self.ops[first..].iter().map(|op| op.estimate).max().expect("a page");
        for op in &mut self.ops[first..] {
            op.slack = Some(latest - op.estimate);
        }
    }

    /// Puts an operation into its queue and estimates how long it will take.
    fn response(&mut self, now: Ns, chip: usize, op: usize) -> Ns {
        let ahead = self.join(chip, op);
        let residual = self.residual(chip, now);
        let state = &self.chips[chip];
        let reads: Ns = state.reads.iter().map(|&other| self.ops[other].expected[0]).sum();
        let writes: Ns = state.writes.iter().map(|&other| self.ops[other].expected[1]).sum();
        let Op { read, partial, expected: [of_read, of_write], .. } = self.ops[op];
        // Partial writes before it that are not in the queue of writes yet: there they will stand in the place of their age.
        let to_read = state.reads.iter().copied().chain(state.read.map(|(read, ..)| read));
        let to_come = to_read.filter(|&other| other != op && self.ops[other].partial);
        let coming: Ns = to_come.map(|other| self.ops[other].expected[1]).sum();
        if partial {
            residual + reads + writes + coming + of_write
        } else if read {
            residual + ahead + of_read
        } else {
            residual + reads + ahead + coming + of_write
        }
    }

    /// Puts an operation into its queue. Returns what those ahead are expected to take.
    fn join(&mut self, chip: usize, op: usize) -> Ns {
        let Op { key, read, expected, .. } = self.ops[op];
        let latency = expected[usize::from(!read)];
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
        queue[..place].iter().map(|&other| self.ops[other].expected[usize::from(!read)]).sum()
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
            let pool = self.pool_of(self.ops[op].page);
            let in_slc = self.cache[chip][pool] > 0;
            self.cache[chip][pool] -= u64::from(in_slc);
            let program = Program {
                op,
                since: now + self.transfer_ns,
                done: 0,
                array_ns: self.program_ns[usize::from(in_slc)],
                in_slc,
                planes_done: 0,
                planes_left: if self.planes > 1 { self.planes } else { 0 },
                between: self.planes > 1,
            };
            self.chips[chip].program = Some(program);
        }
    }

    fn pause_or_go_on(&mut self, chip: usize, program: Program, now: Ns) {
        let step_ns = program.array_ns / self.steps;
        let at_step = !program.between && program.since == now && program.done > 0 && program.done.is_multiple_of(step_ns);
        let slack = self.ops[program.op].slack.expect("admitted");
        let paused = self.chips[chip].paused;
        // What it was paused for may not have been there when it went on at this very instant: it does so below.
        let read_ns = self.chips[chip].reads.first().map(|&read| self.ops[read].expected[0]);
        let may = self.pausing && (paused || at_step);
        if let Some(read_ns) = read_ns.filter(|&ns| may && slack >= ns) {
            self.ops[program.op].slack = Some(slack - read_ns);
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
        self.chips[chip].read = Some((op, now, now + self.read_ns[usize::from(self.cached.contains(&self.ops[op].page))]));
    }
}
