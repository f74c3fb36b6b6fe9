//! Arrays of drives: what is sent to which drive and when, timelines worked by hand, and random arrays under verification.
//!
//! Unless a test says otherwise a drive is that of [`common::one_die`], filled: 16 pages, 127,400 ns for a page read and 302,400 ns for a page
//! write, one after the other.

use std::collections::BTreeSet;

use crate::common::cases::{Cases, Failure, Tally, is_full};
use crate::common::pages::{ERASE, PAGE, READ, WRITE, read, write};
use crate::common::{one_die, pick, plan, random_buffer, random_config, random_host, random_queues, random_requests, simulation, wear};
use ssdlab::blocked::Served;
use ssdlab::cache::{Groups, Targets};
use ssdlab::cause::Cause;
use ssdlab::config::{
    ArrayLevel, CachePlace, CachePolicy, Capacity, Config, Padding, PreconditionKind, RebuildReads, Rotation, Trigger, UnmappedRead,
};
use ssdlab::memory::Exhausted;
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify};
use ssdlab::ssd::{Planted, Ssd};
use ssdlab::stats::{ArrayResult, Completion, Part, Times};
use ssdlab::storage::{Array, Observed, Places, PlantedInArray, Store};
use ssdlab::units::{Lpn, PoolId};
use ssdlab::views::TurnNews;

/// An array of `drives` with stripe units of `unit` pages.
fn array(level: ArrayLevel, drives: u32, unit: u32) -> Config {
    let mut config = one_die();
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config.array.level = level;
    config.array.drives = drives;
    config.array.stripe_kb = f64::from(4 * unit);
    config
}

fn rais0(drives: u32, unit: u32) -> Config {
    array(ArrayLevel::Rais0, drives, unit)
}

fn rais5(drives: u32, unit: u32) -> Config {
    array(ArrayLevel::Rais5, drives, unit)
}

fn without(mut config: Config, drive: u32) -> Config {
    config.array.degraded = Some(drive);
    config
}

fn pages(request: Request, count: u64) -> Request {
    Request { length: count * PAGE, ..request }
}

fn trim(arrival_ns: u64, page: u64, count: u64) -> Request {
    Request { kind: RequestKind::Trim, ..pages(read(arrival_ns, page), count) }
}

fn flush(arrival_ns: u64) -> Request {
    Request { arrival_ns, kind: RequestKind::Flush, offset: 0, length: 0, high_priority: false, flow: 0, handle: None }
}

/// The first bytes of a page.
fn part(request: Request, bytes: u64) -> Request {
    Request { length: bytes, ..request }
}

// ---------------------------------------------------------------------------------------------------------------------------------------
// What is sent, to drives that do nothing but take time.

/// A drive that reads in 100 ns and writes in 300 ns, any number of requests at once; trims and flushes end at once.
#[derive(Default)]
struct Fake {
    now: u64,
    /// Instants from which on the drive has no place for data, has some again, and is read-only.
    no_place: Option<(u64, u64)>,
    read_only: Option<u64>,
    /// Places taken and not given back by a level above, and rejected requests.
    held: u32,
    rejected: u32,
    log: Vec<Sent>,
    under_way: Vec<(u64, Completion)>,
    ended: Vec<Completion>,
    collects: bool,
    /// Pages whose reads would wait for GC, and the time for which GC remains busy, ns.
    refuses: Vec<(u32, u64)>,
    /// What the array is to learn of turns, and when; the turns given, and when.
    news: Vec<(u64, TurnNews)>,
    turns: Vec<(u64, u32)>,
}

/// When, what, first page and pages; bytes of a page are left away where a request is of whole pages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sent(u64, &'static str, u64, u64);

impl Fake {
    fn take(&mut self, now: u64, index: u64, request: Request, scattered: bool) {
        let Request { arrival_ns, kind, offset, length, .. } = request;
        assert_eq!(arrival_ns, now, "what is sent below arrives when it is sent");
        let whole = offset % PAGE == 0 && length % PAGE == 0;
        let (name, takes) = match kind {
            RequestKind::Read if whole => ("read", 100),
            RequestKind::Read => ("read bytes", 100),
            RequestKind::Write if scattered => ("write scattered", 300),
            RequestKind::Write if whole => ("write", 300),
            RequestKind::Write => ("write bytes", 300),
            RequestKind::Trim => ("trim", 0),
            _ => ("flush", 0),
        };
        let (at, size) = if whole { (offset / PAGE, length / PAGE) } else { (offset, length) };
        self.log.push(Sent(now, name, at, size));
        let mut times = Times::default();
        times.serve(Served::Array, takes);
        let completion = Completion {
            index,
            flow: 0,
            kind,
            sequential: false,
            offset,
            length,
            handle: None,
            arrival_ns,
            completed_ns: now + takes,
            times,
        };
        if takes == 0 {
            self.ended.push(completion);
        } else {
            self.under_way.push((now + takes, completion));
        }
    }
}

impl Places for Fake {
    fn has_place(&self, _page: u32) -> bool {
        self.no_place.is_none_or(|(from, to)| self.now < from || to <= self.now)
    }

    fn take_place(&mut self, _page: u32) {
        self.held += 1;
    }

    fn give_back_place(&mut self, _page: u32) {
        self.held -= 1;
    }

    fn is_read_only(&self) -> bool {
        self.read_only.is_some_and(|from| from <= self.now)
    }

    fn note_rejected(&mut self, _page: u32) {
        self.rejected += 1;
    }

    fn is_awaited(&self) -> bool {
        false
    }

    fn has_lost(&self) -> bool {
        false
    }

    fn awaits_place(&mut self, _now: u64, _page: u32, _waits: bool) {}
}

impl Store for Fake {
    fn begin(&mut self) {}

    fn make_room(&mut self, _pages: usize) -> Result<(), Exhausted> {
        Ok(())
    }

    fn accept(&mut self, now: u64, index: u64, request: Request) {
        self.take(now, index, request, false);
    }

    fn accept_scattered(&mut self, now: u64, index: u64, request: Request) {
        self.take(now, index, request, true);
    }

    fn next_event(&self) -> Option<u64> {
        let changes = self.no_place.into_iter().flat_map(|(from, to)| [from, to]).chain(self.read_only).filter(|&at| at > self.now);
        let news = self.news.iter().map(|&(at, _)| at).filter(|&at| at > self.now);
        self.under_way.iter().map(|&(at, _)| at).chain(changes).chain(news).min()
    }

    fn handle_events(&mut self, now: u64) {
        self.now = now;
        self.ended.extend(self.under_way.iter().filter(|(at, _)| *at == now).map(|&(_, completion)| completion));
        self.under_way.retain(|&(at, _)| at != now);
    }

    fn dispatch(&mut self, _now: u64) {}

    fn has_completed(&self) -> bool {
        !self.ended.is_empty()
    }

    fn drain_completions(&mut self, into: &mut Vec<Completion>) {
        into.append(&mut self.ended);
    }

    fn page_bytes(&self) -> u32 {
        PAGE as u32
    }

    fn exported_pages(&self) -> u32 {
        16
    }
}

impl Targets for Fake {
    fn targets(&self) -> u32 {
        2
    }

    fn target_of(&self, page: u32) -> Option<u32> {
        Some(page % 2)
    }

    fn targets_are_fixed(&self) -> bool {
        false
    }

    /// The second half is empty.
    fn holds_data(&self, page: u32) -> bool {
        page < 8
    }

    fn in_gc(&self, target: u32, _soon: u32) -> bool {
        self.collects && target == 1
    }

    fn gc_ahead(&self, page: u32) -> Option<u64> {
        self.refuses.iter().find(|(refused, _)| *refused == page).map(|&(_, ns)| ns)
    }

    fn take_turn_news(&mut self, into: &mut Vec<TurnNews>) {
        into.extend(self.news.iter().filter(|(at, _)| *at <= self.now).map(|(_, news)| news));
        self.news.retain(|(at, _)| *at > self.now);
    }

    fn give_turn(&mut self, now: u64, pool: PoolId) {
        self.turns.push((now, pool.0));
    }

    fn groups(&self) -> Groups {
        Groups { pages: 4, run: 1, places: 2 }
    }
}

/// An array of such drives and its clock.
struct Bench {
    array: Array<Fake>,
    done: Vec<Completion>,
}

impl Bench {
    fn new(config: &Config) -> Self {
        Self::of(config, (0..config.array.drives).map(|_| Fake::default()).collect())
    }

    fn of(config: &Config, drives: Vec<Fake>) -> Self {
        config.exported_bytes().unwrap();
        ssdlab::config::validate(config).unwrap();
        let mut array = Array::new(config, drives);
        array.verify(true);
        array.begin();
        Bench { array, done: Vec::new() }
    }

    /// Plays requests (in order of arrival) to the end. Returns, by drive, what was sent.
    fn play(&mut self, requests: &[Request]) -> Vec<Vec<Sent>> {
        self.play_as(requests, false)
    }

    fn play_as(&mut self, requests: &[Request], scattered: bool) -> Vec<Vec<Sent>> {
        let mut requests = requests.iter().zip(0..).peekable();
        loop {
            let due = self.array.next_event().into_iter().chain(requests.peek().map(|(request, _)| request.arrival_ns)).min();
            let Some(now) = due else { break };
            self.array.handle_events(now);
            while let Some((&request, index)) = requests.next_if(|(request, _)| request.arrival_ns == now) {
                if scattered {
                    self.array.accept_scattered(now, index, request);
                } else {
                    self.array.accept(now, index, request);
                }
            }
            self.array.dispatch(now);
            self.array.drain_completions(&mut self.done);
        }
        self.array.check().unwrap();
        self.done.sort_by_key(|completion| completion.index);
        for completion in &self.done {
            assert_eq!(completion.parts().total(), completion.completed_ns - completion.arrival_ns, "{completion:?}");
        }
        self.array.members_mut().iter_mut().map(|drive| std::mem::take(&mut drive.log)).collect()
    }
}

/// Where blocks can fail. Rows 0 1 P / 3 P 2 on three drives. Drive 2, which has the parity of row 0, has no place before 1,000 ns: a write of
/// page 0 waits until then, before its read, and a read of page 1 behind it. Drive 1 has no place from 2,000 ns on, and is read-only from 2,500 on: of
/// a write of pages 0 to 3 page 0 is written at once, with its parity, and the rest, from page 1 on, is rejected at 2,500. Then writes and trims are
/// rejected at once.
#[test]
fn data_and_parity_are_written_together_or_not_at_all() {
    let mut config = rais5(3, 1);
    (config.device.blocks_per_plane, config.device.overprovisioning, config.wear.endurance) = (16, 0.75, 9);
    let no_place = [None, Some((2_000, u64::MAX)), Some((0, 1_000))];
    let drives = no_place.map(|no_place| Fake { no_place, ..Fake::default() });
    let mut bench = Bench::of(&config, drives.into());
    bench.array.members_mut()[1].read_only = Some(2_500);
    let requests = [write(0, 0), read(10, 1), pages(write(2_000, 0), 4), trim(3_000, 0, 2), write(3_100, 0), read(3_200, 0)];
    let sent = bench.play(&requests);
    let both = || vec![Sent(1_100, "write", 0, 1), Sent(2_100, "write", 0, 1)];
    let data = [both(), vec![Sent(3_200, "read", 0, 1)]].concat();
    assert_eq!(sent, [data, [1_000, 1_000, 2_000].map(|at| Sent(at, "read", 0, 1)).into(), both()]);
    let ended: Vec<_> = bench.done.iter().map(|done| (done.completed_ns, done.is_rejected())).collect();
    assert_eq!(ended, [(1_400, false), (1_100, false), (2_500, true), (3_000, true), (3_100, true), (3_300, false)]);
    let drives = bench.array.members_mut();
    assert_eq!(drives.iter().map(|drive| drive.held).collect::<Vec<_>>(), [2, 0, 2], "a drive gives back itself what it has programmed");
    assert_eq!(drives.iter().map(|drive| drive.rejected).sum::<u32>(), 3);
}

/// Three drives with these pages whose reads would wait for GC, and for how long GC remains busy.
fn refusing(by: RebuildReads, refuses: [&[(u32, u64)]; 3]) -> Bench {
    let mut config = rais5(3, 1);
    config.array.rebuild_reads = by;
    Bench::of(&config, refuses.map(|refuses| Fake { refuses: refuses.to_vec(), ..Fake::default() }).into())
}

/// Rows 0 1 P / 3 P 2. Drive 0 refuses its page of row 0, which its others give: data 1, and parity. A read of pages 0 to 3 takes the pages of
/// rows 0 and 1 on drive 0 apart.
#[test]
fn refused_reads_are_rebuilt() {
    let mut bench = refusing(RebuildReads::Refused, [&[(0, 900)], &[], &[(0, 900)]]);
    let sent = bench.play(&[read(0, 0), read(10, 1), part(read(20, 0), 512), pages(read(30, 0), 4)]);
    let read = |at, page| Sent(at, "read", page, 1);
    assert_eq!(sent[0], [read(30, 1)]);
    assert_eq!(sent[1], [read(0, 0), read(10, 0), Sent(20, "read bytes", 0, 512), read(30, 0), read(30, 0)]);
    assert_eq!(sent[2], [read(0, 0), Sent(20, "read bytes", 0, 512), read(30, 0), read(30, 1)]);
    assert!(bench.done.iter().all(|done| done.completed_ns - done.arrival_ns == 100));
    let ArrayResult { refused_reads, rebuilt_pages, degraded_reads, shortest_waits, .. } = bench.array.result().clone();
    assert_eq!((refused_reads, rebuilt_pages, degraded_reads, shortest_waits), (3, 3, 0, 0));
}

/// The write of page 1 reads page 0 until 100, which no drive refuses to an update, and writes page and parity until 400. A refused read of page 0 waits for that, since it needs both. Page 1
/// is read from its own drive when its turn comes, and page 3, of another row, at once.
#[test]
fn rebuilt_reads_wait_for_their_turn() {
    let mut bench = refusing(RebuildReads::Refused, [&[(0, 900)], &[], &[]]);
    let sent = bench.play(&[write(0, 1), read(10, 0), read(20, 1), read(30, 3)]);
    assert_eq!(sent[0], [Sent(0, "read", 0, 1), Sent(30, "read", 1, 1)]);
    let both = [Sent(100, "write", 0, 1), Sent(400, "read", 0, 1)];
    assert_eq!(sent[1], [&both[..], &[Sent(400, "read", 0, 1)]].concat());
    assert_eq!(sent[2], both);
    assert_eq!(bench.done.iter().map(|done| done.completed_ns).collect::<Vec<_>>(), [400, 500, 500, 130]);
    assert_eq!(bench.done[1].parts().0[Part::HostQueue as usize], 390);
    assert_eq!((bench.array.result().row_waits, bench.array.result().rebuilt_pages), (2, 1));
    // A read that waits is refused, or not, when its turn comes.
    let mut bench = refusing(RebuildReads::Refused, [&[], &[(0, 900)], &[]]);
    let sent = bench.play(&[write(0, 1), read(20, 1)]);
    assert_eq!((sent[0].len(), sent[1].len(), sent[2].len()), (2, 1, 2), "drive 1 is written and not read");
}

/// Of two drives that would refuse reads of a row the one is waited for where GC remains busy for less time; the drive with the page among equals.
#[test]
fn the_shortest_of_several_waits_is_taken() {
    for (other, rebuilds) in [(None, true), (Some(499), true), (Some(500), false), (Some(501), false)] {
        let refuses: Vec<_> = other.map(|ns| (0, ns)).into_iter().collect();
        let mut bench = refusing(RebuildReads::Shortest, [&[(0, 500)], &refuses, &[(1, 1_000)]]);
        let sent = bench.play(&[read(0, 0)]);
        assert_eq!(sent.iter().map(Vec::len).collect::<Vec<_>>(), if rebuilds { [0, 1, 1] } else { [1, 0, 0] }, "{other:?}");
        let ArrayResult { refused_reads, rebuilt_pages, shortest_waits, .. } = bench.array.result().clone();
        assert_eq!((refused_reads, rebuilt_pages, shortest_waits), (1, rebuilds.into(), other.is_some().into()));
    }
}

/// Windows of a microsecond: drive 0, 1, 2, and 0 again. Whatever a drive does, it is not read in its own.
#[test]
fn a_drive_is_not_read_in_its_window() {
    let mut config = rais5(3, 1);
    (config.array.rebuild_reads, config.array.window_us) = (RebuildReads::Window, 1);
    let mut bench = Bench::of(&config, (0..3).map(|_| Fake { refuses: vec![(1, 900)], ..Fake::default() }).collect());
    let sent = bench.play(&[read(0, 0), read(999, 1), read(1_000, 0), read(1_999, 1), read(2_500, 3), read(3_000, 3)]);
    let read = |at, page| Sent(at, "read", page, 1);
    assert_eq!(sent[0], [read(1_000, 0), read(1_999, 0), read(2_500, 1)]);
    assert_eq!(sent[1], [read(0, 0), read(999, 0), read(3_000, 1)]);
    assert_eq!(sent[2], [read(0, 0), read(1_999, 0), read(3_000, 1)]);
    assert_eq!((bench.array.result().rebuilt_pages, bench.array.result().refused_reads), (3, 0));
}

/// Pools 4 and 5 of a position, and pool 7 of another. Turns are given in the order in which pools ask, at one instant by drive; a drive that ends its turn
/// and asks again is behind those that asked before.
#[test]
fn turns_are_given_in_order() {
    let mut config = rais5(3, 1);
    config.array.rotation = Rotation::Pool;
    let asks = |at: u64, pool: u32| (at, TurnNews { position: pool / 6, pool: PoolId(pool), ends: false });
    let ends = |at: u64, pool: u32| (at, TurnNews { ends: true, ..asks(at, pool).1 });
    let news = [
        vec![asks(20, 4), ends(60, 4), asks(60, 4), asks(70, 7), ends(130, 4)],
        vec![asks(10, 4), asks(10, 5), ends(20, 4), ends(50, 5)],
        vec![asks(20, 4), ends(100, 4), asks(80, 7)],
    ];
    let drives = news.map(|news| Fake { news, ..Fake::default() });
    let mut bench = Bench::of(&config, drives.into());
    // The clock of the bench goes on while something is under way.
    bench.play(&[read(0, 0), read(90, 1), read(120, 2)]);
    let turns: Vec<_> = bench.array.members_mut().iter().map(|fake| fake.turns.clone()).collect();
    assert_eq!(turns, [vec![(50, 4), (70, 7), (100, 4)], vec![(10, 4), (20, 5)], vec![(60, 4)]]);
    let ArrayResult { rotation_turns, rotation_waits, rotation_wait_ns, .. } = bench.array.result().clone();
    assert_eq!((rotation_turns, rotation_waits, rotation_wait_ns), (6, 4, 30 + 40 + 10 + 40));
}

/// What is sent for one request.
fn sent(config: &Config, request: Request) -> Vec<Vec<Sent>> {
    Bench::new(config).play(&[request])
}

/// By drive: the page read for each page of the array.
fn places(config: &Config) -> Vec<(usize, u64)> {
    let count = config.exported_bytes().unwrap() / PAGE;
    let place = |page| {
        let sent = sent(config, read(0, page));
        let mut found = sent.iter().enumerate().flat_map(|(drive, log)| log.iter().map(move |sent| (drive, sent)));
        let (drive, Sent(_, what, at, size)) = found.next().expect("something is read");
        assert_eq!((*what, *size, found.next()), ("read", 1, None));
        (drive, *at)
    };
    (0..count).map(place).collect()
}

#[test]
fn pages_lie_where_the_layouts_say() {
    // Units of two pages on three drives: 0 1 | 2 3 | 4 5, then 6 7 | ...
    assert_eq!(places(&rais0(3, 2))[..8], [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (0, 2), (0, 3)]);
    // Three drives with parity, units of a page: 0 1 P / 3 P 2 / P 4 5 / 6 7 P.
    assert_eq!(places(&rais5(3, 1))[..8], [(0, 0), (1, 0), (2, 1), (0, 1), (1, 2), (2, 2), (0, 3), (1, 3)]);
    // Four: 0 1 2 P / 4 5 P 3 / 8 P 6 7 / P 9 10 11.
    let four = [(0, 0), (1, 0), (2, 0), (3, 1), (0, 1), (1, 1), (2, 2), (3, 2), (0, 2), (1, 3), (2, 3), (3, 3)];
    assert_eq!(places(&rais5(4, 1))[..12], four);
    // Five: 0 1 2 3 P / 5 6 7 P 4 / 10 11 P 8 9.
    let five = [(0, 0), (1, 0), (2, 0), (3, 0), (4, 1), (0, 1), (1, 1), (2, 1), (3, 2), (4, 2), (0, 2), (1, 2)];
    assert_eq!(places(&rais5(5, 1))[..12], five);
    // 16 pages are five units of three: 5 x 3 x 3 pages of data.
    assert_eq!(places(&rais5(4, 3)).len(), 45);
}

#[test]
fn what_lies_together_on_a_drive_is_one_request() {
    // Eleven pages from page 1 on: drive 0 has 1, 4, 5, 8, 9 in its pages 1 to 5; drive 1 has 2, 3, 6, 7, 10, 11.
    for (name, request) in [("read", read(0, 1)), ("write", write(0, 1)), ("trim", trim(0, 1, 1))] {
        assert_eq!(sent(&rais0(2, 2), pages(request, 11)), [vec![Sent(0, name, 1, 5)], vec![Sent(0, name, 0, 6)]]);
    }
    // With parity a unit of it lies between: rows 0 1 2 P / 4 5 P 3 / 8 P 6 7.
    assert_eq!(
        sent(&rais5(4, 1), pages(read(0, 0), 9)),
        [
            vec![Sent(0, "read", 0, 3)],
            vec![Sent(0, "read", 0, 2)],
            vec![Sent(0, "read", 0, 1), Sent(0, "read", 2, 1)],
            vec![Sent(0, "read", 1, 2)],
        ]
    );
    // Bytes stay bytes.
    let bytes = Request { offset: PAGE - 512, length: 1024, ..read(0, 0) };
    assert_eq!(sent(&rais0(2, 1), bytes), [vec![Sent(0, "read bytes", PAGE - 512, 512)], vec![Sent(0, "read bytes", 0, 512)]]);
}

#[test]
fn a_flush_goes_to_all_drives_that_work() {
    let one = vec![Sent(5, "flush", 0, 0)];
    assert_eq!(sent(&rais0(2, 1), flush(5)), [one.clone(), one.clone()]);
    assert_eq!(sent(&without(rais5(3, 1), 1), flush(5)), [one.clone(), vec![], one]);
}

#[test]
fn methods_are_chosen_column_by_column() {
    // Four drives, units of two pages; row 0: pages 0 1 | 2 3 | 4 5 | P. A small write: 2 reads and 2 writes.
    let small = |page: u64| vec![Sent(0, "read", page, 1), Sent(100, "write", page, 1)];
    assert_eq!(sent(&rais5(4, 2), write(0, 0)), [small(0), vec![], vec![], small(0)]);
    assert_eq!(sent(&rais5(4, 2), write(0, 3)), [vec![], small(1), vec![], small(1)]);
    // Pages 0 to 4: of column 0 all are written, of column 1 only page 5 is not: it is read.
    assert_eq!(
        sent(&rais5(4, 2), pages(write(0, 0), 5)),
        [
            vec![Sent(100, "write", 0, 2)],
            vec![Sent(100, "write", 0, 2)],
            vec![Sent(0, "read", 1, 1), Sent(100, "write", 0, 1)],
            vec![Sent(100, "write", 0, 2)],
        ]
    );
    // All of a row: nothing is read.
    let whole = vec![Sent(0, "write", 0, 2)];
    assert_eq!(sent(&rais5(4, 2), pages(write(0, 0), 6)), [whole.clone(), whole.clone(), whole.clone(), whole]);
    // Three drives, one of two pages: the other page is less than old page and old parity.
    let writes = || vec![Sent(100, "write", 0, 1)];
    assert_eq!(sent(&rais5(3, 1), write(0, 0)), [writes(), vec![Sent(0, "read", 0, 1)], writes()]);
    // Half of it: old page and old parity, or both pages: a tie, so that it is read-modify-write. Whole pages are written.
    assert_eq!(sent(&rais5(3, 1), part(write(0, 0), 512)), [small(0), vec![], small(0)]);
    // The last page of one unit and the first of the next: two columns, two pages of parity that do not lie together in units of three.
    assert_eq!(
        sent(&rais5(4, 3), pages(write(0, 2), 2)),
        [
            small(2),
            small(0),
            vec![],
            vec![Sent(0, "read", 0, 1), Sent(0, "read", 2, 1), Sent(100, "write", 0, 1), Sent(100, "write", 2, 1)],
        ]
    );
}

#[test]
fn rows_of_one_request_go_on_side_by_side() {
    // Pages 2 to 6 of four drives, units of a page: page 2 of row 0 (0 1 2 P), all of row 1 (4 5 P 3), page 6 of row 2 (8 P 6 7).
    let mut bench = Bench::new(&rais5(4, 1));
    let mut sent = bench.play(&[pages(write(0, 2), 5)]);
    // Which row is first of those that go on at one instant is open.
    sent.iter_mut().for_each(|log| log.sort_by_key(|&Sent(at, _, page, _)| (at, page)));
    let full = Sent(0, "write", 1, 1);
    let [old_0, new_0] = [Sent(0, "read", 0, 1), Sent(100, "write", 0, 1)];
    let [old_2, new_2] = [Sent(0, "read", 2, 1), Sent(100, "write", 2, 1)];
    assert_eq!(
        sent,
        [
            vec![full.clone()],
            vec![full.clone(), old_2.clone(), new_2.clone()],
            vec![old_0.clone(), full.clone(), old_2, new_0.clone(), new_2],
            vec![old_0, full, new_0],
        ]
    );
    assert_eq!(bench.done[0].completed_ns, 400);
}

#[test]
fn updates_of_a_row_take_turns_and_those_of_other_rows_do_not() {
    // Row 0: 0 1 | 2 3 | 4 5 | P. Pages 0 and 5 share no column, page 6 is in row 1 (drive 3, parity on drive 2).
    let mut bench = Bench::new(&rais5(4, 2));
    let sent = bench.play(&[write(0, 0), write(10, 5), write(20, 6), write(30, 0)]);
    let ends: Vec<u64> = bench.done.iter().map(|completion| completion.completed_ns).collect();
    assert_eq!(ends, [400, 800, 420, 1200]);
    assert_eq!(sent[0], [Sent(0, "read", 0, 1), Sent(100, "write", 0, 1), Sent(800, "read", 0, 1), Sent(900, "write", 0, 1)]);
    assert_eq!(bench.done[1].parts().0[Part::HostQueue as usize], 390);
    assert_eq!(bench.done[3].parts().0[Part::HostQueue as usize], 770);
    assert_eq!((bench.array.result().row_waits, bench.array.result().read_modify_writes), (2, 4));
}

#[test]
fn a_read_waits_for_updates_of_its_pages_only() {
    // Row 0: 0 1 | 2 3 | 4 5 | P. Page 1 is being written until 400, page 3 from then on until 800. A read of pages 0 to 3 is cut up.
    let mut bench = Bench::new(&rais5(4, 2));
    let sent = bench.play(&[write(0, 1), write(10, 3), pages(read(20, 0), 4), read(20, 4), read(310, 1), read(400, 1)]);
    assert_eq!(
        sent[0],
        [
            Sent(0, "read", 1, 1),
            Sent(20, "read", 0, 1),
            Sent(100, "write", 1, 1),
            // The first update is done when this one comes. Those that came before have their turns behind both.
            Sent(400, "read", 1, 1),
            Sent(800, "read", 1, 1),
            Sent(800, "read", 1, 1),
        ]
    );
    assert_eq!(sent[1], [Sent(20, "read", 0, 1), Sent(400, "read", 1, 1), Sent(500, "write", 1, 1), Sent(800, "read", 1, 1)]);
    assert_eq!(sent[2], [Sent(20, "read", 0, 1)]);
    let ends: Vec<u64> = bench.done.iter().map(|completion| completion.completed_ns).collect();
    assert_eq!(ends, [400, 800, 900, 120, 900, 500]);
    assert_eq!(bench.array.result().row_waits, 4);
    let [queue, array] = [Part::HostQueue, Part::Array].map(|part| bench.done[2].parts().0[part as usize]);
    assert_eq!((queue, array), (780, 100));
}

#[test]
fn a_read_that_waits_does_not_hold_its_row() {
    // The second update begins at the instant at which the read that came before it is sent.
    let mut bench = Bench::new(&rais5(4, 1));
    let sent = bench.play(&[write(0, 0), read(10, 0), write(20, 0)]);
    assert_eq!(
        sent[0],
        [Sent(0, "read", 0, 1), Sent(100, "write", 0, 1), Sent(400, "read", 0, 1), Sent(400, "read", 0, 1), Sent(500, "write", 0, 1),]
    );
}

#[test]
fn reads_of_a_failed_drive_are_made_from_all_others() {
    // Row 0: 0 1 | 2 3 | 4 5 | P; row 1: 8 9 | 10 11 | P | 6 7.
    let others = |at: u64, pages: u64| vec![Sent(0, "read", at, pages)];
    assert_eq!(sent(&without(rais5(4, 2), 0), pages(read(0, 0), 2)), [vec![], others(0, 2), others(0, 2), others(0, 2)]);
    assert_eq!(sent(&without(rais5(4, 2), 0), read(0, 2)), [vec![], others(0, 1), vec![], vec![]]);
    // Of pages 0 to 9 the failed drive has 0, 1, 8, 9, which lie together: one read of each other drive, beside what is there itself.
    let mut bench = Bench::new(&without(rais5(4, 2), 0));
    assert_eq!(
        bench.play(&[pages(read(0, 0), 10)]),
        [
            vec![],
            vec![Sent(0, "read", 0, 4), Sent(0, "read", 0, 2)],
            vec![Sent(0, "read", 0, 4), Sent(0, "read", 0, 2)],
            vec![Sent(0, "read", 0, 4), Sent(0, "read", 2, 2)],
        ]
    );
    assert_eq!(bench.array.result().degraded_reads, 1);
    // A failed drive with the row's parity is not missed, and the bytes are those requested.
    assert_eq!(sent(&without(rais5(4, 2), 3), read(0, 0)), [others(0, 1), vec![], vec![], vec![]]);
    let bytes = Request { offset: 512, length: 1024, ..read(0, 0) };
    let some = vec![Sent(0, "read bytes", 512, 1024)];
    assert_eq!(sent(&without(rais5(3, 1), 0), bytes), [vec![], some.clone(), some]);
}

#[test]
fn a_degraded_read_takes_its_turn_among_the_updates_of_its_row() {
    // Page 1 (drive 1) is written; page 0, on the failed drive, is the sum of the others, of which two are being changed.
    let mut bench = Bench::new(&without(rais5(4, 1), 0));
    let sent = bench.play(&[write(0, 1), read(10, 0), read(20, 2)]);
    assert_eq!(sent[2], [Sent(20, "read", 0, 1), Sent(400, "read", 0, 1)]);
    assert_eq!(sent[3], [Sent(0, "read", 0, 1), Sent(100, "write", 0, 1), Sent(400, "read", 0, 1)]);
    assert_eq!((bench.done[1].completed_ns, bench.done[1].parts().0[Part::HostQueue as usize]), (500, 390));
    assert_eq!((bench.array.result().degraded_reads, bench.array.result().row_waits), (1, 1));
}

#[test]
fn degraded_writes() {
    let reads = || vec![Sent(0, "read", 0, 1)];
    let writes = |at: u64| vec![Sent(at, "write", 0, 1)];
    let both = || vec![Sent(0, "read", 0, 1), Sent(100, "write", 0, 1)];
    let lost = |drive: u32| without(rais5(4, 1), drive);
    // The failed drive has the row's parity: data as they are, in one row and in part of a page.
    assert_eq!(sent(&lost(3), write(0, 0)), [writes(0), vec![], vec![], vec![]]);
    assert_eq!(sent(&lost(3), part(write(0, 0), 512)), [vec![Sent(0, "write bytes", 0, 512)], vec![], vec![], vec![]]);
    // It has a page that is written in full: the others make parity with it, though two reads would be as many.
    assert_eq!(sent(&lost(0), write(0, 0)), [vec![], reads(), reads(), writes(100)]);
    // In part: its old content is made from all others.
    assert_eq!(sent(&lost(0), part(write(0, 0), 512)), [vec![], reads(), reads(), both()]);
    // It has a page that is not written: read-modify-write, though reading that page would be less.
    assert_eq!(sent(&lost(2), pages(write(0, 0), 2)), [both(), both(), vec![], both()]);
    // All data are written: nothing is read, and parity replaces the page that cannot be written.
    assert_eq!(sent(&lost(1), pages(write(0, 0), 3)), [writes(0), vec![], writes(0), writes(0)]);
    // Three drives: only parity is left to write, or only data.
    assert_eq!(sent(&without(rais5(3, 1), 0), pages(write(0, 0), 2)), [vec![], writes(0), writes(0)]);
    let mut bench = Bench::new(&lost(0));
    bench.play(&[write(0, 0), part(write(500, 0), 512), write(1000, 1)]);
    let result = bench.array.result();
    assert_eq!((result.reconstruct_writes, result.read_modify_writes, result.parity_writes, result.update_reads), (2, 1, 3, 2 + 3 + 2));
}

#[test]
fn writes_where_parity_has_failed_need_no_turn() {
    let mut bench = Bench::new(&without(rais5(4, 1), 3));
    let sent = bench.play(&[write(0, 0), write(10, 0), read(20, 0)]);
    assert_eq!(sent[0], [Sent(0, "write", 0, 1), Sent(10, "write", 0, 1), Sent(20, "read", 0, 1)]);
    assert_eq!((bench.array.result().row_waits, bench.array.result().parity_writes), (0, 0));
}

#[test]
fn trims_go_to_whole_rows() {
    // Row 0: 0 1 2 P, row 1: 4 5 P 3, row 2: 8 P 6 7. Pages 1 to 9: rows 1 and 2 lie wholly inside.
    let rows = vec![Sent(0, "trim", 1, 2)];
    assert_eq!(sent(&rais5(4, 1), trim(0, 1, 9)), [rows.clone(), rows.clone(), rows.clone(), rows.clone()]);
    assert_eq!(sent(&without(rais5(4, 1), 2), trim(0, 1, 9)), [rows.clone(), rows.clone(), vec![], rows]);
    assert_eq!(sent(&rais5(4, 1), trim(0, 1, 2)), vec![vec![]; 4]);
    // Without parity bytes go as they are: page 0 from its byte 512 on and page 2 up to there lie together.
    let bytes = Request { offset: 512, ..trim(0, 0, 2) };
    assert_eq!(sent(&rais0(2, 1), bytes), [vec![Sent(0, "trim", 512, PAGE)], vec![Sent(0, "trim", 0, 1)]]);
}

#[test]
fn a_trim_of_a_row_takes_its_turn() {
    // Row 1 is being written when rows 0 to 2 are trimmed, and page 4 of it is read, and written again.
    let mut bench = Bench::new(&rais5(4, 1));
    let sent = bench.play(&[write(0, 3), trim(10, 0, 9), read(20, 4), pages(write(30, 3), 3)]);
    assert_eq!(
        sent[0],
        [Sent(10, "trim", 0, 1), Sent(10, "trim", 2, 1), Sent(400, "trim", 1, 1), Sent(400, "read", 1, 1), Sent(400, "write", 1, 1)]
    );
    let ends: Vec<u64> = bench.done.iter().map(|completion| completion.completed_ns).collect();
    assert_eq!(ends, [400, 400, 500, 700]);
    assert_eq!(bench.done[1].parts().0[Part::HostQueue as usize], 390);
    assert_eq!(bench.array.result().row_waits, 3);
}

#[test]
fn scattered_sectors_of_a_page() {
    let scattered = |config: &Config| Bench::new(config).play_as(&[write(0, 0)], true);
    let passed_on = || vec![Sent(0, "write scattered", 0, 1)];
    assert_eq!(scattered(&rais0(2, 1)), [passed_on(), vec![]]);
    assert_eq!(scattered(&without(rais5(4, 1), 3)), [passed_on(), vec![], vec![], vec![]]);
    // The page's old content is read in any case, and all of it is written.
    let both = || vec![Sent(0, "read", 0, 1), Sent(100, "write", 0, 1)];
    assert_eq!(scattered(&rais5(4, 1)), [both(), vec![], vec![], both()]);
    let reads = || vec![Sent(0, "read", 0, 1)];
    assert_eq!(scattered(&without(rais5(4, 1), 0)), [vec![], reads(), reads(), both()]);
}

#[test]
fn what_a_cache_above_an_array_sees() {
    let mut array = Bench::new(&without(rais5(4, 2), 1)).array;
    assert_eq!((array.page_bytes(), array.exported_pages(), array.targets(), array.targets_are_fixed()), (4096, 48, 4, true));
    // A unit of data is on the drive of its number modulo 4, on a failed one too.
    assert_eq!([0, 1, 2, 5, 6, 8, 47].map(|page| array.target_of(page)), [0, 0, 1, 2, 3, 0, 3].map(Some));
    assert_eq!(array.groups(), Groups { pages: 4, run: 2, places: 4 });
    // The first eight pages of each drive hold data: rows 0 to 3, six pages each. Row 4: page 24 is on drive 0, page 26 on the failed one.
    assert_eq!([0, 2, 23, 24, 26].map(|page| array.holds_data(page)), [true, true, true, false, false]);
    array.members_mut()[1].collects = true;
    array.members_mut()[2].collects = true;
    assert_eq!([0, 1, 2, 3].map(|drive| array.in_gc(drive, 0)), [false, false, true, false]);
}

/// An array whose drive 0 was replaced; `rate`: bytes per us that go to the new one at most, 0 for any.
fn replaced(stripes: u32, rate: f64) -> Config {
    let mut config = without(rais5(3, 1), 0);
    (config.array.rebuild_stripes, config.array.rebuild_bytes_per_us) = (stripes, rate);
    config
}

fn one(at: u64, kind: &'static str, page: u64) -> Sent {
    Sent(at, kind, page, 1)
}

/// Rows 0 1 P / 3 P 2 / P 4 5 / 6 7 P. Row 0 is rebuilt from 0 to 400: page 0, requested at 50, waits for it. Page 3 is read at 60 from the others, and
/// written at 70, from page 2 and the new content: until 470 its row cannot be rebuilt, which takes until 870. Page 4, written at 900, waits while row
/// 2 is rebuilt, until 1,270; then its parity is on the new drive, and made from page 5. Rows 8 on hold no data.
#[test]
fn a_new_drive_is_rebuilt_beside_requests() {
    let mut bench = Bench::new(&replaced(1, 0.0));
    let sent = bench.play(&[read(50, 0), read(60, 3), write(70, 3), write(900, 4)]);
    let row = |row: u64| 1_270 + 400 * (row - 3);
    let later = |kind: &'static str, by: u64| (4..8).map(move |page| one(row(page) + by, kind, page));
    let own = [one(100, "write", 0), one(400, "read", 0), one(570, "write", 1), one(970, "write", 2), one(1_370, "write", 3)];
    // The update of row 2 and the rebuild of row 3 write at 1,370.
    let own = own.into_iter().chain(later("write", 100)).chain([one(1_370, "write", 2)]).collect::<BTreeSet<_>>();
    assert_eq!(sent[0].iter().cloned().collect::<BTreeSet<_>>(), own);
    let first = [one(0, "read", 0), one(60, "read", 1), one(170, "write", 1), one(470, "read", 1), one(870, "read", 2)];
    let first = first.into_iter().chain([one(1_270, "read", 3), one(1_370, "write", 2)]).chain(later("read", 0));
    assert_eq!(sent[1].iter().cloned().collect::<BTreeSet<_>>(), first.collect());
    let second = [one(0, "read", 0), one(60, "read", 1), one(70, "read", 1), one(470, "read", 1), one(870, "read", 2)];
    let second = second.into_iter().chain([one(1_270, "read", 3), one(1_270, "read", 2)]).chain(later("read", 0));
    assert_eq!(sent[2].iter().cloned().collect::<BTreeSet<_>>(), second.collect());
    let ends: Vec<u64> = bench.done.iter().map(|completion| completion.completed_ns).collect();
    assert_eq!(ends, [500, 160, 470, 1_670]);
    let ArrayResult { rebuilt_stripes, empty_stripes, left_stripes, rebuild_ns, degraded_reads, row_waits, .. } =
        bench.array.result().clone();
    assert_eq!((rebuilt_stripes, empty_stripes, left_stripes, rebuild_ns), (8, 8, 0, row(7) + 400));
    assert_eq!((degraded_reads, row_waits), (1, 2));
}

/// A row begins every 1,000 ns. At 3,500 rows 0 to 3 are rebuilt. Pages 6 and 9 lie together on the new drive, which has only the first of them.
/// Rows from 8 on hold no data: that is looked up when the first of them may begin.
#[test]
fn a_rebuild_keeps_to_its_rate() {
    let mut bench = Bench::new(&replaced(2, 4_096.0));
    let sent = bench.play(&[pages(read(3_500, 6), 4)]);
    let writes: Vec<Sent> = (0..8).map(|row| one(1_000 * row + 100, "write", row)).collect();
    let of = |drive: usize, kind: &str| sent[drive].iter().filter(|sent| sent.1 == kind).cloned().collect::<Vec<_>>();
    assert_eq!((of(0, "write"), of(0, "read")), (writes, vec![one(3_500, "read", 3)]));
    // Page 7 and, in place of page 9, the page beside it; page 8 beside that.
    let host = |drive: usize| of(drive, "read").into_iter().filter(|sent| sent.0 == 3_500).collect::<Vec<_>>();
    assert_eq!(
        (host(1), host(2)),
        (vec![one(3_500, "read", 4), one(3_500, "read", 3)], vec![one(3_500, "read", 4), one(3_500, "read", 4)])
    );
    assert_eq!((bench.array.result().rebuild_ns, bench.array.result().degraded_reads), (8_000, 1));
}

/// Rows are rebuilt two at a time, from 0, 400 and 800 on. Row 4 (9 P 8) is being updated from 790 on: parity is read with page 8, and both are
/// written until 1,190. So it is rebuilt until 1,590, and row 5 (P 10 11), written at 1,200, keeps its lock until then: page 10, to be written at 1,300,
/// waits. Row 6 begins then, too.
#[test]
fn rebuilt_stripes_end_in_order() {
    let mut bench = Bench::new(&replaced(2, 0.0));
    let sent = bench.play(&[write(790, 8), write(1_300, 10)]);
    let writes = [(100, 0), (100, 1), (500, 2), (500, 3), (900, 5), (1_290, 4), (1_690, 5), (1_690, 6), (1_690, 7)];
    let of_new: BTreeSet<Sent> = writes.into_iter().map(|(at, page)| one(at, "write", page)).collect();
    assert_eq!(sent[0].iter().cloned().collect::<BTreeSet<_>>(), of_new);
    let ends: Vec<u64> = bench.done.iter().map(|completion| completion.completed_ns).collect();
    assert_eq!(ends, [1_190, 1_990]);
    assert_eq!((bench.array.result().rebuild_ns, bench.array.result().row_waits), (1_990, 1));
}

// ---------------------------------------------------------------------------------------------------------------------------------------
// Drives.

/// What became of requests.
struct Played {
    done: Vec<Completion>,
    array: ArrayResult,
    /// By drive: pages read from flash and programmed for the host.
    reads: Vec<u64>,
    programs: Vec<u64>,
}

fn play(config: &Config, requests: &[Request]) -> Played {
    let mut simulation = simulation(config);
    for request in requests {
        simulation.submit(*request).unwrap();
    }
    simulation.run_to_idle().unwrap();
    let mut done = simulation.take_completions();
    done.sort_by_key(|completion| completion.index);
    let of = |count: fn(&Ssd) -> u64| simulation.storage().drives().into_iter().map(count).collect();
    let (reads, programs) = (of(|ssd| ssd.counters().host_reads), of(|ssd| ssd.counters().host_programs));
    let result = simulation.finish().unwrap();
    Played { done, array: result.array.expect("there is an array"), reads, programs }
}

impl Played {
    /// The response time of a request and its parts.
    fn response(&self, index: usize) -> (u64, Vec<(Part, u64)>) {
        use Part::{Array, BusQueue, DieQueue, Dram, Gc, HostQueue, Suspended, Transfer};
        let completion = &self.done[index];
        let all = [HostQueue, DieQueue, Gc, BusQueue, Transfer, Array, Suspended, Dram];
        let parts = all.into_iter().map(|part| (part, completion.parts().0[part as usize])).filter(|&(_, ns)| ns > 0).collect();
        (completion.completed_ns - completion.arrival_ns, parts)
    }
}

#[test]
fn a_small_write_takes_two_reads_and_two_writes() {
    let played = play(&rais5(4, 1), &[write(1_000, 0)]);
    assert_eq!(played.response(0), (READ + WRITE, vec![(Part::Transfer, 204_800), (Part::Array, 225_000)]));
    assert_eq!((played.reads, played.programs), (vec![1, 0, 0, 1], vec![1, 0, 0, 1]));
    let expected = ArrayResult {
        level: "rais5".into(),
        drives: 4,
        read_modify_writes: 1,
        update_reads: 2,
        parity_writes: 1,
        ..ArrayResult::default()
    };
    assert_eq!(played.array, expected);
    // Half a page the same: the drives see whole pages, so that none reads a page once more.
    let played = play(&rais5(4, 1), &[part(write(1_000, 0), 512)]);
    assert_eq!(played.response(0).0, READ + WRITE);
    assert_eq!((played.reads, played.programs), (vec![1, 0, 0, 1], vec![1, 0, 0, 1]));
}

#[test]
fn a_write_of_a_whole_row_reads_nothing() {
    let played = play(&rais5(4, 1), &[pages(write(0, 0), 3)]);
    assert_eq!(played.response(0), (WRITE, vec![(Part::Transfer, 102_400), (Part::Array, 200_000)]));
    assert_eq!((played.reads, played.programs), (vec![0; 4], vec![1; 4]));
    assert_eq!((played.array.full_writes, played.array.parity_writes, played.array.update_reads), (1, 1, 0));
}

#[test]
fn the_parts_of_a_write_are_those_of_its_last_read_and_its_last_write() {
    // Row 0: 0 1 | 2 3 | 4 5 | P. Page 5 is read, then drives 0, 1 and that of parity write two pages each, one after the other.
    let played = play(&rais5(4, 2), &[pages(write(0, 0), 5)]);
    let parts = vec![(Part::DieQueue, WRITE), (Part::Transfer, 204_800), (Part::Array, 225_000)];
    assert_eq!(played.response(0), (READ + 2 * WRITE, parts));
    assert_eq!((played.reads, played.programs), (vec![0, 0, 1, 0], vec![2, 2, 1, 2]));
    assert_eq!((played.array.full_writes, played.array.reconstruct_writes), (1, 1));
}

#[test]
fn waiting_for_a_row_is_waiting_in_the_host_queue() {
    let played = play(&rais5(4, 2), &[write(0, 0), write(10, 1), read(20, 1)]);
    assert_eq!(played.response(0).0, READ + WRITE);
    let update = vec![(Part::HostQueue, 429_790), (Part::Transfer, 204_800), (Part::Array, 225_000)];
    assert_eq!(played.response(1), (429_790 + READ + WRITE, update));
    let after = 2 * (READ + WRITE) - 20;
    assert_eq!(played.response(2), (after + READ, vec![(Part::HostQueue, after), (Part::Transfer, 102_400), (Part::Array, 25_000)]));
    assert_eq!(played.array.row_waits, 2);
}

#[test]
fn pages_without_data_are_read_at_once_also_before_a_write() {
    let mut config = rais5(4, 1);
    config.ftl.precondition.kind = PreconditionKind::None;
    let played = play(&config, &[write(0, 0), write(0, 1), read(500_000, 2)]);
    // The second has its turn when the first has ended; it finds parity by then.
    assert_eq!((played.response(0).0, played.response(1).0, played.response(2).0), (WRITE, WRITE + READ + WRITE, 0));
    assert_eq!(played.reads, [0, 0, 0, 1]);
}

#[test]
fn degraded_reads_and_writes_on_drives() {
    let config = without(rais5(4, 1), 0);
    // The read of the lost page takes three drives, each behind what it does for the other requests: nothing here.
    let played = play(&config, &[read(0, 0), write(1_000_000, 0), read(2_000_000, 1)]);
    assert_eq!((played.response(0).0, played.response(1).0, played.response(2).0), (READ, READ + WRITE, READ));
    assert_eq!((played.reads, played.programs), (vec![0, 3, 2, 1], vec![0, 0, 0, 1]));
    assert_eq!((played.array.degraded_reads, played.array.reconstruct_writes), (1, 1));
}

#[test]
fn a_failed_drive_has_the_free_blocks_that_it_was_prepared_with() {
    let read_one = |config: &Config| {
        let mut simulation = simulation(config);
        simulation.submit(read(0, 1)).unwrap();
        simulation.run_to_idle().unwrap();
        let free: Vec<u64> = simulation.storage().drives().iter().map(|drive| drive.ftl().blocks().free_total()).collect();
        (free, simulation.finish().unwrap().gc.free_blocks_min)
    };
    // A read takes no block: whichever drive has failed, what all have is what they were prepared with.
    let (free, least) = read_one(&without(rais5(4, 1), 0));
    assert_eq!(free, [free[0]; 4]);
    assert!(free[0] > 0, "no block is free: the test is for nothing");
    assert_eq!(u64::from(least), free[0], "one die has one pool");
}

/// Rows 0 1 P / 3 P 2: writes of pages 0 and 3 by turns, each of which reads the other page of its row and programs parity. Each takes a program on
/// drive 0, and every other one on drives 1 and 2.
fn by_turns(from: u64, count: u64) -> Vec<Request> {
    (0..count).map(|k| write(from + k * 1_000_000, [0, 3][k as usize % 2])).collect()
}

/// The ninth program of drive 0 begins after a read of another drive, at 8,127,400, and takes its third block, so that one is free: a job excludes the host from
/// then on, waits for the program until 8,429,800, and erases a block without valid data for 1.5 ms. A read of page 3 at 8,500,000 waits for that, or
/// is rebuilt at once from drives 1 and 2, which have taken two blocks and are idle.
#[test]
fn a_read_is_rebuilt_while_its_drive_collects() {
    let respond = |by| {
        let mut config = rais5(3, 1);
        config.array.rebuild_reads = by;
        let requests = [&by_turns(0, 9)[..], &[read(8_500_000, 3), read(11_000_000, 3)]].concat();
        let played = play(&config, &requests);
        ((played.response(9).0, played.response(10).0), (played.array.refused_reads, played.array.rebuilt_pages))
    };
    let wait = 8_429_800 + ERASE - 8_500_000;
    assert_eq!(respond(RebuildReads::Off), ((wait + READ, READ), (0, 0)));
    assert_eq!(respond(RebuildReads::Refused), ((READ, READ), (1, 1)));
    assert_eq!(respond(RebuildReads::Shortest), ((READ, READ), (1, 1)));
}

/// Drive 0 of three, whose pools want three free blocks, has its windows from 0 and from 60 ms. From 20 ms on it takes blocks: at the fifth program,
/// at 24,127,400, it has two left, and waits for its window. A job moves the page that is valid to a block that it takes, so that another follows. Half
/// of the threshold, rounded, is two: a ninth program, with which one block is left, makes it collect at once.
#[test]
fn a_drive_collects_in_its_window_or_if_it_must() {
    let jobs = |window_us: u64, tail_us: u64, writes: u64, times: &[u64]| {
        let mut config = rais5(3, 1);
        (config.gc.soft, config.array.window_forced) = (3.0, 0.5);
        (config.array.window_us, config.array.window_tail_us) = (window_us, tail_us);
        let mut simulation = simulation(&config);
        for request in by_turns(20_000_000, writes) {
            simulation.submit(request).unwrap();
        }
        let begun = |&now: &u64| {
            simulation.run_until(now).unwrap();
            let counters = simulation.storage().drives()[0].counters();
            (counters.jobs_for(Cause::Space), counters.outside_window)
        };
        times.iter().map(begun).collect::<Vec<_>>()
    };
    assert_eq!(jobs(0, 0, 5, &[24_127_399, 24_127_400]), [(0, 0), (1, 0)]);
    assert_eq!(jobs(20_000, 0, 5, &[59_999_999, 60_000_000, 70_000_000]), [(0, 0), (1, 0), (2, 0)]);
    assert_eq!(jobs(20_000, 0, 9, &[28_127_399, 28_127_400, 59_999_999]), [(0, 0), (1, 1), (1, 1)]);
    // In a window from 24 to 32 ms a job begins until 24.2 ms, but not with a tail from 24.1 ms on: then in the next window, from 48 ms.
    assert_eq!(jobs(8_000, 7_800, 5, &[24_127_399, 24_127_400]), [(0, 0), (1, 0)]);
    assert_eq!(jobs(8_000, 7_900, 5, &[24_127_400, 47_999_999, 48_000_000]), [(0, 0), (0, 0), (1, 0)]);
}

/// A job of which two of the victim's pages are valid has two moves and an erase to go when it begins, and a move less when a write has replaced
/// one of them.
#[test]
fn how_long_gc_remains_busy() {
    let mut config = one_die();
    config.ftl.precondition.kind = PreconditionKind::Fill;
    let mut simulation = simulation(&config);
    // Pages 0 to 3 are in block 0, and so on. The ninth program takes the third block, and the pages of block 0 had two valid first.
    for (k, page) in (0..).zip([0, 4, 8, 12, 1, 5, 9, 13, 2]) {
        simulation.submit(write(k * 1_000_000, page)).unwrap();
    }
    let mut ahead = |now, page| {
        simulation.run_until(now).unwrap();
        simulation.ssd().gc_ahead(Lpn(page))
    };
    let (begins, ends) = (8_000_000, 8_000_000 + WRITE);
    assert_eq!(ahead(begins - 1, 3), None);
    assert_eq!(ahead(begins, 3), Some(2 * (READ + WRITE) + ERASE));
    assert_eq!(ahead(ends, 3), Some(READ + WRITE + ERASE));
    let moved = ends + READ + WRITE;
    assert_eq!([ahead(moved - 1, 7), ahead(moved, 7)], [Some(READ + WRITE + ERASE), Some(ERASE)]);
    // The page moved took the block that was left: another job follows, with two pages of block 1.
    assert_eq!([ahead(moved + ERASE - 1, 7), ahead(moved + ERASE, 7)], [Some(ERASE), Some(2 * (READ + WRITE) + ERASE)]);
}

#[test]
fn trims_and_flushes_on_drives() {
    let mut simulation = simulation(&rais5(4, 1));
    // Rows 0 and 1 lie inside, of row 2 one page.
    for request in [trim(0, 0, 7), flush(10), read(20, 3), read(20, 6)] {
        simulation.submit(request).unwrap();
    }
    simulation.run_to_idle().unwrap();
    let ends: Vec<u64> = simulation.take_completions().iter().map(|completion| completion.completed_ns).collect();
    assert_eq!(ends, [0, 10, 20, 20 + READ]);
    assert_eq!(simulation.storage().drives().iter().map(|ssd| ssd.counters().trimmed_pages).collect::<Vec<_>>(), [2; 4]);
    let result = simulation.finish().unwrap();
    assert_eq!((result.requests.trim, result.requests.flush), (1, 1));
}

#[test]
fn reads_that_follow_each_other_are_sequential_across_drives() {
    let result = {
        let mut simulation = simulation(&rais0(2, 1));
        for request in [read(0, 0), read(10, 1), read(20, 2), read(30, 7)] {
            simulation.submit(request).unwrap();
        }
        simulation.finish().unwrap()
    };
    let count = |latency: &Option<ssdlab::stats::Latency>| latency.as_ref().map_or(0, |latency| latency.count);
    assert_eq!((count(&result.latency_ns.seq_read), count(&result.latency_ns.rand_read)), (2, 2));
}

#[test]
fn a_single_drive_has_no_array() {
    let mut simulation = simulation(&one_die());
    simulation.submit(write(0, 0)).unwrap();
    assert_eq!(simulation.finish().unwrap().array, None);
}

// ---------------------------------------------------------------------------------------------------------------------------------------
// Random arrays.

/// A random array of random drives, and requests of all kinds.
pub fn drawn(case: u64) -> (Config, Vec<Request>) {
    let mut rng = Rng::new(case, "arrays");
    let mut config = random_config(&mut rng);
    config.array.level = if rng.chance(0.2) { ArrayLevel::Rais0 } else { ArrayLevel::Rais5 };
    let least = if config.array.level == ArrayLevel::Rais0 { 2 } else { 3 };
    config.array.drives = least + rng.below(4) as u32;
    let drive_pages = Capacity::of(&config).expect("a valid drive").exported_units;
    let unit = (1 + rng.below(4)).min(drive_pages);
    config.array.stripe_kb = (unit * u64::from(config.device.page_bytes)) as f64 / 1024.0;
    if config.array.level == ArrayLevel::Rais5 && rng.chance(0.5) {
        config.array.degraded = Some(rng.below(config.array.drives.into()) as u32);
    }
    let count = 30 + rng.below(80);
    let mut requests = random_requests(&mut rng, &config, count);
    let exported = config.exported_bytes().expect("a valid configuration");
    let row = unit * u64::from(config.device.page_bytes) * u64::from(config.array.data_units());
    for request in requests.iter_mut().filter(|request| request.kind != RequestKind::Flush) {
        if rng.chance(0.2) {
            // Whole rows, or nearly.
            request.offset = (request.offset / row * row).min(exported - row);
            request.length = (row * (1 + rng.below(2))).min(exported - request.offset);
        }
        if rng.chance(0.1) {
            // Not even whole sectors.
            request.offset += rng.below(request.length.min(600));
            request.length = (1 + rng.below(request.length)).min(exported - request.offset);
        }
    }
    reads_around_gc(&mut Rng::new(case, "around GC"), &mut config);
    random_host(&mut Rng::new(case, "host"), &mut config);
    random_buffer(&mut Rng::new(case, "buffer"), &mut config);
    random_queues(&mut Rng::new(case, "queues"), &mut config, &mut requests);
    wear(&mut Rng::new(case, "wear"), &mut config);
    rotation(&mut Rng::new(case, "rotation"), &mut config);
    (config, requests)
}

/// In some arrays with parity and without a failed drive, reads go around GC, or the drives collect in windows, or both.
fn reads_around_gc(rng: &mut Rng, config: &mut Config) {
    let array = &mut config.array;
    if array.level != ArrayLevel::Rais5 || array.degraded.is_some() {
        return;
    }
    let draws = [rng.chance(0.4) && config.gc.trigger == Trigger::Soft, rng.chance(0.3)];
    if draws[0] {
        array.window_us = 1 + rng.below(3_000);
        array.window_tail_us = if draws[1] { rng.below(array.window_us) } else { 0 };
        array.window_forced = pick(rng, &[0.0, 0.5, 1.0]);
    }
    let by = pick(rng, &[RebuildReads::Off, RebuildReads::Refused, RebuildReads::Shortest, RebuildReads::Window]);
    array.rebuild_reads = if array.window_us == 0 && by == RebuildReads::Window { RebuildReads::Refused } else { by };
}

/// In some arrays that can, pools take turns to collect.
fn rotation(rng: &mut Rng, config: &mut Config) {
    if rng.chance(0.5) {
        return;
    }
    config.array.rotation = pick(rng, &[Rotation::Pool, Rotation::Pool, Rotation::Die, Rotation::Drive]);
    config.array.rotation_forced = rng.chance(0.3);
    if ssdlab::config::validate(config).is_err() {
        (config.array.rotation, config.array.rotation_forced) = (Rotation::Off, false);
    }
}

/// What an array has to read and write for its requests, page by page, from the requests alone.
#[derive(Debug, Default, PartialEq, Eq)]
struct Work {
    /// Pages programmed, and read (those before partial writes apart).
    programs: u64,
    reads: u64,
    read_modify_writes: u64,
    reconstruct_writes: u64,
    full_writes: u64,
    update_reads: u64,
}

/// The work for requests, counted literally.
fn work(config: &Config, requests: &[Request]) -> Work {
    let page = u64::from(config.device.page_bytes);
    let unit = config.array.unit_bytes() / page;
    let (drives, data) = (u64::from(config.array.drives), u64::from(config.array.data_units()));
    let failed = config.array.degraded.map(u64::from);
    let mut work = Work::default();
    for request in requests {
        let (start, end) = (request.offset, request.offset + request.length);
        let touched = start / page..end.div_ceil(page);
        let whole = |p: u64| start <= p * page && (p + 1) * page <= end;
        match request.kind {
            RequestKind::Read => {
                // Left-symmetric: a unit of data is on the drive of its number modulo N.
                work.reads += touched.map(|p| if Some(p / unit % drives) == failed { drives - 1 } else { 1 }).sum::<u64>();
            }
            RequestKind::Write if config.array.level == ArrayLevel::Rais0 => work.programs += touched.count() as u64,
            RequestKind::Write => {
                let columns: BTreeSet<(u64, u64)> = touched.clone().map(|p| (p / unit / data, p % unit)).collect();
                for (row, column) in columns {
                    let column: Vec<u64> = (0..data).map(|k| (row * data + k) * unit + column).collect();
                    let is_written = |p: &&u64| touched.contains(*p);
                    let written = column.iter().filter(is_written).count() as u64;
                    let not_whole = column.iter().filter(|&&p| !whole(p)).count() as u64;
                    if failed == Some((drives - 1) - row % drives) {
                        work.programs += written;
                        continue;
                    }
                    let lost = column.iter().find(|&&p| Some(p / unit % drives) == failed);
                    work.programs += written + 1 - u64::from(lost.filter(is_written).is_some());
                    let (modify, reads) = match lost.map(|p| (is_written(&p), whole(*p))) {
                        _ if not_whole == 0 => {
                            work.full_writes += 1;
                            continue;
                        }
                        Some((false, _)) => (true, written + 1),
                        Some((true, true)) => (false, not_whole),
                        Some((true, false)) => (false, drives - 1),
                        None => (written < not_whole, (written + 1).min(not_whole)),
                    };
                    *if modify { &mut work.read_modify_writes } else { &mut work.reconstruct_writes } += 1;
                    work.update_reads += reads;
                    work.reads += reads;
                }
            }
            _ => {}
        }
    }
    work
}

/// A random array as [`drawn`] gives it, with a cache in front of the array or of each drive.
pub fn drawn_with_cache(case: u64) -> (Config, Vec<Request>) {
    let (mut config, requests) = drawn(case);
    let mut rng = Rng::new(case, "arrays and caches");
    let cache = &mut config.cache;
    cache.policy = CachePolicy::ALL[1 + rng.below(4) as usize];
    cache.place = [CachePlace::Drive, CachePlace::Array][rng.below(2) as usize];
    cache.bytes = (1 + rng.below(40)) * u64::from(config.device.page_bytes);
    cache.access_ns = [0, 1_000][rng.below(2) as usize];
    cache.reads = rng.chance(0.7);
    cache.writes = rng.chance(0.8);
    cache.gc_aware = rng.chance(0.5);
    cache.soon = rng.below(3) as u32;
    cache.flush_on_idle = rng.chance(0.3);
    cache.flush_idle_us = rng.below(200);
    cache.destage_ahead = 0.3 * rng.below(2) as f64;
    cache.padding = [Padding::Off, Padding::Always, Padding::Share][rng.below(3) as usize];
    (config, requests)
}

/// Plays a case and compares what was done with what had to be (where no cache decides that).
fn run(config: &Config, requests: &[Request], verify: Verify, planted: Option<PlantedInArray>) -> Result<Tally, String> {
    let plan = Plan { seed: 7, verify, ..plan(config.clone()) };
    let mut simulation = Simulation::new(&plan, &Control::default()).map_err(|e| e.to_string())?;
    if let Some(defect) = planted {
        simulation.storage_mut().plant_in_array(defect);
    }
    for request in requests {
        simulation.submit(*request).map_err(|e| e.to_string())?;
    }
    simulation.run_to_idle().map_err(|e| e.to_string())?;
    if config.buffer.is_on() {
        // What it reads and programs may go on when the last request has been answered.
        simulation.run_until(simulation.now() + 1_000_000_000).map_err(|e| e.to_string())?;
    }
    simulation.storage().check().map_err(|e| e.to_string())?;
    let array = simulation.storage().stats(simulation.now()).array.expect("there is an array").clone();
    let at_once = config.ftl.unmapped_read == UnmappedRead::Immediate;
    let (mut programs, mut reads, mut before_writes) = (0, 0, 0);
    for (drive, ssd) in (0..).zip(simulation.storage().drives()) {
        let counters = ssd.counters();
        programs += counters.host_programs;
        reads += counters.host_reads + counters.merged_reads + counters.buffer_reads;
        reads += if at_once { counters.unmapped_reads } else { 0 };
        before_writes += counters.rmw_reads;
        if config.array.degraded == Some(drive) && (ssd.outstanding() > 0 || counters != Default::default()) {
            return Err(format!("the failed drive worked: {counters:?}"));
        }
    }
    if let Some(stats) = simulation.storage().stats(simulation.now()).buffer {
        // What came into the write buffers; some of it may be there still, or on its way.
        (programs, reads) = (stats.units, reads + stats.read_hits - stats.fills);
    }
    let ArrayResult { read_modify_writes, reconstruct_writes, full_writes, update_reads, parity_writes, .. } = array;
    let found = Work { programs, reads: reads - before_writes, read_modify_writes, reconstruct_writes, full_writes, update_reads };
    let mut expected = work(config, requests);
    // Instead of one page each, those of all other drives.
    expected.reads += array.rebuilt_pages * u64::from(config.array.drives.saturating_sub(2));
    let made = read_modify_writes + reconstruct_writes + full_writes;
    // A cache decides what is written, and when: some of that may be under way when the last request has been answered.
    let rejected: u64 = simulation.storage().drives().iter().map(|ssd| ssd.counters().rejected_writes).sum();
    // A write that waits for places is split where it waits.
    let waits: u64 = simulation.storage().drives().iter().map(|ssd| ssd.counters().place_waits).sum();
    if config.cache.policy == CachePolicy::None && rejected + waits == 0 && (found != expected || parity_writes != made) {
        return Err(format!("{found:?} and {parity_writes} pages of parity, where the requests take {expected:?}"));
    }
    let kept = simulation.storage().drives().iter().filter_map(|ssd| ssd.accepted_units()).sum::<u64>();
    if kept > 0 && !config.buffer.is_on() && config.cache.policy == CachePolicy::None {
        return Err(format!("all has ended, and places are kept for {kept} units"));
    }
    let result = simulation.finish().map_err(|e| e.to_string())?;
    if result.counters["lost_units"] == 0 && result.requests.total() + rejected != requests.len() as u64 {
        return Err(format!("{} of {} requests were completed", result.requests.total(), requests.len()));
    }
    let tally = [
        ("read_modify_writes", read_modify_writes),
        ("reconstruct_writes", reconstruct_writes),
        ("full_writes", full_writes),
        ("degraded_reads", array.degraded_reads),
        ("row_waits", array.row_waits),
        ("refused_reads", array.refused_reads),
        ("rebuilt_pages", array.rebuilt_pages),
        ("shortest_waits", array.shortest_waits),
        ("outside_window", result.counters["outside_window"]),
        ("rotation_turns", array.rotation_turns),
        ("rotation_waits", array.rotation_waits),
        ("rotation_forced", result.counters["rotation_forced"]),
        ("jobs", result.gc.jobs),
        ("trimmed_pages", result.counters["trimmed_pages"]),
        ("before_writes", before_writes),
        ("rejected_writes", rejected),
        ("place_waits", result.counters["place_waits"]),
        ("failed_programs", result.counters["failed_programs"]),
    ];
    Ok(tally.map(|(name, count)| (name.to_string(), count)).into())
}

/// Cases of `make test FULL=1`.
const CASES: u64 = 250;

/// Plays cases, of which none may fail, and returns how often things happened.
fn play_all(drawn: fn(u64) -> (Config, Vec<Request>)) -> Tally {
    let result = Cases::asked_for(CASES).run(move |case| {
        let (config, requests) = drawn(case);
        run(&config, &requests, Verify::Every, None)
    });
    let tally = result.unwrap_or_else(|Failure { case, reason }| {
        panic!("case {case} {reason}\n(SWARM=1 SWARM_FIRST={case} runs it alone)\n{:#?}", drawn(case).0)
    });
    println!("{tally:?}");
    tally
}

#[test]
fn random_arrays_keep_every_invariant() {
    let tally = play_all(drawn);
    if is_full() {
        assert!(tally.values().all(|&count| count > 100), "{tally:?}");
    }
}

#[test]
fn random_arrays_with_caches_keep_every_invariant() {
    let tally = play_all(drawn_with_cache);
    if is_full() {
        assert!(tally.values().all(|&count| count > 100), "{tally:?}");
    }
}

/// A random array with or without caches, one of whose drives was replaced.
fn drawn_with_a_new_drive(case: u64) -> (Config, Vec<Request>) {
    let (mut config, mut requests) = if case.is_multiple_of(2) { drawn(case) } else { drawn_with_cache(case) };
    let mut rng = Rng::new(case, "a new drive");
    let array = &mut config.array;
    (array.level, array.drives) = (ArrayLevel::Rais5, array.drives.max(3));
    (array.rebuild_reads, array.window_us) = (RebuildReads::Off, 0);
    (array.rotation, array.rotation_forced) = (Rotation::Off, false);
    array.degraded = Some(rng.below(array.drives.into()) as u32);
    array.rebuild_stripes = pick(&mut rng, &[1, 2, 5, 1_000]);
    array.rebuild_bytes_per_us = pick(&mut rng, &[0.0, 0.0, 5.0, 50.0, 1_000.0]);
    config.wear = Default::default();
    let exported = config.exported_bytes().expect("a valid configuration");
    requests.retain(|request| request.offset + request.length <= exported);
    (config, requests)
}

/// Plays an array until its new drive is rebuilt. Every read, parity and content is checked on the way; at the end the new drive has all that the
/// array holds.
fn rebuild_all(config: &Config, requests: &[Request], planted: Option<PlantedInArray>) -> Result<Tally, String> {
    let plan = Plan { seed: 7, verify: Verify::Every, ..plan(config.clone()) };
    let mut simulation = Simulation::new(&plan, &Control::default()).map_err(|e| e.to_string())?;
    planted.into_iter().for_each(|defect| simulation.storage_mut().plant_in_array(defect));
    let new = config.array.degraded.expect("a drive has failed") as usize;
    let held = |simulation: &Simulation, drive: usize| simulation.storage().drives()[drive].ftl().host_pages();
    if held(&simulation, new) > 0 {
        return Err("the new drive holds data before the run".into());
    }
    for request in requests {
        simulation.submit(*request).map_err(|e| e.to_string())?;
    }
    simulation.run_to_idle().map_err(|e| e.to_string())?;
    simulation.run_until(simulation.now() + 60_000_000_000).map_err(|e| e.to_string())?;
    simulation.storage().check().map_err(|e| e.to_string())?;
    let array = simulation.storage().stats(simulation.now()).array.expect("there is an array");
    let stripes = config.array.exported_bytes(Capacity::of(config).expect("valid").exported_bytes())
        / (config.array.unit_bytes() * u64::from(config.array.data_units()));
    if array.left_stripes > 0
        || array.rebuilt_stripes + array.empty_stripes != stripes
        || (array.rebuild_ns == 0) != (array.rebuilt_stripes == 0)
    {
        return Err(format!("of {stripes} stripes {array:?}"));
    }
    let after_reads = simulation.storage().drives()[new].counters().host_reads;
    let result = simulation.finish().map_err(|e| e.to_string())?;
    if result.requests.total() != requests.len() as u64 {
        return Err(format!("{} of {} requests were completed", result.requests.total(), requests.len()));
    }
    let tally = [
        ("rebuilt_stripes", array.rebuilt_stripes),
        ("empty_stripes", array.empty_stripes),
        ("degraded_reads", array.degraded_reads),
        ("row_waits", array.row_waits),
        ("reads of the new drive", after_reads),
        ("jobs", result.gc.jobs),
    ];
    Ok(tally.map(|(name, count)| (name.to_string(), count)).into())
}

#[test]
fn random_new_drives_get_all_data() {
    let play = |planted| {
        move |case| {
            let (config, requests) = drawn_with_a_new_drive(case);
            if ssdlab::config::validate(&config).is_err() {
                return Ok(Tally::new());
            }
            rebuild_all(&config, &requests, planted)
        }
    };
    let tally = Cases::asked_for(CASES).run(play(None)).unwrap_or_else(|failure| panic!("{failure:?}"));
    println!("{tally:?}");
    if is_full() {
        assert!(tally.values().all(|&count| count > 100), "{tally:?}");
    }
    let failure = Cases::up_to(CASES).run(play(Some(PlantedInArray::RebuildsWithoutOne))).expect_err("the planted defect is found");
    assert!(failure.reason.contains("has not been read"), "{failure:?}");
}

/// Plays an array whose drives collect in windows, microsecond by microsecond, in each of which a window is open or not. Outside its window a drive
/// counts the jobs that begin, and one begins only if a pool is below the lower threshold.
fn play_in_windows(config: &Config, requests: &[Request], planted: Option<Planted>) -> Result<Tally, String> {
    let plan = Plan { verify: Verify::Off, ..plan(config.clone()) };
    let mut simulation = Simulation::new(&plan, &Control::default()).map_err(|e| e.to_string())?;
    planted.into_iter().for_each(|defect| simulation.storage_mut().each_drive_mut(|drive| drive.plant(defect)));
    for request in requests {
        simulation.submit(*request).map_err(|e| e.to_string())?;
    }
    let (window_us, window_tail_us, drives) = (config.array.window_us, config.array.window_tail_us, config.array.drives);
    let only_by_free_blocks = config.gc.until == 0 && !config.wear.is_on() && !config.slc.is_on();
    let of = |drive: &Ssd| {
        let counters = drive.counters();
        [counters.jobs_for(Cause::Space), counters.outside_window, counters.erases]
    };
    let (mut before, mut tally) = (vec![[0; 3]; drives as usize], Tally::new());
    let end_us = requests.iter().map(|request| request.arrival_ns).max().unwrap_or(0) / 1_000 + 2_000;
    for us in 0..end_us {
        simulation.run_until(us * 1_000 + 999).map_err(|e| e.to_string())?;
        for (drive, (ssd, before)) in simulation.storage().drives().into_iter().zip(&mut before).enumerate() {
            let now = of(ssd);
            let [begun, outside, erases] = std::array::from_fn(|k| now[k] - before[k]);
            *before = now;
            let is_open = us / window_us % u64::from(drives) == drive as u64 && us % window_us < window_us - window_tail_us;
            if outside != if is_open { 0 } else { begun } {
                return Err(format!("{outside} of {begun} jobs of drive {drive} count as outside its window at {us} us"));
            }
            let (pools, ftl) = (&ssd.ftl().geometry().pools, ssd.ftl());
            let forced = config.array.window_forced_blocks(config.gc.soft_blocks(pools.blocks_each)) + config.uncounted_blocks();
            let least = (0..pools.count.get()).map(|pool| ftl.blocks().free_count(PoolId(pool))).min().unwrap_or(0);
            if outside > 0 && only_by_free_blocks && u64::from(least) >= u64::from(forced.max(ftl.reserve() + 1)) + erases {
                return Err(format!("drive {drive} has {least} free blocks at {us} us, and begins a job outside its window"));
            }
            *tally.entry("begun".into()).or_default() += begun;
            *tally.entry("outside".into()).or_default() += outside;
        }
    }
    Ok(tally)
}

#[test]
fn random_drives_keep_to_their_windows() {
    let play = |planted| {
        move |case| {
            let (mut config, requests) = drawn(case);
            config.gc.trigger = Trigger::Soft;
            config.array.level = ArrayLevel::Rais5;
            (config.array.drives, config.array.degraded) = (config.array.drives.max(3), None);
            config.array.window_us = config.array.window_us.max(500);
            (config.gc.soft, config.gc.until, config.array.window_forced) = (3.0, 0, 0.0);
            if ssdlab::config::validate(&config).is_err() || requests.iter().any(|r| r.offset + r.length > config.exported_bytes().unwrap())
            {
                return Ok(Tally::new());
            }
            play_in_windows(&config, &requests, planted)
        }
    };
    let tally = Cases::up_to(60).run(play(None)).unwrap_or_else(|failure| panic!("{failure:?}"));
    println!("{tally:?}");
    assert!(tally["begun"] > tally["outside"] && tally["outside"] > 0, "{tally:?}");
    let failure = Cases::up_to(60).run(play(Some(Planted::IgnoresWindow))).expect_err("the planted defect is found");
    assert!(failure.reason.contains("begins a job outside its window"), "{failure:?}");
}

#[test]
fn planted_defects_are_found() {
    let defects: [(PlantedInArray, &[&str]); 4] = [
        // An update whose data drive has failed writes parity alone: without it, it never ends.
        (PlantedInArray::SkipsParity, &["parity of stripe", "stripes are locked"]),
        (PlantedInArray::LetsReadsPass, &["a read of sector"]),
        (PlantedInArray::ForgetsARead, &["has not read it"]),
        (PlantedInArray::LeavesOneOut, &["a read of sector", "where the requests take"]),
    ];
    for (defect, says) in defects {
        for verify in [Verify::End, Verify::Every] {
            let cases = Cases::up_to(CASES);
            let failure = cases
                .run(move |case| {
                    let (config, requests) = drawn(case);
                    run(&config, &requests, verify, Some(defect))
                })
                .expect_err("a planted defect is found");
            println!("{defect:?}: case {} {}", failure.case, failure.reason);
            assert!(says.iter().any(|says| failure.reason.contains(says)), "{defect:?}: {failure:?}");
        }
    }
}
