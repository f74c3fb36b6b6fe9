//! Who sets collection off, how long it lasts, and whether it advances with requests: timelines worked by hand to the nanosecond. The drive and
//! its beginning are those of `common::timeline`; the stages of a job are those of `preemption.rs`.

use ssdlab::config::{Advance, Begin, Config, Layers, PoolScope, Priority, Scope, Suspendable, Trigger};

use crate::common::timeline::*;

/// A page that no job of these cases moves before a request for it.
const Z: u64 = 9;
const Z3: u64 = 13;
/// One block is left without valid pages, three pages are left in the next: 5, 6 and 7 are moved.
const ONE_BLOCK_INVALID: [u64; 5] = [0, 1, 2, 3, 4];
/// Two moves and the erase.
const JOB_NS: u64 = 2_359_600;

fn non_preemptible(config: &mut Config) {
    config.gc.scope = Scope::Chip;
    config.gc.priority = Priority::Gc;
}

fn npgc(begin: Begin) -> Config {
    preemptible(|c| {
        non_preemptible(c);
        c.gc.begin = begin;
    })
}

fn with_requests(change: impl FnOnce(&mut Config)) -> Config {
    preemptible(|c| {
        c.gc.advance = Advance::WithRequests;
        change(c);
    })
}

fn pairing(config: &mut Config) {
    config.device.cache_register = true;
    config.gc.pipeline = true;
}

/// A job that begins at `at`.
fn job(at: u64) -> Vec<Stage> {
    [page_move(at), page_move(at + 429_800), erase(at + 859_600)].concat()
}

/// The read of a page move and its transfers, after which it stops at A.
fn to_point_a(at: u64) -> Vec<Stage> {
    [host_read(at), b(at + 127_400, at + 229_800)].concat()
}

#[test]
fn a_waiting_operation_sets_collection_off_and_waits_for_it() {
    play(vec![
        Case::new("begin = request: nothing is collected until a write waits; that write waits for the job", npgc(Begin::Request))
            .write(300_000, Z, 2_962_000, gc(JOB_NS, &WRITE))
            .stages(4_000_000, &[job(300_000), host_write(2_659_600)])
            .counts(&[("jobs_set_off", 1), ("erases", 1)]),
        Case::new("so does a read", npgc(Begin::Request))
            .read(300_000, Z, 2_787_000, gc(JOB_NS, &READ))
            .stages(4_000_000, &[job(300_000), host_read(2_659_600)])
            .counts(&[("jobs_set_off", 1)]),
        Case::new("begin = write: a read does not set it off, a write does", npgc(Begin::Write))
            .read(300_000, Z, 427_400, READ)
            .write(500_000, Z3, 3_162_000, gc(JOB_NS, &WRITE))
            .stages(4_000_000, &[host_read(300_000), job(500_000), host_write(2_859_600)])
            .counts(&[("jobs_set_off", 1)]),
        Case::new(
            "begin = request without exclusion: the request goes first, then the job it has set off",
            preemptible(|c| c.gc.begin = Begin::Request),
        )
        .write(300_000, Z, 602_400, WRITE)
        .stages(2_962_000, &[host_write(300_000), job(602_400)])
        .counts(&[("jobs_set_off", 1), ("preemptions", 1)]),
        Case::new(
            "begin = frontier: the write that takes the block does, and what comes after the job does not wait",
            npgc(Begin::Frontier),
        )
        .write(300_000, Z, 2_662_000, gc(JOB_NS - 300_000, &WRITE))
        .stages(2_662_000, &[job(0), host_write(JOB_NS)]),
    ]);
}

#[test]
fn an_episode_collects_block_after_block() {
    let until = |blocks: u32| {
        one_job(|c| {
            non_preemptible(c);
            c.gc.until = blocks;
        })
    };
    let second_job = |at: u64| [page_move(at), page_move(at + 429_800), page_move(at + 859_600), erase(at + 1_289_400)].concat();
    play(vec![
        Case::new("until = 0: three blocks are free after one job, and the write goes", until(0))
            .beginning(&ONE_BLOCK_INVALID)
            .write(300_000, Z, 1_802_400, gc(1_200_000, &WRITE))
            .stages(1_802_400, &[erase(0), host_write(1_500_000)]),
        Case::new("until = 1: a fourth is asked for, and the write waits for that too", until(1))
            .beginning(&ONE_BLOCK_INVALID)
            .write(300_000, Z, 4_591_800, gc(3_989_400, &WRITE))
            .stages(4_591_800, &[erase(0), second_job(1_500_000), host_write(4_289_400)])
            .counts(&[("episode_jobs", 1), ("erases", 2)]),
        Case::new("until = 1 where nothing is excluded: the write preempts between the two jobs", one_job(|c| c.gc.until = 1))
            .beginning(&ONE_BLOCK_INVALID)
            .write(300_000, Z, 1_802_400, gc(1_200_000, &WRITE))
            .stages(4_591_800, &[erase(0), host_write(1_500_000), second_job(1_802_400)])
            .counts(&[("episode_jobs", ANY), ("preemptions", 1), ("erases", 2)]),
        Case::new("the layer msr: the first request after the block was taken waits for the whole episode", {
            one_job(|c| {
                non_preemptible(c);
                (c.gc.begin, c.gc.until) = (Begin::Request, 1);
            })
        })
        .beginning(&ONE_BLOCK_INVALID)
        .write(300_000, Z, 4_891_800, gc(4_289_400, &WRITE))
        .stages(6_000_000, &[erase(300_000), second_job(1_800_000), host_write(4_589_400)])
        .counts(&[("jobs_set_off", 1), ("episode_jobs", 1)]),
    ]);
}

#[test]
fn collection_advances_with_requests() {
    play(vec![
        Case::new("without a request nothing goes on", with_requests(|_| ())).stages(9_000_000, &[]).counts(&[("erases", 0)]),
        Case::new("a write at B lets the page be read after it; the next waits at A for the program", with_requests(|_| ()))
            .write(300_000, Z, 602_400, WRITE)
            .write(1_000_000, Z3, 1_502_400, gc(200_000, &WRITE))
            .stages(9_000_000, &[host_write(300_000), to_point_a(602_400), a(1_000_000, 1_200_000), host_write(1_200_000)])
            .counts(&[("steps_with_requests", 2), ("pages_moved", 1)]),
        Case::new("with pipelining the write at A is transferred meanwhile", with_requests(pairing))
            .write(300_000, Z, 602_400, WRITE)
            .write(1_000_000, Z3, 1_400_000, [WRITE[0], (ssdlab::stats::Part::Gc, 97_600), WRITE[1]])
            .stages(
                9_000_000,
                &[host_write(300_000), to_point_a(602_400), b(1_000_000, 1_102_400), a(1_000_000, 1_200_000), a(1_200_000, 1_400_000)],
            )
            .counts(&[("steps_with_requests", 2), ("pipelined_writes", 1), ("pages_moved", 1)]),
        Case::new("a read at B is pipelined with the move's read; one at A waits for the program", with_requests(pairing))
            .read(300_000, Z, 427_400, READ)
            .read(1_000_000, Z3, 1_327_400, gc(200_000, &READ))
            .stages(
                9_000_000,
                &[
                    host_read(300_000),
                    a(325_000, 350_000),
                    b(427_400, 529_800),
                    b(529_800, 632_200),
                    a(1_000_000, 1_200_000),
                    host_read(1_200_000),
                ],
            )
            .counts(&[("steps_with_requests", 2), ("pipelined_reads", 1), ("pages_moved", 1)]),
        Case::new("below T_hard nothing but collection helps the write: it goes on alone", {
            one_job(|c| (c.gc.advance, c.gc.hard) = (Advance::WithRequests, 1.0))
        })
        .write(300_000, Z, 2_962_000, gc(JOB_NS, &WRITE))
        .stages(9_000_000, &[job(300_000), host_write(2_659_600)])
        .counts(&[("steps_without_requests", 5), ("pages_moved", 2)]),
    ]);
}

/// Of two jobs on one die that of plane 0 has read its pages 4 and 6 with two reads of the host, and that of plane 1 has been ready for
/// longer. The write has merged with page 4 in the controller's buffer and waits in no queue: only the program of that page helps it.
#[test]
fn a_job_that_carries_a_write_goes_on_beside_one_that_waits() {
    let config = preemptible(|c| {
        (c.device.planes_per_die, c.device.multiplane, c.ftl.pool) = (2, true, PoolScope::Plane);
        (c.gc.advance, c.gc.moves_in_flight, c.gc.merge) = (Advance::WithRequests, 2, true);
    });
    play(vec![
        Case::new("the program of the page that a write has merged with needs no request", config)
            .on_two_planes()
            .read(300_000, Z, 427_400, READ)
            .read(1_000_000, Z, 1_127_400, READ)
            .write(2_000_000, 4, 2_302_400, WRITE)
            .stages(9_000_000, &[host_read(300_000), host_read(427_400), host_read(1_000_000), host_read(1_127_400), host_write(2_000_000)])
            .counts(&[("merged_writes", 1), ("steps_with_requests", 2), ("steps_without_requests", 1)]),
    ]);
}

#[test]
fn collection_and_requests_take_turns() {
    let in_turns = |change: fn(&mut Config)| {
        with_requests(|c| {
            c.gc.advance = Advance::InTurns;
            change(c);
        })
    };
    play(vec![
        Case::new("after a write it is the turn of the job: the next waits for the page's move", in_turns(|_| ()))
            .write(300_000, Z, 602_400, WRITE)
            .write(602_400, Z3, 1_334_600, gc(429_800, &WRITE))
            .stages(9_000_000, &[host_write(300_000), to_point_a(602_400), a(832_200, 1_032_200), host_write(1_032_200)])
            .counts(&[("steps_in_turn", 1), ("steps_with_requests", 2), ("pages_moved", 1)]),
        Case::new("with-requests alone: the next write goes first, and both steps follow", with_requests(|_| ()))
            .write(300_000, Z, 602_400, WRITE)
            .write(602_400, Z3, 904_800, WRITE)
            .stages(9_000_000, &[host_write(300_000), host_write(602_400), page_move(904_800)])
            .counts(&[("steps_with_requests", 2), ("pages_moved", 1), ("preemptions", ANY)]),
        Case::new("a step that the write could suspend lets it go first", in_turns(|c| c.gc.suspend = vec![Suspendable::Read]))
            .write(300_000, Z, 602_400, WRITE)
            .write(602_400, Z3, 904_800, WRITE)
            .stages(9_000_000, &[host_write(300_000), host_write(602_400), page_move(904_800)])
            .counts(&[("steps_with_requests", 2), ("pages_moved", 1), ("preemptions", ANY)]),
    ]);
}

#[test]
fn with_suspension_a_step_is_paid_for_once() {
    let suspending = || with_requests(|c| c.gc.suspend = vec![Suspendable::Program]);
    play(vec![
        Case::new("at A the move is suspended for the write, whose step is the program", suspending())
            .write(300_000, Z, 602_400, WRITE)
            // At A the move is suspended, not waited for; after the write its program follows.
            .write(1_000_000, Z3, 1_302_400, WRITE)
            .stages(9_000_000, &[host_write(300_000), to_point_a(602_400), host_write(1_000_000), a(1_302_400, 1_502_400)])
            .counts(&[("steps_with_requests", 2), ("pages_moved", 1)]),
    ]);
}

#[test]
fn a_job_keeps_no_more_steps_than_it_has_left() {
    // Two moves and an erase are five steps. Seven reads of other pages come at once and go first.
    let reads = |case: Case| (0..7).fold(case, |case, i| case.read(300_000, Z, 300_000 + (i + 1) * 127_400, behind_host(i * 127_400)));
    let all_reads: Vec<Stage> = (0..7).flat_map(|i| host_read(300_000 + i * 127_400)).collect();
    let job_at = 300_000 + 7 * 127_400;
    play(vec![
        reads(Case::new("seven reads let the job take its five steps, and two are not kept", with_requests(|_| ())))
            .stages(9_000_000, &[all_reads, job(job_at)])
            .counts(&[("steps_with_requests", 5), ("steps_forgone", 2), ("erases", 1)]),
    ]);
}

#[test]
fn the_next_job_of_an_episode_begins_without_steps() {
    let config = one_job(|c| (c.gc.advance, c.gc.until) = (Advance::WithRequests, 1));
    // The first job is an erase alone. One read lets it go on, the second is forgone, and the second job waits for requests.
    play(vec![
        Case::new("what the first job could not use does not move the second", config)
            .beginning(&ONE_BLOCK_INVALID)
            .read(300_000, Z, 427_400, READ)
            .read(300_000, Z, 554_800, behind_host(127_400))
            .stages(9_000_000, &[host_read(300_000), host_read(427_400), erase(554_800)])
            .counts(&[("steps_with_requests", 1), ("steps_forgone", 1), ("episode_jobs", 1), ("erases", 1)]),
    ]);
}

/// A read that waits so long behind others of the host.
fn behind_host(ns: u64) -> Parts {
    [&[(ssdlab::stats::Part::DieQueue, ns)], &READ[..]].concat()
}

fn refused(set: &[(&str, &str)]) -> String {
    let set = set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Layers { set, ..Layers::default() }.build().expect_err("the keys do not go together").to_string()
}

#[test]
fn what_cannot_be_is_refused_with_a_remedy() {
    let many = refused(&[("gc.until", "100000")]);
    assert!(many.contains("gc.until = 100000") && many.contains("lower it to at most"), "{many}");
}

/// Pools are collected below two free blocks under any threshold: an episode ends with `until` more than that at least.
#[test]
fn the_end_of_an_episode_counts_from_what_triggers_collection() {
    // Pools of 32 blocks, 12 of them spare, two being filled.
    let keys = |trigger, soft, until| {
        let device = [("device.blocks_per_plane", "32"), ("device.pages_per_block", "8"), ("device.overprovisioning", "0.4")];
        [&device[..], &[("gc.trigger", trigger), ("gc.soft", soft), ("gc.until", until)]].concat()
    };
    let accepted = |set: &[(&str, &str)]| {
        let set = set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        Layers { set, ..Layers::default() }.build().is_ok()
    };
    assert!(accepted(&keys("soft", "3", "6")) && accepted(&keys("soft", "1", "7")) && accepted(&keys("invalid-share", "6", "7")));
    let of_soft = refused(&keys("soft", "3", "7"));
    assert!(of_soft.contains("with gc.soft that is 10 free blocks") && of_soft.contains("at most 6"), "{of_soft}");
    for (trigger, soft) in [("soft", "1"), ("invalid-share", "6")] {
        let of_reserve = refused(&keys(trigger, soft, "8"));
        assert!(of_reserve.contains("with the reserve that is 10 free blocks") && of_reserve.contains("at most 7"), "{of_reserve}");
    }
}

#[test]
fn where_the_scope_excludes_the_host_advance_is_called_idle() {
    let idle = |scope: Scope| {
        let mut config = Config::default();
        (config.gc.advance, config.gc.scope) = (Advance::WithRequests, scope);
        config.idle_keys().iter().any(|idle| idle.key == "gc.advance")
    };
    assert!(idle(Scope::Chip) && idle(Scope::Plane));
    assert!(!idle(Scope::None) && !idle(Scope::Block));
}

#[test]
fn idle_time_collects_without_requests() {
    let ahead = with_requests(|c| (c.gc.trigger, c.gc.idle_us) = (Trigger::Idle, 300));
    play(vec![
        Case::new("the drive is idle 300 us after the last write, and the job goes on alone", ahead)
            .stages(300_000 + JOB_NS, &[job(300_000)])
            .counts(&[("steps_without_requests", ANY), ("pages_moved", 2)]),
    ]);
}
