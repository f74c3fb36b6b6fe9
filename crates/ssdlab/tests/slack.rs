//! Slack-aware scheduling (elyasi2017), worked by hand from docs/model/slack.md: the paper's Fig. 2 and Fig. 6, every term of the estimate,
//! the rules of bypassing and pausing, what follows from them for any workload, and a slow model beside random drives.
//!
//! Where times are in cycles, a read takes one and a program four; page `p` lies on chip `p` modulo the chips.

use crate::common;
use crate::common::cases::{Cases, Tally, is_full};
use crate::common::slack::{CYCLE, Case, NS, PAGE, Page, Run, Watched, cycles, partial_writes, play, read, reads, write, writes};
use crate::common::slack_model::Model;
use crate::common::slack_recount::Recount;
use crate::common::timeline::{ORIGIN, TWO_MOVES, one_job};
use crate::common::{one_die, random_config};
use ssdlab::config::{
    Allocation, Config, Erase, Frontier, Order, PreconditionKind, Priority, ReclaimUnit, RetryPolicy, Scheduler, Scope, Suspendable,
    validate,
};
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify};
use ssdlab::stats::Part::{Array, DieQueue, Suspended};
use ssdlab::stats::{MeanByKind, PausedShare, ShareByKind, Slack, SlackResult, Waiting};
use ssdlab::units::Ns;

fn read_bypass(config: &mut Config) {
    config.scheduler.read_bypass = true;
}

fn write_bypass(config: &mut Config) {
    config.scheduler.write_bypass = true;
}

fn pausing(config: &mut Config) {
    config.scheduler.write_pausing = true;
}

/// `count` reads of one page each, `stride` pages apart.
fn read_each(at: Ns, first: u64, stride: u64, count: u64) -> impl Iterator<Item = Request> {
    (0..count).map(move |index| read(at, first + index * stride))
}

/// `count` writes of one page each, `stride` pages apart.
fn write_each(at: Ns, first: u64, stride: u64, count: u64) -> impl Iterator<Item = Request> {
    (0..count).map(move |index| write(at, first + index * stride))
}

// The paper's figures.

/// Fig. 2. CHIP1 to CHIP4 are chips 0 to 3; they have 0, 7, 4 and 1 operations of one cycle when A comes with A0, A1, A2 on chips 0, 1, 2.
///
/// | | waits | ends | slack |
/// |---|---|---|---|
/// | A0 | 0 | 1 | 7 |
/// | A1 | 7 | 8 | 0 |
/// | A2 | 4 | 5 | 3 |
///
/// Of B the text has B0 behind A2 on chip 2. Here B1 is on chip 3, behind its one operation, and ends at 2. Behind A2, B0 ends at 6; ahead of it
/// at 5, and A2 at 6, which leaves A2 two cycles of its three.
#[test]
fn figure_2() {
    let figure = |name: &str, b_at: Ns, [b0, a2]: [Ns; 2], a2_left: Ns| {
        let queues = [read_each(0, 1, 4, 7), read_each(0, 2, 4, 4), read_each(0, 3, 4, 1)].into_iter().flatten();
        Case::new(name, cycles(4, |_| ()))
            .all_given(queues)
            .ends(reads(0, 40, 3), 8 * CYCLE)
            .estimated(40, CYCLE)
            .estimated(41, 8 * CYCLE)
            .estimated(42, 5 * CYCLE)
            .slack(40, 7 * CYCLE)
            .slack(41, 0)
            .left(42, a2_left)
            .page_ends(40, CYCLE)
            .page_ends(41, 8 * CYCLE)
            .page_ends(42, a2)
            .ends(reads(b_at, 46, 2), b0)
            .estimated(46, b0)
            .estimated(47, 2 * CYCLE)
            .slack(46, 0)
            .slack(47, b0 - 2 * CYCLE)
            .page_ends(46, b0)
    };
    // In the first cycle or before it: what is left of the operations that run is then in the residual time and not in the queue.
    play([0, 400, 999].into_iter().flat_map(|b_at| {
        let unaware = figure("Fig. 2(a): slack-unaware", b_at, [6 * CYCLE, 5 * CYCLE], 3 * CYCLE);
        let aware = figure("Fig. 2(b): slack-aware", b_at, [5 * CYCLE, 6 * CYCLE], 2 * CYCLE);
        [unaware, aware.with("read bypass", read_bypass).counts([1, 0, 0, 0])]
    }));
}

/// Fig. 6(a), on three chips. WA is under way on all of them until 4; two reads that came at 1 follow it on chip 2.
///
/// | | on chip | waits for | ends | slack |
/// |---|---|---|---|---|
/// | RA1 (came at 2) | 1 | WA | 5 | 2 |
/// | RA2 | 2 | WA and two reads | 7 | 0 |
/// | RB1 (came at 3) | 0 | WA | 5 | 1 |
/// | RB2 | 1 | RA1 | 6 | 0 |
/// | RC1 (came at 3) | 0 | RB1 | 6 | 1 |
/// | RC2 | 1 | RB2 | 7 | 0 |
///
/// With bypassing RB2 and RC2 go ahead of RA1 and end at 5 and 6; RA1 ends at 7 as RA2 does. That RB1 and RC1 share chip 0 and what they and
/// RA2 wait for is not in the text.
#[test]
fn figure_6a_read_bypass() {
    let figure = |name: &str, [ra1, rb, rc]: [Ns; 3], [rb1, rc1]: [Ns; 2]| {
        Case::new(name, cycles(3, |_| ()))
            .ends(writes(0, 0, 3), 4 * CYCLE)
            .all_given(read_each(CYCLE, 5, 3, 2))
            .ends(reads(2 * CYCLE, 10, 2), 7 * CYCLE)
            .estimated(10, 5 * CYCLE)
            .estimated(11, 7 * CYCLE)
            .slack(10, 2 * CYCLE)
            .slack(11, 0)
            .page_ends(10, ra1)
            .ends(reads(3 * CYCLE, 12, 2), rb)
            .estimated(12, 5 * CYCLE)
            .slack(12, rb1)
            .slack(13, 0)
            .ends(reads(3 * CYCLE, 15, 2), rc)
            .estimated(15, 6 * CYCLE)
            .slack(15, rc1)
            .slack(16, 0)
    };
    play([
        figure("Fig. 6(a), baseline", [5 * CYCLE, 6 * CYCLE, 7 * CYCLE], [CYCLE, CYCLE]),
        figure("Fig. 6(a), Rbyp", [7 * CYCLE, 5 * CYCLE, 6 * CYCLE], [0, 0]).with("on", read_bypass).counts([2, 0, 0, 0]),
    ]);
}

/// Fig. 6(b), on three chips; WB comes at cycle 4.
///
/// | | on chip | waits for | response | slack |
/// |---|---|---|---|---|
/// | WA (came at 3) | 0 | a write until 5 | 6 | 0 |
/// | WB1 | 0 | that write, 1 cycle, and WA, 4 | 9 | 0 |
/// | WB2 | 1 | a write until 5 | 5 | 4 |
/// | WB3 | 2 | nothing | 4 | 5 |
/// | WC1 (came at 5) | 1 | WB2 | 8 | 0 |
///
/// A write takes four cycles: all of WB2's slack, which is enough. WC1 then waits for nothing and its response is 4; WB2 ends with WB1 at 13.
/// What the chips do before is not in the text.
#[test]
fn figure_6b_write_bypass() {
    let figure = |name: &str, wb2: Ns, wc: Ns, left: Ns| {
        Case::new(name, cycles(3, |_| ()))
            .given(writes(CYCLE, 0, 2))
            .ends(write(3 * CYCLE, 3), 9 * CYCLE)
            .slack(3, 0)
            .ends(writes(4 * CYCLE, 6, 3), 13 * CYCLE)
            .estimated(6, 13 * CYCLE)
            .estimated(7, 9 * CYCLE)
            .estimated(8, 8 * CYCLE)
            .slack(6, 0)
            .slack(7, 4 * CYCLE)
            .slack(8, 5 * CYCLE)
            .left(7, left)
            .left(8, 5 * CYCLE)
            .page_ends(7, wb2)
            .ends(write(5 * CYCLE, 10), wc)
            .estimated(10, wc)
    };
    play([
        figure("Fig. 6(b), baseline", 9 * CYCLE, 13 * CYCLE, 4 * CYCLE),
        figure("Fig. 6(b), Wbyp", 13 * CYCLE, 9 * CYCLE, 0).with("on", write_bypass).counts([0, 1, 0, 0]),
    ]);
}

/// Fig. 6(c), on three chips. WA and WB come at 0, RB and then RA before 1.
///
/// | | on chip | baseline: waits for | ends | slack | with pausing ends |
/// |---|---|---|---|---|---|
/// | WA1 | 0 | nothing | 4 | 0 | 4 |
/// | WB1 | 0 | WA1, and RA2, which is read first | 9 (estimated 8) | 0 | 9 |
/// | WB2 | 1 | nothing | 4 | 4 | 4 |
/// | WB3 | 2 | nothing | 4 | 4 | 6, paused from 1 to 3 |
/// | RB1 | 2 | WB3 | 5 | | 2 |
/// | RA1 | 2 | WB3, RB1 | 6 | | 3 |
/// | RA2 | 0 | WA1, which has no slack | 5 | | 5 |
///
/// So RA ends at 5 in place of 6, and RB at 2 in place of 5. The text leaves open that RB is ahead of RA, as it must be for RB to gain three
/// cycles and RA one.
#[test]
fn figure_6c_write_pausing() {
    let figure = |name: &str, wb3: Ns, rb: Ns, ra: Ns, ra1: Ns, left: Ns| {
        Case::new(name, cycles(3, |_| ()))
            .ends(write(0, 0), 4 * CYCLE)
            .slack(0, 0)
            .ends(writes(0, 3, 3), 9 * CYCLE)
            .slack(3, 0)
            .slack(4, 4 * CYCLE)
            .slack(5, 4 * CYCLE)
            .left(4, 4 * CYCLE)
            .left(5, left)
            .page_ends(4, 4 * CYCLE)
            .page_ends(5, wb3)
            .ends(read(CYCLE / 2, 8), rb)
            .ends(reads(CYCLE / 2, 11, 2), ra)
            .page_ends(11, ra1)
            .page_ends(12, 5 * CYCLE)
    };
    play([
        figure("Fig. 6(c), baseline", 4 * CYCLE, 5 * CYCLE, 6 * CYCLE, 6 * CYCLE, 4 * CYCLE),
        figure("Fig. 6(c), WP", 6 * CYCLE, 2 * CYCLE, 5 * CYCLE, 3 * CYCLE, 2 * CYCLE)
            .with("on", pausing)
            .counts([0, 0, 1, 2])
            .array(0, &[(0, 4 * CYCLE), (4 * CYCLE, 5 * CYCLE), (5 * CYCLE, 9 * CYCLE)])
            .array(2, &[(0, CYCLE), (CYCLE, 2 * CYCLE), (2 * CYCLE, 3 * CYCLE), (3 * CYCLE, 6 * CYCLE)]),
    ]);
}

// The estimate.

/// Of the drive of [`single`]: a read, 25 us and 102.4 us on the bus; a write, 102.4 us and 200 us; an erase.
const L_R: Ns = 127_400;
const L_W: Ns = 302_400;
const L_E: Ns = 1_500_000;
const TRANSFER: Ns = 102_400;

/// One die, filled: 16 pages of the host's.
fn single(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = one_die();
    config.ftl.precondition.kind = PreconditionKind::Fill;
    estimating(&mut config);
    change(&mut config);
    config
}

fn estimating(config: &mut Config) {
    config.scheduler.order = Order::FrFcfs;
    config.scheduler.estimates = true;
}

#[test]
fn estimate_latency_and_queues() {
    play([
        Case::new("a read alone", single(|_| ())).ends(read(1, 0), 1 + L_R).estimated(0, 1 + L_R),
        Case::new("a write alone", single(|_| ())).ends(write(1, 0), 1 + L_W).estimated(0, 1 + L_W),
        Case::new("n_r: the reads ahead", single(|_| ()))
            .ends(read(0, 0), L_R)
            .ends(read(0, 1), 2 * L_R)
            .estimated(1, 2 * L_R)
            .ends(reads(0, 2, 2), 4 * L_R)
            .estimated(2, 3 * L_R)
            .estimated(3, 4 * L_R)
            .slack(2, L_R)
            .slack(3, 0),
        // 5, 6 and 7 are the writes. The read of 1 is not estimated to wait for them, nor are they for reads to come.
        Case::new("N_r and n_w: a write waits for all reads and the writes ahead", single(|_| ()))
            .given(read(0, 0))
            .given(write(0, 5))
            .estimated(5, L_R + L_W)
            .given(write(0, 6))
            .estimated(6, L_R + 2 * L_W)
            .given(read(10_000, 1))
            .estimated(1, 10_000 + (L_R - 10_000) + L_R)
            .ends(write(20_000, 7), 2 * L_R + 3 * L_W)
            .estimated(7, 20_000 + (L_R - 20_000) + L_R + 2 * L_W + L_W),
        Case::new("a read does not count the writes that wait", single(|_| ()))
            .given(write(0, 5))
            .given(write(0, 6))
            .ends(read(50_000, 0), L_W + L_R)
            .estimated(0, 50_000 + (L_W - 50_000) + L_R),
        // One place for reads: 1 is admitted when 0 has begun at time 0, 2 when 1 has.
        Case::new("it is made when a place is found", single(|c| c.scheduler.read_queue = 1))
            .given(read(0, 0))
            .given(read(0, 1))
            .estimated(1, 2 * L_R)
            .ends(read(0, 2), 3 * L_R)
            .estimated(2, L_R + L_R + L_R),
        Case::new("also under a plain order", single(|c| c.scheduler.order = Order::Fcfs))
            .given(write(0, 5))
            .ends(read(50_000, 0), L_W + L_R)
            .estimated(0, L_W + L_R),
    ]);
}

/// Two planes, no time on the bus: L_r is 25 us and L_w 200 us. Pages alternate between the planes. `a` of `c` pages shared their command.
#[test]
fn estimate_advanced_commands() {
    let planes = || {
        single(|c| {
            c.device.planes_per_die = 2;
            c.device.multiplane = true;
            c.device.transfer_ps_per_byte = 0;
        })
    };
    let (l_r, l_w) = (25_000, 200_000);
    play([
        Case::new("(c - a) / c beside it, and what is on its plane", planes())
            // Before the first, 1. They are read by one command: 0 / 2 from now on.
            .ends(reads(0, 0, 2), l_r)
            .estimated(0, l_r)
            .estimated(1, 2 * l_r)
            .given(reads(10_000, 2, 2))
            .estimated(2, 2 * l_r)
            .estimated(3, 2 * l_r)
            // 0 / 4, then 1 / 5.
            .given(read(1_000_000, 4))
            .estimated(4, 1_000_000 + l_r)
            .given(reads(2_000_000, 6, 2))
            .estimated(6, 2_000_000 + l_r)
            .estimated(7, 2_000_000 + l_r / 5 + l_r)
            // 1 / 7: 3,571.4 ns.
            .given(reads(3_000_000, 8, 2))
            .estimated(9, 3_000_000 + 3_571 + l_r)
            // 1 / 9: 2,777.8, and for two 5,555.6, the product divided once.
            .given(reads(4_000_000, 8, 4))
            .estimated(8, 4_000_000 + l_r)
            .estimated(9, 4_000_000 + 2_777 + l_r)
            .estimated(10, 4_000_000 + l_r + 2_777 + l_r)
            .estimated(11, 4_000_000 + l_r + 5_555 + l_r),
        Case::new("the same of writes, and m_r / c_r of the reads that they wait for", planes())
            .given(writes(0, 0, 2))
            .estimated(1, 2 * l_w)
            .given(write(1_000_000, 2))
            // Reads: m / c is 2 / 3. Writes: (c - a) / c is 1 / 3.
            .given(read(2_000_000, 8))
            .given(reads(2_100_000, 8, 2))
            .given(reads(3_000_000, 8, 3))
            .given(writes(3_000_000, 4, 3))
            .estimated(4, 3_000_000 + 50_000 + l_w)
            .estimated(5, 3_000_000 + 50_000 + 66_666 + l_w)
            .estimated(6, 3_000_000 + 50_000 + l_w + 66_666 + l_w),
        // Writes: (c - a) / c is 1 / 3 and m / c 2 / 3. 7 is to be programmed behind 5 on its plane and 4 beside it; 8 behind 4, beside 5, and 7,
        // which is not in the queue yet: 66,666 and 133,333. Nothing has been read before.
        Case::new("partial writes", planes())
            .given(writes(0, 0, 2))
            .given(write(1_000_000, 2))
            .given(write(3_000_000, 4))
            .given(write(3_000_000, 5))
            .given(partial_writes(3_000_000, 7, 1))
            .estimated(7, 3_000_000 + l_r + (l_w + 66_666) + l_w)
            .given(partial_writes(3_000_000, 8, 1))
            .estimated(8, 3_000_000 + 2 * l_r + (l_w + 66_666 + 133_333) + l_w),
    ]);
}

/// The five writes after which a job moves two pages and erases a block, from [`ORIGIN`] on.
fn beginning(transfer_ns: Ns, program_ns: Ns) -> impl Iterator<Item = Request> {
    let at = move |index| if index == 4 { ORIGIN - transfer_ns - program_ns } else { 410_000 * index as Ns };
    TWO_MOVES.iter().enumerate().map(move |(index, &page)| write(at(index), page))
}

#[test]
fn estimate_collection() {
    let collecting = |name: &str, change: fn(&mut Config)| {
        let config = one_job(|c| {
            estimating(c);
            change(c);
        });
        Case::new(name, config).all_given(beginning(TRANSFER, 200_000))
    };
    // Five writes have begun.
    let t_gc = (2 * (L_R + L_W) + L_E) / 5;
    assert_eq!(t_gc, 471_920);
    let at = |case: Case, ns: Ns, estimate: Ns| case.given(read(ORIGIN + ns, 9)).estimated(9, ORIGIN + ns + estimate);
    play([
        collecting("T_GC after two moves and an erase", |_| ())
            .ends(read(10_000_000, 9), 10_000_000 + L_R)
            .estimated(9, 10_000_000 + t_gc + L_R)
            // Six operations by now: 393,266.7.
            .given(write(20_000_000, 9))
            .estimated(9, 20_000_000 + 393_266 + L_W),
        collecting("the same by copyback", |c| c.device.copyback = true).given(read(10_000_000, 9)).estimated(9, 10_000_000 + t_gc + L_R),
        // What is left of a page move, which began at 0; nothing has been moved.
        at(collecting("T_residual: the first page move", |_| ()), 100_000, (L_R + L_W - 100_000) + L_R),
        // By copyback a move takes 225 us, and is taken for one of L_r + L_w all the same.
        at(collecting("T_residual: a move by copyback", |c| c.device.copyback = true), 100_000, (L_R + L_W - 100_000) + L_R),
        at(
            collecting("T_residual: the second page move; one page has been moved", |_| ()),
            500_000,
            (L_R + L_W) / 5 + (2 * (L_R + L_W) - 500_000) + L_R,
        ),
        at(
            collecting("T_residual: the erase; two pages have been moved", |_| ()),
            1_000_000,
            2 * (L_R + L_W) / 5 + (2 * (L_R + L_W) + L_E - 1_000_000) + L_R,
        ),
        // Two moves in flight: both pages are read, 0 to 127.4 to 254.8, then both are programmed, to 557.2 and 859.6.
        at(collecting("T_residual: a read of the job", |c| c.gc.moves_in_flight = 2), 10_000, (L_R - 10_000) + L_R),
        at(collecting("T_residual: a program of the job", |c| c.gc.moves_in_flight = 2), 300_000, (2 * L_R + L_W - 300_000) + L_R),
        at(
            collecting("T_residual: its second program; one page has been moved", |c| c.gc.moves_in_flight = 2),
            600_000,
            (L_R + L_W) / 5 + (2 * (L_R + L_W) - 600_000) + L_R,
        ),
    ]);
}

/// A cache of two pages in SLC mode: a program takes 50 us there, a read 10 us.
#[test]
fn estimate_by_mode() {
    let cache = |change: fn(&mut Config)| {
        single(|c| {
            let slc = &mut c.slc;
            (slc.static_blocks, slc.bits_per_cell, slc.idle_us) = (1, 2, 1_000_000_000);
            (slc.read_ns, slc.program_ns) = (10_000, 50_000);
            change(c);
        })
    };
    let (in_cache, from_cache) = (TRANSFER + 50_000, 10_000 + TRANSFER);
    // All three find the cache empty when they are admitted; the third finds it full when it begins.
    let three = |name: &str, change: fn(&mut Config)| {
        Case::new(name, cache(change))
            .ends(write(0, 0), in_cache)
            .estimated(0, in_cache)
            .ends(write(0, 1), 2 * in_cache)
            .estimated(1, 2 * in_cache)
            .ends(write(0, 2), 2 * in_cache + L_W)
            .estimated(2, 3 * in_cache)
    };
    play([
        three("the mode of the next write, and that of the page that is read", |_| ())
            .ends(write(1_000_000, 3), 1_000_000 + L_W)
            .estimated(3, 1_000_000 + L_W)
            .ends(read(2_000_000, 0), 2_000_000 + from_cache)
            .estimated(0, 2_000_000 + from_cache)
            .ends(read(2_000_000, 2), 2_000_000 + from_cache + L_R)
            .estimated(2, 2_000_000 + from_cache + L_R),
        // By 0, 0 and 150 us too short.
        three("what came otherwise is an error that feedback sees", |c| c.scheduler.error_feedback = true)
            .ends(write(1_000_000, 3), 1_000_000 + L_W)
            .estimated(3, 1_000_000 + L_W + 50_000),
        Case::new("T_residual by the mode of the program in service", cache(|_| ()))
            .ends(write(0, 0), in_cache)
            .ends(read(60_000, 5), in_cache + L_R)
            .estimated(5, in_cache + L_R),
    ]);
}

/// Blocks have been erased 1,000 times before, and the erase of the case of [`estimate_collection`] takes half as long again.
#[test]
fn estimate_by_wear() {
    let collecting = |name: &str, change: fn(&mut Config)| {
        let config = one_job(|c| {
            estimating(c);
            c.ftl.precondition.pe_cycles = 1_000;
            change(c);
        });
        Case::new(name, config).all_given(beginning(TRANSFER, 200_000))
    };
    let moves = 2 * (L_R + L_W);
    let grown: fn(&mut Config) = |c| c.wear.erase_growth = 0.5;
    // A block needs 1.5 ms, or 2.25: four or six pulses of 0.45 ms with their verify reads. What this block needs beside that is not known.
    let pulses: fn(&mut Config) = |c| {
        (c.wear.erase, c.wear.pulse_ns, c.wear.verify_ns) = (Erase::Pulses, 400_000, 50_000);
        c.wear.erase_spread = 0.2;
    };
    play([
        collecting("T_GC: an erase that has grown", grown)
            .given(read(10_000_000, 9))
            .estimated(9, 10_000_000 + (moves + 2_250_000) / 5 + L_R),
        collecting("T_residual: an erase that has grown", grown)
            .given(read(ORIGIN + 1_000_000, 9))
            .estimated(9, ORIGIN + moves / 5 + moves + 2_250_000 + L_R),
        collecting("T_GC: pulses", pulses).given(read(10_000_000, 9)).estimated(9, 10_000_000 + (moves + 4 * 450_000) / 5 + L_R),
        collecting("T_residual: pulses of a block that has grown", pulses)
            .with("", grown)
            .given(read(ORIGIN + 1_000_000, 9))
            .estimated(9, ORIGIN + moves / 5 + moves + 6 * 450_000 + L_R),
    ]);
}

/// Three steps of each read fail, and the array reads ahead during transfer and decoding: the response takes 80.24 + 3 x 50 + 30.24 us (as in
/// `ageing.rs`), where the estimate has four steps of 80.24 us, one after the other. Then the fifth array read, of which there is no need, is
/// stopped, for which the die takes 5 us.
#[test]
fn a_read_ahead_that_is_stopped_is_no_residual_time() {
    let config = single(|c| {
        (c.device.transfer_ps_per_byte, c.device.read_ns) = (2_500, 50_000);
        let errors = &mut c.errors;
        (errors.retry, errors.retry_table) = (RetryPolicy::Pr2, vec![0.5, 0.25, 0.125, 0.0625]);
        (errors.alpha, errors.beta, errors.gamma, errors.epsilon) = (0.0, 0.0, 0.0, 72.0 / 8192.0 * 6.0);
        (c.gc.scope, c.gc.priority) = (Scope::None, Priority::Host);
    });
    let (response, stop, expected) = (260_480, 5_000, 4 * 80_240);
    let case = |name: &str, at: Ns, estimate: Ns| {
        let first = Case::new(name, config.clone()).ends(read(0, 5), response).estimated(5, expected);
        first.ends(read(at, 6), response + stop + response).estimated(6, estimate)
    };
    play([
        case("(7) while the data are decoded: what the estimate has left", 250_000, expected + expected),
        case("(7) while the array is stopped: nothing", 262_000, 262_000 + expected),
    ]);
}

/// A program that fails is repeated in another block: the write ends later than estimated, by the time of a program.
#[test]
fn a_repeated_program_is_an_error_of_the_estimate() {
    let config = single(|c| {
        (c.wear.program_fails_ppm, c.device.blocks_per_plane, c.device.overprovisioning) = (300_000.0, 64, 0.9);
        (c.gc.scope, c.gc.priority) = (Scope::None, Priority::Host);
    });
    let requests: Vec<_> = (0..20).map(|index| write(10_000_000 * index, index)).collect();
    let run = Watched { verify: Verify::Every, every_stage: false, in_parts: false }.run(&config, &requests).expect("a run");
    let first = run.pages.values().find(|page| page.end != page.estimate).expect("some program fails");
    let late = first.end - first.estimate;
    assert!(first.estimate == first.admitted + L_W && late > 0 && late.is_multiple_of(L_W), "{first:?}");
}

#[test]
fn estimate_interference_and_residual_time() {
    let chips = |count: u32| single(|c| c.device.chips_per_channel = count);
    play([
        // The read on chip 1 is ready at 25,000 and has the bus at 127,400: one of two. It began at 0 and is there until 229,800.
        Case::new("transfer x ready / total; T_residual is at least 0", chips(2))
            .given(read(0, 0))
            .given(read(0, 1))
            .given(read(200_000, 3))
            .estimated(3, 200_000 + TRANSFER / 2 + L_R)
            // One of three: 34,133.3.
            .given(read(200_000, 2))
            .estimated(2, 200_000 + 34_133 + L_R)
            // One of four. The read of 2 is ready at 225,000, when the bus still has that of 1, and has it at 229,800; 3, which begins then, is
            // ready at 254,800 and waits in line behind that: three of five.
            .given(read(201_000, 5))
            .estimated(5, 201_000 + TRANSFER / 4 + L_R + L_R)
            .given(read(300_000, 4))
            .estimated(4, 300_000 + TRANSFER * 3 / 5 + (L_R - 100_000) + L_R),
        // The write on chip 1 waits in the bus's line from 0 on.
        Case::new("a write that waits for its transfer in", chips(2))
            .given(write(0, 0))
            .given(write(0, 1))
            .given(read(150_000, 2))
            .estimated(2, 150_000 + TRANSFER / 2 + (L_W - 150_000) + L_R),
        Case::new("channels apart", single(|c| c.device.channels = 2))
            .given(read(0, 0))
            .given(read(0, 1))
            .given(read(200_000, 3))
            .estimated(3, 200_000 + L_R),
        Case::new("nothing runs", single(|_| ())).given(read(0, 0)).given(read(L_R, 1)).estimated(1, 2 * L_R),
        // Reads 0 and 1 are under way at 30,000: the latter has 122,400 left, more than the first.
        Case::new(
            "of two that share a die the one with more left",
            single(|c| {
                c.device.cache_register = true;
                c.scheduler.pipeline = true;
            }),
        )
        .given(read(0, 0))
        .given(read(0, 1))
        .given(read(30_000, 2))
        .estimated(2, 30_000 + (L_R - 5_000) + L_R),
    ]);
}

#[test]
fn estimate_of_pages_that_do_not_simply_wait() {
    play([
        Case::new("a partial write alone", single(|_| ())).ends(partial_writes(0, 0, 1), L_R + L_W).estimated(0, L_R + L_W),
        // Its read waits for one read, its program for one write; then there is also a program whose page is still to be read.
        Case::new("a partial write is a read, and then the queue of writes", single(|_| ()))
            .given(read(0, 1))
            .given(write(0, 2))
            .ends(partial_writes(0, 3, 1), 3 * L_R + 2 * L_W)
            .estimated(3, (L_R + L_R) + L_W + L_W)
            .ends(partial_writes(0, 4, 1), 3 * L_R + 3 * L_W)
            .estimated(4, (2 * L_R + L_R) + 2 * L_W + L_W),
        // A partial write waits for the write of its page; only then does its read begin.
        Case::new("a partial write behind a write of its page", single(|_| ()))
            .given(write(0, 5))
            .ends(partial_writes(10_000, 5, 1), L_W + L_R + L_W)
            .estimated(5, L_W + L_R + L_W),
        Case::new("a partial write of a page without data is a write", single(|c| c.ftl.precondition.kind = PreconditionKind::None))
            .ends(partial_writes(0, 0, 1), L_W)
            .estimated(0, L_W),
        // 6 waits in the queue; the second write of 5 does not yet, but will stand before 7 and 8, which come later.
        Case::new("a page behind an older operation: as at its queue's end", single(|_| ()))
            .given(write(0, 5))
            .given(write(0, 6))
            .ends(write(10_000, 5), 3 * L_W)
            .estimated(5, L_W + L_W + L_W)
            .ends(write(20_000, 7), 4 * L_W)
            .estimated(7, L_W + L_W + L_W + L_W)
            .ends(write(30_000, 8), 5 * L_W)
            .estimated(8, L_W + 4 * L_W),
        Case::new("a read behind a read of its page", single(|_| ()))
            .given(read(0, 5))
            .given(read(0, 6))
            .given(read(10_000, 5))
            .estimated(5, L_R + L_R + L_R),
        // 7 is read until 127.4 us, then 8; 7 is programmed behind 5 and 6. The read of all of it waits for that.
        Case::new("a read behind a partial write of its page", single(|_| ()))
            .given(write(0, 5))
            .given(write(0, 6))
            .given(partial_writes(0, 7, 1))
            .estimated(7, L_R + 2 * L_W + L_W)
            .ends(reads(10_000, 7, 2), 2 * L_R + 3 * L_W + L_R)
            .estimated(7, L_R + 3 * L_W + L_R)
            .estimated(8, 2 * L_R)
            .slack(8, 3 * L_W),
        Case::new("a write behind a read of its page that waits behind others", single(|_| ()))
            .all_given((0..4).map(|page| read(0, page)))
            .ends(write(0, 3), 4 * L_R + L_W)
            .estimated(3, 4 * L_R + L_W),
        // 5 is in the controller's buffer: answered at 10,000, and no sibling's slack comes from it.
        Case::new("a page answered at once ends at once", single(|_| ()))
            .given(write(0, 5))
            .ends(reads(10_000, 4, 2), L_W + L_R)
            .estimated(4, L_W + L_R)
            .slack(4, 0),
    ]);
}

/// No time on the bus: L_r is 25 us and L_w 200 us. Two dies in the one chip.
#[test]
fn estimate_where_the_station_is_a_chip() {
    let two_dies = |change: fn(&mut Config)| {
        single(|c| {
            c.device.dies_per_chip = 2;
            c.device.transfer_ps_per_byte = 0;
            change(c);
        })
    };
    let dynamic = || two_dies(|c| c.ftl.allocation = Allocation::Dynamic);
    let (l_r, l_w) = (25_000, 200_000);
    play([
        Case::new("dynamic allocation: a chip of width 2", dynamic())
            .given(write(0, 0))
            .estimated(0, l_w)
            .given(write(0, 1))
            .estimated(1, l_w / 2 + l_w)
            .given(write(0, 2))
            .estimated(2, 2 * l_w / 2 + l_w),
        Case::new("dynamic allocation: the least that is left on its dies", dynamic())
            .given(write(0, 0))
            .given(write(50_000, 1))
            .ends(write(60_000, 2), 2 * l_w)
            .estimated(2, l_w + l_w)
            .given(write(70_000, 3))
            .estimated(3, l_w / 2 + l_w + l_w),
        Case::new("dynamic allocation: a die on which nothing runs has nothing left", dynamic())
            .given(write(0, 0))
            .ends(write(50_000, 1), 50_000 + l_w)
            .estimated(1, 50_000 + l_w),
        // Filled in order of address, pages alternate between the dies: three reads on the first, one on the second.
        Case::new("dynamic allocation: N_r counts the reads of both dies, a read those of its own", dynamic())
            .given(read(0, 0))
            .given(read(0, 2))
            .estimated(2, 2 * l_r)
            .given(read(0, 4))
            .estimated(4, 3 * l_r)
            .given(read(0, 1))
            .estimated(1, l_r)
            .given(write(0, 8))
            .estimated(8, 4 * l_r / 2 + l_w),
        Case::new(
            "dynamic allocation: chips of one die",
            single(|c| {
                c.device.transfer_ps_per_byte = 0;
                c.ftl.allocation = Allocation::Dynamic;
            }),
        )
        .given(read(0, 0))
        .given(read(0, 1))
        .estimated(1, 2 * l_r)
        .given(write(0, 2))
        .estimated(2, 2 * l_r + l_w)
        .ends(write(0, 3), 2 * l_r + 2 * l_w)
        .estimated(3, 2 * l_r + 2 * l_w),
        Case::new("dies that work apart are stations of their own", two_dies(|_| ()))
            .given(read(0, 0))
            .ends(read(0, 1), l_r)
            .estimated(1, l_r),
        Case::new("dies that take turns are one", two_dies(|c| c.device.die_interleave = false))
            .given(read(0, 0))
            .ends(read(0, 1), 2 * l_r)
            .estimated(1, 2 * l_r)
            .given(write(10_000, 2))
            .estimated(2, l_r + l_r + l_w)
            .ends(write(20_000, 3), 2 * l_r + 2 * l_w)
            .estimated(3, l_r + l_r + l_w + l_w),
        Case::new(
            "also where a width would be had",
            two_dies(|c| {
                c.device.die_interleave = false;
                c.ftl.allocation = Allocation::Dynamic;
            }),
        )
        .given(write(0, 0))
        .ends(write(0, 1), 2 * l_w)
        .estimated(1, 2 * l_w),
    ]);
}

// Bypassing.

/// Two chips. On chip 0 a read of one page runs until 1; on chip 1 there are `others` reads. Request 0 is the former.
fn busy(name: &str, others: u64) -> Case {
    Case::new(name, cycles(2, |_| ())).given(read(0, 0)).all_given(read_each(0, 1, 2, others))
}

#[test]
fn bypass_walks_from_the_end() {
    play([
        // X: 30 and 32 on chip 0 end at 2 and 3, 31 on chip 1 behind one at 2. The first has a cycle of slack, the second, behind it, none.
        busy("it stops at the first without slack", 1)
            .with("on", read_bypass)
            .given(reads(0, 30, 3))
            .slack(30, CYCLE)
            .slack(31, CYCLE)
            .slack(32, 0)
            .left(30, CYCLE)
            .page_ends(30, 2 * CYCLE)
            .page_ends(32, 3 * CYCLE)
            .ends(read(500, 40), 4 * CYCLE)
            .estimated(40, 4 * CYCLE),
        // X has 2 cycles: two pass, the third does not.
        busy("what is passed pays", 3)
            .with("on", read_bypass)
            .ends(reads(0, 30, 2), 4 * CYCLE)
            .left(30, 0)
            .page_ends(30, 4 * CYCLE)
            .ends(read(500, 40), 2 * CYCLE)
            .ends(read(600, 42), 3 * CYCLE)
            .estimated(42, 3 * CYCLE)
            .ends(read(700, 44), 5 * CYCLE)
            .estimated(44, 5 * CYCLE)
            .counts([2, 0, 0, 0]),
        busy("what is passed pays", 3)
            .given(reads(0, 30, 2))
            .slack(30, 2 * CYCLE)
            .page_ends(30, 2 * CYCLE)
            .ends(read(500, 40), 3 * CYCLE)
            .ends(read(600, 42), 4 * CYCLE)
            .ends(read(700, 44), 5 * CYCLE),
        // P (slack 4) comes first, then Q (slack 5), which passes P; the last passes both.
        busy("those passed keep their order", 5)
            .with("on", read_bypass)
            .ends(reads(0, 30, 2), 6 * CYCLE)
            .left(30, 2 * CYCLE)
            .page_ends(30, 4 * CYCLE)
            .ends(reads(0, 32, 2), 7 * CYCLE)
            .estimated(32, 2 * CYCLE)
            .left(32, 4 * CYCLE)
            .page_ends(32, 3 * CYCLE)
            .ends(read(500, 40), 2 * CYCLE)
            .counts([3, 0, 0, 0]),
    ]);
}

/// X's pages end at 2 on chip 0 and at 3 on chip 1: a cycle of slack.
#[test]
fn bypass_needs_a_latency_of_slack() {
    let case = |name: &str, at: Ns, x: Ns, other: Ns, count: u64| {
        Case::new(name, cycles(2, read_bypass))
            .given(read(0, 1))
            .given(read(0, 3))
            .given(read(at, 0))
            .given(reads(500, 30, 2))
            .slack(31, 0)
            .page_ends(30, x)
            .ends(read(600, 40), other)
            .counts([count, 0, 0, 0])
    };
    play([
        case("exactly one suffices", 0, 3 * CYCLE, 2 * CYCLE, 1),
        // The read on chip 0 begins a nanosecond later, so that X's page there ends at 2,001.
        case("a nanosecond less does not", NS, 2 * CYCLE + NS, 3 * CYCLE + NS, 0),
    ]);
}

/// Of four writes on chip 0 the first runs until 4 and is of page 34, the second has no slack. Then comes Q with 32 on chip 0 and 33 on
/// chip 1, where five writes are ahead (24 + 0), so that 32, the third on chip 0 (12), has 12 cycles of slack. The fourth is of page 34 again
/// and begins to wait at 4.
#[test]
fn bypass_passes_no_sibling() {
    let case = |name: &str| {
        Case::new(name, cycles(2, write_bypass)).given(write(0, 34)).ends(write(0, 50), 8 * CYCLE).all_given(write_each(0, 1, 2, 5))
    };
    play([
        case("a page of another request passes 32")
            .ends(writes(CYCLE, 32, 2), 24 * CYCLE)
            .slack(32, 12 * CYCLE)
            .left(32, 8 * CYCLE)
            .page_ends(32, 16 * CYCLE)
            .ends(write(CYCLE, 34), 12 * CYCLE)
            .estimated(34, 16 * CYCLE)
            .counts([0, 1, 0, 0]),
        case("a page of the same request does not")
            .ends(writes(CYCLE, 32, 3), 24 * CYCLE)
            .slack(32, 12 * CYCLE)
            .slack(34, 8 * CYCLE)
            .left(32, 12 * CYCLE)
            .page_ends(32, 12 * CYCLE)
            .page_ends(34, 16 * CYCLE),
    ]);
}

/// X is read and W written on both chips. On chip 0 a read runs until 1, X's page would end at 2 and W's at 6; on chip 1 six reads are ahead:
/// 7 and 11. So both have 5 cycles of slack. Then a read and a write come for chip 0.
#[test]
fn bypass_of_reads_and_of_writes() {
    let case = |name: &str, change: fn(&mut Config), [x, w]: [Ns; 2], [r, m]: [Ns; 2], counts: [u64; 4]| {
        busy(name, 6)
            .with("", change)
            .ends(reads(0, 30, 2), 7 * CYCLE)
            .slack(30, 5 * CYCLE)
            .left(30, (5 - counts[0]) * CYCLE)
            .page_ends(30, x * CYCLE)
            .ends(writes(0, 40, 2), 11 * CYCLE)
            .slack(40, 5 * CYCLE)
            .left(40, (5 - 4 * counts[1]) * CYCLE)
            .page_ends(40, w * CYCLE)
            .ends(read(500, 50), r * CYCLE)
            .ends(write(500, 52), m * CYCLE)
            .counts(counts)
    };
    play([
        case("neither", |_| (), [2, 7], [3, 11], [0; 4]),
        case("of reads", read_bypass, [3, 7], [2, 11], [1, 0, 0, 0]),
        case("of writes", write_bypass, [2, 11], [3, 7], [0, 1, 0, 0]),
        case(
            "of both",
            |c| {
                read_bypass(c);
                write_bypass(c);
            },
            [3, 11],
            [2, 7],
            [1, 1, 0, 0],
        ),
    ]);
}

#[test]
fn bypass_by_and_of_partial_writes() {
    play([
        // 30 has 5 cycles of slack. The partial write's read passes it and ends at 2; its program follows X's read: one passed, four.
        busy("the read of a partial write passes", 6)
            .with("on", read_bypass)
            .given(reads(0, 30, 2))
            .left(30, 4 * CYCLE)
            .page_ends(30, 3 * CYCLE)
            .ends(partial_writes(500, 50, 1), 7 * CYCLE)
            .estimated(50, 2 * CYCLE + CYCLE + 4 * CYCLE)
            .counts([1, 0, 0, 0]),
        busy("or does not", 6)
            .given(reads(0, 30, 2))
            .page_ends(30, 2 * CYCLE)
            .ends(partial_writes(500, 50, 1), 7 * CYCLE)
            .estimated(50, 3 * CYCLE + 4 * CYCLE),
        // On chip 0 a read to 2, behind the one that runs, and the program: 6. On chip 1 two writes are ahead: 12. The read that comes passes
        // that of the partial write, which ends at 3 then.
        Case::new("the read of a partial write is passed", cycles(2, read_bypass))
            .given(read(0, 0))
            .all_given(write_each(0, 1, 2, 2))
            .ends(partial_writes(0, 30, 2), 12 * CYCLE)
            .estimated(30, 2 * CYCLE + 4 * CYCLE)
            .slack(30, 6 * CYCLE)
            .left(30, 5 * CYCLE)
            .page_ends(30, 7 * CYCLE)
            .ends(read(500, 50), 2 * CYCLE)
            .counts([1, 0, 0, 0]),
        // On chip 0 a write runs until 4. X is there at 8 and on chip 1 behind three writes at 16. A partial write's page is read at 4,
        // and its program begins to wait at 5.
        Case::new("the program of a partial write passes", cycles(2, write_bypass))
            .given(write(0, 0))
            .all_given(write_each(0, 1, 2, 3))
            .ends(writes(0, 30, 2), 16 * CYCLE)
            .slack(30, 8 * CYCLE)
            .left(30, 4 * CYCLE)
            .page_ends(30, 13 * CYCLE)
            .ends(partial_writes(500, 50, 1), 9 * CYCLE)
            .counts([0, 1, 0, 0]),
        Case::new("or does not", cycles(2, |_| ()))
            .given(write(0, 0))
            .all_given(write_each(0, 1, 2, 3))
            .given(writes(0, 30, 2))
            .page_ends(30, 9 * CYCLE)
            .ends(partial_writes(500, 50, 1), 13 * CYCLE),
    ]);
}

/// Pages 0 and 30 lie on the first plane (or die) of chip 0, 50 on the second. 30 has five cycles of slack.
#[test]
fn bypass_between_planes_and_dies() {
    let planes: fn(&mut Config) = |c| c.device.planes_per_die = 2;
    let turns: fn(&mut Config) = |c| {
        c.device.dies_per_chip = 2;
        c.device.die_interleave = false;
    };
    let apart: fn(&mut Config) = |c| c.device.dies_per_chip = 2;
    let case = |name: &str, shape: fn(&mut Config), change: fn(&mut Config), x: Ns, other: Ns, count: u64| {
        Case::new(name, cycles(2, shape))
            .with("", change)
            .given(read(0, 0))
            .all_given(read_each(0, 1, 4, 6))
            .given(reads(0, 32, 2))
            .slack(32, 5 * CYCLE)
            .page_ends(32, x)
            .ends(read(500, 50), other)
            .counts([count, 0, 0, 0])
    };
    play([
        case("planes of a die", planes, |_| (), 2 * CYCLE, 3 * CYCLE, 0),
        case("planes of a die, bypass", planes, read_bypass, 3 * CYCLE, 2 * CYCLE, 1),
        case("dies that take turns", turns, |_| (), 2 * CYCLE, 3 * CYCLE, 0),
        case("dies that take turns, bypass", turns, read_bypass, 3 * CYCLE, 2 * CYCLE, 1),
        case("dies apart have nobody to pass", apart, read_bypass, 2 * CYCLE, 1500, 0),
    ]);
}

// Write pausing.

/// Two chips. W is written on both, on chip 1 behind another write: its page on chip 0, which is 2, has four cycles of slack. `left` of them
/// are left when it ends at `end`; the reads come for chip 0, and end as they say.
fn paused(name: &str, arrivals: &[(Ns, Ns)], end: Ns, left: Ns, counts: [u64; 4]) -> Case {
    let case = Case::new(name, cycles(2, pausing))
        .given(write(0, 1))
        .ends(writes(0, 2, 2), 8 * CYCLE)
        .estimated(2, 4 * CYCLE)
        .slack(2, 4 * CYCLE)
        .left(2, left)
        .page_ends(2, end)
        .counts(counts);
    arrivals.iter().enumerate().fold(case, |case, (index, &(at, end))| case.ends(read(at, 10 + 2 * index as u64), end))
}

#[test]
fn pauses_at_the_ends_of_steps() {
    play([
        paused("a read in the first step", &[(500, 2000)], 5000, 3000, [0, 0, 1, 1]).array(0, &[(0, 1000), (1000, 2000), (2000, 5000)]),
        paused("at the very end of the first step", &[(1000, 2000)], 5000, 3000, [0, 0, 1, 1])
            .array(0, &[(0, 1000), (1000, 2000), (2000, 5000)]),
        paused("a nanosecond later", &[(1001, 3000)], 5000, 3000, [0, 0, 1, 1]).array(0, &[(0, 2000), (2000, 3000), (3000, 5000)]),
        paused("at the end of the last step but one", &[(3000, 4000)], 5000, 3000, [0, 0, 1, 1])
            .array(0, &[(0, 3000), (3000, 4000), (4000, 5000)]),
        paused("in the last step", &[(3001, 5000)], 4000, 4000, [0; 4]),
        paused("at its end", &[(4000, 5000)], 4000, 4000, [0; 4]),
        paused("two in one pause", &[(500, 2000), (600, 3000)], 6000, 2000, [0, 0, 1, 2]),
        paused("one that comes at the very end of the read", &[(500, 2000), (2000, 3000)], 6000, 2000, [0, 0, 1, 2]),
        // The program has gone on by then; its second step ends at 3,000.
        paused("one that comes a nanosecond later", &[(500, 2000), (2001, 4000)], 6000, 2000, [0, 0, 2, 2])
            .array(0, &[(0, 1000), (1000, 2000), (2000, 3000), (3000, 4000), (4000, 6000)]),
        paused("three pauses", &[(500, 2000), (2500, 4000), (4500, 6000)], 7000, 1000, [0, 0, 3, 3])
            .array(0, &[(0, 1000), (1000, 2000), (2000, 3000), (3000, 4000), (4000, 5000), (5000, 6000), (6000, 7000)]),
        paused("as many as it has slack for", &[(500, 2000), (500, 3000), (500, 4000), (500, 5000), (500, 9000)], 8000, 0, [0, 0, 1, 4])
            .array(0, &[(0, 1000), (1000, 2000), (2000, 3000), (3000, 4000), (4000, 5000), (5000, 8000), (8000, 9000)]),
        paused("of two steps, the first", &[(500, 3000)], 5000, 3000, [0, 0, 1, 1])
            .with("on", |c| c.device.ispp_steps = 2)
            .array(0, &[(0, 2000), (2000, 3000), (3000, 5000)]),
        paused("off", &[(500, 5000)], 4000, 4000, [0; 4]).with("as the twin", |c| c.scheduler.write_pausing = false),
    ]);
}

/// W's page on chip 0, 2, is programmed one plane after the other, while nothing waits there: until 4,000, and 8,000. Page 1 and W's page 3 take
/// 4,000 and then 8,000 on chip 1, so that 2 has four cycles of slack.
#[test]
fn pauses_plane_by_plane() {
    let case = |name: &str, arrival: Ns, end: Ns, of_page: Ns, left: Ns, counts: [u64; 4]| {
        Case::new(name, cycles(2, pausing))
            .with("", |c| c.device.plane_programs = 2)
            .given(write(0, 1))
            .ends(writes(0, 2, 2), 12 * CYCLE)
            .estimated(2, 4 * CYCLE)
            .slack(2, 4 * CYCLE)
            .left(2, left)
            .page_ends(2, of_page)
            .ends(read(arrival, 10), end)
            .counts(counts)
    };
    let one = [0, 0, 1, 1];
    play([
        case("after a step of the first plane", 500, 2000, 9000, 3000, one)
            .array(0, &[(0, 1000), (1000, 2000), (2000, 5000), (5000, 9000)]),
        case("between two planes", 3500, 5000, 9000, 3000, one).array(0, &[(0, 4000), (4000, 5000), (5000, 9000)]),
        case("at the very end of the first plane", 4000, 6000, 9000, 3000, one)
            .array(0, &[(0, 4000), (4000, 5000), (5000, 6000), (6000, 9000)]),
        case("after a step of the second plane", 5500, 7000, 9000, 3000, one)
            .array(0, &[(0, 4000), (4000, 6000), (6000, 7000), (7000, 9000)]),
        case("in the last step of the last plane", 7500, 9000, 8000, 4000, [0; 4]).array(0, &[(0, 4000), (4000, 8000), (8000, 9000)]),
    ]);
}

/// On chip 1 a read ends at 1,000, and W's page there at 5,000. Its page on chip 0 is admitted at `at` and takes 4,000.
#[test]
fn pauses_need_the_latency_of_the_read() {
    let case = |name: &str, at: Ns, w: Ns, r: Ns, left: Ns, counts: [u64; 4]| {
        Case::new(name, cycles(2, pausing))
            .given(read(0, 1))
            .ends(writes(at, 2, 2), 5 * CYCLE)
            .slack(2, CYCLE - at)
            .left(2, left)
            .page_ends(2, w)
            .ends(read(500, 10), r)
            .counts(counts)
    };
    play([
        case("just enough", 0, 5 * CYCLE, 2 * CYCLE, 0, [0, 0, 1, 1]),
        case("a nanosecond short", NS, 4 * CYCLE + NS, 5 * CYCLE + NS, CYCLE - NS, [0; 4]),
    ]);
}

/// Each transfer takes 500: a read 1,500, a write 4,500 of which the last 4,000 are its four steps. W's page on chip 0 has 4,500 of slack.
#[test]
fn pauses_with_transfers() {
    let case = |name: &str, arrivals: &[(Ns, Ns)], end: Ns, left: Ns, counts: [u64; 4]| {
        let case = Case::new(name, cycles(2, pausing))
            .with("", |c| c.device.command_ns = 500)
            .given(write(0, 1))
            .ends(writes(0, 2, 2), 9000)
            .slack(2, 4500)
            .left(2, left)
            .page_ends(2, end)
            .counts(counts);
        arrivals.iter().enumerate().fold(case, |case, (index, &(at, end))| case.ends(read(at, 10 + 2 * index as u64), end))
    };
    play([
        case("the first step begins when the data are in", &[(100, 3000)], 6000, 3000, [0, 0, 1, 1])
            .array(0, &[(500, 1500), (1500, 2500), (3000, 6000)]),
        // The first read's transfer holds the die until 3,000; then slack is left for two more.
        case("one after the other", &[(100, 3000), (100, 4500), (100, 6000), (100, 10_500)], 9000, 0, [0, 0, 1, 3])
            .array(0, &[(500, 1500), (1500, 2500), (3000, 4000), (4500, 5500), (6000, 9000), (9000, 10_000)]),
    ]);
}

/// Of W, page 8 and 10 lie on two planes of chip 0 and are programmed as one; they are estimated one after the other. 9 on chip 1 has a write
/// ahead, and a read where `read_ahead`.
#[test]
fn pauses_of_multi_plane_programs() {
    let case = |name: &str, read_ahead: bool, w: Ns| {
        let config = cycles(2, |c| {
            pausing(c);
            c.device.planes_per_die = 2;
            c.device.multiplane = true;
        });
        Case::new(name, config)
            .all_given(read_ahead.then(|| read(0, 1)))
            .given(write(0, 5))
            .ends(writes(0, 8, 3), w)
            .estimated(8, 4 * CYCLE)
            .estimated(9, w)
            .estimated(10, 8 * CYCLE)
    };
    play([
        case("a page without slack", false, 8 * CYCLE)
            .slack(8, 4 * CYCLE)
            .slack(10, 0)
            .page_ends(8, 4 * CYCLE)
            .page_ends(10, 4 * CYCLE)
            .ends(read(500, 16), 5 * CYCLE),
        // Both pages pay for the first read; 10 cannot for the second.
        case("the page with the least slack", true, 9 * CYCLE)
            .slack(8, 5 * CYCLE)
            .slack(10, CYCLE)
            .left(8, 4 * CYCLE)
            .left(10, 0)
            .page_ends(8, 5 * CYCLE)
            .page_ends(10, 5 * CYCLE)
            .ends(read(500, 16), 2 * CYCLE)
            .ends(read(500, 20), 6 * CYCLE)
            .counts([0, 0, 1, 1]),
    ]);
}

/// Nothing else begins on a die while its program is paused, nor on the other die where they take turns.
#[test]
fn pauses_are_for_reads_only() {
    let turns: fn(&mut Config) = |c| {
        c.device.dies_per_chip = 2;
        c.device.die_interleave = false;
    };
    let planes: fn(&mut Config) = |c| c.device.planes_per_die = 2;
    // 4 and 12 lie on the die (or plane) that W's page 8 lies on, 6 and 14 on the other.
    let case = |name: &str, shape: fn(&mut Config), r: u64, v: u64| {
        Case::new(name, cycles(2, pausing))
            .with("", shape)
            .given(write(0, 1))
            .ends(writes(0, 8, 2), 8 * CYCLE)
            .slack(8, 4 * CYCLE)
            .page_ends(8, 5 * CYCLE)
            .ends(read(500, r), 2 * CYCLE)
            .ends(write(600, v), 9 * CYCLE)
            .counts([0, 0, 1, 1])
    };
    play([
        case("one die", |_| (), 4, 12),
        case("the other plane", planes, 6, 14),
        case("a read of the die itself, a write of the other that takes turns", turns, 4, 14),
        case("a read and a write of the other that takes turns", turns, 6, 14),
    ]);
    // The second die works beside the first where it can.
    play([Case::new("dies apart", cycles(2, pausing))
        .with("", |c| c.device.dies_per_chip = 2)
        .given(write(0, 1))
        .ends(writes(0, 8, 2), 8 * CYCLE)
        .page_ends(8, 5 * CYCLE)
        .ends(read(500, 4), 2 * CYCLE)
        .ends(read(500, 6), 1500)
        .ends(write(1500, 14), 5500)
        .counts([0, 0, 1, 1])]);
}

/// A program does not pause for a read that is not its request's to wait for: bypassing decides which is next, and reads go on in that order.
#[test]
fn pauses_for_the_read_that_is_next() {
    // W's page on chip 0, 2, has one cycle of slack: it is estimated at 4, and 3 on chip 1, behind a read, at 5. X's page on chip 0, 30, is
    // estimated at 5 and that on chip 1, behind the read, W's program of which 4.5 are left (it is not paused) and six more, far later.
    // The read of 40 passes 30 and is the one that the program pauses for.
    play([Case::new("bypass and pause", cycles(2, pausing))
        .with("", read_bypass)
        .given(read(0, 1))
        .ends(writes(0, 2, 2), 5 * CYCLE)
        .slack(2, CYCLE)
        .left(2, 0)
        .page_ends(2, 5 * CYCLE)
        .all_given(read_each(1500, 5, 2, 6))
        .ends(reads(1600, 30, 2), 12 * CYCLE)
        .estimated(30, 5 * CYCLE)
        .estimated(31, 12 * CYCLE)
        .slack(30, 6 * CYCLE)
        .left(30, 6 * CYCLE)
        .page_ends(30, 6 * CYCLE)
        .ends(read(1600, 40), 3 * CYCLE)
        .counts([1, 0, 1, 1])]);
}

/// With a cache register the next write is transferred (500) while W's page is programmed, from 500 to 4,500. It then has company on its die; but
/// while a read waits no write goes ahead of that, and it has none.
#[test]
fn pauses_only_of_programs_alone_on_their_die() {
    let case = |name: &str, at: Ns, end: Ns, w: Ns, v: Ns, counts: [u64; 4]| {
        Case::new(name, cycles(2, pausing))
            .with("", |c| {
                c.device.command_ns = 500;
                c.device.cache_register = true;
                c.scheduler.pipeline = true;
            })
            .given(write(0, 1))
            .ends(writes(0, 2, 2), 8500)
            .slack(2, 4500)
            .page_ends(2, w)
            .ends(write(0, 12), v)
            .ends(read(at, 10), end)
            .counts(counts)
    };
    play([
        // The write's data are in at 1,000 and it is programmed from 4,500 to 8,500, by itself, but has no slack.
        case("the read comes during the second transfer", 700, 10_000, 4500, 8500, [0; 4]),
        // The read is there at 500. It is read from 1,500 to 2,500 and transferred until 3,000; the rest of W's program is that to 6,000.
        case("the read comes before it", 400, 3000, 6000, 10_000, [0, 0, 1, 1]),
    ]);
}

/// The job of the even chip erases from 54 us on. W comes at 60: the erase is suspended until 61 us for its page there, 26, which has slack, as 27
/// waits behind 26 reads. Then a read comes for that die; nothing pauses for it there beside an operation that is suspended.
#[test]
fn no_pause_where_something_is_suspended() {
    let config = collecting(|c| {
        c.gc.suspend = vec![Suspendable::Erase];
        c.device.suspend_ns = 1000;
    });
    play([Case::new("beside a suspended erase", config)
        .all_given((0..4).map(|index| write(10_000 * index, 2 * TWO_MOVES[index as usize])))
        .given(write(40_000, 24))
        .all_given(read_each(60_000, 1, 0, 26))
        .given(writes(60_000, 26, 2))
        // 14 us are left of the erase, two pages were moved for five writes.
        .estimated(26, 60_000 + 14_000 + 2 * 5000 / 5 + 4000)
        .estimated(27, 60_000 + 26_000 + 4000)
        .slack(26, 10_000)
        .page_ends(26, 65_000)
        .ends(read(62_500, 20), 66_000)])
}

/// W's page on chip 1 is paused for all of its slack, so that both end at 5 and the parts are those of the higher one.
#[test]
fn paused_time_is_a_part_of_the_response_time() {
    play([Case::new("the part `suspended`", cycles(2, pausing))
        .given(read(0, 0))
        .ends(writes(0, 2, 2), 5 * CYCLE)
        .slack(3, CYCLE)
        .left(3, 0)
        .page_ends(3, 5 * CYCLE)
        .parts(&[(Array, 4 * CYCLE), (Suspended, CYCLE)])
        .ends(read(500, 11), 2 * CYCLE)
        .parts(&[(DieQueue, 500), (Array, CYCLE)])
        .counts([0, 0, 1, 1])]);
}

/// Two chips of [`one_job`]'s shape, read in 1, programmed in 4 and erased in 20 us. The fifth write on the even chip is W's, at 40 us: with it
/// a job is wanted there.
fn collecting(change: impl FnOnce(&mut Config)) -> Config {
    one_job(|c| {
        c.device.channels = 2;
        c.device.transfer_ps_per_byte = 0;
        (c.device.read_ns, c.device.program_ns, c.device.erase_ns) = (CYCLE, 4 * CYCLE, 20 * CYCLE);
        c.device.ispp_steps = 4;
        estimating(c);
        pausing(c);
        change(c);
    })
}

#[test]
fn collection_waits_for_the_end_of_a_paused_program() {
    let case = |name: &str, priority: Priority| {
        Case::new(name, collecting(|c| c.gc.priority = priority))
            .all_given((0..4).map(|index| write(10_000 * index, 2 * TWO_MOVES[index as usize])))
            .given(write(40_000, 1))
            .ends(writes(40_000, 24, 2), 48_000)
            .slack(24, 4000)
    };
    let before = [(0, 4000), (10_000, 14_000), (20_000, 24_000), (30_000, 34_000)];
    let stages = |after: &[(Ns, Ns)]| [&before, after].concat();
    play([
        case("a job of lower priority", Priority::Host).page_ends(24, 45_000).ends(read(40_500, 20), 42_000).counts([0, 0, 1, 1]).array(
            0,
            &stages(&[
                (40_000, 41_000),
                (41_000, 42_000),
                (42_000, 45_000),
                (45_000, 46_000),
                (46_000, 50_000),
                (50_000, 51_000),
                (51_000, 55_000),
                (55_000, 75_000),
            ]),
        ),
        // The job's first step would be next on the die, and the read is not: two moves and the erase, 30 us.
        case("a job of higher priority", Priority::Gc).page_ends(24, 44_000).ends(read(40_500, 20), 75_000),
        // The job waits since 40 us; when it has moved a page, the read has waited for longer than its next step.
        case("a job that waits for longer", Priority::Fifo).page_ends(24, 44_000).ends(read(40_500, 20), 50_000),
    ]);
}

/// Two chips on one channel, which is the scope. W's page on the even chip is paused for a read from 41 to 42 us, and has slack for another, as
/// its other page waits behind two writes. At 41.5 us the second of these begins: a job is active and excludes the channel.
#[test]
fn a_scope_that_excludes_the_die_ends_the_pause() {
    let case = |name: &str, scope: Scope| {
        let config = collecting(|c| {
            (c.device.channels, c.device.chips_per_channel) = (1, 2);
            c.gc.scope = scope;
        });
        Case::new(name, config)
            .all_given([write(0, 1), write(10_000, 3), write(20_000, 9), write(37_500, 17), write(39_000, 5)])
            .given(writes(40_000, 24, 2))
            .estimated(24, 44_000)
            .estimated(25, 40_000 + 1500 + 4000 + 4000)
            .slack(24, 5500)
            .ends(read(40_500, 20), 42_000)
    };
    let before = |case: Case, left: Ns, end: Ns| {
        let mut case = case.given(read(40_600, 22));
        case = case.counts(if left == 4500 { [0, 0, 1, 1] } else { [0, 0, 1, 2] });
        case.of_request(5).left(24, left).page_ends(24, end)
    };
    play([
        before(case("nothing excluded", Scope::None), 3500, 46_000).of_request(7).page_ends(22, 43_000),
        before(case("the channel excluded", Scope::Channel), 4500, 45_000),
    ]);
}

/// The job reads both pages and then programs them, from 47 to 51 and to 55 us. At 49 us page 6, the second, is in the controller's buffer and
/// the read of it is answered at once: its sibling on the idle chip has no slack from it.
#[test]
fn a_page_in_a_moves_buffer_is_answered_at_once() {
    let config = collecting(|c| {
        c.gc.moves_in_flight = 2;
        c.gc.merge = true;
    });
    play([Case::new("a read of a buffered page", config)
        .all_given((0..4).map(|index| write(10_000 * index, 2 * TWO_MOVES[index as usize])))
        .given(write(41_000, 24))
        .ends(reads(49_000, 6, 2), 50_000)
        .estimated(7, 50_000)
        .slack(7, 0)]);
}

/// 30 has five cycles of slack, and is read again by another request: reads of one page may pass each other.
#[test]
fn bypass_passes_a_read_of_its_page() {
    play([busy("a read of the page that waits", 6)
        .with("on", read_bypass)
        .ends(reads(0, 30, 2), 7 * CYCLE)
        .slack(30, 5 * CYCLE)
        .left(30, 4 * CYCLE)
        .page_ends(30, 3 * CYCLE)
        .ends(read(500, 30), 2 * CYCLE)
        .counts([1, 0, 0, 0])]);
}

/// Both reads are for the die whose program pauses, and for two planes of it: they are one operation of one cycle.
#[test]
fn a_multi_plane_read_in_a_pause() {
    let config = cycles(2, |c| {
        pausing(c);
        c.device.planes_per_die = 2;
        c.device.multiplane = true;
    });
    let half = |read, write| Some(PausedShare { read: Some(read), write: Some(write) });
    play([Case::new("reads on two planes", config.clone())
        .given(write(0, 1))
        .ends(writes(0, 8, 2), 8 * CYCLE)
        .slack(8, 4 * CYCLE)
        .left(8, 3 * CYCLE)
        .page_ends(8, 5 * CYCLE)
        .ends(read(500, 16), 2 * CYCLE)
        .ends(read(500, 18), 2 * CYCLE)
        .counts([0, 0, 1, 2])]);
    let run = Watched { verify: Verify::Every, every_stage: false, in_parts: false };
    let run = run.run(&config, &[write(0, 1), writes(0, 8, 2), read(500, 16), read(500, 18)]).expect("a run");
    assert_eq!(run.slack.paused, half(1.0, 0.5), "both reads were served in the pause");
}

/// Two reads may wait for a chip. Of X, 32 has no place until 1, when 2 begins; until then 30 has the slack that 31 gives it.
#[test]
fn slack_of_a_request_that_is_partly_admitted() {
    let config = cycles(2, |c| c.scheduler.read_queue = 2);
    play([Case::new("a page held back", config)
        .given(read(0, 0))
        .given(write(0, 1))
        .given(read(100, 2))
        .ends(reads(500, 30, 3), 5 * CYCLE)
        .estimated(30, 3 * CYCLE)
        .estimated(31, 5 * CYCLE)
        .slack(30, 2 * CYCLE)
        .estimated(32, 4 * CYCLE)
        .slack(32, CYCLE)]);
}

/// Two chips of two dies each. Eight reads are on chip 0, so that eight writes go to chip 1. X goes to both: on chip 0 it is estimated at
/// 8 x 1 / 2 + 4 = 8, on chip 1 at 8 x 4 / 2 + 4 = 20. Then come three writes: two for chip 0, which pass X, and between them one for chip 1.
#[test]
fn bypass_where_writes_have_no_die_yet() {
    let config = cycles(2, |c| {
        c.device.dies_per_chip = 2;
        c.ftl.allocation = Allocation::Dynamic;
    });
    let case = |name: &str, x: Ns, others: [Ns; 2], estimates: [Ns; 2]| {
        Case::new(name, config.clone())
            .all_given(read_each(0, 0, 2, 8))
            .all_given(write_each(0, 100, 1, 8))
            .ends(writes(0, 120, 2), 20 * CYCLE)
            .estimated(120, 8 * CYCLE)
            .estimated(121, 20 * CYCLE)
            .page_ends(120, x)
            .ends(write(0, 130), others[0])
            .estimated(130, estimates[0])
            .ends(write(0, 131), 20 * CYCLE)
            .ends(write(0, 132), others[1])
            .estimated(132, estimates[1])
    };
    play([
        case("off", 8 * CYCLE, [8 * CYCLE, 12 * CYCLE], [10 * CYCLE, 12 * CYCLE]),
        case("on", 12 * CYCLE, [8 * CYCLE, 8 * CYCLE], [8 * CYCLE, 10 * CYCLE])
            .with("bypass", write_bypass)
            .of_request(16)
            .left(120, 4 * CYCLE)
            .counts([0, 2, 0, 0]),
    ]);
}

/// Two jobs follow each other on the even chip, the first from 44 to 74 us. Two reads wait for its end, 20 and 22; 23 on the other chip waits
/// behind twenty others, so that 22 has slack. A read that comes at 74.5 us, while 20 is read, passes 22; but 22 waited when the job ended, and
/// is read before the next.
#[test]
fn what_waited_for_a_job_goes_before_the_next_also_when_it_is_passed() {
    let config = collecting(|c| {
        c.ftl.frontier = Frontier::Separate;
        c.gc.scope = Scope::Die;
        c.scheduler.write_pausing = false;
    });
    let case = |name: &str| {
        Case::new(name, config.clone())
            .all_given((0..4).map(|index| write(10_000 * index, 2 * TWO_MOVES[index as usize])))
            .given(write(40_000, 24))
            .ends(read(60_000, 20), 75_000)
            .all_given(read_each(61_000, 1, 0, 20))
            .given(reads(61_000, 22, 2))
            // Until 74 us, then 20; two pages have been moved for five operations.
            .estimated(22, 61_000 + 13_000 + 1000 + 2 * 5000 / 5 + 1000)
            .estimated(23, 61_000 + 20_000 + 1000)
            .slack(22, 4000)
    };
    play([
        case("off").page_ends(22, 76_000).given(read(74_500, 26)),
        case("on").with("bypass", read_bypass).page_ends(22, 77_000).left(22, 3000).ends(read(74_500, 26), 76_000).counts([1, 0, 0, 0]),
    ]);
}

/// Fig. 6(c) with pausing, in numbers.
///
/// | | response | estimated | pages' slack | chips | waiting when it comes, by chip |
/// |---|---|---|---|---|---|
/// | WA | 4,000 | 4,000 | 0 | 1 | 0, 0, 0 |
/// | WB | 9,000 | 8,000 | 0, 5,000, 3,000 | 3 | 1, 0, 0 |
/// | RB | 1,500 | 4,500 | 0 | 1 | 1, 0, 0 |
/// | RA | 4,500 | 5,500 | 2,000, 0 | 2 | 1, 0, 1 |
#[test]
fn statistics_of_figure_6c() {
    let deviation = |pages: &[f64]| {
        let mean = pages.iter().sum::<f64>() / pages.len() as f64;
        let squares = pages.iter().map(|page| page * page).sum::<f64>() / pages.len() as f64;
        Some(Slack { mean_ns: mean, std_ns: (squares - mean * mean).sqrt() })
    };
    let result = SlackResult {
        read: deviation(&[0.0, 2000.0, 0.0]),
        write: deviation(&[0.0, 0.0, 5000.0, 3000.0]),
        estimation_error: Some((1000.0 + 3000.0 + 1000.0) / 19_000.0),
        estimation_bias: Some((-1000.0 + 3000.0 + 1000.0) / 19_000.0),
        passed: Some(ShareByKind { read: Some(0.0), write: Some(0.0) }),
        paused: Some(PausedShare { read: Some(1.0), write: Some(0.5) }),
        chips: Some(MeanByKind { read: Some(1.5), write: Some(2.0) }),
        waiting: Some(Waiting { mean: 4.0 / 12.0, longest: 0.75, shortest: 0.0 }),
    };
    play([Case::new("Fig. 6(c)", cycles(3, pausing))
        .ends(write(0, 0), 4 * CYCLE)
        .ends(writes(0, 3, 3), 9 * CYCLE)
        .ends(read(CYCLE / 2, 8), 2 * CYCLE)
        .ends(reads(CYCLE / 2, 11, 2), 5 * CYCLE)
        .counts([0, 0, 1, 2])
        .result(result)]);
}

/// X has two pages on each of two chips, and its pages on the first end long before those behind three reads on the other: the last read
/// passes both.
#[test]
fn each_chip_of_a_request_counts_once_and_each_request_that_passes_others() {
    let mut simulation = Simulation::new(&Plan::new(cycles(2, read_bypass), 1), &Control::default()).unwrap();
    for request in [read(0, 0)].into_iter().chain(read_each(0, 1, 2, 3)).chain([reads(0, 30, 4), read(500, 40)]) {
        simulation.submit(request).unwrap();
    }
    let slack = simulation.finish().unwrap().slack;
    assert_eq!(slack.chips.unwrap().read, Some((5.0 * 1.0 + 2.0) / 6.0));
    assert_eq!(slack.passed.unwrap().read, Some(1.0 / 6.0));
}

/// Footnote 3: what an estimate was wrong by on average, over those of its kind that ended within a second, is added to the next.
#[test]
fn error_feedback() {
    let feedback: fn(&mut Config) = |c| c.scheduler.error_feedback = true;
    let planes = single(|c| {
        feedback(c);
        c.device.planes_per_die = 2;
        c.device.multiplane = true;
        c.device.transfer_ps_per_byte = 0;
    });
    let l_r = 25_000;
    play([
        Case::new("too short", cycles(1, feedback))
            .given(write(0, 0))
            .ends(write(0, 1), 9 * CYCLE)
            .estimated(1, 8 * CYCLE)
            // It goes ahead of the second write, which therefore ends a cycle later than was estimated.
            .ends(read(1000, 8), 5 * CYCLE)
            .estimated(8, 5 * CYCLE)
            // Writes were estimated too short by 0 and 1 cycle, and reads by nothing.
            .ends(write(20_000, 2), 25 * CYCLE)
            .estimated(2, 24 * CYCLE + 500)
            .given(read(20_000, 9))
            .estimated(9, 21 * CYCLE)
            // Before the 500 were added, by another cycle: 666.7.
            .given(write(40_000, 3))
            .estimated(3, 44 * CYCLE + 666),
        // What a page is estimated to wait for the other plane it does not: both are read by one command. `a` of `c` pages shared theirs.
        Case::new("too long", planes)
            .given(read(0, 0))
            // 1 / 1: 3 is estimated 25,000 too late.
            .given(reads(1_000_000, 2, 2))
            .estimated(3, 1_000_000 + l_r + l_r)
            // 1 / 3, 8,333, less 25,000 / 3; the first of them cannot end before it could.
            .given(reads(2_000_000, 4, 2))
            .estimated(4, 2_000_000 + l_r)
            .estimated(5, 2_000_000 + l_r)
            // 1 / 5, 5,000, less 33,333 / 5, of which 5,000 leave nothing to wait for.
            .given(reads(3_000_000, 6, 2))
            .estimated(7, 3_000_000 + l_r)
            // 1 / 7, 3,571 and for two 7,142, less 38,333 / 7.
            .given(reads(4_000_000, 8, 4))
            .estimated(8, 4_000_000 + l_r)
            .estimated(9, 4_000_000 + l_r)
            .estimated(10, 4_000_000 + l_r + 3_571 - 5_476 + l_r)
            .estimated(11, 4_000_000 + l_r + 7_142 - 5_476 + l_r)
            // These were too late by 0, 3,571, 3,571 and 7,142. A second after 2 and 3 ended they still count, the first read does not: 52,617 / 10.
            .given(reads(1_001_025_000, 12, 4))
            .estimated(14, 1_001_025_000 + l_r + 25_000 / 11 - 5_261 + l_r)
            // By 0, 2,272, 2,272 and 4,545; without 2 and 3: 36,706 / 12.
            .given(reads(1_001_100_000, 16, 4))
            .estimated(18, 1_001_100_000 + l_r + 25_000 / 15 - 3_058 + l_r)
            // Long after, nothing is known any more.
            .given(reads(5_000_000_000, 20, 4))
            .estimated(22, 5_000_000_000 + l_r + 25_000 / 19 + l_r),
    ]);
}

#[test]
fn configurations_that_cannot_be() {
    let message = |change: fn(&mut Config)| {
        let mut config = cycles(2, |_| ());
        change(&mut config);
        validate(&config).expect_err("a configuration that cannot be").to_string()
    };
    for (key, change) in [
        ("scheduler.read_bypass", read_bypass as fn(&mut Config)),
        ("scheduler.write_bypass", write_bypass),
        ("scheduler.write_pausing", pausing),
    ] {
        let mut config = cycles(2, change);
        validate(&config).unwrap_or_else(|error| panic!("{key}: {error}"));
        config.scheduler.order = Order::Fcfs;
        let error = validate(&config).expect_err(key).to_string();
        assert!(error.contains(key) && error.contains("scheduler.order"), "{key}: {error}");
    }
    let error = message(|c| {
        pausing(c);
        c.device.page_registers = 1;
    });
    assert!(error.contains("scheduler.write_pausing") && error.contains("device.page_registers"), "{error}");
}

// What holds for any workload.

/// Up to four channels, each of which is a station, in one of three shapes.
fn random_stations(rng: &mut Rng) -> Config {
    cycles(1 + rng.below(4) as u32, |c| {
        match rng.below(3) {
            0 => {}
            1 => c.device.planes_per_die = 2,
            _ => {
                c.device.dies_per_chip = 2;
                c.device.die_interleave = false;
            }
        }
        c.device.ispp_steps = [1, 2, 4, 8][rng.below(4) as usize];
        c.device.program_ns = 1000 * [1, 4, 8][rng.below(3) as usize];
        c.device.command_ns = [0, 0, 500, 1300][rng.below(4) as usize];
    })
}

/// Requests for whole pages, each page at most once.
fn random_requests(rng: &mut Rng, config: &Config, kinds: &[RequestKind]) -> Vec<Request> {
    let stations = u64::from(config.device.channels);
    // Two thirds of 24 blocks of 8 pages are spare.
    let exported = 55 * stations;
    let gap = [1, 300, 1500, 4000][rng.below(4) as usize];
    let (mut at, mut page) = (0, 0);
    let mut requests = Vec::new();
    for _ in 0..4 + rng.below(20) {
        at += if rng.chance(0.4) { 0 } else { rng.below(gap) * if rng.chance(0.5) { 1 } else { 100 } };
        page += rng.below(stations);
        let most = if rng.chance(0.5) { 2 } else { 2 * stations };
        let pages = 1 + rng.below(most);
        if page + pages > exported {
            break;
        }
        let kind = kinds[rng.below(kinds.len() as u64) as usize];
        requests.push(Request { kind, ..reads(at, page, pages) });
        page += pages;
    }
    requests
}

/// Where only one kind of operation is there, all of one length, which never wait for their page, their place or the bus, then:
///
/// 1. *What begins is settled on arrival.* A station works whenever something waits, and whatever the order all take equally long: the times at
///    which it begins something, its slots, are the same under any order. An operation that is admitted when `n` are ahead of it takes the
///    slot `n` from then on, unless it is passed; each pass moves it by one slot and costs it L of its slack. The residual time is exact, and so
///    is the estimate. So each page ends at its estimate plus what was taken from its slack.
/// 2. *Each request ends when it was estimated to,* at the latest end of its pages: a page ends there at the latest, as no more than its slack is
///    taken; and the page that is estimated to end last has no slack, is not passed, and ends then.
/// 3. *No request ends later than without bypassing.* The number that waits at a station is the same under both orders (the slots are), so that
///    without bypassing a page is admitted at the end of a queue in which with bypassing it has a place, perhaps ahead of the end: no
///    estimate is later, hence no latest estimate of a request, and by 2 no end.
///
/// Newcomers add work only behind a page or, where they pass it, for slack; therefore these hold however many come.
#[test]
fn with_one_kind_of_operation_nobody_is_delayed() {
    let cases = Cases::asked_for(10_000);
    let tally = cases.run(one_kind).unwrap_or_else(|failure| panic!("case {}: {}", failure.case, failure.reason));
    assert!(!is_full() || tally["passes"] > 10_000 && tally["requests that end earlier"] > 5_000, "{tally:?}");
}

fn one_kind(case: u64) -> Result<Tally, String> {
    let mut rng = Rng::new(case, "slack, one kind");
    let kind = if rng.chance(0.5) { RequestKind::Read } else { RequestKind::Write };
    let mut config = random_stations(&mut rng);
    let requests = random_requests(&mut rng, &config, &[kind]);
    let watched = Watched { verify: Verify::End, every_stage: rng.chance(0.1), in_parts: false };
    let plain = watched.run(&config, &requests)?;
    read_bypass(&mut config);
    write_bypass(&mut config);
    let passing = watched.run(&config, &requests)?;
    let transfer = config.device.command_ns;
    let latency = transfer + if kind == RequestKind::Read { config.device.read_ns } else { config.device.program_ns };
    let says = |what: String| Err(format!("{what}\n{config:#?}\n{requests:#?}\n{passing:#?}"));
    for run in [&plain, &passing] {
        assert_eq!(run.jobs, 0, "nothing is to be collected");
        let latest = latest_estimates(run);
        for (key, page) in &run.pages {
            // What was taken in the instant of its admission is not in `slack`.
            let slack = latest[key.0 as usize] - page.estimate;
            if page.left > slack || page.end != page.estimate + (slack - page.left) || !(slack - page.left).is_multiple_of(latency) {
                return says(format!("{key:?}: {page:?}, with slack {slack} at first"));
            }
        }
        if run.ends != latest {
            return says(format!("requests end at {:?} and were to end at {latest:?}", run.ends));
        }
    }
    let taken: Ns = passing.pages.iter().map(|(key, page)| passing.ends[key.0 as usize] - page.estimate - page.left).sum();
    let of_kind = usize::from(kind == RequestKind::Write);
    let passes = passing.counts[of_kind];
    let mut counts = [0; 4];
    counts[of_kind] = taken / latency;
    if passing.counts != counts || plain.counts != [0; 4] {
        return says(format!("passes are {:?}, not {counts:?}, and {:?} without bypassing", passing.counts, plain.counts));
    }
    if let Some(index) = (0..requests.len()).find(|&index| passing.ends[index] > plain.ends[index]) {
        return says(format!("request {index} ends at {}, and at {} without bypassing", passing.ends[index], plain.ends[index]));
    }
    let earlier = (0..requests.len()).filter(|&index| passing.ends[index] < plain.ends[index]).count();
    Ok(Tally::from([("passes".into(), passes), ("requests that end earlier".into(), earlier as u64)]))
}

/// By request: when the last of its pages was estimated to end.
fn latest_estimates(run: &Run) -> Vec<Ns> {
    let mut latest = vec![0; run.ends.len()];
    for (&(request, _), page) in &run.pages {
        let latest: &mut Ns = &mut latest[request as usize];
        *latest = page.estimate.max(*latest);
    }
    latest
}

/// Reads and writes with any of the three mechanisms: every estimate, slack, end and count is that of the model.
#[test]
fn any_workload_goes_as_in_the_slow_model() {
    let cases = Cases::asked_for(6_000);
    let tally = cases.run(as_in_the_model).unwrap_or_else(|failure| panic!("case {}: {}", failure.case, failure.reason));
    for name in ["read_passes", "write_passes", "write_pauses", "pause_reads"] {
        assert!(tally[name] > 600 || !is_full(), "{tally:?}");
    }
    assert!(!is_full() || tally["pauses with SLC"] > 200 && tally["pauses plane by plane"] > 200, "{tally:?}");
    assert!(tally["pause_reads"] > tally["write_pauses"], "{tally:?}");
}

fn as_in_the_model(case: u64) -> Result<Tally, String> {
    let mut rng = Rng::new(case, "slack, any kind");
    let mut config = random_stations(&mut rng);
    config.scheduler.read_bypass = rng.chance(0.5);
    config.scheduler.write_bypass = rng.chance(0.5);
    config.scheduler.write_pausing = config.device.ispp_steps > 1 && rng.chance(0.7);
    other_mechanisms(&mut rng, &mut config);
    let mut requests = random_requests(&mut rng, &config, &[RequestKind::Read, RequestKind::Write, RequestKind::Read]);
    if config.slc.is_on() {
        // Once all has ended, what lies in the cache is read, and what follows finds it fuller.
        let last = requests.last().expect("there are some").arrival_ns;
        let more = random_requests(&mut rng, &config, &[RequestKind::Read, RequestKind::Write, RequestKind::Read]);
        requests.extend(more.into_iter().map(|request| Request { arrival_ns: request.arrival_ns + last + 100_000_000, ..request }));
    }
    if rng.chance(0.5) {
        for request in requests.iter_mut().filter(|request| request.kind == RequestKind::Write && rng.chance(0.5)) {
            (request.offset, request.length) = (request.offset + PAGE / 2, request.length - PAGE / 2);
        }
    }
    let run = Watched { verify: Verify::End, every_stage: rng.chance(0.1), in_parts: false }.run(&config, &requests)?;
    let model = Model::play(&config, &requests);
    if let Some((key, page)) = run.pages.iter().find(|&(key, page)| model.pages.get(key) != Some(page)) {
        let expected = model.pages.get(key);
        return Err(format!("{key:?}: {page:?}, not {expected:?}\n{:#?} {:#?}\n{requests:#?}", config.device, config.scheduler));
    }
    if run.pages.len() != model.pages.len() || run.counts != model.counts {
        return Err(format!("{:?}, not {:?}\n{config:#?}\n{requests:#?}", run.counts, model.counts));
    }
    let off = [config.scheduler.read_bypass, config.scheduler.write_bypass, config.scheduler.write_pausing, config.scheduler.write_pausing];
    if let Some(index) = (0..4).find(|&index| !off[index] && run.counts[index] > 0) {
        return Err(format!("count {index} of a mechanism that is off: {:?}", run.counts));
    }
    let names = ["read_passes", "write_passes", "write_pauses", "pause_reads"];
    let mut tally: Tally = names.iter().zip(run.counts).map(|(name, count)| (name.to_string(), count)).collect();
    tally.insert("pauses with SLC".into(), if config.slc.is_on() { run.counts[2] } else { 0 });
    tally.insert("pauses plane by plane".into(), if config.device.plane_programs > 1 { run.counts[2] } else { 0 });
    Ok(tally)
}

/// A third of the drives has a cache of blocks in SLC mode that is never folded, a third of those with pages on one plane programs plane by plane.
fn other_mechanisms(rng: &mut Rng, config: &mut Config) {
    if rng.chance(0.33) {
        let slc = &mut config.slc;
        (slc.static_blocks, slc.idle_us, slc.bits_per_cell) = (1 + rng.below(2) as u32, 1_000_000_000, 2);
        (slc.read_ns, slc.program_ns) = ([400, 700, 1_600][rng.below(3) as usize], [400, 2_000, 6_000][rng.below(3) as usize]);
    } else if config.device.planes_per_die == 1 && rng.chance(0.33) {
        config.device.plane_programs = 2 + rng.below(3) as u32;
    }
}

/// Drives with collection, multi-plane operations and chips that share a channel: each estimate is recomputed from the stages of the run.
#[test]
fn estimates_are_those_that_the_stages_give() {
    let cases = Cases::asked_for(1_500);
    let tally = cases.run(recounted).unwrap_or_else(|failure| panic!("case {}: {}", failure.case, failure.reason));
    assert!(!is_full() || ["residual", "collection", "interference", "advanced"].iter().all(|term| tally[*term] > 2_000), "{tally:?}");
    assert!(!is_full() || ["in SLC mode", "with superblocks", "with wear"].iter().all(|of| tally[*of] > 1_000), "{tally:?}");
}

fn recounted(case: u64) -> Result<Tally, String> {
    let mut rng = Rng::new(case, "slack, recounted");
    // Several stations on the one channel, or one on each of up to three.
    let shared = rng.chance(0.5);
    let mut config = cycles(1, |c| {
        let device = &mut c.device;
        device.blocks_per_plane = 8;
        device.pages_per_block = 4;
        device.overprovisioning = 0.5;
        device.command_ns = [700, 2_300][rng.below(2) as usize];
        device.erase_ns = 15_000;
        device.planes_per_die = 1 + rng.below(2) as u32;
        device.multiplane = device.planes_per_die == 2 && rng.chance(0.7);
        device.dies_per_chip = 1 + rng.below(2) as u32;
        if shared {
            device.chips_per_channel = 1 + rng.below(3) as u32;
            device.die_interleave = rng.chance(0.5);
        } else {
            device.channels = 1 + rng.below(3) as u32;
            device.die_interleave = device.dies_per_chip == 1;
        }
        c.gc.soft = [1.0, 3.0][rng.below(2) as usize];
        c.gc.scope = [Scope::None, Scope::Die, Scope::Chip, Scope::Channel][rng.below(4) as usize];
        c.gc.priority = [Priority::Gc, Priority::Fifo, Priority::Host][rng.below(3) as usize];
        c.gc.moves_in_flight = 1 + rng.below(2) as u32;
    });
    if rng.chance(0.2) {
        config.scheduler.order = Order::Fcfs;
    }
    match rng.below(4) {
        0 => in_other_modes(&mut rng, &mut config),
        1 => spread_over_dies(&mut config),
        2 => worn(&mut rng, &mut config),
        _ => {}
    }
    // A die whose write waits for the bus is in its line also while a read works on it: whether others wait behind it shows in no stage.
    let kinds: &[RequestKind] = match rng.below(3) {
        _ if shared => &[RequestKind::Read],
        0 => &[RequestKind::Read],
        1 => &[RequestKind::Write],
        _ => &[RequestKind::Read, RequestKind::Write],
    };
    let compared = Recount::run(&config, &mut rng, kinds)?.compare()?;
    Ok(Tally::from([
        ("estimates".into(), compared.estimates),
        ("residual".into(), compared.residual),
        ("collection".into(), compared.collection),
        ("interference".into(), compared.interference),
        ("advanced".into(), compared.advanced),
        ("in SLC mode".into(), compared.in_slc),
        ("with superblocks".into(), if config.pools_per_group() > 1 { compared.collection } else { 0 }),
        ("with wear".into(), if config.wear.is_active() { compared.collection } else { 0 }),
    ]))
}

/// A cache of blocks in SLC mode, which is folded while writes go on.
fn in_other_modes(rng: &mut Rng, config: &mut Config) {
    (config.device.planes_per_die, config.device.multiplane, config.device.blocks_per_plane) = (1, false, 12);
    config.gc.moves_in_flight = 1;
    let slc = &mut config.slc;
    (slc.static_blocks, slc.fold_level, slc.idle_us, slc.bits_per_cell) = (1 + rng.below(2) as u32, 0.5, 0, 2);
    (slc.read_ns, slc.program_ns, slc.erase_ns) = (400, [1_500, 6_000][rng.below(2) as usize], 9_000);
}

/// Superblocks of all dies.
fn spread_over_dies(config: &mut Config) {
    let device = &mut config.device;
    (device.planes_per_die, device.multiplane, device.dies_per_chip, device.die_interleave) = (1, false, 1, true);
    config.ftl.reclaim_unit = ReclaimUnit::Superblock;
    config.ftl.allocation = Allocation::Dynamic;
    config.gc.scope = Scope::None;
}

/// Erases whose time grows.
fn worn(rng: &mut Rng, config: &mut Config) {
    config.wear.erase_growth = 50.0;
    config.wear.erase_spread = 0.0;
    if rng.chance(0.5) {
        config.wear.erase = [Erase::Pulses, Erase::AsNeeded][rng.below(2) as usize];
        (config.wear.pulse_ns, config.wear.verify_ns, config.wear.step_ns, config.wear.probe_ns) = (10_000, 300, 700, 2_000);
    }
}

/// Whatever else a drive does, `scheduler.estimates` changes nothing; nor does bypassing or pausing where no request has two pages, so that
/// none has slack.
#[test]
fn without_slack_nothing_changes() {
    let cases = Cases::asked_for(400);
    let tally = cases.run(unchanged).unwrap_or_else(|failure| panic!("case {}: {}", failure.case, failure.reason));
    assert!(!is_full() || tally["requests"] > 14_000, "{tally:?}");
}

fn unchanged(case: u64) -> Result<Tally, String> {
    let mut rng = Rng::new(case, "slack, unchanged");
    let mut config = random_config(&mut rng);
    let mut requests = common::random_requests(&mut rng, &config, 40);
    any_mechanisms(case, &mut config);
    config.scheduler = Scheduler {
        order: Order::FrFcfs,
        estimates: false,
        read_bypass: false,
        write_bypass: false,
        write_pausing: false,
        error_feedback: false,
        ..config.scheduler
    };
    let plain = responses(&config, &requests)?;
    config.scheduler.estimates = true;
    if responses(&config, &requests)? != plain {
        return Err(format!("estimates change something\n{config:#?}\n{requests:#?}"));
    }
    let page = u64::from(config.device.page_bytes);
    for request in requests.iter_mut().filter(|request| request.length > 0) {
        request.length = request.length.min(page - request.offset % page);
    }
    config.device.page_registers = 2;
    config.device.ispp_steps = 4;
    // A drive whose programs may pause plays its operations in stages: where transfers take no time these may tie in another order.
    config.device.transfer_ps_per_byte = config.device.transfer_ps_per_byte.max(1_000);
    let plain = responses(&config, &requests)?;
    for change in [read_bypass, write_bypass, pausing] {
        change(&mut config);
        let changed = responses(&config, &requests)?;
        if let Some(index) = (0..plain.len()).find(|&index| changed[index] != plain[index]) {
            let [was, is] = [plain[index], changed[index]];
            return Err(format!("request {index} ends at {is} and not at {was}\n{config:#?}\n{requests:#?}"));
        }
    }
    Ok(Tally::from([("requests".into(), plain.len() as u64)]))
}

/// On any drive: slack only melts, estimates stay, every invariant holds after every event, and nothing depends on how operations are played.
#[test]
fn slack_melts_on_any_drive() {
    let cases = Cases::asked_for(300);
    let tally = cases.run(melts).unwrap_or_else(|failure| panic!("case {}: {}", failure.case, failure.reason));
    assert!(["read_passes", "write_passes", "write_pauses", "pause_reads"].iter().all(|name| tally[*name] > cases.count / 10), "{tally:?}");
}

/// Mechanisms of which an estimate expects other times for the same operation.
fn any_mechanisms(case: u64, config: &mut Config) {
    common::superblocks(&mut Rng::new(case, "superblocks"), config);
    common::slc(&mut Rng::new(case, "slc"), config);
    common::wear(&mut Rng::new(case, "wear"), config);
    common::plane_programs(&mut Rng::new(case, "planes"), config);
}

fn melts(case: u64) -> Result<Tally, String> {
    let mut rng = Rng::new(case, "slack, any drive");
    let mut config = random_config(&mut rng);
    config.scheduler = Scheduler {
        order: Order::FrFcfs,
        estimates: true,
        read_bypass: rng.chance(0.8),
        write_bypass: rng.chance(0.8),
        write_pausing: rng.chance(0.8),
        error_feedback: rng.chance(0.2),
        ..config.scheduler
    };
    config.device.page_registers = 2;
    config.device.ispp_steps = 2 + rng.below(7) as u32;
    config.device.page_bytes = PAGE as u32;
    config.device.transfer_ps_per_byte = config.device.transfer_ps_per_byte.max(1_000);
    let requests = common::random_requests(&mut rng, &config, 60);
    any_mechanisms(case, &mut config);
    // A write waits in the host queue while no chip has room for it; so do others where queues are bounded.
    let in_parts = config.ftl.allocation == Allocation::Dynamic || config.scheduler.read_queue > 0;
    let run = |every_stage| Watched { verify: Verify::Every, every_stage, in_parts }.run(&config, &requests);
    let (whole, staged) = (run(false)?, run(true)?);
    let says = |what: String| Err(format!("{what}\n{config:#?}\n{requests:#?}"));
    if (&whole.pages, &whole.ends, &whole.parts, whole.counts) != (&staged.pages, &staged.ends, &staged.parts, staged.counts) {
        return says("it depends on how operations are played".into());
    }
    // Sixty requests: what counts below 0 shows.
    let absurd = |page: &&Page| page.estimate < page.admitted || page.estimate - page.admitted > 10_000_000_000;
    if let Some(page) = whole.pages.values().find(absurd) {
        return says(format!("an absurd estimate: {page:?}"));
    }
    let names = ["read_passes", "write_passes", "write_pauses", "pause_reads"];
    Ok(names.iter().zip(whole.counts).map(|(name, count)| (name.to_string(), count)).collect())
}

/// By request: when it ends.
fn responses(config: &Config, requests: &[Request]) -> Result<Vec<Ns>, String> {
    let plan = Plan { verify: Verify::End, ..Plan::new(config.clone(), 7) };
    let mut simulation = Simulation::new(&plan, &Control::default()).map_err(|error| error.to_string())?;
    simulation.take_completions();
    for request in requests {
        simulation.submit(*request).map_err(|error| error.to_string())?;
    }
    simulation.run_to_idle().map_err(|error| error.to_string())?;
    let mut completions = simulation.take_completions();
    completions.sort_by_key(|completion| completion.index);
    simulation.finish().map_err(|error| error.to_string())?;
    Ok(completions.iter().map(|completion| completion.completed_ns).collect())
}
