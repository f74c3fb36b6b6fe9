//! Reads that age and are repeated (`errors`), worked by hand to the nanosecond. One die. A read takes 25 us, a page 102.4 us on the bus, a program
//! 200 us, an erase 1.5 ms. The data of a page are decoded for 20 us. Every cell has the same bit error rate, unless a case says otherwise.

use crate::common::{one_die, simulation};
use crate::timelines::{Case, array, bus, changed, filled, pages, play, play_all, read, write};
use ssdlab::cause::Cause;
use ssdlab::config::{Config, Frontier, Order, PoolScope, Priority, RetryPolicy, Scope, SuspendedForReads};
use ssdlab::request::Request;
use ssdlab::simulation::Simulation;
use ssdlab::stats::Part;
use ssdlab::status::Status;
use ssdlab::units::BlockId;

const MS: u64 = 1_000_000;

/// The rate up to which a plain read is good: 72 bits of 1 KiB. Each of four retry steps is good for twice the rate of the one before.
const LIMIT: f64 = 72.0 / 8192.0;

/// Reads need this step.
fn needs(step: i32, retry: RetryPolicy) -> Config {
    changed(filled(one_die()), |c| {
        let errors = &mut c.errors;
        errors.retry = retry;
        errors.retry_table = vec![0.5, 0.25, 0.125, 0.0625];
        (errors.alpha, errors.beta, errors.gamma) = (0.0, 0.0, 0.0);
        errors.epsilon = LIMIT * 0.75 * 2_f64.powi(step);
        (c.gc.scope, c.gc.priority) = (Scope::None, Priority::Host);
    })
}

/// As [`needs`], with 10.24 us a page on the bus and reads of this time.
fn fast_bus(step: i32, retry: RetryPolicy, read_ns: u64) -> Config {
    changed(needs(step, retry), |c| (c.device.transfer_ps_per_byte, c.device.read_ns) = (2_500, read_ns))
}

/// The parts of a read: failed steps, the array read of the last step, its transfer and the decoding.
fn parts(lost: u64, array: u64, transfer: u64) -> Vec<(Part, u64)> {
    vec![(Part::Retry, lost), (Part::Array, array), (Part::Transfer, transfer), (Part::Decode, 20_000)]
}

fn and_waits(ns: u64, parts: Vec<(Part, u64)>) -> Vec<(Part, u64)> {
    [vec![(Part::DieQueue, ns)], parts].concat()
}

fn cases() -> Vec<Case> {
    use RetryPolicy::{Ar2, InOrder, LastGood, None, Pr2};
    let one_step = |at: u64| [array(0, at, at + 25_000), bus(0, at + 25_000, at + 127_400)];
    let in_order = |at: u64| [0, 147_400, 294_800].iter().flat_map(|&after| one_step(at + after)).collect::<Vec<_>>();
    vec![
        Case {
            name: "a read without too many errors is decoded beside its die, on which the next begins",
            config: needs(0, InOrder),
            requests: vec![read(0, 5), read(0, 6)],
            responses: vec![(147_400, parts(0, 25_000, 102_400)), (274_800, and_waits(127_400, parts(0, 25_000, 102_400)))],
            stages: [one_step(0), one_step(127_400)].concat(),
        },
        Case {
            name: "two steps fail: each is an array read, a transfer and the decoding, for which the die waits",
            config: needs(2, InOrder),
            requests: vec![read(0, 5), read(0, 6)],
            responses: vec![(442_200, parts(294_800, 25_000, 102_400)), (864_400, and_waits(422_200, parts(294_800, 25_000, 102_400)))],
            stages: [in_order(0), in_order(422_200)].concat(),
        },
        Case {
            name: "the next read of the block begins with the step that was good, that of another block with a plain read",
            config: needs(2, LastGood),
            requests: vec![read(0, 5), read(MS, 6), read(2 * MS, 0)],
            responses: vec![
                (442_200, parts(294_800, 25_000, 102_400)),
                (147_400, parts(0, 25_000, 102_400)),
                (442_200, parts(294_800, 25_000, 102_400)),
            ],
            stages: [in_order(0), one_step(MS).to_vec(), in_order(2 * MS)].concat(),
        },
        Case {
            // The published time of a read with n retries: plain read, transfer, decoding, n array reads, transfer, decoding.
            name: "pipelined: the array reads for the next step during transfer and decoding",
            config: fast_bus(3, Pr2, 25_000),
            requests: vec![read(0, 5), read(0, 6)],
            responses: vec![
                (55_240 + 3 * 25_000 + 30_240, parts(115_480, 14_760, 10_240)),
                // The fourth step has been read ahead by 155,240. The controller knows at 160,480 that it is not needed.
                (2 * 160_480, and_waits(160_480, parts(115_480, 14_760, 10_240))),
            ],
            stages: [0, 160_480]
                .iter()
                .flat_map(|&at| {
                    [
                        array(0, at, at + 25_000),
                        bus(0, at + 25_000, at + 35_240),
                        array(0, at + 55_240, at + 80_240),
                        bus(0, at + 80_240, at + 90_480),
                        array(0, at + 80_240, at + 105_240),
                        bus(0, at + 105_240, at + 115_480),
                        array(0, at + 105_240, at + 130_240),
                        bus(0, at + 130_240, at + 140_480),
                        array(0, at + 130_240, at + 155_240),
                    ]
                })
                .collect(),
        },
        Case {
            name: "pipelined: a read ahead that still runs when the data are good is stopped, which takes 5 us",
            config: fast_bus(3, Pr2, 50_000),
            requests: vec![read(0, 5), read(0, 6)],
            responses: vec![
                (80_240 + 3 * 50_000 + 30_240, parts(190_480, 39_760, 10_240)),
                (265_480 + 260_480, and_waits(265_480, parts(190_480, 39_760, 10_240))),
            ],
            stages: [0, 265_480]
                .iter()
                .flat_map(|&at| {
                    [
                        array(0, at, at + 50_000),
                        bus(0, at + 50_000, at + 60_240),
                        array(0, at + 80_240, at + 130_240),
                        bus(0, at + 130_240, at + 140_480),
                        array(0, at + 130_240, at + 180_240),
                        bus(0, at + 180_240, at + 190_480),
                        array(0, at + 180_240, at + 230_240),
                        bus(0, at + 230_240, at + 240_480),
                        // That of the second read ends when all requests have.
                        array(0, at + 230_240, at + 265_480),
                    ]
                })
                .filter(|&(_, _, end)| end <= 265_480 + 260_480)
                .collect(),
        },
        Case {
            name: "pipelined: the last step of the table has none behind it to be read ahead",
            config: fast_bus(4, Pr2, 25_000),
            requests: vec![read(0, 5), read(0, 6)],
            responses: vec![
                (55_240 + 4 * 25_000 + 30_240, parts(140_480, 14_760, 10_240)),
                (165_480 + 185_480, and_waits(165_480, parts(140_480, 14_760, 10_240))),
            ],
            stages: [0, 165_480]
                .iter()
                .flat_map(|&at| {
                    let step = |read: u64| [bus(0, at + read, at + read + 10_240), array(0, at + read, at + read + 25_000)];
                    let begin = vec![array(0, at, at + 25_000), bus(0, at + 25_000, at + 35_240), array(0, at + 55_240, at + 80_240)];
                    let steps = [80_240, 105_240, 130_240].iter().flat_map(|&read| step(read)).collect();
                    [begin, steps, vec![bus(0, at + 155_240, at + 165_480)]].concat()
                })
                .collect(),
        },
        Case {
            name: "pipelined, the bus being slower than the array: transfers follow each other",
            config: needs(2, Pr2),
            requests: vec![read(0, 5)],
            // Step 1 is read by 172.4 us and transferred by 274.8 us, step 2 by then read ahead, and transferred by 377.2 us.
            responses: vec![(397_200, parts(274_800, 0, 102_400))],
            stages: vec![
                array(0, 0, 25_000),
                bus(0, 25_000, 127_400),
                array(0, 147_400, 172_400),
                bus(0, 172_400, 274_800),
                array(0, 172_400, 197_400),
                bus(0, 274_800, 377_200),
                array(0, 274_800, 299_800),
            ],
        },
        Case {
            // SET FEATURES takes 1 us before the first retry step, whose array read takes three quarters of 50 us.
            name: "adaptive: array reads of retry steps are shorter",
            config: fast_bus(3, Ar2, 50_000),
            requests: vec![read(0, 5)],
            responses: vec![(80_240 + 1_000 + 3 * 37_500 + 30_240, parts(166_480, 27_260, 10_240))],
            stages: vec![
                array(0, 0, 50_000),
                bus(0, 50_000, 60_240),
                array(0, 80_240, 118_740),
                bus(0, 118_740, 128_980),
                array(0, 118_740, 156_240),
                bus(0, 156_240, 166_480),
                array(0, 156_240, 193_740),
                // The read ahead that begins then is stopped when the request has ended.
                bus(0, 193_740, 203_980),
            ],
        },
        Case {
            name: "without retries a read with too many errors ends like any other",
            config: needs(1, None),
            requests: vec![read(0, 5)],
            responses: vec![(147_400, parts(0, 25_000, 102_400))],
            stages: one_step(0).to_vec(),
        },
        Case {
            name: "the planes of a multi-plane read are read again together",
            config: changed(needs(1, InOrder), |c| {
                (c.device.planes_per_die, c.device.multiplane) = (2, true);
                c.ftl.pool = PoolScope::Plane;
            }),
            requests: vec![pages(read(0, 0), 2)],
            responses: vec![(
                249_800 + 229_800 + 20_000,
                vec![
                    (Part::Retry, 249_800),
                    (Part::Array, 25_000),
                    (Part::BusQueue, 102_400),
                    (Part::Transfer, 102_400),
                    (Part::Decode, 20_000),
                ],
            )],
            stages: [0, 249_800]
                .iter()
                .flat_map(|&at| [array(0, at, at + 25_000), bus(0, at + 25_000, at + 127_400), bus(0, at + 127_400, at + 229_800)])
                .collect(),
        },
        Case {
            name: "with a cache register another read uses the array during the last transfer, not during one that fails",
            config: changed(needs(1, InOrder), |c| (c.device.cache_register, c.scheduler.pipeline) = (true, true)),
            requests: vec![read(0, 5), read(0, 6)],
            responses: vec![
                (294_800, parts(147_400, 25_000, 102_400)),
                // It begins when the first has been read again, at 172.4 us, and waits until 274.8 us for the register.
                (172_400 + 224_800 + 25_000 + 102_400 + 20_000, and_waits(172_400, parts(224_800, 25_000, 102_400))),
            ],
            stages: vec![
                array(0, 0, 25_000),
                bus(0, 25_000, 127_400),
                array(0, 147_400, 172_400),
                bus(0, 172_400, 274_800),
                array(0, 172_400, 197_400),
                bus(0, 274_800, 377_200),
                array(0, 397_200, 422_200),
                bus(0, 422_200, 524_600),
            ],
        },
        Case {
            name: "a program is suspended for a read, and waits for its retries",
            config: changed(needs(1, InOrder), |c| {
                c.scheduler.order = Order::FrFcfs;
                c.scheduler.suspend = vec![SuspendedForReads::Program];
                (c.device.page_registers, c.device.suspend_ns) = (2, 10_000);
            }),
            requests: vec![write(0, 0), read(200_000, 5)],
            responses: vec![
                (587_200, vec![(Part::Transfer, 102_400), (Part::Array, 200_000), (Part::Suspended, 284_800)]),
                (10_000 + 294_800, and_waits(10_000, parts(147_400, 25_000, 102_400))),
            ],
            stages: vec![
                bus(0, 0, 102_400),
                array(0, 102_400, 210_000),
                array(0, 210_000, 235_000),
                bus(0, 235_000, 337_400),
                array(0, 357_400, 382_400),
                bus(0, 382_400, 484_800),
                array(0, 484_800, 587_200),
            ],
        },
    ]
}

#[test]
fn timelines() {
    play_all(&cases());
}

/// A table of two steps of which neither is good: all three steps are taken, and the data are lost.
#[test]
fn data_that_no_step_can_correct_are_lost() {
    for (retry, ns, lost) in [(RetryPolicy::None, 147_400, 0), (RetryPolicy::InOrder, 442_200, 294_800)] {
        let case = Case {
            name: "uncorrectable",
            config: changed(needs(4, retry), |c| c.errors.retry_table.truncate(2)),
            requests: vec![read(0, 5), read(MS, 15)],
            responses: vec![(ns, parts(lost, 25_000, 102_400)); 2],
            stages: (0..2)
                .flat_map(|read| (0..=lost / 147_400).map(move |step| read * MS + step * 147_400))
                .flat_map(|at| [array(0, at, at + 25_000), bus(0, at + 25_000, at + 127_400)])
                .collect(),
        };
        assert!(play(&case, false).iter().all(|completion| completion.times.status == Status::Lost));
        let mut simulation = submitted(&case.config, &case.requests);
        simulation.run_to_idle().unwrap();
        assert_eq!(simulation.ssd().counters().uncorrectable_reads, 2);
        let ages = simulation.finish().unwrap().ages.unwrap();
        assert_eq!((ages.reads, ages.uncorrectable), (2, 2));
    }
}

fn submitted(config: &Config, requests: &[Request]) -> Simulation {
    let mut simulation = simulation(config);
    requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
    simulation
}

/// The third read of block 0 begins at 2 ms and makes it due. Its four pages are moved: each is read (its decoding counts as array time),
/// transferred out and in and programmed. Then the block is erased.
#[test]
fn a_block_that_was_read_often_is_moved() {
    let config = changed(needs(0, RetryPolicy::InOrder), |c| c.errors.reclaim_reads = 3);
    let mut simulation = submitted(&config, &[read(0, 0), read(MS, 1), read(2 * MS, 2), read(8 * MS, 3)]);
    simulation.ssd_mut().keep_trace();
    let moved = 2_127_400 + 4 * 449_800;
    simulation.run_until(moved + 1_500_000).unwrap();
    let of_gc = simulation.ssd().trace().unwrap().intervals.iter().filter(|stage| !stage.host);
    let found: Vec<_> = of_gc.map(|stage| (stage.resource, stage.start, stage.end)).collect();
    let page = |at: u64| {
        let (read, out) = (at + 45_000, at + 147_400);
        vec![array(0, at, read), bus(0, read, out), bus(0, out, out + 102_400), array(0, out + 102_400, at + 449_800)]
    };
    let mut expected: Vec<_> = (0..4).flat_map(|moves| page(2_127_400 + moves * 449_800)).collect();
    expected.push(array(0, moved, moved + 1_500_000));
    assert_eq!(found, expected);
    let counters = simulation.ssd().counters();
    assert_eq!((counters.jobs_for(Cause::Reclaim), counters.jobs_for(Cause::Refresh), counters.jobs, counters.pages_moved), (1, 0, 1, 4));
    let result = simulation.finish().unwrap();
    // Page 3 lies in another block by then, which has been read once.
    assert_eq!((result.counters["reclaim_jobs"], result.ages.unwrap().reads_of_block.unwrap().max), (1, 1.0));
}

/// All four blocks with data are ten days old, which is too old. Each is moved and erased, one after the other, the die being idle.
#[test]
fn blocks_with_old_data_are_moved_one_after_the_other() {
    let config = changed(needs(0, RetryPolicy::InOrder), |c| {
        (c.ftl.precondition.retention_days, c.errors.refresh_days) = (10.0, 10.0);
        c.ftl.frontier = Frontier::Separate;
    });
    let mut simulation = submitted(&config, &[read(20 * MS, 3)]);
    let job = 4 * 449_800 + 1_500_000;
    for jobs in 0..4 {
        assert_eq!(simulation.ssd().counters().jobs, jobs);
        simulation.run_until((jobs + 1) * job - 1).unwrap();
        assert_eq!(simulation.ssd().counters().jobs, jobs);
        simulation.run_until((jobs + 1) * job).unwrap();
    }
    let result = simulation.finish().unwrap();
    assert_eq!((result.counters["refresh_jobs"], result.counters["reclaim_jobs"], result.gc.jobs), (4, 0, 4));
    let remark = result.remarks.iter().find(|remark| remark.code == "refresh-moves").expect("no page was moved for space");
    assert!(
        remark.sentence.starts_with("100 % of 16 page moves were for the age or the reads of data (errors.refresh_days = 10.0)"),
        "{remark:?}"
    );
    assert!(result.ages.unwrap().days.unwrap().max < 1e-6, "the data are new");
}

/// Blocks of 0 to 30 days: those of 20 days and more are moved, and no other.
#[test]
fn only_blocks_of_the_age_are_moved() {
    let config = changed(needs(0, RetryPolicy::InOrder), |c| {
        (c.device.blocks_per_plane, c.ftl.frontier) = (64, Frontier::Separate);
        (c.ftl.precondition.retention_days_max, c.errors.refresh_days) = (Some(30.0), 20.0);
    });
    let mut simulation = submitted(&config, &[read(400 * MS, 3)]);
    simulation.run_to_idle().unwrap();
    let result = simulation.finish().unwrap();
    let jobs = result.counters["refresh_jobs"];
    let days = result.ages.unwrap().days.unwrap();
    assert!((5..=18).contains(&jobs), "{jobs} of 32 blocks, a third of which is expected");
    assert!(days.max < 20.0 && days.max > 15.0, "{days:?}");
}

/// Blocks differ by their spread, and each read takes the steps that its own block needs.
#[test]
fn each_block_has_its_own_age() {
    let config = changed(needs(1, RetryPolicy::InOrder), |c| {
        (c.device.blocks_per_plane, c.errors.spread) = (64, 0.9);
        (c.ftl.precondition.pe_cycles, c.ftl.precondition.pe_cycles_max) = (100, Some(3_000));
        (c.ftl.precondition.retention_days, c.ftl.precondition.retention_days_max) = (1.0, Some(400.0));
        (c.errors.alpha, c.errors.beta) = (3.9e-10, 6.28e-5);
    });
    let requests: Vec<_> = (0..128).map(|page| read(page * MS, page)).collect();
    let mut simulation = submitted(&config, &requests);
    simulation.run_to_idle().unwrap();
    // Ages do not change the step within a second.
    let needed = |block| u64::from(simulation.ssd().retry_step(0, BlockId(block)).unwrap().0);
    let expected: u64 = (0..32).map(|block| 4 * needed(block).min(4)).sum();
    let kinds: std::collections::BTreeSet<_> = (0..32).map(needed).collect();
    assert!(kinds.len() >= 3, "{kinds:?}");
    assert_eq!(simulation.ssd().counters().retry_steps, expected);
    let ages = simulation.finish().unwrap().ages.unwrap();
    let cycles = ages.cycles.unwrap();
    assert!(cycles.min >= 100.0 && cycles.max <= 3_000.0 && (800.0..2_300.0).contains(&cycles.mean), "{cycles:?}");
    assert_eq!(ages.by_retries.iter().sum::<u64>(), 128);
}

/// A page move waits for the retries of its read, and the data move although they are lost.
#[test]
fn page_moves_are_repeated_too() {
    let config = changed(needs(2, RetryPolicy::InOrder), |c| {
        (c.ftl.frontier, c.gc.soft) = (Frontier::Shared, 3.0);
    });
    let five_writes: Vec<_> = [0, 1, 2, 4, 5].iter().zip(0..).map(|(&page, ms)| write(MS * ms, page)).collect();
    let mut simulation = submitted(&config, &five_writes);
    simulation.ssd_mut().keep_trace();
    simulation.run_until(9 * MS).unwrap();
    let first = simulation.ssd().trace().unwrap().intervals.iter().find(|stage| !stage.host).cloned().unwrap();
    // Two steps that fail, the last array read, and its decoding.
    assert_eq!((first.start, first.end), (4_302_400, 4_302_400 + 2 * 147_400 + 25_000 + 20_000));
    let counters = simulation.ssd().counters();
    assert_eq!((counters.pages_moved, counters.retried_reads, counters.retry_steps, counters.uncorrectable_moves), (1, 1, 2, 0));
    let lost = changed(config, |c| c.errors.retry_table.truncate(1));
    let mut simulation = submitted(&lost, &five_writes);
    simulation.run_until(9 * MS).unwrap();
    let counters = simulation.ssd().counters();
    assert_eq!((counters.pages_moved, counters.uncorrectable_moves, counters.uncorrectable_reads), (1, 1, 0));
}

/// With several moves in flight a page is read into the controller's buffer, step by step on die and bus, and keeps the die for the decoding.
#[test]
fn a_move_through_the_buffer_keeps_its_die_until_it_is_decoded() {
    let config = changed(needs(1, RetryPolicy::InOrder), |c| {
        (c.ftl.frontier, c.gc.soft, c.gc.moves_in_flight) = (Frontier::Shared, 3.0, 2);
    });
    let five_writes: Vec<_> = [0, 1, 2, 4, 5].iter().zip(0..).map(|(&page, ms)| write(MS * ms, page)).collect();
    let mut simulation = submitted(&config, &five_writes);
    simulation.ssd_mut().keep_trace();
    simulation.run_until(9 * MS).unwrap();
    let of_gc = simulation.ssd().trace().unwrap().intervals.iter().filter(|stage| !stage.host);
    let found: Vec<_> = of_gc.map(|stage| (stage.resource, stage.start, stage.end)).take(6).collect();
    let at = 4_302_400;
    let program = at + 294_800;
    assert_eq!(
        found,
        [
            array(0, at, at + 25_000),
            bus(0, at + 25_000, at + 127_400),
            array(0, at + 147_400, at + 172_400),
            bus(0, at + 172_400, at + 274_800),
            bus(0, program, program + 102_400),
            array(0, program + 102_400, program + 302_400),
        ]
    );
}
