//! Remarks of a run: said where a number holds only under a condition, and only there.

use crate::common::one_die;
use crate::common::pages::write;
use serde_json::json;
use ssdlab::config::{Arrival, Config, Layers, PreconditionKind, SizeDistribution};
use ssdlab::remark::{Remark, Severity};
use ssdlab::request::{Request, RequestKind};
use ssdlab::simulation::{Control, Plan, Simulation, WarmUp, run};
use ssdlab::stats::{RunResult, remarks_of_result};

fn result(config: &Config, requests: u64, warm_up: Option<WarmUp>) -> RunResult {
    let plan = Plan { requests: Some(requests), warm_up, ..Plan::new(config.clone(), 1) };
    run(&plan, &Control::default()).expect("it can be run")
}

fn remark(result: &RunResult, code: &str) -> Option<Remark> {
    result.remarks.iter().find(|remark| remark.code == code).cloned()
}

fn has(result: &RunResult, code: &str) -> bool {
    remark(result, code).is_some()
}

/// One die that holds data, read a page at a time: each read takes 25 us in the array and 102.4 us on the bus, so that it is M/D/1.
fn single_server(load: f64) -> Config {
    let mut config = one_die();
    config.device.blocks_per_plane = 64;
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config.workload.read_share = 1.0;
    config.workload.request_size = SizeDistribution::Fixed;
    config.workload.request_kb = 4.0;
    config.workload.interarrival_us = 127.4 / load;
    config
}

#[test]
fn an_open_loop_above_the_capacity_is_overloaded_and_one_below_is_not() {
    for arrival in [Arrival::Exponential, Arrival::Fixed] {
        let of = |load: f64, queue_depth: u32| {
            let mut config = single_server(load);
            (config.workload.arrival, config.workload.queue_depth) = (arrival, queue_depth);
            result(&config, 10_000, None)
        };
        assert!(!has(&of(0.9, 0), "overloaded"), "{arrival:?}");
        assert!(!has(&of(1.1, 16), "overloaded"), "a closed loop waits for the drive");
        let found = remark(&of(1.1, 0), "overloaded").expect("it is overloaded");
        assert_eq!((found.severity, found.about.as_str()), (Severity::Warning, "latency_ns"));
    }
}

#[test]
fn presets_of_drives_that_suspend_under_schemes_of_preemptible_gc() {
    let layers = |scheme: &str| Layers { device: Some("nvme-4g".into()), schemes: vec![scheme.into()], ..Layers::default() };
    let count = |scheme, written: &[&str]| {
        let written: Vec<_> = written.iter().map(|key| (*key).to_string()).collect();
        layers(scheme).build().expect("they go together").remarks(&written).len()
    };
    assert_eq!(["nvme", "pgc", "fpgc"].map(|scheme| count(scheme, &[])), [0, 0, 0]);
    assert_eq!(["nvme", "pgc", "fpgc"].map(|scheme| count(scheme, &["scheduler.suspend"])), [0, 1, 0]);
}

/// Ten bursts of 40 reads, one every 50 ms, which a burst takes 5.1 ms of: a read meets 19.5 others and takes 20.5 x 127.4 us = 2.61 ms, so that
/// 400 x 2.61 ms / 455 ms = 2.3 are outstanding on average. Those of a Poisson process meet as many as are outstanding, also where that is more
/// than two a die.
#[test]
fn requests_that_wait_for_those_of_their_burst_are_said() {
    let config = single_server(0.9);
    let mut simulation = Simulation::new(&Plan::new(config.clone(), 1), &Control::default()).unwrap();
    for index in 0..400 {
        let read = Request { kind: RequestKind::Read, ..write(index / 40 * 50_000_000, index % 40) };
        simulation.submit(read).unwrap();
    }
    let found = remark(&simulation.finish().unwrap(), "bursts").expect("they come in bursts");
    assert!(found.sentence.starts_with("Requests come in bursts: one meets 20 others, 2.3 are outstanding"), "{}", found.sentence);
    let even = result(&config, 10_000, None);
    assert!(!has(&even, "bursts") && even.latency_ns.read.unwrap().mean > 3.0 * 127_400.0, "{:?}", even.remarks);
}

/// A growing queue is reported wherever the measured part begins, and whatever closed loops send afterwards.
#[test]
fn neither_a_warm_up_nor_a_closed_loop_hides_an_overload() {
    let config = single_server(1.1);
    for left_out in [2_000, 5_000, 8_000] {
        assert!(has(&result(&config, 10_000, Some(WarmUp::Requests(left_out))), "overloaded"), "after {left_out}");
    }
    let mut beside = config;
    let closed = json!([{"name": "b", "queue_depth": 4, "read_share": 1}]);
    beside.workload.flows = serde_json::from_value(closed).expect("a flow");
    assert!(has(&result(&beside, 10_000, None), "overloaded"));
}

/// The mean of M/D/1 at a load of 0.9, by Pollaczek and Khinchine: 127.4 us x (1 + 0.9 / (2 x 0.1)) = 700.7 us. So the drive above is one.
#[test]
fn the_drive_of_the_test_is_a_single_server() {
    let mean = result(&single_server(0.9), 400_000, None).latency_ns.read.expect("reads").mean;
    assert!((mean / 700_700.0 - 1.0).abs() < 0.05, "{mean}");
}

#[test]
fn a_run_that_is_measured_after_the_rush_is_not_overloaded() {
    let mut simulation =
        Simulation::new(&Plan { warm_up: Some(WarmUp::Time(1_000_000_000)), ..Plan::new(single_server(1.0), 1) }, &Control::default())
            .unwrap();
    let read = |arrival_ns| Request { arrival_ns, kind: RequestKind::Read, ..write(0, 0) };
    let rush = (0..1_000).map(|index| index * 100_000);
    for arrival_ns in rush.chain((0..1_000).map(|index| 1_000_000_000 + index * 1_000_000)) {
        simulation.submit(read(arrival_ns)).unwrap();
    }
    assert!(!has(&simulation.finish().unwrap(), "overloaded"));
}

/// A drive of 64 blocks of 16 pages, of which 3/4 are exported, written at random.
fn collecting(kind: PreconditionKind) -> Config {
    let mut config = single_server(0.1);
    config.device.pages_per_block = 16;
    config.device.overprovisioning = 0.25;
    config.ftl.precondition.kind = kind;
    config.workload.read_share = 0.0;
    config.workload.queue_depth = 1;
    config
}

const DRIVE_WRITE: u64 = 64 * 16 * 3 / 4;

#[test]
fn a_beginning_without_collection_makes_write_amplification_drift() {
    let found = remark(&result(&collecting(PreconditionKind::None), 3 * DRIVE_WRITE / 2, None), "not-settled").expect("it drifts");
    assert!(found.sentence.contains("has not settled"), "{}", found.sentence);
    assert_eq!((found.severity, found.about.as_str()), (Severity::Warning, "gc"));
}

#[test]
fn write_amplification_settles_after_many_drive_writes_but_the_whole_run_has_its_beginning_in_it() {
    let config = collecting(PreconditionKind::None);
    let whole = result(&config, 12 * DRIVE_WRITE, None);
    let settled = result(&config, 30 * DRIVE_WRITE, Some(WarmUp::Requests(8 * DRIVE_WRITE)));
    // The first 1.3 drive writes need no collection: 12 of them have (1.3 + 10.7 W) / 12, for W = 2 later on 5 % less than W.
    assert!(remark(&whole, "not-settled").is_some_and(|found| found.sentence.contains("beginning")), "{:?}", whole.remarks);
    assert!(!has(&settled, "not-settled"), "{:?}", settled.remarks);
}

#[test]
fn moves_for_age_and_reads_are_said_where_they_are_most_and_matter() {
    let said = |[all, old, read]: [u64; 3], written: u64| {
        let counters = json!({ "refresh_moves": old, "reclaim_moves": read });
        let config = json!({ "errors": { "refresh_days": 30.0, "reclaim_reads": 50_000 } });
        let result = json!({ "gc": { "pages_moved": all }, "counters": counters, "flash": { "host_programs": written }, "config": config });
        remarks_of_result(&result).into_iter().find(|remark| remark.code == "refresh-moves").map(|remark| remark.sentence)
    };
    assert!(
        said([100, 40, 11], 1_020)
            .unwrap()
            .starts_with("51 % of 100 page moves were for the age or the reads of data (errors.refresh_days = 30.0)")
    );
    assert!(
        said([90, 0, 60], 0)
            .unwrap()
            .starts_with("66 % of 90 page moves were for the age or the reads of data (errors.reclaim_reads = 50000)")
    );
    assert_eq!([said([100, 40, 10], 0), said([100, 51, 0], 1_021), said([0, 0, 0], 5)], [None, None, None]);
    assert!(!has(&result(&collecting(PreconditionKind::Steady), 2 * DRIVE_WRITE, None), "refresh-moves"), "GC moved for space");
}

#[test]
fn a_run_shorter_than_a_drive_write_says_how_short_it_is() {
    let found = remark(&result(&collecting(PreconditionKind::Steady), DRIVE_WRITE / 4, None), "not-settled");
    let said = found.expect("it cannot be told").sentence;
    assert!(said.contains("wrote 25 % of the drive") || said.contains("has not settled"), "{said}");
}

#[test]
fn collection_that_is_chosen_and_does_not_run_is_noted() {
    let chosen = collecting(PreconditionKind::None);
    assert!(has(&result(&chosen, DRIVE_WRITE / 4, None), "no-collection"));
    assert!(!has(&result(&chosen, 2 * DRIVE_WRITE, None), "no-collection"));
    let mut default = chosen.clone();
    default.gc = Config::default().gc;
    assert!(!has(&result(&default, DRIVE_WRITE / 4, None), "no-collection"), "nobody asked for any");
}

/// The size in a remedy, in bytes: `Write more: about 3.25 MiB from the start, ...`.
fn size_in(remedy: &str) -> u64 {
    let words: Vec<&str> = remedy.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "about").unwrap_or_else(|| panic!("no size: {remedy}"));
    let unit = if words[at + 2] == "MiB" { 1 << 20 } else { 1 << 10 };
    (words[at + 1].parse::<f64>().expect("a number") * f64::from(unit)) as u64
}

/// A run that writes as much as the remedy says has collected, whatever the preparation.
#[test]
fn writing_as_much_as_the_remedy_says_makes_gc_run() {
    for kind in [PreconditionKind::None, PreconditionKind::Fill] {
        let config = collecting(kind);
        let found = remark(&result(&config, 8, None), "no-collection").unwrap_or_else(|| panic!("{kind:?} collects at once"));
        assert!(found.remedy.contains("or prepare the drive"), "{}", found.remedy);
        let requests = size_in(&found.remedy).div_ceil(4096);
        assert!(!has(&result(&config, requests, None), "no-collection"), "{kind:?}, {requests} requests: {}", found.remedy);
        assert!(has(&result(&config, requests / 2, None), "no-collection"), "{kind:?}, half of {requests} requests: {}", found.remedy);
    }
}

#[test]
fn a_drive_that_is_prepared_is_to_be_written_more_or_to_be_smaller() {
    let mut saved = serde_json::to_value(result(&collecting(PreconditionKind::Fill), 8, None)).unwrap();
    let mut remedy = |kind: &str| {
        saved["config"]["ftl"]["precondition"]["kind"] = json!(kind);
        remarks_of_result(&saved).into_iter().find(|remark| remark.code == "no-collection").expect("no job ran").remedy
    };
    for kind in ["soft", "steady", "trace"] {
        let told = remedy(kind);
        assert!(!told.contains("prepare") && told.contains(", or take a drive that needs less (--fit, "), "{told}");
    }
    assert!(remedy("fill").ends_with("or prepare the drive (ftl.precondition.kind = \"soft\" or \"steady\")."), "{}", remedy("fill"));
    assert!(remedy("ranges").ends_with("set ftl.precondition.kind = \"steady\" beside --prefill, which alone writes its ranges once."));
}

#[test]
fn a_drive_that_was_steady_is_not_to_be_prepared_again() {
    let of = |kind| remark(&result(&collecting(kind), DRIVE_WRITE / 4, None), "not-settled").map(|found| found.remedy);
    let steady = of(PreconditionKind::Steady).expect("it cannot be told");
    assert!(!steady.contains("steady"), "{steady}");
    let filled = remark(&result(&collecting(PreconditionKind::Fill), DRIVE_WRITE, None), "not-settled").expect("it has a beginning").remedy;
    assert!(filled.ends_with("or prepare the drive (ftl.precondition.kind = \"steady\")."), "{filled}");
}

#[test]
fn trims_are_named_as_left_out_of_the_classes() {
    let of = |kinds: &[RequestKind]| {
        let mut simulation = Simulation::new(&Plan::new(single_server(0.1), 1), &Control::default()).unwrap();
        for (index, &kind) in (0..).zip(kinds) {
            let length = if kind == RequestKind::Flush { 0 } else { 4096 };
            simulation.submit(Request { arrival_ns: index * 1_000_000, kind, length, ..write(0, 0) }).unwrap();
        }
        remark(&simulation.finish().unwrap(), "left-out").map(|found| found.sentence)
    };
    use RequestKind::{Flush, Read, Trim, Write};
    assert_eq!(of(&[Read, Write, Flush]), None);
    assert!(of(&[Trim, Read, Trim, Write, Trim]).unwrap().starts_with("3 trims are not"));
    assert!(of(&[Flush, Trim, Flush]).unwrap().starts_with("1 trim is not"));
}

/// Two planes side by side: requests of two pages fill both, requests of one page at a time only one.
#[test]
fn multiplane_programs_that_hardly_ever_form_are_noted() {
    let of = |request_kb: f64| {
        let mut config = collecting(PreconditionKind::None);
        (config.device.planes_per_die, config.device.multiplane) = (2, true);
        config.ftl.allocation = "PCWD".parse().expect("an order");
        (config.workload.request_kb, config.workload.align_kb) = (request_kb, request_kb);
        result(&config, 200, None)
    };
    let found = remark(&of(4.0), "multiplane-rare").expect("they never form");
    assert!(found.sentence.contains("0 of them") && found.sentence.contains("200 pages"), "{}", found.sentence);
    let both = of(8.0);
    assert!(!has(&both, "multiplane-rare"), "{:?}", both.counters);
    assert_eq!(both.counters["multiplane_programs"], 200);
}

#[test]
fn a_device_that_could_suspend_and_does_not_is_noted() {
    let of = |suspends: bool, written: &[&str]| {
        let mut config = single_server(0.1);
        config.device.resume_ns = 100_000;
        if suspends {
            config.scheduler.suspend = serde_json::from_str(r#"["program", "erase"]"#).expect("kinds");
        }
        let plan = Plan { requests: Some(10), written: written.iter().map(|key| (*key).into()).collect(), ..Plan::new(config, 1) };
        run(&plan, &Control::default()).expect("it can be run")
    };
    assert!(has(&of(false, &[]), "no-suspension"));
    assert!(!has(&of(true, &[]), "no-suspension"));
    let own = of(false, &["device.resume_ns"]);
    assert!(!has(&own, "no-suspension"), "the key itself is named");
    let found = remark(&own, "no-effect").expect("the key has no effect");
    assert_eq!((found.about.as_str(), found.severity), ("config.device.resume_ns", Severity::Note));
    assert!(found.sentence.starts_with("device.resume_ns has no effect: it needs an entry in scheduler.suspend"), "{}", found.sentence);
}

/// What a result itself decides is the same when it is read again, also where entries are missing.
#[test]
fn remarks_of_a_result_are_those_that_the_run_had() {
    let found = result(&collecting(PreconditionKind::None), DRIVE_WRITE / 4, None);
    let mut saved = serde_json::to_value(&found).unwrap();
    let decided: Vec<_> = found
        .remarks
        .iter()
        .filter(|remark| !["overloaded", "not-settled", "few-blocks"].contains(&remark.code.as_str()))
        .cloned()
        .collect();
    assert!(!decided.is_empty());
    assert_eq!(remarks_of_result(&saved), decided);
    saved.as_object_mut().unwrap().remove("remarks");
    assert_eq!(remarks_of_result(&saved), decided);
    assert_eq!(remarks_of_result(&serde_json::json!({})), []);
    assert_eq!(remarks_of_result(&serde_json::json!({"requests": 3, "gc": [], "workload": "x"})), []);
}

/// What trace readers say comes with the workload's report, of one trace and of the traces of flows.
#[test]
fn remarks_of_the_workload_are_among_those_of_the_run() {
    let said = Remark::warning("no-times", "latency_ns", "There are no times.", "Set workload.queue_depth.");
    let report = serde_json::json!({ "remarks": [said], "trace": { "bad_lines": 3 } });
    for workload in [report.clone(), serde_json::json!({ "flows": { "a": report } })] {
        let found = remarks_of_result(&serde_json::json!({ "workload": workload }));
        assert_eq!(found.iter().map(|remark| remark.code.as_str()).collect::<Vec<_>>(), ["no-times", "trace-changed"]);
        assert!(found[1].sentence.contains("3 unreadable lines"), "{}", found[1].sentence);
    }
    let report = |key: &str| remarks_of_result(&serde_json::json!({ "workload": { "trace": { key: 7 } } }));
    assert_eq!(report("skipped"), [], "the reader of the remark has asked for this");
    assert_eq!(report("other_devices")[0].severity, Severity::Note);
}
