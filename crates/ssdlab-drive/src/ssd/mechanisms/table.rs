//! What is noted for a mapping table in flash (`ftl.map_cache_bytes`): units that have moved, whose entries change there, and the room that page
//! moves leave for that.

use crate::ssd::Ssd;
use crate::ssd::mechanisms::ErasedBlock;
use ssdlab_base::units::Lpn;

/// A unit has been written or trimmed, or its moved copy is current: it has another place, or none.
#[inline(always)]
pub(in crate::ssd) fn place_changed(ssd: &mut Ssd, lpn: Lpn) {
    if ssd.rules.notes_changes {
        ssd.changed.push(lpn);
    }
}

/// The move of a unit has ended; its copy is current, or else stale.
#[inline(always)]
pub(in crate::ssd) fn unit_moved(ssd: &mut Ssd, lpn: Lpn, current: bool) {
    if current {
        place_changed(ssd, lpn);
    }
    if ssd.rules.notes_moves {
        let of_map = ssd.geometry().is_of_map(lpn);
        ssd.probes.count().map_pages_moved += u64::from(of_map);
        ssd.gained -= 1;
        if current {
            ssd.moved.push(lpn);
        }
    }
}

/// A block has been erased: its units can be programmed again.
pub(in crate::ssd) fn block_erased(ssd: &mut Ssd, erased: ErasedBlock) {
    if ssd.rules.notes_moves && !erased.retired {
        // Units that are skipped were taken when the block was opened.
        ssd.gained += i64::from(ssd.geometry().units_per_block.get() - erased.skipped);
    }
}
