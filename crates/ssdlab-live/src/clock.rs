//! Real time and simulated time.

use std::time::{Duration, Instant};

use ssdlab::units::Ns;

/// Converts between real and simulated time: simulated time is the real time since `started`, divided by `scale`.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    started: Instant,
    scale: f64,
}

impl Clock {
    /// A clock whose simulated time 0 is at `started`. `scale`: 1 is real time, 10 is ten times slower.
    pub fn start(started: Instant, scale: f64) -> Self {
        Clock { started, scale }
    }

    /// The present simulated time, ns.
    pub fn now(&self) -> Ns {
        self.at(Instant::now())
    }

    /// The simulated time at an instant of real time, ns.
    pub fn at(&self, instant: Instant) -> Ns {
        (instant.saturating_duration_since(self.started).as_nanos() as f64 / self.scale) as Ns
    }

    /// Real time until a simulated instant; zero if that is past.
    pub fn until(&self, instant: Ns) -> Duration {
        self.real(instant).saturating_sub(self.started.elapsed())
    }

    /// Real time since a simulated instant; zero if that is to come.
    pub fn since(&self, instant: Ns) -> Duration {
        self.started.elapsed().saturating_sub(self.real(instant))
    }

    /// Real time from the start to a simulated instant, rounded up, so that events of that instant are due then.
    fn real(&self, instant: Ns) -> Duration {
        Duration::from_nanos((instant as f64 * self.scale).ceil() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulated_time_is_real_time_over_the_scale() {
        for scale in [0.1, 1.0, 10.0] {
            let clock = Clock::start(Instant::now(), scale);
            let (before, now) = (clock.started.elapsed(), clock.now());
            let after = clock.started.elapsed();
            let real = now as f64 * scale;
            assert!(before.as_nanos() as f64 <= real + scale && real <= after.as_nanos() as f64 + 1.0);
            // Instants to come and instants past.
            let hour = (3_600e9 / scale) as Ns;
            assert!(clock.until(hour) > Duration::from_secs(3_590) && clock.since(hour).is_zero());
            assert!(clock.until(0).is_zero() && clock.since(0) >= before);
            // The time at which a request came.
            assert_eq!(clock.at(clock.started + Duration::from_secs(1)), (1e9 / scale) as Ns);
            assert_eq!(clock.at(clock.started - Duration::from_secs(1)), 0);
        }
    }
}
