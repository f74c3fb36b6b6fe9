//! Learned models of the mapping table (`ftl.map_models`): lines that give the place of a unit from its address. docs/model/learned-mapping.md.
//!
//! | file | what is there |
//! |---|---|
//! | `lines` | lines through the places of consecutive units, with a bounded error |
//! | `exact` | a few lines for each translation page, and which units they give exactly |
//! | `segments` | lines for all units, in place of the table |
//!
//! Places are numbered in the order in which a sequential fill programs them, so that data written in order lie on a line over all pools
//! ([`ssdlab_keys::geometry::Geometry::filled_content`]).

mod exact;
mod lines;
mod segments;

use crate::ftl::Ftl;
use exact::Exact;
use segments::Segments;
use ssdlab_base::units::Lpn;
use ssdlab_keys::config::{Config, MapModels};
use ssdlab_keys::geometry::{Geometry, MapPages};

/// The models of a drive.
pub(super) enum Models {
    None,
    Exact(Exact),
    Segments(Segments),
}

impl Models {
    /// Models as configured, of the present places of all units. `table`: the translation pages.
    pub(super) fn new(config: &Config, table: &MapPages, ftl: &Ftl) -> Self {
        match config.ftl.map_models {
            MapModels::None => Models::None,
            MapModels::Exact => Models::Exact(Exact::new(table, config.ftl.map_model_pieces, ftl)),
            MapModels::Segments => Models::Segments(Segments::new(ftl.geometry(), config.ftl.map_model_error)),
        }
    }

    /// The entry of a unit changes: the unit is written, trimmed or moved.
    pub(super) fn entry_changes(&mut self, unit: u32) {
        match self {
            Models::None => {}
            Models::Exact(models) => models.forget(unit),
            Models::Segments(models) => models.forget(unit),
        }
    }

    /// Number of lines now, and the memory that all models take, bytes.
    pub(super) fn size(&self, ftl: &Ftl) -> (u64, u64) {
        match self {
            Models::None => (0, 0),
            Models::Exact(models) => models.size(),
            Models::Segments(models) => models.size(ftl),
        }
    }
}

/// A unit and the number of its place.
type Point = (u32, u32);

/// Collects the units of a range that hold data and their places: those of one row of blocks, one of each pool, together, each by address.
fn points_of(units: std::ops::Range<u32>, ftl: &Ftl, into: &mut Vec<Point>) {
    let geometry = ftl.geometry();
    into.clear();
    into.extend(units.filter_map(|unit| place(ftl, unit).map(|place| (unit, place))));
    let row = units_per_row(geometry);
    into.sort_unstable_by_key(|&(unit, place)| (place / row, unit));
}

/// Units of a block of each pool.
fn units_per_row(geometry: &Geometry) -> u32 {
    geometry.units_per_block.get() * geometry.pools.count.get()
}

/// The number of the place of a unit; `None` if it holds no data.
fn place(ftl: &Ftl, unit: u32) -> Option<u32> {
    ftl.lookup(Lpn(unit)).map(|ppn| ftl.geometry().filled_content(ppn).0)
}
