//! The write buffer, worked by hand to the nanosecond. One die; four units of 1 KiB in each page of 4 KiB, of which a read takes 25 us, a
//! program 200 us and a transfer 102.4 us. The buffer's access takes 1 us.

use crate::common::{one_die, plan, simulation};
use crate::timelines::{Case, Stage, array, bus, changed, filled, play_all};
use ssdlab::config::{Allocation, Buffer, Config, Drain, Frontier, Order, Pace, PreconditionKind, Priority, Scope};
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Simulation, run};
use ssdlab::stats::Part::{Array, DieQueue, Dram, HostQueue, Transfer};
use ssdlab::stats::{BufferStats, Part};
use ssdlab::workload::Flows;

const UNIT: u64 = 1024;
const US: u64 = 1_000;
/// Room for four pages.
const SIXTEEN: Buffer = Buffer {
    bytes: 16 * UNIT,
    access_ns: US,
    protected: true,
    drain: Drain::Full,
    timeout_us: 0,
    reads_pass: true,
    bytes_per_us: 0,
    sort_units: 0,
};
/// Room for one page.
const FOUR: Buffer = Buffer { bytes: 4 * UNIT, ..SIXTEEN };

/// 64 units exported, all of them written.
fn drive(buffer: Buffer) -> Config {
    changed(filled(one_die()), |c| {
        c.device.blocks_per_plane = 12;
        c.device.overprovisioning = 0.66;
        c.ftl.map_unit_bytes = Some(UNIT as u32);
        c.buffer = buffer;
    })
}

fn units_of(kind: RequestKind, arrival_ns: u64, first: u64, count: u64) -> Request {
    Request { arrival_ns, kind, offset: first * UNIT, length: count * UNIT, high_priority: false, flow: 0, handle: None }
}

fn write(arrival_ns: u64, unit: u64) -> Request {
    units_of(RequestKind::Write, arrival_ns, unit, 1)
}

fn read(arrival_ns: u64, unit: u64) -> Request {
    units_of(RequestKind::Read, arrival_ns, unit, 1)
}

fn half_of(request: Request, half: u64) -> Request {
    Request { offset: request.offset + half * UNIT / 2, length: UNIT / 2, ..request }
}

fn flush(arrival_ns: u64) -> Request {
    Request { length: 0, ..units_of(RequestKind::Flush, arrival_ns, 0, 0) }
}

fn program(at: u64) -> [Stage; 2] {
    [bus(0, at, at + 102_400), array(0, at + 102_400, at + 302_400)]
}

fn flash_read(at: u64) -> [Stage; 2] {
    [array(0, at, at + 25_000), bus(0, at + 25_000, at + 127_400)]
}

/// In or out of the buffer.
fn at_once() -> (u64, Vec<(Part, u64)>) {
    (US, vec![(Dram, US)])
}

/// A read of flash at the end, when all else is over: a run ends with its last request.
fn last_read() -> Request {
    read(5_000_000, 60)
}

fn last_response() -> (u64, Vec<(Part, u64)>) {
    (127_400, vec![(Array, 25_000), (Transfer, 102_400)])
}

/// The case with the last read.
fn case(name: &'static str, buffer: Buffer, requests: &[Request], responses: &[(u64, Vec<(Part, u64)>)], stages: &[[Stage; 2]]) -> Case {
    Case {
        name,
        config: drive(buffer),
        requests: [requests, &[last_read()]].concat(),
        responses: [responses, &[last_response()]].concat(),
        stages: [stages.concat(), flash_read(5_000_000).to_vec()].concat(),
    }
}

fn cases() -> Vec<Case> {
    let four_writes = [write(0, 0), write(10_000, 5), write(20_000, 9), write(30_000, 3)];
    let eight_units = units_of(RequestKind::Write, 0, 0, 8);
    let after_a_program = (303_400, vec![(HostQueue, 302_400), (Dram, US)]);
    vec![
        case("the fourth unit fills a program", SIXTEEN, &four_writes, &[at_once(), at_once(), at_once(), at_once()], &[program(30_000)]),
        case(
            "a unit that waits is replaced by newer data, and takes no further place",
            SIXTEEN,
            &[write(0, 0), write(5_000, 0), write(10_000, 5), write(20_000, 9), write(30_000, 3)],
            &[at_once(), at_once(), at_once(), at_once(), at_once()],
            &[program(30_000)],
        ),
        case(
            "a unit is read from the buffer while it waits, and while it is programmed; then from flash",
            SIXTEEN,
            &[&[write(0, 0), read(5_000, 0)], &four_writes[1..], &[read(100_000, 0), read(400_000, 0)]].concat(),
            &[at_once(), at_once(), at_once(), at_once(), at_once(), at_once(), last_response()],
            &[program(30_000), flash_read(400_000)],
        ),
        case(
            "eight units, and room for four: the rest waits until a program has ended",
            FOUR,
            &[eight_units],
            std::slice::from_ref(&after_a_program),
            &[program(0), program(302_400)],
        ),
        case(
            // The read is older than the second program, and the die serves the oldest first.
            "a read goes ahead of a write that waits for room",
            FOUR,
            &[eight_units, read(10_000, 40)],
            &[after_a_program.clone(), (419_800, vec![(DieQueue, 292_400), (Array, 25_000), (Transfer, 102_400)])],
            &[program(0), flash_read(302_400), program(429_800)],
        ),
        case(
            "so does one of the unit right behind",
            FOUR,
            &[eight_units, read(10_000, 8)],
            &[after_a_program.clone(), (419_800, vec![(DieQueue, 292_400), (Array, 25_000), (Transfer, 102_400)])],
            &[program(0), flash_read(302_400), program(429_800)],
        ),
        case(
            "where reads do not pass, it waits with the write",
            Buffer { reads_pass: false, ..FOUR },
            &[eight_units, read(10_000, 40)],
            &[after_a_program.clone(), (419_800, vec![(HostQueue, 292_400), (Array, 25_000), (Transfer, 102_400)])],
            &[program(0), flash_read(302_400), program(429_800)],
        ),
        case(
            "a read of a unit that waits for room waits for it",
            FOUR,
            &[eight_units, read(10_000, 7)],
            &[after_a_program.clone(), (293_400, vec![(HostQueue, 292_400), (Dram, US)])],
            &[program(0), program(302_400)],
        ),
        case(
            "a read of a unit that has come in goes on, though later writes wait for room, and none that comes later is earlier",
            FOUR,
            &[eight_units, units_of(RequestKind::Write, 1_000, 8, 4), read(10_000, 7), read(310_000, 7)],
            &[
                after_a_program,
                (604_800, vec![(HostQueue, 603_800), (Dram, US)]),
                (293_400, vec![(HostQueue, 292_400), (Dram, US)]),
                at_once(),
            ],
            &[program(0), program(302_400), program(604_800)],
        ),
        case(
            "after the timeout a unit is programmed alone",
            Buffer { timeout_us: 50, ..SIXTEEN },
            &[write(0, 0)],
            &[at_once()],
            &[program(50_000)],
        ),
        case(
            "eager: a unit is programmed at once where no program runs, and what comes meanwhile is programmed together",
            Buffer { drain: Drain::Eager, ..SIXTEEN },
            &[write(0, 0), write(10_000, 1), write(20_000, 2)],
            &[at_once(), at_once(), at_once()],
            &[program(0), program(302_400)],
        ),
        case(
            "at once: each unit is programmed when it comes, and waits for the die there",
            Buffer { drain: Drain::AtOnce, ..SIXTEEN },
            &[write(0, 0), write(10_000, 1), write(20_000, 2), write(30_000, 1)],
            &[at_once(), at_once(), at_once(), at_once()],
            &[program(0), program(302_400), program(604_800), program(907_200)],
        ),
        case(
            // 1 us and 1,024 bytes at 200 bytes a us: 6,120 ns each.
            "accesses to a memory with a bandwidth follow each other",
            Buffer { bytes_per_us: 200, ..SIXTEEN },
            &[write(0, 0), write(2_000, 1), half_of(read(3_000, 0), 1), write(100_000, 2)],
            &[
                (6_120, vec![(Dram, 6_120)]),
                (10_240, vec![(Dram, 10_240)]),
                (9_240 + 3_560, vec![(Dram, 9_240 + 3_560)]),
                (6_120, vec![(Dram, 6_120)]),
            ],
            &[],
        ),
        case(
            "the rest of a unit is read when its program is due",
            SIXTEEN,
            &[&[half_of(write(0, 0), 0)], &four_writes[1..]].concat(),
            &[at_once(), at_once(), at_once(), at_once()],
            &[flash_read(30_000), program(157_400)],
        ),
        case(
            "two halves of a unit are a whole: nothing is read",
            SIXTEEN,
            &[&[half_of(write(0, 0), 0), half_of(write(1_000, 0), 1)], &four_writes[1..]].concat(),
            &[at_once(), at_once(), at_once(), at_once(), at_once()],
            &[program(30_000)],
        ),
        case(
            "a read of the other half has the rest read, and the program finds it there",
            SIXTEEN,
            &[&[half_of(write(0, 0), 0), half_of(read(5_000, 0), 1)], &four_writes[1..]].concat(),
            &[at_once(), (128_400, vec![(Array, 25_000), (Transfer, 102_400), (Dram, US)]), at_once(), at_once(), at_once()],
            &[flash_read(5_000), program(132_400)],
        ),
        case(
            "a read of the half that waits finds it, and needs nothing else",
            SIXTEEN,
            &[half_of(write(0, 0), 0), half_of(write(1_000, 1), 1), half_of(read(5_000, 0), 0), half_of(read(7_000, 1), 1)],
            &[at_once(), at_once(), at_once(), at_once()],
            &[],
        ),
        case(
            "newer data of a unit that is on its way wait until it is there",
            SIXTEEN,
            &[units_of(RequestKind::Write, 0, 0, 4), write(10_000, 0), units_of(RequestKind::Write, 20_000, 4, 3)],
            &[at_once(), at_once(), at_once()],
            &[program(0), program(302_400)],
        ),
        Case {
            config: changed(drive(SIXTEEN), |c| {
                c.device.chips_per_channel = 2;
                c.ftl.allocation = Allocation::Dynamic;
            }),
            // The second program finds the first chip loaded; the last read's unit lies on the second.
            stages: [
                vec![bus(0, 0, 102_400), array(0, 102_400, 302_400), bus(0, 102_400, 204_800), array(1, 204_800, 404_800)],
                vec![array(1, 5_000_000, 5_025_000), bus(0, 5_025_000, 5_127_400)],
            ]
            .concat(),
            ..case("with dynamic allocation the units of a program go to one chip", SIXTEEN, &[eight_units], &[at_once()], &[])
        },
        case("a protected buffer has nothing to flush", SIXTEEN, &[write(0, 0), flush(10_000)], &[at_once(), (0, vec![])], &[]),
        case(
            "without protection a flush waits until all that came before is in flash",
            Buffer { protected: false, ..SIXTEEN },
            &[write(0, 0), flush(10_000), write(20_000, 1)],
            &[at_once(), (302_400, vec![(DieQueue, 302_400)]), at_once()],
            &[program(10_000)],
        ),
        case(
            "a unit that is trimmed while its rest is read holds back no other unit of its program",
            Buffer { protected: false, ..SIXTEEN },
            &[half_of(write(0, 0), 0), write(5_000, 1), flush(10_000), trim(20_000, 0, 1)],
            &[at_once(), at_once(), (429_800, vec![(DieQueue, 429_800)]), (117_400, vec![(DieQueue, 117_400)])],
            &[flash_read(10_000), program(137_400)],
        ),
    ]
}

/// Three writes of a unit, each followed by a flush (`flush_every`), the last at the end of the flow (`flush_at_end`). A write ends after
/// the 1 us of the buffer's access; the flush then sends the program, which takes 302.4 us, and the next write waits for it.
#[test]
fn a_closed_loop_waits_for_each_flush() {
    let times = |protected| {
        let config = changed(drive(Buffer { protected, ..SIXTEEN }), |c| {
            (c.workload.read_share, c.workload.sequential_share, c.workload.request_kb) = (0.0, 1.0, 1.0);
            (c.workload.queue_depth, c.workload.total_bytes) = (1, 3 * UNIT);
            (c.workload.flush_every, c.workload.flush_at_end) = (1, true);
        });
        let mut flows = Flows::open(&config.workload, config.exported_bytes().unwrap(), 7, None, &Default::default()).unwrap();
        let mut simulation = Simulation::new(&plan(config), &Control::default()).unwrap();
        simulation.take_completions();
        simulation.drive_flows(&mut flows, &Control::default()).unwrap();
        let mut done = simulation.take_completions();
        done.sort_by_key(|done| done.index);
        let times: Vec<_> = done.iter().map(|done| (done.kind, done.arrival_ns, done.completed_ns)).collect();
        (times, simulation.finish().unwrap().latency_ns)
    };
    use RequestKind::{Flush, Write};
    let (found, latency) = times(false);
    let expected = [
        (Write, 0, 1_000),
        (Flush, 1_000, 303_400),
        (Write, 303_400, 304_400),
        (Flush, 304_400, 606_800),
        (Write, 606_800, 607_800),
        (Flush, 607_800, 910_200),
    ];
    assert_eq!(found, expected);
    let (flushes, writes) = (latency.flush.unwrap(), latency.write.unwrap());
    assert_eq!((flushes.count, flushes.min, flushes.max), (3, 302_400, 302_400));
    assert_eq!((writes.count, writes.max, latency.all.unwrap().count), (3, US, 3));
    let (found, latency) = times(true);
    assert_eq!(found.iter().map(|&(_, at, _)| at).collect::<Vec<_>>(), [0, 1_000, 1_000, 2_000, 2_000, 3_000]);
    assert_eq!(latency.flush.unwrap().max, 0, "a protected buffer has nothing to flush");
}

fn trim(arrival_ns: u64, first: u64, count: u64) -> Request {
    units_of(RequestKind::Trim, arrival_ns, first, count)
}

/// Behind a write of eight units, of which four wait until 302.4 us for room.
fn cases_behind_a_full_buffer() -> Vec<Case> {
    let eight_units = units_of(RequestKind::Write, 0, 0, 8);
    let written = (303_400, vec![(HostQueue, 302_400), (Dram, US)]);
    let waited = |ns| (ns, vec![(HostQueue, ns)]);
    let from_buffer = |waits: u64| (waits + US, vec![(HostQueue, waits), (Dram, US)]);
    // A read that has come to the drive at once waits for the program there.
    let from_flash = |waits: u64| (waits + 127_400, vec![(DieQueue, waits), (Array, 25_000), (Transfer, 102_400)]);
    let all_programmed = [program(0), flash_read(302_400), program(429_800)];
    vec![
        case(
            "a trim of other units passes, and holds up no read",
            FOUR,
            &[eight_units, trim(10_000, 50, 1), read(20_000, 40)],
            &[written.clone(), (0, vec![]), from_flash(282_400)],
            &all_programmed,
        ),
        case(
            // Unit 7 is trimmed as soon as it has come in, so that three units are left, which fill no program.
            "a trim waits for a write of its units, and a read of these for the trim, but no other read",
            FOUR,
            &[eight_units, trim(10_000, 7, 1), read(20_000, 7), read(20_000, 40)],
            &[written.clone(), waited(292_400), waited(282_400), from_flash(282_400)],
            &[program(0), flash_read(302_400)],
        ),
        case(
            "a trim does not pass an older read of its units, which has what was written before",
            FOUR,
            &[eight_units, read(10_000, 7), trim(20_000, 7, 1)],
            &[written.clone(), from_buffer(292_400), waited(282_400)],
            &[program(0)],
        ),
        case(
            "a trim of many units holds up the reads of these alone",
            FOUR,
            &[eight_units, trim(10_000, 7, 50), read(20_000, 40), read(20_000, 5), read(25_000, 62)],
            &[written.clone(), waited(292_400), waited(282_400), from_buffer(282_400), from_flash(277_400)],
            &[program(0), flash_read(302_400)],
        ),
        case(
            "a trim of parts of units trims nothing, and waits for nothing",
            FOUR,
            &[eight_units, Request { length: UNIT, offset: 7 * UNIT - UNIT / 2, ..trim(10_000, 7, 1) }, read(20_000, 40)],
            &[written.clone(), (0, vec![]), from_flash(282_400)],
            &all_programmed,
        ),
        case(
            "a flush waits for the write, and holds up no read",
            FOUR,
            &[eight_units, flush(10_000), read(20_000, 40)],
            &[written.clone(), waited(292_400), from_flash(282_400)],
            &all_programmed,
        ),
        case(
            "where reads do not pass, trims do not either",
            Buffer { reads_pass: false, ..FOUR },
            &[eight_units, trim(10_000, 50, 1), read(20_000, 40)],
            &[written, waited(292_400), (409_800, vec![(HostQueue, 282_400), (Array, 25_000), (Transfer, 102_400)])],
            &all_programmed,
        ),
    ]
}

/// Trims of units that no other request touches, and flushes of a protected buffer, change no response of another request, however full the
/// buffer is and whether or not writes are paced.
#[test]
fn trims_and_flushes_change_nothing_for_requests_of_other_units() {
    for case in 0..30 {
        let mut rng = Rng::new(case, "trims");
        let buffer = [FOUR, Buffer { bytes: 40 * UNIT, drain: Drain::Eager, ..FOUR }, Buffer::default()][case as usize % 3].clone();
        let config = changed(drive(buffer), |c| {
            c.device.blocks_per_plane = 24;
            c.device.overprovisioning = 0.5;
            // So the units that are trimmed hold no data, which collection would have to move.
            c.ftl.precondition.kind = PreconditionKind::None;
            c.ftl.frontier = Frontier::Separate;
            (c.gc.soft, c.gc.scope, c.gc.priority) = (4.0, Scope::None, Priority::Host);
            c.scheduler.order = if rng.chance(0.5) { Order::Fcfs } else { Order::FrFcfs };
            c.gc.pace = if rng.chance(0.7) { Pace::Proportional } else { Pace::None };
            c.gc.pace_window = 0.1;
        });
        let mut at = 0;
        // Units from 160 on, of 192, are trimmed alone.
        let requests: Vec<Request> = (0..400)
            .map(|_| {
                at += rng.below(150_000);
                match rng.below(10) {
                    0..5 => units_of(RequestKind::Write, at, rng.below(150), 1 + rng.below(8)),
                    5..8 => read(at, rng.below(160)),
                    8 => trim(at, 160 + rng.below(20), 1 + rng.below(12)),
                    _ => flush(at),
                }
            })
            .collect();
        let is_beside = |request: &Request| matches!(request.kind, RequestKind::Trim | RequestKind::Flush);
        let ends = |requests: &[Request]| {
            let mut simulation = simulation(&config);
            requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
            simulation.run_to_idle().unwrap();
            let mut completions = simulation.take_completions();
            completions.sort_by_key(|completion| completion.index);
            assert_eq!(completions.len(), requests.len(), "case {case}");
            let result = simulation.finish().unwrap();
            let of_others = completions.iter().filter(|completion| matches!(completion.kind, RequestKind::Read | RequestKind::Write));
            let waits = result.counters["paced_writes"] + result.buffer.map_or(0, |buffer| buffer.full_waits);
            (of_others.map(|completion| completion.completed_ns).collect::<Vec<_>>(), waits)
        };
        let others: Vec<Request> = requests.iter().copied().filter(|request| !is_beside(request)).collect();
        let (with, waits) = ends(&requests);
        let (without, _) = ends(&others);
        assert!(waits > 0 || config.gc.pace == Pace::None && !config.buffer.is_on(), "case {case}: nothing waits");
        assert_eq!(with, without, "case {case}: {config:#?}");
    }
}

/// When a request is to come in, by those before it: their kinds, units and the instants at which they came in. Of writes the simulator says when.
fn is_to_come_in(request: &Request, before: &[(Request, u64)], flushes_wait: bool) -> u64 {
    use RequestKind::{Flush, Read, Trim, Write};
    let waits_for = |older: &Request| {
        let touch = older.offset < request.offset + request.length && request.offset < older.offset + older.length;
        match (request.kind, older.kind) {
            (Read, Write | Trim) | (Trim, Write | Read) => touch,
            (Flush, Write | Flush) => flushes_wait,
            _ => false,
        }
    };
    let older = before.iter().filter(|(older, _)| waits_for(older)).map(|&(_, came_in)| came_in);
    older.max().unwrap_or(0).max(request.arrival_ns)
}

/// Random requests of one unit, and trims of a few, where writes wait for room or for credit. Versions of data are checked at every event.
#[test]
fn reads_trims_and_flushes_wait_for_what_they_touch_and_nothing_else() {
    for case in 0..45 {
        let mut rng = Rng::new(case, "order");
        let eight = Buffer { bytes: 8 * UNIT, protected: false, ..FOUR };
        let buffer = [FOUR, eight, Buffer::default()][case as usize % 3].clone();
        let buffered = buffer.is_on();
        let config = changed(drive(buffer), |c| {
            c.ftl.frontier = Frontier::Separate;
            (c.gc.soft, c.gc.scope, c.gc.priority) = (4.0, Scope::None, Priority::Host);
            (c.gc.pace, c.gc.pace_window) = (if buffered { Pace::None } else { Pace::Proportional }, 0.0);
        });
        let mut at = 0;
        let requests: Vec<Request> = (0..250)
            .map(|_| {
                at += rng.below(if buffered { 60_000 } else { 250_000 });
                match rng.below(20) {
                    0..11 => write(at, rng.below(12)),
                    11..16 => read(at, rng.below(14)),
                    16..19 => trim(at, rng.below(12), 1 + rng.below(3)),
                    _ => flush(at),
                }
            })
            .collect();
        let mut simulation = simulation(&config);
        requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
        simulation.run_to_idle().unwrap();
        let mut completions = simulation.take_completions();
        completions.sort_by_key(|completion| completion.index);
        simulation.finish().unwrap();
        let (mut before, mut waited) = (Vec::new(), 0);
        for (request, completion) in requests.iter().zip(&completions) {
            let parts = completion.parts().0;
            let came_in = request.arrival_ns + parts[HostQueue as usize] + parts[Part::Pace as usize];
            if request.kind != RequestKind::Write {
                let expected = is_to_come_in(request, &before, buffered);
                assert_eq!(came_in, expected, "case {case}: {request:?}, number {}", completion.index);
                waited += u32::from(came_in > request.arrival_ns);
            }
            before.push((*request, came_in));
        }
        assert!(waited > 0, "case {case}: nothing waits");
    }
}

#[test]
fn timelines_behind_a_full_buffer() {
    play_all(&cases_behind_a_full_buffer());
}

#[test]
fn timelines() {
    play_all(&cases());
}

fn counted(config: &Config, requests: &[Request]) -> BufferStats {
    let mut simulation = simulation(config);
    requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
    simulation.run_to_idle().unwrap();
    simulation.storage().stats(simulation.now()).buffer.expect("there is a buffer")
}

#[test]
fn what_happens_is_counted() {
    let none = BufferStats { capacity: 16, ..BufferStats::default() };
    let stats = counted(&drive(SIXTEEN), &[write(0, 0), write(5_000, 0), write(10_000, 5), read(20_000, 5)]);
    assert_eq!(stats, BufferStats { held: 2, units: 3, rewrites: 1, read_hits: 1, ..none });
    let trim = units_of(RequestKind::Trim, 5_000, 0, 1);
    let three = units_of(RequestKind::Write, 10_000, 1, 3);
    let stats = counted(&drive(SIXTEEN), &[write(0, 0), trim, three, last_read()]);
    assert_eq!(stats, BufferStats { held: 3, units: 4, trimmed: 1, ..none }, "three units fill no program");
    let requests = [half_of(write(0, 0), 0), units_of(RequestKind::Write, 0, 1, 3), last_read()];
    assert_eq!(counted(&drive(SIXTEEN), &requests), BufferStats { units: 4, fills: 1, programs: 1, ..none });
    let stats = counted(&drive(Buffer { timeout_us: 50, ..FOUR }), &[units_of(RequestKind::Write, 0, 0, 5), last_read()]);
    let expected = BufferStats { capacity: 4, units: 5, full_waits: 1, programs: 2, part_programs: 1, timeouts: 1, ..none };
    assert_eq!(stats, expected);
    // Two programs are on their way, and unit 8 waits for longer than the timeout. Then there are four that go together, none for its age.
    let (eight, three) = (units_of(RequestKind::Write, 0, 0, 8), units_of(RequestKind::Write, 100_000, 9, 3));
    let stats = counted(&drive(Buffer { timeout_us: 50, ..SIXTEEN }), &[eight, write(10_000, 8), three, last_read()]);
    assert_eq!(stats, BufferStats { units: 12, programs: 3, ..none });
}

/// A trimmed unit has no data, whatever of it was in the buffer: waiting, on its way, or behind that.
#[test]
fn trimmed_units_are_gone() {
    let four = units_of(RequestKind::Write, 0, 0, 4);
    let trim = |at| units_of(RequestKind::Trim, at, 0, 1);
    for requests in [vec![write(0, 0), trim(5_000)], vec![four, trim(5_000)], vec![four, write(5_000, 0), trim(10_000)]] {
        let mut simulation = simulation(&drive(Buffer { protected: false, ..SIXTEEN }));
        requests.iter().chain(&[flush(20_000), last_read()]).for_each(|request| _ = simulation.submit(*request).unwrap());
        simulation.run_to_idle().unwrap();
        assert!(!simulation.ssd().has_data(ssdlab::units::Lpn(0)), "{requests:?}");
        simulation.finish().unwrap();
    }
}

/// A full buffer fills every program, so that four units take as long as a program and its transfer: 302.4 us. Without a buffer each takes
/// as long.
#[test]
fn random_writes_of_units_fill_programs() {
    let writes_a_second = |buffer: Buffer, allocation| {
        let mut config = changed(one_die(), |c| {
            c.device.blocks_per_plane = 4_000;
            c.ftl.map_unit_bytes = Some(UNIT as u32);
            c.ftl.allocation = allocation;
            c.buffer = buffer;
        });
        (config.workload.read_share, config.workload.queue_depth, config.workload.request_kb) = (0.0, 32, 1.0);
        let mut plan = plan(config);
        plan.requests = Some(10_000);
        let result = run(&plan, &Control::default()).unwrap();
        (result.iops.unwrap(), result.buffer)
    };
    for allocation in [Allocation::default(), Allocation::Dynamic] {
        let (rate, buffer) = writes_a_second(SIXTEEN, allocation);
        let buffer = buffer.unwrap();
        assert!((rate / (4.0 / 302.4e-6) - 1.0).abs() < 0.01, "{rate} writes a second");
        assert_eq!((buffer.part_programs, buffer.units), (0, 10_000));
        // What is neither programmed nor rewritten is in it, or was on its way in the end.
        assert!((4 * buffer.programs).abs_diff(10_000 - buffer.rewrites) <= 16, "{buffer:?}");
        let (rate, buffer) = writes_a_second(Buffer::default(), allocation);
        assert!((rate / (1.0 / 302.4e-6) - 1.0).abs() < 0.01 && buffer.is_none(), "{rate} writes a second without a buffer");
    }
}

/// All 128 requests of 64 units come at once, and are in the host interface while room is made for those that are behind them.
#[test]
fn more_units_wait_for_room_than_came_last() {
    let mut config = changed(one_die(), |c| {
        c.device.blocks_per_plane = 8_000;
        c.ftl.map_unit_bytes = Some(UNIT as u32);
        c.buffer = FOUR;
        c.host.command_ns = US;
    });
    (config.workload.read_share, config.workload.queue_depth, config.workload.request_kb) = (0.0, 128, 64.0);
    let mut plan = plan(config);
    plan.requests = Some(128);
    let result = run(&plan, &Control::default()).unwrap();
    // All but those that have room, at once.
    let buffer = result.buffer.unwrap();
    assert!(buffer.units == 128 * 64 && buffer.full_waits >= 127, "{buffer:?}");
}

#[test]
fn waits_for_the_memory_are_counted() {
    let waits = |bytes_per_us| {
        let mut simulation = simulation(&drive(Buffer { bytes_per_us, ..SIXTEEN }));
        [write(0, 0), write(2_000, 1), write(100_000, 2)].iter().for_each(|request| _ = simulation.submit(*request).unwrap());
        simulation.finish().unwrap().buffer.unwrap().memory_waits
    };
    assert_eq!((waits(0), waits(200)), (0, 1));
}
