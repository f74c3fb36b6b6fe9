//! What awareness of collection costs (wu2017): the drive of the paper with a cache of 32 MiB under `lru` and the same with `gc_aware`, and the cache
//! by itself, where an eviction passes over thousands of pages.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]

use std::time::Instant;

use ssdlab::cache::replay::{Change, replay};
use ssdlab::caller::Caller;
use ssdlab::config::{CachePolicy, Config, Layers};
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, run};

/// Number of turns, the best of which counts: other work on the machine only ever makes a turn slower.
const TURNS: u32 = 5;
const REQUESTS: u64 = 100_000;
/// Single pages written to the cache by itself.
const PAGES: u64 = 2_000_000;

fn main() {
    let best = |time: fn(CachePolicy, bool) -> f64, policy| {
        (0..TURNS)
            .map(|_| (time(policy, false), time(policy, true)))
            .fold((f64::INFINITY, f64::INFINITY), |best, turn| (best.0.min(turn.0), best.1.min(turn.1)))
    };
    println!("A cache of 32 MiB, best of {TURNS} turns");
    for (name, policy) in
        [("lru", CachePolicy::Lru), ("cflru", CachePolicy::Cflru), ("bplru", CachePolicy::Bplru), ("fab", CachePolicy::Fab)]
    {
        let (plain, aware) = best(run_s, policy);
        let asked = if policy == CachePolicy::Lru { " (asked: at most 1.3)" } else { "" };
        println!(
            "  wu2017 drive, {REQUESTS} requests, {name:<6} {plain:>6.3} s, gc-aware {aware:>6.3} s: {:>5.2} times{asked}",
            aware / plain
        );
        let (plain, aware) = best(replay_s, policy);
        let (plain, aware) = (plain * 1e9 / PAGES as f64, aware * 1e9 / PAGES as f64);
        println!(
            "  by itself, {name:<6} {plain:>4.0} ns a page; gc-aware with one home of seven in GC {aware:>4.0} ns: {:>5.2} times",
            aware / plain
        );
    }
}

fn config(policy: CachePolicy, gc_aware: bool) -> Config {
    let mut layers = Layers { device: Some("wu2017".into()), workload: Some("wu2017-synthetic".into()), ..Layers::default() };
    layers.schemes = vec!["npgc".into()];
    let mut config = layers.build().expect("presets fit together");
    config.cache.policy = policy;
    config.cache.bytes = 32 << 20;
    config.cache.gc_aware = gc_aware;
    config
}

fn run_s(policy: CachePolicy, gc_aware: bool) -> f64 {
    let plan = Plan { requests: Some(REQUESTS), ..Plan::new(config(policy, gc_aware), 1) };
    run(&plan, &Control::default()).expect("a run").wall_s
}

/// Random pages; every thousand requests another home is in GC. With awareness its pages gather at the eviction end.
fn replay_s(policy: CachePolicy, gc_aware: bool) -> f64 {
    const HOMES: u32 = 7;
    let mut rng = Rng::new(1, "benchmark");
    let write =
        |offset| Request { arrival_ns: 0, kind: RequestKind::Write, offset, length: 4096, high_priority: false, flow: 0, handle: None };
    let requests: Vec<Request> = (0..PAGES).map(|_| write(rng.below(700_000) * 4096)).collect();
    let changes: Vec<Change> = (0..PAGES / 1000)
        .flat_map(|turn| {
            let (request, home) = (turn * 1000, (turn % u64::from(HOMES)) as u32);
            [Change { request, target: (home + HOMES - 1) % HOMES, in_gc: false }, Change { request, target: home, in_gc: true }]
        })
        .collect();
    let config = config(policy, gc_aware);
    let started = Instant::now();
    let replayed = replay(&config, &requests, &changes, None, &Caller::default()).expect("a replay");
    assert_eq!(replayed.counters.gc_skips > 0, gc_aware);
    started.elapsed().as_secs_f64()
}
