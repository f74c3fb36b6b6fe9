//! Learned models of the mapping table (`ftl.map_models`), worked by hand to the nanosecond. One die; a page takes 102.4 us on the bus, a read
//! 25 us, a program 200 us. With a mapping cache a translation page is a page and has the entries of eight pages.

use crate::common::{one_die, pick, plan, protected_buffer, simulation};
use crate::mapping_cache::{READ, WRITE, reads, served, writes};
use crate::timelines::{Case, Stage, changed, filled, pages, play_all, read, write};
use ssdlab::config::{Allocation, Config, Drain, MapCacheUnit, MapModels, PreconditionKind, ReclaimUnit, validate};
use ssdlab::ftl::Ftl;
use ssdlab::request::Request;
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, run};
use ssdlab::stats::{MappingResult, Part, RunResult};
use ssdlab::storage::PlantedInMap;
use ssdlab::units::Lpn;

const MS: u64 = 1_000_000;
const PAGE: u64 = 4096;

/// 64 pages, all written in order, eight translation pages, and memory for `room` of them.
fn exact(room: u64) -> Config {
    filled(changed(one_die(), |c| {
        c.device.blocks_per_plane = 32;
        (c.ftl.map_cache_bytes, c.ftl.map_entry_bytes) = (room * PAGE, 512);
        c.ftl.map_models = MapModels::Exact;
    }))
}

/// A drive of 16 pages in blocks of four, erased, with segments whose places are wrong by at most `error`.
fn segments(error: u8) -> Config {
    changed(one_die(), |c| (c.ftl.map_models, c.ftl.map_model_error) = (MapModels::Segments, error))
}

fn case(name: &'static str, config: Config, requests: &[Request], responses: &[(u64, Vec<(Part, u64)>)], stages: &[[Stage; 2]]) -> Case {
    Case { name, config, requests: requests.to_vec(), responses: responses.to_vec(), stages: stages.concat() }
}

/// Pages 0, 5, 6, 7 come to places 0, 1, 2, 3.
const FOUR: [u64; 4] = [0, 5, 6, 7];

fn four_writes() -> Vec<Request> {
    (0..).zip(FOUR).map(|(at, page)| write(at * MS, page)).collect()
}

fn after_four(reads: &[Request]) -> Vec<Request> {
    four_writes().into_iter().chain(reads.iter().copied()).collect()
}

fn cases() -> Vec<Case> {
    let written = || vec![served(true, 0, 0); 4];
    let programs = [writes(0), writes(MS), writes(2 * MS), writes(3 * MS)];
    vec![
        case(
            "data in order need no translation page",
            exact(1),
            &[read(0, 5), pages(read(MS, 7), 2)],
            &[served(false, 0, 0), served(false, 0, READ)],
            &[reads(0), reads(MS), reads(MS + READ)],
        ),
        case(
            "what was written since needs it, and the pages around do not",
            exact(1),
            // The second write replaces translation page 0, which has changed.
            &[write(0, 0), write(2 * MS, 8), read(4 * MS, 1), read(5 * MS, 0)],
            &[served(true, READ, 0), served(true, WRITE + READ, 0), served(false, 0, 0), served(false, WRITE + READ, 0)],
            &[
                reads(0),
                writes(READ),
                writes(2 * MS),
                reads(2 * MS + WRITE),
                writes(2 * MS + WRITE + READ),
                reads(4 * MS),
                writes(5 * MS),
                reads(5 * MS + WRITE),
                reads(5 * MS + WRITE + READ),
            ],
        ),
        // A line from place 0 of page 0. Within one place of those of 5, 6 and 7 are slopes up to 0.5, from 0.083 and from 0.214 on. That through page
        // 7, 3 / 7, gives 5 and 6 the places 2 and 3.
        case(
            "a segment that is off by a page costs a read",
            segments(1),
            &after_four(&[read(10 * MS, 5), read(11 * MS, 6), read(12 * MS, 7), read(13 * MS, 0)]),
            &[written(), vec![served(false, READ, 0), served(false, READ, 0), served(false, 0, 0), served(false, 0, 0)]].concat(),
            &[
                &programs[..],
                &[reads(10 * MS), reads(10 * MS + READ), reads(11 * MS), reads(11 * MS + READ), reads(12 * MS), reads(13 * MS)],
            ]
            .concat(),
        ),
        case(
            "without an error it is two segments, and none is off",
            segments(0),
            &after_four(&[read(10 * MS, 5), read(12 * MS, 7)]),
            &[written(), vec![served(false, 0, 0); 2]].concat(),
            &[&programs[..], &[reads(10 * MS), reads(12 * MS)]].concat(),
        ),
        case(
            "a read of several pages reads the wrong pages, then all",
            segments(1),
            &after_four(&[pages(read(10 * MS, 5), 3)]),
            // Places 2 and 3, for 5 and for 6.
            &[written(), vec![served(false, 2 * READ, 2 * READ)]].concat(),
            &[&programs[..], &[0, 1, 2, 3, 4].map(|number| reads(10 * MS + number * READ))].concat(),
        ),
    ]
}

#[test]
fn worked_timelines() {
    play_all(&cases());
}

fn mapping_of(config: &Config, requests: &[Request]) -> MappingResult {
    let mut simulation = simulation(config);
    requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
    simulation.finish().unwrap().mapping.unwrap()
}

/// A segment takes 8 bytes, and one whose units are not equally far apart a byte for each and one at the end.
#[test]
fn memory_is_counted() {
    let of = |error| mapping_of(&segments(error), &four_writes());
    assert_eq!((of(1).lines, of(1).model_bytes), (1, 8 + 5));
    // 0, 5, 6; and 7.
    assert_eq!((of(0).lines, of(0).model_bytes), (2, 8 + 4 + 8));
    // Four blocks in order are four segments, each of a row of blocks.
    let full = mapping_of(&filled(segments(0)), &[read(0, 0)]);
    assert_eq!((full.lines, full.model_bytes, full.pages), (4, 32, 0));
    // Eight translation pages with a bit for each of 8 entries (in one word), and 8 lines of 8 bytes; each page fills two blocks.
    let exact = mapping_of(&exact(1), &[read(0, 0)]);
    assert_eq!((exact.lines, exact.model_bytes), (16, 8 * 64 + 8), "{exact:?}");
}

#[test]
fn what_is_counted() {
    let mapping = mapping_of(&exact(1), &[read(0, 5), pages(read(MS, 7), 2), write(2 * MS, 20), read(4 * MS, 20)]);
    assert_eq!((mapping.predicted, mapping.misses, mapping.hits, mapping.hit_ratio), (3, 1, 1, Some(0.5)), "{mapping:?}");
    let mapping = mapping_of(&segments(1), &after_four(&[read(10 * MS, 5), read(11 * MS, 6), read(12 * MS, 7)]));
    assert_eq!((mapping.mispredicted, mapping.hits, mapping.misses, mapping.hit_ratio), (2, 0, 0, None));
}

/// Four units of a flash page come with one read: a place that is off inside the page costs nothing.
#[test]
fn a_wrong_unit_of_the_right_page_costs_nothing() {
    let config = changed(segments(1), |c| {
        c.ftl.map_unit_bytes = Some(1024);
        c.buffer = protected_buffer(64 * 1024, 1_000);
    });
    let unit = |at: u64, unit: u64| Request { offset: 1024 * unit, length: 1024, ..write(at, 0) };
    let mut requests: Vec<Request> = FOUR.iter().map(|&page| unit(0, page)).collect();
    requests.push(Request { arrival_ns: 10 * MS, ..Request { offset: 5 * 1024, length: 1024, ..read(0, 0) } });
    let mapping = mapping_of(&config, &requests);
    assert_eq!((mapping.lines, mapping.mispredicted), (1, 0), "{mapping:?}");
}

/// The buffer programs a batch in the order of addresses.
#[test]
fn a_buffer_sorts_batches() {
    let config = changed(one_die(), |c| {
        c.buffer = protected_buffer(16 * PAGE, 1_000);
        c.buffer.sort_units = 4;
    });
    let mut simulation = simulation(&config);
    for (at, page) in (0..).zip([9, 3, 7, 1, 8, 2, 0]) {
        simulation.submit(write(at * 2_000, page)).unwrap();
    }
    simulation.run_until(20 * MS).unwrap();
    let ftl = simulation.storage().drives()[0].ftl();
    let places = [1, 3, 7, 9].map(|page| ftl.lookup(Lpn(page)).unwrap().0);
    assert!(places.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{places:?}");
    // The second batch is not complete.
    assert_eq!([0, 2, 8].map(|page| ftl.lookup(Lpn(page))), [None; 3]);
    let buffer = simulation.finish().unwrap().buffer.unwrap();
    assert_eq!((buffer.sorts, buffer.programs, buffer.held), (1, 4, 3));
}

#[test]
fn planted_defects_are_found() {
    let found = |config: &Config, requests: &[Request]| {
        let mut simulation = simulation(config);
        simulation.storage_mut().plant_in_map(PlantedInMap::KeepsOldModels);
        requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
        simulation.finish().expect_err("a planted defect").to_string()
    };
    let kept = found(&exact(1), &[write(0, 0), write(2 * MS, 8), read(5 * MS, 0)]);
    assert!(kept.contains("the model of the mapping table gives place Some(0) for unit 0"), "{kept}");
    let kept = found(&segments(1), &after_four(&[read(10 * MS, 5), write(11 * MS, 5), read(13 * MS, 5)]));
    assert!(kept.contains("gives unit 5 a place that is off by Some(0), and 1 is known"), "{kept}");
}

/// Some slope gives all places within the error, rounded to the nearest. Slopes are multiples of 2^-16 up to 1.
fn fits(points: &[(f64, f64)], error: f64) -> bool {
    let edge = |point: &(f64, f64), off: f64| (point.1 - points[0].1 + off) / (point.0 - points[0].0) * 65536.0;
    let low = points[1..].iter().map(|point| edge(point, -error - 0.5)).fold(0.0, f64::max);
    let high = points[1..].iter().map(|point| edge(point, error + 0.5) - 1e-6).fold(65536.0, f64::min);
    (low - 1e-6).ceil() <= high
}

/// Number of segments and their memory, by another way: slopes as fractions in floats, all pairs.
fn measured(ftl: &Ftl, error: f64) -> (u64, u64) {
    let geometry = ftl.geometry();
    let row = geometry.units_per_block.get() * geometry.pools.count.get();
    let (mut lines, mut bytes) = (0, 0);
    for group in 0..geometry.exported_units.div_ceil(256) {
        for of_row in 0..=geometry.units / row {
            let units = group * 256..((group + 1) * 256).min(geometry.exported_units);
            let place = |unit: u32| ftl.lookup(Lpn(unit)).map(|ppn| geometry.filled_content(ppn).0).filter(|place| place / row == of_row);
            let mut points: Vec<(f64, f64)> = units.filter_map(|unit| place(unit).map(|place| (unit.into(), place.into()))).collect();
            while !points.is_empty() {
                let count = (1..=points.len()).take_while(|&count| fits(&points[..count], error)).last().unwrap();
                let gaps: Vec<f64> = points[..count].windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
                let regular = gaps.iter().all(|gap| *gap == gaps[0]);
                (lines, bytes) = (lines + 1, bytes + if regular { 8 } else { 9 + count as u64 });
                points.drain(..count);
            }
        }
    }
    (lines, bytes)
}

#[test]
fn segments_are_those_of_another_way() {
    let (mut off, mut longest) = (0, 0);
    for seed in 0..60 {
        let mut rng = Rng::new(seed, "segments");
        let error = pick(&mut rng, &[0, 1, 4]);
        let config = changed(segments(error), |c| {
            (c.device.channels, c.device.blocks_per_plane, c.device.pages_per_block) =
                (pick(&mut rng, &[1, 2]), 16, pick(&mut rng, &[8, 16]));
            c.ftl.precondition.kind = pick(&mut rng, &[PreconditionKind::None, PreconditionKind::Fill]);
            c.buffer = protected_buffer(64 * PAGE, 1_000);
            c.buffer.sort_units = pick(&mut rng, &[0, 8, 32]);
            if rng.chance(0.5) {
                (c.ftl.allocation, c.ftl.reclaim_unit) = (Allocation::Dynamic, ReclaimUnit::Superblock);
            }
        });
        validate(&config).unwrap();
        let units = config.exported_bytes().unwrap() / PAGE;
        let mut simulation = simulation(&config);
        for at in 0..300 {
            let page = rng.below(units);
            let request = if rng.chance(0.3) { read(at * MS, page) } else { write(at * MS, page) };
            simulation.submit(request).unwrap();
        }
        simulation.run_until(400 * MS).unwrap();
        let expected = measured(simulation.storage().drives()[0].ftl(), error.into());
        let mapping = simulation.finish().unwrap().mapping.unwrap();
        assert_eq!((mapping.lines, mapping.model_bytes), expected, "seed {seed}, error {error}");
        (off, longest) = (off + mapping.mispredicted, longest.max(units / mapping.lines));
    }
    assert!(off > 50 && longest > 2, "{off} {longest}");
}

/// Uniform writes over a drive that was filled in order: reads that a model serves are those of units not written since.
#[test]
fn known_units_are_those_not_written_since() {
    let config = changed(exact(1), |c| c.ftl.map_cache_unit = MapCacheUnit::Entry);
    let mut rng = Rng::new(3, "known");
    let (mut requests, mut written, mut expected) = (Vec::new(), [false; 64], 0);
    for at in 0..60 {
        let page = rng.below(64);
        // Reads change nothing, and no page is collected: 256 places.
        if rng.chance(0.3) {
            written[page as usize] = true;
            requests.push(write(at * 5 * MS, page));
        } else {
            expected += u64::from(!written[page as usize]);
            requests.push(read(at * 5 * MS, page));
        }
    }
    let mapping = mapping_of(&config, &requests);
    // An entry in memory is a hit, also where the model knows the place.
    assert!(
        mapping.predicted <= expected && mapping.predicted + mapping.hits >= expected,
        "{} of {expected}, {mapping:?}",
        mapping.predicted
    );
    assert!(mapping.predicted > 15);
}

#[test]
fn what_contradicts_is_refused() {
    let says = |change: fn(&mut Config)| validate(&changed(exact(1), change)).expect_err("it is refused").to_string();
    assert!(says(|c| c.ftl.map_cache_bytes = 0).contains("set ftl.map_cache_bytes"));
    assert!(says(|c| c.ftl.map_models = MapModels::Segments).contains("set ftl.map_cache_bytes = 0, not 4096"));
    let sorted = |change: fn(&mut Config)| {
        let config = changed(one_die(), |c| {
            c.buffer = protected_buffer(16 * PAGE, 1_000);
            c.buffer.sort_units = 4;
        });
        validate(&changed(config, change)).expect_err("it is refused").to_string()
    };
    assert!(sorted(|c| c.buffer.sort_units = 17).contains("at most 16 units each"));
    assert!(sorted(|c| c.buffer.drain = Drain::Eager).contains("set buffer.drain = \"full\""));
}

/// The shares of reads that need a second flash read, on the same skewed writes: none with the whole table in memory.
#[test]
fn results_have_a_mapping_with_segments() {
    let result: RunResult =
        run(&ssdlab::simulation::Plan { requests: Some(500), ..plan(filled(segments(1))) }, &Control::default()).unwrap();
    let mapping = result.mapping.unwrap();
    assert!(mapping.lines > 0 && mapping.pages == 0 && mapping.capacity == 0, "{mapping:?}");
}
