//! Zones: timelines by hand, a reference written apart that says what becomes of each command, and what zones are for: no page is moved.

use crate::common::{one_die, pick, protected_buffer, simulation};
use crate::timelines::{Case, array, bus, changed, filled, play_with};
use ssdlab::config::{Allocation, Config, Placement, PreconditionKind, ReclaimUnit, Zones, validate};
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify};
use ssdlab::stats::Part::{Array, Controller, HostQueue, Transfer};
use ssdlab::storage::ZoneState;

const PAGE: u64 = 4096;
const US: u64 = 1_000;
/// Pages of a zone: a block.
const ZONE: u64 = 4;

/// Four zones of a block of four pages, on eight blocks.
fn drive() -> Config {
    changed(one_die(), |c| {
        c.ftl.placement = Placement::Zones;
        c.zones = Zones {
            max_open: 2,
            max_active: 3,
            append_ns: 3 * US,
            manage_ns: 5 * US,
            close_ns: 20 * US,
            reset_ns: 10 * US,
            reset_unit_ns: 100,
            ..Zones::default()
        };
    })
}

fn command(kind: RequestKind, arrival_ns: u64, zone: u64, page: u64, pages: u64) -> Request {
    let (offset, length) = ((zone * ZONE + page) * PAGE, pages * PAGE);
    Request { arrival_ns, kind, offset, length, high_priority: false, flow: 0, handle: None }
}

/// Transfers of 102.4 us and programs of 200 us; of a reset 10 us, 0.1 us a page, and 20 us for a block that is programmed in part.
#[test]
fn a_zone_is_written_reset_and_finished() {
    use RequestKind::{Append, Write, ZoneFinish, ZoneOpen, ZoneReset};
    let program = |at: u64| [bus(0, at, at + 102_400), array(0, at + 102_400, at + 302_400)];
    let written = [(Transfer, 102_400), (Array, 200_000)];
    let case = Case {
        name: "append, write, reset while a write is under way, write, finish, write to a full zone, open",
        config: drive(),
        requests: vec![
            command(Append, 0, 0, 0, 1),
            command(Write, 400 * US, 0, 1, 1),
            command(ZoneReset, 410 * US, 0, 0, ZONE),
            command(Write, 420 * US, 0, 0, 1),
            command(ZoneFinish, 2_000 * US, 0, 0, ZONE),
            command(Write, 3_000 * US, 0, 1, 1),
            command(ZoneOpen, 3_000 * US, 1, 0, ZONE),
        ],
        responses: vec![
            (305_400, [&written[..], &[(Controller, 3 * US)]].concat()),
            (302_400, written.to_vec()),
            // The write ends at 702.4 us; then the zone of two pages is reset, whose block is programmed in part.
            (322_600, vec![(HostQueue, 292_400), (Controller, 30_200)]),
            // It waits for the reset, until 732.6 us.
            (615_000, [&[(HostQueue, 312_600)], &written[..]].concat()),
            // Three pages of padding, one after the other on the only die.
            (927_200, vec![(Array, 3 * 302_400), (Controller, 20 * US)]),
            (0, vec![]),
            (5 * US, vec![(Controller, 5 * US)]),
        ],
        stages: [0, 400_000, 732_600, 2_000_000, 2_302_400, 2_604_800].into_iter().flat_map(program).collect(),
    };
    for every_stage in [false, true] {
        let (completions, counters) = play_with(&case, every_stage, simulation(&case.config));
        assert_eq!(completions.iter().map(|done| done.is_rejected()).collect::<Vec<_>>(), [false, false, false, false, false, true, false]);
        let of_zones = [counters.zone_appends, counters.zone_resets, counters.zone_finishes, counters.zone_padded_units];
        assert_eq!((of_zones, counters.zone_skipped_units, counters.zone_errors, counters.zone_waits), ([1, 1, 1, 3], 2, 1, 1));
    }
}

/// What the specification says of zones, with nothing else.
struct Reference {
    capacity: u64,
    max_open: usize,
    max_active: usize,
    /// State, write pointer, and when the zone was opened by a write.
    zones: Vec<(ZoneState, u64, u64)>,
    clock: u64,
    closes: u64,
}

impl Reference {
    fn count(&self, states: &[ZoneState]) -> usize {
        self.zones.iter().filter(|zone| states.contains(&zone.0)).count()
    }

    /// Takes what it needs to open a zone; false if there is none.
    fn may_open(&mut self, zone: usize) -> bool {
        use ZoneState::{Closed, Empty, ExplicitlyOpen, ImplicitlyOpen};
        if self.zones[zone].0 == Empty && self.count(&[ImplicitlyOpen, ExplicitlyOpen, Closed]) == self.max_active {
            return false;
        }
        if self.count(&[ImplicitlyOpen, ExplicitlyOpen]) < self.max_open {
            return true;
        }
        let oldest = (0..self.zones.len()).filter(|&other| self.zones[other].0 == ImplicitlyOpen).min_by_key(|&other| self.zones[other].2);
        if let Some(other) = oldest {
            self.zones[other].0 = Closed;
            self.closes += 1;
        }
        oldest.is_some()
    }

    /// Carries a command out. Returns the first page that it writes, or 0; `None`: it is rejected.
    fn take(&mut self, kind: RequestKind, zone: usize, page: u64, pages: u64) -> Option<u64> {
        use ZoneState::{Closed, Empty, ExplicitlyOpen, Full, ImplicitlyOpen};
        self.clock += 1;
        let (state, pointer, _) = self.zones[zone];
        match kind {
            RequestKind::Read => (page + pages <= self.capacity).then_some(0),
            RequestKind::Write | RequestKind::Append => {
                let fits = if kind == RequestKind::Write { page == pointer } else { page == 0 } && pointer + pages <= self.capacity;
                if state == Full || !fits || matches!(state, Empty | Closed) && !self.may_open(zone) {
                    return None;
                }
                if matches!(state, Empty | Closed) {
                    (self.zones[zone].0, self.zones[zone].2) = (ImplicitlyOpen, self.clock);
                }
                self.zones[zone].1 += pages;
                if self.zones[zone].1 == self.capacity {
                    self.zones[zone].0 = Full;
                }
                Some(pointer)
            }
            RequestKind::ZoneOpen => {
                if state == Full || matches!(state, Empty | Closed) && !self.may_open(zone) {
                    return None;
                }
                self.zones[zone].0 = ExplicitlyOpen;
                Some(0)
            }
            RequestKind::ZoneClose => {
                if matches!(state, Empty | Full) {
                    return None;
                }
                self.zones[zone].0 = if pointer == 0 { Empty } else { Closed };
                Some(0)
            }
            RequestKind::ZoneFinish => {
                self.zones[zone].0 = Full;
                Some(0)
            }
            RequestKind::ZoneReset => {
                self.zones[zone] = (Empty, 0, 0);
                Some(0)
            }
            RequestKind::Trim | RequestKind::Flush => Some(0),
            RequestKind::Copy => None,
        }
    }
}

/// A drive of several dies, whose zones have gaps between them in half of the cases; with a buffer, units and superblocks in some.
fn zoned(rng: &mut Rng) -> Config {
    let config = changed(drive(), |c| {
        c.device.channels = pick(rng, &[1, 2]);
        c.device.dies_per_chip = pick(rng, &[1, 2]);
        c.device.blocks_per_plane = 16;
        c.zones.blocks = pick(rng, &[1, 2]);
        c.zones.max_active = 1 + rng.below(4) as u8;
        c.zones.max_open = 1 + rng.below(c.zones.max_active.into()) as u8;
        if rng.chance(0.5) {
            c.ftl.map_unit_bytes = Some(1024);
        }
        if rng.chance(0.5) || c.ftl.map_unit_bytes.is_some() {
            c.buffer = protected_buffer(1 << 18, US);
        }
        if rng.chance(0.4) && c.device.channels * c.device.dies_per_chip > 1 {
            (c.ftl.reclaim_unit, c.ftl.allocation) = (ReclaimUnit::Superblock, Allocation::Dynamic);
        }
        // Rarely a whole number of zones.
        c.device.overprovisioning = pick(rng, &[0.5, 0.43, 0.38]);
        if rng.chance(0.4) {
            (c.host.command_ns, c.host.link_bytes_per_us) = (100, pick(rng, &[0, 500]));
        }
    });
    let pools = u64::from(config.device.channels * config.device.dies_per_chip);
    let zone = config.zone_units(pools) * u64::from(config.map_unit_bytes());
    let config = if rng.chance(0.5) { changed(config, |c| c.zones.size_bytes = (zone + 1).next_power_of_two()) } else { config };
    validate(&config).expect("a drive with zones");
    config
}

/// Each command comes when the one before is over.
#[test]
fn what_becomes_of_commands_is_what_the_specification_says() {
    let (mut errors, mut closes, mut done) = (0, 0, 0);
    for case in 0..60 {
        let mut rng = Rng::new(case, "zones");
        let config = zoned(&mut rng);
        let pools = u64::from(config.device.channels * config.device.dies_per_chip);
        let (unit, capacity, distance) = (u64::from(config.map_unit_bytes()), config.zone_units(pools), config.zone_distance(pools));
        let count = config.zone_count().unwrap();
        let mut reference = Reference {
            capacity,
            max_open: config.zones.max_open.into(),
            max_active: config.zones.max_active.into(),
            zones: vec![(ZoneState::Empty, 0, 0); count as usize],
            clock: 0,
            closes: 0,
        };
        let plan = Plan { verify: Verify::Every, ..Plan::new(config.clone(), 1) };
        let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
        simulation.take_completions();
        for _ in 0..150 {
            let zone = rng.below(count.min(6));
            let pointer = reference.zones[zone as usize].1;
            let pages = 1 + rng.below(capacity / 2);
            let (kind, page, pages) = match rng.below(20) {
                0..7 => (RequestKind::Append, if rng.chance(0.05) { 1 } else { 0 }, pages),
                7..13 => (RequestKind::Write, if rng.chance(0.1) { rng.below(capacity) } else { pointer.min(capacity - 1) }, pages),
                13 => (RequestKind::Read, rng.below(distance - 1), 1),
                14 => (RequestKind::ZoneOpen, 0, capacity),
                15 => (RequestKind::ZoneClose, 0, capacity),
                16 => (RequestKind::ZoneFinish, 0, capacity),
                17 => (RequestKind::Trim, rng.below(capacity), 1),
                _ => (RequestKind::ZoneReset, 0, capacity),
            };
            let offset = (zone * distance + page) * unit;
            let length = pages * unit;
            if offset + length > config.exported_bytes().unwrap() {
                continue;
            }
            let expected = reference.take(kind, zone as usize, page, pages);
            let request = Request { arrival_ns: simulation.now(), kind, offset, length, high_priority: false, flow: 0, handle: None };
            simulation.submit(request).unwrap();
            simulation.run_to_idle().unwrap();
            let completions = simulation.take_completions();
            assert_eq!(completions.len(), 1);
            assert_eq!(completions[0].is_rejected(), expected.is_none(), "case {case}: {kind:?} of zone {zone} at {page}, {pages} units");
            if let (RequestKind::Append, Some(first)) = (kind, expected) {
                assert_eq!(completions[0].offset, (zone * distance + first) * unit, "case {case}");
            }
            errors += u64::from(expected.is_none());
            done += u64::from(expected.is_some());
            let zones = simulation.storage().zones().unwrap();
            let found: Vec<_> = (0..zones.count()).map(|zone| zones.zone(zone)).collect();
            let expected: Vec<_> = reference.zones.iter().map(|&(state, pointer, _)| (state, pointer as u32)).collect();
            assert_eq!(found, expected, "case {case} after {kind:?} of zone {zone}");
        }
        let counters = simulation.ssd().counters();
        assert_eq!(counters.zone_closes, reference.closes);
        assert_eq!(counters.pages_moved, 0, "case {case}");
        closes += reference.closes;
    }
    assert!(errors > 500 && closes > 100 && done > 3_000, "{errors} {closes} {done}");
}

/// Zones are written and reset many times over: blocks are erased, and no page is moved.
#[test]
fn resets_free_whole_blocks() {
    let (mut erases, mut skipped) = (0, 0);
    for case in 0..20 {
        let mut rng = Rng::new(case, "resets");
        let config = changed(zoned(&mut rng), |c| {
            c.ftl.precondition.kind = PreconditionKind::Fill;
            (c.zones.max_open, c.zones.max_active) = (14, 14);
        });
        let pools = u64::from(config.device.channels * config.device.dies_per_chip);
        let (unit, capacity, distance) = (u64::from(config.map_unit_bytes()), config.zone_units(pools), config.zone_distance(pools));
        let count = config.zone_count().unwrap();
        let mut simulation = simulation(&config);
        for round in 0..3 {
            for zone in 0..count {
                let send = |simulation: &mut Simulation, kind, length| {
                    let (arrival_ns, offset) = (simulation.now(), zone * distance * unit);
                    simulation.submit(Request { arrival_ns, kind, offset, length, high_priority: false, flow: 0, handle: None }).unwrap();
                };
                send(&mut simulation, RequestKind::ZoneReset, unit);
                // Some zones are reset again before they are full; all of that at one instant.
                let parts = if rng.chance(0.3) { 1 + rng.below(capacity - 1) } else { capacity };
                (0..parts).for_each(|_| send(&mut simulation, RequestKind::Append, unit));
                if parts < capacity {
                    send(&mut simulation, RequestKind::ZoneReset, unit);
                }
                if round < 2 && rng.chance(0.5) {
                    simulation.run_to_idle().unwrap();
                }
            }
        }
        simulation.run_to_idle().unwrap();
        let counters = simulation.ssd().counters();
        assert!(counters.zone_resets >= 3 * count, "case {case}");
        assert_eq!((counters.pages_moved, counters.zone_errors), (0, 0), "case {case}");
        (erases, skipped) = (erases + counters.erases, skipped + counters.zone_skipped_units);
    }
    assert!(erases > 200 && skipped > 200, "{erases} blocks were erased, and {skipped} units left out");
}

/// A read waits for the reset of its zone that came before it, and not for a finish between the two, which waits for the reset, too.
#[test]
fn a_read_that_waited_for_a_reset_passes_a_finish() {
    use RequestKind::{Append, Read, ZoneFinish, ZoneReset};
    let mut simulation = simulation(&drive());
    let commands = [(Append, 1), (ZoneReset, ZONE), (Append, 1), (ZoneFinish, ZONE), (Read, 1)];
    for (at, (kind, pages)) in (0..).zip(commands) {
        simulation.submit(command(kind, at * 1_000, 0, 0, pages)).unwrap();
    }
    simulation.run_to_idle().unwrap();
    let mut completions = simulation.take_completions();
    completions.sort_by_key(|done| done.index);
    assert!(completions.iter().all(|done| !done.is_rejected()));
    assert!(completions[4].completed_ns < completions[3].completed_ns, "{completions:?}");
    assert_eq!(simulation.ssd().counters().zone_waits, 3);
}

#[test]
fn a_drive_without_zones_rejects_their_commands() {
    let mut simulation = simulation(&filled(one_die()));
    for kind in RequestKind::ALL.into_iter().filter(|kind| kind.needs_zones()) {
        simulation.submit(command(kind, simulation.now(), 0, 0, 1)).unwrap();
        simulation.run_to_idle().unwrap();
        assert!(simulation.take_completions()[0].is_rejected(), "{kind:?}");
    }
    assert_eq!(simulation.ssd().counters().zone_errors, 6);
}
