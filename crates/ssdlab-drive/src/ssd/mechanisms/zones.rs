//! Zones, as far as the drive below them is concerned: open blocks of a zone that is reset close, and a drive without zones rejects commands
//! of zones. The zones themselves: `storage/zones`.

use crate::ftl::Class;
use crate::rules::BurstRule;
use crate::ssd::Ssd;
use crate::ssd::mechanisms::pace;
use ssdlab_base::status::Status;
use ssdlab_base::units::{Ns, PoolId, ReqId};
use ssdlab_result::stats::Counters;

/// Bursts: pages are moved only where blocks wear out or are read too often, and never many at a time.
pub(in crate::ssd) const BURSTS: BurstRule = BurstRule { keys: &["zones."], exact: |config| !config.has_zones() };

impl Ssd {
    /// Closes the open blocks of a class of host writes without the pages that they lack, so that the class opens others for its next zone. No
    /// write of the class may be under way. Returns the number of these pages (mapping units).
    pub fn close_blocks_of(&mut self, now: Ns, class: Class) -> u32 {
        let mut all = 0;
        for pool in (0..self.geometry().pools.count.get()).map(PoolId) {
            let skipped = self.ftl.close_open(pool, class);
            if skipped > 0 {
                pace::pages_taken(self, pool, skipped);
                pace::padding_taken(self, pool, skipped);
                self.gain_appeared(now, pool);
                all += skipped;
            }
        }
        self.probes.count().zone_skipped_units += u64::from(all);
        all
    }

    /// The counters of the drive, to which its zones add.
    pub fn counters_of_zones(&mut self) -> &mut Counters {
        self.probes.count()
    }
}

/// The drive has no zones, and rejects a command that needs them.
#[cold]
pub(in crate::ssd) fn reject(ssd: &mut Ssd, now: Ns, request: ReqId) {
    ssd.host.note_status(request, Status::Rejected);
    ssd.probes.count().zone_errors += 1;
    ssd.admission_done(now, request);
}
