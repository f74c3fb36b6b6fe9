//! Idle time: dirty pages are destaged while no host request is outstanding (lee2013 section IV, Fig. 16).

use super::{Front, Purpose, Store};
use ssdlab_base::units::Ns;
use ssdlab_keys::config::Cache as Config;

/// State of flushing in idle time.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// Time without a host request until flushing begins.
    wait_ns: Ns,
    /// Start of the present idle time; `None` while a host request is outstanding.
    since: Option<Ns>,
    /// Number of outstanding destages that idle time has started.
    in_flight: u32,
}

impl Idle {
    /// `None` if `flush_on_idle` is off.
    pub fn new(config: &Config) -> Option<Self> {
        config.flush_on_idle.then_some(Idle { wait_ns: config.flush_idle_us * 1000, since: Some(0), in_flight: 0 })
    }
}

impl<B: Store> Front<B> {
    /// When idle-time flushing begins; `None` if it is off, has begun, a host request is outstanding, or no page is dirty.
    pub(super) fn idle_timer(&self) -> Option<Ns> {
        let Idle { wait_ns, since, .. } = self.idle?;
        (self.cache.dirty_pages() > 0).then_some(since? + wait_ns).filter(|&time| time > self.now)
    }

    #[inline]
    pub(super) fn end_idle_time(&mut self) {
        if let Some(idle) = &mut self.idle {
            idle.since = None;
        }
    }

    #[inline]
    pub(super) fn begin_idle_time(&mut self, now: Ns) {
        if let Some(idle) = &mut self.idle
            && self.requests.is_empty()
        {
            idle.since = Some(now);
        }
    }

    pub(super) fn idle_destage_ended(&mut self) {
        self.idle.as_mut().expect("only idle time starts such a destage").in_flight -= 1;
    }

    /// Once idle long enough, destages dirty pages, at most as many at a time as there are targets. Returns true if any were sent.
    pub(super) fn flush_if_idle(&mut self, now: Ns) -> bool {
        let Some(Idle { wait_ns, since: Some(since), .. }) = self.idle else { return false };
        let mut any = false;
        while now >= since + wait_ns && self.idle.is_some_and(|idle| idle.in_flight < self.lower.targets()) {
            let Some(entry) = self.cache.next_dirty(&self.lower, !self.gc_aware) else { break };
            let outgoing = self.clean(entry);
            self.outgoing.push(outgoing);
            self.stats.idle_destages += 1;
            if let Some(idle) = &mut self.idle {
                idle.in_flight += 1;
            }
            self.send(now, false, Purpose::Clean { idle: true });
            any = true;
        }
        any
    }
}
