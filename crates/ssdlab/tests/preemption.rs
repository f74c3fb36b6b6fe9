//! Collection that the host may interrupt: the timelines of lee2013's figures and tables, worked by hand to the nanosecond.
//!
//! Undisturbed, the job of a case goes as follows (25 us read, 102.4 us a transfer, 200 us program, 1.5 ms erase):
//!
//! | us | stage |
//! |---|---|
//! | 0, 25, 127.4, 229.8 | first page: read, out, in (its end is point A), program |
//! | 429.8 (B), 454.8, 557.2, 659.6 | second page: read, out, in, program |
//! | 859.6 (B) to 2359.6 | erase, where two pages are moved |

use crate::common;
use ssdlab::config::Suspendable::{Erase, Program, Read};
use ssdlab::config::{Config, HardStops, Layers, PoolScope, Priority, Scope, Suspendable};
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify};
use ssdlab::stats::Part::{Array, BusQueue, DieQueue, Gc, Transfer};
use ssdlab::units::PoolId;

use crate::common::timeline::*;

/// The first and the second page that the job moves, and pages that it does not move.
const X: u64 = 2;
const Y: u64 = 3;
const Z: u64 = 9;
const Z2: u64 = 10;
const Z3: u64 = 13;

fn merging(config: &mut Config) {
    config.gc.merge = true;
}

fn pairing(config: &mut Config) {
    config.device.cache_register = true;
    config.gc.pipeline = true;
}

fn suspending(operations: &[Suspendable]) -> Config {
    preemptible(|c| c.gc.suspend = operations.to_vec())
}

/// The preset `fpgc`, the hard threshold apart.
fn fully(operations: &[Suspendable]) -> Config {
    let mut config = suspending(operations);
    merging(&mut config);
    pairing(&mut config);
    config
}

/// Two moves and the erase, with nothing between them.
fn undisturbed() -> [Vec<Stage>; 3] {
    [page_move(0), page_move(429_800), erase(859_600)]
}

/// Between the two moves a write of the host.
fn write_at_b() -> [Vec<Stage>; 4] {
    [page_move(0), host_write(429_800), page_move(732_200), erase(1_162_000)]
}

/// Between the two moves a read of the host.
fn read_at_b() -> [Vec<Stage>; 4] {
    [page_move(0), host_read(429_800), page_move(557_200), erase(987_000)]
}

#[test]
fn figure_3_semi_preemption() {
    let non_preemptible = preemptible(|c| {
        c.gc.scope = Scope::Chip;
        c.gc.priority = Priority::Gc;
    });
    let semi = || preemptible(|_| ());
    play(vec![
        Case::new("Fig. 3, above: without preemption a write that arrives during W_x waits for the end of the erase", non_preemptible)
            .write(300_000, Z, 2_662_000, gc(2_059_600, &WRITE))
            .stages(2_662_000, &[undisturbed().concat(), host_write(2_359_600)])
            .counts(&[("preemptions", 0)]),
        Case::new("Fig. 3, below: with it, for the end of W_x", semi())
            .write(300_000, Z, 732_200, gc(129_800, &WRITE))
            .stages(2_662_000, &write_at_b())
            .counts(&[("preemptions", 1), ("pages_moved", 2), ("host_programs", 6)]),
        Case::new("a write that arrives at the very instant of B is in time", semi())
            .write(429_800, Z, 732_200, WRITE)
            .stages(2_662_000, &write_at_b())
            .counts(&[("preemptions", 1)]),
        Case::new("all that wait at B go before the job goes on", semi())
            .read(300_000, Z, 557_200, gc(129_800, &READ))
            .write(310_000, Z3, 859_600, gc(119_800, &[&[(DieQueue, 127_400)], &WRITE[..]].concat()))
            .stages(2_789_400, &[page_move(0), host_read(429_800), host_write(557_200), page_move(859_600), erase(1_289_400)])
            .counts(&[("preemptions", 2)]),
        Case::new("before the erase there is a B", semi())
            .write(700_000, Z, 1_162_000, gc(159_600, &WRITE))
            .stages(2_662_000, &[page_move(0), page_move(429_800), host_write(859_600), erase(1_162_000)])
            .counts(&[("preemptions", 1)]),
        Case::new("in the erase there is none", semi())
            .write(1_000_000, Z, 2_662_000, gc(1_359_600, &WRITE))
            .stages(2_662_000, &[undisturbed().concat(), host_write(2_359_600)]),
        Case::new("at A without pipelining nobody is served", semi())
            .write(100_000, Z, 732_200, gc(329_800, &WRITE))
            .stages(2_662_000, &write_at_b())
            .counts(&[("preemptions", 1)]),
    ]);
}

#[test]
fn figure_5_merged_reads() {
    let merge = || preemptible(merging);
    let with_cache = || {
        preemptible(|c| {
            merging(c);
            c.device.cache_register = true;
        })
    };
    play(vec![
        Case::new("a read of x during R_x has x from the move's transfer out", merge())
            .read(10_000, X, 127_400, gc(15_000, &REGISTER))
            .stages(2_359_600, &undisturbed())
            .counts(&[("merged_reads", 1), ("pages_moved", 2), ("preemptions", 0)]),
        Case::new("the same without merging: it is read where it has been moved to", preemptible(|_| ()))
            .read(10_000, X, 557_200, gc(419_800, &READ))
            .stages(2_487_000, &read_at_b())
            .counts(&[("preemptions", 1)]),
        Case::new("any number share one transfer", merge())
            .read(10_000, X, 127_400, gc(15_000, &REGISTER))
            .read(20_000, X, 127_400, gc(5_000, &REGISTER))
            .stages(2_359_600, &undisturbed())
            .counts(&[("merged_reads", 2)]),
        Case::new("a read of x during W_x has a transfer of its own, beside the program", with_cache())
            .read(300_000, X, 402_400, REGISTER)
            .stages(2_359_600, &[undisturbed().concat(), b(300_000, 402_400)])
            .counts(&[("merged_reads", 1)]),
        Case::new("one that arrives during the transfer in waits for that", with_cache())
            .read(180_000, X, 332_200, behind_bus(49_800, &REGISTER))
            .stages(2_359_600, &[undisturbed().concat(), b(229_800, 332_200)])
            .counts(&[("merged_reads", 1)]),
        // First come, first served on the bus: the move asks for its transfer in at 127,400, after the read.
        Case::new("one that arrives after the transfer out began follows it", with_cache())
            .read(60_000, X, 229_800, behind_bus(67_400, &REGISTER))
            .stages(
                2_462_000,
                &[
                    a(0, 25_000),
                    b(25_000, 127_400),
                    b(127_400, 229_800),
                    b(229_800, 332_200),
                    a(332_200, 532_200),
                    page_move(532_200),
                    erase(962_000),
                ],
            )
            .counts(&[("merged_reads", 1)]),
        // The page register still holds x when the move has ended: a transfer, but no array read.
        Case::new("without a cache register it waits for the end of the move", merge())
            .read(300_000, X, 532_200, gc(129_800, &REGISTER))
            .stages(2_462_000, &[page_move(0), b(429_800, 532_200), page_move(532_200), erase(962_000)])
            .counts(&[("merged_reads", 1)]),
    ]);
}

#[test]
fn figure_5_merged_writes() {
    let merge = || preemptible(merging);
    play(vec![
        // It waits for the transfer in at 127,400, which takes its data.
        Case::new("a write to x during R_x takes the place of the move", merge())
            .write(10_000, X, 429_800, gc(117_400, &WRITE))
            .stages(2_359_600, &undisturbed())
            .counts(&[("merged_writes", 1), ("host_programs", 6), ("pages_moved", 1), ("preemptions", 0)]),
        Case::new("the same without merging: it follows the move", preemptible(|_| ()))
            .write(10_000, X, 732_200, gc(419_800, &WRITE))
            .stages(2_662_000, &write_at_b())
            .counts(&[("host_programs", 6), ("pages_moved", 2), ("preemptions", 1)]),
        Case::new("so does a write at the very instant at which the transfer in begins", merge())
            .write(127_400, X, 429_800, WRITE)
            .stages(2_359_600, &undisturbed())
            .counts(&[("merged_writes", 1), ("host_programs", 6), ("pages_moved", 1)]),
        Case::new("a nanosecond later it is an ordinary write", merge())
            .write(127_401, X, 732_200, gc(302_399, &WRITE))
            .stages(2_662_000, &write_at_b())
            .counts(&[("host_programs", 6), ("pages_moved", 2)]),
        // The page is read for it by the move, and is there at the instant at which the transfer in begins.
        Case::new("a partial write has its page from the move, and then takes its place", merge())
            .partial_write(10_000, X, 429_800, [&[(Gc, 15_000), (Transfer, 102_400)], &WRITE[..]].concat())
            .stages(2_359_600, &undisturbed())
            .counts(&[("merged_reads", 1), ("merged_writes", 1), ("host_programs", 6), ("pages_moved", 1)]),
        Case::new("a write to a page still to be moved makes its move unnecessary", merge())
            .beginning(&THREE_MOVES)
            .write(100_000, 2, 732_200, gc(329_800, &WRITE))
            .stages(2_662_000, &write_at_b())
            .counts(&[("pages_moved", 2), ("preemptions", 1)]),
    ]);
}

#[test]
fn figure_5_reordered_moves() {
    // Pages 1, 2 and 3 are moved; a read of 3 arrives during the move of 1.
    play(vec![
        // 3 is moved second: 429,800 + 25,000 is the start of its transfer out. That 2 is moved third shows in a read of it.
        Case::new("the page that is read next is moved next, with the read in it", preemptible(merging))
            .beginning(&THREE_MOVES)
            .read(100_000, 3, 557_200, gc(354_800, &REGISTER))
            .read(870_000, 2, 987_000, gc(14_600, &REGISTER))
            .stages(2_789_400, &[page_move(0), page_move(429_800), page_move(859_600), erase(1_289_400)])
            .counts(&[("merged_reads", 2), ("reordered_moves", 1), ("pages_moved", 3)]),
        Case::new("the same without merging: an ordinary read at B", preemptible(|_| ()))
            .beginning(&THREE_MOVES)
            .read(100_000, 3, 557_200, gc(329_800, &READ))
            .stages(2_916_800, &[page_move(0), host_read(429_800), page_move(557_200), page_move(987_000), erase(1_416_800)])
            .counts(&[("pages_moved", 3), ("preemptions", 1)]),
        Case::new("an older operation on another page goes before it", preemptible(merging))
            .beginning(&THREE_MOVES)
            .read(90_000, Z, 557_200, gc(339_800, &READ))
            // During the read of z the host holds the die; then the move's own read from the array is waited for.
            .read(100_000, 3, 684_600, [(Gc, 329_800), (DieQueue, 127_400), (Gc, 25_000), (Transfer, 102_400)])
            .stages(2_916_800, &[page_move(0), host_read(429_800), page_move(557_200), page_move(987_000), erase(1_416_800)])
            .counts(&[("merged_reads", 1), ("reordered_moves", 1), ("pages_moved", 3)]),
    ]);
}

#[test]
fn figure_6_pipelined_reads() {
    let pipeline = || preemptible(pairing);
    // R_y ends at 479,800 but has the register and the bus only when z is out: 557,200; then out, in, program.
    let overlapped = || {
        let y = [a(454_800, 479_800), b(557_200, 659_600), b(659_600, 762_000), a(762_000, 962_000)].concat();
        [page_move(0), host_read(429_800), y, erase(962_000)]
    };
    play(vec![
        Case::new("at B the move's read overlaps the transfer of a read", pipeline())
            .read(300_000, Z, 557_200, gc(129_800, &READ))
            .stages(2_462_000, &overlapped())
            .counts(&[("pipelined_reads", 1), ("pages_moved", 2)]),
        // A job waits only for reads of its victim that were under way when it started.
        Case::new(
            "so it does where the read is of the victim, and that is the scope",
            preemptible(|c| {
                pairing(c);
                c.gc.scope = Scope::Block;
            }),
        )
        .read(300_000, Y, 557_200, gc(129_800, &READ))
        .stages(2_462_000, &overlapped())
        .counts(&[("pipelined_reads", 1), ("pages_moved", 2)]),
        Case::new("the same without pipelining", preemptible(|c| c.device.cache_register = true))
            .read(300_000, Z, 557_200, gc(129_800, &READ))
            .stages(2_487_000, &read_at_b())
            .counts(&[("preemptions", 1)]),
        Case::new("a read is not served at A", pipeline())
            .read(100_000, Z, 557_200, gc(329_800, &READ))
            .stages(2_462_000, &overlapped())
            .counts(&[("pipelined_reads", 1)]),
        // The second read would go before the move were the die idle, so that only its transfer is overlapped.
        Case::new("of two reads the last overlaps the move", pipeline())
            .read(300_000, Z, 557_200, gc(129_800, &READ))
            .read(310_000, Z2, 684_600, gc(119_800, &[&[(DieQueue, 127_400)], &READ[..]].concat()))
            .stages(
                2_589_400,
                &[
                    page_move(0),
                    host_read(429_800),
                    host_read(557_200),
                    a(582_200, 607_200),
                    b(684_600, 787_000),
                    b(787_000, 889_400),
                    a(889_400, 1_089_400),
                    erase(1_089_400),
                ],
            )
            .counts(&[("pipelined_reads", 1)]),
        // With host operations overlapping as well: each array read begins when the operation before the last has left the die.
        Case::new(
            "the host's reads overlap each other, and the move the last",
            preemptible(|c| {
                pairing(c);
                c.scheduler.pipeline = true;
            }),
        )
        .read(300_000, Z, 557_200, gc(129_800, &READ))
        .read(310_000, Z2, 659_600, [(Gc, 119_800), (DieQueue, 25_000), (Array, 25_000), (BusQueue, 77_400), (Transfer, 102_400)])
        .stages(
            2_564_400,
            &[
                page_move(0),
                host_read(429_800),
                a(454_800, 479_800),
                b(557_200, 659_600),
                a(557_200, 582_200),
                b(659_600, 762_000),
                b(762_000, 864_400),
                a(864_400, 1_064_400),
                erase(1_064_400),
            ],
        )
        .counts(&[("pipelined_reads", 1)]),
        Case::new("before the erase a read overlaps nothing", pipeline())
            .read(700_000, Z, 987_000, gc(159_600, &READ))
            .stages(2_487_000, &[page_move(0), page_move(429_800), host_read(859_600), erase(987_000)])
            .counts(&[("preemptions", 1)]),
    ]);
}

#[test]
fn figure_6_pipelined_writes() {
    let pipeline = || preemptible(pairing);
    let behind_gc = || [(Gc, 129_800), (Transfer, 102_400), (Gc, 97_600), (Array, 200_000)];
    play(vec![
        // A is at 229,800: the transfer ends at 332,200 and waits for W_x to end at 429,800.
        Case::new("at A a write is transferred while x is programmed", pipeline())
            .write(100_000, Z, 629_800, behind_gc())
            .stages(2_559_600, &[page_move(0), b(229_800, 332_200), a(429_800, 629_800), page_move(629_800), erase(1_059_600)])
            .counts(&[("pipelined_writes", 1), ("pages_moved", 2), ("host_programs", 6)]),
        Case::new("the same without pipelining", preemptible(|c| c.device.cache_register = true))
            .write(100_000, Z, 732_200, gc(329_800, &WRITE))
            .stages(2_662_000, &write_at_b())
            .counts(&[("preemptions", 1)]),
        Case::new("a write that arrives after A is inserted at B", pipeline())
            .write(300_000, Z, 732_200, gc(129_800, &WRITE))
            .stages(2_662_000, &write_at_b())
            .counts(&[("preemptions", 1)]),
        // The first of the kind that fits pairs (MODEL section 4). Then z is read at the next B, and y overlaps it.
        Case::new("an older read does not keep a write from A", pipeline())
            .read(50_000, Z, 757_200, gc(379_800, &[&[(DieQueue, 200_000)], &READ[..]].concat()))
            .write(100_000, Z3, 629_800, behind_gc())
            .stages(
                2_662_000,
                &[
                    page_move(0),
                    b(229_800, 332_200),
                    a(429_800, 629_800),
                    host_read(629_800),
                    a(654_800, 679_800),
                    b(757_200, 859_600),
                    b(859_600, 962_000),
                    a(962_000, 1_162_000),
                    erase(1_162_000),
                ],
            )
            .counts(&[("pipelined_reads", 1), ("pipelined_writes", 1)]),
        Case::new("one write pairs, the next follows at B", pipeline())
            .write(100_000, Z, 629_800, behind_gc())
            .write(110_000, Z2, 932_200, gc(319_800, &[&[(DieQueue, 200_000)], &WRITE[..]].concat()))
            .stages(
                2_862_000,
                &[page_move(0), b(229_800, 332_200), a(429_800, 629_800), host_write(629_800), page_move(932_200), erase(1_362_000)],
            )
            .counts(&[("pipelined_writes", 1)]),
        Case::new(
            "a write does not pair behind a program that can be suspended: it goes first",
            preemptible(|c| {
                pairing(c);
                c.gc.suspend = vec![Program];
            }),
        )
        .write(180_000, Z, 532_200, gc(49_800, &WRITE))
        .stages(
            2_662_000,
            &[
                a(0, 25_000),
                b(25_000, 127_400),
                b(127_400, 229_800),
                host_write(229_800),
                a(532_200, 732_200),
                page_move(732_200),
                erase(1_162_000),
            ],
        ),
    ]);
}

#[test]
fn figure_9_suspended_reads() {
    // 23 us remain; they are left for after the host operation, and out, in and program follow.
    play(vec![
        Case::new("R_x is suspended by a write: Fig. 8 and 9", suspending(&[Read]))
            .write(2_000, Z, 324_400, gc(20_000, &WRITE))
            .stages(
                2_682_000,
                &[cut(0, 2_000), host_write(22_000), a(324_400, 347_400), rest_of_move(347_400), page_move(752_200), erase(1_182_000)],
            )
            .counts(&[("suspensions", 1), ("pages_moved", 2)]),
        Case::new("by a read", suspending(&[Read]))
            .read(2_000, Z, 149_400, gc(20_000, &READ))
            .stages(
                2_507_000,
                &[cut(0, 2_000), host_read(22_000), a(149_400, 172_400), rest_of_move(172_400), page_move(577_200), erase(1_007_000)],
            )
            .counts(&[("suspensions", 1), ("pages_moved", 2)]),
        Case::new("reads cannot be suspended", suspending(&[Erase]))
            .write(2_000, Z, 732_200, gc(427_800, &WRITE))
            .stages(2_662_000, &write_at_b()),
        Case::new("20 us remain: it is let finish, and the move goes on", suspending(&[Read]))
            .write(5_000, Z, 732_200, gc(424_800, &WRITE))
            .stages(2_662_000, &write_at_b()),
        Case::new("20.001 us remain", suspending(&[Read]))
            .write(4_999, Z, 327_399, gc(20_000, &WRITE))
            .stages(
                2_682_000,
                &[cut(0, 4_999), host_write(24_999), a(327_399, 347_400), rest_of_move(347_400), page_move(752_200), erase(1_182_000)],
            )
            .counts(&[("suspensions", 1)]),
    ]);
}

/// Of a page move all but the read: out, in, program.
fn rest_of_move(at: u64) -> Vec<Stage> {
    [b(at, at + TRANSFER_NS), host_write(at + TRANSFER_NS)].concat()
}

#[test]
fn figure_9_suspended_programs() {
    // W_x from 229,800 to 429,800: at 300,000 there remain 129,800.
    let until_program = || [a(0, 25_000), b(25_000, 127_400), b(127_400, 229_800)].concat();
    play(vec![
        Case::new("W_x is suspended by a write", suspending(&[Program]))
            .write(300_000, Z, 622_400, gc(20_000, &WRITE))
            .stages(
                2_682_000,
                &[until_program(), cut(229_800, 300_000), host_write(320_000), a(622_400, 752_200), page_move(752_200), erase(1_182_000)],
            )
            .counts(&[("suspensions", 1), ("pages_moved", 2)]),
        Case::new("by a read", suspending(&[Program]))
            .read(300_000, Z, 447_400, gc(20_000, &READ))
            .stages(
                2_507_000,
                &[until_program(), cut(229_800, 300_000), host_read(320_000), a(447_400, 577_200), page_move(577_200), erase(1_007_000)],
            )
            .counts(&[("suspensions", 1)]),
        Case::new("programs cannot be suspended", suspending(&[Read, Erase]))
            .write(300_000, Z, 732_200, gc(129_800, &WRITE))
            .stages(2_662_000, &write_at_b()),
        Case::new("20 us remain: it is let finish, and the host goes at B", suspending(&[Program]))
            .write(409_800, Z, 732_200, gc(20_000, &WRITE))
            .stages(2_662_000, &write_at_b()),
        Case::new("20.001 us remain", suspending(&[Program]))
            .write(409_799, Z, 732_199, gc(20_000, &WRITE))
            .stages(
                2_682_000,
                &[until_program(), cut(229_800, 409_799), host_write(429_799), a(732_199, 752_200), page_move(752_200), erase(1_182_000)],
            )
            .counts(&[("suspensions", 1)]),
    ]);
}

#[test]
fn figure_9_suspended_erases() {
    // The erase from 859,600 to 2,359,600: at 1,000,000 there remain 1,359,600.
    let moves = || [page_move(0), page_move(429_800)].concat();
    play(vec![
        Case::new("the erase is suspended by a read", suspending(&[Erase]))
            .read(1_000_000, Z, 1_147_400, gc(20_000, &READ))
            .stages(2_507_000, &[moves(), cut(859_600, 1_000_000), host_read(1_020_000), a(1_147_400, 2_507_000)])
            .counts(&[("suspensions", 1), ("erases", 1)]),
        Case::new("by a write", suspending(&[Erase]))
            .write(1_000_000, Z, 1_322_400, gc(20_000, &WRITE))
            .stages(2_682_000, &[moves(), cut(859_600, 1_000_000), host_write(1_020_000), a(1_322_400, 2_682_000)])
            .counts(&[("suspensions", 1)]),
        Case::new("erases cannot be suspended", suspending(&[Read, Program]))
            .write(1_000_000, Z, 2_662_000, gc(1_359_600, &WRITE))
            .stages(2_662_000, &[undisturbed().concat(), host_write(2_359_600)]),
        Case::new("20 us remain", suspending(&[Erase]))
            .write(2_339_600, Z, 2_662_000, gc(20_000, &WRITE))
            .stages(2_662_000, &[undisturbed().concat(), host_write(2_359_600)]),
        Case::new("all that waits goes before it resumes", suspending(&[Erase]))
            .read(1_000_000, Z, 1_147_400, gc(20_000, &READ))
            .read(1_010_000, Z2, 1_274_800, gc(10_000, &[&[(DieQueue, 127_400)], &READ[..]].concat()))
            .write(1_100_000, Z3, 1_577_200, [&[(DieQueue, 174_800)], &WRITE[..]].concat())
            .stages(
                2_936_800,
                &[
                    moves(),
                    cut(859_600, 1_000_000),
                    host_read(1_020_000),
                    host_read(1_147_400),
                    host_write(1_274_800),
                    a(1_577_200, 2_936_800),
                ],
            )
            .counts(&[("suspensions", 1)]),
        Case::new(
            "at once, where suspending takes no time",
            preemptible(|c| {
                c.gc.suspend = vec![Erase];
                c.device.suspend_ns = 0;
            }),
        )
        .read(1_000_000, Z, 1_127_400, READ)
        .stages(2_487_000, &[moves(), a(859_600, 1_000_000), host_read(1_000_000), a(1_127_400, 2_487_000)])
        .counts(&[("suspensions", 1)]),
        // 52,600 of the remaining 1,359,600 pass until 1,200,000.
        Case::new("it can be suspended again", suspending(&[Erase]))
            .read(1_000_000, Z, 1_147_400, gc(20_000, &READ))
            .read(1_200_000, Z2, 1_347_400, gc(20_000, &READ))
            .stages(
                2_654_400,
                &[
                    moves(),
                    cut(859_600, 1_000_000),
                    host_read(1_020_000),
                    cut(1_147_400, 1_200_000),
                    host_read(1_220_000),
                    a(1_347_400, 2_654_400),
                ],
            )
            .counts(&[("suspensions", 2), ("erases", 1)]),
    ]);
}

#[test]
fn moves_put_aside_between_their_stages() {
    // Where programs can be suspended: before each transfer (the points (*) of Fig. 2) and at A, without delay. Nothing in the
    // array is suspended.
    let program = || suspending(&[Program]);
    play(vec![
        Case::new("before the transfer out", program())
            .read(10_000, Z, 152_400, gc(15_000, &READ))
            .stages(2_487_000, &[a(0, 25_000), host_read(25_000), rest_of_move(152_400), page_move(557_200), erase(987_000)]),
        Case::new("before the transfer in", program()).write(60_000, Z, 429_800, gc(67_400, &WRITE)).stages(
            2_662_000,
            &[
                a(0, 25_000),
                b(25_000, 127_400),
                host_write(127_400),
                b(429_800, 532_200),
                a(532_200, 732_200),
                page_move(732_200),
                erase(1_162_000),
            ],
        ),
        Case::new("at A", program()).read(180_000, Z, 357_200, gc(49_800, &READ)).stages(
            2_487_000,
            &[
                a(0, 25_000),
                b(25_000, 127_400),
                b(127_400, 229_800),
                host_read(229_800),
                a(357_200, 557_200),
                page_move(557_200),
                erase(987_000),
            ],
        ),
        Case::new("not where only other operations can be suspended", suspending(&[Read, Erase]))
            .write(60_000, Z, 732_200, gc(369_800, &WRITE))
            .stages(2_662_000, &write_at_b()),
        Case::new(
            "not where the page in the register leaves no other",
            preemptible(|c| {
                c.gc.suspend = vec![Program];
                c.device.page_registers = 1;
            }),
        )
        .write(60_000, Z, 732_200, gc(369_800, &WRITE))
        .stages(2_662_000, &write_at_b()),
        // x is overwritten while its move is put aside: nothing is left to be moved (IV-C).
        Case::new("a move put aside is discarded when its page is written", program())
            .write(60_000, X, 429_800, gc(67_400, &WRITE))
            .stages(2_359_600, &[a(0, 25_000), b(25_000, 127_400), host_write(127_400), page_move(429_800), erase(859_600)])
            .counts(&[("discarded_moves", 1), ("pages_moved", 1)]),
    ]);
}

#[test]
fn priority_decides_who_suspends() {
    let all = vec![Read, Program, Erase];
    play(vec![
        Case::new(
            "with priority of collection nobody suspends",
            one_job(|c| {
                c.gc.priority = Priority::Gc;
                c.gc.suspend = all.clone();
            }),
        )
        .write(300_000, Z, 2_662_000, gc(2_059_600, &WRITE))
        .stages(2_662_000, &[undisturbed().concat(), host_write(2_359_600)])
        .counts(&[("preemptions", 0)]),
        // The move became ready before the write arrived, the next one after.
        Case::new(
            "first come, first served: a write goes before the next move, but does not suspend this one",
            preemptible(|c| {
                c.gc.priority = Priority::Fifo;
                c.gc.suspend = all.clone();
            }),
        )
        .write(300_000, Z, 732_200, gc(129_800, &WRITE))
        .stages(2_662_000, &write_at_b()),
    ]);
}

#[test]
fn page_registers() {
    let until_program = || [a(0, 25_000), b(25_000, 127_400), b(127_400, 229_800)].concat();
    let one = |config: &mut Config| {
        config.gc.suspend = vec![Read, Program, Erase];
        config.device.page_registers = 1;
    };
    // Blocks take turns over the planes: 0, 2, 4, 6 lie in plane 0, the others in plane 1. The job moves x from block 0 to block 6; the
    // host writes to block 5. Pages 4 to 7 lie in block 1.
    let two_planes = || {
        preemptible(|c| {
            one(c);
            c.device.planes_per_die = 2;
            c.device.blocks_per_plane = 4;
            c.ftl.pool = PoolScope::Die;
        })
    };
    let suspended_by_read = || [until_program(), cut(229_800, 300_000), host_read(320_000), a(447_400, 577_200)].concat();
    play(vec![
        Case::new("one register: a write on the plane of the program does not suspend it", preemptible(one))
            .write(300_000, Z, 732_200, gc(129_800, &WRITE))
            .stages(2_662_000, &write_at_b()),
        Case::new("an erase holds no register", preemptible(one))
            .read(1_000_000, Z, 1_147_400, gc(20_000, &READ))
            .stages(2_507_000, &[page_move(0), page_move(429_800), cut(859_600, 1_000_000), host_read(1_020_000), a(1_147_400, 2_507_000)])
            .counts(&[("suspensions", 1)]),
        Case::new("a read on the other plane suspends", two_planes())
            .read(300_000, 5, 447_400, gc(20_000, &READ))
            .stages(2_507_000, &[suspended_by_read(), page_move(577_200), erase(1_007_000)])
            .counts(&[("suspensions", 1)]),
        Case::new("a read on the same plane does not", two_planes())
            .read(300_000, Z, 557_200, gc(129_800, &READ))
            .stages(2_487_000, &read_at_b()),
        Case::new("a write goes to the other plane and suspends", two_planes())
            .write(300_000, Z, 622_400, gc(20_000, &WRITE))
            .stages(
                2_682_000,
                &[until_program(), cut(229_800, 300_000), host_write(320_000), a(622_400, 752_200), page_move(752_200), erase(1_182_000)],
            )
            .counts(&[("suspensions", 1)]),
        // Its wait: for the suspension, behind the read of the other plane, for the rest of the program.
        Case::new("while one is suspended, operations on its plane wait for its end", two_planes())
            .read(300_000, 5, 447_400, gc(20_000, &READ))
            .read(310_000, Z, 704_600, [&[(Gc, 10_000), (DieQueue, 127_400), (Gc, 129_800)], &READ[..]].concat())
            .stages(2_634_400, &[suspended_by_read(), host_read(577_200), page_move(704_600), erase(1_134_400)])
            .counts(&[("suspensions", 1)]),
        // III-B of the paper's section IV: not on the block that is occupied by the suspended command, whatever the registers.
        Case::new("a write does not suspend a program of the block that it would be given", one_job(|c| c.gc.suspend = vec![Program]))
            .write(300_000, Z, 732_200, gc(129_800, &WRITE))
            .stages(2_662_000, &write_at_b()),
        Case::new("and waits while one is suspended", one_job(|c| c.gc.suspend = vec![Program]))
            .read(300_000, Z, 447_400, gc(20_000, &READ))
            .write(310_000, Z3, 879_600, [&[(Gc, 10_000), (DieQueue, 127_400), (Gc, 129_800)], &WRITE[..]].concat())
            .stages(2_809_400, &[suspended_by_read(), host_write(577_200), page_move(879_600), erase(1_309_400)])
            .counts(&[("suspensions", 1)]),
    ]);
}

#[test]
fn table_iii_requests_for_the_page_under_way() {
    let all = [Read, Program, Erase];
    let until_program = || [a(0, 25_000), b(25_000, 127_400), b(127_400, 229_800)].concat();
    play(vec![
        Case::new("read on read: shared, not suspended", fully(&all))
            .read(2_000, X, 127_400, gc(23_000, &REGISTER))
            .stages(2_359_600, &undisturbed())
            .counts(&[("merged_reads", 1), ("pages_moved", 2)]),
        // From the end of its transfer out, 127,400, the move is as any other.
        Case::new("the program of a move that a read has shared can be suspended", fully(&all))
            .read(2_000, X, 127_400, gc(23_000, &REGISTER))
            .write(300_000, Z, 622_400, gc(20_000, &WRITE))
            .stages(
                2_682_000,
                &[until_program(), cut(229_800, 300_000), host_write(320_000), a(622_400, 752_200), page_move(752_200), erase(1_182_000)],
            )
            .counts(&[("merged_reads", 1), ("suspensions", 1), ("pages_moved", 2)]),
        Case::new("and such a move can be put aside", fully(&all))
            .read(2_000, X, 127_400, gc(23_000, &REGISTER))
            .read(180_000, Z, 357_200, gc(49_800, &READ))
            .stages(2_487_000, &[until_program(), host_read(229_800), a(357_200, 557_200), page_move(557_200), erase(987_000)])
            .counts(&[("merged_reads", 1), ("pages_moved", 2)]),
        Case::new("write on read: the move is discarded, the next page is moved", fully(&all))
            .write(2_000, X, 324_400, gc(20_000, &WRITE))
            .stages(2_254_200, &[cut(0, 2_000), host_write(22_000), page_move(324_400), erase(754_200)])
            .counts(&[("suspensions", 1), ("discarded_moves", 1), ("pages_moved", 1), ("host_programs", 6)]),
        // 15 us remain of the read: it is let finish; then the write goes first as at any point.
        Case::new("write on a read that is nearly over: discarded as well", fully(&all))
            .write(10_000, X, 327_400, gc(15_000, &WRITE))
            .stages(2_257_200, &[a(0, 25_000), host_write(25_000), page_move(327_400), erase(757_200)])
            .counts(&[("discarded_moves", 1), ("pages_moved", 1), ("host_programs", 6)]),
        Case::new("write on a read that another write has suspended: discarded as well", fully(&all))
            .write(2_000, Z, 324_400, gc(20_000, &WRITE))
            .write(100_000, X, 626_800, [&[(DieQueue, 224_400)], &WRITE[..]].concat())
            .stages(2_556_600, &[cut(0, 2_000), host_write(22_000), host_write(324_400), page_move(626_800), erase(1_056_600)])
            .counts(&[("suspensions", 1), ("discarded_moves", 1), ("pages_moved", 1), ("host_programs", 7)]),
        // 23 us of the read remain at 324,400.
        Case::new("read on a read that a write has suspended: it waits for it and shares", fully(&all))
            .write(2_000, Z, 324_400, gc(20_000, &WRITE))
            .read(100_000, X, 449_800, [(DieQueue, 224_400), (Gc, 23_000), (Transfer, 102_400)])
            .stages(
                2_682_000,
                &[cut(0, 2_000), host_write(22_000), a(324_400, 347_400), rest_of_move(347_400), page_move(752_200), erase(1_182_000)],
            )
            .counts(&[("suspensions", 1), ("merged_reads", 1), ("pages_moved", 2)]),
        Case::new("write on a read that cannot be suspended: it takes the move's place", fully(&[Program, Erase]))
            .write(2_000, X, 429_800, gc(125_400, &WRITE))
            .stages(2_359_600, &undisturbed())
            .counts(&[("merged_writes", 1), ("pages_moved", 1), ("host_programs", 6)]),
        Case::new("read on write: from the register, not suspended", fully(&all))
            .read(300_000, X, 402_400, REGISTER)
            .stages(2_359_600, &[undisturbed().concat(), b(300_000, 402_400)])
            .counts(&[("merged_reads", 1), ("pages_moved", 2)]),
        Case::new(
            "read on write without a cache register: not suspended either",
            preemptible(|c| {
                merging(c);
                c.gc.suspend = all.to_vec();
            }),
        )
        .read(300_000, X, 532_200, gc(129_800, &REGISTER))
        .stages(2_462_000, &[page_move(0), b(429_800, 532_200), page_move(532_200), erase(962_000)])
        .counts(&[("merged_reads", 1)]),
        Case::new("write on write: the copy is stale when its program ends", fully(&all))
            .write(300_000, X, 622_400, gc(20_000, &WRITE))
            .stages(
                2_682_000,
                &[until_program(), cut(229_800, 300_000), host_write(320_000), a(622_400, 752_200), page_move(752_200), erase(1_182_000)],
            )
            .counts(&[("suspensions", 1), ("stale_moves", 1), ("pages_moved", 2), ("host_programs", 6)]),
        // 12.2 us of the program remain, too little to suspend it. y is read during the transfer of x, and follows it on the bus.
        Case::new("a read behind that has the new data from the array, not the stale copy from the register", fully(&all))
            .write(300_000, X, 622_400, gc(20_000, &WRITE))
            .read(740_000, X, 879_600, gc(12_200, &READ))
            .stages(
                2_784_400,
                &[
                    until_program(),
                    cut(229_800, 300_000),
                    host_write(320_000),
                    a(622_400, 752_200),
                    host_read(752_200),
                    a(777_200, 802_200),
                    rest_of_move(879_600),
                    erase(1_284_400),
                ],
            )
            .counts(&[("suspensions", 1), ("stale_moves", 1), ("pipelined_reads", 1), ("pages_moved", 2), ("host_programs", 6)]),
        Case::new("write on a write that another write has suspended: it goes before the rest", fully(&all))
            .write(300_000, Z, 622_400, gc(20_000, &WRITE))
            .write(400_000, X, 924_800, [&[(DieQueue, 222_400)], &WRITE[..]].concat())
            .stages(
                2_984_400,
                &[
                    until_program(),
                    cut(229_800, 300_000),
                    host_write(320_000),
                    host_write(622_400),
                    a(924_800, 1_054_600),
                    page_move(1_054_600),
                    erase(1_484_400),
                ],
            )
            .counts(&[("suspensions", 1), ("stale_moves", 1), ("pages_moved", 2), ("host_programs", 7)]),
        Case::new("write on a write that cannot be suspended: after it, so that the copy was good", fully(&[Read, Erase]))
            .write(300_000, X, 732_200, gc(129_800, &WRITE))
            .stages(2_662_000, &write_at_b())
            .counts(&[("pages_moved", 2), ("host_programs", 6)]),
    ]);
}

#[test]
fn table_iii_where_transfers_take_no_time() {
    // x: read until 25,000, programmed until 225,000; y until 450,000; the erase until 1,950,000.
    let free_bus = || {
        let mut config = fully(&[Read, Program, Erase]);
        config.device.transfer_ps_per_byte = 0;
        config
    };
    let short_move = |at| [a(at, at + READ_NS), a(at + READ_NS, at + READ_NS + PROGRAM_NS)].concat();
    // 125,000 of the program remain at 100,000.
    let suspended_by_write = || [a(0, 25_000), cut(25_000, 100_000), a(120_000, 320_000), a(320_000, 445_000)].concat();
    let program = [(Array, PROGRAM_NS)];
    play(vec![
        Case::new("read on read: it ends with it", free_bus())
            .read(2_000, X, 25_000, gc(23_000, &[]))
            .stages(1_950_000, &[short_move(0), short_move(225_000), erase(450_000)])
            .counts(&[("merged_reads", 1)]),
        Case::new("write on read: discarded", free_bus())
            .write(2_000, X, 222_000, gc(20_000, &program))
            .stages(1_947_000, &[cut(0, 2_000), a(22_000, 222_000), short_move(222_000), erase(447_000)])
            .counts(&[("suspensions", 1), ("discarded_moves", 1), ("pages_moved", 1)]),
        Case::new("read on write: from the register, at once", free_bus())
            .read(100_000, X, 100_000, [])
            .stages(1_950_000, &[short_move(0), short_move(225_000), erase(450_000)])
            .counts(&[("merged_reads", 1)]),
        Case::new("write on write: suspended, stale", free_bus())
            .write(100_000, X, 320_000, gc(20_000, &program))
            .stages(2_170_000, &[suspended_by_write(), short_move(445_000), erase(670_000)])
            .counts(&[("suspensions", 1), ("stale_moves", 1), ("pages_moved", 2)]),
        Case::new("another page: suspended", free_bus())
            .write(100_000, Z, 320_000, gc(20_000, &program))
            .stages(2_170_000, &[suspended_by_write(), short_move(445_000), erase(670_000)])
            .counts(&[("suspensions", 1), ("pages_moved", 2)]),
    ]);
}

/// Time 0 to the start of the job: S0, then S1 (or S2) while the last write of the beginning goes on.
const BEFORE: u64 = WANTED;
const FIRST: u64 = ORIGIN - WANTED;

fn hard(share: f64) -> Config {
    one_job(|c| c.gc.hard = share)
}

/// Two writes at 100,000 fill the block that the job shares with them: the second move takes another, which leaves one free block, below
/// T_hard (0.67 x 3 = 2). Until then as without states.
fn to_s2(case: Case) -> Case {
    case.write(100_000, 9, 732_200, gc(329_800, &WRITE)).write(
        100_000,
        10,
        1_034_600,
        gc(329_800, &[&[(DieQueue, 302_400)], &WRITE[..]].concat()),
    )
}

fn until_s2() -> Vec<Stage> {
    [page_move(0), host_write(429_800), host_write(732_200), page_move(1_034_600)].concat()
}

/// GC runs to completion for an urgent write, which goes with an older one ahead of the page moves that are left.
fn completed_for_urgent(case: Case) -> Case {
    let moved = [page_move(3_696_600), erase(4_126_400)].concat();
    let stages = [until_s2(), erase(1_464_400), host_write(2_964_400), host_write(3_266_800), host_read(3_569_200), moved];
    case.stages(5_700_000, &stages).counts(&[("s3_entries", 1)]).states([BEFORE + 73_600, FIRST + 1_034_600 + 2_662_000, 65_400, 1_864_400])
}

#[test]
fn figure_7_states() {
    play(vec![
        Case::new("S0, S1, S0", hard(0.0)).stages(3_000_000, &undisturbed()).states([BEFORE + 640_400, FIRST + 2_359_600, 0, 0]),
        Case::new(
            "S0, S3, S0: without preemption",
            one_job(|c| {
                c.gc.scope = Scope::Chip;
                c.gc.priority = Priority::Gc;
            }),
        )
        .stages(3_000_000, &undisturbed())
        .counts(&[("s3_entries", ANY)])
        .states([BEFORE + 640_400, 0, 0, FIRST + 2_359_600]),
        // After the erase two blocks are free: S1, and another job, which moves page 11 (8, 9 and 10 have left its block).
        to_s2(Case::new("S0, S1, S2, S1, S0: a write waits in S2, a read does not", hard(0.67)))
            .write(1_100_000, 13, 3_394_200, [&[(Gc, 364_400), (DieQueue, 127_400), (Gc, 1_500_000)], &WRITE[..]].concat())
            .read(1_200_000, 14, 1_591_800, gc(264_400, &READ))
            .stages(
                5_500_000,
                &[until_s2(), host_read(1_464_400), erase(1_591_800), host_write(3_091_800), page_move(3_394_200), erase(3_824_000)],
            )
            .states([BEFORE + 176_000, FIRST + 1_034_600 + 2_232_200, 2_057_200, 0]),
        to_s2(Case::new("the same without a hard threshold", hard(0.0)))
            .write(1_100_000, 13, 1_766_800, gc(364_400, &WRITE))
            .read(1_200_000, 14, 1_894_200, gc(264_400, &[&[(DieQueue, 302_400)], &READ[..]].concat()))
            .stages(3_394_200, &[until_s2(), host_write(1_464_400), host_read(1_766_800), erase(1_894_200)])
            .states([BEFORE, FIRST + 3_394_200, 0, 0]),
        to_s2(Case::new(
            "hard_stops = all: a read waits as well",
            one_job(|c| {
                c.gc.hard = 0.67;
                c.gc.hard_stops = HardStops::All;
            }),
        ))
        .write(1_100_000, 13, 3_266_800, gc(1_864_400, &WRITE))
        .read(1_200_000, 14, 3_394_200, gc(1_764_400, &[&[(DieQueue, 302_400)], &READ[..]].concat()))
        .stages(
            5_500_000,
            &[until_s2(), erase(1_464_400), host_write(2_964_400), host_read(3_266_800), page_move(3_394_200), erase(3_824_000)],
        )
        .states([BEFORE + 176_000, FIRST + 1_034_600 + 2_359_600, 1_929_800, 0]),
        // The urgent write passes the older one; S3 ends when it begins, with two free blocks: S1.
        completed_for_urgent(
            to_s2(Case::new("S2, S3, S1: an urgent write has the job completed, then goes first", hard(0.67)))
                .write(1_050_000, 15, 3_569_200, gc(1_914_400, &[&[(DieQueue, 302_400)], &WRITE[..]].concat()))
                .urgent(1_100_000, 13, 3_266_800, gc(1_864_400, &WRITE))
                .read(1_200_000, 14, 3_696_600, gc(1_764_400, &[&[(DieQueue, 604_800)], &READ[..]].concat())),
        ),
        // The older one is of the same page, which the urgent one must not pass: GC runs to completion for it, and both go before the read.
        completed_for_urgent(
            to_s2(Case::new("S2, S3, S1: an urgent write has the job completed for the older write of its page", hard(0.67)))
                .write(1_050_000, 13, 3_266_800, gc(1_914_400, &WRITE))
                .urgent(1_100_000, 13, 3_569_200, [&[(DieQueue, 2_166_800)], &WRITE[..]].concat())
                .read(1_200_000, 14, 3_696_600, gc(1_764_400, &[&[(DieQueue, 604_800)], &READ[..]].concat())),
        ),
        Case::new("in S1 an urgent write is a write", hard(0.67))
            .urgent(300_000, Z, 732_200, gc(129_800, &WRITE))
            .stages(2_662_000, &write_at_b())
            .states([BEFORE, FIRST + 2_662_000, 0, 0]),
    ]);
}

#[test]
fn figure_7_states_with_suspension() {
    // T_hard = T_soft = 3 and blocks of their own: two free blocks before the job, one during it, two after: S2 throughout.
    let config = || {
        preemptible(|c| {
            c.gc.hard = 1.0;
            c.gc.suspend = vec![Read, Program, Erase];
        })
    };
    let moves = || [page_move(0), page_move(429_800)].concat();
    play(vec![
        Case::new("S2, S3, S2: in S3 nothing is suspended", config())
            .urgent(300_000, Z, 2_662_000, gc(2_059_600, &WRITE))
            .read(1_000_000, Z2, 2_789_400, gc(1_359_600, &[&[(DieQueue, 302_400)], &READ[..]].concat()))
            .stages(2_789_400, &[undisturbed().concat(), host_write(2_359_600), host_read(2_662_000)])
            .counts(&[("s3_entries", 1)])
            .states([BEFORE, 0, FIRST + 300_000 + 429_800, 2_059_600]),
        // The read that has begun goes on to its end; the one behind it does not begin.
        Case::new("S3 while the erase is suspended: it resumes at the next point", config())
            .read(1_000_000, Z2, 1_147_400, gc(20_000, &READ))
            .read(
                1_010_000,
                11,
                2_936_800,
                [&[(Gc, 10_000), (DieQueue, 127_400), (Gc, 1_359_600), (DieQueue, 302_400)], &READ[..]].concat(),
            )
            .urgent(1_050_000, Z, 2_809_400, [&[(DieQueue, 97_400), (Gc, 1_359_600)], &WRITE[..]].concat())
            .stages(
                2_936_800,
                &[
                    moves(),
                    cut(859_600, 1_000_000),
                    host_read(1_020_000),
                    a(1_147_400, 2_507_000),
                    host_write(2_507_000),
                    host_read(2_809_400),
                ],
            )
            .counts(&[("suspensions", 1), ("s3_entries", 1)])
            .states([BEFORE, 0, FIRST + 1_050_000 + 429_800, 1_457_000]),
        Case::new(
            "in S3 nothing merges",
            preemptible(|c| {
                merging(c);
                c.gc.hard = 1.0;
            }),
        )
        .urgent(10_000, Z, 2_662_000, gc(2_349_600, &WRITE))
        .read(15_000, X, 2_789_400, gc(2_344_600, &[&[(DieQueue, 302_400)], &READ[..]].concat()))
        .stages(2_789_400, &[undisturbed().concat(), host_write(2_359_600), host_read(2_662_000)])
        .counts(&[("s3_entries", 1)])
        .states([BEFORE, 0, FIRST + 10_000 + 429_800, 2_349_600]),
        Case::new("in S2 reads suspend", config())
            .read(1_000_000, Z2, 1_147_400, gc(20_000, &READ))
            .stages(2_507_000, &[moves(), cut(859_600, 1_000_000), host_read(1_020_000), a(1_147_400, 2_507_000)])
            .counts(&[("suspensions", 1)])
            .states([BEFORE, 0, FIRST + 2_507_000, 0]),
    ]);
}

#[test]
fn in_s2_writes_that_merge_go_on() {
    let merge = |share: f64| {
        move |c: &mut Config| {
            merging(c);
            c.gc.hard = share;
        }
    };
    play(vec![
        to_s2(Case::new("a write to the page that is being moved", one_job(merge(0.67))))
            .write(1_040_000, Y, 1_464_400, gc(122_000, &WRITE))
            .stages(2_964_400, &[until_s2(), erase(1_464_400)])
            .counts(&[("merged_writes", 1), ("pages_moved", 1), ("host_programs", 8)])
            .states([BEFORE, FIRST + 1_034_600, 1_929_800, 0]),
        to_s2(Case::new("an urgent one does not wait, so that there is no S3", one_job(merge(0.67))))
            .urgent(1_040_000, Y, 1_464_400, gc(122_000, &WRITE))
            .stages(2_964_400, &[until_s2(), erase(1_464_400)])
            .counts(&[("merged_writes", 1), ("pages_moved", 1), ("host_programs", 8)])
            .states([BEFORE, FIRST + 1_034_600, 1_929_800, 0]),
        to_s2(Case::new("the same without merging", hard(0.67)))
            .write(1_040_000, Y, 3_266_800, gc(1_924_400, &WRITE))
            .stages(3_266_800, &[until_s2(), erase(1_464_400), host_write(2_964_400)])
            .counts(&[("pages_moved", 2), ("host_programs", 8)]),
        // The first move takes the job's block: one is left, S2. Page 3 is moved second, with the write in it, and 2 third.
        Case::new("a write to a page still to be moved has it moved next", preemptible(merge(0.67)))
            .beginning(&THREE_MOVES)
            .write(100_000, 3, 859_600, gc(457_200, &WRITE))
            .read(870_000, 2, 987_000, gc(14_600, &REGISTER))
            .stages(2_789_400, &[page_move(0), page_move(429_800), page_move(859_600), erase(1_289_400)])
            .counts(&[("merged_writes", 1), ("merged_reads", 1), ("reordered_moves", 1), ("pages_moved", 2)])
            .states([BEFORE, FIRST, 2_789_400, 0]),
        Case::new(
            "also where all can be suspended",
            preemptible(|c| {
                merge(1.0)(c);
                c.gc.suspend = vec![Read, Program, Erase];
            }),
        )
        .beginning(&THREE_MOVES)
        .write(100_000, 3, 859_600, gc(457_200, &WRITE))
        .stages(2_789_400, &[page_move(0), page_move(429_800), page_move(859_600), erase(1_289_400)])
        .counts(&[("merged_writes", 1), ("reordered_moves", 1), ("pages_moved", 2)]),
        Case::new("in S1 it makes the move unnecessary", preemptible(merge(0.0)))
            .beginning(&THREE_MOVES)
            .write(100_000, 3, 732_200, gc(329_800, &WRITE))
            .stages(2_662_000, &write_at_b())
            .counts(&[("pages_moved", 2)])
            .states([BEFORE, FIRST + 2_662_000, 0, 0]),
    ]);
}

/// The first move takes the last free block beside the reserve, and three writes fill the host's: the fourth waits for the erase, and the reads
/// behind it do not.
#[test]
fn reads_go_before_an_older_write_without_a_free_block() {
    let waits = |die_queue: u64, rest: &[(ssdlab::stats::Part, u64)]| gc(329_800, &[&[(DieQueue, die_queue)], rest].concat());
    play(vec![
        Case::new("four writes and a read in the first move, a read in the second", preemptible(|_| ()))
            .write(100_000, Z, 732_200, waits(0, &WRITE))
            .write(100_000, Z2, 1_034_600, waits(302_400, &WRITE))
            .write(100_000, Z3, 1_337_000, waits(604_800, &WRITE))
            .write(100_000, 14, 3_824_000, waits(907_200 + 2 * 127_400, &gc(429_800 + 1_500_000, &WRITE)))
            .read(100_000, 5, 1_464_400, waits(907_200, &READ))
            .read(1_500_000, 6, 2_021_600, gc(394_200, &READ))
            .stages(
                3_824_000,
                &[
                    page_move(0),
                    host_write(429_800),
                    host_write(732_200),
                    host_write(1_034_600),
                    host_read(1_337_000),
                    page_move(1_464_400),
                    host_read(1_894_200),
                    erase(2_021_600),
                    host_write(3_521_600),
                ],
            )
            .counts(&[("pages_moved", 2), ("erases", 1)]),
    ]);
}

#[test]
fn s2_holds_nothing_up_where_nothing_can_be_gained() {
    // Four free blocks of six wanted, but no page is invalid.
    let config = preemptible(|c| {
        c.gc.soft = 6.0;
        c.gc.hard = 1.0;
    });
    play(vec![
        Case::new("a write to a full drive without invalid pages", config)
            .beginning(&[])
            .write(0, 0, 302_400, WRITE)
            .stages(302_400, &[host_write(0)]),
    ]);
}

#[test]
fn in_s3_the_job_goes_before_other_pools_of_its_die() {
    // Even pages lie in plane 0, the others in plane 1, a pool each.
    let config = preemptible(|c| {
        c.device.planes_per_die = 2;
        c.gc.hard = 1.0;
    });
    play(vec![
        Case::new("a read of the other plane arrives before an urgent write", config)
            .beginning(&TWO_MOVES_OF_EVEN_PAGES)
            .read(300_000, 1, 2_789_400, gc(2_059_600, &[&[(DieQueue, 302_400)], &READ[..]].concat()))
            .urgent(310_000, 10, 2_662_000, gc(2_049_600, &WRITE))
            .stages(2_789_400, &[undisturbed().concat(), host_write(2_359_600), host_read(2_662_000)])
            .counts(&[("s3_entries", 1)])
            .states([BEFORE + ORIGIN + 2_789_400, 0, FIRST + 310_000 + 429_800, 2_049_600]),
    ]);
}

#[test]
fn looking_at_the_queue_takes_time() {
    play(vec![
        // 25.6 us read, 200.6 us program, 1500.6 us erase: a move takes 431 us.
        Case::new("600 ns for each array operation of the job, none for the host's", preemptible(|c| c.gc.poll_ns = 600))
            .write(300_000, Z, 733_400, gc(131_000, &WRITE))
            .stages(
                2_665_000,
                &[
                    a(0, 25_600),
                    b(25_600, 128_000),
                    b(128_000, 230_400),
                    a(230_400, 431_000),
                    host_write(431_000),
                    a(733_400, 759_000),
                    b(759_000, 861_400),
                    b(861_400, 963_800),
                    a(963_800, 1_164_400),
                    a(1_164_400, 2_665_000),
                ],
            )
            .counts(&[("preemptions", 1)]),
        // 25 + 200 + 2 x 0.6 us.
        Case::new(
            "a move by copyback takes 1,200 ns longer",
            preemptible(|c| {
                c.gc.poll_ns = 600;
                c.device.copyback = true;
            }),
        )
        .stages(1_953_000, &[a(0, 226_200), a(226_200, 452_400), a(452_400, 1_953_000)])
        .counts(&[("pages_moved", 2)]),
    ]);
}

fn in_flight(moves: u32, change: impl FnOnce(&mut Config)) -> Config {
    preemptible(|c| {
        c.gc.moves_in_flight = moves;
        change(c);
    })
}

/// A flash read of the job takes as long as one of the host, and so does a program.
fn gc_read(at: u64) -> Vec<Stage> {
    host_read(at)
}

fn gc_program(at: u64) -> Vec<Stage> {
    host_write(at)
}

#[test]
fn several_moves_in_flight() {
    let two_moves = || [gc_read(0), gc_read(127_400), gc_program(254_800), gc_program(557_200), erase(859_600)];
    play(vec![
        // At 127,400 the second read (ready at 0) goes before the first program (ready at 127,400). The third read is ready at 557,200, when
        // a move has ended; the second program has been since 254,800.
        Case::new("two: two reads, two programs, the third move", in_flight(2, |_| ()))
            .beginning(&THREE_MOVES)
            .stages(
                2_789_400,
                &[
                    gc_read(0),
                    gc_read(127_400),
                    gc_program(254_800),
                    gc_program(557_200),
                    gc_read(859_600),
                    gc_program(987_000),
                    erase(1_289_400),
                ],
            )
            .counts(&[("pages_moved", 3)]),
        Case::new("all: three reads, three programs, and the erase after the last", in_flight(16, |_| ()))
            .beginning(&THREE_MOVES)
            .stages(
                2_789_400,
                &[
                    gc_read(0),
                    gc_read(127_400),
                    gc_read(254_800),
                    gc_program(382_200),
                    gc_program(684_600),
                    gc_program(987_000),
                    erase(1_289_400),
                ],
            )
            .counts(&[("pages_moved", 3)]),
        Case::new("the host is served between a move's read and its program", in_flight(2, |_| ()))
            .read(50_000, Z, 254_800, gc(77_400, &READ))
            .write(255_000, Z2, 684_600, gc(127_200, &WRITE))
            .stages(
                2_789_400,
                &[
                    gc_read(0),
                    host_read(127_400),
                    gc_read(254_800),
                    host_write(382_200),
                    gc_program(684_600),
                    gc_program(987_000),
                    erase(1_289_400),
                ],
            )
            .counts(&[("preemptions", 2)]),
        Case::new("one: not before the move has ended", in_flight(1, |_| ()))
            .read(50_000, Z, 557_200, gc(379_800, &READ))
            .stages(2_487_000, &read_at_b())
            .counts(&[("preemptions", 1)]),
        Case::new("a read of a page in the buffer is answered at once", in_flight(2, merging))
            .read(200_000, X, 200_000, [])
            .stages(2_359_600, &two_moves())
            .counts(&[("merged_reads", 1)]),
        // The buffer keeps a page until its program has ended, as it does for writes of the host.
        Case::new("also during its program", in_flight(2, merging))
            .read(400_000, X, 400_000, [])
            .stages(2_359_600, &two_moves())
            .counts(&[("merged_reads", 1)]),
        Case::new("a write replaces it and completes with the program", in_flight(2, merging))
            .write(200_000, X, 557_200, gc(54_800, &WRITE))
            .stages(2_359_600, &two_moves())
            .counts(&[("merged_writes", 1), ("pages_moved", 1), ("host_programs", 6)]),
    ]);
}

#[test]
fn several_moves_in_flight_pipelined() {
    play(vec![
        // A is at 357,200: x is programmed until 557,200 while z is transferred.
        Case::new("at A a write pairs with the flash program", in_flight(2, pairing))
            .write(300_000, Z, 757_200, [(Gc, 57_200), (Transfer, 102_400), (Gc, 97_600), (Array, 200_000)])
            .stages(
                2_559_600,
                &[
                    gc_read(0),
                    gc_read(127_400),
                    gc_program(254_800),
                    b(357_200, 459_600),
                    a(557_200, 757_200),
                    gc_program(757_200),
                    erase(1_059_600),
                ],
            )
            .counts(&[("pipelined_writes", 1)]),
        // R_y overlaps the transfer of z and has the bus after it; the program of x has been ready for longer than that of y.
        Case::new("at B a read pairs with the flash read", in_flight(2, pairing))
            .read(50_000, Z, 254_800, gc(77_400, &READ))
            .stages(
                2_462_000,
                &[
                    gc_read(0),
                    host_read(127_400),
                    a(152_400, 177_400),
                    b(254_800, 357_200),
                    gc_program(357_200),
                    gc_program(659_600),
                    erase(962_000),
                ],
            )
            .counts(&[("pipelined_reads", 1)]),
    ]);
}

#[test]
fn two_dies_on_one_channel() {
    // Even pages lie on die 0, where 4 and 6 are moved, the others on die 1.
    let two = |change: fn(&mut Config)| {
        preemptible(|c| {
            c.device.chips_per_channel = 2;
            change(c);
        })
    };
    play(vec![
        // Die 1 waits in line from 205,000 on and has the bus at A; the write has it from 332,200 to 434,600, 4.8 us longer than
        // x is programmed.
        Case::new("a write that pairs at A queues for the bus", two(pairing))
            .beginning(&TWO_MOVES_OF_EVEN_PAGES)
            .write(100_000, 18, 634_600, gc(129_800, &[&[(BusQueue, 102_400)], &WRITE[..]].concat()))
            .read(180_000, 1, 332_200, [(Array, 25_000), (BusQueue, 24_800), (Transfer, 102_400)])
            .stages(
                2_564_400,
                &[
                    page_move(0),
                    array_of(1, 180_000, 205_000),
                    b(229_800, 332_200),
                    b(332_200, 434_600),
                    a(434_600, 634_600),
                    page_move(634_600),
                    erase(1_064_400),
                ],
            )
            .counts(&[("pipelined_writes", 1)]),
        // Two other dies stand in line before it, so that x is programmed before its turn comes: nothing overlaps.
        Case::new(
            "the turn of a write that queues at A comes after the program",
            preemptible(|c| {
                c.device.chips_per_channel = 3;
                pairing(c);
            }),
        )
        .beginning(&TWO_MOVES_OF_EVERY_THIRD_PAGE)
        .write(100_000, 27, 737_000, gc(129_800, &[&[(BusQueue, 204_800)], &WRITE[..]].concat()))
        .read(170_000, 1, 332_200, [(Array, 25_000), (BusQueue, 34_800), (Transfer, 102_400)])
        .read(175_000, 2, 434_600, [(Array, 25_000), (BusQueue, 132_200), (Transfer, 102_400)])
        .stages(
            2_666_800,
            &[
                page_move(0),
                array_of(1, 170_000, 195_000),
                array_of(2, 175_000, 200_000),
                b(229_800, 332_200),
                b(332_200, 434_600),
                host_write(434_600),
                page_move(737_000),
                erase(1_166_800),
            ],
        ),
        Case::new("a write that goes first at B queues for the bus, and the job waits", two(|_| ()))
            .beginning(&TWO_MOVES_OF_EVEN_PAGES)
            .write(300_000, 18, 819_800, gc(129_800, &[&[(BusQueue, 87_600)], &WRITE[..]].concat()))
            .read(390_000, 1, 517_400, READ)
            .stages(
                2_749_600,
                &[
                    page_move(0),
                    array_of(1, 390_000, 415_000),
                    b(415_000, 517_400),
                    host_write(517_400),
                    page_move(819_800),
                    erase(1_249_600),
                ],
            )
            .counts(&[("preemptions", 1)]),
        Case::new("a move's transfers stand in line as well", two(|_| ()))
            .beginning(&TWO_MOVES_OF_EVEN_PAGES)
            .read(10_000, 1, 229_800, [(Array, 25_000), (BusQueue, 92_400), (Transfer, 102_400)])
            .stages(
                2_462_000,
                &[
                    a(0, 25_000),
                    array_of(1, 10_000, 35_000),
                    b(25_000, 127_400),
                    b(127_400, 229_800),
                    b(229_800, 332_200),
                    a(332_200, 532_200),
                    page_move(532_200),
                    erase(962_000),
                ],
            ),
    ]);
}

/// Requests of one page on one die, each alone: it arrives up to 600 us after the one before has completed, long before which a job has
/// gone on. Returns the longest response time of reads and of writes.
fn longest_alone(scheme: &str, transfer_ps_per_byte: u64, requests: u32) -> [u64; 2] {
    let mut config = Layers { device: Some("lee2013".into()), schemes: vec![scheme.into()], ..Layers::default() }.build().unwrap();
    config.device.transfer_ps_per_byte = transfer_ps_per_byte;
    (config.device.channels, config.device.planes_per_die) = (1, 1);
    (config.device.blocks_per_plane, config.device.pages_per_block, config.device.overprovisioning) = (32, 8, 0.5);
    (config.gc.soft, config.gc.hard) = (8.0, 0.0);
    let plan = Plan { verify: Verify::Off, ..common::plan(config) };
    let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
    simulation.take_completions();
    let mut rng = Rng::new(1, "table v");
    let mut longest = [0; 2];
    for _ in 0..requests {
        let arrival_ns = simulation.now() + rng.below(600_000);
        let kind = if rng.chance(0.5) { RequestKind::Read } else { RequestKind::Write };
        // A write that had to wait for a free block would not be one of S1.
        assert!(simulation.ssd().ftl().can_write(PoolId(0), 0), "{scheme}: no free block");
        simulation
            .submit(Request { arrival_ns, kind, offset: rng.below(128) * PAGE, length: PAGE, high_priority: false, flow: 0, handle: None })
            .unwrap();
        simulation.run_to_idle().unwrap();
        let completions = simulation.take_completions();
        let taken = completions[0].completed_ns - completions[0].arrival_ns;
        let longest = &mut longest[usize::from(kind == RequestKind::Write)];
        *longest = taken.max(*longest);
    }
    // S1 all the time: enough free blocks, and jobs at work for a good part of it.
    let [_, s1, s2, s3] = simulation.ssd().state_ns(simulation.now()).map(|ns| ns as u64);
    assert_eq!((s2, s3), (0, 0), "{scheme}");
    assert!(s1 > simulation.now() / 4, "{scheme}: jobs were at work for {s1} of {} ns", simulation.now());
    longest
}

/// Table V, in S1. PGC: the erase and the longer of U(read) and U(write), which are array and transfer. FPGC: the suspension in place of the
/// erase; where transfers take time one of the job's may be under way, and is not suspended.
#[test]
fn table_v_worst_case_response_times() {
    let requests = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
    let mut wrong = Vec::new();
    for (transfer_ps_per_byte, transfer_ns) in [(0, 0), (25_000, TRANSFER_NS)] {
        let service = transfer_ns + PROGRAM_NS;
        for (scheme, bound) in [("pgc", ERASE_NS + service), ("fpgc", SUSPEND_NS.max(transfer_ns) + service)] {
            let [read, write] = longest_alone(scheme, transfer_ps_per_byte, requests);
            let longest = read.max(write);
            if longest > bound || (longest as f64) < 0.99 * bound as f64 {
                wrong.push(format!(
                    "{scheme}, transfers of {transfer_ns} ns: {read} ns (read) and {write} ns (write), the bound is {bound}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The fewest free blocks of a drive of 32 blocks, T_soft = 8, to which 4,000 writes come at once, looked at every 5 us.
fn fewest_free_blocks(hard: f64, scheme: &str) -> u32 {
    let mut config = Layers { device: Some("lee2013".into()), schemes: vec![scheme.into()], ..Layers::default() }.build().unwrap();
    (config.device.channels, config.device.planes_per_die) = (1, 1);
    (config.device.blocks_per_plane, config.device.pages_per_block, config.device.overprovisioning) = (32, 8, 0.5);
    (config.gc.soft, config.gc.hard) = (8.0, hard);
    let plan = Plan { verify: Verify::End, ..common::plan(config) };
    let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
    let mut rng = Rng::new(1, "figure 13");
    for _ in 0..4_000 {
        let offset = rng.below(128) * PAGE;
        simulation
            .submit(Request { arrival_ns: 0, kind: RequestKind::Write, offset, length: PAGE, high_priority: false, flow: 0, handle: None })
            .unwrap();
    }
    let mut fewest = u32::MAX;
    while simulation.ssd().outstanding() > 0 || simulation.now() == 0 {
        simulation.run_until(simulation.now() + 5_000).unwrap();
        fewest = fewest.min(simulation.ssd().ftl().blocks().free_count(PoolId(0)));
    }
    assert!(simulation.ssd().counters().jobs > 400, "{scheme}: {} jobs", simulation.ssd().counters().jobs);
    simulation.finish().unwrap();
    fewest
}

/// Fig. 13: without a hard threshold preemption eats the free blocks up, but for the reserve; with one it stops there. Host writes take one
/// block below T_hard, and the job takes one of its own before it frees one.
#[test]
fn figure_13_the_hard_threshold_keeps_blocks_free() {
    for scheme in ["pgc-none", "pgc", "fpgc"] {
        assert!(fewest_free_blocks(0.0, scheme) <= 1, "{scheme}");
        for (hard, t_hard) in [(0.25, 2), (0.5, 4), (0.8, 6), (1.0, 8)] {
            let fewest = fewest_free_blocks(hard, scheme);
            assert!(fewest + 2 >= t_hard && fewest < t_hard, "{scheme}: {fewest} free blocks with T_hard = {t_hard}");
        }
    }
}

#[test]
fn two_dies_that_exclude_each_other() {
    // One chip, even pages on die 0, where 4 and 6 are moved, the others on die 1; one operation at a time.
    let exclusive = |change: fn(&mut Config)| {
        preemptible(|c| {
            c.device.dies_per_chip = 2;
            c.device.die_interleave = false;
            change(c);
        })
    };
    let other_read = |at: u64| [array_of(1, at, at + READ_NS), b(at + READ_NS, at + READ_NS + TRANSFER_NS)].concat();
    play(vec![
        Case::new("an operation on the other die suspends the erase", exclusive(|c| c.gc.suspend = vec![Erase]))
            .beginning(&TWO_MOVES_OF_EVEN_PAGES)
            .read(1_000_000, 1, 1_147_400, gc(20_000, &READ))
            .stages(2_507_000, &[page_move(0), page_move(429_800), cut(859_600, 1_000_000), other_read(1_020_000), a(1_147_400, 2_507_000)])
            .counts(&[("suspensions", 1)]),
        Case::new("at B it goes first", exclusive(|_| ()))
            .beginning(&TWO_MOVES_OF_EVEN_PAGES)
            .read(300_000, 1, 557_200, gc(129_800, &READ))
            .stages(2_487_000, &[page_move(0), other_read(429_800), page_move(557_200), erase(987_000)])
            .counts(&[("preemptions", 1)]),
        Case::new("it overlaps nothing, since the chip does one operation at a time", exclusive(pairing))
            .beginning(&TWO_MOVES_OF_EVEN_PAGES)
            .read(300_000, 1, 557_200, gc(129_800, &READ))
            .stages(2_487_000, &[page_move(0), other_read(429_800), page_move(557_200), erase(987_000)]),
        Case::new("on the die of the job it does", exclusive(pairing))
            .beginning(&TWO_MOVES_OF_EVEN_PAGES)
            .read(300_000, 18, 557_200, gc(129_800, &READ))
            .stages(
                2_462_000,
                &[
                    page_move(0),
                    host_read(429_800),
                    a(454_800, 479_800),
                    b(557_200, 659_600),
                    b(659_600, 762_000),
                    a(762_000, 962_000),
                    erase(962_000),
                ],
            )
            .counts(&[("pipelined_reads", 1)]),
    ]);
}

#[test]
fn several_moves_in_flight_suspended() {
    let suspending = |merge: bool| {
        in_flight(2, |c| {
            c.gc.suspend = vec![Read, Program, Erase];
            c.gc.merge = merge;
        })
    };
    let reads = || [gc_read(0), gc_read(127_400)].concat();
    play(vec![
        // 23 us remain of R_x; that of y has been ready for longer than the program of x.
        Case::new("a flash read", suspending(false))
            .write(2_000, Z, 324_400, gc(20_000, &WRITE))
            .stages(
                2_682_000,
                &[
                    cut(0, 2_000),
                    host_write(22_000),
                    a(324_400, 347_400),
                    b(347_400, 449_800),
                    gc_read(449_800),
                    gc_program(577_200),
                    gc_program(879_600),
                    erase(1_182_000),
                ],
            )
            .counts(&[("suspensions", 1), ("pages_moved", 2)]),
        Case::new("a flash read of the page that is written: discarded", suspending(true))
            .write(2_000, X, 324_400, gc(20_000, &WRITE))
            .stages(2_254_200, &[cut(0, 2_000), host_write(22_000), gc_read(324_400), gc_program(451_800), erase(754_200)])
            .counts(&[("suspensions", 1), ("discarded_moves", 1), ("pages_moved", 1)]),
        // W_x from 357,200: 157,200 of it remain at 400,000.
        Case::new("a flash program", suspending(false))
            .read(400_000, Z, 547_400, gc(20_000, &READ))
            .stages(
                2_507_000,
                &[
                    reads(),
                    b(254_800, 357_200),
                    cut(357_200, 400_000),
                    host_read(420_000),
                    a(547_400, 704_600),
                    gc_program(704_600),
                    erase(1_007_000),
                ],
            )
            .counts(&[("suspensions", 1), ("pages_moved", 2)]),
        Case::new("a flash program put aside at A", suspending(false))
            .write(300_000, Z, 659_600, gc(57_200, &WRITE))
            .stages(
                2_662_000,
                &[reads(), b(254_800, 357_200), host_write(357_200), a(659_600, 859_600), gc_program(859_600), erase(1_162_000)],
            )
            .counts(&[("pages_moved", 2)]),
    ]);
}

/// Less than T_hard = 3 free blocks all the time: S2.
fn full(c: &mut Config) {
    merging(c);
    c.gc.hard = 1.0;
}

/// Even pages lie in plane 0, the others in plane 1, a pool each.
fn two_pools(change: impl FnOnce(&mut Config)) -> Config {
    preemptible(|c| {
        c.device.planes_per_die = 2;
        c.device.multiplane = true;
        change(c);
    })
}

/// The moves take turns by when they became ready: 4, 5, 6, 7.
fn four_moves() -> Vec<Stage> {
    [page_move(0), page_move(429_800), page_move(859_600), page_move(1_289_400)].concat()
}

#[test]
fn two_jobs_on_one_die() {
    play(vec![
        Case::new("they take turns", two_pools(|_| ()))
            .on_two_planes()
            .stages(3_219_200, &[four_moves(), erase(1_719_200)])
            .counts(&[("pages_moved", 4)]),
        // Pages 4, 7 with the write in it, 6, 5: the pool of plane 0 has been ready since 429,800, that of plane 1 since 859,600.
        Case::new("in S2 a write to a page that the other job has still to move has it moved next", two_pools(full))
            .on_two_planes()
            .write(60_000, 7, 859_600, gc(497_200, &WRITE))
            .stages(3_219_200, &[four_moves(), erase(1_719_200)])
            .counts(&[("merged_writes", 1), ("reordered_moves", 1), ("pages_moved", 3)]),
        // It cannot go itself, so that nothing is put aside or suspended for it.
        Case::new(
            "the same where all can be suspended",
            two_pools(|c| {
                full(c);
                c.gc.suspend = vec![Read, Program, Erase];
            }),
        )
        .on_two_planes()
        .write(60_000, 7, 859_600, gc(497_200, &WRITE))
        .stages(3_219_200, &[four_moves(), erase(1_719_200)])
        .counts(&[("merged_writes", 1), ("reordered_moves", 1), ("pages_moved", 3)]),
        // While R of page 4 is suspended, the other job does not begin either. 23 us of it remain.
        Case::new("one suspended operation a die", two_pools(|c| c.gc.suspend = vec![Read]))
            .on_two_planes()
            .read(2_000, 9, 149_400, gc(20_000, &READ))
            .stages(1_007_000, &[cut(0, 2_000), host_read(22_000), a(149_400, 172_400), rest_of_move(172_400), page_move(577_200)])
            .counts(&[("suspensions", 1)]),
    ]);
}

/// A drive that puts the move aside finds nothing to do with the die, resumes it, and so on for ever at one instant.
#[test]
fn nothing_is_put_aside_in_vain() {
    play(vec![
        // The first job is at its second page, 6, and the second has begun: it arrives during the transfer out.
        Case::new(
            "a move is not put aside for a write that only another can serve",
            two_pools(|c| {
                full(c);
                c.gc.suspend = vec![Read, Program, Erase];
            }),
        )
        .on_two_planes()
        .write(920_000, 7, 1_719_200, gc(496_800, &WRITE))
        .stages(3_219_200, &[four_moves(), erase(1_719_200)])
        .counts(&[("merged_writes", 1), ("reordered_moves", ANY), ("pages_moved", 3)]),
    ]);
}
