//! A cache in front of a drive, in time: cases worked by hand from "Caching (wu2017)" of the model, to the nanosecond.
//!
//! Unless a case says otherwise each die has a channel of its own, so that nothing waits for a bus: a page read takes 25,000 ns in the array
//! and 102,400 ns on the bus (127,400), a page write 102,400 + 200,000 = 302,400, a write of a part of a page both (429,800), an access to the
//! cache 1,000. All pages hold data.

use crate::common;
use crate::common::cases::{Cases, Failure, Tally, is_full};
use crate::common::one_die;
use crate::common::pages::{PAGE, READ, WRITE, read, write};
use ssdlab::config::{Allocation, CacheGroup, CachePolicy, Config, Frontier, Padding, PreconditionKind};
use ssdlab::flash::Resource;
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify};
use ssdlab::stats::{CacheStats, Part};
use ssdlab::storage::PlantedInCache;
use ssdlab::units::{ChannelId, DieId};

/// An access to the cache.
const ACCESS: u64 = 1_000;
/// A write of a part of a page.
const PARTIAL: u64 = READ + WRITE;

type Parts = Vec<(Part, u64)>;
/// Resource, start, end.
type Stage = (Resource, u64, u64);

/// A page read.
const FETCH: [(Part, u64); 2] = [(Part::Array, 25_000), (Part::Transfer, 102_400)];
/// A page write.
const PUT: [(Part, u64); 2] = [(Part::Transfer, 102_400), (Part::Array, 200_000)];
/// A write of a part of a page: read, then write.
const PART: [(Part, u64); 2] = [(Part::Array, 225_000), (Part::Transfer, 204_800)];
/// Nothing below.
const NONE: [(Part, u64); 0] = [];

/// What was below, and an access.
fn dram(below: &[(Part, u64)]) -> Parts {
    [below, &[(Part::Dram, ACCESS)]].concat()
}

/// A wait behind host work, then more.
fn queue(ns: u64, rest: &[(Part, u64)]) -> Parts {
    [&[(Part::DieQueue, ns)], rest].concat()
}

/// A wait for collection, then more.
fn gc(ns: u64, rest: &[(Part, u64)]) -> Parts {
    [&[(Part::Gc, ns)], rest].concat()
}

/// A page read on a die.
fn fetch(die: u32, at: u64) -> Vec<Stage> {
    vec![(Resource::Array(DieId(die)), at, at + 25_000), (Resource::Bus(ChannelId(die)), at + 25_000, at + READ)]
}

/// A page written on a die.
fn put(die: u32, at: u64) -> Vec<Stage> {
    vec![(Resource::Bus(ChannelId(die)), at, at + 102_400), (Resource::Array(DieId(die)), at + 102_400, at + WRITE)]
}

/// A part of a page written on a die.
fn part(die: u32, at: u64) -> Vec<Stage> {
    [fetch(die, at), put(die, at + READ)].concat()
}

/// Pages written on a die, one after the other.
fn puts(die: u32, at: u64, count: u64) -> Vec<Stage> {
    (0..count).flat_map(|i| put(die, at + i * WRITE)).collect()
}

fn of_pages(request: Request, count: u64) -> Request {
    Request { length: count * PAGE, ..request }
}

/// Sectors of a page, from `first` on.
fn sectors(request: Request, first: u64, count: u64) -> Request {
    Request { offset: request.offset + 512 * first, length: 512 * count, ..request }
}

fn trim(at: u64, page: u64) -> Request {
    Request { kind: RequestKind::Trim, ..read(at, page) }
}

fn flush(at: u64) -> Request {
    Request { kind: RequestKind::Flush, arrival_ns: at, offset: 0, length: 0, high_priority: false, flow: 0, handle: None }
}

/// Dies on channels of their own, filled, behind a cache of `capacity` pages. Page p is on die p modulo the dies. The pages of a group are the
/// four that a block takes, p, p + dies, and so on.
fn cached(dies: u32, capacity: u64, change: impl FnOnce(&mut Config)) -> Config {
    let mut config = one_die();
    config.device.channels = dies;
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config.ftl.allocation = "CWDP".parse().expect("an allocation");
    config.cache.policy = CachePolicy::Lru;
    config.cache.bytes = capacity * PAGE;
    config.cache.access_ns = ACCESS;
    change(&mut config);
    config
}

/// Filled dies behind an LRU cache of `capacity` pages, otherwise as [`cached`].
fn lru(dies: u32, capacity: u64) -> Config {
    cached(dies, capacity, |_| {})
}

/// Filled dies behind a cache with this policy, otherwise as [`cached`].
fn policy(dies: u32, capacity: u64, policy: CachePolicy) -> Config {
    cached(dies, capacity, |config| config.cache.policy = policy)
}

/// The counters of a cache by name.
fn counts(stats: &CacheStats) -> [(&'static str, u64); 13] {
    let counters = stats.counters;
    [
        ("lookups", counters.lookups),
        ("read_hits", counters.read_hits),
        ("write_hits", counters.write_hits),
        ("delayed_hits", stats.delayed_hits),
        ("evictions", counters.evictions),
        ("destages", counters.destages),
        ("idle_destages", stats.idle_destages),
        ("padded_pages", stats.padded_pages),
        ("dirty_pages", stats.dirty_pages),
        ("gc_skips", counters.gc_skips),
        ("gc_fallbacks", counters.gc_fallbacks),
        ("gc_bypasses", counters.gc_bypasses),
        ("spread_groups", counters.spread_groups),
    ]
}

/// Requests with the time at which each ends and the parts of its response time.
struct Case {
    name: &'static str,
    config: Config,
    requests: Vec<(Request, Parts)>,
    below: Option<Vec<Stage>>,
    counts: Vec<(&'static str, u64)>,
    until: u64,
}

impl Case {
    fn new(name: &'static str, config: Config) -> Self {
        Case { name, config, requests: Vec::new(), below: None, counts: Vec::new(), until: 0 }
    }

    /// A request that ends at `end`; its parts add up to the difference.
    fn request(mut self, request: Request, end: u64, parts: impl Into<Parts>) -> Self {
        let parts = parts.into();
        let sum: u64 = parts.iter().map(|part| part.1).sum();
        assert_eq!(request.arrival_ns + sum, end, "{}: the parts of {request:?} add up to its response time", self.name);
        self.requests.push((request, parts));
        self
    }

    /// What the drive does for it, all of it.
    fn below(mut self, stages: &[Vec<Stage>]) -> Self {
        self.below = Some(stages.concat());
        self
    }

    /// The counters in the end; those that are not named are 0.
    fn counts(self, counts: &[(&'static str, u64)]) -> Self {
        Case { counts: counts.to_vec(), ..self }
    }

    /// What happens until then is looked at, if that is later than the last request.
    fn until(self, until: u64) -> Self {
        Case { until, ..self }
    }

    fn play(&self) {
        let wrong: Vec<String> = [false, true].into_iter().flat_map(|every_stage| self.play_once(every_stage)).collect();
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }

    fn play_once(&self, every_stage: bool) -> Option<String> {
        println!("{}", self.name);
        let mut simulation = common::simulation(&self.config);
        simulation.ssd_mut().keep_trace();
        if every_stage {
            simulation.ssd_mut().play_every_stage();
        }
        self.requests.iter().for_each(|(request, _)| _ = simulation.submit(*request).unwrap());
        if let Err(error) = simulation.run_to_idle().and_then(|()| simulation.run_until(simulation.now().max(self.until))) {
            return Some(format!("{}: {error}", self.name));
        }
        // What is under way below is seen as well.
        simulation.run_until(simulation.now() + 20_000_000).unwrap();

        let mut wrong = Vec::new();
        let mut completions = simulation.take_completions();
        completions.sort_by_key(|completion| completion.index);
        for (completion, (request, parts)) in completions.iter().zip(&self.requests) {
            let mut expected = [0; Part::COUNT];
            parts.iter().for_each(|&(part, ns)| expected[part as usize] += ns);
            if completion.parts().0 != expected || completion.completed_ns - completion.arrival_ns != expected.iter().sum::<u64>() {
                wrong.push(format!("{request:?} ends at {}: {:?}, not {expected:?}", completion.completed_ns, completion.parts().0));
            }
        }
        if let Some(expected) = &self.below {
            let trace = simulation.ssd().trace().unwrap().intervals.iter().filter(|stage| stage.host && stage.start < stage.end);
            let mut found: Vec<Stage> = trace.map(|stage| (stage.resource, stage.start, stage.end)).collect();
            let mut expected = expected.clone();
            for stages in [&mut found, &mut expected] {
                stages.sort_by_key(|&(resource, start, end)| (start, resource, end));
            }
            if found != expected {
                let only =
                    |these: &[Stage], those: &[Stage]| these.iter().filter(|stage| !those.contains(stage)).copied().collect::<Vec<_>>();
                wrong.push(format!("below: found {:?},\n  but expected {:?}", only(&found, &expected), only(&expected, &found)));
            }
        }
        let stats = simulation.storage().stats(simulation.now()).cache.expect("there is a cache");
        for (name, found) in counts(&stats) {
            let expected = self.counts.iter().find(|(other, _)| *other == name).map_or(0, |&(_, count)| count);
            if found != expected {
                wrong.push(format!("{name}: {found}, not {expected}"));
            }
        }
        if let Err(error) = simulation.finish() {
            wrong.push(error.to_string());
        }
        (!wrong.is_empty()).then(|| format!("{} (every stage played: {every_stage}):\n  {}", self.name, wrong.join("\n  ")))
    }
}

#[test]
fn a_read_hit_is_an_access() {
    Case::new("the page is fetched once; at the instant at which that ends it is there", lru(4, 4))
        .request(read(0, 0), READ + ACCESS, dram(&FETCH))
        .request(read(127_400, 0), 128_400, dram(&NONE))
        .request(sectors(read(200_000, 0), 3, 2), 201_000, dram(&NONE))
        .below(&[fetch(0, 0)])
        .counts(&[("lookups", 3), ("read_hits", 2)])
        .play();
}

#[test]
fn an_access_may_take_no_time() {
    Case::new("reads and writes", cached(4, 1, |config| config.cache.access_ns = 0))
        .request(read(0, 0), READ, FETCH)
        .request(read(200_000, 0), 200_000, NONE)
        .request(write(300_000, 0), 300_000, NONE)
        .request(write(400_000, 1), 400_000 + WRITE, PUT)
        .below(&[fetch(0, 0), put(0, 400_000)])
        .counts(&[("lookups", 4), ("read_hits", 1), ("write_hits", 1), ("evictions", 1), ("destages", 1), ("dirty_pages", 1)])
        .play();
}

#[test]
fn a_read_of_a_page_on_its_way_waits_for_it() {
    // One that arrives with it waits for that fetch as its own; for one that comes later the fetch began before, so that what is left of it is
    // a wait behind host work.
    Case::new("delayed hits", lru(4, 4))
        .request(read(0, 0), 128_400, dram(&FETCH))
        .request(read(0, 0), 128_400, dram(&FETCH))
        .request(read(50_000, 0), 128_400, queue(77_400, &dram(&NONE)))
        .below(&[fetch(0, 0)])
        .counts(&[("lookups", 3), ("read_hits", 2), ("delayed_hits", 2)])
        .play();
}

#[test]
fn sectors_written_while_their_page_is_on_its_way_are_there() {
    Case::new("a write covers what is asked for, or not", lru(4, 4))
        .request(read(0, 0), 128_400, dram(&FETCH))
        .request(sectors(write(10_000, 0), 0, 2), 11_000, dram(&NONE))
        .request(sectors(read(20_000, 0), 0, 2), 21_000, dram(&NONE))
        .request(sectors(read(30_000, 0), 1, 2), 128_400, queue(97_400, &dram(&NONE)))
        .request(sectors(read(40_000, 0), 4, 1), 128_400, queue(87_400, &dram(&NONE)))
        .request(read(200_000, 0), 201_000, dram(&NONE))
        .below(&[fetch(0, 0)])
        .counts(&[("lookups", 6), ("read_hits", 4), ("write_hits", 1), ("delayed_hits", 2), ("dirty_pages", 1)])
        .play();
}

#[test]
fn missing_pages_that_follow_each_other_are_read_with_one_request() {
    // One die. Both pages complete with the request below, after two page reads; so does the hit of the first of them.
    Case::new("two pages", lru(1, 4))
        .request(of_pages(read(0, 0), 2), 2 * READ + ACCESS, queue(READ, &dram(&FETCH)))
        .request(read(10_000, 0), 255_800, queue(244_800, &dram(&NONE)))
        .below(&[fetch(0, 0), fetch(0, READ)])
        .counts(&[("lookups", 3), ("read_hits", 1), ("delayed_hits", 1)])
        .play();
    // Page 1 is there: pages 0 and 2 are read with a request each, and page 0 is there after the first.
    Case::new("split by a hit", lru(1, 4))
        .request(write(0, 1), 1_000, dram(&NONE))
        .request(of_pages(read(2_000, 0), 3), 2_000 + 2 * READ + ACCESS, queue(READ, &dram(&FETCH)))
        .request(read(10_000, 0), 2_000 + READ + ACCESS, queue(119_400, &dram(&NONE)))
        .below(&[fetch(0, 2_000), fetch(0, 2_000 + READ)])
        .counts(&[("lookups", 5), ("read_hits", 2), ("delayed_hits", 1), ("dirty_pages", 1)])
        .play();
}

#[test]
fn a_page_held_in_part_is_read_whole_for_other_sectors_of_it() {
    for reads in [true, false] {
        Case::new("part held", cached(4, 1, |config| config.cache.reads = reads))
            .request(sectors(write(0, 0), 0, 2), 1_000, dram(&NONE))
            .request(sectors(read(10_000, 0), 0, 1), 11_000, dram(&NONE))
            .request(sectors(read(20_000, 0), 2, 2), 20_000 + READ + ACCESS, dram(&FETCH))
            // On its way, but for what was written.
            .request(sectors(read(30_000, 0), 0, 2), 31_000, dram(&NONE))
            .request(read(30_000, 0), 148_400, queue(117_400, &dram(&NONE)))
            .request(read(200_000, 0), 201_000, dram(&NONE))
            .below(&[fetch(0, 20_000)])
            .counts(&[("lookups", 6), ("read_hits", 4), ("delayed_hits", 1), ("dirty_pages", 1)])
            .play();
    }
}

#[test]
fn pages_read_may_be_kept_or_not() {
    Case::new("past the cache, without an access", cached(4, 4, |config| config.cache.reads = false))
        .request(read(0, 0), READ, FETCH)
        .request(read(200_000, 0), 200_000 + READ, FETCH)
        .request(write(400_000, 1), 401_000, dram(&NONE))
        .request(read(410_000, 1), 411_000, dram(&NONE))
        // Pages 0 and 2 are read past the cache.
        .request(of_pages(read(420_000, 0), 3), 420_000 + READ, FETCH)
        .below(&[fetch(0, 0), fetch(0, 200_000), fetch(0, 420_000), fetch(2, 420_000)])
        .counts(&[("lookups", 7), ("read_hits", 2), ("dirty_pages", 1)])
        .play();
    // Two sectors of page 0 are evicted in favour of page 1. A read of one of them is answered from the drive's buffer: it goes down as it
    // is. A read of other sectors waits for the write, from 20,000 to 10,000 + 429,800.
    Case::new("only the bytes asked for", cached(4, 1, |config| config.cache.reads = false))
        .request(sectors(write(0, 0), 0, 2), 1_000, dram(&NONE))
        .request(write(10_000, 1), 10_000 + PARTIAL + ACCESS, dram(&PART))
        .request(sectors(read(20_000, 0), 0, 1), 20_000, NONE)
        .request(sectors(read(20_000, 0), 2, 2), 10_000 + PARTIAL + READ, queue(419_800, &FETCH))
        .below(&[part(0, 10_000), fetch(0, 439_800)])
        .counts(&[("lookups", 4), ("evictions", 1), ("destages", 1), ("dirty_pages", 1)])
        .play();
}

#[test]
fn writes_are_accesses_while_frames_are_free() {
    Case::new("a hit on a page read, misses", lru(4, 4))
        .request(read(0, 0), 128_400, dram(&FETCH))
        .request(write(200_000, 0), 201_000, dram(&NONE))
        .request(sectors(write(300_000, 0), 1, 1), 301_000, dram(&NONE))
        .request(of_pages(write(400_000, 1), 3), 401_000, dram(&NONE))
        .below(&[fetch(0, 0)])
        .counts(&[("lookups", 6), ("write_hits", 2), ("dirty_pages", 4)])
        .play();
}

#[test]
fn a_write_without_a_free_frame_waits_for_its_destage() {
    // wu2017, Algorithm 2. The destage ends at 10,000 + 302,400; what arrives meanwhile waits for that which began before it.
    Case::new("the page evicted is written first", lru(4, 1))
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(write(10_000, 1), 10_000 + WRITE + ACCESS, dram(&PUT))
        // Hits: a write waits for the frame as well, a read does not.
        .request(write(20_000, 1), 313_400, queue(292_400, &dram(&NONE)))
        .request(read(30_000, 1), 31_000, dram(&NONE))
        // At the instant at which it ends, the frame is free.
        .request(write(312_400, 1), 313_400, dram(&NONE))
        .below(&[put(0, 10_000)])
        .counts(&[("lookups", 5), ("read_hits", 1), ("write_hits", 2), ("evictions", 1), ("destages", 1), ("dirty_pages", 1)])
        .play();
}

#[test]
fn a_read_does_not_wait_for_the_page_evicted_in_its_favour() {
    Case::new("on two dies", lru(4, 1))
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(read(10_000, 1), 10_000 + READ + ACCESS, dram(&FETCH))
        // The frame is not free before the destage has ended.
        .request(write(20_000, 1), 313_400, queue(292_400, &dram(&NONE)))
        .below(&[fetch(1, 10_000), put(0, 10_000)])
        .counts(&[("lookups", 3), ("write_hits", 1), ("evictions", 1), ("destages", 1), ("dirty_pages", 1)])
        .play();
    Case::new("on one die: what is read goes down first", lru(1, 1))
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(read(10_000, 1), 10_000 + READ + ACCESS, dram(&FETCH))
        .below(&[fetch(0, 10_000), put(0, 10_000 + READ)])
        .counts(&[("lookups", 2), ("evictions", 1), ("destages", 1)])
        .play();
}

#[test]
fn requests_larger_than_the_cache_evict_their_own_pages() {
    // Page 1 takes the frame of page 0, page 2 that of page 1. Pages 0 and 1 follow each other: one request, on two dies at once.
    Case::new("a write, on dies of their own", lru(4, 1))
        .request(of_pages(write(0, 0), 3), WRITE + ACCESS, dram(&PUT))
        .request(read(400_000, 2), 401_000, dram(&NONE))
        .below(&[put(0, 0), put(1, 0)])
        .counts(&[("lookups", 4), ("read_hits", 1), ("evictions", 2), ("destages", 2), ("dirty_pages", 1)])
        .play();
    Case::new("a write, on one die", lru(1, 1))
        .request(of_pages(write(0, 0), 3), 2 * WRITE + ACCESS, queue(WRITE, &dram(&PUT)))
        .below(&[puts(0, 0, 2)])
        .counts(&[("lookups", 3), ("evictions", 2), ("destages", 2), ("dirty_pages", 1)])
        .play();
    Case::new("a read", lru(4, 1))
        .request(of_pages(read(0, 0), 3), READ + ACCESS, dram(&FETCH))
        .request(read(200_000, 2), 201_000, dram(&NONE))
        .request(read(300_000, 0), 300_000 + READ + ACCESS, dram(&FETCH))
        .below(&[fetch(0, 0), fetch(1, 0), fetch(2, 0), fetch(0, 300_000)])
        .counts(&[("lookups", 5), ("read_hits", 1), ("evictions", 3)])
        .play();
}

#[test]
fn a_page_evicted_and_read_by_one_request_goes_down_ahead_of_the_read() {
    // Page 1 takes the place of page 2, which is then missing. Its write goes down first, so that the read is answered from the drive's buffer
    // at once; both pages are read with one request, which ends with page 1.
    Case::new("the read finds what was written", lru(4, 1))
        .request(write(0, 2), 1_000, dram(&NONE))
        .request(of_pages(read(10_000, 1), 2), 10_000 + READ + ACCESS, dram(&FETCH))
        .request(read(500_000, 2), 501_000, dram(&NONE))
        .below(&[fetch(1, 10_000), put(2, 10_000)])
        .counts(&[("lookups", 4), ("read_hits", 1), ("evictions", 2), ("destages", 1)])
        .play();
    // On one die: the write of page 2, then the read of page 1.
    Case::new("on one die", lru(1, 1))
        .request(write(0, 2), 1_000, dram(&NONE))
        .request(of_pages(read(10_000, 1), 2), 10_000 + WRITE + READ + ACCESS, queue(WRITE, &dram(&FETCH)))
        .below(&[put(0, 10_000), fetch(0, 312_400)])
        .counts(&[("lookups", 3), ("evictions", 2), ("destages", 1)])
        .play();
    // Past the cache there is no eviction: the page stays.
    Case::new("reads that are not kept", cached(4, 1, |config| config.cache.reads = false))
        .request(write(0, 2), 1_000, dram(&NONE))
        .request(of_pages(read(10_000, 1), 2), 10_000 + READ, FETCH)
        .below(&[fetch(1, 10_000)])
        .counts(&[("lookups", 3), ("read_hits", 1), ("dirty_pages", 1)])
        .play();
}

#[test]
fn a_page_may_leave_twice_in_one_request() {
    // Page 2 is evicted for page 1, page 1 for page 2, page 2 for page 3. By page: 1 and the older 2 with one request, then the newer 2, which
    // on its die waits for the older: to 10,000 + 2 x 302,400.
    Case::new("the older data first", lru(4, 1))
        .request(write(0, 2), 1_000, dram(&NONE))
        .request(of_pages(write(10_000, 1), 3), 10_000 + 2 * WRITE + ACCESS, queue(WRITE, &dram(&PUT)))
        .below(&[put(1, 10_000), puts(2, 10_000, 2)])
        .counts(&[("lookups", 4), ("evictions", 3), ("destages", 3), ("dirty_pages", 1)])
        .play();
}

#[test]
fn a_page_may_be_evicted_while_it_is_fetched() {
    // Page 0 is evicted while it is being fetched, and requested again: on its die the second read waits for the first.
    Case::new("clean: its frame is free", lru(4, 1))
        .request(read(0, 0), 128_400, dram(&FETCH))
        .request(write(10_000, 1), 11_000, dram(&NONE))
        .request(read(20_000, 0), 2 * READ + ACCESS, queue(107_400, &dram(&FETCH)))
        // The page there now comes with the second.
        .request(read(130_000, 0), 255_800, queue(124_800, &dram(&NONE)))
        .below(&[fetch(0, 0), fetch(0, READ), put(1, 20_000)])
        .counts(&[("lookups", 4), ("read_hits", 1), ("delayed_hits", 1), ("evictions", 2), ("destages", 1)])
        .play();
    // The frame of page 0 in destage goes on to page 2 when page 1 is evicted clean.
    Case::new("clean, with a frame in destage", lru(4, 1))
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(read(10_000, 1), 138_400, dram(&FETCH))
        .request(write(20_000, 2), 313_400, queue(292_400, &dram(&NONE)))
        .below(&[fetch(1, 10_000), put(0, 10_000)])
        .counts(&[("lookups", 3), ("evictions", 2), ("destages", 1), ("dirty_pages", 1)])
        .play();
}

#[test]
fn frames_in_transit_are_taken_the_oldest_first() {
    // FAB evicts pages 0, 4 and 8 of die 0 at 20,000 for page 2. They do not follow each other and are written one after the other, until
    // 322,400, 624,800 and 927,200.
    let begin = |name| {
        Case::new(name, policy(4, 4, CachePolicy::Fab))
            .request(write(0, 0), 1_000, dram(&NONE))
            .request(write(0, 4), 1_000, dram(&NONE))
            .request(write(0, 8), 1_000, dram(&NONE))
            .request(write(0, 1), 1_000, dram(&NONE))
    };
    begin("each later write takes the next")
        .request(write(20_000, 2), 20_000 + WRITE + ACCESS, dram(&PUT))
        .request(write(30_000, 3), 625_800, queue(594_800, &dram(&NONE)))
        .request(write(40_000, 5), 928_200, queue(887_200, &dram(&NONE)))
        // Evicts pages 1 and 5 of die 1, and takes the frame of page 1. That of page 5 has not come yet.
        .request(write(330_000, 6), 330_000 + WRITE + ACCESS, dram(&PUT))
        .below(&[puts(0, 20_000, 3), puts(1, 330_000, 2)])
        .counts(&[("lookups", 8), ("evictions", 5), ("destages", 5), ("dirty_pages", 3)])
        .play();
    begin("or a free one, when one is")
        .request(write(20_000, 2), 323_400, dram(&PUT))
        .request(write(624_800, 3), 625_800, dram(&NONE))
        .request(write(624_801, 5), 928_200, queue(302_399, &dram(&NONE)))
        .below(&[puts(0, 20_000, 3)])
        .counts(&[("lookups", 7), ("evictions", 3), ("destages", 3), ("dirty_pages", 4)])
        .play();
    // Page 2, read, has the frame of page 0 until it is trimmed. Then that is the last in line.
    begin("a frame given back is the last")
        .request(read(20_000, 2), 20_000 + READ + ACCESS, dram(&FETCH))
        .request(trim(150_000, 2), 150_000, NONE)
        .request(write(160_000, 3), 625_800, queue(464_800, &dram(&NONE)))
        .request(write(170_000, 6), 928_200, queue(757_200, &dram(&NONE)))
        .request(write(180_000, 7), 323_400, queue(142_400, &dram(&NONE)))
        .below(&[fetch(2, 20_000), puts(0, 20_000, 3)])
        .counts(&[("lookups", 8), ("evictions", 3), ("destages", 3), ("dirty_pages", 4)])
        .play();
}

#[test]
fn pages_of_a_group_that_follow_each_other_are_destaged_together() {
    // One die: pages 0, 1 and 2 go down with one request at 20,000, and end with it, at 20,000 + 3 x 302,400.
    Case::new("whole pages", policy(1, 4, CachePolicy::Fab))
        .request(of_pages(write(0, 0), 3), 1_000, dram(&NONE))
        .request(write(10_000, 4), 11_000, dram(&NONE))
        .request(write(20_000, 8), 928_200, queue(2 * WRITE, &dram(&PUT)))
        .request(write(30_000, 9), 928_200, queue(897_200, &dram(&NONE)))
        .request(write(40_000, 10), 928_200, queue(887_200, &dram(&NONE)))
        // Pages 8, 9 and 10, behind the others on the die; their frames were not free either.
        .request(write(50_000, 12), 50_000 + 877_200 + 3 * WRITE + ACCESS, queue(877_200 + 2 * WRITE, &dram(&PUT)))
        .below(&[puts(0, 20_000, 6)])
        .counts(&[("lookups", 8), ("evictions", 6), ("destages", 6), ("dirty_pages", 2)])
        .play();
    // Page 1 is held in part: three requests. First page 0 is written, to 322,400, then page 1 is read, to 449,800, and written, to 752,200, as
    // its write is older than that of page 2; this is written to 1,054,600.
    Case::new("a part in between", policy(1, 4, CachePolicy::Fab))
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(sectors(write(0, 1), 2, 3), 1_000, dram(&NONE))
        .request(write(0, 2), 1_000, dram(&NONE))
        .request(write(10_000, 4), 11_000, dram(&NONE))
        .request(write(20_000, 8), 323_400, dram(&PUT))
        .request(write(30_000, 9), 753_200, queue(722_200, &dram(&NONE)))
        .request(write(40_000, 10), 1_055_600, queue(1_014_600, &dram(&NONE)))
        .below(&[put(0, 20_000), fetch(0, 322_400), put(0, 449_800), put(0, 752_200)])
        .counts(&[("lookups", 7), ("evictions", 3), ("destages", 3), ("dirty_pages", 4)])
        .play();
}

#[test]
fn pages_held_in_part_are_read_once_and_written_once() {
    Case::new("a range", lru(4, 1))
        .request(sectors(write(0, 0), 2, 3), 1_000, dram(&NONE))
        .request(write(10_000, 1), 10_000 + PARTIAL + ACCESS, dram(&PART))
        .below(&[part(0, 10_000)])
        .counts(&[("lookups", 2), ("evictions", 1), ("destages", 1), ("dirty_pages", 1)])
        .play();
    Case::new("sectors that do not follow each other", lru(4, 1))
        .request(sectors(write(0, 0), 0, 1), 1_000, dram(&NONE))
        .request(sectors(write(0, 0), 3, 1), 1_000, dram(&NONE))
        .request(sectors(write(0, 0), 6, 2), 1_000, dram(&NONE))
        .request(write(10_000, 1), 10_000 + PARTIAL + ACCESS, dram(&PART))
        .request(read(500_000, 0), 500_000 + READ + ACCESS, dram(&FETCH))
        .below(&[part(0, 10_000), fetch(0, 500_000), put(1, 500_000)])
        .counts(&[("lookups", 5), ("write_hits", 2), ("evictions", 2), ("destages", 2)])
        .play();
    // All eight sectors: the page is held whole, and nothing is read.
    Case::new("two halves", lru(4, 1))
        .request(sectors(write(0, 0), 0, 4), 1_000, dram(&NONE))
        .request(sectors(write(0, 0), 4, 4), 1_000, dram(&NONE))
        .request(write(10_000, 1), 10_000 + WRITE + ACCESS, dram(&PUT))
        .below(&[put(0, 10_000)])
        .counts(&[("lookups", 3), ("write_hits", 1), ("evictions", 1), ("destages", 1), ("dirty_pages", 1)])
        .play();
    Case::new("a page that holds no data is not read", cached(4, 1, |config| config.ftl.precondition.kind = PreconditionKind::None))
        .request(sectors(write(0, 0), 0, 1), 1_000, dram(&NONE))
        .request(sectors(write(0, 0), 3, 1), 1_000, dram(&NONE))
        .request(write(10_000, 1), 10_000 + WRITE + ACCESS, dram(&PUT))
        .below(&[put(0, 10_000)])
        .counts(&[("lookups", 3), ("write_hits", 1), ("evictions", 1), ("destages", 1), ("dirty_pages", 1)])
        .play();
}

#[test]
fn destaging_ahead_keeps_writes_from_waiting() {
    let with = |ahead| cached(4, 4, |config| config.cache.destage_ahead = ahead);
    // At most two pages stay: pages 0 and 1 go when 2 and 3 come. Then all four frames are in use, and page 4 takes that of page 0, on its
    // way since 20,000; page 2 goes. At 400,000 frames are free.
    Case::new("half of the cache", with(0.5))
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(write(1_000, 1), 2_000, dram(&NONE))
        .request(write(20_000, 2), 21_000, dram(&NONE))
        .request(write(30_000, 3), 31_000, dram(&NONE))
        .request(write(40_000, 4), 323_400, queue(282_400, &dram(&NONE)))
        .request(write(400_000, 5), 401_000, dram(&NONE))
        .below(&[put(0, 20_000), put(1, 30_000), put(2, 40_000), put(3, 400_000)])
        .counts(&[("lookups", 6), ("evictions", 4), ("destages", 4), ("dirty_pages", 2)])
        .play();
    Case::new("nothing ahead", with(0.0))
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(write(1_000, 1), 2_000, dram(&NONE))
        .request(write(20_000, 2), 21_000, dram(&NONE))
        .request(write(30_000, 3), 31_000, dram(&NONE))
        .request(write(400_000, 5), 400_000 + WRITE + ACCESS, dram(&PUT))
        .below(&[put(0, 400_000)])
        .counts(&[("lookups", 5), ("evictions", 1), ("destages", 1), ("dirty_pages", 4)])
        .play();
    // Pages 0, 4 and 8 are the largest group. Not evicted for page 8, which is of it, but for page 1.
    let fab = cached(4, 4, |config| {
        config.cache.policy = CachePolicy::Fab;
        config.cache.destage_ahead = 0.5;
    });
    Case::new("not the group of the page just kept", fab)
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(write(0, 4), 1_000, dram(&NONE))
        .request(write(0, 8), 1_000, dram(&NONE))
        .request(write(100_000, 1), 101_000, dram(&NONE))
        .below(&[puts(0, 100_000, 3)])
        .counts(&[("lookups", 4), ("evictions", 3), ("destages", 3), ("dirty_pages", 1)])
        .play();
}

#[test]
fn write_through_goes_down_as_it_is() {
    let through = |capacity| cached(4, capacity, |config| config.cache.writes = false);
    Case::new("with and without a copy in the cache", through(2))
        .request(write(0, 0), WRITE, PUT)
        // It was not kept.
        .request(read(400_000, 0), 400_000 + READ + ACCESS, dram(&FETCH))
        .request(write(600_000, 0), 600_000 + WRITE, PUT)
        // The copy has what was written, also while that is under way.
        .request(read(700_000, 0), 701_000, dram(&NONE))
        .request(read(1_000_000, 0), 1_001_000, dram(&NONE))
        .below(&[put(0, 0), fetch(0, 400_000), put(0, 600_000)])
        .counts(&[("lookups", 3), ("read_hits", 2)])
        .play();
    // The copy of page 0 is used by the write, so that page 1 is evicted for page 2.
    Case::new("a write uses the copy", through(2))
        .request(of_pages(read(0, 0), 2), 128_400, dram(&FETCH))
        .request(write(200_000, 0), 200_000 + WRITE, PUT)
        .request(read(600_000, 2), 600_000 + READ + ACCESS, dram(&FETCH))
        .request(read(800_000, 0), 801_000, dram(&NONE))
        .request(read(900_000, 1), 900_000 + READ + ACCESS, dram(&FETCH))
        .below(&[fetch(0, 0), fetch(1, 0), put(0, 200_000), fetch(2, 600_000), fetch(1, 900_000)])
        .counts(&[("lookups", 5), ("read_hits", 1), ("evictions", 2)])
        .play();
    // Behind the fetch, from 127,400, page 0 is read and written. The copy on its way has the sectors at once.
    Case::new("a write of a page on its way", through(2))
        .request(read(0, 0), 128_400, dram(&FETCH))
        .request(sectors(write(10_000, 0), 0, 2), READ + PARTIAL, queue(117_400, &PART))
        .request(sectors(read(20_000, 0), 0, 2), 21_000, dram(&NONE))
        .request(sectors(read(30_000, 0), 0, 3), 128_400, queue(97_400, &dram(&NONE)))
        .request(read(600_000, 0), 601_000, dram(&NONE))
        .below(&[fetch(0, 0), part(0, READ)])
        .counts(&[("lookups", 4), ("read_hits", 3), ("delayed_hits", 1)])
        .play();
}

fn padded(capacity: u64, change: impl FnOnce(&mut Config)) -> Config {
    cached(1, capacity, |config| {
        config.cache.policy = CachePolicy::Bplru;
        config.cache.padding = Padding::Always;
        config.cache.compensation = false;
        change(config);
    })
}

#[test]
fn groups_are_padded() {
    // Pages 1 to 3 are read, until 392,200, then page 0 is written, then what was read. Page 8 waits for page 0 only.
    let reads = [fetch(0, 10_000), fetch(0, 10_000 + READ), fetch(0, 10_000 + 2 * READ)].concat();
    let begin = |name| {
        Case::new(name, padded(2, |_| {})).request(write(0, 0), 1_000, dram(&NONE)).request(write(1_000, 4), 2_000, dram(&NONE)).request(
            write(10_000, 8),
            10_000 + 3 * READ + WRITE + ACCESS,
            queue(3 * READ, &dram(&PUT)),
        )
    };
    let counted = [("lookups", 3), ("evictions", 1), ("destages", 1), ("dirty_pages", 2)];
    begin("reads, then writes").below(&[reads.clone(), puts(0, 392_200, 4)]).counts(&plus(&counted, &[("padded_pages", 3)])).play();
    // Page 2 is trimmed behind its read, which ends at 264,800: it stays without data.
    begin("a page trimmed meanwhile is not written back")
        .request(trim(50_000, 2), 264_800, queue(214_800, &NONE))
        .below(&[reads, puts(0, 392_200, 3)])
        .counts(&plus(&counted, &[("padded_pages", 2)]))
        .play();
    // Nothing is read. Pages 1 to 3 are clean, so that their frames are free when they are evicted.
    Case::new("clean pages are written as well", padded(4, |_| {}))
        .request(of_pages(read(0, 0), 4), 4 * READ + ACCESS, queue(3 * READ, &dram(&FETCH)))
        .request(write(600_000, 0), 601_000, dram(&NONE))
        .request(write(700_000, 4), 701_000, dram(&NONE))
        .below(&[fetch(0, 0), fetch(0, READ), fetch(0, 2 * READ), fetch(0, 3 * READ), puts(0, 700_000, 4)])
        .counts(&[("lookups", 6), ("write_hits", 1), ("evictions", 4), ("destages", 1), ("padded_pages", 3), ("dirty_pages", 1)])
        .play();
    Case::new("a group without a dirty page is not padded", padded(1, |_| {}))
        .request(read(0, 0), READ + ACCESS, dram(&FETCH))
        .request(write(200_000, 4), 201_000, dram(&NONE))
        .below(&[fetch(0, 0)])
        .counts(&[("lookups", 2), ("evictions", 1), ("dirty_pages", 1)])
        .play();
    Case::new("pages without data are not padded", padded(1, |config| config.ftl.precondition.kind = PreconditionKind::None))
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(write(10_000, 4), 10_000 + WRITE + ACCESS, dram(&PUT))
        .below(&[put(0, 10_000)])
        .counts(&[("lookups", 2), ("evictions", 1), ("destages", 1), ("dirty_pages", 1)])
        .play();
}

#[test]
fn groups_of_contiguous_addresses_are_evicted_to_several_chips() {
    // Two dies, blocks of four pages. Pages 0 and 1 lie on dies 0 and 1. Groups of a chip are 0 2 4 6 and 1 3 5 7: page 8 evicts page 0
    // alone, as page 1 is of another group. Contiguous groups are 0 1 2 3 and 4 5 6 7: pages 0 and 1 go together, and page 8 takes the
    // frame of page 0.
    let begin = |name, group| {
        let config = cached(2, 2, |config| {
            config.cache.policy = CachePolicy::Bplru;
            config.cache.group = group;
        });
        Case::new(name, config).request(write(0, 0), 1_000, dram(&NONE)).request(write(10_000, 1), 11_000, dram(&NONE)).request(
            write(20_000, 8),
            20_000 + WRITE + ACCESS,
            dram(&PUT),
        )
    };
    begin("of a chip", CacheGroup::Chip)
        .below(&[put(0, 20_000)])
        .counts(&[("lookups", 3), ("evictions", 1), ("destages", 1), ("dirty_pages", 2)])
        .play();
    begin("of contiguous addresses", CacheGroup::Contiguous)
        .below(&[put(0, 20_000), put(1, 20_000)])
        .counts(&[("lookups", 3), ("evictions", 2), ("destages", 2), ("dirty_pages", 1), ("spread_groups", 1)])
        .play();
}

#[test]
fn a_page_trimmed_by_a_request_that_waits_below_is_not_padded() {
    // One place for reads: page 8 has it while page 4 is read, and pages behind it wait in the host queue, first page 9 until 137,400, then the
    // trim of page 1, the reads of pages 1 to 3 to pad the group of page 0, and its write. Page 1 is answered at 137,400: no data. Page 2 is
    // admitted when page 9 begins, at 264,800, page 3 and the write when page 2 begins, at 392,200; page 3 ends at 647,000.
    Case::new("in the host queue", padded(4, |config| config.scheduler.read_queue = 1))
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(read(10_000, 4), 138_400, dram(&FETCH))
        .request(read(20_000, 8), 265_800, queue(117_400, &dram(&FETCH)))
        .request(read(25_000, 9), 393_200, [&[(Part::HostQueue, 112_400)][..], &queue(READ, &dram(&FETCH))].concat())
        .request(trim(30_000, 1), 137_400, [(Part::HostQueue, 107_400)])
        .request(write(40_000, 12), 950_400, [&[(Part::HostQueue, 352_200)][..], &queue(254_800, &dram(&PUT))].concat())
        .below(&[fetch(0, 10_000), fetch(0, 137_400), fetch(0, 264_800), fetch(0, 392_200), fetch(0, 519_600), puts(0, 647_000, 3)])
        .counts(&[("lookups", 5), ("evictions", 1), ("destages", 1), ("padded_pages", 2), ("dirty_pages", 1)])
        .play();
}

#[test]
fn groups_are_padded_where_enough_of_them_is_there() {
    // Two pages of four. Pages 1 and 3 are read, until 264,800.
    let case = |name, padding, share| {
        let config = padded(3, |config| {
            config.cache.padding = padding;
            config.cache.padding_share = share;
        });
        let case = Case::new(name, config).request(write(0, 0), 1_000, dram(&NONE)).request(write(0, 2), 1_000, dram(&NONE));
        case.request(write(1_000, 4), 2_000, dram(&NONE))
    };
    let counted = [("lookups", 4), ("evictions", 2), ("destages", 2), ("dirty_pages", 2)];
    case("half is there", Padding::Share, 0.5)
        .request(write(10_000, 8), 10_000 + 2 * READ + WRITE + ACCESS, queue(2 * READ, &dram(&PUT)))
        .below(&[fetch(0, 10_000), fetch(0, 10_000 + READ), puts(0, 264_800, 4)])
        .counts(&plus(&counted, &[("padded_pages", 2)]))
        .play();
    for (padding, share) in [(Padding::Share, 0.75), (Padding::Off, 0.5)] {
        case("too little, or off", padding, share)
            .request(write(10_000, 8), 10_000 + WRITE + ACCESS, dram(&PUT))
            .below(&[puts(0, 10_000, 2)])
            .counts(&counted)
            .play();
    }
}

#[test]
fn a_page_written_below_between_its_read_and_its_write_is_not_padded() {
    // An empty drive, on which pages 1 and, in the end, 0, 4, 8 and 12 (all other groups) hold data.
    Case::new("written by a flush", padded(2, |config| config.ftl.precondition.kind = PreconditionKind::None))
        .request(write(0, 1), 1_000, dram(&NONE))
        .request(flush(10_000), 10_000 + WRITE, PUT)
        // Page 1 is evicted clean, for page 8.
        .request(write(400_000, 4), 401_000, dram(&NONE))
        .request(write(410_000, 8), 411_000, dram(&NONE))
        .request(write(500_000, 0), 500_000 + WRITE + ACCESS, dram(&PUT))
        .request(write(1_000_000, 12), 1_000_000 + WRITE + ACCESS, dram(&PUT))
        // Page 0 is evicted: page 1 is read to pad its group, until 1,627,400, and page 0 written until 1,929,800.
        .request(write(1_500_000, 4), 1_930_800, queue(READ, &dram(&PUT)))
        // Page 1 again: page 12 is evicted, and written until 2,232,200.
        .request(write(1_510_000, 1), 2_233_200, queue(419_800, &dram(&PUT)))
        // Pages 1 and 4 go down, behind that.
        .request(flush(1_520_000), 2_232_200 + 2 * WRITE, queue(712_200 + WRITE, &PUT))
        .below(&[put(0, 10_000), put(0, 500_000), put(0, 1_000_000), fetch(0, 1_500_000), puts(0, 1_627_400, 4)])
        .counts(&[("lookups", 7), ("evictions", 5), ("destages", 7)])
        .play();
}

#[test]
fn a_flush_does_not_wait_for_padding() {
    // Two dies. Page 0 is evicted; for its group pages 2, 4 and 6 are read until 392,200, page 0 is written until 694,600, and then they are.
    // The flush sends pages 1 and 9 down on die 1.
    let config = Config { device: cached(2, 2, |_| {}).device, ..padded(2, |_| {}) };
    Case::new("two dies", config)
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(write(0, 1), 1_000, dram(&NONE))
        .request(write(10_000, 9), 695_600, queue(3 * READ, &dram(&PUT)))
        .request(flush(400_000), 400_000 + 2 * WRITE, queue(WRITE, &PUT))
        .until(2_000_000)
        .below(&[fetch(0, 10_000), fetch(0, 137_400), fetch(0, 264_800), puts(0, 392_200, 4), puts(1, 400_000, 2)])
        .counts(&[("lookups", 3), ("evictions", 1), ("destages", 3), ("padded_pages", 3)])
        .play();
}

#[test]
fn the_frame_of_a_page_that_is_clean_when_evicted_is_free() {
    Case::new("also while a flush writes it", lru(4, 1))
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(flush(10_000), 10_000 + WRITE, PUT)
        .request(write(20_000, 1), 21_000, dram(&NONE))
        .below(&[put(0, 10_000)])
        .counts(&[("lookups", 2), ("evictions", 1), ("destages", 1), ("dirty_pages", 1)])
        .play();
}

#[test]
fn trims_drop_whole_pages() {
    Case::new("dirty pages are never written", lru(4, 4))
        .request(of_pages(write(0, 0), 2), 1_000, dram(&NONE))
        .request(of_pages(trim(10_000, 0), 2), 10_000, NONE)
        // Nothing is there below either, so that the read below completes at once.
        .request(read(20_000, 0), 21_000, dram(&NONE))
        .below(&[])
        .counts(&[("lookups", 3)])
        .until(2_000_000)
        .play();
    Case::new("but not a page of which a part is trimmed", lru(4, 4))
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(sectors(trim(10_000, 0), 0, 7), 10_000, NONE)
        .request(read(20_000, 0), 21_000, dram(&NONE))
        .below(&[])
        .counts(&[("lookups", 2), ("read_hits", 1), ("dirty_pages", 1)])
        .play();
    Case::new("the frame is free", lru(4, 1))
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(trim(10_000, 0), 10_000, NONE)
        .request(write(20_000, 1), 21_000, dram(&NONE))
        .below(&[])
        .counts(&[("lookups", 2), ("dirty_pages", 1)])
        .play();
    // Below, the trim waits for the fetch. The read that comes after it finds no data, for which it need not wait.
    Case::new("a page on its way", lru(4, 4))
        .request(read(0, 0), 128_400, dram(&FETCH))
        .request(trim(10_000, 0), READ, queue(117_400, &NONE))
        .request(read(20_000, 0), 21_000, dram(&NONE))
        .below(&[fetch(0, 0)])
        .counts(&[("lookups", 2)])
        .play();
    Case::new("a page in destage", lru(4, 1))
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(write(10_000, 1), 313_400, dram(&PUT))
        .request(trim(20_000, 0), 312_400, queue(292_400, &NONE))
        .below(&[put(0, 10_000)])
        .counts(&[("lookups", 2), ("evictions", 1), ("destages", 1), ("dirty_pages", 1)])
        .play();
}

#[test]
fn a_flush_waits_for_what_is_dirty_or_being_destaged() {
    Case::new("dirty pages go down and stay, clean", lru(4, 4))
        .request(of_pages(write(0, 0), 2), 1_000, dram(&NONE))
        .request(flush(10_000), 10_000 + WRITE, PUT)
        // Written after the flush arrived.
        .request(write(20_000, 4), 21_000, dram(&NONE))
        .request(of_pages(read(400_000, 0), 2), 401_000, dram(&NONE))
        .request(flush(500_000), 500_000 + WRITE, PUT)
        .request(flush(900_000), 900_000, NONE)
        .below(&[put(0, 10_000), put(1, 10_000), put(0, 500_000)])
        .counts(&[("lookups", 5), ("read_hits", 2), ("destages", 3)])
        .play();
    // Page 1 goes down at 20,000, after page 0 at 10,000: the flush ends with page 1.
    Case::new("a destage under way, and a page whose frame is not free yet", lru(4, 1))
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(write(10_000, 1), 313_400, dram(&PUT))
        .request(flush(20_000), 20_000 + WRITE, PUT)
        .below(&[put(0, 10_000), put(1, 20_000)])
        .counts(&[("lookups", 2), ("evictions", 1), ("destages", 2)])
        .play();
    Case::new("nothing but a destage under way", lru(4, 1))
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(read(10_000, 1), 138_400, dram(&FETCH))
        .request(flush(20_000), 312_400, queue(292_400, &NONE))
        .below(&[put(0, 10_000), fetch(1, 10_000)])
        .counts(&[("lookups", 2), ("evictions", 1), ("destages", 1)])
        .play();
    // The first waits for the page as it was, the second for that too, the third also for what was written in between, which on its die waits
    // for the first.
    Case::new("a page written again", lru(4, 4))
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(flush(10_000), 312_400, PUT)
        .request(flush(15_000), 312_400, queue(297_400, &NONE))
        .request(write(20_000, 0), 21_000, dram(&NONE))
        .request(flush(30_000), 312_400 + WRITE, queue(282_400, &PUT))
        .below(&[puts(0, 10_000, 2)])
        .counts(&[("lookups", 2), ("write_hits", 1), ("destages", 2)])
        .play();
    Case::new("without write-back there is nothing to wait for", cached(4, 4, |config| config.cache.writes = false))
        .request(write(0, 0), WRITE, PUT)
        .request(flush(10_000), 10_000, NONE)
        .below(&[put(0, 0)])
        .play();
}

/// Flushes after so long without a request.
fn idle(dies: u32, us: u64) -> Config {
    cached(dies, 4, |config| {
        config.cache.flush_on_idle = true;
        config.cache.flush_idle_us = us;
    })
}

#[test]
fn dirty_pages_are_destaged_in_idle_time() {
    Case::new("at once", idle(4, 0))
        .request(write(0, 0), 1_000, dram(&NONE))
        .until(1_000_000)
        .below(&[put(0, 1_000)])
        .counts(&[("lookups", 1), ("destages", 1), ("idle_destages", 1)])
        .play();
    Case::new("after 100 us; the page stays, clean", idle(4, 100))
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(read(500_000, 0), 501_000, dram(&NONE))
        .request(flush(501_000), 501_000, NONE)
        .until(1_000_000)
        .below(&[put(0, 101_000)])
        .counts(&[("lookups", 2), ("read_hits", 1), ("destages", 1), ("idle_destages", 1)])
        .play();
    Case::new("a twin that does not", lru(4, 4))
        .request(write(0, 0), 1_000, dram(&NONE))
        .until(1_000_000)
        .below(&[])
        .counts(&[("lookups", 1), ("dirty_pages", 1)])
        .play();
    // Pages 0, 2 and 4 are on the first of two dies, where the first two go down at 102,000 and the third when the first has ended.
    Case::new("as many at a time as there are chips, those first that have been dirty longest", idle(2, 100))
        .request(write(0, 4), 1_000, dram(&NONE))
        .request(write(500, 2), 1_500, dram(&NONE))
        .request(write(1_000, 0), 2_000, dram(&NONE))
        // Already dirty: it does not become younger.
        .request(write(1_000, 4), 2_000, dram(&NONE))
        .until(2_000_000)
        // Which is which shows when a request comes while only pages 4 and 2 are down (below).
        .below(&[puts(0, 102_000, 3)])
        .counts(&[("lookups", 4), ("write_hits", 1), ("destages", 3), ("idle_destages", 3)])
        .play();
    // One die, one at a time: page 3 first. The read at 110,000 ends it, and is over at 111,000; from 211,000 it is idle again, but page 3 is
    // under way until 403,400, then comes page 1, to 705,800. The flush arrives before that ends: page 2 goes down at 600,000, behind it.
    Case::new("a request ends it", idle(1, 100))
        .request(write(0, 3), 1_000, dram(&NONE))
        .request(write(0, 1), 1_000, dram(&NONE))
        .request(write(0, 2), 1_000, dram(&NONE))
        .request(read(110_000, 3), 111_000, dram(&NONE))
        .request(flush(600_000), 705_800 + WRITE, queue(105_800, &PUT))
        .below(&[puts(0, 101_000, 3)])
        .counts(&[("lookups", 4), ("read_hits", 1), ("destages", 3), ("idle_destages", 2)])
        .play();
    // The wait of 100 us begins when the read has ended, at 228,400.
    Case::new("a request under way holds it up", idle(4, 100))
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(read(100_000, 1), 228_400, dram(&FETCH))
        .until(1_000_000)
        .below(&[fetch(1, 100_000), put(0, 328_400)])
        .counts(&[("lookups", 2), ("destages", 1), ("idle_destages", 1)])
        .play();
}

#[test]
fn idle_times_follow_each_other() {
    // Page 0 is under way on die 0 until 403,400 when it is idle again, from 111,000 on. One more may go down at 211,000.
    Case::new("while a page of an earlier idle time is under way", idle(2, 100))
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(write(110_000, 1), 111_000, dram(&NONE))
        .until(1_000_000)
        .below(&[put(0, 101_000), put(1, 211_000)])
        .counts(&[("lookups", 2), ("destages", 2), ("idle_destages", 2)])
        .play();
}

#[test]
fn what_arrives_when_the_idle_time_has_passed_comes_first() {
    // The idle time has passed when the read arrives: the request comes first.
    Case::new("a request at the instant at which it would begin", idle(4, 100))
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(read(101_000, 0), 102_000, dram(&NONE))
        .until(1_000_000)
        .below(&[put(0, 202_000)])
        .counts(&[("lookups", 2), ("read_hits", 1), ("destages", 1), ("idle_destages", 1)])
        .play();
}

/// Two dies of which the first collects. Shared frontier, T_soft of three blocks: of the four blocks free after the fill the first four writes
/// to a die fill one, the fifth takes the next and starts a job on block 0, of which one page is left. It waits for the fifth write (302,400),
/// moves the page by copyback (225,000) and erases (1,500,000).
fn collecting(capacity: u64, change: impl FnOnce(&mut Config)) -> Config {
    cached(2, capacity, |config| {
        config.device.copyback = true;
        config.ftl.frontier = Frontier::Shared;
        config.gc.soft = 3.0;
        change(config);
    })
}

/// When the job starts.
const JOB: u64 = 4_000_000;
/// When the job ends.
const JOB_END: u64 = JOB + WRITE + 225_000 + 1_500_000;
/// When the job is looked at.
const AT: u64 = JOB + 400_000;
/// Time that the job has left at [`AT`].
const LEFT: u64 = JOB_END - AT;

/// Die 0 collects: the four writes are flushed, the fifth is the destage of page 10. The cache of three pages then has 12 (of die 0), 1 and 3.
fn one_collects(name: &'static str, config: Config) -> Case {
    one_collects_with(1, name, config)
}

/// Die 0 collects, as in [`one_collects`], with `page_1` in the cache in place of page 1.
fn one_collects_with(page_1: u64, name: &'static str, config: Config) -> Case {
    let mut case = Case::new(name, config);
    for (i, page) in [0, 2, 4, 8].into_iter().enumerate() {
        let at = 800_000 * i as u64;
        case = case.request(write(at, page), at + 1_000, dram(&NONE)).request(flush(at + 10_000), at + 10_000 + WRITE, PUT);
    }
    for page in [10, 12, page_1] {
        case = case.request(write(3_500_000, page), 3_501_000, dram(&NONE));
    }
    case.request(write(JOB, 3), JOB + WRITE + ACCESS, dram(&PUT))
}

/// What [`one_collects`] counts: 0, and then 2, 4 and 8 are evicted clean, 10 dirty.
const ONE: [(&str, u64); 3] = [("lookups", 8), ("evictions", 5), ("destages", 5)];

/// Sums of counts.
fn plus(base: &[(&'static str, u64)], more: &[(&'static str, u64)]) -> Vec<(&'static str, u64)> {
    let mut all = base.to_vec();
    for &(name, count) in more {
        match all.iter_mut().find(|(other, _)| *other == name) {
            Some((_, sum)) => *sum += count,
            None => all.push((name, count)),
        }
    }
    all
}

#[test]
fn awareness_evicts_what_is_not_behind_collection() {
    // Page 12, used longest ago, is on the die that collects; page 1 is on the other.
    one_collects("unaware: the write waits for the end of the job", collecting(3, |_| {}))
        .request(write(AT, 5), JOB_END + WRITE + ACCESS, gc(LEFT, &dram(&PUT)))
        .counts(&plus(&ONE, &[("lookups", 1), ("evictions", 1), ("destages", 1), ("dirty_pages", 3)]))
        .play();
    one_collects("aware: page 12 is passed over", collecting(3, |config| config.cache.gc_aware = true))
        .request(write(AT, 5), AT + WRITE + ACCESS, dram(&PUT))
        // When the job has ended page 12 is as good as any.
        .request(write(JOB_END, 7), JOB_END + WRITE + ACCESS, dram(&PUT))
        .counts(&plus(&ONE, &[("lookups", 2), ("evictions", 2), ("destages", 2), ("dirty_pages", 3), ("gc_skips", 1)]))
        .play();
    one_collects("one ns before its end the job still counts", collecting(3, |config| config.cache.gc_aware = true))
        .request(write(JOB_END - 1, 5), JOB_END - 1 + WRITE + ACCESS, dram(&PUT))
        .request(read(8_000_000, 12), 8_001_000, dram(&NONE))
        .counts(&plus(&ONE, &[("lookups", 2), ("read_hits", 1), ("evictions", 1), ("destages", 1), ("dirty_pages", 3), ("gc_skips", 1)]))
        .play();
    // Reads: the miss is on the other die, its victim as well.
    one_collects("aware: a read passes over page 12 too", collecting(3, |config| config.cache.gc_aware = true))
        .request(read(AT, 5), AT + READ + ACCESS, dram(&FETCH))
        .request(read(AT + 500_000, 12), AT + 501_000, dram(&NONE))
        .counts(&plus(&ONE, &[("lookups", 2), ("read_hits", 1), ("evictions", 1), ("destages", 1), ("dirty_pages", 2), ("gc_skips", 1)]))
        .play();
}

#[test]
fn a_chip_may_count_as_collecting_before_it_does() {
    // T_soft is one block. The write to die 0 leaves three of four blocks free: fewer than 1 + 3.
    let soon = |soon| {
        cached(2, 2, |config| {
            config.cache.gc_aware = true;
            config.cache.soon = soon;
        })
    };
    let begin = |name, config| {
        Case::new(name, config)
            .request(write(0, 0), 1_000, dram(&NONE))
            .request(flush(10_000), 312_400, PUT)
            .request(write(400_000, 2), 401_000, dram(&NONE))
            .request(write(410_000, 1), 411_000, dram(&NONE))
            .request(write(500_000, 3), 500_000 + WRITE + ACCESS, dram(&PUT))
    };
    let counted = [("lookups", 4), ("evictions", 2), ("destages", 2), ("dirty_pages", 2)];
    for few in [0, 2] {
        begin("not yet", soon(few)).below(&[put(0, 10_000), put(0, 500_000)]).counts(&counted).play();
    }
    // Page 0 goes for page 1 although its die counts: page 2 is on it as well. Page 2 is passed over for page 3.
    let passed = plus(&counted, &[("gc_skips", 1), ("gc_fallbacks", 1)]);
    begin("soon", soon(3)).below(&[put(0, 10_000), put(1, 500_000)]).counts(&passed).play();
}

#[test]
fn where_all_kept_pages_are_on_chips_that_collect_a_write_evicts_as_without_awareness() {
    // Pages 0 and 2 are both on die 0, which counts as collecting; die 1 does not.
    let config = cached(2, 2, |config| {
        config.cache.gc_aware = true;
        config.cache.soon = 3;
    });
    Case::new("nothing else to evict", config)
        .request(write(0, 0), 1_000, dram(&NONE))
        .request(flush(10_000), 312_400, PUT)
        .request(write(400_000, 2), 401_000, dram(&NONE))
        .request(write(500_000, 3), 501_000, dram(&NONE))
        .request(write(600_000, 4), 600_000 + WRITE + ACCESS, dram(&PUT))
        .below(&[put(0, 10_000), put(1, 600_000)])
        .counts(&[("lookups", 4), ("evictions", 2), ("destages", 2), ("dirty_pages", 2), ("gc_fallbacks", 1), ("gc_skips", 1)])
        .play();
}

#[test]
fn a_page_written_in_the_cache_has_no_home_under_dynamic_allocation() {
    let config = cached(2, 2, |config| {
        config.ftl.allocation = Allocation::Dynamic;
        config.cache.gc_aware = true;
        config.cache.soon = 3;
    });
    // The first write goes to die 0, which from then on counts as collecting.
    Case::new("pages read have one", config)
        .request(write(0, 1), 1_000, dram(&NONE))
        .request(flush(10_000), 312_400, PUT)
        .request(read(400_000, 0), 400_000 + READ + ACCESS, dram(&FETCH))
        // Page 1, though clean and on die 0 by now, is not passed over.
        .request(write(600_000, 2), 601_000, dram(&NONE))
        // Page 0 is, page 2 is not.
        .request(write(700_000, 3), 700_000 + WRITE + ACCESS, dram(&PUT))
        .counts(&[("lookups", 4), ("evictions", 2), ("destages", 2), ("dirty_pages", 1), ("gc_skips", 1)])
        .play();
}

/// Both dies collect: as [`one_collects`], page by page on each. The cache of six pages then has 12 to 17.
fn both_collect(name: &'static str, config: Config) -> Case {
    let mut case = Case::new(name, config);
    for (i, page) in [0, 2, 4, 8].into_iter().enumerate() {
        let at = 800_000 * i as u64;
        case = case.request(of_pages(write(at, page), 2), at + 1_000, dram(&NONE)).request(flush(at + 10_000), at + 10_000 + WRITE, PUT);
    }
    case.request(of_pages(write(3_500_000, 10), 6), 3_501_000, dram(&NONE)).request(
        of_pages(write(JOB, 16), 2),
        JOB + WRITE + ACCESS,
        dram(&PUT),
    )
}

/// What [`both_collect`] counts: eight pages are evicted clean, 10 and 11 dirty.
const BOTH: [(&str, u64); 3] = [("lookups", 16), ("evictions", 10), ("destages", 10)];

#[test]
fn where_all_chips_collect_a_write_evicts_as_without_awareness_and_reads_are_not_kept() {
    // Page 12 goes down for page 18, behind the job on die 0. The read of page 21 waits for that on die 1.
    let read_ends = JOB_END + READ;
    both_collect("aware", collecting(6, |config| config.cache.gc_aware = true))
        .request(write(AT, 18), JOB_END + WRITE + ACCESS, gc(LEFT, &dram(&PUT)))
        .request(read(AT, 21), read_ends, gc(LEFT, &FETCH))
        .request(read(8_000_000, 21), 8_000_000 + READ + ACCESS, dram(&FETCH))
        .counts(&plus(
            &BOTH,
            &[("lookups", 3), ("evictions", 2), ("destages", 2), ("dirty_pages", 5), ("gc_fallbacks", 1), ("gc_bypasses", 1)],
        ))
        .play();
    both_collect("unaware: page 13 is evicted for page 21", collecting(6, |_| {}))
        .request(write(AT, 18), JOB_END + WRITE + ACCESS, gc(LEFT, &dram(&PUT)))
        .request(read(AT, 21), read_ends + ACCESS, gc(LEFT, &dram(&FETCH)))
        .request(read(8_000_000, 21), 8_001_000, dram(&NONE))
        .counts(&plus(&BOTH, &[("lookups", 3), ("read_hits", 1), ("evictions", 2), ("destages", 2), ("dirty_pages", 5)]))
        .play();
    // Pages 12 and 13 leave by a trim: there is room.
    both_collect("aware, with room: a page read is kept", collecting(6, |config| config.cache.gc_aware = true))
        .request(of_pages(trim(JOB + 350_000, 12), 2), JOB + 350_000, NONE)
        .request(read(AT, 21), read_ends + ACCESS, gc(LEFT, &dram(&FETCH)))
        .request(read(8_000_000, 21), 8_001_000, dram(&NONE))
        .counts(&plus(&BOTH, &[("lookups", 2), ("read_hits", 1), ("dirty_pages", 4)]))
        .play();
}

#[test]
fn where_all_chips_collect_nothing_is_evicted_ahead() {
    // Of six pages five stay.
    let ahead = |aware| {
        collecting(6, |config| {
            config.cache.gc_aware = aware;
            config.cache.destage_ahead = 0.2;
        })
    };
    // The first four writes to each die are flushed, and leave ahead of need, clean.
    let begin = |name, aware| {
        let mut case = Case::new(name, ahead(aware));
        for (i, page) in [0, 2, 4, 8].into_iter().enumerate() {
            let at = 800_000 * i as u64;
            case =
                case.request(of_pages(write(at, page), 2), at + 1_000, dram(&NONE)).request(flush(at + 10_000), at + 10_000 + WRITE, PUT);
        }
        // Kept are 3, 4, 5, 8 and 9. Then 10 and 11 come and 3 and 4 go; the flush of 10 and 11 starts the jobs.
        case.request(of_pages(write(JOB - 10_000, 10), 2), JOB - 9_000, dram(&NONE)).request(flush(JOB), JOB + WRITE, PUT).request(
            write(AT, 12),
            AT + 1_000,
            dram(&NONE),
        )
    };
    // For page 12 a frame is free. Page 5 goes ahead of need, or stays.
    let counted = [("lookups", 11), ("destages", 10), ("dirty_pages", 1)];
    begin("unaware", false).counts(&plus(&counted, &[("evictions", 6)])).play();
    begin("aware", true).counts(&plus(&counted, &[("evictions", 5)])).play();
}

#[test]
fn response_times_are_split_by_whether_a_home_was_in_gc() {
    let case = one_collects("split", collecting(3, |config| config.cache.gc_aware = true))
        // Neither page 5 nor its victim, page 1, is on die 0.
        .request(write(AT, 5), AT + WRITE + ACCESS, dram(&PUT))
        // A hit on die 0. A flush is in neither class.
        .request(read(AT + 1_000, 12), AT + 2_000, dram(&NONE))
        .request(flush(AT + 400_000), JOB_END + WRITE, gc(LEFT - 400_000, &PUT))
        .request(read(JOB_END + 1_000_000, 12), JOB_END + 1_001_000, dram(&NONE));
    let result = run(&case);
    let response = result.cache.expect("a cache").response_ns;
    // Not in GC: the eight writes of the beginning (seven accesses, one that waits), the write of page 5 and the last read.
    let no_gc = response.no_gc.expect("some");
    assert_eq!((no_gc.count, no_gc.max), (10, WRITE + ACCESS));
    assert_eq!(no_gc.mean, (8 * ACCESS + 2 * (WRITE + ACCESS)) as f64 / 10.0);
    // In GC: the hit. The flush is neither.
    let gc = response.gc.expect("one");
    assert_eq!((gc.count, gc.mean, gc.max), (1, 1_000.0, 1_000));
}

/// The result of a case, whose responses are compared as well.
fn run(case: &Case) -> ssdlab::stats::RunResult {
    let mut simulation = common::simulation(&case.config);
    case.requests.iter().for_each(|(request, _)| _ = simulation.submit(*request).unwrap());
    simulation.run_to_idle().unwrap();
    for completion in simulation.take_completions() {
        let (request, parts) = &case.requests[completion.index as usize];
        let expected: u64 = parts.iter().map(|part| part.1).sum();
        assert_eq!(completion.completed_ns - completion.arrival_ns, expected, "{}: {request:?}", case.name);
    }
    simulation.finish().unwrap()
}

#[test]
fn idle_flushing_passes_over_chips_that_collect() {
    let idle = |aware| {
        collecting(3, |config| {
            config.cache.gc_aware = aware;
            config.cache.flush_on_idle = true;
            config.cache.flush_idle_us = 500;
        })
    };
    // The beginning has ended at JOB + 303,400; 500 us later pages 12, 14 and 3 are dirty, in this order, the first two on die 0. Two at a time.
    let begins = JOB + WRITE + ACCESS + 500_000;
    let warm = [put(0, 10_000), put(0, 810_000), put(0, 1_610_000), put(0, 2_410_000), put(0, JOB)].concat();
    let counted = plus(&ONE, &[("destages", 3), ("idle_destages", 3)]);
    one_collects_with(14, "unaware: 12 and 14 at once, behind the job; 3 when 12 has been written", idle(false))
        .until(12_000_000)
        .below(&[warm.clone(), puts(0, JOB_END, 2), put(1, JOB_END + WRITE)])
        .counts(&counted)
        .play();
    one_collects_with(14, "aware: 3 at once, 12 and 14 when the job has ended", idle(true))
        .until(12_000_000)
        .below(&[warm, puts(0, JOB_END, 2), put(1, begins)])
        .counts(&counted)
        .play();
}

/// A result without what belongs to the machine or the configuration.
fn outcome(config: &Config, requests: &[Request]) -> (String, String, String) {
    let plan = Plan { verify: Verify::End, ..common::plan(config.clone()) };
    let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
    requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
    let result = simulation.finish().unwrap();
    assert_eq!(result.gc.jobs, 0, "nothing is collected");
    (result.digest, format!("{:?}", result.breakdown_ns), format!("{:?}", result.cache.map(|cache| (cache, result.counters))))
}

#[test]
fn awareness_changes_nothing_where_nothing_is_collected() {
    let mut rng = Rng::new(1, "no collection");
    for &name in &CachePolicy::ALL[1..] {
        for ahead in [0.0, 0.4] {
            let mut config = cached(3, 5, |config| {
                config.cache.policy = name;
                config.cache.destage_ahead = ahead;
                config.cache.flush_on_idle = true;
                // More than is written below.
                config.device.blocks_per_plane = 200;
                config.device.overprovisioning = 0.95;
            });
            let requests = common::random_requests(&mut rng, &config, 400);
            let off = outcome(&config, &requests);
            config.cache.gc_aware = true;
            assert_eq!(outcome(&config, &requests), off, "{name:?}");
        }
    }
}

#[test]
fn without_a_policy_there_is_no_cache() {
    let mut rng = Rng::new(2, "no cache");
    let mut config = one_die();
    config.device.channels = 3;
    config.device.blocks_per_plane = 200;
    config.device.overprovisioning = 0.95;
    let requests = common::random_requests(&mut rng, &config, 300);
    let plain = outcome(&config, &requests);
    config.cache.bytes = 2 * PAGE;
    config.cache.gc_aware = true;
    config.cache.flush_on_idle = true;
    config.cache.destage_ahead = 0.5;
    config.cache.policy = CachePolicy::None;
    assert_eq!(outcome(&config, &requests), plain);
    config.cache.policy = CachePolicy::Lru;
    assert_ne!(outcome(&config, &requests).0, plain.0);
}

/// A small drive at a random point of the policy space behind a random cache, and requests.
fn drawn(case: u64) -> (Config, Vec<Request>) {
    let mut rng = Rng::new(case, "caches");
    let mut config = common::random_config(&mut rng);
    common::random_cache(&mut rng, &mut config);
    let mut requests = common::random_requests(&mut rng, &config, 150);
    let last = requests.last().expect("there are some").arrival_ns;
    requests.push(flush(last + rng.below(500_000)));
    (config, requests)
}

/// Runs a case with every sector followed through the cache and the drive, after every event.
fn keeps_every_sector(case: u64, planted: Option<PlantedInCache>) -> Result<Tally, String> {
    let (config, requests) = drawn(case);
    let mut simulation = Simulation::new(&common::plan(config.clone()), &Control::default()).map_err(|error| error.to_string())?;
    if let Some(defect) = planted {
        simulation.storage_mut().plant_in_cache(defect);
    }
    for request in requests {
        simulation.submit(request).map_err(|error| error.to_string())?;
    }
    simulation.run_to_idle().map_err(|error| error.to_string())?;
    let stats = simulation.storage().stats(simulation.now()).cache.expect("there is a cache");
    let jobs = simulation.ssd().counters().jobs;
    simulation.finish().map_err(|error| error.to_string())?;
    let mut tally: Tally = counts(&stats).into_iter().map(|(name, count)| (name.to_string(), count)).collect();
    if tally.remove("dirty_pages") != Some(0) {
        return Err("the flush at the end leaves dirty pages".into());
    }
    let cache = &config.cache;
    // Each axis is there, with collection.
    for axis in [
        format!("{:?}", cache.policy),
        format!("reads {}, writes {}", cache.reads, cache.writes),
        format!("aware {}, soon {}", cache.gc_aware, cache.soon > 0),
        format!("padding {:?}", cache.padding),
        format!("group {:?}", cache.group),
        format!("{:?}", config.gc.scope),
        format!("dynamic {}", config.ftl.allocation == Allocation::Dynamic),
        format!("idle {}", cache.flush_on_idle),
        format!("one page {}", stats.capacity == 1),
    ] {
        tally.insert(axis, jobs);
    }
    Ok(tally)
}

#[test]
fn random_caches_keep_every_sector() {
    let cases = Cases::asked_for(1_500);
    let result = cases.run(|case| keeps_every_sector(case, None));
    let tally = result.unwrap_or_else(|Failure { case, reason }| panic!("case {case} {reason}\n{:#?}", drawn(case).0));
    println!("{tally:?}");
    if is_full() {
        assert_eq!(tally.len(), 12 + 4 + 4 + 4 + 3 + 2 + 7 + 2 + 2 + 2, "an axis is missing: {tally:?}");
        assert_eq!(tally.iter().find(|(_, count)| **count == 0), None, "this never happened");
    }
}

#[test]
fn planted_defects_are_found() {
    for (defect, says) in [
        (PlantedInCache::ForgetsDestages, "was written last"),
        (PlantedInCache::KeepsPadding, "is padded with data older"),
        (PlantedInCache::CountsFramesTwice, "spare"),
        (PlantedInCache::FlushesEarly, "a flush completes while"),
        (PlantedInCache::ReadsOldData, "was written last"),
    ] {
        let cases = Cases::up_to(1_500);
        let failure = cases.run(move |case| keeps_every_sector(case, Some(defect))).expect_err("a planted defect is found");
        println!("{defect:?}: case {} {}", failure.case, failure.reason);
        assert!(failure.reason.contains(says), "{defect:?}: {failure:?}");
    }
}
