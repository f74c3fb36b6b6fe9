//! Remarks on a run: numbers that hold only under a condition, and configuration keys without effect.
//!
//! [`of_result`] makes those that follow from a result alone, so that results of earlier versions get them, too. [`of_run`] makes those
//! that need the run itself. [`ssdlab_keys::remark::CODES`] lists the rules.

mod arrays;

use serde::Deserialize;
use serde_json::Value;

use super::load::Overload;
use super::written::{BytesWritten, binary};
use crate::settled::Verdict;
use ssdlab_keys::config::{Capacity, Config, Trigger};
use ssdlab_keys::remark::{Remark, Severity};

/// Multi-plane programs are rare below this share of the pages that the host programmed.
const RARE: f64 = 0.05;
/// Number of host programs below which multi-plane programs are not judged.
const PROGRAMS_MIN: u64 = 100;
/// Dies are uneven from this difference on, as a share of the mean, beside what chance explains.
const UNEVEN: f64 = 0.1;
/// Share by which the write amplification of the whole run may differ from the settled value without a remark.
const BEGINNING: f64 = 0.02;
/// Requests come in bursts from this ratio on: those that one meets on its arrival, over those outstanding on average.
const BURST: f64 = 4.0;
/// A request that meets this many others for each die waits for most of its response time.
const MET_PER_DIE: f64 = 2.0;
/// Least share of waits for credit in the mean response time of writes for the remark `paced`.
const PACED: f64 = 0.5;
/// Moves of pages for their age or reads matter from one for this many units that the host programmed.
const UNITS_PER_MOVE: u64 = 20;

/// Observations of a run that its result does not contain.
#[derive(Clone, Debug)]
pub struct Trends {
    /// How the queue grew to the end; `None` if it did not, or only closed loops sent requests.
    pub overload: Option<Overload>,
    /// Whether write amplification has settled, and its value over the measured part of the run, counted in the same way. `None` if the
    /// host wrote nothing.
    pub settling: Option<(Verdict, f64)>,
    /// With dynamic allocation, what dies hold at the end; `None` with static allocation, where addresses alone say which die holds what.
    pub filled: Option<Filled>,
    /// A number of requests that the caller gave ended the run.
    pub cut: bool,
    /// Mean number of outstanding requests that a request of the measured part met on its arrival; `None` with closed loops.
    pub met: Option<f64>,
}

/// What the dies of all drives hold.
#[derive(Clone, Debug)]
pub struct Filled {
    /// By die: mapping units that hold data.
    pub valid: Vec<u64>,
    /// Mapping units that a program takes to one die.
    pub units_per_program: u32,
    /// Size of a mapping unit, bytes.
    pub unit_bytes: u32,
}

/// The remarks that need the run itself, on load and on write amplification. `result`: its result, as JSON.
pub fn of_run(trends: &Trends, result: &Value) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let without_times = list(result, "/workload/remarks").iter().any(|remark| remark["code"] == "no-times");
    let told = |overload: &Overload| without_times && matches!(overload, Overload::AtOnce(_));
    remarks.extend(trends.overload.filter(|overload| !told(overload)).map(overloaded));
    remarks.extend(trends.met.filter(|_| trends.overload.is_none()).and_then(|met| bursts(met, result)));
    remarks.extend(trends.met.filter(|_| trends.overload.is_none()).and_then(|_| paced(result)));
    remarks.extend(trends.settling.and_then(|(verdict, whole)| not_settled(verdict, whole, trends.cut, result)));
    remarks.extend(trends.filled.as_ref().and_then(|filled| uneven_dies(filled, result)));
    remarks
}

/// Remark: requests come in bursts, and wait for those of their burst. `met`: outstanding requests that one meets on its arrival, on average.
fn bursts(met: f64, result: &Value) -> Option<Remark> {
    let number = |place: &str| result.pointer(place).and_then(Value::as_f64);
    // Little's law.
    let outstanding = number("/iops")? * number("/latency_ns/all/mean")? / 1e9;
    let device = |key: &str| count(result, &format!("/config/device/{key}"));
    let is_array = result.pointer("/config/array/level").is_some_and(|level| level != "none");
    let drives = if is_array { count(result, "/config/array/drives") } else { 1 };
    let dies = drives * device("channels") * device("chips_per_channel") * device("dies_per_chip");
    (met >= BURST * outstanding && met >= MET_PER_DIE * dies as f64).then(|| {
        let sentence = format!(
            "Requests come in bursts: one meets {met:.0} others, {outstanding:.1} are outstanding on average: times are of queues in bursts."
        );
        let remedy = "Compare times under the same requests only, or spread these (workload.time_scale below 1, a lower load).";
        Remark::note("bursts", "latency_ns", sentence, remedy)
    })
}

/// Remark: writes wait for credit for most of their response time, though the drive keeps up with them.
fn paced(result: &Value) -> Option<Remark> {
    let number = |place: &str| result.pointer(place).and_then(Value::as_f64);
    let share = number("/breakdown_ns/write/pace")? / number("/latency_ns/write/mean")?;
    if share >= PACED && count(result, "/interface/quota_waits") > 0 {
        let sentence =
            format!("{:.0} % of the mean response time of writes is waiting for a quota, or for credit (gc.pace).", 100.0 * share);
        let remedy =
            "Times of a queue that sends more than its quota depend on the length of the run: compare what it completes per second.";
        return Some(Remark::warning("quota-held", "latency_ns.write", sentence, remedy));
    }
    (share >= PACED).then(|| {
        let sentence = format!(
            "{:.0} % of the mean response time of writes is waiting for credit (gc.pace), though the drive keeps up: bursts are larger than the window, a share of the pages of gc.soft blocks.",
            100.0 * share
        );
        let remedy = "Set gc.pace = \"room\", which takes what room there is, or raise gc.soft where blocks are made smaller.";
        Remark::warning("paced", "latency_ns.write", sentence, remedy)
    })
}

/// Remark: dynamic allocation filled some dies more than others, or kept some chips busier.
fn uneven_dies(filled: &Filled, result: &Value) -> Option<Remark> {
    // What falls to dies by chance differs: from the most to the least by six standard deviations of one die at most.
    let chance = |events: f64| UNEVEN + 6.0 / events.max(1.0).sqrt();
    let together = f64::from(filled.units_per_program);
    let valid = spread(filled.valid.iter().map(|&units| units as f64)).filter(|found| found.share() > chance(found.mean / together));
    // Reads go where their data are: where they prevail, the workload may keep one chip busier than another.
    let programs = count(result, "/bytes_written/data") as f64 / f64::from(filled.unit_bytes) / together;
    let by_writes = count(result, "/requests/write") > count(result, "/requests/read");
    let busy = spread(list(result, "/utilisation/chips").iter().filter_map(Value::as_f64));
    let busy = busy.filter(|found| by_writes && found.share() > chance(jobs_or(result, programs) / found.count as f64));
    let sentence = match (valid, busy) {
        (Some(units), _) => format!(
            "Dynamic allocation filled the dies unevenly, so GC has more to move: one holds {} mapping units at the end, another {}.",
            units.least, units.most
        ),
        (None, Some(shares)) => format!(
            "Dynamic allocation kept the chips unevenly busy: one {:.1} % of the time, another {:.1} %.",
            100.0 * shares.least,
            100.0 * shares.most
        ),
        (None, None) => return None,
    };
    let remedy = "Set ftl.dynamic_ties = \"valid\", or a static ftl.allocation, if the drive that is meant fills its dies alike.";
    Some(Remark::warning("uneven-dies", "gc.write_amplification", sentence, remedy))
}

/// Number of GC jobs, or if there are none of programs: events that fall to dies by chance.
fn jobs_or(result: &Value, programs: f64) -> f64 {
    match count(result, "/gc/jobs") {
        0 => programs,
        jobs => (jobs as f64).min(programs),
    }
}

/// The least and most of several numbers, their mean, and how many they are.
struct Spread {
    count: usize,
    least: f64,
    most: f64,
    mean: f64,
}

impl Spread {
    /// The difference between the most and the least, as a share of the mean.
    fn share(&self) -> f64 {
        (self.most - self.least) / self.mean
    }
}

/// The spread of several numbers; `None` of fewer than two, or if all are 0.
fn spread(numbers: impl Iterator<Item = f64>) -> Option<Spread> {
    let (mut found, mut sum) = (Spread { count: 0, least: f64::INFINITY, most: 0.0, mean: 0.0 }, 0.0);
    for number in numbers {
        (found.count, found.least, found.most) = (found.count + 1, found.least.min(number), found.most.max(number));
        sum += number;
    }
    found.mean = sum / found.count as f64;
    (found.count > 1 && found.most > 0.0).then_some(found)
}

/// The remarks that follow from a result alone, as JSON: of any version, complete or not. Remarks that came with the workload
/// (`workload.remarks`, also of each flow) are included.
pub fn of_result(result: &Value) -> Vec<Remark> {
    let mut remarks = of_workload(result);
    remarks.extend(no_collection(result));
    remarks.extend(refresh_moves(result));
    remarks.extend(no_effect(result));
    remarks.extend(no_suspension(result));
    remarks.extend(rare_multiplane(result));
    remarks.extend(left_out(result));
    remarks.extend(held(result));
    remarks.extend(unmapped(result));
    remarks.extend(handles_ignored(result));
    remarks.extend(one_handle(result));
    remarks.extend(knows_ahead(result));
    remarks.extend(fallbacks(result));
    remarks.extend(uncorrectable(result));
    remarks.extend(young_data(result));
    remarks.extend(read_only(result));
    remarks.extend(rated_life(result));
    remarks.extend(fails_early(result));
    remarks.extend(above_cap(result));
    remarks.extend(guessed_powers(result));
    remarks.extend(throttled(result));
    remarks.extend(temperature_moves(result));
    remarks.extend(coarse_samples(result));
    remarks.extend(never_idle(result));
    remarks.extend(zone_errors(result));
    remarks.extend(arrays::of_result(result));
    remarks
}

fn has_zones(result: &Value) -> bool {
    result.pointer("/config/ftl/placement").and_then(Value::as_str) == Some("zones")
}

/// Why zones reject commands: the counter, what such commands do, and a remedy.
const ZONE_ERRORS: [(&str, &str, &str); 5] = [
    (
        "zone_errors_pointer",
        "do not write at the write pointer of their zone, in whole mapping units",
        "Write each zone in order, in multiples of ftl.map_unit_bytes; appends name the first byte of their zone.",
    ),
    ("zone_errors_boundary", "end beyond the capacity of their zone", "Keep within the capacity of a zone, which `ssdlab check` prints."),
    ("zone_errors_full", "write to full zones", "Reset a zone before it is written again, or begin with ftl.precondition.kind = \"none\"."),
    (
        "zone_errors_limit",
        "open a zone too many",
        "Write, finish or reset the zones that are open, or raise zones.max_open and zones.max_active.",
    ),
    ("zone_errors_state", "open full zones, or close zones that are not open", "Reset a full zone before it is opened."),
];

/// Remark: commands were rejected for what zones ask for.
fn zone_errors(result: &Value) -> Option<Remark> {
    let rejected = count(result, "/counters/zone_errors");
    let has_log = result.pointer("/config/zones/log").and_then(Value::as_str).is_some_and(|log| log != "none");
    (rejected > 0).then(|| match has_zones(result) {
        true if has_log => {
            let sentence = format!("{rejected} commands of zones were rejected: a log of the host takes requests of any address instead.");
            Remark::warning("zone-errors", "latency_ns", sentence, "Leave them out, or set zones.log = \"none\".")
        }
        true => {
            let (reason, remedy) =
                ZONE_ERRORS.iter().max_by_key(|(name, ..)| count(result, &format!("/counters/{name}"))).map_or(("", ""), |of| (of.1, of.2));
            let sentence = format!("{rejected} commands were rejected by zones, and are in no response time: most of them {reason}.");
            Remark::warning("zone-errors", "latency_ns", sentence, remedy)
        }
        false => {
            let sentence = format!("{rejected} commands were rejected, since they need zones and the drive has none.");
            Remark::warning("zone-errors", "latency_ns", sentence, "Set ftl.placement = \"zones\".")
        }
    })
}

/// Remark: requests of a trace name placement handles, which have no effect.
fn handles_ignored(result: &Value) -> Option<Remark> {
    let reports =
        std::iter::once("/workload".to_string()).chain((0..list(result, "/flows").len()).map(|flow| format!("/flows/{flow}/workload")));
    let named: u64 = reports.map(|report| count(result, &format!("{report}/trace/handles"))).sum();
    let by_flows = list(result, "/config/workload/flows").iter().any(|flow| flow.get("handle").is_some_and(|handle| !handle.is_null()));
    let placement = result.pointer("/config/ftl/placement").and_then(Value::as_str).unwrap_or("none");
    ((named > 0 || by_flows) && !["handles", "custom"].contains(&placement)).then(|| {
        let who = if named > 0 { format!("{named} requests of the trace name") } else { "Flows name".into() };
        let sentence = format!("{who} a placement handle, which has no effect with ftl.placement = \"{placement}\".");
        Remark::note("handles-ignored", "gc.write_amplification", sentence, "Set ftl.placement = \"handles\" to use the handles.")
    })
}

/// Remark: most pages were moved since data were old or read too often, not since a pool needed a free block.
fn refresh_moves(result: &Value) -> Option<Remark> {
    let [old, read] = ["refresh", "reclaim"].map(|cause| count(result, &format!("/counters/{cause}_moves")));
    let all = count(result, "/gc/pages_moved").max(old + read);
    if 2 * (old + read) <= all || UNITS_PER_MOVE * (old + read) < count(result, "/flash/host_programs") {
        return None;
    }
    let (key, remedy) = if old > read {
        ("refresh_days", "Raise errors.refresh_days above ftl.precondition.retention_days (and retention_days_max), or set 0.")
    } else {
        ("reclaim_reads", "Raise errors.reclaim_reads, or set 0; or take a larger drive, whose blocks are read less often.")
    };
    let percent = 100 * u128::from(old + read) / u128::from(all);
    let value = result.pointer(&format!("/config/errors/{key}")).unwrap_or(&Value::Null);
    let sentence =
        format!("{percent} % of {all} page moves were for the age or the reads of data (errors.{key} = {value}), not for space.");
    Some(Remark::warning("refresh-moves", "gc", sentence, remedy))
}

/// Remark: placement goes by handles, and all writes had the same one.
fn one_handle(result: &Value) -> Option<Remark> {
    let by_handles = result.pointer("/config/ftl/placement").and_then(Value::as_str) == Some("handles");
    let written = |stream: &&Value| stream["writer"] == "host" && stream["host_units"].as_u64() > Some(0);
    let mut used = list(result, "/streams").iter().filter(written);
    let (Some(only), None, true) = (used.next(), used.next(), by_handles) else { return None };
    let sentence = format!("All writes had handle {}, so that ftl.placement = \"handles\" kept no data apart.", only["class"]);
    let remedy = "Name handles (workload.handle, workload.handle_ranges, the column handle of a trace), or set ftl.placement = \"none\".";
    Some(Remark::note("one-handle", "gc.write_amplification", sentence, remedy))
}

/// Remark: data placement knew the future.
fn knows_ahead(result: &Value) -> Option<Remark> {
    let is_oracle = result.pointer("/config/ftl/placement").and_then(Value::as_str) == Some("oracle");
    is_oracle.then(|| {
        let sentence = "Data placement knew when each page would be overwritten (ftl.placement = \"oracle\"), which no drive can.";
        Remark::note("knows-ahead", "gc.write_amplification", sentence.to_string(), "Take the run as a bound for other placements.")
    })
}

/// Remark: data of flash reads are lost.
fn uncorrectable(result: &Value) -> Option<Remark> {
    let (lost, reads) = (count(result, "/ages/uncorrectable"), count(result, "/ages/reads"));
    (lost > 0).then(|| {
        let sentence = format!("The data of {lost} of {reads} flash reads had more errors than could be corrected.");
        let remedy = "Make errors.retry_table longer, or the drive younger; --log-requests names the requests.";
        let why = "They count as read, after all steps of the retry policy; a drive would report them, or rebuild them.";
        Remark::warning("uncorrectable", "ages.uncorrectable", sentence, remedy).because(why)
    })
}

/// Remark: the drive is read-only.
fn read_only(result: &Value) -> Option<Remark> {
    let at = result.pointer("/lifetime/read_only_ns")?.as_u64()?;
    let (written, pool) = (count(result, "/lifetime/written_bytes"), count(result, "/lifetime/read_only_pool"));
    let why = match result.pointer("/lifetime/read_only_cause").and_then(Value::as_str) {
        Some("no-room") => "had no room left for the pages that GC moves, as blocks failed one after the other",
        _ => "lost more blocks than it can spare",
    };
    let ends = if result.pointer("/config/wear/end").and_then(Value::as_str) == Some("reads") { "was rejected" } else { "did not arrive" };
    let sentence =
        format!("The drive is read-only since {:.3} s, after {} were written in the measured part.", at as f64 / 1e9, binary(written));
    let remedy = "For a longer life raise wear.endurance or device.overprovisioning, or lower the ppm of failures.";
    let why = format!("Pool {pool} {why}. What the host would have written after that {ends}.");
    Some(Remark::warning("read-only", "lifetime.read_only_ns", sentence, remedy).because(why))
}

/// Remark: the bytes that a drive can take follow from a short run.
fn rated_life(result: &Value) -> Option<Remark> {
    result.pointer("/lifetime/tbw")?;
    let key = if count(result, "/config/wear/rated_cycles") > 0 { "rated_cycles" } else { "endurance" };
    let cycles = count(result, &format!("/config/wear/{key}"));
    let years = result.pointer("/config/wear/warranty_years").and_then(Value::as_f64).unwrap_or(0.0);
    let by_an_erase = result.pointer("/lifetime/erase_wear").and_then(Value::as_f64).filter(|&wear| wear < 1.0);
    let by_a_byte = result.pointer("/lifetime/wear_amplification").and_then(Value::as_f64);
    let each = match (by_a_byte, by_an_erase) {
        (Some(bytes), _) => format!(", that a byte of the host wears {bytes:.3} of flash (lifetime.wear_amplification)"),
        (None, Some(wear)) => format!(", of which an erase of this run is {wear:.3} (lifetime.erase_wear)"),
        (None, None) => String::new(),
    };
    let sentence =
        format!("TBW and DWPD assume wear.{key} = {cycles} erases of each block, and this run's write amplification for {years} years.");
    let remedy = "Run until write amplification has settled.";
    let why = format!(
        "They assume that each block takes {cycles} erases{each}, and that all wear evenly: failures before that, and worn blocks that fail \
         earlier than the mean, are left out. For the spread of blocks, run to the end of life with a small wear.endurance."
    );
    Some(Remark::note("rated-life", "lifetime.tbw", sentence, remedy).because(why))
}

/// Remark: blocks fail before the erases that the ratings assume.
fn fails_early(result: &Value) -> Option<Remark> {
    result.pointer("/lifetime/tbw")?;
    let [endurance, rated] = ["endurance", "rated_cycles"].map(|key| count(result, &format!("/config/wear/{key}")));
    (0 < endurance && endurance < rated).then(|| {
        let sentence = format!(
            "Blocks fail after wear.endurance = {endurance} erases, not the {rated} of TBW: the drive ends at about {:.2} of lifetime.tbw.",
            endurance as f64 / rated as f64
        );
        let remedy = "Set wear.rated_cycles to wear.endurance at most, or leave it out: the endurance is the rating then.";
        Remark::warning("fails-early", "lifetime.tbw", sentence, remedy)
    })
}

/// Remark: energy, and what follows from it, rests on guessed powers.
fn guessed_powers(result: &Value) -> Option<Remark> {
    result.get("energy")?;
    let source = result.pointer("/config/energy/source").and_then(Value::as_str).unwrap_or("guessed");
    (source == "guessed").then(|| {
        let (what, rest) =
            if result.get("thermal").is_some() { ("Energy, temperature and throttling", "rest") } else { ("Energy", "rests") };
        let sentence = format!("{what} {rest} on guessed powers: compare runs, and do not read the values as those of a drive.");
        let remedy = "Set the powers of section energy from a data sheet or measurements, and energy.source to say so.";
        Remark::note("guessed-powers", "energy.total_j", sentence, remedy)
    })
}

/// Number of drives whose energy a result has: a failed one draws nothing.
fn drives(result: &Value) -> f64 {
    let is_array = result.pointer("/config/array/level").is_some_and(|level| level != "none");
    let failed = result.pointer("/config/array/degraded").is_some_and(Value::is_u64) && count(result, "/config/array/rebuild_stripes") == 0;
    if is_array { count(result, "/config/array/drives").saturating_sub(u64::from(failed)) as f64 } else { 1.0 }
}

/// Remark: the temperature limited what drives did.
fn throttled(result: &Value) -> Option<Remark> {
    let [light, heavy, stopped] = ["light_ns", "heavy_ns", "stopped_ns"].map(|key| count(result, &format!("/thermal/{key}")) as f64);
    let warm_up = count(result, "/warm_up/ns");
    let share = |ns: f64| 100.0 * ns / ((count(result, "/simulated_ns") - warm_up).max(1) as f64 * drives(result));
    // A cap above what the drive draws limits nothing.
    (light + heavy + stopped > 0.0 && count(result, "/counters/heat_waits") > 0).then(|| {
        let stops = match count(result, "/thermal/stop_count") {
            0 if stopped == 0.0 => String::new(),
            stops => format!(", and stopped it for {:.1} % ({stops} times at the critical temperature)", share(stopped)),
        };
        let ends =
            never_cools(result).map_or(String::new(), |idle| format!(" At rest it settles at {idle:.1} degrees C, so this never ends."));
        let sentence = format!("Heat throttled the drive for {:.1} % of the time{stops}.{ends}", share(light + heavy));
        let remedy = "Cool it better (thermal.resistance_c_per_w, thermal.ambient_c), or leave throttling out (thermal.light_c = 0).";
        Remark::warning("throttled", "thermal.light_ns", sentence, remedy)
    })
}

/// The temperature at which the idle drive settles, if throttling that has begun does not end there.
fn never_cools(result: &Value) -> Option<f64> {
    let number = |place: &str| result.pointer(place).and_then(Value::as_f64);
    let thermal = |key: &str| number(&format!("/config/thermal/{key}"));
    let idle = thermal("ambient_c")? + thermal("resistance_c_per_w")? * number("/config/energy/idle_mw")? / 1e3;
    let limits =
        [("light_c", "light_ns"), ("heavy_c", "heavy_ns")].into_iter().filter(|(_, ns)| count(result, &format!("/thermal/{ns}")) > 0);
    let lowest = limits.filter_map(|(limit, _)| thermal(limit)).filter(|&limit| limit > 0.0).fold(f64::INFINITY, f64::min);
    (idle >= lowest - thermal("hysteresis_c")?).then_some(idle)
}

/// Remark: the temperature moves on between two samples, so that throttling comes late.
fn coarse_samples(result: &Value) -> Option<Remark> {
    let thermal = |key: &str| result.pointer(&format!("/config/thermal/{key}")).and_then(Value::as_f64);
    let limits = count(result, "/thermal/light_ns") + count(result, "/thermal/heavy_ns") + count(result, "/thermal/stopped_ns");
    let (sample_us, constant_us) = (thermal("sample_us")?, thermal("time_constant_s")? * 1e6);
    (limits > 0 && sample_us > constant_us).then(|| {
        let sentence = format!(
            "The temperature is sampled every {sample_us} us, and settles in {constant_us:.0} us: throttling begins and ends late."
        );
        Remark::warning("coarse-samples", "thermal.max_c", sentence, "Set thermal.sample_us to a tenth of thermal.time_constant_s or less.")
    })
}

/// Remark: drives have power states, and entered none.
fn never_idle(result: &Value) -> Option<Remark> {
    let states = list(result, "/power_states/states");
    let first = result.pointer("/power_states/states/0")?;
    (first["entries"] == 0).then(|| {
        let sentence = format!("No drive entered a power state, of {}: none was idle for long enough.", states.len());
        let remedy = "Send requests more slowly, or set shorter idle times (power_states.idle_us).";
        Remark::note("no-power-state", "power_states", sentence, remedy)
    })
}

/// Remark: the run is too short for the temperature to settle.
fn temperature_moves(result: &Value) -> Option<Remark> {
    let number = |place: &str| result.pointer(place).and_then(Value::as_f64);
    let end = number("/thermal/end_c")?;
    let mean_w = number("/energy/mean_w")? / drives(result);
    let settled = number("/config/thermal/ambient_c")? + mean_w * number("/config/thermal/resistance_c_per_w")?;
    ((settled - end).abs() >= 1.0).then(|| {
        let sentence = format!("The run ended at {end:.1} degrees C; at its mean power a drive would settle at {settled:.1}.");
        let remedy = format!("Begin there (thermal.start_c={settled:.1}), or run several times thermal.time_constant_s.");
        Remark::warning("temperature-moves", "thermal.end_c", sentence, remedy)
    })
}

/// Remark: the drives drew more than the power cap, which holds a part of what they draw.
fn above_cap(result: &Value) -> Option<Remark> {
    let number = |place: &str| result.pointer(place).and_then(Value::as_f64);
    let cap = number("/config/energy/cap_w").filter(|&cap| cap > 0.0)?;
    let mean = number("/energy/mean_w")? / drives(result);
    let beside: f64 = ["bus_j", "dram_j", "link_j", "controller_j"].iter().filter_map(|part| number(&format!("/energy/{part}"))).sum();
    let beside = beside / number("/energy/total_j")? * mean;
    (mean > cap).then(|| {
        let sentence = format!("A drive drew {mean:.2} W on average, above energy.cap_w = {cap}, which holds the flash arrays only.");
        let remedy = format!("Lower energy.cap_w by {beside:.2} to keep all of that within {cap} W.");
        let why = format!(
            "The cap holds energy.idle_mw and the flash arrays, which drew {:.2} W, and not buses, memory, link and controller, which drew \
             {beside:.2} W.",
            mean - beside
        );
        Remark::warning("above-cap", "energy.mean_w", sentence, remedy).because(why)
    })
}

/// Remark: data age by simulated time only, of which a run has little.
fn young_data(result: &Value) -> Option<Remark> {
    const DAY_NS: u64 = 86_400_000_000_000;
    let days = |key: &str| result.pointer(&format!("/config/ftl/precondition/{key}")).and_then(Value::as_f64).unwrap_or(0.0);
    let simulated = count(result, "/simulated_ns");
    let is_on = result.get("ages").is_some();
    (is_on && days("retention_days") == 0.0 && days("retention_days_max") == 0.0 && simulated < DAY_NS).then(|| {
        let sentence =
            format!("All data were new when the run began, {:.3} s before its end: no read has errors from age.", simulated as f64 / 1e9);
        Remark::note("young-data", "ages.days", sentence, "Set ftl.precondition.retention_days, and retention_days_max for a range.")
    })
}

/// Remark: many reads found no data, which takes no time.
fn unmapped(result: &Value) -> Option<Remark> {
    let (unmapped, reads) = (count(result, "/counters/unmapped_reads"), count(result, "/requests/read"));
    let immediate = result.pointer("/config/ftl/unmapped_read").and_then(Value::as_str) == Some("immediate");
    (immediate && unmapped > 0 && unmapped * 100 >= reads).then(|| {
        let sentence =
            format!("Reads found a mapping unit without data {unmapped} times ({reads} read requests): such reads take no time.");
        let remedy = "Fill the drive before the run (ftl.precondition.kind), or set ftl.unmapped_read = \"flash\".";
        Remark::warning("unmapped-reads", "latency_ns", sentence, remedy)
    })
}

/// Remarks: a user-defined policy named nothing that could be chosen, so that part of its choices are those of another policy.
fn fallbacks(result: &Value) -> Vec<Remark> {
    let is_custom = |key: &str| result.pointer(key).and_then(Value::as_str) == Some("custom");
    let remark = |about: &str, [count, all]: [u64; 2], named: &str, instead: &str, remedy: &str| {
        let of = if all == 0 { String::new() } else { format!(" of {all}") };
        let sentence = format!("The policy named {named} in {count}{of} choices: {instead} instead.");
        Remark::warning("policy-fallbacks", about, sentence, remedy)
    };
    let victims = ["/counters/victim_fallbacks", "/counters/victim_choices"].map(|place| count(result, place));
    let evictions = ["/cache/policy_fallbacks", "/cache/evictions"].map(|place| count(result, place));
    let (block, page) = ("no block that can be collected", "no page that can be evicted");
    let (greedy, lru) = ("the block with the fewest valid pages was collected", "the least recently used page was evicted");
    let of_victims = (is_custom("/config/gc/victim") && victims[0] > 0)
        .then(|| remark("gc", victims, block, greedy, "Return one of the candidates (candidates.blocks)."));
    let of_evictions = (is_custom("/config/cache/policy") && evictions[0] > 0)
        .then(|| remark("cache", evictions, page, lru, "Return one of the candidates (candidates.pages)."));
    of_victims.into_iter().chain(of_evictions).collect()
}

/// Remark: write buffers and caches hold data that write amplification does not count.
fn held(result: &Value) -> Option<Remark> {
    let has_log = count(result, "/counters/log_written_units") > 0;
    // What a rebuild wrote is in buffers, too.
    if count(result, "/array/rebuilt_stripes") > 0 {
        return None;
    }
    BytesWritten::deserialize(result.get("bytes_written")?).ok()?.remark(replays(result), has_log)
}

/// The requests are those of a trace.
fn replays(result: &Value) -> bool {
    result.pointer("/config/workload/trace").is_some_and(|trace| !trace.is_null())
}

fn overloaded(overload: Overload) -> Remark {
    let (sentence, why) = match overload {
        Overload::Grew([second, third, fourth]) => (
            format!(
                "Requests came faster than the drive completed them ({second}, later {fourth} waited): times grow with the run's length."
            ),
            format!(
                "Response times tell how long the run is, not how fast the drive is: the queue never had fewer than {second} requests in the \
                 second quarter of the time in which they came, {third} in the third and {fourth} in the last."
            ),
        ),
        Overload::AtOnce(count) => (
            format!("All {count} requests arrived at one instant: response times tell how many they are, not how fast the drive is."),
            String::new(),
        ),
    };
    let remedy = "Slow them down (workload.time_scale below 1, workload.interarrival_us), or use a closed loop (workload.queue_depth).";
    Remark::warning("overloaded", "latency_ns", sentence, remedy).because(why)
}

/// Remark: write amplification has not settled. Not for a run without GC, for which there is [`no_collection`].
fn not_settled(verdict: Verdict, whole: f64, cut: bool, result: &Value) -> Option<Remark> {
    if collected(result) == Some(false) {
        return None;
    }
    let prepared = prepared_amplification(result);
    let (sentence, why) = match verdict {
        Verdict::Drifts { amplification, change } => (
            format!(
                "Write amplification has not settled: {amplification:.3}, {:+.1} % between the halves of the last drive write.",
                100.0 * change
            ),
            "A drive write is as many mapping units as the drive exports; the whole run, if that is shorter.",
        ),
        Verdict::TooShort { drive_writes } if drive_writes < 1.0 && prepared.is_none() => {
            (format!("Too short to judge write amplification: the host wrote {}.", of_drive(drive_writes)), "")
        }
        Verdict::Settled { amplification } if differs(whole, amplification) => (
            format!("Write amplification has settled at {amplification:.3}; that of what was measured has a beginning in it."),
            "The settled value is that of the last drive write.",
        ),
        Verdict::TooShort { drive_writes } if prepared.is_some_and(|settled| differs(whole, settled)) => (
            format!(
                "Write amplification is {whole:.3}, and had settled at {:.3} before the run: the host wrote {}.",
                prepared.unwrap_or_default(),
                of_drive(drive_writes)
            ),
            "A run begins with no GC job under way.",
        ),
        Verdict::TooShort { .. } | Verdict::NoCollection | Verdict::Settled { .. } => return None,
    };
    let remedy = settling_remedy(verdict, cut, result);
    Some(Remark::warning("not-settled", "gc", sentence, remedy).because(why))
}

/// How much the host wrote, in words.
fn of_drive(drive_writes: f64) -> String {
    let percent = 100.0 * drive_writes;
    let digits = usize::from(percent < 10.0);
    format!("{percent:.digits$} % of the drive")
}

/// What to do about write amplification that has not settled. Leaving a beginning out shortens a run that is too short, and a drive that
/// was prepared until it was steady need not be prepared again. A trace has no more requests than it has: it is replayed more often.
fn settling_remedy(verdict: Verdict, cut: bool, result: &Value) -> String {
    let times = match verdict {
        Verdict::TooShort { drive_writes } if drive_writes > 0.0 => Some(rounded_up(1.0 / drive_writes)),
        _ => None,
    };
    let more = match (replays(result), times) {
        (false, Some(times)) => format!("Write about {times} times as much"),
        (false, None) => "Write more".into(),
        (true, _) if cut => "Replay more of the trace".into(),
        (true, Some(times)) => format!("The trace is too short: replay it about {times} times (workload.repeat)"),
        (true, None) => "Replay the trace more often (workload.repeat)".into(),
    };
    let without_beginning = match count(result, "/warm_up/requests") {
        0 => "Leave the beginning out (--warm-up)".into(),
        left_out => format!("Leave more of the beginning out than {left_out} requests (--warm-up)"),
    };
    // Passes of a trace vary among themselves, however many of them are left out.
    let only_more = matches!(verdict, Verdict::TooShort { .. }) || replays(result) && count(result, "/warm_up/requests") > 0;
    // It is prepared already, or has zones, which cannot be overwritten at random.
    let cannot_be_prepared = |kind| matches!(kind, Some("steady" | "trace")) || has_zones(result);
    match result.pointer("/precondition/kind").and_then(Value::as_str) {
        Some("state") => format!("{more}, or save the state after a longer run."),
        kind if only_more && cannot_be_prepared(kind) => format!("{more}."),
        kind if cannot_be_prepared(kind) => format!("{without_beginning}, or {}.", uncapitalised(&more)),
        _ if only_more => format!("{more}, or prepare the drive (ftl.precondition.kind = \"steady\")."),
        _ => format!("{without_beginning}, {}, or prepare the drive (ftl.precondition.kind = \"steady\").", uncapitalised(&more)),
    }
}

/// A sentence's beginning, to stand within one.
fn uncapitalised(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_lowercase() + rest
}

/// A factor above 1, rounded up to two significant digits.
fn rounded_up(factor: f64) -> String {
    if factor < 10.0 {
        return format!("{:.1}", (10.0 * factor).ceil() / 10.0);
    }
    let mut step = 1.0;
    while factor / step >= 100.0 {
        step *= 10.0;
    }
    format!("{:.0}", (factor / step).ceil() * step)
}

/// The beginning of a run shows in its write amplification: the value of the whole run differs from the settled value.
fn differs(whole: f64, settled: f64) -> bool {
    (whole / settled - 1.0).abs() > BEGINNING
}

/// The settled write amplification of the preparation; `None` without a preparation, or if it has not settled.
fn prepared_amplification(result: &Value) -> Option<f64> {
    let prepared = result.get("precondition")?;
    prepared["settled"].as_bool().filter(|&settled| settled)?;
    prepared["settled_write_amplification"].as_f64()
}

/// Whether GC ran: jobs have ended, a job under way has taken time, or pages were moved. `None` if the result does not count jobs.
fn collected(result: &Value) -> Option<bool> {
    let jobs = result.pointer("/gc/jobs")?.as_u64()?;
    let under_way = result.pointer("/gc/time_share").and_then(Value::as_f64).is_some_and(|share| share > 0.0);
    Some(jobs > 0 || under_way || count(result, "/gc/pages_moved") > 0)
}

/// Remark: GC did not run, although the host wrote and keys of `gc` are set.
fn no_collection(result: &Value) -> Option<Remark> {
    let written = count(result, "/flash/host_programs") > 0;
    if collected(result) != Some(false) || !written || has_zones(result) || !chooses_collection(result) {
        return None;
    }
    let after = if result.pointer("/warm_up").is_some() { " after the warm-up" } else { "" };
    let sentence = format!("Garbage collection did not run{after}: its keys had nothing to decide.");
    Some(Remark::note("no-collection", "gc", sentence, collecting_remedy(result)))
}

/// What to do so that GC runs: write as much as fills the free blocks, prepare a drive that is not prepared, or take a smaller one.
fn collecting_remedy(result: &Value) -> String {
    let config = result.get("config").and_then(|config| Config::from_value(config.clone()).ok());
    let free = result.pointer("/precondition/free_blocks_max").and_then(Value::as_u64);
    let until = |free: Option<u64>| Some(format!(": about {} from the start", binary(bytes_to_collection(config.as_ref()?, free)?)));
    let more = format!("Write more{}", until(free).unwrap_or_default());
    match result.pointer("/config/ftl/precondition/kind").and_then(Value::as_str) {
        Some("soft" | "steady" | "trace") => {
            format!("{more}, or take a drive that needs less (--fit, device.blocks_per_plane, device.pages_per_block, fewer dies).")
        }
        Some("ranges") => {
            format!("{more}, or set ftl.precondition.kind = \"steady\" beside --prefill, which alone writes its ranges once.")
        }
        _ => format!("{more}, or prepare the drive (ftl.precondition.kind = \"soft\" or \"steady\")."),
    }
}

/// Bytes that the host writes until every pool is short of free blocks, if they are spread evenly: those of the blocks above the soft
/// threshold, and of one more, which is open. `free`: free blocks of a pool at the start; `None` if every block is. `None` if another
/// condition than the threshold triggers GC.
fn bytes_to_collection(config: &Config, free: Option<u64>) -> Option<u64> {
    let capacity = Capacity::of(config).ok().filter(|_| matches!(config.gc.trigger, Trigger::Soft | Trigger::Idle))?;
    let above = free
        .unwrap_or(capacity.blocks_per_pool)
        .saturating_sub(capacity.soft_blocks(config.gc.soft) + u64::from(config.uncounted_blocks()))
        + 1;
    let block = capacity.units_per_block * capacity.unit_bytes;
    Some(u64::from(config.array.drives()) * capacity.pools * above * block + config.buffer.bytes)
}

/// A key of `gc` differs from its default.
fn chooses_collection(result: &Value) -> bool {
    let default = Config::default().to_value();
    let keys = result.pointer("/config/gc").and_then(Value::as_object);
    keys.into_iter().flatten().any(|(key, value)| default["gc"].get(key).is_some_and(|usual| usual != value))
}

/// Remarks: keys without effect; one remark for all keys that need the same setting.
fn no_effect(result: &Value) -> Vec<Remark> {
    let text = |idle: &Value, name: &str| idle.get(name).and_then(Value::as_str).unwrap_or_default().to_string();
    let mut by_need: Vec<(String, Vec<String>)> = Vec::new();
    for idle in list(result, "/idle_keys") {
        let (key, needs) = (text(idle, "key"), text(idle, "needs"));
        match by_need.iter_mut().find(|(other, _)| *other == needs) {
            Some((_, keys)) => keys.push(key),
            None => by_need.push((needs, vec![key])),
        }
    }
    let remark = |(needs, keys): (String, Vec<String>)| {
        let (names, have, it) = if keys.len() == 1 { (keys[0].clone(), "has", "it") } else { (keys.join(", "), "have", "they") };
        let (needs_it, them) = if keys.len() == 1 { ("needs", "it") } else { ("need", "them") };
        let sentence = format!("{names} {have} no effect: {it} {needs_it} {needs}.");
        Remark::note("no-effect", &format!("config.{}", keys[0]), sentence, format!("Set that as well, or leave {them} out."))
    };
    by_need.into_iter().map(remark).collect()
}

/// Remark: the device can suspend operations, but no key makes it do so. Keys that the user set are in [`no_effect`].
fn no_suspension(result: &Value) -> Option<Remark> {
    let can = ["resume_ns", "min_run_ns"].iter().any(|key| count(result, &format!("/config/device/{key}")) > 0);
    let suspends = |section: &str| {
        result.pointer(&format!("/config/{section}/suspend")).is_none_or(|kinds| kinds.as_array().is_none_or(|kinds| !kinds.is_empty()))
    };
    let told = list(result, "/idle_keys").iter().any(|idle| idle["key"] == "device.resume_ns" || idle["key"] == "device.min_run_ns");
    if !can || told || suspends("scheduler") || suspends("gc") || count(result, "/requests/read") == 0 {
        return None;
    }
    Some(Remark::note(
        "no-suspension",
        "latency_ns.read",
        "The device can suspend programs and erases for reads, but no key makes it do so: reads waited for their end.",
        "Set scheduler.suspend to [\"program\", \"erase\"].",
    ))
}

/// Remark: the device can do multi-plane programs, but few formed.
fn rare_multiplane(result: &Value) -> Option<Remark> {
    let multiplane = result.pointer("/config/device/multiplane").and_then(Value::as_bool) == Some(true);
    let planes = count(result, "/config/device/planes_per_die");
    let joined = result.pointer("/counters/multiplane_programs").and_then(Value::as_u64)?;
    let units = match count(result, "/config/ftl/map_unit_bytes") {
        0 => 1,
        unit => (count(result, "/config/device/page_bytes") / unit).max(1),
    };
    let pages = count(result, "/flash/host_programs") / units;
    if !multiplane || planes < 2 || pages < PROGRAMS_MIN {
        return None;
    }
    let share = (joined * planes) as f64 / pages as f64;
    (share < RARE).then(|| {
        let sentence = format!(
            "Multi-plane programs hardly ever formed: {joined} of them, with at most {:.1} % of the {pages} pages of the host.",
            100.0 * share
        );
        let remedy = "Write larger requests or more at once, or set ftl.allocation so that neighbours lie on the planes of a die.";
        let why = "device.multiplane_aligned = false joins more of them, if the device allows it.";
        Remark::note("multiplane-rare", "config.device.multiplane", sentence, remedy).because(why)
    })
}

/// Remark: trims are in no class of response times.
fn left_out(result: &Value) -> Option<Remark> {
    let trims = match count(result, "/requests/trim") {
        0 => return None,
        1 => "1 trim is".to_string(),
        count => format!("{count} trims are"),
    };
    let sentence = format!("{trims} not in the response times.");
    Some(Remark::note("left-out", "latency_ns", sentence, "The request log has each of them (log_requests, --log-requests)."))
}

/// Remarks on the workload: changes made to the requests of traces, and remarks of trace readers.
fn of_workload(result: &Value) -> Vec<Remark> {
    let Some(report) = result.pointer("/workload") else { return Vec::new() };
    let flows = report.pointer("/flows").and_then(Value::as_object);
    let of_flows = flows.into_iter().flatten().map(|(name, report)| (report, Some(name.as_str())));
    let workload = result.pointer("/config/workload").unwrap_or(&Value::Null);
    std::iter::once((report, None)).chain(of_flows).flat_map(|(report, flow)| of_report(report, flow, workload)).collect()
}

/// Remarks from the report on a trace, of `flow` if it has a name. `workload`: its configuration.
fn of_report(report: &Value, flow: Option<&str>, workload: &Value) -> Vec<Remark> {
    let own = list(report, "/remarks").iter().filter_map(|remark| serde_json::from_value(remark.clone()).ok());
    own.chain(changes(report, flow)).chain(no_header(report, flow)).chain(volumes(report, workload)).collect()
}

/// Remark: requests of the trace were left out, moved or changed.
fn changes(report: &Value, flow: Option<&str>) -> Option<Remark> {
    let changes: Vec<_> = TRACE_CHANGES
        .iter()
        .filter_map(|(key, words)| match count(report, &format!("/trace/{key}")) {
            0 => None,
            count => Some(format!("{count} {words}")),
        })
        .collect();
    if changes.is_empty() {
        return None;
    }
    let sentence = format!("The requests are not all those of the trace{}: {}.", of_flow(flow), changes.join(", "));
    let remedy = "See `ssdlab trace info`; workload.bad_lines, time_order, range and device decide what is done.";
    let asked = usize::from(count(report, &format!("/trace/{ASKED}")) > 0);
    let severity = if asked == changes.len() { Severity::Note } else { Severity::Warning };
    Some(Remark { severity, ..Remark::note("trace-changed", "workload.trace", sentence, remedy) })
}

/// Remark: the trace has no header, so that its columns were assumed.
fn no_header(report: &Value, flow: Option<&str>) -> Option<Remark> {
    (report.pointer("/trace/without_header") == Some(&Value::Bool(true))).then(|| {
        let sentence = format!(
            "Trace{}: no header, so its columns were taken as timestamp_us,op,offset_bytes,size_bytes (times in microseconds).",
            of_flow(flow)
        );
        Remark::warning("no-header", "workload.trace", sentence, "Name the columns in its first line.")
    })
}

/// Remark: the trace has several volumes, and none was chosen.
fn volumes(report: &Value, workload: &Value) -> Option<Remark> {
    let volumes = count(report, "/trace/devices");
    if volumes < 2 || workload.get("device").is_some_and(|device| !device.is_null()) {
        return None;
    }
    let in_a_row = workload.get("volumes").is_some_and(|how| how == "concatenated");
    let (severity, how) = if in_a_row { (Severity::Note, "one after the other") } else { (Severity::Warning, "their addresses overlaid") };
    let sentence = format!("{volumes} volumes share one address space, {how}.");
    let remedy = "--volume NAME replays one of them, `ssdlab trace info` lists them.";
    Some(Remark { severity, ..Remark::note("volumes-overlaid", "workload.trace", sentence, remedy) })
}

fn of_flow(flow: Option<&str>) -> String {
    flow.map_or(String::new(), |name| format!(" of flow {name}"))
}

/// The change that `device` asked for, so that it needs no warning.
const ASKED: &str = "other_devices";

/// Counters of changes made while reading a trace, and their descriptions, without those that `skip` left out.
const TRACE_CHANGES: [(&str, &str); 7] = [
    ("bad_lines", "unreadable lines"),
    (ASKED, "requests of other volumes left out"),
    ("clamped", "times moved forward"),
    ("wrapped", "addresses wrapped"),
    ("clipped", "requests clipped"),
    ("dropped", "requests dropped"),
    ("split", "requests split"),
];

fn count(result: &Value, place: &str) -> u64 {
    result.pointer(place).and_then(Value::as_u64).unwrap_or(0)
}

fn list<'a>(result: &'a Value, place: &str) -> &'a [Value] {
    result.pointer(place).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_mean_power_above_the_cap_is_said_with_what_the_cap_leaves_out() {
        let said = |cap: f64, array: Value| {
            let parts = json!({ "bus_j": 1.0, "dram_j": 2.0, "link_j": 0.5, "controller_j": 0.5, "total_j": 40.0, "mean_w": 20.0 });
            above_cap(&json!({ "config": { "energy": { "cap_w": cap }, "array": array }, "energy": parts }))
        };
        let one = json!({ "level": "none", "drives": 4 });
        let remark = said(19.5, one.clone()).unwrap();
        assert!(remark.sentence.contains("20.00 W on average") && remark.why.contains("18.00 W, and not"), "{remark:?}");
        assert!(remark.remedy.contains("by 2.00 to keep all of that within 19.5 W"), "{remark:?}");
        assert_eq!((said(20.0, one.clone()), said(0.0, one)), (None, None));
        // Two drives, of 10 W each.
        let two = json!({ "level": "rais0", "drives": 2 });
        assert!(said(9.5, two.clone()).is_some() && said(10.5, two).is_none());
    }

    #[test]
    fn throttling_that_does_not_end_and_comes_late_is_said() {
        let said = |idle_mw: f64, sample_us: u64| {
            let thermal = json!({
                "ambient_c": 25.0, "resistance_c_per_w": 10.0, "light_c": 70.0, "heavy_c": 0.0, "hysteresis_c": 5.0, "sample_us": sample_us,
                "time_constant_s": 0.001,
            });
            let result = json!({
                "config": { "thermal": thermal, "energy": { "idle_mw": idle_mw } }, "simulated_ns": 1_000, "counters": { "heat_waits": 1 },
                "thermal": { "light_ns": 100, "heavy_ns": 0, "stopped_ns": 0, "stop_count": 0 },
            });
            (throttled(&result).unwrap().sentence, coarse_samples(&result).map(|remark| remark.sentence))
        };
        assert_eq!(said(3_999.0, 1_000), ("Heat throttled the drive for 10.0 % of the time.".into(), None));
        let (sentence, late) = said(4_000.0, 1_001);
        assert_eq!(sentence, "Heat throttled the drive for 10.0 % of the time. At rest it settles at 65.0 degrees C, so this never ends.");
        assert_eq!(late.unwrap(), "The temperature is sampled every 1001 us, and settles in 1000 us: throttling begins and ends late.");
    }

    #[test]
    fn power_states_that_no_drive_enters_are_said() {
        let said = |entries: u64| never_idle(&json!({ "power_states": { "states": [{ "entries": entries }, { "entries": 0 }] } }));
        assert!(said(1).is_none() && never_idle(&json!({})).is_none());
        assert_eq!(said(0).unwrap().sentence, "No drive entered a power state, of 2: none was idle for long enough.");
    }

    #[test]
    fn heat_is_said_with_what_it_rests_on() {
        let said = |source: &str, thermal: Value| {
            let config = json!({
                "energy": { "source": source }, "thermal": { "ambient_c": 25.0, "resistance_c_per_w": 10.0 },
                "array": { "level": "none", "drives": 4 },
            });
            let result = json!({ "config": config, "energy": { "mean_w": 4.0 }, "thermal": thermal, "simulated_ns": 1_000, "counters": { "heat_waits": 1 } });
            [guessed_powers(&result), throttled(&result), temperature_moves(&result)].map(|remark| remark.map(|remark| remark.sentence))
        };
        let cool = json!({ "end_c": 64.5, "light_ns": 0, "heavy_ns": 0, "stopped_ns": 0, "stop_count": 0 });
        assert_eq!(said("sheet", cool.clone()), [None, None, None]);
        let [guessed, ..] = said("guessed", cool);
        assert!(guessed.unwrap().starts_with("Energy, temperature and throttling rest on guessed powers"));
        let [_, heat, moves] =
            said("measured", json!({ "end_c": 50.0, "light_ns": 100, "heavy_ns": 150, "stopped_ns": 50, "stop_count": 2 }));
        assert_eq!(
            heat.unwrap(),
            "Heat throttled the drive for 25.0 % of the time, and stopped it for 5.0 % (2 times at the critical temperature)."
        );
        assert_eq!(moves.unwrap(), "The run ended at 50.0 degrees C; at its mean power a drive would settle at 65.0.");
    }

    #[test]
    fn a_trace_whose_beginning_was_left_out_is_replayed_more_often() {
        let said = |trace: Value, left_out: u64| {
            let workload = json!({ "workload": { "trace": trace } });
            let result = json!({ "config": workload, "precondition": { "kind": "steady" }, "warm_up": { "requests": left_out } });
            settling_remedy(Verdict::Drifts { amplification: 2.0, change: 0.1 }, false, &result)
        };
        assert_eq!(said(json!("t.csv"), 0), "Leave the beginning out (--warm-up), or replay the trace more often (workload.repeat).");
        assert_eq!(said(json!("t.csv"), 9), "Replay the trace more often (workload.repeat).");
        assert_eq!(said(Value::Null, 9), "Leave more of the beginning out than 9 requests (--warm-up), or write more.");
    }

    #[test]
    fn writes_that_wait_for_credit_are_said() {
        let said =
            |pace: f64| paced(&json!({ "breakdown_ns": { "write": { "pace": pace } }, "latency_ns": { "write": { "mean": 100.0 } } }));
        assert_eq!((said(49.0), paced(&json!({}))), (None, None));
        assert!(said(51.0).unwrap().sentence.starts_with("51 % of the mean"));
        let breakdown = json!({ "write": { "pace": 51.0 } });
        let held = json!({ "breakdown_ns": breakdown, "latency_ns": { "write": { "mean": 100.0 } }, "interface": { "quota_waits": 3 } });
        assert_eq!(paced(&held).unwrap().code, "quota-held");
    }

    #[test]
    fn a_rating_that_blocks_do_not_live_to_see_is_said() {
        let said = |endurance: u64, rated: u64| {
            let config = json!({ "wear": { "endurance": endurance, "rated_cycles": rated } });
            fails_early(&json!({ "config": config, "lifetime": { "tbw": 1.0 } })).map(|remark| remark.sentence)
        };
        assert!(said(100, 400).unwrap().contains("about 0.25 of lifetime.tbw"));
        assert_eq!([said(400, 400), said(400, 100), said(0, 400), said(400, 0)], [const { None }; 4]);
    }

    #[test]
    fn dies_are_uneven_beyond_chance_only() {
        let said = |valid: [u64; 2], busy: [f64; 2], [read, write]: [u64; 2]| {
            let result = json!({
                "requests": { "read": read, "write": write },
                "bytes_written": { "data": 4_096_000_000_u64 },
                "utilisation": { "chips": busy },
                "gc": { "jobs": 20_000 },
            });
            let filled = Filled { valid: valid.to_vec(), units_per_program: 1, unit_bytes: 4096 };
            uneven_dies(&filled, &result).map(|remark| remark.sentence)
        };
        let (even, alike) = ([100_000, 104_000], [0.5, 0.55]);
        assert_eq!(said(even, alike, [0, 10]), None);
        assert!(said([100_000, 114_000], alike, [0, 10]).unwrap().contains("one holds 100000 mapping units at the end, another 114000"));
        // Of 36 units each, 18 more may be chance.
        assert_eq!(said([36, 54], alike, [0, 10]), None);
        assert!(said(even, [0.5, 0.65], [4, 10]).unwrap().contains("one 50.0 % of the time, another 65.0 %"));
        assert_eq!(said(even, [0.5, 0.65], [10, 4]), None);
    }
}
