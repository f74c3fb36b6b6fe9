//! The timed end of preparations, drives prepared by a trace, and states saved after runs.

use std::path::{Path, PathBuf};

use ssdlab::config::{Config, PreconditionKind, Priority, Scope, Workload};
use ssdlab::simulation::{Control, Plan, Verify, WarmUp, precondition, run};
use ssdlab::stats::RunResult;

/// A drive of 4 pools of 64 blocks, of which collection without time keeps 8 free, and which writes outpace.
fn config() -> Config {
    let mut config = Config::default();
    config.device.blocks_per_plane = 64;
    config.device.pages_per_block = 32;
    config.device.overprovisioning = 0.25;
    config.gc.soft = 8.0;
    config.gc.scope = Scope::None;
    config.gc.priority = Priority::Host;
    config.ftl.precondition.kind = PreconditionKind::Steady;
    config.workload.request_kb = 4.0;
    config.workload.align_kb = 4.0;
    config.workload.read_share = 0.0;
    config.workload.sequential_share = 0.0;
    config.workload.queue_depth = 32;
    config
}

/// Pages that the drive exports: three quarters of 4 x 64 x 32.
const EXPORTED: u64 = 6144;

fn settled() -> Config {
    let mut config = config();
    config.ftl.precondition.settle = 20.0;
    config
}

fn plan(config: Config) -> Plan {
    Plan { verify: Verify::End, ..Plan::new(config, 1) }
}

fn result_of(plan: &Plan) -> RunResult {
    run(plan, &Control::default()).expect("a run")
}

fn result(config: Config, requests: u64) -> RunResult {
    result_of(&Plan { requests: Some(requests), ..plan(config) })
}

fn amplification(result: &RunResult) -> f64 {
    result.gc.write_amplification.expect("writes")
}

/// What any beginning comes to: the last ten drive writes of twenty.
fn long_run() -> f64 {
    let (whole, warm_up) = (Some(20 * EXPORTED), Some(WarmUp::Requests(10 * EXPORTED)));
    amplification(&result_of(&Plan { requests: whole, warm_up, ..plan(config()) }))
}

#[test]
fn a_short_run_on_a_settled_drive_has_the_amplification_of_a_long_one() {
    let long = long_run();
    let short = |config| amplification(&result(config, EXPORTED / 2));
    let (before, after) = (short(config()), short(settled()));
    // Windows of 768 writes differ by some per cent by chance, which hides what is left of the drift.
    let (off, off_without) = ((after / long - 1.0).abs(), (before / long - 1.0).abs());
    assert!(off < 0.05 && off < off_without, "settled {after}, without time {before}, long {long}");
}

/// A run begins with no job under way, which shows in its write amplification the more, the shorter it is.
#[test]
fn a_short_run_on_a_settled_drive_says_where_its_beginning_shows() {
    let told = |requests| {
        let result = result(settled(), requests);
        let settled = result.precondition.as_ref().and_then(|report| report.settled_write_amplification).expect("it settled");
        let found = result.remarks.iter().find(|remark| remark.code == "not-settled").map(|remark| remark.sentence.clone());
        (result.gc.page_write_amplification.expect("writes") / settled - 1.0, found)
    };
    let (far, sentence) = told(200);
    assert!(far.abs() > 0.02 && sentence.as_deref().is_some_and(|said| said.contains("had settled at")), "{far} {sentence:?}");
    for requests in [400, 800, 1_600, 3_200] {
        let (far, sentence) = told(requests);
        assert!(sentence.is_some() || far.abs() < 0.02, "{far} after {requests}");
    }
}

#[test]
fn the_report_says_what_the_timed_end_did() {
    let report = result(settled(), 100).precondition.expect("a report");
    assert_eq!(report.settled, Some(true));
    let (writes, requests) = (report.timed_drive_writes.unwrap(), report.timed_requests.unwrap());
    // The rule needs a whole drive write, and requests have a page each.
    assert!((1.0..20.0).contains(&writes) && requests == (writes * EXPORTED as f64).round() as u64, "{writes} {requests}");
    assert!((report.settled_write_amplification.unwrap() / long_run() - 1.0).abs() < 0.05);
    let untimed = result(config(), 100).precondition.expect("a report");
    assert_eq!((untimed.settled, untimed.timed_requests, untimed.timed_drive_writes), (None, None, None));
}

/// 200 writes take 10 ms and more of the run, and bring 800 KiB: neither end cuts the preparation short.
#[test]
fn ends_of_the_run_do_not_end_it() {
    let prepared = |config: Config| {
        let result = result_of(&Plan { requests: Some(200), ..plan(config) });
        let report = result.precondition.expect("it was prepared");
        (report.timed_requests, report.settled, report.timed_drive_writes)
    };
    let expected = prepared(settled());
    assert_eq!(expected.1, Some(true));
    for end in [|workload: &mut Workload| workload.run_s = 0.001, |workload: &mut Workload| workload.total_bytes = 8_192] {
        let mut config = settled();
        end(&mut config.workload);
        assert_eq!(prepared(config), expected);
    }
    let flows = |keys: &str| {
        let mut workload = Workload { run_s: 0.001, ..settled().workload };
        workload.flows = vec![serde_json::from_str(keys).unwrap()];
        workload
    };
    let together = flows(r#"{"name": "b", "run_s": 0.001}"#).without_ends();
    assert!(together.run_s == 0.0 && !together.flows[0].contains_key("run_s"));
    // A flow that ends or starts at another time has another share of the requests without its end.
    for keys in [r#"{"name": "b"}"#, r#"{"name": "b", "run_s": 0.001, "start_s": 1}"#, r#"{"name": "b", "run_s": 0.001, "stage": 1}"#] {
        assert_eq!(flows(keys).without_ends(), flows(keys));
    }
}

#[test]
fn a_limit_ends_it_unsettled() {
    let mut config = settled();
    config.ftl.precondition.settle = 0.5;
    let report = result(config, 100).precondition.expect("a report");
    assert_eq!(report.settled, Some(false));
    assert!((0.4..0.6).contains(&report.timed_drive_writes.unwrap()), "{report:?}");
    let mut reads = settled();
    reads.workload.read_share = 1.0;
    let report = result(reads, 100).precondition.expect("a report");
    assert_eq!((report.settled, report.timed_drive_writes), (None, Some(0.0)), "nothing is written");
}

#[test]
fn an_overload_ends_it() {
    let mut config = settled();
    config.workload.queue_depth = 0;
    config.workload.interarrival_us = 1.0;
    let result = result(config, 100);
    assert_eq!(result.precondition.expect("a report").settled, Some(false));
    assert_eq!(result.requests.write, 100, "the run is short enough");
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("settling-{name}"))
}

#[test]
fn a_run_from_a_state_is_that_of_the_drive_settled_for_it() {
    let state = file("prepared");
    let plan = Plan { requests: Some(2000), ..plan(settled()) };
    precondition(&plan, &state, &Control::default()).expect("a state");
    let from_state = Plan { state: Some(state), ..plan.clone() };
    assert_eq!(result_of(&from_state).digest, result_of(&plan).digest);
}

/// Requests come faster than the drive serves them, also those that prepare it: the message says which they were.
#[test]
fn an_overload_names_the_preparation_that_it_ends() {
    let refused = |mut config: Config| {
        (config.workload.queue_depth, config.workload.interarrival_us, config.workload.max_outstanding) = (0, 1.0, 1000);
        run(&Plan { requests: Some(20_000), ..plan(config) }, &Control::default()).expect_err("an overload").to_string()
    };
    let [prepared, ran] = [settled(), config()].map(refused);
    assert!(ran.starts_with("the drive is overloaded"), "{ran}");
    assert!(
        prepared.starts_with("in the preparation of the drive, before the run (ftl.precondition.settle): the drive is overl"),
        "{prepared}"
    );
}

#[test]
fn the_state_after_a_run_is_where_the_next_begins() {
    let state = file("after");
    let mut empty = config();
    empty.ftl.precondition.kind = PreconditionKind::None;
    let first = Plan { requests: Some(500), save_state: Some(state.clone()), ..plan(empty.clone()) };
    let without = Plan { save_state: None, ..first.clone() };
    let result = result_of(&first);
    assert_eq!(result.digest, result_of(&without).digest, "saving is no part of the run");
    let next = result_of(&Plan { requests: Some(100), state: Some(state), ..plan(empty) });
    let report = next.precondition.expect("a report");
    assert_eq!(report.kind, "state");
    // 500 writes of a page each: as many pages hold data as were written at least once.
    assert!((400..=500).contains(&report.pages_mapped), "{}", report.pages_mapped);
}

#[test]
fn a_state_is_saved_of_a_single_drive_only() {
    let mut config = config();
    config.array.level = ssdlab::config::ArrayLevel::Rais0;
    config.array.drives = 2;
    let plan = Plan { requests: Some(100), save_state: Some(file("array")), ..plan(config) };
    let error = run(&plan, &Control::default()).expect_err("an array").to_string();
    assert!(error.contains("a saved state is that of one drive"), "{error}");
}

#[test]
fn a_trace_is_simulated_so_many_times_before_the_run() {
    let trace = file("trace.csv");
    let rows: String = (0..300).map(|row| format!("{},W,{},4096\n", row * 1000, row * 4096)).collect();
    std::fs::write(&trace, format!("timestamp_us,op,offset_bytes,size_bytes\n{rows}")).unwrap();
    let prepared = |rounds: u32| {
        let mut config = config();
        config.ftl.precondition.kind = PreconditionKind::Trace;
        config.ftl.precondition.rounds = rounds;
        config.workload.trace = Some(trace.display().to_string());
        config.workload.queue_depth = 0;
        result_of(&plan(config))
    };
    let (once, thrice) = (prepared(1), prepared(3));
    let report = thrice.precondition.as_ref().expect("a report");
    assert_eq!((once.requests.write, thrice.requests.write), (300, 300));
    assert_eq!((report.timed_requests, report.timed_drive_writes), (Some(900), Some(900.0 / EXPORTED as f64)));
    assert_eq!(report.pages_mapped, EXPORTED, "it was filled before");
    assert_eq!(report.kind, "trace");
}
