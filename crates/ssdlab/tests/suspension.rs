//! Programs and erases of host and GC that are suspended for reads (`scheduler.suspend`), worked by hand to the nanosecond. One die. A page
//! takes 102.4 us on the bus, a read 25 us, a program 200 us, an erase 1.5 ms. To suspend takes 10 us, and 20 us are lost each time.

use crate::common::{one_die, plan};
use crate::timelines::{Case, Stage, array, bus, changed, filled, pages, play_all, read, write};
use ssdlab::config::{Config, Order, Priority, Scope, SuspendedForReads};
use ssdlab::request::Request;
use ssdlab::simulation::{Control, run};
use ssdlab::stats::Part;

const MS: u64 = 1_000_000;

fn drive() -> Config {
    changed(filled(one_die()), |c| {
        c.scheduler.order = Order::FrFcfs;
        c.scheduler.suspend = vec![SuspendedForReads::Program, SuspendedForReads::Erase];
        c.device.page_registers = 2;
        (c.device.suspend_ns, c.device.resume_ns, c.device.min_run_ns) = (10_000, 20_000, 50_000);
        (c.gc.scope, c.gc.priority) = (Scope::None, Priority::Host);
    })
}

/// With write pausing. A program has four steps of 50 us.
fn pausing() -> Config {
    changed(drive(), |c| {
        c.scheduler.write_pausing = true;
        c.device.ispp_steps = 4;
    })
}

fn flash_read(at: u64) -> [Stage; 2] {
    [array(0, at, at + 25_000), bus(0, at + 25_000, at + 127_400)]
}

fn program(at: u64) -> [Stage; 2] {
    [bus(0, at, at + 102_400), array(0, at + 102_400, at + 302_400)]
}

/// A write whose program has these stages until it makes way for a read, and is 10 + 20 us longer.
fn around_a_read(until: &[Stage]) -> Vec<Stage> {
    let read_at = until.last().expect("it runs").2;
    [&[bus(0, 0, 102_400)], until, &flash_read(read_at), &[array(0, read_at + 127_400, 459_800)]].concat()
}

fn waited(ns: u64) -> (u64, Vec<(Part, u64)>) {
    (127_400 + ns, vec![(Part::DieQueue, ns), (Part::Array, 25_000), (Part::Transfer, 102_400)])
}

fn waited_not() -> (u64, Vec<(Part, u64)>) {
    (127_400, vec![(Part::Array, 25_000), (Part::Transfer, 102_400)])
}

/// The writes that bring about the erase of a block, a read while it is erased, and one later.
fn five_writes_two_reads() -> Vec<Request> {
    (0..5).map(|page| write(page * MS, page)).chain([read(5 * MS, 5), read(9 * MS, 6)]).collect()
}

fn written(array_ns: u64, suspended_ns: u64) -> (u64, Vec<(Part, u64)>) {
    (102_400 + array_ns + suspended_ns, vec![(Part::Transfer, 102_400), (Part::Array, array_ns), (Part::Suspended, suspended_ns)])
}

fn cases() -> Vec<Case> {
    use Part::{Array, Gc, Transfer};
    let alone = || (302_400, vec![(Transfer, 102_400), (Array, 200_000)]);
    // Three pages of each block are overwritten, which leaves one page of block 0 to move, and then one free block more.
    let collected = || {
        changed(drive(), |c| {
            c.device.pages_per_block = 2;
            c.ftl.frontier = ssdlab::config::Frontier::Shared;
        })
    };
    vec![
        Case {
            name: "a program is suspended for a read, and does the last 20 us again",
            config: drive(),
            requests: vec![write(0, 0), read(200_000, 5)],
            // It stops at 200 us, is out of the way 10 us later, and has 102.4 us left.
            responses: vec![written(97_600 + 122_400, 137_400), waited(10_000)],
            stages: around_a_read(&[array(0, 102_400, 210_000)]),
        },
        Case {
            name: "not before it has run for 50 us",
            config: drive(),
            requests: vec![write(0, 0), read(110_000, 5)],
            // It stops at 152.4 us.
            responses: vec![written(50_000 + 170_000, 137_400), waited(52_400)],
            stages: around_a_read(&[array(0, 102_400, 152_400), array(0, 152_400, 162_400)]),
        },
        Case {
            name: "a read that comes while it is on the bus waits as long",
            config: drive(),
            requests: vec![write(0, 0), read(10_000, 5)],
            responses: vec![written(50_000 + 170_000, 137_400), waited(152_400)],
            stages: around_a_read(&[array(0, 102_400, 152_400), array(0, 152_400, 162_400)]),
        },
        Case {
            name: "one that ends no later than it is suspended is not",
            config: drive(),
            requests: vec![write(0, 0), read(292_400, 5)],
            responses: vec![alone(), waited(10_000)],
            stages: [program(0), flash_read(302_400)].concat(),
        },
        Case {
            name: "all reads that wait go, and one that comes later has it suspended again",
            config: drive(),
            requests: vec![write(0, 0), read(200_000, 5), read(220_000, 6), read(480_000, 7)],
            // 102.4 us are left after the first time, 122.4 us with those that are lost. After 50 us there are 72.4 us left.
            responses: vec![
                written(97_600 + 50_000 + 92_400, 10_000 + 2 * 127_400 + 137_400),
                waited(10_000),
                waited(117_400),
                waited(44_800),
            ],
            stages: [
                vec![bus(0, 0, 102_400), array(0, 102_400, 210_000)],
                flash_read(210_000).to_vec(),
                flash_read(337_400).to_vec(),
                vec![array(0, 464_800, 514_800), array(0, 514_800, 524_800)],
                flash_read(524_800).to_vec(),
                vec![array(0, 652_200, 744_600)],
            ]
            .concat(),
        },
        Case {
            name: "only as often as it may be",
            config: changed(drive(), |c| c.device.max_suspends = 1),
            requests: vec![write(0, 0), read(200_000, 5), read(400_000, 7)],
            responses: vec![written(97_600 + 122_400, 137_400), waited(10_000), waited(59_800)],
            stages: [
                vec![bus(0, 0, 102_400), array(0, 102_400, 210_000)],
                flash_read(210_000).to_vec(),
                vec![array(0, 337_400, 459_800)],
                flash_read(459_800).to_vec(),
            ]
            .concat(),
        },
        Case {
            name: "where programs are not named, they are not",
            config: changed(drive(), |c| c.scheduler.suspend = vec![SuspendedForReads::Erase]),
            requests: vec![write(0, 0), read(200_000, 5)],
            responses: vec![alone(), waited(102_400)],
            stages: [program(0), flash_read(302_400)].concat(),
        },
        Case {
            name: "with fcfs the read is the oldest that waits: that the program is older changes nothing",
            config: changed(drive(), |c| c.scheduler.order = Order::Fcfs),
            requests: vec![write(0, 0), read(200_000, 5)],
            responses: vec![written(97_600 + 122_400, 137_400), waited(10_000)],
            stages: around_a_read(&[array(0, 102_400, 210_000)]),
        },
        Case {
            // The second program has begun when the read is the oldest, and runs for 50 us first.
            name: "with fcfs a write that has waited for longer than the read goes first, and then makes way itself",
            config: changed(drive(), |c| c.scheduler.order = Order::Fcfs),
            requests: vec![write(0, 0), write(150_000, 1), read(200_000, 5)],
            responses: vec![
                alone(),
                (612_200, vec![(Part::DieQueue, 152_400), (Transfer, 102_400), (Array, 50_000 + 170_000), (Part::Suspended, 137_400)]),
                waited(264_800),
            ],
            stages: [
                program(0).to_vec(),
                vec![bus(0, 302_400, 404_800), array(0, 404_800, 454_800), array(0, 454_800, 464_800)],
                flash_read(464_800).to_vec(),
                vec![array(0, 592_200, 762_200)],
            ]
            .concat(),
        },
        Case {
            // Page 0 can end 302.4 us later without delaying the request, which ends with page 1: it pauses at the end of its second step. Page 1
            // has no slack.
            name: "with write pausing a program pauses where it has slack, and is suspended where it has none",
            config: pausing(),
            requests: vec![pages(write(0, 0), 2), read(160_000, 5), read(600_000, 6)],
            responses: vec![
                (889_600, vec![(Part::DieQueue, 429_800), (Transfer, 102_400), (Array, 67_800 + 152_200), (Part::Suspended, 137_400)]),
                waited(42_400),
                waited(10_000),
            ],
            stages: [
                vec![bus(0, 0, 102_400), array(0, 102_400, 202_400)],
                flash_read(202_400).to_vec(),
                vec![array(0, 329_800, 429_800), bus(0, 429_800, 532_200), array(0, 532_200, 610_000)],
                flash_read(610_000).to_vec(),
                vec![array(0, 737_400, 889_600)],
            ]
            .concat(),
        },
        Case {
            // The last step begins at 252.4 us.
            name: "in its last step a program cannot pause: it is suspended, though it has slack",
            config: pausing(),
            requests: vec![pages(write(0, 0), 2), read(260_000, 5)],
            responses: vec![(762_200, vec![(Part::DieQueue, 459_800), (Transfer, 102_400), (Array, 200_000)]), waited(10_000)],
            stages: [
                vec![bus(0, 0, 102_400), array(0, 102_400, 270_000)],
                flash_read(270_000).to_vec(),
                vec![array(0, 397_400, 459_800)],
                program(459_800).to_vec(),
            ]
            .concat(),
        },
        Case {
            name: "where programs are not named, one that has no slack runs to its end",
            config: changed(pausing(), |c| c.scheduler.suspend = vec![SuspendedForReads::Erase]),
            requests: vec![write(0, 0), read(200_000, 5)],
            responses: vec![alone(), waited(102_400)],
            stages: [program(0), flash_read(302_400)].concat(),
        },
        Case {
            // Blocks 0 to 3 hold pages 0 to 7. The third write takes the sixth of eight blocks, the fifth the seventh: collection begins with
            // block 0, of which nothing is valid, and goes on with block 1.
            name: "an erase is suspended, too",
            config: collected(),
            requests: five_writes_two_reads(),
            responses: [vec![alone(); 5], vec![(137_400, vec![(Gc, 10_000), (Array, 25_000), (Transfer, 102_400)]), waited_not()]].concat(),
            stages: [
                (0..5).flat_map(|ms| program(ms * MS)).collect(),
                // 802.4 us are left at 5 ms, and 20 us more are to be done.
                vec![array(0, 4_302_400, 5_010_000)],
                flash_read(5_010_000).to_vec(),
                vec![array(0, 5_137_400, 5_959_800)],
                flash_read(9 * MS).to_vec(),
            ]
            .concat(),
        },
        Case {
            name: "a read behind another waits for the erase until that begins, and then for that",
            config: collected(),
            requests: [&five_writes_two_reads()[..6], &[read(5_004_000, 6)]].concat(),
            responses: [
                vec![alone(); 5],
                vec![(137_400, vec![(Gc, 10_000), (Array, 25_000), (Transfer, 102_400)])],
                vec![(260_800, vec![(Gc, 6_000), (Part::DieQueue, 127_400), (Array, 25_000), (Transfer, 102_400)])],
            ]
            .concat(),
            stages: [
                (0..5).flat_map(|ms| program(ms * MS)).collect(),
                vec![array(0, 4_302_400, 5_010_000)],
                flash_read(5_010_000).to_vec(),
                flash_read(5_137_400).to_vec(),
            ]
            .concat(),
        },
        Case {
            name: "where GC has priority its erase is not",
            config: changed(collected(), |c| c.gc.priority = Priority::Gc),
            requests: five_writes_two_reads(),
            responses: [vec![alone(); 5], vec![(929_800, vec![(Gc, 802_400), (Array, 25_000), (Transfer, 102_400)]), waited_not()]]
                .concat(),
            stages: [
                (0..5).flat_map(|ms| program(ms * MS)).collect(),
                vec![array(0, 4_302_400, 5_802_400)],
                flash_read(5_802_400).to_vec(),
                flash_read(9 * MS).to_vec(),
            ]
            .concat(),
        },
    ]
}

#[test]
fn timelines() {
    play_all(&cases());
}

/// A die that always has something to do is busy with programs, with reads, and for each suspension with the time that it takes and that it loses.
#[test]
fn each_read_costs_what_is_lost() {
    let mut config = changed(drive(), |c| {
        (c.device.blocks_per_plane, c.device.pages_per_block) = (400, 64);
        c.device.transfer_ps_per_byte = 0;
        c.device.program_ns = 2 * MS;
        c.gc.soft = 2.0;
    });
    (config.workload.read_share, config.workload.queue_depth) = (0.5, 1);
    let mut plan = plan(config.clone());
    plan.requests = Some(4_000);
    let alone = run(&plan, &Control::default()).unwrap();
    // With one request at a time nothing is suspended but collection.
    assert_eq!(alone.counters["suspended_programs"], 0);
    // Twice as fast as the die can serve them: reads come while it programs, as those of a closed loop do not.
    (config.workload.queue_depth, config.workload.interarrival_us) = (0, 500.0);
    let mut plan = crate::common::plan(config);
    plan.requests = Some(4_000);
    let busy = run(&plan, &Control::default()).unwrap();
    let (suspended, reads) = (busy.counters["suspended_programs"], busy.counters["reads_while_suspended"]);
    assert!(suspended > 500 && reads >= suspended, "{suspended} times for {reads} reads");
    // Array time: programs, reads, and what is lost.
    let lost = suspended * 30_000;
    let work = busy.requests.write * 2 * MS + busy.requests.read * 25_000 + lost;
    assert!((busy.simulated_ns as f64 / work as f64 - 1.0).abs() < 0.01, "{} ns for {work} ns of work", busy.simulated_ns);
}
