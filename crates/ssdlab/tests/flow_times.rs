//! When the requests of flows arrive, and where: flows of one file, of several, one after the other, several times.

use std::io::Write;

use crate::common::one_die;
use crate::timelines::{changed, filled};
use serde_json::{Value, json};
use ssdlab::config::{Volumes, Workload, validate};
use ssdlab::simulation::{Control, Plan, Simulation};
use ssdlab::workload::{self, ConvertOptions, Flows, Reading, TracePart, convert, trace_info, trace_info_cancellable};

/// Two volumes: usr_0 at 0, 2 and 4 s, usr_1 at 1 and 3 s.
const TWO_VOLUMES: &str = "timestamp_us,op,offset_bytes,size_bytes,device
7000000,W,0,4096,usr_0
8000000,W,0,4096,usr_1
9000000,W,4096,4096,usr_0
10000000,W,4096,4096,usr_1
11000000,R,0,4096,usr_0
";
const MB: u64 = 1 << 20;

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn name(file: &tempfile::NamedTempFile) -> String {
    file.path().to_str().unwrap().into()
}

/// A flow for each volume, with more keys for either.
fn volumes(trace: &str, first: Value, second: Value) -> Workload {
    let with = |keys: Value, more: Value| {
        let (Value::Object(mut keys), Value::Object(more)) = (keys, more) else { panic!("tables") };
        keys.extend(more);
        keys
    };
    let second = with(json!({"name": "d1", "trace": trace, "device": "usr_1", "part": [0.5, 1.0]}), second);
    let first = with(json!({"name": "d0", "trace": trace, "device": "usr_0", "part": [0.0, 0.5], "flows": [second]}), first);
    serde_json::from_value(Value::Object(first)).expect("a workload")
}

/// By request: its flow, and when it arrives, ms.
fn arrivals(config: &Workload) -> Vec<(u16, u64)> {
    let mut source = workload::open(config, 64 * MB, 1, None).unwrap_or_else(|error| panic!("{error}"));
    std::iter::from_fn(|| source.next_request().unwrap_or_else(|error| panic!("{error}")))
        .map(|request| (request.flow, request.arrival_ns / 1_000_000))
        .collect()
}

/// When the requests of a flow arrive, ms.
fn of(flow: u16, config: &Workload) -> Vec<u64> {
    arrivals(config).into_iter().filter(|&(other, _)| other == flow).map(|(_, ms)| ms).collect()
}

#[test]
fn flows_of_one_file_share_its_time_0() {
    let file = file(TWO_VOLUMES);
    let both = volumes(&name(&file), json!({}), json!({}));
    assert_eq!(arrivals(&both), [(0, 0), (1, 1000), (0, 2000), (1, 3000), (0, 4000)]);
    let alone = Workload { only: Some("d1".into()), ..both };
    assert_eq!(arrivals(&alone), [(1, 1000), (1, 3000)], "alone a flow sends when it sends beside the others");
    let folder = file.path().parent().unwrap().to_str().unwrap();
    let other_name = format!("{folder}/./{}", file.path().file_name().unwrap().to_str().unwrap());
    let same = volumes(&name(&file), json!({}), json!({"trace": other_name}));
    assert_eq!(of(1, &same), [1000, 3000], "whatever the file is called");
}

#[test]
fn the_first_request_that_any_flow_takes_is_at_time_0() {
    let file = file(TWO_VOLUMES);
    let skipped = volumes(&name(&file), json!({"skip": 1}), json!({}));
    assert_eq!((of(0, &skipped), of(1, &skipped)), (vec![1000, 3000], vec![0, 2000]));
    let limited = volumes(&name(&file), json!({"limit_s": 3.5}), json!({"limit_s": 1.5}));
    assert_eq!((of(0, &limited), of(1, &limited)), (vec![0, 2000], vec![1000]));
    let faster = volumes(&name(&file), json!({"time_scale": 2.0}), json!({"time_scale": 2.0, "start_s": 0.25}));
    assert_eq!((of(0, &faster), of(1, &faster)), (vec![0, 1000, 2000], vec![750, 1750]));
}

/// Five requests in 4 s: 1 s from each to the next, so that a pass takes 5 s. Of a part of 2.5 s it takes as long.
#[test]
fn volumes_are_repeated_together() {
    let file = file(TWO_VOLUMES);
    let twice = volumes(&name(&file), json!({"repeat": 2}), json!({"repeat": 2}));
    assert_eq!((of(0, &twice), of(1, &twice)), (vec![0, 2000, 4000, 5000, 7000, 9000], vec![1000, 3000, 6000, 8000]));
    let part = || json!({"repeat": 3, "limit_s": 2.5});
    let parts = volumes(&name(&file), part(), part());
    assert_eq!((of(0, &parts), of(1, &parts)), (vec![0, 2000, 2500, 4500, 5000, 7000], vec![1000, 3500, 6000]));
    let one = Workload { trace: Some(name(&file)), repeat: 2, time_scale: 10.0, ..Workload::default() };
    assert_eq!(arrivals(&one).iter().map(|&(_, ms)| ms).collect::<Vec<_>>(), [0, 100, 200, 300, 400, 500, 600, 700, 800, 900]);
    let mut flows = Flows::open(&one, 64 * MB, 1, None, &Default::default()).unwrap();
    let source = flows.open.as_mut().unwrap();
    while source.next_request().unwrap().is_some() {}
    let counters = flows.report().trace.unwrap();
    assert_eq!((counters.requests, counters.devices, counters.skipped), (10, 2, 0));
}

#[test]
fn a_trace_follows_another_when_that_has_sent_its_last_request() {
    let (first, second) = (file(TWO_VOLUMES), file("timestamp_us,op,offset_bytes,size_bytes\n5,R,0,512\n1000005,W,0,512\n"));
    let flows = |keys: Value| {
        let mut config = Workload { trace: Some(name(&first)), repeat: 2, ..Workload::default() };
        config.flows = serde_json::from_value(json!([{"name": "next", "trace": name(&second)}])).unwrap();
        config.flows[0].extend(keys.as_object().unwrap().clone());
        of(1, &config)
    };
    assert_eq!(flows(json!({})), [0, 1000], "together");
    assert_eq!(flows(json!({"start_s": 0.5})), [500, 1500]);
    assert_eq!(flows(json!({"start_after": "main"})), [9000, 10_000]);
    assert_eq!(flows(json!({"start_after": "main", "start_s": 2.0, "repeat": 2})), [11_000, 12_000, 13_000, 14_000]);
}

#[test]
fn what_a_flow_cannot_follow_is_said() {
    let message = |first: Value, second: Value| {
        let mut config = changed(one_die(), |c| c.workload = volumes("a.csv", first, second));
        config.workload.part = (0.0, 1.0);
        validate(&config).map_or_else(|error| error.to_string(), |()| String::new())
    };
    for (first, second, says) in [
        (json!({}), json!({"start_after": "d2"}), "no flow has this name; the flows are d0, d1"),
        (json!({"start_after": "d1"}), json!({"start_after": "d0"}), "would begin after itself"),
        (json!({"queue_depth": 4}), json!({"start_after": "d0"}), "the end of a closed loop is not known"),
        (json!({"trace": null}), json!({"start_after": "d0"}), "generated and has no end"),
    ] {
        let message = message(first, second);
        assert!(message.contains(says) && message.contains(".start_after"), "{says}: {message}");
    }
    assert_eq!(message(json!({}), json!({"start_after": "d0"})), "");
}

/// The second volume begins at the next multiple of 2^20 behind the first, which ends at 8 KB.
#[test]
fn volumes_lie_one_after_the_other() {
    let file = file(TWO_VOLUMES);
    let config = Workload { trace: Some(name(&file)), volumes: Volumes::Concatenated, ..Workload::default() };
    let mut source = workload::open(&config, 64 * MB, 1, None).unwrap();
    let offsets: Vec<u64> = std::iter::from_fn(|| source.next_request().unwrap()).map(|request| request.offset).collect();
    assert_eq!(offsets, [0, MB, 4096, MB + 4096, 0]);
    let info = trace_info(file.path(), &Reading::default(), None).unwrap();
    assert_eq!((info.max_end_bytes, info.concatenated_end_bytes), (8192, Some(MB + 8192)));
    assert_eq!(trace_info(file.path(), &Reading::default(), Some("usr_1")).unwrap().concatenated_end_bytes, None);
}

#[test]
fn a_closed_loop_sends_nothing_before_its_time() {
    let config = changed(filled(one_die()), |c| {
        (c.workload.queue_depth, c.workload.read_share, c.workload.start_s) = (2, 1.0, 0.25);
        c.workload.flows = serde_json::from_value(json!([{"name": "other", "queue_depth": 1, "read_share": 1.0, "start_s": 0.5}])).unwrap();
    });
    let plan = Plan { requests: Some(10_000), ..Plan::new(config.clone(), 1) };
    let exported = config.exported_bytes().unwrap();
    let mut flows = Flows::open(&config.workload, exported, 1, plan.requests, &Default::default()).unwrap();
    let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
    simulation.take_completions();
    simulation.drive_flows(&mut flows, &Control::default()).unwrap();
    let completions = simulation.take_completions();
    let first = |flow| completions.iter().filter(|done| done.flow == flow).map(|done| done.arrival_ns).min();
    assert_eq!((first(0), first(1), completions.len()), (Some(250_000_000), Some(500_000_000), 10_000));
}

/// The flow that starts last has no request left to send: the run ends with the last response, not at that start.
#[test]
fn a_run_does_not_wait_for_a_flow_that_sends_nothing() {
    let config = changed(filled(one_die()), |c| {
        c.workload.queue_depth = 1;
        c.workload.flows = serde_json::from_value(json!([{"name": "late", "queue_depth": 1, "start_s": 1000.0}])).unwrap();
    });
    let result = ssdlab::simulation::run(&Plan { requests: Some(20), ..Plan::new(config, 1) }, &Control::default()).unwrap();
    assert!(result.simulated_ns < 1_000_000_000, "{}", result.simulated_ns);
}

#[test]
fn a_part_of_a_trace_is_described_and_converted_as_it_is_replayed() {
    let file = file(TWO_VOLUMES);
    let part = TracePart { skip: 1, limit_s: 2.5, time_scale: 4.0 };
    let info = trace_info_cancellable(file.path(), &Reading::default(), None, part, &Default::default()).unwrap();
    assert_eq!((info.requests.total(), info.span_s, info.arrival_rate_per_s), (3, 0.5, Some(6.0)));
    assert_eq!(info.devices.len(), 2, "of the whole trace");
    let to = file.path().with_extension("part.csv");
    let options = ConvertOptions { skip: 1, limit_s: 2.5, time_scale: 4.0, ..ConvertOptions::default() };
    convert(file.path(), &to, &options).unwrap();
    let written = std::fs::read_to_string(&to).unwrap();
    std::fs::remove_file(&to).unwrap();
    let times: Vec<&str> = written.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(times, ["0", "250000", "500000"]);
}
