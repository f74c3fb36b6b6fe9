//! The timeline's file: by hand where little happens, and on random drives its rules, and that its slices add up to the statistics.

use std::fs;
use std::path::Path;

use crate::common;
use crate::common::cases::{Cases, Tally, is_full};
use crate::common::perfetto::File;
use crate::common::timeline::{ERASE_NS, ORIGIN, PAGE, PROGRAM_NS, READ_NS, SUSPEND_NS, TRANSFER_NS, TWO_MOVES, preemptible};
use crate::common::{one_die, random_cache, random_config, random_requests};
use ssdlab::config::{
    ArrayLevel, Buffer, CachePlace, CachePolicy, Capacity, Config, Drain, Pace, PreconditionKind, Priority, Scope, Suspendable,
};
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify};
use ssdlab::ssd::Ssd;
use ssdlab::stats::RunResult;
use ssdlab::timeline::{DEFAULT_LIMIT, Wanted};
use ssdlab::units::{ChannelId, Ns};

const CASES: u64 = 400;
const WHOLE: (Ns, Ns) = (0, Ns::MAX);

/// How long the chips of a drive were busy, and its channels.
#[derive(Debug, PartialEq, Eq)]
struct Busy {
    chips: Vec<Ns>,
    channels: Vec<Ns>,
}

/// What is known of a run: its result, how busy each drive was, and the file.
struct Ran {
    result: RunResult,
    drives: Vec<Busy>,
    text: String,
}

fn busy(ssd: &Ssd, now: Ns) -> Busy {
    let geometry = ssd.ftl().geometry();
    Busy {
        chips: (0..geometry.chips).map(|chip| ssd.chip_busy_ns(chip, now)).collect(),
        channels: (0..geometry.channels).map(|channel| ssd.bus_busy_ns(ChannelId(channel), now)).collect(),
    }
}

fn play(config: &Config, requests: &[Request], timeline: Option<Wanted>) -> Result<Ran, String> {
    let path = timeline.as_ref().map(|timeline| timeline.path.clone());
    let plan = Plan { verify: Verify::End, timeline, ..Plan::new(config.clone(), 7) };
    let mut simulation = Simulation::new(&plan, &Control::default()).map_err(|error| error.to_string())?;
    for request in requests {
        simulation.submit(*request).map_err(|error| error.to_string())?;
    }
    simulation.run_to_idle().map_err(|error| error.to_string())?;
    let drives = simulation.storage().drives().into_iter().map(|ssd| busy(ssd, simulation.now())).collect();
    let result = simulation.finish().map_err(|error| error.to_string())?;
    let text = path.map_or_else(String::new, |path| fs::read_to_string(path).expect("the file is in its place"));
    Ok(Ran { result, drives, text })
}

fn play_into(folder: &Path, config: &Config, requests: &[Request], window: (Ns, Ns), limit: u64) -> Result<(Ran, File), String> {
    let wanted = Wanted::new(folder.join("timeline.json"), window, limit).map_err(|error| error.to_string())?;
    let ran = play(config, requests, Some(wanted))?;
    let file = File::read(&ran.text)?;
    let timeline = ran.result.timeline.as_ref().ok_or("the result does not tell of the timeline")?;
    if (timeline.slices, timeline.full) != (file.slices.len() as u64, file.other["full"] == true) || timeline.slices > limit {
        return Err(format!("{timeline:?} of {} slices: {}", file.slices.len(), file.other));
    }
    Ok((ran, file))
}

fn request(at: Ns, kind: RequestKind, page: u64, pages: u64) -> Request {
    Request { arrival_ns: at, kind, offset: page * PAGE, length: pages * PAGE, high_priority: false, flow: 0, handle: None }
}

/// The writes after which the job of [`preemptible`] begins at [`ORIGIN`].
fn two_moves_begin() -> impl Iterator<Item = Request> {
    TWO_MOVES.iter().zip(0..).map(|(&page, index)| {
        let at = if index == 4 { ORIGIN - TRANSFER_NS - PROGRAM_NS } else { 410_000 * index };
        request(at, RequestKind::Write, page, 1)
    })
}

#[test]
fn a_write_to_one_die_is_this_file() {
    let folder = tempfile::tempdir().unwrap();
    let write = [request(1_001, RequestKind::Write, 5, 1)];
    let (ran, _) = play_into(folder.path(), &one_die(), &write, WHOLE, DEFAULT_LIMIT).unwrap();
    let name = |what: &str, pid: u32, tid: u32, name: &str| {
        format!(
            "{{\"name\":\"{what}_name\",\"ph\":\"M\",\"pid\":{pid},\"tid\":{tid},\"args\":{{\"name\":\"{name}\"}}}},\n\
             {{\"name\":\"{what}_sort_index\",\"ph\":\"M\",\"pid\":{pid},\"tid\":{tid},\"args\":{{\"sort_index\":{tid}}}}},\n"
        )
    };
    let names = [
        name("process", 1, 1, "requests"),
        name("thread", 1, 1000, "requests 1"),
        name("process", 2, 2, "dies"),
        name("thread", 2, 1001, "die 0"),
        name("process", 3, 3, "channels"),
        name("thread", 3, 1002, "channel 0"),
        name("process", 4, 4, "GC jobs"),
    ]
    .concat();
    let page = "\"args\":{\"request\":0,\"lpn\":5,\"ppn\":0,\"block\":0,\"pool\":0}}";
    let level = |name: &str, pid: u32, tid: u32, at: &str, what: &str, value: u32| {
        format!("{{\"name\":\"{name}\",\"ph\":\"C\",\"pid\":{pid},\"tid\":{tid},\"ts\":{at},\"args\":{{\"{what}\":{value}}}}},\n")
    };
    // The write takes one of eight free blocks. It never waits, so that the chip's queues have no track.
    let levels = |at: &str, under_way: u32, free: u32| {
        [
            level("requests", 1, 1000, at, "outstanding", under_way),
            level("free blocks", 2, 1001, at, "all pools", free),
            level("fewest free blocks", 2, 1001, at, "of a pool", free),
        ]
        .concat()
    };
    let (before, during) = (levels("0", 0, 8), levels("1.0010000000000001", 1, 7));
    // From 1.001 us to 103.401 on the bus, then to 303.401 in the array. 1.001 and 303.401 us times 1000 are a little less than whole.
    let expected = format!(
        "{{\"traceEvents\":[\n{names}{before}\
         {{\"name\":\"write request\",\"cat\":\"host\",\"ph\":\"X\",\"pid\":1,\"tid\":1000,\"ts\":1.0010000000000001,\"dur\":302.4,\"args\":\
         {{\"request\":0,\"offset\":20480,\"bytes\":4096,\"arrival_us\":1.0010000000000001,\"response_us\":302.4}}}},\n\
         {{\"name\":\"transfer in\",\"cat\":\"host\",\"ph\":\"X\",\"pid\":2,\"tid\":1001,\"ts\":1.0010000000000001,\"dur\":102.4,{page},\n\
         {{\"name\":\"transfer in\",\"cat\":\"host\",\"ph\":\"X\",\"pid\":3,\"tid\":1002,\"ts\":1.0010000000000001,\"dur\":102.4,{page},\n\
         {{\"name\":\"page\",\"cat\":\"flow\",\"ph\":\"s\",\"id\":0,\"pid\":1,\"tid\":1000,\"ts\":1.0010000000000001}},\n\
         {{\"name\":\"page\",\"cat\":\"flow\",\"ph\":\"t\",\"id\":0,\"pid\":2,\"tid\":1001,\"ts\":1.0010000000000001}},\n\
         {{\"name\":\"page\",\"cat\":\"flow\",\"ph\":\"f\",\"bp\":\"e\",\"id\":0,\"pid\":3,\"tid\":1002,\"ts\":1.0010000000000001}},\n{during}\
         {{\"name\":\"program\",\"cat\":\"host\",\"ph\":\"X\",\"pid\":2,\"tid\":1001,\"ts\":103.401,\"dur\":200,{page}\n\
         ],\"otherData\":{{\"writer\":\"ssdlab {}\",\"slices\":4,\"from_us\":0,\"to_us\":303.401,\"full\":false}}}}\n",
        ssdlab::version::version()
    );
    assert_eq!(ran.text, expected);
}

#[test]
fn an_erase_that_is_suspended_for_a_read_is_on_two_tracks() {
    let folder = tempfile::tempdir().unwrap();
    let config = preemptible(|config| config.gc.suspend = vec![Suspendable::Erase]);
    let asked = ORIGIN + 1_000_000;
    let requests: Vec<_> =
        two_moves_begin().chain([request(asked, RequestKind::Read, 9, 1), request(ORIGIN + 4_000_000, RequestKind::Read, 9, 1)]).collect();
    let moves_ns = 2 * (READ_NS + 2 * TRANSFER_NS + PROGRAM_NS);
    let erased = 1_000_000 - moves_ns;
    let resumed = asked + SUSPEND_NS + READ_NS + TRANSFER_NS;
    // Another job follows, which is none of this.
    let window = (ORIGIN, resumed + ERASE_NS - erased);
    let (_, file) = play_into(folder.path(), &config, &requests, window, DEFAULT_LIMIT).unwrap();
    let mut expected = Vec::new();
    let mut at = ORIGIN;
    let mut add = |ns, name| {
        expected.push((at, at + ns, name));
        at += ns;
    };
    for _ in 0..2 {
        add(READ_NS, "move: read");
        add(TRANSFER_NS, "move: transfer out");
        add(TRANSFER_NS, "move: transfer in");
        add(PROGRAM_NS, "move: program");
    }
    add(erased, "erase");
    add(SUSPEND_NS, "suspending");
    add(READ_NS, "read");
    add(TRANSFER_NS, "transfer out");
    add(ERASE_NS - erased, "erase");
    assert_eq!(file.on("die 0"), expected);
    assert_eq!(file.on("die 0, suspended"), [(asked + SUSPEND_NS, resumed, "suspended erase")]);
    let marks = [("suspend", asked), ("resume", resumed)];
    assert_eq!(file.marks, marks.map(|(name, at)| ("die 0".to_string(), name.to_string(), at)));
    assert_eq!(file.on("pool 0"), [(ORIGIN, resumed + ERASE_NS - erased, "job")]);
    let job = file.slices.iter().find(|slice| slice.name == "job").unwrap();
    assert_eq!(job.args, r#"{"job":0,"pool":0,"victim":0,"valid_pages":2}"#);
}

/// Page 2 is read to be moved when a write to it suspends that read: the move is given up when the write has ended, and the next page follows.
#[test]
fn a_suspended_move_that_is_given_up_is_suspended_no_longer() {
    let folder = tempfile::tempdir().unwrap();
    let config = preemptible(|config| config.gc.suspend = vec![Suspendable::Read]);
    let asked = ORIGIN + 2_000;
    let later = request(ORIGIN + 4_000_000, RequestKind::Read, 9, 1);
    let requests: Vec<_> = two_moves_begin().chain([request(asked, RequestKind::Write, 2, 1), later]).collect();
    let begins = asked + SUSPEND_NS;
    let ends = begins + TRANSFER_NS + PROGRAM_NS;
    let (ran, file) = play_into(folder.path(), &config, &requests, (ORIGIN, ends + READ_NS), DEFAULT_LIMIT).unwrap();
    assert_eq!(ran.result.counters["discarded_moves"], 1);
    assert_eq!(file.on("die 0, suspended"), [(begins, ends, "suspended read")]);
    let expected = [
        (ORIGIN, asked, "move: read"),
        (asked, begins, "suspending"),
        (begins, begins + TRANSFER_NS, "transfer in"),
        (begins + TRANSFER_NS, ends, "program"),
        (ends, ends + READ_NS, "move: read"),
    ];
    assert_eq!(file.on("die 0"), expected);
}

/// Of two units of four, once as one event and once in stages beside another chip.
#[test]
fn a_read_of_a_part_of_a_page_is_drawn_with_its_transfer() {
    for chips in [1, 2] {
        let folder = tempfile::tempdir().unwrap();
        let mut config = one_die();
        config.device.chips_per_channel = chips;
        (config.device.blocks_per_plane, config.device.overprovisioning) = (10, 0.6);
        config.ftl.precondition.kind = PreconditionKind::Fill;
        config.ftl.map_unit_bytes = Some(PAGE as u32 / 4);
        config.device.partial_reads = true;
        let read = [Request { length: PAGE / 2, ..request(0, RequestKind::Read, 0, 1) }];
        let (_, file) = play_into(folder.path(), &config, &read, WHOLE, DEFAULT_LIMIT).unwrap();
        let end = READ_NS + TRANSFER_NS / 2;
        let found: Vec<_> = on_dies(&file).into_iter().map(|(_, name, start, end, ..)| (name, start, end)).collect();
        assert_eq!(found, [("read", 0, READ_NS), ("transfer out", READ_NS, end)]);
        assert_eq!(file.on("channel 0"), [(READ_NS, end, "transfer out")]);
        assert_eq!(file.on("requests 1"), [(0, end, "read request")]);
    }
}

#[test]
fn every_page_of_a_request_has_an_arrow() {
    let folder = tempfile::tempdir().unwrap();
    let write = [request(0, RequestKind::Write, 2, 3)];
    let (_, file) = play_into(folder.path(), &one_die(), &write, WHOLE, DEFAULT_LIMIT).unwrap();
    let one = TRANSFER_NS + PROGRAM_NS;
    let arrow = |page| [("s", "requests 1", 0), ("t", "die 0", page * one), ("f", "channel 0", page * one)];
    let found: Vec<Vec<_>> =
        file.flows.values().map(|steps| steps.iter().map(|(l, thread, at)| (l.to_string(), thread.clone(), *at)).collect()).collect();
    let expected: Vec<Vec<_>> =
        (0..3).map(|page| arrow(page).map(|(l, thread, at)| (l.to_string(), thread.to_string(), at)).to_vec()).collect();
    assert_eq!(found, expected);
}

/// Process, name, start, end, category and arguments of the slices on dies.
fn on_dies(file: &File) -> Vec<(&str, &str, u64, u64, &str, &str)> {
    let dies = file.slices.iter().filter(|slice| slice.process.ends_with("dies"));
    dies.map(|slice| (&*slice.process, &*slice.name, slice.start, slice.end, &*slice.category, &*slice.args)).collect()
}

/// Page 0 of three drives is written: parity is that of pages 0 and 1, and page 1 is read for it, which is no more than old data and old parity
/// would be. Page 0 lies on drive 0, page 1 on drive 1, their parity on drive 2.
#[test]
fn an_array_reads_and_writes_for_one_request() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = one_die();
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config.array.level = ArrayLevel::Rais5;
    config.array.drives = 3;
    config.array.stripe_kb = 4.0;
    let write = [request(0, RequestKind::Write, 0, 1)];
    let (_, file) = play_into(folder.path(), &config, &write, WHOLE, DEFAULT_LIMIT).unwrap();
    let read = READ_NS + TRANSFER_NS;
    let (sent, written) = (read + TRANSFER_NS, read + TRANSFER_NS + PROGRAM_NS);
    let args = |cause: &str, ppn: u64| format!("{{\"request\":0,{cause}\"lpn\":0,\"ppn\":{ppn},\"block\":{},\"pool\":0}}", ppn / 4);
    // Filled, drives have their 16 pages in the first four blocks, whose order is their own; the write goes to the next.
    let old = on_dies(&file).first().map(|slice| slice.5.to_string()).unwrap();
    assert!(old.starts_with("{\"request\":0,\"for\":\"update\",\"lpn\":0,\"ppn\":"), "{old}");
    let (data, parity) = (args("", 16), args("\"for\":\"parity\",", 16));
    let expected = [
        ("drive 1: dies", "read", 0, READ_NS, "array", &*old),
        ("drive 1: dies", "transfer out", READ_NS, read, "array", &*old),
        ("drive 0: dies", "transfer in", read, sent, "host", &*data),
        ("drive 2: dies", "transfer in", read, sent, "array", &*parity),
        ("drive 0: dies", "program", sent, written, "host", &*data),
        ("drive 2: dies", "program", sent, written, "array", &*parity),
    ];
    assert_eq!(on_dies(&file), expected);
    assert_eq!(file.on("requests 1"), [(0, written, "write request")]);
    let mut arrows: Vec<Vec<u64>> = file.flows.values().map(|steps| steps.iter().map(|step| step.2).collect()).collect();
    arrows.sort();
    // Of the read to its transfer; of the writes, that is where they begin.
    assert_eq!(arrows, [vec![0, 0, READ_NS], vec![0, read, read], vec![0, read, read]]);
}

/// A cache of one page, to which an access takes 1 us. The second write has to wait until the first page is in flash.
#[test]
fn requests_that_a_cache_answers_have_no_arrows_and_destages_no_request() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = one_die();
    config.cache.policy = CachePolicy::Lru;
    config.cache.bytes = PAGE;
    config.cache.access_ns = 1000;
    let requests =
        [request(0, RequestKind::Write, 5, 1), request(500_000, RequestKind::Write, 6, 1), request(900_000, RequestKind::Read, 6, 1)];
    let (_, file) = play_into(folder.path(), &config, &requests, WHOLE, DEFAULT_LIMIT).unwrap();
    let sent = 500_000 + TRANSFER_NS;
    let args = "{\"for\":\"destage\",\"lpn\":5,\"ppn\":0,\"block\":0,\"pool\":0}";
    let expected = [("dies", "transfer in", 500_000, sent, "cache", args), ("dies", "program", sent, sent + PROGRAM_NS, "cache", args)];
    assert_eq!(on_dies(&file), expected);
    let lane = [(0, 1000, "write request"), (500_000, sent + PROGRAM_NS + 1000, "write request"), (900_000, 901_000, "read request")];
    assert_eq!(file.on("requests 1"), lane);
    assert!(file.flows.is_empty());
}

/// A page that the cache does not have comes from flash: one arrow, and the argument says what for.
#[test]
fn a_page_that_is_fetched_for_a_request_has_an_arrow() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = one_die();
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config.cache.policy = CachePolicy::Lru;
    config.cache.bytes = 4 * PAGE;
    config.cache.access_ns = 1000;
    let requests = [request(0, RequestKind::Read, 5, 1), request(500_000, RequestKind::Read, 5, 1)];
    let (_, file) = play_into(folder.path(), &config, &requests, WHOLE, DEFAULT_LIMIT).unwrap();
    let read = READ_NS + TRANSFER_NS;
    assert_eq!(file.on("requests 1"), [(0, read + 1000, "read request"), (500_000, 501_000, "read request")]);
    let found: Vec<_> = on_dies(&file).into_iter().map(|(_, name, start, end, category, _)| (name, start, end, category)).collect();
    assert_eq!(found, [("read", 0, READ_NS, "host"), ("transfer out", READ_NS, read, "host")]);
    assert!(on_dies(&file).iter().all(|slice| slice.5.starts_with("{\"request\":0,\"for\":\"fetch\",\"lpn\":5,")));
    assert_eq!(file.flows.len(), 1);
}

/// What is drawn on dies of these requests: start, name, and the arguments up to the page.
fn drawn_on_dies(config: &Config, requests: &[Request]) -> Vec<(u64, String, String)> {
    let folder = tempfile::tempdir().unwrap();
    let (_, file) = play_into(folder.path(), config, requests, WHOLE, DEFAULT_LIMIT).unwrap();
    let whose = |args: &str| args.split(",\"ppn\"").next().unwrap_or_default().to_string();
    on_dies(&file).into_iter().map(|(_, name, start, _, _, args)| (start, name.to_string(), whose(args))).collect()
}

/// The second request comes when the first is over, so that its number is not its place among those that are outstanding.
#[test]
fn behind_the_door_of_paced_writes_operations_are_those_of_their_requests() {
    let mut config = one_die();
    (config.gc.soft, config.gc.scope, config.gc.priority) = (3.0, Scope::None, Priority::Host);
    config.gc.pace = Pace::Proportional;
    let later = 500_000;
    let requests = [request(0, RequestKind::Write, 5, 1), request(later, RequestKind::Write, 6, 1)];
    let slice = |at, name: &str, request: u64, page: u64| (at, name.to_string(), format!("{{\"request\":{request},\"lpn\":{page}"));
    let expected = [
        slice(0, "transfer in", 0, 5),
        slice(TRANSFER_NS, "program", 0, 5),
        slice(later, "transfer in", 1, 6),
        slice(later + TRANSFER_NS, "program", 1, 6),
    ];
    assert_eq!(drawn_on_dies(&config, &requests), expected);
}

/// So it is behind the mapping table. 64 pages are exported, and a translation page has the entries of eight: that of page 5 is the first behind
/// these. It is read for the first request, and the second finds it in memory.
#[test]
fn behind_the_mapping_table_operations_are_those_of_their_requests() {
    let mut config = one_die();
    config.device.blocks_per_plane = 32;
    config.ftl.precondition.kind = PreconditionKind::Fill;
    (config.ftl.map_cache_bytes, config.ftl.map_entry_bytes) = (2 * PAGE, 512);
    let later = 1_000_000;
    let requests = [request(0, RequestKind::Read, 5, 1), request(later, RequestKind::Read, 6, 1)];
    let read = READ_NS + TRANSFER_NS;
    let of = |at, what: &str| [(at, "read".to_string(), what.to_string()), (at + READ_NS, "transfer out".to_string(), what.to_string())];
    let expected = [
        of(0, "{\"request\":0,\"for\":\"map_read\",\"lpn\":64"),
        of(read, "{\"request\":0,\"lpn\":5"),
        of(later, "{\"request\":1,\"lpn\":6"),
    ];
    assert_eq!(drawn_on_dies(&config, &requests), expected.concat());
}

/// A program takes four units of 1 KiB. Of the first only a half is written: the rest is read when the fourth has come. Neither that nor the
/// program is a request's.
#[test]
fn a_write_buffer_reads_and_programs_for_no_request() {
    let mut config = one_die();
    (config.device.blocks_per_plane, config.device.overprovisioning) = (12, 0.66);
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config.ftl.map_unit_bytes = Some(PAGE as u32 / 4);
    config.buffer = Buffer { bytes: 4 * PAGE, access_ns: 1_000, drain: Drain::Full, timeout_us: 0, ..Buffer::default() };
    let unit = PAGE / 4;
    let write = |at, page, length| Request { offset: page * unit, length, ..request(at, RequestKind::Write, 0, 1) };
    let last = request(1_000_000, RequestKind::Read, 10, 1);
    let requests = [write(0, 0, unit / 2), write(10_000, 5, unit), write(20_000, 9, unit), write(30_000, 3, unit), last];
    let filled = 30_000 + READ_NS + TRANSFER_NS;
    let slice = |at, name: &str, cause: &str| (at, name.to_string(), format!("{{\"for\":\"{cause}\",\"lpn\":0"));
    let expected = [
        slice(30_000, "read", "fill"),
        slice(30_000 + READ_NS, "transfer out", "fill"),
        slice(filled, "transfer in", "drain"),
        slice(filled + TRANSFER_NS, "program", "drain"),
    ];
    assert_eq!(drawn_on_dies(&config, &requests)[..4], expected);
}

/// Page 2 is read to be moved when a read of it arrives, which merges with that: an arrow from its lane to the move, where it has joined it.
#[test]
fn a_read_that_merges_with_a_move_has_an_arrow_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let config = preemptible(|config| config.gc.merge = true);
    let asked = ORIGIN + 10_000;
    let requests: Vec<_> = two_moves_begin().chain([request(asked, RequestKind::Read, 2, 1)]).collect();
    let (ran, file) = play_into(folder.path(), &config, &requests, WHOLE, DEFAULT_LIMIT).unwrap();
    assert_eq!(ran.result.gc.merged.read, 1);
    assert!(file.on("requests 1").contains(&(asked, ORIGIN + READ_NS + TRANSFER_NS, "read request")));
    assert!(file.on("die 0").contains(&(ORIGIN, ORIGIN + READ_NS, "move: read")));
    let arrow = vec![('s', "requests 1".to_string(), asked), ('f', "die 0".to_string(), asked)];
    assert_eq!(file.flows.values().filter(|steps| steps[0].2 == asked).collect::<Vec<_>>(), [&arrow]);
}

#[test]
fn a_window_that_ends_before_it_begins_and_no_slices_are_refused() {
    let wanted = |window, limit| Wanted::new("t.json".into(), window, limit).unwrap_err().to_string();
    assert!(wanted((5, 5), 1).contains("must end after it begins"));
    assert!(wanted(WHOLE, 0).contains("expected 1 to"));
    assert!(wanted(WHOLE, u64::MAX).contains("expected 1 to"));
}

#[test]
fn a_timeline_that_cannot_be_written_is_an_error_before_the_run() {
    let wanted = Wanted::new("/nonexistent/t.json".into(), WHOLE, 1).unwrap();
    let message = play(&one_die(), &[], Some(wanted)).err().expect("an error");
    assert!(message.starts_with("/nonexistent/t.json: cannot write: No such file"), "{message}");
}

#[test]
fn an_unfinished_run_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let timeline = Some(Wanted::new(folder.path().join("t.json"), WHOLE, 100).unwrap());
    let plan = Plan { timeline, ..Plan::new(one_die(), 1) };
    let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
    simulation.submit(request(0, RequestKind::Write, 0, 1)).unwrap();
    simulation.run_until(1000).unwrap();
    drop(simulation);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A random drive, alone or several, with or without a cache.
fn random_storage(rng: &mut Rng) -> Config {
    let mut config = random_config(rng);
    if rng.chance(0.4) {
        random_cache(rng, &mut config);
        config.cache.place = if rng.chance(0.5) { CachePlace::Array } else { CachePlace::Drive };
    }
    if rng.chance(0.5) {
        let level = if rng.chance(0.3) { ArrayLevel::Rais0 } else { ArrayLevel::Rais5 };
        config.array.level = level;
        config.array.drives = 3 + rng.below(3) as u32;
        let pages = Capacity::of(&config).expect("a valid drive").exported_units;
        config.array.stripe_kb = ((1 + rng.below(4)).min(pages) * u64::from(config.device.page_bytes)) as f64 / 1024.0;
        if level == ArrayLevel::Rais5 && rng.chance(0.4) {
            config.array.degraded = Some(rng.below(config.array.drives.into()) as u32);
            config.array.rebuild_stripes = u32::from(config.array.drives > 3);
        }
    }
    config
}

/// Returns what the case had, so that it is seen that the cases have something to show.
fn random_case(case: u64) -> Result<Tally, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let folder = folder.path();
    let mut rng = Rng::new(case, "perfetto");
    let config = random_storage(&mut rng);
    let count = 30 + rng.below(120);
    let requests = random_requests(&mut rng, &config, count);
    let without = play(&config, &requests, None)?;
    let (ran, file) = play_into(folder, &config, &requests, WHOLE, DEFAULT_LIMIT)?;
    let end = ran.result.simulated_ns;
    if (&ran.result.digest, &ran.result.counters) != (&without.result.digest, &without.result.counters) {
        return Err("a timeline changes the run".into());
    }
    adds_up(&config, &ran, &file)?;

    let from = rng.below(end + 1);
    let to = from + 1 + rng.below(end + 1);
    let (_, part) = play_into(folder, &config, &requests, (from, to), DEFAULT_LIMIT)?;
    if part.within(0, Ns::MAX) != file.within(from, to) || part.levels_within(from, to) != file.levels_within(from, to.min(end)) {
        return Err(format!("the window from {from} to {to} ns is not that part of the whole"));
    }
    little(&part, to.min(end))?;
    let limit = 1 + rng.below(ran.result.timeline.as_ref().map_or(0, |timeline| timeline.slices) + 1);
    let (limited, part) = play_into(folder, &config, &requests, (from, Ns::MAX), limit)?;
    let reached = limited.result.timeline.as_ref().map_or((0, 0), |timeline| (timeline.from_ns, timeline.to_ns));
    little(&part, reached.1)?;
    let levels_differ = part.levels_within(from, reached.1) != file.levels_within(from, reached.1);
    if reached.0 != from.min(end) || part.within(0, Ns::MAX) != file.within(from, reached.1) || levels_differ {
        return Err(format!("with at most {limit} slices from {from} ns on it is not the whole up to {} ns", reached.1));
    }
    let has = |what: &dyn Fn(&common::perfetto::Slice) -> bool| file.slices.iter().any(what);
    let made = |what: &str| has(&|slice| slice.args.contains(&format!("\"for\":\"{what}\"")));
    let seen = [
        ("a second operation", has(&|slice| slice.thread.ends_with(", second operation"))),
        ("suspended", has(&|slice| slice.name.starts_with("suspended "))),
        ("paused", has(&|slice| slice.name == "paused program")),
        ("on several planes", has(&|slice| slice.args.contains("\"pages\""))),
        ("waits for the bus", has(&|slice| slice.name == "wait for bus")),
        ("joined", ran.result.gc.merged.read > 0),
        ("cut by the limit", reached.1 < end),
        ("hits", ran.result.cache.as_ref().is_some_and(|cache| cache.read_hits > 0)),
        ("fetch", made("fetch")),
        ("destage", made("destage")),
        ("padding", made("padding")),
        ("update", made("update")),
        ("parity", made("parity")),
        ("degraded", made("degraded")),
        ("rebuild", made("rebuild")),
    ];
    Ok(seen.into_iter().map(|(name, seen)| (name.to_string(), u64::from(seen))).collect())
}

/// Slices add up to the busy times of each drive, to the nanosecond: on a channel their sum, of a die the union of its two operation tracks.
fn adds_up(config: &Config, ran: &Ran, file: &File) -> Result<(), String> {
    for (number, expected) in ran.drives.iter().enumerate() {
        let process = |what: &str| if ran.drives.len() > 1 { format!("drive {number}: {what}") } else { what.to_string() };
        let channel = |channel| file.sum_ns(&process("channels"), &format!("channel {channel}"));
        let die = |die: u32| file.union_ns(&process("dies"), &[format!("die {die}"), format!("die {die}, second operation")]);
        let dies = config.device.dies_per_chip;
        // The mean of dies that work side by side; all of those that take turns.
        let side_by_side = if config.device.die_interleave { Ns::from(dies) } else { 1 };
        let chip = |chip: u32| (chip * dies..(chip + 1) * dies).map(die).sum::<Ns>() / side_by_side;
        let found = Busy {
            chips: (0..expected.chips.len() as u32).map(chip).collect(),
            channels: (0..expected.channels.len()).map(channel).collect(),
        };
        if found != *expected {
            return Err(format!("drive {number}: {found:?}, not {expected:?}"));
        }
    }
    let jobs = file.slices.iter().filter(|slice| slice.name == "job" || slice.name == "empty block").count() as u64;
    if jobs < ran.result.gc.jobs {
        return Err(format!("{jobs} jobs, not {}", ran.result.gc.jobs));
    }
    little(file, ran.result.simulated_ns)
}

/// Little's law: requests under way, summed over time, are the sum of the times that requests took.
fn little(file: &File, end: Ns) -> Result<(), String> {
    let under_way = file.level_ns("requests", "requests outstanding", end);
    let took: Ns = file.slices.iter().filter(|slice| slice.process == "requests").map(|slice| slice.end - slice.start).sum();
    if under_way == took { Ok(()) } else { Err(format!("{under_way} request-ns are under way, and requests took {took} ns")) }
}

/// Five reads of one die arrive at once: they wait for each other, in the chip's queue.
#[test]
fn what_waits_for_a_chip_is_a_level() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = one_die();
    config.ftl.precondition.kind = PreconditionKind::Fill;
    let requests: Vec<_> = (0..5).map(|page| request(1000, RequestKind::Read, page, 1)).collect();
    let (_, file) = play_into(folder.path(), &config, &requests, WHOLE, DEFAULT_LIMIT).unwrap();
    let read = READ_NS + TRANSFER_NS;
    let level = |process: &str, name: &str| file.levels.get(&(process.to_string(), name.to_string())).cloned();
    let waiting = [(0, 0), (1000, 4), (1000 + read, 3), (1000 + 2 * read, 2), (1000 + 3 * read, 1), (1000 + 4 * read, 0)];
    assert_eq!(level("dies", "chip 0 reads waiting").unwrap(), waiting);
    assert_eq!(level("dies", "chip 0 writes waiting"), None, "nothing was ever in it");
    let under_way = [(0, 0), (1000, 5), (1000 + read, 4), (1000 + 2 * read, 3), (1000 + 3 * read, 2), (1000 + 4 * read, 1)];
    assert_eq!(level("requests", "requests outstanding").unwrap(), under_way);
    assert_eq!(level("requests", "cache dirty pages"), None);
}

/// A timeline may end early because of what changes without a slice, and then ends for all.
#[test]
fn levels_obey_window_and_limit() {
    let folder = tempfile::tempdir().unwrap();
    let writes: Vec<_> = (0..40).map(|page| request(1000 * page, RequestKind::Write, page % 12, 1)).collect();
    let (_, whole) = play_into(folder.path(), &one_die(), &writes, WHOLE, DEFAULT_LIMIT).unwrap();
    let (_, part) = play_into(folder.path(), &one_die(), &writes, (20_500, 30_500), DEFAULT_LIMIT).unwrap();
    assert!(part.levels.values().flatten().all(|&(at, _)| (20_500..30_500).contains(&at)));
    assert_eq!(part.levels_within(20_500, 30_500), whole.levels_within(20_500, 30_500));
    let (ran, limited) = play_into(folder.path(), &one_die(), &writes, WHOLE, 3).unwrap();
    let timeline = ran.result.timeline.unwrap();
    assert!(timeline.full && limited.levels.values().flatten().all(|&(at, _)| at < timeline.to_ns));
    assert_eq!(limited.levels_within(0, timeline.to_ns), whole.levels_within(0, timeline.to_ns));
}

#[test]
fn random_drives_follow_the_rules_and_add_up() {
    let tally = Cases::asked_for(CASES).run(random_case).unwrap_or_else(|failure| panic!("case {}: {}", failure.case, failure.reason));
    assert!(!is_full() || tally.len() == 14 && tally.values().all(|&count| count >= 5), "too few cases of some kind: {tally:?}");
}
