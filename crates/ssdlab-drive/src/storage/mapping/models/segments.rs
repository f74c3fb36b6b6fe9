//! Segments in place of the mapping table (LeaFTL): lines with a bounded error through the places of all units, those of a group of 256 and of a
//! row of blocks, one of each pool, by address. They are those that are left when the levels of the log of segments have been compacted.
//!
//! A segment may give a place that is wrong by at most the error. The flash page there says, in its spare area, which units its neighbours
//! hold: so a second read finds the unit.

use super::lines::{Line, fit};
use super::{Point, points_of};
use crate::ftl::Ftl;
use ssdlab_base::units::Ppn;
use ssdlab_keys::geometry::Geometry;

/// Units of a group: a segment has the offset of its first and last unit there in a byte each.
const GROUP: u32 = 256;

/// Bytes of a segment: first unit and length, slope, place.
const SEGMENT_BYTES: u64 = 8;

/// What is known of a group.
#[derive(Clone, Debug)]
struct Group {
    /// A unit has been written, trimmed or moved since the segments were made.
    stale: bool,
    lines: u32,
    /// Memory of its segments; for one whose units are not equally far apart with a byte for each unit and one at the end.
    bytes: u32,
}

/// The segments of a drive.
pub(in crate::storage::mapping) struct Segments {
    error: u32,
    units: u32,
    groups: Vec<Group>,
    /// By unit: how far the place that its segment gives is from where it is.
    off: Vec<i8>,
    points: Vec<Point>,
}

impl Segments {
    pub(super) fn new(geometry: &Geometry, error: u8) -> Self {
        let units = geometry.exported_units;
        Segments {
            error: error.into(),
            units,
            groups: vec![Group { stale: true, lines: 0, bytes: 0 }; units.div_ceil(GROUP) as usize],
            off: vec![0; units as usize],
            points: Vec::new(),
        }
    }

    pub(super) fn forget(&mut self, unit: u32) {
        self.groups[(unit / GROUP) as usize].stale = true;
    }

    /// The page that the controller reads first for a unit at `ppn`, if it is in another flash page than the unit. None, too, if the segment gives
    /// a place that the drive does not have.
    pub(in crate::storage::mapping) fn wrong_page(&mut self, unit: u32, ppn: Ppn, ftl: &Ftl) -> Option<Ppn> {
        let group = unit / GROUP;
        if self.groups[group as usize].stale {
            self.make(group, ftl);
        }
        let geometry = ftl.geometry();
        let guess = i64::from(geometry.filled_content(ppn).0) + i64::from(self.off[unit as usize]);
        let guess = geometry.filled_place(ssdlab_base::units::Lpn(u32::try_from(guess).ok().filter(|&place| place < geometry.units)?));
        (geometry.first_in_flash_page(guess) != geometry.first_in_flash_page(ppn)).then_some(guess)
    }

    /// Makes the segments of a group.
    fn make(&mut self, group: u32, ftl: &Ftl) {
        let mut points = std::mem::take(&mut self.points);
        points_of(self.range(group), ftl, &mut points);
        let (lines, bytes) = measure(&points, self.error, ftl.geometry(), |line, points| {
            for &(unit, place) in points {
                self.off[unit as usize] = (i64::from(line.predict(unit)) - i64::from(place)) as i8;
            }
        });
        self.points = points;
        self.groups[group as usize] = Group { stale: false, lines, bytes };
    }

    /// Checks that the place of a unit is as far from what its segment gives as is known.
    ///
    /// # Errors
    /// A sentence if it is not.
    pub(in crate::storage::mapping) fn check(&self, unit: u32, ftl: &Ftl) -> Result<(), String> {
        let (mut points, mut off) = (Vec::new(), None);
        points_of(self.range(unit / GROUP), ftl, &mut points);
        measure(&points, self.error, ftl.geometry(), |line, points| {
            let found = points.iter().find(|point| point.0 == unit);
            off = off.or(found.map(|&(unit, place)| i64::from(line.predict(unit)) - i64::from(place)));
        });
        let known = i64::from(self.off[unit as usize]);
        match off {
            Some(off) if off == known && off.unsigned_abs() <= u64::from(self.error) => Ok(()),
            _ => Err(format!("the model of the mapping table gives unit {unit} a place that is off by {off:?}, and {known} is known")),
        }
    }

    fn range(&self, group: u32) -> std::ops::Range<u32> {
        group * GROUP..(group * GROUP + GROUP).min(self.units)
    }

    pub(super) fn size(&self, ftl: &Ftl) -> (u64, u64) {
        let mut points = Vec::new();
        let sizes = (0..).zip(&self.groups).map(|(group, known)| {
            if !known.stale {
                return (known.lines, known.bytes);
            }
            points_of(self.range(group), ftl, &mut points);
            measure(&points, self.error, ftl.geometry(), |_, _| {})
        });
        sizes.fold((0, 0), |(lines, bytes), (more, of_these)| (lines + u64::from(more), bytes + u64::from(of_these)))
    }
}

/// The number of segments of a group's units and their memory, bytes. `each` sees each segment and its units.
fn measure(points: &[Point], error: u32, geometry: &Geometry, mut each: impl FnMut(&Line, &[Point])) -> (u32, u32) {
    let (row, mut lines, mut bytes) = (super::units_per_row(geometry), 0, 0);
    for points in points.chunk_by(|a, b| a.1 / row == b.1 / row) {
        let mut at = 0;
        fit(points, error, &mut |line| {
            let end = at + line.units as usize;
            each(&line, &points[at..end]);
            at = end;
            lines += 1;
            bytes += SEGMENT_BYTES as u32 + if line.regular { 0 } else { line.units + 1 };
        });
    }
    (lines, bytes)
}
