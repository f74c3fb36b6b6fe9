//! The trigger `idle`: GC ahead of need when no request has been outstanding for a while (lee2013 V-B).
//!
//! While the drive is idle, pools want more free blocks than T_soft; scopes and victims are as usual. The first request restores the
//! threshold, so that no further job starts; with `gc.scope = "none"` it also pauses the jobs begun in idle time.

use ssdlab_base::units::Ns;
use ssdlab_keys::config::{Config, IdleTimeout, Scope, Trigger};

/// The adaptive timeout is `gc.idle_us` times a power of 2 with an exponent from -`STEPS` to `STEPS`.
const STEPS: i32 = 4;

/// Detects idle time of a drive, and adapts the timeout after which the drive counts as idle.
#[derive(Clone, Debug)]
pub struct Idle {
    /// `gc.idle_us` in ns.
    base_ns: Ns,
    adaptive: bool,
    /// Exponent of the current timeout: `base_ns` x 2^`step`.
    step: i32,
    /// Free blocks that each pool wants in idle time.
    free: u32,
    /// Jobs begun in idle time pause when a request comes (`gc.scope = "none"`).
    pauses: bool,
    /// When the number of outstanding requests last became 0, ns: the timeout begins then.
    since: Ns,
    /// When the timer set last is due, ns; `Ns::MAX`: it has fired, or none was set.
    armed: Ns,
    /// The timeout may have expired at this instant; [`Idle::begin`] decides that after the arrivals of the same instant.
    due: bool,
    /// The drive counts as idle.
    now: bool,
    /// A job started by idle time was active in the current idle time, or else in the last.
    worked: bool,
}

impl Idle {
    /// The idle detector of a drive; `None` unless `gc.trigger = "idle"`. `blocks_each`: blocks of a pool.
    pub(super) fn new(config: &Config, blocks_each: u32) -> Option<Self> {
        let gc = &config.gc;
        (gc.trigger == Trigger::Idle).then(|| Idle {
            base_ns: gc.idle_us * 1000,
            adaptive: gc.idle_timeout == IdleTimeout::Adaptive,
            step: 0,
            free: gc.idle_blocks(blocks_each) + config.uncounted_blocks(),
            pauses: gc.scope == Scope::None,
            since: 0,
            armed: Ns::MAX,
            due: false,
            now: false,
            worked: false,
        })
    }

    /// Detects idle time after a fixed timeout, ns, for another purpose than GC.
    pub fn after(base_ns: Ns) -> Self {
        Idle { base_ns, adaptive: false, step: 0, free: 0, pauses: false, since: 0, armed: Ns::MAX, due: false, now: false, worked: false }
    }

    /// When the timeout expires if no request comes, ns.
    fn deadline(&self) -> Ns {
        let timeout = if self.step < 0 { self.base_ns >> -self.step } else { self.base_ns << self.step };
        self.since + timeout
    }

    /// Call when no request is outstanding any more. Returns when to set a timer, ns; `None` if the one that is set is early enough.
    #[must_use]
    pub fn requests_ended(&mut self, now: Ns) -> Option<Ns> {
        self.since = now;
        self.arm()
    }

    /// When to set a timer for the timeout, ns; `None` if the one that is set is due no later. One timer serves many short idle times.
    fn arm(&mut self) -> Option<Ns> {
        let deadline = self.deadline();
        let earlier = deadline < self.armed;
        if earlier {
            self.armed = deadline;
        }
        earlier.then_some(deadline)
    }

    /// Call when a timer is due. Returns when to set the next, ns; `None` if none is needed.
    #[must_use]
    pub fn timer(&mut self, now: Ns, outstanding: bool) -> Option<Ns> {
        if self.armed == now {
            self.armed = Ns::MAX;
        }
        if outstanding || self.now {
            return None;
        }
        self.due = now >= self.deadline();
        if self.due { None } else { self.arm() }
    }

    /// The timeout may have expired at this instant: call [`Idle::begin`] after the arrivals of the same instant.
    #[inline(always)]
    pub fn is_due(&self) -> bool {
        self.due
    }

    /// Call after the arrivals of an instant at which [`Idle::is_due`]: without an outstanding request the drive is idle from now on.
    /// Returns the free blocks that each pool wants then; `None` if the drive is not idle.
    #[must_use]
    pub fn begin(&mut self, now: Ns, outstanding: bool) -> Option<u32> {
        self.due = false;
        let idle = !outstanding && now >= self.deadline();
        if idle {
            (self.now, self.worked) = (true, false);
        }
        idle.then_some(self.free)
    }

    /// A request arrives. Returns true if it ends an idle time.
    pub fn end(&mut self) -> bool {
        std::mem::replace(&mut self.now, false)
    }

    /// The drive counts as idle.
    pub fn is_idle(&self) -> bool {
        self.now
    }

    /// Jobs begun in idle time pause when a request comes.
    pub fn pauses(&self) -> bool {
        self.pauses
    }

    /// Notes that a job started by idle time is active.
    pub fn worked(&mut self) {
        self.worked = true;
    }

    /// Adapts the timeout at the end of an idle time with GC, after Douglis et al.: doubles it if the request found jobs of that idle time
    /// still active (`found_work`), else halves it.
    pub fn adapt(&mut self, found_work: bool) {
        if self.adaptive && self.worked {
            self.step = (self.step + if found_work { 1 } else { -1 }).clamp(-STEPS, STEPS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_timer_is_enough_and_one_that_comes_during_requests_is_none() {
        let mut config = Config::default();
        config.gc.trigger = Trigger::Idle;
        config.gc.idle_timeout = IdleTimeout::Fixed;
        config.gc.idle_us = 100;
        let mut idle = Idle::new(&config, 64).expect("idle time is the trigger");
        assert_eq!(idle.requests_ended(1_000), Some(101_000));
        assert_eq!(idle.requests_ended(1_000), None, "that timer is there");
        assert_eq!((idle.timer(101_000, true), idle.is_due()), (None, false), "a request is outstanding");
        assert_eq!(idle.requests_ended(200_000), Some(300_000));
        assert_eq!(idle.requests_ended(250_000), None, "the timer that is there comes first");
        assert_eq!((idle.timer(300_000, false), idle.is_due()), (Some(350_000), false));
        assert_eq!((idle.timer(350_000, false), idle.is_due()), (None, true));
        assert!(idle.begin(350_000, false).is_some());
        assert_eq!((idle.is_idle(), idle.is_due()), (true, false));
        assert_eq!((idle.timer(400_000, false), idle.is_due()), (None, false), "it is idle already");
    }

    #[test]
    fn an_old_timer_does_not_take_the_place_of_a_new_one() {
        let mut config = Config::default();
        config.gc.trigger = Trigger::Idle;
        config.gc.idle_timeout = IdleTimeout::Adaptive;
        config.gc.idle_us = 100;
        let mut idle = Idle::new(&config, 64).expect("idle time is the trigger");
        assert_eq!(idle.requests_ended(0), Some(100_000));
        idle.worked();
        idle.adapt(false);
        assert_eq!(idle.requests_ended(10_000), Some(60_000), "the timeout is 50 us now");
        assert_eq!((idle.timer(60_000, true), idle.is_due()), (None, false), "a request is outstanding");
        assert_eq!(idle.requests_ended(90_000), Some(140_000));
        assert_eq!((idle.timer(100_000, false), idle.is_due()), (None, false), "too early, and the timer of 140 us is there");
        assert_eq!(idle.requests_ended(120_000), None, "it is still");
        assert_eq!((idle.timer(140_000, false), idle.is_due()), (Some(170_000), false));
    }
}
