//! Runs each flow of a run alone on the drive, to see how much the other flows slow it down.

use super::{Control, Plan, WarmUp, run_once};
use ssdlab_base::error::{Error, Result};
use ssdlab_keys::remark::Remark;
use ssdlab_result::stats::{Fairness, FlowResult, RunResult};

/// Runs each flow of `plan` alone, with as many requests as it sent in `result`, and adds to `result` how much the others slowed it down.
pub(super) fn add(plan: &Plan, result: &mut RunResult, control: &Control) -> Result<()> {
    for flow in &mut result.flows {
        let sent = flow.requests.total() + flow.warm_up_requests;
        if flow.requests.total() == 0 {
            continue;
        }
        let alone = run_once(&of_flow(plan, flow, sent), control)?;
        if let Some(same) = alone.flows.iter().find(|other| other.name == flow.name) {
            flow.compare_with(same);
        }
    }
    result.fairness = Fairness::of(&result.flows);
    result.remarks.extend(of_closed_loops(plan, result));
    Ok(())
}

/// The remark on flows in closed loop, which send more slowly when they are slowed down.
fn of_closed_loops(plan: &Plan, result: &RunResult) -> Option<Remark> {
    let flows = plan.config.workload.separate_flows().unwrap_or_default();
    let closed = flows.iter().filter(|flow| flow.workload.queue_depth > 0).map(|flow| flow.name.as_str());
    let compared = |name: &&str| result.flows.iter().any(|flow| flow.name == *name && flow.alone.is_some());
    let closed: Vec<&str> = closed.filter(compared).collect();
    (!closed.is_empty()).then(|| {
        let sentence = format!("Closed loops send less when they are slowed down ({}): slowdown hides what they lose.", closed.join(", "));
        Remark::note("closed-slowdown", "flows", sentence, "Read alone.throughput of these flows beside their slowdown.")
    })
}

/// The plan of a run in which only `flow` sends, `sent` requests.
fn of_flow(plan: &Plan, flow: &FlowResult, sent: u64) -> Plan {
    let mut config = plan.config.clone();
    config.workload.only = Some(flow.name.clone());
    Plan {
        config,
        requests: Some(sent),
        warm_up: plan.warm_up.map(|_| WarmUp::Requests(flow.warm_up_requests)),
        request_log: None,
        timeline: None,
        blocks: None,
        series: false,
        alone: false,
        save_state: None,
        ..plan.clone()
    }
}

/// Checks that a plan which runs flows alone has several flows to compare.
pub(super) fn check(plan: &Plan) -> Result<()> {
    let workload = &plan.config.workload;
    if !plan.alone || (workload.has_separate_flows() && workload.only.is_none()) {
        return Ok(());
    }
    let message = "each flow is to run alone, too, but only one sends requests: give further flows a name (workload.flows), and leave out \
                   workload.only";
    Err(Error::Usage(message.into()))
}
