//! Flows of requests and the queues of the host: order of fetching to the nanosecond, shares of throughput in closed form, and what is
//! reported by flow. 25 us read, 200 us program, 102.4 us a page on the bus; even pages are on chip 0 and odd ones on chip 1.

use std::collections::BTreeMap;
use std::io::Write;

use crate::common::{one_die, plan, simulation};
use crate::timelines::{Case, array, bus, changed, filled, play_all, read, write};
use serde_json::{Value, json};
use ssdlab::blocked::Blocked;
use ssdlab::config::{Arbitration, Config, Host};
use ssdlab::request::Request;
use ssdlab::simulation::{Plan, Verify, WarmUp, run};
use ssdlab::stats::Part::{Array, BusQueue, Controller, DieQueue, HostQueue, Transfer};
use ssdlab::stats::{FlowResult, RunResult};

/// Two queues, a flow for each.
fn drive(host: Host) -> Config {
    changed(filled(one_die()), |c| {
        c.device.chips_per_channel = 2;
        c.host = Host { queues: 2, ..host };
        c.workload.flows = flows(json!([{"name": "other"}]));
    })
}

fn flows(list: Value) -> Vec<serde_json::Map<String, Value>> {
    serde_json::from_value(list).expect("a list of tables")
}

/// The request as the second flow sends it.
fn other(request: Request) -> Request {
    Request { flow: 1, ..request }
}

fn cases() -> Vec<Case> {
    let one_slot = || Host { slots: 1, ..Host::default() };
    let taken = |turn: u64| (array(0, turn * 127_400, turn * 127_400 + 25_000), bus(0, turn * 127_400 + 25_000, (turn + 1) * 127_400));
    let waited = |turns: u64| vec![(HostQueue, turns * 127_400), (Array, 25_000), (Transfer, 102_400)];
    let one_by_one = || (0..4).map(taken).flat_map(|(array, bus)| [array, bus]).collect::<Vec<_>>();
    let four_reads = || vec![read(0, 0), read(0, 0), read(0, 0), other(read(0, 0))];
    vec![
        Case {
            name: "one slot: the queues take turns",
            config: drive(one_slot()),
            requests: four_reads(),
            responses: vec![(127_400, waited(0)), (382_200, waited(2)), (509_600, waited(3)), (254_800, waited(1))],
            stages: one_by_one(),
        },
        Case {
            name: "one slot: a queue of weight 2 gives two commands in its turn",
            config: drive(Host { arbitration: Arbitration::Wrr, weights: vec![2, 1], ..one_slot() }),
            requests: four_reads(),
            responses: vec![(127_400, waited(0)), (254_800, waited(1)), (509_600, waited(3)), (382_200, waited(2))],
            stages: one_by_one(),
        },
        Case {
            // The second of queue 0 is fetched when the first is complete, at 127,400; by then the other's data are on the bus.
            name: "a queue has as many commands fetched as it may",
            config: drive(Host { queue_depth: 1, ..Host::default() }),
            requests: vec![read(0, 0), read(0, 0), other(read(0, 1))],
            responses: vec![
                (127_400, vec![(Array, 25_000), (Transfer, 102_400)]),
                (332_200, vec![(HostQueue, 127_400), (Array, 25_000), (BusQueue, 77_400), (Transfer, 102_400)]),
                (229_800, vec![(Array, 25_000), (BusQueue, 102_400), (Transfer, 102_400)]),
            ],
            stages: vec![
                array(0, 0, 25_000),
                bus(0, 25_000, 127_400),
                array(1, 0, 25_000),
                bus(0, 127_400, 229_800),
                array(0, 127_400, 152_400),
                bus(0, 229_800, 332_200),
            ],
        },
        Case {
            // Fetched from 0, 1,000 and 2,000 on: the first, the other's, the second.
            name: "one core: the queues take turns to be fetched from",
            config: drive(Host { command_ns: 1_000, ..Host::default() }),
            requests: vec![read(0, 0), read(0, 0), other(read(0, 1))],
            responses: vec![
                (128_400, vec![(Controller, 1_000), (Array, 25_000), (Transfer, 102_400)]),
                (
                    333_200,
                    vec![
                        (HostQueue, 2_000),
                        (Controller, 1_000),
                        (DieQueue, 125_400),
                        (Array, 25_000),
                        (BusQueue, 77_400),
                        (Transfer, 102_400),
                    ],
                ),
                (230_800, vec![(HostQueue, 1_000), (Controller, 1_000), (Array, 25_000), (BusQueue, 101_400), (Transfer, 102_400)]),
            ],
            stages: vec![
                array(0, 1_000, 26_000),
                bus(0, 26_000, 128_400),
                array(1, 2_000, 27_000),
                bus(0, 128_400, 230_800),
                array(0, 128_400, 153_400),
                bus(0, 230_800, 333_200),
            ],
        },
        Case {
            // The write is fetched when the read before it in its queue is complete; then the other's read finds its data in the drive.
            name: "a read of what an older write of another queue writes is not fetched before it",
            config: drive(Host { queue_depth: 1, ..Host::default() }),
            requests: vec![read(0, 1), write(0, 0), other(read(1_000, 0))],
            responses: vec![
                (127_400, vec![(Array, 25_000), (Transfer, 102_400)]),
                (429_800, vec![(HostQueue, 127_400), (Transfer, 102_400), (Array, 200_000)]),
                (126_400, vec![(HostQueue, 126_400)]),
            ],
            stages: vec![array(1, 0, 25_000), bus(0, 25_000, 127_400), bus(0, 127_400, 229_800), array(0, 229_800, 429_800)],
        },
    ]
}

#[test]
fn timelines() {
    play_all(&cases());
}

#[test]
fn what_waits_and_what_passes_is_counted() {
    let counted = |host: Host, requests: &[Request]| {
        let mut simulation = simulation(&drive(host));
        simulation.take_completions();
        requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
        simulation.run_to_idle().unwrap();
        let reasons: Vec<_> = simulation.take_completions().iter().filter_map(|completion| completion.blocked_by()).collect();
        let stats = simulation.storage().stats(simulation.now()).interface.unwrap();
        (stats.slot_waits, stats.queue_full_waits, stats.passing_commands, stats.order_waits, reasons)
    };
    let reads = [read(0, 0), read(0, 0), other(read(0, 0))];
    let slots = Host { slots: 1, ..Host::default() };
    assert_eq!(counted(slots, &reads), (2, 0, 1, 0, vec![Blocked::Slot, Blocked::Slot]));
    let depth = Host { queue_depth: 1, ..Host::default() };
    let one_of_each = [read(0, 1), write(0, 0), other(read(1_000, 0)), other(read(2_000, 0))];
    assert_eq!(counted(depth, &one_of_each), (0, 1, 0, 1, vec![Blocked::Queue; 3]));
}

/// Both queues always have commands, which need not wait for each other, and there is one slot: the shares are the weights, whatever the drive does.
#[test]
fn throughput_goes_by_weight() {
    for (weights, ratio) in [(vec![1, 1], 1.0), (vec![3, 1], 3.0), (vec![2, 5], 0.4)] {
        let mut config = drive(Host { slots: 1, arbitration: Arbitration::Wrr, weights, ..Host::default() });
        (config.workload.queue_depth, config.workload.read_share) = (16, 1.0);
        config.workload.flows = flows(json!([{"name": "other", "queue_depth": 16, "read_share": 1}]));
        let flows = run(&Plan { requests: Some(7_000), ..plan(config) }, &ssdlab::simulation::Control::default()).unwrap().flows;
        let served = |flow: &FlowResult| (flow.requests.total() + flow.warm_up_requests) as f64;
        let found = served(&flows[0]) / served(&flows[1]);
        assert!((found / ratio - 1.0).abs() < 0.01, "{found} for {ratio}");
    }
}

fn shared(flows_wanted: Value, change: impl FnOnce(&mut Config)) -> Plan {
    let config = changed(drive(Host::default()), |c| {
        c.workload.flows = flows(flows_wanted);
        change(c);
    });
    Plan { requests: Some(600), verify: Verify::Every, ..plan(config) }
}

fn result(plan: &Plan) -> RunResult {
    run(plan, &ssdlab::simulation::Control::default()).unwrap()
}

/// Sums over flows are those of the run, also with a warm-up.
#[test]
fn results_by_flow_add_up() {
    let wanted = json!([{"name": "b", "interarrival_us": 700, "read_share": 0.2}, {"read_share": 1.0}, {"name": "c", "queue_depth": 2}]);
    let found = result(&Plan { warm_up: Some(WarmUp::Requests(100)), ..shared(wanted, |_| ()) });
    assert_eq!(found.flows.iter().map(|flow| flow.name.as_str()).collect::<Vec<_>>(), ["main", "b", "c"]);
    let sum = |of: fn(&FlowResult) -> u64| found.flows.iter().map(of).sum::<u64>();
    assert_eq!(sum(|flow| flow.requests.read), found.requests.read);
    assert_eq!(sum(|flow| flow.requests.write), found.requests.write);
    assert_eq!(sum(|flow| flow.warm_up_requests), 100);
    assert_eq!(sum(|flow| flow.requests.total() + flow.warm_up_requests), 600);
    assert!(found.flows.iter().all(|flow| flow.requests.total() > 20), "{:#?}", found.flows);
    let weighted = found.flows.iter().map(|flow| flow.latency_ns.all.as_ref().map_or(0.0, |all| all.mean * all.count as f64)).sum::<f64>();
    let all = found.latency_ns.all.unwrap();
    assert!((weighted / all.count as f64 / all.mean - 1.0).abs() < 1e-12);
}

/// Two stages of 100 reads, one after the other, of 127.4 us each: each has the rate of the run, 7,849 a second and 32.2 MB/s.
#[test]
fn rates_of_a_flow_are_over_its_own_time() {
    let config = changed(drive(Host::default()), |c| {
        c.workload = serde_json::from_value(json!({
            "queue_depth": 1, "read_share": 1.0, "total_bytes": 100 * 4096,
            "flows": [{"name": "b", "queue_depth": 1, "read_share": 1.0, "total_bytes": 100 * 4096, "stage": 1}],
        }))
        .unwrap();
    });
    let found = result(&Plan { requests: None, ..plan(config) });
    for flow in &found.flows {
        assert!((flow.iops.unwrap() - 1e9 / 127_400.0).abs() < 1e-6, "{:?}", flow.iops);
        assert!((flow.bandwidth_mb_s.as_ref().unwrap().read - 4096.0 * 1e3 / 127_400.0).abs() < 1e-9, "{:?}", flow.bandwidth_mb_s);
    }
    assert_eq!((found.flows[1].began_ns, found.simulated_ns), (Some(12_740_000), 25_480_000));
}

/// Of a single flow with parts nothing is reported apart, and queues change nothing where there is room for all commands.
#[test]
fn one_flow_is_not_reported_apart() {
    let parts = json!([{"read_share": 1.0}]);
    let without = result(&shared(parts.clone(), |c| c.host.queues = 1));
    assert!(without.flows.is_empty());
    let queues = result(&shared(parts, |c| (c.host.queues, c.workload.queue) = (4, Some(3))));
    assert_eq!(without.digest, queues.digest);
}

/// Each flow in closed loop has as many requests outstanding as it says: Little's law for each.
#[test]
fn a_closed_loop_is_that_of_its_flow() {
    let found = result(&shared(json!([{"name": "b", "queue_depth": 3}]), |c| c.workload.queue_depth = 5));
    for (flow, depth) in found.flows.iter().zip([5.0, 3.0]) {
        let outstanding = flow.iops.unwrap() * flow.latency_ns.all.as_ref().unwrap().mean / 1e9;
        assert!((outstanding / depth - 1.0).abs() < 0.01, "{outstanding} of {depth}");
    }
}

/// The requests of a run by flow: kind, offset and length.
fn sent(plan: &Plan) -> BTreeMap<u16, Vec<(u8, u64, u64)>> {
    let config = &plan.config;
    let exported = config.exported_bytes().unwrap();
    let mut source = ssdlab::workload::open(&config.workload, exported, plan.seed, plan.requests).unwrap();
    let mut found: BTreeMap<u16, Vec<_>> = BTreeMap::new();
    while let Some(request) = source.next_request().unwrap() {
        found.entry(request.flow).or_default().push((request.kind as u8, request.offset, request.length));
    }
    found
}

#[test]
fn a_flow_keeps_to_its_part_of_the_addresses() {
    let wanted = json!([{"name": "b", "part": [0.5, 0.75]}, {"name": "c", "part": [0.75, 1.0], "sequential_share": 1.0}]);
    let plan = shared(wanted, |c| {
        c.device.blocks_per_plane = 256;
        c.workload.part = (0.0, 0.25);
    });
    let exported = plan.config.exported_bytes().unwrap();
    let at = |share: f64| (exported as f64 * share) as u64 / 65_536 * 65_536;
    let found = sent(&plan);
    for (flow, (from, to)) in [(0, (0, at(0.25))), (1, (at(0.5), at(0.75))), (2, (at(0.75), exported))] {
        let requests = &found[&flow];
        assert!(requests.iter().all(|&(_, offset, length)| from <= offset && offset + length <= to), "flow {flow}");
        let middle = from.midpoint(to);
        assert!(requests.iter().any(|&(_, offset, _)| offset < middle), "flow {flow}");
        assert!(requests.iter().any(|&(_, offset, _)| offset >= middle) || flow == 2);
    }
    let ends = |&(_, offset, length): &(u8, u64, u64)| if offset + length == exported { at(0.75) } else { offset + length };
    assert!(found[&2].windows(2).all(|pair| ends(&pair[0]) == pair[1].1), "a sequential flow goes round in its part");
    result(&plan);
}

#[test]
fn a_flow_alone_sends_what_it_sends_beside_the_others() {
    let wanted = || json!([{"name": "b", "read_share": 0.9, "flows": [{"request_kb": 8}]}]);
    let together = sent(&shared(wanted(), |_| ()));
    for (flow, name) in [(0, "main"), (1, "b")] {
        let mut plan = shared(wanted(), |c| c.workload.only = Some(name.into()));
        plan.requests = Some(together[&flow].len() as u64);
        let alone = sent(&plan);
        assert_eq!(alone.len(), 1);
        assert_eq!(alone[&flow], together[&flow]);
    }
    assert_ne!(together[&0][..50], together[&1][..50]);
}

/// A flow of single reads is slowed down by one of many writes, more than the other way round.
#[test]
fn slowdown_is_the_mean_beside_the_others_over_that_alone() {
    let wanted = || json!([{"name": "writer", "read_share": 0, "queue_depth": 8}]);
    let base = |c: &mut Config| (c.workload.queue_depth, c.workload.read_share) = (1, 1.0);
    let found = result(&Plan { alone: true, ..shared(wanted(), base) });
    let mean = |result: &RunResult, flow: usize| result.flows[flow].latency_ns.all.as_ref().unwrap().mean;
    for (flow, name) in [(0, "main"), (1, "writer")] {
        let alone = found.flows[flow].alone.as_ref().unwrap();
        let only = result(&Plan {
            requests: Some(found.flows[flow].requests.total()),
            ..shared(wanted(), |c| {
                base(c);
                c.workload.only = Some(name.into());
            })
        });
        assert_eq!(alone.mean_ns, mean(&only, flow));
        assert_eq!(alone.slowdown, Some(mean(&found, flow) / alone.mean_ns));
    }
    let slowdown = |flow: usize| found.flows[flow].alone.as_ref().unwrap().slowdown.unwrap();
    let fairness = found.fairness.as_ref().unwrap();
    assert!(slowdown(0) > 2.0 && slowdown(0) > slowdown(1) && slowdown(1) >= 1.0, "{fairness:?}");
    assert_eq!((fairness.worst.as_str(), fairness.worst_slowdown, fairness.ratio), ("main", slowdown(0), slowdown(1) / slowdown(0)));
}

#[test]
fn only_several_flows_can_run_alone() {
    let message = run(&Plan { alone: true, ..shared(json!([]), |_| ()) }, &ssdlab::simulation::Control::default()).unwrap_err().to_string();
    assert!(message.contains("workload.flows"), "{message}");
}

/// A trace of three requests beside a generator: with no number given the run is as long as the trace.
#[test]
fn generated_flows_end_with_the_last_trace() {
    let mut file = tempfile::NamedTempFile::with_suffix(".csv").unwrap();
    writeln!(file, "timestamp_us,op,offset_bytes,size_bytes\n0,W,0,4096\n5000,R,0,4096\n90000,R,4096,4096").unwrap();
    let trace = file.path().to_str().unwrap();
    for depth in [0, 2] {
        let mut plan = shared(json!([{"name": "replay", "trace": trace, "part": [0.5, 1.0]}]), |c| c.workload.queue_depth = depth);
        plan.requests = None;
        let found = result(&plan);
        assert_eq!((found.flows[1].requests.read, found.flows[1].requests.write), (2, 1));
        let beside = found.flows[0].requests.total();
        assert!(if depth == 0 { (40..150).contains(&beside) } else { beside > 0 }, "{beside} in closed loop of {depth}");
        assert_eq!(found.workload["flows"]["replay"]["trace"]["requests"], json!(3));
    }
}

#[test]
fn generated_flows_have_no_end_of_their_own() {
    let plan = Plan { requests: None, ..plan(drive(Host::default())) };
    let error = run(&plan, &ssdlab::simulation::Control::default()).unwrap_err().to_string();
    assert!(error.starts_with("a generated workload has no end: give the number of requests"), "{error}");
}

#[test]
fn a_request_of_a_flow_that_there_is_not_is_refused() {
    let mut simulation = simulation(&drive(Host::default()));
    let message = simulation.submit(Request { flow: 2, ..read(0, 0) }).unwrap_err().to_string();
    assert!(message.starts_with("a request of flow 2: the workload has 2 flows, counted from 0"), "{message}");
}

/// What flows and queues must not be, each with one message.
#[test]
fn wrong_flows_are_explained() {
    let cases: [(&str, Value, &str); 9] = [
        (
            "name",
            json!({"workload": {"flows": [{"name": "a"}, {"name": "a"}]}}),
            "workload.flows[1].name = \"a\": another flow has this name",
        ),
        ("main", json!({"workload": {"flows": [{"name": "main"}]}}), "workload.flows[0].name = \"main\": another flow has this name"),
        ("empty", json!({"workload": {"flows": [{"name": ""}]}}), "workload.flows[0].name = \"\": must name the flow, in one line"),
        (
            "two lines",
            json!({"workload": {"flows": [{"name": "a\nb"}]}}),
            "workload.flows[0].name = \"a\\nb\": must name the flow, in one line",
        ),
        ("queue", json!({"workload": {"queue": 1}}), "workload.queue = 1: the host has queues 0 to 0"),
        ("part", json!({"workload": {"part": [0.5, 0.5]}}), "workload.part = [0.5, 0.5]: must be two shares"),
        (
            "only",
            json!({"workload": {"only": "b", "flows": [{"name": "a"}]}}),
            "workload.only = \"b\": no flow has this name; the flows are main, a",
        ),
        (
            "weights",
            json!({"host": {"queues": 2, "arbitration": "wrr", "weights": [1]}}),
            "host.weights: has 1 entries for host.queues = 2",
        ),
        (
            "nested",
            json!({"workload": {"flows": [{"name": "a", "flows": [{"name": "b"}]}]}}),
            "workload.flows[0].flows: a flow among these has a name",
        ),
    ];
    for (what, keys, message) in cases {
        let mut tree = Config::default().to_value();
        for (section, entries) in keys.as_object().unwrap() {
            entries.as_object().unwrap().iter().for_each(|(key, value)| tree[section][key] = value.clone());
        }
        let found = Config::from_value(tree).unwrap_err().to_string();
        assert!(found.starts_with(message), "{what}: {found}");
    }
}
