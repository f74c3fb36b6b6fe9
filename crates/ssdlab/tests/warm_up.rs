//! A warm-up is left out of statistics, exactly: what a run with one reports is what the whole run reports, less what there was when the
//! warm-up ended. Over random drives, arrays and caches.

use crate::common::{one_die, random_cache, random_config, random_requests};
use ssdlab::config::*;
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify, WarmUp};
use ssdlab::stats::{CacheCounters, Completion, Latency, RunResult};
use ssdlab::units::{ChannelId, Ns};

/// A random drive, or an array of them, perhaps with caches.
fn random(rng: &mut Rng) -> Config {
    let mut config = random_config(rng);
    if rng.chance(0.4) {
        random_cache(rng, &mut config);
    }
    if rng.chance(0.3) {
        config.array.level = ArrayLevel::Rais5;
        config.array.drives = 3;
        config.array.stripe_kb = f64::from(config.device.page_bytes) / 1024.0;
        config.cache.place = if rng.chance(0.5) { CachePlace::Array } else { CachePlace::Drive };
    }
    config
}

fn simulation(config: &Config, warm_up: Option<WarmUp>, requests: &[Request]) -> Simulation {
    let plan = Plan { warm_up, series: true, verify: Verify::End, ..Plan::new(config.clone(), 7) };
    let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
    simulation.take_completions();
    requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
    simulation
}

/// Runs the requests: the completions by index, and the result.
fn run(config: &Config, warm_up: Option<WarmUp>, requests: &[Request]) -> (Vec<Completion>, RunResult) {
    let mut simulation = simulation(config, warm_up, requests);
    simulation.run_to_idle().unwrap();
    let mut completions = simulation.take_completions();
    completions.sort_by_key(|completion| completion.index);
    (completions, simulation.finish().unwrap())
}

/// What the drives have done when everything before an instant has happened.
struct Snapshot {
    sums: Vec<(&'static str, u128)>,
    longest_job: Ns,
    free_blocks_min: u32,
    cache: Option<CacheCounters>,
    parity_writes: u64,
}

fn snapshot(config: &Config, requests: &[Request], until: Ns) -> Snapshot {
    let mut simulation = simulation(config, None, requests);
    simulation.run_until(until - 1).unwrap();
    let storage = simulation.storage();
    let drives = storage.drives();
    let all = |of: &dyn Fn(&ssdlab::ssd::Ssd) -> u128| drives.iter().map(|drive| of(drive)).sum();
    let channels = config.device.channels;
    let sums = vec![
        ("host_programs", all(&|drive| drive.counters().host_programs.into())),
        ("gc_programs", all(&|drive| drive.counters().pages_moved.into())),
        ("reads", all(&|drive| (drive.counters().host_reads + drive.counters().gc_reads).into())),
        ("erases", all(&|drive| drive.counters().erases.into())),
        ("jobs", all(&|drive| drive.counters().jobs.into())),
        ("job_ns", all(&|drive| drive.counters().job_ns)),
        ("merged", all(&|drive| (drive.counters().merged_reads + drive.counters().merged_writes).into())),
        ("preemptions", all(&|drive| drive.counters().preemptions.into())),
        ("rmw_reads", all(&|drive| drive.counters().rmw_reads.into())),
        ("page_order_waits", all(&|drive| drive.counters().page_order_waits.into())),
        ("state_ns", all(&|drive| drive.state_ns(until).iter().sum())),
        ("s0", all(&|drive| drive.state_ns(until)[0])),
        ("gc_active_ns", all(&|drive| drive.gc_active_ns(until))),
        ("bus_ns", all(&|drive| (0..channels).map(|channel| u128::from(drive.bus_busy_ns(ChannelId(channel), until))).sum())),
    ];
    Snapshot {
        sums,
        longest_job: drives.iter().map(|drive| drive.counters().job_ns_max).max().unwrap(),
        free_blocks_min: drives.iter().map(|drive| drive.ftl().blocks().free_min()).min().unwrap(),
        cache: storage.stats(simulation.now()).cache.map(|stats| stats.counters),
        parity_writes: storage.stats(simulation.now()).array.map_or(0, |array| array.parity_writes),
    }
}

/// The sums of a run as its result has them; `measured_ns`: time that the run measured.
fn sums(result: &RunResult, measured_ns: Ns) -> Vec<(&'static str, u128)> {
    let gc = &result.gc;
    let states = [gc.state_ns.s0, gc.state_ns.s1, gc.state_ns.s2, gc.state_ns.s3].map(u128::from);
    let pool_ns: u128 = states.iter().sum();
    let shares = |shares: &[f64]| shares.iter().map(|share| (share * measured_ns as f64).round() as u128).sum::<u128>();
    vec![
        ("host_programs", result.flash.host_programs.into()),
        ("gc_programs", result.flash.gc_programs.into()),
        ("reads", result.flash.reads.into()),
        ("erases", result.flash.erases.into()),
        ("jobs", gc.jobs.into()),
        ("job_ns", gc.duration_ns.as_ref().map_or(0, |duration| (duration.mean * gc.jobs as f64).round() as u128)),
        ("merged", (gc.merged.read + gc.merged.write).into()),
        ("preemptions", gc.preemptions.into()),
        ("rmw_reads", result.counters["rmw_reads"].into()),
        ("page_order_waits", result.counters["page_order_waits"].into()),
        ("state_ns", pool_ns),
        ("s0", states[0]),
        ("gc_active_ns", gc.time_share.map_or(0, |share| (share * pool_ns as f64).round() as u128)),
        ("bus_ns", result.utilisation.as_ref().map_or(0, |utilisation| shares(&utilisation.channels))),
    ]
}

/// The statistics of requests are those of the completions from `first` on.
fn check_requests(found: &RunResult, completions: &[Completion], first: usize) {
    let measured = &completions[first..];
    let of = |kind: RequestKind| measured.iter().filter(move |completion| completion.kind == kind);
    for (kind, count, latency) in [
        (RequestKind::Read, found.requests.read, &found.latency_ns.read),
        (RequestKind::Write, found.requests.write, &found.latency_ns.write),
    ] {
        let times: Vec<u128> = of(kind).map(|completion| u128::from(completion.completed_ns - completion.arrival_ns)).collect();
        assert_eq!(count, times.len() as u64);
        let Some(Latency { count, mean, max, min, .. }) = latency else {
            assert!(times.is_empty());
            continue;
        };
        assert_eq!(
            (*count as usize, u128::from(*max), u128::from(*min)),
            (times.len(), *times.iter().max().unwrap(), *times.iter().min().unwrap())
        );
        assert_eq!(*mean, times.iter().sum::<u128>() as f64 / times.len() as f64);
    }
    assert_eq!(found.requests.trim as usize, of(RequestKind::Trim).count());
    assert_eq!(found.requests.flush as usize, of(RequestKind::Flush).count());
    let histograms = found.histograms.as_ref().unwrap();
    assert_eq!(histograms.read.count.iter().sum::<u64>(), found.requests.read);
    assert_eq!(histograms.write.count.iter().sum::<u64>(), found.requests.write);
}

/// Bytes of the writes from `first` on, and of those before that completed at `from_ns` or later.
fn written(completions: &[Completion], first: usize, from_ns: Ns) -> u64 {
    let counts = |(index, completion): &(usize, &Completion)| *index >= first || completion.completed_ns >= from_ns;
    let writes = completions.iter().enumerate().filter(|(_, completion)| completion.kind == RequestKind::Write);
    writes.filter(counts).map(|(_, completion)| completion.length).sum()
}

#[test]
fn a_warm_up_is_taken_out_of_every_statistic_exactly() {
    let (mut cached, mut arrays, mut jobs) = (0, 0, 0);
    for case in 0..60 {
        let mut rng = Rng::new(case, "warm-up");
        let config = random(&mut rng);
        let requests = random_requests(&mut rng, &config, 400);
        let until = 1 + rng.below(requests[399].arrival_ns);
        let (completions, whole) = run(&config, None, &requests);
        let (_, found) = run(&config, Some(WarmUp::Time(until)), &requests);
        let snapshot = snapshot(&config, &requests, until);

        assert_eq!((&found.digest, found.simulated_ns, &found.wear), (&whole.digest, whole.simulated_ns, &whole.wear), "case {case}");
        let warm_up = found.warm_up.unwrap();
        let first = requests.partition_point(|request| request.arrival_ns < until);
        assert_eq!((warm_up.ns, warm_up.requests), (until, first as u64), "case {case}");
        check_requests(&found, &completions, first);
        assert_eq!(found.bytes_written.host, written(&completions, first, until), "case {case}");
        let measured_ns = whole.simulated_ns - until;
        let (all, after) = (sums(&whole, whole.simulated_ns), sums(&found, measured_ns));
        for (((name, before), (_, all)), (_, after)) in snapshot.sums.iter().zip(all).zip(after) {
            // Shares and means come back rounded.
            assert!((before + after).abs_diff(all) <= 3, "case {case}: {name} is {after} after {before}, {all} in all");
        }
        let longest = |result: &RunResult| result.gc.duration_ns.as_ref().map_or(0, |duration| duration.max);
        assert_eq!(longest(&whole), longest(&found).max(snapshot.longest_job), "case {case}");
        assert_eq!(whole.gc.free_blocks_min, found.gc.free_blocks_min.min(snapshot.free_blocks_min), "case {case}");
        if let (Some(all), Some(after), Some(before)) = (&whole.cache, &found.cache, snapshot.cache) {
            cached += 1;
            assert_eq!(
                [all.lookups, all.evictions, all.destages],
                [after.lookups + before.lookups, after.evictions + before.evictions, after.destages + before.destages]
            );
            assert_eq!((after.dirty_pages, after.capacity_pages), (all.dirty_pages, all.capacity_pages));
            if config.array.level == ArrayLevel::None || config.cache.place == CachePlace::Array {
                let counts = [&after.response_ns.no_gc, &after.response_ns.gc].map(|part| part.as_ref().map_or(0, |part| part.count));
                assert_eq!(counts[0] + counts[1], found.requests.read + found.requests.write, "case {case}");
            }
        }
        if let (Some(all), Some(after)) = (&whole.array, &found.array) {
            arrays += 1;
            assert_eq!(
                (all.parity_writes, &all.level, all.drives),
                (after.parity_writes + snapshot.parity_writes, &after.level, after.drives)
            );
        }
        jobs += u64::from(found.gc.jobs > 0 && snapshot.longest_job > 0);
        // Series show everything, and where the warm-up ended.
        let (all, mut after) = (whole.series.unwrap(), found.series.unwrap());
        assert_eq!((all.warm_up_ns, after.warm_up_ns.take()), (None, Some(until)));
        assert_eq!(all, after);
    }
    assert!(cached >= 10 && arrays >= 5 && jobs >= 15, "{cached} with caches, {arrays} arrays, {jobs} with jobs in both parts");
}

#[test]
fn a_warm_up_of_requests_ends_when_the_next_one_arrives() {
    for case in 0..20 {
        let mut rng = Rng::new(case, "warm-up of requests");
        let config = random(&mut rng);
        let requests = random_requests(&mut rng, &config, 200);
        let count = 1 + rng.below(199);
        let (completions, whole) = run(&config, None, &requests);
        let (_, found) = run(&config, Some(WarmUp::Requests(count)), &requests);
        let warm_up = found.warm_up.unwrap();
        // Others may arrive at the same instant: they belong to the warm-up all the same.
        assert_eq!((warm_up.requests, warm_up.ns), (count, requests[count as usize].arrival_ns), "case {case}");
        assert_eq!(found.digest, whole.digest);
        check_requests(&found, &completions, count as usize);
        // What ended at that instant had ended before the request arrived.
        assert_eq!(found.bytes_written.host, written(&completions, count as usize, warm_up.ns + 1), "case {case}");
    }
}

#[test]
fn no_warm_up_is_one_of_no_length() {
    let mut rng = Rng::new(3, "no warm-up");
    let config = random(&mut rng);
    let requests = random_requests(&mut rng, &config, 200);
    let result = |warm_up| RunResult { wall_s: 0.0, prepare_s: 0.0, requests_per_s: None, ..run(&config, warm_up, &requests).1 };
    assert_eq!(result(None), result(Some(WarmUp::Requests(0))));
    assert_eq!(result(None), result(Some(WarmUp::Time(0))));
}

#[test]
fn a_warm_up_that_leaves_nothing_is_an_error_that_says_how_long_the_run_was() {
    let page =
        |arrival_ns| Request { arrival_ns, kind: RequestKind::Write, offset: 0, length: 4096, high_priority: false, flow: 0, handle: None };
    for (warm_up, asked) in [
        (WarmUp::Requests(2), "warm_up = 2 requests"),
        (WarmUp::Time(2_000_000_000), "warm_up = 2 s"),
        (WarmUp::Time(5_001), "warm_up = 0.000005001 s"),
    ] {
        let mut simulation = simulation(&one_die(), Some(warm_up), &[page(0), page(5_000)]);
        simulation.run_to_idle().unwrap();
        let message = simulation.finish().unwrap_err().to_string();
        assert!(message.starts_with(&format!("{asked}: the run ended after 2 requests and 0.0006")), "{message}");
    }
    let plan = Plan { requests: Some(100), warm_up: Some(WarmUp::Requests(100)), ..Plan::new(one_die(), 1) };
    let message = plan.check().unwrap_err().to_string();
    assert_eq!(message, "warm_up = 100 requests: the run has 100, so that none would be measured; take a shorter one");
}

#[test]
fn slack_of_the_warm_up_is_left_out() {
    let mut config = one_die();
    config.device.channels = 2;
    let page = u64::from(config.device.page_bytes);
    let write = |arrival_ns, pages| Request {
        arrival_ns,
        kind: RequestKind::Write,
        offset: 0,
        length: pages * page,
        high_priority: false,
        flow: 0,
        handle: None,
    };
    // Pages that wait for each other, then requests of one page each.
    let requests = [write(0, 3), write(10_000_000, 1), write(20_000_000, 1)];
    let slack = |warm_up| run(&config, warm_up, &requests).1.slack.write.unwrap().mean_ns;
    assert!(slack(None) > 0.0);
    assert_eq!(slack(Some(WarmUp::Requests(1))), 0.0);
    assert_eq!(slack(Some(WarmUp::Time(5_000_000))), 0.0);
}
