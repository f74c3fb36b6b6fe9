//! The table of statistics: name, unit and sentence, from the doc comments of [`RunResult`].

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::RunResult;

/// One statistic of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statistic {
    /// Path of the statistic in the result, such as `latency_ns.read.p99`.
    pub name: String,
    /// Unit of the statistic.
    pub unit: String,
    /// Description of the statistic, in a sentence; for a member of a group, after the sentence of the group.
    pub sentence: String,
}

/// All statistics that a result can have, sorted by name.
pub fn registry() -> Vec<Statistic> {
    let mut table = Vec::new();
    collect(&schema(), "", "", &mut table);
    table.sort_by(|a, b| a.name.cmp(&b.name));
    table
}

/// The JSON Schema of a result, without references. Each statistic carries its `unit`.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<RunResult>().to_value()
}

/// Adds the statistics below `schema`, which has the path `name` and the description `context`.
fn collect(schema: &Value, name: &str, context: &str, table: &mut Vec<Statistic>) {
    for (key, field) in properties(schema).into_iter().flatten() {
        let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
        // Doc comments are wrapped; a table is not.
        let described = text(field, "description").split_whitespace().collect::<Vec<_>>().join(" ");
        let sentence = if context.is_empty() { described } else { format!("{context} {described}") };
        match field.get("unit") {
            Some(_) => table.push(Statistic { name, unit: text(field, "unit").to_string(), sentence }),
            None => collect(field, &name, &sentence, table),
        }
    }
}

/// The fields of an object, or of the object that an optional field may hold.
fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    let of = |schema: &'_ Value| schema.get("properties").is_some();
    let schema = match schema.get("anyOf") {
        Some(choices) => choices.as_array()?.iter().find(|choice| of(choice))?,
        None => schema,
    };
    schema.get("properties")?.as_object()
}

fn text<'a>(schema: &'a Value, key: &str) -> &'a str {
    schema.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statistic_has_a_unit_and_a_sentence() {
        let table = registry();
        for Statistic { name, unit, sentence } in &table {
            assert!(!unit.is_empty() && sentence.ends_with('.'), "{name} [{unit}]: {sentence}");
        }
        let find = |name: &str| table.iter().find(|statistic| statistic.name == name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(find("latency_ns.read.p99").unit, "ns");
        assert!(find("breakdown_ns.all.dram").sentence.contains("DRAM"));
    }

    #[test]
    fn the_table_has_all_names_that_users_rely_on() {
        let names: Vec<String> = registry().into_iter().map(|statistic| statistic.name).collect();
        let groups: [(&str, &[&str], &str); 50] = [
            (
                "",
                &[""],
                "version config flows streams idle_keys remarks seed digest order_source placement_source simulated_ns prepare_s wall_s requests_per_s iops write_stall_ns_max percentile_error workload",
            ),
            ("requests.", &[""], "read write trim flush"),
            (
                "latency_ns.",
                &["all.", "read.", "write.", "seq_read.", "rand_read."],
                "count mean std variance cv min p50 p90 p95 p99 p99_9 p99_99 max",
            ),
            (
                "counters.",
                &[""],
                "buffer_reads bus_lines copybacks data_first discarded_moves displaced_moves episode_jobs host_first_between_jobs \
                 host_queue_waits idle_jobs idle_pauses",
            ),
            (
                "counters.",
                &[""],
                "job_turns jobs_set_off misaligned_reads moves_put_aside multiplane_operations multiplane_programs order_choices order_fallbacks overlapped_operations paced_writes padded_units \
                 page_order_waits parity_programs partial_reads pause_reads plane_by_plane planes_together power_waits read_commands read_passes reads_along reads_between_planes reads_while_suspended redirected_writes reordered_moves rmw_reads s3_entries \
                 steps_forgone steps_in_turn steps_with_requests steps_without_requests suspended_erases suspended_programs trimmed_pages unmapped_reads \
                 victim_choices victim_fallbacks write_passes write_pauses reclaim_jobs refresh_jobs retried_reads retry_steps uncorrectable_moves uncorrectable_reads \
                 relocated_reads skipped_units superblocks_collected superblocks_opened \
                 failed_erases failed_programs rejected_writes retired_by_endurance retired_by_erase retired_by_program \
                 rerouted_writes retirement_jobs retirement_moves leveling_jobs leveling_moves erase_pulses shortened_erases \
                 direct_writes folded_pages folds idle_folds slc_erases slc_reads slc_writes space_folds",
            ),
            (
                "breakdown_ns.",
                &["all.", "read.", "write."],
                "host_queue die_queue gc bus_queue transfer array suspended dram controller link mapping pace power retry decode",
            ),
            ("gc.", &[""], "jobs pages_moved stale_moves erases write_amplification page_write_amplification time_share victim_source"),
            ("gc.", &[""], "duration_ns.mean duration_ns.max preemptions suspensions free_blocks_min"),
            ("gc.", &["merged.", "pipelined."], "read write read_share write_share"),
            ("gc.state_ns.", &[""], "s0 s1 s2 s3"),
            ("slack.", &["read.", "write."], "mean_ns std_ns"),
            ("slack.", &[""], "estimation_error estimation_bias"),
            ("slack.", &["passed.", "paused.", "chips."], "read write"),
            ("slack.", &["waiting."], "mean longest shortest"),
            (
                "array.",
                &[""],
                "level drives read_modify_writes reconstruct_writes full_writes update_reads parity_writes degraded_reads row_waits",
            ),
            ("cache.", &[""], "capacity_pages lookups read_hits write_hits hit_ratio delayed_hits evictions destages idle_destages"),
            ("cache.", &[""], "padded_pages dirty_pages gc_skips gc_fallbacks gc_bypasses spread_groups policy_source policy_fallbacks"),
            ("buffer.", &[""], "capacity units rewrites trimmed read_hits full_waits fills programs part_programs timeouts held"),
            ("fairness.", &[""], "worst worst_slowdown ratio"),
            ("interface.", &[""], "queue_full_waits passing_commands order_waits"),
            (
                "mapping.",
                &[""],
                "pages capacity hits delayed_hits misses hit_ratio unread full_waits order_waits write_backs moves_cached moves_gathered",
            ),
            ("mapping.", &[""], "updates flash_reads flash_programs pages_moved cached dirty pending"),
            ("interface.", &[""], "commands slot_waits core_waits link_waits held_commands rate_waits cores link_in link_out"),
            ("cache.response_ns.", &["no_gc.", "gc."], "count mean max"),
            ("series.", &[""], "bin_ns bins warm_up_ns bus dies power streams"),
            ("warm_up.", &[""], "requests ns"),
            ("series.latency_ns.", &["read.", "write."], "count mean max"),
            ("series.outstanding.", &[""], "mean max"),
            ("series.gc.", &[""], "chips chips_per_row jobs pages_moved"),
            ("series.written.", &[""], "host_bytes flash_bytes"),
            ("series.free_blocks.", &[""], "min mean soft hard"),
            ("series.states.", &[""], "s0 s1 s2 s3"),
            ("series.cache.", &[""], "hits lookups dirty"),
            ("histograms.", &["read.", "write."], "upper_ns count"),
            ("", &["wear."], "mean std max"),
            ("wear.histogram.", &[""], "least width blocks"),
            ("late.", &[""], "scale count mean max"),
            ("power_cut.", &[""], "at_ns unanswered lost_writes lost_bytes"),
            ("blocks.", &[""], "file instants interval_ns end_ns thinned"),
            ("timeline.", &[""], "file slices from_ns to_ns full"),
            ("flash.", &[""], "reads programs host_programs gc_programs erases"),
            ("ages.", &[""], "by_retries reads retried retries_mean uncorrectable"),
            ("ages.", &["bit_error_rate.", "cycles.", "days.", "reads_of_block."], "max mean min"),
            ("energy.", &[""], "read_j program_j erase_j bus_j dram_j link_j controller_j idle_j total_j gc_array_j mean_w nj_per_byte"),
            (
                "slc.",
                &[""],
                "static_blocks dynamic_blocks capacity_bytes written_bytes direct_bytes cached_share folded_bytes folds blocks_in_use held_bytes",
            ),
            ("slc.", &["static_wear.", "other_wear."], "mean std max histogram.least histogram.width histogram.blocks"),
            ("series.slc.", &[""], "cached_bytes direct_bytes folded_bytes"),
            (
                "lifetime.",
                &[""],
                "retired_blocks worn_out failed_erases failed_programs spare_left read_only_ns read_only_cause read_only_pool written_bytes one_percent_bytes erase_wear tbw dwpd",
            ),
            ("bytes_written.", &[""], "host flash data gc mapping padding parity held"),
            ("", &[""], "utilisation.chips utilisation.channels bandwidth_mb_s.read bandwidth_mb_s.write"),
        ];
        let mut expected: Vec<String> = Vec::new();
        for (group, classes, leaves) in groups {
            expected.extend(classes.iter().flat_map(|class| leaves.split(' ').map(move |leaf| format!("{group}{class}{leaf}"))));
        }
        let report = "kind pages_mapped valid_share pages_overwritten write_amplification steady settled settled_write_amplification timed_requests \
             timed_drive_writes free_blocks_min free_blocks_max soft_blocks";
        expected.extend(report.split(' ').map(|leaf| format!("precondition.{leaf}")));
        expected.sort();
        assert_eq!(names, expected);
    }
}
