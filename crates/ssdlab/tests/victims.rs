//! Victim policies of the user's own, through whole runs: preconditioning included.

use crate::common;
use ssdlab::config::{Config, PreconditionKind};
use ssdlab::error::Error;
use ssdlab::gc::victim::{Candidates, CustomVictim, Failure, VictimPolicy};
use ssdlab::simulation::{Control, Plan, Verify, run};
use ssdlab::stats::RunResult;
use ssdlab::units::BlockId;

/// A policy made of a function.
#[derive(Clone)]
struct By(fn(&Candidates<'_>) -> Result<Option<BlockId>, Failure>);

impl VictimPolicy for By {
    fn pick(&mut self, candidates: &Candidates<'_>) -> Result<Option<BlockId>, Failure> {
        (self.0)(candidates)
    }
}

/// A drive on which both preconditioning and the run collect.
fn config() -> Config {
    let mut config = Config::default();
    config.device.channels = 2;
    config.device.blocks_per_plane = 32;
    config.device.pages_per_block = 16;
    config.device.overprovisioning = 0.25;
    config.gc.soft = 2.0;
    config.ftl.precondition.kind = PreconditionKind::Steady;
    config.workload.read_share = 0.3;
    config.workload.interarrival_us = 2000.0;
    config
}

fn plan(policy: Option<By>) -> Plan {
    let victim = policy.map(|policy| CustomVictim::new("ours", "version 1", move || policy.clone()));
    Plan { requests: Some(3000), verify: Verify::End, victim, ..common::plan(config()) }
}

fn result(policy: By) -> RunResult {
    run(&plan(Some(policy)), &Control::default()).expect("a run")
}

#[test]
fn greedy_written_outside_is_the_built_in_greedy() {
    let built_in = run(&plan(None), &Control::default()).expect("a run");
    let ours = result(By(|candidates| Ok(candidates.iter().min_by_key(|candidate| candidate.valid_pages).map(|best| best.block))));
    assert!(built_in.gc.jobs > 100 && built_in.precondition.as_ref().is_some_and(|report| report.pages_overwritten > 0));
    assert_eq!(ours.digest, built_in.digest);
    assert_eq!((&ours.precondition, &ours.wear), (&built_in.precondition, &built_in.wear));
    assert_eq!(ours.counters["victim_fallbacks"], 0);
}

#[test]
fn the_result_says_whose_policy_it_was() {
    let ours = result(By(|_| Ok(None)));
    assert_eq!(ours.config["gc"]["victim"], "custom");
    assert_eq!(ours.gc.victim_source, Some(blake3::hash(b"version 1").to_hex().to_string()));
    let built_in = run(&plan(None), &Control::default()).expect("a run");
    assert_eq!((&built_in.config["gc"]["victim"], built_in.gc.victim_source), (&"greedy".into(), None));
}

#[test]
fn a_policy_that_chooses_otherwise_is_felt_in_preconditioning_too() {
    let oldest = result(By(|candidates| Ok(candidates.iter().max_by_key(|candidate| candidate.age).map(|best| best.block))));
    let greedy = run(&plan(None), &Control::default()).expect("a run");
    assert_ne!(oldest.digest, greedy.digest);
    assert_ne!(oldest.precondition, greedy.precondition);
    assert_eq!(oldest.counters["victim_fallbacks"], 0);
}

#[test]
fn a_policy_that_never_chooses_well_neither_hangs_nor_goes_uncounted() {
    let greedy = run(&plan(None), &Control::default()).expect("a run");
    let none = result(By(|_| Ok(None)));
    assert_eq!((&none.digest, none.counters["victim_fallbacks"]), (&greedy.digest, greedy.gc.jobs));
    let first = result(By(|_| Ok(Some(BlockId(0)))));
    assert!(first.counters["victim_fallbacks"] > first.gc.jobs / 2, "{:?}", first.counters);
}

#[test]
fn a_policy_that_fails_ends_the_run_with_its_reason() {
    let fails = By(|_| Err("out of ideas".into()));
    for kind in [PreconditionKind::Fill, PreconditionKind::Steady] {
        let mut plan = plan(Some(fails.clone()));
        plan.config.ftl.precondition.kind = kind;
        let error = run(&plan, &Control::default()).expect_err("a failing policy");
        assert!(matches!(error, Error::Policy { .. }), "{kind:?}: {error}");
        assert_eq!((error.to_string().as_str(), error.exit_code()), ("victim policy ours: out of ideas", 1));
    }
}
