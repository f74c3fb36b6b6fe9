//! Verify mode: the content of every sector of the array and of every drive, as a number drawn for each write of it.
//!
//! What a read of a drive returns is settled when it is sent, as a drive keeps the order of what it accepts, but it is known only when that
//! read ends. Parity is computed from what the procedure of an update has read by then and is to write, and from nothing else, so that a
//! wrong procedure gives wrong parity. A failed drive has the content that would have been written to it: what the others imply.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Owner;
use super::layout::Layout;
use super::split::Access;
use super::update::{Method, Update, Written};
use crate::request::{Request, RequestKind};

/// Bytes of a sector.
const SECTOR: u64 = 512;

/// A host request under way.
#[derive(Clone, Debug, Default)]
struct Asked {
    kind: Option<RequestKind>,
    /// Its first sector.
    first: u64,
    /// By sector: what a read is to return, or what a write brings (`None`: this sector is left as it is).
    content: Vec<Option<u64>>,
    /// By sector, of a read: the sum (exclusive or) of what was returned for it.
    got: Vec<u64>,
}

/// A request to a drive under way.
#[derive(Clone, Debug, Default)]
struct Sent {
    drive: u32,
    stands_for: u32,
    first: u64,
    /// What a read will return.
    content: Vec<u64>,
}

/// By drive and sector there: content.
type Contents = BTreeMap<(u32, u64), u64>;

/// What there is, and the first thing found wrong.
#[derive(Debug)]
pub struct Shadow {
    /// By drive and sector: what it will hold when all that was sent has ended. 0: nothing was written.
    drives: Vec<Vec<u64>>,
    /// By sector of the array: what was written last.
    latest: Vec<u64>,
    requests: Vec<Asked>,
    pieces: Vec<Sent>,
    /// By update: what it has read, and what it is to write.
    read: Vec<Contents>,
    made: Vec<Contents>,
    writes: u64,
    every_event: bool,
    wrong: Option<String>,
}

impl Shadow {
    /// An array that holds nothing.
    pub fn new(layout: &Layout, every_event: bool) -> Self {
        let on_drive = u64::from(layout.rows) * layout.unit_bytes() / SECTOR;
        Shadow {
            drives: (0..layout.drives).map(|_| vec![0; on_drive as usize]).collect(),
            latest: vec![0; (u64::from(layout.rows) * layout.row_bytes() / SECTOR) as usize],
            requests: Vec::new(),
            pieces: Vec::new(),
            read: Vec::new(),
            made: Vec::new(),
            writes: 0,
            every_event,
            wrong: None,
        }
    }

    /// Everything is to be recounted after each event.
    pub fn every_event(&self) -> bool {
        self.every_event
    }

    /// The first thing found wrong.
    pub fn wrong(&self) -> Option<&str> {
        self.wrong.as_deref()
    }

    /// Keeps the first thing found wrong.
    pub fn note(&mut self, result: Result<(), String>) {
        if self.wrong.is_none() {
            self.wrong = result.err();
        }
    }

    /// A request is accepted: what was accepted before decides what it returns.
    pub fn accepted(&mut self, layout: &Layout, place: u32, request: &Request, scattered: bool) {
        let sectors = sectors(request.offset, request.offset + request.length);
        let mut asked = Asked { kind: Some(request.kind), first: sectors.start, content: Vec::new(), got: Vec::new() };
        match request.kind {
            RequestKind::Flush => {}
            RequestKind::Trim => {
                let unit = if layout.parity { layout.row_bytes() } else { layout.page_bytes.into() };
                let (from, to) = (request.offset.div_ceil(unit) * unit, (request.offset + request.length) / unit * unit);
                if from < to {
                    self.latest[range(&self::sectors(from, to))].fill(0);
                }
            }
            RequestKind::Read => {
                asked.content = self.latest[range(&sectors)].iter().copied().map(Some).collect();
                asked.got = vec![0; asked.content.len()];
            }
            RequestKind::Write => {
                for sector in sectors {
                    // Which sectors are scattered nobody says: every other one stands for them.
                    let brought = (!scattered || sector.is_multiple_of(2)).then(|| self.draw());
                    asked.content.push(brought);
                    if let Some(content) = brought {
                        self.latest[sector as usize] = content;
                    }
                }
            }
        }
        put(&mut self.requests, place, asked);
    }

    /// A number that no other write has. Its bits are mixed, so that sums of some are not equal by chance (Steele et al. 2014, splitmix64).
    fn draw(&mut self) -> u64 {
        self.writes += 1;
        let mut z = self.writes.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A request is sent to a drive.
    pub fn sent(&mut self, layout: &Layout, owner: Owner, piece: u32, access: Access) {
        let Access { kind, drive, start, end, stands_for } = access;
        if layout.failed == Some(drive) {
            self.note(Err(format!("{kind:?} is sent to drive {drive}, which has failed")));
        }
        let sectors = sectors(start, end);
        let mut sent = Sent { drive, stands_for, first: sectors.start, content: Vec::new() };
        match (kind, owner) {
            (RequestKind::Flush, _) => {}
            (RequestKind::Read, _) => sent.content = self.drives[drive as usize][range(&sectors)].to_vec(),
            (RequestKind::Trim, _) => {
                let page = u64::from(layout.page_bytes);
                let (from, to) = (start.div_ceil(page) * page, end / page * page);
                // What the others imply of a failed drive goes with them.
                for drive in [Some(drive), layout.failed].into_iter().flatten().filter(|_| from < to) {
                    self.drives[drive as usize][range(&self::sectors(from, to))].fill(0);
                }
            }
            (RequestKind::Write, Owner::Request(place)) => {
                let asked = &self.requests[place as usize];
                for sector in sectors {
                    let at = sector_of_array(layout, drive, sector) - asked.first;
                    if let Some(content) = asked.content[at as usize] {
                        self.drives[drive as usize][sector as usize] = content;
                    }
                }
            }
            (RequestKind::Write, Owner::Update(update)) => {
                for sector in sectors {
                    match self.made[update as usize].get(&(drive, sector)) {
                        Some(&content) => self.drives[drive as usize][sector as usize] = content,
                        None => self.note(Err(format!("sector {sector} of drive {drive} is written without content"))),
                    }
                }
            }
        }
        put(&mut self.pieces, piece, sent);
    }

    /// A request to a drive has ended.
    pub fn delivered(&mut self, layout: &Layout, owner: Owner, piece: u32) {
        let Sent { drive, stands_for, first, content } = std::mem::take(&mut self.pieces[piece as usize]);
        for (sector, content) in (first..).zip(content) {
            match owner {
                Owner::Update(update) => {
                    if update as usize >= self.read.len() {
                        self.read.resize_with(update as usize + 1, Contents::new);
                    }
                    self.read[update as usize].insert((drive, sector), content);
                }
                Owner::Request(place) => {
                    let asked = &mut self.requests[place as usize];
                    let at = sector_of_array(layout, stands_for, sector) - asked.first;
                    asked.got[at as usize] ^= content;
                }
            }
        }
    }

    /// A request has completed.
    pub fn completed(&mut self, place: u32) {
        let Asked { kind, first, content, got } = std::mem::take(&mut self.requests[place as usize]);
        if kind != Some(RequestKind::Read) {
            return;
        }
        if let Some(((sector, expected), got)) = (first..).zip(content).zip(got).find(|((_, expected), got)| *expected != Some(*got)) {
            let expected = expected.unwrap_or(0);
            self.note(Err(format!("a read of sector {sector} of the array returns {got:x} where {expected:x} was written last")));
        }
    }

    /// An update has read what it needs: what it writes is made from that.
    pub fn compute(&mut self, layout: &Layout, place: u32, request: u32, update: &Update) {
        let read = self.read.get_mut(place as usize).map(std::mem::take).unwrap_or_default();
        let mut made = Contents::new();
        for column in update.columns(layout).into_iter().flatten() {
            let method = update.method(layout, column);
            for sector in column_sectors(layout, update.row, column) {
                self.compute_sector(layout, request, update, (method, column, sector), &read, &mut made);
            }
        }
        // What would be written to a failed drive is what the others imply from now on.
        if let Some(failed) = layout.failed {
            for (&(_, sector), &content) in made.iter().filter(|((drive, _), _)| *drive == failed) {
                self.drives[failed as usize][sector as usize] = content;
            }
        }
        put(&mut self.made, place, made);
    }

    /// The sector of every page that is written in a column.
    fn compute_sector(
        &mut self,
        layout: &Layout,
        request: u32,
        update: &Update,
        (method, column, sector): (Method, u32, u64),
        read: &Contents,
        made: &mut Contents,
    ) {
        let data = layout.data_units();
        let drive_of = |unit: u32| layout.drive_in_row(update.row, unit);
        let mut missing = None;
        // What was not read counts as nothing.
        let mut old = |unit: u32| {
            read.get(&(drive_of(unit), sector)).copied().unwrap_or_else(|| {
                missing = Some(unit);
                0
            })
        };
        let mut parity = if method == Method::Modify { old(data) } else { 0 };
        for unit in 0..data {
            let written = update.written(layout, unit, column);
            let is_failed = layout.failed == Some(drive_of(unit));
            let mut before = || {
                if method == Method::Recover && is_failed {
                    (0..=data).filter(|&other| other != unit).fold(0, |sum, other| sum ^ old(other))
                } else {
                    old(unit)
                }
            };
            let asked = &self.requests[request as usize];
            let brought = sector_of_array(layout, drive_of(unit), sector)
                .checked_sub(asked.first)
                .and_then(|at| asked.content.get(at as usize).copied().flatten());
            let after = match (written, brought) {
                (Written::Not, _) if method == Method::Modify => continue,
                (Written::Not, _) => before(),
                (Written::Wholly, Some(content)) => content,
                (_, brought) => brought.unwrap_or_else(&mut before),
            };
            if written != Written::Not {
                made.insert((drive_of(unit), sector), after);
            }
            parity ^= if method == Method::Modify { before() ^ after } else { after };
        }
        made.insert((drive_of(data), sector), parity);
        if let Some(unit) = missing {
            let row = update.row;
            self.note(Err(format!("an update of row {row} needs column {column} of its unit {unit} and has not read it")));
        }
    }

    /// An update has ended: the columns that it wrote add up.
    pub fn check_update(&mut self, layout: &Layout, update: &Update) {
        let mut sectors = update.columns(layout).into_iter().flatten().flat_map(|column| column_sectors(layout, update.row, column));
        let result = sectors.try_for_each(|sector| self.check_sum(update.row, sector));
        self.note(result);
    }

    /// The sum of a sector of all drives of a row is nothing: parity is the sum of the data.
    fn check_sum(&self, row: u32, sector: u64) -> Result<(), String> {
        match self.drives.iter().fold(0, |sum, drive| sum ^ drive[sector as usize]) {
            0 => Ok(()),
            sum => Err(format!("the parity of row {row} is wrong by {sum:x} in sector {sector} of the drives")),
        }
    }

    /// The drives hold what was written last, and parity is its sum, in the rows that are at rest.
    ///
    /// # Errors
    /// The first sector of which that is not so.
    pub fn check_rows(&self, layout: &Layout, at_rest: impl Fn(u32) -> bool) -> Result<(), String> {
        let unit_sectors = layout.unit_bytes() / SECTOR;
        for row in (0..layout.rows).filter(|&row| !layout.parity || at_rest(row)) {
            for sector in u64::from(row) * unit_sectors..u64::from(row + 1) * unit_sectors {
                if layout.parity && !layout.parity_failed(row) {
                    self.check_sum(row, sector)?;
                }
                for drive in (0..layout.data_units()).map(|unit| layout.drive_in_row(row, unit)) {
                    let of_array = sector_of_array(layout, drive, sector);
                    let (found, expected) = (self.drives[drive as usize][sector as usize], self.latest[of_array as usize]);
                    if found != expected {
                        return Err(format!("sector {of_array} of the array holds {found:x} where {expected:x} was written last"));
                    }
                }
            }
        }
        Ok(())
    }
}

/// The sectors that a range of bytes touches.
fn sectors(start: u64, end: u64) -> Range<u64> {
    start / SECTOR..end.div_ceil(SECTOR)
}

fn range(sectors: &Range<u64>) -> Range<usize> {
    sectors.start as usize..sectors.end as usize
}

/// The sectors of a drive that a column of a row has there.
fn column_sectors(layout: &Layout, row: u32, column: u32) -> Range<u64> {
    let page = u64::from(layout.page_bytes);
    let start = u64::from(row) * layout.unit_bytes() + u64::from(column) * page;
    sectors(start, start + page)
}

/// The sector of the array that a drive holds in a sector where it has data.
fn sector_of_array(layout: &Layout, drive: u32, sector: u64) -> u64 {
    let unit_sectors = layout.unit_bytes() / SECTOR;
    let row = (sector / unit_sectors) as u32;
    let unit = u64::from(row) * u64::from(layout.data_units()) + u64::from(layout.unit_on(row, drive));
    unit * unit_sectors + sector % unit_sectors
}

fn put<T: Default>(to: &mut Vec<T>, place: u32, item: T) {
    if place as usize >= to.len() {
        to.resize_with(place as usize + 1, T::default);
    }
    to[place as usize] = item;
}
