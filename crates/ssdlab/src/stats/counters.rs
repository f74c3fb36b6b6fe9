//! The counters of a result: how often each mechanism fired that has no figure of its own.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, json};

/// Name and sentence of each, in the order of the names.
pub const COUNTERS: [(&str, &str); 23] = [
    ("buffer_reads", "Pages read that were answered from a write still under way."),
    ("bus_lines", "Times that a program had to wait for its bus."),
    ("copybacks", "Page moves within a plane, which need no bus."),
    ("discarded_moves", "Page moves given up before their program, since the host had written or trimmed the page."),
    ("host_first_between_jobs", "Times that what the host had waiting went first between two jobs."),
    ("host_queue_waits", "Pages that a full chip queue held in the host queue."),
    ("idle_jobs", "Jobs begun in idle time while their pool had T_soft free blocks or more."),
    ("idle_pauses", "Times that such a job paused because a request had come."),
    ("moves_put_aside", "Page moves put aside between two of their stages."),
    ("multiplane_operations", "Operations of several planes at once."),
    ("overlapped_operations", "Operations that overlapped another through the cache register."),
    ("page_order_waits", "Operations that waited for an older one on their page."),
    ("pause_reads", "Pages read while a program paused (write_pausing)."),
    ("read_passes", "Operations of reads that a later one went ahead of (read_bypass)."),
    ("redirected_writes", "Writes given a page of another block, since a job had the one being filled to itself."),
    ("reordered_moves", "Page moves that went ahead of their turn because a host operation joins them."),
    ("rmw_reads", "Pages read in order to write a part of them."),
    ("s3_entries", "Times that a high-priority write made collection run to completion."),
    ("trimmed_pages", "Pages unmapped by trims."),
    ("unmapped_reads", "Pages read that held no data."),
    ("victim_fallbacks", "Victims for which the greedy choice stood in, since the policy named none, or none that can be collected."),
    ("write_passes", "Operations of writes that a later one went ahead of (write_bypass)."),
    ("write_pauses", "Times that a program of the host paused for reads (write_pausing)."),
];

/// The schema of all of them, each with its unit and sentence.
pub(super) fn schema(_: &mut SchemaGenerator) -> Schema {
    let described =
        |(name, sentence): (&str, &str)| (name.to_string(), json!({ "type": "integer", "unit": "count", "description": sentence }));
    let properties: Map<_, _> = COUNTERS.into_iter().map(described).collect();
    json_schema!({ "type": "object", "properties": properties })
}
