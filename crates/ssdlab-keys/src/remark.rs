//! Remarks on numbers of a result that hold only under a condition, and on keys without effect.
//!
//! The part of the program that knows the facts makes a remark (the trace reader for units and times, the run for write amplification that
//! has not settled). Every table, page and export shows it beside the number that it is about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One remark of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Remark {
    /// Code of the remark, which stays the same between versions: `not-settled`, `overloaded`, `no-times`.
    #[schemars(extend("unit" = "text"))]
    pub code: String,
    /// Severity: how much the number may mislead without the remark.
    #[schemars(with = "String", extend("unit" = "text"))]
    pub severity: Severity,
    /// Path of the number in the result that the remark is about (`gc.write_amplification`). Empty, and absent in JSON, if it is about the
    /// whole run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(extend("unit" = "text"))]
    pub about: String,
    /// The condition, with its numbers: one sentence of about 120 characters at most.
    #[schemars(extend("unit" = "text"))]
    pub sentence: String,
    /// The remedy: one sentence that names keys or options.
    #[schemars(extend("unit" = "text"))]
    pub remedy: String,
    /// The reason, and what else follows, in sentences. Empty, and absent in JSON, if the condition says it all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(extend("unit" = "text"))]
    pub why: String,
}

/// How much a number may mislead without its remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The number holds, and the remark is worth knowing.
    Note,
    /// The number holds only under the condition that the sentence states.
    Warning,
}

/// Every code of a remark, sorted, with its rule. The Python package makes the remarks of comparisons, sweeps and fitted drives, this crate
/// all others.
pub const CODES: &[Code] = &[
    Code {
        name: "above-cap",
        severity: Severity::Warning,
        rule: "The mean power of a drive is above `energy.cap_w`, which holds `energy.idle_mw` and the power of the flash arrays only.",
    },
    Code {
        name: "bursts",
        severity: Severity::Note,
        rule: "100 or more requests were measured, all in open loop and not `overloaded`, and met on their arrival, on average, twice as many outstanding requests as there are dies or more, and 4 times as many or more as were outstanding on average over time.",
    },
    Code {
        name: "capacity-uncertain",
        severity: Severity::Warning,
        rule: "With `load`: the 95 % interval of the rate that the drive sustains is wider than 10 % of it to either side; or it changes within the run that shows it, by 5 % or more and by 3 standard errors.",
    },
    Code {
        name: "closed-slowdown",
        severity: Severity::Note,
        rule: "With `alone`: a flow in closed loop is compared with a run without the others.",
    },
    Code {
        name: "coarse-samples",
        severity: Severity::Warning,
        rule: "A drive was throttled, or stopped, by its temperature, and `thermal.sample_us` is longer than `thermal.time_constant_s`.",
    },
    Code {
        name: "coarse-times",
        severity: Severity::Warning,
        rule: "The times of a trace in open loop are multiples of 10 us or more (all, or 99 % of the gaps between them that are not 0), and one request in ten or more arrives with the one before.",
    },
    Code {
        name: "different-parts",
        severity: Severity::Note,
        rule: "Flows in open loop that read one trace file have different values of `skip`, `last`, `limit_s` or `repeat`.",
    },
    Code {
        name: "fails-early",
        severity: Severity::Warning,
        rule: "`lifetime.tbw` is given, and `wear.endurance`, after which blocks fail, is below `wear.rated_cycles`, from which it follows.",
    },
    Code {
        name: "few-blocks",
        severity: Severity::Note,
        rule: "A pool has fewer than 100 blocks, and you set `gc.victim`, or the number or size of blocks. Of a comparison or sweep: `gc.victim` differs.",
    },
    Code {
        name: "fio-depth",
        severity: Severity::Warning,
        rule: "Jobs of a fio job file keep more requests outstanding than there are dies, on a preset that is a whole drive scaled down.",
    },
    Code {
        name: "fio-differs",
        severity: Severity::Warning,
        rule: "An option of a fio job file has an effect in fio that the generated requests do not have exactly.",
    },
    Code { name: "fio-ignored", severity: Severity::Note, rule: "Options of a fio job file are about the host alone and have no effect." },
    Code {
        name: "fio-waits",
        severity: Severity::Note,
        rule: "A log of fio, version 2, has waits, of which fio's program and its manual have different meanings.",
    },
    Code {
        name: "fit-larger",
        severity: Severity::Warning,
        rule: "A fitted drive exports more than 1.5 times the bytes that are needed, since one of fewer blocks could not work at the over-provisioning asked for.",
    },
    Code {
        name: "fit-spare",
        severity: Severity::Warning,
        rule: "A fitted drive has more than 1.05 times the over-provisioning asked for.",
    },
    Code {
        name: "frontiers-take-spare",
        severity: Severity::Note,
        rule: "The drive has no zones, the blocks of a pool that are being filled are more than a quarter of its spare blocks, and you set a key of `ftl` or `slc`, the number or size of blocks, or over-provisioning.",
    },
    Code {
        name: "gc-not-suspended",
        severity: Severity::Note,
        rule: "`scheduler.suspend` names programs or erases, of which GC suspends none, since GC has rules of its own; and you set `scheduler.suspend`, or a key that decides this. Not if `gc.suspend` names them.",
    },
    Code {
        name: "guessed-powers",
        severity: Severity::Note,
        rule: "The result has energy, and `energy.source` says that powers are guessed.",
    },
    Code {
        name: "handles-ignored",
        severity: Severity::Note,
        rule: "Requests of a trace, or flows, name a placement handle, and `ftl.placement` is neither `handles` nor `custom`.",
    },
    Code {
        name: "held-data",
        severity: Severity::Warning,
        rule: "Write buffers and caches held, at the end less when the measured part began, more (or less) than 1 % of the bytes that the host wrote (`bytes_written.held`): write amplification is too low (or too high). With a log of the host: than 1 % of the bytes programmed. Not while a drive is rebuilt.",
    },
    Code {
        name: "implausible-rate",
        severity: Severity::Warning,
        rule: "A trace in open loop has more than 10,000,000 requests a second.",
    },
    Code { name: "knows-ahead", severity: Severity::Note, rule: "`ftl.placement` is `oracle`, which no drive can have." },
    Code {
        name: "large-buffer",
        severity: Severity::Note,
        rule: "The write buffer holds more than 1 % of what the drive exports, and you set its size, or the number or size of blocks.",
    },
    Code { name: "left-out", severity: Severity::Note, rule: "Trims completed: no class of response times has them." },
    Code {
        name: "load-above-capacity",
        severity: Severity::Warning,
        rule: "`load` is above 1: requests come faster than the drive sustains.",
    },
    Code { name: "lost-events", severity: Severity::Warning, rule: "The kernel lost events while a trace was recorded." },
    Code {
        name: "multiplane-rare",
        severity: Severity::Note,
        rule: "`device.multiplane` is on, the host programmed 100 pages or more, and multi-plane programs times planes of a die are below 5 % of them.",
    },
    Code {
        name: "narrow-turn",
        severity: Severity::Warning,
        rule: "There were GC jobs for space, none is suspended (`gc.suspend`), and a job keeps the host from more dies, or its die has more pools, than share its turn (`array.rotation`).",
    },
    Code {
        name: "no-collection",
        severity: Severity::Note,
        rule: "No GC job ended or was under way, the host wrote, and a key of `gc` has another value than by default. In a comparison of schemes that differ in keys of `gc`: none had a job; this is a warning.",
    },
    Code {
        name: "no-effect",
        severity: Severity::Note,
        rule: "A key is in `idle_keys`: the rest of the configuration leaves it without effect. Keys that need the same thing share a remark.",
    },
    Code { name: "no-header", severity: Severity::Warning, rule: "A trace has no header, and its columns were assumed." },
    Code {
        name: "no-power-state",
        severity: Severity::Note,
        rule: "Drives have power states (`power_states`), and entered none in the measured part of the run.",
    },
    Code {
        name: "no-suspension",
        severity: Severity::Note,
        rule: "The device has times to suspend programs and erases for reads (`device.resume_ns`, `device.min_run_ns`), `scheduler.suspend` and `gc.suspend` are empty, and there were reads.",
    },
    Code { name: "no-times", severity: Severity::Warning, rule: "A trace in open loop has two requests or more, and all at one instant." },
    Code {
        name: "not-settled",
        severity: Severity::Warning,
        rule: "GC ran, and in the last drive write (as many units as the drive exports; the whole run, if that is shorter) write amplification differs between the halves by more than 0.5 % and by more than 3 standard errors; or the run is shorter than a drive write, and no preparation had settled; or write amplification has settled, in the run or before, and that of the whole run differs by more than 2 %.",
    },
    Code { name: "nothing-random", severity: Severity::Warning, rule: "Of a comparison: all seeds gave the same runs." },
    Code {
        name: "one-handle",
        severity: Severity::Note,
        rule: "`ftl.placement` is `handles`, and all that the host wrote had one handle.",
    },
    Code {
        name: "other-requests",
        severity: Severity::Warning,
        rule: "Of a comparison of variants: a variant has another trace, seed, number of requests or workload than the first, or a generated workload on a drive of another size, so that its requests are others, and `paired` leaves it out; or another warm-up, so that other requests are measured.",
    },
    Code {
        name: "other-sizes",
        severity: Severity::Warning,
        rule: "Of a comparison of variants: drives export different amounts. A note up to 1 %.",
    },
    Code {
        name: "other-times",
        severity: Severity::Note,
        rule: "Of a comparison of variants: the requests are those of the first, but keys change when they arrive (`time_scale`, `queue_depth`, `interarrival_us` and the like).",
    },
    Code {
        name: "outside-turn",
        severity: Severity::Warning,
        rule: "More than a tenth of the GC jobs for space began without the turn of their pool (`array.rotation_forced`).",
    },
    Code {
        name: "outside-window",
        severity: Severity::Warning,
        rule: "More than a tenth of the GC jobs for space began outside the window of their drive (`array.window_us`).",
    },
    Code {
        name: "overloaded",
        severity: Severity::Warning,
        rule: "100 or more requests in open loop arrived, those of a warm-up counted, and the queue grew to the last of them: in the last quarter of the time between the first arrival and the last, the fewest outstanding requests are more than in the third quarter, at least 1.5 times those in the second, at least the square root of the number of arrivals, and more in the second half of the quarter than in its first, where up to 1 % of the requests are left out that alone take the first quarter of that time or more, and as many that take the last; or all requests arrived at one instant (those of a trace: `no-times`).",
    },
    Code {
        name: "own-origins",
        severity: Severity::Note,
        rule: "Flows in open loop read different trace files, and two of them begin with the run (no `start_s`, no `start_after`).",
    },
    Code {
        name: "paced",
        severity: Severity::Warning,
        rule: "Requests in open loop, not `overloaded`: half of the mean response time of writes or more is waiting for credit (`gc.pace`).",
    },
    Code {
        name: "partly-full",
        severity: Severity::Warning,
        rule: "When the run began, data were at less than 90 % of the exported addresses (`precondition.valid_share`) and at one or more, GC ran, and you set over-provisioning or a prefill file.",
    },
    Code {
        name: "policy-fallbacks",
        severity: Severity::Warning,
        rule: "A user-defined victim or eviction policy named nothing (`None`), or what is no candidate, in one choice or more.",
    },
    Code {
        name: "quota-held",
        severity: Severity::Warning,
        rule: "Waiting for a quota (`host.quota_iops`, `host.quota_mb_s`), or for credit beside it, is half of the mean response time of writes or more.",
    },
    Code {
        name: "rated-life",
        severity: Severity::Note,
        rule: "`lifetime.tbw` is given: it follows from `wear.rated_cycles` (or `wear.endurance`) and the write amplification of the run.",
    },
    Code {
        name: "read-only",
        severity: Severity::Warning,
        rule: "The drive became read-only: blocks failed, and a pool has not enough left (`wear`).",
    },
    Code {
        name: "rebuild-counts",
        severity: Severity::Warning,
        rule: "Of the bytes that were programmed, the rebuild of a drive (`array.rebuild_stripes`) wrote more than 1 %.",
    },
    Code {
        name: "rebuild-ended",
        severity: Severity::Warning,
        rule: "A failed drive was rebuilt before 95 % of the run (`array.rebuild_stripes`).",
    },
    Code {
        name: "refresh-moves",
        severity: Severity::Warning,
        rule: "More than half of the pages moved (`gc.pages_moved`) were moved for their age (`errors.refresh_days`) or their reads (`errors.reclaim_reads`), and at least one for 20 units that the host programmed.",
    },
    Code { name: "requeued", severity: Severity::Warning, rule: "The driver gave back requests of a trace, which were issued again." },
    Code {
        name: "room-falls-short",
        severity: Severity::Warning,
        rule: "`gc.pace = \"room\"` with superblocks, blocks in SLC mode, a write buffer on blocks that can fail, or `scheduler.order = \"fcfs\"`.",
    },
    Code {
        name: "same-result",
        severity: Severity::Warning,
        rule: "Of a comparison or sweep: two runs have one digest, or equal response times, GC and flash operations; in a sweep two neighbours along an axis.",
    },
    Code {
        name: "scaled-bursts",
        severity: Severity::Warning,
        rule: "A trace on a preset that is a whole drive scaled down: half of the mean response time of writes or more is waiting for a place in the drive.",
    },
    Code {
        name: "seeds-of-a-trace",
        severity: Severity::Note,
        rule: "Of a comparison under several seeds: the requests are those of a trace, which no seed changes.",
    },
    Code {
        name: "served-late",
        severity: Severity::Warning,
        rule: "Of a served drive: more than 1 % of the answers came more than 100 us late, or one did and the mean delay is above a tenth of the simulated response time times the scale.",
    },
    Code { name: "short-span", severity: Severity::Warning, rule: "A trace in open loop spans less than 1 ms." },
    Code {
        name: "small-blocks",
        severity: Severity::Note,
        rule: "The drive has no zones, pages have 16 KiB or more, a block has fewer than 1,152 of them, and you set either.",
    },
    Code {
        name: "stacked-devices",
        severity: Severity::Warning,
        rule: "A trace has requests of a device and of those below it that it hands them on to, and `workload.device` chooses none.",
    },
    Code {
        name: "starved",
        severity: Severity::Warning,
        rule: "Of a fio job file: writes take a tenth of the measured time and 100 times as long as reads, or more, on average.",
    },
    Code {
        name: "temperature-moves",
        severity: Severity::Warning,
        rule: "At its mean power a drive would settle 1 degree C or more from its temperature at the end of the run.",
    },
    Code {
        name: "threshold-takes-spare",
        severity: Severity::Warning,
        rule: "`gc.soft` keeps more than a quarter of the spare blocks of a pool free, and you set it, over-provisioning, or the number or size of blocks, or the drive was fitted.",
    },
    Code { name: "throttled", severity: Severity::Warning, rule: "A drive was throttled, or stopped, by its temperature (`thermal`)." },
    Code {
        name: "time-scales",
        severity: Severity::Warning,
        rule: "Flows in open loop that read one trace file have different values of `time_scale`: their requests lose their relation in time.",
    },
    Code {
        name: "trace-changed",
        severity: Severity::Warning,
        rule: "Reading a trace left out, moved or changed requests (`workload.trace`), other than those that `workload.skip` leaves out. A note if `workload.device` asked for all of it.",
    },
    Code {
        name: "turns-full",
        severity: Severity::Warning,
        rule: "Turns to collect (`array.rotation`, blocks, not forced) were taken for more than 90 % of the time, and a pool was down to its reserve.",
    },
    Code {
        name: "unaligned",
        severity: Severity::Warning,
        rule: "A request of a trace has an offset or a size that is no multiple of 512 bytes.",
    },
    Code {
        name: "uncorrectable",
        severity: Severity::Warning,
        rule: "Flash reads had more errors than the policy of `errors.retry` can correct: their data are lost, and the run goes on as if they were not.",
    },
    Code {
        name: "uneven-dies",
        severity: Severity::Warning,
        rule: "With dynamic allocation, units that hold data at the end, or (where there are more writes than reads) busy times of chips, differ between dies by more than a tenth of their mean, and by more than chance explains.",
    },
    Code {
        name: "unmapped-reads",
        severity: Severity::Warning,
        rule: "With `ftl.unmapped_read = \"immediate\"`, reads found a unit without data at least once for each hundred read requests.",
    },
    Code { name: "volumes", severity: Severity::Warning, rule: "Each request of a trace is of a volume of its own." },
    Code {
        name: "volumes-overlaid",
        severity: Severity::Warning,
        rule: "A trace has several volumes, and `workload.device` chooses none of them. A note if `workload.volumes` places one behind the other.",
    },
    Code {
        name: "whole-seconds",
        severity: Severity::Note,
        rule: "The times of a trace in open loop are whole seconds, and fewer requests than that arrive together.",
    },
    Code {
        name: "young-data",
        severity: Severity::Note,
        rule: "`errors.retry` is on, `ftl.precondition.retention_days` (and `retention_days_max`) is 0, and the run takes less than a simulated day: no data are old.",
    },
    Code {
        name: "zone-errors",
        severity: Severity::Warning,
        rule: "Commands were rejected for the state of their zone, their address or a limit, or since the drive has no zones (`counters.zone_errors`).",
    },
];

/// A kind of remark, with its code and rule.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// Code of the remarks.
    pub name: &'static str,
    /// How much the number may mislead without the remark.
    pub severity: Severity,
    /// Condition under which the remark is made, as one line of Markdown.
    pub rule: &'static str,
}

impl Remark {
    /// A remark on a number that holds.
    pub fn note(code: &str, about: &str, sentence: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, about, sentence.into(), remedy.into())
    }

    /// A remark on a number that holds only under a condition.
    pub fn warning(code: &str, about: &str, sentence: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, about, sentence.into(), remedy.into())
    }

    fn new(severity: Severity, code: &str, about: &str, sentence: String, remedy: String) -> Self {
        Remark { code: code.into(), severity, about: about.into(), sentence, remedy, why: String::new() }
    }

    /// The remark with the reason, and what else follows.
    #[must_use]
    pub fn because(self, why: impl Into<String>) -> Self {
        Remark { why: why.into(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Adds the codes of the remarks made by the sources below `folder` to `found`.
    fn codes_in(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                codes_in(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text: String = std::fs::read_to_string(&path).expect("a source").split_whitespace().collect();
                for maker in ["Remark::note(\"", "Remark::warning(\""] {
                    let after = text.split(maker).skip(1).filter_map(|rest| rest.split('"').next());
                    found.extend(after.filter(|code| !code.contains('\\')).map(String::from));
                }
            }
        }
    }

    #[test]
    fn codes_are_sorted_and_every_remark_has_one_of_them() {
        assert!(CODES.is_sorted_by_key(|code| code.name));
        let mut found = Vec::new();
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for entry in std::fs::read_dir(crates).expect("the folder of crates") {
            codes_in(&entry.expect("an entry").path().join("src"), &mut found);
        }
        assert!(found.len() > 20);
        for code in found {
            assert!(CODES.iter().any(|known| known.name == code), "{code} is not in remark::CODES: add it with its rule");
        }
    }
}
