//! Log-block mapping on zones (`zones.log = "bast"` or `"fast"`): timelines by hand, a reference written apart that says what is merged, and random
//! requests whose data are followed.

use crate::common::cases::is_full;
use crate::common::{one_die, pick, protected_buffer, simulation};
use crate::host_log::{begun, submit};
use crate::mapping_cache::{READ, WRITE, reads, writes};
use crate::timelines::{Case, changed, pages, play_with, read, write};
use ssdlab::config::{Config, LogVictim, Placement, PreconditionKind, Zones, validate};
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::stats::Counters;
use ssdlab::stats::Part::{self, Array, DieQueue, HostQueue, Transfer};

const MS: u64 = 1_000_000;

/// Eight zones of a block of four pages: two for logs, two for merges, four logical blocks.
fn drive(log: LogVictim) -> Config {
    changed(one_die(), |c| {
        c.device.blocks_per_plane = 16;
        c.ftl.placement = Placement::Zones;
        c.zones = Zones { log, log_blocks: 2, ..Zones::default() };
    })
}

/// Response time and its parts of a write of `count` pages, programmed one after the other on one die, after `waited` ns for a merge.
fn written(waited: u64, count: u64) -> (u64, Vec<(Part, u64)>) {
    let parts = vec![(HostQueue, waited), (DieQueue, (count - 1) * WRITE), (Transfer, 102_400), (Array, 200_000)];
    (waited + count * WRITE, parts)
}

fn found() -> (u64, Vec<(Part, u64)>) {
    (READ, vec![(Array, 25_000), (Transfer, 102_400)])
}

/// Switch, partial and full merges, of log-block mapping.
fn merges(counters: &Counters) -> [u64; 5] {
    let Counters { log_switch_merges, log_partial_merges, log_full_merges, log_moved_units, log_padded_units, .. } = *counters;
    [log_switch_merges, log_partial_merges, log_full_merges, log_moved_units, log_padded_units]
}

/// `from` and `programs`: when flash reads and programs they begin.
fn plays(name: &'static str, log: LogVictim, steps: &[(Request, u64)], from: &[u64], programs: &[u64], expected: [u64; 5]) {
    let responses = steps
        .iter()
        .map(|&(request, waited)| if request.kind == RequestKind::Read { found() } else { written(waited, request.length / 4096) });
    let stages = from.iter().map(|&at| reads(at)).chain(programs.iter().map(|&at| writes(at)));
    let case = Case {
        name,
        config: drive(log),
        requests: steps.iter().map(|&(request, _)| request).collect(),
        responses: responses.collect(),
        stages: stages.flatten().collect(),
    };
    for every_stage in [false, true] {
        let (_, counters) = play_with(&case, every_stage, simulation(&case.config));
        assert_eq!(merges(&counters), expected, "{name}");
    }
}

fn in_turn(from: u64, count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(move |number| from + number * WRITE)
}

#[test]
fn a_whole_block_in_order_is_switched() {
    // Block 1 fills its log zone. With the next write to it that becomes the data zone, which takes no time.
    let steps = [(pages(write(0, 4), 4), 0), (write(5 * MS, 4), 0), (read(6 * MS, 5), 0), (read(7 * MS, 4), 0)];
    let programs: Vec<u64> = in_turn(0, 4).chain([5 * MS]).collect();
    plays("switch", LogVictim::Bast, &steps, &[6 * MS, 7 * MS], &programs, [1, 0, 0, 0, 0]);
}

#[test]
fn the_rest_of_a_block_is_copied_behind_its_log() {
    // Blocks 1 and 2 have log zones. A write to block 3 takes that of block 1, which was written longest ago: it has page 4 at its place, and pages
    // 5 to 7 are copied to it, as three reads and three programs.
    let steps = [(pages(write(0, 4), 4), 0), (write(5 * MS, 4), 0), (write(10 * MS, 8), 0), (write(15 * MS, 12), 3 * (READ + WRITE))];
    let from: Vec<u64> = (0..3).map(|number| 15 * MS + number * READ).collect();
    let copied = 15 * MS + 3 * READ;
    let programs: Vec<u64> = in_turn(0, 4).chain([5 * MS, 10 * MS]).chain(in_turn(copied, 4)).collect();
    plays("partial", LogVictim::Bast, &steps, &from, &programs, [1, 1, 0, 3, 0]);
}

#[test]
fn a_block_out_of_order_is_copied_as_a_whole() {
    // Page 13 comes to the first place of the log zone of block 3. Then blocks 0 and 1 want log zones: block 3 is copied to a new zone, page 13 at its
    // place behind one without data, and two more without.
    let steps = [(write(0, 13), 0), (write(5 * MS, 0), 0), (write(10 * MS, 4), READ + 4 * WRITE), (read(20 * MS, 13), 0)];
    let pad = 10 * MS;
    let copy = pad + WRITE;
    let programs: Vec<u64> = [0, 5 * MS, pad].into_iter().chain(in_turn(copy + READ, 4)).collect();
    plays("full", LogVictim::Bast, &steps, &[copy, 20 * MS], &programs, [0, 0, 1, 1, 3]);
}

#[test]
fn fast_merges_all_blocks_of_its_oldest_log() {
    // One log zone is for writes in order; the other takes pages 5, 9, 6 and 13, of blocks 1, 2 and 3. Page 14 finds it full: the blocks are merged in
    // the order of their first data there. Block 1: nothing, 5, 6, nothing; block 2: nothing, 9, two of nothing; block 3 the same.
    let block_1 = WRITE + 2 * READ + 3 * WRITE;
    let others = WRITE + READ + 3 * WRITE;
    let steps = [
        (write(0, 5), 0),
        (write(MS, 9), 0),
        (write(2 * MS, 6), 0),
        (write(3 * MS, 13), 0),
        (write(10 * MS, 14), block_1 + 2 * others),
        (read(30 * MS, 9), 0),
    ];
    let begins = [10 * MS, 10 * MS + block_1, 10 * MS + block_1 + others];
    let from = [begins[0] + WRITE, begins[0] + WRITE + READ, begins[1] + WRITE, begins[2] + WRITE, 30 * MS];
    let programs: Vec<u64> = [0, MS, 2 * MS, 3 * MS]
        .into_iter()
        .chain(begins)
        .chain(in_turn(begins[0] + WRITE + 2 * READ, 3))
        .chain(in_turn(begins[1] + WRITE + READ, 3))
        .chain(in_turn(begins[2] + WRITE + READ, 3))
        .chain([begins[2] + others])
        .collect();
    plays("fast", LogVictim::Fast, &steps, &from, &programs, [0, 0, 3, 4, 8]);
}

#[test]
fn fast_writes_a_block_in_order_to_a_log_of_its_own() {
    // Pages 4, 5 are written in order from the beginning of block 1. Block 2 begins, too: block 1 is merged behind what it has, of which there is
    // nothing to copy; two pages are padded.
    let steps = [(pages(write(0, 4), 2), 0), (write(5 * MS, 8), 2 * WRITE), (read(10 * MS, 5), 0)];
    let programs: Vec<u64> = in_turn(0, 2).chain(in_turn(5 * MS, 3)).collect();
    plays("in order", LogVictim::Fast, &steps, &[10 * MS], &programs, [0, 1, 0, 0, 2]);
}

/// What a drive does whose requests are over before the next comes: lists of the units in each log, and which units have data.
struct Reference {
    log: LogVictim,
    capacity: u64,
    most: usize,
    has_data: Vec<bool>,
    /// Logs, oldest first: for BAST by last use, with their block; for FAST those of all blocks. Each unit with its number of writing.
    logs: Vec<(u64, Vec<(u64, u64)>)>,
    /// FAST's log in order.
    sequential: Option<(u64, Vec<(u64, u64)>)>,
    /// By unit: its newest writing.
    newest: Vec<u64>,
    writings: u64,
    merges: [u64; 5],
}

impl Reference {
    fn write(&mut self, unit: u64) {
        let (block, offset) = (unit / self.capacity, unit % self.capacity);
        self.writings += 1;
        let entry = (unit, self.writings);
        if self.log == LogVictim::Bast {
            self.write_bast(block, entry);
        } else {
            self.write_fast(block, offset, entry);
        }
        self.has_data[unit as usize] = true;
        self.newest[unit as usize] = self.writings;
    }

    fn write_bast(&mut self, block: u64, entry: (u64, u64)) {
        let full = |log: &(u64, Vec<(u64, u64)>)| log.1.len() as u64 == self.capacity;
        if let Some(at) = self.logs.iter().position(|log| log.0 == block) {
            if full(&self.logs[at]) {
                let (_, log) = self.logs.remove(at);
                self.merge(block, Some(&log));
            } else {
                let mut log = self.logs.remove(at);
                log.1.push(entry);
                return self.logs.push(log);
            }
        } else if self.logs.len() == self.most {
            let (of, log) = self.logs.remove(0);
            self.merge(of, Some(&log));
        }
        self.logs.push((block, vec![entry]));
    }

    fn write_fast(&mut self, block: u64, offset: u64, entry: (u64, u64)) {
        let owns = self.sequential.as_ref().map(|log| log.0);
        if let Some((of, log)) = self.sequential.clone()
            && (offset == 0 || of == block && log.len() as u64 != offset)
        {
            self.sequential = None;
            self.merge(of, Some(&log));
        }
        if offset == 0 {
            self.sequential = Some((block, vec![entry]));
        } else if owns == Some(block) && self.sequential.is_some() {
            self.sequential.as_mut().unwrap().1.push(entry);
        } else {
            if self.logs.last().is_none_or(|log| log.1.len() as u64 == self.capacity) {
                if self.logs.len() + 1 == self.most {
                    self.empty_oldest();
                }
                self.logs.push((0, Vec::new()));
            }
            self.logs.last_mut().unwrap().1.push(entry);
        }
    }

    fn empty_oldest(&mut self) {
        let (_, log) = self.logs.remove(0);
        for (unit, writing) in log {
            if self.newest[unit as usize] == writing {
                let block = unit / self.capacity;
                let in_order = self.sequential.take_if(|log| log.0 == block);
                self.merge(block, in_order.as_ref().map(|log| &log.1[..]));
            }
        }
    }

    /// All data of the block are in its data zone from now on, so that no log has newest data of it.
    fn merge(&mut self, block: u64, log: Option<&[(u64, u64)]>) {
        let units = block * self.capacity..(block + 1) * self.capacity;
        let place = |at: u64| units.start + at;
        let in_order =
            log.is_some_and(|log| (0..).zip(log).all(|(at, &(unit, writing))| unit == place(at) && self.newest[unit as usize] == writing));
        let kept = if in_order { log.unwrap().len() as u64 } else { 0 };
        self.merges[if !in_order { 2 } else { usize::from(kept < self.capacity) }] += 1;
        for unit in place(kept)..units.end {
            self.merges[if self.has_data[unit as usize] { 3 } else { 4 }] += 1;
        }
        for unit in units {
            self.newest[unit as usize] = 0;
        }
    }
}

/// A small drive with log-block mapping, in half of the cases filled.
fn drawn(rng: &mut Rng) -> Config {
    let log = pick(rng, &[LogVictim::Bast, LogVictim::Fast]);
    let config = changed(drive(log), |c| {
        (c.device.channels, c.device.dies_per_chip) = (pick(rng, &[1, 2]), pick(rng, &[1, 2]));
        (c.device.blocks_per_plane, c.device.overprovisioning) = (pick(rng, &[24, 32]), 0.34);
        (c.zones.log_blocks, c.zones.log_batch) = (pick(rng, &[2, 3, 5]), pick(rng, &[1, 3, 64]));
        c.zones.reset_ns = pick(rng, &[0, 10_000, 1_000_000, 15_000_000]);
        if rng.chance(0.5) {
            let least = if log == LogVictim::Bast { c.zones.log_blocks + 1 } else { 3 };
            (c.zones.max_open, c.zones.max_active) = (least as u8, least as u8);
        }
        c.ftl.precondition.kind = pick(rng, &[PreconditionKind::None, PreconditionKind::Fill]);
        if rng.chance(0.4) {
            c.ftl.map_unit_bytes = Some(1024);
        }
        if rng.chance(0.3) || c.ftl.map_unit_bytes.is_some() {
            c.buffer = protected_buffer(1 << 18, 1_000);
        }
        if rng.chance(0.4) {
            (c.host.command_ns, c.host.link_bytes_per_us, c.host.slots) = (100, pick(rng, &[0, 500]), pick(rng, &[0, 4]));
        }
    });
    validate(&config).expect("a drive with log zones");
    config
}

#[test]
fn what_is_merged_is_what_a_reference_merges() {
    let mut sums = [0; 5];
    let cases = if is_full() { 16 } else { 6 };
    for case in 0..cases {
        let mut rng = Rng::new(case, "log blocks");
        let config = drawn(&mut rng);
        let pools = u64::from(config.device.channels * config.device.dies_per_chip);
        let unit = u64::from(config.map_unit_bytes());
        let units = config.exported_bytes().unwrap() / unit;
        let filled = config.ftl.precondition.kind == PreconditionKind::Fill;
        let mut reference = Reference {
            log: config.zones.log,
            capacity: config.zone_units(pools),
            most: config.zones.log_blocks as usize,
            has_data: vec![filled; units as usize],
            logs: Vec::new(),
            sequential: None,
            newest: vec![0; units as usize],
            writings: 0,
            merges: [0; 5],
        };
        let mut simulation = begun(&config);
        for _ in 0..units {
            let first = if rng.chance(0.3) { rng.below(units / reference.capacity) * reference.capacity } else { rng.below(units) };
            let count = pick(&mut rng, &[1, 1, 3, reference.capacity]).min(units - first);
            simulation.submit(Request { length: count * unit, offset: first * unit, ..write(simulation.now(), 0) }).unwrap();
            simulation.run_until(simulation.now() + 400 * MS).unwrap();
            (first..first + count).for_each(|unit| reference.write(unit));
            let counters = simulation.ssd().counters();
            assert_eq!(merges(&counters), reference.merges, "case {case}: {:?}", config.zones);
        }
        simulation.storage().check().unwrap();
        assert_eq!(simulation.ssd().counters().pages_moved, 0, "the drive moves nothing");
        sums.iter_mut().zip(reference.merges).for_each(|(sum, found)| *sum += found);
    }
    assert!(sums.iter().all(|&sum| sum > 10), "{sums:?}");
}

#[test]
fn reads_find_the_newest_data() {
    let mut sums = [0; 5];
    let cases = if is_full() { 40 } else { 14 };
    for case in 0..cases {
        let mut rng = Rng::new(case, "log block reads");
        let config = drawn(&mut rng);
        let mut simulation = begun(&config);
        let gap = pick(&mut rng, &[20_000, 400_000, 3_000_000]);
        submit(&mut rng, &mut simulation, &config, gap, 2);
        simulation.run_to_idle().unwrap();
        assert_eq!(simulation.take_completions().iter().filter(|done| !done.is_rejected()).count(), 600, "case {case}");
        simulation.storage().check().unwrap_or_else(|error| panic!("case {case}: {error}"));
        assert_eq!(simulation.ssd().counters().zone_errors, 0, "case {case}");
        sums.iter_mut().zip(merges(&simulation.ssd().counters())).for_each(|(sum, found)| *sum += found);
    }
    assert!(sums[1..].iter().all(|&sum| sum > 30), "{sums:?}");
}

#[test]
fn merges_that_bring_trimmed_data_back_are_found() {
    let found = (0..40).find_map(|case| {
        let mut rng = Rng::new(case, "log block reads");
        let config = drawn(&mut rng);
        let mut simulation = begun(&config);
        simulation.storage_mut().plant_in_log();
        submit(&mut rng, &mut simulation, &config, 20_000, 20);
        simulation.run_to_idle().and_then(|()| simulation.storage().check()).err()
    });
    assert!(found.is_some_and(|found| found.to_string().contains("of the log finds version")));
}

/// Zones that wait for a long reset are still active: a merge waits for them, and nothing is rejected.
#[test]
fn zones_that_are_reset_count_as_active() {
    for (log, reads) in [(LogVictim::Bast, 13), (LogVictim::Fast, 3)] {
        let config = changed(drive(log), |c| {
            (c.device.blocks_per_plane, c.zones.reset_ns, c.zones.log_blocks) = (80, MS, reads);
            c.ftl.precondition.kind = PreconditionKind::Fill;
        });
        let mut simulation = begun(&config);
        for number in 0..20 {
            simulation.submit(Request { arrival_ns: number * 1_000, ..write(0, 4 * number + 1) }).unwrap();
            simulation.submit(Request { kind: RequestKind::Trim, arrival_ns: number * 1_000 + 1, ..write(0, 4 * number) }).unwrap();
        }
        simulation.run_to_idle().unwrap();
        simulation.storage().check().unwrap();
        let counters = simulation.ssd().counters();
        assert_eq!((counters.zone_errors, counters.log_full_merges > 5), (0, true), "{log:?}");
    }
}

/// A block without data gives up its log zone: nothing is copied or padded.
#[test]
fn a_block_without_data_is_not_merged() {
    let mut simulation = begun(&drive(LogVictim::Bast));
    let trim = Request { kind: RequestKind::Trim, ..pages(write(10 * MS, 4), 4) };
    for request in [write(0, 5), write(5 * MS, 9), trim, write(15 * MS, 13)] {
        simulation.submit(request).unwrap();
    }
    simulation.run_to_idle().unwrap();
    assert_eq!(merges(&simulation.ssd().counters()), [0; 5]);
}

#[test]
fn what_has_no_room_is_refused() {
    let says = |log, change: fn(&mut Config)| validate(&changed(drive(log), change)).expect_err("it is refused").to_string();
    assert!(says(LogVictim::Fast, |c| c.zones.log_blocks = 6).contains("the drive has 8 zones, and needs 9"));
    assert!(says(LogVictim::Bast, |c| c.zones.max_active = 2).contains("log-block mapping writes to 3 zones at a time"));
    validate(&changed(drive(LogVictim::Fast), |c| (c.zones.max_open, c.zones.max_active, c.zones.log_blocks) = (3, 3, 5))).unwrap();
}
