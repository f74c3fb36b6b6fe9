//! A small pool made by hand, for the tests of the policies.

use super::Picker;
use crate::ftl::Ftl;
use ssdlab_base::units::{BlockId, Lpn, PoolId};
use ssdlab_keys::config::{Config, Victim};

/// One pool of 8 blocks of 4 pages, 16 pages exported.
pub struct Bench {
    /// The configuration; a test may change its GC keys before it makes a picker.
    pub config: Config,
    /// The translation layer that has the pool.
    pub ftl: Ftl,
}

impl Bench {
    /// Pages 0 to 15 lie in order in blocks 0 to 3; nothing is invalid.
    pub fn filled() -> Self {
        let mut config = Config::default();
        config.device.channels = 1;
        config.device.blocks_per_plane = 8;
        config.device.pages_per_block = 4;
        config.device.overprovisioning = 0.5;
        let mut bench = Bench { ftl: Ftl::new(&config), config };
        bench.write(&Vec::from_iter(0..16));
        bench
    }

    /// Overwrites pages, which invalidates their old copies.
    pub fn write(&mut self, pages: &[u32]) {
        for &lpn in pages {
            let allocated = self.ftl.allocate_host(PoolId(0), 0);
            self.ftl.commit_write(PoolId(0), Lpn(lpn), allocated.ppn);
        }
    }

    /// Trims pages.
    pub fn trim(&mut self, pages: &[u32]) {
        for &lpn in pages {
            assert_eq!(self.ftl.trim(Lpn(lpn)), Some(PoolId(0)));
        }
    }

    /// A picker with this victim policy, otherwise as configured.
    pub fn picker(&self, policy: Victim) -> Picker {
        let mut gc = self.config.gc.clone();
        gc.victim = policy;
        Picker::new(&gc, 1, "gc/victim")
    }

    /// The block that a new picker with this victim policy picks.
    pub fn pick(&mut self, policy: Victim) -> Option<u32> {
        self.picker(policy).pick(&mut self.ftl, PoolId(0)).map(|block| block.0)
    }

    /// Collects a block. Returns how many pages were moved.
    pub fn collect(&mut self, block: u32) -> u32 {
        let victim = BlockId(block);
        self.ftl.start_job(PoolId(0), victim);
        let (mut from, mut moved) = (0, 0);
        while let Some((page, source, lpn)) = self.ftl.next_move(victim, from) {
            let target = self.ftl.allocate_move(PoolId(0), self.ftl.class_to_move(source)).ppn;
            self.ftl.commit_move(PoolId(0), lpn, source, target);
            (from, moved) = (page + 1, moved + 1);
        }
        self.ftl.commit_erase(PoolId(0), victim);
        self.ftl.check().expect("a sound pool");
        moved
    }
}
