//! Counters of a drive's mechanisms. Each counter has its name, unit and sentence here, and nowhere else.
//!
//! To add a counter: add a line in the first group of [`Counters`], and the line of code that counts. Results, their schema, the reference
//! and the joining of drives follow.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, json};

use crate::units::Ns;

macro_rules! counters {
    (
        listed { $(#[doc = $sentence:literal] $name:ident,)* }
        figures { $($(#[doc = $doc:literal])* $figure:ident,)* }
    ) => {
        /// Counters of a drive's mechanisms.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Counters {
            $(#[doc = $sentence] pub $name: u64,)*
            $($(#[doc = $doc])* pub $figure: u64,)*
            /// Sum of the durations of GC jobs, from start to the end of the erase, ns. Jobs of many pools overlap: it may exceed 64 bits.
            pub job_ns: u128,
            /// The longest duration of a GC job, from start to the end of the erase, ns.
            pub job_ns_max: Ns,
        }

        /// Name and sentence of each counter that results list under `counters`, sorted by name. Each has the unit `count`.
        pub const COUNTERS: [(&str, &str); [$(stringify!($name)),*].len()] = [$((stringify!($name), $sentence.trim_ascii())),*];

        impl Counters {
            /// Name and value of each counter that results list.
            pub fn listed(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }
        }
    };
}

counters! {
    listed {
        /// Page reads that were answered from a write that had not ended.
        buffer_reads,
        /// Times that a program, or a read whose command needs the bus (read_command_ns), had to wait for its bus.
        bus_lines,
        /// Page moves within a plane, which need no bus.
        copybacks,
        /// Times that data in a register went on the bus ahead of a die that had waited longer (read_command_ns).
        data_first,
        /// Page moves given up before their program, since the host had written or trimmed the page.
        discarded_moves,
        /// GC jobs that followed another of their episode at once, since the pool had not all free blocks that `gc.until` asks for.
        episode_jobs,
        /// How often host operations that a GC job had excluded (`gc.scope`) went before the next job.
        host_first_between_jobs,
        /// Pages that waited in the host queue because the queue of their chip was full.
        host_queue_waits,
        /// GC jobs that idle time started although their pool had T_soft free blocks or more.
        idle_jobs,
        /// Times that such a job paused because a request came.
        idle_pauses,
        /// GC jobs that ended while another plane of their die waited for its turn (gc.turns = job).
        job_turns,
        /// GC jobs that a host operation that waited for the die set off (`gc.begin`).
        jobs_set_off,
        /// Reads that did not join a multi-plane read, since their page has another offset (multiplane_aligned_reads).
        misaligned_reads,
        /// Page moves suspended at a preemption point between two of their stages.
        moves_put_aside,
        /// Multi-plane operations.
        multiplane_operations,
        /// Multi-plane programs, which are among these.
        multiplane_programs,
        /// Operations that overlapped another through the cache register.
        overlapped_operations,
        /// Writes that waited for credit that GC earns, or behind one that did (`gc.pace`).
        paced_writes,
        /// Mapping units of padding: what programs of host and GC left of their flash pages (`ftl.map_unit_bytes`).
        padded_units,
        /// Operations that waited for an older one on their page.
        page_order_waits,
        /// Programs of parity (`ftl.parity_stripe`): each in the time of the program before it.
        parity_programs,
        /// Flash reads for the host, of one plane each, that transferred only a part of their page (`device.partial_reads`).
        partial_reads,
        /// Page reads served while a program paused (write_pausing).
        pause_reads,
        /// Pages read by commands that held the bus (read_command_ns).
        read_commands,
        /// Reads that a later one bypassed (read_bypass).
        read_passes,
        /// Reads of mapping units that came with the flash read of another unit of their request, of the same flash page.
        reads_along,
        /// Pages read while a program or erase was suspended for them (`scheduler.suspend`).
        reads_while_suspended,
        /// Writes given a page of another block, since a GC job had the shared open block to itself.
        redirected_writes,
        /// Page moves that began out of order because a host operation merges with them.
        reordered_moves,
        /// Pages read in order to write a part of them.
        rmw_reads,
        /// Times that a high-priority write made GC run to completion.
        s3_entries,
        /// Steps that host operations would have let begin, had an active job of the die had more of them left (`gc.advance`).
        steps_forgone,
        /// Steps of GC jobs that went before a host operation that waited, as it was their turn (`gc.advance = "in-turns"`).
        steps_in_turn,
        /// Steps of GC jobs that a host operation let begin (`gc.advance`).
        steps_with_requests,
        /// Steps that GC jobs took without one, since nothing else could serve what waited, or GC ran to completion, or the drive was idle.
        steps_without_requests,
        /// Erases suspended for reads (`scheduler.suspend`), each time.
        suspended_erases,
        /// Programs suspended for reads (`scheduler.suspend`), each time.
        suspended_programs,
        /// Pages unmapped by trims.
        trimmed_pages,
        /// Page reads of pages that held no data.
        unmapped_reads,
        /// Victims that the greedy policy chose because the configured policy named none, or one that cannot be collected.
        victim_fallbacks,
        /// Writes that a later one bypassed (write_bypass).
        write_passes,
        /// Times that a program of the host paused for reads (write_pausing).
        write_pauses,
    }
    figures {
        /// Flash reads for host requests, those of read-modify-writes included.
        host_reads,
        /// Pages programmed for the host.
        host_programs,
        /// Flash reads of translation pages (`ftl.map_cache_bytes`), in mapping units.
        map_reads,
        /// Units of translation pages programmed, but for those that GC moves.
        map_programs,
        /// Flash reads of page moves.
        gc_reads,
        /// Pages moved by GC: programs, stale copies included.
        pages_moved,
        /// Those of translation pages.
        map_pages_moved,
        /// Moved pages that were overwritten or trimmed before their program ended.
        stale_moves,
        /// Blocks erased.
        erases,
        /// GC jobs that have ended.
        jobs,
        /// Host reads answered by a page move: by its transfer, from its register or from the controller's buffer.
        merged_reads,
        /// Host writes that took the place of a page move.
        merged_writes,
        /// Host reads whose transfer a page move's read overlapped.
        pipelined_reads,
        /// Host writes whose transfer overlapped a page move's program.
        pipelined_writes,
        /// Host operations that began while a GC job on their die could have continued.
        preemptions,
        /// GC operations suspended in the array.
        suspensions,
    }
}

/// The schema of the listed counters, each with its unit and sentence.
pub(super) fn schema(_: &mut SchemaGenerator) -> Schema {
    let described =
        |(name, sentence): (&str, &str)| (name.to_string(), json!({ "type": "integer", "unit": "count", "description": sentence }));
    let properties: Map<_, _> = COUNTERS.into_iter().map(described).collect();
    json_schema!({ "type": "object", "properties": properties })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_each_has_its_own_value() {
        assert!(COUNTERS.is_sorted_by_key(|(name, _)| *name));
        let counters = Counters { bus_lines: 3, write_pauses: 5, erases: 7, ..Counters::default() };
        let counted: Vec<_> = counters.listed().filter(|(_, count)| *count > 0).collect();
        assert_eq!(counted, [("bus_lines", 3), ("write_pauses", 5)]);
    }
}
