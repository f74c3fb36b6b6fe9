//! Verify mode: every page carries the version of the write that it holds, and redundant state is recounted.

use crate::ftl::{BlockState, Ftl};
use crate::rules::HandleRules;
use crate::ssd::Ssd;
use crate::ssd::mechanisms::{estimates, heat, power, power_states, slc, superblock, wear};
use crate::ssd::watch::gauges;
use crate::ssd::watch::placed::Placed;
use crate::ssd::watch::probes::Event;
use ssdlab_base::cause::Cause;
use ssdlab_base::units::{BlockId, Lpn, Ns, PoolId, Ppn};
use ssdlab_keys::config::Mode;
use ssdlab_keys::geometry::Geometry;

/// The content of an erased page.
const ERASED: u32 = u32::MAX;
/// The content of a unit of padding.
const PADDING: u32 = u32::MAX - 1;
/// The content of a page whose program has failed.
const FAILED: u32 = u32::MAX - 2;
/// The version of the data a drive begins with.
const INITIAL: u32 = 0;

/// Data versions of pages, and the first defect found.
#[derive(Debug)]
pub(in crate::ssd) struct Verifier {
    /// By logical page: the version last written, or [`ERASED`] if it holds no data.
    latest: Vec<u32>,
    /// By physical page: the version it holds.
    content: Vec<u32>,
    version: u32,
    every_event: bool,
    /// By pool, where writes are paced: pages of room when its job started, less those that host writes and padding have taken since.
    room: Vec<i64>,
    /// By block: its mode, and the number of its opening in the cache, counted from 1; 0 if it is not there.
    opened: Vec<(Mode, u64)>,
    /// By block: it has been retired.
    retired: Vec<bool>,
    /// By block: wear spared by its erases, and by the one in service, in millionths of an erase (`wear.erase`).
    spared: Vec<(u64, u64)>,
    /// Blocks opened in the cache.
    opened_in_cache: u64,
    /// Streams of data with handles; `None` without these.
    placed: Option<Box<Placed>>,
    wrong: Option<String>,
}

impl Verifier {
    /// A verifier for a drive in the state of `ftl`.
    pub fn new(handles: Option<HandleRules>, ftl: &Ftl, every_event: bool) -> Self {
        let geometry = ftl.geometry();
        let mut content = vec![ERASED; geometry.units as usize];
        for block in (0..geometry.blocks).map(BlockId) {
            for page in 0..ftl.blocks().programmed(block) {
                content[geometry.page(block, page).index()] = INITIAL;
            }
        }
        // A page without data is as good as trimmed.
        let latest = |lpn| if ftl.lookup(lpn).is_some() { INITIAL } else { ERASED };
        let latest = (0..geometry.logical_units).map(|lpn| latest(Lpn(lpn))).collect();
        let room = vec![0; geometry.pools.count.get() as usize];
        Verifier {
            latest,
            content,
            version: INITIAL,
            every_event,
            room,
            opened: (0..geometry.blocks)
                .map(BlockId)
                .map(|block| (ftl.blocks().mode(block), ftl.blocks().in_cache(block).into()))
                .collect(),
            retired: vec![false; geometry.blocks as usize],
            spared: vec![(0, 0); geometry.blocks as usize],
            opened_in_cache: 1,
            placed: handles.map(|rules| Box::new(Placed::new(rules, ftl))),
            wrong: None,
        }
    }

    /// Redundant state is to be recounted after each round of events.
    pub fn every_event(&self) -> bool {
        self.every_event
    }

    /// The version of a new write. `handle`: that of the request.
    pub fn next_version(&mut self, handle: Option<u8>) -> u32 {
        self.version += 1;
        if let Some(placed) = &mut self.placed {
            placed.new_version(handle);
        }
        self.version
    }

    /// The job of a pool starts, in which `room` pages can be programmed.
    pub fn job_starts(&mut self, pool: PoolId, room: u64) {
        self.room[pool.index()] = room as i64;
    }

    /// Checks that a job has earned as much credit as the pool has gained room. `room`: pages that can be programmed in the pool now.
    pub fn job_earned(&mut self, now: Ns, pool: PoolId, earned: i64, room: u64) {
        let more = room as i64 - self.room[pool.index()];
        if more != earned {
            self.found(Err(format!("at {now} ns a job has earned {earned} pages for writes to pool {pool}, but freed {more}")));
        }
    }

    /// The erase of a block that had waited has given a pool this room; its job goes on.
    pub fn room_gained(&mut self, pool: PoolId, earned: i64) {
        self.room[pool.index()] += earned;
    }

    /// Notes pages of the pool that a host write or padding takes.
    pub fn takes_room(&mut self, pool: PoolId, pages: u32) {
        self.room[pool.index()] -= i64::from(pages);
    }

    /// Checks and notes an event, as far as data are concerned.
    pub fn note(&mut self, ftl: &Ftl, event: Event) {
        let geometry = ftl.geometry();
        if let Some(placed) = &mut self.placed {
            let found = match event {
                Event::HostProgram(ppn, version) => placed.host(ftl, ppn, version),
                Event::MovePlaced(from, to) => placed.moved(ftl, from, to),
                _ => Ok(()),
            };
            self.found(found);
        }
        match event {
            Event::HostRead(lpn, Some(ppn)) | Event::ReadAlong(lpn, Some(ppn)) | Event::MergedRead(lpn, Some(ppn)) => self.read(lpn, ppn),
            Event::HostRead(lpn, None) | Event::ReadAlong(lpn, None) => self.read_nothing(lpn),
            Event::HostProgram(ppn, version) => self.program(geometry, ppn, version),
            Event::Padded(first, units) => (first.0..first.0 + units).for_each(|ppn| self.program(geometry, Ppn(ppn), PADDING)),
            Event::Written(lpn, version) => self.latest[lpn.index()] = version,
            // A host write takes the place of a page move that has this page.
            Event::MergedWrite(Some(ppn), version) => self.content[ppn.index()] = version,
            Event::MovePlaced(from, to) => {
                self.program(geometry, to, self.content[from.index()]);
                if self.in_cache(geometry.split_page(to).0) {
                    self.found(Err(format!("a page is moved to {to}, in a block of the cache")));
                }
            }
            // A later read of the page must find data that were written after this.
            Event::Trimmed(lpn) => self.latest[lpn.index()] = ERASED,
            Event::Erased(block) => self.erased(geometry, block),
            Event::OpenedInCache(block, mode) => self.opened_in_cache(ftl, block, mode),
            Event::FoldBegins(block, cause) => self.fold_begins(ftl, block, cause),
            Event::ProgramFailed(first) => {
                let failed = &mut self.content[first.index()..first.index() + geometry.units_per_program as usize];
                failed.fill(FAILED);
            }
            Event::Retired(block) => self.retired[block.index()] = true,
            Event::MergedRead(_, None)
            | Event::MergedWrite(None, _)
            | Event::PageMoved { .. }
            | Event::BlocksTaken { .. }
            | Event::BlocksFreed { .. }
            | Event::JobEnded(_) => {}
        }
    }

    /// Keeps the first defect found.
    pub fn found(&mut self, result: Result<(), String>) {
        if self.wrong.is_none() {
            self.wrong = result.err();
        }
    }

    /// Checks a read of a page that has no place in flash.
    fn read_nothing(&mut self, lpn: Lpn) {
        let expected = self.latest[lpn.index()];
        if expected != ERASED {
            self.found(Err(format!("a read of page {lpn} finds nothing where {expected} was written last")));
        }
    }

    /// Checks a read of a page, when it starts.
    fn read(&mut self, lpn: Lpn, ppn: Ppn) {
        let (found, expected) = (self.content[ppn.index()], self.latest[lpn.index()]);
        if found != expected {
            self.found(Err(format!("a read of page {lpn} finds version {found} at {ppn} where {expected} was written last")));
        }
    }

    /// Checks and notes a program of a page, when it starts.
    fn program(&mut self, geometry: &Geometry, ppn: Ppn, version: u32) {
        if self.retired[geometry.split_page(ppn).0.index()] {
            self.found(Err(format!("page {ppn} is programmed, in a block that was retired")));
        }
        let opens = geometry.skipped.contains(&geometry.split_page(ppn).1);
        if geometry.split_page(ppn).1 > 0 && self.content[ppn.index() - 1] == ERASED && !opens {
            self.found(Err(format!("page {ppn} is programmed before the page ahead of it in its block")));
        }
        if std::mem::replace(&mut self.content[ppn.index()], version) != ERASED {
            self.found(Err(format!("page {ppn} is programmed twice between erases")));
        }
    }

    /// An erase of a block begins, which spares it this wear.
    pub fn erase_begins(&mut self, block: BlockId, spared: u64) {
        self.spared[block.index()].1 = spared;
    }

    /// Wear that its erases spared a block.
    pub fn spared(&self, block: BlockId) -> u64 {
        self.spared[block.index()].0
    }

    /// A block is of the cache.
    fn in_cache(&self, block: BlockId) -> bool {
        self.opened[block.index()].1 > 0
    }

    /// The mode of a block.
    pub fn mode(&self, block: BlockId) -> Mode {
        self.opened[block.index()].0
    }

    /// Notes that a block is opened in a mode: pages that are skipped cannot be programmed any more. Its first page is already noted.
    fn opened_in_cache(&mut self, ftl: &Ftl, block: BlockId, mode: Mode) {
        self.opened_in_cache += 1;
        self.opened[block.index()] = (mode, self.opened_in_cache);
        let first = ftl.geometry().page(block, 0).index();
        let skipped = &mut self.content[first..first + ftl.geometry().skipped[mode as usize] as usize];
        let had_data = skipped.iter().any(|&content| content != ERASED);
        skipped.fill(PADDING);
        if had_data {
            self.found(Err(format!("block {block} is opened in {mode:?} mode with data in pages that are to be skipped")));
        }
    }

    /// Checks that the block that is folded is the oldest of the full ones in SLC mode; if its pool needs free blocks, of those whose erase
    /// gives it one.
    fn fold_begins(&mut self, ftl: &Ftl, block: BlockId, cause: Cause) {
        let geometry = ftl.geometry();
        let pool = geometry.pool_of_block(block);
        let counts = |other: BlockId| cause != Cause::FoldSpace || !ftl.blocks().is_static(other);
        let others = (0..geometry.pools.blocks_each).map(|index| geometry.block_of_pool(pool, index));
        // Blocks of a stream become full in the order in which they were opened. One without data goes ahead of all.
        let alike = |other: BlockId| counts(other) && ftl.blocks().stream(other) == ftl.blocks().stream(block);
        let older = others.filter(|_| ftl.blocks().valid_together(block) > 0).find(|&other| {
            let full = ftl.blocks().state(other) == BlockState::Cached && alike(other);
            full && self.opened[other.index()].1 < self.opened[block.index()].1
        });
        let is_static = cause == Cause::FoldSpace && ftl.blocks().is_static(block);
        if !self.in_cache(block) || is_static {
            self.found(Err(format!("block {block} is folded ({cause:?}), which is not of that part of the cache")));
        } else if let Some(older) = older {
            self.found(Err(format!("block {block} is folded before block {older}, which became full before it")));
        }
    }

    /// Notes the erase of a block.
    fn erased(&mut self, geometry: &Geometry, block: BlockId) {
        if self.retired[block.index()] {
            self.found(Err(format!("block {block} is erased, which was retired")));
        }
        self.opened[block.index()] = (Mode::Native, 0);
        let (spared, by_this) = &mut self.spared[block.index()];
        *spared += std::mem::take(by_this);
        let first = geometry.page(block, 0).index();
        self.content[first..first + geometry.units_per_block.get() as usize].fill(ERASED);
    }
}

/// Call when a round is over: recounts redundant state, if verify mode does so after each round of events.
#[inline(always)]
pub(in crate::ssd) fn round(ssd: &mut Ssd) {
    if ssd.probes.verifier().is_some_and(Verifier::every_event) {
        let found = recount(ssd);
        ssd.probes.verifier_mut().expect("checked above").found(found);
    }
}

/// Recounts the translation layer and compares every logical page's data with what was written last.
pub(in crate::ssd) fn recount(ssd: &Ssd) -> Result<(), String> {
    ssd.ftl.check()?;
    ssd.sched.check(&ssd.ftl, &ssd.transactions)?;
    estimates::check(ssd)?;
    gauges::check(ssd)?;
    power::check(ssd)?;
    heat::check(ssd)?;
    power_states::check(ssd)?;
    slc::check_modes(ssd)?;
    superblock::check_waiting(ssd)?;
    wear::check_spared(ssd)?;
    let Some(verifier) = ssd.probes.verifier() else { return Ok(()) };
    for lpn in (0..ssd.geometry().logical_units).map(Lpn) {
        let found = ssd.ftl.lookup(lpn).map_or(ERASED, |ppn| verifier.content[ppn.index()]);
        let expected = verifier.latest[lpn.index()];
        if found != expected {
            return Err(format!("page {lpn} holds version {found} where {expected} was written last ({ERASED}: no data)"));
        }
    }
    Ok(())
}

/// The first defect that verify mode has found so far, or finds now.
pub(in crate::ssd) fn check(ssd: &Ssd) -> Result<(), String> {
    let wrong = ssd.probes.verifier().and_then(|verifier| verifier.wrong.clone());
    let overlap = ssd.flash.trace().and_then(|trace| trace.overlap.clone());
    wrong.or(overlap).map_or_else(|| recount(ssd), Err)
}
