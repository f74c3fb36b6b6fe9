//! Which host operations a job keeps waiting, by `gc.scope`, and what it waits for itself.

use crate::common::{one_die, simulation};
use ssdlab::config::{Config, Frontier, PoolScope, PreconditionKind, Scope, Turns};
use ssdlab::request::{Request, RequestKind};
use ssdlab::simulation::Simulation;
use ssdlab::stats::Part;

const PAGE: u64 = 4096;
/// Two channels of two chips of two dies of two planes: 16 pools.
const POOLS: u64 = 16;

fn config(scope: Scope) -> Config {
    let mut config = one_die();
    config.device.channels = 2;
    config.device.chips_per_channel = 2;
    config.device.dies_per_chip = 2;
    config.device.planes_per_die = 2;
    config.device.copyback = true;
    // Pages follow each other in the order of planes, so that pool and residue of the page number are the same.
    config.ftl.allocation = "PDWC".parse().unwrap();
    config.ftl.pool = PoolScope::Plane;
    config.ftl.frontier = Frontier::Shared;
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config.gc.soft = 3.0;
    config.gc.scope = scope;
    config
}

fn request(arrival_ns: u64, kind: RequestKind, page: u64) -> Request {
    Request { arrival_ns, kind, offset: page * PAGE, length: PAGE, high_priority: false, flow: 0, handle: None }
}

/// Writes to `pool` after the last of which, at 4 ms, a job moves one page and erases: 1,725,000 ns. (See the timelines.)
fn writes(pool: u64) -> impl Iterator<Item = Request> {
    [0, 1, 2, 4, 5].into_iter().enumerate().map(move |(i, rank)| request(1_000_000 * i as u64, RequestKind::Write, rank * POOLS + pool))
}

fn submitted(config: &Config, requests: impl IntoIterator<Item = Request>) -> Simulation {
    let mut simulation = simulation(config);
    for request in requests {
        simulation.submit(request).unwrap();
    }
    simulation
}

#[test]
fn a_job_keeps_exactly_its_scope_waiting() {
    // Pool 6 is on channel 0, chip 1, die 3.
    let scopes = [
        (Scope::Device, 0..16),
        (Scope::Channel, 0..8),
        (Scope::Chip, 4..8),
        (Scope::Die, 6..8),
        (Scope::Plane, 6..7),
        (Scope::None, 0..0),
    ];
    for (scope, excluded) in scopes {
        for kind in [RequestKind::Read, RequestKind::Write] {
            for pool in 0..POOLS {
                // While the block is being erased (4,527,400 to 6,027,400), when no operation needs a bus.
                let probe = request(4_600_000, kind, 9 * POOLS + pool);
                let mut simulation = submitted(&config(scope), writes(6).chain([probe]));
                simulation.run_to_idle().unwrap();
                let done = simulation.take_completions();
                let last = done.iter().find(|completion| completion.index == 5).unwrap();
                let gc = last.parts().0[Part::Gc as usize];
                // The die itself is busy erasing, whatever is excluded.
                let waits = excluded.contains(&pool) || pool / 2 == 3;
                assert_eq!(gc, if waits { 1_427_400 } else { 0 }, "{scope:?}, {kind:?} in pool {pool}");
                simulation.finish().unwrap();
            }
        }
    }
}

#[test]
fn a_job_waits_for_the_host_operations_that_run_in_its_scope() {
    // Pool 10 is on the other channel, pool 2 on the other chip of the channel, pool 4 on the other die of the chip.
    let cases = [
        (Scope::Device, 10, true),
        (Scope::Channel, 10, false),
        (Scope::Channel, 2, true),
        (Scope::Chip, 2, false),
        (Scope::Chip, 4, true),
        (Scope::Die, 4, false),
        (Scope::Plane, 4, false),
        (Scope::None, 4, false),
    ];
    for (scope, pool, waits) in cases {
        // It begins before the job does, but ends after the write that starts the job.
        let mut config = config(scope);
        config.device.transfer_ps_per_byte = 0;
        let running = request(3_990_000, RequestKind::Read, 9 * POOLS + pool);
        config.device.read_ns = 400_000;
        let mut simulation = submitted(&config, [writes(6).take(4).collect(), vec![running], writes(6).skip(4).collect()].concat());
        // The write ends at 4,200,000, the read at 4,390,000; the job takes 400,000 + 200,000 + 1,500,000.
        let begins = if waits { 4_390_000 } else { 4_200_000 };
        simulation.run_until(begins + 2_100_000 - 1).unwrap();
        assert_eq!(simulation.ssd().counters().jobs, 0, "{scope:?}, pool {pool}");
        simulation.run_until(begins + 2_100_000).unwrap();
        assert_eq!(simulation.ssd().counters().jobs, 1, "{scope:?}, pool {pool}");
        simulation.finish().unwrap();
    }
}

#[test]
fn one_job_at_a_time_in_an_instance_of_the_scope() {
    let cases = [
        (Scope::Die, Turns::Step, 1_725_000, 0),
        (Scope::Plane, Turns::Step, 1_950_000, 0),
        // One job of the die after the other, whatever the scope.
        (Scope::Plane, Turns::Job, 1_725_000, 1),
        (Scope::Block, Turns::Job, 1_725_000, 1),
        (Scope::None, Turns::Job, 1_725_000, 1),
    ];
    for (scope, turns, first_ends, counted) in cases {
        let mut config = config(scope);
        config.gc.turns = turns;
        config.device.multiplane = true;
        // Both planes of a die, in one operation: both want collection when it begins at 4 ms; it ends at 4,404,800. Two jobs at once take turns.
        let mut simulation = submitted(&config, writes(6).map(|request| Request { length: 2 * PAGE, ..request }));
        simulation.run_until(4_404_800 + first_ends - 1).unwrap();
        assert_eq!(simulation.ssd().counters().jobs, 0, "{scope:?}");
        simulation.run_until(4_404_800 + first_ends).unwrap();
        // Another job waited for its turn when the first ended, and none when that did.
        assert_eq!((simulation.ssd().counters().jobs, simulation.ssd().counters().job_turns), (1, counted), "{scope:?}");
        simulation.run_until(4_404_800 + 2 * 1_725_000).unwrap();
        assert_eq!(simulation.ssd().counters().jobs, 2, "{scope:?}");
        assert_eq!(simulation.ssd().counters().job_turns, counted, "{scope:?} {turns:?}");
        simulation.finish().unwrap();
    }
}
