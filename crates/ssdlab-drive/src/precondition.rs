//! The drive's state when a run begins. Nothing here takes simulated time.

use crate::ftl::{Class, CustomPlacement, Ftl};
use crate::gc::untimed::{self, Packs, PagesAhead, UntimedCounts};
use crate::gc::victim::{CustomVictim, Picker};
use ssdlab_base::error::{Error, Result};
use ssdlab_base::rng::Rng;
use ssdlab_base::units::{Lpn, PoolId};
use ssdlab_keys::config::{Allocation, Config, PreconditionKind, STREAMS_MAX};
use ssdlab_keys::geometry::MapPages;
use ssdlab_result::stats::PreconditionReport;

/// Change of write amplification from one window to the next, as a share, below which it is steady.
const STEADY: f64 = 0.01;
/// Windows after which overwriting ends even if write amplification still drifts.
const MAX_WINDOWS: u32 = 64;
/// Pages written between two calls of [`Watch`].
const PAGES_PER_LOOK: u64 = 65_536;

/// Callback with the number of pages written and the number to be written (0: unknown). An error that it returns ends the preparation.
pub type Watch<'a> = &'a dyn Fn(u64, u64) -> Result<()>;

/// User-defined policies for what overwriting makes necessary.
#[derive(Clone, Copy, Debug, Default)]
pub struct Own<'a> {
    /// Chooses victims.
    pub victim: Option<&'a CustomVictim>,
    /// Chooses streams, then and from then on: the drive keeps it.
    pub placement: Option<&'a CustomPlacement>,
}

/// Prepares a drive as configured. `ranges`: the byte ranges of the prefill file, for the kinds that use one. `watch` is called now and
/// then.
///
/// # Errors
/// [`Error::Interrupted`], [`Error::Config`] when the data do not fit, or [`Error::Policy`].
pub fn prepare(
    config: &Config,
    ranges: Option<&[(u64, u64)]>,
    own: Own<'_>,
    seed: u64,
    watch: Watch<'_>,
) -> Result<(Ftl, PreconditionReport)> {
    let mut preparation = Preparation::new(config, seed, watch);
    if let Some(victim) = own.victim {
        preparation.victims.ask(victim);
    }
    if let Some(placement) = own.placement {
        preparation.ftl.placer_mut().ask(placement);
    }
    let kind = config.ftl.precondition.kind;
    match (kind, ranges) {
        (PreconditionKind::None, _) => preparation.write_translation_pages()?,
        (PreconditionKind::Fill, _) | (_, None) => preparation.fill(),
        (_, Some(ranges)) => preparation.write_ranges(ranges)?,
    }
    match kind {
        PreconditionKind::Soft => preparation.overwrite_until_soft()?,
        PreconditionKind::Steady => preparation.overwrite_until_steady()?,
        _ => {}
    }
    let name = serde_json::to_value(kind).expect("a name").as_str().expect("a string").to_string();
    let PreparationResult { report, ftl } = preparation.finish(name);
    Ok((ftl, report))
}

/// Overwrites `units` random units that hold data in the configured range, or fewer where a pool has no room for more. Collects nothing and
/// takes no simulated time. `seed`: that of the drive.
pub fn overwrite_without_collection(config: &Config, ftl: Ftl, seed: u64, units: u64) -> Ftl {
    let mut preparation = Preparation::of(config, ftl, seed, &|_, _| Ok(()));
    preparation.overwrite_where_there_is_room(units);
    preparation.ftl
}

/// The report on the present state of a drive.
pub fn report(ftl: &Ftl, kind: String) -> PreconditionReport {
    let pools = (0..ftl.geometry().pools.count.get()).map(PoolId);
    let free = pools.map(|pool| ftl.blocks().free_count(pool));
    PreconditionReport {
        kind,
        pages_mapped: ftl.host_pages(),
        valid_share: ftl.host_pages() as f64 / f64::from(ftl.geometry().exported_units),
        free_blocks_min: free.clone().min().unwrap_or(0),
        free_blocks_max: free.max().unwrap_or(0),
        soft_blocks: ftl.soft_blocks(),
        ..PreconditionReport::default()
    }
}

struct Preparation<'a> {
    config: &'a Config,
    ftl: Ftl,
    seed: u64,
    victims: Picker,
    counts: UntimedCounts,
    /// Dynamic allocation: the pool to try first for the next write; with superblocks of several pools the group, by class.
    next_pool: [u32; STREAMS_MAX],
    /// Units gathered until they fill a program: the packs of a pool, or of all, are those of each class.
    packs: Packs,
    /// Number of classes of writes that do not share programs; 1 where the first unit of a program has its class.
    classes: usize,
    write_amplification: Option<f64>,
    steady: Option<bool>,
    overwritten: u64,
    written: u64,
    expected: u64,
    watch: Watch<'a>,
}

struct PreparationResult {
    ftl: Ftl,
    report: PreconditionReport,
}

impl<'a> Preparation<'a> {
    fn new(config: &'a Config, seed: u64, watch: Watch<'a>) -> Self {
        Self::of(config, Ftl::new(config), seed, watch)
    }

    fn of(config: &'a Config, ftl: Ftl, seed: u64, watch: Watch<'a>) -> Self {
        // With dynamic allocation, the address does not determine the pool: all units are gathered in one pack.
        let ways = if config.ftl.allocation == Allocation::Dynamic { 1 } else { ftl.geometry().pools.count.get() };
        let each = ftl.geometry().units_per_program;
        let classes = if each > 1 && ftl.classes_of_write() > 1 { ftl.write_classes().into() } else { 1 };
        Preparation {
            config,
            packs: Packs::new(ways as usize * classes, each),
            classes,
            ftl,
            seed,
            victims: Picker::new(&config.gc, seed, "precondition/victim"),
            counts: UntimedCounts::default(),
            next_pool: [0; STREAMS_MAX],
            write_amplification: None,
            steady: None,
            overwritten: 0,
            written: 0,
            expected: 0,
            watch,
        }
    }

    /// The pool that takes a page of a class: its home, or with dynamic allocation the next one with room.
    fn pool_for(&mut self, lpn: Lpn, class: Class) -> PoolId {
        if self.config.ftl.allocation != Allocation::Dynamic {
            return self.ftl.geometry().home(lpn).0;
        }
        // Superblocks of several pools take turns by group.
        let geometry = self.ftl.geometry();
        let (spans, each) = (geometry.spans_pools(), geometry.pools.per_group.get());
        let count = geometry.pools.count.get() / each;
        let class = if spans { class } else { 0 };
        let start = self.next_pool[usize::from(class)];
        let has_room = |&first: &PoolId| if spans { self.ftl.group_has_room(first) } else { self.ftl.has_room(first) };
        let found = (0..count).map(|step| PoolId((start + step) % count * each)).find(has_room);
        let first = found.unwrap_or(PoolId(start % count * each));
        self.next_pool[usize::from(class)] = first.0 / each + 1;
        if spans { self.ftl.host_turn(first, class) } else { first }
    }

    /// Numbers of the packs in [`Packs`], one for each class, of which one gathers a unit.
    fn ways_of(&self, lpn: Lpn) -> std::ops::Range<usize> {
        let first = if self.packs.pools() == self.classes { 0 } else { self.ftl.geometry().home(lpn).0.index() * self.classes };
        first..first + self.classes
    }

    /// Number of the pack that has this unit.
    fn pack_with(&self, lpn: Lpn) -> Option<usize> {
        self.ways_of(lpn).find(|&way| self.packs.has(way, lpn))
    }

    /// Adds a unit to the pack of its class. Returns the pack if that fills a program.
    fn add(&mut self, lpn: Lpn) -> Option<usize> {
        let class = if self.classes > 1 { self.ftl.host_class(lpn, None) } else { 0 };
        let way = self.ways_of(lpn).start + usize::from(class);
        self.packs.add(way, lpn).then_some(way)
    }

    /// The class of the units of a pack, the first of which is given.
    fn class_of(&mut self, way: usize, first: Lpn) -> Class {
        if self.classes > 1 { (way % self.classes) as Class } else { self.ftl.host_class(first, None) }
    }

    /// Writes a page, or adds a unit to its pack, which is written once it fills a program.
    fn write(&mut self, lpn: Lpn) -> Result<()> {
        if let Some(way) = self.pack_with(lpn) {
            self.write_pack(way)?;
        }
        self.add(lpn).map_or(Ok(()), |way| self.write_pack(way))
    }

    fn write_pack(&mut self, way: usize) -> Result<()> {
        let pack = self.packs.take(way);
        let Some(&first) = pack.first() else { return Ok(()) };
        let class = self.class_of(way, first);
        let pool = self.pool_for(first, class);
        let written = untimed::write_class(&mut self.ftl, &mut self.victims, pool, class, &pack, &mut self.counts);
        self.packs.give_back(way, pack);
        let failure = self.victims.take_failure();
        if let Some(failure) = failure.or_else(|| self.ftl.placer_mut().take_failure()) {
            return Err(failure);
        }
        if written {
            return Ok(());
        }
        Err(Error::Config(format!(
            "preconditioning fills pool {pool} with valid data and no block can be freed; raise device.overprovisioning (now {})",
            self.config.device.overprovisioning
        )))
    }

    /// Writes every page of the host once, and behind them the mapping table, where part of it is in flash only.
    fn fill(&mut self) {
        let (logical, table) = (self.ftl.geometry().logical_units, self.translation_units());
        self.ftl.fill(logical);
        // Units behind the table only fill programs up, and hold no data.
        (table.end..logical).for_each(|unit| _ = self.ftl.trim(Lpn(unit)));
    }

    /// The units that hold the mapping table.
    fn translation_units(&self) -> std::ops::Range<u32> {
        let table = MapPages::new(self.config, self.ftl.geometry());
        table.units_of(0).start..table.units_of(table.count() - 1).end
    }

    /// Writes the translation pages with entries of pages that hold data, or all of them, where part of the table is in flash only.
    fn write_translation_pages(&mut self) -> Result<()> {
        if !self.config.caches_map() {
            return Ok(());
        }
        let table = MapPages::new(self.config, self.ftl.geometry());
        for page in 0..table.count() {
            if self.config.ftl.precondition.whole_table || table.mapped_by(page).any(|unit| self.ftl.lookup(Lpn(unit)).is_some()) {
                table.units_of(page).try_for_each(|unit| self.write(Lpn(unit)))?;
            }
        }
        (0..self.packs.pools()).try_for_each(|way| self.write_pack(way))
    }

    fn write_ranges(&mut self, ranges: &[(u64, u64)]) -> Result<()> {
        let page = u64::from(self.ftl.geometry().unit_bytes);
        let pages = |&(offset, length): &(u64, u64)| offset / page..(offset + length).div_ceil(page);
        self.expected = ranges.iter().map(|range| pages(range).count() as u64).sum();
        for lpn in ranges.iter().flat_map(pages) {
            // Ranges may share a page; it is written once.
            let lpn = Lpn(lpn as u32);
            if self.ftl.lookup(lpn).is_none() && self.pack_with(lpn).is_none() {
                self.write(lpn)?;
            }
            self.look_out()?;
        }
        (0..self.packs.pools()).try_for_each(|way| self.write_pack(way))?;
        self.write_translation_pages()
    }

    /// Counts a page that has been written, and calls `watch` now and then.
    fn look_out(&mut self) -> Result<()> {
        self.written += 1;
        if self.written.is_multiple_of(PAGES_PER_LOOK) { (self.watch)(self.written, self.expected) } else { Ok(()) }
    }

    /// Number of pages to write, about, until a pool is down to its soft threshold.
    fn pages_until_soft(&self) -> u64 {
        let blocks = self.ftl.blocks();
        let geometry = self.ftl.geometry();
        let above = blocks.free_fewest().saturating_sub(self.ftl.soft_blocks());
        u64::from(above) * u64::from(geometry.pools.count.get()) * u64::from(geometry.units_per_block.get())
    }

    /// The number of logical pages that are overwritten, from the start of the exported range.
    fn range_pages(&self) -> u64 {
        let share = self.config.ftl.precondition.range.unwrap_or(match self.config.workload.trace {
            Some(_) => 1.0,
            None => self.config.workload.footprint,
        });
        ((f64::from(self.ftl.geometry().exported_units) * share) as u64).max(1)
    }

    /// The sequence of random pages to overwrite.
    fn overwritten_pages(&self) -> PagesAhead {
        PagesAhead::new(Rng::new(self.seed, "precondition"), self.range_pages())
    }

    fn overwrite_until_soft(&mut self) -> Result<()> {
        let mut pages = self.overwritten_pages();
        self.expected = self.written + self.pages_until_soft();
        self.ftl.expect_accesses(self.pages_until_soft());
        loop {
            let lpn = pages.next(&self.ftl);
            let had = self.pack_with(lpn);
            if had.is_some_and(|way| !self.overwrite_above_soft(way)) || self.add(lpn).is_some_and(|way| !self.overwrite_above_soft(way)) {
                return Ok(());
            }
            self.look_out()?;
        }
    }

    /// Programs the units of a pack. Returns false, with nothing programmed, if that would trigger collection.
    fn overwrite_above_soft(&mut self, way: usize) -> bool {
        let pack = self.packs.take(way);
        let class = self.class_of(way, pack[0]);
        let pool = self.pool_for(pack[0], class);
        if self.ftl.takes_free(pool, class) && self.ftl.wants_collection_after_one_block(pool) {
            return false;
        }
        let first = self.ftl.allocate_host(pool, class).ppn;
        untimed::program(&mut self.ftl, pool, &pack, first, &mut self.counts);
        self.overwritten += pack.len() as u64;
        self.packs.give_back(way, pack);
        true
    }

    fn overwrite_where_there_is_room(&mut self, units: u64) {
        const TRIES_PER_UNIT: u64 = 4;
        let mut rng = Rng::new(self.seed, "precondition/settle");
        let range = self.range_pages();
        let mut left = units;
        for _ in 0..units.saturating_mul(TRIES_PER_UNIT) {
            let lpn = Lpn(rng.below(range) as u32);
            if left == 0 || self.ftl.lookup(lpn).is_none() || self.pack_with(lpn).is_some() {
                continue;
            }
            let Some(way) = self.add(lpn) else { continue };
            let pack = self.packs.take(way);
            let class = self.class_of(way, pack[0]);
            let pool = self.pool_for(pack[0], class);
            if let Some(first) = self.ftl.try_allocate_outside_cache(pool, class) {
                untimed::program(&mut self.ftl, pool, &pack, first.ppn, &mut self.counts);
                left = left.saturating_sub(pack.len() as u64);
            }
            self.packs.give_back(way, pack);
        }
    }

    fn overwrite_until_steady(&mut self) -> Result<()> {
        let (count, mut pages) = (self.range_pages(), self.overwritten_pages());
        self.ftl.expect_accesses(count);
        self.expected = 0; // the number of windows is not known in advance
        self.steady = Some(false);
        let mut before: Option<f64> = None;
        for _ in 0..MAX_WINDOWS {
            let before_window = self.counts;
            for _ in 0..count {
                let lpn = pages.next(&self.ftl);
                self.write(lpn)?;
                self.look_out()?;
            }
            let host = self.counts.host_programs - before_window.host_programs;
            let moved = self.counts.pages_moved - before_window.pages_moved;
            let padded = self.counts.padded_units - before_window.padded_units;
            let parity = self.counts.parity_units - before_window.parity_units;
            self.overwritten += host;
            if host == 0 {
                // The range has fewer pages than a program takes, and none came twice.
                continue;
            }
            let amplification = 1.0 + (moved + padded + parity) as f64 / host as f64;
            self.write_amplification = Some(amplification);
            // Without any collection yet, nothing is steady.
            if self.counts.erases > 0 && before.is_some_and(|before| (amplification - before).abs() < STEADY * before) {
                self.steady = Some(true);
                return Ok(());
            }
            before = Some(amplification);
        }
        Ok(())
    }

    fn finish(self, kind: String) -> PreparationResult {
        let mut report = report(&self.ftl, kind);
        report.pages_overwritten = self.overwritten;
        report.write_amplification = self.write_amplification;
        report.steady = self.steady;
        PreparationResult { ftl: self.ftl, report }
    }
}
