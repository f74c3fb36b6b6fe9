//! Checks relations between the keys of a workload.

use serde_json::{Map, Value};

use super::node::{Node, root};
use super::{Address, Arbitration, Config, Ftl, HANDLES_MAX, Host, IdleKey, Placement, SeparateFlow, SizeDistribution, Workload};
use crate::remark::Remark;

/// The keys of `keys` (whole names) that have no effect: keys of generated requests with a trace, or keys of traces without one. The first
/// word of a key's description says which of both it is. Empty with several flows: any of them may use the key.
pub(super) fn without_effect<'a>(keys: impl Iterator<Item = &'a str>, workload: &Workload) -> Vec<IdleKey> {
    let needs = if workload.trace.is_some() { "generated requests (no workload.trace)" } else { "a trace (workload.trace)" };
    if workload.has_separate_flows() {
        return Vec::new();
    }
    of_other_kind(keys, workload).into_iter().map(|key| IdleKey { key: key.into(), needs: needs.into() }).collect()
}

fn of_other_kind<'a>(keys: impl Iterator<Item = &'a str>, workload: &Workload) -> Vec<&'a str> {
    let trace = workload.trace.is_some();
    let only_parts = trace && !workload.has_separate_flows();
    let workload = root().find("workload").map(Node::children).unwrap_or_default();
    let kind = if trace { "Generated" } else { "Trace" };
    let generated_parts = |key: &str| key == FLOWS && only_parts;
    let idle = |key: &&str| {
        generated_parts(key) || *key != TRACE && workload.iter().any(|node| node.path == **key && node.description.starts_with(kind))
    };
    keys.filter(idle).collect()
}

/// One message for the keys of `keys` that have no effect with a trace, or without one; `None` if all have one.
///
/// Only for keys set by hand. A preset or a file may describe a workload that a trace then replaces.
pub(super) fn refused<'a>(keys: impl Iterator<Item = &'a str>, workload: &Workload) -> Option<String> {
    let trace = workload.trace.as_deref();
    let idle = of_other_kind(keys, workload);
    if idle.is_empty() {
        return None;
    }
    let names = idle.join(", ");
    Some(match trace {
        Some(trace) => format!("{names}: for generated requests only, and a trace is given ({TRACE} = \"{trace}\")"),
        None => format!("{names}: for traces only, and no trace is given"),
    })
}

/// Remarks on flows that read traces in open loop and lose their relation in time: by different time scales of one trace, or because each
/// of several traces begins with the run.
pub(super) fn of_flows(workload: &Workload) -> Vec<Remark> {
    let flows = workload.separate_flows().unwrap_or_default();
    let sends = |flow: &SeparateFlow| workload.only.as_ref().is_none_or(|only| *only == flow.name);
    let is_timed = |flow: &&SeparateFlow| flow.workload.trace.is_some() && flow.workload.queue_depth == 0 && sends(flow);
    let timed: Vec<_> = flows.iter().filter(is_timed).collect();
    let same_trace = |first: &Workload, second: &Workload| same_file(first.trace.as_deref(), second.trace.as_deref());
    let pairs = || (1..timed.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
    let found = |apart: &dyn Fn(&Workload, &Workload) -> bool| {
        let mut pairs = pairs().map(|(first, second)| (timed[first], timed[second]));
        pairs.find(|(first, second)| apart(&first.workload, &second.workload))
    };
    let scales = found(&|first, second| same_trace(first, second) && first.time_scale != second.time_scale);
    let parts = found(&|first, second| {
        let part = |flow: &Workload| (flow.skip, flow.last, flow.limit_s, flow.repeat);
        same_trace(first, second) && part(first) != part(second)
    });
    let origins = found(&|first, second| {
        let begins_with_the_run = |flow: &Workload| flow.start_s == 0.0 && flow.start_after.is_none();
        !same_trace(first, second) && begins_with_the_run(first) && begins_with_the_run(second)
    });
    let scales = scales.map(|(first, second)| {
        let sentence = format!(
            "Flows that read {} have different time scales ({} and {}): requests that came together in the trace no longer do.",
            first.workload.trace.as_deref().unwrap_or_default(),
            first.workload.time_scale,
            second.workload.time_scale
        );
        Remark::warning("time-scales", "latency_ns", sentence, "Give all flows of the trace one workload.time_scale.")
    });
    let parts = parts.map(|(first, second)| {
        let trace = first.workload.trace.as_deref().unwrap_or_default();
        let sentence =
            format!("The flows {} and {} take different parts of {trace} (skip, last, limit_s, repeat).", first.name, second.name);
        let remedy = "An option such as --seconds is of the first flow only: give each flow the same keys, if the same part is meant.";
        Remark::note("different-parts", "", sentence, remedy)
    });
    let origins = origins.map(|(first, second)| {
        let sentence =
            format!("The traces of the flows {} and {} both begin with the run, whenever each was recorded.", first.name, second.name);
        Remark::note(
            "own-origins",
            "latency_ns",
            sentence,
            "If they were recorded together, set start_s of the later one to the difference.",
        )
    });
    scales.into_iter().chain(parts).chain(origins).collect()
}

/// Whether two paths are equal apart from `./`.
fn same_file(first: Option<&str>, second: Option<&str>) -> bool {
    use std::path::{Component, Path};
    let parts = |name: &'_ str| {
        Path::new(name).components().filter(|part| *part != Component::CurDir).map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>()
    };
    first.map(parts) == second.map(parts)
}

const TRACE: &str = "workload.trace";
const FLOWS: &str = "workload.flows";

/// Checks a workload and each of its flows. A trace may be given together with keys of generated requests, which are then not used.
pub(super) fn relations(config: &Config, messages: &mut Vec<String>) {
    let Config { workload, host, ftl, .. } = config;
    let flows = match workload.separate_flows() {
        Ok(flows) => flows,
        Err(message) => return messages.push(message),
    };
    for separate in &flows {
        let SeparateFlow { path, workload, .. } = separate;
        flow(path, workload, messages);
        handles(path, workload, ftl, messages);
        parts(path, workload, ftl, messages);
        separate_flow(separate, host, messages);
    }
    names(workload, &flows, messages);
    starts(&flows, messages);
    stages(&flows, messages);
}

/// Checks that flows with stages are closed loops: the end of an open loop does not depend on completions.
fn stages(flows: &[SeparateFlow], messages: &mut Vec<String>) {
    let Some(staged) = flows.iter().find(|flow| flow.workload.stage > 0) else { return };
    if let Some(open) = flows.iter().find(|flow| flow.workload.queue_depth == 0) {
        messages.push(format!(
            "{}.stage = {}: stages are for closed loops; set {}.queue_depth above 0, or leave the stages out",
            staged.path, staged.workload.stage, open.path
        ));
    }
}

/// Checks flows that start after others (`start_after`).
fn starts(flows: &[SeparateFlow], messages: &mut Vec<String>) {
    let before = |flow: &SeparateFlow| flow.workload.start_after.as_ref().and_then(|name| flows.iter().find(|other| other.name == *name));
    for flow in flows {
        let Some(name) = &flow.workload.start_after else { continue };
        let (path, names) = (&flow.path, flows.iter().map(|flow| flow.name.as_str()).collect::<Vec<_>>().join(", "));
        let mut wrong = |what: &str| messages.push(format!("{path}.start_after = {name:?}: {what}"));
        let Some(other) = before(flow) else {
            wrong(&format!("no flow has this name; the flows are {names}"));
            continue;
        };
        let chain = std::iter::successors(Some(other), |flow| before(flow)).take(flows.len());
        if chain.into_iter().any(|other| other.path == flow.path) {
            wrong("the flow would begin after itself; leave one of these keys out");
        } else if flow.workload.queue_depth > 0 || other.workload.queue_depth > 0 {
            wrong("the end of a closed loop is not known in advance; set queue_depth = 0 in both flows, or use start_s");
        } else if other.workload.trace.is_none() {
            wrong("that flow is generated and has no end; name a flow with a trace, or use start_s");
        }
    }
}

/// Checks the parts of a flow, each with its own keys over those of the flow.
fn parts(path: &str, workload: &Workload, ftl: &Ftl, messages: &mut Vec<String>) {
    if path != "workload" && workload.has_separate_flows() {
        messages.push(format!("{path}.flows: a flow among these has a name; put it beside the others, into workload.flows"));
    }
    for (index, keys) in workload.parts() {
        let path = format!("{path}.flows[{index}]");
        match overlaid(workload, keys) {
            Ok(workload) => {
                flow(&path, &workload, messages);
                handles(&path, &workload, ftl, messages);
            }
            Err(error) => messages.push(format!("{path}: {error}")),
        }
    }
}

fn separate_flow(flow: &SeparateFlow, host: &Host, messages: &mut Vec<String>) {
    let SeparateFlow { path, workload, .. } = flow;
    if workload.trace.as_deref() == Some("") {
        messages.push(format!("{path}.trace = \"\": must name a file; leave it out to generate requests"));
    }
    let (from, to) = workload.part;
    if !(0.0 <= from && from < to && to <= 1.0) {
        messages.push(format!(
            "{path}.part = [{from}, {to}]: must be two shares of the exported range, the first below the second, as [0.0, 0.5]"
        ));
    }
    if let Some(queue) = workload.queue.filter(|&queue| queue >= host.queues) {
        let last = host.queues - 1;
        messages
            .push(format!("{path}.queue = {queue}: the host has queues 0 to {last}; change one of them (host.queues = {})", host.queues));
    }
}

/// Highest number of flows that are reported separately.
const MOST_FLOWS: usize = 256;

fn names(workload: &Workload, flows: &[SeparateFlow], messages: &mut Vec<String>) {
    let names: Vec<_> = flows.iter().map(|flow| flow.name.as_str()).collect();
    if flows.len() > MOST_FLOWS {
        messages.push(format!("workload.flows: {} flows are too many; at most {MOST_FLOWS} can be reported apart", flows.len()));
    }
    for (place, flow) in flows.iter().enumerate() {
        let SeparateFlow { name, path, .. } = flow;
        if name.is_empty() || name.contains(char::is_control) {
            messages.push(format!("{path}.name = {name:?}: must name the flow, in one line"));
        } else if names[..place].contains(&name.as_str()) {
            messages.push(format!("{path}.name = \"{name}\": another flow has this name; choose a different one"));
        }
    }
    if let Some(only) = workload.only.as_deref().filter(|only| !names.contains(only)) {
        messages.push(format!("workload.only = \"{only}\": no flow has this name; the flows are {}", names.join(", ")));
    }
}

/// The workload of a part: its own keys over those of its flow.
///
/// # Errors
/// An error of serde if a value does not fit its key.
fn overlaid(workload: &Workload, keys: &Map<String, Value>) -> serde_json::Result<Workload> {
    let mut tree = serde_json::to_value(workload)?;
    tree["flows"] = Value::Array(Vec::new());
    for (key, value) in keys {
        tree[key] = value.clone();
    }
    serde_json::from_value(tree)
}

/// Checks the placement handles of a flow: below their number, and by address in ascending order.
fn handles(path: &str, workload: &Workload, ftl: &Ftl, messages: &mut Vec<String>) {
    let known = if ftl.placement == Placement::Handles { ftl.handles } else { HANDLES_MAX };
    let unknown = |handle: u8| {
        let last = known - 1;
        (handle >= known).then(|| format!("{handle}: expected a handle from 0 to {last} (ftl.handles = {known} of at most {HANDLES_MAX})"))
    };
    messages.extend(workload.handle.and_then(unknown).map(|wrong| format!("{path}.handle = {wrong}")));
    let mut before = 0.0;
    for (index, &(end, handle)) in workload.handle_ranges.iter().enumerate() {
        messages.extend(unknown(handle).map(|wrong| format!("{path}.handle_ranges[{index}]: handle = {wrong}")));
        if !(end > before && end <= 1.0) {
            messages.push(format!(
                "{path}.handle_ranges[{index}]: the range ends at {end}; expected a share above {before}, where the one before it ends, and at \
                 most 1"
            ));
        }
        before = end;
    }
}

/// Checks the queues of the host: their weights and quotas, one for each queue.
pub(super) fn queues(host: &Host, messages: &mut Vec<String>) {
    let (queues, weights) = (host.queues as usize, host.weights.len());
    if host.arbitration == Arbitration::Wrr && weights != queues {
        messages.push(format!(
            "host.weights: has {weights} entries for host.queues = {queues}; host.arbitration = \"wrr\" needs one for each queue"
        ));
    }
    for (key, count) in [("quota_iops", host.quota_iops.len()), ("quota_mb_s", host.quota_mb_s.len())] {
        if count > 0 && count != queues {
            messages.push(format!(
                "host.{key}: has {count} entries for host.queues = {queues}; give one for each queue, 0 for a queue without a quota, or none"
            ));
        }
    }
}

fn flow(path: &str, workload: &Workload, messages: &mut Vec<String>) {
    if workload.request_size == SizeDistribution::Table {
        size_table(path, workload, messages);
    }
    if workload.address == Address::Zones {
        zones(path, workload, messages);
    }
    if workload.address == Address::Zipf && workload.fio_draws && workload.zipf_exponent == 1.0 {
        messages.push(format!("{path}.zipf_exponent = 1: fio has no approximation for it; take 1.001, or {path}.fio_draws = false"));
    }
    let hot = workload.hot_share;
    if workload.address == Address::HotCold && !(hot > 0.0 && hot < 1.0) {
        messages.push(format!(
            "{path}.hot_share = {hot}: must be greater than 0 and less than 1 for {path}.address = \"hot-cold\"; for one part alone choose \
             \"uniform\""
        ));
    }
    for (key, align) in [("align_kb", workload.align_kb), ("align_large_kb", workload.align_large_kb)] {
        if (align * 2.0).fract() != 0.0 {
            messages.push(format!("{path}.{key} = {align}: must be whole sectors of 512 bytes, a multiple of 0.5"));
        }
    }
}

fn zones(path: &str, workload: &Workload, messages: &mut Vec<String>) {
    let is_weight = |weight: f64| (0.0..=1e12).contains(&weight);
    let sums = workload.zones.iter().fold((0.0, 0.0), |sums, zone| (sums.0 + zone.0, sums.1 + zone.1));
    let is_used_empty = |&(access, size): &(f64, f64)| access > 0.0 && size == 0.0;
    let is_wrong = |zone: &(f64, f64)| !is_weight(zone.0) || !is_weight(zone.1) || is_used_empty(zone);
    if !(sums.0 > 0.0 && sums.1 > 0.0) || workload.zones.iter().any(is_wrong) {
        let zones: Vec<_> = workload.zones.iter().map(|(access, size)| format!("[{access}, {size}]")).collect();
        messages.push(format!(
            "{path}.zones = [{}]: {path}.address = \"zones\" needs pairs of weights from 0 to 1000000000000, of requests and of size, as \
             [[80, 20], [20, 80]]; a zone with requests needs a size",
            zones.join(", ")
        ));
    }
}

fn size_table(path: &str, workload: &Workload, messages: &mut Vec<String>) {
    let table = &workload.size_table;
    let needs = "needs pairs of a size in KiB and a weight, as [[4, 3], [64, 1]]";
    if table.is_empty() {
        return messages.push(format!("{path}.size_table = []: {path}.request_size = \"table\" {needs}"));
    }
    for (index, &(size_kb, weight)) in table.iter().enumerate() {
        if !(0.5..=1_048_576.0).contains(&size_kb) {
            messages.push(format!("{path}.size_table[{index}]: the size {size_kb} KiB must be from 0.5 to 1048576"));
        }
        if !(0.0..=1e12).contains(&weight) {
            messages.push(format!("{path}.size_table[{index}]: the weight {weight} must be from 0 to 1000000000000"));
        }
    }
    if table.iter().all(|&(_, weight)| weight == 0.0) {
        messages.push(format!("{path}.size_table: at least one weight must be greater than 0"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_that_lose_their_relation_in_time_are_told() {
        let codes = |keys: Value| {
            let mut second = serde_json::json!({"name": "b", "trace": "t.csv"});
            second.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
            let workload = serde_json::json!({"name": "a", "trace": "t.csv", "flows": [second]});
            of_flows(&serde_json::from_value(workload).unwrap()).into_iter().map(|remark| remark.code).collect::<Vec<_>>()
        };
        assert_eq!(codes(serde_json::json!({"device": "1"})), [""; 0]);
        assert_eq!(codes(serde_json::json!({"time_scale": 2.0})), ["time-scales"]);
        assert_eq!(codes(serde_json::json!({"time_scale": 2.0, "queue_depth": 4})), [""; 0], "a closed loop has no times");
        assert_eq!(codes(serde_json::json!({"limit_s": 2.5})), ["different-parts"]);
        assert_eq!(codes(serde_json::json!({"trace": "u.csv"})), ["own-origins"]);
        assert_eq!(codes(serde_json::json!({"trace": "./t.csv", "time_scale": 2.0})), ["time-scales"]);
        assert_eq!(codes(serde_json::json!({"trace": "u.csv", "start_s": 1.0})), [""; 0]);
    }

    #[test]
    fn config_keys_that_do_nothing_in_this_workload_are_named_together() {
        let keys = [
            "gc.soft",
            "workload.read_share",
            "workload.queue_depth",
            "workload.trace",
            "workload.skip",
            "workload.flows",
            "workload.last",
        ];
        let of = |trace: Option<&str>| Workload { trace: trace.map(String::from), ..Workload::default() };
        let message = |trace| refused(keys.into_iter(), &of(trace)).unwrap();
        assert_eq!(message(None), "workload.skip, workload.last: for traces only, and no trace is given");
        let beside = "workload.read_share, workload.flows: for generated requests only, and a trace is given (workload.trace = \"a.csv\")";
        assert_eq!(message(Some("a.csv")), beside);
        assert_eq!(refused(["workload.queue_depth", "gc.soft"].into_iter(), &of(None)), None);
        let idle = without_effect(keys.into_iter(), &of(None));
        assert_eq!(idle.iter().map(|idle| idle.key.as_str()).collect::<Vec<_>>(), ["workload.skip", "workload.last"]);
    }
}
