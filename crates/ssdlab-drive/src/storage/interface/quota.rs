//! The quota of a queue of the host: token buckets of commands and of bytes (`host.quota_iops`, `host.quota_mb_s`), exact in whole numbers.
//!
//! The first command of a queue waits until each bucket holds what the command costs, or is full; it takes its cost when it is fetched, so
//! that a command larger than the bucket leaves it below 0.

use ssdlab_base::request::Request;
use ssdlab_base::units::Ns;
use ssdlab_keys::config::Host as Config;

/// Parts of a command in its bucket: a rate of commands per second is then whole parts per ns.
const COMMAND: i128 = 1_000_000_000;
/// Parts of a byte in its bucket: a rate of MB per second is then whole parts per ns.
const BYTE: i128 = 1_000;

/// A token bucket.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Parts that come in each ns; above 0.
    rate: i128,
    /// The most that it holds.
    most: i128,
    /// What it held at `at`.
    level: i128,
    at: Ns,
}

impl Bucket {
    /// A full bucket of what comes in `burst_us`; `None` without a rate.
    fn new(rate: u32, burst_us: u32) -> Option<Self> {
        let most = i128::from(rate) * i128::from(burst_us) * 1_000;
        (rate > 0).then_some(Bucket { rate: rate.into(), most, level: most, at: 0 })
    }

    /// When it holds `cost`, or is full, at the earliest `now`.
    fn allows_at(&self, now: Ns, cost: i128) -> Ns {
        let lacks = cost.min(self.most) - self.level;
        let comes = (lacks + self.rate - 1).div_euclid(self.rate).max(0) as Ns;
        now.max(self.at + comes)
    }

    fn take(&mut self, now: Ns, cost: i128) {
        self.level = (self.level + i128::from(now - self.at) * self.rate).min(self.most) - cost;
        self.at = now;
    }
}

/// The quota of a queue, and for how long it has held the first command of the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quota {
    commands: Option<Bucket>,
    bytes: Option<Bucket>,
    /// Time for which it held commands that have been fetched, ns.
    held_ns: Ns,
    /// Since when the first command has been the first, and until when the quota holds it; equal without a command.
    holds: (Ns, Ns),
}

impl Quota {
    /// The quotas of the queues; empty if none has any.
    pub(super) fn of_queues(config: &Config) -> Vec<Self> {
        if !config.has_quotas() {
            return Vec::new();
        }
        let rate = |rates: &[u32], queue: usize| rates.get(queue).copied().unwrap_or(0);
        let quota = |queue| Quota {
            commands: Bucket::new(rate(&config.quota_iops, queue), config.quota_burst_us),
            bytes: Bucket::new(rate(&config.quota_mb_s, queue), config.quota_burst_us),
            held_ns: 0,
            holds: (0, 0),
        };
        (0..config.queues as usize).map(quota).collect()
    }

    /// A command is the first of the queue from now on.
    pub(super) fn comes_first(&mut self, now: Ns, request: &Request) {
        let commands = self.commands.map_or(now, |bucket| bucket.allows_at(now, COMMAND));
        let bytes = self.bytes.map_or(now, |bucket| bucket.allows_at(now, cost_of_bytes(request)));
        self.holds = (now, commands.max(bytes));
    }

    /// Until when the quota holds the first command of the queue.
    pub(super) fn holds_until(&self) -> Ns {
        self.holds.1
    }

    /// The first command of the queue is fetched, and pays.
    pub(super) fn pay(&mut self, now: Ns, request: &Request) {
        self.held_ns += self.holds.1 - self.holds.0;
        self.holds = (now, now);
        if let Some(bucket) = &mut self.commands {
            bucket.take(now, COMMAND);
        }
        if let Some(bucket) = &mut self.bytes {
            bucket.take(now, cost_of_bytes(request));
        }
    }

    /// Time for which it has held first commands of the queue until `now`, ns.
    pub(super) fn held_ns(&self, now: Ns) -> Ns {
        self.held_ns + now.min(self.holds.1) - self.holds.0
    }
}

/// Reads and writes cost their bytes; trims and flushes none.
fn cost_of_bytes(request: &Request) -> i128 {
    if request.kind.moves_data() { i128::from(request.length) * BYTE } else { 0 }
}
