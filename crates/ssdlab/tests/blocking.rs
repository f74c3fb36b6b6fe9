//! Block-level blocking and dual queues (ae2022), and the trigger `invalid-share`, worked by hand to the nanosecond: 25 us read, 200 us
//! program, 1.5 ms erase, 102.4 us a page on the bus, moves by copyback (225 us).
//!
//! One die of eight blocks of four pages, sixteen of them exported. After the fill blocks 0 to 3 hold pages 0 to 15 in order, and 4 to 7 are
//! free. The first write opens block 4, the fifth block 5: that is when collection is looked at, since a frontier took a block.

use crate::common::pages::*;
use crate::common::{one_die, simulation};
use ssdlab::config::{Allocation, Config, Frontier, Layers, PreconditionKind, Priority, Scope, Trigger};
use ssdlab::flash::OpKind;
use ssdlab::ftl::Ftl;
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::Simulation;
use ssdlab::stats::Part;
use ssdlab::units::{BlockId, Lpn};

fn config(scope: Scope, priority: Priority) -> Config {
    let mut config = one_die();
    config.device.copyback = true;
    config.ftl.frontier = Frontier::Shared;
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config.gc.trigger = Trigger::InvalidShare;
    config.gc.invalid_share = 0.4;
    config.gc.scope = scope;
    config.gc.priority = priority;
    config
}

/// Writes after the last of which, at 4 ms, block 0 has lost two of its four pages, more than 40 %, and no other block more than one. The
/// job moves pages 2 and 3 into block 5, behind page 12.
fn two_moves() -> impl Iterator<Item = Request> {
    [0, 1, 4, 8, 12].into_iter().enumerate().map(|(i, page)| write(1_000_000 * i as u64, page))
}

fn played(config: &Config, requests: impl IntoIterator<Item = Request>) -> Simulation {
    let mut simulation = simulation(config);
    simulation.ssd_mut().keep_trace();
    for request in requests {
        simulation.submit(request).unwrap();
    }
    simulation.run_to_idle().unwrap();
    simulation
}

/// The response time of a request and its parts, those of length 0 left out.
fn response(simulation: &mut Simulation, index: u64) -> (u64, Vec<(Part, u64)>) {
    let done = simulation.take_completions();
    let found = done.iter().find(|completion| completion.index == index).expect("it completed");
    let parts = [Part::HostQueue, Part::DieQueue, Part::Gc, Part::BusQueue, Part::Transfer, Part::Array];
    let parts = parts.into_iter().map(|part| (part, found.parts().0[part as usize])).filter(|(_, ns)| *ns > 0).collect();
    (found.completed_ns - found.arrival_ns, parts)
}

/// Start and end of every operation of collection.
fn collection(simulation: &Simulation) -> Vec<(u64, u64)> {
    simulation.ssd().trace().unwrap().intervals.iter().filter(|interval| !interval.host).map(|i| (i.start, i.end)).collect()
}

/// Where a page lies: block and offset.
fn place(simulation: &Simulation, page: u32) -> (u32, u32) {
    let ftl = simulation.ssd().ftl();
    let (block, offset) = ftl.geometry().split_page(ftl.lookup(Lpn(page)).expect("it holds data"));
    (block.0, offset)
}

const SERVED: [(Part, u64); 2] = [(Part::Transfer, 102_400), (Part::Array, 25_000)];

#[test]
fn a_read_of_the_victim_waits_to_the_end_of_the_erase() {
    for priority in [Priority::Fifo, Priority::Gc] {
        // It arrives while page 2 is moved (4,302,400 to 4,527,400). Page 3 is moved next, then the block is erased, until 6,252,400.
        let mut simulation = played(&config(Scope::Block, priority), two_moves().chain([read(4_400_000, 3)]));
        let gc = 6_252_400 - 4_400_000;
        assert_eq!(response(&mut simulation, 5), (gc + READ, [vec![(Part::Gc, gc)], SERVED.to_vec()].concat()), "{priority:?}");
        simulation.finish().unwrap();
    }
}

#[test]
fn a_read_of_the_block_that_the_job_fills_waits_as_well() {
    let mut simulation = played(&config(Scope::Block, Priority::Fifo), two_moves().chain([read(4_400_000, 12)]));
    let gc = 6_252_400 - 4_400_000;
    assert_eq!(response(&mut simulation, 5), (gc + READ, [vec![(Part::Gc, gc)], SERVED.to_vec()].concat()));
    simulation.finish().unwrap();
}

#[test]
fn priority_for_the_host_serves_reads_of_the_victim_between_moves() {
    let mut simulation = played(&config(Scope::Block, Priority::Host), two_moves().chain([read(4_400_000, 3)]));
    // After the move of page 2, before that of page 3.
    assert_eq!(response(&mut simulation, 5), (127_400 + READ, [vec![(Part::Gc, 127_400)], SERVED.to_vec()].concat()));
    simulation.run_until(10_000_000).unwrap();
    let second = 4_527_400 + READ;
    assert_eq!(collection(&simulation), [(4_302_400, 4_527_400), (second, second + MOVE), (second + MOVE, second + MOVE + ERASE)]);
    simulation.finish().unwrap();
}

/// Page 5 is read from 4,527,400 on, between two moves. A read of page 3, in the victim, that came meanwhile would wait for the second move and the
/// erase; one of page 5, in another block, for no GC.
#[test]
fn a_read_of_the_victim_would_wait_for_gc_beside_one_of_the_host() {
    let mut simulation = simulation(&config(Scope::Block, Priority::Fifo));
    two_moves().chain([read(4_410_000, 5)]).for_each(|request| _ = simulation.submit(request).unwrap());
    simulation.run_until(4_600_000).unwrap();
    assert_eq!([3, 5].map(|page| simulation.ssd().gc_ahead(Lpn(page))), [Some(MOVE + ERASE), None]);
}

#[test]
fn a_read_of_another_block_goes_between_and_what_it_takes_is_the_hosts_time() {
    let requests = two_moves().chain([read(4_400_000, 3), read(4_410_000, 5)]);
    let mut simulation = played(&config(Scope::Block, Priority::Fifo), requests);
    // Page 5 is in block 1. Its read is older than the second move, which became ready at 4,527,400, and goes first.
    let done = simulation.take_completions();
    let parts = |index| done.iter().find(|completion| completion.index == index).unwrap();
    assert_eq!(parts(6).completed_ns, 4_527_400 + READ);
    // The read that is excluded waits while collection (352,400 to the end of the erase, but for 127,400) or the other read holds the die.
    let excluded = parts(5);
    assert_eq!(excluded.completed_ns, 6_252_400 + READ + READ);
    assert_eq!(excluded.parts().0[Part::DieQueue as usize], READ);
    assert_eq!(excluded.parts().0[Part::Gc as usize], 6_252_400 - 4_400_000);
    simulation.finish().unwrap();
}

#[test]
fn a_job_waits_for_the_read_of_its_victim_that_is_under_way() {
    // GC-pending (ae2022 section 4.2). Two chips take writes in turn, the first even pages, which fill its blocks 0 to 11. The last of them
    // takes the twelfth of sixteen: four are free, fewer than five, but every page is valid.
    let mut config = config(Scope::Block, Priority::Fifo);
    config.device.chips_per_channel = 2;
    (config.device.blocks_per_plane, config.device.overprovisioning) = (16, 0.29);
    config.ftl.allocation = Allocation::Dynamic;
    config.ftl.precondition.kind = PreconditionKind::None;
    config.gc.trigger = Trigger::Soft;
    config.gc.soft = 5.0;
    let writes = (0..90).map(|page| write(500_000 * page, page));
    // The trim makes block 0, of pages 0, 2, 4 and 6, a victim while its page 0 is read, until 50,127,400.
    let trim = request(RequestKind::Trim, 50_050_000, 2);
    let rest = [read(50_000_000, 0), trim, read(50_060_000, 4), read(50_060_000, 8)];
    let mut simulation = simulation(&config);
    simulation.ssd_mut().keep_trace();
    for request in writes.chain(rest) {
        simulation.submit(request).unwrap();
    }
    simulation.run_to_idle().unwrap();
    let done = simulation.take_completions();
    let end = |index| done.iter().find(|completion| completion.index == index).unwrap().completed_ns;
    let begin = 50_000_000 + READ;
    assert_eq!(end(90), begin);
    // Page 8 is elsewhere: its read goes after the first move. Page 4, in the victim, waits for the erase.
    let second = begin + MOVE + READ;
    assert_eq!(end(93), second);
    let erase = second + 2 * MOVE;
    let moves = [(begin, begin + MOVE), (second, second + MOVE), (second + MOVE, erase), (erase, erase + ERASE)];
    assert_eq!(collection(&simulation), moves);
    assert_eq!(end(92), erase + ERASE + READ);
    simulation.finish().unwrap();
}

#[test]
fn a_write_is_given_a_page_of_another_block_while_the_job_is_active() {
    // Three of the four pages of block 0 are lost: page 3 is moved (4,302,400 to 4,527,400), behind page 5 in block 5.
    let first = [0, 1, 2, 4, 5].into_iter().enumerate().map(|(i, page)| write(1_000_000 * i as u64, page));
    // The write at 4.1 ms comes after the move, whose turn it was since 4 ms, and before the erase. Then nothing is active: the shared
    // frontier goes on and becomes full. The write of page 12 takes another block, when block 2 has lost pages 9 to 11, and so on.
    let rest = [write(4_100_000, 9), write(7_000_000, 10), write(8_000_000, 11), write(9_000_000, 12), write(9_100_000, 13)];
    let play = |scope, frontier| {
        let mut config = config(scope, Priority::Fifo);
        config.gc.invalid_share = 0.7;
        config.ftl.frontier = frontier;
        let mut simulation = played(&config, first.clone().chain(rest));
        simulation.run_until(20_000_000).unwrap();
        simulation
    };
    let mut simulation = play(Scope::Block, Frontier::Shared);
    let places = [5, 3, 9, 10, 11, 12, 8, 13].map(|page| place(&simulation, page));
    // Block 6 was opened for the redirected write, and stayed open for the next one.
    assert_eq!(places, [(5, 0), (5, 1), (6, 0), (5, 2), (5, 3), (7, 0), (7, 1), (6, 1)]);
    assert_eq!((simulation.ssd().counters().redirected_writes, simulation.ssd().counters().jobs), (2, 2));
    // It waited for the write before it, and for the move.
    assert_eq!(
        response(&mut simulation, 5),
        (202_400 + MOVE + WRITE, vec![(Part::DieQueue, 202_400), (Part::Gc, MOVE), (Part::Transfer, 102_400), (Part::Array, 200_000)])
    );
    simulation.finish().unwrap();

    let simulation = play(Scope::None, Frontier::Shared);
    assert_eq!((place(&simulation, 3), place(&simulation, 9)), ((5, 1), (5, 2)));
    assert_eq!(simulation.ssd().counters().redirected_writes, 0);
    let simulation = play(Scope::Block, Frontier::Separate);
    assert_eq!((place(&simulation, 3), place(&simulation, 9)), ((6, 0), (5, 1)));
    assert_eq!(simulation.ssd().counters().redirected_writes, 0);
}

#[test]
fn a_drive_with_a_block_open_for_redirected_writes_is_saved_and_loaded() {
    let config = config(Scope::Block, Priority::Fifo);
    let mut simulation = played(&config, two_moves().chain([write(4_100_000, 9)]));
    assert_eq!(place(&simulation, 9), (6, 0));
    simulation.run_until(20_000_000).unwrap();
    let mut bytes = Vec::new();
    simulation.ssd().ftl().save(&config, &mut bytes).unwrap();
    let loaded = Ftl::load(&config, bytes.as_slice()).unwrap();
    loaded.check().unwrap();
    assert_eq!(loaded.blocks().state(BlockId(6)), ssdlab::ftl::BlockState::Open);
    let mut elsewhere = config.clone();
    elsewhere.gc.scope = Scope::Chip;
    assert!(Ftl::load(&elsewhere, bytes.as_slice()).unwrap_err().contains("gc.scope = \"block\""));
}

#[test]
fn priority_for_the_host_is_priority_over_the_queue_of_collection() {
    // Two planes; the job is in the first one, the reads are of the second, which is not excluded (dqgc), or of another block (bbgc-dqgc).
    for (scope, planes) in [(Scope::Plane, 2), (Scope::Block, 1)] {
        for (priority, second_read) in [(Priority::Host, 4_527_400 + 2 * READ), (Priority::Fifo, 4_527_400 + 2 * READ + MOVE)] {
            let mut config = config(scope, priority);
            config.device.planes_per_die = planes;
            let planes = u64::from(planes);
            let elsewhere = |rank: u64| if planes == 2 { 2 * rank + 1 } else { rank };
            let writes = two_moves().map(|request| Request { offset: request.offset * planes, ..request });
            // The first read comes during the first move, the second during the first read, when the second move has become ready.
            let requests = writes.chain([read(4_310_000, elsewhere(5)), read(4_540_000, elsewhere(6))]);
            let mut simulation = played(&config, requests);
            let done = simulation.take_completions();
            let end = |index| done.iter().find(|completion| completion.index == index).unwrap().completed_ns;
            assert_eq!((end(5), end(6)), (4_527_400 + READ, second_read), "{scope:?} {priority:?}");
            simulation.run_until(10_000_000).unwrap();
            assert_eq!(collection(&simulation).last().unwrap().1, 4_302_400 + 2 * MOVE + 2 * READ + ERASE);
            simulation.finish().unwrap();
        }
    }
}

#[test]
fn between_two_jobs_reads_of_the_block_that_both_fill_go_first() {
    // Block 0 loses pages 0 and 1, block 1 pages 4 and 5: two jobs in a row. The fifth write comes to block 5, which both fill.
    let writes = [0, 1, 4, 5, 8].into_iter().enumerate().map(|(i, page)| write(1_000_000 * i as u64, page));
    let mut simulation = played(&config(Scope::Block, Priority::Gc), writes.chain([read(4_400_000, 8)]));
    let first_job = 4_302_400 + 2 * MOVE + ERASE;
    assert_eq!(response(&mut simulation, 5).0, first_job + READ - 4_400_000);
    simulation.run_until(20_000_000).unwrap();
    assert_eq!(simulation.ssd().counters().jobs, 2);
    assert_eq!(simulation.ssd().counters().host_first_between_jobs, 1);
    // Pages 2 and 3 filled the block behind page 8, and page 6 went behind them: then the second job needs another block.
    assert_eq!(collection(&simulation)[3].0, first_job + READ);
    assert_eq!([8, 2, 3, 6, 7].map(|page| place(&simulation, page)), [(5, 0), (5, 1), (5, 2), (5, 3), (6, 0)]);
    simulation.finish().unwrap();
}

/// ae2022 section 3: a block of 128 pages of which 30 % are valid costs about 9.8 ms of copies and 0.7 ms of erase. Collection starts when more
/// than 70 % of them, 89.6, are invalid.
#[test]
fn the_ae2022_drive_collects_a_block_of_38_valid_pages_and_none_of_39() {
    for (valid, jobs) in [(38, 1), (39, 0)] {
        let mut config = Layers { device: Some("ae2022".into()), schemes: vec!["bbgc-dqgc".into()], ..Layers::default() }.build().unwrap();
        assert_eq!((config.gc.trigger, config.gc.invalid_share), (Trigger::InvalidShare, 0.7));
        config.device.channels = 1;
        config.device.planes_per_die = 1;
        config.device.blocks_per_plane = 16;
        config.device.overprovisioning = 0.5;
        config.ftl.precondition.kind = PreconditionKind::Fill;
        let mut simulation = simulation(&config);
        simulation.ssd_mut().keep_trace();
        // The write that takes a block is the 129th; the share is exceeded since the 90th.
        for i in 0..129 {
            let page = if i < 128 - valid { i } else { 256 + i };
            simulation.submit(write(1_000_000 * i, page)).unwrap();
        }
        simulation.run_until(128_000_000 + 332_400 - 1).unwrap();
        assert!(collection(&simulation).is_empty());
        simulation.run_until(200_000_000).unwrap();
        assert_eq!(simulation.ssd().counters().jobs, jobs);
        if jobs == 1 {
            let gc: Vec<_> = simulation.ssd().trace().unwrap().intervals.iter().filter(|interval| !interval.host).collect();
            let total = |kind| gc.iter().filter(|i| i.kind == kind).map(|i| i.end - i.start).sum::<u64>();
            assert_eq!((total(OpKind::CopybackMove), total(OpKind::Erase)), (9_690_000, 700_000));
            assert_eq!((gc[0].start, gc.last().unwrap().end), (128_332_400, 128_332_400 + 9_690_000 + 700_000));
        }
        simulation.finish().unwrap();
    }
}

#[test]
fn a_share_is_exceeded_by_the_least_number_of_pages_above_it() {
    let wanted = |share, pages| {
        let mut config = Config::default();
        config.gc.trigger = Trigger::InvalidShare;
        config.gc.invalid_share = share;
        config.gc.invalid_pages_wanted(pages)
    };
    // 0.29 x 100 is 28.999999999999996 in binary.
    let cases = [(0.7, 128, 90), (0.7, 10, 8), (0.29, 100, 30), (0.5, 4, 3), (0.5, 5, 3), (0.0, 4, 1), (1.0, 4, 5), (0.999, 128, 128)];
    for (share, pages, least) in cases {
        assert_eq!(wanted(share, pages), least, "{share} of {pages}");
    }
}

#[test]
fn a_share_that_no_block_exceeds_leaves_it_to_the_reserve() {
    let mut config = config(Scope::Block, Priority::Fifo);
    config.gc.invalid_share = 1.0;
    // Whatever T_soft is: the third block taken leaves one free.
    config.gc.soft = 3.0;
    let mut simulation = played(&config, (0..9).map(|i| write(1_000_000 * i, i % 4)));
    simulation.run_until(7_999_999).unwrap();
    assert!(collection(&simulation).iter().all(|&(start, _)| start >= 8_000_000 + WRITE));
    simulation.run_until(20_000_000).unwrap();
    assert_eq!(simulation.ssd().counters().jobs, 1);
    simulation.finish().unwrap();
}

#[test]
fn a_full_drive_goes_on_whoever_fills_what() {
    for priority in [Priority::Host, Priority::Fifo, Priority::Gc] {
        for (trigger, frontier) in
            [Trigger::Soft, Trigger::InvalidShare].into_iter().flat_map(|t| [(t, Frontier::Shared), (t, Frontier::Separate)])
        {
            let mut config = config(Scope::Block, priority);
            config.ftl.frontier = frontier;
            config.gc.trigger = trigger;
            // Sixteen of 48 pages are exported: a block can be opened for redirected writes while fewer than three are free.
            config.device.blocks_per_plane = 12;
            config.device.overprovisioning = 0.66;
            config.gc.soft = 3.0;
            let mut rng = Rng::new(1, "test");
            let mut draw = |i: u64| if i % 7 == 6 { read(500_000 * i, rng.below(16)) } else { write(500_000 * i, rng.below(16)) };
            let simulation = played(&config, (0..1500).map(&mut draw).collect::<Vec<_>>());
            let counters = simulation.ssd().counters();
            assert!(counters.jobs > 100, "{priority:?} {trigger:?} {frontier:?}: {counters:?}");
            let redirects = frontier == Frontier::Shared && priority != Priority::Gc;
            assert_eq!(counters.redirected_writes > 0, redirects, "{priority:?} {trigger:?} {frontier:?}: {counters:?}");
            simulation.finish().unwrap();
        }
    }
}
