//! Models beside the mapping cache (LearnedFTL): each translation page has a few lines, and a bit for each entry that they give exactly.
//!
//! The controller makes them when it writes the translation page, whose entries are all in memory then. Sources make them when GC has sorted all
//! data of a part of the addresses, which this drive does not do; so a model is replaced only by one that gives more entries.

use super::lines::{Line, fit};
use super::{Point, place, points_of};
use crate::ftl::Ftl;
use ssdlab_keys::geometry::MapPages;

/// Bytes of a line: its first unit, place and slope.
const LINE_BYTES: u64 = 8;

/// The models of all translation pages.
pub(in crate::storage::mapping) struct Exact {
    table: MapPages,
    /// By translation page: its lines, which do not overlap, by address.
    lines: Vec<Vec<Line>>,
    /// A bit for each unit: its line gives its place.
    known: Vec<u64>,
    most: usize,
    points: Vec<Point>,
    fitted: Vec<Line>,
}

impl Exact {
    /// Models of the present places.
    pub(super) fn new(table: &MapPages, most: u8, ftl: &Ftl) -> Self {
        let units = table.mapped_by(table.count() - 1).end;
        let mut models = Exact {
            table: *table,
            lines: vec![Vec::new(); table.count() as usize],
            known: vec![0; units.div_ceil(64) as usize],
            most: most.into(),
            points: Vec::new(),
            fitted: Vec::new(),
        };
        (0..table.count()).for_each(|page| models.page_is_written(page, ftl));
        models
    }

    /// The entry of a unit is known without its translation page.
    pub(in crate::storage::mapping) fn knows(&self, unit: u32) -> bool {
        self.known[unit as usize / 64] >> (unit % 64) & 1 == 1
    }

    pub(super) fn forget(&mut self, unit: u32) {
        self.known[unit as usize / 64] &= !(1 << (unit % 64));
    }

    fn learn(&mut self, unit: u32) {
        self.known[unit as usize / 64] |= 1 << (unit % 64);
    }

    /// Number of units of a translation page whose entries are known.
    fn count_known(&self, page: u32) -> usize {
        self.table.mapped_by(page).filter(|&unit| self.knows(unit)).count()
    }

    /// A translation page is written: its model is made again if more entries are known then.
    pub(in crate::storage::mapping) fn page_is_written(&mut self, page: u32, ftl: &Ftl) {
        let mut fitted = std::mem::take(&mut self.fitted);
        points_of(self.table.mapped_by(page), ftl, &mut self.points);
        fitted.clear();
        let row = super::units_per_row(ftl.geometry());
        self.points.chunk_by(|a, b| a.1 / row == b.1 / row).for_each(|points| fit(points, 0, &mut |line| fitted.push(line)));
        self.choose(&mut fitted);
        if fitted.iter().map(|line| line.units as usize).sum::<usize>() > self.count_known(page) {
            self.table.mapped_by(page).for_each(|unit| self.forget(unit));
            self.lines[page as usize].clone_from(&fitted);
            let points = std::mem::take(&mut self.points);
            for &(unit, place) in &points {
                if self.predict(unit) == Some(place) {
                    self.learn(unit);
                }
            }
            self.points = points;
        }
        self.fitted = fitted;
    }

    /// Keeps the lines of most units that do not overlap, at most as many as a model has, by address.
    fn choose(&self, fitted: &mut Vec<Line>) {
        fitted.sort_by_key(|line| (std::cmp::Reverse(line.units), line.first));
        let mut kept: Vec<Line> = Vec::with_capacity(self.most);
        for line in fitted.iter().take_while(|line| line.units > 1) {
            if kept.len() < self.most && kept.iter().all(|other| line.last < other.first || other.last < line.first) {
                kept.push(*line);
            }
        }
        kept.sort_by_key(|line| line.first);
        *fitted = kept;
    }

    /// The place that the model gives for a unit.
    fn predict(&self, unit: u32) -> Option<u32> {
        let lines = &self.lines[self.table.page_of(unit) as usize];
        let line = lines[..lines.partition_point(|line| line.first <= unit)].last()?;
        (unit <= line.last).then(|| line.predict(unit))
    }

    /// Checks that a known unit lies where its model says.
    ///
    /// # Errors
    /// A sentence if it does not.
    pub(in crate::storage::mapping) fn check(&self, unit: u32, ftl: &Ftl) -> Result<(), String> {
        let (predicted, actual) = (self.predict(unit), place(ftl, unit));
        if predicted == actual {
            return Ok(());
        }
        Err(format!("the model of the mapping table gives place {predicted:?} for unit {unit}, which is at {actual:?}"))
    }

    pub(super) fn size(&self) -> (u64, u64) {
        let lines = self.lines.iter().map(Vec::len).sum::<usize>() as u64;
        (lines, self.lines.len() as u64 * self.most as u64 * LINE_BYTES + self.known.len() as u64 * 8)
    }
}
