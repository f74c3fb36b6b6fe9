//! Random drives, random points of the policy space, random workloads: every invariant after every event.

mod common;

use common::{random_config, random_requests};
use ssdlab::config::Config;
use ssdlab::config::UnmappedRead;
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify};
use ssdlab::stats::RunResult;
use ssdlab::units::{ChannelId, Lpn};

/// Runs the requests and returns the result, with every invariant checked at every event.
fn run(config: &Config, requests: &[Request], every_stage: bool) -> Result<RunResult, String> {
    let plan =
        Plan { config: config.clone(), seed: 7, requests: None, verify: Verify::Every, request_log: None, state: None, victim: None };
    let mut simulation = Simulation::new(&plan, &Control::default()).map_err(|e| e.to_string())?;
    if every_stage {
        simulation.ssd_mut().play_every_stage();
    }
    for request in requests {
        simulation.submit(*request).map_err(|e| e.to_string())?;
    }
    let had_data: Vec<bool> = pages(&simulation).map(|lpn| simulation.ssd().ftl().lookup(lpn).is_some()).collect();
    simulation.run_to_idle().map_err(|e| e.to_string())?;
    agrees(&simulation, config, requests, had_data)?;
    simulation.finish().map_err(|e| e.to_string())
}

fn pages(simulation: &Simulation) -> impl Iterator<Item = Lpn> + use<> {
    (0..simulation.ssd().ftl().geometry().exported_pages).map(Lpn)
}

/// What follows from the requests alone, whatever the drive did: which pages hold data, and how often flash was used for the host.
fn agrees(simulation: &Simulation, config: &Config, requests: &[Request], mut has_data: Vec<bool>) -> Result<(), String> {
    let page = u64::from(config.device.page_bytes);
    let (mut read_pages, mut written_pages) = (0, 0);
    for request in requests {
        let end = request.offset + request.length;
        let touched = (request.offset / page) as usize..end.div_ceil(page) as usize;
        match request.kind {
            RequestKind::Read => read_pages += touched.len() as u64,
            RequestKind::Write => {
                written_pages += touched.len() as u64;
                has_data[touched].fill(true);
            }
            RequestKind::Trim => (request.offset.div_ceil(page)..end / page).for_each(|lpn| has_data[lpn as usize] = false),
            RequestKind::Flush => {}
        }
    }
    let ssd = simulation.ssd();
    if let Some(lpn) = pages(simulation).find(|&lpn| ssd.ftl().lookup(lpn).is_some() != has_data[lpn.index()]) {
        return Err(format!("page {lpn} should hold data: {}", has_data[lpn.index()]));
    }
    let counters = ssd.counters();
    let without_flash =
        counters.buffer_reads + if config.ftl.unmapped_read == UnmappedRead::Immediate { counters.unmapped_reads } else { 0 };
    let counted = (counters.host_programs, counters.host_reads + counters.merged_reads + without_flash);
    if counted != (written_pages, read_pages + counters.rmw_reads) {
        return Err(format!("{written_pages} pages were written and {read_pages} read: {counters:?}"));
    }
    let erased: u64 = ssd.ftl().blocks().erases().iter().map(|&count| u64::from(count)).sum();
    let states: u64 = ssd.state_ns(simulation.now()).iter().sum();
    if states != simulation.now() * u64::from(ssd.ftl().geometry().pools.count.get()) {
        return Err(format!("the times in the states add up to {states} ns, not to the pools' {} ns each", simulation.now()));
    }
    if counters.jobs != counters.erases || erased < counters.erases || counters.stale_moves > counters.pages_moved {
        return Err(format!("{erased} erases on blocks: {counters:?}"));
    }
    let (now, geometry) = (simulation.now(), ssd.ftl().geometry());
    let chips = (0..geometry.chips).map(|chip| ssd.chip_busy_ns(chip, now) / u64::from(geometry.dies_per_chip.get()));
    let buses = (0..geometry.channels).map(|channel| ssd.bus_busy_ns(ChannelId(channel), now));
    match chips.chain(buses).chain([ssd.gc_active_ns(now) / u64::from(geometry.pools.count.get())]).find(|&busy| busy > now) {
        Some(busy) => Err(format!("busy for {busy} of {now} ns")),
        None => Ok(()),
    }
}

fn cases() -> u64 {
    std::env::var("SWARM").ok().and_then(|n| n.parse().ok()).unwrap_or(400)
}

#[test]
fn random_drives_keep_every_invariant() {
    let mut fired = std::collections::BTreeMap::<String, u64>::new();
    let first = std::env::var("SWARM_FIRST").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    for case in first..first + cases() {
        let mut rng = Rng::new(case, "swarm");
        let config = random_config(&mut rng);
        let count = 30 + rng.below(150);
        let requests = random_requests(&mut rng, &config, count);
        let result = std::panic::catch_unwind(|| run(&config, &requests, false))
            .unwrap_or_else(|_| panic!("case {case} panicked\n{config:#?}"))
            .unwrap_or_else(|error| panic!("case {case}: {error}\n{config:#?}"));
        assert_eq!(result.requests.total(), count, "case {case}");
        // Playing undisturbed operations in one piece changes nothing.
        let staged = run(&config, &requests, true).expect("the same run");
        assert_eq!(result.digest, staged.digest, "case {case}\n{config:#?}");
        assert_eq!(result.breakdown_ns, staged.breakdown_ns, "case {case}\n{config:#?}");
        for (name, count) in result.counters {
            *fired.entry(name).or_default() += count;
        }
        *fired.entry("jobs".into()).or_default() += result.gc.jobs;
        *fired.entry("stale_moves".into()).or_default() += result.gc.stale_moves;
        let gc = &result.gc;
        let more = [
            ("merged_reads", gc.merged.read),
            ("merged_writes", gc.merged.write),
            ("pipelined_reads", gc.pipelined.read),
            ("pipelined_writes", gc.pipelined.write),
            ("preemptions", gc.preemptions),
            ("suspensions", gc.suspensions),
            ("s2_ns", gc.state_ns.s2),
            ("s3_ns", gc.state_ns.s3),
        ];
        more.into_iter().for_each(|(name, count)| *fired.entry(name.into()).or_default() += count);
    }
    println!("{fired:?}");
    for (name, count) in fired {
        assert!(count > 0, "{name} never fired");
    }
}
