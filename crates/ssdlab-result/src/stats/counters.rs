//! Counters of a drive's mechanisms. Each counter has its name, unit and sentence here, and nowhere else.
//!
//! To add a counter: add a line in the first group of [`Counters`], and the line of code that counts. Results, their schema, the reference
//! and the joining of drives follow. Jobs and their moves are counted by cause, with the names and sentences of [`Cause`].

use std::sync::LazyLock;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, json};

use ssdlab_base::cause::Cause;
use ssdlab_base::units::Ns;

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
            /// By cause: GC jobs that have begun, those that collect a superblock once each.
            pub jobs_by_cause: [u64; Cause::COUNT],
            /// By cause: pages (mapping units) that GC jobs moved, stale ones included.
            pub moves_by_cause: [u64; Cause::COUNT],
            /// Sum of the durations of GC jobs, from start to the end of the erase, ns. Jobs of many pools overlap: it may exceed 64 bits.
            pub job_ns: u128,
            /// The longest duration of a GC job, from start to the end of the erase, ns.
            pub job_ns_max: Ns,
        }

        const NAMED: [(&str, &str); [$(stringify!($name)),*].len()] = [$((stringify!($name), $sentence.trim_ascii())),*];

        impl Counters {
            /// Name and value of each counter that results list.
            pub fn listed(&self) -> impl Iterator<Item = (&'static str, u64)> {
                let by_cause = Cause::JOBS.into_iter().zip(self.jobs_by_cause).chain(Cause::MOVES.into_iter().zip(self.moves_by_cause));
                [$((stringify!($name), self.$name)),*].into_iter().chain(by_cause.map(|((name, _), count)| (name, count)))
            }

            /// GC jobs that have begun for this cause.
            pub fn jobs_for(&self, cause: Cause) -> u64 {
                self.jobs_by_cause[cause as usize]
            }
        }
    };
}

counters! {
    listed {
        /// Page reads of the host answered from a write that had not ended.
        buffer_reads,
        /// Programs, and reads whose command needs the bus (`device.read_command_ns`), that had to wait for the bus.
        bus_lines,
        /// Mapping units that a GC job left in the controller's buffer for the next job of its pool (`gc.leftover`).
        carried_units,
        /// Page moves by copyback: within a plane, without the bus.
        copybacks,
        /// Transfers of data in registers that went before a die that had waited longer for the bus (`device.read_command_ns`).
        data_first,
        /// Mapping units of the host written past the cache of blocks in SLC mode (`slc`), those in place of page moves included.
        direct_writes,
        /// Page moves given up before their program, since the host had overwritten or trimmed the page.
        discarded_moves,
        /// Page moves that went to another stream than the placement policy chose, since no block was free for that (`ftl.placement`).
        displaced_moves,
        /// GC jobs that followed another job of their episode at once, since the pool had too few free blocks to end it (`gc.until`).
        episode_jobs,
        /// Pulses that erased blocks (`wear.erase`).
        erase_pulses,
        /// Erases that failed, and those after which their block was worn out (`wear`): the block was retired.
        failed_erases,
        /// Programs that failed, of host and GC: their data were programmed again in another block (`wear`).
        failed_programs,
        /// Mapping units moved out of blocks in SLC mode (`slc`), stale copies included.
        folded_pages,
        /// GC jobs that folded a block in SLC mode (`slc`).
        folds,
        /// Operations that waited since the drive was too warm: for power under the lower cap, or for the end of a stop (`thermal`).
        heat_waits,
        /// Ends of GC jobs at which waiting host operations of their scope (`gc.scope`) went before the next job.
        host_first_between_jobs,
        /// Pages that waited in the host queue: the queue of their chip was full, or no chip had room (dynamic allocation).
        host_queue_waits,
        /// Pauses of idle-time GC jobs because a request came.
        idle_pauses,
        /// GC jobs that ended while another plane of their die waited for its turn (`gc.turns = "job"`).
        job_turns,
        /// GC jobs set off by a host operation that waited for the die (`gc.begin`).
        jobs_set_off,
        /// Zones that a log of the host began to collect (`zones.log`).
        log_collections,
        /// Reads of mapping units of which a write to a log of the host has a part (`zones.log`).
        log_fills,
        /// Merges of log-block mapping that copied a whole block (`zones.log = "bast"` or `"fast"`).
        log_full_merges,
        /// Mapping units that a log of the host moved, stale copies included (`zones.log`).
        log_moved_units,
        /// Mapping units that merges of log-block mapping wrote without data, so that others keep their offset in the block.
        log_padded_units,
        /// Merges of log-block mapping that copied the rest of a block to its log zone.
        log_partial_merges,
        /// Merges of log-block mapping that copied nothing: the log zone had the whole block in order.
        log_switch_merges,
        /// Writes that waited for a free zone of a log of the host, or for earlier ones that did (`zones.log`).
        log_waits,
        /// Mapping units of writes that a log of the host sent to zones (`zones.log`).
        log_written_units,
        /// Mapping units that a level above the drive had accepted, and for which no page was left once the drive was read-only (`wear`).
        lost_units,
        /// Reads that did not join a multi-plane read, since their page has another offset (`device.multiplane_aligned_reads`).
        misaligned_reads,
        /// Page moves suspended at a preemption point between two of their stages.
        moves_put_aside,
        /// Multi-plane operations of the host: reads and programs.
        multiplane_operations,
        /// Multi-plane programs of the host.
        multiplane_programs,
        /// Decisions of a user-defined order of operations, or of the fair one (`scheduler.order`), each between two operations or more.
        order_choices,
        /// Decisions that a user-defined order of operations left to the configured order.
        order_fallbacks,
        /// Operations of the host that the fair order of flows chose in place of the oldest (`scheduler.order`).
        order_passes,
        /// GC jobs for space that began outside the window of their drive, since blocks were short (`array.window_us`).
        outside_window,
        /// Host operations that began while another operation was in service on their die (cache register).
        overlapped_operations,
        /// Writes that waited for credit that GC earns, or behind a request that did (`gc.pace`).
        paced_writes,
        /// Mapping units of padding: parts of flash pages that programs of host and GC left without data (`ftl.map_unit_bytes`).
        padded_units,
        /// Operations that waited for an older operation on their page.
        page_order_waits,
        /// Programs of parity (`ftl.parity_stripe`), each with the program before it.
        parity_programs,
        /// Flash reads for the host, of one plane each, that transferred only a part of their page (`device.partial_reads`).
        partial_reads,
        /// Page reads served while a program paused (`scheduler.write_pausing`).
        pause_reads,
        /// Mapping units that waited in front of a level above the drive, since the drive had no place for them that it could keep (`wear`).
        place_waits,
        /// Programs of host and GC that began to write their page plane by plane, since there was time (`device.plane_programs`).
        plane_by_plane,
        /// Programs that had begun plane by plane and wrote the last planes at once, since there was no time any more.
        planes_together,
        /// Operations that waited for power, since those in service drew too much of the cap (`energy.cap_w`).
        power_waits,
        /// Programs of page moves that had been dealt to a die and went to another, since a program there had failed (`ftl.reclaim_unit`, `wear`).
        programs_dealt_again,
        /// Pages read by commands that occupied the bus (`device.read_command_ns`).
        read_commands,
        /// Queued reads that a later read bypassed (`scheduler.read_bypass`).
        read_passes,
        /// Reads of mapping units that came with the flash read of another unit of their request, of the same flash page.
        reads_along,
        /// Times that a program made way for reads between two planes (`device.plane_programs`).
        reads_between_planes,
        /// Pages read while a program or erase was suspended for them (`scheduler.suspend`), or was between two planes.
        reads_while_suspended,
        /// Writes given a page of another block, since a GC job had the shared open block to itself.
        redirected_writes,
        /// Writes and trims that the drive rejected, in whole or in part, since it was read-only (`wear`).
        rejected_writes,
        /// Host reads that waited while their page moved to another die, and have followed it (`ftl.reclaim_unit`).
        relocated_reads,
        /// Page moves that began out of order because a host operation merges with them.
        reordered_moves,
        /// Spare blocks that took the places of retired blocks in superblocks (`ftl.reclaim_unit`, `wear`).
        replaced_blocks,
        /// Writes that went to another chip, since failed blocks left no room in that for which they waited (`wear`, dynamic allocation).
        rerouted_writes,
        /// Blocks retired since they had been erased as often as they can be (`wear.endurance`).
        retired_by_endurance,
        /// Blocks retired since an erase failed (`wear.erase_fails_ppm`).
        retired_by_erase,
        /// Blocks retired since a program failed (`wear.program_fails_ppm`).
        retired_by_program,
        /// Flash reads of host and GC with at least one step that failed before the last (`errors.retry`).
        retried_reads,
        /// Steps of flash reads that failed before the last (`errors.retry`).
        retry_steps,
        /// Page reads of partial writes (read-modify-write).
        rmw_reads,
        /// GC jobs for space that began without the turn of their pool, since it was down to the reserve (`array.rotation_forced`).
        rotation_forced,
        /// Entries into state S3: a high-priority write made GC run to completion.
        s3_entries,
        /// Erases whose last pulse was shorter than a whole one (`wear.erase`).
        shortened_erases,
        /// Mapping units (pages, without ftl.map_unit_bytes) left without data in superblocks that closed early (`ftl.reclaim_unit`).
        skipped_units,
        /// Erases of blocks in SLC mode (`slc`).
        slc_erases,
        /// Mapping units of translation pages written to blocks in SLC mode (`slc.map_mode`).
        slc_map_writes,
        /// Mapping units of padding and parity in programs of blocks in SLC mode (`slc`).
        slc_padded_units,
        /// Flash reads of the host from blocks in SLC mode (`slc`).
        slc_reads,
        /// Mapping units of the host written to blocks in SLC mode (`slc`).
        slc_writes,
        /// Steps that host operations would have let begin, if an active GC job of the die had had more steps left (`gc.advance`).
        steps_forgone,
        /// Steps of GC jobs that went before a waiting host operation, as it was their turn (`gc.advance = "in-turns"`).
        steps_in_turn,
        /// Steps of GC jobs that went before a waiting write, as earlier writes to their pool owed them (`gc.pace = "room"`).
        steps_owed,
        /// Steps of GC jobs that a host operation let begin (`gc.advance`).
        steps_with_requests,
        /// Steps of GC jobs without a host operation (`gc.advance`): none could begin, GC ran to completion, or the drive was idle.
        steps_without_requests,
        /// Superblocks of several pools whose collection began (`ftl.reclaim_unit`).
        superblocks_collected,
        /// Superblocks of several pools taken to be filled (`ftl.reclaim_unit`).
        superblocks_opened,
        /// Suspensions of erases for reads (`scheduler.suspend`).
        suspended_erases,
        /// Suspensions of programs for reads (`scheduler.suspend`).
        suspended_programs,
        /// Pages unmapped by trims.
        trimmed_pages,
        /// Flash reads of page moves whose data were lost: they are moved as they are (`errors.retry`).
        uncorrectable_moves,
        /// Flash reads of the host whose data were lost (`errors.retry`).
        uncorrectable_reads,
        /// Reads of pages that held no data.
        unmapped_reads,
        /// Victims that a user-defined policy was asked for.
        victim_choices,
        /// Victims that the greedy policy chose because the configured policy named no block, or one that cannot be collected.
        victim_fallbacks,
        /// Queued writes that a later write bypassed (`scheduler.write_bypass`).
        write_passes,
        /// Pauses of host programs for reads (`scheduler.write_pausing`).
        write_pauses,
        /// Writes that went to another die of their group, since theirs had no room left in the SLC cache (`slc.full`, `ftl.reclaim_unit`).
        writes_dealt_again,
        /// Appends to zones (`zones`).
        zone_appends,
        /// Zones closed by the drive since another was to be opened, and as many were open as may be (`zones.max_open`).
        zone_closes,
        /// Commands rejected for the state of their zone, their address or a limit (`zones`), and those that need zones, on a drive without.
        zone_errors,
        /// Of these, commands that end beyond the capacity of their zone.
        zone_errors_boundary,
        /// Of these, writes and appends to full zones.
        zone_errors_full,
        /// Of these, commands that would open a zone although as many are open or active as may be (`zones.max_open`, `zones.max_active`).
        zone_errors_limit,
        /// Of these, writes that do not begin at the write pointer, appends not at the beginning of a zone, and both if not in whole mapping units.
        zone_errors_pointer,
        /// Of these, commands that open a full zone, or close an empty or full one.
        zone_errors_state,
        /// Zones that were made full by a command (`zones`).
        zone_finishes,
        /// Mapping units of padding that finishes of zones wrote (`zones`).
        zone_padded_units,
        /// Zones that were reset, empty ones not included (`zones`).
        zone_resets,
        /// Mapping units left without data in open blocks of zones that were reset (`zones`).
        zone_skipped_units,
        /// Commands that waited for an earlier one on the same zone (`zones`).
        zone_waits,
    }
    figures {
        /// Number of flash reads for host requests, those of read-modify-writes included.
        host_reads,
        /// Number of pages programmed for the host.
        host_programs,
        /// Flash reads of translation pages (`ftl.map_cache_bytes`), in mapping units.
        map_reads,
        /// Programs of translation pages (`ftl.map_cache_bytes`), page moves excluded, in mapping units.
        map_programs,
        /// Number of flash reads of page moves.
        gc_reads,
        /// Number of pages moved by GC: programs of page moves, stale ones included.
        pages_moved,
        /// Number of pages moved by GC that are of translation pages, in mapping units.
        map_pages_moved,
        /// Number of moved pages that were overwritten or trimmed before their program ended.
        stale_moves,
        /// Number of blocks erased.
        erases,
        /// Number of GC jobs that have ended.
        jobs,
        /// Number of host reads answered by a page move: by its transfer, from its register or from the controller's buffer.
        merged_reads,
        /// Number of host writes that took the place of a page move.
        merged_writes,
        /// Number of host reads whose transfer overlapped the read of a page move.
        pipelined_reads,
        /// Number of host writes whose transfer overlapped the program of a page move.
        pipelined_writes,
        /// Number of host operations that began while a GC job on their die could have continued.
        preemptions,
        /// Number of GC operations that host operations suspended in the array (`gc.suspend`).
        suspensions,
    }
}

/// Name and sentence of each counter that results list under `counters`, sorted by name. Each has the unit `count`.
pub static COUNTERS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let mut counters = [NAMED.as_slice(), &Cause::JOBS, &Cause::MOVES].concat();
    counters.sort_unstable();
    counters
});

/// The schema of the listed counters, each with its unit and sentence.
pub(super) fn schema(_: &mut SchemaGenerator) -> Schema {
    let described =
        |&(name, sentence): &(&str, &str)| (name.to_string(), json!({ "type": "integer", "unit": "count", "description": sentence }));
    let properties: Map<_, _> = COUNTERS.iter().map(described).collect();
    json_schema!({ "type": "object", "properties": properties })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_each_has_its_own_value() {
        assert!(NAMED.is_sorted_by_key(|(name, _)| *name));
        let mut counters = Counters { bus_lines: 3, write_pauses: 5, erases: 7, ..Counters::default() };
        (counters.jobs_by_cause[Cause::Refresh as usize], counters.moves_by_cause[Cause::Leveling as usize]) = (2, 9);
        let counted: Vec<_> = counters.listed().filter(|(_, count)| *count > 0).collect();
        assert_eq!(counted, [("bus_lines", 3), ("write_pauses", 5), ("refresh_jobs", 2), ("leveling_moves", 9)]);
        assert!(COUNTERS.iter().map(|(name, _)| name).is_sorted_by(|a, b| a < b));
    }
}
