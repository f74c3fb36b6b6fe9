//! The requests of each of several flows, and how much the flows slow each other down.

use schemars::JsonSchema;
use serde::Serialize;

use super::recorder::RequestStats;
use super::result::{Bandwidth, Breakdowns, Latencies, RequestCounts};
use ssdlab_base::units::Ns;

/// Statistics of one of several flows of requests.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FlowResult {
    /// Name of the flow (`workload.flows`).
    #[schemars(extend("unit" = "text"))]
    pub name: String,
    /// Number of completed requests of the flow, by kind.
    pub requests: RequestCounts,
    /// Number of requests of the flow that arrived in the warm-up. Absent if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(extend("unit" = "count"))]
    pub warm_up_requests: u64,
    /// Arrival of the flow's first measured request. Absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "ns"))]
    pub began_ns: Option<Ns>,
    /// Completion of the flow's last measured request. Absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "ns"))]
    pub ended_ns: Option<Ns>,
    /// Response times of the flow's requests, by class.
    pub latency_ns: Latencies,
    /// Mean parts of the response times of the flow's requests, by class.
    pub breakdown_ns: Breakdowns,
    /// Reads and writes of the flow completed per second, from `began_ns` to `ended_ns`: over its own time. Absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "1/s"))]
    pub iops: Option<f64>,
    /// Bytes that the flow requested per second, from `began_ns` to `ended_ns`: over its own time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth_mb_s: Option<Bandwidth>,
    /// Comparison with a run of the same requests without the other flows. Absent unless requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<Alone>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Comparison of a flow without the other flows, and beside them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Alone {
    /// Mean response time of the flow's reads and writes without the other flows.
    #[schemars(extend("unit" = "ns"))]
    pub mean_ns: f64,
    /// Slowdown of the flow by the others: its mean response time beside them over that without them. Absent if the latter is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "ratio"))]
    pub slowdown: Option<f64>,
    /// Throughput that the others leave the flow: its reads and writes a second beside them over those without them. Absent if the latter is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "ratio"))]
    pub throughput: Option<f64>,
}

/// Fairness: how evenly several flows slow each other down.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Fairness {
    /// Largest slowdown of a flow.
    #[schemars(extend("unit" = "ratio"))]
    pub worst_slowdown: f64,
    /// Name of the flow with the largest slowdown.
    #[schemars(extend("unit" = "text"))]
    pub worst: String,
    /// Fairness: smallest slowdown of a flow over the largest. 1 is even.
    #[schemars(extend("unit" = "ratio"))]
    pub ratio: f64,
    /// Weighted speedup: the sum of 1 / slowdown over the flows. Their number if none is slowed down.
    #[schemars(extend("unit" = "ratio"))]
    pub weighted_speedup: f64,
    /// Harmonic speedup: the number of flows over the sum of their slowdowns. 1 if none is slowed down.
    #[schemars(extend("unit" = "ratio"))]
    pub harmonic_speedup: f64,
}

impl FlowResult {
    /// The result of a flow.
    pub(super) fn of(name: String, flow: RequestStats) -> Self {
        let own_ns = flow.span_ns.map_or(0, |(began, ended)| ended - began);
        FlowResult {
            iops: flow.iops(own_ns),
            bandwidth_mb_s: flow.bandwidth_mb_s(own_ns),
            name,
            requests: flow.requests,
            warm_up_requests: flow.left_out,
            began_ns: flow.span_ns.map(|(began, _)| began),
            ended_ns: flow.span_ns.map(|(_, ended)| ended),
            latency_ns: flow.latency_ns,
            breakdown_ns: flow.breakdown_ns,
            alone: None,
        }
    }

    /// Adds the comparison with a run of the same requests without the other flows. No effect if either run has no reads and writes.
    pub fn compare_with(&mut self, alone: &FlowResult) {
        let mean = |flow: &FlowResult| flow.latency_ns.all.as_ref().map(|latency| latency.mean);
        if let (Some(shared), Some(mean_ns)) = (mean(self), mean(alone)) {
            let throughput = self.iops.zip(alone.iops).filter(|(_, alone)| *alone > 0.0).map(|(beside, alone)| beside / alone);
            self.alone = Some(Alone { mean_ns, slowdown: (mean_ns > 0.0).then(|| shared / mean_ns), throughput });
        }
    }
}

impl Fairness {
    /// The fairness of flows whose slowdowns are known; `None` with fewer than two.
    pub fn of(flows: &[FlowResult]) -> Option<Self> {
        let slowdown = |flow: &FlowResult| Some((flow.alone.as_ref()?.slowdown?, flow.name.clone()));
        let slowdowns: Vec<_> = flows.iter().filter_map(slowdown).collect();
        let least = slowdowns.iter().map(|(slowdown, _)| *slowdown).min_by(f64::total_cmp)?;
        let (worst_slowdown, worst) = slowdowns.iter().max_by(|a, b| a.0.total_cmp(&b.0))?.clone();
        let sum = |of: fn(f64) -> f64| slowdowns.iter().map(|(slowdown, _)| of(*slowdown)).sum::<f64>();
        (slowdowns.len() > 1 && worst_slowdown > 0.0).then(|| Fairness {
            worst_slowdown,
            worst,
            ratio: least / worst_slowdown,
            weighted_speedup: sum(f64::recip),
            harmonic_speedup: slowdowns.len() as f64 / sum(|slowdown| slowdown),
        })
    }
}
