//! A log of the host on zones: a timeline by hand, a reference written apart that says where data are and what is moved, and random drives.

use crate::common::{one_die, pick, protected_buffer, simulation};
use crate::timelines::{Case, array, bus, changed, pages, play_with, read, write};
use ssdlab::config::{Config, LogVictim, Placement, PreconditionKind, Zones, validate};
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify};
use ssdlab::stats::Part::{Array, DieQueue, Transfer};

const US: u64 = 1_000;

/// Four zones of a block of four pages, and a log of four pages on them.
fn drive() -> Config {
    changed(one_die(), |c| {
        c.ftl.placement = Placement::Zones;
        c.zones = Zones { reset_ns: 10 * US, log: LogVictim::Greedy, log_spare: 0.75, log_free: 2, ..Zones::default() };
    })
}

/// Pages 0 to 3 fill the first zone; pages 0, 1, 0 and 0 again the second, of which only page 1 is valid at last. The next write opens the third zone.
/// As only the fourth is free then, the log collects the second: the drive reads page 1 and programs it in the fourth, and the reset takes 10 us. Now
/// the second is free, and the fourth is not: the log collects the first, too, of which pages 2 and 3 are valid.
#[test]
fn the_emptiest_zone_is_moved_and_reset() {
    let program = |at: u64| [bus(0, at, at + 102_400), array(0, at + 102_400, at + 302_400)];
    let alone = || (302_400, vec![(Transfer, 102_400), (Array, 200_000)]);
    let starts = [0, 302_400, 604_800, 907_200, 2_000_000, 2_302_400, 3_000_000, 4_000_000, 5_000_000, 5_429_800, 5_997_000, 6_299_400];
    let mut stages: Vec<_> = starts.into_iter().flat_map(program).collect();
    stages.extend(
        [5_302_400, 5_742_200, 5_869_600, 8_000_000]
            .into_iter()
            .flat_map(|at| [array(0, at, at + 25_000), bus(0, at + 25_000, at + 127_400)]),
    );
    let case = Case {
        name: "writes until a zone is collected, then a read of what was moved",
        config: drive(),
        requests: vec![
            pages(write(0, 0), 4),
            pages(write(2_000 * US, 0), 2),
            write(3_000 * US, 0),
            write(4_000 * US, 0),
            write(5_000 * US, 0),
            read(8_000 * US, 1),
        ],
        responses: vec![
            (1_209_600, vec![(DieQueue, 907_200), (Transfer, 102_400), (Array, 200_000)]),
            (604_800, vec![(DieQueue, 302_400), (Transfer, 102_400), (Array, 200_000)]),
            alone(),
            alone(),
            alone(),
            (127_400, vec![(Array, 25_000), (Transfer, 102_400)]),
        ],
        stages,
    };
    for every_stage in [false, true] {
        let (_, counters) = play_with(&case, every_stage, simulation(&case.config));
        assert_eq!([counters.log_collections, counters.log_moved_units, counters.log_written_units], [2, 3, 9]);
        assert_eq!([counters.zone_resets, counters.zone_errors, counters.log_waits], [2, 0, 0]);
    }
}

/// The host reads what it moves, and writes it again: the same flash operations without a link to the host.
#[test]
fn a_host_without_copies_reads_and_writes() {
    let requests =
        [pages(write(0, 0), 4), pages(write(2_000 * US, 0), 2), write(3_000 * US, 0), write(4_000 * US, 0), write(5_000 * US, 0)];
    let moved_bytes = [true, false].map(|copy| {
        let config = changed(drive(), |c| {
            c.zones.log_copy = copy;
            c.host.link_bytes_per_us = 1_000;
        });
        let mut simulation = simulation(&config);
        requests.iter().for_each(|&request| _ = simulation.submit(request).unwrap());
        simulation.submit(read(8_000 * US, 1)).unwrap();
        simulation.run_to_idle().unwrap();
        assert_eq!(simulation.ssd().counters().log_moved_units, 3);
        simulation.storage().stats(simulation.now()).link_bytes
    });
    assert_eq!(moved_bytes, [10 * 4096, 16 * 4096]);
}

/// What a log does when each request is over before the next comes: zones as lists of the units that were written in them.
struct Reference {
    config: Config,
    capacity: usize,
    zones: Vec<Vec<u64>>,
    /// Number of units that the host had written when the zone was full.
    full_at: Vec<Option<u64>>,
    free: Vec<usize>,
    open: [Option<usize>; 2],
    /// By logical unit: zone and place in it.
    places: Vec<Option<(usize, usize)>>,
    written: u64,
    moved: u64,
    collected: u64,
}

impl Reference {
    fn append(&mut self, moves: usize, unit: u64) {
        let zone = match self.open[moves] {
            Some(zone) => zone,
            None => self.free.remove(0),
        };
        self.zones[zone].push(unit);
        self.places[unit as usize] = Some((zone, self.zones[zone].len() - 1));
        let is_full = self.zones[zone].len() == self.capacity;
        self.full_at[zone] = is_full.then_some(self.written);
        self.open[moves] = (!is_full).then_some(zone);
    }

    fn valid(&self, zone: usize) -> Vec<u64> {
        let is_valid = |&(at, unit): &(usize, &u64)| self.places[*unit as usize] == Some((zone, at));
        self.zones[zone].iter().enumerate().filter(is_valid).map(|(_, &unit)| unit).collect()
    }

    fn worth(&self, zone: usize) -> f64 {
        let share = self.valid(zone).len() as f64 / self.capacity as f64;
        let age = (self.written - self.full_at[zone].expect("it is full")) as f64;
        if self.config.zones.log == LogVictim::Greedy { 1.0 - share } else { (1.0 - share) * age / (1.0 + share) }
    }

    fn collect(&mut self) {
        while self.free.len() < self.config.zones.log_free as usize {
            let room = self.free.len() * self.capacity + self.open[1].map_or(0, |zone| self.capacity - self.zones[zone].len());
            let ripe =
                |&zone: &usize| self.full_at[zone].is_some() && self.valid(zone).len() < self.capacity && self.valid(zone).len() <= room;
            let zones: Vec<usize> = (0..self.zones.len()).filter(ripe).collect();
            let Some(most) = zones.iter().map(|&zone| self.worth(zone)).reduce(f64::max) else { return };
            let victim = *zones.iter().find(|&&zone| (self.worth(zone) - most).abs() < 1e-9).expect("one has the most");
            self.collected += 1;
            self.full_at[victim] = None;
            for unit in self.valid(victim) {
                self.moved += 1;
                self.append(1, unit);
            }
            self.zones[victim].clear();
            self.free.push(victim);
        }
    }
}

/// A small drive with a log, in half of the cases filled.
fn drawn(rng: &mut Rng) -> Config {
    let config = changed(drive(), |c| {
        (c.device.channels, c.device.dies_per_chip) = (pick(rng, &[1, 2]), pick(rng, &[1, 2]));
        (c.device.blocks_per_plane, c.device.overprovisioning) = (pick(rng, &[24, 32]), 0.34);
        c.zones.blocks = pick(rng, &[1, 2]);
        (c.zones.log, c.zones.log_spare) = (pick(rng, &[LogVictim::Greedy, LogVictim::CostBenefit]), pick(rng, &[0.6, 0.5, 0.45]));
        (c.zones.log_free, c.zones.log_batch, c.zones.log_copy) = (pick(rng, &[2, 3]), pick(rng, &[1, 3, 64]), rng.chance(0.5));
        c.ftl.precondition.kind = pick(rng, &[PreconditionKind::None, PreconditionKind::Fill]);
        if rng.chance(0.5) {
            c.ftl.map_unit_bytes = Some(1024);
        }
        if rng.chance(0.3) || c.ftl.map_unit_bytes.is_some() {
            c.buffer = protected_buffer(1 << 18, US);
        }
        if rng.chance(0.4) {
            (c.host.command_ns, c.host.link_bytes_per_us, c.host.slots) = (100, pick(rng, &[0, 500]), pick(rng, &[0, 4]));
        }
        if rng.chance(0.3) {
            c.zones.size_bytes = 1 << 20;
        }
    });
    // Where the data leave few zones, two are free at most.
    let config = if validate(&config).is_err() { changed(config, |c| c.zones.log_free = 2) } else { config };
    validate(&config).expect("a drive with a log");
    config
}

/// A simulation of a drive in which every invariant is checked after every event, once it is prepared.
pub fn begun(config: &Config) -> Simulation {
    let plan = Plan { verify: Verify::Every, ..Plan::new(config.clone(), 1) };
    let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
    simulation.take_completions();
    simulation
}

#[test]
fn what_is_moved_is_what_a_reference_moves() {
    let (mut moved, mut collected) = (0, 0);
    for case in 0..16 {
        let mut rng = Rng::new(case, "log");
        let config = drawn(&mut rng);
        let pools = u64::from(config.device.channels * config.device.dies_per_chip);
        let capacity = config.zone_units(pools) as usize;
        let (zones, unit) = (config.zone_count().unwrap() as usize, u64::from(config.map_unit_bytes()));
        let logical = config.exported_bytes().unwrap() / unit;
        let filled = config.ftl.precondition.kind == PreconditionKind::Fill;
        let places = (0..logical).map(|unit| filled.then_some((unit as usize / capacity, unit as usize % capacity))).collect();
        let content = |zone: usize| {
            // Behind its data the drive is full of units that the log does not know.
            let of = |at: usize| Some((zone * capacity + at) as u64).filter(|&unit| unit < logical).unwrap_or(0);
            if filled { (0..capacity).map(of).collect() } else { Vec::new() }
        };
        let mut reference = Reference {
            capacity,
            zones: (0..zones).map(content).collect(),
            full_at: vec![filled.then_some(0); zones],
            free: if filled { Vec::new() } else { (0..zones).collect() },
            open: [None; 2],
            places,
            written: 0,
            moved: 0,
            collected: 0,
            config: config.clone(),
        };
        let mut simulation = begun(&config);
        if filled {
            // With the first request the log makes room.
            simulation.submit(Request { kind: RequestKind::Flush, length: 0, ..write(0, 0) }).unwrap();
            simulation.run_until(1_000_000_000).unwrap();
            reference.collect();
        }
        for _ in 0..3 * logical {
            let first = rng.below(logical);
            let units = (1 + rng.below(3)).min(logical - first);
            simulation.submit(Request { length: units * unit, offset: first * unit, ..write(simulation.now(), 0) }).unwrap();
            simulation.run_to_idle().unwrap();
            // Moves go on behind the request.
            simulation.run_until(simulation.now() + 100_000_000).unwrap();
            for unit in first..first + units {
                reference.written += 1;
                reference.append(0, unit);
            }
            reference.collect();
            let counters = simulation.ssd().counters();
            assert_eq!((counters.log_collections, counters.log_moved_units), (reference.collected, reference.moved), "case {case}");
        }
        simulation.storage().check().unwrap();
        assert_eq!(simulation.ssd().counters().pages_moved, 0, "the drive moves nothing");
        (moved, collected) = (moved + reference.moved, collected + reference.collected);
    }
    assert!(moved > 2_000 && collected > 500, "{moved} {collected}");
}

/// Random requests of parts of units, whose times are up to `gap` apart; `trims` for 19 others.
pub fn submit(rng: &mut Rng, simulation: &mut Simulation, config: &Config, gap: u64, trims: u64) {
    let exported = config.exported_bytes().unwrap();
    let mut at = 0;
    for _ in 0..600 {
        at += rng.below(gap);
        let kind = match rng.below(19 + trims) {
            0..11 => RequestKind::Write,
            11..18 => RequestKind::Read,
            18 => RequestKind::Flush,
            _ => RequestKind::Trim,
        };
        let length = if kind == RequestKind::Flush { 0 } else { 512 * (1 + rng.below(32)).min(exported / 512) };
        let offset = if kind == RequestKind::Flush { 0 } else { 512 * rng.below((exported - length) / 512 + 1) };
        simulation.submit(Request { arrival_ns: at, kind, offset, length, high_priority: false, flow: 0, handle: None }).unwrap();
    }
}

/// Many requests at a time, of parts of units, too: each read finds what was written last before it, whatever is moved meanwhile.
#[test]
fn reads_find_the_newest_data() {
    let mut sums = [0; 5];
    for case in 0..40 {
        let mut rng = Rng::new(case, "log reads");
        let config = drawn(&mut rng);
        let mut simulation = begun(&config);
        let gap = pick(&mut rng, &[20_000, 200_000, 1_000_000]);
        submit(&mut rng, &mut simulation, &config, gap, 1);
        simulation.run_to_idle().unwrap();
        assert_eq!(simulation.take_completions().iter().filter(|done| !done.is_rejected()).count(), 600, "case {case}");
        simulation.storage().check().unwrap_or_else(|error| panic!("case {case}: {error}"));
        let counters = simulation.ssd().counters();
        let found = [counters.log_fills, counters.log_waits, counters.log_moved_units, counters.zone_resets, counters.unmapped_reads];
        sums.iter_mut().zip(found).for_each(|(sum, found)| *sum += found);
    }
    assert!(sums.iter().all(|&sum| sum > 300), "{sums:?}");
}

/// All writes come while the log makes room: those of unit 0 that wait for each other are written in their turn, not behind the others.
#[test]
fn writes_are_sent_in_the_order_in_which_they_came() {
    let config = changed(drive(), |c| {
        (c.device.blocks_per_plane, c.device.overprovisioning, c.zones.log_spare) = (24, 0.34, 0.4);
        c.ftl.precondition.kind = PreconditionKind::Fill;
    });
    let mut simulation = begun(&config);
    let units: Vec<u64> = [0; 3].into_iter().chain(1..21).collect();
    (0..).zip(&units).for_each(|(at, &unit)| _ = simulation.submit(write(at, unit)).unwrap());
    simulation.run_to_idle().unwrap();
    let mut done = simulation.take_completions();
    done.sort_by_key(|done| done.completed_ns);
    assert_eq!(done.iter().map(|done| done.index).collect::<Vec<_>>(), (0..units.len() as u64).collect::<Vec<_>>());
    assert!(simulation.ssd().counters().log_waits > 20);
}

#[test]
fn moves_that_replace_newer_data_are_found() {
    let found = (0..20).find_map(|case| {
        let mut rng = Rng::new(case, "log reads");
        let config = drawn(&mut rng);
        let mut simulation = begun(&config);
        simulation.storage_mut().plant_in_log();
        submit(&mut rng, &mut simulation, &config, 20_000, 1);
        simulation.run_to_idle().and_then(|()| simulation.storage().check()).err()
    });
    assert!(found.is_some_and(|found| found.to_string().contains("of the log finds version")));
}
