//! The configurations: each is of 4 KiB requests on the drive of lee2013, 8 outstanding.

use ssdlab_keys::config::{Config, Layers, PreconditionKind, Priority, Scope};

/// Blocks a plane of a drive that no longer fits the processor's caches.
pub const LARGE: u32 = 512;

/// One configuration, for drives of any size.
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// Blocks a plane of the small drive.
    pub small: u32,
    change: fn(&mut Config),
}

/// All configurations.
pub const CASES: [Case; 4] = [
    Case { name: "whole-jobs", small: 16, change: steady },
    Case { name: "reads-70", small: 64, change: reads },
    Case { name: "preempt", small: 16, change: preempt },
    Case { name: "preempt-reads", small: 16, change: preempt_reads },
];

impl Case {
    /// The configuration with this number of blocks a plane.
    ///
    /// # Panics
    /// If the presets do not fit together.
    pub fn config(&self, blocks_per_plane: u32) -> Config {
        let layers = Layers { device: Some("lee2013".into()), workload: Some("uniform-4k-write".into()), ..Layers::default() };
        let mut config = layers.build().expect("presets fit together");
        config.device.blocks_per_plane = blocks_per_plane;
        whole_jobs(&mut config);
        (self.change)(&mut config);
        config
    }
}

/// A job has its chip to itself, and nothing of it is suspended, merged or overlapped.
fn whole_jobs(config: &mut Config) {
    (config.gc.scope, config.gc.priority) = (Scope::Chip, Priority::Gc);
    (config.gc.pipeline, config.gc.merge) = (false, false);
    config.gc.suspend.clear();
}

/// Writes in steady state. A job has its die to itself.
fn steady(config: &mut Config) {
    config.ftl.precondition.kind = PreconditionKind::Steady;
}

/// 70 % reads on a drive with so much free space that GC does not begin.
fn reads(config: &mut Config) {
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config.workload.read_share = 0.7;
}

/// Writes in steady state. Host operations go first, between the page moves of a job as well.
fn preempt(config: &mut Config) {
    steady(config);
    (config.gc.scope, config.gc.priority) = (Scope::None, Priority::Host);
}

/// 30 % reads, which also go before older writes for which there is no free block.
fn preempt_reads(config: &mut Config) {
    preempt(config);
    config.workload.read_share = 0.3;
}
