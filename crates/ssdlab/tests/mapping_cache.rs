//! The mapping cache (`ftl.map_cache_bytes`), worked by hand to the nanosecond. One die; a translation page is a page and has the entries of
//! eight pages. A page takes 102.4 us on the bus, a read 25 us, a program 200 us, an erase 1.5 ms.

use crate::common::{one_die, plan, protected_buffer, simulation};
use crate::timelines::{Case, Stage, array, bus, changed, filled, pages, play_all, read, write};
use ssdlab::config::{
    Allocation, ArrayLevel, CachePlace, CachePolicy, Config, Frontier, MapCachePolicy, MapCacheUnit, Order, PartialWrite, PreconditionKind,
    Priority, Scope, Trigger, UnmappedRead, validate,
};
use ssdlab::ftl::Ftl;
use ssdlab::precondition::{Own, prepare};
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify, WarmUp, run};
use ssdlab::stats::Part::{Array, DieQueue, Mapping, Transfer};
use ssdlab::stats::{MappingStats, Part};
use ssdlab::storage::PlantedInMap;
use ssdlab::units::Lpn;

const MS: u64 = 1_000_000;
const PAGE: u64 = 4096;
/// A read, and a write.
pub const READ: u64 = 127_400;
pub const WRITE: u64 = 302_400;

/// 64 pages exported, so that there are eight translation pages, and memory for `room` of them.
fn erased(room: u64) -> Config {
    changed(one_die(), |c| {
        c.device.blocks_per_plane = 32;
        c.ftl.map_cache_bytes = room * PAGE;
        c.ftl.map_entry_bytes = 512;
    })
}

/// The drive of [`erased`] with all pages written.
fn drive(room: u64) -> Config {
    filled(erased(room))
}

fn trim(at: u64, page: u64, count: u64) -> Request {
    Request { kind: RequestKind::Trim, ..pages(read(at, page), count) }
}

pub fn reads(at: u64) -> [Stage; 2] {
    [array(0, at, at + 25_000), bus(0, at + 25_000, at + READ)]
}

pub fn writes(at: u64) -> [Stage; 2] {
    [bus(0, at, at + 102_400), array(0, at + 102_400, at + WRITE)]
}

/// A read or write after so long a wait for translation pages, and so long a wait for the die.
pub fn served(write: bool, mapping: u64, die_queue: u64) -> (u64, Vec<(Part, u64)>) {
    let (ns, array) = if write { (WRITE, 200_000) } else { (READ, 25_000) };
    (mapping + die_queue + ns, vec![(Mapping, mapping), (DieQueue, die_queue), (Array, array), (Transfer, 102_400)])
}

fn hit() -> (u64, Vec<(Part, u64)>) {
    served(false, 0, 0)
}

fn miss() -> (u64, Vec<(Part, u64)>) {
    served(false, READ, 0)
}

fn only(ns: u64) -> (u64, Vec<(Part, u64)>) {
    (ns, vec![(Mapping, ns)])
}

fn case(name: &'static str, config: Config, requests: &[Request], responses: &[(u64, Vec<(Part, u64)>)], stages: &[&[[Stage; 2]]]) -> Case {
    let (requests, responses) = (requests.to_vec(), responses.to_vec());
    Case { name, config, requests, responses, stages: stages.concat().concat() }
}

fn cases() -> Vec<Case> {
    vec![
        case(
            "a miss reads the translation page, and after it a page of the same one is a hit",
            drive(2),
            &[read(0, 5), read(MS, 6)],
            &[miss(), hit()],
            &[&[reads(0), reads(READ), reads(MS)]],
        ),
        case(
            "the least recently used translation page makes room",
            drive(2),
            &[read(0, 0), read(MS, 8), read(2 * MS, 1), read(3 * MS, 16), read(4 * MS, 2), read(5 * MS, 9)],
            &[miss(), miss(), hit(), miss(), hit(), miss()],
            &[
                &[reads(0), reads(READ), reads(MS), reads(MS + READ), reads(2 * MS)],
                &[reads(3 * MS), reads(3 * MS + READ), reads(4 * MS), reads(5 * MS), reads(5 * MS + READ)],
            ],
        ),
        case(
            "with fifo the one that came first",
            changed(drive(2), |c| c.ftl.map_cache_policy = MapCachePolicy::Fifo),
            &[read(0, 0), read(MS, 8), read(2 * MS, 1), read(3 * MS, 16), read(4 * MS, 9)],
            &[miss(), miss(), hit(), miss(), hit()],
            &[&[reads(0), reads(READ), reads(MS), reads(MS + READ), reads(2 * MS)], &[reads(3 * MS), reads(3 * MS + READ), reads(4 * MS)]],
        ),
        case(
            "with clock the first that was not used since it came",
            changed(drive(2), |c| c.ftl.map_cache_policy = MapCachePolicy::Clock),
            &[read(0, 0), read(MS, 8), read(2 * MS, 1), read(3 * MS, 16), read(4 * MS, 2)],
            &[miss(), miss(), hit(), miss(), hit()],
            &[&[reads(0), reads(READ), reads(MS), reads(MS + READ), reads(2 * MS)], &[reads(3 * MS), reads(3 * MS + READ), reads(4 * MS)]],
        ),
        case(
            "one that has changed is written back before another is read into its memory",
            drive(1),
            &[write(0, 0), read(MS, 8), read(2 * MS, 16)],
            &[served(true, READ, 0), served(false, WRITE + READ, 0), miss()],
            &[
                &[reads(0), writes(READ)],
                &[writes(MS), reads(MS + WRITE), reads(MS + WRITE + READ)],
                &[reads(2 * MS), reads(2 * MS + READ)],
            ],
        ),
        case(
            "two commands wait for one translation page together",
            drive(2),
            &[read(0, 0), read(10_000, 1)],
            &[miss(), served(false, READ - 10_000, READ)],
            &[&[reads(0), reads(READ), reads(2 * READ)]],
        ),
        case(
            "a command waits for all of its translation pages",
            drive(2),
            &[pages(read(0, 7), 2)],
            &[served(false, 2 * READ, READ)],
            &[&[reads(0), reads(READ), reads(2 * READ), reads(3 * READ)]],
        ),
        case(
            "with memory for one they come one after the other",
            drive(1),
            &[pages(read(0, 7), 2)],
            &[served(false, 2 * READ, READ)],
            &[&[reads(0), reads(READ), reads(2 * READ), reads(3 * READ)]],
        ),
        case(
            // It finds the data of the write, which is on its way then.
            "a read whose translation page is there waits for an older write of its page, which waits for another",
            drive(2),
            &[pages(write(0, 7), 2), read(150_000, 7)],
            &[served(true, 2 * READ, WRITE), only(2 * READ - 150_000)],
            &[&[reads(0), reads(READ), writes(2 * READ), writes(2 * READ + WRITE)]],
        ),
        case(
            "a read of another page does not wait for that",
            drive(2),
            &[pages(write(0, 7), 2), read(150_000, 6)],
            // The die is free when the second translation page has been read, and reads and writes are served in the order of arrival there.
            &[served(true, 2 * READ, READ + WRITE), served(false, 0, 2 * READ - 150_000)],
            &[&[reads(0), reads(READ), reads(2 * READ), writes(3 * READ), writes(3 * READ + WRITE)]],
        ),
        case(
            "where the page to be replaced is not there itself, a command waits, and later ones behind it",
            drive(1),
            &[read(0, 0), read(10_000, 8), read(20_000, 1)],
            // The second translation page waits behind the first command, and the first, read again, behind the second command.
            &[miss(), served(false, 3 * READ - 10_000, 0), served(false, 5 * READ - 20_000, 0)],
            &[&[reads(0), reads(READ), reads(2 * READ), reads(3 * READ), reads(4 * READ), reads(5 * READ)]],
        ),
        case(
            "a translation page that was never written is not read",
            erased(1),
            &[write(0, 0), read(MS, 8), read(2 * MS, 0)],
            // The read of a page without data is answered at once when the first translation page is written back.
            &[served(true, 0, 0), only(WRITE), miss()],
            &[&[writes(0), writes(MS), reads(2 * MS), reads(2 * MS + READ)]],
        ),
        case(
            "a translation page all of whose entries change is not read",
            drive(1),
            &[pages(write(0, 8), 8)],
            &[served(true, 0, 7 * WRITE)],
            &[&std::array::from_fn::<_, 8, _>(|page| writes(page as u64 * WRITE))],
        ),
        case(
            // The write begins in the middle of page 8. What is left of that is to be read, and to be found for that.
            "unless the rest of a page is read before",
            drive(1),
            &[Request { offset: 17 * PAGE / 2, length: 15 * PAGE / 2, ..write(0, 8) }],
            &[served(true, READ, READ + 7 * WRITE)],
            &[&[reads(0), reads(READ)], &std::array::from_fn::<_, 8, _>(|page| writes(2 * READ + page as u64 * WRITE))],
        ),
        case(
            "or not, as partial writes are without that",
            changed(drive(1), |c| c.ftl.partial_write = PartialWrite::Program),
            &[Request { offset: 17 * PAGE / 2, length: 15 * PAGE / 2, ..write(0, 8) }],
            &[served(true, 0, 7 * WRITE)],
            &[&std::array::from_fn::<_, 8, _>(|page| writes(page as u64 * WRITE))],
        ),
        case(
            "a trim changes entries, and needs their translation pages",
            drive(1),
            &[trim(0, 3, 1), read(MS, 8)],
            &[only(READ), served(false, WRITE + READ, 0)],
            &[&[reads(0), writes(MS), reads(MS + WRITE), reads(MS + WRITE + READ)]],
        ),
        case(
            "a trim of less than a page, and a flush, need none; and a flush writes none back",
            drive(1),
            &[write(0, 0), Request { length: PAGE / 2, ..trim(MS, 9, 1) }, Request { kind: RequestKind::Flush, length: 0, ..read(MS, 0) }],
            &[served(true, READ, 0), (0, vec![]), (0, vec![])],
            &[&[reads(0), writes(READ)]],
        ),
        case(
            "a translation page of two pages is read and written as two",
            changed(drive(2), |c| c.ftl.map_page_bytes = Some(2 * PAGE as u32)),
            &[write(0, 0), read(3 * MS, 16)],
            &[served(true, 2 * READ, 0), served(false, 2 * WRITE + 2 * READ, 0)],
            &[
                &[reads(0), reads(READ), writes(2 * READ)],
                &[writes(3 * MS), writes(3 * MS + WRITE), reads(3 * MS + 2 * WRITE), reads(3 * MS + 2 * WRITE + READ)],
                &[reads(3 * MS + 2 * WRITE + 2 * READ)],
            ],
        ),
    ]
}

#[test]
fn timelines() {
    play_all(&cases());
}

/// A drive with memory for `room` single entries.
fn entries(config: Config, room: u64) -> Config {
    changed(config, |c| (c.ftl.map_cache_unit, c.ftl.map_cache_bytes) = (MapCacheUnit::Entry, 512 * room))
}

/// The entry of page 0, which has changed, is replaced at 1 ms by that of page 8. The translation page of page 0 is read behind that of page 8.
const WRITE_BACK: u64 = MS + 3 * READ;

#[test]
fn timelines_of_single_entries() {
    let drive = |room| entries(drive(1), room);
    play_all(&[
        case(
            "a miss reads the translation page, and keeps one entry of it",
            drive(2),
            &[read(0, 5), read(MS, 6), read(2 * MS, 5)],
            &[miss(), miss(), hit()],
            &[&[reads(0), reads(READ), reads(MS), reads(MS + READ), reads(2 * MS)]],
        ),
        case(
            "the least recently used entry makes room",
            drive(2),
            &[read(0, 0), read(MS, 1), read(2 * MS, 0), read(3 * MS, 9), read(4 * MS, 0), read(5 * MS, 1)],
            &[miss(), miss(), hit(), miss(), hit(), miss()],
            &[
                &[reads(0), reads(READ), reads(MS), reads(MS + READ), reads(2 * MS)],
                &[reads(3 * MS), reads(3 * MS + READ), reads(4 * MS), reads(5 * MS), reads(5 * MS + READ)],
            ],
        ),
        case(
            "entries of a translation page that is being read come with it",
            drive(2),
            &[read(0, 0), read(10_000, 1)],
            &[miss(), served(false, READ - 10_000, READ)],
            &[&[reads(0), reads(READ), reads(2 * READ)]],
        ),
        case(
            "a command waits for each of its entries",
            drive(2),
            &[pages(read(0, 7), 2)],
            &[served(false, 2 * READ, READ)],
            &[&[reads(0), reads(READ), reads(2 * READ), reads(3 * READ)]],
        ),
        case(
            "an entry that has changed leaves at once, and its translation page is read, changed and written",
            drive(1),
            &[write(0, 0), read(MS, 8), read(5 * MS, 8)],
            &[served(true, READ, 0), served(false, READ, READ), hit()],
            &[&[reads(0), writes(READ)], &[reads(MS), reads(MS + READ), reads(MS + 2 * READ), writes(WRITE_BACK), reads(5 * MS)]],
        ),
        case(
            "while that is written its entries come from memory",
            drive(1),
            &[write(0, 0), read(MS, 8), read(WRITE_BACK + 1_000, 1)],
            &[served(true, READ, 0), served(false, READ, READ), served(false, 0, WRITE - 1_000)],
            &[
                &[reads(0), writes(READ), reads(MS), reads(MS + READ), reads(MS + 2 * READ), writes(WRITE_BACK)],
                &[reads(WRITE_BACK + WRITE)],
            ],
        ),
        case(
            "and while it is read for that they come with it",
            drive(1),
            &[write(0, 0), read(MS, 8), read(MS + READ + 1_000, 1), read(5 * MS, 1)],
            &[served(true, READ, 0), served(false, READ, READ), served(false, READ - 1_000, READ), hit()],
            &[
                &[reads(0), writes(READ), reads(MS), reads(MS + READ), reads(MS + 2 * READ), reads(MS + 3 * READ)],
                &[writes(MS + 4 * READ), reads(5 * MS)],
            ],
        ),
        case(
            "all changed entries of a translation page are written together",
            drive(2),
            &[write(0, 0), write(MS, 1), read(2 * MS, 8), read(4 * MS, 9)],
            &[served(true, READ, 0), served(true, READ, 0), served(false, READ, READ), miss()],
            &[
                &[reads(0), writes(READ), reads(MS), writes(MS + READ)],
                &[reads(2 * MS), reads(2 * MS + READ), reads(2 * MS + 2 * READ), writes(2 * MS + 3 * READ)],
                &[reads(4 * MS), reads(4 * MS + READ)],
            ],
        ),
        case(
            "a translation page that was never written is not read, for an entry or to be written",
            entries(erased(1), 1),
            &[write(0, 0), read(MS, 8), read(5 * MS, 8)],
            &[served(true, 0, 0), (0, vec![]), (0, vec![])],
            &[&[writes(0), writes(MS)]],
        ),
    ]);
}

#[test]
fn what_happens_to_single_entries_is_counted() {
    let counts = |config: &Config, room, requests: &[Request]| counted(&entries(config.clone(), room), requests);
    let none = MappingStats { pages: 8, capacity: 1, cached: 1, ..MappingStats::default() };
    let stats = counts(&drive(1), 1, &[write(0, 0), read(MS, 8), read(WRITE_BACK + 1_000, 1)]);
    assert_eq!(stats, MappingStats { misses: 3, unread: 1, write_backs: 1, flash_reads: 3, flash_programs: 1, ..none });
    let stats = counts(&drive(1), 2, &[write(0, 0), write(MS, 1), read(2 * MS, 8), read(4 * MS, 9)]);
    let two = MappingStats { capacity: 2, cached: 2, ..none };
    assert_eq!(stats, MappingStats { misses: 4, write_backs: 1, flash_reads: 5, flash_programs: 1, ..two });
    let stats = counts(&drive(1), 1, &[read(0, 0), read(10_000, 1), read(20_000, 1)]);
    assert_eq!(stats, MappingStats { hits: 1, delayed_hits: 1, misses: 2, full_waits: 1, flash_reads: 2, ..none });
    // Entry 1 is in memory when its page has moved, and that of page 3 is not.
    let moves = [write(0, 0), write(MS, 2), read(2 * MS, 1), read(3 * MS, 8), read(9 * MS, 8)];
    let stats = counts(&collecting(1), 3, &moves);
    assert!(stats.moves_cached == 1 && stats.updates + stats.pending == 1, "{stats:?}");
}

#[test]
fn lost_changes_of_single_entries_are_found() {
    let found = |config: Config, defect, requests: &[Request]| {
        let mut simulation = simulation(&config);
        simulation.storage_mut().plant_in_map(defect);
        requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
        simulation.finish().expect_err("a planted defect").to_string()
    };
    let dropped = found(entries(drive(1), 1), PlantedInMap::DropsDirtyPages, &[write(0, 0), read(MS, 8)]);
    assert!(dropped.contains("flash has version 0 of translation page 0, of which version 1 is the last"), "{dropped}");
    let forgotten =
        found(entries(collecting(1), 1), PlantedInMap::ForgetsMoves, &[write(0, 0), write(MS, 1), read(2 * MS, 8), read(6 * MS, 9)]);
    assert!(forgotten.contains("of translation page 0"), "{forgotten}");
}

/// Sixteen pages exported, of two translation pages, which lie in block 4. Three blocks are free; a job starts with fewer.
fn collecting(room: u64) -> Config {
    changed(filled(one_die()), |c| {
        c.ftl.map_cache_bytes = room * PAGE;
        c.ftl.map_entry_bytes = 512;
        c.ftl.frontier = Frontier::Shared;
        (c.gc.soft, c.gc.scope, c.gc.priority) = (3.0, Scope::None, Priority::Host);
    })
}

/// The two writes fill block 4. The write-back of their translation page, for the read, takes block 5, so that a job is wanted: of block 0, where
/// pages 2 and 3 are left. It begins behind the read, which waits for nothing else.
const BEFORE_THE_JOB: u64 = 2 * MS + WRITE + 2 * READ;
const MOVE: u64 = READ + WRITE;
const JOB_ENDS: u64 = BEFORE_THE_JOB + 2 * MOVE + 1_500_000;

fn up_to_the_job(requests: &[Request]) -> Vec<Request> {
    [&[write(0, 0), write(MS, 1), read(2 * MS, 8)], requests].concat()
}

fn stages_up_to_the_job() -> Vec<Stage> {
    let moves = [BEFORE_THE_JOB, BEFORE_THE_JOB + MOVE].map(|at| [reads(at), writes(at + READ)]).concat();
    let before = [reads(0), writes(READ), writes(MS), writes(2 * MS), reads(2 * MS + WRITE), reads(2 * MS + WRITE + READ)];
    [before.concat(), moves.concat(), vec![array(0, JOB_ENDS - 1_500_000, JOB_ENDS)]].concat()
}

fn collection_case(name: &'static str, requests: &[Request], responses: &[(u64, Vec<(Part, u64)>)], stages: &[[Stage; 2]]) -> Case {
    let first = [served(true, READ, 0), served(true, 0, 0), served(false, WRITE + READ, 0)];
    let stages = [stages_up_to_the_job(), stages.concat()].concat();
    Case { name, config: collecting(1), requests: up_to_the_job(requests), responses: [&first, responses].concat(), stages }
}

#[test]
fn entries_of_moved_pages_change_in_flash_once_their_block_is_erased() {
    play_all(&[
        collection_case(
            "the entries of two moves are changed together",
            &[read(6 * MS, 9)],
            &[hit()],
            &[reads(JOB_ENDS), writes(JOB_ENDS + READ), reads(6 * MS)],
        ),
        collection_case(
            "a command that brings the translation page into memory meanwhile has them changed there",
            &[read(JOB_ENDS + 10_000, 0)],
            // The translation page is read twice.
            &[served(false, 2 * READ - 10_000, 0)],
            &[reads(JOB_ENDS), reads(JOB_ENDS + READ), reads(JOB_ENDS + 2 * READ)],
        ),
        collection_case(
            "or before that: nothing is written",
            // It comes during the erase. Its page is read as soon as that has ended.
            &[read(JOB_ENDS - 10_000, 0), read(6 * MS, 1)],
            &[(10_000 + 2 * READ, vec![(Mapping, 10_000 + READ), (Array, 25_000), (Transfer, 102_400)]), hit()],
            &[reads(JOB_ENDS), reads(JOB_ENDS + READ), reads(6 * MS)],
        ),
    ]);
}

fn counted(config: &Config, requests: &[Request]) -> MappingStats {
    let mut simulation = simulation(config);
    requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
    simulation.run_to_idle().unwrap();
    let stats = simulation.storage().stats(simulation.now()).mapping.expect("part of the table is in flash");
    simulation.finish().unwrap();
    stats
}

#[test]
fn what_happens_is_counted() {
    let none = MappingStats { pages: 8, capacity: 1, cached: 1, ..MappingStats::default() };
    let stats = counted(&drive(1), &[write(0, 0), read(MS, 1), read(2 * MS, 8), write(4 * MS, 9)]);
    let expected = MappingStats { dirty: 1, hits: 2, misses: 2, write_backs: 1, flash_reads: 2, flash_programs: 1, ..none };
    assert_eq!(stats, expected);
    let stats = counted(&drive(1), &[read(0, 0), read(10_000, 1), read(20_000, 8)]);
    assert_eq!(stats, MappingStats { hits: 1, delayed_hits: 1, misses: 2, full_waits: 1, flash_reads: 2, ..none });
    let stats = counted(&drive(2), &[pages(write(0, 7), 2), read(150_000, 7)]);
    let two = MappingStats { capacity: 2, cached: 2, ..none };
    assert_eq!(stats, MappingStats { dirty: 2, hits: 1, misses: 2, order_waits: 1, flash_reads: 2, ..two });
    let stats = counted(&erased(2), &[write(0, 0), pages(write(MS, 8), 8)]);
    assert_eq!(stats, MappingStats { dirty: 2, misses: 2, unread: 2, ..two });
    let none = MappingStats { pages: 2, capacity: 1, cached: 1, ..MappingStats::default() };
    let before = MappingStats { hits: 1, misses: 2, write_backs: 1, moves_gathered: 1, flash_reads: 2, flash_programs: 1, ..none };
    let stats = counted(&collecting(1), &up_to_the_job(&[read(6 * MS, 9)]));
    assert_eq!(stats, MappingStats { hits: 2, updates: 1, flash_reads: 3, flash_programs: 2, ..before });
    // Three pages of block 0 are left to be moved: the changes of two go with that of the first. It waits, as the job has gained one page.
    let stats = counted(&collecting(1), &[write(0, 0), write(MS, 4), read(2 * MS, 8), read(8 * MS, 9)]);
    assert_eq!(stats, MappingStats { hits: 2, pending: 1, moves_gathered: 2, ..before });
    // During the erase the change in flash is still to come.
    let stats = counted(&collecting(1), &up_to_the_job(&[Request { kind: RequestKind::Flush, length: 0, ..read(JOB_ENDS - 1, 0) }]));
    assert_eq!(stats, MappingStats { pending: 1, ..before });
    // With memory for both nothing is written. The third write takes a block; page 3 is moved.
    let requests = [write(0, 0), write(MS, 1), write(2 * MS, 2), read(6 * MS, 9)];
    let stats = counted(&collecting(2), &requests);
    assert_eq!(stats, MappingStats { capacity: 2, cached: 2, dirty: 1, hits: 2, misses: 2, moves_cached: 1, flash_reads: 2, ..none });
}

/// A program of a write buffer that has all units of a translation page needs none of its entries. Eight units of 512 bytes fill a program, and
/// have their entries in one translation page.
#[test]
fn a_program_of_all_units_of_a_translation_page_does_not_read_it() {
    let config = changed(drive(1), |c| {
        c.ftl.map_unit_bytes = Some(512);
        c.ftl.map_entry_bytes = 64;
        (c.ftl.map_cache_bytes, c.device.overprovisioning) = (512, 0.7);
        c.buffer = protected_buffer(8 * PAGE, 0);
    });
    let stats = counted(&config, &[write(0, 1), read(2 * MS, 9)]);
    assert_eq!((stats.misses, stats.unread, stats.write_backs, stats.flash_reads), (2, 1, 1, 1), "{stats:?}");
}

/// Pages are programmed by a write buffer one by one. That of page 7 has its entry in memory, but not all that the older read needs: it waits until
/// the read has gone on.
#[test]
fn a_program_of_a_write_buffer_does_not_pass_an_older_read_of_its_page() {
    let buffer = protected_buffer(8 * PAGE, 1_000);
    play_all(&[case(
        "the program goes behind the read",
        changed(drive(2), |c| c.buffer = buffer),
        &[read(0, 0), pages(read(MS, 7), 2), write(MS + 10_000, 7), read(3 * MS, 1)],
        &[miss(), served(false, READ, READ), (1_000, vec![(Part::Dram, 1_000)]), hit()],
        &[&[reads(0), reads(READ), reads(MS), reads(MS + READ), reads(MS + 2 * READ)], &[writes(MS + 3 * READ), reads(3 * MS)]],
    )]);
}

const UNIT: u64 = 1024;

/// Four units of 1 KiB fill a program of the write buffer. A translation page has the entries of eight, and there is memory for two of them.
fn buffered_units() -> Config {
    changed(drive(2), |c| {
        c.ftl.map_unit_bytes = Some(UNIT as u32);
        (c.ftl.map_entry_bytes, c.ftl.map_cache_bytes) = (128, 2 * UNIT);
        c.device.overprovisioning = 0.7;
        c.buffer = protected_buffer(8 * PAGE, 1_000);
    })
}

fn units(request: Request, first: u64, count: u64) -> Request {
    Request { offset: first * UNIT, length: count * UNIT, ..request }
}

/// The program of units 8, 9, 0 and 1 waits for two translation pages. The trim of unit 9 needs the first of these only, and waits for the program:
/// else that would bring back what is trimmed.
#[test]
fn a_trim_does_not_pass_an_older_program_of_a_write_buffer() {
    let requests =
        [units(write(0, 0), 8, 2), units(write(10_000, 0), 0, 2), units(trim(20_000, 0, 1), 9, 1), units(read(5 * MS, 0), 30, 1)];
    let mut simulation = simulation(&buffered_units());
    requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
    simulation.run_to_idle().unwrap();
    assert_eq!(simulation.storage().stats(simulation.now()).mapping.map(|stats| stats.order_waits), Some(1));
    assert_eq!([8, 9].map(|unit| simulation.ssd().has_data(Lpn(unit))), [true, false]);
    simulation.finish().unwrap();
}

/// The program of units 0 to 3 waits for their translation page. That of units 16 to 19 has its entries in memory, and does not wait for it.
#[test]
fn programs_of_a_write_buffer_do_not_wait_for_each_other() {
    let programs = [units(write(MS, 0), 0, 4), units(write(MS + 10_000, 0), 16, 4)];
    let stats = counted(&buffered_units(), &[&[units(read(0, 0), 16, 1)], &programs[..], &[units(read(5 * MS, 0), 30, 1)]].concat());
    assert_eq!((stats.misses, stats.hits, stats.order_waits), (3, 1, 0), "{stats:?}");
}

/// Translation pages are pages like others for GC: here it moves one.
#[test]
fn translation_pages_are_moved() {
    let config = collecting(2);
    // Block 4 has both translation pages, of which neither changes in flash, and of the other two pages none is left.
    let requests = [0, 1, 0, 1, 0, 1, 0].into_iter().zip(0..).map(|(page, at)| write(5 * MS * at, page)).collect::<Vec<_>>();
    let stats = counted(&config, &requests);
    assert!(stats.pages_moved > 0 && stats.flash_programs == 0, "{stats:?}");
}

/// Programs of translation pages count in the numerator of write amplification alone.
#[test]
fn write_amplification_counts_the_table() {
    let mut simulation = simulation(&drive(1));
    for request in [write(0, 0), write(MS, 8), write(2 * MS, 0), write(3 * MS, 8)] {
        simulation.submit(request).unwrap();
    }
    let result = simulation.finish().unwrap();
    let mapping = result.mapping.unwrap();
    assert_eq!((result.flash.host_programs, mapping.flash_programs, mapping.flash_reads, mapping.hit_ratio), (4, 3, 4, Some(0.0)));
    assert_eq!((result.flash.programs, result.flash.reads, result.gc.write_amplification), (7, 4, Some(1.75)));
    assert_eq!(result.breakdown_ns.all.unwrap().mapping, (4.0 * 127_400.0 + 3.0 * 302_400.0) / 4.0);
}

/// Of a drive that is larger than it needs to be, by a workload.
fn workload(room: u64, change: impl FnOnce(&mut Config)) -> Plan {
    let mut config = changed(drive(room), |c| {
        (c.device.blocks_per_plane, c.device.channels) = (512, 2);
        c.workload.queue_depth = 8;
        c.workload.request_kb = 4.0;
    });
    change(&mut config);
    Plan { requests: Some(20_000), verify: Verify::End, ..Plan::new(config, 3) }
}

/// 2,048 pages are exported, which 256 translation pages map.
const TABLE: u64 = 256;

#[test]
fn with_memory_for_the_whole_table_each_translation_page_is_missed_once() {
    for allocation in [Allocation::default(), Allocation::Dynamic] {
        let result = run(&workload(TABLE, |c| c.ftl.allocation = allocation), &Control::default()).unwrap();
        let mapping = result.mapping.unwrap();
        assert_eq!((mapping.pages, mapping.misses, mapping.hits, mapping.write_backs, mapping.updates), (TABLE, TABLE, 19_744, 0, 0));
    }
}

#[test]
fn uniform_requests_hit_as_much_of_the_table_as_is_in_memory() {
    for policy in [MapCachePolicy::Lru, MapCachePolicy::Fifo, MapCachePolicy::Clock] {
        for room in [16, 64, 192] {
            let result = run(&workload(room, |c| c.ftl.map_cache_policy = policy), &Control::default()).unwrap();
            let mapping = result.mapping.unwrap();
            let plan = workload(room, |c| (c.ftl.map_cache_policy, c.ftl.map_cache_unit) = (policy, MapCacheUnit::Entry));
            let single = run(&plan, &Control::default()).unwrap().mapping.unwrap();
            assert!(single.capacity > mapping.capacity && single.hits + single.misses >= 20_000, "{single:?}");
            assert!(single.write_backs > 0 && single.moves_cached + single.moves_gathered > 100, "{single:?}");
            let share = room as f64 / TABLE as f64;
            // Until the memory is full there are fewer hits: by at most as many as it has pages.
            let slack = 3.0 * (share * (1.0 - share) / 20_000.0).sqrt() + room as f64 / 20_000.0;
            assert!((mapping.hit_ratio.unwrap() - share).abs() < slack, "{policy:?}, {room}: {mapping:?}");
            assert!(mapping.write_backs > 0 && mapping.updates > 0 && mapping.moves_cached > 0, "{mapping:?}");
        }
    }
}

/// Which uses hit depends on their order alone, not on when flash is done.
#[test]
fn hits_do_not_depend_on_times() {
    let hits = |change: fn(&mut Config)| {
        let config = changed(drive(3), |c| {
            c.device.blocks_per_plane = 512;
            change(c);
        });
        let mut rng = Rng::new(5, "test");
        let mut simulation = Simulation::new(&Plan { verify: Verify::End, ..plan(config) }, &Control::default()).unwrap();
        for at in 0..2_000 {
            let kind = if rng.chance(0.4) { RequestKind::Write } else { RequestKind::Read };
            simulation.submit(Request { kind, ..pages(read(at * 50_000, rng.below(80)), 1 + rng.below(20)) }).unwrap();
        }
        let mapping = simulation.finish().unwrap().mapping.unwrap();
        (mapping.hits, mapping.misses)
    };
    let base = hits(|_| ());
    assert!(base.0 > 300 && base.1 > 300, "{base:?}");
    assert_eq!(hits(|c| c.device.read_ns = 1_000_000), base);
    assert_eq!(hits(|c| c.device.transfer_ps_per_byte = 0), base);
}

/// GC that moves more than half of each victim, and entries that are all over the table: it gains more than the table takes.
#[test]
fn a_full_drive_goes_on() {
    for (room, unit) in [(1, MapCacheUnit::Page), (8, MapCacheUnit::Page), (8, MapCacheUnit::Entry)] {
        let mut plan = workload(room, |c| {
            c.device.overprovisioning = 0.1;
            (c.device.blocks_per_plane, c.device.pages_per_block) = (64, 16);
            c.ftl.map_entry_bytes = 64;
            c.workload.read_share = 0.0;
            (c.gc.soft, c.ftl.map_cache_unit) = (2.0, unit);
        });
        plan.requests = Some(30_000);
        validate(&plan.config).unwrap();
        let result = run(&plan, &Control::default()).unwrap();
        let (mapping, gc) = (result.mapping.unwrap(), result.gc);
        assert!(gc.pages_moved > 30_000 && mapping.updates > 1_000, "{mapping:?} {gc:?}");
        // Of each page that GC gains the table takes at most half, and what programs take GC has gained.
        let gained = 16 * gc.jobs - gc.pages_moved;
        // What jobs that have not ended have moved counts as lost until they have.
        assert!(mapping.updates <= gained / 2 + 16, "{mapping:?} {gc:?}");
    }
}

/// A drive knows its translation pages when it is loaded again; one with its table in memory, or with others, does not load it.
#[test]
fn saved_states_have_translation_pages() {
    let config = collecting(1);
    let prepared = |config: &Config| prepare(config, None, Own::default(), 1, &|_, _| Ok(())).unwrap().0;
    let mut bytes = Vec::new();
    prepared(&config).save(&config, &mut bytes).unwrap();
    let loaded = Ftl::load(&config, bytes.as_slice()).unwrap();
    loaded.check().unwrap();
    assert!((16..18).all(|unit| loaded.lookup(Lpn(unit)).is_some()), "two translation pages");
    assert_eq!((loaded.host_pages(), loaded.mapped_pages()), (16, 18));
    // How much of the table is in memory may differ.
    Ftl::load(&collecting(2), bytes.as_slice()).unwrap();
    for change in [(|c| c.ftl.map_cache_bytes = 0) as fn(&mut Config), |c| c.ftl.map_entry_bytes = 256] {
        let refused = Ftl::load(&changed(collecting(1), change), bytes.as_slice()).err().unwrap();
        assert!(refused.contains("ftl.map_cache_bytes"), "{refused}");
    }
}

/// Of a drive that is filled in part, the translation pages with entries of that part are in flash.
#[test]
fn ranges_are_written_with_their_translation_pages() {
    let config = changed(drive(1), |c| c.ftl.precondition.kind = PreconditionKind::Ranges);
    let (ftl, report) = prepare(&config, Some(&[(0, PAGE), (9 * PAGE, 9 * PAGE)]), Own::default(), 1, &|_, _| Ok(())).unwrap();
    let written: Vec<u32> = (64..72).filter(|&unit| ftl.lookup(Lpn(unit)).is_some()).collect();
    assert_eq!((written, report.pages_mapped), (vec![64, 65, 66], 10), "pages 0 and 9 to 17");
    ftl.check().unwrap();
}

/// The units of the table that only fill the programs of all pools hold nothing.
#[test]
fn what_fills_the_last_programs_has_no_data() {
    let config = changed(drive(1), |c| c.device.channels = 3);
    let (ftl, report) = prepare(&config, None, Own::default(), 1, &|_, _| Ok(())).unwrap();
    // 192 pages are exported, 24 hold the table; then all is even. With entries for nine pages 22 do, and two are left over.
    assert_eq!((ftl.geometry().logical_units, ftl.mapped_pages(), report.pages_mapped), (216, 216, 192));
    let (ftl, _) = prepare(&changed(config, |c| c.ftl.map_entry_bytes = 450), None, Own::default(), 1, &|_, _| Ok(())).unwrap();
    assert_eq!((ftl.geometry().logical_units, ftl.mapped_pages()), (216, 214));
}

/// Each drive of an array has a table of its own, and a cache above it takes what it can.
#[test]
fn arrays_and_caches_have_mapping_caches_below() {
    for place in [CachePlace::Drive, CachePlace::Array] {
        let plan = workload(16, |c| {
            (c.array.level, c.array.drives, c.array.stripe_kb) = (ArrayLevel::Rais5, 3, 8.0);
            (c.cache.policy, c.cache.place, c.cache.bytes, c.cache.gc_aware) = (CachePolicy::Lru, place, 64 * PAGE, true);
        });
        let result = run(&Plan { requests: Some(3_000), ..plan }, &Control::default()).unwrap();
        let mapping = result.mapping.unwrap();
        assert_eq!((mapping.pages, mapping.capacity, mapping.cached), (3 * TABLE, 48, 48));
        assert!(mapping.misses > 1_000 && mapping.write_backs > 100, "{mapping:?}");
        assert!(result.breakdown_ns.all.unwrap().mapping > 0.0);
    }
}

/// What a warm-up did is not counted; what is in memory at the end is.
#[test]
fn a_warm_up_is_left_out() {
    let plan = workload(TABLE, |_| ());
    let whole = run(&plan, &Control::default()).unwrap();
    let rest = run(&Plan { warm_up: Some(WarmUp::Requests(10_000)), ..plan }, &Control::default()).unwrap();
    assert_eq!(rest.digest, whole.digest);
    let mapping = rest.mapping.unwrap();
    assert_eq!((mapping.misses, mapping.cached, mapping.capacity), (0, TABLE, TABLE));
    assert!(mapping.hits.abs_diff(10_000) < 10, "{mapping:?}");
}

/// Slack, idle time and pauses for reads see the table's requests as any other, and idle time goes on while entries change in flash.
#[test]
fn other_mechanisms_go_on() {
    let plan = workload(4, |c| {
        (c.gc.trigger, c.gc.idle_us, c.gc.idle_free, c.gc.scope) = (Trigger::Idle, 10, 100.0, Scope::None);
        (c.workload.queue_depth, c.workload.interarrival_us, c.workload.read_share) = (0, 5_000.0, 0.3);
        (c.scheduler.order, c.scheduler.read_bypass, c.scheduler.write_bypass) = (Order::FrFcfs, true, true);
    });
    let result = run(&Plan { requests: Some(2_000), ..plan }, &Control::default()).unwrap();
    let mapping = result.mapping.unwrap();
    assert!(result.counters["idle_jobs"] > 100 && mapping.updates > 100 && mapping.misses > 1_000, "{:?} {mapping:?}", result.counters);
}

/// The buffer's programs have units of many translation pages.
#[test]
fn a_write_buffer_waits_for_translation_pages_too() {
    let config = changed(drive(2), |c| {
        c.ftl.map_unit_bytes = Some(1024);
        (c.ftl.map_entry_bytes, c.ftl.map_cache_bytes) = (128, 2_048);
        c.device.overprovisioning = 0.6;
        c.buffer = protected_buffer(64 * 1024, 1_000);
    });
    let unit = |at: u64, unit: u64| Request { offset: 1024 * unit, length: 1024, ..write(at, 0) };
    // Four units that fill a page, of three translation pages.
    let mut simulation = simulation(&config);
    for request in [unit(0, 0), unit(0, 9), unit(0, 1), unit(0, 30), read(5 * MS, 20)] {
        simulation.submit(request).unwrap();
    }
    let result = simulation.finish().unwrap();
    let mapping = result.mapping.unwrap();
    assert_eq!((mapping.hits, mapping.misses, mapping.flash_programs), (0, 4, 2), "{mapping:?}");
    assert_eq!((result.flash.host_programs, result.buffer.unwrap().programs), (4, 1));
}

#[test]
fn planted_defects_are_found() {
    let found = |config: &Config, defect, requests: &[Request]| {
        let mut simulation = simulation(config);
        simulation.storage_mut().plant_in_map(defect);
        requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
        simulation.finish().expect_err("a planted defect").to_string()
    };
    let dropped = found(&drive(1), PlantedInMap::DropsDirtyPages, &[write(0, 0), read(MS, 8)]);
    assert!(dropped.contains("flash has version 0 of translation page 0, of which version 1 is the last"), "{dropped}");
    let dropped = found(&erased(1), PlantedInMap::DropsDirtyPages, &[write(0, 0), read(MS, 8)]);
    assert!(dropped.contains("translation page 0"), "{dropped}");
    let forgotten = found(&collecting(1), PlantedInMap::ForgetsMoves, &up_to_the_job(&[read(6 * MS, 9)]));
    assert!(forgotten.contains("of translation page 0"), "{forgotten}");
    let passed = found(&drive(2), PlantedInMap::ForgetsOrder, &[pages(write(0, 7), 2), read(150_000, 7)]);
    assert!(passed.contains("goes on before it"), "{passed}");
}

/// Where pages without data are read from flash, the translation page is still not, unless the whole table is there.
#[test]
fn pages_without_data() {
    let config = changed(erased(1), |c| c.ftl.unmapped_read = UnmappedRead::Flash);
    let whole = |config: &Config| {
        changed(config.clone(), |c| (c.ftl.precondition.kind, c.ftl.precondition.whole_table) = (PreconditionKind::None, true))
    };
    play_all(&[
        case("a read of nothing", config.clone(), &[read(0, 8)], &[hit()], &[&[reads(0)]]),
        case("and its translation page", whole(&config), &[read(0, 8)], &[miss()], &[&[reads(0), reads(READ)]]),
        case("for a single entry", entries(whole(&config), 1), &[read(0, 8)], &[miss()], &[&[reads(0), reads(READ)]]),
    ]);
    let prepared = |config: &Config, ranges| prepare(config, ranges, Own::default(), 1, &|_, _| Ok(())).unwrap().0.mapped_pages();
    assert_eq!((prepared(&erased(1), None), prepared(&whole(&erased(1)), None)), (0, 8));
    let ranges = changed(whole(&erased(1)), |c| c.ftl.precondition.kind = PreconditionKind::Ranges);
    assert_eq!(prepared(&ranges, Some(&[(0, PAGE)])), 9);
}

#[test]
fn what_cannot_be_is_refused() {
    let says = |change: fn(&mut Config)| validate(&changed(drive(1), change)).unwrap_err().to_string();
    let small = says(|c| c.ftl.map_cache_bytes = 4_095);
    assert!(small.contains("ftl.map_cache_bytes = 4095: must hold a translation page of 4096 bytes"), "{small}");
    let small = says(|c| (c.ftl.map_cache_unit, c.ftl.map_cache_bytes) = (MapCacheUnit::Entry, 511));
    assert!(small.contains("ftl.map_cache_bytes = 511: must hold an entry of 512 bytes"), "{small}");
    let part = says(|c| c.ftl.map_page_bytes = Some(6_144));
    assert!(part.contains("ftl.map_page_bytes = 6144") && part.contains("set it to 8192"), "{part}");
    // 115 of 128 pages are exported, and fifteen hold the table.
    let spare = says(|c| c.device.overprovisioning = 0.1);
    assert!(spare.contains("device.overprovisioning = 0.1: leaves 0 spare"), "{spare}");
    validate(&drive(1)).unwrap();
}
