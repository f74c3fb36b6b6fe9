//! One direction of the link between host and drive: data go over it one request after the other, in the order in which they are ready.

use crate::units::Ns;

/// A link in one direction.
#[derive(Debug)]
pub struct Link {
    /// 0: data take no time.
    bytes_per_us: u32,
    /// When all that was sent has arrived.
    free_at: Ns,
    /// Time of all transfers, ns.
    sent_ns: Ns,
}

impl Link {
    pub fn new(bytes_per_us: u32) -> Self {
        Link { bytes_per_us, free_at: 0, sent_ns: 0 }
    }

    /// Whether data take any time.
    pub fn takes_time(&self) -> bool {
        self.bytes_per_us > 0
    }

    /// How long so many bytes are on it, rounded to the nearest ns.
    pub fn takes_ns(&self, bytes: u64) -> Ns {
        let rate = u128::from(self.bytes_per_us);
        (u128::from(bytes) * 1000 + rate / 2).checked_div(rate).unwrap_or(0) as Ns
    }

    /// Sends data that are ready now; returns when they have arrived.
    pub fn send(&mut self, now: Ns, bytes: u64, waits: &mut u64) -> Ns {
        let takes = self.takes_ns(bytes);
        *waits += u64::from(self.free_at > now);
        self.free_at = self.free_at.max(now) + takes;
        self.sent_ns += takes;
        self.free_at
    }

    /// For how long data were on it until `now`. What was sent and has not arrived keeps it busy from now on.
    pub fn busy_ns(&self, now: Ns) -> Ns {
        self.sent_ns - self.free_at.saturating_sub(now)
    }
}
