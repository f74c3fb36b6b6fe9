//! A victim policy of one's own, beside the greedy one: of the blocks with nearly the fewest valid pages the one erased least often.

use ssdlab::config::Layers;
use ssdlab::error::Result;
use ssdlab::gc::victim::{Candidates, CustomVictim, Failure, VictimPolicy};
use ssdlab::simulation::{Control, Plan, run};
use ssdlab::stats::RunResult;
use ssdlab::units::BlockId;

/// Blocks with up to this many more valid pages than the emptiest are as good as it.
const TOLERANCE: u32 = 2;

struct EvenWear;

impl VictimPolicy for EvenWear {
    fn pick(&mut self, candidates: &Candidates<'_>) -> std::result::Result<Option<BlockId>, Failure> {
        // Candidates are sorted by valid pages, fewest first.
        let Some(emptiest) = candidates.iter().next() else { return Ok(None) };
        let near = candidates.iter().take_while(|candidate| candidate.valid_pages <= emptiest.valid_pages + TOLERANCE);
        Ok(near.min_by_key(|candidate| (candidate.erases, candidate.valid_pages)).map(|candidate| candidate.block))
    }
}

/// Writes at random, with one policy or the other.
fn simulate(victim: Option<CustomVictim>) -> Result<RunResult> {
    // The layers of a configuration: presets, a file, single keys.
    let set = [("device.blocks_per_plane", "64"), ("ftl.precondition.kind", "steady"), ("workload.read_share", "0.2")];
    let set = set.map(|(key, value)| (key.to_string(), value.to_string())).to_vec();
    let config = Layers { schemes: vec!["pgc".to_string()], set, ..Layers::default() }.build()?;
    run(&Plan { requests: Some(50_000), victim, ..Plan::new(config, 1) }, &Control::default())
}

fn main() -> Result<()> {
    let greedy = simulate(None)?;
    // The source of the policy goes into the result, as a hash: results of two versions are not taken for one.
    let even = simulate(Some(CustomVictim::new("even wear", include_str!("own_victim.rs"), || EvenWear)))?;
    for (name, result) in [("greedy", &greedy), ("even wear", &even)] {
        let (gc, wear) = (&result.gc, result.wear.as_ref().expect("the drive has blocks"));
        let amplification = gc.write_amplification.expect("the host wrote");
        println!(
            "{name:<10} {} jobs, write amplification {amplification:.3}, erases of a block {:.2} ± {:.2}",
            gc.jobs, wear.mean, wear.std
        );
    }
    assert!(even.gc.jobs > 0 && even.counters["victim_fallbacks"] == 0);
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
