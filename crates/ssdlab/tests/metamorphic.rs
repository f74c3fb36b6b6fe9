//! Two runs that must agree: rules that follow from what docs/model says, over random drives and workloads. Each counts the cases in
//! which it had something to say.

use crate::common::cases::{Cases, Tally, is_full};
use crate::common::{mapping_units, random_cache, random_config, random_requests};
use ssdlab::config::presets::{self, Kind};
use ssdlab::config::*;
use ssdlab::geometry::Geometry;
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify};
use ssdlab::ssd::Counters;
use ssdlab::stats::Completion;
use ssdlab::units::Ns;

/// What a run did.
#[derive(Debug)]
struct Outcome {
    /// By request: its response time.
    responses: Vec<Ns>,
    counters: Counters,
    /// Time in S0 to S3.
    states: [Ns; 4],
}

impl Outcome {
    /// No pool wanted collection at any time.
    fn is_without_collection(&self) -> bool {
        self.states[1..] == [0; 3] && self.counters.jobs == 0
    }

    /// Some host operation was neither before nor after a page move, but with it.
    fn shares_moves(&self) -> bool {
        let Counters { merged_reads, merged_writes, pipelined_reads, pipelined_writes, overlapped_operations, reordered_moves, .. } =
            self.counters;
        [merged_reads, merged_writes, pipelined_reads, pipelined_writes, overlapped_operations, reordered_moves] != [0; 6]
    }

    /// Something was suspended, put aside, or given up because it was.
    fn suspends(&self) -> bool {
        let Counters { suspensions, moves_put_aside, discarded_moves, .. } = self.counters;
        [suspensions, moves_put_aside, discarded_moves] != [0; 3]
    }
}

/// Runs the requests.
fn run(config: &Config, requests: &[Request]) -> Result<Outcome, String> {
    let plan = Plan { verify: Verify::End, ..Plan::new(config.clone(), 7) };
    let mut simulation = Simulation::new(&plan, &Control::default()).map_err(|e| e.to_string())?;
    simulation.take_completions();
    for request in requests {
        simulation.submit(*request).map_err(|e| e.to_string())?;
    }
    simulation.run_to_idle().map_err(|e| e.to_string())?;
    let states = simulation.ssd().state_ns(simulation.now()).map(|ns| ns as u64);
    let counters = simulation.ssd().counters();
    let mut completions = simulation.take_completions();
    simulation.finish().map_err(|e| e.to_string())?;
    completions.sort_by_key(|completion| completion.index);
    let response = |completion: &Completion| completion.completed_ns - completion.arrival_ns;
    Ok(Outcome { responses: completions.iter().map(response).collect(), counters, states })
}

/// Two runs took the same time for every request.
fn same(what: &str, one: &(Config, Outcome), other: &(Config, Outcome)) -> Result<(), String> {
    let pairs = one.1.responses.iter().zip(&other.1.responses);
    let Some((request, (a, b))) = pairs.enumerate().find(|(_, (a, b))| a != b) else {
        return Ok(());
    };
    Err(format!("{what}: request {request} takes {a} ns and {b} ns\n{:#?}\n{:#?}\nagainst\n{:#?}\n{:#?}", one.0, one.1, other.0, other.1))
}

/// Runs a configuration and keeps it with what it did.
fn outcome(config: &Config, requests: &[Request]) -> Result<(Config, Outcome), String> {
    Ok((config.clone(), run(config, requests)?))
}

/// A drive and a workload of a case.
fn drawn(rule: &str, case: u64) -> (Rng, Config, Vec<Request>) {
    let mut rng = Rng::new(case, rule);
    let config = random_config(&mut rng);
    let count = 30 + rng.below(150);
    let requests = random_requests(&mut rng, &config, count);
    (rng, config, requests)
}

/// The requests that lie inside the drive, which has been changed since they were drawn.
fn inside(config: &Config, requests: Vec<Request>) -> Vec<Request> {
    let exported = Geometry::new(config).exported_bytes();
    requests.into_iter().filter(|request| request.offset + request.length <= exported).collect()
}

/// Checks a rule over random cases, and that it had something to say in enough of them.
fn holds(rule: &'static str, count: u64, enough: u64, check: impl Fn(u64) -> Result<bool, String> + Send + Sync + 'static) {
    let result = Cases::asked_for(count).run(move |case| Ok(Tally::from([(rule.to_string(), u64::from(check(case)?))])));
    let tally = result.unwrap_or_else(|failure| panic!("{rule}, case {} {}", failure.case, failure.reason));
    println!("{tally:?} of {count}");
    assert!(tally[rule] >= enough || !is_full(), "{tally:?}: fewer than {enough}");
}

/// The collection schemes that come with the program, and every victim policy and trigger by itself.
fn schemes(gc: &Gc) -> Vec<(String, Gc)> {
    let names = presets::list(Kind::Scheme).into_iter().map(|info| info.name);
    let preset = |name: String| {
        let config = Layers { schemes: vec![name.clone()], ..Layers::default() }.build().expect("a preset");
        (name, Gc { soft: gc.soft, ..config.gc })
    };
    let triggers = [Trigger::Soft, Trigger::Idle, Trigger::InvalidShare];
    let by_victim = Victim::ALL.iter().map(|&victim| (format!("{victim:?}"), Gc { victim, ..gc.clone() }));
    let by_trigger = triggers.map(|trigger| (format!("{trigger:?}"), Gc { trigger, idle_free: 1.0, ..gc.clone() }));
    names.map(preset).chain(by_victim).chain(by_trigger).collect()
}

#[test]
fn without_collection_all_schemes_are_one() {
    holds("without_collection", 300, 100, |case| {
        let (mut rng, mut config, requests) = drawn("schemes", case);
        // The untimed drive before the run collects by victim policy and trigger.
        config.ftl.precondition.kind = if rng.chance(0.5) { PreconditionKind::None } else { PreconditionKind::Fill };
        if config.ftl.allocation == Allocation::Dynamic {
            // Scope `block` has one more block open where the frontier is shared, and dynamic allocation leaves room for it.
            config.ftl.frontier = Frontier::Separate;
        }
        // Where transfers take no time, operations that are played in stages may tie with others in another order.
        config.device.transfer_ps_per_byte = config.device.transfer_ps_per_byte.max(1_000);
        config.device.overprovisioning = 0.7;
        config.gc.soft = 1.0;
        let mut requests = inside(&config, requests);
        requests.truncate(60);
        let mut base = config.clone();
        base.gc = Gc { soft: 1.0, ..Gc::default() };
        let base = outcome(&base, &requests)?;
        if !base.1.is_without_collection() {
            return Ok(false);
        }
        let mut compared = 0;
        for (name, gc) in schemes(&config.gc) {
            let possible = !gc.pipeline || config.device.cache_register;
            let other = Config { gc: Gc { pipeline: gc.pipeline && possible, ..gc }, ..config.clone() };
            let other = outcome(&other, &requests)?;
            if other.1.is_without_collection() {
                same(&name, &base, &other)?;
                compared += 1;
            }
        }
        Ok(compared > 20)
    });
}

#[test]
fn pgc_without_its_mechanisms_is_pgc_none() {
    let build = |scheme: &str, set: &[(&str, &str)]| {
        let set = set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        Layers { schemes: vec![scheme.into()], set, ..Layers::default() }.build().expect("a preset")
    };
    let off = [("gc.pipeline", "false"), ("gc.merge", "false")];
    assert_eq!(build("pgc", &off), build("pgc-none", &[]));
    assert_eq!(build("pgc", &off[..1]), build("pgc-merge", &[]));
    assert_eq!(build("pgc", &off[1..]), build("pgc-pipeline", &[]));
    assert_eq!(build("pgc-se", &[("gc.suspend", "[]")]), build("pgc", &[]));
    assert_eq!(build("fpgc", &[("gc.suspend", "[]")]), build("pgc", &[]));
}

/// Transfers take time.
fn timed(config: &mut Config) {
    config.device.command_ns = 100;
}

/// A random drive whose collection is preempted and never suspended.
fn preemptible(config: &mut Config) {
    timed(config);
    config.gc.scope = Scope::None;
    config.gc.suspend.clear();
    // Merging needs the data on the bus.
    config.device.copyback = false;
}

#[test]
fn merging_and_pipelining_that_do_not_happen_change_nothing() {
    holds("nothing_shared", 2_000, 200, |case| {
        let (_, mut config, requests) = drawn("shared", case);
        preemptible(&mut config);
        config.scheduler.pipeline = false;
        config.gc.merge = true;
        // A move that may be pipelined asks for the bus for its command while a read of its die is still on it, and has a better place in the
        // line even if it then begins no sooner.
        config.gc.pipeline = config.device.cache_register && config.device.read_command_ns == 0;
        let off = |c: &mut Config| (c.gc.merge, c.gc.pipeline) = (false, false);
        let on = idle_changes_nothing("nothing is merged or pipelined", &config, &requests, Outcome::shares_moves, off)?;
        Ok(on.is_some_and(|on| on.counters.pages_moved > 0))
    });
}

/// With turns a step that can be suspended does not go before the host, however short it is: to be suspendable makes a difference then.
fn without_turns(config: &mut Config) {
    if config.gc.advance == Advance::InTurns {
        config.gc.advance = Advance::WithRequests;
    }
}

#[test]
fn erases_too_short_to_be_suspended_are_as_good_as_not_suspendable() {
    holds("short_erases", 600, 200, |case| {
        let (_, mut config, requests) = drawn("erases", case);
        timed(&mut config);
        without_turns(&mut config);
        config.gc.scope = Scope::None;
        config.gc.suspend = vec![Suspendable::Erase];
        config.device.suspend_ns = 10_000_000;
        let with = outcome(&config, &requests)?;
        config.gc.suspend.clear();
        same("erases are too short to be suspended", &with, &outcome(&config, &requests)?)?;
        Ok(with.1.counters.erases > 0)
    });
}

#[test]
fn reads_too_short_to_be_suspended_are_as_good_as_not_suspendable() {
    holds("short_reads", 600, 150, |case| {
        let (_, mut config, requests) = drawn("reads", case);
        timed(&mut config);
        without_turns(&mut config);
        config.gc.scope = Scope::None;
        config.gc.suspend = vec![Suspendable::Read, Suspendable::Erase];
        // A write during a read that can be suspended never takes the move's place.
        config.gc.merge = false;
        config.device.suspend_ns = 10_000_000;
        let with = outcome(&config, &requests)?;
        if with.1.suspends() {
            return Ok(false);
        }
        config.gc.suspend.clear();
        let without = outcome(&config, &requests)?;
        // Where reads can be suspended a move is given its page, and takes a free block, only when its transfer in begins. S2 then begins later:
        // a high-priority write that arrives meanwhile does not enter S3, and goes behind others.
        if with.1.counters.s3_entries > 0 && with.1.states != without.1.states {
            return Ok(false);
        }
        same("reads are too short to be suspended", &with, &without)?;
        Ok(with.1.counters.pages_moved > 0)
    });
}

#[test]
fn a_second_register_matters_only_to_what_is_suspended() {
    holds("registers", 600, 100, |case| {
        let (_, mut config, requests) = drawn("registers", case);
        config.gc.priority = Priority::Host;
        config.device.page_registers = 2;
        let one = |c: &mut Config| c.device.page_registers = 1;
        let two = idle_changes_nothing("nothing is suspended", &config, &requests, Outcome::suspends, one)?;
        Ok(two.is_some_and(|two| two.counters.pages_moved > 0))
    });
}

#[test]
fn a_hard_threshold_that_is_never_reached_changes_nothing() {
    holds("hard", 1_500, 300, |case| {
        let (mut rng, mut config, requests) = drawn("hard", case);
        // A scope that excludes the pool shows as S3, whatever is free.
        config.gc.scope = if rng.chance(0.5) { Scope::None } else { Scope::Block };
        config.gc.hard = config.gc.hard.max(0.2);
        let reached = |hard: &Outcome| hard.states[2] > 0 || hard.counters.s3_entries > 0;
        let hard = idle_changes_nothing("T_hard is never reached", &config, &requests, reached, |c| c.gc.hard = 0.0)?;
        Ok(hard.is_some_and(|hard| hard.counters.jobs > 0))
    });
}

#[test]
fn on_one_die_wide_scopes_are_one() {
    holds("scopes", 400, 150, |case| {
        let (_, mut config, requests) = drawn("scopes", case);
        config.device.channels = 1;
        config.device.chips_per_channel = 1;
        config.device.dies_per_chip = 1;
        let requests = inside(&config, requests);
        config.gc.scope = Scope::Die;
        let die = outcome(&config, &requests)?;
        for scope in [Scope::Chip, Scope::Channel, Scope::Device] {
            config.gc.scope = scope;
            same("the scope is one die", &die, &outcome(&config, &requests)?)?;
        }
        Ok(die.1.counters.jobs > 0)
    });
}

/// Has everything that takes time take `times` as long.
fn slow_down(config: &mut Config, times: u64) {
    let device = &mut config.device;
    for ns in [&mut device.read_ns, &mut device.program_ns, &mut device.erase_ns, &mut device.command_ns, &mut device.suspend_ns] {
        *ns *= times;
    }
    device.transfer_ps_per_byte *= times;
    device.read_command_ns *= times;
    device.read_ns_by_page.iter_mut().chain(&mut device.program_ns_by_page).for_each(|ns| *ns *= times);
    config.gc.poll_ns *= times;
    config.gc.idle_us *= times;
}

#[test]
fn a_slower_drive_under_a_slower_load_is_the_same_drive() {
    const TIMES: u64 = 3;
    holds("slower", 1_000, 500, |case| {
        let (_, mut config, mut requests) = drawn("slower", case);
        // Nothing may be rounded: neither transfers nor the sixteenth of a timeout, nor estimates and the steps of a program.
        config.device.transfer_ps_per_byte -= config.device.transfer_ps_per_byte % 1_000;
        config.gc.idle_us *= 16;
        let Scheduler { order, pipeline, alpha, read_queue, write_queue, .. } = config.scheduler;
        config.scheduler = Scheduler { order, pipeline, alpha, read_queue, write_queue, ..Scheduler::default() };
        let mut fast = outcome(&config, &requests)?;
        slow_down(&mut config, TIMES);
        requests.iter_mut().for_each(|request| request.arrival_ns *= TIMES);
        let slow = outcome(&config, &requests)?;
        fast.1.responses.iter_mut().for_each(|ns| *ns *= TIMES);
        same("everything is slower", &fast, &slow)?;
        Ok(slow.1.counters.jobs > 0)
    });
}

#[test]
fn flushes_change_nothing() {
    holds("flushes", 600, 250, |case| {
        let (_, mut config, requests) = drawn("flushes", case);
        if config.gc.trigger == Trigger::Idle {
            // Requests of every kind end an idle time.
            config.gc.trigger = Trigger::Soft;
        }
        let mut with = outcome(&config, &requests)?;
        let is_flush = |request: &Request| request.kind == RequestKind::Flush;
        let mut kinds = requests.iter().map(is_flush);
        with.1.responses.retain(|_| !kinds.next().expect("a response for each request"));
        let others: Vec<Request> = requests.iter().filter(|request| !is_flush(request)).copied().collect();
        same("flushes are left out", &with, &outcome(&config, &others)?)?;
        Ok(others.len() < requests.len() && with.1.counters.jobs > 0)
    });
}

/// Plays a case twice; the change must not show in any response time. Returns what the first run did.
fn changes_nothing(what: &str, config: &Config, requests: &[Request], change: impl FnOnce(&mut Config)) -> Result<Outcome, String> {
    let first = idle_changes_nothing(what, config, requests, |_| false, change)?;
    Ok(first.expect("any first run will do"))
}

/// Plays a case twice, as [`changes_nothing`], where what the change takes away did not act in the first run; `None` where it did.
fn idle_changes_nothing(
    what: &str,
    config: &Config,
    requests: &[Request],
    acted: impl FnOnce(&Outcome) -> bool,
    change: impl FnOnce(&mut Config),
) -> Result<Option<Outcome>, String> {
    let one = outcome(config, requests)?;
    if acted(&one.1) {
        return Ok(None);
    }
    let mut changed = config.clone();
    change(&mut changed);
    same(what, &one, &outcome(&changed, requests)?)?;
    Ok(Some(one.1))
}

#[test]
fn without_collection_who_sets_it_off_how_long_it_lasts_and_how_it_advances_do_not_matter() {
    holds("axes_without_collection", 300, 100, |case| {
        let (mut rng, mut config, requests) = drawn("axes", case);
        config.ftl.precondition.kind = if rng.chance(0.5) { PreconditionKind::None } else { PreconditionKind::Fill };
        config.device.overprovisioning = 0.7;
        config.gc = Gc { soft: 1.0, scope: config.gc.scope, priority: config.gc.priority, ..Gc::default() };
        let mut requests = inside(&config, requests);
        requests.truncate(60);
        let base = outcome(&config, &requests)?;
        if !base.1.is_without_collection() {
            return Ok(false);
        }
        for begin in [Begin::Frontier, Begin::Request, Begin::Write] {
            for (until, advance, turns) in [(0, Advance::WithRequests, Turns::Job), (2, Advance::Alone, Turns::Step)] {
                config.gc = Gc { begin, until, advance, turns, ..config.gc };
                let other = outcome(&config, &requests)?;
                if !other.1.is_without_collection() {
                    return Err(format!("collection begins with {:?}", config.gc));
                }
                same("nothing is collected", &base, &other)?;
            }
        }
        Ok(true)
    });
}

/// Spare blocks for pools that are one plane.
fn with_room(config: &mut Config) {
    config.device.overprovisioning = 6.0 / f64::from(config.device.blocks_per_plane);
}

#[test]
fn with_one_pool_a_die_jobs_have_nobody_to_take_turns_with() {
    holds("turns", 400, 150, |case| {
        let (_, mut config, requests) = drawn("turns", case);
        config.device.planes_per_die = 1;
        config.device.multiplane = false;
        with_room(&mut config);
        config.gc.turns = Turns::Step;
        let requests = inside(&config, requests);
        let outcome = changes_nothing("a die has one pool", &config, &requests, |c| c.gc.turns = Turns::Job)?;
        Ok(outcome.counters.jobs > 0)
    });
}

#[test]
fn a_scope_of_a_die_or_more_has_one_job_anyway() {
    holds("turns_of_wide_scopes", 400, 150, |case| {
        let (mut rng, mut config, requests) = drawn("wide", case);
        let scopes = [Scope::Die, Scope::Chip, Scope::Channel, Scope::Device];
        config.gc.scope = scopes[rng.below(4) as usize];
        (config.gc.turns, config.gc.advance, config.gc.moves_in_flight) = (Turns::Step, Advance::Alone, 1);
        // Nor does a host operation begin there that could let a job take a step.
        let change = |c: &mut Config| (c.gc.turns, c.gc.advance) = (Turns::Job, Advance::WithRequests);
        let outcome = changes_nothing("the scope has one job", &config, &requests, change)?;
        Ok(outcome.counters.jobs > 0)
    });
}

#[test]
fn where_only_writes_come_any_request_sets_collection_off_as_a_write_does() {
    holds("begin_of_writes", 600, 150, |case| {
        let (_, mut config, mut requests) = drawn("writes", case);
        config.ftl.partial_write = PartialWrite::Program;
        config.gc.begin = Begin::Request;
        requests.retain(|request| request.kind != RequestKind::Read);
        let outcome = changes_nothing("whoever waits is a write", &config, &requests, |c| c.gc.begin = Begin::Write)?;
        Ok(outcome.counters.jobs_set_off > 0)
    });
}

#[test]
fn an_episode_of_single_jobs_is_none() {
    holds("single_jobs", 1_500, 60, |case| {
        let (_, mut config, requests) = drawn("episodes", case);
        // Other scopes let the host through between two jobs, unless an episode goes on, though nothing is left to be gained.
        config.gc.scope = Scope::None;
        config.gc.turns = Turns::Step;
        config.gc.until = 1;
        if validate(&config).is_err() {
            return Ok(false);
        }
        let followed = |episodes: &Outcome| episodes.counters.episode_jobs > 0;
        let episodes = idle_changes_nothing("no job follows another", &config, &requests, followed, |c| c.gc.until = 0)?;
        Ok(episodes.is_some_and(|episodes| episodes.counters.jobs > 0))
    });
}

#[test]
fn reads_that_lie_at_one_offset_anyway_join_as_without_the_rule() {
    holds("aligned_reads", 1_000, 50, |case| {
        let (_, mut config, requests) = drawn("aligned", case);
        config.ftl.pool = PoolScope::Plane;
        config.device.multiplane = true;
        config.device.planes_per_die = config.device.planes_per_die.max(2);
        with_room(&mut config);
        config.device.multiplane_aligned_reads = true;
        let requests = inside(&config, requests);
        let misaligned = |aligned: &Outcome| aligned.counters.misaligned_reads > 0;
        let off = |c: &mut Config| c.device.multiplane_aligned_reads = false;
        let aligned = idle_changes_nothing("no read is misaligned", &config, &requests, misaligned, off)?;
        Ok(aligned.is_some_and(|aligned| aligned.counters.multiplane_operations > 0))
    });
}

/// A drive that maps units below the page, and transfers them alone.
fn with_partial_reads(rule: &str, case: u64) -> Option<(Config, Vec<Request>)> {
    let (rng, mut config, requests) = drawn(rule, case);
    mapping_units(&rng, &mut config);
    timed(&mut config);
    // So that each of up to eight parts of a page takes a whole number of nanoseconds.
    config.device.transfer_ps_per_byte = 16_000;
    config.device.partial_reads = true;
    config.reads_parts().then(|| (config.clone(), inside(&config, requests)))
}

#[test]
fn reads_of_whole_pages_take_as_long_where_parts_of_them_would_not() {
    holds("whole_pages", 800, 50, |case| {
        let Some((config, mut requests)) = with_partial_reads("whole", case) else { return Ok(false) };
        let page = u64::from(config.device.page_bytes);
        for request in &mut requests {
            let end = (request.offset + request.length).next_multiple_of(page);
            request.offset -= request.offset % page;
            request.length = end - request.offset;
        }
        let requests = inside(&config, requests);
        let acted = |parts: &Outcome| parts.counters.partial_reads > 0;
        let off = |c: &mut Config| c.device.partial_reads = false;
        let whole = idle_changes_nothing("no read is of a part of a page", &config, &requests, acted, off)?;
        Ok(whole.is_some_and(|whole| whole.counters.reads_along > 0))
    });
}

#[test]
fn reads_of_one_unit_each_take_as_long_as_those_of_pages_on_a_faster_bus() {
    holds("single_units", 600, 100, |case| {
        let Some((mut config, mut requests)) = with_partial_reads("single", case) else { return Ok(false) };
        config.ftl.precondition.kind = PreconditionKind::Fill;
        // Estimates take the transfer of a page for that of a part.
        config.scheduler = Scheduler { pipeline: config.scheduler.pipeline, ..Scheduler::default() };
        let unit = u64::from(config.map_unit_bytes());
        for request in &mut requests {
            request.kind = RequestKind::Read;
            request.offset -= request.offset % unit;
            request.length = unit;
        }
        let mut faster = config.clone();
        faster.device.partial_reads = false;
        faster.device.transfer_ps_per_byte /= u64::from(config.units_per_page());
        let parts = outcome(&config, &requests)?;
        same("a unit takes the time of a page on a faster bus", &parts, &outcome(&faster, &requests)?)?;
        Ok(parts.1.counters.partial_reads == parts.1.counters.host_reads && parts.1.counters.jobs == 0)
    });
}

#[test]
fn where_nobody_else_wants_the_bus_a_read_command_is_a_longer_read() {
    const COMMAND_NS: Ns = 3_000;
    holds("read_commands", 600, 200, |case| {
        let (_, mut config, requests) = drawn("commands", case);
        timed(&mut config);
        let device = &mut config.device;
        // One die a channel, whose operations follow one another.
        (device.chips_per_channel, device.dies_per_chip) = (1, 1);
        (device.cache_register, device.multiplane, device.read_command_ns) = (false, false, 0);
        (config.gc.pipeline, config.scheduler.pipeline) = (false, false);
        // A command is not suspended, and reads in pauses find data in registers.
        config.gc.suspend.retain(|&kind| kind != Suspendable::Read);
        config.scheduler.write_pausing = false;
        let requests = inside(&config, requests);
        let mut commands = config.clone();
        commands.device.read_command_ns = COMMAND_NS;
        config.device.read_ns += COMMAND_NS;
        config.device.read_ns_by_page.iter_mut().for_each(|ns| *ns += COMMAND_NS);
        let commands = outcome(&commands, &requests)?;
        same("commands have the bus to themselves", &commands, &outcome(&config, &requests)?)?;
        Ok(commands.1.counters.read_commands > 0 && commands.1.counters.jobs > 0)
    });
}

#[test]
fn on_one_pool_a_block_of_a_chip_is_a_run_of_addresses() {
    holds("groups", 400, 100, |case| {
        let (mut rng, mut config, requests) = drawn("groups", case);
        let device = &mut config.device;
        (device.channels, device.chips_per_channel, device.dies_per_chip) = (1, 1, 1);
        config.ftl.pool = PoolScope::Die;
        config.device.multiplane = false;
        random_cache(&mut rng, &mut config);
        config.cache.policy = if rng.chance(0.5) { CachePolicy::Bplru } else { CachePolicy::Fab };
        config.cache.gc_aware = false;
        config.cache.group = CacheGroup::Chip;
        let requests = inside(&config, requests);
        let outcome = changes_nothing("all pages are of one pool", &config, &requests, |c| c.cache.group = CacheGroup::Contiguous)?;
        Ok(outcome.counters.host_programs > 0)
    });
}
