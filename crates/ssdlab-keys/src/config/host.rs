//! The host interface of a drive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use ssdlab_base::units::Ns;

/// The host interface of a drive: the link to the host, and the controller's work for each command. In an array each drive has its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Host {
    /// Bandwidth of the link in each direction, bytes in a microsecond: 1000 is 1 GB/s. 0: data take no time on the link.
    #[schemars(range(min = 0, max = 1000000000))]
    pub link_bytes_per_us: u32,
    /// Limit of the rate at which the drive takes in the data of writes, bytes in a microsecond: each write goes on to the drive no sooner than
    /// the size of the one before it takes at this rate, as firmware does that spreads writes evenly. 0: no limit.
    #[schemars(range(min = 0, max = 1000000000))]
    pub write_bytes_per_us: u32,
    /// Time that a core takes to fetch a command, before the drive serves it, ns.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub command_ns: Ns,
    /// Time that a core takes to complete a command, after the drive has served it, ns.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub completion_ns: Ns,
    /// Number of cores (processors) of the controller: each fetches or completes one command at a time.
    #[schemars(range(min = 1, max = 1024))]
    pub cores: u32,
    /// Limit of the commands inside the drive, from their fetch to their completion; others wait outside. 0: unbounded.
    #[schemars(range(min = 0, max = 1000000))]
    pub slots: u32,
    /// Number of submission queues. Flows of requests (`workload.flows`) are spread over them; a command waits in its queue until a core
    /// fetches it. With one, commands are fetched in order of arrival.
    #[schemars(range(min = 1, max = 1024))]
    pub queues: u32,
    /// Limit of the commands of one queue that are fetched and not complete; other commands of the queue wait. 0: unbounded.
    #[schemars(range(min = 0, max = 65535))]
    pub queue_depth: u32,
    /// Arbitration: from which submission queue the next command is fetched.
    pub arbitration: Arbitration,
    /// For `arbitration = "wrr"`: number of commands fetched from each queue in its turn, by queue.
    #[schemars(inner(range(min = 1, max = 256)))]
    pub weights: Vec<u32>,
    /// Quota of each queue, commands a second, by queue; 0: none for this queue. Empty: none for any.
    #[schemars(inner(range(min = 0, max = 1000000000)))]
    pub quota_iops: Vec<u32>,
    /// Quota of each queue for the data of its reads and writes together, MB (1,000,000 bytes) a second, by queue; 0: none for this queue.
    /// Empty: none for any.
    #[schemars(inner(range(min = 0, max = 1000000000)))]
    pub quota_mb_s: Vec<u32>,
    /// Burst of a quota, us: a queue that was idle for so long may send at once what its quota allows in this time. 0: always at the rate.
    #[schemars(range(min = 0, max = 1000000000))]
    pub quota_burst_us: u32,
}

/// Arbitration: from which submission queue the next command is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// Round robin: the queues take turns, one command each.
    Rr,
    /// Weighted round robin: in its turn a queue gives as many commands as its weight (`host.weights`).
    Wrr,
}

impl Default for Host {
    fn default() -> Self {
        Host {
            link_bytes_per_us: 0,
            write_bytes_per_us: 0,
            command_ns: 0,
            completion_ns: 0,
            cores: 1,
            slots: 0,
            queues: 1,
            queue_depth: 0,
            arbitration: Arbitration::Rr,
            weights: Vec::new(),
            quota_iops: Vec::new(),
            quota_mb_s: Vec::new(),
            quota_burst_us: 1_000,
        }
    }
}

impl Host {
    /// The host interface takes time or has limits.
    pub fn is_on(&self) -> bool {
        self.works() || self.slots > 0 || self.link_bytes_per_us > 0 || self.write_bytes_per_us > 0 || self.has_queues()
    }

    /// Commands may be fetched in another order than they arrive, or wait for their queue: there are several queues, or the depth or the rate of a
    /// queue is limited.
    pub fn has_queues(&self) -> bool {
        self.queues > 1 || self.queue_depth > 0 || self.has_quotas()
    }

    /// Some queue has a quota.
    pub fn has_quotas(&self) -> bool {
        self.quota_iops.iter().chain(&self.quota_mb_s).any(|&rate| rate > 0)
    }

    /// Commands take time of cores.
    pub fn works(&self) -> bool {
        self.command_ns > 0 || self.completion_ns > 0
    }
}
