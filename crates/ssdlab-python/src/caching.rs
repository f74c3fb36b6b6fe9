//! A cache by itself.

use pyo3::prelude::*;
use serde_json::json as value;
use ssdlab::cache::replay::{self, Change};
use ssdlab::error::Error;
use ssdlab::request::{Request, RequestKind};

use crate::errors::{Failure, json};
use crate::policies;
use crate::runs::PyConfig;
use crate::workers;

/// Events of a replay (request, kind, page), and its counters as JSON text.
type Replayed = (Vec<(u64, &'static str, u32)>, String);

/// The kind of request called `op`.
pub fn kind(op: &str) -> Result<RequestKind, Failure> {
    // The sources of a copy cannot be named here.
    let kinds = || RequestKind::ALL.into_iter().filter(|&kind| kind != RequestKind::Copy);
    let names = || kinds().map(RequestKind::name).collect::<Vec<_>>().join(", ");
    kinds().find(|kind| kind.name() == op).ok_or_else(|| Failure::Core(Error::Usage(format!("op = \"{op}\" is none of {}", names()))))
}

/// Replays requests (op, offset and length in bytes) on the configured cache; `in_gc`: (request, target, whether GC begins or ends there).
#[pyfunction]
#[pyo3(signature = (config, requests, in_gc, eviction=None))]
pub fn replay_cache(
    py: Python<'_>,
    config: &PyConfig,
    requests: Vec<(String, u64, u64)>,
    in_gc: Vec<(u64, u32, bool)>,
    eviction: Option<policies::Given>,
) -> PyResult<Replayed> {
    let requests: Vec<Request> = requests
        .into_iter()
        .map(|(op, offset, length)| {
            Ok(Request { arrival_ns: 0, kind: kind(&op)?, offset, length, high_priority: false, flow: 0, handle: None })
        })
        .collect::<Result<_, Failure>>()?;
    let changes: Vec<Change> = in_gc.into_iter().map(|(request, target, in_gc)| Change { request, target, in_gc }).collect();
    let own_policy = eviction.is_some();
    let eviction = eviction.map(policies::eviction);
    let config = config.0.clone();
    let replayed = workers::call(py, std::sync::Arc::default(), None, move |control| {
        replay::replay(&config, &requests, &changes, eviction.as_ref(), &control.caller)
    })?;
    let mut counters = value!({
        "lookups": replayed.counters.lookups,
        "read_hits": replayed.counters.read_hits,
        "write_hits": replayed.counters.write_hits,
        "evictions": replayed.counters.evictions,
        "destages": replayed.counters.destages,
        "padded_pages": replayed.padded_pages,
        "gc_skips": replayed.counters.gc_skips,
        "gc_fallbacks": replayed.counters.gc_fallbacks,
        "gc_bypasses": replayed.counters.gc_bypasses,
        "spread_groups": replayed.counters.spread_groups,
        "dirty_pages": replayed.dirty_pages,
    });
    if own_policy {
        counters["policy_fallbacks"] = replayed.counters.policy_fallbacks.into();
    }
    let happened = replayed.happened.iter().map(|event| (event.request, event.what.name(), event.page)).collect();
    Ok((happened, json(&counters).map_err(Failure::Core)?))
}
