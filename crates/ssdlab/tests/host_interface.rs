//! The host interface, worked by hand to the nanosecond: slots, the controller's cores and the link; and its closed forms. 25 us read,
//! 200 us program, 102.4 us a page on the bus; two chips of one die each on one channel, so that even pages are on chip 0 and odd ones on
//! chip 1. A page of 4,096 bytes takes 4,096 ns on a link of 1,000 bytes per us.

use crate::common::{mapping_units, one_die, plan, random_cache, random_config, random_requests, simulation};
use crate::timelines::{Case, array, bus, changed, filled, play_all, read, write};
use ssdlab::blocked::{Blocked, Parts};
use ssdlab::cause::Cause;
use ssdlab::config::{Arbitration, Config, Host, Order, PreconditionKind, Trigger};
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify, run};
use ssdlab::ssd::Counters;
use ssdlab::stats::InterfaceStats;
use ssdlab::stats::Part::{Array, BusQueue, Controller, DieQueue, HostQueue, Link, Pace, Transfer};

fn no_cost() -> Host {
    Host::default()
}

fn all() -> Host {
    Host { command_ns: 1_000, completion_ns: 500, ..link() }
}

fn link() -> Host {
    Host { link_bytes_per_us: 1_000, ..no_cost() }
}

fn drive(host: Host) -> Config {
    changed(filled(one_die()), |c| {
        c.device.chips_per_channel = 2;
        c.host = host;
    })
}

fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "a read alone: fetch, array, bus, link, completion",
            config: drive(all()),
            requests: vec![read(0, 0)],
            responses: vec![(132_996, vec![(Controller, 1_500), (Array, 25_000), (Transfer, 102_400), (Link, 4_096)])],
            stages: vec![array(0, 1_000, 26_000), bus(0, 26_000, 128_400)],
        },
        Case {
            name: "a write alone: fetch, link, bus, array, completion",
            config: drive(all()),
            requests: vec![write(0, 0)],
            responses: vec![(307_996, vec![(Controller, 1_500), (Link, 4_096), (Transfer, 102_400), (Array, 200_000)])],
            stages: vec![bus(0, 5_096, 107_496), array(0, 107_496, 307_496)],
        },
        // At 20 bytes in a microsecond a page takes 204,800 ns.
        Case {
            name: "the second of two writes waits for the rate of writes, and so does a read of its page",
            config: drive(Host { write_bytes_per_us: 20, ..no_cost() }),
            requests: vec![write(0, 0), write(0, 1), read(1_000, 1)],
            responses: vec![
                (302_400, vec![(Transfer, 102_400), (Array, 200_000)]),
                (507_200, vec![(Pace, 204_800), (Transfer, 102_400), (Array, 200_000)]),
                // From the data of the write, which has come.
                (203_800, vec![(Pace, 203_800)]),
            ],
            stages: vec![bus(0, 0, 102_400), array(0, 102_400, 302_400), bus(0, 204_800, 307_200), array(1, 307_200, 507_200)],
        },
        // 1,000 commands a second: one each 1,000,000 ns. The bucket holds one, and is full at first.
        Case {
            name: "reads wait for the quota of commands of their queue",
            config: drive(Host { quota_iops: vec![1_000], quota_burst_us: 1_000, ..no_cost() }),
            requests: vec![read(0, 0), read(0, 1), read(600_000, 0), read(3_400_000, 1)],
            responses: vec![
                (127_400, vec![(Array, 25_000), (Transfer, 102_400)]),
                (1_127_400, vec![(Pace, 1_000_000), (Array, 25_000), (Transfer, 102_400)]),
                // The one before it is let go at 1,000,000, and this one 1,000,000 ns after that.
                (1_527_400, vec![(Pace, 1_400_000), (Array, 25_000), (Transfer, 102_400)]),
                (127_400, vec![(Array, 25_000), (Transfer, 102_400)]),
            ],
            stages: vec![
                array(0, 0, 25_000),
                bus(0, 25_000, 127_400),
                array(1, 1_000_000, 1_025_000),
                bus(0, 1_025_000, 1_127_400),
                array(0, 2_000_000, 2_025_000),
                bus(0, 2_025_000, 2_127_400),
                array(1, 3_400_000, 3_425_000),
                bus(0, 3_425_000, 3_527_400),
            ],
        },
        // 4 MB a second are 4 bytes in 1,000 ns. The bucket holds 2,000 bytes: the first write finds it full, and leaves -2,096. It is full again
        // 4,096 bytes later, after 1,024,000 ns. A trim costs nothing, but waits for the writes before it, as the queue is served in order.
        Case {
            name: "writes wait for the quota of bytes",
            config: drive(Host { quota_mb_s: vec![4], quota_burst_us: 500, ..no_cost() }),
            requests: vec![write(0, 0), write(1_000, 1), Request { kind: RequestKind::Trim, ..read(2_000, 5) }],
            responses: vec![
                (302_400, vec![(Transfer, 102_400), (Array, 200_000)]),
                (1_325_400, vec![(Pace, 1_023_000), (Transfer, 102_400), (Array, 200_000)]),
                // 0 bytes are there once the bucket is no longer below 0: 2,096 bytes after the second write.
                (1_546_000, vec![(Pace, 1_546_000)]),
            ],
            stages: vec![bus(0, 0, 102_400), array(0, 102_400, 302_400), bus(0, 1_024_000, 1_126_400), array(1, 1_126_400, 1_326_400)],
        },
        Case {
            name: "two reads, one core: the second is fetched after the first",
            config: drive(all()),
            requests: vec![read(0, 0), read(0, 1)],
            responses: vec![
                (132_996, vec![(Controller, 1_500), (Array, 25_000), (Transfer, 102_400), (Link, 4_096)]),
                (235_396, vec![(Controller, 1_000 + 1_500), (Array, 25_000), (BusQueue, 101_400), (Transfer, 102_400), (Link, 4_096)]),
            ],
            stages: vec![array(0, 1_000, 26_000), bus(0, 26_000, 128_400), array(1, 2_000, 27_000), bus(0, 128_400, 230_800)],
        },
        Case {
            name: "two reads, two cores: both are fetched at once",
            config: drive(Host { cores: 2, ..all() }),
            requests: vec![read(0, 0), read(0, 1)],
            responses: vec![
                (132_996, vec![(Controller, 1_500), (Array, 25_000), (Transfer, 102_400), (Link, 4_096)]),
                (235_396, vec![(Controller, 1_500), (Array, 25_000), (BusQueue, 102_400), (Transfer, 102_400), (Link, 4_096)]),
            ],
            stages: vec![array(0, 1_000, 26_000), bus(0, 26_000, 128_400), array(1, 1_000, 26_000), bus(0, 128_400, 230_800)],
        },
        Case {
            // The data of the first have arrived at 132,496; the core fetches the second until 133,000. Then the first is completed, and
            // the third, which has waited since 132,100, is fetched from 133,500 on.
            name: "a command that can be completed goes before one that can be fetched",
            config: drive(all()),
            requests: vec![read(0, 0), read(132_000, 1), read(132_100, 0)],
            responses: vec![
                (133_500, vec![(Controller, 1_500 + 504), (Array, 25_000), (Transfer, 102_400), (Link, 4_096)]),
                (132_996, vec![(Controller, 1_500), (Array, 25_000), (Transfer, 102_400), (Link, 4_096)]),
                (235_296, vec![(Controller, 1_400 + 1_500), (Array, 25_000), (BusQueue, 100_900), (Transfer, 102_400), (Link, 4_096)]),
            ],
            stages: vec![
                array(0, 1_000, 26_000),
                bus(0, 26_000, 128_400),
                array(1, 133_000, 158_000),
                bus(0, 158_000, 260_400),
                array(0, 134_500, 159_500),
                bus(0, 260_400, 362_800),
            ],
        },
        Case {
            name: "data of two writes go over the link one after the other",
            config: drive(link()),
            requests: vec![write(0, 0), write(0, 1)],
            responses: vec![
                (306_496, vec![(Link, 4_096), (Transfer, 102_400), (Array, 200_000)]),
                (408_896, vec![(Link, 4_096 + 4_096), (BusQueue, 98_304), (Transfer, 102_400), (Array, 200_000)]),
            ],
            stages: vec![bus(0, 4_096, 106_496), array(0, 106_496, 306_496), bus(0, 106_496, 208_896), array(1, 208_896, 408_896)],
        },
        Case {
            // In from 127,000 to 131,096, out from 127,400 to 131,496.
            name: "data go in and out at the same time",
            config: drive(link()),
            requests: vec![read(0, 0), write(127_000, 1)],
            responses: vec![
                (131_496, vec![(Array, 25_000), (Transfer, 102_400), (Link, 4_096)]),
                (306_496, vec![(Link, 4_096), (Transfer, 102_400), (Array, 200_000)]),
            ],
            stages: vec![array(0, 0, 25_000), bus(0, 25_000, 127_400), bus(0, 131_096, 233_496), array(1, 233_496, 433_496)],
        },
        Case {
            // The drive then answers it at once from its buffer, as it holds the data.
            name: "a read of a page whose data are on the link waits for them, and one of another page does not",
            config: drive(link()),
            requests: vec![write(0, 0), read(1_000, 0), read(1_000, 1)],
            responses: vec![
                (306_496, vec![(Link, 4_096), (Transfer, 102_400), (Array, 200_000)]),
                (7_192, vec![(Link, 3_096 + 4_096)]),
                (211_992, vec![(Array, 25_000), (BusQueue, 80_496), (Transfer, 102_400), (Link, 4_096)]),
            ],
            stages: vec![bus(0, 4_096, 106_496), array(0, 106_496, 306_496), array(1, 1_000, 26_000), bus(0, 106_496, 208_896)],
        },
        Case {
            // The core fetches the second until 129,000.
            name: "a command whose completion takes no time needs no core for it",
            config: drive(Host { command_ns: 1_000, ..no_cost() }),
            requests: vec![read(0, 0), read(128_000, 1)],
            responses: vec![
                (128_400, vec![(Controller, 1_000), (Array, 25_000), (Transfer, 102_400)]),
                (128_400, vec![(Controller, 1_000), (Array, 25_000), (Transfer, 102_400)]),
            ],
            stages: vec![array(0, 1_000, 26_000), bus(0, 26_000, 128_400), array(1, 129_000, 154_000), bus(0, 154_000, 256_400)],
        },
        Case {
            name: "and gives none back: there is still one for the two that come later",
            config: drive(Host { command_ns: 1_000, ..no_cost() }),
            requests: vec![read(0, 0), read(300_000, 0), read(300_000, 1)],
            responses: vec![
                (128_400, vec![(Controller, 1_000), (Array, 25_000), (Transfer, 102_400)]),
                (128_400, vec![(Controller, 1_000), (Array, 25_000), (Transfer, 102_400)]),
                (230_800, vec![(Controller, 1_000 + 1_000), (Array, 25_000), (BusQueue, 101_400), (Transfer, 102_400)]),
            ],
            stages: vec![
                array(0, 1_000, 26_000),
                bus(0, 26_000, 128_400),
                array(0, 301_000, 326_000),
                bus(0, 326_000, 428_400),
                array(1, 302_000, 327_000),
                bus(0, 428_400, 530_800),
            ],
        },
        Case {
            // The core completes the first until 128,400.
            name: "a command whose fetch takes no time needs no core for it",
            config: drive(Host { completion_ns: 1_000, ..no_cost() }),
            requests: vec![read(0, 0), read(128_000, 1)],
            responses: vec![
                (128_400, vec![(Controller, 1_000), (Array, 25_000), (Transfer, 102_400)]),
                (128_400, vec![(Controller, 1_000), (Array, 25_000), (Transfer, 102_400)]),
            ],
            stages: vec![array(0, 0, 25_000), bus(0, 25_000, 127_400), array(1, 128_000, 153_000), bus(0, 153_000, 255_400)],
        },
        Case {
            name: "a core serves one command after the other, if only for a nanosecond",
            config: drive(Host { command_ns: 1, ..no_cost() }),
            requests: vec![read(0, 0), read(0, 1)],
            responses: vec![
                (127_401, vec![(Controller, 1), (Array, 25_000), (Transfer, 102_400)]),
                (229_801, vec![(Controller, 2), (Array, 25_000), (BusQueue, 102_399), (Transfer, 102_400)]),
            ],
            stages: vec![array(0, 1, 25_001), bus(0, 25_001, 127_401), array(1, 2, 25_002), bus(0, 127_401, 229_801)],
        },
        Case {
            // Nothing keeps the second read on its way: it goes before the write, which has waited for the die.
            name: "a command reaches the drive before the drive decides what begins at that instant",
            config: changed(drive(link()), |c| c.scheduler.order = Order::FrFcfs),
            requests: vec![read(0, 0), write(10_000, 2), read(127_400, 4)],
            responses: vec![
                (131_496, vec![(Array, 25_000), (Transfer, 102_400), (Link, 4_096)]),
                (547_200, vec![(Link, 4_096), (DieQueue, 240_704), (Transfer, 102_400), (Array, 200_000)]),
                (131_496, vec![(Array, 25_000), (Transfer, 102_400), (Link, 4_096)]),
            ],
            stages: vec![
                array(0, 0, 25_000),
                bus(0, 25_000, 127_400),
                array(0, 127_400, 152_400),
                bus(0, 152_400, 254_800),
                bus(0, 254_800, 357_200),
                array(0, 357_200, 557_200),
            ],
        },
        Case {
            name: "with one slot a command waits outside until the one before is complete",
            config: drive(Host { slots: 1, ..no_cost() }),
            requests: vec![read(0, 0), read(0, 1)],
            responses: vec![
                (127_400, vec![(Array, 25_000), (Transfer, 102_400)]),
                (254_800, vec![(HostQueue, 127_400), (Array, 25_000), (Transfer, 102_400)]),
            ],
            stages: vec![array(0, 0, 25_000), bus(0, 25_000, 127_400), array(1, 127_400, 152_400), bus(0, 152_400, 254_800)],
        },
    ]
}

/// What the drive answers in no time. Its pages hold no data.
fn cases_answered_at_once() -> Vec<Case> {
    let erased = |host: Host| Config { host, ..changed(one_die(), |c| c.device.chips_per_channel = 2) };
    let at_once = |kind, page| Request { kind, ..read(0, page) };
    let flush = Request { offset: 0, length: 0, ..at_once(RequestKind::Flush, 0) };
    let of_core = |waits: u64| (waits + 1_500, vec![(Controller, waits + 1_500)]);
    let costs = Host { command_ns: 1_000, completion_ns: 500, ..no_cost() };
    let case = |name, host, requests: &[Request], responses: &[(u64, Vec<_>)]| Case {
        name,
        config: erased(host),
        requests: requests.to_vec(),
        responses: responses.to_vec(),
        stages: vec![],
    };
    let mut from_queue = [read(0, 0), read(0, 1), read(0, 2)];
    from_queue[2].flow = 1;
    let in_turns = Host { command_ns: 1_000, queues: 2, queue_depth: 1, arbitration: Arbitration::Wrr, weights: vec![2, 1], ..no_cost() };
    let mut two_queues = case(
        // The first is complete at 1 us, so that its queue may give another, and gives two in its turn.
        "a completion that takes no time comes before the next turn",
        in_turns,
        &from_queue,
        &[
            (1_000, vec![(Controller, 1_000)]),
            (2_000, vec![(HostQueue, 1_000), (Controller, 1_000)]),
            (3_000, vec![(HostQueue, 2_000), (Controller, 1_000)]),
        ],
    );
    two_queues.config.workload.flows = vec![[("name".to_string(), "second".into())].into_iter().collect()];
    vec![
        case(
            "reads of pages without data",
            costs.clone(),
            &[read(0, 0), read(0, 1), read(0, 2)],
            &[of_core(0), of_core(1_500), of_core(3_000)],
        ),
        case(
            "trims and flushes",
            costs.clone(),
            &[at_once(RequestKind::Trim, 0), flush, at_once(RequestKind::Trim, 1)],
            &[of_core(0), of_core(1_500), of_core(3_000)],
        ),
        case(
            // Both cores complete the first two before either fetches again.
            "two cores",
            Host { cores: 2, ..costs },
            &[read(0, 0), read(0, 1), read(0, 2), read(0, 3)],
            &[of_core(0), of_core(0), of_core(1_500), of_core(1_500)],
        ),
        two_queues,
    ]
}

#[test]
fn timelines() {
    play_all(&cases());
    play_all(&cases_answered_at_once());
}

fn counted(host: Host, requests: &[Request]) -> InterfaceStats {
    let mut simulation = simulation(&drive(host));
    requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
    simulation.run_to_idle().unwrap();
    simulation.storage().stats(simulation.now()).interface.expect("it takes time, or has limits")
}

#[test]
fn what_waited_is_counted_and_times_are_added_up() {
    let two_reads = [read(0, 0), read(0, 1)];
    let one = InterfaceStats { drives: 1, cores: 1, commands: 2, ..InterfaceStats::default() };
    let expected = InterfaceStats { core_waits: 1, core_busy_ns: 3_000, link_out_busy_ns: 8_192, ..one };
    assert_eq!(counted(all(), &two_reads), expected);
    assert_eq!(counted(Host { cores: 2, ..all() }, &two_reads), InterfaceStats { cores: 2, core_waits: 0, ..expected });
    assert_eq!(counted(Host { slots: 1, ..no_cost() }, &two_reads), InterfaceStats { slot_waits: 1, ..one });
    let writes = [write(0, 0), write(0, 1), read(1_000, 0)];
    let expected = InterfaceStats { commands: 3, link_waits: 1, held_commands: 1, link_in_busy_ns: 8_192, link_out_busy_ns: 4_096, ..one };
    assert_eq!(counted(link(), &writes), expected);
}

/// On a link of 1 byte per us the write's data take 4,096 us. The flush waits for them, the last two reads for neither: one touches the
/// bytes of a read that waits, the other those of nothing.
#[test]
fn only_commands_whose_order_matters_wait() {
    let flush = Request { arrival_ns: 1_000, kind: RequestKind::Flush, offset: 0, length: 0, high_priority: false, flow: 0, handle: None };
    let two_pages = Request { length: 8_192, ..read(1_000, 0) };
    let host = Host { link_bytes_per_us: 1, ..no_cost() };
    let stats = counted(host.clone(), &[write(0, 0), flush, two_pages, read(2_000, 1), read(3_000, 2)]);
    assert_eq!((stats.commands, stats.held_commands), (5, 2), "the flush and the read of two pages");
    // A read of trimmed bytes comes after the trim, which comes after the write.
    let trim = Request { kind: RequestKind::Trim, length: 8_192, ..read(1_000, 0) };
    assert_eq!(counted(host, &[write(0, 0), trim, read(2_000, 1)]).held_commands, 2);
}

/// Writes that come evenly, and slower than the rate, wait for nothing; a burst of four waits three times, and what comes before reads is theirs.
#[test]
fn only_writes_that_come_together_wait_for_the_rate() {
    let host = Host { write_bytes_per_us: 20, ..no_cost() };
    let evenly: Vec<_> = (0..4).map(|at| write(at * 204_800, at)).collect();
    assert_eq!(counted(host.clone(), &evenly).rate_waits, 0);
    let mut burst: Vec<_> = (0..4).map(|page| write(0, page)).collect();
    burst.extend([read(1_000, 5), read(2_000, 6)]);
    let stats = counted(host, &burst);
    assert_eq!((stats.rate_waits, stats.held_commands), (3, 0));
}

/// The queue of the first flow has a quota, and that of the second none: its commands pass those that wait.
#[test]
fn a_quota_holds_the_commands_of_its_queue_only() {
    let host = Host { queues: 2, quota_iops: vec![1_000, 0], ..no_cost() };
    let config = changed(drive(host), |c| c.workload.flows = vec![[("name".to_string(), "b".into())].into_iter().collect()]);
    let of = |flow, request: Request| Request { flow, ..request };
    let requests = [
        of(0, read(0, 0)),
        of(0, read(0, 2)),
        of(0, write(0, 1)),
        of(1, read(300_000, 3)),
        of(1, read(500_000, 1)),
        of(1, read(800_000, 0)),
    ];
    let mut simulation = simulation(&config);
    requests.into_iter().for_each(|request| _ = simulation.submit(request).unwrap());
    simulation.run_to_idle().unwrap();
    let mut completions = simulation.take_completions();
    completions.sort_by_key(|completion| completion.index);
    let ended: Vec<u64> = completions.iter().map(|completion| completion.completed_ns).collect();
    // Page 3 passes. Page 1 is that of the older write, which is fetched at 2,000,000: until then the second queue waits. The read of page 1 is
    // answered by the write, and that of page 0 reads until 2,025,000 and waits for the bus until the data of the write are over.
    assert_eq!(ended, [127_400, 1_127_400, 2_302_400, 427_400, 2_000_000, 2_204_800]);
    let stats = simulation.storage().stats(simulation.now()).interface.unwrap();
    assert_eq!((stats.quota_waits, stats.order_waits, stats.passing_commands), (2, 1, 1));
    assert_eq!(completions[2].parts().0[Pace as usize], 2_000_000);
}

/// A closed loop gets what its quota allows, whatever the bucket holds; a bucket of 5 ms lets five commands of 1,000 a second through at once.
#[test]
fn a_closed_loop_gets_its_quota() {
    for quota_burst_us in [0, 1_000, 3_000] {
        let result = closed_loop(Host { quota_iops: vec![10_000], quota_burst_us, ..no_cost() }, 8);
        assert!(close(result.iops.unwrap(), 10_000.0), "{:?}", result.iops);
        let result = closed_loop(Host { quota_mb_s: vec![100], quota_burst_us, ..no_cost() }, 8);
        assert!(close(result.bandwidth_mb_s.unwrap().read, 100.0), "{quota_burst_us}");
    }
    let reads: Vec<_> = (0..8).map(|page| read(0, page)).collect();
    assert_eq!(counted(Host { quota_iops: vec![1_000], quota_burst_us: 5_000, ..no_cost() }, &reads).quota_waits, 3);
}

#[test]
fn sequential_requests_are_those_of_the_host() {
    let alternating = (0..8).map(|i| if i % 2 == 0 { read(i * 1_000, i) } else { write(i * 1_000, i) });
    let mut simulation = simulation(&drive(link()));
    alternating.for_each(|request| _ = simulation.submit(request).unwrap());
    simulation.run_to_idle().unwrap();
    let mut completions = simulation.take_completions();
    completions.sort_by_key(|completion| completion.index);
    let sequential: Vec<bool> = completions.iter().map(|completion| completion.sequential).collect();
    assert_eq!(sequential, [false, true, true, true, true, true, true, true]);
}

#[test]
fn trims_and_flushes_neither_are_sequential_nor_come_between() {
    let beside = |kind, page| Request { kind, ..read(0, page) };
    let flush = Request { offset: 0, length: 0, ..beside(RequestKind::Flush, 0) };
    let requests = [read(0, 0), beside(RequestKind::Trim, 1), read(0, 1), flush, read(0, 2)];
    let mut simulation = simulation(&drive(link()));
    requests.into_iter().for_each(|request| _ = simulation.submit(request).unwrap());
    simulation.run_to_idle().unwrap();
    let mut completions = simulation.take_completions();
    completions.sort_by_key(|completion| completion.index);
    let sequential: Vec<bool> = completions.iter().map(|completion| completion.sequential).collect();
    assert_eq!(sequential, [false, false, true, false, true]);
}

/// When a request was complete, where its time went, and why it waited longest.
type Response = (u64, Parts, Option<Blocked>);

/// What a drive or an array does with requests: by request, when it was complete and where its time went, and what was counted.
fn played(config: &Config, requests: &[Request]) -> (Vec<Response>, Vec<Counters>) {
    let plan = Plan { verify: Verify::End, ..Plan::new(config.clone(), 7) };
    let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
    simulation.take_completions();
    requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
    simulation.run_to_idle().unwrap();
    let mut completions = simulation.take_completions();
    completions.sort_by_key(|completion| completion.index);
    let counters = simulation.storage().drives().into_iter().map(|drive| drive.counters()).collect();
    simulation.finish().unwrap();
    (completions.iter().map(|completion| (completion.completed_ns, completion.parts(), completion.blocked_by())).collect(), counters)
}

/// Drives and arrays of all kinds, also with caches, behind a host interface that costs nothing and has room for all commands.
#[test]
fn limits_that_are_never_reached_change_nothing() {
    for case in 0..200 {
        let (mut config, requests) = if case % 3 == 0 {
            crate::arrays::drawn_with_cache(case)
        } else {
            let mut rng = Rng::new(case, "limits");
            let mut config = random_config(&mut rng);
            mapping_units(&rng, &mut config);
            if case % 3 == 1 {
                random_cache(&mut rng, &mut config);
            }
            let requests = random_requests(&mut rng, &config, 100);
            (config, requests)
        };
        config.host = no_cost();
        let without = played(&config, &requests);
        config.host.slots = 1_000_000;
        assert!(without == played(&config, &requests), "case {case}: {config:#?}");
    }
}

/// Idle time begins with the run: the jobs end before the first request comes.
#[test]
fn a_drive_behind_it_collects_before_the_first_request() {
    let mut config = drive(link());
    config.ftl.precondition.kind = PreconditionKind::Soft;
    config.gc.soft = 2.0;
    (config.gc.trigger, config.gc.idle_us, config.gc.idle_free) = (Trigger::Idle, 100, 2.0);
    let jobs = |host: Host| played(&Config { host, ..config.clone() }, &[read(200_000_000, 0)]).1[0].jobs_for(Cause::Idle);
    assert!(jobs(link()) > 0 && jobs(link()) == jobs(no_cost()));
}

#[test]
fn without_cost_and_limit_there_is_no_host_interface() {
    let simulation = Simulation::new(&plan(drive(no_cost())), &Control::default()).unwrap();
    assert_eq!(simulation.storage().stats(simulation.now()).interface, None);
}

#[test]
fn times_count_up_to_now_while_they_go_on() {
    let mut simulation = simulation(&drive(all()));
    simulation.submit(write(0, 0)).unwrap();
    simulation.run_until(400).unwrap();
    assert_eq!(simulation.storage().stats(400).interface.unwrap().core_busy_ns, 400);
    simulation.run_until(3_000).unwrap();
    let stats = simulation.storage().stats(3_000).interface.unwrap();
    assert_eq!((stats.core_busy_ns, stats.link_in_busy_ns), (1_000, 2_000));
    simulation.finish().unwrap();
}

/// A drive without data, which answers reads at once: only its host interface takes time.
fn closed_loop(host: Host, depth: u32) -> ssdlab::stats::RunResult {
    let mut config = one_die();
    config.host = host;
    config.workload.read_share = 1.0;
    config.workload.queue_depth = depth;
    let mut plan = plan(config);
    plan.requests = Some(20_000);
    run(&plan, &Control::default()).unwrap()
}

fn close(value: f64, expected: f64) -> bool {
    (value / expected - 1.0).abs() < 0.005
}

#[test]
fn requests_a_second_are_bounded_by_cores_over_the_cost_of_a_command() {
    for cores in [1, 2, 4] {
        let result = closed_loop(Host { command_ns: 3_000, completion_ns: 1_000, cores, ..no_cost() }, 64);
        let most = f64::from(cores) / 4e-6;
        assert!(close(result.iops.unwrap(), most), "{cores} cores: {:?}, at most {most}", result.iops);
        let busy = result.interface.as_ref().unwrap().cores;
        assert!(busy > 0.995 && busy <= 1.0, "{busy}");
    }
}

#[test]
fn bytes_a_second_are_bounded_by_the_link() {
    let result = closed_loop(Host { link_bytes_per_us: 3_200, ..no_cost() }, 32);
    let bandwidth = result.bandwidth_mb_s.unwrap().read;
    assert!(close(bandwidth, 3_200.0), "{bandwidth} MB/s");
}

/// As many requests are outstanding as arrive a second times their mean response time.
#[test]
fn littles_law() {
    for (host, depth) in [(all(), 1), (all(), 7), (Host { cores: 3, slots: 5, ..all() }, 40), (Host { slots: 2, ..link() }, 16)] {
        let result = closed_loop(host.clone(), depth);
        let outstanding = result.iops.unwrap() * result.latency_ns.read.unwrap().mean / 1e9;
        assert!(close(outstanding, f64::from(depth)), "{host:?}: {outstanding}, not {depth}");
    }
}
