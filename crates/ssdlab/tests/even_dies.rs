//! Dynamic allocation: which of several chips, dies and planes that are free takes a write, and that none holds more than the others in the end.

use crate::common::cases::{Cases, Tally, is_full};
use crate::common::pages::{read, request, write};
use crate::common::{mapping_units, one_die, plan, random_config, simulation, superblocks};
use crate::timelines::changed;
use ssdlab::config::*;
use ssdlab::geometry::Geometry;
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify};
use ssdlab::ssd::Ssd;
use ssdlab::stats::RunResult;
use ssdlab::units::{DieId, Lpn, PoolId};

const MS: u64 = 1_000_000;

/// Pages that are written one after the other to a drive at rest, and then the pool that holds each of them.
fn pools(config: &Config, requests: impl IntoIterator<Item = Request>, pages: std::ops::Range<u32>) -> Vec<u32> {
    let mut simulation = simulation(config);
    requests.into_iter().for_each(|request| _ = simulation.submit(request).unwrap());
    simulation.run_to_idle().unwrap();
    let ftl = simulation.ssd().ftl();
    let pool = |page| ftl.geometry().pool_of_block(ftl.geometry().split_page(ftl.lookup(Lpn(page)).unwrap()).0);
    let found = pages.map(|page| pool(page).0).collect();
    simulation.finish().unwrap();
    found
}

fn dynamic(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = changed(one_die(), |c| c.ftl.allocation = Allocation::Dynamic);
    change(&mut config);
    config
}

#[test]
fn idle_chips_take_writes_in_turn_one_of_each_channel_first() {
    // Chips 0 and 1 are on the first channel, 2 and 3 on the second.
    let config = dynamic(|c| (c.device.channels, c.device.chips_per_channel) = (2, 2));
    assert_eq!(pools(&config, (0..9).map(|page| write(MS * page, page)), 0..9), [0, 2, 1, 3, 0, 2, 1, 3, 0]);
    // Page 1 is read on chip 2 when the sixth write comes: the turn passes on to the next chip without an operation.
    let requests = (0..5).map(|page| write(MS * page, page)).chain([read(5 * MS - 10_000, 1), write(5 * MS, 5), write(6 * MS, 6)]);
    assert_eq!(pools(&config, requests, 0..7), [0, 2, 1, 3, 0, 1, 3]);
}

#[test]
fn free_dies_of_a_chip_and_planes_of_a_die_take_writes_in_turn() {
    let config = dynamic(|c| (c.device.dies_per_chip, c.device.planes_per_die, c.ftl.pool) = (2, 2, PoolScope::Plane));
    // Pools 0 and 1 are the planes of the first die.
    assert_eq!(pools(&config, (0..6).map(|page| write(MS * page, page)), 0..6), [0, 2, 1, 3, 0, 2]);
    // A write that finds the die of its turn in use goes to the other, and the turn goes on from there.
    let requests = [write(0, 0), write(50_000, 1), write(MS, 2), read(2 * MS - 10_000, 1), write(2 * MS, 3), write(3 * MS, 4)];
    assert_eq!(pools(&config, requests, 0..5), [0, 2, 1, 0, 3]);
}

#[test]
fn of_equal_chips_that_with_the_fewest_valid_pages_goes_first_if_asked_for() {
    let config = |ties| dynamic(|c| (c.device.chips_per_channel, c.ftl.dynamic_ties) = (3, ties));
    // Pages 1 and 4 are on the second chip, and trimmed: it is two pages behind.
    let trims = [1, 4].map(|page| request(RequestKind::Trim, 6 * MS, page));
    let requests = || (0..6).map(|page| write(MS * page, page)).chain(trims).chain((6..10).map(|page| write(MS * (page + 1), page)));
    assert_eq!(pools(&config(DynamicTies::Valid), requests(), 6..10), [1, 1, 2, 0]);
    assert_eq!(pools(&config(DynamicTies::Turn), requests(), 6..10), [0, 1, 2, 0]);
}

/// While chip 0 always has a read, no write goes to it: the drive that comes out is uneven, and the result says so.
#[test]
fn a_result_says_that_dies_are_uneven() {
    let run = |reads: bool| -> RunResult {
        let config = dynamic(|c| {
            (c.device.channels, c.device.blocks_per_plane, c.device.pages_per_block) = (4, 30, 64);
            c.gc.soft = 2.0;
        });
        let exported = config.exported_bytes().unwrap() / 4096;
        let mut simulation = simulation(&config);
        for number in 0..3 * exported {
            let page = number * 7 % exported;
            let requests = [reads.then(|| read(MS * number, 0)), Some(write(MS * number + 10_000, page.max(1)))];
            requests.into_iter().flatten().for_each(|request| _ = simulation.submit(request).unwrap());
            if number == 0 {
                simulation.submit(write(500_000, 0)).unwrap();
            }
        }
        simulation.finish().unwrap()
    };
    let told = |result: &RunResult| result.remarks.iter().any(|remark| remark.code == "uneven-dies");
    assert!(told(&run(true)));
    assert!(!told(&run(false)));
}

/// By die: units that hold data.
fn valid(ssd: &Ssd) -> Vec<f64> {
    let geometry = ssd.ftl().geometry();
    let pools = |die| geometry.pools_of_die(DieId(die)).map(PoolId);
    (0..geometry.dies).map(|die| pools(die).map(|pool| f64::from(ssd.ftl().blocks().valid_in_pool(pool))).sum()).collect()
}

/// A drawn drive, large enough that chance does not hide what a rule does, under uniform writes at a drawn load.
fn drawn(case: u64) -> (Config, Vec<Request>) {
    let mut rng = Rng::new(case, "even dies");
    let mut config = random_config(&mut rng);
    mapping_units(&rng, &mut config);
    superblocks(&mut rng, &mut config);
    let spare = f64::from(config.device.blocks_per_plane) * config.device.overprovisioning;
    (config.device.blocks_per_plane, config.device.pages_per_block) = (40, 16);
    config.device.overprovisioning = (1.5 * spare / 40.0).max(0.3);
    let geometry = Geometry::new(&config);
    let (unit, exported) = (u64::from(geometry.unit_bytes), u64::from(geometry.exported_units));
    // From a request at a time to more than the drive can do.
    let gap = (config.device.program_ns as f64 * [4.0, 1.0, 0.3, 0.05][rng.below(4) as usize]) as u64;
    let write = |number| Request { offset: unit * rng.below(exported), length: unit, ..write(gap * number, 0) };
    let requests = (0..3 * exported).map(write).collect();
    (config, requests)
}

/// Under uniform writes dies fill alike, for every allocation, scheme and load.
#[test]
fn under_uniform_writes_dies_fill_alike() {
    let check = |case: u64| -> Result<Tally, String> {
        let (config, requests) = drawn(case);
        let plan = Plan { verify: Verify::End, ..plan(config.clone()) };
        let mut simulation = Simulation::new(&plan, &Control::default()).map_err(|e| e.to_string())?;
        requests.into_iter().try_for_each(|request| simulation.submit(request).map(|_| ())).map_err(|e| e.to_string())?;
        simulation.run_to_idle().map_err(|e| e.to_string())?;
        let dies = valid(simulation.ssd());
        let mean = dies.iter().sum::<f64>() / dies.len() as f64;
        let together = f64::from(simulation.ssd().ftl().geometry().units_per_program);
        let off = dies.iter().map(|units| (units - mean).abs()).fold(0.0, f64::max);
        // A die's units fall to it by chance, `together` at a time.
        if off > 5.0 * (mean * together).sqrt() {
            return Err(format!("dies hold {dies:?} units: {off:.0} off a mean of {mean:.0}\n{config:#?}"));
        }
        let many = dies.len() > 1;
        let kinds = [("dynamic", config.ftl.allocation == Allocation::Dynamic), ("several pools", config.pools_per_group() > 1)];
        Ok(kinds.map(|(name, has)| (name.to_string(), u64::from(has && many))).into())
    };
    let tally = Cases::asked_for(240).run(check).unwrap_or_else(|failure| panic!("case {}: {}", failure.case, failure.reason));
    println!("{tally:?}");
    assert!(tally["dynamic"] > 60 && tally["several pools"] > 20 || !is_full(), "{tally:?}");
}

/// Where the jobs of a chip exclude its dies, writes wait for them together: each time another die takes the first.
#[test]
fn dies_that_come_free_together_fill_alike() {
    let mut config = Layers { schemes: vec!["dynalloc".into()], ..Layers::default() }.build().expect("a preset");
    (config.device.channels, config.device.chips_per_channel, config.device.dies_per_chip, config.device.planes_per_die) = (1, 1, 4, 1);
    (config.device.blocks_per_plane, config.device.pages_per_block, config.device.overprovisioning) = (40, 32, 0.2);
    (config.ftl.allocation, config.ftl.precondition.kind) = (Allocation::Dynamic, PreconditionKind::Fill);
    (config.gc.scope, config.gc.soft) = (Scope::Chip, 2.0);
    let page = u64::from(config.device.page_bytes);
    let exported = config.exported_bytes().unwrap() / page;
    let mut rng = Rng::new(3, "writes");
    let plan = Plan { verify: Verify::End, ..plan(config) };
    let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
    for number in 0..6 * exported {
        simulation.submit(Request { offset: page * rng.below(exported), length: page, ..write(2 * MS * number, 0) }).unwrap();
        simulation.run_until(2 * MS * number).unwrap();
    }
    simulation.run_to_idle().unwrap();
    let dies = valid(simulation.ssd());
    let mean = dies.iter().sum::<f64>() / dies.len() as f64;
    assert!(dies.iter().all(|units| (units - mean).abs() < 3.0 * mean.sqrt()), "{dies:?}");
    simulation.finish().unwrap();
}
