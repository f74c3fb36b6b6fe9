//! Would a read that comes now wait for GC, and for how long?

use crate::sched::QueueKind;
use crate::ssd::Ssd;
use crate::ssd::mechanisms::rotation;
use crate::ssd::watch::waits;
use ssdlab_base::blocked::Blocked;
use ssdlab_base::units::{DieId, Lpn, Ns, PoolId};

impl Ssd {
    /// Whether a read of a page that comes now would wait for GC, and for how long GC remains busy there, ns. It would if a job excludes the host, or in
    /// its turn is about to,
    /// from the die, the plane or the block of the page, if the state of its pool stops reads, or if an operation of GC is in service on the die, or
    /// on another die of its chip where these exclude each other. `None`: it would not, or the page holds no data in flash.
    pub fn gc_ahead(&self, lpn: Lpn) -> Option<Ns> {
        let page = self.ftl.lookup(lpn)?;
        let pool = self.geometry().pool_of_page(page);
        let die = self.geometry().die_of_pool(pool);
        let stopped = self.gc.states.stops(pool, QueueKind::Read);
        let excluded = stopped || self.excludes_read(pool, lpn) || self.gc.excludes_plane(self.plane_of_page(page));
        let held = excluded
            || rotation::is_about_to_begin(self, pool)
            || matches!(waits::blocked_on(self, die), Some(Blocked::Scope | Blocked::GcOperation));
        held.then(|| self.gc_remains(die))
    }

    /// How long GC that holds a die remains busy, ns: the longest of its jobs there. What a job has left is the pages of its victim that are still
    /// valid, each to be read and programmed, and the erase; with superblocks that of the part which has most left.
    fn gc_remains(&self, die: DieId) -> Ns {
        let jobs = |die| self.geometry().pools_of_die(die).map(PoolId);
        let remaining = |pools: &mut dyn Iterator<Item = PoolId>| pools.map(|pool| self.job_remains(pool)).max().unwrap_or(0);
        match self.gc.excludes_die(die) {
            Some(pool) => remaining(&mut self.group_of(pool)),
            None if self.rules.flash.interleave => remaining(&mut jobs(die)),
            None => remaining(&mut self.dies_of_chip_of(die).flat_map(jobs)),
        }
    }

    /// What the job of a pool has left, ns; 0 if it has none.
    fn job_remains(&self, pool: PoolId) -> Ns {
        let Some(job) = self.gc.job(pool).filter(|job| !job.is_over()) else { return 0 };
        let (victim, timing) = (job.victim(), self.flash.timing());
        let mode = self.ftl.mode_of_block(victim);
        let valid = self.ftl.blocks().valid(victim);
        let erase = self.expected_erase_ns(job.erases());
        if self.rules.gc.copyback {
            return Ns::from(valid) * timing.expected_copyback(mode) + erase;
        }
        let reads = Ns::from(valid.div_ceil(self.geometry().units_per_flash_page)) * timing.expected_read(mode);
        let programs = Ns::from(valid.div_ceil(self.geometry().units_per_program)) * timing.expected_program(mode);
        reads + programs + erase
    }
}
