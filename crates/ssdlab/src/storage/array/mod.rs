//! An array of drives: one address space, striped over them, with or without parity.
//!
//! | file | what happens there |
//! |---|---|
//! | `layout` | where data and parity lie |
//! | `split` | a request becomes requests to drives, and turns of rows |
//! | `update` | what a write to a row with parity reads and writes |
//! | `turns` | who has a row, and who waits for it |
//! | `complete` | requests to drives end: updates go on, then requests complete |
//! | `shadow` | the content of every sector, when asked for |
//! | `planted` | defects for tests to find |
//!
//! A request to a drive is a *part* of its request, directly or by way of an update.

mod complete;
mod layout;
mod planted;
mod shadow;
mod split;
mod turns;
mod update;

pub use planted::PlantedInArray;

use super::Store;
use crate::cache::{Groups, Homes};
use crate::config::{ArrayLevel, Config};
use crate::error::{Error, Result};
use crate::memory::Exhausted;
use crate::request::{Request, RequestKind};
use crate::slab::Slab;
use crate::stats::{ArrayResult, Completion, Times};
use crate::timeline::Origin;
use crate::units::Ns;

use layout::Layout;
use shadow::Shadow;
use split::Run;
use turns::Turns;
use update::Method;

/// A request to the array that is under way.
#[derive(Clone, Copy, Debug)]
struct Active {
    request: Request,
    /// Its serial number.
    index: u64,
    /// Whose it is.
    origin: Origin,
    /// It starts where the one before ended.
    sequential: bool,
    /// It writes sectors of its page that do not follow each other.
    scattered: bool,
    /// What it waits for: requests to drives of its own, and turns.
    pending: u32,
    /// Where the time went of what ended last.
    times: Times,
    /// When that was, and where.
    last: (Ns, u64),
}

/// Whose part a request to a drive is.
#[derive(Clone, Copy, Debug)]
enum Owner {
    /// A request's.
    Request(u32),
    /// An update's.
    Update(u32),
}

/// A request to a drive that is under way.
#[derive(Clone, Copy, Debug)]
struct Piece {
    owner: Owner,
    /// Where it is among the others: of those that end at one instant the highest counts.
    place: u64,
}

/// Drives behind one address space.
pub struct Array<D: Store> {
    drives: Vec<D>,
    layout: Layout,
    turns: Turns,
    requests: Slab<u32, Active>,
    pieces: Slab<u32, Piece>,
    /// Drives with something to dispatch, a bit each.
    touched: u64,
    /// Drives that may have completed something.
    news: u64,
    /// By drive: what a request that is being split asks of it.
    runs: Vec<Run>,
    /// By column of an update that begins: how its parity is made.
    methods: Vec<Method>,
    /// Completions of a drive, while they are looked at.
    inbox: Vec<Completion>,
    completions: Vec<Completion>,
    /// Where the request before ended, by which sequential ones are known.
    last_end: Option<u64>,
    /// Whose the next request is, where somebody said so.
    told: Option<Origin>,
    result: ArrayResult,
    shadow: Option<Box<Shadow>>,
    /// A defect for tests to find.
    planted: Option<PlantedInArray>,
}

impl<D: Store> Array<D> {
    /// An array as configured, of drives at rest.
    pub fn new(config: &Config, drives: Vec<D>) -> Self {
        let layout = Layout::new(&config.array, drives[0].page_bytes(), drives[0].exported_pages());
        assert_eq!(drives.len(), layout.drives as usize, "as many drives as configured");
        assert!(drives.len() <= u64::BITS as usize, "a bit for each drive");
        let level = if config.array.level == ArrayLevel::Rais0 { "rais0" } else { "rais5" };
        Array {
            turns: Turns::new(&layout),
            requests: Slab::default(),
            pieces: Slab::default(),
            touched: 0,
            news: 0,
            runs: vec![Run::default(); drives.len()],
            methods: Vec::new(),
            inbox: Vec::new(),
            completions: Vec::new(),
            last_end: None,
            told: None,
            result: ArrayResult { level: level.into(), drives: layout.drives, ..ArrayResult::default() },
            shadow: None,
            planted: None,
            layout,
            drives,
        }
    }

    /// The drives, one that has failed included.
    pub fn members(&self) -> &[D] {
        &self.drives
    }

    /// The drives, to change how they are watched.
    pub fn members_mut(&mut self) -> &mut [D] {
        &mut self.drives
    }

    /// What the array did so far.
    pub fn result(&self) -> &ArrayResult {
        &self.result
    }

    /// Keeps the content of every sector and checks what is read and what parity is, as the run goes; with `every_event` also recounts everything after
    /// each event. For before the first request.
    pub fn keep_content(&mut self, every_event: bool) {
        self.shadow = Some(Box::new(Shadow::new(&self.layout, every_event)));
    }

    /// What is under way, for the watchdog's report.
    pub fn describe_array(&self) -> String {
        let (held, waiting) = self.turns.counts();
        format!(
            "in the array {} requests and {} requests to drives are under way, {held} rows are held, {waiting} turns wait",
            self.requests.len(),
            self.pieces.len()
        )
    }

    /// Recounts everything that is kept twice.
    ///
    /// # Errors
    /// The first contradiction found, by verify mode as the run went or now.
    pub fn check_array(&self) -> Result<()> {
        let wrong = self.shadow.as_ref().and_then(|shadow| shadow.wrong().map(str::to_string));
        match wrong.map_or_else(|| self.recount(), Err) {
            Ok(()) => Ok(()),
            Err(sentence) => Err(Error::Simulation(format!("verify mode found a defect: {sentence}"))),
        }
    }

    fn recount(&self) -> std::result::Result<(), String> {
        self.turns.check(&self.layout)?;
        let mut pending: Vec<(u32, u32)> = self.requests.iter().map(|(place, _)| (place, 0)).collect();
        let mut add = |request: u32| match pending.iter_mut().find(|(place, _)| *place == request) {
            Some((_, count)) => {
                *count += 1;
                Ok(())
            }
            None => Err(format!("something is under way for request {request} of the array, which is not")),
        };
        for (place, turn) in self.turns.iter() {
            add(turn.request)?;
            let pieces = self.pieces.iter().filter(|(_, piece)| matches!(piece.owner, Owner::Update(update) if update == place)).count();
            if pieces != turn.pending as usize {
                return Err(format!("an update of row {} waits for {} requests to drives, not {pieces}", turn.row, turn.pending));
            }
        }
        for (_, piece) in self.pieces.iter() {
            if let Owner::Request(request) = piece.owner {
                add(request)?;
            }
        }
        match pending.iter().find(|&&(place, count)| self.requests[place].pending != count) {
            Some((place, count)) => Err(format!("request {place} of the array waits for {}, not {count}", self.requests[*place].pending)),
            None => self.shadow.as_ref().map_or(Ok(()), |shadow| shadow.check_rows(&self.layout, |row| !self.turns.is_held(row))),
        }
    }

    /// Everything that has ended is handled, and what that makes end.
    fn settle(&mut self, now: Ns) {
        while self.news != 0 {
            let drive = self.news.trailing_zeros();
            self.news &= self.news - 1;
            let mut inbox = std::mem::take(&mut self.inbox);
            self.drives[drive as usize].drain_completions(&mut inbox);
            for completion in inbox.drain(..) {
                self.piece_done(now, &completion);
            }
            self.inbox = inbox;
        }
    }

    fn accept_as(&mut self, now: Ns, index: u64, request: Request, scattered: bool) {
        let data = matches!(request.kind, RequestKind::Read | RequestKind::Write);
        let sequential = data && self.last_end == Some(request.offset);
        if data {
            self.last_end = Some(request.offset + request.length);
        }
        self.split(now, index, request, sequential, scattered);
        self.settle(now);
    }
}

impl<D: Store> Store for Array<D> {
    fn begin(&mut self) {
        // Nothing goes to a failed drive, and it does nothing by itself.
        for drive in self.layout.working() {
            self.drives[drive as usize].begin();
        }
    }

    #[inline]
    fn make_room(&mut self, pages: usize) -> std::result::Result<(), Exhausted> {
        self.requests.make_room(pages)?;
        // An update reads before it writes, on all drives together; each page of it may be a request to a drive.
        self.pieces.make_room(2 * pages)?;
        self.turns.make_room(pages)?;
        self.drives.iter_mut().try_for_each(|drive| drive.make_room(2 * pages))
    }

    fn accept(&mut self, now: Ns, index: u64, request: Request) {
        self.accept_as(now, index, request, false);
    }

    fn accept_scattered(&mut self, now: Ns, index: u64, request: Request) {
        assert!(request.kind == RequestKind::Write && request.length == u64::from(self.layout.page_bytes));
        self.accept_as(now, index, request, true);
    }

    #[inline]
    fn next_is(&mut self, origin: Origin) {
        self.told = Some(origin);
    }

    fn next_event(&self) -> Option<Ns> {
        self.layout.working().filter_map(|drive| self.drives[drive as usize].next_event()).min()
    }

    fn handle_events(&mut self, now: Ns) {
        for drive in self.layout.working() {
            if self.drives[drive as usize].next_event() == Some(now) {
                self.drives[drive as usize].handle_events(now);
                self.touched |= 1 << drive;
                self.news |= 1 << drive;
            }
        }
        self.settle(now);
    }

    /// What ends because something began may make more begin: until nothing more happens at this instant.
    fn dispatch(&mut self, now: Ns) {
        while self.touched != 0 {
            let drive = self.touched.trailing_zeros();
            self.touched &= self.touched - 1;
            self.drives[drive as usize].dispatch(now);
            self.news |= 1 << drive;
            if self.touched == 0 {
                self.settle(now);
            }
        }
        if self.shadow.as_ref().is_some_and(|shadow| shadow.every_event()) {
            let result = self.recount();
            self.shadow.as_mut().expect("just seen").note(result);
        }
    }

    fn drain_completions(&mut self, into: &mut Vec<Completion>) {
        into.append(&mut self.completions);
    }

    fn page_bytes(&self) -> u32 {
        self.layout.page_bytes
    }

    fn exported_pages(&self) -> u32 {
        self.layout.exported_pages()
    }
}

impl<D: Store> Homes for Array<D> {
    fn homes(&self) -> u32 {
        self.layout.drives
    }

    #[inline]
    fn home_of(&self, page: u32) -> Option<u32> {
        Some(self.layout.drive_of(page / self.layout.unit_pages))
    }

    fn homes_are_fixed(&self) -> bool {
        true
    }

    fn in_gc(&self, home: u32, soon: u32) -> bool {
        let drive = &self.drives[home as usize];
        self.layout.failed != Some(home) && (0..drive.homes()).any(|home| drive.in_gc(home, soon))
    }

    /// What a failed drive holds is what the others imply: nothing, if these hold nothing.
    fn holds_data(&self, page: u32) -> bool {
        let (unit, offset) = (page / self.layout.unit_pages, page % self.layout.unit_pages);
        let at = unit / self.layout.data_units() * self.layout.unit_pages + offset;
        let drive = self.layout.drive_of(unit);
        if self.layout.failed == Some(drive) {
            self.layout.working().any(|drive| self.drives[drive as usize].holds_data(at))
        } else {
            self.drives[drive as usize].holds_data(at)
        }
    }

    /// With left-symmetric parity too, units of data take turns on the drives.
    fn groups(&self) -> Groups {
        Groups { pages: self.drives[0].groups().pages, run: self.layout.unit_pages, places: self.layout.drives }
    }
}
