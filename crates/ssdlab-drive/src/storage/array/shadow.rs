//! Verify mode: the content of every sector of the array and of every drive, as a number drawn for each write of it.
//!
//! The content that a read of a drive returns is fixed when the read is sent, as a drive keeps the order of its requests; it is used when
//! the read ends. Parity is computed from nothing but what the update has read and will write, so a wrong update gives wrong parity. A
//! failed drive has the content that would have been written to it: the sum of the others.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Owner;
use super::layout::Layout;
use super::split::Access;
use super::update::{Method, Update, Written};
use ssdlab_base::request::{Request, RequestKind};

/// Bytes of a sector.
const SECTOR: u64 = 512;

/// An outstanding host request.
#[derive(Clone, Debug, Default)]
struct HostRequest {
    kind: Option<RequestKind>,
    /// The first sector of the request.
    first: u64,
    /// By sector: the content that a read must return, or that a write stores (`None`: the write leaves the sector as it is).
    content: Vec<Option<u64>>,
    /// By sector of a read: the sum (exclusive or) of the content returned so far.
    returned: Vec<u64>,
}

/// An outstanding request to a drive.
#[derive(Clone, Debug, Default)]
struct Sent {
    drive: u32,
    data_drive: u32,
    first: u64,
    /// By sector: the content that a read will return.
    content: Vec<u64>,
}

/// Contents by drive and sector of the drive.
type Contents = BTreeMap<(u32, u64), u64>;

/// The expected content, and the first contradiction found.
#[derive(Debug)]
pub struct Shadow {
    /// By drive and sector: the content once all outstanding requests have ended. 0: never written.
    drives: Vec<Vec<u64>>,
    /// By sector of the array: the content last written.
    latest: Vec<u64>,
    requests: Vec<HostRequest>,
    drive_requests: Vec<Sent>,
    /// By update: the content that it has read; `made`: the content that it will write.
    read: Vec<Contents>,
    made: Vec<Contents>,
    writes: u64,
    every_event: bool,
    wrong: Option<String>,
}

impl Shadow {
    /// Shadow of an array without data.
    pub fn new(layout: &Layout, every_event: bool) -> Self {
        let on_drive = u64::from(layout.stripes) * layout.unit_bytes() / SECTOR;
        Shadow {
            drives: (0..layout.drives).map(|_| vec![0; on_drive as usize]).collect(),
            latest: vec![0; (u64::from(layout.stripes) * layout.stripe_bytes() / SECTOR) as usize],
            requests: Vec::new(),
            drive_requests: Vec::new(),
            read: Vec::new(),
            made: Vec::new(),
            writes: 0,
            every_event,
            wrong: None,
        }
    }

    /// Verify mode recounts the redundant state after each event.
    pub fn every_event(&self) -> bool {
        self.every_event
    }

    /// The first contradiction found.
    pub fn wrong(&self) -> Option<&str> {
        self.wrong.as_deref()
    }

    /// Records a contradiction; only the first is kept.
    pub fn note(&mut self, result: Result<(), String>) {
        if self.wrong.is_none() {
            self.wrong = result.err();
        }
    }

    /// A host request is accepted, or a trim is `rejected`. The requests accepted before it decide the content that it returns.
    pub fn accepted(&mut self, layout: &Layout, place: u32, request: &Request, scattered: bool, rejected: bool) {
        let sectors = sectors(request.offset, request.offset + request.length);
        let mut host = HostRequest { kind: Some(request.kind), first: sectors.start, content: Vec::new(), returned: Vec::new() };
        match request.kind {
            RequestKind::Flush => {}
            RequestKind::Trim if rejected => {}
            RequestKind::Trim => {
                let unit = if layout.parity { layout.stripe_bytes() } else { layout.page_bytes.into() };
                let (from, to) = (request.offset.div_ceil(unit) * unit, (request.offset + request.length) / unit * unit);
                if from < to {
                    self.latest[range(&self::sectors(from, to))].fill(0);
                }
            }
            RequestKind::Read => {
                host.content = self.latest[range(&sectors)].iter().copied().map(Some).collect();
                host.returned = vec![0; host.content.len()];
            }
            RequestKind::Write => {
                for sector in sectors {
                    // A scattered request does not say which sectors it writes: here it writes every other one.
                    let brought = (!scattered || sector.is_multiple_of(2)).then(|| self.draw());
                    host.content.push(brought);
                }
            }
            _ => {}
        }
        put(&mut self.requests, place, host);
    }

    /// These bytes of a write come in: what is accepted from now on comes after them.
    pub fn comes_in(&mut self, place: u32, from: u64, to: u64) {
        let host = &self.requests[place as usize];
        for sector in sectors(from, to) {
            if let Some(content) = host.content[(sector - host.first) as usize] {
                self.latest[sector as usize] = content;
            }
        }
    }

    /// A number that no other write has. Its bits are mixed, so that sums are not equal by chance (Steele et al. 2014, splitmix64).
    fn draw(&mut self) -> u64 {
        self.writes += 1;
        let mut z = self.writes.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A request is sent to a drive. Fixes the content that a read returns, and applies writes and trims.
    pub fn sent(&mut self, layout: &Layout, owner: Owner, drive_request: u32, access: Access) {
        let Access { kind, drive, start, end, data_drive } = access;
        let needs_content = matches!(kind, RequestKind::Read | RequestKind::Write) && !matches!(owner, Owner::Rebuild(_));
        if needs_content && layout.failed_in((start / layout.unit_bytes()) as u32) == Some(drive) {
            self.note(Err(format!("{kind:?} is sent to drive {drive}, which has failed")));
        }
        let sectors = sectors(start, end);
        let mut sent = Sent { drive, data_drive, first: sectors.start, content: Vec::new() };
        match (kind, owner) {
            (RequestKind::Read, _) => sent.content = self.drives[drive as usize][range(&sectors)].to_vec(),
            (RequestKind::Trim, _) => {
                let page = u64::from(layout.page_bytes);
                let (from, to) = (start.div_ceil(page) * page, end / page * page);
                // The content of the failed drive is the sum of the others: it is trimmed with them.
                for drive in [Some(drive), layout.failed].into_iter().flatten().filter(|_| from < to) {
                    self.drives[drive as usize][range(&self::sectors(from, to))].fill(0);
                }
            }
            (RequestKind::Write, Owner::Request(place)) => {
                let host = &self.requests[place as usize];
                for sector in sectors {
                    let at = sector_of_array(layout, drive, sector) - host.first;
                    if let Some(content) = host.content[at as usize] {
                        self.drives[drive as usize][sector as usize] = content;
                    }
                }
            }
            (RequestKind::Write, Owner::Update(update) | Owner::Rebuild(update)) => {
                for sector in sectors {
                    match self.made[update as usize].get(&(drive, sector)) {
                        Some(&content) => self.drives[drive as usize][sector as usize] = content,
                        None => self.note(Err(format!("sector {sector} of drive {drive} is written without content"))),
                    }
                }
            }
            _ => {}
        }
        put(&mut self.drive_requests, drive_request, sent);
    }

    /// A request to a drive has ended.
    pub fn delivered(&mut self, layout: &Layout, owner: Owner, drive_request: u32) {
        let Sent { drive, data_drive, first, content } = std::mem::take(&mut self.drive_requests[drive_request as usize]);
        for (sector, content) in (first..).zip(content) {
            match owner {
                Owner::Update(update) | Owner::Rebuild(update) => {
                    if update as usize >= self.read.len() {
                        self.read.resize_with(update as usize + 1, Contents::new);
                    }
                    self.read[update as usize].insert((drive, sector), content);
                }
                Owner::Request(place) => {
                    let host = &mut self.requests[place as usize];
                    let at = sector_of_array(layout, data_drive, sector) - host.first;
                    host.returned[at as usize] ^= content;
                }
            }
        }
    }

    /// A host request has completed: a read must have returned the expected content.
    pub fn completed(&mut self, place: u32) {
        let HostRequest { kind, first, content, returned } = std::mem::take(&mut self.requests[place as usize]);
        if kind != Some(RequestKind::Read) {
            return;
        }
        if let Some(((sector, expected), returned)) =
            (first..).zip(content).zip(returned).find(|((_, expected), returned)| *expected != Some(*returned))
        {
            let expected = expected.unwrap_or(0);
            self.note(Err(format!("a read of sector {sector} of the array returns {returned:x} where {expected:x} was written last")));
        }
    }

    /// An update has read all that it needs: computes the content that it will write.
    pub fn compute(&mut self, layout: &Layout, place: u32, request: u32, update: &Update) {
        let read = self.read.get_mut(place as usize).map(std::mem::take).unwrap_or_default();
        let mut made = Contents::new();
        for column in update.columns(layout).into_iter().flatten() {
            let method = update.method(layout, column);
            for sector in column_sectors(layout, update.stripe, column) {
                self.compute_sector(layout, request, update, (method, column, sector), &read, &mut made);
            }
        }
        // The failed drive gets the content that the update would write to it.
        if let Some(failed) = layout.failed_in(update.stripe) {
            for (&(_, sector), &content) in made.iter().filter(|((drive, _), _)| *drive == failed) {
                self.drives[failed as usize][sector as usize] = content;
            }
        }
        put(&mut self.made, place, made);
    }

    /// All other units of a stripe have been read for the drive in place of the failed one: computes its content, their sum.
    pub fn compute_replacement(&mut self, layout: &Layout, place: u32, (stripe, failed): (u32, u32)) {
        let read = self.read.get_mut(place as usize).map(std::mem::take).unwrap_or_default();
        let mut made = Contents::new();
        for sector in sectors(u64::from(stripe) * layout.unit_bytes(), u64::from(stripe + 1) * layout.unit_bytes()) {
            let others = (0..layout.drives).filter(|&drive| drive != failed);
            match others.map(|drive| read.get(&(drive, sector)).copied()).try_fold(0, |sum, content| Some(sum ^ content?)) {
                Some(sum) => _ = made.insert((failed, sector), sum),
                None => self.note(Err(format!("stripe {stripe} is rebuilt, but sector {sector} of some drive has not been read"))),
            }
        }
        put(&mut self.made, place, made);
    }

    /// Computes the content that an update writes to one sector of each page written in a column.
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
        let drive_of = |unit: u32| layout.drive_in_stripe(update.stripe, unit);
        let mut missing = None;
        // A page that was not read counts as 0.
        let mut old = |unit: u32| {
            read.get(&(drive_of(unit), sector)).copied().unwrap_or_else(|| {
                missing = Some(unit);
                0
            })
        };
        let mut parity = if method == Method::Modify { old(data) } else { 0 };
        for unit in 0..data {
            let written = update.written(layout, unit, column);
            let is_failed = layout.failed_in(update.stripe) == Some(drive_of(unit));
            let mut before = || {
                if method == Method::Recover && is_failed {
                    (0..=data).filter(|&other| other != unit).fold(0, |sum, other| sum ^ old(other))
                } else {
                    old(unit)
                }
            };
            let host = &self.requests[request as usize];
            let brought = sector_of_array(layout, drive_of(unit), sector)
                .checked_sub(host.first)
                .and_then(|at| host.content.get(at as usize).copied().flatten());
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
            let stripe = update.stripe;
            self.note(Err(format!("an update of stripe {stripe} needs column {column} of its unit {unit} and has not read it")));
        }
    }

    /// An update has ended: the sum of each column that it wrote must be 0.
    pub fn check_update(&mut self, layout: &Layout, update: &Update) {
        let mut columns = update.columns(layout).into_iter().flatten();
        let result = columns.try_for_each(|column| self.check_sums(update.stripe, column_sectors(layout, update.stripe, column)));
        self.note(result);
    }

    /// Checks that the sum of each sector over all drives of a stripe is 0, as parity is the sum of the data.
    fn check_sums(&self, stripe: u32, sectors: Range<u64>) -> Result<(), String> {
        let mut sums = vec![0; range(&sectors).len()];
        for drive in &self.drives {
            sums.iter_mut().zip(&drive[range(&sectors)]).for_each(|(sum, content)| *sum ^= content);
        }
        match (sectors.start..).zip(sums).find(|&(_, sum)| sum != 0) {
            None => Ok(()),
            Some((sector, sum)) => Err(format!("the parity of stripe {stripe} is wrong by {sum:x} in sector {sector} of the drives")),
        }
    }

    /// Checks that in unlocked stripes the drives hold the content last written, and parity is its sum.
    ///
    /// # Errors
    /// The first sector with another content.
    pub fn check_stripes(&self, layout: &Layout, is_unlocked: impl Fn(u32) -> bool) -> Result<(), String> {
        let unit_sectors = layout.unit_bytes() / SECTOR;
        for stripe in (0..layout.stripes).filter(|&stripe| !layout.parity || is_unlocked(stripe)) {
            let first = u64::from(stripe) * unit_sectors;
            if layout.parity && !layout.parity_failed(stripe) {
                self.check_sums(stripe, first..first + unit_sectors)?;
            }
            // A unit lies in one piece on its drive and in the array.
            for drive in (0..layout.data_units()).map(|unit| layout.drive_in_stripe(stripe, unit)) {
                let of_array = sector_of_array(layout, drive, first);
                let found = &self.drives[drive as usize][range(&(first..first + unit_sectors))];
                let expected = &self.latest[range(&(of_array..of_array + unit_sectors))];
                if let Some(at) = first_difference(found, expected) {
                    let (sector, found, expected) = (of_array as usize + at, found[at], expected[at]);
                    return Err(format!("sector {sector} of the array holds {found:x} where {expected:x} was written last"));
                }
            }
        }
        Ok(())
    }
}

/// Where two lists of the same length differ first.
fn first_difference(one: &[u64], other: &[u64]) -> Option<usize> {
    if one == other { None } else { one.iter().zip(other).position(|(one, other)| one != other) }
}

/// The sectors that a range of bytes touches.
fn sectors(start: u64, end: u64) -> Range<u64> {
    start / SECTOR..end.div_ceil(SECTOR)
}

fn range(sectors: &Range<u64>) -> Range<usize> {
    sectors.start as usize..sectors.end as usize
}

/// The sectors of a drive that lie in a column of a stripe.
fn column_sectors(layout: &Layout, stripe: u32, column: u32) -> Range<u64> {
    let page = u64::from(layout.page_bytes);
    let start = u64::from(stripe) * layout.unit_bytes() + u64::from(column) * page;
    sectors(start, start + page)
}

/// The sector of the array whose data a drive holds in `sector`. The drive must hold data there, not parity.
fn sector_of_array(layout: &Layout, drive: u32, sector: u64) -> u64 {
    let unit_sectors = layout.unit_bytes() / SECTOR;
    let stripe = (sector / unit_sectors) as u32;
    let unit = u64::from(stripe) * u64::from(layout.data_units()) + u64::from(layout.unit_on(stripe, drive));
    unit * unit_sectors + sector % unit_sectors
}

fn put<T: Default>(to: &mut Vec<T>, place: u32, item: T) {
    if place as usize >= to.len() {
        to.resize_with(place as usize + 1, T::default);
    }
    to[place as usize] = item;
}
