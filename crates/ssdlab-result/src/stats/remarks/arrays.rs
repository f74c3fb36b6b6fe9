//! Remarks on arrays: windows and turns that do not do what they are for, and rebuilds.

use super::{count, list};
use crate::stats::written::binary;
use serde_json::Value;
use ssdlab_keys::config::RESERVE;
use ssdlab_keys::remark::Remark;

/// Share of the GC jobs for space that begin outside their drive's window or turn, from which on these do not do what they are for.
const OUTSIDE: f64 = 0.1;
/// Share of the time for which turns are taken, from which on they limit how much is collected.
const FULL: f64 = 0.9;
/// If a rebuild wrote more than this share of what was programmed, write amplification without it differs.
const MUCH_REBUILT: f64 = 0.01;

/// The remarks on the array of a result.
pub(super) fn of_result(result: &Value) -> impl Iterator<Item = Remark> {
    let found = [
        outside_window(result),
        outside_turn(result),
        narrow_turn(result),
        turns_full(result),
        rebuild_ended(result),
        rebuild_counts(result),
    ];
    found.into_iter().flatten()
}

/// Remark: drives of an array collect outside their windows.
fn outside_window(result: &Value) -> Option<Remark> {
    let share = count(result, "/counters/outside_window") as f64 / count(result, "/counters/space_jobs").max(1) as f64;
    let sentence = format!("{:.0} % of the GC jobs for space began outside the window of their drive.", share * 100.0);
    let remedy = "Raise gc.soft, or lower array.window_forced, or choose windows longer than a job: below T_soft a pool has then more blocks \
                  left until it must collect.";
    (share > OUTSIDE).then(|| Remark::warning("outside-window", "latency_ns", sentence, remedy))
}

/// Remark: pools of an array collect without their turn.
fn outside_turn(result: &Value) -> Option<Remark> {
    let share = count(result, "/counters/rotation_forced") as f64 / count(result, "/counters/space_jobs").max(1) as f64;
    let sentence = format!("{:.0} % of the GC jobs for space began without the turn of their pool.", share * 100.0);
    let drives = count(result, "/config/array/drives");
    let remedy = format!(
        "A drive has turns for 1/{drives} of the time: lower the load, or leave more spare (device.overprovisioning), so that GC needs less. \
         With array.rotation_forced = false writes wait for the turn."
    );
    (share > OUTSIDE).then(|| Remark::warning("outside-turn", "latency_ns", sentence, remedy))
}

fn text<'a>(result: &'a Value, place: &str) -> &'a str {
    result.pointer(place).and_then(Value::as_str).unwrap_or("")
}

/// Dies of a drive and pools of a die.
fn shape(result: &Value) -> (u64, u64) {
    let device = |key: &str| count(result, &format!("/config/device/{key}"));
    let pools = if text(result, "/config/ftl/pool") == "plane" { device("planes_per_die") } else { 1 };
    (device("channels").saturating_mul(device("chips_per_channel")).saturating_mul(device("dies_per_chip")), pools)
}

/// Remark: a job keeps the host from more than the pools that share its turn.
fn narrow_turn(result: &Value) -> Option<Remark> {
    let (rotation, scope) = (text(result, "/config/array/rotation"), text(result, "/config/gc/scope"));
    // GC that is suspended holds nothing up for long.
    if count(result, "/counters/space_jobs") == 0 || !list(result, "/config/gc/suspend").is_empty() {
        return None;
    }
    let (dies, pools) = shape(result);
    let device = |key: &str| count(result, &format!("/config/device/{key}"));
    let held = match scope {
        "device" => dies,
        "channel" => device("chips_per_channel").saturating_mul(device("dies_per_chip")),
        "chip" => device("dies_per_chip"),
        _ => 1,
    };
    let what = match rotation {
        "pool" if held == 1 && pools > 1 => format!("A die has {pools} pools"),
        "pool" | "die" if held > 1 => format!("A job keeps the host from {held} dies (gc.scope = \"{scope}\")"),
        _ => return None,
    };
    let turn = if rotation == "pool" { "a pool" } else { "a die" };
    let sentence = format!("{what}, and turns are of {turn}: jobs of several drives can hold up one stripe.");
    let wide = match held {
        1 => "Set array.rotation = \"die\".",
        _ => "Choose a narrower gc.scope, or array.rotation = \"drive\", with which one drive collects at a time.",
    };
    Some(Remark::warning("narrow-turn", "latency_ns", sentence, wide))
}

/// Remark: turns are taken all the time, so that pools wait for them.
fn turns_full(result: &Value) -> Option<Remark> {
    let (dies, pools) = shape(result);
    let is_forced = result.pointer("/config/array/rotation_forced") == Some(&Value::Bool(true));
    let turns = match text(result, "/config/array/rotation") {
        _ if is_forced || text(result, "/config/ftl/reclaim_unit") == "superblock" => return None,
        "pool" => dies.saturating_mul(pools),
        "die" => dies,
        "drive" => 1,
        _ => return None,
    };
    let drives = count(result, "/config/array/drives");
    let job_ns = result.pointer("/gc/duration_ns/mean").and_then(Value::as_f64)? * count(result, "/gc/jobs") as f64;
    let time_ns = count(result, "/simulated_ns").saturating_sub(count(result, "/warm_up/ns"));
    let share = (job_ns / turns.max(1) as f64 / time_ns.max(1) as f64).min(1.0);
    let is_down = count(result, "/gc/free_blocks_min") <= u64::from(RESERVE);
    let sentence = format!(
        "Turns to collect were taken {:.0} % of the time, of which a drive has 1/{drives}, and a pool was down to its reserve: writes waited.",
        share * 100.0
    );
    let remedy = "Lower the load, or leave more spare (device.overprovisioning), so that GC needs less.";
    (share > FULL && is_down).then(|| Remark::warning("turns-full", "latency_ns", sentence, remedy))
}

/// Remark: the numbers are those of a time in which a drive was rebuilt, and of a time after that.
fn rebuild_ended(result: &Value) -> Option<Remark> {
    let (after, length) = (count(result, "/array/rebuild_ns"), count(result, "/simulated_ns"));
    let measured_from = count(result, "/warm_up/ns");
    let (after_s, length_s) = (after as f64 / 1e9, length as f64 / 1e9);
    let sentence = format!(
        "The failed drive was rebuilt {after_s:.3} s after the beginning, and the run took {length_s:.3} s: its numbers are of both."
    );
    let remedy = "For the time of the rebuild alone end the run before it (requests, workload.run_s).";
    (after > measured_from && after < length / 100 * 95).then(|| Remark::warning("rebuild-ended", "latency_ns", sentence, remedy))
}

/// Remark: what a rebuild programmed counts for write amplification.
fn rebuild_counts(result: &Value) -> Option<Remark> {
    let stripe_kb = result.pointer("/config/array/stripe_kb").and_then(Value::as_f64)?;
    // With its share of the parity inside the drive.
    let stripe = count(result, "/config/ftl/parity_stripe") as f64;
    let parity = if stripe > 1.0 { stripe / (stripe - 1.0) } else { 1.0 };
    let rebuilt = (count(result, "/array/rebuilt_stripes") as f64 * stripe_kb * 1024.0 * parity) as u64;
    let [flash, host] = ["flash", "host"].map(|key| count(result, &format!("/bytes_written/{key}")));
    let without = flash.saturating_sub(rebuilt) as f64 / host.max(1) as f64;
    let sentence = format!(
        "Write amplification counts the {} that the rebuild wrote, of {} programmed: without them it is about {without:.2}.",
        binary(rebuilt),
        binary(flash)
    );
    let remedy = "Compare it with another rebuild only.";
    (host > 0 && rebuilt as f64 > MUCH_REBUILT * flash as f64)
        .then(|| Remark::warning("rebuild-counts", "gc.write_amplification", sentence, remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn jobs_outside_windows_are_said() {
        let said = |outside: u64| outside_window(&json!({ "counters": { "outside_window": outside, "space_jobs": 100 } }));
        assert_eq!((said(10), outside_window(&json!({}))), (None, None));
        assert!(said(11).unwrap().sentence.starts_with("11 % of the GC jobs"));
    }

    #[test]
    fn jobs_without_turns_are_said() {
        let said = |forced: u64| outside_turn(&json!({ "counters": { "rotation_forced": forced, "space_jobs": 100 } }));
        assert_eq!((said(10), outside_turn(&json!({}))), (None, None));
        assert!(said(11).unwrap().sentence.starts_with("11 % of the GC jobs"));
    }

    #[test]
    fn runs_that_go_on_after_a_rebuild_are_said() {
        let said = |after: u64| rebuild_ended(&json!({ "array": { "rebuild_ns": after }, "simulated_ns": 2_000_000_000_u64 }));
        assert_eq!([said(0), said(1_950_000_000)], [const { None }; 2]);
        let before = json!({ "array": { "rebuild_ns": 9 }, "warm_up": { "ns": 10 }, "simulated_ns": 2_000 });
        assert_eq!(rebuild_ended(&before), None);
        assert!(said(1_500_000_000).unwrap().sentence.contains("1.500 s after the beginning, and the run took 2.000 s"));
    }

    #[test]
    fn turns_narrower_than_what_a_job_holds_up_are_said() {
        let said = |rotation: &str, scope: &str, planes: u64| {
            let device = json!({ "channels": 4, "chips_per_channel": 2, "dies_per_chip": 1, "planes_per_die": planes });
            let ftl = json!({ "pool": "plane" });
            let config = json!({ "array": { "rotation": rotation }, "gc": { "scope": scope }, "device": device, "ftl": ftl });
            narrow_turn(&json!({ "config": config, "counters": { "space_jobs": 1 } }))
        };
        for [rotation, scope] in [["pool", "chip"], ["pool", "none"], ["drive", "device"], ["off", "device"]] {
            assert_eq!(said(rotation, scope, 1), None, "{rotation}, {scope}");
        }
        assert!(said("pool", "channel", 1).unwrap().sentence.starts_with("A job keeps the host from 2 dies (gc.scope = \"channel\")"));
        assert!(said("die", "device", 1).unwrap().sentence.contains("8 dies"));
        assert!(said("pool", "none", 2).unwrap().remedy.contains("\"die\""));
        assert_eq!(said("die", "none", 2), None);
    }

    /// Jobs of 10 us on 2 dies, one after another: 18 take 90 us of 100.
    #[test]
    fn turns_that_are_always_taken_are_said() {
        let said = |jobs: u64, free: u64| {
            let device = json!({ "channels": 2, "chips_per_channel": 1, "dies_per_chip": 1, "planes_per_die": 1 });
            let config = json!({ "array": { "rotation": "pool", "drives": 5 }, "device": device, "ftl": { "pool": "plane", "reclaim_unit": "block" } });
            let gc = json!({ "jobs": jobs, "duration_ns": { "mean": 10_000.0 }, "free_blocks_min": free });
            turns_full(&json!({ "config": config, "gc": gc, "simulated_ns": 100_000 }))
        };
        assert_eq!([said(18, 1), said(19, 2)], [const { None }; 2]);
        assert!(said(19, 1).unwrap().sentence.starts_with("Turns to collect were taken 95 % of the time, of which a drive has 1/5"));
    }

    /// Two stripes of 4 KiB each of 40 KiB, for 16 KiB of the host.
    #[test]
    fn what_a_rebuild_wrote_is_said() {
        let said = |stripes: u64| {
            let written = json!({ "flash": 40_960, "host": 16_384 });
            rebuild_counts(
                &json!({ "config": { "array": { "stripe_kb": 4.0 } }, "array": { "rebuilt_stripes": stripes }, "bytes_written": written }),
            )
        };
        assert_eq!(said(0), None);
        assert!(
            said(2)
                .unwrap()
                .sentence
                .contains("the 8.00 KiB that the rebuild wrote, of 40.0 KiB programmed: without them it is about 2.00")
        );
    }
}
