//! A policy of each kind: victims, evictions, the order of operations and data placement, in one run.

use ssdlab::cache::{CustomEviction, EvictionCandidate, EvictionPolicy, Failure};
use ssdlab::config::{CachePolicy, Config, Placement};
use ssdlab::ftl::{Class, CustomPlacement, PlacementPolicy, Placing, Source};
use ssdlab::gc::victim::{Candidates, CustomVictim, VictimPolicy};
use ssdlab::sched::{Choices, CustomOrder, OperationKind, OrderPolicy};
use ssdlab::simulation::{Control, Plan, run};
use ssdlab::units::BlockId;

/// Of the blocks with the fewest valid pages the one that was erased least.
struct LeastWorn;

impl VictimPolicy for LeastWorn {
    fn pick(&mut self, candidates: &Candidates<'_>) -> Result<Option<BlockId>, Failure> {
        let best = candidates.iter().min_by_key(|candidate| (candidate.valid_pages, candidate.erases));
        Ok(best.map(|candidate| candidate.block))
    }
}

/// The page with the highest number.
struct Last;

impl EvictionPolicy for Last {
    fn pick(&mut self, candidates: &[EvictionCandidate]) -> Result<Option<u32>, Failure> {
        Ok(candidates.iter().map(|candidate| candidate.page).max())
    }
}

/// Reads go first, then GC, then programs.
struct ProgramsLast;

impl OrderPolicy for ProgramsLast {
    fn pick(&mut self, choices: &Choices<'_>) -> Result<Option<usize>, Failure> {
        let rank = |index: &usize| match choices.operations[*index].kind {
            OperationKind::Read => 0,
            OperationKind::Move | OperationKind::Erase => 1,
            OperationKind::Program => 2,
        };
        Ok((0..choices.operations.len()).min_by_key(rank))
    }
}

/// The first quarter of the addresses, where a file system keeps its tables, apart from the rest.
struct FirstQuarter;

impl PlacementPolicy for FirstQuarter {
    fn place(&mut self, placing: &Placing<'_>) -> Result<Class, Failure> {
        Ok(match placing.source {
            Source::Host { is_new: true, .. } => 1,
            Source::Host { .. } | Source::Moved { .. } => Class::from(placing.page >= placing.sizes.pages / 4),
        })
    }
}

fn main() -> ssdlab::error::Result<()> {
    let mut config = Config::default();
    config.device.blocks_per_plane = 64;
    config.cache.policy = CachePolicy::Lru;
    config.cache.bytes = 64 * 4096;
    config.ftl.placement = Placement::Custom;
    config.workload.interarrival_us = 100.0;
    let plan = Plan {
        requests: Some(20_000),
        victim: Some(CustomVictim::new("least worn", "least worn, version 1", || LeastWorn)),
        eviction: Some(CustomEviction::new("last", "last, version 1", || Last)),
        order: Some(CustomOrder::new("programs last", "programs last, version 1", || ProgramsLast)),
        placement: Some(CustomPlacement::new("first quarter", "first quarter, version 1", || FirstQuarter)),
        ..Plan::new(config, 1)
    };
    let result = run(&plan, &Control::default())?;
    println!("{} jobs, write amplification {:?}", result.gc.jobs, result.gc.write_amplification);
    assert!(result.gc.jobs > 0 && result.counters["victim_fallbacks"] == 0);
    assert!(result.counters["order_choices"] > 0 && result.counters["order_fallbacks"] == 0);
    assert!(result.streams.iter().filter(|stream| stream.host_units > 0).count() == 2);
    let cache = result.cache.expect("there is a cache");
    assert!(cache.evictions > 0 && cache.policy_fallbacks == Some(0));
    Ok(())
}

#[test]
fn it_runs() {
    main().expect("a run");
}
