//! A number that changes in steps, and its sum over time.

use crate::units::Ns;

/// A number that changes in steps, and its sum over time: exact, without looking at it in between.
#[derive(Clone, Copy, Debug, Default)]
pub struct Level {
    value: u64,
    since: Ns,
    sum: u128,
}

impl Level {
    /// What it is now.
    #[inline]
    pub fn value(&self) -> u64 {
        self.value
    }

    /// It is `value` from `now` on.
    #[inline]
    pub fn set(&mut self, now: Ns, value: u64) {
        self.sum = self.sum_until(now);
        self.since = now;
        self.value = value;
    }

    /// Its sum over the time until `now`: number times ns.
    #[inline]
    pub fn sum_until(&self, now: Ns) -> u128 {
        self.sum + u128::from(self.value) * u128::from(now - self.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_the_area_below_the_steps() {
        let mut level = Level::default();
        level.set(10, 3);
        level.set(10, 4);
        level.set(15, 1);
        assert_eq!((level.value(), level.sum_until(15), level.sum_until(22)), (1, 20, 27));
    }
}
