//! Namespaces: where their addresses lie, against a slow and obvious model; that a namespace leaves the dies of others alone; and what is refused.

use crate::common::pages::{READ, WRITE, read, write};
use crate::common::{namespaces, one_die, pick, plan, random_config, simulation};
use crate::timelines::changed;
use ssdlab::config::*;
use ssdlab::geometry::Geometry;
use ssdlab::request::Request;
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Simulation};
use ssdlab::units::{DieId, Lpn, PoolId};

/// The dies of each namespace, found by walking over the drive.
fn dies(config: &Config) -> Vec<Vec<u32>> {
    let Device { channels, chips_per_channel, dies_per_chip, .. } = config.device;
    let die = |channel, chip, die| (channel * chips_per_channel + chip) * dies_per_chip + die;
    let mut order = Vec::new();
    match config.ftl.namespace_layout {
        NamespaceLayout::Channels => (0..channels)
            .for_each(|channel| (0..chips_per_channel).for_each(|chip| order.extend((0..dies_per_chip).map(|d| die(channel, chip, d))))),
        NamespaceLayout::Dies => (0..chips_per_channel)
            .for_each(|chip| (0..dies_per_chip).for_each(|d| order.extend((0..channels).map(|channel| die(channel, chip, d))))),
    }
    let mut rest = order.into_iter();
    config.ftl.namespaces.iter().map(|&count| rest.by_ref().take(count as usize).collect()).collect()
}

/// The pool of each logical page, written page after page: without namespaces the pools take turns in the order of the allocation; in a
/// namespace its own pools do so.
fn pools(config: &Config) -> Vec<u32> {
    let whole = Geometry::new(&changed(config.clone(), |c| c.ftl.namespaces.clear()));
    let (units, pools) = (whole.units_per_flash_page, whole.pools.count.get());
    let order: Vec<u32> = (0..pools).map(|page| whole.home(Lpn(page * units)).0.0).collect();
    let in_turn = |pools: &[u32], pages: u32| -> Vec<u32> {
        (0..pages).flat_map(|page| vec![pools[page as usize % pools.len()]; units as usize]).collect()
    };
    let mut found = Vec::new();
    for dies in dies(config) {
        let own: Vec<u32> = order.iter().copied().filter(|&pool| dies.contains(&whole.die_of_pool(PoolId(pool)).0)).collect();
        let share = u64::from(whole.exported_units / units) * dies.len() as u64 / u64::from(whole.dies);
        found.extend(in_turn(&own, share as u32));
    }
    found.extend(in_turn(&order, (whole.logical_units - whole.exported_units) / units));
    found
}

#[test]
fn addresses_lie_where_the_slow_model_puts_them() {
    let mut seen = 0;
    for case in 0..400 {
        let mut rng = Rng::new(case, "namespaces");
        let mut config = random_config(&mut rng);
        if rng.chance(0.3) {
            config.ftl.map_unit_bytes = Some(config.device.page_bytes / pick(&mut rng, &[1, 2, 4])).filter(|unit| unit % 512 == 0);
        }
        if rng.chance(0.3) {
            config.ftl.map_cache_bytes = 1 << 14;
        }
        namespaces(&mut rng, &mut config);
        if config.ftl.namespaces.is_empty() || validate(&config).is_err() {
            continue;
        }
        seen += 1;
        let geometry = Geometry::new(&config);
        let expected = pools(&config);
        assert_eq!(expected.len(), geometry.logical_units as usize, "case {case}");
        let mut filled = vec![0; geometry.pools.count.get() as usize];
        for (lpn, &pool) in expected.iter().enumerate() {
            let lpn = Lpn(lpn as u32);
            assert_eq!(geometry.home(lpn), (PoolId(pool), filled[pool as usize]), "case {case}, page {lpn}");
            assert_eq!(geometry.filled_content(geometry.filled_place(lpn)), lpn, "case {case}");
            filled[pool as usize] += 1;
            if (lpn.0 + 1).is_multiple_of(geometry.units_per_flash_page) {
                let fills = |pool: &usize| geometry.filled_units(PoolId(*pool as u32), lpn.0 + 1) == filled[*pool];
                assert_eq!((0..filled.len()).find(|pool| !fills(pool)), None, "case {case}, after page {lpn}");
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

/// Two dies on a channel each, 16 pages exported by each of them.
fn two_dies(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = changed(one_die(), |c| c.device.channels = 2);
    change(&mut config);
    config
}

/// When each request is complete.
fn ends(config: &Config, requests: &[Request]) -> Vec<u64> {
    let mut simulation = simulation(config);
    requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
    simulation.run_to_idle().unwrap();
    let mut completions = simulation.take_completions();
    completions.sort_by_key(|completion| completion.index);
    completions.iter().map(|completion| completion.completed_ns).collect()
}

/// Page 17 is written, then read while page 0 is being written. Striped over both dies, 0 is on the first and 17 on the second; with a
/// namespace for each die, too. Page 2 is on the first die without namespaces; with them page 16 is the first page of the second die.
#[test]
fn a_timeline_of_two_namespaces() {
    let striped = two_dies(|_| ());
    let apart = two_dies(|c| c.ftl.namespaces = vec![1, 1]);
    let requests = [write(0, 16), write(1_000_000, 0), write(1_000_000, 1), read(1_000_000, 16)];
    // Pages 0 and 1 go to two dies side by side. The read of 16, on the first die, waits for the program of page 0.
    assert_eq!(ends(&striped, &requests), [WRITE, 1_000_000 + WRITE, 1_000_000 + WRITE, 1_000_000 + WRITE + READ]);
    // Pages 0 and 1 go to the first die, one after the other: the data of the second come over the bus once its array is free. The read does not wait.
    assert_eq!(ends(&apart, &requests), [WRITE, 1_000_000 + WRITE, 1_000_000 + 2 * WRITE, 1_000_000 + READ]);
    // Named the other way round: one namespace over both dies is the drive without any.
    assert_eq!(ends(&two_dies(|c| c.ftl.namespaces = vec![2]), &requests), ends(&striped, &requests));
}

/// A namespace that is overwritten five times leaves the dies of the other alone: no operation, no erase, its data where they were. Its own
/// dies collect.
#[test]
fn garbage_collection_stays_in_its_namespace() {
    for layout in [NamespaceLayout::Channels, NamespaceLayout::Dies] {
        let config = two_dies(|c| {
            (c.device.chips_per_channel, c.ftl.namespaces, c.ftl.namespace_layout) = (2, vec![1, 3], layout);
            c.ftl.precondition.kind = PreconditionKind::Fill;
        });
        let mut simulation = simulation(&config);
        let geometry = simulation.ssd().ftl().geometry().clone();
        let own = |die: u32| geometry.namespace_of_pool(PoolId(die)) == Some(0);
        let of_first = (0..geometry.dies).filter(|&die| own(die)).count();
        assert_eq!((of_first, geometry.exported_units), (1, 64));
        (0..80).for_each(|number| _ = simulation.submit(write(number * 400_000, number * 7 % 16)).unwrap());
        simulation.run_to_idle().unwrap();
        let erases = |die| simulation.ssd().ftl().blocks().erases_in_pool(PoolId(die));
        let chip = |die| simulation.ssd().chip_busy_ns(geometry.chip_of_die(DieId(die)).0, simulation.now());
        for die in 0..geometry.dies {
            assert_eq!((erases(die) > 0, chip(die) > 0), (own(die), own(die)), "die {die} of {layout:?}");
        }
        let elsewhere = (16..64).map(Lpn).find(|&lpn| simulation.ssd().ftl().lookup(lpn) != Some(geometry.filled_place(lpn)));
        assert_eq!(elsewhere, None);
    }
}

/// Two flows, each in a namespace: all of a flow's requests lie in its namespace, and `part` is a part of that.
#[test]
fn flows_stay_in_their_namespaces() {
    let mut config = two_dies(|c| {
        (c.device.blocks_per_plane, c.device.pages_per_block, c.device.chips_per_channel) = (64, 64, 2);
        (c.ftl.namespaces, c.workload.namespace, c.workload.part) = (vec![1, 3], Some(1), (0.5, 1.0));
    });
    let second = [("name", "b".into()), ("namespace", 0.into()), ("request_kb", 4.into())];
    config.workload.flows = vec![second.map(|(key, value): (&str, serde_json::Value)| (key.to_string(), value)).into_iter().collect()];
    validate(&config).unwrap();
    let exported = Exported::of(&config).unwrap();
    let (all, quarter) = (exported.bytes, exported.bytes / 4);
    assert_eq!(exported.namespaces, [(0, quarter), (quarter, 3 * quarter)]);
    let mut flows = ssdlab::workload::Flows::open(&config.workload, exported, 1, Some(500), &Default::default()).unwrap();
    let (mut seen, open) = ([(u64::MAX, 0), (u64::MAX, 0)], flows.open.as_mut().unwrap());
    while let Some(request) = open.next_request().unwrap() {
        let (least, most) = &mut seen[usize::from(request.flow)];
        (*least, *most) = ((*least).min(request.offset), (*most).max(request.offset + request.length));
    }
    assert!(seen[0].0 >= quarter + 3 * quarter / 2 - 65_536 && seen[0].1 <= all, "{seen:?} of {all}");
    assert!(seen[1].1 <= quarter && seen[1].0 < quarter / 8, "{seen:?} of {all}");
}

#[test]
fn what_has_no_meaning_with_namespaces_is_refused() {
    type Change = fn(&mut Config);
    let base = || two_dies(|c| c.ftl.namespaces = vec![1, 1]);
    let cases: [(Change, &str); 7] = [
        (|c| c.ftl.namespaces = vec![1, 2], "ftl.namespaces = [1, 2]: are 3 dies, and the drive has 2"),
        (|c| c.ftl.allocation = Allocation::Dynamic, "chooses among all chips by load, not by address"),
        (|c| c.array.level = ArrayLevel::Rais0, "the addresses of an array are striped"),
        (|c| c.ftl.placement = Placement::Zones, "a zone has blocks of all dies"),
        (|c| (c.cache.policy, c.cache.group) = (CachePolicy::Fab, CacheGroup::Chip), "set it to \"contiguous\""),
        (|c| c.workload.namespace = Some(2), "workload.namespace = 2: expected 0 to 1, as ftl.namespaces has 2"),
        (|c| (c.workload.namespace, c.ftl.namespaces) = (Some(0), vec![]), "the drive has no namespaces; set ftl.namespaces"),
    ];
    validate(&base()).unwrap();
    for (change, expected) in cases {
        let error = validate(&changed(base(), change)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// A drive whose namespaces are prepared in part, run, saved and loaded has its data where it had them, and a drive of other namespaces
/// does not take them.
#[test]
fn states_are_of_one_set_of_namespaces() {
    let config = two_dies(|c| {
        (c.ftl.namespaces, c.ftl.precondition.kind) = (vec![1, 1], PreconditionKind::Fill);
    });
    let mut simulation = Simulation::new(&plan(config.clone()), &Control::default()).unwrap();
    (0..40).for_each(|number| _ = simulation.submit(write(number * 1_000_000, number * 5 % 32)).unwrap());
    simulation.run_to_idle().unwrap();
    let ftl = simulation.ssd().ftl();
    let mut saved = Vec::new();
    ftl.save(&config, &mut saved).unwrap();
    let again = ssdlab::ftl::Ftl::load(&config, saved.as_slice()).unwrap();
    assert_eq!((0..32).map(Lpn).find(|&lpn| again.lookup(lpn) != ftl.lookup(lpn)), None);
    let error = ssdlab::ftl::Ftl::load(&changed(config, |c| c.ftl.namespaces = vec![]), saved.as_slice()).unwrap_err();
    assert!(error.contains("ftl.namespaces"), "{error}");
}
