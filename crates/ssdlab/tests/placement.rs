//! Data placement: which block each page goes to, worked out by hand, and what that saves.

use crate::common::pages::{PAGE, write};
use crate::common::{one_die, plan, simulation};
use crate::timelines::changed;
use ssdlab::config::{Address, Buffer, CachePolicy, Config, Drain, Isolation, Placement, PreconditionKind, Victim};
use ssdlab::error::Error;
use ssdlab::ftl::{Class, CustomPlacement, Failure, Happened, PlacementPolicy, Placing, Source};
use ssdlab::request::Request;
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify, WarmUp, run};
use ssdlab::stats::{RunResult, StreamResult, Writer};
use ssdlab::units::Lpn;

/// What a case changes of a configuration.
type Change = Box<dyn Fn(&mut Config)>;

const MS: u64 = 1_000_000;

/// One die with 16 blocks of 4 pages, and handles 0 to 2, of which 0 is the default.
fn handles(isolation: Isolation) -> Config {
    changed(one_die(), |c| {
        (c.device.blocks_per_plane, c.device.overprovisioning) = (16, 0.6);
        (c.ftl.placement, c.ftl.handles, c.ftl.isolation) = (Placement::Handles, 3, isolation);
    })
}

/// Writes of pages by handle, 10 ms apart, so that each has ended before the next.
fn written(config: &Config, pages: &[(u64, Option<u8>)]) -> Simulation {
    let mut simulation = simulation(config);
    for (&(page, handle), number) in pages.iter().zip(0..) {
        simulation.submit(Request { handle, ..write(10 * MS * number, page) }).unwrap();
    }
    simulation.run_to_idle().unwrap();
    simulation
}

/// Placement by handles that no request names keeps nothing apart, and the result says so; with two handles it does not.
#[test]
fn writes_of_one_handle_are_remarked() {
    let remarked = |ranges: Vec<(f64, u8)>| {
        let mut config = handles(Isolation::Initial);
        (config.workload.read_share, config.workload.handle_ranges) = (0.0, ranges);
        let result = run(&Plan { requests: Some(50), ..plan(config) }, &Control::default()).unwrap();
        let written = result.streams.iter().filter(|stream| stream.host_units > 0).count();
        (
            written,
            result.remarks.iter().filter(|remark| remark.code == "one-handle").map(|remark| remark.sentence.clone()).collect::<Vec<_>>(),
        )
    };
    let (written, remarks) = remarked(Vec::new());
    assert!(written == 1 && remarks.len() == 1 && remarks[0].starts_with("All writes had handle 0, "), "{written} {remarks:?}");
    assert_eq!(remarked(vec![(0.5, 1)]), (2, Vec::new()));
}

/// The block in which each page lies.
fn blocks(simulation: &Simulation, pages: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let ftl = simulation.ssd().ftl();
    pages.into_iter().map(|page| ftl.geometry().split_page(ftl.lookup(Lpn(page)).expect("it was written")).0.0).collect()
}

fn stream(result: &RunResult, writer: Writer, class: u8) -> &StreamResult {
    result.streams.iter().find(|stream| stream.writer == writer && stream.class == class).expect("there is such a stream")
}

/// Handles in the order 0, 1, 0, 2, none: 0 takes block 0, 1 block 1, 2 block 2; a write without a handle is one of handle 0.
#[test]
fn each_handle_fills_a_block_of_its_own() {
    let writes = [(0, Some(0)), (1, Some(1)), (2, Some(0)), (3, Some(2)), (4, None), (5, Some(1)), (6, None)];
    let simulation = written(&handles(Isolation::Initial), &writes);
    assert_eq!(blocks(&simulation, 0..7), [0, 1, 0, 2, 0, 1, 0]);
    let result = simulation.finish().unwrap();
    let host = [0, 1, 2].map(|class| stream(&result, Writer::Host, class).host_units);
    assert_eq!((host, result.streams.len()), ([4, 2, 1], 4));
}

/// A page with data of handle 0 that handle 2 overwrites goes to the block of handle 2.
#[test]
fn the_handle_of_the_last_write_counts() {
    let simulation = written(&handles(Isolation::Initial), &[(0, Some(0)), (1, Some(0)), (0, Some(2))]);
    assert_eq!(blocks(&simulation, 0..2), [1, 0]);
}

/// Handles 0 and 1 fill blocks 0 and 1 with three pages each that stay valid and one that is overwritten until GC collects both blocks.
fn collected(isolation: Isolation) -> Simulation {
    let mut writes = vec![];
    for page in 0..3 {
        writes.extend([(page, Some(0)), (10 + page, Some(1))]);
    }
    writes.extend([(3, Some(0)), (13, Some(1))]);
    // Both blocks are full. Page 20 is overwritten again and again, with handle 2, as are pages 3 and 13 once.
    writes.extend([(3, Some(2)), (13, Some(2))]);
    writes.extend((0..44).map(|_| (20, Some(2))));
    let config = changed(handles(isolation), |c| (c.gc.soft, c.gc.victim) = (4.0, Victim::Fifo));
    written(&config, &writes)
}

/// Moves of all handles share a block with initial isolation, and stay apart with persistent isolation.
#[test]
fn moved_pages_share_a_block_or_stay_with_their_handle() {
    for (isolation, apart) in [(Isolation::Initial, false), (Isolation::Persistent, true)] {
        let simulation = collected(isolation);
        let ftl = simulation.ssd().ftl();
        let [first, second] = [0, 10].map(|page| ftl.geometry().split_page(ftl.lookup(Lpn(page)).unwrap()).0);
        let moved = &ftl.blocks().erases()[..2];
        assert!(moved.iter().all(|&erases| erases > 0), "{isolation:?}: blocks 0 and 1 were collected, {moved:?}");
        let streams = [first, second].map(|block| ftl.blocks().stream(block));
        assert_eq!(streams, if apart { [3, 4] } else { [3, 3] }, "{isolation:?}");
        assert_eq!(first != second, apart, "{isolation:?}");
    }
}

/// A random workload of four pages of handle 1, rewritten often, and of many of handle 0, rewritten seldom.
fn hot_and_cold(config: &Config, seed: u64) -> RunResult {
    let mut simulation = Simulation::new(&plan(config.clone()), &Control::default()).unwrap();
    let (mut rng, pages) = (Rng::new(seed, "hot and cold"), config.exported_bytes().unwrap() / PAGE);
    for number in 0..600 {
        let hot = rng.chance(0.8);
        let page = if hot { rng.below(pages / 10) } else { pages / 10 + rng.below(pages - pages / 10) };
        simulation.submit(Request { handle: Some(u8::from(hot)), ..write(2 * MS * number, page) }).unwrap();
    }
    simulation.finish().unwrap()
}

fn larger(placement: Placement) -> Config {
    changed(one_die(), |c| {
        (c.device.blocks_per_plane, c.device.pages_per_block, c.device.overprovisioning) = (32, 8, 0.4);
        (c.ftl.placement, c.ftl.handles) = (placement, 2);
        c.gc.soft = 2.0;
    })
}

/// Each policy writes less than a drive that mixes hot and cold data, here where that is most of what there is.
#[test]
fn what_is_kept_apart_is_moved_less() {
    let amplification = |placement| {
        let results: Vec<_> = (0..4).map(|seed| hot_and_cold(&larger(placement), seed)).collect();
        results.iter().map(|result| result.gc.write_amplification.unwrap()).sum::<f64>() / 4.0
    };
    let none = amplification(Placement::None);
    for placement in [Placement::Handles, Placement::HotCold, Placement::Sepbit] {
        let kept_apart = amplification(placement);
        assert!(kept_apart < none, "{placement:?}: {kept_apart} against {none}");
    }
}

/// What the streams count adds up to what the drive counts.
#[test]
fn the_counts_of_streams_add_up_to_those_of_the_drive() {
    for (placement, isolation) in [
        (Placement::Handles, Isolation::Initial),
        (Placement::Handles, Isolation::Persistent),
        (Placement::HotCold, Isolation::Initial),
        (Placement::Sepbit, Isolation::Initial),
    ] {
        let result = hot_and_cold(&changed(larger(placement), |c| c.ftl.isolation = isolation), 7);
        let sum = |of: fn(&StreamResult) -> u64| result.streams.iter().map(of).sum::<u64>();
        assert_eq!(sum(|stream| stream.host_units), 600, "{placement:?}");
        assert!(result.gc.jobs > 20 && sum(|stream| stream.blocks_collected) >= result.gc.jobs, "{placement:?}");
        // A job may be under way at the end, and pages overwritten while their job runs are not moved.
        assert!(sum(|stream| stream.valid_units) >= result.gc.pages_moved, "{placement:?}");
        assert!(result.streams.iter().all(|stream| stream.writer == Writer::Host || stream.host_units == 0), "{placement:?}");
    }
}

/// Data in a write buffer and in a cache keep the handle of their write until they come to flash.
#[test]
fn buffers_and_caches_pass_handles_on() {
    let writes = [(0, Some(0)), (1, Some(1)), (2, Some(2)), (8, Some(1)), (9, None)];
    let whole = handles(Isolation::Initial);
    let buffered = changed(whole.clone(), |c| {
        c.buffer = Buffer { bytes: 8 * PAGE, access_ns: 1_000, protected: true, drain: Drain::Eager, ..Buffer::default() }
    });
    let cached = changed(whole, |c| (c.cache.policy, c.cache.bytes, c.cache.flush_on_idle) = (CachePolicy::Lru, 8 * PAGE, true));
    for (config, level) in [(buffered, "buffer"), (cached, "cache")] {
        let mut simulation = written(&config, &writes);
        simulation.run_until(1000 * MS).unwrap();
        simulation.run_to_idle().unwrap();
        let ftl = simulation.ssd().ftl();
        let streams: Vec<_> =
            [0, 1, 2, 8, 9].map(|page| ftl.lookup(Lpn(page)).map(|ppn| ftl.blocks().stream(ftl.geometry().split_page(ppn).0))).into();
        assert_eq!(streams, [Some(0), Some(1), Some(2), Some(1), Some(0)], "{level}");
    }
}

/// Programs of four units take the units of one handle, however they arrive.
#[test]
fn a_program_of_several_units_has_one_handle() {
    let config = changed(handles(Isolation::Persistent), |c| {
        c.ftl.map_unit_bytes = Some(1024);
        c.buffer = Buffer { bytes: 64 * 1024, access_ns: 1_000, protected: true, drain: Drain::Full, ..Buffer::default() };
    });
    let mut simulation = simulation(&config);
    for unit in 0..16 {
        let handle = Some((unit % 2) as u8);
        simulation.submit(Request { offset: 1024 * unit, length: 1024, handle, ..write(MS * unit, 0) }).unwrap();
    }
    simulation.run_until(100 * MS).unwrap();
    let ftl = simulation.ssd().ftl();
    let stream = |unit| ftl.blocks().stream(ftl.geometry().split_page(ftl.lookup(Lpn(unit)).expect("programmed")).0);
    for unit in 0..16 {
        assert_eq!(u32::from(stream(unit)), unit % 2, "unit {unit}");
    }
    let result = simulation.finish().unwrap();
    assert_eq!((result.counters["padded_units"], result.bytes_written.flash), (0, 16 * 1024));
}

#[test]
fn a_handle_that_the_drive_does_not_have_is_refused() {
    let mut simulation = simulation(&handles(Isolation::Initial));
    simulation.submit(Request { handle: Some(3), ..write(0, 0) }).unwrap();
    let error = simulation.run_to_idle().expect_err("handles 0 to 2").to_string();
    assert!(error.contains("request 1 of the run names placement handle 3; expected 0 to 2 (ftl.handles = 3)"), "{error}");
}

/// Without a policy a handle changes nothing, and the result has no streams.
#[test]
fn without_a_policy_handles_have_no_effect() {
    let config = larger(Placement::None);
    let (with, pages) = (hot_and_cold(&config, 3), config.exported_bytes().unwrap() / PAGE);
    let mut simulation = Simulation::new(&plan(config), &Control::default()).unwrap();
    let mut rng = Rng::new(3, "hot and cold");
    for number in 0..600 {
        let page = if rng.chance(0.8) { rng.below(pages / 10) } else { pages / 10 + rng.below(pages - pages / 10) };
        simulation.submit(write(2 * MS * number, page)).unwrap();
    }
    let without = simulation.finish().unwrap();
    assert_eq!((with.digest, with.gc), (without.digest, without.gc));
    assert_eq!(without.streams, []);
}

/// One die of 8,192 logical pages, filled, which takes one write after the other.
fn log(placement: Placement, victim: Victim, change: impl FnOnce(&mut Config)) -> Config {
    let mut config = changed(one_die(), |c| {
        (c.device.blocks_per_plane, c.device.pages_per_block, c.device.overprovisioning) = (320, 32, 0.2);
        (c.ftl.placement, c.gc.soft, c.gc.victim) = (placement, 3.0, victim);
        c.ftl.precondition.kind = PreconditionKind::Fill;
        (c.workload.read_share, c.workload.queue_depth) = (0.0, 1);
    });
    change(&mut config);
    config
}

/// Write amplification of four drive writes after six.
fn settled(config: Config) -> f64 {
    let plan = Plan { requests: Some(10 * 8192), warm_up: Some(WarmUp::Requests(6 * 8192)), ..Plan::new(config, 1) };
    run(&plan, &Control::default()).unwrap().gc.write_amplification.unwrap()
}

/// No policy moves fewer pages than the one that knows when each page will be overwritten.
#[test]
fn nothing_beats_an_oracle() {
    let zipf = |exponent: f64| {
        move |c: &mut Config| {
            if exponent > 0.0 {
                (c.workload.address, c.workload.zipf_exponent) = (Address::Zipf, exponent);
            }
        }
    };
    let hot_cold = |c: &mut Config| (c.workload.address, c.workload.hot_share, c.workload.hot_access) = (Address::HotCold, 0.1, 0.9);
    let mixed = |c: &mut Config| c.workload.sequential_share = 0.5;
    let workloads: [(&str, Change); 6] = [
        ("uniform", Box::new(zipf(0.0))),
        ("zipf 0.6", Box::new(zipf(0.6))),
        ("zipf 0.8", Box::new(zipf(0.8))),
        ("zipf 1.0", Box::new(zipf(1.0))),
        ("hot and cold", Box::new(hot_cold)),
        ("half in sequence", Box::new(mixed)),
    ];
    for (name, workload) in workloads {
        for victim in [Victim::Greedy, Victim::CostBenefit] {
            let bound = settled(log(Placement::Oracle, victim, &workload));
            for placement in [Placement::None, Placement::HotCold, Placement::Sepbit] {
                let other = settled(log(placement, victim, &workload));
                println!("{name}, {victim:?}: oracle {bound:.3}, {placement:?} {other:.3}");
                assert!(1.0 <= bound && bound < 0.85 * other, "{name}, {victim:?}, {placement:?}: {bound} against {other}");
            }
        }
    }
}

/// A drive of 25 logical pages and two groups, whose lives part at 100 writes.
fn of_a_trace(rows: &str, folder: &tempfile::TempDir) -> Config {
    let trace = folder.path().join("trace.csv");
    std::fs::write(&trace, format!("timestamp_us,op,offset_bytes,size_bytes\n{rows}")).unwrap();
    let mut config = handles(Isolation::Initial);
    (config.ftl.placement, config.ftl.groups) = (Placement::Oracle, 2);
    config.workload.trace = Some(trace.to_str().unwrap().into());
    config
}

fn row(number: u64, op: &str, page: u64) -> String {
    format!("{},{op},{},{PAGE}\n", 10_000 * number, page * PAGE)
}

/// Page 0 is written as number 0, 1 and 110, page 2 as number 2 and trimmed 57 writes later, page 1 all the rest of the time. Lives below 100
/// writes are those of the first data of page 0, of the data of page 2, and of all data of page 1 but the last. The second data of page 0
/// live 109 writes, its last ones and those of page 1 to the end.
#[test]
fn an_oracle_goes_by_the_writes_and_trims_that_come() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = [row(0, "write", 0), row(1, "write", 0), row(2, "write", 2)].concat();
    rows += &(3..60).map(|number| row(number, "write", 1)).collect::<String>();
    rows += &row(60, "trim", 2);
    rows += &(61..111).map(|number| row(number, "write", 1)).collect::<String>();
    rows += &row(111, "write", 0);
    let config = of_a_trace(&rows, &folder);
    assert_eq!(config.exported_bytes().unwrap() / PAGE, 25, "100 is four times 25");
    let result = run(&plan(config), &Control::default()).unwrap();
    let host = [0, 1].map(|class| stream(&result, Writer::Host, class).host_units);
    assert_eq!(host, [1 + 1 + 106, 1 + 1 + 1]);
    assert!(result.remarks.iter().any(|remark| remark.code == "knows-ahead"));
}

#[test]
fn an_oracle_refuses_writes_that_are_not_known_ahead() {
    let mut config = handles(Isolation::Initial);
    (config.ftl.placement, config.ftl.groups) = (Placement::Oracle, 2);
    let mut simulation = Simulation::new(&plan(config.clone()), &Control::default()).unwrap();
    let error = simulation.submit(write(0, 1)).unwrap_err().to_string();
    assert_eq!(
        error,
        "ftl.placement = \"oracle\": the writes of the run must be known ahead, but requests are submitted one by one; choose another placement"
    );
    config.workload.queue_depth = 1;
    config.workload.flows = serde_json::from_str(r#"[{"name": "other"}]"#).unwrap();
    let error = run(&Plan { requests: Some(10), ..plan(config) }, &Control::default()).unwrap_err().to_string();
    assert!(error.contains("a flow in closed loop beside others sends when its requests complete"), "{error}");
}

/// The first fill writes all 25 pages in order, so that page 0 was written 25 pages ago, and page 24 one page ago. The last 6 are hot.
#[test]
fn pages_of_the_first_fill_are_as_old_as_they_were_written() {
    let config = changed(handles(Isolation::Initial), |c| {
        (c.ftl.placement, c.ftl.precondition.kind) = (Placement::HotCold, PreconditionKind::Fill);
    });
    let simulation = written(&config, &[(0, None), (24, None), (0, None)]);
    let [first, last] = blocks(&simulation, [0, 24])[..] else { unreachable!() };
    assert_eq!(first, last, "both have gone to the hot stream in the end");
    let result = simulation.finish().unwrap();
    let units = [0, 1].map(|class| stream(&result, Writer::Host, class).host_units);
    assert_eq!(units, [2, 1]);
}

/// A drive that is filled at once is the drive that a file of all its pages fills.
#[test]
fn the_first_fill_is_a_prefill_of_all_pages() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("all.csv");
    for placement in [Placement::HotCold, Placement::Sepbit] {
        let filled = log(placement, Victim::Greedy, |_| ());
        std::fs::write(&file, format!("offset_bytes,size_bytes\n0,{}\n", filled.exported_bytes().unwrap())).unwrap();
        let by_file = changed(filled.clone(), |c| {
            (c.ftl.precondition.kind, c.ftl.precondition.prefill) = (PreconditionKind::Ranges, Some(file.to_str().unwrap().into()));
        });
        let digest = |config| {
            run(&Plan { requests: Some(3 * 8192), verify: Verify::End, ..Plan::new(config, 1) }, &Control::default()).unwrap().digest
        };
        assert_eq!(digest(filled), digest(by_file), "{placement:?}");
    }
}

/// A state has the stream of each block, also where there is one handle: its blocks go on where they were.
#[test]
fn a_saved_state_keeps_the_streams_of_its_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    for (count, isolation) in [(1, Isolation::Initial), (1, Isolation::Persistent), (2, Isolation::Persistent)] {
        let config = changed(larger(Placement::Handles), |c| {
            (c.ftl.handles, c.ftl.isolation, c.workload.read_share) = (count, isolation, 0.0);
        });
        let first = Plan { requests: Some(600), save_state: Some(state.clone()), ..plan(config.clone()) };
        assert!(run(&first, &Control::default()).unwrap().gc.pages_moved > 0);
        let next = run(&Plan { requests: Some(600), state: Some(state.clone()), ..plan(config) }, &Control::default()).unwrap();
        let of = |writer| stream(&next, writer, 0).blocks_collected;
        assert!(next.gc.pages_moved > 0 && of(Writer::Host) + of(Writer::Moves) >= next.gc.jobs, "{count} {isolation:?}");
    }
}

/// `hot-cold` as a user-defined policy, for a drive that was filled.
struct OwnHotCold {
    last: Vec<u32>,
    now: u32,
}

impl PlacementPolicy for OwnHotCold {
    fn place(&mut self, placing: &Placing<'_>) -> Result<Class, Failure> {
        if self.last.is_empty() {
            (self.last, self.now) = ((0..placing.sizes.pages).collect(), placing.sizes.pages);
        }
        for event in placing.events {
            if let Happened::Written { page } = *event {
                self.last[page as usize] = self.now;
                self.now += 1;
            }
        }
        let hot = self.now - self.last[placing.page as usize] < placing.sizes.pages / 4;
        Ok(Class::from(!hot || matches!(placing.source, Source::Host { is_new: true, .. })))
    }
}

fn own<P: PlacementPolicy + 'static>(verify: Verify, make: impl Fn() -> P + Send + Sync + 'static) -> Result<RunResult, Error> {
    let config = log(Placement::Custom, Victim::Greedy, |c| c.ftl.precondition.kind = PreconditionKind::Steady);
    let placement = Some(CustomPlacement::new("ours", "version 1", make));
    run(&Plan { requests: Some(8192), verify, placement, ..Plan::new(config, 1) }, &Control::default())
}

#[test]
fn hot_cold_written_outside_is_the_built_in_one() {
    let ours = own(Verify::End, || OwnHotCold { last: Vec::new(), now: 0 }).unwrap();
    let config = log(Placement::HotCold, Victim::Greedy, |c| c.ftl.precondition.kind = PreconditionKind::Steady);
    let built_in = run(&Plan { requests: Some(8192), verify: Verify::End, ..Plan::new(config, 1) }, &Control::default()).unwrap();
    assert!(built_in.gc.jobs > 100 && built_in.precondition.as_ref().is_some_and(|report| report.pages_overwritten > 0));
    assert_eq!((&ours.digest, &ours.precondition), (&built_in.digest, &built_in.precondition));
    assert_eq!(serde_json::to_value(&ours.streams).unwrap(), serde_json::to_value(&built_in.streams).unwrap());
    assert_eq!(ours.placement_source, Some(blake3::hash(b"version 1").to_hex().to_string()));
    assert_eq!((&ours.config["ftl"]["placement"], built_in.placement_source), (&"custom".into(), None));
}

/// A policy made of a function.
struct By<F>(F);

impl<F: FnMut(&Placing<'_>) -> Result<Class, Failure> + Send> PlacementPolicy for By<F> {
    fn place(&mut self, placing: &Placing<'_>) -> Result<Class, Failure> {
        (self.0)(placing)
    }
}

#[test]
fn a_placement_policy_that_fails_ends_the_run_with_a_sentence() {
    let failed = |result: Result<RunResult, Error>| result.expect_err("a failure").to_string();
    let wrong = failed(own(Verify::Off, || By(|_: &Placing<'_>| Ok(2))));
    assert_eq!(wrong, "placement policy ours: chose stream 2 for a page; expected 0 to 1, the streams of host writes");
    let wrong =
        failed(own(Verify::Off, || By(|placing: &Placing<'_>| Ok(3 * Class::from(matches!(placing.source, Source::Moved { .. }))))));
    assert_eq!(wrong, "placement policy ours: chose stream 3 for a page; expected 0 to 1, the streams of page moves");
    assert_eq!(failed(own(Verify::Off, || By(|_: &Placing<'_>| Err("no idea".into())))), "placement policy ours: no idea");
    // Each instance has an answer of its own.
    let turns = std::sync::atomic::AtomicU8::new(0);
    let wrong = failed(own(Verify::End, move || {
        let own = turns.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 2;
        By(move |_: &Placing<'_>| Ok(own))
    }));
    assert!(wrong.contains("is not deterministic: two instances, called with the same arguments, chose "), "{wrong}");
}

#[test]
fn a_placement_policy_and_its_key_come_together() {
    let ours = || Some(CustomPlacement::new("ours", "version 1", || By(|_: &Placing<'_>| Ok(0))));
    let refused = |placement, policy, state: Option<&str>| {
        let config = log(placement, Victim::Greedy, |_| ());
        Plan { placement: policy, save_state: state.map(Into::into), ..Plan::new(config, 1) }.check().unwrap_err().to_string()
    };
    assert!(refused(Placement::Custom, None, None).starts_with("ftl.placement = \"custom\": needs a placement policy of your own"));
    assert!(
        refused(Placement::None, ours(), None).starts_with("ftl.placement = \"none\": a user-defined placement policy needs \"custom\"")
    );
    assert!(refused(Placement::Custom, ours(), Some("state")).contains("what a user-defined placement policy remembers"));
}
