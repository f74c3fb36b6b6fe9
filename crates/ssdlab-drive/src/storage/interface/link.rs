//! What limits the rate of data between host and drive: each direction of the link, and the rate at which the drive takes in writes.

use ssdlab_base::units::Ns;

/// Time that `bytes` take at a rate, rounded to the nearest ns; 0 if the rate, bytes per us, is 0.
fn takes_ns(bytes: u64, bytes_per_us: u32) -> Ns {
    let rate = u128::from(bytes_per_us);
    (u128::from(bytes) * 1000 + rate / 2).checked_div(rate).unwrap_or(0) as Ns
}

/// One direction of the link between host and drive: it carries the data of one request after the other, in the order of readiness.
#[derive(Debug)]
pub struct Link {
    /// Bandwidth, bytes per us; 0: transfers take no time.
    bytes_per_us: u32,
    /// Time at which all data sent so far have arrived.
    free_at: Ns,
    /// Sum of the durations of all transfers, ns.
    sent_ns: Ns,
}

impl Link {
    pub fn new(bytes_per_us: u32) -> Self {
        Link { bytes_per_us, free_at: 0, sent_ns: 0 }
    }

    /// Transfers take time.
    pub fn takes_time(&self) -> bool {
        self.bytes_per_us > 0
    }

    /// Duration of the transfer of `bytes`, rounded to the nearest ns.
    pub fn takes_ns(&self, bytes: u64) -> Ns {
        takes_ns(bytes, self.bytes_per_us)
    }

    /// Sends data that are ready now. Returns when they have arrived; adds 1 to `waits` if the link is still busy.
    pub fn send(&mut self, now: Ns, bytes: u64, waits: &mut u64) -> Ns {
        let takes = self.takes_ns(bytes);
        *waits += u64::from(self.free_at > now);
        self.free_at = self.free_at.max(now) + takes;
        self.sent_ns += takes;
        self.free_at
    }

    /// Time that the link was busy until `now`, ns. Data sent and not arrived keep it busy from `now` on.
    pub fn busy_ns(&self, now: Ns) -> Ns {
        self.sent_ns - self.free_at.saturating_sub(now)
    }
}

/// The rate at which the drive takes in the data of writes (`host.write_bytes_per_us`): one write after the other, in the order in which
/// their data come.
#[derive(Debug)]
pub struct WriteRate {
    /// Bytes per us; 0: no limit.
    bytes_per_us: u32,
    /// Time from which on the next write may go on.
    next_at: Ns,
}

impl WriteRate {
    pub fn new(bytes_per_us: u32) -> Self {
        WriteRate { bytes_per_us, next_at: 0 }
    }

    /// The rate is limited.
    pub fn is_on(&self) -> bool {
        self.bytes_per_us > 0
    }

    /// When a write of `bytes` whose data come at `now` goes on; adds 1 to `waits` if that is later.
    pub fn goes_on(&mut self, now: Ns, bytes: u64, waits: &mut u64) -> Ns {
        *waits += u64::from(self.next_at > now);
        let at = self.next_at.max(now);
        self.next_at = at + takes_ns(bytes, self.bytes_per_us);
        at
    }
}
