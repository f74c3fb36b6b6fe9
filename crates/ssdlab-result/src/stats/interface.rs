//! Statistics of the host interfaces of drives.

use schemars::JsonSchema;
use serde::Serialize;

use super::counts::counts;
use super::result::ratio;
use ssdlab_base::units::Ns;

counts! {
    /// Counts and times of a host interface, or of those of an array's drives together.
    pub struct InterfaceStats {
        now {
            /// Number of drives with a host interface.
            drives: u64,
            /// Number of cores of all drives.
            cores: u64,
        }
        counted {
            /// Number of commands fetched.
            commands: u64,
            /// Number of commands that waited for a slot.
            slot_waits: u64,
            /// Number of commands that found their queue full: with as many commands fetched as `host.queue_depth` allows.
            queue_full_waits: u64,
            /// Number of commands fetched before an older command of another queue.
            passing_commands: u64,
            /// Number of commands that waited for the fetch of an older command of another queue: one of the same bytes, or a write before
            /// a flush.
            order_waits: u64,
            /// Number of fetches and completions that waited for a core.
            core_waits: u64,
            /// Number of reads and writes whose data waited for the link.
            link_waits: u64,
            /// Number of commands that waited for the data of an older write: one of the same bytes, or any before a flush.
            held_commands: u64,
            /// Number of writes that waited for the rate of writes.
            rate_waits: u64,
            /// Number of commands that waited for the quota of their queue.
            quota_waits: u64,
            /// Time that cores worked, summed over cores, ns.
            core_busy_ns: u128,
            /// Time that the link carried data of writes, ns.
            link_in_busy_ns: u128,
            /// Time that the link carried data of reads, ns.
            link_out_busy_ns: u128,
        }
    }
}

impl InterfaceStats {
    /// The statistics as they appear in the result of a run of `measured_ns`.
    pub(super) fn result(self, measured_ns: Ns) -> InterfaceResult {
        let share = |busy: u128, of: u64| ratio(busy, u128::from(measured_ns) * u128::from(of)).unwrap_or(0.0);
        InterfaceResult {
            commands: self.commands,
            slot_waits: self.slot_waits,
            queue_full_waits: self.queue_full_waits,
            passing_commands: self.passing_commands,
            order_waits: self.order_waits,
            core_waits: self.core_waits,
            link_waits: self.link_waits,
            held_commands: self.held_commands,
            rate_waits: self.rate_waits,
            quota_waits: self.quota_waits,
            cores: share(self.core_busy_ns, self.cores),
            link_in: share(self.link_in_busy_ns, self.drives),
            link_out: share(self.link_out_busy_ns, self.drives),
        }
    }
}

/// Statistics of the host interface of a drive, or of those of an array's drives together.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct InterfaceResult {
    /// Number of commands that the controller fetched.
    #[schemars(extend("unit" = "count"))]
    pub commands: u64,
    /// Number of commands that waited for a slot (`host.slots`).
    #[schemars(extend("unit" = "count"))]
    pub slot_waits: u64,
    /// Number of commands that found their queue full: with as many commands fetched as `host.queue_depth` allows.
    #[serde(default)]
    #[schemars(extend("unit" = "count"))]
    pub queue_full_waits: u64,
    /// Number of commands fetched before an older command of another queue (`host.queues`).
    #[serde(default)]
    #[schemars(extend("unit" = "count"))]
    pub passing_commands: u64,
    /// Number of commands that waited for the fetch of an older command of another queue: one of the same bytes, or a write before a flush.
    #[serde(default)]
    #[schemars(extend("unit" = "count"))]
    pub order_waits: u64,
    /// Number of fetches and completions of commands that waited for a core (`host.cores`).
    #[schemars(extend("unit" = "count"))]
    pub core_waits: u64,
    /// Number of reads and writes whose data waited for the link (`host.link_bytes_per_us`).
    #[schemars(extend("unit" = "count"))]
    pub link_waits: u64,
    /// Number of commands that waited for the data of an older write: one of the same bytes, or any before a flush.
    #[schemars(extend("unit" = "count"))]
    pub held_commands: u64,
    /// Number of writes that waited for the rate at which the drive takes in their data (`host.write_bytes_per_us`).
    #[serde(default)]
    #[schemars(extend("unit" = "count"))]
    pub rate_waits: u64,
    /// Number of commands that waited for the quota of their queue (`host.quota_iops`, `host.quota_mb_s`).
    #[serde(default)]
    #[schemars(extend("unit" = "count"))]
    pub quota_waits: u64,
    /// Share of the measured time in which cores were busy, mean over cores.
    #[schemars(extend("unit" = "share"))]
    pub cores: f64,
    /// Share of the measured time in which the link carried data of writes, mean over drives.
    #[schemars(extend("unit" = "share"))]
    pub link_in: f64,
    /// Share of the measured time in which the link carried data of reads, mean over drives.
    #[schemars(extend("unit" = "share"))]
    pub link_out: f64,
}
