//! Series of a run: worked by hand on the drive of `common::one_die` (see `common::pages` for its times), and compared with all that the
//! result says on random drives.

use crate::common;
use crate::common::pages::*;
use crate::common::{one_die, random_cache, random_config, random_requests};
use proptest::prelude::*;
use ssdlab::config::{ArrayLevel, CachePlace, CachePolicy, Config, Frontier, PreconditionKind, Priority, Scope, Trigger};
use ssdlab::flash::Resource;
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify};
use ssdlab::stats::{Completion, MOST_BINS, NARROWEST_NS, RunResult, SeriesResult};

/// A run of some requests, and what collection does until `until`.
fn played(config: &Config, requests: &[Request], until: u64) -> RunResult {
    let plan = Plan { series: true, ..common::plan(config.clone()) };
    let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
    for request in requests {
        simulation.submit(*request).unwrap();
    }
    simulation.run_until(until).unwrap();
    simulation.finish().unwrap()
}

/// By bin: how much of it lies within these intervals, as a share.
fn shares(intervals: &[(u64, u64)], series: &SeriesResult) -> Vec<f64> {
    let within = |from: u64| -> u64 {
        let until = from + series.bin_ns;
        intervals.iter().map(|&(start, end)| end.min(until).saturating_sub(start.max(from))).sum()
    };
    (0..series.bins).map(|bin| within(bin * series.bin_ns) as f64 / series.bin_ns as f64).collect()
}

/// By bin: how many of these times lie in it.
fn counts(times: &[u64], series: &SeriesResult) -> Vec<u64> {
    let bin_of = |time: u64| time / series.bin_ns;
    (0..series.bins).map(|bin| times.iter().filter(|&&time| bin_of(time) == bin).count() as u64).collect()
}

/// By bin: `values` in those that are named, else `rest`.
fn except<T: Copy>(rest: T, values: &[(usize, T)], series: &SeriesResult) -> Vec<T> {
    let mut row = vec![rest; series.bins as usize];
    values.iter().for_each(|&(bin, value)| row[bin] = value);
    row
}

#[test]
fn a_write_alone() {
    // On the bus until 102,400, in the array until 302,400. It takes the first of eight free blocks.
    let result = played(&one_die(), &[write(0, 0)], 0);
    let series = result.series.unwrap();
    assert_eq!((series.bin_ns, series.bins), (1_000, 303));
    assert_eq!(series.latency_ns.write.count, except(0, &[(302, 1)], &series));
    assert_eq!(series.latency_ns.write.mean, except(0.0, &[(302, 302_400.0)], &series));
    assert_eq!(series.latency_ns.write.max, except(0, &[(302, 302_400)], &series));
    assert_eq!(series.latency_ns.read.count, vec![0; 303]);
    assert_eq!(series.latency_ns.read.mean, vec![0.0; 303]);
    assert_eq!(series.latency_ns.read.max, vec![0; 303]);
    assert_eq!(series.outstanding.mean, except(1.0, &[(302, 0.4)], &series));
    assert_eq!(series.outstanding.max, vec![1; 303]);
    assert_eq!(series.gc.chips, [vec![0.0; 303]]);
    assert_eq!((&series.gc.jobs, &series.gc.pages_moved), (&vec![0; 303], &vec![0; 303]));
    assert_eq!((&series.free_blocks.min, &series.free_blocks.mean), (&vec![7; 303], &vec![7.0; 303]));
    assert_eq!((series.free_blocks.soft, series.free_blocks.hard), (1, 0));
    assert_eq!(series.states.s0, except(1.0, &[(302, 0.4)], &series));
    assert_eq!([&series.states.s1, &series.states.s2, &series.states.s3], [&vec![0.0; 303]; 3]);
    let on_the_bus: Vec<f64> = [vec![1.0; 102], vec![0.4], vec![0.0; 200]].concat();
    assert_eq!(series.bus, on_the_bus);
    assert_eq!(series.dies, except(1.0, &[(302, 0.4)], &series));
    assert_eq!(series.cache, None);
    let histograms = result.histograms.unwrap();
    assert_eq!((histograms.write.upper_ns, histograms.write.count), (vec![302_400], vec![1]));
    assert_eq!((histograms.read.upper_ns, histograms.read.count), (vec![], vec![]));
}

#[test]
fn nothing_is_there_that_was_not_asked_for() {
    let plan = Plan { series: false, ..common::plan(one_die()) };
    let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
    simulation.submit(write(0, 0)).unwrap();
    let result = simulation.finish().unwrap();
    assert_eq!((result.series, result.histograms), (None, None));
}

/// A drive that collects after 1 ms of idleness until four blocks are free, by copyback. After the fill blocks 4 to 7 are free; a write of
/// page 0 takes one of them, so that a job moves pages 1 to 3 behind it and erases block 0.
fn idle_collector(scope: Scope) -> Config {
    let mut config = one_die();
    config.device.copyback = true;
    config.ftl.frontier = Frontier::Shared;
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config.gc.trigger = Trigger::Idle;
    config.gc.idle_us = 1_000;
    config.gc.idle_free = 4.0;
    config.gc.scope = scope;
    config.gc.priority = Priority::Gc;
    config
}

#[test]
fn two_writes_and_the_jobs_they_make_necessary() {
    // Two writes of page 0 arrive together: the second begins when the first has ended, and both are in block 4. A millisecond after it the
    // first job moves pages 1 and 2, for which block 4 has room, and page 3 into block 5. The second job collects block 4: pages 0 to 2 go
    // to block 5.
    let (second, start, until) = (2 * WRITE, 2 * WRITE + 1_000_000, 6_144_000);
    let other_block = start + 2 * MOVE;
    let between = start + 3 * MOVE + ERASE;
    let end = between + 3 * MOVE + ERASE;
    assert_eq!((between, end), (3_779_800, 5_954_800));
    // 384 bins of 16 us, and the end lies on a border: the last bin has no time in it.
    let result = played(&idle_collector(Scope::Chip), &[write(0, 0), write(0, 0)], until);
    assert_eq!(result.gc.jobs, 2);
    let series = result.series.unwrap();
    assert_eq!((series.bin_ns, series.bins), (16_000, 385));
    assert_eq!(series.latency_ns.write.count, except(0, &[(18, 1), (37, 1)], &series));
    assert_eq!(series.latency_ns.write.mean, except(0.0, &[(18, 302_400.0), (37, 604_800.0)], &series));
    assert_eq!(series.latency_ns.write.max, except(0, &[(18, 302_400), (37, 604_800)], &series));
    assert_eq!(series.outstanding.mean, shares(&[(0, WRITE), (0, second)], &series));
    assert_eq!(series.outstanding.max, [vec![2; 19], vec![1; 19], vec![0; 347]].concat());
    assert_eq!(series.gc.chips, [shares(&[(start, end)], &series)]);
    assert_eq!(series.gc.jobs, except(0, &[(100, 1), (236, 1)], &series));
    let moves = [1, 2, 3].map(|moved| start + moved * MOVE).into_iter().chain([1, 2, 3].map(|moved| between + moved * MOVE));
    assert_eq!(series.gc.pages_moved, counts(&moves.collect::<Vec<_>>(), &series));
    // Three free blocks from the first write on, two from 2,054,800 on, three again at 3,779,800, four at 5,954,800.
    assert_eq!(other_block, 2_054_800);
    assert_eq!(series.free_blocks.min, [vec![3; 128], vec![2; 109], vec![3; 136], vec![4; 12]].concat());
    let (fewer, more) = (shares(&[(other_block, between)], &series), shares(&[(end, until)], &series));
    let expected: Vec<f64> = fewer.iter().zip(more).map(|(fewer, more)| 3.0 - fewer + more).collect();
    assert_eq!(series.free_blocks.mean[..384], expected[..384]);
    // Jobs exclude the host: S3, else S0.
    assert_eq!(series.states.s0, shares(&[(0, start), (end, until)], &series));
    assert_eq!(series.states.s3, shares(&[(start, end)], &series));
    assert_eq!([&series.states.s1, &series.states.s2], [&vec![0.0; 385]; 2]);
    assert_eq!(series.bus, shares(&[(0, 102_400), (WRITE, WRITE + 102_400)], &series));
    assert_eq!(series.dies, shares(&[(0, second), (start, end)], &series));
    // Nothing is left of the last bin but the free blocks.
    assert_eq!((series.states.s0[384], series.free_blocks.min[384], series.free_blocks.mean[384]), (0.0, 4, 4.0));
}

#[test]
fn what_happens_on_a_border_belongs_to_the_bin_that_it_begins() {
    // Bins of 4 us. The read is under way from a border, 400 us, to 527,400.
    let result = played(&one_die(), &[write(0, 0), read(400_000, 0)], 1_600_000);
    let series = result.series.unwrap();
    assert_eq!((series.bin_ns, series.bins), (4_000, 401));
    assert_eq!((series.outstanding.max[99], series.outstanding.max[100]), (0, 1));
    assert_eq!((series.outstanding.mean[99], series.outstanding.mean[100]), (0.0, 1.0));
    // A flush that has nothing to wait for takes no time, so that it is never under way; nor is it a read or a write.
    let flush = Request { length: 0, offset: 0, ..request(RequestKind::Flush, 700_000, 0) };
    let result = played(&one_die(), &[write(0, 0), read(400_000, 0), flush], 1_600_000);
    assert_eq!(result.requests.flush, 1);
    assert_eq!(result.series, Some(series));
}

#[test]
fn pages_in_a_cache() {
    // Of two writes of page 0 the second finds it; the read of page 1 does not. Both pages stay, the first one dirty.
    let mut config = one_die();
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config.cache.policy = CachePolicy::Lru;
    config.cache.bytes = 1 << 20;
    config.cache.access_ns = 1_000;
    let result = played(&config, &[write(0, 0), write(10_000, 0), read(20_000, 1)], 0);
    let series = result.series.unwrap();
    let cache = series.cache.as_ref().unwrap();
    assert_eq!(cache.lookups, counts(&[0, 10_000, 20_000], &series));
    assert_eq!(cache.hits, counts(&[10_000], &series));
    assert_eq!(cache.dirty, vec![1; series.bins as usize]);
}

/// That of 4096 bytes at 25 ns each, with its command.
const LONGEST_TRANSFER_NS: u64 = 102_500;

/// What a random run came to, with the completions of its requests and the transfers on its buses.
struct Random {
    result: RunResult,
    completions: Vec<Completion>,
    transfers: Vec<(u64, u64)>,
}

fn random_run(seed: u64, series: bool) -> Random {
    let mut rng = Rng::new(seed, "series");
    let mut config = random_config(&mut rng);
    if rng.chance(0.4) {
        random_cache(&mut rng, &mut config);
    }
    if rng.chance(0.3) {
        config.array.level = ArrayLevel::Rais0;
        config.array.drives = 2 + rng.below(2) as u32;
        config.array.stripe_kb = f64::from(config.device.page_bytes) / 1024.0;
        config.cache.place = if rng.chance(0.5) { CachePlace::Array } else { CachePlace::Drive };
    }
    let requests = random_requests(&mut rng, &config, 300);
    let plan = Plan { series, verify: Verify::End, ..Plan::new(config, seed) };
    let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
    simulation.take_completions();
    simulation.storage_mut().each_drive_mut(|drive| drive.keep_trace());
    for request in requests {
        simulation.submit(request).unwrap();
    }
    simulation.run_to_idle().unwrap();
    // Sometimes the run goes on for a while, with collection alone.
    let until = simulation.now() + rng.below(2) * rng.below(5_000_000);
    simulation.run_until(until).unwrap();
    let completions = simulation.take_completions();
    let on_a_bus = |resource| matches!(resource, Resource::Bus(_));
    let drives = simulation.storage().drives();
    let intervals = drives.iter().flat_map(|drive| &drive.trace().unwrap().intervals).filter(|interval| on_a_bus(interval.resource));
    let transfers = intervals.map(|interval| (interval.start, interval.end)).collect();
    Random { transfers, completions, result: simulation.finish().unwrap() }
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs().max(1e-3)
}

/// The sum over all bins of a share of their time, ns.
fn time(shares: &[f64], series: &SeriesResult) -> f64 {
    shares.iter().sum::<f64>() * series.bin_ns as f64
}

/// All that the result says in one number, from the series.
fn check_totals(Random { result, completions, transfers }: &Random) {
    let series = result.series.as_ref().unwrap();
    let end = result.simulated_ns;
    let (chips, pools) = (result.utilisation.as_ref().map_or(0, |utilisation| utilisation.chips.len()), states_of(result) / end.max(1));
    assert!(series.bin_ns.is_multiple_of(NARROWEST_NS) && series.bins == end / series.bin_ns + 1 && series.bins as usize <= MOST_BINS);
    let sum = |row: &[u64]| row.iter().sum::<u64>();

    for (row, kind, count, latency) in [
        (&series.latency_ns.read, RequestKind::Read, result.requests.read, &result.latency_ns.read),
        (&series.latency_ns.write, RequestKind::Write, result.requests.write, &result.latency_ns.write),
    ] {
        let ends: Vec<u64> = completions.iter().filter(|done| done.kind == kind).map(|done| done.completed_ns).collect();
        assert_eq!((sum(&row.count), &row.count), (count, &counts(&ends, series)));
        let total: f64 = row.mean.iter().zip(&row.count).map(|(mean, &count)| mean * count as f64).sum();
        assert!(close(total, latency.as_ref().map_or(0.0, |latency| latency.mean * count as f64)));
        assert_eq!(row.max.iter().max().copied(), Some(latency.as_ref().map_or(0, |latency| latency.max)));
    }
    let under_way: Vec<(u64, u64)> = completions.iter().map(|done| (done.arrival_ns, done.completed_ns)).collect();
    for (found, expected) in series.outstanding.mean.iter().zip(shares(&under_way, series)) {
        assert!(close(*found, expected), "{found} requests under way, {expected} expected");
    }
    for (mean, &most) in series.outstanding.mean.iter().zip(&series.outstanding.max) {
        assert!(*mean <= most as f64);
    }

    assert_eq!(sum(&series.gc.pages_moved), result.gc.pages_moved);
    assert!(sum(&series.gc.jobs) >= result.gc.jobs && sum(&series.gc.jobs) <= result.gc.jobs + pools);
    let active: f64 = series.gc.chips.iter().map(|row| time(row, series)).sum();
    let job_time = result.gc.time_share.unwrap_or(0.0) * end as f64 * pools as f64;
    // Jobs of several pools at once are one to their chip.
    assert!(if chips as u64 == pools { close(active, job_time) } else { active <= job_time * (1.0 + 1e-9) });

    assert!(series.free_blocks.min.iter().min() == Some(&result.gc.free_blocks_min));
    for (mean, &fewest) in series.free_blocks.mean.iter().zip(&series.free_blocks.min) {
        assert!(*mean >= f64::from(fewest));
    }
    let states = [&series.states.s0, &series.states.s1, &series.states.s2, &series.states.s3];
    let times = &result.gc.state_ns;
    for (row, total) in states.into_iter().zip([times.s0, times.s1, times.s2, times.s3]) {
        assert!(close(time(row, series) * pools as f64, total as f64));
    }
    for bin in 0..series.bins as usize - 1 {
        assert!(close(states.iter().map(|row| row[bin]).sum(), 1.0));
    }
    // A transfer that was under way when the run ended is not among those that are known, and no page takes longer than that.
    let known = end.saturating_sub(LONGEST_TRANSFER_NS) / series.bin_ns;
    for (found, expected) in series.bus.iter().zip(shares(transfers, series)).take(known as usize) {
        let channels = result.utilisation.as_ref().unwrap().channels.len() as f64;
        assert!(close(*found, expected / channels), "buses are busy for {found} of a bin, {} expected", expected / channels);
    }
    if let Some(utilisation) = &result.utilisation {
        // A chip whose dies take turns is busy for the time of all of them.
        let device = &result.config["device"];
        let dies_at_once = if device["die_interleave"] == true { 1.0 } else { device["dies_per_chip"].as_f64().unwrap() };
        let mean = |row: &[f64]| row.iter().sum::<f64>() / row.len() as f64 * end as f64;
        assert!(close(time(&series.bus, series), mean(&utilisation.channels)));
        // That of a chip is rounded down to nanoseconds.
        assert!((time(&series.dies, series) - mean(&utilisation.chips) / dies_at_once).abs() <= 1.0);
    }
}

/// What the cache did.
fn check_cache(result: &RunResult) {
    let series = result.series.as_ref().unwrap();
    let totals = result.cache.as_ref().map(|cache| (cache.read_hits + cache.write_hits, cache.lookups, cache.dirty_pages));
    let sum = |row: &[u64]| row.iter().sum::<u64>();
    let found = series.cache.as_ref().map(|cache| (sum(&cache.hits), sum(&cache.lookups), *cache.dirty.last().unwrap()));
    assert_eq!(found, totals);
}

fn states_of(result: &RunResult) -> u64 {
    let times = &result.gc.state_ns;
    u64::try_from(times.s0 + times.s1 + times.s2 + times.s3).expect("a short run")
}

/// The percentiles of a histogram.
fn check_histograms(result: &RunResult) {
    let histograms = result.histograms.as_ref().unwrap();
    for (histogram, latency) in [(&histograms.read, &result.latency_ns.read), (&histograms.write, &result.latency_ns.write)] {
        let Some(latency) = latency else {
            assert!(histogram.count.is_empty() && histogram.upper_ns.is_empty());
            continue;
        };
        assert_eq!(histogram.count.iter().sum::<u64>(), latency.count);
        let of_rank = |rank: u64| {
            let mut reached = 0;
            let reaches = |&count: &u64| {
                reached += count;
                reached >= rank
            };
            histogram.upper_ns[histogram.count.iter().position(reaches).unwrap()]
        };
        assert_eq!((of_rank(latency.count.div_ceil(2)), of_rank((99 * latency.count).div_ceil(100))), (latency.p50, latency.p99));
        assert_eq!(histogram.upper_ns.last(), Some(&latency.max));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn series_add_up_to_what_the_result_says(seed in 0u64..1 << 32) {
        let run = random_run(seed, true);
        check_totals(&run);
        check_cache(&run.result);
        check_histograms(&run.result);
    }

    #[test]
    fn nothing_else_changes_where_they_are_asked_for(seed in 0u64..1 << 32) {
        let [with, without] = [true, false].map(|series| random_run(seed, series).result);
        prop_assert_eq!(&with.digest, &without.digest);
        let real_time = |result: RunResult| RunResult { prepare_s: 0.0, wall_s: 0.0, requests_per_s: None, ..result };
        prop_assert_eq!(real_time(RunResult { series: None, histograms: None, ..with }), real_time(without));
    }
}
